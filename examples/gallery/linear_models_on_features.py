"""Any linear model, made nonlinear: logistic and Poisson regression on random features.

Kitchen Sinks fits least squares. Where another loss matters, put the model that has it behind
RandomFeatures: here a logistic regression, whose probabilities are calibrated, and a Poisson
regression of counts.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_tweedie_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from trickless import RandomFeatures
from trickless.neurons import Gaussian


def digits():
    """Log loss of a logistic regression on pixels, and on random features."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, random_state=0)
    plain = LogisticRegression(C=10, max_iter=1000)
    on_features = make_pipeline(RandomFeatures(Gaussian(2.0), 500, random_state=0), plain)
    return [log_loss(y_test, m.fit(X, y).predict_proba(X_test)) for m in (plain, on_features)]


def counts():
    """The share of the deviance of counts that a Poisson regression explains."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (3000, 2))
    y = rng.poisson(np.exp(1 + np.sin(3 * X[:, 0]) * X[:, 1]))
    plain = PoissonRegressor(alpha=1e-4, solver="newton-cholesky")
    on_features = make_pipeline(RandomFeatures(Gaussian(0.7), 100, random_state=0), plain)
    scores = []
    for model in (plain, on_features):
        model.fit(X[:2000], y[:2000])
        scores.append(d2_tweedie_score(y[2000:], model.predict(X[2000:]), power=1))
    return scores


def main():
    found = {"log loss on digits": digits(), "deviance of counts explained": counts()}
    for name, (plain, on_features) in found.items():
        print(f"{name:<30}{plain:.3f} on the columns, {on_features:.3f} on random features")
    return found


if __name__ == "__main__":
    main()
