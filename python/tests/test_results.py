"""Results can be compared, copied, pickled, indexed, iterated, converted to frames, and displayed in notebooks."""

from __future__ import annotations

import copy
import html
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import apportion

SCORES = [[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]]


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return apportion.simulate_voters(600, seed=1)


@pytest.fixture(scope="module")
def results(people: pa.Table) -> dict[str, Any]:
    labels = apportion.label(people, "argmax")
    return {
        "audit": apportion.audit(people, labels, truth="race", by="party"),
        "compare": apportion.compare(people, truth="race"),
        "frontier": apportion.frontier(people, points=20),
        "disparity": apportion.disparity(people, "voted", no_bootstrap=True),
        "solution": apportion.solve(people, by="party"),
        "description": apportion.describe(people),
        "explanation": apportion.explain(people, row=1),
    }


NAMES = ["audit", "compare", "frontier", "disparity", "solution", "description", "explanation"]


@pytest.mark.parametrize("name", NAMES)
def test_results_are_copied_and_compared(results: dict[str, Any], name: str, tmp_path: Path) -> None:
    result = results[name]
    for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert again == result and again is not result and repr(again) == repr(result)
        assert again.to_arrow().equals(result.to_arrow()) and again._repr_html_() == result._repr_html_()
        if hasattr(result, "charts"):
            assert again.charts == result.charts and again.plot().to_json() == result.plot().to_json()
            for ending in ("html", "md"):
                one, other = (own.report(tmp_path / f"r.{ending}", overwrite=True).read_bytes() for own in (result, again))
                assert one == other
    others = [own for other, own in results.items() if other != name]
    assert all(result != other for other in others)


@pytest.mark.parametrize("name", NAMES)
def test_results_are_tables(results: dict[str, Any], name: str) -> None:
    result = results[name]
    rows = result.to_arrow().to_pylist()
    assert len(result) == len(rows) > 0 and list(result) == rows and result[0] == rows[0] and result[-1] == rows[-1]
    pandas, polars = result.to_pandas(), result.to_polars()
    assert isinstance(pandas, pd.DataFrame) and isinstance(polars, pl.DataFrame)
    assert polars.to_dicts() == rows and list(pandas.columns) == result.to_arrow().column_names
    with pytest.raises(KeyError, match="there is no"):
        result["nothing of this name"]


def test_rows_are_found_by_name(results: dict[str, Any]) -> None:
    assert results["compare"]["match"]["rule"] == "match"
    assert results["audit"]["black"]["bias"] == results["audit"].bias["black"]
    assert results["solution"]["black"]["labels"] == results["solution"].counts["black"]
    assert {row["estimator"] for row in results["disparity"]["weighted"]} == {"weighted"}
    assert [point["accuracy"] for point in results["frontier"]][0] == results["frontier"][0]["accuracy"]


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_show_all_that_print_shows(results: dict[str, Any], name: str) -> None:
    page = results[name]._repr_html_()
    shown = html.unescape(re.sub(r"<[^>]+>", " ", page))
    assert str(results[name]) in shown and page.count("<tr>") == page.count("</tr>") > 1
    if name in ("audit", "solution"):
        assert "<caption>Groups</caption>" in page


def test_a_solution_has_the_counts_of_groups(people: pa.Table) -> None:
    solution = apportion.solve(people, by="party", at_most={"white": 400})
    table = solution.by_group().to_pandas()
    told = pd.DataFrame({"group": people["party"].to_pylist(), "class": solution.labels.to_pylist()})
    counted = told.groupby(["group", "class"]).size()
    own = table.set_index(["group", "class"])["labels"]
    assert own[own > 0].to_dict() == counted.to_dict() and own.sum() == len(people)
    free = apportion.solve(people, by="party").by_group().to_pandas()
    assert (free["labels"] == free["target"]).all() and free["labels"].sum() == len(people)
    threshold = apportion.solve(people, "threshold", by="party")
    groups = threshold.by_group().to_pandas()
    assert groups["target"].isna().all()
    assert groups[groups["class"].isna()]["labels"].sum() == threshold.labels.null_count
    assert len(apportion.solve(people).by_group()) == 0


