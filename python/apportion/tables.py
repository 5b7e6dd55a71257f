"""The tables behind scores: the built-in Census tables, and files of names or places.

>>> from apportion import tables
>>> [row["name"] for row in tables.list().to_pylist()][:2]
['surnames-2020', 'first-names-2020']
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from . import _native
from ._frames import Array, Files, Input, as_input, column_names
from ._options import Columns, FilePath, Paths, suggests
from ._results import Result, Rows, columns_of_text
from ._run import run

__all__ = ["Check", "check", "export", "import_census", "list", "show"]

OtherRace = Literal["allocate", "other"]
Subject = Literal["surnames", "first-names", "places"]


@suggests
def list() -> pa.Table:
    """Returns the built-in tables: name, number of rows and title.

    >>> from apportion import tables
    >>> tables.list().column_names
    ['name', 'rows', 'title']
    """
    return pa.Table.from_pylist(run("tables_list", None, {}).result)


@suggests
def show(table: str) -> dict[str, Any]:
    """Returns the contents of a built-in table: its title, classes with definitions, first keys, and provenance.

    >>> from apportion import tables
    >>> [own["class"] for own in tables.show("surnames-2020")["classes"]][:3]
    ['white', 'black', 'hispanic']
    """
    shown: dict[str, Any] = run("tables_show", None, {"table": table}).result
    return shown


@suggests
def export(table: str, *, output: FilePath | None = None, overwrite: bool = False) -> pa.Table | Path:
    """Returns a built-in table as a pyarrow table, or writes it to a file.

    >>> from apportion import tables
    >>> tables.export("states-2020").column_names[:3]
    ['state_fips', 'n_white', 'n_black']

    Args:
        table: the name of the table.
        output: a file to write to instead. The extension determines the format.
        overwrite: whether to replace an existing file.

    Returns:
        The table, or the path of `output`.
    """
    return _table_or_path(run("tables_export", None, {"table": table, **_output(output, overwrite)}), output)


@suggests
def import_census(
    files: Paths, *, other_race: OtherRace = "allocate", output: FilePath | None = None, overwrite: bool = False
) -> pa.Table | Path:
    """Converts files of one table from data.census.gov to a table of people by place and class, for `geography` of `predict`.

    >>> from apportion import tables
    >>> tables.import_census("missing-Data.csv")
    Traceback (most recent call last):
    FileNotFoundError: missing-Data.csv: no such file; check the path

    Args:
        files: the files, ending in -Data.csv.
        other_race: how non-Hispanic people of Some Other Race are counted: "allocate" counts them with another race as that
            race, and spreads others over the other classes of the place; "other" counts them in the class other.
        output, overwrite: as for `export`.

    Returns:
        The table, or the path of `output`. Remarks go to the logger `apportion`.
    """
    source = as_input(files)
    return _table_or_path(
        run("tables_import", source, {"other_race": other_race, **_output(output, overwrite)}), output
    )


class Check(Result):
    """The contents of a table of names or places. `details` is the complete result, whose keys docs/json.md describes.

    `to_arrow()` has a row per class: class, and its share of the people, which is null if it is unknown.

    >>> import pyarrow as pa
    >>> from apportion import tables
    >>> own = pa.table({"county_fips": ["37183", "37063"], "n_white": [90, 50], "n_black": [10, 50]})
    >>> tables.check(own)["black"]["share"]
    0.3
    """

    _key = "class"

    def __init__(self, done: _native.Done) -> None:
        self.details: dict[str, Any] = done.result
        table = self.details
        remarks = [f"note: {remark}" for remark in table["remarks"]]
        size = f"{table['file']}: {table['of']}, {table['rows']:,} rows, {table['keys']:,} keys"
        self._text = "\n".join([size, columns_of_text(self._rows()), *remarks])

    def _rows(self) -> Rows:
        shares = self.details["margin"] or [None] * len(self.details["classes"])
        return [{"class": name, "share": share} for name, share in zip(self.details["classes"], shares, strict=True)]


@suggests
def check(
    table: Any, *, of: Subject | None = None, numbers: str | None = None, classes: Columns | None = None, key: str | None = None
) -> Check:
    """Checks that a table of names or places can be used by `predict`.

    >>> import pyarrow as pa
    >>> from apportion import tables
    >>> own = pa.table({"county_fips": ["37183", "37063"], "n_white": [90, 50], "n_black": [10, 50]})
    >>> tables.check(own).details["people"]
    200.0

    Args:
        table: a file, or a frame.
        of: the subject: "surnames", "first-names" or "places". Default: recognized by the columns.
        numbers: columns with the numbers, if there are several sets, such as "vap_*".
        classes: classes other than those detected by name.
        key: the column of the keys. Default: recognized by name.
    """
    values = {"of": of, "numbers": numbers, "classes": classes, "key": key}
    if isinstance(table, (str, os.PathLike)):
        return Check(run("tables_check", None, {"table": os.fspath(table), **values}))
    source: Input = as_input(table, named=[column_names(table)])
    if isinstance(source, (Files, Array)):
        raise TypeError("table: it must be a file, or a frame with column names")
    return Check(run("tables_check", source, {"table": "table", **values}))


def _output(output: FilePath | None, overwrite: bool) -> dict[str, Any]:
    # An empty output returns the table.
    return {"output": "" if output is None else os.fspath(output), "force": overwrite}


def _table_or_path(done: _native.Done, output: FilePath | None) -> pa.Table | Path:
    rows = done.rows()
    return Path(os.fspath(output or "")) if rows is None else rows
