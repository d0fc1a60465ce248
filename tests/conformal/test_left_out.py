"""Intervals of Kitchen Sinks without a refit, against refits and simulations."""

import numpy as np
import pytest

import naive
from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian, Landmarks


def activations(model, X):
    return np.concatenate([Z for _, Z in model._sums_._panels(X, model._problem())])


def problem(n, rng, n_new=20):
    X = rng.uniform(-2, 2, (n + n_new, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(len(X))
    return X[:n], y[:n], X[n:], y[n:]


def coverage(intervals, y):
    return (intervals[:, 0] <= y) & (y <= intervals[:, 1])


@pytest.mark.parametrize("n", [15, 60])  # fewer rows than columns, which are kept, and more
def test_jackknife_plus_is_that_of_as_many_fits(n):
    X, y, X_new, _ = problem(n, np.random.default_rng(n))
    model = KitchenSinksRegressor(Gaussian(1.0), 10, alpha=1e-3, dtype="float64", random_state=0)
    model.fit(X, y)
    found = model.predict_interval(X_new, 0.8)
    Z, Z_new = activations(model, X), activations(model, X_new)
    expected = [naive.jackknife_plus(Z, y, np.ones(n), 1e-2, z, 0.8) for z in Z_new]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(model.compact().predict_interval(X_new, 0.8), found)


@pytest.mark.parametrize("n", [15, 40])
def test_the_full_set_has_the_ends_that_refits_for_each_candidate_find(n):
    X, y, X_new, _ = problem(n, np.random.default_rng(n), 3)
    model = KitchenSinksRegressor(Gaussian(1.0), 10, alpha=1e-2, dtype="float64", random_state=0)
    found = model.fit(X, y).predict_interval(X_new, 0.8, method="full")
    Z, Z_new = activations(model, X), activations(model, X_new)
    assert np.isfinite(found).all()
    for (low, high), z in zip(found, Z_new, strict=True):
        inside, wide = np.linspace(low, high, 12), high - low
        step = 1e-6 * wide
        for candidate in [low + step, high - step, *inside[1:-1]]:
            assert naive.belongs(Z, y, 0.1, z, candidate, 0.8)
        for candidate in [low - step, high + step, low - wide, high + wide]:
            assert not naive.belongs(Z, y, 0.1, z, candidate, 0.8)


@pytest.mark.parametrize("n", [15, 60])
@pytest.mark.parametrize("method", ["jackknife+", "full"])
def test_repeated_rows_count_as_often_as_they_occur_in_any_order(n, method):
    X, y, X_new, _ = problem(n, np.random.default_rng(n))
    copies = np.arange(n) % 3 + 1
    model = KitchenSinksRegressor(Gaussian(1.0), 30, alpha=1e-3, dtype="float64", random_state=0)
    once = model.fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    found = once.predict_interval(X_new, 0.8, method)
    order = np.random.default_rng(0).permutation(copies.sum())
    again = model.fit(np.repeat(X, copies, axis=0)[order], np.repeat(y, copies)[order])
    np.testing.assert_allclose(again.predict_interval(X_new, 0.8, method), found, rtol=1e-9)


NOISES = {
    "even": lambda rng, X: rng.standard_normal(len(X)),
    "heavy tails": lambda rng, X: rng.standard_t(2, len(X)),
    "unequal": lambda rng, X: np.abs(X[:, 0]) * rng.standard_normal(len(X)),
}


@pytest.mark.parametrize(
    ("noise", "method"),
    [
        ("even", "jackknife+"),
        ("even", "full"),
        ("heavy tails", "jackknife+"),
        ("unequal", "full"),
    ],
)
def test_new_targets_are_inside_as_often_as_asked_by_left_out_rows(noise, method):
    shares = []
    for seed in range(28):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, (160, 2))
        y = np.sin(2 * X[:, 0]) + X[:, 1] + NOISES[noise](rng, X)
        model = KitchenSinksRegressor(n_neurons=20, random_state=seed, n_jobs=1)
        model.fit(X[:80], y[:80])
        shares.append(coverage(model.predict_interval(X[80:], 0.9, method), y[80:]).mean())
    error = np.std(shares) / len(shares) ** 0.5
    # A rank for the choice of alpha adds 1 / 81 to the coverage, if the choice took nothing.
    assert 0.9 - 3 * error < np.mean(shares) < 0.9 + 2 / 81 + 3 * error
    assert error < 0.012


@pytest.mark.parametrize(
    ("alpha", "n"), [(1e-2, 30), ("auto", 30), ("auto", 100), ("evidence", 30)]
)
def test_normal_errors_are_inside_as_often_as_asked(alpha, n):
    """Functions are drawn from the process of alpha=0.01. The choice of alpha costs a rank."""
    shares = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, (n + 300, 2))
        model = KitchenSinksRegressor(Gaussian(1.0), 10, alpha=1e-2, dtype="float64")
        model.set_params(random_state=seed, n_jobs=1).fit(X[:n], X[:n, 0])
        Z = activations(model, X)
        f = Z @ rng.standard_normal(Z.shape[1]) / np.sqrt(n * 1e-2 * 10)
        y = f + rng.standard_normal(len(X))
        model.set_params(alpha=alpha).fit(X[:n], y[:n])
        shares.append(coverage(model.predict_interval(X[n:], 0.9, "gaussian"), y[n:]).mean())
    error = np.std(shares) / len(shares) ** 0.5
    assert error < 0.007
    fewer = 0 if alpha == 1e-2 else 1 / (n + 1)
    assert 0.9 - fewer - 3 * error < np.mean(shares) < 0.9 + 3 * error


