"""Streams whose rows lose their weight, and rows that are forgotten exactly."""

import datetime
import pickle

import numpy as np
import pandas as pd
import pytest

import rounding
import trickless
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Gaussian

HALF_LIFE = 200
NOON = np.datetime64("2026-01-31T12:00:05")


def rows(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def learner(**parameters):
    how = {"n_neurons": 60, "random_state": 0, "dtype": "float64"} | parameters
    return KitchenSinksRegressor(Gaussian(1.0), **how)


def answers(model):
    """Predictions and error bars; a row that fades counts as one with a weight."""
    X, _ = rows(20, seed=1)
    _, cov = model.predict(np.vstack([X, X[:1]]), return_cov=True)  # no noise between rows
    return np.column_stack(
        [model.predict(X), cov[:-1, -1], model.predict_interval(X, weighted=True)]
    )


@pytest.mark.parametrize(
    ("alpha", "size"), [(1e-4, 1), ("auto", 1), ("auto", 37), ("evidence", 1200)]
)
def test_forgetting_is_a_fit_with_weights_of_age(alpha, size):
    """S ← λS + zzᵀ; without dropped rows, the sample for intervals is that of the fit as well."""
    X, y = rows()
    model = learner(alpha=alpha, half_life=HALF_LIFE)
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size], y[start : start + size])
    weight = 0.5 ** (np.arange(len(X))[::-1] / HALF_LIFE)
    if alpha == "evidence":  # in which a weight is about the noise, and a fading row is not
        alpha = model.alpha_
    expected = learner(alpha=alpha).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(answers(model), answers(expected), rtol=1e-6, atol=1e-7)
    n_effective = weight.sum() ** 2 / (weight**2).sum()
    assert model.statistics_.n_effective == pytest.approx(n_effective)


def test_the_evidence_counts_rows_for_what_is_left_of_them():
    """As for n rows of equal noise, where n is their effective number, up to a constant."""
    X, y = rows(300)
    weight = 0.5 ** (np.arange(300)[::-1] / HALF_LIFE)
    n, share = weight.sum() ** 2 / (weight**2).sum(), weight / weight.sum()
    model = learner(n_neurons=20, alpha="evidence", half_life=HALF_LIFE).fit(X, y)
    Z = np.concatenate([Z for _, Z in model._sums_._panels(X, model._problem())])
    root = np.sqrt(share)[:, None]
    A, b = root * (Z - share @ Z), (root * (y - share @ y)[:, None]).ravel()

    def likelihood(alpha):
        K = np.eye(300) + A @ A.T / (20 * alpha)
        energy = b @ np.linalg.solve(K, b)
        return -0.5 * ((n - 1) * np.log(energy) + np.linalg.slogdet(K)[1])

    around = [likelihood(model.alpha_ * factor) for factor in (0.9, 1.0, 1.1)]
    assert around[1] == max(around)
    heavy = learner(n_neurons=20, alpha="evidence", half_life=HALF_LIFE).fit(X, y, np.full(300, 7))
    wanted = model.log_marginal_likelihood_
    assert heavy.log_marginal_likelihood_ == pytest.approx(wanted, rel=1e-6)


def test_a_half_life_without_end_is_no_forgetting_bit_for_bit():
    X, y = rows()
    models = [learner(half_life=half_life).fit(X, y) for half_life in (None, np.inf)]
    models[1].partial_fit(X, y)
    models[0].partial_fit(X, y)
    np.testing.assert_array_equal(answers(models[0]), answers(models[1]))


