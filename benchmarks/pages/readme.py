"""The claims of README.md."""

from __future__ import annotations

from pages.common import listed, results
from pages.peers import BESIDE, mean_ratio, peers, ratios, times
from pages.small_tables import small


def claims():
    """A few claims, with a number each."""
    data = peers()["data"]
    found = ratios(data, "RBFSampler + RidgeCV", next(iter(BESIDE.values())))
    seconds, memory = (times(mean_ratio(found[name])) for name in ("time", "memory"))
    n_rows = [one["rows"] for one in data]
    runs = results("images")["settings"]["patches"]["runs"]
    error = f"{sum(run['error'] for run in runs) / len(runs):.1%}"
    summary = small()["summary"]
    beaten = {line["peer"]: line["error"] for line in summary["against"] if line["ours"] == "Auto"}
    n_tables = sum(beaten["LightGBM"][key] for key in ("wins", "draws", "losses"))
    wins = listed(
        [
            f"{beaten[peer]['wins']} against {peer}"
            for peer in ("LightGBM", "ChimeraBoost", "CatBoost")
        ]
    )
    ranks, seconds_of = summary["ranks"], summary["seconds"]
    assert sorted(ranks, key=lambda name: ranks[name])[:3] == ["Auto", "trees", "CatBoost"]
    three = {"Auto": "`Auto*`", "trees": "`BoostedTrees*`", "CatBoost": "CatBoost"}
    best = listed(
        [f"{shown} {ranks[name]:.1f} ({seconds_of[name]:.2g} s)" for name, shown in three.items()]
    )
    slow, most = few_rows()
    ours, rival, n_sets = log_losses()
    return "\n".join(
        [
            f"- **Tables.** On {n_tables} small tables, with nothing set, {len(ranks)} methods "
            f"were ranked by their error. The best mean ranks, with the median time of a fit, are "
            f"{best}. "
            f"LightGBM takes {seconds_of['LightGBM']:.2g} s. `Auto*` wins {wins}. "
            "[See the tables](docs/benchmarks/small-tables.md).",
            f"- **Speed.** On {min(n_rows):,} to {max(n_rows):,} rows, with the same kernel and "
            f"error, scikit-learn's RBFSampler and RidgeCV take {seconds} times the seconds and "
            f"{memory} times the memory on average ([peers](docs/benchmarks/peers.md)). Below "
            f"{slow:,} rows of Friedman's function they are faster, and have up to {most:.0f} "
            "times the error ([few rows](docs/benchmarks/gaussian-processes.md)).",
            "- **Streams.** With nothing set, our River estimators are best or second on "
            f"{podium()} data sets of River, ties included, beside adaptive forests. "
            "[See the streams](docs/benchmarks/streams.md).",
            f"- **Series.** On {n_sets} sets of series, convolutions are about as accurate as "
            f"MiniRocket with its ridge classifier. Their probabilities have a log loss of "
            f"{ours:.2f}, and the classifier's {rival:.2f}. "
            "[See the series](docs/benchmarks/series.md).",
            f"- **Any neuron.** 500 random convolutions read the digits of MNIST with {error} "
            "errors. Nobody knows the formula of their kernel. "
            "[See the experiment](docs/benchmarks/neurons.md).",
        ]
    )


def few_rows():
    """From how many rows ours is faster, and by how much its errors are lower below that."""
    lines = results("few_rows")["along_rows"]
    ours, theirs = (
        {line["rows"]: line for line in lines if line["method"] == method}
        for method in ("Kitchen Sinks", "RBFSampler + RidgeCV")
    )
    slow = [n for n in ours if ours[n]["seconds"] > theirs[n]["seconds"]]
    ratios = [theirs[n]["error"] / ours[n]["error"] for n in slow]
    return min(n for n in ours if n > max(slow)), max(ratios)


def log_losses():
    """Mean log losses of our convolutions and of MiniRocket, and of how many sets."""
    methods = results("series")["accuracy"]["methods"]
    ours, theirs = methods["Convolutions 340"], methods["MiniRocket"]
    common = [name for name in ours if name in theirs]
    means = [sum(one[n]["log_loss"] for n in common) / len(common) for one in (ours, theirs)]
    return *means, len(common)


def podium():
    """On how many streams ours is first or second, of how many."""
    first_two, sets = 0, results("streams")["data"].values()
    for one in sets:
        found = {method: cell["score"] for method, cell in one["methods"].items()}
        order = sorted(found.values(), reverse=not one["numeric"])
        first_two += found["ours"] in order[:2]
        assert found["ours"] in order[: order.index(found["last answer"])]
    return f"{first_two} of {len(sets)}"


TABLES = {"claims": claims}
