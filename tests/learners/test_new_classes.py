"""Classes that appear later in a stream."""

import numpy as np
import pytest

import trickless
from cases import shots
from trickless import (
    BoostedTreesClassifier,
    DoublyStochasticClassifier,
    KitchenSinksClassifier,
    ShrinkingGradientClassifier,
)
from trickless.kernels import KernelGradientClassifier
from trickless.neurons import Gaussian

N = 600


def rows(seed=0):
    """Rows of four classes, which appear one after the other: "c", "a", "b", "d"."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    place = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    there = np.array([["c"] * 4, ["c", "a"] * 2, ["c", "a", "b", "b"], ["c", "a", "b", "d"]])
    return X, there[np.minimum(np.arange(N) // 120, 3), place]


def learned(classes, size=60, rows=rows, **parameters):
    how = {"n_neurons": 40, "random_state": 0, "dtype": "float64"} | parameters
    model, (X, y) = KitchenSinksClassifier(Gaussian(1.0), **how), rows()
    for start in range(0, N, size):
        model.partial_fit(X[start : start + size], y[start : start + size], classes)
    return model


def answers(model):
    X, _ = rows(seed=1)
    return np.column_stack([model.decision_function(X), model.predict_proba(X)])


@pytest.mark.parametrize(
    ("half_life", "alpha", "size"),
    [(None, "auto", 20), (None, 1e-3, N), (100.0, "auto", N), (100.0, 1e-3, 60)],
)
def test_new_classes_are_as_if_declared_from_the_beginning(half_life, alpha, size):
    """Rows are kept at first, and multiplied later; alpha is chosen by rows that are left out."""
    how = {"half_life": half_life, "alpha": alpha, "size": size}
    grown, declared = (learned(classes, **how) for classes in ("grow", list("abcd")))
    assert grown.classes_.tolist() == declared.classes_.tolist() == list("abcd")
    np.testing.assert_allclose(answers(grown), answers(declared), rtol=0, atol=1e-10)


def test_weights_and_an_origin_far_from_0_change_nothing():
    """The first batch has few rows of one class, so that the origin of the targets is near −1."""
    X, _ = rows()
    y = np.where(np.arange(N) % 9 == 0, 5, 3)
    y[300:] = np.random.default_rng(2).integers(2, 7, 300)
    weight = np.random.default_rng(3).uniform(0.1, 5.0, N)
    models = [
        KitchenSinksClassifier(Gaussian(1.0), 40, random_state=0, class_weight={6: 2.0})
        for _ in range(2)
    ]
    for model, classes in zip(models, ("grow", [2, 3, 4, 5, 6]), strict=True):
        for start in range(0, N, 100):
            part = slice(start, start + 100)
            model.partial_fit(X[part], y[part], classes, weight[part])
    np.testing.assert_allclose(answers(models[0]), answers(models[1]), rtol=0, atol=1e-10)


def test_a_single_class_is_predicted_until_there_are_more():
    X, y = rows()
    model = KitchenSinksClassifier(n_neurons=40, random_state=0).partial_fit(X[:60], y[:60], "grow")
    assert set(model.predict(X)) == {"c"}
    assert model.score(X[:60], y[:60]) == 1
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((N, 1)))
    assert model.predict_set(X).all()
    model.partial_fit(X[120:180], y[120:180])
    assert model.classes_.tolist() == ["a", "c"]
    assert model.decision_function(X).shape == (N,)
    declared = KitchenSinksClassifier(n_neurons=40, random_state=0)
    declared.partial_fit(X[:60], y[:60], ["a", "c"]).partial_fit(X[120:180], y[120:180])
    np.testing.assert_array_equal(model.predict(X), declared.predict(X))
    assert set(model.predict(X)) == {"a", "c"}


def test_classes_may_grow_from_a_later_batch_on():
    X, y = rows()
    model = KitchenSinksClassifier(Gaussian(1.0), 40, random_state=0)
    model.partial_fit(X[:240], y[:240])
    with pytest.raises(ValueError, match=r"\['b'\], which are not among .*classes='grow'"):
        model.partial_fit(X[240:360], y[240:360])
    model.partial_fit(X[240:360], y[240:360], "grow").partial_fit(X[360:], y[360:])
    declared = KitchenSinksClassifier(Gaussian(1.0), 40, random_state=0)
    declared.partial_fit(X, y, list("abcd"))
    np.testing.assert_allclose(answers(model), answers(declared), rtol=0, atol=1e-7)


def test_models_with_different_classes_are_merged():
    X, y = rows()
    make = KitchenSinksClassifier(Gaussian(1.0), 40, random_state=0, dtype="float64")

    def part(some, classes):
        return trickless.KitchenSinksClassifier(**make.get_params(deep=False)).partial_fit(
            X[some], y[some], classes
        )

    halves = slice(0, 100), slice(300, 600)  # only "c", and all but "d" before the last part
    declared = part(halves[0], list("abcd")).merge(part(halves[1], list("abcd")))
    for order in (halves, halves[::-1]):
        one, other = (part(some, "grow") for some in order)
        before = answers(other)
        np.testing.assert_allclose(answers(one.merge(other)), answers(declared), atol=1e-10)
        np.testing.assert_array_equal(answers(other), before)
    fixed = part(halves[1], None)
    with pytest.raises(ValueError, match=r"classes_ is .* or classes='grow'"):
        fixed.merge(part(halves[0], "grow"))
    fixed.merge(part(halves[1], "grow"))


@pytest.mark.parametrize(("n", "half_life"), [(N, 1000), (6 * N, None)])
def test_rows_of_before_a_new_class_can_be_forgotten(n, half_life):
    X = np.random.default_rng(0).normal(size=(n, 3))
    y = np.array(["b", "c", "a"])[
        (X[:, 0] > 0) + ((X[:, 1] > 1) & (np.arange(n) > n // 2)).astype(int)
    ]
    times = np.arange(n)
    models = [
        KitchenSinksClassifier(Gaussian(1.0), 40, alpha=1e-3, random_state=0, half_life=half_life)
        for _ in range(2)
    ]
    kept = times >= 50
    for model, some in zip(models, (kept | True, kept), strict=True):
        for half in (times <= n // 2, times > n // 2):
            both = half & some
            model.partial_fit(X[both], y[both], "grow", timestamps=times[both])
    models[0].forget(X[~kept], y[~kept], timestamps=times[~kept])
    np.testing.assert_allclose(*(model.decision_function(X) for model in models), rtol=0, atol=2e-5)
    before = models[0].decision_function(X)
    with pytest.raises(ValueError, match=r"\['new'\], which are not among"):
        models[0].forget(X[:2], ["new", "b"], timestamps=times[:2])
    np.testing.assert_array_equal(models[0].decision_function(X), before)
    assert models[0].classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([7, 8], TypeError, r"label\(s\) \[7, 8\], which are of another type than the classes"),
        ([1.5, 2.5], ValueError, "Unknown label type"),
        ([None, "new"], ValueError, "y contains None"),
        (["new"], ValueError, "inconsistent numbers"),
    ],
)
def test_labels_that_cannot_be_classes_change_nothing(y, error, message):
    X, _ = rows()
    model = learned("grow")
    before, classes = answers(model), model.classes_
    with pytest.raises(error, match=message):
        model.partial_fit(X[:2], y)
    with pytest.raises(ValueError, match="contains missing values"):
        model.partial_fit(np.full((2, 3), np.nan), ["new", "a"])
    np.testing.assert_array_equal(answers(model), before)
    assert model.classes_ is classes


def test_an_ensemble_of_half_lives_fixes_its_classes_in_the_first_batch():
    X, y = rows()
    model = KitchenSinksClassifier(Gaussian(1.0), 20, half_life="auto", random_state=0)
    model.partial_fit(X[:200], y[:200])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="but the first batch fixed the classes"):
        model.partial_fit(X[200:], y[200:], "grow")
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.classes_.tolist() == ["a", "c"]


def of_ensembles(classes, intercept, size=60, n=N):
    how = {"fit_intercept": intercept, "random_state": 0, "dtype": "float64"}
    model, (X, y) = KitchenSinksClassifier("gaussian", 40, half_life="auto", **how), rows()
    for start in range(0, n, size):
        model.partial_fit(X[start : start + size], y[start : start + size], classes)
    return model


@pytest.mark.parametrize("intercept", [True, False])
def test_machines_of_an_ensemble_learn_new_classes_as_if_declared(intercept):
    """Only the weights of experts differ. They were learned without the new classes."""
    grown, declared = (of_ensembles(c, intercept)._sums_ for c in ("grow", list("abcd")))
    for mine, other in zip(grown.groups, declared.groups, strict=True):
        np.testing.assert_allclose(mine.current()[..., :4], other.current(), atol=1e-9)
    np.testing.assert_allclose(grown.noise.squares[:, :4], declared.noise.squares, rtol=1e-9)
    assert not np.array_equal(grown.shares.weights, declared.shares.weights)


@pytest.mark.parametrize("size", [7, 300])
def test_an_ensemble_predicts_new_classes(size):
    model, (X, y) = of_ensembles("grow", True, size), rows()
    assert model.classes_.tolist() == list("abcd")
    declared = of_ensembles(list("abcd"), True, size)
    assert model.score(X[480:], y[480:]) > declared.score(X[480:], y[480:]) - 0.02 > 0.85
    both = (each.predict_proba(X) for each in (model, declared))
    assert np.abs(next(both) - next(both)).mean() < 0.02
    # In the last rows that are kept, hardly any was thought to be of a class that came later.
    recent = model._sums_.recent
    assert recent.targets.shape == (N, 4) and set(recent.targets.ravel()) == {-1.0, 1.0}
    assert (recent.targets.sum(axis=1) == -2).all()
    assert np.exp(recent.decisions).sum(axis=1) == pytest.approx(1.0, abs=1e-6)
    assert (recent.decisions.argmax(axis=1) == recent.targets.argmax(axis=1))[300:].mean() > 0.7


def test_an_ensemble_is_saved_among_its_early_rows_with_its_classes(tmp_path):
    X, y = rows()
    model = of_ensembles("grow", True, 50, 150)  # fewer rows than for the family
    trickless.save(model, tmp_path / "model")
    again = trickless.load(tmp_path / "model")
    for each in (model, again):
        for part in (slice(150, 260), slice(260, N)):
            each.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert again.classes_.tolist() == list("abcd")


def test_rows_one_by_one_are_learned_with_their_new_classes():
    """Solutions that follow the rows in between do not change the sums."""
    X, y = rows()
    how = {"half_life": 100, "alpha": 1e-2, "random_state": 0, "dtype": "float64"}
    model = KitchenSinksClassifier(Gaussian(1.0), 40, **how)
    for start in range(0, N, 5):
        model.partial_fit(X[start : start + 5], y[start : start + 5], "grow")
        model.predict(X[:3])
    declared = learned(list("abcd"), **how)
    for name in ("gram", "cross", "y_sum", "y_square", "z_sum", "origin"):
        got, expected = (getattr(each.statistics_, name) for each in (model, declared))
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9, err_msg=name)
    assert model.classes_.tolist() == list("abcd")


def test_labels_of_several_columns_do_not_grow():
    X, _ = rows()
    model, y = KitchenSinksClassifier(n_neurons=20), (X > 0).astype(int)
    with pytest.raises(ValueError, match=r"classes='grow', but y has a column for each of 3"):
        model.partial_fit(X, y, "grow")
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"classes='grow', but y has a column for each of 3"):
        model.partial_fit(X, y, "grow")


def test_a_stream_is_saved_in_the_middle_with_its_classes(tmp_path):
    X, y = rows()
    model = KitchenSinksClassifier(Gaussian(1.0), 40, half_life=200, random_state=0)
    model.partial_fit(X[:60], y[:60], "grow").partial_fit(X[60:300], y[60:300])
    trickless.save(model, tmp_path / "model")
    again = trickless.load(tmp_path / "model")
    for each in (model, again):
        each.partial_fit(X[300:], y[300:])
    assert again.classes_.tolist() == list("abcd")
    np.testing.assert_array_equal(answers(model), answers(again))


@pytest.mark.parametrize(
    ("failing", "half_life"), [(1, None), (2, None), (4, None), (2, "auto"), (4, "auto")]
)
def test_a_stream_that_breaks_off_keeps_the_classes_of_its_batches(failing, half_life):
    X, y = rows()
    parts = [(X[start : start + 100], y[start : start + 100]) for start in range(0, N, 100)]

    def breaking():
        yield from parts[:failing]
        broken = parts[failing][0].copy()
        broken[0] = np.nan
        yield broken, parts[failing][1]

    def model():
        family = Gaussian(1.0) if half_life is None else "gaussian"  # of which 256 rows decide
        return KitchenSinksClassifier(family, 40, half_life=half_life, random_state=0)

    broken = model()
    with pytest.raises(ValueError, match="NaN"):
        broken.fit_stream(breaking(), "grow")
    assert broken.classes_.tolist() == sorted(set(y[: 100 * failing]))
    for part in parts[failing:]:
        broken.partial_fit(*part)
    np.testing.assert_array_equal(answers(broken), answers(model().fit_stream(parts, "grow")))


ROUNDS = {"random_state": 0, "dtype": "float64"}
ONLINE = {
    "full": ShrinkingGradientClassifier(Gaussian(1.0), 300, estimate="full", n_draws=64, **ROUNDS),
    "projection": ShrinkingGradientClassifier(
        Gaussian(1.0), 300, estimate="full", n_draws=64, max_support=64, average=False, **ROUNDS
    ),
    "fading": ShrinkingGradientClassifier(
        Gaussian(1.0), 300, estimate="full", n_draws=64, half_life=100, **ROUNDS
    ),
    "steps": DoublyStochasticClassifier(Gaussian(1.0), loss="squared_hinge", **ROUNDS),
    "fading steps": DoublyStochasticClassifier(
        Gaussian(1.0), loss="squared_error", half_life=100, **ROUNDS
    ),
}
COUPLED = {
    "steps": DoublyStochasticClassifier(Gaussian(1.0), random_state=0),
    "trees": BoostedTreesClassifier(max_depth=3, random_state=0),
    "theorem": DoublyStochasticClassifier(
        Gaussian(1.0), schedule="theorem", alpha=0.1, random_state=0
    ),
    "noisy": KernelGradientClassifier(shots, random_state=0),
    "unbiased": KernelGradientClassifier(shots, max_support=400, random_state=0),
}


def streamed(learner, classes, X, y, size=60):
    model = type(learner)(**learner.get_params(deep=False))
    for start in range(0, len(y), size):
        model.partial_fit(X[start : start + size], y[start : start + size], classes)
    return model


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("n", [180, N])
def test_outputs_of_new_classes_are_as_if_declared(name, n):
    """Two classes of 180 rows have one decision value, as if there were no third output."""
    X, labels = (each[:n] for each in rows())
    names = sorted(set(labels))
    models = (streamed(ONLINE[name], classes, X, labels) for classes in ("grow", names))
    grown, declared = models
    assert grown.classes_.tolist() == names
    X, _ = rows(seed=1)
    answers = [each.decision_function(X) for each in (grown, declared)]
    assert answers[0].shape == answers[1].shape
    np.testing.assert_allclose(*answers, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(grown.predict(X), declared.predict(X))
    if hasattr(grown, "predict_proba"):
        answers = [each.predict_proba(X) for each in (grown, declared)]
        np.testing.assert_allclose(*answers, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(*(each.predict_set(X) for each in (grown, declared)))
    errors = [each.online_error_ for each in (grown, declared)]
    # Before all classes have come, a class without rows may be predicted if it is declared.
    last = max(np.argmax(labels == name) for name in names)
    several = np.cumsum(errors[0][:, 0]) > last // 60 * 60
    assert several.any()
    np.testing.assert_allclose(errors[0][several], errors[1][several], atol=1e-12)


@pytest.mark.parametrize("name", COUPLED)
def test_learners_with_other_draws_and_losses_learn_new_classes(name):
    X, y = rows()
    one = streamed(COUPLED[name], "grow", X[:60], y[:60])
    assert set(one.predict(X)) == {"c"}
    np.testing.assert_array_equal(one.predict_proba(X), np.ones((N, 1)))
    X, y = X.repeat(2, axis=0), y.repeat(2)
    model = streamed(COUPLED[name], "grow", X, y)
    assert model.classes_.tolist() == list("abcd")
    assert model.predict_proba(X).shape == (2 * N, 4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    declared = streamed(COUPLED[name], list("abcd"), X, y)
    last = slice(-2 * 240, None)
    assert model.score(X[last], y[last]) > declared.score(X[last], y[last]) - 0.1


@pytest.mark.parametrize("name", ONLINE | COUPLED)
def test_online_learners_are_saved_in_the_middle_with_their_classes(name, tmp_path):
    X, y = rows()
    model = streamed((ONLINE | COUPLED)[name], "grow", X[:300], y[:300])
    if name == "noisy":
        model.set_params(kernel=shots)
    trickless.save(model, tmp_path / "model")
    again = trickless.load(tmp_path / "model", [shots])
    for each in (model, again):
        for start in range(300, N, 60):
            each.partial_fit(X[start : start + 60], y[start : start + 60])
    assert again.classes_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))


@pytest.mark.parametrize("name", ONLINE)
def test_online_learners_are_unchanged_by_batches_that_fail(name):
    X, y = rows()
    model = streamed(ONLINE[name], "grow", X[:180], y[:180])
    before, classes = model.decision_function(X), model.classes_
    for bad, labels in ((X[:2], [1, 2]), (np.full((2, 3), np.nan), ["new", "a"])):
        with pytest.raises((TypeError, ValueError)):
            model.partial_fit(bad, labels)
    assert model.classes_ is classes
    np.testing.assert_array_equal(model.decision_function(X), before)
    fixed = streamed(ONLINE[name], None, X[120:180], y[120:180])
    with pytest.raises(ValueError, match="classes='grow' from the first call"):
        fixed.partial_fit(X, y, "grow")


def test_errors_of_estimates_belong_to_the_values_that_are_shown():
    X, y = rows()
    for n, shape in ((60, (N,)), (180, (N,)), (N, (N, 4))):
        model = streamed(ONLINE["full"], "grow", X[:n], y[:n])
        value, error = model.decision_function(X, return_standard_error=True)
        assert value.shape == error.shape == shape
        np.testing.assert_allclose(value, model.decision_function(X), atol=1e-12)
        assert (error > 0).all()
        certified = model.decision_function(X[:5], tolerance=0.1)
        assert np.abs(certified - value[:5]).max() < 0.1 + 6 * error.max()
