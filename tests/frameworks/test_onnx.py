"""Graphs of ONNX answer as the models do, for every learner and family."""

import numpy as np
import pandas as pd
import pytest
from array_api_compat import array_namespace
from sklearn.base import clone, is_regressor
from sklearn.ensemble import VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import trickless
from cases import (
    CLASSIFIERS,
    FAMILIES,
    KERNEL_LEARNERS,
    REGRESSORS,
    SOME,
    answers,
    inputs,
    name_of,
    problem,
    shots,
    suited,
)
from trickless import (
    AutoClassifier,
    AutoRegressor,
    BoostedTreesRegressor,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
)
from trickless.conformal import SplitConformal
from trickless.export import to_onnx
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import (
    Deep,
    FromFunction,
    Gaussian,
    Given,
    Landmarks,
    Matern,
    Neurons,
    On,
    Stumps,
    Tabular,
    Trees,
)

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

#: Their error function is in single precision only.
SINGLE = {"dense-erf"}
#: What a graph may differ from its model, as a share of the spread of predictions.
CLOSE = {"float32": 1e-5, "float64": 1e-12}


def run(graph, rows):
    """The outputs of a graph, in the runtime, by name."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    rows = rows if isinstance(rows, dict) else {"X": rows}
    names = [output.name for output in graph.graph.output]
    return dict(zip(names, session.run(None, rows), strict=True))


def noisy(learner, family="gaussian", rows=100):
    """A problem whose targets have noise, so that coefficients do not amplify rounding."""
    X, y = problem(learner, rows)
    if is_regressor(learner):
        y = y + 0.3 * np.random.default_rng(1).standard_normal(rows)
    return suited(family, X), y


def smooth(model):
    """Set an alpha with which coefficients do not amplify the rounding of single precision."""
    return model.set_params(alpha=1e-2) if "alpha" in model.get_params() else model


def assert_close(found, expected, tolerance):
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * expected.std()


#: Every family in both precisions; learners sum its activations alike.
CASES = [(family, REGRESSORS[0], dtype) for family in FAMILIES for dtype in ("float32", "float64")]
CASES += [(family, learner, "float32") for family in SOME for learner in REGRESSORS[1:]]


@pytest.mark.parametrize(("family", "learner", "dtype"), CASES, ids=str)
def test_graphs_predict_as_every_learner_with_every_family(family, learner, dtype):
    X, y = noisy(learner, family)
    X[0] = 0
    model = clone(learner).set_params(neurons=FAMILIES[family], dtype=dtype, random_state=0)
    model.set_params(n_neurons=min(model.n_neurons, 100))
    smooth(model).fit(X[:80], y[:80])
    of_error_bars = ("std", "interval") if dtype == "float64" else ()
    graph = to_onnx(model, outputs=("prediction", *of_error_bars), confidence=0.8)
    found, close = run(graph, X.astype(dtype)), CLOSE["float32" if family in SINGLE else dtype]
    assert_close(found["prediction"], model.predict(X), close)
    if of_error_bars:
        assert_close(found["std"], model.predict(X, return_std=True)[1], 1e3 * close)
        assert_close(found["interval"], model.predict_interval(X, 0.8), 1e2 * close)


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=name_of)
@pytest.mark.parametrize("family", SOME)
def test_graphs_classify_as_every_learner(family, learner):
    """The decisions are those of regressors, and few neurons tell what is made of them."""
    X, y = noisy(learner, family, rows=60)
    y = y > 0 if name_of(learner).startswith("Doubly") else y  # two classes
    model = clone(learner).set_params(neurons=FAMILIES[family], n_neurons=8, random_state=0)
    model.fit(X, y)
    found = run(to_onnx(model), X.astype(np.float32))
    np.testing.assert_array_equal(found["label"], model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)
    else:
        assert_close(found["decision"], model.decision_function(X), 1e-5)


EXACT = [(each, "rbf") for each in KERNEL_LEARNERS if "Noisy" not in name_of(each)]
EXACT += [(EXACT[0][0], kernel) for kernel in ("linear", "poly", "cosine", "laplacian")]


@pytest.mark.parametrize(("learner", "kernel"), EXACT, ids=str)
def test_graphs_predict_as_exact_kernels_do(learner, kernel):
    X, y = noisy(learner, rows=60)
    params = {"gamma": 0.2} if kernel in ("rbf", "poly") else None
    model = clone(learner).set_params(kernel=kernel, kernel_params=params, random_state=0)
    model.fit(X[:40], y[:40])
    output = "prediction" if is_regressor(model) else "decision"
    (found,) = run(to_onnx(model, outputs=output), X).values()
    assert_close(found, answers(model, X), 1e-12)


@pytest.mark.parametrize(
    "neurons",
    [
        Trees(shape="binary", max_leaves=40),
        Trees(leaves="linear"),
        Trees(depth=1),
        Landmarks(Matern(2.5), n_points=20),
        On([3, 1], Gaussian()) * Stumps(),
        2 * Tabular() + Trees(depth=2),
        Deep(hidden=()),
    ],
    ids=repr,
)
def test_gaps_and_compositions(neurons):
    X, y = noisy(REGRESSORS[1], rows=300)
    if neurons.accepts_tables:
        X[::7, 1] = np.nan
        X[::11, 3] = np.nan
    model = DoublyStochasticRegressor(neurons, 20, random_state=0).fit(X[:200], y[:200])
    (found,) = run(to_onnx(model), X.astype(np.float32)).values()
    assert_close(found, model.predict(X), 1e-5)


def test_series_have_gaps_that_python_fills_and_graphs_do_not():
    X, y = noisy(REGRESSORS[0], "convolutions")
    model = KitchenSinksRegressor("convolutions", 20, random_state=0).fit(X, y)
    rows = np.stack([X[0], X[0]])
    rows[1, 4] = np.nan
    found = run(to_onnx(model), rows.astype(np.float32))["prediction"]
    assert found[0] == pytest.approx(model.predict(rows)[0], abs=1e-5)
    assert np.isnan(found[1])


@pytest.mark.parametrize("neurons", ["laplace", "matern"])
def test_graphs_are_nearer_to_exact_sums_than_models_that_amplify_rounding(neurons):
    X = inputs(500, 5).astype(np.float32)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    model = KitchenSinksRegressor(neurons, 150, alpha=1e-10, random_state=0).fit(X, y)
    network = model.network_
    ((_, weights),) = network.source.pieces(0, 150)
    exact = tuple(weight.astype(float) for weight in weights)
    f = network.neurons._combine(X.astype(float), exact, network.coef.astype(float))
    exact = model._targets_.values(model._targets_.shown(f + network.intercept))[:, 0]
    off = run(to_onnx(model), X)["prediction"] - exact
    own = model.predict(X) - exact
    assert np.abs(own).max() > 5e-6 * exact.std()  # its own rounding
    assert np.sqrt(np.mean(off**2)) < np.sqrt(np.mean(own**2))


def test_given_trees_are_written():
    X, y = noisy(REGRESSORS[0])
    trees = Given.of(BoostedTreesRegressor(20, random_state=0).fit(X, y))
    model = KitchenSinksRegressor(trees, 20, random_state=0).fit(X, y)
    assert_close(run(to_onnx(model), X.astype(np.float32))["prediction"], model.predict(X), 1e-12)


def test_values_on_thresholds_fall_on_the_side_of_the_model():
    """Single precision rounds thresholds and rows alike."""
    X = np.random.default_rng(0).integers(0, 40, (300, 2)) / 10
    model = DoublyStochasticRegressor(Trees(), 50, random_state=0).fit(X, X[:, 0] * X[:, 1])
    steps = model.neurons_.bins_.thresholds[0]
    rows = np.stack([steps, np.full(len(steps), 1.7)], axis=1)
    rows = np.concatenate([rows, np.nextafter(rows, 9), np.nextafter(rows, 0)]).astype(np.float32)
    assert_close(run(to_onnx(model), rows)["prediction"], model.predict(rows), 1e-12)


LABELS = {
    "text": np.array(["no", "naïve", "yes"]),
    "objects": np.array(["a", "b", "c"], dtype=object),
    "integers": np.array([-(2**63), 0, 2**40]),
    "floats": np.array([0.0, 1.0, 2.0]),
}


LABELLED = [
    *CLASSIFIERS,
    KitchenSinksClassifier(n_neurons=40, loss="log_loss"),
    DoublyStochasticClassifier(n_neurons=40, loss="squared_error", schedule="block"),
]


@pytest.mark.parametrize(
    ("learner", "n_classes", "labels"),
    [
        *((learner, n_classes, "text") for learner in LABELLED for n_classes in (2, 3)),
        *((CLASSIFIERS[0], 3, labels) for labels in LABELS if labels != "text"),
        *((CLASSIFIERS[0], 2, labels) for labels in LABELS if labels != "text"),
    ],
)
def test_labels_and_probabilities(learner, n_classes, labels):
    X, y = noisy(learner)
    y = LABELS[labels][np.minimum(y, n_classes - 1)]
    model = clone(learner).set_params(random_state=0).fit(X, y)
    found = run(to_onnx(model), X.astype(np.float32))
    assert next(iter(found)) == "label"
    np.testing.assert_array_equal(found["label"], model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)
        np.testing.assert_allclose(found["probabilities"].sum(axis=1), 1, atol=1e-12)
    else:
        assert_close(found["decision"], model.decision_function(X), 1e-5)


def test_booleans_sets_of_labels_and_classes_that_grow():
    X, y = noisy(CLASSIFIERS[0])
    models = [KitchenSinksClassifier(n_neurons=40, random_state=0).fit(X, y > 0)]
    models.append(clone(models[0]).fit(X, np.stack([y > 0, y > 1, X[:, 3] > 0], axis=1)))
    for learner in (models[0], DoublyStochasticClassifier(n_neurons=40, random_state=0)):
        growing = clone(learner).partial_fit(X[y == 0], y[y == 0], classes="grow")
        models += [clone(learner).partial_fit(X, y > 0, classes="grow"), growing]
    for model in models:
        found = run(to_onnx(model), X.astype(np.float32))
        np.testing.assert_array_equal(found["label"], model.predict(X))
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize(
    "params",
    [
        {"loss": "poisson"},
        {"loss": "gamma"},
        {"loss": "quantile", "quantile": [0.1, 0.5, 0.9]},
        {"loss": "absolute_error"},
    ],
    ids=str,
)
def test_links_of_losses(params):
    learner = REGRESSORS[1]
    X, y = noisy(learner)
    y = np.random.default_rng(0).poisson(np.exp(y)) + 1.0 * (params["loss"] != "poisson")
    model = smooth(clone(learner)).set_params(**params, random_state=0).fit(X, y)
    (found,) = run(to_onnx(model), X.astype(np.float32)).values()
    assert_close(found, model.predict(X), 1e-5)


def test_several_targets_far_from_0():
    X, y = noisy(REGRESSORS[0])
    model = smooth(KitchenSinksRegressor(n_neurons=40, random_state=0))
    model.fit(X, np.stack([y + 1e7, -y], 1))
    found, expected = run(to_onnx(model), X.astype(np.float32))["prediction"], model.predict(X)
    assert (np.abs(found - expected).max(axis=0) < 1e-5 * expected.std(axis=0)).all()


ERROR_BARS = {
    "plain": {},
    "few rows": {"n_neurons": 300},
    "weights": {},
    "outputs": {},
    "passes": {"solver": "iterative"},
}


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("case", ERROR_BARS)
def test_standard_deviations_and_intervals(case, compact):
    X, y = noisy(REGRESSORS[0], rows=120)
    y = np.stack([y, X[:, 0] + y**2], axis=1) if case == "outputs" else y
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if case == "weights" else None
    model = KitchenSinksRegressor(n_neurons=40, random_state=0).set_params(**ERROR_BARS[case])
    model = model.fit(X, y, weight)
    model = model.compact() if compact else model
    outputs = ("interval", "prediction") if case == "passes" else ("std", "interval", "prediction")
    found = run(to_onnx(model, outputs=outputs, confidence=0.8), X.astype(np.float32))
    assert tuple(found) == outputs
    assert_close(found["prediction"], model.predict(X), 1e-5)
    assert_close(found["interval"], model.predict_interval(X, 0.8), 1e-5)
    if "std" in found:
        np.testing.assert_allclose(found["std"], model.predict(X, return_std=True)[1], 1e-5)


@pytest.mark.parametrize(
    "params", [{}, {"loss": "tweedie"}, {"loss": "quantile", "quantile": [0.1, 0.9]}], ids=str
)
def test_intervals_from_rows_held_out(params):
    X, y = noisy(REGRESSORS[1], rows=200)
    model = BoostedTreesRegressor(40, early_stopping=True, random_state=0)
    model.set_params(**params).fit(X, np.exp(y))
    found = run(to_onnx(model, outputs=["interval"], confidence=0.7), X)
    np.testing.assert_allclose(found["interval"], model.predict_interval(X, 0.7), 1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        KitchenSinksClassifier(n_neurons=20),
        *(DoublyStochasticClassifier(n_neurons=20, early_stopping=True, loss=loss)
          for loss in ("log_loss", "hinge")),
    ],
    ids=str,
)  # fmt: skip
def test_sets_of_classes(model, n_classes):
    X, y = noisy(CLASSIFIERS[0], rows=200)
    model = clone(model).set_params(random_state=0).fit(X, np.minimum(y, n_classes - 1))
    X = inputs(50, 4, seed=1)  # others, because the score of a row of the fit is the limit itself
    found = run(to_onnx(model, outputs=["set"], confidence=0.8), X.astype(np.float32))["set"]
    np.testing.assert_array_equal(found, model.predict_set(X, 0.8))


def test_intervals_and_sets_from_rows_of_others():
    X, y = noisy(REGRESSORS[0], rows=200)
    several = np.stack([y, np.exp(y)], axis=1)
    for model, targets, output in (
        (KitchenSinksRegressor(n_neurons=20, random_state=0), several, "interval"),
        (DoublyStochasticClassifier(n_neurons=20, random_state=0), y > 0, "set"),
    ):
        conformal = SplitConformal(model.fit(X[:100], targets[:100]))
        conformal.calibrate(X[100:], targets[100:])
        graph = to_onnx(conformal, outputs=output, confidence=0.8)
        found = run(graph, X[100:].astype(np.float32))[output]  # one of which is the bound
        expected = getattr(conformal, f"predict_{output}")(X[100:], 0.8)
        np.testing.assert_allclose(found, expected, atol=1e-4)
    with pytest.raises(ValueError, match=r"width depends on the row.*Remedy"):
        to_onnx(conformal.set_params(scale="std"), outputs=output)


@pytest.mark.parametrize("scale", ["kernel", "unit"])
@pytest.mark.parametrize("family", ["gaussian", "trees", "tabular", "patches", "mixture"])
def test_random_features(family, scale):
    X = suited(family, inputs(60, 4)).astype(np.float32)
    model = RandomFeatures(FAMILIES[family], 270, scale=scale, random_state=0, sparse_output=False)
    expected = model.fit(X).transform(X)
    found = run(to_onnx(model), X)["features"]
    assert found.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


def table(n=300):
    """A data frame with columns of every kind, gaps, and targets."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n) / 1.0,
            "town": rng.choice(["A", "B", "Zürich", "x y"], n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.random(n) * 700, unit="D"),
            "member": rng.random(n) < 0.5,
            "prediction": rng.standard_normal(n),
            "street": [f"s{i}" for i in rng.integers(0, 300, n)],
        }
    )
    frame["when"] = frame["when"].astype("datetime64[us]")
    frame.loc[::7, "age"], frame.loc[::5, "town"] = np.nan, None
    y = np.nan_to_num(frame["age"]) / 30 + (frame["town"] == "A") + frame["prediction"]
    return frame, y + 0.3 * rng.standard_normal(n)


