"""What holds for rows however they are stored, in everything that takes them."""

from copy import deepcopy
from inspect import signature

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone, is_regressor

from cases import (
    CLASSIFIERS,
    EVERY,
    KERNEL_LEARNERS,
    REGRESSORS,
    SPARSE,
    answers,
    inputs,
    name_of,
    problem,
    suited,
)
from fit_everything import make
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless._functions.stream import draw
from trickless._solvers.named_losses import (
    CLASSIFICATION_LOSSES,
    QUANTILE_LOSSES,
    REGRESSION_LOSSES,
)
from trickless.inference import hsic_test, mmd_test
from trickless.inspection import Expansion
from trickless.neurons import Gaussian

#: Classifiers read rows as regressors do.
READERS = [*REGRESSORS, CLASSIFIERS[0], *KERNEL_LEARNERS[1:3]]
every_learner = pytest.mark.parametrize("learner", READERS, ids=name_of)
#: Kernels that scikit-learn computes by loops of its own, by products, and by lengths of rows.
KERNELS = "laplacian", "rbf", "cosine"

pytestmark = pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")


def halves(X):
    """Rows of multiples of 1/8, about half of which are 0, so that sums of parts are exact."""
    return np.round(8 * X) / 8 * (inputs(*X.shape, seed=9) > 0)


def of_parts(rows, order, ends=None, share=1, cls=scipy.sparse.csr_matrix):
    """The numbers of CSR rows in another order, as they are, or each as several equal parts."""
    ends = rows.indptr if ends is None else ends
    return cls((rows.data[order] / share, rows.indices[order], ends.copy()), shape=rows.shape)


def unsorted(X, cls=scipy.sparse.csr_matrix):
    rows = scipy.sparse.csr_matrix(X)
    ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return of_parts(rows, np.concatenate([np.arange(*each)[::-1] for each in ends]), cls=cls)


def duplicated(X):
    rows = unsorted(X)
    ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    order = np.concatenate([np.tile(np.arange(*each), 2) for each in ends])
    return of_parts(rows, order, 2 * rows.indptr, share=2)


def with_zeros(X):
    rows = scipy.sparse.csr_matrix(np.ones_like(X))
    rows.data[:] = X.ravel()
    return rows


