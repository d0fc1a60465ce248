"""What README, docs and docstrings say is so."""

import inspect
import re
from pathlib import Path

import numpy as np

import render
import trickless.neurons
import trickless.theory
from api import public_names, public_things

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
CODE = re.compile(r"`([^`]+)`")
PAGES += sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("**/*.md"))


def test_tables_are_those_of_the_stored_results():
    for page in render.PAGES:
        assert (ROOT / page).read_text() == render.rendered(page), page


def test_the_example_of_the_readme_prints_what_it_says(capsys):
    readme = (ROOT / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", readme, flags=re.S)
    (promised,) = re.findall(r"```\n(first patient[^`]*)\n```", readme)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip() == promised


def test_the_checklist_of_the_papers_names_code_and_tests_that_exist():
    page = (ROOT / "docs/explanation/papers.md").read_text()
    names = {name for line in re.findall(r"^\|.*", page, flags=re.M) for name in CODE.findall(line)}
    files = {name for name in names if re.match(r"(tests|benchmarks)/|\w+/", name)}
    assert len(files) > 60
    for name in files:
        path, _, test = name.partition("::")
        folder = ROOT if path.startswith(("tests/", "benchmarks/")) else ROOT / "src" / "trickless"
        assert (folder / path).exists(), name
        assert not test or f"def {test}(" in (folder / path).read_text(), name
    for name in (name for name in names if name.startswith("theory.")):
        assert name.removeprefix("theory.") in trickless.theory.__all__


def test_the_readme_is_short():
    readme = (ROOT / "README.md").read_text()
    assert len(readme.split()) < 670
    tables = re.findall(r"(?:^\|.*\n)+", readme, flags=re.M)
    assert all(table.count("\n") <= 2 + 5 for table in tables)


def test_the_reference_lists_what_is_public():
    pages = "".join(page.read_text() for page in sorted((ROOT / "docs/reference").glob("*.md")))
    listed = set()
    for module, names in re.findall(r"currentmodule:: (\S+)\n(.*?)```", pages, flags=re.S):
        listed |= {f"{module}.{name}" for name in re.findall(r"^   (\w+)$", names, flags=re.M)}
    public = public_names().items()
    assert listed == {f"{module}.{name}" for module, names in public for name in names}


THINGS = list(public_things().values())
METHODS = dict.fromkeys(  # each once, though classes inherit them
    function
    for thing in filter(inspect.isclass, THINGS)
    for name, function in inspect.getmembers(thing, inspect.isfunction)
    if not name.startswith("_") and function.__module__.startswith("trickless")
)


def test_documented_defaults_are_those_of_the_signature():
    for thing in (*THINGS, *METHODS):
        doc = (inspect.getdoc(thing) or "").replace("\\\n", "")
        for name, parameter in inspect.signature(thing).parameters.items():
            if parameter.default is parameter.empty:
                continue
            where = f"{thing.__qualname__}: {name}"
            told = re.findall(rf"^{name} : (.*)$", doc, flags=re.M)
            assert len(told) == 1, where
            if parameter.default is None and "default=" not in told[0]:
                assert told[0].endswith(", optional"), where
            else:
                default = told[0].partition("default=")[2]
                default = eval(default, {"np": np}, vars(trickless.neurons))
                assert repr(default) == repr(parameter.default), where


def stripped(code):
    """Code without docstrings, indentation and empty lines."""
    code = re.sub(r'r?""".*?"""', "", code, flags=re.S)
    return "\n".join(line.strip() for line in code.splitlines() if line.strip())


def test_the_tutorial_runs_and_shows_the_source(capsys):
    page = (ROOT / "docs" / "guides" / "write-a-neuron.md").read_text()
    shown = re.findall(r"<!-- from: (.*) -->\n```python\n(.*?)```", page, flags=re.S)
    assert len(shown) == 1
    for source, code in shown:
        assert stripped(code) in stripped((ROOT / source).read_text())
        page = page.replace(code, "pass\n")
    blocks = re.findall(r"```python\n(.+?)```", page, flags=re.S)
    scope = {}
    for block in blocks:
        exec(compile(block, "write-a-neuron.md", "exec"), scope)
    printed = capsys.readouterr().out
    scores = [float(score) for score in re.findall(r"Classifier (0\.\d+)", printed)]
    assert len(scores) == 3
    assert min(scores) > 0.65


def test_links_lead_somewhere():
    link = re.compile(r"\]\((?!http)([^)#]*)#?([^)]*)")
    for page in PAGES:
        for target, anchor in link.findall((ROOT / page).read_text()):
            file = (ROOT / page).parent / target if target else ROOT / page
            assert file.exists(), f"{page}: {target}"
            assert not anchor or anchor in anchors(file), f"{page}: {target}#{anchor}"


def anchors(page):
    """What headings of a page are linked by."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_target_that_is_named_exists():
    makefiles = "Makefile", "benchmarks/Makefile"
    text = "".join((ROOT / each).read_text() for each in makefiles)
    targets = re.findall(r"^([a-z-]+):", text, flags=re.M)
    for page in (*PAGES, *makefiles):
        named = re.findall(r"(?:`|^#? ?)make ([a-z-]+)", (ROOT / page).read_text(), flags=re.M)
        assert set(named) <= set(targets), page
