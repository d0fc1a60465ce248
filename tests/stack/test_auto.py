"""Stacks: their weights, what parts know of rows, and the kinds of data that they take."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import trickless
from trickless import AutoClassifier, AutoRegressor, KitchenSinksRegressor
from trickless._stack.parts import Linear, Sinks, Trees
from trickless._stack.reading import Matrix, Numbers
from trickless._stack.training import Training
from trickless._stack.weights import OF_CLASSES, OF_NUMBERS, Loss, weights_of
from trickless.neurons import Gaussian


def table(n, seed=0):
    """A frame with numbers, gaps, categories and dates, and numbers that depend on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.standard_normal(n),
            "kind": rng.choice(["x", "y", "z"], n),
            "gap": np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D"),
        }
    )
    signal = np.sin(2 * frame.a) + 2.0 * (frame.kind == "x") + np.nan_to_num(frame.gap)
    return frame, signal.to_numpy() + 0.3 * rng.standard_normal(n)


def training(X, y, n_classes=0, **options):
    targets = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0) if n_classes else y[:, None]
    if n_classes == 2:
        targets = targets[:, 1:]
    loss = "log_loss" if n_classes else "squared_error"
    known = {"weight": None, "groups": None, "seed": 0, "loss": loss, "n_jobs": 1} | options
    codes = np.zeros(X.shape[1], int)
    return Training(X, X, codes, None, targets, n_classes, **known)


def parts_at_random(rng, numbers, noise, n_rows=300):
    """Targets, and values of parts with some amounts of noise."""
    noise = np.reshape(noise, (-1, 1, 1)) * rng.standard_normal((len(noise), n_rows, 3))
    if numbers:
        y = rng.standard_normal((n_rows, 3)) * [1, 10, 100]
        return y, y + noise * [1, 10, 100]
    goals = np.eye(3)[rng.integers(3, size=n_rows)]
    odds = np.exp(2 * goals + noise)
    return goals, odds / odds.sum(axis=2, keepdims=True)


LOSSES = [(n, OF_NUMBERS, True) for n in OF_NUMBERS] + [(n, OF_CLASSES, False) for n in OF_CLASSES]


@pytest.mark.parametrize(("name", "forms", "scaled"), LOSSES)
def test_weights_sum_to_1_and_no_part_is_better_than_the_stack(name, forms, scaled):
    rng = np.random.default_rng(0)
    alone = 0
    for n_parts in (1, 2, 4):
        for _ in range(10):
            goals, values = parts_at_random(rng, scaled, rng.uniform(0.2, 4, n_parts))
            loss = Loss(forms[name], goals, rng.exponential(size=len(goals)), scaled)
            weights = weights_of(values, loss)
            assert (weights >= 0).all()
            assert weights.sum() == pytest.approx(1)
            least = min(loss.mean(each) for each in values)
            assert loss.mean(np.tensordot(weights, values, 1)) <= least * (1 + 1e-12)
            alone += weights.max() == 1
    assert 10 <= alone < 25  # parts of independent errors help each other


@pytest.mark.parametrize(("name", "forms", "scaled"), LOSSES)
def test_weights_of_two_parts_have_the_least_loss(name, forms, scaled):
    rng = np.random.default_rng(1)
    goals, values = parts_at_random(rng, scaled, [1, 1.2])
    loss = Loss(forms[name], goals, np.ones(len(goals)), scaled)
    weights = weights_of(values, loss)
    shares = np.linspace(0, 1, 1001)
    lost = [loss.mean((1 - v) * values[0] + v * values[1]) for v in shares]
    assert 0 < weights[1] < 1
    assert weights[1] == pytest.approx(shares[np.argmin(lost)], abs=0.01)


def test_parts_that_are_copies_of_the_best_do_not_replace_it():
    rng = np.random.default_rng(2)
    goals = rng.standard_normal((100, 1))
    part = goals + rng.standard_normal((100, 1))
    loss = Loss(OF_NUMBERS["squared_error"], goals, np.ones(100), True)
    weights = weights_of(np.stack([part, part, part]), loss)
    assert sorted(weights) == [0, 0, 1]