def test_weights_shift_the_coverage_to_the_rows_that_they_stand_for():
    """Rows are drawn evenly, and new rows with a density that grows with x."""
    shares = {True: [], False: []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0, 1, 400)
        y = x + x**2 * rng.standard_normal(400)
        new = rng.uniform(0, 1, 400) ** 0.25  # density 4 x³
        y_new = new + new**2 * rng.standard_normal(400)
        for weighted in shares:
            model = KitchenSinksRegressor(Gaussian(1.0), 10, alpha=1e-4, random_state=0)
            model.fit(x[:, None], y, 4 * x**3 if weighted else None)
            found = model.predict_interval(new[:, None], weighted=weighted)
            shares[weighted].append(coverage(found, y_new).mean())
    error = {key: np.std(each) / len(each) ** 0.5 for key, each in shares.items()}
    assert np.mean(shares[False]) < 0.9 - 5 * error[False]
    assert abs(np.mean(shares[True]) - 0.9) < 0.01 + 3 * error[True]


def test_each_output_has_its_own_intervals_whatever_its_unit():
    X, y, X_new, _ = problem(60, np.random.default_rng(0))
    Y = np.column_stack([y, 1000 * np.cos(y) + 5])
    model = KitchenSinksRegressor(Gaussian(1.0), 30, dtype="float64", random_state=0)
    both = model.fit(X, Y).predict_interval(X_new)
    assert both.shape == (20, 2, 2)
    for output in range(2):
        alone = model.fit(X, Y[:, output]).predict_interval(X_new)
        np.testing.assert_allclose(both[:, output], alone, rtol=1e-6)


@pytest.mark.parametrize("method", ["auto", "full", "gaussian"])
def test_a_row_has_its_interval_whatever_is_beside_it(method):
    X, y, X_new, _ = problem(300, np.random.default_rng(0), 200)
    model = KitchenSinksRegressor(Gaussian(1.0), 40, random_state=0, dtype="float64").fit(X, y)
    all_rows, two = (model.predict_interval(some, 0.9, method) for some in (X_new, X_new[7:9]))
    np.testing.assert_allclose(two, all_rows[7:9], rtol=1e-6)
    model.set_params(n_jobs=2)
    np.testing.assert_allclose(model.predict_interval(X_new, 0.9, method), all_rows, rtol=1e-6)


def test_parts_of_the_rows_merge_to_the_same_intervals():
    X, y, X_new, _ = problem(300, np.random.default_rng(0))
    parts = [
        KitchenSinksRegressor(Gaussian(1.0), 20, alpha=1e-3, random_state=0).fit(X[some], y[some])
        for some in (slice(100), slice(100, None))
    ]
    merged = parts[0].merge(parts[1]).predict_interval(X_new)
    whole = KitchenSinksRegressor(Gaussian(1.0), 20, alpha=1e-3, random_state=0).fit(X, y)
    np.testing.assert_allclose(merged, whole.predict_interval(X_new), rtol=1e-6)


