"""
What relevance finds
====================

Here 32 features describe an arm, and four of them matter. A kernel that treats all features alike
learns little. ``Gaussian("relevance")`` learns a length scale for each feature, and finds those
four.
"""

# %%
# An arm with 32 features
# -----------------------
#
# The data set puma32h comes from a simulated robot's arm. The features are angles, speeds, torques,
# masses and sizes of its parts, and the target is the acceleration of a joint.
#
# The module ``data`` is a file of the project's ``benchmarks`` folder. Run the example from a
# checkout with ``PYTHONPATH=benchmarks``. It downloads the data once.

import matplotlib.pyplot as plt
import pandas as pd

import data
from trickless import KitchenSinksRegressor
from trickless.inspection import FeatureImportancesDisplay
from trickless.neurons import Gaussian

plt.style.use("trickless.style")

X, y, X_test, y_test = data.puma32h()
kinds = {"angle": 6, "speed": 6, "torque": 5, "mass": 5, "length": 5, "friction": 5}
names = [f"{kind} {i + 1}" for kind, n in kinds.items() for i in range(n)]
X, X_test = (pd.DataFrame(part, columns=names) for part in (X, X_test))

plain = KitchenSinksRegressor(Gaussian("auto"), n_neurons=500, random_state=0).fit(X, y)
relevant = KitchenSinksRegressor(Gaussian("relevance"), n_neurons=500, random_state=0).fit(X, y)

# %%
# What was found, and what it brings
# ----------------------------------
#
# The importances are shares and sum to 1. The scatter plots compare predictions of 1,024 new rows
# with their targets. A perfect model has all points on the diagonal.

fig, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3.3))
FeatureImportancesDisplay.from_estimator(relevant, n_features=8, ax=left)
left.set(title="Relevance", xlabel="share of the importance")
for ax, model, name, color in (
    (middle, plain, "One length scale", "0.5"),
    (right, relevant, "Relevance", "C0"),
):
    ax.plot(y_test, model.predict(X_test), ".", color=color, alpha=0.5)
    ax.plot([-0.09, 0.09], [-0.09, 0.09], "k--", linewidth=1)
    ax.set(
        xlabel="target", ylim=(-0.09, 0.09), title=f"{name}: R² {model.score(X_test, y_test):.2f}"
    )
middle.set(ylabel="prediction")
plt.show()
print(pd.Series(relevant.feature_importances_, names).nlargest(5).round(3))

# %%
# Two angles and two torques have nearly all of the importance. The small shares of the third and
# the fourth feature are well above the rest.
#
# What to try next
# ----------------
#
# - :doc:`/guides/choose-neurons` says when to ask for relevance, and what it takes.
# - ``Ferns(feature_weights="relevance")`` uses the same finding for small trees.
# - :class:`trickless.inspection.FeatureImportancesDisplay` also plots the importances of trees,
#   whose cuts are chosen from the data.
