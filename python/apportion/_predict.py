"""Scores from names and places, with built-in Census tables: BISG, BIFSG, fBISG, voter BISG and raking. Explains a score."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from . import _native
from ._frames import Array, Files, Input, as_input, column_names
from ._options import (
    Columns,
    Encoding,
    FilePath,
    Model,
    Names,
    Paths,
    PredictOptions,
    Vintage,
    suggests,
)
from ._results import Result, Row
from ._run import outside, run
from ._tables import outputs, rest, written

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from typing_extensions import Unpack

#: Options that are tables: files, or the names of built-in tables.
TABLES = ("surnames", "first_names", "middle_names", "geography", "surname_margin", "place_margin")


#: Options about people, tables and models that are passed to the job unchanged.
PEOPLE = (
    "model", "surname", "first_name", "middle_name", "full_name", "place", "block_group", "tract", "zcta", "county", "state",
    "names", "numbers", "classes", "crosswalk", "tolerance", "within", "as_published", "seed", "burn_in", "sweeps",
    "encoding", "delimiter", "sheet", "max_line", "batch_rows",
)  # fmt: skip


@overload
def predict(
    people: Paths, model: Model | None = None, *, summary: Literal[False] = False, **options: Unpack[PredictOptions]
) -> Path: ...
@overload
def predict(
    people: Paths, model: Model | None = None, *, summary: Literal[True], **options: Unpack[PredictOptions]
) -> tuple[Path, dict[str, Any]]: ...
@overload
def predict(
    people: pl.DataFrame | pl.LazyFrame, model: Model | None = None, *, summary: Literal[False] = False, **options: Unpack[PredictOptions]
) -> pl.DataFrame: ...
@overload
def predict(
    people: pl.DataFrame | pl.LazyFrame, model: Model | None = None, *, summary: Literal[True], **options: Unpack[PredictOptions]
) -> tuple[pl.DataFrame, dict[str, Any]]: ...
@overload
def predict(
    people: pd.DataFrame, model: Model | None = None, *, summary: Literal[False] = False, **options: Unpack[PredictOptions]
) -> pd.DataFrame: ...
@overload
def predict(
    people: pd.DataFrame, model: Model | None = None, *, summary: Literal[True], **options: Unpack[PredictOptions]
) -> tuple[pd.DataFrame, dict[str, Any]]: ...
@overload
def predict(
    people: pa.Table | pa.RecordBatch, model: Model | None = None, *, summary: Literal[False] = False, **options: Unpack[PredictOptions]
) -> pa.Table: ...
@overload
def predict(
    people: pa.Table | pa.RecordBatch, model: Model | None = None, *, summary: Literal[True], **options: Unpack[PredictOptions]
) -> tuple[pa.Table, dict[str, Any]]: ...
@overload
def predict(
    people: Any, model: Model | None = None, *, summary: Literal[False] = False, **options: Unpack[PredictOptions]
) -> Any: ...
@overload
def predict(
    people: Any, model: Model | None = None, *, summary: Literal[True], **options: Unpack[PredictOptions]
) -> tuple[Any, dict[str, Any]]: ...
@suggests
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
    vintage: Vintage = "2020",
    names: Names = "all",
    surnames: FilePath | None = None,
    first_names: FilePath | None = None,
    middle_names: FilePath | None = None,
    geography: Sequence[FilePath] | FilePath | None = None,
    numbers: str | None = None,
    classes: Columns | None = None,
    crosswalk: Mapping[str, str] | None = None,
    margin: Any = None,
    surname_margin: FilePath | None = None,
    place_margin: FilePath | None = None,
    tolerance: float | None = None,
    within: str | None = None,
    as_published: bool = False,
    seed: int | None = None,
    burn_in: int | None = None,
    sweeps: int | None = None,
    prefix: str = "p_",
    summary: bool = False,
    output: FilePath | None = None,
    overwrite: bool = False,
    safe_csv: bool = False,
    provenance: FilePath | None = None,
    no_provenance: bool = False,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
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
        surnames, first_names, geography: tables to use instead of the defaults: files, or names from `apportion.tables.list()`.
            Default of first_names: "first-names-2020".
        middle_names: file with a table of middle names, for models other than "bisg". There is no built-in one.
        numbers: columns of a table that contain its numbers, if there are several sets, such as "vap_*".
        classes, crosswalk: the classes in the order of the scores; new names for classes of the tables.
        margin: voter, rake: the class shares: a dict, or a frame or file with the columns class and share.
        surname_margin, place_margin: rake: files with people by surname and class, and by place and class. With both, raking
            is three-way.
        tolerance: rake: maximum difference from these margins, as a share of all people. Default: 1e-9.
        within: use only the places of one state.
        as_published: voter: the published surname factor, which mixes national class shares with those of the state.
        seed: fbisg: the seed. Default: 0.
        burn_in: fbisg: the number of sweeps before probabilities are averaged. Default: 500.
        sweeps: fbisg: the number of sweeps whose probabilities are averaged. Default: 1000.
        prefix: prefix of the score columns.
        summary: whether to also return a dict with the numbers of matched names and places, the mean scores, the population
            that the scores describe, and the columns that they do not use, with the reasons.
        output, overwrite: output file, and whether to replace it, if the people are in files.
        safe_csv, provenance, no_provenance: as for `label`.
        encoding, delimiter, sheet, max_line, batch_rows: how files are read, as for `label`.
        threads, progress: as for `label`.

    Returns:
        A frame of the same type as the input, with a row for each person and only these columns: the scores p_CLASS, the
        columns that explain them, and the codes of counties as county_fips unless the input has such a column. To label by
        another column, add them to the input: `people.join(scores)` in pandas. For a DuckDB relation, a relation that also
        has the columns of the input. If the people are in files, the path of
        `output`. With `summary`, a tuple of this and the summary.
    """
    given = dict(locals())
    source = _source(people)
    values = _values(given) | {"prefix": prefix} | outputs(source, given, "scores", "scores.parquet")
    done = run("predict", source, values, margin=margin, threads=threads, progress=progress)
    if margin is None and surname_margin is None and place_margin is None:
        _warn_of_population(done.result["population"])
    rows = done.rows()
    scores: Any = written(given) if rows is None else source.own(rows)
    return (scores, done.result) if summary else scores


