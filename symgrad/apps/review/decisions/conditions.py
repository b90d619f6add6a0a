"""Equations that a document takes to hold: what solves them, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction

from symgrad.api.claims.verify import equal
from symgrad.api.functions.elementary import where
from symgrad.api.functions.matrices import solve
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import Condition
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.ir.graph import Node, number, symbol
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Declaration
from symgrad.ops.array.layout import full
from symgrad.support.errors import SymgradError
from symgrad.support.traversal import walk
from symgrad.verification.verdict import Verdict

Sides = tuple[Node, Node]
Equal = Callable[[Node, Node], Verdict]
"""Decides whether two sides are equal wherever both are defined."""

# By what both sides of an equation may have been multiplied where nothing can be solved: of matrices, say.
_FACTORS = (1, -1, 2, -2)
_HALF_LINES = ("real", "positive", "nonnegative")  # domains with all large numbers
_SECONDS = 2.0  # for a case


def check_solution(
    conditions: Sequence[Condition], unknown: Node, value: Node, equal: Equal
) -> tuple[Condition, Verdict]:
    """Decide whether a value solves an equation, or several of them together with values of other unknowns.

    Args:
        conditions: equations that read the unknown, the last one first.
        unknown: an input.
        value: of the unknown.
        equal: decides an equation.

    Returns:
        The equation that was decided, and whether it holds there. Of several it is that one for whose unknown the
        value is, where the others were solved for theirs.
    """
    put = {unknown: value}
    first: tuple[Condition, Verdict] | None = None
    ordered = sorted(conditions, key=lambda c: unknown not in c.unknowns)
    for condition in ordered:
        found = condition, equal(*condition.at(put))
        if found[1].status == "proved" or len(ordered) == 1:
            return found
        first = found if first is None or found[1].status == "undecided" else first
    assert first is not None
    unknowns = [u for c in ordered for u in c.unknowns] or [u for c in ordered for u in _in_order(c.reads)]
    for chosen in ordered:
        rest = [c for c in ordered if c is not chosen]
        others = eliminate(rest, [u for u in unknowns if u is not unknown], put)
        if others is not None:
            return chosen, equal(*chosen.at(others))
    return first[0], Verdict("undecided", "several equations are asked for, and are not solved together")


def eliminate(
    conditions: Sequence[Condition],
    unknowns: Sequence[Node],
    put: Mapping[Node, Node],
    *,
    all_of_them: bool = True,
) -> dict[Node, Node] | None:
    """Return values for which equations hold, each solved for one unknown after the other; None where that fails.

    Without ``all_of_them`` the equations that are not solved are left out.
    """
    found = dict(put)
    for condition in conditions:
        sides = condition.at(found)
        for unknown in unknowns:
            value = None if unknown in found else solution(sides, unknown)
            if value is not None:
                at = {unknown: value}
                found = {u: substitute([v], at)[0] for u, v in found.items()} | at
                break
        else:
            if all_of_them:
                return None
    return found


def is_open(conditions: Sequence[Condition], unknown: Node, value: Node, unknowns: Collection[Node]) -> bool:
    """Tell whether equations leave an input open: its value by them reads others that are sought as well.

    Args:
        conditions: the equations.
        unknown: the input.
        value: one that is claimed; what this reads may stay open.
        unknowns: the inputs that are sought.
    """
    reads = {s for c in conditions for s in c.reads}
    sought = _in_order((reads & set(unknowns)) - {unknown})
    if not sought or not set(sought).isdisjoint(symbols_of([value])):
        return False
    found = eliminate(conditions, [unknown, *sought], {})
    return found is None or unknown not in found or not set(sought).isdisjoint(symbols_of([found[unknown]]))


def is_open_case(case: Node) -> bool:
    """Tell whether a case of signs < and > holds at a point, which is quickly seen: then it holds around that, too.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x, y : real; f = (x > 0) and (y > 1); g = x**2 < 0; h = x == 2")
        >>> [is_open_case(p[name]) for name in "fgh"]
        [True, False, False]
    """
    inputs = symbols_of([case])
    relations = walk([case], lambda n: n.args if n.op.name == "and_" else ())
    if any(n.op.name not in ("and_", "lt", "gt") for n in relations):
        return False
    if any(s.shape or s.dtype != "real" or s.declaration.values.name not in _HALF_LINES for s in inputs):
        return False
    put = {s: number(k + 2) for k, s in enumerate(inputs)}
    return Expr(substitute([case], put)[0]).canonical().node.value is True


def is_empty_case(case: Node) -> bool:
    """Tell whether it is proved that a case holds for no values, or for isolated ones at most."""
    nothing = Expr(number(0))
    inside = where(Expr(case), Expr(symbol(Declaration("anything"))), nothing)
    try:
        return equal(inside, nothing, time_limit=_SECONDS, values_only=True).status == "proved"
    except SymgradError:
        return False


def solution(sides: Sides, unknown: Node) -> Node | None:
    """Return the only value of an unknown for which two sides are equal, where they are linear in it; else None.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.api.handles.expr import handle
        >>> p = parse_program("a, x, b : real; f = a*x; g = b - x")
        >>> print(handle(solution((p["f"], p["g"]), p["x"])))
        b/(a + 1)
    """
    for total, other in (sides, sides[::-1]):
        if _is_sum_of(total, unknown) and unknown not in symbols_of([other]):
            return (Expr(unknown) * Expr(other) / Expr(total)).node  # x with sum(x) = c is c*x/sum(x)
    residual = Expr(sides[0]) - Expr(sides[1])
    if residual.shape not in ((), unknown.shape) or len(unknown.shape) > 1 or unknown.dtype != "real":
        return None
    if unknown.shape and not residual.shape:
        return None
    residual = residual.canonical()
    if unknown not in symbols_of([residual.node]):
        return None
    try:
        slope = derivative(residual, (Expr(unknown),)).canonical()
        if unknown in symbols_of([slope.node]) or slope.node.is_number(0):
            return None
        nothing = full(number(0), unknown.shape) if unknown.shape else number(0)
        rest = Expr(substitute([residual.node], {unknown: nothing})[0])
        found = -solve(slope, rest) if unknown.shape else -rest / slope
    except SymgradError:
        return None
    return found.canonical().node


def _is_sum_of(node: Node, unknown: Node) -> bool:
    return (
        node.op.name in ("sum", "einsum")
        and node.args == (unknown,)
        and not node.shape
        and len(unknown.shape) == 1
    )


def deduce(conditions: Sequence[Condition], sides: Sides, equal: Equal) -> tuple[Condition, Verdict] | None:
    """Decide an equation where others hold.

    Args:
        conditions: the others, the last one first.
        sides: of the equation, which does not hold everywhere.
        equal: decides an equation.

    Returns:
        The equation that it was decided with, and the verdict; None where none of them is about its inputs.
    """
    reads = set(symbols_of(sides))
    conditions = [c for c in conditions if not c.is_identity]
    about = [c for c in conditions if c.reads & reads]
    if not about:
        return None
    connected = _connected(conditions, reads)
    others = _in_order({s for c in connected for s in c.reads})
    unknowns = list(dict.fromkeys([*(u for c in connected for u in c.unknowns), *_in_order(reads), *others]))
    for together in [*([c] for c in about), connected] if len(connected) > 1 else [connected]:
        values = eliminate(together, unknowns, {})
        if values is not None:
            verdict = equal(*substitute(list(sides), values))
            if verdict.status == "proved" or together is connected:
                return together[0], verdict
    for condition in about:
        rest = [c for c in connected if c is not condition]
        known = eliminate(rest, unknowns, {}, all_of_them=False) or {}
        here, there = substitute(list(sides), known)
        if _otherwise(condition.where(known), (here, there), equal, unknowns):
            return condition, Verdict("proved", f"it follows from {condition.said}")
    if all(equal(c.left, c.right).status == "proved" for c in about):
        return None  # they hold for all values, since some input has its value
    return about[0], Verdict("undecided", f"it may hold where {about[0].said}, which is not solved here")


def _connected(conditions: Sequence[Condition], reads: Collection[Node]) -> list[Condition]:
    """Return the equations that have inputs of a formula, or of each other: y of x, and x of t."""
    known, found = set(reads), [c for c in conditions if c.reads & set(reads)]
    while True:
        known.update(*(c.reads for c in found))
        more = [c for c in conditions if c.reads & known]
        if len(more) == len(found):
            return found
        found = more


def _in_order(symbols: Iterable[Node]) -> list[Node]:
    return sorted(symbols, key=lambda s: s.name)


def _otherwise(condition: Condition, sides: Sides, equal: Equal, unknowns: Sequence[Node]) -> bool:
    """Tell whether an equation is another form of a condition that is not solved.

    That is where its own solution is one of the condition's, or where it is a multiple of that.
    """
    if equal(condition.left, condition.right).status != "refuted":
        return False  # it says nothing
    for unknown in unknowns:
        value = None
        if unknown in condition.reads:
            value = solution(sides, unknown) or _root(sides, unknown)
        if value is not None and equal(*condition.at({unknown: value})).status == "proved":
            return True
    if is_multiple(sides, (condition.left, condition.right)):
        return True
    here, there = (Expr(a) - Expr(b) for a, b in (sides, (condition.left, condition.right)))
    return here.shape == there.shape and any(
        equal(here.node, (factor * there).node).status == "proved" for factor in _FACTORS
    )


def is_multiple(sides: Sides, others: Sides) -> bool:
    """Tell whether an equation of numbers is another one, with all terms on one side and a number as a factor.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real; f = x**2; g = 2*x + 3; h = 2*x**2 - 4*x; k = 6")
        >>> is_multiple((p["f"], p["g"]), (p["h"], p["k"])), is_multiple((p["f"], p["g"]), (p["h"], p["g"]))
        (True, False)
    """
    if any(side.shape for side in (*sides, *others)):
        return False
    here, there = (Expr(a) - Expr(b) for a, b in (sides, others))
    ratio = (here / there).canonical().node
    return ratio.is_number() and not ratio.is_number(0)


def _root(sides: Sides, unknown: Node) -> Node | None:
    """Return what an unknown is whose power alone is a side, where that is one value of it."""
    for side, other in (sides, sides[::-1]):
        power = side.op.name == "pow" and side.args[0] is unknown and side.args[1].is_number()
        if power and unknown not in symbols_of([other]):
            return other ** (1 / Fraction(str(side.args[1].value)))
    return None


def undetermined(
    names: Collection[str], conditions: Sequence[Condition], fixed: Mapping[Node, Node]
) -> str | None:
    """Return an input without a value yet that equations determine, a multiplier above all; None if none does.

    Args:
        names: of inputs, where two sides differ.
        conditions: the equations that are to be solved.
        fixed: the values that the document found.
    """
    for condition in conditions:
        for s in condition.reads - fixed.keys():
            multiplier = len(conditions) > 1 and s.name.startswith(("λ", "lambda"))
            if s.name in names and (s in condition.unknowns or multiplier):
                return s.name
    return None
