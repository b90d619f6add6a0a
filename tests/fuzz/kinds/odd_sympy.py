"""SymPy trees as no constructor makes them: an Expr with SymPy's value, or a refusal."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import mpmath
import sympy as typed_sympy

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.ir.values.evaluate import evaluate_mp
from tests.fuzz.kind import kind, refused

sympy: Any = typed_sympy
mp = mpmath.mp
X, Y = sympy.symbols("x y")


class _OutsideError(Exception):
    """A part has no finite real value: what the whole means is then a matter of convention."""


def _away(value: Any, jump: Any = 0) -> Any:
    """Return a value that is not where a function jumps, as far as rounding leaves that to be said."""
    if abs(value - jump) < 1e-25:
        raise _OutsideError
    return value


def _polygamma(n: Any, x: Any) -> Any:
    if n > 1000 or x < -1000:  # mpmath climbs step by step
        raise _OutsideError
    return mpmath.polygamma(n, x)


# What heads mean, in mpmath: by hand, so that it depends on nothing that reads trees.
_MEANING: dict[Any, tuple[int | None, Callable[..., Any]]] = {
    sympy.Add: (None, lambda *a: mpmath.fsum(a)),
    sympy.Mul: (None, lambda *a: mpmath.fprod(a)),
    sympy.Pow: (2, lambda a, b: a**b),
    sympy.Max: (None, lambda *a: max(a)),
    sympy.Min: (None, lambda *a: min(a)),
    sympy.UnevaluatedExpr: (1, lambda a: a),
    sympy.sin: (1, mpmath.sin),
    sympy.exp: (1, mpmath.exp),
    sympy.log: (1, mpmath.log),
    sympy.Abs: (1, abs),
    sympy.tanh: (1, mpmath.tanh),
    sympy.atan2: (2, lambda a, b: mpmath.atan2(_away(a), b)),
    sympy.erf: (1, mpmath.erf),
    sympy.sign: (1, lambda a: mpmath.sign(_away(a))),
    sympy.floor: (1, lambda a: mpmath.floor(_away(a, mpmath.nint(a)))),
    sympy.Mod: (2, lambda a, b: a - b * mpmath.floor(_away(a / b, mpmath.nint(a / b)))),
    sympy.expint: (2, mpmath.expint),
    sympy.beta: (
        2,
        lambda a, b: mpmath.beta(a, b) if min(a, b) > 0 else mpmath.nan,
    ),  # no limits at poles of gamma
    sympy.polygamma: (2, _polygamma),
    sympy.loggamma: (1, mpmath.loggamma),
    sympy.Lt: (2, lambda a, b: _away(b, a) > a),
    sympy.Ge: (2, lambda a, b: _away(a, b) >= b),
    sympy.And: (None, lambda *a: all(a)),
    sympy.Xor: (None, lambda *a: sum(map(bool, a)) % 2 == 1),
    sympy.Not: (1, lambda a: not a),
    sympy.ITE: (3, lambda c, a, b: a if c else b),
    sympy.Implies: (2, lambda a, b: not a or b),
}
_TRUTHS = (sympy.Lt, sympy.Ge, sympy.And, sympy.Xor, sympy.Not, sympy.ITE, sympy.Implies)
_OF_TRUTHS = (sympy.And, sympy.Xor, sympy.Not, sympy.ITE, sympy.Implies)
_NUMBERS = [head for head in _MEANING if head not in _TRUTHS]


def _float(rng: random.Random) -> Any:
    digits = rng.choice([1, 2, 15, 17, 60, 400])
    mantissa = rng.randint(1 - 10**digits, 10**digits - 1)  # which a float of so many digits gives back
    return sympy.Float(
        f"{mantissa}e{rng.choice([-digits, -digits, 0, 300, -330, 4000, -5000, 7000])}", digits
    )


def _leaf(rng: random.Random) -> Any:
    return rng.choice([
        lambda: X,
        lambda: Y,
        lambda: _float(rng),
        lambda: sympy.Integer(rng.randint(-3, 3)),
        lambda: sympy.Rational(rng.randint(-9, 9), rng.randint(1, 9)),
        lambda: rng.choice([sympy.pi, sympy.E, sympy.Catalan, sympy.S.Half, sympy.S.NegativeOne]),
    ])()  # fmt: skip


def _not_a_number(rng: random.Random) -> Any:
    raw = sympy.Basic.__new__
    return rng.choice([
        lambda: sympy.Tuple(X, Y),
        lambda: "x",
        lambda: 1,
        lambda: sympy.sin,
        lambda: raw(rng.choice([sympy.Float, sympy.Rational, sympy.Symbol, sympy.Integer, sympy.Equivalent])),
        lambda: rng.choice([sympy.oo, sympy.zoo, sympy.nan, sympy.I, sympy.S.EmptySet, sympy.S.Reals]),
        lambda: sympy.Matrix([X]).as_immutable(),
        lambda: sympy.Symbol(rng.choice(["", "a b", "lambda", "x", "pi"]), positive=True),
        lambda: sympy.Dummy("x"),
        lambda: sympy.Integral(X, (X, 0, 1)),
        lambda: sympy.Function("f")(1),
        lambda: raw(sympy.Derivative, rng.choice([X, 2, sympy.Tuple(X, 1)])),
        lambda: raw(sympy.Function("f"), rng.choice([2, "x", sympy.Tuple(X, 1)])),
        lambda: raw(sympy.Derivative, sympy.Function("f")(X), rng.choice([X, sympy.Tuple(X), sympy.Tuple(X, Y)])),
        lambda: sympy.Integer(7) ** 6000,
    ])()  # fmt: skip


def _tree(rng: random.Random, depth: int, odd: float, truth: bool = False) -> Any:
    if rng.random() < odd:
        return _not_a_number(rng)
    if not depth and not truth:
        return _leaf(rng)
    if not depth:
        return rng.choice([sympy.true, sympy.false, sympy.Lt(X, Y, evaluate=False)])
    if not truth and rng.random() < 0.15:
        return _piecewise(rng, depth, odd)
    head = rng.choice(_TRUTHS if truth else _NUMBERS)
    count = _MEANING[head][0] or rng.randint(1, 4)
    if rng.random() < odd / 2:
        count = rng.randint(0, 4)
    of_truths = head in _OF_TRUTHS
    args = [_tree(rng, depth - 1, odd, of_truths) for _ in range(count)]
    if args and rng.random() < 0.1:
        args[-1] = args[0]  # shared
    if head is sympy.polygamma and args and rng.random() < 0.8:
        args[0] = sympy.Integer(rng.randint(0, 3))
    return sympy.Basic.__new__(head, *args)


def _piecewise(rng: random.Random, depth: int, odd: float) -> Any:
    pair = sympy.functions.elementary.piecewise.ExprCondPair
    parts = [
        sympy.Basic.__new__(pair, _tree(rng, depth - 1, odd), _tree(rng, depth - 1, odd, True))
        for _ in range(rng.randint(0, 2))
    ]
    if rng.random() > odd:
        parts.append(sympy.Basic.__new__(pair, _tree(rng, depth - 1, odd), sympy.true))
    if rng.random() < odd:
        parts.append(_leaf(rng))
    return sympy.Basic.__new__(sympy.Piecewise, *parts)


def _within(value: Any) -> Any:
    if isinstance(value, mpmath.mpc) or not (value == 0 or 1e-30 < abs(value) < 1e30):
        raise _OutsideError
    return value


def _meant(e: Any, at: dict[Any, Any]) -> Any:
    if e is sympy.true or e is sympy.false:
        return e is sympy.true
    if isinstance(e, sympy.Symbol):
        return at[e.name]
    if isinstance(e, sympy.Float):
        return _within(mpmath.mpf(str(e)))  # the decimal that it prints
    if isinstance(e, sympy.Rational | int):
        return _within(mpmath.mpf(int(e.numerator)) / int(e.denominator))
    if isinstance(e, sympy.NumberSymbol):
        return mpmath.mpf(e._as_mpf_val(mp.prec))
    if type(e) is sympy.Piecewise:
        values = [(_meant(value, at), _meant(condition, at)) for value, condition in (p.args for p in e.args)]
        return next(value for value, condition in values if condition)
    args = [_meant(a, at) for a in (e._args if type(e) is sympy.Xor else e.args)]
    if type(e) is sympy.Pow and args[0] <= 0 and not isinstance(e.args[1], sympy.Integer):
        raise _OutsideError
    try:
        value = _MEANING[type(e)][1](*args)
    except (ValueError, ArithmeticError, mp.NoConvergence):
        raise _OutsideError from None
    return value if isinstance(value, bool) else _within(value)


@kind("odd-sympy-trees")
def odd_sympy_trees(rng: random.Random) -> None:
    e = _tree(rng, rng.randint(0, 3), rng.choice([0.0, 0.0, 0.05, 0.2]))
    try:
        read = sg.from_sympy(e)
    except SymgradError as error:
        refused(error)
        return
    assert isinstance(read, sg.Expr)
    assert str(read)
    if getattr(e, "is_Matrix", False):
        assert read.shape == tuple(e.shape)
        e, read = e[0], read[0, 0]
    for _ in range(2):
        point = {name: mpmath.mpf(rng.randint(-40, 40)) / 8 for name in ("x", "y")}
        with mpmath.workdps(40):
            try:
                expected = _meant(e, point)
            except _OutsideError:
                continue
            values = {s.node: point[s.name] for s in read.inputs if s.name}
            (got,) = evaluate_mp(mp, [read.node], values)
            assert mpmath.almosteq(got, expected, 1e-14, 1e-14), (str(read), point, got, expected)
