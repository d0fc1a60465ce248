import os
import re
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import killed_fits
import trickless
from cases import LEARNERS, answers, name_of, problem, shots
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    NoisyKernelRegressor,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.baselines import KernelGradientRegressor
from trickless.files.checkpoint import Checkpoint
from trickless.neurons import FromFunction, Gaussian, Stumps
from trickless.solvers.descent.descent import Descent

STEPS = {"neurons_per_step": 8, "batch_size": 40}
#: Fits whose states differ, by name.
FITS = {
    "sums": KitchenSinksRegressor(n_neurons=20),
    "sums-loo": KitchenSinksRegressor(n_neurons=20, alpha="loo"),
    "sums-log-loss": KitchenSinksClassifier("stumps", 20, loss="log_loss"),
    "passes": KitchenSinksRegressor(n_neurons=40, solver="iterative", tol=1e-11),
    "passes-alpha": KitchenSinksRegressor(n_neurons=40, solver="iterative", alpha=1e-6, tol=1e-11),
    "steps": DoublyStochasticRegressor(n_neurons=100, **STEPS),
    "steps-float64": DoublyStochasticClassifier(n_neurons=100, dtype="float64", **STEPS),
    "steps-held-out": DoublyStochasticRegressor(n_neurons=100, early_stopping=True, **STEPS),
    "steps-trees": DoublyStochasticClassifier("trees", 24, batch_size=40, early_stopping=True),
    "steps-trees-drawn": DoublyStochasticRegressor("trees", 16, n_candidates=1),
    "steps-best": DoublyStochasticRegressor("gaussian", 100, n_candidates=3, **STEPS),
    "rounds": ShrinkingGradientRegressor(n_neurons=30, n_samples=20),
    "rounds-shrink": ShrinkingGradientClassifier(n_neurons=30, n_samples=20, norm_bound=0.03),
    "rounds-compressed": ShrinkingGradientRegressor(n_neurons=30, n_samples=20, max_support=40),
    "rounds-fading": ShrinkingGradientRegressor(n_neurons=30, n_samples=20, half_life=9),
    "rounds-measured": ShrinkingGradientRegressor(n_neurons=30, n_samples=2000),
    "rounds-noisy": NoisyKernelRegressor(shots),
    "rounds-exact": KernelGradientRegressor(),
}


class Ended(Exception):  # noqa: N818
    """In the place of the end of the process."""


@pytest.fixture(autouse=True)
def at_every_step(monkeypatch):
    monkeypatch.setattr("trickless.files.checkpoint.SECONDS", 0.0)
    monkeypatch.setattr("trickless.files.checkpoint.SHARE", np.inf)
    monkeypatch.setattr("trickless.functions.activations.PANEL_BYTES", 1)
    monkeypatch.setattr("trickless.files.whole.os.fsync", lambda file: None)  # for the disk's sake


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"


@pytest.fixture
def ending(monkeypatch):
    """Runs a call that ends after its n-th state; whether it had so many."""

    def run(n, call, *args, **options):
        def write(self, progress, plain=Checkpoint._write):
            plain(self, progress)
            kept.append(None)
            if len(kept) == n:
                raise Ended

        kept = []
        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "_write", write)
            try:
                call(*args, **options)
            except Ended:
                return True
        return False

    return run


def fresh(name, **params):
    return clone(FITS[name]).set_params(**({"random_state": 0} | params))


def rows(name):
    return problem(FITS[name], 900 if name.startswith("sums") else 160)


def everything(model):
    """All that a model holds."""
    return trickless.files.format.digest(model)


@pytest.mark.parametrize("name", FITS)
def test_a_resumed_fit_gives_the_same_model(name, path, ending):
    X, y = rows(name)
    whole = fresh(name).fit(X, y)
    assert everything(fresh(name).fit(X, y, checkpoint=path)) == everything(whole)
    assert not list(path.parent.iterdir())
    n = 1
    while ending(n, fresh(name).fit, X, y, checkpoint=path):
        model = fresh(name)
        if n % 2 and ending(1, model.fit, X, y, checkpoint=path):  # and ends once more
            assert not model.__sklearn_is_fitted__()
        assert everything(model.fit(X, y, checkpoint=str(path))) == everything(whole)
        assert not list(path.parent.iterdir())
        n += {"sums": 1, "rounds": 80}.get(name.split("-")[0], 9)
    assert n > 2