def test_time_stamps_age_rows_by_their_time():
    X, y = rows()
    seconds = np.sort(np.random.default_rng(0).uniform(0, 10_000, len(X)))
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    stamps = {
        1000.0: seconds,
        datetime.timedelta(seconds=1000): [start + datetime.timedelta(seconds=s) for s in seconds],
        pd.Timedelta("1000s"): np.datetime64("2024-01-01", "ns")
        + (seconds * 1e9).astype("timedelta64[ns]"),
    }
    weight = 0.5 ** ((seconds[-1] - seconds) / 1000)
    expected = answers(learner().fit(X, y, sample_weight=weight))
    for half_life, times in stamps.items():
        model = learner(half_life=half_life).fit(X[:500], y[:500], timestamps=times[:500])
        model.partial_fit(X[500:], y[500:], timestamps=times[500:])
        np.testing.assert_allclose(answers(model), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("half_life", "stamps", "later", "message"),
    [
        (0, None, None, "half_life=0, but it must be None, a number above 0"),
        (-3.0, None, None, "half_life=-3.0"),
        ("week", None, None, "half_life='week'"),
        (True, None, None, "half_life=True"),
        (5, [3.0, 2.0], None, "timestamps run backwards: that of row 1 is 1 before"),
        (5, [3.0, 4.0], [3.5, 5.0], "timestamps run backwards: that of row 0 is 0.5 before"),
        (5, NOON - np.array([1, 3]), None, "row 1 is 2 seconds before the latest"),
        (5, NOON - np.array([9, 1]), NOON + np.array([-5, 0]), "row 0 is 4 seconds before"),
        (5, [3.0, np.nan], None, "the time stamp of row 1 is missing"),
        (5, [3.0, 4.0, 5.0], None, r"timestamps has the shape \(3,\), but there are 2 rows"),
        (5, ["a", "b"], None, r"timestamps cannot be read.*Remedy: one number or datetime"),
        (5, None, [1.0, 2.0], "the rows so far came without time stamps"),
        (datetime.timedelta(1), None, None, "the rows have no time stamps"),
    ],
)
def test_clocks_that_cannot_be_are_refused(half_life, stamps, later, message):
    X, y = rows(2)
    model = learner(alpha=1.0, half_life=half_life)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        model.partial_fit(X, y, timestamps=stamps)
        before = model.predict(X)
        model.partial_fit(X, y, timestamps=later)
    assert "Remedy" in str(caught.value)
    if later is not None:
        np.testing.assert_array_equal(model.predict(X), before)


def test_parts_of_one_clock_are_merged():
    X, y = rows()
    times = np.arange(len(X)) * 0.5
    how = {"half_life": 100.0}
    parts = [
        learner(**how).fit(X[part], y[part], timestamps=times[part])
        for part in (slice(500), slice(500, None))
    ]
    expected = answers(learner(**how).fit(X, y, timestamps=times))
    np.testing.assert_allclose(answers(parts[1].merge(parts[0])), expected, rtol=1e-7)
    without = learner(**how).fit(X[:300], y[:300])
    with pytest.raises(ValueError, match=r"counts by time stamps, up to .*timestamps= in both"):
        parts[0].merge(without)
    with pytest.raises(ValueError, match="counts 300 rows, and that of other 400 rows"):
        without.merge(learner(**how).fit(X[:400], y[:400]))


@pytest.mark.parametrize(("n", "alpha"), [(50, "auto"), (1200, 1e-4), (1200, "auto"), (3000, 1e-4)])
def test_rows_that_are_forgotten_were_never_there(n, alpha):
    """As many rows as columns or fewer, all rows in the sample, and a part of them."""
    X, y = rows(n)
    out = np.random.default_rng(0).random(n) < 0.3
    model = learner(alpha=alpha).fit(X, y).forget(X[out], y[out])
    expected = learner(alpha=alpha).fit(X[~out], y[~out])
    assert model.statistics_.n_rows == (~out).sum()
    several = slice(None) if n < 2048 else slice(2)  # beyond, another sample makes the intervals
    np.testing.assert_allclose(answers(model)[:, several], answers(expected)[:, several], rtol=1e-6)


@pytest.mark.parametrize("year", [1500, 1970, 3000])
@pytest.mark.parametrize("unit", ["D", "s", "us"])
def test_the_age_of_rows_is_the_same_in_each_century(year, unit):
    """Nanoseconds, in which stamps were once counted, end in 1677 and 2262."""
    X, y = rows(100)
    stamps = np.datetime64(f"{year}-01-01", unit) + 7 * np.arange(100).astype("m8[D]")
    half_life = np.timedelta64(30, "D")
    model = learner(half_life=half_life, alpha=1e-3).fit(X, y, timestamps=stamps)
    expected = learner(half_life=30.0, alpha=1e-3).fit(X, y, timestamps=7.0 * np.arange(100))
    np.testing.assert_allclose(answers(model), answers(expected), rtol=1e-6)


def test_dates_with_and_without_a_time_zone_are_not_mixed():
    X, y = rows(100)
    naive = pd.date_range("2024-06-01", periods=100, freq="h")
    zoned = naive.tz_localize("Europe/Berlin")
    mixed = [naive[0].to_pydatetime(), *zoned[1:].to_pydatetime()]
    kinds = {"dates": naive, "dates with a time zone": zoned, "numbers": np.arange(100.0)}
    for first, stamps in kinds.items():
        model = learner(half_life=1e6).fit(X[:50], y[:50], timestamps=stamps[:50])
        model.partial_fit(X[50:], y[50:], timestamps=stamps[50:])
        for later, others in kinds.items():
            if later != first:
                with pytest.raises(ValueError, match=f"are {later}, .* were {first}, .* Remedy"):
                    model.partial_fit(X, y, timestamps=others)
    with pytest.raises(ValueError, match="dates and dates with a time zone, so"):
        learner(half_life=1e6).fit(X, y, timestamps=mixed)


