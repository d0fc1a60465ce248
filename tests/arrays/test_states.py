"""One thread learns while others predict, copy and save: every answer is of a whole state."""

import multiprocessing
import pickle
import sys
import threading
from copy import copy, deepcopy

import numpy as np
import pytest
from sklearn.base import clone

import trickless
from cases import EVERY, name_of, problem
from trickless import KitchenSinksRegressor
from trickless._arrays.growing import Growing, growing_like
from trickless._arrays.states import _locks, snapshot, training_lock
from trickless._learners import boosted_trees, growing_sums
from trickless.kernels import KernelGradientRegressor

#: Seconds after which something has locked up.
PATIENCE = 60
RACES = 120
SMALL = {
    "KitchenSinks": {"n_neurons": 12},
    "DoublyStochastic": {"n_neurons": 40, "neurons_per_step": 5, "batch_size": 10},
    "ShrinkingGradient": {"n_neurons": 20, "n_draws": 8, "max_support": 16},
    "KernelGradient": {"max_support": 16},
    "NoisyKernelGradient": {"max_support": 16},
}
STREAMING = [learner for learner in EVERY if hasattr(learner, "partial_fit")]
every_learner = pytest.mark.parametrize("learner", EVERY, ids=name_of)
every_stream = pytest.mark.parametrize("learner", STREAMING, ids=name_of)


