"""What travels between workers, and what happens when one of them is killed."""

import os
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import wait

from trickless import KitchenSinksRegressor
from trickless.dask import fit
from trickless.neurons import Gaussian


def data(client, n, d):
    """Rows that are on the workers, and in memory here."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.sin(X[:, 0]) + X[:, 1]
    there = dask.persist(da.from_array(X, (n // 12, d)), da.from_array(y, n // 12))
    wait(there)
    return X, y, *there


def sent(client, since):
    """Bytes of all but rows that workers have logged as sent, to each other and to the client."""

    def count(dask_worker):
        logs = [log["keys"] for log in dask_worker.transfer_outgoing_log if log["start"] > since]
        rows = "array", "_take", "picked"
        return sum(
            size
            for keys in logs
            for key, size in keys.items()
            if not (key[0] if isinstance(key, tuple) else key).startswith(rows)
        )

    return sum(client.run(count).values())


class Killer(threading.Thread):
    """Kills a worker once a number of tasks of a kind have been made or are done."""

    def __init__(self, client, kind, number):
        super().__init__(daemon=True)
        self.client, self.kind, self.number = client, kind, number
        self.victim = None
        self.over = threading.Event()

    def run(self):
        kind = self.kind

        def count(dask_scheduler):
            tasks = [t for t in dask_scheduler.tasks.values() if t.prefix.name == kind]
            return sum(t.state in ("memory", "released") for t in tasks)

        while not self.over.wait(0.005):
            if self.client.run_on_scheduler(count) >= self.number:
                self.victim = min(self.client.run(os.getpid).values())
                os.kill(self.victim, signal.SIGKILL)
                return

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(far_client):
    model = KitchenSinksRegressor(Gaussian(2.0), 300, random_state=0, dtype="float64")
    X, y, far_X, far_y = data(far_client, 12_000, 5)
    expected = model.fit(X, y).predict(X)
    started = time.monotonic()
    with Killer(far_client, "with_rows", 5) as killer:
        fit(model, far_X, far_y)
    assert killer.victim is not None
    assert killer.victim not in far_client.run(os.getpid).values()
    np.testing.assert_allclose(model.predict(X), expected, rtol=0, atol=1e-6)
    assert time.monotonic() - started < 60
    far_client.wait_for_workers(2, timeout=30)


def test_kitchen_sinks_send_one_set_of_statistics_a_worker(far_client):
    _, _, X, y = data(far_client, 24_000, 4)
    start = time.time()
    model = fit(KitchenSinksRegressor(Gaussian(2.0), 300, random_state=0), X, y)
    size = model.statistics_.gram.nbytes
    # From one worker to the other, and from there to the client.
    assert 2 * size < sent(far_client, start) < 2.02 * size


def test_gaps_and_times_are_refused_as_in_memory(client):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 3)), rng.standard_normal(80)
    mask = np.arange(80) == 70  # in the last chunk
    days = np.datetime64("2020-01-01") + np.arange(80).astype("timedelta64[D]")
    rows, there = da.from_array(X, (20, 3)), da.from_array(y, 20)
    fitted = KitchenSinksRegressor(neurons=Gaussian(1.0), n_neurons=20, random_state=0)
    for targets, said in (
        (np.ma.array(y, mask=mask), r"y contains a masked value \(row"),
        (np.where(mask, None, y), r"y contains None \(row"),
        (days, "y holds dates"),
    ):
        with pytest.raises(ValueError, match=said):
            fit(fitted, rows, da.from_array(targets, 20, asarray=False))
    masked = np.ma.array(X, mask=mask[:, None] * np.ones((1, 3), bool))
    with pytest.raises(ValueError, match="column 0 of X contains missing values"):
        fit(fitted, da.from_array(masked, (20, 3), asarray=False), there)
    for weight in (np.ma.array(np.ones(80), mask=mask), np.where(mask, None, 1.0)):
        with pytest.raises(ValueError, match="sample_weight holds NaN"):
            fit(fitted, rows, there, da.from_array(weight, 20, asarray=False))
