"""Graphs as modules of JavaScript, for browsers and Node.js."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import numpy as np

from trickless import __version__
from trickless.errors import InvalidValueError
from trickless.export.graph import Graph
from trickless.export.loops import Loops
from trickless.export.source import ABOUT, codes_of, column_names, js_value, n_columns, used
from trickless.files.whole import as_path, written_whole

_TYPES = {"f4": "Float32Array", "f8": "Float64Array", "u1": "Uint8Array", "i2": "Int16Array"}
_TYPES |= {"i4": "Int32Array", "i8": "BigInt64Array", "u8": "BigUint64Array", "b1": "Uint8Array"}
_MATH = {
    "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Sin": "sin", "Cos": "cos", "Tanh": "tanh",
    "Abs": "abs", "Floor": "floor", "Ceil": "ceil", "Pow": "pow", "Max": "max", "Min": "min",
    "Sign": "sign",
}  # fmt: skip
_CALLS = {"Round": "even", "Erf": "erf", "Sigmoid": "logistic", "Mod": "modulo", "Codes": "code"}
_CALLS |= {"IsNaN": "Number.isNaN"}
#: Functions that ``Math`` lacks.
_HELPERS = {
    "whole": "const whole = (a) => (a >= -9e18 && a <= 9e18 ? Math.trunc(a) : 0);",
    "even": "const even = (a) => {\n  const r = Math.round(a);\n"
    "  return r - a === 0.5 && r % 2 !== 0 ? r - 1 : r;\n};",
    "logistic": "const logistic = (a) => 1 / (1 + Math.exp(-a));",
    "modulo": "const modulo = (a, b) => ((a % b) + b) % b;",
    "code": "const code = (a, most, missing, others) =>\n"
    "  Number.isNaN(a) ? missing : a >= 0 && a <= most && Math.floor(a) === a ? a : others;",
    # The series of positive terms erf(a) = 2 a exp(-a²) / √π Σ (2 a²)^n / (1 · 3 · 5 ⋯ (2n + 1)).
    "erf": "const erf = (a) => {\n  if (Math.abs(a) > 6) return Math.sign(a);\n"
    "  let term = 1, sum = 1;\n"
    "  for (let n = 3; term > 1e-17 * sum; n += 2) sum += term *= 2 * a * a / n;\n"
    "  return 2 * a * Math.exp(-a * a) / Math.sqrt(Math.PI) * sum;\n};",
    "bytes": "function bytes(text) {\n"
    "  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;\n}",
}
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
    throw new TypeError(`value ${j} of the row is no number; dates are days since 1970`);
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
    dates are days since 1970.

    Parameters
    ----------
    model : estimator
        A model that :func:`to_onnx` takes.
    path : str or path
        The file to write, such as "model.js" or "model.mjs".
    outputs : tuple of str, optional
        The outputs, as of :func:`to_onnx`.
    confidence : float, default=0.9
        The probability that a target is in its interval, or the true class in its set.

    Raises
    ------
    ValueError
        If a family, a label or an output cannot be written, or if the file cannot be written. Then
        no file is left behind.

    See Also
    --------
    to_c : The same in C, with the rules of precision.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from trickless import KitchenSinksClassifier, to_js
    >>> model = KitchenSinksClassifier(n_neurons=20, random_state=0)
    >>> model = model.fit(*load_iris(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_js(model, Path(folder) / "iris.js")
    ...     text = (Path(folder) / "iris.js").read_text()
    >>> print([line for line in text.splitlines() if "export function" in line][-1])
    export function probabilities(row) {
    """
    from trickless.export.trace import trace

    path = as_path("to_js", path)
    if path.suffix not in (".js", ".mjs"):
        raise InvalidValueError(
            f"to_js: path={str(path)!r} does not end in .js or .mjs", "such as 'model.js'"
        )
    text = _module(trace("to_js", model, outputs, confidence, np.float64))
    with written_whole("to_js", path) as file:
        file.write(text.encode("ascii"))


def _is_big(dtype: np.dtype) -> bool:
    """Return whether numbers are BigInt."""
    return dtype.kind in "iu" and dtype.itemsize == 8


