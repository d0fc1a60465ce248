"""
One row after the other
=======================

Rows arrive one by one, and each is predicted before it is learned. Half way, the target becomes
another function. Shrinking Gradient adapts by itself, from 256 drawn neurons a row. A learner with
the exact kernel adapts sooner, and a linear model never comes close.
"""

# %%
# Learn row by row
# ----------------
#
# ``partial_fit`` learns one row here. ``online_error_`` keeps the squared error of each row from
# before it was learned. ``average=False`` predicts with the latest function. The average over all
# rounds would keep the old target for longer.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDRegressor

from trickless import ShrinkingGradientRegressor
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
rng = np.random.default_rng(0)
ROWS = 2000

X = rng.uniform(-2, 2, (ROWS, 2))
before = np.sin(2 * X[:, 0]) * np.cos(X[:, 1])
after = np.cos(2 * X[:, 1]) * np.sin(X[:, 0] + 1)
target = 0.8 * np.where(np.arange(ROWS) < ROWS // 2, before, after)
y = np.clip(target + 0.1 * rng.standard_normal(ROWS), -1, 1)

neurons = Gaussian(length_scale=0.7)
gamma = {"gamma": 1 / (2 * 0.7**2)}  # the same kernel
shrinking = ShrinkingGradientRegressor(
    neurons, n_draws=256, average=False, y_range=(-1, 1), random_state=0
)
exact = KernelGradientRegressor(
    "rbf", kernel_params=gamma, average=False, y_range=(-1, 1), random_state=0
)
linear = SGDRegressor(learning_rate="constant", eta0=0.05, random_state=0)
linear.partial_fit(np.zeros((1, 2)), [0.0])  # starts from 0, as the others do

linear_errors = np.zeros(ROWS)
for t in range(ROWS):
    row, its_target = X[t : t + 1], y[t : t + 1]
    shrinking.partial_fit(row, its_target)
    exact.partial_fit(row, its_target)
    linear_errors[t] = (linear.predict(row)[0] - y[t]) ** 2
    linear.partial_fit(row, its_target)

errors = {
    "SGDRegressor, linear": linear_errors,
    "Kernel Gradient, exact kernel": exact.online_error_[:, 1],
    "Shrinking Gradient, 256 neurons a row": shrinking.online_error_[:, 1],
}

# %%
# The error as rows arrive
# ------------------------
#
# Lines are means of the squared errors of 100 rows. Bands are two standard errors of these means.

fig, ax = plt.subplots(figsize=(7, 4))
rows = np.arange(100, ROWS + 1, 100)
for (name, error), color in zip(errors.items(), ("0.5", "C1", "C0"), strict=True):
    of_window = error.reshape(-1, 100)
    mean = of_window.mean(axis=1)
    spread = 2 * of_window.std(axis=1, ddof=1) / 10
    ax.fill_between(rows - 50, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)
    ax.plot(rows - 50, mean, color=color, label=name)
    print(f"{name:<38} {mean[9]:.3f} before, {mean[10]:.3f} at and {mean[19]:.3f} after the change")
ax.axvline(ROWS // 2, color="k", linestyle="--", linewidth=1)
ax.annotate(" the target changes", (ROWS // 2, 0.29))
ax.axhline(0.01, color="k", linestyle=":", linewidth=1)
ax.set(xlabel="rows so far", ylabel="squared error before learning", xlim=(0, ROWS), ylim=(0, 0.31))
ax.legend(loc="upper left")
plt.show()

# %%
# The dotted line is the variance of the noise, which no learner can beat for long. The price of
# random neurons is a somewhat larger error, and a slower return after the change. Their gain is
# that the kernel need not have a formula.
#
# What to try next
# ----------------
#
# - :doc:`/guides/streams` shows batches, saved models and changes of the data.
# - ``max_support`` keeps time and memory constant in a long stream. See
#   :class:`trickless.ShrinkingGradientRegressor`.
# - :ref:`sphx_glr_gallery_stream.py` learns a stream with error bars, and resumes from a file.
