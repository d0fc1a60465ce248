"""Random convolutions of series, compared with loops over times."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from cases import inputs
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._arrays.series import HEAVY
from trickless._functions.stream import draw
from trickless.neurons import Convolutions, Mixture

SHAPES = [None, 9, (1, 60), (3, 40), (12, 20)]


def columns(shape):
    return 25 if shape is None else int(np.prod(shape))


def with_gaps(X, seed=1):
    """Rows with missing values: within, at both ends, and everywhere."""
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    X[0, :3], X[1, -4:], X[2] = np.nan, np.nan, np.nan
    return X


def drawn(neurons, X, n=12, dtype="float64"):
    rng = np.random.default_rng(0)
    return neurons.fit(X, rng), draw(neurons, rng, n, np.dtype(dtype))


def literally(neurons, row, weights):
    """The docstring for one series and one neuron, time by time."""
    kind, d, mix, kernels, signs, thresholds = weights
    x = row.reshape(len(mix), -1) / neurons.scale_[0][:, None]
    mean = np.nanmean(x, axis=1, keepdims=True)
    x, known = x - mean, ~np.isnan(x)
    times = np.arange(x.shape[1])
    for channel, here in zip(x, known, strict=True):
        if here.any():
            channel[:] = np.interp(times, times[here], channel[here], left=np.nan, right=np.nan)
    if kind == 2:
        level, spread = neurons.level_[:, :, None] / neurons.scale_[0][:, None]
        x += np.clip((mean - level) / spread, -2, 2)
    if kind == 1:
        x = np.diff(x, axis=1) * (neurons.scale_[0] / neurons.scale_[1])[:, None]
        known = known[:, 1:] & known[:, :-1]
    known, x = known.any(axis=0), mix @ np.where(np.isnan(x), 0, x)
    value = lambda t: x[t] if 0 <= t < len(x) else 0.0  # noqa: E731
    most, least, above, n_times = (np.zeros(len(kernels)) for _ in range(4))
    for t in np.flatnonzero(known):
        weight = np.array([[2 if i in HEAVY[k] else -1 for i in range(9)] for k in kernels])
        z = signs * (weight @ [value(t + d * (i - 4)) for i in range(9)])
        for part, y in ((most, z), (least, -z)):  # ties win together
            part += np.where(y > max(y.max() - 1e-5 * (1 + y.max()), 1e-5), y, 0)
        above, n_times = above + (z > thresholds[:, 0]), n_times + 1
    shares = [part / max(part.sum(), 1e-300) for part in (most, least)]
    shares.append(4 * above / len(kernels) / np.maximum(n_times, 1))
    return np.sqrt(np.concatenate(shares)) / np.sqrt(6)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_activations_are_what_loops_over_times_give(shape, gaps):
    X = np.cumsum(inputs(4, columns(shape)), axis=1) + 3
    X = with_gaps(X) if gaps else X
    neurons, weights = drawn(Convolutions(shape, kernels=4), X, 20)
    assert set(weights[0]) == ({0, 2} if columns(shape) == 9 else {0, 1, 2})
    Z = neurons(X, weights).reshape(len(X), neurons.width, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing
        expected = [[literally(neurons, row, w) for w in zip(*weights, strict=True)] for row in X]
    np.testing.assert_allclose(Z, np.moveaxis(expected, 2, 1), rtol=0, atol=1e-7)
    assert np.std(Z, axis=0).max() > 0.01


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_bound_holds_for_hostile_series(shape, dtype):
    d = columns(shape)
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    stripes = np.resize([1.0, -1.0], d)
    one = np.full(d, np.nan)
    one[d // 2] = 1
    X = np.vstack([np.zeros(d), np.full(d, huge), np.full(d, 0.1), one, stripes * huge])
    X = np.vstack([X, stripes * tiny, inputs(9, d)]).astype(dtype)
    for rows in (X, inputs(9, d)):  # thresholds of them all, or of moderate ones
        neurons, weights = drawn(Convolutions(shape), rows, 50, dtype)
        Z = neurons(X, weights)
        assert Z.dtype == dtype
        assert np.isfinite(Z).all()
        norms = np.linalg.norm(Z.reshape(len(X), neurons.width, 50), axis=1)
        assert norms.max() <= neurons.bound
    shares = Z.reshape(len(X), 3, neurons.kernels, 50)[:, :2, :, weights[0] < 2]
    assert not shares[:4].any()  # constants respond to nothing
    assert not shares[5].any()
    assert shares[[4, *range(6, 15)]].any(axis=(1, 2, 3)).all()


def test_a_neuron_does_not_depend_on_how_many_are_drawn():
    _, many = drawn(Convolutions((3, 40)), inputs(50, 120), n=40)
    _, few = drawn(Convolutions((3, 40)), inputs(50, 120), n=7)
    for a, b in zip(many, few, strict=True):
        np.testing.assert_array_equal(a[:7], b)


def test_levels_and_units_of_channels_are_those_of_the_training_rows():
    X = inputs(20, 90)
    neurons, weights = drawn(Convolutions((3, 30)), X)
    Z = neurons(X, weights)
    levels = np.repeat([5.0, -3.0, 100.0], 30)
    moved, other = (z.reshape(20, -1, 12) for z in (neurons(X + levels, weights), Z))
    np.testing.assert_allclose(moved[..., weights[0] < 2], other[..., weights[0] < 2], atol=1e-9)
    assert np.abs(moved - other)[..., weights[0] == 2].max(axis=(0, 1)).min() > 0.01
    farther = neurons(X + 1e3 * levels, weights)  # which is as far as levels count
    np.testing.assert_allclose(farther, neurons(X + 1e4 * levels, weights), atol=1e-6)
    assert np.abs(neurons(2 * X, weights) - Z).max() > 0.1
    units = np.repeat([2.0, 1e-3, 1e6], 30)
    for rows in (X * units, X + levels, X * 1e30, X * 1e-30):
        other, weights = drawn(Convolutions((3, 30)), rows)
        np.testing.assert_allclose(other(rows, weights), Z, atol=1e-9)


@pytest.mark.parametrize("wild", [1e6, 1e20, -1e300])
def test_one_wild_series_does_not_change_scales_and_levels(wild):
    X = inputs(40, 90) + np.repeat([5.0, 0.0, -3.0], 30)
    expected = Convolutions((3, 30)).fit(X, np.random.default_rng(0))
    X = np.concatenate([X, wild * X[:1], X[:1] + wild, np.full((1, 90), np.nan)])
    neurons, weights = drawn(Convolutions((3, 30)), X)
    np.testing.assert_allclose(neurons.scale_[0], expected.scale_[0], rtol=0.02)
    np.testing.assert_allclose(neurons.level_, expected.level_, atol=0.1)
    assert np.isfinite(neurons(X, weights)).all()


def test_channels_that_had_no_value_count_as_zero_later():
    X, y = inputs(30, 60).reshape(30, 2, 30), np.arange(30) % 2
    X[:, 1] = np.nan
    with pytest.warns(
        UserWarning, match=r"channel 1 .* no value in the rows.*Remedy: leave it out"
    ):
        model = KitchenSinksClassifier(Convolutions(), 20, random_state=0).fit(X, y)
    other = np.where(np.isnan(X), 5 * inputs(30, 60, seed=1).reshape(X.shape), X)
    np.testing.assert_array_equal(model.decision_function(other), model.decision_function(X))


def test_series_of_two_units_are_warned_of():
    X = inputs(30, 40)
    X[::3] *= 1e10
    with pytest.warns(UserWarning, match="67% vary by less than 1e-05.*Remedy: divide") as caught:
        Convolutions((2, 20)).fit(X, np.random.default_rng(0))
    assert len(caught) == 1


def test_scales_are_of_all_values_and_of_levels_in_constant_channels():
    X = inputs(50, 60).reshape(50, 3, 20) * 3 + inputs(50, 3)[:, :, None]
    X[:, 1] = X[:, 1, :1] + 37.3  # constant in each series, but for rounding of its mean
    X[:, 2] = 0.1  # the same in all
    X[7, 0, 5:] = np.nan
    neurons = Convolutions((3, 20)).fit(X.reshape(50, -1), np.random.default_rng(0))
    within = np.sqrt(np.mean(np.nanvar(X, axis=2), axis=0))
    means = np.nanmean(X, axis=2)
    np.testing.assert_allclose(neurons.scale_[0], [within[0], means[:, 1].std(), 1])
    np.testing.assert_allclose(neurons.level_[0], means.mean(axis=0))
    total = np.sqrt(within[0] ** 2 + means[:, 0].var()), means[:, 1].std(), 1
    np.testing.assert_allclose(neurons.level_[1], total)


def test_levels_tell_series_apart():
    X, y = inputs(300, 60), np.arange(300) % 2
    X += y[:, None]
    X[:, 40:] = np.nan
    model = KitchenSinksClassifier(Convolutions(), 100, random_state=0).fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) > 0.95


def test_series_of_unequal_length_end_with_missing_values():
    """Where padding does not count, what follows a series does not matter."""
    X = inputs(20, 60)
    neurons, weights = drawn(Convolutions(), X, n=40)
    short = X.copy()
    short[:, 40:] = np.nan
    alone = clone(neurons).fit(X[:, :40], np.random.default_rng(0))
    alone.scale_, alone.level_ = neurons.scale_, neurons.level_
    np.testing.assert_allclose(neurons(short, weights), alone(X[:, :40], weights), atol=1e-12)


def test_a_constant_stretch_has_no_winners():
    """Rounding errors of a level that is no short binary number decide nothing."""
    X = np.repeat(inputs(30, 4), 40, axis=1)
    neurons, weights = drawn(Convolutions(), X, 60, "float32")
    single = neurons(X.astype("float32"), weights)
    double = neurons(X, tuple(w.astype(float) if w.dtype == "f4" else w for w in weights))
    np.testing.assert_allclose(single, double, atol=1e-4)


def test_waves_at_any_place_are_told_apart():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 120)), rng.integers(2, size=300)
    for i, label in enumerate(y):
        start = rng.integers(90)
        X[i, start : start + 30] += 2 * np.sin((1.0, 1.6)[label] * np.arange(30))
    X[150::7, 100:] = np.nan  # without a warning, though training series have no gaps
    for neurons in (Convolutions(), 0.5 * Convolutions()):
        model = KitchenSinksClassifier(neurons, n_neurons=60, random_state=0)
        assert model.fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.9


@pytest.mark.parametrize(
    ("neurons", "X", "message"),
    [
        (Convolutions(24), inputs(9, 25), r"shape=24 makes series of 24 values, but X has 25"),
        (Convolutions((3, 8)), inputs(9, 24), r"8 times, but a kernel has 9 taps.*Remedy: longer"),
        (Convolutions((3, 8, 2)), inputs(9, 48), r"shape=.*\(channels, length\)"),
        (Convolutions(kernels=1), inputs(9, 48), r"kernels=1.*kernels=8"),
        (Convolutions(), np.full((9, 24), np.nan), r"all values of the training series are miss"),
    ],
)
def test_series_that_do_not_suit_are_refused(neurons, X, message):
    with pytest.raises(ValueError, match=message):
        KitchenSinksRegressor(neurons, 9).fit(X, np.arange(9.0))


def test_categories_are_refused():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(inputs(9, 24)).assign(town=list("abcabcabc"))
    with pytest.raises(ValueError, match=r"hold categories.*Remedy"):
        KitchenSinksRegressor(Convolutions(), 9).fit(X, np.arange(9.0))


def test_states_of_other_shapes_are_refused():
    neurons, _ = drawn(Convolutions((3, 10)), inputs(9, 30))
    for name, value in (
        ("scale_", np.ones((2, 2))),
        ("scale_", np.zeros((2, 3))),
        ("level_", np.ones((2, 2))),
        ("level_", np.zeros((2, 3))),
        ("rows_", np.ones((9, 29))),
        ("_weight", np.ones(8)),
        ("shape", (3, 9)),
    ):
        with pytest.raises(ValueError, match="Convolutions"):
            clone(neurons).__setstate__(vars(neurons) | {name: value})


def test_weights_that_lead_out_of_memory_are_refused():
    X = inputs(9, 30)
    neurons, weights = drawn(Convolutions(), X)
    for i, wrong in ((0, 3), (1, 0), (1, 99), (2, 2), (4, 7)):
        other = [w.copy() for w in weights]
        other[i].flat[0] = wrong
        with pytest.raises(ValueError, match=r"is (below|not below)"):
            neurons(X, tuple(other))


def test_a_mixture_has_convolutions_of_both_kinds():
    X, y = inputs(60, 24), np.arange(60) % 2
    model = KitchenSinksClassifier(Mixture([Convolutions(), Convolutions(kernels=4)]), 20)
    assert model.fit(X, y).predict(X).shape == (60,)