def test_forgetting_after_fading():
    X, y = rows()
    times, out = np.arange(len(X)), np.arange(len(X)) % 3 == 0
    model = learner(half_life=300).fit(X, y, timestamps=times)
    model.forget(X[out], y[out], timestamps=times[out])
    expected = learner(half_life=300).fit(X[~out], y[~out], timestamps=times[~out])
    model.partial_fit(X, y, timestamps=times[-1] + times)
    expected.partial_fit(X, y, timestamps=times[-1] + times)
    np.testing.assert_allclose(answers(model), answers(expected), rtol=1e-6)
    with pytest.raises(ValueError, match="unknown without time stamps"):
        learner(half_life=300).fit(X, y).forget(X[:3], y[:3])
    dated = learner(half_life=300).fit(X, y, timestamps=NOON - times[::-1])
    with pytest.raises(ValueError, match=r"up to 2026-01-31T12:00:06\.0+, but the latest .*:05\.0"):
        dated.forget(X[:1], y[:1], timestamps=NOON + 1)


@pytest.mark.parametrize("n", [50, 1200, 30_000])
def test_rows_that_were_not_learned_cannot_be_forgotten(n):
    X, y = rows(n)
    model = learner(alpha=1e-3).fit(X, y)
    model.forget(X[:20], y[:20])
    before = answers(model)
    others = {
        "forgotten before": (X[:20], y[:20]),
        "other rows": rows(200, seed=2),
        "other targets": (X[20:40], y[20:40] + 3),
        "far away": (100 * X[20:40], y[20:40]),
        "all rows and more": (X, y),
    }
    if n > 2048:  # a few rows are told with the probability 2,048 / n
        del others["forgotten before"], others["other targets"]
    for name, given in others.items():
        with pytest.raises(ValueError, match=r"forget: .* Remedy: the same rows"):
            pytest.fail(f"{name} were accepted: {model.forget(*given)}")
        np.testing.assert_array_equal(answers(model), before)


@pytest.mark.filterwarnings("ignore:X has one row", "ignore:.* takes its cuts and scales")
@pytest.mark.parametrize("neurons", ["gaussian", "tabular", Gaussian(1.0)], ids=str)
@pytest.mark.parametrize("batches", [[100, 100], [1, 9, 190], [5] * 40], ids=str)
def test_no_number_of_a_forgotten_row_stays(neurons, batches, tmp_path):
    """Neither in the object and its pickle nor in its file, in either precision."""
    X, y = rows(200)
    X[:30] *= 10  # so that they have the extremes
    times = np.arange(200.0) + 0.123
    for how, stamps in ({}, None), ({"half_life": 100}, times):
        model = KitchenSinksRegressor(neurons, 40, random_state=0, **how)
        for end, n in zip(np.cumsum(batches), batches, strict=True):
            now = slice(end - n, end)
            model.partial_fit(X[now], y[now], timestamps=None if stamps is None else stamps[now])
            model.predict(X[:2])
        forgotten = np.append(X[:30].ravel(), y[:30])
        model.predict_interval(X[:2])
        assert held(model, forgotten, tmp_path)  # so that the search finds what is there
        model.forget(X[:30], y[:30], timestamps=None if stamps is None else stamps[:30])
        assert not held(model, forgotten, tmp_path)
        model.predict_interval(X[50:52])
        assert not held(model, forgotten, tmp_path)


def held(model, numbers, tmp_path):
    """Which numbers are in the pickle or the file of a model, as bytes of some precision."""
    single = numbers.astype(np.float32)
    saved = tmp_path / "model.trickless"
    trickless.save(model, saved)
    states = pickle.dumps(model), saved.read_bytes()
    return [
        each
        for kind in (numbers, single, single.astype(np.float64))
        for each in kind
        if any(each.tobytes() in state for state in states)
    ]


