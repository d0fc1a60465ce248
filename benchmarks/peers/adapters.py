"""Peers whose interface is not scikit-learn's, each imported where it is used."""

from __future__ import annotations

from typing import Any

import numpy as np

COLUMNS_OF_RIVER = 1_000
VALIDATION = 0.2


class Rfflearn:
    """Gaussian process of rfflearn: its fastest learner, and the most accurate of its README.

    Its least squares adds std_error² to the matrix of unnormalised cosines, whose mean square is
    1/2: ``alpha`` is in the units of normalised ones, as for the others.
    """

    def __init__(self, n_classes: int, columns: int, scale: float, alpha: float) -> None:
        import rfflearn.cpu as rfflearn

        rfflearn.seed(0)
        learner = rfflearn.RFFGPC if n_classes else rfflearn.RFFGPR
        self.model = learner(columns, 1 / scale, float(np.sqrt(alpha * columns / 2)))

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.model.fit(X, y)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X)


class XRFM:
    """xRFM as its README sets it, on processors; a fifth of the rows is its validation set.

    It asks not to standardise codes of categories, so columns of two values are 0 and 1 again.
    """

    def __init__(self, n_classes: int, bandwidth: float, reg: float, seed: int = 0) -> None:
        import torch
        from xrfm import xRFM

        self.n_classes, self.tensor = n_classes, torch.from_numpy
        model = {"kernel": "l2", "bandwidth": bandwidth, "exponent": 1.0, "diag": False}
        fit = {"reg": reg, "iters": 5, "verbose": False, "early_stop_rfm": True}
        self.model = xRFM(
            rfm_params={"model": {**model, "bandwidth_mode": "constant"}, "fit": fit},
            device=torch.device("cpu"),
            tuning_metric="accuracy" if n_classes else "mse",
            random_state=seed,
            verbose=False,
        )

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        least, largest = X.min(axis=0), X.max(axis=0)
        codes = ((least == X) | (largest == X)).all(axis=0) & (largest > least)
        self.origin = np.where(codes, least, 0.0).astype(X.dtype)
        self.unit = np.where(codes, largest - least, 1.0).astype(X.dtype)
        X = self._coded(X)
        if not self.n_classes:
            y = y.astype(np.float32)[:, None]
        n = int((1 - VALIDATION) * len(X))
        parts = X[:n], y[:n], X[n:], y[n:]
        self.model.fit(*(self.tensor(np.ascontiguousarray(part)) for part in parts))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(self.tensor(self._coded(X)))).ravel()

    def _coded(self, X: np.ndarray) -> np.ndarray:
        return (X - self.origin) / self.unit


def torchkm(n_classes: int, scale: float | None, **options: Any) -> Any:
    """Support vector machine of torchkm, which chooses C among 50 by 5-fold cross-validation.

    It knows two classes; its README says to wrap it one against the rest for more.
    """
    from sklearn.multiclass import OneVsRestClassifier
    from torchkm.estimators import TorchKMSVC

    sigma = scale and 1 / (4 * scale**2)  # its kernel is exp(-2 sigma |x - y|²)
    model = TorchKMSVC(rbf_sigma=sigma, device="cpu", random_state=0, **options)
    return OneVsRestClassifier(model) if n_classes > 2 else model


class River:
    """Random features of River and stochastic gradients, a row at a time, one pass.

    Its sampler makes ``n_components`` cosines of each input, here about 1,000 in all.
    """

    def __init__(self, n_classes: int, n_inputs: int, gamma: float, step: float) -> None:
        from river import feature_extraction, linear_model, optim

        learner = {0: linear_model.LinearRegression, 2: linear_model.LogisticRegression}
        learner = learner.get(n_classes, linear_model.SoftmaxRegression)
        n_components = max(1, round(COLUMNS_OF_RIVER / n_inputs))
        sampler = feature_extraction.RBFSampler(gamma, n_components, seed=0)
        self.model = sampler | learner(optimizer=optim.SGD(step))

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        for row, target in zip(X.tolist(), y.tolist(), strict=True):
            self.model.learn_one(dict(enumerate(row)), target)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.array([self.model.predict_one(dict(enumerate(row))) for row in X.tolist()])
