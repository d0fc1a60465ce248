"""Graphs as modules of JavaScript, for browsers and Node.js."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import numpy as np

from trickless import __version__
from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._files.whole import written_whole
from trickless._rows.values import ZONED
from trickless.export.graph import Graph
from trickless.export.loops import ABOUT, WRITING, Loops, source_path, used

#: The largest integers that a number of JavaScript has exactly.
_EXACT = 2**53
#: Functions that ``Math`` lacks. The series of the error function has positive terms: erf(a) =
#: 2 a exp(-a²) / √π Σ (2 a²)^n / (1 · 3 · 5 ⋯ (2n + 1)).
_HELPERS = """
function whole(a) { return a >= -9e18 && a <= 9e18 ? Math.trunc(a) : 0; }

function even(a) {
  const r = Math.round(a);
  return r - a === 0.5 && r % 2 !== 0 ? r - 1 : r;
}

function modulo(a, b) { return ((a % b) + b) % b; }

function code(a, most, missing, others) {
  return Number.isNaN(a) ? missing : a >= 0 && a <= most && Math.floor(a) === a ? a : others;
}

function order(v, p, start, n) {
  const places = [...Array(n).keys()].sort((a, b) => v[start + a] - v[start + b] || a - b);
  p.set(places, start);
}

function erf(a) {
  if (Math.abs(a) > 6) return Math.sign(a);
  let term = 1, sum = 1;
  for (let n = 3; term > 1e-17 * sum; n += 2) sum += term *= 2 * a * a / n;
  return 2 * a * Math.exp(-a * a) / Math.sqrt(Math.PI) * sum;
}

function bytes(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
}
"""
#: How a row is read. It is an array, or an object by the names of columns.
_ROWS = """
function numbers(row) {
  const isList = Array.isArray(row) || ArrayBuffer.isView(row);
  if (!isList && columns === null) throw new TypeError("the row is no array");
  const values = isList ? row : columns.map((name) => {
    if (!Object.hasOwn(row, name)) {
      throw new RangeError(`the row has no value ${JSON.stringify(name)}`);
    }
    return row[name];
  });
  if (values.length !== $n) {
    throw new RangeError(`a row has $n values, but this one has ${values.length}`);
  }
  return Float64Array.from(values, (value, j) => {
    if (value === null || value === undefined || Number.isNaN(value)) return NaN;
    if (categories.has(j)) {
      const [codes, others] = categories.get(j);
      return codes.get(String(value)) ?? others;
    }
    if (typeof value === "number" || typeof value === "boolean") return Number(value);
    if (value instanceof Date && zoned.has(j) && !Number.isNaN(+value)) return value / 864e5;
    throw new TypeError(`value ${j} of the row is no number; dates are days since 1970-01-01, or ` +
      "a valid Date if they had a time zone in training");
  });
}

