"""Kernel methods that the slides and papers compare with, as short as the papers print them.

Classes are the integers 0, 1, ...; each is learned against the rest, or one output learns two.
Targets of numbers have their mean subtracted. Nothing else has an offset.

- J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", 2004: NORMA.
- S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos", 2011.
- S. Shalev-Shwartz and T. Zhang, "Stochastic dual coordinate ascent methods", 2013: SDCA-Perm.
"""

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels


class KernelMethod:
    """A function Σ αᵢ k(xᵢ, ·) with k(x, x) = 1, of targets or of classes."""

    def __init__(self, kernel, kernel_params, alpha=1e-3, max_iter=20, tol=1e-3, random_state=0):
        self.kernel = lambda X, Y: pairwise_kernels(X, Y, metric=kernel, **kernel_params)
        self.alpha, self.max_iter, self.tol = alpha, max_iter, tol
        self.rng, self.mean, self.n_iter_ = np.random.default_rng(random_state), 0.0, 0

    def _targets(self, y, classes=None):
        """Targets in columns: numbers, or ±1 for classes."""
        self.classifies = np.issubdtype(y.dtype, np.integer)
        if not self.classifies:
            return y.reshape(len(y), -1)
        classes = np.unique(y) if classes is None else classes
        signs = np.where(y[:, None] == classes, 1.0, -1.0)
        return signs if len(classes) > 2 else signs[:, 1:]

    def fit(self, X, y):
        y = self._targets(y)
        self.mean = 0.0 if self.classifies else y.mean(axis=0)
        coef = self._coefficients(self.kernel(X, X).astype(np.float32), y - self.mean)
        kept = coef.any(axis=1)
        self.support, self.dual_coef_ = X[kept], coef[kept]
        return self

    def predict(self, X):
        f = self.kernel(X, self.support) @ self.dual_coef_ + self.mean
        if not self.classifies:
            return f
        return f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)


class Pegasos(KernelMethod):
    """Support vector machines by subgradients of single rows (Figure 3), without projection."""

    def _coefficients(self, K, y):
        n, counts = len(y), np.zeros(y.shape)
        self.n_iter_ = self.max_iter
        for t, i in enumerate(self.rng.integers(n, size=n * self.max_iter)):
            f = K[i] @ (counts * y) / (self.alpha * max(t, 1))
            counts[i] += y[i] * f < 1
        return counts * y / (self.alpha * n * self.max_iter)


class SDCA(KernelMethod):
    """The hinge loss of classes, or half the squared loss of numbers, until the gap is small."""

    def _coefficients(self, K, y):
        n, a = len(y), np.zeros(y.shape)
        r = 1 / (self.alpha * n)
        self.n_iter_ = 0
        while self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            for i in self.rng.permutation(n):
                f = r * (K[i] @ a)
                if self.classifies:
                    a[i] = y[i] * np.clip(a[i] * y[i] + (1 - f * y[i]) / r, 0, 1)
                else:
                    a[i] += (y[i] - f - a[i]) / (1 + r)
            f = r * (K @ a)
            loss = np.maximum(1 - y * f, 0) if self.classifies else (f - y) ** 2 / 2
            gap = loss + a * f + (-a * y if self.classifies else a**2 / 2 - a * y)
            if (gap.mean(axis=0) <= self.tol * (loss + a * f / 2).mean(axis=0)).all():
                break
        return r * a


class NORMA(KernelMethod):
    """Online gradient descent of the logistic loss of classes, or of half the squared loss."""

    def __init__(self, *arguments, average=False, **options):
        super().__init__(*arguments, **options)
        self.average, self.n_rounds = average, 0

    def partial_fit(self, X, y, classes=None):
        y = self._targets(y, classes)
        if not self.n_rounds:
            self.mean = 0.0 if self.classifies else y.mean(axis=0)
            self.support, self.coef, self.total = X[:0], y[:0], y[:0]
        y, n = y - self.mean, len(self.support)
        self.support = np.vstack([self.support, X])
        self.coef, self.total = (np.vstack([c, np.zeros_like(y)]) for c in (self.coef, self.total))
        K = self.kernel(X, self.support)
        first = 1 / ((0.25 if self.classifies else 1.0) + self.alpha)
        for t in range(len(y)):
            self.total += self.coef
            f = K[t] @ self.coef
            slope = -y[t] / (1 + np.exp(y[t] * f)) if self.classifies else f - y[t]
            eta = first / (1 + first * self.alpha * self.n_rounds)
            self.coef *= 1 - eta * self.alpha  # Sec. III: α_i ← (1 − η_t λ) α_i
            self.coef[n + t] = -eta * slope  # α_t = −η_t l′(f_t(x_t), y_t)
            self.n_rounds += 1
        self.dual_coef_ = self.total / self.n_rounds if self.average else self.coef
        return self

    def fit(self, X, y):
        self.n_rounds = 0
        order = self.rng.permutation(len(X))
        for part in np.array_split(order, -(-len(X) // 250)):
            self.partial_fit(X[part], y[part], np.unique(y) if y.dtype.kind == "i" else None)
        return self
