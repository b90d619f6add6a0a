"""What is known of results, on a grid of all intervals: it holds for every value, and says all that an interval can.

The peer is arithmetic on fractions, value by value; functions that leave the fractions are compared by mpmath.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest

import symgrad.ops  # noqa: F401
from symgrad.ir.graph import OPS, Node, number, symbol
from symgrad.ir.types import BOOL, REAL, Declaration
from symgrad.rewrite.facts.intervals import INF, Bound, Facts, exactly, facts_between
from symgrad.rewrite.facts.op_results import facts_of, is_ruled
from tests.ops.cases import Case, numeric, samples

_NEAR, _FAR = 2.0**-10, 2.0**20
_CLOSE, _BEYOND = 1 / 16, 100

# Powers of two and their neighbours: what floats make of the ends themselves is exact, of the others well inside.
_ENDS: tuple[Bound, ...] = (-INF, -2, 0, Fraction(1, 2), 1, 2, INF)


def _intervals(ends: Sequence[Bound] = _ENDS) -> Iterator[Facts]:
    """Yield every point and interval with these ends, open and closed."""
    for end in ends:
        if not isinstance(end, float):
            yield exactly(end)
    for low, high in itertools.combinations(ends, 2):
        for low_open in (False, True)[: 1 if low == -INF else 2]:
            for high_open in (False, True)[: 1 if high == INF else 2]:
                yield facts_between(low, high, low_open, high_open)


def _integers() -> Iterator[Facts]:
    yield from map(exactly, (-1, 0, 2, 5))
    for low, high in itertools.combinations((-INF, -2, 0, 1, INF), 2):
        for parity in (None, 0, 1):
            yield facts_between(low, high, integer=True, parity=parity)


_REALS = list(_intervals())
_FEW = list(_intervals((-INF, 0, 1, INF)))
_NONZERO = [facts_between(low, high, nonzero=True) for low in (-INF, -2) for high in (0, 2, INF)]
_INTEGERS = [*_integers(), facts_between(-2, INF, nonzero=True, integer=True, parity=0)]
_TRUTHS = [exactly(0), exactly(1), Facts(0, 1, integer=True)]


@cache
def _values(a: Facts) -> tuple[float, ...]:
    """Values that facts allow: ends, neighbours of ends, what is far out, and some between."""
    if a.integer:
        found = [*map(float, range(-4, 7)), *(s * (_FAR + k) for s in (-1, 1) for k in (0, 1))]
    else:
        ends = [float(e) for e in (a.low, a.high) if e not in (-INF, INF)]
        found = [e + d for e in [*ends, 0.0] for d in (0.0, -_NEAR, _NEAR)] + [-_FAR, -2.0, 2.0, _FAR]
        found += [s * v for s in (-1, 1) for v in (0.25, 0.5, 0.75, 1.0, 1.5)]
    return tuple(v for v in dict.fromkeys(found) if _allowed(v, a))


def _allowed(v: Any, a: Facts) -> bool:
    """Tell whether facts allow a value."""
    inside = (v >= a.low and not (a.low_open and v == a.low)) and (
        v <= a.high and not (a.high_open and v == a.high)
    )
    whole = not a.integer or v == math.floor(v)
    parity = a.parity is None or v % 2 == a.parity
    return bool(inside and not (a.nonzero and v == 0) and whole and parity)


def _sharp(found: Facts, results: Sequence[Any]) -> bool:
    """Tell whether the ends are the tightest that hold for all results: each is taken, or open and approached."""

    def end(bound: Bound, is_open: bool, extreme: Any) -> bool:
        if isinstance(bound, float):
            return bool(abs(extreme) > _BEYOND)
        return bool(extreme != bound and abs(extreme - bound) < _CLOSE) if is_open else extreme == bound

    zero = found.nonzero == all(results)
    return (
        zero
        and end(found.low, found.low_open, min(results))
        and end(found.high, found.high_open, max(results))
    )


_PEERS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "neg": operator.neg,
    "mul": operator.mul,
    "div": lambda x, y: x / y if y else None,
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "maximum": max,
    "minimum": min,
    "relu": lambda x: max(x, 0),
    "stop_gradient": lambda x: x,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "where": lambda c, x, y: x if c else y,
    "clip": lambda x, low, high: min(max(x, low), high),
    "and_": lambda x, y: x and y,
    "or_": lambda x, y: x or y,
    "xor": operator.ne,
    "not_": operator.not_,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
}
_ROUNDING = {"floor", "ceil", "round"}


def _symbols(name: str) -> list[Node]:
    takes = OPS[name].takes
    return [symbol(Declaration("xyz"[k], BOOL if t == "bool" else REAL)) for k, t in enumerate(takes)]


def _grids(name: str, numbers: Sequence[Facts]) -> list[Sequence[Facts]]:
    return [_TRUTHS if t == "bool" else numbers for t in OPS[name].takes]


def _results(name: str, given: Sequence[Facts]) -> list[Any]:
    every = itertools.product(*map(_values, given))
    return [y for y in (_PEERS[name](*point) for point in every) if y is not None]


@pytest.mark.parametrize("name", _PEERS)
def test_facts_hold_and_are_sharp(name: str) -> None:
    node = OPS[name](*_symbols(name))
    numbers = _REALS if len(node.args) < 3 else _FEW
    for given in itertools.product(*_grids(name, numbers)):
        found = facts_of(node, list(given))
        results = _results(name, given)
        assert all(_allowed(y, found) for y in results), (given, found)
        if results and name not in _ROUNDING:
            assert _sharp(found, results), (given, found)


@pytest.mark.parametrize(
    "name", ["add", "neg", "mul", "div", "abs", "maximum", "minimum", "where", "eq", "ne", "le"]
)
def test_facts_of_what_is_not_zero_hold(name: str) -> None:
    node = OPS[name](*_symbols(name))
    for given in itertools.product(*_grids(name, [*_NONZERO, *_FEW])):
        found = facts_of(node, list(given))
        results = _results(name, given)
        assert all(_allowed(y, found) for y in results), (given, found)
        if results and name in ("neg", "mul", "abs"):
            assert found.nonzero == all(results), (given, found)


@pytest.mark.parametrize(
    "name", ["add", "neg", "mul", "abs", "maximum", "minimum", "where", "sign", "eq", "ne", "lt"]
)
def test_facts_of_integers_hold(name: str) -> None:
    node = OPS[name](*_symbols(name))
    for given in itertools.product(*_grids(name, _INTEGERS)):
        found = facts_of(node, list(given))
        results = _results(name, given)
        assert all(_allowed(y, found) for y in results), (given, found)
        assert found.integer
        unbounded = all(f.low == -INF and f.high == INF for f in given)
        if unbounded and name in ("add", "mul", "neg", "abs"):
            assert found.parity == (int(results[0]) % 2 if len({int(y) % 2 for y in results}) == 1 else None)


def _check_power(base: Facts, exponent: Fraction) -> None:
    x = symbol(Declaration("x"))
    found = facts_of(OPS["pow"](x, number(exponent)), [base, exactly(exponent)])
    top, bottom = exponent.numerator, exponent.denominator
    results = []
    for v in _values(base):
        if (v == 0 and exponent < 0) or (v < 0 and bottom > 1):
            continue
        if bottom == 1:
            results.append(v**top)
            assert _allowed(v**top, found), (base, exponent, v, found)
        else:
            # y = v**(top/bottom) is compared by its power: y**bottom = v**top.
            low, high, exact = max(found.low, 0), found.high, v**top
            assert low**bottom <= exact <= high**bottom, (base, exponent, v, found)
            assert not (found.low_open and found.low >= 0 and low**bottom == exact)
            assert not (found.high_open and high**bottom == exact)
            assert not (found.nonzero and exact == 0)
    if results and base not in _NONZERO:
        assert _sharp(found, results), (base, exponent, found)


@pytest.mark.parametrize("exponent", [-3, -2, -1, 0, 1, 2, 3, "1/2", "-1/2", "3/2", "2/3", "-5/3"])
def test_facts_of_powers_hold_and_are_sharp(exponent: int | str) -> None:
    for base in [*_REALS, *_NONZERO]:
        _check_power(base, Fraction(exponent))


@pytest.mark.parametrize("exponent", [65, 66, 10**30, 10**30 + 1, Fraction(1, 17), Fraction(65, 2)])
def test_facts_of_large_powers_hold(exponent: int | Fraction) -> None:
    x = symbol(Declaration("x"))
    for base in _REALS:
        found = facts_of(OPS["pow"](x, number(exponent)), [base, exactly(exponent)])
        for v in _values(base):
            if v < 0 and exponent.denominator > 1:
                continue
            sign = -1 if v < 0 and exponent % 2 else 1
            # The size of the power is out of reach, its sign and its side of one are not.
            size = (
                0 if v == 0 else 1 if abs(v) == 1 else (Fraction(1, 2**60) if abs(v) < 1 else Fraction(2**60))
            )
            assert found.low <= sign * size <= found.high, (base, v, found)
            assert v or not found.nonzero
            assert not (found.low_open and found.low == sign * size)


def test_facts_of_powers_with_any_exponent_hold() -> None:
    node = OPS["pow"](*_symbols("pow"))
    for base, exponent in itertools.product([*_REALS, *_INTEGERS], [*_REALS, *_INTEGERS]):
        if exponent.point is not None:
            continue
        found = facts_of(node, [base, exponent])
        for x, y in itertools.product(_values(base), _values(exponent)):
            whole = y == math.floor(y)
            if (x < 0 and not whole) or (x == 0 and y < 0) or abs(y) > 10:
                continue
            sign = 0 if x == 0 and y else -1 if x < 0 and y % 2 else 1
            assert not (found.positive and sign <= 0), (base, exponent, x, y)
            assert not (found.nonnegative and sign < 0), (base, exponent, x, y)
            assert not (found.nonzero and sign == 0), (base, exponent, x, y)


@pytest.mark.parametrize(("name", "middle"), [("exp", 1), ("log", 0)])
def test_on_which_side_an_exponential_and_a_logarithm_are(name: str, middle: int) -> None:
    node = OPS[name](symbol(Declaration("x")))
    function = getattr(mpmath, name)
    for given in _REALS:
        found = facts_of(node, [given])
        values = [v for v in _values(given) if name == "exp" or v > 0]
        results = [function(mpmath.mpf(v)) for v in values]
        assert all(_allowed(y, found) for y in results), (given, found)
        if results:
            one = facts_of(OPS["gt"](*_symbols("gt")), [found, exactly(middle)]).point
            other = facts_of(OPS["lt"](*_symbols("lt")), [found, exactly(middle)]).point
            assert (one == 1) == all(y > middle for y in results), (given, found)
            assert (other == 1) == all(y < middle for y in results), (given, found)


@pytest.mark.parametrize("name", ["mul", "eq", "ne", "le", "ge", "lt", "gt"])
def test_facts_of_a_value_with_itself(name: str) -> None:
    x = symbol(Declaration("x"))
    for given in [*_REALS, *_INTEGERS]:
        found = facts_of(OPS[name](x, x), [given, given])
        results = [_PEERS[name](v, v) for v in _values(given)]
        assert all(_allowed(y, found) for y in results), (given, found)
        if results and not given.integer:
            assert _sharp(found, results), (given, found)


@pytest.mark.parametrize("case", [c for c in numeric if not is_ruled(c.node)], ids=str)
def test_what_records_say_holds(case: Case) -> None:
    signs = [Facts(), Facts(nonzero=True), *(f for f in _FEW if f.low == 0 or f.high == 0)]
    points = [p for p in samples(case) if case.inside(p)]
    for given in signs if case.op.arity == 1 else [Facts()]:
        found = facts_of(case.node, [given] * case.op.arity)
        for point in points:
            if all(_allowed(v, given) for v in point):
                assert _allowed(case.reference(point), found), (given, point, found)


@pytest.mark.parametrize("name", ["add", "mul", "div", "abs", "maximum", "floor"])
def test_facts_with_long_ends_hold(name: str) -> None:
    node = OPS[name](*_symbols(name))
    ends: list[Bound] = [-(3**600), -(3**150), Fraction(-1, 3**150), 0, Fraction(1, 3**150), 3**600]
    for given in itertools.product(_intervals([-INF, *ends, INF]), repeat=len(node.args)):
        found = facts_of(node, list(given))
        for point in itertools.product(*([Fraction(v) for v in ends if _allowed(v, f)] for f in given)):
            y = _PEERS[name](*point)
            assert y is None or _allowed(y, found), (given, point, found)