def test_a_certificate_has_whole_numbers() -> None:
    certificate = apportion.solve(SCORES).certificate
    assert certificate is not None and certificate.proved is True and isinstance(certificate.primal, int)
    # The scores of the labels, 0.4, 0.7, 0.9 and 0.8, in units of 2^-40.
    assert certificate.primal == certificate.dual == sum(round(score * 2**40) for score in (0.4, 0.7, 0.9, 0.8))
    assert dict(certificate) == {"primal": certificate.primal, "dual": certificate.dual, "gap": 0.0, "proved": True}
    assert apportion.solve(SCORES, "argmax").certificate is None


def test_solutions_are_equal_if_their_labels_are() -> None:
    for kind in (np.array, pd.DataFrame, pl.DataFrame, lambda own: pa.table({"p_0": [0.6, 0.7], "p_1": [0.4, 0.3]})):
        scores: Any = kind(SCORES) if kind is not pl.DataFrame else pl.DataFrame({"p_0": [0.6, 0.7], "p_1": [0.4, 0.3]})
        assert apportion.solve(scores) == apportion.solve(scores)
        assert apportion.solve(scores) != apportion.solve(scores, "argmax")


def test_decisions_say_what_they_are(people: pa.Table, tmp_path: Path) -> None:
    decision = apportion.fit(people, by="party", gamma=0.5, reference="uniform")
    assert (decision.rule, decision.reference, decision.by) == ("balance", "uniform", ["party"])
    assert decision.groups == sorted(set(people["party"].to_pylist())) and set(decision.prices) == set(decision.groups)
    shown = repr(decision)
    assert "rule='balance'" in shown and f"({len(decision.groups)} groups)" in shown and "fitted to 600 people" in shown
    path = decision.save(tmp_path / "decision.json")
    assert apportion.Decision.load(path) == decision == pickle.loads(pickle.dumps(decision))
    with pytest.raises(FileExistsError, match="already exists.*overwrite=True"):
        decision.save(path)
    assert apportion.Decision.load(decision.save(path, overwrite=True)) == decision
    with pytest.raises(FileNotFoundError):
        apportion.Decision.load(tmp_path / "missing.json")


def test_prices_label_rows(people: pa.Table) -> None:
    decision = apportion.fit(people)
    prices: Any = decision.prices
    columns = [f"p_{name}" for name in decision.classes]
    sums = np.column_stack([people[name].to_numpy() for name in columns]) + np.array([prices[own] for own in decision.classes])
    chosen = [decision.classes[place] for place in sums.argmax(axis=1)]
    clear = np.diff(np.sort(sums, axis=1)[:, -2:]).ravel() > 1e-9
    assert clear.sum() > 500
    labels = np.array(decision.apply(people).to_pylist())
    assert (labels[clear] == np.array(chosen)[clear]).all()
    assert decision.to_arrow().column_names == ["group", "class", "price"] and len(decision.to_arrow()) == 6
    assert apportion.fit(SCORES, "argmax").prices == {} and apportion.fit(SCORES, "argmax").rule == "argmax"


def test_what_is_no_decision_is_refused() -> None:
    for content, kind in [('{"a": 1}', TypeError), ({"a": 1}, ValueError), ([], ValueError)]:
        with pytest.raises(kind, match="decision"):
            apportion.Decision(content)  # type: ignore[arg-type]
    for text in ('{"a": 1}', '{"classes": ["a"]}', "[]", "x"):
        with pytest.raises(ValueError, match="the text is not a decision"):
            apportion.Decision.from_json(text)


def test_labels_of_a_decision_have_counts_and_drift() -> None:
    rng = np.random.default_rng(0)
    before, after = rng.dirichlet([8, 2], 5000), rng.dirichlet([2, 8], 5000)
    decision = apportion.fit(before)
    labels, result = decision.apply(before, stats=True)
    assert result.counts == {0: int((labels == 0).sum()), 1: int((labels == 1).sum())}
    assert result.drift is not None and not result.drift["beyond"]
    with pytest.warns(apportion.DriftWarning, match="the counts have drifted"):
        labels, result = decision.apply(after, stats=True)
    # The excess of class 1: its labels minus the sum of its scores.
    assert result.drift["beyond"] and result.drift["people"][1] == pytest.approx((labels == 1).sum() - after[:, 1].sum())
    assert issubclass(apportion.DriftWarning, UserWarning)
    with pytest.warns(apportion.DriftWarning):
        apportion.audit(after, np.roll(labels, 1), decision=decision)
