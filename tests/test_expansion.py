"""Estimates of ⟨f, Φ(x)⟩: unbiased, with honest standard errors."""

import numpy as np
import pytest

from cases import inputs
from trickless import Expansion
from trickless.neurons import Dense, Gaussian, Stumps

FAMILIES = {"gaussian": Gaussian(length_scale=1.5), "stumps": Stumps(), "erf": Dense("erf")}
ALPHAS = {
    "signs": lambda rng, t: rng.standard_normal((t, 2)),
    "positive": lambda rng, t: rng.random((t, 2)),
    "sparse": lambda rng, t: rng.standard_normal((t, 2)) * (np.arange(t) % 3 == 0)[:, None],
}
METHODS = ("index", "full", "auto")


def expansion(family="gaussian", alpha="signs", t=40, n_jobs=None):
    rng = np.random.default_rng(7)
    X = inputs(t, 3)
    neurons = FAMILIES[family].fit(X, rng)
    return Expansion(neurons, X, ALPHAS[alpha](rng, t), n_jobs)


def exact(f, X):
    return f.neurons.kernel(X, f.support) @ f.alpha


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("family", FAMILIES)
def test_estimates_are_unbiased_and_their_errors_honest(family, alpha, method):
    f = expansion(family, alpha)
    X = inputs(3, 3, seed=5)
    runs = [f.estimate(X, 200, method, s) for s in range(300)]
    values, errors = (np.array(array) for array in zip(*runs, strict=True))
    spread = values.std(axis=0, ddof=1)
    assert (np.abs(values.mean(axis=0) - exact(f, X)) < 5 * spread / np.sqrt(300)).all()
    # The sample variance of 300 runs has a relative standard error of about √(2 / 299) = 8.2 %;
    # the mean of 300 reported variances is better known than that.
    ratio = (errors**2).mean(axis=0) / spread**2
    assert (np.abs(ratio - 1) < 5 * np.sqrt(2 / 299)).all()


def test_variance_stays_below_the_bounds_of_the_theory():
    f = expansion()
    X = inputs(20, 3, seed=5)
    m = 500
    one = Expansion(f.neurons, f.support, f.alpha[:, :1])
    norm_1 = np.abs(one.alpha).sum()
    norm_2 = (one.alpha.T @ f.neurons.kernel(f.support) @ one.alpha).item() ** 0.5
    for method, norm in (("index", norm_1), ("full", norm_2)):
        errors = [one.estimate(X, m, method, s)[1] for s in range(30)]
        assert np.sqrt((np.array(errors) ** 2).mean(axis=0)).max() < norm / np.sqrt(m) * 1.1


def test_frozen_network_predicts_what_the_expansion_does():
    f = expansion(t=60)
    X = inputs(50, 3, seed=5)
    for method in ("index", "full"):
        network = f.freeze(4000, method, random_state=0)
        assert network.n_neurons == 4000
        value, error = network.estimate(X)
        np.testing.assert_allclose(network(X), value, atol=1e-9)
        assert (np.abs(value - exact(f, X)) < 5 * error).all()


def test_values_are_the_sums_over_the_support():
    f = expansion(t=1100)
    weights = f.neurons.draw(np.random.default_rng(0), 300)
    Z = f.neurons.activate(f.support, weights).reshape(1100, 2, 300)
    expected = np.einsum("tkn,to->nko", Z, f.alpha)
    np.testing.assert_allclose(f.values(weights), expected, atol=1e-9)
    for n_jobs in (1, 3):
        threaded = Expansion(f.neurons, f.support, f.alpha, n_jobs)
        np.testing.assert_allclose(threaded.values(weights), expected, atol=1e-9)