def later(frame):
    """Other rows of the table, with new categories and values between those of training."""
    frame = frame.copy()
    frame["age"] += 0.37
    frame.loc[::11, "town"], frame.loc[::3, "street"] = "NA", "nan"  # which are text
    return frame


def columns(graph, frame):
    """The columns of a data frame as a graph takes them."""
    found = {}
    for each in graph.graph.input:
        column, kind = frame[each.name], each.type.tensor_type.elem_type
        if kind == 8:
            values = column.where(column.notna(), "").astype(object)
            if each.name == "town":  # another Unicode form
                values = values.str.normalize("NFD")
        elif column.dtype.kind == "M":
            values = (column - pd.Timestamp(0)) / pd.Timedelta("1D")
        else:
            values = column.astype(np.float32 if kind == 1 else np.float64)
        found[each.name] = values.to_numpy()[:, None]
    return found


@pytest.mark.parametrize(
    "learner",
    [
        KitchenSinksRegressor("tabular", n_neurons=60),
        BoostedTreesRegressor(60),
        AutoRegressor(),
        DoublyStochasticRegressor(Trees(shape="binary"), 60),
        KitchenSinksRegressor(On(["age", "prediction"], Tabular()) + On("town", Tabular()), 60),
    ],
    ids=name_of,
)
def test_data_frames_have_an_input_for_each_column(learner):
    frame, y = table()
    model = clone(learner).set_params(random_state=0).fit(frame, y)
    graph = to_onnx(model)
    for rows in (frame, later(frame)):
        found = run(graph, columns(graph, rows))
        assert list(found) == ["prediction_"]  # since there is a column of that name
        assert_close(found["prediction_"], model.predict(rows), 1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stacks_of_parts(n_classes):
    frame, y = table(150)  # few, so that no part is the best alone
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = AutoClassifier(random_state=0).fit(frame, labels)
    assert len(model.parts_) > 1
    graph = to_onnx(model, outputs=("label", "probabilities", "set"))
    found = run(graph, columns(graph, frame))
    assert np.abs(found["probabilities"] - model.predict_proba(frame)).max() < 1e-5
    assert (found["label"] == model.predict(frame)).all()
    assert (found["set"] == model.predict_set(frame)).mean() > 0.99  # but for ties


@pytest.mark.parametrize("stack", [AutoRegressor(), AutoClassifier()], ids=name_of)
def test_stacks_with_a_linear_model(stack):
    X = np.random.default_rng(1).standard_normal((120, 100))
    y = X[:, 0] - X[:, 1]
    model = stack.set_params(effort="fast", random_state=0).fit(
        X, y if is_regressor(stack) else y > 0
    )
    assert "linear" in [part.name for part in model.parts_]
    answer = "prediction" if is_regressor(stack) else "probabilities"
    expected = model.predict(X) if is_regressor(stack) else model.predict_proba(X)
    assert_close(run(to_onnx(model), X)[answer], expected, 1e-5)


def test_categories_that_were_learned_later_have_their_codes():
    X = pd.DataFrame({"town": ["A", "B", "C", None] * 50})
    Z = X.replace({"B": "D", "C": "E"})
    model = KitchenSinksRegressor("tabular", n_neurons=60, random_state=0)
    model.partial_fit(X, np.arange(200) % 4).partial_fit(Z, 9 + np.arange(200) % 4)
    rows = pd.DataFrame({"town": ["A", "B", "C", "D", "E", "F", None]})
    assert_close(
        run(to_onnx(model), columns(to_onnx(model), rows))["prediction"], model.predict(rows), 1e-5
    )


@pytest.mark.parametrize("dtype", CLOSE)
def test_pipelines_by_skl2onnx(dtype):
    skl2onnx = pytest.importorskip("skl2onnx")
    import trickless.export.pipelines  # noqa: F401

    X, y = noisy(REGRESSORS[0])
    regressors = [
        KitchenSinksRegressor(n_neurons=40, random_state=0, dtype=dtype),
        VotingRegressor([(f"{i}", BoostedTreesRegressor(20)) for i in range(2)]),
    ]
    for learner in regressors:
        model = make_pipeline(StandardScaler(), learner).fit(X, y)
        graph = skl2onnx.to_onnx(model, X[:1].astype(dtype))
        assert_close(run(graph, X.astype(dtype))["variable"][:, 0], model.predict(X), CLOSE[dtype])
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.7, 0.7])]
    classifiers = [
        KitchenSinksClassifier(n_neurons=40, random_state=0),
        make_pipeline(RandomFeatures(n_neurons=40, random_state=0), LogisticRegression()),
    ]
    for learner in classifiers:
        model = make_pipeline(StandardScaler(), learner).fit(X, labels)
        graph = skl2onnx.to_onnx(model, X[:1].astype(dtype), options={"zipmap": False})
        found = run(graph, X.astype(dtype))
        np.testing.assert_array_equal(found["label"], model.predict(X))
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)
    rows = X.astype(np.float32)  # the operator of zipmap takes no others
    graph = skl2onnx.to_onnx(model, rows[:1])
    assert set(run(graph, rows)["output_probability"][0]) == {"a", "b", "c"}
    model = BoostedTreesRegressor(10).fit(*table())
    with pytest.raises(ValueError, match="an input for each column"):
        skl2onnx.to_onnx(model, X[:1])


