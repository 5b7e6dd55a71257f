"""Input and output types: arrays and frames of several libraries, passed to the program without a copy if possible.

Data in memory becomes an Arrow table, or a buffer if it is a row-major matrix. Labels are returned in the matching type of
the same library: a Categorical with the same index, an Enum, an array.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from . import _native

#: Numeric types of DuckDB.
NUMBERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE",
    "DECIMAL",
}  # fmt: skip


class Input:
    """A table of scores that a command can read, and the conversion of its labels."""

    #: The data that the command reads.
    table: pa.Table | None = None
    matrix: tuple[list[str], pa.Array] | None = None
    #: The name of the input in messages.
    names: list[str]
    #: The number of rows; None if they are in files.
    rows: int | None = None
    #: The names of all columns.
    columns: list[str]
    #: The names of classes that are not text, by their text.
    class_names: Mapping[str, Any] = {}
    #: The columns that identify a row, in outputs that have no row order.
    keys: Sequence[str] = ()

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        """Returns labels in the type of the input."""
        raise NotImplementedError

    def frame(self, columns: dict[str, Any]) -> Any:
        """Returns several columns as a frame in the type of the input. Label columns are those returned by `give`."""
        raise NotImplementedError

    def own(self, table: pa.Table) -> Any:
        """Converts a table of new columns to a frame in the type of the input."""
        raise NotImplementedError

    def beside(self, what: str, values: Any) -> str:
        """Adds values as a new column and returns its name."""
        column = _array(what, values)
        if len(column) != self.rows:
            raise ValueError(f"{what} has {len(column)} values, but there are {self.rows} rows of scores")
        columns = [] if self.table is None else self.table.columns
        names = [] if self.table is None else self.table.column_names
        own = getattr(values, "name", None)
        wanted = own if isinstance(own, str) else what
        name = _free_name(wanted if wanted not in [*self.columns, *names] else what, [*self.columns, *names])
        self.table = pa.table([*columns, column], names=[*names, name])
        return name

    def name(self, classes: Sequence[str]) -> list[Any]:
        """Returns classes with the type of their names in the input."""
        return [self.class_names.get(name, name) for name in classes]

    def probabilities(self, named: Sequence[Any]) -> list[str] | None:
        """Returns the score columns of a table of probabilities, whatever their names: if no name is that of a score, all
        numeric columns except the named ones, if these are at least two whose rows sum to 1."""
        if self.table is None or _score_columns(self.columns):
            return None
        others = {_same(name) for given in named for name in _names(given)}
        numbers = [field for field in self.table.schema if _is_number(field.type) and _same(field.name) not in others]
        if len(numbers) < 2 or not all(pa.types.is_floating(field.type) for field in numbers):
            return None
        names = [field.name for field in numbers]
        # The job checks the other rows.
        first = np.array([column.to_numpy() for column in self.table.select(names).slice(0, 1000).columns])
        sums = first.sum(axis=0)
        sums = sums[~np.isnan(sums)]
        are_probabilities = sums.size > 0 and np.nanmin(first) >= 0 and np.abs(sums - 1).max() < 1e-3
        return names if are_probabilities else None

    def list_all_columns(self) -> None:
        """Adds the names of the columns that were not converted, without their values, if no column has the name of a score.

        An error about score columns then lists all columns of the frame.
        """
        if self.table is None or self.rows is None or _score_columns(self.columns):
            return
        kept = self.table.column_names
        values = [self.table[name] if name in kept else pa.nulls(self.rows) for name in self.columns]
        self.table = pa.table(values, names=self.columns)

    def column(self, what: str, given: Any) -> str:
        """Returns the name of a column that is given by name or as values."""
        if isinstance(given, str):
            self.refuse_unknown(what, given)
            return given
        if isinstance(self, Files):
            raise TypeError(f"{what}: the scores are in files, so it must be the name of a column")
        return self.beside(what, given)

    def refuse_unknown(self, what: str, name: str) -> None:
        """Raises an error if there is no such column. Case is ignored, and dots and underscores are equivalent."""
        if not self.columns or any(_same(name) == _same(own) for own in self.columns):
            return
        near = difflib.get_close_matches(name, self.columns, 1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        shown = ", ".join(self.columns[:40]) + (f" and {len(self.columns) - 40} more" if len(self.columns) > 40 else "")
        raise ValueError(f"{what}: there is no column {name!r}{meant}; the columns are {shown}")


class Files(Input):
    """Scores in files, of any size."""

    def __init__(self, paths: list[str | os.PathLike[str]]) -> None:
        self.names = [os.fspath(path) for path in paths]
        self.columns = []
        for path in self.names:
            if not Path(path).exists() and not any(mark in path for mark in "*?["):
                raise FileNotFoundError(f"{path}: no such file; check the path")


class Array(Input):
    """A numpy matrix, or an object that numpy can convert to one. If it is column-major, its columns become a table."""

    def __init__(self, values: Any, classes: Sequence[Any] | None, columns: Sequence[str] | None) -> None:
        matrix = _matrix(values)
        rows, width = matrix.shape
        if columns is not None:
            raise ValueError("columns: an array has no column names; name its classes with classes=[…]")
        if width == 0 or rows == 0:
            raise ValueError(f"scores of shape {matrix.shape}: at least one row and one column per class are required")
        if classes is not None and len(classes) != width:
            raise ValueError(f"classes: {len(classes)} names for {width} columns of scores")
        self.names, self.rows = ["scores"], rows
        self.classes = classes
        names = [str(name) for name in (range(width) if classes is None else classes)]
        self.columns, self.class_names = names, class_names(range(width) if classes is None else classes)
        if matrix.flags.c_contiguous:
            self.matrix = (names, _borrowed(matrix))
        else:
            self.table = pa.table([_borrowed(column) for column in matrix.T], names=names)

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        if self.classes is None:
            return codes.astype(np.int64)
        # The last element is for unlabeled rows, whose code is −1.
        return np.array([*self.classes, None], dtype=object)[codes]

    def frame(self, columns: dict[str, Any]) -> Any:
        return np.column_stack(list(columns.values()))

    def own(self, table: pa.Table) -> Any:
        return np.column_stack([column.to_numpy(zero_copy_only=False) for column in table.combine_chunks().columns])

    def column(self, what: str, given: Any) -> str:
        if isinstance(given, str):
            raise TypeError(f"{what}: an array has no column {given!r}; give one value per row")
        return super().column(what, self.named(given) if what in ("label", "truth") else given)

    def named(self, given: Any) -> Any:
        """Converts labels that are column indices, as returned by `label`, to classes; −1 is unlabeled."""
        names = self.columns
        codes = _codes(given, names)
        if codes is None or not _go_by_place(self.classes):
            return given
        if codes.size and not (-1 <= codes.min() and codes.max() < len(names)):
            return given
        return _dictionary(codes, names)


class Pandas(Input):
    """A pandas data frame."""

    def __init__(self, frame: Any, named: set[str]) -> None:
        import pandas as pd

        if isinstance(frame.columns, pd.MultiIndex):
            raise TypeError("scores: the columns are a MultiIndex; use one level of names, such as 'p_white'")
        self.names, self.rows, self.index = ["scores"], len(frame), frame.index
        self.are_numbers = len(frame.columns) > 0 and all(isinstance(name, (int, np.integer)) for name in frame.columns)
        if self.are_numbers:
            self.class_names = class_names(frame.columns)
        self.columns = [str(name) for name in frame.columns]
        _refuse_repeated(self.columns)
        values = {name: column for name, (_, column) in zip(self.columns, frame.items(), strict=True)}
        known = {_same(name) for name in self.columns}
        for level in frame.index.names:
            if isinstance(level, str) and _same(level) in named - known:
                values[level] = frame.index.get_level_values(level).to_series()
        self.columns = list(values)
        kept = _needed(self.columns, named, [_is_plain_number(column.dtype) for column in values.values()])
        # Faster than pa.Table.from_pandas, which also keeps what only pandas needs.
        arrays = [_arrow(_pandas_column, values[name], is_named=_same(name) in named) for name in kept]
        self.table = pa.table(arrays, names=kept) if kept else pa.table({})

    def column(self, what: str, given: Any) -> str:
        import pandas as pd

        if isinstance(given, pd.Series) and not given.index.equals(self.index):
            same = given.index.is_unique and self.index.is_unique and len(given) == len(self.index)
            if not same or not self.index.isin(given.index).all():
                raise ValueError(
                    f"{what}: its index differs from that of the scores; align it with .reindex(…), or pass .to_numpy() to "
                    "align by position"
                )
            given = given.reindex(self.index)
        return super().column(what, given)

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        import pandas as pd

        labels = pd.Categorical.from_codes(codes, dtype=_categories(*self.name(classes)))
        return pd.Series(labels, index=self.index, name=name)

    def frame(self, columns: dict[str, Any]) -> Any:
        import pandas as pd

        return pd.DataFrame(
            {name: getattr(column, "array", column) for name, column in columns.items()}, index=self.index
        )

    def own(self, table: pa.Table) -> Any:
        # Older versions of pyarrow convert only dictionaries with signed indices.
        kinds = [
            pa.field(field.name, pa.dictionary(pa.int32(), field.type.value_type))
            if pa.types.is_dictionary(field.type)
            else field
            for field in table.schema
        ]
        return table.cast(pa.schema(kinds)).to_pandas().set_axis(self.index, axis=0)


class Polars(Input):
    """A polars data frame. Of a LazyFrame, only the columns that are needed are collected."""

    def __init__(self, frame: Any, named: set[str], chosen: Sequence[str] | None) -> None:
        import polars as pl

        schema = frame.collect_schema()
        self.names, self.columns = ["scores"], schema.names()
        are_numbers = [kind.is_numeric() for kind in schema.dtypes()]
        if isinstance(frame, pl.LazyFrame):
            kept = _required(self.columns, named, are_numbers, chosen) or self.columns
            frame = frame.select(kept).collect()
        else:
            kept = _needed(self.columns, named, are_numbers)
        self.rows, frame = len(frame), frame.select(kept)
        try:
            self.table = _arrow(pa.table, frame)
        except TypeError:  # an older polars, or a pyarrow that does not read its strings
            self.table = _arrow(type(frame).to_arrow, frame)

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        import polars as pl

        return pl.Series(name, pl.from_arrow(_dictionary(codes, classes))).cast(pl.Enum(classes))

    def frame(self, columns: dict[str, Any]) -> Any:
        import polars as pl

        return pl.DataFrame(columns)

    def own(self, table: pa.Table) -> Any:
        import polars as pl

        return pl.from_arrow(table)


class Arrow(Input):
    """An object with the Arrow PyCapsule interface."""

    def __init__(self, frame: Any) -> None:
        table = _arrow(pa.table, frame)
        _refuse_repeated(table.column_names)
        self.names, self.rows, self.table, self.columns = ["scores"], table.num_rows, table, table.column_names

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        return _dictionary(codes, classes)

    def frame(self, columns: dict[str, Any]) -> Any:
        return pa.table(columns)

    def own(self, table: pa.Table) -> Any:
        return table


class DuckDB(Arrow):
    """A DuckDB relation. Results are relations of the same connection. Because rows of a relation have no order, they also
    contain the columns that identify a row."""

    def __init__(self, relation: Any, named: set[str], chosen: Sequence[str] | None) -> None:
        self.relation, columns = relation, list(relation.columns)
        are_numbers = [str(kind).split("(")[0] in NUMBERS for kind in relation.types]
        kept = _required(columns, named, are_numbers, chosen)
        if not kept:
            raise ValueError(
                f"scores: no score columns were recognized among {', '.join(columns)}; name them with columns"
            )
        quoted = ['"' + name.replace('"', '""') + '"' for name in kept]
        super().__init__(relation.project(", ".join(quoted)).to_arrow_table())
        self.columns = columns

    def give(self, codes: np.ndarray, classes: list[str], name: str) -> Any:
        return self.frame({name: _dictionary(codes, classes)})

    def frame(self, columns: dict[str, Any]) -> Any:
        is_relation = {name: type(column) is type(self.relation) for name, column in columns.items()}
        new = {name: column.to_arrow_table()[name] if is_relation[name] else column for name, column in columns.items()}
        return self.own(pa.table(new))

    def own(self, table: pa.Table) -> Any:
        import duckdb

        assert self.table is not None
        keys = {name: self.table[name] for name in self.keys if name not in table.column_names}
        apportion_result = pa.table({**keys, **dict(zip(table.column_names, table.columns, strict=True))})
        view = "apportion_input"
        try:
            # DuckDB finds the local variable by its name.
            result = self.relation.query(view, "SELECT * FROM apportion_result")
        except duckdb.CatalogException:
            raise ValueError(
                "scores: the connection of the relation cannot read Arrow tables, because python_enable_replacements is off; "
                "turn it on, or use .to_arrow_table()"
            ) from None
        self.relation.query(view, f"DROP VIEW IF EXISTS {view}")  # some versions of DuckDB keep it
        del apportion_result
        return result.set_alias("labels")


def as_input(
    scores: Any, classes: Sequence[Any] | None = None, columns: Sequence[str] | None = None, named: Sequence[Any] = ()
) -> Input:
    """Detects the type of the scores. Columns in `named` are always included."""
    if isinstance(scores, (str, os.PathLike)):
        return Files([scores])
    if _is_paths(scores):
        return Files(list(scores))
    wanted = {_same(name) for given in [*named, columns] for name in _names(given)}
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(scores, pandas.DataFrame):
        return Pandas(scores, wanted)
    if polars is not None and isinstance(scores, (polars.DataFrame, polars.LazyFrame)):
        return Polars(scores, wanted, columns)
    maker = type(scores).__module__.partition(".")[0]
    if maker in ("duckdb", "_duckdb") and "Relation" in type(scores).__name__:
        return DuckDB(scores, wanted, columns)
    if maker == "pyspark":
        raise TypeError(
            "scores: Spark data frames are not supported in this version; write Parquet files and use their path, or fit "
            "a decision and run the SQL of Decision.to_sql('spark') in Spark"
        )
    if maker in ("pandas", "polars"):
        raise TypeError(f"scores: a {type(scores).__name__} is one column; give a frame with one column per class")
    if hasattr(scores, "__arrow_c_stream__") or isinstance(scores, pa.RecordBatch):
        return Arrow(scores if not isinstance(scores, pa.RecordBatch) else pa.Table.from_batches([scores]))
    if isinstance(scores, Mapping):
        return Arrow(_arrow(pa.table, dict(scores)))
    return Array(scores, classes, columns)


def _free_name(wanted: str, taken: list[str]) -> str:
    """Returns a column name that is not taken, ignoring case and punctuation."""
    compared = {_same(name) for name in taken}
    names = (wanted if number == 1 else f"{wanted}_{number}" for number in itertools.count(1))
    return next(name for name in names if _same(name) not in compared)


def _names(given: Any) -> list[str]:
    """Returns the column names in an argument that may contain some."""
    if isinstance(given, str):
        return [given]
    is_list = isinstance(given, (list, tuple)) or type(given).__name__ == "Index"
    return [name for name in given if isinstance(name, str)] if is_list else []


def _same(name: str) -> str:
    """Normalizes a column name as the program does to compare names."""
    return name.strip().lower().replace(".", "_").replace(" ", "_")


def _score_columns(columns: Sequence[str]) -> list[str]:
    """Returns the columns that have names of scores; empty if none have."""
    return _recognized(tuple(columns))


@functools.lru_cache(maxsize=64)
def _recognized(columns: tuple[str, ...]) -> list[str]:
    return _native.score_columns(list(columns))


def _needed(columns: list[str], named: set[str], are_numbers: list[bool]) -> list[str]:
    """Returns the columns that may be needed: named ones, scores by name, and numbers, which are not copied."""
    scores = set(_score_columns(columns))
    both = zip(columns, are_numbers, strict=True)
    return [name for name, is_number in both if is_number or name in scores or _same(name) in named]


def _required(columns: list[str], named: set[str], are_numbers: list[bool], chosen: Sequence[str] | None) -> list[str]:
    """Returns the columns that are required: named ones and scores. If the scores are not known, they may be any number."""
    known = {_same(name) for name in columns}
    scores = {_same(name) for name in (_score_columns(columns) if chosen is None else chosen)}
    if not scores or not scores <= known:
        return _needed(columns, named, are_numbers)
    return [name for name in columns if _same(name) in scores | named]


def class_names(names: Sequence[Any]) -> dict[str, Any]:
    """Returns the names of classes by their text, if they are numbers or booleans."""
    own = [name.item() if isinstance(name, np.generic) else name for name in names]
    return {str(name): name for name in own} if {type(name) for name in own} in ({int}, {float}, {bool}) else {}


def column_names(data: Any) -> list[str]:
    """Returns the column names of a frame; none if it has none that are text."""
    names = data.collect_schema().names() if hasattr(data, "collect_schema") else getattr(data, "columns", ())
    return [name for name in names if isinstance(name, str)]


def _borrowed(values: np.ndarray) -> pa.Array:
    """Returns contiguous numbers as an Arrow array, without a copy."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, pa.py_buffer(values)])


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


