"""Families chosen by the data."""

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_regressor

from cases import LEARNERS, inputs, name_of, problem
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._functions.stream import Purpose
from trickless._selection import halving, relevance
from trickless._selection.relevance import _Descent, slopes_of_score
from trickless._selection.scores import Comparison
from trickless._solvers.least_squares.paths import Path
from trickless._solvers.least_squares.ridge import at_rounding_of_single
from trickless.neurons import Dense, Ferns, Gaussian, Landmarks, Laplace1, Mixture, On, Stumps
from trickless.neurons.inputs import Relevance


def wiggly(scale, n=600):
    """A target that wants a length scale of about ``scale``."""
    X = inputs(n, 2)
    return X, np.sin(X[:, 0] / scale) + 0.1 * np.random.default_rng(0).standard_normal(n)


@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_auto_finds_the_length_scale_and_predicts_better_than_the_median(scale):
    X, y = wiggly(scale)
    model = KitchenSinksRegressor(Gaussian("auto"), 200, random_state=0).fit(X[:400], y[:400])
    plain = KitchenSinksRegressor(Gaussian("median"), 200, random_state=0).fit(X[:400], y[:400])
    multiples = np.array([1 / 8, 1 / 4, 1 / 2, 1, 2, 4])
    chosen = multiples[model.search_scores_[:6].argmin()]
    assert (chosen < 1) if scale < 1 else (chosen >= 1)
    found, one = model.neurons_.length_scale_, chosen * plain.neurons_.length_scale_
    if model.search_scores_.argmin() < 6:
        assert found == pytest.approx(one)
    else:  # the other column does not matter
        assert found[0] < 2 * one < found[1]
    if scale < 1:
        assert 1 - model.score(X[400:], y[400:]) < 0.5 * (1 - plain.score(X[400:], y[400:]))
    assert not hasattr(plain, "search_scores_")
    again = clone(model).fit(X[:400], y[:400])
    np.testing.assert_array_equal(again.search_scores_, model.search_scores_)


def few_that_matter(n=1500, d=16):
    """Two of many features matter, and one of them is in large units."""
    X = inputs(n, d) * np.append(1000.0, np.ones(d - 1))
    y = np.sin(2 * X[:, 3]) * X[:, 0] / 1000
    return X, y + 0.05 * np.random.default_rng(1).standard_normal(n)


@pytest.mark.filterwarnings("ignore:.*column 0 varies at least")
@pytest.mark.parametrize(
    ("family", "sparse"), [(Gaussian, False), (Laplace1, False), (Gaussian, True)]
)
def test_relevance_finds_the_features_that_matter(family, sparse):
    X, y = few_that_matter()
    spread = X.std(axis=0)
    rows = scipy.sparse.csr_array(X) if sparse else X
    scores, scales = {}, {}
    for how in ("median", "relevance"):
        model = KitchenSinksRegressor(family(length_scale=how), 200, random_state=0)
        model.fit(rows[:1000], y[:1000])
        scores[how] = model.score(rows[1000:], y[1000:])
        scales[how] = model.neurons_.length_scale_
    assert len(model.search_scores_) == 6
    assert 1 - scores["relevance"] < 0.5 * (1 - scores["median"])
    relative = scales["relevance"] / spread
    assert set(np.argsort(relative)[:2]) == {0, 3}
    assert np.sort(relative)[2] > 2 * np.sort(relative)[1]