def test_a_window_that_slides_is_a_fit_to_it():
    X, y = rows(2000)
    labels = np.where(y > 0, "up", "down")
    model = KitchenSinksClassifier(Gaussian(1.0), 50, random_state=0, dtype="float64")
    for start in range(0, 2000, 100):
        model.partial_fit(X[start : start + 100], labels[start : start + 100], ["down", "up"])
        if start >= 500:
            old = slice(start - 500, start - 400)
            model.forget(X[old], labels[old])
    expected = KitchenSinksClassifier(Gaussian(1.0), 50, random_state=0, dtype="float64")
    expected.fit(X[1500:], labels[1500:])
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-5)


def test_a_stream_is_saved_in_the_middle_with_its_clock(tmp_path):
    X, y = rows()
    times = np.arange(len(X)) * 0.3
    model = learner(half_life=50.0).fit(X[:700], y[:700], timestamps=times[:700])
    trickless.save(model, tmp_path / "model.trk")
    again = trickless.load(tmp_path / "model.trk")
    for each in (model, again):
        each.partial_fit(X[700:], y[700:], timestamps=times[700:])
    np.testing.assert_array_equal(answers(model), answers(again))


def test_recent_rows_are_in_the_sample():
    """After 20,000 rows at a half-life of 500, intervals follow the noise of the latest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 1))
    noise = np.where(np.arange(20_000) < 15_000, 1.0, 0.1)
    y = np.sin(X[:, 0]) + noise * rng.normal(size=20_000)
    model = KitchenSinksRegressor(Gaussian(1.0), 30, half_life=500, random_state=0)
    for start in range(0, 20_000, 1000):
        model.partial_fit(X[start : start + 1000], y[start : start + 1000])
    ends = model.predict_interval(X[-200:])
    width = (ends[:, 1] - ends[:, 0]).mean()
    assert width == pytest.approx(2 * 1.645 * 0.1, rel=0.15)


def test_rows_of_weight_zero_pass_time():
    X, y = rows()
    model = learner(half_life=HALF_LIFE).fit(X[:500], y[:500])
    model.partial_fit(X[:300], y[:300], sample_weight=np.zeros(300))
    model.partial_fit(X[500:], y[500:])
    numbers = np.append(np.arange(500), np.arange(800, 1500))
    weight = 0.5 ** ((1499 - numbers) / HALF_LIFE)
    expected = learner().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(answers(model), answers(expected), rtol=1e-6, atol=1e-7)


def test_a_compact_model_keeps_the_faded_sample():
    X, y = rows(6000)
    model = learner(half_life=500).fit(X, y)
    np.testing.assert_array_equal(answers(model.compact()), answers(model))


def test_models_that_forget_differently_are_not_merged(tmp_path):
    X, y = rows(300)
    hour, day = (
        learner(half_life=datetime.timedelta(hours=n)).fit(X, y, timestamps=np.arange(300))
        for n in (1, 24)
    )
    trickless.save(day, tmp_path / "day.trk")
    day = trickless.load(tmp_path / "day.trk")
    assert day.half_life == datetime.timedelta(days=1)
    with pytest.raises(
        ValueError, match=r"half_life=.*seconds=3600\) here and .*must forget alike"
    ):
        hour.merge(day)


@pytest.mark.parametrize(("half_life", "alpha"), [(30, "auto"), (500, 1e-3)])
def test_predict_then_learn_is_a_loop_over_rows(half_life, alpha):
    X, y = rows(500)
    block, loop = (learner(half_life=half_life, alpha=alpha).fit(X[:5], y[:5]) for _ in range(2))
    parts = slice(5, 300), slice(300, 500)
    predicted = np.concatenate([block.predict_then_learn(X[part], y[part]) for part in parts])
    for i in range(5, 500):
        assert loop.predict(X[i : i + 1])[0] == pytest.approx(predicted[i - 5], abs=1e-6)
        loop.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(answers(block), answers(loop), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("half_life", [30, 500])
def test_rows_one_by_one_with_answers_between_give_the_solution(half_life):
    """Between solutions the ridge fades; what is solved for is that of all rows with weights."""
    X, y = rows(700)
    model, distances = learner(half_life=half_life).fit(X[:200], y[:200]), []
    for i in range(200, 700):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        quick = model.predict(X[:50])
        if i % 50 == 0:
            weight = 0.5 ** (np.arange(i + 1)[::-1] / half_life)
            exact = learner(alpha=model._sums_._delayed.ridges[0] / 60)
            exact.fit(X[: i + 1], y[: i + 1], sample_weight=weight)
            distances.append(np.abs(quick - exact.predict(X[:50])).mean())
    assert np.mean(distances) < 0.03  # the noise of the targets is 0.1
    weight = 0.5 ** (np.arange(len(X))[::-1] / half_life)
    expected = learner().fit(X, y, sample_weight=weight)
    assert model.alpha_ == pytest.approx(expected.alpha_)  # solves
    np.testing.assert_allclose(answers(model), answers(expected), rtol=1e-6, atol=1e-7)


def test_without_forgetting_predict_then_learn_learns_as_partial_fit():
    X, y = rows(900)
    model, expected = (learner().fit(X[:100], y[:100]) for _ in range(2))
    predicted = model.predict_then_learn(X[100:], y[100:])
    expected.partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(answers(model), answers(expected))
    ahead = [learner().fit(X[:i], y[:i]).predict(X[i : i + 1])[0] for i in range(300, 900, 50)]
    np.testing.assert_allclose(predicted[200:800:50], ahead, atol=0.15)


def test_a_row_that_is_refused_changes_nothing_of_rows_that_wait():
    X, y = rows(300)
    model = learner(half_life=50).fit(X[:200], y[:200])
    for i in range(200, 230):
        model.predict(X[:1])
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, 3), np.nan), y[:1])
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_row_is_predicted_alike_beside_any_others_while_rows_wait():
    X, y = rows(300)
    model = KitchenSinksRegressor(Gaussian(1.0), 60, half_life=50, random_state=0)
    model.fit(X[:200], y[:200]).predict(X)
    model.partial_fit(X[200:203], y[200:203])
    together, bound = model.predict(X)[:50], rounding.of_network(model.network_, X[:50], "f4")
    alone = [model.predict(X[i : i + 1])[0] for i in range(50)]
    assert (np.abs(alone - together) <= bound[:, 0]).all()


def test_rows_that_wait_are_saved(tmp_path):
    X, y = rows(400)
    labels = np.where(y > 0, "up", "down")
    model = KitchenSinksClassifier(Gaussian(1.0), 40, half_life=60, random_state=0)
    model.fit(X[:200], labels[:200])
    for i in range(200, 250):
        model.predict_proba(X[:1])
        model.partial_fit(X[i : i + 1], labels[i : i + 1])
    trickless.save(model, tmp_path / "model.trk")
    again = trickless.load(tmp_path / "model.trk")
    for i in range(250, 400):
        for each in (model, again):
            each.partial_fit(X[i : i + 1], labels[i : i + 1])
        np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "the model has not learned any rows"),
        ({"weight_bound": 1.0}, "predict_then_learn does not go with weight_bound=1.0"),
    ],
)
def test_predict_then_learn_says_what_it_needs(change, message):
    X, y = rows(50)
    model = learner(half_life=50, alpha=1e-3)
    if change:
        model.set_params(**change).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict_then_learn(X, y)
    fitted = learner(half_life=50).fit(X, y)
    with pytest.raises(ValueError, match="no standard deviations"):
        fitted.predict_then_learn(X, y, return_std=True)
    with pytest.raises(ValueError, match="some rows have the weight 0"):
        fitted.predict_then_learn(X, y, sample_weight=np.arange(50.0))


def test_a_half_life_that_is_set_later_ages_the_rows_so_far():
    X, y = rows(1000)
    model = learner().partial_fit(X[:500], y[:500]).set_params(half_life=100)
    with pytest.raises(ValueError, match="the rows so far came without time stamps"):
        model.partial_fit(X[500:], y[500:], timestamps=np.arange(500))
    model.partial_fit(X[500:], y[500:])
    weight = 0.5 ** (np.minimum(np.arange(1000)[::-1], 500) / 100)
    expected = learner().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(answers(model)[:, :2], answers(expected)[:, :2], rtol=1e-6)


def test_rows_cannot_be_forgotten_when_it_is_unknown_how_they_faded():
    X, y = rows(300)
    model = learner(half_life=100).fit(X, y, timestamps=np.arange(300)).set_params(half_life=None)
    with pytest.raises(ValueError, match="half_life=None, but earlier rows have faded"):
        model.forget(X[:5], y[:5], timestamps=np.arange(5))


def test_time_stamps_of_rows_that_a_class_weight_leaves_out_are_refused():
    X, y = rows(300)
    model = KitchenSinksClassifier(
        n_neurons=20, half_life=[50, 500], class_weight={True: 0.0}, random_state=0
    )
    with pytest.raises(ValueError, match=r"class_weight leaves out rows.*Remedy: leave"):
        model.partial_fit(X, y > 0, timestamps=np.arange(300))
