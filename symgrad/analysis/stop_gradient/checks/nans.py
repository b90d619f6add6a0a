"""NaN gradients of finite values, where zero meets infinity in the backward pass of other frameworks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from symgrad.analysis.explain.naming import join_texts, rule_of
from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting, negated
from symgrad.analysis.stop_gradient.checks.naive import FRAMEWORKS, backward
from symgrad.analysis.stop_gradient.checks.points import Batch, point_text
from symgrad.autodiff.trace import BackwardTrace
from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import is_late, now
from symgrad.ir.graph import OPS, Node, apply, as_node
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.traverse import substitute, topological
from symgrad.rewrite.facts.inference import Conditions
from symgrad.verification.verdict import Verdict

__all__ = ["choices", "roots"]

_SECONDS = 2.0
_REPAIR = 2e-3  # seconds of trying one
_SAFE = (1, 0, 2, -1, 0.5)
_TOLD = 6  # equations that are told
_SHARE = 0.3  # of the time: what repairs may take


@dataclass(frozen=True, slots=True)
class _Fault:
    """An equation whose pullback makes a NaN, with the points at which that is so, and whether it has a value there."""

    node: Node
    batch: Batch
    index: int
    bad: np.ndarray
    frameworks: tuple[str, ...]
    choice: Node | None
    branch: int
    valued: bool


def choices(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield choices by `where` whose branch that is not taken makes the gradient NaN."""
    told: set[tuple[Node, int]] = set()
    for fault in _faults(asked):
        if fault.choice is None or (fault.choice, fault.branch) in told:
            continue
        told.add((fault.choice, fault.branch))
        where = fault.choice
        condition = where.args[0]
        taken = asked.text(condition if fault.branch == 2 else negated(condition))
        inner = asked.text(fault.node)
        repaired, cure, verdict = _repaired(asked, fault, _doubled(asked, fault))
        yield Sighting(
            where,
            f"the gradient is NaN {_at(asked, fault)} in {join_texts(fault.frameworks)}: the branch that is not taken "
            f"has {inner}",
            f"where {taken}, the cotangent of {inner} is 0 and the derivative of {rule_of(fault.node)} infinite or "
            "NaN: 0*inf; symgrad guards the product",
            repaired,
            cure,
            verdict,
            (fault.node,),
        )


