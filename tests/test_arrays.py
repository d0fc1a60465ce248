"""Arrays of images and series, as they come, in everything that takes rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from cases import CLASSIFIERS, KERNEL_LEARNERS, LEARNERS, answers, inputs, name_of
from rounding import gamma
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures, load, save
from trickless.conformal import SplitConformal
from trickless.inference import hsic_test, mmd_test
from trickless.inspection import estimate_kernel
from trickless.neurons import (
    Convolutions,
    Given,
    Landmarks,
    Laplace1,
    Mixture,
    Neurons,
    Patches,
)
from trickless.neurons.layouts import Grids, Images, Series

#: As quick as they can be, since few neurons are read like many.
QUICK = [
    clone(learner).set_params(
        **{name: n for name, n in (("n_neurons", 8), ("n_draws", 4)) if hasattr(learner, name)},
        random_state=0,
    )
    for learner in LEARNERS
]
every_learner = pytest.mark.parametrize("learner", QUICK, ids=name_of)
#: A family that learns its shape, the family for flat rows, the shape of a row as it comes, and the
#: axes of the array in the order of flat rows.
FORMS = {
    "series": (Convolutions(kernels=2), Convolutions(24, kernels=2), (1, 24), (0, 1, 2)),
    "channels": (Convolutions(kernels=2), Convolutions((3, 24), kernels=2), (3, 24), (0, 1, 2)),
    "images": (Patches(patch=3), Patches((6, 5), patch=3), (6, 5), (0, 1, 2)),
    "colours": (Patches(patch=3), Patches((6, 5, 3), patch=3), (6, 5, 3), (0, 1, 2, 3)),
    "channels first": (Patches(patch=3), Patches((6, 5, 3), patch=3), (3, 6, 5), (0, 2, 3, 1)),
    "mixture": (
        Mixture([Convolutions(kernels=2), Convolutions(kernels=3)]),
        Mixture([Convolutions((2, 24), kernels=2), Convolutions((2, 24), kernels=3)]),
        (2, 24),
        (0, 1, 2),
    ),
}
every_form = pytest.mark.parametrize("form", FORMS)


def arrays(form, n=60):
    """Arrays as they come, the same as flat rows, labels, and both families."""
    family, flat_family, shape, order = FORMS[form]
    X = np.cumsum(inputs(n, int(np.prod(shape))), axis=1).reshape(n, *shape)
    return X, X.transpose(order).reshape(n, -1), np.arange(n) % 3, family, flat_family


def unequal(n=40, channels=None, shortest=12, longest=24, seed=0):
    """Series of unequal length, and the same as flat rows that end with missing values."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, longest + 1, n)
    lengths[seed % 5] = longest
    rows = np.full((n, channels or 1, longest), np.nan)
    for i, length in enumerate(lengths):
        rows[i, :, :length] = rng.standard_normal((channels or 1, length)).cumsum(axis=1)
    series = [row[:, :length] for row, length in zip(rows, lengths, strict=True)]
    return series if channels else [each[0] for each in series], rows.reshape(n, -1)


@pytest.mark.parametrize(
    ("learner", "form"),
    [(QUICK[0], form) for form in FORMS]
    + [(each, form) for each in QUICK[1:] for form in ("channels", "channels first")],
    ids=lambda each: each if isinstance(each, str) else name_of(each),
)
def test_arrays_give_the_model_of_flat_rows(learner, form):
    X, flat, y, family, flat_family = arrays(form, 40)
    model = clone(learner).set_params(neurons=family).fit(X, y)
    expected = clone(learner).set_params(neurons=flat_family).fit(flat, y)
    np.testing.assert_array_equal(answers(model, X), answers(expected, flat))
    np.testing.assert_array_equal(answers(model, list(X)), answers(expected, flat))
    assert model.score(X, y) == expected.score(flat, y)
    model.partial_fit(X[:20], y[:20])
    expected.partial_fit(flat[:20], y[:20])
    np.testing.assert_array_equal(answers(model, X), answers(expected, flat))
    assert model.n_features_in_ == flat.shape[1]


