"""Domain conditions against the references, and both against SymPy."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from symgrad.ops.sympy_bridge import to_sympy
from tests.ops.cases import BY_ORDER, CASES, MP, Case, every_case, exact, grid, samples, spread


@every_case
def test_condition_is_where_the_reference_has_a_value(case: Case) -> None:
    points = [*grid(case), *samples(case)]
    if "bool" not in case.op.takes:
        points += spread(case)[:80]
    for point in points:
        result = case.reference(point)
        has_value = isinstance(result, bool) or bool(MP.isfinite(result))
        assert case.inside(point) == has_value, (case, point)


@pytest.mark.parametrize("case", [c for c in CASES if c.op.domain is not None], ids=str)
def test_condition_is_not_trivial(case: Case) -> None:
    inside = [case.inside(point) for point in grid(case)]
    assert any(inside)
    if case.op.name not in {"tan", "sec"}:  # their poles are not rational
        assert not all(inside)


# SymPy leaves atan2(0, 0) undefined; C, NumPy and mpmath say 0.
_DISAGREE = {("atan2", 0.0, 0.0)}


def _delicate(case: Case, point: tuple[Any, ...]) -> bool:
    """Where SymPy and mpmath take minutes, or disagree: just beyond 1 polylogarithms are barely complex."""
    order, x = point[0], point[-1]
    near = case.op.name in BY_ORDER and 0 < abs(order - round(order)) < 1e-9
    recursive = case.op.name == "lowergamma" and (order < 1 or order % 1 != 0)
    return near or recursive or (case.op.name == "polylog" and 1 < x < 1.001)


numeric_with_class = [
    c for c in CASES if c.op.cas is not None and c.op.gives != "bool" and "bool" not in c.op.takes
]


@pytest.mark.parametrize("case", numeric_with_class, ids=str)
def test_sympy_has_a_real_value_at_the_same_points(case: Case) -> None:
    written, *arguments = to_sympy([case.node, *case.symbols])
    # The classes that mirror C's functions say what they mean by a rewrite.
    if type(written).__module__.endswith("cfunctions"):
        written = (
            sympy.sqrt(sum(a**2 for a in arguments))
            if case.op.name == "hypot"
            else written.rewrite(sympy.log)
        )
    for point in grid(case)[:: 1 if case.op.arity == 1 else 7]:
        if (case.op.name, *point) in _DISAGREE or _delicate(case, point):
            continue
        at = {s: sympy.Rational(x) for s, x in zip(arguments, point, strict=True)}
        try:
            theirs = written.subs(at).doit().evalf(40)
        except ValueError:  # mpmath gives up next to whole orders, and says so outside the domain of erfinv
            continue
        if case.op.name == "polylog":  # whose imaginary part is rounded where the order is not whole
            theirs, imaginary = theirs.as_real_imag()
            theirs = theirs if abs(imaginary) < 1e-30 else sympy.I
        real = bool(theirs.is_finite) and bool(theirs.is_real)
        assert real == case.inside(point), (case, point, theirs)
        if real:
            ours = case.reference(point)
            assert abs(exact(str(theirs)) - ours) <= MP.mpf(10) ** -30 * max(1, abs(ours)), (case, point)
