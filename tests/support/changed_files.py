"""Changes of the structure of a saved file: values, types and shapes, and relations between them.

Each change keeps the checksum right, and most keep the file readable. Some change one record alone,
and others two records in the same way, so that checks of each record by itself do not notice.
"""

import copy
import json

import numpy as np
import scipy.sparse

from mutated_files import parts, whole
from stated_classes import stated_classes


class Parsed:
    """The records and arrays of a file, to be changed and written again.

    ``draws`` are weights that a stream of the model would draw.
    """

    def __init__(self, data, draws=()):
        self.draws = draws
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

    def settle(self):
        """Give each array one owner, as a file must: drop arrays without one, copy those of two."""
        kept = []
        for node, key in places(self.records):
            is_array = key in ("$array", "$scalar") and type(node[key]) is int
            if is_array and 0 <= node[key] < len(self.arrays):
                kept.append(self.arrays[node[key]])
                node[key] = len(kept) - 1
        self.arrays = kept

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


INTEGERS = (
    -1, 0, 1, 2, 3, 7, 8, 16, 17, 30, 39, 40, 41, 64, 255, 256, 257, 4096, 2**15, 2**20, 2**31 - 1,
    2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**63),
)  # fmt: skip
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


def _number(value, dtype):
    """A number as the bits of another type have it."""
    return np.array(value % 2**64, np.uint64).astype(dtype) if type(value) is int else value


def extreme_numbers(file, rng, kinds="biuf"):
    """Numbers at the ends of their range, or just outside of that of an index, in an array."""
    some = [i for i, (a, _) in enumerate(file.arrays) if a.dtype.kind in kinds and a.size]
    if not some:
        return
    array, _ = file.arrays[some[rng.integers(len(some))]]
    values = FLOATS if array.dtype.kind == "f" else INTEGERS
    if array.dtype.kind in "iu" and rng.integers(2):  # just outside of what is there
        values = [int(array.max()) + 1, -int(array.max()) - 2, 2 * int(array.max()) + 1]
    n = [1, 1, 3, array.size][rng.integers(4)]
    places = rng.integers(array.size, size=n) if rng.integers(2) else np.arange(array.size)[-n:]
    for place in places:
        with np.errstate(all="ignore"):
            array.flat[place] = _number(values[rng.integers(len(values))], array.dtype)


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
    names = sorted(stated_classes())
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


def cut_together(file, rng):
    """Arrays of the same length that lose, or repeat, the same rows: each is right by itself."""
    lengths = {a.shape[0] for a, _ in file.arrays if a.ndim and len(a) > 1}
    if not lengths:
        return
    length = sorted(lengths)[rng.integers(len(lengths))]
    n = [1, length // 2, length - 1, 2 * length][rng.integers(4)]
    some = [i for i, (a, _) in enumerate(file.arrays) if a.ndim and len(a) == length]
    keep = rng.integers(1, len(some) + 1)
    for i in rng.permutation(some)[:keep]:
        array, order = file.arrays[i]
        file.arrays[i] = array[np.arange(n) % length], order


def other_length(file, rng):
    """An array with fewer or more places along one of its axes."""
    some = [i for i, (a, _) in enumerate(file.arrays) if a.ndim and a.size]
    if some:
        i = some[rng.integers(len(some))]
        array, order = file.arrays[i]
        axis = rng.integers(array.ndim)
        length = array.shape[axis]
        n = [0, 1, length // 2, length - 1, length + 1, 2 * length][rng.integers(6)]
        file.arrays[i] = np.take(array, np.arange(n) % length, axis=axis), order


def other_array(file, rng):
    """An array with the numbers, or in the place, of another."""
    i, j = rng.integers(len(file.arrays), size=2)
    (a, order), b = file.arrays[i], file.arrays[j]
    if rng.integers(2):
        file.arrays[i], file.arrays[j] = file.arrays[j], file.arrays[i]
    elif a.size and b[0].size and a.dtype.kind not in "US" and b[0].dtype.kind not in "US":
        with np.errstate(all="ignore"):
            file.arrays[i] = np.resize(b[0], a.shape).astype(a.dtype), order


def integers(file):
    """The places of integers in records, except references."""
    found = attributes(file)
    return [(n, k) for n, k in found if type(n[k]) is int and not str(k).startswith("$")]


def other_integer(file, rng):
    """An integer of the file in the place of another, or a power of two, or next to it."""
    found = integers(file)
    if found:
        node, key = found[rng.integers(len(found))]
        other, at = found[rng.integers(len(found))]
        near = node[key] + 1, node[key] - 1, 2 * node[key], node[key] // 2, other[at]
        node[key] = [*near, INTEGERS[rng.integers(len(INTEGERS))]][rng.integers(6)]


def same_everywhere(file, rng):
    """An integer with a name, such as a width or a depth, that is another in all records."""
    found = [(n, k) for n, k in integers(file) if type(k) is str]
    if found:
        node, key = found[rng.integers(len(found))]
        value = [node[key] + 1, INTEGERS[rng.integers(len(INTEGERS))]][rng.integers(2)]
        for other, at in found:
            if at == key and other[at] == node[key]:
                other[at] = value


def other_truth(file, rng):
    """A truth value that is turned round."""
    found = [(n, k) for n, k in attributes(file) if type(n[k]) is bool]
    if found:
        node, key = found[rng.integers(len(found))]
        node[key] = not node[key]


def other_items(file, rng):
    """A list with an item less, or with one twice."""
    lists = [n[k] for n, k in attributes(file) if isinstance(n[k], list) and n[k]]
    if lists:
        some = lists[rng.integers(len(lists))]
        i = rng.integers(len(some))
        if rng.integers(2):
            del some[i]
        else:
            some.insert(i, copy.deepcopy(some[i]))


def given_draws(file, rng):
    """A stream whose neurons are in the file, as if it had drawn and verified them."""
    streams = [r[1] for r in records(file) if r[0] == "NeuronStream"]
    if streams and len(file.draws):
        arrays = [file.add(array.copy()) for array in file.draws]
        block = {"$dict": [[int(rng.integers(2)) * int(rng.integers(2)), {"$tuple": arrays}]]}
        streams[rng.integers(len(streams))] |= {"_cache": block, "_verified": True}
        extreme_indices(file, rng)


CHANGES = (
    other_type, other_type, extreme_numbers, extreme_indices, extreme_indices, other_shape,
    exchanged, other_value, other_value, sparse_instead, sparse_instead, other_class,
    other_attributes, other_random_state, cut_together, cut_together, other_length, other_length,
    other_array, other_array, other_integer, other_integer, other_integer, same_everywhere,
    same_everywhere, other_truth, other_items, given_draws, given_draws,
)  # fmt: skip


def changed(data, rng, draws=()):
    """A file with one to three changes of its structure, and the names of the changes."""
    file, names = Parsed(data, draws), []
    for _ in range(rng.integers(1, 4)):
        change = CHANGES[rng.integers(len(CHANGES))]
        change(file, rng)
        names.append(change.__name__)
        if not file.arrays:
            break
    if rng.integers(8):
        file.settle()
    return file.bytes(), names
