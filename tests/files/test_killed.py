"""Processes that are killed: what they saved continues, as the guide "Deploy a model" says."""

import multiprocessing
import os
import signal

import numpy as np
import pytest
from sklearn.base import clone

import trickless
from cases import digest
from trickless import (
    BoostedTreesClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    ShrinkingGradientRegressor,
)
from trickless.neurons import Gaussian

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes")

STREAMS = {
    "kitchen sinks": KitchenSinksClassifier(Gaussian(1.0), 40, random_state=0),
    "forgetting": KitchenSinksClassifier(n_neurons=40, half_life="auto", random_state=0),
    "boosted trees": BoostedTreesClassifier(40, random_state=0),
    "shrinking gradient": ShrinkingGradientRegressor(
        n_neurons=30, n_draws=20, max_support=60, random_state=0
    ),
}


def rows(n=600):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def learn_and_save(model, path, stop=None):
    """Learn the batches that are left, save after each, and die after ``stop`` of them."""
    X, y = rows()
    first = getattr(model, "batches_learned_", 0)
    for number in range(first, 12):
        part = slice(50 * number, 50 * number + 50)
        named = {"classes": [0, 1]} if hasattr(model, "predict_proba") and not number else {}
        model.partial_fit(X[part], y[part], **named)
        model.batches_learned_ = number + 1
        trickless.save(model, path)
        if number + 1 == stop:
            model.partial_fit(X[:7], y[:7])  # learned and lost
            os.kill(os.getpid(), signal.SIGKILL)
    return model


def killed(function, *arguments):
    """Call a function in a process of its own, and return whether it was killed."""
    process = multiprocessing.get_context("fork").Process(target=function, args=arguments)
    process.start()
    process.join()
    return process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_is_saved_continues_to_the_same_bits(name, tmp_path):
    path = tmp_path / "model"
    assert killed(learn_and_save, clone(STREAMS[name]), path, 5)
    again = learn_and_save(trickless.load(path), path)
    assert digest(again) == digest(learn_and_save(clone(STREAMS[name]), path))


class Saver:
    """A callback that saves the model so far, and kills the process after some times."""

    def __init__(self, path, n_times):
        self.path, self.left = path, n_times

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if fitted_estimator is not None:
            trickless.save(fitted_estimator, self.path)
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def fit_and_save(model, path, X, y):
    model.set_callbacks(Saver(path, 20)).fit(X, y)


@pytest.mark.parametrize("neurons", ["gaussian", "trees"])
def test_a_fit_whose_callback_saves_goes_on_from_a_warm_start(neurons, tmp_path):
    pytest.importorskip("sklearn.callback")
    X, _ = rows()
    y, path = np.sin(2 * X[:, 0]), tmp_path / "model"
    model = DoublyStochasticRegressor(neurons, 64, neurons_per_step=1, batch_size=100)
    model.set_params(early_stopping=False, random_state=0)
    whole = clone(model).fit(X, y)
    assert killed(fit_and_save, model, path, X, y)
    saved = trickless.load(path)
    assert 0 < len(saved.neuron_coef_) < 64
    again = saved.set_params(warm_start=True).fit(X, y)
    assert len(again.neuron_coef_) == 64
    rounding = 64 * np.finfo(np.float32).eps  # of a sum over the neurons
    np.testing.assert_allclose(again.predict(X), whole.predict(X), rtol=0, atol=rounding)
