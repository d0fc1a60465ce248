"""Fit every learner with every family, and store the models: for tests in processes of their own.

Single precision is tried with some families.

python tests/support/fit_everything.py models.npz
"""

import sys

import numpy as np
from sklearn.base import clone, is_regressor

from cases import FAMILIES, LEARNERS, SOME, answers, name_of, problem, suited


def steps_of(families, ways=("KitchenSinks", "DoublyStochastic")):
    """Pairs of a learner and a family in which each family meets both ways of learning, or one.

    Kitchen Sinks sums over rows, and Doubly Stochastic Gradients take steps. Rounds of
    Shrinking Gradient evaluate neurons as these two do, and classifiers learn as regressors do.
    """
    return [
        (learner, family)
        for learner in LEARNERS
        for family in families
        if family in SOME or (is_regressor(learner) and name_of(learner).startswith(ways))
    ]


def make(learner, family, **options):
    if "trees" in family and "DoublyStochastic" in name_of(learner):
        # Each of them takes a step. Of few rows, held-out ones may be worse than a constant.
        options = {"n_neurons": 30, "early_stopping": False} | options
    elif family == "trees-linear" and "KitchenSinks" in name_of(learner):
        options = {"n_neurons": 15} | options  # of 40 columns each
    model = clone(learner).set_params(neurons=FAMILIES[family], random_state=0)
    if family not in SOME:
        model.set_params(**medians(model))  # rather than seven scales for each fit
    return model.set_params(**options)


def medians(model):
    """Parameters with the median of distances wherever a length scale would be chosen."""
    params = model.get_params()
    return {k: "median" for k, v in params.items() if k.endswith("length_scale") and v == "auto"}


def coefficients(model):
    return model.network_.coef


if __name__ == "__main__":
    models = {}
    for learner, family in steps_of(FAMILIES, "KitchenSinks"):
        X, y = problem(learner)
        rows, name = suited(family, X), f"{name_of(learner)} {family}"
        model = make(learner, family, dtype="float64").fit(rows, y)
        models[f"{name} coef"] = coefficients(model)
        models[f"{name} double"] = answers(model, rows)
        if family in SOME:
            model = make(learner, family, dtype="float32").fit(rows, y)
            models[f"{name} single"] = answers(model, rows)
    np.savez(sys.argv[1], **models)
