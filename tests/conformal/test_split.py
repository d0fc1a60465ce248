"""Split conformal prediction for any model, in simulations."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trickless import DoublyStochasticRegressor, KitchenSinksRegressor
from trickless.conformal import SplitConformal
from trickless.conformal.sets import scores_of_classes
from trickless.neurons import Gaussian


class Line(RegressorMixin, BaseEstimator):
    """A model that knows the mean, or some quantiles, of normal noise of deviation x."""

    def __init__(self, quantile=0.5):
        self.quantile = quantile

    def predict(self, X, return_std=False):
        z = {0.05: -1.5, 0.25: -0.5, 0.5: 0.0, 0.75: 0.5, 0.95: 1.5}  # too small
        found = np.squeeze(X + np.multiply.outer(X[:, 0], [z[q] for q in np.ravel(self.quantile)]))
        return (found, X[:, 0]) if return_std else found


def rows(rng, n):
    X = rng.uniform(0, 1, (n, 1))
    return X, X[:, 0] + X[:, 0] * rng.standard_normal(n)


def inside(ends, y):
    return (ends[..., 0] <= y) & (y <= ends[..., 1])


def shares(model, n=60, seeds=300, level=0.9, **options):
    """Shares of 200 new rows inside, in all and among those with x above 0.8."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        conformal = SplitConformal(model, **options).calibrate(*rows(rng, n))
        X, y = rows(rng, 200)
        hit = inside(conformal.predict_interval(X, level), y)
        found.append([hit.mean(), hit[X[:, 0] > 0.8].mean()])
    return np.mean(found, axis=0), np.std(found, axis=0) / seeds**0.5


@pytest.mark.parametrize("n", [9, 60])
def test_new_targets_are_inside_as_often_as_the_theorem_says(n):
    (share, noisy), (error, error_noisy) = shares(Line(), n)
    exact = np.ceil(0.9 * (n + 1)) / (n + 1)
    assert abs(share - exact) < 4 * error
    assert noisy < 0.9 - 4 * error_noisy  # one width does not suit unequal noise


@pytest.mark.parametrize(
    ("model", "options"), [(Line((0.05, 0.5, 0.95)), {}), (Line(), {"scale": "std"})]
)
def test_quantiles_and_deviations_let_the_width_follow_the_noise(model, options):
    found, error = shares(model, **options)
    exact = np.ceil(0.9 * 61) / 61
    assert (np.abs(found - exact) < 4 * error).all()


def test_the_quantiles_next_to_the_level_are_taken():
    model = Line((0.05, 0.25, 0.5, 0.75, 0.95))
    X, y = rows(np.random.default_rng(0), 500)
    conformal = SplitConformal(model).calibrate(X, y)
    for level, ends in ((0.9, [0, 4]), (0.5, [1, 3]), (0.01, [2, 2])):
        found, q = conformal.predict_interval(X, level), model.predict(X)
        assert np.ptp(found[:, 0] - q[:, ends[0]]) < 1e-12 or level == 0.01
        assert (found[:, 0] <= found[:, 1]).all()
        assert abs(inside(found, y).mean() - level) < 0.01 + 1 / 501


def test_each_group_has_its_own_errors():
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rows(rng, 100)
        conformal = SplitConformal(Line()).calibrate(X, y, groups=X[:, 0] > 0.5)
        X, y = rows(rng, 200)
        hit = inside(conformal.predict_interval(X, groups=X[:, 0] > 0.5), y)
        found.append([hit[X[:, 0] > 0.5].mean(), hit[X[:, 0] <= 0.5].mean()])
    error = np.std(found, axis=0) / len(found) ** 0.5
    assert (np.mean(found, axis=0) > 0.9 - 3 * error).all()
    assert (np.mean(found, axis=0) < 0.9 + 2 / 50 + 3 * error).all()


