"""Every learner has intervals or sets of classes, or says how to get them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

from cases import EVERY, LEARNERS, name_of, problem
from fit_everything import make
from rounding import gamma
from trickless.conformal import SplitConformal

ANSWERS = {
    *("KitchenSinksRegressor", "KitchenSinksClassifier"),
    *("ShrinkingGradientClassifier", "KernelGradientClassifier"),
    *("BoostedTreesRegressor", "BoostedTreesClassifier"),
}


@pytest.mark.parametrize("model", EVERY, ids=name_of)
def test_it_answers_or_says_what_to_do(model):
    X, y = problem(model)
    name = type(model).__name__
    model = make(model, "gaussian") if model in LEARNERS else clone(model)
    model.fit(X, y)
    numbers = is_regressor(model)
    answer = "predict_interval" if numbers else "predict_set"
    if name not in ANSWERS:
        message = r"kept no rows that it has not learned .* Remedy: .*SplitConformal\(model\)"
        with pytest.raises(ValueError, match=message):
            getattr(model, answer)(X)
        if numbers or hasattr(model, "predict_proba"):  # in the words of the remedy
            assert len(getattr(SplitConformal(model).calibrate(X, y), answer)(X)) == len(X)
        return
    found = getattr(model, answer)(X)
    if numbers:
        assert found.shape == (len(X), 2)
        assert (found[:, 0] < found[:, 1]).all()
    else:
        assert found.shape == (len(X), len(model.classes_))
        assert found.any(axis=1).all()
    if not name_of(model).startswith("Noisy"):  # whose estimates are for all rows together
        # Sums over columns and rows, in single precision, and of no more than 2,048 terms.
        error = gamma(2048, "float32") * np.abs(found).max() if numbers else 0
        np.testing.assert_allclose(getattr(model, answer)(X[3:5]), found[3:5], rtol=0, atol=error)
    for other in (model.compact(), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(getattr(other, answer)(X), found)
