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
        [f"{shown} {ranks[name]:.1f} in {seconds_of[name]:.2g} s" for name, shown in three.items()]
    )
    return "\n".join(
        [
            f"- **Fast.** On {min(n_rows):,} to {max(n_rows):,} rows, with the same kernel and "
            f"error, scikit-learn's RBFSampler and RidgeCV take, on average, {seconds} times the "
            f"seconds and {memory} times the memory. "
            "[See the comparison](docs/benchmarks/peers.md).",
            "- **Strong on tables.** With nothing set, the best mean ranks of "
            f"{len(ranks)} methods on {n_tables} small tables, and their median seconds, are "
            f"{best}. `Auto*` wins {wins}. "
            "[See the tables](docs/benchmarks/small-tables.md).",
            "- **Streams that drift.** With nothing set, our River estimators are best or second "
            f"on {podium()} streams beside adaptive forests, and never below repeating the last "
            "answer. [See the streams](docs/benchmarks/streams.md).",
            "- **Any neuron.** 500 random convolutions read the digits of MNIST with "
            f"{error} errors. "
            "Nobody knows the formula of their kernel. "
            "[See the experiment](docs/benchmarks/neurons.md).",
        ]
    )


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
