"""Columns are standardised by their mean and variance, which may forget."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import trickless
from trickless import StreamingScaler


def rows(n=1000, seed=0):
    """Rows far from 0, of which some values are missing, and a constant column."""
    rng = np.random.default_rng(seed)
    X = 1e4 + rng.normal(size=(n, 4)) * [1.0, 100.0, 1e-3, 0.0]
    X[rng.random(n) < 0.2, 1] = np.nan
    return X


def parts(n, size):
    return [slice(start, start + size) for start in range(0, n, size)]


def literal(X, weight):
    """Weighted mean and variance of one column after the other."""
    there = [~np.isnan(x) for x in X.T]
    mean = [np.average(x[t], weights=weight[t]) for x, t in zip(X.T, there, strict=True)]
    each = zip(X.T, there, mean, strict=True)
    return mean, [np.average((x[t] - m) ** 2, weights=weight[t]) for x, t, m in each]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_a_half_life_it_is_the_standard_scaler(size, weighted, dtype):
    X = rows().astype(dtype)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(X)) if weighted else None
    ours, theirs = StreamingScaler(), StandardScaler()
    for part in parts(len(X), size):
        ours.partial_fit(X[part], sample_weight=None if weight is None else weight[part])
    with np.errstate(invalid="ignore"):  # its variance of a constant may be below 0, by rounding
        theirs.fit(X.astype(float), sample_weight=weight)
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        got, expected = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-15, err_msg=name)
    Z = ours.transform(X)
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, theirs.transform(X.astype(float)), rtol=1e-5, atol=1e-6)
    assert ours.scale_[3] == 1
    back = ours.inverse_transform(Z)
    assert back.dtype == dtype
    np.testing.assert_allclose(back, X, rtol=10 * np.finfo(dtype).eps)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("stamped", [False, True])
def test_with_a_half_life_rows_have_weights_of_their_age(size, stamped):
    X, rng = rows(), np.random.default_rng(2)
    times = np.sort(rng.uniform(0, 500, len(X))) if stamped else np.arange(1000.0)
    weight = rng.uniform(0.1, 3.0, len(X))
    scaler = StreamingScaler(half_life=50.0)
    for part in parts(len(X), size):
        stamps = times[part] if stamped else None
        scaler.partial_fit(X[part], sample_weight=weight[part], timestamps=stamps)
    mean, var = literal(X, weight * 0.5 ** ((times[-1] - times) / 50))
    np.testing.assert_allclose(scaler.mean_, mean, rtol=1e-13)
    np.testing.assert_allclose(scaler.var_, var, rtol=1e-8, atol=1e-15)
    assert scaler.scale_[3] == 1


def test_a_column_that_was_missing_appears():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [6.0, 4.0], [3.0, 8.0]])
    scaler = StreamingScaler()
    assert np.isnan(scaler.partial_fit(X[:2]).mean_).tolist() == [False, True]
    assert np.isnan(scaler.transform([[1.0, 2.0]])).tolist() == [[False, True]]
    assert scaler.partial_fit(X[2:]).mean_.tolist() == [3.0, 6.0]
    assert scaler.var_.tolist() == [3.5, 4.0]
    assert scaler.n_samples_seen_.tolist() == [4.0, 2.0]


def test_old_rows_that_have_lost_all_weight_are_gone():
    """Weights below the smallest number are 0, and then the mean is that of new rows."""
    scaler = StreamingScaler(half_life=1.0).partial_fit([[1.0], [3.0]], timestamps=[0.0, 1.0])
    scaler.partial_fit([[np.nan]], timestamps=[1e5])
    assert scaler.mean_ == pytest.approx([7 / 3])
    assert scaler.partial_fit([[8.0], [10.0]], timestamps=[2e5, 2e5]).mean_.tolist() == [9.0]
    assert scaler.var_.tolist() == [1.0]


@pytest.mark.parametrize("half_life", [None, 100.0])
def test_merging_is_learning_all_rows(half_life):
    X, times = rows(), np.arange(1000.0)
    first, second, whole = (StreamingScaler(half_life) for _ in range(3))
    first.fit(X[:600], timestamps=times[:600])
    second.fit(X[600:], timestamps=times[600:])
    whole.fit(X, timestamps=times)
    merged = second.merge(first)
    np.testing.assert_allclose(merged.mean_, whole.mean_, rtol=1e-13)
    np.testing.assert_allclose(merged.var_, whole.var_, rtol=1e-8, atol=1e-15)
    for other, message in [
        (StandardScaler().fit(X), "merge takes another StreamingScaler"),
        (StreamingScaler(half_life=3).fit(X), "half_life is 3 in other"),
        (StreamingScaler(half_life).fit(X[:, :2]), "n_features_in_ is 2 in other and 4 here"),
    ]:
        with pytest.raises((ValueError, TypeError), match=rf"{message}.* Remedy: "):
            merged.merge(other)
    with pytest.raises(NotFittedError):
        merged.merge(StreamingScaler(half_life))


def test_a_stream_is_saved_in_the_middle_of_scalers(tmp_path):
    X, times = rows(), np.arange(1000.0)
    scaler = StreamingScaler(half_life=70).fit(X[:500], timestamps=times[:500])
    scaler.transform(X)
    trickless.save(scaler, tmp_path / "scaler")
    again = trickless.load(tmp_path / "scaler")
    for each in (scaler, again):
        each.partial_fit(X[500:], timestamps=times[500:])
    np.testing.assert_array_equal(scaler.transform(X), again.transform(X))
    assert again._clock_ == scaler._clock_
    again.moments_.var[0] = -1.0
    trickless.save(again, tmp_path / "scaler")
    with pytest.raises(ValueError, match=r"var: .* is below 0"):
        trickless.load(tmp_path / "scaler")


def test_data_frames_keep_their_names_and_types():
    X = rows(50)
    frame = pd.DataFrame(X, columns=list("abcd")).astype({"b": "Float64"})
    scaler = StreamingScaler().fit(frame)
    np.testing.assert_array_equal(scaler.transform(frame), StreamingScaler().fit_transform(X))
    assert scaler.get_feature_names_out().tolist() == list("abcd")
    with pytest.raises(ValueError, match=r"feature names should match"):
        scaler.partial_fit(frame[list("dcba")])
    assert clone(scaler).set_output(transform="pandas").fit_transform(frame).columns[1] == "b"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"X": np.ones((3, 2))}, "X has 2 features, but StreamingScaler is expecting 4"),
        ({"X": np.full((3, 4), np.inf)}, "X contains infinity"),
        ({"X": np.arange(12.0).reshape(3, 4) * 1e200}, "X reaches 1.1e.201, and squares"),
        ({"X": np.full((3, 4), 1.7e308)}, "X reaches 1.7e.308, and squares"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "cannot be negative"),
        ({"timestamps": [1.0, 2.0, 3.0]}, "the rows so far came without time stamps"),
    ],
)
def test_a_batch_that_cannot_be_learned_changes_nothing(how, message):
    scaler = StreamingScaler(half_life=10).fit(rows(20))
    before = dict(vars(scaler))
    with pytest.raises(ValueError, match=rf"{message}.* Remedy: "):
        scaler.partial_fit(**{"X": np.ones((3, 4))} | how)
    assert vars(scaler) == before
    with pytest.raises(ValueError, match=r"half_life=-1.* Remedy: "):
        scaler.set_params(half_life=-1).partial_fit(rows(3))


def test_parts_of_the_scale_can_be_left_out():
    X = rows()
    scaler = StreamingScaler(with_mean=False).fit(X)
    np.testing.assert_allclose(scaler.transform(X), X / scaler.scale_, rtol=1e-14)
    scaler = StreamingScaler(with_std=False).fit(X)
    assert scaler.scale_ is None
    np.testing.assert_allclose(scaler.transform(X), X - scaler.mean_, rtol=1e-14)
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(X)), X, rtol=1e-14)
