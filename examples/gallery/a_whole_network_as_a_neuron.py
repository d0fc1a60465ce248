"""
A whole convolutional network as a neuron
=========================================

Anything that can be drawn at random and evaluated on an input can be a neuron. Here each neuron is
a torch module with two convolutions, poolings and a dense layer. No layer is trained, and nobody
knows the kernel. All three learners read digits with these networks.
"""

# %%
# The network
# -----------
#
# Torch itself initialises the weights. The normalisations take the mean off the rectified
# values, which would otherwise look nearly the same for all images. The network returns one number,
# and :class:`trickless.neurons.FromTorch` takes its tanh, which is at most 1. One neuron has 433
# random weights, of which none is learned, and one coefficient for each digit.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from trickless import (
    DoublyStochasticClassifier,
    KitchenSinksClassifier,
    ShrinkingGradientClassifier,
)
from trickless.inspection import estimate_kernel
from trickless.neurons import FromTorch

plt.style.use("trickless.style")


def network():
    return nn.Sequential(
        nn.Conv2d(1, 4, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.InstanceNorm2d(4),
        nn.Conv2d(4, 8, 3, padding=1),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.LayerNorm(32, elementwise_affine=False),
        nn.Linear(32, 1),
    )


neurons = FromTorch(network, input_shape=(1, 8, 8))

# %%
# Its kernel
# ----------
#
# The kernel of this family has no formula, but networks give an estimate and its standard error.
# Images of the same digit are alike, although no network has seen a label.

X, y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)  # the precision of the learners
some = np.concatenate([np.flatnonzero(y == digit)[:4] for digit in range(10)])
kernel, error = estimate_kernel(neurons, X[some], n_neurons=256, random_state=0)
print(f"standard error: {error.max():.3f} at most")

fig, ax = plt.subplots(figsize=(5.4, 4.6))
image = ax.imshow(kernel, cmap="magma")
ax.set(title="Kernel of random networks", xticks=range(2, 40, 4), yticks=range(2, 40, 4))
ax.set_xticklabels(range(10))
ax.set_yticklabels(range(10))
ax.set(xlabel="digit", ylabel="digit")
ax.grid(False)
fig.colorbar(image, label="kernel")
plt.show()

# %%
# Three learners
# --------------
#
# Kitchen Sinks draws the networks and solves for their coefficients. Doubly Stochastic Gradients
# draws a block of them in each step. Shrinking Gradient draws new ones in every round, and throws
# them away. For the test it is frozen into fresh networks, and needs more of them for the same
# error.

train, test, y_train, y_test = train_test_split(X, y, train_size=300, test_size=600, random_state=0)
sizes = (16, 32, 64, 128)
errors = {"Kitchen Sinks": [], "Doubly Stochastic": [], "Shrinking Gradient": []}

rounds = ShrinkingGradientClassifier(
    neurons, max(sizes), n_draws=32, norm_bound=3.0, estimate="full", random_state=0
).fit(train, y_train)
for size in sizes:
    solved = KitchenSinksClassifier(neurons, size, random_state=0)
    steps = DoublyStochasticClassifier(
        neurons, size, schedule="block", neurons_per_step=16, random_state=0
    )
    for name, model in (("Kitchen Sinks", solved), ("Doubly Stochastic", steps)):
        errors[name].append(1 - model.fit(train, y_train).score(test, y_test))
    values = rounds.freeze(size, random_state=0)(test)
    predicted = rounds.classes_[values.argmax(axis=1)]
    errors["Shrinking Gradient"].append(np.mean(predicted != y_test))

fig, ax = plt.subplots(figsize=(6, 4))
for marker, (name, some) in zip("os^", errors.items(), strict=True):
    ax.plot(sizes, 100 * np.array(some), marker=marker, label=name)
    print(f"{name:<20}", *(f"{one:7.1%}" for one in some))
ax.set(title="Test error", xlabel="random networks", ylabel="misclassified, %", xscale="log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set_ylim(0, None)
ax.legend()
plt.show()

# %%
# What to try next
# ----------------
#
# - Let the dense layer return eight numbers, ``nn.Linear(32, 8)``. They cost next to nothing more,
#   and each gets a coefficient.
# - :doc:`/guides/write-a-neuron` has what a family must promise.
# - :doc:`/benchmarks/neurons` compares networks with other neurons on MNIST.
