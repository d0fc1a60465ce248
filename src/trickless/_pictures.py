"""Style that pictures share, and axes that displays draw on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

#: A style file of matplotlib, beside this module.
STYLE = "trickless.style"
#: What the methods of displays take and return, for ``completed_by``.
PLOTTING = """
Parameters
----------
ax : matplotlib Axes, optional
    The axes to plot on. Default: a new figure, in the style ``trickless.style``.
name : str, optional
    The curve's name in the legend.
**kwargs
    Passed to matplotlib's ``plot``.

Returns
-------
display
    The display, which has the axes as ``ax_``.
"""


def styled() -> AbstractContextManager[None]:
    """Draw in the style of the package, and restore the user's style at the end."""
    import matplotlib.style

    return matplotlib.style.context(STYLE)


@contextmanager
def axes_for(ax: Any = None) -> Iterator[Any]:
    """Return axes to draw on. Given axes keep their style; new ones have the package's style."""
    if ax is not None:
        yield ax
        return
    import matplotlib.pyplot as plt

    with styled():
        _, ax = plt.subplots()
        yield ax


def ink(ax: Any) -> Any:
    """Return the colour of text on axes, for the lines of bounds and references."""
    return ax.xaxis.label.get_color()
