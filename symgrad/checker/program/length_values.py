"""Parse and evaluate lengths of axes: polynomials in names, with max, min and ceil of quotients, as text."""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, cast

from symgrad.checker.program.names import terminal_text
from symgrad.support.errors import UsageError

_Code: TypeAlias = "tuple[str | Fraction, ...]"  # postfix notation

# A subset of Python's expressions: no comments, no line breaks, no numbers in other bases.
_LENGTH_TEXT = re.compile(r"(?:(?:[0-9]+|[^\W\d]\w*)(?!\w)|[-+*/(),]| )*")

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_FUNCTIONS = {"max": 2, "min": 2, "ceil": 1}


@lru_cache(maxsize=4096)
def postfix(text: str) -> _Code:
    """Return a length in postfix notation: numbers, names, and operators after their operands.

    Raises:
        UsageError: if the text is not a length.

    Example:
        >>> postfix("2*n")
        (Fraction(2, 1), 'n', '*')
    """
    try:
        # Python normalises names to NFKC; refuse names that this changes, so that a length is read as it is printed.
        plain = _LENGTH_TEXT.fullmatch(text) and unicodedata.is_normalized("NFKC", text)
        todo: list[ast.AST | str] = [ast.parse(text, mode="eval").body if plain else ""]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        todo = [""]
    code: list[str | Fraction] = []
    while (
        todo
    ):  # the loop below is a stack: an operator lies under its operands, so that it is popped after them
        match todo.pop():
            case str(symbol) if symbol:
                code.append(symbol)
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                code.append(Fraction(value))
            case ast.Name(id=name):
                code.append(name)
            case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
                todo += [_OPERATORS[type(op)], right, left]
            case ast.UnaryOp(ast.USub(), operand):
                todo += ["*", operand, ast.Constant(-1)]
            case ast.Call(ast.Name(id=name), args, []) if len(args) == _FUNCTIONS.get(name):
                todo += [f"{name}()", *reversed(args)]
            case _:
                raise UsageError(
                    f"'{terminal_text(text, 60)}' is no length",
                    expected="names and numbers with + - * / max min ceil",
                )
    return tuple(code)


def _divide(a: Fraction, b: Fraction) -> Fraction:
    if not b:
        raise UsageError("a length divided by zero", cure="give the names other values")
    return a / b


_BINARY_OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "max()": max,
    "min()": min,
}


def length_value(size: int | str, sizes: Mapping[str, int]) -> int:
    """Evaluate a length.

    Args:
        size: a number, a name, or a polynomial in names.
        sizes: the values of the names.

    Raises:
        UsageError: if a name has no value, or the text is not a length.

    Example:
        >>> length_value("ceil((2*n - 1)/2)", {"n": 3})
        3
    """
    if isinstance(size, int):
        return size
    if size in sizes:
        return sizes[size]
    stack: list[Fraction] = []
    for item in postfix(size):
        if isinstance(item, Fraction):
            stack.append(item)
        elif item == "ceil()":
            stack.append(Fraction(math.ceil(stack.pop())))
        elif item in _BINARY_OPERATORS:
            right, left = stack.pop(), stack.pop()
            stack.append(_BINARY_OPERATORS[item](left, right))
        elif item in sizes:
            stack.append(Fraction(sizes[item]))
        else:
            raise UsageError(f"the length {item} has no value", expected=f"values of {length_names([size])}")
    if stack[-1].denominator != 1:
        raise UsageError(
            f"the length '{terminal_text(size, 60)}' is {stack[-1]} here", expected="a whole number"
        )
    return int(stack[-1])


def length_names(lengths: Iterable[int | str]) -> list[str]:
    """Return the names in lengths, each once, in order of appearance."""
    found: dict[str, None] = {}
    for size in lengths:
        if isinstance(size, str):
            found.update(dict.fromkeys(i for i in postfix(size) if isinstance(i, str) and i.isidentifier()))
    return list(found)


def resolve_lengths(params: Any, sizes: Mapping[str, int]) -> Any:
    """Return static parameters with every length in them evaluated."""
    if isinstance(params, tuple):
        return tuple(resolve_lengths(p, sizes) for p in cast("tuple[Any, ...]", params))
    return length_value(params, sizes) if isinstance(params, str) else params
