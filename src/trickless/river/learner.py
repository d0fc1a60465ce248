"""What the learners of this folder share: a stream, delayed answers, and weights of experts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from trickless._functions.stream import as_seed
from trickless._rules import Rule, check_parameters, count, is_real
from trickless._solvers.experts.growing_features import KEPT
from trickless._solvers.experts.machines import Machines
from trickless._solvers.experts.opinions import LabelOpinions, NumberOpinions
from trickless._solvers.experts.shares import fixed_share
from trickless.river.rows import Cells, DictionaryRows, Key

#: Half-lives in rows that suit streams with abrupt drifts as well as without any.
HALF_LIVES = (50.0, 500.0, 5000.0)
#: The rule for the number of neurons.
N_NEURONS = count("n_neurons=96 is the default")
#: The most rows that wait for their answers.
MOST_ASKED = 1024


class Question(NamedTuple):
    """A row that was asked for.

    ``at`` is how many rows were learned before, ``last`` the last answer that was known, as columns
    of the row, and ``opinions`` are the predictions of all experts. ``raw`` and ``activations`` are
    what the row was then, and ``unseen`` columns that it would add.
    """

    at: int
    last: Cells
    opinions: np.ndarray
    raw: np.ndarray
    activations: np.ndarray
    unseen: list[Key]


class RiverLearner:
    """Machines of several half-lives and simple experts, averaged by how well they predict.

    Experts are judged by what they predicted without the answers that came in between, and learn
    from the last answer that was known. Rows are recognised by their features.

    Parameters
    ----------
    n_neurons : int, default=96
        Number of random cosines and sines of the machines with long half-lives. Those with a
        half-life of up to 2,000 rows use half of them, and those of up to 200 rows the first 16.
    half_lives : tuple of float, default=(50.0, 500.0, 5000.0)
        Half-lives in rows. ``inf`` forgets nothing.
    seed : int or None, default=None
        Seed of the neurons. The same integer gives the same model.
    """

    _rules = {
        "n_neurons": N_NEURONS,
        "half_lives": Rule(
            "a tuple of numbers above 0",
            "half_lives=(50.0, 500.0, 5000.0) is the default",
            lambda v: isinstance(v, tuple),
            lambda v: bool(v) and all(is_real(h) and h > 0 for h in v),
        ),
    }
    #: Sizes of the steps of machines that learn each row at once.
    _steps: tuple[float, ...] = ()
    #: What experts think of answers.
    _kind: type[LabelOpinions] | type[NumberOpinions]

    def __init__(
        self,
        n_neurons: int = 96,
        half_lives: tuple[float, ...] = HALF_LIVES,
        seed: int | None = None,
    ) -> None:
        self.n_neurons = n_neurons
        self.half_lives = half_lives
        self.seed = seed
        check_parameters(self, self._rules)
        self._rows = DictionaryRows(type(self).__name__, n_neurons, as_seed(seed))
        self._machines = Machines(half_lives, n_neurons, self._steps)
        self._opinions: Any = self._kind(self._machines.n_experts)
        self._machines.grow(self._rows.penalties(), self._opinions.n_outputs)
        self._first: list[Any] = []
        self._last: Cells = ()
        self._questions: dict[Key, Question] = {}
        self._weights = self._opinions.prior

    @abstractmethod
    def _check_answer(self, y: Any) -> None:
        """Raise an error for an answer that cannot be learned."""

    def learn_one(self, x: dict[Hashable, Any], y: Any) -> None:
        """Learn a row.

        Parameters
        ----------
        x : dict
            Features by their names.
        y : hashable, or float for a regressor
            Label or target. A label that is new becomes a further class.

        Raises
        ------
        TypeError
            If the label is not hashable, or a feature is neither a number nor hashable. The model
            is unchanged then.
        ValueError
            If the label is missing, such as None or NaN, or the target is not a number of at most
            1e100 in size. The model is unchanged then.
        """
        self._check_answer(y)
        rows, key = self._rows, _key(x)
        asked = (self._questions.pop(key, None) if key else None) or self._question(x)
        # After a delay of d rows, the experts were asked d + 1 times for an answer, and errors of
        # neighbours are alike. P. Joulani, A. György and C. Szepesvári, "Online learning under
        # delayed feedback", ICML 2013, give each of these rows weights of its own.
        delay = rows.n_rows - asked.at
        opinions, machines = self._opinions, self._machines
        answer, factors = opinions.judge(y, asked.opinions, self._weights)
        if factors is not None:
            self._weights = fixed_share(self._weights, factors, opinions.prior, 1 / (1 + delay))
        raw, z = asked.raw, asked.activations
        if delay or asked.unseen:
            raw = rows.read_new(x, asked.last)
            z = rows.activate(raw)
        if machines.coef.shape[1:] != (opinions.n_outputs, len(z)):
            machines.grow(rows.penalties(), opinions.n_outputs)
        everything = rows.learn(raw)
        if rows.n_rows <= KEPT:
            self._first.append(answer)
        if everything is None:
            machines.learn(z, opinions.targets([answer])[0])
        else:
            machines.start_over(everything, opinions.targets(self._first))
        if rows.n_rows == KEPT:
            self._first = []
        opinions.learn(answer)
        self._last = opinions.as_input(answer)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame one after the other, or none if there is an error.

        Parameters
        ----------
        X : pandas.DataFrame
            Features. NaN is a missing value.
        y : pandas.Series
            Labels or targets.
        """
        rows = list(zip(X.to_dict("records"), y, strict=True))
        for x, answer in rows:
            self._rows.read(x)
            self._check_answer(answer)
        for x, answer in rows:
            self.learn_one(x, answer)

    def _question(self, x: Mapping[Hashable, Any]) -> Question:
        raw, unseen = self._rows.read(x, self._last)
        z = self._rows.activate(raw)
        opinions = self._opinions.of(self._machines.outputs(z))
        return Question(self._rows.n_rows, self._last, opinions, raw, z, unseen)

    def _average(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        """Return the average prediction for a row, and keep the question until its answer comes.

        The oldest one is discarded if there are too many.
        """
        question, key = self._question(x), _key(x)
        if key:
            self._questions.pop(key, None)
            self._questions[key] = question
            if len(self._questions) > MOST_ASKED:
                del self._questions[next(iter(self._questions))]
        return self._weights @ question.opinions


def _key(x: Mapping[Hashable, Any]) -> Key | None:
    """Return the features that are not NaN, or None if they are not hashable."""
    try:
        key = tuple([item for item in x.items() if item[1] == item[1]])
        hash(key)
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        return None  # of pandas.NA, masked values, Decimal, or a row that is no dictionary
    return key
