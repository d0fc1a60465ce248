"""
5. A stream
===========

Data often arrive in batches, and there may be too many rows to keep. Kitchen Sinks learns from each
batch, and does not need its rows again. Here a model learns a photograph from a stream of random
pixels.
"""

# %%
# A photograph as a stream
# ------------------------
#
# A row is the position of a pixel, and its target is the colour: three numbers for red, green and
# blue. Each batch has 500 pixels, drawn at random.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")

photo = load_sample_image("flower.jpg")[::3, ::3] / 255
height, width, _ = photo.shape
places = np.indices((height, width)).reshape(2, -1).T / height
colours = photo.reshape(-1, 3)


def batches(n_batches, n_rows=500):
    rng = np.random.default_rng(0)
    for _ in range(n_batches):
        pixels = rng.integers(len(places), size=n_rows)
        yield places[pixels], colours[pixels]


# %%
# Learn with partial_fit
# ----------------------
#
# ``partial_fit`` adds a batch to what the model knows. The first batch is small, and the default
# length scale would come from it alone. We therefore set the length scale ourselves: 0.05 is a
# twentieth of the height of the photograph.
#
# We score some of the batches *before* we learn them, which makes each score a test on new rows and
# saves us a test set.

model = KitchenSinksRegressor(Gaussian(length_scale=0.05), n_neurons=500, random_state=0)
snapshots = {}
for number, (X, y) in enumerate(batches(31)):
    if number in (1, 2, 4, 10, 30):
        score = model.score(X, y)
        print(f"after {500 * number:>6,} pixels: R² {score:.2f} on the next 500")
    if number in (1, 4, 30):
        snapshots[500 * number] = model.predict(places).reshape(photo.shape)
    model.partial_fit(X, y)

# %%
# See what the model knows
# ------------------------
#
# After 500 pixels the model has seen 2% of the photograph, and the flower is already there. Later
# batches make its shape clear. The petals stay blurred, because 500 waves cannot draw every detail.

fig, axes = plt.subplots(2, 2, figsize=(7, 5.2))
for ax, (n_rows, picture) in zip(axes.flat, snapshots.items(), strict=False):
    ax.imshow(picture.clip(0, 1))
    ax.set_title(f"after {n_rows:,} pixels")
axes[1, 1].imshow(photo)
axes[1, 1].set_title("photograph")
for ax in axes.flat:
    ax.set_axis_off()
plt.show()

# %%
# Why no rows are needed again
# ----------------------------
#
# Kitchen Sinks needs only sums over the rows, and adds each batch to the sums. It also keeps a
# small random sample of rows, so memory does not grow with the stream. The order of the rows does
# not matter either: one ``fit`` to all rows would give the same model, up to rounding.
#
# For rows one by one, :class:`trickless.ShrinkingGradientRegressor` makes a step after each row.

# %%
# What to try next
# ----------------
#
# - The next part puts neurons into a pipeline:
#   :ref:`sphx_glr_tutorial_6_features_in_a_pipeline.py`.
# - Choose a learner for your stream, save it, and resume after a crash: :doc:`/guides/streams`.
# - A live loop with error bars: :ref:`sphx_glr_gallery_stream.py`.
