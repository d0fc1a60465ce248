"""Two Dask workers against one, and the bytes between them.

Workers are processes with one thread, BLAS included. A cluster of one and a cluster of two stand
side by side and take turns, ``REPEATS`` times; medians are stored. Rows are random numbers, made
and kept by the workers.

- Kitchen Sinks: seconds of a fit, of one to half of the rows and of the solve, and the bytes that
  workers say they sent.
- What two workers can do on this machine, whatever Dask does: bare Gram matrices and activations,
  on one of the two workers and on both at once.

Run as ``make bench-dask``; writes ``benchmarks/results/dask_scaling.json`` in about five minutes on
two idle cores. With ``--small`` it takes a minute, on sizes that say little.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait

from circumstances import circumstances
from trickless import KitchenSinksRegressor
from trickless.dask import fit
from trickless.neurons import Gaussian

PATH = Path(__file__).parent / "results" / "dask_scaling.json"
SMALL = "--small" in sys.argv[1:]
REPEATS = 2 if SMALL else 5
WORKERS = (1, 2)
FEATURES = 100
#: Kitchen Sinks: rows, rows a chunk, and neurons of two columns each.
SINKS_ROWS, CHUNK, SINKS_NEURONS = (20_000, 2500, 250) if SMALL else (200_000, 10_000, 500)
#: Doubly Stochastic: rows, rows and neurons a step, and steps of a short and a long fit.
ROWS, BATCH, A_STEP = (16_384, 4096, 128) if SMALL else (131_072, 32_768, 512)
STEPS = (4, 12) if SMALL else (4, 16)
#: Products in a row whose median counts.
BARE_REPEATS = 3 if SMALL else 15
#: What tasks are called that bring or send rows of the data.
ROWS_OF = ("normal-", "sin-", "add-", "mul-", "getitem-", "_take-", "at-")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


def rows(n: int, chunk: int, d: int = FEATURES) -> tuple[Any, Any]:
    """Random rows and targets, on the workers of the current client."""
    X = da.random.default_rng(0).normal(size=(n, d), chunks=(chunk, d))
    X, y = X.persist(), (da.sin(X[:, 0]) + X[:, 1] * X[:, 2]).persist()
    wait([X, y])
    return X, y


def sinks() -> KitchenSinksRegressor:
    return KitchenSinksRegressor(Gaussian(10.0), SINKS_NEURONS, random_state=0)


def sent(client: Client, since: float) -> dict[str, int]:
    """Bytes that workers have logged as sent, to each other and to the client: rows, and others."""

    def count(dask_worker: Any) -> tuple[int, int]:
        rows = others = 0
        for log in dask_worker.transfer_outgoing_log:
            for key, size in log["keys"].items() if log["start"] > since else ():
                name = key[0] if isinstance(key, tuple) else key
                if name.startswith(ROWS_OF):
                    rows += size
                else:
                    others += size
        return rows, others

    rows, others = map(sum, zip(*client.run(count).values(), strict=True))
    return {"rows_sent": rows, "others_sent": others}


def on_the_wire() -> int:
    """Bytes that have gone through the network interface of a local cluster."""
    return psutil.net_io_counters(pernic=True)["lo"].bytes_sent


def timed(client: Client, model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Seconds of a fit, and bytes sent meanwhile."""
    since, wire, start = time.time(), on_the_wire(), time.perf_counter()
    fit(model, X, y)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "wire": on_the_wire() - wire, **sent(client, since)}


def bare() -> dict[str, float]:
    """Seconds of bare arithmetic as in both learners, without Dask: least of some."""
    rng = np.random.default_rng(0)
    Z, W = rng.standard_normal((5000, 1000)), rng.standard_normal((FEATURES, 500)).astype("float32")
    X = rng.standard_normal((20_000, FEATURES)).astype("float32")
    actions = {"Gram matrix": lambda: Z.T @ Z, "activations": lambda: np.cos(X @ W)}
    found = {}
    for name, action in actions.items():
        times = []
        for _ in range(BARE_REPEATS):
            start = time.perf_counter()
            action()
            times.append(time.perf_counter() - start)
        found[name] = statistics.median(times)
    return found


def machine(client: Client) -> dict[str, float]:
    """How many times the bare arithmetic of one worker two of them do at once."""
    workers = list(client.nthreads())
    runs = []
    for some in [workers[:1], workers] * REPEATS:
        futures = [client.submit(bare, workers=[worker], pure=False) for worker in some]
        each = client.gather(futures)
        runs.append({name: len(some) / max(one[name] for one in each) for name in each[0]})
    return {
        name: statistics.median(run[name] for run in runs[1::2])
        / statistics.median(run[name] for run in runs[::2])
        for name in runs[0]
    }


def medians(runs: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def compare() -> dict[str, Any]:
    """All that is measured on the clusters of one and two workers."""
    clusters = [
        LocalCluster(n_workers=n, threads_per_worker=1, env=ONE_THREAD, dashboard_address=":0")
        for n in WORKERS
    ]
    clients = [Client(cluster, set_as_default=False) for cluster in clusters]
    jobs = {
        "half": (sinks(), (SINKS_ROWS // 2, CHUNK)),
        "sinks": (sinks(), (SINKS_ROWS, CHUNK)),
    }
    runs: dict[str, dict[int, list]] = {name: {n: [] for n in WORKERS} for name in jobs}
    for name, (model, size) in jobs.items():
        data = []
        for client in clients:
            with client.as_current():
                data.append(rows(*size))
                fit(model, *data[-1])  # once before the clock: imports, and neurons' first draw
        for _ in range(REPEATS):
            for n, client, (X, y) in zip(WORKERS, clients, data, strict=True):
                with client.as_current():
                    runs[name][n].append(timed(client, model, X, y))
                print(name, n, runs[name][n][-1], flush=True)
        if name == "sinks":
            summed = model.statistics_
            start = time.perf_counter()
            model._sums_.take(summed)  # solves anew when it is next asked
            _ = model.network_
            solve = time.perf_counter() - start
        del data
    start = time.perf_counter()
    summed.merge(summed)
    merge = time.perf_counter() - start
    possible = machine(clients[-1])
    print("possible", possible, flush=True)
    for client, cluster in zip(clients, clusters, strict=True):
        client.close()
        cluster.close()
    middle = {name: {n: medians(each[n]) for n in WORKERS} for name, each in runs.items()}
    return {
        "runs": runs,
        "possible": possible,
        "sinks": {
            "rows": SINKS_ROWS,
            "columns": 2 * SINKS_NEURONS,
            "medians": middle["sinks"],
            "half": middle["half"],
            "speed_up": middle["sinks"][1]["seconds"] / middle["sinks"][2]["seconds"],
            "solve_seconds": solve,
            "merge_seconds": merge,
            "statistics_bytes": sum(np.asarray(v).nbytes for v in vars(summed).values()),
            "row_bytes": 8 * (FEATURES + 1),
        },
    }


def main() -> None:
    result = {"circumstances": circumstances(), "small": SMALL, "repeats": REPEATS}
    for package in ("dask", "distributed"):
        result["circumstances"]["packages"][package] = version(package)
    result |= compare()
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
