"""Dead regions: where the whole gradient is zero because a value is cut off, or held back, there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from symgrad.analysis.explain.naming import join_texts
from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting, negated
from symgrad.analysis.stop_gradient.checks.points import point_text
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.analysis.stop_gradient.repairs import passed_on
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.layout import full
from symgrad.ops.control import straight_through
from symgrad.rewrite.facts.inference import Conditions
from symgrad.verification.verdict import Verdict

__all__ = ["find"]

_CHOICES = 60  # choices that are looked at
_WRITTEN = 100  # characters of a line that is to be written
_CUTS = frozenset({"clip", "maximum", "minimum", "relu"})


@dataclass(frozen=True, slots=True)
class _Flat:
    """Where an equation has a zero derivative: a condition, in the graph and as text."""

    condition: Node
    text: str


def find(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield equations through which every derivative path leads, with the set where nothing passes."""
    tight = list(_bottlenecks(asked))
    inputs = [s for s in symbols_of([asked.y]) if s.declaration.distribution is None]
    moved = Edges(asked.y, [*inputs, *asked.wrt]).active if tight else set[Node]()
    tower = sum(_of_zero(n) and not n.shape for n, _ in tight) > 1
    for n, cut in tight:
        if n.op.name != "where" and not _telling(asked, n, tower):
            continue
        seen = [(f, w) for f in _flats(asked, n, cut) if (w := _witness(asked, f.condition)) is not None]
        if not seen:
            continue
        by = join_texts([asked.text(w) for w in cut])
        entry = "an entry of " if n.shape else ""
        found = Sighting(
            n,
            f"{entry}{asked.text(n)} gives no gradient by {by} where {' or '.join(f.text for f, _ in seen)}",
            f"every derivative path leads through {asked.body(n)}, which passes nothing on there, as at {seen[0][1]}",
            cure=_cure(asked, n, cut),
        )
        where = " or ".join(f.text for f, _ in seen)
        if asked.left <= 0:
            yield found
        elif n.op.name == "where":
            yield _branch(asked, n, cut, where, found)
        else:
            yield _uncut(asked, n, _moving(asked, n, cut), moved, found)


def _bottlenecks(asked: LintQuestion) -> Iterator[tuple[Node, list[Node]]]:
    """Yield choices, those nearest to the output first, with that of wrt to which all derivative paths pass them."""
    ends = [w for w in asked.wrt if w in asked.edges.reached]
    looked = 0
    for n in reversed(asked.order):
        if n.op.name not in (*_CUTS, "where") or not asked.edges.passes(n):
            continue
        looked += 1
        if looked > _CHOICES or asked.left <= 0:
            return
        left = Edges(asked.y, (), blocked={n}).reached
        cut = [w for w in ends if w not in left]
        if cut:
            yield n, cut


def _of_zero(n: Node) -> bool:
    """Tell whether it cuts off at zero, as activations and losses do."""
    return n.op.name == "relu" or (n.op.name == "maximum" and any(a.is_number(0) for a in n.args))


def _telling(asked: LintQuestion, n: Node, tower: bool) -> bool:
    """Tell whether a cut is one to be told of: a guard before a function, a range, or one of several.

    One that cuts off at zero is an activation, or a loss that is meant to be zero there.
    """
    guard = any(_guards(n, m) for m in asked.order if n in m.args and m in asked.edges.reached)
    if n.shape:
        return guard and not _of_zero(n)
    return guard or tower or not _of_zero(n)


def _guards(n: Node, reader: Node) -> bool:
    """Tell whether a value is kept away from where a function has none."""
    match reader.op.name:
        case "log" | "log10" | "log1p" | "log2" | "sqrt":
            return True
        case "div":
            return n is reader.args[1]
        case "pow":
            exponent = reader.args[1]
            whole = exponent.is_number() and exponent.value >= 1 and exponent.value == int(exponent.value)
            return n is reader.args[0] and not whole
        case _:
            return False


def _flats(asked: LintQuestion, n: Node, cut: Sequence[Node]) -> Iterator[_Flat]:
    text, active = asked.text, Edges(asked.y, cut).active
    match n.op.name:
        case "relu":
            yield _Flat(OPS["lt"](n.args[0], as_node(0)), f"{text(n.args[0])} < 0")
        case "maximum" | "minimum":
            moving = [a for a in n.args if a in active]
            if len(moving) == 1:
                (e,) = moving
                bound = n.args[1] if n.args[0] is e else n.args[0]
                name, sign = ("lt", "<") if n.op.name == "maximum" else ("gt", ">")
                yield _Flat(OPS[name](e, bound), f"{text(e)} {sign} {text(bound)}")
        case "clip":
            e, low, high = n.args
            if e in active and low not in active and high not in active:
                yield _Flat(OPS["lt"](e, low), f"{text(e)} < {text(low)}")
                yield _Flat(OPS["gt"](e, high), f"{text(e)} > {text(high)}")
        case _:
            condition, yes, no = n.args
            flat = [i for i, a in enumerate((yes, no)) if a not in active and _moves(a, cut)]
            if not n.shape and len(flat) == 1:
                where = condition if flat[0] == 0 else negated(condition)
                yield _Flat(where, text(where))


