"""The model of the page "Draw a digit", which ``make docs`` writes as a module of JavaScript."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import trickless
from trickless.conformal import SplitConformal
from trickless.export import to_js
from trickless.neurons import Gaussian


def write(path):
    """Fit a model to scikit-learn's digits, and write it.

    Each image is learned unchanged, and moved by a pixel to either side, up and down. 500 images
    are not learned, and tell how many digits a set needs.
    """
    images, y = load_digits(return_X_y=True)
    images, others, y, y_others = train_test_split(
        images.reshape(-1, 8, 8), y, test_size=500, random_state=0
    )
    moved = [np.roll(images, shift, axis) for axis in (1, 2) for shift in (-1, 1)]
    X = np.concatenate([images, *moved]).reshape(-1, 64)
    model = trickless.KitchenSinksClassifier(Gaussian(), n_neurons=400, random_state=0)
    model.fit(X, np.tile(y, 5))
    conformal = SplitConformal(model).calibrate(others.reshape(-1, 64), y_others)
    to_js(conformal, path, outputs=("label", "probabilities", "set"), confidence=0.99)
