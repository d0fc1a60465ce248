"""Fit every learner with every family, and store the models: for tests in processes of their own.

Single precision is tried with some families.

python tests/support/fit_everything.py models.npz
"""

import sys

import numpy as np
from sklearn.base import clone, is_regressor

from cases import FAMILIES, LEARNERS, SOME, answers, name_of, problem, suited


def make(learner, family, **options):
    if "trees" in family and "DoublyStochastic" in name_of(learner):
        # Each of them takes a step. Of few rows, held-out ones may be worse than a constant.
        options = {"n_neurons": 60, "early_stopping": False} | options
    elif family == "trees-linear" and "KitchenSinks" in name_of(learner):
        options = {"n_neurons": 15} | options  # of 40 columns each
    return clone(learner).set_params(neurons=FAMILIES[family], random_state=0, **options)


def coefficients(model):
    return model.network_.coef


if __name__ == "__main__":
    models = {}
    for learner in LEARNERS:
        X, y = problem(learner)
        for family in FAMILIES if is_regressor(learner) else SOME:
            rows, name = suited(family, X), f"{name_of(learner)} {family}"
            model = make(learner, family, dtype="float64").fit(rows, y)
            models[f"{name} coef"] = coefficients(model)
            models[f"{name} double"] = answers(model, rows)
            if family in SOME:
                model = make(learner, family, dtype="float32").fit(rows, y)
                models[f"{name} single"] = answers(model, rows)
    np.savez(sys.argv[1], **models)
