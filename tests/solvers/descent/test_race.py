"""Races of constant against linear leaves, and of oblivious against binary trees."""

import numpy as np
import pytest
from sklearn.base import clone

import trickless
from cases import digest, inputs
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor, KitchenSinksRegressor
from trickless.learners import held_out_rows
from trickless.neurons import Trees
from trickless.solvers.descent import race
from trickless.solvers.descent.passes import FitRows


def slopes(n=600, seed=0):
    """Rows with a target that is linear."""
    X = inputs(n, 3, seed)
    return X, 3 * X[:, 0] + X[:, 1]


def steps(n=600, seed=0):
    """Rows of ten numbers each, which have values in no order, beside noise."""
    rng = np.random.default_rng(seed)
    X, values = rng.integers(0, 10, (n, 3)).astype(float), [2, -1, 1, -2, 0, 2, -2, 1, -1, 0]
    return X, np.array(values)[X[:, 0].astype(int)] + 0.3 * rng.standard_normal(n)


def deep(n=2000, seed=0):
    """Rows with a sum of cuts, each node of a tree of eight levels having its own."""
    rng = np.random.default_rng(seed)
    X, y, rules = rng.random((n, 6)), np.zeros(n), np.random.default_rng(9)
    parts = [np.arange(n)]
    for _ in range(8):
        halves = []
        for rows in parts:
            right = X[rows, rules.integers(6)] > rules.uniform(0.4, 0.6)
            y[rows] += np.where(right, 1.0, -1.0)
            halves += [rows[~right], rows[right]]
        parts = halves
    return X, y


def regressor(n_neurons=60, neurons="trees", **options):
    return DoublyStochasticRegressor(neurons, n_neurons, **{"random_state": 0} | options)


def is_linear(model):
    return model.neurons_.n_inputs > 0


@pytest.fixture
def races(monkeypatch):
    """The rows of races, and the losses of their families."""

    class Races(list):
        def losses(self):
            return [lost for _, lost in self]

    def losses(descent, rows, options, *rest, plain=race.losses):
        races.append((rows, plain(descent, rows, options, *rest)))
        assert not len(descent.coef)  # it takes no steps itself
        return races[-1][1]

    races = Races()
    monkeypatch.setattr(race, "losses", losses)
    return races


@pytest.mark.parametrize("n", [300, 1500])  # in folds, and once
@pytest.mark.parametrize(("make", "linear"), [(slopes, True), (steps, False)])
def test_the_family_wins_that_loses_less_on_held_out_rows(make, linear, n, races):
    X, y = make(n)
    model = regressor().fit(X, y)
    assert is_linear(model) == linear
    constant, other = races.losses()
    assert (other < 0.99 * constant) == linear
    same = regressor(neurons=Trees(leaves="linear" if linear else "constant")).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert model.validation_scores_ == same.validation_scores_


@pytest.mark.parametrize(
    ("lost", "first"), [([1.0, 0.995], 0), ([1.0, 0.985], 1), ([0.0, 0.0], 0), ([1.0, 1.0], 0)]
)
def test_others_must_be_better_by_one_per_cent(lost, first, monkeypatch):
    monkeypatch.setattr(race, "losses", lambda descent, *_: lost[descent])
    assert race.winner([0, 1], None, None) == first


def test_losses_are_those_of_models_of_as_many_neurons():
    X, y = slopes(1500)
    X_val, y_val = slopes(300, seed=1)
    given = {"X_val": X_val, "y_val": y_val}
    found = []
    for leaves in ("constant", "linear"):
        model = regressor(race.LAPS, Trees(leaves=leaves)).fit(X, y, **given)
        found.append(1 - model.validation_scores_[-1])
        assert len(model.validation_scores_) == race.LAPS
    seen = []

    def winner(each, rows, options, n_neurons, plain=held_out_rows.winner):
        seen.extend(race.losses(descent, rows, options) for descent in each)
        return plain(each, rows, options, n_neurons)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_out_rows, "winner", winner)
        regressor(race.LAPS).fit(X, y, **given)
    np.testing.assert_allclose(seen, found, rtol=1e-6)


def test_the_users_rows_decide_and_are_not_learned_from(races):
    X, y = slopes(800)
    X_val, _ = slopes(300, seed=1)
    constant = regressor(neurons=Trees(leaves="constant"), early_stopping=False).fit(X, y)
    model = regressor().fit(X, y, X_val=X_val, y_val=constant.predict(X_val))
    assert not is_linear(model)  # though linear leaves are better on other rows
    assert is_linear(regressor().fit(X, y))
    assert all(rows.apart is not None for rows, _ in races[:2])
    heavy = np.where(np.arange(300) < 150, 1.0, 1e-12)
    y_val = np.where(heavy == 1, 3 * X_val[:, 0] + X_val[:, 1], 100 * np.sign(X_val[:, 0]))
    model = regressor().fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=heavy)
    assert is_linear(model)


