"""What the learners of this folder share: parameters, and the weights of their experts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

import numpy as np

from trickless.river.questions import Question, Questions
from trickless.river.stream import Seen, Stream
from trickless.rules import Rule, check_parameters, count, is_real
from trickless.solvers.experts.shares import fixed_share

#: Half-lives in rows that suit streams with abrupt drifts as well as without any.
HALF_LIVES = (50.0, 500.0, 5000.0)
#: The rule for the number of neurons.
N_NEURONS = count("n_neurons=96 is the default")


class Learner:
    """Machines of several half-lives and simple experts, averaged by how well they predict.

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
    _stream: Stream

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
        self._questions = Questions()
        self._prior = self._weights = self._begin()

    @abstractmethod
    def _begin(self) -> np.ndarray:
        """Begin with no rows, and return the weights of all experts at first."""

    @abstractmethod
    def _check_answer(self, y: Any) -> None:
        """Raise an error for an answer that cannot be learned."""

    @abstractmethod
    def _opinions(self, seen: Seen) -> np.ndarray:
        """Return the predictions of all experts for a row, shape (n_experts, ...)."""

    @abstractmethod
    def learn_one(self, x: dict[Hashable, Any], y: Any) -> None:
        """Learn a row."""

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame one after the other.

        Parameters
        ----------
        X : pandas.DataFrame
            Features. NaN is a missing value.
        y : pandas.Series
            Labels or targets.

        Raises
        ------
        TypeError, ValueError
            As in ``learn_one``, or if there are more or fewer answers than rows. No row is then
            learned.
        """
        for x, answer in self._stream.rows.records(X, y, self._check_answer):
            self.learn_one(x, answer)

    def _question(self, x: dict[Hashable, Any]) -> Question:
        seen, _ = self._stream.see(x)
        return Question(self._stream.rows.n_rows, self._stream.last, self._opinions(seen))

    def _asked(self, x: dict[Hashable, Any]) -> np.ndarray:
        """Return the average prediction for a row, and keep the question."""
        question = self._question(x)
        self._questions.ask(x, question)
        return self._weights @ question.opinions

    def _answered(self, x: dict[Hashable, Any]) -> tuple[Question, float]:
        """Return what was asked about a row, and what part of a row its answer counts as.

        After a delay of d rows, this is 1 / (1 + d), since the experts were asked so many times
        without an answer, and the errors of neighbours are alike. P. Joulani, A. György and C.
        Szepesvári, "Online learning under delayed feedback", ICML 2013, give each of these rows
        weights of its own.
        """
        now = self._question(x)
        asked = self._questions.answer(x) or now
        return asked, 1 / (1 + now.at - asked.at)

    def _weigh(self, factors: np.ndarray, n_rows: float) -> None:
        """Update the weights by the factors that an answer gives to the experts."""
        self._weights = fixed_share(self._weights, factors, self._prior, n_rows)
