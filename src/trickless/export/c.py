"""A model as a file of C99 and its header, without dependencies."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from trickless import __version__
from trickless.errors import InvalidValueError
from trickless.export.describe import describe
from trickless.export.labels import c_string
from trickless.export.program import Column, Function, Program
from trickless.files.whole import as_path, check_writable, written_whole

_TYPES = {"f4": "float", "f8": "double", "u1": "unsigned char", "i1": "signed char"}
_TYPES |= {"i2": "short", "i4": "int"}
_KEYWORDS = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
    "unsigned", "void", "volatile", "while",
}  # fmt: skip
#: Functions of the language of programs that C writes otherwise.
_HELPERS = {
    "single": "static double single(double value) {{ return {} value; }}",
    "whole": "static int whole(double value) {{ return (int)value; }}",
}
#: Numbers in a line, and bytes in a line of strings.
_IN_A_LINE = 8


def to_c(
    model: Any,
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    error_bars: bool = False,
    interval: float | None = None,
) -> None:
    """Write a fitted model as a file of C99 and its header, which need only the C library.

    The functions of the file allocate no memory and change no state, so threads may share them.
    The header says what they take. A function whose ``name`` is "model" is called

    - ``model_predict(x, y)`` of a regressor, which fills ``y``, or ``model_predict(x)`` of a
      classifier, which returns the number of a label in the table ``model_labels``,
    - ``model_decide(x, f)`` of a classifier: decision values,
    - ``model_proba(x, p)``: probabilities, where the model has them,
    - ``model_std(x, s)``: standard deviations of new targets, with ``error_bars``,
    - ``model_interval(x, ends)`` of a regressor: the ends of prediction intervals, with
      ``interval``, or ``model_set(x, has)`` of a classifier: which labels are in a prediction set,
    - ``model_category(column, text)``: the code of a category, if there are columns of categories.

    Parameters
    ----------
    model : estimator
        A model of Kitchen Sinks, Doubly Stochastic or Shrinking Gradient, with Fourier neurons,
        dense units or trees. It may be in a pipeline after a ``StandardScaler``. A
        :class:`~trickless.conformal.SplitConformal` of any of these is written, too.
    path : str or path
        The file to write, such as "model.c". Its header is beside it, such as "model.h".
    name : str or None, default=None
        What the names of functions begin with. None uses the name of the file.
    error_bars : bool, default=False
        Whether to write standard deviations, for :class:`KitchenSinksRegressor`. They take a number
        for each pair of columns of activations, so that files are large.
    interval : float or None, default=None
        The probability, such as 0.9, that an interval holds a new target, or that a set of classes
        holds the true one. Sets are as in ``predict_set``. Intervals exist for regressors whose
        ``predict_interval`` uses errors at rows that were held out, such as
        :class:`DoublyStochasticRegressor` with ``early_stopping=True``, and for
        :class:`~trickless.conformal.SplitConformal`.

    Raises
    ------
    ValueError
        If the model has no description in C, if a label or name cannot be written in C, or if the
        file cannot be written. Then no file is left behind.

    Notes
    -----
    Rows are arrays of doubles. Missing values are NaN. As in Python, they are an error for families
    that take no missing values, and so are infinite numbers. All functions then return a nonzero
    status, or −1 instead of a label. Categories are numbers by ``model_category``. Dates are days
    since 1970. Sums are in double precision. Models with ``dtype="float64"`` therefore answer as in
    Python up to about 1e-12. With "float32", the activations of Python are rounded to single
    precision, and answers differ by about 1e-6 of their spread.

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
    >>> print(next(line for line in header.splitlines() if "predict" in line))
    int progression_predict(const double *x, double *y);
    """
    path = as_path("to_c", path)
    if path.suffix != ".c":
        raise InvalidValueError(f"to_c: path={str(path)!r} does not end in .c", "such as 'model.c'")
    if re.search(r'["\\\x00-\x1f\x7f\ud800-\udfff]', path.name):
        raise InvalidValueError(
            f"to_c: path={str(path)!r} has a name that C cannot include", "such as 'model.c'"
        )
    name, header = _checked_name(name, path), path.with_suffix(".h")
    program = describe("to_c", model, error_bars, interval)
    source, declared = _source(program, name, header.name), _header(program, name)
    for each in (path, header):
        check_writable("to_c", each)
    with written_whole("to_c", header) as first, written_whole("to_c", path) as second:
        first.write(declared.encode("ascii"))
        first.flush()
        os.fsync(first.fileno())  # if the disk is full, it shows before either file is in its place
        second.write(source.encode())


def _checked_name(name: str | None, path: Path) -> str:
    """Return what names of functions begin with, by default the name of the file."""
    if name is None:
        name = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
        return name if re.match(r"[A-Za-z]", name) and name not in _KEYWORDS else f"model_{name}"
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name, flags=re.ASCII) or name in _KEYWORDS:
        raise InvalidValueError(
            f"to_c: name={name!r} cannot begin the name of a function in C",
            "letters of ASCII, digits and underscores, such as name='model'",
        )
    return name


def _header(program: Program, name: str) -> str:
    """Return the header."""
    upper = name.upper()
    guard, n_labels = f"{upper}_H", 0 if program.labels is None else len(program.labels)
    counts = {"N_FEATURES": len(program.columns), "N_OUTPUTS": program.n_outputs}
    counts |= {"N_LABELS": n_labels} if n_labels else {}
    counts |= {"N_ENDS": program.n_ends} if program.n_ends and not n_labels else {}
    lines = [
        f"/* {_comment(program)}",
        " *",
        f" * A row x has {upper}_N_FEATURES doubles. A missing value is NaN. Functions return 0,",
        " * or a nonzero number for a row that they cannot use. Threads may share them.",
        *_about_columns(program, name),
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        *(f"#define {upper}_{key} {value}" for key, value in counts.items()),
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
    ]
    for about, declaration in _declarations(program, name):
        lines += [f"/* {about} */", f"{declaration};", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "#endif", ""]
    return "\n".join(lines)


def _comment(program: Program) -> str:
    return f"{program.about}. Written by trickless {__version__}."


def _about_columns(program: Program, name: str) -> list[str]:
    """Return what is to know of columns that are not plain numbers."""
    found = []
    for j, column in enumerate(program.columns):
        if column.categories is not None:
            found.append(f" * x[{j}] is a category: a number of {name}_category, or NaN.")
        elif column.unit is not None:
            found.append(f" * x[{j}] is a time, in {column.unit}.")
    return [" *", *found] if found else []


def _declarations(program: Program, name: str) -> list[tuple[str, str]]:
    """Return the public functions and tables, with what they are."""
    upper, found = name.upper(), []
    if program.columns[0].name is not None:
        found.append(
            (
                "Names of the columns.",
                f"extern const char *const {name}_features[{upper}_N_FEATURES]",
            )
        )
    if any(column.categories is not None for column in program.columns):
        found.append(
            (
                "The number of a category, or -1 for one that is new.",
                f"int {name}_category(int column, const char *text)",
            )
        )
    if program.labels is None:
        about = f"Predict the {upper}_N_OUTPUTS numbers of y."
        found.append((about, f"int {name}_predict(const double *x, double *y)"))
    else:
        found.append(
            ("The labels.", f"extern const char *const {name}_labels[{upper}_N_LABELS]"),
        )
        about = f"Fill f with {upper}_N_OUTPUTS decision values."
        found.append((about, f"int {name}_decide(const double *x, double *f)"))
        if program.has_sets:
            about = f"Fill has with 1 for each of {upper}_N_LABELS labels of the row, else 0."
            found.append((about, f"int {name}_predict(const double *x, int *has)"))
        else:
            about = "Predict the number of a label, or -1 for a row that cannot be used."
            found.append((about, f"int {name}_predict(const double *x)"))
    if program.has("chances"):
        about = f"Fill p with the probabilities of {upper}_N_LABELS labels."
        found.append((about, f"int {name}_proba(const double *x, double *p)"))
    if program.has("deviate"):
        about = f"Fill s with {upper}_N_OUTPUTS standard deviations of new targets."
        found.append((about, f"int {name}_std(const double *x, double *s)"))
    if program.has("surround") and program.labels is not None:
        about = f"Fill has with 1 for each of {upper}_N_LABELS labels in the set of a row, else 0."
        found.append((about, f"int {name}_set(const double *x, int *has)"))
    elif program.has("surround"):
        about = f"Fill ends with the lower and the upper end of each interval, {upper}_N_ENDS."
        found.append((about, f"int {name}_interval(const double *x, double *ends)"))
    return found


def _source(program: Program, name: str, header: str) -> str:
    """Return the source code."""
    has_categories = any(column.categories is not None for column in program.columns)
    lines = [f"/* {_comment(program)} */", f'#include "{header}"', "#include <math.h>"]
    lines += ["#include <string.h>"] if has_categories else []
    cast = "(double)(float)" if program.single else ""
    for helper, text in _HELPERS.items():
        if program.calls(helper):
            lines.append(text.format(cast) if helper == "single" else text.format())
    lines.append("")
    lines += [_array(key, values) for key, values in program.arrays.items()]
    lines += [_function(function) for function in program.functions]
    upper = name.upper()
    if program.columns[0].name is not None:
        names = [str(column.name) for column in program.columns]
        lines.append(_strings(f"{name}_features", f"{upper}_N_FEATURES", names))
    if has_categories:
        lines.append(_categories(program.columns, name))
    lines.append(_answers(program, name))
    return "\n".join(lines)


def _answers(program: Program, name: str) -> str:
    """Return the public functions, which call those of the program."""
    upper, row = name.upper(), "(const double *x, double *{})"
    wrap = "int {}{}{} {{ return {}(x, {}); }}\n"
    parts = []
    if program.labels is None:
        parts.append(wrap.format(name, "_predict", row.format("y"), "answer", "y"))
    else:
        labels = [str(label) for label in program.labels.tolist()]
        parts.append(_strings(f"{name}_labels", f"{upper}_N_LABELS", labels))
        parts.append(wrap.format(name, "_decide", row.format("f"), "decide", "f"))
        if program.has_sets:
            parts.append(_flags(name, "predict", "answer"))
        else:
            parts.append(
                f"int {name}_predict(const double *x) {{\n  double y[1];\n"
                "  return answer(x, y) ? -1 : (int)y[0];\n}\n"
            )
    for function, public, filled in (
        ("chances", "_proba", "p"),
        ("deviate", "_std", "s"),
        ("surround", "_interval", "ends"),
    ):
        if program.has(function) and (program.labels is None or public != "_interval"):
            parts.append(wrap.format(name, public, row.format(filled), function, filled))
    if program.has("surround") and program.labels is not None:
        parts.append(_flags(name, "set", "surround"))
    return "\n".join(parts)


def _flags(name: str, public: str, function: str) -> str:
    """Return a public function that fills 1 or 0 for each label."""
    n = f"{name.upper()}_N_LABELS"
    return (
        f"int {name}_{public}(const double *x, int *has) {{\n"
        f"  double y[{n}];\n  if ({function}(x, y)) return 1;\n"
        f"  for (int o = 0; o < {n}; o++) has[o] = y[o] > 0.0;\n  return 0;\n}}\n"
    )


def _function(function: Function) -> str:
    read, filled = function.arguments
    body = "\n".join(f"  {line}" for line in function.body.splitlines() if line.strip())
    return f"static int {function.name}(const double *{read}, double *{filled}) {{\n{body}\n}}\n"


def _array(name: str, values: np.ndarray) -> str:
    """Return a constant array."""
    kind = _TYPES[values.dtype.str[1:]]
    texts = [_number(value, kind) for value in values.tolist()]
    rows = [", ".join(texts[i : i + _IN_A_LINE]) for i in range(0, len(texts), _IN_A_LINE)]
    joined = ",\n  ".join(rows)
    return f"static const {kind} {name}[{len(values)}] = {{\n  {joined}\n}};\n"


def _number(value: float | int, kind: str) -> str:
    """Return a number in as many digits as give it exactly."""
    if kind == "double":
        return repr(value)
    if kind != "float":
        return str(value)
    text = f"{value:.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _strings(name: str, size: str, texts: list[str]) -> str:
    literals = ",\n  ".join(c_string("to_c", text) for text in texts)
    return f"const char *const {name}[{size}] = {{\n  {literals}\n}};\n"


def _categories(columns: list[Column], name: str) -> str:
    """Return the table of categories, and the function that looks them up."""
    counts = [len(column.categories or ()) for column in columns]
    starts = np.cumsum([0, *counts])
    texts = [text for column in columns for text in column.categories or ()] or [""]
    return "\n".join(
        [
            "static " + _strings("category", str(len(texts)), texts),
            _array("category_start", starts.astype(np.int32)),
            f"int {name}_category(int column, const char *text) {{",
            f"  if (column < 0 || column >= {len(columns)}) return -1;",
            "  for (int i = category_start[column]; i < category_start[column + 1]; i++) {",
            "    if (strcmp(category[i], text) == 0) return i - category_start[column];",
            "  }",
            "  return -1;",
            "}",
            "",
        ]
    )
