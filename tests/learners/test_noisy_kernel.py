"""Learning from noisy kernel values: literal rounds, unbiased estimates, and bad functions."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import naive
from cases import inputs
from trickless._functions.stream import Purpose, generator
from trickless._learners.online import recipe_of
from trickless.kernels import KernelGradientClassifier, KernelGradientRegressor
from trickless.theory import shrinking_gradient_draws


def exactly(X, Y, rng):
    return rbf_kernel(X, Y, gamma=0.5)


def shots(X, Y, rng):
    return rng.binomial(4, rbf_kernel(X, Y, gamma=0.5)) / 4


def learner(estimate, **options):
    options = {"y_range": (-1, 1), "random_state": 0, "batch_size": 1} | options
    return KernelGradientRegressor(estimate, **options)


def test_noisy_kernel_without_noise_is_descent_with_the_exact_kernel():
    X = inputs(200, 2)
    y = np.sin(X[:, 0])
    noisy = learner(exactly).partial_fit(X, y)
    exact = KernelGradientRegressor(
        kernel_params={"gamma": 0.5}, y_range=(-1, 1), batch_size=1
    ).partial_fit(X, y)
    np.testing.assert_allclose(noisy.dual_coef_, exact.dual_coef_, atol=1e-12)
    np.testing.assert_allclose(noisy.predict(X), exact.predict(X), atol=1e-12)


def test_rounds_use_fresh_estimates_of_the_support():
    X = inputs(40, 2)
    y = np.sin(2 * X[:, 0])
    model = learner(shots, step_size=0.4, schedule="constant").partial_fit(X, y)
    alpha = np.zeros(40)
    for t in range(40):
        rng = generator(model._seed_, Purpose.ROUNDS, t)
        rng.random() if t else None  # the offset of thinning
        E = (shots(X[t : t + 1], X[:t], rng) @ alpha[:t]).item() if t else 0.0
        alpha[t] = 0.4 * (y[t] - E)
    np.testing.assert_allclose(model._rounds_.coefficients.last()[:, 0], alpha, atol=1e-12)


@pytest.mark.parametrize("n_draws", [10, 200])
def test_estimates_are_unbiased(n_draws):
    """10 of 60 support points are sampled, or each is asked once."""
    X = inputs(60, 2)
    model = learner(shots, n_draws=n_draws).partial_fit(X, np.sin(2 * X[:, 0]))
    x = inputs(3, 2, seed=1)
    exact = rbf_kernel(x, X, gamma=0.5) @ model._rounds_.coefficients.last()
    runs = []
    for seed in range(500):
        model._rounds_.seed = seed
        runs.append(model.estimates_(x, model._rounds_))
    error = np.std(runs, axis=0) / np.sqrt(500)
    assert (np.abs(np.mean(runs, axis=0) - exact) < 5 * error).all()


def test_no_more_estimates_are_made_than_asked_for():
    asked_in_all = []

    def counting(X, Y, rng):
        asked_in_all.append((len(X), len(Y)))
        return shots(X, Y, rng)

    X = inputs(80, 2)
    model = learner(counting, n_draws=25, batch_size="auto").partial_fit(X, np.sin(X[:, 0]))
    assert asked_in_all[:2] == [(16, 16)] * 2  # how noisy they are
    asked = asked_in_all[2:]
    assert max(points for _, points in asked) == 25
    rows = model.online_error_[1:, 0]
    np.testing.assert_array_equal([n for n, _ in asked], rows)
    model.predict(X[:7])
    assert asked_in_all[-1:] == [(7, np.count_nonzero(model.dual_coef_))]


def test_the_theorem_samples_as_algorithm_2():
    """T = 30 rounds against the ball of norm 0.1 ask for 19 draws with replacement."""
    X = inputs(30, 2)
    y = np.sin(2 * X[:, 0])
    options = {"schedule": "theorem-fixed", "horizon": 30, "norm_bound": 0.1}
    options["estimate_bound"] = 1.0
    model = learner(exactly, **options).partial_fit(X, y)
    alpha = []
    for t in range(30):
        E = 0.0
        if t:
            u = generator(model._seed_, Purpose.ROUNDS, t).random(19)
            size = np.cumsum(np.abs(alpha))
            index = [next(i for i in range(t) if size[i] > v * size[-1]) for v in u]
            k = rbf_kernel(X[t : t + 1], X[index], gamma=0.5)[0]
            E = (
                size[-1]
                / 19
                * sum(np.sign(alpha[i]) * k_i for i, k_i in zip(index, k, strict=True))
            )
        alpha.append(0.1 / (2 * np.sqrt(30)) * (y[t] - E))
    np.testing.assert_allclose(model._rounds_.coefficients.last()[:, 0], alpha, atol=1e-12)
    exact, _ = naive.kernel_gradient(rbf_kernel(X, gamma=0.5), y, lambda t: 0.1 / (2 * np.sqrt(30)))
    assert 0 < np.abs(exact - alpha).max() < 0.01
    with pytest.raises(ValueError, match=r"horizon=30 .*below 1/8"):
        learner(exactly, **options | {"norm_bound": 2.0}).fit(X, y)


def coins(X, Y, rng):
    """Unbiased estimates of the kernel that are 0 or 2."""
    return 2.0 * (rng.random((len(X), len(Y))) < rbf_kernel(X, Y, gamma=0.5) / 2)


def test_the_theorem_takes_as_many_estimates_as_their_bound_asks_for():
    X = inputs(100, 2)
    y = np.sin(2 * X[:, 0])
    options = {"schedule": "theorem", "horizon": 100, "norm_bound": 0.5}
    model = learner(coins, estimate_bound=2.0, **options).partial_fit(X, y)
    _, m, half_range, _ = model._rounds_.drawn.rows[-1]
    sizes = np.abs(model._rounds_.coefficients.last()[:-1]).sum()
    assert half_range == pytest.approx(2 * sizes)
    assert m == shrinking_gradient_draws(half_range, 100, 0.5)
    with pytest.raises(ValueError, match=r"schedule='theorem' does .*estimate_bound=None.*Remedy"):
        learner(coins, **options).fit(X, y)
    with pytest.raises(ValueError, match=r"returned 2.0 for row .* beyond estimate_bound=1.5.*Rem"):
        learner(coins, estimate_bound=1.5).fit(X, y)


def test_predictions_are_certified_by_the_bound_of_the_estimates():
    """P(|prediction - f| >= radius) <= 1 - confidence, over rows whose noise is independent."""
    X = inputs(200, 2)
    y = 3 + 2 * np.sin(2 * X[:, 0])
    model = learner(coins, estimate_bound=2.0, y_range=(1, 5)).fit(X, y)
    tests = inputs(1000, 2, seed=1)
    f = 3 + 2 * (rbf_kernel(tests, model.support_vectors_, gamma=0.5) @ model.dual_coef_)[:, 0]
    for confidence in (0.3, 0.7):
        (radius,) = model.certify(confidence)
        length = np.linalg.norm(model.dual_coef_)
        assert radius == pytest.approx(2 * 2 * length * np.sqrt(2 * np.log(2 / (1 - confidence))))
        wrong = (np.abs(model.predict(tests) - f) >= radius).mean()
        assert wrong <= 1 - confidence
    with pytest.raises(ValueError, match=r"certify does not go with .*estimate_bound=None.*Remedy"):
        learner(coins, y_range=(1, 5)).fit(X, y).certify()
    with pytest.raises(ValueError, match=r"confidence=1.*Remedy"):
        model.certify(1.0)
    labels = KernelGradientClassifier(coins, estimate_bound=2.0).fit(X, y > 3)
    assert labels.certify().shape == (1,)


def test_noise_averages_out_over_the_rounds():
    """The naive way, once-observed values in place of the kernel, is what it is compared with."""
    X = inputs(500, 2)
    y = np.sin(X[:, 0])
    model = learner(shots, batch_size="auto").fit(X, y)
    f = rbf_kernel(X, model.support_vectors_, gamma=0.5) @ model.dual_coef_
    assert 1 - ((f[:, 0] - y) ** 2).mean() / y.var() > 0.8


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("n_draws", [50, 512])
def test_much_noise_does_not_make_rounds_diverge(n, n_draws):
    """One or two yes-or-no measurements an estimate: the online error falls and stays low."""

    def few(X, Y, rng):
        return rng.binomial(n, rbf_kernel(X, Y, gamma=0.5)) / n

    X = inputs(1500, 2)
    model = learner(few, n_draws=n_draws, batch_size="auto").fit(X, np.sin(X[:, 0]))
    rows, error = model.online_error_.T
    late = np.average(error[len(rows) // 2 :], weights=rows[len(rows) // 2 :])
    assert late < 3 * np.sin(X[:, 0]).var()
    f = rbf_kernel(X, model.support_vectors_, gamma=0.5) @ model.dual_coef_
    assert 1 - ((f[:, 0] - np.sin(X[:, 0])) ** 2).mean() / np.sin(X[:, 0]).var() > 0.5


def next_step(model):
    return model._rounds_.step(recipe_of(model))


def test_the_noise_is_measured_and_limits_decaying_steps():
    X = inputs(400, 2)
    y = np.sin(X[:, 0])
    model = learner(shots).partial_fit(X[:40], y[:40])
    k = rbf_kernel(X[:40], gamma=0.5)[~np.eye(40, dtype=bool)]
    # 256 pairs, each a difference of two draws: its square has a standard deviation of its mean.
    assert model.noise_variance_ == pytest.approx((k * (1 - k)).mean() / 4, rel=0.4)
    v = model.noise_variance_
    for t in (40, 41):
        limit = 1 / np.sqrt(v * (t + 1) * (1 + np.log(t + 1)))
        assert next_step(model) == pytest.approx(min(5 / np.sqrt(t + 1), 0.5, limit))
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert model.noise_variance_ == v
    noiseless = learner(exactly).partial_fit(X, y)
    assert noiseless.noise_variance_ == 0
    assert next_step(noiseless) == pytest.approx(5 / np.sqrt(401))


def noisy(deviation):
    """A Gaussian kernel with normal noise; its deviation may be set later on."""

    def estimate(X, Y, rng):
        return rbf_kernel(X, Y, gamma=0.5) + rng.normal(0, estimate.deviation, (len(X), len(Y)))

    estimate.deviation = deviation
    return estimate


def test_the_largest_noise_of_a_stream_counts():
    """256 pairs know a variance to 9 %, as a standard error."""
    X = inputs(200, 2)
    y = np.sin(X[:, 0])
    estimate = noisy(1.0)
    model = learner(estimate, batch_size="auto").partial_fit(X[:40], y[:40])
    before = model.noise_variance_
    assert before == pytest.approx(1, rel=5 * 0.09)
    estimate.deviation = 0.1
    model.partial_fit(X[40:90], y[40:90]).partial_fit(X[90:], y[90:])
    assert model.noise_variance_ == before
    estimate.deviation = 3.0
    model.partial_fit(X, y).partial_fit(X, y)
    assert model.noise_variance_ == pytest.approx(9, rel=5 * 0.09)


def test_noise_is_found_in_rows_with_a_constant_column():
    """Two rows are the same only where all their columns are."""
    X = np.column_stack([inputs(200, 2), np.ones(200)])
    model = KernelGradientRegressor(noisy(0.5), random_state=0).fit(X, X[:, 0] / 9)
    assert model.noise_variance_ == pytest.approx(0.25, rel=5 * 0.09)


def test_noise_is_found_in_streams_that_begin_with_rows_that_are_alike():
    """The kernel of neighbours is nearly certain, and that of a row with itself is."""

    def coins(X, Y, rng):
        return rng.binomial(1, rbf_kernel(X, Y, gamma=0.5)) * 1.0

    X = inputs(600, 2)
    X = X[np.argsort(X[:, 0])]
    y = np.sin(X[:, 0])
    k = rbf_kernel(X, gamma=0.5)
    variance = (k * (1 - k)).mean()
    for cuts in (None, [1], [16]):
        model = learner(coins, batch_size="auto")
        if cuts is None:
            model.fit(X, y)
        else:
            for rows in np.split(np.arange(600), [*cuts, *range(100, 600, 100)]):
                model.partial_fit(X[rows], y[rows])
        assert 0.5 * variance < model.noise_variance_ < 2.5 * variance
        f = rbf_kernel(X, model.support_vectors_, gamma=0.5) @ model.dual_coef_
        assert np.abs(f).max() < 5
    single = learner(coins).partial_fit(X[:1], y[:1])
    assert single.estimates_.largest_step(single._rounds_) == pytest.approx(
        min(0.5, 2 / np.sqrt(2 * (1 + np.log(2))))
    )


def test_predictions_are_the_same_each_time():
    X = inputs(100, 2)
    model = KernelGradientClassifier(shots, random_state=0).fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(X))
    assert model.kernel_bound_ == 1.0


@pytest.mark.parametrize(
    ("estimate", "error", "message"),
    [
        (lambda X, Y, rng: np.ones(len(X)), ValueError, r"shape \(\d+,\).*must have the shape"),
        (lambda X, Y, rng: np.ones((len(Y), len(X))), ValueError, "must have the shape"),
        (lambda X, Y, rng: np.full((len(X), len(Y)), np.nan), ValueError, "nan for row 0 of X"),
        (lambda X, Y, rng: 1j * np.ones((len(X), len(Y))), TypeError, "must be real numbers"),
        (lambda X, Y, rng: [["a"] * len(Y)] * len(X), TypeError, "must be real numbers"),
    ],
)
def test_mistakes_in_the_function_are_explained(estimate, error, message):
    X = inputs(20, 2)
    with pytest.raises(error, match=rf"kernel\(X, Y, rng\) returned .*{message}.*Remedy"):
        KernelGradientRegressor(estimate).fit(X, X[:, 0])


def test_a_function_that_is_zero_asks_for_no_estimates():
    """Constant targets, and one batch, before which every average is 0."""
    X = inputs(50, 2)
    np.testing.assert_array_equal(KernelGradientRegressor(shots).fit(X, np.ones(50)).predict(X), 1)
    model = KernelGradientClassifier(shots, n_draws=3).fit(X[:2], ["a", "b"])
    np.testing.assert_array_equal(model.decision_function(X), 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the kernel
def test_an_estimate_that_fails_names_how_large_the_rows_are():
    X = inputs(20, 2)
    with pytest.raises(ValueError, match=r"failed with ValueError: p < 0.*rows reach.*Remedy: sc"):
        KernelGradientRegressor(shots).fit(1e160 * X, X[:, 0])