def test_auto_takes_the_cheaper_method_for_one_error():
    """One sign and a nearly constant kernel favour index sampling; mixed signs full sums."""
    rng = np.random.default_rng(0)
    X, x = inputs(4000, 3), inputs(20, 3, seed=1)
    neurons = Gaussian(length_scale=50.0).fit(X, rng)
    for alpha, winner in (
        (np.ones((4000, 1)), "index"),
        (rng.choice([-1.0, 1], (4000, 1)), "full"),
    ):
        f = Expansion(neurons, X, alpha)
        method, n_neurons = f.cheaper(50, 20, 0)
        assert method == winner
        # As many draws as give index sampling's bound |α|₁²/m the value of full sums' |f|²/50.
        f.mean_square = (alpha.T @ neurons.kernel(X) @ alpha).item()
        wanted = 50 * np.abs(alpha).sum() ** 2 / f.mean_square if winner == "index" else 50
        assert n_neurons == pytest.approx(np.ceil(wanted), rel=0.2)
        assert f.cheaper(50, 20) == (winner, np.ceil(wanted))
        variance = {
            method: np.mean([f.estimate(x, 50, method, s)[1] ** 2 for s in range(60)])
            for method in ("index", "full")
        }
        work = {"index": variance["index"] * (1 + 20), "full": variance["full"] * (4000 + 20)}
        assert min(work, key=work.get) == winner


def test_an_expansion_of_zeros_is_zero():
    f = expansion()
    zero = Expansion(f.neurons, f.support, np.zeros_like(f.alpha))
    for method in METHODS:
        value, error = zero.estimate(f.support[:3], 50, method, 0)
        assert not value.any()
        assert not error.any()


def test_wrong_arguments_are_named():
    f = expansion()
    with pytest.raises(ValueError, match="Expansion: n_neurons=0"):
        f.estimate(f.support, 0)
    with pytest.raises(ValueError, match=r"Expansion: method='best'.*'index'"):
        f.freeze(10, "best")


def test_the_same_random_state_gives_the_same_estimate():
    f = expansion()
    X = inputs(3, 3)
    values = [f.estimate(X, 50, random_state=seed)[0] for seed in (0, 0, 1, None)]
    np.testing.assert_array_equal(values[0], values[1])
    assert not np.array_equal(values[0], values[2])
    assert not np.array_equal(values[0], values[3])
    a, b = (f.freeze(50, random_state=np.random.default_rng(4))(X) for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_index_sampling_draws_by_the_norm_of_a_row():
    """Two outputs: the coefficients of one draw, written out."""
    f = expansion(alpha="positive")
    rng = np.random.default_rng(5)
    weights = f.neurons.draw(rng, 30)
    u = rng.random(30)
    norm = np.linalg.norm(f.alpha, axis=1)
    index = [next(i for i in range(40) if norm[: i + 1].sum() > v * norm.sum()) for v in u]
    psi = f.neurons.activate_pairs(f.support[index], weights)
    expected = norm.sum() / 30 * psi[:, :, None] * (f.alpha / norm[:, None])[index][:, None, :]
    network = f.freeze(30, "index", np.random.default_rng(5))
    np.testing.assert_allclose(network.coef, expected, atol=1e-12)


def test_index_sampling_holds_no_more_neurons_than_support_points():
    f = expansion()
    norm_1 = np.linalg.norm(f.alpha, axis=1).sum()
    f.mean_square = norm_1**2 * 1.01 * 101 / 140
    assert f.cheaper(20, 0)[0] == "index"
    f.mean_square = norm_1**2 / 1.35
    assert f.cheaper(30, 0) == ("full", 30)  # 41 neurons would be needed, for 40 points


def test_the_choice_does_not_look_at_the_neurons_of_the_estimate(monkeypatch):
    f = expansion()
    drawn = []
    plain = type(f.neurons).draw

    def recorded(self, rng, n):
        drawn.append(plain(self, rng, n))
        return drawn[-1]

    monkeypatch.setattr(type(f.neurons), "draw", recorded)
    f.estimate(f.support[:2], 50, "auto", random_state=0)
    pilot, estimate = (weights[0] for weights in drawn)
    assert not np.isin(pilot, estimate).any()