function filled(compute, row, n) {
  const out = new Array(n);
  if (compute(numbers(row), out) !== 0) {
    throw new RangeError("the row holds a value that the model cannot use: a number that is too " +
      "large, or a missing value where the model takes none");
  }
  return out;
}
"""


@completed_by(WRITING)
def to_js(
    model: Any,
    path: str | os.PathLike[str],
    *,
    outputs: tuple[str, ...] | None = None,
    confidence: float = 0.9,
) -> None:
    """Write a fitted model as a module of JavaScript, for browsers and Node.js.

    The module needs nothing else. It exports a function of a row for each output, such as
    ``prediction(row)``, or ``label(row)`` and ``probabilities(row)``, as well as ``columns``, the
    names of columns, and ``labels``, the classes. A row is an array, or an object by the names of
    the columns. Missing values are ``null`` or NaN. Categories are strings or numbers, and
    dates are days since 1970-01-01. They may also be a ``Date`` if they had a time zone in
    training, because a ``Date`` is an instant.

    Parameters
    ----------
    path : str or path
        The file to write, such as "model.js" or "model.mjs".

    See Also
    --------
    to_c : The same in C, with the rules of precision.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.export import to_js
    >>> model = KitchenSinksClassifier(n_neurons=20, random_state=0)
    >>> model = model.fit(*load_iris(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_js(model, Path(folder) / "iris.js")
    ...     text = (Path(folder) / "iris.js").read_text()
    >>> print([line for line in text.splitlines() if "export function" in line][-1])
    export function probabilities(row) {
    """
    from trickless.export.trace import trace

    path = source_path("to_js", path, ".js", ".mjs")
    text = _module(trace("to_js", model, outputs, confidence, np.float64))
    with written_whole("to_js", path) as file:
        file.write(text.encode("ascii"))


def _is_big(dtype: np.dtype) -> bool:
    """Return whether numbers are BigInt."""
    return dtype.kind in "iu" and dtype.itemsize == 8


def _as_big(text: str, dtype: np.dtype) -> str:
    return f"BigInt.as{'Int' if dtype.kind == 'i' else 'Uint'}N(64, {text})"


class _JavaScript(Loops):
    """Loops in JavaScript, in which integers of 64 bits are BigInt."""

    language, not_finite = "js", ("NaN", "Infinity")
    types = {
        "f4": "Float32Array", "f8": "Float64Array", "u1": "Uint8Array", "i2": "Int16Array",
        "i4": "Int32Array", "u4": "Uint32Array", "i8": "BigInt64Array", "u8": "BigUint64Array",
        "b1": "Uint8Array",
    }  # fmt: skip

    def scalar(self, dtype: np.dtype, name: str, value: str) -> str:
        return f"let {name} = {value};"

    @staticmethod
    def number(value: Any, dtype: np.dtype) -> str:
        if dtype.kind == "f":
            return repr(float(value))
        return f"{int(value)}{'n' * _is_big(dtype)}"

    def converted(self, text: str, old: np.dtype, new: np.dtype) -> str:
        if _is_big(new):
            return _as_big(text if _is_big(old) else f"BigInt({text})", new)
        text = f"Number({text})" if _is_big(old) or old.kind == "b" else text
        return f"Math.fround({text})" if new == np.float32 else text

    def rounded(self, text: str, op: str, dtype: np.dtype) -> str:
        if _is_big(dtype):
            return _as_big(text, dtype)
        if op == "Div" and dtype.kind in "iu":
            return f"Math.trunc{text}"
        return f"Math.fround({text})" if dtype == np.float32 else text


def _module(graph: Graph) -> str:
    """Return the text of the module."""
    functions: list[str] = []
    arrays: dict[str, np.ndarray] = {}
    converted = {"b": ".map(Boolean)", "i": ".map(Number)"}
    for output, tensor in graph.outputs.items():
        each, value = _JavaScript(graph, output), graph.values[tensor]
        arrays |= each.arrays
        buffers = [f"  const {key} = new {_JavaScript.type_of(v.dtype)}({v.size});"
                   for key, v in each.buffers.items()]  # fmt: skip
        out = f"filled({output}Of, row, {value.size}){converted.get(value.dtype.kind, '')}"
        functions += [
            f"function {output}Of(x, out) {{", *buffers, *each.lines, "  return 0;", "}", "",
            f"// {ABOUT[output]}", f"export function {output}(row) {{",
            f"  const out = {out};", f"  return {_shaped(output, value.shape[1:])};", "}", "",
        ]  # fmt: skip
    held = [_array(name, values) for name, values in arrays.items()]
    codes = [f"  [{j}, [new Map({_json([*known.items()])}), {others}]],"
             for j, (known, others) in graph.codes.items()]  # fmt: skip
    lines = [
        f"// {graph.about}, written by trickless {__version__}.",
        f"export const columns = {_json(graph.names)};",
        *(f"export const labels = {_labels(labels.tolist())};"
          for labels in [graph.labels] if labels is not None),
        "const categories = new Map([", *codes, "]);",
        f"const zoned = new Set({[j for j, kind in enumerate(graph.kinds) if kind == ZONED]});",
        *used(_HELPERS, "\n".join(functions + held)),
        *held,
        _ROWS.replace("$n", str(graph.n_columns)),
        *functions,
    ]  # fmt: skip
    return "\n".join(lines)


def _shaped(output: str, shape: tuple[int, ...]) -> str:
    """Return the expression of an answer: a number, or lists in its shape."""
    if len(shape) < 2:
        return "out" if shape else "labels[out[0]]" if output == "label" else "out[0]"
    n, width = shape
    return f"Array.from({{ length: {n} }}, (_, o) => out.slice({width} * o, {width} * (o + 1)))"


def _json(value: Any) -> str:
    # A script in a page ends at its closing tag, wherever that is.
    return json.dumps(value).replace("<", "\\u003c")


def _labels(labels: list[Any]) -> str:
    """Return a list of labels: strings, Booleans and numbers."""
    for label in labels:
        is_exact = isinstance(label, int) and abs(label) <= _EXACT
        if not (isinstance(label, str) or is_exact or isinstance(label, float)):
            raise InvalidValueError(
                f"to_js: the label {label!r} is no string, Boolean or number that JavaScript has "
                "exactly",
                "labels as text, such as y.astype(str)",
            )
    return _json(labels)


def _array(name: str, values: np.ndarray) -> str:
    """Return a constant array: the base64 code of its bytes."""
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    return f'const {name} = new {_JavaScript.type_of(values.dtype)}(bytes("{text}"));'
