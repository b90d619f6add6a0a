"""Mistakes about trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.graph import OPS, Node, constant
from symgrad.verification.mistakes.rule import MistakeTable, Site, Wrong

_CIRCULAR = ("sin", "cos", "tan")

_HYPERBOLIC = ("sinh", "cosh", "tanh")

_INVERSES = (("asin", "acos", "atan"), ("asinh", "acosh", "atanh"))

mistake: MistakeTable[Site, Wrong] = MistakeTable()


def _slope_of(op: str, x: Node) -> Node:
    """Return the derivative of a function at an argument."""
    node = OPS[op](x)
    partial = node.op.partials[0]
    assert partial is not None
    return partial(node, x)


@mistake("wrong-sign-trig", (*_CIRCULAR, *_HYPERBOLIC), 18, "a wrong sign of the derivative of {0}")
def _sign(s: Site) -> Iterator[Wrong]:
    yield s.sends({0: -s.right(0)})


@mistake("wrong-sign-trig", ("tan", "tanh"), 19, "a wrong sign in the derivative of {0}")
def _inner_sign(s: Site) -> Iterator[Wrong]:
    """Write 1 + tanh**2 for 1 - tanh**2, or 1 - tan**2 for 1 + tan**2."""
    out, name = s.node, s.node.op.name
    square = out * out
    yield s.sends({0: s.slope(0, 1 + square if name == "tanh" else 1 - square)})


@mistake("function-kept", (*_CIRCULAR, *_HYPERBOLIC, "log"), 40, "taking {0} for its own derivative")
def _other_function(s: Site) -> Iterator[Wrong]:
    """Take a function as its own derivative."""
    yield s.sends({0: s.slope(0, s.node)})


@mistake(
    "inverse-trig-derivative-swapped",
    (*_INVERSES[0], *_INVERSES[1]),
    19,
    "the derivative of {other} for that of {0}",
)
def _swapped_inverse(s: Site) -> Iterator[Wrong]:
    (x,), name = s.node.args, s.node.op.name
    family = next(f for f in _INVERSES if name in f)
    for other in family:
        if other != name:
            yield s.sends({0: s.slope(0, _slope_of(other, x))}, other=other)


@mistake(
    "degrees-for-radians",
    (*_CIRCULAR, *_INVERSES[0]),
    19,
    "a factor of degrees in the derivative of {0}, which takes radians",
)
def _degree_factor(s: Site) -> Iterator[Wrong]:
    factor = constant("pi") / 180
    inverse = s.node.op.name.startswith("a")
    yield s.sends({0: s.right(0) / factor if inverse else s.right(0) * factor})


@mistake("degrees-for-radians", _CIRCULAR, 19, "reading the argument of {0} in degrees in its derivative")
def _degree_argument(s: Site) -> Iterator[Wrong]:
    x = constant("pi") * s.node.args[0] / 180
    yield s.sends({0: s.slope(0, _slope_of(s.node.op.name, x))})
    yield s.sends({0: s.slope(0, _slope_of(s.node.op.name, x) * constant("pi") / 180)})


@mistake(
    "derivative-at-derivative",
    ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"),
    40,
    "the derivative of {0} at the derivative of what is in it",
)
def _fixed_point(s: Site) -> Iterator[Wrong]:
    """Differentiate sin(f) as sin'(f')."""
    (dot,) = s.dots
    if dot is not None and not s.wrt.shape and not s.node.shape:
        wrong, right = (_slope_of(s.node.op.name, x) for x in (dot, s.node.args[0]))
        yield Wrong(((None, s.bar * (wrong - right * dot)),))
