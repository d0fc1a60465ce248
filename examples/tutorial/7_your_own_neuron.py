"""
7. Your own neuron
==================

If you know something about your data, write it into the neurons. Here we know that a pattern
repeats each week. Fifteen lines teach this to every learner, and no kernel has to be derived.
"""

# %%
# Data that repeat
# ----------------
#
# A library counts its visitors each hour. The numbers are made up. We see three weeks, and want to
# predict the fourth.

import matplotlib.pyplot as plt
import numpy as np

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian, Neurons

plt.style.use("trickless.style")

rng = np.random.default_rng(0)
hour = np.arange(4 * 7 * 24)
day, time = hour // 24 % 7, hour % 24
morning, evening = np.exp(-((time - 10) ** 2) / 8), np.exp(-((time - 17) ** 2) / 6)
visitors = rng.poisson(2 + 60 * morning * (day < 6) + 90 * evening * (day < 5))
X = hour[:, None] / 24  # time in days
seen = hour < 3 * 7 * 24

# %%
# Write the family
# ----------------
#
# A family needs two methods: ``draw`` draws the random numbers of n neurons, and ``activate``
# returns the value of each neuron for each row.
#
# A neuron of this family is a wave that completes an integer number of cycles in the period. Slow
# waves are drawn more often than fast ones. A neuron has two columns, a cosine and a sine, so
# ``width`` is 2.


class Periodic(Neurons):
    width = 2

    def __init__(self, period=1.0, roughness=10.0):
        self.period = period
        self.roughness = roughness

    def draw(self, rng, n):
        return np.abs(rng.normal(0, self.roughness, n)).round()

    def activate(self, X, cycles):
        angle = 2 * np.pi * (X / self.period) * cycles
        return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)


# %%
# Use it everywhere
# -----------------
#
# The family goes where a name such as ``"gaussian"`` went. Error bars, streams, pipelines and
# saving work with it as well. For comparison, we use Gaussian neurons with a length scale of 0.1
# days. The picture begins on day 11, and the dashed line is the end of what the models see.

models = {
    "gaussian": KitchenSinksRegressor(Gaussian(length_scale=0.1), random_state=0),
    "periodic": KitchenSinksRegressor(Periodic(period=7), 500, random_state=0),
}
fig, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    mean, std = model.fit(X[seen], visitors[seen]).predict(X, return_std=True)
    ax.plot(X[seen], visitors[seen], ".", color="0.2", label="seen", zorder=3)
    ax.plot(X[~seen], visitors[~seen], ".", color="C1", label="to predict", zorder=3)
    low, high = mean - 2 * std, mean + 2 * std
    ax.fill_between(X[:, 0], low, high, color="C0", alpha=0.25, linewidth=0, label="mean ± 2 std")
    ax.plot(X, mean, color="C0", linewidth=1.3, label="mean")
    ax.axvline(21, color="0.4", linestyle="--", linewidth=1)
    score = model.score(X[~seen], visitors[~seen])
    ax.set(title=f"{name}: R² {score:.2f} in the fourth week", ylabel="visitors an hour")
    ax.set(xlim=(11, 28), ylim=(-45, 140))
axes[0].legend(loc="upper left", ncols=4, columnspacing=1)
axes[1].set_xlabel("days")
plt.show()

# %%
# Gaussian neurons follow the three weeks. In the fourth week they know nothing, so they stay near
# the mean of all hours, with a wide band. Periodic neurons repeat the week, as they were designed
# to. The model does not know that counts cannot be negative, so its band reaches below zero.

# %%
# Combine it
# ----------
#
# Families can be added and multiplied. ``Periodic(7) + Gaussian(30)`` is a week on top of a slow
# change. The parameters follow scikit-learn's conventions, so a grid search reaches them.

from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

search = GridSearchCV(
    models["periodic"], {"neurons__roughness": [3, 10, 30]}, cv=TimeSeriesSplit(2, test_size=168)
)
search.fit(X[seen], visitors[seen])
print(search.best_params_)
print(f"R² in the fourth week: {search.score(X[~seen], visitors[~seen]):.3f}")

# %%
# What to try next
# ----------------
#
# - The last part saves a model: :ref:`sphx_glr_tutorial_8_saving_and_sharing.py`.
# - Rows need not be numbers in space. A family for words, and the rules for a family:
#   :doc:`/guides/write-a-neuron`.
# - A neuron may be a quantum circuit: :ref:`sphx_glr_gallery_quantum_kernel.py`.
