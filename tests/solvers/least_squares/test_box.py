"""Quadratic functions on a box, against the conditions of Karush, Kuhn and Tucker."""

import numpy as np
import pytest

from trickless._solvers.least_squares.box import quadratic_within


@pytest.mark.parametrize("rank", [3, 30, 200])
def test_quadratic_functions_satisfy_the_conditions_to_rounding(rank):
    rng = np.random.default_rng(rank)
    for size in (1, 5, 60):
        scales = 10 ** rng.uniform(-3, 1, size)
        R = rng.standard_normal((rank, size)) * scales
        A, wanted = R.T @ R / rank, R.T @ rng.standard_normal(rank) / rank
        for bound in (1e-3, 0.05, 1.0, 30.0):
            x = quadratic_within(A, wanted, np.zeros(size), bound)
            gradient = A @ x - wanted
            small = 1e-10 * np.abs(wanted).max()
            assert np.abs(x).max() <= bound
            inside = np.abs(x) < bound
            assert np.abs(gradient[inside]).max(initial=0) <= small
            assert (gradient * np.sign(x))[~inside].max(initial=0) <= small