def test_files_are_whole_or_absent_and_not_larger_than_the_model(tmp_path):
    import onnx

    X, y = noisy(REGRESSORS[1], rows=400)
    model = BoostedTreesRegressor(60, random_state=0).fit(X, y)
    file, saved = tmp_path / "model.onnx", tmp_path / "model.trickless"
    to_onnx(model, file)
    graph = onnx.load(file)
    onnx.checker.check_model(graph, full_check=True)
    assert {each.domain: each.version for each in graph.opset_import} == {"": 18}
    assert_close(run(graph, X)["prediction"], model.predict(X), 1e-12)
    trickless.save(model, saved, for_prediction=True)
    assert file.stat().st_size < 1.2 * saved.stat().st_size
    before = file.read_bytes()
    with pytest.raises(ValueError, match="is a folder"):
        to_onnx(model, tmp_path)
    with pytest.raises(TypeError, match=r"to_onnx: path=3, but .*Remedy"):
        to_onnx(model, 3)
    with pytest.raises(FileNotFoundError, match="missing"):
        to_onnx(model, tmp_path / "missing" / "model.onnx")
    series = np.cumsum(np.tile(X, 3), axis=1)
    series[::5, -2:] = np.nan
    with pytest.raises(ValueError, match=r"Convolutions\(\) cannot be written.* gaps.*Remedy"):
        to_onnx(KitchenSinksRegressor("convolutions", 20).fit(series, y), file)
    assert file.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {file.name, saved.name}


