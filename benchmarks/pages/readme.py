"""The claims of README.md."""

from __future__ import annotations

from pages.boosted import boosted
from pages.common import results
from pages.peers import BESIDE, mean_ratio, peers, ratios, times


def claims():
    """Three claims, with a number each."""
    data = peers()["data"]
    found = ratios(data, "RBFSampler + RidgeCV", next(iter(BESIDE.values())))
    seconds, memory = (times(mean_ratio(found[name])) for name in ("time", "memory"))
    runs = results("images")["settings"]["patches"]["runs"]
    error = f"{sum(run['error'] for run in runs) / len(runs):.1%}"
    last = [one["equal"][-1] for one in boosted() if one["equal"]]
    compared = [line["ratio"] for line in last if line["ratio"]]
    wins = sum(ratio < 1 for ratio in compared)
    return "\n".join(
        [
            "- **Fast.** With the same kernel and error, scikit-learn's RBFSampler and RidgeCV "
            f"take, on average, {seconds} times the seconds and {memory} times the memory. "
            "[See the comparison](docs/benchmarks/peers.md).",
            "- **Strong on tables.** In equal seconds and with nothing set, its error is below the "
            f"best of four tuned libraries of boosted trees on {wins} of {len(last)} raw tables. "
            "[See the tables](docs/benchmarks/boosted.md).",
            "- **Any neuron.** 500 random convolutions read the digits of MNIST with "
            f"{error} errors. "
            "Nobody knows the formula of their kernel. "
            "[See the experiment](docs/benchmarks/neurons.md).",
        ]
    )


TABLES = {"claims": claims}
