"""Learning from Dask arrays and data frames, on one machine or many.

``fit`` fits an ordinary estimator of Kitchen Sinks, like its own ``fit`` on all rows: in one pass,
each worker sums the statistics of its chunks, and the sums are added up. The fitted estimator can
be saved, and can predict without Dask. ``predict`` predicts the rows of a collection lazily, with
any fitted model.

All tasks are pure functions, so if a worker dies, Dask computes its results again, and only time is
lost.

Examples
--------
>>> import dask.array as da
>>> from trickless import KitchenSinksRegressor
>>> from trickless.dask import fit, predict
>>> X = da.random.default_rng(0).normal(size=(3000, 4), chunks=(1000, 4))
>>> y = X[:, 0] * X[:, 1]
>>> model = fit(KitchenSinksRegressor(n_neurons=100, random_state=0), X, y)
>>> model
KitchenSinksRegressor(n_neurons=100, random_state=0)
>>> predict(model, X).shape
(3000,)
>>> bool(((predict(model, X) - y) ** 2).mean() < 0.1 * y.var())
True
"""

from trickless.neurons.foreign import library

library("trickless.dask", "dask.array", "dask")

from trickless.dask.fitting import fit  # noqa: E402
from trickless.dask.prediction import predict  # noqa: E402

__all__ = ["fit", "predict"]
