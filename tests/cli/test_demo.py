"""The demo and the command line, on the data that need no registry."""

import json
import subprocess

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_digits

from circumstances import circumstances
from measurement import measured
from trickless import KitchenSinksClassifier
from trickless import _cli as cli
from trickless._cli.demo import comparison, download


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """A cache folder of its own, and a registry that does not answer."""
    monkeypatch.setenv("TRICKLESS_CACHE", str(tmp_path / "cache"))

    def refuse(*arguments, **options):
        return subprocess.CompletedProcess(arguments, 1, "", "ERROR: no route to host")

    monkeypatch.setattr(download.subprocess, "run", refuse)
    return tmp_path


def few_sinks(neurons, n_neurons, **options):
    return KitchenSinksClassifier(neurons, min(n_neurons, 300), **options)


def test_demo_runs_without_a_registry_and_says_so(offline, monkeypatch, capsys):
    monkeypatch.setattr(comparison, "SIZES", {"stumps": (10, 20), "gaussian": (10, 20)})
    monkeypatch.setattr(comparison, "KitchenSinksClassifier", few_sinks)
    few = [part[:600] for part in load_digits(return_X_y=True)]
    monkeypatch.setattr(comparison, "load_digits", lambda return_X_y: few)
    assert cli.main(["demo", "--out", str(offline)]) == 0
    out, err = capsys.readouterr()
    assert "could not be fetched (mglearn==0.2.0: ERROR: no route to host)" in out
    assert "480 rows to learn from, 120 to test on, 64 columns" in out
    assert err == ""  # no bars where nobody looks
    results = json.loads((offline / "trickless-demo.json").read_text())
    assert {row["model"] for row in results["table"]} == {
        "Kitchen Sinks, stumps",
        "Kitchen Sinks, Gaussian",
        "Kitchen Sinks, ferns",
        "Boosted trees",
        "Doubly Stochastic, stumps",
        "Shrinking Gradient, stumps",
        "LogisticRegression",
        "AdaBoost, 200 stumps",
    }
    for row in results["table"]:
        assert row["model"] in out
        assert 0 < row["error"] < 0.25
        assert row["fit_seconds"] > 0
    assert (offline / "trickless-demo.png").read_bytes().startswith(b"\x89PNG")
    assert mpl.get_backend()


def test_an_archive_that_was_changed_is_refused(offline, monkeypatch):
    def send_something_else(command, **options):
        folder = command[command.index("--dest") + 1]
        (download.Path(folder) / download.MGLEARN.filename).write_bytes(b"not the wheel")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(download.subprocess, "run", send_something_else)
    with pytest.raises(download.FetchError, match="another archive than mglearn"):
        download.fetch(download.MGLEARN)
    assert not (download.cache_folder() / download.MGLEARN.filename).exists()


def test_a_registry_that_hangs_is_given_up(offline, monkeypatch):
    def hang(command, timeout, **options):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(download.subprocess, "run", hang)
    with pytest.raises(download.FetchError, match="no answer within 120 s"):
        download.fetch(download.MGLEARN)


def test_wrong_options_of_the_demo_are_refused(tmp_path, capsys):
    assert cli.main(["demo", "--out", str(tmp_path / "missing")]) == 2
    assert "does not exist. Remedy" in capsys.readouterr().err
    assert cli.main(["demo", "--repeats", "0"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("trickless demo: Invalid value for '--repeats': ")
    assert "Remedy" in said


def test_measurements_see_memory_and_time():
    with measured() as run:
        block = np.ones(20_000_000)
        block += 1
    assert run.seconds > 0
    assert run.peak_mib > 140 or np.isnan(run.peak_mib)


def test_results_say_where_they_come_from():
    stored = circumstances()
    assert set(stored) == {"date", "commit", "python", "packages", "machine"}
    assert stored["machine"]["cores"] >= 1
