"""Estimators for scikit-learn.

`Apportioner` labels rows of scores. `ApportionedClassifier` wraps a classifier that has `predict_proba`, so that the label
counts are the counts that its probabilities sum to.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

try:
    from sklearn import get_config
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.metrics import accuracy_score
    from sklearn.model_selection import cross_val_predict
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise ImportError("apportion.sklearn needs scikit-learn: pip install 'apportion[sklearn]'") from None

from ._decision import fit
from ._frames import column_names
from ._labels import _solved
from ._run import outside

__all__ = ["Apportioner", "ApportionedClassifier"]

#: The sums of probabilities are compared with y: a warning needs a difference of this many standard deviations,
CHANCE = 4
#: and of this share of the rows of the class.
MATERIAL = 0.05


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


def _groups(by: Any, sensitive_features: Any) -> Any:
    """Returns the groups of rows, for which there are two names."""
    if by is not None and sensitive_features is not None:
        raise ValueError("by and sensitive_features are the same option; give only one of them")
    return sensitive_features if by is None else by


class _Rule(BaseEstimator):  # type: ignore[misc]
    """The rule options of both estimators."""

    def _options(self) -> dict[str, Any]:
        names = ("rule", "gamma", "penalty", "k", "coverage", "seed")
        by_class = ("reference", "at", "at_least", "at_most")
        given = {name: getattr(self, name) for name in names} | {name: _by_text(getattr(self, name)) for name in by_class}
        return {"classes": _texts(self.classes_), **given}

    def _uses(self, reference: str) -> bool:
        return isinstance(self.reference, str) and self.reference == reference

    def _applied(self, scores: Any, by: Any, **options: Any) -> np.ndarray:
        """Labels rows with the fitted prices, as column indices."""
        options |= {"by": by, "classes": _texts(self.classes_), "unknown_groups": self.unknown_groups, "codes": True}
        codes: np.ndarray = self.decision_.apply(scores, **options)
        return codes


class Apportioner(_Rule):
    """Labels rows of scores. By default, the label counts are the counts that the scores sum to.

    `fit(q)` finds prices for a table of scores. `predict(q)` labels any rows with these prices, so their counts are
    approximate. `fit_predict(q)` returns the optimal labels of q, whose counts match the reference exactly. Labels are column
    indices, or the names in `classes`, or those of a data frame's columns.

    >>> from apportion.sklearn import Apportioner
    >>> scores = [[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]]
    >>> Apportioner().fit_predict(scores)
    array([1, 0, 0, 0])
    >>> Apportioner(classes=["white", "black"]).fit(scores).predict([[0.55, 0.45], [0.95, 0.05]])
    array(['black', 'white'], dtype=object)

    Parameters:
        rule, reference, gamma, penalty, at, k, coverage, at_least, at_most, seed: as for `apportion.label`. The reference
            "truth" requires y in `fit`.
        unknown_groups: as for `apportion.Decision.apply`.
        classes: names of the columns. Default: the classes in the column names of a data frame.
        normalize: whether to divide each row by its sum.

    `fit`, `predict` and `fit_predict` have the option `by` or `sensitive_features`: the group of each row, within which the
    counts are matched.

    Attributes:
        classes_: the possible labels.
        decision_: the fitted `apportion.Decision`.
    """

    def __init__(
        self,
        rule: str | None = None,
        *,
        reference: Any = "posterior",
        gamma: float | None = None,
        penalty: str | None = None,
        at: Any = None,
        k: int | None = None,
        coverage: float | None = None,
        at_least: Any = None,
        at_most: Any = None,
        seed: int | None = None,
        unknown_groups: str = "refuse",
        classes: Any = None,
        normalize: bool = False,
    ) -> None:
        self.rule = rule
        self.reference = reference
        self.gamma = gamma
        self.penalty = penalty
        self.at = at
        self.k = k
        self.coverage = coverage
        self.at_least = at_least
        self.at_most = at_most
        self.seed = seed
        self.unknown_groups = unknown_groups
        self.classes = classes
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None, *, by: Any = None, sensitive_features: Any = None) -> Apportioner:
        """Finds prices for rows of scores."""
        scores = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=1)
        self._name(scores, X)
        options = self._reading(y) | self._options()
        self.decision_ = fit(scores, by=_groups(by, sensitive_features), **options)
        return self

    def predict(self, X: Any, *, by: Any = None, sensitive_features: Any = None) -> Any:
        """Labels rows of scores with the fitted prices."""
        check_is_fitted(self)
        scores = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self._named(self._applied(scores, _groups(by, sensitive_features), normalize=self.normalize))

    def fit_predict(self, X: Any, y: Any = None, *, by: Any = None, sensitive_features: Any = None) -> Any:
        """Returns the optimal labels of rows of scores, whose counts match the reference exactly."""
        by = _groups(by, sensitive_features)
        self.fit(X, y, by=by)
        scores = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self._named(_codes(scores, by=by, **self._reading(y), **self._options()))

    def _name(self, scores: np.ndarray, X: Any) -> None:
        width = scores.shape[1]
        if width < 2:
            raise ValueError(f"scores of {width} feature(s): at least two columns are required, one per class")
        if scores.min() < -1e-6:
            raise ValueError("Negative values in data passed to Apportioner: scores are probabilities")
        names = column_names(X)
        if self.classes is not None:
            classes = np.asarray(self.classes, dtype=object)
        elif len(names) == width:
            # The classes of a frame with these columns.
            row = {name: [1 / width] for name in names}
            classes = np.asarray(fit(row, "argmax", columns=names).classes, dtype=object)
        else:
            classes = np.arange(width)
        if len(classes) != width:
            raise ValueError(f"classes: {len(classes)} names for {width} columns of scores")
        self.classes_ = classes

    def _reading(self, y: Any) -> dict[str, Any]:
        if not self._uses("truth"):
            return {"normalize": self.normalize}
        if y is None:
            raise ValueError("reference='truth' needs the truth: fit(scores, y)")
        return {"normalize": self.normalize, "truth": _texts(np.asarray(y))}

    def _named(self, codes: np.ndarray) -> Any:
        if self.classes_.dtype != object:
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

    `fit` warns if the probabilities are miscalibrated: if their sums differ from the counts of y by more than chance explains,
    as with `class_weight="balanced"`. The counts of labels would then be wrong by as much; the reference "truth" or calibrated
    probabilities (`sklearn.calibration.CalibratedClassifierCV`) prevent it.

    Parameters:
        estimator: a classifier with `predict_proba`.
        rule, reference, gamma, penalty, at, k, coverage, at_least, at_most, seed: as for `apportion.label`. The reference
            "truth" means the class shares of y.
        unknown_groups: as for `apportion.Decision.apply`.
        unlabeled: the prediction for rows that the rule leaves unlabeled. Default: "Uncoded" if the classes are text, −1 if
            they are numbers.
        cv: cross-validation for the probabilities in `fit`, as in `sklearn.model_selection.cross_val_predict`. The number of
            folds is at most the number of rows of the rarest class. With None, or if a class has only one row, the
            probabilities of the fitted classifier are used, which is overconfident for its training rows. Fit parameters
            such as weights are used in every fold.

    `fit`, `predict`, `label` and `score` have the option `by` or `sensitive_features`: the group of each row, within which the
    counts are matched. `set_fit_request(by=True)` and so on request it from pipelines and searches, if metadata routing is
    enabled.

    Attributes:
        estimator_: the fitted classifier.
        classes_: its classes.
        decision_: the fitted `apportion.Decision`.
        shares_: the share of each class in y; with groups, a dict of the shares of each group.
    """

    def __init__(
        self,
        estimator: Any,
        rule: str | None = None,
        *,
        reference: Any = "posterior",
        gamma: float | None = None,
        penalty: str | None = None,
        at: Any = None,
        k: int | None = None,
        coverage: float | None = None,
        at_least: Any = None,
        at_most: Any = None,
        seed: int | None = None,
        unknown_groups: str = "refuse",
        unlabeled: Any = None,
        cv: Any = 5,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.reference = reference
        self.gamma = gamma
        self.penalty = penalty
        self.at = at
        self.k = k
        self.coverage = coverage
        self.at_least = at_least
        self.at_most = at_most
        self.seed = seed
        self.unknown_groups = unknown_groups
        self.unlabeled = unlabeled
        self.cv = cv

    def fit(
        self, X: Any, y: Any, *, by: Any = None, sensitive_features: Any = None, groups: Any = None, **fit_params: Any
    ) -> ApportionedClassifier:
        """Fits the classifier, and finds prices from its probabilities. `groups` is for `cv`, such as GroupKFold. Other options
        are those of the classifier's `fit`."""
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"estimator: {type(self.estimator).__name__} has no predict_proba; labels need probabilities"
            )
        by = _groups(by, sensitive_features)
        y = column_or_1d(_plain(y), warn=True)
        check_classification_targets(y)
        if _is_routing():
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        self.classes_ = unique_labels(y)
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        scores = self._fitting_scores(X, y, groups, fit_params)
        if self._uses("posterior"):
            self._warn_of_miscalibration(scores, y)
        truth = _texts(y) if self._uses("truth") else None
        self.decision_ = fit(scores, by=by, truth=truth, **self._options())
        self.shares_ = self._shares(y, by)
        return self

    def get_metadata_routing(self) -> Any:
        """Returns the metadata that this estimator and its classifier request."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add_self_request(self).add(
            estimator=self.estimator, method_mapping=mapping
        )

    def _fitting_scores(self, X: Any, y: Any, groups: Any, fit_params: dict[str, Any]) -> Any:
        folds = self.cv
        if isinstance(folds, (int, np.integer)):
            # The training rows of every fold must contain each class.
            folds = min(int(folds), int(np.unique(y, return_counts=True)[1].min()))
        if folds is None or isinstance(folds, int) and folds < 2:
            return self.estimator_.predict_proba(X)
        params = fit_params
        if groups is not None and _is_routing():
            params, groups = {**fit_params, "groups": groups}, None
        return cross_val_predict(clone(self.estimator), X, y, groups=groups, cv=folds, method="predict_proba", params=params)

    def _warn_of_miscalibration(self, scores: np.ndarray, y: np.ndarray) -> None:
        """Warns if the sums of the probabilities differ from the counts of y by more than chance explains."""
        counts = np.array([np.sum(y == name) for name in self.classes_])
        difference, chance = scores.sum(axis=0) - counts, np.sqrt((scores * (1 - scores)).sum(axis=0))
        is_wrong = np.abs(difference) > np.maximum(CHANCE * chance, MATERIAL * counts)
        if not is_wrong.any():
            return
        worst = int(np.argmax(np.where(is_wrong, np.abs(difference) / counts, 0)))
        text = (
            f"the probabilities of the training rows are miscalibrated: those of class {self.classes_[worst]!s} sum to "
            f"{scores[:, worst].sum():,.0f}, but y contains it {counts[worst]:,} times. The counts of labels will be wrong by "
            "as much. Usual causes are class_weight='balanced' and sample weights. Use reference='truth', or calibrate the "
            "classifier with sklearn.calibration.CalibratedClassifierCV"
        )
        warnings.warn(text, UserWarning, stacklevel=outside())

    def _shares(self, y: np.ndarray, by: Any) -> dict[Any, Any]:
        names = self.classes_.tolist()

        def shares(own: np.ndarray) -> dict[Any, float]:
            return {name: float(np.mean(own == name)) for name in names}

        if by is None or np.ndim(by) != 1:
            return shares(y)
        groups = np.array(_texts(by))
        return {group: shares(y[groups == group]) for group in np.unique(groups).tolist()}

    @available_if(_has_proba)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Returns the probabilities of the classifier, unchanged."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def predict(self, X: Any, *, by: Any = None, sensitive_features: Any = None) -> Any:
        """Labels each row with the fitted prices."""
        check_is_fitted(self)
        return self._named(self._applied(self.estimator_.predict_proba(X), _groups(by, sensitive_features)))

    def label(self, X: Any, *, by: Any = None, sensitive_features: Any = None) -> Any:
        """Labels rows jointly, so that their counts match the reference exactly. The reference "truth" is the class shares of
        the y of `fit`."""
        check_is_fitted(self)
        by = _groups(by, sensitive_features)
        options = self._options()
        if self._uses("truth"):
            options["reference"] = self._shares_to_match(by)
        return self._named(_codes(self.estimator_.predict_proba(X), by=by, **options))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, by: Any = None, sensitive_features: Any = None) -> float:
        """Returns the accuracy of `predict`. Unlabeled rows count as wrong."""
        predicted = self.predict(X, by=by, sensitive_features=sensitive_features)
        return float(accuracy_score(_plain(y), predicted, sample_weight=sample_weight))

    def _shares_to_match(self, by: Any) -> Any:
        """Returns the shares of y as a reference for groups."""
        is_grouped = isinstance(next(iter(self.shares_.values())), dict)
        if is_grouped != (by is not None):
            raise ValueError("label(): the reference 'truth' needs `by` in both fit and label, or in neither")
        return self.shares_

    def _named(self, codes: np.ndarray) -> Any:
        if (codes >= 0).all():
            return self.classes_[codes]
        unlabeled = self.unlabeled
        if unlabeled is None:
            unlabeled = "Uncoded" if self.classes_.dtype.kind in "OUS" else -1
        if unlabeled in self.classes_.tolist():
            raise ValueError(f"unlabeled: {unlabeled!r} is the name of a class; choose another value")
        kind = object if self.classes_.dtype == object else None
        return np.array([*self.classes_.tolist(), unlabeled], dtype=kind)[codes]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def _plain(y: Any) -> Any:
    """Converts a Series of pandas' own integers or booleans to those of numpy, if none is missing."""
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y.to_numpy(dtype=kind) if kind is not None and getattr(kind, "kind", "") in "iub" and not y.isna().any() else y


def _is_routing() -> bool:
    return bool(get_config().get("enable_metadata_routing"))
