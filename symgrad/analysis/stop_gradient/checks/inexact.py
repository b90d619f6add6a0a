"""Check for straight-through values that round: ``x + stop_gradient(f - x)`` is not f to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeAlias

import numpy as np

from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.checks.points import point_text
from symgrad.ir.graph import OPS, Node, symbol
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.control import straight_through
from symgrad.verification.gradients.orders import decide_all_orders
from symgrad.verification.verdict import Verdict

_SECONDS = 2.0
_TERMS = 12

_Term: TypeAlias = "tuple[int, Node]"
"""A sign and a term of a sum."""


def find(query: LintQuery) -> Iterator[Sighting]:
    """Yield sums that add a value which a stop_gradient subtracts, if the result is rounded at some point."""
    inner = {a for n in query.order if n.op.name in ("add", "neg") for a in n.args}
    stopped = {s.args[0] for s in query.order if "stops" in s.op.facts}
    for n in query.order:
        if n.op.name != "add" or (n in inner and n not in stopped and n not in query.naming.names):
            continue
        meant = _straight_through_sum(n)
        if meant is None:
            continue
        value, g, exact, parts = meant
        witness = _rounds(query, n, value)
        if witness is None:
            continue
        (repaired,) = substitute([query.y], {n: exact})
        verdict = _same(n, exact, parts)
        if verdict.status != "proved":
            continue
        what, by = query.body(value), query.text(g)
        yield Sighting(
            n,
            f"{query.text(n)} is meant to have the value of {what}, and rounds",
            f"{by} is subtracted and added again: {witness}",
            repaired,
            query.code_text(f"write {{}}, where {by} - {by} is exactly zero", exact),
            verdict,
        )


def _terms(n: Node, sign: int = 1) -> list[_Term]:
    """Return the signed terms of a sum; a stop_gradient counts as one term."""
    found: list[_Term] = []
    pending = [(sign, n)]
    while pending and len(found) < _TERMS:
        s, e = pending.pop()
        if e.op.name == "add":
            pending += [(s, a) for a in reversed(e.args)]
        elif e.op.name == "neg":
            pending.append((-s, e.args[0]))
        else:
            found.append((s, e))
    return found if not pending else []


def _straight_through_sum(n: Node) -> tuple[Node, Node, Node, list[Node]] | None:
    """Return the intended value of a straight-through sum, the value that cancels, the exact form, and all terms.

    Return None for other sums.
    """
    outer = _terms(n)
    for i, (sign, s) in enumerate(outer):
        if "stops" not in s.op.facts:
            continue
        rest = outer[:i] + outer[i + 1 :]
        parts = _terms(s.args[0], sign)
        again = [t for t in rest if (-t[0], t[1]) in parts]
        value = [t for t in parts if (-t[0], t[1]) not in again]
        if not again or not value:
            continue  # g - stop_gradient(g) is exactly zero
        others = [t for t in rest if t not in again]
        f, g = _sum(value), _sum(again)
        if f.shape != n.shape or g.shape != n.shape:
            continue
        exact = straight_through(f, g)
        terms = list(dict.fromkeys(e for _, e in (*rest, *parts) if not e.is_number()))
        if others:
            return _sum([*others, *value]), g, _sum([*others, (1, exact)]), terms
        return f, g, exact, terms
    return None


def _sum(terms: Sequence[_Term]) -> Node:
    return reduce(OPS["add"], [e if sign > 0 else OPS["neg"](e) for sign, e in terms])


def _same(n: Node, exact: Node, terms: Sequence[Node]) -> Verdict:
    """Decide whether two sums are equal to all orders, for arbitrary terms."""
    inputs = {e: symbol(Declaration(f"t{i}", REAL, shape=e.shape)) for i, e in enumerate(terms, 1)}
    first, second = substitute([n, exact], inputs)
    verdict = decide_all_orders(first, second, list(inputs.values()), None, _SECONDS)
    return replace(verdict, why=f"{verdict.why}, for all values of the terms of the sum")


def _rounds(query: LintQuery, n: Node, value: Node) -> str | None:
    """Return as text a point at which a sum and its intended value differ in bits; None if none is found."""
    for batch, found in query.points.values([n, value], rough=True):
        got, meant = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in found))
        wrong = np.isfinite(got) & np.isfinite(meant) & (got != meant)
        if np.any(wrong):
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            index = place[0] if query.points.vector and place else 0
            read = {s.name for s in symbols_of([n])}
            point = {k: v for k, v in query.points.point(batch, index).items() if k in read}
            few = {k: v for k, v in point.items() if np.ndim(v) == 0}
            at = f"at {point_text(few)} " if few and len(few) <= 4 else ""
            return f"{at}it is {float(got[place])!r} instead of {float(meant[place])!r}"
    return None
