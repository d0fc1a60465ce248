"""A fitted model as a program, from which files in C and JavaScript are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from trickless import neurons
from trickless.arrays.states import snapshot
from trickless.conformal.levels import confidence_rule
from trickless.conformal.split import SplitConformal
from trickless.errors import InvalidValueError, RemedyError
from trickless.export.answers import add_answers, add_decision
from trickless.export.deviations import add_deviations
from trickless.export.fourier import dense, fourier
from trickless.export.intervals import add_intervals
from trickless.export.program import Program
from trickless.export.rows import read_frame, read_numbers
from trickless.export.trees import trees
from trickless.learners.described import Described, described
from trickless.learners.gaussian_process import GaussianProcess
from trickless.rules import NONE, check_value, either

#: Returns the code of a family's neurons, which adds to ``f`` or fills ``z``.
_Neurons = Callable[[Program, Described, int, str], str]
#: Families that have a description. One that derives from them may respond in its own way.
_FAMILIES: dict[type, _Neurons] = {
    neurons.Gaussian: fourier,
    neurons.Laplace: fourier,
    neurons.Matern: fourier,
    neurons.RationalQuadratic: fourier,
    neurons.Laplace1: fourier,
    neurons.Cauchy: fourier,
    neurons.Periodic: fourier,
    neurons.Dense: dense,
    neurons.Trees: trees,
}
#: The most columns, which functions keep on their stack.
_WIDEST = 2**16


def describe(
    owner: str, model: Any, error_bars: bool = False, interval: float | None = None
) -> Program:
    """Describe a fitted model as a program. ``owner`` begins error messages."""
    check_value(owner, "interval", interval, either(confidence_rule("interval"), NONE))
    conformal = model if isinstance(model, SplitConformal) else None
    model = model if conformal is None else conformal.model
    learner, scaler = _parts(owner, model)
    learner = snapshot(learner)  # which another thread may train meanwhile
    found = described(owner, learner)
    name = type(found.family).__name__
    write = _FAMILIES.get(type(found.family))
    if write is None:
        raise InvalidValueError(
            f"{owner}: neurons={name} cannot be written",
            f"one of {', '.join(family.__name__ for family in _FAMILIES)}; or trickless.save",
        )
    program = Program(
        f"{found.name} of {len(found.coef):,} neurons ({name})",
        [],
        found.dtype == np.float32,
        found.n_outputs,
        found.labels,
        found.has_sets,
        found.is_vector,
    )
    try:
        if learner.rows_.encoder is not None:
            width = read_frame(program, learner)
        else:
            width = read_numbers(program, learner, scaler)
        if width > _WIDEST:
            raise InvalidValueError(
                f"rows of {width:,} columns do not fit on the stack of a function",
                f"at most {_WIDEST:,} columns",
            )
        code = write(program, found, width, "decide") if len(found.coef) else ""
        add_decision(program, found, code, width)
        add_answers(program, found)
        if interval is not None:
            add_intervals(program, found, conformal or learner, interval)
        if error_bars:
            if not isinstance(learner, GaussianProcess):
                raise InvalidValueError(
                    f"error_bars=True, but a {found.name} has no standard deviations",
                    "KitchenSinksRegressor, or error_bars=False",
                )
            add_deviations(program, learner, write(program, found, width, "activate"), width)
    except RemedyError as error:
        if error.cause.startswith(owner):
            raise
        raise type(error)(f"{owner}: {error.cause}", error.remedy) from error
    return program


def _parts(owner: str, model: Any) -> tuple[Any, Any]:
    """Return the learner of a model, and what standardises its rows, or None."""
    if not isinstance(model, Pipeline):
        return model, None
    check_is_fitted(model)
    steps = [step for _, step in model.steps if step not in (None, "passthrough")]
    if len(steps) == 1 or [type(step) for step in steps[:-1]] == [StandardScaler]:
        return steps[-1], None if len(steps) == 1 else steps[0]
    others = ", ".join(type(step).__name__ for step in steps[:-1])
    raise InvalidValueError(
        f"{owner}: the pipeline has the steps {others} before its learner, but only one "
        "StandardScaler can be written",
        f"apply these steps to the rows, and {owner}(pipeline[-1], ...)",
    )
