"""Labels for rows of scores: `label`, and the same with more to say (`solve`), with draws (`draw`), for cells (`allot`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np

from ._frames import Array, Files
from ._run import run
from ._tables import LABELING, RULE, RUNNING, TABLE, refuse_unknown, rest, table

Rule = Literal["argmax", "threshold", "thompson", "top-k", "match", "balance", "learned"]
Penalty = Literal["l1", "l2", "l2-squared", "kl"]
Learner = Literal["svm", "logistic", "forest"]
Bounds = Mapping[str, int | float | str]
Column = str | Sequence[Any] | np.ndarray | Any


@dataclass(frozen=True)
class Solution:
    """Labels, and what is known of them.

    >>> import apportion
    >>> solution = apportion.solve([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> solution.labels, solution.targets
    (array([1, 0, 0, 0]), {'0': 3, '1': 1})
    """

    #: The labels, of the kind that the scores were.
    labels: Any
    #: The classes, in their order.
    classes: list[str]
    #: How many rows have each class.
    counts: dict[str, int]
    #: How many each class was to have; none where the rule aims at no counts.
    targets: dict[str, int] | None
    #: The mean score of the labels: how many are right, if the scores are.
    expected_accuracy: float | None
    #: The part of the labels that are right, where the truth is known.
    accuracy: float | None
    #: Both sides of the duality, in multiples of 2^-40, and the gap between them: 0 is a proof that no labels with these counts
    #: have a larger sum of scores.
    certificate: dict[str, Any] | None
    #: All that `apportion label --json` says.
    details: dict[str, Any] = field(repr=False)


def label(
    scores: Any,
    rule: Rule = "match",
    by: Column | None = None,
    reference: Any = "posterior",
    *,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    gamma: float | None = None,
    penalty: Penalty | None = None,
    at: float | Mapping[str | None, float] | None = None,
    k: int | None = None,
    coverage: float | None = None,
    at_least: Bounds | None = None,
    at_most: Bounds | None = None,
    tolerance: float | None = None,
    nested: Column | None = None,
    from_sample: int | None = None,
    learner: Learner | None = None,
    train_rows: int | None = None,
    classes: Sequence[Any] | None = None,
    columns: Sequence[str] | None = None,
    id: Column | None = None,
    truth: Column | None = None,
    truth_map: Mapping[str, str] | None = None,
    truth_exclude: Sequence[str] | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
    **unknown: NoReturn,
) -> Any:
    """Labels every row, with the counts kept right.

    >>> import numpy as np, apportion
    >>> scores = np.array([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> scores.argmax(axis=1)            # the likeliest class of each row loses the second class
    array([0, 0, 0, 0])
    >>> apportion.label(scores)          # of four rows, one is expected to be of the second class
    array([1, 0, 0, 0])

    Args:
        scores: a column of probabilities for each class. An array or list of lists; a frame of pandas or polars, a table of
            pyarrow, a relation of DuckDB, or anything with the Arrow PyCapsule interface, whose score columns are found by
            their names (see `columns`); or the path of a file, a folder, a glob or a list of paths, of any size, with
            `output`.
        rule: "match" keeps the counts as the reference says, at the least cost in accuracy; "balance" weighs accuracy against
            that; "argmax" takes the likeliest class, "threshold" that where it is likely enough, "thompson" draws a class by
            its score, "top-k" among the likeliest, and "learned" is the paper's heuristic.
        by: counts are kept within each group: the name of a column, several names, or a value for each row.
        reference: what the counts are to match: "posterior" (the sums of the scores), "truth", "uniform", a dict of shares, or
            a file or frame with the columns class and share (and group).
        output: where labels go, if the scores are in files. Its ending says the format.
        overwrite: replaces the output where it exists.
        gamma: balance, learned: the weight of accuracy against fidelity, from 0 (match) to 1 (argmax).
        penalty: balance, learned: how the distance from the reference is measured.
        at: threshold: the least score of a label; or {"black": 0.5, None: 0.8} for one class and for all others.
        k: top-k: how many of the likeliest classes are drawn among.
        coverage: match, balance: label only this share of the rows.
        at_least, at_most: match, balance: bounds on the count of a class: {"black": 2000}, or as a share {"black": 0.2}.
        tolerance: balance: keeps every share within this distance of the reference (0.01 is one point).
        nested: match: columns of units inside units, the largest first.
        from_sample: match, balance: solve for so many rows, and label all by the prices of these.
        learner, train_rows: learned: the model, and the number of rows that it is trained on.
        classes: the names of an array's classes, or other names for those of a frame's.
        columns: the score columns of a frame; found by their names where they are not given.
        id: what identifies a row: ties and draws then do not depend on the order of the rows.
        truth: the true class, where the reference is "truth".
        truth_map, truth_exclude, only_with_truth: values of the truth that stand for a class, or for none; and whether rows
            without truth are left out.
        skip_missing: leaves out rows that have no score at all, instead of refusing them.
        normalize: divides each row by its sum.
        seed: settles ties and draws, together with the rows' identifiers.
        threads, memory: how much of the machine to use. Labels do not depend on it.
        progress: whether a bar is shown (needs tqdm); where there is a notebook or a terminal, if nothing is said.

    Returns:
        Labels of the kind that went in, in the order of the rows: of an array an array of column numbers, or of names where
        `classes` are given; of a frame of pandas a categorical Series with its index; of polars a Series of an Enum; of
        pyarrow a DictionaryArray; of a path the path of `output`. Rows that are left without a label have −1, None, NaN or
        null.

    Raises:
        ValueError: the scores are no probabilities, or options do not go together; the message says which row and column.
        TypeError: what was given is of no use as what it was given for.
    """
    given = dict(locals())
    refuse_unknown("label", given.pop("unknown"), LABELING | {"output", "overwrite"})
    return _solved(given).labels


def solve(
    scores: Any, rule: Rule = "match", by: Column | None = None, reference: Any = "posterior", **options: Any
) -> Solution:
    """Labels every row, as `label` does with the same options, and says what is known of the labels.

    >>> import apportion
    >>> solution = apportion.solve([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]], classes=["white", "black"])
    >>> solution.counts
    {'white': 3, 'black': 1}
    >>> solution.certificate["gap"]      # a proof: no labels with these counts have a larger sum of scores
    0.0
    >>> round(solution.expected_accuracy, 3)
    0.7
    """
    given = {"scores": scores, "rule": rule, "by": by, "reference": reference, **options}
    refuse_unknown("solve", options, LABELING | {"output", "overwrite"})
    return _solved(given)


def draw(
    scores: Any, draws: int, rule: Literal["thompson", "top-k"] = "thompson", *, k: int | None = None, **options: Any
) -> Any:
    """Draws a class for every row by its scores, again and again: for multiple imputation.

    >>> import apportion
    >>> apportion.draw([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], draws=4, seed=1).shape
    (3, 4)

    Args:
        scores: as `label` takes them, in memory.
        draws: how many.
        rule: "thompson" draws among all classes, "top-k" among the k likeliest.
        k: top-k: how many.
        options: those of `label` that say how the table is read.

    Returns:
        A column a draw, in a frame of the kind that went in, or an array.
    """
    refuse_unknown("draw", options, TABLE)
    lent, values = table({"scores": scores, **options})
    _refuse_files(lent, "draw", "label --draws")
    if not isinstance(draws, (int, np.integer)) or draws < 1:
        raise ValueError(f"draws: it must be a whole number, at least 1, and not {draws!r}")
    values |= {"rule": rule, "k": k, "draws": int(draws)}
    done = run("label", lent, values, **rest(options, ("threads", "progress")))
    codes = [column.to_numpy() for column in done.columns().combine_chunks().columns]
    named = {f"label_{place + 1}": column for place, column in enumerate(codes)}
    return lent.frame({name: lent.give(column, done.classes, name) for name, column in named.items()})


def allot(
    scores: Any,
    count: Column,
    rule: Rule = "match",
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Any,
) -> Any:
    """Says how many people of each row have each class, where a row stands for several people.

    >>> import apportion
    >>> apportion.allot([[0.75, 0.25], [0.5, 0.5]], count=[4, 2])
    array([[4, 0, 0],
           [0, 2, 0]], dtype=uint64)

    Args:
        scores: as `label` takes them, in memory.
        count: how many people each row stands for: the name of a column, or a number for each row.
        rule, by, reference, options: as of `label`.

    Returns:
        A column for each class, and last one of people without a label: an array, or a frame of the kind that went in, with
        the columns n_CLASS and n_uncoded.
    """
    refuse_unknown("allot", options, LABELING)
    given = {"scores": scores, "count": count, "rule": rule, "by": by, "reference": reference, **options}
    lent, values = table(given)
    _refuse_files(lent, "allot", "label --count")
    done = run("label", lent, values | rest(given, RULE), **rest(given, RUNNING))
    names = [f"n_{name}" for name in [*done.classes, "uncoded"]]
    columns = [column.to_numpy(zero_copy_only=False) for column in done.columns().combine_chunks().columns]
    return lent.frame(dict(zip(names, columns, strict=True)))


def _solved(given: dict[str, Any]) -> Solution:
    lent, values = table(given)
    values |= rest(given, RULE)
    output = given.get("output")
    if isinstance(lent, Files):
        if output is None:
            raise ValueError("output: labels of files go into a file; name it with output='labeled.parquet'")
        values |= {"output": os.fspath(output), "force": bool(given.get("overwrite"))}
    elif output is not None:
        raise ValueError("output: labels of what is in memory come back; write them with what made the frame")
    if given.get("codes") and isinstance(lent, Array):
        lent.classes = None  # the labels are to be indices of columns, whatever these are called
    done = run("label", lent, values, **rest(given, RUNNING))
    details = done.result
    if isinstance(lent, Files):
        labels: Any = Path(os.fspath(output or ""))
    else:
        labels = lent.give(done.columns().column(0).chunk(0).to_numpy(), done.classes, "label")
    classes: list[str] = details["classes"]
    return Solution(
        labels=labels,
        classes=classes,
        counts=dict(zip(classes, details["counts"], strict=True)),
        targets=None if details["targets"] is None else dict(zip(classes, details["targets"], strict=True)),
        expected_accuracy=details["expected_accuracy"],
        accuracy=details["accuracy"],
        certificate=details["certificate"],
        details=details,
    )


def _refuse_files(lent: Any, name: str, command: str) -> None:
    if isinstance(lent, Files):
        raise TypeError(f"{name}: it is for scores in memory; for files there is `apportion {command}`")
