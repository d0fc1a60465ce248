"""Trees in a program: bins of a row, and the leaves that they lead to.

Nodes and leaves of all trees lie one after the other. Cuts of an oblivious tree after its last one
that parts any rows are left out, as are the nodes that a binary tree does not use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.export.program import Program, code
from trickless.learners.described import Described
from trickless.neurons.crosses import Crosses
from trickless.neurons.trees import Trees

_BINS = """
unsigned char bins[$n];
for (int k = 0; k < $n; k++) {
  double value = $values[bin_feature[k]];
  int bin = 0;
  if (!isnan(value)) {
    if (is_code[k]) {
      bin = bin_of_code[bin_start[k] + whole(value)];
    } else {
      int low = bin_start[k];
      int high = low + n_cuts[k];
      while (low < high) {
        int middle = (low + high) >> 1;
        if (cut[middle] < value) low = middle + 1; else high = middle;
      }
      bin = 1 + low - bin_start[k];
    }
  }
  if (bin == 0) bin = bin_of_gap[k];
  bins[k] = bin;
}
"""
_CROSSED = """
double row[$n];
double centred[$m];
for (int i = 0; i < $d; i++) row[i] = v[i];
for (int i = 0; i < $m; i++) centred[i] = (v[crossed[i]] - cross_centre[i]) / cross_spread[i];
int at = $d;
for (int i = 0; i < $m; i++) {
  for (int k = i + 1; k < $m; k++) {
    row[at] = single(centred[i] - centred[k]);
    row[at + $pairs] = single(centred[i] * centred[k]);
    at++;
  }
}
"""
_OBLIVIOUS = """
for (int t = 0; t < $n; t++) {
  int first = node_start[t];
  int leaf = 0;
  for (int c = first; c < node_start[t + 1]; c++) {
    int b = bins[node_column[c]];
    leaf |= ((sets[node_set[c] * 32 + (b >> 3)] >> (7 - (b & 7))) & 1) << (c - first);
  }
  $use
}
"""
_BINARY = """
for (int t = 0; t < $n; t++) {
  int node = node_start[t];
  do {
    int b = bins[node_column[node]];
    int right = (sets[node_set[node] * 32 + (b >> 3)] >> (7 - (b & 7))) & 1;
    node = node_child[2 * node + right];
  } while (node > 0);
  int leaf = -node;
  $use
}
"""
_CONSTANT = """
for (int o = 0; o < $outputs; o++) f[o] += coef[(leaf_start[t] + leaf) * $outputs + o];
"""
_LINEAR = """
for (int i = 0; i <= $m; i++) {
    double z = 1.0;
    if (i > 0) {
      int column = input_column[t * $m + i - 1];
      z = column < 0 ? 0.0 : steps[column * 256 + bins[column]] / 127.0;
    }
    int at = leaf_start[t] + i * leaf_count[t] + leaf;
    for (int o = 0; o < $outputs; o++) f[o] += coef[at * $outputs + o] * z;
  }
