"""How often commands open a CSV file, and how often they read it to its end."""

import sys

import numpy as np
import pandas as pd
import pytest

from trickless import cli
from trickless.readers import csv_file, profile

opened = []
sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)


@pytest.fixture
def counts(monkeypatch):
    """Count opens and passes of a command over a file."""
    monkeypatch.setattr(csv_file, "_BLOCK", 2**14)
    monkeypatch.setattr(csv_file, "_CHUNK", 2**13)
    monkeypatch.setattr(profile, "SAMPLE_ROWS", 500)

    def counted(path, *arguments):
        passes, utf8 = [], csv_file._utf8

        def counting(raw):
            yield from utf8(raw)
            passes.append(raw)  # only if it is read to its end

        monkeypatch.setattr(csv_file, "_utf8", counting)
        opened.clear()
        assert cli.main(list(map(str, arguments))) == 0
        monkeypatch.setattr(csv_file, "_utf8", utf8)
        return opened.count(str(path)), len(passes)

    return counted


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("learner", ["kitchen-sinks", "doubly-stochastic"])
def test_a_file_is_sniffed_once_and_passed_over_as_often_as_needed(
    ending, learner, tmp_path, counts
):
    rng, n = np.random.default_rng(0), 1200
    columns = {"number": rng.standard_normal(n), "whole": rng.integers(0, 99, n)}
    columns |= {"town": rng.choice(["Bonn", "Köln"], n), "day": ["2026-01-31"] * n}
    columns |= {"when": [f"2026-01-{i % 9 + 1:02}T10:00Z" for i in range(n)], "y": rng.random(n)}
    data, model = tmp_path / f"data{ending}", tmp_path / "model"
    pd.DataFrame(columns).to_csv(data, index=False)
    fit = "fit", data, "--target", "y", "--out", model, "--learner", learner, "--n-neurons", 9
    assert counts(data, *fit) == (3, 2)
    assert counts(data, *fit, "--date", "when", "--validate", 0.2) == (4, 3)
    assert counts(data, "predict", model, data, "--out", tmp_path / "out.csv") == (2, 1)
    assert counts(data, "evaluate", model, data) == (2, 1)


def test_leading_zeros_far_down_cost_one_pass_more(tmp_path, counts, capsys):
    codes = [*map(str, np.arange(8000) % 50), "00501"]
    data, model = tmp_path / "data.csv", tmp_path / "model"
    pd.DataFrame({"zip": codes, "y": np.arange(8001.0)}).to_csv(data, index=False)
    fit = "fit", data, "--target", "y", "--out", model, "--learner", "kitchen-sinks"
    assert counts(data, *fit, "--n-neurons", 9) == (4, 3)
    assert "column 'zip': its numbers have leading zeros" in capsys.readouterr().err