class Explanation(Result):
    """The scores of one row, and the numbers behind them. `print(explanation)` shows them as text.

    `scores` has the score of each class, and `details` is the complete result: the JSON of the command `explain`, whose keys
    docs/json.md describes.

    >>> import pyarrow as pa, apportion
    >>> people = pa.table({"surname": ["Garcia"], "county_fips": ["37183"]})
    >>> explanation = apportion.explain(people, row=1)
    >>> explanation.details["model"], max(explanation.scores, key=explanation.scores.get)
    ('bisg', 'hispanic')

    `to_arrow()` has a row per class: class and score.
    """

    _key = "class"

    def __init__(self, done: _native.Done) -> None:
        self._text = done.text
        self.details: dict[str, Any] = done.result

    @property
    def scores(self) -> dict[str, float]:
        """The score of each class, as `predict` returns it."""
        return dict(zip(self.details["classes"], self.details["scores"], strict=True))

    def _rows(self) -> list[Row]:
        return [{"class": name, "score": score} for name, score in self.scores.items()]


@suggests
def explain(
    people: Any,
    row: int,
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
    vintage: Vintage = "2020",
    names: Names = "all",
    surnames: FilePath | None = None,
    first_names: FilePath | None = None,
    middle_names: FilePath | None = None,
    geography: Sequence[FilePath] | FilePath | None = None,
    numbers: str | None = None,
    classes: Columns | None = None,
    crosswalk: Mapping[str, str] | None = None,
    margin: Any = None,
    surname_margin: FilePath | None = None,
    place_margin: FilePath | None = None,
    tolerance: float | None = None,
    within: str | None = None,
    as_published: bool = False,
    seed: int | None = None,
    burn_in: int | None = None,
    sweeps: int | None = None,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Explanation:
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
        model: as for `predict`. The models "rake" and "fbisg" read all people, because the scores depend on them.

    The other options are those of `predict`. Use the same values as for the scores.

    Returns:
        An `Explanation` with the scores that `predict` returns for this row.
    """
    values = {"row": row, **_values(dict(locals()))}
    return Explanation(run("explain", _source(people), values, margin=margin, threads=threads, progress=progress))


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings about people, tables and models."""
    return {
        **rest(given, PEOPLE),
        **{name: _paths(name, given[name]) for name in TABLES},
        "vintage": str(given["vintage"]),
    }


def _source(people: Any) -> Input:
    """Returns the people as the input of a job."""
    source = as_input(people, named=[column_names(people)])
    if not isinstance(source, Files):
        source.names = ["people"]  # the name in messages
    if isinstance(source, Array):
        raise TypeError("people: it must be a frame with columns of names and places, not an array")
    if source.rows == 0:
        raise ValueError("people: there are no rows")
    if not isinstance(source, Files):
        source.keys = source.columns
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