@pytest.mark.parametrize("learner", KERNEL_LEARNERS, ids=name_of)
def test_kernels_read_arrays_as_flat_rows(learner):
    X, y = np.tanh(inputs(40, 24)).reshape(40, 2, 3, 4), np.arange(40) % 2
    flat = X.reshape(40, -1)
    model, expected = (clone(learner).set_params(random_state=0) for _ in range(2))
    model.fit(X, y), expected.fit(flat, y)
    assert model.n_features_in_ == 24
    assert model.__sklearn_tags__().input_tags.three_d_array
    for rows in (X, list(X), X.tolist(), flat):
        np.testing.assert_array_equal(answers(model, rows), answers(expected, flat))
    if hasattr(learner, "partial_fit"):
        model.partial_fit(list(X[:9]), y[:9]), expected.partial_fit(flat[:9], y[:9])
        np.testing.assert_array_equal(answers(model, X), answers(expected, flat))
    with pytest.raises(ValueError, match=r"\(40, 3, 2, 4\), but .* \(2, 3, 4\)"):
        model.predict(X.swapaxes(1, 2))
    with pytest.raises(ValueError, match="unequal shapes"):
        clone(learner).fit([np.ones(3), np.ones(4)], [0, 1])


def assert_near(found, expected):
    """Equal up to the rounding of sums over at most 2,048 columns, whose order may differ."""
    numbers = np.issubdtype(np.asarray(expected).dtype, np.floating)
    error = gamma(2048, "float32") * np.abs(expected).max() if numbers else 0
    np.testing.assert_allclose(found, expected, rtol=0, atol=error)


@pytest.mark.parametrize(
    ("learner", "channels"), [(QUICK[0], None), *((each, 2) for each in QUICK)]
)
def test_series_of_unequal_length_give_the_model_of_padded_rows(learner, channels):
    series, flat = unequal(channels=channels)
    y = np.arange(len(series)) % 2
    shape = (channels or 1, 24)
    model = clone(learner).set_params(neurons=Convolutions(kernels=2)).fit(series, y)
    expected = clone(learner).set_params(neurons=Convolutions(shape, 2)).fit(flat, y)
    np.testing.assert_array_equal(answers(model, series), answers(expected, flat))
    objects = np.empty(len(series), dtype=object)
    objects[:] = series
    np.testing.assert_array_equal(answers(model, objects), answers(expected, flat))
    shorter = [each[..., :11] for each in series]
    assert_near(answers(model, shorter)[:7], answers(model, shorter[:7]))
    model.partial_fit(shorter, y)
    assert model.neurons_.shape_ == shape


@every_learner
def test_longer_series_can_be_predicted_and_do_not_change_the_others(learner):
    series, _ = unequal(channels=2)
    y = np.arange(len(series)) % 2
    model = clone(learner).set_params(neurons=Convolutions(kernels=2)).fit(series, y)
    longer = np.concatenate([inputs(5, 200).reshape(5, 2, 100), np.zeros((5, 2, 1))], axis=2)
    both = answers(model, [*series, *longer])
    assert_near(both[: len(series)], answers(model, series))
    assert_near(both[len(series) :], answers(model, longer))
    with pytest.raises(ValueError, match=r"of 101 times, but .* at most 24.*shape=\(2, 101\)"):
        model.partial_fit(longer, np.arange(5) % 2)


def test_longer_series_need_families_that_are_pooled():
    X, _, y, family, _ = arrays("channels")
    mixture = Mixture([Landmarks(Laplace1()), family])
    model = KitchenSinksClassifier(mixture, n_neurons=9, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="series of 48 times, but the neurons read at most 24"):
        model.predict(np.concatenate([X, X], axis=2))


