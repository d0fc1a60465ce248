"""Who follows the remedy of an error succeeds."""

import ast
import re
from pathlib import Path

import numpy
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from sklearn.base import clone, is_regressor

import trickless
from cases import CLASSIFIERS, KERNEL_LEARNERS, REGRESSORS, TREE_LEARNERS, name_of, problem
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
)
from trickless.inference import hsic_test, mmd_test
from trickless.neurons import Convolutions, Patches, Tabular, Trees

RNG = numpy.random.default_rng(0)
X, Y = RNG.standard_normal((2, 40, 4))
VALUES = X[:, 0]
LABELS = (VALUES > 0).astype(int)
DAYS = numpy.datetime64("2020-01-01") + numpy.arange(40).astype("timedelta64[D]")
FRAME = pandas.DataFrame(X, columns=list("abcd"))
GAPS = numpy.ma.array(X, mask=X > 2)
SQUARES = Patches((2, 2), patch=2, pool=1)
KITCHEN, DOUBLY = KitchenSinksRegressor(n_neurons=20), DoublyStochasticClassifier(n_neurons=20)
CLASSES = KitchenSinksClassifier(n_neurons=20)
RECORDS = FRAME.to_records(index=False)
TIMES, LONG = RNG.standard_normal((40, 12, 2)), KitchenSinksRegressor(Convolutions(), 20)


def wide(learner):
    return clone(learner).fit(X, VALUES if is_regressor(learner) else LABELS)


def numbered(columns):
    frame = pandas.DataFrame(X, columns=list("0123"))
    return frame[list(columns)]


def of_numbers():
    return wide(KITCHEN)


#: A call of a value, the value that it refuses, and what the remedy says in code. The code is
#: evaluated with the value as X, y, or sample_weight, and the result is passed instead.
CALLS = {
    "images": (lambda X: KITCHEN.fit(X, VALUES), "X", X.reshape(40, 2, 2), "X.reshape(len(X), -1)"),
    "times before channels": (lambda X: LONG.fit(X, VALUES), "X", TIMES, "X.transpose(0, 2, 1)"),
    "a list with times before channels": (
        lambda X: LONG.fit(X, VALUES), "X", [TIMES[0, 1:], *TIMES[1:]],
        "[series.T for series in X]",
    ),
    "records": (lambda X: KITCHEN.fit(X, VALUES), "X", RECORDS, "pandas.DataFrame(X)"),
    "lazy": (lambda X: KITCHEN.fit(X, VALUES), "X", polars.DataFrame(X).lazy(), "X.collect()"),
    "arrow": (
        lambda X: mmd_test(X, X), "X", pyarrow.table(FRAME).to_batches()[0], "X.to_pandas()",
    ),
    "dictionary": (
        lambda X: KITCHEN.fit(X, VALUES), "X", {"a": VALUES, "b": VALUES}, "pandas.DataFrame(X)",
    ),
    "mixed-labels": (
        lambda y: CLASSES.fit(X, y), "y", numpy.array(["a", 1] * 20, dtype=object),
        "numpy.asarray(y).astype(str)",
    ),
    "one-feature": (lambda X: KITCHEN.fit(X, VALUES), "X", VALUES, "X.reshape(-1, 1)"),
    "sparse": (
        lambda X: KitchenSinksRegressor(SQUARES, 20).fit(X, VALUES), "X",
        scipy.sparse.csr_matrix(X), "X.toarray()",
    ),
    "order": (
        lambda X: of_numbers().predict(X), "X", numbered("1032"), "X[sorted(X.columns, key=int)]",
    ),
    "places": (lambda X: of_numbers().predict(X), "X", numbered("1032"), "X.to_numpy()"),
    "samples": (lambda X: mmd_test(X, X), "X", VALUES, "X.reshape(-1, 1)"),
    "sample-of-images": (
        lambda X: hsic_test(X, Y), "X", X.reshape(40, 2, 2), "X.reshape(len(X), -1)",
    ),
    "sparse-targets": (
        lambda y: KITCHEN.fit(X, y), "y", scipy.sparse.csr_matrix(VALUES[:, None]), "y.toarray()",
    ),
    "three-dimensions": (
        lambda y: KITCHEN.fit(X, y), "y", X.reshape(40, 2, 2), "y.reshape(len(y), -1)",
    ),
    "target-records": (lambda y: KITCHEN.fit(X, y), "y", RECORDS, "y['a']"),
    "nanoseconds": (
        lambda y: CLASSES.fit(X, y), "y", DAYS.astype("M8[ns]")[:2][LABELS] + LABELS,
        "numpy.asarray(y).astype(str)",
    ),
}  # fmt: skip
for name, column in {
    "polars": polars.Series(VALUES), "pandas": pandas.Series(VALUES),
}.items():  # fmt: skip
    CALLS[f"{name}-series"] = (
        lambda X: KITCHEN.fit(X, VALUES), "X", column, "X.to_frame()",
    )  # fmt: skip
    CALLS[f"{name}-sample"] = (lambda X: mmd_test(X, X), "X", column, "X.to_frame()")
