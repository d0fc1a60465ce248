"""The warning where a linear function predicts much better than random neurons."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from trickless import (
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless._selection.linear import compare_with_linear
from trickless.neurons import Gaussian, Landmarks

N_FEATURES = 3000


def texts(n=400):
    """Rows of two topics, each with words of its own, with 40 words among 3,000."""
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 2, n)
    words = rng.integers(0, N_FEATURES // 2, (n, 40))
    own = rng.random((n, 40)) < 0.8
    words = 2 * words + np.where(own, topic[:, None], 1 - topic[:, None])
    X = scipy.sparse.csr_array(
        (np.full(n * 40, 40**-0.5), (np.repeat(np.arange(n), 40), words.ravel())),
        shape=(n, N_FEATURES),
    )
    X.sum_duplicates()
    return X, topic


X, TOPIC = texts()


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        KitchenSinksRegressor(Gaussian("median"), 50, random_state=0),
        KitchenSinksClassifier(Gaussian("median"), 50, random_state=0),
        DoublyStochasticRegressor(Gaussian("median"), 50, random_state=0),
        ShrinkingGradientRegressor(Gaussian("median"), 50, n_draws=20, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_learner_warns_of_a_much_better_linear_function(model, dense):
    rows = X.toarray() if dense else X
    message = r"neurons=Gaussian: a linear function of the 3,000 features .* much better.*Remedy"
    with pytest.warns(UserWarning, match=message):
        model.fit(rows, TOPIC)


def test_landmarks_and_noise_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*no better than by a constant")
        KitchenSinksClassifier(Landmarks(Gaussian(8.0)), 1500, random_state=0).fit(X, TOPIC)
        noise = np.random.default_rng(1).integers(0, 2, X.shape[0])
        KitchenSinksClassifier(Gaussian("median"), 50, random_state=0).fit(X, noise)


def test_auto_takes_landmarks_of_wide_sparse_rows():
    model = KitchenSinksClassifier("auto", 300, random_state=0).fit(X[:300], TOPIC[:300])
    assert isinstance(model.neurons_, Landmarks)
    plain = KitchenSinksClassifier(model.neurons_, 300, random_state=0).fit(X[:300], TOPIC[:300])
    assert model.score(X[300:], TOPIC[300:]) > 0.85
    assert plain.score(X[300:], TOPIC[300:]) > 0.85


@pytest.mark.parametrize("weighted", [False, True])
def test_shares_are_those_of_rows_left_out(weighted):
    """Of ridge regression on the features, at its best ridge, leaving out rows one by one."""
    n, y = 150, (2.0 * TOPIC - 1)[:150, None]
    rows = X[:n]
    weight = np.random.default_rng(0).random(n) + 0.5 if weighted else None
    share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    family = Gaussian(1.0).fit(rows, np.random.default_rng(0))
    found = compare_with_linear(family, 20, rows, y, weight, 0, 1)
    dense = rows.toarray()
    scores = []
    for ridge in np.geomspace(1e-4, 1, 9):
        centred, root = dense - share @ dense, np.sqrt(share)[:, None]
        A, b = root * centred, root * (y - share @ y)
        hat = A @ A.T @ np.linalg.inv(A @ A.T + ridge * np.eye(n))
        left = 1 - np.diag(hat) - share
        scores.append((((b - hat @ b)[:, 0] / left) ** 2).sum())
    assert 1 - found.linear == pytest.approx(min(scores) / (share @ (y - share @ y) ** 2), rel=0.05)
    assert found.neurons < found.linear


def test_narrow_rows_few_rows_and_constants_are_not_compared():
    family = Gaussian(1.0).fit(X, np.random.default_rng(0))
    y = np.zeros((X.shape[0], 1))
    assert compare_with_linear(family, 20, X, y, None, 0, 1) is None
    y[::2] = 1
    assert compare_with_linear(family, 20, X[:50], y[:50], None, 0, 1) is None
    assert compare_with_linear(family, 20, X[:, :500], y, None, 0, 1) is None


def test_neurons_are_not_evaluated_where_a_linear_function_predicts_little():
    family = Gaussian(1.0).fit(X, np.random.default_rng(0))
    noise = np.random.default_rng(1).normal(size=(X.shape[0], 1))
    assert compare_with_linear(family, 20, X, noise, None, 0, 1) is None
    y = TOPIC[:, None].astype(float)
    assert compare_with_linear(family, 20, X, y, None, 0, 1) is not None
