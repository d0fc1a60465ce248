"""Literal transcriptions of the algorithms, as short as they can be and as slow as they are.

``psi(x, w)`` stands for the activations of one row by one neuron, an array of ``width`` numbers.
"""

from itertools import permutations, product

import numpy as np


def ridge(Z, Y, weight, ridge):
    """Minimise Σ w (y − b − zβ)² / Σ w + ridge |β|² by an augmented least squares problem."""
    n, k = Z.shape
    root = np.sqrt(weight / weight.sum())[:, None]
    A = np.vstack([root * np.hstack([Z, np.ones((n, 1))]), np.sqrt(ridge) * np.eye(k, k + 1)])
    b = np.vstack([root * Y, np.zeros((k, Y.shape[1]))])
    solution = np.linalg.lstsq(A, b, rcond=None)[0]
    return solution[:-1], solution[-1]


def left_out_errors(Z, y, weight, ridge_):
    """Errors of ridge regression without each row; the penalty stays relative to all rows."""
    share, errors = weight / weight.sum(), np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        grown = ridge_ / share[rest].sum()
        coef, intercept = ridge(Z[rest], y[rest, None], share[rest], grown)
        errors[i] = y[i] - Z[i] @ coef[:, 0] - intercept[0]
    return errors


def chosen(losses, weight):
    """Number of the last ridge within half a standard error of the least mean: (n_rows, n_grid)."""
    share = weight / weight.sum()
    above = losses - losses[:, [np.argmin(share @ losses)]]
    error = np.sqrt(((share[:, None] * above) ** 2).sum(axis=0))
    return np.flatnonzero(share @ above <= 0.5 * error).max()


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


def newton_on_trees(leaves, Y, newton, weight, start, gamma, damping, width):
    """Newton steps on the leaves of trees: their coefficients, (n_trees, width, n_outputs).

    ``leaves`` has the leaf of each row in each tree, and ``newton(f, y)`` the slopes and curvatures
    of a row.
    """
    f, coef, w = [np.array(start) for _ in Y], [], weight / np.mean(weight)
    for of_rows in leaves.T:
        G, H = np.zeros((2, width, Y.shape[1]))
        for i, leaf in enumerate(of_rows):
            g, h = newton(f[i], Y[i])
            G[leaf] += w[i] * g
            H[leaf] += w[i] * h
        coef.append(gamma * G / (H + damping * H.mean(axis=0)))
        f = [f_i + coef[-1][leaf] for f_i, leaf in zip(f, of_rows, strict=True)]
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


def shrinking_gradient_by_need(X, y, draws, psi, B, estimate):
    """The same with Theorem 1's step, and as many draws as each round needs: α, and the draws."""
    eta, alpha, m = B / (2 * np.sqrt(len(X))), [], []
    gamma = max(((16 * B + 1) * eta * len(X) + B) ** 2 / eta**2, np.e)
    for t in range(len(X)):
        need = sum(map(abs, alpha)) ** 2 * max(1.0, np.log(2 * gamma) / (32 * B**2))
        m.append(max(1, int(np.ceil(need))))
        E = estimate(X[t], X[:t], alpha, draws(t, m[t]), psi) if any(alpha) else 0.0
        small = abs(E) < 16 * B
        alpha = [*alpha, eta * (y[t] - E)] if small else [a / 4 for a in alpha] + [0.0]
    return np.array(alpha), m


def kernel_gradient(K, y, eta):
    """Online gradient descent with the exact kernel: coefficients and online predictions."""
    alpha, predictions = np.zeros(len(y)), np.zeros(len(y))
    for t in range(len(y)):
        predictions[t] = K[t, :t] @ alpha[:t]
        alpha[t] = eta(t + 1) * (y[t] - predictions[t])
    return alpha, predictions


