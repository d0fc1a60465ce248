"""The parts of a model from a file, and how they must agree, before compiled code trusts them.

Models are changed in memory and saved, so the checksums of their files are right.
"""

import pickle
import re
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import trickless
from cases import shots
from saved_cases import cases
from trickless._arrays.growing import Growing
from trickless._functions.stream import StoredNeurons
from trickless._solvers.ages import NeuronAges
from trickless._solvers.least_squares.sums import Sums
from trickless._solvers.rounds.measured import Measured, Noise
from trickless.inspection import Expansion
from trickless.neurons import Ferns, Gaussian, Landmarks, On, Stumps, Trees

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
Y = np.sin(X[:, 0])
FRAME = pd.DataFrame({"a": X[:, 0], "town": np.where(X[:, 1] > 0, "A", "B")})
HUGE = 2**40


def boosted(**options):
    options = {"n_trees": 6, "max_depth": 3, "leaves": "constant", "random_state": 0} | options
    return trickless.BoostedTreesRegressor(**options).fit(X, Y)


def features(rows=X, **options):
    return trickless.RandomFeatures(Trees(depth=3), n_neurons=8, random_state=0).fit(rows)


def replace_weights(source, i, change):
    """Stored weights, one array of which is changed."""
    weights = list(source.weights)
    weights[i] = change(weights[i])
    return StoredNeurons(tuple(weights))


def changed(categories, later=None, **parts):
    """Categories with other parts, and with some that appeared later."""
    categories = replace(categories, codes=categories.codes | (later or {}))
    return replace(categories, **parts)


def grown(rows):
    growing = Growing()
    growing.append(rows)
    return growing


def with_weights(i, change):
    """A change of the stored weights of a model of trees, or of a network."""

    def alter(model):
        owner, name = (model._forest_, "trees") if hasattr(model, "_forest_") else (model, "source")
        vars(owner)[name] = replace_weights(getattr(owner, name), i, change)

    return alter


def set_at(path, value):
    """A change of an attribute of a part of a model. ``value`` may be a function of the old one."""

    def alter(model):
        *path_, name = path.split(".")
        for part in path_:
            model = model[int(part)] if part.isdigit() else getattr(model, part)
        old = getattr(model, name)
        vars(model)[name] = value(old) if callable(value) else value

    return alter


def both(*alterations):
    def alter(model):
        for each in alterations:
            each(model)

    return alter


def put(i, value):
    """An array with another number at a place."""

    def change(array):
        array = array.copy()
        array.reshape(-1)[i] = value
        return array

    return change


def refused(tmp_path, model, alter, message):
    path = tmp_path / "model.trickless"
    trickless.save(model, path)  # draws the fingerprints of its neurons, which stay
    alter(model)
    trickless.save(model, path)
    with pytest.raises(ValueError, match=re.escape("its checksum is right")) as caught:
        trickless.load(path)
    assert re.search(message, str(caught.value)), str(caught.value)
    with pytest.raises(ValueError, match=message):
        pickle.loads(pickle.dumps(model))


