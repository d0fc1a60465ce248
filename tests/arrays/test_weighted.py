"""Weighted shares, medians and samples: against rows that are repeated."""

import numpy as np
import pytest

from trickless._arrays.weighted import at_shares, cap, median
from trickless.neurons.samples import sample_numbers


@pytest.mark.parametrize("factor", [1.0, 0.1, 1 / 3, 1e80])
def test_shares_and_medians_are_those_of_repeated_rows(factor):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        values, weight = rng.standard_normal(30), rng.integers(1, 4, 30)
        repeated = np.repeat(np.arange(30), weight)
        assert median(values, factor * weight) == median(values[repeated])
        shares = np.arange(len(repeated)) / len(repeated)  # the first of each copy
        np.testing.assert_array_equal(at_shares(factor * weight, shares), repeated)


def test_capped_weights_are_at_most_one_of_equal_parts():
    rng = np.random.default_rng(0)
    for parts in (1, 3, 20, 60):
        weight = rng.exponential(size=60) ** 6
        most = cap(weight, parts)
        assert np.minimum(weight, most).sum() == pytest.approx(parts * most)
    assert cap(np.array([1e12, 1.0, 1.0, 1.0]), 3) == 1.5
    assert cap(np.array([5.0, 1.0, 2.0]), 3) == 1.0


def test_a_sample_has_every_row_as_often_as_its_weight_says():
    """On average, to within 5 standard errors; and heavy rows for sure."""
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 500)
    weight[[7, 400]] = 1e3, 1e9
    counted = np.zeros((400, 500))
    for draw in counted:
        rows, own = sample_numbers(500, rng, 200, weight)
        assert (np.diff(rows) > 0).all()
        draw[rows] = own
    light = np.delete(np.arange(500), [7, 400])
    np.testing.assert_array_equal(counted[:, [7, 400]], np.tile([1e3, 1e9], (400, 1)))
    error = counted[:, light].std(axis=0, ddof=1) / 20
    assert np.abs((counted.mean(axis=0) - weight)[light] / error).max() < 5
