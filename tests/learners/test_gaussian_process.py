"""Kitchen Sinks as a Gaussian process, against scikit-learn's and against matrices written out."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

import trickless
from cases import inputs
from rounding import of_sums
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._functions.activations import panels
from trickless._solvers.least_squares.evidence import log_evidence
from trickless._solvers.least_squares.statistics import Moments
from trickless.neurons import Gaussian, Laplace1, Matern, On, Periodic, Stumps

NEW = inputs(7, 2, seed=9)


def data(n, seed=0):
    X, rng = inputs(n, 2, seed=seed), np.random.default_rng(seed)
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(n)
    return X, np.column_stack([y, 3 * X[:, 1] + 5 + rng.standard_normal(n)])


def model_of(alpha="auto", fit_intercept=False, n_neurons=30, **options):
    options = {"random_state": 0, "dtype": "float64"} | options
    return KitchenSinksRegressor(
        Gaussian(1.0), n_neurons, alpha=alpha, fit_intercept=fit_intercept, **options
    )


def features(model, X):
    ((_, Z),) = panels(model._stream_, model.n_neurons, np.asarray(X, float))
    return Z.copy()


def process_of(model, X, y, output=0):
    """scikit-learn's process with the linear kernel of the same activations."""
    noise, alpha = np.ravel(model.noise_variance_)[output], np.ravel(model.alpha_)[output]
    factor = noise / (len(X) * alpha * model.n_neurons)
    kernel = kernels.ConstantKernel(factor) * kernels.DotProduct(0.0, "fixed")
    kernel += kernels.WhiteKernel(noise)
    return GaussianProcessRegressor(kernel, optimizer=None, alpha=0).fit(features(model, X), y)


