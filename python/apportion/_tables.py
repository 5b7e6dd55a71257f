"""What functions have in common: how a table of scores is given, and which of its columns hold what."""

from __future__ import annotations

from typing import Any

from ._frames import Lent, lend

#: Options that say how the table is read, and go to the command as they are.
READING = ("truth_map", "truth_exclude", "only_with_truth", "skip_missing", "normalize", "memory", "seed")
#: Options of rules.
RULE = (
    "rule", "gamma", "penalty", "at", "k", "coverage", "at_least", "at_most", "margin", "from_sample", "learner", "batch",
)  # fmt: skip
#: What `call` takes by itself.
CALLING = ("reference", "threads", "progress")


def table(given: dict[str, Any], label: Any = None) -> tuple[Lent, dict[str, Any]]:
    """The table, and the options that say what its columns hold. A column may be named, or given as values."""
    by, nested, columns = given.get("by"), given.get("nested"), given.get("columns")
    named = [given.get("id"), given.get("truth"), given.get("count"), by, nested, label, *given.get("named", [])]
    if isinstance(columns, str):
        columns = [columns]
    lent = lend(given["scores"], given.get("classes"), columns, named)
    options: dict[str, Any] = {name: given[name] for name in READING if name in given}
    options["columns"] = columns
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
        return [given]
    is_names = lent.matrix is None and isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(name, str) for name in given)
    if is_names and (lent.rows is None or len(given) != lent.rows or all(name in lent.columns for name in given)):
        return list(given)
    return [lent.column(what, given)]


def rest(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Some of the options, where they are given."""
    return {name: given[name] for name in names if name in given}