def test_a_given_length_is_kept_for_longer_series_of_a_stream():
    series, _ = unequal(channels=2)
    y = np.arange(len(series)) % 2
    model = KitchenSinksClassifier(Convolutions((2, 50), kernels=2), n_neurons=10, random_state=0)
    longer, _ = unequal(channels=2, longest=50, seed=1)
    model.fit_stream([(series, y), (longer, y)])
    padded = [np.hstack([each, np.full((2, 50 - each.shape[1]), np.nan)]) for each in series]
    expected = clone(model).fit_stream([(np.stack(padded), y), (longer, y)])
    np.testing.assert_array_equal(answers(model, longer), answers(expected, longer))


@every_form
def test_random_features_kernels_and_tests_read_arrays(form):
    X, flat, _, family, flat_family = arrays(form, 40)
    few = {"random_state": 0}
    features = RandomFeatures(family, 6, scale="unit", **few).fit(X)
    expected = RandomFeatures(flat_family, 6, scale="unit", **few).fit(flat)
    np.testing.assert_array_equal(features.transform(X), expected.transform(flat))
    single = X.astype(np.float32)
    assert clone(features).fit(single).partial_fit(single).transform(X).dtype == np.float32
    assert mmd_test(X[:20], X[20:], family, 6, n_permutations=9, **few) == mmd_test(
        flat[:20], flat[20:], flat_family, 6, n_permutations=9, **few
    )
    np.testing.assert_array_equal(
        estimate_kernel(family, X[:3], X[3:7], 5, **few),
        estimate_kernel(flat_family, flat[:3], flat[3:7], 5, **few),
    )


def test_series_of_unequal_length_are_compared():
    series, flat = unequal(60, channels=2)
    neurons, of_flat = Convolutions(kernels=2), Convolutions((2, 24), kernels=2)
    given = {"n_neurons": 6, "n_permutations": 9, "random_state": 0}
    assert mmd_test(series[:30], series[30:], neurons, **given) == mmd_test(
        flat[:30], flat[30:], of_flat, **given
    )
    y = inputs(60, 1)
    assert hsic_test(series, y, neurons, **given) == hsic_test(flat, y, of_flat, **given)
    assert estimate_kernel(neurons, series[:5], series[5:], 5)[0].shape == (5, 55)
    single = [each.astype("float32") for each in series]
    assert RandomFeatures(neurons, 5).fit(single).transform(single).dtype == np.float32
    with pytest.raises(ValueError, match=r"^mmd_test: the series of Y have 1 channel"):
        mmd_test(series, [each[0] for each in series], neurons)


def test_scikit_learn_validates_and_searches_over_arrays():
    X, flat, y, family, flat_family = arrays("channels first")
    model = KitchenSinksClassifier(family, n_neurons=10, random_state=0)
    scores = cross_val_score(make_pipeline(model), X, y, cv=3)
    flat_model = clone(model).set_params(neurons=flat_family)
    np.testing.assert_array_equal(scores, cross_val_score(flat_model, flat, y, cv=3))
    series, _ = unequal()
    y = np.arange(len(series)) % 2
    model = KitchenSinksClassifier("convolutions", n_neurons=5, random_state=0)
    assert model.__sklearn_tags__().input_tags.three_d_array
    assert not KitchenSinksClassifier().__sklearn_tags__().input_tags.three_d_array
    grid = GridSearchCV(model, {"neurons__kernels": [2, 3]}, cv=2).fit(series, y)
    assert len(grid.predict(series)) == len(series)
    pipeline = make_pipeline(RandomFeatures(Convolutions(kernels=2), 5), KitchenSinksClassifier())
    assert np.isfinite(cross_val_score(pipeline, series, y, cv=2)).all()
    intervals = SplitConformal(KitchenSinksRegressor(Convolutions(), 5).fit(series[:10], y[:10]))
    assert intervals.calibrate(series[10:], y[10:]).predict_interval(series).shape == (40, 2)


def changed(model, layout, name, value, message, folder):
    """A file of a model in which the layout of rows does not suit the neurons is refused."""
    before = getattr(layout, name)
    setattr(layout, name, value)
    save(model, folder / "changed")
    with pytest.raises(ValueError, match=message):
        load(folder / "changed")
    setattr(layout, name, before)