@pytest.mark.parametrize("n", [25, 300])  # fewer rows than columns, and more
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_length_scales_go_down_the_gradient_of_the_score(weighted, sparse, n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)) * [1.0, 10.0, 0.1] + [0, 3, 1]
    weight = rng.random(n) + 0.5 if weighted else np.ones(n)
    Y = np.stack([np.sin(X[:, 0]) * X[:, 1], 5 * np.cos(10 * X[:, 2]), np.ones(n)], axis=1)
    Y[:, :2] += 0.1 * rng.standard_normal((n, 2))
    family = Gaussian("relevance").fit(X, rng)
    rows = scipy.sparse.csr_array(X) if sparse else X
    given = weight if weighted else None
    comparison = Comparison(rows, Y, given, 0, Purpose.RELEVANCE, 0, n, 20, 1)
    share, n_effective = weight / weight.sum(), weight.sum() ** 2 / (weight @ weight)
    Yc = (Y - share @ Y)[:, :2]
    Yc /= np.sqrt(share @ Yc**2)

    def log_score(at, ridge):
        scaled = family.with_length_scale(np.exp(-at))
        Z = scaled(X, comparison.draw(scaled))
        Z = Z - share @ Z
        covariance = Z.T @ (share[:, None] * Z)
        inverse = np.linalg.inv(covariance + ridge * np.eye(40))
        error = share @ (Yc - Z @ inverse @ Z.T @ (share[:, None] * Yc)) ** 2
        left = 1 - (1 + np.trace(inverse @ covariance)) / n_effective
        return np.log(error.sum() / left**2) if left > 0 else np.inf

    at, h = -np.log([1.0, 8.0, 0.2]), 3e-4
    family = family.with_length_scale(np.exp(-at))
    moments = at_rounding_of_single(comparison.moments(family, comparison.draw(family))[0])
    grid = Path(moments).grid
    ridge = min(grid, key=lambda ridge: log_score(at, ridge))
    slopes = [
        (log_score(at + e, ridge) - log_score(at - e, ridge)) / (2 * h) for e in h * np.eye(3)
    ]
    np.testing.assert_allclose(slopes_of_score(family, comparison), slopes, rtol=1e-4)
    comparison.targets = np.ones((n, 3))
    assert slopes_of_score(family, comparison) is None


def test_steps_are_those_of_adam_where_gradients_are_more_than_noise(monkeypatch):
    monkeypatch.setattr(relevance, "SMALL", 0.0)
    rng = np.random.default_rng(0)
    gradients = rng.standard_normal((6, 4)) + 1
    descent = _Descent(np.ones(4), np.array([1.0, 1.0, 1.0, 0.0]), noise=1e-12)
    at = mean = square = np.zeros(4)
    for t, gradient in enumerate(gradients, start=1):
        mean, square = 0.5 * mean + 0.5 * gradient, 0.9 * square + 0.1 * gradient**2
        at = at - 0.3 * (mean / (1 - 0.5**t)) / np.sqrt(square / (1 - 0.9**t))
        descent.step(gradient, 0.3)
    np.testing.assert_allclose(descent.at[:3], np.exp(at[:3]))
    assert descent.at[3] == 1  # does not vary
    lazy = _Descent(np.ones(4), np.ones(4), noise=1e9)
    lazy.step(gradients[0], 0.3)
    np.testing.assert_allclose(lazy.at, 1, rtol=1e-8)
    far = _Descent(np.array([1.0, 1e6]), np.array([2.0, 10.0]), noise=1.0)
    far.step(np.zeros(2), 0.3)
    np.testing.assert_allclose(far.at, [5e3, 1e6])  # both count, one a thousandth of the other


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("family", [Gaussian, Laplace1], ids=lambda family: family.__name__)
def test_length_scales_are_in_the_units_of_the_kernel(family, sparse):
    rng = np.random.default_rng(0)
    X, found = rng.standard_normal((300, 3)), np.array([1.0, 2.0, 5.0])
    rows = scipy.sparse.csr_array(X) if sparse else X
    relevance = Relevance(found, np.array([1.0, 1.0, 2.0]), rows)
    told = family("relevance").fit(X, rng)._by_relevance(relevance)
    medians = [np.median(pdist(X / found, metric)) for metric in ("euclidean", "cityblock")]
    factor = {"Gaussian": 1.0, "Laplace1": medians[1] / medians[0]}[family.__name__]
    np.testing.assert_allclose(told.length_scale_, factor * found, rtol=1e-3)
    multiples = [candidate.length_scale_ / told.length_scale_ for candidate in told._candidates()]
    np.testing.assert_allclose(multiples, np.outer([1 / 4, 1 / 2, 1, 2, 4, 8], np.ones(3)))
    np.testing.assert_allclose(relevance.shares(), np.array([1.0, 0.5, 0.4]) / 1.9)


@pytest.mark.parametrize("family", [Stumps, Ferns], ids=lambda family: family.__name__)
def test_stumps_and_ferns_cut_the_features_that_matter(family):
    X, y = few_that_matter()
    y = y if family is Ferns else X[:, 0] / 1000 + np.sin(2 * X[:, 3])
    plain = KitchenSinksRegressor(family(), 200, random_state=0).fit(X[:1000], y[:1000])
    told = KitchenSinksRegressor(family(feature_weights="relevance"), 200, random_state=0)
    told.fit(X[:1000], y[:1000])
    assert 1 - told.score(X[1000:], y[1000:]) < 0.5 * (1 - plain.score(X[1000:], y[1000:]))
    assert len(told.search_scores_) == 3
    assert set(np.argsort(told.neurons_.feature_weights_)[-2:]) == {0, 3}
    assert told.neurons_.feature_weights_.sum() == pytest.approx(1)