def wide(X):
    rows = unsorted(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


def remembered(X):
    """Rows that SciPy takes for canonical, since they were before they were changed."""
    rows = scipy.sparse.csr_matrix(X)
    assert rows.has_canonical_format
    other = unsorted(X)
    rows.data, rows.indices = other.data, other.indices
    assert rows.has_canonical_format
    return rows


def read_only(rows):
    for part in (rows.data, rows.indices, rows.indptr):
        part.setflags(write=False)
    return rows


FORMS = {
    "unsorted": unsorted,
    "array": lambda X: unsorted(X, scipy.sparse.csr_array),
    "duplicated": duplicated,
    "zeros": with_zeros,
    "wide": wide,
    "remembered": remembered,
    "read-only": lambda X: read_only(scipy.sparse.csr_matrix(X)),
    "read-only duplicates": lambda X: read_only(duplicated(X)),
    "product": lambda X: scipy.sparse.identity(len(X), format="csr") @ unsorted(X),
    "columns": lambda X: scipy.sparse.csr_matrix(X[:, ::-1])[:, [3, 2, 1, 0]],
    "csc": scipy.sparse.csc_matrix,
    "coo": lambda X: duplicated(X).tocoo(),
    "coo array": lambda X: scipy.sparse.coo_array(X),
    "lil": scipy.sparse.lil_matrix,
    "dok": scipy.sparse.dok_matrix,
    "bsr": lambda X: scipy.sparse.bsr_matrix(X, blocksize=(2, 2)),
    "dia": scipy.sparse.dia_array,
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
#: Those that SciPy would sort or sum in place.
SOME = [FORMS[name] for name in ("unsorted", "duplicated", "remembered", "read-only duplicates")]


@every_form
def test_forms_hold_the_same_numbers(form):
    X = halves(inputs(40, 4))
    assert (form(X).toarray() == X).all()


def fitted(learner, X, y, **options):
    options = {"random_state": 0} | options
    return clone(learner).set_params(**options).fit(X, y)


def options_of(learner):
    """The kernels, or families, with which a learner is tried."""
    params = learner.get_params()
    if "kernel" in params and isinstance(params["kernel"], str):
        return [{"kernel": kernel, "kernel_params": None} for kernel in KERNELS]
    return [{}]


@every_learner
def test_the_form_of_sparse_rows_changes_nothing(learner):
    X, y = problem(learner, rows=50)
    X = halves(X)
    forms = FORMS.values() if name_of(learner).startswith("Kernel") else SOME
    for options in options_of(learner):
        model = fitted(learner, scipy.sparse.csr_matrix(X), y, **options)
        expected = answers(model, scipy.sparse.csr_matrix(X))
        for form in forms:
            again = fitted(learner, form(X), y, **options)
            np.testing.assert_array_equal(answers(again, form(X)), expected)
            if hasattr(again, "support_vectors_"):
                support = again.support_vectors_.toarray()
                assert {tuple(row) for row in support} <= {tuple(row) for row in X}
        forms = SOME  # the others are brought into order before there is a kernel


@every_learner
def test_arguments_are_never_changed(learner):
    X, y = problem(learner, rows=40)
    X = halves(X)
    options = options_of(learner)
    for rows in (*(form(X) for form in SOME), scipy.sparse.coo_matrix(X), X.copy(order="F")):
        for params in options:
            model, extra = clone(learner).set_params(**params), {}
            if "sample_weight" in signature(model.fit).parameters:
                extra["sample_weight"] = np.linspace(0, 1, len(y))
            given = [rows, y.copy(), *extra.values()]
            before = deepcopy(given)
            answers(model.fit(rows, given[1], **extra), rows)
            model.score(rows, given[1])
            if hasattr(model, "partial_fit"):
                model.partial_fit(rows, given[1])
            assert_same(given, before)
        options = options[:1]  # the first rows are unsorted, and meet every kernel


def assert_same(given, before):
    """Compare arrays and sparse rows bit for bit, with the order of their numbers."""
    for now, then in zip(given, before, strict=True):
        parts = ("data", "indices", "indptr", "row", "col", "rows", "offsets")
        names = [name for name in parts if hasattr(then, name)]
        if not scipy.sparse.issparse(then):
            np.testing.assert_array_equal(now, then)
        elif then.format == "dok":
            assert dict(now) == dict(then)
        else:
            for name in names:
                np.testing.assert_array_equal(getattr(now, name), getattr(then, name))


@pytest.mark.parametrize(
    "family", ["gaussian", "stumps", "dense-relu", "tanimoto", "product", "landmarks-fixed"]
)
def test_families_functions_and_features_take_rows_in_any_form(family):
    X, y = problem(KitchenSinksRegressor())
    X = suited(family, halves(X))
    options = {"dtype": "float64", "n_neurons": 20}
    plain = make(KitchenSinksRegressor(), family, **options).fit(scipy.sparse.csr_matrix(X), y)
    values = plain.network_(scipy.sparse.csr_matrix(X))
    expansions = []
    for form in (scipy.sparse.csr_matrix, *SOME):
        rows = form(X)
        before = deepcopy(rows)
        model = make(KitchenSinksRegressor(), family, **options).fit(rows, y)
        np.testing.assert_array_equal(model.network_(rows), values)
        features = RandomFeatures(model.neurons_, scale="unit", random_state=0, **options).fit(rows)
        Z = features.transform(rows)
        np.testing.assert_array_equal(Z, features.transform(scipy.sparse.csr_matrix(X)))
        f = Expansion(model.neurons_, rows, y[:, None])
        expansions.append(f.freeze(9, "index", 0)(rows) + f.freeze(9, "full", 0)(rows))
        np.testing.assert_array_equal(expansions[-1], expansions[0])
        assert_same([rows], [before])


@every_form
def test_tests_of_hypotheses_take_rows_in_any_form(form):
    X, Y = halves(inputs(30, 4)), halves(inputs(30, 4, seed=2))
    options = {"n_neurons": 20, "n_permutations": 9, "random_state": 0}
    for test in (mmd_test, hsic_test):
        expected = test(*map(scipy.sparse.csr_matrix, (X, Y)), **options)
        given = [form(X), form(Y)]
        before = deepcopy(given)
        assert test(*given, **options).statistic == expected.statistic
        assert_same(given, before)


def test_kernel_functions_of_neurons_take_rows_in_any_form():
    for family in SPARSE:
        X = suited(family, halves(inputs(20, 4)))
        neurons = make(KitchenSinksRegressor(), family).get_params()["neurons"]
        rng = np.random.default_rng(0)
        fits = [clone(neurons).fit(form(X), np.random.default_rng(0)) for form in SOME]
        weights = draw(fits[0], rng, 5, np.float64)
        for form in SOME:
            np.testing.assert_allclose(fits[0](form(X), weights), fits[0](X, weights), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_relevance_of_features_is_that_of_dense_rows(dtype):
    """Bit for bit, since descent magnifies what differs by rounding."""
    learner = KitchenSinksClassifier(
        Gaussian("relevance"), n_neurons=60, random_state=0, dtype=dtype
    )
    X, y = problem(learner, rows=300)
    X = X * (inputs(*X.shape, seed=9) > 0)
    dense, sparse = clone(learner).fit(X, y), clone(learner).fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.neurons_.length_scale_, sparse.neurons_.length_scale_)
    expected, tolerance = answers(dense, X), {"float32": 1e-3, "float64": 1e-9}[dtype]
    np.testing.assert_allclose(
        answers(sparse, X), expected, atol=tolerance * np.abs(expected).max()
    )


def every_loss():
    """Each learner with each of its losses, in double precision where it has a choice."""
    for learner in (m for m in EVERY if m.__sklearn_tags__().input_tags.sparse):
        params = learner.get_params()
        losses = (
            (*REGRESSION_LOSSES, *QUANTILE_LOSSES)
            if is_regressor(learner)
            else CLASSIFICATION_LOSSES
        )
        if "loss" in params:  # those that the learner has
            losses = [loss for loss in losses if learner._rules["loss"].accepts(loss)]
        for loss in losses if "loss" in params else ("",):
            options = {"loss": loss} if loss else {}
            if "dtype" in params:
                options["dtype"] = "float64"
            yield pytest.param(learner, options, id=f"{name_of(learner)}-{loss}")


@pytest.mark.parametrize(("learner", "options"), list(every_loss()))
def test_sparse_rows_give_the_model_of_dense_rows_for_every_loss(learner, options):
    X, y = problem(learner)
    X = halves(X)
    expected = answers(fitted(learner, X, y, **options), X)
    found = answers(fitted(learner, scipy.sparse.csr_matrix(X), y, **options), X)
    np.testing.assert_allclose(found, expected, atol=1e-7 * expected.std(), rtol=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("loss", "length_scale", "options"),
    [
        ("log_loss", "relevance", {"dtype": "float64"}),
        ("hinge", "auto", {"dtype": "float32"}),
        ("squared_hinge", "median", {"dtype": "float32", "weight_bound": 1.0}),
    ],
)
def test_descent_ends_where_it_does_for_dense_rows(loss, length_scale, options):
    """Without noise the risk is flat, and any rounding error would decide among solutions."""
    learner = KitchenSinksClassifier(Gaussian(length_scale), n_neurons=40, loss=loss, max_iter=30)
    X, y = problem(learner)
    X = halves(X)
    models = [fitted(learner, rows, y, **options) for rows in (X, scipy.sparse.csr_matrix(X))]
    expected, found = (answers(model, X) for model in models)
    np.testing.assert_allclose(found, expected, atol=1e-12 * expected.std(), rtol=0)
