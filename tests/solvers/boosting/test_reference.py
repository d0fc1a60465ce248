"""Boosting against a literal reference, and its compiled parts against what they stand for."""

import numpy as np
import pytest
from scipy.special import ndtri

from trickless import BoostedTreesRegressor
from trickless._solvers.boosting import slopes
from trickless._solvers.boosting.compiled import entry
from trickless._solvers.boosting.slopes import CompiledLoss, fill_slopes
from trickless._solvers.class_losses import Logistic, Softmax
from trickless._solvers.log_link import LogLink
from trickless._solvers.losses import unit_of
from trickless._solvers.number_losses import Huber, Squared
from trickless._solvers.pinball import Pinball

MASK = 2**64 - 1


def splitmix(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield ((z ^ (z >> 31)) >> 11) * 2.0**-53


def reference(bins, counts, y, seed, *, n_trees, depth, size, damping, n_candidates):
    """Boosting of the squared loss on numbers without gaps: cuts, leaves and f."""
    d, n = bins.shape
    f, wins, start, trees = np.full(n, y.mean()), np.zeros(d), np.mean((y - y.mean()) ** 2), []
    for t in range(n_trees):
        rng = splitmix((seed + t * 0xD1B54A32D192ED03) & MASK)
        g, ridge = y - f, damping * n / 2**depth
        share, noise = min(np.mean(g**2) / start, 1.0) ** 4, np.mean(g**2)
        unit = 2.0 ** (np.floor(np.log2(np.abs(g).max() * n)) - 24)
        whole, chance = np.rint(g / unit) * unit, 0.1 / d + 0.9 * (1 + wins) / (1 + wins).sum()
        leaf, cuts, best, kept, so_far = np.zeros(n, int), [], -np.inf, 1, 1.0
        df = 1.0
        for level in range(depth):
            n_leaves = len(np.unique(leaf))
            n_spots = min(n_candidates, 8, max(1, n // (2 * n_leaves)))
            total = np.cumsum(chance)
            drawn = [
                min(np.searchsorted(total, next(rng) * total[-1], side="right"), d - 1)
                for _ in range(n_candidates)
            ]
            spots = [[next(rng) for _ in range(n_spots)] for _ in drawn]
            found = (-np.inf,)
            for j, of_column in zip(drawn, spots, strict=True):
                for q, spot in enumerate(of_column):
                    above = 2 + int((q + spot) / n_spots * (counts[j] - 1))
                    new = 2 * leaf + (bins[j] >= above)
                    sums, size_of = np.bincount(new, whole), np.bincount(new)
                    gain = (sums**2 / (size_of + ridge))[size_of > 0].sum()
                    if gain > found[0] * (1 + 1e-12):
                        found = gain, j, above
            gain, j, above = found
            leaf = np.unique(2 * leaf + (bins[j] >= above), return_inverse=True)[1]
            cuts.append((j, above))
            in_leaf = np.bincount(leaf)
            before, df = df, (in_leaf / (in_leaf + ridge)).sum()
            n_cuts = sum(min(max(counts[k] - 1, 1), n_spots) for k in set(drawn))
            z, more = ndtri((n_cuts - 0.375) / (n_cuts + 0.25)), df - before
            best_of_many = z * np.sqrt(2 * max(more, 0)) + 2 / 3 * max(z * z - 1, 0)
            so_far += more + share * best_of_many
            net = gain - so_far * noise - 0.3 * df * noise
            if net > best and (len(in_leaf) > n_leaves or not level):
                best, kept = net, level + 1
            elif level + 1 - kept >= 3:
                break
        cuts = cuts[:kept]
        leaf = sum((bins[j] >= above).astype(int) << i for i, (j, above) in enumerate(cuts))
        sums, in_leaf = np.bincount(leaf, g, 2**depth), np.bincount(leaf, minlength=2**depth)
        values = (size * sums / (in_leaf + ridge)).astype(np.float32)
        f = f + values[leaf]
        for j, above in cuts:
            wins[j] += above <= 255
        trees.append((cuts, values))
    return trees, f


def test_the_loop_grows_the_trees_of_a_literal_reference():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + 0.3 * rng.normal(size=300)
    sizes = {"n_trees": 20, "n_candidates": 6}
    model = BoostedTreesRegressor(
        **sizes, max_depth=4, learning_rate=0.2, l2_regularization=0.15, leaves="constant",
        early_stopping=False, random_state=3,
    ).fit(X, y)  # fmt: skip
    bins, counts = np.asarray(model.neurons_._read(X)).T, model.neurons_.bins_.counts
    own = {"depth": 4, "size": 0.2, "damping": 0.15}
    trees, f = reference(bins, counts, y, model._forest_.seed, **sizes, **own)
    columns, sets = model._forest_.trees.weights
    assert np.allclose(model.predict(X), f, atol=1e-6)
    for (cuts, values), of_cuts, bits, coef in zip(
        trees, columns, sets, model.neuron_coef_, strict=True
    ):
        right = np.unpackbits(bits, axis=1)
        assert [int(j) for j, _ in cuts] == of_cuts[: len(cuts)].tolist()
        for (j, above), table in zip(cuts, right, strict=False):
            assert (table[1 : counts[j] + 1] == (np.arange(1, counts[j] + 1) >= above)).all()
        assert not right[len(cuts) :].any()
        assert np.allclose(coef[:, 0], values, rtol=1e-5)


@entry
def filled(kind, numbers, f, y, weight, g, h):
    fill_slopes(kind, numbers, f, y, weight, g, h)


@pytest.mark.parametrize(
    ("loss", "n_outputs"),
    [
        (Squared(), 2),
        (Logistic(), 1),
        (Softmax(), 3),
        (Huber(np.array([0.5, 0.1])), 2),
        (Pinball.of([0.1, 0.5, 0.9]), 3),
        (LogLink(1.0), 1),
        (LogLink(1.5), 1),
        (LogLink(2.0), 1),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, int) else None,
)
def test_compiled_slopes_are_those_of_the_loss(loss, n_outputs):
    rng = np.random.default_rng(1)
    f, weight = rng.normal(size=(40, n_outputs)), rng.uniform(0.5, 2, 40)
    y = np.abs(rng.normal(size=f.shape)) + 0.1
    if loss.has_link:
        y = -np.ones(f.shape)
        y[np.arange(40), rng.integers(0, n_outputs, 40)] = 1
    spread = rng.uniform(0.5, 2, n_outputs)
    g, h = np.empty((n_outputs, 40)), np.empty((n_outputs, 40))
    kind, numbers, _, _ = CompiledLoss.of(loss, spread)
    filled(kind, numbers, f.T.copy(), y.T.copy(), weight, g, h)
    slope, curvature = loss.newton(f, y, unit_of(spread))
    assert np.allclose(g.T, weight[:, None] * slope, rtol=1e-12, atol=1e-14)
    assert np.allclose(h.T, weight[:, None] * curvature, rtol=1e-12)


def test_the_exponential_function_is_that_of_numpy():
    x = np.r_[np.random.default_rng(2).normal(size=1000) * 100, 0.0, -1e4, 1e4]
    found = np.array([slopes.exp.py_func(each) for each in x])
    assert np.allclose(found, np.exp(np.clip(x, -700, 700)), rtol=4e-16, atol=0)
