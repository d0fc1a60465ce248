"""
Do two samples of images differ?
================================

``mmd_test`` compares two samples through the mean activations of random neurons. Here the samples
are handwritten digits. Threes against threes give a statistic near zero, whereas threes against
eights give a far larger one, even with 20 images of each.
"""

# %%
# One test
# --------
#
# The images come from MNIST. The module ``data`` is a file of the project's ``benchmarks`` folder.
# Run the example from a checkout with ``PYTHONPATH=benchmarks``. It downloads the data once.
#
# MNIST is sorted by writer in part, so we shuffle it first. The p-value comes from 999 permutations
# of the labels of the rows, so 0.001 is the smallest possible one.

import matplotlib.pyplot as plt
import numpy as np

import data
from trickless.inference import mmd_test

plt.style.use("trickless.style")
rng = np.random.default_rng(0)

_, _, X, digit = data.mnist()
order = rng.permutation(len(X))
X, digit = X[order], digit[order]
threes, eights = X[digit == 3], X[digit == 8]
print(mmd_test(threes[:50], eights[:50], random_state=0))
print(mmd_test(threes[:50], threes[50:100], random_state=0))

# %%
# The statistic with and without a difference
# -------------------------------------------
#
# We repeat the comparison with 100 fresh pairs of samples, and look at the statistics. One
# permutation suffices, since we ignore the p-values. If both samples are threes, the statistic
# scatters about zero, because it is unbiased. The histograms do not overlap.

N_PAIRS, N_IMAGES = 100, 20
statistics = {"threes and threes": [], "threes and eights": []}
for pair in range(N_PAIRS):
    first, second = threes[rng.choice(len(threes), (2, N_IMAGES), replace=False)]
    other = eights[rng.choice(len(eights), N_IMAGES, replace=False)]
    for name, sample in zip(statistics, (second, other), strict=True):
        result = mmd_test(first, sample, n_neurons=200, n_permutations=1, random_state=pair)
        statistics[name].append(result.statistic)

fig, ax = plt.subplots()
bins = np.linspace(np.min(list(statistics.values())), np.max(list(statistics.values())), 50)
for name, values in statistics.items():
    ax.hist(values, bins, alpha=0.8, label=name)
ax.axvline(0, color="black", linewidth=1)
ax.set(title="MMD² of 20 images and 20 others", xlabel="statistic", ylabel="pairs of samples")
ax.legend(loc="upper right")
plt.show()

# %%
# How many images does a small difference need?
# ---------------------------------------------
#
# Now the second sample has mostly threes, and a share of eights. We draw 12 pairs of samples for
# each size, and show the median p-value. The bands hold the middle half of the p-values. With 80
# images, a share of 40 % is found nearly always. A share of 20 % needs about 160. Without eights
# the p-values stay high.

sizes, n_repeats = [20, 40, 80, 160], 12
fig, ax = plt.subplots()
for share, marker in ((0.0, "o"), (0.2, "s"), (0.4, "^")):
    pvalues = np.empty((len(sizes), n_repeats))
    for row, n in enumerate(sizes):
        for pair in range(n_repeats):
            first, second = threes[rng.choice(len(threes), (2, n), replace=False)]
            n_eights = int(share * n)
            second[:n_eights] = eights[rng.choice(len(eights), n_eights, replace=False)]
            result = mmd_test(first, second, n_permutations=199, n_neurons=200, random_state=pair)
            pvalues[row, pair] = result.pvalue
    low, median, high = np.quantile(pvalues, [0.25, 0.5, 0.75], axis=1)
    (line,) = ax.plot(sizes, median, marker + "-", label=f"{share:.0%} eights")
    ax.fill_between(sizes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
ax.axhline(0.05, color="0.4", linestyle="--", linewidth=1, label="p = 5 %")
ax.set(xscale="log", yscale="log", xlabel="images of each sample", ylabel="p-value", xticks=sizes)
ax.set_xticks([], minor=True)
ax.set_xticklabels(sizes)
ax.set_title("A small difference needs more images")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %%
# Which digits are alike?
# -----------------------
#
# The statistic estimates a squared distance of two distributions, so we can compare all pairs of
# digits. Fours and nines are the most alike, then fives and eights.

samples = [X[digit == d][:200] for d in range(10)]
distance = np.full((10, 10), np.nan)
for i in range(10):
    for j in range(i):
        result = mmd_test(samples[i], samples[j], n_permutations=1, random_state=0)
        distance[i, j] = result.statistic

fig, ax = plt.subplots(figsize=(5.2, 4.4))
image = ax.imshow(distance[1:, :9], cmap="viridis_r")
for i, j in zip(*np.nonzero(distance[1:, :9] > 0), strict=True):
    dark = distance[i + 1, j] > np.nanmean(distance)
    text = f"{100 * distance[i + 1, j]:.0f}"
    ax.text(j, i, text, ha="center", va="center", color="w" if dark else "k", fontsize=8)
ax.set(title="100 × MMD² of digits", xlabel="digit", ylabel="digit")
ax.set(xticks=range(9), yticks=range(9), yticklabels=range(1, 10))
ax.grid(False)
fig.colorbar(image, label="MMD²")
plt.show()

nearest = np.argsort(distance, axis=None)[:2]
print([tuple(map(int, divmod(place, 10))) for place in nearest], "are the most alike")

# %%
# What to try next
# ----------------
#
# - The example :ref:`sphx_glr_gallery_independence_of_columns.py` tests columns of a data frame.
# - Read what the tests promise: :doc:`/guides/test-hypotheses`.
# - Pass ``Patches((28, 28), patch=7)`` as the third argument, to compare images by their patches.
