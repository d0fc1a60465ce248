"""Random features: inner products are estimates of the kernel, for every family."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from cases import FAMILIES, inputs, suited
from trickless import KitchenSinksRegressor, RandomFeatures, load, save
from trickless.neurons import Gaussian, Neurons, Patches, Trees

X = inputs(120, 4)
Y = np.sin(2 * X[:, 0]) + X[:, 1]
every_family = pytest.mark.parametrize("family", FAMILIES)
some_families = pytest.mark.parametrize(
    "family", ["gaussian", "stumps", "function", "mixture", "landmarks-fixed", "tabular", "trees"]
)
small_or_not = pytest.mark.filterwarnings("ignore:RandomFeatures. neurons=.* has small act")


def features(family, n_neurons=100, **options):
    return RandomFeatures(FAMILIES[family], n_neurons, random_state=0, **options)


def dense(Z):
    return Z.toarray() if scipy.sparse.issparse(Z) else np.asarray(Z)


@pytest.mark.parametrize("family", ["gaussian", "mixture", "landmarks-fixed", "tabular", "trees"])
@small_or_not
def test_inner_products_estimate_the_kernel(family):
    """The mean over seeds is within its standard errors."""
    rows = suited(family, X)[:6]
    estimates = []
    for seed in range(30):
        model = features(family, 128, dtype="float64").set_params(random_state=seed)
        Z = dense(model.fit(suited(family, X)).transform(rows))
        estimates.append(Z @ Z.T - model.neurons_.kernel(rows))
    mean, error = np.mean(estimates, axis=0), np.std(estimates, axis=0, ddof=1) / np.sqrt(30)
    assert (np.abs(mean) <= 4.5 * error + 1e-7).all()


@every_family
@small_or_not
def test_ridge_on_the_features_is_kitchen_sinks(family):
    rows, neurons = suited(family, X), clone(FAMILIES[family])
    scales = [name for name in neurons.get_params() if name.endswith("length_scale")]
    neurons.set_params(**dict.fromkeys(scales, 2.0))  # else y would choose
    model = KitchenSinksRegressor(neurons, 50, alpha=1e-2, dtype="float64", random_state=0)
    expected = model.fit(rows, Y).predict(rows)
    n = model._sums_.n_neurons  # fewer than 50 if there are fewer fixed landmarks
    Z = RandomFeatures(neurons, n, dtype="float64", random_state=0).fit(rows).transform(rows)
    got = Ridge(alpha=1e-2 * len(rows)).fit(dense(Z), Y).predict(dense(Z))
    np.testing.assert_allclose(got, expected, atol=1e-7)


@some_families
@small_or_not
def test_rows_alone_threads_and_files_change_nothing(family, tmp_path):
    rows = suited(family, X)
    model = features(family).fit(rows)
    Z = dense(model.transform(rows))
    n = min(100, model.neurons_._n_given or 100)  # of a list, each neuron once
    assert Z.shape == (120, n * model.neurons_.width) == (120, len(model.get_feature_names_out()))
    one_by_one = np.vstack([dense(model.transform(rows[i : i + 1])) for i in range(20)])
    np.testing.assert_allclose(one_by_one, Z[:20], atol=1e-12 if Z.dtype == float else 1e-6)
    np.testing.assert_array_equal(dense(clone(model).set_params(n_jobs=2).fit_transform(rows)), Z)
    save(model, tmp_path / "features")
    if family != "function":
        np.testing.assert_array_equal(dense(load(tmp_path / "features").transform(rows)), Z)


@some_families
@small_or_not
def test_a_row_of_unit_scale_has_a_norm_of_one(family, tmp_path):
    rows = suited(family, X)
    kernel, unit = features(family).fit(rows), features(family, scale="unit").fit(rows)
    Z = dense(unit.transform(rows))
    assert (Z.astype(float) ** 2).sum(axis=1).mean() == pytest.approx(1.0, rel=1e-4)
    expected = dense(kernel.transform(rows)) * unit.scale_
    np.testing.assert_allclose(Z, expected, atol=1e-12 if Z.dtype == float else 1e-6)
    np.testing.assert_allclose(
        dense(unit.transform(3 * rows[:1])), dense(unit.transform(3 * rows))[:1]
    )
    if family != "function":
        save(unit, tmp_path / "unit")
        np.testing.assert_array_equal(dense(load(tmp_path / "unit").transform(rows)), Z)


def test_small_features_warn_and_the_remedy_helps():
    """A logistic regression learns a constant from products of many inputs."""
    rows, learner = inputs(300, 30), LogisticRegression()
    label = rows[:, 0] > 0
    pipeline = make_pipeline(RandomFeatures("landmarks", random_state=0), learner)
    with pytest.warns(UserWarning, match=r"'landmarks' has small activations .* scale='unit'"):
        blind = pipeline.fit(rows, label).score(rows, label)
    pipeline.set_params(randomfeatures__scale="unit")
    assert blind < 0.6 < 0.85 < pipeline.fit(rows, label).score(rows, label)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_of_x_is_kept(dtype):
    rows = X.astype(dtype)
    assert features("gaussian").fit_transform(rows).dtype == dtype
    assert features("trees").fit_transform(rows).dtype == dtype
    assert features("gaussian").fit_transform(pd.DataFrame(rows)).dtype == dtype
    assert features("gaussian", dtype="float32").fit_transform(rows).dtype == np.float32


def test_trees_are_sparse_indicators_unless_asked_otherwise():
    model = features("trees").fit(X)
    Z, width = model.transform(X), model.neurons_.width
    assert scipy.sparse.issparse(Z)
    assert Z.format == "csr"
    assert Z.nnz == 120 * 100
    np.testing.assert_allclose(Z.data, 0.1)
    by_tree = Z.toarray().reshape(120, 100, width)
    np.testing.assert_array_equal((by_tree > 0).sum(axis=2), 1)
    plain = clone(model).set_params(sparse_output=False).fit_transform(X)
    np.testing.assert_array_equal(plain, Z.toarray())


def test_columns_have_names_of_family_neuron_and_part():
    model = features("gaussian", 3).fit(X)
    expected = ["gaussian0_0", "gaussian0_1", "gaussian1_0", "gaussian1_1"]
    assert model.get_feature_names_out().tolist()[:4] == expected
    assert features("stumps", 2).fit(X).get_feature_names_out().tolist() == ["stumps0", "stumps1"]
    frame = model.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()
    assert isinstance(model.set_output(transform="polars").transform(X), pl.DataFrame)
    Z = clone(model).set_params(n_neurons=300, dtype="float64").fit(X).transform(X)
    cosine, sine = Z[:, 2 * 277], Z[:, 2 * 277 + 1]  # of one neuron, also beyond the first block
    np.testing.assert_allclose(cosine**2 + sine**2, 1 / 300)


@pytest.mark.filterwarnings("ignore:.*has small activations")  # of the family that is best
def test_supervised_families_take_y():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 10))
    y = np.sin(3 * rows[:, 0])
    model = RandomFeatures(Gaussian("relevance"), 300, random_state=0)
    Z = model.fit_transform(rows, y)
    assert model.feature_importances_.argmax() == 0
    blind = RandomFeatures("gaussian", 300, random_state=0).fit_transform(rows)
    scores = [Ridge(1e-3).fit(F[:270], y[:270]).score(F[270:], y[270:]) for F in (Z, blind)]
    assert scores[0] > 0.9 > scores[1]
    assert RandomFeatures("auto", 100, random_state=0).fit(rows, y > 0).transform(rows).shape[0]
    for refused in (model, RandomFeatures("auto")):
        with pytest.raises(ValueError, match=r"is chosen by y, but no y was given.*fit\(X, y\)"):
            refused.fit(rows)


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_trees_are_the_best_of_several_candidates(kind):
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, (1500, 8))
    f = rows[:, 0] * rows[:, 1] + rows[:, 2]
    y = f if kind == "numbers" else (f > 0).astype(int)
    learner = Ridge(0.1) if kind == "numbers" else LogisticRegression(C=10)
    chosen, blind = (
        make_pipeline(RandomFeatures(Trees(4), 200, n_candidates=m, random_state=0), learner)
        for m in (8, 1)
    )
    scores = [m.fit(rows[:1000], y[:1000]).score(rows[1000:], y[1000:]) for m in (chosen, blind)]
    assert scores[0] > scores[1]
    assert chosen[0].feature_importances_[:3].sum() > 0.7
    with pytest.raises(ValueError, match=r"n_candidates=8 chooses neurons by y.*Remedy"):
        clone(chosen[0]).fit(rows)
    with pytest.raises(ValueError, match=r"n_candidates=8 chooses the cuts of trees.*Remedy"):
        clone(chosen[0]).set_params(neurons="gaussian").fit(rows, y)


def test_a_stream_keeps_the_neurons_of_its_first_batch():
    model = features("gaussian").partial_fit(X)
    Z = model.transform(X)
    np.testing.assert_array_equal(model.partial_fit(X).transform(X), Z)
    with pytest.warns(UserWarning, match="times as far from the mean of the first batch"):
        model.partial_fit(10 * X)
    with pytest.raises(ValueError, match="n_neurons=7, but the model was begun with n_neurons=100"):
        model.set_params(n_neurons=7).partial_fit(X)


def test_the_number_of_neurons_is_that_of_the_fit():
    model = features("gaussian", 30).fit(X)
    Z = model.transform(X)
    model.set_params(n_neurons=7)
    np.testing.assert_array_equal(model.transform(X), Z)
    assert len(model.get_feature_names_out()) == Z.shape[1]


def test_weights_count_as_rows():
    weight = np.where(X[:, 0] > 0, 2.0, 0.0)
    some = X[X[:, 0] > 0]
    got = features("gaussian", dtype="float64").fit(X, sample_weight=weight).transform(X)
    expected = features("gaussian", dtype="float64").fit(some).transform(X)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_the_squares_of_a_row_sum_to_one_on_the_weighted_average():
    weight = np.arange(len(X)) % 4
    model = features("landmarks", scale="unit", dtype="float64").fit(X, sample_weight=weight)
    squares = (model.transform(X) ** 2).sum(axis=1)
    assert np.average(squares, weights=weight) == pytest.approx(1)
    assert abs(squares.mean() - 1) > 1e-3


def test_tables_images_and_a_user_defined_neuron_are_transformed():
    frame = pd.DataFrame({"a": X[:, 0], "town": np.where(X[:, 1] > 0, "Paris", "Rome")})
    frame.loc[3, "a"] = np.nan
    for family in ("tabular", "trees"):
        Z = RandomFeatures(family, 50, random_state=0).fit_transform(frame)
        assert np.isfinite(dense(Z)).all()
    images = np.random.default_rng(0).random((30, 64))
    assert (
        RandomFeatures(Patches((8, 8), patch=3), 40, scale="unit").fit_transform(images).shape[0]
        == 30
    )

    class Signs(Neurons):
        def draw(self, rng, n):
            return rng.standard_normal((n, self.n_features_in_))

        def activate(self, X, weights):
            return np.sign(X @ weights.T)

    model = RandomFeatures(Signs(), 40, random_state=0).fit(X)
    assert model.get_feature_names_out()[-1] == "signs39"
    np.testing.assert_allclose(np.abs(model.transform(X)), 40**-0.5)


def test_random_features_work_in_pipelines_and_searches():
    pipeline = make_pipeline(RandomFeatures(random_state=0), PCA(3), LogisticRegression())
    grid = {"randomfeatures__neurons": ["gaussian", "stumps"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, Y > 0)
    assert search.best_score_ > 0.7
    sparse = scipy.sparse.csr_matrix(np.where(X > 1, X, 0))
    Z = features("gaussian", dtype="float64").fit(sparse).transform(sparse)
    expected = (
        features("gaussian", dtype="float64").fit(sparse.toarray()).transform(sparse.toarray())
    )
    np.testing.assert_allclose(Z, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neurons": 0}, "n_neurons=0"),
        ({"n_candidates": 0}, "n_candidates=0"),
        ({"dtype": "float16"}, "dtype='float16'"),
        ({"sparse_output": "yes"}, "sparse_output='yes'"),
        ({"neurons": "rbf"}, "neurons='rbf'"),
    ],
)
def test_wrong_parameters_have_a_remedy(options, message):
    with pytest.raises(ValueError, match=f"{message}.*Remedy"):
        RandomFeatures(**options).fit(X)
