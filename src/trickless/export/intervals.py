"""Prediction sets, and intervals whose width depends on the prediction alone, in a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.conformal.split import SplitConformal
from trickless.errors import InvalidValueError
from trickless.export.answers import BEGIN
from trickless.export.program import Program, code
from trickless.learners.described import Described
from trickless.learners.intervals import how_far, how_unlikely
from trickless.learners.left_out_intervals import LeftOutIntervals

#: The ends of intervals by what a regressor does with the values of its network.
_ENDS = {
    "identity": """
for (int o = 0; o < $outputs; o++) {
  ends[2 * o] = f[o] - far[o];
  ends[2 * o + 1] = f[o] + far[o];
}
""",
    "exp": """
for (int o = 0; o < $outputs; o++) {
  double mean = exp(f[o]);
  double away = far[o] * exp($half_power * (f[o] > $least ? f[o] : $least));
  ends[2 * o] = mean > away ? mean - away : 0.0;
  ends[2 * o + 1] = mean + away;
}
""",
    "sort": """
double low = f[0];
double high = f[0];
for (int o = 1; o < $outputs; o++) {
  if (f[o] < low) low = f[o];
  if (f[o] > high) high = f[o];
}
double middle = (low + high) / 2.0;
ends[0] = low - far[0] > high + far[0] ? middle : low - far[0];
ends[1] = low - far[0] > high + far[0] ? middle : high + far[0];
""",
}
_PREDICTED = """
double f[$outputs];
if (answer(x, f)) return 1;
"""
_CHANCES = """
double p[$outputs];
if (chances(x, p)) return 1;
"""
#: A class is in the set if those that are more likely have a small probability together.
_SET = """
for (int o = 0; o < $outputs; o++) {
  double above = 0.0;
  for (int i = 0; i < $outputs; i++) {
    if (p[i] > p[o] || (p[i] == p[o] && i < o)) above += p[i];
  }
  ends[o] = above <= far[0] ? 1.0 : 0.0;
}
"""


def add_intervals(program: Program, found: Described, model: Any, confidence: float) -> None:
    """Add the function ``surround``: the ends of each interval, or which classes are in a set.

    ``model`` is a learner, or :class:`~trickless.conformal.SplitConformal`.
    """
    begin, text = BEGIN, _ENDS[found.link]
    numbers: dict[str, Any] = {"outputs": found.n_outputs}
    program.n_ends = 2 if found.link == "sort" else 2 * found.n_outputs
    if found.labels is not None:
        begin, text, program.n_ends = _CHANCES, _SET, len(found.labels)
        numbers["outputs"] = program.n_ends
        if not program.has("chances"):
            raise InvalidValueError(
                f"interval={confidence!r}, but sets of classes need probabilities, which the loss "
                f"of a {found.name} does not give",
                "loss='squared_error' or 'log_loss', or interval=None",
            )
    elif isinstance(model, SplitConformal):
        begin, text = _PREDICTED, _ENDS["identity"]
    elif isinstance(model, LeftOutIntervals) and not model._has_errors_only():
        raise InvalidValueError(
            f"interval={confidence!r}, but intervals of a {found.name} leave out each row that it "
            "has kept",
            "error_bars=True, for standard deviations; trickless.conformal.SplitConformal(model); "
            "or to_onnx(model, outputs=('prediction', 'interval'))",
        )
    else:
        numbers["half_power"] = repr(getattr(model.targets_, "power", 0.0) / 2)
        numbers["least"] = repr(float(np.log(np.finfo(float).tiny)))
    program.keep(far=_far(model, confidence, found.labels is not None))
    program.add("surround", ("x", "ends"), f"{code(begin + text, **numbers)}\nreturn 0;")


def _far(model: Any, confidence: float, of_classes: bool) -> Any:
    """Return how far targets may be from predictions, or the largest score of classes in a set."""
    if isinstance(model, SplitConformal):
        return model._fixed_bounds(confidence)
    return how_unlikely(model, confidence) if of_classes else how_far(model, confidence)
