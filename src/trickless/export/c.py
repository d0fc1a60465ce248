"""Graphs as files of C99 and their headers, without dependencies."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from trickless import __version__
from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._files.text import utf8
from trickless._files.whole import check_writable, written_whole
from trickless._rows.values import IN_DAYS
from trickless._rules import Rule, check_value
from trickless.export.graph import Graph
from trickless.export.loops import ABOUT, WRITING, Loops, source_path, used

#: Functions that the mathematical library lacks. The last one sorts places by Shell's method.
_HELPERS = """
static int64_t whole(double a) { return a >= -9e18 && a <= 9e18 ? (int64_t)a : 0; }

static double larger(double a, double b) { return a < b || b != b ? b : a; }

static double smaller(double a, double b) { return a > b || b != b ? b : a; }

static double sign(double a) { return a != a ? a : (a > 0) - (a < 0); }

static int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

static double code(double a, double most, double missing, double others) {
  return isnan(a) ? missing : a >= 0 && a <= most && floor(a) == a ? a : others;
}

static void order(const double *v, int *p, int start, int n) {
  v += start, p += start;
  for (int i = 0; i < n; i++) p[i] = i;
  for (int g = n / 2; g > 0; g /= 2)
    for (int i = g; i < n; i++) {
      int a = p[i], b = i;
      for (; b >= g; b -= g) {
        int q = p[b - g];
        if (v[q] < v[a] || (v[q] == v[a] && q < a)) break;
        p[b] = q;
      }
      p[b] = a;
    }
}
"""
#: The function that looks up categories, in a table that is sorted by columns and bytes.
_CATEGORY = """static int order_of(const void *a, const void *b) {
  const struct category *one = a, *other = b;
  int apart = one->column - other->column;
  return apart ? apart : strcmp(one->text, other->text);
}

double $name_category(int column, const char *text) {
  struct category key = {column, text, 0}, *found;
  found = bsearch(&key, categories, sizeof categories / sizeof key, sizeof key, order_of);
  return found ? found->code : column >= 0 && column < $n ? others[column] : -1;
}
"""
#: The most bytes that a function keeps on its stack.
_STACK = 2**16
_NAME = Rule(
    "ASCII letters, digits and underscores, after a letter",
    "such as name='model'",
    lambda name: isinstance(name, str),
    lambda name: re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) is not None,
)


@completed_by(WRITING)
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
    path : str or path
        The file to write, such as "model.c". Its header is beside it, such as "model.h".
    name : str or None, default=None
        What the names of functions begin with. None uses the name of the file.

    Notes
    -----
    Rows are arrays of doubles. Missing values are NaN. As in Python, they are an error for families
    that take no missing values, and so are infinite numbers. Dates are days since 1970-01-01, in
    UTC if they have a time zone, and the header says which columns hold them.

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
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.export import to_c
    >>> model = KitchenSinksRegressor(n_neurons=20, random_state=0)
    >>> model = model.fit(*load_diabetes(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_c(model, Path(folder) / "progression.c")
    ...     header = (Path(folder) / "progression.h").read_text()
    >>> print(next(line for line in header.splitlines() if "prediction" in line))
    int progression_prediction(const double *x, double *out);
    """
    from trickless.export.trace import trace

    path = source_path("to_c", path, ".c")
    if name is not None:
        check_value("to_c", "name", name, _NAME)
    if re.search(r'["\\\x00-\x1f\x7f\ud800-\udfff]', path.name):
        raise InvalidValueError(
            f"to_c: path={str(path)!r} has a name that C cannot include", "such as 'model.c'"
        )
    stem, header = re.sub(r"\W", "_", path.stem, flags=re.ASCII), path.with_suffix(".h")
    name = name or (stem if re.match("[A-Za-z]", stem) else f"model_{stem}")
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
    """Loops in C."""

    language, not_finite = "c", ("NAN", "INFINITY")
    types = {
        "f4": "float", "f8": "double", "u1": "unsigned char", "i2": "short", "i4": "int",
        "i8": "int64_t", "u4": "uint32_t", "u8": "uint64_t", "b1": "unsigned char",
    }  # fmt: skip

    def scalar(self, dtype: np.dtype, name: str, value: str) -> str:
        return f"{self.type_of(dtype)} {name} = {value};"

    @staticmethod
    def number(value: Any, dtype: np.dtype) -> str:
        if dtype.kind != "f":
            is_long = dtype.itemsize == 8 and value > -(2**63)
            return f"INT64_C({value})" if is_long else str(int(value))
        if dtype == np.float64:
            return repr(float(value))
        text = f"{value:.9g}"
        return f"{text}f" if "." in text or "e" in text else f"{text}.0f"

    def converted(self, text: str, old: np.dtype, new: np.dtype) -> str:
        return f"({self.type_of(new)})({text})"

    def rounded(self, text: str, op: str, dtype: np.dtype) -> str:
        return text if dtype in (np.bool_, np.float64) else f"({self.type_of(dtype)}){text}"

    def apply(self, op: str, args: list[str], old: np.dtype, new: np.dtype) -> str:
        if old == np.int64 and op in ("Add", "Sub", "Mul"):
            args = [f"(uint64_t)({arg})" for arg in args]  # which may overflow
        return super().apply(op, args, old, new)