for name, days in {
    "array": DAYS, "series": pandas.Series(DAYS), "objects": DAYS.astype(object),
    "polars": polars.Series(DAYS), "timestamps": list(pandas.Series(DAYS)),
}.items():  # fmt: skip
    CALLS[f"dates-{name}"] = (
        lambda y: KITCHEN.fit(X, y), "y", days,
        "(numpy.asarray(y, 'datetime64[us]') - numpy.datetime64('1970-01-01')) / "
        "numpy.timedelta64(1, 'D')",
    )  # fmt: skip
    CALLS[f"durations-{name}"] = (
        lambda y: KITCHEN.fit(X, y), "y", DAYS - DAYS[0] if name == "array" else
        [day.astype(object) - DAYS[0].astype(object) for day in DAYS],
        "numpy.asarray(y, 'timedelta64[us]') / numpy.timedelta64(1, 'D')",
    )  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_code_in_a_remedy_makes_of_a_value_what_is_accepted(case):
    call, parameter, value, code = CALLS[case]
    with pytest.raises((TypeError, ValueError)) as caught:
        call(value)
    assert code in str(caught.value).split("Remedy: ")[1]
    call(eval(code, {parameter: value, "numpy": numpy, "pandas": pandas}))


#: A call that is refused, what the remedy says, and the call that follows it.
FOLLOWED = {
    "an unknown parameter of a fit": (
        lambda: DOUBLY.fit(X, LABELS, eval_set=[(X, LABELS)]),
        "DoublyStochasticClassifier(early_stopping=True)",
        lambda: DoublyStochasticClassifier(early_stopping=True, n_neurons=20).fit(X, LABELS),
    ),
    "a parameter of the class": (
        lambda: KITCHEN.fit(X, VALUES, dtype="float64"),
        "KitchenSinksRegressor(dtype=...)",
        lambda: KitchenSinksRegressor(n_neurons=20, dtype="float64").fit(X, VALUES),
    ),
    "a misspelt parameter": (
        lambda: KITCHEN.fit(X, VALUES, weights=VALUES**2),
        "sample_weight=...",
        lambda: KITCHEN.fit(X, VALUES, sample_weight=VALUES**2),
    ),
    "an interval of a prediction": (
        lambda: KITCHEN.fit(X, VALUES).predict(X, interval=0.9),
        "predict_interval(X, confidence=0.9)",
        lambda: KITCHEN.fit(X, VALUES).predict_interval(X, confidence=0.9),
    ),
    "masked rows": (
        lambda: KITCHEN.fit(GAPS, VALUES),
        "neurons=Tabular()",
        lambda: KitchenSinksRegressor(Tabular(), 20).fit(GAPS, VALUES),
    ),
    "masked rows of steps": (
        lambda: DoublyStochasticRegressor().fit(GAPS, VALUES),
        "neurons=Trees() for Doubly Stochastic Gradients",
        lambda: DoublyStochasticRegressor(Trees(), n_neurons=20).fit(GAPS, VALUES),
    ),
    "objects in an array": (
        lambda: KitchenSinksRegressor(Tabular(), 20).fit(X.astype(str) + "m", VALUES),
        "pass a data frame",
        lambda: KitchenSinksRegressor(Tabular(), 20).fit(
            pandas.DataFrame(X.astype(str)).add("m"), VALUES
        ),
    ),
    "several labels a row": (
        lambda: DOUBLY.fit(X, X > 0),
        "KitchenSinksClassifier(loss='squared_error')",
        lambda: KitchenSinksClassifier(loss="squared_error", n_neurons=20).fit(X, X > 0),
    ),
    "text as targets": (
        lambda: KITCHEN.fit(X, numpy.where(LABELS, "u", "v")),
        "KitchenSinksClassifier",
        lambda: CLASSES.fit(X, numpy.where(LABELS, "u", "v")),
    ),
    "a name as targets": (
        lambda: KITCHEN.fit(FRAME[["b", "c"]], "a"),
        "frame['a'], if that is a column",
        lambda: KITCHEN.fit(FRAME[["b", "c"]], FRAME["a"]),
    ),
    "weights in a column": (
        lambda: KITCHEN.fit(X, VALUES, FRAME[["a"]] ** 2),
        "numpy.ravel()",
        lambda: KITCHEN.fit(X, VALUES, numpy.ravel(FRAME[["a"]] ** 2)),
    ),
    "images with patches": (
        lambda: KITCHEN.fit(X.reshape(40, 2, 2), VALUES),
        "neurons=Patches(patch=2, pool=1)",
        lambda: KitchenSinksRegressor(Patches(patch=2, pool=1), 20)
        .fit(X.reshape(40, 2, 2), VALUES),
    ),
    "labels of a warm start": (
        lambda: wide(clone(DOUBLY).set_params(warm_start=True))
        .set_params(n_neurons=40).fit(X, LABELS + 1),
        "warm_start=False",
        lambda: wide(clone(DOUBLY).set_params(warm_start=True))
        .set_params(n_neurons=40, warm_start=False).fit(X, LABELS + 1),
    ),
    "parameters of a warm start": (
        lambda: wide(clone(DOUBLY).set_params(warm_start=True))
        .set_params(n_neurons=40, dtype="float64").fit(X, LABELS),
        "set warm_start=False and call fit",
        lambda: wide(clone(DOUBLY).set_params(warm_start=True))
        .set_params(n_neurons=40, dtype="float64", warm_start=False).fit(X, LABELS),
    ),
    "probabilities": (
        lambda: DoublyStochasticClassifier(loss="probit", n_neurons=20).fit(X, LABELS),
        "loss='log_loss' for probabilities",
        lambda: wide(DoublyStochasticClassifier(loss="log_loss", n_neurons=20)).predict_proba(X),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLLOWED)
def test_a_remedy_can_be_followed(case):
    refused, advice, followed = FOLLOWED[case]
    with pytest.raises((TypeError, ValueError)) as caught:
        refused()
    assert advice in str(caught.value).split("Remedy: ")[1]
    followed()


@pytest.mark.parametrize("shape", [(2, 2), (5, 3), (28, 28), (8, 8, 3), (100, 2), (2, 9, 1)])
def test_patches_that_a_remedy_names_suit_the_images(shape):
    images = RNG.random((40, *shape))
    with pytest.raises(ValueError, match="Remedy") as caught:
        KITCHEN.fit(images, VALUES)
    family = eval(re.search(r"neurons=(Patches\([^)]*\)) for images", str(caught.value))[1])
    KitchenSinksRegressor(family, 5).fit(images, VALUES)


@pytest.mark.parametrize("shape", [(24, 1), (1, 24, 1), (3, 8, 2, 1)])
def test_no_patches_are_advised_for_rows_that_are_no_images(shape):
    with pytest.raises(ValueError, match=r"Remedy: X\.reshape\(len\(X\), -1\)\.$"):
        KITCHEN.fit(RNG.random((40, *shape)), VALUES)


@pytest.mark.parametrize("shape", [(1, 24), (3, 9), (28, 28)])
def test_convolutions_that_a_remedy_names_suit_the_series(shape):
    series = RNG.random((40, *shape))
    with pytest.raises(ValueError, match="Remedy") as caught:
        KITCHEN.fit(series, VALUES)
    family = eval(re.search(r"neurons=(Convolutions\(\)) for series", str(caught.value))[1])
    KitchenSinksRegressor(family, 5).fit(series, VALUES)


def test_convolutions_are_advised_for_patches_of_series():
    with pytest.raises(ValueError, match=r"Remedy: Convolutions\(24\) for series"):
        KitchenSinksRegressor(Patches((24, 1), patch=3)).fit(RNG.random((40, 24)), VALUES)


@pytest.mark.parametrize(
    "learner", [*REGRESSORS, *CLASSIFIERS[:2], *KERNEL_LEARNERS[1:3], *TREE_LEARNERS], ids=name_of
)
def test_values_that_rules_advise_are_accepted(learner):
    """Each is ``name=value`` in the remedy of a parameter."""
    rows, targets = problem(learner)
    for rule in learner._rules.values():
        values = r"\b(\w+)=('\w+'|[-\d.e]+(?:\*\*\d+)?|None|True)"
        for name, code in re.findall(values, rule.remedy):
            if name in learner._rules:
                assert learner._rules[name].accepts(eval(code.rstrip("."))), (name, code)
    advised = {
        name: value
        for name, rule in learner._rules.items()
        for value in re.findall(rf"\b{name}='(\w+)'", rule.remedy)
    }
    for name, value in advised.items():
        if name != "verbose":
            model = clone(learner).set_params(**{name: value})
            model.fit(rows, numpy.abs(targets))  # which all losses take


@pytest.mark.parametrize(
    "contain", [numpy.asarray, numpy.ndarray.tolist, scipy.sparse.csr_array, pandas.DataFrame]
)
def test_nine_columns_instead_of_ten_are_not_called_none(contain):
    """Messages with the number 10 are not about 0 features or rows."""
    rows = RNG.standard_normal((10, 10))
    model = KitchenSinksRegressor(n_neurons=5).fit(rows, rows[:, 0])
    with pytest.raises(ValueError, match=r"9 features.*Remedy: pass the columns that the model"):
        model.predict(contain(rows[:, :9]))
    with pytest.raises(ValueError, match=r"\[10, 9\].*Remedy: one target and one weight for each"):
        model.fit(rows, rows[:9, 0])
    for none, what in ((rows[:0], "one row"), (rows[:, :0], "one column")):
        if contain is not numpy.ndarray.tolist:  # an empty list has no columns and no rows
            with pytest.raises(ValueError, match=rf"Remedy: pass at least {what}"):
                clone(model).fit(contain(none), numpy.arange(len(none)))


def test_remedies_are_data():
    """An error of a value or a type carries its remedy beside its cause, not in one string."""
    inside = []
    for path in sorted(Path(trickless.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            text = ast.unparse(node) if isinstance(node, ast.Raise) else ""
            if "Remedy" in text and re.match(r"raise (ValueError|TypeError)\(", text):
                inside.append(f"{path}:{node.lineno}")
    assert not inside
