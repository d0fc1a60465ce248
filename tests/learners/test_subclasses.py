"""Subclasses with other parameters than their base class."""

from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score

from cases import LEARNERS, OTHERS, answers, name_of, problem, shots
from trickless import RandomFeatures, load, save
from trickless.neurons import Coordinates, Gaussian, Mixture

ALL = [*LEARNERS, *OTHERS, RandomFeatures(n_neurons=20)]


KITCHEN_SINKS = [learner for learner in LEARNERS if name_of(learner).startswith("Kitchen")]


def options_of(learner):
    return {k: v for k, v in learner.get_params(deep=False).items() if k != "random_state"}


def fewer(learner):
    """A subclass of one parameter, which fixes the others."""
    base, options = type(learner), options_of(learner)

    class Fewer(base):
        def __init__(self, random_state=0):
            super().__init__(**options, random_state=random_state)

    return Fewer()


def with_keywords(learner):
    """A subclass that passes keywords on, whose names scikit-learn does not know."""
    base, options = type(learner), options_of(learner)

    class Keywords(base):
        def __init__(self, random_state=0, **kwargs):
            super().__init__(**options | kwargs, random_state=random_state)

    return Keywords()


def more(learner):
    """A subclass with a parameter of its own, and another default."""
    base, options = type(learner), options_of(learner)
    names = [*signature(base).parameters]

    class More(base):
        def __init__(self, extra=1, random_state=0):
            self.extra = extra
            super().__init__(**options, random_state=random_state)

    assert "extra" not in names
    return More(extra=2)


def answer(model, X):
    return model.transform(X) if isinstance(model, RandomFeatures) else answers(model, X)


@pytest.mark.parametrize(
    ("learner", "make"),
    [
        *((learner, fewer) for learner in ALL),
        (LEARNERS[0], with_keywords),
        *((learner, more) for learner in LEARNERS[1:3]),
    ],
)
def test_a_subclass_with_other_parameters_learns_what_its_base_learns(learner, make, tmp_path):
    X, y = problem(learner, rows=60)
    base, mine = clone(learner).set_params(random_state=0), make(learner)
    expected = answer(base.fit(X, y), X)
    for model in (mine, clone(mine)):
        np.testing.assert_array_equal(answer(model.fit(X, y), X), expected)
    kind = type(mine)
    save(mine, tmp_path / "model")
    loaded = load(tmp_path / "model", trusted=[kind, shots])
    assert type(loaded) is kind
    np.testing.assert_array_equal(answer(loaded, X), expected)
    if hasattr(base, "partial_fit"):
        options = {"classes": np.unique(y)} if is_classifier(base) else {}
        once, again = clone(base), clone(mine)
        for rows in (slice(None), slice(0, None, 2)):
            once.partial_fit(X[rows], y[rows], **options)
            again.partial_fit(X[rows], y[rows], **options)
        np.testing.assert_array_equal(answer(again, X), answer(once, X))
    if hasattr(base, "merge"):
        merged = clone(mine).fit(X, y).merge(clone(mine).fit(X, y))
        np.testing.assert_array_equal(
            answer(merged, X), answer(clone(base).fit(X, y).merge(clone(base).fit(X, y)), X)
        )


class Narrow(Gaussian):
    """A family that fixes its only parameter."""

    def __init__(self):
        super().__init__(length_scale=0.7)


@pytest.mark.parametrize("family", [Narrow(), Mixture([Narrow(), Coordinates()])], ids=name_of)
@pytest.mark.parametrize("learner", LEARNERS[:3], ids=name_of)
def test_a_subclass_of_a_family_may_have_no_parameters(learner, family):
    X, y = problem(learner)
    same = Gaussian(0.7) if isinstance(family, Narrow) else Mixture([Gaussian(0.7), Coordinates()])
    models = [clone(learner).set_params(neurons=each, random_state=0) for each in (family, same)]
    mine, base = (answers(model.fit(X, y), X) for model in models)
    np.testing.assert_array_equal(mine, base)


@pytest.mark.parametrize("learner", KITCHEN_SINKS, ids=name_of)
def test_a_search_goes_through_the_parameters_of_the_family_alone(learner):
    X, y = problem(learner)
    scales = [0.1, 1.0, 30.0]
    base = clone(learner).set_params(search={"neurons__length_scale": scales}, random_state=0)
    mine = fewer(base)
    mine.fit(X, y)
    np.testing.assert_array_equal(mine.search_scores_, base.fit(X, y).search_scores_)
    assert mine.neurons_.length_scale == base.neurons_.length_scale in scales
    assert np.isfinite(cross_val_score(fewer(learner), X, y, cv=2)).all()
