"""
Intervals that hold nine of ten targets
=======================================

An interval of 90 % should hold nine of ten new targets, whatever the noise is. Here are three ways
to get intervals: from rows that are left out, from quantiles, and in a stream that changes.
"""

# %%
# Errors that are not normal
# --------------------------
#
# The noise grows from left to right, and has heavy tails. ``predict_interval`` of Kitchen Sinks
# leaves out the rows one by one. Its intervals have nearly one width, so they hold more targets on
# the left than on the right, but nine of ten on average.

import matplotlib.pyplot as plt
import numpy as np

from trickless import BoostedTreesRegressor, KitchenSinksRegressor
from trickless.conformal import AdaptiveInterval
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
rng = np.random.default_rng(0)


def observe(n):
    x = np.sort(rng.uniform(0, 6, n))
    return x[:, None], np.sin(x) + 0.1 * x * rng.standard_t(3, n)


X, y = observe(1000)
X_test, y_test = observe(4000)
model = KitchenSinksRegressor(Gaussian(length_scale=1.0), n_neurons=100, random_state=0).fit(X, y)
left_out = model.predict_interval(X_test, confidence=0.9)

# %%
# Quantiles
# ---------
#
# A model of the quantiles of 5 and 95 % knows where the noise is large. Trees learn both in one
# fit, and ``predict_interval`` moves them by errors at the rows that were held out for early
# stopping.

quantiles = BoostedTreesRegressor(loss="quantile", quantile=[0.05, 0.95], random_state=0).fit(X, y)
widened = quantiles.predict_interval(X_test, confidence=0.9)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True)
for ax, ends, title in zip(axes, (left_out, widened), ("rows left out", "quantiles"), strict=True):
    inside = (ends[:, 0] <= y_test) & (y_test <= ends[:, 1])
    ax.plot(X[:, 0], y, ".", ms=3, color="0.5", label="rows")
    ax.fill_between(X_test[:, 0], *ends.T, alpha=0.3, linewidth=0, label="90 % interval")
    ax.set(title=f"{title}: {inside.mean():.0%} inside", xlabel="x", ylim=(-4, 4))
    left, right = inside[X_test[:, 0] < 2].mean(), inside[X_test[:, 0] > 4].mean()
    print(f"{title}: {left:.0%} inside on the left, {right:.0%} on the right")
axes[0].set_ylabel("y")
axes[0].legend(loc="lower left")
plt.show()

# %%
# A stream that changes
# ---------------------
#
# The noise of a stream triples after 2,000 rows. ``AdaptiveInterval`` predicts each batch before it
# learns it, and raises its level while too many targets are outside. Just after the change no error
# seen so far is large enough. The intervals are then infinite, and the lower curve has a hole.

online = KitchenSinksRegressor(Gaussian(length_scale=1.0), n_neurons=50, random_state=0)
stream = AdaptiveInterval(online, confidence=0.9, window_size=500)
shares, widths = [], []
for i in range(200):
    x = rng.uniform(0, 6, (20, 1))
    y = np.sin(x[:, 0]) + (0.3 if i >= 100 else 0.1) * rng.standard_normal(20)
    if i > 5:
        low, high = stream.predict_interval(x).T
        shares.append(np.mean((low <= y) & (y <= high)))
        widths.append(np.mean(high - low))
    stream.partial_fit(x, y)

figure, (above, below) = plt.subplots(2, 1, figsize=(7, 4.5), sharex=True)
rows = 20 * np.arange(6, 200)
above.plot(rows, np.convolve(np.pad(shares, 10, "edge"), np.ones(21) / 21, "valid"))
above.axhline(0.9, color="k", lw=0.8, ls=":")
above.set(ylabel="share inside", ylim=(0.5, 1))
below.plot(rows, widths)
below.set(ylabel="mean width", xlabel="rows so far")
plt.show()

# %%
# What to try next
# ----------------
#
# - What each of these promises, and what it does not: :doc:`/guides/error-bars`.
# - Rows of your own, for any model of any library: :class:`trickless.conformal.SplitConformal`.
# - Classes instead of numbers: ``predict_set`` of the classifiers.
# - Standard deviations of a stream: :ref:`sphx_glr_gallery_stream.py`.
