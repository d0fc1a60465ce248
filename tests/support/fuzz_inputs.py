"""Every public method on odd inputs: a right answer, or an error that helps.

An answer is finite, of the right shape and type, and that of the same call on plain rows. Run as a
script to try many:

python tests/support/fuzz_inputs.py 5000
"""

import sys
import warnings
from copy import deepcopy
from typing import NamedTuple

import numpy as np
import scipy.sparse
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from cases import EVERY, name_of
from odd_inputs import (
    CONTAINERS,
    DOUBTFUL,
    LABELS,
    REAL_TARGETS,
    REORDERED,
    SCALARS,
    SOUND,
    SPARSE_SOUND,
    TAME,
    VALUES,
    WEIGHTS,
    contained,
    values,
)
from trickless import theory
from trickless.inspection import estimate_kernel
from trickless.neurons import Dense, Gaussian, Landmarks, Stumps

#: Warnings of scikit-learn about rows and targets of any estimator.
STANDARD_WARNINGS = "A column-vector y was passed", "feature names"
#: Families by name; the first suits every row.
FAMILIES = (
    "gaussian", "stumps", "dense", "ferns", "tabular", "laplace", "coordinates",
    "deep", Dense("relu"), Gaussian(2.0), Stumps("normal"), Landmarks(Gaussian()),
)  # fmt: skip
OPTIONS = {
    "KitchenSinks": [
        {}, {"alpha": 1e-3}, {"alpha": 0.0}, {"alpha": 1e-12}, {"n_neurons": 1},
        {"weight_bound": 1.0, "fit_intercept": False}, {"solver": "iterative"}, {"alpha": 1e6},
        {"search": {"neurons__length_scale": [0.5, 2.0]}},
    ],
    "KitchenSinksClassifier": [{"loss": "log_loss"}, {"loss": "hinge"}, {"loss": "squared_hinge"}],
    "DoublyStochastic": [
        {}, {"alpha": 0.0}, {"schedule": "constant"}, {"schedule": "block"},
        {"batch_size": 3}, {"early_stopping": True}, {"step_size": 1e3},
        {"schedule": "theorem", "alpha": 1.0}, {"half_life": 20},
    ],
    "DoublyStochasticRegressor": [{"loss": "huber"}, {"loss": "epsilon_insensitive"}],
    "DoublyStochasticClassifier": [{"loss": "hinge"}, {"loss": "squared_hinge"}],
    "ShrinkingGradient": [
        {}, {"max_support": 5}, {"batch_size": 1}, {"average": False}, {"estimate": "index"},
        {"norm_bound": 0.01}, {"schedule": "inverse"}, {"half_life": 20},
    ],
    "KernelGradient": [{}, {"kernel": "linear"}, {"max_support": 4}, {"kernel": "sigmoid"}],
    "NoisyKernel": [{}, {"n_draws": 3}],
    "BoostedTrees": [
        {}, {"early_stopping": True}, {"early_stopping": False}, {"half_life": 20},
        {"learning_rate": 1.0, "l2_regularization": 0}, {"shape": "binary"}, {"max_depth": 16},
        {"leaves": "linear"}, {"n_candidates": 1}, {"interaction_cst": "pairwise"},
    ],
    "BoostedTreesRegressor": [{"loss": "huber"}, {"loss": "quantile", "quantile": [0.1, 0.9]}],
}  # fmt: skip
SMALL = {
    "KitchenSinks": {"n_neurons": 12},
    "DoublyStochastic": {"n_neurons": 96},
    "ShrinkingGradient": {"n_neurons": 40, "n_draws": 20},
    "BoostedTrees": {"n_trees": 12},
}


def shots(X, Y, rng):
    """A kernel that is seen in ten measurements, whatever the rows are."""
    with np.errstate(all="ignore"):
        return rng.binomial(10, np.nan_to_num(rbf_kernel(X, Y))) / 10


EVERY = [type(model)(shots) if name_of(model).startswith("Noisy") else model for model in EVERY]


class Case(NamedTuple):
    """A learner, what it learns from, and what it is asked."""

    learner: str
    options: dict
    rows: int
    columns: int
    values: str
    container: str
    targets: str
    weights: str
    asked: str
    stream: bool
    seed: int