def test_features_that_say_nothing_keep_a_finite_length_scale():
    X = np.column_stack([inputs(300, 2), np.full(300, 7.0)])
    model = KitchenSinksRegressor(Gaussian("relevance"), 50, random_state=0).fit(X, X[:, 0])
    scale = model.neurons_.length_scale_
    assert np.isfinite(scale).all()
    assert (scale > 0).all()
    constant = KitchenSinksRegressor(Gaussian("relevance"), 50, random_state=0)
    assert constant.fit(X, np.ones(300)).predict(X) == pytest.approx(1)
    assert np.ptp(constant.neurons_.length_scale_) == 0
    stumps = Stumps(feature_weights="relevance")
    model = KitchenSinksRegressor(stumps, 50, random_state=0).fit(np.ones((20, 2)), np.ones(20))
    np.testing.assert_allclose(model.neurons_.feature_weights_, 0.5)


@pytest.mark.parametrize(("sparse", "dtype"), [(False, "float32"), (True, "float64")])
def test_constants_do_not_matter_whatever_rounding_leaves_of_them(sparse, dtype):
    X, y = few_that_matter(600)
    X = np.column_stack([X, np.full(len(X), 3.0), np.full(len(X), 0.1)])
    weight = np.random.default_rng(2).random(len(X)) + 0.5
    model = KitchenSinksRegressor(Gaussian("relevance"), 100, dtype=dtype, random_state=0)
    model.fit(scipy.sparse.csr_array(X) if sparse else X, y, weight)
    scale = model.neurons_.length_scale_
    assert set(np.argsort(scale / np.append(X[:, :-2].std(axis=0), [1, 1]))[:2]) == {0, 3}
    assert scale[-2:].min() > scale[3]


@pytest.mark.parametrize("options", [{}, {"search": {"neurons__length_scale": [1.0, 8.0]}}])
def test_an_output_that_is_constant_has_no_say(options):
    X, y = few_that_matter(300, 6)
    weight = np.random.default_rng(2).random(300) + 0.5
    neurons = Gaussian() if options else Gaussian("relevance")
    alone, beside = (
        KitchenSinksRegressor(neurons, 100, random_state=0, **options).fit(X, Y, weight)
        for Y in (y[:, None], np.column_stack([y, np.full(300, 1 / 3)]))
    )
    np.testing.assert_allclose(
        beside.neurons_.length_scale_, alone.neurons_.length_scale_, rtol=1e-3
    )


def test_rounds_meet_other_rows_in_proportion_to_their_weights(monkeypatch):
    X, y = few_that_matter()
    monkeypatch.setattr(relevance, "STEPS", 8)
    monkeypatch.setattr(relevance, "SIZE", (400, 100))
    monkeypatch.setattr(halving, "ROUNDS", ((300, 50), (500, 60)))
    seen = []

    class Spy(Comparison):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            seen.append(self)

    monkeypatch.setattr(relevance, "Comparison", Spy)
    monkeypatch.setattr(halving, "Comparison", Spy)
    weight = np.arange(1.0, len(X) + 1)
    model = KitchenSinksRegressor(Laplace1("relevance"), 200, random_state=0).fit(X, y, weight)
    order = np.argsort(X[:, 0])
    for comparison, size in zip(seen, [400] * 10 + [300, 500], strict=True):
        rows = order[np.searchsorted(X[order, 0].astype("float32"), comparison.X[:, 0])]
        counts = comparison.weight / comparison.weight.min()
        np.testing.assert_allclose(counts, counts.round())
        assert counts.sum() == pytest.approx(size)
        expected = np.average(weight, weights=weight)
        assert np.average(weight[rows], weights=counts) == pytest.approx(expected, rel=0.02)
    assert len({comparison.X[0, 0] for comparison in seen}) > 1
    assert set(np.argsort(model.neurons_.length_scale_ / X.std(axis=0))[:2]) == {0, 3}


