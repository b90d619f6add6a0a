"""Convert sizes with names in JAX, which are polynomials there, to sizes of axes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import reduce
from typing import Any, cast

import jax as _jax

from symgrad.api.functions.layout import size
from symgrad.ir.sizes import Shape, Size, size_ceildiv, size_max, size_min, size_product, size_sum
from symgrad.support.errors import UnsupportedError

jax = cast(Any, _jax)


def dims(shapes: Iterable[Shape]) -> list[tuple[Any, ...]]:
    """Return shapes in JAX's form: equal names are the same size in all of them."""
    scope = jax.export.SymbolicScope()

    def one(n: Size) -> Any:
        return n if isinstance(n, int) else jax.export.symbolic_shape(str(n), scope=scope)[0]

    return [tuple(map(one, shape)) for shape in shapes]


def has_names(value: Any) -> bool:
    """Tell whether a size, or one of a list of sizes, is a symbolic size of JAX."""
    if isinstance(value, list | tuple):
        return any(map(has_names, cast("list[Any]", value)))
    return bool(jax.export.is_symbolic_dim(value))


def shape_of(aval: Any) -> Shape:
    """Return the shape of an abstract value of JAX."""
    return tuple(map(size_of, aval.shape))


def translate_sizes(value: Any) -> Any:
    """Return a parameter of an equation in which JAX's sizes are converted."""
    if isinstance(value, list | tuple) and has_names(value):
        return tuple(translate_sizes(v) for v in cast("list[Any]", value))
    return size_of(value) if has_names(value) else cast("Any", value)


def size_of(dim: Any) -> Size:
    """Convert a size of JAX, whose polynomials are available only as text.

    Raises:
        UnsupportedError: if a size is not a polynomial, nor a maximum, minimum or rounded quotient of polynomials.
    """
    if not has_names(dim):
        return int(dim)
    return _read(ast.parse(str(dim).replace("^", "**"), mode="eval").body, str(dim))


def _read(part: ast.expr, whole: str) -> Size:
    match part:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return size_product([-1, _read(inner, whole)])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return size_sum([_read(left, whole), _read(right, whole)])
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return size_sum([_read(left, whole), size_product([-1, _read(right, whole)])])
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return size_product([_read(left, whole), _read(right, whole)])
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))):
            return size_product([_read(left, whole)] * power)
        case ast.Call(func=ast.Name(id="max" | "min" as how), args=args):
            return reduce(size_max if how == "max" else size_min, (_read(a, whole) for a in args))
        case ast.Call(func=ast.Name(id="floordiv"), args=[top, ast.Constant(value=int(by))]) if by > 0:
            return size_ceildiv(size_sum([_read(top, whole), 1 - by]), by)
        case _:
            raise UnsupportedError(f"a size {whole}", cure="import it with numbers as sizes")


def value_of(dim: Any) -> Any:
    """Return a size as a number that a formula can contain."""
    return size(size_of(dim))
