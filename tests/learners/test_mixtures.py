"""Trees and other families in turn, in Doubly Stochastic Gradients."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import trickless
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor, KitchenSinksRegressor
from trickless.neurons import Dense, Gaussian, Laplace, Mixture, Neurons, On, Tabular, Trees
from trickless.neurons.turns import Turns
from trickless.solvers.descent import next_family


def smooth_and_steps(n=600, seed=0, outputs=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 4))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 2 * (X[:, 3] > 0.3) * (X[:, 0] < 0.5)
    y = f + 0.1 * rng.standard_normal(n)
    return X, y if outputs is None else np.column_stack([y, X[:, 1] > 0, 3 * f][:outputs])


def regressor(n_neurons=60, **options):
    neurons = options.pop("neurons", Mixture([Gaussian(1.5), Trees()]))
    return DoublyStochasticRegressor(neurons, n_neurons, random_state=0, **options)


def families_of(model):
    """The number of the family of each neuron."""
    return model.descent_.source.weights[0]


def prefixes(model, X):
    """Values of f after no neurons, one, two and so on, by dense activations."""
    weights = model.descent_.source.weights
    n = len(weights[0])
    Z = model.neurons_(X, weights).reshape(len(X), model.neurons_.width, n)
    each = np.einsum("rkn,nko->nro", Z.astype(float), model.neuron_coef_.astype(float))
    return model.intercept_ + np.cumsum(np.concatenate([0 * each[:1], each]), axis=0)


def test_a_block_comes_first_and_then_as_many_trees_as_it_costs():
    X, y = smooth_and_steps(1024)
    model = regressor(50, early_stopping=False).fit(X, y)
    gaussian, trees = model.neurons_.parts_
    assert (gaussian.width, trees.width, model.neurons_.width) == (64, 64, 64)
    expected = [0 if i % 5 == 0 else 1 for i in range(50)]  # 64 columns cost four trees
    assert families_of(model).tolist() == expected


@pytest.mark.parametrize(
    ("n_rows", "depth", "columns", "width"),
    [(40, 2, 16, 16), (1023, "auto", 32, 32), (3000, 9, 128, 512), (40_000, "auto", 1024, 2048)],
)
def test_blocks_have_a_column_for_sixteen_rows(n_rows, depth, columns, width):
    X = np.random.default_rng(0).standard_normal((n_rows, 2))
    mixture = Mixture([Gaussian(1.0), Trees(depth)]).fit(X, np.random.default_rng(0))
    family = Turns.of(mixture, mixture.parts_, n_rows)
    assert (family.parts_[0].width, family.width, family.bound) == (columns, width, 1)


def test_weights_say_how_often_each_family_has_its_turn():
    X, y = smooth_and_steps(1024)
    for weights, share in (([1, 1], 1 / 5), ([4, 1], 1 / 2), ([1, 4], 1 / 17)):
        mixture = Mixture([Gaussian(1.5), Trees(3)], weights)
        model = regressor(102, neurons=mixture, early_stopping=False).fit(X, y)
        assert (families_of(model) == 0).mean() == pytest.approx(share, abs=0.01)
    three = Mixture([Gaussian(1.5), Laplace(1.5), Trees(3)])
    model = regressor(60, neurons=three, early_stopping=False).fit(X, y)
    assert np.bincount(families_of(model)).tolist() == [10, 10, 40]


@pytest.mark.parametrize("weights", [None, [1, 1], [3, 0.5]])
def test_the_first_steps_are_a_ridge_fit_and_a_newton_step_on_what_it_leaves(weights):
    """The scale of a mixture changes coefficients, and not the function."""
    X, y = smooth_and_steps(512)
    options = {"early_stopping": False, "dtype": "float64", "step_size": 0.3, "damping": 0.2}
    mixture = Mixture([Gaussian(1.5), Trees()], weights)
    model = regressor(2, neurons=mixture, **options).fit(X, y)
    assert families_of(model).tolist() == [0, 1]
    start, smooth, both = prefixes(model, X)[:, :, 0]
    Z = model.neurons_(X, tuple(array[:1] for array in model.descent_.source.weights))
    covariance = Z.T @ Z / len(X)
    covariance += 1e-4 * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    direction = Z @ np.linalg.solve(covariance, Z.T @ (y - start) / len(X))
    length = (smooth - start) @ direction / (direction @ direction)
    assert 0.1 < length < 0.4  # a third of what a block alone would take
    np.testing.assert_allclose(smooth - start, length * direction, atol=1e-8)
    family, tree = model.neurons_.parts_[1], model.neurons_.own(1, model.descent_.source.weights)
    leaf = family.leaf_numbers(X, tree)[:, 1]
    n, g = np.bincount(leaf, minlength=32), np.bincount(leaf, y - smooth, 32)
    expected = 0.3 * g / (n + 0.2 * len(X) / 32)
    np.testing.assert_allclose(both - smooth, expected[leaf], atol=1e-7)


@pytest.mark.parametrize("options", [{}, {"batch_size": 150}, {"alpha": 1e-2}])
@pytest.mark.parametrize("most_rows", [100, 16_384])
def test_f_is_kept_up_to_date_though_blocks_are_solved_on_some_rows(
    options, most_rows, monkeypatch
):
    monkeypatch.setattr(next_family, "_MOST_ROWS", most_rows)
    X, y = smooth_and_steps(600, outputs=2)
    seen = []
    owner = trickless.solvers.descent.growing_network.GrowingNetwork
    before = owner.bring_up_to_date

    def looked(self, batch, n_jobs):
        before(self, batch, n_jobs)
        if self.chosen is not None:
            expected = self.function(None)(batch.X.parts[0]) - self.intercept
            seen.append(np.abs(batch.f - expected).max() / np.abs(expected).max())

    monkeypatch.setattr(owner, "bring_up_to_date", looked)
    regressor(24, early_stopping=False, dtype="float64", **options).fit(X, y)
    assert len(seen) >= 23
    assert max(seen) < 1e-7


def test_a_mixture_is_better_than_either_family_alone():
    X, y = smooth_and_steps(2000)
    X_test, y_test = smooth_and_steps(2000, seed=1)
    constant = Trees(leaves="constant")  # as in the mixture
    families = Mixture([Gaussian(1.5), constant]), Gaussian(1.5), constant
    scores = [
        DoublyStochasticRegressor(neurons, 600, random_state=0).fit(X, y).score(X_test, y_test)
        for neurons in families
    ]
    assert 1 - scores[0] < 0.85 * (1 - max(scores[1:]))


def test_the_best_number_of_neurons_is_kept():
    rng = np.random.default_rng(0)
    X, y = smooth_and_steps(400)
    model = regressor(300, n_iter_no_change=100).fit(X, y + 2 * rng.standard_normal(400))
    assert model.early_stopping_
    best = int(np.argmax(model.validation_scores_))
    assert len(model.neuron_coef_) == model.descent_.scored[best] < 300
    assert len(families_of(model)) == len(model.neuron_coef_)


@pytest.mark.parametrize("n_candidates", ["auto", 1])
def test_the_network_is_the_sum_of_its_activations(n_candidates):
    X, y = smooth_and_steps(300, outputs=3)
    model = regressor(40, n_candidates=n_candidates).fit(X, y)
    np.testing.assert_allclose(model.predict(X), prefixes(model, X)[-1], atol=1e-4)
    np.testing.assert_allclose(model.predict(X[:1]), model.predict(X)[:1], atol=1e-5)


def test_a_classifier_of_three_classes_with_weights_learns():
    X, y = smooth_and_steps(800)
    labels = np.digitize(y, [-0.5, 1])
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = DoublyStochasticClassifier(
        Mixture([Gaussian(1.5), Trees()]), 200, class_weight="balanced", random_state=0
    ).fit(X, labels, weight)
    X_test, y_test = smooth_and_steps(800, seed=1)
    assert model.score(X_test, np.digitize(y_test, [-0.5, 1])) > 0.8
    np.testing.assert_allclose(model.predict_proba(X_test).sum(axis=1), 1, atol=1e-6)
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive"])
def test_every_loss_learns(loss):
    X, y = smooth_and_steps(600)
    model = regressor(200, loss=loss).fit(X, y)
    assert model.score(X, y) > 0.8


def test_a_common_factor_of_weights_and_of_targets_changes_nothing():
    X, y = smooth_and_steps(400)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = regressor(dtype="float64").fit(X, y, weight)
    other = regressor(dtype="float64").fit(X, 1024 * y, 8 * weight)
    np.testing.assert_allclose(other.predict(X), 1024 * model.predict(X), rtol=1e-6)


def test_streams_learn_and_continue():
    X, y = smooth_and_steps(6000)
    model = regressor(early_stopping=False)
    for some in np.split(np.arange(5000), 5):
        model.partial_fit(X[some], y[some])
    assert len(model.neuron_coef_) == 5
    for _ in range(20):
        model.partial_fit(X[:5000], y[:5000])
    assert len(families_of(model)) == len(model.neuron_coef_) == 5 + 20 * 4
    assert model.score(X[5000:], y[5000:]) > 0.9
    small = pickle.loads(pickle.dumps(model)).partial_fit(X[:3], y[:3])
    assert small.score(X[5000:], y[5000:]) > 0.9


def test_a_warm_start_continues_with_the_next_turn():
    X, y = smooth_and_steps(600)
    whole = regressor(30, early_stopping=False, step_size=0.1).fit(X, y)
    part = regressor(11, early_stopping=False, step_size=0.1, warm_start=True).fit(X, y)
    part.set_params(n_neurons=30).fit(X, y)
    np.testing.assert_array_equal(families_of(part), families_of(whole))
    np.testing.assert_allclose(part.predict(X), whole.predict(X), atol=1e-3)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_files_pickles_and_threads_give_the_same_model(n_jobs, tmp_path):
    X, y = smooth_and_steps(600)
    model = regressor().fit(X, y)
    expected = model.predict(X)
    np.testing.assert_allclose(regressor(n_jobs=n_jobs).fit(X, y).predict(X), expected, atol=1e-5)
    trickless.save(model, tmp_path / "model")
    for other in (trickless.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), expected)
        np.testing.assert_array_equal(other.partial_fit(X, y).predict(X).shape, expected.shape)


def test_a_block_takes_next_to_nothing_in_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1024, 300)), rng.standard_normal(1024)
    size = []
    for neurons in (Mixture([Gaussian(1.5), Trees()]), Trees()):
        model = regressor(10, neurons=neurons, early_stopping=False).fit(X, y)
        trickless.save(model, tmp_path / "model")
        size.append((tmp_path / "model").stat().st_size)
    assert size[0] < size[1] + 10_000  # 32 frequencies of 300 numbers a block would take 38,400


class Drawn(Gaussian):
    """A family whose draws may change, as those of NumPy may."""

    factor = 1.0

    def draw(self, rng, n):
        return tuple(self.factor * array for array in super().draw(rng, n))


def test_draws_that_have_changed_are_refused(monkeypatch):
    X, y = smooth_and_steps(300)
    model = regressor(10, neurons=Mixture([Drawn(1.5), Trees()])).fit(X, y)
    monkeypatch.setattr(Drawn, "factor", 1.1)
    with pytest.raises(RuntimeError, match="a seed no longer gives the neurons"):
        model.predict(X)


class Wide(Neurons):
    """More numbers than a tree has leaves."""

    width = 40

    def draw(self, rng, n):
        return (rng.standard_normal((n, self.n_features_in_, 40)),)

    def activate(self, X, weights):
        Z = np.tanh(np.einsum("id,jdk->ikj", X, weights[0])) / np.sqrt(40)
        return Z.reshape(len(X), -1)


def test_neurons_wider_than_trees_and_trees_of_several_depths():
    X, y = smooth_and_steps(600)
    for neurons in (
        Mixture([Wide(), Trees(2)]),
        Mixture([Trees(1), Dense("tanh"), Trees(4)]),
        Mixture([Trees(2), Trees(5)]),
        Mixture([Mixture([Gaussian(), Laplace()]), Trees()]),
        2 * Gaussian(1.5) + Trees(),
    ):
        model = regressor(150, neurons=neurons, early_stopping=False).fit(X, y)
        assert model.score(X, y) > 0.8
        np.testing.assert_allclose(model.predict(X), prefixes(model, X)[-1, :, 0], atol=1e-4)


def test_tables_need_families_that_take_them():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.standard_normal(500), "town": rng.choice(["A", "B", "C"], 500)})
    y = np.sin(2 * X["size"]) + (X["town"] == "A")
    X.loc[::7, "size"] = None
    X.loc[::11, "town"] = None
    model = regressor(200, neurons=Mixture([Tabular(), Trees()])).fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.preconditioner_ == "newton"
    with pytest.raises(ValueError, match=r"contains missing values.* but neurons=Mixture"):
        regressor().fit(X, y)
    with pytest.raises(ValueError, match=r"contains text.* but neurons=Mixture"):
        regressor().fit(X[["town"]].fillna("A"), y)


def test_steps_other_than_turns_draw_the_mixture_as_given():
    X, y = smooth_and_steps(300)
    mixture = Mixture([Gaussian(1.5), Trees(3)])
    for options in (
        {"preconditioner": None},
        {"preconditioner": "block"},
        {"schedule": "theorem", "alpha": 0.1},
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the theorem
            model = regressor(64, neurons=mixture, **options).fit(X, y)
        assert type(model.neurons_) is Mixture
        assert model.neurons_.width == 8
        assert model.preconditioner_ != "newton"
    with pytest.raises(ValueError, match="have none"):
        regressor(neurons=Mixture([Gaussian(), Laplace()]), preconditioner="newton").fit(X, y)


def test_length_scales_are_chosen_for_the_smooth_family_alone():
    X, y = smooth_and_steps(400)
    for given in ("auto", "relevance"):
        mixture = Mixture([Gaussian(given), Trees()])
        block = regressor(neurons=mixture).fit(X, y).neurons_.parts_[0]
        alone = DoublyStochasticRegressor(Gaussian(given), 64, random_state=0).fit(X, y)
        np.testing.assert_allclose(block.parts_[0].length_scale_, alone.neurons_.length_scale_)


@pytest.mark.parametrize("weights", [None, [2, 3]])
def test_kitchen_sinks_of_a_mixture_with_trees_predict_by_leaves(weights):
    X, y = smooth_and_steps(400)
    model = KitchenSinksRegressor(Mixture([Gaussian(1.5), Trees(3)], weights), 50, random_state=0)
    model.fit(X, y)
    network, family = model.network_, model.neurons_
    weights = network.source.between(0, 50)
    dense = family(X, weights) @ network.coef.transpose(1, 0, 2).reshape(-1, 1)
    np.testing.assert_allclose(
        family.combine(family.read(X), weights, network.coef), dense, atol=1e-6
    )
    np.testing.assert_allclose(model.predict(X), dense[:, 0] + network.intercept, atol=1e-5)


def test_learners_that_evaluate_all_leaves_get_shallow_trees_in_mixtures_as_well():
    X, y = smooth_and_steps(3000)
    mixture = Mixture([Gaussian(1.5), On([0, 3], Trees())])
    for learner in (KitchenSinksRegressor(mixture, 20), DoublyStochasticRegressor(mixture, 20)):
        family = learner.fit(X, y).neurons_
        assert (family.parts_[1].width, family.width) == (16, 16)
    both = Mixture([Gaussian(1.5), Trees()])
    assert KitchenSinksRegressor(both, 20).fit(X, y).neurons_.width == 16
    assert regressor(5, neurons=both, preconditioner="block").fit(X, y).neurons_.width == 16
    assert regressor(5, neurons=both).fit(X, y).neurons_.width == 128


@pytest.mark.parametrize("other", [Gaussian(1.5), Trees()], ids=["blocks", "oblivious trees"])
def test_binary_trees_take_turns(other, tmp_path):
    """Neurons of the other family have weights of 0 in the place of a binary tree, which is one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    model = regressor(60, neurons=Mixture([other, Trees(shape="binary")])).fit(X, y)
    assert set(model.network_.source.weights[0]) == {0, 1}
    assert model.score(X, y) > 0.7
    trickless.save(model, tmp_path / "model")
    np.testing.assert_array_equal(trickless.load(tmp_path / "model").predict(X), model.predict(X))
