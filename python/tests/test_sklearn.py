"""The estimators pass the checks of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import apportion
from apportion.sklearn import ApportionedClassifier, Apportioner

#: Checks of scikit-learn that cannot pass, with the reason.
EXPECTED = {
    "Apportioner": {
        "check_estimators_dtypes": "its whole numbers have rows of zeros only, which are the scores of nobody",
    },
    "ApportionedClassifier": {
        "check_classifiers_train": "it expects the likeliest class, which is what this classifier is there to avoid",
    },
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        Apportioner(normalize=True),
        Apportioner("balance", gamma=0.9, normalize=True),
        ApportionedClassifier(LogisticRegression()),
        ApportionedClassifier(LogisticRegression(), "argmax"),
    ],
    expected_failed_checks=lambda estimator: {} if estimator.rule == "argmax" else EXPECTED[type(estimator).__name__],
)
def test_estimators_keep_the_rules(estimator, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


def test_fit_predict_is_exact_and_predict_goes_by_prices(scores: np.ndarray) -> None:
    model = Apportioner()
    exact = model.fit_predict(scores)
    assert (exact == apportion.label(scores)).all()
    assert (model.predict(scores) == exact).all()
    assert np.bincount(exact).tolist() == list(apportion.solve(scores).counts.values())
    named = Apportioner(classes=["w", "b", "h", "a", "i", "o"]).fit_predict(scores[:100])
    assert set(named) <= {"w", "b", "h", "a", "i", "o"}
    shares = Apportioner(reference={"x": 0.25, "y": 0.75}, classes=["x", "y"]).fit_predict([[0.5, 0.5]] * 8)
    assert (shares == "y").sum() == 6
    truth = Apportioner(reference="truth", classes=["x", "y"]).fit_predict([[0.9, 0.1]] * 4, ["y", "y", "x", "y"])
    assert (truth == "y").sum() == 3


def test_a_classifier_keeps_the_counts_that_it_promises() -> None:
    X, y = make_classification(4000, n_informative=4, n_classes=3, weights=[0.85, 0.1], flip_y=0.3, random_state=1)
    names = np.array(["common", "rare", "rarest"])[y]
    model = ApportionedClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X[:2000], names[:2000])
    later = X[2000:]
    promised = model.predict_proba(later).sum(axis=0)
    plain = model.estimator_.predict(later)
    labels, jointly = model.predict(later), model.label(later)
    for place, name in enumerate(model.classes_):
        assert abs((jointly == name).sum() - promised[place]) < 1
        assert abs((labels == name).sum() - promised[place]) <= abs((plain == name).sum() - promised[place])
    assert (plain == "rarest").sum() < 0.7 * promised[2]
    to_truth = ApportionedClassifier(LogisticRegression(), reference="truth").fit(X, names)
    assert abs((to_truth.predict(X) == "rare").sum() - (names == "rare").sum()) < 60
    assert clone(model).get_params()["rule"] == "match"
    assert cross_val_score(model, X, names, cv=3).min() > 0.5


def test_a_classifier_without_probabilities_is_refused() -> None:
    with pytest.raises(TypeError, match="LinearSVC has no predict_proba"):
        ApportionedClassifier(LinearSVC()).fit([[0.0], [1.0]], [0, 1])


def test_weights_and_rare_classes_reach_the_prices() -> None:
    X, y = make_classification(2000, weights=[0.7], flip_y=0.3, random_state=2)
    weights = np.where(y == 0, 0.05, 1.0)
    model = ApportionedClassifier(LogisticRegression()).fit(X, y, sample_weight=weights)
    promised = model.predict_proba(X)[:, 1].sum()
    assert abs(model.predict(X).sum() - promised) < 0.05 * promised
    rare = np.where(np.arange(2000) < 3, 2, y)
    assert set(ApportionedClassifier(LogisticRegression()).fit(X, rare).classes_) == {0, 1, 2}


def test_names_that_are_no_classes_are_refused() -> None:
    X, y = make_classification(300, n_informative=4, n_classes=3, random_state=1)
    shares = ApportionedClassifier(LogisticRegression(), reference={"1": 0.7, "2": 0.2, "3": 0.1}).fit(X, y + 1)
    assert np.bincount(shares.label(X))[1:].tolist() == [210, 60, 30]
    with pytest.raises(ValueError, match='unknown class "wite"; the classes are 1, 2, 3'):
        ApportionedClassifier(LogisticRegression(), reference={"wite": 1}).fit(X, y + 1)


def test_weights_of_rules_can_be_searched() -> None:
    X, y = make_classification(300, flip_y=0.3, random_state=1)
    search = GridSearchCV(
        ApportionedClassifier(LogisticRegression(), "balance"), {"gamma": np.linspace(0.5, 1, 3)}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.5
