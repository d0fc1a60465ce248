"""What messages of learners say in the shell: each pattern is of a message that there is."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import trickless
from trickless._cli import words

ROOT = Path(trickless.__file__).parent


@cache
def texts():
    """Strings of modules that raise or warn, but docstrings; "X" stands for what is filled in."""
    found = []
    for path in ROOT.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if path.name != "words.py" and re.search(r"Remedy|Invalid\w+Error|\bwarn\(", source):
            tree = ast.parse(source)
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.JoinedStr):
                    parts = (getattr(part, "value", "X") for part in node.values)
                    found.append("".join(part if isinstance(part, str) else "X" for part in parts))
                elif isinstance(node, ast.Constant) and id(node) not in docs:
                    found.append(str(node.value))
    return found


@pytest.mark.parametrize("pattern", [*words._WORDS, words._READ_CSV.pattern])
def test_a_pattern_of_the_shell_is_of_a_message_that_there_is(pattern):
    assert any(re.search(pattern, f"Remedy: {text}") for text in texts())
