"""What a fit tells scikit-learn's callbacks, and the progress bars of ``verbose``.

A fit is a task. Each of its phases is a subtask, and each hundredth of a phase is a subtask of the
phase. A callback cannot end a fit early. scikit-learn has callbacks from 1.9 on.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from typing import Any

from tqdm.auto import tqdm

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import ProgressBar, with_callbacks
    from sklearn.utils._optional_dependencies import check_rich_support
except ImportError:  # before scikit-learn 1.9
    ProgressBar = with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing, as this version of scikit-learn has no callbacks."""


#: A phase has at most this many subtasks.
_STEPS = 100
#: The name of the attribute that holds what a running fit tells its callbacks.
_WATCH = "_callback_watch"


class Watch:
    """What the callbacks of a running fit receive.

    ``learner`` is the user's object, which the callbacks know. ``X`` and ``y`` are the rows that
    scores are computed on. ``is_ready`` tells whether a new learner can predict.
    """

    def __init__(self, learner: Any, context: Any, X: Any, y: Any) -> None:
        self.learner, self.context = learner, context
        self.X, self.y = X, y
        self.is_ready: Callable[[Any], bool] = lambda new: False

    def tell(self, context: Any, new: Any) -> None:
        """Tell the callbacks that a task is done, with the model so far, if there is one."""
        fitted = (lambda: deepcopy(_fitted(new))) if self.is_ready(new) else None
        context.call_on_fit_task_end(
            estimator=self.learner, X=self.X, y=self.y, reconstruction_attributes=fitted
        )


class Phase:
    """A phase of a fit: a bar of tqdm, if ``verbose`` asks for one, and a task of the callbacks."""

    def __init__(self, learner: Any, total: int, unit: str, name: str) -> None:
        owner = type(learner).__name__
        title = f"{owner}, {name}" if name else owner
        shown = learner.verbose and not _shows_bars(learner)
        self._bar = tqdm(total=total, unit=unit, desc=title, disable=not shown)
        self._learner, self._total, self._unit = learner, max(1, total), unit
        self._watch: Watch | None = vars(learner).get(_WATCH)
        self._done, self._told = 0, 0
        if self._watch is not None:
            self._context = self._watch.context.subcontext(
                task_name=name or "learning", max_subtasks=min(self._total, _STEPS)
            )
            self._context.call_on_fit_task_begin(estimator=self._watch.learner)

    def __enter__(self) -> Phase:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()
        if self._watch is not None and error[0] is None:
            self._watch.tell(self._context, self._learner)

    def complete(self) -> None:
        """Fill the bar, as a phase may end before all units are done."""
        self._bar.update(self._total - self._bar.n)

    def update(self, n: int = 1) -> None:
        """Count n units as done."""
        self._bar.update(n)
        self._done = min(self._done + n, self._total)
        if self._watch is None:
            return
        while self._told < self._done * min(self._total, _STEPS) // self._total:
            step = self._context.subcontext(task_name=self._unit)
            step.call_on_fit_task_begin(estimator=self._watch.learner)
            self._watch.tell(step, self._learner)
            self._told += 1


def watched(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method ``fit`` that tells the callbacks of its learner when it begins and ends."""
    if with_callbacks is None:
        return fit

    @with_callbacks
    def tell(learner: Any, *arguments: Any, **options: Any) -> Any:
        X, y, *_ = *arguments, options.get("X"), options.get("y"), None
        context = learner._init_callback_context(max_subtasks=None)
        watch = Watch(learner, context, X, y)
        vars(learner)[_WATCH] = watch
        try:
            context.call_on_fit_task_begin(estimator=learner, X=X, y=y)
            fitted = fit(learner, *arguments, **options)
            watch.X, watch.y, watch.is_ready = X, y, lambda new: True
            watch.tell(context, learner)
            return fitted
        finally:
            vars(learner).pop(_WATCH, None)

    @wraps(fit)
    def fit_and_tell(self: Any, *arguments: Any, **options: Any) -> Any:
        heard = hasattr(self, "_skl_callbacks") or hasattr(self, "_parent_callback_ctx")
        bars = getattr(self, "verbose", False) and _has_rich() and not heard
        if _WATCH in vars(self) or not (heard or bars):
            return fit(self, *arguments, **options)
        if not bars:
            return tell(self, *arguments, **options)
        self.set_callbacks(ProgressBar())
        try:
            return tell(self, *arguments, **options)
        finally:
            self.set_callbacks()

    return fit_and_tell


def watch_rows(learner: Any, X: Any, y: Any) -> None:
    """Let callbacks compute their scores on these rows, such as those that are held out."""
    watch = vars(learner).get(_WATCH)
    if watch is not None:
        watch.X, watch.y = X, y


def is_watched(learner: Any) -> bool:
    """Return whether callbacks follow this fit."""
    return vars(learner).get(_WATCH) is not None


def _fitted(learner: Any) -> dict[str, Any]:
    """Return the attributes that ``fit`` sets."""
    return {
        name: value
        for name, value in list(vars(learner).items())
        if name.endswith("_") and not name.startswith("__")
    }


def _shows_bars(learner: Any) -> bool:
    """Return whether a callback shows the progress of the learner."""
    callbacks = getattr(learner, "_skl_callbacks", [])
    return ProgressBar is not None and any(isinstance(each, ProgressBar) for each in callbacks)


def _has_rich() -> bool:
    """Return whether scikit-learn's bars can be shown."""
    if ProgressBar is None:
        return False
    try:
        check_rich_support("ProgressBar")
    except ImportError:
        return False
    return True