@functools.lru_cache(maxsize=16, typed=True)
def _categories(*classes: Any) -> Any:
    """Returns the pandas type of labels, which takes longer to make than a thousand labels."""
    import pandas as pd

    return pd.CategoricalDtype(list(classes))


def _pandas_column(column: Any, *, is_named: bool) -> pa.Array:
    """Returns a column of a pandas frame. Numbers without missing values are not copied."""
    if is_named and _is_whole(column):
        column = column.astype("Int64")
    return pa.array(column, from_pandas=True)


def _is_plain_number(kind: Any) -> bool:
    return getattr(kind, "kind", "O") in "fiub" or str(kind) in ("Int64", "Float64", "Float32", "Int32")


def _is_whole(column: Any) -> bool:
    """Returns whether a float column has only whole numbers: pandas converts integers with missing values to floats."""
    return isinstance(column.dtype, np.dtype) and column.dtype.kind == "f" and _is_whole_array(column)


def _codes(given: Any, names: list[str]) -> np.ndarray | None:
    """Returns column indices given as whole numbers of any type or a list of them, or for two classes as booleans."""
    if isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(code, (int, np.integer)) for code in given):
        given = np.array(given)
    kind = getattr(getattr(given, "dtype", None), "kind", "")
    if kind not in ("i", "u") and not (kind == "b" and len(names) == 2):
        return None
    codes = np.asarray(given)
    return codes.astype(np.int64) if codes.ndim == 1 else None


