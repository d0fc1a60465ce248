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
    beaten = {line["peer"]: line["error"] for line in summary["against"] if line["ours"] == "trees"}
    n_tables = sum(beaten["LightGBM"][key] for key in ("wins", "draws", "losses"))
    wins = listed(
        [
            f"{beaten[peer]['wins']} against {peer}"
            for peer in ("LightGBM", "ChimeraBoost", "CatBoost")
        ]
    )
    own, other = (summary["seconds"][name] for name in ("trees", "LightGBM"))
    assert summary["ranks"]["trees"] == min(summary["ranks"].values())
    return "\n".join(
        [
            f"- **Fast.** On {min(n_rows):,} to {max(n_rows):,} rows, with the same kernel and "
            f"error, scikit-learn's RBFSampler and RidgeCV take, on average, {seconds} times the "
            f"seconds and {memory} times the memory. "
            "[See the comparison](docs/benchmarks/peers.md).",
            "- **Strong on tables.** With nothing set, `BoostedTrees*` have the least mean rank of "
            f"{len(summary['ranks'])} methods on {n_tables} small tables, and win {wins}, in "
            f"{own / other:.2g} times LightGBM's seconds. "
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
