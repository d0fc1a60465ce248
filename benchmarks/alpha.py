"""How well Kitchen Sinks chooses alpha: the error at its choice beside that at the best alpha.

Targets are sin(1.5 x₀) + x₁ plus noise, or classes whose log odds are 1.5 x₀ + sin(2 x₁) plus a
constant. Three tables have classes that nearly separate, where a half of the rows is new. For
numbers, the error is that of the function on 10,000 new rows; without noise, its root; for classes,
it is the log loss. The best alpha is the one of least error on the grid from which alpha is chosen,
for the same neurons, or among all decades from 1e-10 to 1 for classes. It knows the new rows, so
that no choice can have a ratio below 1.

Run as ``make bench-alpha``; writes ``benchmarks/results/alpha.json`` in about 15 minutes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from circumstances import circumstances
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._arrays.places import to_host
from trickless._solvers.least_squares.paths import Path as Ridges
from trickless.neurons import Gaussian

PATH = Path(__file__).parent / "results" / "alpha.json"
SEEDS, N_TEST = 5, 10_000


def normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_normal((n, 4))


def log_normal(rng: np.random.Generator, n: int) -> np.ndarray:
    """Log-normal columns of mean 0 and variance 1."""
    mean, variance = np.exp(0.5), np.exp(1) * (np.exp(1) - 1)
    return (np.exp(rng.standard_normal((n, 4))) - mean) / np.sqrt(variance)


def truth(X: np.ndarray) -> np.ndarray:
    return np.sin(1.5 * X[:, 0]) + X[:, 1]


Noise = Callable[[np.random.Generator, np.ndarray], np.ndarray]
NOISES: dict[str, Noise] = {
    "none": lambda rng, X: np.zeros(len(X)),
    "equal": lambda rng, X: 0.5 * rng.standard_normal(len(X)),
    "abs(x₁)": lambda rng, X: np.abs(X[:, 1]) * rng.standard_normal(len(X)),
    "(x₁x₂)²/2": lambda rng, X: 0.5 * (X[:, 1] * X[:, 2]) ** 2 * rng.standard_normal(len(X)),
    "t, 3 degrees": lambda rng, X: 0.3 * rng.standard_t(3, len(X)),
}


class Setting(NamedTuple):
    """Rows, columns of activations, the distribution of X, the noise, and whether rows stream."""

    n: int
    columns: int
    X: str
    noise: str
    streams: bool = False


NUMBERS = [
    Setting(100, 1000, "normal", "equal"),
    Setting(300, 600, "normal", "abs(x₁)"),
    Setting(500, 200, "normal", "(x₁x₂)²/2"),
    Setting(600, 200, "log-normal", "equal"),
    Setting(1000, 100, "normal", "none"),
    Setting(2000, 2000, "log-normal", "abs(x₁)"),
    Setting(4000, 2000, "normal", "abs(x₁)"),
    Setting(4000, 200, "normal", "abs(x₁)"),
    Setting(4000, 1000, "normal", "t, 3 degrees"),
    Setting(4000, 1000, "log-normal", "equal", True),
    Setting(10_000, 1000, "normal", "(x₁x₂)²/2", True),
    Setting(20_000, 2000, "normal", "abs(x₁)"),
    Setting(30_000, 1000, "normal", "equal"),
]
ALPHAS = 10.0 ** np.arange(-10, 1)
TABLES = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
#: Rows, columns of activations, and the rate of the rarer class.
CLASSES = [(1000, 1000, 0.02), (2000, 1000, 0.01), (1000, 600, 0.5), (4000, 600, 0.1)]


def of_numbers(setting: Setting, seed: int) -> float:
    """Return the ratio of the error at the chosen alpha to the least error."""
    rng = np.random.default_rng(seed)
    draw = normal if setting.X == "normal" else log_normal
    X, X_test = draw(rng, setting.n), draw(rng, N_TEST)
    y = truth(X) + NOISES[setting.noise](rng, X)
    model = KitchenSinksRegressor(Gaussian("median"), setting.columns // 2, random_state=seed)
    if setting.streams:
        for rows in np.array_split(np.arange(setting.n), 10):
            model.partial_fit(X[rows], y[rows])
    else:
        model.fit(X, y)
    sums = model._sums_
    path = Ridges(model.statistics_.moments())
    solutions = [path.at(np.array([ridge])) for ridge in path.grid]
    coef = np.hstack([solution.coef for solution in solutions])
    f = np.concatenate([to_host(Z) @ coef for _, Z in sums._panels(X_test, model._problem())])
    f += np.hstack([solution.intercept for solution in solutions])
    errors = ((f - truth(X_test)[:, None]) ** 2).mean(axis=0)
    mine = ((model.predict(X_test) - truth(X_test)) ** 2).mean()
    ratio = mine / errors.min()
    return float(ratio**0.5 if setting.noise == "none" else ratio)


def of_classes(n: int, columns: int, rate: float, seed: int) -> tuple[float, float]:
    """Return the ratio of log losses, and that to the log loss of the best constant."""
    rng = np.random.default_rng(seed)

    def log_odds(X: np.ndarray) -> np.ndarray:
        return 1.5 * X[:, 0] + np.sin(2 * X[:, 1])

    many = log_odds(normal(rng, 100_000))
    constant = brentq(lambda b: expit(many + b).mean() - rate, -20, 20)
    X, X_test = normal(rng, n), normal(rng, N_TEST)
    y = rng.random(n) < expit(log_odds(X) + constant)
    p = expit(log_odds(X_test) + constant)

    def error(model: KitchenSinksClassifier) -> float:
        f = model.decision_function(X_test)
        return float((p * np.logaddexp(0, -f) + (1 - p) * np.logaddexp(0, f)).mean())

    how: dict[str, Any] = {"n_neurons": columns // 2, "loss": "log_loss", "random_state": seed}
    chosen = KitchenSinksClassifier(Gaussian("median"), **how).fit(X, y)
    mine = error(chosen)
    fits = [KitchenSinksClassifier(Gaussian("median"), alpha=a, **how).fit(X, y) for a in ALPHAS]
    share = p.mean()
    of_constant = -share * np.log(share) - (1 - share) * np.log(1 - share)
    return mine / min(mine, *map(error, fits)), mine / of_constant


def of_table(name: str, seed: int) -> tuple[float, float]:
    """Return the same ratios for a half of a table whose classes nearly separate."""
    X, y = TABLES[name](return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=seed, stratify=y)
    scaled = StandardScaler().fit(X[train]).transform(X)

    def error(alpha: Any) -> float:
        how: dict[str, Any] = {"n_neurons": 300, "loss": "log_loss", "random_state": seed}
        model = KitchenSinksClassifier(alpha=alpha, **how).fit(scaled[train], y[train])
        return float(log_loss(y[test], model.predict_proba(scaled[test])))

    mine, shares = error("auto"), np.bincount(y[train]) / len(train)
    of_constant = -np.log(shares[y[test]]).mean()
    return mine / min(mine, *map(error, ALPHAS)), mine / float(of_constant)


def main() -> None:
    rows = []
    for setting in NUMBERS:
        ratios = [of_numbers(setting, seed) for seed in range(SEEDS)]
        rows.append({**setting._asdict(), "ratios": ratios})
        print(setting, np.round(ratios, 3), flush=True)
    classes = []
    for n, columns, rate in CLASSES:
        pairs = [of_classes(n, columns, rate, seed) for seed in range(SEEDS)]
        ratios, to_constant = map(list, zip(*pairs, strict=True))
        cell = {"n": n, "columns": columns, "rate": rate, "ratios": ratios}
        classes.append({**cell, "to_constant": to_constant})
        print(n, columns, rate, np.round(ratios, 3), np.round(to_constant, 3), flush=True)
    for name in TABLES:
        pairs = [of_table(name, seed) for seed in range(SEEDS)]
        ratios, to_constant = map(list, zip(*pairs, strict=True))
        classes.append({"table": name, "ratios": ratios, "to_constant": to_constant})
        print(name, np.round(ratios, 3), np.round(to_constant, 3), flush=True)
    result = {"numbers": rows, "classes": classes, **circumstances()}
    PATH.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
