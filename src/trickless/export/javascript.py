"""A model as a module of JavaScript, for browsers and Node.js."""

from __future__ import annotations

import base64
import json
import os
import re
from typing import Any

import numpy as np

from trickless import __version__
from trickless.errors import InvalidValueError
from trickless.export.describe import describe
from trickless.export.labels import js_value
from trickless.export.program import Function, Program, code
from trickless.files.whole import as_path, written_whole

_TYPES = {"f4": "Float32Array", "f8": "Float64Array", "u1": "Uint8Array", "i1": "Int8Array"}
_TYPES |= {"i2": "Int16Array", "i4": "Int32Array"}
_MATH = {"fabs": "abs"} | {name: name for name in ("cos", "exp", "floor", "sin", "sqrt", "tanh")}
#: What differs from C in the body of a function.
_REWRITTEN = (
    (r"\bdouble (\w+)\[(\d+)\];", r"const \1 = new Float64Array(\2);"),
    (r"\bunsigned char (\w+)\[(\d+)\];", r"const \1 = new Uint8Array(\2);"),
    (r"\b(?:int|double) (?=\w)", "let "),
)
#: What the module exports. A row is an array, or an object by the names of columns.
_EXPORTS = """
function numbers(row) {
  const values = Array.isArray(row) || ArrayBuffer.isView(row) ? row
    : features === null ? [] : features.map((name) => {
      if (!(name in row)) throw new RangeError(`the row has no value ${JSON.stringify(name)}`);
      return row[name];
    });
  if (values.length !== N_FEATURES) {
    throw new RangeError(`a row has ${N_FEATURES} values, but this one has ${values.length}`);
  }
  return Float64Array.from(values, (value, j) => {
    if (value === null || value === undefined || Number.isNaN(value)) return NaN;
    if (value instanceof Date) {
      throw new TypeError(`value ${j} of the row is a Date: pass the days since 1970`);
    }
    const known = categories[j];
    if (known !== null) {
      const code = known.indexOf(String(value));
      return value === "" && code < 0 ? NaN : code;
    }
    if (value === "") return NaN;
    const number = Number(value);
    if (Number.isNaN(number) && typeof value !== "number") {
      throw new TypeError(`value ${j} of the row is no number`);
    }
    return number;
  });
}

function filled(compute, row, n) {
  const values = new Float64Array(n);
  if (compute(numbers(row), values) !== 0) {
    throw new RangeError("the row holds a value that the model cannot use: a number that is too " +
      "large, or a missing value where the model takes none");
  }
  return Array.from(values);
}
"""
_REGRESSOR = """
export function predict(row) {
  const y = filled(answer, row, N_OUTPUTS);
  return $y;
}
"""
_CLASSIFIER = """
export function decide(row) {
  return filled(decision, row, N_OUTPUTS);
}

export function predict(row) {
  return classes[filled(answer, row, 1)[0]];
}
"""
_SETS = """
export function decide(row) {
  return filled(decision, row, N_OUTPUTS);
}

export function predict(row) {
  return filled(answer, row, N_OUTPUTS);
}
"""
_CHANCES = """
export function predictProba(row) {
  return filled(chances, row, classes.length);
}
"""
_DEVIATE = """
export function predictStd(row) {
  const s = filled(deviate, row, N_OUTPUTS);
  return $y;
}
"""
_SURROUND = """
export function predictInterval(row) {
  const ends = filled(surround, row, $n);
  return $ends;
}
"""
_IN_SET = """
export function predictSet(row) {
  const has = filled(surround, row, classes.length);
  return classes.filter((_, k) => has[k] === 1);
}
"""
_PAIRS = "Array.from({ length: N_OUTPUTS }, (_, o) => ends.slice(2 * o, 2 * o + 2))"


