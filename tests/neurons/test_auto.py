"""A contest of families: what it takes, and that the winner is the best by its score."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

from cases import inputs
from trickless import DoublyStochasticRegressor, KitchenSinksRegressor, ShrinkingGradientRegressor
from trickless._arrays.places import HOST
from trickless._functions.activations import activations, together
from trickless._functions.stream import Purpose
from trickless._selection import scores as scores_of_families
from trickless._selection.scores import Comparison
from trickless.neurons import Gaussian, Tabular

X = inputs(300, 4)
y = np.sin(2 * X[:, 0]) + X[:, 1]
MODEL = KitchenSinksRegressor("auto", 100, random_state=0)


@pytest.mark.parametrize(
    ("learner", "sparse"),
    [
        (KitchenSinksRegressor, False),
        (KitchenSinksRegressor, True),
        (DoublyStochasticRegressor, False),
        (ShrinkingGradientRegressor, False),
    ],
)
def test_every_learner_takes_the_family_that_won(learner, sparse):
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    model = learner("auto", random_state=0).fit(rows, y)
    assert len(model.search_scores_) == (18 if sparse else 27)
    assert type(model.neurons_).__name__ != "Auto"
    assert model.score(rows, y) > 0.9


def test_auto_takes_tabular_for_tables_and_gaussian_for_few_rows():
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert not isinstance(clone(MODEL).fit(frame, y).neurons_, Tabular)
    frame["town"] = pd.Categorical(list("uvw") * 100)
    assert isinstance(clone(MODEL).fit(frame, y).neurons_, Tabular)
    gaps = np.where(X > 2, np.nan, X)
    assert isinstance(clone(MODEL).fit(gaps, y).neurons_, Tabular)
    few = clone(MODEL).fit(X[:19], y[:19]).neurons_
    plain = Gaussian("median").fit(X[:19], np.random.default_rng(0))
    assert few.length_scale_ == pytest.approx(plain.length_scale_)


def test_missing_values_that_come_later_are_refused():
    model = clone(MODEL).fit(X, y)
    late = X.copy()
    late[3, 2] = np.nan
    for call in (lambda: model.predict(late), lambda: model.partial_fit(late, y)):
        with pytest.raises(ValueError, match=r"column 2 of X contains missing .*Remedy: fill"):
            call()


@pytest.mark.parametrize("exact", [False, True], ids=["drawn", "exact"])
def test_families_are_compared_at_a_given_alpha(exact, monkeypatch):
    """At the ridge next to it of four to a decade, and not each at its best."""
    monkeypatch.setattr(scores_of_families, "EXACT_ROWS", 300 * exact)
    family = Gaussian(1.0).fit(X, np.random.default_rng(0))
    of = X, y[:, None], None, 0, Purpose.SEARCH, 0, 300, 50, 1
    weights = Comparison(*of).draw(family)
    Z = activations(family, together(weights), X, 50, 1, place=HOST)
    n = 1 if exact else 50
    Z = np.linalg.cholesky(family.kernel(X) + 1e-10 * np.eye(300)) if exact else Z
    Z, centred = Z - Z.mean(axis=0), y - y.mean()
    for alpha in (1e-4, 1e-2, 1.0):
        scores = []
        for ridge in n * alpha * 10.0 ** np.linspace(-1 / 8, 1 / 8, 5):
            hat = Z @ np.linalg.solve(Z.T @ Z + 300 * ridge * np.eye(Z.shape[1]), Z.T) + 1 / 300
            left_out = (centred - hat @ centred) / (1 - np.diag(hat))
            scores.append(np.mean(left_out**2) / y.var())
        (found,) = Comparison(*of, alpha).scores([family])
        assert min(scores) * (1 - 1e-6) <= found <= max(scores) * (1 + 1e-6)
        assert Comparison(*of).scores([family])[0] <= found
