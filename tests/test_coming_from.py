"""What docs/guides/from-*.md say is equal is equal, and their code prints what they say."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.metrics import pairwise
from sklearn.svm import SVC

import naive
from cases import inputs
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless.neurons import (
    Gaussian,
    Laplace1,
    Matern,
    Periodic,
    RationalQuadratic,
    Trees,
)

GUIDES = Path(__file__).parents[1] / "docs" / "guides"
X = inputs(90, 3)
N, ALPHA, GAMMA = len(X), 1e-2, 0.7
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 5.0
LABELS = (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int)
SAME = {"n_neurons": 40, "random_state": 0, "dtype": "float64"}
GAUSSIAN = Gaussian(1 / np.sqrt(2 * GAMMA))
FEATURES = RandomFeatures(GAUSSIAN, **SAME).fit(X)
Z, NEW = FEATURES.transform(X), inputs(20, 3, seed=1)
Z_NEW = FEATURES.transform(NEW)


def normalised(K):
    return K / np.sqrt(np.outer(np.diag(K), np.diag(K)))


@pytest.mark.parametrize(
    ("family", "kernel"),
    [
        (GAUSSIAN, lambda X: pairwise.rbf_kernel(X, gamma=GAMMA)),
        (Gaussian(0.8), kernels.RBF(0.8)),
        (Gaussian([0.5, 1.0, 2.0]), kernels.RBF([0.5, 1.0, 2.0])),
        (Laplace1(1 / GAMMA), lambda X: pairwise.laplacian_kernel(X, gamma=GAMMA)),
        (Matern(2.5, 0.8), kernels.Matern(0.8, nu=2.5)),
        (
            Gaussian(2.0) * Periodic(1.3, 0.8),
            lambda X: (
                kernels.RBF(2.0)(X)
                * np.prod([kernels.ExpSineSquared(0.8, 1.3)(x[:, None]) for x in X.T], axis=0)
            ),
        ),
        (RationalQuadratic(1.5, 0.8), kernels.RationalQuadratic(0.8, alpha=1.5)),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_families_have_the_kernels_of_scikit_learn(family, kernel):
    got = family.fit(X, np.random.default_rng(0)).kernel(X)
    np.testing.assert_allclose(got, kernel(X), atol=1e-12)


def test_a_neuron_of_rbf_is_two_components():
    sampler = RBFSampler(gamma=GAMMA, n_components=80, random_state=0).fit(X)
    assert Z.shape == sampler.transform(X).shape
    exact = pairwise.rbf_kernel(X, gamma=GAMMA)
    ours, theirs = (
        np.mean(
            [
                np.square(
                    m.set_params(random_state=seed).fit_transform(X) @ m.transform(X).T - exact
                )
                for seed in range(20)
            ]
        )
        for m in (RandomFeatures(GAUSSIAN, **SAME), sampler)
    )
    assert ours < theirs  # both without bias


def test_alpha_of_ridge_is_alpha_times_the_number_of_rows():
    ours = KitchenSinksRegressor(GAUSSIAN, alpha=ALPHA, **SAME).fit(X, Y)
    ridge = Ridge(alpha=N * ALPHA).fit(Z, Y)
    np.testing.assert_allclose(ours.predict(NEW), ridge.predict(Z_NEW), atol=1e-9)
    np.testing.assert_allclose(ours.neuron_coef_.ravel(), ridge.coef_ / np.sqrt(40), atol=1e-9)
    labels = KitchenSinksClassifier(GAUSSIAN, alpha=ALPHA, **SAME).fit(X, LABELS)
    ridge = RidgeClassifier(alpha=N * ALPHA).fit(Z, LABELS)
    expected = ridge.decision_function(Z_NEW)
    np.testing.assert_allclose(labels.decision_function(NEW), expected, atol=1e-9)


def test_weights_of_rows_count_as_in_ridge():
    weight = np.random.default_rng(0).uniform(0.1, 3, N)
    ours = KitchenSinksRegressor(GAUSSIAN, alpha=ALPHA, **SAME).fit(X, Y, weight)
    ridge = Ridge(alpha=weight.sum() * ALPHA).fit(Z, Y, weight)
    np.testing.assert_allclose(ours.predict(NEW), ridge.predict(Z_NEW), atol=1e-9)


def test_alpha_is_chosen_as_by_ridge_cv():
    ours = KitchenSinksRegressor(GAUSSIAN, **SAME).fit(X, Y)
    ridge = RidgeCV(alphas=N * ours.cv_alphas_, store_cv_results=True).fit(Z, Y)
    squares = ridge.cv_results_.reshape(N, -1)
    np.testing.assert_allclose(ours.cv_values_[0], squares.mean(axis=0), rtol=1e-3)
    assert ours.alpha_ == ours.cv_alphas_[naive.chosen(squares, np.ones(N))]


@pytest.mark.parametrize(
    ("loss", "theirs", "atol"),
    [
        ("log_loss", LogisticRegression(C=1 / (N * ALPHA), tol=1e-10, max_iter=10_000), 2e-5),
        ("hinge", SVC(C=1 / (N * ALPHA), kernel="linear", tol=1e-8), 5e-3),
    ],
    ids=["log_loss", "hinge"],
)
def test_c_of_linear_classifiers_is_converted_to_alpha(loss, theirs, atol):
    ours = KitchenSinksClassifier(
        GAUSSIAN, loss=loss, alpha=ALPHA, tol=1e-10, max_iter=50_000, **SAME
    )
    got = ours.fit(X, LABELS).decision_function(NEW)
    expected = theirs.fit(Z, LABELS).decision_function(Z_NEW)
    np.testing.assert_allclose(got, expected, atol=atol)


@pytest.mark.parametrize("weighted", [False, True])
def test_noise_and_standard_deviations_are_those_of_a_gaussian_process(weighted):
    weight = np.random.default_rng(0).exponential(20, N) if weighted else np.ones(N)
    ours = KitchenSinksRegressor(GAUSSIAN, alpha=ALPHA, fit_intercept=False, **SAME)
    noise, n = ours.fit(X, Y, weight).noise_variance_, weight.sum() ** 2 / (weight**2).sum()
    kernel = noise / (n * ALPHA) * kernels.DotProduct(0.0, "fixed")
    of_rows = noise * weight.sum() / (n * weight)
    process = GaussianProcessRegressor(kernel, optimizer=None, alpha=of_rows).fit(Z, Y)
    mean, std = process.predict(Z_NEW, return_std=True)
    got = ours.predict(NEW, return_std=True)
    np.testing.assert_allclose(got[0], mean, atol=1e-8)
    of_new = (
        got[1] ** 2 - std**2
    )  # of rows as they come, which weights that tell nothing do not move
    np.testing.assert_allclose(of_new, of_new[0], rtol=1e-6)
    assert of_new[0] == pytest.approx(noise, rel=4 * (2 / N) ** 0.5 if weighted else 1e-6)


def test_an_embedding_by_trees_has_a_leaf_for_each_tree():
    ours = RandomFeatures(Trees(3), 20, random_state=0).fit_transform(X)
    theirs = RandomTreesEmbedding(20, max_depth=3, random_state=0).fit_transform(X)
    for columns in (ours, theirs):
        np.testing.assert_array_equal(np.diff(columns.tocsr().indptr), 20)
    np.testing.assert_allclose((ours @ ours.T).diagonal(), 1)
    np.testing.assert_allclose((theirs @ theirs.T).diagonal(), 20)


def test_answers_tend_to_those_of_a_gaussian_process():
    """With the same kernel and noise, and many neurons."""
    ours = KitchenSinksRegressor(Gaussian(1.0), n_neurons=2000, alpha=ALPHA, random_state=0)
    ours.set_params(fit_intercept=False).fit(X, Y)
    noise = ours.noise_variance_
    kernel = kernels.ConstantKernel(noise / (N * ours.alpha_)) * kernels.RBF(1.0)
    process = GaussianProcessRegressor(kernel + kernels.WhiteKernel(noise), optimizer=None, alpha=0)
    got, expected = (model.predict(NEW, return_std=True) for model in (ours, process.fit(X, Y)))
    np.testing.assert_allclose(got[0], expected[0], atol=0.1)
    np.testing.assert_allclose(got[1], expected[1], rtol=0.1)


@pytest.mark.parametrize(
    ("page", "n_printed"),
    [("from-scikit-learn", 3), ("from-gaussian-processes", 8)],
)
def test_the_code_of_the_pages_prints_what_they_say(page, n_printed, capsys):
    text, scope = (GUIDES / f"{page}.md").read_text(), {}
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    for block in blocks:
        exec(compile(block, page, "exec"), scope)
    assert capsys.readouterr().out.split() == ["True"] * n_printed


def test_blocks_of_the_page_run_by_themselves():
    text = (GUIDES / "from-scikit-learn.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.S):
        exec(compile(block, "from-scikit-learn", "exec"), {})