"""


def trees(program: Program, found: Described, width: int, purpose: str) -> str:
    """Return code that sums the values of leaves."""
    family: Any = found.family
    assert isinstance(family, Trees)
    if purpose != "decide":
        raise InvalidValueError(
            "error_bars=True, but standard deviations of trees are not written",
            "error_bars=False, or Fourier neurons",
        )
    values, before = "v", ""
    if family.crosses_ is not None:
        values, before = "row", _crossed(program, family.crosses_, width)
    _bins(program, family, found.dtype)
    if (linear := family.linear_) is not None:
        columns = linear.columns(found.weights)
        program.keep(steps=linear.steps, input_column=columns, bin_of_gap=linear.of_gaps)
    bins = code(_BINS, n=len(family.bins_.counts), values=values)
    lay_out = {"oblivious": _oblivious, "binary": _binary}[family.used_shape]
    return "\n".join([before, bins, lay_out(program, found, family)])


def _bins(program: Program, family: Trees, dtype: np.dtype) -> None:
    """Keep how values become bins. Gaps have the bin 0."""
    bins = family.bins_
    sizes = np.array([len(cuts) for cuts in bins.thresholds])
    codes = [np.empty(0, dtype=np.int64) if each is None else each for each in bins.of_code]
    starts_of_cuts = np.cumsum(sizes) - sizes
    lengths = np.array([len(each) for each in codes])
    starts_of_codes = np.cumsum(lengths) - lengths
    is_code = np.array([each is not None for each in bins.of_code])
    program.keep(
        bin_feature=bins.features,
        is_code=is_code.astype(np.uint8),
        bin_start=np.where(is_code, starts_of_codes, starts_of_cuts),
        n_cuts=sizes,
        cut=np.concatenate([*bins.thresholds, np.empty(0)]).astype(dtype),
        bin_of_code=np.concatenate([*codes, np.empty(0, dtype=np.int64)]),
        bin_of_gap=np.zeros(len(bins.counts), dtype=np.uint8),
    )


def _crossed(program: Program, crosses: Crosses, width: int) -> str:
    """Return code that appends crossed columns to a row."""
    program.keep(crossed=crosses.columns, cross_centre=crosses.centre, cross_spread=crosses.spread)
    m = len(crosses.columns)
    return code(_CROSSED, n=width + len(crosses), d=width, m=m, pairs=len(crosses) // 2)


def _use(program: Program, found: Described, family: Trees, n_leaves: list[int]) -> str:
    """Keep the values of the first leaves of each tree, and return code that adds those of one."""
    coef = found.coef.reshape(len(n_leaves), 1 + family.n_inputs, -1, found.n_outputs)
    values = [c[:, :k].reshape(-1, found.n_outputs) for c, k in zip(coef, n_leaves, strict=True)]
    program.keep(leaf_start=np.cumsum([0, *map(len, values)]), coef=np.concatenate(values))
    if family.linear_ is not None:
        program.keep(leaf_count=np.array(n_leaves))
    template = _CONSTANT if family.linear_ is None else _LINEAR
    return code(template, m=family.n_inputs, outputs=found.n_outputs).strip()


def _sets(program: Program, sets: np.ndarray) -> None:
    """Keep the distinct sets of bins, and which of them each node has."""
    distinct, which = np.unique(sets, axis=0, return_inverse=True)
    program.keep(sets=distinct, node_set=which.ravel())


def _oblivious(program: Program, found: Described, family: Trees) -> str:
    columns, sets = found.weights
    parts_rows = sets.any(axis=2)
    depth = columns.shape[1]
    used = np.where(parts_rows.any(axis=1), depth - parts_rows[:, ::-1].argmax(axis=1), 0)
    kept = np.arange(depth) < used[:, None]
    program.keep(node_start=np.append(0, np.cumsum(used)), node_column=columns[kept])
    _sets(program, sets[kept])
    use = _use(program, found, family, (2**used).tolist())
    return code(_OBLIVIOUS, n=len(columns), use=use)


def _binary(program: Program, found: Described, family: Trees) -> str:
    columns, children, sets = found.weights
    n, n_nodes = columns.shape
    kept = np.zeros((n, n_nodes), dtype=bool)
    kept[:, 0] = True
    tree = np.broadcast_to(np.arange(n)[:, None, None], children.shape)
    inner = children > 0
    kept[tree[inner], children[inner]] = True
    number = np.cumsum(kept).reshape(kept.shape) - 1  # nodes that are kept, one after the other
    child = np.where(inner, number[tree, np.maximum(children, 0)], children)
    program.keep(node_start=number[:, 0], node_column=columns[kept], node_child=child[kept])
    _sets(program, sets[kept])
    use = _use(program, found, family, family.geometry.n_leaves(found.weights).tolist())
    return code(_BINARY, n=n, use=use)
