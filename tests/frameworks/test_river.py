"""Learners in pipelines of River."""

import pytest
from river import compat, datasets, evaluate, linear_model, metrics, preprocessing

from trickless import DoublyStochasticClassifier, ShrinkingGradientClassifier
from trickless.neurons import Gaussian

ROWS = 400
OPTIONS = {"random_state": 0, "n_jobs": 1, "batch_size": 1}
LEARNERS = [
    ShrinkingGradientClassifier(Gaussian(0.5), n_neurons=300, n_draws=100, **OPTIONS),
    DoublyStochasticClassifier(
        Gaussian(0.5), n_neurons=4 * ROWS, neurons_per_step=4, step_size=1.0, **OPTIONS
    ),
]


def accuracy(learner):
    """Of each row before it is learned."""
    pipeline = preprocessing.StandardScaler() | learner
    rows = datasets.Bananas().take(ROWS)
    return evaluate.progressive_val_score(rows, pipeline, metrics.Accuracy()).get()


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_curved_classes_are_learned_a_row_at_a_time(learner):
    ours = accuracy(compat.convert_sklearn_to_river(learner, classes=[False, True]))
    linear = accuracy(linear_model.LogisticRegression())
    assert ours > linear + 0.10  # of 400 rows: four standard errors
