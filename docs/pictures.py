"""Draw pictures of the documentation: ``.venv/bin/python docs/pictures.py``.

They are for ``idea.md``, ``error-bars.md``, ``streams.md``, ``time-series.md`` and ``images.md``.
They are written to ``docs/_static``, and are the same from run to run.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_blobs

from trickless import (
    BoostedTreesRegressor,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless._arrays.series import HEAVY
from trickless.conformal import AdaptiveInterval
from trickless.inspection import estimate_kernel, occlusion_importance
from trickless.neurons import Convolutions, Gaussian, Patches, Stumps

FOLDER = Path(__file__).parent / "_static"
POINTS = np.linspace(-3, 3, 241)[:, None]
#: Colours of three stages, from early to late.
STAGES = "#9ecae1", "#4292c6", "#08306b"


def target(x):
    """The curve to learn."""
    return np.sin(3 * x) + 0.4 * x


def toy_data(n_rows, seed=0):
    """Rows in random order, and noisy values of the curve."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n_rows, 1))
    return X, target(X[:, 0]) + 0.2 * rng.standard_normal(n_rows)


def neurons():
    """Weighted neurons of two families on the left, their sums on the right."""
    X, y = toy_data(120)
    figure, axes = plt.subplots(2, 2, figsize=(7.2, 4.8), sharex=True)
    rows = (("cosines", Gaussian(length_scale=0.5), 1e-3), ("stumps", Stumps(), 1e-4))
    for (name, family, alpha), (left, right) in zip(rows, axes, strict=True):
        right.plot(X, y, ".", color="0.7", markersize=3)
        for n_neurons, colour in zip((4, 16, 400), STAGES, strict=True):
            model = KitchenSinksRegressor(family, n_neurons, alpha=alpha, random_state=5)
            model.fit(X, y)
            right.plot(POINTS, model.predict(POINTS), color=colour, label=f"{n_neurons}")
            if n_neurons == 4:
                left.plot(POINTS, terms(model), linewidth=1.3)
        left.set_title(f"4 weighted {name}")
        right.set_title(f"sums of {name}")
        right.set_ylim(-3, 3)
        right.legend(title="neurons", loc="upper left", ncols=3, fontsize=8)
    for axis in axes[1]:
        axis.set_xlabel("x")
    return figure


def terms(model):
    """What each neuron adds to the predictions at ``POINTS``: (n_points, n_neurons)."""
    network = model.network_
    weights = network.source.between(0, model.n_neurons, POINTS)
    activations = model.neurons_(POINTS, weights).reshape(len(POINTS), model.neurons_.width, -1)
    return np.einsum("xwj,jw->xj", activations, model.neuron_coef_[:, :, 0])


def kernel():
    """The kernel estimated by more and more neurons, with its error band, beside the exact one."""
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.6), sharey=True)
    origin, family = np.zeros((1, 1)), Gaussian(length_scale=1.0).fit(POINTS, None)
    exact = family.kernel(origin, POINTS)[0]
    for axis, n_neurons in zip(axes, (10, 100, 1000), strict=True):
        mean, error = estimate_kernel(family, origin, POINTS, n_neurons, random_state=1)
        low, high = mean[0] - 2 * error[0], mean[0] + 2 * error[0]
        axis.fill_between(POINTS[:, 0], low, high, alpha=0.25, linewidth=0)
        axis.plot(POINTS, mean[0], label="estimate")
        axis.plot(POINTS, exact, "k--", linewidth=1.2, label="exact")
        axis.set(title=f"{n_neurons:,} neurons", xlabel="x′")
    axes[0].set(ylabel="k(0, x′)", ylim=(-0.6, 1.6))
    axes[0].legend(loc="upper right", ncols=2, fontsize=8)
    return figure


