"""Regret of Shrinking Gradient over B √T, and the bound of Theorem 1 above it.

Two families, one row a round, T from 10² to 10⁴, B of 0.5, 1 and 2. The step and the draws are
those of ``schedule="theorem"``, by index sampling as in the paper. Three kinds of targets:

- "coins": fair coins on inputs of so many columns that there is always a function of the ball that
  fits them somewhat in hindsight, which nobody can foresee.
- "smooth": a smooth function of three columns, with noise.
- "adversarial": on the inputs of the coins, always the opposite sign of what gradient descent with
  the same step and the exact kernel predicts. They are fixed before the draws, as the theorem asks.

"few draws" are ``FEW`` draws by index with the same step and B = 0.5, far fewer than the theorem
asks for: there the shrink step happens, and no bound holds. With the draws of the theorem a shrink
that is wrong has a probability below 1/γ in a round.

The regret is that of ⟨f_t, Φ(x_t)⟩ itself, with the exact kernel, against the best function of norm
B for all rows; its mean over three seeds (one for 10⁴ rounds), each with rows, targets and draws of
its own.

Run as ``make bench-regret``; writes ``benchmarks/results/regret.json`` and ``regret.png`` in
about half an hour, most of it for eigenvectors of kernel matrices of 10,000 rows.
"""

from __future__ import annotations

import json
from itertools import product

import numpy as np
from matplotlib.figure import Figure

from circumstances import circumstances
from pictures import RESULTS, WIDTH, band, redraw
from trickless import ShrinkingGradientRegressor
from trickless._solvers.rounds.regret import played_losses, smallest_loss
from trickless.neurons import Gaussian, Stumps
from trickless.theory import shrinking_gradient_constants

BOUNDS = (0.5, 1.0, 2.0)
ROUNDS = (100, 316, 1_000, 3_162, 10_000)
TARGETS = ("coins", "smooth", "adversarial")
#: Seeds, but for the most rounds, where the eigenvectors of a kernel matrix take minutes.
SEEDS, SEEDS_AT_MOST_ROUNDS = 3, 1
#: Draws of the runs that shrink, and their B.
FEW, FEW_BOUND = 16, 0.5
FAMILIES = {"gaussian": Gaussian(1.0), "stumps": Stumps()}
#: Columns of the inputs without a signal. Stumps see one at a time, so it takes more of them.
COLUMNS = {"gaussian": 20, "stumps": 200}


def inputs(kind, family, seed):
    """Rows; those of fewer rounds are the first of more."""
    columns = 3 if kind == "smooth" else COLUMNS[family]
    return np.random.default_rng([seed, 0]).standard_normal((ROUNDS[-1], columns))


def targets(kind, X, K, B, seed):
    """Targets in [-1, 1] for the first rows, whose kernel matrix is K."""
    noise, T = np.random.default_rng([seed, 1]), len(K)
    if kind == "coins":
        return noise.choice([-1.0, 1.0], ROUNDS[-1])[:T]
    if kind == "smooth":
        y = np.sin(2 * X[:T, 0]) * np.cos(X[:T, 1])
        return np.clip(y + 0.3 * noise.standard_normal(ROUNDS[-1])[:T], -1, 1)
    alpha, y, eta = np.zeros(T), np.zeros(T), B / (2 * np.sqrt(T))
    for t in range(T):
        f = K[t, :t] @ alpha[:t]
        y[t] = -1.0 if f > 0 else 1.0
        alpha[t] = eta * (y[t] - f)
    return y


def play(family, kind, mode, B, X, y, seed):
    """A model that has played all rounds."""
    T = len(y)
    options = {"schedule": "theorem", "horizon": T}
    if mode == "few draws":
        step = shrinking_gradient_constants(T, B).step_size
        options = {"schedule": "constant", "step_size": step, "n_draws": FEW}
    return ShrinkingGradientRegressor(
        FAMILIES[family],
        norm_bound=B,
        batch_size=1,
        estimate="index",
        y_range=(-1, 1),
        random_state=seed,
        **options,
    ).partial_fit(X[:T], y)


