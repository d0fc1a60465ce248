"""Graphs as files of C99 and their headers, without dependencies."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from trickless import __version__
from trickless.errors import InvalidValueError
from trickless.export.graph import Graph
from trickless.export.loops import OPERATORS, Loops
from trickless.export.source import (
    ABOUT,
    c_string,
    checked_name,
    codes_of,
    column_names,
    lines_of,
    n_columns,
    used,
)
from trickless.files.whole import as_path, check_writable, written_whole

_TYPES = {"f4": "float", "f8": "double", "u1": "unsigned char", "i2": "short", "i4": "int"}
_TYPES |= {"i8": "int64_t", "u8": "uint64_t", "b1": "unsigned char"}
_KEYWORDS = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
    "unsigned", "void", "volatile", "while",
}  # fmt: skip
#: Functions of the mathematical library.
_MATH = {
    "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Sin": "sin", "Cos": "cos", "Tanh": "tanh",
    "Abs": "fabs", "Floor": "floor", "Ceil": "ceil", "Round": "rint", "Erf": "erf", "Pow": "pow",
}  # fmt: skip
#: Functions that the mathematical library lacks.
_HELPERS = {
    "whole": "static int64_t whole(double a) { return a >= -9e18 && a <= 9e18 ? (int64_t)a : 0; }",
    "larger": "static double larger(double a, double b) { return a < b || b != b ? b : a; }",
    "smaller": "static double smaller(double a, double b) { return a > b || b != b ? b : a; }",
    "sign": "static double sign(double a) { return a != a ? a : (a > 0) - (a < 0); }",
    "logistic": "static double logistic(double a) { return 1.0 / (1.0 + exp(-a)); }",
    "modulo": "static int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }",
    "code": "static double code(double a, double most, double missing, double others) {\n"
    "  return isnan(a) ? missing : a >= 0 && a <= most && floor(a) == a ? a : others;\n}",
}
_CALLS = {"Max": "larger", "Min": "smaller", "Sign": "sign", "Sigmoid": "logistic"}
_CALLS |= {"Mod": "modulo", "Codes": "code", "IsNaN": "isnan"}
#: The most bytes that a function keeps on its stack.
_STACK = 2**16


def to_c(
    model: Any,
    path: str | os.PathLike[str],
    *,
    outputs: tuple[str, ...] | None = None,
    confidence: float = 0.9,
    name: str | None = None,
) -> None:
    """Write a fitted model as a file of C99 and its header, which need only the C library.

    There is a function for each output: ``int model_prediction(const double *x, double *out)``, if
    the ``name`` is "model". It fills ``out``, and returns 0, or 1 for a row that Python refuses.
    ``model_label`` fills the number of a label in the table ``model_labels``. If there are columns
    of categories, ``double model_category(int column, const char *text)`` returns the numbers that
    rows have. The header says all that.

    Parameters
    ----------
    model : estimator
        A model that :func:`to_onnx` takes.
    path : str or path
        The file to write, such as "model.c". Its header is beside it, such as "model.h".
    outputs : tuple of str, optional
        The outputs, as of :func:`to_onnx`.
    confidence : float, default=0.9
        The probability that a target is in its interval, or the true class in its set.
    name : str or None, default=None
        What the names of functions begin with. None uses the name of the file.

    Raises
    ------
    ValueError
        If a family, a label, a name or an output cannot be written, or if the file cannot be
        written. Then no file is left behind.

    Notes
    -----
    Rows are arrays of doubles. Missing values are NaN. As in Python, they are an error for families
    that take no missing values, and so are infinite numbers. Dates are days since 1970.

    The functions change no state, so threads may share them. They allocate memory only if their
    intermediate results take more than 64 KiB, as those of long series and of intervals may. Then
    they also return 1 if there is no memory.

    Sums are in double precision. Models with ``dtype="float64"`` therefore answer as in Python up
    to about 1e-12 of the spread of answers, and models with "float32" to about 1e-6.

    Link the program with the mathematical library (``-lm``).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor, to_c
    >>> model = KitchenSinksRegressor(n_neurons=20, random_state=0)
    >>> model = model.fit(*load_diabetes(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_c(model, Path(folder) / "progression.c")
    ...     header = (Path(folder) / "progression.h").read_text()
    >>> print(next(line for line in header.splitlines() if "prediction" in line))
    int progression_prediction(const double *x, double *out);
    """
    from trickless.export.trace import trace

    path = as_path("to_c", path)
    if path.suffix != ".c":
        raise InvalidValueError(f"to_c: path={str(path)!r} does not end in .c", "such as 'model.c'")
    if re.search(r'["\\\x00-\x1f\x7f\ud800-\udfff]', path.name):
        raise InvalidValueError(
            f"to_c: path={str(path)!r} has a name that C cannot include", "such as 'model.c'"
        )
    name, header = checked_name("to_c", name, path.stem, _KEYWORDS), path.with_suffix(".h")
    graph = trace("to_c", model, outputs, confidence, np.float64)
    source, declared = _source(graph, name, header.name), _header(graph, name)
    for each in (path, header):
        check_writable("to_c", each)
    with written_whole("to_c", header) as first, written_whole("to_c", path) as second:
        first.write(declared.encode("ascii"))
        first.flush()
        os.fsync(first.fileno())  # if the disk is full, it shows before either file is in its place
        second.write(source.encode("ascii"))


class _C(Loops):
    """Loops in C, with a structure ``w`` of buffers."""

    def scalar(self, dtype: np.dtype, name: str, value: str) -> str:
        return f"{_type(dtype)} {name} = {value};"

    def place(self, name: str) -> str:
        return f"w->{name}"

    def literal(self, value: Any, dtype: np.dtype) -> str:
        return _literal(value, dtype)

    def cast(self, text: str, old: np.dtype, new: np.dtype) -> str:
        if old == new:
            return text
        if new.kind == "b":
            return f"({text} != 0)"
        if old.kind == "f" and new.kind != "f":
            text = f"whole({text})"
        return f"({_type(new)})({text})"

    def function(self, op: str, dtype: np.dtype) -> str:
        return f"{_MATH[op]}{'f' * (dtype == np.float32)}" if op in _MATH else _CALLS[op]

    def rounded(self, text: str, op: str, dtype: np.dtype) -> str:
        is_exact = dtype.kind in "fb" and (op in OPERATORS or dtype != np.float32)
        return text if is_exact else f"({_type(dtype)}){text}"

    def apply(self, op: str, args: list[str], old: np.dtype, new: np.dtype) -> str:
        if old == np.int64 and op in ("Add", "Sub", "Mul"):
            args = [f"(uint64_t)({arg})" for arg in args]  # which may overflow
        return super().apply(op, args, old, new)


def _type(dtype: np.dtype) -> str:
    return _TYPES[dtype.str[1:]]


def _literal(value: Any, dtype: np.dtype) -> str:
    """Return a number in as many digits as give it exactly."""
    if dtype.kind != "f":
        return f"INT64_C({value})" if dtype.itemsize == 8 and value > -(2**63) else str(int(value))
    if np.isnan(value):
        return "NAN"
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text, single = f"{float(value)!r}", dtype == np.float32
    if single:
        text = f"{value:.9g}"
        text = text if "." in text or "e" in text else f"{text}.0"
    return f"{text}{'f' * single}"


def _header(graph: Graph, name: str) -> str:
    """Return the header."""
    upper, labels, names = name.upper(), graph.labels, column_names(graph)
    codes = codes_of(graph)
    lines = [
        f"/* {graph.about}, written by trickless {__version__}.",
        " *",
        f" * A row x has {upper}_N_COLUMNS doubles. A missing value is NaN. Functions fill out,",
        " * and return 0, or 1 for a row that they cannot use. Threads may share them.",
        *(f" * x[{j}] is a category: a number of {name}_category, or NaN." for j in codes),
        " */",
        f"#ifndef {upper}_H",
        f"#define {upper}_H",
        f"#define {upper}_N_COLUMNS {n_columns(graph)}",
    ]
    lines += [] if labels is None else [f"#define {upper}_N_LABELS {len(labels)}"]
    for output, tensor in graph.outputs.items():
        lines.append(f"#define {upper}_{output.upper()}_SIZE {graph.values[tensor].size}")
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
    if names is not None:
        lines.append(f"extern const char *const {name}_columns[{upper}_N_COLUMNS];")
    if labels is not None:
        lines.append(f"extern const char *const {name}_labels[{upper}_N_LABELS];")
    if codes:
        lines.append(f"double {name}_category(int column, const char *text);")
    for output in graph.outputs:
        about = f"/* {ABOUT[output]} Fills {upper}_{output.upper()}_SIZE numbers. */"
        lines += [about, f"{_declared(graph, name, output)};"]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "#endif", ""])


def _declared(graph: Graph, name: str, output: str) -> str:
    kind = "double" if graph.values[graph.outputs[output]].dtype.kind == "f" else "int"
    return f"int {name}_{output}(const double *x, {kind} *out)"


def _source(graph: Graph, name: str, header: str) -> str:
    """Return the source code."""
    arrays: dict[str, np.ndarray] = {}
    functions, codes = [], codes_of(graph)
    for output in graph.outputs:
        loops = _C(graph, output)
        arrays |= loops.arrays
        functions.append(_function(graph, loops, name, output))
    tables = [_strings("to_c", f"{name}_labels", list(map(str, labels.tolist())))
              for labels in [graph.labels] if labels is not None]  # fmt: skip
    tables += [_strings("to_c", f"{name}_columns", names)
               for names in [column_names(graph)] if names is not None]  # fmt: skip
    if codes:
        tables.append(_categories(codes, name))
    text = "\n".join(functions)
    return "\n".join(
        [
            f"/* {graph.about}, written by trickless {__version__}. */",
            f'#include "{header}"',
            "#include <math.h>",
            "#include <stdint.h>",
            "#include <stdlib.h>",
            "#include <string.h>",
            "",
            *used(_HELPERS, text),
            *(_array(key, values) for key, values in arrays.items()),
            *tables,
            text,
        ]
    )


def _function(graph: Graph, loops: _C, name: str, output: str) -> str:
    """Return the function of an answer, and the structure of its buffers."""
    declared, work = _declared(graph, name, output), f"struct {output}_work"
    buffers = [f"  {_type(v.dtype)} {key}[{v.size}];" for key, v in loops.buffers.items()]
    n_bytes = sum(v.dtype.itemsize * v.size for v in loops.buffers.values())
    inner = declared.replace(f"{name}_{output}(", f"{output}_of(").replace(")", f", {work} *w)")
    body = "\n".join(loops.lines)
    if n_bytes <= _STACK:
        call = f"  {work} w;\n  return {output}_of(x, out, &w);"
    else:
        call = (
            f"  {work} *w = malloc(sizeof *w);\n  if (!w) return 1;\n"
            f"  int status = {output}_of(x, out, w);\n  free(w);\n  return status;"
        )
    return (
        f"{work} {{\n" + "\n".join(buffers or ["  int unused;"]) + "\n};\n\n"
        f"static {inner} {{\n  (void)w;\n{body}\n  return 0;\n}}\n\n{declared} {{\n{call}\n}}\n"
    )


def _array(name: str, values: np.ndarray) -> str:
    """Return a constant array."""
    kind, texts = _type(values.dtype), [_literal(value, values.dtype) for value in values.tolist()]
    return f"static const {kind} {name}[{len(values)}] = {{\n  {lines_of(texts)}\n}};\n"


def _strings(owner: str, name: str, texts: list[str]) -> str:
    literals = lines_of([c_string(owner, text) for text in texts])
    return f"const char *const {name}[{len(texts)}] = {{\n  {literals}\n}};\n"


def _categories(codes: dict[int, tuple[dict[str, int], int]], name: str) -> str:
    """Return the tables of categories, and the function that looks them up."""
    parts, cases = [], []
    for j, (known, others) in codes.items():
        texts = sorted(known, key=lambda text: text.encode())
        parts.append("static " + _strings("to_c", f"texts{j}", texts))
        parts.append(_array(f"codes{j}", np.array([known[text] for text in texts], np.int32)))
        cases.append(f"  if (column == {j}) {{ texts = texts{j}; codes = codes{j}; "
                     f"high = {len(texts)}; others = {others}; }}")  # fmt: skip
    return "\n".join(
        [
            *parts,
            f"double {name}_category(int column, const char *text) {{",
            "  const char *const *texts = 0;",
            "  const int *codes = 0;",
            "  int low = 0, high = 0, others = -1;",
            *cases,
            "  while (low < high) {",
            "    int middle = (low + high) / 2, order = strcmp(texts[middle], text);",
            "    if (order == 0) return codes[middle];",
            "    if (order < 0) low = middle + 1; else high = middle;",
            "  }",
            "  return others;",
            "}",
            "",
        ]
    )
