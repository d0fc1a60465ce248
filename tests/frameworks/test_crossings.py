"""What goes between the host and the device of torch tensors, counted without a graphics card."""

import pickle

import numpy as np
import pytest
import sklearn
import torch
from sklearn.base import clone

from cases import LEARNERS, answers, name_of, problem
from crossings import counting
from devices import DEVICES
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
)
from trickless._arrays.growing import Growing
from trickless._arrays.places import place_of
from trickless._functions.stream import NeuronStream
from trickless._solvers.named_losses import make_loss
from trickless.neurons import Gaussian

#: A step of each loss that works on devices.
STEPS = {
    **{loss: DoublyStochasticRegressor(loss=loss) for loss in ("squared_error", "huber")},
    "epsilon_insensitive": DoublyStochasticRegressor(loss="epsilon_insensitive"),
    **{loss: DoublyStochasticClassifier(loss=loss) for loss in ("log_loss", "hinge")},
    "squared_hinge": DoublyStochasticClassifier(loss="squared_hinge"),
}
NEURONS = Gaussian(length_scale=2.0)


@pytest.fixture(autouse=True)
def dispatched(monkeypatch):
    """scikit-learn leaves arrays where they are; it wants SciPy to have been told as well."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


def tensor(array, device="cpu"):
    return torch.tensor(np.asarray(array), device=device)


def counted(learner, rows=256, **options):
    """What a fit to tensors counts."""
    X, y = problem(learner, rows)
    X, y = tensor(X.astype(np.float32)), tensor(y)
    model = clone(learner).set_params(neurons=NEURONS, random_state=0, **options)
    clone(model).fit(X, y)  # which leaves its constants on the device
    with counting() as counts:
        model.fit(X, y)
    return counts


def difference(learner, fewer, more, **options):
    """What the further steps or rows of a longer fit count."""
    a, b = (counted(learner, **options, **each).numbers() for each in (fewer, more))
    return {name: b[name] - a[name] for name in a}


@pytest.mark.parametrize("loss", STEPS)
def test_a_plain_step_does_not_wait_for_the_device(loss):
    options = {"schedule": "inverse", "batch_size": 64, "neurons_per_step": 8}
    # Within a block of 256 neurons, so that no weights are moved.
    more = difference(STEPS[loss], {"n_neurons": 80}, {"n_neurons": 240}, **options)
    assert more["launched"] > 20 * 10
    assert more["waits"] == more["to_host"] == more["to_device"] == 0


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_a_step_on_a_block_waits_for_its_factorisation_and_its_length(loss):
    options = {"schedule": "block", "batch_size": 128, "neurons_per_step": 8}
    more = difference(STEPS[loss], {"n_neurons": 80}, {"n_neurons": 240}, **options)
    steps = 20
    assert more["factorised"] == steps
    assert more["waits"] == 3 * steps  # Cholesky's check, sums of slopes, the mean of the diagonal
    assert more["to_host"] == steps
    assert more["host_bytes"] <= 512 * steps


def test_a_step_with_weights_of_rows_does_not_wait_either():
    X, y = problem(DoublyStochasticRegressor(), 256)
    weight = np.linspace(0.5, 1.5, 256)
    waits = []
    for n_neurons in (80, 240):
        model = DoublyStochasticRegressor(
            NEURONS, n_neurons, schedule="inverse", batch_size=64, neurons_per_step=8
        )
        with counting() as counts:
            model.fit(tensor(X), tensor(y), tensor(weight))
        waits.append(counts.waits)
    assert waits[0] == waits[1]


def test_early_stopping_waits_once_at_each_look(monkeypatch):
    monkeypatch.setattr("trickless._solvers.early_stopping._PATIENCE", 1000)
    options = {"schedule": "inverse", "batch_size": 256, "neurons_per_step": 8}
    options |= {"early_stopping": True}
    more = difference(STEPS["huber"], {"n_neurons": 80}, {"n_neurons": 240}, **options)
    assert more["waits"] == more["to_host"] == 20  # looks, of which one follows each step here
    assert more["to_device"] == 0


def test_weights_of_several_blocks_are_moved_together():
    options = {"schedule": "inverse", "batch_size": 256}
    step = (
        {"n_neurons": 256, "neurons_per_step": 256},
        {"n_neurons": 1024, "neurons_per_step": 1024},
    )
    # The first block is there already, for the size of the first step.
    assert difference(STEPS["huber"], *step, **options)["to_device"] == 1
    sinks = {"n_neurons": 64}, {"n_neurons": 600}
    assert difference(KitchenSinksRegressor(alpha=1e-3), *sinks, rows=64)["to_device"] == 0


@pytest.mark.parametrize("learner", [KitchenSinksRegressor(), KitchenSinksClassifier()])
def test_a_panel_of_kitchen_sinks_does_not_wait(learner, monkeypatch):
    monkeypatch.setattr("trickless._functions.activations.PANEL_BYTES_ON_DEVICE", 0)  # 256 rows
    monkeypatch.setattr("trickless._solvers.least_squares.row_sample.ROWS", 100)
    few, many = {"rows": 512}, {"rows": 2560}
    more = difference(learner, few, many, n_neurons=60, alpha=1e-3)
    assert more["waits"] == more["to_host"] == 0
    assert more["to_device"] == 8  # targets of a panel


@pytest.mark.parametrize("alpha", [1e-3, "auto"])
def test_kitchen_sinks_factorises_once(alpha):
    counts = counted(KitchenSinksRegressor(alpha=alpha), n_neurons=40, rows=1000)
    assert counts.factorised == 1


def test_a_prediction_waits_no_longer_for_more_neurons():
    X, y = problem(DoublyStochasticRegressor())
    waits, transfers = [], []
    for n_neurons in (64, 600):
        model = DoublyStochasticRegressor(NEURONS, n_neurons, random_state=0)
        model.fit(tensor(X), tensor(y))
        with counting() as counts:
            model.predict(tensor(X))
        waits.append(counts.waits)
        transfers.append(counts.to_device)
    assert waits[0] == waits[1]
    assert transfers[0] == transfers[1]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cache_bytes", [0, 2**12, 2**28])
def test_neurons_on_a_device_are_those_of_the_host(cache_bytes, device):
    X, _ = problem(DoublyStochasticRegressor())
    family = Gaussian(2.0).fit(X, np.random.default_rng(0))
    host = NeuronStream(family, 0, np.float32, cache_bytes)
    there, place = NeuronStream(family, 0, np.float32, cache_bytes), place_of(tensor(X, device))
    for _ in range(2):
        for start, stop in [
            (0, 100),
            (300, 301),
            (250, 900),
            (0, 4000),
            (2048, 4096),
            (5000, 5001),
        ]:
            (expected,) = host.between(start, stop)
            (got,) = there.between(start, stop, place)
            np.testing.assert_array_equal(got.cpu(), expected)
            for n_together in (1, 3, 8):
                ends = start
                for where, (some,) in there.pieces(start, stop, place, n_together):
                    assert where.start == ends
                    ends = where.stop
                    part = expected[where.start - start : where.stop - start]
                    np.testing.assert_array_equal(some.cpu(), part)
                assert ends == stop


def losses():
    for name in ("squared_error", "huber", "epsilon_insensitive"):
        yield make_loss(name), "numbers"
    for name in ("hinge", "squared_hinge", "log_loss"):
        yield make_loss(name), "labels"
    yield make_loss("log_loss", 3), "classes"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("loss", "kind"), list(losses()))
def test_losses_on_tensors_are_those_of_numpy(loss, kind, device):
    assert loss.on_devices
    rng = np.random.default_rng(0)
    f = 3 * rng.standard_normal((200, 3))
    f[:4] *= 100  # where exponentials overflow
    y = rng.standard_normal((200, 3))
    if kind == "labels":
        y = np.sign(y)
    elif kind == "classes":
        y = np.where(y == y.max(axis=1, keepdims=True), 1.0, -1.0)
    unit = np.array([0.5, 1.0, 2.0])
    there = tensor(f, device), tensor(y, device)
    for method, of in (("value", ()), ("derivative", ()), ("bend", (unit,)), ("newton", (unit,))):
        expected = getattr(loss, method)(f, y, *of)
        got = getattr(loss, method)(*there, *(tensor(each, device) for each in of))
        pairs = zip(got, expected, strict=True) if of else [(got, expected)]
        for one, wanted in pairs:
            assert isinstance(one, torch.Tensor)
            np.testing.assert_allclose(one.cpu(), wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("schedule", ["inverse", "block"])
def test_steps_that_diverge_are_told(schedule, device):
    X, y = problem(DoublyStochasticRegressor())
    options = {"schedule": schedule, "neurons_per_step": 8, "n_neurons": 800}
    model = DoublyStochasticRegressor(NEURONS, step_size=100.0, random_state=0, **options)
    for rows, targets in ((X, y), (tensor(X, device), tensor(y, device))):
        with pytest.raises(
            ValueError, match=r"training diverged within .* Remedy: step_size|block"
        ):
            clone(model).fit(rows, targets)


WORKING = [m for m in LEARNERS if name_of(m).startswith("Doubly")]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_a_stream_goes_on_elsewhere(learner, device):
    """A model of tensors continues from a pickle on the host, as if it had begun there."""
    X, y = problem(learner)
    classes = {"classes": np.unique(y)} if hasattr(learner, "predict_proba") else {}
    options = {"dtype": "float64", "random_state": 0, "neurons": NEURONS, "alpha": 1e-2}
    here, there = (clone(learner).set_params(**options) for _ in range(2))
    here.partial_fit(X, y, **classes)
    there.partial_fit(tensor(X, device), tensor(y, device), **classes)
    before, coef = there.network_, there.neuron_coef_
    moved = pickle.loads(pickle.dumps(there))
    assert type(moved._descent_.coef) is Growing
    np.testing.assert_array_equal(moved.neuron_coef_, coef)
    for model, rows in ((here, X), (moved, X), (there, tensor(X, device))):
        model.partial_fit(rows, tensor(y, device) if rows is not X else y)
    expected = answers(here, X)
    np.testing.assert_allclose(answers(moved, X), expected, atol=1e-9)
    np.testing.assert_allclose(answers(there, tensor(X, device)).cpu(), expected, atol=1e-9)
    np.testing.assert_array_equal(before.coef, coef)
    np.testing.assert_allclose(there.loss_curve_, here.loss_curve_, atol=1e-9)
