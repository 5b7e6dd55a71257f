"""Scores from names and places, with built-in Census tables: BISG, BIFSG, fBISG, voter BISG and raking. Explains a score."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from . import _native
from ._frames import Files, Input, as_input
from ._run import outside, run
from ._tables import Encoding, refuse_unknown, rest

Model = Literal["bisg", "bifsg", "fbisg", "voter", "rake"]

#: Options that are tables: files, or the names of built-in tables.
TABLES = ("surnames", "first_names", "middle_names", "geography", "surname_margin", "place_margin")


def predict(
    people: Any,
    model: Model | None = None,
    *,
    surname: str | None = None,
    first_name: str | None = None,
    middle_name: str | None = None,
    full_name: str | None = None,
    place: str | None = None,
    block_group: str | None = None,
    tract: str | None = None,
    zcta: str | None = None,
    county: str | None = None,
    state: str | None = None,
    vintage: Literal["2020", "2010"] = "2020",
    names: Literal["all", "census"] = "all",
    surnames: str | os.PathLike[str] | None = None,
    first_names: str | os.PathLike[str] | None = None,
    middle_names: str | os.PathLike[str] | None = None,
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
    encoding: Encoding | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Any:
    """Computes scores from names and places. Census tables are built in; no other table, API key or network is needed.

    >>> import pyarrow as pa, apportion
    >>> people = pa.table({"surname": ["Washington", "Garcia", "Peña"], "county_fips": ["37183", "37183", "37063"]})
    >>> scores = apportion.predict(people)
    >>> scores["p_black"][0].as_py() > 0.5, scores["p_hispanic"][2].as_py() > 0.5
    (True, True)
    >>> labels = apportion.label(scores)

    The scores describe the population of the tables: by default adults in the 2020 Census. Voters, borrowers and patients
    usually have other class shares. If you know the shares of the people in the file, use model="rake" with `margin`. If you
    know the shares among all registered voters of a state, and the file is a part of them, use model="voter" with `margin`
    and `within`. Without a margin, a UserWarning names the population.

    Args:
        people: a frame with one row per person, or the path of a file, together with `output`.
        model: "bisg" uses surname and place; "bifsg" also the first name; "fbisg" allows for errors in the Census counts;
            "voter" is for registered voters; "rake" adjusts the scores to known class shares. Default: "bifsg" if there is a
            column of first names, otherwise "bisg".
        surname, first_name, middle_name, place, block_group, tract, zcta, county, state: column names. Default: detected by
            name.
        full_name: column of whole names, instead of surname, first_name and middle_name: "Last, First M" or "First M Last".
        vintage: the Census of the built-in tables. "2020" has adults by block group, tract, ZIP code area, county and state;
            "2010" has residents by county and ZIP code area.
        names: "all" looks up names in the Census list, then in a list of registered voters; "census" in the Census list only.
        surnames, first_names, geography: tables to use instead of the defaults: files, or names from `apportion tables`.
        middle_names: file with a table of middle names, for models other than "bisg". There is no built-in one.
        numbers: columns of a table that contain its numbers, if there are several sets, such as "vap_*".
        classes, crosswalk: the classes in the order of the scores; new names for classes of the tables.
        margin: voter, rake: the class shares: a dict, or a frame or file with the columns class and share.
        surname_margin, place_margin: rake: files with people by surname and class, and by place and class. With both, raking
            is three-way.
        tolerance: rake: maximum difference from these margins, as a share of all people.
        within: use only the places of one state.
        as_published: voter: the published surname factor, which mixes national class shares with those of the state.
        seed, burn_in, sweeps: fbisg: the seed, the number of sweeps before probabilities are averaged, and of sweeps whose probabilities are averaged.
        prefix: prefix of the score columns.
        summary: whether to also return a dict with the numbers of matched names and places, the mean scores, the population
            that the scores describe, and the columns that they do not use, with the reasons.
        output, overwrite: output file, and whether to replace it, if the people are in files.
        encoding, delimiter, sheet: if the people are in files: the encoding and separator of text files, which are detected by
            default, and the sheet of Excel workbooks, by default the first.

    Returns:
        A frame of the same type as the input, with a row for each person and only these columns: the scores p_CLASS, the
        columns that explain them, and the codes of counties as county_fips unless the input has such a column. To label by
        another column, add them to the input: `people.join(scores)` in pandas. If the people are in files, the path of
        `output`. With `summary`, a tuple of this and the summary.
    """
    values: dict[str, Any] = {
        "model": model, "vintage": str(vintage), "names": names, "surname": surname, "first_name": first_name,
        "middle_name": middle_name, "full_name": full_name, "place": place, "block_group": block_group,
        "tract": tract, "zcta": zcta, "county": county, "state": state, "geography": geography, "classes": classes,
        "crosswalk": crosswalk, "within": within, "seed": seed, "tolerance": tolerance,
        "encoding": encoding, "delimiter": delimiter, "sheet": sheet,
        "numbers": numbers, "as_published": as_published, "burn_in": burn_in, "sweeps": sweeps, "prefix": prefix,
        "surname_margin": surname_margin, "place_margin": place_margin,
        "surnames": surnames, "first_names": first_names, "middle_names": middle_names,
    }  # fmt: skip
    values |= {name: _paths(name, values[name]) for name in TABLES}
    source = _source(people)
    if isinstance(source, Files):
        if output is None:
            raise ValueError("output: people in files require an output file; use output='scores.parquet'")
        values |= {"output": os.fspath(output), "force": overwrite}
    elif output is not None:
        raise ValueError("output: it is only for people in files; scores of a frame are returned")
    done = run("predict", source, values, margin=margin, threads=threads, progress=progress)
    if margin is None and surname_margin is None and place_margin is None:
        _warn_of_population(done.result["population"])
    rows = done.rows()
    scores = Path(os.fspath(output or "")) if rows is None else source.own(rows)
    return (scores, done.result) if summary else scores


class Explanation:
    """The scores of one row, and the numbers behind them. `print(explanation)` shows them as text.

    `scores` has the score of each class, and `details` is the complete result: the JSON of the command `explain`, whose keys
    docs/json.md describes.

    >>> import pyarrow as pa, apportion
    >>> people = pa.table({"surname": ["Garcia"], "county_fips": ["37183"]})
    >>> explanation = apportion.explain(people, row=1)
    >>> explanation.details["model"], max(explanation.scores, key=explanation.scores.get)
    ('bisg', 'hispanic')
    """

    def __init__(self, done: _native.Done) -> None:
        self._text = done.text
        self.details: dict[str, Any] = done.result

    @property
    def scores(self) -> dict[str, float]:
        """The score of each class, as `predict` returns it."""
        return dict(zip(self.details["classes"], self.details["scores"], strict=True))

    def __repr__(self) -> str:
        return self._text


def explain(people: Any, row: int, model: Model | None = None, **options: Any) -> Explanation:
    """Shows the table rows and numbers behind the scores of one row of `predict`.

    >>> import pyarrow as pa, apportion
    >>> people = pa.table({"surname": ["Washington", "Garcia"], "county_fips": ["37183", "37183"]})
    >>> explanation = apportion.explain(people, row=2)
    >>> explanation.details["formula"]
    'score(r) ∝ P(r|s) / P_sur(r) · N_gr'
    >>> explanation.details["surname"]["rows"][0]["key"], explanation.details["places"][0]["codes"]
    ('GARCIA', ['37183'])
    >>> explanation.scores["hispanic"] > 0.5
    True

    Args:
        people: a frame with one row per person, or the path of a file.
        row: the row to explain. Rows are numbered from 1, as in messages: the first row of a frame is row 1, regardless of its
            index. Of several files, rows are counted over all files in order, without headers.
        model, options: the same as those of `predict`, except `prefix`, `summary`, `output` and `overwrite`. Use the same
            values as for the scores. The models "rake" and "fbisg" read all people, because the scores depend on them.

    Returns:
        An `Explanation` with the scores that `predict` returns for this row.
    """
    not_used = ("people", "model", "prefix", "summary", "output", "overwrite")
    refuse_unknown("explain", options, set(inspect.signature(predict).parameters).difference(not_used))
    running = rest(options, ("margin", "threads", "progress"))
    values: dict[str, Any] = {"row": row, "model": model}
    for name in options.keys() - running.keys():
        values[name] = _paths(name, options[name]) if name in TABLES else options[name]
    return Explanation(run("explain", _source(people), values, **running))


def _source(people: Any) -> Input:
    """Returns the people as the input of a job."""
    source = as_input(people, named=[[str(name) for name in getattr(people, "columns", ()) if isinstance(name, str)]])
    if not isinstance(source, Files):
        source.names = ["people"]  # the name in messages
    if source.matrix is not None:
        raise TypeError("people: it must be a frame with columns of names and places, not an array")
    return source


def _warn_of_population(population: str) -> None:
    """Warns that the scores have the class shares of the tables, which may differ from those of the people."""
    text = (
        f"the scores describe {population}. Voters, borrowers and patients usually have other class shares; if you know "
        "theirs, use margin={class: share, …} with model='voter' or model='rake'"
    )
    warnings.warn(text, UserWarning, stacklevel=outside())


def _paths(name: str, tables: Any) -> str | list[str] | None:
    """Returns tables as the program expects them: paths, or names of built-in tables."""
    if tables is None:
        return None
    if isinstance(tables, (str, os.PathLike)):
        return os.fspath(tables)
    if isinstance(tables, (list, tuple)):
        return [os.fspath(table) for table in tables]
    raise TypeError(f"{name}: it must be the path of a file or the name of a built-in table, not {type(tables).__name__}")