def _go_by_place(classes: Sequence[Any] | None) -> bool:
    """Returns whether whole numbers are class indices and not class names."""
    return classes is None or not any(isinstance(name, (int, np.integer)) for name in classes)


def _dictionary(codes: np.ndarray, classes: list[str]) -> pa.DictionaryArray:
    """Returns labels as an Arrow dictionary array, with null for unlabeled rows."""
    # Without a mask, Arrow does not copy.
    mask = codes < 0
    indices = pa.array(codes, mask=mask) if mask.any() else pa.array(codes)
    return pa.DictionaryArray.from_arrays(indices, pa.array(classes, type=pa.string()))


def _is_paths(scores: Any) -> bool:
    is_list = isinstance(scores, (list, tuple)) and len(scores) > 0
    return is_list and all(isinstance(path, (str, os.PathLike)) for path in scores)


def _matrix(values: Any) -> np.ndarray:
    """Returns a float matrix whose rows or columns are contiguous, copied only if necessary."""
    if hasattr(values, "toarray"):  # a sparse matrix
        values = values.toarray()
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.result_type(values.dtype, np.float32)), np.nan)
    try:
        matrix = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"scores: rows have different lengths or are not numbers ({error})") from None
    if matrix.ndim < 2 and matrix.dtype == object:
        kind = "list of dicts" if matrix.size and isinstance(matrix.flat[0], Mapping) else type(values).__name__
        raise TypeError(
            f"scores: unsupported type {kind}; give an array, a data frame, a table, a DuckDB relation, or the path of a file"
        )
    if matrix.ndim != 2:
        raise ValueError(f"scores of shape {matrix.shape}: two dimensions are required, with one column per class")
    if matrix.dtype == object:  # numbers, perhaps with None
        with contextlib.suppress(TypeError, ValueError):
            matrix = matrix.astype(np.float64)
    if matrix.dtype.kind not in "fiub":
        kind = "text or other objects" if matrix.dtype.kind in "OUS" else str(matrix.dtype)
        raise TypeError(f"scores: an array of {kind}; scores must be numbers from 0 to 1")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float32 if matrix.dtype == np.float16 else np.float64)
    has_columns = matrix.flags.aligned and matrix.strides[0] == matrix.itemsize and matrix.size > 0
    return matrix if has_columns and not matrix.flags.c_contiguous else np.ascontiguousarray(matrix)


