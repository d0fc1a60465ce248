"""Ferns: against one tree at a time."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import clone

from cases import inputs
from trickless.neurons import Ferns, Stumps


@pytest.mark.parametrize("depth", [1, 2, 8])
def test_a_fern_gives_the_sign_of_the_leaf_that_a_row_falls_into(depth):
    X = inputs(30, 4)
    neurons = Ferns(depth).fit(X, np.random.default_rng(0))
    weights = neurons.draw(np.random.default_rng(1), 7)
    Z = neurons.activate(X, weights)
    for j, (columns, thresholds, signs) in enumerate(zip(*weights, strict=True)):
        assert signs.shape == (2**depth,)
        for row, value in zip(X, Z[:, j], strict=True):
            leaf = sum(2**i for i in range(depth) if row[columns[i]] > thresholds[i])
            assert value == signs[leaf]


def test_cuts_are_those_of_stumps_and_signs_are_fair():
    X = inputs(30, 4)
    ferns, stumps = Ferns(depth=3), Stumps()
    for family in (ferns, stumps):
        family.fit(X, np.random.default_rng(0))
    columns, thresholds, signs = ferns.draw(np.random.default_rng(1), 500)
    stump_columns, stump_thresholds = stumps.draw(np.random.default_rng(1), 1500)
    np.testing.assert_array_equal(columns.ravel(), stump_columns)
    np.testing.assert_array_equal(thresholds.ravel(), stump_thresholds)
    assert set(np.unique(signs)) == {-1, 1}
    for leaf in range(8):
        assert binomtest(int((signs[:, leaf] > 0).sum()), 500).pvalue > 1e-4


@pytest.mark.parametrize("family", [Stumps(), Ferns(depth=2)], ids=["stumps", "ferns"])
def test_features_are_drawn_by_their_weights_as_the_kernel_says(family):
    X, n = inputs(12, 3), 20_000
    family.set_params(feature_weights=[1, 0, 3]).fit(X, np.random.default_rng(0))
    np.testing.assert_array_equal(family.feature_weights_, [0.25, 0, 0.75])
    weights = family.draw(np.random.default_rng(1), n)
    columns = weights[0].ravel()
    assert not (columns == 1).any()
    assert binomtest(int((columns == 2).sum()), len(columns), 0.75).pvalue > 1e-4
    Z = family.activate(X, weights)
    estimate, k = Z @ Z.T / n, family.kernel(X)
    error = np.sqrt((1 - k**2) / n)  # products are -1 or 1
    assert (np.abs(estimate - k) <= 5 * error + 1e-12).all()
    uniform = clone(family).set_params(feature_weights=[2.0] * 3).fit(X, np.random.default_rng(0))
    plain = clone(family).set_params(feature_weights=None).fit(X, np.random.default_rng(0))
    np.testing.assert_allclose(uniform.kernel(X), plain.kernel(X), atol=1e-12)