def test_f_at_the_rows_by_which_trees_are_chosen_is_kept(path, monkeypatch):
    """Summed again, it would be rounded in another way, and might choose another cut."""
    visited = []

    def state(self, batches, plain=Descent.state):
        visited.append([len(batch.f) for batch in batches])
        return plain(self, batches)

    monkeypatch.setattr(Descent, "state", state)
    X, y = rows("steps-trees")
    model = fresh("steps-trees", n_neurons=5, early_stopping=False)
    model.fit(X, y, checkpoint=path)
    assert visited[-1] == [40, 40, 40, 40, 160]


@pytest.mark.parametrize("size", [2**20, 8 * 60 * 512])
def test_a_fit_resumes_in_panels_of_another_size(size, path, ending, monkeypatch):
    X, y = rows("sums")
    whole = fresh("sums").fit(X, y)
    assert ending(1, fresh("sums").fit, X, y, checkpoint=path)  # after 256 rows
    monkeypatch.setattr("trickless.functions.activations.PANEL_BYTES", size)
    model = fresh("sums").fit(X, y, checkpoint=path)
    assert model.statistics_.weight == len(X)
    np.testing.assert_allclose(model.neuron_coef_, whole.neuron_coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_a_resumed_fit_takes_weights_and_sparse_rows(learner, path, ending):
    X, y = problem(learner, 400)
    X = scipy.sparse.csr_matrix(X * (X > 0))
    weight = np.arange(400) % 4 + 0.5
    options = {} if name_of(learner).startswith("Shrinking") else {"sample_weight": weight}
    model = clone(learner).set_params(random_state=0)
    if name_of(learner).startswith("Doubly"):
        model.set_params(**STEPS)
    whole = clone(model).fit(X, y, **options)
    assert ending(2 if "Kitchen" not in name_of(model) else 1, clone(model).fit, X, y,
                  checkpoint=path, **options)  # fmt: skip
    again = clone(model).fit(X, y, checkpoint=path, **options)
    assert everything(again) == everything(whole)


def test_a_stream_continues_after_its_last_batch(path, ending):
    X, y = problem(KitchenSinksClassifier(), 300)
    batches = [(X[i : i + 60], y[i : i + 60], 1.0 + (y[i : i + 60] > 1)) for i in range(0, 300, 60)]
    model = KitchenSinksClassifier(n_neurons=20, random_state=0)
    whole = answers(clone(model).fit_stream(batches, classes=[0, 1, 2]), X)
    for n in range(1, 6):
        assert ending(n, clone(model).fit_stream, iter(batches), [0, 1, 2], checkpoint=path)
        again = clone(model).fit_stream(iter(batches), [0, 1, 2], checkpoint=path)
        np.testing.assert_array_equal(answers(again, X), whole)
        assert not path.exists()
    assert ending(3, clone(model).fit_stream, batches, [0, 1, 2], checkpoint=path)
    with pytest.raises(ValueError, match=r"with other batches \(at least 3 then, 2 now\)"):
        clone(model).fit_stream(batches[:2], [0, 1, 2], checkpoint=path)
    other = [batches[0], (batches[1][0] + 1e-6, *batches[1][1:]), *batches[2:]]
    with pytest.raises(ValueError, match="with other values of X"):
        clone(model).fit_stream(other, [0, 1, 2], checkpoint=path)
    with pytest.raises(ValueError, match=r"other method \(fit_stream then, fit now\)"):
        clone(model).fit(X, y, checkpoint=path)


def test_a_warm_start_continues_from_the_same_model(path, ending):
    X, y = problem(DoublyStochasticRegressor(), 200)
    begun = DoublyStochasticRegressor(n_neurons=40, warm_start=True, random_state=0, **STEPS)
    begun.fit(X, y)
    trickless.save(begun, path.with_name("begun"))

    def larger():
        return trickless.load(path.with_name("begun")).set_params(n_neurons=100)

    whole = larger().fit(X, y)
    assert ending(3, larger().fit, X, y, checkpoint=path)
    with pytest.raises(ValueError, match="with other model to go on from"):
        clone(begun).set_params(n_neurons=40).fit(X, y).set_params(n_neurons=100).partial_fit(
            X, y
        ).fit(X, y, checkpoint=path)
    np.testing.assert_array_equal(
        larger().fit(X, y, checkpoint=path).neuron_coef_, whole.neuron_coef_
    )


def test_another_fit_is_refused_and_told_what_differs(path, ending):
    X, y = problem(DoublyStochasticRegressor(), 200)
    model = DoublyStochasticRegressor(Gaussian(2.0), n_neurons=100, random_state=0, **STEPS)
    assert ending(3, model.fit, X, y, checkpoint=path)
    content = path.read_bytes()
    moved, heavier = X.copy(), np.ones(200)
    moved[7, 2] += 1e-3
    heavier[3] = 2
    order = np.arange(200)[::-1]
    cases = [
        ({"alpha": 1e-3}, X, y, {}, r"with other alpha \('auto' then, 0.001 now\)\. Remedy"),
        ({"neurons": Gaussian(3.0)}, X, y, {}, r"other neurons \(Gaussian\(length_scale=2.0\) th"),
        ({"neurons": Stumps(), "n_neurons": 50}, X, y, {}, r"other n_neurons \(.*; other neurons "),
        ({"random_state": 1}, X, y, {}, "with other random_state"),
        ({}, moved, y, {}, "with other values of X"),
        ({}, X, y + 1e-3, {}, "with other y"),
        ({}, X[order], y[order], {}, "with other values of X; other y"),
        ({}, X[:, :3], y, {}, r"shape of X \(float32 ndarray of 200 x 4 then, .* 200 x 3 now\)"),
        ({}, X[:100], y[:100], {}, "with other type or shape of X"),
        ({}, scipy.sparse.csr_matrix(X), y, {}, "with other type or shape of X"),
        ({}, X, y, {"sample_weight": heavier}, "with other sample_weight"),
    ]
    for params, rows_, targets, options, match in cases:
        with pytest.raises(ValueError, match=match) as refused:
            clone(model).set_params(**params).fit(rows_, targets, **options, checkpoint=path)
        assert str(path) in str(refused.value) and "Remedy" in str(refused.value)
        assert path.read_bytes() == content
    with pytest.raises(
        ValueError, match=r"with other class \(trickless\.learners\.doubly.*Regressor then"
    ):
        DoublyStochasticClassifier().fit(X, y > 0, checkpoint=path)
    assert everything(clone(model).fit(X, y, checkpoint=path)) == everything(model.fit(X, y))


def test_checkpoints_of_other_versions_are_refused(path, ending, monkeypatch):
    X, y = rows("steps")
    assert ending(3, fresh("steps").fit, X, y, checkpoint=path)
    monkeypatch.setattr(np, "__version__", "9.9")
    with pytest.raises(ValueError, match=r"other version of NumPy \(.* then, 9.9 now\)"):
        fresh("steps").fit(X, y, checkpoint=path)


def test_threads_may_change_and_a_seed_that_was_left_open_stays(path, ending):
    X, y = rows("steps")
    whole = fresh("steps").fit(X, y)
    assert ending(3, fresh("steps").fit, X, y, checkpoint=path)
    again = fresh("steps", n_jobs=1).fit(X, y, checkpoint=path)
    np.testing.assert_array_equal(again.neuron_coef_, whole.neuron_coef_)

    assert ending(3, fresh("steps", random_state=None).fit, X, y, checkpoint=path)
    seed = trickless.load(path).seed
    again = fresh("steps", random_state=None).fit(X, y, checkpoint=path)
    assert again.seed_ == seed
    np.testing.assert_array_equal(
        again.neuron_coef_, fresh("steps", random_state=seed).fit(X, y).neuron_coef_
    )

    rng = np.random.default_rng(5)
    assert ending(3, fresh("steps", random_state=rng).fit, X, y, checkpoint=path)
    with pytest.raises(ValueError, match="other random_state"):
        fresh("steps", random_state=rng).fit(X, y, checkpoint=path)  # which has moved on
    again = fresh("steps", random_state=np.random.default_rng(5)).fit(X, y, checkpoint=path)
    whole = fresh("steps", random_state=np.random.default_rng(5)).fit(X, y)
    np.testing.assert_array_equal(again.neuron_coef_, whole.neuron_coef_)


def sample(rng, n, n_features):
    return rng.standard_normal((n, n_features))


def signs(X, w):
    return np.sign(X @ w.T)


def test_neurons_of_the_users_own_are_known_by_name(path, ending):
    X, y = rows("steps")
    model = fresh("steps", neurons=FromFunction(sample, signs))
    whole = clone(model).fit(X, y)
    assert ending(3, clone(model).fit, X, y, checkpoint=path)
    np.testing.assert_array_equal(
        clone(model).fit(X, y, checkpoint=path).neuron_coef_, whole.neuron_coef_
    )
    model.neurons.psi = os  # which is not a function
    with pytest.raises(TypeError, match=r"neurons cannot be saved .* Remedy: fit without"):
        model.fit(X, y, checkpoint=path)


def damages(content):
    """Files that are torn, or have changed."""
    for length in np.unique(np.linspace(0, len(content) - 1, 60).astype(int)):
        yield content[:length]
    for place in np.unique(np.linspace(0, len(content) - 1, 60).astype(int)):
        yield content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]
    yield content + b"\0"
    yield bytes(len(content))


