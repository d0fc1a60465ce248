"""Files of models whose structure was changed, with a right checksum, loaded and then used.

None may end the process by a signal, stop it from answering, or give numbers from memory that is
not its own. Run as a script to try many, in processes of their own:

python tests/support/used_files.py 15000

The files are those of ``saved_cases``, changed by ``changed_files``. File number i with a seed is
always the same: ``used_files.py 1 SEED I MODE`` tries it again. There are two modes:

- ``compiled``: trees are read in compiled loops, as users run them.
- ``checked``: compiled loops compare every index with the size of its array, and raise an error.

In each, all arrays lie between pages without rights (``fences``): a read or write beyond an array
ends the process. Each file is loaded twice, and memory is filled with another byte each time. If
predictions differ, and do not differ when the byte is the same, they have numbers from memory that
nobody has written. That is an error as well.
"""

import copy
import faulthandler
import inspect
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.linear_model import Ridge

import saved_cases
import trickless
from cases import shots
from changed_files import changed
from stated_classes import stated_classes
from trickless._arrays.loops import _compiled

#: Bytes of memory that a process may write to in all, and seconds for one file.
MEMORY, SECONDS = 4 * 2**30, 10
#: Seconds after which a process that does not answer is ended: it is in a loop of compiled code.
DEAF = 30
#: What a mode is in the environment of its process.
MODES = {
    "compiled": {},
    "checked": {"NUMBA_BOUNDSCHECK": "1"},
}
#: What numba says of an index beyond an array, unlike NumPy.
_BEYOND = "index is out of bounds"
#: Outcomes that no file may have.
HARM = "ended the process", "numbers of foreign memory"
#: Uses of every object.
_ALWAYS = "copy", "predict again", "save", "load again", "repr"
#: What gives numbers for rows without learning.
ANSWERS = (
    "predict", "decision_function", "predict_proba", "transform", "__call__", "shap_values",
)  # fmt: skip
PACKAGE = str(Path(trickless.__file__).parent)


class Foreign(Exception):  # noqa: N818
    """The error of code that used memory beyond an array, or memory that nobody has written."""


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


def answers(model, X):
    """All numbers that a model gives for rows without learning; an error is left out."""
    found = {}
    names = (
        "predict",
        "decision_function",
        "predict_proba",
        "transform",
        "__call__",
        "shap_values",
    )
    for name in names:
        try:
            answer = getattr(model, name)(X)
        except TimeoutError:
            raise
        except Exception as error:
            _raise_if_beyond(error)
            continue
        found[name] = answer.toarray() if scipy.sparse.issparse(answer) else np.asarray(answer)
    return found


def _raise_if_beyond(error):
    if _BEYOND in str(error) and "axis" not in str(error):
        raise Foreign("an index of a compiled loop is beyond its array") from error


def same(first, second):
    """Whether answers are the same to the last bit."""
    arrays = [(np.asarray(first[name]), np.asarray(second.get(name))) for name in first]
    return len(first) == len(second) and all(
        a.dtype == b.dtype and (a.dtype == object or a.tobytes() == b.tobytes()) for a, b in arrays
    )


def compare(load, X, fences, at_end):
    """Raise an error if answers depend on what memory held before."""
    found = []
    for byte in (255, 42, 255):
        fences.set(at_end, byte)
        if len(found) < 2 or not same(*found):
            found.append(answers(load(), X))
    if len(found) == 3 and same(found[0], found[2]):
        names = [name for name in found[0] if not same(*({name: f.get(name)} for f in found[:2]))]
        raise Foreign(f"{names} depends on memory that nobody has written")


