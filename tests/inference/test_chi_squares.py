"""Tails of weighted sums of chi-squares."""

import numpy as np
import pytest
from scipy import stats

from trickless.inference.chi_squares import upper_tail


@pytest.mark.parametrize(("n", "error"), [(1, 0.11), (2, 0.045), (5, 0.015), (50, 0.001)])
def test_equal_weights_give_a_chi_square(n, error):
    for p in (0.999, 0.7, 0.5, 0.1, 0.05, 0.01, 1e-4, 1e-8):
        value = stats.chi2.isf(p, n) - n
        assert upper_tail(np.full(n, 3.0), 2.0 * n, value) == pytest.approx(p, rel=error)


def test_unequal_weights_give_what_sums_of_draws_have():
    w = 0.7 ** np.arange(30)
    draws = (np.random.default_rng(0).chisquare(1, (100_000, 30)) - 1) @ w
    variance = 2 * (w**2).sum()
    for p in (0.9, 0.5, 0.1, 0.05, 0.01):
        found = upper_tail(w, variance, np.quantile(draws, 1 - p))
        assert found == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 1e5) + 0.02 * p)


def test_the_survival_function_falls_from_1_to_0_without_a_step():
    w, values = 0.5 ** np.arange(20), np.linspace(-3, 3, 6001)
    tail = [upper_tail(w, 2 * (w**2).sum(), value) for value in values]
    steps = -np.diff(tail)
    assert (steps >= 0).all()
    assert steps.max() < 0.001
    assert (tail[0], upper_tail(w, 1.0, 1e300), upper_tail(w, 0.0, 0.0)) == (1, 0, 1)
