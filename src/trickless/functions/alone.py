"""Rows that are asked for one by one: after a few of them, a network is prepared for the next.

What is prepared is kept beside the network, so copies and files do not have it.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from trickless.functions.network import Network, OneRowOfNetwork
from trickless.neurons.one_row import CombinedRow

#: Rows that come alone before a network is prepared, which takes as long as some of them.
_AFTER = 8
#: The most numbers of a network that is prepared, since that may take as much memory again.
_MOST = 2**24


class _Kept:
    """How many rows came alone so far, and the network that was prepared for the next."""

    n_rows: float = 0
    one_row: OneRowOfNetwork | None = None


_kept: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()


def values(network: Network, X: Any, owner: Any) -> Any:
    """Compute a network at rows, which has the same values as long as its ``owner`` is alive."""
    if type(X) is not np.ndarray or len(X) != 1 or X.dtype != network.coef.dtype:
        return network(X)
    kept = _kept.get(owner) or _kept.setdefault(owner, _Kept())
    if kept.one_row is None:
        kept.n_rows += 1
        if kept.n_rows < _AFTER or _size(network) > _MOST:
            return network(X)
        one_row = network.one_row()
        if isinstance(one_row.neurons, CombinedRow):  # which repeats all work for each row
            kept.n_rows = -np.inf
            return network(X)
        kept.one_row = one_row
    with np.errstate(over="ignore", invalid="ignore"):
        return kept.one_row(X[0])


def _size(network: Network) -> int:
    return network.coef.size + network.n_neurons * network.neurons.n_features_in_
