"""Methods that learn small tables with nothing set, and how each gets categories and gaps.

Each gets a table as its own documentation recommends:

- Auto and trees: the data frame.
- Kitchen Sinks: standardised codes of 0 and 1 for categories, and standardised numbers, where gaps
  have the median and a column of their own that says so.
- LightGBM and HistGradientBoosting: the data frame, with categories of that type and gaps.
- ExtraTrees: numbers for categories, as in scikit-learn's examples, and gaps.
- ChimeraBoost: the data frame, with the names of columns of categories.
- CatBoost: the data frame, with the names of columns of categories, and a category for gaps there.
- XGBoost: the data frame, with categories of that type and gaps.

Everything else is the default of the method, threads as well. Only seeds are set, and output is
switched off.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

import trickless
from small_data import SmallTable
from table_methods import load_chimera, load_loops

OUR_STACK, OUR_TREES, OUR_SINKS = "Auto", "trees", "Kitchen Sinks"


def nothing() -> None:
    """Nothing to load before the clock starts."""


class Method(NamedTuple):
    """A method: ``make(table, seed)`` is an unfitted model with ``fit`` and ``predict``."""

    name: str
    make: Callable[[SmallTable, int], Any]
    load: Callable[[], object] = nothing  # what a process loads once, before the clock starts
    package: str | None = None


def auto(table: SmallTable, seed: int) -> Any:
    return learner(table, "Auto")(random_state=seed)


def trees(table: SmallTable, seed: int) -> Any:
    return learner(table, "BoostedTrees")(random_state=seed)


def kitchen_sinks(table: SmallTable, seed: int) -> Any:
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    gaps = SimpleImputer(strategy="median", add_indicator=True)
    columns = make_column_transformer((codes, categories(table)), remainder=gaps)
    return make_pipeline(
        columns, StandardScaler(), learner(table, "KitchenSinks")(random_state=seed)
    )


def lightgbm(table: SmallTable, seed: int) -> Any:
    import lightgbm

    make = lightgbm.LGBMClassifier if table.n_classes else lightgbm.LGBMRegressor
    return make(random_state=seed, verbosity=-1)


def hist_gradient_boosting(table: SmallTable, seed: int) -> Any:
    make = HistGradientBoostingClassifier if table.n_classes else HistGradientBoostingRegressor
    return make(random_state=seed)


def extra_trees(table: SmallTable, seed: int) -> Any:
    numbers = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
    )
    columns = make_column_transformer((numbers, categories(table)), remainder="passthrough")
    make = ExtraTreesClassifier if table.n_classes else ExtraTreesRegressor
    return make_pipeline(columns, make(random_state=seed))


def chimeraboost(table: SmallTable, seed: int) -> Any:
    import chimeraboost

    name = "ChimeraBoostClassifier" if table.n_classes else "ChimeraBoostRegressor"
    return getattr(chimeraboost, name)(random_state=seed, cat_features=categories(table))


def catboost(table: SmallTable, seed: int) -> Any:
    import catboost

    make = catboost.CatBoostClassifier if table.n_classes else catboost.CatBoostRegressor
    names = categories(table)
    model = make(random_seed=seed, cat_features=names, verbose=False, allow_writing_files=False)
    return make_pipeline(FunctionTransformer(partial(filled, names=names)), model)


def filled(X: Any, names: list[str]) -> Any:
    """The same frame, with text for categories, and a category for gaps, as CatBoost asks for."""
    return X.assign(**{name: X[name].astype(object).fillna("").astype(str) for name in names})


def xgboost(table: SmallTable, seed: int) -> Any:
    import xgboost

    make = xgboost.XGBClassifier if table.n_classes else xgboost.XGBRegressor
    return make(random_state=seed, enable_categorical=True, verbosity=0)


def learner(table: SmallTable, name: str) -> Any:
    return getattr(trickless, name + ("Classifier" if table.n_classes else "Regressor"))


def categories(table: SmallTable) -> list[str]:
    """Names of the columns of categories."""
    return list(table.X.select_dtypes("category").columns)


METHODS = (
    Method(OUR_STACK, auto, load_loops),
    Method(OUR_TREES, trees, load_loops),
    Method(OUR_SINKS, kitchen_sinks),
    Method("LightGBM", lightgbm, package="lightgbm"),
    Method("HistGradientBoosting", hist_gradient_boosting),
    Method("ExtraTrees", extra_trees),
    Method("ChimeraBoost", chimeraboost, load_chimera, package="chimeraboost"),
    Method("CatBoost", catboost, package="catboost"),
    Method("XGBoost", xgboost, package="xgboost"),
)
