"""Curves of errors along a stream, at constant memory."""

from __future__ import annotations

#: Rows of each stretch of a stream, and their mean error.
Curve = list[tuple[int, float]]

#: A curve has fewer than twice as many stretches.
STRETCHES = 4096


def extend(curve: Curve, n_rows: int, error: float) -> None:
    """Add a stretch; neighbours are merged where the curve becomes too long."""
    curve.append((n_rows, error))
    if len(curve) == 2 * STRETCHES:
        curve[:] = [
            (m + n, (m * a + n * b) / (m + n))
            for (m, a), (n, b) in zip(curve[::2], curve[1::2], strict=True)
        ]
