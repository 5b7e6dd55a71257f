"""Scores from names and places, with the Census inside: BISG, BIFSG, fBISG, voter BISG and raking."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ._frames import Files, lend
from ._run import run

Model = Literal["bisg", "bifsg", "fbisg", "voter", "rake"]


def predict(
    people: Any,
    model: Model = "bisg",
    *,
    surname: str | None = None,
    first_name: str | None = None,
    place: str | None = None,
    block_group: str | None = None,
    tract: str | None = None,
    zcta: str | None = None,
    county: str | None = None,
    state: str | None = None,
    surnames: str | os.PathLike[str] | None = None,
    first_names: str | os.PathLike[str] | None = None,
    geography: Sequence[str | os.PathLike[str]] | str | os.PathLike[str] | None = None,
    numbers: str | None = None,
    classes: Sequence[str] | None = None,
    crosswalk: Mapping[str, str] | None = None,
    margin: Any = None,
    surname_margin: str | os.PathLike[str] | None = None,
    place_margin: str | os.PathLike[str] | None = None,
    tolerance: float | None = None,
    within: str | None = None,
    as_published: bool = False,
    seed: int | None = None,
    burn_in: int | None = None,
    sweeps: int | None = None,
    prefix: str | None = None,
    summary: bool = False,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: bool | None = None,
) -> Any:
    """Scores from names and places. The Census is inside: no table, key or network is needed.

    >>> import pyarrow as pa, apportion
    >>> people = pa.table({"surname": ["Washington", "Garcia", "Peña"], "county_fips": ["37183", "37183", "37063"]})
    >>> scores = apportion.predict(people)
    >>> scores["p_black"][0].as_py() > 0.5, scores["p_hispanic"][2].as_py() > 0.5
    (True, True)
    >>> labels = apportion.label(scores)

    Args:
        people: a frame of people, or the path of a file of them, with `output`.
        model: "bisg" by surname and place, "bifsg" by first name, too, "fbisg" where the Census's counts are not quite right,
            "voter" for registered voters, "rake" to shares that are known of all.
        surname, first_name, place, block_group, tract, zcta, county, state: the columns; found by their names.
        surnames, first_names, geography: tables in place of those inside: files, or the names that `apportion tables` lists.
        numbers: which columns of a table hold its numbers, where there are several sets, such as "vap_*".
        classes, crosswalk: the classes in the order of the scores; what classes of the tables are to be called.
        margin: voter, rake: the shares of the classes: a dict, or a frame or file with the columns class and share.
        surname_margin, place_margin: rake: files of the people of each class by surname, and by place; with both, raking is
            three ways. tolerance: how far from them the scores may stay, as a share of all people.
        within: the places of one state alone.
        as_published: voter: the published factor of surnames, which mixes the nation's prior with the state's people.
        seed: fbisg: another seed, other draws. burn_in, sweeps: the sweeps that are forgotten, and those that count.
        prefix: what the columns of scores begin with.
        summary: returns, after the scores, a dict of what was found: names and places by how they matched, sums of the scores.
        output, overwrite: where scores of files go.

    Returns:
        The scores, p_CLASS, and how they were made, in a frame of the kind that went in, row by row; or the path of `output`.
    """
    values: dict[str, Any] = {
        "model": model, "surname": surname, "first_name": first_name, "place": place, "block_group": block_group,
        "tract": tract, "zcta": zcta, "county": county, "state": state, "geography": _paths("geography", geography), "classes": classes,
        "crosswalk": crosswalk, "within": within, "seed": seed, "tolerance": tolerance,
        "numbers": numbers, "as_published": as_published, "burn_in": burn_in, "sweeps": sweeps, "prefix": prefix,
        "surname_margin": _paths("surname_margin", surname_margin),
        "place_margin": _paths("place_margin", place_margin),
        "surnames": _paths("surnames", surnames),
        "first_names": _paths("first_names", first_names),
    }  # fmt: skip
    lent = lend(people, named=[[str(name) for name in getattr(people, "columns", ()) if isinstance(name, str)]])
    if lent.matrix is not None:
        raise TypeError("people: a frame with the columns of names and places is needed, not an array")
    if isinstance(lent, Files):
        if output is None:
            raise ValueError("output: scores of files go into a file; name it with output='scores.parquet'")
        values |= {"output": os.fspath(output), "force": overwrite}
    elif output is not None:
        raise ValueError("output: it is for files; scores of a frame are returned")
    done = run("predict", lent, values, margin=margin, threads=threads, progress=progress)
    rows = done.rows()
    scores = Path(os.fspath(output or "")) if rows is None else lent.own(rows)
    return (scores, done.result) if summary else scores


def _paths(name: str, tables: Any) -> str | list[str] | None:
    """Tables as the program takes them: paths, or names of those inside it."""
    if tables is None:
        return None
    if isinstance(tables, (str, os.PathLike)):
        return os.fspath(tables)
    if isinstance(tables, (list, tuple)):
        return [os.fspath(table) for table in tables]
    raise TypeError(f"{name}: the path of a file is needed, or the name of a table inside, not {type(tables).__name__}")
