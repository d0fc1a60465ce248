"""Fourier neurons and dense units in a program: one projection of a row for each neuron."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.export.program import Program, code
from trickless.learners.described import Described
from trickless.neurons.dense import Dense

_NEURONS = """
$before
for (int j = 0; j < $n; j++) {
  double t = $bias;
  for (int i = 0; i < $d; i++) t += weight[j * $stride + i] * $input;
  $values
}
"""
#: What becomes of the value ``$a``, number k of neuron j.
_USED = {
    "decide": "for (int o = 0; o < $outputs; o++) f[o] += $a * coef[($w * j + $k) * $outputs + o];",
    "activate": "z[position[$w * j + $k]] = $a;",
}
#: The length of a row with its constant, scaled by its largest number.
_LENGTH = """
double top = fabs($constant);
for (int i = 0; i < $d; i++) {
  if (fabs(v[i] / $scale) > top) top = fabs(v[i] / $scale);
}
double length = 0.0;
if (top > 0.0) {
  length = ($constant / top) * ($constant / top);
  for (int i = 0; i < $d; i++) length += (v[i] / $scale / top) * (v[i] / $scale / top);
}
length = length > 0.0 ? sqrt(length) * top : 1.0;
"""
#: Activation functions of dense units.
_RESPONSES = {
    "tanh": "tanh(t)",
    "sigmoid": "0.5 + 0.5 * tanh(0.5 * t)",
    "sign": "(t > 0.0 ? 1.0 : (t < 0.0 ? -1.0 : 0.0))",
    "step": "(t > 0.0 ? 1.0 : 0.0)",
    "relu": "(t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0)",
}


def fourier(program: Program, found: Described, width: int, purpose: str) -> str:
    """Return code that evaluates pairs of cosines and sines."""
    return _projections(
        program, found, purpose, ["cos(t)", "sin(t)"], d=width, input="v[i]", bias="0.0", before=""
    )


def dense(program: Program, found: Described, width: int, purpose: str) -> str:
    """Return code that evaluates dense units."""
    family: Any = found.family
    assert isinstance(family, Dense)
    if family.activation not in _RESPONSES:
        raise InvalidValueError(
            f"neurons=Dense(activation={family.activation!r}) have no function in JavaScript",
            f"one of {', '.join(map(repr, _RESPONSES))}",
        )
    numbers = {"d": width, "scale": repr(float(family.length_scale))}
    constant = repr(float(family.bias_scale))
    parts = {"input": f"v[i] / {numbers['scale']}", "bias": constant, "before": ""}
    parts["bias"] = f"{constant} * weight[j * {width + 1} + {width}]"
    if family.activation == "relu":
        parts["before"] = code(_LENGTH, constant=constant, **numbers)
        parts["input"] = f"({parts['input']} / length)"
        parts["bias"] += " / length"
    return _projections(program, found, purpose, [_RESPONSES[family.activation]], d=width, **parts)


def _projections(
    program: Program, found: Described, purpose: str, responses: list[str], **parts: Any
) -> str:
    weight = found.weights[0]
    program.keep(weight=weight, coef=found.coef)
    uses = [
        code(_USED[purpose], a=f"a{k}", k=k, w=len(responses), outputs=found.n_outputs)
        for k in range(len(responses))
    ]
    values = [f"double a{k} = {response};" for k, response in enumerate(responses)]
    stride = np.shape(weight)[1]
    return code(
        _NEURONS, n=len(weight), stride=stride, values="\n  ".join([*values, *uses]), **parts
    )
