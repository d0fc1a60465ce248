"""
Which columns of a table depend on each other?
==============================================

``hsic_test`` tests whether two columns are independent, for numbers and categories alike. The map
shows all pairs of columns of a census table. It finds dependence of any shape, where a correlation
sees only straight lines between numbers.
"""

# %%
# A census table with numbers and categories
# ------------------------------------------
#
# Adult has 5 columns of numbers, 8 of categories, and the class to predict. We use 1,000 rows. As a
# control we add a column that depends on nothing: the ages in random order.
#
# The module ``data`` is a file of the project's ``benchmarks`` folder. Run the example from a
# checkout with ``PYTHONPATH=benchmarks``. It downloads the data once.

import itertools

import matplotlib.pyplot as plt
import numpy as np

import data
from trickless.inference import hsic_test

plt.style.use("trickless.style")

X, y, _, _ = data.adult_table()
X["salary > 50K"] = y
X = X.sample(1000, random_state=0).reset_index(drop=True)
X["age, shuffled"] = X["age"].sample(frac=1, random_state=1).to_numpy()
print(X.iloc[0])

# %%
# Test all pairs
# --------------
#
# ``"tabular"`` neurons read numbers by their ranks and categories by their names, so nothing has to
# be encoded. ``method="asymptotic"`` gives p-values without permutations, and they can be tiny. We
# need tiny ones: with 105 pairs, Bonferroni's rule asks for a p-value below 0.05 / 105.

names = list(X)
columns = {name: X[[name]] for name in names}
options = {"n_neurons": 100, "method": "asymptotic", "random_state": 0}
hsic = np.zeros((len(names), len(names)))
pvalue = np.full(hsic.shape, np.nan)
for i, j in itertools.combinations_with_replacement(range(len(names)), 2):
    result = hsic_test(columns[names[i]], columns[names[j]], "tabular", "tabular", **options)
    hsic[j, i], pvalue[j, i] = result.statistic, result.pvalue

# %%
# Draw the map
# ------------
#
# A large statistic can also come from columns that vary much. We therefore divide by the statistics
# of each column with itself, as a correlation divides by standard deviations. The root makes small
# values visible. A cross marks pairs for which independence is not rejected.

scale = np.sqrt(np.diag(hsic))
strength = np.sqrt(np.maximum(hsic, 0) / np.outer(scale, scale))[1:, :-1]
strength[np.triu_indices(len(strength), 1)] = np.nan
n_pairs = len(names) * (len(names) - 1) // 2
accepted = (pvalue > 0.05 / n_pairs)[1:, :-1]

fig, ax = plt.subplots(figsize=(7.2, 6))
image = ax.imshow(strength, cmap="viridis_r", vmin=0, vmax=1)
rows, places = np.nonzero(accepted & ~np.isnan(strength))
ax.plot(places, rows, "x", color="0.35", markersize=5)
ax.set(title="Dependence of columns", xticks=range(len(names) - 1), yticks=range(len(names) - 1))
ax.set_xticklabels(names[:-1], rotation=45, ha="right", rotation_mode="anchor")
ax.set_yticklabels(names[1:])
ax.grid(False)
ax.spines[:].set_visible(False)
fig.colorbar(image, label="strength: 0 is independent, 1 is a column with itself", shrink=0.8)
plt.show()

print(f"{len(rows)} of {n_pairs} pairs could be independent")
control = pvalue[-1, :-1]
print(f"the control has p-values from {control.min():.2g} to {control.max():.2g}")

# %%
# Dependence without correlation
# ------------------------------
#
# Age and hours of work show why a correlation is not enough. People work most in the middle of
# their lives, so the curve rises and falls.

middle = X.groupby(X["age"] // 5 * 5 + 2.5)["hours-per-week"]
mean, error = middle.mean(), middle.std() / np.sqrt(middle.count())
keep = middle.count() >= 10
r = np.corrcoef(X["age"], X["hours-per-week"])[0, 1]
p = pvalue[names.index("hours-per-week"), names.index("age")]

fig, ax = plt.subplots()
ax.plot(X["age"], X["hours-per-week"], ".", color="0.7", label="people")
ax.errorbar(mean.index[keep], mean[keep], 2 * error[keep], fmt="o-", capsize=3, label="mean ± 2 SE")
ax.set(title=f"Correlation {r:.2f}, p-value of hsic_test {p:.0e}")
ax.set(xlabel="age", ylabel="hours of work a week")
ax.legend()
plt.show()

# %%
# What to try next
# ----------------
#
# - Test parts of several columns: pass data frames, as in :doc:`/guides/test-hypotheses`.
# - The example :ref:`sphx_glr_gallery_two_sample_test.py` compares two samples instead.
# - Predict the salary: :ref:`sphx_glr_gallery_a_table_with_categories.py`.
