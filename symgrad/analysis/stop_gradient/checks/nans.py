"""Check for NaN gradients of finite values: zero times infinity in the backward pass of other frameworks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np

from symgrad.analysis.explain.naming import rule_of
from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting, negated
from symgrad.analysis.stop_gradient.checks.naive import BackwardStep, NaiveBackward, backward, steps_of
from symgrad.analysis.stop_gradient.checks.points import Batch, point_text, real_variables
from symgrad.checker.clock import is_late, now
from symgrad.ir.graph import OPS, Node, apply, as_node
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.array.layout import expand, full
from symgrad.rewrite.facts.inference import Conditions
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict

_SECONDS = 2.0
_REPAIR = 2e-3  # seconds for a candidate
_SAFE = (1, 0, 2, -1, 0.5)
_FINDINGS = 6
_SHARE = 0.3  # the share of the time that repairs may take


@dataclass(frozen=True, slots=True)
class _Fault:
    """An equation whose pullback makes a NaN at points.

    Args:
        node: the equation.
        step: the pullback with an infinite derivative, or one that is NaN.
        nan: whether the derivative is NaN.
        batch: a batch of points.
        index: one of the points.
        bad: the points of the batch at which this pullback makes a NaN.
        everywhere: for each batch of the program, the points at which a gradient is NaN in all the frameworks.
        frameworks: the frameworks.
        choice: the innermost choice that does not take the equation.
        branch: the position of the branch that is not taken.
        valued: whether the equation is finite at the point.
    """

    node: Node
    step: BackwardStep
    nan: bool
    batch: Batch
    index: int
    bad: np.ndarray
    everywhere: Sequence[tuple[Batch, np.ndarray]]
    frameworks: tuple[str, ...]
    choice: Node | None
    branch: int
    valued: bool


def choices(query: LintQuery) -> Iterator[Sighting]:
    """Yield the choices by `where` in which the branch that is not taken makes the gradient NaN."""
    reported: set[tuple[Node, int]] = set()
    for fault in _faults(query):
        if fault.choice is None or (fault.choice, fault.branch) in reported:
            continue
        reported.add((fault.choice, fault.branch))
        where = fault.choice
        condition = where.args[0]
        taken = query.text(condition if fault.branch == 2 else negated(condition))
        inner = query.text(fault.node)
        repaired, cure, verdict = _repaired(query, fault, _doubled(query, fault))
        slope = f"the derivative of {rule_of(fault.step.node)} is {'NaN' if fault.nan else 'infinite'}"
        own = _own(query, fault)
        own = "symgrad guards the product" if own.endswith((" 0", " finite")) else own
        yield Sighting(
            where,
            f"the gradient is NaN {_at(query, fault)} in {join_texts(fault.frameworks)}: the branch that is not taken "
            f"has {inner}",
            f"where {taken}, the cotangent of {inner} is 0, and {slope}; {own}",
            repaired,
            cure,
            verdict,
            (fault.node,),
        )


def roots(query: LintQuery) -> Iterator[Sighting]:
    """Yield the roots, norms and similar ops whose infinite derivative meets a zero cotangent at a finite value."""
    reported: set[Node] = set()
    for fault in _faults(query):
        if fault.choice is not None or fault.node in reported or not fault.valued:
            continue
        reported.add(fault.node)
        inner = query.text(fault.node)
        repaired, cure, verdict = _repaired(query, fault, _guarded(query, fault))
        yield Sighting(
            fault.node,
            f"the gradient is NaN {_at(query, fault)} in {join_texts(fault.frameworks)}, where {inner} has a value",
            f"{_reason(query, fault)}; {_own(query, fault)}",
            repaired,
            cure,
            verdict,
        )


def _reason(query: LintQuery, fault: _Fault) -> str:
    """Say which derivative makes the NaN."""
    n = fault.step.node
    if not fault.nan:
        return f"the derivative of {rule_of(n)} is infinite there and is multiplied by 0"
    if rule_of(n) == "norm":
        return "the derivative of norm is 0/0 there"
    if n.op.name == "pow" and fault.step.argument == 0:
        power = f"{query.text(n.args[0])}**-1"
        integer = "; with an integer exponent 0, JAX computes 0" if n.args[1].is_number() else ""
        return f"the exponent is 0 there, and is multiplied by the infinite {power}{integer}"
    return f"the derivative of {query.text(n)} by {query.text(fault.step.target)} is NaN there"


def _own(query: LintQuery, fault: _Fault) -> str:
    return query.kernel_text(_single(query, fault.batch, fault.index))


@lru_cache(maxsize=1)
def _faults(query: LintQuery) -> tuple[_Fault, ...]:
    """Return the equations that make NaNs; the nearest to the output comes first."""
    steps = steps_of(query.scalar, query.wrt)
    if not any(_singular(s.node) for s in steps):
        return ()
    runs: list[tuple[Batch, list[NaiveBackward]]] = []
    for batch in query.points.batches:
        made = [backward(query.scalar, query.wrt, query.points, batch, name) for name in query.frameworks]
        runs.append((batch, [run for run in made if run is not None]))
    best: dict[BackwardStep, tuple[int, Batch, int, int, Sequence[NaiveBackward]]] = {}
    for batch, made in runs:
        for i in sorted({i for run in made for i in run.origins}):
            for index, bad in _by_frameworks(made, i):
                step = _source(query, steps, i, bad, index)
                if step is not None and (step not in best or len(best[step][-1]) < len(bad)):
                    best[step] = len(bad), batch, i, index, bad
    found: dict[Node, _Fault] = {}
    for step, (_, batch, i, index, bad) in best.items():
        if len(found) == _FINDINGS or query.remaining <= 0:
            break
        point = _single(query, batch, index)
        node = _deepest(query, step.node, point)
        if node in found:
            continue
        names = tuple(run.framework for run in bad)
        everywhere = [(b, _common_points([r for r in made if r.framework in names])) for b, made in runs]
        masked = np.logical_and.reduce([run.origins[i] for run in bad]) & _common_points(bad)
        choice, branch = _choice(query, node, point)
        value = query.points.evaluate([node], point)
        valued = value is not None and bool(np.all(np.isfinite(np.asarray(value[0], dtype=float))))
        nan = any(np.any(np.isnan(_derivative(query, run, step, index))) for run in bad)
        found[node] = _Fault(node, step, nan, batch, index, masked, everywhere, names, choice, branch, valued)
    return tuple(found.values())


def _common_points(runs: Sequence[NaiveBackward]) -> np.ndarray:
    return np.logical_and.reduce([run.bad for run in runs]) if runs else np.zeros(1, dtype=bool)


def _by_frameworks(made: Sequence[NaiveBackward], i: int) -> Iterator[tuple[int, Sequence[NaiveBackward]]]:
    """Yield points at which a step makes NaN gradients: one for each set of frameworks in which it does."""
    runs = [run for run in made if i in run.origins]
    table = np.array([run.origins[i] & run.bad for run in runs])
    known: set[bytes] = set()
    for index in np.flatnonzero(table.any(axis=0)).tolist():
        key = table[:, index].tobytes()
        if key not in known:
            known.add(key)
            yield index, [run for run, bad in zip(runs, table[:, index], strict=True) if bad]


def _singular(n: Node) -> bool:
    """Tell whether the derivative of an equation may be infinite somewhere."""
    return n.op.domain is not None or bool(n.op.kinks) or not n.op.pointwise or "exponential" in n.op.facts


def _derivative(query: LintQuery, run: NaiveBackward, step: BackwardStep, index: int) -> np.ndarray:
    """Return what a step sends at a point for the cotangent 1."""
    value = np.asarray(run.derivative(step), dtype=float)
    return value[index] if query.points.vector and value.ndim else value


def _source(
    query: LintQuery, steps: Sequence[BackwardStep], i: int, runs: Sequence[NaiveBackward], index: int
) -> BackwardStep | None:
    """Return the step with the infinite derivative for a step that makes a NaN: the step itself, or one above it."""
    arriving: dict[Node, list[int]] = {}
    for j, s in enumerate(steps):
        arriving.setdefault(s.target, []).append(j)
    pending, seen = deque([i]), {i}
    while pending:
        j = pending.popleft()
        if any(not np.all(np.isfinite(_derivative(query, run, steps[j], index))) for run in runs):
            return steps[j]
        new = [k for k in arriving.get(steps[j].node, ()) if k not in seen]
        seen.update(new)
        pending += new
    return None


def _deepest(query: LintQuery, node: Node, point: Batch) -> Node:
    """Return the first equation below a node that has no finite value; if there is none, the node itself."""
    order = [n for n in topological([node]) if n.dtype == "real"]
    values = query.points.evaluate(order, point)
    for n, value in zip(order, values or (), strict=False):
        if not np.all(np.isfinite(np.asarray(value, dtype=float))):
            return n
    return node


def _choice(query: LintQuery, node: Node, point: Batch) -> tuple[Node | None, int]:
    """Return the innermost choice that has an equation in the branch not taken, and this branch.

    The result is None if there is none.
    """
    choices = [w for w in query.order if w.op.name == "where" and w in query.edges.reached]
    truths = query.points.evaluate([w.args[0] for w in choices], point)
    best: tuple[int, Node, int] | None = None
    for w, truth in zip(choices, truths or (), strict=False):
        for branch in (1, 2):
            below = topological([w.args[branch]])
            off = np.any(truth) if branch == 2 else not np.all(truth)
            if node in below and off and (best is None or len(below) < best[0]):
                best = (len(below), w, branch)
    return (None, 0) if best is None else best[1:]


def _single(query: LintQuery, batch: Batch, index: int) -> Batch:
    """Return one point of a batch, without an axis for points."""
    return {s: v[index] if query.points.vector else v for s, v in batch.items()}


def _critical(n: Node) -> Sequence[Node]:
    """Return the arguments that decide whether the derivative is finite."""
    return {"div": n.args[1:], "pow": n.args[:1]}.get(n.op.name, n.args)


def _at(query: LintQuery, fault: _Fault) -> str:
    """Describe the faulty points: a zero of an argument, all points of a branch not taken, or otherwise one point."""
    if rule_of(fault.node) == "norm":
        return f"where {query.text(fault.node.args[0])} is all zeros"
    vector, inner = query.points.vector, real_variables(_critical(fault.node))
    for a in inner:
        if _is_region(query, fault, OPS["eq"](a, as_node(0))):
            entry = "an entry of " if a.shape else ""
            return f"where {query.text(a)} = 0" if vector else f"where {entry}{query.text(a)} is 0"
    for condition in _branches(inner):
        if vector and _is_region(query, fault, condition):
            return f"where {query.text(condition)}"
    if fault.choice is not None:
        condition = fault.choice.args[0]
        off = condition if fault.branch == 2 else negated(condition)
        if not vector or _is_region(query, fault, off):
            return f"where {query.text(off)}"
    one = _single(query, fault.batch, fault.index)
    read = [s for s in topological([fault.node]) if s in one]
    if vector:
        same = np.logical_and.reduce([fault.batch[s] == one[s] for s in read])
        (_, bad), (y,) = fault.everywhere[0], query.points.evaluate([query.scalar], fault.batch) or (np.nan,)
        read = read if np.all(bad[same & np.isfinite(y)]) else list(one)
    rest = " and some values of the rest" if not vector and len(read) < len(one) else ""
    return f"at {point_text({s.name: one[s] for s in read})}{rest}"


def _branches(values: Sequence[Node]) -> Iterator[Node]:
    """Yield the conditions under which bounded values are a bound."""
    for n in values:
        if n.op.name in ("maximum", "minimum", "clip", "relu"):
            yield from (OPS[op](n.args[0], b) for b in n.args[1:] or (as_node(0),) for op in ("lt", "gt"))


def _is_region(query: LintQuery, fault: _Fault, condition: Node) -> bool:
    """Tell whether the gradient is NaN just where a condition holds for an entry, of points where there is a value."""
    for batch, bad in fault.everywhere:
        found = query.points.evaluate([condition, query.scalar], batch)
        if found is None:
            continue
        holds, y = np.asarray(found[0]), np.isfinite(np.asarray(found[1], dtype=float))
        holds = np.broadcast_to((holds if query.points.vector else np.any(holds)) & y, bad.shape)
        own = fault.bad if batch is fault.batch else holds
        if np.any(holds & ~bad) or np.any(own & ~holds):
            return False
    return True


# --------------------------------------------------------------------------------------------------------- repairs

_Candidate: TypeAlias = "tuple[Node, Node, str | None]"
"""A value, its replacement, and a description."""


def _repaired(
    query: LintQuery, fault: _Fault, candidates: Iterator[_Candidate]
) -> tuple[Node | None, str | None, Verdict | None]:
    """Return the first candidate that is equal and makes no NaN at the faulty point; its description and verdict."""
    here = {s: v[fault.index : fault.index + 1] if query.points.vector else v for s, v in fault.batch.items()}
    framework = fault.frameworks[0]
    before = _origins(query, query.scalar, here, framework)
    end = now() + _SHARE / 2 * query.remaining
    for old, new, cure in candidates:
        if is_late(end, _REPAIR):
            break
        (repaired,) = substitute([query.y], {old: new})
        number = query.as_number(repaired)
        after = _origins(query, number, here, framework)
        if before is None or after is None or (after and after >= before):
            continue
        verdict = query.same_but_for(old, new, _SECONDS)
        if verdict is None:
            return repaired, cure, None
        values = verdict if verdict.of_values is None else verdict.of_values
        if values.status in ("proved", "supported"):
            if verdict.status == "refuted":
                verdict = replace(values, why=f"the values: {values.why}; the gradient is 0 where it was NaN")
            return repaired, cure, verdict
    return None, None, None


def _origins(query: LintQuery, y: Node, here: Batch, framework: str) -> int | None:
    """Return how many equations make a NaN at a point; 0 if no gradient is NaN."""
    run = backward(y, query.wrt, query.points, here, framework)
    if run is None:
        return None
    return len(run.origins) if run.bad[0] else 0


def _doubled(query: LintQuery, fault: _Fault) -> Iterator[_Candidate]:
    """Yield values with a second `where` inside the branch, around a compared value or an argument of the equation."""
    where = fault.choice
    assert where is not None
    condition, branch = where.args[0], where.args[fault.branch]
    below = set(topological([branch]))
    compared = [a for a in real_variables(condition.args) if a in below]
    for inner in dict.fromkeys([*compared, *real_variables(fault.node.args)]):
        if broadcast_shapes((condition.shape, inner.shape)) != inner.shape:
            continue
        for safe in _SAFE:
            pair = (inner, as_node(safe)) if fault.branch == 1 else (as_node(safe), inner)
            guard = OPS["where"](condition, *pair)
            (made,) = substitute([branch], {inner: guard})
            args = list(where.args)
            args[fault.branch] = made
            whole = apply(where.op, tuple(args), where.params)
            yield where, whole, query.code_text("write {}", whole, common=inner)


def _guarded(query: LintQuery, fault: _Fault) -> Iterator[_Candidate]:
    """Yield values with one choice around the equation, and another around an argument."""
    n = fault.node
    if n.op.name == "pow":
        x, y = n.args
        both = OPS["and_"](*(OPS["eq"](a, as_node(0)) for a in n.args))
        safe = OPS["pow"](OPS["where"](both, as_node(1), x), y)
        whole = full(as_node(1), n.shape) if y.is_number(0) else safe
        if whole.shape == n.shape:
            yield n, whole, query.code_text("write {} for {}", whole, n)
    for inner, safe in product(real_variables(n.args), _SAFE):
        if n.op.pointwise:
            known = Conditions()
            sign = "gt" if n.op.name in ("sqrt", "pow") or known.nonnegative(inner) == "yes" else "ne"
            condition = OPS[sign](inner, as_node(0))
            inside = condition
        elif n.op.name == "norm":
            (axes,) = n.params
            condition, inside = (OPS["gt"](m, as_node(0)) for m in (n, expand(n, axes) if n.shape else n))
        else:
            return
        if broadcast_shapes((inside.shape, inner.shape)) != inner.shape:
            continue
        args = tuple(OPS["where"](inside, a, as_node(safe)) if a is inner else a for a in n.args)
        whole = OPS["where"](condition, apply(n.op, args, n.params), as_node(0))
        yield n, whole, query.code_text("write {} for {}", whole, n, common=inner)