def _header(graph: Graph, name: str) -> str:
    """Return the header."""
    upper, codes, texts = name.upper(), graph.codes, _names(graph)
    known = [f" * x[{j}] is a category: a number of {name}_category, or NaN." for j in codes]
    days = [(j, IN_DAYS[kind]) for j, kind in enumerate(graph.kinds) if kind in IN_DAYS]
    known += [f" * x[{j}] is a time: a number of {unit}, or NaN." for j, unit in days]
    sizes = {"N_COLUMNS": graph.n_columns}
    if "labels" in texts:
        sizes["N_LABELS"] = len(texts["labels"])
    functions = [f"double {name}_category(int column, const char *text);"] if codes else []
    for output, tensor in graph.outputs.items():
        size = f"{output.upper()}_SIZE"
        sizes[size] = graph.values[tensor].size
        functions.append(f"/* {ABOUT[output]} Fills {upper}_{size} numbers. */")
        functions.append(f"{_declared(graph, name, output)};")
    lines = [
        f"/* {graph.about}, written by trickless {__version__}.",
        " *",
        f" * A row x has {upper}_N_COLUMNS doubles. A missing value is NaN. Functions fill out,",
        " * and return 0, or 1 for a row that they cannot use. Threads may share them.",
        *known,
        f" */\n#ifndef {upper}_H\n#define {upper}_H",
        *(f"#define {upper}_{key} {size}" for key, size in sizes.items()),
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        *(f"extern const char *const {name}_{kind}[{upper}_N_{kind.upper()}];" for kind in texts),
        *functions,
        "#ifdef __cplusplus\n}\n#endif\n#endif\n",
    ]
    return "\n".join(lines)


def _names(graph: Graph) -> dict[str, list[str]]:
    """Return the names of columns and labels, if they have some."""
    kinds = {"columns": graph.names, "labels": graph.labels}
    return {kind: [*map(str, texts)] for kind, texts in kinds.items() if texts is not None}


def _declared(graph: Graph, name: str, output: str) -> str:
    kind = "double" if graph.values[graph.outputs[output]].dtype.kind == "f" else "int"
    return f"int {name}_{output}(const double *x, {kind} *out)"


def _source(graph: Graph, name: str, header: str) -> str:
    """Return the source code."""
    loops, n = {output: _C(graph, output) for output in graph.outputs}, graph.n_columns
    text = "\n".join(_function(graph, each, name, output) for output, each in loops.items())
    parts = [
        f"/* {graph.about}, written by trickless {__version__}. */",
        f'#include "{header}"',
        *(f"#include <{library}.h>" for library in ("math", "stdint", "stdlib", "string")),
        "",
        *used(_HELPERS, text),
    ]
    for key, values in {k: v for each in loops.values() for k, v in each.arrays.items()}.items():
        literals = [_C.literal(value, values.dtype) for value in values.tolist()]
        parts.append(_table(f"static const {_C.type_of(values.dtype)} {key}", literals))
    for kind, texts in _names(graph).items():
        parts.append(_table(f"const char *const {name}_{kind}", [*map(_string, texts)]))
    if codes := graph.codes:
        known = [(j, utf8("to_c", k), k, c) for j in codes for k, c in codes[j][0].items()]
        entries = [f"{{{j}, {_string(text)}, {code}}}" for j, _, text, code in sorted(known)]
        others = [str(codes[j][1] if j in codes else -1) for j in range(n)]
        parts.append("struct category { int column; const char *text; double code; };")
        parts.append(_table("static const struct category categories", entries))
        parts.append(_table("static const double others", others))
        parts.append(_CATEGORY.replace("$name", name).replace("$n", str(n)))
    return "\n".join([*parts, text])


def _function(graph: Graph, loops: Loops, name: str, output: str) -> str:
    """Return the function of an answer, and the structure of its buffers."""
    declared, work = _declared(graph, name, output), f"struct {output}_work"
    buffers = [(_C.type_of(v.dtype), key, v) for key, v in loops.buffers.items()]
    inner = declared.replace(f"{name}_{output}(", f"{output}_of(").replace(")", f", {work} *w)")
    call = f"  {work} w;\n  return {output}_of(x, out, &w);"
    if sum(v.dtype.itemsize * v.size for _, _, v in buffers) > _STACK:
        call = (
            f"  {work} *w = malloc(sizeof *w);\n  if (!w) return 1;\n"
            f"  int status = {output}_of(x, out, w);\n  free(w);\n  return status;"
        )
    lines = [f"{work} {{", *(f"  {kind} {key}[{v.size}];" for kind, key, v in buffers)]
    lines += [] if buffers else ["  int unused;"]
    lines += [f"}};\n\nstatic {inner} {{", *([] if buffers else ["  (void)w;"])]
    lines += [f"  {kind} *const {key} = w->{key};" for kind, key, _ in buffers]
    if not any("x[" in line for line in loops.lines):
        lines.append("  (void)x;")
    lines += [*loops.lines, f"  return 0;\n}}\n\n{declared} {{", call, "}\n"]
    return "\n".join(lines)


def _table(declared: str, values: list[str]) -> str:
    """Return a constant array."""
    rows = [", ".join(values[i : i + 8]) for i in range(0, len(values), 8)]
    return f"{declared}[{len(values)}] = {{\n  " + ",\n  ".join(rows) + "\n};\n"


def _string(text: str) -> str:
    """Return a string literal of C, whose bytes are UTF-8.

    Bytes other than plain characters are octal, since a hexadecimal code takes any digits after it.
    """
    if "\0" in text:
        raise InvalidValueError(
            f"to_c: the label or name {text!r} holds a null character, at which strings of C end",
            "labels without it",
        )
    plain = {byte for byte in range(0x20, 0x7F) if chr(byte) not in '"\\?'}
    shown = [chr(byte) if byte in plain else f"\\{byte:03o}" for byte in utf8("to_c", text)]
    return f'"{"".join(shown)}"'
