"""What errors on many small tables say: wins and a sign test, ratios, ranks and seconds.

A table is a draw where two mean errors are equal. Ratios are geometric means over the tables. Half
a row is added to the misclassified rows, and ``LEAST`` to other errors, since some are 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binomtest, rankdata

LEAST = 1e-3
#: Errors that differ by less are equal, but for the order of sums.
EQUAL = 1e-9

#: A table with the errors, log losses and seconds of each fold, for each method.
Entry = dict[str, Any]


def has(table: Entry, method: str) -> bool:
    return "error" in table["methods"].get(method, {})


def mean(table: Entry, method: str, key: str = "error") -> float:
    """Mean over the folds."""
    return float(np.mean(table["methods"][method][key]))


def seconds(table: Entry, method: str) -> float:
    """Median over the folds of learning and predicting."""
    cell = table["methods"][method]
    both = zip(cell["fit_seconds"], cell["predict_seconds"], strict=True)
    return float(np.median([sum(pair) for pair in both]))


def against(tables: list[Entry], ours: str, peer: str, key: str = "error") -> dict[str, Any] | None:
    """Wins, draws and losses against a peer, their sign test, and the mean ratio of errors.

    ``key`` is "error" or "log_loss", which only tables with classes have. The p value is two-sided,
    and leaves draws out. None if no table has both methods.
    """
    both = [t for t in tables if has(t, ours) and has(t, peer)]
    both = [t for t in both if key == "error" or t["classes"]]
    if not both:
        return None
    a, b = (np.array([mean(t, method, key) for t in both]) for method in (ours, peer))
    wins, losses = int((a < b - EQUAL).sum()), int((a > b + EQUAL).sum())
    small = [0.5 / t["rows"] if key == "error" and t["classes"] else LEAST for t in both]
    ratio = float(np.exp(np.mean(np.log((a + small) / (b + small)))))
    p = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    draws = len(both) - wins - losses
    return {"wins": wins, "draws": draws, "losses": losses, "p": p, "ratio": ratio}


def ranks(tables: list[Entry], methods: list[str]) -> dict[str, float]:
    """Mean ranks by error, from 1 on, over the tables that have all of the methods."""
    whole = [t for t in tables if all(has(t, method) for method in methods)]
    errors = np.array([[mean(t, method) for method in methods] for t in whole])
    if not len(errors):
        return {}
    rounded = np.round(errors / EQUAL)  # equal errors share a rank
    return dict(zip(methods, rankdata(rounded, axis=1).mean(axis=0).tolist(), strict=True))


def summarise(tables: list[Entry], ours: tuple[str, ...], methods: list[str]) -> dict[str, Any]:
    """All that is said of the tables together.

    Returns
    -------
    dict with
        ``ranks``: the mean rank of each method; ``seconds`` and ``total_seconds``: the median over
        the tables of the seconds of a fold, and their sum; ``against``: for each of ours and each
        other method, ``error`` and ``log_loss`` of :func:`against`.
    """
    spent = {m: [seconds(t, m) for t in tables if has(t, m)] for m in methods}
    pairs = [(us, peer) for us in ours for peer in methods if peer != us]
    return {
        "ranks": ranks(tables, methods),
        "seconds": {m: float(np.median(s)) for m, s in spent.items() if s},
        "total_seconds": {m: float(np.sum(s)) for m, s in spent.items() if s},
        "against": [
            {
                "ours": us,
                "peer": peer,
                "error": against(tables, us, peer),
                "log_loss": against(tables, us, peer, "log_loss"),
            }
            for us, peer in pairs
        ],
    }
