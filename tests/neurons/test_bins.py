"""Bins: against counting thresholds value by value."""

import copy
import pickle

import array_api_strict
import numpy as np
import pytest
from scipy.stats import binomtest

from trickless.neurons.bins import Bins, midpoints


def numbers(*columns):
    rows = np.column_stack(columns)
    return Bins(rows, np.zeros(rows.shape[1], dtype=int)), rows


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_value_is_in_bin_one_plus_the_number_of_thresholds_below_it(dtype):
    rng = np.random.default_rng(0)
    columns = rng.standard_normal(3000), rng.integers(0, 9, 3000), rng.exponential(size=3000)
    bins, rows = numbers(*(column.astype(dtype) for column in columns))
    rows = np.vstack([rows, 100 * rng.standard_normal((50, 3)).astype(dtype)])
    rows[::7, 1] = np.nan
    found = bins(rows)
    assert found.dtype == np.uint8
    assert found.shape == rows.shape
    for j, cuts in enumerate(bins.thresholds):
        assert len(cuts) <= 254
        assert bins.counts[j] == len(cuts) + 1
        expected = [
            0 if np.isnan(x) else 1 + sum(cut < x for cut in cuts.astype(dtype)) for x in rows[:, j]
        ]
        np.testing.assert_array_equal(found[:, j], expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_rows_have_the_bins_of_many(dtype):
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [
            rng.standard_normal(700),
            np.zeros(700),
            rng.integers(0, 5, 700),
            rng.exponential(size=700),
            rng.integers(0, 300, 700),
        ]
    ).astype(dtype)
    rows[::9, :4] = np.nan
    bins = Bins(rows, np.array([0, 0, 7, 0, 302]))
    many = bins(rows)
    for n in (1, 2, 8):
        few = np.concatenate([bins(rows[i : i + n]) for i in range(0, 56, n)])
        np.testing.assert_array_equal(few, many[:56])
        assert few.dtype == np.uint8
    size = len(pickle.dumps(bins))
    assert size == len(pickle.dumps(Bins(rows, np.array([0, 0, 7, 0, 302]))))  # nothing is stored


def test_few_values_have_a_bin_each_and_many_share_bins_equally():
    for n in (1, 2, 100, 255):
        bins, rows = numbers(np.repeat(np.arange(n) ** 2.0, 3))
        np.testing.assert_array_equal(bins(rows)[:, 0], np.repeat(1 + np.arange(n), 3))
    rng = np.random.default_rng(0)
    bins, rows = numbers(rng.exponential(size=25_500))
    sizes = np.bincount(bins(rows)[:, 0], minlength=256)
    assert sizes[0] == 0
    np.testing.assert_allclose(sizes[1:], 100, atol=1)
    bins, rows = numbers(np.append(np.zeros(5000), rng.standard_normal(5000)))  # half are the same
    assert bins.counts[0] > 250
    sizes = np.sort(np.bincount(bins(rows)[:, 0], minlength=256)[1:])
    assert sizes[-1] >= 5000
    assert sizes[-2] <= 40  # the others are not in fewer bins for that


@pytest.mark.parametrize("factor", [1.0, 0.1, 1e-30])
def test_a_row_of_weight_two_is_two_rows_in_bins(factor):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal(900), rng.integers(0, 400, 900)])
    rows[::50, 0] = np.nan
    weight, kinds = rng.integers(1, 4, 900), np.array([0, 402])
    expected = Bins(np.repeat(rows, weight, axis=0), kinds)
    found = Bins(rows, kinds, factor * weight)
    assert expected.counts.tolist() == [255, 255, 255]
    np.testing.assert_array_equal(found(rows), expected(rows))
    assert (found(rows) != Bins(rows, kinds)(rows)).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_midpoints_part_numbers_however_close_or_large(dtype):
    kind = np.finfo(dtype)
    for at in (1.0, -1.0, 0.0, kind.max / 2, -kind.max, kind.tiny, 3 * kind.smallest_subnormal):
        lower = np.array(at, dtype)
        for upper in (np.nextafter(lower, np.array(np.inf, dtype)), np.array(kind.max, dtype)):
            (middle,) = midpoints(np.array([lower, upper], dtype))
            assert lower <= middle < upper
            bins, rows = numbers(np.array([lower, upper], dtype))
            np.testing.assert_array_equal(bins(rows)[:, 0], [1, 2])


def test_columns_without_values_or_with_one_have_one_bin():
    bins, rows = numbers(np.full(5, np.nan), np.full(5, 3.0), [np.nan, 2, 2, np.nan, 2])
    np.testing.assert_array_equal(bins.counts, [1, 1, 1])
    np.testing.assert_array_equal(bins(rows)[:3], [[0, 1, 0], [0, 1, 1], [0, 1, 1]])
    np.testing.assert_array_equal(bins(np.array([[-9.0, 9.0, np.nan]])), [[1, 1, 0]])


