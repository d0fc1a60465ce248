"""What describes the project agrees with itself, wherever it is written."""

import re
import tomllib
from pathlib import Path

import pytest

import trickless

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
    checks = re.findall(r'^make (lint.*) VENV="\$venv"$', (ROOT / ".ci/run").read_text(), re.M)
    assert checks == [" ".join(hooks)] == ["lint types"]
