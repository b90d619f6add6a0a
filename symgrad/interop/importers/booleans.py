"""Booleans of other frameworks: conversion to numbers and back, comparison, reduction, selection."""

from __future__ import annotations

from typing import Any

import symgrad.api.functions.elementary as fn
from symgrad.api.functions.arrays import sum
from symgrad.api.handles.expr import Expr, handle


def as_number(b: Expr) -> Expr:
    """Return a truth value as a number."""
    return fn.where(b, 1, 0)


def original_boolean(n: Expr) -> Expr | None:
    """Return the truth value that `as_number` converted; None for other numbers."""
    node = n.node
    made = node.op.name == "where" and node.args[1].is_number(1) and node.args[2].is_number(0)
    return handle(node.args[0]) if made else None


def as_boolean(n: Expr) -> Expr:
    """Convert a number to a truth value: the one that was converted to this number, or whether it is nonzero."""
    if n.dtype == "bool":
        return n
    before = original_boolean(n)
    return n != 0 if before is None else before


def select_value(condition: Expr, a: Any, b: Any) -> Expr:
    """Return a where a condition holds and b elsewhere, whether they are numbers or truth values.

    Example:
        >>> import symgrad as sg
        >>> c, a, b = (sg.symbols(name, "bool") for name in "cab")
        >>> bool(select_value(c, a, b)(c=True, a=False, b=True))
        False
    """
    if all(isinstance(e, Expr) and e.dtype == "bool" for e in (a, b)):
        return (condition & a) | (fn.logical_not(condition) & b)
    return fn.where(condition, a, b)


def clip(x: Expr, low: Any, high: Any) -> Expr:
    """Return x if it is between two bounds, otherwise the nearer bound; at the bounds themselves the slope is 0.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> [float(sg.grad(e, x)(x=6.0)) for e in (clip(x, 0, 6), sg.clip(x, 0, 6))]
        [0.0, 1.0]
    """
    return fn.where(x <= low, low, fn.where(x >= high, high, x))


def is_equal(a: Expr, b: Expr) -> Expr:
    """Tell whether two values are equal, whether they are numbers or truth values."""
    return fn.logical_not(fn.logical_xor(a, b)) if a.dtype == b.dtype == "bool" else a == b


def unequal(a: Expr, b: Expr) -> Expr:
    """Tell whether two values differ, whether they are numbers or truth values."""
    return fn.logical_xor(a, b) if a.dtype == b.dtype == "bool" else a != b


def all_of(b: Expr, axis: Any = None, keepdims: bool = False) -> Expr:
    """Tell whether all truth values along axes hold."""
    return sum(as_number(fn.logical_not(b)), axis=axis, keepdims=keepdims) <= 0


def any_of(b: Expr, axis: Any = None, keepdims: bool = False) -> Expr:
    """Tell whether at least one of the truth values along axes holds."""
    return sum(as_number(b), axis=axis, keepdims=keepdims) > 0


def is_finite(x: Expr) -> Expr:
    """Tell which entries are finite."""
    return x - x == 0  # for an infinite x this is NaN


def is_nan(x: Expr) -> Expr:
    """Tell which entries are NaN."""
    return fn.logical_not(x <= x)


def truncated_remainder(x: Expr, y: Expr) -> Expr:
    """Return the remainder with the sign of the dividend."""
    q = x / y
    return x - y * fn.where(q >= 0, fn.floor(q), fn.ceil(q))
