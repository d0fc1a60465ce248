"""
A spectral embedding without a kernel matrix
============================================

A spectral embedding puts similar images next to each other on a map. It normally needs a matrix of
all pairs of images. Random features need only one row for each image, and the map is almost the
same.
"""

# %%
# The idea
# --------
#
# A spectral embedding uses eigenvectors of :math:`D^{-1/2} K D^{-1/2}`. Here K is the kernel
# matrix, and D holds its row sums, the degrees. With random features Z, the kernel matrix is about
# :math:`Z Z^\top`, so the eigenvectors are the left singular vectors of :math:`D^{-1/2} Z`. That
# matrix has one row per image and one column per feature.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from trickless import RandomFeatures
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
LENGTH_SCALE, N_COMPONENTS = 1.5, 10

X, digit = load_digits(return_X_y=True)
X /= 16

# %%
# Compute both embeddings
# -----------------------
#
# The estimated degrees have noise, so we keep them away from zero. The first singular vector only
# repeats the degrees. Dividing by it leaves the coordinates.

Z = RandomFeatures(Gaussian(LENGTH_SCALE), n_neurons=2000, random_state=0).fit_transform(X)
degree = Z @ Z.sum(axis=0)
degree = np.maximum(degree, 0.01 * np.median(degree))
U = TruncatedSVD(N_COMPONENTS + 1, random_state=0).fit_transform(Z / np.sqrt(degree)[:, None])
from_features = U[:, 1:] / U[:, :1]

exact = SpectralEmbedding(
    N_COMPONENTS, affinity="rbf", gamma=1 / (2 * LENGTH_SCALE**2), random_state=0
).fit_transform(X)

# %%
# Draw two maps
# -------------
#
# Each character is an image of that digit. No label was used to place it. The sign of a coordinate
# is arbitrary, so we turn both maps the same way.

embeddings = {"Random features": from_features, "Exact kernel matrix": exact}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.6))
for ax, (name, embedding) in zip(axes, embeddings.items(), strict=True):
    place = embedding[:, :2] / embedding[:, :2].std(axis=0)
    place *= np.sign([np.corrcoef(place[:, k], exact[:, k])[0, 1] for k in range(2)])
    for d in range(10):
        where = place[digit == d]
        ax.scatter(*where.T, marker=f"${d}$", s=34, linewidth=0.3, color=plt.cm.turbo(d / 9))
    ax.set(title=name, xlabel="first coordinate")
axes[0].set_ylabel("second coordinate")
plt.show()

# %%
# How good are ten coordinates?
# -----------------------------
#
# A nearest-neighbour classifier reads the digits from the ten coordinates alone.

for name, embedding in embeddings.items():
    U = embedding / embedding.std(axis=0)
    score = cross_val_score(KNeighborsClassifier(), U, digit).mean()
    print(f"{name:<20} {score:.1%} of the digits are read correctly")

# %%
# What to try next
# ----------------
#
# - Cluster the digits: :ref:`sphx_glr_gallery_kernel_k_means.py`.
# - More methods on random features: :doc:`/guides/features`.
# - Replace ``Gaussian`` with another family: :doc:`/guides/choose-neurons`.
