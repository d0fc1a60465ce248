"""When a fit has stopped improving, against the rule written out line by line."""

import numpy as np
import pytest

from cases import inputs
from stopping import stops_at
from trickless._solvers import early_stopping
from trickless._solvers.class_losses import Softmax
from trickless._solvers.early_stopping import HeldOut, Looks, mean_and_error
from trickless._solvers.number_losses import Squared

X = inputs(48, 3)
Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1]], axis=1)
WEIGHT = np.random.default_rng(0).uniform(0.5, 1.5, 48)


@pytest.fixture
def rule(monkeypatch):
    """Set the tolerance and the patience."""

    def set_rule(tol, patience):
        monkeypatch.setattr(early_stopping, "_TOL", tol)
        monkeypatch.setattr(early_stopping, "_PATIENCE", patience)

    return set_rule


def course(kind, rng):
    """What rows lose at the looks of a fit: (n_looks, n_rows)."""
    at = np.arange(1, 121)[:, None]
    noise = rng.standard_normal((120, 40))
    each = rng.uniform(0.5, 1.5, 40)
    if kind == "falls for ever":
        return each * 0.9**at
    if kind == "stays":
        return each * np.exp(0.01 * noise)
    if kind == "falls, then rises":
        return each * (0.1 + ((at - 40) / 40) ** 2)
    return each * (0.05 + 0.95**at) * np.exp(0.3 * noise)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tol", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("patience", [1, 5])
def test_a_fit_stops_by_the_rule(patience, tol, weighted, rule):
    rule(tol, patience)
    rng, found = np.random.default_rng(1), {}
    weight = rng.uniform(0.1, 2.0, 40) if weighted else None
    kinds = "falls for ever", "stays", "falls, then rises", "noise"
    for kind in kinds:
        losses, own = course(kind, rng), Looks(Squared())
        target = np.zeros((40, 1))
        start = np.full((40, 1), 1.0)  # of loss 1/2 each, which is the unit
        found[kind] = None
        for number, lost in enumerate(losses, 1):
            rows = HeldOut(np.sqrt(lost)[:, None], start, target, weight)
            if own.look(rows):
                found[kind] = number
                break
        assert found[kind] == stops_at(losses, weight, patience, tol)
        means = np.average(losses[: len(own.scores)], axis=1, weights=weight)
        np.testing.assert_allclose(own.scores, 1 - means)
    assert found["stays"] <= 4 * patience + 4
    if tol < 0.1:  # of what remains, which is what a fit gains at each look
        assert found["falls for ever"] is None
        assert 40 < found["falls, then rises"] <= 80


def test_the_last_per_cent_of_a_loss_counts_as_much_as_the_first(rule):
    rule(0.01, 3)
    rng = np.random.default_rng(0)
    losses, start = course("falls, then rises", rng), np.ones((40, 1))
    expected = stops_at(losses, None, 3, 0.01)
    assert expected > 40
    for size in (1.0, 1e-6):
        own = Looks(Squared())
        rows = (HeldOut(np.sqrt(size * each)[:, None], start, 0 * start, None) for each in losses)
        assert next(n for n, each in enumerate(rows, 1) if own.look(each)) == expected


def test_what_rows_have_in_common_cancels(rule):
    """Rows differ far more than a fit improves any of them."""
    rule(0.0, 1)
    own = Looks(Squared())
    start, hard = np.ones((40, 1)), np.linspace(1, 100, 40)
    for number in range(1, 30):
        f = np.sqrt(hard * 0.999**number)[:, None]
        assert not own.look(HeldOut(f, start, 0 * start, None))


def test_the_standard_error_of_a_mean_counts_weights():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(50)
    mean, error = mean_and_error(values, None)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std() / np.sqrt(50))
    weight = np.repeat([1.0, 0.0], 25)
    assert mean_and_error(values, weight) == pytest.approx(mean_and_error(values[:25], None))
    means = [mean_and_error(rng.standard_normal(200), np.linspace(0.1, 2, 200)) for _ in range(400)]
    means, errors = np.transpose(means)
    assert np.std(means) == pytest.approx(errors.mean(), rel=4 / np.sqrt(800))


def test_the_score_is_the_share_of_the_loss_that_is_explained():
    rng, constant = np.random.default_rng(0), np.array([0.1, -0.2])
    f, start = rng.standard_normal((48, 2)), np.broadcast_to(constant, (48, 2))
    rows = HeldOut(f, start, Y, WEIGHT)
    own = Looks(Squared())
    own.look(rows)
    each = [
        1
        - (WEIGHT * (f[:, o] - Y[:, o]) ** 2).sum() / (WEIGHT * (constant[o] - Y[:, o]) ** 2).sum()
        for o in range(2)
    ]
    assert own.scores == [pytest.approx(np.mean(each))]
    scaled = HeldOut(f * [1, 1e6], start * [1, 1e6], Y * [1, 1e6], WEIGHT)
    np.testing.assert_allclose(scaled.lost(Squared()), rows.lost(Squared()))
    y = np.where(np.arange(2) == (X[:, :1] > 0), 1.0, -1.0)
    expected = Softmax().value(f, y) / Softmax().value(start, y).mean()
    np.testing.assert_allclose(HeldOut(f, start, y, None).lost(Softmax()), expected)


def test_an_output_that_a_constant_explains_counts_as_a_constant():
    rows = HeldOut(Y, Y, Y, None)
    np.testing.assert_array_equal(rows.lost(Squared()), 1.0)
