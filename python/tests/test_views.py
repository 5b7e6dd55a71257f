"""Representations of results: in a terminal, in a notebook, as charts and as reports."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pyarrow as pa
import pytest

import apportion


@pytest.fixture(scope="module")
def compared(voters: pa.Table) -> apportion.Comparison:
    return apportion.compare(voters, truth="race", by="county")


def test_results_show_themselves(voters: pa.Table, compared: apportion.Comparison) -> None:
    audit = apportion.audit(voters, "race", by="county")
    frontier = apportion.frontier(voters, points=20)
    for view, word in [(audit, "black"), (compared, "match by group"), (frontier, "to_gamma")]:
        page = view._repr_html_()
        assert page.startswith("<table>") and word in page and page.count("<tr>") == page.count("</tr>")
    assert repr(audit).startswith("100,000 rows") and "rule" in repr(compared) and "points in total" in repr(frontier)
    assert len(frontier) == len(frontier.to_arrow()) and frontier.to_arrow().column_names[0] == "from_gamma"
    rules = compared.to_arrow().to_pandas().set_index("rule")
    assert rules.loc["argmax", "n_black"] < rules.loc["match", "n_black"]


def test_names_are_escaped() -> None:
    audit = apportion.audit([[0.5, 0.5], [0.9, 0.1]], ["<script>", "b"], classes=["<script>", "b"])
    assert "<script>" not in audit._repr_html_() and "&lt;script&gt;" in audit._repr_html_()


def test_every_chart_is_a_figure(voters: pa.Table, compared: apportion.Comparison) -> None:
    assert {"counts", "counts-percent", "groups", "trade", "scores", "calibration"} <= set(compared.charts)
    for name in compared.charts:
        figure = compared.plot(name)
        assert isinstance(figure, go.Figure) and len(figure.data) > 0 and figure.layout.title.text
    first = compared.plot()
    names = {trace.name for trace in first.data}
    assert {"exact frontier", "argmax", "match"} <= names
    frontier = apportion.frontier(voters, points=30)
    (line,) = frontier.plot().data
    accuracies = [row["accuracy"] for row in frontier.to_arrow().to_pylist()]
    assert list(line.y) == pytest.approx(accuracies, abs=1e-5)
    with pytest.raises(ValueError, match="there is no chart 'pie'; the charts are"):
        compared.plot("pie")


def test_charts_have_room_for_titles_and_a_legend(voters: pa.Table, compared: apportion.Comparison) -> None:
    audit = apportion.audit(voters, "race", truth="race", by="county")
    people = apportion.simulate_normal(300, seed=1)
    disparity = apportion.disparity(people, [1, 0] * 150, truth="truth", no_bootstrap=True)
    for view in (compared, audit, disparity, apportion.frontier(voters, points=5)):
        for name in view.charts:
            figure = view.plot(name)
            layout, panels = figure.layout, len({trace.xaxis for trace in figure.data})
            # The title is above the titles of panels, which are at the top of the plot.
            assert layout.margin.t >= 60 and layout.title.yref == "container" and layout.title.y == 1
            assert "the slider" not in {trace.name for trace in figure.data}
            entries = [trace.name for trace in figure.data if trace.showlegend is not False and trace.name]
            if layout.showlegend:
                assert len(entries) == len(set(entries)) and layout.legend.yref == "container" and layout.margin.b >= 60
            else:
                assert panels == 1 or view is disparity or not any(trace.name for trace in figure.data), name
    entries = {trace.name for trace in audit.plot().data if trace.showlegend is not False}
    assert audit.plot().layout.showlegend and entries == {"miscalibration", "discretization", "sum"}


def test_charts_survive_exports_and_pickles(compared: apportion.Comparison) -> None:
    figure = compared.plot()
    assert pickle.loads(pickle.dumps(figure)) == figure and copy.deepcopy(figure) == figure
    with_renderer = plotly.io.renderers.default
    try:
        plotly.io.renderers.default = "plotly_mimetype"
        bundle = figure._repr_mimebundle_()
        assert set(bundle) == {"application/vnd.plotly.v1+json", "text/html"} and "Plotly.newPlot(" in bundle["text/html"]
        plotly.io.renderers.default = "json"  # chosen by the user
        assert set(figure._repr_mimebundle_()) == {"application/json"}
    finally:
        plotly.io.renderers.default = with_renderer


def test_tables_have_one_unit(voters: pa.Table) -> None:
    """Numbers of an audit are fractions: they are computed again from the labels and the truth."""
    labels, truth = apportion.label(voters, "argmax").to_pylist(), voters["race"].to_pylist()
    audit = apportion.audit(voters, apportion.label(voters, "argmax"), truth="race", by="county")
    (black,) = [row for row in audit.to_arrow().to_pylist() if row["class"] == "black"]
    total, correct = len(truth), sum(a == b == "black" for a, b in zip(labels, truth, strict=True))
    counts, scores = (labels.count("black"), truth.count("black")), sum(voters["p_black"].to_pylist())
    assert (black["labels"], black["truth"]) == counts
    assert black["scores_sum"] == pytest.approx(scores) and black["share_in_truth"] == pytest.approx(counts[1] / total)
    assert black["bias"] == pytest.approx((counts[0] - scores) / total)
    assert black["bias_to_truth"] == pytest.approx((counts[0] - counts[1]) / total)
    assert black["miscalibration"] == pytest.approx((scores - counts[1]) / counts[1])
    assert black["discretization"] == pytest.approx((counts[0] - scores) / counts[1])
    assert black["precision"] == pytest.approx(correct / counts[0])
    assert black["recall"] == pytest.approx(correct / counts[1])
    assert audit.bias["black"] == black["bias"]
    assert audit.bias_to_truth is not None and audit.bias_to_truth["black"] == black["bias_to_truth"]
    assert apportion.audit(voters, "race").bias_to_truth is None
    assert audit.by_group().column_names == ["group", *audit.to_arrow().column_names]
    assert "use .by_group() to see all groups" in repr(audit)
    for name in audit.to_arrow().column_names:
        assert name in (apportion.Audit.__doc__ or ""), f"{name} is not documented"


def test_gaps_have_intervals_and_hidden_estimates_are_explained() -> None:
    people = apportion.simulate_normal(60, seed=1)
    disparity = apportion.disparity(people, [1, 0] * 30, truth="truth")
    rows = disparity.to_arrow().to_pylist()
    for row in rows:
        if row["gap_low"] is not None and row["gap"] is not None:
            assert row["gap_low"] <= row["gap"] <= row["gap_high"]
    assert any(row["gap_low"] is not None for row in rows)
    hidden = [row for row in rows if row["hidden"]]
    assert hidden and all(row[name] is None for row in hidden for name in ("estimate", "low", "effective_n", "gap"))
    assert "the effective sample size is below 5; use small_cells='show' to show such estimates" in repr(disparity)
    shown = apportion.disparity(people, [1, 0] * 30, truth="truth", small_cells="show")
    few = [row for row in shown.to_arrow().to_pylist() if row["effective_n"] is not None and row["effective_n"] < 4.99]
    assert len(few) == len(hidden) and not any(row["hidden"] for row in few) and "sample size is below" not in repr(shown)
    assert "the outcome may depend on that column" in repr(disparity) and "--by" not in repr(disparity)
    for name in disparity.to_arrow().column_names:
        assert name in (apportion.Disparity.__doc__ or ""), f"{name} is not documented"


def test_survey_weights_are_a_column_or_values() -> None:
    people = apportion.simulate_normal(500, seed=1).to_pandas()
    voted, weights = np.arange(500) % 3 % 2, 0.5 + np.arange(500) % 4
    options = {"inference": "file", "no_bootstrap": True}
    disparity = apportion.disparity(people.assign(voted=voted, w=weights), "voted", weight="w", **options)
    rows = disparity.to_arrow().to_pylist()
    own = next(row for row in rows if row["estimator"] == "weighted" and row["class"] == "1")
    assert own["estimate"] == pytest.approx(np.average(voted, weights=weights * people["p_1"]))
    assert disparity.details["weight"] == {"column": "w", "sum": weights.sum(), "rows_without": 0}
    inference = {own["name"]: own["inference"] for own in disparity.details["estimators"]}
    assert inference["weighted"] == "file" and inference["argmax"] == "population"
    assert rows == apportion.disparity(people, voted, weight=weights, **options).to_arrow().to_pylist()
    with pytest.raises(ValueError, match="weight"):
        apportion.disparity(people, voted, weight=-weights)


def test_regressions_have_a_row_per_class_and_control() -> None:
    people = apportion.simulate_normal(600, seed=2).to_pandas()
    people = people.assign(age=[20 + row % 50 for row in range(600)], region=[f"r{row % 7}" for row in range(600)])
    voted = [1, 0, 1] * 200
    assert apportion.disparity(people, voted).regressions is None
    disparity = apportion.disparity(people, voted, truth="truth", controls=["age", "region"], cluster="region")
    assert disparity.regressions is not None
    rows = disparity.regressions.to_pylist()
    assert {row["estimator"] for row in rows} >= {"truth", "argmax", "weighted", "imputed", "linear"}
    truth = [row for row in rows if row["estimator"] == "truth"]
    assert [row["category"] for row in truth if row["term"] == "region"] == [f"r{place}" for place in range(1, 7)]
    for row in rows:
        if row["p_value"] is not None:
            assert 0 <= row["p_value"] <= 1 and row["low"] < row["estimate"] < row["high"]
    logistic = apportion.disparity(people, voted, controls="age", regression="logistic").regressions
    assert logistic is not None and any(row["odds_ratio"] for row in logistic.to_pylist())
    for name in disparity.regressions.column_names:
        assert name in (apportion.Disparity.regressions.__doc__ or ""), f"{name} is not documented"


def test_reports_compare_an_outcome(tmp_path: Path) -> None:
    people = apportion.simulate_normal(500, seed=1).to_pandas().assign(voted=["yes", "no"] * 250)
    audit = apportion.audit(people, apportion.label(people), outcome="voted")
    compared = apportion.compare(people, outcome=["yes", "no"] * 250, against="1")
    assert "outcomes" in audit.charts and "outcomes" in compared.charts


def test_reports_are_written(compared: apportion.Comparison, tmp_path: Path) -> None:
    page = compared.report(tmp_path / "report.html").read_text()
    with pytest.raises(FileExistsError, match=r"report\.html.*overwrite=True"):
        compared.report(tmp_path / "report.html")
    assert compared.report(tmp_path / "report.html", overwrite=True).read_text() == page
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "# " in compared.report(tmp_path / "report.md").read_text()
    with pytest.raises(ValueError, match="unknown report format"):
        compared.report(tmp_path / "report.pdf")
