"""JAX functions as neurons. Random parameters of a function are a draw of w."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from trickless._errors import InvalidTypeError
from trickless._rules import anything
from trickless.neurons.base import Weights
from trickless.neurons.foreign import NUMBERS_AT_ONCE, Foreign, library

#: Calls are padded to one of these numbers of rows, and draws to this number, so that JAX compiles
#: a function for a few shapes, and not for every number of rows and neurons.
_ROWS = (8, 64)
_DRAWS = 16
#: The most neurons in a call.
_NEURONS = 256


class FromJax(Foreign):
    r"""JAX functions as neurons: :math:`\psi(x; w)` is ``apply(w, x)``, and ``init`` draws w.

    .. math:: \psi(x; w) = \frac{b}{\sqrt{k}} \tanh(\text{apply}(w, x)) \in R^k

    The functions can be Flax, Equinox or Haiku networks, or written by hand. They are not trained:
    the learner only finds a coefficient for each of their outputs. JAX vectorises both functions
    over neurons and rows, and compiles them for two or three shapes in each precision.

    Parameters
    ----------
    init : callable
        Function ``init(key, x)`` that draws parameters from a JAX random key, for an example row x.
        The parameters can be any pytree of arrays. ``module.init`` of a Flax module is such a
        function.
    apply : callable
        Function ``apply(parameters, x)`` that returns an array for one row x of shape
        ``input_shape``. ``module.apply`` of a Flax module is such a function.

    See Also
    --------
    FromTorch : The same for torch.

    Notes
    -----
    Parameters are drawn in single precision, and evaluated in the precision of the learner. If the
    learner has ``dtype="float64"``, 64-bit numbers are switched on in JAX for these calls only. JAX
    uses its own threads, whatever ``n_jobs`` is.

    Compiling a convolutional network takes about a second. JAX keeps the compiled code for each
    pair of functions, and clones of an estimator share it if ``init`` and ``apply`` are plain
    functions. Bound methods such as ``module.init`` are copied with their module, and compiled
    again. You can pickle a learner if you can pickle both functions.

    With Equinox, parameters are the arrays of a module::

        static = eqx.filter(Net(jax.random.key(0)), eqx.is_array, inverse=True)
        FromJax(
            init=lambda key, x: eqx.filter(Net(key), eqx.is_array),
            apply=lambda parameters, x: eqx.combine(parameters, static)(x),
        )

    Examples
    --------
    >>> import jax
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import FromJax
    >>> def init(key, image):
    ...     return jax.random.normal(key, (3, 3))
    >>> def apply(pattern, image):
    ...     found = jax.scipy.signal.convolve2d(image, pattern, mode="valid")
    ...     return jax.nn.relu(found).reshape(2, 3, 2, 3).mean(axis=(1, 3))
    >>> X, y = load_digits(return_X_y=True)
    >>> neurons = FromJax(init, apply, input_shape=(8, 8))
    >>> model = KitchenSinksClassifier(neurons, n_neurons=150, random_state=0)
    >>> model.fit(X[:1000] / 16, y[:1000]).neurons_.width
    4
    >>> bool(model.score(X[1000:] / 16, y[1000:]) > 0.9)
    True
    """

    _rules = Foreign._rules | {
        "init": anything(
            "a function init(key, x)", "draw parameters from the key for one row x", callable
        ),
        "apply": anything(
            "a function apply(parameters, x)", "evaluate parameters on one row x", callable
        ),
    }
    _source = "take all randomness from the key that is passed to init"

    def __init__(
        self,
        init: Callable[[Any, Any], Any],
        apply: Callable[[Any, Any], Any],
        input_shape: tuple[int, ...] | None = None,
        squash: bool = True,
        bound: float = 1.0,
    ) -> None:
        self.init = init
        self.apply = apply
        self.input_shape = input_shape
        self.squash = squash
        self.bound = bound

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        keys = rng.integers(2**32, size=(n, 2), dtype=np.uint32)
        draw, _ = _compiled()
        parts = []
        with _jax().enable_x64(False):
            for start in range(0, n, _DRAWS):
                some = _padded(keys[start : start + _DRAWS], _DRAWS)
                leaves = draw(self.init, self._shape, some)
                parts.append([np.asarray(leaf)[: n - start] for leaf in leaves])
        arrays = [np.concatenate(leaves) for leaves in zip(*parts, strict=True)]
        return tuple(
            array.astype(np.float64) if array.dtype.kind == "f" else array for array in arrays
        )

    def _inspect(self) -> tuple[list[int], int]:
        jax = _jax()
        with jax.enable_x64(False):
            key, x = _example(np.zeros(2, np.uint32)), np.zeros(self._shape, np.float32)
            shapes = jax.make_jaxpr(self.apply)(jax.eval_shape(self.init, key, x), x)
        for out in shapes.out_avals:
            if np.dtype(out.dtype).kind == "c":
                raise InvalidTypeError(
                    f"FromJax: the function returns numbers of type {out.dtype}, but activations "
                    "must be real",
                    "return the real and the imaginary part, one after the other",
                )
        return [out.size for out in shapes.out_avals], max(1, _largest(shapes.jaxpr))

    def _evaluate(self, X: np.ndarray, weights: Weights, pairs: bool) -> np.ndarray:
        n, n_rows = len(weights[0]), X.shape[1 if pairs else 0]
        R = 1 if pairs else min((size for size in _ROWS if size >= n_rows), default=_ROWS[-1])
        N = min(_NEURONS, max(1, NUMBERS_AT_ONCE // (R * self._largest)))
        _, evaluate = _compiled()
        Z = np.empty((n, n_rows, self.width), dtype=X.dtype)
        with _jax().enable_x64(X.dtype == np.float64):
            for j in range(0, n, N):
                some = [_padded(array[j : j + N], N) for array in weights]
                for i in range(0, n_rows, R):
                    rows = _padded(X[j : j + N], N) if pairs else _padded(X[i : i + R], R)
                    out = evaluate(self.init, self.apply, self._shape, pairs, some, rows)
                    Z[j : j + N, i : i + R] = np.asarray(out)[: n - j, : n_rows - i]
        return Z


def _jax() -> Any:
    return library("FromJax", "jax", "jax")


@cache
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make functions that draw and evaluate. JAX compiles them for each family and shape."""
    jax = _jax()

    def draw(init: Any, shape: tuple[int, ...], keys: Any) -> Any:
        x = np.zeros(shape, np.float32)
        return jax.vmap(lambda key: tuple(jax.tree.leaves(init(_example(key), x))))(keys)

    def evaluate(
        init: Any, apply: Any, shape: tuple[int, ...], pairs: bool, weights: Any, X: Any
    ) -> Any:
        key, x = _example(np.zeros(2, np.uint32)), np.zeros(shape, np.float32)
        structure = jax.tree.structure(jax.eval_shape(init, key, x))

        def one(leaves: Any, row: Any) -> Any:
            return apply(jax.tree.unflatten(structure, leaves), row).ravel()

        rows = jax.vmap(one, in_axes=(None, 0))
        return jax.vmap(rows, in_axes=(0, 0 if pairs else None))(weights, X)

    return jax.jit(draw, static_argnums=(0, 1)), jax.jit(evaluate, static_argnums=(0, 1, 2, 3))


def _example(key: Any) -> Any:
    return _jax().random.wrap_key_data(key, impl="threefry2x32")


def _padded(array: np.ndarray, size: int) -> np.ndarray:
    """Repeat the last entry of an array until it has ``size`` entries."""
    missing = size - len(array)
    return np.concatenate([array, np.repeat(array[-1:], missing, axis=0)]) if missing else array


def _largest(jaxpr: Any) -> int:
    """Size of the largest intermediate result of a traced function."""
    sizes = [0]
    for equation in jaxpr.eqns:
        sizes += [getattr(out.aval, "size", 0) for out in equation.outvars]
        inner = [getattr(part, "jaxpr", None) for part in equation.params.values()]
        sizes += [_largest(part) for part in inner if part is not None]
    return max(sizes)
