"""Learning from Dask arrays and data frames, on one machine or many.

``fit`` takes an ordinary estimator and gives it back fitted, as its own ``fit`` would on all the
rows at once: it pickles, saves and predicts without Dask. ``predict`` lets any fitted model answer
for the rows of a collection, lazily.

====================  =========================================================================
Kitchen Sinks         one pass: statistics of each chunk, where it is, added up in a tree
Doubly Stochastic     rows stay where they are, with f at them; neurons come from a seed; what
                      travels in a step is its coefficients, and sums over its batch
====================  =========================================================================

Everything is a pure function of what it is given, so a worker that dies costs time and nothing
else: Dask computes again what was lost with it.

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

from trickless.dask import doubly_stochastic, kitchen_sinks  # noqa: E402, F401
from trickless.dask.fitting import fit  # noqa: E402
from trickless.dask.prediction import predict  # noqa: E402

__all__ = ["fit", "predict"]