@pytest.mark.parametrize("weighted", [True, False])
def test_ratios_of_densities_make_up_for_a_shift(weighted):
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rows(rng, 200)
        new = rng.uniform(0, 1, (200, 1)) ** 0.25  # density 4 x³
        y_new = new[:, 0] + new[:, 0] * rng.standard_normal(200)
        ratio = [{"sample_weight": x[:, 0] ** 3} if weighted else {} for x in (X, new)]
        ends = SplitConformal(Line()).calibrate(X, y, **ratio[0]).predict_interval(new, **ratio[1])
        found.append(inside(ends, y_new).mean())
    error = np.std(found) / len(found) ** 0.5
    if weighted:
        assert 0.9 - 3 * error < np.mean(found) < 0.93
    else:
        assert np.mean(found) < 0.9 - 5 * error


def test_scores_of_classes_are_the_mass_of_those_more_likely():
    found = scores_of_classes(np.array([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2], [0.5, 0.0, 0.5]]))
    np.testing.assert_allclose(found, [[0.8, 0, 0.5], [0, 0.6, 0.8], [0, 1, 0.5]])


def test_sets_hold_the_true_class_as_often_as_asked_by_split():
    found, sizes = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((700, 2))
        y = np.array(["c", "a", "b"])[(X + rng.gumbel(size=(700, 2))).argmax(1) + (X[:, 0] > 1)]
        model = LogisticRegression().fit(X[:200], y[:200])
        conformal = SplitConformal(model).calibrate(X[200:300], y[200:300])
        sets = conformal.predict_set(X[300:])
        found.append(sets[np.arange(400), np.searchsorted(model.classes_, y[300:])].mean())
        sizes.append(sets.sum(axis=1).mean())
        assert sets[np.arange(400), model.predict_proba(X[300:]).argmax(axis=1)].all()
    error = np.std(found) / len(found) ** 0.5
    assert abs(np.mean(found) - np.ceil(0.9 * 101) / 101) < 4 * error
    assert 1 < np.mean(sizes) < 2


def test_several_outputs_and_models_of_this_package():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (300, 2))
    Y = X @ rng.standard_normal((2, 2)) + [0.1, 10] * rng.standard_normal((300, 2))
    for model in (LinearRegression(), KitchenSinksRegressor(Gaussian(1.0), 20, random_state=0)):
        conformal = SplitConformal(model.fit(X[:100], Y[:100])).calibrate(X[100:200], Y[100:200])
        ends = conformal.predict_interval(X[200:])
        assert ends.shape == (100, 2, 2)
        assert (np.abs(inside(ends, Y[200:]).mean(axis=0) - 0.9) < 0.15).all()
        widths = np.diff(ends[0])[:, 0]
        assert 30 < widths[1] / widths[0] < 300
        np.testing.assert_array_equal(conformal.predict(X), model.predict(X))


