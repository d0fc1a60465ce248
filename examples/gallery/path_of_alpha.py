"""
The path of alpha
=================

``alpha`` decides how smooth the learned function is. Kitchen Sinks compares about 30 values by
leaving out one row at a time, and needs a single fit for that. Here its estimate and the error on
new data have their minima at the same place.
"""

# %%
# Fit once
# --------
#
# The data are Friedman's first function with noise, a classic test. Five of its ten features
# matter. ``alpha="auto"`` is the default, and the fitted model keeps what it compared. There are
# 500 rows and 1,000 columns, a cosine and a sine for each neuron. With so few rows, "auto" leaves
# out each of them. With more rows than columns, it leaves out a random sample of up to 2,048 rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_squared_error

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")

X, y = make_friedman1(10_500, noise=2.0, random_state=0)
X, y, X_test, y_test = X[:500], y[:500], X[500:], y[500:]

neurons = Gaussian(length_scale=1.0)
model = KitchenSinksRegressor(neurons, n_neurons=500, random_state=0).fit(X, y)
alphas, estimates = model.cv_alphas_, model.cv_values_[0]
print(f"chosen: alpha {model.alpha_:.1e}")

# %%
# Fit at each alpha
# -----------------
#
# To check the estimate, fit a model with each ``alpha``, and measure its error on 10,000 new rows.
# The same seed draws the same neurons.

train_errors, test_errors = [], []
for alpha in alphas:
    fixed = KitchenSinksRegressor(neurons, n_neurons=500, alpha=float(alpha), random_state=0)
    fixed.fit(X, y)
    train_errors.append(mean_squared_error(y, fixed.predict(X)))
    test_errors.append(mean_squared_error(y_test, fixed.predict(X_test)))

fig, ax = plt.subplots(figsize=(6.4, 4))
ax.plot(alphas, train_errors, color="0.6", label="training rows")
ax.plot(alphas, estimates, "o-", color="C0", label="leaving out each row, in one fit")
ax.plot(alphas, test_errors, color="C1", label="new rows")
ax.axhline(2.0**2, color="k", linestyle=":", linewidth=1)
ax.annotate("noise", (alphas[-1], 4.3), ha="right")
ax.axvline(model.alpha_, color="C0", linestyle="--", linewidth=1)
ax.annotate("chosen alpha ", (model.alpha_, 16), ha="right", color="C0")
ax.set(xscale="log", xlabel="alpha", ylabel="mean squared error", ylim=(0, 29))
fig.legend(loc="outside upper center", ncols=3)
plt.show()

at = np.searchsorted(alphas, model.alpha_ * 0.999)
print(f"error on new rows at the chosen alpha: {test_errors[at]:.2f}")
print(f"error on new rows at the best alpha:   {min(test_errors):.2f}")

# %%
# Where ``alpha`` is too small, the model learns the noise: the error on training rows goes to 0,
# and the error on new rows rises. Where ``alpha`` is too large, the function is too flat. Far to
# the left cross-validation is too optimistic, but its minimum is right.
#
# What to try next
# ----------------
#
# - :doc:`/explanation/alpha` explains what ``alpha`` means and how it is chosen.
# - :doc:`/guides/tune` says which other parameters are worth your time.
# - :ref:`sphx_glr_gallery_error_bars_of_a_chirp.py` uses the same learner to predict error bars.
