"""What tests of hypotheses take and refuse: data frames, images, sparse rows, and errors."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.datasets import load_digits

from cases import inputs
from trickless import RandomFeatures
from trickless.inference import hsic_test, mmd_test
from trickless.neurons import Gaussian, Mixture, Neurons, Patches, Stumps

X, Y = inputs(60, 4), inputs(50, 4, seed=1)
GAP = Y.copy()
GAP[2, 1] = np.nan


def frame(n, seed, towns=("Oslo", "Paris", "Rome"), later=0):
    """Numbers with gaps, categories as text, as a type and as numbers, and dates."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.standard_normal(n),
            "town": rng.choice(towns, n),
            "size": pd.Categorical(rng.choice(towns, n), categories=sorted(set(towns))),
            "code": pd.Categorical(rng.choice([3, 5, later + 5], n)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D"),
        }
    )
    table.loc[:3, "age"] = np.nan
    return table


class Signs(Neurons):
    """Which side of a hyperplane."""

    def draw(self, rng, n):
        return rng.standard_normal((n, self.n_features_in_))

    def activate(self, X, weights):
        return np.sign(X @ weights.T)


class Huge(Signs):
    """Numbers of which products of squares overflow."""

    def activate(self, X, weights):
        return 1e150 * super().activate(X, weights)


A, B = frame(60, 0), frame(50, 1, ("Rome", "Bonn", "Paris"), 2)


@pytest.mark.parametrize("family", ["tabular", "trees"])
def test_data_frames_are_read_by_one_fit_to_both(family, monkeypatch):
    """Categories are those of both, in pandas and in polars, whatever their types declare."""
    codes = []
    fit = RandomFeatures.fit

    def spy(self, rows):
        fit(self, rows)
        codes.append(self._rows_.columns.codes)
        return self

    monkeypatch.setattr(RandomFeatures, "fit", spy)
    found = [
        mmd_test(one, other, family, 50, random_state=0)
        for one, other in ((A, B), (pl.from_pandas(A), pl.from_pandas(B)))
    ]
    assert found[0].pvalue < 0.05
    towns = dict(zip(["Bonn", "Oslo", "Paris", "Rome"], range(4), strict=True))
    assert [of_column for of_column in codes[0] if of_column] == [
        towns,
        towns,
        {"3": 0, "5": 1, "7": 2},
    ]
    assert [of_column for of_column in codes[1] if of_column][:2] == [towns, towns]
    assert hsic_test(A[["town"]], A[["size"]], family, family, 20, random_state=0).pvalue > 0.01
    assert hsic_test(A, A[["town"]], family, family, 20, random_state=0).pvalue == 0.001


def test_a_column_may_be_missing_in_one_sample():
    one, other = A.assign(code=None), B.assign(code=np.arange(50.0))
    assert mmd_test(one, other, "tabular", 50, random_state=0).pvalue == 0.001
    assert mmd_test(other, one, "tabular", 50, random_state=0).pvalue == 0.001


def test_images_are_compared_by_convolutions():
    images, digits = load_digits().images, load_digits().target
    neurons = Patches(patch=3)
    rng = np.random.default_rng(0)
    threes, fours = (rng.permutation(images[digits == digit]) for digit in (3, 4))
    assert mmd_test(threes[:60], fours[:60], neurons, 50, random_state=0).pvalue == 0.001
    assert mmd_test(threes[:60], threes[60:120], neurons, 50, random_state=0).pvalue > 0.05
    labels = digits[:100, None]
    found = hsic_test(images[:100], labels, neurons, Gaussian(0.1), 50, random_state=0)
    assert found.pvalue == 0.001


def test_sparse_rows_are_as_dense_ones():
    S, T = (scipy.sparse.csr_matrix(np.where(rows > 1, rows, 0)) for rows in (X, Y))
    expected = mmd_test(S.toarray(), T.toarray(), n_neurons=50, random_state=0)
    sparse = mmd_test(S, T.tocsc(), n_neurons=50, random_state=0)
    assert sparse.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert sparse.pvalue == expected.pvalue
    dense = hsic_test(S.toarray()[:50], Y, n_neurons=50, random_state=0)
    sparse = hsic_test(S[:50], Y, n_neurons=50, random_state=0)
    assert sparse.statistic == pytest.approx(dense.statistic, rel=1e-10)


def test_a_neuron_of_a_user_and_any_output_that_scikit_learn_is_set_to():
    expected = mmd_test(X, Y + 1, Signs(), 50, random_state=0)
    assert expected.pvalue == 0.001
    with sklearn.config_context(transform_output="pandas"):
        assert (
            mmd_test(pd.DataFrame(X), pd.DataFrame(Y + 1), Signs(), 50, random_state=0) == expected
        )


