"""Labels for rows of scores: `label`, with details (`solve`), as random draws (`draw`), and for cells (`allot`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pyarrow as pa

from . import _native
from ._frames import Array, Files, Input
from ._options import (
    AllotOptions,
    Bounds,
    ClassMap,
    Column,
    Columns,
    DrawOptions,
    Encoding,
    FilePath,
    LabelOptions,
    Learner,
    Paths,
    Penalty,
    Rule,
    Thresholds,
    suggests,
)
from ._results import Result, Row, columns_of_text
from ._run import run
from ._tables import REPORT, RUNNING, outputs, rest, rule, table, written

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Certificate:
    """A proof of optimality: the objective of the labels, and an upper bound for all labels with the same counts.

    Both are whole numbers of units of 2^-40, summed over all groups. If they are equal, the labels are optimal, also within
    each group. `certificate["gap"]` is the same as `certificate.gap`.

    >>> import apportion
    >>> certificate = apportion.solve([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]]).certificate
    >>> certificate.proved, certificate.primal == certificate.dual, certificate["gap"]
    (True, True, 0.0)
    """

    #: The objective of the labels.
    primal: int
    #: The upper bound.
    dual: int
    #: The difference between both, in scores.
    gap: float

    @property
    def proved(self) -> bool:
        """Whether the labels are proved to be optimal."""
        return self.primal == self.dual

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> tuple[str, ...]:
        """Returns the names of the values."""
        return ("primal", "dual", "gap", "proved")


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Result):
    """Labels with their counts, targets, accuracy and certificate.

    >>> import apportion
    >>> solution = apportion.solve([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> solution.labels, solution.targets
    (array([1, 0, 0, 0]), {0: 3, 1: 1})
    >>> solution.to_arrow().to_pylist()[1]["labels"], solution[1]["target"]
    (1, 1)
    >>> print(solution)
    4 rows labeled by match; expected accuracy 0.7000
    class  labels  target  expected_precision  expected_recall  count_sd
        0       3       3              0.8000           0.8000    0.8367
        1       1       1              0.4000           0.4000    0.8367
    optimal (proved): no other labels with these counts have a larger sum of scores

    `to_arrow()` has a row per class:

    - class: the class.
    - labels: the number of people with this label.
    - target: the target of the class; null if the rule has no targets.
    - expected_precision: the mean score of the labels, which is the share of them that is expected to be correct.
    - expected_recall: the share of the people of the class that is expected to have its label.
    - count_sd: the standard deviation of the true count, given the scores.

    With groups, `by_group()` has a row per group and class.
    """

    #: The labels, in the same type as the scores.
    labels: Any
    #: The classes, in order. They are column indices for an array without `classes`, and numbers if their names are.
    classes: list[Any]
    #: The number of rows with each class.
    counts: dict[Any, int]
    #: The target of each class; None if the rule has no targets.
    targets: dict[Any, int] | None
    #: The mean score of the labels: the accuracy to expect if the scores are calibrated.
    expected_accuracy: float | None
    #: The share of labels that equal the truth, if the truth is given.
    accuracy: float | None
    #: The proof that no other labels with these counts have a larger sum of scores; None if the rule is not joint.
    certificate: Certificate | None
    #: The complete result as a dict: the JSON of the command `label`, whose keys docs/json.md describes.
    details: dict[str, Any] = field(repr=False)
    #: The labels of each group: its name, the count of each class and of unlabeled people, and its targets.
    groups: list[tuple[str, list[int], list[int] | None]] = field(default_factory=list, repr=False)

    _key = "class"

    @property
    def drift(self) -> dict[str, Any] | None:
        """For labels of `Decision.apply`: the excess of people in each class, the difference that chance and rounding
        explain, and whether a class is beyond it. None if the decision has no expected counts."""
        drift = self.details.get("drift")
        if drift is None:
            return None
        by_class = {name: dict(zip(self.classes, drift[name], strict=True)) for name in ("people", "explained")}
        return {**by_class, "beyond": drift["beyond"]}

    def by_group(self) -> pa.Table:
        """Returns the labels of each group as a pyarrow table: group, class, labels and target. Unlabeled people have the
        class null. The table is empty if there are no groups."""
        return pa.Table.from_pylist(self._group_rows())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Solution):
            return NotImplemented
        same = self.details == other.details and self.groups == other.groups
        return same and _are_equal(self.labels, other.labels)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self._text

    @property
    def _text(self) -> str:  # type: ignore[override]
        details = self.details
        accuracy = "" if self.expected_accuracy is None else f"; expected accuracy {self.expected_accuracy:.4f}"
        lines = [f"{details['rows']:,} rows labeled by {details['rule']}{accuracy}", columns_of_text(self._rows())]
        unlabeled = details["people"] - details["labeled"]
        if unlabeled:
            lines.append(f"unlabeled: {unlabeled:,}")
        if self.groups:
            lines.append(f"in {len(self.groups):,} groups; see by_group()")
        if self.certificate is not None:
            proof = "optimal (proved): no other labels with these counts have a larger sum of scores"
            lines.append(proof if self.certificate.proved else f"not proved optimal; the gap is {self.certificate.gap:.2e}")
        return "\n".join(lines)

    def _rows(self) -> list[Row]:
        targets = self.targets or {}
        numbers = ("expected_precision", "expected_recall", "count_sd")
        return [
            {
                "class": name,
                "labels": self.counts[name],
                "target": targets.get(name),
                **{number: self.details[number][place] for number in numbers},
            }
            for place, name in enumerate(self.classes)
        ]

    def _group_rows(self) -> list[Row]:
        rows: list[Row] = []
        for group, counts, targets in self.groups:
            for place, count in enumerate(counts):
                is_class = place < len(self.classes)
                if not is_class and count == 0:
                    continue
                name = self.classes[place] if is_class else None
                target = targets[place] if targets is not None and is_class else None
                rows.append({"group": group, "class": name, "labels": count, "target": target})
        return rows

    def _tables(self) -> list[tuple[str, Sequence[Row]]]:
        return [("", self._rows()), ("Groups", self._group_rows())]


def _are_equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one.equals(other)) if hasattr(one, "equals") else bool(one == other)


@overload
def label(
    scores: Paths,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[LabelOptions],
) -> Path: ...
@overload
def label(
    scores: np.ndarray,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[LabelOptions],
) -> np.ndarray: ...
@overload
def label(
    scores: pl.DataFrame | pl.LazyFrame,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[LabelOptions],
) -> pl.Series: ...
@overload
def label(
    scores: pd.DataFrame,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[LabelOptions],
) -> pd.Series: ...
@overload
def label(
    scores: pa.Table | pa.RecordBatch,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[LabelOptions],
) -> pa.DictionaryArray: ...
@overload
def label(
    scores: Any,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[LabelOptions],
) -> Any: ...
@suggests
def label(
    scores: Any,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    *,
    output: FilePath | None = None,
    overwrite: bool = False,
    name: str = "label",
    only_label: bool = False,
    safe_csv: bool = False,
    provenance: FilePath | None = None,
    no_provenance: bool = False,
    training_shares: Any = None,
    gamma: float | None = None,
    penalty: Penalty | None = None,
    at: Thresholds | None = None,
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
    columns: Columns | None = None,
    id: Column | None = None,
    truth: Column | None = None,
    truth_map: ClassMap | None = None,
    truth_ethnicity: Column | None = None,
    truth_exclude: Columns | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    report: FilePath | None = None,
    figures: FilePath | None = None,
    geometry: FilePath | None = None,
    geometry_key: Columns | None = None,
    focus: str | None = None,
    title: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
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
            "learned" is the paper's heuristic. Default: "match", or "balance" with `gamma`.
        by: groups within which the counts are matched: a column name, several names, or one value per row. A list of text is
            values if it has one entry per row, and names if it is shorter. If both are possible, it is refused: use a tuple
            for names, and an array or a Series for values. This holds for all columns.
        reference: the class shares to match: "posterior" (the mean of the scores), "truth", "uniform", a dict of shares or
            counts, a dict of these by group, a crosstab with one row per group and one column per class, or a file or frame
            with the columns class and share (and group). For an array, also a list in the order of its columns.
            "em" estimates them from the scores and `training_shares`, "pacc" from rows with known `truth`.
        output: output file, required if the scores are in files. The extension determines the format.
        overwrite: whether to replace existing outputs.
        name: the name of the label column or Series.
        only_label: files: write only `id` and the label.
        safe_csv: files: whether text that a spreadsheet would run as a formula is escaped in CSV.
        provenance, no_provenance: files: a JSON file for the provenance, which Parquet and Arrow outputs contain; and whether
            to leave it out.
        training_shares: the class shares of the population that the scores describe, for the reference "em": a dict, a
            Series, a frame, or a file.
        gamma: balance, learned: weight of accuracy relative to fidelity, from 0 (match) to 1 (argmax). Default: 0.9.
        penalty: balance, learned: measure of the distance from the reference. Default: "l1".
        at: threshold: minimum score of a label; or {"black": 0.5, None: 0.8} for one class and all others. Default: 0.8.
        k: top-k: number of most likely classes to draw among. Default: 2.
        coverage: match, balance: label only this share of the rows.
        at_least, at_most: match, balance: bounds on the count of a class, {"black": 2000}, or on its share, {"black": 0.2}: a
            whole number is a count, a number with a decimal point a share (1 is one person, 1.0 everyone). To meet them, rows are taken from the classes where this costs the least accuracy. A small class can lose all of its
            labels; a warning says so.
        tolerance: balance: maximum difference of every share from the reference (0.01 is one point).
        nested: match: columns of nested groups, the largest first.
        from_sample: match, balance: solve for a random sample of this many rows, and label all rows with its prices.
        learner: learned: the model. Default: "svm".
        train_rows: learned: the number of rows to train the model on. Default: 10000.
        classes: names of the classes of an array, or new names for those of a frame. If they are numbers, labels of arrays
            and pandas frames are numbers.
        columns: score columns of a frame. Default: detected by name; if no name is that of a score, all numeric columns, if
            their rows sum to 1.
        id: column or values that identify a row, so that ties and draws do not depend on the order of the rows.
        truth: the true class. Required if the reference is "truth" or "pacc". For an array without names of classes, whole
            numbers are column indices.
        truth_map: how truth values map to classes: {"W": "white"}, or a built-in map: "nc" (North Carolina's race_code, with
            ethnic_code), "l2" or "targetsmart". ["nc", "M=aian"] changes a value of a built-in map.
        truth_ethnicity: the ethnicity for truth_map="nc". Default: the column ethnic_code.
        truth_exclude: truth values to treat as missing.
        only_with_truth: whether to leave out rows without truth.
        skip_missing: whether to leave out rows with a missing score instead of refusing them.
        normalize: whether to divide each row by its sum.
        encoding: files: the encoding of text: "auto", "utf8" or "windows-1252".
        delimiter: files: the separator of text. Default: detected.
        sheet: files: the sheet of Excel workbooks. Default: the first.
        max_line: files: maximum length of a line of text. Default: "16M".
        batch_rows: files: rows to read at a time. Default: 65536.
        report: a report to write: a page (.html) or Markdown (.md).
        figures: a directory for the data and the specification of every chart.
        geometry, geometry_key: outlines of the groups for a map in the report, and their property with the group names.
        focus: report: the class to compare with all others combined. Default: the largest.
        title: report: its title.
        seed: seed for ties and draws, which also depend on the row IDs.
        threads: number of threads, at most four per processor. Default: all processors. Labels do not depend on it.
        memory: memory for the scores, such as "512M". Default: a quarter of the machine's. Labels do not depend on it.
        progress: whether to show a progress bar (needs tqdm). Default: in a notebook or terminal.

    Returns:
        The labels, in the order of the rows and in the type of the input. For an array, an array of column indices, or of
        names if `classes` is given. For pandas, a categorical Series with the same index. For polars, an Enum Series. For
        pyarrow, a DictionaryArray. For DuckDB, a relation of the same connection with the columns `id` and `name`. For a path,
        the path of `output`. Unlabeled rows are −1, None, NaN or null.

    Raises:
        ValueError: if the scores are not probabilities or options cannot be combined. The message names the row and column.
        TypeError: if an argument has an unsupported type, or an option is unknown.
        OSError: if a file is missing (FileNotFoundError), exists (FileExistsError), or cannot be used (PermissionError).
    """
    return _label(dict(locals()))


@suggests
def solve(
    scores: Any,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    *,
    output: FilePath | None = None,
    overwrite: bool = False,
    name: str = "label",
    only_label: bool = False,
    safe_csv: bool = False,
    provenance: FilePath | None = None,
    no_provenance: bool = False,
    training_shares: Any = None,
    gamma: float | None = None,
    penalty: Penalty | None = None,
    at: Thresholds | None = None,
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
    columns: Columns | None = None,
    id: Column | None = None,
    truth: Column | None = None,
    truth_map: ClassMap | None = None,
    truth_ethnicity: Column | None = None,
    truth_exclude: Columns | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    report: FilePath | None = None,
    figures: FilePath | None = None,
    geometry: FilePath | None = None,
    geometry_key: Columns | None = None,
    focus: str | None = None,
    title: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Solution:
    """Labels every row as `label` does, and also returns counts, targets, expected accuracy and the certificate.

    >>> import apportion
    >>> solution = apportion.solve([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]], classes=["white", "black"])
    >>> solution.counts
    {'white': 3, 'black': 1}
    >>> solution.certificate.proved      # no labels with these counts have a larger sum of scores
    True
    >>> round(solution.expected_accuracy, 3)
    0.7

    The options are those of `label`.

    Returns:
        A `Solution`. With `by` or `nested`, `by_group()` has the counts and targets of each group.
    """
    return _solved(dict(locals()))


@overload
def draw(
    scores: Paths,
    draws: int,
    rule: Literal["thompson", "top-k"] = "thompson",
    **options: Unpack[DrawOptions],
) -> Path: ...
@overload
def draw(
    scores: np.ndarray,
    draws: int,
    rule: Literal["thompson", "top-k"] = "thompson",
    **options: Unpack[DrawOptions],
) -> np.ndarray: ...
@overload
def draw(
    scores: pl.DataFrame | pl.LazyFrame,
    draws: int,
    rule: Literal["thompson", "top-k"] = "thompson",
    **options: Unpack[DrawOptions],
) -> pl.DataFrame: ...
@overload
def draw(
    scores: pd.DataFrame,
    draws: int,
    rule: Literal["thompson", "top-k"] = "thompson",
    **options: Unpack[DrawOptions],
) -> pd.DataFrame: ...
@overload
def draw(
    scores: pa.Table | pa.RecordBatch,
    draws: int,
    rule: Literal["thompson", "top-k"] = "thompson",
    **options: Unpack[DrawOptions],
) -> pa.Table: ...
@overload
def draw(
    scores: Any,
    draws: int,
    rule: Literal["thompson", "top-k"] = "thompson",
    **options: Unpack[DrawOptions],
) -> Any: ...
@suggests
def draw(
    scores: Any,
    draws: int,
    rule: Literal["thompson", "top-k"] = "thompson",
    *,
    k: int | None = None,
    output: FilePath | None = None,
    overwrite: bool = False,
    name: str = "label",
    only_label: bool = False,
    safe_csv: bool = False,
    provenance: FilePath | None = None,
    no_provenance: bool = False,
    classes: Sequence[Any] | None = None,
    columns: Columns | None = None,
    id: Column | None = None,
    truth: Column | None = None,
    truth_map: ClassMap | None = None,
    truth_ethnicity: Column | None = None,
    truth_exclude: Columns | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Any:
    """Draws a class for every row at random by its scores, several times, for multiple imputation.

    >>> import apportion
    >>> apportion.draw([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], draws=4, seed=1).shape
    (3, 4)

    Args:
        scores: as for `label`.
        draws: number of draws.
        rule: "thompson" draws among all classes, "top-k" among the k most likely ones.
        k: top-k: number of classes. Default: 2.

    The other options are those of `label`.

    Returns:
        One column per draw, label_1, label_2 and so on, in a frame of the same type as the input, or an array. If the scores
        are in files, the path of `output`.
    """
    given = dict(locals())
    if not isinstance(draws, (int, np.integer)) or isinstance(draws, bool) or draws < 1:
        raise ValueError(f"draws: it must be a whole number of at least 1, not {draws!r}")
    source, done = _run_label({**given, "draws": int(draws)})
    if isinstance(source, Files):
        return written(given)
    codes = [column.to_numpy() for column in done.columns().combine_chunks().columns]
    named = {f"{name}_{place + 1}": column for place, column in enumerate(codes)}
    return source.frame({own: source.give(column, done.classes, own) for own, column in named.items()})


@overload
def allot(
    scores: Paths,
    count: Column,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[AllotOptions],
) -> Path: ...
@overload
def allot(
    scores: np.ndarray,
    count: Column,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[AllotOptions],
) -> np.ndarray: ...
@overload
def allot(
    scores: pl.DataFrame | pl.LazyFrame,
    count: Column,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[AllotOptions],
) -> pl.DataFrame: ...
@overload
def allot(
    scores: pd.DataFrame,
    count: Column,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[AllotOptions],
) -> pd.DataFrame: ...
@overload
def allot(
    scores: pa.Table | pa.RecordBatch,
    count: Column,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[AllotOptions],
) -> pa.Table: ...
@overload
def allot(
    scores: Any,
    count: Column,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    **options: Unpack[AllotOptions],
) -> Any: ...
@suggests
def allot(
    scores: Any,
    count: Column,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    *,
    output: FilePath | None = None,
    overwrite: bool = False,
    only_label: bool = False,
    safe_csv: bool = False,
    provenance: FilePath | None = None,
    no_provenance: bool = False,
    training_shares: Any = None,
    gamma: float | None = None,
    penalty: Penalty | None = None,
    at: Thresholds | None = None,
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
    columns: Columns | None = None,
    id: Column | None = None,
    truth: Column | None = None,
    truth_map: ClassMap | None = None,
    truth_ethnicity: Column | None = None,
    truth_exclude: Columns | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Any:
    """Returns how many people of each row have each class, for rows that represent several people (cells).

    >>> import apportion
    >>> apportion.allot([[0.75, 0.25], [0.5, 0.5]], count=[4, 2])
    array([[4, 0, 0],
           [0, 2, 0]], dtype=uint64)

    Args:
        scores: as for `label`.
        count: the number of people that each row represents: a column name, or one number per row.

    The other options are those of `label`.

    Returns:
        One column per class and a last column for unlabeled people: an array, or a frame of the same type as the input with
        the columns n_CLASS and n_uncoded. If the scores are in files, the path of `output`, which has these columns.
    """
    given = dict(locals())
    source, done = _run_label(given)
    if isinstance(source, Files):
        return written(given)
    names = [f"n_{name}" for name in [*done.classes, "uncoded"]]
    columns_of_people = [column.to_numpy(zero_copy_only=False) for column in done.columns().combine_chunks().columns]
    return source.frame(dict(zip(names, columns_of_people, strict=True)))


def _run_label(given: dict[str, Any], *, groups: bool = False) -> tuple[Input, _native.Done]:
    """Runs the job `label`."""
    source, values = table(given)
    values |= rule(given) | rest(given, REPORT) | outputs(source, given)
    return source, run("label", source, values, groups=groups, **rest(given, RUNNING))


def _labels(source: Input, done: _native.Done, given: dict[str, Any]) -> Any:
    """Returns the labels in the type of the input, or the path of the output."""
    if isinstance(source, Files):
        return written(given)
    if given.get("codes") and isinstance(source, Array):
        source.classes = None  # labels are column indices, even if the classes have names
    return source.give(done.columns().column(0).chunk(0).to_numpy(), done.classes, given.get("name") or "label")


def _label(given: dict[str, Any]) -> Any:
    source, done = _run_label(given)
    return _labels(source, done, given)


def _solved(given: dict[str, Any]) -> Solution:
    source, done = _run_label(given, groups=True)
    return solution_of(_labels(source, done, given), done, source)


def solution_of(labels: Any, done: _native.Done, source: Input) -> Solution:
    """Returns the result of a job that labels rows."""
    details = done.result
    classes = source.name(details["classes"])
    certificate = details["certificate"]
    if certificate is not None:
        certificate = Certificate(int(certificate["primal"]), int(certificate["dual"]), certificate["gap"])
    return Solution(
        labels=labels,
        classes=classes,
        counts=dict(zip(classes, details["counts"], strict=True)),
        targets=None if details["targets"] is None else dict(zip(classes, details["targets"], strict=True)),
        expected_accuracy=details["expected_accuracy"],
        accuracy=details["accuracy"],
        certificate=certificate,
        details=details,
        groups=done.groups,
    )