@pytest.mark.parametrize("given", ["groups", "no groups"])
@pytest.mark.parametrize("n_neurons", [60, 15])
def test_kitchen_sinks_predicts_rows_as_a_fit_without_them_does(n_neurons, given):
    """Few rows are left out with their fold, and some of many rows together."""
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((40, 3)), rng.uniform(0.5, 2, 40)
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(40)
    groups = np.arange(40) % 9 if given == "groups" else None
    rows = training(X, y, weight=weight, groups=groups)
    learned = Sinks("", Gaussian(2.0), n_neurons=n_neurons).learn(rows)
    assert learned.fitted.model.statistics_.kept is None or n_neurons == 60
    known, alpha = learned.fitted.model.predict(X), learned.fitted.model.alpha_
    folds = [each for each, _ in rows.sides()]
    if n_neurons == 15:
        folds = [np.flatnonzero(groups == 4) if groups is not None else np.array([0, 7, 39])]
    for fold in folds:
        others = np.delete(np.arange(40), fold)
        model = KitchenSinksRegressor(Gaussian(2.0), n_neurons, random_state=0)
        # alpha is relative to the mean loss
        model.set_params(alpha=alpha * weight.sum() / weight[others].sum())
        refit = model.fit(X[others], y[others], weight[others]).predict(X[fold])
        off, change = np.abs(learned.unseen(fold)[:, 0] - refit), np.abs(known[fold] - refit)
        assert off.max() < 1e-3 * change.max()


