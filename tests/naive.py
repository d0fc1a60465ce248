"""Literal transcriptions of the algorithms, as short as they can be and as slow as they are.

``psi(x, w)`` stands for the activations of one row by one neuron, an array of ``width`` numbers.
"""

import numpy as np


def ridge(Z, Y, weight, ridge):
    """Minimise Σ w (y − b − zβ)² / Σ w + ridge |β|² by an augmented least squares problem."""
    n, k = Z.shape
    root = np.sqrt(weight / weight.sum())[:, None]
    A = np.vstack([root * np.hstack([Z, np.ones((n, 1))]), np.sqrt(ridge) * np.eye(k, k + 1)])
    b = np.vstack([root * Y, np.zeros((k, Y.shape[1]))])
    solution = np.linalg.lstsq(A, b, rcond=None)[0]
    return solution[:-1], solution[-1]


def gcv(Z, Y, ridge_):
    """Generalised cross-validation from the hat matrix itself."""
    n = len(Z)
    Zc = Z - Z.mean(0)
    hat = Zc @ np.linalg.solve(Zc.T @ Zc + n * ridge_ * np.eye(Z.shape[1]), Zc.T) + 1 / n
    residual = Y - hat @ Y
    return (residual**2).sum() / n / (1 - np.trace(hat) / n) ** 2


def doubly_stochastic(batches, blocks, psi, slope, gammas, alpha):
    """Train of Dai et al. 2014: coefficients of every neuron after the last step."""
    coef, neurons = [], []
    for (X, Y), block, gamma in zip(batches, blocks, gammas, strict=True):
        f = [sum((psi(x, w) @ c for w, c in zip(neurons, coef, strict=True)), 0 * Y[0]) for x in X]
        g = [slope(f_x, y) for f_x, y in zip(f, Y, strict=True)]
        coef = [(1 - gamma * alpha) * c for c in coef]
        for w in block:
            mean = np.mean([np.outer(psi(x, w), g_x) for x, g_x in zip(X, g, strict=True)], axis=0)
            coef.append(-gamma * mean / len(block))
            neurons.append(w)
    return np.array(coef)


def index_estimate(x, support, alpha, draws, psi):
    """Algorithm 2 of Livni et al. 2017, with its draws (u uniform for the index, w) given."""
    norm = sum(abs(a) for a in alpha)
    total = 0.0
    for u, w in draws:
        i = next(i for i in range(len(alpha)) if sum(map(abs, alpha[: i + 1])) > u * norm)
        total += np.sign(alpha[i]) * psi(support[i], w) @ psi(x, w)
    return norm / len(draws) * total


def full_estimate(x, support, alpha, draws, psi):
    """Mean of f(w) ψ(x; w) over the same draws of w."""
    f = [sum(a * psi(s, w) for a, s in zip(alpha, support, strict=True)) for _, w in draws]
    return np.mean([f_w @ psi(x, w) for f_w, (_, w) in zip(f, draws, strict=True)])


def shrinking_gradient(X, y, draws, psi, eta, norm_bound, estimate):
    """Algorithm 1 of Livni et al. 2017, sign corrected: α after each round, and the estimates."""
    alpha, history, estimates = [], [], []
    for t in range(len(X)):
        history.append(np.array(alpha))
        E = estimate(X[t], X[:t], alpha, draws[t], psi) if any(alpha) else 0.0
        if abs(E) < 16 * norm_bound:
            alpha = [*alpha, eta(t + 1) * (y[t] - E)]
        else:
            alpha = [a / 4 for a in alpha] + [0.0]
        estimates.append(E)
    return np.array(alpha), history, np.array(estimates)


def kernel_gradient(K, y, eta):
    """Online gradient descent with the exact kernel: coefficients and online predictions."""
    alpha, predictions = np.zeros(len(y)), np.zeros(len(y))
    for t in range(len(y)):
        predictions[t] = K[t, :t] @ alpha[:t]
        alpha[t] = eta(t + 1) * (y[t] - predictions[t])
    return alpha, predictions
