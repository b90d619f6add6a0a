"""Mistakes about trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.graph import OPS, Node, constant
from symgrad.verification.mistakes.rule import MalRule, Site, Wrong

__all__ = ["ROWS"]

_CIRCULAR = ("sin", "cos", "tan")
_HYPERBOLIC = ("sinh", "cosh", "tanh")
_INVERSES = (("asin", "acos", "atan"), ("asinh", "acosh", "atanh"))


def _slope_of(op: str, x: Node) -> Node:
    """Return the derivative of a function at an argument."""
    node = OPS[op](x)
    partial = node.op.partials[0]
    assert partial is not None
    return partial(node, x)


def _sign(s: Site) -> Iterator[Wrong]:
    yield s.sends({0: -s.right(0)})


def _inner_sign(s: Site) -> Iterator[Wrong]:
    """Take 1 + tanh**2 for 1 - tanh**2, 1 - tan**2 for 1 + tan**2."""
    out, name = s.node, s.node.op.name
    square = out * out
    yield s.sends({0: s.slope(0, 1 + square if name == "tanh" else 1 - square)})


def _other_function(s: Site) -> Iterator[Wrong]:
    """Take a function for its own derivative."""
    yield s.sends({0: s.slope(0, s.node)})


def _swapped_inverse(s: Site) -> Iterator[Wrong]:
    (x,), name = s.node.args, s.node.op.name
    family = next(f for f in _INVERSES if name in f)
    for other in family:
        if other != name:
            yield s.sends({0: s.slope(0, _slope_of(other, x))}, other=other)


def _degree_factor(s: Site) -> Iterator[Wrong]:
    factor = constant("pi") / 180
    inverse = s.node.op.name.startswith("a")
    yield s.sends({0: s.right(0) / factor if inverse else s.right(0) * factor})


def _degree_argument(s: Site) -> Iterator[Wrong]:
    x = constant("pi") * s.node.args[0] / 180
    yield s.sends({0: s.slope(0, _slope_of(s.node.op.name, x))})
    yield s.sends({0: s.slope(0, _slope_of(s.node.op.name, x) * constant("pi") / 180)})


def _fixed_point(s: Site) -> Iterator[Wrong]:
    """Differentiate sin(f) as sin'(f')."""
    (dot,) = s.dots
    if dot is not None and not s.wrt.shape and not s.node.shape:
        wrong, right = (_slope_of(s.node.op.name, x) for x in (dot, s.node.args[0]))
        yield Wrong(((None, s.bar * (wrong - right * dot)),))


ROWS = (
    MalRule(
        kind="wrong-sign-trig",
        says="this is what one gets by a wrong sign of the derivative of {0}",
        ops=(*_CIRCULAR, *_HYPERBOLIC),
        distort=_sign,
        rank=18,
    ),
    MalRule(
        kind="wrong-sign-trig",
        says="this is what one gets by a wrong sign in the derivative of {0}",
        ops=("tan", "tanh"),
        distort=_inner_sign,
        rank=19,
    ),
    MalRule(
        kind="function-kept",
        says="this is what one gets by taking {0} for its own derivative",
        ops=(*_CIRCULAR, *_HYPERBOLIC, "log"),
        distort=_other_function,
        rank=40,
    ),
    MalRule(
        kind="inverse-trig-derivative-swapped",
        says="this is what one gets by the derivative of {other} for that of {0}",
        ops=(*_INVERSES[0], *_INVERSES[1]),
        distort=_swapped_inverse,
        rank=19,
    ),
    MalRule(
        kind="degrees-for-radians",
        says="this is what one gets by a factor of degrees in the derivative of {0}, which takes radians",
        ops=(*_CIRCULAR, *_INVERSES[0]),
        distort=_degree_factor,
        rank=19,
    ),
    MalRule(
        kind="degrees-for-radians",
        says="this is what one gets by reading the argument of {0} in degrees in its derivative",
        ops=_CIRCULAR,
        distort=_degree_argument,
        rank=19,
    ),
    MalRule(
        kind="derivative-at-derivative",
        says="this is what one gets by the derivative of {0} at the derivative of what is in it",
        ops=("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"),
        distort=_fixed_point,
        rank=40,
    ),
)
