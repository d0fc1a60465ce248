"""Write what does not go together into the reference, from the tables of the learners.

Run as ``python tests/support/make_combinations.py``.
"""

import re
from pathlib import Path

from trickless import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientClassifier,
)
from trickless._learners.refusals import CONDITIONS
from trickless.kernels import KernelGradientClassifier

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "combinations.md"
LEARNERS = {
    "Kitchen Sinks": (KitchenSinksRegressor, KitchenSinksClassifier),
    "Boosted trees": (BoostedTreesRegressor, BoostedTreesClassifier),
    "Doubly Stochastic": (DoublyStochasticRegressor, DoublyStochasticClassifier),
    "Shrinking Gradient": (ShrinkingGradientClassifier,),
    "Kernel Gradient": (KernelGradientClassifier,),
}
HEAD = """# What does not go together

Each row names values of parameters that a learner does not take together, or methods, attributes
and options that it does not have with these values. For example,
`hasattr(KitchenSinksClassifier(loss="hinge"), "forget")` is False. Asking for a method raises an
error that is both a `ValueError` and an `AttributeError`. Every error names the remedy. Values that
the first batch has fixed count until the next `fit`.
"""


def shown(name, wanted):
    if isinstance(wanted, str) and wanted in CONDITIONS:
        said = re.sub(r"'\w+'|None|\d[\d.]*", r"`\g<0>`", wanted)
        return f"`{name}` {'' if wanted == 'given' else 'that is '}{said}"
    first, *more = map(repr, wanted if isinstance(wanted, tuple) else (wanted,))
    *values, last = [f"`{name}={first}`", *(f"`{value}`" for value in more)]
    return f"{', '.join(values)} or {last}" if values else last


def page():
    lines = [HEAD]
    for title, classes in LEARNERS.items():
        taken = {name for each in classes for name in each().get_params()}
        lines += [
            f"## {title}",
            "",
            "| what | does not go with | because |",
            "|---|---|---|",
        ]
        excluded = {}  # by what and why, since one reason may hold for several values
        for row in classes[0]._refusals:
            if not row.when.keys() <= taken:
                continue
            first, *others = [shown(*each) for each in row.when.items()]
            if row.methods:
                first, others = ", ".join(f"`{name}`" for name in row.methods), [first, *others]
            excluded.setdefault((first, row.because), []).append(" and ".join(others))
        lines += [
            f"| {first} | {'; or '.join(others)} | {because} |"
            for (first, because), others in excluded.items()
        ]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
