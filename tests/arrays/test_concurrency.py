"""Threads and processes at once: right answers, no deadlock, no more threads than cores."""

import multiprocessing
import pickle
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

import trickless._arrays.threads
from cases import EVERY, LEARNERS, TREE_LEARNERS, answers, inputs, name_of, problem
from trickless import KitchenSinksRegressor
from trickless._functions.network import Network
from trickless._functions.stream import StoredNeurons
from witness import Witness, fitted_answers, predicted_and_fitted, seen

#: Seconds after which something has locked up.
PATIENCE = 120


@pytest.fixture
def eager(small_blocks):
    """Many threads: little work is shared out, in small blocks, and threads take turns often."""
    small_blocks(20)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def at_once(function, n_threads=16):
    """What a function returns in each of several threads that begin together."""
    results, start = [None] * n_threads, threading.Barrier(n_threads)

    def run(i):
        start.wait(PATIENCE)
        results[i] = function()

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    return results


@pytest.mark.parametrize("learner", EVERY, ids=name_of)
def test_sixteen_threads_predict_with_one_model(learner, eager):
    X, y = problem(learner)
    model = clone(learner).set_params(random_state=0, n_jobs=2).fit(X, y)
    expected = answers(model, X)
    fresh = pickle.loads(pickle.dumps(model))  # has drawn, solved and frozen nothing yet
    for got in at_once(lambda: answers(fresh, X)):
        np.testing.assert_allclose(got, expected, atol=1e-6 * np.abs(expected).max())


def test_threads_solve_a_model_that_was_left_unsolved(eager):
    X, y = problem(LEARNERS[0])
    expected = KitchenSinksRegressor(n_neurons=60, random_state=0).fit(X, y).predict(X)
    unsolved = KitchenSinksRegressor(n_neurons=60, random_state=0).partial_fit(X, y)
    for got in at_once(lambda: unsolved.predict(X)):
        np.testing.assert_allclose(got, expected, atol=1e-6 * np.abs(expected).max())


def test_threads_that_work_at_once_share_the_cores(eager, monkeypatch, tmp_path):
    monkeypatch.setattr("trickless._arrays.threads.os.cpu_count", lambda: 4)
    neurons = Witness(str(tmp_path)).fit(inputs(5, 3), None)
    weights = neurons.draw(np.random.default_rng(0), 50)
    network = Network(neurons, StoredNeurons(weights), np.ones((50, 1, 1)), n_jobs=3)
    X = inputs(200, 3)
    with threadpool_limits(2, "blas"):
        network(inputs(2000, 3))  # a hundred blocks, in which two helpers should meet
        assert seen(tmp_path).tolist() == [[2, 1]]  # alone: the caller has two others
        expected = network(X)
        for got in at_once(lambda: network(X)):
            np.testing.assert_array_equal(got, expected)
    assert (seen(tmp_path) <= [3, 1]).all()
    assert not trickless._arrays.threads._cores._shares


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_fits_side_by_side_give_the_models_of_fits_in_turn(backend):
    jobs = [
        (clone(m).set_params(random_state=0, n_jobs=2), *problem(m))
        for m in LEARNERS + TREE_LEARNERS
    ]
    expected = [fitted_answers(clone(model), X, y) for model, X, y in jobs]
    side_by_side = Parallel(n_jobs=2, backend=backend, timeout=PATIENCE)
    got = side_by_side(delayed(fitted_answers)(*job) for job in jobs)
    for here, there in zip(expected, got, strict=True):
        np.testing.assert_allclose(there, here, atol=1e-6 * np.abs(here).max())


@pytest.mark.parametrize(
    "method", [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()]
)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_children_of_a_process_that_has_fitted_predict_and_fit(method, eager):
    jobs = []
    with threadpool_limits(2, "blas"):
        large = inputs(1000, 1000)
        large @ large  # starts the threads of BLAS, which no child has
        for learner in LEARNERS + TREE_LEARNERS:
            X, y = problem(learner)
            model = clone(learner).set_params(random_state=0, n_jobs=2).fit(X, y)
            jobs.append((model, X, y))
        expected = [answers(model, X) for model, X, _ in jobs]
        with multiprocessing.get_context(method).Pool(2) as pool:
            got = pool.starmap_async(predicted_and_fitted, jobs).get(PATIENCE)
    for here, theirs in zip(expected, got, strict=True):
        for there in theirs:
            np.testing.assert_allclose(there, here, atol=1e-6 * np.abs(here).max())


def test_the_search_over_a_grid_gives_each_fit_its_share_of_the_cores(tmp_path):
    X = inputs(4500, 5)
    y = X[:, 0]
    folders = {n_jobs: tmp_path / str(n_jobs) for n_jobs in (1, 2)}
    found = []
    for n_jobs, folder in folders.items():
        folder.mkdir()
        # 3,000 rows by 800 neurons are enough to be shared out
        model = KitchenSinksRegressor(Witness(str(folder)), 800, random_state=0, n_jobs=2)
        search = GridSearchCV(model, {"alpha": [1e-3, 1.0]}, cv=3, n_jobs=n_jobs, refit=False)
        found.append(search.fit(X, y).cv_results_["mean_test_score"])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    assert seen(folders[1]).tolist() == [[1, 1]]
    # In a process beside another, a thread of BLAS is left to each (one of all, in the tests).
    assert len(seen(folders[2])) == 2
    assert (seen(folders[2]) == [0, 1]).all()
