"""What holds for every family and every learner."""

import os
import pickle
import re
import subprocess
import sys
from copy import deepcopy
from inspect import signature
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone, is_regressor

import rounding
import trickless
import trickless._arrays.threads
import trickless._functions.network
import trickless._learners.kitchen_sinks
from cases import (
    EVERY,
    FAMILIES,
    SOME,
    SPARSE,
    answers,
    inputs,
    name_of,
    problem,
    shots,
    suited,
)
from fit_everything import coefficients, make, medians, steps_of
from trickless import save
from trickless._functions.stream import BLOCK
from trickless.neurons import Gaussian

REGRESSORS = [learner for learner in EVERY if is_regressor(learner)]
CLASSIFIERS = [learner for learner in EVERY if not is_regressor(learner)]

every_learner = pytest.mark.parametrize("learner", EVERY, ids=name_of)


def every_step_of(families, *ways, without=()):
    """Learners and families, where each family meets both ways of learning, or the named one."""
    return pytest.mark.parametrize(
        ("learner", "family"),
        [
            pytest.param(learner, family, id=f"{name_of(learner)}-{family}")
            for learner, family in steps_of(families, *ways)
            if not name_of(learner).startswith(without)
        ],
    )


every_step = every_step_of(FAMILIES)
every_family = every_step_of(FAMILIES, "KitchenSinks")
every_sparse_step = every_step_of(SPARSE)
every_step_of_sums = every_step_of(FAMILIES, without=("Doubly", "Shrinking"))


def as_drawn(learner):
    """Options by which neurons are not chosen, and no rows are held out.

    Rounding may decide which of two cuts is chosen that are as good. The rows that are held out
    depend on how many there are.
    """
    options = {"n_candidates": 1, "early_stopping": False}
    return {name: value for name, value in options.items() if hasattr(learner, name)}


def assert_independent_of_other_rows(answer, X, bound):
    """Of the rows beside it, their number, their order and how they lie in memory."""
    whole = answer(X)
    # The bound would show a factor of two.
    assert np.median(bound / np.abs(whole)) < 0.1
    for some in ([3], [3, 4], np.arange(5, 38), np.arange(len(X))[::-1], np.arange(1, len(X))):
        assert (np.abs(answer(X[some]) - whole[some]) <= bound[some]).all()
    assert (np.abs(answer(np.asfortranarray(X)) - whole) <= bound).all()


@every_step
def test_an_answer_does_not_depend_on_the_rows_beside_it(learner, family):
    """By more than rounding; trees alone have the same bits, since their sums are loops of ours."""
    X, y = problem(learner, rows=160)
    X = suited(family, X)
    model = make(learner, family)
    if hasattr(learner, "neurons_per_step"):  # "auto" may be tiny, and coefficients cancel
        model.set_params(alpha=0.01)
    model.fit(X, y)
    network, targets, dtype = model.network_, model._targets_, model._rows_.dtype
    shown = np.abs(targets.shown(np.eye(network.n_outputs)))
    bound = rounding.of_network(network, X, dtype) @ shown
    bound *= not network.neurons._one_hot
    if learner in REGRESSORS:
        bound = bound[:, 0]
    assert_independent_of_other_rows(lambda rows: answers(model, rows), X, bound)
    if hasattr(learner, "error_bars") and learner in REGRESSORS:
        deviations = lambda rows: model.predict(rows, return_std=True)[1]  # noqa: E731
        bound = rounding.of_deviations(model, X, dtype)[:, 0]
        assert_independent_of_other_rows(deviations, X, bound)


@every_step
def test_the_same_seed_gives_the_same_model(learner, family):
    X, y = problem(learner)
    X = suited(family, X)
    model = make(learner, family).fit(X, y)
    expected = answers(model, X)
    np.testing.assert_array_equal(answers(clone(model).fit(X, y), X), expected)
    np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(model)), X), expected)
    other = answers(make(learner, family).set_params(random_state=1).fit(X, y), X)
    assert not np.allclose(other, expected)


