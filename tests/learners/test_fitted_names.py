"""Fitted attributes that users may read are documented, and all others begin with an underscore."""

import re
from inspect import getattr_static

import pytest
from sklearn.base import clone

from cases import EVERY, name_of, problem
from trickless import AutoClassifier, AutoRegressor, RandomFeatures, StreamingScaler


@pytest.mark.parametrize("learner", EVERY, ids=name_of)
def test_fitted_attributes_are_documented_or_private(learner):
    X, y = problem(learner, 120)
    model = clone(learner).set_params(random_state=0).fit(X, y)
    documented = set(re.findall(r"[a-z][a-z_]*_\b", type(model).__doc__))
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public <= documented | {"n_features_in_", "feature_names_in_"}


OTHERS = [AutoRegressor(), AutoClassifier(), RandomFeatures(), StreamingScaler()]


@pytest.mark.parametrize("learner", [*EVERY, *OTHERS], ids=name_of)
def test_only_parameters_are_attributes_before_fit(learner):
    kind = type(learner)
    methods = {name for name in dir(kind) if callable(getattr_static(kind, name))}
    computed = {n for n in dir(kind) if hasattr(getattr_static(kind, n), "__get__")}
    names = {name for name in dir(kind) if not name.startswith("_")} - methods - computed
    assert names <= set(learner.get_params(deep=False))
    assert len(learner.get_params(deep=False)) <= 18
