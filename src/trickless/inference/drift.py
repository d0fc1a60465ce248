"""Detect changes of the distribution of a stream, with a bound on false alarms."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from trickless._arrays.likes import ArrayLike, MatrixLike, RandomStateLike
from trickless._arrays.stated import Count, Stated, check_array, check_count
from trickless._arrays.states import in_one_state, training_lock
from trickless._docstrings import pages
from trickless._errors import InvalidValueError, MissingAttributeError
from trickless._functions.stream import Purpose, as_seed, generator
from trickless._learners.base import store
from trickless._learners.fixed_parameters import check_unchanged
from trickless._learners.random_features import RandomFeatures
from trickless._rows.frames import picked, stacked
from trickless._rules import N_JOBS, check_parameters, count, integer, plain
from trickless.inference.features import WhitenedFeatures, random_features
from trickless.inference.rows import Features, as_rows, check_alike, of_stream, select
from trickless.inference.scan import LEAST, Drift, Scan
from trickless.neurons import Neurons
from trickless.neurons.layouts import Layout
from trickless.neurons.named import make_neurons

_OWNER = "DriftDetector"
#: Windows of the reference, of which a quarter or more is for the choice of the features.
_WINDOWS = 4
#: The most rows that are tested together, since an alarm may discard their features.
_TOGETHER = 4096


class DriftDetector(Stated, BaseEstimator):
    r"""Detect when the distribution of the rows of a stream changes.

    The latest rows are compared with a reference by two-sample tests of random features, as in
    :func:`~trickless.inference.mmd_test`. With the default neurons, the tests can find any change,
    for example of a mean, a variance, or a dependence between columns. If there is no change, the
    probability of a false alarm within T rows is at most ``T / (2 * run_length)``, and the average
    number of rows before the first false alarm is at least ``run_length``. This holds for every
    family, distribution and number of columns.

    The reference is the sample that you pass to ``fit``. Without ``fit``, it is the first
    ``4 * window_size`` rows of the stream, and the detector learns a new reference after each
    alarm.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        Family of neurons, or the name of one; see :mod:`trickless.neurons`. "tabular" and "trees"
        accept data frames, categories and missing values, and columns of any scale. Families that
        need targets raise an error.
    n_neurons : int, default=100
        Number of neurons to draw. More neurons estimate the kernel more closely, and take more
        time.
    window_size : int, default=250
        Rows of the largest window, at least 10. Windows of half as many rows, of a quarter and so
        on are tested, too, down to 10 rows. Large windows find small changes, and small windows
        find large changes early.
    run_length : int, default=10000
        Lower bound of the average number of rows before a false alarm, at least ``window_size``. A
        longer one detects changes later.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons and the permutations. Pass an int for reproducible alarms.
    n_jobs : int or None, default=None
        Number of threads for large batches. None uses as many threads as NumPy's linear algebra,
        often all cores. -1 uses all cores. The alarms do not depend on it.

    Attributes
    ----------
    drift_detected : bool
        Whether the last call of ``update`` detected a change.
    n_detections : int
        Number of changes that were detected.
    drift_ : named tuple or None
        The last change: the number of the ``row`` at which it was detected, counted from 0, an
        estimate of the first row after it, ``change_row``, the ``window_size`` of the rows that
        differ from the reference, their ``statistic``, and its ``pvalue``.
    n_seen_ : int
        Number of rows of the stream.

    Raises
    ------
    TypeError, ValueError
        If the family does not accept the rows, or later rows have other columns. The detector is
        then unchanged.

    See Also
    --------
    mmd_test : The test of two samples that are complete.
    :class:`~trickless.conformal.AdaptiveInterval` : Intervals whose level follows a drift.

    Notes
    -----
    A window of n rows is compared with the m rows of the reference by the squared distance of the
    mean features

    .. math:: \Big\| \frac1n \sum_{i=1}^n z(x_i) - \frac1m \sum_{j=1}^m z(y_j) \Big\|^2, \qquad
        z = (\Sigma + \gamma I)^{-1/2} \psi,

    of activations :math:`\psi` whitened by their covariance matrix [1]_, with :math:`\gamma` a
    tenth of its largest eigenvalue. Windows of L sizes are scanned as in [2]_, each size once in a
    quarter of its rows. A window that is tested once in k rows is tested at the level
    ``k / (2 * L * run_length)``, by random permutations of the window and the reference. Without a
    change, these rows are exchangeable, and the level is exact [3]_. By the union bound, the
    probability of any alarm within T rows is at most the sum of the levels,
    ``T / (2 * run_length)``. It is over the reference and the stream, and assumes independent rows.
    The family and :math:`\Sigma` are learned from a quarter of the reference, with which no window
    is compared.

    After an alarm, the window starts with the next row. The first ``4 * window_size`` rows are kept
    as they come; if they are data frames, or dictionaries with text, ``pickle`` can store the
    detector at that time, but :func:`~trickless.save` cannot. Afterwards, memory holds the
    reference and the largest window, with at most 128 columns.

    References
    ----------
    .. [1] O. Hagrass, B. K. Sriperumbudur and B. Li, "Spectral regularized kernel two-sample
       tests", Annals of Statistics 52, 2024.
    .. [2] S. Li, Y. Xie, H. Dai and L. Song, "Scan B-statistic for kernel change-point detection",
       Sequential Analysis 38, 2019.
    .. [3] J. Hemerik and J. Goeman, "Exact testing with random permutations", TEST 27, 2018.

    Examples
    --------
    Two columns become dependent at row 3000, while each keeps its distribution:

    >>> import numpy as np
    >>> from trickless.inference import DriftDetector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 2))
    >>> X[3000:, 1] = 0.8 * X[3000:, 0] + 0.6 * X[3000:, 1]
    >>> detector = DriftDetector(random_state=0)
    >>> for row in X:
    ...     if detector.update(row).drift_detected:
    ...         break
    >>> detector.drift_.row, detector.drift_.change_row
    (3084, 2998)
    """

    _doc_link_module = "trickless"
    _doc_link_template = pages("trickless.inference")
    #: What a detector has before its first row, and after ``reset``.
    drift_detected: bool = False
    n_detections: Count = 0
    n_seen_: Count = 0
    drift_: Drift | None = None
    _fixed: dict[str, Any] | None = None
    _seed: int = 0
    _columns: Features | None = None
    #: The tables of the first rows of a stream, until there are enough for a reference.
    _first: tuple[Any, ...] = ()
    _scan: Scan | None = None
    _is_given: bool = False
    _witness: tuple[WhitenedFeatures, np.ndarray] | None = None

    _rules = {
        "n_neurons": count("n_neurons=100 is a good start"),
        "window_size": integer(LEAST, "window_size=250 finds changes of moderate size", 10**7),
        "run_length": integer(
            1, "run_length=10_000 has a false alarm in 10,000 rows or fewer", 10**9
        ),
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 100,
        *,
        window_size: int = 250,
        run_length: int = 10_000,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
    ) -> None:
        store(self, locals())

    def check_state(self) -> None:
        check_count("n_detections", self.n_detections, 0, self.n_seen_)
        if self._witness is not None:
            features, difference = self._witness
            check_array("difference", difference, "f8", (features.whitener.shape[1],))

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Take a sample as the reference, and begin a stream.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The reference, in any order, with at least ``4/3 * window_size`` rows. A quarter of
            them, and all rows beyond, are for the choice of the features. At most
            ``4 * window_size`` rows are compared with windows. Arrays of images or series have the
            shape that the neurons read, with more dimensions.
        y : object, optional
            Ignored. It is here for scikit-learn's interface. To detect changes of targets given the
            rows, pass the targets as another column.

        Returns
        -------
        self
        """
        with training_lock(self):
            new: DriftDetector = clone(self)
            new._begin()
            X = as_rows(_OWNER, "X", X, new._layout)
            X, new._columns = of_stream(_OWNER, X, None, new._layout)
            new._check_first(X)
            n_rows, n_needed = X.shape[0], -(-_WINDOWS * self.window_size // (_WINDOWS - 1))
            if n_rows < n_needed:
                raise InvalidValueError(
                    f"{_OWNER}: the reference has {n_rows:,} rows, but "
                    f"window_size={self.window_size!r} needs {n_needed:,}",
                    "pass more rows, or choose a smaller window_size",
                )
            new._learn(X)
            new._is_given = True
            self.__dict__ = new.__dict__
        return self

    def update(self, X: MatrixLike) -> Self:
        """See the next row or rows of the stream.

        The alarms do not depend on how the rows are divided into calls.

        Parameters
        ----------
        X : number, dict, array of shape (n_features,), or table of shape (n_rows, n_features)
            A number is a row with one feature, and an array of one dimension is one row. A
            dictionary, as in River, is a row with named features, the same in every row. Tables are
            as in ``fit``.

        Returns
        -------
        self
        """
        with training_lock(self):
            new = copy(self)
            new._begin()
            rows, new._columns = of_stream(_OWNER, X, new._columns, new._layout)
            new.drift_detected, used = False, 0
            while not used or used < rows.shape[0]:  # an empty table raises an error
                used += new._see(picked(rows, slice(used, used + _TOGETHER)))
            self.__dict__ = new.__dict__
        return self

    @in_one_state
    def witness(self, X: MatrixLike) -> np.ndarray:
        """Evaluate the witness function of the last change on rows.

        It is the direction of the whitened features in which the rows since the change differ most
        from the reference. It is high for rows that have become more frequent, and low for rows
        that have become rarer.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            Rows of any time.

        Returns
        -------
        float64 array of shape (n_rows,)
            Values of the function.
        """
        if self._witness is None:
            raise MissingAttributeError(
                "DriftDetector: no change was detected, so there is no witness function",
                "call it once drift_ is not None",
            )
        features, difference = self._witness
        rows, _ = of_stream(_OWNER, X, self._columns, self._layout)
        values: np.ndarray = features(rows) @ difference
        return values

    def reset(self) -> DriftDetector:
        """Discard the reference and the stream, so that the next rows begin a new one.

        Returns
        -------
        self
        """
        with training_lock(self):
            self.__dict__ = clone(self).__dict__
        return self

    def clone(self) -> DriftDetector:
        """Copy the detector without what it has seen, as River asks for.

        Returns
        -------
        DriftDetector
            The copy.
        """
        return clone(self)

    @property
    def _layout(self) -> Layout:
        return make_neurons(self.neurons)._layout

    def _begin(self) -> None:
        """Check the parameters, and fix those that later rows depend on."""
        if self._fixed is not None:
            for name, then in self._fixed.items():
                now = getattr(self, name)
                check_unchanged(_OWNER, name, now, then, "call reset to start over")
            return
        check_parameters(self, self._rules)
        if self.run_length < self.window_size:
            raise InvalidValueError(
                f"{_OWNER}: run_length={self.run_length!r} is shorter than "
                f"window_size={self.window_size!r}",
                "a longer run_length, such as 10_000, or a smaller window_size",
            )
        self._family()
        names = "neurons", "n_neurons", "window_size", "run_length"
        self._fixed = {name: deepcopy(plain(getattr(self, name))) for name in names}
        self._seed = as_seed(self.random_state)

    def _see(self, X: Any) -> int:
        """See rows, at least up to the reference or an alarm. Return how many were used."""
        if self._scan is None:
            self._check_first(X)
            missing = _WINDOWS * self.window_size - sum(part.shape[0] for part in self._first)
            used = min(missing, X.shape[0])
            self._first = (*self._first, picked(X, slice(used)))
            self.n_seen_ += used
            if used == missing:
                self._learn(stacked(self._first))
            return used
        self._scan = scan = copy(self._scan)  # earlier states stay
        Z, used = scan.features(X), 0
        while used < len(Z):
            seen, change = scan.see(Z[used:], self.n_seen_)
            used, self.n_seen_ = used + seen, self.n_seen_ + seen
            if change is None:
                break
            self.drift_, self.drift_detected = change[0], True
            self.n_detections += 1
            self._witness = scan.features, change[1]
            if not self._is_given:
                self._scan = None
                break
        return used

    def _check_first(self, X: Any) -> None:
        """Check rows at once that the family is fitted to later."""
        first, name = (self._first[0], "the first batch") if self._first else (X, "X")
        check_alike(_OWNER, self._family(), first, X, (name, "X"))

    def _learn(self, X: Any) -> None:
        """Fit the family to some rows of a table, and take others as the reference."""
        n_rows = X.shape[0]
        order = generator(self._seed, Purpose.SHUFFLE).permutation(n_rows)
        n_compared = min(n_rows - n_rows // _WINDOWS, _WINDOWS * self.window_size)
        fitted, compared = select(X, order[n_compared:]), select(X, order[:n_compared])
        features = WhitenedFeatures(_OWNER, self._family(), fitted, self._seed)
        sizes = int(self.window_size), int(self.run_length)
        self._scan, self._first = Scan(features, features(compared), *sizes, self._seed), ()

    def _family(self) -> RandomFeatures:
        neurons, how = deepcopy(self.neurons), (self.n_neurons, self._seed, self.n_jobs)
        return random_features(_OWNER, neurons, *how, scale="unit")
