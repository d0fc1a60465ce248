"""Detect changes of the distribution of a stream, with a bound on false alarms."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from trickless.arrays.stated import Stated, check_array, check_count, check_is
from trickless.arrays.states import in_one_state, training_lock
from trickless.errors import InvalidValueError, MissingAttributeError
from trickless.functions.stream import as_seed
from trickless.inference.samples import check_neurons
from trickless.inference.scan import LEAST, Alarm
from trickless.inference.stream_rows import Features, as_table, table_or_arrays
from trickless.inference.watch import Watch
from trickless.inference.whitening import WhitenedFeatures
from trickless.learners.fixed import check_unchanged
from trickless.learners.random_features import RandomFeatures
from trickless.neurons import Neurons, make_neurons
from trickless.neurons.layouts import Layout
from trickless.rules import DTYPE, N_JOBS, check_parameters, count, integer, plain
from trickless.tables.frames import picked

_OWNER = "DriftDetector"


class Drift(NamedTuple):
    """A change that a :class:`~trickless.DriftDetector` detected.

    Attributes
    ----------
    row : int
        Number of the row at which the change was detected. The first row of the stream is 0.
    change_row : int
        Estimate of the first row after the change. It is at most ``window_size`` − 1 rows before
        ``row``.
    window_size : int
        Number of rows of the window that differs from the reference.
    statistic : float
        Squared distance between the mean whitened features of the window and of the reference.
    pvalue : float
        P-value of the permutations of this window alone.
    """

    row: int
    change_row: int
    window_size: int
    statistic: float
    pvalue: float


class DriftDetector(Stated, BaseEstimator):
    r"""Detect when the distribution of the rows of a stream changes.

    The latest rows are compared with a reference by two-sample tests of random features, as in
    :func:`~trickless.mmd_test`. With the default neurons, the tests can find any change, for
    example of a mean, a variance, or a dependence between columns. If there is no change, the
    probability of a false alarm within T rows is at most T / (2 ``run_length``), and the average
    number of rows before the first false alarm is at least ``run_length``. This holds for every
    family, distribution and number of columns.

    The reference is the sample that you pass to ``fit``. Without ``fit``, it is the first 4
    ``window_size`` rows of the stream, and the detector learns a new reference after each alarm.

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
    dtype : {"float32", "float64"}, default="float64"
        Precision of the activations.

    Attributes
    ----------
    drift_detected : bool
        Whether the last call of ``update`` detected a change.
    n_detections : int
        Number of changes that were detected.
    drift_ : Drift or None
        The last change, with its ``row``, ``change_row``, ``window_size``, ``statistic`` and
        ``pvalue``.
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
    conformal.AdaptiveInterval : Intervals whose level follows a drift.

    Notes
    -----
    Let m be the rows of the reference, and let a window have n rows. The statistic is the squared
    distance of the mean features

    .. math:: \Big\| \frac1n \sum_{i=1}^n z(x_i) - \frac1m \sum_{j=1}^m z(y_j) \Big\|^2, \qquad
        z = (\Sigma + \gamma I)^{-1/2} \psi,

    of activations :math:`\psi` whitened by their covariance matrix [1]_, with :math:`\gamma` a
    tenth of its largest eigenvalue. Windows of L sizes are scanned as in [2]_, each size once in a
    quarter of its rows. A window that is tested once in k rows is tested at the level k / (2 L
    ``run_length``), by random permutations of the window and the reference. Without a change, these
    rows are exchangeable, and the level is exact [3]_. By the union bound, the probability of any
    alarm within T rows is at most the sum of the levels, which is at most T / (2 ``run_length``).

    The family and :math:`\Sigma` are learned from a quarter of the reference, with which no window
    is compared. The probabilities above are over the reference and the stream. If a given reference
    is short, some references have more false alarms and others fewer. Tests of overlapping windows
    tend to raise an alarm together, so that with few columns the average run length is a few times
    longer than its bound. The bound assumes independent rows. If neighbouring rows are dependent,
    there are more alarms.

    After an alarm, the window starts with the next row. If the reference came from ``fit``, there
    is another alarm for as long as the rows differ from it. ``reset`` discards it.

    The first ``window_size`` rows are kept as they come. If they are data frames, or dictionaries
    with text, ``pickle`` can store the detector at that time, but :func:`~trickless.save` cannot.
    Afterwards, memory holds the reference and the largest window, with at most 128 columns. A row
    takes time in proportion to its activations, and some thousand multiplications for each column.
    If there is no change, a test mostly ends after a few permutations.

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
    >>> from trickless import DriftDetector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 2))
    >>> X[3000:, 1] = 0.8 * X[3000:, 0] + 0.6 * X[3000:, 1]
    >>> detector = DriftDetector(random_state=0)
    >>> for row in X:
    ...     if detector.update(row).drift_detected:
    ...         break
    >>> detector.drift_.row, detector.drift_.change_row
    (3076, 2996)
    """

    #: What a detector has before its first row, and after ``reset``.
    drift_detected = False
    n_detections = 0
    n_seen_ = 0
    drift_: Drift | None = None
    _watch: Watch | None = None
    _columns: Features | None = None
    _fixed: dict[str, Any] | None = None
    _witness: tuple[WhitenedFeatures, np.ndarray] | None = None

    _rules = {
        "n_neurons": count("n_neurons=100 is a good start"),
        "window_size": integer(LEAST, "window_size=250 finds changes of moderate size", 10**7),
        "run_length": integer(
            1, "run_length=10_000 has a false alarm in 10,000 rows or fewer", 10**9
        ),
        "n_jobs": N_JOBS,
        "dtype": DTYPE,
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 100,
        *,
        window_size: int = 250,
        run_length: int = 10_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        dtype: Any = "float64",
    ) -> None:
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.window_size = window_size
        self.run_length = run_length
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.dtype = dtype

    def check_state(self) -> None:
        check_is("drift_detected", self.drift_detected, bool)
        check_count("n_seen_", self.n_seen_, 0)
        check_count("n_detections", self.n_detections, 0, self.n_seen_)
        check_is("drift_", self.drift_, Drift | None)
        check_is("_watch", self._watch, Watch | None)
        check_is("_fixed", self._fixed, dict | None)
        for name, holds_text in (self._columns or {}).items():
            check_is(f"column {name}", holds_text, bool | None)
        if self._witness is not None:
            features, difference = self._witness
            check_is("features of the witness", features, WhitenedFeatures)
            check_array("difference", difference, "f8", (features.whitener.shape[1],))

    def fit(self, X: Any, y: Any = None) -> DriftDetector:
        """Take a sample as the reference, and begin a stream.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The reference, in any order, with at least 4/3 ``window_size`` rows. A quarter of them,
            and all rows beyond, are for the choice of the features. At most 4 ``window_size`` rows
            are compared with windows. Arrays of images or series have the
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
            watch = new._begin()
            X = table_or_arrays(_OWNER, X, new._layout)
            watch.give(X)
            new._columns = as_table(_OWNER, X, None, new._layout)[1]
            self.__dict__ = new.__dict__
        return self

    def update(self, X: Any) -> DriftDetector:
        """See the next row or rows of the stream.

        The alarms do not depend on how the rows are divided into calls.

        Parameters
        ----------
        X : number, dict, array of shape (n_features,), or table of shape (n_rows, n_features)
            A number is a row with one feature, and a dictionary, as in River, is a row with named
            features. An array of one dimension is one row. Tables are arrays, CSR matrices and data
            frames, or arrays of images or series as in ``fit``.

        Returns
        -------
        self
        """
        with training_lock(self):
            new = copy(self)
            new.drift_detected, watch = False, new._copied_watch()
            rows, new._columns = as_table(_OWNER, X, new._columns, new._layout)
            used, n_rows = 0, rows.shape[0]
            while not used or used < n_rows:  # an empty table raises an error
                seen, alarms, features = watch.see(picked(rows, slice(used, None)), new.n_seen_)
                used, new.n_seen_ = used + seen, new.n_seen_ + seen
                for alarm in alarms:
                    new._sound(alarm, features)
            self.__dict__ = new.__dict__
        return self

    @in_one_state
    def witness(self, X: Any) -> np.ndarray:
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
        values: np.ndarray = (
            features(as_table(_OWNER, X, self._columns, self._layout)[0]) @ difference
        )
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

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> DriftDetector:
        """Copy the detector without what it has seen, as River asks for.

        Parameters
        ----------
        new_params : dict, optional
            Parameters that differ in the copy.
        include_attributes : bool, default=False
            Whether the copy keeps what the detector has seen.

        Returns
        -------
        DriftDetector
            The copy.
        """
        other: DriftDetector = deepcopy(self) if include_attributes else clone(self)
        return other.set_params(**(new_params or {}))

    @property
    def _layout(self) -> Layout:
        return make_neurons(self.neurons).layout

    def _begin(self) -> Watch:
        """Check the parameters, and fix those that later rows depend on."""
        check_parameters(self, self._rules)
        if self.run_length < self.window_size:
            raise InvalidValueError(
                f"{_OWNER}: run_length={self.run_length!r} is shorter than "
                f"window_size={self.window_size!r}",
                "a longer run_length, such as 10_000, or a smaller window_size",
            )
        check_neurons(_OWNER, "neurons", self.neurons)
        names = "neurons", "n_neurons", "window_size", "run_length", "dtype"
        self._fixed = {name: deepcopy(plain(getattr(self, name))) for name in names}
        seed = as_seed(self.random_state)
        options = {"random_state": seed, "n_jobs": self.n_jobs, "dtype": self.dtype}
        options |= {"sparse_output": False, "scale": "unit"}
        family = RandomFeatures(deepcopy(self.neurons), self.n_neurons, **options)
        self._watch = Watch(_OWNER, family, int(self.window_size), int(self.run_length), seed)
        return self._watch

    def _copied_watch(self) -> Watch:
        """Begin unless that was done, and return what may change while earlier states stay."""
        if self._watch is None:
            return self._begin()
        for name, then in (self._fixed or {}).items():
            check_unchanged(_OWNER, name, getattr(self, name), then, "call reset to start over")
        self._watch = copy(self._watch)
        return self._watch

    def _sound(self, alarm: Alarm, features: WhitenedFeatures | None) -> None:
        """Take note of a change."""
        assert features is not None
        change = alarm.row + 1 - alarm.n_changed
        self.drift_ = Drift(alarm.row, change, alarm.size, alarm.statistic, alarm.pvalue)
        self.drift_detected, self.n_detections = True, self.n_detections + 1
        self._witness = features, alarm.difference
