"""Weights of experts: bounds that hold for every sequence of scores."""

import numpy as np
import pytest
from scipy.special import logsumexp

from trickless._solvers.experts.shares import SHARE, Shares, fixed_share


def mixed(scores, size=50):
    """Logarithms of the densities of the mixture."""
    shares, found = Shares(scores.shape[1], scores.shape[2]), []
    for start in range(0, len(scores), size):
        some = scores[start : start + size]
        shares, weights = shares.after(some)
        found.append(logsumexp(some + np.log(weights), axis=1))
    return np.concatenate(found), shares


@pytest.mark.parametrize("seed", range(3))
def test_the_mixture_is_nearly_as_good_as_any_sequence_of_experts(seed):
    """Herbster and Warmuth 1998, for the logarithmic loss: an inequality without exceptions."""
    scores = np.random.default_rng(seed).normal(scale=3.0, size=(400, 5, 1))
    scores[:200, 1] += 2.0
    scores[200:, 1] -= 1000.0  # fails from then on
    scores[200:, 2] += 2.0
    total = mixed(scores)[0].sum()
    n, n_experts = 400, 5
    stay, move = np.log(1 - SHARE + SHARE / n_experts), np.log(SHARE / n_experts)
    best = scores[:, :, 0].sum(axis=0).max()
    assert total >= best - np.log(n_experts) + (n - 1) * stay - 1e-6
    switched = scores[:200, 1, 0].sum() + scores[200:, 2, 0].sum()
    assert switched > best  # otherwise this says nothing
    assert total >= switched - np.log(n_experts) + (n - 2) * stay + move - 1e-6


def test_weights_do_not_depend_on_the_grouping_and_the_history_is_short():
    scores = np.random.default_rng(0).normal(size=(3000, 4, 2))
    (one, first), (other, second) = mixed(scores, 1), mixed(scores, 1000)
    np.testing.assert_allclose(one, other)
    (until, means), (_, others) = first.history(), second.history()
    np.testing.assert_allclose(means, others)
    assert until[-1] == 3000 and len(until) <= 512
    assert (np.diff(until)[:-1] == first.every).all()


def test_rows_with_a_delay_move_the_weights_less():
    prior, factors = np.array([0.5, 0.5]), np.array([1.0, 0.25])
    np.testing.assert_allclose(fixed_share(prior, factors, prior), [0.8, 0.2], atol=0.01)
    np.testing.assert_allclose(fixed_share(prior, factors, prior, 0.5), [2 / 3, 1 / 3], atol=0.01)
