"""Categories that appear later in a stream."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import trickless
from trickless import (
    DoublyStochasticRegressor,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)

LEARNERS = {
    "tabular": KitchenSinksRegressor("tabular", 100, random_state=0),
    "trees": KitchenSinksRegressor("trees", 100, random_state=0),
    "steps": DoublyStochasticRegressor("trees", 40, batch_size=200, random_state=0),
    "rounds": ShrinkingGradientRegressor(
        "trees", 100, n_samples=64, y_range=(-3, 3), random_state=0
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
    model = KitchenSinksRegressor("tabular", 20, random_state=0)
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
    model = KitchenSinksRegressor("tabular", 20, random_state=0).partial_fit(X, y)
    later = X.assign(town=X["town"].str.replace("rare", "new"))
    model.partial_fit(later, y)  # 6 % of the values are new, as before
    later.loc[:120, "town"] = "D"
    with pytest.warns(match=TOLD):
        model.partial_fit(later, y)


def test_counts_are_saved_in_the_middle_of_a_stream(tmp_path):
    model = KitchenSinksRegressor("tabular", 20, random_state=0)
    model.partial_fit(*batch(["A", "B", "C"])).partial_fit(*batch(["A", "B", "D"], 60))
    assert model.rows_.new_categories.n_new.tolist() == [pytest.approx(15, abs=4), 0]
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
    before = model.rows_.new_categories
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.where(np.arange(60) == 3, np.nan, y))
    with pytest.raises(ValueError, match="too large"):
        model.partial_fit(X, 1e200 * y)
    assert model.rows_.new_categories is before
