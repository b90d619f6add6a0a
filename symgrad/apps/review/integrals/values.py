"""What integrals and limits are: SymPy's value, where numbers confirm it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from symgrad.analysis.explain.noise.sample_points import value_at
from symgrad.analysis.explain.removable_singularities.points import is_real, precise
from symgrad.ir.graph import OPS, Node, as_node, symbol, truth
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import POSITIVE, Declaration
from symgrad.ir.values.evaluate import evaluate_mp, exact_number
from symgrad.ops.sympy_bridge.integration import definite_integral, limit
from symgrad.rewrite.pipeline import canonical

_SECONDS = 4.0
_LARGEST = 60  # equations of a formula
_TRIALS = 12
_NEEDED = 3  # points of parameters at which a value is confirmed
_DIGITS = 30
_CLOSE = 1e-9


def _is_plain(*nodes: Node | None) -> bool:
    """Tell whether formulas are short ones of real numbers."""
    given = [n for n in nodes if n is not None]
    return (
        not any(n.shape for n in given)
        and len(topological(given)) <= _LARGEST
        and all(s.dtype == "real" and not s.shape for s in symbols_of(given))
    )


def _points(nodes: list[Node], bound: Node, *, positive: bool = False) -> Iterator[dict[Node, Any]]:
    """Yield values of the parameters of formulas."""
    mp = precise(_DIGITS)
    others = [s for s in symbols_of(nodes) if s is not bound]
    for k in range(_TRIALS if others else 1):
        point = {s: exact_number(mp, value_at(s, k)) for s in others}
        yield {s: abs(x) for s, x in point.items()} if positive else point


@lru_cache(maxsize=256)
def integral_value(
    integrand: Node, x: Node, low: Node | int, high: Node | int
) -> tuple[Node, Node | None] | None:
    """Return a definite integral as a formula, and where it holds; None if SymPy finds none that quadrature confirms.

    Args:
        integrand: a formula.
        x: an input.
        low: the lower bound; -1 for minus infinity.
        high: the upper bound; 1 for infinity.

    Returns:
        The integral, and a condition on its parameters: None for none.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x").node
        >>> print(sg.Expr(integral_value(x * x, x, as_node(0), as_node(3))[0]))
        9
    """
    first, last = (None if isinstance(b, int) else b for b in (low, high))
    if low == 1 or high == -1 or not _is_plain(integrand, first, last):
        return None
    others = [s for s in symbols_of([n for n in (integrand, first, last) if n is not None]) if s is not x]
    improper = first is None or last is None
    for positive in (improper, not improper) if others else (False,):
        # SymPy knows more integrals where parameters are positive.
        named = {s: symbol(Declaration(s.name, POSITIVE)) for s in others if positive}
        nodes = [integrand, *(b for b in (first, last) if b is not None)]
        inside, *ends = substitute(nodes, named)
        found = definite_integral(
            inside, x, None if first is None else ends[0], None if last is None else ends[-1], _SECONDS
        )
        if found is None or x in symbols_of(list(found)):
            continue
        value, condition = substitute(list(found), {s: p for p, s in named.items()})
        for s in named:
            condition = OPS["and_"](condition, OPS["gt"](s, as_node(0)))
        if _confirmed(value, condition, integrand, x, (low, high), positive=positive):
            return value, None if condition is truth(True) else condition
    return None


def _confirmed(
    value: Node,
    condition: Node,
    integrand: Node,
    x: Node,
    bounds: tuple[Node | int, Node | int],
    *,
    positive: bool,
) -> bool:
    """Tell whether quadrature confirms an integral for some values of its parameters, and contradicts it for none."""
    mp, agreed = precise(_DIGITS), 0
    nodes = [integrand, value, condition, *(b for b in bounds if not isinstance(b, int))]
    for point in _points(nodes, x, positive=positive):
        if not evaluate_mp(mp, [condition], point)[0]:
            continue
        (there,) = evaluate_mp(mp, [value], point)
        ends = [mp.mpf(b) * mp.inf if isinstance(b, int) else evaluate_mp(mp, [b], point)[0] for b in bounds]
        if not is_real(mp, there) or any(isinstance(e, mp.mpc) or mp.isnan(e) for e in ends):
            continue
        area = _quadrature(mp, integrand, x, point, ends)
        if area is None:
            continue
        if not abs(area - there) <= _CLOSE * (1 + abs(there)):
            return False
        agreed += 1
        if agreed == _NEEDED:
            break
    return agreed > 0


def _quadrature(mp: Any, integrand: Node, x: Node, point: dict[Node, Any], ends: list[Any]) -> Any:
    """Return an integral by quadrature; None if that does not converge."""

    def value_at_point(t: Any) -> Any:
        (y,) = evaluate_mp(mp, [integrand], {**point, x: t})
        if not is_real(mp, y):
            raise ArithmeticError
        return y

    (integrand,) = canonical([integrand]).nodes  # exp(t*x)*exp(-x) is infinite times zero for large x
    try:
        area, error = mp.quad(value_at_point, ends, error=True)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return area if is_real(mp, area) and error <= _CLOSE * (1 + abs(area)) else None


@lru_cache(maxsize=256)
def limit_value(node: Node, x: Node, at: Node | int, direction: str) -> Node | None:
    """Return a limit as a formula; None if SymPy finds none, or values near by do not confirm it.

    Args:
        node: a formula.
        x: the input that moves.
        at: where it goes; 1 for infinity, -1 for minus infinity.
        direction: ``"+"``, ``"-"`` or ``"+-"``.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> print(sg.Expr(limit_value((sg.sin(x) / x).node, x.node, as_node(0), "+-")))
        1
    """
    end = None if isinstance(at, int) else at
    if not _is_plain(node, end):
        return None
    value = limit(node, x, at, direction, _SECONDS)
    if value is None or x in symbols_of([value]):
        return None
    signs = [-at] if isinstance(at, int) else [s for s, c in ((1, "+"), (-1, "-")) if c in direction]
    agreed = 0
    for point in _points([n for n in (node, end, value) if n is not None], x):
        near = [_agrees_near(node, value, x, at, sign, point) for sign in signs]
        if None in near:
            continue
        if not all(near):
            return None
        agreed += 1
        if agreed == _NEEDED:
            break
    return value if agreed else None


def _agrees_near(
    node: Node, value: Node, x: Node, at: Node | int, sign: int, point: dict[Node, Any]
) -> bool | None:
    """Tell whether values of a formula come near its limit; None where it has none."""
    mp = precise(4 * _DIGITS)
    (there,) = evaluate_mp(mp, [value], point)
    apart: list[Any] = []
    for step in (8, 16, 24):
        small = mp.mpf(10) ** -step
        if isinstance(at, int):
            place = -sign * mp.mpf(10) ** (min(20, step))
        else:
            place = evaluate_mp(mp, [at], point)[0] + sign * small
        if not isinstance(place, mp.mpf):
            return None
        (y,) = evaluate_mp(mp, [node], {**point, x: place})
        if not is_real(mp, y) or not is_real(mp, there):
            return None
        apart.append(abs(y - there))
    scale = 1 + abs(there)
    return bool(apart[-1] <= 1e-6 * scale and apart[-1] <= apart[0] + mp.mpf(10) ** -_DIGITS)


def between(node: Node, x: Node, low: Node | int, high: Node | int) -> Node | None:
    """Return F(high) - F(low); at a bound where F has no value, its limit. None if that is not known."""
    found: list[Node] = []
    for bound, direction in ((high, "-"), (low, "+")):
        value = None if isinstance(bound, int) else substitute([node], {x: bound})[0]
        if value is None or not _has_value(value):
            value = limit_value(node, x, bound, direction)
        if value is None:
            return None
        found.append(value)
    return found[0] - found[1]


def _has_value(node: Node) -> bool:
    mp = precise(_DIGITS)
    return any(is_real(mp, evaluate_mp(mp, [node], point)[0]) for point in _points([node], node))
