"""
Find waves in series
====================

Heartbeats have waves at changing times. Some are cut short, and some have gaps. Random convolutions
tell three kinds of beats apart, and the picture shows where in a series the model looks.
"""

# %%
# Make beats
# ----------
#
# A pulse begins at a random time. After it comes a wave, which is upright, upside down or late.

import matplotlib.pyplot as plt
import numpy as np

from trickless import KitchenSinksClassifier
from trickless.inference import mmd_test
from trickless.inspection import occlusion_importance
from trickless.neurons import Convolutions, Gaussian

plt.style.use("trickless.style")
KINDS = "upright", "upside down", "late"


def beats(n, seed):
    rng, time = np.random.default_rng(seed), np.arange(150)
    kind, start = rng.integers(3, size=n), rng.uniform(20, 60, n)
    wave = start + np.where(kind == 2, 45, 30)
    sign = np.where(kind == 1, -1, 1)
    X = 2 * np.exp(-(((time - start[:, None]) / 3) ** 2))
    X += 0.8 * sign[:, None] * np.exp(-(((time - wave[:, None]) / 6) ** 2))
    return X + 0.4 * rng.standard_normal((n, 150)), kind


def with_gaps(X, seed):
    """Return a list of series that end early, and have a gap of ten times."""
    rng, series = np.random.default_rng(seed), []
    for row in X:
        short = row[: rng.integers(130, 151)].copy()
        start = rng.integers(120)
        short[start : start + 10] = np.nan
        series.append(short)
    return series


X, y = beats(150, 0)
X_test, y_test = beats(600, 1)
X_gaps = with_gaps(X_test, 2)

# %%
# Learn them
# ----------
#
# :class:`~trickless.neurons.Convolutions` does not ask when a wave comes. Neurons that compare
# series time by time need far more series. Gaps need no preparation, neither at training nor at
# prediction.

model = KitchenSinksClassifier(Convolutions(), n_neurons=150, random_state=0).fit(X, y)
by_time = KitchenSinksClassifier(Gaussian(), n_neurons=1000, random_state=0).fit(X, y)
print(f"Convolutions: {model.score(X_test, y_test):.1%}")
print(f"Convolutions, with gaps: {model.score(X_gaps, y_test):.1%}")
print(f"Gaussian: {by_time.score(X_test, y_test):.1%}")

# %%
# Probabilities say how sure the model is. Where a gap hides a wave, it is less sure.

for name, rows in (("complete", X_test), ("with gaps", X_gaps)):
    likely = model.predict_proba(rows).max(axis=1)
    print(f"{name}: {np.mean(likely > 0.9):.0%} of the series have a class of more than 90 %")

# %%
# See where it looks
# ------------------
#
# :func:`~trickless.inspection.occlusion_importance` hides a window of a series at a time, and says
# how much the answers of the model change. The model looks at the pulse and at the wave, whose
# distance and sign tell the kinds apart.

look = {"cmap": "Oranges", "vmin": 0, "vmax": 1.5, "extent": (-0.5, 149.5, -2, 3)}
fig, axes = plt.subplots(3, 2, figsize=(8, 5), sharex=True, sharey=True)
for kind, row in enumerate(axes):
    for axis, i in zip(row, np.flatnonzero(y_test == kind), strict=False):
        found = occlusion_importance(model, [X_gaps[i]], window_size=16)
        shades = axis.imshow(found, aspect="auto", alpha=0.8, **look)
        axis.plot(X_gaps[i], color="0.1", linewidth=1)
        chance = model.predict_proba([X_gaps[i]])[0, kind]
        axis.set_title(f"{KINDS[kind]}: probability {chance:.2f}", fontsize=10)
for axis in axes[-1]:
    axis.set_xlabel("time")
for axis in axes[:, 0]:
    axis.set_ylabel("value")
fig.colorbar(shades, ax=axes, label="importance")
plt.show()

# %%
# Test whether two samples differ
# -------------------------------
#
# :func:`~trickless.inference.mmd_test` compares samples of series, here of twenty beats each.

upright, late = X[y == 0], X[y == 2]
for name, one, other in (
    ("upright and upright", upright[:20], upright[20:40]),
    ("upright and late", upright[:20], late[:20]),
):
    print(f"{name}: p = {mmd_test(one, other, Convolutions(), 100, random_state=0).pvalue:.3f}")

# %%
# What to try next
# ----------------
#
# - Make the noise larger, and see how probabilities follow.
# - Pass several channels, as an array of the shape (series, channels, times).
# - :doc:`The guide to time series </guides/time-series>` has numbers as targets, intervals and
#   streams.
# - :doc:`The benchmark of time series </benchmarks/series>` compares accuracy and time with
#   MiniRocket, MultiRocket and Hydra.
