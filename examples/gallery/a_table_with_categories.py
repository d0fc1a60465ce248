"""
A table with categories, unchanged
==================================

``BoostedTreesClassifier`` learns directly from a data frame: numbers, categories and gaps. On the
Adult census table its ROC curve nearly coincides with the curve of scikit-learn's boosted trees.
The model also tells which columns it used.
"""

# %%
# Read the table
# --------------
#
# Who earns more than $50,000 a year? The columns include eight of the type ``category``. To show
# gaps, we delete one age in ten.
#
# The module ``data`` is a file of the project's ``benchmarks`` folder. Run the example from a
# checkout with ``PYTHONPATH=benchmarks``. It downloads the data once.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import RocCurveDisplay

import data
from trickless import BoostedTreesClassifier
from trickless.inspection import FeatureImportancesDisplay

plt.style.use("trickless.style")
rng = np.random.default_rng(0)

X, y, X_test, y_test = data.adult_table()
for frame in (X, X_test):
    frame.loc[rng.random(len(frame)) < 0.1, "age"] = np.nan
print(X.head())

# %%
# Fit two models and compare their ROC curves
# -------------------------------------------
#
# Both read the frame without an encoder. By default, our model chooses the number of trees on
# held-out rows.

models = {
    "Boosted trees": BoostedTreesClassifier(random_state=0),
    "HistGradientBoosting": HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=0
    ),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), width_ratios=(1, 1.1))
for (name, model), style in zip(models.items(), ("-", "--"), strict=True):
    model.fit(X, y)
    curve = {"linestyle": style, "linewidth": 2.2}
    RocCurveDisplay.from_estimator(model, X_test, y_test, name=name, ax=axes[0], curve_kwargs=curve)
    print(f"{name:<26}error {1 - model.score(X_test, y_test):.2%}")
axes[0].set(title="Who earns over $50,000?", xlabel="false positive rate")
axes[0].set(ylabel="true positive rate", aspect="auto")
axes[0].legend(loc="lower right")

ours = models["Boosted trees"]
FeatureImportancesDisplay.from_estimator(ours, ax=axes[1])
axes[1].set(title="Columns that the trees use", xlabel="share of the cuts")
axes[1].locator_params(axis="x", nbins=5)
axes[1].grid(False, axis="y")
plt.show()

# %%
# How many trees?
# ---------------
#
# The model holds out a tenth of the rows. It stops adding trees when they no longer improve the
# score of these rows, and keeps the best number.

print(f"{ours.n_trees_} trees of at most 2,000")

# %%
# What to try next
# ----------------
#
# - Dates, unknown categories and gaps: :doc:`/guides/tables`.
# - Fit from a shell: :ref:`sphx_glr_gallery_command_line_on_parquet.py`.
# - Why trees are neurons: :doc:`/explanation/boosting`.
