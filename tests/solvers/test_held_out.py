"""Which rows are held out: shares, folds and whole groups."""

import numpy as np
import pytest

from trickless._solvers.class_losses import Logistic
from trickless._solvers.held_out import Holding
from trickless._solvers.number_losses import Squared


def holding(targets=None, share=0.1, seed=0):
    """How rows are held out, by the log-odds of the targets, if there are any."""
    loss, constant = Squared(), 0.0
    if targets is not None:
        loss, constant = Logistic(), np.log((targets > 0).mean() / (targets < 0).mean())
    return Holding.of("Owner", seed, share, loss, np.full(1, constant))


def is_partition(sides, n_rows):
    return sorted(np.concatenate(sides).tolist()) == list(range(n_rows))


def rare(n_rows, n_rare):
    targets = np.full((n_rows, 1), -1.0)
    targets[np.random.default_rng(0).permutation(n_rows)[:n_rare]] = 1.0
    return targets


def test_each_row_is_on_one_side():
    y = np.zeros((105, 1))
    held_out, training = holding().split(y)
    assert len(held_out) == 11
    assert is_partition([held_out, training], 105)
    assert (np.diff(training) > 0).all()
    again = holding().split(y)[0]
    np.testing.assert_array_equal(again, held_out)
    other = holding(seed=1).split(y)[0]
    assert set(other) != set(held_out)


@pytest.mark.parametrize("n_rare", [5, 20, 43])
def test_a_rare_class_has_its_share_on_both_sides_and_in_every_fold(n_rare):
    y = rare(430, n_rare)
    held_out, _ = holding(y).split(y)
    assert abs((y[held_out] > 0).sum() - n_rare / 10) < 1
    counts = [(y[held_out] > 0).sum() for held_out, _ in holding(y).folds(y, 4)]
    assert sum(counts) == n_rare
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("grouped", [False, True])
def test_each_row_is_held_out_in_one_fold(grouped):
    y, groups = np.zeros((103, 1)), np.random.default_rng(0).integers(30, size=103)
    groups = np.unique(groups, return_inverse=True)[1]
    found = holding().folds(y, 4, groups if grouped else None)
    assert len(found) == 4
    assert is_partition([held_out for held_out, _ in found], 103)
    for held_out, training in found:
        assert is_partition([held_out, training], 103)
        assert (np.diff(training) > 0).all()
        assert (np.diff(held_out) > 0).all()
        if grouped:
            assert not set(groups[held_out]) & set(groups[training])
        else:
            assert len(held_out) in (25, 26)


def test_fewer_groups_than_folds_make_fewer_folds():
    groups = np.repeat([0, 1, 2], [50, 30, 20])
    found = holding().folds(np.zeros((100, 1)), 4, groups)
    assert sorted(len(held_out) for held_out, _ in found) == [20, 30, 50]


@pytest.mark.parametrize("seed", range(5))
def test_whole_groups_are_held_out_as_near_to_the_share_as_they_come(seed):
    rng = np.random.default_rng(seed)
    groups = np.unique(rng.geometric(0.05, size=500), return_inverse=True)[1]
    held_out, training = holding(seed=seed).split(np.zeros((500, 1)), groups)
    assert is_partition([held_out, training], 500)
    assert not set(groups[held_out]) & set(groups[training])
    assert abs(len(held_out) - 50) <= np.bincount(groups).max() / 2


def test_one_group_is_always_held_out_and_one_left():
    for sizes in ([99, 1], [1, 99], [50, 50], [2, 96, 2]):
        groups = np.repeat(np.arange(len(sizes)), sizes)
        held_out, training = holding().split(np.zeros((100, 1)), groups)
        assert len(held_out)
        assert len(training)
        assert not set(groups[held_out]) & set(groups[training])


def test_a_single_group_is_refused():
    same = np.zeros((100, 1)), np.zeros(100, dtype=int)
    message = r"Owner: groups has one value only.*Remedy: at least"
    with pytest.raises(ValueError, match=message):
        holding().split(*same)
    with pytest.raises(ValueError, match=message):
        holding().folds(same[0], 4, same[1])


@pytest.mark.parametrize(("n_rows", "share"), [(4, 0.01), (3, 0.9)])
def test_too_few_rows_are_refused_to_hold_out(n_rows, share):
    y, message = np.zeros((n_rows, 1)), rf"a share of {share}.*Remedy: more rows"
    with pytest.raises(ValueError, match=message):
        holding(share=share).split(y)
