import gzip
import io
import json
import multiprocessing
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import mutated_files
import trickless
import used_files
from api import public_things
from cases import (
    EVERY,
    FAMILIES,
    LEARNERS,
    answers,
    inputs,
    name_of,
    problem,
    shots,
    soft_waves,
    suited,
    waves,
)
from changed_files import Parsed, places
from make_golden import ANSWERS, GOLDEN, rows
from stated_classes import stated_classes
from trickless import (
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
    ShrinkingGradientRegressor,
)
from trickless.inspection import Expansion
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import FromFunction, Gaussian, Mixture, Neurons, On, Stumps
from trickless.neurons.composed import Product, Scaled

TRUSTED = [waves, soft_waves, shots]
#: How the record of a Gaussian begins.
GAUSSIAN = b'["trickless.neurons.isotropic:Gaussian"'
every_learner = pytest.mark.parametrize("learner", EVERY, ids=name_of)


class Halfspaces(Neurons):
    """A family of the user's, with a parameter and a fitted attribute that is an object."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, rng, sample_weight=None):
        self.helper_ = Helper(X.mean(axis=0))
        return super().fit(X, rng, sample_weight)

    def draw(self, rng, n):
        return rng.standard_normal((n, self.n_features_in_)), rng.standard_normal(n)

    def activate(self, X, weights):
        directions, offsets = weights
        return np.sign((X - self.helper_.centre) @ directions.T + offsets)


class Many(list):
    """More than its attributes."""


class Slotted:
    __slots__ = ("inside",)


class Helper:
    def __init__(self, centre):
        self.centre = centre


def _slotted():
    slotted = Slotted()
    slotted.inside = 3
    return slotted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.trickless"


@pytest.fixture
def again(path):
    """Saves and loads."""

    def through_a_file(model, trusted=TRUSTED):
        trickless.save(model, path)
        return trickless.load(path, trusted)

    return through_a_file


def of(path, change):
    """Change the parts of a file, and put its checksum right."""
    lines, arrays = mutated_files.parts(path.read_bytes())
    lines, arrays = change(lines, arrays)
    path.write_bytes(mutated_files.whole(lines, arrays))


def replaced(path, old, new):
    """Change the text of a file, and put its checksum right."""

    def change(lines, arrays):
        text = b"\n".join(lines)
        assert text.count(old) == 1
        return text.replace(old, new).split(b"\n"), arrays

    of(path, change)


def check_same(model, copy, X, path):
    np.testing.assert_array_equal(answers(copy, X), answers(model, X))
    assert repr(copy) == repr(model)
    first = path.read_bytes()
    trickless.save(copy, path)
    assert path.read_bytes() == first


@every_learner
def test_an_unfitted_model_comes_back(learner, again):
    copy = again(learner)
    assert type(copy) is type(learner)
    assert repr(copy) == repr(learner)
    X, y = problem(learner)
    model = clone(learner).set_params(random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        answers(copy.set_params(random_state=0).fit(X, y), X), answers(model, X)
    )


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
@every_learner
def test_a_fitted_model_predicts_the_same_bit_for_bit(learner, kind, again, path):
    X, y = problem(learner)
    dense = name_of(learner).startswith("Noisy") or not learner.__sklearn_tags__().input_tags.sparse
    rows = X if dense else kind(X)
    model = clone(learner).set_params(random_state=0).fit(rows, y)
    check_same(model, again(model), X, path)


@pytest.mark.parametrize("family", FAMILIES)
def test_families_come_back_with_what_they_took_from_the_data(family, again, path):
    X, y = problem(LEARNERS[0])
    X = suited(family, X)
    model = clone(LEARNERS[0]).set_params(neurons=FAMILIES[family], random_state=0).fit(X, y)
    check_same(model, again(model), X, path)
    neurons = again(model.neurons_)
    rng = np.random.default_rng(0)
    weights = model.neurons_.draw(rng, 5)
    np.testing.assert_array_equal(neurons(X, weights), model.neurons_(X, weights))


@every_learner
def test_a_loaded_model_learns_and_merges_like_the_original(learner, again):
    if not hasattr(learner, "partial_fit"):
        pytest.skip("learns from all rows at once")
    X, y = problem(learner)
    model = clone(learner).set_params(random_state=0)
    if "y_range" in learner.get_params():
        model.set_params(y_range=(-10, 10))
    copy = again(model.fit(X[:60], y[:60]))
    for one in (model, copy):
        one.partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(answers(copy, X), answers(model, X))
    if hasattr(learner, "merge"):
        model.merge(copy)
        np.testing.assert_array_equal(answers(copy.merge(again(copy)), X), answers(model, X))


@pytest.mark.parametrize("learner", [m for m in LEARNERS if hasattr(m, "warm_start")], ids=name_of)
def test_a_loaded_model_warm_starts_like_the_original(learner, again):
    X, y = problem(learner)
    model = clone(learner).set_params(random_state=0, warm_start=True).fit(X, y)
    for one in (copy := again(model), model):
        one.set_params(n_neurons=600).fit(X, y)
    np.testing.assert_array_equal(answers(copy, X), answers(model, X))


OPTIONS = {
    "KitchenSinks": [
        {"solver": "iterative"},
        {"search": {"neurons__length_scale": [1.0, 2.0]}, "neurons": Gaussian()},
        {"weight_bound": 5.0, "fit_intercept": False},
        {"dtype": np.float64, "n_neurons": np.int64(30), "n_jobs": 2},
        {"dtype": np.dtype("float64")},
    ],
    "DoublyStochastic": [
        {"early_stopping": True},
        {"schedule": "block"},
        {"loss": "huber"},
    ],
    "ShrinkingGradient": [
        {"max_support": 20},
        {"average": False},
        {"estimate": "index", "step_size": 0.05},
    ],
}


@pytest.mark.parametrize(
    ("learner", "options"), [(name, options) for name in OPTIONS for options in OPTIONS[name]]
)
def test_models_with_any_options_predict_the_same_after_loading(learner, options, again, path):
    (regressor,) = (m for m in LEARNERS if name_of(m) == f"{learner}Regressor")
    X, y = problem(regressor)
    model = clone(regressor).set_params(random_state=0, **options).fit(X, y)
    check_same(model, again(model), X, path)


@pytest.mark.parametrize(
    "random",
    [
        np.random.default_rng(3),
        np.random.RandomState(3),
        *(
            np.random.Generator(kind(3))
            for kind in (np.random.MT19937, np.random.SFC64, np.random.Philox)
        ),
    ],
)
def test_loaded_random_generators_continue_where_they_were(random, again):
    random.normal(size=7)
    copy = again(KitchenSinksRegressor(random_state=random)).random_state
    assert type(copy) is type(random)
    np.testing.assert_array_equal(copy.normal(size=800), random.normal(size=800))


@pytest.mark.parametrize(
    "value",
    [
        None, True, -3, 2**127, 0.1, -0.0, 5e-324, float("inf"), -float("inf"), "", "\ud800 ü\x00",
        [], (), {}, [1, [2.0, (None,)]], {"a": {"b": 1}}, {1: 2.0, "1": 3, None: 4, 2.5: 5},
        {"$array": 0}, slice(1, None, -1), np.float32(0.1), np.int8(-1), np.bool_(True),
        np.str_("ü"), {np.str_("a"): 1.0, np.int64(3): 2.0},
    ],
    ids=repr,
)  # fmt: skip
def test_plain_python_data_are_loaded_as_they_were_saved(value, again):
    [copy] = again(KitchenSinksClassifier(class_weight=[value])).class_weight
    assert repr(copy) == repr(value)
    assert type(copy) is type(value)
    assert copy == value


def test_nan_is_loaded_as_nan(again):
    assert np.isnan(again(Gaussian(length_scale=float("nan"))).length_scale)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(10.0)[::2],
        np.zeros((0, 3), dtype=np.float32),
        np.array(3.5),
        np.array([True, False]),
        np.array(["ü", "long"]),
        np.array([b"a", b"bc"]),
        np.array([1 + 2j]),
        np.arange(3, dtype=">i4"),
        np.array(["a", None, 1.5, True], dtype=object).reshape(2, 2),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_are_loaded_with_their_types_and_shapes(array, again):
    copy = again(Gaussian(length_scale=array)).length_scale
    np.testing.assert_array_equal(copy, array)
    assert copy.dtype == array.dtype.newbyteorder("=")
    assert copy.flags.f_contiguous >= array.flags.f_contiguous
    assert copy.flags.c_contiguous >= array.flags.c_contiguous
    assert copy.flags.writeable


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csr_array])
def test_networks_and_expansions_come_back(kind, again):
    X, rng = inputs(20, 3), np.random.default_rng(0)
    f = Expansion(Stumps().fit(X, rng), kind(X), rng.standard_normal((20, 1)))
    copy = again(f)
    assert type(copy.support) is type(f.support)
    np.testing.assert_array_equal(
        copy.estimate(X, n_neurons=50, random_state=0)[0],
        f.estimate(X, n_neurons=50, random_state=0)[0],
    )
    network = f.freeze(40, random_state=0)
    np.testing.assert_array_equal(again(network)(X), network(X))


def test_shared_objects_are_shared_after_loading(again):
    X, y = problem(KitchenSinksRegressor())
    copy = again(KitchenSinksRegressor(n_neurons=5, random_state=0).fit(X, y))
    assert copy._stream_.neurons is copy.neurons_
    assert copy.network_.source is copy._stream_


def test_names_of_labels_and_features_come_back(again):
    pd = pytest.importorskip("pandas")
    X, y = problem(KitchenSinksClassifier())
    frame = pd.DataFrame(X, columns=list("abcd"))
    labels = np.array(["low", "mid", "high"], dtype=object)[y]
    model = KitchenSinksClassifier(n_neurons=20, random_state=0).fit(frame, labels)
    copy = again(model)
    np.testing.assert_array_equal(copy.predict(frame), model.predict(frame))
    assert copy.predict(frame).dtype == object
    with pytest.raises(ValueError, match="feature names"):
        copy.predict(frame[["b", "a", "c", "d"]])


def test_tables_come_back_with_their_categories(again, path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["A", "B", None], 80),
            "size": pd.Categorical(rng.choice([3, 7], 80)),
            "age": np.where(rng.random(80) < 0.1, np.nan, rng.normal(size=80)),
        }
    )
    y = (frame["town"] == "A") & (frame["age"] > 0)
    for learner in (LEARNERS[3], LEARNERS[5]):
        model = clone(learner).set_params(neurons="tabular", random_state=0).fit(frame, y)
        new = pd.DataFrame({"town": ["A", "new"], "size": [3, 9], "age": [0.5, np.nan]})
        check_same(model, again(model), new, path)


def test_a_family_of_the_users_may_be_part_of_another(again, path):
    X, y = problem(KitchenSinksRegressor())
    neurons = Scaled(Mixture([Halfspaces(2.0), Product([Gaussian(), On([0], Halfspaces())])]), 2.0)
    model = KitchenSinksRegressor(neurons, n_neurons=20, random_state=0).fit(X, y)
    check_same(model, again(model, [Halfspaces, Helper]), X, path)


def test_a_family_of_the_users_is_loaded_if_it_is_trusted(again, path):
    X, y = problem(KitchenSinksRegressor())
    model = KitchenSinksRegressor(Halfspaces(2.0), n_neurons=20, random_state=0).fit(X, y)
    check_same(model, again(model, [Halfspaces, Helper]), X, path)
    with pytest.raises(ValueError, match=r"test_format:Helper.*not in trusted.*Remedy: import"):
        trickless.load(path, [Halfspaces])
    with pytest.raises(ValueError, match=r"test_format:Halfspaces.*test_format:Helper"):
        trickless.load(path)
    replaced(path, b'"foreign": [', b'"foreign": [], "were": [')
    with pytest.raises(ValueError, match=r"test_format:Halfspaces' is not an allowed name"):
        trickless.load(path, [Halfspaces, Helper])


@pytest.mark.parametrize(
    ("model", "trusted"),
    [
        (KitchenSinksRegressor(n_neurons=20), []),
        (
            make_pipeline(StandardScaler(), KitchenSinksRegressor(n_neurons=20)),
            [Pipeline, StandardScaler],
        ),
        (make_pipeline(RandomFeatures(n_neurons=20), Ridge()), [Ridge, Pipeline]),
        (KitchenSinksRegressor(FromFunction(waves, soft_waves, 2), 20), [soft_waves, waves]),
        (TransformedTargetRegressor(KernelGradientRegressor(), transformer=StandardScaler()), None),
    ],
    ids=["learner", "pipeline", "features", "functions", "targets"],
)
def test_what_is_saved_says_what_has_to_be_trusted(model, trusted, path):
    X, y = problem(KitchenSinksRegressor())
    model = clone(model).fit(X, y)
    returned = trickless.save(model, path)
    assert trusted is None or returned == trusted
    np.testing.assert_array_equal(trickless.load(path, returned).predict(X), model.predict(X))
    for i in range(len(returned)):  # no more than is needed
        with pytest.raises(ValueError, match="not in trusted"):
            trickless.load(path, returned[:i] + returned[i + 1 :])
    unfitted = clone(model)
    assert repr(trickless.load(path, trickless.save(unfitted, path))) == repr(unfitted)


def test_what_an_estimator_asks_for_comes_back(path, again):
    with sklearn.config_context(enable_metadata_routing=True):
        model = KitchenSinksRegressor().set_fit_request(sample_weight="importance")
        model.set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=True)
    copy = again(model)
    assert str(copy.get_metadata_routing()) == str(model.get_metadata_routing())
    X, y = problem(model)
    assert str(again(model.fit(X, y)).get_metadata_routing()) == str(model.get_metadata_routing())
    again(make_pipeline(scaler, model), [Pipeline, StandardScaler])
    copy = trickless.load(path, [Pipeline, StandardScaler])[0]
    assert str(copy.get_metadata_routing()) == str(scaler.get_metadata_routing())
    for old, new in (
        (b'"fit": {"sample', b'"owner": {"sample'),
        (b'"fit": {"sample', b'"params": {"sample'),
        (b'"fit": {"sample_weight"', b'"fit": {"n_neurons"'),
        (b'"importance"', b"3"),
        (b'"_metadata_request": {', b'"_metadata_request": 3, "a": {'),
    ):
        again(model)
        replaced(path, old, new)
        with pytest.raises(ValueError, match=r"model\.trickless.*Remedy"):
            trickless.load(path)


def test_a_class_of_a_script_may_have_moved_to_a_module(again, path):
    again(Halfspaces(), [Halfspaces])
    module = Halfspaces.__module__.encode()
    lines, arrays = mutated_files.parts(path.read_bytes())
    moved = [line.replace(module, b"__main__") for line in lines]
    path.write_bytes(mutated_files.whole(moved, arrays))
    assert type(trickless.load(path, [Halfspaces])) is Halfspaces
    moved = [line.replace(module, b"elsewhere") for line in lines]
    path.write_bytes(mutated_files.whole(moved, arrays))
    with pytest.raises(ValueError, match="elsewhere:Halfspaces"):
        trickless.load(path, [Halfspaces])


@pytest.mark.parametrize("trusted", ["Halfspaces", ["Halfspaces"], [Halfspaces()], [3]])
def test_trusted_must_list_classes_and_functions(trusted, path):
    trickless.save(Halfspaces(), path)
    with pytest.raises(TypeError, match=r"load: trusted=.*Remedy: trusted=\[MyNeurons\]"):
        trickless.load(path, trusted)
    with pytest.raises(ValueError, match="two with the same name"):
        trickless.load(path, [Halfspaces, Halfspaces])
    assert type(trickless.load(path, Halfspaces)) is Halfspaces


@pytest.mark.parametrize(
    "value",
    [
        {1, 2}, np.array([1], dtype="M8[s]"), np.zeros(1, "f4,i4"), np.dtype("O"), Path(),
        np.ma.array([1]), iter([]), np.array([{1}, 2]), memoryview(b""), np.cos,
        Halfspaces().fit, Many("ab"), _slotted(),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_an_object_that_a_file_cannot_hold_is_refused_when_saved(value, path):
    path.write_bytes(b"what was there before")
    with pytest.raises(TypeError, match=r"save: Gaussian\.length_scale is or holds.*Remedy"):
        trickless.save(Gaussian(length_scale=[value]), path)
    assert path.read_bytes() == b"what was there before"


def test_an_object_that_holds_itself_is_refused(path):
    family = Halfspaces()
    family.scale = Helper(family)
    with pytest.raises(TypeError, match="contains itself"):
        trickless.save(family, path)


def test_nesting_has_a_limit_that_is_the_same_for_every_interpreter(path, again):
    def nested(levels, inside, wrap):
        for _ in range(levels):
            inside = wrap(inside)
        return inside

    trusted = [Halfspaces, Helper]
    for wrap in (lambda v: [v], lambda v: {"a": v}, lambda v: (v,), lambda v: {1: v}, Helper):
        family = Halfspaces(nested(45, 0.5, wrap))
        again(again(family, trusted), trusted)
        once = path.read_bytes()
        trickless.save(family, path)
        assert path.read_bytes() == once
        with pytest.raises(TypeError, match=r"holds more than 100 nested values.*Remedy"):
            trickless.save(Halfspaces(nested(5000, 0.5, wrap)), path)
    text = Gaussian(length_scale="[" * 1000 + '\\"')
    assert again(text).length_scale == text.length_scale


def test_functions_that_could_not_be_told_apart_are_refused(path, again):
    with pytest.raises(ValueError, match=r"two different functions.*<lambda>.*Remedy"):
        trickless.save(FromFunction(lambda rng, n, d: n, lambda X, w: w), path)


def test_a_save_that_fails_leaves_the_file_and_nothing_else(path, monkeypatch):
    trickless.save(Gaussian(length_scale=1.0), path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"model\.trickless.*No space.*Remedy"):
        trickless.save(Gaussian(length_scale=2.0), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_link_is_followed_and_rights_are_those_of_new_files(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    trickless.save(Gaussian(), link)
    assert link.is_symlink()
    other = tmp_path / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode
    assert isinstance(trickless.load(str(link)), Gaussian)


def _write(path):
    while True:
        trickless.save(Gaussian(length_scale=np.ones(200_000)), path)


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_process_that_is_killed_while_it_saves_leaves_a_whole_file(path):
    trickless.save(Gaussian(length_scale=np.zeros(3)), path)
    for delay in (0.01, 0.03, 0.05):
        writer = multiprocessing.get_context("fork").Process(target=_write, args=(path,))
        writer.start()
        writer.join(delay)
        writer.kill()
        writer.join()
        assert len(trickless.load(path).length_scale) in (3, 200_000)


def test_neurons_that_changed_are_noticed_when_they_are_used(path, monkeypatch):
    X, y = problem(DoublyStochasticRegressor())
    trickless.save(
        DoublyStochasticRegressor("stumps", n_neurons=50, random_state=0).fit(X, y), path
    )
    original = Stumps.draw
    monkeypatch.setattr(Stumps, "draw", lambda self, rng, n: original(self, rng, 2 * n)[:n])
    monkeypatch.setattr(
        Stumps, "draw", lambda self, rng, n: original(self, np.random.default_rng(n), n)
    )
    with pytest.raises(RuntimeError, match="no longer gives the neurons"):
        trickless.load(path).predict(X)


def test_a_file_without_a_parameter_is_refused(path):
    trickless.save(FromFunction(waves, soft_waves), path)
    replaced(path, b'"psi"', b'"chi"')
    with pytest.raises(ValueError, match="a FromFunction has no psi"):
        trickless.load(path, TRUSTED)


def test_the_golden_file_loads_and_predicts_what_it_did():
    model = trickless.load(GOLDEN)
    np.testing.assert_allclose(model.predict(rows()[:4]), ANSWERS, rtol=1e-9)
    model.partial_fit(rows()[:2], [0.1, 0.2])


def test_a_file_may_hold_every_public_learner_and_family():
    known = stated_classes().values()
    for name, thing in public_things().items():
        wraps_a_model = name.startswith("trickless.conformal.")  # which the user saves
        if hasattr(thing, "fit") and thing is not Neurons and not wraps_a_model:
            assert thing in known, name


# Damage and hostility.


def test_files_of_other_formats_are_refused(path):
    for content in (b"", b"PK\x03\x04", pickle.dumps(Gaussian()), b"\x89TRKLS\r\n", b"\x00" * 100):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"model\.trickless.*not a file of.*Remedy"):
            trickless.load(path)
    with pytest.raises(FileNotFoundError):
        trickless.load(path.with_name("nothing"))


def test_a_later_version_is_refused(path):
    trickless.save(Gaussian(), path)
    lines, arrays = mutated_files.parts(path.read_bytes())
    for version in (0, 2, 2**32 - 1):
        path.write_bytes(mutated_files.whole(lines, arrays, version=version))
        with pytest.raises(ValueError, match=rf"version {version}, .* up to 1\. Remedy: update"):
            trickless.load(path)


def test_content_that_another_version_made_says_so(path):
    trickless.save(Gaussian(), path)
    replaced(path, b"Gaussian", b"Bessel")
    with pytest.raises(ValueError, match=r"its content is not that of a model \(.*Remedy: save"):
        trickless.load(path)
    replaced(path, trickless.__version__.encode(), b"9.9.9")
    with pytest.raises(
        ValueError, match=r"made by 'trickless 9\.9\.9' .*Remedy: load it with that"
    ):
        trickless.load(path)


def test_every_flipped_byte_and_every_shorter_file_is_refused(path):
    data = mutated_files.content(Stumps(), path.parent)
    for i in range(len(data)):
        for mutated in (data[:i], data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :]):
            path.write_bytes(mutated)
            with pytest.raises(ValueError, match=r"(not a file of|version|cut short).*Remedy"):
                trickless.load(path)


def test_mutations_are_refused_without_memory_or_code():
    counts = mutated_files.run(400, seed=1)
    assert counts["damaged, refused"] > 190
    assert counts["hostile, refused"] > 120
    assert counts["hostile, read"] > 5  # a right checksum around other values of parameters


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"sampling"', b'"__class__"'),
        (b'"sampling"', b'"__array__"'),
        (b'"sampling"', b'"fit"'),
        (b'"sampling"', b'"width "'),
        (b'"sampling"', b'"independent"'),
        (b'"sampling"', b'"length_scale"'),
        (GAUSSIAN, b'["Gaussian"'),
        (GAUSSIAN, b'["trickless.neurons.base:Neurons"'),
        (GAUSSIAN, b'["trickless._solvers.least_squares.paths:Solution"'),
        (GAUSSIAN, b'["trickless._arrays.places:Place"'),
        (GAUSSIAN, b'["trickless._arrays.stated:np"'),
        (GAUSSIAN, b'["trickless._arrays.stated:Array"'),
        (GAUSSIAN, b'["trickless.neurons.isotropic:Gaussian.fit"'),
        (GAUSSIAN, b'["trickless.neurons.isotropic.os:system"'),
        (GAUSSIAN, b'["trickless.neurons.no_module:Gaussian"'),
        (GAUSSIAN, b'["trickless.neurons.isotropic\\n:Gaussian"'),
        (GAUSSIAN, b'["trickless._cli.demo.download:Archive"'),
        (GAUSSIAN, b'["os:system"'),
        (GAUSSIAN, b'[{"$foreign": "os:system"}'),
        (GAUSSIAN, b'["builtins:eval"'),
        (b"0.7071", b"NaN"),
        (b"0.7071", b"1e999"),
        (b"0.7071", b'{"$float": "0.7071"}'),
        (b"0.7071", b'{"$type": "object"}'),
        (b"0.7071", b'{"$dtype": "f4,O"}'),
        (b"0.7071", b'{"$array": 0}'),
        (b"0.7071", b'{"$object": 0}'),
        (b"0.7071", b'{"$object": -1}'),
        (b"0.7071", b'{"$dict": [[1, 2], [1, 3]]}'),
        (b"0.7071", b'{"$dict": [[[], 2]]}'),
        (b"0.7071", b'{"$objects": [[1000000000000], [1]]}'),
        (b"0.7071", b'{"$objects": [[-1], [1]]}'),
        (b"0.7071", b'{"$tuple": [], "a": 1}'),
        (b"0.7071", b'{"$unknown": 1}'),
        (b"0.7071", b"[" * 200_000),
        (b"0.7071", b"[" * 300 + b"]" * 300),
        (b"0.7071", b'{"a":' * 300 + b"1" + b"}" * 300),
        (b"0.7071", b"9" * 5000),
        (b'"arrays": [', b'"arrays": [["<f8", "C", [1152921504606846976]]'),
        (b'"arrays": [', b'"arrays": [["|O", "C", [0]]'),
        (b'"arrays": [', b'"arrays": [["<f8", "C", [0]]'),
        (b'"arrays": [', b'"arrays": [["<f8", "C", [NaN]]'),
        (b'"arrays": [', b'"arrays": [["<f8", "C", [-1]]'),
        (b'"arrays": [', b'"arrays": [["<f8", "C", [0, 4611686018427387904, 4]]'),
        (b'"foreign": []', b'"foreign": 3'),
        (b'"foreign": []', b'"foreign": ["os:system"]'),
        (b'"foreign": []', b'"foreign": [], "foreign": []'),
        (b'{"library"', b'["library"'),
    ],
)
def test_a_hostile_header_is_refused(old, new, path):
    trickless.save(Gaussian(length_scale=0.7071), path)
    replaced(path, old, new)
    with pytest.raises(ValueError, match=r"model\.trickless.*Remedy"):
        trickless.load(path)


def test_numbers_that_compiled_code_would_trust_are_checked(path):
    """Column numbers of sparse rows, places in random states, truth values, characters."""
    X, y = problem(ShrinkingGradientRegressor())

    def with_array(model, kind, value):
        trickless.save(model, path)

        def change(lines, arrays):
            place = 0
            for dtype, _, shape in json.loads(lines[0])["arrays"]:
                size = np.dtype(dtype).itemsize * int(np.prod(shape))
                if kind in dtype:
                    arrays = arrays[:place] + value + arrays[place + len(value) :]
                place += size
            return lines, arrays

        of(path, change)
        with pytest.raises(ValueError, match=r"its content.*Remedy"):
            trickless.load(path)

    model = ShrinkingGradientRegressor(Stumps(), random_state=0)
    model.fit(scipy.sparse.csr_matrix(X), y)
    with_array(model, "<i8", struct.pack("<q", 10**9))
    with_array(model, "<i8", struct.pack("<q", -1))
    with_array(Gaussian(np.array([True])), "|b1", b"\x02")
    with_array(Gaussian(np.array(["a"])), "<U1", struct.pack("<I", 0x110000))
    f = Expansion(model.neurons_, scipy.sparse.csr_matrix(X), np.ones((len(X), 1)))
    trickless.save(f, path)
    replaced(path, b"[120, 4]]}", b"[120, 3]]}")
    with pytest.raises(ValueError, match="a column of sparse rows is not in the range from 0 to 2"):
        trickless.load(path)
    for kind in (np.random.MT19937, np.random.Philox):
        trickless.save(KitchenSinksRegressor(random_state=np.random.Generator(kind(0))), path)
        part = b'"pos": ' if kind is np.random.MT19937 else b'"buffer_pos": '
        replaced(path, part, part + b"99999")
        with pytest.raises(ValueError, match="pos of a random generator is out of range"):
            trickless.load(path)


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        (b"[624]", b"[312, 2]", "another shape"),
        (b'"pos"', b'"place"', "unexpected parts"),
        (b'"MT19937"', b'"os"', "not of a known kind"),
        (b'["RandomState"', b'["Random"', "neither"),
        (b'"has_gauss": 0', b'"has_gauss": -1', "out of range"),
        (b'"has_gauss": 0', b'"has_gauss": "0"', "is a str"),
        (b'"has_gauss": 0', b'"has_gauss": 2', "out of range"),
        (b'"gauss": 0.0', b'"gauss": {"$float": "nan"}', "not finite"),
    ],
)
def test_states_of_random_generators_are_checked(old, new, cause, path):
    trickless.save(KitchenSinksRegressor(random_state=np.random.RandomState(0)), path)
    replaced(path, old, new)
    with pytest.raises(ValueError, match=cause):
        trickless.load(path)


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.PCG64DXSM])
@pytest.mark.parametrize("whole", [np.random.Generator, np.random.RandomState])
def test_a_generator_that_would_draw_for_ever_is_refused(kind, whole, path):
    """PCG64 with an even increment repeats itself, and what rejects numbers waits for others."""
    random = whole(kind(0))
    state = kind(0).state["state"]["inc"]
    trickless.save(KitchenSinksRegressor(random_state=random), path)
    replaced(path, str(state).encode(), b"0")
    with pytest.raises(ValueError, match="increment of a random generator is even"):
        trickless.load(path)


@pytest.mark.parametrize("whole", [np.random.Generator, np.random.RandomState])
def test_a_twister_of_zeros_is_refused(whole, path):
    trickless.save(KitchenSinksRegressor(random_state=whole(np.random.MT19937(0))), path)
    of(path, lambda lines, arrays: (lines, bytes(len(arrays))))
    with pytest.raises(ValueError, match="key of a random generator is zero"):
        trickless.load(path)


@pytest.mark.parametrize(
    "keys",
    [
        range(2**61 - 1, 2**61 * 20_000, 2**61 - 1),
        [complex(1000003 * k, -k) for k in range(3)],
        [(k, 1) for k in range(3)],
        [2**64],
        [-(2**63) - 1],
        [np.complex128(1j)],
        [b"bytes"],
    ],
    ids=["multiples", "complex", "tuples", "large", "small", "complex scalar", "bytes"],
)
def test_keys_whose_hashes_can_be_chosen_are_refused(keys, path):
    """A dictionary of n keys with one hash would take n² steps."""
    keys = list(keys)
    with pytest.raises(TypeError, match=r"save: .*dictionary with the key.*Remedy"):
        trickless.save(KitchenSinksClassifier(class_weight=dict.fromkeys(keys[-3:], 1.0)), path)
    if all(type(key) in (int, tuple) for key in keys):
        trickless.save(KitchenSinksClassifier(class_weight={1: 1.0}), path)
        pairs = [[{"$tuple": list(k)} if type(k) is tuple else k, 1.0] for k in keys]
        replaced(path, b"[[1, 1.0]]", json.dumps(pairs).encode())
        with pytest.raises(ValueError, match="cannot be a key"):
            trickless.load(path)


def test_the_verified_bytes_are_the_bytes_used(path, monkeypatch):
    """Somebody who changes the file after its checksum was compared changes nothing."""
    trickless.save(Gaussian(length_scale=np.ones(100_000)), path)  # more than is read ahead
    content = path.read_bytes()

    def parse(line, hook, plain=trickless._files.format.parse):
        with path.open("r+b") as file:
            file.seek(-5000, os.SEEK_END)
            file.write(bytes(4000))
        return plain(line, hook)

    monkeypatch.setattr("trickless._files.format.parse", parse)
    with pytest.raises(ValueError, match="checksum does not match"):
        trickless.load(path)
    monkeypatch.undo()
    path.write_bytes(content)
    monkeypatch.setattr("trickless._files.records.parse", parse)
    assert (trickless.load(path).length_scale == 1).all()


def test_an_array_that_changes_while_it_is_saved_makes_no_unreadable_file(path, tmp_path):
    changing, stop = np.zeros(2**20), threading.Event()

    def change():
        while not stop.is_set():
            changing.__iadd__(1.0)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            trickless.save(Gaussian(length_scale=changing), path)
            trickless.load(path)
    finally:
        stop.set()
        thread.join()


def test_many_names_that_are_missing_are_cut_short(path):
    trickless.save(Gaussian(), path)
    names = json.dumps([f"module:{'x' * 500}{i}" for i in range(10_000)]).encode()

    def change(lines, arrays):
        about = json.loads(lines[0])
        about["foreign"] = json.loads(names)
        return [json.dumps(about).encode(), *lines[1:]], arrays

    of(path, change)
    with pytest.raises(ValueError, match=r"it needs .* and 9995 more, not in trusted") as caught:
        trickless.load(path)
    assert len(str(caught.value)) < 1500


def test_all_bytes_of_a_file_belong_to_something(path):
    trickless.save(Gaussian(length_scale=np.ones(3)), path)
    of(path, lambda lines, arrays: (lines, arrays + b"more"))
    with pytest.raises(ValueError, match="sizes of the arrays do not match"):
        trickless.load(path)
    trickless.save(Gaussian(length_scale=np.ones(3)), path)
    replaced(path, b'{"$array": 0}', b'{"$array": -1}')
    with pytest.raises(ValueError, match="-1 is not a count or an index"):
        trickless.load(path)


def test_a_header_has_a_largest_size(path, monkeypatch):
    trickless.save(Gaussian(), path)
    monkeypatch.setattr(trickless._files.format, "_LARGEST_HEADER", 50)
    with pytest.raises(ValueError, match="cut short or damaged"):
        trickless.load(path)
    with pytest.raises(ValueError, match=r"save: the model has .* a file can hold 50. Remedy"):
        trickless.save(Gaussian(), path)


def test_a_file_has_a_largest_number_of_objects(path, monkeypatch):
    trickless.save(Mixture([Gaussian(), Gaussian()]), path)
    monkeypatch.setattr(trickless._files.records, "MOST_OBJECTS", 2)
    with pytest.raises(ValueError, match="there are 3 objects, but a file can have 2"):
        trickless.load(path)
    with pytest.raises(TypeError, match=r"save: .*more than 2 objects.*Remedy"):
        trickless.save(Mixture([Gaussian(), Gaussian()]), path)


def test_files_of_another_structure_are_refused_or_used_without_harm():
    outcomes, faults = used_files.run(40, seed=7)
    assert not any(outcomes[what] for what in used_files.HARM), faults
    assert outcomes["refused"] > 6
    assert outcomes["calls: used"] > 50


FOREIGN_READ = """
import ctypes, os
import numpy as np
from fences import Fences
fences = Fences()
for at_end, offset in ((True, 40), (False, -8), (True, 32)):
    fences.set(at_end, 255)
    rows = np.empty(5)
    assert np.isnan(rows).all()
    child = os.fork()
    if not child:
        ctypes.c_double.from_address(rows.ctypes.data + offset).value
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_read_beyond_an_array_is_seen_by_the_fuzzer():
    folder = Path(used_files.__file__).parent
    command = [sys.executable, "-c", FOREIGN_READ]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert said.stdout.split() == [str(-signal.SIGSEGV), str(-signal.SIGSEGV), "0"], said.stderr


