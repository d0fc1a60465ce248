"""Files of models whose structure was changed, with a right checksum, loaded and then used.

None may end the process by a signal, take it into an endless loop, or give anything but a model or
a clear error when it is loaded. Run as a script to try many, in processes of their own:

python tests/support/used_files.py 15000
"""

import copy
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse

import trickless
from mutated_files import parts, whole
from trickless.files.registry import _NAMES
from trickless.files.registry import classes as classes_of_files
from trickless.neurons import Gaussian, Laplace, Patches, Stumps

#: Bytes that a process may use in all, and seconds that one file may be loaded and used.
MEMORY, SECONDS = 4 * 2**30, 10
#: Seconds after which a process that does not answer is ended: it is in a loop of compiled code.
DEAF = 60


def models():
    """Fitted models of every learner, with rows to use each with: dense, sparse, of tables."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    sparse = scipy.sparse.random(40, 3, 0.5, "csr", random_state=0)
    y, labels = np.sin(X[:, 0]), np.where(X[:, 0] > 0, "yes", "no")
    table = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(labels)})
    for rows in (X, sparse):
        yield (
            trickless.KitchenSinksRegressor(Gaussian(), n_neurons=8, random_state=rng).fit(rows, y),
            rows,
            y,
        )
        yield (
            trickless.DoublyStochasticClassifier(Gaussian(), n_neurons=16, random_state=0).fit(
                rows, labels
            ),
            rows,
            labels,
        )
        yield trickless.ShrinkingGradientRegressor(Stumps(), random_state=0).fit(rows, y), rows, y
        yield (
            trickless.ShrinkingGradientClassifier(
                Gaussian(), compression="unbiased", max_support=16, random_state=0
            ).fit(rows, labels),
            rows,
            labels,
        )
        for learner in (
            trickless.KernelGradientRegressor,
            trickless.NORMARegressor,
            trickless.SDCARegressor,
        ):
            yield learner().fit(rows, y), rows, y
        for learner in (
            trickless.PegasosClassifier,
            trickless.SDCAClassifier,
            trickless.NORMAClassifier,
        ):
            yield learner().fit(rows, labels), rows, labels
        model = trickless.SDCARegressor().fit(rows, y)
        yield trickless.Expansion(Laplace().fit(X, rng), rows, np.ones((40, 1))), rows, y
        del model
    generator = np.random.RandomState(np.random.PCG64(0))
    yield (
        trickless.KitchenSinksClassifier("tabular", n_neurons=8, random_state=generator).fit(
            table, labels
        ),
        table,
        labels,
    )
    yield (
        trickless.DoublyStochasticRegressor(
            "tabular", n_neurons=8, random_state=np.random.default_rng(1)
        ).fit(table, y),
        table,
        y,
    )
    images = rng.random((40, 36))
    patches = Patches((6, 6), 3)
    yield (
        trickless.KitchenSinksRegressor(patches, n_neurons=8, random_state=0).fit(images, y),
        images,
        y,
    )


class Parsed:
    """The records and arrays of a file, to be changed and written again."""

    def __init__(self, data):
        lines, raw = parts(data)
        self.about, *self.records = [json.loads(line) for line in lines]
        self.arrays, start = [], 0
        for dtype, order, shape in self.about["arrays"]:
            n = np.dtype(dtype).itemsize * int(np.prod(shape))
            flat = np.frombuffer(raw[start : start + n], dtype).copy()
            self.arrays.append((flat.reshape(shape, order=order), order))
            start += n

    def add(self, array):
        """The value that stands for a new array."""
        self.arrays.append((np.asarray(array), "C"))
        return {"$array": len(self.arrays) - 1}

    def bytes(self):
        """The file, with a right checksum."""
        table, raw = [], b""
        for array, order in self.arrays:
            table.append([array.dtype.str, order, list(array.shape)])
            raw += array.tobytes(order=order)
        header = [self.about | {"arrays": table}, *self.records]
        return whole([json.dumps(line).encode() for line in header], raw)


def places(node):
    """All places of values below a node: pairs of a list or dictionary, and an index or key."""
    if isinstance(node, dict | list):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            yield node, key
            yield from places(node[key])


def attributes(file):
    """All places of values in the attributes of records."""
    return [place for record in records(file) for place in places(record[1])]


def records(file):
    """The records that have still a name and attributes."""
    whole = [r for r in file.records if isinstance(r, list) and len(r) == 2]
    return [r for r in whole if isinstance(r[1], dict)] or [["Gaussian", {"length_scale": 1.0}]]


def one_of(file, rng):
    """A record."""
    return records(file)[rng.integers(len(records(file)))]


INTEGERS = (-1, 0, 1, 2, 7, 39, 41, 255, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63))
FLOATS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, -1e300, 1e-320, 0.5, 1e18)
TYPES = ("|i1", "|u1", "<i2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c16", "|b1", "<U1")


def other_type(file, rng):
    """An array of another type: the same values, or the same bytes."""
    i = rng.integers(len(file.arrays))
    array, order = file.arrays[i]
    dtype = np.dtype(TYPES[rng.integers(len(TYPES))])
    if rng.integers(2) and dtype.itemsize == array.dtype.itemsize and array.ndim:
        array = np.ascontiguousarray(array).view(dtype)
    elif array.dtype.kind not in "US" and dtype.kind != "U":
        with np.errstate(all="ignore"):
            array = array.astype(dtype)
    file.arrays[i] = array, order


def extreme_numbers(file, rng, kinds="biuf"):
    """Numbers at the ends of their range, or just outside of that of an index, in an array."""
    some = [i for i, (a, _) in enumerate(file.arrays) if a.dtype.kind in kinds and a.size]
    if not some:
        return
    array, _ = file.arrays[some[rng.integers(len(some))]]
    values = FLOATS if array.dtype.kind == "f" else INTEGERS
    n = [1, 1, 3, array.size][rng.integers(4)]
    places = rng.integers(array.size, size=n) if rng.integers(2) else np.arange(array.size)[-n:]
    for place in places:
        with np.errstate(all="ignore"):
            array.flat[place] = np.array(values[rng.integers(len(values))]).astype(array.dtype)


def extreme_indices(file, rng):
    """Column numbers and ends of sparse rows that lead outside of memory."""
    extreme_numbers(file, rng, "iu")


def other_shape(file, rng):
    """An array of another shape, or of more or fewer numbers."""
    i = rng.integers(len(file.arrays))
    array, order = file.arrays[i]
    match rng.integers(6):
        case 0:
            array = array.reshape(array.shape[::-1])
        case 1:
            array = array.reshape(-1)
        case 2:
            array = array[None] if rng.integers(2) else array[..., None]
        case 3:
            array = array[: rng.integers(len(array) + 1)] if array.ndim else array
        case 4:
            array = np.concatenate([array, array]) if array.ndim else array
        case 5:
            array = array[..., :0] if array.ndim else array.reshape(1)
    file.arrays[i] = array, order


def exchanged(file, rng):
    """Two values that change places, wherever in the file they are."""
    found = list(places(file.records))
    (a, i), (b, j) = (found[k] for k in rng.integers(len(found), size=2))
    a[i], b[j] = copy.deepcopy(b[j]), copy.deepcopy(a[i])


def other_value(file, rng):
    """Another value in some place."""
    found = attributes(file)
    node, key = found[rng.integers(len(found))]
    old = node[key]
    if type(old) is int and rng.integers(3):
        node[key] = [old + 1, old - 1, -old, 2 * old, INTEGERS[rng.integers(len(INTEGERS))]][
            rng.integers(5)
        ]
        return
    choices = [
        None, True, "x", [], {}, 0.5, {"$float": "nan"}, {"$float": "inf"}, {"$tuple": []},
        int(INTEGERS[rng.integers(len(INTEGERS))]), 1e300, {"$dtype": "<f4"},
        {"$object": int(rng.integers(len(file.records)))}, {"$type": "float32"},
    ]  # fmt: skip
    n = rng.integers(len(choices) + 2)
    if n < len(choices):
        node[key] = choices[n]
    elif n == len(choices):
        node[key] = file.add(
            rng.standard_normal([int(m) for m in rng.integers(1, 45, size=rng.integers(3))])
        )
    else:
        sparse_instead(file, rng, node, key)


def sparse_instead(file, rng, node=None, key=None):
    """Sparse rows, right or wrong, where something else was: an array, most often."""
    if node is None:
        found = attributes(file)
        arrays = [(n, k) for n, k in found if isinstance(n[k], dict) and "$array" in n[k]]
        if not arrays:
            return
        node, key = arrays[rng.integers(len(arrays))]
    rows, columns = (int(n) for n in rng.integers(1, 45, size=2))
    matrix = scipy.sparse.random(rows, columns, 0.3, "csr", random_state=int(rng.integers(99)))
    indices, ends = matrix.indices.copy(), matrix.indptr.copy()
    data = matrix.data
    match rng.integers(8):
        case 0:
            ends[-1] = -1
            indices = rng.integers(-(2**31), 2**31, size=len(indices)).astype(np.int32)
        case 1:
            ends[rng.integers(len(ends))] = INTEGERS[rng.integers(9)] % 2**31
        case 2:
            indices[:] = 2**31 - 1
        case 3:
            indices = indices.astype([np.int8, np.uint32, np.int64, np.float64][rng.integers(4)])
        case 4:
            ends[:] = 0
        case 5:
            data = data[: len(data) // 2]
        case 6:
            columns = [0, 2**31, 2**62, -1][rng.integers(4)]
    kind = ("csr_matrix", "csr_array")[rng.integers(2)]
    value = [kind, *map(file.add, (data, indices, ends)), [rows, columns]]
    node[key] = {"$sparse": value}


def other_class(file, rng):
    """A record of another class."""
    names = " ".join(_NAMES.values()).split()
    one_of(file, rng)[0] = names[rng.integers(len(names))]


def other_attributes(file, rng):
    """A record without an attribute, or with that of another record."""
    record = one_of(file, rng)[1]
    if record and rng.integers(3):
        del record[list(record)[rng.integers(len(record))]]
    else:
        record |= copy.deepcopy(one_of(file, rng)[1])


def other_random_state(file, rng):
    """A state of a random generator at the ends of its range."""
    found = attributes(file)
    states = [(n, k) for n, k in found if k in ("inc", "state", "has_uint32", "pos", "uinteger")]
    if states:
        node, key = states[rng.integers(len(states))]
        if type(node[key]) is int:
            node[key] = [0, 1, 2, node[key] ^ 1, 2**128 - 2, 2**128, -1][rng.integers(7)]


CHANGES = (
    other_type, other_type, extreme_numbers, extreme_indices, extreme_indices, other_shape,
    exchanged, other_value, other_value, sparse_instead, sparse_instead, other_class,
    other_attributes, other_random_state,
)  # fmt: skip


def changed(data, rng):
    """A file with one to three changes of its structure."""
    file = Parsed(data)
    for _ in range(rng.integers(1, 4)):
        CHANGES[rng.integers(len(CHANGES))](file, rng)
    return file.bytes()


@contextmanager
def at_most(seconds):
    """Raise a TimeoutError in the block after some time, as soon as Python has its turn."""

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def use(model, again, X, y, folder):
    """Call all that uses what a file holds; errors are left for each call apart."""
    calls = {
        "copy": lambda: copy.deepcopy(model),
        "predict": lambda: model.predict(X) if hasattr(model, "predict") else model(X),
        "score": lambda: model.score(X, y),
        "std": lambda: model.predict(X, return_std=True),
        "standard error": lambda: model.predict(X, return_standard_error=True),
        "probabilities": lambda: model.predict_proba(X),
        "partial_fit": lambda: model.partial_fit(X, y),
        "predict again": lambda: model.predict(X),
        "merge": lambda: model.merge(again),
        "certificate": lambda: model.certify(X, y),
        "fit": lambda: model.fit(X, y),
        "save": lambda: trickless.save(model, Path(folder, "again")),
        "repr": lambda: repr(model),
    }
    outcomes = Counter()
    for call in calls.values():
        try:
            call()
            outcomes["used"] += 1
        except TimeoutError:
            raise
        except Exception:
            outcomes["refused when used"] += 1
    return outcomes


def attempt(data, X, y, path):
    """Load a file and use the model; what came of it."""
    path.write_bytes(data)
    try:
        with at_most(SECONDS):
            try:
                model = trickless.load(path)
            except ValueError as error:
                assert "Remedy" in str(error), error
                return Counter({"refused": 1})
            return Counter({"loaded": 1}) + use(model, trickless.load(path), X, y, path.parent)
    except TimeoutError:
        return Counter({"slow": 1})


def work(start, stop, seed, folder):
    """Try the changes of some numbers, and print each number before and its outcome after."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    classes_of_files()
    files = []
    for model, X, y in models():
        path = Path(folder, "model")
        trickless.save(model, path)
        files.append((path.read_bytes(), X, y))
    for i in range(start, stop):
        print(i, flush=True)
        data, X, y = files[i % len(files)]
        outcome = attempt(changed(data, np.random.default_rng([seed, i])), X, y, path)
        print(json.dumps(outcome), flush=True)


