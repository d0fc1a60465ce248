"""Choosing an estimator of ⟨f, Φ(x)⟩ by a pilot."""

import pickle

import numpy as np
import pytest

import naive
from cases import inputs
from expansions import expansion
from trickless._functions.pilot import (
    _NEURON,
    _NUMBER,
    _PILOT,
    _PILOT_LEAST,
    _PILOT_NEURONS,
    _PILOT_POINTS,
    PILOT_ROWS,
    Variances,
)
from trickless._functions.sampling import Strata
from trickless._functions.stream import draw, pick
from trickless.inspection import Expansion
from trickless.neurons import Gaussian

KNOWN = Variances(
    full=1.0,
    index_within=1.9,
    index_between=0.0,
    full_noise=0.0,
    index_noise=0.0,
    shared_noise=0.0,
    numbers=3,
)


WIDTHS = (0.3, 3.0, 50.0)


def stratified(variances, n_neurons, t):
    """Variance of a neuron of n in as many strata."""
    return variances.index_within + variances.index_between * max(0.0, 1 - n_neurons / t)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mixed", [False, True])
def test_a_pilot_knows_the_variances_of_all_methods(width, mixed):
    """To within a factor of 2, which is enough for a choice by work that differs by as much."""
    rng = np.random.default_rng(3)
    t, m = 400, 100
    alpha = rng.choice([-1.0, 1.0], (t, 1)) if mixed else np.ones((t, 1))
    X, x = inputs(t, 3), inputs(4, 3, seed=1)
    f = Expansion(Gaussian(width).fit(X, rng), X, alpha)
    pilots = [f.variances(x, seed) for seed in range(20)]
    for estimator in ("full", "stratified"):
        runs = [f.estimate(x, m, estimator, 100 + seed)[0] for seed in range(200)]
        truth = m * np.var(runs, axis=0, ddof=1).mean()
        known = [p.full if estimator == "full" else stratified(p, m, t) for p in pilots]
        norm = np.abs(alpha).sum() ** 2
        # A pilot of twice 128 points and 32 neurons cannot tell variances below this from 0, and
        # of the 31 neighbours of its strata two may have different signs: (2 |α|₁)²/2.
        unseen = norm / 128 / np.sqrt(32) if estimator == "full" else 2 * norm / 31
        assert truth / 2 - unseen < np.mean(known) < 2 * truth + unseen


def test_auto_takes_the_cheapest_method_for_one_error():
    """One sign and a nearly constant kernel favour index sampling; mixed signs full sums."""
    rng = np.random.default_rng(0)
    X, x = inputs(4000, 3), inputs(20, 3, seed=1)
    neurons = Gaussian(length_scale=50.0).fit(X, rng)
    for alpha, winner in (
        (np.ones((4000, 1)), "stratified"),
        (rng.choice([-1.0, 1], (4000, 1)), "full"),
    ):
        f = Expansion(neurons, X, alpha)
        estimator, n_neurons = f.cheapest(50, 20, f.variances(x, 0))
        assert estimator == winner
        variance = {
            (estimator, n): np.mean([f.estimate(x, n, estimator, s)[1] ** 2 for s in range(60)])
            for estimator, n in (("full", 50), ("stratified", 50), (estimator, n_neurons))
        }
        work = {m: variance[m, 50] * (45 + 20 + n) for m, n in (("stratified", 1), ("full", 4000))}
        assert min(work, key=work.get) == winner
        # It aims at the variance that full sums have, by a pilot of 32 neurons.
        assert 0.3 < variance[estimator, n_neurons] / variance["full", 50] < 3


def test_strata_are_as_many_as_reach_a_variance():
    v = KNOWN._replace(index_within=2.0, index_between=6.0)
    t = 1000
    for n_full in (10, 100, 1000, 10_000):
        n = v.strata(v.full / n_full, t)
        assert stratified(v, n, t) / n == pytest.approx(v.full / n_full)
    assert v.strata(stratified(v, t, t) / t, t) == pytest.approx(t)


def test_variances_at_hand_are_not_measured_again(monkeypatch):
    f, X = expansion(t=2000), inputs(4, 3, seed=1)
    known = f.variances(X, 0)
    monkeypatch.setattr(Expansion, "variances", None)
    estimator, n = f.cheapest(500, 4, known)
    value, error = f.estimate(X, 500, random_state=1, variances=known)
    again = f.estimate(X, n, estimator, random_state=1)
    np.testing.assert_array_equal(value, again[0])
    np.testing.assert_array_equal(error, again[1])


