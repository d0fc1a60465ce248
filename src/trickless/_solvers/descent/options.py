"""Parameters of a doubly stochastic descent, and the values of those that are "auto"."""

from __future__ import annotations

from typing import Any, NamedTuple

from trickless._arrays.places import HOST, Place, place_of
from trickless._solvers.descent.step_sizes import SizeParameters
from trickless._solvers.descent.steps.block import BlockStep, Damping
from trickless._solvers.descent.steps.plain import Plain
from trickless._solvers.descent.steps.step import Step
from trickless._solvers.losses import Loss
from trickless.neurons import Neurons

#: Rows a step and neurons a step of plain steps whose sizes depend on the data.
PLAIN_ROWS, PLAIN_NEURONS = 512, 32
#: The most rows of a step on a block, which then has the most columns.
_MOST_ROWS, _MOST_COLUMNS = 2**15, 2048
#: The least columns of a block, and those of most: blocks grow with the rows, since covariances
#: take far less time than activations on many rows.
_LEAST_COLUMNS, _USUAL_COLUMNS = 64, 512
#: Neurons of a fit: the least, and the most if blocks are large, which are then so many.
NEURONS, _MOST_NEURONS, _BLOCKS = 20_000, 2**15, 32
#: The strength of the regularisation, in units of the loss.
_ALPHA = 1e-6


class DescentOptions(NamedTuple):
    """The kind of step that a descent takes, and the sizes of steps."""

    step: Step
    sizes: SizeParameters

    def home(self, X: Any) -> Place:
        """Return where targets, f and coefficients of a fit are: with the rows, if they may be.

        Losses that know no devices work on the host.
        """
        return place_of(X).for_double if self.step.loss.on_devices else HOST


class Plan(NamedTuple):
    """The values that a learner uses for parameters that are "auto"."""

    schedule: str
    batch_size: int
    neurons_per_step: int
    n_neurons: int
    alpha: float

    def step(
        self,
        owner: str,
        loss: Loss,
        n_jobs: int | None,
        damping: Damping | None,
        fit_intercept: bool,
    ) -> Step:
        """Return the kind of step."""
        common = owner, loss, n_jobs, self.batch_size, self.neurons_per_step, self.n_neurons
        if self.schedule != "block":
            return Plain(*common)
        return BlockStep(*common, damping=damping, levels=fit_intercept and loss.levels)


def plan(given: dict[str, Any], schedule: str, n_rows: int, neurons: Neurons) -> Plan:
    """Return the values that a learner uses for parameters in ``given`` that are "auto".

    They depend on the schedule and on the number of rows.
    """
    n_neurons = NEURONS if isinstance(given["n_neurons"], str) else given["n_neurons"]
    blocks, of_step = schedule == "block", (given["batch_size"], given["neurons_per_step"])
    rows, k = sizes(blocks, *of_step, n_rows, neurons.width, n_neurons)
    if blocks and isinstance(given["neurons_per_step"], str):
        n_neurons = max(n_neurons, min(_BLOCKS * k, _MOST_NEURONS))
    usual = Plan(schedule, rows, k, n_neurons, _ALPHA)
    wanted = {name: given[name] for name in Plan._fields if name != "schedule"}
    return usual._replace(**{n: v for n, v in wanted.items() if not isinstance(v, str)})


def sizes(
    blocks: bool,
    batch_size: int | str,
    neurons_per_step: int | str,
    n_rows: int,
    width: int,
    n_neurons: int,
) -> tuple[int, int]:
    """Return the rows and neurons of a step, where some are "auto"."""
    rows, neurons = PLAIN_ROWS, PLAIN_NEURONS
    if blocks:
        rows = max(1, min(_MOST_ROWS, n_rows))
        of_step = rows if isinstance(batch_size, str) else min(batch_size, rows)
        columns = min(max(of_step, _LEAST_COLUMNS), _USUAL_COLUMNS)
        columns = max(columns, int(_MOST_COLUMNS * (of_step / _MOST_ROWS) ** 2))
        neurons = max(1, min(columns // width, n_neurons))
    return (
        rows if isinstance(batch_size, str) else batch_size,
        neurons if isinstance(neurons_per_step, str) else neurons_per_step,
    )