#: Changes of a fitted regressor of chosen trees, and what the error names.
OF_TREES = [
    (with_weights(0, put(0, HUGE)), "columns of cuts: 1099511627776 is not below 3"),
    (with_weights(0, put(3, -1)), "columns of cuts: -1 is below 0"),
    (with_weights(0, lambda columns: columns.astype(float)), "columns of cuts: the type"),
    (with_weights(0, lambda columns: columns[:, :2]), "sets of cuts: the shape"),
    (with_weights(1, lambda sets: sets[..., :8]), "sets of cuts: the shape"),
    (with_weights(1, lambda sets: sets.astype(np.int64)), "sets of cuts: the type"),
    (set_at("neurons_.depth_", 30), "depth_: 30 is not from 1 to 16"),
    (set_at("neurons_.depth_", -1), "depth_: -1"),
    (set_at("neurons_.depth_", 2), "width: 8 is not the 4"),
    (set_at("neurons_.width", 1), "width: 1 is not the 8"),
    (both(set_at("neurons_.depth_", 2), set_at("neurons_.width", 4)), "coef: the shape"),
    (set_at("neurons_.n_features_in_", 2), "n_categories: the shape is"),
    (set_at("neurons_.variables_", np.array([0, HUGE])), "variables_"),
    (set_at("neurons_.bins_.counts", put(0, 300)), "counts: 300 is not below 256"),
    (set_at("neurons_.bins_.counts", put(0, 3)), "counts: 3 is not the"),
    (
        both(
            set_at("neurons_.bins_.of_code", [np.full(4, HUGE), None, None]),
            set_at("neurons_.bins_.thresholds", lambda t: [np.empty(0), *t[1:]]),
        ),
        "of_code: 1099511627776",
    ),
    (set_at("neurons_.bins_.thresholds", [np.arange(300.0)] * 3), "counts"),
    (set_at("neurons_.bins_.thresholds", [np.empty(0)]), "length of thresholds"),
    (set_at("_forest_.coef", lambda c: grown(c.rows[:, :1])), "coef: the shape"),
    (set_at("_forest_.coef", lambda c: grown(c.rows.astype(complex))), "coef: the type"),
    (
        set_at("_forest_.coef", lambda c: grown(np.repeat(c.rows, 2, axis=0))),
        r"in trees: \d+ is not",
    ),
    (set_at("_forest_.coef", lambda c: grown(np.repeat(c.rows, 2, axis=2))), "the shape"),
    (set_at("_forest_.intercept", np.zeros(2)), "the shape"),
    (set_at("_forest_.scored", [-5]), "scored"),
    (set_at("n_features_in_", 4), "columns of had_gaps: 3 is not the 4"),
    (set_at("_forest_.seed", -1), "seed: -1"),
    (set_at("_targets_.n_outputs", 2), "first: the shape is"),
    (set_at("neurons_.bins_", None), "bins_: a NoneType"),
    (
        set_at("neurons_.inputs_", lambda i: i._replace(n_categories=np.full(3, 5))),
        "codes in bins_",
    ),
]


@pytest.mark.parametrize(("alter", "message"), OF_TREES)
def test_chosen_trees_with_another_shape_or_range_raise_an_error(alter, message, tmp_path):
    refused(tmp_path, boosted(), alter, message)


def binary():
    return boosted(shape="binary")


#: The same for binary trees.
OF_BINARY_TREES = [
    (with_weights(0, lambda columns: columns.astype(np.int64)), "columns of cuts: the type"),
    (with_weights(0, put(0, 3)), "columns of cuts: 3 is not below 3"),
    (with_weights(0, lambda columns: columns[:, :2]), "children of nodes: the shape"),
    (with_weights(1, put(-1, 1)), "a node is not before its children"),
    (with_weights(1, put(0, 5)), "children of nodes: 5 is not below"),
    (with_weights(1, put(0, -6)), "children of nodes: -6 is below"),
    (with_weights(1, lambda children: children[..., :1]), "children of nodes: the shape"),
    (with_weights(2, lambda sets: sets[..., :8]), "sets of cuts: the shape"),
    (set_at("neurons_.depth_", 30), "depth_: 30 is not from 1 to 20"),
    (set_at("neurons_.depth_", 1), "width: 4 is not from 2 to 2"),
    (set_at("neurons_.width", 1), "width: 1 is not from 2"),
    (set_at("neurons_.width", 5), "coef: the shape|nodes of stored trees"),
    (set_at("neurons_.shape", "oblivious"), "depth_: 20 is not from 1 to 16|width: 4 is not"),
    (
        both(set_at("neurons_.shape", "oblivious"), set_at("neurons_.depth_", 3)),
        "width: 4 is not the 8",
    ),
]


@pytest.mark.parametrize(("alter", "message"), OF_BINARY_TREES)
def test_binary_trees_with_another_shape_or_range_raise_an_error(alter, message, tmp_path):
    refused(tmp_path, binary(), alter, message)


@pytest.mark.parametrize(
    "alter",
    [
        with_weights(0, put(0, 3)),
        with_weights(1, put(-1, 1)),
        with_weights(1, put(0, -7)),
        with_weights(2, lambda sets: sets[..., :1]),
        set_at("_forest_.coef", lambda c: grown(c.rows[:, :1])),
    ],
)
def test_binary_trees_that_are_altered_in_memory_do_no_harm(alter):
    model = binary()
    alter(model)
    with pytest.raises(ValueError, match=r"cuts|children|node|coefficients for"):
        model.predict(X)


def linear(leaves="linear"):
    """Trees with linear leaves, whose inputs are two of three columns; or with those to race."""
    rows = np.column_stack([X[:, :2], X[:, 2] > 0])
    learner = trickless.BoostedTreesRegressor(6, max_depth=3, leaves=leaves, random_state=0)
    return learner.fit(rows, np.digitize(Y, [0.0]))


