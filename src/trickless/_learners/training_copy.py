"""Training copies: learning replaces the state of a learner at the end, or not at all.

``training_copy`` makes a new learner with the same parameters, which learns. Its state replaces
that of the old learner if it succeeds, and otherwise the old learner stays unchanged. For later
batches the copy starts from the state of the old learner, so that threads that predict meanwhile
use a complete state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from trickless._arrays.states import training_lock
from trickless._errors import InvalidValueError, OutOfMemoryError
from trickless._learners.fixed_parameters import to_start_over
from trickless._learners.refusals import check_together
from trickless._rules import check_parameters

L = TypeVar("L", bound=Any)


@contextmanager
def training_copy(
    learner: L,
    is_model: Callable[[L], bool],
    kept: tuple[type[Exception], ...] = (),
    resumes: bool = False,
) -> Iterator[L]:
    """Make a copy with the same parameters, whose state replaces that of ``learner`` at the end.

    The parameters are checked first. If an error occurs before the end, ``learner`` stays
    unchanged. After Ctrl-C or an error that is ``kept``, ``learner`` gets the new state if
    ``is_model(copy)`` tells that it can already predict. If it ``resumes``, the copy starts from
    the state of ``learner``, if that has any. It must not change that in place, since other threads
    may be using it. Other threads that train wait.
    """
    owner = type(learner).__name__
    check_parameters(learner, learner._rules)
    check_together(learner)
    if resumes and getattr(learner, "compacted_", False):
        raise InvalidValueError(
            f"{owner}: compact() has left out what learning needs",
            f"use the model from before compact(), or {to_start_over(learner)}",
        )
    with training_lock(learner):
        copy = object.__new__(type(learner))
        copy.__dict__ = {
            name: value
            for name, value in list(vars(learner).items())
            if resumes or not _is_fitted(name)
        }
        if (watch := vars(copy).get("_callback_watch")) is not None:
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
    return name.endswith("_") and not name.startswith("__")