def test_a_refusal_names_the_files_to_delete(path, ending):
    X, y = rows("steps")
    assert ending(4, fresh("steps").fit, X, y, checkpoint=path)
    for file in (path, path.with_name("fit.checkpoint.previous")):
        with pytest.raises(ValueError, match="is of another fit") as caught:
            fresh("steps").fit(X + 1, y, checkpoint=path)
        there = " and ".join(repr(str(file)) for file in sorted(path.parent.iterdir()))
        assert str(caught.value).endswith(f"or delete {there}.")
        file.unlink()
    fresh("steps").fit(X + 1, y, checkpoint=path)


def test_the_state_before_is_taken_where_a_file_is_torn(path, ending):
    X, y = rows("steps")
    expected = everything(fresh("steps").fit(X, y))
    assert ending(4, fresh("steps").fit, X, y, checkpoint=path)
    previous = path.with_name("fit.checkpoint.previous")
    contents = path.read_bytes(), previous.read_bytes()
    for torn in damages(contents[0]):
        path.write_bytes(torn)
        with pytest.warns(UserWarning, match=r"cannot be used\. .*checkpoint\.previous'|c"):
            kept = Checkpoint(path, fresh("steps"))
        assert len(kept._saved.state["history"]) == 3
    # The state before stays until a whole one has taken the place of the torn one.
    with pytest.warns(UserWarning, match="cannot be used"):
        assert ending(1, fresh("steps").fit, X, y, checkpoint=path)
    assert previous.read_bytes() == contents[1]
    assert len(trickless.load(path).state["history"]) == 4
    assert everything(fresh("steps").fit(X, y, checkpoint=path)) == expected
    for gone in (path, None):  # an end between the two moves, or in the removal of files
        path.write_bytes(contents[0])
        previous.write_bytes(contents[1])
        (gone or previous).unlink()
        assert everything(fresh("steps").fit(X, y, checkpoint=path)) == expected
        assert not list(path.parent.iterdir())


