"""Labels for rows of scores: `label`, with details (`solve`), as random draws (`draw`), and for cells (`allot`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np

from ._frames import Array, Files
from ._run import run
from ._tables import LABELING, RULE, RUNNING, TABLE, Encoding, refuse_unknown, rest, table

Rule = Literal["argmax", "threshold", "thompson", "top-k", "match", "balance", "learned"]
Penalty = Literal["l1", "l2", "l2-squared", "kl"]
Learner = Literal["svm", "logistic", "forest"]
Bounds = Mapping[str, int | float | str]
Column = str | Sequence[Any] | np.ndarray | Any
ClassMap = Mapping[str, str] | Sequence[str] | str


@dataclass(frozen=True)
class Solution:
    """Labels with their counts, targets, accuracy and certificate.

    >>> import apportion
    >>> solution = apportion.solve([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> solution.labels, solution.targets
    (array([1, 0, 0, 0]), {'0': 3, '1': 1})
    """

    #: The labels, in the same type as the scores.
    labels: Any
    #: The classes, in order.
    classes: list[str]
    #: The number of rows with each class.
    counts: dict[str, int]
    #: The target of each class; None if the rule has no targets.
    targets: dict[str, int] | None
    #: The mean score of the labels: the accuracy to expect if the scores are calibrated.
    expected_accuracy: float | None
    #: The share of labels that equal the truth, if the truth is given.
    accuracy: float | None
    #: The primal and dual objective, in multiples of 2^-40, and the gap between them. A gap of 0 proves that no other labels
    #: with these counts have a larger sum of scores.
    certificate: dict[str, Any] | None
    #: The complete result as a dict: the JSON of the command `label`, whose keys docs/json.md describes.
    details: dict[str, Any] = field(repr=False)


def label(
    scores: Any,
    rule: Rule = "match",
    by: Column | None = None,
    reference: Any = "posterior",
    *,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    training_shares: Any = None,
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
    truth_map: ClassMap | None = None,
    truth_ethnicity: Column | None = None,
    truth_exclude: Sequence[str] | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    encoding: Encoding | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
    **unknown: NoReturn,
) -> Any:
    """Labels every row. By default, the label counts are the counts that the scores sum to.

    >>> import numpy as np, apportion
    >>> scores = np.array([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> scores.argmax(axis=1)            # the most likely class of each row loses the second class
    array([0, 0, 0, 0])
    >>> apportion.label(scores)          # of four rows, one is expected to be of the second class
    array([1, 0, 0, 0])

    Args:
        scores: one column of probabilities per class. An array or list of lists; a pandas or polars data frame, a pyarrow
            table, a DuckDB relation, or any object with the Arrow PyCapsule interface, whose score columns are detected by
            name (see `columns`); or the path of a file or directory, a glob, or a list of paths, together with `output`.
        rule: "match" matches the counts of the reference with the highest possible expected accuracy. "balance" trades
            accuracy against the reference. "argmax" takes the most likely class. "threshold" does so only if its score is
            high enough. "thompson" draws a class at random by its score. "top-k" draws among the k most likely classes.
            "learned" is the paper's heuristic.
        by: groups within which the counts are matched: a column name, several names, or one value per row.
        reference: the class shares to match: "posterior" (the mean of the scores), "truth", "uniform", a dict of shares, or a
            file or frame with the columns class and share (and group). "em" estimates them from the scores and
            `training_shares`, "pacc" from rows with known `truth`.
        output: output file, required if the scores are in files. The extension determines the format.
        overwrite: whether to replace an existing output.
        training_shares: the class shares of the population that the scores describe, for the reference "em": a dict, a
            Series, a frame, or a file.
        gamma: balance, learned: weight of accuracy relative to fidelity, from 0 (match) to 1 (argmax).
        penalty: balance, learned: measure of the distance from the reference.
        at: threshold: minimum score of a label; or {"black": 0.5, None: 0.8} for one class and all others.
        k: top-k: number of most likely classes to draw among.
        coverage: match, balance: label only this share of the rows.
        at_least, at_most: match, balance: bounds on the count of a class, {"black": 2000}, or on its share, {"black": 0.2}.
        tolerance: balance: maximum difference of every share from the reference (0.01 is one point).
        nested: match: columns of nested groups, the largest first.
        from_sample: match, balance: solve for a random sample of this many rows, and label all rows with its prices.
        learner, train_rows: learned: the model, and the number of rows to train it on.
        classes: names of the classes of an array, or new names for those of a frame.
        columns: score columns of a frame. Default: detected by name.
        id: column or values that identify a row, so that ties and draws do not depend on the order of the rows.
        truth: the true class. Required if the reference is "truth" or "pacc".
        truth_map: how truth values map to classes: {"W": "white"}, or a built-in map: "nc" (North Carolina's race_code, with
            ethnic_code), "l2" or "targetsmart". ["nc", "M=aian"] changes a value of a built-in map.
        truth_ethnicity: the ethnicity for truth_map="nc". Default: the column ethnic_code.
        truth_exclude, only_with_truth: truth values to treat as missing, and whether to leave out rows without truth.
        skip_missing: whether to leave out rows with a missing score instead of refusing them.
        normalize: whether to divide each row by its sum.
        encoding, delimiter: the encoding and separator of text files. Default: detected.
        sheet: the sheet of Excel workbooks. Default: the first.
        seed: seed for ties and draws, which also depend on the row IDs.
        threads, memory: number of threads and memory limit. Labels do not depend on them.
        progress: whether to show a progress bar (needs tqdm). Default: in a notebook or terminal.

    Returns:
        The labels, in the order of the rows and in the type of the input. For an array, an array of column indices, or of
        names if `classes` is given. For pandas, a categorical Series with the same index. For polars, an Enum Series. For
        pyarrow, a DictionaryArray. For a path, the path of `output`. Unlabeled rows are −1, None, NaN or null.

    Raises:
        ValueError: if the scores are not probabilities or options cannot be combined. The message names the row and column.
        TypeError: if an argument has an unsupported type.
    """
    given = dict(locals())
    refuse_unknown("label", given.pop("unknown"), LABELING | {"output", "overwrite"})
    return _solved(given).labels


def solve(
    scores: Any, rule: Rule = "match", by: Column | None = None, reference: Any = "posterior", **options: Any
) -> Solution:
    """Labels every row as `label` does, and also returns counts, targets, expected accuracy and the certificate.

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
    """Draws a class for every row at random by its scores, several times, for multiple imputation.

    >>> import apportion
    >>> apportion.draw([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], draws=4, seed=1).shape
    (3, 4)

    Args:
        scores: scores in memory, as for `label`.
        draws: number of draws.
        rule: "thompson" draws among all classes, "top-k" among the k most likely ones.
        k: top-k: number of classes.
        options: options of `label` for reading the table.

    Returns:
        One column per draw, in a frame of the same type as the input, or an array.
    """
    refuse_unknown("draw", options, TABLE)
    source, values = table({"scores": scores, **options})
    _refuse_files(source, "draw")
    if not isinstance(draws, (int, np.integer)) or draws < 1:
        raise ValueError(f"draws: it must be a whole number of at least 1, not {draws!r}")
    values |= {"rule": rule, "k": k, "draws": int(draws)}
    done = run("label", source, values, **rest(options, ("threads", "progress")))
    codes = [column.to_numpy() for column in done.columns().combine_chunks().columns]
    named = {f"label_{place + 1}": column for place, column in enumerate(codes)}
    return source.frame({name: source.give(column, done.classes, name) for name, column in named.items()})


def allot(
    scores: Any,
    count: Column,
    rule: Rule = "match",
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Any,
) -> Any:
    """Returns how many people of each row have each class, for rows that represent several people (cells).

    >>> import apportion
    >>> apportion.allot([[0.75, 0.25], [0.5, 0.5]], count=[4, 2])
    array([[4, 0, 0],
           [0, 2, 0]], dtype=uint64)

    Args:
        scores: scores in memory, as for `label`.
        count: the number of people that each row represents: a column name, or one number per row.
        rule, by, reference, options: as for `label`.

    Returns:
        One column per class and a last column for unlabeled people: an array, or a frame of the same type as the input with
        the columns n_CLASS and n_uncoded.
    """
    refuse_unknown("allot", options, LABELING)
    given = {"scores": scores, "count": count, "rule": rule, "by": by, "reference": reference, **options}
    source, values = table(given)
    _refuse_files(source, "allot")
    done = run("label", source, values | rest(given, RULE), **rest(given, RUNNING))
    names = [f"n_{name}" for name in [*done.classes, "uncoded"]]
    columns = [column.to_numpy(zero_copy_only=False) for column in done.columns().combine_chunks().columns]
    return source.frame(dict(zip(names, columns, strict=True)))


def _solved(given: dict[str, Any]) -> Solution:
    source, values = table(given)
    values |= rest(given, RULE)
    output = given.get("output")
    if isinstance(source, Files):
        if output is None:
            raise ValueError("output: scores in files require an output file; use output='labeled.parquet'")
        values |= {"output": os.fspath(output), "force": bool(given.get("overwrite"))}
    elif output is not None:
        raise ValueError("output: it is only for scores in files; labels of scores in memory are returned")
    if given.get("codes") and isinstance(source, Array):
        source.classes = None  # labels are column indices, even if the classes have names
    done = run("label", source, values, **rest(given, RUNNING))
    details = done.result
    if isinstance(source, Files):
        labels: Any = Path(os.fspath(output or ""))
    else:
        labels = source.give(done.columns().column(0).chunk(0).to_numpy(), done.classes, "label")
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


def _refuse_files(source: Any, name: str) -> None:
    if isinstance(source, Files):
        raise TypeError(f"{name}: it supports only scores in memory; read the file first, for example with pandas or pyarrow")
