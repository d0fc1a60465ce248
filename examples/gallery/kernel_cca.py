"""
Kernel canonical correlation
============================

Two views of the same rows share one hidden number, but no straight line relates them. Linear CCA
finds little in common. CCA on random features finds it, as the picture shows on new rows.
"""

# %%
# Two views
# ---------
#
# The hidden number is an angle. The first view is a noisy position on the circle. The second view
# has a column with a wave of the angle, and two columns of noise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import CCA

from trickless import RandomFeatures

plt.style.use("trickless.style")
N_ROWS = 4000

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, N_ROWS)
A = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((N_ROWS, 2))
B = np.column_stack([np.sin(2 * angle), *rng.standard_normal((2, N_ROWS))])
B += 0.1 * rng.standard_normal(B.shape)
train, test = np.split(np.arange(N_ROWS), 2)

# %%
# CCA of the columns and of random features
# -----------------------------------------
#
# CCA looks for one combination of the columns of each view, so that the two correlate most. It has
# no regularisation, so we draw only 40 neurons for each view. With many more columns it would find
# chance correlations of the training rows.

features = RandomFeatures(n_neurons=40, random_state=0)
views = {
    "CCA of the columns": (A, B),
    "CCA of random features": (features.fit_transform(A), features.fit_transform(B)),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.1))
for ax, (name, (of_a, of_b)) in zip(axes, views.items(), strict=True):
    model = CCA(1, max_iter=2000).fit(of_a[train], of_b[train])
    a, b = (variate[:, 0] / variate.std() for variate in model.transform(of_a[test], of_b[test]))
    r = np.corrcoef(a, b)[0, 1]
    dots = ax.scatter(a, b, c=np.sin(2 * angle[test]), s=9, vmin=-1, vmax=1)
    ax.set(title=f"{name}: r = {r:.2f}", xlabel="variate of the first view")
    print(f"{name:<24}correlation {r:.2f} on new rows")
axes[0].set_ylabel("variate of the second view")
fig.colorbar(dots, ax=axes, label="sin(2 × hidden angle)", ticks=[-1, 0, 1])
plt.show()

# %%
# What to try next
# ----------------
#
# - Test whether two views depend on each other at all, with :func:`trickless.inference.hsic_test`.
#   The example :ref:`sphx_glr_gallery_independence_of_columns.py` does so.
# - More methods on random features: :doc:`/guides/features`.
