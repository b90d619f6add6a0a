"""Partials against mpmath's numerical derivative, against SymPy's rules, at second order, and in floating point."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from symgrad.autodiff.jvp import all_partials
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.ops.sympy_bridge import to_sympy
from tests.ops.cases import (
    BY_LIMIT,
    BY_ORDER,
    CANCELS,
    CASES,
    MP,
    SMALLEST,
    Case,
    compiled,
    every_smooth_case,
    exact,
    grid,
    numeric,
    removable,
    samples,
    spread,
    value,
)
from tests.ops.tolerances import PARTIAL, Tolerance, tolerance, units_off

CLOSE = MP.mpf(10) ** -25

smooth = [c for c in CASES if c.differentiable and not c.op.facts & {"stops", "given-slope"}]
every_unstopped_case = pytest.mark.parametrize("case", smooth, ids=str)


def along(case: Case, point: tuple[Any, ...], i: int) -> Any:
    """The reference as a function of argument i."""
    return lambda t: case.reference((*point[:i], t, *point[i + 1 :]))


def agree(case: Case, i: int, point: tuple[Any, ...]) -> None:
    got = value(case.partial(i), case.symbols, point)
    f = along(case, point, i)
    expected = MP.diff(f, exact(point[i]))
    # Of very large values a difference has few digits.
    size = max(1, abs(expected), abs(f(exact(point[i]))) * MP.mpf(10) ** -30)
    assert abs(got - expected) <= CLOSE * size, (
        f"{case}{point}, partial {i}: {mpmath.nstr(got, 20)}, difference {mpmath.nstr(expected, 20)}"
    )


def isolated(case: Case, i: int, point: tuple[Any, ...]) -> bool:
    """Tell whether no neighbour along argument i is in the domain: x**y at x < 0 is defined for integer y only."""
    return MP.isnan(along(case, point, i)(exact(point[i]) + MP.mpf(10) ** -20))


@every_unstopped_case
def test_samples(case: Case) -> None:
    for point in samples(case):
        for i in case.differentiable:
            if not isolated(case, i, point):
                agree(case, i, point)


def one_sided(case: Case, i: int, point: tuple[Any, ...]) -> tuple[Any, Any]:
    f, x, h = along(case, point, i), exact(point[i]), MP.mpf(10) ** -24
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h


numbers = st.one_of(
    st.floats(-4, 4),
    st.floats(-50, 50),
    st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]),
    st.floats(-1e-6, 1e-6),
)


@pytest.mark.parametrize("case", [c for c in smooth if c in numeric or c.op.name == "where"], ids=str)
@settings(max_examples=15, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_drawn_points(case: Case, data: st.DataObject) -> None:
    point = tuple(data.draw(st.booleans() if t == "bool" else numbers) for t in case.op.takes)
    assume(case.inside(point) and not removable(case, point))
    # mpmath gives up at orders too near to whole ones.
    assume(
        case.op.name not in {*SMALLEST, *BY_ORDER}
        or all(x == round(x) or abs(x - round(x)) > 1e-9 for x in point)
    )
    for i in case.differentiable:
        left, right = one_sided(case, i, point)
        # At a kink the two differ, at a jump or vertical tangent they are huge, at an end of the domain one is NaN.
        # Those places are the kinks' own test.
        if abs(left - right) <= MP.mpf(10) ** -12 * max(1, abs(left)) and abs(left) < 1e10:
            agree(case, i, point)


@every_unstopped_case
def test_second_order(case: Case) -> None:
    wrt = [case.symbols[i] for i in case.differentiable]
    partials = all_partials(case.node, wrt, 2)
    for point in samples(case)[:4]:
        if any(isolated(case, i, point) for i in case.differentiable):
            continue
        for a, b in combinations_with_replacement(range(len(wrt)), 2):
            got = value(partials[a, b], case.symbols, point)
            i, j = case.differentiable[a], case.differentiable[b]
            orders = [(k == i) + (k == j) for k in range(case.op.arity)]
            expected = differences(case, point, orders)
            assert abs(got - expected) <= MP.mpf(10) ** -12 * max(1, abs(expected)), (case, point, (i, j))


def differences(case: Case, point: tuple[Any, ...], orders: list[int]) -> Any:
    moving = [i for i, order in enumerate(orders) if order]

    def f(*moved: Any) -> Any:
        full = list(point)
        for i, x in zip(moving, moved, strict=True):
            full[i] = x
        return case.reference(tuple(full))

    return MP.diff(f, tuple(exact(point[i]) for i in moving), tuple(orders[i] for i in moving))


def test_mixed_partials_commute() -> None:
    for case in smooth:
        if case.op.arity != 2 or len(case.differentiable) != 2:
            continue
        x, y = case.symbols
        first = all_partials(all_partials(case.node, [x], 1)[0,], [y], 1)[0,]
        other = all_partials(all_partials(case.node, [y], 1)[0,], [x], 1)[0,]
        for point in samples(case):
            if not any(isolated(case, i, point) for i in range(2)):
                a, b = value(first, [x, y], point), value(other, [x, y], point)
                assert abs(a - b) <= CLOSE * max(1, abs(a)), (case, point)


with_sympy_class = [c for c in smooth if c.op.cas is not None and "piecewise-constant" not in c.op.facts]


@pytest.mark.parametrize("case", with_sympy_class, ids=str)
def test_sympy_agrees(case: Case) -> None:
    """SymPy's own class, its own derivative: a rule that was misread from the literature would differ here."""
    written, *arguments = to_sympy([case.node, *case.symbols])
    assert type(written).__module__.startswith("sympy."), "not SymPy's own class"
    for i in case.differentiable:
        derivative = sympy.diff(written, arguments[i])
        for sample in case.op.samples:
            at = {s: sympy.Rational(str(x)) for s, x in zip(arguments, sample, strict=True)}
            theirs = derivative.subs(at).doit().evalf(40)
            ours = value(case.partial(i), case.symbols, sample)
            assert abs(sympy.Float(str(ours), 40) - theirs) <= sympy.Float("1e-25") * max(1, abs(theirs)), (
                case,
                sample,
            )


