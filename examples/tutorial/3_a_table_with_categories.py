"""
3. A table with categories
==========================

Real tables have categories, dates and missing values. Trees as neurons read such a data frame
directly. You fit one without any preparation, and see which columns matter.
"""

# %%
# Make a table
# ------------
#
# The table is made up, so that we know the truth. It lists flats and their rents. The rent depends
# on the area, the city, the distance to the centre, and the heating, but not on the letter of the
# door. In one city, the distance matters more than in the others.

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 2000
flats = pd.DataFrame(
    {
        "area": rng.gamma(9, 8, n).round(),
        "city": rng.choice(["Lyon", "Oslo", "Porto"], n, p=[0.4, 0.3, 0.3]),
        "distance": rng.gamma(2, 2, n).round(1),
        "heating": rng.choice(["district", "electric", "gas"], n),
        "listed": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 600, n), unit="D"),
        "door": rng.choice(list("ABCD"), n),
    }
)
per_metre = flats["city"].map({"Lyon": 14, "Oslo": 22, "Porto": 12})
rent = per_metre * flats["area"] * np.exp(-0.03 * flats["distance"])
rent -= 60 * flats["distance"] * (flats["city"] == "Oslo")
rent += 90 * (flats["heating"] == "district") + 80 * rng.standard_normal(n)

# %%
# Some values are missing, as in every table. Leave them unchanged.

flats.loc[rng.random(n) < 0.1, "heating"] = None
flats.loc[rng.random(n) < 0.1, "distance"] = np.nan
print(flats.head())

# %%
# Fit trees
# ---------
#
# :class:`trickless.BoostedTreesRegressor` grows one small decision tree after the other, fits its
# cuts to the data, and lets each tree correct the trees before it. That is boosting, and it needs
# no encoder, no imputer and no scaler.

from sklearn.model_selection import train_test_split

from trickless import BoostedTreesRegressor

X, X_test, y, y_test = train_test_split(flats, rent, random_state=0)
model = BoostedTreesRegressor(random_state=0).fit(X, y)
print(f"R² of {len(model.neuron_coef_)} trees on new flats: {model.score(X_test, y_test):.3f}")

# %%
# The number of trees was chosen for you. ``fit`` kept a tenth of the rows apart, and stopped when
# their error no longer fell.
#
# For comparison, here are a ridge regression and scikit-learn's boosted trees. The ridge regression
# needs a preparation for each kind of column, whereas boosted trees need columns of the type
# "category", and dates as numbers.

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def prepared(table):
    categories = dict.fromkeys(["city", "heating", "door"], "category")
    days = (table["listed"] - pd.Timestamp("2025-01-01")).dt.days
    return table.astype(categories).assign(listed=days)


columns = make_column_transformer(
    (OneHotEncoder(), make_column_selector(dtype_include="category")),
    (
        make_pipeline(SimpleImputer(), StandardScaler()),
        make_column_selector(dtype_include="number"),
    ),
)
for other in (make_pipeline(columns, RidgeCV()), HistGradientBoostingRegressor(random_state=0)):
    name = type(other[-1] if hasattr(other, "steps") else other).__name__
    score = other.fit(prepared(X), y).score(prepared(X_test), y_test)
    print(f"{name:<30} R² {score:.3f}")

# %%
# The ridge regression adds up effects of columns, so it cannot see that the price of a square metre
# depends on the city. Both kinds of trees see that, and are about equally accurate.

# %%
# See which columns matter
# ------------------------
#
# ``feature_importances_`` has the share of cuts in each column. The area, the distance and the city
# lead, as they should. Columns without any effect get some cuts as well, and more of them if they
# have many values, such as the date here. A small share is therefore no proof of an effect:
# ``sklearn.inspection.permutation_importance`` on held-out rows tells one from none.
#
# On the right are the predictions for new flats. They lie along the dashed line, where a
# prediction equals the rent.

import matplotlib.pyplot as plt

from trickless.inspection import FeatureImportancesDisplay

plt.style.use("trickless.style")
fig, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.8))
FeatureImportancesDisplay.from_estimator(model, ax=left)
left.set(title="Which columns matter")
for city in ("Lyon", "Oslo", "Porto"):
    rows = (X_test["city"] == city).to_numpy()
    right.plot(y_test[rows], model.predict(X_test[rows]), "o", markersize=3, alpha=0.7, label=city)
right.axline((1000, 1000), slope=1, color="0.4", linestyle="--", linewidth=1)
right.set(title="New flats", xlabel="rent", ylabel="predicted rent")
right.legend(markerscale=2)
plt.show()

# %%
# What to try next
# ----------------
#
# - The next part has neurons for images: :ref:`sphx_glr_tutorial_4_images.py`.
# - How columns are read, and what happens to new categories: :doc:`/guides/tables`.
# - How trees go from random to boosted: :ref:`sphx_glr_gallery_trees_from_blind_to_boosted.py`.