@every_form
def test_files_keep_the_shape(form, tmp_path):
    X, _, y, family, _ = arrays(form)
    model = KitchenSinksClassifier(family, n_neurons=5, random_state=0).fit(X, y)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model")
    np.testing.assert_array_equal(answers(copy, X), answers(model, X))
    assert copy.neurons_.inputs_.shape == model._rows_.kind.layout.shape
    with pytest.raises(ValueError, match="Remedy"):
        copy.predict(X.swapaxes(1, 2))
    layout = copy._rows_.kind.layout
    if not layout.any_length:
        changed(copy, layout, "any_length", True, "any length", tmp_path)
    changed(copy, layout, "shape", layout.shape[::-1], "shape of neurons_", tmp_path)
    copy.neurons_.inputs_ = None
    changed(copy, layout, "shape", (7, 7), "not that of a model", tmp_path)


class Corners(Neurons):
    """The differences of two corners of a grid along a random axis."""

    accepts_arrays = True

    def draw(self, rng, n):
        return (rng.random((n, 1)),)

    def activate(self, X, weights):
        grids = X.reshape(len(X), *self.inputs_.shape)
        return np.tanh((grids[:, 0, 0] - grids[:, -1, -1])[:, None] * weights[0].T)


def test_a_family_of_a_user_may_read_arrays():
    X = inputs(60, 12).reshape(60, 3, 4)
    y = X[:, 0, 0] > X[:, 2, 3]
    model = KitchenSinksClassifier(Corners(), 20, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match=r"must have the shape \(3, 4\).*X\.transpose\(0, 2, 1\)"):
        model.predict(X.reshape(60, 4, 3))


def test_neurons_of_a_model_keep_its_shape():
    X, _, y, family, _ = arrays("channels")
    model = KitchenSinksClassifier(family, n_neurons=5, random_state=0).fit(X, y)
    again = KitchenSinksClassifier(Given.of(model), n_neurons=5).fit(X, y)
    assert again.neurons_.parts_[0].shape_ == (3, 24)
    with pytest.raises(ValueError, match=r"2 channel\(s\), but the neurons read 3"):
        again.fit(X.reshape(len(X), 2, 36), y)


@pytest.mark.parametrize(
    ("layout", "shape", "learned"),
    [
        (Series(), (5, 3, 9), (3, 9)),
        (Images(), (5, 9, 8), (9, 8)),
        (Images(), (5, 9, 8, 4), (9, 8, 4)),
        (Images(), (5, 4, 9, 8), (9, 8, 4)),
        (Images(), (5, 2, 9, 1), (2, 9, 1)),
        (Images(), (5, 1, 9, 2), (9, 2, 1)),
        (Images(), (5, 49), (7, 7)),
        (Images(), (5, 50), None),
        (Images((9, 8, 5)), (5, 5, 9, 8), (9, 8, 5)),
        (Images((9, 8)), (5, 1, 9, 8), (9, 8)),
        (Images((9, 8, 1)), (5, 9, 8), (9, 8, 1)),
        (Grids(), (5, 2, 3, 4, 5), (2, 3, 4, 5)),
        (Grids((1, 9, 8)), (5, 9, 8), (1, 9, 8)),
    ],
)
def test_shapes_are_learned(layout, shape, learned):
    X = np.arange(np.prod(shape)).reshape(shape)
    found, rows = layout.learned("", X)
    assert found.shape == learned
    assert rows.shape == (5, np.prod(shape[1:]))
    np.testing.assert_array_equal(np.sort(rows), X.reshape(5, -1))
    np.testing.assert_array_equal(found.flat("", X), rows)