def auto():
    return linear("auto")


#: The same for linear leaves: those of a model, and those that it might have had.
OF_LINEAR_LEAVES = [
    (linear, set_at("neurons_.linear_", "steps"), "linear_: a str cannot be there"),
    (linear, set_at("neurons_.linear_", None), "width: 24 is not the 8"),
    (linear, set_at("neurons_.linear_.steps", lambda s: s[:2]), "of_gaps: the shape|columns of"),
    (linear, set_at("neurons_.linear_.steps", lambda s: s[:, :255]), "steps: the shape"),
    (linear, set_at("neurons_.linear_.steps", lambda s: s.astype(float)), "steps: the type"),
    (linear, set_at("neurons_.linear_.steps", put(5, -128)), "steps: -128 is below -127"),
    (linear, set_at("neurons_.linear_.steps", put(0, 1)), "steps: missing values have a value"),
    (linear, set_at("neurons_.linear_.steps", lambda s: 0 * s), "width: 24 is not the 8"),
    (linear, set_at("neurons_.linear_.of_gaps", lambda g: g[:1]), "of_gaps: the shape"),
    (linear, set_at("neurons_.linear_.of_gaps", lambda g: g.astype(int)), "of_gaps: the type"),
    (linear, set_at("neurons_.width", 25), "inputs of leaves in width"),
    (linear, set_at("neurons_.width", 48), "width: 16 is not the 8"),
    (linear, set_at("neurons_.shape", "binary"), "linear_: only leaves of oblivious"),
    (linear, set_at("_forest_.coef", lambda c: grown(c.rows[:, :8])), "coef: the shape"),
    (auto, set_at("neurons_.spare_", "steps"), "spare_: a str cannot be there"),
    (auto, set_at("neurons_.spare_.steps", put(0, 1)), "steps: missing values have a value"),
    (auto, set_at("neurons_.shape_", "round"), "shape_: 'round' is not a shape"),
    (auto, set_at("neurons_.shape_", []), "shape_|unhashable"),
    (auto, set_at("neurons_.shape_", "binary"), "unpack|children of nodes"),
]


@pytest.mark.parametrize(("make", "alter", "message"), OF_LINEAR_LEAVES)
def test_linear_leaves_with_another_shape_or_range_raise_an_error(make, alter, message, tmp_path):
    refused(tmp_path, make(), alter, message)


def test_linear_leaves_come_back_from_files(tmp_path):
    for model in (linear(), auto()):
        trickless.save(model, tmp_path / "model")
        again = trickless.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        for name in ("linear_", "spare_"):
            ours, theirs = (getattr(each.neurons_, name) for each in (model, again))
            assert (ours is None) == (theirs is None)
            if ours is not None:
                np.testing.assert_array_equal(ours.steps, theirs.steps)


@pytest.mark.parametrize(
    "alter",
    [
        with_weights(0, put(0, 3)),
        with_weights(1, lambda sets: sets[..., :1]),
        set_at("_forest_.coef", lambda c: grown(c.rows[:, :16])),
        set_at("_forest_.coef", lambda c: grown(c.rows[:, :23])),
    ],
)
def test_linear_leaves_that_are_altered_in_memory_do_no_harm(alter):
    model = linear()
    alter(model)
    with pytest.raises(ValueError, match=r"cuts|reshape"):
        model.predict(X)


def frozen(family):
    """A network of neurons that are stored."""
    family.fit(X, np.random.default_rng(0))
    return Expansion(family, X, np.ones((80, 1))).freeze(64)


def stumps():
    return frozen(Stumps())


def ferns():
    return frozen(Ferns())


def steps():
    return trickless.DoublyStochasticRegressor(n_neurons=64, random_state=0).fit(X, Y)


def of_frame():
    return trickless.KitchenSinksRegressor("tabular", n_neurons=8, random_state=0).fit(FRAME, Y)


def sums():
    model = trickless.KitchenSinksRegressor(Landmarks(), n_neurons=8, random_state=0).fit(X, Y)
    model.predict(X)  # solves
    return model


def on_columns():
    neurons = On([0, 1], Stumps()) + On([2], Gaussian())
    return trickless.KitchenSinksRegressor(neurons, n_neurons=8, random_state=0).fit(X, Y)


def expansion():
    model = trickless.ShrinkingGradientRegressor(Gaussian(), n_neurons=32, random_state=0)
    return model.fit(X, Y)


