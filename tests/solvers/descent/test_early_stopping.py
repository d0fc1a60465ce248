"""When a fit has stopped improving, against the rule written out line by line."""

import numpy as np
import pytest

from cases import inputs
from stopping import stops_at
from trickless.functions.stream import NeuronStream
from trickless.neurons import Trees
from trickless.solvers.class_losses import Logistic, Softmax
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.early_stopping import HeldOut, Looks, mean_and_error
from trickless.solvers.descent.options import Candidates, DescentOptions, EarlyStopping
from trickless.solvers.descent.step_sizes import SizeParameters
from trickless.solvers.descent.steps.newton import Newton
from trickless.solvers.number_losses import Squared

X = inputs(48, 3)
Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1]], axis=1)
WEIGHT = np.random.default_rng(0).uniform(0.5, 1.5, 48)


class Errors:
    """Squared errors of rows."""

    def error(self, decisions, targets):
        return ((decisions - targets) ** 2).sum(axis=1)


def looks(patience=3, tol=0.01, loss=None, n_outputs=1, n_neurons=400, start=0.0):
    """The looks of a fit before the first, and the descent that has their scores."""
    family = Trees(depth=2).fit(X, np.random.default_rng(0))
    stream = NeuronStream(family, 0, np.float64)
    descent = Descent(stream, np.full(n_outputs, start), Errors())
    step = Newton("Owner", loss or Squared(), 1, 48, 1, n_neurons)
    sizes = SizeParameters(0.0, False, 0.3, "inverse", "auto")
    stopping = EarlyStopping(0.25, patience, tol)
    options = DescentOptions(step, sizes, Candidates(1, True, 0.2), stopping)
    return Looks(descent, options, 1), descent


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
def test_a_fit_stops_by_the_rule(patience, tol, weighted):
    rng, found = np.random.default_rng(1), {}
    weight = rng.uniform(0.1, 2.0, 40) if weighted else None
    kinds = "falls for ever", "stays", "falls, then rises", "noise"
    for kind in kinds:
        losses, (own, descent) = course(kind, rng), looks(patience, tol)
        target = np.zeros((40, 1))
        start = np.full((40, 1), 1.0)  # of loss 1/2 each, which is the unit
        found[kind] = None
        for number, lost in enumerate(losses, 1):
            rows = HeldOut(np.sqrt(lost)[:, None], start, target, weight)
            if own.stop(rows, number):
                found[kind] = number
                break
        assert found[kind] == stops_at(losses, weight, patience, tol)
        means = np.average(losses[: len(own.scores)], axis=1, weights=weight)
        np.testing.assert_allclose(own.scores, 1 - means)
        assert descent.scored == list(range(1, 1 + len(own.scores)))
    assert found["stays"] <= 4 * patience + 4
    if tol < 0.1:  # of what remains, which is what a fit gains at each look
        assert found["falls for ever"] is None
        assert 40 < found["falls, then rises"] <= 80


def test_the_last_per_cent_of_a_loss_counts_as_much_as_the_first():
    rng = np.random.default_rng(0)
    losses, start = course("falls, then rises", rng), np.ones((40, 1))
    expected = stops_at(losses, None, 3, 0.01)
    assert expected > 40
    for size in (1.0, 1e-6):
        own, _ = looks()
        rows = (HeldOut(np.sqrt(size * each)[:, None], start, 0 * start, None) for each in losses)
        assert next(n for n, each in enumerate(rows, 1) if own.stop(each, n)) == expected


def test_what_rows_have_in_common_cancels():
    """Rows differ far more than a fit improves any of them."""
    own, _ = looks(tol=0.0, patience=1)
    start, hard = np.ones((40, 1)), np.linspace(1, 100, 40)
    for number in range(1, 30):
        f = np.sqrt(hard * 0.999**number)[:, None]
        assert not own.stop(HeldOut(f, start, 0 * start, None), number)


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
    own, descent = looks(n_outputs=2)
    own.stop(rows, 3)
    each = [
        1
        - (WEIGHT * (f[:, o] - Y[:, o]) ** 2).sum() / (WEIGHT * (constant[o] - Y[:, o]) ** 2).sum()
        for o in range(2)
    ]
    assert descent.validation_scores == [pytest.approx(np.mean(each))]
    scaled = HeldOut(f * [1, 1e6], start * [1, 1e6], Y * [1, 1e6], WEIGHT)
    np.testing.assert_allclose(scaled.lost(Squared()), rows.lost(Squared()))
    y = np.where(np.arange(2) == (X[:, :1] > 0), 1.0, -1.0)
    expected = Softmax().value(f, y) / Softmax().value(start, y).mean()
    np.testing.assert_allclose(HeldOut(f, start, y, None).lost(Softmax()), expected)


def test_an_output_that_a_constant_explains_counts_as_a_constant():
    rows = HeldOut(Y, Y, Y, None)
    np.testing.assert_array_equal(rows.lost(Squared()), 1.0)


def test_folds_look_together():
    halves = [HeldOut(0.5 * Y[s], 0 * Y[s], Y[s], WEIGHT[s]) for s in (slice(20), slice(20, None))]
    whole = HeldOut(0.5 * Y, 0 * Y, Y, WEIGHT)
    for ours, theirs in zip(HeldOut.together(halves), whole, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    unweighted = [rows._replace(weight=None) for rows in halves]
    assert HeldOut.together(unweighted).weight is None


def test_the_best_look_is_kept_unless_a_constant_is_better():
    start = np.ones((40, 1))
    for losses, best in (([0.5, 0.2, 0.3], 1), ([1.5, 1.2, 1.3], None)):
        own, descent = looks(n_neurons=400)
        descent.history = [None] * 12
        own._n_steps = 0
        for number, lost in enumerate(losses, 1):
            own.stop(HeldOut(np.sqrt(lost) * start, start, 0 * start, None), 4 * number)
        assert own.wait == 4
        assert own.best() == ((0, 0) if best is None else (4 * (best + 1), 4 * (best + 1)))


def test_the_level_of_a_rare_class_comes_from_the_best_look():
    """Probabilities of the held-out rows then have the right mean, up to the prior."""
    y = np.where(np.arange(1000) < 100, 1.0, -1.0)[:, None]
    own, descent = looks(loss=Logistic(), start=np.log(0.01 / 0.99))
    object.__setattr__(own, "_step", Newton("Owner", Logistic(), 1, 48, 1, 400, levels=True))
    start = np.broadcast_to(descent.constant, y.shape)
    f = start + 0.5 * y
    own.stop(HeldOut(f, start, y, None), 4)
    p = 1 / (1 + np.exp(-(f + descent.level)))
    assert abs(p.mean() - 0.1) < 0.1 * abs((1 / (1 + np.exp(-f))).mean() - 0.1)
    level = descent.level
    own.stop(HeldOut(start - 3.0 * y, start, y, None), 8)  # which is worse
    assert descent.level is level
