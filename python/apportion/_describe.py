"""What apportion recognizes in data: scores, labels, truth, names and places, and the functions to call next."""

from __future__ import annotations

from typing import Any

from . import _native
from ._frames import Array, Files, as_input, column_names
from ._options import Encoding, suggests
from ._results import Result, Row, table, text
from ._run import run


class Description(Result):
    """The columns of some data, and the functions to call next. `print(description)` shows them as text.

    `columns` has the content of each recognized column, and `details` is the complete result: the JSON of the command
    `describe`, whose keys docs/json.md describes.

    >>> import pyarrow as pa, apportion
    >>> description = apportion.describe(pa.table({"surname": ["Garcia"], "county_fips": ["37183"], "age": [41]}))
    >>> description.columns
    {'surname': 'surname', 'county_fips': 'county'}

    `to_arrow()` has a row per column: column and content, which is null if it was not recognized.
    """

    _key = "column"

    def __init__(self, done: _native.Done, *, is_file: bool) -> None:
        self._text = done.text
        self._is_file = is_file
        self.details: dict[str, Any] = done.result

    @property
    def columns(self) -> dict[str, str]:
        """The content of each recognized column: `score`, `label`, `truth`, `id`, `surname`, `county` and so on."""
        return {column["name"]: column["content"] for column in self.details["columns"] if "content" in column}

    def _rows(self) -> list[Row]:
        return [{"column": own["name"], "content": own.get("content")} for own in self.details["columns"]]

    def _repr_html_(self) -> str:
        return table(self._rows()) + text(repr(self))

    def __repr__(self) -> str:
        calls = [f"# {step['title']}\napportion.{step['job']}({self._arguments(step)})" for step in self.details["next"]]
        return "\n\n".join([self._text, *calls])

    def _arguments(self, step: dict[str, Any]) -> str:
        """Returns the arguments of a call. Data in memory need no output file."""
        inputs: list[str] = step["inputs"]
        files = repr(inputs[0]) if len(inputs) == 1 else repr(inputs)
        named = [f"{name}={value!r}" for name, value in step["settings"] if self._is_file or name != "output"]
        return ", ".join([files if self._is_file else "data", *named])


@suggests
def describe(
    data: Any,
    *,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    threads: int | None = None,
) -> Description:
    """Shows what apportion recognizes in a frame or a file, and the functions to call next.

    Only the names of the columns are used. Columns of the true class and of IDs are used only if you name them with
    `truth` and `id`.

    >>> import apportion
    >>> voters = apportion.simulate_voters(100, seed=1)
    >>> description = apportion.describe(voters)
    >>> description.columns["p_black"], description.columns["race"], description.details["rows"]
    ('score', 'truth', 100)

    Args:
        data: a frame, or the path of a file.
        encoding, delimiter, sheet, max_line, batch_rows: how files are read, as for `label`.
        threads: number of threads, at most four per processor. Default: all processors.

    Returns:
        A `Description`.
    """
    # All columns, also those that are not scores.
    source = as_input(data, named=[column_names(data)])
    if isinstance(source, Array):
        raise TypeError("data: it must have column names, so it must be a frame or a file, not an array")
    values = {"encoding": encoding, "delimiter": delimiter, "sheet": sheet, "max_line": max_line, "batch_rows": batch_rows}
    is_file = isinstance(source, Files)
    if not is_file:
        source.names = ["data"]  # the name in the text
    return Description(run("describe", source, values, threads=threads), is_file=is_file)
