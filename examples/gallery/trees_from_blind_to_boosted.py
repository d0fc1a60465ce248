"""
Trees, from blind to boosted
============================

``n_candidates`` is a dial. At 1 the cuts of trees are drawn blindly, as random features are. At 100
each cut is the best of many, as in boosting. Here a few candidates bring most of the gain, and more
of them take more time.
"""

# %%
# Turn the dial
# -------------
#
# The data are 5,000 patches of forest from Covertype. The task is to tell lodgepole pine from other
# trees. Each model fits on one core, for at most 120 trees, and stops early by itself.
#
# The module ``data`` is a file of the project's ``benchmarks`` folder. Run the example from a
# checkout with ``PYTHONPATH=benchmarks``. It downloads the data once.

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

import data
from trickless import BoostedTreesClassifier

plt.style.use("trickless.style")

X, y, X_test, y_test = data.covertype()
X_test, y_test = X_test[:5000], y_test[:5000]
candidates = (1, 3, 10, 30, 100)
errors, seconds = np.zeros((2, 3, len(candidates)))
boosted = np.zeros(3)
BoostedTreesClassifier(n_trees=1).fit(X[:500], y[:500])  # compiles, which would count as time

for seed in range(3):
    rows = np.random.default_rng(seed).permutation(len(y))[:5000]
    for column, n_candidates in enumerate(candidates):
        start = time.process_time()
        model = BoostedTreesClassifier(
            n_trees=120, n_candidates=n_candidates, random_state=seed, n_jobs=1
        )
        model.fit(X[rows], y[rows])
        seconds[seed, column] = time.process_time() - start
        errors[seed, column] = 1 - model.score(X_test, y_test)
    hist = HistGradientBoostingClassifier(early_stopping=True, random_state=seed)
    with threadpool_limits(1):
        boosted[seed] = 1 - hist.fit(X[rows], y[rows]).score(X_test, y_test)
for M, error, time_of_fit in zip(
    candidates, errors.mean(axis=0), seconds.mean(axis=0), strict=True
):
    print(f"n_candidates {M:>3}: error {error:.1%}, {time_of_fit:.2f} s")
print(f"HistGradientBoosting: error {boosted.mean():.1%}")

# %%
# Error and time
# --------------
#
# Lines are means over three samples of 5,000 rows. Bands are one standard deviation over them.

fig, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.8), width_ratios=(3, 2))
mean, spread = 100 * errors.mean(axis=0), 100 * errors.std(axis=0, ddof=1)
left.fill_between(candidates, mean - spread, mean + spread, alpha=0.2, linewidth=0)
left.plot(candidates, mean, "o-", label="trickless, trees")
left.annotate("blind", (1, mean[0]), xytext=(8, 0), textcoords="offset points")
below = {"xytext": (0, -5), "textcoords": "offset points", "ha": "right", "va": "top"}
left.annotate("best of many", (100, (mean - spread)[-1]), **below)
mean, spread = 100 * boosted.mean(), 100 * boosted.std(ddof=1)
left.axhspan(mean - spread, mean + spread, color="C1", alpha=0.15, linewidth=0)
left.axhline(mean, color="C1", linestyle="--", label="HistGradientBoosting")
left.set(title="Error", xscale="log", xlabel="n_candidates", ylabel="test error, %")
left.set_xticks(candidates, candidates)
left.minorticks_off()
left.margins(y=0.1)
left.legend()
right.plot(candidates, seconds.mean(axis=0), "o-", color="C2")
right.set(
    title="Time", xscale="log", yscale="log", xlabel="n_candidates", ylabel="seconds of the fit"
)
right.set_yticks([0.1, 0.2, 0.5, 1], ["0.1", "0.2", "0.5", "1"])
right.minorticks_off()
right.set_xticks(candidates, candidates)
plt.show()

# %%
# What to try next
# ----------------
#
# - :doc:`/explanation/boosting` explains what changes between blind and chosen cuts.
# - :doc:`/guides/tables` shows trees on data frames with categories and missing values.
# - The default is ``n_candidates="auto"``, which is 8, or more for many columns. See
#   :class:`trickless.BoostedTreesClassifier`.
