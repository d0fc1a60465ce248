"""Places: the host, and devices that NumPy cannot read, which array-api-strict has."""

import pickle
from types import SimpleNamespace

import array_api_strict as xp
import numpy as np
import pytest
import sklearn
from scipy.linalg import LinAlgError
from scipy.sparse import csr_matrix
from sklearn.base import clone, is_regressor
from threadpoolctl import threadpool_info, threadpool_limits

import fit_everything
import trickless
from cases import (
    CLASSIFIERS,
    EVERY,
    FAMILIES,
    KERNEL_LEARNERS,
    LEARNERS,
    SOME,
    TREE_LEARNERS,
    answers,
    inputs,
    name_of,
    problem,
    suited,
)
from trickless import DoublyStochasticClassifier, KitchenSinksClassifier, KitchenSinksRegressor
from trickless._arrays import device_algebra, places
from trickless._arrays.places import HOST, Device, place_of, to_device_of, to_host
from trickless._functions.stream import NeuronStream
from trickless.inspection import Network
from trickless.neurons import Gaussian, Neurons, Trees
from trickless.neurons.named import make_neurons

HERE, FAR, SINGLE = (xp.Device(name) for name in ("CPU_DEVICE", "device1", "no_float64"))
WORKING = [m for m in LEARNERS if not name_of(m).startswith("Shrinking")]


