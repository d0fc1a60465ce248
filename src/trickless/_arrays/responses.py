"""Sums of the responses of random kernels along series, compiled by numba.

Arrays are flat: all rows of a position lie side by side, and one position after the other. A tap of
a kernel is therefore at a constant distance, and one loop takes several positions of all rows.
"""

from __future__ import annotations

import numba
import numpy as np

from trickless._arrays.series import LEAST, STEPS_TOGETHER, TAPS, View

_compiled = numba.njit(cache=True, nogil=True)


@_compiled
def respond(  # type: ignore[no-untyped-def]
    series, differences, of_differences, dilation, mix, heavy, sign, thresholds
):
    """Sum the responses of the kernels of n neurons along series, as ``series_loops`` says."""
    n, n_kernels = sign.shape
    n_sums = 2 + thresholds.shape[2]
    n_positions, n_rows = series.there.shape
    dtype, size = series.values.dtype, STEPS_TOGETHER * n_rows
    sums = np.zeros((n, n_kernels, n_sums, n_rows), dtype)
    room = (n_positions + (TAPS - 1) * dilation.max()) * n_rows if n else 0
    mixed = np.empty(room, dtype)
    steps = np.empty((n_kernels, size), dtype), np.empty((3, size), dtype)
    added = np.empty((n_kernels * n_sums, size), dtype)
    ends = _ends(series.there), _ends(differences.there)
    for j in range(n):
        view = series
        if of_differences[j]:
            view = differences
        _mix(view.values, mix[j], dilation[j], mixed)
        there, step, added[:] = view.there.ravel(), dilation[j] * n_rows, 0
        n_values, complete = ends[of_differences[j]]
        for start in range(0, n_values, size):
            here = there[start : min(start + size, n_values)]
            some = start, step, complete
            _add(some, mixed, here, heavy[j], sign[j], thresholds[j], steps, added)
        for s in range(n_kernels * n_sums):
            into = sums[j, s // n_sums, s % n_sums]
            for t in range(STEPS_TOGETHER):
                for r in range(n_rows):
                    into[r] += added[s, t * n_rows + r]
    return sums


@_compiled
def respond_pairs(  # type: ignore[no-untyped-def]
    series, differences, of_differences, dilation, mix, heavy, sign, thresholds
):
    """Sum the responses of the kernels of neuron i along series i: (n, n_kernels, n_sums, 1)."""
    n, n_kernels = sign.shape
    sums = np.empty((n, n_kernels, 2 + thresholds.shape[2], 1), series.values.dtype)
    for i in range(n):
        one = slice(i, i + 1)
        own = View(series.values[:, :, one].copy(), series.there[:, one].copy())
        change = View(differences.values[:, :, one].copy(), differences.there[:, one].copy())
        sums[i] = respond(
            own, change, of_differences[one], dilation[one], mix[one], heavy[one], sign[one],
            thresholds[one],
        )[0]  # fmt: skip
    return sums


@_compiled
def _ends(there):  # type: ignore[no-untyped-def]
    """Find how many values there are up to the last position, and whether none is missing."""
    n_positions = len(there)
    while n_positions and not there[n_positions - 1].any():
        n_positions -= 1
    return n_positions * there.shape[1], there[:n_positions].all()


@_compiled
def _mix(values, mix, dilation, mixed):  # type: ignore[no-untyped-def]
    """Sum some channels, with their signs, between zeros for the taps beyond the ends."""
    _, n_positions, n_rows = values.shape
    first = TAPS // 2 * dilation * n_rows
    n_values = n_positions * n_rows
    mixed[: n_values + 2 * first] = 0
    inside = mixed[first : first + n_values]
    for c in range(len(values)):
        if mix[c]:
            factor, channel = mixed.dtype.type(mix[c]), values[c].ravel()
            for q in range(n_values):
                inside[q] += factor * channel[q]


@_compiled
def _add(some, mixed, here, heavy, sign, thresholds, steps, added):  # type: ignore[no-untyped-def]
    """Add the responses of the kernels of a neuron at a few positions."""
    start, step, complete = some
    responses, others = steps
    total, highest, lowest = others[0], others[1], others[2]  # to unpack them hinders vectors
    size, n_kernels, n_thresholds = len(here), len(sign), thresholds.shape[1]
    least = total.dtype.type(LEAST)
    one, three, zero = total.dtype.type(1), total.dtype.type(3), total.dtype.type(0)
    for first in range(0, TAPS, 3):
        x = mixed[start + first * step :]
        y = mixed[start + (first + 1) * step :]
        z = mixed[start + (first + 2) * step :]
        if first == 0:
            for q in range(size):
                total[q] = x[q] + y[q] + z[q]
        else:
            for q in range(size):
                total[q] = total[q] + x[q] + y[q] + z[q]
    for k in range(n_kernels):
        x = mixed[start + heavy[k, 0] * step :]
        y = mixed[start + heavy[k, 1] * step :]
        z = mixed[start + heavy[k, 2] * step :]
        response, up = responses[k], total.dtype.type(sign[k])
        for q in range(size):
            response[q] = up * (three * (x[q] + y[q] + z[q]) - total[q])
        if not complete:
            for q in range(size):
                response[q] *= here[q]
        if k == 0:
            for q in range(size):
                highest[q] = lowest[q] = response[q]
        else:
            for q in range(size):
                highest[q] = response[q] if response[q] > highest[q] else highest[q]
                lowest[q] = response[q] if response[q] < lowest[q] else lowest[q]
    for q in range(size):
        high = highest[q] - (least * highest[q] + least)
        low = -lowest[q] - (least * -lowest[q] + least)
        highest[q] = high if high > least else least
        lowest[q] = -low if low > least else -least
    for k in range(n_kernels):
        first = k * (2 + n_thresholds)
        z, up, down = responses[k], added[first], added[first + 1]
        for q in range(size):
            up[q] += z[q] if z[q] > highest[q] else zero
        for q in range(size):
            down[q] += -z[q] if z[q] < lowest[q] else zero
        for b in range(n_thresholds):
            above, threshold = added[first + 2 + b], thresholds[k, b]
            if complete:
                for q in range(size):
                    above[q] += one if z[q] > threshold else zero
            else:
                for q in range(size):
                    above[q] += here[q] if z[q] > threshold else zero