def test_parts_of_a_family_share_one_relevance():
    X, y = few_that_matter(1000)
    X[:, 0] /= 1000
    ferns = Ferns(feature_weights="relevance")
    neurons = Mixture([Laplace1("relevance"), Gaussian("relevance"), Stumps(), ferns])
    model = KitchenSinksRegressor(neurons, 200, random_state=0).fit(X, y)
    laplace, gaussian, stumps, ferns = model.neurons_.parts_
    assert ferns.feature_weights_.shape == (16,)
    ratio = laplace.length_scale_ / gaussian.length_scale_
    np.testing.assert_allclose(ratio, ratio[0])
    assert set(np.argsort(laplace.length_scale_)[:2]) == {0, 3}
    assert stumps.feature_weights_ is None
    assert len(model.search_scores_) == 6
    for family in (On([0, 1], Gaussian("relevance")), On([0], Stumps(feature_weights="relevance"))):
        with pytest.raises(ValueError, match=r"On: columns=.*all columns.*Remedy"):
            KitchenSinksRegressor(family, 20).fit(X, y)


@pytest.mark.parametrize("length_scale", ["auto", "relevance"])
@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_every_learner_chooses_a_length_scale(learner, length_scale):
    X, y = problem(learner)
    neurons = Gaussian(length_scale)
    model = clone(learner).set_params(neurons=neurons, random_state=0).fit(X, y)
    own = length_scale == "auto" and is_regressor(learner)  # a length scale for each feature, too
    assert len(model.search_scores_) == 6 + own
    assert model.score(X, y) > 0.05
    with pytest.raises(ValueError, match=r"length_scale='widest'.*Remedy"):
        clone(learner).set_params(neurons=Gaussian("widest")).fit(X, y)


def test_a_grid_of_parameters_is_searched():
    X, y = wiggly(0.3)
    grid = {"neurons__length_scale": [0.1, 0.4, 10.0], "neurons__activation": ["tanh", "erf"]}
    model = KitchenSinksRegressor(Dense(), 100, search=grid, random_state=0).fit(X, y)
    assert len(model.search_scores_) == 6
    assert model.neurons_.length_scale == 0.4
    by_hand = [
        KitchenSinksRegressor(Dense(a, s), 400, alpha=1e-5, random_state=0).fit(X[::2], y[::2])
        for a in ("tanh", "erf")
        for s in (0.1, 0.4, 10.0)
    ]
    errors = [1 - m.score(X[1::2], y[1::2]) for m in by_hand]
    assert np.corrcoef(np.argsort(np.argsort(errors)), model.search_scores_)[0, 1] > 0.7
    with pytest.raises(ValueError, match=r"names 'neurons__width', which is not a parameter of"):
        model.set_params(search={"neurons__width": [1]}).fit(X, y)


def test_a_search_takes_classes_weights_names_and_sparse_rows():
    X, y = wiggly(0.3, n=5000)  # more rows than are compared on
    model = KitchenSinksClassifier(
        "gaussian", 100, search={"neurons__length_scale": [0.2, 20.0]}, random_state=0
    )
    weight = np.linspace(1, 2, 5000)
    model.fit(X, np.digitize(y, [-0.5, 0.5]), weight)
    assert model.neurons_.length_scale_ == 0.2
    model.fit(scipy.sparse.csr_array(X), y > 0)
    assert model.neurons_.length_scale_ == 0.2


