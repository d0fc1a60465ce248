r"""Choose neurons: the best of several candidates, by how much a step on each would gain.

For a loss with slopes g = −l′ and curvatures h, a Newton step on the neuron ψ alone lowers it by
about half of

.. math:: \frac{(\sum_i g_i \psi(x_i))^2}{\sum_i h_i \psi(x_i)^2 + \lambda},

summed over the numbers of a neuron and the outputs. One candidate is the algorithm of Dai et al.:
neurons are random, and steps are unbiased for the kernel of μ. With more candidates, neurons follow
the slopes. The step then descends the loss itself, greedily, as boosting does, instead of the
expected loss over μ. The cuts of trees are chosen one by one (``cuts``).

References
----------
.. [1] L. Iosipoi and A. Vakhrushev, "SketchBoost: fast gradient boosted decision tree for
   multioutput problems", NeurIPS 2022 (cuts chosen by a random sum of the outputs).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.places import matching, take, to_host
from trickless.arrays.threads import row_blocks
from trickless.functions.activations import activations, in_blocks
from trickless.functions.stream import BLOCK, NeuronStream, Purpose, generator, moved
from trickless.neurons import Neurons, Trees, Weights
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.branches import choose_branches
from trickless.solvers.descent.cut_rows import NextTree, resolved
from trickless.solvers.descent.cuts import choose_cuts
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.slopes import limited
from trickless.solvers.losses import Loss, unit_of

#: Rows by which candidates are compared.
_SAMPLE = 4096
#: Share of draws in which all columns are equally likely, so that a column which matters late, by
#: its interactions, is found.
_UNIFORM = 0.1
#: How a tree of each shape is chosen.
_CHOOSE = {
    "oblivious": lambda tree: choose_cuts(tree).weights(),
    "binary": choose_branches,
}


def choose(
    network: GrowingNetwork,
    family: Neurons,
    batch: MiniBatch,
    k: int,
    n_rows: int,
    options: DescentOptions,
    slopes: np.ndarray | None = None,
) -> Weights:
    """Return the weights of the next k neurons of a network.

    They belong to the family of its stream, or are trees of a mixture, which no stream draws. The
    ``batch`` has the rows to choose by, with f up to date, and the step itself takes ``n_rows``.
    ``slopes`` are slopes and curvatures of the rows in their units, if they are known.
    """
    loss, n_jobs = options.step.loss, options.step.n_jobs
    if isinstance(family, Trees):
        if slopes is None:
            slopes = network.newton_slopes(batch, loss, n_jobs)
        is_read = isinstance(batch.X, np.ndarray) and batch.X.dtype == np.uint8
        bins = batch.X.T if is_read else to_host(family.read(batch.X, n_jobs)).T
        weight = network.relative(batch.weight)
        return _trees(network, family, bins, slopes, weight, k, n_rows, options)
    first, X = network.n_drawn, batch.X
    f, targets, weight = batch.f + network.intercept, batch.targets, batch.weight
    if len(targets) > _SAMPLE:
        some = compared(network.stream.seed, first, len(targets))
        X, f, targets = take(X, some), f[some], targets[some]
        weight = None if weight is None else weight[some]
    g, h = loss.newton(f, targets, unit_of(network.spread))
    if (weight := network.relative(weight)) is not None:
        g, h = g * weight[:, None], h * weight[:, None]
    of_g, of_h = _factors(h.mean(axis=0), network.typical, loss)
    return _best(network.stream, X, g * of_g, h * of_h, first, k, options)


def _factors(
    curvature: np.ndarray, typical: np.ndarray | float, loss: Loss
) -> tuple[np.ndarray, np.ndarray]:
    """Return factors of slopes and curvatures that make outputs count equally in any units.

    ``curvature`` is the mean of each output. Times its factor it is about 1. Gains are relative to
    the ``typical`` gains at the start. Factors are powers of two, so that products are exact. They
    are 1 if the loss couples the outputs, since these then have the same unit.
    """
    if len(curvature) == 1 or loss.coupled:
        return np.ones_like(curvature), np.ones_like(curvature)
    mean, typical = np.where(curvature > 0, curvature, 1.0), np.where(typical > 0, typical, 1.0)
    return _power_of_two(1 / np.sqrt(mean * typical)), _power_of_two(1 / mean)


def _trees(
    network: GrowingNetwork,
    family: Trees,
    bins: np.ndarray,
    slopes: np.ndarray,
    weight: np.ndarray | None,
    k: int,
    n_rows: int,
    options: DescentOptions,
) -> Weights:
    """Return the best cuts of k trees."""
    first, units, candidates = network.n_drawn, network.units, options.candidates
    rng = generator(network.stream.seed, Purpose.CANDIDATES, first)
    prior = np.zeros(len(network.wins))
    prior[family.variables_] = 1.0
    if candidates.learned_prior:
        learned = prior * (1 + network.wins)
        prior = _UNIFORM * prior / prior.sum() + (1 - _UNIFORM) * learned / learned.sum()
    prior = family.bins_.spread(prior)
    g, h = slopes[: len(slopes) // 2], slopes[len(slopes) // 2 :]
    unexplained = _unexplained(network, units.g, g, weight)
    of_g, of_h = _factors(h.mean(axis=1) * units.h, network.typical, options.step.loss)
    h = (of_h * units.h) @ h
    far = resolved(len(h))
    for by in (limited((of_g * units.g) @ np.abs(g), far), limited(h, far)):
        if by is not None:
            g, h, weight = g * by, h * by, by if weight is None else weight * by
    ridge = candidates.damping * float(h.mean()) * n_rows / family.geometry.width
    trees, grow = [], _CHOOSE[family.used_shape]
    for number in range(first, first + k):
        # Several outputs choose by a random sum of their slopes, which is exact.
        signs = rng.choice([-1.0, 1.0], len(g)) if len(g) > 1 else np.ones(1)
        total = (signs * of_g * units.g) @ g
        rows = family, bins, total, h, weight, ridge, n_rows
        trees.append(grow(NextTree(*rows, candidates.n, prior, unexplained, rng, number)))
    return tuple(map(np.stack, zip(*trees, strict=True)))


def _unexplained(
    network: GrowingNetwork, unit: np.ndarray | float, g: np.ndarray, weight: np.ndarray | None
) -> float:
    """Return the mean square of the slopes relative to that at the start, at most 1.

    It is the mean over the outputs. For the squared loss it is the share that is not explained.
    """
    g = g.T * unit if weight is None else g.T * unit / np.sqrt(weight)[:, None]
    now, start = (g * g).mean(axis=0), np.broadcast_to(network.squares, g.shape[1])
    share = np.divide(now, start, out=np.ones_like(now), where=start > 0)
    return float(np.minimum(share, 1).mean())


def _best(
    stream: NeuronStream,
    X: Any,
    g: np.ndarray,
    h: np.ndarray,
    first: int,
    k: int,
    options: DescentOptions,
) -> Weights:
    """Return the best neuron of each of k groups of candidates."""
    m, damping, family = options.candidates.n, options.candidates.damping, stream.neurons
    weights = stream.between(first * m, (first + k) * m)
    Z = activations(family, in_blocks(moved(weights, X)), X, k * m, options.step.n_jobs)
    score = np.zeros(Z.shape[1])
    for slopes, curvatures in zip(g.T, h.T, strict=True):
        gain = to_host(Z.T @ matching(Z, slopes)).astype(float)
        cost = to_host((Z * Z).T @ matching(Z, curvatures)).astype(float)
        ridge = damping * max(cost.mean(), np.finfo(float).tiny)
        score += gain**2 / (cost + ridge)
    return tuple(array[_best_of(score, family.width, k, m)] for array in weights)


def compared(seed: int, first: int, n_rows: int) -> np.ndarray:
    """Return the rows of a batch on which candidates are compared, if neurons are not trees.

    The first neuron to choose has the number ``first``.
    """
    if n_rows <= _SAMPLE:
        return np.arange(n_rows)
    rng = generator(seed, Purpose.CANDIDATES, first)
    return np.sort(rng.choice(n_rows, _SAMPLE, replace=False))


def _power_of_two(values: np.ndarray) -> np.ndarray:
    """Return the nearest powers of two."""
    return np.ldexp(1.0, np.rint(np.log2(values)).astype(int))


def _best_of(score: np.ndarray, width: int, k: int, m: int) -> np.ndarray:
    """Return the best neuron of each of k groups of m, by scores of columns in blocks."""
    ends = [block.stop * width for block in row_blocks(k * m, BLOCK)]
    of_blocks = np.split(score, ends[:-1])
    total = np.concatenate([block.reshape(width, -1).sum(axis=0) for block in of_blocks])
    return total.reshape(k, m).argmax(axis=1) + m * np.arange(k)
