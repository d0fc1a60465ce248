"""Examples have the form of the gallery, and their links lead somewhere.

``make docs`` runs all of them, and stops at the first that fails.
"""

import ast
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))
TUTORIAL = sorted((ROOT / "examples" / "tutorial").glob("*.py"))
PAGES = {path.stem for path in (ROOT / "docs").glob("*/*.md")}


@pytest.mark.parametrize("path", GALLERY + TUTORIAL, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_text_and_a_picture(path):
    text = path.read_text()
    title, line, *rest = ast.get_docstring(ast.parse(text)).splitlines()
    assert len(line) == len(title)
    assert set(line) == {"="}
    assert len(" ".join(rest).split()) >= 10
    assert text.count("\n# %%\n") >= 2
    if path in GALLERY:
        assert 'plt.style.use("trickless.style")' in text
        assert re.search(r"^# What to try next\n# -+\n", text, flags=re.M)


@pytest.mark.parametrize("path", GALLERY + TUTORIAL, ids=lambda path: path.stem)
def test_links_of_examples_lead_somewhere(path):
    text = path.read_text()
    for page in re.findall(r":doc:`(?:[^`<]*<)?/([^`>]+)>?`", text):
        folder, _, name = page.partition("/")
        source = ROOT / "examples" / folder / f"{name}.py"
        assert source.exists() or name == "index" or (ROOT / "docs" / f"{page}.md").exists(), page
    for name in re.findall(r":ref:`(?:[^`<]*<)?sphx_glr_(?:gallery|tutorial)_(\w+)\.py>?`", text):
        assert name in {other.stem for other in GALLERY + TUTORIAL}


def test_the_gallery_and_the_tutorial_have_enough_examples():
    assert len(GALLERY) >= 20
    assert len(TUTORIAL) == 8


def test_the_simulated_states_are_those_of_the_circuit():
    """Hadamards and phases as matrices, for two inputs."""
    text = (ROOT / "examples" / "gallery" / "quantum_kernel.py").read_text()
    scope, before = {}, text.partition("# Learn which digits are odd\n")[0]
    with mpl.rc_context():
        exec(compile(before, "quantum_kernel.py", "exec"), scope)
    n, hadamard, z = scope["QUBITS"], np.array([[1, 1], [1, -1]]) / np.sqrt(2), np.diag([1.0, -1.0])

    def on(gates):
        whole = np.eye(1)
        for q in reversed(range(n)):  # qubit 0 is the lowest bit
            whole = np.kron(whole, gates.get(q, np.eye(2)))
        return whole

    for x in np.random.default_rng(0).uniform(0, 1, (2, n)):
        phase = sum(x[i] * np.diag(on({i: z})) for i in range(n))
        phase = phase + sum(
            x[i] * x[j] * np.diag(on({i: z, j: z})) for i in range(n) for j in range(i)
        )
        U, all_h = np.diag(np.exp(1j * phase)), on(dict.fromkeys(range(n), hadamard))
        state = U @ all_h @ U @ all_h @ np.eye(2**n)[0]
        np.testing.assert_allclose(scope["states"](x[None])[0], state, atol=1e-12)
