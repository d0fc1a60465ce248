"""Bounds and constants of the papers, by hand."""

import math

import pytest

from trickless.theory import shrinking_gradient_constants


def test_constants_of_theorem_1():
    eta, m, gamma = shrinking_gradient_constants(400, 1.0)
    assert eta == 1 / 40
    assert gamma == pytest.approx((17 * 400 / 40 + 1) ** 2 * 1600)  # 171² · 1600
    assert m == math.ceil(289 * 400 * math.log(171**2 * 1600))


def test_gamma_is_at_least_e():
    assert shrinking_gradient_constants(1, 1e-9).gamma >= math.e


@pytest.mark.parametrize("norm_bound", [0.5, 1.0, 10.0])
def test_the_horizon_that_the_error_names_will_do_and_no_shorter(norm_bound):
    enough = int(16 * norm_bound**2) + 1
    with pytest.raises(ValueError, match=f"Remedy: a horizon of at least {enough},"):
        shrinking_gradient_constants(enough - 1, norm_bound)
    assert shrinking_gradient_constants(enough, norm_bound).step_size < 1 / 8


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="horizon=0"):
        shrinking_gradient_constants(0, 1.0)
    with pytest.raises(ValueError, match="norm_bound=-1"):
        shrinking_gradient_constants(10, -1)
