"""Options shared by all functions: the table of scores, and the roles of its columns."""

from __future__ import annotations

import difflib
from typing import Any, Literal

from ._frames import Input, as_input

Encoding = Literal["auto", "utf8", "windows-1252", "latin1"]

#: Options for reading the table, passed to the job unchanged.
READING = (
    "truth_map", "truth_exclude", "only_with_truth", "skip_missing", "normalize", "memory", "seed", "encoding",
    "delimiter", "sheet",
)  # fmt: skip
#: Options of rules.
RULE = (
    "rule", "gamma", "penalty", "at", "k", "coverage", "at_least", "at_most", "tolerance", "from_sample", "learner",
    "train_rows",
)  # fmt: skip
#: Options of all functions that read a table.
TABLE = {"id", "truth", "truth_ethnicity", "classes", "columns", "threads", "progress", *READING}
#: Options of functions that apply a rule.
LABELING = TABLE | {"nested", "training_shares", *RULE}
#: Options of `run` itself.
RUNNING = ("reference", "training_shares", "threads", "progress")
#: Former names of options.
RENAMED = {"margin": "tolerance", "batch": "train_rows"}


def table(given: dict[str, Any], label: Any = None) -> tuple[Input, dict[str, Any]]:
    """Returns the table and the settings for its columns. A column may be given by name or as values."""
    by, nested, columns = given.get("by"), given.get("nested"), given.get("columns")
    named = [given.get("id"), given.get("truth"), given.get("count"), by, nested, label, *given.get("named", [])]
    named.append(given.get("truth_ethnicity"))
    if isinstance(given.get("truth_map"), (str, list, tuple)):
        named.append("ethnic_code")  # truth_map="nc" finds it by its name
    if isinstance(columns, str):
        columns = [columns]
    elif columns is not None:
        columns = [str(name) for name in columns]
    source = as_input(given["scores"], given.get("classes"), columns, named)
    if columns is None:
        source.list_all_columns()
    values: dict[str, Any] = {name: given[name] for name in READING if name in given}
    values["scores"] = columns
    for name in columns or []:
        if source.matrix is None:
            source.refuse_unknown("columns", name)
    if columns is None and getattr(source, "are_numbers", False):
        # A frame made from an array: all of its columns are scores.
        values |= {"scores": source.columns, "classes": source.columns}
    if source.matrix is not None:
        values |= {"scores": source.matrix[0], "classes": source.matrix[0]}
    elif given.get("classes") is not None:
        values["classes"] = [str(name) for name in given["classes"]]
    for what in ("id", "truth", "truth_ethnicity", "count"):
        if given.get(what) is not None:
            values[what] = source.column(what, given[what])
    for what, value in (("by", by), ("nested", nested)):
        if value is not None:
            values[what] = _columns(source, what, value)
    if label is not None:
        values["label"] = source.column("label", label)
    return source, values


def _columns(source: Input, what: str, given: Any) -> list[str]:
    """Returns the columns that define groups, given as one or several names, or as one value per row."""
    if isinstance(given, str):
        return [source.column(what, given)]
    is_names = isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(name, str) for name in given)
    known = [name for name in given if name in source.columns] if is_names and source.matrix is None else []
    if is_names and (source.rows is None or known or source.matrix is None and len(given) != source.rows and len(given) < 10):
        for name in given:
            source.refuse_unknown(what, name)
        return list(given)
    return [source.column(what, given)]


def refuse_unknown(function: str, options: dict[str, Any], known: set[str]) -> None:
    """Raises an error for options that a function does not have."""
    for option in options:
        if option not in known:
            if RENAMED.get(option) in known:
                raise TypeError(f"{function}() has no option {option!r}; it is now named {RENAMED[option]}")
            near = difflib.get_close_matches(option, sorted(known), 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(f"{function}() has no option {option!r}{meant}")


def rest(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the named options that are given."""
    return {name: given[name] for name in names if name in given}