def _array(what: str, values: Any) -> pa.Array:
    """Returns values given separately from the scores, one per row, as an Arrow array."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if type(values).__name__ == "Series" and hasattr(values, "to_arrow"):
        return values.to_arrow()
    if hasattr(values, "columns") or not hasattr(values, "__len__") or isinstance(values, (bytes, dict)):
        raise TypeError(f"{what}: it must be a column name or one value per row, not {type(values).__name__}")
    shape = getattr(values, "shape", None) or (len(values),)
    if len(shape) != 1:
        raise ValueError(f"{what} of shape {shape}: it must have one dimension, with one value per row")
    try:
        column = pa.array(_without_fractions(values), from_pandas=True)
        if pa.types.is_nested(column.type):
            raise ValueError(f"{what}: values must not be lists or mappings; give one value per row")
        return column
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        # Values of mixed types, or objects, are compared as text.
        return pa.array([None if value is None else str(value) for value in values])


def _without_fractions(values: Any) -> Any:
    """Converts floats back to integers if all are whole, as after a missing value: 7.0 and 7 are the same ID."""
    if getattr(getattr(values, "dtype", None), "kind", "") != "f" or not _is_whole_array(values):
        return values
    numbers = np.asarray(values)
    return pa.array(np.nan_to_num(numbers).astype(np.int64), mask=np.isnan(numbers))


def _is_whole_array(values: Any) -> bool:
    numbers = np.asarray(values)
    numbers = numbers[~np.isnan(numbers)]
    return bool(numbers.size and (np.abs(numbers) < 2**53).all() and (numbers == np.round(numbers)).all())


def _arrow(make: Any, frame: Any, **options: Any) -> pa.Table:
    try:
        return make(frame, **options)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError) as error:
        raise TypeError(f"scores: a column contains neither numbers nor text ({error})") from None


def _refuse_repeated(names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"scores: two columns are named {repeated[0]!r}; rename one of them")
