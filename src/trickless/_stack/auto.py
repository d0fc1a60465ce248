"""One entry for all kinds of data: a stack of the library's learners, with nothing to set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils import Tags

from trickless._arrays.likes import ArrayLike, MatrixLike, RandomStateLike
from trickless._arrays.stated import Array, Length
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by, documented
from trickless._errors import InvalidValueError
from trickless._learners.arguments import LEARNING
from trickless._learners.base import Learner, store
from trickless._learners.classifier import Classifier
from trickless._learners.held_out_rows import groups_of
from trickless._learners.no_better import warn_if_no_better
from trickless._learners.regressor import Regressor
from trickless._learners.training_copy import training_copy
from trickless._rows.kinds import Kind
from trickless._rules import CLASS_WEIGHT, N_JOBS, boolean, choice
from trickless._solvers.losses import Loss
from trickless._solvers.named_losses import make_loss
from trickless._stack.kinds import KINDS, Parts, kind_of
from trickless._stack.parts import Fitted, Learned, Part
from trickless._stack.report import Report
from trickless._stack.training import Training, some_of
from trickless._stack.weights import OF_CLASSES, OF_NUMBERS, weights_of
from trickless._targets.batches import rows_that_count
from trickless.conformal.unseen import Unseen

#: The share of the variance that quick parts explain from which others cannot matter.
_ALL_EXPLAINED = 1 - 1e-4
#: The least probability.
_LEAST = 1e-15


class Auto(Learner):
    """Parameters and ``fit`` of both estimators.

    Parameters
    ----------
    effort : {"fast", "default", "best"}, default="default"
        How much to try. "fast" leaves out boosted trees. "best" takes several times as long: it
        also has larger parts, and parts that learn which features matter.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all parts. The same integer gives the same model.
    verbose : bool, default=False
        Whether to show a progress bar over the parts.

    Attributes
    ----------
    report_ : Report
        A table of the parts: weight, loss at rows that the part had not learned from, and seconds.
        Losses of numbers are relative to that of a constant.
    parts_ : list
        The parts with a weight above 0. Each has a ``name`` and a fitted ``model``.
    weights_ : array of shape (n_parts,)
        Their weights, which sum to 1.

    References
    ----------
    .. [1] D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992.
    .. [2] L. Breiman, "Stacked regressions", Machine Learning 24, 1996.
    .. [3] M. J. van der Laan, E. C. Polley and A. E. Hubbard, "Super learner", Statistical
       Applications in Genetics and Molecular Biology 6(1), 2007.
    """

    effort: str
    loss: str
    _constants = Learner._constants | {"dtype": "float64"}

    _kind_: str
    parts_: Annotated[list[Fitted], Length("n_parts")]
    weights_: Annotated[np.ndarray, Array("f8", "n_parts", least=0, some=True)]
    report_: Report
    _unseen_: Unseen | None

    _fixed = ("loss",)
    _rules = {
        "effort": choice("fast", "default", "best", remedy="effort='default' suits most data"),
        "n_jobs": N_JOBS,
        "verbose": boolean("verbose=True shows a progress bar", or_integer=True),
    }

    @completed_by(LEARNING)
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit all parts, and find their weights by rows that they have not learned from.

        The shape of X tells what it is. Tables may be data frames with categories, text, dates and
        missing values. Sparse matrices hold text or the like. Arrays of shape (n_rows, channels,
        length), and lists of series of unequal length, are series. Arrays of four dimensions are
        images.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows. They count in the fits of the parts, and in the losses by which the
            weights of the parts are found.
        groups : array of shape (n_rows,), optional
            The group of each row, if rows of one group are alike, such as those of one patient. A
            row is then predicted by models that have seen no row of its group.
        """
        with training_copy(self, _is_fitted) as new, linear_algebra(self.n_jobs):
            new._kind_ = kind_of(X)
            batch = new._receive_first(X, y, sample_weight)
            rows = new._training(X, y, sample_weight, groups, *batch)
            parts = KINDS[new._kind_].parts(rows)
            with new._progress(len([*parts.quick, *parts.slow]), "part") as bar:
                learned, seconds = new._learn(parts, rows, bar.update)
            new._weigh(learned, seconds, rows)
        return self

    def _training(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        matrix: Any,
        targets: Any,
        weight: Any,
    ) -> Training:
        """Return the rows that count, as parts learn them."""
        kept = rows_that_count(self, y, sample_weight)
        given = self._given(X if kept.all() else some_of(X, np.flatnonzero(kept)), matrix)
        numbers = None if groups is None else groups_of(self, groups, y, sample_weight)
        if (len(targets) if numbers is None else int(numbers.max()) + 1) < 2:
            what, more = ("1 sample", "rows") if numbers is None else ("rows of 1 group", "groups")
            raise InvalidValueError(
                f"{type(self).__name__}: X has {what}, but weights of parts follow from rows that "
                "the parts have not learned from",
                f"at least two {more}",
            )
        inputs, seed = self._rows_.inputs(self, matrix.shape[1]), self._seed_ % 2**31
        known = inputs.n_categories, inputs.shape, targets, self._n_classes, weight, numbers
        return Training(given, matrix, *known, seed, self.loss, self.n_jobs)

    def _given(self, X: Any, matrix: Any) -> Any:
        """Return rows as parts read them: as given, if there is more to them than numbers."""
        columns, is_table = self._rows_.columns, self._kind_ in ("table", "sparse")
        return matrix if is_table and (columns is None or columns.are_plain) else X

    def _learn(
        self, parts: Parts, rows: Training, advance: Any
    ) -> tuple[list[Learned], list[float]]:
        """Let parts learn; slow ones only if the quick ones leave something to learn."""
        learned, seconds = list[Learned](), list[float]()

        def learn(some: list[Part]) -> None:
            for part in some:
                with _timed(seconds):
                    learned.append(part.learn(rows))
                advance()

        learn(parts.quick)
        if self.effort != "fast" and max(each.explained for each in learned) < _ALL_EXPLAINED:
            learn(parts.slow)
        if self.effort == "best":
            learn(parts.best)
        return learned, seconds

    def _weigh(self, learned: list[Learned], seconds: list[float], rows: Training) -> None:
        """Find the weights of parts, and keep those that have one."""
        only = [each.only for each in learned if each.only is not None]
        some = reduce(np.intersect1d, only) if only else rows.sample()
        values, later = list[np.ndarray](), list[float]()
        for each in learned:
            with _timed(later):
                values.append(each.unseen(some))
        loss = rows.loss_of(some)
        weights, lost = weights_of(np.stack(values), loss), np.array([*map(loss.mean, values)])
        kept, order = np.flatnonzero(weights), np.lexsort([lost, -weights])
        self.parts_, self.weights_ = [learned[i].fitted for i in kept], weights[kept]
        mixed, names = np.tensordot(weights, values, 1), [learned[i].fitted.name for i in order]
        lines = names, weights[order], lost[order], np.add(seconds, later)[order]
        self.report_ = Report(*lines, loss.mean(mixed), len(some))
        weight = None if rows.weight is None else rows.weight[some]
        self._unseen_ = Unseen.of(self._decisions(mixed), rows.targets[some], weight)
        if (constant := loss.of_constant()) > 0:
            warn_if_no_better(self, 1 - self.report_.loss / constant, rows.n_rows)

    @property
    def _n_classes(self) -> int:
        return 0

    def _kind_of_rows(self) -> Kind:
        return KINDS[self._kind_].kind()

    def _decisions(self, values: np.ndarray) -> np.ndarray:
        """Return decision values from the values of the stack."""
        return values

    def _decide(self, X: Any) -> Any:
        matrix = self._rows_to_predict(X)
        X = self._given(X, matrix)
        with warnings.catch_warnings(), linear_algebra(self.n_jobs):
            warnings.simplefilter("ignore")  # reading the matrix has given them
            values = [part.values(X, matrix, self._n_classes) for part in self.parts_]
        return self._decisions(np.tensordot(self.weights_, values, 1))

    def _unseen(self) -> Unseen | None:
        return self._unseen_

    def _forget_rows(self, error_bars: bool) -> None:
        self.parts_ = [part.compact(False) for part in self.parts_]
        if not error_bars:
            self._unseen_ = None

    def __sklearn_is_fitted__(self) -> bool:
        return _is_fitted(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        return tags


def _is_fitted(learner: Auto) -> bool:
    return hasattr(learner, "parts_")


@contextmanager
def _timed(seconds: list[float]) -> Iterator[None]:
    """Add the seconds of a block. Warnings are of one part, which others may mend."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    seconds.append(time.perf_counter() - start)


@documented
class AutoRegressor(Regressor, Auto):
    """Regression with nothing to set: a stack of the library's learners.

    Fits Kitchen Sinks with several families of neurons and boosted trees, and for wide or sparse
    rows a linear model as well. Their predictions are added with weights of at least 0 that sum to
    1 and minimise the loss of rows that the parts had not learned from [1]_ [2]_ [3]_. Such rows
    cost little: Kitchen Sinks leaves them out without a refit, and boosted trees hold them out
    anyway. The best part stands alone, unless several together are clearly better.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error"}, default="squared_error"
        The loss that weights and boosted trees minimise.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import AutoRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoRegressor(random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.4)
    True
    >>> float(model.weights_.sum())
    1.0
    """

    _rules = Auto._rules | {
        "loss": choice(*OF_NUMBERS, remedy="loss='squared_error' for the mean"),
    }

    def __init__(
        self,
        *,
        effort: str = "default",
        loss: str = "squared_error",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        store(self, locals())


@documented
class AutoClassifier(Classifier, Auto):
    """Classification with nothing to set: a stack of the library's learners.

    Fits the parts of :class:`AutoRegressor`, which explains how they are combined [1]_ [2]_ [3]_.
    Here their probabilities are added.

    Parameters
    ----------
    loss : {"log_loss", "squared_error"}, default="log_loss"
        The loss of probabilities that weights minimise. "squared_error" is the Brier score.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from trickless import AutoClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoClassifier(random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.95)
    True
    """

    _rules = Auto._rules | {
        "loss": choice(*OF_CLASSES, remedy="loss='log_loss' for probabilities"),
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        *,
        effort: str = "default",
        loss: str = "log_loss",
        class_weight: dict[Any, float] | str | None = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        store(self, locals())

    @property
    def _n_classes(self) -> int:
        return len(self.classes_)

    def _loss(self, n_outputs: int) -> Loss:
        return make_loss("log_loss", n_outputs)

    def _decisions(self, values: np.ndarray) -> np.ndarray:
        logarithms = np.log(np.maximum(values, _LEAST))
        return logarithms[:, 1:] - logarithms[:, :1] if values.shape[1] == 2 else logarithms
