"""Stochastic dual coordinate ascent with a kernel.

S. Shalev-Shwartz and T. Zhang, "Stochastic dual coordinate ascent methods for regularized loss
minimization", Journal of Machine Learning Research 14, 2013. The algorithm is in
``solvers/exact/sdca``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.threads import linear_algebra
from trickless.docstrings import completed_by, documented
from trickless.learners.arguments import LEARNING
from trickless.learners.base import store
from trickless.learners.classifier import Classifier
from trickless.learners.kernel_learner import ALPHA, KernelLearner, is_solved
from trickless.learners.regressor import Regressor
from trickless.learners.training import training_copy
from trickless.rules import AUTO, CLASS_WEIGHT, check_parameters, either, integer, positive
from trickless.solvers.exact.alpha import automatic_alpha
from trickless.solvers.exact.sdca import DualAscent
from trickless.solvers.losses import DualLoss
from trickless.solvers.named_losses import OF_LABELS, OF_NUMBERS


class _SDCA(KernelLearner):
    """Dual coordinate ascent; all outputs share the kernel.

    Parameters
    ----------
    max_iter : int, default=200
        The most epochs. If the gap is still too large after them, there is a ConvergenceWarning.
    tol : float, default=1e-3
        Tolerance of the duality gap, relative to the objective. An output whose gap is below it is
        finished.
    cache_bytes : int, default=2**28
        Memory in bytes for kernel values. The default holds the whole kernel matrix of up to 5,792
        rows. Of larger data it holds the first rows that are used. The other values are computed
        again when needed, with the same result up to rounding. In addition, a few copies of a block
        of up to 256 rows in 16 MiB are held, or of one row if that is larger.
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. The parameter C of other support vector
        machines is 1 / (n_rows × alpha). "auto" is 1e-3, except for the regression loss
        "epsilon_insensitive". Its slope is ±1 in any unit of y, so its alpha has the unit 1 / y,
        and "auto" is 1e-3 / (mean distance of targets from the intercept).

    Attributes
    ----------
    n_iter_ : int
        Number of epochs.
    objective_ : array of shape (n_outputs,)
        The objective that was reached.
    dual_gap_ : array of shape (n_outputs,)
        The duality gap: how far the objective may be above its minimum, at most.

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` epochs.

    References
    ----------
    .. [1] S. Shalev-Shwartz and T. Zhang, "Stochastic dual coordinate ascent methods for
       regularized loss minimization", Journal of Machine Learning Research 14, 2013: procedure
       SDCA-Perm, Equations 1 and 2.
    """

    loss: str
    alpha: float | str
    max_iter: int
    tol: float
    cache_bytes: int

    _parts = (*KernelLearner._parts, "support_vectors_", "intercept_", "dual_coef_")
    _fixed = ("loss", *KernelLearner._fixed)
    _rules = KernelLearner._rules | {
        "alpha": either(ALPHA, AUTO),
        "max_iter": integer(1, "max_iter=200 allows 200 epochs"),
        "tol": positive("tol=1e-3 is a thousandth of the objective"),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of kernel values"),
    }

    @completed_by(LEARNING)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Visit all rows again and again, until the duality gap is small.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows in the mean loss.
        """
        check_parameters(self, self._rules)
        with training_copy(self, is_solved) as new, linear_algebra(self.n_jobs):
            X, targets, weight = new._receive_first(X, y, sample_weight)
            new.intercept_ = new.targets_.intercept(targets, weight)
            y = targets - new.intercept_
            loss, alpha = new._loss(1), self.alpha
            if isinstance(alpha, str):
                spread = np.average(np.abs(y), axis=0, weights=weight)
                alpha = float(np.mean(automatic_alpha(loss, spread)))
            dual = DualAscent(new.kernel_, X, y, weight, loss, alpha)
            with new._progress(self.max_iter, "epoch") as bar:
                dual.ascend(self.max_iter, self.tol, new.seed_, self.cache_bytes, bar.update)
            new.n_iter_ = dual.n_epochs
            new.objective_, new.dual_gap_ = dual.objective, dual.gap
            new.support_vectors_, new.dual_coef_ = dual.expansion()
        return self

    def _loss(self, n_outputs: int) -> DualLoss:
        loss = super()._loss(1)  # one class against the rest
        assert isinstance(loss, DualLoss)
        return loss

    def _function(self, X: Any) -> np.ndarray:
        return super()._function(X) + self.intercept_


@documented
class SDCARegressor(Regressor, _SDCA):
    r"""Kernel regression, by stochastic dual coordinate ascent.

    Minimises :math:`\mathrm{mean}\big(l(f(x), y)\big) + \frac{\alpha}{2} \|f\|^2` by
    maximising its dual. Each row has one dual variable. Together they define the function

    .. math:: f = \frac{1}{\alpha n} \sum_i a_i\, k(x_i, \cdot)

    Each epoch visits all rows in a random order. At each row it maximises the dual objective along
    the row's dual variable. The duality gap is the difference of both objectives. It bounds how far
    the objective is from its minimum. It is computed after each epoch, and decides when to stop.

    Let c be the curvature of the loss times the largest k(x, x). For a smooth loss, the gap falls
    below ε after of the order of :math:`(1 + c / (\alpha n)) \log(1/\varepsilon)` epochs. For a
    loss with kinks, it takes of the order of :math:`1 + c / (\alpha n \varepsilon)` epochs. An
    epoch uses :math:`n^2` kernel values. See ``cache_bytes``.

    The (weighted) mean of the targets is subtracted, and added back as ``intercept_``. There is no
    other offset. With the squared loss the model is kernel ridge regression.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive"}, default="squared_error"
        The loss l. "epsilon_insensitive" gives support vector regression.

    Attributes
    ----------
    intercept_ : array of shape (n_outputs,)
        Mean of the targets.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless.baselines import SDCARegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SDCARegressor(kernel_params={"gamma": 10.0}, alpha=1e-2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _rules = _SDCA._rules | OF_NUMBERS

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        loss: str = "squared_error",
        epsilon: float = 0.1,
        alpha: float | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())


@documented
class SDCAClassifier(Classifier, _SDCA):
    r"""Kernel classification, by stochastic dual coordinate ascent.

    Minimises :math:`\mathrm{mean}\big(l(f(x), y)\big) + \frac{\alpha}{2} \|f\|^2` for each class
    against the rest, by maximising its dual. Each row has one dual variable. Together they define
    the function

    .. math:: f = \frac{1}{\alpha n} \sum_i a_i\, k(x_i, \cdot)

    Each epoch visits all rows in a random order. At each row it maximises the dual objective along
    the row's dual variable. Epochs end when the duality gap is small, and :class:`SDCARegressor`
    says how many that takes. An epoch uses :math:`n^2` kernel values, which ``cache_bytes`` keeps.
    There is no offset.

    Parameters
    ----------
    loss : {"hinge", "log_loss", "squared_hinge", "squared_error"}, default="hinge"
        The loss l, where "hinge" gives the support vector machine.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless.baselines import SDCAClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SDCAClassifier(kernel_params={"gamma": 1e-3}, tol=1e-2, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95)
    True
    """

    _rules = _SDCA._rules | OF_LABELS | {"class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        loss: str = "hinge",
        alpha: float | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-3,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())
