"""A kernel measured on a quantum computer, learned shot by shot.

A circuit prepares a state |φ(x)⟩ whose phases encode an input x, and the kernel is the overlap
k(x, x') = |⟨φ(x)|φ(x')⟩|². A quantum computer shows it only as a chance: run the circuit of x',
then that of x backwards, and measure. The share of runs ("shots") in which every qubit comes out 0
is an unbiased estimate of k(x, x'), which is all that ``NoisyKernelRegressor`` and
``NoisyKernelClassifier`` ask for. Here NumPy simulates the circuit, the feature map of Havlíček et
al. 2019: twice Hadamards, rotations by x_i and phases of all pairs of qubits. The phase of a pair
is x_i x_j here, not (π − x_i)(π − x_j), and the inputs are small; otherwise nearly all pairs of
inputs would have a kernel close to 0.

There are two tasks: a function that lies in the kernel's space, seen with noise, and whether a
handwritten digit is odd (five principal components of scikit-learn's digits). The methods are

- "online": the noisy learner with its default parameters; in the row "exact", the same learner with
  the exact kernel.
- "ridge": kernel ridge regression on a measured matrix. It gets exactly the shots that "online"
  spent, those of learning and of predicting counted apart, spread evenly over the pairs; a pair
  that no shot is left for gets the mean frequency. Each pair of training rows is measured once,
  which makes the matrix symmetric, and its diagonal is known to be 1. Cross-validation on the
  measured matrix chooses ``alpha``, at no further shots.

No parameter was chosen by its error on test rows. The learner sees each row once, while ridge
regression solves for all rows together and picks its regularisation. It shows: ridge is clearly
ahead with 1 or 4 shots an estimate and with the exact kernel, and level or a little ahead in
between. What the learner has for it is a stream that need not end, and no matrix to hold.

V. Havlíček et al., "Supervised learning with quantum-enhanced feature spaces", Nature 567, 2019.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import root_mean_squared_error, zero_one_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import trickless

QUBITS, ROWS, TEST_ROWS = 5, 400, 400
SHOTS, SEEDS = (1, 4, 16, 64), range(5)
GRID = {"alpha": np.logspace(-2, 3, 11).tolist()}
METHODS = ("online", "ridge")

BITS = np.arange(2**QUBITS)[:, None] >> np.arange(QUBITS) & 1
SIGNS = 1 - 2 * BITS  # what Z_i makes of each basis state
HADAMARDS = (-1.0) ** (BITS @ BITS.T) / 2 ** (QUBITS / 2)  # one on every qubit


def states(X):
    """Amplitudes of |φ(x)⟩ = U(x) H U(x) H |0⟩ for each row, shape (len(X), 2**QUBITS)."""
    single = X @ SIGNS.T  # Σ_i x_i Z_i
    pairs = (single**2 - (X**2).sum(axis=1, keepdims=True)) / 2  # Σ_{i<j} x_i x_j Z_i Z_j
    U = np.exp(1j * (single + pairs))
    return U * ((U * HADAMARDS[0]) @ HADAMARDS)


def overlaps(X, Y):
    """The exact kernel, which only a simulation knows."""
    return np.clip(np.abs(states(X).conj() @ states(Y).T) ** 2, 0, 1)


def density(X):
    """The matrices |φ(x)⟩⟨φ(x)| as real rows; their inner products are the exact kernel."""
    amplitudes = states(X)
    matrices = amplitudes[:, :, None] * amplitudes[:, None, :].conj()
    return matrices.reshape(len(X), -1).view(float)


class Device:
    """Measures the kernel with some shots for every estimate, and counts them."""

    def __init__(self, shots):
        self.shots, self.spent = shots, 0

    def __call__(self, X, Y, rng):
        """Frequencies of all zeros, for every pair of rows."""
        self.spent += self.shots * len(X) * len(Y)
        return rng.binomial(self.shots, overlaps(X, Y)) / self.shots


def measure(kernel, total, rng):
    """Frequencies for an array of kernel values from a total number of shots, spread evenly."""
    shots = np.full(kernel.size, total // kernel.size)
    shots[rng.permutation(kernel.size)[: total % kernel.size]] += 1
    zeros = rng.binomial(shots, kernel.ravel())
    mean = np.full(kernel.size, zeros.sum() / total)
    return np.divide(zeros, shots, where=shots > 0, out=mean).reshape(kernel.shape)


def ridge(K, K_test, y):
    """Predictions of kernel ridge regression."""
    model = GridSearchCV(KernelRidge(kernel="precomputed"), GRID)
    with warnings.catch_warnings():  # a measured matrix has negative eigenvalues
        warnings.filterwarnings("ignore", message="Singular matrix")
        return model.fit(K, y - y.mean()).predict(K_test) + y.mean()


def function(seed):
    """A sum of twenty kernel functions, of deviation 1; targets to learn from have noise of 0.3."""
    rng = np.random.default_rng(seed)
    X, centres = (rng.uniform(0, np.pi / 4, (n, QUBITS)) for n in (ROWS + TEST_ROWS, 20))
    y = overlaps(X, centres) @ rng.choice([-1.0, 1.0], 20)
    y = (y - y.mean()) / y.std()
    return X[:ROWS], y[:ROWS] + 0.3 * rng.standard_normal(ROWS), X[ROWS:], y[ROWS:]


def odd_digits(seed):
    """Whether a digit is odd, as ±1, from principal components scaled to [0, π/2]."""
    X, digit = load_digits(return_X_y=True)
    y = np.where(digit % 2, 1.0, -1.0)
    sizes = {"train_size": ROWS, "test_size": TEST_ROWS}
    X, X_test, y, y_test = train_test_split(X, y, **sizes, stratify=digit, random_state=seed)
    encode = make_pipeline(PCA(QUBITS), MinMaxScaler((0, np.pi / 2), clip=True))
    return encode.fit_transform(X), y, encode.transform(X_test), y_test


def misclassified(y, prediction):
    """Share of wrong signs."""
    return zero_one_loss(y, np.sign(prediction))


REGRESSORS = trickless.KernelGradientRegressor, trickless.NoisyKernelRegressor
CLASSIFIERS = trickless.KernelGradientClassifier, trickless.NoisyKernelClassifier
TASKS = {
    "root mean squared error of a function": (function, root_mean_squared_error, *REGRESSORS),
    "share of odd and even digits mistaken": (odd_digits, misclassified, *CLASSIFIERS),
}


def compare(task, seed):
    """Errors of all methods on one split, for the exact kernel and for each number of shots."""
    load, error, exact, noisy = TASKS[task]
    X, y, X_test, y_test = load(seed)
    K, K_test = overlaps(X, X), overlaps(X_test, X)
    model = exact("linear", kernel_bound=1.0, random_state=seed).fit(density(X), y)
    run = {"seed": seed, "shots": None, "ridge": error(y_test, ridge(K, K_test, y))}
    runs = [run | {"online": error(y_test, model.predict(density(X_test)))}]
    for shots in SHOTS:
        device = Device(shots)
        model = noisy(device, random_state=seed).fit(X, y)
        learn = device.spent
        run = {"seed": seed, "shots": shots, "online": error(y_test, model.predict(X_test))}
        run["shots of online"] = learn, device.spent - learn
        rng, above = np.random.default_rng([seed, shots]), np.triu_indices(ROWS, 1)
        measured = np.zeros((ROWS, ROWS))
        measured[above] = measure(K[above], learn, rng)
        measured = measured + measured.T + np.eye(ROWS)
        prediction = ridge(measured, measure(K_test, device.spent - learn, rng), y)
        runs.append(run | {"ridge": error(y_test, prediction)})
    return runs


def table(runs):
    """Means and standard errors over the seeds."""
    print(f"{'shots':>5}{'learning':>13}{'predicting':>13}", *(f"{m:>16}" for m in METHODS))
    for shots in (*SHOTS, None):
        some = [run for run in runs if run["shots"] == shots]
        spent = np.mean([run.get("shots of online", (0, 0)) for run in some], axis=0)
        cells = [f"{shots or 'exact':>5}" + "".join(f"{n:>13,.0f}" for n in spent)]
        for method in METHODS:
            errors = [run.get(method, np.nan) for run in some]
            spread = np.std(errors, ddof=1) / np.sqrt(len(errors))
            cells.append(f"{np.mean(errors):>8.3f} ± {spread:.3f}" if method in some[0] else "")
        print(*(f"{cell:>16}" for cell in cells))


def main():
    """Print a table for each task, and write all numbers to a file if one is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="file for the settings and all numbers")
    path = parser.parse_args().json
    settings = {"qubits": QUBITS, "rows": ROWS, "test_rows": TEST_ROWS, **GRID}
    result = {"settings": settings, "tasks": {}}
    for task in TASKS:
        runs = [run for seed in SEEDS for run in compare(task, seed)]
        result["tasks"][task] = runs
        print(f"\n{task.capitalize()}, mean of {len(SEEDS)} seeds ± standard error:")
        table(runs)
    if path:
        path.write_text(json.dumps(result, indent=1) + "\n")
        print(f"\nwrote {path}")


if __name__ == "__main__":
    main()
