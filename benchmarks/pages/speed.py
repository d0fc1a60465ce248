"""Tables of docs/benchmarks/speed.md."""

from __future__ import annotations

from pages.common import grid, results, where

#: What grows, in the words of the table.
SIZES = {"n_rows": "rows", "n_inputs": "features", "n_neurons": "neurons"}


def quick(result):
    return " Of a quick trial, not the full run." if result["quick"] else ""


def growth_table():
    result = results("growth")
    rows = []
    for line in result["growth"]:
        sizes = [int(size) for size in line["seconds"]]
        seconds = list(line["seconds"].values())
        slopes = [
            f"{line[part]['exponent']:.2f} ± {line[part]['standard_error']:.2f}"
            for part in ("all", "largest decade")
        ]
        rows.append(
            [
                line["learner"].replace("_", " ").title(),
                SIZES[line["size"]],
                f"{sizes[0]:,} to {sizes[-1]:,}",
                f"{seconds[0]:.2g} to {seconds[-1]:.2g} s",
                *slopes,
                line["theory"],
            ]
        )
    head = ["learner", "grows", "from", "time", "exponent", "of the largest decade", "theory"]
    text = f"Exponents ± standard errors.{quick(result)} {where(result)}."
    return "\n".join([*grid(head, rows), "", text])


def milliseconds(seconds):
    """The difference of two medians may be below zero by chance."""
    return f"{1e3 * seconds:,.0f} ms" if seconds >= 1e-3 else "< 1 ms"


def import_time_table():
    result = results("import_time")
    rows = []
    for name in result["runs"][0]["seconds"]:
        spent = [milliseconds(run["seconds"][name]) for run in result["runs"]]
        rows.append([f"`{name}`", *spent])
    rows.append(
        [
            "a learner of trickless to estimators of scikit-learn",
            *(f"{run['ratio']:.2f}" for run in result["runs"]),
        ]
    )
    heads = [
        "with pandas installed" if run["pandas"] else "without pandas" for run in result["runs"]
    ]
    met = "met" if all(run["ratio"] <= result["aim"] for run in result["runs"]) else "not met"
    text = f"Aim: at most {result['aim']} times, {met}.{quick(result)} {where(result)}."
    return "\n".join([*grid(["import", *heads], rows), "", text])


def limits_table():
    """Ratios of Kitchen Sinks to the bare arithmetic, and to scikit-learn where it is small."""
    result = results("kitchen_sinks_limits")
    aims = {
        "activations to the product": 1.0,
        "activations to the product in memory": 1.0,
        "activations to the product by blocks": 1.0,
        "activations to their parts": 1.25,
        "fit": 1.15,
        "fit, alpha='auto'": 1.45,
        "fit, single precision": 1.15,
        "fit, alpha='auto', single precision": 1.45,
        "predict": 1.4,
    }
    names = {
        "activations to the product": "activations, to a product of the rows with 2,000 weights",
        "activations to the product in memory": "activations, to the same in memory that is there",
        "activations to the product by blocks": "activations, to the same by blocks in the cache",
        "activations to their parts": "activations, to a product with 1,000, cosines and sines",
        "fit": "fit, to these, the Gram matrix in double precision and a Cholesky factor",
        "fit, alpha='auto'": 'the same with `alpha="auto"`',
        "fit, single precision": "fit, to the same with the Gram matrix in single precision",
        "fit, alpha='auto', single precision": 'the same with `alpha="auto"`',
        "predict": "prediction, to activations and products",
    }
    ratios = result["large"]["ratio"]
    rows = [[names[key], f"{ratios[key]:.2f}", f"{aims[key]:g}"] for key in aims]
    small = {
        "small": "fit of 200 rows with 100 columns, to RBFSampler and Ridge",
        "small, wide": "the same with 2,000 columns, as by default",
        "grid search": "grid search on digits, to RBFSampler and RidgeClassifier",
    }
    rows += [[text, f"{result[key]['ratio']:.2f}", "1.5"] for key, text in small.items()]
    memory = result["memory"]
    most = memory["matrices_mib"] + memory["budget_mib"]
    text = (
        f"Medians in turn. The peak of a fit with {memory['columns']:,} columns is "
        f"{memory['peak_mib']:,.0f} MiB above its beginning; three matrices and the byte budgets "
        f"come to {most:,.0f} MiB. {where(result)}."
    )
    return "\n".join([*grid(["what", "ratio", "aim"], rows), "", text])


TABLES = {
    "limits": limits_table,
    "growth": growth_table,
    "import": import_time_table,
}
