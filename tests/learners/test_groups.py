"""Kitchen Sinks leaves rows out with all rows of their group."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from trickless import AutoRegressor, KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Gaussian

REGRESSOR = KitchenSinksRegressor(Gaussian(1.5), 100, random_state=0, dtype="float64")
CLASSIFIER = KitchenSinksClassifier(Gaussian(1.5), 100, random_state=0, dtype="float64")


def patients(n_patients, n_rows, seed=0):
    """Columns and an effect that are constant in a patient, and a column of each row."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_patients), n_rows)
    own = rng.standard_normal((n_patients, 3))
    effect = rng.standard_normal(n_patients)
    X = np.column_stack([own[groups], rng.standard_normal(len(groups))])
    y = effect[groups] + np.sin(2 * X[:, 3]) + 0.1 * rng.standard_normal(len(groups))
    return X, y, groups


def without_group(model, X, y, groups, weight=None):
    """Decision values of refits without each group, at the alpha of the model."""
    values = np.empty((len(y), *np.shape(model._targets_.matrix(y))[1:]))
    for group in np.unique(groups):
        apart = groups == group
        count = np.ones(len(y)) if weight is None else weight
        share = count[~apart].sum() / count.sum()  # the ridge stays, relative to all rows
        alpha = np.broadcast_to(model.alpha_, values.shape[1])[0].item() / share
        again = clone(model).set_params(alpha=alpha)
        part = None if weight is None else weight[~apart]
        again.fit(X[~apart], y[~apart], part)
        values[apart] = again._function(again._rows_.to_predict(again, X[apart]))
    return values


