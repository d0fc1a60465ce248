"""What ``trickless`` itself exports, each name imported when it is first used."""

from trickless._files.format import load, save
from trickless._learners.boosted_trees import BoostedTreesClassifier, BoostedTreesRegressor
from trickless._learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless._learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._learners.random_features import RandomFeatures
from trickless._learners.shrinking_gradient import (
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless._learners.streaming_scaler import StreamingScaler
from trickless._stack.auto import AutoClassifier, AutoRegressor

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
