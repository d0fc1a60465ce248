"""Files are written whole or not at all, and keep their rights."""

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import trickless
from interruptions import interrupted_at
from trickless._files.whole import check_writable, written_whole
from trickless.neurons import Gaussian

posix = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")


def write(path, content=b"new"):
    with written_whole("save", path) as file:
        file.write(content)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


@posix
@pytest.mark.parametrize("rights", [0o600, 0o640, 0o666, 0o755, 0o200])
def test_a_file_that_is_replaced_keeps_its_mode(rights, tmp_path, umask):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(rights)
    write(path)
    assert mode(path) == rights
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_new_file_follows_the_umask(tmp_path, umask):
    write(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o640


@posix
def test_nobody_else_can_read_a_private_file_while_it_is_written(tmp_path, umask):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with written_whole("save", path) as file:
        file.write(b"secret")
        (beside,) = set(tmp_path.iterdir()) - {path}
        assert mode(beside) == 0o600


@posix
def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(0o444)
    for call in (lambda: trickless.save(Gaussian(), path), lambda: check_writable("fit", path)):
        with pytest.raises(ValueError, match=r"model' exists and is read-only.*Remedy: use"):
            call()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@posix
@pytest.mark.parametrize("code", [errno.EROFS, errno.EPERM, errno.EACCES])
def test_whether_a_file_can_be_written_is_tried(code, tmp_path, monkeypatch):
    """Rights do not tell of file systems that are mounted read-only, and root has all of them."""
    path = tmp_path / "model"
    path.write_bytes(b"old")
    check_writable("fit", path)
    assert path.read_bytes() == b"old"
    opened = Path.open

    def refuse(self, mode="r", *arguments, **more):
        if self == path and "+" in mode:
            raise OSError(code, os.strerror(code))
        return opened(self, mode, *arguments, **more)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ValueError, match=r"model' exists and is read-only.*Remedy: use"):
        check_writable("fit", path)
    assert list(tmp_path.iterdir()) == [path]


@posix
@pytest.mark.parametrize("after", [True, False])
def test_a_file_that_another_process_moves_is_not_read_only(after, tmp_path, monkeypatch):
    """For a moment it has another name."""
    path = tmp_path / "model"
    path.write_bytes(b"old")
    opened = Path.open

    def move(self, mode="r", *arguments, **more):
        if self == path and "+" in mode:
            path.rename(tmp_path / "previous")
            if after:
                opened(path, "wb").close()
        return opened(self, mode, *arguments, **more)

    monkeypatch.setattr(Path, "open", move)
    check_writable("fit", path)


@posix
def test_pipes_are_refused_at_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for call in (lambda: trickless.load(pipe), lambda: trickless.save(Gaussian(), pipe)):
        with pytest.raises(ValueError, match=r"pipe' is not a file but a device, pipe.*Remedy"):
            call()
    with pytest.raises(ValueError, match="is a folder"):
        trickless.load(tmp_path)


def test_a_failed_write_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), written_whole("save", path) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_where_nothing_can_be_written_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"fit: .*cannot be written.*Remedy: check the spelling"):
        check_writable("fit", tmp_path / "nowhere" / "file")
    with pytest.raises(
        ValueError, match=r"cannot be written \(File name too long\).*a shorter name"
    ):
        check_writable("fit", tmp_path / ("long" * 100))
    check_writable("fit", tmp_path / "file")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("ENOSPC", "free some space"),
        ("EDQUOT", "larger quota"),
        ("EROFS", "not mounted read-only"),
        ("EACCES", "allow your user"),
        ("EIO", "check the disk"),
        ("ESTALE", "network drive"),
        ("E2BIG", "check that the path is right"),
    ],
)
def test_an_error_of_the_system_names_the_file_and_a_remedy(code, remedy, tmp_path, monkeypatch):
    number = getattr(errno, code)

    def fail(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("trickless._files.whole.os.fsync", fail)
    with pytest.raises(
        OSError, match=rf"save: '.*file' cannot be written \(.*Remedy: .*{remedy}"
    ) as caught:
        trickless.save(Gaussian(), tmp_path / "file")
    assert caught.value.errno == number
    assert not list(tmp_path.iterdir())


def test_an_error_of_another_file_is_left_as_it_is(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, written_whole("save", tmp_path / "file"):
        (tmp_path / "input").read_bytes()
    assert caught.value.filename == str(tmp_path / "input")
    assert "cannot be written" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "file"

    def save():
        with written_whole("save", path) as file:
            file.write(b"new")

    n = 1
    while interrupted_at(n, save):
        assert not list(tmp_path.glob(".*")), n
        n += 1
    assert n > 50
    assert path.read_bytes() == b"new"


WRITER = """
import sys, time
from trickless._files.whole import written_whole
with written_whole("save", sys.argv[1]) as file:
    file.write(bytes(10**6))
    print(flush=True)
    time.sleep(60)
"""


@posix
def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    path = tmp_path / "model"
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        (beside,) = tmp_path.iterdir()
        write(path)
        assert set(tmp_path.iterdir()) == {path, beside}  # the other still writes
        writer.kill()
    assert set(tmp_path.iterdir()) == {path, beside}
    check_writable("save", path)
    assert list(tmp_path.iterdir()) == [path]


def test_temporary_files_of_other_writers_are_kept(tmp_path):
    others = [tmp_path / ".model.tmp", tmp_path / ".other.0123456789abcdef.tmp"]
    for other in others:
        other.touch()
        os.utime(other, (0, time.time()))
    write(tmp_path / "model")
    assert set(tmp_path.iterdir()) == {tmp_path / "model", *others}
