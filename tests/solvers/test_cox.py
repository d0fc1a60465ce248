"""Cox's partial likelihood, against double loops, finite differences and Poisson's likelihood."""

import numpy as np
import pytest

from trickless.intake.survival import concordance
from trickless.solvers.cox import Cox, RiskSets, baseline_hazard


def problem(n=30, ties=True, weights=True, seed=0):
    rng = np.random.default_rng(seed)
    time = rng.integers(0, 8, size=n) * 1.0 if ties else rng.exponential(size=n)
    y = np.copysign(time, rng.random(n) < 0.6).reshape(-1, 1)
    y[0] = -0.0  # censored at once
    y[:, 0] = np.where(rng.random(n) < 0.4, -np.abs(y[:, 0]), y[:, 0])
    return rng.normal(size=(n, 1)), y, rng.uniform(0.5, 2, size=n) if weights else None


def efron(f, y, weight):
    """Return minus the log of the partial likelihood, by a loop over the tied events."""
    f, time, event = f[:, 0], np.abs(y[:, 0]), ~np.signbit(y[:, 0])
    weight, total = np.ones(len(f)) if weight is None else weight, 0.0
    for t in np.unique(time[event]):
        tied, risk = event & (time == t), time >= t
        d = tied.sum()
        total += weight[tied] @ f[tied]
        for l in range(d):  # noqa: E741
            at_risk = weight[risk] @ np.exp(f[risk]) - l / d * (weight[tied] @ np.exp(f[tied]))
            total -= weight[tied].mean() * np.log(at_risk)
    return -total


cases = pytest.mark.parametrize("ties", [True, False])
weighted = pytest.mark.parametrize("weights", [True, False])


@cases
@weighted
def test_values_are_efrons_partial_likelihood(ties, weights):
    f, y, weight = problem(ties=ties, weights=weights)
    values = Cox(weight).value(f, y)
    total = values.sum() if weight is None else weight @ values
    assert total == pytest.approx(efron(f, y, weight), rel=1e-12)


@cases
@weighted
def test_slopes_and_curvatures_are_derivatives(ties, weights):
    f, y, weight = problem(ties=ties, weights=weights)
    g, curvature = Cox(weight).newton(f, y)
    np.testing.assert_allclose(Cox(weight).derivative(f, y), -g, atol=1e-14)
    share, h = np.ones(len(f)) if weight is None else weight, 1e-4
    for i in range(len(f)):
        step = np.zeros_like(f)
        step[i] = h
        up, here, down = (efron(f + s, y, weight) for s in (step, 0, -step))
        assert share[i] * g[i, 0] == pytest.approx(-(up - down) / (2 * h), abs=1e-6)
        assert share[i] * curvature[i, 0] == pytest.approx((up - 2 * here + down) / h**2, abs=1e-5)


@cases
def test_a_constant_changes_nothing(ties):
    f, y, weight = problem(ties=ties)
    for shift in (-500.0, 500.0):
        np.testing.assert_allclose(Cox(weight).value(f + shift, y), Cox(weight).value(f, y))
        np.testing.assert_allclose(Cox(weight).newton(f + shift, y), Cox(weight).newton(f, y))
    g = Cox(weight).newton(f, y)[0][:, 0]
    assert weight @ g == pytest.approx(0, abs=1e-12)


def test_weights_are_relative():
    f, y, weight = problem()
    np.testing.assert_allclose(Cox(3 * weight).newton(f, y), Cox(weight).newton(f, y))


def test_poissons_curvature_bounds_the_hessian():
    f, y, weight = problem(n=12)
    h, n = 1e-4, len(f)
    hessian = np.empty((n, n))
    for i in range(n):
        step = np.zeros_like(f)
        step[i] = h
        change = Cox(weight).derivative(f + step, y) - Cox(weight).derivative(f - step, y)
        hessian[:, i] = weight * change[:, 0] / (2 * h)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-7)
    above = np.diag(weight * Cox(weight).scoring(f, y)[1][:, 0]) - hessian
    assert np.linalg.eigvalsh(above).min() > -1e-7


def test_no_rows_at_risk_of_an_event():
    f, y = np.zeros((3, 1)), -np.array([[1.0], [2.0], [3.0]])
    assert (Cox().value(f, y) == 0).all()
    assert (np.array(Cox().newton(f, y)) == 0).all()
    assert len(RiskSets.of(f[:, 0], y[:, 0], None).times) == 0


def test_risk_sets_of_vanishing_hazard_are_finite():
    f, y = np.array([[400.0], [0.0], [-400.0]]), np.array([[1.0], [2.0], [3.0]])
    for weight in (None, np.array([1e6, 1.0, 1.0])):
        loss = Cox(weight)
        for values in (loss.value(f, y), loss.derivative(f, y), *loss.newton(f, y)):
            assert np.isfinite(values).all()
        np.testing.assert_allclose(loss.derivative(f, y)[0], 0, atol=1e-6)


def test_the_baseline_hazard_is_nelsons_and_aalens_estimate_without_ties():
    rng = np.random.default_rng(2)
    time = rng.exponential(size=20)
    y = np.copysign(time, rng.random(20) - 0.3)
    times, hazard = baseline_hazard(np.zeros(20), y)
    expected = np.cumsum([1 / (time >= t).sum() for t in times])
    np.testing.assert_allclose(hazard, expected)


def test_concordance_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(3)
    time, event = rng.integers(0, 9, size=40) * 1.0, rng.random(40) < 0.5
    risk, weight = rng.integers(0, 6, size=40) * 1.0, rng.uniform(0.5, 2, size=40)
    right = pairs = 0.0
    for i in np.flatnonzero(event):
        for j in range(40):
            if time[j] > time[i] or (time[j] == time[i] and not event[j]):
                both = weight[i] * weight[j]
                pairs += both
                right += both * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
    assert concordance(time, event, risk, weight) == pytest.approx(right / pairs)
    assert concordance(time, event, -time - 0.5 * ~event) == 1  # right in every pair
