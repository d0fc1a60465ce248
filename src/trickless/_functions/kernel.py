"""The kernel of a family of neurons: estimated from draws, and plotted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from trickless._arrays.likes import RandomStateLike
from trickless._arrays.missing import unmasked
from trickless._arrays.threads import row_blocks
from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._functions.exact_kernel import check_kernel_values
from trickless._functions.stream import BLOCK, NeuronStream, Purpose, as_seed, draw, generator
from trickless._pictures import PLOTTING, axes_for, ink
from trickless._rows.frames import check_frame
from trickless._rows.refusals import why_no_frame, why_no_numbers
from trickless._rules import Rule, check_value, count, integer, is_integer, with_remedies
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import check_shape, check_values, shape_of
from trickless.neurons.inputs import Inputs
from trickless.neurons.named import make_neurons

#: Products of activations held at a time (at least one neuron's).
_PRODUCTS = 2**22

_COUNT = count("n_neurons=1000 is a good start")


@np.errstate(over="ignore", invalid="ignore")  # values that are not finite raise an error
def estimate_kernel(
    neurons: Neurons | str,
    X: Any,
    Y: Any = None,
    n_neurons: int = 1000,
    *,
    random_state: RandomStateLike = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Estimate the kernel of a family from drawn neurons.

    .. math:: k(x, y) \approx \frac1m \sum_{j=1}^m \psi(x; w_j) \cdot \psi(y; w_j)

    Parameters
    ----------
    neurons : Neurons or str
        A family, or the name of one. If it is not fitted, a copy is fitted to ``X``.
    X : array of shape (n_x, n_features)
        Rows; or images or series, if the family reads them.
    Y : array of shape (n_y, n_features), optional
        Other rows. Default: ``X``.
    n_neurons : int, default=1000
        Number m of neurons to draw. More neurons give a smaller standard error. If the neurons of
        one draw depend on each other (``sampling`` of the Fourier families), the standard error
        comes from blocks of 256 neurons.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. Pass an int for reproducible results.

    Returns
    -------
    mean, standard_error : arrays of shape (n_x, n_y)
        Estimate of the kernel, and its standard error. The standard error is infinite for a single
        neuron, or for a single block of dependent neurons.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.inspection import estimate_kernel
    >>> from trickless.neurons import Gaussian
    >>> X = np.array([[0.0], [1.0]])
    >>> mean, error = estimate_kernel(Gaussian(length_scale=1.0), X, random_state=0)
    >>> bool(abs(mean[0, 1] - np.exp(-0.5)) < 4 * error[0, 1])
    True
    """
    check_value("estimate_kernel", "n_neurons", n_neurons, _COUNT)
    family = make_neurons(neurons)
    may_be_missing = family.accepts_tables
    layout, X = family._layout.learned("estimate_kernel", X)
    Y = Y if Y is None else layout.flat("estimate_kernel", Y, longer=True)
    X = _rows("estimate_kernel", "X", X, may_be_missing)
    Y = X if Y is None else _rows("estimate_kernel", "Y", Y, may_be_missing)
    seed = as_seed(random_state)
    family = _fitted(family, X, seed, layout.shape)
    total, squares = np.zeros((len(X), len(Y))), np.zeros((len(X), len(Y)))
    n_units = n_neurons if family.independent else -(-n_neurons // BLOCK)
    for _, weights in NeuronStream(family, seed, np.float64, 0).pieces(0, n_neurons):
        a, b = _by_neuron(family, X, weights), _by_neuron(family, Y, weights)
        block = np.zeros_like(total)
        for some in row_blocks(len(a), max(1, _PRODUCTS // total.size)):
            products = a[some] @ b[some].swapaxes(1, 2)
            block += products.sum(axis=0)
            if family.independent:
                squares += np.einsum("jxy,jxy->xy", products, products)
        total += block
        if not family.independent:
            squares += block**2 / len(a)  # each block counts by its number of neurons
    check_kernel_values("estimate_kernel", total + squares)
    mean = total / n_neurons
    if n_units == 1:
        return mean, np.full_like(mean, np.inf)
    variance = np.maximum(squares - total**2 / n_neurons, 0) / (n_units - 1)
    return mean, np.sqrt(variance / n_neurons)


def _rows(owner: str, name: str, X: Any, may_be_missing: bool = False) -> np.ndarray:
    X = unmasked(X)
    check_frame(owner, X)
    if (shape := shape_of(X)) is not None and (len(shape) == 2 or why_no_frame(X, name) is None):
        check_shape(owner, name, shape)
    try:
        # NumPy would warn of the sums that detect values that are not finite.
        with with_remedies(owner), np.errstate(invalid="ignore"):
            finite = "allow-nan" if may_be_missing else True
            return check_array(X, dtype=np.float64, ensure_all_finite=finite, input_name=name)
    except (TypeError, ValueError) as error:
        needed = "rows must be finite numbers", "encode it, or fill it in, in a pipeline"
        if (why := why_no_numbers(X, needed, name)) is None:
            raise
        raise InvalidValueError(f"{owner}: {why[0]}", why[1]) from error


def _fitted(
    neurons: Neurons | str, X: np.ndarray, seed: int, shape: tuple[int, ...] | None = None
) -> Neurons:
    family = make_neurons(neurons)
    if not family.__sklearn_is_fitted__():
        family = clone(family)
        family.inputs_ = Inputs(np.zeros(X.shape[1], dtype=int), shape=shape)
        family.fit(X, generator(seed, Purpose.FIT))
    trial = draw(family, generator(seed, Purpose.TRIAL), 4, X.dtype)
    check_values(family, X[:4], trial, bounded=False)
    return family


def _by_neuron(family: Neurons, X: np.ndarray, weights: Weights) -> np.ndarray:
    """Compute activations as an array of shape (n_neurons, n_rows, width)."""
    return family(X, weights).reshape(len(X), family.width, -1).transpose(2, 0, 1)


class KernelDisplay:
    """Plot of a kernel along one input: its estimate with an error band, and the exact curve.

    Create it with :meth:`from_neurons`. The curve is k(x, x′), where x is a row and x′ the same row
    with another value of one feature. The exact curve is there if the family has a closed form.

    Parameters
    ----------
    values : array of shape (n,)
        Values of the input.
    mean, standard_error : arrays of shape (n,)
        Estimate of the kernel and its standard error.
    exact : array of shape (n,), optional
        The kernel in closed form.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.
    line_ : matplotlib Line2D
        The estimate.
    band_ : matplotlib PolyCollection
        Two standard errors on each side.
    exact_ : matplotlib Line2D or None
        The exact curve.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.inspection import KernelDisplay
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> display = KernelDisplay.from_neurons("stumps", X, n_neurons=200, random_state=0)
    """

    def __init__(
        self,
        *,
        values: np.ndarray,
        mean: np.ndarray,
        standard_error: np.ndarray,
        exact: np.ndarray | None = None,
    ) -> None:
        self.values = values
        self.mean = mean
        self.standard_error = standard_error
        self.exact = exact

    @classmethod
    @completed_by(PLOTTING)
    def from_neurons(
        cls,
        neurons: Neurons | str,
        X: Any,
        *,
        feature: int = 0,
        row: int = 0,
        n_points: int = 201,
        n_neurons: int = 1000,
        random_state: RandomStateLike = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> KernelDisplay:
        """Estimate the kernel along one input, and plot it.

        Parameters
        ----------
        neurons : Neurons or str
            A family, or the name of one. One that has not been fitted is fitted to ``X``.
        X : array of shape (n_rows, n_features)
            Rows, of which one is x, and which give the range of the input.
        feature : int, default=0
            The input that varies, from its least to its largest value in ``X``.
        row : int, default=0
            The row x of ``X``.
        n_points : int, default=201
            Number of values of that input.
        n_neurons : int, default=1000
            How many neurons to draw.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the neurons.
        name : str, optional
            The curve's name in the legend. Default: the name of the class.
        """
        X = _rows("KernelDisplay", "X", X)
        for label, value, end in (("feature", feature, X.shape[1]), ("row", row, len(X))):
            there = Rule(
                f"an integer from 0 to {end - 1}",
                f"X has {end} of them, and {label}=0 is the first",
                is_integer,
                range(end).__contains__,
            )
            check_value("KernelDisplay", label, value, there)
        check_value(
            "KernelDisplay", "n_points", n_points, integer(2, "n_points=201 is a good start")
        )
        seed = as_seed(random_state)
        family = _fitted(neurons, X, seed)
        slice_ = np.repeat(X[row : row + 1], n_points, axis=0)
        slice_[:, feature] = np.linspace(X[:, feature].min(), X[:, feature].max(), n_points)
        x = X[row : row + 1]
        mean, error = estimate_kernel(family, x, slice_, n_neurons, random_state=seed)
        try:
            exact = Neurons.kernel(family, x, slice_)[0]
        except NotImplementedError:
            exact = None
        display = cls(values=slice_[:, feature], mean=mean[0], standard_error=error[0], exact=exact)
        return display.plot(ax, name=name or type(family).__name__, **kwargs)

    @completed_by(PLOTTING)
    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> KernelDisplay:
        """Plot the curve."""
        with axes_for(ax) as ax:
            (self.line_,) = ax.plot(self.values, self.mean, **{"label": name} | kwargs)
            low, high = (self.mean + sign * 2 * self.standard_error for sign in (-1, 1))
            look = {"color": self.line_.get_color(), "alpha": 0.2, "linewidth": 0}
            self.band_ = ax.fill_between(self.values, low, high, **look)
            self.exact_ = None
            if self.exact is not None:
                look = {"color": ink(ax), "linestyle": "--", "linewidth": 1, "label": "exact"}
                (self.exact_,) = ax.plot(self.values, self.exact, **look)
            ax.set(xlabel="value of the input", ylabel="kernel")
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
