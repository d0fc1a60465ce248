"""
Error bars of a chirp with a gap
================================

A chirp is a wave whose frequency rises. We observe it with noise, and with no observation in a gap.
Kitchen Sinks predicts the mean and a standard deviation. The band widens in the gap, and elsewhere
it contains about 95 % of new observations, as it promises.
"""

# %%
# Observe the chirp
# -----------------

import matplotlib.pyplot as plt
import numpy as np

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
rng = np.random.default_rng(0)
NOISE, GAP = 0.25, (4.0, 5.0)


def chirp(x):
    return np.sin(2 * x + 0.35 * x**2)


x = rng.uniform(0, 8, 600)
x = x[(x < GAP[0]) | (x > GAP[1])]
y = chirp(x) + NOISE * rng.standard_normal(len(x))

# %%
# Fit and predict with error bars
# -------------------------------
#
# ``"evidence"`` chooses the length scale and ``alpha`` under which the observations are most
# likely. ``return_std=True`` returns the standard deviation of a new observation. It has two parts,
# the noise and what the model does not know.


def new_model():
    return KitchenSinksRegressor(Gaussian("evidence"), 300, alpha="evidence", random_state=0)


model = new_model().fit(x[:, None], y)
grid = np.linspace(-0.3, 8.6, 800)
mean, std = model.predict(grid[:, None], return_std=True)

fig, ax = plt.subplots(figsize=(7.5, 3.8))
ax.axvspan(GAP[0], GAP[1], color="0.93", zorder=0)
ax.plot(x, y, ".", color="0.55", markersize=3, label="observations")
ax.fill_between(grid, mean - 2 * std, mean + 2 * std, alpha=0.25, linewidth=0, label="mean ± 2 std")
ax.plot(grid, mean, label="mean")
ax.plot(grid, chirp(grid), "k--", linewidth=1, label="true chirp")
ax.set(xlabel="x", ylabel="y", xlim=(-0.3, 8.6), ylim=(-3.6, 3.6))
ax.annotate("gap", (sum(GAP) / 2, 2.4), ha="center")
ax.legend(ncols=4, loc="upper center")
plt.show()

# %%
# Count how often the band is right
# ---------------------------------
#
# Draw new observations, and count those within two standard deviations of the mean. A normal
# distribution has 95.4 % there.

new_x = rng.uniform(0, 8, 5_000)
new_y = chirp(new_x) + NOISE * rng.standard_normal(len(new_x))
mean, std = model.predict(new_x[:, None], return_std=True)
inside = np.abs(new_y - mean) <= 2 * std
in_gap = (new_x > GAP[0]) & (new_x < GAP[1])
print(f"length scale {model.neurons_.length_scale_[0]:.2f}, alpha {model.alpha_:.1e}")
print(f"noise: {np.sqrt(model.noise_variance_):.3f} estimated, {NOISE} true")
print(f"inside the band: {inside[~in_gap].mean():.1%} of new observations outside the gap")
print(f"inside the band: {inside[in_gap].mean():.1%} of new observations in the gap")

# %%
# The estimated noise is close to the truth. In the gap the band assumes that the function continues
# as it does elsewhere. That is a guess, and it can be wrong. We move the gap, and count again.

rng = np.random.default_rng(0)
x = rng.uniform(0, 8, 600)
x = x[(x < 3.7) | (x > 4.5)]
y = chirp(x) + NOISE * rng.standard_normal(len(x))
other = new_model().fit(x[:, None], y)

new_x = rng.uniform(3.7, 4.5, 1_000)
new_y = chirp(new_x) + NOISE * rng.standard_normal(len(new_x))
mean, std = other.predict(new_x[:, None], return_std=True)
inside = np.abs(new_y - mean) <= 2 * std
print(f"inside the band: {inside.mean():.0%} of new observations in a gap from 3.7 to 4.5")

# %%
# Far fewer of the new observations are inside this time.
#
# What to try next
# ----------------
#
# - Move ``GAP``. The model knows nothing beyond x = 8 either, and its band says so.
# - Use the defaults, ``KitchenSinksRegressor()``. They choose by the errors of the mean, and the
#   band in this gap is often too narrow. Try some values of ``random_state``.
# - :doc:`/guides/error-bars` explains which learners have error bars, and what they mean.
# - :ref:`sphx_glr_gallery_beside_a_gaussian_process.py` compares these bands with a Gaussian
#   process.
# - :class:`trickless.KitchenSinksRegressor` describes ``return_std``.
