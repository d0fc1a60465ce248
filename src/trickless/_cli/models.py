"""Files of models that the commands read."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError

from trickless import load
from trickless._cli.exit_codes import report, summary
from trickless._cli.words import in_shell
from trickless._errors import InvalidValueError, remedy_in
from trickless._learners.base import Learner
from trickless._rows.values import CATEGORIES, DATES, NUMBERS

#: What the columns of a model hold, in the words of ``--types``.
_KINDS = {NUMBERS: "number", CATEGORIES: "category", DATES: "date"}


def learner_in(path: Path) -> Any:
    """Return a learner that predicts, and that was fitted to a table with names."""
    model = load(path)
    needed = "predict", "feature_names_in_"
    if not isinstance(model, Learner) or not all(hasattr(model, name) for name in needed):
        raise InvalidValueError(
            f"{path}: it holds a {type(model).__name__}, but predictions need a learner that was "
            "fitted to a table whose columns have names",
            "make it with trickless fit, or fit it to a data frame",
        )
    return model


def check_outputs(model: Any, path: Path, **wanted: bool) -> None:
    """Refuse options of outputs that a model lacks, and name those that it has.

    ``wanted`` are all that the command has, and whether they are given.
    """
    wanted = {f"--{name}": is_given for name, is_given in wanted.items()}
    method = inspect.signature(model.predict).parameters if hasattr(model, "predict") else {}
    has = {
        "--probabilities": hasattr(model, "predict_proba"),
        "--std": "return_std" in method,
        "--interval": hasattr(type(model), "predict_interval")
        or hasattr(type(model), "predict_set"),
    }
    instead = [
        option + " 0.9" * (option == "--interval")
        for option in has
        if option in wanted and has[option]
    ]
    for option, there in has.items():
        if wanted.get(option) and not there:
            remedy = ", or ".join([*instead, "leave the option out"])
            if option == "--std" and not hasattr(model, "classes_"):
                remedy += "; or fit again with --learner kitchen-sinks"
            raise InvalidValueError(
                f"{option}: the learner in {path} is {type(model).__name__}, which has none", remedy
            )


def columns_of(model: Any) -> dict[str, str]:
    """Return the columns of a learner, and what each holds: a kind of ``--types``, or another."""
    known = model._rows_.columns
    names: list[str] = model.feature_names_in_.tolist()
    kinds = [NUMBERS] * len(names) if known is None else known.kinds
    return {name: _KINDS.get(kind, kind) for name, kind in zip(names, kinds, strict=True)}


def kinds_to_read(model: Any) -> dict[str, str]:
    """Return the columns of a learner that are read as it knows them, whatever a file holds."""
    known = _KINDS.values()
    return {name: kind for name, kind in columns_of(model).items() if kind in known}


@contextmanager
def used(path: Path) -> Iterator[None]:
    """Turn an error without a remedy into one that names the file of the model in use."""
    try:
        with in_shell():
            yield
    except NotFittedError as error:
        raise InvalidValueError(
            f"{path}: the model in this file is not fitted", "fit it, and save it again"
        ) from error
    except Exception as error:
        if remedy_in(error) or isinstance(error, OSError | MemoryError):
            raise
        raise InvalidValueError(
            f"{path}: the model in this file cannot be used ({summary(error)})",
            f"{report(error)}. If you do not know who made the file, do not trust it",
        ) from error
