"""Handles make handles of their own class, and NumPy's functions are symgrad's."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.functions.numpy_names import NUMPY
from symgrad.api.handles.expr import Expr, handle
from symgrad.support.public_names import public, public_name


class Formula(Expr):
    """An Expr of a user's own."""

    __slots__ = ()


X = Formula(sg.tensor("X", (3, 3)).node)

MAKE: list[Callable[[Any], Any]] = [
    lambda x: x + 1,
    lambda x: 2 - x,
    lambda x: x - 1,
    lambda x: x - x,
    lambda x: divmod(x, 2)[1],
    lambda x: x @ x,
    lambda x: x == x.T,
    lambda x: +x,
    lambda x: round(x),
    lambda x: x[0, 1:],
    lambda x: next(iter(x)),
    lambda x: x.clip(0, 1),
    lambda x: x.sum(axis=0),
    lambda x: x.canonical(),
    lambda x: x.simplify(),
    lambda x: np.exp(x),
    lambda x: np.float_power(x, 2),
    lambda x: np.linalg.slogdet(x)[0],
    lambda x: np.full_like(x, 2.0),
    lambda x: np.hstack([x, x]),
    lambda x: np.where(x > 0, x, -np.inf),
]


@pytest.mark.parametrize("made", MAKE)
def test_what_a_handle_makes_is_of_its_class(made: Callable[[Any], Any]) -> None:
    assert type(made(X)) is Formula
    assert type(made(handle(X.node))) is Expr
    assert made(X).node is made(handle(X.node)).node


def test_one_node_has_one_handle() -> None:
    held = handle(X.node)
    assert handle(X.node) is held
    assert (X + 0) is not held


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "broadcast_to": (X, (2, 3, 3)),
    "concatenate": ([X, X],),
    "einsum": ("ij,jk", X, X),
    "expand_dims": (X, 0),
    "matrix_power": (X, 2),
    "moveaxis": (X, 0, 1),
    "pad": (X, 1),
    "reshape": (X, (9,)),
    "squeeze": (X[None],),
    "stack": ([X, X],),
    "swapaxes": (X, 0, 1),
    "take": (X, [0, 2]),
    "take_along_axis": (X, sg.tensor("ids", (3, 3), "int"), 0),
    "where": (X > 0, X, 1),
    **dict.fromkeys(("dot", "inner", "kron", "matmul", "outer", "solve", "tensordot"), (X, X)),
}


BOTH = sorted(  # symgrad's size takes a size; NumPy's clip and round have further arguments
    name
    for name, f in NUMPY.items()
    if public_name(f.__name__) and f.__name__ not in ("size", "clip", "round")
)


@pytest.mark.parametrize("name", BOTH)
def test_a_function_of_numpy_is_the_public_one_of_that_name(name: str) -> None:
    plain = NUMPY[name].__name__
    ours = public(plain)
    _, *given = signature(NUMPY[name]).parameters.values()
    told = [(p.name, p.kind, p.default) for p in given]
    assert told == [(p.name, p.kind, p.default) for p in signature(ours).parameters.values()]
    args = ARGUMENTS.get(plain, (X,))
    assert NUMPY[name](Expr, *args).node is ours(*args).node


def test_what_is_internal_is_not_offered() -> None:
    offered = dir(sg.symbols("x") ** 2)
    assert {"latex", "inputs", "nothing", "same", "__add__"} <= set(offered)
    assert not {"node", "listings", "origins", "slope", "traces"} & set(offered)
    p = sg.parse("X : real[n, 3]; f = sum(X**2)")
    assert "listing" not in dir(p)
    for kernel in (sg.compile(sg.symbols("x") ** 2), sg.compile(p["f"])):
        assert {"inputs", "dtype", "name", "threads", "llvm_ir", "save"} <= set(dir(kernel))
        assert not {"kinds", "native", "needs", "fusable", "outputs", "symbols", "about"} & set(dir(kernel))
