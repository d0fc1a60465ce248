"""Training copies: learning replaces the state of a learner at the end, or not at all.

``training_copy`` makes a new learner with the same parameters, which learns. Its state replaces
that of the old learner if it succeeds, and otherwise the old learner stays unchanged. For later
batches the copy starts from the state of the old learner, so that threads that predict meanwhile
use a complete state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from trickless.arrays.interrupts import InterruptSafe
from trickless.arrays.states import TrainingLock
from trickless.learners.base import Learner
from trickless.learners.fixed import to_start_over

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
    return _Anew(learner, is_model, kept, goes_on)


class _Anew(InterruptSafe[L]):
    """A new learner whose state replaces that of another at the end."""

    def __init__(
        self,
        learner: L,
        is_model: Callable[[L], bool],
        kept: tuple[type[Exception], ...],
        goes_on: bool,
    ) -> None:
        self._learner, self._is_model = learner, is_model
        self._kept, self._goes_on = kept, goes_on
        self._turn = TrainingLock(learner)

    def begin(self) -> L:
        """Wait for the turn, and make the new learner."""
        if self._goes_on and getattr(self._learner, "compacted_", False):
            raise ValueError(
                f"{type(self._learner).__name__}: compact() has left out what learning needs. "
                "Remedy: use the model from before compact(), or "
                f"{to_start_over(self._learner)}."
            )
        self._turn.begin()
        self._new = object.__new__(type(self._learner))
        self._new.__dict__ = {
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
