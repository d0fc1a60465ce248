"""
Regret and its bound
====================

An online learner predicts each row before it learns from it. Its regret is what it loses more than
the best fixed function in hindsight. With ``schedule="theorem"``, the expected regret of Shrinking
Gradient after T rows is at most a multiple of √T. Here three streams stay at about half of that
bound.
"""

# %%
# Learn three streams
# -------------------
#
# The targets are a wave with noise, and all lie in [-1, 1]. The theorem needs three facts, which
# you declare: the number of rows (``horizon``), the range of the targets, and the largest norm of
# the functions to compare with (``norm_bound``).

import matplotlib.pyplot as plt
import numpy as np

from trickless import ShrinkingGradientRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
ROWS = 1000

models = []
for seed in range(3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (ROWS, 1))
    y = np.clip(0.6 * np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(ROWS), -1, 1)
    model = ShrinkingGradientRegressor(
        Gaussian(length_scale=1.0),
        norm_bound=1.0,
        schedule="theorem",
        horizon=ROWS,
        y_range=(-1, 1),
        random_state=seed,
    )
    models.append(model.fit(X, y))

# %%
# Compare with the best function
# ------------------------------
#
# ``regret_`` finds the best function of this norm with the exact kernel, which the learner never
# uses. The picture divides the regret by √T, so a regret that grows like √T makes a flat curve.

fig, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.8))
left.plot(X[:, 0], y, ".", color="0.6", markersize=3, label="rows of the last stream")
grid = np.linspace(-3, 3, 200)[:, None]
left.plot(grid, models[-1].predict(grid), label='schedule="theorem"')
default = ShrinkingGradientRegressor(Gaussian(length_scale=1.0), y_range=(-1, 1), random_state=0)
left.plot(grid, default.fit(X, y).predict(grid), color="C1", label="default schedule")
left.set(title="What was learned", xlabel="x", ylabel="y", ylim=(-1.1, 1.9))
left.legend(loc="upper left")

for number, model in enumerate(models):
    rounds, regret = model.regret_.T
    bound = model.regret_bound_
    print(f"stream {number}: regret {regret[-1]:.1f}, bound {bound[-1]:.1f}")
    name = f"_{number}" if number else "three streams"
    right.plot(rounds, regret / np.sqrt(rounds), color="C0", alpha=0.7, label=name)
right.plot(rounds, bound / np.sqrt(rounds), "k--", linewidth=1, label="bound")
right.set(title="Regret", xscale="log", xlabel="rounds T", ylabel="regret / √T", ylim=(0, None))
right.legend()
plt.show()

# %%
# After 1,000 rows the regret of all three is about half of the bound. The bound holds for every
# family of neurons bounded by 1 and for any targets in [-1, 1], even targets that an opponent
# chooses. Such a guarantee needs small steps, so the function on the left has learned slowly. The
# default schedule takes larger steps. It learns faster here, without a guarantee.
#
# What to try next
# ----------------
#
# - Raise ``norm_bound`` to compete with larger functions. The bound grows nearly in proportion.
# - :doc:`/explanation/guarantees` states the theorem and what it needs.
# - :ref:`sphx_glr_gallery_one_row_after_the_other.py` learns a stream whose target changes.
# - :class:`trickless.ShrinkingGradientRegressor` describes the other schedules.
