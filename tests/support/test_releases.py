"""Pickles state their release, and those of others are refused by it."""

from __future__ import annotations

import importlib
import pickle

import pytest

import symgrad as sg
from symgrad.errors import FileError
from symgrad.ir.traverse import flatten, rebuild
from symgrad.support.releases import RELEASE


def test_pickles_state_the_release_of_the_package() -> None:
    assert sg.__version__.startswith(f"{RELEASE}.")


def test_a_graph_of_symgrad_0_1_is_refused() -> None:
    flat = flatten([(sg.symbols("x") ** 2).node])
    with pytest.raises(FileError, match=r"symgrad 0\.1 is not read"):
        rebuild(flat[1:])


def test_a_graph_of_a_later_release_is_refused() -> None:
    flat = flatten([(sg.symbols("x") ** 2).node])
    with pytest.raises(FileError, match=r"symgrad 9\.7 is not read"):
        rebuild([("release", (), ("9.7",)), *flat[1:]])


def test_a_class_of_symgrad_0_1_is_refused_with_the_release() -> None:
    old = b"csymgrad.kernel.kernel\n_load\n."  # protocol 0: a class by its module
    with pytest.raises(ModuleNotFoundError, match=r"symgrad 0\.1"):
        pickle.loads(old)


def test_modules_that_never_were_are_missing_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module("symgrad.no_such_module")


def test_errors_have_the_name_of_the_public_module() -> None:
    error = pickle.loads(pickle.dumps(FileError("a")))
    assert (type(error).__module__, str(error)) == ("symgrad.errors", "a")
