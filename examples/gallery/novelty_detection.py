"""Novelty detection on a stream: a one-class SVM by stochastic gradients on random features.

It learns what handwritten digits from 0 to 4 look like, and is then shown all ten.
"""

from sklearn.datasets import load_digits
from sklearn.linear_model import SGDOneClassSVM
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from trickless import RandomFeatures
from trickless.neurons import Gaussian

SCALE, NU = 1.0, 0.1


def main():
    X, digit = load_digits(return_X_y=True)
    X, known = X / 16, digit < 5
    usual = X[:1200][known[:1200]]
    methods = {
        "one-class SVM": OneClassSVM(gamma=1 / (2 * SCALE**2), nu=NU),
        "on random features": make_pipeline(
            RandomFeatures(Gaussian(SCALE), 1000, random_state=0),
            SGDOneClassSVM(nu=NU, random_state=0),
        ),
        "without features": SGDOneClassSVM(nu=NU, random_state=0),
    }
    areas = {}
    for name, method in methods.items():
        areas[name] = roc_auc_score(known[1200:], method.fit(usual).decision_function(X[1200:]))
        print(f"{name:<20}area under the curve {areas[name]:.3f}")
    return areas


if __name__ == "__main__":
    main()