class _JavaScript(Loops):
    """Loops in JavaScript, in which integers of 64 bits are BigInt."""

    def scalar(self, dtype: np.dtype, name: str, value: str) -> str:
        return f"let {name} = {value};"

    def place(self, name: str) -> str:
        return name

    def literal(self, value: Any, dtype: np.dtype) -> str:
        if dtype.kind == "f" and not np.isfinite(value):
            return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        if dtype.kind == "f":
            return repr(float(value))
        return f"{int(value)}n" if _is_big(dtype) else str(int(value))

    def cast(self, text: str, old: np.dtype, new: np.dtype) -> str:
        if old == new:
            return text
        if new.kind == "b":
            return f"({text} != 0)"
        if old.kind == "f" and new.kind != "f":
            text = f"whole({text})"
        if _is_big(new):
            text = text if _is_big(old) else f"BigInt({text})"
            return f"BigInt.as{'Int' if new.kind == 'i' else 'Uint'}N(64, {text})"
        text = f"Number({text})" if _is_big(old) or old.kind == "b" else text
        return f"Math.fround({text})" if new == np.float32 and old != np.float32 else text

    def function(self, op: str, dtype: np.dtype) -> str:
        return f"Math.{_MATH[op]}" if op in _MATH else _CALLS[op]

    def rounded(self, text: str, op: str, dtype: np.dtype) -> str:
        if _is_big(dtype):
            return f"BigInt.as{'Int' if dtype.kind == 'i' else 'Uint'}N(64, {text})"
        if op == "Div" and dtype.kind in "iu":
            return f"Math.trunc{text}"
        return f"Math.fround({text})" if dtype == np.float32 else text


def _module(graph: Graph) -> str:
    """Return the text of the module."""
    names, labels = column_names(graph), graph.labels
    columns = "null"
    if names is not None:
        columns = f"[{', '.join(js_value('to_js', str(name)) for name in names)}]"
    arrays: dict[str, np.ndarray] = {}
    functions = []
    for output, tensor in graph.outputs.items():
        loops, value = _JavaScript(graph, output), graph.values[tensor]
        arrays |= loops.arrays
        buffers = [
            f"  const {key} = new {_TYPES[v.dtype.str[1:]]}({v.size});"
            for key, v in loops.buffers.items()
        ]
        body = "\n".join([*buffers, *loops.lines])
        functions.append(
            f"function {output}Of(x, out) {{\n{body}\n  return 0;\n}}\n\n// {ABOUT[output]}\n"
            f"export function {output}(row) {{\n"
            f"  const out = filled({output}Of, row, {value.size}){_converted(value.dtype)};\n"
            f"  return {_shaped(output, graph)};\n}}\n"
        )
    tables = [
        f"  [{j}, [new Map({_pairs(codes)}), {others}]],"
        for j, (codes, others) in codes_of(graph).items()
    ]
    text = "\n".join(functions)
    held = [_array(name, values) for name, values in arrays.items()]
    lines = [
        f"// {graph.about}, written by trickless {__version__}.",
        f"export const columns = {columns};",
        *([] if labels is None else [
            f"export const labels = [{', '.join(js_value('to_js', v) for v in labels.tolist())}];"
        ]),
        "const categories = new Map([", *tables, "]);",
        *used(_HELPERS, "\n".join([text, *held])),
        *held,
        _ROWS.replace("$n", str(n_columns(graph))),
        text,
    ]  # fmt: skip
    return "\n".join(lines)


def _converted(dtype: np.dtype) -> str:
    return ".map(Boolean)" if dtype.kind == "b" else ".map(Number)" if _is_big(dtype) else ""


def _shaped(output: str, graph: Graph) -> str:
    """Return the expression of an answer: a number, or lists in its shape."""
    shape = graph.values[graph.outputs[output]].shape[1:]
    if output == "label" and not shape:
        return "labels[out[0]]"
    if len(shape) < 2:
        return "out" if shape else "out[0]"
    n, width = shape
    return f"Array.from({{ length: {n} }}, (_, o) => out.slice({width} * o, {width} * (o + 1)))"


def _pairs(codes: dict[str, int]) -> str:
    pairs = [f"[{js_value('to_js', text)}, {code}]" for text, code in codes.items()]
    return f"[{', '.join(pairs)}]"


def _array(name: str, values: np.ndarray) -> str:
    """Return a constant array: the base64 code of its bytes."""
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    return f"const {name} = new {_TYPES[values.dtype.str[1:]]}(bytes({json.dumps(text)}));"