def test_passes_over_the_rows_give_intervals_from_the_mean_leverage():
    rng = np.random.default_rng(0)
    X, y, X_new, y_new = problem(1000, rng, 2000)
    model = KitchenSinksRegressor(Gaussian(1.0), 40, solver="iterative", random_state=0)
    found = model.fit(X, y).predict_interval(X_new)
    error = (0.09 / 1000 + 0.09 / 2000) ** 0.5
    assert abs(coverage(found, y_new).mean() - 0.9) < 3 * error
    np.testing.assert_array_equal(model.compact().predict_interval(X_new), found)
    with pytest.raises(ValueError, match=r"jackknife\+ need.*Remedy: error_bars=True"):
        model.predict_interval(X_new, method="jackknife+")
    model.set_params(alpha=1e-4).fit(X, y)
    for given in (model, model.compact()):
        with pytest.raises(ValueError, match=r"alpha=0.0001, which does not .* Remedy: error_bars"):
            given.predict_interval(X_new)


@pytest.mark.parametrize(
    ("confidence", "message"),
    [
        (0, "confidence=0, but it must be a number between 0 and 1. Remedy"),
        (1.0, "confidence=1.0, but it must be a number between 0 and 1. Remedy"),
        ("high", "confidence='high', but it must be a number between 0 and 1. Remedy"),
        (
            0.99,
            r"needs the errors of at least 99 rows, but the model has kept 50. Remedy: fit with",
        ),
    ],
)
def test_levels_that_cannot_be_reached_are_refused(confidence, message):
    X, y, X_new, _ = problem(50, np.random.default_rng(0))
    model = KitchenSinksRegressor(Gaussian(1.0), 10, random_state=0).fit(X, y)
    with pytest.raises((ValueError, TypeError), match=message):
        model.predict_interval(X_new, confidence)


def test_models_that_leave_no_row_out_say_what_to_do():
    X, y, X_new, _ = problem(50, np.random.default_rng(0))
    model = KitchenSinksRegressor(Gaussian(1.0), 10, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"compact\(\) has left out .* Remedy: use the model from"):
        model.compact(error_bars=False).predict_interval(X_new)
    with pytest.raises(ValueError, match=r"method='exact', but it must be 'auto' or 'jackknife\+'"):
        model.predict_interval(X_new, method="exact")
    model.set_params(weight_bound=2.0).fit(X, y)
    with pytest.raises(ValueError, match=r"no row can be left out .* Remedy: weight_bound=None"):
        model.predict_interval(X_new)


def test_what_was_chosen_by_the_same_rows_widens_intervals_by_a_rank():
    X, y, X_new, _ = problem(50, np.random.default_rng(0))
    model = KitchenSinksRegressor(Gaussian(1.0), 10, dtype="float64", random_state=0).fit(X, y)
    chosen = model.predict_interval(X_new, 40 / 51)
    model.set_params(alpha=model.alpha_).fit(X, y)  # which is now given
    np.testing.assert_allclose(model.predict_interval(X_new, 41 / 51), chosen, rtol=1e-6)
    assert (np.diff(model.predict_interval(X_new, 40 / 51)) < np.diff(chosen)).all()


@pytest.mark.parametrize("n", [60, 300])
def test_parameters_of_the_next_solution_do_not_change_this_one(n):
    X, y, X_new, _ = problem(n, np.random.default_rng(0))
    model = KitchenSinksRegressor(Gaussian(1.0), 40, random_state=0).fit(X, y + 10)
    before = model.predict_interval(X_new), model.predict(X_new, return_std=True)[1]
    model.set_params(fit_intercept=False, alpha=1.0)
    after = model.predict_interval(X_new), model.predict(X_new, return_std=True)[1]
    for ours, theirs in zip(before, after, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    model.partial_fit(X, y + 10)
    assert model.intercept_ == 0


@pytest.mark.parametrize("n", [15, 300])
def test_targets_that_do_not_vary_have_intervals_without_length(n):
    X = np.random.default_rng(0).standard_normal((n, 2))
    model = KitchenSinksRegressor(n_neurons=20, random_state=0)
    found = model.fit(X, np.full(n, 3.0)).predict_interval(X)
    np.testing.assert_allclose(found, 3.0, atol=1e-6)


def test_neurons_that_were_chosen_without_targets_need_no_warning():
    X, y, X_new, _ = problem(60, np.random.default_rng(0))
    landmarks = Landmarks(Gaussian(1.0), n_points=10, selection="rpcholesky")
    KitchenSinksRegressor(landmarks, 10, random_state=0).fit(X, y).predict_interval(X_new)