def learners():
    """Three stages of three learners on the same rows."""
    X, y = toy_data(1000)
    family, once = Gaussian(length_scale=0.5), {"random_state": 0, "n_jobs": 1}
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.8), sharey=True)
    sinks, doubly, shrinking = axes
    for n_neurons, colour in zip((3, 10, 100), STAGES, strict=True):
        model = KitchenSinksRegressor(family, n_neurons, **once).fit(X, y)
        sinks.plot(POINTS, model.predict(POINTS), color=colour, label=f"{n_neurons} neurons")
    model = DoublyStochasticRegressor(family, 500, batch_size=20, neurons_per_step=10, **once)
    rounds = ShrinkingGradientRegressor(family, norm_bound=3, y_range=(-4, 4), **once)
    panels = (doubly, model, (1, 5, 50), "steps"), (shrinking, rounds, (1, 5, 50), "rows")
    for axis, model, stops, unit in panels:
        for start, stop, colour in zip((0, *stops), stops, STAGES, strict=False):
            for first in range(20 * start, 20 * stop, 20):
                model.partial_fit(X[first : first + 20], y[first : first + 20])
            count = stop if unit == "steps" else 20 * stop
            label = f"{count:,} {unit if count > 1 else unit[:-1]}"
            axis.plot(POINTS, model.predict(POINTS), color=colour, label=label)
    names = "Kitchen Sinks", "Doubly Stochastic", "Shrinking Gradient"
    for axis, name in zip(axes, names, strict=True):
        axis.plot(X[:150], y[:150], ".", color="0.8", markersize=3, zorder=0)
        axis.set(title=name, xlabel="x", ylim=(-2.8, 4.2))
        axis.legend(loc="upper left", fontsize=8)
    return figure


def uncertainty():
    """One panel for each kind of answer."""
    figure, axes = plt.subplots(2, 3, figsize=(7.2, 4.8))
    family, rng = Gaussian(length_scale=0.8), np.random.default_rng(0)
    once = {"n_neurons": 100, "random_state": 0, "n_jobs": 1}
    X = rng.uniform(-3, 3, (600, 1))
    y = np.sin(2 * X[:, 0]) + (0.1 + 0.25 * (X[:, 0] + 3) / 2) * rng.standard_normal(600)
    x = POINTS[:, 0]

    def band(axis, ends, title):
        axis.plot(X, y, ".", color="0.65", markersize=2, rasterized=True)
        axis.fill_between(x, *np.transpose(ends), alpha=0.35, linewidth=0)
        axis.set(title=title, xlabel="x", ylim=(-3.5, 3.5))

    plain = KitchenSinksRegressor(family, **once).fit(X, y)
    band(axes[0, 0], plain.predict_interval(POINTS, 0.9), "rows left out")
    trees = BoostedTreesRegressor(
        300, loss="quantile", quantile=[0.05, 0.95], random_state=0, n_jobs=1
    )
    band(axes[0, 1], trees.fit(X, y).predict_interval(POINTS, 0.9), "quantiles of trees")
    few = np.abs(X[:60, 0]) > 1
    gap = KitchenSinksRegressor(family, **once).fit(X[:60][few], y[:60][few])
    mean, std = gap.predict(POINTS, return_std=True)
    ends = np.stack([mean - 1.64 * std, mean + 1.64 * std], axis=1)
    band(axes[0, 2], ends, "deviations, few rows")
    axes[1, 0].plot(x, gap.sample_y(POINTS, 8), linewidth=1)
    axes[1, 0].plot(X[:60][few], y[:60][few], "k.", markersize=3)
    axes[1, 0].set(title="posterior samples", xlabel="x", ylim=(-3.5, 3.5))
    A, b = make_blobs(300, centers=[[-2, 0], [2, 0], [0, 3]], cluster_std=1.2, random_state=0)
    classifier = KitchenSinksClassifier(Gaussian(2.0), **once).fit(A, b)
    side = np.linspace(-5, 6, 120)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    sizes = classifier.predict_set(grid, 0.9).sum(axis=1).reshape(120, 120)
    axes[1, 1].contourf(side, side, sizes, [0.5, 1.5, 2.5, 3.5], cmap="Blues", alpha=0.6)
    axes[1, 1].scatter(*A.T, c=b, s=3, cmap="viridis", rasterized=True)
    axes[1, 1].set(title="sets of 1 to 3 classes", xlabel="x₁", ylabel="x₂", xticks=[], yticks=[])
    stream, widths, rows = (
        AdaptiveInterval(KitchenSinksRegressor(family, **once), window_size=300),
        [],
        [],
    )
    for i in range(150):
        noise = (0.2 if i < 75 else 0.6) * rng.standard_normal(20)
        some = rng.uniform(-3, 3, (20, 1))
        if i > 5:
            rows.append(20 * i)
            widths.append(np.mean(np.diff(stream.predict_interval(some), axis=1)))
        stream.partial_fit(some, np.sin(2 * some[:, 0]) + noise)
    axes[1, 2].plot(rows, widths)
    axes[1, 2].set(title="a stream that changes", xlabel="rows", ylabel="width", ylim=(0, None))
    for axis in axes[:, 0]:
        axis.set_ylabel("y")
    return figure