@pytest.mark.parametrize("case", [c for c in smooth if c in numeric], ids=str)
def test_partials_are_stable(case: Case) -> None:
    """In float64, over the whole domain: no cancellation, no overflow on the way, no NaN."""
    allowed = tolerance(case, PARTIAL, Tolerance(5))
    points = [*samples(case), *grid(case), *spread(case)]
    arrays = [np.array(column) for column in zip(*points, strict=True)]
    for i in case.differentiable:
        node = case.partial(i)
        if not node.args:
            continue
        got = compiled(case, arrays, i=i)
        for j, point in enumerate(points):
            if (case.op.name, point) in BY_LIMIT or removable(case, point):
                continue
            if not case.inside(point) or isolated(case, i, point):
                continue
            if min(abs(point[-1]), abs(point[-1] - 1)) < CANCELS.get(case.op.name, 0):
                continue
            if case.op.name == "pow" and abs(point[1]) > 2**53:  # y - 1 is y, which has another parity
                continue
            expected = value(node, case.symbols, point)
            if MP.isnan(expected):  # a kink without a value
                assert not np.isfinite(got[j]), (case, i, point)
                continue
            off = units_off(got[j], expected, allowed)
            assert off <= allowed.units, (
                f"{case}{point}, partial {i}: {got[j]} against {mpmath.nstr(expected, 20)}: {off} units"
            )


def second(name: str, x: float) -> float:
    """The second derivative of an op of one argument, from a kernel."""
    case = next(c for c in CASES if str(c) == name)
    return float(compile_nodes([all_partials(case.node, case.symbols, 2)[0, 0]], case.symbols)(x))


@pytest.mark.parametrize(
    ("name", "x"),
    [("tanh", 400.0), ("sigmoid", 800.0), ("sigmoid", -800.0), ("coth", 400.0), ("sech", 800.0)],
)
def test_saturated_second_derivatives_are_zero(name: str, x: float) -> None:
    assert second(name, x) == 0


def test_saturated_first_derivatives_keep_their_digits() -> None:
    for name, x in (("tanh", 30.0), ("sigmoid", 50.0), ("sigmoid", -50.0), ("coth", -30.0)):
        case = next(c for c in CASES if str(c) == name)
        got = float(compile_nodes([case.partial(0)], case.symbols)(x))
        expected = MP.diff(along(case, (x,), 0), exact(x))
        assert got == pytest.approx(float(expected), rel=1e-14, abs=0)
        assert got > 0 or name == "coth"


@every_smooth_case
def test_partials_have_the_kind_and_shape_of_a_number(case: Case) -> None:
    for i in case.differentiable:
        node = case.partial(i)
        assert node.dtype in {"real", "int"}
        assert node.shape == ()
