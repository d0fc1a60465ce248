"""Rows, targets and weights of every shape and type that a user may hold them in."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

INTEGERS = "int8", "uint8", "int64", "uint64"


def values(kind, rows, columns, rng):
    """Numbers of a kind, shape (rows, columns)."""
    X = rng.standard_normal((rows, columns))
    match kind:
        case "normal":
            return X
        case "integers":
            return np.round(3 * X)
        case "constant-columns":
            X[:, ::2] = X[0, ::2]
            return X
        case "constant":
            return np.full_like(X, 2.5)
        case "zeros":
            return -0.0 * np.abs(X)
        case "duplicates":
            return X[rng.integers(0, max(1, rows // 3), rows)]
        case "collinear":
            return X[:, :1] * np.arange(1.0, columns + 1)
        case "huge":
            return 1e30 * X
        case "too-large":
            return 1e300 * X
        case "largest":
            return np.finfo(float).max * np.sign(X)
        case "denormal":
            return 1e-310 * X
        case "tiny":
            return 1e-40 * X
        case "scales":
            return X * 10.0 ** rng.integers(-20, 20, columns)
        case "far":
            return X + 1e12
        case "nan":
            X[rng.integers(rows), rng.integers(columns)] = np.nan
            return X
        case "inf":
            X[rng.integers(rows), rng.integers(columns)] = np.inf
            return X
    raise ValueError(kind)


VALUES = (
    "normal", "integers", "constant-columns", "constant", "zeros", "duplicates", "collinear",
    "huge", "too-large", "largest", "denormal", "tiny", "scales", "far", "nan", "inf",
)  # fmt: skip
#: Kinds whose rounding is no matter, so that other orders of summation give nearly the same model.
TAME = "normal", "integers", "duplicates"


@np.errstate(all="ignore")
def rounded(container, X):
    """The values that a container can hold, as float64; NaN where it has none."""
    if container in ("float16", "float32", "frame-float32", "csr-float32", "polars-float32"):
        return X.astype(container.split("-")[-1]).astype(float)
    if container in INTEGERS or container.endswith("-integers"):
        return np.clip(np.nan_to_num(np.round(X)), 0 if container[0] == "u" else -99, 99)
    if container.endswith("boolean"):
        return (X > 0).astype(float)
    if container in ("coo-duplicates", "frame-mixed", "polars-mixed"):
        X = X.copy()
        X[:, 0] = np.clip(np.nan_to_num(np.round(X[:, 0])), -99, 99)
        X[:, -1] = X[:, -1] > 0
    if container.startswith(SPARSE):
        return np.where(np.arange(X.size).reshape(X.shape) % 3 == 0, 0.0, X)
    return X.copy()


def names(columns):
    return [f"a{j}" for j in range(columns)]


def frame(X, **options):
    return pd.DataFrame(X, columns=names(X.shape[1]), **options)


def polars(X, dtype=pl.Float64):
    columns = {name: pl.Series(x.tolist()) for name, x in zip(names(X.shape[1]), X.T, strict=True)}
    return pl.DataFrame(columns).cast(dtype) if columns else pl.DataFrame()


def mixed_frame(X):
    table = frame(X)
    table["a0"] = X[:, 0].astype(int)
    last = names(X.shape[1])[-1]
    table[last] = X[:, -1].astype(bool)
    return table


def duplicated_entries(X):
    """COO entries that are there twice, each of half the value."""
    C = scipy.sparse.coo_matrix(X)
    twice = [np.concatenate([part, part]) for part in (C.row, C.col)]
    return scipy.sparse.coo_matrix(
        (np.concatenate([C.data, C.data]) / 2, (twice[0], twice[1])), C.shape
    )


def wide_indices(X):
    C = scipy.sparse.csr_matrix(X)
    C.indices, C.indptr = C.indices.astype(np.int64), C.indptr.astype(np.int64)
    return C


def unsorted(X):
    C = scipy.sparse.csc_matrix(X).tocsr().T.tocsr().T.tocsr()
    for start, stop in zip(C.indptr[:-1], C.indptr[1:], strict=True):
        C.indices[start:stop] = C.indices[start:stop][::-1].copy()
        C.data[start:stop] = C.data[start:stop][::-1].copy()
    C.has_sorted_indices = False
    return C


def explicit_zeros(X):
    C = scipy.sparse.csr_matrix(np.ones_like(X))
    C.data = X.ravel().copy()
    return C


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def read_only_sparse(X):
    C = scipy.sparse.csr_matrix(X)
    for part in (C.data, C.indices, C.indptr):
        part.flags.writeable = False
    return C


def within(X, step):
    """A view of every ``step``-th row and column of a larger array of other numbers."""
    whole = np.full((step * X.shape[0], step * X.shape[1]), 7.0)
    whole[::step, ::step] = X
    return whole[::step, ::step]


def ragged(X):
    return [*X.tolist()[:-1], [1.0] * (X.shape[1] + 1)]


def structured(X):
    return np.array([tuple(x) for x in X], dtype=[(name, float) for name in names(X.shape[1])])


#: Containers that keep rows as they are: what is learned from them is what it is of plain rows.
SOUND = {
    "float64": np.copy,
    "float32": lambda X: X.astype("float32"),
    "float16": lambda X: X.astype("float16"),
    "longdouble": lambda X: X.astype("longdouble"),
    "big-endian": lambda X: X.astype(">f8"),
    **{name: lambda X, name=name: X.astype(name) for name in INTEGERS},
    "boolean": lambda X: X.astype(bool),
    "objects": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "list-of-arrays": list,
    "read-only": read_only,
}
#: The same, but the order in memory differs, and with it the rounding of sums.
REORDERED = {
    "fortran": np.asfortranarray,
    "reversed": lambda X: X[::-1].copy()[::-1],
    "within": lambda X: within(X, 2),
    "frame": frame,
    "frame-float32": lambda X: frame(X.astype("float32")),
    "frame-integers": lambda X: frame(X.astype(int)),
    "frame-nullable": lambda X: frame(X).astype("Float64"),
    "frame-nullable-integers": lambda X: frame(X.astype(int)).astype("Int64"),
    "frame-boolean": lambda X: frame(X.astype(bool)),
    "frame-nullable-boolean": lambda X: frame(X.astype(bool)).astype("boolean"),
    "frame-objects": lambda X: frame(X).astype(object),
    "frame-mixed": mixed_frame,
    "frame-index": lambda X: frame(X, index=np.arange(len(X))[::-1] % 3),
    "frame-numbered": pd.DataFrame,
    "polars": polars,
    "polars-float32": lambda X: polars(X, pl.Float32),
    "polars-integers": lambda X: polars(X, pl.Int16),
    "polars-boolean": lambda X: polars(X.astype(bool)),
    "polars-mixed": lambda X: pl.from_pandas(mixed_frame(X)),
}
#: Sparse ones, which a learner that takes dense rows only refuses.
SPARSE_SOUND = {
    **{
        f"{kind}{flavour}": getattr(scipy.sparse, kind + flavour)
        for kind in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
        for flavour in ("_matrix", "_array")
    },
    "csr-float32": lambda X: scipy.sparse.csr_matrix(X.astype("float32")),
    "csr-integers": lambda X: scipy.sparse.csr_matrix(X.astype(int)),
    "csr-boolean": lambda X: scipy.sparse.csr_matrix(X.astype(bool)),
    "csr-wide-indices": wide_indices,
    "csr-unsorted": unsorted,
    "csr-zeros": explicit_zeros,
    "csr-read-only": read_only_sparse,
    "coo-duplicates": duplicated_entries,
    "sparse-frame": lambda X: frame(X).astype(pd.SparseDtype(float, 0.0)),
}
SPARSE = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr", "sparse")
#: What may be taken or refused, for a reason that is said.
DOUBTFUL = {
    "1d": lambda X: X[:, 0],
    "3d": lambda X: X[:, :, None],
    "no-rows": lambda X: X[:0],
    "no-columns": lambda X: X[:, :0],
    "scalar": lambda X: 3.0,
    "none": lambda X: None,
    "word": lambda X: "rows",
    "dictionary": lambda X: {"a": X.tolist()},
    "set": lambda X: set(X[:, 0].tolist()),
    "generator": lambda X: (row for row in X),
    "ragged": ragged,
    "structured": structured,
    "matrix": np.matrix,
    "masked": lambda X: np.ma.masked_array(X, np.zeros(X.shape, bool)),
    "masked-some": lambda X: np.ma.masked_array(X, np.arange(X.size).reshape(X.shape) == 0),
    "complex": lambda X: X + 1j,
    "complex-real": lambda X: X.astype(complex),
    "text": lambda X: X.astype(str),
    "words": lambda X: np.full(X.shape, "red"),
    "bytes": lambda X: np.full(X.shape, b"red"),
    "object-words": lambda X: np.full(X.shape, "red", dtype=object),
    "object-none": lambda X: np.full(X.shape, None),
    "object-lists": lambda X: frame(X).map(lambda v: [v]).to_numpy(),
    "object-digits": lambda X: X.astype(str).astype(object),
    "dates": lambda X: np.full(X.shape, "2020-01-01", dtype="datetime64[D]"),
    "void": lambda X: np.zeros(X.shape, dtype="V8"),
    "csr-complex": lambda X: scipy.sparse.csr_matrix(X + 1j),
    "csr-no-rows": lambda X: scipy.sparse.csr_matrix(X[:0]),
    "csr-1d": lambda X: scipy.sparse.coo_array(X[:, 0]),
    "frame-twice": lambda X: pd.DataFrame(X, columns=["a"] * X.shape[1]),
    "frame-missing": lambda X: frame(X).astype("Float64").mask(X > 1),
    "frame-words": lambda X: frame(np.full(X.shape, "red", dtype=object)),
    "frame-categories": lambda X: frame(np.where(X > 0, "u", "v")).astype("category"),
    "frame-numbers-as-categories": lambda X: frame(np.round(X)).astype("category"),
    "frame-dates": lambda X: frame(X).assign(a0=pd.Timestamp("2020-01-01")),
    "frame-complex": lambda X: frame(X + 1j),
    "frame-lists": lambda X: frame(X).map(lambda v: [v]),
    "frame-mixed-names": lambda X: frame(X).rename(columns={"a0": 0}),
    "frame-several-levels": lambda X: pd.concat({"top": frame(X)}, axis=1),
    "frame-no-rows": lambda X: frame(X).iloc[:0],
    "series": lambda X: pd.Series(X[:, 0]),
    "polars-missing": lambda X: polars(X).with_columns(pl.all().replace(X[0, 0], None)),
    "polars-words": lambda X: polars(np.where(X > 0, "u", "v").astype(object), pl.String),
    "polars-categories": lambda X: polars(np.where(X > 0, "u", "v"), pl.Categorical),
    "polars-enum": lambda X: polars(np.where(X > 0, "u", "v"), pl.Enum(["v", "u"])),
    "polars-dates": lambda X: pl.DataFrame({"a0": [pd.Timestamp("2020-01-01")] * len(X)}),
    "polars-lists": lambda X: pl.DataFrame({"a0": X.tolist()}),
    "polars-no-rows": lambda X: polars(X).head(0),
    "polars-lazy": lambda X: polars(X).lazy(),
    "polars-series": lambda X: pl.Series(X[:, 0]),
}  # fmt: skip
CONTAINERS = SOUND | REORDERED | SPARSE_SOUND | DOUBTFUL


def contained(container, X):
    """Rows in a container, and the plain rows that it stands for."""
    X = rounded(container, X)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CONTAINERS[container](X), X


REAL_TARGETS = {
    "floats": lambda y: y,
    "float32": lambda y: y.astype("float32"),
    "float16": lambda y: y.astype("float16"),
    "integers": lambda y: np.round(2 * y).astype(int),
    "boolean": lambda y: y > 0,
    "objects": lambda y: y.astype(object),
    "list": lambda y: y.tolist(),
    "column": lambda y: y[:, None],
    "two": lambda y: np.column_stack([y, -y]),
    "two-fortran": lambda y: np.asfortranarray(np.column_stack([y, y**2])),
    "two-frame": lambda y: pd.DataFrame({"u": y, "v": -y}),
    "series": pd.Series,
    "nullable": lambda y: pd.Series(y, dtype="Float64"),
    "polars": lambda y: pl.Series(y),
    "polars-frame": lambda y: pl.DataFrame({"u": y, "v": -y}),
    "read-only": read_only,
    "backwards": lambda y: y[::-1],
    "constant": lambda y: np.full_like(y, 3.5),
    "zero": lambda y: 0.0 * y,
    "huge": lambda y: 1e30 * y,
    "too-large": lambda y: 1e300 * y,
    "largest": lambda y: np.finfo(float).max * np.sign(y),
    "denormal": lambda y: 1e-310 * y,
    "far": lambda y: y + 1e14,
    "missing": lambda y: np.where(np.arange(len(y)) == 0, np.nan, y),
    "infinite": lambda y: np.where(np.arange(len(y)) == 0, np.inf, y),
    "series-missing": lambda y: pd.Series(y, dtype="Float64").mask(y == y[0]),
    "short": lambda y: y[:-1],
    "none": lambda y: None,
    "words": lambda y: np.where(y > 0, "u", "v"),
    "digits": lambda y: y.astype(str),
    "complex": lambda y: y + 1j,
    "3d": lambda y: y[:, None, None],
    "no-outputs": lambda y: np.empty((len(y), 0)),
    "scalar": lambda y: 1.0,
    "dates": lambda y: np.full(len(y), "2020-01-01", dtype="datetime64[D]"),
    "sparse": lambda y: scipy.sparse.csr_matrix(y[:, None]),
}
LABELS = {
    "integers": lambda y: y,
    "words": lambda y: np.array(["u", "v", "w"])[y],
    "object-words": lambda y: np.array(["u", "v", "w"], dtype=object)[y],
    "bytes": lambda y: np.array([b"u", b"v", b"w"])[y],
    "boolean": lambda y: y > 0,
    "floats": lambda y: y.astype(float),
    "float16": lambda y: y.astype("float16"),
    "int8": lambda y: (y - 1).astype("int8"),
    "uint64": lambda y: y.astype("uint64") + 2**63,
    "list": lambda y: y.tolist(),
    "list-of-words": lambda y: [f"class {label}" for label in y],
    "column": lambda y: y[:, None],
    "series": pd.Series,
    "series-of-words": lambda y: pd.Series(np.array(["u", "v", "w"])[y]),
    "nullable": lambda y: pd.Series(y, dtype="Int64"),
    "nullable-words": lambda y: pd.Series(np.array(["u", "v", "w"])[y], dtype="string"),
    "categories": lambda y: pd.Series(np.array(["u", "v", "w"])[y], dtype="category"),
    "polars": lambda y: pl.Series(y),
    "polars-words": lambda y: pl.Series(np.array(["u", "v", "w"])[y]),
    "polars-categories": lambda y: pl.Series(np.array(["u", "v", "w"])[y]).cast(pl.Categorical),
    "read-only": read_only,
    "one-class": lambda y: 0 * y,
    "mixed": lambda y: np.array([0, "v", 1], dtype=object)[y],
    "object-numbers": lambda y: np.array([0, 1, 2], dtype=object)[y],
    "continuous": lambda y: y + 0.25,
    "missing": lambda y: np.where(np.arange(len(y)) == 0, np.nan, y),
    "object-missing": lambda y: np.where(np.arange(len(y)) == 0, None, y),
    "series-missing": lambda y: pd.Series(y, dtype="Int64").mask(y == y[0]),
    "words-missing": lambda y: np.array(["u", None, "w"], dtype=object)[y],
    "several-labels": lambda y: np.column_stack([y > 0, y > 1]).astype(int),
    "several-outputs": lambda y: np.column_stack([y, 2 - y]),
    "short": lambda y: y[:-1],
    "none": lambda y: None,
    "scalar": lambda y: 1,
    "dates": lambda y: np.array(["2020", "2021", "2022"], dtype="datetime64[D]")[y],
    "complex": lambda y: y + 1j,
    "sparse": lambda y: scipy.sparse.csr_matrix(y[:, None]),
}
WEIGHTS = {
    "none": lambda w: None,
    "ones": np.ones_like,
    "numbers": lambda w: w,
    "float16": lambda w: w.astype("float16"),
    "integers": lambda w: np.ceil(3 * w).astype(int),
    "boolean": lambda w: w > 0.3,
    "list": lambda w: w.tolist(),
    "series": pd.Series,
    "nullable": lambda w: pd.Series(w, dtype="Float64"),
    "polars": lambda w: pl.Series(w),
    "read-only": read_only,
    "some-zero": lambda w: np.where(w < 0.5, 0.0, w),
    "one-row": lambda w: np.where(np.arange(len(w)) == 0, 1.0, 0.0),
    "scales": lambda w: 10.0 ** (40 * w - 20),
    "zero": lambda w: 0 * w,
    "scalar": lambda w: 2.0,
    "column": lambda w: w[:, None],
    "short": lambda w: w[:-1],
    "negative": lambda w: w - 0.5,
    "missing": lambda w: np.where(np.arange(len(w)) == 0, np.nan, w),
    "infinite": lambda w: np.where(np.arange(len(w)) == 0, np.inf, w),
    "denormal": lambda w: 1e-310 * w,
    "huge": lambda w: 1e300 * w,
    "words": lambda w: np.full(len(w), "heavy"),
    "object-none": lambda w: np.full(len(w), None),
    "complex": lambda w: w + 1j,
    "sparse": lambda w: scipy.sparse.csr_matrix(w[:, None]),
}

#: Values of parameters that are numbers.
SCALARS = (
    0, 1, 2, 100, -1, 0.05, 0.5, 1.5, 1e-300, 5e-324, 1e300, 10**6, 10**400, np.nan, np.inf,
    -np.inf, None, "0.5", True, np.True_, 1j, [1.0], np.int64(3), np.float32(0.5), np.float16(0.5),
    np.array(0.5), np.array([0.5]),
)  # fmt: skip