def drifting(n_rows=6000):
    """Labels that follow a product, from row 2,500 a circle, and from row 4,200 a turning line."""
    rng, time = np.random.default_rng(0), np.arange(n_rows)
    a, b = X = rng.uniform(-2, 2, (2, n_rows))
    angle = np.pi * (time - 4200) / 1800
    line = a * np.cos(angle) + b * np.sin(angle)
    side = np.select([time < 2500, time < 4200], [a * b, a**2 + b**2 - 2.5], line)
    return X.T, (side > 0) ^ (rng.random(n_rows) < 0.05)


def drift():
    """Accuracy along a stream that drifts, and the weights of half-lives that are chosen by it."""
    X, y = drifting()
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.2, 5), sharex=True)
    for half_life, colour in ((None, "0.6"), (300, "C1"), ("auto", "C0")):
        model = KitchenSinksClassifier(half_life=half_life, random_state=0)
        model.set_params(n_neurons=200).fit(X[:50], y[:50])
        right = model.predict_then_learn(X[50:], y[50:]) == y[50:]
        share = np.convolve(right, np.full(200, 1 / 200), mode="valid")
        at = np.arange(0, len(share), 10)
        top.plot(at + 250, share[at], color=colour, label=f"half_life={half_life!r}")
    top.set(ylabel="right, of 200 rows", ylim=(0.35, 1))
    top.legend(loc="lower left")
    rows, weights = model.weight_history_
    lives = model.expert_weights_["half_life"]
    shares = [weights[:, lives == life].sum(axis=1) for life in model.half_lives_]
    names = [f"{life:,.0f} rows" if life < np.inf else "none" for life in model.half_lives_]
    bottom.stackplot(rows, shares, labels=names, colors=plt.get_cmap("Blues")([0.3, 0.5, 0.7, 1.0]))
    bottom.set(xlabel="rows", ylabel="weights of half-lives", xlim=(0, len(X)), ylim=(0, 1))
    bottom.legend(loc="upper left", bbox_to_anchor=(1, 1), title="half-life")
    for axis in (top, bottom):
        for change in (2500, 4200):
            axis.axvline(change, color="C3", linestyle=":", linewidth=1)
    return figure


def beats(n_rows, seed):
    """A wave after a pulse at a random time; in class 1 the wave is upside down."""
    rng, time = np.random.default_rng(seed), np.arange(120)
    y, start = rng.integers(2, size=n_rows), rng.uniform(20, 60, (n_rows, 1))
    pulse = np.exp(-(((time - start) / 3) ** 2))
    wave = np.exp(-(((time - start - 30) / 6) ** 2))
    X = 2 * pulse + 0.5 * np.where(y == 0, 1, -1)[:, None] * wave
    return X + 0.2 * rng.standard_normal((n_rows, 120)), y


