"""MNIST, two classes: Shrinking Gradient learns online with random convolutional networks.

The case that the paper of Shrinking Gradient is about: neurons that can be drawn and evaluated, and
whose kernel nobody knows. A neuron is a small convolutional network with random weights
(``Centred``) on images of 14 × 14, means of 2 × 2 pixels. The task is whether a digit is odd.

- Stream: the 60,000 training images, once, in their order. Learners are stopped at growing numbers
  of rows (``STOPS``).
- Shrinking Gradient draws its neurons anew for every batch and throws them away. One run keeps
  every row, and ends after 20,000 rounds; one bounds its support by projections. Estimates are full
  sums, and parameters the defaults but for the number of draws. For a test the function is frozen
  into ``FROZEN`` neurons.
- Kitchen Sinks draw K of the same neurons once, keep sums, and are solved at every stop.
- Online error: the share of rows, from one stop to the next, that were misclassified before they
  were learned. Shrinking Gradient answers by the noisy estimate of the round; Kitchen Sinks by the
  solution of the stop before.
- Seconds are those of learning. The estimates of Shrinking Gradient are part of it; of Kitchen
  Sinks the solutions are, and the predictions not. Tests are apart from both.
- The family was chosen on training images alone: of filters less their negatives, and activations
  with and without a centre and of several scales, by what descent of the squared loss on the first
  6,000 makes of the last 2,000. The numbers of draws and of support points were not searched.

Run as ``make bench-online-images``; writes ``benchmarks/results/online_images.json`` and ``.png``
in about 10 minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import data
from circumstances import circumstances
from pictures import WIDTH, plain_numbers, redraw
from trickless import KitchenSinksClassifier, ShrinkingGradientClassifier
from trickless.neurons import Patches
from trickless.neurons.base import Weights

PATH = Path(__file__).parent / "results" / "online_images.json"
STOPS = (250, 500, 1000, 2000, 3500, 5000, 7500, 10_000, 15_000, 20_000, 30_000, 40_000, 60_000)
TESTED = (1000, 5000, 20_000, 60_000)
FROZEN, DRAWS = 2000, 128
CENTRE = 32
#: Shape of the images, and side of a patch.
IMAGES = (14, 14), 5


class Centred(Patches):
    """A random convolution, rectified and pooled, less its mean over training images, of norm 1.

    Rectified responses are all positive: without the centre, one direction, the mean, has nearly
    all of the kernel, and descent down the others is slow. The mean is over ``CENTRE`` images.
    """

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Centred:
        super().fit(X, rng, sample_weight)
        self.some_rows_ = X[rng.choice(len(X), min(len(X), CENTRE), replace=False)]
        return self

    def activate(self, X: Any, weights: Weights) -> np.ndarray:
        Z = super().activate(X, weights) - self._centre(X, weights)
        return unit(Z.reshape(len(X), self.width, -1)).reshape(Z.shape)

    def activate_pairs(self, X: Any, weights: Weights) -> np.ndarray:
        centre = self._centre(X, weights).reshape(self.width, -1).T
        return unit(super().activate_pairs(X, weights) - centre)

    def _centre(self, X: Any, weights: Weights) -> np.ndarray:
        return super().activate(self.some_rows_.astype(X.dtype), weights).mean(axis=0)


def unit(Z: np.ndarray) -> np.ndarray:
    """Scale to length 1 along the second axis; zeros remain."""
    norms = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(norms > 0, norms, 1)


def shrinking_gradient(max_support: int | None) -> ShrinkingGradientClassifier:
    return ShrinkingGradientClassifier(
        Centred(*IMAGES),
        n_neurons=FROZEN,
        n_draws=DRAWS,
        estimate="full",
        max_support=max_support,
        random_state=0,
    )


def kitchen_sinks(n_neurons: int) -> KitchenSinksClassifier:
    return KitchenSinksClassifier(Centred(*IMAGES), n_neurons, random_state=0)


#: Learners, and how many rows they learn.
LEARNERS: dict[str, tuple[Any, int]] = {
    "Kitchen Sinks, K = 100": (kitchen_sinks(100), 60_000),
    "Kitchen Sinks, K = 400": (kitchen_sinks(400), 60_000),
    "Shrinking Gradient, 4,096 points": (shrinking_gradient(4096), 60_000),
    "Shrinking Gradient, every row": (shrinking_gradient(None), 20_000),
}


def load() -> data.Split:
    """Images of 14 × 14, and whether their digits are odd."""
    split = data.mnist()
    X_train, X_test = (
        X.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
        for X in (split.X_train, split.X_test)
    )
    return data.Split(X_train, split.y_train % 2, X_test, split.y_test % 2)


def online_error(model: Any, X: np.ndarray, y: np.ndarray, first: bool) -> float | None:
    """Error on rows that are not learned yet, for Kitchen Sinks; None where there is no model."""
    if first or isinstance(model, ShrinkingGradientClassifier):
        return None
    return float(np.mean(model.predict(X) != y))


def error_of_rounds(model: ShrinkingGradientClassifier, wrong: float, n_rows: int) -> float:
    """Error of the rounds of the last rows, given how many were wrong before."""
    return (float(model.online_error_.prod(axis=1).sum()) - wrong) / n_rows


def learn(name: str, split: data.Split) -> list[dict[str, Any]]:
    """Learn the stream; a report at each stop."""
    model, rows = LEARNERS[name]
    reports, seconds, wrong, start = [], 0.0, 0.0, 0
    for stop in (stop for stop in STOPS if stop <= rows):
        X, y = split.X_train[start:stop], split.y_train[start:stop]
        error = online_error(model, X, y, start == 0)
        begin = time.perf_counter()
        model.partial_fit(X, y, classes=[0, 1])
        if isinstance(model, KitchenSinksClassifier):
            model.neuron_coef_  # noqa: B018  # solves
        seconds += time.perf_counter() - begin
        if isinstance(model, ShrinkingGradientClassifier):
            error = error_of_rounds(model, wrong, stop - start)
            wrong += error * (stop - start)
        report: dict[str, Any] = {"rows": stop, "online_error": error, "seconds": seconds}
        if stop in TESTED:
            begin = time.perf_counter()
            report["test_error"] = float(np.mean(model.predict(split.X_test) != split.y_test))
            report["predict_seconds"] = time.perf_counter() - begin
        reports.append(report)
        start = stop
        print(f"{name:<34}", *(f"{key} {value}" for key, value in report.items()), flush=True)
    return reports


def draw(result: dict[str, Any]) -> Figure:
    """Online error and test error along the stream."""
    figure = Figure(figsize=(WIDTH, 3.8))
    titles = {"online_error": "Online error", "test_error": "Test error"}
    for axes, (key, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        for marker, (name, reports) in zip("os^D", result["runs"].items(), strict=True):
            some = [report for report in reports if report.get(key) is not None]
            x, y = [report["rows"] for report in some], [100 * report[key] for report in some]
            axes.loglog(x, y, marker=marker, label=name)
        axes.set(xlabel="rows learned", ylabel="misclassified (%)", title=title)
        plain_numbers(axes.yaxis)
        axes.xaxis.set_major_formatter("{x:,.0f}")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=list(LEARNERS), help="one learner; the others are kept")
    only = parser.parse_args().only
    result = json.loads(PATH.read_text()) if PATH.exists() else {"runs": {}}
    split = load()
    for name in [only] if only else list(LEARNERS):
        result["runs"][name] = learn(name, split)
        result |= {"draws": DRAWS, "frozen": FROZEN, "circumstances": circumstances()}
        PATH.write_text(json.dumps(result, indent=1) + "\n")
    redraw(draw, PATH)
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
