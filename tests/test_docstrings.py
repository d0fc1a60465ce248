"""A class is documented by its own docstring and by those of its bases."""

import inspect
import re
import subprocess
import sys

import pytest

from api import public_things
from trickless._docstrings import completed_by, documented
from trickless.neurons import Neurons

ESTIMATORS = [
    cls
    for cls in public_things().values()
    if inspect.isclass(cls) and hasattr(cls, "get_params") and hasattr(cls, "fit")
]
LEARNERS = [cls for cls in ESTIMATORS if not issubclass(cls, Neurons)]


class Base:
    """A base.

    Parameters
    ----------
    b : int, default=2
        Described at the base.

        - In a list.
    a : int, default=1
        Overridden.

    Attributes
    ----------
    b_ : int
        What b became.

    References
    ----------
    .. [1] A paper.
    """


Base.__module__ = "trickless.base"


def test_a_class_adds_what_its_bases_describe():
    @documented
    class Thing(Base):
        """A thing.

        Parameters
        ----------
        a : int, default=1
            Described at the class.

        Attributes
        ----------
        a_ : int
            What a became.

        Examples
        --------
        >>> 1
        1
        """

        __module__ = "trickless.thing"

        def __init__(self, a=1, b=2):
            pass

    assert inspect.getdoc(Thing) == inspect.cleandoc("""
        A thing.

        Parameters
        ----------
        a : int, default=1
            Described at the class.
        b : int, default=2
            Described at the base.

            - In a list.

        Attributes
        ----------
        a_ : int
            What a became.
        b_ : int
            What b became.

        References
        ----------
        .. [1] A paper.

        Examples
        --------
        >>> 1
        1
        """)


FAMILIES = [
    cls for cls in ESTIMATORS if issubclass(cls, Neurons) and inspect.signature(cls).parameters
]


@pytest.mark.parametrize("cls", LEARNERS + FAMILIES, ids=lambda cls: cls.__name__)
def test_parameters_are_documented_in_the_order_of_the_signature(cls):
    section = re.search(
        r"Parameters\n-+\n(.*?)(?=\n\n\w[\w ]*\n--|\Z)", inspect.getdoc(cls), flags=re.S
    )
    names = re.findall(r"^(\w+) : ", section[1], flags=re.M)
    assert names == list(inspect.signature(cls).parameters)


CLASSES = {name: thing for name, thing in public_things().items() if inspect.isclass(thing)}


@pytest.mark.parametrize("name", CLASSES)
def test_the_docstring_of_a_class_has_at_most_a_thousand_words(name):
    assert 0 < len((CLASSES[name].__doc__ or "").split()) <= 1000


@pytest.mark.parametrize("name", CLASSES)
def test_properties_have_docstrings(name):
    """A property without one shows that of the type of its value."""
    members = inspect.getmembers_static(CLASSES[name], lambda each: isinstance(each, property))
    assert [each for each, member in members if each[0] != "_" and not member.__doc__] == []


def test_python_without_docstrings_imports_learners():
    code = "import trickless; print(trickless.KitchenSinksRegressor.__doc__)"
    run = subprocess.run(
        [sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "None"


def test_a_function_adds_what_texts_describe():
    shared = """
Parameters
----------
X : array
    Rows.
y : array
    Targets.
other : str
    A parameter of another function.

Returns
-------
self
"""

    @completed_by("Parameters\n---\ny : int\n    Labels.", shared)
    def fit(X, y, weight=None):
        """Fit.

        Parameters
        ----------
        weight : array, optional
            Weights.

        Raises
        ------
        ValueError
            Never.
        """

    assert inspect.getdoc(fit) == inspect.cleandoc("""
        Fit.

        Parameters
        ----------
        X : array
            Rows.
        y : int
            Labels.
        weight : array, optional
            Weights.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Never.
        """)


@pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("name", ["fit", "partial_fit", "predict", "score", "predict_then_learn"])
def test_methods_describe_what_they_take(cls, name):
    method = getattr(cls, name, None)
    if method is None or not method.__module__.startswith("trickless."):
        return
    doc = inspect.getdoc(method)
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w[\w ]*\n--|\Z)", doc, flags=re.S)
    names = re.findall(r"^(\w+) : ", section[1], flags=re.M)
    assert names == list(inspect.signature(method).parameters)[1:]
    if "fit" in name:
        assert "\nReturns\n-------\nself" in doc