def roots(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield roots, norms and the like that have a value and an infinite derivative, which meets zero."""
    told: set[Node] = set()
    for fault in _faults(asked):
        if fault.choice is not None or fault.node in told or not fault.valued:
            continue
        told.add(fault.node)
        inner = asked.text(fault.node)
        repaired, cure, verdict = _repaired(asked, fault, _guarded(asked, fault))
        yield Sighting(
            fault.node,
            f"the gradient is NaN {_at(asked, fault)} in {join_texts(fault.frameworks)}, where {inner} has a value",
            f"the derivative of {rule_of(fault.node)} is infinite or 0/0 there and is multiplied by 0; symgrad guards "
            "the product",
            repaired,
            cure,
            verdict,
        )


@lru_cache(maxsize=1)
def _faults(asked: LintQuestion) -> tuple[_Fault, ...]:
    """Return the equations that make NaNs, the one nearest to the output first."""
    if not any(_singular(s.node) for s in asked.trace.steps):
        return ()
    found: dict[Node, _Fault] = {}
    known: set[Node] = set()
    for batch in asked.points.batches:
        runs = {name: backward(asked.trace, asked.scalar, asked.points, batch, name) for name in FRAMEWORKS}
        made = [
            (i, mask & run.bad, run)
            for run in runs.values()
            if run is not None
            for i, mask in run.origins.items()
        ]
        for i, wrong, run in made:
            if not np.any(wrong) or len(found) == _TOLD or asked.left <= 0:
                continue
            index = int(np.argmax(wrong))
            source = _source(asked, i, run.values, index)
            if source is None or source in known:
                continue
            known.add(source)
            point = _single(asked, batch, index)
            node = _deepest(asked, source, point)
            if node in found:
                continue
            bad = tuple(name for name, other in runs.items() if other is not None and other.bad[index])
            choice, branch = _choice(asked, node, point)
            value = asked.points.evaluate([node], point)
            valued = value is not None and bool(np.all(np.isfinite(np.asarray(value[0], dtype=float))))
            found[node] = _Fault(node, batch, index, wrong, bad, choice, branch, valued)
    return tuple(found.values())


def _singular(n: Node) -> bool:
    """Tell whether the derivative of an equation may be infinite where something has a value."""
    return n.op.domain is not None or bool(n.op.kinks) or not n.op.pointwise or "exponential" in n.op.facts


def _source(asked: LintQuestion, i: int, values: Mapping[Node, Any], index: int) -> Node | None:
    """Return the equation whose derivative is infinite where a step makes a NaN: its own, or one above it."""
    steps = asked.trace.steps

    def infinite(j: int) -> bool:
        if not steps[j].node.op.pointwise:
            return steps[j].node.op.name == "norm"
        value = np.asarray(values[steps[j].coefficient], dtype=float)
        one = value[index] if asked.points.vector and value.ndim else value
        return not np.all(np.isfinite(one))

    arriving: dict[Node, list[int]] = {}
    for j, s in enumerate(steps):
        arriving.setdefault(s.target, []).append(j)
    pending, seen = deque([i]), {i}
    while pending:
        j = pending.popleft()
        if infinite(j):
            return steps[j].node
        new = [k for k in arriving.get(steps[j].node, ()) if k not in seen]
        seen.update(new)
        pending += new
    return None


def _deepest(asked: LintQuestion, node: Node, point: Batch) -> Node:
    """Return what of an equation has no finite value although what it reads has; the equation if all have."""
    order = [n for n in topological([node]) if n.dtype == "real"]
    values = asked.points.evaluate(order, point)
    for n, value in zip(order, values or (), strict=False):
        if not np.all(np.isfinite(np.asarray(value, dtype=float))):
            return n
    return node


def _choice(asked: LintQuestion, node: Node, point: Batch) -> tuple[Node | None, int]:
    """Return the innermost choice whose branch that is not taken the equation is in; None if there is none."""
    choices = [w for w in asked.order if w.op.name == "where" and w in asked.edges.reached]
    truths = asked.points.evaluate([w.args[0] for w in choices], point)
    best: tuple[int, Node, int] | None = None
    for w, truth in zip(choices, truths or (), strict=False):
        for branch in (1, 2):
            below = topological([w.args[branch]])
            off = np.any(truth) if branch == 2 else not np.all(truth)
            if node in below and off and (best is None or len(below) < best[0]):
                best = (len(below), w, branch)
    return (None, 0) if best is None else best[1:]


def _single(asked: LintQuestion, batch: Batch, index: int) -> Batch:
    """Return one point of a batch."""
    return {s: v[index] if asked.points.vector else v for s, v in batch.items()}


def _critical(n: Node) -> Sequence[Node]:
    """Return the arguments on whose values it depends whether there is a derivative."""
    return {"div": n.args[1:], "pow": n.args[:1]}.get(n.op.name, n.args)


def _at(asked: LintQuestion, fault: _Fault) -> str:
    """Say where: where what the function reads is 0, or all the branch is not taken; else a point that was found."""
    if rule_of(fault.node) == "norm":
        return f"where {asked.text(fault.node.args[0])} is all zeros"
    entry = "" if asked.points.vector else "an entry of "
    for a in (a for a in _critical(fault.node) if a.dtype == "real" and not a.is_number()):
        found = asked.points.evaluate([a], fault.batch)
        values = None if found is None else np.asarray(found[0], dtype=float)
        if values is None:
            continue
        if asked.points.vector and np.all(np.broadcast_to(values == 0, fault.bad.shape)[fault.bad]):
            return f"where {asked.text(a)} = 0"
        if not asked.points.vector and np.any(values == 0):
            return f"where {entry if values.ndim else ''}{asked.text(a)} is 0"
    if fault.choice is not None:
        condition = fault.choice.args[0]
        off = condition if fault.branch == 2 else negated(condition)
        found = asked.points.evaluate([off, asked.scalar], fault.batch)
        if found is not None and (
            not asked.points.vector
            or np.array_equal(np.broadcast_to(found[0] & np.isfinite(found[1]), fault.bad.shape), fault.bad)
        ):
            return f"where {asked.text(off)}"
    one = _single(asked, fault.batch, fault.index)
    return f"at {point_text({s.name: one[s] for s in topological([fault.node]) if s in one})}"


# --------------------------------------------------------------------------------------------------------- repairs

_Candidate: TypeAlias = tuple[Node, Node, str]
"""A value, what takes its place, and that in words."""


def _repaired(
    asked: LintQuestion, fault: _Fault, candidates: Iterator[_Candidate]
) -> tuple[Node | None, str | None, Verdict | None]:
    """Return the first candidate without the NaN there, which is equal, in words, and the verdict on it."""
    here = {s: v[fault.index : fault.index + 1] if asked.points.vector else v for s, v in fault.batch.items()}
    before = _origins(asked, asked.trace, asked.scalar, here, fault.frameworks[:1])
    end = now() + _SHARE / 2 * asked.left
    for old, new, cure in candidates:
        if is_late(end, _REPAIR):
            break
        (repaired,) = substitute([asked.y], {old: new})
        number = asked.as_number(repaired)
        after = _origins(
            asked, pull_back([number], [as_node(1)], asked.wrt), number, here, fault.frameworks[:1]
        )
        if before is None or after is None or (after and after >= before):
            continue
        verdict = asked.same_but_for(old, new, _SECONDS)
        if verdict is None:
            return repaired, cure, None
        values = verdict if verdict.of_values is None else verdict.of_values
        if values.status in ("proved", "supported"):
            if verdict.status == "refuted":
                verdict = replace(values, why=f"the values: {values.why}; the gradient is 0 where it was NaN")
            return repaired, cure, verdict
    return None, None, None


def _origins(
    asked: LintQuestion, trace: BackwardTrace, y: Node, here: Batch, frameworks: Sequence[str]
) -> int | None:
    """Return how many equations make a NaN at a point, in all frameworks together; 0 where no gradient is NaN."""
    made = 0
    for name in frameworks:
        run = backward(trace, y, asked.points, here, name)
        if run is None:
            return None
        made += len(run.origins) if run.bad[0] else 0
    return made


def _doubled(asked: LintQuestion, fault: _Fault) -> Iterator[_Candidate]:
    """Yield values with a second `where` inside the branch: around what is compared, or what the function reads."""
    where = fault.choice
    assert where is not None
    condition, branch = where.args[0], where.args[fault.branch]
    below = set(topological([branch]))
    compared = [a for a in condition.args if a.dtype == "real" and not a.is_number() and a in below]
    own = [a for a in fault.node.args if a.dtype == "real" and not a.is_number()]
    for inner in dict.fromkeys([*compared, *own]):
        if broadcast_shapes((condition.shape, inner.shape)) != inner.shape:
            continue
        for safe in _SAFE:
            pair = (inner, as_node(safe)) if fault.branch == 1 else (as_node(safe), inner)
            guard = OPS["where"](condition, *pair)
            (made,) = substitute([branch], {inner: guard})
            args = list(where.args)
            args[fault.branch] = made
            whole = apply(where.op, tuple(args), where.params)
            yield where, whole, f"write {asked.written(whole, inner)}"


def _guarded(asked: LintQuestion, fault: _Fault) -> Iterator[_Candidate]:
    """Yield values with a choice around the function, and another one around what it reads."""
    n = fault.node
    for inner, safe in product((a for a in n.args if a.dtype == "real" and not a.is_number()), _SAFE):
        conditions: Sequence[Node]
        if n.op.pointwise:
            known = Conditions()
            sign = "gt" if n.op.name in ("sqrt", "pow") or known.nonnegative(inner) == "yes" else "ne"
            conditions = [OPS[sign](inner, as_node(0))]
        else:
            conditions = [OPS["gt"](n, as_node(0))] if not n.shape else []
        for condition in conditions:
            if broadcast_shapes((condition.shape, inner.shape)) != inner.shape:
                continue
            args = tuple(OPS["where"](condition, a, as_node(safe)) if a is inner else a for a in n.args)
            whole = OPS["where"](condition, apply(n.op, args, n.params), as_node(0))
            yield (
                n,
                whole,
                f"write {asked.written(whole, inner)} for {asked.naming.whole(n, 100) or asked.text(n)}",
            )
