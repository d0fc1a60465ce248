"""Mutated and hostile files of models. Run as a script to try many:

python tests/support/mutated_files.py 10000
"""

import hashlib
import json
import re
import struct
import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np

import trickless
from trickless import BoostedTreesRegressor, DoublyStochasticClassifier, KitchenSinksRegressor
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Ferns, Gaussian

PREFIX = struct.Struct("<8sIQ")
#: Bytes of memory that reading takes beside those of arrays and of a small header.
SLACK = 400_000


def models():
    """Small fitted models of several kinds of state."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = np.sin(X[:, 0])
    labels = np.array(["no", "yes"])[(y > 0).astype(int)]
    return [
        KitchenSinksRegressor(Gaussian(), n_neurons=8, random_state=rng).fit(X, y),
        DoublyStochasticClassifier(
            Ferns(), n_neurons=16, random_state=0, class_weight={"no": 2.0}
        ).fit(X, labels),
        KernelGradientRegressor().fit(X, y),
        BoostedTreesRegressor(5, max_depth=3, random_state=0).fit(X, y),
    ]


def content(model, folder):
    """The bytes of the file of a model."""
    path = Path(folder, "content")
    trickless.save(model, path)
    return path.read_bytes()


def parts(data):
    """Header lines, and the bytes of arrays, of a whole file."""
    n = PREFIX.unpack_from(data)[2]
    lines = data[PREFIX.size : PREFIX.size + n].split(b"\n")
    return lines, data[PREFIX.size + n : -32]


def whole(lines, arrays, magic=b"\x89TRKLS\r\n", version=1, n_header=None):
    """A file with a checksum that is right."""
    header = b"\n".join(lines)
    n_header = len(header) if n_header is None else n_header
    body = PREFIX.pack(magic, version, n_header % 2**64) + header + arrays
    return body + hashlib.sha256(body).digest()


def damaged(data, rng):
    """The file after an accident; its checksum is that of the whole one."""
    data = bytearray(data)
    n = len(data)
    match rng.integers(6):
        case 0:  # flipped bits
            for place in rng.integers(n, size=rng.integers(1, 9)):
                data[place] ^= 1 << rng.integers(8)
        case 1:  # cut short
            del data[rng.integers(n) :]
        case 2:  # swapped segments
            a, b, c = np.sort(rng.integers(n + 1, size=3))
            data = data[:a] + data[b:c] + data[a:b] + data[c:]
        case 3:  # zeros, as of a block that was never written
            a, b = np.sort(rng.integers(n + 1, size=2))
            data[a:b] = bytes(b - a)
        case 4:  # more at the end
            data += rng.bytes(rng.integers(1, 100))
        case 5:  # a piece twice
            a, b = np.sort(rng.integers(n + 1, size=2))
            data = data[:b] + data[a:]
    return bytes(data)


#: Values that are put in the place of others.
ODD = (
    b"NaN", b"Infinity", b"-1", b"1e999", b"9" * 30, b"9" * 5000, b"null", b"[]", b"{}", b'""',
    b"0.5", b"true", b'"__class__"', b'"os:system"', b'{"$object": 0}', b'{"$object": 99}',
    b'{"$array": 0}', b'{"$array": -1}', b'{"$foreign": "os:system"}', b'{"$type": "object"}',
    b'{"$dtype": "O"}', b'{"$tuple": {}}', b'{"$float": "1"}', b'{"$random": ["Generator", {}]}',
    b'{"$sparse": ["csr_matrix", 0, 0, 0, [1, 1]]}', b'{"$objects": [[1000000000], []]}',
    b'{"$slice": [1]}', b'{"$dict": [[[], 1]]}', b"[" * 3000 + b"]" * 3000, b"[" * 90_000,
    b'{"a": 1, "a": 2}', b'{"$tuple": [], "b": 1}', b"\xff\xfe", b"4611686018427387904",
)  # fmt: skip


def hostile(data, rng):
    """The file after a change by somebody who knows the format: its checksum is right."""
    lines, arrays = parts(data)
    n = len(lines)
    some = int(rng.integers(n))
    match rng.integers(9):
        case 0 | 1 | 2:  # another value in the place of a token
            tokens = _tokens(lines[some])
            a, b = tokens[rng.integers(len(tokens))]
            lines[some] = lines[some][:a] + ODD[rng.integers(len(ODD))] + lines[some][b:]
        case 3:  # two tokens change places
            tokens = _tokens(lines[some])
            (a, b), (c, d) = sorted(tokens[i] for i in rng.integers(len(tokens), size=2))
            if b <= c:
                line = lines[some]
                lines[some] = line[:a] + line[c:d] + line[b:c] + line[a:b] + line[d:]
        case 4:  # sizes of arrays that are not there, with or without the bytes
            about = json.loads(lines[0])
            table = about["arrays"]
            which = table[rng.integers(len(table))]
            which[2] = [[10**18], [2**62, 4], [-1], [0, 10**18], [1] * 70, [], ["1"], 5][
                rng.integers(8)
            ]
            lines[0] = json.dumps(about).encode()
        case 5:  # records in another order, or twice
            order = rng.permutation(n) if rng.integers(2) else rng.integers(n, size=n + 1)
            lines = [lines[0], *(lines[i] for i in order if i)]
        case 6:  # a size of the header that is not there
            huge = [2**64 - 1, 2**63, 2**40, 0, len(data), int(rng.integers(len(data)))]
            return whole(lines, arrays, n_header=huge[rng.integers(len(huge))])
        case 7:  # other bytes of the header
            line = bytearray(lines[some])
            for place in rng.integers(len(line), size=rng.integers(1, 4)):
                line[place] = rng.integers(256)
            lines[some] = bytes(line)
        case 8:  # other bytes of the arrays
            changed = bytearray(arrays)
            for place in rng.integers(len(changed), size=20):
                changed[place] = rng.integers(256)
            arrays = bytes(changed)
    return whole(lines, arrays)


def _tokens(line):
    """Places of the words and numbers of a line of JSON."""
    found = re.finditer(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null', line)
    return [match.span() for match in found]


#: Events of the interpreter that a file must not cause, and those seen while a file was read.
FORBIDDEN = {"import", "exec", "compile", "os.system", "subprocess.Popen", "pickle.find_class"}
seen, reading = [], False


def _audit(event, args):
    ours = event == "import" and args[0].startswith("trickless.")
    if reading and event in FORBIDDEN and not ours:
        seen.append((event, args))


def attempt(data, path):
    """Try to load a file: the model or None, and the peak of memory."""
    global reading
    path.write_bytes(data)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    reading = True
    try:
        model = trickless.load(path)
    except ValueError as error:
        assert str(path) in str(error) and "Remedy" in str(error), error
        model = None
    finally:
        reading = False
    peak = tracemalloc.get_traced_memory()[1] - before
    return model, peak


def run(n, seed=0):
    """Try n mutations; how many were refused, changed the model, or left it as it was."""
    rng = np.random.default_rng(seed)
    counts = {"damaged, refused": 0, "damaged, the same": 0, "hostile, refused": 0,
              "hostile, read": 0, "largest peak over file size": 0}  # fmt: skip
    sys.addaudithook(_audit)
    with tempfile.TemporaryDirectory() as folder:
        files = [content(model, folder) for model in models()]
        path = Path(folder, "mutated")
        for data in files:
            path.write_bytes(data)
            trickless.load(path)
        tracemalloc.start()
        for i in range(n):
            whole_file = files[i % len(files)]
            if i // len(files) % 2:
                model, peak = attempt(hostile(whole_file, rng), path)
                counts[f"hostile, {'refused' if model is None else 'read'}"] += 1
            else:
                mutated = damaged(whole_file, rng)
                model, peak = attempt(mutated, path)
                assert model is None or mutated == whole_file
                counts[f"damaged, {'refused' if model is None else 'the same'}"] += 1
            over = peak - path.stat().st_size
            assert over < SLACK, (i, over)
            counts["largest peak over file size"] = max(over, counts["largest peak over file size"])
        tracemalloc.stop()
    assert not seen, seen
    return counts


if __name__ == "__main__":
    for what, count in run(int(sys.argv[1])).items():
        print(f"{count:8d}  {what}")