def test_a_torn_file_without_one_before_is_refused_and_left_alone(path, ending):
    X, y = rows("steps")
    assert ending(1, fresh("steps").fit, X, y, checkpoint=path)
    for torn in list(damages(path.read_bytes()))[::10]:
        path.write_bytes(torn)
        with pytest.raises(
            ValueError, match=r"cannot be used\. .* Remedy: to start again, use another path, or"
        ):
            fresh("steps").fit(X, y, checkpoint=path)
        assert path.read_bytes() == torn
    trickless.save(fresh("steps"), path)
    with pytest.raises(ValueError, match="holds a DoublyStochasticRegressor, not a state"):
        fresh("steps").fit(X, y, checkpoint=path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="it is not a file of trickless"):
        fresh("steps").fit(X, y, checkpoint=path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def hostile(path, change):
    """Change the state in a file, under a right checksum; whether it can still be saved."""
    progress = trickless.load(path)
    change(progress)
    path.unlink()
    with suppress(AttributeError):
        trickless.save(progress, path)
    return path.exists()


def wrong_values(value):
    """Values that are wrong in the place of a part of a state."""
    yield from (
        None,
        "text",
        [],
        {},
        -1,
        10**9,
        np.nan,
        np.zeros((2, 2)),
        np.array(["a"]),
        Gaussian(),
    )
    if isinstance(value, np.ndarray) and value.ndim:
        yield from (value[:-1], value[..., None], np.concatenate([value, value]))
    if isinstance(value, list):
        yield from (value[:-1], [*value, None], [None] * len(value))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITS)
