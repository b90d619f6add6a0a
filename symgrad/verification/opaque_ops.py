"""Decide claims about ops of which only values are known: by numerical agreement, never by a proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import is_late, now, stopwatch
from symgrad.ir.graph import Node, as_node
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import fold, symbols_of, topological, with_args
from symgrad.ir.values.evaluate import evaluate_mp, exact_number, mp_context
from symgrad.ops.user_ops import OWN, OwnOp, without_definitions
from symgrad.support.errors import SymgradError, UnsupportedError
from symgrad.verification.points.sampler import points_of
from symgrad.verification.statement import program_of
from symgrad.verification.verdict import Verdict, names_text

_TRIED_POINTS, _ENOUGH_POINTS = (
    400,
    60,
)  # number of points that are tried, and of agreeing points that suffice
_DIGITS = 40
_EXACT, _FLOATS = 25, 6  # digits to which equal values agree: for exact ops, for ops in floats
_APART = (1e-10, 1e-4)  # relative distances of different values: for exact ops, for ops in floats
_SHOWN = 15
_EQUATION = 5e-5  # seconds of work for an equation at a point


def decide_by_numbers(
    a: Node,
    b: Node,
    opaque: Sequence[OwnOp],
    seconds: float,
    *,
    wrt: Node | None = None,
    sizes: Mapping[str, Size] | None = None,
) -> Verdict:
    """Decide numerically whether a equals b, or whether the derivative of a equals b.

    Args:
        a: one side, or the function to differentiate.
        b: the other side, or the claim.
        opaque: the ops in both sides of which only values are known.
        seconds: the time limit.
        wrt: the symbol with respect to which a is differentiated; the partial derivatives of the ops were checked
            numerically.
        sizes: replacements of named sizes.

    Raises:
        UnsupportedError: for the Jacobian of an array.
    """
    end, took = now() + 0.9 * seconds, stopwatch()
    if wrt is not None:
        if a.shape:
            raise UnsupportedError(
                "the Jacobian of an array that calls an op of which only values are known",
                expected="the derivative of a scalar",
                cure="verify that of sum(v*y), or register the op with a definition",
            )
        (a,) = pull_back([a], [as_node(1)], [wrt]).gradients
    names = names_text([f"'{o.op.name}'" for o in opaque])
    why = f"{names} {'is' if len(opaque) == 1 else 'are'} known by values alone"
    exact = all(o.exact for o in opaque)
    symbols = {s.name: s for s in symbols_of([a, b])}
    mp = mp_context(_DIGITS)
    agreed, digits = 0, _DIGITS
    cost = _EQUATION * len(topological([a, b]))
    stand_ins = _without_calls([a, b])
    program, _ = program_of(stand_ins, list(symbols.values()), sizes)
    for tried, point in enumerate(points_of(program)):
        if tried >= _TRIED_POINTS or agreed >= _ENOUGH_POINTS or is_late(end, cost):
            break
        if wrt is not None and not _generic(point.values):
            continue
        found = _distance(mp, a, b, {symbols[n]: v for n, v in point.values.items() if n in symbols})
        if found is None:
            continue
        gap, left, right = found
        if gap > _APART[not exact]:
            return Verdict(
                "refuted",
                f"the two sides differ in numbers; {why}, so that nothing replays this",
                witness=dict(point.values),
                values=(mp.nstr(left, _SHOWN), mp.nstr(right, _SHOWN)),
                seconds=took(),
            )
        same = _DIGITS if not gap else int(-mp.log10(gap))
        if same >= (_EXACT if exact else _FLOATS):
            agreed, digits = agreed + 1, min(digits, same)
    seconds = took()
    if not agreed:
        return Verdict(
            "undecided", f"at no point were both sides computed precisely enough ({why})", seconds=seconds
        )
    digits = min(digits, _SHOWN)
    return Verdict(
        "supported",
        f"equal to {digits} digits at {agreed} point{'s' * (agreed != 1)}, no proof ({why})",
        points=agreed,
        digits=digits,
        seconds=seconds,
    )


def _without_calls(nodes: Sequence[Node]) -> list[Node]:
    """Replace opaque calls by sums of their arguments: the variables and the choices stay the same."""

    def replace(node: Node, args: list[Node]) -> Node:
        return sum(args[1:], args[0]) if node.op.name in OWN else with_args(node, args)

    defined = without_definitions(nodes)
    done = fold(defined, replace)
    return [done[n] for n in defined]


def _generic(values: Mapping[str, Any]) -> bool:
    """Tell whether a point avoids the numbers at which functions tend to have kinks: n/2 for integers n."""

    def plain(x: Any) -> bool:
        if isinstance(x, (list, tuple)):
            return all(map(plain, x))  # pyright: ignore[reportUnknownArgumentType]  (entries of nested lists)
        return isinstance(x, bool) or Fraction(x).denominator > 2

    return all(map(plain, values.values()))


def _distance(mp: Any, a: Node, b: Node, values: Mapping[Node, Any]) -> tuple[Any, Any, Any] | None:
    """Return the largest relative distance of two entries, and the two entries; None if a value is missing."""
    number = partial(exact_number, mp)
    inputs: dict[Node, Any] = {}
    for node, x in values.items():
        inputs[node] = np.frompyfunc(number, 1, 1)(np.array(x, dtype=object)) if node.shape else number(x)
    try:
        left, right = evaluate_mp(mp, [a, b], inputs)
    except (SymgradError, ArithmeticError, ValueError, TypeError):
        return None
    worst: tuple[Any, Any, Any] | None = None
    for x, y in np.broadcast(np.array(left, dtype=object), np.array(right, dtype=object)):
        if isinstance(x, bool) or isinstance(y, bool):
            gap, x, y = mp.mpf(int(x != y)), mp.mpf(int(x)), mp.mpf(int(y))
        elif not (mp.isfinite(x) and mp.isfinite(y)):
            return None
        else:
            size = max(abs(x), abs(y))
            gap = abs(x - y) / size if size else mp.mpf(0)
        if worst is None or gap > worst[0]:
            worst = gap, x, y
    return worst
