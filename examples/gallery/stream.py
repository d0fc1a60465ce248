"""
A stream that goes on from a file
=================================

Batches arrive, and the model predicts each one with error bars before it learns it. Then the
process ends. A new process loads the model from its file and continues as if nothing had happened.
"""

# %%
# A stream of batches
# -------------------
#
# Batch number ``i`` always has the same 100 rows, as if a sensor had sent them.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import trickless
from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
N_BATCHES, N_ROWS, NOISE = 40, 100, 0.1
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "stream.trickless"


def batch(i):
    rng = np.random.default_rng(i)
    X = rng.uniform(-2, 2, (N_ROWS, 4))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + np.cos(X[:, 2] + X[:, 3])
    return X, y + NOISE * rng.standard_normal(N_ROWS)


# %%
# Predict, then learn
# -------------------
#
# ``return_std=True`` returns the standard deviation of a new observation. We count how often the
# truth lies within two of them. ``partial_fit`` adds the batch to sums, so memory stays the same
# however long the stream is. After every tenth batch the model is saved. The file is written whole
# or not at all, so a crash cannot spoil it.
#
# The inner loop ends after batch 24, as if the process had been killed. Batches 20 to 24 were not
# saved, so the second run learns them again.

log = {}
for killed_after in (24, N_BATCHES - 1):
    if path.exists():
        model = trickless.load(path)
    else:
        model = KitchenSinksRegressor(Gaussian(length_scale=1.5), n_neurons=200, random_state=0)
        model.n_batches_ = 0  # an attribute of our own, which the file keeps
    print(f"start with batch {model.n_batches_}")
    for i in range(model.n_batches_, killed_after + 1):
        X, y = batch(i)
        if i:
            mean, std = model.predict(X, return_std=True)
            log[i] = np.sqrt(np.mean((y - mean) ** 2)), std.mean(), np.mean(abs(y - mean) < 2 * std)
        model.partial_fit(X, y)
        model.n_batches_ += 1
        if model.n_batches_ % 10 == 0:
            trickless.save(model, path)

# %%
# Error and coverage
# ------------------
#
# The error falls towards the noise, and the error bars fall with it. They are honest from the first
# batches on: about 95 % of the truth lies within two of them.

i = np.array(list(log))
error, bar, inside = np.array(list(log.values())).T
fig, (ax, below) = plt.subplots(2, 1, figsize=(6.4, 5), sharex=True, height_ratios=(2, 1))
ax.plot(i * N_ROWS, error, "o", label="error before the batch is learned")
ax.plot(i * N_ROWS, bar, label="mean error bar")
ax.axhline(NOISE, color="black", linestyle="--", linewidth=1, label="noise")
ax.set(title="A live loop with error bars", ylabel="root mean squared error", yscale="log")
ax.set_yticks([0.1, 0.2, 0.5, 1.0], labels=["0.1", "0.2", "0.5", "1"])
ax.set_yticks([], minor=True)
spread = 2 * np.sqrt(0.954 * 0.046 / N_ROWS)
below.axhspan(0.954 - spread, 1, color="0.9", label="expected of 100 rows")
below.plot(i * N_ROWS, inside, "o", color="C2", label="within two error bars")
below.set(xlabel="rows learned", ylabel="share of rows", ylim=(0.8, 1.01))
for axis in (ax, below):
    axis.axvline(2000, color="C3", linestyle=":")
    axis.legend(loc="best")
ax.annotate("goes on from the file", (2000, 0.8), xytext=(5, 0), textcoords="offset points")
plt.show()

# %%
# The interruption changed nothing
# --------------------------------
#
# A model that learned all batches without a break has the same predictions, bit for bit.

whole = KitchenSinksRegressor(Gaussian(length_scale=1.5), n_neurons=200, random_state=0)
for i in range(N_BATCHES):
    whole.partial_fit(*batch(i))
X, _ = batch(N_BATCHES)
folder.cleanup()
print("equal:", np.array_equal(whole.predict(X), model.predict(X)))

# %%
# What to try next
# ----------------
#
# - Streams that change: :doc:`/guides/streams`.
# - Learn a stream row by row, in a River pipeline: :ref:`sphx_glr_gallery_river_stream.py`.
# - Add models of several streams: :ref:`sphx_glr_gallery_parts_that_merge.py`.
