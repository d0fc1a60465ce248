"""
8. Saving and sharing
=====================

Save a model to a file, load it, and make the file small. Then see what ``random_state`` keeps the
same.
"""

# %%
# Save and load
# -------------
#
# :func:`trickless.save` writes a whole file or none, and :func:`trickless.load` reads it. Unlike
# pickle, loading runs no code from the file. The model may still be wrong.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import trickless
from trickless import KitchenSinksClassifier

plt.style.use("trickless.style")

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, random_state=0)
model = KitchenSinksClassifier(n_neurons=300, random_state=0).fit(X, y)

folder = Path(tempfile.mkdtemp())
trickless.save(model, folder / "digits.trickless")
loaded = trickless.load(folder / "digits.trickless")
print("same predictions:", (loaded.predict(X_test) == model.predict(X_test)).all())

# %%
# The loaded model can continue learning. The file holds what is needed for that, including some
# rows of the training data.

loaded.partial_fit(X_test[:200], y_test[:200])
print(f"accuracy on the rest: {loaded.score(X_test[200:], y_test[200:]):.3f}")

# %%
# Make the file small
# -------------------
#
# If you only need predictions, save it with ``for_prediction=True``. It is then a
# ``model.compact()``, a model with the same predictions that cannot learn any further. The file of
# this one holds no training rows. The neurons take no room, because they are drawn again from a
# seed. The picture compares it with two pickled scikit-learn models.

import pickle

from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

trickless.save(model, folder / "small.trickless", for_prediction=True)
sizes = {
    "random forest, pickle": len(pickle.dumps(RandomForestClassifier(random_state=0).fit(X, y))),
    "SVC, pickle": len(pickle.dumps(SVC().fit(X, y))),
    "Kitchen Sinks, whole": (folder / "digits.trickless").stat().st_size,
    "Kitchen Sinks, for_prediction": (folder / "small.trickless").stat().st_size,
}
fig, ax = plt.subplots(figsize=(7, 2.8))
names, megabytes = list(sizes), np.array(list(sizes.values())) / 1e6
bars = ax.barh(names, megabytes, color=["0.65", "0.65", "C5", "C0"])
ax.bar_label(bars, fmt="%.2f MB", padding=4)
ax.set(title="Size of a saved model", xlabel="megabytes", xlim=(0, 1.2 * megabytes.max()))
ax.grid(axis="y", visible=False)
plt.show()

# %%
# Share a pipeline
# ----------------
#
# A pipeline holds scikit-learn classes, and ``save`` returns these classes. ``load`` expects a list
# of classes that you trust, and raises an error if the file needs others. Name the classes
# yourself: you know what you import, and the file cannot add to your list.

from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

pipeline = make_pipeline(StandardScaler(), KitchenSinksClassifier(n_neurons=200, random_state=0))
trusted = trickless.save(pipeline.fit(X, y), folder / "pipeline.trickless")
print("to trust:", ", ".join(thing.__name__ for thing in trusted))
pipeline = trickless.load(folder / "pipeline.trickless", trusted=[Pipeline, StandardScaler])
print(f"accuracy of the loaded pipeline: {pipeline.score(X_test, y_test):.3f}")

# %%
# Get the same model again
# ------------------------
#
# The same ``random_state`` gives the same neurons. Another one gives other neurons, and slightly
# other predictions, so fit with a few values to see how much depends on the draw. With more
# neurons, less depends on it.

for n_neurons in (30, 300):
    print(f"{n_neurons:>4} neurons:", end="")
    for seed in range(3):
        model = KitchenSinksClassifier(n_neurons=n_neurons, random_state=seed).fit(X, y)
        print(f"  {model.score(X_test, y_test):.3f}", end="")
    print()

# %%
# Write down the versions of NumPy, SciPy, scikit-learn and trickless with the model, so that others
# can run what you ran.

# %%
# What to try next
# ----------------
#
# - Threads, crashes, and all that deployment needs: :doc:`/guides/production`.
# - The tutorial ends here. Choose a task from the :doc:`how-to guides </guides/index>`.
# - Look for a picture that is like your problem in the :doc:`gallery </gallery/index>`.
