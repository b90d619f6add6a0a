"""A guard that comes too late: ``maximum(sqrt(x), 0)`` has no value at x < 0, where ``sqrt(maximum(x, 0))`` has one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting
from symgrad.analysis.stop_gradient.checks.points import point_text
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute
from symgrad.rewrite.facts.inference import Conditions

__all__ = ["find"]

_SECONDS = 1.0


def find(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield guards from below that a root, which is never below, stands in front of."""
    known = Conditions()
    for n in asked.order:
        root = _guarded(n)
        if root is None or n not in asked.edges.reached:
            continue
        (e,) = root.args
        if known.nonnegative(e) == "yes":
            continue
        witness = _witness(asked, e)
        if witness is None:
            continue
        zero, one = as_node(0), as_node(1)
        inside = OPS["gt"](e, zero)
        whole = OPS["where"](inside, OPS["sqrt"](OPS["where"](inside, e, one)), zero)
        if whole.shape != n.shape:
            continue
        (repaired,) = substitute([asked.y], {n: whole})
        yield Sighting(
            n,
            f"{asked.body(n)} has no value where {asked.text(e)} < 0: the guard stands behind the root",
            f"{asked.text(root)} is NaN there, such as at {witness}, and {n.op.name} keeps NaN; elsewhere the root "
            "is not negative, and the guard does nothing",
            repaired,
            f"write {asked.written(whole, e)}; sqrt(maximum({asked.text(e)}, 0)) has this value, "
            "and a NaN gradient in JAX",
            asked.same_but_for(n, whole, _SECONDS),
        )


def _guarded(n: Node) -> Node | None:
    """Return the root behind which a guard from below stands; None for another equation."""
    if n.op.name == "relu":
        candidates, bounds = n.args, ()
    elif n.op.name == "maximum":
        candidates, bounds = n.args, tuple(a for a in n.args if a.is_number() and a.value <= 0)
        if not bounds:
            return None
    else:
        return None
    return next((a for a in candidates if a.op.name == "sqrt"), None)


def _witness(asked: LintQuestion, e: Node) -> str | None:
    """Return a point at which an argument is negative, as text; None if none is found."""
    for batch in asked.points.batches:
        found = asked.points.evaluate([e], batch)
        if found is None:
            continue
        low = np.asarray(found[0]) < 0
        if not np.any(low):
            continue
        index = int(np.argmax(low)) if asked.points.vector else 0
        point = asked.points.point(batch, index)
        return point_text({s.name: point[s.name] for s in asked.points.symbols if s.name in point})
    return None
