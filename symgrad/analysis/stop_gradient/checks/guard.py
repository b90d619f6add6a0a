"""Check for a guard that comes after a root instead of before it: ``maximum(sqrt(x), 0)`` is NaN at x < 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.checks.points import point_text
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute
from symgrad.rewrite.facts.inference import Conditions

_SECONDS = 1.0


def find(query: LintQuery) -> Iterator[Sighting]:
    """Yield the lower bounds of square roots whose argument may be negative."""
    known = Conditions()
    for n in query.order:
        root = _guarded(n)
        if root is None or n not in query.edges.reached:
            continue
        (e,) = root.args
        if known.nonnegative(e) == "yes":
            continue
        witness = _witness(query, e)
        if witness is None:
            continue
        zero, one = as_node(0), as_node(1)
        inside = OPS["gt"](e, zero)
        whole = OPS["where"](inside, OPS["sqrt"](OPS["where"](inside, e, one)), zero)
        if whole.shape != n.shape:
            continue
        (repaired,) = substitute([query.y], {n: whole})
        bounded = OPS["sqrt"](OPS["maximum"](e, zero))
        beside = ", but a NaN gradient in JAX" if "JAX" in query.frameworks else ""
        yield Sighting(
            n,
            f"{query.body(n)} has no value where {query.text(e)} < 0: the guard comes after the root",
            f"{query.text(root)} is NaN there, such as at {witness}, and {n.op.name} keeps NaN; elsewhere the root "
            "is not negative, and the guard does nothing",
            repaired,
            query.code_text(f"write {{}}; {{}} has the same value{beside}", whole, bounded, common=e),
            query.same_but_for(n, whole, _SECONDS),
        )


def _guarded(n: Node) -> Node | None:
    """Return the square root that an equation bounds from below by a number of at most 0; None for other equations."""
    bounded = n.op.name == "maximum" and any(a.is_number() and a.value <= 0 for a in n.args)
    if n.op.name != "relu" and not bounded:
        return None
    return next((a for a in n.args if a.op.name == "sqrt"), None)


def _witness(query: LintQuery, e: Node) -> str | None:
    """Return as text a point at which an argument is negative; None if none is found."""
    for batch, found in query.points.values([e]):
        low = np.asarray(found[0]) < 0
        if not np.any(low):
            continue
        index = int(np.argmax(low)) if query.points.vector else 0
        point = query.points.point(batch, index)
        return point_text({s.name: point[s.name] for s in query.points.symbols if s.name in point})
    return None