def measure(family, T, seed):
    """Regret and the like of all runs of T rounds by a family with a seed."""
    for kinds in (("coins", "adversarial"), ("smooth",)):  # of the same inputs
        X = inputs(kinds[0], family, seed)
        K = FAMILIES[family].fit(X, np.random.default_rng(seed)).kernel(X[:T])
        settings = [(kind, B) for kind in kinds for B in BOUNDS if T > 16 * B**2]
        Y = np.column_stack([targets(kind, X, K, B, seed) for kind, B in settings])
        best = smallest_loss(K, Y, [B for _, B in settings])
        for (kind, B), y, least in zip(settings, Y.T, best, strict=True):
            for mode in ("theorem", "few draws") if B == FEW_BOUND else ("theorem",):
                model = play(family, kind, mode, B, X, y, seed)
                losses = played_losses(model._rounds_, model.estimates_.kernel)
                _, draws, half_range, _ = model._rounds_.drawn.rows.T
                yield {
                    "family": family,
                    "targets": kind,
                    "mode": mode,
                    "norm_bound": B,
                    "rounds": T,
                    "regret": float(losses.sum() - least),
                    "mean_draws": float(draws.mean()),
                    "largest_variance": float((half_range**2 / draws).max()),
                    "shrinks": int(model._rounds_.coefficients.epochs().max()),
                }


def summary(runs):
    """Means over the seeds of one setting."""
    first, T, B = runs[0], runs[0]["rounds"], runs[0]["norm_bound"]
    regrets = [run["regret"] for run in runs]
    spread = float(np.std(regrets, ddof=1)) if len(runs) > 1 else 0.0
    return {name: first[name] for name in ("family", "targets", "mode", "norm_bound", "rounds")} | {
        "regret": float(np.mean(regrets)),
        "standard_error": spread / np.sqrt(len(runs)) if len(runs) > 1 else None,
        "bound": shrinking_gradient_constants(T, B).regret if first["mode"] == "theorem" else None,
        "mean_draws": float(np.mean([run["mean_draws"] for run in runs])),
        "fixed_draws": shrinking_gradient_constants(T, B).n_draws,
        "largest_variance": max(run["largest_variance"] for run in runs),
        "shrinks": sum(run["shrinks"] for run in runs),
    }


def draw(result):
    """Regret / (B √T) along T; bands are two standard errors on each side."""
    figure = Figure(figsize=(WIDTH, 3.6))
    bound = [shrinking_gradient_constants(t, 1.0).regret / np.sqrt(t) for t in ROUNDS]
    for axes, kind in zip(figure.subplots(1, len(TARGETS)), TARGETS, strict=True):
        axes.plot(ROUNDS, bound, "k--", lw=1)
        styles = zip(FAMILIES, ("o-", "s:"), strict=True)
        for (i, B), (family, style) in product(enumerate(BOUNDS), styles):
            some = [
                p
                for p in result["points"]
                if (p["targets"], p["family"], p["norm_bound"]) == (kind, family, B)
                and p["mode"] == "theorem"
            ]
            T = np.array([p["rounds"] for p in some])
            values = np.array([[p["regret"], 2 * (p["standard_error"] or 0.0)] for p in some])
            regret, error = (values / (B * np.sqrt(T))[:, None]).T
            look = {"color": f"C{i}", "ls": style[1], "marker": style[0]}
            label = f"{family}, B = {B:g}"
            band(axes, T, regret, regret - error, regret + error, label=label, **look)
        axes.set(xscale="log", xlabel="rounds T", title=kind.capitalize(), xticks=ROUNDS[::2])
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter("{x:,.0f}")
    below = {"textcoords": "offset points", "xytext": (0, -14), "ha": "right"}
    figure.axes[0].annotate("bound for B = 1", (ROUNDS[-1], bound[-1]), **below)
    figure.axes[0].set_ylabel("regret / (B √T)")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    return figure


def main():
    points = []
    for family in FAMILIES:
        for T in ROUNDS:
            n_seeds = SEEDS_AT_MOST_ROUNDS if ROUNDS[-1] == T else SEEDS
            runs = [list(measure(family, T, seed)) for seed in range(n_seeds)]
            for same in zip(*runs, strict=True):
                p = summary(same)
                points.append(p)
                unit = p["norm_bound"] * np.sqrt(T)
                bound = "none" if p["bound"] is None else f"{p['bound'] / unit:.3f}"
                error = (p["standard_error"] or 0.0) / unit
                print(
                    f"{family:>9} {p['targets']:>12} {p['mode']:>10} B={p['norm_bound']:g} "
                    f"T={T:>6} draws {p['mean_draws']:>8.1f} of {p['fixed_draws']:>11,}  "
                    f"regret/(B√T) {p['regret'] / unit:.3f} ± {error:.3f}, "
                    f"bound {bound}, shrinks {p['shrinks']}",
                    flush=True,
                )
            result = {"circumstances": circumstances(), "seeds": SEEDS, "points": points}
            (RESULTS / "regret.json").write_text(json.dumps(result, indent=1) + "\n")
    redraw(draw, RESULTS / "regret.json")
    print(f"wrote {RESULTS / 'regret.json'}")


if __name__ == "__main__":
    main()
