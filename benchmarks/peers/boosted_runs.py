"""Fits of the comparison with boosted trees: settings are chosen, and curves measured."""

from __future__ import annotations

import gc
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from circumstances import circumstances
from compare import expectation
from isolated import REST, isolated, measured
from raw_tables import ALL_ROWS, Table
from table_methods import BOOSTED, MOST_TREES, Clock, Method

#: Seconds of a fit, from so many rows on.
LIMITS = {0: 5.0, 30_000: 10.0, 200_000: 30.0}
SEEDS, SEEDS_OF_ALL_ROWS = 3, 1
#: Seconds of a fit that compares settings.
TUNING_SECONDS = 2.0
#: Shares of them for the setting of the first seconds, and of the limit for its fits.
EARLY, EARLY_LIMIT = 0.1, 0.2
#: Seconds below which fits are repeated though they draw nothing at random.
REPEATED = 3.0
WARM_UP_ROWS, WARM_UP_TREES = 500, 5
#: What a process may take beside its fit until it is ended.
WARM_UP_SECONDS = 30.0
#: Numbers of trees at which a curve is looked at, beside its last.
STAGES = (3, 5, 10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000)
PACKAGES = (
    *("lightgbm", "xgboost", "catboost", "chimeraboost", "xrfm", "torch"),
    *("numba", "pandas"),
)

#: A curve of one seed: lists of sizes, seconds, errors and, for numbers, absolute errors.
Run = dict[str, Any]


class Plan(NamedTuple):
    """How much of everything."""

    limit: float
    seeds: int
    tuning_seconds: float = TUNING_SECONDS
    sizes: int | None = None
    settings: int | None = None

    @classmethod
    def of(cls, table: Table, quick: bool, limit: float | None, seeds: int | None) -> Plan:
        """That of a table, where a limit and a number of seeds may be asked for."""
        usual = max((rows, limit) for rows, limit in LIMITS.items() if rows <= len(table.X))[1]
        plan = cls(usual, SEEDS_OF_ALL_ROWS if table.name.endswith(ALL_ROWS) else SEEDS)
        if quick:
            plan = cls(limit=1.0, seeds=2, tuning_seconds=0.5, sizes=3, settings=2)
        return plan._replace(limit=limit or plan.limit, seeds=seeds or plan.seeds)


def fitted(
    table: Table,
    method: Method,
    setting: dict[str, Any],
    size: int | None,
    seed: int,
    limit: float,
    rest: float = REST,
) -> Run:
    """Seconds and test errors of a fit, of one size or along its trees."""

    def small() -> None:
        """What only the first fit of a process takes, such as starting threads or compiling."""
        few = method.sizes[0] if method.sizes else WARM_UP_TREES
        method.fit(table.head(WARM_UP_ROWS), few, seed, Clock(limit), **setting)

    with measured(small, rest) as fit:
        clock = Clock(limit)
        predict = method.fit(table, size, seed, clock, **setting)
    last = max(clock.stamps)
    stages = sorted({stage for stage in STAGES if stage in clock.stamps} | {last})
    run: Run = {"size": [], "seconds": [clock.stamps[stage] for stage in stages], "error": []}
    run |= {"absolute_error": [], "peak_mib": fit.peak_mib}
    for stage, predicted in zip(stages, predict(stages), strict=True):
        run["size"].append(size if method.sizes else stage)
        run["error"].append(table.error(predicted))
        if not table.n_classes:
            run["absolute_error"].append(table.absolute_error(predicted))
    if not np.isfinite(run["error"]).all():
        raise ValueError("predictions are not finite")
    return run


def entry_of(table: Table, method: Method, plan: Plan, before: dict[str, Any]) -> dict[str, Any]:
    """A method with its settings, those of ``before`` if it has any, or why it is not there."""
    entry: dict[str, Any] = {"name": method.name, "group": method.group, "unit": method.unit}
    entry |= {"circumstances": conditions(), "missing": None, "compared": [], "curves": []}
    if method.package and find_spec(method.package) is None:
        print(f"{method.name:<24}{method.package} is not installed", flush=True)
        return entry | {"missing": f"{method.package} is not installed"}
    compared = before.get("compared") or compare_settings(table.tuning(), method, plan)
    best = least(compared, "error") or method.settings[0]
    entry |= {"compared": compared, "curves": [blank(best, 1.0)]}
    soon = least(compared, "early_error")
    if method.group == BOOSTED and soon not in (None, best):
        entry["curves"].append(blank(soon, EARLY_LIMIT))
    print(f"{method.name:<24}{[curve['setting'] for curve in entry['curves']]}", flush=True)
    return entry


def blank(setting: dict[str, Any], share: float) -> dict[str, Any]:
    """A curve to be measured, of fits that take a share of the limit."""
    return {"setting": setting, "share": share, "runs": [], "left_out": []}


