"""A live loop: batches arrive, a model predicts each with error bars and then learns from it.

The model is kept in a file after every few batches, written whole or not at all. Stop the loop
with Ctrl-C, or end its process, and start it again: it goes on from the file. Kitchen Sinks sum up
what they have seen, so memory stays the same however long the stream is, and the model is that of
one fit to all rows. Their error bars (``return_std=True``) are those of a Bayesian linear model of
the activations, for where the next target will fall: wide where there were few rows.

Run as ``python examples/stream.py [FILE]``; it ends after ``BATCHES`` batches in all.
"""

import sys
from pathlib import Path

import numpy as np

import trickless
from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

BATCHES, ROWS, SAVE_EVERY, SHOW_EVERY = 60, 200, 10, 5
INPUTS, NOISE = 4, 0.1
FILE = "stream.trickless"


def batches(start):
    """Rows and targets of batch ``start`` and those after it, as a sensor would send them."""
    for number in range(start, BATCHES):
        rng = np.random.default_rng(number)
        X = rng.uniform(-2, 2, (ROWS, INPUTS))
        y = np.sin(2 * X[:, 0]) * X[:, 1] + np.cos(X[:, 2] + X[:, 3])
        yield number, X, y + NOISE * rng.standard_normal(ROWS)


def main(path=FILE):
    """Run the loop, and print how good predictions and error bars were before learning."""
    path = Path(path)
    if path.exists():
        model = trickless.load(path)
    else:
        model = KitchenSinksRegressor(Gaussian(length_scale=1.5), n_neurons=300, random_state=0)
    start = getattr(model, "batches_learned_", 0)
    print(f"{'batch':>6}{'rows so far':>13}{'error':>9}{'error bar':>11}{'inside 2 bars':>15}")
    for number, X, y in batches(start):
        if number:
            mean, std = model.predict(X, return_std=True)
            distance = np.abs(y - mean)
            if number % SHOW_EVERY == 0:
                error, inside = np.sqrt(np.mean(distance**2)), np.mean(distance < 2 * std)
                shown = f"{number:>6}{number * ROWS:>13,}{error:>9.3f}{std.mean():>11.3f}"
                print(f"{shown}{inside:>14.0%}", flush=True)
        model.partial_fit(X, y)
        model.batches_learned_ = number + 1
        if (number + 1) % SAVE_EVERY == 0:
            trickless.save(model, path)
    print(f"{BATCHES} batches are learned, and the model is in {path}; delete it to begin again.")
    return model


if __name__ == "__main__":
    main(*sys.argv[1:])
