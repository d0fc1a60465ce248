"""Learners on torch tensors: on the processor, and on a graphics card where there is one."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
import torch
from sklearn.base import clone, is_regressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aims
import count
from cases import FAMILIES, LEARNERS, SOME, answers, name_of, problem, suited
from devices import DEVICES
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless.neurons import FromTorch

WORKING = [m for m in LEARNERS if not name_of(m).startswith("Shrinking")]
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "gpu" / "run.py"

on_every_device = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True)
def dispatched(monkeypatch):
    """scikit-learn leaves arrays where they are; it wants SciPy to have been told as well."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


def put(array, device):
    return torch.tensor(np.asarray(array), device=device)


def make(learner, **options):
    return clone(learner).set_params(random_state=0, **options)


@on_every_device
@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_tensors_give_the_model_of_numpy(learner, device):
    X, y = problem(learner, rows=1200)
    X = X.astype(np.float32)
    expected = answers(make(learner).fit(X, y), X)
    rows = put(X, device)
    model = make(learner).fit(rows, put(y, device))
    got = answers(model, rows)
    assert got.device == rows.device
    assert model.predict(rows).device == rows.device
    # A preconditioned step multiplies the rounding of float32 by up to 1 / damping, 10⁴.
    share = 1e-3 if name_of(learner).startswith("Doubly") else 1e-4
    np.testing.assert_allclose(got.cpu(), expected, atol=share * np.abs(expected).max())
    score = make(learner).fit(X, y).score(X, y)
    assert float(model.score(rows, put(y, device))) == pytest.approx(score, abs=2e-3)


@on_every_device
@pytest.mark.parametrize(
    ("learner", "family"),
    [(WORKING[0], family) for family in FAMILIES] + [(WORKING[1], family) for family in SOME],
)
def test_every_family_works_on_tensors(learner, family, device):
    X, y = problem(learner)
    X = suited(family, X)
    options = {"neurons": FAMILIES[family], "dtype": "float64"}
    expected = answers(make(learner, **options).fit(X, y), X)
    rows = put(X, device)
    got = answers(make(learner, **options).fit(rows, put(y, device)), rows)
    np.testing.assert_allclose(got.cpu(), expected, atol=1e-6 * np.abs(expected).max())


@on_every_device
@pytest.mark.parametrize("learner", WORKING, ids=name_of)
def test_batches_of_tensors_are_those_of_numpy(learner, device):
    X, y = problem(learner)
    classes = {} if is_regressor(learner) else {"classes": np.unique(y)}
    expected, model = make(learner, dtype="float64"), make(learner, dtype="float64")
    for rows in (slice(0, 70), slice(70, 120)):
        expected.partial_fit(X[rows], y[rows], **classes)
        model.partial_fit(put(X[rows], device), put(y[rows], device), **classes)
    got = answers(model, put(X, device)).cpu()
    np.testing.assert_allclose(got, answers(expected, X), atol=1e-7)


@on_every_device
def test_steps_on_blocks_work_on_tensors(device):
    learner = make(WORKING[3], schedule="block", neurons_per_step=8, dtype="float64")
    X, y = problem(learner)
    model = clone(learner).fit(put(X, device), put(y, device))
    np.testing.assert_allclose(model.neuron_coef_, clone(learner).fit(X, y).neuron_coef_, atol=1e-7)


@on_every_device
def test_many_columns_and_error_bars_on_tensors(device):
    X, y = problem(KitchenSinksRegressor(), rows=1500)
    learner = KitchenSinksRegressor(n_neurons=600, dtype="float64", random_state=0)
    expected = clone(learner).fit(X, y).predict(X[:50], return_std=True)
    model = clone(learner).fit(put(X, device), put(y, device))
    for got, wanted in zip(model.predict(put(X[:50], device), True), expected, strict=True):
        np.testing.assert_allclose(got.cpu(), wanted, atol=1e-5)


def test_modules_are_for_rows_of_numpy():
    X, y = problem(WORKING[0])
    neurons = FromTorch(lambda: torch.nn.Linear(X.shape[1], 1))
    with pytest.raises(TypeError, match=r"FromTorch.activate .*Remedy: pass NumPy arrays"):
        make(WORKING[0], neurons=neurons).fit(put(X, "cpu"), y)


def test_dependent_columns_are_told():
    X, y = problem(WORKING[0])
    with pytest.raises(ValueError, match="linearly dependent to working precision"):
        make(WORKING[0], n_neurons=300, alpha=0).fit(put(X, "cpu"), y)


def test_tensors_that_require_a_gradient_are_refused():
    X, y = problem(WORKING[0])
    with pytest.raises(ValueError, match=r"requires a gradient.*Remedy: X.detach\(\)"):
        make(WORKING[0]).fit(put(X, "cpu").requires_grad_(), y)
    with pytest.raises(ValueError, match=r"y is .*requires a gradient.*Remedy: y.detach\(\)"):
        make(WORKING[0]).fit(X, put(y.astype(float), "cpu").requires_grad_())


def test_sparse_tensors_are_refused():
    X, y = problem(WORKING[0])
    with pytest.raises(TypeError, match=r"X is a sparse array .*Remedy: .*csr_matrix"):
        make(WORKING[0]).fit(put(X, "cpu").to_sparse(), y)


def test_tools_of_scikit_learn_go_with_tensors():
    X, y = problem(KitchenSinksClassifier())
    model = make_pipeline(StandardScaler(), KitchenSinksClassifier(n_neurons=60, random_state=0))
    expected = cross_val_score(model, X, y)
    got = cross_val_score(model, put(X, "cpu"), put(y, "cpu"))
    np.testing.assert_allclose(got, expected, atol=0.05)


def benchmark(*arguments):
    command = [sys.executable, BENCHMARK, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_the_benchmark_runs_on_small_shapes(tmp_path):
    result = benchmark("--device", "cpu", "--small", "--out", tmp_path / "gpu.json")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "gpu.json").exists()


@pytest.mark.parametrize(("script", "options"), [(aims, ["--device", "cpu"]), (count, [])])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scripts_without_a_card_run_on_small_shapes(script, options, tmp_path, monkeypatch, capsys):
    out = tmp_path / "results.json"
    monkeypatch.setattr(sys, "argv", ["script", "--small", "--out", str(out), *options])
    assert script.main() == 0
    assert out.exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a graphics card")
def test_the_benchmark_says_that_there_is_no_card():
    result = benchmark()
    assert result.returncode == 2
    assert "no CUDA device" in result.stderr
    assert not result.stdout


@on_every_device
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore:RandomFeatures. neurons=.* has small act")
def test_features_of_tensors_are_those_of_numpy(family, device):
    X = suited(family, problem(KitchenSinksRegressor(), rows=300)[0])
    model = RandomFeatures(FAMILIES[family], 60, random_state=0, sparse_output=False)
    expected = clone(model).fit(X).transform(X)
    rows = put(X, device)
    Z = model.fit(rows).transform(rows)
    assert Z.device == rows.device
    assert Z.dtype == rows.dtype
    np.testing.assert_allclose(Z.cpu(), expected, atol=1e-9)