def compare_settings(table: Table, method: Method, plan: Plan) -> list[dict[str, Any]]:
    """The least error of each setting in the seconds there are, and in the first of them."""
    settings, compared = method.settings[: plan.settings], []
    for setting in settings if len(settings) > 1 else ():
        size = min(method.pilot, len(table.X)) if method.unit == "rows" else method.pilot
        seconds = plan.tuning_seconds
        arguments = (fitted, table, method, setting, size, 0, seconds, 0.0)
        run, why = isolated(*arguments, limit=3 * seconds + WARM_UP_SECONDS / 2)
        run = run or {"seconds": [], "error": []}
        at = list(zip(run["seconds"], run["error"], strict=True))
        soon = [error for when, error in at if when <= EARLY * seconds]
        one = {"setting": setting, "error": min(run["error"], default=None)}
        compared.append(one | {"early_error": min(soon, default=None), "why": why})
        if why and len(compared) == 1:
            break  # the others would take as long
    return compared


def least(compared: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """The setting of the least error, if there is one."""
    done = [one for one in compared if one[key] is not None]
    return min(done, key=lambda one: one[key])["setting"] if done else None


def measure(
    table: Table, methods: list[Method], plan: Plan, before: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """All curves of some methods, whose settings are those of ``before`` if they were chosen."""
    for package in filter(find_spec, PACKAGES):  # so that no fit has to
        import_module(package)
    gc.collect()
    gc.freeze()  # what is there now is not searched for garbage in each process anew
    entries = [entry_of(table, method, plan, before.get(method.name, {})) for method in methods]
    for seed in range(plan.seeds):
        for method, entry in zip(methods, entries, strict=True):
            for curve in entry["curves"]:
                if not wanted(method, curve, seed):
                    continue
                along = through_sizes if method.sizes else through_trees
                run = along(table, method, curve, seed, plan)
                if run:
                    curve["runs"].append({"seed": seed, **run})
                    show(method.name, seed, run)
    return entries


def wanted(method: Method, curve: dict[str, Any], seed: int) -> bool:
    """Whether a seed tells something: another than the first, of a fit that was longer, may not."""
    if seed == 0:
        return True
    first = curve["runs"][:1]
    if not first or (method.seeds and seed >= method.seeds):
        return False
    return method.random or first[0]["seconds"][-1] < REPEATED


def through_trees(
    table: Table, method: Method, curve: dict[str, Any], seed: int, plan: Plan
) -> Run | None:
    """One fit, until the clock ends it."""
    seconds = plan.limit * curve["share"]
    arguments = (table, method, curve["setting"], MOST_TREES, seed, seconds)
    run, why = isolated(fitted, *arguments, limit=3 * seconds + 4 * WARM_UP_SECONDS)
    if why:
        curve["left_out"].append({"size": None, "why": why})
    return run


def through_sizes(
    table: Table, method: Method, curve: dict[str, Any], seed: int, plan: Plan
) -> Run | None:
    """A fit for each size, as long as they should take less than the limit by the two before."""
    done: list[tuple[int, float]] = []
    runs: list[Run] = []
    skipped = {one["size"] for one in curve["left_out"]}
    fit = partial(isolated, fitted, table, method, curve["setting"])
    for size in method.sizes[: plan.sizes]:
        if size in skipped or (method.unit == "rows" and size > len(table.X)):
            continue
        expected = expectation(done, size, method.growth) if size else 0.0
        run, why = None, f"should take {expected:.0f} s"
        if expected <= plan.limit:
            run, why = fit(size, seed, plan.limit, limit=3 * plan.limit + WARM_UP_SECONDS)
        if run is None:
            curve["left_out"].append({"size": size, "why": why})
            if why.startswith("more than"):
                break
            continue
        runs.append(run)
        done.append((size or 0, run["seconds"][0]))
    if not runs:
        return None
    keys = ("size", "seconds", "error", "absolute_error")
    joined = {key: [value for run in runs for value in run[key]] for key in keys}
    return joined | {"peak_mib": max(run["peak_mib"] for run in runs)}


def show(name: str, seed: int, run: Run) -> None:
    at = zip(run["size"], run["seconds"], run["error"], strict=True)
    last = [f"{size or '':>6} {seconds:6.2f} s {error:.4f}" for size, seconds, error in at]
    print(f"{name:<24}seed {seed}  {'  '.join(last[-3:])}", flush=True)


def described(table: Table, plan: Plan) -> dict[str, Any]:
    """What is said of a table beside its methods."""
    sizes = {"rows": len(table.X), "test_rows": len(table.X_test), "columns": table.X.shape[1]}
    kinds = {"categories": len(table.categories), "classes": table.n_classes}
    return {"name": table.name, "limit": plan.limit, "seeds": plan.seeds, **sizes, **kinds}


def conditions(packages: tuple[str, ...] = PACKAGES) -> dict[str, Any]:
    """Versions, of the peers as well, machine, date and commit."""
    result = circumstances()
    for package in packages:
        try:
            result["packages"][package] = version(package)
        except PackageNotFoundError:
            result["packages"][package] = "not installed"
    return result