def options_of(name):
    """Options that are tried for a learner, by the beginnings of its name."""
    return [option for key, some in OPTIONS.items() if name.startswith(key) for option in some]


@st.composite
def cases(draw):
    """One case; most are sound in all ways but one or two."""
    learner = draw(st.sampled_from(EVERY))
    name = name_of(learner)
    options = dict(draw(st.sampled_from(options_of(name))))
    if "dtype" in learner.get_params():
        options["dtype"] = draw(st.sampled_from(["float64", "float32"]))
    if "neurons" in learner.get_params() and "search" not in options:
        options["neurons"] = draw(st.sampled_from(FAMILIES))
    sound = [*SOUND, *REORDERED, *SPARSE_SOUND]
    target = LABELS if is_classifier(learner) else REAL_TARGETS
    usual = draw(st.sampled_from(["values", "container", "targets", "weights", "asked", "none"]))
    return Case(
        name,
        options,
        draw(st.integers(1, 24)),
        draw(st.integers(1, 5)),
        draw(st.sampled_from(VALUES if usual == "values" else TAME)),
        draw(st.sampled_from(list(DOUBTFUL) if usual == "container" else sound)),
        draw(st.sampled_from(list(target) if usual == "targets" else list(target)[:3])),
        draw(st.sampled_from(list(WEIGHTS) if usual == "weights" else ["none", "none", "numbers"])),
        draw(st.sampled_from(list(DOUBTFUL) if usual == "asked" else sound)),
        draw(st.booleans()),
        draw(st.integers(0, 999)),
    )


def type_of(case):
    return next(type(model) for model in EVERY if name_of(model) == case.learner)


def begin(case):
    learner = next(model for model in EVERY if name_of(model) == case.learner)
    small = next((o for key, o in SMALL.items() if case.learner.startswith(key)), {})
    return clone(learner).set_params(**small | {"random_state": 0} | case.options)


class Refused(Exception):  # noqa: N818
    """A call was refused, for a reason that is said."""


