"""A folder of tables: everything in it is read, refused or named in a warning."""

import os
import stat
from pathlib import Path

import pytest

from table_files import frame, write
from trickless.readers import folder
from trickless.readers.dataset import Dataset
from trickless.readers.errors import CommandError


@pytest.fixture
def tables(tmp_path):
    tables = tmp_path / "tables"
    tables.mkdir()
    write(frame(10), tables / "a.parquet")
    write(frame(20, seed=1), tables / "b.parquet")
    return tables


def refused(path):
    with pytest.raises(CommandError, match="Remedy") as caught:
        Dataset(path)
    return str(caught.value)


def said(path, capsys):
    """What is said of a folder that is read, and how many rows are read."""
    n_rows = sum(batch.data.num_rows for batch in Dataset(path).batches({"age": "number"}))
    return capsys.readouterr().err, n_rows


def test_a_sound_folder_is_read_without_a_warning(tables, capsys):
    assert said(tables, capsys) == ("", 30)


@pytest.mark.parametrize("ending", [".parquet", ".csv.gz", ".csv.zst"])
def test_broken_links_are_refused(tables, ending):
    (tables / f"c{ending}").symlink_to(tables / "gone")
    assert f"c{ending}: it is a link to a missing file" in refused(tables)


def test_circular_links_are_refused(tables):
    (tables / "c.parquet").symlink_to(tables / "c.parquet")
    assert "c.parquet: it is not accessible" in refused(tables)


def test_pipes_and_devices_are_refused(tables):
    os.mkfifo(tables / "c.parquet")
    assert "c.parquet: it is not a file but a device, pipe or socket" in refused(tables)
    assert "Remedy: write the table to a file" in refused(tables / "c.parquet")


def test_links_to_files_and_folders_are_followed(tables, tmp_path, capsys):
    write(frame(40), tmp_path / "far.parquet")
    (tables / "c.parquet").symlink_to(tmp_path / "far.parquet")
    (tmp_path / "more").mkdir()
    write(frame(80), tmp_path / "more/d.parquet")
    (tables / "linked").symlink_to(tmp_path / "more")
    assert said(tables, capsys) == ("", 150)


def test_rows_are_not_read_twice(tables):
    (tables / "latest.parquet").symlink_to("b.parquet")
    assert "latest.parquet: a link makes this the same file as " in refused(tables)
    (tables / "latest.parquet").unlink()
    (tables / "inside").mkdir()
    write(frame(5), tables / "inside/c.parquet")
    (tables / "latest").symlink_to("inside")
    assert "a link makes this the same file as" in refused(tables)


def test_a_link_to_a_parent_folder_is_refused(tables):
    (tables / "up").symlink_to(tables.parent)
    assert "leads back to a folder that contains it" in refused(tables)


def test_unreadable_folders_are_refused(tables, monkeypatch):
    (tables / "inside").mkdir()
    listdir = os.listdir

    def no_right(path):
        if Path(path).name == "inside":
            raise PermissionError(13, "Permission denied")
        return listdir(path)

    monkeypatch.setattr(folder.os, "listdir", no_right)
    assert "inside: this folder cannot be read: Permission denied" in refused(tables)


@pytest.mark.skipif(os.geteuid() == 0, reason="the rights of files do not bind root")
def test_unreadable_files_are_refused(tables):
    (tables / "b.parquet").chmod(0)
    assert "b.parquet: you may not read it" in refused(tables)


@pytest.mark.parametrize("name", ["part-00000", "c.xlsx", "c.json", "c.txt", "README.md", "c.orc"])
def test_files_of_other_endings_are_named(name, tables, capsys):
    (tables / name).touch()
    told, n_rows = said(tables, capsys)
    assert f"Warning: {tables}: {name} left out, since these endings are not formats" in told
    assert n_rows == 30


def test_many_files_of_other_endings_are_counted(tables, capsys):
    for i in range(10):
        (tables / f"part-{i}").touch()
    os.mkfifo(tables / "part-2.pipe")
    told, _ = said(tables, capsys)
    assert "part-0, part-1, part-2 and 8 more left out, since these" in told


@pytest.mark.parametrize(
    "name",
    ["_c.parquet", ".c.csv", "_temporary/c.parquet", ".ipynb_checkpoints/c.csv", "._c.csv.zst"],
)
def test_hidden_tables_are_named(name, tables, capsys):
    (tables / name).parent.mkdir(exist_ok=True)
    (tables / name).touch()
    told, n_rows = said(tables, capsys)
    assert f"{name} left out, since names that begin with . or _ are not read" in told
    assert n_rows == 30
    for file in tables.glob("?.parquet"):
        file.unlink()
    assert "there is no table in this folder" in refused(tables)


def test_marker_files_of_other_programs_are_skipped_silently(tables, capsys):
    for name in ("_SUCCESS", "_metadata", ".DS_Store", ".a.parquet.crc"):
        (tables / name).touch()
    assert said(tables, capsys) == ("", 30)


@pytest.mark.parametrize(
    "name", ["a%20b.csv", "http:x.csv", "s3:x.csv", "a#b?.csv", "*.csv", "a=b.csv", " .csv"]
)
def test_file_names_are_taken_literally(name, tmp_path, capsys):
    (tmp_path / "inside").mkdir()
    path = write(frame(7), tmp_path / "inside" / name)
    assert said(path, capsys) == ("", 7)
    assert said(path.parent, capsys) == ("", 7)
    assert stat.S_ISREG(path.stat().st_mode)
