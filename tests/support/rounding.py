"""How far two evaluations of the same sums may lie apart by rounding.

A sum of n products, in any order and with or without fused multiplications, has an error of at most
γ_n Σ|a_i b_i|, where γ_n = n u / (1 − n u) and u is half the distance from 1 to the next number
(N. Higham, "Accuracy and stability of numerical algorithms", 2002, section 3.1). Which order BLAS
takes depends on the processor and on the shapes, so two evaluations may differ by twice that.
"""

import numpy as np

from trickless._learners.gaussian_process import process_of

#: Units of rounding of an elementary function, such as a cosine of NumPy.
FUNCTION = 4
#: The relative step of differences, in double precision.
_STEP = 1e-6


def gamma(n, dtype):
    """γ_n, a bound of the relative error of sums of n products of one sign."""
    nu = n * np.finfo(dtype).eps / 2
    return nu / (1 - nu)


def of_sums(n, magnitude, dtype):
    """A bound of the difference of two sums of n terms, whose sizes sum to ``magnitude``."""
    return 2 * gamma(n, dtype) * magnitude


def _activations(network, X):
    """Activations of all neurons in double precision: (n_rows, width, n_neurons)."""
    pieces = []
    for _, weights in network.source.pieces(0, network.n_neurons):
        in_double = (w.astype(np.float64) if w.dtype.kind == "f" else w for w in weights)
        Z = network.neurons(X, tuple(in_double))
        pieces.append(Z.reshape(len(X), network.neurons.width, -1))
    return np.concatenate(pieces, axis=2)


def sizes(network, X):
    """|ψ_j(x)| + Σ_k |x_k ∂ψ_j(x)/∂x_k|, by differences: (n_rows, width, n_neurons).

    Rounding inside a neuron that depends on Σ_k a_k x_k is as if each x_k had another relative
    error of at most γ_d, so it changes ψ_j by at most γ_d times the second term.
    """
    X = np.array(X, dtype=np.float64)
    Z = _activations(network, X)
    found = np.abs(Z)
    for k in range(X.shape[1]):
        moved = X.copy()
        moved[:, k] *= 1 + _STEP
        found += np.abs(_activations(network, moved) - Z) / _STEP
    return found


def of_activations(network, X, dtype):
    """A bound of the difference of two activations at the same row: (n_rows, width, n_neurons)."""
    return of_sums(X.shape[1] + FUNCTION, sizes(network, X), dtype)


def of_network(network, X, dtype):
    """A bound of the difference of two values f = b + Σ_j c_j ψ_j at rows: (n_rows, n_outputs).

    Each term has the rounding of its activation, and that of the sum over all columns.
    """
    n, size = network.coef.shape[0] * network.neurons.width, sizes(network, X)
    magnitude = np.einsum("rkj,jko->ro", size, np.abs(network.coef.astype(np.float64)))
    magnitude += np.abs(network.intercept)
    return of_sums(n + X.shape[1] + FUNCTION, magnitude, dtype)


def of_deviations(model, X, dtype):
    """A bound of the difference of two standard deviations σ(x) of Kitchen Sinks: (n_rows, 1).

    σ² = s² (1 + (m + ‖L⁻¹ z‖²) / n), where LLᵀ is the covariance plus the ridge ρ, so
    ‖L⁻¹‖² ≤ 1 / ρ. Activations that are off by δ change ‖L⁻¹ z‖² by at most 2 ‖L⁻¹ z‖ ‖δ‖ / √ρ,
    and σ by at most s ‖δ‖ / √(n ρ). Solving in double precision is as if L had a relative error of
    γ_p, of p columns, which is as if z had it times the condition of L.
    """
    network = model.network_
    with process_of(model, "the bound") as process:
        ridge, noise, moments = process.solution.ridge, process.noise, process.moments
        p, n = len(moments.z_mean), moments.n
    delta = np.linalg.norm(of_activations(network, X, dtype).reshape(len(X), p), axis=1)
    length = np.linalg.norm(sizes(network, X).reshape(len(X), p), axis=1)
    top = (length**2).max()  # no eigenvalue of the covariance is above it
    delta += of_sums(p, length * np.sqrt((top + ridge.min()) / ridge.min()), "f8")
    return delta[:, None] * np.sqrt(noise / (n * ridge))
