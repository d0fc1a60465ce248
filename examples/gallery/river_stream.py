"""A kernel learned online in a pipeline of River, a row at a time, beside River's own sampler.

River wraps any estimator that has ``partial_fit`` (``river.compat.convert_sklearn_to_river``), and
the stochastic learners have it, so nothing has to be adapted. Shrinking Gradient suits rows that
come singly: ``batch_size=1`` is a round of the paper, and ``max_support`` bounds its memory.
``n_neurons`` is small, since the network that predicts is drawn anew after each row.
For Kitchen Sinks learn in batches instead (``learn_many``): they solve for all weights after each.

River's ``RBFSampler`` makes cosines of each input by itself, so that a linear model on them cannot
tell where two inputs act together, as in the bananas here.

Run as ``python examples/river_stream.py``; needs ``pip install river``.
"""

import time

from river import (
    compat,
    datasets,
    evaluate,
    feature_extraction,
    linear_model,
    metrics,
    optim,
    preprocessing,
)

from trickless import DoublyStochasticClassifier, ShrinkingGradientClassifier
from trickless.neurons import Gaussian

ROWS = 3000


def wrapped(model):
    """A learner behind River's scaler and interface."""
    return preprocessing.StandardScaler() | compat.convert_sklearn_to_river(
        model, classes=[False, True]
    )


def pipelines():
    """Ours and River's, by name."""
    neurons, once = Gaussian(length_scale=0.5), {"random_state": 0, "n_jobs": 1, "batch_size": 1}
    shrinking = ShrinkingGradientClassifier(
        neurons, n_neurons=500, n_samples=200, max_support=500, **once
    )
    stochastic = DoublyStochasticClassifier(
        neurons, n_neurons=4 * ROWS, neurons_per_step=4, step_size=1.0, **once
    )
    logistic = linear_model.LogisticRegression
    return {
        "Shrinking Gradient": wrapped(shrinking),
        "Doubly Stochastic": wrapped(stochastic),
        "RBFSampler, logistic": (
            preprocessing.StandardScaler()
            | feature_extraction.RBFSampler(gamma=2.0, n_components=200, seed=0)
            | logistic(optimizer=optim.SGD(0.05))
        ),
        "logistic": preprocessing.StandardScaler() | logistic(),
    }


def main():
    """Print the accuracy of each, where every row is predicted before it is learned."""
    for name, pipeline in pipelines().items():
        start = time.perf_counter()
        rows = datasets.Bananas().take(ROWS)
        accuracy = evaluate.progressive_val_score(rows, pipeline, metrics.Accuracy())
        print(f"{name:<22}{accuracy}  {time.perf_counter() - start:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