@pytest.mark.parametrize("n", [40, 300])  # fewer rows than columns, and more
@pytest.mark.parametrize("alpha", [1e-3, "auto", "evidence"])
def test_answers_are_those_of_scikit_learn_on_the_same_features(n, alpha):
    X, Y = data(n)
    model = model_of(alpha).fit(X, Y)
    mean, cov = model.predict(NEW, return_cov=True)
    _, std = model.predict(NEW, return_std=True)
    for output in range(2):
        process = process_of(model, X, Y[:, output], output)
        expected, wanted = process.predict(features(model, NEW), return_cov=True)
        np.testing.assert_allclose(mean[:, output], expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(cov[:, :, output], wanted, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(std[:, output], np.sqrt(np.diag(wanted)), rtol=1e-6)
        likelihood = process.log_marginal_likelihood_value_
        assert model.log_marginal_likelihood_[output] == pytest.approx(likelihood, rel=1e-6)


@pytest.mark.parametrize("n", [40, 300])
def test_an_intercept_has_a_flat_prior(n):
    """Against Rasmussen and Williams (2006), Equations 2.42 and 2.45, for the basis h(x) = 1."""
    X, Y = data(n)
    y, model = Y[:, 0], model_of(1e-3, fit_intercept=True).fit(X, Y[:, 0])
    Z, new, noise = features(model, X), features(model, NEW), model.noise_variance_
    prior = noise / (n * model.alpha_ * model.n_neurons)
    inverse, ones = np.linalg.inv(prior * Z @ Z.T + noise * np.eye(n)), np.ones(n)
    A = ones @ inverse @ ones
    C = np.outer(inverse @ ones, inverse @ ones) / A
    expected = -0.5 * (y @ (inverse - C) @ y - np.linalg.slogdet(inverse)[1] + np.log(A))
    expected -= (n - 1) / 2 * np.log(2 * np.pi)
    assert model.log_marginal_likelihood_ == pytest.approx(expected, rel=1e-6)
    R = 1 - prior * new @ Z.T @ inverse @ ones
    wanted = prior * new @ (np.eye(60) - prior * Z.T @ inverse @ Z) @ new.T + np.outer(R, R) / A
    _, cov = model.predict(NEW, return_cov=True)
    np.testing.assert_allclose(cov, wanted + noise * np.eye(7), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weights_divide_the_noise_of_rows_in_the_likelihood(n, fit_intercept):
    """Against the density of all targets, of Rasmussen and Williams (2006), Equation 2.45."""
    X, Y = data(n)
    y, weight = Y[:, 0], np.random.default_rng(0).uniform(0.1, 3, n)
    model = model_of("evidence", fit_intercept=fit_intercept).fit(X, y, weight)
    Z, total = features(model, X), weight.sum()
    n_effective = total**2 / (weight @ weight)

    def density(alpha, noise):
        prior = noise / (n_effective * alpha * model.n_neurons)
        inverse = np.linalg.inv(prior * Z @ Z.T + np.diag(noise * total / (n_effective * weight)))
        found = -0.5 * (y @ inverse @ y - np.linalg.slogdet(inverse)[1] + n * np.log(2 * np.pi))
        if fit_intercept:
            A = inverse.sum()
            found += 0.5 * ((y @ inverse.sum(axis=1)) ** 2 / A - np.log(A / (2 * np.pi)))
        return found

    at = model.alpha_, model.noise_variance_
    assert model.log_marginal_likelihood_ == pytest.approx(density(*at), rel=1e-6)
    parts = model_of("evidence", fit_intercept=fit_intercept).fit(X[:30], y[:30], weight[:30])
    parts.partial_fit(X[30:], y[30:], weight[30:])
    assert parts.log_marginal_likelihood_ == pytest.approx(density(*at), rel=1e-6)
    theta, step = model.theta_ + 0.3 * np.array([0, 1, -1]), 1e-4
    how = {"sample_weight": weight, "eval_gradient": True}
    alpha, noise = np.exp(theta[1:])
    value, slopes = model.log_marginal_likelihood(X, y, theta, **how)
    assert value == pytest.approx(density(alpha, noise), rel=1e-6)
    for slope, (i, j) in zip(slopes[1:], [(step, 0), (0, step)], strict=True):
        ends = [density(alpha * np.exp(k * i), noise * np.exp(k * j)) for k in (1, -1)]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4)

    def greatest(alpha):
        return minimize_scalar(lambda log: -density(alpha, np.exp(log)), bracket=(-5, 1)).fun

    around = [greatest(model.alpha_ * factor) for factor in (0.9, 1.0, 1.1)]
    assert around[1] == min(around)


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_evidence_is_greatest(n, fit_intercept):
    """Over alpha and the noise, which then has the variance of the residuals."""
    X, Y = data(n)
    model = model_of("evidence", fit_intercept).fit(X, Y)
    for output in range(2):
        y = Y[:, output]

        def loss(log_alpha, y=y):
            other = model_of(float(np.exp(log_alpha)), fit_intercept).fit(X, y)
            sums, problem = other._sums_, other._problem()
            moments, solution = sums._moments(problem), sums.solution(problem)
            rest = y - other.predict(X)
            energy = rest @ rest / n + solution.ridge @ (solution.coef**2).sum(axis=0)
            noise = np.array([n * energy / (n - fit_intercept)])
            return -log_evidence(moments, solution, noise)[0]

        at = np.log(model.alpha_[output])
        ends, how = (at - 2, at + 2), {"xatol": 1e-5}
        best = minimize_scalar(loss, bounds=ends, method="bounded", options=how)
        assert at == pytest.approx(best.x, abs=1e-2)
        likelihood = -model.log_marginal_likelihood_[output]
        assert likelihood == pytest.approx(best.fun, abs=1e-4)


def test_parts_of_rows_and_rows_of_equal_weight_give_the_same():
    X, Y = data(300)
    whole = model_of("evidence").fit(X, Y)
    parts = model_of("evidence").partial_fit(X[:100], Y[:100]).partial_fit(X[100:200], Y[100:200])
    parts.merge(model_of("evidence").fit(X[200:], Y[200:], np.ones(100)))
    heavy = model_of("evidence").fit(X, Y, np.full(300, 7.0))
    for other in (parts, heavy):
        np.testing.assert_allclose(other.alpha_, whole.alpha_, rtol=1e-5)
        np.testing.assert_allclose(
            other.log_marginal_likelihood_, whole.log_marginal_likelihood_, rtol=1e-6
        )
        np.testing.assert_allclose(other.sample_y(NEW), whole.sample_y(NEW), rtol=1e-4)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n", [40, 300])
def test_samples_have_the_mean_and_the_covariance(n, fit_intercept):
    X, Y = data(n)
    model, n_samples = model_of(fit_intercept=fit_intercept).fit(X, Y), 4000
    mean, cov = model.predict(NEW, return_cov=True)
    samples = model.sample_y(NEW, n_samples)
    assert samples.shape == (7, 2, n_samples)
    for output in range(2):
        of_f = cov[:, :, output] - model.noise_variance_[output] * np.eye(7)
        root = np.sqrt(np.diag(of_f))
        away = samples[:, output].mean(axis=1) - mean[:, output]
        assert (np.abs(away) < 5 * root / np.sqrt(n_samples)).all()
        # The variance of a sample covariance is (c_ij² + c_ii c_jj) / n.
        error = np.sqrt((of_f**2 + np.outer(root, root) ** 2) / n_samples)
        assert (np.abs(np.cov(samples[:, output]) - of_f) < 5 * error).all()
    between = [np.corrcoef(samples[i])[0, 1] for i in range(7)]
    assert np.abs(between).max() < 5 / np.sqrt(n_samples)


def test_samples_are_functions():
    X, Y = data(100)
    model = model_of(dtype="float32").fit(X, Y[:, 0])
    f = model.sample_y(NEW, 3, random_state=5)
    assert f.shape == (7, 3)
    # Sums of activations of at most 1, times coefficients of about this sum.
    error = of_sums(model.neuron_coef_.size, np.abs(model.neuron_coef_).sum(), "float32")
    assert error < 0.1 * np.abs(f).max()
    np.testing.assert_allclose(
        model.sample_y(NEW[2:4], 3, random_state=5), f[2:4], rtol=0, atol=error
    )
    np.testing.assert_allclose(model.sample_y(NEW, 2, random_state=5), f[:, :2], rtol=1e-5)
    np.testing.assert_array_equal(model.compact().sample_y(NEW, 3, random_state=5), f)
    assert np.abs(model.sample_y(NEW, 3, random_state=6) - f).min() > 0


#: Families with a derivative, in one of which a column is named twice.
SMOOTH = [
    Gaussian(1.0),
    Matern(length_scale=[1.0, 2.0], nu=2.5),
    Laplace1(2.0),
    Periodic(3.0, 1.0),
    3 * Gaussian(2.0) + On([1], Periodic(2.0, 1.0)),
    On([1, 1], Periodic([2.0, 3.0], 1.0)),
]


@pytest.mark.parametrize("family", SMOOTH)
@pytest.mark.parametrize("n", [40, 300])
def test_the_gradient_of_a_sampled_function_is_that_of_its_values(family, n):
    X, Y = data(n)
    f = model_of().set_params(neurons=family).fit(X, Y).sample_function(3)
    gradient, step = f.gradient(NEW), 1e-3
    assert gradient.shape == (7, 2, 2)
    for feature in range(2):
        ends = [f(NEW + k * step * np.eye(2)[feature]) for k in (-2, -1, 1, 2)]
        expected = np.tensordot([1, -8, 8, -1], ends, axes=1) / (12 * step)  # of the fourth order
        error = 1e-6 * np.abs(gradient).max()
        np.testing.assert_allclose(gradient[:, feature], expected, rtol=0, atol=error)
    of_one = model_of().set_params(neurons=family).fit(X, Y[:, 0]).sample_function(3)
    np.testing.assert_allclose(of_one(NEW), f(NEW)[:, 0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(of_one.gradient(NEW), gradient[:, :, 0], rtol=1e-6, atol=1e-8)


def test_a_sampled_function_is_the_same_at_any_rows_and_after_later_rows():
    X, Y = data(100)
    model = model_of(fit_intercept=True).fit(X, Y[:, 0])
    f, expected = model.sample_function(5), model.sample_y(NEW, 1, random_state=5)[:, 0]
    np.testing.assert_array_equal(f(NEW), expected)
    for some in (slice(2, 3), [6, 0, 3]):
        np.testing.assert_allclose(f(NEW[some]), expected[some], rtol=1e-9)
        np.testing.assert_allclose(f.gradient(NEW[some]), f.gradient(NEW)[some], rtol=1e-9)
    assert np.abs(model.sample_function(6)(NEW) - expected).min() > 0
    again = pickle.loads(pickle.dumps(f))
    model.partial_fit(X[:50] + 1, Y[:50, 0])
    np.testing.assert_array_equal(f(NEW), expected)
    np.testing.assert_array_equal(again(NEW), expected)
    sparse = csr_matrix(NEW)
    np.testing.assert_allclose(f.gradient(sparse), f.gradient(NEW), rtol=1e-9)


@pytest.mark.parametrize("family", [Stumps(), Gaussian(1.0) + Stumps(), Gaussian(1.0) * Stumps()])
def test_families_without_a_derivative_say_so(family):
    X, Y = data(50)
    f = KitchenSinksRegressor(family, 20, random_state=0).fit(X, Y).sample_function()
    assert f(NEW).shape == (7, 2)
    with pytest.raises(ValueError, match=r"there is no gradient of these neurons.*Remedy: Gauss"):
        f.gradient(NEW)


def test_the_posterior_tends_to_the_exact_process():
    """Twice the mean at 2K neurons less that at K is off by O(1/K²), and by random errors."""
    (X, Y), noise, n_seeds = data(400), 0.09, 12
    kernel = kernels.ConstantKernel(noise / (400 * 1e-3)) * kernels.RBF(1.0)
    exact = GaussianProcessRegressor(kernel + kernels.WhiteKernel(noise), optimizer=None, alpha=0)
    mean, cov = exact.fit(X, Y[:, 0]).predict(NEW, return_cov=True)

    def answers(n_neurons, seed):
        model = model_of(1e-3, n_neurons=n_neurons, random_state=seed).fit(X, Y[:, 0])
        mean, cov = model.predict(NEW, return_cov=True)
        return np.column_stack([mean, cov / model.noise_variance_])

    few, many = (
        np.array([answers(n_neurons, 2 * seed + odd) for seed in range(n_seeds)])
        for odd, n_neurons in enumerate((200, 400))
    )
    error = np.sqrt((few.var(axis=0, ddof=1) + 4 * many.var(axis=0, ddof=1)) / n_seeds)
    off = 2 * many.mean(axis=0) - few.mean(axis=0) - np.column_stack([mean, cov / noise])
    assert error.max() < 0.05
    assert (np.abs(off) < 5 * error).all()


def test_deviations_of_decision_values_are_of_regression_on_signs():
    X, Y = data(200)
    signs = np.sign(Y[:, 0])
    classifier = KitchenSinksClassifier(Gaussian(1.0), 20, alpha=1e-2, random_state=0).fit(X, signs)
    regressor = KitchenSinksRegressor(Gaussian(1.0), 20, alpha=1e-2, random_state=0).fit(X, signs)
    values, std = classifier.decision_function(NEW, return_std=True)
    np.testing.assert_array_equal(values, classifier.decision_function(NEW))
    _, expected = regressor.predict(NEW, return_std=True)
    np.testing.assert_allclose(std**2 + regressor.noise_variance_, expected**2, rtol=1e-6)
    three = KitchenSinksClassifier(Gaussian(1.0), 20, random_state=0).fit(X, np.arange(200) % 3)
    values, std = three.decision_function(NEW, return_std=True)
    assert values.shape == std.shape == (7, 3)


@pytest.mark.parametrize("n", [40, 90])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("scales", [1.5, [1.0, 2.0]])
def test_the_gradient_of_the_likelihood_is_that_of_its_values(n, fit_intercept, scales):
    X, Y = data(n)
    model = model_of("evidence", fit_intercept).set_params(neurons__length_scale=scales)
    model.fit(X, Y)
    value, gradient = model.log_marginal_likelihood(X, Y, eval_gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood_.sum(), rel=1e-6)
    assert len(model.theta_) == np.size(scales) + 4
    theta = model.theta_ + 0.3 * np.random.default_rng(0).standard_normal(len(model.theta_))
    _, gradient = model.log_marginal_likelihood(X, Y, theta, eval_gradient=True)
    for i, slope in enumerate(gradient):
        step = 1e-3 * (np.arange(len(theta)) == i)
        ends = [model.log_marginal_likelihood(X, Y, theta + k * step) for k in (-2, -1, 1, 2)]
        expected = np.dot(ends, [1, -8, 8, -1]) / 12e-3  # of the fourth order
        assert slope == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_gradient_for_length_scales_is_that_of_the_kernel_matrix():
    """Rasmussen and Williams (2006), Equation 5.9, with activations whose slopes are written out"""
    X, Y = data(60)
    model = model_of(1e-3, n_neurons=10).fit(X, Y[:, 0])
    _, gradient = model.log_marginal_likelihood(X, Y[:, 0], eval_gradient=True)
    (frequencies,) = model._stream_.between(0, 10)
    t = X @ np.asarray(frequencies).T
    Z = np.hstack([np.cos(t), np.sin(t)])
    np.testing.assert_allclose(Z, features(model, X), atol=1e-9)
    slope = np.hstack([np.sin(t) * t, -np.cos(t) * t])  # in log length scale
    noise = model.noise_variance_
    prior = noise / (60 * model.alpha_ * 10)
    inverse = np.linalg.inv(prior * Z @ Z.T + noise * np.eye(60))
    a = inverse @ Y[:, 0]
    of_kernel = prior * (slope @ Z.T + Z @ slope.T)
    expected = 0.5 * np.trace((np.outer(a, a) - inverse) @ of_kernel)
    assert gradient[0] == pytest.approx(expected, rel=1e-5)


def test_what_has_no_posterior_says_why(tmp_path):
    X, Y = data(200)
    signs = np.sign(Y[:, 0])
    with pytest.raises(ValueError, match=r"loss='log_loss'.*Remedy: loss='squared_error'"):
        KitchenSinksClassifier(Gaussian(1.0), 20, loss="log_loss", random_state=0).fit(
            X, signs
        ).decision_function(X, return_std=True)
    bounded = KitchenSinksRegressor(Gaussian(1.0), 20, weight_bound=1.0, random_state=0)
    bounded.fit(X, Y)
    for ask in (
        lambda: bounded.sample_y(X),
        lambda: bounded.predict(X, return_cov=True),
        lambda: bounded.log_marginal_likelihood_,
    ):
        with pytest.raises(ValueError, match=r"does not go with weight_bound=1.0.*Remedy"):
            ask()
    model = model_of().fit(X, Y)
    with pytest.raises(ValueError, match=r"return_std=True does not go with return_cov.*Remedy"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match=r"n_samples=0.*Remedy"):
        model.sample_y(X, 0)
    with pytest.raises(ValueError, match=r"inconsistent numbers.*Remedy: one target"):
        model.log_marginal_likelihood(X, Y[:10])
    with pytest.raises(ValueError, match=r"y contains NaN.*Remedy"):
        model.log_marginal_likelihood(X, np.full_like(Y, np.nan))
    with pytest.raises(ValueError, match=r"compact\(\) has left out.*Remedy"):
        _ = model.compact().log_marginal_likelihood_
    with pytest.raises(ValueError, match=r"alpha='evidence'.*Remedy"):
        model_of("evidence", solver="iterative").fit(X, Y)
    with pytest.raises(AttributeError, match=r"alpha='evidence'.*no cv_values_.*Remedy"):
        _ = model_of("evidence").fit(X, Y).cv_values_
    trickless.save(model, tmp_path / "model", for_prediction=True)
    again = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(again.sample_y(NEW, 2), model.sample_y(NEW, 2))


@pytest.mark.parametrize("n", [1, 5, 200])
@pytest.mark.parametrize("how", [{"alpha": "evidence"}, {}])
def test_targets_that_do_not_vary(n, how, tmp_path):
    X, Y = data(200)
    Y[:, 0] = 2.0
    model = KitchenSinksRegressor(Gaussian(1.0), 20, random_state=0, **how).fit(X[:n], Y[:n])
    np.testing.assert_allclose(model.predict(NEW)[:, 0], 2.0)
    if n == 1:
        return
    assert (model.predict(NEW, return_std=True)[1][:, 0] == 0).all()
    trickless.save(model, tmp_path / "model")
    assert (trickless.load(tmp_path / "model").predict(NEW, return_std=True)[1][:, 0] == 0).all()


def test_few_rows_never_take_a_matrix_of_columns(monkeypatch):
    X, Y = data(40)
    model = model_of("evidence", fit_intercept=True).fit(X, Y)

    def multiplied(self):
        raise AssertionError("the covariance of all columns")

    monkeypatch.setattr(Moments, "covariance", property(multiplied))
    for one in (model, model.compact(error_bars=True)):
        one.predict(NEW, return_std=True)
        one.predict(NEW, return_cov=True)
        one.sample_y(NEW, 2)
        for method in ("gaussian", "jackknife+"):
            one.predict_interval(NEW, method=method)
    _ = model.log_marginal_likelihood_
    model.log_marginal_likelihood(X, Y, eval_gradient=True)


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_posterior_is_of_the_fit_after_parameters_are_set(n, fit_intercept):
    X, Y = data(n)
    model = model_of(fit_intercept=fit_intercept).fit(X, Y)
    asked = (
        lambda: model.noise_variance_,
        lambda: model.log_marginal_likelihood_,
        lambda: model.predict(NEW, return_std=True)[1],
        lambda: model.sample_y(NEW, 2),
    )
    before = [ask() for ask in asked]
    model.set_params(fit_intercept=not fit_intercept, alpha=1.0)
    for ask, value in zip(asked, before, strict=True):
        np.testing.assert_array_equal(ask(), value)
    # The next batch is learned with the new parameters.
    other = model_of(1.0, not fit_intercept).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    model.partial_fit(X, Y)
    np.testing.assert_allclose(model.noise_variance_, other.noise_variance_, rtol=1e-6)


def test_without_a_prior_there_is_no_likelihood():
    X = np.random.default_rng(0).standard_normal((100, 2))
    model = KitchenSinksRegressor(Gaussian(1.0), 6, alpha=0.0, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"alpha_=0.*Remedy: an alpha above 0"):
        _ = model.log_marginal_likelihood_
