"""Kitchen Sinks beside Falkon and EigenPro on SUSY, with the settings that were published for them.

The settings are those of Falkon's own benchmarks (FalkonML/falkon, benchmark/benchmark_susy.sh):
Falkon with a Gaussian kernel of sigma 3, 30,000 centres, penalty 1e-6 and 20 iterations in single
precision; EigenPro with sigma 4, 2 epochs, 600,000 of the rows and 850 eigenvectors. Kitchen Sinks
has the sigma of Falkon, 16,384 columns and alpha by cross-validation. SUSY is 5,000,000 rows of 18
inputs; the last 500,000 are for testing, and columns are standardised by the others.

The data and the two libraries have to be there: a file named by ``--susy``, and the packages
``falkon`` and ``eigenpro`` as their authors install them. What is not there is left out, and the
result says so. ``--small`` takes random rows in the place of SUSY. Only the part of Kitchen Sinks
is tested: there was no machine at hand that could run the other two.
"""

from __future__ import annotations

import time
from importlib import import_module

import numpy as np
import torch

from trickless import KitchenSinksClassifier
from trickless.neurons import Gaussian

N_TEST, N_INPUTS = 500_000, 18
COLUMNS, SIGMA = 16_384, 3.0
CENTRES, PENALTY, ITERATIONS = 30_000, 1e-6, 20
EIGENPRO_SIGMA, EIGENPRO_ROWS, EIGENPRO_EPOCHS, EIGENVECTORS = 4.0, 600_000, 2, 850


def susy(path, device):
    """Rows and labels of 0 and 1 to learn from, and to test on."""
    table = np.loadtxt(path, delimiter=",", dtype=np.float32)
    y, X = table[:, 0].astype(int), table[:, 1:]
    X = (X - X[:-N_TEST].mean(axis=0)) / X[:-N_TEST].std(axis=0)
    return split(torch.tensor(X, device=device), torch.tensor(y, device=device), N_TEST)


def made_up(device):
    """A few random rows of the same width."""
    X = torch.randn((600, N_INPUTS), generator=torch.Generator().manual_seed(0)).to(device)
    return split(X, (X[:, 0] * X[:, 1] > 0).long(), 100)


def split(X, y, n_test):
    return X[:-n_test], y[:-n_test], X[-n_test:], y[-n_test:]


def kitchen_sinks(X, y, X_test, small):
    n_neurons = 50 if small else COLUMNS // 2
    model = KitchenSinksClassifier(Gaussian(SIGMA), n_neurons, random_state=0).fit(X, y)
    return lambda: model.predict(X_test)


def falkon(X, y, X_test, small):
    library = import_module("falkon")
    model = library.Falkon(
        kernel=library.kernels.GaussianKernel(sigma=SIGMA),
        penalty=PENALTY,
        M=100 if small else CENTRES,
        maxiter=ITERATIONS,
        seed=0,
    )
    model.fit(X, (2 * y - 1).to(X.dtype)[:, None])
    return lambda: (model.predict(X_test)[:, 0] > 0).long()


def eigenpro(X, y, X_test, small):
    library, kernels = import_module("eigenpro"), import_module("eigenpro.kernels")
    X, y = X[:EIGENPRO_ROWS], y[:EIGENPRO_ROWS]
    targets = torch.nn.functional.one_hot(y, 2).to(X.dtype)
    model = library.EigenProRegressor(
        lambda a, b: kernels.gaussian(a, b, bandwidth=EIGENPRO_SIGMA), X, 2, device=X.device
    )
    memory = torch.cuda.get_device_properties(X.device).total_memory // 2**30 if X.is_cuda else 4
    model.fit(
        X,
        targets,
        epochs=EIGENPRO_EPOCHS,
        mem_gb=memory,
        top_q=None if small else EIGENVECTORS,
        run_epoch_eval=False,
    )
    parts = torch.split(X_test, 4096)
    return lambda: torch.cat([model.forward(part) for part in parts]).argmax(dim=1)


METHODS = {"Kitchen Sinks": kitchen_sinks, "Falkon": falkon, "EigenPro": eigenpro}


def compare(device, small, path, finish):
    """Seconds of fit and predict, and test error, of each method; or why there are none."""
    if path is None and not small:
        return "SUSY was not at hand: no file was named by --susy"
    X, y, X_test, y_test = made_up(device) if small else susy(path, device)
    results = {"rows": len(X), "data": "random rows" if small else "SUSY"}
    for name, method in METHODS.items():
        try:
            begin = time.perf_counter()
            predict = method(X, y, X_test, small)
            finish()
            fitted = time.perf_counter()
            wrong = (predict() != y_test).double().mean().item()
            finish()
        except ImportError as error:
            results[name] = f"not installed: {error}"
            continue
        except Exception as error:  # theirs, which is to cost nobody else's figures
            results[name] = f"failed: {error!r}"
            continue
        results[name] = {
            "fit": fitted - begin,
            "predict": time.perf_counter() - fitted,
            "error": wrong,
        }
    return results
