"""Typical user code, for a type checker; it can also be run."""

from pathlib import Path

import numpy as np
import pyarrow as pa

import apportion
from apportion.sklearn import ApportionedClassifier, Apportioner


def labels_of_an_array(scores: np.ndarray) -> np.ndarray:
    labels: np.ndarray = apportion.label(scores, rule="balance", gamma=0.9, by=["x"] * len(scores), classes=["a", "b"])
    return labels


def a_proof(scores: np.ndarray) -> float:
    solution: apportion.Solution = apportion.solve(scores, "match", reference={"0": 0.5, "1": 0.5})
    counts: dict[str, int] = solution.counts
    certificate: apportion.Certificate | None = solution.certificate
    assert certificate is not None and certificate.proved and sum(counts.values()) == len(scores)
    return float(certificate["gap"])


def a_decision(scores: np.ndarray) -> str:
    decision: apportion.Decision = apportion.Decision.from_json(apportion.fit(scores, rule="match").to_json())
    labels, result = decision.apply(scores, stats=True)
    same: np.ndarray = labels
    assert sum(result.counts.values()) == len(same)
    names: list[str] = decision.classes
    return decision.to_sql("duckdb", columns=[f"p_{name}" for name in names])


def views(people: pa.Table, folder: Path) -> int:
    comparison: apportion.Comparison = apportion.compare(people, truth="truth")
    audit: apportion.Audit = apportion.audit(people, apportion.label(people), truth="truth", uncoded="Uncoded=keep")
    page: Path = comparison.report(folder / "report.html")
    bias: dict[str, float] = audit.bias
    frontier: apportion.Frontier = apportion.frontier(people, points=20)
    return len(frontier) + len(bias) + len(page.read_bytes())


def estimators() -> tuple[Apportioner, type[ApportionedClassifier]]:
    return Apportioner("match", reference="uniform").fit([[0.5, 0.5], [0.9, 0.1]]), ApportionedClassifier


def test_examples_run(tmp_path: Path) -> None:
    scores = np.array([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    assert labels_of_an_array(scores).shape == (4,)
    assert a_proof(scores) == 0.0 and "CASE" in a_decision(scores)
    assert views(apportion.simulate_normal(1000), tmp_path) > 0
    assert len(estimators()[0].classes_) == 2
