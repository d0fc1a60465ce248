"""Do two samples differ? Images of digits, and tables with categories and gaps.

A page of digits is compared with another of the same kind, with one that holds no fours and no
sevens, and with one whose pixels are noisy. Random convolutions see them as images. Then customers
of two months are compared: a table with text and missing values, in which who buys what has
changed, but neither the ages nor the goods by themselves. At last, whether the goods depend on the
age.

Run as ``python examples/two_sample_test.py``.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from trickless import hsic_test, mmd_test
from trickless.neurons import Patches

PAGE, CUSTOMERS, PERMUTATIONS = 300, 400, 999


def pages(rng):
    """A page of digits, and others to compare it with."""
    images, digits = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    images, digits = images[order], digits[order]
    page, rest, of_rest = images[:PAGE], images[PAGE:], digits[PAGE:]
    fewer = rest[(of_rest != 4) & (of_rest != 7)]
    noisy = rest[:PAGE] + rng.normal(0, 2, rest[:PAGE].shape)
    return page, {"the same": rest[:PAGE], "no 4 and 7": fewer[:PAGE], "noise": noisy}


def customers(rng, changed):
    """Ages and goods; after a change the young buy what the old did."""
    age = rng.integers(18, 80, CUSTOMERS).astype(float)
    likes = (age < 49) ^ changed
    goods = np.where(rng.random(CUSTOMERS) < 0.75, likes, ~likes)
    table = pd.DataFrame({"age": age, "bought": np.where(goods, "games", "books")})
    table.loc[rng.random(CUSTOMERS) < 0.05, "age"] = np.nan
    return table


def main():
    """Print the results of the tests, and return their p-values."""
    rng, options = np.random.default_rng(0), {"n_permutations": PERMUTATIONS, "random_state": 0}
    page, others = pages(rng)
    found = {
        f"page, {name}": mmd_test(page, other, Patches((8, 8), patch=3), **options)
        for name, other in others.items()
    }
    before = customers(rng, changed=False)
    for name, changed in (("the same", False), ("changed", True)):
        after = customers(rng, changed)
        found[f"customers, {name}"] = mmd_test(before, after, "tabular", **options)
    found["age and goods"] = hsic_test(
        before[["age"]], before[["bought"]], "tabular", "tabular", **options
    )
    for name, result in found.items():
        print(f"{name:<20}{result}")
    return {name: result.pvalue for name, result in found.items()}


if __name__ == "__main__":
    main()