@pytest.mark.parametrize("test", [mmd_test, hsic_test])
def test_random_states_give_the_same_answer_again(test):
    seeds = [0, np.random.default_rng(0), np.random.RandomState(0)]
    answers = [test(X, X[::-1], n_neurons=20, random_state=seed) for seed in seeds]
    again = [0, np.random.default_rng(0), np.random.RandomState(0)]
    assert answers == [test(X, X[::-1], n_neurons=20, random_state=seed) for seed in again]
    assert len({answer.statistic for answer in answers}) == 3
    assert test(X.tolist(), X[::-1].tolist(), n_neurons=20, random_state=0) == answers[0]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X, Y[:, :3]), {}, r"Y has 3 features, but mmd_test is expecting 4 .*Remedy"),
        ((X, Y[0]), {}, r"Expected 2D array, got 1D array.*Y\.reshape\(-1, 1\)"),
        ((X.reshape(60, 2, 2), Y), {}, r"X has the shape \(60, 2, 2\).*Patches\(patch=2, pool"),
        ((X, Y[:1]), {}, "Y has 1 row.s., but an unbiased statistic needs 2 or more"),
        (
            (X, GAP),
            {},
            r"column 1 of Y contains missing values.* but neurons=Gaussian\(\).*Tabular\(\)",
        ),
        ((GAP, X), {}, "column 1 of X contains missing values"),
        ((X, -np.inf * Y), {}, "column 0 of Y contains infinity"),
        ((A, B), {}, "column 'age' of X contains missing values.* but neurons=Gaussian"),
        (
            (A, B[["age", "town"]]),
            {"neurons": "tabular"},
            r"passed as X\.\nFeature names seen at X, yet now missing:\n- code",
        ),
        (
            (A, B[A.columns[::-1]]),
            {"neurons": "tabular"},
            r"X\.\nFeature names must be in the same order as they were in X\. Remedy",
        ),
        (
            (A, B.assign(age="old")),
            {"neurons": "tabular"},
            "'age' of Y held numbers in X, but now .*Y.'age'",
        ),
        (
            (A.assign(day=1.0), B),
            {"neurons": "tabular"},
            "'day' of Y held numbers in X, but now has the type date",
        ),
        ((X, X), {"neurons": "auto"}, "neurons='auto' needs targets, but a test has none"),
        ((X, X), {"neurons": Mixture([Stumps(), Gaussian("relevance")])}, "needs targets"),
        ((X, X), {"neurons": "rbf"}, "neurons='rbf' is not the name of a family.*'gaussian'"),
        ((X, X), {"n_neurons": 0}, "n_neurons=0"),
        (
            (X, X),
            {"n_permutations": 0},
            r"n_permutations=0, but it must be an integer of at least 1",
        ),
        ((X, X), {"n_permutations": -5}, "n_permutations=-5"),
        ((X, X), {"method": "bootstrap"}, "method='bootstrap', but it must be 'permutation' or"),
        ((X, X), {"n_jobs": 0}, "n_jobs=0"),
        ((X, Y), {"neurons": Huge()}, "squares of the activations are too large"),
    ],
)
def test_invalid_samples_are_refused_by_mmd_test(arguments, options, message):
    with pytest.raises(ValueError, match=f"^mmd_test: .*{message}.*") as error:
        mmd_test(*arguments, **options)
    assert str(error.value).count("Remedy: ") == 1


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X, Y), {}, "X has 60 rows, but Y has 50.*use mmd_test"),
        ((X[:3], Y[:3]), {}, "X has 3 row.s., but an unbiased statistic needs 4 or more"),
        ((X[:50], GAP), {}, r"column 1 of Y contains missing values.* but neurons_y=Gaussian\(\)"),
        ((GAP, X[:50]), {}, r"column 1 of X contains missing values.* but neurons_x=Gaussian\(\)"),
        ((X, X), {"neurons_y": "auto"}, "neurons_y='auto' needs targets"),
        ((X, X), {"neurons_x": "rbf"}, "hsic_test: neurons_x='rbf' is not the name of a family"),
        ((X, abs(X)), {"neurons_x": "tanimoto"}, "X holds negative values"),
        ((abs(X), X), {"neurons_y": "tanimoto"}, "Y holds negative values"),
        ((X, X[:, 0]), {}, r"Expected 2D array.*Y\.reshape\(-1, 1\)"),
        ((X, X), {"n_permutations": 0}, "hsic_test: n_permutations=0"),
    ],
)
def test_invalid_pairs_of_samples_are_refused_by_hsic_test(arguments, options, message):
    with pytest.raises(ValueError, match=f"{message}.*") as error:
        hsic_test(*arguments, **options)
    assert "Remedy: " in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X, scipy.sparse.csr_matrix(Y)), {}, "Y is a sparse matrix, but X is a NumPy array"),
        (
            (A, pl.from_pandas(B)),
            {"neurons": "tabular"},
            "frame of polars, but X is a data frame of pandas",
        ),
        ((pl.from_pandas(A).lazy(), B), {"neurons": "tabular"}, r"LazyFrame.*X\.collect\(\)"),
        ((scipy.sparse.csr_matrix(X), scipy.sparse.csr_matrix(Y)), {"neurons": "tabular"}, "dense"),
        ((X, X), {"neurons": 3}, "neurons=3 is not a family of neurons"),
        ((X, X), {"n_permutations": 9.5}, "n_permutations=9.5"),
        ((X, X), {"method": None}, "method=None"),
    ],
)
def test_arguments_of_another_type_are_refused(arguments, options, message):
    with pytest.raises(TypeError, match=f"mmd_test: .*{message}.*"):
        mmd_test(*arguments, **options)


def test_damaged_sparse_rows_are_refused_before_they_are_stacked():
    sparse = scipy.sparse.csr_matrix(np.where(X > 1, X, 0))
    sparse.indices[0] = 99
    with pytest.raises(ValueError, match="Y is a damaged csr_matrix"):
        mmd_test(scipy.sparse.csr_matrix(X), sparse)


def test_warnings_name_the_test_and_the_sample():
    far = 1e13 + np.round(inputs(60, 2))
    with pytest.warns(UserWarning, match="^mmd_test: column 0 of X and Y reaches"):
        mmd_test(far, far[:50], n_neurons=5, random_state=0)
    with pytest.warns(UserWarning, match="^hsic_test: column 0 of Y reaches"):
        hsic_test(X, far, n_neurons=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mmd_test(X, Y, n_neurons=5, random_state=0)