def sparse_expansion():
    model = trickless.ShrinkingGradientRegressor(Gaussian(), n_neurons=32, random_state=0)
    return model.fit(scipy.sparse.csr_matrix(X), Y)


def sparse_landmarks():
    options = {"n_neurons": 8, "scale": "unit", "random_state": 0}
    return trickless.RandomFeatures(Landmarks(), **options).fit(scipy.sparse.csr_matrix(X), Y)


def of_towns():
    towns = [f"rare {i}" for i in range(10)] + ["A", "B"] * 35
    frame = pd.DataFrame({"a": X[:, 0], "town": towns})
    return trickless.KitchenSinksRegressor("tabular", n_neurons=8, random_state=0).fit(frame, Y)


def without(path):
    """A change that takes an attribute away."""

    def alter(model):
        *parts, name = path.split(".")
        for part in parts:
            model = getattr(model, part)
        del vars(model)[name]

    return alter


def in_fields(path, **fields):
    """Other fields of a named tuple."""
    return set_at(path, lambda values: values._replace(**fields))


def aged(n_dropped):
    """Ages of no neurons, before which so many were dropped."""
    ages = NeuronAges(0)
    ages.n_dropped = n_dropped
    return ages


OF_OTHERS = [
    (sparse_landmarks, set_at("neurons_.rows_.indices", put(0, 3)), "column of sparse rows"),
    (sparse_landmarks, set_at("neurons_.row_weights_", lambda w: w[:5]), "row_weights_: the shape"),
    (sparse_landmarks, set_at("neurons_.rows_", X[:0]), "number of rows_: 0"),
    (sums, set_at("neurons_.rows_", X[:0]), "number of rows_: 0"),
    (of_towns, set_at("_rows_.columns.whole", [0.5, 0]), "whole: a float"),
    (of_towns, set_at("_rows_.columns.whole", [0, 5]), "column of whole: categories"),
    (of_towns, set_at("_rows_.columns.categories", lambda c: c[:1]), "length of categories"),
    (of_towns, set_at("_rows_.columns.categories", lambda c: [c[1], c[1]]), "categories: True"),
    *(
        (
            of_towns,
            set_at("_rows_.columns.categories", lambda c, new=new: [c[0], changed(c[1], **new)]),
            message,
        )
        for new, message in (
            ({"n_first": 13}, "codes of the first batch"),
            ({"n_first": -1}, "n_first: -1"),
            ({"n_pooled": "5"}, "n_pooled: a str"),
            ({"later": {"C": 20, "D": 20}}, "different codes"),
            ({"later": {"C": 12}}, "codes: 12 is not from 14"),
            ({"later": {"C": 2**30}}, "codes: 1073741824"),
            ({"codes": {"A": 7, "B": 1}}, "codes of the first batch"),
            ({"codes": {7: 0, "B": 1}}, "codes: a int"),
            ({"codes": {"A": 0}, "n_first": 1}, "categories of neurons_"),
            ({"rare": {"C": -1}}, "rare: -1"),
            ({"rare": {7: 1}}, "rare: a int"),
        )
    ),
    (of_towns, set_at("_rows_.had_gaps", np.zeros(3, dtype=bool)), "columns of had_gaps"),
    (of_towns, set_at("_rows_.had_gaps", [True, False]), "had_gaps: a list"),
    (of_towns, set_at("_rows_.numeric", np.zeros(3)), "numeric: a ndarray"),
    (of_towns, set_at("_rows_.numeric", False), "numeric of _rows_: False"),
    (of_towns, without("_rows_.labels_beside_rows"), "Rows: there is no labels_beside_rows"),
    (of_towns, set_at("neurons_.mixture_.parts_.0.variables_", np.zeros(0, int)), "number of var"),
    (steps, set_at("_descent_.steps", None), "steps: a NoneType"),
    (steps, set_at("_descent_.stream.seed", -1), "seed: -1"),
    (steps, without("_descent_.history"), "Descent: there is no history"),
    (boosted, set_at("_forest_.spread", np.full(1, -1.0)), "spread: -1.0 is below 0"),
    (boosted, set_at("_forest_.taken", -1.0), "taken: -1.0"),
    (boosted, set_at("_forest_.seed", 2**64), "seed: 18446744073709551616"),
    (boosted, set_at("_forest_.ages", aged(2**63)), "n_dropped: 9223372036854775808"),
    (boosted, set_at("_seed_", -1), "_seed_: -1"),
    (boosted, without("_forest_.start"), "Forest: there is no start"),
    (boosted, without("neurons_"), "there is no neurons_"),
    (expansion, set_at("_rounds_.seed", -1), "seed: -1"),
    (ferns, with_weights(2, lambda signs: signs[:, :1]), "signs of stored ferns: the shape"),
    (ferns, with_weights(0, lambda columns: columns[:, :1]), "cuts of stored ferns"),
    (ferns, with_weights(1, lambda cuts: cuts[:, :0]), "thresholds of stored ferns: the shape"),
    (of_frame, set_at("_rows_.columns.origins", np.array([0.0, 1e18])), "origins: codes"),
    (of_towns, set_at("feature_names_in_", np.array(["a", None])), "feature_names_in_: a NoneType"),
    (sums, set_at("_sums_.statistics.weight_square", np.complex128(1)), "weight_square: a complex"),
    (sums, without("_sums_.statistics.weight_square"), "Statistics: there is no weight_square"),
    (sums, in_fields("_sums_._solution", intercept=np.zeros(0)), "intercept: the shape"),
    (sums, in_fields("_sums_._solution", ridge=np.ones(2)), "ridge: the shape"),
    (sums, set_at("_targets_.is_vector", None), "is_vector: a NoneType"),
    (features, set_at("neurons_.width", 1), "width: 1 is not the 8"),
    (features, set_at("neurons_.depth_", 17), "depth_: 17"),
    (features, set_at("_fixed_", lambda f: f | {"n_neurons": "8"}), "n_neurons='8'"),
    (features, set_at("source_", StoredNeurons((np.zeros((2, 3), int),))), "in source_: 2 is not"),
    (stumps, with_weights(0, put(5, HUGE)), "features of stored neurons: 1099511627776"),
    (ferns, with_weights(0, put(5, -7)), "features of stored neurons: -7"),
    (of_frame, set_at("_rows_.columns", None), "categories of neurons_"),
    (of_frame, set_at("neurons_.mixture_.parts_.0.variables_", np.array([9])), "variables_: 9"),
    (of_frame, set_at("neurons_.cuts_", lambda c: c[:1]), "length of cuts_"),
    (sums, set_at("_sums_.n_neurons", 9), "coef: the shape"),
    (sums, set_at("_sums_.statistics.cross", lambda c: c[:-1]), "z_sum: the shape"),
    (sums, set_at("neurons_.rows_", lambda r: r[:, :2]), "rows_: the shape"),
    (sums, set_at("_sums_.origin", np.zeros(2)), "Sums: .*: the shape"),
    (on_columns, set_at("neurons_.parts_.0.indices_", np.array([0, 3])), "indices_: 3"),
    (
        on_columns,
        set_at("neurons_.parts_.0.parts_.0._starts", np.array([0, HUGE, HUGE])),
        "_starts",
    ),
    (
        expansion,
        set_at("_rounds_.coefficients._epoch", lambda g: grown(g.rows - 5_000_000)),
        "_epoch",
    ),
    (expansion, set_at("_rounds_.coefficients._epoch", lambda g: grown(g.rows + HUGE)), "_epoch"),
    (expansion, set_at("_rounds_.coefficients._alpha", lambda g: grown(g.rows[:2])), "_epoch"),
    (
        expansion,
        set_at("_rounds_.support", lambda s: grown(s.rows[:, :2])),
        "support points: the shape",
    ),
    (expansion, set_at("_rounds_.support", lambda s: grown(s.rows[:5])), "support: the shape"),
    (expansion, set_at("_rounds_.played", lambda p: grown(p.rows * HUGE)), "played"),
    (sparse_expansion, set_at("_rounds_.support._n_columns", 2), "sparse rows"),
    (expansion, set_at("_rounds_.measure", 1), "measure: a int"),
    (expansion, set_at("_rounds_.measured", trickless.RandomFeatures()), "measured: a RandomFeat"),
    (expansion, set_at("_rounds_.measured", Measured(size="7")), "size: a str"),
    (expansion, set_at("_rounds_.measured", Noise()), "measured: a Noise"),
]


