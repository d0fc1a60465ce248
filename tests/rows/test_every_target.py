"""Whatever method takes y reads it alike: each bad form raises an error that names a remedy."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDRegressor

from cases import KERNEL_LEARNERS, LEARNERS, name_of, problem
from trickless import BoostedTreesClassifier, BoostedTreesRegressor
from trickless.conformal import AdaptiveInterval, SplitConformal

N = 40
BOOSTED = BoostedTreesClassifier, BoostedTreesRegressor
DAYS = np.datetime64("2020-01-01") + np.arange(N).astype("timedelta64[D]")


def bad(y, numeric):
    """Forms of targets or labels that no method takes, by their names."""
    values = list(y)
    masked = np.ma.array(y, mask=np.arange(N) == 3)
    found = {
        "none": None,
        "short": y[:-1],
        "long": np.concatenate([y, y[:1]]),
        "number": 3,
        "masked": masked,
        "gap": [None, *values[1:]],
        "nat": np.where(np.arange(N) == 3, np.datetime64("NaT", "D"), DAYS),
        "cube": np.reshape(y, (N, 1, 1)),
        "ragged": [[value] * (1 + i % 2) for i, value in enumerate(values)],
        "sparse": scipy.sparse.csr_matrix(np.arange(N)[:, None]),
        "records": pd.DataFrame({"a": np.arange(N)}).to_records(index=False),
        "complex": np.arange(N) + 1j,
    }
    if numeric:
        found |= {
            "dates": DAYS,
            "dates in a list": [date(2020, 1, 1)] * N,
            "durations": DAYS - DAYS[0],
            "text": ["a"] * N,
            "infinity": np.where(np.arange(N) == 3, np.inf, y),
        }
    return found


def methods(learner):
    """Calls of all methods of a fitted learner that take y."""
    X, y = (values[:N] for values in problem(learner))
    model = clone(learner).fit(X, y)
    fit = {"fit": lambda y: clone(learner).fit(X, y), "score": lambda y: model.score(X, y)}
    more = {
        "partial_fit": lambda y: clone(learner).partial_fit(X, y),
        "fit_stream": lambda y: clone(learner).fit_stream([(X, y)]),
        "predict_then_learn": lambda y: clone(learner).predict_then_learn(X, y),
        "forget": lambda y: model.forget(X, y),
    }
    if hasattr(model, "partial_fit") and not hasattr(model, "_forest_"):
        begun = clone(learner).fit(X, y)
        fit["later batch"] = lambda y: begun.partial_fit(X, y)
    found = fit | {name: call for name, call in more.items() if hasattr(model, name)}
    if hasattr(model, "_forest_"):
        found["y_val"] = lambda given: clone(learner).fit(X, y, X_val=X, y_val=given)
    return y, found


ALL = [*LEARNERS, *KERNEL_LEARNERS, *(make(10) for make in BOOSTED)]


def check(owner, y, numeric, calls):
    wrong = []
    for kind, given in bad(y, numeric).items():
        for name, call in calls.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(given)
            except (TypeError, ValueError) as error:
                if owner not in str(error) or "Remedy: " not in str(error):
                    wrong.append(f"{name} of {kind}: {type(error).__name__}: {error}")
            else:
                wrong.append(f"{name} accepts {kind}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("learner", ALL, ids=name_of)
def test_learners_refuse_bad_targets_in_every_method(learner):
    y, calls = methods(learner)
    check(type(learner).__name__, y, is_regressor(learner), calls)


def test_conformal_wrappers_refuse_bad_targets():
    X = np.random.default_rng(0).standard_normal((N, 2))
    y = X[:, 0]
    line = SplitConformal(LinearRegression().fit(X, y))
    check("SplitConformal", y, True, {"calibrate": lambda y: line.calibrate(X, y)})
    labels = np.where(y > 0, "a", "b")
    classes = SplitConformal(LogisticRegression().fit(X, labels))
    check("SplitConformal", labels, False, {"calibrate": lambda y: classes.calibrate(X, y)})
    for model in (SGDRegressor(), SGDRegressor().fit(X, y)):
        stream = AdaptiveInterval(model)
        check("AdaptiveInterval", y, True, {"partial_fit": lambda y: stream.partial_fit(X, y)})  # noqa: B023