def to_js(
    model: Any,
    path: str | os.PathLike[str],
    *,
    error_bars: bool = False,
    interval: float | None = None,
) -> None:
    """Write a fitted model as a module of JavaScript, for browsers and Node.js.

    The module needs nothing else. It exports ``predict(row)``, and for a classifier
    ``decide(row)`` and ``classes``, as well as ``predictProba(row)`` where the model has
    probabilities, ``predictStd(row)`` with ``error_bars``, and with ``interval``
    ``predictInterval(row)``, a pair of ends, or ``predictSet(row)``, a list of labels. A row is an
    array, or an object by the names of the columns. Missing values are ``null`` or NaN, categories
    are strings or numbers, and dates are days since 1970.

    Parameters
    ----------
    model : estimator
        A model that :func:`to_c` takes.
    path : str or path
        The file to write, such as "model.js" or "model.mjs".
    error_bars : bool, default=False
        Whether to write standard deviations, as for :func:`to_c`.
    interval : float or None, default=None
        The probability that an interval holds a new target, or a set the true class, as for
        :func:`to_c`.

    Raises
    ------
    ValueError
        If the model has no description in JavaScript, if a label cannot be written in it, or if the
        file cannot be written. Then no file is left behind.

    See Also
    --------
    to_c : The same in C, with the rules of missing values and of precision.

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
    export function predictProba(row) {
    """
    path = as_path("to_js", path)
    if path.suffix not in (".js", ".mjs"):
        raise InvalidValueError(
            f"to_js: path={str(path)!r} does not end in .js or .mjs", "such as 'model.js'"
        )
    text = _module(describe("to_js", model, error_bars, interval))
    with written_whole("to_js", path) as file:
        file.write(text.encode("ascii"))


def _module(program: Program) -> str:
    """Return the text of the module."""
    names = "null"
    if program.columns[0].name is not None:
        each = (js_value("to_js", str(column.name)) for column in program.columns)
        names = f"[{', '.join(each)}]"
    categories = [
        "null"
        if column.categories is None
        else f"[{', '.join(js_value('to_js', text) for text in column.categories)}]"
        for column in program.columns
    ]
    used = {name: function for name, function in _MATH.items() if program.calls(name)}
    renamed = [name if name == other else f"{other}: {name}" for name, other in used.items()]
    lines = [
        f"// {program.about}. Written by trickless {__version__}.",
        f"const {{ {', '.join(renamed)} }} = Math;",
        "const isnan = Number.isNaN;",
        f"const single = {'Math.fround' if program.single else '(value) => value'};",
        "const whole = Math.trunc;",
        f"const N_FEATURES = {len(program.columns)};",
        f"const N_OUTPUTS = {program.n_outputs};",
        f"export const features = {names};",
        f"const categories = [{', '.join(categories)}];",
        "",
        "function bytes(text) {",
        "  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;",
        "}",
        "",
        *(_array(name, values) for name, values in program.arrays.items()),
        "",
        *map(_function, program.functions),
        _EXPORTS,
    ]
    y = "y[0]" if program.is_vector else "y"
    if program.labels is None:
        lines.append(_REGRESSOR.replace("$y", y))
    else:
        labels = ", ".join(js_value("to_js", label) for label in program.labels.tolist())
        lines += [f"export const classes = [{labels}];", _SETS if program.has_sets else _CLASSIFIER]
    lines += [_CHANCES] if program.has("chances") else []
    lines += [_DEVIATE.replace("$y", y.replace("y", "s"))] if program.has("deviate") else []
    if program.has("surround") and program.labels is not None:
        lines.append(_IN_SET)
    elif program.has("surround"):
        is_pair = program.is_vector or program.n_ends < 2 * program.n_outputs
        pairs = "ends" if is_pair else _PAIRS
        lines.append(code(_SURROUND, n=program.n_ends, ends=pairs))
    return "\n".join(lines)


def _function(function: Function) -> str:
    body = function.body
    for pattern, text in _REWRITTEN:
        body = re.sub(pattern, text, body)
    body = _as_called(body)
    lines = "\n".join(f"  {line}" for line in body.splitlines() if line.strip())
    name = _as_called(f"{function.name}(").rstrip("(")
    return f"function {name}({', '.join(function.arguments)}) {{\n{lines}\n}}\n"


def _as_called(body: str) -> str:
    """Name ``decide`` otherwise, since the module exports a function of this name."""
    return re.sub(r"\bdecide\(", "decision(", body)


def _array(name: str, values: np.ndarray) -> str:
    """Return a constant array: a list if it is short, else the base64 code of its bytes."""
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    return f"const {name} = new {_TYPES[values.dtype.str[1:]]}(bytes({json.dumps(text)}));"