@pytest.mark.parametrize("n", [300, 2500])
def test_parts_do_not_know_the_rows_that_they_predict(n):
    """Of pure noise nothing can be known: errors are those of new rows, whose variance is 1."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    rows = training(X, y)
    for part in (Sinks("", "gaussian"), Sinks("", "tabular"), Trees(), Linear(Matrix.of)):
        learned = part.learn(rows)
        some = rows.sample() if learned.only is None else learned.only
        squares = (learned.unseen(some)[:, 0] - y[some]) ** 2
        noise = (y[some] ** 2).mean()
        assert squares.mean() > noise - 3 * squares.std() / np.sqrt(len(some)) / 3
        fitted = (learned.fitted.values(X[some], X[some], 0)[:, 0] - y[some]) ** 2
        assert fitted.mean() <= squares.mean() * (1 + 1e-6)  # equal for a constant


def test_trees_predict_held_out_rows_in_the_order_asked_for():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((1500, 2))
    rows = training(X, 10 * np.round(X[:, 0]))
    learned = Trees().learn(rows)
    assert np.array_equal(learned.only, np.unique(learned.only))
    assert len(learned.only) == 150
    values = learned.unseen(learned.only)[:, 0]
    assert np.corrcoef(values, rows.y[learned.only])[0, 1] > 0.9
    few = learned.only[[5, 50]]
    assert np.array_equal(learned.unseen(few)[:, 0], values[[5, 50]])


@pytest.mark.filterwarnings("ignore:.*as if rows came in groups")  # of the fit without them
@pytest.mark.parametrize("part", [Sinks("", "gaussian"), Trees(), Linear(Matrix.of)])
def test_groups_stay_together(part):
    """Rows of a group share a number that nothing else tells, and a column that names the group."""
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(60), 5)
    place = rng.standard_normal((60, 4))
    X, y = place[groups], rng.standard_normal(60)[groups]
    y = y + 0.01 * rng.standard_normal(300)
    error = {}
    for name, given in (("apart", None), ("together", groups)):
        learned = part.learn(training(X, y, groups=given))
        some = np.arange(300) if learned.only is None else learned.only
        error[name] = np.mean((learned.unseen(some)[:, 0] - y[some]) ** 2) / y.var()
    assert error["together"] > 0.8
    if not isinstance(part, Linear):  # which cannot tell 60 places apart
        assert error["apart"] < 0.5


@pytest.mark.parametrize("effort", ["fast", "default", "best"])
def test_a_stack_is_not_worse_than_its_parts_on_new_rows(effort):
    frame, y = table(1300)
    model = AutoRegressor(effort=effort, random_state=0).fit(frame[:300], y[:300])
    new, targets = frame[300:], y[300:]
    stack = (model.predict(new) - targets) ** 2
    matrix = model._rows_to_predict(new)
    for part in model.parts_:
        alone = (part.values(new, matrix, 0)[:, 0] - targets) ** 2
        worse = stack - alone
        assert worse.mean() <= 3 * worse.std() / np.sqrt(len(worse))
    assert stack.mean() < 0.3 * y.var()
    assert ("boosted trees" in model.report_.parts) == (effort != "fast")


def test_the_stack_is_the_weighted_sum_of_its_parts():
    frame, y = table(400)
    model = AutoClassifier(random_state=0).fit(frame, y > 1)
    assert len(model.parts_) == len(model.weights_) > 1
    matrix = model._rows_to_predict(frame)
    parts = [part.values(frame, matrix, 2) for part in model.parts_]
    expected = np.tensordot(model.weights_, parts, 1)
    np.testing.assert_allclose(model.predict_proba(frame), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict(frame), expected.argmax(axis=1))


def test_the_report_names_parts_weights_losses_and_seconds():
    X, y = load_diabetes(return_X_y=True)
    model = AutoRegressor(random_state=0).fit(X, y)
    report = model.report_
    assert report.weights.sum() == pytest.approx(1)
    assert (np.diff(report.weights) <= 0).all()
    assert report.loss <= report.losses.min()
    assert (report.seconds > 0).all()
    first = repr(report).split("\n")
    assert first[0].split() == ["part", "weight", "loss", "seconds"]
    assert first[-1].startswith("stack")
    html = report._repr_html_()
    assert html.count("<tr>") == len(report.parts) + 2
    assert f"<td>{report.parts[0]}</td>" in html


def test_frames_may_have_categories_gaps_and_dates():
    frame, y = table(900)
    labels = np.where(y > np.median(y), "high", "low")
    numbers = AutoRegressor(random_state=0).fit(frame[:600], y[:600])
    classes = AutoClassifier(random_state=0).fit(frame[:600], labels[:600])
    assert numbers.score(frame[600:], y[600:]) > 0.8
    assert classes.score(frame[600:], labels[600:]) > 0.8
    assert numbers.feature_names_in_.tolist() == ["a", "kind", "gap", "day"]
    assert set(classes.predict(frame[600:])) == {"high", "low"}
    with pytest.raises(ValueError, match="feature names"):
        numbers.predict(frame[["kind", "a", "gap", "day"]])


def test_standardised_numbers_have_mean_0_and_variance_1():
    X = np.array([[1.0, np.nan, 0], [2, 5, 1], [3, 7, 1], [4, 9, 2]])
    rows = training(X, X[:, 0], weight=np.array([1.0, 2, 3, 4]))
    rows = rows._replace(n_categories=np.array([0, 0, 5]))
    numbers = Numbers.of(rows)
    Z = numbers(X, X)
    assert Z.shape == (4, 2 + 1 + 3)  # two numbers, a column of gaps, three categories
    np.testing.assert_allclose(rows.share @ Z, 0, atol=1e-12)
    np.testing.assert_allclose(rows.share @ Z**2, 1)
    new = numbers(None, np.array([[1.0, np.nan, 4]]))  # a new category has no indicator
    assert new[0, 1] == Z[0, 1]
    np.testing.assert_allclose(new[0, 3:], -numbers.mean[3:] / numbers.scale[3:])


def test_sparse_text_is_learned_about_as_well_as_by_ridge_regression():
    from sklearn.linear_model import RidgeCV

    rng = np.random.default_rng(6)
    topics = rng.dirichlet(np.full(1500, 0.02), 8)
    share = rng.dirichlet(np.full(8, 0.3), 700)
    X = scipy.sparse.csr_matrix([rng.multinomial(60, each @ topics) for each in share])
    X = X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))).tocsr()
    y = share @ rng.standard_normal(8) + 0.1 * rng.standard_normal(700)
    model = AutoRegressor(random_state=0).fit(X[:500], y[:500])
    ridge = RidgeCV(np.logspace(-3, 3, 13)).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > ridge.score(X[500:], y[500:]) - 0.02
    labels = share.argmax(axis=1)
    classes = AutoClassifier(random_state=0).fit(X[:500], labels[:500])
    assert classes.score(X[500:], labels[500:]) > 0.6


def test_few_of_many_columns_are_found():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((700, 1500))
    y = X[:, 0] + X[:, 1] - X[:, 2] + X[:, 3] + 0.5 * rng.standard_normal(700)
    model = AutoRegressor(effort="fast", random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.75
    assert model.report_.parts[0] == "linear"


def test_arrays_of_three_dimensions_are_series_and_of_four_images():
    rng = np.random.default_rng(8)
    y = np.arange(200) % 2
    steps = rng.standard_normal((200, 60))
    smooth = np.apply_along_axis(lambda x: np.convolve(x, np.ones(5) / 2, "same"), 1, steps)
    X = np.where(y[:, None] == 1, smooth, steps)
    for rows in (X[:, None], [each[: 50 + i % 10] for i, each in enumerate(X)]):
        model = AutoClassifier(random_state=0).fit(rows[:120], y[:120])
        assert model._kind_ == "series"
        assert model.score(rows[120:], y[120:]) > 0.8
    digits = load_digits()
    images, labels = digits.images[:600, :, :, None], digits.target[:600]
    model = AutoClassifier(random_state=0).fit(images[:400], labels[:400])
    assert model._kind_ == "images"
    assert model.score(images[400:], labels[400:]) > 0.9


def test_rows_of_weight_0_do_not_count():
    frame, y = table(300)
    weight = np.ones(300)
    weight[::3] = 0
    one = AutoRegressor(random_state=0).fit(frame, y, weight)
    two = AutoRegressor(random_state=0).fit(frame[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(one.predict(frame), two.predict(frame))


def test_classes_of_weight_0_have_no_probability():
    X, y = load_breast_cancer(return_X_y=True)
    y = np.where(X[:, 0] > np.quantile(X[:, 0], 0.8), 2, y)
    model = AutoClassifier(class_weight={2: 0}, random_state=0).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X)[:, 2].max() < 1e-6
    balanced = AutoClassifier(class_weight="balanced", random_state=0).fit(X, y)
    assert set(balanced.predict(X)) == {0, 1, 2}


def test_intervals_and_sets_hold_new_targets():
    frame, y = table(1600)
    model = AutoRegressor(random_state=0).fit(frame[:600], y[:600])
    low, high = model.predict_interval(frame[600:], confidence=0.8).T
    inside = (low <= y[600:]) & (y[600:] <= high)
    # 600 errors tell the quantile, and 1,000 rows the share inside.
    noise = np.sqrt(0.8 * 0.2 * (1 / 600 + 1 / 1000))
    assert abs(inside.mean() - 0.8) < 3 * noise
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    classes = AutoClassifier(random_state=0).fit(frame[:600], labels[:600])
    sets = classes.predict_set(frame[600:], confidence=0.8)
    covered = sets[np.arange(1000), labels[600:]]
    assert covered.mean() > 0.8 - 3 * noise
    assert 1 <= sets.sum(axis=1).mean() < 2.5


def test_several_outputs_are_learned_together_by_a_stack():
    frame, y = table(400)
    both = np.column_stack([y, 1000 * frame.a])
    model = AutoRegressor(random_state=0).fit(frame[:300], both[:300])
    assert model.predict(frame[300:]).shape == (100, 2)
    assert model.predict_interval(frame[300:]).shape == (100, 2, 2)
    assert model.score(frame[300:], both[300:]) > 0.8


@pytest.mark.parametrize("loss", ["absolute_error", "squared_error"])
def test_other_losses_have_other_weights(loss):
    frame, y = table(400)
    y = y + np.random.default_rng(9).standard_t(1.5, 400)
    model = AutoRegressor(loss=loss, random_state=0).fit(frame, y)
    assert model.report_.loss <= model.report_.losses.min()
    brier = AutoClassifier(loss="squared_error", random_state=0).fit(frame, y > 0)
    assert brier.report_.loss < 0.25  # of a coin, as the mean over both classes


def test_what_is_explained_already_is_left_to_quick_parts():
    X = np.random.default_rng(10).standard_normal((300, 2))
    model = AutoRegressor(random_state=0).fit(X, X @ [1, 2])
    assert "boosted trees" not in model.report_.parts
    assert model.score(X, X @ [1, 2]) > 0.999


def test_models_can_be_cloned_saved_and_used_in_pipelines(tmp_path):
    frame, y = table(300)
    model = AutoRegressor(random_state=0).fit(frame, y)
    again = clone(model).fit(frame, y)
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert trickless.save(model, tmp_path / "auto.trickless") == []
    loaded = trickless.load(tmp_path / "auto.trickless")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(loaded.predict_interval(frame), model.predict_interval(frame))
    assert repr(loaded.report_) == repr(model.report_)
    compact = model.compact()
    np.testing.assert_array_equal(compact.predict(frame), model.predict(frame))
    X, labels = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), AutoClassifier(effort="fast", random_state=0))
    assert pipeline.fit(X[:300], labels[:300]).score(X[300:], labels[300:]) > 0.9


@pytest.mark.parametrize(
    ("parameters", "options", "said"),
    [
        ({"effort": "most"}, {}, r"effort='most'.*Remedy: effort='default'"),
        ({"loss": "hinge"}, {}, r"loss='hinge'.*Remedy: loss='squared_error'"),
        ({}, {"groups": np.zeros(30)}, "X has rows of 1 group.*Remedy: at least two groups"),
        ({}, {"groups": np.zeros(3)}, r"groups has the shape \(3,\)"),
        ({}, {"sample_weight": -np.ones(30)}, "AutoRegressor.*sample_weight"),
    ],
)
def test_errors_name_the_parameter_and_the_remedy(parameters, options, said):
    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.raises(ValueError, match=said):
        AutoRegressor(**parameters).fit(X, X[:, 0], **options)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    frame, y = table(100)
    model = AutoRegressor(effort="fast", random_state=0).fit(frame, y)
    before = model.predict(frame)
    with pytest.raises(ValueError, match="AutoRegressor"):
        model.fit(frame, np.where(y > 0, y, np.nan))
    np.testing.assert_array_equal(model.predict(frame), before)


@pytest.mark.parametrize("most", [37, 60])
def test_trees_that_keep_some_of_their_held_out_rows_say_which(most, monkeypatch):
    """With more than 20,480 rows, they keep 2,048 of a tenth, and were asked for the others."""
    monkeypatch.setattr("trickless._solvers.early_stopping.MOST", most)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3))
    y = np.arange(1000.0)  # which tells the rows
    rows = training(X, y)
    learned = Trees(n_trees=30).learn(rows)
    assert len(learned.only) == most
    held = learned.fitted.model._unseen()
    np.testing.assert_array_equal(np.sort(held.targets[:, 0]), np.sort(y_of(learned, rows)))
    some = learned.only[::3]
    order = np.argsort(held.targets[:, 0])
    expected = held.decisions[order][:, 0][::3]
    np.testing.assert_array_equal(learned.unseen(some)[:, 0], expected)
    assert AutoRegressor(random_state=0).fit(X, X[:, 0] ** 2).report_.loss < 0.1


def y_of(learned, rows):
    """Targets of the held-out rows, as the trees know them."""
    return learned.fitted.model._targets_.matrix(rows.y[learned.only], stream=False)[:, 0]