@pytest.mark.parametrize(
    ("n_neurons", "sizes"), [(100, [6]), (101, [6, 3]), (400, [6, 3, 2]), (10_000, [6, 3, 2])]
)
def test_the_better_half_continues_while_that_costs_little(n_neurons, sizes, monkeypatch):
    X, y = wiggly(0.1, n=1000)
    rounds = (100, 20), (300, 50), (500, 100), (1001, 150)  # the last has more rows than there are
    monkeypatch.setattr(halving, "ROUNDS", rounds)
    monkeypatch.setattr(halving, "SHARE", 3 * 300 * 50**2 / (1000 * 100.5**2))
    rounds_taken = []

    class Spy(Comparison):
        def scores(self, families):
            scores = super().scores(families)
            rounds_taken.append((len(self.X), list(zip(families, scores, strict=True))))
            return scores

    monkeypatch.setattr(halving, "Comparison", Spy)
    family = Laplace1("auto").fit(X, np.random.default_rng(0))
    chosen, scores = halving.choose([family], X, y[:, None], None, n_neurons**2, 0, 1)
    assert [len(found) for _, found in rounds_taken] == sizes
    assert [n for n, _ in rounds_taken] == [100, 300, 500][: len(sizes)]
    best = {family.length_scale_ for family in family._candidates()}
    last = {}
    for (_, found), size in zip(rounds_taken, sizes, strict=True):
        assert {family.length_scale_ for family, _ in found} == best
        last |= {family.length_scale_: score for family, score in found}
        ranked = [family for family, _ in sorted(found, key=lambda pair: pair[1])]
        best = {family.length_scale_ for family in ranked[: max(2, -(-size // 2))]}
    assert chosen is ranked[0]
    np.testing.assert_array_equal(scores, [last[c.length_scale_] for c in family._candidates()])


def test_more_rows_and_neurons_correct_what_few_prefer(monkeypatch):
    """Few cannot follow a target that varies fast, so a large scale looks best to them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 2))
    y = np.sin(8 * X[:, 0]) * np.sin(8 * X[:, 1]) + X[:, 0] + 0.1 * rng.standard_normal(4000)
    scales = {}
    for name, rounds in {"few": ((700, 10),), "more": ((700, 10), (2000, 150))}.items():
        monkeypatch.setattr(halving, "ROUNDS", rounds)
        search = {"neurons__length_scale": [0.3, 10.0]}
        model = KitchenSinksRegressor("gaussian", 400, search=search, random_state=0).fit(X, y)
        scales[name] = model.neurons_.length_scale_
    assert scales == {"few": 10.0, "more": 0.3}


def test_one_choice_is_no_search():
    X, y = wiggly(1.0)
    model = KitchenSinksRegressor(
        Stumps(), 50, search={"neurons__thresholds": ["normal"]}, random_state=0
    ).fit(X, y)
    assert model.neurons_.thresholds == "normal"
    assert not hasattr(model, "search_scores_")


@pytest.mark.parametrize("data", ["wavy", "few", "stored sparsely"])
def test_rounding_errors_of_rows_move_length_scales_by_little(data):
    """In single precision. Twenty steps multiply relative errors of 3e-7 by 3e4 at most.

    Rows are 1 to 3 times their standard deviation, so errors are a few 1e-7 of that.
    """
    rng = np.random.default_rng(0)
    if data == "wavy":  # no noise, so ridges are small
        X = rng.random((180, 5))
        y = np.sin(9 * X[:, 0]) * np.cos(7 * X[:, 1]) + X[:, 2]
    elif data == "few":
        X, y = few_that_matter(300)
    else:
        X = rng.random((200, 8)) * (rng.random((200, 8)) < 0.4)
        y = np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2]

    def scales(rows):
        model = KitchenSinksRegressor(Gaussian("relevance"), 50, random_state=0).fit(rows, y)
        return np.log(np.broadcast_to(model.neurons_.length_scale_, X.shape[1]))

    at = scales(X)
    assert np.ptp(at) > 0.1
    for factor in (1 + 1e-7, 1 - 2e-7):
        assert np.abs(scales(factor * X) - at).max() < 2e-2  # a step
    assert np.abs(scales(scipy.sparse.csr_array(X)) - at).max() < 1e-6


def test_rows_are_compared_in_proportion_to_their_weights():
    """A rare class that weighs as much as the other has more than its share of the rows."""
    X, y = inputs(5000, 1), np.zeros((5000, 1))
    y[::100] = 1
    weight = np.where(y[:, 0] > 0, 99.0, 1.0)

    def sample(weight):
        return Comparison(X, y, weight, 0, Purpose.SEARCH, 0, 500, 10, 1)

    assert len(sample(weight).X) == pytest.approx(490, abs=30)
    assert (sample(weight).targets > 0).sum() == 50
    assert np.average(sample(weight).targets[:, 0], weights=sample(weight).weight) == pytest.approx(
        0.5
    )
    np.testing.assert_array_equal(sample(np.full(5000, 0.3)).X, sample(None).X)
    assert (sample(None).targets > 0).sum() < 20


@pytest.mark.filterwarnings("ignore:.*no better than by a constant")
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_kernel_of_equal_rows_is_compared_too(value):
    """Cholesky's factor of a kernel without rank was an error of SciPy."""
    y = np.random.default_rng(0).standard_normal(20)
    model = KitchenSinksRegressor(Landmarks(), 20, random_state=0).fit(np.full((20, 1), value), y)
    np.testing.assert_allclose(model.predict([[value]]), y.mean(), atol=1e-6)


@pytest.mark.parametrize("n_rows", [1, 20])
def test_rows_that_are_too_large_for_a_kernel_are_refused(n_rows):
    grid = {"neurons__length_scale": [0.5, 2.0]}
    model = KitchenSinksRegressor("gaussian", 20, search=grid, dtype="float64", random_state=0)
    X = np.full((n_rows, 1), np.finfo(float).max)
    X[::2] *= -1
    with pytest.raises(ValueError, match=r"Remedy: .*scale X"):
        model.fit(X, np.arange(float(n_rows)))
