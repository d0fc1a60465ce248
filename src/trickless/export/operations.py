"""Operations on each element: their names in the array API, and their code in C and JavaScript."""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """The name of a function of the array API, and templates of its code in C and JavaScript.

    In a template, ``{f}`` is "f" for single precision. The result of the function is a Boolean, or
    it has the type of the first argument.
    """

    name: str
    c: str
    js: str
    is_boolean: bool = False


def _same(name: str, code: str, is_boolean: bool = False) -> Operation:
    return Operation(name, code, code, is_boolean)


def _function(name: str, in_c: str = "", in_js: str = "") -> Operation:
    in_js = in_js or f"Math.{name}"
    return Operation(name, f"{in_c or name}{{f}}({{0}})", f"{in_js}({{0}})")


#: The operations by their names in ONNX.
OPERATIONS = {
    **{name.title(): _function(name)
       for name in ("sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil")},
    "Abs": _function("abs", "fabs"),
    "Round": _function("round", "rint", "even"),
    "Erf": _function("erf", in_js="erf"),
    "Sign": Operation("sign", "sign({0})", "Math.sign({0})"),
    "Max": Operation("maximum", "larger({0}, {1})", "Math.max({0}, {1})"),
    "Min": Operation("minimum", "smaller({0}, {1})", "Math.min({0}, {1})"),
    "Pow": Operation("power", "pow{f}({0}, {1})", "Math.pow({0}, {1})"),
    "Mod": _same("modulo", "modulo({0}, {1})"),
    "Neg": _same("negative", "(-{0})"),
    "Add": _same("add", "({0} + {1})"),
    "Sub": _same("subtract", "({0} - {1})"),
    "Mul": _same("multiply", "({0} * {1})"),
    "Div": _same("quotient", "({0} / {1})"),
    "BitwiseXor": _same("bitwise_xor", "({0} ^ {1})"),
    "BitShift": _same("shift", "({0} >> {1})"),
    "Where": _same("where", "({0} ? {1} : {2})"),
    "IsNaN": Operation("isnan", "isnan({0})", "Number.isNaN({0})", True),
    "Not": _same("logical_not", "(!{0})", True),
    "And": _same("logical_and", "({0} && {1})", True),
    "Or": _same("logical_or", "({0} || {1})", True),
    "Equal": _same("equal", "({0} == {1})", True),
    "Less": _same("less", "({0} < {1})", True),
    "LessOrEqual": _same("less_equal", "({0} <= {1})", True),
    "Greater": _same("greater", "({0} > {1})", True),
    "GreaterOrEqual": _same("greater_equal", "({0} >= {1})", True),
}  # fmt: skip
