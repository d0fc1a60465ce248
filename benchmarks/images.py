"""MNIST: Kitchen Sinks on random convolutions, and on neurons that see flat rows.

- Neurons: ``Patches`` with filters from the sphere, and with larger ones from the data; the plain
  form, 256 filters without thresholds, pooled by means over 4 × 4 cells side by side, and
  ``Patches`` of the same size, 4,096 and 4,095 columns; and ``Gaussian`` with the length scale of
  ``papers/rahimi2008.py``, and as many columns as the first.
- Each is fitted to all 60,000 images, from nothing, for each of its seeds, and tested on the usual
  10,000. alpha is chosen by cross-validation in the time of the fit. All cores are used. Peak
  memory is that above where the fit began.
- The parameters of ``Patches`` were chosen on the last training images, by fits to the first 15,000
  with 2,048 columns and to the first 30,000 with 4,096.

Run as ``make bench-images``; writes ``benchmarks/results/images.json`` after each fit.
``--only NAME`` makes the fits of one kind of neurons, and leaves the others in that file alone.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import data
from circumstances import circumstances
from trickless import KitchenSinksClassifier
from trickless.cli.demo.measurement import measured
from trickless.neurons import Gaussian, Neurons, Patches, Weights

PATH = Path(__file__).parent / "results" / "images.json"
#: What is aimed at: test error, and seconds of fit and predict together.
ERROR, SECONDS = 0.009, 300


class SideBySide(Patches):
    """Patches whose cells do not overlap, without the square root: plain means over a grid."""

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> SideBySide:
        super().fit(X, rng, sample_weight)
        self._cells = [side_by_side(n, self.pool) for n in self._positions]
        return self

    def activate(self, X: Any, weights: Weights) -> Any:
        return super().activate(X, weights) ** 2


def side_by_side(n: int, g: int) -> np.ndarray:
    """Weights of g cells along n positions, which sum to 1/g: shape (g, n)."""
    inside = np.arange(n) * g // n == np.arange(g)[:, None]
    return inside / (inside.sum(axis=1, keepdims=True) * g)


class Setting(NamedTuple):
    neurons: Neurons
    n_neurons: int
    seeds: tuple[int, ...]


SETTINGS = {
    "patches": Setting(Patches(), 500, (0, 1, 2)),
    "patches, data": Setting(Patches(patch=11, filters="data"), 500, (0,)),
    "patches, fewer": Setting(Patches(), 455, (0,)),
    "side by side": Setting(SideBySide(pool=4, threshold=0.0), 256, (0,)),
    "gaussian": Setting(Gaussian(6.0), 2250, (0,)),
}


def fitted(setting: Setting, seed: int, split: data.Split) -> dict[str, float]:
    """Seconds and peak memory of learning and predicting, and the test error."""
    model = KitchenSinksClassifier(setting.neurons, setting.n_neurons, random_state=seed)
    with measured() as fit:
        model.fit(split.X_train, split.y_train)
    with measured() as predict:
        predicted = model.predict(split.X_test)
    return {
        "seed": seed,
        "error": float(np.mean(predicted != split.y_test)),
        "fit_seconds": fit.seconds,
        "predict_seconds": predict.seconds,
        "peak_mib": fit.peak_mib,
        "columns": len(model.statistics_.z_sum),
    }


def aim(runs: list[dict[str, float]]) -> dict[str, Any]:
    """Whether every seed is within the error and the time that were aimed at."""
    error = max(run["error"] for run in runs)
    seconds = max(run["fit_seconds"] + run["predict_seconds"] for run in runs)
    wanted = {"error": ERROR, "seconds": SECONDS}
    return {
        "wanted": wanted,
        "largest_error": error,
        "most_seconds": seconds,
        "met": error <= ERROR and seconds <= SECONDS,
    }


def run(names: list[str]) -> None:
    split = data.mnist()
    result = json.loads(PATH.read_text()) if PATH.exists() else {"settings": {}}
    for name in names:
        setting, runs = SETTINGS[name], []
        for seed in setting.seeds:
            runs.append(fitted(setting, seed, split))
            result["settings"][name] = {
                "neurons": repr(setting.neurons),
                "n_neurons": setting.n_neurons,
                "circumstances": circumstances(),
                "runs": runs,
                "aim": aim(runs),
            }
            PATH.write_text(json.dumps(result, indent=1) + "\n")
            print(f"{name:<16}", *(f"{key} {value:.4g}" for key, value in runs[-1].items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=list(SETTINGS), help="the fits of one kind of neurons")
    only = parser.parse_args().only
    run([only] if only else list(SETTINGS))
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
