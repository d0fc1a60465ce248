"""The drift detector: its false alarms are bounded, it finds changes, and it can be resumed."""

import io
import pickle
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import make_moons

import naive
import trickless
from cases import FAMILIES, inputs, suited
from trickless.inference import DriftDetector, drift, scan
from trickless.inference.features import whitener
from trickless.inference.scan import Scan, WindowSchedule, schedules
from trickless.neurons import Convolutions, Dense, Gaussian, Neurons

SMALL = {"n_neurons": 20, "window_size": 40, "random_state": 0}


def normal(n, rng):
    return rng.standard_normal((n, 2))


def cauchy(n, rng):
    return rng.standard_cauchy((n, 1))


def discrete(n, rng):
    return rng.integers(0, 3, (n, 2)).astype(float)


def wide(n, rng):
    return rng.exponential(size=(n, 20))


def skewed(n, rng):
    """Features of which a few rows have most of the variance."""
    return np.exp(3 * rng.standard_normal((n, 4)))


DISTRIBUTIONS = [normal, cauchy, discrete, wide, skewed]


@pytest.mark.parametrize("run_length", [300, 10_000, 10**9])
@pytest.mark.parametrize("window_size", [10, 39, 250, 100_000])
def test_the_levels_of_all_tests_sum_to_the_bound(window_size, run_length):
    plan = schedules(window_size, run_length)
    assert plan[-1].size == window_size
    assert 10 <= plan[0].size < 20
    for n_rows in (1, 100, 10_000):
        level = sum((n_rows // one.every) * one.level for one in plan)
        assert level <= n_rows / (2 * run_length) * (1 + 1e-9)
    most = [one.n_orders(4) * 4 for one in plan]
    assert max(most) < 2**18 + 8


@pytest.mark.parametrize("make", DISTRIBUTIONS)
def test_a_window_rejects_as_often_as_its_level(make, n_windows=2000):
    """Of features that are not centred, and with ties."""
    schedule, rejected, rng = WindowSchedule(12, 1, 0.07), 0, np.random.default_rng(0)
    for index in range(n_windows):
        rows = make(12 + 31, rng)
        found = Scan(None, rows[12:], 12, 100, 0)._test(rows[:12], schedule, index)
        rejected += found is not None
    # Ten orders of three groups: of 30 permutations, at most two reach the statistic.
    assert schedule.n_orders(3) == 10
    error = np.sqrt(n_windows * 2 / 30 * 28 / 30)
    if make is discrete:
        assert rejected < n_windows * 2 / 30 + 3 * error
    else:
        assert abs(rejected - n_windows * 2 / 30) < 3 * error


@pytest.mark.parametrize("make", [normal, discrete, skewed])
def test_the_average_run_length_is_at_least_its_bound(make, n_streams=40):
    """Over references, which are short, and streams."""
    lengths = []
    for seed in range(n_streams):
        rng = np.random.default_rng(seed)
        tests, seen = Scan(None, make(30, rng), 20, 100, seed), 0
        while len(lengths) == seed:
            used, alarm = tests.see(make(100, rng), seen)
            seen += used
            if alarm is not None or seen >= 300:
                lengths.append(seen)
    error = np.std(lengths) / np.sqrt(n_streams)
    assert np.mean(lengths) > 100 - 2 * error
    for n_rows in (20, 50, 100):
        bound = n_rows / 200
        early = np.mean(np.array(lengths) <= n_rows)
        assert early < bound + 2 * np.sqrt(bound * (1 - bound) / n_streams)


@pytest.mark.parametrize("family", ["gaussian", "landmarks", "trees"])
def test_the_choice_of_the_family_gives_no_false_alarms(family, n_streams=100):
    """Landmarks are rows, and windows would differ from a reference that has these rows."""
    options = {"n_neurons": 15, "window_size": 10, "run_length": 30}
    alarms = 0
    for seed in range(n_streams):
        rows = np.random.default_rng(seed).standard_normal((20 + 10, 8))
        detector = DriftDetector(family, random_state=seed, **options).fit(rows[:20])
        alarms += detector.update(rows[20:]).drift_detected
    bound = 10 / (2 * 30)
    assert alarms < n_streams * bound + 2 * np.sqrt(n_streams * bound * (1 - bound))


def test_alarms_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for seed in range(2):
        reference, Z = rng.standard_normal((70, 3)), rng.standard_normal((100, 3))
        Z[60:] += 0.8
        plan = schedules(40, 60)

        def order(t, which, i, seed=seed, plan=plan):
            draw = scan.generator(seed, scan.Purpose.PERMUTATIONS, (t - 1) * len(plan) + which)
            n = plan[which].size + 70
            return [np.arange(n), *(draw.permutation(n) for _ in range(i))][-1]

        used, alarm = Scan(None, reference, 40, 60, seed).see(Z, 0)
        expected = naive.first_change(Z, reference, plan, order)
        alarm, _ = alarm
        assert (used, alarm.window_size) == expected[:2]
        assert (alarm.statistic, alarm.pvalue) == pytest.approx(expected[2:])


def test_the_change_is_where_the_latest_rows_differ_most():
    rng = np.random.default_rng(0)
    reference, Z = rng.standard_normal((70, 3)), rng.standard_normal((50, 3))
    Z[40:] += 2
    _, (alarm, found) = Scan(None, reference, 40, 200, 0).see(Z, 0)
    n_changed = alarm.row + 1 - alarm.change_row
    rows, m = Z[max(0, alarm.row - 39) : alarm.row + 1], len(reference)
    gains = [
        ((rows[-k:].mean(0) - reference.mean(0)) ** 2).sum() * k * m / (k + m)
        for k in range(1, len(rows) + 1)
    ]
    least = alarm.window_size // 4
    assert n_changed == 1 + least + np.argmax(gains[least:])
    assert abs(alarm.change_row - 40) <= 2
    np.testing.assert_allclose(found, rows[-n_changed:].mean(0) - reference.mean(0))


def first_alarm(detector, rows):
    """The first change of a stream, or None."""
    for start in range(0, len(rows), 10):
        if detector.update(rows[start : start + 10]).drift_detected:
            return detector.drift_
    return None


def dependent(n, rng):
    X = rng.standard_normal((n, 2))
    return np.column_stack([X[:, 0], 0.9 * X[:, 0] + np.sqrt(0.19) * X[:, 1]])


def labelled(swapped):
    """Two classes, whose labels are swapped: neither the rows nor the labels change alone."""

    def make(n, rng):
        X, y = make_moons(n, noise=0.1, random_state=int(rng.integers(2**31)))
        return np.column_stack([X, 1 - y if swapped else y])

    return make


#: A change of the mean is detected below, sooner if it is larger.
CHANGES = {
    "variance": (normal, lambda n, rng: 2 * normal(n, rng)),
    "dependence": (normal, dependent),
    "labels": (labelled(False), labelled(True)),
    "heavy tails": (cauchy, lambda n, rng: 2 + cauchy(n, rng)),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_changes_are_detected(kind):
    before, after = CHANGES[kind]
    delays, away = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = np.concatenate([before(600, rng), after(200, rng)])
        detector = DriftDetector(n_neurons=50, window_size=100, random_state=seed)
        found = first_alarm(detector.fit(rows[:400]), rows[400:])
        if found is not None:
            delays.append(found.row - 199)
            away.append(abs(found.change_row - 200))
    assert len(delays) == 4
    assert min(delays) > 0
    assert np.median(delays) < 100
    assert np.median(away) <= 20


def test_the_delay_shrinks_with_the_size_of_the_change():
    delays = []
    for shift in (0.6, 1.0, 2.0):
        found = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            rows = normal(1200, rng)
            rows[600:] += shift
            detector = DriftDetector(n_neurons=30, window_size=100, random_state=seed)
            alarm = first_alarm(detector.fit(rows[:500]), rows[600:])
            found.append(600 if alarm is None else alarm.row)
        delays.append(np.mean(found))
    assert delays[0] > 1.5 * delays[1] > 2 * delays[2]


def test_whitening_finds_a_dependence_sooner():
    """With the covariance matrix of the fitted rows, and not of the reference."""
    rng = np.random.default_rng(0)
    found = []
    for seed in range(5):
        rows = np.concatenate([normal(400, rng), dependent(100, rng)])
        detector = DriftDetector(n_neurons=60, window_size=100, random_state=seed).fit(rows[:400])
        features = detector._scan.features
        Z = features.features.transform(rows)
        raw, white = Z[:300], features(rows)
        gain = [
            ((some[400:].mean(0) - some[:300].mean(0)) ** 2).sum()
            / np.trace(np.cov(some[:300].T) @ np.cov(some[:300].T)) ** 0.5
            for some in (Z, white)
        ]
        found.append(gain)
    assert len(raw) == 300
    assert (np.array(found)[:, 1] > 1.5 * np.array(found)[:, 0]).all()


@pytest.mark.parametrize("n_rows", [30, 400])
@pytest.mark.parametrize("n_columns", [20, 300])
def test_the_whitener_is_the_root_of_the_inverse(n_columns, n_rows):
    """And of more than 128 columns, fewer keep inner products on average."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n_rows, n_columns)) * 0.95 ** np.arange(n_columns)
    Z -= Z.mean(axis=0)
    S = Z.T @ Z / n_rows
    inverse = np.linalg.inv(S + 0.1 * np.linalg.eigvalsh(S)[-1] * np.eye(n_columns))
    found = [whitener(Z, np.random.default_rng(seed)) for seed in range(60)]
    products = np.array([W @ W.T for W in found])
    if n_columns == 20:
        np.testing.assert_allclose(products[0], inverse, atol=1e-9)
        return
    assert found[0].shape[1] <= 128
    error = products.std(axis=0, ddof=1) / np.sqrt(60)
    assert (abs(products.mean(axis=0) - inverse) < 5.5 * error + 1e-9).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_detects_and_resumes(family):
    X = suited(family, inputs(320, 4))
    X[200:] = suited(family, 0.7 + 0.3 * X[200:, :1] * [1, -1, 2, -2])
    options = SMALL | {"window_size": 20, "run_length": 1000}
    detector = DriftDetector(FAMILIES[family], **options).fit(X[:150]).update(X[150:190])
    assert not detector.drift_detected
    again = pickle.loads(pickle.dumps(detector))
    found = first_alarm(detector, X[190:])
    assert found.row > 50
    assert first_alarm(again, X[190:]) == found


def drifting(n_rows=600, at=400):
    rows = inputs(n_rows, 3)
    rows[at:] += 2
    return rows


@pytest.mark.parametrize("together", [1, 7, 64, 600])
def test_batches_change_nothing(together, monkeypatch):
    X = drifting()
    monkeypatch.setattr(drift, "_TOGETHER", 50)
    whole, parts = DriftDetector(**SMALL).update(X), DriftDetector(n_jobs=2, **SMALL)
    for start in range(0, len(X), together):
        parts.update(X[start : start + together])
    assert parts.drift_ == whole.drift_
    assert 400 <= whole.drift_.row < 440
    assert (parts.n_detections, parts.n_seen_) == (whole.n_detections, whole.n_seen_) == (1, 600)
    assert parts.drift_detected == (together == 600)


@pytest.mark.parametrize("n_before", [0, 39, 165, 500])
def test_a_stream_resumes_from_a_file_or_a_pickle(n_before):
    X = drifting()
    whole = DriftDetector(**SMALL).update(X)
    detector = DriftDetector(**SMALL)
    if n_before:
        detector.update(X[:n_before])
    file = io.BytesIO()
    assert trickless.save(detector, file) == []
    file.seek(0)
    for again in (trickless.load(file), pickle.loads(pickle.dumps(detector))):
        assert again.update(X[n_before:]).drift_ == whole.drift_
        assert again.n_seen_ == 600
        np.testing.assert_array_equal(again.witness(X), whole.witness(X))


def test_copies_of_a_detector_go_their_own_ways():
    X = drifting()
    detector = DriftDetector(**SMALL).update(X[:390])
    other = copy(detector)
    detector.update(X[390:])
    assert not other.drift_detected
    assert other.update(X[390:]).drift_ == detector.drift_


def test_clones_have_the_parameters_and_nothing_of_what_was_seen():
    detector = DriftDetector(**SMALL).update(inputs(300, 3))
    other = detector.clone()
    assert (other.n_neurons, other.window_size, other.n_seen_) == (20, 40, 0)
    assert detector.n_seen_ == 300


def test_a_given_reference_stays_and_a_learned_one_is_replaced():
    X = drifting(1000)
    given = DriftDetector(**SMALL).fit(X[:300]).update(X[350:480])
    assert given.n_detections > 3
    learned = DriftDetector(**SMALL).update(X)
    assert learned.n_detections == 1
    assert learned.update(X[:100]).drift_detected
    assert learned.reset().n_seen_ == learned.n_detections == 0
    assert not learned.update(X[400:]).drift_detected


def test_a_long_reference_is_for_the_family_beyond_four_windows():
    assert len(DriftDetector(**SMALL).fit(inputs(1000, 3))._scan.reference) == 160
    assert len(DriftDetector(**SMALL).fit(inputs(100, 3))._scan.reference) == 75


def test_the_witness_is_high_for_new_rows():
    X = drifting()
    detector = DriftDetector(**SMALL).update(X)
    values = detector.witness(X)
    assert values.shape == (600,)
    assert np.quantile(values[400:], 0.1) > np.quantile(values[:400], 0.9)


def tables(n_rows=600):
    rng = np.random.default_rng(0)
    towns = np.array(["Oslo", "Paris", "Rome"])[rng.integers(0, 3, n_rows)]
    frame = pd.DataFrame({"age": rng.standard_normal(n_rows), "town": towns})
    frame.loc[400:, "town"] = "Bonn"
    frame.loc[::7, "age"] = np.nan
    return frame


@pytest.mark.parametrize("family", ["tabular", "trees"])
def test_tables_are_read_in_any_form(family):
    frame = tables()
    options = SMALL | {"neurons": family}
    whole = DriftDetector(**options).update(frame)
    assert 400 <= whole.drift_.row < 440
    assert DriftDetector(**options).update(pl.from_pandas(frame)).drift_ == whole.drift_
    parts = DriftDetector(**options)
    for start in range(0, 600, 90):
        parts.update(frame.iloc[start : start + 90].set_axis(np.linspace(0, 1, 90)[: 600 - start]))
    assert parts.drift_ == whole.drift_


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": "text"}, "column 'a' of X contains text.*finite numbers only"),
        (pd.DataFrame({"a": [np.nan]}), "column 'a' of X contains missing values"),
        (pl.DataFrame({"a": [None, 1.0]}), "column 'a' of X contains missing values"),
        ([[1, 2], [3]], "Remedy"),
    ],
)
def test_rows_that_the_family_refuses_raise_an_error_at_once(row, message):
    detector = DriftDetector(window_size=10, random_state=0)
    with pytest.raises((TypeError, ValueError), match=f"DriftDetector: .*{message}"):
        detector.update(row)
    assert detector.n_seen_ == 0
    times = pd.DataFrame({"t": pd.date_range("2026-01-01", periods=60)})
    assert detector.update(times).n_seen_ == 60


def test_dictionaries_numbers_and_rows_are_rows():
    frame = tables(440)
    options = SMALL | {"neurons": "tabular"}
    by_dictionary = DriftDetector(**options)
    for row in frame.to_dict("records"):
        by_dictionary.update(row)
    assert by_dictionary.drift_ == DriftDetector(**options).update(frame).drift_
    X, options = drifting(120, 90)[:, :1], SMALL | {"window_size": 20}
    whole = DriftDetector(**options).update(X)
    for form in (float, lambda x: [x], lambda x: {"x": x}, np.float32, lambda x: np.array([x])):
        one = DriftDetector(**options)
        for value in X[:, 0]:
            one.update(form(value))
        assert one.n_detections == 1
        if form is not np.float32:
            assert one.drift_ == whole.drift_


def test_dictionaries_follow_the_columns_of_a_data_frame():
    frame = tables(440)[["age", "town"]]
    frame.loc[400:, "age"] = 5.0
    reference = frame[:200]
    expected = DriftDetector("tabular", **SMALL).fit(reference).update(frame[200:])
    found = DriftDetector("tabular", **SMALL).fit(reference)
    found.update(frame[200:360])
    for row in frame[360:].to_dict("records"):
        found.update(dict(reversed(row.items())))
    assert found.drift_ == expected.drift_
    assert found.n_detections == expected.n_detections > 0


@pytest.mark.parametrize("n_before", [1, 80])
def test_rows_whose_features_changed_raise(n_before):
    """Dictionaries and data frames, after either, with a reference or not."""
    frame = tables(200)
    by_dictionary, by_frame = (DriftDetector("tabular", **SMALL) for _ in range(2))
    for row in frame[:n_before].to_dict("records"):
        by_dictionary.update(row)
    by_frame.update(frame[:n_before])
    row = frame.iloc[0].to_dict()
    for detector in (by_dictionary, by_frame):
        for lacking in ({"age": 0.1}, frame[["age"]]):
            with pytest.raises(ValueError, match=r"lacks the feature 'town'.*None for a.*reset"):
                detector.update(lacking)
        for more in (row | {"size": 1.0}, frame.assign(size=1.0)):
            with pytest.raises(ValueError, match=r"has the new feature 'size', which the rows be"):
                detector.update(more)
        with pytest.raises(ValueError, match=r"Feature names must be in the same order"):
            detector.update(frame[["town", "age"]])
        assert detector.update(row | {"town": None}).n_seen_ == n_before + 1
        assert detector.reset().update({"size": 1.0}).n_seen_ == 1


def test_text_may_be_missing_in_a_dictionary():
    detector = DriftDetector("tabular", **SMALL)
    rng = np.random.default_rng(0)
    for i in range(150):
        row = {"a": float(rng.standard_normal()), "b": str(rng.choice(["x", "y"]))}
        detector.update(row if i % 5 != 1 else row | {"b": None})
    assert detector.n_seen_ == 150
    assert not detector.n_detections


def test_sparse_rows_are_taken():
    X = drifting()
    X[np.abs(X) < 0.3] = 0
    expected = DriftDetector(**SMALL).update(X).drift_
    found = DriftDetector(**SMALL)
    for start in range(0, 600, 50):
        found.update(scipy.sparse.csr_matrix(X[start : start + 50]))
    assert found.drift_[:3] == expected[:3]


@pytest.mark.parametrize("given", [True, False])
def test_arrays_of_series_are_taken(given):
    rows = np.random.default_rng(0).standard_normal((60, 2, 20))
    rows[50:] += 2 * np.sin(np.arange(20))
    short = [*rows[:-1], rows[-1, :, :12]]
    padded = rows.copy()
    padded[-1, :, 12:] = np.nan

    def seen(series):
        options = {"n_neurons": 5, "window_size": 10, "run_length": 40, "random_state": 0}
        detector = DriftDetector(Convolutions((2, 20)), **options)
        begun = detector.fit(series[:40]) if given else detector.update(series[:40])
        return begun.update(series[40:]).drift_

    flat = seen(padded.reshape(60, -1))
    assert flat is not None
    assert seen(padded) == seen(short) == flat
    with pytest.raises(TypeError, match=r"but the first batch is a.*Remedy"):
        DriftDetector(Convolutions()).update(rows).update(padded.reshape(60, -1))


def test_unbounded_neurons_are_taken():
    found = DriftDetector(Dense("relu"), **SMALL).update(drifting()).drift_
    assert 400 <= found.row < 440


def test_constant_rows_that_begin_to_vary_are_a_change():
    detector = DriftDetector(**SMALL).update(np.ones((500, 2)))
    assert not detector.n_detections
    assert detector.update(inputs(40, 2)).drift_detected


class Huge(Neurons):
    """Activations whose squares overflow."""

    def draw(self, rng, n):
        return rng.standard_normal((n, self.n_features_in_))

    def activate(self, X, weights):
        return 1e200 * np.sign(X @ weights.T)


MISTAKES = {
    "window_size=5, but it must be an integer of at least 10": {"window_size": 5},
    "run_length=20 is shorter than window_size=40": {"run_length": 20},
    "neurons='auto' needs targets": {"neurons": "auto"},
    "n_neurons=0": {"n_neurons": 0},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_bad_parameters_raise(message):
    with pytest.raises(ValueError, match=message):
        DriftDetector(**SMALL | MISTAKES[message]).update(inputs(3, 2))


NAN, X = np.full((1, 3), np.nan), inputs(300, 3)
ROWS = {
    "the reference has 20 rows, but window_size=40 needs 54": lambda d: d.fit(X[:20]),
    "DriftDetector: column 0 of X contains missing values": lambda d: d.update(NAN),
    "DriftDetector: .*NaN": lambda d: d.update(X).update(NAN),
    "X has 0 sample": lambda d: d.update(X[:0]),
    "minimum of 1 is required": lambda d: d.update(X).update(X[:0]),
    "X has 2 features, but DriftDetector is expecting 3 features as": lambda d: d.update(
        X[:9]
    ).update(X[:9, :2]),
    "X has 2 features, but DriftDetector is expecting 3": lambda d: d.update(X).update(X[0, :2]),
    "has the shape": lambda d: d.update(X.reshape(-1, 3, 1)),
    "the row has no features": lambda d: d.update({}),
    "no change was detected": lambda d: d.update(X).witness(X),
    "n_neurons=3, but the model was begun with n_neurons=20": lambda d: (
        d.update(X).set_params(n_neurons=3).update(X)
    ),
}


@pytest.mark.parametrize("message", ROWS)
def test_bad_rows_raise(message):
    with pytest.raises((ValueError, AttributeError), match=message):
        ROWS[message](DriftDetector(**SMALL))


def test_an_error_changes_nothing():
    X = drifting()
    detector = DriftDetector(**SMALL).update(X[:300])
    bad = X[300:400].copy()
    bad[-1] = np.inf
    with pytest.raises(ValueError, match="inf"):
        detector.update(bad)
    assert detector.update(X[300:]).drift_ == DriftDetector(**SMALL).update(X).drift_


def test_values_of_another_type_raise():
    with pytest.raises(TypeError, match="feature 'a' is 'x', but it must be a number"):
        DriftDetector(**SMALL).update({"a": 1.0}).update({"a": "x"})
    with pytest.raises(TypeError, match="but the first batch is a NumPy array"):
        DriftDetector("tabular", **SMALL).update(X[:9]).update(pd.DataFrame(X))
    with pytest.raises(ValueError, match="Remedy: scale X"):
        DriftDetector(Huge(), **SMALL).update(X)


def test_states_that_do_not_fit_together_raise():
    detector = DriftDetector(Gaussian(1.0), **SMALL).update(X)
    for part, name, value in (
        (detector, "n_seen_", -1),
        (detector, "_columns", {"a": "x"}),
        (detector, "_first", [np.zeros((2, 2))]),
        (detector._scan, "window_size", 3),
        (detector._scan, "reference", np.zeros((9, 2))),
        (detector._scan.features, "whitener", np.zeros((2, 2))),
    ):
        before = getattr(part, name)
        setattr(part, name, value)
        with pytest.raises(ValueError, match=f"{type(part).__name__}: "):
            pickle.loads(pickle.dumps(detector))
        setattr(part, name, before)
