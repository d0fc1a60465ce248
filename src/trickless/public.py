"""What ``trickless`` itself exports, each name imported when it is first used."""

from trickless.files.format import load, save
from trickless.learners.boosted_trees import BoostedTreesClassifier, BoostedTreesRegressor
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.learners.random_features import RandomFeatures
from trickless.learners.shrinking_gradient import (
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.learners.streaming_scaler import StreamingScaler
from trickless.stack.auto import AutoClassifier, AutoRegressor

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "BoostedTreesClassifier",
    "BoostedTreesRegressor",
    "DoublyStochasticClassifier",
    "DoublyStochasticRegressor",
    "KitchenSinksClassifier",
    "KitchenSinksRegressor",
    "RandomFeatures",
    "ShrinkingGradientClassifier",
    "ShrinkingGradientRegressor",
    "StreamingScaler",
    "load",
    "save",
]