def variances(psi, points, neurons, rows, chosen):
    """Variances of single neurons, from three samples of support points.

    ``psi(x, w)`` are a neuron's numbers, ``points`` pairs of a support point and ‖α‖₁ α_i / |α_i|,
    and ``chosen`` the numbers of those that were drawn: two samples that stand for the support, and
    one of neighbouring strata.
    """
    n, sums = len(neurons), [[] for _ in chosen[:2]]
    for sample, drawn in zip(sums, chosen[:2], strict=True):
        for w in neurons:
            f = sum(np.outer(a, psi(x, w)) for x, a in map(points, drawn)) / len(drawn)
            sample.append([f @ psi(x, w) for x in rows])
    deviations = [np.array(sample) - np.mean(sample, axis=0) for sample in sums]
    products = [
        np.mean([a @ b for a, b in zip(one, other, strict=True)])
        for one, other in zip(*deviations, strict=True)
    ]
    points_noise = 0.0
    for drawn, beside in zip(chosen, deviations[::-1], strict=False):
        by_point = [
            sum(
                np.mean([a @ d * (psi(x, w) @ psi(r, w)) for r, d in zip(rows, other, strict=True)])
                for w, other in zip(neurons, beside, strict=True)
            )
            / (n - 1)
            for x, a in map(points, drawn)
        ]
        next_to = np.diff(by_point) / 2**0.5
        points_noise += np.mean(next_to**2) / len(drawn)
    said = np.array(
        [
            [[a * (psi(x, w) @ psi(r, w)) for r in rows] for x, a in map(points, chosen[2])]
            for w in neurons
        ]
    )  # by neuron, point, row and output
    next_to = (said[:, 1:] - said[:, :-1]) / 2**0.5
    between = next_to.mean(axis=0) ** 2 - next_to.var(axis=0, ddof=1) / n
    within = [((one - said.mean(axis=0)) ** 2).sum(axis=-1).mean() for one in said]
    full, within = np.array(products) * n / (n - 1), np.array(within) * n / (n - 1)
    noise = np.cov(full, within) / n
    return (
        max(0.0, np.mean(full)),
        np.mean(within),
        max(0.0, between.sum(axis=-1).mean()),
        noise[0, 0] + points_noise,
        noise[1, 1],
        noise[0, 1],
    )


def mmd(K, first):
    """MMD² of the rows that are ``first`` and the others: means over pairs of different rows."""
    m, n = first.sum(), (~first).sum()
    K = K - np.diag(np.diag(K))
    within = K[np.ix_(first, first)].sum() / (m * (m - 1))
    within += K[np.ix_(~first, ~first)].sum() / (n * (n - 1))
    return within - 2 * K[np.ix_(first, ~first)].mean()


def hsic(K, L):
    """HSIC as a U-statistic (Song et al. 2012, equation 4)."""
    n = len(K)
    K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
    whole = np.trace(K @ L) + K.sum() * L.sum() / ((n - 1) * (n - 2))
    return (whole - 2 / (n - 2) * (K @ L).sum()) / (n * (n - 3))


def hsic_by_quadruples(K, L):
    """The mean over all quadruples of different rows."""
    return np.mean(
        [
            K[i, j] * L[i, j] + K[i, j] * L[k, m] - 2 * K[i, j] * L[i, k]
            for i, j, k, m in permutations(range(len(K)), 4)
        ]
    )


def jackknife_plus(Z, y, weight, ridge, z, level):
    """Interval of Barber et al. 2021 at activations z, by as many fits as there are rows."""
    n, without, errors = len(Z), [], []
    for i in range(n):
        rest = np.arange(n) != i
        grown = ridge * weight.sum() / weight[rest].sum()  # the penalty stays that of all rows
        coef, intercept = globals()["ridge"](Z[rest], y[rest, None], weight[rest], grown)
        without.append((z @ coef + intercept)[0])
        errors.append(abs(y[i] - (Z[i] @ coef + intercept)[0]))
    errors, k = np.array(errors), int(np.ceil(level * (n + 1)))
    low = np.sort(np.subtract(without, errors))[n - k]  # the ⌊(1 − level)(n + 1)⌋-th smallest
    return low, np.sort(np.add(without, errors))[k - 1]


def belongs(Z, y, ridge, z, candidate, level):
    """Whether a target belongs to the full conformal set, by fits without each of all rows."""
    Z, y, n, errors = np.vstack([Z, z]), np.append(y, candidate), len(Z), []
    for i in range(n + 1):
        rest = np.arange(n + 1) != i  # the penalty stays that of the n rows
        coef, intercept = globals()["ridge"](Z[rest], y[rest, None], np.ones(n), ridge)
        errors.append(abs(y[i] - (Z[i] @ coef + intercept)[0]))
    return (np.array(errors) >= errors[-1]).sum() / (n + 1) > 1 - level


def first_change(Z, reference, plan, order):
    """The first window of a stream that differs from a reference, by means of all its groups."""
    for t, (which, (n, every, level)) in product(range(1, len(Z) + 1), enumerate(plan)):
        if t >= n and t % every == 0:
            pooled, found = np.vstack([Z[t - n : t], reference]), []
            for i in range(int(np.ceil(2 / (level * (len(pooled) // n))))):
                rows = pooled[order(t, which, i)]
                for start in range(0, len(rows) - n + 1, n):
                    group = np.arange(start, start + n)
                    difference = rows[group].mean(0) - np.delete(rows, group, 0).mean(0)
                    found.append(difference @ difference)
            p = np.mean(np.array(found) >= found[0] * (1 - 1e-9))
            if p <= level:
                return t, n, found[0], p
    return None