def test_categories_have_a_bin_each_and_new_ones_have_the_next():
    codes = np.array([0, 2, 1, 3, 4, np.nan])[:, None]  # 3: missing, 4: new
    bins = Bins(codes, np.array([5]))
    np.testing.assert_array_equal(bins(codes)[:, 0], [1, 3, 2, 0, 4, 0])
    assert bins.counts[0] == 4
    without = Bins(codes[[0, 1, 2, 3, 5]], np.array([5]))
    np.testing.assert_array_equal(without(codes), bins(codes))
    assert without.counts[0] == 3  # no row of training is in the last one


def test_each_of_many_categories_has_a_bin_by_frequency():
    rng = np.random.default_rng(0)
    often = rng.permutation(600)
    codes = np.repeat(np.arange(600), often).astype(float)  # and one category without rows
    rows = np.column_stack([np.zeros(len(codes)), codes])
    bins = Bins(rows, np.array([0, 602]))
    assert bins.more.tolist() == [1, 1]
    assert bins.features.tolist() == [0, 1, 1, 1]
    assert bins.counts.tolist() == [1, 255, 255, 255]
    found = bins(np.column_stack([np.zeros(602), np.arange(602)]))[:, 1:]
    assert found.shape == (602, 3)
    for b, column in enumerate(found[:600].T):
        own = (often >= 600 - 253 * (b + 1)) & (often < 600 - 253 * b) & (often > 0)
        assert len(np.unique(column[own])) == own.sum() == (253, 253, 93)[b]
        np.testing.assert_array_equal(column[~own & (often > 0)], 254)
    np.testing.assert_array_equal(found[often.argmin()], [255] * 3)  # like new ones
    np.testing.assert_array_equal(found[600:], [[0] * 3, [255] * 3])


@pytest.mark.parametrize(("n", "most"), [(5000, 1), (150_000, 2)])
def test_two_of_very_many_categories_share_few_bins(n, most):
    codes = np.arange(n, dtype=float)[:, None]
    bins = Bins(codes, np.array([n + 2]))
    found = bins(np.arange(n + 2.0)[:, None])
    assert found.shape == (n + 2, 16)
    assert found[:n].min() == 1
    assert found[:n].max() == 251
    np.testing.assert_array_equal(found[n:], [[0] * 16, [255] * 16])
    some = found[np.random.default_rng(0).choice(n, 300, replace=False)]
    shared = (some[:, None, :] == some[None, :, :]).sum(axis=2)
    np.testing.assert_array_equal(np.diag(shared), 16)
    assert 1 <= shared[~np.eye(300, dtype=bool)].max() <= most


def test_columns_of_a_feature_share_its_chance_to_be_drawn():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal(3000), np.arange(3000) % 600, np.arange(3000) % 3])
    bins = Bins(rows, np.array([0, 602, 5]))
    features = rng.integers(0, 3, (2000, 2))
    columns = bins.columns(features, rng)
    np.testing.assert_array_equal(bins.features[columns], features)
    assert (
        binomtest(int((columns[features == 1] == 1).sum()), (features == 1).sum(), 1 / 3).pvalue
        > 1e-4
    )
    np.testing.assert_allclose(bins.spread(np.array([1, 3, 5])), [1, 1, 5, 1, 1])


def test_states_whose_columns_do_not_belong_to_categories_are_refused():
    codes = np.arange(600.0)[:, None] % 300
    bins = Bins(np.column_stack([codes, codes]), np.array([302, 0]))
    state = vars(bins)
    for more in ([1], [2], [-1], [0, 0]):
        with pytest.raises(ValueError, match="Bins: "):
            copy.copy(bins).__setstate__(state | {"more": np.array(more)})


def test_blocks_threads_and_order_in_memory_change_nothing():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2**15, 9))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[:, 3] = rng.integers(0, 7, len(rows))
    bins = Bins(rows, np.array([0, 0, 0, 7, 0, 0, 0, 0, 0]))
    expected = bins(rows)
    for n_jobs in (1, 3, None):
        np.testing.assert_array_equal(bins(rows, n_jobs), expected)
        np.testing.assert_array_equal(bins(np.asfortranarray(rows), n_jobs), expected)
    for some in (slice(0, 0), slice(5, 6), slice(100, 3000, 3)):
        np.testing.assert_array_equal(bins(rows[some]), expected[some])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bins_on_a_device_are_those_of_numpy(dtype):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 3)).astype(dtype)
    rows[::5, 0], rows[:, 2] = np.nan, rng.integers(0, 6, 300)
    rows[::9, 2] = np.nan
    bins = Bins(rows, np.array([0, 0, 6]))
    there = bins(array_api_strict.asarray(rows))
    assert there.dtype == array_api_strict.uint8
    np.testing.assert_array_equal(np.asarray(there), bins(rows))
