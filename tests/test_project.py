"""What describes the project agrees with itself, wherever it is written."""

import ast
import re
import tomllib
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import trickless
from trickless._errors import MissingLibraryError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_same_everywhere():
    (cited,) = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.M)
    assert cited == trickless.__version__ == PROJECT["version"]


def test_the_citation_names_the_authors_the_licence_and_the_addresses():
    citation = (ROOT / "CITATION.cff").read_text()
    (author,) = PROJECT["authors"]
    assert f"\n  - name: {author['name']}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
    assert f'\nrepository-code: "{PROJECT["urls"]["Source"]}"\n' in citation
    assert f'\nurl: "{PROJECT["urls"]["Documentation"]}"\n' in citation


def test_supported_versions_of_python_are_the_same_everywhere():
    (lowest,) = re.findall(r">=3\.(\d+)", PROJECT["requires-python"])
    classified = [
        name.removeprefix("Programming Language :: Python :: ")
        for name in PROJECT["classifiers"]
        if re.search(r"Python :: 3\.\d+$", name)
    ]
    (tested,) = re.findall(r"^PYTHONS \?= (.*)$", (ROOT / "Makefile").read_text(), flags=re.M)
    assert classified == tested.split()
    assert classified == [f"3.{minor}" for minor in range(int(lowest), int(lowest) + 4)]
    said = f"works with Python {classified[0]} to {classified[-1]}"
    assert said in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", ["numpy", "scipy", "scikit-learn"])
def test_lower_bounds_are_those_of_the_documentation(name):
    (bound,) = (d for d in PROJECT["dependencies"] if d.startswith(f"{name}>="))
    bound = bound.removeprefix(f"{name}>=")
    said = {"numpy": "NumPy", "scipy": "SciPy"}.get(name, name)
    assert f"{said} {bound}" in (ROOT / "README.md").read_text()
    assert f"| {said} | {bound} |" in (ROOT / "CONTRIBUTING.md").read_text()
    assert f"\n{name}=={bound}" in (ROOT / "requirements/oldest.txt").read_text()


def test_commits_are_checked_as_in_continuous_integration():
    hooks = re.findall(r"entry: make (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.M)
    checks = re.findall(
        r'lint\) make (lint.*) VENV="\$venv" ;;$', (ROOT / ".ci/run").read_text(), re.M
    )
    assert checks == [" ".join(hooks)] == ["lint types"]


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_what_benchmarks_and_examples_import_from_the_package_is_there(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("trickless"):
                try:
                    module = import_module(node.module)
                except MissingLibraryError:  # of an extra
                    continue
                missing = [each.name for each in node.names if not hasattr(module, each.name)]
                missing = [name for name in missing if find_spec(f"{node.module}.{name}") is None]
                assert not missing, path


def test_tests_have_short_names_of_their_own():
    names = [
        name
        for file in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), flags=re.M)
    ]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert [name for name in names if len(name) > 70] == []
