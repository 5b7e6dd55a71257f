"""The estimators pass the checks of scikit-learn, and work in its pipelines and searches."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

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


def test_checks_with_the_defaults_fail_only_for_rows_that_do_not_sum_to_1() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = check_estimator(Apportioner(), on_fail=None)
    failed = [own for own in done if own["status"] == "failed"]
    assert len(failed) < len(done) and failed
    for own in failed:
        cause: BaseException | None = own["exception"]
        while cause is not None and "the scores sum to" not in str(cause):
            cause = cause.__cause__ or cause.__context__
        assert cause is not None, own


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
    assert clone(model).get_params()["rule"] is None
    assert cross_val_score(model, X, names, cv=3).min() > 0.5


def test_a_classifier_without_probabilities_is_refused() -> None:
    with pytest.raises(TypeError, match="LinearSVC has no predict_proba"):
        ApportionedClassifier(LinearSVC()).fit([[0.0], [1.0]], [0, 1])


def test_weights_and_rare_classes_reach_the_prices() -> None:
    X, y = make_classification(2000, weights=[0.7], flip_y=0.3, random_state=2)
    weights = np.where(y == 0, 0.05, 1.0)
    with pytest.warns(UserWarning, match="the probabilities of the training rows are miscalibrated"):
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


def test_gamma_without_a_rule_can_be_searched() -> None:
    X, y = make_classification(300, flip_y=0.3, random_state=1)
    search = GridSearchCV(ApportionedClassifier(LogisticRegression()), {"gamma": [0.0, 0.5, 0.9]}, cv=3).fit(X, y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert ApportionedClassifier(LogisticRegression(), gamma=0.9).fit(X, y).decision_.rule == "balance"
    with pytest.raises(ValueError, match="gamma requires rule balance"):
        ApportionedClassifier(LogisticRegression(), "match", gamma=0.9).fit(X, y)


@pytest.mark.parametrize(
    ("names", "unlabeled"),
    [(["a", "b", "c"], "Uncoded"), ([1, 2, 3], -1), ([1.0, 2.0, 3.0], -1), (np.array(["a", "b", "c"], object), "Uncoded")],
)
def test_rules_that_leave_rows_unlabeled_can_be_scored(names: list[object], unlabeled: object) -> None:
    X, codes = make_classification(600, n_informative=4, n_classes=3, flip_y=0.1, random_state=1)
    y = np.asarray(names)[codes]
    scored = cross_validate(
        ApportionedClassifier(LogisticRegression(), "threshold", at=0.5), X, y, cv=3, scoring=["accuracy", "f1_micro"],
        error_score="raise",
    )  # fmt: skip
    assert (scored["test_accuracy"] > 0.3).all()
    model = ApportionedClassifier(LogisticRegression(), "threshold", at=0.5).fit(X, y)
    labels = model.predict(X)
    is_sure = model.predict_proba(X).max(axis=1) >= 0.5
    assert set(labels[~is_sure]) == {unlabeled} and set(labels[is_sure]) == set(y)
    assert model.score(X, y) == np.mean(labels == y)
    partial = ApportionedClassifier(LogisticRegression(), coverage=0.5).fit(X, y).label(X)
    assert np.sum(partial == unlabeled) == 300
    with pytest.raises(ValueError, match="is the name of a class; choose another value"):
        ApportionedClassifier(LogisticRegression(), "threshold", unlabeled=names[0]).fit(X, y).predict(X)
    own = ApportionedClassifier(LogisticRegression(), "threshold", unlabeled=names[0].__class__(9)).fit(X, y)
    assert names[0].__class__(9) in own.predict(X).tolist()


def test_probabilities_that_are_miscalibrated_against_y_are_warned_of() -> None:
    X, y = make_classification(4000, n_informative=4, n_classes=3, weights=[0.85, 0.1], flip_y=0.3, random_state=1)
    with pytest.warns(UserWarning, match=r"of class \d sum to .*, but y contains it .* times.*Use reference='truth', or calib"):
        model = ApportionedClassifier(LogisticRegression(class_weight="balanced")).fit(X, y)
    assert np.abs(np.bincount(model.label(X)) - np.bincount(y)).max() > 400
    # Without warnings, which are errors here:
    repaired = ApportionedClassifier(LogisticRegression(class_weight="balanced"), reference="truth").fit(X, y)
    assert np.bincount(repaired.label(X)).tolist() == np.bincount(y).tolist()
    ApportionedClassifier(LogisticRegression()).fit(X, y)


def test_the_shares_of_y_are_kept() -> None:
    X, y = make_classification(1000, weights=[0.8], flip_y=0.2, random_state=3)
    names = np.array(["no", "yes"])[y]
    model = ApportionedClassifier(LogisticRegression(), reference="truth").fit(X[:500], names[:500])
    assert model.shares_ == {"no": np.mean(names[:500] == "no"), "yes": np.mean(names[:500] == "yes")}
    assert (model.label(X[500:]) == "yes").sum() == round(500 * model.shares_["yes"])
    region = np.array(["north", "south"])[(X[:, 0] > 0).astype(int)]
    by_region = ApportionedClassifier(LogisticRegression(), reference="truth").fit(X, names, by=region)
    labels = by_region.label(X, by=region)
    for own in ("north", "south"):
        assert (labels[region == own] == "yes").sum() == (names[region == own] == "yes").sum()
        assert by_region.shares_[own]["yes"] == np.mean(names[region == own] == "yes")
    with pytest.raises(ValueError, match="needs `by` in both fit and label, or in neither"):
        by_region.label(X)


def test_groups_have_right_counts() -> None:
    X, y = make_classification(3000, weights=[0.8], flip_y=0.2, random_state=3)
    region = pd.Series(np.array(["north", "south"])[(X[:, 0] > 0).astype(int)], name="region")
    model = ApportionedClassifier(LogisticRegression()).fit(X, y, by=region)
    labels, told = model.label(X, by=region), model.predict_proba(X)[:, 1]
    assert model.decision_.groups == ["north", "south"] and (model.label(X, sensitive_features=region) == labels).all()
    for own in ("north", "south"):
        assert abs(labels[region == own].sum() - told[region == own].sum()) < 1
    assert model.score(X, y, by=region) == np.mean(model.predict(X, by=region) == y)
    with pytest.raises(ValueError, match="fitted by groups; give the group of each row"):
        model.predict(X)
    with pytest.raises(ValueError, match="the same option"):
        model.predict(X, by=region, sensitive_features=region)
    with pytest.raises(ValueError, match="east"):
        model.predict(X[:1], by=["east"])
    tolerant = clone(model).set_params(unknown_groups="overall").fit(X, y, by=region)
    with pytest.warns(UserWarning, match="not in the decision: \"east\""):
        assert tolerant.predict(X[:1], by=["east"]).shape == (1,)
    scores = np.column_stack([1 - told, told])
    exact = Apportioner().fit_predict(scores, by=region)
    assert (exact == labels).all() and (Apportioner().fit(scores, by=region).predict(scores, sensitive_features=region) == exact).all()


def test_groups_and_weights_are_routed() -> None:
    X, y = make_classification(900, weights=[0.7], flip_y=0.2, random_state=3)
    region, weights = np.array(["n", "s", "e"] * 300), np.tile([1.0, 1.1], 450)
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = ApportionedClassifier(inner).set_fit_request(by=True).set_predict_request(by=True).set_score_request(by=True, sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model)
        pipeline.fit(X, y, by=region, sample_weight=weights)
        assert pipeline[-1].decision_.groups == ["e", "n", "s"]
        scaled = StandardScaler().fit_transform(X)
        weighted = LogisticRegression().fit(scaled, y, sample_weight=weights)
        assert np.allclose(pipeline[-1].estimator_.coef_, weighted.coef_)
        assert pipeline.predict(X, by=region).shape == (900,)
        # Before 1.8, Pipeline.score does not route the metadata of its steps.
        if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8):
            search = GridSearchCV(pipeline, {"apportionedclassifier__gamma": [0.5, 0.9]}, cv=3, error_score="raise")
            assert search.fit(X, y, by=region, sample_weight=weights).best_score_ > 0.5
    # Folds by groups of rows, with and without routing.
    folded = ApportionedClassifier(LogisticRegression(), cv=GroupKFold(3)).fit(X, y, groups=region)
    with config_context(enable_metadata_routing=True):
        routed = ApportionedClassifier(LogisticRegression(), cv=GroupKFold(3)).fit(X, y, groups=region)
    assert folded.decision_ == routed.decision_ != ApportionedClassifier(LogisticRegression()).fit(X, y).decision_


def test_names_of_classes_come_from_columns_and_keep_their_type() -> None:
    frame = pd.DataFrame({"p_white": [0.6, 0.7, 0.9, 0.8], "p_black": [0.4, 0.3, 0.1, 0.2]})
    model = Apportioner()
    assert model.fit_predict(frame).tolist() == apportion.label(frame).tolist() == ["black", "white", "white", "white"]
    assert model.classes_.tolist() == ["white", "black"]
    assert Apportioner(classes=["w", "b"]).fit_predict(frame).tolist() == ["b", "w", "w", "w"]
    X, y = make_classification(300, flip_y=0.3, random_state=1)
    for kind in ("Int64", "int64", "boolean", "bool"):
        fitted = ApportionedClassifier(LogisticRegression()).fit(X, pd.Series(y).astype(kind))
        assert fitted.predict(X).dtype == fitted.classes_.dtype == (np.int64 if "nt" in kind else bool)
        assert fitted.score(X, pd.Series(y).astype(kind)) > 0.5