def test_what_auto_takes_depends_on_neither_the_seed_nor_estimates_before(monkeypatch):
    """A pilot is run once, so an estimate is the same whether or not others came before."""
    X, x = inputs(4000, 3), inputs(4, 3, seed=1)
    f = Expansion(Gaussian(50.0).fit(X, np.random.default_rng(0)), X, np.ones((4000, 1)))
    pilots = []
    plain = Expansion.variances

    def recorded(self, rows, random_state=None):
        pilots.append(rows)
        return plain(self, rows, random_state)

    monkeypatch.setattr(Expansion, "variances", recorded)
    first = f.estimate(x, 500, random_state=1)
    f.estimate(inputs(20, 3, seed=2), 100, random_state=2)
    again = f.estimate(x, 500, random_state=1)
    assert len(pilots) == 1
    assert np.isin(pilots[0], X).all()
    copied = pickle.loads(pickle.dumps(f)).estimate(x, 500, random_state=1)
    assert len(pilots) == 2
    for other in (again, copied):
        np.testing.assert_array_equal(first, other)
    estimator, n = f.cheapest(500, 4, f._at_support)
    assert estimator == "stratified"
    np.testing.assert_array_equal(first, f.estimate(x, n, estimator, random_state=1))


def test_a_pilot_that_later_estimates_share_is_run_for_a_smaller_one():
    X = inputs(1000, 3)
    f = Expansion(Gaussian(50.0).fit(X, np.random.default_rng(0)), X, np.ones((1000, 1)))
    for n_neurons, pilot in ((200, False), (512, True)):
        assert f.variances_if_worth(X[:1], n_neurons, 0) is None
        f.estimate(X[:1], n_neurons, random_state=0)
        assert ("_at_support" in vars(f)) == pilot


def test_few_support_points_need_no_pilot():
    f = expansion(t=40)
    assert f.variances_if_worth(inputs(200, 3), 10_000) is None
    assert f.cheapest(30, 200, None) == ("full", 30)
    many = expansion(t=400)
    rows = many.support[:3]
    assert many.variances_if_worth(rows, 10_000, 0) is not None
    assert many.variances_if_worth(rows, 50, 0) is None
    assert many.variances_if_worth(rows, 50, 0, n_estimates=200) is not None
    assert many.variances_if_worth(inputs(2000, 3), 10_000, 0) is None


@pytest.mark.parametrize(("family", "alpha"), [("gaussian", "positive"), ("stumps", "signs")])
def test_variances_are_those_of_the_formulas(family, alpha):
    f, X = expansion(family, alpha, t=300), inputs(20, 3, seed=1)
    f = Expansion(f.neurons, f.support.astype(float), f.dual_coef)
    got = f.variances(X, np.random.default_rng(5))
    rng, size = np.random.default_rng(5), np.linalg.norm(f.dual_coef, axis=1)
    weights = draw(f.neurons, rng, 64, np.dtype(float))
    chosen = [Strata(size, f.dual_coef > 0).draw(n, rng) for n in (64, 64, 32)]
    seen = {}  # the loops meet each pair of a point and a neuron many times

    def activation(x, w):
        key = x.tobytes(), w
        if key not in seen:
            seen[key] = f.neurons(x[None], pick(weights, slice(w, w + 1)))[0]
        return seen[key]

    expected = naive.variances(
        activation,
        lambda i: (f.support[i], size.sum() * f.dual_coef[i] / size[i]),
        range(64),
        X[:16].astype(float),
        chosen,
    )
    numbers = sum(array[0].size for array in weights)
    np.testing.assert_allclose(got, [*expected, numbers], rtol=1e-9)


def test_no_pilot_where_a_neuron_saves_less_than_a_sixth_of_its_work():
    assert expansion(t=215).variances_if_worth(inputs(1000, 3), 10**6, 0) is None
    assert expansion(t=230).variances_if_worth(inputs(1000, 3), 10**6, 0) is not None


