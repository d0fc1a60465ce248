"""Ctrl-C at any moment: nothing is half done."""

import signal
import sys
import threading
from copy import copy, deepcopy
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

import trickless
from cases import CLASSIFIERS, LEARNERS, REGRESSORS, TREE_LEARNERS, answers, name_of, problem
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless._arrays.interrupts import uninterrupted
from trickless._learners.online import recipe_of
from trickless._solvers.descent.descent import Descent
from trickless._solvers.rounds.rounds import Rounds
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian

#: Learners whose fits are of several steps.
STEPS = {
    "DoublyStochastic": {"n_neurons": 24, "neurons_per_step": 6, "batch_size": 40},
    "ShrinkingGradient": {"n_neurons": 30, "batch_size": 25, "step_size": 0.04, "n_draws": 8},
    "KitchenSinks": {"n_neurons": 12},
    "BoostedTrees": {"n_trees": 4},
}
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=name_of)


class Interrupting(Gaussian):
    """Neurons that are interrupted at one of their evaluations."""

    calls_left = np.inf

    def activate(self, X, weights):
        Interrupting.calls_left -= 1
        if Interrupting.calls_left == 0:
            raise KeyboardInterrupt
        return super().activate(X, weights)


def small(learner, **params):
    kind = next(kind for kind in STEPS if name_of(learner).startswith(kind))
    params = {"neurons": Interrupting(1.0), "random_state": 0} | STEPS[kind] | params
    model = clone(learner)
    return model.set_params(**{k: v for k, v in params.items() if k in model.get_params()})


def and_copied(step, copies):
    def step_and_copy(self, *args, **options):
        step(self, *args, **options)
        copies[self.n_rounds if isinstance(self, Rounds) else self.n_steps] = deepcopy(self)

    return step_and_copy


@pytest.fixture
def after_each_step(monkeypatch):
    """Copies of a solver after each of its whole steps, by the number of rows or steps taken."""
    copies = {}
    with monkeypatch.context() as patch:
        for cls, name in ((Descent, "step"), (Rounds, "compress")):
            patch.setattr(cls, name, and_copied(getattr(cls, name), copies))
        yield copies


def models(fitted, solvers):
    """What a model would be with each of some solvers, by how far they have got."""
    name = "_rounds_" if hasattr(fitted, "_rounds_") else "_descent_"
    made = {step: copy(fitted) for step in solvers}
    for step, model in made.items():
        setattr(model, name, solvers[step])
    return made


def progress(model):
    """How far learning has got; None for a model that has not begun."""
    if not model.__sklearn_is_fitted__():
        return None
    if name_of(model).startswith("Doubly"):
        return model.n_iter_
    return model._rounds_.n_rounds if name_of(model).startswith("Shrinking") else 1


def interrupted_at(n, call, *args):
    """Whether the n-th evaluation of neurons in a call was interrupted: it had so many."""
    Interrupting.calls_left = n
    try:
        call(*args)
    except KeyboardInterrupt:
        return True
    finally:
        Interrupting.calls_left = np.inf
    return False


def same(model, other, X, y):
    """Whether two models answer the same, and do so after learning more."""
    model, other = deepcopy(model), deepcopy(other)
    np.testing.assert_array_equal(answers(model, X), answers(other, X))
    for one in (model, other):
        one.partial_fit(X[:30], y[:30])
    np.testing.assert_array_equal(answers(model, X), answers(other, X))


@every_learner
def test_an_interrupted_first_fit_leaves_whole_steps_or_nothing(
    learner, after_each_step, monkeypatch
):
    monkeypatch.setattr("trickless._functions.activations.PANEL_BYTES", 1)
    X, y = problem(learner, 300)
    fitted = small(learner).fit(X, y)
    copies, steps = models(fitted, after_each_step) or {progress(fitted): fitted}, set()
    for n in range(1, 1000):
        model = small(learner)
        untouched = dict(vars(model))
        if not interrupted_at(n, model.fit, X, y):
            break
        if (step := progress(model)) is None:
            assert vars(model) == untouched
        else:
            same(model, copies[step], X, y)
        steps.add(step)
    assert n > 3
    wanted = set(copies) if copies else set()
    # The last step of a fit is followed by no evaluation where no network is frozen.
    assert steps - {None} in (wanted, wanted - {max(wanted, default=0)})


