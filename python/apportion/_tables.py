"""Options shared by all functions: the table of scores, the roles of its columns, and the output."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._frames import Array, Files, Input, _same, as_input, class_names

#: Maximum number of classes.
MAX_CLASSES = 250
#: Options for reading files, passed to the job unchanged.
FILES = ("encoding", "delimiter", "sheet", "max_line", "batch_rows")
#: Options for reading the table, passed to the job unchanged.
READING = (
    "truth_map", "truth_exclude", "only_with_truth", "skip_missing", "normalize", "memory", "seed", *FILES,
)  # fmt: skip
#: Options of rules.
RULE = (
    "rule", "gamma", "penalty", "at", "k", "coverage", "at_least", "at_most", "tolerance", "from_sample", "learner",
    "train_rows", "draws",
)  # fmt: skip
#: Options of reports.
REPORT = ("report", "figures", "geometry", "geometry_key", "focus", "title")
#: Options of output files.
OUTPUT = ("only_label", "safe_csv", "provenance", "no_provenance")
#: Options of `run` itself.
RUNNING = ("reference", "training_shares", "threads", "progress")


def table(given: dict[str, Any], label: Any = None) -> tuple[Input, dict[str, Any]]:
    """Returns the table and the settings for its columns. A column may be given by name or as values."""
    by, nested, names = given.get("by"), given.get("nested"), given.get("columns")
    named = [given.get("id"), given.get("truth"), given.get("count"), by, nested, label, *given.get("named", [])]
    named.append(given.get("truth_ethnicity"))
    if isinstance(given.get("truth_map"), (str, list, tuple)):
        named.append("ethnic_code")  # truth_map="nc" finds it by its name
    if isinstance(names, str):
        names = [names]
    elif names is not None:
        names = [str(name) for name in names]
    source = as_input(given["scores"], given.get("classes"), names, named)
    is_array = isinstance(source, Array)
    if source.rows == 0:
        raise ValueError("scores: there are no rows")
    if is_array and len(source.columns) > MAX_CLASSES:
        raise ValueError(f"scores: {len(source.columns):,} columns, but at most {MAX_CLASSES} classes are supported")
    if names is None and not is_array and not getattr(source, "are_numbers", False):
        names = source.probabilities(named)
    if names is None:
        source.list_all_columns()
    values: dict[str, Any] = {name: given[name] for name in READING if name in given}
    values["scores"] = names
    for name in names or []:
        if not is_array and not name.endswith("*"):  # a prefix
            source.refuse_unknown("columns", name)
    if names is None and getattr(source, "are_numbers", False):
        # A frame made from an array: all of its columns are scores.
        values |= {"scores": source.columns, "classes": source.columns}
    if is_array:
        values |= {"scores": source.columns, "classes": source.columns}
    elif given.get("classes") is not None:
        values["classes"], source.class_names = [str(name) for name in given["classes"]], class_names(given["classes"])
    for what in ("id", "truth", "truth_ethnicity", "count"):
        if given.get(what) is not None:
            values[what] = column(source, what, given[what])
    if "id" in values:
        source.keys = [values["id"]]
    for what, value in (("by", by), ("nested", nested)):
        if value is not None:
            values[what] = columns(source, what, value)
    if label is not None:
        values["label"] = column(source, "label", label)
    return source, values


def column(source: Input, what: str, given: Any) -> str:
    """Returns the column that an argument gives, by name or as one value per row."""
    names = columns(source, what, given)
    if len(names) != 1:
        raise ValueError(f"{what}: it must be one column, not {len(names)}")
    return names[0]


def columns(source: Input, what: str, given: Any) -> list[str]:
    """Returns the columns that an argument gives: one or several names, or one value per row.

    A list of text is values if it has one entry per row, and names if it is shorter and all entries are columns. If both are
    possible, it is refused. A tuple of the names of columns is always names, and an array or a Series always values.
    """
    if isinstance(given, str) or isinstance(source, Array):
        return [source.column(what, given)]
    if hasattr(given, "columns") and hasattr(given, "__getitem__") and source.rows is not None:
        return [source.column(what, given[name]) for name in given.columns]
    is_list = isinstance(given, (list, tuple)) or type(given).__name__ == "Index"
    if is_list and len(given) > 0 and source.rows is not None and all(map(_is_column, given)):
        return [source.column(what, part) for part in given]
    if not is_list or len(given) == 0 or not all(isinstance(name, str) for name in given):
        return [source.column(what, given)]
    if source.rows is None:
        return list(given)
    known = {_same(name) for name in source.columns}
    are_names = all(_same(name) in known for name in given)
    are_values = len(given) == source.rows
    if are_names and are_values and not isinstance(given, tuple):
        way = repr(given[0]) if len(given) == 1 else "tuple([…])"
        raise ValueError(
            f"{what}: the list has one entry per row, and all entries are names of columns. For one value per row, use "
            f"{what}=numpy.array([…]); for columns, use {what}={way}"
        )
    if are_names:
        return list(given)
    if not are_values and len(given) < max(source.rows, 10) and len(set(given)) == len(given):
        for name in given:
            source.refuse_unknown(what, name)
    return [source.column(what, given)]


def _is_column(part: Any) -> bool:
    """Returns whether a part of a list is itself a column of values."""
    return hasattr(part, "dtype") and len(getattr(part, "shape", ())) == 1 or type(part).__name__ == "ChunkedArray"


def outputs(source: Input, given: Mapping[str, Any], what: str = "labels", file: str = "labeled.parquet") -> dict[str, Any]:
    """Returns the settings of the output, which is required if the scores are in files, and refused otherwise."""
    output = given.get("output")
    values: dict[str, Any] = {"force": True} if given.get("overwrite") else {}
    if isinstance(source, Files):
        if output is None:
            raise ValueError(f"output: scores in files require an output file; use output={file!r}")
        name = given.get("name")
        values |= {"output": os.fspath(output), "label_name": None if name == "label" else name}
        return values | rest(given, OUTPUT)
    for option in ("output", *OUTPUT):
        if given.get(option):
            data = source.names[0]
            raise ValueError(f"{option}: it is only for {data} in files; {what} of {data} in memory are returned")
    return values


def rule(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of the rule. Numbers by class may be a Series, and 0.3 in single precision is 0.3."""
    values = rest(given, RULE)
    for name in ("at", "at_least", "at_most"):
        by_class: Any = values.get(name)
        if hasattr(by_class, "to_dict"):
            by_class = by_class.to_dict()
        if isinstance(by_class, Mapping):
            values[name] = {own: _in_double(number) for own, number in by_class.items()}
    return values


def _in_double(number: Any) -> Any:
    """Returns a number of single precision as the same decimal number in double precision."""
    return float(str(number)) if type(number).__name__ in ("float32", "float16") else number


def written(given: Mapping[str, Any]) -> Path:
    """Returns the path of the output."""
    return Path(os.fspath(given.get("output") or ""))


def rest(given: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the named options that are given."""
    return {name: given[name] for name in names if name in given}
