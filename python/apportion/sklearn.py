"""Estimators for scikit-learn.

`Apportioner` labels rows of scores. `ApportionedClassifier` wraps a classifier that has `predict_proba`, so that the label
counts are the counts that its probabilities sum to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.model_selection import cross_val_predict
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise ImportError("apportion.sklearn needs scikit-learn: pip install 'apportion[sklearn]'") from None

from ._decision import fit
from ._labels import _solved

__all__ = ["Apportioner", "ApportionedClassifier"]


def _texts(names: Any) -> list[str]:
    return [str(name) for name in names]


def _by_text(given: Any) -> Any:
    """Converts the class names of a mapping to text. Other values are returned unchanged."""
    if not isinstance(given, Mapping):
        return given
    return {None if name is None else str(name): value for name, value in given.items()}


def _codes(scores: Any, **options: Any) -> Any:
    """Returns labels as column indices, even if the classes have names."""
    return _solved({"scores": scores, "codes": True, **options}).labels


class _Rule(BaseEstimator):  # type: ignore[misc]
    """The rule options of both estimators."""

    def _options(self) -> dict[str, Any]:
        given = {"gamma": self.gamma, "penalty": self.penalty, "k": self.k, "seed": self.seed}
        by_class = {"at": _by_text(self.at), "reference": _by_text(self.reference)}
        return {"rule": self.rule, "classes": _texts(self.classes_), **given, **by_class}


class Apportioner(_Rule):
    """Labels rows of scores. By default, the label counts are the counts that the scores sum to.

    `fit(q)` finds prices for a table of scores. `predict(q)` labels any rows with these prices, so their counts are
    approximate. `fit_predict(q)` returns the optimal labels of q, whose counts match the reference exactly. Labels are column
    indices, or the names in `classes`.

    >>> from apportion.sklearn import Apportioner
    >>> scores = [[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]]
    >>> Apportioner().fit_predict(scores)
    array([1, 0, 0, 0])
    >>> Apportioner(classes=["white", "black"]).fit(scores).predict([[0.55, 0.45], [0.95, 0.05]])
    array(['black', 'white'], dtype=object)

    Parameters:
        rule, reference, gamma, penalty, at, k, seed: as for `apportion.label`. The reference "truth" requires y in `fit`.
        classes: names of the columns.
        normalize: whether to divide each row by its sum.

    Attributes:
        classes_: the possible labels.
        decision_: the fitted `apportion.Decision`.
    """

    def __init__(
        self,
        rule: str = "match",
        *,
        reference: Any = "posterior",
        gamma: float | None = None,
        penalty: str | None = None,
        at: Any = None,
        k: int | None = None,
        seed: int | None = None,
        classes: Any = None,
        normalize: bool = False,
    ) -> None:
        self.rule = rule
        self.reference = reference
        self.gamma = gamma
        self.penalty = penalty
        self.at = at
        self.k = k
        self.seed = seed
        self.classes = classes
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None) -> Apportioner:
        """Finds prices for rows of scores."""
        scores = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=1)
        self._name(scores)
        self.decision_ = fit(scores, **self._reading(y), **self._options())
        return self

    def predict(self, X: Any) -> Any:
        """Labels rows of scores with the fitted prices."""
        check_is_fitted(self)
        scores = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        names = _texts(self.classes_)
        return self._named(self.decision_.apply(scores, classes=names, normalize=self.normalize, codes=True))

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Returns the optimal labels of rows of scores, whose counts match the reference exactly."""
        self.fit(X, y)
        scores = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self._named(_codes(scores, **self._reading(y), **self._options()))

    def _name(self, scores: np.ndarray) -> None:
        width = scores.shape[1]
        if width < 2:
            raise ValueError(f"scores of {width} feature(s): at least two columns are required, one per class")
        if scores.min() < -1e-6:
            raise ValueError("Negative values in data passed to Apportioner: scores are probabilities")
        classes = np.arange(width) if self.classes is None else np.asarray(self.classes, dtype=object)
        if len(classes) != width:
            raise ValueError(f"classes: {len(classes)} names for {width} columns of scores")
        self.classes_ = classes

    def _reading(self, y: Any) -> dict[str, Any]:
        if not isinstance(self.reference, str) or self.reference != "truth":
            return {"normalize": self.normalize}
        if y is None:
            raise ValueError("reference='truth' needs the truth: fit(scores, y)")
        return {"normalize": self.normalize, "truth": _texts(np.asarray(y))}

    def _named(self, codes: np.ndarray) -> Any:
        if self.classes is None:
            return codes
        return np.array([*self.classes_, None], dtype=object)[codes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.target_tags.required = False
        return tags


def _has_proba(self: Any) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class ApportionedClassifier(ClassifierMixin, MetaEstimatorMixin, _Rule):  # type: ignore[misc]
    """A classifier whose label counts are the counts that its probabilities sum to.

    `fit(X, y)` fits the classifier, and finds prices from its cross-validated probabilities of the same rows. `predict(X)`
    labels each row separately with these prices, so counts are approximate. `label(X)` labels rows jointly, so that their
    counts match exactly.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from apportion.sklearn import ApportionedClassifier
    >>> X, y = make_classification(2000, weights=[0.9], flip_y=0.2, random_state=0)
    >>> model = ApportionedClassifier(LogisticRegression()).fit(X, y)
    >>> abs(int(model.label(X).sum()) - round(float(model.predict_proba(X)[:, 1].sum())))
    0

    Parameters:
        estimator: a classifier with `predict_proba`.
        rule, reference, gamma, penalty, at, k, seed: as for `apportion.label`. The reference "truth" means the class shares
            of y.
        cv: cross-validation for the probabilities in `fit`, as in `sklearn.model_selection.cross_val_predict`. The number of
            folds is at most the number of rows of the rarest class. With None, or if a class has only one row, the
            probabilities of the fitted classifier are used, which is overconfident for its training rows. Fit parameters
            such as weights are used in every fold.

    Attributes:
        estimator_: the fitted classifier.
        classes_: its classes.
        decision_: the fitted `apportion.Decision`.
    """

    def __init__(
        self,
        estimator: Any,
        rule: str = "match",
        *,
        reference: Any = "posterior",
        gamma: float | None = None,
        penalty: str | None = None,
        at: Any = None,
        k: int | None = None,
        seed: int | None = None,
        cv: Any = 5,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.reference = reference
        self.gamma = gamma
        self.penalty = penalty
        self.at = at
        self.k = k
        self.seed = seed
        self.cv = cv

    def fit(self, X: Any, y: Any, **fit_params: Any) -> ApportionedClassifier:
        """Fits the classifier, and finds prices from its probabilities."""
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"estimator: {type(self.estimator).__name__} has no predict_proba; labels need probabilities"
            )
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        self.classes_ = unique_labels(y)
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        self.decision_ = fit(self._fitting_scores(X, y, fit_params), **self._truth(y), **self._options())
        return self

    def _fitting_scores(self, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
        folds = self.cv
        if isinstance(folds, (int, np.integer)):
            # The training rows of every fold must contain each class.
            folds = min(int(folds), int(np.unique(y, return_counts=True)[1].min()))
        if folds is None or isinstance(folds, int) and folds < 2:
            return self.estimator_.predict_proba(X)
        model = clone(self.estimator)
        return cross_val_predict(model, X, y, cv=folds, method="predict_proba", params=fit_params or None)

    def _truth(self, y: Any) -> dict[str, Any]:
        if not isinstance(self.reference, str) or self.reference != "truth":
            return {}
        return {"truth": _texts(y)}

    @available_if(_has_proba)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Returns the probabilities of the classifier, unchanged."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        """Labels each row with the fitted prices."""
        check_is_fitted(self)
        names = _texts(self.classes_)
        return self._named(self.decision_.apply(self.estimator_.predict_proba(X), classes=names, codes=True))

    def label(self, X: Any) -> Any:
        """Labels rows jointly, so that their counts match the reference exactly. Not available for the reference "truth",
        because the truth of these rows is not known; give the shares as a dict instead."""
        check_is_fitted(self)
        if isinstance(self.reference, str) and self.reference == "truth":
            raise ValueError("label(): the truth of the rows is not known; give the shares with reference={class: share}")
        return self._named(_codes(self.estimator_.predict_proba(X), **self._options()))

    def _named(self, codes: np.ndarray) -> Any:
        if (codes >= 0).all():
            return self.classes_[codes]
        return np.array([*self.classes_, None], dtype=object)[codes]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags
