"""
Forecast a season and a trend
=============================

Measurements of carbon dioxide in the air rise from year to year, and swing within each year. A
Gaussian process describes both by a sum and a product of kernels, and Kitchen Sinks by a sum and a
product of families. Here both have the same kernel, for a series of that kind.
"""

# %%
# Make a series
# -------------
#
# Twenty-four years of monthly values have a trend that bends, and a season that grows and is no
# plain sine. The last six years are held out.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, WhiteKernel

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian, Periodic

plt.style.use("trickless.style")
rng = np.random.default_rng(0)

year = np.arange(24 * 12) / 12
season = np.sin(2 * np.pi * year) + 0.4 * np.cos(4 * np.pi * year)
level = 0.8 * year + 0.012 * year**2 + (2 + 0.05 * year) * season
y = level + 0.3 * rng.standard_normal(len(year))
X, seen = year[:, None], year < 18
centre = y[seen].mean()

# %%
# Fit a Gaussian process
# ----------------------
#
# The first part of the kernel is the trend. The second repeats each year, and changes over some
# decades. The process learns the amplitudes, the noise, and how fast both parts change.

trend = ConstantKernel(1000.0) * RBF(50.0)
repeats = ExpSineSquared(1.0, 1.0, length_scale_bounds="fixed", periodicity_bounds="fixed")
kernel = trend + ConstantKernel(5.0) * RBF(50.0) * repeats + WhiteKernel(0.1)
process = GaussianProcessRegressor(kernel, random_state=0).fit(X[seen], y[seen] - centre)
print(process.kernel_)

# %%
# Give Kitchen Sinks the same kernel
# ----------------------------------
#
# The logarithms of the numbers that were learned are in ``theta``. The amplitudes multiply the
# families, so ``alpha`` is the noise divided by the number of rows.

(amplitude, bends, swing, changes, noise) = np.exp(process.kernel_.theta)
neurons = amplitude * Gaussian(bends) + swing * (Gaussian(changes) * Periodic(1.0, 1.0))
model = KitchenSinksRegressor(
    neurons, 1000, alpha=noise / seen.sum(), fit_intercept=False, dtype="float64", random_state=0
)
model.fit(X[seen], y[seen] - centre)

fig, ax = plt.subplots(figsize=(8, 4))
ax.plot(year, y, ".", color="C1", markersize=5, label="months")
mean, std = model.predict(X, return_std=True)
ax.fill_between(year, centre + mean - 2 * std, centre + mean + 2 * std, color="C0", alpha=0.25)
ax.plot(year, centre + mean, color="C0", label="Kitchen Sinks")
exact, exact_std = process.predict(X, return_std=True)
for sign in (-2, 0, 2):
    label = None if sign else "Gaussian process"
    ax.plot(year, centre + exact + sign * exact_std, "k--", linewidth=0.8, label=label)
ax.axvline(18, color="0.5", linewidth=0.8)
ax.set(xlim=(12, 24), ylim=(5, 34), xlabel="year", ylabel="y")
ax.legend(loc="upper left")
plt.show()

# %%
# Lines are means, and bands and outer dashes are two standard deviations. Right of the vertical
# line nothing was seen.
#
# How close the forecasts are
# ---------------------------
#
# Root mean squared errors of the last six years, against the level without noise. Without the
# product, the season cannot grow. Without :class:`~trickless.neurons.Periodic`, there is no season
# beyond the last row.


def error(mean):
    return np.sqrt(np.mean((centre + mean - level)[~seen] ** 2))


print(f"Gaussian process: {error(exact):.2f}")
for name, family in {
    "trend + trend * season": neurons,
    "trend + season": amplitude * Gaussian(bends) + swing * Periodic(1.0, 1.0),
    "trend + fast changes": amplitude * Gaussian(bends) + swing * Gaussian(0.2),
}.items():
    model.set_params(neurons=family).fit(X[seen], y[seen] - centre)
    print(f"Kitchen Sinks, {name}: {error(model.predict(X)):.2f}")

# %%
# What to try next
# ----------------
#
# - Set ``n_neurons=100``. The multiples of a frequency are drawn, so few neurons may lack one.
# - :ref:`sphx_glr_gallery_beside_a_gaussian_process.py` has the same comparison for one kernel.
# - :doc:`/guides/choose-neurons` has more about periods, sums and products.