class Peeking(Neurons):
    """A family that looks at its rows."""

    def draw(self, rng, n):
        return rng.standard_normal((n, self.n_features_in_))

    def activate(self, X, weights):
        Z = X @ weights.T
        return Z / 2 if abs(Z).max() > 1e9 else np.tanh(Z)


class InPlace(Peeking):
    """A family that changes a part of an array."""

    def activate(self, X, weights):
        Z = X @ weights.T
        part = Z[:, :3]
        part *= 2
        return np.tanh(Z)


class Sums(Peeking):
    """A family that changes an array under two names."""

    def activate(self, X, weights):
        Z = X @ weights.T
        same = Z
        Z *= 0.5
        return np.tanh(same)


class ByNumPy(Peeking):
    """A family that calls functions and methods of NumPy."""

    width = 2

    def activate(self, X, weights):
        X = X / (1 + np.linalg.norm(X, axis=1, keepdims=True)) - X.mean(axis=1)[:, None]
        Z = np.clip(np.where(X @ weights.T > 0, 1.0, -0.5).astype(X.dtype), -1, 1)
        others = np.exp(-np.maximum(np.sum(X**2, axis=-1), 0.1)).reshape(-1, 1)
        sorted_ = np.take_along_axis(X, np.argsort(-X, axis=1), axis=1)
        others = others + np.cumsum(sorted_, axis=1)[:, 1:2] - np.partition(X, 0, axis=1)[:, :1]
        return np.concatenate([Z, np.sqrt(np.abs(Z)) * np.tanh(others)], axis=1)


