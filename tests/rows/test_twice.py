"""Data frames with two columns of one name are refused by everything that reads rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from cases import EVERY, name_of
from trickless import AutoRegressor, RandomFeatures, StreamingScaler
from trickless.inference import DriftDetector, hsic_test, mmd_test
from trickless.inspection import estimate_kernel

FRAME = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 3)), columns=list("aba"))
Y = np.arange(30) % 2
READERS = {
    **{name_of(learner): lambda X, m=learner: clone(m).fit(X, Y) for learner in EVERY},
    "AutoRegressor": lambda X: AutoRegressor().fit(X, Y),
    "RandomFeatures": lambda X: RandomFeatures().fit(X),
    "StreamingScaler": lambda X: StreamingScaler().fit(X),
    "DriftDetector": lambda X: DriftDetector(window_size=10).update(X),
    "estimate_kernel": lambda X: estimate_kernel("gaussian", X),
    "mmd_test": lambda X: mmd_test(X, X),
    "hsic_test": lambda X: hsic_test(X, X),
}


@pytest.mark.parametrize("name", READERS)
def test_two_columns_of_one_name_are_refused(name):
    with pytest.raises(ValueError, match=r"(?s)'a'.*Remedy: pass each column once"):
        READERS[name](FRAME)