@every_learner
def test_a_later_fit_that_is_interrupted_early_leaves_the_earlier_model(learner):
    X, y = problem(learner)
    fitted = small(learner).fit(X, y)
    expected = answers(fitted, X)
    model = deepcopy(fitted)
    first_round = 2 if name_of(learner).startswith("Shrinking") else 3
    for n in range(1, first_round):
        assert interrupted_at(n, model.set_params(random_state=1).fit, X[:, :2], y)
    model.set_params(random_state=0)
    assert set(vars(model)) == set(vars(deepcopy(fitted)))
    np.testing.assert_array_equal(answers(model, X), expected)
    same(model, fitted, X, y)


@pytest.mark.filterwarnings("ignore:.*nothing is learned")  # by so few neurons
@every_learner
def test_an_interrupted_batch_leaves_whole_steps(learner, after_each_step, monkeypatch):
    monkeypatch.setattr("trickless._functions.activations.PANEL_BYTES", 1)
    X, y = problem(learner, 300)
    begun = small(learner).partial_fit(X, y)
    before = progress(begun)
    after_each_step.clear()
    done = deepcopy(begun).partial_fit(X, y)
    copies = {before: begun} | models(done, after_each_step)
    steps = set()
    for n in range(1, 1000):
        model = deepcopy(begun)
        if not interrupted_at(n, model.partial_fit, X, y):
            break
        steps.add(progress(model))
        np.testing.assert_array_equal(answers(model, X), answers(copies[progress(model)], X))
        model.partial_fit(X, y)
    assert steps >= set(copies) - {max(copies)}


@pytest.mark.filterwarnings("ignore:.*warm_start=True with early_stopping")
def test_an_interrupted_warm_start_and_stopping_early_leave_whole_steps():
    X, y = problem(DoublyStochasticRegressor(), 300)
    params = {"neurons_per_step": 6, "batch_size": 40, "warm_start": True, "early_stopping": True}
    begun = DoublyStochasticRegressor(
        Interrupting(1.0), n_neurons=24, random_state=0, **params
    ).fit(X, y)
    expected = answers(begun, X)
    for n in range(1, 1000):
        model = deepcopy(begun).set_params(n_neurons=60)
        if not interrupted_at(n, model.fit, X, y):
            break
        assert len(model.neuron_coef_) == 6 * model.n_iter_ == 6 * len(model.loss_curve_)
        if model.n_iter_ == begun.n_iter_:
            np.testing.assert_array_equal(answers(model, X), expected)
        assert len(model.set_params(n_neurons=66).fit(X, y).neuron_coef_) == 66
    assert n > 10


def test_an_interrupted_compression_leaves_whole_rounds():
    X, y = problem(ShrinkingGradientRegressor(), 200)
    for n in range(1, 1000):
        model = small(ShrinkingGradientRegressor(), max_support=60, random_state=0)
        if not interrupted_at(n, model.fit, X, y):
            break
        if progress(model) is not None:
            assert len(model._rounds_.support) == len(model._rounds_.coefficients) <= 85
            assert np.isfinite(model.predict(X)).all()
            model.partial_fit(X, y)
            assert len(model._rounds_.support) == len(model._rounds_.coefficients) <= 85
    assert n > 10


def signalled(n, call, *args):
    """A call with a Ctrl-C at the n-th line of this package; whether there are so many."""
    folder, lines = str(Path(trickless.__file__).parent), iter(range(n))
    parts = ("rounds.py", "compression.py", "coefficients.py", "growing.py", "online.py",
             "descent.py", "doubly_stochastic.py", "kitchen_sinks.py", "sums.py",
             "statistics.py", "ridge.py", "streams.py")  # fmt: skip

    def trace(frame, event, arg):
        if not frame.f_code.co_filename.startswith(folder):
            return None
        ours = event == "line" and frame.f_code.co_filename.endswith(parts)
        if ours and next(lines, None) == n - 1:
            signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call(*args)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return next(lines, None) is None  # it came, and was put off beyond the call


