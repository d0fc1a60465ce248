"""Estimators in River's interface: rows are dictionaries that come one by one.

They work in River's pipelines, with its metrics, ``progressive_val_score`` and drift detectors.

- ``KitchenSinksClassifier``, ``KitchenSinksRegressor``: machines of several half-lives, whose
  weights follow the stream.
- ``RandomFeatures``: a transformer for River's linear models.
"""

from trickless.neurons.foreign import library

library("trickless.river", "river", "river")

from trickless.river.classifier import KitchenSinksClassifier  # noqa: E402
from trickless.river.random_features import RandomFeatures  # noqa: E402
from trickless.river.regressor import KitchenSinksRegressor  # noqa: E402

__all__ = ["KitchenSinksClassifier", "KitchenSinksRegressor", "RandomFeatures"]