def call(function, *args, **kwargs):
    """The answer of a call, or a Refused; anything else is a defect."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            answer = function(*args, **kwargs)
        except (ValueError, TypeError, NotFittedError) as error:
            answer = error
    for warning in caught:
        said = str(warning.message)
        known = "Remedy: " in said or any(text in said for text in STANDARD_WARNINGS)
        assert known, f"{warning.category.__name__}: {said}"
    if isinstance(answer, Exception):
        said = str(answer)
        if "Remedy: " not in said and not isinstance(answer, NotFittedError):
            raise AssertionError(f"{type(answer).__name__} that does not help: {said}") from answer
        raise Refused(said) from answer
    return answer


def learn(case, X, y, weight):
    """A model that learned from the rows, by one of the ways there are."""
    model = begin(case)
    kwargs = {}
    if "sample_weight" in type(model).fit.__code__.co_varnames and weight is not None:
        kwargs["sample_weight"] = weight
    if case.stream and hasattr(model, "fit_stream"):
        batch = (X, y, weight) if weight is not None else (X, y)
        return call(model.fit_stream, [batch])
    if case.stream and hasattr(model, "partial_fit"):
        call(model.partial_fit, X, y, **kwargs)
        before = answer_of(model, X)
        try:
            return call(model.partial_fit, X, y, **kwargs)
        except Refused:  # leaves the model in working order
            assert before is None or answer_of(model, X) is not None
            raise
    return call(model.fit, X, y, **kwargs)


def answer_of(model, X):
    """Numbers that a model gives rows, after all its answers are looked at; None if refused."""
    try:
        said = call(model.predict, X)
    except Refused:
        return None
    n = len(said)
    if hasattr(model, "classes_"):
        assert said.shape == (n,) and set(said.tolist()) <= set(model.classes_.tolist())
        said = call(model.decision_function, X)
        assert said.shape == ((n,) if len(model.classes_) == 2 else (n, len(model.classes_)))
        if hasattr(model, "predict_proba"):
            p = call(model.predict_proba, X)
            assert p.shape == (n, len(model.classes_)) and (p >= 0).all() and (p <= 1).all()
            np.testing.assert_allclose(p.sum(axis=1), 1)
    else:
        assert said.shape in ((n,), (n, model.n_outputs_))
    assert said.dtype == np.float64 and np.isfinite(said).all()
    return said


def more_answers(model, X):
    """What only some learners answer: finite, or refused."""
    for name in {"return_std", "return_standard_error"} & set(
        type(model).predict.__code__.co_varnames
    ):
        try:
            mean, std = call(model.predict, X, **{name: True})
            assert std.shape == mean.shape and np.isfinite(std).all() and (std >= 0).all()
        except Refused:
            pass
    if "tolerance" in type(model).predict.__code__.co_varnames:
        try:
            scale = float(np.max(model._targets_.half_width))
            near = call(model.predict, X, tolerance=5.0 * scale, confidence=0.5)
            assert np.isfinite(near).all()
        except Refused:
            pass
    if hasattr(model, "merge"):
        before = answer_of(model, X)
        try:
            call(model.merge, deepcopy(model))
        except Refused:
            assert before is None or answer_of(model, X) is not None
        else:
            answer_of(model, X)
    if hasattr(model, "freeze"):
        rows = np.ones((2, model.n_features_in_), dtype=model._value("dtype"))
        assert np.isfinite(call(call(model.freeze, 9).__call__, rows)).all()
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_") and name != "cv_values_":
            try:
                value = call(getattr, model, name)
            except (AttributeError, NotImplementedError, Refused):
                continue
            is_array = isinstance(value, np.ndarray) or scipy.sparse.issparse(value)
            if isinstance(value, float) or (is_array and value.dtype == np.float64):
                value = value.data if scipy.sparse.issparse(value) else value
                assert np.isfinite(value).all(), name


def check(case):
    """Learn, ask, and compare with what plain rows give."""
    rng = np.random.default_rng(case.seed)
    numbers = values(case.values, case.rows, case.columns, rng)
    X, plain = contained(case.container, numbers)
    asked, plain_asked = contained(case.asked, values(case.values, 7, case.columns, rng))
    learner = begin(case)
    if is_classifier(learner):
        y = rng.permutation(np.arange(case.rows) % 3)
        target = LABELS[case.targets](y)
    else:
        target = REAL_TARGETS[case.targets](rng.standard_normal(case.rows))
    with np.errstate(over="ignore", under="ignore"):
        weight = WEIGHTS[case.weights](rng.uniform(0.1, 1, case.rows))
    expected = None
    try:
        reference = learn(case, plain, target, weight)
        expected = answer_of(reference, plain_asked)
    except Refused as refusal:
        reference, why = None, refusal
    sparse = case.container in SPARSE_SOUND or case.asked in SPARSE_SOUND
    dense_only = sparse and not takes_sparse(learner)
    rounding = case.container not in SOUND and not (case.values in TAME and steady(case))
    try:
        model = learn(case, X, target, weight)
    except Refused as refusal:
        excused = case.container in DOUBTFUL or reference is None or dense_only or rounding
        if not excused:
            raise AssertionError(f"refused, but plain rows are not: {refusal}") from refusal
        return
    if case.container in DOUBTFUL:
        if case.container not in ("masked", "text", "object-digits"):
            answer_of(model, X)
        more_answers(model, X)
        return
    assert rounding or reference is not None, f"not refused, but plain rows are: {why}"
    if case.container.startswith(("frame", "polars")):
        names = getattr(model, "feature_names_in_", None)
        if case.container not in ("frame-numbered",):
            assert names is not None and names.tolist() == list(X.columns), "names are not kept"
    got = answer_of(model, asked)
    if got is None:
        if case.asked not in DOUBTFUL and expected is not None and not dense_only:
            rounding = case.values not in TAME and not {case.container, case.asked} <= SOUND.keys()
            assert rounding, "rows to predict are refused, but plain ones are not"
        return
    if case.asked not in DOUBTFUL:
        rounding = case.values not in TAME and not {case.container, case.asked} <= SOUND.keys()
        known = reference is not None  # else rounding let other rows through
        assert rounding or not known or expected is not None, (
            "not refused, but plain rows to predict are"
        )
        if expected is not None:
            compare(case, got, expected)
    more_answers(model, asked)


def takes_sparse(learner):
    return learner.__sklearn_tags__().input_tags.sparse


def compare(case, got, expected):
    """Answers are those for plain rows: to the last digit, or to rounding."""
    if case.container in SOUND and case.asked in SOUND:
        np.testing.assert_array_equal(got, expected)
    elif case.values in TAME and steady(case):
        scale = np.abs(expected).max() + 1e-9
        single = case.options.get("dtype") == "float32"
        np.testing.assert_allclose(got, expected, rtol=0, atol=(1e-2 if single else 1e-6) * scale)


def steady(case):
    """Whether rounding moves a model little: no choices, corners or near-singular systems."""
    options = case.options
    return (
        options.get("alpha") not in ("auto", 0.0, 1e-12, 1e-9)
        and not case.learner.startswith(("Noisy", "Boosted"))
        and not {"max_support", "search", "early_stopping", "step_size"} & set(options)
        and options.get("loss") not in ("hinge", "squared_hinge", "epsilon_insensitive")
        and (not case.learner.startswith("KitchenSinks") or "alpha" in options)
        and options.get("neurons") not in ("stumps", "ferns", "tabular")
    )


#: Functions of numbers, with arguments that they take.
FUNCTIONS = {
    theory.shrinking_gradient_constants: (10_000, 1.0),
    theory.shrinking_gradient_regret: (10_000, 1.0, 0.005, 0.5, 1.0),
    theory.kitchen_sinks_bound: (10**6, 10**4, 1.0, 1.0, 0.05),
}


@st.composite
def questions(draw):
    """A function and its arguments, one or two of them odd."""
    function, sound = draw(st.sampled_from(list(FUNCTIONS.items())))
    arguments = list(sound)
    for _ in range(draw(st.integers(1, 2))):
        arguments[draw(st.integers(0, len(sound) - 1))] = draw(st.sampled_from(SCALARS))
    return function, arguments


def check_function(question):
    """A function of numbers gives numbers that are not negative, or says what is wrong."""
    function, arguments = question
    try:
        answer = call(function, *arguments)
    except Refused:
        return
    assert all(np.all(np.isfinite(part)) and np.all(np.asarray(part) >= 0) for part in
               (answer if isinstance(answer, tuple) else (answer,)))  # fmt: skip


@st.composite
def kernels(draw):
    """A family, the containers of two sets of rows, and what they hold."""
    containers = st.sampled_from(list(CONTAINERS))
    return (
        draw(st.sampled_from(FAMILIES)),
        draw(containers),
        draw(st.sampled_from(list(SOUND))),
        draw(st.sampled_from(VALUES)),
        draw(st.sampled_from([1, 7, 300])),
        draw(st.integers(0, 999)),
    )


def check_kernel(question):
    """An estimate of a kernel is that for plain rows, and finite, or refused."""
    family, container, other, kind, n, start = question
    rng = np.random.default_rng(start)
    X, plain = contained(container, values(kind, 6, 3, rng))
    Y, _ = contained(other, values(kind, 4, 3, rng))
    try:
        mean, error = call(estimate_kernel, family, X, Y, n, random_state=0)
    except Refused as refused:
        assert not (kind in TAME and container in SOUND), refused
        return
    assert mean.shape == error.shape == (len(mean), 4) and np.isfinite(mean).all()
    assert (error >= 0).all() and (n == 1 or np.isfinite(error).all())
    if container in SOUND:
        expected, _ = call(estimate_kernel, family, plain, Y, n, random_state=0)
        np.testing.assert_array_equal(mean, expected)


def search_settings(derandomize):
    """How hypothesis searches; derandomized, the same cases every time."""
    return settings(
        deadline=None,
        database=None,
        derandomize=derandomize,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )


def fuzz(n, derandomize=False):
    """Check so many cases, most of them learners; derandomized, the same ones every time."""
    every = search_settings(derandomize)
    searches = (
        (cases(), check, 0.8),
        (questions(), check_function, 0.1),
        (kernels(), check_kernel, 0.1),
    )
    for strategy, checked, share in searches:
        settings(every, max_examples=round(n * share))(given(strategy)(checked))()


if __name__ == "__main__":
    fuzz(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
