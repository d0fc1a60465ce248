"""Checks of what a learner is asked to do, and of how it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from trickless.arrays.namespaces import namespace

#: A mean loss this many times that of a constant is taken for divergence.
_DIVERGED = 1e3
#: What is a difference must be so many times its rounding.
_RESOLVED = 100


def check_huber(epsilon: float) -> None:
    """The Huber loss of width 0 is 0."""
    if epsilon == 0:
        raise ValueError(
            f"epsilon={epsilon!r} with loss='huber' makes the loss 0 everywhere. Remedy: a "
            "positive epsilon, or loss='epsilon_insensitive' for the absolute error."
        )


def check_more_neurons(owner: str, n_neurons: int, there_are: int) -> None:
    """A fit that goes on must have neurons left to draw."""
    if n_neurons <= there_are:
        raise ValueError(
            f"{owner}: warm_start=True with n_neurons={n_neurons!r}, but the model has "
            f"{there_are} neurons already, so there are none to add. Remedy: a larger n_neurons, "
            "or warm_start=False to begin anew."
        )


def check_search(model: Any, grid: Mapping[str, Any]) -> None:
    """Only parameters of the neurons can be searched for."""
    known = sorted(f"neurons__{name}" for name in model._families()[0].get_params())
    for name in grid:
        if name not in known:
            raise ValueError(
                f"{type(model).__name__}: search={dict(grid)!r} names {name!r}, which is not a "
                f"parameter of the neurons. Remedy: one of {', '.join(known) or 'none'}."
            )


def check_streamable(owner: str, loss: str) -> None:
    """Only the squared loss has statistics that add up."""
    if loss != "squared_error":
        raise ValueError(
            f"{owner}: loss={loss!r} needs several passes over all rows, so it cannot be learned "
            "from a stream. Remedy: loss='squared_error', fit, or DoublyStochasticClassifier."
        )


def check_alpha(owner: str, alpha: Any) -> None:
    """Leaving a row out needs the rows once more."""
    if alpha == "loo":
        raise ValueError(
            f"{owner}: alpha='loo' needs a second pass over all rows, which a stream does not "
            "give. Remedy: fit, or alpha='auto' (generalised cross-validation from the statistics)."
        )


def check_passes(owner: str, **parameters: Any) -> None:
    """What solver="iterative" does not go with."""
    for name, (value, goes) in parameters.items():
        if not goes:
            raise ValueError(
                f"{owner}: solver='iterative' does not go with {name}={value!r}. Remedy: "
                "solver='direct'."
            )


def check_no_weight_bound(owner: str, weight_bound: Any, loss: str | None = None) -> None:
    """What a bound of the weights does not go with."""
    if weight_bound is not None:
        what = "return_std=True" if loss is None else f"loss={loss!r}"
        raise ValueError(
            f"{owner}: weight_bound={weight_bound!r} does not go with {what}. Remedy: "
            "weight_bound=None."
        )


def check_validation_rows(owner: str, share: float, n_held_out: int, n_rows: int) -> None:
    """Both parts of the rows must hold some."""
    if not 2 <= n_held_out < n_rows:
        raise ValueError(
            f"{owner}: validation_fraction={share!r} of {n_rows} rows is {n_held_out}, which "
            f"leaves {n_rows - n_held_out} to learn from; early_stopping needs at least two rows "
            "held out and one to learn from. Remedy: more rows, another validation_fraction, or "
            "early_stopping=False."
        )


def check_progress(owner: str, now: float, start: float, n_steps: int, remedy: str) -> None:
    """Stop where the mean loss has grown far beyond that of predicting a constant."""
    if not np.isfinite(now) or now > _DIVERGED * start > 0:
        raise ValueError(
            f"{owner}: training diverged within {n_steps} steps: the mean loss is {now:.3g}, "
            f"where predicting a constant has about {start:.3g}. Remedy: {remedy}."
        )


def check_draws(owner: str, horizon: Any, norm_bound: Any, constants: Any, most: int) -> None:
    """Rounds of the theorem that would take hours each are refused."""
    if constants.n_samples > most:
        raise ValueError(
            f"{owner}: horizon={horizon!r} with norm_bound={norm_bound!r} asks for "
            f"{constants.n_samples:,} draws in each round, and more than {most:,} are refused. "
            "Remedy: a smaller norm_bound or horizon, or schedule='sqrt', which takes n_samples "
            "draws."
        )


def check_finite(owner: str, values: Any) -> None:
    """What a network answers must be finite."""
    xp = namespace(values)
    if not bool(xp.all(xp.isfinite(values))):
        raise ValueError(
            f"{owner}: the network's values are not finite, so its activations or its coefficients "
            "are not. Remedy: check the family's activations on these rows, and the step size."
        )


def check_resolved(owner: str, alpha: Any, resolved: bool) -> None:
    """Products in single precision are no good for a smaller ridge than they were made for."""
    if not resolved:
        raise ValueError(
            f"{owner}: alpha={alpha!r} is below the rounding of the sums of this model, which was "
            "fitted with a larger alpha, or chose it. Remedy: call fit again with this alpha, or "
            "fit with dtype='float64' from the beginning."
        )


def check_freedom(
    owner: str, alpha: Any, left: np.ndarray, moments: Any, ridge: np.ndarray
) -> None:
    """Noise is what residuals show, of which nothing may be left.

    So it is where weights let rows count for less than the degrees of freedom of the fit. Where
    rows are no more than columns, their products tell the freedom that large alphas leave only.
    """
    size = len(moments.z_mean)
    rounding = 0.0
    if moments.rows is None and size >= moments.n - 1:
        rounding = _RESOLVED * size * np.finfo(float).eps * moments.mean_square
    if ((left <= 0) | (left * ridge < rounding)).any():
        raise ValueError(
            f"{owner}: with alpha={alpha!r}, rows that count for {moments.n:,.1f} leave "
            f"{left.min():.2g} degrees of freedom, which cannot be told from none. Remedy: a "
            "larger alpha, or one fit of all rows without weights."
        )
