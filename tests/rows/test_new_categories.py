"""Categories that appear later in a stream."""

import re
import warnings
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import trickless
from trickless import (
    BoostedTreesRegressor,
    DoublyStochasticRegressor,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless._rows.categories import SLOTS, Categories

#: Learners to which later categories are one.
LEARNERS = {
    "trees": KitchenSinksRegressor("trees", 100, random_state=0),
    "steps": BoostedTreesRegressor(40, random_state=0),
    "rounds": ShrinkingGradientRegressor("trees", 100, n_draws=64, y_range=(-3, 3), random_state=0),
}
#: Learners of neurons that take any code.
OF_ANY_CODE = {
    "sums": KitchenSinksRegressor("tabular", 100, random_state=0),
    "experts": KitchenSinksRegressor("auto", 50, half_life="auto", random_state=0),
    "steps": DoublyStochasticRegressor("tabular", 400, batch_size=50, random_state=0),
    "rounds": ShrinkingGradientRegressor(
        "tabular", 200, n_draws=64, norm_bound=3.0, y_range=(-3, 3), random_state=0
    ),
}
TOLD = r"of the latest values in column 'town' of X are of categories .*\. Remedy: declare all"


def batch(towns, n=200, seed=0, share=0.25, dtype="category"):
    """Rows of towns, the last of which have some share and another target."""
    rng = np.random.default_rng(seed)
    new = rng.random(n) < share
    town = np.where(new, towns[-1], rng.choice(towns[:-1], n))
    frame = pd.DataFrame({"town": pd.Series(town).astype(dtype), "a": rng.normal(size=n)})
    return frame, 2.0 * new


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("dtype", ["category", object])
def test_a_new_category_is_learned_as_other_with_one_warning(name, dtype):
    model = clone(LEARNERS[name]).partial_fit(*batch(["A", "B", "C"], dtype=dtype))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(1, 7):
            model.partial_fit(*batch(["A", "B", "D"], seed=seed, dtype=dtype))
    (told,) = caught
    assert re.search(TOLD, str(told.message))
    X, y = batch(["A", "B", "D"], seed=9, dtype=dtype)
    predicted = model.predict(X)
    assert predicted[y > 0].mean() > predicted[y == 0].mean() + 0.3
    other = X.assign(town=X["town"].astype(str).replace("D", "E"))
    np.testing.assert_array_equal(model.predict(other), predicted)


@pytest.mark.parametrize("name", OF_ANY_CODE)
def test_new_categories_are_learned_as_themselves(name, tmp_path):
    model = clone(OF_ANY_CODE[name]).partial_fit(*batch(["A", "B", "C"]))
    trickless.save(model.partial_fit(*batch(["A", "E", "D"], seed=1)), tmp_path / "model")
    again = trickless.load(tmp_path / "model")
    for seed in range(2, 7):
        for each in (model, again):
            each.partial_fit(*batch(["A", "E", "D"], seed=seed))
    X, _ = batch(["A", "E", "D"], seed=9)
    predicted = model.predict(X)
    np.testing.assert_array_equal(again.predict(X), predicted)
    mean = pd.Series(predicted).groupby(X["town"].astype(str)).mean()
    assert mean["D"] > mean["E"] + 0.8


def test_new_categories_are_as_if_their_codes_had_been_known():
    one = KitchenSinksRegressor("tabular", 50, dtype="float64", random_state=0)
    one.partial_fit(*batch(["A", "B", "C"]))
    rows = clone(one).partial_fit(*batch(["A", "B", "C"]))
    X, y = batch(["A", "D", "F", "G"], 60)
    one.partial_fit(X, y)
    for i in range(60):
        rows.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(rows.predict(X), one.predict(X), rtol=1e-6, atol=1e-9)
    codes = one._rows_.columns.categories[0].codes
    assert rows._rows_.columns.categories[0].codes == codes
    points = np.column_stack([[*codes.values()], np.zeros(len(codes))]).astype(float)
    drawn = one.neurons_.activate(points, one.neurons_.draw(np.random.default_rng(0), 4000))
    exact = one.neurons_.closed_form(points, points)  # as of categories of the first batch
    products = drawn[:, None] * drawn
    error = products.std(axis=2) / 4000**0.5 + 1e-9
    assert (np.abs(products.mean(axis=2) - exact) < 5 * error).all()


def test_parts_with_different_new_categories_are_merged():
    first, later = batch(["A", "B", "C"]), [batch(["A", "B", town]) for town in "DE"]
    model = KitchenSinksRegressor("tabular", 50, random_state=0)
    one, other, both = (clone(model).partial_fit(*first) for _ in range(3))
    one.partial_fit(*later[0]).merge(other.partial_fit(*later[1]))
    both.partial_fit(*later[0]).partial_fit(*first).partial_fit(*later[1])
    X = pd.concat([rows for rows, _ in later])
    np.testing.assert_allclose(one.predict(X), both.predict(X), rtol=1e-4, atol=1e-4)
    codes = one._rows_.columns
    none = codes.without_later()
    assert none.merged(codes).categories == codes.merged(none).categories == codes.categories


def test_codes_that_collide_are_told_apart_or_refused():
    slots = {}
    for i in range(3000):
        pair = slots.setdefault(crc32(f"town {i}".encode()) % SLOTS, f"town {i}"), f"town {i}"
        if pair[0] != pair[1]:
            break
    none = Categories({}, 0, 0, {})
    codes = none.after(pair).codes
    assert abs(codes[pair[0]] - codes[pair[1]]) == 1
    assert none.after(pair[:1]).merged(none.after(pair[1:])) is None
    assert none.after(pair).merged(none.after(pair[::-1])) is None
    model = KitchenSinksRegressor("tabular", 20, random_state=0).partial_fit(*batch(["A", "B"]))
    other = clone(model).partial_fit(*batch(["A", "B"]))
    before = model.partial_fit(*batch(["A", pair[0]]))._rows_
    other.partial_fit(*batch(["A", pair[1]]))
    with pytest.raises(ValueError, match="codes of other categories"):
        model.merge(other)
    assert model._rows_ is before


def test_rows_with_new_and_rare_categories_can_be_forgotten():
    X, y = batch(["A", "B", "C"], 600)
    X["town"] = [*X["town"].astype(str)[:580], *(f"rare {i}" for i in range(20))]
    later = [batch(["A", town], 50) for town in ("D", "rare 3")]
    model = KitchenSinksRegressor("tabular", 20, dtype="float64", random_state=0)
    model.partial_fit(X, y)
    rest = clone(model).partial_fit(X, y)
    model.partial_fit(*later[0]).partial_fit(*later[1]).forget(X[:590], y[:590])
    rest.partial_fit(*later[1]).forget(X[:590], y[:590])
    model.forget(*later[0])
    Z = pd.concat([X, later[1][0]])
    np.testing.assert_allclose(model.predict(Z), rest.predict(Z), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="rows that this model has learned"):
        model.forget(*later[0])
    model.forget(X[590:], y[590:], sample_weight=np.zeros(10))
    assert model._rows_.columns.categories[0].rare.keys() == {f"rare {i}" for i in range(10, 20)}


def test_rows_of_no_weight_bring_no_categories():
    model = KitchenSinksRegressor("tabular", 20, random_state=0).partial_fit(*batch(["A", "B"]))
    X, y = batch(["A", "D", "E"])
    model.partial_fit(X, y, sample_weight=X["town"] != "E")
    assert model._rows_.columns.categories[0].codes.keys() == {"A", "B", "D"}


def test_names_of_rows_get_no_codes():
    X, y = batch(["A", "B"], 600)
    names = X.assign(town=[*X["town"].astype(str)[:200], *(f"name {i}" for i in range(400))])
    model = KitchenSinksRegressor("tabular", 20, random_state=0)
    with pytest.warns(match="once or twice"):
        model.partial_fit(names, y)
    with pytest.warns(match="learned as one category"):
        model.partial_fit(X.assign(town="D"), y)
    known = model._rows_.columns.categories[0]
    assert known.rare is None
    assert known.codes == known.first
    assert len(Categories({}, 0, 0, {}).after(map(str, range(40_000))).codes) == SLOTS // 2


def test_declared_categories_are_learned_as_themselves():
    dtype = pd.CategoricalDtype(["A", "B", "C", "D"])
    model = KitchenSinksRegressor("tabular", 100, random_state=0)
    for towns in (["A", "B", "C"], *[["A", "B", "D"]] * 5):
        model.partial_fit(*batch(towns, dtype=dtype))
    X, y = batch(["A", "B", "D"], seed=9)
    other = X.assign(town=X["town"].astype(str).replace("D", "E"))
    assert model.score(X, y) > 0.9
    assert model.predict(X)[y > 0].mean() > model.predict(other)[y > 0].mean() + 0.5


@pytest.mark.parametrize(("share", "told"), [(0.04, False), (0.08, True)])
def test_a_few_new_values_are_normal(share, told):
    model = KitchenSinksRegressor("trees", 20, random_state=0)
    model.partial_fit(*batch(["A", "B", "C"]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(100):
            model.partial_fit(*batch(["A", "B", "D"], 12, seed, share))
    assert len(caught) == told


def test_rare_categories_of_the_first_batch_say_what_is_usual():
    rare = [f"rare {i}" for i in range(60)]
    X, y = batch(["A", "B", "C"], 1000)
    X = pd.DataFrame({"town": [*X["town"].astype(str)[:940], *rare], "a": X["a"]})
    model = KitchenSinksRegressor("trees", 20, random_state=0).partial_fit(X, y)
    later = X.assign(town=X["town"].str.replace("rare", "new"))
    model.partial_fit(later, y)  # 6 % of the values are new, as before
    later.loc[:120, "town"] = "D"
    with pytest.warns(match=TOLD):
        model.partial_fit(later, y)


def test_counts_are_saved_in_the_middle_of_a_stream(tmp_path):
    model = KitchenSinksRegressor("trees", 20, random_state=0)
    model.partial_fit(*batch(["A", "B", "C"])).partial_fit(*batch(["A", "B", "D"], 60))
    assert model._rows_.new_categories.n_new.tolist() == [pytest.approx(15, abs=4), 0]
    trickless.save(model, tmp_path / "model")
    again = trickless.load(tmp_path / "model")
    for each in (model, again):
        with pytest.warns(match=TOLD):
            each.partial_fit(*batch(["A", "B", "D"], 60, 1))
        each.partial_fit(*batch(["A", "B", "D"], 60, 2))
    X, _ = batch(["A", "B", "D"], 60, 3)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def test_a_batch_that_fails_is_not_counted():
    model = KitchenSinksRegressor("tabular", 20, random_state=0)
    model.partial_fit(*batch(["A", "B", "C"]))
    X, y = batch(["A", "B", "D"], 60)
    before = model._rows_.new_categories
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.where(np.arange(60) == 3, np.nan, y))
    with pytest.raises(ValueError, match="too large"):
        model.partial_fit(X, 1e200 * y)
    assert model._rows_.new_categories is before