@pytest.mark.parametrize("n_rows", [1, 70])
def test_a_pilot_may_take_a_fourth_of_what_is_at_stake(n_rows):
    f, rows = expansion(t=400), inputs(n_rows, 3)
    pilot = _PILOT + _PILOT_NEURONS * (2 * _PILOT_LEAST + _PILOT_POINTS + PILOT_ROWS)
    least = 4 * pilot // (_NEURON + 400 + n_rows) + 1
    for n_neurons, n_estimates in ((least, 1), (1, least), (least // 4 + 1, 4)):
        assert f.variances_if_worth(rows, n_neurons, 0, n_estimates) is not None
    assert f.variances_if_worth(rows, least, 0) is not None
    for n_neurons, n_estimates in ((least - 1, 1), (1, least - 1)):
        assert f.variances_if_worth(rows, n_neurons, 0, n_estimates) is None


def test_index_sampling_holds_no_more_neurons_than_it_may(monkeypatch):
    f = expansion(t=400)
    v = KNOWN._replace(full_noise=0.01)
    assert f.cheapest(300, 1, v) == ("stratified", 570)
    assert f.cheapest(200, 1, v._replace(full_noise=1.0)) == ("full", 200)
    monkeypatch.setattr("trickless._functions.pilot._MOST_HELD", 450)
    assert f.cheapest(200, 1, v) == ("stratified", 380)
    assert f.cheapest(300, 1, v) == ("full", 300)


@pytest.mark.parametrize("between", [0.0, 3.0])
@pytest.mark.parametrize(("t", "n_rows"), [(400, 1), (400, 90), (3000, 90)])
def test_strata_are_taken_where_they_are_less_work(t, n_rows, between):
    f, n = expansion(t=t), 50
    drawn = _NEURON + _NUMBER * KNOWN.numbers
    work = (drawn + t + n_rows) * n, drawn + 1 + n_rows
    estimators = set()
    for within in np.geomspace(0.1, 100, 61):
        v = KNOWN._replace(index_within=within, index_between=between)
        less = v.strata(v.full / n, t) * work[1] < work[0]
        estimators.add(f.cheapest(n, n_rows, v)[0])
        assert f.cheapest(n, n_rows, v)[0] == ("stratified" if less else "full")
    assert len(estimators) == 2


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_strata_are_taken_where_they_surely_save_work(shared):
    """By 2.5 standard errors of what is saved; both variances are off by the same neurons."""
    rng = np.random.default_rng(0)
    work, noise = (1100.0, 110.0), (0.2, 1.5)
    v = KNOWN._replace(
        full_noise=noise[0] ** 2,
        index_noise=noise[1] ** 2,
        shared_noise=shared * noise[0] * noise[1],
    )
    covariance = [[v.full_noise, v.shared_noise], [v.shared_noise, v.index_noise]]
    off = rng.multivariate_normal([0, 0], covariance, size=100_000) @ (work[0], -work[1])
    for times, surely in ((2.45, False), (2.55, True)):
        within = (work[0] * v.full - times * off.std()) / work[1]
        assert v._replace(index_within=within).saves(50, 1000, *work) is surely


def test_the_choice_does_not_look_at_the_neurons_of_the_estimate(monkeypatch):
    f = expansion(t=300)
    drawn = []
    plain = type(f.neurons).draw

    def recorded(self, rng, n):
        drawn.append(plain(self, rng, n))
        return drawn[-1]

    monkeypatch.setattr(type(f.neurons), "draw", recorded)
    f.estimate(f.support[:2], 10_000, "auto", random_state=0)
    pilot, *estimate = (weights[0] for weights in drawn)
    assert sum(map(len, estimate)) >= 10_000
    assert not np.isin(pilot, np.concatenate(estimate)).any()


@pytest.mark.parametrize("signs", ["one", "learned"])
@pytest.mark.parametrize("width", [0.5, 4.0])
def test_a_pilot_knows_how_far_off_it_may_be(width, signs):
    """Its standard error is what pilots vary by, from their neurons and from their points."""
    rng = np.random.default_rng(0)
    X = inputs(2000, 3)
    learned = np.sign(np.sin(2 * X[:, 0]) + 0.5 * rng.standard_normal(2000))
    alpha = rng.exponential(size=2000) * (learned if signs == "learned" else 1.0)
    f = Expansion(Gaussian(width).fit(X, rng), X, alpha[:, None])
    pilots = [f.variances(X[:20], seed) for seed in range(300)]
    full, noise = np.transpose([(pilot.full, pilot.full_noise) for pilot in pilots])
    # Of 300, the spread has a standard error of 4 % to 8 %. Neurons and points together, which
    # the standard error counts twice, matter with mixed signs.
    assert 0.8 < np.sqrt(np.mean(noise)) / np.std(full) < 1.6
