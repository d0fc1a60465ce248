"""
The best random filters of MNIST
================================

Here a neuron is a random convolution: one filter of 7 × 7 pixels, drawn blindly. Kitchen Sinks
learns only how much each filter counts. A hundred filters and 10,000 images lead to fewer than 2 %
errors. The picture shows the filters that count most, and digits that were read wrongly.
"""

# %%
# Learn from 10,000 digits
# ------------------------
#
# The module ``data`` is a file of the project's ``benchmarks`` folder. Run the example from a
# checkout with ``PYTHONPATH=benchmarks``. It downloads the data once.

import matplotlib.pyplot as plt
import numpy as np

import data
from trickless import KitchenSinksClassifier
from trickless.neurons import Patches

plt.style.use("trickless.style")

X, y, X_test, y_test = data.mnist()
X, X_test = X.reshape(-1, 28, 28), X_test.reshape(-1, 28, 28)  # the module has flat rows
model = KitchenSinksClassifier(Patches(patch=7), n_neurons=100, random_state=0)
model.fit(X[:10_000], y[:10_000])
predicted = model.predict(X_test)
wrong = np.flatnonzero(predicted != y_test)
print(f"{len(wrong) / len(y_test):.2%} of {len(y_test):,} new digits are read wrongly")

# %%
# Draw the filters again
# ----------------------
#
# A model keeps a seed instead of its neurons, and its ``network_`` draws them again. Each filter
# has nine responses, one for each cell of a 3 × 3 grid over the image, and a coefficient for each
# response and each class. The length of all its coefficients says how much it counts.

filters, thresholds = model.network_.weights()
counts = np.linalg.norm(model.neuron_coef_, axis=(1, 2))
best = np.argsort(-counts)[:30]

fig = plt.figure(figsize=(8, 3.6))
left, right = fig.subfigures(1, 2)
left.suptitle("The filters that count most", fontsize=11, fontweight="bold")
for ax, number in zip(left.subplots(5, 6).flat, best, strict=True):
    ax.imshow(filters[number].reshape(7, 7), cmap="RdBu_r", vmin=-0.45, vmax=0.45)
    ax.set_axis_off()

right.suptitle("Read wrongly", fontsize=11, fontweight="bold")
for ax, row in zip(right.subplots(3, 5).flat, wrong, strict=False):
    ax.imshow(X_test[row], cmap="gray_r")
    ax.set_title(
        f"{y_test[row]} as {predicted[row]}", fontsize=9, loc="center", fontweight="normal"
    )
    ax.set_axis_off()
plt.show()

print(
    f"largest count {counts.max():.0f}, median {np.median(counts):.0f}, smallest {counts.min():.0f}"
)

# %%
# The filters that count most look as random as the others. Even the weakest counts nearly half as
# much as the strongest, so a digit is read from all responses together. Many wrongly read digits
# are hard for people as well.
#
# What to try next
# ----------------
#
# - Draw 500 filters and learn from all 60,000 images. The errors fall below 1 %.
# - ``Patches(filters="data")`` uses pieces of the images as filters. See
#   :class:`trickless.neurons.Patches`.
# - :doc:`/guides/choose-neurons` says which neurons suit other data.
