"""Pegasos with a kernel: stochastic subgradient descent for support vector machines.

S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos: primal estimated sub-gradient
solver for SVM", Mathematical Programming 127, 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.threads import linear_algebra
from trickless.docstrings import completed_by, documented
from trickless.functions.exact_kernel import KernelRows
from trickless.functions.stream import Purpose, generator
from trickless.learners.arguments import LABELS, LEARNING
from trickless.learners.base import store
from trickless.learners.classifier import Classifier
from trickless.learners.kernel_learner import ALPHA, KernelLearner, is_solved
from trickless.learners.training import training_copy
from trickless.rules import CLASS_WEIGHT, check_parameters, count, integer
from trickless.solvers.exact.pegasos import count_violations


@documented
class PegasosClassifier(Classifier, KernelLearner):
    r"""Kernel support vector machine, by Pegasos.

    Minimises :math:`\mathrm{mean}\big(\max(0, 1 - y f(x))\big) + \frac{\alpha}{2} \|f\|^2`,
    for each class against the rest. Step t draws k = ``batch_size`` rows. It descends the
    subgradient of the objective on them by :math:`1 / (\alpha t)`, which gives

    .. math:: f_{t+1} = \frac{1}{\alpha\, t\, k} \sum_j c_j\, y_j\, k(x_j, \cdot)

    where :math:`c_j` counts how often row j was drawn while :math:`y_j f(x_j) < 1`. After T steps,
    the objective exceeds its minimum by the order of :math:`\log(T) / (\alpha T)`. The projection
    onto a ball, which is optional in the paper, is left out. There is no offset.

    A step needs a row of kernel values for each row that it draws. See ``cache_bytes``.

    Parameters
    ----------
    alpha : float, default=1e-3
        Regularisation strength, relative to the mean loss. The parameter C of other support vector
        machines is 1 / (n_rows × alpha).
    max_iter : int, default=20
        The number of passes. In all, ``max_iter`` times the number of rows are drawn.
    batch_size : int, default=1
        The number of rows drawn in each step, with replacement.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the rows that are drawn. The same integer gives the same model.
    cache_bytes : int, default=2**28
        Memory in bytes for kernel values. The default holds the whole kernel matrix of up to 5,792
        rows. Of larger data it holds the first rows that are used. The other values are computed
        again when needed, with the same result up to rounding. In addition, a few copies of the
        kernel rows of a batch are held. If that is less than a block of up to 256 rows in 16 MiB,
        copies of such a block are held instead.

    Attributes
    ----------
    n_iter_ : int
        Number of passes.
    n_steps_ : int
        Number of steps taken.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos: primal estimated
       sub-gradient solver for SVM", Mathematical Programming 127, 2011, Figures 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless.baselines import PegasosClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PegasosClassifier(kernel_params={"gamma": 1e-3}, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9)
    True
    """

    loss = "hinge"

    _parts = (*KernelLearner._parts, "support_vectors_", "intercept_", "dual_coef_")
    _rules = KernelLearner._rules | {
        "alpha": ALPHA,
        "max_iter": integer(1, "max_iter=20 draws 20 times as many rows as there are"),
        "batch_size": count("batch_size=1 draws one row a step"),
        "class_weight": CLASS_WEIGHT,
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of kernel values"),
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1e-3,
        max_iter: int = 20,
        batch_size: int = 1,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    @completed_by(LABELS, LEARNING)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosClassifier:
        """Take steps on rows drawn at random.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows. Rows are drawn in proportion to their weights.
        """
        check_parameters(self, self._rules)
        with training_copy(self, is_solved) as new, linear_algebra(self.n_jobs):
            X, targets, weight = new._receive_first(X, y, sample_weight)
            new.kernel_.diagonal(X)  # raises an error for what cannot be a kernel
            n_steps = -(-self.max_iter * X.shape[0] // self.batch_size)
            kernel_rows = KernelRows(new.kernel_, X, self.cache_bytes)
            rng = generator(new.seed_, Purpose.SHUFFLE)
            with new._progress(n_steps, "step") as bar:
                counts = count_violations(
                    kernel_rows,
                    targets,
                    weight,
                    self.alpha,
                    n_steps,
                    self.batch_size,
                    rng,
                    bar.update,
                )
            kept, factor = counts.any(axis=1), self.alpha * n_steps * self.batch_size
            new.n_iter_, new.n_steps_ = self.max_iter, n_steps
            new.intercept_ = np.zeros(targets.shape[1])
            new.support_vectors_ = X[kept]
            new.dual_coef_ = counts[kept] * targets[kept] / factor
        return self
