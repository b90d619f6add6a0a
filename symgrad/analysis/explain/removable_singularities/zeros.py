"""Propose zeros of a formula, as formulas of the other inputs: by inverse functions, polynomial roots, and guesses.

The results are candidates: some are not zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from symgrad.analysis.explain.limits import (
    NUMBERS_TRIED,
    POLYNOMIAL_FACTORS,
    SOLVED_COEFFICIENTS,
    UNDONE_FUNCTIONS,
)
from symgrad.ir.graph import OPS, Node, as_node, constant
from symgrad.ir.traverse import symbols_of, topological
from symgrad.rewrite.pipeline import canonical
from symgrad.rewrite.rational.read import PLAIN, rational_of

_Inverse: TypeAlias = "Callable[[Node], tuple[Node, ...]]"


def _pi() -> Node:
    return constant("pi")


def _by(name: str) -> _Inverse:
    return lambda c: (OPS[name](c),)


def _both(name: str) -> _Inverse:
    return lambda c: (OPS[name](c), -OPS[name](c))


_INVERSES: Mapping[str, _Inverse] = {
    "exp": _by("log"),
    "log": _by("exp"),
    "exp2": _by("log2"),
    "log2": _by("exp2"),
    "log10": lambda c: (as_node(10) ** c,),
    "expm1": _by("log1p"),
    "log1p": _by("expm1"),
    "sinh": _by("asinh"),
    "asinh": _by("sinh"),
    "cosh": _both("acosh"),
    "acosh": _by("cosh"),
    "tanh": _by("atanh"),
    "atanh": _by("tanh"),
    "sin": lambda c: (OPS["asin"](c), _pi() - OPS["asin"](c)),
    "cos": _both("acos"),
    "tan": lambda c: (OPS["atan"](c), OPS["atan"](c) + _pi()),
    "asin": _by("sin"),
    "acos": _by("cos"),
    "atan": _by("tan"),
    "sqrt": lambda c: (c**2,),
    "cbrt": lambda c: (c**3,),
    "abs": lambda c: (c, -c),
    "neg": lambda c: (-c,),
}


def maybe_zeros(f: Node, v: Node) -> Iterator[Node]:
    """Yield formulas without v at which a formula may vanish; those that follow from rules come first.

    Args:
        f: a formula of scalars.
        v: an input that the formula reads.
    """
    seen: set[Node] = set()
    for at in _all(f, v):
        (short,) = canonical([at]).nodes
        if short not in seen and v not in topological([short]):
            seen.add(short)
            yield short


def _all(f: Node, v: Node) -> Iterator[Node]:
    for factor in _factors(f):
        for written in dict.fromkeys([factor, canonical([factor]).nodes[0]]):
            if v in topological([written]):
                yield from _solutions(written, as_node(0), v, UNDONE_FUNCTIONS)
    zero, pi = as_node(0), _pi()
    yield from (zero, as_node(1), as_node(-1))
    numbers = [n for n in topological([f]) if n.is_number() and n.value not in (0, 1, -1)][:NUMBERS_TRIED]
    others = [s for s in symbols_of([f]) if s is not v and s.dtype == "real" and not s.shape]
    for s in (*others, *numbers):
        yield from (s, -s)
    if any(n.op.name in ("sin", "cos", "tan") for n in topological([f])):
        yield from (pi, -pi, pi / 2, -pi / 2)


def _factors(n: Node) -> list[Node]:
    match n.op.name:
        case "mul":
            return [f for a in n.args for f in _factors(a)]
        case "div" | "neg" | "sqrt" | "pow" | "abs":
            return _factors(n.args[0])
        case _:
            return [n]


def _solutions(left: Node, right: Node, v: Node, depth: int) -> Iterator[Node]:
    """Yield candidates for solutions of left = right, where right does not contain v."""
    if left is v:
        yield right
        return
    moving = [i for i, a in enumerate(left.args) if v in topological([a])]
    if not depth or not moving:
        return
    # A polynomial in one atom is solved as a polynomial: x**2 - a**2 has the roots a and -a, while inverse functions
    # give abs(a).
    quotient = rational_of(left - right, reading=PLAIN) if left.op.name == "add" else None
    found = quotient and quotient.coefficients(v)
    if found is not None:
        atom, factors = found
        for value in _polynomial_roots(factors):
            yield from _solutions(atom, value, v, depth - 1)
        if max(map(len, factors), default=0) <= SOLVED_COEFFICIENTS:
            return
    if len(moving) == 1:
        for value in _undone(left, moving[0], right):
            yield from _solutions(left.args[moving[0]], value, v, depth - 1)


def _undone(n: Node, k: int, c: Node) -> tuple[Node, ...]:
    """Return the values of argument k for which an op may have the value c."""
    name = n.op.name
    rest = next((a for i, a in enumerate(n.args) if i != k), None)
    if rest is None:
        zero = (c,) if "odd" in n.op.facts and c.is_number(0) else ()
        return zero + (_INVERSES[name](c) if name in _INVERSES else ())
    match name, k:
        case "add", _:
            return (c - rest,)
        case "mul", _:
            return (c / rest,)
        case "div", 0:
            return (c * rest,)
        case "div", _:
            return (rest / c,) if not c.is_number(0) else ()
        case "pow", 0 if c.is_number(0):
            return (c,)
        case "pow", 0:
            root = c ** (1 / rest)
            even = rest.is_number() and rest.value % 2 == 0
            return (root, -root) if even else (root,)
        case "pow", _:
            return (OPS["log"](c) / OPS["log"](rest),)
        case _:
            return ()


def _polynomial_roots(factors: list[list[Node]]) -> Iterator[Node]:
    """Yield the roots of factors of degree one and two, each in the form in which its coefficients are."""
    for factor in factors[:POLYNOMIAL_FACTORS]:
        if len(factor) == 2:
            yield -factor[0] / factor[1]
        elif len(factor) == SOLVED_COEFFICIENTS:
            low, middle, high = factor
            if middle.is_number(0):
                yield OPS["sqrt"](-low / high)
                yield -OPS["sqrt"](-low / high)
                continue
            root = OPS["sqrt"](middle**2 - 4 * high * low)
            yield (-middle + root) / (2 * high)
            yield (-middle - root) / (2 * high)
