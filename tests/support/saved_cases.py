"""Saved models of every learner, with the rows to use them with.

They are small. Together they hold every class of the registry whose arrays are used as indices or
reach compiled code: trees with categories and missing values, blocks of mixtures, sparse support
points, and statistics.
"""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse

import trickless
from cases import shots
from trickless import neurons as families
from trickless.inspection import Expansion
from trickless.kernels import KernelGradientClassifier, KernelGradientRegressor
from trickless.neurons.composed import Product


class Case(NamedTuple):
    """The bytes of a file, rows and targets to use its model with, and what a stream would draw."""

    name: str
    content: bytes
    X: Any
    y: Any
    draws: tuple = ()


def data():
    """Rows by kind, and targets by kind."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    f = np.sin(X[:, 0])
    labels = np.where(X[:, 0] > 0, "yes", "no")
    town = pd.Categorical(rng.choice(["A", "B", "C"], 40))
    table = pd.DataFrame({"a": X[:, 0], "b": town, "c": np.where(X[:, 1] > 1, np.nan, X[:, 1])})
    table.loc[::9, "b"] = None
    rows = {
        "dense": X,
        "sparse": scipy.sparse.random(40, 3, 0.5, "csr", random_state=0),
        "table": table,
        "images": rng.random((40, 16)),
        "prints": scipy.sparse.csr_matrix((np.abs(X) > 0.7).astype(float)),
        "spelled": odd_texts(rng, X[:, 0]),
    }
    targets = {
        "number": f,
        "numbers": np.stack([f, X[:, 1]], axis=1),
        "label": labels,
        "three": np.digitize(X[:, 0], [-0.5, 0.5]),
        "sets": np.stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 1], axis=1).astype(int),
    }
    return rows, targets


def odd_texts(rng, x):
    """A table of numbers with units and decimal commas, of rare categories and of names."""
    rare = [f"rare {i}" for i in range(10)]
    names = rng.permutation(rare + ["A"] * 15 + ["B"] * 15)
    texts = [f"{v:.2f}".replace(".", ",") + " kg" for v in x]
    return pd.DataFrame({"a": texts, "b": names, "c": x})


def learners():
    """Learners to fit, by name, with the kinds of their rows and targets."""
    t, n = trickless, families
    trees, shallow = n.Trees(depth=3), n.Trees(depth=2)
    mixed = n.Mixture([n.Gaussian(), trees])
    steps = {"batch_size": 20, "random_state": 0}
    few = {"n_neurons": 8, "random_state": 0}
    boosted = {"max_depth": 3, "early_stopping": False, "random_state": 0}
    yield "sinks", t.KitchenSinksRegressor(n.Gaussian(), 8, random_state=1), "dense", "number"
    yield "sinks rows", t.KitchenSinksRegressor(n.Gaussian(), 60), "dense", "numbers"
    generator = np.random.RandomState(np.random.PCG64(0))
    learner = t.KitchenSinksClassifier("tabular", 8, random_state=generator)
    yield "sinks tabular", learner, "table", "label"
    yield "sinks sparse", t.KitchenSinksClassifier(n.Laplace(), **few), "sparse", "three"
    yield "sinks trees", t.KitchenSinksRegressor(shallow, **few), "table", "number"
    yield "sinks trees labels", t.KitchenSinksClassifier(shallow, **few), "table", "sets"
    learner = t.KitchenSinksClassifier(mixed, loss="log_loss", **few)
    yield "sinks mixture", learner, "dense", "label"
    learner = t.KitchenSinksRegressor(n.Stumps(), 40, solver="iterative", random_state=0)
    yield "sinks passes", learner, "dense", "number"
    yield "sinks ferns", t.KitchenSinksRegressor(n.Ferns(), **few), "dense", "number"
    for kind in ("normal", "data", "whitened"):
        patches = n.Patches((4, 4), 2, 2, filters=kind)
        yield f"sinks patches {kind}", t.KitchenSinksRegressor(patches, **few), "images", "number"
    series = n.Convolutions((1, 16), kernels=2)
    yield "sinks convolutions", t.KitchenSinksRegressor(series, **few), "images", "number"
    layers = n.Layers([n.Patches((4, 4), 2, 2), n.Trees(depth=2)], hidden=5)
    yield "sinks layers", t.KitchenSinksRegressor(layers, **few), "images", "number"
    marks = n.Landmarks(n.Laplace1())
    yield "sinks landmarks", t.KitchenSinksRegressor(marks, **few), "dense", "number"
    yield (
        "sinks landmarks sparse",
        t.KitchenSinksRegressor(n.Landmarks(), **few),
        "sparse",
        "number",
    )
    yield "sinks tanimoto", t.KitchenSinksRegressor(n.Tanimoto(), **few), "prints", "number"
    yield "sinks periodic", t.KitchenSinksRegressor(n.Periodic(2.0), **few), "dense", "number"
    yield "sinks spelled", t.KitchenSinksRegressor("tabular", **few), "spelled", "number"
    made = Product([n.On([0, 1], n.Gaussian()), n.Stumps(), 0.5 * n.Dense("tanh")])
    yield "sinks product", t.KitchenSinksRegressor(made, **few), "dense", "number"
    some = n.Mixture([n.Deep(hidden=(4, 3)), n.Coordinates(), n.On([1], trees)])
    yield "sinks many", t.KitchenSinksClassifier(some, **few), "dense", "label"
    yield "sinks auto", t.KitchenSinksRegressor("auto", **few), "dense", "number"

    yield "steps", t.DoublyStochasticClassifier(n.Gaussian(), **few), "sparse", "label"
    learner = t.DoublyStochasticRegressor("tabular", 8, random_state=np.random.default_rng(1))
    yield "steps tabular", learner, "table", "number"
    yield "steps trees", t.DoublyStochasticRegressor(trees, 6, **steps), "table", "number"
    binary = n.Trees(shape="binary", max_leaves=6)
    yield "steps binary", t.DoublyStochasticRegressor(binary, 6, **steps), "table", "number"
    linear = n.Trees(depth=3, leaves="linear")
    yield "steps linear", t.DoublyStochasticRegressor(linear, 6, **steps), "table", "number"
    learner = t.DoublyStochasticClassifier(shallow, 6, warm_start=True, **steps)
    yield "steps warm", learner, "table", "label"
    yield "steps mixture", t.DoublyStochasticRegressor(mixed, 6, **steps), "dense", "number"
    learner = t.DoublyStochasticClassifier(mixed, 520, batch_size=40, random_state=0)
    yield "steps blocks", learner, "dense", "label"
    yield "boosted", t.BoostedTreesRegressor(6, **boosted), "table", "number"
    yield "boosted numbers", t.BoostedTreesRegressor(4, **boosted), "dense", "numbers"
    yield "boosted three", t.BoostedTreesClassifier(9, random_state=0), "table", "three"
    learner = t.BoostedTreesRegressor(6, n_candidates=1, **boosted)
    yield "boosted drawn", learner, "table", "number"
    learner = t.BoostedTreesRegressor(6, shape="binary", **boosted)
    yield "boosted binary", learner, "table", "number"
    learner = t.BoostedTreesClassifier(6, leaves="linear", **boosted)
    yield "boosted linear", learner, "table", "label"
    yield "boosted spelled", t.BoostedTreesRegressor(6, **boosted), "spelled", "number"
    learner = t.BoostedTreesRegressor(6, loss="huber", monotonic_cst=[1, 0, 0], **boosted)
    yield "boosted huber", learner, "dense", "numbers"
    yield "boosted fading", t.BoostedTreesClassifier(6, half_life=30, **boosted), "dense", "label"

    yield (
        "rounds stumps",
        t.ShrinkingGradientRegressor(n.Stumps(), random_state=0),
        "dense",
        "number",
    )
    learner = t.ShrinkingGradientClassifier(n.Gaussian(), 30, max_support=16, random_state=0)
    yield "rounds projection", learner, "sparse", "label"
    learner = KernelGradientClassifier(shots, max_support=16, random_state=0)
    yield "rounds unbiased", learner, "dense", "label"
    learner = t.ShrinkingGradientRegressor(shallow, 30, n_draws=20, random_state=0)
    yield "rounds trees", learner, "table", "number"
    learner = t.ShrinkingGradientRegressor(n.Gaussian(), 30, n_draws=2000, random_state=0)
    yield "rounds measured", learner, "sparse", "number"
    yield "rounds noisy", KernelGradientRegressor(shots, random_state=0), "dense", "number"
    for rows in ("dense", "sparse"):
        yield f"descent {rows}", KernelGradientRegressor(), rows, "number"
        yield f"descent labels {rows}", KernelGradientClassifier("laplacian"), rows, "three"
    yield "steps spelled", t.DoublyStochasticRegressor(trees, 6, **steps), "spelled", "number"

    yield "features", t.RandomFeatures(n.Gaussian(), **few), "sparse", "number"
    yield "features trees", t.RandomFeatures("trees", **few), "table", "number"
    yield "features dense", t.RandomFeatures("trees", sparse_output=False, **few), "table", "number"
    yield "features best", t.RandomFeatures(trees, n_candidates=3, **few), "dense", "number"
    yield "scaler", t.StreamingScaler(half_life=9.0), "dense", "number"
    yield "features mixture", t.RandomFeatures(mixed, **few), "dense", "number"


def _draws(model):
    """Weights that the stream of a model would draw, if it has a family."""
    family = getattr(model, "neurons_", None)
    if family is None:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return tuple(map(np.asarray, family.draw(np.random.default_rng(0), 256)))
        except (TypeError, ValueError, NotImplementedError):  # a family that only owns others
            return ()


def cases(folder):
    """All cases. Their files are written to a folder for a moment."""
    path = Path(folder, "case")
    rows, targets = data()

    def saved(name, model, X, y):
        trickless.save(model, path)
        content = path.read_bytes()
        path.unlink()
        return Case(name, content, X, y, _draws(model))

    for name, learner, kind, target in learners():
        X, y = rows[kind], targets[target]
        model = learner.fit(X, y)
        if name.endswith("fading"):
            model.partial_fit(X, y)
        yield saved(name, model, X, y)
    X = rows["dense"]
    rng = np.random.default_rng(0)
    expansion = Expansion(families.Laplace().fit(X, rng), rows["sparse"], np.ones((40, 1)))
    yield saved("expansion", expansion, rows["sparse"], None)
    family = families.Trees(depth=3).fit(X, rng)
    yield saved("network", Expansion(family, X, np.ones((40, 1))).freeze(8), X, None)
