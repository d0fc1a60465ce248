"""Which rows are held out: shares, folds and whole groups."""

import numpy as np
import pytest

from cases import inputs
from trickless.functions.stream import NeuronStream
from trickless.neurons import Trees
from trickless.solvers.class_losses import Logistic
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.held_out import folds, split
from trickless.solvers.descent.options import Candidates, DescentOptions, EarlyStopping
from trickless.solvers.descent.step_sizes import SizeParameters
from trickless.solvers.descent.steps.newton import Newton
from trickless.solvers.number_losses import Squared


class Errors:
    """No errors."""

    def error(self, decisions, targets):
        return 0 * decisions[:, 0]


def problem(targets=None, share=0.1, n_folds=4, seed=0):
    """A descent from the log-odds of the targets, if there are any, and its options."""
    family = Trees(depth=2).fit(inputs(20, 2), np.random.default_rng(0))
    loss, constant = Squared(), 0.0
    if targets is not None:
        loss, constant = Logistic(), np.log((targets > 0).mean() / (targets < 0).mean())
    step = Newton("Owner", loss, 1, 48, 1, 400)
    sizes = SizeParameters(0.0, False, 0.3, "inverse", "auto")
    stopping = EarlyStopping(share, 5, 0.01, n_folds)
    descent = Descent(NeuronStream(family, seed, np.float64), np.full(1, constant), Errors())
    return descent, DescentOptions(step, sizes, Candidates(1, True, 0.2), stopping)


def is_partition(sides, n_rows):
    return sorted(np.concatenate(sides).tolist()) == list(range(n_rows))


def rare(n_rows, n_rare):
    targets = np.full((n_rows, 1), -1.0)
    targets[np.random.default_rng(0).permutation(n_rows)[:n_rare]] = 1.0
    return targets


def test_each_row_is_on_one_side():
    y = np.zeros((105, 1))
    descent, options = problem()
    held_out, training = split(descent, y, options)
    assert len(held_out) == 11
    assert is_partition([held_out, training], 105)
    assert (np.diff(training) > 0).all()
    again = split(descent, y, options)[0]
    np.testing.assert_array_equal(again, held_out)
    other = split(problem(seed=1)[0], y, options)[0]
    assert set(other) != set(held_out)


@pytest.mark.parametrize("n_rare", [5, 20, 43])
def test_a_rare_class_has_its_share_on_both_sides_and_in_every_fold(n_rare):
    y = rare(430, n_rare)
    descent, options = problem(y)
    held_out, _ = split(descent, y, options)
    assert abs((y[held_out] > 0).sum() - n_rare / 10) < 1
    counts = [(y[held_out] > 0).sum() for held_out, _ in folds(descent, y, options)]
    assert sum(counts) == n_rare
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("grouped", [False, True])
def test_each_row_is_held_out_in_one_fold(grouped):
    y, groups = np.zeros((103, 1)), np.random.default_rng(0).integers(30, size=103)
    groups = np.unique(groups, return_inverse=True)[1]
    descent, options = problem()
    found = folds(descent, y, options, groups if grouped else None)
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
    found = folds(*(lambda d, o: (d, np.zeros((100, 1)), o))(*problem()), groups)
    assert sorted(len(held_out) for held_out, _ in found) == [20, 30, 50]


@pytest.mark.parametrize("seed", range(5))
def test_whole_groups_are_held_out_as_near_to_the_share_as_they_come(seed):
    rng = np.random.default_rng(seed)
    groups = np.unique(rng.geometric(0.05, size=500), return_inverse=True)[1]
    descent, options = problem(seed=seed)
    held_out, training = split(descent, np.zeros((500, 1)), options, groups)
    assert is_partition([held_out, training], 500)
    assert not set(groups[held_out]) & set(groups[training])
    assert abs(len(held_out) - 50) <= np.bincount(groups).max() / 2


def test_one_group_is_always_held_out_and_one_left():
    for sizes in ([99, 1], [1, 99], [50, 50], [2, 96, 2]):
        groups = np.repeat(np.arange(len(sizes)), sizes)
        descent, options = problem()
        held_out, training = split(descent, np.zeros((100, 1)), options, groups)
        assert len(held_out)
        assert len(training)
        assert not set(groups[held_out]) & set(groups[training])


def test_a_single_group_is_refused():
    descent, options = problem()
    for cut in (split, folds):
        with pytest.raises(ValueError, match=r"Owner: groups has one value only.*Remedy: at least"):
            cut(descent, np.zeros((100, 1)), options, np.zeros(100, dtype=int))


@pytest.mark.parametrize(("n_rows", "share"), [(4, 0.01), (3, 0.9)])
def test_too_few_rows_are_refused(n_rows, share):
    descent, options = problem(share=share)
    for cut in (split, folds):
        with pytest.raises(ValueError, match=rf"validation_fraction={share}.*Remedy: more rows"):
            cut(descent, np.zeros((n_rows, 1)), options)