def test_what_does_not_fit_together_is_refused():
    X, y = rows(np.random.default_rng(0), 20)
    with pytest.raises(NotFittedError, match=r"Remedy: calibrate\(X, y\) first"):
        SplitConformal(Line()).predict_interval(X)
    conformal = SplitConformal(Line()).calibrate(X, y, groups=np.array(["a", "b"] * 10))
    with pytest.raises(ValueError, match=r"groups was given for calibrate only. R"):
        conformal.predict_interval(X)
    with pytest.raises(ValueError, match=r"19 rows, but group b had 10. Remedy: pass more"):
        conformal.predict_interval(X, 0.95, groups=["b"] * 20)
    with pytest.raises(
        ValueError, match=r"group c had no rows in calibrate.*groups of .'a', 'b'.\.$"
    ):
        conformal.predict_interval(X, groups=["c"] * 20)
    with pytest.raises(ValueError, match=r"sample_weight holds .*Remedy"):
        SplitConformal(Line()).calibrate(X, y, sample_weight=-y)
    with pytest.raises(ValueError, match=r"sample_weight has the shape \(3,\)"):
        SplitConformal(Line()).calibrate(X, y, sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match=r"scale='mad', but it must be None or 'std'"):
        SplitConformal(Line(), scale="mad").calibrate(X, y)
    with pytest.raises(ValueError, match=r"y contains NaN .row 0."):
        SplitConformal(Line()).calibrate(X, y * np.nan)
    model = LogisticRegression().fit(X, y > 0.5)
    with pytest.raises(ValueError, match=r"which is not a class of the model"):
        SplitConformal(model).calibrate(X, np.full(20, 7))
    with pytest.raises(ValueError, match=r"LogisticRegression is a classifier. Remedy: predict_se"):
        SplitConformal(model).calibrate(X, y > 0.5).predict_interval(X)
    with pytest.raises(ValueError, match=r"Line is a regressor. Remedy: predict_interval"):
        SplitConformal(Line()).calibrate(X, y).predict_set(X)
    for missing in (np.nan, None):
        groups = np.array([1.0, missing] * 10, dtype=object)
        with pytest.raises(ValueError, match=r"groups has a missing value \(row 1\)"):
            SplitConformal(Line()).calibrate(X, y, groups=groups)
        conformal = SplitConformal(Line()).calibrate(X, y, groups=np.ones(20))
        with pytest.raises(ValueError, match=r"groups has a missing value \(row 1\)"):
            conformal.predict_interval(X, groups=groups)
    with pytest.raises(ValueError, match=r"y has the shape \(20, 2\), but the model predicts"):
        SplitConformal(Line()).calibrate(X, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match=r"y has the shape \(19,\), but X has 20 rows"):
        SplitConformal(Line()).calibrate(X, y[:19])


LINKS = [
    PoissonRegressor(),
    HistGradientBoostingRegressor(loss="poisson", max_iter=20),
    make_pipeline(
        StandardScaler(), DoublyStochasticRegressor(n_neurons=20, loss="tweedie", random_state=0)
    ),
]


@pytest.mark.parametrize("model", LINKS, ids=lambda model: type(model).__name__)
def test_intervals_of_losses_with_a_log_link_end_at_0(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    y = rng.poisson(np.exp(X[:, 0] - 1)).astype(float)
    conformal = SplitConformal(model.fit(X[:200], y[:200])).calibrate(X[200:400], y[200:400])
    ends = conformal.predict_interval(X[400:])
    assert ends.min() == 0
    assert inside(ends, y[400:]).mean() > 0.85
    conformal = SplitConformal(LinearRegression().fit(X, y)).calibrate(X, y)
    assert conformal.predict_interval(X).min() < 0


def test_a_frozen_model_stays_fitted_in_clones():
    X, y = rows(np.random.default_rng(0), 60)
    model = LinearRegression().fit(X, y)
    expected = SplitConformal(model).calibrate(X, y).predict_interval(X)
    frozen = SplitConformal(FrozenEstimator(model)).fit(X, y)
    for conformal in (frozen, clone(frozen).fit(X, y)):
        np.testing.assert_array_equal(conformal.predict_interval(X), expected)
    with pytest.raises(NotFittedError, match=r"estimator=LinearRegression is not.*FrozenEstimator"):
        clone(SplitConformal(model)).calibrate(X, y)


def test_rows_that_are_refused_leave_the_errors_of_earlier_ones():
    X, y = rows(np.random.default_rng(0), 50)
    conformal = SplitConformal(Line()).calibrate(X, y)
    ends = conformal.predict_interval(X)
    for options in ({"sample_weight": -y}, {"groups": [1]}):
        with pytest.raises(ValueError, match=r"SplitConformal"):
            conformal.calibrate(X, 100 * y, **options)
    np.testing.assert_array_equal(conformal.predict_interval(X), ends)


@pytest.mark.parametrize("model", [Line(), Line([0.05, 0.95])])
def test_targets_in_a_column_are_those_in_a_vector_by_split(model):
    X, y = rows(np.random.default_rng(0), 50)
    ends = [SplitConformal(model).calibrate(X, t).predict_interval(X) for t in (y, y[:, None])]
    np.testing.assert_array_equal(*ends)