def test_a_hostile_state_is_refused_clearly(name, path, ending, tmp_path):
    """Parts of a state are replaced; the fit goes on, or says what is wrong and what to do."""
    X, y = rows(name)
    if not ending(2, fresh(name).fit, X, y, checkpoint=path):
        pytest.skip("the fit has one state")
    content, refused = path.read_bytes(), 0
    parts = {**vars(trickless.load(path))}
    changes = [lambda progress, p=part: vars(progress).pop(p) for part in parts]
    changes += [
        lambda progress, p=part, v=value: vars(progress).update({p: v})
        for part, old in parts.items()
        for value in wrong_values(old)
    ]
    changes += [lambda progress, p=part: progress.state.pop(p) for part in parts["state"]]
    changes += [
        lambda progress, p=part, v=value: progress.state.update({p: v})
        for part, old in parts["state"].items()
        for value in wrong_values(old)
    ]
    changes += [
        lambda progress, a=attribute: vars(inside(progress, a)).pop(a)
        for part in parts["state"].values()
        for attribute in getattr(part, "__dict__", {})
    ]
    tried = np.random.default_rng(0).permutation(len(changes))[:8]
    for change in (changes[i] for i in tried):
        path.write_bytes(content)
        if not hostile(path, change):
            continue
        for other in tmp_path.glob("*.previous"):
            other.unlink()
        try:
            fresh(name).fit(X, y, checkpoint=path)
        except (ValueError, TypeError) as error:
            told = "".join([str(error), *getattr(error, "__notes__", [])])
            assert "checkpoint=" in told, error
            assert "Remedy" in told, error
            refused += 1
    assert refused > len(tried) / 2


def inside(progress, attribute):
    """The object of a state that has this attribute."""
    return next(p for p in progress.state.values() if attribute in getattr(p, "__dict__", {}))


def test_a_path_that_cannot_be_written_is_refused_at_once(tmp_path):
    X, y = rows("steps")
    for path in (tmp_path / "no" / "such", tmp_path):
        with pytest.raises(ValueError, match=r"(cannot be written|is a folder).*Remedy: "):
            fresh("steps").fit(X, y, checkpoint=path)
    with pytest.raises(TypeError, match=r"checkpoint='3', but it must be the path of a file"):
        fresh("steps").fit(X, y, checkpoint=3)


def test_a_full_disk_does_not_end_a_fit(path, ending, monkeypatch):
    X, y = rows("steps")
    expected = everything(fresh("steps").fit(X, y))
    assert ending(3, fresh("steps").fit, X, y, checkpoint=path)
    content = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    def keep(self, state, now=False, plain=Checkpoint.keep):
        plain(self, state, now)
        assert path.read_bytes() == content

    monkeypatch.setattr("trickless.files.whole.os.fsync", full)
    monkeypatch.setattr(Checkpoint, "keep", keep)
    with pytest.warns(UserWarning) as caught:
        assert everything(fresh("steps").fit(X, y, checkpoint=path)) == expected
    first, last = (str(each.message) for each in caught)  # it says so once, and at the end
    assert re.search(r"fit.checkpoint.*No space left on device.*Remedy: free some space", first)
    assert re.search(r"the fit is complete. Its last states could not be kept.*No space", last)


def unwritable(path, how):
    """Put something at a path that cannot be replaced by a state."""
    if how == "read-only":
        path.chmod(0o444)
        return
    path.unlink()
    if how == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)


def writable(path, how):
    """Make a path one of a file again."""
    if how == "read-only":
        path.chmod(0o644)
    elif how == "folder":
        path.rmdir()
    else:
        path.unlink()


