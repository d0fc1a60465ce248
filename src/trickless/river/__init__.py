"""Estimators in River's interface: rows are dictionaries that come one by one.

They work in River's pipelines, with its metrics, ``progressive_val_score`` and drift detectors.

- ``RiverClassifier``, ``RiverRegressor``: machines of several half-lives, whose
  weights follow the stream.
- ``RiverFeatures``: a transformer for River's linear models.
"""

from trickless.neurons.foreign import library

library("trickless.river", "river", "river")

from trickless.river.classifier import RiverClassifier  # noqa: E402
from trickless.river.features import RiverFeatures  # noqa: E402
from trickless.river.regressor import RiverRegressor  # noqa: E402

__all__ = ["RiverClassifier", "RiverFeatures", "RiverRegressor"]