def run(n, seed=0, start=0):
    """Try n changes in processes of their own; outcomes, and the numbers that ended a process."""
    outcomes, died = Counter(), []
    stop, begun = start + n, start
    while begun < stop:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--work", str(begun), str(stop), str(seed), folder]
            environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONFAULTHANDLER": ""}
            child = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
            )
            number, reason = None, None
            while line := _line(child):
                if line == "deaf":
                    child.kill()
                    reason = "does not answer"
                    break
                if line.startswith("{"):
                    outcomes.update(json.loads(line))
                    number += 1
                elif line.isdigit():  # LAPACK prints complaints of its own
                    number = int(line)
            error = child.communicate()[1]
            if number is None:
                raise RuntimeError(f"the process did not begin: {error}")
            if child.returncode and number < stop:
                cause = reason or (
                    f"signal {-child.returncode}" if child.returncode < 0 else error[-2000:]
                )
                died.append((number, cause))
            begun = number + 1 if child.returncode else stop
    return outcomes, died


def _line(child):
    """The next line of a process; "deaf" if it does not come in time."""
    import select

    ready, _, _ = select.select([child.stdout], [], [], DEAF)
    return child.stdout.readline().strip() if ready else "deaf"


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        work(*map(int, sys.argv[2:5]), sys.argv[5])
        sys.exit()
    found, ended = run(int(sys.argv[1]), *map(int, sys.argv[2:]))
    for what, count in found.most_common():
        print(f"{count:8d}  {what}")
    for number, cause in ended:
        print(f"number {number}: {cause}")
    print(f"{len(ended):8d}  ended the process")
    sys.exit(bool(ended))
