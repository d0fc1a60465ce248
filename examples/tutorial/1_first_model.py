"""
1. A first model
================

Install the library, fit a model to images of digits, and compare it with three scikit-learn
classifiers, without tuning anything. At the end you know what a *neuron* is, the most important new
word.
"""

# %%
# Install the library
# -------------------
#
# Get the source code, go to its folder, and install it with matplotlib and pandas:
#
# .. code-block:: bash
#
#    pip install ".[plot]" pandas
#
# After the first release, ``pip install "trickless[plot]" pandas`` does the same without the
# source code. Each part of this tutorial runs by itself, and you can download it as a notebook.

# %%
# Fit, predict, score
# -------------------
#
# The data are the digits that come with scikit-learn: 1,797 images of 8 × 8 pixels, of which we
# learn from half. :class:`trickless.KitchenSinksClassifier` has the interface that you know.
# ``random_state`` makes the result the same each time.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from trickless import KitchenSinksClassifier

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)

model = KitchenSinksClassifier(random_state=0)
model.fit(X, y)
print("predicted:", model.predict(X_test[:10]))
print("true:     ", y_test[:10])
print(f"accuracy:  {model.score(X_test, y_test):.3f}")

# %%
# What happened
# -------------
#
# A *neuron* is a function with random numbers in it, and a *family* is a kind of neuron. Here each
# neuron is a wave across the space of images, with a random direction and a random frequency. The
# model drew 1,000 neurons, and learned how much each of them counts for each class.
#
# The weighted sum of the neurons gives one number for each class, and the largest number wins. The
# neurons themselves are not trained. Only their coefficients are, and these solve a least-squares
# problem, which makes a fit fast and leaves no bad starting point.
#
# Two choices were made for you. The first is the length scale, the distance between images over
# which the waves change. The second is ``alpha``, the strength of the regularisation, which is
# similar to ``alpha`` of :class:`~sklearn.linear_model.Ridge` but ``n_rows`` times smaller. All
# classes share one ``alpha``. The length scale and ``alpha`` were chosen inside ``fit``, by errors
# at rows that are left out one by one.

print(f"{model.n_neurons} neurons of the family {model.neurons_}")
print(f"length scale {model.neurons_.length_scale_:.2f}")
print(f"alpha {model.alpha_[0]:.1e}")

# %%
# Compare it with scikit-learn
# ----------------------------
#
# A linear model, a random forest and a support vector machine learn from the same rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

plt.style.use("trickless.style")

others = {
    "linear model": LogisticRegression(max_iter=1000),
    "random forest": RandomForestClassifier(random_state=0),
    "SVC": SVC(),
}
error = {name: 1 - other.fit(X, y).score(X_test, y_test) for name, other in others.items()}
error["Kitchen Sinks"] = 1 - model.score(X_test, y_test)
for name, share in error.items():
    print(f"{name:<14} {share:.1%} of the test images are wrong")

# %%
# The bars show the test error with one standard error. Kitchen Sinks is as accurate as the SVC, and
# clearly more accurate than the linear model and the forest. That is no accident: the SVC works
# with a kernel, and a sum of many random waves approaches a model with the same kind of kernel.
#
# The difference is in the work. The SVC compares images with each other, whereas the time of
# Kitchen Sinks grows in proportion to the rows.

fig, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.4), width_ratios=(1, 1.5))
picture = np.block([[np.pad(X[6 * i + j].reshape(8, 8), 1) for j in range(6)] for i in range(6)])
left.imshow(picture, cmap="gray_r")
left.set(title="Images of digits", xticks=[], yticks=[])
left.grid(False)

percent = 100 * np.array(list(error.values()))
standard_error = np.sqrt(percent * (100 - percent) / len(y_test))
right.barh(list(error), percent, xerr=standard_error, color=["0.65"] * 3 + ["C0"])
right.set(title="Test error", xlabel="% of the images", xlim=(0, None))
right.grid(axis="y", visible=False)
plt.show()

# %%
# What to try next
# ----------------
#
# - The next part asks a regression how sure it is: :ref:`sphx_glr_tutorial_2_error_bars.py`.
# - There are other learners, for tables and for streams. The guide :doc:`/guides/choose-a-learner`
#   names them.
# - Pictures explain why random neurons work: :doc:`/explanation/idea`.
