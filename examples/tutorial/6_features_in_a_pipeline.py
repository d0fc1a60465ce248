"""
6. Features in a pipeline
=========================

Neurons can also be a step of a scikit-learn pipeline. They turn rows into columns, and a linear
model of these columns draws curves. You see how the family of neurons shapes the boundary.
"""

# %%
# Two moons
# ---------
#
# No straight line separates these two classes. :class:`trickless.RandomFeatures` is a transformer
# whose ``transform`` returns the value of each neuron for each row.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from trickless import RandomFeatures
from trickless.neurons import Ferns, Gaussian

plt.style.use("trickless.style")

X, y = make_moons(600, noise=0.2, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)

features = RandomFeatures(Gaussian(length_scale=0.7), n_neurons=200, random_state=0)
print(f"{X.shape} becomes {features.fit_transform(X).shape}")

# %%
# There are 400 columns, because a neuron of the Gaussian family has two: a cosine and a sine.

# %%
# Put a linear model behind them
# ------------------------------
#
# The left picture has a logistic regression of the two columns. In the middle, waves are in front
# of it. On the right, each neuron is a *fern*, a small random tree. Waves give a smooth boundary,
# whereas ferns give steps. Red shades mean that class 0 is likely, and blue shades class 1.

models = {
    "no neurons": make_pipeline(LogisticRegression()),
    "gaussian": make_pipeline(features, LogisticRegression(C=10)),
    "ferns": make_pipeline(
        RandomFeatures(Ferns(), n_neurons=200, random_state=0), LogisticRegression(C=10)
    ),
}
fig, axes = plt.subplots(1, 3, figsize=(9, 3.3), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, ax=ax, response_method="predict_proba", cmap="RdBu", alpha=0.5, vmin=0, vmax=1
    )
    for moon, colour in enumerate(["C1", "C0"]):
        look = {"color": colour, "edgecolor": "white", "linewidth": 0.4}
        ax.scatter(*X[y == moon].T, s=14, label=f"class {moon}", **look)
    ax.set(title=f"{name}: {model.score(X_test, y_test):.0%}", xlabel="first column", ylabel="")
    ax.grid(False)
axes[0].set_ylabel("second column")
axes[0].legend(loc="lower left", handletextpad=0.1)
plt.show()

# %%
# The titles have the accuracy on new rows.

# %%
# Search the parameters
# ---------------------
#
# A pipeline has one set of parameters, so a grid search compares families and ``C`` together.
# Search ``C`` over a wide range, because its best value depends on the scale of the columns.

search = GridSearchCV(
    models["gaussian"],
    {
        "randomfeatures__neurons": [Gaussian(0.2), Gaussian(0.7), Ferns()],
        "logisticregression__C": [0.1, 10, 1000],
    },
    cv=3,
)
search.fit(X, y)
print(search.best_params_)
print(f"accuracy on new rows: {search.score(X_test, y_test):.2f}")

# %%
# .. note::
#    A few families, such as ``Patches``, give small numbers. Use
#    ``RandomFeatures(..., scale="unit")`` with them, or a linear model may learn only a constant.
#    A warning tells you when this is needed.
#
# For a squared loss you do not need a pipeline. Kitchen Sinks solves that problem faster, and
# without keeping the columns.

# %%
# What to try next
# ----------------
#
# - The next part makes a family of neurons:
#   :ref:`sphx_glr_tutorial_7_your_own_neuron.py`.
# - PCA, clustering, novelty detection and more on random features: :doc:`/guides/features`.
# - Poisson regression and logistic regression as curves:
#   :ref:`sphx_glr_gallery_linear_models_on_features.py`.
