"""
4. Images
=========

The family of neurons says what a model can see. In part 1, neurons compared whole images. Now each
neuron looks for a small random pattern, and more than half of the errors are gone.
"""

# %%
# Neurons that look at patches
# ----------------------------
#
# A neuron of :class:`trickless.neurons.Patches` draws a random filter of 3 × 3 pixels. It slides
# the filter over the image, keeps only responses above a threshold, and averages them over nine
# cells of the image. That is a small convolutional network whose filters are drawn, not trained.
#
# The picture shows five digits in the first row. Each row below has the responses of one neuron, in
# its nine cells. ``scale="unit"`` multiplies all columns by one number, because the responses of
# ``Patches`` are small.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from trickless import KitchenSinksClassifier, RandomFeatures
from trickless.neurons import Patches

plt.style.use("trickless.style")

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)
patches = Patches(shape=(8, 8), patch=3)

some = X[[np.flatnonzero(y == digit)[0] for digit in (0, 1, 3, 4, 7)]]
answers = RandomFeatures(patches, n_neurons=3, scale="unit", random_state=0).fit(X).transform(some)
# Columns are grouped by neuron, and its nine cells follow each other.
answers = answers.reshape(5, 3, 3, 3)  # image, neuron, line of cells, cell

fig, axes = plt.subplots(4, 5, figsize=(6.4, 5.2))
for column, ax in enumerate(axes[0]):
    ax.imshow(some[column].reshape(8, 8), cmap="gray_r")
for row in range(3):
    for column, ax in enumerate(axes[row + 1]):
        ax.imshow(answers[column, row], vmin=0, vmax=answers[:, row].max())
    axes[row + 1, 0].set_ylabel(f"neuron {row + 1}")
axes[0, 0].set_ylabel("image")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
plt.show()

# %%
# Change one argument
# -------------------
#
# Pass the family to the learner. Everything else is as in part 1.

models = {
    "whole images": KitchenSinksClassifier(random_state=0),
    "patches": KitchenSinksClassifier(patches, n_neurons=200, random_state=0),
}
for name, model in models.items():
    wrong = np.sum(model.fit(X, y).predict(X_test) != y_test)
    print(f"{name:<13} {wrong} of {len(y_test)} test images are wrong")

# %%
# More than half of the errors are gone, with a fifth of the neurons. Each neuron has nine columns
# here, one for each cell, so the models are of similar size.
#
# A kernel machine would need a formula for the kernel of these neurons, and nobody knows one. A
# model of random neurons does not need it.

# %%
# Look at the errors
# ------------------
#
# ``predict_proba`` says how sure the model is. These are the images that it got wrong. Some of
# them are hard to read for us as well.

chances = models["patches"].predict_proba(X_test)
guess = chances.argmax(axis=1)
wrong = np.flatnonzero(guess != y_test)
fig, axes = plt.subplots(1, len(wrong), figsize=(1.7 * len(wrong), 2.4), squeeze=False)
for ax, i in zip(axes[0], wrong, strict=True):
    ax.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{guess[i]}, not {y_test[i]}", loc="center")
    ax.set(xlabel=f"{chances[i].max():.0%} sure", xticks=[], yticks=[])
    ax.grid(False)
plt.show()

# %%
# What to try next
# ----------------
#
# - The next part learns while data arrive: :ref:`sphx_glr_tutorial_5_a_stream.py`.
# - Which family suits which data: :doc:`/guides/choose-neurons`.
# - Cluster images by their patches: :ref:`sphx_glr_gallery_kernel_k_means.py`.
