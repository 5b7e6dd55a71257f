"""What goes in and comes back: arrays and frames of several makers, lent to the program without a copy where they can be.

Everything in memory becomes an Arrow table, or, where it is a matrix, the memory that it has, row by row. Labels come back
as the maker of the input would have them: a Categorical with the same index, an Enum, an array.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from . import _native

#: The names of columns that are given as values beside a frame or a matrix.
BESIDE = "apportion: {}"


class Lent:
    """A table of scores that a command can read, and how labels are given back for it."""

    #: What is lent to the command, by the names that it knows.
    table: pa.Table | None = None
    matrix: tuple[list[str], pa.Array] | None = None
    #: How the command names the input.
    names: list[str]
    #: How many rows there are; unknown where the rows are in files.
    rows: int | None = None
    #: The names of all columns.
    columns: list[str]

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        """Labels, of the kind that went in."""
        raise NotImplementedError

    def frame(self, columns: dict[str, Any]) -> Any:
        """Several columns as a frame of the kind that went in. Labels among them are as `give` gives them."""
        raise NotImplementedError

    def beside(self, what: str, values: Any) -> str:
        """Adds values that are no column of the table, and names the column that they now are."""
        column = _array(what, values)
        if len(column) != self.rows:
            raise ValueError(f"{what} has {len(column)} values, and there are {self.rows} rows of scores")
        name = BESIDE.format(what)
        columns = [] if self.table is None else self.table.columns
        names = [] if self.table is None else self.table.column_names
        self.table = pa.table([*columns, column], names=[*names, name])
        return name

    def column(self, what: str, given: Any) -> str:
        """The column that is named, or the one that the given values become."""
        if isinstance(given, str):
            return given
        if isinstance(self, Files):
            raise TypeError(f"{what}: where the scores are in files, name a column of theirs")
        return self.beside(what, given)


class Files(Lent):
    """Scores in files, of any size."""

    def __init__(self, paths: list[str | os.PathLike[str]]) -> None:
        self.names = [os.fspath(path) for path in paths]
        self.columns = []
        for path in self.names:
            if not Path(path).exists() and not any(mark in path for mark in "*?["):
                raise FileNotFoundError(f"{path}: there is no such file; check the path")


class Array(Lent):
    """A matrix, as numpy has it, or what numpy makes one of."""

    def __init__(self, values: Any, classes: Sequence[Any] | None, columns: Sequence[str] | None) -> None:
        matrix = _matrix(values)
        rows, width = matrix.shape
        if columns is not None:
            raise ValueError("columns: an array has no names of columns; name its classes with classes=[…]")
        if width == 0 or rows == 0:
            raise ValueError(f"scores of shape {matrix.shape}: there must be rows, and a column for each class")
        if classes is not None and len(classes) != width:
            raise ValueError(f"classes: {len(classes)} names for {width} columns of scores")
        self.names, self.rows = ["scores"], rows
        self.classes = classes
        names = [str(place) for place in range(width)] if classes is None else [str(name) for name in classes]
        self.columns = names
        flat = pa.Array.from_buffers(pa.from_numpy_dtype(matrix.dtype), matrix.size, [None, pa.py_buffer(matrix)])
        self.matrix = (names, flat)

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        if self.classes is None:
            return codes.astype(np.int64)
        # The last stands for no label, which −1 finds.
        return np.array([*self.classes, None], dtype=object)[codes]

    def frame(self, columns: dict[str, Any]) -> Any:
        return np.column_stack(list(columns.values()))


class Pandas(Lent):
    """A frame of pandas."""

    def __init__(self, frame: Any, named: set[str]) -> None:
        import pandas as pd

        if isinstance(frame.columns, pd.MultiIndex):
            raise TypeError("scores: columns of several levels; name them by one, such as 'p_white'")
        self.names, self.rows, self.index = ["scores"], len(frame), frame.index
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        _refuse_repeated(list(frame.columns))
        named = named | set(_native.score_columns(list(frame.columns)))
        kept = [name for name, kind in frame.dtypes.items() if name in named or pd.api.types.is_numeric_dtype(kind)]
        self.columns = kept
        self.table = _arrow(pa.Table.from_pandas, frame[kept], preserve_index=False).replace_schema_metadata()

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        import pandas as pd

        labels = pd.Categorical.from_codes(codes, categories=classes)
        return pd.Series(labels, index=self.index, name=name)

    def frame(self, columns: dict[str, Any]) -> Any:
        import pandas as pd

        return pd.DataFrame({name: getattr(column, "array", column) for name, column in columns.items()}, index=self.index)


class Polars(Lent):
    """A frame of polars."""

    def __init__(self, frame: Any, named: set[str]) -> None:
        import polars as pl

        if isinstance(frame, pl.LazyFrame):
            raise TypeError("scores: a LazyFrame has no rows yet; use .collect()")
        self.names, self.rows = ["scores"], len(frame)
        named = named | set(_native.score_columns(frame.columns))
        kept = [name for name, kind in frame.schema.items() if name in named or kind.is_numeric()]
        self.columns = kept
        self.table = _arrow(pa.table, frame.select(kept))

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        import polars as pl

        return pl.Series(name, pl.from_arrow(_dictionary(codes, classes))).cast(pl.Enum(classes))

    def frame(self, columns: dict[str, Any]) -> Any:
        import polars as pl

        return pl.DataFrame(columns)


class Arrow(Lent):
    """Whatever has the Arrow PyCapsule interface."""

    def __init__(self, frame: Any) -> None:
        table = _arrow(pa.table, frame)
        _refuse_repeated(table.column_names)
        self.names, self.rows, self.table, self.columns = ["scores"], table.num_rows, table, table.column_names

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        return _dictionary(codes, classes)

    def frame(self, columns: dict[str, Any]) -> Any:
        return pa.table(columns)


class DuckDB(Arrow):
    """A relation of DuckDB's."""

    def __init__(self, relation: Any) -> None:
        super().__init__(relation.to_arrow_table() if hasattr(relation, "to_arrow_table") else relation.arrow())

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        return self.frame({name: _dictionary(codes, classes)})

    def frame(self, columns: dict[str, Any]) -> Any:
        import duckdb

        own = {name: column if isinstance(column, (pa.Array, np.ndarray)) else column.to_arrow_table()[0] for name, column in columns.items()}
        return duckdb.from_arrow(pa.table(own))