@pytest.fixture(autouse=True)
def dispatched(monkeypatch):
    """scikit-learn leaves arrays where they are; it wants SciPy to have been told as well."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


def put(array, where=FAR):
    array = np.asarray(array)
    if where == SINGLE and array.dtype == np.float64:
        array = array.astype(np.float32)
    return xp.asarray(array, device=where)


def host(array):
    assert isinstance(place_of(array), Device)
    return to_host(array)


def make(learner, **options):
    return clone(learner).set_params(random_state=0, **options)


@pytest.mark.parametrize("where", [HERE, FAR, SINGLE], ids=str)
@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_a_device_gives_the_model_of_numpy(learner, where):
    X, y = problem(learner)
    X = X.astype(np.float32)
    expected = answers(make(learner).fit(X, y), X)
    model = make(learner).fit(put(X, where), put(y, where))
    got = answers(model, put(X, where))
    assert place_of(got) is place_of(put(X, where))
    np.testing.assert_allclose(host(got), expected, atol=1e-4 * np.abs(expected).max())
    if where != SINGLE:  # where accuracy_score of scikit-learn 1.9 asks for double precision
        score = model.score(put(X, where), put(y, where))
        assert score == pytest.approx(make(learner).fit(X, y).score(X, y), abs=1e-5)


@pytest.mark.parametrize(
    ("learner", "family"),
    [
        *((WORKING[0], family) for family in FAMILIES if family != "dense-erf"),
        *((WORKING[1], family) for family in SOME),
    ],
)
def test_every_family_works_on_a_device(learner, family):
    X, y = problem(learner)
    X = suited(family, X)
    model = fit_everything.make(learner, family, dtype="float64")
    expected = answers(clone(model).fit(X, y), X)
    got = host(answers(model.fit(put(X), y), put(X)))
    np.testing.assert_allclose(got, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 1e-4},
        {"alpha": "auto"},
        {"search": {"neurons__length_scale": [0.5, 2.0]}},
        {"weight_bound": 3.0, "alpha": 1e-3},
        {"fit_intercept": False},
    ],
    ids=str,
)
def test_every_way_to_choose_a_ridge_works_on_a_device(options):
    learner = KitchenSinksRegressor(Gaussian(), n_neurons=60, dtype="float64")
    X, y = problem(learner, rows=120)
    expected = make(learner, **options).fit(X, y)
    model = make(learner, **options).fit(put(X), put(y))
    np.testing.assert_allclose(model.alpha_, expected.alpha_, rtol=1e-6)
    np.testing.assert_allclose(host(model.predict(put(X))), expected.predict(X), atol=1e-6)


@pytest.mark.parametrize("weight_bound", [None, 1.0])
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_losses_that_take_passes_work_on_a_device(loss, weight_bound):
    options = {"loss": loss, "alpha": 1e-2, "weight_bound": weight_bound, "tol": 1e-4}
    learner = KitchenSinksClassifier(n_neurons=30, dtype="float64", **options)
    X, y = problem(learner)
    expected = make(learner).fit(X, y).decision_function(X)
    model = make(learner).fit(put(X), y)
    np.testing.assert_allclose(host(model.decision_function(put(X))), expected, atol=5e-3)  # of tol


def test_error_bars_are_those_of_numpy():
    X, y = problem(KitchenSinksRegressor())
    expected = make(KitchenSinksRegressor(n_neurons=60, dtype="float64")).fit(X, y)
    model = make(KitchenSinksRegressor(n_neurons=60, dtype="float64")).fit(put(X), y)
    mean, std = model.predict(put(X), return_std=True)
    for got, wanted in zip((mean, std), expected.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(host(got), wanted, atol=1e-6)
    assert model.noise_variance_ == pytest.approx(expected.noise_variance_, rel=1e-4)


def test_the_posterior_is_that_of_numpy():
    X, y = problem(KitchenSinksRegressor())
    options = {"alpha": "evidence", "dtype": "float64"}
    learner = KitchenSinksRegressor(n_neurons=20, **options)
    expected, model = make(learner).fit(X, y), make(learner).fit(put(X), y)
    assert model.alpha_ == pytest.approx(expected.alpha_, rel=1e-4)
    likelihood = expected.log_marginal_likelihood_
    assert model.log_marginal_likelihood_ == pytest.approx(likelihood, rel=1e-6)
    of_rows = expected.log_marginal_likelihood(X, y)
    assert model.log_marginal_likelihood(put(X), y) == pytest.approx(of_rows, rel=1e-4)
    for ask in (
        lambda m, X: m.predict(X, return_std=True)[1],
        lambda m, X: m.predict(X, return_cov=True)[1],
        lambda m, X: m.sample_y(X, 3),
    ):
        np.testing.assert_allclose(host(ask(model, put(X))), ask(expected, X), atol=1e-3)


@pytest.mark.parametrize(
    "options",
    [
        {"early_stopping": True},
        {"schedule": "block", "neurons_per_step": 8},
        {"warm_start": True},
        {"schedule": "constant"},
    ],
    ids=str,
)
def test_every_way_to_take_steps_works_on_a_device(options):
    learner = DoublyStochasticClassifier(n_neurons=300, batch_size=40, dtype="float64", **options)
    X, y = problem(learner)
    expected, model = make(learner).fit(X, y), make(learner).fit(put(X), put(y))
    if "warm_start" in options:
        for each, rows in ((expected, X), (model, put(X))):
            each.set_params(n_neurons=600).fit(rows, y)
    np.testing.assert_allclose(model.neuron_coef_, expected.neuron_coef_, atol=1e-7)
    assert isinstance(model.neuron_coef_, np.ndarray)


@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_weights_of_rows_on_a_device_give_the_model_of_numpy(learner):
    X, y = problem(learner)
    weight = np.arange(len(X)) % 3
    expected = make(learner, dtype="float64").fit(X, y, sample_weight=weight)
    for given in (weight, put(weight)):
        model = make(learner, dtype="float64").fit(put(X), put(y), sample_weight=given)
        got = host(answers(model, put(X)))
        np.testing.assert_allclose(got, answers(expected, X), atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"schedule": "inverse"}, {"schedule": "block"}],
    ids=str,
)
def test_trees_learn_on_a_device_what_they_learn_on_the_host(options):
    options = {"n_neurons": 15, "neurons": Trees(3), "batch_size": 70} | options
    X, y = problem(WORKING[1])
    for where, dtype, atol in ((FAR, "float64", 1e-9), (SINGLE, "float32", 1e-3)):
        learner = make(DoublyStochasticClassifier(), dtype=dtype, **options)
        y_ = y > 0
        expected = clone(learner).fit(X.astype(dtype), y_)
        model = clone(learner).fit(put(X, where), put(y_, where))
        np.testing.assert_allclose(model.neuron_coef_, expected.neuron_coef_, atol=atol)
        got = host(model.decision_function(put(X, where)))
        np.testing.assert_allclose(got, expected.decision_function(X.astype(dtype)), atol=10 * atol)
        again = clone(learner).partial_fit(put(X, where), put(y_, where))
        there = clone(learner).partial_fit(X.astype(dtype), y_)
        np.testing.assert_allclose(again.neuron_coef_, there.neuron_coef_, atol=atol)


def test_labels_come_back_as_they_were_given():
    X, y = problem(CLASSIFIERS[0])
    labels = np.array(["a", "b", "c"])[y]
    expected = make(CLASSIFIERS[0]).fit(X, labels)
    got = make(CLASSIFIERS[0]).fit(put(X), labels).predict(put(X))
    np.testing.assert_array_equal(got, expected.predict(X))
    there = make(CLASSIFIERS[0]).fit(put(X), put(y)).predict(put(X))
    np.testing.assert_array_equal(np.array(["a", "b", "c"])[host(there)], got)
    p = make(CLASSIFIERS[0]).fit(put(X), labels).predict_proba(put(X))
    np.testing.assert_allclose(host(p), expected.predict_proba(X), atol=1e-5)


def moves(monkeypatch):
    """Record the sizes of arrays that go from a device to the host."""
    sizes, move = [], np.from_dlpack

    def recorded(array):
        sizes.append(np.prod(array.shape))
        return move(array)

    monkeypatch.setattr(np, "from_dlpack", recorded)
    return sizes


@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_only_thin_matrices_leave_the_device(learner, monkeypatch):
    n_rows, n_features = 2000, 6
    monkeypatch.setattr("trickless._solvers.least_squares.row_sample.ROWS", 256)
    X, y = problem(learner, n_rows, n_features)
    neurons = Gaussian(length_scale=2.0)  # which looks at no rows
    model = make(learner, neurons=neurons, alpha=1e-3, n_neurons=512)
    rows, sizes = put(X.astype(np.float32)), moves(monkeypatch)
    answers(model.fit(rows, y), rows)
    pilot = 1024 * 256 * neurons.width if name_of(learner).startswith("Doubly") else 0
    assert max(sizes) <= max(pilot, n_rows * 3)
    assert sum(size > n_rows * 3 for size in sizes) <= (2 if pilot else 0)  # eigenvalue, noise


@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_neuron_weights_are_moved_to_a_device_once(learner, monkeypatch):
    X, y = problem(learner)
    model = make(learner, n_neurons=300).fit(put(X), y)
    expected = host(answers(model, put(X)))
    monkeypatch.setattr(NeuronStream, "_draw", None)
    np.testing.assert_array_equal(host(answers(model, put(X))), expected)


def test_neuron_weights_that_do_not_fit_on_a_device_are_drawn_again():
    X, y = problem(WORKING[0])
    kept = make(WORKING[0]).fit(put(X), y)
    with sklearn.config_context(working_memory=0):
        drawn = make(WORKING[0]).fit(put(X), y)
    assert kept._stream_._at(place_of(put(X)))._kept
    assert not drawn._stream_._at(place_of(put(X)))._kept
    np.testing.assert_array_equal(host(drawn.predict(put(X))), host(kept.predict(put(X))))


@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_batches_on_a_device_are_those_of_numpy(learner):
    X, y = problem(learner)
    classes = {} if is_regressor(learner) else {"classes": np.unique(y)}
    expected, model = make(learner, dtype="float64"), make(learner, dtype="float64")
    for rows in (slice(0, 70), slice(70, 120)):
        expected.partial_fit(X[rows], y[rows], **classes)
        model.partial_fit(put(X[rows]), put(y[rows]), **classes)
    np.testing.assert_allclose(host(answers(model, put(X))), answers(expected, X), atol=1e-7)


@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_a_copy_goes_wherever_its_rows_are(learner):
    X, y = problem(learner)
    classes = {} if is_regressor(learner) else {"classes": np.unique(y)}
    model = make(learner, dtype="float64").partial_fit(put(X[:70]), y[:70], **classes)
    expected = host(answers(model, put(X)))
    copy = pickle.loads(pickle.dumps(model))
    for rows in (X, put(X), put(X, HERE)):
        np.testing.assert_allclose(to_host(answers(copy, rows)), expected, atol=1e-9)
    if hasattr(copy, "statistics_"):
        assert isinstance(copy.statistics_.gram, np.ndarray)
    copy.partial_fit(put(X[70:], HERE), y[70:])
    model.partial_fit(put(X[70:]), y[70:])
    if hasattr(copy, "statistics_"):
        assert place_of(copy.statistics_.gram) is place_of(put(X, HERE))
    got = host(answers(copy, put(X, HERE)))
    np.testing.assert_allclose(got, host(answers(model, put(X))), atol=1e-7)


@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_saved_files_hold_no_device(learner, tmp_path):
    X, y = problem(learner)
    model = make(learner, dtype="float64").fit(put(X), put(y))
    trickless.save(model, tmp_path / "model.trickless")
    again = trickless.load(tmp_path / "model.trickless")
    np.testing.assert_allclose(answers(again, X), host(answers(model, put(X))), atol=1e-9)


def test_models_fitted_on_devices_merge():
    X, y = problem(WORKING[0])
    learner = make(WORKING[0], neurons=Gaussian(2.0), dtype="float64")
    one, other = clone(learner).fit(put(X[:70]), y[:70]), clone(learner).fit(X[70:], y[70:])
    expected = clone(learner).fit(X, y).predict(X)
    np.testing.assert_allclose(host(one.merge(other).predict(put(X))), expected, atol=1e-7)
    assert place_of(one.statistics_.gram) is place_of(put(X))


def test_devices_need_no_hash(monkeypatch):
    """Those of CuPy have none, and cannot be keys."""
    X = put(np.ones(1))
    info = SimpleNamespace(dtypes=lambda device, kind: {"float64": float})
    library = SimpleNamespace(__name__="library", __array_namespace_info__=lambda: info)
    monkeypatch.setattr(places, "array_namespace", lambda X: library)
    monkeypatch.setattr(places, "device", lambda X: ["a list has no hash"])
    assert place_of(X) is place_of(X)
    assert place_of(X).has_double


def test_a_factor_beyond_a_negative_pivot_is_refused(monkeypatch):
    """Some libraries go on without a word, and what they give is finite."""
    monkeypatch.setattr(xp.linalg, "cholesky", lambda matrix: matrix)
    with pytest.raises(LinAlgError, match="not positive definite"):
        place_of(put(np.eye(2))).cholesky(put(np.diag([1.0, -1e-16])))
    matrix = put(np.eye(2))
    assert place_of(place_of(matrix).cholesky(matrix)) is place_of(matrix)


def test_tables_leave_most_rows_where_they_are(monkeypatch):
    rng = np.random.default_rng(0)
    X = put(rng.random((20_000, 16)).astype(np.float32))
    sizes = moves(monkeypatch)
    make(WORKING[0], neurons=make_neurons("tabular"), n_neurons=8).fit(X, rng.random(20_000))
    assert max(sizes) <= 16_384 * 16  # what ranks are taken from


@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_devices_are_not_mixed(learner):
    X, y = problem(learner)
    with pytest.raises(ValueError, match=r"y is an array of .*device1.* but X is one of .*CPU"):
        make(learner).fit(put(X, HERE), put(y, FAR))
    with pytest.raises(ValueError, match=r"y is an array of .* but X is one of numpy"):
        make(learner).fit(X, put(y))
    with pytest.raises(ValueError, match="sample_weight is an array of"):
        make(learner).fit(put(X), put(y), sample_weight=put(np.ones(len(y)), HERE))
    for begun, later in ((put(X), X), (X, put(X)), (put(X), put(X, HERE))):
        model = make(learner).fit(begun, y)
        for call in (answers, lambda m, rows: m.partial_fit(rows, y)):
            with pytest.raises(ValueError, match=r"X is an array of .* was begun with .*Remedy"):
                call(model, later)


@pytest.mark.parametrize("learner", [m for m in EVERY if m not in WORKING], ids=name_of)
def test_learners_that_work_on_numpy_alone_say_so(learner):
    X, y = problem(learner)
    with pytest.raises(TypeError, match=r"X is an array of .*device1.* NumPy arrays only.*Remedy"):
        clone(learner).fit(put(X), y)


def test_many_columns_are_solved_directly_on_a_device(monkeypatch):
    monkeypatch.setattr("trickless._solvers.least_squares.sums.PASSES_ABOVE", 8)
    monkeypatch.setattr("trickless._solvers.least_squares.sums.FEW_ROWS", 8)
    X, y = problem(WORKING[0])
    assert hasattr(make(WORKING[0]).fit(put(X), y), "statistics_")
    assert not hasattr(make(WORKING[0]).fit(X, y), "statistics_")


def test_functions_that_work_on_numpy_alone_refuse_device_arrays():
    X, y = problem(WORKING[0])
    with pytest.raises(TypeError, match=r"solver='iterative': X is an array of .*solver='direct'"):
        make(WORKING[0], solver="iterative").fit(put(X), y)
    neurons = Gaussian(1.0).fit(X, None)
    network = Network(neurons, NeuronStream(neurons, 0), np.ones((9, 2, 1)))
    with pytest.raises(TypeError, match=r"Network.estimate: X is an array of .*Remedy"):
        network.estimate(put(X))
    with pytest.raises(ValueError, match=r"dtype='float64', but X is an array of .*float32"):
        make(WORKING[0], dtype="float64").fit(put(X, SINGLE), y)


class NumPyOnly(Neurons):
    def draw(self, rng, n):
        return (rng.standard_normal((n, self.n_features_in_)),)

    def activate(self, X, weights):
        return np.tanh(np.asarray(X) @ weights[0].T)


class Strays(NumPyOnly):
    def activate(self, X, weights):
        return put(to_host(X) @ to_host(weights[0]).T, HERE)


def test_a_family_that_works_on_numpy_alone_is_refused():
    X, y = problem(WORKING[0])
    with pytest.raises(TypeError, match=r"Dense.activate does not work on .*Remedy"):
        make(WORKING[0], neurons="dense", neurons__activation="erf").fit(put(X), y)  # not standard
    with pytest.raises(TypeError, match=r"NumPyOnly.activate does not work on .*device1.*Remedy"):
        make(WORKING[0], neurons=NumPyOnly()).fit(put(X), y)
    with pytest.raises(TypeError, match=r"Strays.activate returned an array .*CPU.* for .*Remedy"):
        make(WORKING[0], neurons=Strays()).fit(put(X), y)


@pytest.mark.parametrize(
    "learner", [*LEARNERS[:3], *KERNEL_LEARNERS[:1], *TREE_LEARNERS], ids=name_of
)
def test_without_dispatch_arrays_are_read_as_those_of_numpy(learner):
    X, y = problem(learner)
    with sklearn.config_context(array_api_dispatch=False):
        model = clone(learner).fit(put(X, HERE), put(y, HERE))
        assert isinstance(model.predict(put(X, HERE)), np.ndarray)
        with pytest.raises(TypeError, match=r"which NumPy cannot read.*array_api_dispatch=True"):
            clone(learner).fit(put(X), y)


def test_integers_are_read_and_overflow_is_refused_on_a_device():
    X, y = problem(WORKING[0])
    whole = np.round(10 * X).astype(int)
    expected = make(WORKING[0]).fit(whole, y).predict(whole)
    got = host(make(WORKING[0]).fit(put(whole), y).predict(put(whole)))
    np.testing.assert_allclose(got, expected, atol=1e-5)
    X[0, 0] = 1e300
    with pytest.raises(ValueError, match="too large for dtype='float32'"):
        make(WORKING[0]).fit(put(X), y)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        make(WORKING[0]).fit(put(X), y)


@pytest.mark.parametrize("columns", [3, 1024])
def test_linear_algebra_on_a_device(columns, monkeypatch):
    monkeypatch.setattr(device_algebra, "_COLUMNS", columns)
    A, B = inputs(20, 8), inputs(8, 3, seed=1)
    place = place_of(put(A))
    matrix = place.plus_ridge(put(A.T @ A), np.float64(0.5))
    expected = A.T @ A + 0.5 * np.eye(8)
    np.testing.assert_allclose(host(matrix), expected)
    factor = place.cholesky(matrix)
    L = np.linalg.cholesky(expected)
    np.testing.assert_allclose(host(factor), L)
    np.testing.assert_allclose(host(place.solve_lower(factor, B)), np.linalg.solve(L, B))
    up = host(place.solve_lower(factor, B, transposed=True))
    np.testing.assert_allclose(up, np.linalg.solve(L.T, B))
    np.testing.assert_allclose(host(place.cho_solve(factor, B)), np.linalg.solve(expected, B))
    values, vectors = place.eigh(matrix)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(expected))
    np.testing.assert_allclose(host(vectors) * values @ host(vectors).T, expected, atol=1e-9)


def test_large_matrices_are_factorised_on_one_thread(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 50))
    A = A @ A.T + np.eye(50)
    seen = []

    def spy(matrix, **options):
        blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
        seen.append(max(library["num_threads"] for library in blas))
        return np.linalg.cholesky(matrix)

    np.testing.assert_allclose(HOST.cholesky(A.copy()), np.linalg.cholesky(A), atol=1e-12)
    monkeypatch.setattr(places.linalg, "cholesky", spy)
    with threadpool_limits(2, "blas"):
        HOST.cholesky(A.copy())
        monkeypatch.setattr(places, "_PARALLEL_CHOLESKY", 49)
        HOST.cholesky(A.copy())
    assert seen == [2, 1]


def test_dependent_columns_are_told_on_a_device():
    X, y = problem(WORKING[0])
    with pytest.raises(LinAlgError):
        place_of(put(np.eye(3))).cholesky(put(-np.eye(3)))
    with pytest.raises(LinAlgError):
        place_of(put(np.eye(3))).cholesky(put(np.diag([1.0, np.nan])))
    with pytest.raises(ValueError, match="linearly dependent to working precision"):
        make(WORKING[0], n_neurons=300, alpha=0).fit(put(X), y)


def test_beside_moves_only_arrays_that_are_elsewhere():
    X, there = put(np.ones((2, 2))), put(np.ones(3))
    assert to_device_of(X, there) is there
    assert place_of(to_device_of(X, put(np.ones(3), HERE))) is place_of(X)
    assert isinstance(to_device_of(np.ones(2), there), np.ndarray)
    array = np.zeros(3)
    to_device_of(X, array)[0] = 1.0
    assert array[0] == 0  # no memory is shared


@pytest.mark.parametrize(
    "X", [np.ones((2, 3)), csr_matrix(np.eye(3)), [[1.0]], np.float64(1), None]
)
def test_all_but_arrays_of_other_libraries_are_on_the_host(X):
    assert place_of(X) is HOST
    assert to_host(X) is X


def test_a_place_is_found_once_and_says_where_it_is():
    place = place_of(put(np.ones(3)))
    assert place_of(put(np.zeros((2, 2)))) is place
    assert place_of(place) is place
    assert place_of(put(np.ones(3), HERE)) is not place
    assert (str(place), str(HOST)) == (
        "array_api_strict on array_api_strict.Device('device1')",
        "numpy",
    )
    assert HOST.sized(1, 2) == 1
    assert place.sized(1, 2) == 2


@pytest.mark.parametrize(
    "place", [HOST, *map(place_of, map(put, [0.0] * 3, (HERE, FAR, SINGLE)))], ids=str
)
def test_places_have_the_same_operations(place):
    A, B = inputs(6, 4), inputs(4, 3, seed=1)
    X = place.put(A)
    assert place_of(X) is place
    assert place_of(place.double(X)) is place_of(place.zeros((2, 2))) is place.for_double
    assert (place.for_double is HOST) == (not place.has_double or place is HOST)
    atol = 1e-12 if place.has_double else 1e-5
    some = np.array([3, 0]), np.arange(6) % 2 == 0, slice(1, 99)
    for where in some:
        np.testing.assert_allclose(to_host(place.take(X, where)), A[where], atol=atol)
    assert place.astype(X, np.dtype("f4")).dtype == place.xp.float32
    assert place.put(A, place.xp.float32).dtype == place.xp.float32
    assert place.empty((2, 3), np.dtype("f4")).dtype == place.xp.float32
    assert place.empty((2, 3), X.dtype).shape == (2, 3)
    copy = place.copy(X)
    copy[0, 0] = 7.0
    np.testing.assert_allclose(to_host(X), A, atol=atol)
    np.testing.assert_allclose(place.times(B.T, place.put(B)), B.T @ B, atol=atol)
    matrix, mean = place.put(A.T @ A), A.mean(axis=0)
    np.testing.assert_array_equal(to_host(place.eye(4, matrix.dtype)), np.eye(4))
    less = place.minus_square(place.copy(matrix), mean)
    np.testing.assert_allclose(to_host(less), A.T @ A - np.outer(mean, mean), atol=10 * atol)
    ridged = A.T @ A + 0.5 * np.eye(4)
    factor = place.cholesky(place.plus_ridge(matrix, 0.5))
    np.testing.assert_allclose(to_host(matrix), A.T @ A, atol=atol)  # a copy has the ridge
    np.testing.assert_allclose(to_host(factor), np.linalg.cholesky(ridged), atol=atol)
    np.testing.assert_allclose(
        to_host(place.cho_solve(factor, B)), np.linalg.solve(ridged, B), atol=10 * atol
    )
    lower = to_host(place.solve_lower(factor, place.put(B)))
    np.testing.assert_allclose(
        lower, np.linalg.solve(np.linalg.cholesky(ridged), B), atol=10 * atol
    )
    values, vectors = place.eigh(matrix)
    assert isinstance(values, np.ndarray)
    assert place_of(vectors) is place
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A.T @ A), atol=10 * atol)


@pytest.mark.parametrize("place", [HOST, place_of(put(0.0))], ids=str)
def test_blocks_of_rows_are_in_order_and_large_on_a_device(place, monkeypatch):
    monkeypatch.setattr(places, "_ROWS_ON_DEVICE", 300)
    blocks = place.map_rows(lambda rows: rows, 1000, 50_000, 2)
    assert [i for rows in blocks for i in range(1000)[rows]] == list(range(1000))
    assert place is HOST or {rows.stop - rows.start for rows in blocks} == {300, 100}


@pytest.mark.parametrize("wrong", ["columns", "rows", "complex", "sparse", "masked"])
def test_a_block_of_activations_of_another_form_is_never_used(wrong):
    """The trial of a fit sees 64 rows; what goes wrong later must be told as well."""

    class Later(Gaussian):
        def activate(self, X, weights):
            Z = super().activate(X, weights)
            if len(X) <= 64:
                return Z
            return {
                "columns": lambda: Z[:, 1:],
                "rows": lambda: Z[1:],
                "complex": lambda: Z + 1j,
                "sparse": lambda: csr_matrix(Z),
                "masked": lambda: np.ma.array(Z),
            }[wrong]()

    X, y = problem(WORKING[0])
    with pytest.raises(TypeError, match=r"Later.activate\(X, weights\) returned .*Remedy"):
        make(WORKING[0], neurons=Later(1.0)).fit(np.tile(X, (2, 1)), np.tile(y, 2))
