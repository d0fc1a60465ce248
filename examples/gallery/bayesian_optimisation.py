"""
Bayesian optimisation
=====================

To minimise a function that is expensive to evaluate, fit a model to the values so far, and let the
model choose where to look next. A function drawn from the posterior of Kitchen Sinks has a
gradient, so an optimiser can find its minimum. This is Thompson sampling: a place is tried as often
as it is likely to be the best.
"""

# %%
# The functions
# -------------
#
# Branin's function has two variables and three equal minima. Hartmann's has six variables. Both are
# on a unit cube, and their minima are subtracted, so a value is how far it is from the minimum: the
# simple regret.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
warnings.simplefilter("ignore", ConvergenceWarning)  # at the bounds of the other process


def branin(X):
    a, b = 15 * X[:, 0] - 5, 15 * X[:, 1]
    square = (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2
    return square + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10 - 0.39788735772973816


HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
WIDTHS = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
PLACES = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def hartmann(X):
    squares = np.einsum("kj,nkj->nk", WIDTHS, (X[:, None] - PLACES) ** 2)
    return 3.32236801141551 - np.exp(-squares) @ HEIGHTS


# %%
# Choose the next row
# -------------------
#
# The family learns a length scale for each variable from the likelihood of the targets. Then
# ``sample_function`` draws a function. Its minimum is sought by its gradient, from the best three
# of some candidates.


def by_sample(X, y, rng):
    model = KitchenSinksRegressor(Gaussian("evidence"), alpha="evidence", random_state=0)
    f = model.fit(X, y).sample_function(len(y))
    rows = np.vstack([rng.uniform(size=(1000, X.shape[1])), X[y.argsort()[:5]]])
    ends = [
        minimize(
            lambda x: f(x[None])[0],
            start,
            jac=lambda x: f.gradient(x[None])[0],
            bounds=[(0, 1)] * X.shape[1],
        )
        for start in rows[f(rows).argsort()[:3]]
    ]
    return min(ends, key=lambda end: end.fun).x


# %%
# scikit-learn's Gaussian process has the same kernel, and learns its length scales from the same
# likelihood. Its samples are values at given rows, not functions. It therefore takes the candidate
# with the least mean minus two standard deviations. Kitchen Sinks can do that as well.


def by_bound(model, noise, X, y, rng):
    near = np.clip(X[y.argmin()] + 0.05 * rng.standard_normal((500, X.shape[1])), 0, 1)
    rows = np.vstack([rng.uniform(size=(1000, X.shape[1])), near])
    mean, std = model.predict(rows, return_std=True)
    return rows[(mean - 2 * np.sqrt(np.maximum(std**2 - noise, 0))).argmin()]


def kitchen_sinks(X, y, rng):
    model = KitchenSinksRegressor(Gaussian("evidence"), alpha="evidence", random_state=0).fit(X, y)
    return by_bound(model, model.noise_variance_, X, y, rng)


def gaussian_process(X, y, rng):
    scales = RBF(np.full(X.shape[1], 0.5), (1e-2, 1e2))
    kernel = ConstantKernel() * scales + WhiteKernel(1e-3, (1e-8, 1.0))
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X, y)
    return by_bound(model, model.kernel_.k2.noise_level * y.var(), X, y, rng)


# %%
# Minimise Branin's function
# --------------------------
#
# All begin with the same eight random rows, and choose 20 more.


def optimise(function, n_features, begin, end, choose, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(begin, n_features))
    y = function(X)
    while len(y) < end:
        X = np.vstack([X, choose(X, y, rng)])
        y = np.append(y, function(X[-1:]))
    return X, np.minimum.accumulate(y)


METHODS = {
    "Kitchen Sinks, sample": by_sample,
    "Kitchen Sinks, bound": kitchen_sinks,
    "Gaussian process, bound": gaussian_process,
}
found = {
    name: [optimise(branin, 2, 8, 28, choose, seed) for seed in range(3)]
    for name, choose in METHODS.items()
}
for name, runs in found.items():
    print(f"{name:<24} median regret {np.median([best[-1] for _, best in runs]):.1e}")

# %%
# Here are the rows of one seed. After a few steps, most are near one of the three minima.

grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 101)] * 2), axis=-1)
values = branin(grid.reshape(-1, 2)).reshape(101, 101)
fig, axes = plt.subplots(1, 3, figsize=(9, 3.6), sharex=True, sharey=True)
for ax, (name, runs) in zip(axes, found.items(), strict=True):
    X, _ = runs[0]
    ax.contour(grid[..., 0], grid[..., 1], np.log(values + 1), 12, colors="0.8", linewidths=0.8)
    ax.plot(*X[:8].T, "o", color="0.5", markersize=4, label="first rows")
    ax.plot(*X[8:].T, "o", color="C1", markersize=4, label="chosen rows")
    ax.set(title=name, xlabel="first variable", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
axes[0].set_ylabel("second variable")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()

# %%
# Six variables
# -------------
#
# Hartmann's function gets 20 random rows, and 40 that are chosen. Among 1,500 candidates, few are
# near the minimum of six variables. The gradient of a sample finds it.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.7))
found_in_six = {
    name: [optimise(hartmann, 6, 20, 60, choose, seed) for seed in range(2)]
    for name, choose in METHODS.items()
}
for ax, title, each, begin in (
    (axes[0], "Branin", found, 8),
    (axes[1], "Hartmann, six variables", found_in_six, 20),
):
    for name, runs in each.items():
        course = np.median([best for _, best in runs], axis=0)
        ax.plot(np.arange(1, len(course) + 1), np.maximum(course, 1e-6), label=name)
    ax.axvline(begin, color="0.7", linewidth=1)
    ax.set(title=title, xlabel="rows", yscale="log")
axes[0].set_ylabel("median regret")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# Lines are medians, of three seeds on the left and of two on the right. Up to the grey line, rows
# are random. The benchmarks have twenty seeds: :doc:`/benchmarks/gaussian-processes`.
#
# What to try next
# ----------------
#
# - Add noise to the values. ``noise_variance_`` says how much of it the model finds.
# - Evaluate several rows at a time: draw several functions, and take the minimum of each.
# - :doc:`/guides/from-gaussian-processes` has the same loop in a few lines.
