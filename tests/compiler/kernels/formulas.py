"""Formulas with the same arithmetic in NumPy, operation by operation, for comparison bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ir.graph import OPS, Node, symbol
from symgrad.ir.types import BOOL, Declaration

import symgrad.ops  # noqa: F401  isort: skip  (registers the ops)

x, u, v = (symbol(Declaration(name)) for name in "xuv")
flag = symbol(Declaration("flag", BOOL))


def op(name: str, *args: Node) -> Node:
    return OPS[name](*args)


def sub(a: Node, b: Node) -> Node:
    return op("add", a, op("neg", b))


Case = tuple[str, list[Node], Callable[..., Any]]

# Only operations that IEEE 754 rounds correctly, so NumPy gives the same bits.
EXACT: list[Case] = [
    ("add", [op("add", x, u)], lambda x, u: x + u),
    ("sub", [sub(x, u)], lambda x, u: x - u),
    ("mul", [op("mul", x, u)], lambda x, u: x * u),
    ("div", [op("div", x, u)], lambda x, u: x / u),
    ("sqrt", [op("sqrt", op("mul", op("mul", x, x), u))], lambda x, u: np.sqrt(x * x * u)),
    ("multiply-add", [op("add", op("mul", x, u), x)], lambda x, u: x * u + x),
    ("floor", [op("add", op("floor", x), op("abs", u))], lambda x, u: np.floor(x) + np.abs(u)),
    ("several", [op("add", x, u), op("div", u, x), x], lambda x, u: (x + u, u / x, np.where(True, x, u))),
    ("where", [op("where", op("lt", x, u), x, op("mul", u, u))], lambda x, u: np.where(x < u, x, u * u)),
    ("bool output", [op("lt", x, u)], lambda x, u: x < u),
]


def same_bits(a: Any, b: Any) -> bool:
    """Equal bit by bit, except that all NaNs are one."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    both_nan = (a != a) & (b != b)
    signs = np.signbit(a) == np.signbit(b) if a.dtype.kind == "f" else True
    return bool(np.all(both_nan | ((a == b) & signs)))


def as_tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)