S = inputs(12, 60).reshape(12, 3, 20)
U, _ = unequal(12, channels=3)
Y = np.arange(12) % 2


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (S[:, :, :5], r"series have 5 times, but a kernel has 9 taps.*Remedy: longer"),
        (S[:, :, :0], "series 0 of X has no values.*leave empty series out"),
        ([*U[:-1], U[0][:, :0]], "series 11 of X has no values"),
        (S * np.nan, "all values of the training series are missing"),
        (S[:, None], r"\(12, 1, 3, 20\), but series have one dimension, or two.*Patches"),
        ([each[None] for each in U], r"series 0 of X has the shape \(1, 3, \d+\)"),
        ([*U[:-1], U[0][:2]], r"series 11 of X has 2 channel\(s\), but series 0 has 3.*Remedy"),
        ([*U[:-1], U[0][0]], r"series 11 of X has 1 channel\(s\), but series 0 has 3"),
        ([*U[:-1], [[1.0], [1.0, 2.0], [3.0]]], "channels of series 11 of X have unequal lengths"),
        ([*U[:-1], "wave"], r"series 11 of X has the shape \(\)"),
        ([*U[:-1], U[0].astype(str)], "series 11 of X has the type <U.* must hold numbers"),
        (S.transpose(0, 2, 1), r"20 channels of 3 times.*X\.transpose\(0, 2, 1\).*shape=\(20, 3\)"),
        ([each.T for each in U], r"series 1 of X has \d+ channel.*\[series\.T for series in X\]"),
        (S * np.where(S > 2, np.inf, 1), "infinity"),
    ],
)
def test_series_that_cannot_be_learned_are_refused_with_a_remedy(X, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        KitchenSinksClassifier(Convolutions(kernels=2), 5).fit(X, Y)
    assert "Remedy: " in str(caught.value)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (S[:, :2], r"2 channel\(s\), but the neurons read 3"),
        (S.transpose(0, 2, 1), r"20 channel\(s\).*X\.transpose\(0, 2, 1\)"),
        (S[:, 0], r"X has 20 features, but .* expecting 60.*\(n_rows, channels, length\)"),
        ([each[0] for each in U], r"1 channel\(s\), but the neurons read 3"),
        ([each[:, :0] for each in U], "series 0 of X has no values"),
    ],
)
def test_series_that_cannot_be_predicted_are_refused_with_a_remedy(X, message):
    model = KitchenSinksClassifier(Convolutions(kernels=2), 5).fit(S, Y)
    with pytest.raises(ValueError, match=f"^KitchenSinksClassifier: .*{message}"):
        model.predict(X)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((8, 9, 7), r"\(12, 8, 9, 7\), which does not tell.*shape=\(8, 9, 7\).*shape=\(9, 7, 8\)"),
        ((3, 9, 3), "does not tell whether the channels"),
        ((1, 1, 9, 9), r"images have two dimensions, or three with channels.*Remedy"),
        ((50,), "50 columns are no square image.*Remedy"),
    ],
)
def test_images_that_cannot_be_learned_are_refused_with_a_remedy(shape, message):
    with pytest.raises(ValueError, match=message):
        KitchenSinksClassifier(Patches(patch=2), 5).fit(np.ones((12, *shape)), Y)


def test_images_of_unequal_sizes_are_refused_with_a_remedy():
    sizes = [inputs(7 + i % 2, 8) for i in range(12)]
    with pytest.raises(ValueError, match=r"rows of X have unequal shapes.*one size"):
        KitchenSinksClassifier(Patches(patch=2), 5).fit(sizes, Y)
    model = KitchenSinksClassifier(Patches(patch=2), 5).fit(np.stack(sizes[::2]), Y[:6])
    with pytest.raises(ValueError, match=r"\(12, 8, 8\), but rows must .* \(7, 8\)"):
        model.predict(np.ones((12, 8, 8)))


@pytest.mark.parametrize("neurons", ["gaussian", "trees", "tabular"])
def test_other_families_name_the_remedy_for_arrays(neurons):
    for learner in CLASSIFIERS:
        model = clone(learner).set_params(neurons=neurons)
        with pytest.raises(ValueError, match=r"Convolutions\(\) for series.*X\.reshape\(len\(X\)"):
            model.fit(S, Y)
        with pytest.raises(ValueError, match=r"unequal shapes.*Convolutions\(\)"):
            model.fit(U, Y)
