"""Machines that are solved when it is time, and experts that know only earlier answers."""

import numpy as np

from trickless._solvers.experts.machines import RIDGES, Machines
from trickless._solvers.experts.opinions import LabelOpinions


def test_machines_solve_faded_least_squares():
    rng = np.random.default_rng(5)
    Z, y = rng.normal(size=(320, 7)), rng.normal(size=(320, 1))
    machines, penalties, solved = Machines((100.0,), 2), np.arange(1.0, 8.0), 0
    machines.grow(penalties, 1)
    for z, target in zip(Z, y, strict=True):
        due = machines.due[0]
        machines.learn(z, target)
        if machines.due[0] > due:
            solved = machines.n_rows
    assert 300 < solved <= 320
    weight = 0.5 ** ((solved - 1 - np.arange(solved)) / 100)
    for r, ridge in enumerate(RIDGES):
        weighted = Z[:solved] * weight[:, None]
        system = weighted.T @ Z[:solved] + np.diag(ridge * penalties)
        expected = np.linalg.solve(system, weighted.T @ y[:solved])
        np.testing.assert_allclose(machines.coef[r, 0], expected[:, 0], rtol=1e-10)


def test_a_step_of_one_leaves_no_error():
    rng = np.random.default_rng(7)
    machines = Machines((100.0,), 2, (1.0, 0.5))
    machines.grow(np.ones(7), 2)
    z, target = rng.normal(size=7), rng.normal(size=2)
    machines.learn(z, target)
    expected = np.stack([target, target / 2])
    np.testing.assert_allclose(machines.outputs(z)[machines.n_solved :], expected)


def test_frequencies_after_a_label_are_learned():
    opinions, none = LabelOpinions(0), np.zeros((0, 3))
    for label in ["a", "b", "c"] * 100:
        number, _ = opinions.judge(label, none, opinions.prior)
        opinions.learn(number)
    after, of_all = opinions.of(none)
    np.testing.assert_allclose(after.sum(), 1.0)
    assert after[0] > 0.95
    np.testing.assert_allclose(of_all, [1 / 3] * 3, atol=0.02)


def test_only_the_first_half_life_is_solved_often_among_the_first_rows():
    rng = np.random.default_rng(8)
    for half_lives, waits in (((np.inf,), False), ((50.0, np.inf), True)):
        machines = Machines(half_lives, 2)
        machines.grow(np.ones(7), 1)
        for z in rng.normal(size=(20, 7)):
            machines.learn(z, z[:1])
        assert (machines.due[-1] > 100) == waits
        assert machines.due[0] <= 28
