"""Balanced sampling: chances kept exactly, sums kept nearly."""

import numpy as np
import pytest

from trickless._balanced import DIRECTIONS, balanced
from trickless._sampling import inclusion, thin


def contributions(t, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((t, columns))


@pytest.mark.parametrize("columns", [None, 3, 20])
def test_every_point_is_kept_with_its_chance(columns):
    rng = np.random.default_rng(1)
    size = rng.exponential(size=30)
    chance = inclusion(size, 12)
    C = None if columns is None else contributions(30, columns)
    kept = np.zeros(30)
    for _ in range(3000):
        index = balanced(chance, C, rng)
        assert 11 <= len(index) <= 13
        assert (np.diff(index) > 0).all()
        kept[index] += 1
    error = np.sqrt(3000 * chance * (1 - chance))
    assert (np.abs(kept - 3000 * chance) <= 5 * error + 5).all()
    assert (chance == 1).any()
    assert (kept[chance == 1] == 3000).all()


def test_sums_of_few_columns_hardly_change():
    """Of 1,000 points 500 stay; all but the last few steps keep the eight sums exactly."""
    size = np.random.default_rng(0).exponential(size=1000) + 0.5
    C = contributions(1000, 8) * size[:, None]
    chance = inclusion(size, 500)
    worst = {"balanced": [], "plain": []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        index = balanced(chance, C, rng)
        worst["balanced"].append((C[index] / chance[index, None]).sum(axis=0) - C.sum(axis=0))
        index, factor = thin(size, 500, rng)
        worst["plain"].append((C[index] * factor[:, None]).sum(axis=0) - C.sum(axis=0))
    root = {name: np.sqrt(np.square(errors).mean()) for name, errors in worst.items()}
    assert root["balanced"] < root["plain"] / 5


def test_the_strongest_of_many_directions_are_balanced():
    rng = np.random.default_rng(0)
    strong = contributions(800, DIRECTIONS // 2)
    C = np.hstack([strong, 1e-3 * contributions(800, 200, seed=1)])
    C = C @ np.linalg.qr(rng.standard_normal((C.shape[1], C.shape[1])))[0]
    chance = np.full(800, 0.5)
    error, plain = [], []
    for seed in range(5):
        index = balanced(chance, C, np.random.default_rng(seed))
        error.append(np.linalg.norm(2 * C[index].sum(axis=0) - C.sum(axis=0)))
        index, _ = thin(np.ones(800), 400, np.random.default_rng(seed))
        plain.append(np.linalg.norm(2 * C[index].sum(axis=0) - C.sum(axis=0)))
    assert np.mean(error) < np.mean(plain) / 3


@pytest.mark.parametrize("chance", [[1.0, 0.0, 1.0], [0.5], [0.5, 0.5], [0.0], [1e-12, 1.0, 0.3]])
def test_few_points_are_no_special_case(chance):
    chance = np.array(chance)
    for seed in range(20):
        index = balanced(chance, contributions(len(chance), 4), np.random.default_rng(seed))
        assert set(np.flatnonzero(chance == 1)) <= set(index) <= set(np.flatnonzero(chance))


def test_points_that_contribute_the_same_or_nothing_are_no_trouble():
    for C in (np.zeros((50, 5)), np.ones((50, 5)), np.repeat(contributions(5, 5), 10, axis=0)):
        index = balanced(np.full(50, 0.4), C, np.random.default_rng(0))
        assert 19 <= len(index) <= 21
