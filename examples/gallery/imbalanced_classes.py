"""
Rare classes: weights and thresholds
====================================

About 1.5 % of the forest patches are aspen. A classifier with default settings misses more than a
third of them, because a miss and a false alarm count the same. Class weights and the threshold
change that. The picture shows both on the precision-recall curve.
"""

# %%
# Aspen among other trees
# -----------------------
#
# Covertype describes patches of forest by their height, slope, soil and so on. We learn from 20,000
# patches, and test on 20,000 others.
#
# The module ``data`` is a file of the project's ``benchmarks`` folder. Run the example from a
# checkout with ``PYTHONPATH=benchmarks``. It downloads the data once.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import (
    PrecisionRecallDisplay,
    precision_score,
    recall_score,
)
from sklearn.model_selection import TunedThresholdClassifierCV

import data
from trickless import BoostedTreesClassifier

plt.style.use("trickless.style")

X, kind, X_test, kind_test = data.covertype_table()
some = np.random.default_rng(0).choice(len(X), 20_000, replace=False)
X, y = X.iloc[some], kind[some] == 4
X_test, y_test = X_test[:20_000], kind_test[:20_000] == 4
print(f"{y.mean():.1%} of the patches are aspen")

# %%
# Fit with and without weights
# ----------------------------
#
# Recall is the share of the aspen that is found. Precision is the share of alarms that are right.
# With ``class_weight="balanced"`` both classes count the same in total: more aspen is found, and
# there are far more false alarms.

models = {
    "equal weights": BoostedTreesClassifier(n_trees=300, random_state=0),
    "balanced": BoostedTreesClassifier(n_trees=300, class_weight="balanced", random_state=0),
}
points = {}
for name, model in models.items():
    found = model.fit(X, y).predict(X_test)
    points[name] = recall_score(y_test, found), precision_score(y_test, found)
    print("{:<16}recall {:.0%}, precision {:.0%}".format(name, *points[name]))

# %%
# Choose the threshold
# --------------------
#
# scikit-learn's ``TunedThresholdClassifierCV`` keeps the model and moves the threshold. It chooses
# the one with the best F1 score on a quarter of the rows, which it holds out.
#
# Each threshold on the predicted probability gives a point on the curve of a model. The large dots
# are the points of ``predict``, and the diamond is the tuned threshold. Class weights move the dot
# to the right, but the curve itself gets no better, and here it is lower.

tuned = TunedThresholdClassifierCV(
    models["equal weights"], scoring="f1", cv=0.25, random_state=0
).fit(X, y)
found = tuned.predict(X_test)
points["tuned threshold"] = recall_score(y_test, found), precision_score(y_test, found)
print("{:<16}recall {:.0%}, precision {:.0%}".format("tuned threshold", *points["tuned threshold"]))
print(f"the threshold is {tuned.best_threshold_:.2f}")

fig, ax = plt.subplots(figsize=(5.6, 4.8))
for (name, model), color in zip(models.items(), ("C0", "C1"), strict=True):
    PrecisionRecallDisplay.from_estimator(
        model, X_test, y_test, name=name, ax=ax, curve_kwargs={"color": color}
    )
for point, marker, color in zip(points.values(), "ooD", ("C0", "C1", "C2"), strict=True):
    ax.plot(*point, marker, color=color, markersize=10, markeredgecolor="w", zorder=3)
ax.annotate("tuned threshold", point, xytext=(8, 6), textcoords="offset points")
ax.set(title="Finding the aspen", xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
ax.legend(loc="lower left")
plt.show()

# %%
# Set a threshold by costs
# ------------------------
#
# Suppose a missed aspen costs ten times as much as a false alarm. The probabilities of the model
# with equal weights then have a natural threshold: 1 / (1 + 10) = 0.09. Class weights distort
# probabilities, so use the model with equal weights for this. The line shows the cost at all
# thresholds, and the dot is the threshold by the rule.

COST = 10
chance = models["equal weights"].predict_proba(X_test)[:, 1]
thresholds = np.linspace(0.005, 0.9, 180)
alarms = chance[:, None] >= thresholds
costs = (alarms & ~y_test[:, None]).sum(axis=0) + COST * (~alarms & y_test[:, None]).sum(axis=0)

fig, ax = plt.subplots()
ax.plot(thresholds, costs)
rule = 1 / (1 + COST)
ax.plot(
    rule, np.interp(rule, thresholds, costs), "o", color="C1", markersize=9, label="by the rule"
)
ax.axvline(0.5, color="0.5", linestyle=":", label="default threshold")
ax.set(title="Cost of misses and false alarms", xlabel="threshold", ylabel="cost on the test rows")
ax.set_ylim(0, None)
ax.legend(loc="lower right")
plt.show()

# %%
# What to try next
# ----------------
#
# - Weights of classes and rows: :doc:`/guides/weights`.
# - Check probabilities before you use them: :ref:`sphx_glr_gallery_calibrated_probabilities.py`.
# - Tables with categories: :ref:`sphx_glr_gallery_a_table_with_categories.py`.
