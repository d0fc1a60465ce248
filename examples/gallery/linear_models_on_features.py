"""
Linear models become nonlinear on random features
=================================================

A learner has a few losses. For any other, put a linear model that has it behind random features. A
Poisson regression then follows a curve of counts, and a logistic regression draws a curved
boundary.
"""

# %%
# Poisson regression of counts
# ----------------------------
#
# The counts have a rate that rises and falls. A Poisson regression on the column itself can only
# fit one exponential curve. On 100 Gaussian neurons it follows the rate. The band holds the middle
# 90 % of the Poisson distribution at the predicted rate.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import poisson
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_tweedie_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from trickless import RandomFeatures
from trickless.neurons import Gaussian

plt.style.use("trickless.style")


def rate(x):
    return np.exp(1.4 + np.sin(3 * x) * (1 + 0.4 * x))


rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (800, 1))
y = rng.poisson(rate(X[:, 0]))
X_test = rng.uniform(-2, 2, (2000, 1))
y_test = rng.poisson(rate(X_test[:, 0]))

plain = PoissonRegressor(alpha=1e-3, max_iter=1000)
features = RandomFeatures(Gaussian(0.5), n_neurons=100, random_state=0)
models = {"on x": plain, "on random features": make_pipeline(features, plain)}

grid = np.linspace(-2, 2, 300)[:, None]
fig, ax = plt.subplots(figsize=(7.5, 4))
ax.plot(X[:, 0], y, ".", color="0.6", label="counts")
for name, model in models.items():
    predicted = model.fit(X, y).predict(grid)
    (line,) = ax.plot(grid[:, 0], predicted, label=f"Poisson regression {name}")
    explained = d2_tweedie_score(y_test, model.predict(X_test), power=1)
    print(f"Poisson regression {name:<20} explains {explained:.0%} of the deviance")
low, high = poisson.interval(0.9, predicted)
ax.fill_between(grid[:, 0], low, high, color=line.get_color(), alpha=0.2, linewidth=0)
ax.plot(grid[:, 0], rate(grid[:, 0]), "k--", linewidth=1.2, label="true rate")
ax.set(title="Counts and their rate", xlabel="x", ylabel="count")
ax.legend(loc="upper left")
plt.show()

# %%
# Logistic regression
# -------------------
#
# The same recipe makes a logistic regression nonlinear. The colours are predicted probabilities,
# and the black line is where both classes are equally likely.

X, y = make_moons(1000, noise=0.25, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
plain = LogisticRegression(C=10, max_iter=1000)
features = RandomFeatures(Gaussian(0.7), n_neurons=200, random_state=0)
models = {"on the columns": plain, "on random features": make_pipeline(features, plain)}

across, up = np.linspace(-2, 3, 150), np.linspace(-1.5, 2, 120)
plane = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    chance = model.predict_proba(plane)[:, 1].reshape(len(up), len(across))
    shades = ax.contourf(across, up, chance, levels=np.linspace(0, 1, 11), cmap="PuOr_r", alpha=0.8)
    ax.contour(across, up, chance, levels=[0.5], colors="black")
    for label, marker in enumerate("os"):
        rows = X[y == label][:150]
        ax.plot(*rows.T, marker, color=("C0", "C1")[label], markersize=4, markeredgecolor="w")
    loss = log_loss(y_test, model.predict_proba(X_test))
    ax.set(title=f"{name.capitalize()}: log loss {loss:.2f}", xlabel="$x_1$", xticks=range(-1, 3))
axes[0].set_ylabel("$x_2$")
fig.colorbar(shades, ax=axes, label="probability of the squares", ticks=[0, 0.5, 1])
plt.show()

# %%
# What to try next
# ----------------
#
# - Choose the length scale by cross-validation: :doc:`/guides/tune`.
# - For squared error, use :class:`trickless.KitchenSinksRegressor`. It never stores the features.
# - Flag unusual rows: :ref:`sphx_glr_gallery_novelty_detection.py`.
