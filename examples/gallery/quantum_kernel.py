"""
A quantum kernel, learned shot by shot
======================================

A quantum computer can measure a kernel, but it never shows the exact value. It shows how often a
run of the circuit, called a shot, ends with zeros.
:class:`trickless.kernels.KernelGradientClassifier` learns from such frequencies. With more shots
its error approaches that of the exact kernel.
"""

# %%
# The circuit
# -----------
#
# The circuit prepares a state :math:`|\varphi(x)\rangle` for an input x. The kernel is the overlap
# :math:`k(x, x') = |\langle \varphi(x) | \varphi(x') \rangle|^2`. It is the chance of reading only
# zeros after the circuit of x' and then the circuit of x backwards. NumPy simulates five qubits
# here, with the feature map of Havlíček et al. (Nature 567, 2019): twice Hadamard gates, then
# phases :math:`x_i` and :math:`x_i x_j`.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from trickless.kernels import KernelGradientClassifier

plt.style.use("trickless.style")
QUBITS = 5

BITS = np.arange(2**QUBITS)[:, None] >> np.arange(QUBITS) & 1
SIGNS = 1 - 2 * BITS  # what Z_i makes of each basis state
HADAMARDS = (-1.0) ** (BITS @ BITS.T) / 2 ** (QUBITS / 2)  # one on every qubit


def states(X):
    """Amplitudes of U(x) H U(x) H |0⟩ for each row."""
    single = X @ SIGNS.T  # Σ_i x_i Z_i
    pairs = (single**2 - (X**2).sum(axis=1, keepdims=True)) / 2  # Σ_{i<j} x_i x_j Z_i Z_j
    U = np.exp(1j * (single + pairs))
    return U * ((U * HADAMARDS[0]) @ HADAMARDS)


def overlaps(X, Y):
    """Compute the exact kernel, which only a simulation knows."""
    return np.clip(np.abs(states(X).conj() @ states(Y).T) ** 2, 0, 1)


def measured(shots):
    """Make a function that measures the kernel with so many shots for each pair of rows."""
    return lambda X, Y, rng: rng.binomial(shots, overlaps(X, Y)) / shots


# %%
# Learn which digits are odd
# --------------------------
#
# The inputs are five principal components of scikit-learn's digits, as angles between 0 and π/2.
# The learner sees each of 400 rows once. As a reference, it also learns with the exact kernel.


X, digit = load_digits(return_X_y=True)
all_shots = (1, 2, 4, 8, 16, 32, 64)
errors, exact = np.zeros((4, len(all_shots))), np.zeros(4)
for seed in range(4):
    train, test, y, y_test = train_test_split(
        X, digit % 2, train_size=400, test_size=400, stratify=digit, random_state=seed
    )
    encode = make_pipeline(PCA(QUBITS), MinMaxScaler((0, np.pi / 2), clip=True))
    train, test = encode.fit_transform(train), encode.transform(test)
    model = KernelGradientClassifier(lambda X, Y, rng: overlaps(X, Y), random_state=seed)
    exact[seed] = 1 - model.fit(train, y).score(test, y_test)
    for column, shots in enumerate(all_shots):
        model = KernelGradientClassifier(measured(shots), estimate_bound=1.0, random_state=seed)
        errors[seed, column] = 1 - model.fit(train, y).score(test, y_test)

# %%
# Error against shots
# -------------------
#
# The line is a mean over four splits, and the band is one standard error.

pair = overlaps(train[:1], test[:60])[0]
frequency = measured(16)(train[:1], test[:60], np.random.default_rng(0))[0]

fig, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.8))
left.plot([0, 0.5], [0, 0.5], "k--", linewidth=1, label="exact")
left.plot(pair, frequency, "o", alpha=0.7, label="measured, 16 shots")
left.set(title="The kernel", xlabel="exact value", ylabel="frequency of zeros")
left.legend(loc="upper left")
mean, spread = 100 * errors.mean(axis=0), 100 * errors.std(axis=0, ddof=1) / 2
right.fill_between(all_shots, mean - spread, mean + spread, alpha=0.2, linewidth=0)
right.plot(all_shots, mean, "o-", label="measured kernel")
right.axhline(100 * exact.mean(), color="k", linestyle="--", linewidth=1, label="exact kernel")
right.set(title="The error", xscale="log", xlabel="shots for each estimate", ylabel="test error, %")
right.set_xticks(all_shots, all_shots)
right.minorticks_off()
right.set_ylim(0, None)
right.legend()
plt.show()
for shots, error in zip(all_shots, errors.mean(axis=0), strict=True):
    print(f"shots {shots:>2}: error {error:.1%}")
print(f"exact kernel: error {exact.mean():.1%}")

# %%
# One shot for each estimate is nearly all noise, and a third of the digits are wrong. With 64 shots
# the error is within about a percentage point of the error with the exact kernel. The learner holds
# no kernel matrix, so the stream of rows need not end. If all rows are there at once, ridge
# regression on a measured matrix learns more from few shots.
#
# What to try next
# ----------------
#
# - :class:`trickless.kernels.KernelGradientClassifier` describes ``certify``, a bound on the noise
#   of a prediction.
# - Replace ``measured`` with a call to a real device, or with any unbiased estimate of a kernel.
# - :doc:`/explanation/shrinking-gradient` explains why unbiased estimates are enough.