@pytest.mark.filterwarnings("ignore:.*as if rows came in groups")
@pytest.mark.parametrize("sizes", [(12, 10), (60, 10), (3, 300)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_without_a_group_are_those_of_refits(sizes, weighted):
    """With fewer rows than columns, with more, and with a group of more rows than columns."""
    X, y, groups = patients(*sizes)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    model = clone(REGRESSOR).set_params(alpha=1e-3).fit(X, y, weight, groups=groups)
    unseen = model._sums_.unseen(model._problem())
    assert len(unseen.decisions) == len(y)
    order = np.argsort(unseen.targets[:, 0])
    expected = model._targets_.values(without_group(model, X, y, groups, weight))
    found = model._targets_.values(unseen.decisions)
    np.testing.assert_allclose(
        found[order].ravel(), expected[np.argsort(y)].ravel(), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("sizes", [(12, 10), (60, 10), (3, 300)], ids="{0[0]}x{0[1]}".format)
def test_alpha_has_the_least_error_at_groups_left_out(sizes):
    X, y, groups = patients(*sizes)
    model = clone(REGRESSOR).fit(X, y, groups=groups)
    for alpha, scores in [
        (a, s) for a, s in zip(model.cv_alphas_, model.cv_values_[0], strict=True)
    ][::6]:
        given = clone(model).set_params(alpha=alpha).fit(X, y, groups=groups)
        rows = given._sums_.unseen(given._problem())
        error = np.mean((rows.decisions - rows.targets) ** 2)
        assert scores == pytest.approx(error, rel=1e-4)


def smooth_patients(n_patients, n_rows, seed=0):
    """Targets that a patient's first column tells, besides an effect of the patient."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_patients), n_rows)
    own, effect = rng.standard_normal((n_patients, 2)), rng.standard_normal(n_patients)
    X = np.column_stack([own[groups], rng.standard_normal(len(groups))])
    return X, 2 * X[:, 0] + effect[groups] + 0.1 * rng.standard_normal(len(groups)), groups


SCALES = [0.25, 1.0, 4.0, 16.0]


def old_and_new_patients():
    return smooth_patients(40, 20), smooth_patients(400, 5, seed=1)


@cache
def best_of_given_scales():
    (X, y, groups), (X_new, y_new, _) = old_and_new_patients()
    given = [clone(REGRESSOR).set_params(neurons=Gaussian(scale)) for scale in SCALES]
    return max(each.fit(X, y, groups=groups).score(X_new, y_new) for each in given)


@pytest.mark.filterwarnings("ignore:.*as if rows came in groups")
@pytest.mark.filterwarnings("ignore:.*no better than")
@pytest.mark.parametrize(
    "choice",
    [
        {"neurons": Gaussian(1.0), "search": {"neurons__length_scale": SCALES}},
        {"neurons": Gaussian("auto")},
        {"neurons": Gaussian("relevance")},
    ],
    ids=["search", "auto", "relevance"],
)
def test_length_scales_are_chosen_for_new_patients(choice):
    """By single rows, short scales seem best, since they tell patients apart."""
    (X, y, groups), (X_new, y_new, _) = old_and_new_patients()
    model = clone(REGRESSOR).set_params(**choice)
    alone = clone(model).fit(X, y).score(X_new, y_new)
    found = clone(model).fit(X, y, groups=groups).score(X_new, y_new)
    best = best_of_given_scales()
    assert found > best - 0.05
    assert alone < best - 0.1


@pytest.mark.filterwarnings("ignore:.*as if rows came in groups")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [100, 700])  # whose exact kernels are compared, and neurons
def test_groups_of_one_row_choose_as_rows_do(n_rows, weighted):
    X, y, _ = patients(n_rows // 10, 10)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    model = clone(REGRESSOR).set_params(search={"neurons__length_scale": SCALES})
    groups = np.random.default_rng(0).permutation(len(y))
    found = [clone(model).fit(X, y, weight, groups=each) for each in (None, groups)]
    np.testing.assert_allclose(*(each.search_scores_ for each in found), rtol=1e-6)
    assert found[0].neurons_.length_scale == found[1].neurons_.length_scale


def test_intervals_hold_for_new_patients():
    """Without groups, the columns of a patient tell its effect, and intervals hold a fraction."""
    X, y, groups = patients(80, 12)
    X_new, y_new, _ = patients(200, 12, seed=1)
    with pytest.warns(UserWarning, match=r"as if rows came in groups.*Remedy: .*groups="):
        alone = clone(REGRESSOR).fit(X, y)
    model = clone(REGRESSOR).fit(X, y, groups=groups)
    held = []
    for each in (alone, model):
        low, high = each.predict_interval(X_new).T
        held.append(((low <= y_new) & (y_new <= high)).mean())
    assert held[0] < 0.75
    assert held[1] > 0.85
    assert model.alpha_ > alone.alpha_
    low, high = model.compact(error_bars=True).predict_interval(X_new).T
    assert ((low <= y_new) & (y_new <= high)).mean() == held[1]
    with pytest.raises(ValueError, match=r"method='full' leaves rows out one by one.*Remedy"):
        model.predict_interval(X_new, method="full")


def test_sets_and_probabilities_are_for_new_patients():
    X, y, groups = patients(80, 12)
    X_new, y_new, _ = patients(200, 12, seed=1)
    y, y_new = y > 0, y_new > 0
    with pytest.warns(UserWarning, match="as if rows came in groups"):
        alone = clone(CLASSIFIER).fit(X, y)
    model = clone(CLASSIFIER).fit(X, y, groups=groups)
    held = [
        each.predict_set(X_new)[np.arange(len(y_new)), y_new.astype(int)].mean()
        for each in (alone, model)
    ]
    assert held[0] < held[1]
    assert held[1] > 0.85
    lost = [
        -np.log(each.predict_proba(X_new)[np.arange(len(y_new)), y_new.astype(int)]).mean()
        for each in (alone, model)
    ]
    assert lost[1] < lost[0]


def test_later_rows_end_the_groups():
    X, y, groups = patients(40, 10)
    model = clone(REGRESSOR).fit(X, y, groups=groups)
    assert model._sums_.has_groups
    model.partial_fit(X[:5], y[:5])
    assert not model._sums_.has_groups


@pytest.mark.filterwarnings("ignore:.*as if rows came in groups")
def test_groups_of_one_row_are_rows():
    X, y, _ = patients(60, 4)
    alone = clone(REGRESSOR).fit(X, y)
    model = clone(REGRESSOR).fit(X, y, groups=np.arange(len(y)))
    np.testing.assert_allclose(model.alpha_, alone.alpha_)
    np.testing.assert_allclose(model.cv_values_, alone.cv_values_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), alone.predict(X))


@pytest.mark.parametrize(
    "options",
    [{"half_life": 9}, {"solver": "iterative"}, {"weight_bound": 1.0}],
)
def test_what_leaves_no_rows_out_refuses_groups(options):
    X, y, groups = patients(12, 10)
    with pytest.raises(ValueError, match=r"groups do not go with.*Remedy"):
        clone(REGRESSOR).set_params(**options).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"groups.*Remedy"):
        clone(REGRESSOR).fit(X, y, groups=groups[:-1])


@pytest.mark.parametrize("n_neurons", [10, 200])
def test_one_group_leaves_no_rows_to_learn_from(n_neurons):
    X, y, groups = patients(2, 40)
    weight = (groups == 0).astype(float)  # so that the other group does not count
    for given in ((np.zeros(80), None), (groups, weight)):
        with pytest.raises(ValueError, match=r"groups has one value only.*Remedy: at least"):
            clone(REGRESSOR).set_params(n_neurons=n_neurons).fit(X, y, given[1], groups=given[0])


def test_columns_of_every_kind_are_no_groups():
    rng = np.random.default_rng(0)
    n = 600
    day = rng.integers(0, 30, n)
    X = np.column_stack(
        [
            rng.standard_normal(n),
            rng.integers(0, 12, n),  # codes
            rng.integers(0, 24, n),
            day,
            day * 1.8 + 32,  # the same in another unit
            rng.poisson(9, n),
            np.round(rng.normal(37, 0.5, n), 1),
        ]
    )
    KitchenSinksRegressor(n_neurons=20, random_state=0).fit(X, X[:, 0])


def test_the_stack_leaves_out_groups_in_its_parts():
    X, y, groups = patients(60, 10)
    model = AutoRegressor(random_state=0).fit(X, y, groups=groups)
    X_new, y_new, _ = patients(100, 10, seed=1)
    low, high = model.predict_interval(X_new).T
    assert ((low <= y_new) & (y_new <= high)).mean() > 0.85
