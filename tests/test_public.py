"""Public names are a promise, so that a new one is a decision: it is added to public.txt."""

from pathlib import Path

import pytest

import trickless
from api import public_names, public_things

AGREED = Path(__file__).with_name("public.txt").read_text().split()


def test_public_names_are_those_that_are_agreed():
    names = [f"{module}.{name}" for module, names in public_names().items() for name in names]
    assert sorted(names) == AGREED
    assert len(names) <= 70
    short = [name.rpartition(".")[2] for name in names]
    assert len(set(short)) == len(short)  # in the reference too


def test_each_public_name_is_there():
    assert len(public_things()) > 60  # without Dask and River
    assert sorted(trickless.__all__) == public_names()["trickless"]
    assert set(trickless.__all__) <= set(dir(trickless))


def test_other_names_are_not_there():
    for name in ("mmd_test", "public_names", "Gaussian", "_unknown"):
        with pytest.raises(AttributeError, match=f"'trickless' has no attribute '{name}'"):
            getattr(trickless, name)
