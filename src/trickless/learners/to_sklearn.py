"""Fitted models as pipelines of scikit-learn's own estimators, which predict without this package.

A pair of cosine and sine is two of the cosines of ``RBFSampler``, whose random weights are the
frequencies of the pair. The phase of the second is −π/2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.learners.described import Described, described
from trickless.neurons import Weights
from trickless.neurons.fourier import Fourier
from trickless.tables.kinds import NUMBERS


def to_sklearn(model: Any) -> Any:
    """Return a scikit-learn pipeline that predicts as a fitted model of Fourier neurons does."""
    from sklearn.pipeline import Pipeline

    found = described("to_sklearn", model)
    features = cosines(model, found.family, found.weights)
    coef = found.coef.reshape(-1, found.n_outputs).astype(np.float64)
    coef *= np.sqrt(len(found.coef))  # by which RBFSampler divides
    if found.labels is None:
        return Pipeline([("features", features), ("regressor", _regressor(found, coef.T))])
    return Pipeline([("features", features), *_classifier(found, coef.T)])


def cosines(model: Any, family: Any, weights: Weights) -> Any:
    """Return a fitted ``RBFSampler``, with a cosine and a sine for each neuron."""
    from sklearn.kernel_approximation import RBFSampler

    if not isinstance(family, Fourier) or not _responds_alike(type(family)):
        raise InvalidValueError(
            f"to_sklearn: neurons={type(family).__name__} have no equivalent among scikit-learn's "
            "transformers",
            "Fourier neurons, such as neurons='gaussian'; or trickless.to_c and trickless.to_js "
            "for trees",
        )
    encoder = model.rows_.encoder
    if encoder is not None and (
        encoder.whole or encoder.origins.any() or not set(encoder.kinds) <= {NUMBERS}
    ):
        raise InvalidValueError(
            "to_sklearn: the model learned from categories, times or numbers far from 0, which "
            "scikit-learn encodes otherwise",
            "small numbers alone, from an encoder in a pipeline",
        )
    if not weights:
        raise InvalidValueError(
            "to_sklearn: the model is a constant without neurons", "sklearn.dummy.DummyRegressor"
        )
    (frequencies,) = weights
    n, d = frequencies.shape
    features = RBFSampler(gamma=1.0, n_components=2 * n)
    features.random_weights_ = np.repeat(frequencies.T.astype(np.float64), 2, axis=1)
    features.random_offset_ = np.tile([0.0, -np.pi / 2], n)
    features._n_features_out = 2 * n
    return _seen(features, d, getattr(model, "feature_names_in_", None))


def _responds_alike(cls: type) -> bool:
    """Return whether a class does not change how Fourier neurons respond."""
    own = ("respond", "prepare", "activate", "combine", "read")
    return all(getattr(cls, name) is getattr(Fourier, name) for name in own)


def _seen(estimator: Any, n_features: int, names: Any = None) -> Any:
    """Set what scikit-learn's estimators know of the rows of a fit, and return the estimator."""
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = names
    return estimator


def _regressor(found: Described, coef: np.ndarray) -> Any:
    """Return a linear regressor, with the inverse of the link if there is one."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import FunctionTransformer

    linear, links = (
        _seen(Ridge(), coef.shape[1]),
        {"exp": (np.log, np.exp), "sort": (None, np.sort)},
    )
    linear.coef_, linear.intercept_ = coef, found.intercept.copy()
    if found.is_vector and found.link == "identity":
        linear.coef_, linear.intercept_ = coef[0], float(found.intercept[0])
    if found.link == "identity":
        return linear
    link, inverse = links[found.link]
    transformer = FunctionTransformer(link, inverse, check_inverse=False)
    whole = TransformedTargetRegressor(Ridge(), transformer=transformer, check_inverse=False)
    whole.regressor_, whole.transformer_ = linear, _seen(transformer, len(found.intercept))
    whole._training_dim = 1 if found.is_vector else 2
    return whole


def _classifier(found: Described, coef: np.ndarray) -> list[tuple[str, Any]]:
    """Return the steps from features to labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if found.has_sets:
        raise InvalidValueError(
            "to_sklearn: scikit-learn has no linear classifier with the probabilities of several "
            "labels a row",
            "one label a row",
        )
    if found.temperatures is None:
        linear = LinearSVC()
        linear.coef_, linear.intercept_ = coef, found.intercept.copy()
        steps: list[tuple[str, Any]] = []
    else:
        below, above = found.temperatures
        linear, steps = LogisticRegression(), []
        if below == above or not coef.any():
            same = above if found.intercept[0] > 0 else below
            linear.coef_, linear.intercept_ = coef / same, found.intercept / same
        else:
            steps = _two_sides(coef, float(found.intercept[0]))
            coef = linear.coef_ = np.array([[1 / above, -1 / below]])
            linear.intercept_ = np.zeros(1)
        linear.n_iter_ = np.ones(1, dtype=np.int32)
    linear.classes_ = found.labels
    return [*steps, ("classifier", _seen(linear, coef.shape[1]))]


def _two_sides(coef: np.ndarray, intercept: float) -> list[tuple[str, Any]]:
    """Return steps to max(f, 0) and max(−f, 0) of one decision value f.

    A rotation, as of ``PCA``, is f if its mean is the point at which f is 0.
    """
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import FunctionTransformer

    both = PCA(n_components=2)
    both.components_ = np.concatenate([coef, -coef])
    both.mean_ = -intercept * coef[0] / float(coef[0] @ coef[0])
    both.explained_variance_ = np.ones(2)
    both.n_components_ = 2
    sides = FunctionTransformer(np.clip, kw_args={"a_min": 0.0, "a_max": None})
    return [
        ("decision", _seen(both, coef.shape[1])),
        ("sides", _seen(sides, 2)),
    ]