@pytest.mark.parametrize("learner", [*REGRESSORS, CLASSIFIERS[1], *TREE_LEARNERS], ids=name_of)
def test_ctrl_c_at_any_line_of_a_batch_leaves_whole_steps(learner, after_each_step):
    X, y = problem(learner, 60)
    begun = small(learner, neurons=Gaussian(1.0)).partial_fit(X, y)
    before = progress(begun)
    done = deepcopy(begun).partial_fit(X[:30], y[:30])
    copies = {before: [begun]}
    for step, model in models(done, after_each_step).items():
        copies.setdefault(step, []).append(model)
    if len(copies) == 1:
        copies[before].append(done)  # a batch of sums or trees is learned or is not
    expected = {
        step: [answers(deepcopy(model), X) for model in models] for step, models in copies.items()
    }
    for n in range(1, 10_000, 3):
        model = deepcopy(begun)
        if not signalled(n, model.partial_fit, X[:30], y[:30]):
            break
        answer = answers(model, X)
        assert any(np.array_equal(answer, other) for other in expected[progress(model)]), n
        model.partial_fit(X, y)
    assert n > 50


def compress(model):
    model._rounds_.compress(recipe_of(model))


@pytest.mark.parametrize(
    "learner",
    [
        ShrinkingGradientRegressor(Gaussian(1.0), 60, n_draws=20, random_state=0),
        KernelGradientRegressor(lambda X, Y, rng: rbf_kernel(X, Y), random_state=0),
    ],
    ids=["projection", "unbiased"],
)
def test_ctrl_c_in_a_compression_leaves_the_support_before_or_after(learner):
    X, y = problem(ShrinkingGradientRegressor(), 60)
    begun = clone(learner).partial_fit(X, y)
    begun.set_params(max_support=40)
    compress(done := deepcopy(begun))
    expected = [answers(deepcopy(model), X) for model in (begun, done)]
    assert not np.array_equal(*expected)
    found = []
    for n in range(1 + isinstance(learner, KernelGradientRegressor), 10_000, 2):
        model = deepcopy(begun)
        if not signalled(n, compress, model):
            break
        answer = answers(model, X)
        (which,) = (i for i in (0, 1) if np.array_equal(answer, expected[i]))
        found.append(which)
        model.partial_fit(X, y)
    assert n > 10
    assert set(found) == {0, 1}


def test_a_signal_waits_for_the_end_of_what_belongs_together():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        done.append("inside")
    assert done == ["inside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ZeroDivisionError), uninterrupted():
        _ = 1 / 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_handlers_are_left_alone():
    def elsewhere():
        with uninterrupted():
            handlers.append(signal.getsignal(signal.SIGINT))

    handlers, came = [], []
    before = signal.signal(signal.SIGINT, lambda *_: came.append("mine"))
    try:
        mine = signal.getsignal(signal.SIGINT)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            assert came == []
        assert came == ["mine"]
    finally:
        signal.signal(signal.SIGINT, before)
    assert handlers == [mine]


def test_a_model_that_was_interrupted_continues():
    """What a notebook does: stop a long fit, look at it, and go on."""
    X, y = problem(DoublyStochasticClassifier(), 300)
    model = small(DoublyStochasticClassifier(), warm_start=True, n_neurons=60)
    assert interrupted_at(12, model.fit, X, y)
    assert 0 < model.n_iter_ < 10
    model.fit(X, y)
    assert model.n_iter_ == 10
    other = KitchenSinksRegressor(Interrupting(1.0), 10, random_state=0)
    assert interrupted_at(2, other.fit, X, X[:, 0])
    assert not other.__sklearn_is_fitted__()
