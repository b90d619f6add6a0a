"""Check for regions in which the whole gradient is zero because a value is clipped or stopped there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting, negated
from symgrad.analysis.stop_gradient.checks.points import point_text
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.analysis.stop_gradient.repairs import passed_on
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.layout import full
from symgrad.ops.control import straight_through
from symgrad.rewrite.facts.inference import Conditions
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict

_CHOICES = 60  # number of clips and choices that are examined


@dataclass(frozen=True, slots=True)
class _Flat:
    """A condition under which an equation has a zero derivative, as a node and as text."""

    condition: Node
    text: str


def find(query: LintQuery) -> Iterator[Sighting]:
    """Yield the equations that all derivative paths pass and that have a zero derivative somewhere."""
    tight = list(_bottlenecks(query))
    inputs = [s for s in symbols_of([query.y]) if s.declaration.distribution is None]
    moved = Edges(query.y, [*inputs, *query.wrt]).active if tight else set[Node]()
    row = _in_a_row([n for n, _ in tight if _is_activation(n)])
    for n, cut in tight:
        if n.op.name != "where" and not _is_reported(query, n, n in row):
            continue
        seen = [(f, w) for f in _flats(query, n, cut) if (w := _witness(query, f.condition)) is not None]
        if not seen:
            continue
        by = join_texts([query.text(w) for w in cut])
        entry, where = "an entry of " if n.shape else "", " or ".join(f.text for f, _ in seen)
        found = Sighting(
            n,
            f"{entry}{query.text(n)} gives no gradient by {by} where {where}",
            f"every derivative path leads through {query.body(n)}, which passes nothing on there, as at {seen[0][1]}",
            cure=_cure(query, n, cut),
        )
        if query.remaining <= 0:
            yield found
        elif n.op.name == "where":
            yield _branch(query, n, cut, where, found)
        else:
            yield _uncut(query, n, _moving(query, n, cut), moved, found)


def _bottlenecks(query: LintQuery) -> Iterator[tuple[Node, list[Node]]]:
    """Yield the clips and choices that all derivative paths to some of wrt pass.

    The nearest to the output comes first.
    """
    ends = [w for w in query.wrt if w in query.edges.reached]
    looked = 0
    for n in reversed(query.order):
        if "chooses" not in n.op.facts or not query.edges.passes(n):
            continue
        looked += 1
        if looked > _CHOICES or query.remaining <= 0:
            return
        left = Edges(query.y, (), blocked={n}).reached
        cut = [w for w in ends if w not in left]
        if cut:
            yield n, cut


def _is_activation(n: Node) -> bool:
    """Tell whether an equation clips at zero, as an activation or a hinge loss does."""
    return n.op.name == "relu" or (n.op.name == "maximum" and any(a.is_number(0) for a in n.args))


def _in_a_row(activations: Sequence[Node]) -> set[Node]:
    """Return the activations that read another activation, and those that another activation reads."""
    pairs = [(n, m) for n in activations for m in set(topological(n.args)).intersection(activations)]
    return {n for pair in pairs for n in pair}


def _is_reported(query: LintQuery, n: Node, several: bool) -> bool:
    """Tell whether to report a clip: it guards a function, it bounds a range, or it is one of several in a row.

    A single clip at zero is an activation, or a loss that is meant to be zero there.
    """
    guard = any(_guards(n, m) for m in query.order if n in m.args and m in query.edges.reached)
    return guard or several or not _is_activation(n)


def _guards(n: Node, reader: Node) -> bool:
    """Tell whether a value is an argument for which the function that reads it has a restricted domain."""
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


def _flats(query: LintQuery, n: Node, cut: Sequence[Node]) -> Iterator[_Flat]:
    """Yield the conditions under which an equation passes no derivative to ``cut``."""
    text, active = query.text, Edges(query.y, cut).active
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
            if len(flat) == 1:
                where = condition if flat[0] == 0 else negated(condition)
                yield _Flat(where, text(where))


def _moves(branch: Node, cut: Sequence[Node]) -> bool:
    """Tell whether the value of a branch depends on some of wrt although it has no derivative with respect to them."""
    below = topological([branch])
    return any(w in below for w in cut)


def _witness(query: LintQuery, condition: Node) -> str | None:
    """Return as text a point at which a condition holds and the program is finite; None if none is found."""
    if Conditions().holds(condition) == "no":
        return None
    for batch, found in query.points.values([condition, query.scalar]):
        truth, value = (np.asarray(v) for v in found)
        if query.points.vector:
            count = query.points.count(batch)
            good = np.broadcast_to(truth & np.isfinite(value), (count,))
            if not good.any():
                continue
            index = int(np.argmax(good))
        elif truth.any() and np.isfinite(value).all():
            index = 0
        else:
            continue
        read = {s.name for s in topological([condition]) if s in query.points.symbols}
        return point_text({k: v for k, v in query.points.point(batch, index).items() if k in read})
    return None


def _moving(query: LintQuery, n: Node, cut: Sequence[Node]) -> Node:
    """Return the argument that a clip bounds."""
    active = Edges(query.y, cut).active
    return next(a for a in n.args if a in active)


def _cure(query: LintQuery, n: Node, cut: Sequence[Node]) -> str:
    if n.op.name == "where":
        return (
            "take the stop_gradient out of the branch, or differentiate by something that both branches move"
        )
    e = _moving(query, n, cut)
    if any(_guards(n, m) for m in query.order if n in m.args):
        inside = query.naming.names.get(e, f"the argument of {n.op.name}")
        return f"keep {inside} away from the edge, or write the function in a stable form"
    line = "sg.with_gradient(forward={}, backward_of={}) passes the gradient on there"
    return query.code_text(line, n, query.naming.names.get(e, e)) or "pass the gradient on there"


def _uncut(query: LintQuery, n: Node, e: Node, moved: Collection[Node], found: Sighting) -> Sighting:
    """Repair a clip with a straight-through gradient, if its bounds have no derivative that would be lost."""
    if any(a in moved for a in n.args if a is not e):
        return found
    passing = straight_through(n, full(e, n.shape))
    (repaired,) = substitute([query.y], {n: passing})
    if not query.keeps_bits(repaired):
        return found  # at some point the argument is infinite, but the clip is finite
    by, cutting = query.text(e), query.body(n)
    cure = found.cure or ""
    line = query.code_text("{} for {} has its value, and passes the gradient on", passing, n)
    if "with_gradient" not in cure and line is not None:
        cure = f"{cure}; {line}"
    verdict = Verdict(
        "proved",
        f"a value minus itself is zero, so the value is the same bit for bit where {by} is finite; all of {cutting} "
        f"that is not stopped is {by}: the gradient is that with the derivative 1 of {cutting} by {by}, another one "
        "only where it is cut off and at its edges",
    )
    return replace(found, repaired=repaired, cure=cure, verdict=verdict)


def _branch(query: LintQuery, n: Node, cut: Sequence[Node], where: str, found: Sighting) -> Sighting:
    """Repair a choice: remove stop_gradients from its flat branch, or pass derivatives straight through its steps."""
    condition, *branches = n.args
    active = Edges(query.y, cut).active
    at = next(i for i, b in enumerate(branches) if b not in active)
    branch, others = branches[at], f"gradients are others only where {where}"
    program, through = passed_on(branch, cut, steps=False)
    if through:
        why = f"stop_gradient has the value of its argument, so values are the same bit for bit; {others}: there they "
        why += (
            f"are those of the program without {join_texts([query.body(s) for s in through])} in this branch"
        )
        cure = found.cure
    else:
        program, through = passed_on(branch, cut, steps=True)
        if not through:
            return found
        why = "a value minus itself is zero, so values are the same bit for bit where what is rounded is finite; "
        why += f"{others}: there the derivative of {join_texts([query.body(s) for s in through])} by its argument is 1"
        pairs = [p for s in through for p in (straight_through(s, s.args[0]), s)]
        cure = query.code_text(f"write {', and '.join(['{} for {}'] * len(through))} in the branch", *pairs)
    branches[at] = program
    (repaired,) = substitute([query.y], {n: OPS["where"](condition, *branches)})
    if not query.keeps_bits(repaired):
        return found
    return replace(found, repaired=repaired, cure=cure, verdict=Verdict("proved", why))
