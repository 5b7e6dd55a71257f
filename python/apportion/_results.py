"""Results as tables: conversion to frames, iteration, comparison, and display in notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Row = dict[str, Any]
Rows = list[Row]

#: Number of rows of a table that are shown in a notebook.
SHOWN = 50


class Result:
    """A result with a table: the rows of `to_arrow()`, over which it iterates."""

    #: The result as text.
    _text: str
    #: The column whose values `[]` looks up.
    _key: str
    #: The complete result.
    details: Any

    def to_arrow(self) -> pa.Table:
        """Returns the numbers as a pyarrow table. The class lists the columns."""
        return pa.Table.from_pylist(self._rows())

    def to_pandas(self) -> pd.DataFrame:
        """Returns the numbers as a pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Returns the numbers as a polars data frame."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def __len__(self) -> int:
        return len(self._rows())

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows())

    def __getitem__(self, key: Any) -> Any:
        """Returns the row with a value of the first column, or the row at an index, or the rows of a slice. If classes are
        numbers, a number is a class if there is such a class."""
        rows = self._rows()
        is_index = isinstance(key, (int, slice))
        if not is_index or self._key == "class" and not isinstance(key, slice):
            for row in rows:
                if row[self._key] == key:
                    return row
        if is_index:
            return rows[key]
        known = ", ".join(repr(row[self._key]) for row in rows[:20])
        raise KeyError(f"there is no {self._key} {key!r}; there are {known}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.details == getattr(other, "details", None)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        """Returns the tables, and everything that `print` shows."""
        return "".join(table(rows, caption) for caption, rows in self._tables() if rows) + text(self._text)

    def _tables(self) -> list[tuple[str, Sequence[Row]]]:
        """Returns the tables to show in a notebook, with their captions."""
        return [("", self._rows())]

    def _rows(self) -> list[Row]:
        raise NotImplementedError


def table(rows: Sequence[Mapping[str, Any]], caption: str = "") -> str:
    """Returns rows as an HTML table, of which the first are shown."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in (rows[0] if rows else {}))
    body = "".join("<tr>" + "".join(map(_cell, row.values())) + "</tr>" for row in rows[:SHOWN])
    shown = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    more = f"<p>… and {len(rows) - SHOWN:,} more rows</p>" if len(rows) > SHOWN else ""
    return f"<table>{shown}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def text(shown: str) -> str:
    """Returns text as HTML, with its columns aligned."""
    return f"<pre>{html.escape(shown)}</pre>" if shown else ""


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return f"<td>{'–' if value is None else value}</td>"
    if isinstance(value, float):
        return f'<td style="text-align:right">{value:,.4f}</td>'
    if isinstance(value, int):
        return f'<td style="text-align:right">{value:,}</td>'
    return f"<td>{html.escape(str(value))}</td>"


def columns_of_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns rows as text with aligned columns, numbers to the right."""
    if not rows:
        return ""
    cells = [list(rows[0]), *([_shown(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    are_text = [isinstance(value, str) for value in rows[0].values()]
    lines = []
    for line in cells:
        padded = zip(line, widths, are_text, strict=True)
        lines.append("  ".join(f"{cell:<{width}}" if is_text else f"{cell:>{width}}" for cell, width, is_text in padded))
    return "\n".join(line.rstrip() for line in lines)


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
