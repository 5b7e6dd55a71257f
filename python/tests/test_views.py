"""Representations of results: in a terminal, in a notebook, as charts and as reports."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go
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


def test_reports_are_written(compared: apportion.Comparison, tmp_path: Path) -> None:
    page = compared.report(tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "# " in compared.report(tmp_path / "report.md").read_text()
    with pytest.raises(ValueError, match="unknown report format"):
        compared.report(tmp_path / "report.pdf")
