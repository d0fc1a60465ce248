"""The best of several candidates: against loops over all of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score

from cases import inputs
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor
from trickless.neurons import Dense, Gaussian, Trees
from trickless.solvers.descent import candidates as owner
from trickless.solvers.descent.candidates import _unexplained
from trickless.solvers.descent.slopes import mean_squares
from trickless.solvers.named_losses import make_loss


def problem(n=300, seed=0):
    """Rows and targets that depend on two of six features."""
    X = inputs(n, 6, seed)
    return X, np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1]


def best_of_groups(psi, candidates, g, h, damping):
    """The number of the best candidate of each group, by (Σ g ψ)² / (Σ h ψ² + λ).

    λ is relative to the mean of Σ h ψ² over all numbers of all candidates.
    """
    costs, gains = {}, {}
    for j in range(sum(map(len, candidates))):
        Z = psi(j)  # (n_rows, width)
        gains[j] = [[(Z[:, k] @ g_o) ** 2 for k in range(Z.shape[1])] for g_o in g.T]
        costs[j] = [[(Z[:, k] ** 2) @ h_o for k in range(Z.shape[1])] for h_o in h.T]
    ridge = damping * np.mean([costs[j] for j in costs], axis=(0, 2))[:, None]
    score = {j: (np.array(gains[j]) / (np.array(costs[j]) + ridge)).sum() for j in gains}
    return [max(group, key=score.get) for group in candidates]


@pytest.mark.parametrize(
    ("family", "m", "k", "outputs"),
    [(Gaussian(1.0), 5, 3, 1), (Gaussian(1.0), 5, 60, 1), (Dense(), 4, 6, 3)],
)
def test_neurons_are_the_best_of_their_groups(family, m, k, outputs):
    """Numbered on along the stream, also where their weights are in several blocks of it."""
    X, y = problem(120)
    y = y > 0 if outputs == 1 else np.digitize(y, [-0.5, 0.5])
    model = DoublyStochasticClassifier(
        family, 2 * k, n_candidates=m, neurons_per_step=k, batch_size=120, preconditioner=None,
        step_size=0.5, alpha=0.01, dtype="float64", random_state=0,
    )  # fmt: skip
    model.fit(X, y)
    stream, fitted, loss = model.stream_, model.neurons_, make_loss("log_loss", outputs)
    Y = np.where(np.reshape(y, (-1, 1)) == model.classes_[-outputs:], 1.0, -1.0)
    coef = model.neuron_coef_
    for step in range(2):
        f = 0
        if step:  # α is in the coefficients of the first step, which have decayed since then
            first = tuple(array[:k] for array in model.network_.source.weights)
            coef[:k] /= 1 - 0.5 * 0.01 / (1 + 0.5 * 0.01)
            f = fitted(X, first) @ coef[:k].swapaxes(0, 1).reshape(-1, outputs)
        g, h = loss.newton(np.zeros_like(Y) + f, Y)
        start = step * k * m
        weights = stream.between(start, start + k * m)

        def psi(j, weights=weights):
            return fitted(X, tuple(array[[j]] for array in weights))

        groups = [range(i * m, (i + 1) * m) for i in range(k)]
        best = best_of_groups(psi, groups, g, h, 1e-4)
        for array, kept in zip(weights, model.network_.source.weights, strict=True):
            np.testing.assert_array_equal(kept[step * k : (step + 1) * k], array[best])
    assert len(model.network_.source.weights[0]) == 2 * k


def test_one_candidate_is_the_neuron_that_is_drawn():
    X, y = problem()
    for neurons in (Gaussian(1.0), Trees(3)):
        options = {"neurons": neurons, "n_neurons": 40, "random_state": 0, "n_candidates": 1}
        model = DoublyStochasticRegressor(**options).fit(X, y)
        assert model.n_candidates_ == 1
        assert model.network_.source is model.stream_
        assert model.n_iter_ >= 1
    assert DoublyStochasticRegressor(Gaussian(1.0), 40).fit(X, y).n_candidates_ == 1
    assert DoublyStochasticRegressor(Trees(3), 40).fit(X, y).n_candidates_ > 1


@pytest.mark.parametrize(
    ("neurons", "n_neurons"), [(Gaussian(1.0), 2000), (Trees(4), 60)], ids=["gaussian", "trees"]
)
def test_the_best_of_several_learns_more_with_as_many_neurons(neurons, n_neurons):
    X, y = problem(1500)
    scores = [
        DoublyStochasticRegressor(neurons, n_neurons, n_candidates=m, random_state=0)
        .fit(X[:1000], y[:1000])
        .score(X[1000:], y[1000:])
        for m in (1, 12)
    ]
    assert scores[1] > scores[0] + 0.05


def test_what_is_not_explained_is_a_share_of_the_squared_loss():
    """1 − R² on weighted rows, at most 1, and the mean over outputs."""
    rng = np.random.default_rng(0)
    Y, weight = rng.standard_normal((200, 2)) * [1.0, 50.0], rng.random(200) + 0.5
    weight /= weight.mean()
    start = SimpleNamespace(squares=mean_squares(Y, weight))
    slopes = weight * (Y - Y * [0.5, -1.0]).T
    assert _unexplained(start, np.ones(2), slopes, weight) == pytest.approx((0.25 + 1) / 2)


@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive", "huber"])
@pytest.mark.parametrize("neurons", [Gaussian(1.0), Trees(4)], ids=["gaussian", "trees"])
def test_the_units_of_outputs_decide_nothing(neurons, loss):
    """Each of two outputs is learned as well, whatever the scale of the other."""
    X, _ = problem(400)
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] + np.cos(2 * X[:, 3])])
    model = DoublyStochasticRegressor(
        neurons, 100, loss=loss, epsilon=1e-9, n_candidates=6, random_state=0
    )
    if loss == "huber":
        model.set_params(epsilon=1e9)  # the squared error, as its derivatives say
    expected = clone(model).fit(X, Y)
    scores = r2_score(Y, expected.predict(X), multioutput="raw_values")
    assert (scores > 0.3).all()
    if loss == "squared_error":
        power = np.array([1.0, 2.0**30])
        scaled = clone(model).fit(X, power * Y)
        np.testing.assert_array_equal(scaled.predict(X), power * expected.predict(X))
        np.testing.assert_allclose(scaled.validation_scores_, expected.validation_scores_)
    for factor in (1e-5, 1e4):
        scale = np.array([1.0, factor])
        scaled = clone(model).fit(X, scale * Y)
        again = r2_score(Y, scaled.predict(X) / scale, multioutput="raw_values")
        np.testing.assert_allclose(again, scores, atol=0.1)


def test_an_output_that_is_constant_takes_nothing_from_the_other():
    X, y = problem(500)
    alone = DoublyStochasticRegressor(Trees(4), 60, random_state=0).fit(X, y)
    both = clone(alone).fit(X, np.column_stack([np.full(500, 3.0), 1e-20 * y]))
    np.testing.assert_array_equal(both.predict(X)[:, 0], 3.0)
    scaled = 1e20 * both.predict(X)[:, 1]
    assert r2_score(y, scaled) > alone.score(X, y) - 0.05


def test_a_first_batch_that_is_constant_does_not_fix_the_unit_of_slopes():
    X, y = problem(400)
    model = DoublyStochasticRegressor(Trees(4), 20, random_state=0, n_candidates=6)
    model.partial_fit(X[:100], np.zeros(100))
    for _ in range(20):
        model.partial_fit(X, 1e-18 * y)
    assert r2_score(y, 1e18 * model.predict(X)) > 0.5


def test_features_that_won_are_drawn_more_often_if_the_prior_is_learned():
    """Which finds those that matter more often, and predicts better."""
    X = inputs(1600, 40)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0)
    found = []
    for seed in range(8):
        model = DoublyStochasticRegressor(
            Trees(4), 120, n_candidates=4, early_stopping=False, random_state=seed
        )
        for learned in (False, True):
            model.set_params(learned_prior=learned).fit(X[:800], y[:800])
            share = model.feature_importances_[:3].sum()
            found.append((share, model.score(X[800:], y[800:])))
    gains = np.diff(np.reshape(found, (8, 2, 2)), axis=1)[:, 0]
    assert (gains.mean(axis=0) > 4 * gains.std(axis=0, ddof=1) / np.sqrt(8)).all()
    assert gains[:, 0].mean() > 0.2
    shares = np.array(found)[::2, 0]
    assert 3 / 40 < shares.mean() < 0.3


def test_a_tenth_of_the_draws_takes_all_columns_equally_often(monkeypatch):
    """So that a column which matters late is found, however often others have won."""
    priors = []

    def choose(tree, plain=owner.choose_cuts):
        priors.append(tree.prior)
        return plain(tree)

    monkeypatch.setattr(owner, "choose_cuts", choose)
    X = inputs(400, 40)
    model = DoublyStochasticRegressor(Trees(4), 50, early_stopping=False, random_state=0)
    model.fit(X, np.sign(X[:, 0]))
    before = tuple(array[:-1] for array in model.network_.source.weights)
    wins = model.neurons_.cuts_by_feature(before)  # of all trees but the last
    expected = 0.1 / 40 + 0.9 * (1 + wins) / (1 + wins).sum()
    np.testing.assert_allclose(priors[-1] / priors[-1].sum(), expected)
    assert wins.max() > 50


@pytest.mark.parametrize("preconditioner", [None, "block"])
@pytest.mark.parametrize("candidates", [1, 6])
def test_trees_are_learned_by_plain_steps_as_well(preconditioner, candidates):
    """Which evaluate their indicators, and must not do that in the type of the bins."""
    X, y = problem(400)
    model = DoublyStochasticRegressor(
        Trees(3), 300, preconditioner=preconditioner, n_candidates=candidates, random_state=0
    )
    model.fit(X, y)
    assert model.score(X, y) > (0.6 if candidates > 1 else 0.3)
    if candidates > 1:
        return
    double = clone(model).set_params(dtype="float64", n_candidates=1).fit(X, y)
    single = clone(model).set_params(n_candidates=1).fit(X, y)
    np.testing.assert_allclose(single.predict(X), double.predict(X), atol=1e-3)
    plain = clone(model).set_params(n_candidates=1, loss="huber", epsilon=1e9)
    np.testing.assert_allclose(plain.fit(X, y).predict(X), single.predict(X), atol=1e-4)


@pytest.mark.parametrize("neurons", [Gaussian(1.0), Trees(3)], ids=["gaussian", "trees"])
def test_neurons_that_are_chosen_and_drawn_may_follow_each_other(neurons):
    X, y = problem()
    model = DoublyStochasticRegressor(
        neurons, 20, n_candidates=1, neurons_per_step=5, warm_start=True, early_stopping=False,
        random_state=0,
    )  # fmt: skip
    model.fit(X, y)
    one = model.predict(X)
    for n_neurons, candidates in ((40, 4), (60, 1), (80, 4)):
        before, coef = model.predict(X), model.neuron_coef_
        model.set_params(n_neurons=n_neurons, n_candidates=candidates).fit(X, y)
        assert len(model.network_.source.weights[0]) == len(model.neuron_coef_) == n_neurons
        if model.alpha_ == 0:
            np.testing.assert_array_equal(model.neuron_coef_[: len(coef)], coef)
        network = model.network_
        kept = tuple(array[: len(coef)] for array in network.source.weights)
        value = model.neurons_.combine(X, kept, coef) + network.intercept
        np.testing.assert_allclose(value[:, 0], before, atol=1e-5)
    drawn = model.stream_.between(0, 20)
    for array, kept in zip(drawn, model.network_.source.weights, strict=True):
        np.testing.assert_array_equal(kept[:20], array)
    assert model.score(X, y) > r2_score(y, one)


@pytest.mark.parametrize("family", ["stumps", "ferns", "dense", "tabular"])
def test_chosen_neurons_do_not_diverge(family):
    """They may all be much the same, and the steps for blind draws are too long for them."""
    X = inputs(800, 5)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    for m in (8, 30):
        model = DoublyStochasticRegressor(family, 1000, n_candidates=m, random_state=0)
        assert model.fit(X[:600], y[:600]).score(X[600:], y[600:]) > 0.15