@pytest.fixture(autouse=True)
def eager():
    """Threads take turns often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def small(learner):
    kind = name_of(learner).removesuffix("Regressor").removesuffix("Classifier")
    params = {"random_state": 0, "n_jobs": 1} | SMALL.get(kind, {})
    if "y_range" in learner.get_params():
        params["y_range"] = -9.0, 9.0
    return clone(learner).set_params(**params)


def batches(learner, n=3, rows=10):
    """Batches of a stream, and rows to predict. Each batch holds all classes."""
    X, y = problem(learner, n * rows)
    X, y = (np.concatenate([part[i::n] for i in range(n)]) for part in (X, y))
    parts = [(X[i * rows : (i + 1) * rows], y[i * rows : (i + 1) * rows]) for i in range(n)]
    return parts, problem(learner, 7, seed=1)[0]


def learn(model, X, y):
    """Learn from a batch; where no stream can be learned, begin anew."""
    if hasattr(model, "partial_fit"):
        more = {"classes": [0, 1, 2]} if hasattr(model, "predict_proba") or y.dtype == int else {}
        return model.partial_fit(X, y, **more)
    return model.fit(X, y)


def answer(model, X):
    return getattr(model, "decision_function", model.predict)(X)


def is_one_of(got, expected):
    return any(
        got.shape == other.shape and np.allclose(got, other, rtol=1e-6, atol=1e-7)
        for other in expected
    )


def at_once(write, *reads):
    """Call ``write`` once, and the others again and again meanwhile; what the others returned."""
    results, errors, over = [], [], threading.Event()
    start = threading.Barrier(1 + len(reads))

    def run(function, once):
        start.wait(PATIENCE)
        try:
            while True:
                value = function()
                if once:
                    break
                results.append(value)
                if over.is_set():
                    break
        except Exception as error:
            errors.append(error)
        finally:
            if once:
                over.set()

    jobs = [(write, True), *((read, False) for read in reads)]
    threads = [threading.Thread(target=run, args=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    assert not errors, errors[0]
    return results


def states(model, parts, X):
    """What a copy of a model answers before and after each batch."""
    alone = deepcopy(model)
    expected = [answer(alone, X)]
    for part in parts:
        expected.append(answer(learn(alone, *part), X))
    return expected


@every_learner
def test_predictions_beside_a_thread_that_learns_are_of_a_whole_state(learner):
    parts, X = batches(learner)
    begun = learn(small(learner), *parts[0])
    expected = states(begun, parts[1:], X)
    for _ in range(-(-RACES // len(EVERY))):
        model = deepcopy(begun)

        def write(model=model):
            for part in parts[1:]:
                learn(model, *part)

        got = at_once(write, *2 * [lambda model=model: answer(model, X)])
        for other in {values.tobytes(): values for values in got}.values():
            assert is_one_of(other, expected)
        assert is_one_of(answer(model, X), expected[-1:])


@every_learner
def test_copies_and_files_beside_a_thread_that_learns_are_whole(learner, tmp_path):
    parts, X = batches(learner)
    begun = learn(small(learner), *parts[0])
    model, expected = deepcopy(begun), states(begun, parts[1:], X)

    def write():
        for part in parts[1:]:
            learn(model, *part)

    def saved():
        path = tmp_path / "model.trickless"
        trickless.save(model, path)
        kernel = getattr(learner, "kernel", None)
        return trickless.load(path, trusted=[kernel] if callable(kernel) else [])

    ways = (lambda: pickle.loads(pickle.dumps(model)), lambda: deepcopy(model), saved)
    made = at_once(write, *ways)
    for other in made:
        assert is_one_of(answer(other, X), expected)
    if hasattr(model, "partial_fit"):
        more = states(made[0], [parts[0]], X)[-1]
        assert np.isfinite(more).all()


@every_stream
def test_threads_that_learn_take_turns_and_lose_no_batch(learner):
    parts, X = batches(learner, 2)
    expected = [
        answer(learn(learn(small(learner), *one), *other), X) for one, other in (parts, parts[::-1])
    ]
    for _ in range(4):
        model, start = small(learner), threading.Barrier(2)

        def write(part, model=model, start=start):
            start.wait(PATIENCE)
            learn(model, *part)

        threads = [threading.Thread(target=write, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert is_one_of(answer(model, X), expected)


@every_stream
def test_a_batch_that_fails_leaves_the_model_and_later_batches_as_they_are(learner):
    parts, X = batches(learner)
    model = learn(small(learner), *parts[0])
    solver = next(
        name for name in ("_sums_", "_descent_", "_rounds_", "_forest_") if hasattr(model, name)
    )
    expected = states(model, parts[1:], X)
    for i, part in enumerate(parts[1:]):
        before = getattr(model, solver)
        owner, name = type(model), "_learn"
        if solver == "_sums_":
            owner, name = growing_sums, "add_to_sums"
        elif solver == "_forest_":
            owner, name = boosted_trees, "learn_batch"
        plain = getattr(owner, name)

        def fail(*args, plain=plain, **options):
            plain(*args, **options)
            raise ZeroDivisionError

        with pytest.MonkeyPatch.context() as patch, pytest.raises(ZeroDivisionError):
            patch.setattr(owner, name, fail)
            learn(model, *part[::1])
        assert getattr(model, solver) is before
        assert is_one_of(answer(model, X), expected[i : i + 1])
        learn(model, *part)
        assert is_one_of(answer(model, X), expected[i + 1 : i + 2])


@every_stream
def test_shallow_copies_learn_apart(learner):
    parts, X = batches(learner, 4)
    model = learn(learn(small(learner), *parts[0]), *parts[1])
    expected = [states(model, [part], X)[-1] for part in parts[2:]]
    one, other = model, copy(model)
    learn(one, *parts[2])
    learn(other, *parts[3])
    assert is_one_of(answer(one, X), expected[:1])
    assert is_one_of(answer(other, X), expected[1:])


def test_merging_beside_predictions_leaves_whole_states():
    (one, other), X = batches(KitchenSinksRegressor(), 2)
    plain = KitchenSinksRegressor(trickless.neurons.Gaussian(1.0), 12, alpha=0.1, random_state=0)
    part = clone(plain).fit(*other)
    begun = clone(plain).fit(*one)
    expected = [answer(begun, X), answer(deepcopy(begun).merge(part), X)]
    for _ in range(20):
        model = deepcopy(begun)
        for got in at_once(lambda model=model: model.merge(part), lambda m=model: answer(m, X)):
            assert is_one_of(got, expected)
        assert is_one_of(answer(model, X), expected[1:])


def test_a_snapshot_stays_as_it_is():
    learner = KernelGradientRegressor(y_range=(-5, 5))
    parts, X = batches(learner)
    model = learn(learner, *parts[0])
    before, expected = snapshot(model), answer(model, X)
    learn(model, *parts[1])
    np.testing.assert_array_equal(answer(before, X), expected)
    assert not np.array_equal(answer(model, X), expected)


def test_buffers_that_share_rows_grow_apart():
    buffer = growing_like(np.zeros((1, 2)))
    buffer.append(np.arange(6.0).reshape(3, 2))
    buffer.append(np.zeros((1, 2)))  # and room for two
    view = buffer.rows
    one, other = buffer.fork(), buffer.fork()
    one.append(np.ones((1, 2)))
    other.append(np.full((1, 2), 2.0))
    buffer.append(np.full((1, 2), 3.0))
    assert [b.rows[-1, 0] for b in (one, other, buffer)] == [1, 2, 3]
    assert one.rows.base is view.base
    np.testing.assert_array_equal(view, other.rows[:4])
    one.append(np.ones((1, 2)))
    assert one.rows.base is view.base  # in the room that there was
    apart = one.copy()
    apart.rows[:] = 9.0
    assert (one.rows < 9).all()
    for _ in range(100):  # a buffer that loses its room again and again does not swell
        Growing.fork(other)
        other.append(np.zeros((0, 2)))
    assert len(other._buffer) <= 2 * len(other) + 1


def test_locks_are_neither_copied_nor_kept():
    model = KitchenSinksRegressor()
    with training_lock(model):
        assert id(model) in _locks
        assert not [value for value in vars(model).values() if "lock" in type(value).__name__]
        pickle.dumps(model), deepcopy(model), clone(model)
    key = id(model)
    del model
    assert key not in _locks


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_may_learn_although_a_thread_of_its_parent_does():
    parts, _ = batches(KernelGradientRegressor())
    model, held, done = KernelGradientRegressor(), threading.Event(), threading.Event()

    def hold():
        with training_lock(model):
            held.set()
            done.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(PATIENCE)
    child = multiprocessing.get_context("fork").Process(target=learn, args=(model, *parts[0]))
    child.start()
    child.join(20)
    done.set()
    thread.join()
    child.kill()
    assert child.exitcode == 0