def numbers_in(model, path):
    """All numbers with a fraction in the file of a model, in single precision."""
    trickless.save(model, path)
    file = Parsed(path.read_bytes())
    found = [array.ravel() for array, _ in file.arrays if array.dtype.kind == "f"]
    found.append([float(n[k]) for n, k in places(file.records) if type(n[k]) is float])
    return np.concatenate(found).astype(np.float32)


@pytest.mark.parametrize(
    ("neurons", "stays"),
    [
        ("gaussian", {}),
        ("stumps", {"midpoints": 1.0}),
        ("ferns", {"midpoints": 1.0}),
        ("tabular", {"midpoints": 1.0}),
        ("trees", {"midpoints": 1.0}),
        ("landmarks", {"rows": 1.0, "maximum": 1.0, "minimum": 1.0}),
    ],
)
def test_what_a_file_tells_of_rows_is_what_the_page_on_security_says(neurons, stays, path):
    X = np.abs(inputs(200, 2))
    family = FAMILIES[neurons] if neurons == "landmarks" else neurons
    model = trickless.RandomFeatures(family, 8, scale="unit", random_state=0, dtype="float64").fit(
        X
    )
    ordered = np.sort(X, axis=0)
    secrets = {
        "rows": X,
        "minimum": X.min(axis=0),
        "maximum": X.max(axis=0),
        "mean": X.mean(axis=0),
        "midpoints": (ordered[1:] + ordered[:-1]) / 2,
    }

    def told(model):
        numbers = numbers_in(model, path)
        shares = {
            name: np.isin(values.astype(np.float32), numbers).mean()
            for name, values in secrets.items()
        }
        return {name: share for name, share in shares.items() if share > 0.5}

    assert told(model.compact()) == stays
    assert told(model) == {"minimum": 1.0, "maximum": 1.0, "mean": 1.0} | stays


