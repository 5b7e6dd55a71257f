"""What apportion recognizes in data: scores, labels, truth, names and places, and the functions to call next."""

from __future__ import annotations

from typing import Any

from . import _native
from ._frames import Files, as_input
from ._run import run
from ._tables import Encoding


class Description:
    """The columns of some data, and the functions to call next. `print(description)` shows them as text.

    `columns` has the content of each recognized column, and `details` is the complete result: the JSON of the command
    `describe`, whose keys docs/json.md describes.

    >>> import pyarrow as pa, apportion
    >>> description = apportion.describe(pa.table({"surname": ["Garcia"], "county_fips": ["37183"], "age": [41]}))
    >>> description.columns
    {'surname': 'surname', 'county_fips': 'county'}
    """

    def __init__(self, done: _native.Done, *, is_file: bool) -> None:
        self._text = done.text
        self._is_file = is_file
        self.details: dict[str, Any] = done.result

    @property
    def columns(self) -> dict[str, str]:
        """The content of each recognized column: `score`, `label`, `truth`, `id`, `surname`, `county` and so on."""
        return {column["name"]: column["content"] for column in self.details["columns"] if "content" in column}

    def __repr__(self) -> str:
        calls = [f"# {step['title']}\napportion.{step['job']}({self._arguments(step)})" for step in self.details["next"]]
        return "\n\n".join([self._text, *calls])

    def _arguments(self, step: dict[str, Any]) -> str:
        """Returns the arguments of a call. Data in memory need no output file."""
        inputs: list[str] = step["inputs"]
        files = repr(inputs[0]) if len(inputs) == 1 else repr(inputs)
        named = [f"{name}={value!r}" for name, value in step["settings"] if self._is_file or name != "output"]
        return ", ".join([files if self._is_file else "data", *named])


def describe(
    data: Any,
    *,
    encoding: Encoding | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
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
        encoding: the encoding of a text file: "auto", "utf8" or "windows-1252".
        delimiter: the separator of a text file; detected if None.
        sheet: the sheet of an Excel workbook; the first one if None.
        threads: the number of threads; all if None.

    Returns:
        A `Description`.
    """
    # All columns, also those that are not scores.
    names = [str(name) for name in getattr(data, "columns", ()) if isinstance(name, str)]
    source = as_input(data, named=[names])
    if source.matrix is not None:
        raise TypeError("data: it must have column names, so it must be a frame or a file, not an array")
    values = {"encoding": encoding, "delimiter": delimiter, "sheet": sheet}
    is_file = isinstance(source, Files)
    if not is_file:
        source.names = ["data"]  # the name in the text
    return Description(run("describe", source, values, threads=threads), is_file=is_file)