def uses(model, again, X, y, path):
    """Calls of all that uses what a file holds, by name."""
    learns = {"y": y} if y is not None else {}

    def features():
        Z = model.transform(X)
        Ridge().fit(Z, np.ones(Z.shape[0]))
        return Z.T @ np.ones((Z.shape[0], 5))

    def certificate():
        has_tolerance = "tolerance" in inspect.signature(model.certify).parameters
        return model.certify(X, 0.5) if has_tolerance else model.certify()

    def warm():
        copy.deepcopy(model).set_params(warm_start=True).fit(X, y)

    calls = {
        "copy": lambda: copy.deepcopy(model),
        "call": lambda: model(X),
        "predict": lambda: model.predict(X),
        "decision_function": lambda: model.decision_function(X),
        "predict_proba": lambda: model.predict_proba(X),
        "transform": features,
        "score": lambda: model.score(X, y),
        "std": lambda: model.predict(X, return_std=True),
        "standard error": lambda: model.predict(X, return_standard_error=True),
        "importances": lambda: model.feature_importances_,
        "shap_values": lambda: model.shap_values(X),
        "shap base": lambda: model.shap_base_,
        "predict_interval": lambda: model.predict_interval(X),
        "predict_set": lambda: model.predict_set(X),
        "compact": lambda: answers(model.compact(), X),
        "warm fit": warm,
        "partial_fit": lambda: model.partial_fit(X, **learns),
        "predict again": lambda: answers(model, X),
        "merge": lambda: model.merge(again),
        "certificate": certificate,
        "save": lambda: trickless.save(model, path),
        "load again": lambda: answers(trickless.load(path, [shots]), X),
        "fit": lambda: model.fit(X, **learns),
        "repr": lambda: repr(model),
    }
    options = {"std": "return_std", "standard error": "return_standard_error"}
    methods = {"call": "__call__", "merge": "merge", "importances": "feature_importances_"}
    methods |= {"shap base": "shap_base_"}
    methods |= {"certificate": "certify", "warm fit": "warm_start"}

    def is_there(name):
        if name in options:
            predict = getattr(model, "predict", None)
            return predict is not None and options[name] in inspect.signature(predict).parameters
        try:
            return name in _ALWAYS or hasattr(model, methods.get(name, name))
        except Exception:  # of a property: let the call tell
            return True

    return {name: call for name, call in calls.items() if is_there(name)}


def place_of(error):
    """The last line of this package in the traceback of an error."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(PACKAGE)
    ]
    if not frames:
        return "elsewhere"
    return f"{Path(frames[-1].filename).relative_to(PACKAGE)}:{frames[-1].name}"


def use(calls):
    """Make the calls. Count what came of them, and list the errors that are not clear."""
    outcomes, faults = Counter(), []
    for call in calls.values():
        try:
            call()
            outcomes["calls: used"] += 1
        except (TimeoutError, Foreign):
            raise
        except Exception as error:
            _raise_if_beyond(error)
            if "Remedy" in str(error) or isinstance(error, MemoryError):
                outcomes["calls: refused clearly"] += 1
                continue
            is_value = isinstance(error, ValueError | TypeError)
            outcomes["calls: unclear error" if is_value else "calls: raw error"] += 1
            faults.append(f"{type(error).__name__} at {place_of(error)}: {str(error)[:100]}")
    return outcomes, faults


def attempt(case, content, path, fences, at_end):
    """Load a file and use it; what came of it."""
    path.write_bytes(content)

    def load():
        return trickless.load(path, [shots])

    try:
        with at_most(SECONDS):
            try:
                model = load()
            except ValueError as error:
                assert "Remedy" in str(error), error
                return Counter({"refused": 1}), []
            compare(load, case.X, fences, at_end)
            outcomes, faults = use(uses(model, load(), case.X, case.y, path))
            return outcomes + Counter({"loaded": 1}), faults
    except TimeoutError:
        return Counter({"slow": 1}), []
    except Foreign as error:
        cause = error.__cause__ or error
        return Counter({HARM[1]: 1}), [f"FOREIGN at {place_of(cause)}: {error}"]


class Child:
    """A forked process that tries files from a number on, and tells what came of each."""

    def __init__(self, cases, fences, numbers, seed, folder):
        self.errors = Path(folder, "errors")
        reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            with os.fdopen(writing, "w") as out, self.errors.open("w") as errors:
                os.dup2(errors.fileno(), 2)
                faulthandler.enable()
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                code = 1
                try:
                    try_files(cases, fences, numbers, seed, Path(folder, "model"), out)
                    code = 0
                except BaseException:
                    traceback.print_exc(file=errors)
                out.flush()
                errors.flush()
                os._exit(code)
        os.close(writing)
        self.lines = os.fdopen(reading)

    def end(self):
        """Why it has ended, with its place in this package; None if it has done all."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.lines.close()
        if not status:
            return None
        text = self.errors.read_text(errors="replace")
        if status > 0 and not text.startswith("Timeout"):
            raise RuntimeError(text)
        frames = re.findall(rf'File "{PACKAGE}/([^"]*)", line (\d+) in (\w+)', text)
        words = re.findall(r"malloc\(\).*|free\(\).*|corrupt.*|double free.*", text)
        at = " < ".join(":".join(frame) for frame in frames[:3])
        cause = f"signal {-status}" if status < 0 else "no answer"
        return f"{cause} at {at or 'elsewhere'} {words[:1]}"