def series():
    """Series of two classes, responses of four kernels along one, and where a model looks."""
    X, y = beats(200, 0)
    model = KitchenSinksClassifier(Convolutions(), 100, random_state=0, n_jobs=1).fit(X, y)
    rows = [np.flatnonzero(y == label)[:3] for label in (0, 1)]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7.2, 3.2))
    for label, some in enumerate(rows):
        for i, row in enumerate(some):
            left.plot(X[row] - 3 * (3 * label + i), color=f"C{label}", linewidth=1)
    left.set(title="two classes", xlabel="time", yticks=[])
    row, responses = rows[0][0], []
    padded = np.pad(X[row] - X[row].mean(), 16)
    reached = np.stack([padded[4 * i : 4 * i + 120] for i in range(9)])
    for heavy in HEAVY[[0, 30, 55, 80]]:
        weights = np.where(np.isin(np.arange(9), heavy), 2, -1)
        responses.append(weights @ reached)
        middle.plot(responses[-1], linewidth=0.8)
    middle.plot(X[row] + 9, color="0.2", linewidth=1)
    middle.plot(np.max(responses, axis=0), color="0.2", linewidth=1.2, linestyle=":")
    middle.set(title="responses of four kernels", xlabel="time", yticks=[])
    for i, row in enumerate([*rows[0][:2], rows[1][0]]):
        found = occlusion_importance(model, X[[row]], window_size=16)[0]
        right.plot(X[row] - 4 * i, color="0.2", linewidth=1)
        extent = -0.5, 119.5, -4 * i - 1.5, -4 * i + 2.5
        # The darkest third of the colours is left out, so that lines stay in sight on them.
        colours = {"cmap": "Oranges", "vmin": 0, "vmax": 1.5 * found.max()}
        right.imshow(found[None], aspect="auto", extent=extent, **colours)
    right.set(title="where the model looks", xlabel="time", yticks=[], ylim=(-9.5, 2.5))
    return figure


def images():
    """Draw digits in the first row, filters in the first column, and where filters respond."""
    X, y = load_digits(return_X_y=True)
    some = X[[np.flatnonzero(y == digit)[0] for digit in (0, 1, 2, 3, 4, 7)]]
    family = Patches((8, 8), patch=3, pool=6, filters="whitened")
    family.fit(X, np.random.default_rng(0))
    filters, thresholds = family.draw(np.random.default_rng(3), 3)
    maps = family(some, (filters, thresholds)).reshape(6, 6, 6, 3)
    figure, axes = plt.subplots(4, 7, figsize=(7.2, 4.2))
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
    axes[0, 0].set_axis_off()
    for digit, ax in enumerate(axes[0, 1:]):
        ax.imshow(some[digit].reshape(8, 8), cmap="gray_r")
    for neuron, (first, *others) in enumerate(axes[1:]):
        size = np.abs(filters[neuron]).max()
        first.imshow(filters[neuron].reshape(3, 3), cmap="RdBu_r", vmin=-size, vmax=size)
        first.set_ylabel(f"neuron {neuron + 1}")
        largest = maps[..., neuron].max()
        for digit, ax in enumerate(others):
            ax.imshow(maps[digit, :, :, neuron], cmap="viridis", vmin=0, vmax=largest)
    axes[1, 0].set_title("filter")
    return figure


def main():
    """Write the pictures."""
    plt.style.use("trickless.style")
    plt.rcParams["svg.hashsalt"] = "trickless"
    pictures = {
        "idea-neurons": neurons,
        "idea-kernel": kernel,
        "idea-learners": learners,
        "uncertainty": uncertainty,
        "drift": drift,
        "series": series,
        "images": images,
    }
    for name, draw in pictures.items():
        figure = draw()
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
