"""Count the small errors in the core that the tests notice.

``make mutants`` draws mutants of six files: at places drawn at random, an operator, a number, a
comparison, a decorator or the like is replaced by another, as Cosmic Ray defines them. Each one is
put into a copy of the project, and the tests of its file run there until the first that fails. A
mutant that fails one, or runs four times as long as the tests need, is killed. Those in annotations
are left out, which Python does not evaluate.

Writes ``benchmarks/results/mutants.json``, with every survivor.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from queue import Queue
from typing import Any

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from circumstances import circumstances

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "trickless"
RESULT = ROOT / "benchmarks" / "results" / "mutants.json"
#: Of the longer test files, what notices errors in any learner.
COMMON = (
    "test_docs.py::test_documented_defaults_are_those_of_the_signature "
    "test_laws.py::test_a_progress_bar_is_shown_on_request learners/test_numerics.py"
)
#: What runs for the mutants of a file, the soonest to fail first.
TESTS = {
    "functions/expansion.py": (
        "functions/test_expansion.py functions/test_pilot.py functions/test_certificate.py "
        "learners/test_shrinking_gradient.py"
    ),
    "functions/stream.py": "functions/test_stream.py learners/test_doubly_stochastic.py",
    **dict.fromkeys(
        ("solvers/losses.py", "solvers/class_losses.py", "solvers/number_losses.py"),
        "solvers/test_losses.py learners/test_doubly_stochastic.py learners/test_numerics.py",
    ),
    "learners/kitchen_sinks.py": (
        "learners/test_kitchen_sinks.py solvers/least_squares/test_passes.py "
        f"selection/test_halving.py {COMMON}"
    ),
    "learners/doubly_stochastic.py": f"learners/test_doubly_stochastic.py {COMMON}",
    "learners/shrinking_gradient.py": (
        "learners/test_shrinking_gradient.py solvers/rounds/test_rounds.py "
        f"functions/test_certificate.py solvers/rounds/test_regret.py {COMMON}"
    ),
}
#: Where something begins and ends: lines and columns.
Place = tuple[tuple[int, int], tuple[int, int]]
#: A mutant may take so many times as long as no mutant at all.
PATIENCE = 4


def annotations(source: str) -> list[Place]:
    """Where the annotations of a file begin and end."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if part is not None:
                begin = part.lineno, part.col_offset
                found.append((begin, (part.end_lineno, part.end_col_offset)))
    return found


def mutants(source: str) -> dict[Place, list[tuple[str, Any, int]]]:
    """Name, operator and number of every mutant, by its place, of which none is an annotation."""
    idle, tree = annotations(source), get_ast(source)
    found: dict[Place, list[tuple[str, Any, int]]] = {}
    for name in sorted(plugins.operator_names()):
        operator_class = plugins.get_operator(name)
        if operator_class.arguments():
            continue  # needs a configuration
        operator = operator_class()
        places = (p for node in ast_nodes(tree) for p in operator.mutation_positions(node))
        for number, (begin, end) in enumerate(places):
            if not any(first <= begin and end <= last for first, last in idle):
                found.setdefault((begin, end), []).append((name, operator, number))
    return found


def copy(project: Path) -> Path:
    """A copy of the project that may be broken."""
    for name in ("src", "tests", "examples", "benchmarks", "docs"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "conftest.py", "README.md", "CONTRIBUTING.md", "SECURITY.md"):
        shutil.copy(ROOT / name, project / name)
    return project


def passes(project: Path, name: str, limit: float | None) -> bool:
    """Whether the tests of a file pass in a copy of the project within so many seconds."""
    files = [f"tests/{test}" for test in TESTS[name].split()]
    options = ["-x", "-q", "-p", "no:cacheprovider"]
    environment = os.environ | {
        "PYTHONPATH": str(project / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", *options, *files]
    try:
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def examine(name: str, sample: int, seed: int, copies: Queue[Path]) -> dict[str, Any]:
    """Draw mutants of a file, and see which the tests notice."""
    source = (PACKAGE / name).read_text()
    every, rng = mutants(source), random.Random(seed)
    drawn = [rng.choice(every[p]) for p in rng.sample(list(every), min(sample, len(every)))]
    project = copies.get()
    start = time.perf_counter()
    if not passes(project, name, None):
        raise RuntimeError(f"the tests of {name} fail without a mutant: {TESTS[name]}")
    copies.put(project)
    limit = PATIENCE * (time.perf_counter() - start)

    def survives(mutant: tuple[str, Any, int]) -> str | None:
        label, operator, number = mutant
        changed = mutate_code(source, operator, number)
        project = copies.get()
        file = project / "src" / "trickless" / name
        try:
            file.write_text(changed)
            alive = passes(project, name, limit)
        finally:
            file.write_text(source)
            copies.put(project)
        if not alive:
            return None
        lines = unified_diff(source.splitlines(), changed.splitlines(), n=0, lineterm="")
        diff = "\n".join(list(lines)[2:])
        print(f"{name}: survived {label}", diff, sep="\n", flush=True)
        return diff

    with ThreadPoolExecutor(copies.maxsize) as pool:
        alive = [diff for diff in pool.map(survives, drawn) if diff is not None]
    killed = 1 - len(alive) / len(drawn)
    print(
        f"{name}: {killed:.1%} of {len(drawn)} mutants at as many of {len(every)} places killed",
        flush=True,
    )
    return {
        "file": name,
        "places": len(every),
        "drawn": len(drawn),
        "killed": len(drawn) - len(alive),
        "survivors": alive,
        "tests": TESTS[name],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", default=list(TESTS), help="of src/trickless")
    parser.add_argument("--sample", type=int, default=30, help="mutants of a file")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    copies: Queue[Path] = Queue(os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(copies.maxsize):
            copies.put(copy(Path(folder) / str(number)))
        results = [examine(name, options.sample, options.seed, copies) for name in options.files]
    drawn, killed = (sum(result[key] for result in results) for key in ("drawn", "killed"))
    print(f"{killed / drawn:.1%} of {drawn} mutants killed")
    if options.files == list(TESTS):
        report = {"circumstances": circumstances(), "seed": options.seed, "files": results}
        RESULT.write_text(json.dumps(report, indent=1) + "\n")
        print(f"wrote {RESULT}")


if __name__ == "__main__":
    main()
