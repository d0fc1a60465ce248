"""Probabilities that mean what they say: built in, and by CalibratedClassifierCV.

Shrinking Gradient minimises a squared loss. Its ``predict_proba`` is the softmax of the decision
values over a temperature, which suits the decision values of the last rows before they were
learned. scikit-learn's CalibratedClassifierCV learns from decision values of held-out rows instead,
which takes three more fits. "sigmoid" fits a logistic curve. "isotonic" fits a staircase, which
reaches 0 and 1; where that is wrong, the log loss is large (36, where scikit-learn cuts it off).
"""

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trickless import ShrinkingGradientClassifier

SEEDS = range(3)
BINS = 10


def brier(y, chances):
    """Mean squared distance of the chances from the class that came, 0 to 2."""
    return float(((chances - np.eye(chances.shape[1])[y]) ** 2).sum(axis=1).mean())


def expected_calibration_error(y, chances):
    """Mean distance, over bins of confidence, of the confidence from the share that is right."""
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == y
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gap = np.bincount(bins, confidence - right, BINS)
    return float(np.abs(gap).sum() / len(y))


def scores(model, X, y, X_test, y_test):
    """Log loss, Brier score, expected calibration error and error of a model."""
    chances = model.fit(X, y).predict_proba(X_test)
    wrong = float((chances.argmax(axis=1) != y_test).mean())
    calibration = expected_calibration_error(y_test, chances)
    return log_loss(y_test, chances), brier(y_test, chances), calibration, wrong


def main():
    """Print a table of means and standard errors over the seeds."""
    for data in (load_digits, load_breast_cancer):
        results = {"built-in": [], "sigmoid": [], "isotonic": []}
        for seed in SEEDS:
            X, y = data(return_X_y=True)
            X, X_test, y, y_test = train_test_split(X, y, train_size=0.5, random_state=seed)
            learner = ShrinkingGradientClassifier(random_state=seed, n_jobs=1)  # few rows
            model = make_pipeline(StandardScaler(), learner)
            for method, rows in results.items():
                calibrated = model
                if method != "built-in":
                    calibrated = CalibratedClassifierCV(model, method=method, cv=3, ensemble=False)
                rows.append(scores(calibrated, X, y, X_test, y_test))
        print(f"\n{data.__name__.removeprefix('load_')}: {len(y)} rows, {len(y_test)} to test on")
        print(f"{'':<10}{'log loss':>16}{'Brier':>16}{'calibration':>16}{'error':>16}")
        for method, rows in results.items():
            errors = np.std(rows, axis=0, ddof=1) / np.sqrt(len(rows))
            numbers = zip(np.mean(rows, axis=0), errors, strict=True)
            print(f"{method:<10}" + "".join(f"{m:>8.3f} ± {e:.3f}" for m, e in numbers))


if __name__ == "__main__":
    main()
