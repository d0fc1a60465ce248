"""Standard deviations of a Kitchen Sinks regressor in a program, from the posterior of its sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from trickless.arrays.places import to_host
from trickless.errors import InvalidValueError
from trickless.export.program import Program, code
from trickless.functions.activations import by_neuron_in_blocks
from trickless.learners.gaussian_process import process_of

#: The most columns of activations. Files grow with their square.
_MOST_COLUMNS = 2048

_ACTIVATE = """
$neurons
return 0;
"""
# f has the variance σ² |L⁻¹ (z − z̄)|² / n, with LLᵀ = S + ρI. The rows of L⁻¹ lie in a sequence.
_DEVIATE = """
double v[$width];
double z[$columns];
double square[$ridges];
if (read(x, v)) return 1;
activate(v, z);
for (int c = 0; c < $columns; c++) z[c] -= z_mean[c];
for (int r = 0; r < $ridges; r++) {
  int at = r * $triangle;
  square[r] = 0.0;
  for (int c = 0; c < $columns; c++) {
    double along = 0.0;
    for (int k = 0; k <= c; k++) along += inverse_factor[at + k] * z[k];
    at += c + 1;
    square[r] += along * along;
  }
}
for (int o = 0; o < $outputs; o++) {
  s[o] = sqrt(noise_of_new[o] + noise[o] * ($constants.0 + square[ridge_of[o]]) / $n);
}
return 0;
"""


def add_deviations(program: Program, model: Any, neurons: str, width: int) -> None:
    """Add the function ``deviate``, the standard deviations of new targets."""
    network = model.network_
    n_columns = network.n_neurons * network.neurons.width
    if n_columns > _MOST_COLUMNS:
        raise InvalidValueError(
            f"error_bars=True, but {n_columns:,} columns of activations would need "
            f"{n_columns * (n_columns + 1) // 2:,} numbers, and at most {_MOST_COLUMNS:,} columns "
            "are written",
            "fewer neurons, or error_bars=False",
        )
    with process_of(model, "error_bars=True") as process:
        ridges, ridge_of = np.unique(process.solution.ridge, return_inverse=True)
        factors = [to_host(posterior.factor) for posterior, _ in process.posteriors()]
        moments, noise, of_new = process.moments, process.noise, process.noise_of_new
    below = np.tril_indices(n_columns)
    inverses = [solve_triangular(L, np.eye(n_columns), lower=True)[below] for L in factors]
    position = by_neuron_in_blocks(np.arange(n_columns), network.neurons.width)
    program.keep(
        position=position,
        z_mean=moments.z_mean,
        inverse_factor=np.concatenate(inverses),
        noise=noise,
        noise_of_new=of_new,
        ridge_of=ridge_of,
    )
    numbers = {"width": width, "columns": n_columns, "ridges": len(ridges), "outputs": len(noise)}
    triangle = n_columns * (n_columns + 1) // 2
    exact = {"constants": int(moments.n_constants), "n": repr(float(moments.n))}
    program.add("activate", ("v", "z"), code(_ACTIVATE, neurons=neurons))
    program.add("deviate", ("x", "s"), code(_DEVIATE, triangle=triangle, **numbers, **exact))
