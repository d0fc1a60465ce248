"""Quantiles with a finite-sample guarantee, against their definitions."""

import numpy as np
import pytest

from trickless.conformal.levels import check_enough, rank, rows_needed
from trickless.conformal.quantiles import shifted_quantiles, upper_quantiles


@pytest.mark.parametrize(("n", "level", "k"), [(9, 0.9, 9), (99, 0.9, 90), (100, 0.9, 91)])
def test_the_rank_is_that_of_the_theorem(n, level, k):
    scores = np.random.default_rng(0).permutation(n) + 1.0
    assert rank(n, level) == k
    assert upper_quantiles(scores, level) == k
    assert upper_quantiles(np.stack([scores, -scores]), level).tolist() == [k, k - n - 1]
    assert upper_quantiles(scores, level, choices=1) == min(k + 1, n)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_one_row_fewer_than_needed_gives_no_bound(level):
    n = rows_needed(level)
    assert np.isfinite(upper_quantiles(np.arange(float(n)), level))
    assert upper_quantiles(np.arange(n - 1.0), level) == np.inf
    check_enough("A", "there are", n, level, "more")
    with pytest.raises(
        ValueError, match=rf"at least {n} rows, but there are {n - 1}. Remedy: more"
    ):
        check_enough("A", "there are", n - 1, level, "more")


def test_whole_weights_are_repetitions_and_none_are_ones():
    rng = np.random.default_rng(0)
    scores, weight = rng.standard_normal((3, 30)), rng.integers(1, 4, 30).astype(float)
    repeated = np.repeat(scores, weight.astype(int), axis=1)
    for level in (0.3, 0.9, 0.98):
        expected = upper_quantiles(repeated, level)
        np.testing.assert_array_equal(upper_quantiles(scores, level, weight), expected)
        ones = upper_quantiles(scores, level, np.ones(30))
        np.testing.assert_array_equal(ones, upper_quantiles(scores, level))
        each = [shifted_quantiles(row, level, weight, np.ones(1))[0] for row in scores]
        np.testing.assert_array_equal(each, expected)


def test_a_new_row_of_large_weight_has_no_bound():
    scores, weight = np.arange(20.0), np.ones(20)
    found = shifted_quantiles(scores, 0.5, weight, np.array([0.0, 1.0, 19.0, 21.0]))
    # Eq. 8 of Tibshirani et al.: the least score whose share of all weights reaches the level.
    assert found.tolist() == [9.0, 10.0, 19.0, np.inf]
