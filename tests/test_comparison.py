"""What is concluded from the curves of the comparison with boosted trees."""

import numpy as np
import pytest

from peers import equal_seconds, small_summary
from pictures import apart


def method(name, group, *runs):
    """A method with a curve of some seeds, each of (size, seconds, error)."""
    keys = "size", "seconds", "error"
    runs = [dict(zip(keys, map(list, zip(*run, strict=True)), strict=True)) for run in runs]
    runs = [run | {"absolute_error": []} for run in runs]
    return {"name": name, "group": group, "curves": [{"runs": runs}]}


OURS = method(
    "ours",
    "ours",
    [(10, 0.1, 0.5), (100, 1.0, 0.3), (1000, 10.0, 0.12)],
    [(10, 0.2, 0.6), (100, 3.0, 0.3)],
    [(10, 9.0, 0.7)],
)
DEFAULTS = method("ours, nothing set", "ours", [(None, 4.0, 0.2)])
PEER = method("LightGBM", "boosted trees", [(5, 0.05, 0.6), (50, 1.5, 0.25), (500, 3.0, 0.26)])
OTHER = method("ExtraTrees", "others", [(5, 3.5, 0.21)])
ONE = {"methods": [OURS, DEFAULTS, PEER, OTHER]}


def test_points_are_means_of_the_seeds_where_most_have_come():
    points = equal_seconds.points(OURS)
    assert [point["size"] for point in points] == [10, 100]
    assert [point["seconds"] for point in points] == pytest.approx([0.2, 2.0])
    assert [point["error"] for point in points] == pytest.approx([0.6, 0.3])


def test_errors_are_compared_at_the_seconds_of_ours():
    first, second, third = equal_seconds.at_equal_seconds(ONE)
    assert (first["at"]["size"], second["at"]["size"], third["at"]["size"]) == (10, 100, None)
    assert first["ratio"] == pytest.approx(0.6 / 0.6)
    assert second["ratio"] == pytest.approx(0.3 / 0.25)  # what came later does not count
    assert second["all"]["method"] == "LightGBM"
    assert third["ratio"] == pytest.approx(0.2 / 0.25)  # the least error so far, not the last
    assert third["all"]["method"] == "ours, nothing set"


def test_the_lead_changes_only_to_a_lesser_error():
    leads = equal_seconds.leads(ONE)
    assert [(p["method"], p["seconds"]) for p in leads] == [
        ("LightGBM", 0.05),
        ("ExtraTrees", 3.5),
        ("ours", 4.0),
    ]
    assert [point["until"] for point in leads] == [0.25, 0.21, 0.2]


def test_a_peer_with_one_fit_is_compared_in_its_seconds():
    peer = method("ChimeraBoost", "boosted trees", [(None, 2.5, 0.2)])
    line = equal_seconds.against({"methods": [*ONE["methods"], peer]}, "ChimeraBoost")
    assert (line["ours"]["size"], line["ratio"]) == (100, pytest.approx(0.3 / 0.2))
    quick = method("ChimeraBoost", "boosted trees", [(None, 0.01, 0.2)])
    line = equal_seconds.against({"methods": [OURS, quick]}, "ChimeraBoost")
    assert line["ours"] is None
    assert equal_seconds.against(ONE, "ChimeraBoost") is None


def table(classes, **errors):
    """A small table of 100 rows with the errors of methods in two folds."""
    cells = {
        name: {"error": [error - 0.01, error + 0.01], "log_loss": [2 * error, 2 * error]}
        | {"fit_seconds": [1.0, 2.0], "predict_seconds": [0.5, 0.5]}
        for name, error in errors.items()
    }
    return {"rows": 100, "classes": classes, "methods": cells}


SMALL = [
    table(2, ours=0.1, peer=0.2, third=0.3),
    table(3, ours=0.2, peer=0.2, third=0.1),
    table(0, ours=0.3, peer=0.6, third=0.3),
    table(0, ours=0.3, peer=0.4),
]


def test_small_tables_are_won_by_the_lesser_mean_error():
    found = small_summary.against(SMALL, "ours", "peer")
    assert (found["wins"], found["draws"], found["losses"]) == (3, 1, 0)
    assert found["p"] == pytest.approx(2 * 0.5**3)  # three of three, on either side
    ratios = [0.105 / 0.205, 1.0, 0.301 / 0.601, 0.301 / 0.401]
    assert found["ratio"] == pytest.approx(np.prod(ratios) ** 0.25)
    other_way = small_summary.against(SMALL, "peer", "ours")
    assert (other_way["losses"], other_way["ratio"]) == (3, pytest.approx(1 / found["ratio"]))


def test_log_losses_are_those_of_tables_with_classes():
    found = small_summary.against(SMALL, "ours", "third", "log_loss")
    assert (found["wins"], found["draws"], found["losses"]) == (1, 0, 1)
    assert small_summary.against(SMALL[2:], "ours", "third", "log_loss") is None


def test_ranks_are_of_tables_with_all_methods_and_draws_share_them():
    ranks = small_summary.ranks(SMALL, ["ours", "peer", "third"])
    assert ranks == pytest.approx(
        {"ours": (1 + 2.5 + 1.5) / 3, "peer": (2 + 2.5 + 3) / 3, "third": (3 + 1 + 1.5) / 3}
    )
    seconds = small_summary.summarise(SMALL, ("ours",), ["ours", "third"])["seconds"]
    assert seconds == {"ours": 2.0, "third": 2.0}


@pytest.mark.parametrize("heights", [[0.5] * 10, [-3.0, 0.0, 0.01], [0.97, 0.98, 0.99, 7.0], [0.4]])
def test_names_of_lines_do_not_touch(heights):
    moved = apart(sorted(heights), [0.05] * len(heights))
    assert np.all(np.diff(moved) > 0.99 * 0.05)
    assert min(moved) >= 0
    assert max(moved) <= 1
