"""
2. Intervals
============

A prediction is more useful if you know how far it can be off. Kitchen Sinks predicts an interval
for each row. You plot it along one feature, and then check it on patients whom the model has not
seen.
"""

# %%
# Predict along one feature
# -------------------------
#
# The data are 442 patients with diabetes, and the target says how far the disease has progressed
# after a year. At first we use a single feature, the body mass index, so that a picture can show
# everything.
#
# ``predict_interval`` returns the lower and the upper end for each row. Nine of ten new targets
# should be inside, if you ask for a ``confidence`` of 0.9.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from trickless import KitchenSinksRegressor

plt.style.use("trickless.style")

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
bmi = X[["bmi"]].to_numpy()

model = KitchenSinksRegressor(random_state=0).fit(bmi, y)
grid = np.linspace(10, 55, 300)[:, None]
low, high = model.predict_interval(grid, confidence=0.9).T

fig, ax = plt.subplots()
ax.plot(bmi, y, ".", color="0.6", label="patients")
ax.fill_between(grid[:, 0], low, high, alpha=0.25, linewidth=0, label="90% interval")
ax.plot(grid, model.predict(grid), label="prediction")
ax.set(xlabel="body mass index", ylabel="progression of the disease", xlim=(10, 55))
ax.legend(loc="upper left")
plt.show()

# %%
# Read the band
# -------------
#
# The interval is made of the errors at the patients that the model has learned from, each left out
# in turn. It assumes nothing about the errors but that new patients are like these. It is about
# equally wide everywhere.
#
# The standard deviation of a new target, which ``return_std=True`` returns, answers another
# question. It is the sum of two parts. The first part is noise: patients with the same index differ
# from each other. The second part is what the model does not know. It is small where there are many
# patients and grows where there are none.

print(f"standard deviation of the noise: {np.sqrt(model.noise_variance_):.0f}")
for index in (25, 50):
    _, (deviation,) = model.predict([[index]], return_std=True)
    print(f"standard deviation of a new patient with an index of {index}: {deviation:.0f}")

# %%
# Check it on new patients
# ------------------------
#
# Now use all ten features. The default neurons compare rows by their distance, so the features need
# one scale, which a ``StandardScaler`` in a pipeline provides.
#
# A band of two standard deviations holds 95% of new targets only if errors are normal.
# ``predict_interval`` does not assume that. It uses the errors at the patients that the model has
# learned from, each left out in turn. We count how many new patients are inside.

from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, X_test, y, y_test = train_test_split(X, y, random_state=0)
model = make_pipeline(StandardScaler(), KitchenSinksRegressor(random_state=0)).fit(X, y)
scaled = model[:-1].transform(X_test)
low, high = model[-1].predict_interval(scaled, confidence=0.95).T
inside = (low <= y_test) & (y_test <= high)
print(f"R² = {model.score(X_test, y_test):.2f}")
print(f"{inside.mean():.0%} of {len(y_test)} new patients are inside their 95% interval")

# %%
# What to try next
# ----------------
#
# - The next part learns from a data frame: :ref:`sphx_glr_tutorial_3_a_table_with_categories.py`.
# - Classifiers have ``predict_proba`` and ``predict_set``. What each of these promises:
#   :doc:`/guides/error-bars`.
# - A gap in the data makes the band wide: :ref:`sphx_glr_gallery_error_bars_of_a_chirp.py`.