class InPieces:
    """An open file that reads and writes a few bytes at a time, and nothing else."""

    def __init__(self):
        self._bytes = b""

    def write(self, data):
        self._bytes += bytes(data[:7])
        return min(7, len(data))

    def read(self, n):
        some, self._bytes = self._bytes[: min(n, 1000)], self._bytes[min(n, 1000) :]
        return some


@pytest.fixture(scope="module")
def large():
    """A model with an array of more bytes than are read at a time."""
    X = inputs(400, 3)
    return KitchenSinksRegressor(n_neurons=420, random_state=0).fit(X, X[:, 0]), X


def zipped(path, mode):
    """A compressed file. Noise takes long to compress well, and does not get smaller."""
    return gzip.open(path, mode, compresslevel=1)


@contextmanager
def archive(path, mode):
    """A member of an archive, open for reading or writing."""
    with zipfile.ZipFile(path, mode[0]) as whole, whole.open("model", mode[0]) as member:
        yield member


@pytest.mark.parametrize("opened", [open, zipped, archive])
def test_models_go_to_and_come_from_open_files(opened, large, path):
    model, X = large
    with opened(path, "wb") as file:
        assert trickless.save(model, file) == []
    with opened(path, "rb") as file:
        again = trickless.load(file)
    assert np.array_equal(again.predict(X), model.predict(X))
    again.partial_fit(X, X[:, 0])  # arrays can be written to