@pytest.mark.parametrize(("make", "alter", "message"), OF_OTHERS)
def test_parts_that_do_not_agree_raise_an_error(make, alter, message, tmp_path):
    refused(tmp_path, make(), alter, message)


def test_a_stream_of_a_file_draws_its_neurons_again(tmp_path):
    """Whatever a file has as drawn and verified weights."""
    model = trickless.KitchenSinksRegressor(Trees(depth=3), n_neurons=8, random_state=0).fit(X, Y)
    expected, stream = model.predict(X), model._stream_
    columns, sets = stream.block(0)
    state = stream.__getstate__()
    state |= {"_cache": {0: (columns + HUGE, sets)}, "_verified": True}
    again = object.__new__(type(stream))
    again.__setstate__(state)
    assert again._cache == {}
    assert not again._verified
    model._stream_ = again
    model._sums_.stream = model._sums_._network.source = again
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize(
    "alter",
    [
        with_weights(0, put(0, HUGE)),
        with_weights(0, put(0, -1)),
        with_weights(0, lambda columns: np.repeat(columns, 10, axis=1)),
        with_weights(1, lambda sets: sets[..., :1]),
        set_at("_forest_.coef", lambda c: grown(c.rows[:, :1])),
    ],
)
def test_trees_that_are_altered_in_memory_do_no_harm(alter):
    """Not even in loops that are compiled, which do not check numbers by themselves."""
    model = boosted()
    alter(model)
    with pytest.raises(ValueError, match=r"cuts|coefficients for"):
        model.predict(X)
    with pytest.raises(ValueError, match=r"cuts|coefficients for|coef"):
        model.partial_fit(X, Y)


