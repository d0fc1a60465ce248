"""Fitted attributes that users may read are documented, and all others begin with an underscore."""

import re

import pytest
from sklearn.base import clone

from cases import EVERY, name_of, problem


@pytest.mark.parametrize("learner", EVERY, ids=name_of)
def test_fitted_attributes_are_documented_or_private(learner):
    X, y = problem(learner, 120)
    model = clone(learner).set_params(random_state=0).fit(X, y)
    documented = set(re.findall(r"[a-z][a-z_]*_\b", type(model).__doc__))
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public <= documented | {"n_features_in_", "feature_names_in_"}
