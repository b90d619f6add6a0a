"""Evaluation that knows where an expression is undefined, for tests of rules."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath

from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.traverse import topological

MP: Any = mpmath.MPContext()
MP.dps = 90
_CONSTANTS = {"pi": "pi", "E": "e", "EulerGamma": "euler", "Catalan": "catalan", "GoldenRatio": "phi"}
_JUMPS = {"floor", "ceil", "round", "sign", "lt", "le", "gt", "ge", "eq", "ne"}
_NEAR = MP.mpf(10) ** -20
_HUGE = MP.mpf(10) ** 40


class Unclear(Exception):
    """Rounding decides at this point: it is no evidence."""


def strictly(node: Node, values: Mapping[Node, Any]) -> Any:
    """Return the value at a point, or None where the node is undefined; a branch not taken does not matter.

    Raises:
        Unclear: where a jump is so near that rounding decides, or a number is beyond comparing.
    """
    found: dict[Node, Any] = {}
    for n in topological([node]):
        if n.op is SYMBOL:
            value = values[n]
            found[n] = MP.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value
        elif n.op is NUMBER:
            found[n] = n.value if n.dtype == "bool" else MP.mpf(n.value.numerator) / n.value.denominator
        elif n.op is CONSTANT:
            found[n] = +getattr(MP, _CONSTANTS[n.params[0]])
        else:
            found[n] = _apply(n, [found[a] for a in n.args])
    return found[node]


def _apply(node: Node, args: list[Any]) -> Any:
    name = node.op.name
    if name == "where":
        return None if args[0] is None else args[1] if args[0] else args[2]
    if any(a is None for a in args):
        return None
    if any(not isinstance(a, bool) and abs(a) > _HUGE for a in args):
        raise Unclear
    if name in _JUMPS:
        _refuse_near(name, args)
    if name == "pow":
        _refuse_near("floor", args[1:])
    elif node.op.domain is not None and name != "div":
        for arg in args:
            _refuse_near("floor", [arg])  # where domains end
    try:
        value = node.op.reference(MP, *node.params, *args)
    except (ZeroDivisionError, ValueError):
        return None
    except (OverflowError, MP.NoConvergence):
        raise Unclear from None
    if isinstance(value, bool):
        return value
    if isinstance(value, MP.mpc):
        return None
    value = MP.mpf(value)
    if name == "add" and 0 < abs(value) < _NEAR * max(abs(a) for a in args):
        raise Unclear  # all digits cancelled
    return value if MP.isfinite(value) else None


def _refuse_near(name: str, args: list[Any]) -> None:
    if any(isinstance(a, bool) for a in args):
        return
    if name in {"floor", "ceil", "round"}:
        distance = abs(2 * args[0] - MP.nint(2 * args[0]))
    else:
        distance = abs(args[0] - (args[1] if len(args) == 2 else 0))
    if 0 < distance < _NEAR:
        raise Unclear


def same(a: Any, b: Any) -> bool:
    """Tell whether two values agree to the digits that cancellation may have left."""
    if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(abs(a - b) <= MP.mpf(10) ** -30 * (1 + abs(a)))
