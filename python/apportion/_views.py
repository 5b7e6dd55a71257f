"""Results that can be displayed in notebooks and plotted: audits, comparisons of rules, disparities and frontiers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import _native
from ._decision import Decision
from ._frames import Files, Input
from ._options import (
    ClassMap,
    Column,
    Columns,
    Encoding,
    FilePath,
    Inference,
    Pooling,
    Regression,
    SmallCells,
    suggests,
)
from ._results import Result, Row
from ._run import run
from ._tables import REPORT, column, columns as columns_of, rest, table

if TYPE_CHECKING:
    import plotly.graph_objects


class View(Result):
    """A result with charts."""

    #: The default chart.
    _first = ""

    def __init__(self, done: _native.Done) -> None:
        self._text = done.text
        self._document = done.document()
        self._content: Any = done.result

    @property
    def charts(self) -> list[str]:
        """The names of the charts that `plot` can draw."""
        return [name for name, _, _ in self._charts()]

    def plot(self, chart: str | None = None) -> plotly.graph_objects.Figure:
        """Returns a chart of the report as a Plotly Figure. Default: the most informative one.

        Needs plotly: `pip install 'apportion[plot]'`. Notebooks that are exported to HTML show the chart if Plotly's script can
        be loaded; `report` writes a page that needs no network.
        """
        try:
            from ._charts import figure
        except ImportError:
            raise ImportError("plot() needs plotly: pip install 'apportion[plot]'") from None
        wanted = chart or (self._first if self._first in self.charts else self.charts[0])
        for name, title, specification in self._charts():
            if name == wanted:
                return figure(specification, title)
        raise ValueError(f"there is no chart {wanted!r}; the charts are {', '.join(self.charts)}")

    def report(self, path: FilePath, *, overwrite: bool = False) -> Path:
        """Writes the complete report as a page (.html) or as Markdown (.md).

        Raises FileExistsError if the file exists, unless `overwrite` is true.
        """
        path = Path(path)
        if self._document is None or path.suffix.lower() not in (".html", ".htm", ".md"):
            raise ValueError(f"{path}: unknown report format; use .html for a page or .md for Markdown")
        self._document.write(path, overwrite)
        return path

    def figures(self, folder: FilePath, *, overwrite: bool = False) -> Path:
        """Writes the data (.csv) and the Plotly specification (.json) of every chart to a folder.

        Raises FileExistsError if the folder contains files, unless `overwrite` is true.
        """
        folder = Path(folder)
        if self._document is not None:
            self._document.write_figures(folder, overwrite)
        return folder

    def _charts(self) -> list[tuple[str, str, str]]:
        return [] if self._document is None else self._document.charts()


class Audit(View):
    """The audit of labels: counts and bias of each class, and of each group with `by`.

    `print(audit)` shows the audit as text. `to_arrow()` has a row per class, `by_group()` a row per group and class, and
    `details` is the complete result as a dict.

    >>> import apportion
    >>> voters = apportion.simulate_voters(1000, seed=1)
    >>> audit = apportion.audit(voters, apportion.label(voters, "argmax"), by="county")
    >>> audit.to_arrow().column_names[:7]
    ['class', 'labels', 'scores_sum', 'truth', 'share', 'share_by_scores', 'share_in_truth']
    >>> audit.argmax_agreement, audit.unlabeled
    (1.0, None)
    >>> audit.by_group().num_rows == 6 * len(audit.details["groups"])
    True

    Columns of `to_arrow()` and `by_group()`. Shares, biases and rates are fractions: 0.01 is one percent, or one percentage
    point. Columns about the truth are null if it is unknown.

    - group: the name of the group (`by_group()` only).
    - class: the class.
    - labels: the number of people with this label.
    - scores_sum: the sum of the scores, which is the expected number of people.
    - truth: the number of people of this true class.
    - share, share_by_scores, share_in_truth: the share of labeled people, the mean score, and the share of people with
      known truth.
    - bias: share minus share_by_scores. Positive if the labels overcount the class.
    - error_vs_truth: the number of labels minus the true number, among people with known truth.
    - bias_to_truth: share of the labels minus share of the truth, among people with known truth.
    - miscalibration, discretization: the parts of the bias against the truth that are due to the scores and to the labels,
      as fractions of the true share.
    - expected_precision: the mean score of the labels, which is the share of them that is expected to be correct.
    - precision, recall: the share of the labels that is correct, and the share of the true members with the label.
    - calibration_error, kuiper: the expected calibration error of the scores, and the Kuiper statistic.
    - correlation: the correlation of the scores with the truth (1 for people of the class, 0 for others).
    """

    _first = "counts-percent"
    _key = "class"

    def __init__(self, done: _native.Done, source: Input) -> None:
        super().__init__(done)
        self._classes: list[Any] = source.name(self._content["classes"])

    @property
    def details(self) -> dict[str, Any]:
        """The complete result as a dict: the JSON of the command `audit`, whose keys docs/json.md describes."""
        content: dict[str, Any] = self._content
        return content

    @property
    def bias(self) -> dict[Any, float]:
        """The bias against the scores: the share of each class among the labels minus its mean score.

        0.01 is one percentage point too many. See `bias_to_truth` for the bias against the truth.
        """
        return self._bias("posterior")

    @property
    def bias_to_truth(self) -> dict[Any, float] | None:
        """The share of each class among the labels minus its share in the truth; None if no truth is known."""
        return self._bias("truth") if self._content["with_truth"] else None

    def _bias(self, reference: str) -> dict[Any, float]:
        return dict(zip(self._classes, self._content["bias"][reference], strict=True))

    @property
    def argmax_agreement(self) -> float | None:
        """The share of labels that are the argmax class."""
        agreement: float | None = self._content["argmax_agreement"]
        return agreement

    @property
    def tied(self) -> int:
        """The number of people whose largest score is shared by several classes."""
        tied: int = self._content["tied"]
        return tied

    @property
    def unlabeled(self) -> dict[str, Any] | None:
        """Unlabeled people: their number, mean scores, and the quartiles of their largest score."""
        unlabeled: dict[str, Any] | None = self._content["uncoded_rows"]
        return unlabeled

    @property
    def intervals(self) -> dict[str, Any] | None:
        """95% intervals: of the accuracy if the truth is known, and of all numbers with `bootstrap`."""
        intervals: dict[str, Any] | None = self._content.get("intervals")
        accuracy = self._content["accuracy_interval"]
        if intervals is None and accuracy is not None:
            return {"accuracy": accuracy}
        return intervals

    def calibration(self) -> pa.Table:
        """Returns the calibration of the scores by class and bin. The table is empty if no truth is known."""
        rows = [
            {"class": name, **_bin_row(score_bin)}
            for name, own in zip(self._classes, self._content["calibration"], strict=True)
            if own is not None
            for score_bin in own["equal_width"]["bins"]
        ]
        return pa.Table.from_pylist(rows)

    def by_group(self) -> pa.Table:
        """Returns the columns of `to_arrow` for every group and class. The table is empty if there are no groups."""
        return pa.Table.from_pylist(self._group_rows())

    def _group_rows(self) -> list[Row]:
        groups = [{**group, "classes": self._classes} for group in self._content["groups"]]
        places = range(len(self._classes))
        return [{"group": group["group"], **_class_row(group, place)} for group in groups for place in places]

    def _tables(self) -> list[tuple[str, Sequence[Row]]]:
        return [("", self._rows()), ("Groups", self._group_rows())]

    def _rows(self) -> list[Row]:
        content = {**self._content, "classes": self._classes}
        return [_class_row(content, place) for place in range(len(self._classes))]


def _bin_row(own: Mapping[str, Any]) -> dict[str, Any]:
    interval = own["interval"] or {}
    return {
        "from": own["from"],
        "to": own["to"],
        "people": own["people"],
        "mean_score": own["mean_score"],
        "observed": own["observed"],
        "low": interval.get("low"),
        "high": interval.get("high"),
    }


def _class_row(content: Mapping[str, Any], place: int) -> dict[str, Any]:
    split, rates = content["split"][place] or {}, content["rates"][place] or {}
    share, bias = content["shares"][place], content["bias"]["posterior"][place]
    truth_count = content["truth_counts"][place]
    return {
        "class": content["classes"][place],
        "labels": content["counts"][place],
        "scores_sum": content["posterior_sums"][place],
        "truth": truth_count,
        "share": share,
        "share_by_scores": None if share is None or bias is None else share - bias,
        "share_in_truth": _divided(truth_count, content["with_truth"]),
        "bias": bias,
        "error_vs_truth": content["bias_people"]["truth"][place],
        "bias_to_truth": content["bias"]["truth"][place],
        "miscalibration": _divided(split.get("miscalibration"), 100),
        "discretization": _divided(split.get("discretization"), 100),
        "expected_precision": content["expected_precision"][place],
        "precision": rates.get("precision"),
        "recall": rates.get("recall"),
        "calibration_error": content["calibration_error"][place],
        "kuiper": content["kuiper"][place],
        "correlation": content["correlation"][place],
    }


def _divided(number: float | None, by: float) -> float | None:
    return None if number is None or by == 0 else number / by


class Comparison(View):
    """A comparison of rules: the accuracy, fidelity and counts of each.

    `to_arrow()` has a row per rule. Accuracies are fractions:

    - rule: the rule.
    - accuracy: the share of labels that equal the truth; null if it is unknown.
    - expected_accuracy: the mean score of the labels.
    - fidelity, fidelity_to_truth: minus the sum over the classes of the absolute difference between the share of the labels
      and the mean score, or the true share. 0 is best.
    - labeled: the number of labeled people.
    - n_CLASS: the number of people with each label.

    >>> import apportion
    >>> comparison = apportion.compare(apportion.simulate_voters(1000, seed=1), truth="race")
    >>> [row["rule"] for row in comparison.to_arrow().to_pylist()][:3]
    ['threshold 0.8', 'balance γ 0.9', 'argmax']
    >>> comparison["argmax"]["n_black"] < comparison["match"]["n_black"], "trade" in comparison.charts
    (True, True)
    """

    _first = "trade"
    _key = "rule"

    @property
    def details(self) -> list[dict[str, Any]]:
        """The complete result: the JSON of the command `compare`, whose keys docs/json.md describes."""
        content: list[dict[str, Any]] = self._content
        return content

    def _rows(self) -> list[Row]:
        return [_rule_row(outcome) for outcome in self._content]


def _rule_row(outcome: Mapping[str, Any]) -> dict[str, Any]:
    counts = zip(outcome["classes"], outcome["counts"], strict=True)
    return {
        "rule": outcome["rule"],
        "accuracy": outcome["accuracy"],
        "expected_accuracy": outcome["expected_accuracy"],
        "fidelity": outcome["fidelity"]["posterior"],
        "fidelity_to_truth": outcome["fidelity"]["truth"],
        "labeled": outcome["labeled"],
        **{f"n_{name}": count for name, count in counts},
    }


class Frontier(View):
    """Every optimal tradeoff between accuracy and fidelity, from argmax to match.

    `to_arrow()` has a row per point of the frontier:

    - from_gamma, to_gamma: the values of gamma for which `label` with rule="balance" returns this point.
    - accuracy: the expected accuracy of the labels, a fraction.
    - fidelity: minus the sum of the absolute differences between the shares of the labels and the reference. 0 is best.
    - n_CLASS: the number of people with each label.

    >>> import apportion
    >>> frontier = apportion.frontier(apportion.simulate_voters(1000, seed=1), points=20)
    >>> frontier[0]["accuracy"] > frontier[-1]["accuracy"], frontier[-1]["fidelity"]
    (True, 0.0)
    >>> len([point for point in frontier if point["fidelity"] > -0.1]) > 0
    True
    """

    _first = "frontier"
    _key = "from_gamma"

    @property
    def details(self) -> dict[str, Any]:
        """The complete result: the JSON of the command `frontier`, whose keys docs/json.md describes."""
        content: dict[str, Any] = self._content
        return content

    def _rows(self) -> list[Row]:
        classes = self._content["classes"]
        return [
            {
                "from_gamma": point["from_gamma"],
                "to_gamma": point["to_gamma"],
                "accuracy": point["accuracy"],
                "fidelity": point["fidelity"],
                **{f"n_{name}": count for name, count in zip(classes, point["counts"], strict=True)},
            }
            for point in self._content["points"]
        ]


class Disparity(View):
    """An outcome compared between classes, with every estimator.

    >>> import apportion
    >>> people = apportion.simulate_normal(500, seed=1)
    >>> disparity = apportion.disparity(people, [1, 0] * 250)
    >>> disparity.to_arrow().column_names[:8]
    ['estimator', 'method', 'value', 'class', 'estimate', 'error', 'low', 'high']

    `to_arrow()` has a row per estimator, value and class. Shares and their differences are fractions; the text shows them as
    percentages and percentage points:

    - estimator, method: the name of the estimator or of the labels, and its method.
    - value: the value of the outcome whose share is estimated; null for a mean.
    - class: the class.
    - estimate, error, low, high: the estimate, its standard error, and its 95% interval. For "bounds", low and high are the
      bounds of the sample, and for "bounds 95%" an interval that contains those of the population; the others are null.
    - effective_n: the effective sample size. If it is below 5, it and all estimates of the row are null, unless
      `small_cells` is "show".
    - against: the class to compare with.
    - gap, gap_error, gap_low, gap_high: the estimate minus that of `against`, its standard error, and its 95% interval.
    - hidden: whether the estimates are null because the effective sample size is below 5.
    - baseline, ratio, ratio_low, ratio_high: with `favorable`, the class that is divided by, the ratio of the rates, and its
      95% interval.
    """

    _first = "outcomes"
    _key = "estimator"

    def __getitem__(self, key: Any) -> Any:
        """Returns the rows of an estimator, or the row at an index, or the rows of a slice."""
        rows = self._rows()
        if isinstance(key, (int, slice)):
            return rows[key]
        found = [row for row in rows if row["estimator"] == key]
        if not found:
            known = ", ".join(dict.fromkeys(repr(row["estimator"]) for row in rows))
            raise KeyError(f"there is no estimator {key!r}; there are {known}")
        return found

    #: The scores updated by the outcome (BIRDiE), with `write_scores=True`: a frame of the same type as the input, with only
    #: the score columns; for an array, an array. None otherwise.
    updated_scores: Any = None

    @property
    def details(self) -> dict[str, Any]:
        """The complete result: the JSON of the command `disparity`, whose keys docs/json.md describes.

        `details["brackets"]` compares each class with everyone else, with the sensitivity of both estimates, and
        `details["error_rates"]` has the rates of true and false positives of `prediction`.
        """
        content: dict[str, Any] = self._content
        return content

    @property
    def regressions(self) -> pa.Table | None:
        """The regressions with `controls` as a pyarrow table; None without `controls`.

        A row per estimator and class, then per estimator and column of the controls:

        - estimator, method, people: the name of the estimator or of the labels, its method, and its number of people.
        - term: the class, or the column of the control.
        - category: the category of the control, compared with the most frequent one; null for classes and numbers.
        - against: the class to compare with; null for controls.
        - estimate, error, low, high, p_value: the difference among people with equal controls, in units of the outcome (for
          `regression="logistic"` the average marginal effect), its standard error, its 95% interval and its p-value. For
          controls, the coefficient.
        - odds_ratio: the odds ratio with `regression="logistic"`; null for controls.
        - hidden: whether the estimates are null because they are from fewer than 5 people.

        `details["regressions"]` also has the method in sentences that can be cited, and remarks.
        """
        content = self._content["regressions"]
        if content is None:
            return None
        rows = [row for own in content["estimators"] for row in _regression_rows(own)]
        return pa.Table.from_pylist(rows, schema=_REGRESSION_SCHEMA)

    def _rows(self) -> list[Row]:
        return [
            _estimate_row(estimator, value, own, self._content["against"])
            for estimator in self._content["estimators"]
            for value in estimator["values"]
            for own in value["classes"]
        ]


_REGRESSION_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("estimator", "method")),
        ("people", pa.int64()),
        *((name, pa.string()) for name in ("term", "category", "against")),
        *((name, pa.float64()) for name in ("estimate", "error", "low", "high", "p_value", "odds_ratio")),
        ("hidden", pa.bool_()),
    ]
)


def _regression_rows(estimator: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the rows of a regression: of classes, then of controls."""

    def row(term: str, effect: Mapping[str, Any] | None, **more: Any) -> dict[str, Any]:
        own = effect or {}
        interval = own.get("interval") or {}
        return {
            "estimator": estimator["name"],
            "method": estimator["method"],
            "people": estimator["people"],
            "term": term,
            "estimate": own.get("estimate"),
            "error": own.get("error"),
            "low": interval.get("low"),
            "high": interval.get("high"),
            "p_value": own.get("p_value"),
            **more,
        }

    classes = [
        row(
            own["class"],
            own["gap"],
            against=own["against"],
            odds_ratio=(own["odds_ratio"] or {}).get("ratio"),
            hidden=own["hidden"],
        )
        for own in estimator["classes"]
    ]
    controls = [
        row(own["column"], own["effect"], category=own["category"], hidden=own["hidden"]) for own in estimator["controls"]
    ]
    return classes + controls