@pytest.mark.skipif(os.name != "posix", reason="rights and pipes of POSIX")
@pytest.mark.parametrize("how", ["read-only", "folder", "pipe"])
@pytest.mark.parametrize("name", ["steps", "rounds", "sums"])
@pytest.mark.parametrize("mended", [False, True])
def test_a_fit_continues_if_its_checkpoint_becomes_unwritable(name, how, mended, path, monkeypatch):
    X, y = rows(name)
    expected = everything(fresh(name).fit(X, y))
    tries = []

    def keep(self, state, now=False, plain=Checkpoint.keep):
        tries.append(None)
        if len(tries) == 2:
            unwritable(path, how)
        plain(self, state, now)
        if mended and len(tries) == 2:
            writable(path, how)

    monkeypatch.setattr(Checkpoint, "keep", keep)
    with pytest.warns(UserWarning) as caught:
        assert everything(fresh(name).fit(X, y, checkpoint=path)) == expected
    assert len(tries) > 2
    cause = {"read-only": "read-only", "folder": "is a folder", "pipe": "pipe or socket"}[how]
    first, *others = (str(each.message) for each in caught)
    assert re.search(rf"fit.checkpoint.* the state was not kept: .*{cause}.*Remedy: use", first)
    assert [bool(re.search(f"is complete. Its last states .*{cause}", o)) for o in others] == (
        [] if mended else [True]
    )
    assert path.exists() is not mended


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_an_error_says_that_the_last_states_were_not_kept(path, ending, monkeypatch):
    X, y = rows("steps")

    def keep(self, state, now=False, plain=Checkpoint.keep):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        plain(self, state, now)
        raise Ended

    monkeypatch.setattr(Checkpoint, "keep", keep)
    with pytest.raises(Ended) as caught, pytest.warns(UserWarning, match="was not kept"):
        fresh("steps").fit(X, y, checkpoint=path)
    assert "Its last states could not be kept" in caught.value.__notes__[0]
    assert path.is_fifo()


def test_states_are_kept_once_a_minute_and_take_little_of_the_time(path, monkeypatch):
    clock, kept, step, writing = [0.0], [], 1.0, 10.0
    monkeypatch.setattr("trickless.files.checkpoint.SECONDS", 60.0)
    monkeypatch.setattr("trickless.files.checkpoint.SHARE", 0.05)
    monkeypatch.setattr("trickless.files.checkpoint.time.monotonic", lambda: clock[0])

    def write(self, progress):
        kept.append(clock[0])
        clock[0] += writing

    monkeypatch.setattr(Checkpoint, "_write", write)
    checkpoint = Checkpoint(path, fresh("steps"))
    while clock[0] < 700:
        clock[0] += step
        checkpoint.keep(dict)
    assert kept == [60.0, 270.0, 480.0, 690.0]
    writing, step = 0.1, 0.5
    while clock[0] < 1100:
        clock[0] += step
        checkpoint.keep(dict)
    assert 60 <= kept[-1] - kept[-2] <= 61
    checkpoint.keep(dict, now=True)
    assert kept[-1] == clock[0] - writing


def test_ctrl_c_leaves_a_model_and_a_file(path, monkeypatch):
    X, y = rows("steps")
    whole = fresh("steps").fit(X, y)

    def keep(self, state, now=False, plain=Checkpoint.keep):
        plain(self, state, now)
        if len(state()["history"]) == 5:
            raise KeyboardInterrupt

    model = fresh("steps")
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "keep", keep)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, checkpoint=path)
    assert model.n_iter_ == 5 and np.isfinite(model.predict(X)).all()
    assert everything(model.fit(X, y, checkpoint=path)) == everything(whole)


def test_a_fit_without_a_checkpoint_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trickless.files.format.write", lambda *_: pytest.fail("it was written"))
    fresh("steps").fit(*rows("steps"))
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="kills processes")
@pytest.mark.parametrize(
    "name", ["kitchen-sinks", "doubly-stochastic-held-out", "shrinking-gradient-sparse"]
)
def test_a_fit_that_is_killed_continues_to_the_same_model(name, tmp_path):
    share = 0.05
    expected = killed_fits.fit(name, share)
    points = [("array", 8), ("flush", 2), ("replace", 3), ("replace", 4), ("unlink", 3)]
    for fatal, n in points:
        assert killed_fits.attempt(name, share, tmp_path, fatal=fatal, n=n) is None
        assert list(tmp_path.iterdir())
    numbers = killed_fits.attempt(name, share, tmp_path)
    assert killed_fits.same(numbers, expected)
    assert [file.name for file in tmp_path.iterdir()] == ["answer.npz"]


def test_warnings_of_a_fit_are_its_own(path):
    """Nothing is said of a fit that keeps states and ends well."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fresh("rounds").fit(*rows("rounds"), checkpoint=Path(path))
