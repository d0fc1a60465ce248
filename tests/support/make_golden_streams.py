"""Write what the neurons of each family are, so that a change of what is drawn is seen.

python tests/support/make_golden_streams.py        (adds new families; what is there stays as it is)
"""

import json
from pathlib import Path

import numpy as np
from sklearn.base import clone

import trickless.neurons
from cases import FAMILIES, suited
from trickless._functions.stream import NeuronStream, Purpose, generator

FILE = Path(__file__).parents[1] / "golden" / "streams.json"

#: Those of the other tests, and every name that a learner takes.
STREAMS = {
    name: cls() for name, cls in trickless.neurons.named.FAMILIES.items() if name != "auto"
} | FAMILIES


def rows():
    """Inputs from arithmetic, not from a generator that may change."""
    i = np.arange(40.0)
    return np.column_stack([np.sin(i), np.cos(2 * i), np.sin(3 * i) ** 3, i / 40])


def summary(name):
    """The fingerprint of block 0, and the ends of each array of weights of block 1."""
    family = clone(STREAMS[name]).fit(suited(name, rows()), generator(0, Purpose.FIT))
    stream = NeuronStream(family, 0, np.float64)
    ends = [[*array.flat[:2], *array.flat[-2:]] for array in stream.block(1)]
    return {
        "fingerprint": stream.fingerprint(),
        "weights": np.asarray(ends, dtype=np.float64).tolist(),
    }


if __name__ == "__main__":
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    golden = {name: known.get(name) or summary(name) for name in sorted(known | STREAMS)}
    lines = [f" {json.dumps(name)}: {json.dumps(what)}" for name, what in golden.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
