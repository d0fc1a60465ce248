"""
Six kernels and their estimates
===============================

Each family of neurons has a kernel. Here 200 drawn neurons estimate six of them, with a band of two
standard errors. The dashed line is the exact kernel. A learner never needs that line, because it
only draws neurons.
"""

# %%
# Draw the neurons
# ----------------
#
# A kernel says how alike two inputs are. Here the first input is 0, and the second moves from -3 to
# 3. :class:`trickless.inspection.KernelDisplay` takes the first row of ``X`` as the first input.

import matplotlib.pyplot as plt
import numpy as np

from trickless.inspection import KernelDisplay, estimate_kernel
from trickless.neurons import Dense, Gaussian, Laplace, Matern, Stumps, Trees

plt.style.use("trickless.style")

X = np.append(0.0, np.linspace(-3, 3, 241))[:, None]
families = {
    "Gaussian": Gaussian(length_scale=1.0),
    "Matern": Matern(length_scale=1.0),
    "Laplace": Laplace(length_scale=1.0),
    "Stumps": Stumps(),
    "Trees of 3 cuts": Trees(depth=3),
    "Dense, sign": Dense("sign"),
}

fig, axes = plt.subplots(2, 3, figsize=(8, 4.6), sharex=True, sharey=True)
for number, (ax, (name, neurons)) in enumerate(zip(axes.flat, families.items(), strict=True)):
    display = KernelDisplay.from_neurons(
        neurons, X, n_neurons=200, random_state=0, ax=ax, name="200 neurons", color=f"C{number}"
    )
    ax.set(title=name, xlabel="", ylabel="", ylim=(-0.3, 1.1))
    ax.get_legend().remove()
    inside = np.abs(display.mean - display.exact) <= 2 * display.standard_error + 1e-12
    print(f"{name:<16} exact kernel inside the band at {inside.mean():4.0%} of the points")
axes[0, 0].legend(loc="lower center")
fig.supxlabel("second input x', while x = 0", fontsize=10)
fig.supylabel("kernel k(x, x')", fontsize=10)
plt.show()

# %%
# All points of a curve share the same 200 neurons, so a curve that leaves its band leaves it over a
# whole stretch, as the sign of a dense unit does here.
#
# The shapes tell what a family can learn easily. The Gaussian kernel is smooth, so its functions
# are smooth too. Stumps and trees cut the axis at random, and their kernels have a tip.
#
# More neurons, narrower bands
# ----------------------------
#
# The standard error falls with the square root of the number of neurons. Four times the neurons
# halve it, whatever the family and the number of features.

for n_neurons in (200, 800, 3200):
    mean, error = estimate_kernel(Gaussian(1.0), X[:1], X, n_neurons, random_state=0)
    print(f"{n_neurons:>5} neurons: mean standard error {error.mean():.4f}")

# %%
# What to try next
# ----------------
#
# - :doc:`/guides/choose-neurons` says which family suits which data.
# - :doc:`/explanation/idea` explains why a weighted sum of neurons is a kernel machine.
# - :class:`trickless.inspection.KernelDisplay` also plots kernels without a formula. Try
#   ``Dense("tanh")``, or the family that you write in :doc:`/guides/write-a-neuron`.
