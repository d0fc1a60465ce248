"""Models as ONNX graphs, alone and in scikit-learn's pipelines.

:func:`trickless.to_onnx` writes a model. After ``import trickless.onnx``, ``skl2onnx.to_onnx``
writes scikit-learn's pipelines that hold learners of this package, or
:class:`~trickless.RandomFeatures`. That needs the package skl2onnx.

A pipeline follows the conventions of skl2onnx: its values have the precision of its inputs, so pass
double precision if the targets are far from 0 and vary little.

Examples
--------
>>> import trickless.onnx
>>> from skl2onnx import to_onnx
>>> from sklearn.datasets import load_diabetes
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> from trickless import KitchenSinksRegressor
>>> X, y = load_diabetes(return_X_y=True)
>>> model = KitchenSinksRegressor(n_neurons=50, random_state=0)
>>> graph = to_onnx(make_pipeline(StandardScaler(), model).fit(X, y), X[:1])
>>> [output.name for output in graph.graph.output]
['variable']
"""

from importlib.util import find_spec

if find_spec("skl2onnx") is not None:
    from trickless.onnx.pipelines import register

    register()
