"""Decide equality of programs with stop_gradient: of their values and of their gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from symgrad.autodiff.vjp import pull_back
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.check import FORMAT
from symgrad.checker.clock import is_late, now, stopwatch
from symgrad.checker.witness import all_certain
from symgrad.frontend.text import parse_expression
from symgrad.ir.body import bodies_in
from symgrad.ir.graph import SYMBOL, Node, as_node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import add, neg
from symgrad.ops.scalar.logic import eq, ne
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError, UsageError
from symgrad.verification.complex_domain import decide_complex
from symgrad.verification.decide import Claim, decide, equal, same_gradient
from symgrad.verification.gradients.generic import is_generic
from symgrad.verification.points.sampler import points_of
from symgrad.verification.verdict import Proof, Status, Verdict, by_text, derivatives_text, names_text

_VALUES = 0.5  # share of the time for the decision about the values
_SOON = 0.7  # seconds before canonical forms are compared
_IN_TIME = 0.9  # a decision within this share of its time was not cut short
_IN_GENERAL = "for arbitrary values of the expressions that both sides share"
_ARITHMETIC = frozenset({"add", "mul", "div", "neg", "pow", "einsum", "mean", "broadcast_to", "reshape"})
_AS_WRITTEN = "because both have the same canonical form"
_AS_DERIVED = "because the formulas that `grad` returns have the same canonical form"
_AT_KINKS = "with the slopes that are used at kinks: all points tried are at a kink"
_LISTED = 3  # orders that are listed one by one
_POINTS = 8  # points at which derivatives are tested for being conventional


def moved_inputs(a: Node, b: Node) -> list[Node]:
    """Return the inputs by which gradients may differ although values do not; none without stop_gradient.

    Random inputs are data, and excluded.
    """
    if "real" not in (a.dtype, b.dtype):
        return []
    inside = [n for body in bodies_in(topological([a, b])) for n in topological(body.results)]
    if not any("stops" in n.op.facts for n in (*topological([a, b]), *inside)):
        return []
    return [s for s in symbols_of([a, b]) if s.dtype == "real" and s.declaration.distribution is None]


def decide_both(
    a: Node,
    b: Node,
    inputs: Sequence[Node],
    sizes: Mapping[str, Size] | None,
    complexes: Sequence[str] | None,
    time_limit: float,
) -> Verdict:
    """Decide whether two sides have equal values, and equal gradients with respect to each of some inputs.

    Args:
        a: one side.
        b: the other side, of the same shape.
        inputs: symbols.
        sizes: replacements of named sizes.
        complexes: the complex variables; None if the numbers are real.
        time_limit: the seconds for everything.
    """
    begun, took = now(), stopwatch()
    if complexes is None:
        values = _decide(equal(a, b, sizes), (a, b), sizes, _VALUES * time_limit, _AS_WRITTEN)
        values = _at_ties(values, a, b, sizes, begun + _VALUES * time_limit - now())
    else:
        values = decide_complex(a, b, complexes, _VALUES * time_limit)
    gradients: dict[str, Verdict] = {}
    for done, x in enumerate(inputs):
        left = begun + time_limit - now()
        share = max(left, 0.01 * time_limit) / (len(inputs) - done)
        gradients[x.name] = _by(a, b, x, sizes, complexes, share)
    return replace(combine_verdicts(values, gradients), seconds=took())


def _by(
    a: Node,
    b: Node,
    x: Node,
    sizes: Mapping[str, Size] | None,
    complexes: Sequence[str] | None,
    seconds: float,
) -> Verdict:
    try:
        if complexes is None:
            return decide_slopes(a, b, x, sizes, seconds, "gradients")
        found = decide_complex(add(a, neg(b)), as_node(0), complexes, seconds, wrt=x)
    except UsageError as error:  # the function has no derivative
        return Verdict("undecided", error.what)
    if found.values is None:
        return found
    why = "the derivative of the difference of the two sides is not 0"
    return replace(found, why=why, values=(f"a difference of {found.values[0]}", found.values[1]))


def decide_slopes(
    a: Node, b: Node, x: Node, sizes: Mapping[str, Size] | None, seconds: float, called: str
) -> Verdict:
    """Decide whether two sides have the same derivative with respect to an input.

    Where all points are at kinks (`maximum(x, stop_gradient(x))`), compare the slopes that are defined there by
    convention.

    Args:
        a: one side.
        b: the other side, of the same shape.
        x: a symbol.
        sizes: replacements of named sizes.
        seconds: the time limit.
        called: the name of the derivatives, such as ``gradients``.
    """
    claim = same_gradient(a, b, x, sizes)
    found = _decide(
        claim, slopes(a, b, x), sizes, seconds, _AT_KINKS if _is_always_at_a_kink(claim) else _AS_DERIVED
    )
    words = found.why.replace("the two sides", f"the two {called}")
    return replace(found, why=words.replace("both sides", f"both {called}"))


def _decide(
    claim: Claim, formulas: Sequence[Node], sizes: Mapping[str, Size] | None, seconds: float, note: str
) -> Verdict:
    """Decide a claim, or whether the formulas of both sides are equal.

    Args:
        claim: the claim.
        formulas: both sides, as symgrad evaluates them.
        sizes: replacements of named sizes.
        seconds: the time limit.
        note: the note of a verdict on the formulas.
    """
    begun = now()
    at_kinks, soon = note is _AT_KINKS, min(seconds, _SOON)
    found = None if at_kinks else decide(claim, soon, simple=True)
    in_time = not is_late(begun + _IN_TIME * soon)
    if found is None or (found.points and found.status in ("supported", "undecided")):
        a, b = canonical(formulas, drop_stops=True).nodes
        if at_kinks or a is b:
            formal = decide(equal(a, b, sizes), max(begun + seconds - now(), soon), simple=True)
            refuted = formal.status == "refuted" and is_generic([a, b], formal, sizes)
            if refuted and not formal.witness:  # a witness must list every input
                formal = decide(equal(formulas[0], formulas[1], sizes), soon)
        else:
            formal, refuted, note = _in_general(a, b, sizes, soon), False, _IN_GENERAL
        if refuted or formal.status == "proved":
            return replace(formal, note=note)
    if found is not None and (found.status in ("proved", "refuted") or in_time or soon == seconds):
        return found
    return decide(claim, max(begun + seconds - now(), soon), simple=True)


def _in_general(a: Node, b: Node, sizes: Mapping[str, Size] | None, seconds: float) -> Verdict:
    """Decide whether two formulas are equal for arbitrary values of their common subexpressions.

    No proof covers `take(table, argmin(d))`, but none is needed where both sides contain this expression.
    """
    inside = set(topological([a])) & set(topological([b]))
    names = {s.name for s in symbols_of([a, b])}
    table: dict[Node, Node] = {}
    for n in reversed(topological([a, b])):
        if n in inside and n.args and n.dtype == "real" and n.op.name not in _ARITHMETIC:
            name = free_name("alike", names)
            names.add(name)
            table[n] = symbol(Declaration(name, REAL, shape=n.shape))
    if not table:
        return Verdict("undecided", "nothing is computed alike")
    left, right = substitute([a, b], table)
    found = decide(equal(left, right, sizes), seconds)
    # Excluded points would be values of the common subexpressions, not of the inputs.
    return replace(found, status="undecided") if found.excluded else found


def _at_ties(values: Verdict, a: Node, b: Node, sizes: Mapping[str, Size] | None, seconds: float) -> Verdict:
    """Remove `x - 3 = 0` from the conditions that a proof excludes if the sides are proved equal at x = 3."""
    if values.status != "proved" or not values.excluded or seconds <= 0:
        return values
    ties = [n.args for n in topological([a, b]) if n.op in (eq, ne) and not n.shape]
    written = {c: _zero(c, [a, b]) for c in values.excluded}
    proofs: dict[str, Verdict] = {}
    for x, e in [sides for args in ties for sides in (args, args[::-1])]:
        if x.op is not SYMBOL or x.dtype != "real" or x in symbols_of([e]):
            continue
        gaps = canonical([x - e, e - x]).nodes
        left, right = substitute([a, b], {x: e})
        for condition in (c for c, zero in written.items() if zero in gaps and c not in proofs):
            found = decide(equal(left, right, sizes), seconds / (2 * len(ties)))
            if found.status == "proved" and not found.excluded:
                proofs[condition] = found
    excluded = tuple(c for c in values.excluded if c not in proofs)
    return (
        replace(values, excluded=excluded, proof=_all_proofs([values, *proofs.values()]))
        if proofs
        else values
    )


def _zero(condition: str, sides: Sequence[Node]) -> Node | None:
    """Return the canonical form of f for a condition `f = 0`; None for other conditions."""
    if not condition.endswith(" = 0"):
        return None
    try:
        known = {s.name: s for s in symbols_of(sides)}
        return canonical([parse_expression(condition.removesuffix(" = 0"), known, "the condition")]).nodes[0]
    except SymgradError:
        return None


def _is_always_at_a_kink(claim: Claim) -> bool:
    """Tell whether both derivatives have values at some points, but only values by convention."""
    own = claim.equality
    at_kinks = 0
    for point in islice(points_of(own.program, aim=False), _POINTS):
        at_point = partial(
            evaluate, own.program, point.values, precision=64, sizes=point.sizes, wanted=own.positions
        )
        if all_certain(at_point(strict=own.strict)):
            return False
        at_kinks += all_certain(at_point(strict=False))
    return at_kinks > 0


def slopes(a: Node, b: Node, x: Node) -> tuple[Node, Node]:
    """Return the derivatives of both sides with respect to an input, as `grad` computes them.

    For arrays, return those of v*a and v*b.
    """
    if not a.shape:
        seed = as_node(1)
    else:
        taken = {s.name for s in symbols_of([a, b, x])}
        name = next(n for k in range(len(taken) + 1) if (n := f"v{k + 1}") not in taken)
        seed = symbol(Declaration(name, REAL, shape=a.shape))
    left, right = (full(pull_back([side], [seed], [x]).gradients[0], x.shape) for side in (a, b))
    return left, right


def combine_verdicts(
    values: Verdict,
    gradients: Mapping[str, Verdict],
    higher: Mapping[tuple[str, ...], Verdict] | None = None,
    whole: Verdict | None = None,
) -> Verdict:
    """Combine verdicts: proved if all parts are proved, or all orders together are; refuted if one part is.

    Args:
        values: the verdict on the values.
        gradients: verdicts on the gradients, by input.
        higher: verdicts on higher derivatives, by the names of their inputs.
        whole: the verdict on the sides as functions of inputs and frozen copies, if it decides all orders.
    """
    higher = higher or {}
    parts = [values, *gradients.values(), *higher.values()]
    deciding = min(parts, key=lambda p: _ORDER.index(p.status))
    status = deciding.status
    refuted = status == "refuted"
    sentence = _sentence(values, gradients, higher)
    if whole is not None and not refuted:
        status, parts = "proved", [whole]
        sentence = "the values and the derivatives of every order are equal"
    return Verdict(
        status,
        sentence,
        regions=deciding.regions if refuted else (),
        witness=deciding.witness if refuted else None,
        values=deciding.values if refuted else None,
        index=deciding.index if refuted else (),
        excluded=() if refuted else tuple(dict.fromkeys(c for p in parts for c in p.excluded)),
        points=min(p.points for p in parts),
        digits=min((p.digits for p in parts if p.digits is not None), default=None),
        proof=deciding.proof if refuted else _all_proofs(parts) if status == "proved" else None,
        of_values=values,
        of_gradients=dict(gradients),
        of_higher=dict(higher),
        of_all_orders=whole,
    )


def _all_proofs(parts: Sequence[Verdict]) -> Proof:
    found = [p.proof.data for p in parts if p.proof is not None]
    proofs = [dict(q) for data in found for q in (data["proofs"] if data["kind"] == "several" else [data])]
    return Proof({"format": FORMAT, "status": "proved", "kind": "several", "proofs": proofs})


_ORDER: tuple[Status, ...] = ("refuted", "undecided", "supported", "proved")
_WORDS: Mapping[str, str] = {
    "proved": "are equal",
    "refuted": "differ",
    "supported": "agree at all points that were tried",
    "undecided": "are not decided",
}


def _sentence(
    values: Verdict, gradients: Mapping[str, Verdict], higher: Mapping[tuple[str, ...], Verdict]
) -> str:
    """Describe the values, then the derivatives of each order; differing ones come first."""
    found: list[tuple[str, Status]] = [("the values", values.status)]
    by_order: dict[int, dict[Status, list[str]]] = {}
    for names, v in [*(((n,), v) for n, v in gradients.items()), *higher.items()]:
        by_order.setdefault(len(names), {}).setdefault(v.status, []).append(by_text(names))
    for order, by in by_order.items():
        what = f"the {derivatives_text(order)}"
        if len(by) == 1 and "refuted" not in by:
            found.append((what, next(iter(by))))
            continue
        differing: list[Status] = [s for s in _ORDER if s in by]
        for k, status in enumerate(differing):
            name = f"{what if k == 0 else 'those'} by {names_text([*dict.fromkeys(by[status])])}"
            found.append((name, status))
    groups: list[tuple[list[str], Status]] = []
    for what, status in found:
        if groups and groups[-1][1] == status and "those" not in what:
            groups[-1][0].append(what)
        else:
            groups.append(([what], status))
    text = ""
    for k, (what, status) in enumerate(groups):
        joint = ", but " if status == "refuted" and groups[k - 1][1] == "proved" else ", "
        text += f"{joint if k else ''}{names_text(_in_short(what))} {_WORDS[status]}"
    return text


def _in_short(what: Sequence[str]) -> list[str]:
    """Abbreviate a list of many orders: `the derivatives up to order 4`."""
    orders: list[str] = []
    while (order := f"the {derivatives_text(len(orders) + 1)}") in what:
        orders.append(order)
    if len(orders) < _LISTED:
        return [*what]
    others = [w for w in what if w not in orders]
    return [*others, f"the derivatives up to order {len(orders)}"]
