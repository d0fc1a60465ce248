"""The model of the page "Draw a digit", which ``make docs`` writes as a module of JavaScript."""

import numpy as np
from sklearn.datasets import load_digits

import trickless
from trickless.neurons import Gaussian


def write(path):
    """Fit a model to scikit-learn's digits, and write it.

    Each image is learned unchanged, and moved by a pixel to either side, up and down.
    """
    images, y = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8)
    moved = [np.roll(images, shift, axis) for axis in (1, 2) for shift in (-1, 1)]
    X = np.concatenate([images, *moved]).reshape(-1, 64)
    model = trickless.KitchenSinksClassifier(Gaussian(), n_neurons=400, random_state=0)
    trickless.to_js(model.fit(X, np.tile(y, 5)), path)