def test_a_width_that_is_altered_in_memory_does_no_harm():
    """Indicators of leaves beyond the width, and sums by leaf, would be outside of arrays."""
    transformer = features()
    transformer.neurons_.width = 1
    with pytest.raises(ValueError, match="column of sparse rows is not in the range"):
        transformer.transform(X)
    model = boosted()
    model.neurons_.width = 1
    model._forest_.coef = grown(model._forest_.coef.rows[:, :1])
    with pytest.raises(
        ValueError, match=r"leaves of rows|coefficients for 1 leaves|cannot reshape"
    ):
        model.partial_fit(X, Y)


def test_no_prediction_holds_foreign_memory():
    """One tree of 2^15 leaves, and the coefficient of one leaf: the rest is not of the model."""
    rows = RNG.standard_normal((4000, 15))
    options = {"max_depth": 15, "shape": "oblivious", "leaves": "constant", "random_state": 0}
    model = trickless.BoostedTreesRegressor(1, **options).fit(rows, rows[:, 0])
    model._forest_.coef = grown(model._forest_.coef.rows[:, :1])
    with pytest.raises(ValueError, match="trees of depth 15 have coefficients for 1 leaves"):
        model.predict(rows)


DAMAGE = """
import sys, pickle, numpy as np, trickless
model = trickless.load(sys.argv[1])
"""


def test_a_file_of_huge_columns_ends_no_process(tmp_path):
    """In a process of its own, since such a file ended it by a signal."""
    model = boosted()
    with_weights(0, lambda columns: np.full_like(columns, HUGE))(model)
    trickless.save(model, tmp_path / "m")
    code = DAMAGE + "model.predict(np.zeros((100, 3)))"
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / "m"], capture_output=True)
    assert ran.returncode == 1
    assert b"columns of cuts: 1099511627776 is not below 3" in ran.stderr


def test_whole_models_come_back_by_file_pickle_and_copy(tmp_path):
    """No check is stricter than what learners make."""
    makers = boosted, binary, linear, features, steps, of_frame, sums, on_columns, sparse_expansion
    for make in makers:
        model = make()
        rows = FRAME if make is of_frame else X
        use = model.transform if make is features else model.predict
        trickless.save(model, tmp_path / "m")
        for again in (
            trickless.load(tmp_path / "m"),
            pickle.loads(pickle.dumps(model)),
            deepcopy(model),
        ):
            values = again.transform(rows) if make is features else again.predict(rows)
            expected = use(rows)
            if scipy.sparse.issparse(values):
                values, expected = values.toarray(), expected.toarray()
            np.testing.assert_array_equal(values, expected)


@pytest.mark.filterwarnings("ignore")
def test_every_kind_of_model_comes_back(tmp_path):
    """A check that no test of a learner sees may be too strict."""
    for case in cases(tmp_path):
        again = trickless.load(BytesIO(case.content), [shots])
        assert trickless.save(again, file := BytesIO()) in ([], [shots])
        assert file.getvalue() == case.content, case.name


def test_sums_without_their_statistics_are_refused():
    state = sums()._sums_.__getstate__()
    del state["statistics"]
    with pytest.raises(ValueError, match="Sums: there are no statistics"):
        object.__new__(Sums).__setstate__(state)
