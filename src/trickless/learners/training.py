"""Training copies of a learner, and the batches that they receive.

``training_copy`` makes a new learner with the same parameters, which receives the first batch
(``begin``) and learns. Its state replaces that of the old learner if it succeeds, and otherwise the
old learner stays unchanged. Later batches are received by ``receive``, again in a copy. It starts
from the state of the old learner, so that threads that predict meanwhile use a complete state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np

from trickless.arrays.places import to_host
from trickless.arrays.states import training_lock
from trickless.errors import InvalidValueError, OutOfMemoryError
from trickless.functions.stream import as_seed
from trickless.intake.labels import check_some_weight
from trickless.intake.rows import Batch, Rows, that_count
from trickless.intake.targets import Numbers
from trickless.learners.alike import alike
from trickless.learners.base import Learner
from trickless.rules import check_parameters

L = TypeVar("L", bound=Learner)


@contextmanager
def training_copy(
    learner: L,
    is_model: Callable[[L], bool],
    kept: tuple[type[Exception], ...] = (),
    goes_on: bool = False,
) -> Iterator[L]:
    """Make a copy with the same parameters, whose state replaces that of ``learner`` at the end.

    If an error occurs before the end, ``learner`` stays unchanged. After Ctrl-C or an error that is
    ``kept``, ``learner`` gets the new state if ``is_model(copy)`` tells that it can already
    predict. With ``goes_on``, the copy starts from the state of ``learner``, if it has any. It must
    not change that in place, since other threads may be using it. Other threads that train wait.
    """
    owner = type(learner).__name__
    if goes_on and getattr(learner, "compacted_", False):
        raise InvalidValueError(
            f"{owner}: compact() has left out what learning needs",
            f"use the model from before compact(), or {_to_begin_anew(learner)}",
        )
    with training_lock(learner):
        copy = object.__new__(type(learner))
        copy.__dict__ = {
            name: value
            for name, value in list(vars(learner).items())
            if goes_on or not _is_fitted(name)
        }
        if (watch := vars(copy).get("_watch")) is not None:
            watch.is_ready = is_model
        try:
            yield copy
        except MemoryError as error:
            raise OutOfMemoryError(
                f"{owner}: memory is too small: {error}", learner._smaller
            ) from error
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, *kept)) and is_model(copy):
                learner.__dict__ = copy.__dict__
            raise
        learner.__dict__ = copy.__dict__


def _is_fitted(name: str) -> bool:
    """Whether ``fit`` sets the attribute of this name."""
    return name.endswith("_") and not name.startswith("__")


def begin(
    learner: Learner,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    *,
    seed: int | None = None,
    stream: bool = False,
) -> Batch:
    """Receive the first batch of a new learner, and set its rows, targets, parameters and seed.

    By default, the seed comes from ``random_state``. In a stream, more batches may follow.
    """
    check_parameters(learner, learner._rules)
    owner = type(learner).__name__
    learner.fixed_ = {name: deepcopy(getattr(learner, name)) for name in learner._fixed}
    learner.rows_ = Rows(owner, learner.dtype, learner._kind_of_rows(), learner._numeric)
    X, y, weight = learner.rows_.first(learner, X, y, sample_weight)
    learner.targets_ = learner._new_targets(y, to_host(classes))
    batch = _with_targets(learner, X, y, weight, stream)
    check_some_weight(owner, getattr(learner, "class_weight", None), len(y), len(batch[1]))
    learner.seed_ = as_seed(learner.random_state) if seed is None else seed
    return batch


def receive(
    learner: Learner,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    stream: bool = True,
) -> Batch:
    """Receive a later batch; in a stream, all its weights may be 0."""
    check_fixed(learner)
    X, y, weight = learner.rows_.later(learner, X, y, sample_weight, stream)
    if not isinstance(learner.targets_, Numbers):
        learner.targets_.check_classes(to_host(classes))
    if not len(y):
        return X, np.empty((0, learner.targets_.n_outputs)), weight
    return _with_targets(learner, X, y, weight, stream)


def _with_targets(
    learner: Learner, X: Any, y: np.ndarray, weight: np.ndarray | None, stream: bool
) -> Batch:
    if isinstance(learner.targets_, Numbers):
        targets = learner.targets_.matrix(y)
        learner.targets_ = learner.targets_.after(targets)
    else:
        targets = learner.targets_.matrix(y, stream)
        class_weight = getattr(learner, "class_weight", None)
        weight = learner.targets_.weights(y, weight, class_weight, stream)
    return that_count(X, targets, weight)


def check_fixed(learner: Learner) -> None:
    """Check that the parameters in ``fixed_`` have not changed since the first batch."""
    for name, then in learner.fixed_.items():
        now, remedy = getattr(learner, name), _to_begin_anew(learner)
        check_unchanged(type(learner).__name__, name, now, then, remedy)


def _to_begin_anew(learner: Any) -> str:
    """How to let a fitted learner begin anew, in words."""
    warm = "set warm_start=False and " if getattr(learner, "warm_start", False) else ""
    return f"{warm}call fit to begin anew"


def check_unchanged(
    owner: str, name: str, now: Any, then: Any, remedy: str = "call fit to begin anew"
) -> None:
    """Check that a parameter has its value of the first batch."""
    if not alike(now, then):
        raise ValueError(
            f"{owner}: {name}={now!r}, but the model was begun with {name}={then!r}, which its "
            "coefficients depend on",
            f"set {name} back, or {remedy}",
        )