def _moves(branch: Node, cut: Sequence[Node]) -> bool:
    """Tell whether a value without a derivative depends on what one differentiates by all the same."""
    below = topological([branch])
    return any(w in below for w in cut)


def _witness(asked: LintQuestion, condition: Node) -> str | None:
    """Return a point at which a condition holds and the program has a value, as text; None if none is found."""
    if Conditions().holds(condition) == "no":
        return None
    for batch in asked.points.batches:
        found = asked.points.evaluate([condition, asked.scalar], batch)
        if found is None:
            continue
        truth, value = (np.asarray(v) for v in found)
        if asked.points.vector:
            count = asked.points.count(batch)
            good = np.broadcast_to(truth & np.isfinite(value), (count,))
            if not good.any():
                continue
            index = int(np.argmax(good))
        elif truth.any() and np.isfinite(value).all():
            index = 0
        else:
            continue
        read = {s.name for s in topological([condition]) if s in asked.points.symbols}
        return point_text({k: v for k, v in asked.points.point(batch, index).items() if k in read})
    return None


def _moving(asked: LintQuestion, n: Node, cut: Sequence[Node]) -> Node:
    """Return what a cut cuts off."""
    active = Edges(asked.y, cut).active
    return next(a for a in n.args if a in active)


def _cure(asked: LintQuestion, n: Node, cut: Sequence[Node]) -> str:
    if n.op.name == "where":
        return (
            "take the stop_gradient out of the branch, or differentiate by something that both branches move"
        )
    e = asked.text(_moving(asked, n, cut))
    if any(_guards(n, m) for m in asked.order if n in m.args):
        return f"add what keeps {e} away from the edge, or write the function in a stable form"
    return f"sg.with_gradient(forward={asked.body(n)}, backward_of={e}) passes the gradient on there"


def _uncut(asked: LintQuestion, n: Node, e: Node, moved: Collection[Node], found: Sighting) -> Sighting:
    """Repair by the value of a cut with the derivatives of what it cuts off, where its bounds have none to lose."""
    if any(a in moved for a in n.args if a is not e):
        return found
    passing = straight_through(n, full(e, n.shape))
    (repaired,) = substitute([asked.y], {n: passing})
    if not asked.keeps_bits(repaired):
        return found  # what is cut off is infinite somewhere, and the cut is not
    by, cutting = asked.text(e), asked.body(n)
    cure = found.cure or ""
    if "with_gradient" not in cure:
        line = asked.naming.body(passing, _WRITTEN)
        cure = f"{cure}; {line} for {cutting} has its value, and passes the gradient on"
    verdict = Verdict(
        "proved",
        f"a value minus itself is zero, so the value is the same bit for bit where {by} is finite; all of {cutting} "
        f"that is not stopped is {by}: the gradient is that with the derivative 1 of {cutting} by {by}, another one "
        "only where it is cut off and at its edges",
    )
    return replace(found, repaired=repaired, cure=cure, verdict=verdict)


def _branch(asked: LintQuestion, n: Node, cut: Sequence[Node], where: str, found: Sighting) -> Sighting:
    """Repair by taking stop_gradients out of the branch that has no derivative, or by passing its steps."""
    condition, *branches = n.args
    active = Edges(asked.y, cut).active
    at = next(i for i, b in enumerate(branches) if b not in active)
    branch, others = branches[at], f"gradients are others only where {where}"
    program, through = passed_on(branch, cut, steps=False)
    if through:
        why = f"stop_gradient has the value of its argument, so values are the same bit for bit; {others}: there they "
        why += (
            f"are those of the program without {join_texts([asked.body(s) for s in through])} in this branch"
        )
        cure = found.cure
    else:
        program, through = passed_on(branch, cut, steps=True)
        if not through:
            return found
        steps = [
            f"{asked.naming.body(straight_through(s, s.args[0]), _WRITTEN)} for {asked.body(s)}"
            for s in through
        ]
        why = "a value minus itself is zero, so values are the same bit for bit where what is rounded is finite; "
        why += f"{others}: there the derivative of {join_texts([asked.body(s) for s in through])} by its argument is 1"
        cure = f"write {join_texts(steps)} in the branch"
    branches[at] = program
    (repaired,) = substitute([asked.y], {n: OPS["where"](condition, *branches)})
    if not asked.keeps_bits(repaired):
        return found
    return replace(found, repaired=repaired, cure=cure, verdict=Verdict("proved", why))
