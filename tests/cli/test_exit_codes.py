"""How commands end: Ctrl-C at any moment, readers that go away, full disks, faults of our own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from table_files import frame, write
from trickless import _cli as cli
from trickless._cli.exit_codes import BAD_INPUT, code_of

RUN = [sys.executable, "-m", "trickless"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ending")
    data = write(frame(60), folder / "data.csv")
    options = ["--target", "label", "--n-neurons", "9", "--out", str(folder / "model")]
    assert cli.main(["fit", str(data), *options]) == 0
    return folder / "model"


@pytest.mark.parametrize("milliseconds", [300, 1000])
def test_an_interrupt_at_any_moment_is_one_line(milliseconds, model):
    """While modules are imported, too; from the moment on that Python runs what is ours."""
    with subprocess.Popen(
        [*RUN, "describe", str(model)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(milliseconds / 1000)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
    if process.returncode == 0:
        return  # it was too late
    if process.returncode == 130:
        assert said in ("trickless: interrupted.\n", "trickless describe: interrupted.\n")
    else:  # while modules were imported, or too early: Python was starting
        assert process.returncode == -signal.SIGINT
        assert "numpy" not in said
        assert "trickless/cli/app" not in said


def test_interrupts_while_modules_are_imported_end_the_command_quietly(tmp_path):
    """Before NumPy is there; a module that ends with an interrupt is in its place."""
    (tmp_path / "pyarrow.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in range(10**9): pass\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    env = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([*RUN, "--version"], capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_main_leaves_the_handler_of_interrupts_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    assert cli.main(["--version"]) == 0
    assert signal.getsignal(signal.SIGINT) is before


def test_a_reader_that_goes_away_ends_the_command_quietly(model):
    arguments = ["describe", "--json", str(model)]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run([*RUN, *arguments], stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_output_that_cannot_be_written_is_one_line(model):
    if not Path("/dev/full").exists():
        pytest.skip("no such device")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*RUN, "describe", str(model)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("trickless describe: [Errno 28]")
    assert "Remedy: " in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("closed", "code"), [("1", 2), ("2", 0)])
def test_closed_streams_decide_the_exit_code(closed, code, model):
    command = f'exec "$@" {closed}>&-'
    arguments = ["sh", "-c", command, "sh", *RUN, "describe", str(model)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == code
    if closed == "1":
        assert done.stderr.count("\n") == 1
        assert "standard output is closed, but results go there. Remedy" in done.stderr
    else:
        assert "BoostedTreesClassifier" in done.stdout


def test_a_closed_error_stream_does_not_end_a_fit(model):
    reader, writer = os.pipe()
    os.close(reader)
    data, out = model.parent / "data.csv", model.parent / "again"
    options = ["--target", "label", "--n-neurons", "9", "--out", str(out)]
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [*RUN, "fit", str(data), *options], stdout=subprocess.PIPE, stderr=pipe, check=False
        )
    assert done.returncode == 0
    assert out.exists()


@pytest.mark.parametrize(
    "fault", [IndexError("7"), AssertionError(), KeyError("x\n\x1b[31m"), TypeError("no")]
)
def test_an_unexpected_error_says_what_to_report(fault, model, tmp_path, capsys, monkeypatch):
    def fail(*_):
        raise fault

    monkeypatch.setattr("trickless._cli.fit.learned", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    options = ["--target", "label", "--out", str(tmp_path / "m")]
    assert cli.main(["fit", str(model.parent / "data.csv"), *options]) == 1
    said = capsys.readouterr().err
    (file,) = tmp_path.glob("trickless-*.txt")
    assert said.startswith(f"trickless fit: this is a bug in trickless ({type(fault).__name__}")
    assert f"Remedy: please report this line, with the command and the traceback in {file}." in said
    assert len(said.splitlines()) == 1
    assert "\x1b" not in said
    assert "Traceback" in file.read_text()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert cli.main(["fit", str(model.parent / "data.csv"), *options]) == 1
    assert "Remedy: please report this line, with the command and your versions: trickless" in (
        capsys.readouterr().err
    )


def test_an_output_is_tested_before_anything_is_read(model, monkeypatch, capsys):
    def read(*_):
        raise AssertionError

    monkeypatch.setattr("trickless._cli.fit.Table", read)
    monkeypatch.setattr("trickless._cli.predict.Table", read)
    monkeypatch.setattr("trickless._cli.predict.learner_in", read)
    data, out = str(model.parent / "data.csv"), str(model.parent / "gone/out.csv")
    for command in (
        ["fit", data, "--target", "label", "--out", out],
        ["predict", str(model), data, "--out", out],
    ):
        assert cli.main(command) == 2
        assert "and that its folder exists." in capsys.readouterr().err


def test_little_is_imported_before_the_command_answers_an_interrupt():
    """Python prints a traceback of an interrupt that comes earlier."""
    probe = (
        "import sys; old = set(sys.modules); import trickless._cli; print(*set(sys.modules) - old)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith("trickless")}
    assert ours == {"trickless", "trickless._cli"}
    assert not {"typing", "re", "threading", "numpy"}.intersection(done.stdout.split())


@pytest.mark.parametrize("error", ["ImportError('libopenblas.so: failed to map')", "MemoryError()"])
def test_a_module_that_cannot_be_loaded_is_one_line(error, tmp_path):
    """As under a limit of memory, where libraries raise one error or another."""
    (tmp_path / "pyarrow.py").write_text(f"raise {error}\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    env = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([*RUN, "--version"], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("trickless: the command line cannot start")
    assert "Remedy: allow the process more memory" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_module_that_cannot_be_loaded_later_is_not_reported_as_a_bug(capsys):
    def command():
        raise ImportError("libscipy.so: failed to map segment from shared object")

    assert code_of(command, lambda: "trickless fit") == BAD_INPUT
    assert "cannot be loaded" in capsys.readouterr().err
