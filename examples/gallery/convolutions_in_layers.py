"""
Convolutions in two layers
==========================

A second layer of random neurons sees which patterns occur together in an image. It makes fewer
errors than the convolutions alone, with half of the filters. Nothing is trained except the
coefficients of the last layer.
"""

# %%
# One layer and two
# -----------------
#
# The module ``data`` is a file of the project's ``benchmarks`` folder. Run the example from a
# checkout with ``PYTHONPATH=benchmarks``. It downloads the data once.
#
# Both models have about 2,000 columns. The first one has 222 filters with nine cells each. The
# second has 111 filters, whose pooled responses are the inputs of 1,000 Gaussian neurons, which are
# pairs of a cosine and a sine. Its filters are patches of whitened images.

import matplotlib.pyplot as plt
import numpy as np

import data
from trickless import KitchenSinksClassifier, RandomFeatures
from trickless.neurons import Gaussian, Layers, Patches

plt.style.use("trickless.style")

X, y, X_test, y_test = data.mnist()
X, X_test = X.reshape(-1, 28, 28), X_test.reshape(-1, 28, 28)  # the module has flat rows
rows = np.random.default_rng(0).choice(len(X), 10_000, replace=False)
whitened = Patches(patch=7, filters="whitened")
models = {
    "one layer": KitchenSinksClassifier(Patches(patch=7), n_neurons=222),
    "two layers": KitchenSinksClassifier(Layers([whitened, Gaussian()], 111), n_neurons=1000),
}
wrong = {}
for name, model in models.items():
    predicted = model.set_params(random_state=0).fit(X[rows], y[rows]).predict(X_test)
    wrong[name] = predicted != y_test
    print(f"{name:<11} {wrong[name].mean():.2%} of {len(y_test):,} new digits are read wrongly")

# %%
# What the second layer sees
# --------------------------
#
# The first layer turns an image into nine responses of each filter. The picture shows some filters,
# where on a finer grid of 12 × 12 cells they respond to a digit, and digits that only the second
# layer gets right.

fine = Patches(patch=7, pool=12, filters="whitened")
responses = RandomFeatures(fine, n_neurons=5, scale="unit", random_state=6).fit(X[rows])
weights = responses.neurons_.draw(np.random.default_rng(6), 5)
filters, _ = weights
digit = X_test[[int(np.flatnonzero(y_test == 5)[0])]]
maps = responses.neurons_(digit.reshape(1, -1), weights).reshape(12, 12, 5).transpose(2, 0, 1)

gained = np.flatnonzero(wrong["one layer"] & ~wrong["two layers"])
fig = plt.figure(figsize=(6.4, 5))
top, bottom = fig.subfigures(2, 1)
top.suptitle("Filters, and where they respond", fontsize=11, fontweight="bold")
axes = top.subplots(2, 6)
axes[1, 0].imshow(digit[0], cmap="gray_r")
for number, (above, below) in enumerate(axes[:, 1:].T):
    size = np.abs(filters[number]).max()
    above.imshow(filters[number].reshape(7, 7), cmap="RdBu_r", vmin=-size, vmax=size)
    below.imshow(maps[number], cmap="viridis", vmin=0, vmax=maps.max())

bottom.suptitle("Read correctly by two layers only", fontsize=11, fontweight="bold")
shown = bottom.subplots(2, 6)
for ax, row in zip(shown.flat, gained, strict=False):
    ax.imshow(X_test[row], cmap="gray_r")
for ax in (*axes.flat, *shown.flat):
    ax.set_axis_off()
plt.show()

lost = int(np.sum(wrong["two layers"] & ~wrong["one layer"]))
print(f"{len(gained)} errors are gone, and {lost} are new")

# %%
# What to try next
# ----------------
#
# - Learn from all 60,000 images with 3,072 neurons and 150 filters. :doc:`/benchmarks/neurons` has
#   the error.
# - Put a layer of patches between the two. :doc:`/guides/images` shows how.
# - Look at the filters of one layer: :ref:`sphx_glr_gallery_best_filters_of_mnist.py`.
