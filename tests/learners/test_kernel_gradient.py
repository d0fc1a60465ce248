"""Online descent with the exact kernel, against a literal recursion and as a limit."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import naive
from cases import inputs, shots
from trickless import ShrinkingGradientRegressor
from trickless.kernels import KernelGradientClassifier, KernelGradientRegressor
from trickless.neurons import Gaussian

STEPS = {
    "sqrt": lambda t: min(0.9 / np.sqrt(t), 0.5),
    "inverse": lambda t: min(0.9 / t, 0.5),
    "constant": lambda t: 0.9,
}


def gaussian(gamma=0.5, **options):
    options = {"y_range": (-1, 1), "kernel_params": {"gamma": gamma}} | options
    return KernelGradientRegressor(**options)


@pytest.mark.parametrize("schedule", STEPS)
def test_rounds_are_those_of_descent(schedule):
    X = inputs(50, 3)
    y = np.sin(2 * X[:, 0])
    model = gaussian(schedule=schedule, step_size=0.9, batch_size=1).partial_fit(X, y)
    K = Gaussian(1.0).fit(X, None).kernel(X)
    alpha, predictions = naive.kernel_gradient(K, y, STEPS[schedule])
    np.testing.assert_allclose(model._rounds_.coefficients.last()[:, 0], alpha, atol=1e-12)
    np.testing.assert_allclose(model.online_error_[:, 1], (predictions - y) ** 2, atol=1e-12)
    average = alpha * (49 - np.arange(50)) / 50
    np.testing.assert_allclose(model.dual_coef_[:, 0], average, atol=1e-12)
    x = inputs(7, 3, seed=1)
    exact = Gaussian(1.0).fit(X, None).kernel(x, X) @ average
    np.testing.assert_allclose(model.predict(x), exact, atol=1e-12)
    np.testing.assert_array_equal(model.support_vectors_, X)


def test_coefficients_shrink_as_in_algorithm_1():
    X = inputs(40, 3)
    y = np.sin(2 * X[:, 0])
    model = gaussian(schedule="constant", step_size=0.4, batch_size=1, norm_bound=0.02)
    model.partial_fit(X, y)
    K = Gaussian(1.0).fit(X, None).kernel(X)
    alpha = np.zeros(40)
    shrunk = 0
    for t in range(40):
        E = K[t, :t] @ alpha[:t]
        if abs(E) < 16 * 0.02:
            alpha[t] = 0.4 * (y[t] - E)
        else:
            alpha, shrunk = alpha / 4, shrunk + 1
    assert shrunk > 3
    np.testing.assert_allclose(model._rounds_.coefficients.last()[:, 0], alpha, atol=1e-12)


def test_one_large_estimate_of_a_batch_shrinks_all_coefficients():
    """f is 0.8 at one row of the second batch, above 16 times the norm bound, and else 0."""
    X = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [50.0]])
    options = {"schedule": "constant", "step_size": 0.2, "norm_bound": 0.01, "average": False}
    model = gaussian(gamma=1.0, batch_size=4, **options).partial_fit(X[:4], np.ones(4))
    before = model.dual_coef_
    np.testing.assert_allclose(before, 0.2)
    model.set_params(batch_size=2).partial_fit(X[4:], np.ones(2))
    np.testing.assert_allclose(model.dual_coef_[:4], before / 4)
    np.testing.assert_allclose(model.dual_coef_[4:, 0], [0, 0.2])


def test_the_summed_step_of_a_batch_may_be_one_but_no_more():
    X = inputs(20, 2)
    model = gaussian(y_range="auto", schedule="constant", step_size=0.05, batch_size=21)
    with pytest.raises(ValueError, match=r"reach 1.05, and above 1 it may diverge.*Remedy"):
        model.fit(X, X[:, 0])
    model.set_params(batch_size=20).fit(X, X[:, 0])


def test_shrinking_gradient_approaches_the_kernel_gradient_with_more_draws():
    X = inputs(300, 2)
    y = np.sin(X[:, 0])
    options = {"batch_size": 1, "step_size": 0.3, "schedule": "constant", "average": False}
    exact = gaussian(**options).partial_fit(X, y)
    distance = []
    for m in (30, 3000):
        model = ShrinkingGradientRegressor(
            Gaussian(1.0), 20_000, n_draws=m, y_range=(-1, 1), random_state=0, **options
        ).partial_fit(X, y)
        f = model.estimates_.kernel(X, X) @ model.expansion_.dual_coef
        distance.append(np.sqrt(((f[:, 0] - exact.predict(X)) ** 2).mean()))
    # The noise of a round has variance 1/m; a hundred times the draws, a tenth of the distance.
    assert 0.05 < distance[1] / distance[0] < 0.2


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "laplacian"])
def test_kernels_are_names_of_scikit_learn(kernel):
    X = inputs(200, 3)
    y = X[:, 0] / 4
    model = KernelGradientRegressor(kernel, y_range=(-2, 2), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.5
    largest = np.diag(model.kernel_(X, X)).max()
    assert model.kernel_bound_ == pytest.approx(largest)


def test_a_classifier_learns_one_class_against_the_rest():
    X = inputs(400, 2)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = KernelGradientClassifier(random_state=0).fit(X, y)
    assert model.dual_coef_.shape == (400, 3)
    assert model.score(X, y) > 0.85
    row = model.decision_function(X[:4])
    expected = model.kernel_(X[:4], model.support_vectors_) @ model.dual_coef_
    np.testing.assert_allclose(row, expected, atol=1e-10)


def test_a_kernel_above_its_bound_is_refused():
    X = inputs(50, 3)
    with pytest.raises(ValueError, match=r"k\(x, x\) is .* above the kernel_bound of 1 .*Remedy"):
        KernelGradientRegressor("linear", kernel_bound=1.0).fit(X, X[:, 0])
    model = KernelGradientRegressor("linear", y_range=(-100, 100)).partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"for row 0, above the kernel_bound of.*Remedy"):
        model.partial_fit(100 * X[:1], X[:1, 0])
    negative = KernelGradientRegressor("sigmoid", kernel_params={"gamma": 0.0, "coef0": -1.0})
    with pytest.raises(ValueError, match=r"k\(x, x\) = -0.76.* for row 0.*negative. Remedy: a pos"):
        negative.fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"k\(x, x\) = 0 for every row.*Remedy: another kernel"):
        KernelGradientRegressor("linear").fit(0 * X, X[:, 0])
    with pytest.raises(ValueError, match=r"neurons of bound 2.*theorem"):
        gaussian(schedule="theorem", horizon=60, norm_bound=0.1, kernel_bound=4.0).fit(
            X, X[:, 0] / 9
        )


def test_the_theorem_schedule_takes_the_step_of_the_theorem():
    X = inputs(30, 3)
    y = np.sin(2 * X[:, 0])
    model = gaussian(schedule="theorem", horizon=30, norm_bound=0.1).partial_fit(X, y)
    K = Gaussian(1.0).fit(X, None).kernel(X)
    alpha, _ = naive.kernel_gradient(K, y, lambda t: 0.1 / (2 * np.sqrt(30)))
    np.testing.assert_allclose(model._rounds_.coefficients.last()[:, 0], alpha, atol=1e-12)


def test_a_kernel_that_rounding_puts_above_one_suits_the_theorem():
    X = np.vstack([inputs(49, 3), np.ones(3)])
    options = {"schedule": "theorem", "horizon": 50, "norm_bound": 0.5, "y_range": (-1, 1)}
    model = KernelGradientRegressor("cosine", **options).fit(X, np.sin(X[:, 0]))
    assert 1 < model.kernel_bound_ < 1 + 1e-9


def test_what_does_not_go_with_a_kernel_is_refused():
    X = inputs(30, 2)
    fit = lambda *args, **options: KernelGradientRegressor(*args, **options).fit(X, X[:, 0])  # noqa: E731
    with pytest.raises(TypeError, match=r"is a family of neurons, not a kernel.*Remedy"):
        fit(Gaussian())
    with pytest.raises(ValueError, match=r"has no parameter 'scale'.*it takes gamma"):
        fit("rbf", kernel_params={"scale": 1.0})
    with pytest.raises(ValueError, match=r"has no parameter 'gamma'.*it takes none"):
        fit(shots, kernel_params={"gamma": 1.0})
    fit(shots, max_support=9)
    np.testing.assert_array_equal(fit().certify(), [0])
    assert fit().noise_variance_ == 0


def test_predictions_are_sums_of_the_kernel_that_was_begun_with():
    X = inputs(80, 3)
    model = KernelGradientClassifier(kernel_params={"gamma": 0.3}, random_state=0)
    model.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    x = inputs(9, 3, seed=1)
    f = rbf_kernel(x, model.support_vectors_, gamma=0.3) @ model.dual_coef_
    np.testing.assert_allclose(model.decision_function(x), f, atol=1e-10)
    model.set_params(kernel="linear", kernel_params=None)
    np.testing.assert_allclose(model.decision_function(x), f, atol=1e-10)


@pytest.mark.parametrize(("rows", "n_jobs"), [(256, 3), (7, 1), (1, 2)])
def test_blocks_and_threads_change_no_prediction(rows, n_jobs, monkeypatch):
    X = inputs(80, 3)
    expected = gaussian(random_state=0, y_range="auto").fit(X, X[:, 0]).predict(X)
    monkeypatch.setattr("trickless._functions.exact_kernel.BLOCK_ROWS", rows)
    model = gaussian(random_state=0, y_range="auto", n_jobs=n_jobs).fit(X, X[:, 0])
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-9)
