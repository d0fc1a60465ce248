"""Parameters that are equal, and fitted families that are nearly so."""

import numpy as np
import pytest
import scipy.sparse

from cases import inputs
from trickless._learners.fixed_parameters import same
from trickless.neurons import Gaussian, Mixture, Stumps

A = np.arange(3.0)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (1, 1.0),
        (A, A.copy()),
        ([1, {"a": A}], [1, {"a": A.copy()}]),
        (Gaussian(2.0), Gaussian(2.0)),
        (Mixture([Gaussian(A), Stumps()]), Mixture([Gaussian(A + 0), Stumps()])),
        (object(), object()),
        (inputs, inputs),
        (scipy.sparse.eye_array(3, format="csr"), scipy.sparse.eye_array(3, format="csr")),
        (A.sum, A.sum),
    ],
)
def test_equal_parameters_are_alike(mine, theirs):
    assert same(mine, theirs)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (1, 2),
        (A, A + 1e-9),
        (A, None),
        (A, A[:2]),
        ([1, 2], (1, 2)),
        ([1, 2], [1]),
        ({"a": 1}, {"b": 1}),
        (Gaussian(2.0), Gaussian(3.0)),
        (Gaussian(2.0), Stumps()),
        (Mixture([Gaussian(2.0), Stumps()]), Mixture([Gaussian(3.0), Stumps()])),
        (object(), 3),
        (scipy.sparse.eye_array(3, format="csr"), 2 * scipy.sparse.eye_array(3, format="csr")),
    ],
)
def test_different_parameters_are_told_apart(mine, theirs):
    assert not same(mine, theirs)


def test_fitted_families_are_compared_by_what_they_estimated():
    X = inputs(30, 3)
    one, other, far = (
        Stumps().fit(some, np.random.default_rng(0)) for some in (X, X * (1 + 1e-6), X * 1.1)
    )
    assert same(one, other, fitted=True)
    assert not same(one, far, fitted=True)
    assert same(one, far)  # their parameters are equal
