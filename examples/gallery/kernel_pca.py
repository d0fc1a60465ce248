"""
Kernel PCA on random features
=============================

No straight line separates two rings, so linear PCA mixes them. PCA on random features is kernel
PCA: its first component already separates the rings. There is no kernel matrix, so time and memory
grow in proportion to the rows.
"""

# %%
# Two rings, three pictures
# -------------------------
#
# :class:`trickless.RandomFeatures` draws 500 neurons of the Gaussian family. Inner products of its
# columns estimate the Gaussian kernel. A pipeline puts scikit-learn's ``PCA`` behind it. On the
# right is ``KernelPCA``, which computes the same from the exact kernel matrix.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.decomposition import PCA, KernelPCA
from sklearn.pipeline import make_pipeline

from trickless import RandomFeatures
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
LENGTH_SCALE = 0.3

X, ring = make_circles(1000, factor=0.3, noise=0.06, random_state=0)
methods = {
    "Linear PCA": PCA(2),
    "PCA on random features": make_pipeline(
        RandomFeatures(Gaussian(LENGTH_SCALE), n_neurons=500, random_state=0), PCA(2)
    ),
    "Exact kernel PCA": KernelPCA(2, kernel="rbf", gamma=1 / (2 * LENGTH_SCALE**2)),
}

fig, axes = plt.subplots(1, 3, figsize=(9, 3.6))
for ax, (name, method) in zip(axes, methods.items(), strict=True):
    Z = method.fit_transform(X)
    Z *= np.where(Z[ring == 1].mean(axis=0) < 0, -1, 1)  # the sign of a component is arbitrary
    for label, text in enumerate(("outer ring", "inner ring")):
        ax.plot(*Z[ring == label].T, ".", markersize=4, alpha=0.6, label=text)
    ax.set(title=name, xlabel="first component")
axes[0].set_ylabel("second component")
key = axes[0].get_legend_handles_labels()
fig.legend(*key, loc="outside lower center", ncols=2, markerscale=3)
plt.show()

# %%
# A component is a function of the plane
# --------------------------------------
#
# The pipeline also transforms new points, so we can draw each component as a function. The first
# one depends on the distance from the centre. The next two show the direction in the inner ring,
# and the fourth begins with the outer ring.

pipeline = methods["PCA on random features"].set_params(pca__n_components=4).fit(X)
side = np.linspace(-1.5, 1.5, 100)
plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
components = pipeline.transform(plane).T.reshape(4, len(side), len(side))

fig, axes = plt.subplots(1, 4, figsize=(9, 2.6), sharex=True, sharey=True)
for number, (ax, component) in enumerate(zip(axes, components, strict=True), start=1):
    limit = np.abs(component).max()
    levels = np.linspace(-limit, limit, 15)
    ax.contourf(side, side, component, levels=levels, cmap="PuOr")
    ax.plot(*X[::3].T, "k.", markersize=1.5, alpha=0.5)
    ax.set(title=f"Component {number}", xlabel="$x_1$", aspect="equal")
axes[0].set_ylabel("$x_2$")
plt.show()

# %%
# What to try next
# ----------------
#
# - Other neurons give other kernels: :doc:`/guides/choose-neurons`.
# - More methods on random features: :doc:`/guides/features`.
# - Cluster in the space of a kernel: :ref:`sphx_glr_gallery_kernel_k_means.py`.
