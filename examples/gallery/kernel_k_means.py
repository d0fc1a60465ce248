"""
k-means in the space of a kernel
================================

k-means on pixels sorts images by their light. k-means on random convolutions sorts them by
what they show. The kernel of these convolutions has no formula, and none is needed.
"""

# %%
# Digits in changing light
# ------------------------
#
# We give each image of a digit a contrast and a brightness at random.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from trickless import RandomFeatures
from trickless.neurons import Patches

plt.style.use("trickless.style")
rng = np.random.default_rng(0)

X, digit = load_digits(return_X_y=True)
contrast = rng.uniform(0.3, 1, (len(X), 1))
brightness = rng.uniform(0, 1 - contrast)
X = brightness + contrast * X / 16

# %%
# Cluster the images
# ------------------
#
# :class:`trickless.neurons.Patches` draws small convolutions at random. A neuron slides one over
# the image, rectifies the responses and pools them. It first maps each image to [0, 1], so
# brightness and contrast do not matter. Both clusterings look for ten clusters and see no labels.
# The adjusted Rand index compares them with the true digits: 1 is perfect, 0 is chance.

features = RandomFeatures(Patches((8, 8), patch=3), n_neurons=100, scale="unit", random_state=0)
models = {
    "pixels": KMeans(10, n_init=5, random_state=0),
    "random convolutions": make_pipeline(features, KMeans(10, n_init=5, random_state=0)),
}
clusters = {name: model.fit_predict(X) for name, model in models.items()}
for name, cluster in clusters.items():
    print(f"{name:<20} adjusted Rand index {adjusted_rand_score(digit, cluster):.2f}")

# %%
# Look into the clusters
# ----------------------
#
# Each row shows images of one cluster, drawn at random. The row is named after its most frequent
# digit. Two rows may have the same name. Images of other digits have an orange frame.

N_SHOWN = 14
fig, axes = plt.subplots(1, 2, figsize=(9, 4))
for ax, (name, cluster) in zip(axes, clusters.items(), strict=True):
    majority = np.array([np.bincount(digit[cluster == k]).argmax() for k in range(10)])
    picture = np.ones((100, 10 * N_SHOWN, 3))
    for row, k in enumerate(np.argsort(majority, kind="stable")):
        for column, i in enumerate(rng.choice(np.flatnonzero(cluster == k), N_SHOWN)):
            tile = picture[10 * row : 10 * row + 10, 10 * column : 10 * column + 10]
            if digit[i] != majority[k]:
                tile[:] = [0.84, 0.37, 0]
            tile[1:9, 1:9] = X[i].reshape(8, 8, 1)
    ax.imshow(picture)
    wrong = np.mean(digit != majority[cluster])
    ax.set(title=f"k-means on {name}", xlabel=f"{wrong:.0%} of the images are in a wrong row")
    ax.set(xticks=[], yticks=10 * np.arange(10) + 5, yticklabels=np.sort(majority))
    ax.grid(False)
    ax.spines[:].set_visible(False)
axes[0].set_ylabel("most frequent digit")
plt.show()

# %%
# What to try next
# ----------------
#
# - Cluster a data frame with categories: ``RandomFeatures("trees")`` in :doc:`/guides/features`.
# - Draw the digits as a map: :ref:`sphx_glr_gallery_spectral_embedding.py`.
# - Read about families for images: :doc:`/guides/choose-neurons`.