def try_files(cases, fences, numbers, seed, path, out):
    """Try files, and tell the number and changes of each before, and its outcome after."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for i in numbers:
        case = cases[i % len(cases)]
        content, changes = changed(case.content, np.random.default_rng([seed, i]), case.draws)
        print(json.dumps([i, f"{case.name}: {', '.join(changes)}"]), file=out, flush=True)
        faulthandler.dump_traceback_later(DEAF, exit=True)
        outcomes, faults = attempt(case, content, path, fences, bool(i // len(cases) % 2))
        print(json.dumps([outcomes, faults]), file=out, flush=True)


def work(n, seed, start, out):
    """Try n files, in forks of this process. Print their outcomes."""
    from fences import Fences

    _compiled()
    fences, stop = Fences(), start + n
    stated_classes()
    with tempfile.TemporaryDirectory() as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = list(saved_cases.cases(folder))
        while start < stop:
            child = Child(cases, fences, range(start, stop), seed, folder)
            begun, what = None, ""
            for first, second in map(json.loads, child.lines):
                if type(first) is int:
                    begun, what = first, second
                else:
                    faults = [(fault, begun, what) for fault in second]
                    print(json.dumps([first, faults]), file=out, flush=True)
            cause = child.end()
            if cause is None:
                break
            fault = f"DIED by {cause}", begun, what
            print(json.dumps([{HARM[0]: 1}, [fault]]), file=out, flush=True)
            start = begun + 1


def run(n, seed=0, start=0, mode="compiled", show=None):
    """Try n files. Outcomes; faults, with how often each was seen, and a file that has it."""
    outcomes, faults, example = Counter(), Counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # forks may not wait
        more = one | {"PYTHONFAULTHANDLER": ""}
        if mode == "checked":  # loops that the cache of users must not get
            more["NUMBA_CACHE_DIR"] = folder
        command = [sys.executable, __file__, "--work", *map(str, (n, seed, start))]
        environment = os.environ | more | MODES[mode]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as child:
            for line in child.stdout:
                if not line.startswith("[{"):  # LAPACK prints complaints of its own
                    continue
                some, found = json.loads(line)
                outcomes.update(some | {"files": 1})
                for fault, number, what in found:
                    fault = re.sub(r"-?\d[\d,.]*", "#", fault)
                    faults[fault] += 1
                    example.setdefault(fault, (number, what))
                if show is not None:
                    show(outcomes, faults, example)
            error = child.stderr.read()
        if child.returncode:
            raise RuntimeError(error[-3000:])
    return outcomes, [(fault, count, example[fault]) for fault, count in faults.most_common()]


def tell(outcomes, faults, _):
    """Say how far it has come, after each thousand files."""
    if outcomes["files"] % 1000 == 0:
        print(f"{sum(faults.values())} faults, {dict(outcomes)}", file=sys.stderr, flush=True)


def main(n, seed=0, start=0, mode="compiled"):
    """Try n files, and print what came of them; whether any did harm."""
    outcomes, faults = run(int(n), int(seed), int(start), mode, tell)
    for what, count in sorted(outcomes.items()):
        print(f"{count:8d}  {what}")
    for fault, count, (number, what) in faults:
        print(f"{count:6d}  {fault}  [{number}: {what}]")
    return any(outcomes[what] for what in HARM)


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        out = os.fdopen(os.dup(1), "w")
        work(*map(int, sys.argv[2:5]), out)
        sys.exit()
    sys.exit(main(*sys.argv[1:]))
