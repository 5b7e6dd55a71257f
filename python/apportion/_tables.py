"""What functions have in common: how a table of scores is given, and which of its columns hold what."""

from __future__ import annotations

import difflib
from typing import Any

from ._frames import Lent, lend

#: Options that say how the table is read, and go to the command as they are.
READING = ("truth_map", "truth_exclude", "only_with_truth", "skip_missing", "normalize", "memory", "seed")
#: Options of rules.
RULE = (
    "rule", "gamma", "penalty", "at", "k", "coverage", "at_least", "at_most", "margin", "from_sample", "learner", "batch",
)  # fmt: skip
#: Options that every function takes that reads a table.
TABLE = {"id", "truth", "classes", "columns", "threads", "progress", *READING}
#: Options of functions that label by a rule.
LABELLING = TABLE | {"nested", *RULE}
#: What `call` takes by itself.
CALLING = ("reference", "threads", "progress")


def table(given: dict[str, Any], label: Any = None) -> tuple[Lent, dict[str, Any]]:
    """The table, and the options that say what its columns hold. A column may be named, or given as values."""
    by, nested, columns = given.get("by"), given.get("nested"), given.get("columns")
    named = [given.get("id"), given.get("truth"), given.get("count"), by, nested, label, *given.get("named", [])]
    if isinstance(columns, str):
        columns = [columns]
    elif columns is not None:
        columns = [str(name) for name in columns]
    lent = lend(given["scores"], given.get("classes"), columns, named)
    options: dict[str, Any] = {name: given[name] for name in READING if name in given}
    options["columns"] = columns
    for name in columns or []:
        if lent.matrix is None:
            lent.refuse_unknown("columns", name)
    if columns is None and getattr(lent, "are_numbers", False):
        # The columns of an array that was made a frame: there is nothing else in it.
        options |= {"columns": lent.columns, "classes": lent.columns}
    if lent.matrix is not None:
        options |= {"columns": lent.matrix[0], "classes": lent.matrix[0]}
    elif given.get("classes") is not None:
        options["classes"] = [str(name) for name in given["classes"]]
    for what in ("id", "truth", "count"):
        if given.get(what) is not None:
            options[what] = lent.column(what, given[what])
    for what, value in (("by", by), ("nested", nested)):
        if value is not None:
            options[what] = _columns(lent, what, value)
    if label is not None:
        options["label"] = lent.column("label", label)
    return lent, options


def _columns(lent: Lent, what: str, given: Any) -> list[str]:
    """Columns whose values together are a group: one or several that are named, or a value for each row."""
    if isinstance(given, str):
        return [lent.column(what, given)]
    is_names = isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(name, str) for name in given)
    known = [name for name in given if name in lent.columns] if is_names and lent.matrix is None else []
    if is_names and (lent.rows is None or known or lent.matrix is None and len(given) != lent.rows and len(given) < 10):
        for name in given:
            lent.refuse_unknown(what, name)
        return list(given)
    return [lent.column(what, given)]


def refuse_unknown(function: str, options: dict[str, Any], known: set[str]) -> None:
    """Refuses options that a function does not look at: whoever gives one means something by it."""
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, sorted(known), 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(f"{function}() has no option {option!r}{meant}")


def rest(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Some of the options, where they are given."""
    return {name: given[name] for name in names if name in given}