class ByArrayAPI(Peeking):
    """A family that calls functions of the array API that no family of the library needs."""

    def activate(self, X, weights):
        xp = array_namespace(X)
        cuts = np.array([-0.5, 0.0, 0.25, 1.0]).astype(X.dtype)
        below = xp.searchsorted(cuts, xp.round(X[:, -1] * 4) / 4)
        most = xp.searchsorted(cuts, xp.round(X[:, 0] * 4) / 4, side="right")
        both = xp.where(X[:, 0] > 0, below > 1, most != 2) & xp.isfinite(X[:, 1])
        last = X @ weights[0] + xp.log1p(xp.square(X[:, 1])) + X[:, 2] % 0.7 + X[:, 0] // 0.3
        last = last + xp.astype(both, X.dtype) + xp.astype((most + below) // 2 % 3, X.dtype)
        return xp.tanh(X @ weights.T + last[:, None]) * xp.sign(X[:, :1])


def test_the_command_writes_graphs(tmp_path):
    from typer.testing import CliRunner

    from trickless._cli.app import app

    def export(model, *options):
        trickless.save(model, tmp_path / "model.trk", for_prediction=True)
        arguments = ["export", str(tmp_path / "model.trk"), "--out", str(tmp_path / "model.onnx")]
        return CliRunner().invoke(app, [*arguments, *options])

    import onnx

    X, y = noisy(REGRESSORS[0])
    model = KitchenSinksRegressor(n_neurons=5, random_state=0).fit(X, y)
    for options, names in (((), ["prediction"]), (("--std",), ["prediction", "std"])):
        done = export(model, *options)
        assert done.exit_code == 0, done.output
        found = run(onnx.load(tmp_path / "model.onnx"), X.astype(np.float32))
        assert list(found) == names
    assert_close(found["std"], model.predict(X, return_std=True)[1], 1e-5)
    done = export(model, "--std", "--interval", "0.8")
    assert done.exit_code == 0, done.output
    found = run(onnx.load(tmp_path / "model.onnx"), X.astype(np.float32))
    assert list(found) == ["prediction", "std", "interval"]
    assert_close(found["interval"], model.predict_interval(X, 0.8), 1e-5)
    (tmp_path / "model.onnx").unlink()
    done = export(KitchenSinksClassifier(n_neurons=5, random_state=0).fit(X, y > 0), "--std")
    assert done.exit_code == 2, done.output
    assert "which has none. Remedy: --interval 0.9" in " ".join(done.stderr.split())
    assert not (tmp_path / "model.onnx").exists()


def test_families_of_users():
    X, y = noisy(REGRESSORS[0])
    for family in (Sums(), ByNumPy(), ByArrayAPI()):
        model = smooth(KitchenSinksRegressor(family, 40, random_state=0)).fit(X, y)
        found = run(to_onnx(model), X.astype(np.float32))["prediction"]
        assert_close(found, model.predict(X), 1e-5)
    for family in (Peeking(), InPlace()):
        model = KitchenSinksRegressor(family, 20, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match=type(family).__name__) as raised:
            to_onnx(model)
        assert "Remedy" in str(raised.value)
    draw, psi = (lambda rng, n, d: (rng.standard_normal((n, d)),)), (lambda X, w: np.sign(X @ w.T))
    model = KitchenSinksRegressor(FromFunction(draw, psi), 40, random_state=0).fit(X, y)
    assert_close(run(to_onnx(model), X.astype(np.float32))["prediction"], model.predict(X), 1e-5)


def y_of(X):
    return X[:, 0]


def of_frame(X, name, category):
    """A model of a column of categories."""
    frame = pd.DataFrame({0: np.where(X[:, 0] > 0, category, "b").astype(object)}, dtype=object)
    frame.columns = pd.Index([name], dtype=object)
    return KitchenSinksRegressor("tabular", 9, random_state=0).fit(frame, X[:, 0])


WRONG = {
    "model": (lambda m, X: to_onnx(StandardScaler()), "StandardScaler"),
    "outputs": (lambda m, X: to_onnx(m, outputs=("median",)), r"outputs=\('median',\)"),
    "twice": (lambda m, X: to_onnx(m, outputs=["std", "std"]), "outputs="),
    "no names": (lambda m, X: to_onnx(m, outputs=[["std"]]), "outputs="),
    "dtype": (lambda m, X: to_onnx(m, dtype="int8"), "dtype='int8'"),
    "confidence": (lambda m, X: to_onnx(m, outputs="interval", confidence=2), "confidence=2"),
    "few rows": (lambda m, X: to_onnx(m, outputs="interval", confidence=0.999), "0.999"),
    "no std": (
        lambda m, X: to_onnx(DoublyStochasticRegressor().fit(X, y_of(X)), outputs="std"),
        r"outputs='std', but the model has the outputs \('prediction', 'interval'\)",
    ),
    "labels": (
        lambda m, X: to_onnx(
            KitchenSinksClassifier(n_neurons=9).fit(X, (X[:, 0] > 0).astype("M8[D]"))
        ),
        r"labels .* datetime64",
    ),
    "half a pair": (
        lambda m, X: to_onnx(
            KitchenSinksClassifier(n_neurons=9).fit(X, np.where(X[:, 0] > 0, "\ud800", "b"))
        ),
        r"'\\ud800' holds half of a pair",
    ),
    "half a category": (lambda m, X: to_onnx(of_frame(X, "k", "\ud800")), r"'\\ud800' holds half"),
    "no name": (lambda m, X: to_onnx(of_frame(X, "", "a")), "the name of a column is ''"),
    "noisy": (lambda m, X: to_onnx(KernelGradientRegressor(shots).fit(X, X[:, 0])), "kernel=<"),
    "experts": (
        lambda m, X: to_onnx(m.set_params(half_life=[9.0, 99.0]).fit(X[:40], X[:40, 0])),
        r"to_onnx: KitchenSinksRegressor: network_ does not go with half_life=\[",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_name_what_is_wrong(wrong):
    X, y = noisy(REGRESSORS[0])
    model = KitchenSinksRegressor(n_neurons=20, random_state=0).fit(X, y)
    function, message = WRONG[wrong]
    with pytest.raises((ValueError, TypeError), match=message) as raised:
        function(model, X)
    assert "Remedy" in str(raised.value)


def test_models_must_be_fitted():
    with pytest.raises(NotFittedError):
        to_onnx(KitchenSinksRegressor())