def lend(
    scores: Any, classes: Sequence[Any] | None = None, columns: Sequence[str] | None = None, named: Sequence[Any] = ()
) -> Lent:
    """Finds out what scores are. The columns that are named are needed whatever they hold."""
    if isinstance(scores, (str, os.PathLike)):
        return Files([scores])
    if _is_paths(scores):
        return Files(list(scores))
    wanted = {name for given in [*named, columns] for name in _names(given)}
    maker = type(scores).__module__.partition(".")[0]
    if maker == "pandas" and type(scores).__name__ == "DataFrame":
        return Pandas(scores, wanted)
    if maker == "polars" and type(scores).__name__ in ("DataFrame", "LazyFrame"):
        return Polars(scores, wanted)
    if maker in ("duckdb", "_duckdb") and "Relation" in type(scores).__name__:
        return DuckDB(scores)
    if maker in ("pandas", "polars"):
        raise TypeError(f"scores: a {type(scores).__name__} is one column; give a frame with a column for each class")
    if hasattr(scores, "__arrow_c_stream__") or isinstance(scores, pa.RecordBatch):
        return Arrow(scores if not isinstance(scores, pa.RecordBatch) else pa.Table.from_batches([scores]))
    if isinstance(scores, Mapping):
        return Arrow(_arrow(pa.table, dict(scores)))
    return Array(scores, classes, columns)


def _names(given: Any) -> list[str]:
    """Names of columns, where what is given may be some."""
    if isinstance(given, str):
        return [given]
    return [name for name in given if isinstance(name, str)] if isinstance(given, (list, tuple)) else []


def _dictionary(codes: np.ndarray, classes: list[str]) -> pa.DictionaryArray:
    """Labels as Arrow has them; null where there is none."""
    # Somebody who asks for no mask is given no copy.
    mask = codes < 0
    indices = pa.array(codes, mask=mask) if mask.any() else pa.array(codes)
    return pa.DictionaryArray.from_arrays(indices, pa.array(classes, type=pa.string()))


def _is_paths(scores: Any) -> bool:
    is_list = isinstance(scores, (list, tuple)) and len(scores) > 0
    return is_list and all(isinstance(path, (str, os.PathLike)) for path in scores)


def _matrix(values: Any) -> np.ndarray:
    """Numbers in rows, in memory that the program can read as it is; copied where it cannot."""
    if hasattr(values, "toarray"):  # a sparse matrix
        values = values.toarray()
    try:
        matrix = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"scores: rows of several lengths, or no rows of numbers ({error})") from None
    if matrix.ndim != 2:
        raise ValueError(f"scores of shape {matrix.shape}: there must be rows and columns, a column for each class")
    if matrix.dtype.kind not in "fiub":
        kind = "text or other objects" if matrix.dtype.kind in "OUS" else str(matrix.dtype)
        raise TypeError(f"scores: an array of {kind}; scores are numbers from 0 to 1")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float32 if matrix.dtype == np.float16 else np.float64)
    return np.ascontiguousarray(matrix)


def _array(what: str, values: Any) -> pa.Array:
    """Values beside the scores, one a row."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if type(values).__module__.partition(".")[0] == "polars":
        return values.to_arrow()
    if not hasattr(values, "__len__") or isinstance(values, (bytes, dict)):
        raise TypeError(f"{what}: a {type(values).__name__} is neither the name of a column nor a value for each row")
    shape = getattr(values, "shape", None) or (len(values),)
    if len(shape) != 1:
        raise ValueError(f"{what} of shape {shape}: it must be a list, with a value for each row")
    try:
        column = pa.array(values, from_pandas=True)
        if pa.types.is_nested(column.type):
            raise ValueError(f"{what}: lists or mappings in place of values; there must be one value for each row")
        return column
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        # Values of several kinds, or objects: what they are called is what tells them apart.
        return pa.array([None if value is None else str(value) for value in values])


def _arrow(make: Any, frame: Any, **options: Any) -> pa.Table:
    try:
        return make(frame, **options)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TypeError(f"scores: a column is neither of numbers nor of text ({error})") from None


def _refuse_repeated(names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"scores: two columns are called {repeated[0]!r}; rename one of them")
