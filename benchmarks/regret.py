"""Regret of Shrinking Gradient over the square root of the rounds, and the bound above it.

Two families, one row a round, T from 10² to 10⁴ (to 3,162 where there is a signal). The step is
Theorem 1's for each T, B/(2√T). Three settings:

- "noise": targets are coins, and inputs have so many columns that there is always a function of
  the ball that fits them somewhat in hindsight, which nobody can foresee. The ball binds, and the
  regret is of the order of the bound. Full sums over 64 neurons, B = 1.
- "signal": a smooth target with noise; the same draws.
- "theorem": the same target, and the number of draws that the theorem prescribes, by index
  sampling, for which B = 0.05 is what can be run.

The regret is that of ⟨f_t, Φ(x_t)⟩ itself, with the exact kernel, against the best function of norm
B for the rows seen; its mean over five seeds, each with rows, targets and draws of its own.

Run as ``make bench-regret``; writes ``benchmarks/results/regret.json`` and ``regret.png`` in
about 40 minutes, most of them for eigenvectors of kernel matrices of 10,000 rows.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np

from circumstances import circumstances
from trickless import ShrinkingGradientRegressor
from trickless.neurons import Gaussian, Stumps
from trickless.solvers.regret import played_losses, smallest_loss
from trickless.theory import shrinking_gradient_regret

PARTS = (
    ("noise", 1.0, (100, 316, 1_000, 3_162, 10_000)),
    ("signal", 1.0, (100, 316, 1_000, 3_162)),
    ("theorem", 0.05, (100, 316, 1_000, 3_162)),
)
TITLES = {
    "noise": "targets are coins, 64 draws",
    "signal": "smooth target, 64 draws",
    "theorem": "smooth target, Theorem 1's draws",
}
SEEDS = 5
NEURONS = 64
RESULTS = Path(__file__).parent / "results"
FAMILIES = {"gaussian": Gaussian(1.0), "stumps": Stumps()}


#: Columns of the inputs without a signal. Stumps see one at a time, so it takes more of them.
NOISE_COLUMNS = {"gaussian": 20, "stumps": 200}


def rows(n, mode, family, seed):
    """Rows, and targets in [-1, 1]; those of fewer are the first of more."""
    rng, noise = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    if mode == "noise":
        return rng.standard_normal((n, NOISE_COLUMNS[family])), noise.choice([-1.0, 1.0], n)
    X = rng.standard_normal((n, 3))
    y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.3 * noise.standard_normal(n)
    return X, np.clip(y, -1, 1)


def learner(family, T, B, mode, seed):
    """Shrinking Gradient with the step of the theorem."""
    options = (
        {"schedule": "theorem", "horizon": T, "estimator": "index"}
        if mode == "theorem"
        else {
            "schedule": "constant",
            "step_size": B / (2 * np.sqrt(T)),
            "estimator": "full",
            "n_samples": NEURONS,
        }
    )
    return ShrinkingGradientRegressor(
        FAMILIES[family],
        norm_bound=B,
        batch_size=1,
        y_range=(-1, 1),
        random_state=seed,
        **options,
    )


def play(family, mode, B, rounds, seed):
    """Regret, best loss and the like for each T, on rows and targets of this seed."""
    X, y = rows(rounds[-1], mode, family, seed)
    K = FAMILIES[family].fit(X, np.random.default_rng(seed)).kernel(X)
    for T in rounds:
        best = smallest_loss(K[:T, :T], y[:T, None], B)[0]
        model = learner(family, T, B, mode, seed).partial_fit(X[:T], y[:T])
        f = model.rounds_.coefficients.last()
        # What an estimate's variance can be: ‖f‖²/m of full sums, ‖α‖₁²/m of index draws.
        spread = (f.T @ K[:T, :T] @ f).item() if mode != "theorem" else np.abs(f).sum() ** 2
        draws = NEURONS if mode != "theorem" else model.estimates_.schedule.constants.n_samples
        yield {
            "regret": float(played_losses(model.rounds_, model.estimates_.kernel).sum() - best),
            "bound": shrinking_gradient_regret(T, B, B / (2 * np.sqrt(T)), spread / draws),
            "best_loss": float(best),
            "draws": draws,
            "shrinks": int(model.rounds_.coefficients.epochs().max()),
        }


def measure(family, mode, B, rounds):
    """Regret for each T: means over seeds, their standard errors, and the bound."""
    seeds = [list(play(family, mode, B, rounds, seed)) for seed in range(SEEDS)]
    points = []
    for T, runs in zip(rounds, zip(*seeds, strict=True), strict=True):
        regrets = [run["regret"] for run in runs]
        p = {
            "family": family,
            "mode": mode,
            "norm_bound": B,
            "rounds": T,
            "draws": runs[0]["draws"],
            "regret": float(np.mean(regrets)),
            "standard_error": float(np.std(regrets, ddof=1) / np.sqrt(SEEDS)),
            "bound": float(np.mean([run["bound"] for run in runs])),
            "best_loss": float(np.mean([run["best_loss"] for run in runs])),
            "shrinks": sum(run["shrinks"] for run in runs),
        }
        points.append(p)
        print(
            f"{family:>9} {mode:>10} T={T:>6} m={p['draws']:>7}  regret/√T "
            f"{p['regret'] / np.sqrt(T):.3f} ± {p['standard_error'] / np.sqrt(T):.3f}, bound "
            f"{p['bound'] / np.sqrt(T):.3f}, shrinks {p['shrinks']}",
            flush=True,
        )
    return points


def plot(points, path):
    """regret/√T against T, in units of B."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(TITLES), figsize=(12, 3.6), layout="constrained")
    for ax, mode in zip(axes, TITLES, strict=True):
        for family in FAMILIES:
            some = [p for p in points if p["family"] == family and p["mode"] == mode]
            root = np.sqrt([p["rounds"] for p in some]) * some[0]["norm_bound"]
            T = [p["rounds"] for p in some]
            regret = np.array([p["regret"] for p in some]) / root
            error = np.array([p["standard_error"] for p in some]) / root
            ax.errorbar(T, regret, error, marker="o", capsize=3, label=family)
        ax.plot(T, np.array([p["bound"] for p in some]) / root, "k--", label="bound")
        ax.set(
            xscale="log",
            xlabel="rounds T",
            ylabel="regret / (B √T)",
            title=f"{TITLES[mode]}, B = {some[0]['norm_bound']:g}",
        )
        ax.legend()
    figure.savefig(path, dpi=120)


def main():
    points = []
    for mode, B, rounds in PARTS:
        for family in FAMILIES:
            points += measure(family, mode, B, rounds)
            order = sorted(points, key=lambda p: (p["mode"], p["family"], p["rounds"]))
            result = {"circumstances": circumstances(), "seeds": SEEDS, "points": order}
            (RESULTS / "regret.json").write_text(json.dumps(result, indent=1) + "\n")
    plot(order, RESULTS / "regret.png")
    print(f"wrote {RESULTS / 'regret.json'}")


if __name__ == "__main__":
    main()
