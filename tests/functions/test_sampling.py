"""Picking support points: chances, sizes and expectations."""

import numpy as np
import pytest

from trickless._functions.sampling import Strata, by_size, inclusion, thin

SIZES = {
    "heavy": np.random.default_rng(0).exponential(size=40) ** 3,
    "equal": np.ones(30),
    "zeros": np.array([0.0, 3.0, 0.0, 1.0, 0.5, 0.0, 2.0]),
    "one": np.array([0.0, 0.0, 1.0]),
}
every_size = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)


def naive_inclusion(size, n):
    """Raise the factor until the chances sum to n."""
    low, high = 0.0, n / size[size > 0].min()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, middle * size).sum() < n else (low, middle)
    return np.minimum(1, high * size)


@every_size
@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_chances_are_proportional_to_size_or_one(size, n):
    positive = np.count_nonzero(size)
    expected = naive_inclusion(size, min(n, positive))
    np.testing.assert_allclose(inclusion(size, n), expected, atol=1e-9)


@every_size
@pytest.mark.parametrize("n", [1, 3, 5, 20])
def test_thinning_keeps_a_fixed_number_by_those_chances(size, n):
    rng = np.random.default_rng(1)
    runs = [thin(size, n, rng) for _ in range(1000)]
    assert {len(index) for index, _ in runs} == {min(n, np.count_nonzero(size))}
    kept = np.zeros(len(size))
    chance = naive_inclusion(size, min(n, np.count_nonzero(size)))
    for index, factor in runs:
        assert (np.diff(index) > 0).all()
        assert np.abs(factor * chance[index] - 1).max(initial=0) < 1e-7
        kept[index] += 1
    error = np.sqrt(1000 * chance * (1 - chance))
    # Counts of rare points have the tail of a Poisson distribution, hence the 5.
    assert (np.abs(kept - 1000 * chance) <= 5 * error + 5).all()


def test_thinning_changes_nothing_where_there_is_room():
    size = SIZES["heavy"]
    index, factor = thin(size, 40, np.random.default_rng(0))
    np.testing.assert_array_equal(index, np.arange(40))
    np.testing.assert_array_equal(factor, 1)


@every_size
@pytest.mark.parametrize("draws", ["by_size", "stratified"])
def test_draws_are_proportional_to_size(size, draws):
    rng = np.random.default_rng(2)
    groups = (np.arange(len(size)) % 2 == 0)[:, None]
    n = 12_000
    index = (
        by_size(size, n, rng)
        if draws == "by_size"
        else np.concatenate([Strata(size, groups).draw(3, rng) for _ in range(n // 3)])
    )
    p = size / size.sum()
    counts = np.bincount(index, minlength=len(size))
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 1e-9).all()
    assert not counts[size == 0].any()


def test_strata_hold_one_draw_each_and_groups_lie_together():
    size = np.ones(10)
    groups = np.array([i in (1, 4, 8) for i in range(10)])[:, None]
    for seed in range(20):
        index = Strata(size, groups).draw(10, np.random.default_rng(seed))
        assert sorted(index) == list(range(10))
        assert sorted(index[-3:]) == [1, 4, 8]


def test_a_size_that_is_lost_in_the_sum_of_the_others_changes_no_chance():
    np.testing.assert_allclose(inclusion(np.array([10.0, 1.0, 1e-20]), 2), [1, 1, 1e-20])
    np.testing.assert_allclose(inclusion(np.array([1e20, 3.0, 1.0]), 2), [1, 0.75, 0.25])
