"""
A kernel in a pipeline of River
===============================

River learns from one row at a time. Its adapter accepts any scikit-learn estimator that has
``partial_fit``, so the learners of trickless fit into its pipelines. Here they follow a curved
boundary that a linear model cannot.
"""

# %%
# Pipelines
# ---------
#
# Install River from PyPI, and trickless from a checkout:
#
# .. code-block:: bash
#
#    pip install ".[plot]" river
#
# The stream is ``Bananas``: two curved clusters in the plane. Each pipeline scales the columns and
# then learns. ``batch_size=1`` makes each row a step of its own. ``max_support`` limits the memory
# of Shrinking Gradient.
#
# River has its own ``RBFSampler``, which makes cosines of each column by itself. A linear model on
# these cannot see where two columns act together.

import matplotlib.pyplot as plt
from river import (
    compat,
    datasets,
    evaluate,
    feature_extraction,
    linear_model,
    metrics,
    optim,
    preprocessing,
)

from trickless import DoublyStochasticClassifier, ShrinkingGradientClassifier
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
N_ROWS = 1500

options = {"random_state": 0, "n_jobs": 1, "batch_size": 1}
shrinking = ShrinkingGradientClassifier(
    Gaussian(length_scale=0.5), n_neurons=300, n_draws=100, max_support=300, **options
)
stochastic = DoublyStochasticClassifier(
    Gaussian(length_scale=0.5), n_neurons=4 * N_ROWS, neurons_per_step=4, step_size=1.0, **options
)
classes = [False, True]
learners = {
    "Shrinking Gradient": compat.convert_sklearn_to_river(shrinking, classes=classes),
    "Doubly Stochastic": compat.convert_sklearn_to_river(stochastic, classes=classes),
    "River: RBFSampler, logistic": (
        feature_extraction.RBFSampler(gamma=2.0, n_components=200, seed=0)
        | linear_model.LogisticRegression(optimizer=optim.SGD(0.05))
    ),
    "River: logistic": linear_model.LogisticRegression(),
}

# %%
# Predict each row, then learn it
# -------------------------------
#
# River calls this progressive validation. The curves show the accuracy over all rows so far.

fig, ax = plt.subplots()
for (name, learner), style in zip(learners.items(), ("-", "-", "--", "--"), strict=True):
    pipeline = preprocessing.StandardScaler() | learner
    steps = evaluate.iter_progressive_val_score(
        datasets.Bananas().take(N_ROWS), pipeline, metrics.Accuracy(), step=25
    )
    rows, accuracy = zip(*[(s["Step"], s["Accuracy"].get()) for s in steps], strict=True)
    ax.plot(rows, accuracy, style, label=name)
    print(f"{name:<28}accuracy {accuracy[-1]:.1%}")
ax.set(title="One row after the other", xlabel="rows learned", ylabel="accuracy so far")
ax.legend(loc="center right", bbox_to_anchor=(1, 0.69))
plt.show()

# %%
# Kitchen Sinks solves for all coefficients after each call, so give it batches: River's
# ``learn_many`` passes data frames to ``partial_fit``.

# %%
# What to try next
# ----------------
#
# - River names and their counterparts here: :doc:`/guides/from-river`.
# - Streams that change, and learners for them: :doc:`/guides/streams`.
# - A loop in plain Python with error bars: :ref:`sphx_glr_gallery_stream.py`.
