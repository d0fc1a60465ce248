"""Learners in pipelines of River."""

import river_stream


def test_kernels_are_learned_a_row_at_a_time(monkeypatch, capsys):
    monkeypatch.setattr(river_stream, "ROWS", 400)
    river_stream.main()
    accuracy = {
        line[:22].strip(): float(line.split("Accuracy: ")[1].split("%")[0])
        for line in capsys.readouterr().out.splitlines()
    }
    assert len(accuracy) == 4
    for ours in ("Shrinking Gradient", "Doubly Stochastic"):
        assert accuracy[ours] > accuracy["logistic"] + 10  # of 400 rows: four standard errors