def test_several_models_follow_one_another_in_an_open_file(large):
    for file in (io.BytesIO(), InPieces()):
        for model in (Gaussian(2.0), large[0] if type(file) is io.BytesIO else Gaussian(4.0)):
            trickless.save(model, file)
        if type(file) is io.BytesIO:
            file.seek(0)
        assert trickless.load(file).length_scale == 2.0
        trickless.load(file)
        with pytest.raises(ValueError, match="it is not a file of trickless"):
            trickless.load(file)


def test_each_byte_of_an_open_file_is_read_once_and_the_same_is_written(large, path):
    model, _ = large
    file = io.BytesIO()
    trickless.save(model, file)
    trickless.save(model, path)
    assert file.getvalue() == path.read_bytes()
    read = []

    class Counted(io.BytesIO):
        def read(self, n):
            read.append(n)
            return super().read(n)

    trickless.load(Counted(file.getvalue() + b"more"))
    assert sum(read) == len(file.getvalue())


@pytest.mark.parametrize("share", [0.0, 1e-5, 0.001, 0.3, 0.7, 0.99999])
def test_an_open_file_that_ends_too_early_is_refused(share, large):
    file = io.BytesIO()
    trickless.save(large[0], file)
    with pytest.raises(ValueError, match=r"load: the BytesIO: .*Remedy"):
        trickless.load(io.BytesIO(file.getvalue()[: int(share * len(file.getvalue()))]))