def _estimate_row(
    estimator: Mapping[str, Any], value: Mapping[str, Any], own: Mapping[str, Any], against: str
) -> dict[str, Any]:
    interval, gap = own["interval"] or {}, own["gap"] or {}
    gap_interval, ratio = gap.get("interval") or {}, own["ratio"] or {}
    ratio_interval = ratio.get("interval") or {}
    return {
        "estimator": estimator["name"],
        "method": estimator["method"],
        "value": value["value"],
        "class": own["class"],
        "estimate": own["estimate"],
        "error": own["error"],
        "low": interval.get("low"),
        "high": interval.get("high"),
        "effective_n": own["effective_n"],
        "against": against,
        "gap": gap.get("difference"),
        "gap_error": gap.get("error"),
        "gap_low": gap_interval.get("low"),
        "gap_high": gap_interval.get("high"),
        "hidden": own["hidden"],
        "baseline": ratio.get("baseline"),
        "ratio": ratio.get("ratio"),
        "ratio_low": ratio_interval.get("low"),
        "ratio_high": ratio_interval.get("high"),
    }


@suggests
def audit(
    scores: Any,
    label: Column | None = None,
    *,
    truth: Column | None = None,
    by: Column | None = None,
    label_map: ClassMap | None = None,
    uncoded: Columns | None = None,
    decision: Decision | None = None,
    reference: Any = None,
    bootstrap: int | None = None,
    outcome: Column | None = None,
    outcome_value: str | None = None,
    weight: Column | None = None,
    inference: Inference = "population",
    cells: Columns | None = None,
    against: str | None = None,
    favorable: str | None = None,
    baseline: str | None = None,
    pooling: Pooling = "auto",
    covariates: Columns | None = None,
    no_bootstrap: bool = False,
    small_cells: SmallCells = "hide",
    count: Column | None = None,
    classes: Sequence[Any] | None = None,
    columns: Columns | None = None,
    id: Column | None = None,
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
    output: FilePath | None = None,
    overwrite: bool = False,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Audit:
    """Measures the bias of existing labels.

    >>> import numpy as np, apportion
    >>> scores = np.array([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> audit = apportion.audit(scores, scores.argmax(axis=1), classes=[0, 1])
    >>> {name: round(bias, 2) for name, bias in audit.bias.items()}
    {0: 0.25, 1: -0.25}

    Args:
        scores: as for `label`.
        label: the labels: a column name, or one label per row. Default: the column called "label".
        truth: the true class, if known.
        by: groups, as for `label`. The bias of each group is also computed.
        label_map: how label values map to classes: {"W": "white"}, or a built-in map, as truth_map of `label`.
        uncoded: the values of unlabeled rows, and how to treat these rows: "Uncoded=drop" or "Uncoded=argmax". Default:
            "Uncoded=keep".
        decision: the decision that gave the labels. Warns if their counts differ from the targets of the fit by more than
            chance explains.
        reference: known class shares to compare the labels with: "uniform", a dict of shares, or a table, as for `label`.
        bootstrap: number of bootstrap replicates for 95% intervals of shares, bias, accuracy and fidelity, such as 200.
        focus: the class to compare with all other classes combined. Default: the largest.
        geometry, geometry_key: outlines of the groups for a map in the report, and their property with the group names.
        outcome: an outcome to compare between classes in the report. Its options are those of `disparity`: outcome_value,
            weight, inference, cells, against, favorable, baseline, pooling, covariates, no_bootstrap and small_cells.
        count: the number of people that each row represents: a column name, or one number per row.
        report, figures: a report and a directory of its charts, which the methods of the result also write.
        output, overwrite: a file for the results, .csv or .json, and whether to replace outputs that exist.

    The other options are those of `label`.
    """
    given = dict(locals())
    source, values = _read(given, ["label"] if label is None else [])
    values |= {"label_map": label_map, "uncoded": uncoded, "bootstrap": bootstrap} | _outcome(source, given)
    if decision is not None and not isinstance(decision, Decision):
        raise TypeError("decision: it must be a Decision, as returned by apportion.fit or Decision.load")
    text = None if decision is None else decision.to_json()
    done = run("audit", source, values, decision=text, reference=reference, threads=threads, progress=progress)
    return Audit(done, source)


@suggests
def compare(
    scores: Any,
    *,
    truth: Column | None = None,
    by: Column | None = None,
    label: Column | None = None,
    label_map: ClassMap | None = None,
    uncoded: Columns | None = None,
    batch: int | None = None,
    outcome: Column | None = None,
    outcome_value: str | None = None,
    weight: Column | None = None,
    inference: Inference = "population",
    cells: Columns | None = None,
    against: str | None = None,
    favorable: str | None = None,
    baseline: str | None = None,
    pooling: Pooling = "auto",
    covariates: Columns | None = None,
    no_bootstrap: bool = False,
    small_cells: SmallCells = "hide",
    count: Column | None = None,
    classes: Sequence[Any] | None = None,
    columns: Columns | None = None,
    id: Column | None = None,
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
    output: FilePath | None = None,
    overwrite: bool = False,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compares rules: argmax, threshold, match, balance, Thompson sampling and others, and optionally existing labels.

    >>> import apportion
    >>> comparison = apportion.compare([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> rules = {row["rule"]: row for row in comparison.to_arrow().to_pylist()}
    >>> rules["argmax"]["n_1"], rules["match"]["n_1"]
    (0, 1)

    Args:
        scores: as for `label`.
        truth, by: as for `audit`.
        label, label_map: existing labels to compare with the rules, and how their values map to classes.
        uncoded: the values of unlabeled rows. Default: "Uncoded=keep".
        batch: also solve match and balance in random batches of this size, to show the loss.
        outcome, count, report, figures, output, overwrite: as for `audit`.

    The other options are those of `label`, and those of an outcome as for `disparity`.
    """
    given = dict(locals())
    source, values = _read(given)
    values |= {"label_map": label_map, "uncoded": uncoded, "batch": batch} | _outcome(source, given)
    return Comparison(run("compare", source, values, threads=threads, progress=progress))


@suggests
def disparity(
    scores: Any,
    outcome: Column,
    *,
    outcome_value: str | None = None,
    weight: Column | None = None,
    inference: Inference = "population",
    cells: Columns | None = None,
    against: str | None = None,
    prediction: Column | None = None,
    favorable: str | None = None,
    baseline: str | None = None,
    pooling: Pooling = "auto",
    covariates: Columns | None = None,
    no_bootstrap: bool = False,
    small_cells: SmallCells = "hide",
    truth: Column | None = None,
    by: Column | None = None,
    label: Column | None = None,
    label_map: ClassMap | None = None,
    uncoded: Columns | None = None,
    controls: Columns | None = None,
    cluster: str | None = None,
    regression: Regression = "linear",
    write_scores: FilePath | bool | None = None,
    count: Column | None = None,
    classes: Sequence[Any] | None = None,
    columns: Columns | None = None,
    id: Column | None = None,
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
    output: FilePath | None = None,
    overwrite: bool = False,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Disparity:
    """Compares an outcome between classes with every estimator: labels of several rules, weighted, imputed, linear, BIRDiE, bounds.

    >>> import numpy as np, apportion
    >>> people = apportion.simulate_normal(2000, seed=1).to_pandas()
    >>> voted = np.random.default_rng(0).random(2000) < np.where(people["truth"] == "1", 0.7, 0.4)
    >>> disparity = apportion.disparity(people, voted.astype(int), truth="truth", against="1")
    >>> {row["estimator"] for row in disparity.to_arrow().to_pylist()} >= {"truth", "argmax", "match", "weighted"}
    True

    Args:
        scores: as for `label`.
        outcome: the outcome: numbers, yes and no, or a few values. A column name, or one value per row.
        outcome_value: the value of the outcome that counts as 1; all others count as 0.
        weight: survey weights: numbers from 0. A column name, or one value per row. Rows without one are left out.
        inference: what the intervals of the weighted estimator are about: the means in the "population" that the people were
            drawn from, or the means of the people in the "file", of whom only the classes are uncertain.
        prediction: a prediction or decision of 0 and 1, or yes and no: also compares its rates of true and false positives,
            given the outcome, in `details["error_rates"]`.
        truth, by: as for `audit`.
        label, label_map: existing labels to compare with those of the rules, and how their values map to classes. Several
            columns may be named.
        uncoded: the values of unlabeled rows. Default: "Uncoded=keep".
        cells: columns that define cells of similar people, for bounds that need only calibration within cells.
        against: the class to compare the others with. Default: the largest.
        favorable: the favorable value of the outcome, such as "approved": it counts as 1, and rates are also compared by their
            ratio (adverse impact).
        baseline: the class whose rate others are divided by. Default: the highest rate of a class with at least 30 expected
            people.
        pooling: how BIRDiE combines the groups of `by`: "auto", "none" or "partial".
        covariates: columns on which the outcome may also depend in BIRDiE, such as an age group; combined with `by`.
        no_bootstrap: skip the bootstrap: BIRDiE then has no standard errors and no intervals.
        small_cells: "hide" or "show" estimates with an effective sample size below 5.
        controls: columns to hold constant in regressions of the outcome on class: numbers, or up to 100 categories
            ("county:category" if the categories are numbers). See `Disparity.regressions`.
        cluster: the column of clusters of people whose outcomes are related, for the standard errors of the regressions.
        regression: "linear" or "logistic": the model of the outcome given class and controls.
        write_scores: scores updated by the outcome (BIRDiE). If the scores are in files: a file for the input with updated
            scores. Otherwise True; `updated_scores` of the result then has them.
        count, report, figures, output, overwrite: as for `audit`.

    The other options are those of `label`.
    """
    given = dict(locals())
    names = [controls] if isinstance(controls, str) else list(controls or ())
    source, values = _read(given, [[name.removesuffix(":category") for name in names], covariates, cluster, prediction])
    values |= {"label_map": label_map, "uncoded": uncoded, **_outcome(source, given)}
    values |= {"prediction": None if prediction is None else column(source, "prediction", prediction)}
    values |= {"controls": controls, "cluster": cluster, "regression": regression}
    if write_scores is not None and write_scores is not False:
        if isinstance(source, Files) == (write_scores is True):
            raise ValueError("write_scores: use a path if the scores are in files, otherwise True")
        values |= {"write_scores": "True" if write_scores is True else os.fspath(write_scores)}
    done = run("disparity", source, values, threads=threads, progress=progress)
    disparity = Disparity(done)
    rows = done.rows()
    if write_scores is True and rows is not None:
        disparity.updated_scores = source.own(rows)
    return disparity


@suggests
def frontier(
    scores: Any,
    by: Column | None = None,
    reference: Any = "posterior",
    *,
    training_shares: Any = None,
    points: int | None = None,
    truth: Column | None = None,
    count: Column | None = None,
    classes: Sequence[Any] | None = None,
    columns: Columns | None = None,
    id: Column | None = None,
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
    output: FilePath | None = None,
    overwrite: bool = False,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Frontier:
    """Computes every optimal tradeoff between accuracy and fidelity to the reference, exactly.

    >>> import apportion
    >>> frontier = apportion.frontier([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> [(round(row["accuracy"], 3), row["n_1"]) for row in frontier.to_arrow().to_pylist()]
    [(0.75, 0), (0.7, 1)]

    Args:
        scores, by, reference, training_shares: as for `label`.
        points: approximate number of evenly spaced points. Default: all points.
        count, output, overwrite: as for `audit`.

    The other options are those of `label`.
    """
    given = dict(locals())
    source, values = _read(given)
    values["points"] = points
    shares = {"reference": reference, "training_shares": training_shares}
    return Frontier(run("frontier", source, values, threads=threads, progress=progress, **shares))


#: Settings of an outcome that are passed to the job unchanged.
OUTCOME = (
    "outcome_value", "inference", "cells", "against", "favorable", "baseline", "pooling", "covariates", "no_bootstrap",
    "small_cells",
)  # fmt: skip


def _read(given: dict[str, Any], named: Sequence[Any] = ()) -> tuple[Input, dict[str, Any]]:
    """Returns the table and the settings of its columns, of the report, and of the file of results."""
    label = given.get("label")
    others = [given.get("outcome"), given.get("weight"), given.get("cells"), given.get("covariates"), label]
    source, values = table({**given, "named": [*others, *named]})
    if label is not None:
        labels = columns_of(source, "label", label)
        values["label"] = labels if len(labels) > 1 else labels[0]
    values |= rest(given, REPORT) | {"output": given["output"], "force": given["overwrite"]}
    return source, values


def _outcome(source: Input, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of an outcome."""
    values = rest(given, OUTCOME)
    for name in ("outcome", "weight"):
        if given[name] is not None:
            values[name] = column(source, name, given[name])
    return values
