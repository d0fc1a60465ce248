"""The code of a page runs, and prints what the page says."""

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "guides"
#: Guides whose code needs a library that most tests do without; other suites run them.
ELSEWHERE = {"dask", "from-river", "gpu", "onnx"}


def run(page, capsys):
    """Run the blocks of a page one after the other, except those that show a file of the project.

    A comment after a ``print`` is what it prints, if it has numbers or truth values. Its numbers
    may be off by 5 %, as on processors that round otherwise.
    """
    scope = {"__name__": "guide"}
    text = re.sub(r"<!-- from: .* -->\n```python\n.*?```", "", page.read_text(), flags=re.S)
    for code in re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S):
        for statement in ast.parse(code).body:
            exec(compile(ast.Module([statement], []), page.name, "exec"), scope)
            printed = capsys.readouterr().out
            said = code.splitlines()[statement.end_lineno - 1].partition("  # ")[2]
            said = re.sub(r"^(True|False): .*", r"\1", said)
            if ast.unparse(statement).startswith("print(") and re.search(r"\d|True|False", said):
                (words, numbers), (same, found) = map(words_and_numbers, (said, printed))
                assert same == words, said
                assert found == pytest.approx(numbers, rel=0.05, abs=0.02), said


def words_and_numbers(text):
    """The text without its numbers, and the numbers."""
    number = r"-?(?:\d[\d,]*)?\.?\d+(?:e[+-]?\d+)?"
    found = [float(part.replace(",", "")) for part in re.findall(number, text)]
    return " ".join(re.sub(number, "#", text).split()), found
