"""Images and series that are nearly right: the remedy of the error works if it is followed."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cases import inputs
from trickless import KitchenSinksClassifier
from trickless.kernels import KernelGradientClassifier
from trickless.neurons import Convolutions, Gaussian, Patches

Y = np.arange(12) % 2
SERIES = inputs(12, 60).reshape(12, 3, 20)
IMAGES = inputs(12, 56).reshape(12, 7, 8)
COLOURS = inputs(12, 192).reshape(12, 8, 8, 3)
FLAT = inputs(12, 10)


def remedied(call, X, rows):
    """Follow the first remedy of the error about X that the call raises."""
    with pytest.raises((TypeError, ValueError), match="Remedy: ") as caught:
        call(rows)
    remedy = str(caught.value).partition("Remedy: ")[2].rstrip(".").partition(";")[0]
    expression = remedy.removesuffix(" for one row").removesuffix(" for one series").split(": ")[-1]
    found = eval(expression, {"numpy": np, "scipy": scipy, "X": rows})
    np.testing.assert_array_equal(_dense(found).reshape(-1), np.asarray(X).reshape(-1))
    return call(found)


def _dense(rows):
    return rows.toarray() if scipy.sparse.issparse(rows) else np.asarray(list(rows))


READERS = {
    "series": (Convolutions(kernels=2), SERIES),
    "images": (Patches(patch=3), IMAGES),
    "colours": (Patches(patch=3), COLOURS),
    "flat": (Gaussian(), FLAT),
    "kernel": (None, IMAGES),
}


def fitted(name):
    """Return a model, and the rows that it was fitted to."""
    neurons, X = READERS[name]
    learner = (
        KitchenSinksClassifier(neurons, 5, random_state=0)
        if neurons
        else KernelGradientClassifier()
    )
    return learner.fit(X, Y), X


@pytest.mark.parametrize("name", READERS)
def test_a_series_of_pandas_that_holds_arrays(name):
    model, X = fitted(name)
    answers = model.predict(X)
    np.testing.assert_array_equal(remedied(model.predict, X, pd.Series(list(X))), answers)
    remedied(lambda rows: model.fit(rows, Y), X, pd.Series(list(X)))


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"colours"}))
def test_a_list_of_sparse_matrices(name):
    model, X = fitted(name)
    rows = [scipy.sparse.csr_matrix(np.atleast_2d(row)) for row in X]
    answers = model.predict(X)
    np.testing.assert_array_equal(remedied(model.predict, X, rows), answers)
    remedied(lambda rows: model.fit(rows, Y), X, rows)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"flat"}))
def test_one_row_without_an_axis_of_rows(name):
    model, X = fitted(name)
    for row in (X[1], list(X[1])):
        found = remedied(model.predict, X[1], row)
        np.testing.assert_array_equal(found, model.predict(X[1:2]))
        remedied(lambda rows: model.partial_fit(rows, Y[:1]), X[1], row)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"flat"}))
def test_axes_in_another_order(name):
    model, X = fitted(name)
    other = X.swapaxes(-1, -2)
    for rows in (other, list(other)):
        np.testing.assert_array_equal(remedied(model.predict, X, rows), model.predict(X))


def test_cells_of_a_data_frame_that_hold_series():
    frame = pd.DataFrame({j: [pd.Series(row[j]) for row in SERIES] for j in range(3)})
    model = KitchenSinksClassifier(Convolutions(kernels=2), 5, random_state=0).fit(SERIES, Y)
    with pytest.raises(ValueError, match=r"\[numpy\.stack\(row\) for row in X\.to_numpy\(\)\]"):
        KitchenSinksClassifier(Convolutions(kernels=2), 5).fit(frame, Y)
    found = model.predict_proba([np.stack(row) for row in frame.to_numpy()])
    np.testing.assert_array_equal(found, model.predict_proba(SERIES))
