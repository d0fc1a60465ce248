"""
Four parts merge into one model
===============================

Four machines each fit a model to their own rows, and ``merge`` adds the models. You do not have to
gather the rows in one place. The result equals one fit to all rows, up to rounding.
"""

# %%
# Four machines
# -------------
#
# Each machine fits :class:`trickless.KitchenSinksRegressor` to its part. All use the same integer
# ``random_state``, so they draw the same neurons. The length scale is given, because one estimated
# from the rows would differ between parts.

from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

plt.style.use("trickless.style")
N_PARTS, N_ROWS = 4, 300

X, y = make_friedman1(N_PARTS * N_ROWS, noise=1.0, random_state=0)
X_test, y_test = make_friedman1(5000, noise=0.0, random_state=1)
part = np.arange(len(y)) % N_PARTS


def new_model():
    return KitchenSinksRegressor(Gaussian(length_scale=1.0), n_neurons=300, random_state=0)


machines = [new_model().fit(X[part == k], y[part == k]) for k in range(N_PARTS)]
at_once = new_model().fit(X, y)

# %%
# Add them up
# -----------
#
# ``merge`` adds another model to this one, so we begin with a copy of the first machine's model.
# After each step we measure the error against the true function.

merged = deepcopy(machines[0])
errors = [np.sqrt(np.mean((merged.predict(X_test) - y_test) ** 2))]
for machine in machines[1:]:
    merged.merge(machine)
    errors.append(np.sqrt(np.mean((merged.predict(X_test) - y_test) ** 2)))
alone = [np.sqrt(np.mean((m.predict(X_test) - y_test) ** 2)) for m in machines]
error_at_once = np.sqrt(np.mean((at_once.predict(X_test) - y_test) ** 2))

fig, (ax, beside) = plt.subplots(1, 2, figsize=(9, 4))
ax.plot(np.ones(N_PARTS), alone, "o", color="0.5", markersize=6, label="each machine alone")
ax.plot(range(1, N_PARTS + 1), errors, "o-", markersize=7, label="merged so far")
ax.axhline(error_at_once, color="C1", linestyle="--", label="one fit to all rows")
ax.set(title="The error falls with each part", xlabel="parts merged", ylabel="error (RMSE)")
ax.set(xticks=range(1, N_PARTS + 1), ylim=(0, None))
ax.legend(loc="lower left")

coef, coef_at_once = merged.neuron_coef_.ravel(), at_once.neuron_coef_.ravel()
size = np.abs(coef_at_once).max()
limits = [-size, size]
beside.plot(limits, limits, color="0.6", linewidth=1)
beside.plot(coef_at_once, coef, ".", markersize=5)
beside.set(title="600 coefficients", xlabel="one fit to all rows", ylabel="four parts, merged")
beside.set_aspect("equal")
difference = np.abs(coef - coef_at_once).max() / size
beside.text(0.05, 0.92, f"largest difference: {difference:.0e}", transform=beside.transAxes)
plt.show()

print(f"largest difference of the coefficients: {difference:.0e} of the largest coefficient")
print(f"alpha: {merged.alpha_:.3g} merged, {at_once.alpha_:.3g} at once")

# %%
# The machines also chose ``alpha`` together. A random sample of the rows is kept beside the sums,
# and its rows are left out of the sums of all rows one by one.
#
# Why it works
# ------------
#
# Kitchen Sinks keeps sums over rows: of products of activations, and of their products with the
# targets. Sums of parts add up to the sum of the whole. The solution depends on these sums alone.
#
# A whole model still holds some rows: see ``SECURITY.md`` in the source code. Keep this in mind if
# rows are confidential.

# %%
# What to try next
# ----------------
#
# - Let Dask do this on a cluster: :doc:`/guides/dask`.
# - Rows that come later: :ref:`sphx_glr_gallery_stream.py`.
# - How the sums are solved: :doc:`/explanation/kitchen-sinks`.
