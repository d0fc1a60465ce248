"""What is concluded from the curves of the comparison with boosted trees."""

import numpy as np
import pytest

from peers import equal_seconds
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
SLOW = method("ours, without numba", "ours", [(10, 0.01, 0.01)])
DEFAULTS = method("ours, nothing set", "ours", [(None, 4.0, 0.2)])
PEER = method("LightGBM", "boosted trees", [(5, 0.05, 0.6), (50, 1.5, 0.25), (500, 3.0, 0.26)])
OTHER = method("ExtraTrees", "others", [(5, 3.5, 0.21)])
ONE = {"methods": [OURS, DEFAULTS, SLOW, PEER, OTHER]}


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


@pytest.mark.parametrize("heights", [[0.5] * 10, [-3.0, 0.0, 0.01], [0.97, 0.98, 0.99, 7.0], [0.4]])
def test_names_of_lines_do_not_touch(heights):
    moved = apart(sorted(heights), [0.05] * len(heights))
    assert np.all(np.diff(moved) > 0.99 * 0.05)
    assert min(moved) >= 0
    assert max(moved) <= 1
