"""
Novelty detection on a stream
=============================

A one-class SVM learns where usual rows lie, and flags all others. Stochastic gradients on random
features learn the boundary of the kernel machine, and continue learning as rows arrive.
"""

# %%
# A boundary around two moons
# ---------------------------
#
# scikit-learn's ``SGDOneClassSVM`` is linear. Behind :class:`trickless.RandomFeatures` it becomes a
# kernel machine. ``nu=0.05`` allows it to leave about 5 % of the usual rows outside.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.linear_model import SGDOneClassSVM
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from trickless import RandomFeatures
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
LENGTH_SCALE, NU = 0.35, 0.05

usual, _ = make_moons(2000, noise=0.08, random_state=0)
new = np.random.default_rng(0).uniform([-1.8, -1.3], [2.8, 1.8], (60, 2))
models = {
    "SGD on random features": make_pipeline(
        RandomFeatures(Gaussian(LENGTH_SCALE), n_neurons=500, random_state=0),
        SGDOneClassSVM(nu=NU, max_iter=100, tol=None, random_state=0),
    ),
    "Exact one-class SVM": OneClassSVM(gamma=1 / (2 * LENGTH_SCALE**2), nu=NU),
}

across, up = np.linspace(-1.8, 2.8, 150), np.linspace(-1.3, 1.8, 120)
plane = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.9), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(usual)
    score = model.decision_function(plane).reshape(len(up), len(across))
    limit = np.abs(score).max()
    ax.contourf(across, up, score, levels=np.linspace(-limit, limit, 21), cmap="PuOr", alpha=0.8)
    ax.contour(across, up, score, levels=[0], colors="black", linewidths=1.8)
    ax.plot(*usual[::5].T, ".", color="0.25", markersize=2.5, label="usual rows")
    novel = model.predict(new) == -1
    ax.plot(*new[novel].T, "X", color="C1", markersize=7, markeredgecolor="w", label="flagged")
    ax.plot(*new[~novel].T, "o", color="C0", markersize=6, markeredgecolor="w", label="accepted")
    ax.set(title=name, xlabel="$x_1$", aspect="equal")
    print(f"{name:<24}{np.mean(model.predict(usual) == -1):.1%} of the usual rows are outside")
axes[0].set_ylabel("$x_2$")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# Digits that were never seen
# ---------------------------
#
# Now the usual rows are images of the digits 0 to 4, and they arrive in batches of 50.
# ``partial_fit`` learns each batch. After each one we rank 597 later images of all ten digits. The
# area under the ROC curve says how well known digits rank above new ones: 0.5 is chance. On pixels
# it stays near chance. On features it rises to 0.83 in one pass. The exact machine, which solves
# for all images at once, reaches 0.90.

X, digit = load_digits(return_X_y=True)
X /= 16
stream = X[:1200][digit[:1200] < 5]
test, known = X[1200:], digit[1200:] < 5

features = RandomFeatures(Gaussian(1.0), n_neurons=1000, random_state=0).fit(stream[:50])
learners = {"random features": features.transform, "pixels": np.asarray}
fig, ax = plt.subplots()
for name, transform in learners.items():
    model, areas = SGDOneClassSVM(nu=0.1, random_state=0), []
    for start in range(0, len(stream), 50):
        model.partial_fit(transform(stream[start : start + 50]))
        areas.append(roc_auc_score(known, model.decision_function(transform(test))))
    ax.plot(np.arange(50, len(stream) + 50, 50), areas, "o-", label=f"on {name}")
    print(f"on {name:<18} area {areas[-1]:.3f} after {len(stream)} images")
exact = OneClassSVM(gamma=0.5, nu=0.1).fit(stream).decision_function(test)
ax.axhline(roc_auc_score(known, exact), color="0.4", linestyle="--", label="exact, all at once")
ax.set(title="Which digits are new?", xlabel="images learned", ylabel="area under the ROC curve")
ax.legend(loc="center right")
plt.show()

# %%
# What to try next
# ----------------
#
# - Learn from a stream that changes: :doc:`/guides/streams`.
# - Save and resume later: :ref:`sphx_glr_gallery_stream.py`.
# - Put other linear models behind features: :ref:`sphx_glr_gallery_linear_models_on_features.py`.
