"""What the import of a learner takes beside the estimators that do the same in scikit-learn.

Each import has a fresh process; they take turns, and the medians of ``REPEATS`` turns count, after
one that does not, in which Python writes the bytecode that an installation comes with. scikit-learn
imports pandas where it is installed, which makes its own import slower and the ratio smaller; so
all are imported with pandas hidden as well.

Run as ``make bench-growth``; writes ``benchmarks/results/import_time.json`` in about two minutes.
With ``--quick`` two turns count, and the file says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from circumstances import circumstances

PATH = Path(__file__).parent / "results" / "import_time.json"
REPEATS, AIM = 11, 1.1
COUNTERPART = (
    "from sklearn.kernel_approximation import RBFSampler; from sklearn.linear_model import Ridge"
)
OURS = "from trickless import KitchenSinksRegressor"
IMPORTS = ("import numpy", "import sklearn", COUNTERPART, "import trickless", OURS)
HIDE = "import sys; sys.modules['pandas'] = None; "


def seconds_of(statements: list[str], repeats: int) -> dict[str, float]:
    """Median seconds of processes that run a statement each, less those of one that runs none."""
    statements = ["pass", *statements]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {statement: [] for statement in statements}
    for _ in range(repeats + 1):
        for statement in statements:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
            times[statement].append(time.perf_counter() - start)
    medians = {statement: float(np.median(values[1:])) for statement, values in times.items()}
    return {statement: medians[statement] - medians["pass"] for statement in statements[1:]}


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    result: dict[str, Any] = {"circumstances": circumstances(), "aim": AIM, "quick": quick}
    result["runs"] = []
    for hidden in (False, True) if find_spec("pandas") else (False,):
        prefix = HIDE if hidden else ""
        seconds = seconds_of([prefix + statement for statement in IMPORTS], 2 if quick else REPEATS)
        seconds = {statement.removeprefix(prefix): s for statement, s in seconds.items()}
        ratio = seconds[OURS] / seconds[COUNTERPART]
        pandas = bool(find_spec("pandas")) and not hidden
        result["runs"].append({"pandas": pandas, "seconds": seconds, "ratio": ratio})
        print(json.dumps(result["runs"][-1]), flush=True)
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