def assert_close(got, expected, tolerance):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@every_family
def test_threads_row_blocks_and_byte_budgets_change_nothing(
    learner, family, small_blocks, monkeypatch
):
    # Two panels of Kitchen Sinks. Rounds take longer, and 120 rows are two blocks or four as well.
    X, y = problem(learner, rows=120 if "Shrinking" in name_of(learner) else BLOCK + 14)
    X = suited(family, X)
    double = make(learner, family, dtype="float64").fit(X, y)
    for n_jobs, rows, n_bytes in ((1, 100, 5000), (3, 37, 0)):
        small_blocks(rows)
        monkeypatch.setattr(trickless._functions.activations, "PANEL_BYTES", n_bytes)
        monkeypatch.setattr(trickless._functions.network, "_GROUP_BYTES", n_bytes)
        with sklearn.config_context(working_memory=4 * n_bytes / 2**20):
            again = make(learner, family, dtype="float64", n_jobs=n_jobs).fit(X, y)
        assert_close(coefficients(again), coefficients(double), 1e-6)
        assert_close(answers(again, X), answers(double, X), 1e-6)
    if family in SOME:
        with sklearn.config_context(working_memory=0):
            again = answers(make(learner, family, dtype="float32", n_jobs=3).fit(X, y), X)
        monkeypatch.undo()
        single = make(learner, family, dtype="float32").fit(X, y)
        assert_close(again, answers(single, X), 1e-5)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Coefficients and answers of every learner and family, by two threads of another process.

    Its hashes differ as well: those of this process are seeded at random, or by another number.
    """
    path = tmp_path_factory.mktemp("elsewhere") / "models.npz"
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    seed = "2" if os.environ.get("PYTHONHASHSEED") != "2" else "1"
    env = os.environ | threads | {"PYTHONHASHSEED": seed}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    script = Path(__file__).parent / "support" / "fit_everything.py"
    subprocess.run([sys.executable, script, path], env=env, check=True, timeout=300)
    with np.load(path) as models:
        return dict(models)


@every_family
def test_another_process_gives_the_same_model(learner, family, elsewhere):
    X, y = problem(learner)
    X = suited(family, X)
    model = make(learner, family, dtype="float64").fit(X, y)
    name = f"{name_of(learner)} {family}"
    assert_close(elsewhere[f"{name} coef"], coefficients(model), 1e-6)
    assert_close(elsewhere[f"{name} double"], answers(model, X), 1e-6)
    if family in SOME:
        single = make(learner, family, dtype="float32").fit(X, y)
        assert_close(elsewhere[f"{name} single"], answers(single, X), 1e-5)


@every_step_of_sums
def test_batches_and_parts_may_be_merged_in_any_order(learner, family):
    X, y = problem(learner)
    X = suited(family, X)
    begun = make(learner, family, dtype="float64").partial_fit(X[:60], y[:60])  # fits the family
    whole = deepcopy(begun).partial_fit(X[60:], y[60:])
    parts = np.split(np.arange(60, 120), [25, 30])
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        model = deepcopy(begun)
        for i in order:
            model.partial_fit(X[parts[i]], y[parts[i]])
        assert_close(coefficients(model), coefficients(whole), 1e-6)
        assert_close(answers(model, X), answers(whole, X), 1e-6)

    def part(rows):
        """A model of some rows, with the family of the first."""
        model = deepcopy(begun)
        assert model.statistics_.gram.any()
        sums = vars(model.statistics_)
        names = set(sums) - {"origin", "kept", "sample"}
        sums.update({name: 0 * sums[name] for name in names}, sample=None)
        return model.partial_fit(X[rows], y[rows])

    for order in ((0, 1, 2), (2, 0, 1)):
        a, b, c = (part(parts[i]) for i in order)
        for model in (deepcopy(begun).merge(a).merge(b).merge(c), c.merge(b.merge(a)).merge(begun)):
            assert_close(coefficients(model), coefficients(whole), 1e-6)
            assert_close(answers(model, X), answers(whole, X), 1e-6)


@every_step_of_sums
def test_rows_fade_alike_in_batches_of_any_size_and_can_be_forgotten(learner, family):
    X, y = problem(learner)
    X, times = suited(family, X), np.arange(120.0)
    model = make(learner, family, dtype="float64").set_params(half_life=40)
    model.partial_fit(X[:60], y[:60], timestamps=times[:60])  # fits the family
    whole = deepcopy(model).partial_fit(X[60:], y[60:], timestamps=times[60:])
    for rows in np.split(np.arange(60, 120), [1, 30]):
        model.partial_fit(X[rows], y[rows], timestamps=times[rows])
    assert_close(coefficients(model), coefficients(whole), 1e-6)
    assert_close(answers(model, X), answers(whole, X), 1e-6)
    before, latest = answers(model, X), times[-1:]
    model.partial_fit(X[:1], y[:1], timestamps=latest).forget(X[:1], y[:1], timestamps=latest)
    assert_close(answers(model, X), before, 1e-6)


@every_family
def test_single_and_double_precision_agree(learner, family):
    X, y = problem(learner)
    X = suited(family, X)
    single = answers(make(learner, family, dtype="float32", **as_drawn(learner)).fit(X, y), X)
    double = answers(make(learner, family, dtype="float64", **as_drawn(learner)).fit(X, y), X)
    np.testing.assert_allclose(single, double, atol=2e-3 * np.abs(double).max())


@every_sparse_step
def test_sparse_rows_give_the_model_of_dense_rows(learner, family):
    X, y = problem(learner)
    X = suited(family, X)
    X = X * (inputs(*X.shape, seed=9) > -0.5)
    dense = make(learner, family, dtype="float64").fit(X, y)
    sparse = make(learner, family, dtype="float64").fit(scipy.sparse.csr_matrix(X), y)
    expected = answers(dense, X)
    atol = 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(answers(sparse, X), expected, atol=atol)
    np.testing.assert_allclose(answers(sparse, scipy.sparse.csc_matrix(X)), expected, atol=atol)


def with_nothing_chosen(learner, family):
    """Options by which neither alpha nor a length scale is chosen, by the number of rows."""
    scales = medians(make(learner, family))
    return scales | ({"alpha": 1e-3} if "Sinks" in name_of(learner) else {})


@every_step_of(FAMILIES, without=("Shrinking",))
def test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row(learner, family):
    """Also in the quantiles of columns with more than 254 values."""
    X, y = problem(learner, 400)
    X = suited(family, X)
    weight = np.arange(len(X)) % 3
    repeat = np.repeat(np.arange(len(X)), weight)
    options = {"dtype": "float64"} | as_drawn(learner) | with_nothing_chosen(learner, family)
    if hasattr(learner, "neurons_per_step"):  # what is "auto" counts rows
        options |= {"alpha": 0.01, "neurons_per_step": 64}
    weighted = make(learner, family, **options).fit(X, y, sample_weight=weight)
    repeated = make(learner, family, **options).fit(X[repeat], y[repeat])
    expected = answers(repeated, X)
    np.testing.assert_allclose(answers(weighted, X), expected, atol=1e-6 * np.abs(expected).max())


@every_learner
def test_outputs_have_the_shape_of_targets(learner):
    X, y = problem(learner)
    if learner in REGRESSORS:
        for targets in (y, y[:, None], np.column_stack([y, -y, 2 * y])):
            assert clone(learner).fit(X, targets).predict(X[:5]).shape == (5, *targets.shape[1:])
    else:
        labels = np.array(["a", "b", "c"])[y]
        model = clone(learner).fit(X, labels)
        assert set(model.predict(X)) <= set("abc")
        assert model.decision_function(X).shape == (len(X), 3)
        assert clone(learner).fit(X, y > 0).decision_function(X).shape == (len(X),)


@pytest.mark.parametrize("learner", REGRESSORS, ids=name_of)
def test_outputs_of_a_regressor_are_learned_apart(learner):
    """Several outputs together give each the model that it gets on its own."""
    X, y = problem(learner)
    if name_of(learner).startswith("Noisy"):
        pytest.skip("the outputs share the noise of one estimate, which is weighted by their norm")
    options = {"random_state": 0}
    if "estimate" in learner.get_params():
        options["estimate"] = "full"  # index sampling draws by the norm over outputs
    if "neurons" in learner.get_params():
        options["dtype"] = "float64"
        options["neurons"] = Gaussian(1.5)  # "auto" chooses one length scale for all outputs
    if name_of(learner).startswith("Boosted"):
        pytest.skip("the outputs share their trees")
    both = clone(learner).set_params(**options).fit(X, np.column_stack([y, y**2]))
    for output, target in enumerate((y, y**2)):
        alone = clone(learner).set_params(**options).fit(X, target)
        np.testing.assert_allclose(both.predict(X)[:, output], alone.predict(X), atol=1e-8)


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=name_of)
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_agree_with_predictions(learner, classes):
    if not hasattr(learner, "predict_proba"):
        pytest.skip("the hinge loss has no link")
    X, y = problem(learner)
    y = y if classes == 3 else y > 0
    model = clone(learner).set_params(random_state=0).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (len(X), classes)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-12)
    sure = p.max(axis=1) > np.sort(p, axis=1)[:, -2]
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)][sure], model.predict(X)[sure])


@every_learner
def test_more_batches_continue_where_the_first_stopped(learner):
    if not hasattr(learner, "partial_fit"):
        pytest.skip("learns from all rows at once")
    if name_of(learner).startswith("Boosted"):
        pytest.skip("takes a small step on few rows")
    X = inputs(300, 4)
    y = X[:, 0] if learner in REGRESSORS else np.digitize(X[:, 0], [-0.4, 0.4])
    model = clone(learner).set_params(random_state=0)
    extra = {} if learner in REGRESSORS else {"classes": np.unique(y)}
    if "y_range" in learner.get_params():
        model.set_params(y_range=(-10, 10))
    if name_of(learner).startswith("Doubly"):
        model.set_params(batch_size=30)
    for rows in np.array_split(np.arange(300), 10):
        model.partial_fit(X[rows], y[rows], **extra)
        answers(model, X[:3])
    assert model.score(X, y) > (0.3 if learner in REGRESSORS else 0.6)


@every_learner
def test_a_progress_bar_is_shown_on_request(learner, capsys, monkeypatch):
    monkeypatch.setattr("trickless._learners.callbacks._has_rich", lambda: False)
    X, y = problem(learner)
    clone(learner).fit(X, y)
    assert "".join(capsys.readouterr()) == ""
    clone(learner).set_params(verbose=True).fit(X, y)
    shown = capsys.readouterr().err
    assert type(learner).__name__ in shown
    # All that was announced, but for epochs, of which fewer may do.
    assert re.search(r"100%.* (\S+)/\1 ", shown.splitlines()[-1]) or "epoch/s" in shown


@every_learner
def test_a_later_batch_without_weight_changes_nothing(learner):
    if not hasattr(learner, "partial_fit"):
        pytest.skip("learns from all rows at once")
    X, y = problem(learner)
    one, other = (clone(learner).set_params(random_state=0).partial_fit(X, y) for _ in range(2))
    if "sample_weight" not in signature(one.partial_fit).parameters:
        pytest.skip("takes no weights")
    other.partial_fit(X[:9], y[:9], sample_weight=np.zeros(9))
    np.testing.assert_array_equal(answers(one, X), answers(other, X))
    with pytest.raises(ValueError, match=r"sample_weight is zero for all 9 rows.*Remedy"):
        clone(learner).partial_fit(X[:9], y[:9], sample_weight=np.zeros(9))
    if not is_regressor(learner) and "class_weight" in learner.get_params():
        weights = {label: float(i > 0) for i, label in enumerate(np.unique(y))}
        part = clone(learner).set_params(random_state=0, class_weight=weights).partial_fit(X, y)
        before = answers(part, X)
        first = y == np.unique(y)[0]
        np.testing.assert_array_equal(answers(part.partial_fit(X[first], y[first]), X), before)


def read_only(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


@every_learner
def test_models_in_memory_that_cannot_be_written_to_learn_on(learner, tmp_path):
    """As they come from a memory map, for instance in another process."""
    X, y = problem(learner, rows=300)
    options = {"n_neurons": 20, "y_range": (-9.0, 9.0)}
    options = {name: value for name, value in options.items() if hasattr(learner, name)}
    model = clone(learner).set_params(**options).fit(read_only(X[:200]), read_only(y[:200]))
    joblib.dump(model, tmp_path / "model")

    def load(mmap_mode=None):
        return joblib.load(tmp_path / "model", mmap_mode=mmap_mode)

    np.testing.assert_array_equal(answers(load("r"), X), answers(model, X))
    if hasattr(learner, "partial_fit"):
        for some in (slice(200, 210), slice(200, 300)):
            later = read_only(X[some]), read_only(y[some])
            got, expected = load("r").partial_fit(*later), load().partial_fit(*later)
            np.testing.assert_array_equal(answers(got, X), answers(expected, X))
    if hasattr(learner, "merge"):
        expected = answers(load().merge(load()), X)
        for got in (load("r").merge(load()), load().merge(load("r")), load("r").merge(load("r"))):
            np.testing.assert_array_equal(answers(got, X), expected)
    save(load("r"), tmp_path / "saved")
    saved = trickless.load(tmp_path / "saved", trusted=[shots])
    np.testing.assert_array_equal(answers(saved, X), answers(model, X))