def test_arrays_that_an_open_file_does_not_have_take_no_memory():
    about = {"library": "", "numpy": "", "foreign": [], "arrays": [["<f8", "C", [2**40]]]}
    lines = [json.dumps(about).encode(), b'["trickless.neurons.isotropic:Gaussian", {}]']
    data = mutated_files.whole(lines, bytes(2**22))
    tracemalloc.start()
    with pytest.raises(ValueError, match="cut short or damaged"):
        trickless.load(io.BytesIO(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(data)


def test_files_of_text_or_of_the_wrong_kind_are_refused_with_a_remedy(path):
    path.write_text("text")
    closed = io.BytesIO()
    closed.close()
    with path.open() as text, path.open("rb") as to_read:
        for call, error in (
            (lambda: trickless.save(Gaussian(), io.StringIO()), TypeError),
            (lambda: trickless.load(io.StringIO("text")), TypeError),
            (lambda: trickless.load(text), TypeError),
            (lambda: trickless.save(Gaussian(), to_read), ValueError),
            (lambda: trickless.load(closed), ValueError),
            (lambda: trickless.save(Gaussian(), closed), ValueError),
            (lambda: trickless.save(Gaussian(), 5), TypeError),
            (lambda: trickless.load(None), TypeError),
        ):
            with pytest.raises(error, match=r"(save|load): .*Remedy: .*"):
                call()
    with gzip.open(path, "wb") as file:
        trickless.save(Gaussian(), file)
    for damage in (path.read_bytes()[:100], b"no archive"):
        path.write_bytes(damage)
        with gzip.open(path) as file, pytest.raises(ValueError, match=r"cannot read bytes.*Remedy"):
            trickless.load(file)


def test_a_buffer_or_array_has_one_owner(path):
    X, y = problem(ShrinkingGradientRegressor())
    trickless.save(KitchenSinksRegressor(n_neurons=4, random_state=0).fit(X, y), path)
    replaced(path, b'{"$array": 1}', b'{"$array": 0}')
    with pytest.raises(ValueError, match="array belongs to two"):
        trickless.load(path)
    trickless.save(KernelGradientRegressor().fit(X, y), path)

    def shared(lines, arrays):
        (place,) = (
            i
            for i, line in enumerate(lines)
            if line.startswith(b'["trickless._solvers.rounds.coefficients:')
        )
        name, state = json.loads(lines[place])
        state["_epoch"] = state["_round"]
        lines[place] = json.dumps([name, state]).encode()
        return lines, arrays

    of(path, shared)
    with pytest.raises(ValueError, match="buffer belongs to two"):
        trickless.load(path)


def test_a_path_that_is_no_regular_file_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = KitchenSinksRegressor(n_neurons=5, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"a device, pipe or socket\. Remedy"):
        trickless.save(model, pipe)
    with pytest.raises(ValueError, match=r"is a folder\. Remedy: use the path of a file"):
        trickless.save(model, tmp_path)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_file_that_takes_no_bytes_raises_an_error():
    class Full(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            return 0

    with pytest.raises(ValueError, match=r"cannot write bytes \(it takes none of them\).*Remedy"):
        trickless.save(Gaussian(), Full())