def test_weights_and_groups_are_those_of_the_fit(races):
    X, y = slopes(600)
    groups = np.arange(600) // 10
    weight = np.where(np.arange(600) % 3, 1.0, 0.0)
    model = regressor().fit(X, y, weight, groups=groups)
    rows, _ = races[0]
    np.testing.assert_array_equal(
        rows.groups, np.unique(groups[weight > 0], return_inverse=True)[1]
    )
    kept = weight > 0
    without = regressor().fit(X[kept], y[kept], groups=groups[kept])
    assert races.losses()[:2] == races.losses()[2:]
    np.testing.assert_array_equal(model.predict(X), without.predict(X))


def test_few_of_many_rows_race(monkeypatch):
    X, y = slopes(500)
    rows = FitRows(X, y[:, None], np.arange(500.0), np.arange(500) // 3, "apart")
    assert race.some_of(rows, 0, 2**14) is rows
    some = race.some_of(rows, 0, 100)
    numbers = some.weight.astype(int)
    assert len(set(numbers)) == 100
    assert (np.diff(numbers) > 0).all()
    np.testing.assert_array_equal(some.X, X[numbers])
    np.testing.assert_array_equal(some.targets, y[numbers, None])
    same = np.unique(numbers // 3, return_inverse=True)[1]
    np.testing.assert_array_equal(some.groups, same)
    assert some.apart == "apart"
    np.testing.assert_array_equal(race.some_of(rows, 0, 100).weight, some.weight)
    assert not np.array_equal(race.some_of(rows, 1, 100).weight, some.weight)


@pytest.mark.parametrize("neurons", [Trees(), Trees(shape="binary", max_leaves=32)])
def test_a_seed_gives_one_model(neurons, monkeypatch, tmp_path):
    monkeypatch.setattr("trickless.learners.held_out_rows.ROWS", 500)
    X, y = slopes(1200)
    whole = regressor(neurons=neurons, n_jobs=1).fit(X, y)
    monkeypatch.setattr("trickless.solvers.descent.slopes._ROWS", 256)
    monkeypatch.setattr("trickless.solvers.descent.slopes._WORTH_THREADS", 256)
    again = regressor(neurons=clone(neurons), n_jobs=2).fit(X, y).set_params(n_jobs=1)
    np.testing.assert_array_equal(again.predict(X), whole.predict(X))
    trickless.save(whole, tmp_path / "model")
    loaded = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), whole.predict(X))
    loaded.partial_fit(X, y)
    whole.partial_fit(X, y)
    assert digest(loaded) == digest(whole)


@pytest.mark.filterwarnings("ignore:.*warm_start=True with early_stopping")
def test_a_warm_start_a_stream_and_several_outputs_do_not_race(races):
    X, y = slopes(400)
    model = regressor(20, warm_start=True).fit(X, y)
    assert len(races) == 2
    linear = is_linear(model)
    model.set_params(n_neurons=30).fit(X, y)
    assert is_linear(model) == linear
    regressor(20).partial_fit(X, y)
    regressor(20, early_stopping=False).fit(X, y)
    regressor(20).fit(X, np.stack([y, -y], axis=1))
    DoublyStochasticClassifier("trees", 20, random_state=0).fit(X, np.digitize(y, [-1, 1]))
    regressor(20, Trees(shape="binary")).fit(X, y)
    regressor(20, Trees(leaves="linear")).fit(X, y)
    KitchenSinksRegressor(Trees(2), 20, random_state=0).fit(X, y)
    assert len(races) == 2


@pytest.mark.parametrize(
    ("rows", "shape"), [(deep(4000), "binary"), (steps(), "binary"), (slopes(800), "oblivious")]
)
def test_with_many_rows_the_shape_is_taken_whose_first_trees_are_better(rows, shape, monkeypatch):
    X, y = rows
    few = regressor(60, Trees(leaves="constant")).fit(X, y)
    assert few.neurons_.used_shape == "oblivious"
    monkeypatch.setattr("trickless.learners.held_out_rows.MANY_ROWS", len(y))
    model = regressor(60, Trees(leaves="constant")).fit(X, y)
    assert model.neurons_.used_shape == shape
    same = regressor(60, Trees(shape=shape, leaves="constant")).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))


def test_leaves_that_must_be_linear_decide_for_oblivious_trees(monkeypatch):
    X, y = steps()
    monkeypatch.setattr("trickless.learners.held_out_rows.MANY_ROWS", len(y))
    model = regressor(60, Trees(leaves="linear")).fit(X, y)
    assert is_linear(model)
    assert model.neurons_.used_shape == "oblivious"


def test_without_held_out_rows_trees_are_oblivious():
    X, y = deep(300)
    model = regressor(neurons=Trees(), early_stopping=False).fit(X, y)
    assert model.neurons_.used_shape == "oblivious"
