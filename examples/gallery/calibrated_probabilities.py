"""
Probabilities that mean what they say
=====================================

Of all people with a predicted probability of 30 %, about 30 % should have the class. The built-in
probabilities of a Kitchen Sinks model are calibrated in this sense, from one fit. scikit-learn's
``CalibratedClassifierCV`` takes three more fits, and its log loss is about the same here or larger.
"""

# %%
# Fit with and without calibration
# --------------------------------
#
# The data are 8,000 people of the Adult census. The module ``data`` is a file of the project's
# ``benchmarks`` folder. Run the example from a checkout with ``PYTHONPATH=benchmarks``. It
# downloads the data once.
#
# For contrast, the fourth model puts its decision values into a logistic function without learning
# a scale.

import time

import matplotlib.pyplot as plt
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.metrics import log_loss

import data
from trickless import KitchenSinksClassifier

plt.style.use("trickless.style")

X, y, X_test, y_test = data.adult()
X, y = X[:8000], y[:8000]

model = KitchenSinksClassifier(n_neurons=500, random_state=0)
models = {
    "built in": model,
    "CalibratedClassifierCV, sigmoid": CalibratedClassifierCV(model, cv=3, ensemble=False),
    "CalibratedClassifierCV, isotonic": CalibratedClassifierCV(
        model, method="isotonic", cv=3, ensemble=False
    ),
}
chances = {}
for name, classifier in models.items():
    start = time.perf_counter()
    classifier.fit(X, y)
    seconds = time.perf_counter() - start
    chances[name] = classifier.predict_proba(X_test)[:, 1]
    print(f"{name:<33} log loss {log_loss(y_test, chances[name]):.3f}, {seconds:.1f} s")
chances["no calibration"] = expit(model.fit(X, y).decision_function(X_test))
print(f"{'no calibration':<33} log loss {log_loss(y_test, chances['no calibration']):.3f}")

# %%
# The reliability diagram
# -----------------------
#
# scikit-learn's :class:`~sklearn.calibration.CalibrationDisplay` puts the test rows into bins by
# their predicted probability. A calibrated model lies on the diagonal.

fig, ax = plt.subplots(figsize=(6, 4.8))
for (name, chance), marker in zip(chances.items(), "osD^", strict=True):
    CalibrationDisplay.from_predictions(
        y_test, chance, n_bins=12, strategy="quantile", name=name, ax=ax, marker=marker
    )
ax.set(xlabel="predicted probability", ylabel="share of people who earn more")
ax.legend(loc="upper left")
plt.show()

# %%
# The decision values alone are too cautious: the bins stay between 0.2 and 0.7. The other three
# models stay near the diagonal. The isotonic staircase follows it well, but it predicts some
# probabilities of 0 or 1. Where such a prediction is wrong, the log loss is large.
#
# What to try next
# ----------------
#
# - ``KitchenSinksClassifier(loss="log_loss")`` minimises the log loss itself. See
#   :class:`trickless.KitchenSinksClassifier`.
# - :doc:`/guides/error-bars` shows error bars of regression.
# - :doc:`/guides/weights` explains weights of rows and classes.
