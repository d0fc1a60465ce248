"""
Beside a Gaussian process
=========================

A Gaussian process predicts a mean and error bars, in time that grows with the cube of the rows.
Kitchen Sinks predicts both from drawn neurons, in time that grows with the rows. Here both have the
same kernel, and the more neurons, the closer they come.
"""

# %%
# Fit the Gaussian process
# ------------------------
#
# scikit-learn's :class:`~sklearn.gaussian_process.GaussianProcessRegressor` learns the length
# scale, the amplitude and the noise from 300 rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
rng = np.random.default_rng(3)

x = np.concatenate([rng.uniform(-4, -0.5, 150), rng.uniform(1.2, 4, 150)])
y = np.sin(3 * x) + 0.3 * x + 0.3 * rng.standard_normal(len(x))
X, grid = x[:, None], np.linspace(-5, 5, 401)[:, None]

process = GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(), random_state=0)
process.fit(X, y)
mean, std = process.predict(grid, return_std=True)
print(process.kernel_)

# %%
# Give Kitchen Sinks the same kernel
# ----------------------------------
#
# ``alpha`` is the ratio of the noise to the amplitude, divided by the number of rows. With this
# ``alpha``, the mean and the band of Kitchen Sinks approach those of the Gaussian process.

amplitude = process.kernel_.k1.k1.constant_value
length_scale = process.kernel_.k1.k2.length_scale
noise = process.kernel_.k2.noise_level
alpha = noise / amplitude / len(x)

fig, axes = plt.subplots(1, 3, figsize=(9, 3.4), sharex=True, sharey=True)
for ax, n_neurons in zip(axes, (100, 300, 1000), strict=True):
    model = KitchenSinksRegressor(
        Gaussian(length_scale), n_neurons, alpha=alpha, fit_intercept=False, random_state=2
    )
    m, s = model.fit(X, y).predict(grid, return_std=True)
    ax.plot(x, y, ".", color="0.45", markersize=3, label="rows")
    ax.fill_between(grid[:, 0], m - 2 * s, m + 2 * s, color="C0", alpha=0.25, linewidth=0)
    ax.plot(grid, m, color="C0", label="Kitchen Sinks")
    for sign in (-2, 0, 2):
        label = "Gaussian process" if sign == 0 else None
        ax.plot(grid, mean + sign * std, "k--", linewidth=1, label=label)
    ax.set(title=f"{n_neurons:,} neurons", xlabel="x", xlim=(-5, 5), ylim=(-4, 4.5))
axes[0].set_ylabel("y")
axes[0].legend(loc="upper left")
plt.show()

# %%
# Lines are means, and bands and outer dashes are two standard deviations. Where there are rows, the
# two agree with few neurons. In the gap and at both ends they need more.
#
# How close they are
# ------------------
#
# Another seed draws other neurons. Over ten seeds, the mean difference between the two means falls
# with the square root of the number of neurons.

for n_neurons in (100, 300, 1000):
    differences = []
    for seed in range(10):
        model.set_params(n_neurons=n_neurons, random_state=seed).fit(X, y)
        differences.append(np.abs(model.predict(grid) - mean).mean())
    print(f"{n_neurons:>5} neurons: {np.mean(differences):.3f}")

# %%
# What to try next
# ----------------
#
# - :doc:`/guides/from-gaussian-processes` translates the parameters of one into the other.
# - Use ten times the rows, and compare the seconds of both fits.
# - :ref:`sphx_glr_gallery_kernels_and_estimates.py` shows how neurons estimate a kernel.
