"""What warnings and errors of learners say in the shell, where options replace parameters."""

from __future__ import annotations

import re
import shlex
from ast import literal_eval
from contextlib import AbstractContextManager

from trickless._readers.errors import types_option
from trickless._readers.table import Table, number_options
from trickless._rows.signs import Signs
from trickless._rules import reworded

_COLUMN = re.compile(r"""column ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?: of X)?""")
_READ_CSV = re.compile(r"read it as numbers, with pandas\.read_csv\((.*?)\); .* astype\(.*?\)")
#: Words of Python, and those of the shell. {drop}, {number} and {date} are options for the column.
_WORDS = {
    r"(?<=Remedy: )leave it out(?=, or derive)|leave the column out": "{drop}",
    r"convert it with pandas\.to_numeric or .* numbers or dates; or begin .* its values": (
        "{number} if it holds numbers, or {date} if it holds dates such as 2026-01-31"
    ),
    r"; or pass \[numpy\.stack.* holds a series": "",
    r", for example with X\[.*\]\.str\.strip\(\)": "",
    r"neurons=Tabular\(\), or .*, text and dates\. Or encode it, .* in a pipeline": (
        "--neurons tabular, which takes missing values, text and dates"
    ),
    r"standardise X \(StandardScaler\)": "standardise the column",
    r"dtype='float64', if the learner has this parameter": "--learner boosted-trees",
    r"StandardScaler before the learner, or .* for each column": "--neurons tabular",
    r"neurons='auto', which .* in a KitchenSinks model": "--learner kitchen-sinks --neurons auto",
    r"fit\(X, y, groups=\.\.\.\)": "in Python, fit(X, y, groups=...)",
    r"\bn_(?:neurons|trees)=": "--n-neurons ",
    r"\bneurons=": "--neurons ",
    r"\bconfidence=": "--interval ",
}


def in_shell(table: Table | None = None) -> AbstractContextManager[None]:
    """Let warnings and errors speak of options: those of ``fit``, if it reads this table."""

    def change(text: str) -> str:
        found = _COLUMN.search(text)
        name = str(literal_eval(found[1])) if found else "NAME"
        options = {
            "drop": f"{'' if table else 'fit again with '}--drop {shlex.quote(name)}",
            "number": types_option(name, "number"),
            "date": types_option(name, "date"),
        }
        cause, remedy, rest = text.partition("Remedy: ")
        if table is not None and (signs := _READ_CSV.search(rest)):
            given = re.findall(r"(\w+)=('.'|\".\")", signs[1])
            read = Signs(**{key: literal_eval(sign) for key, sign in given})
            how = f"pass {number_options(table, name, read)} or, if they are names, "
            rest = rest.replace(signs[0], how + types_option(name, "category"))
        text = _COLUMN.sub(r"column \1", cause) + remedy + rest
        for python, shell in _WORDS.items():
            text = shell.format(**options).join(re.split(python, text))
        return text

    return reworded(change)
