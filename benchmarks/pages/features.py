"""Tables of docs/benchmarks/features.md."""

from __future__ import annotations

from pages.common import grid, listed, results, where

#: Ours, and the transformers of scikit-learn that do the same.
COUNTERPARTS = {
    "Gaussian": "RBFSampler",
    "Landmarks": "Nystroem",
    "Trees": "RandomTreesEmbedding",
}
THEIRS = (*COUNTERPARTS.values(), "Nystroem, twice the columns")
NAMES = {"adult": "Adult", "covertype": "Covertype", "mnist": "MNIST"}


def transformers_table():
    result = results("features")
    sets = {
        NAMES[one["data"]]: {cell["method"]: cell for cell in one["cells"]}
        for one in result["transformers"]
    }
    rows = []
    for method in next(iter(sets.values())):
        cells = [of[method] for of in sets.values()]
        counts = dict.fromkeys(f"{cell['columns']:,}" for cell in cells)
        owner = f"scikit-learn {method}" if method in THEIRS else f"**{method}**"
        rows.append([owner, "; ".join(counts), *map(shown, cells)])
    (n_rows,) = {one["rows"] for one in result["transformers"]}
    text = (
        f"{n_rows:,} rows. Test error of a logistic regression on the columns: mean of "
        f"{result['seeds']} seeds ± the deviation between them. Then seconds of `fit_transform`, "
        f"and the C that was chosen (medians). Ours are bold. {compared(sets, result['seeds'])} "
        f"{where(result)}."
    )
    if again := result.get("again"):
        text += f" {listed(again['methods'])}: {where(again)}."
    return "\n".join([*grid(["transformer", "columns", *sets], rows), "", text])


def shown(cell):
    """Error, seconds and C."""
    error = f"{cell['error']:.1%} ± {cell['deviation']:.1%}"
    return f"{error}, {cell['seconds']:.2g} s, C = {cell['C']:,.0f}"


def compared(sets, seeds):
    """Where ours have a higher or lower error than their counterparts, by two standard errors."""
    higher, lower = [], []
    for ours, theirs in COUNTERPARTS.items():
        for name, of in sets.items():
            a, b = of[ours], of[theirs]
            noise = ((a["deviation"] ** 2 + b["deviation"] ** 2) / seeds) ** 0.5
            if abs(a["error"] - b["error"]) > 2 * noise:
                (higher if a["error"] > b["error"] else lower).append(f"{ours} on {name}")
    parts = [
        f"by more than two standard errors, the error of ours is {word} in {len(found)} of "
        f"{len(COUNTERPARTS) * len(sets)} pairs: {listed(found)}."
        for word, found in (("higher", higher), ("lower", lower))
        if found
    ]
    return " ".join(part[0].upper() + part[1:] for part in parts)


TABLES = {"transformers": transformers_table}
