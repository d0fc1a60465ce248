"""Small tables in files, for the tests of the command line."""

import numpy as np
import pandas as pd


def frame(n=600, seed=0):
    """Numbers, categories, dates, truth values and gaps; a label and a number that follow."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "height": rng.normal(170, 10, n),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, n), "D"),
            "member": rng.random(n) < 0.5,
        }
    )
    table["label"] = np.where((table.age > 45) ^ (table.town == "Ulm"), "yes", "no")
    table["price"] = table.age / 10 + 2.0 * (table.town == "Bonn") + table.member
    table.loc[::9, "town"] = None
    table.loc[::7, "height"] = np.nan
    return table


def write(table, path):
    """Write a table in the format that its ending says."""
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_feather(path)
    return path
