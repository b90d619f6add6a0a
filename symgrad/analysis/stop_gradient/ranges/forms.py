"""Repairs of values that floats lose: equal forms that are right at the points of loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.analysis.stop_gradient.checks.context import LintQuery
from symgrad.analysis.stop_gradient.checks.naive import backward
from symgrad.analysis.stop_gradient.ranges.losses import Loss, exact_values, is_above, single
from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import is_late, now
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.numpy.calls import over_axes, reduce_axes
from symgrad.pretty.simplify import simplified
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.verification.verdict import Verdict

_AROUND = 3  # how many equations above an overflow get other forms
_SHARE = 0.3  # share of the time for repairs
_SECONDS = 2.0
_REPAIR = 0.02  # seconds for a candidate
_LONG = 100  # number of equations of a value that is rewritten as a function of its inputs
_UNLIKE = 8  # number of points at which both forms are finite and differ
_CLOSE = 1e-6  # relative to the exact value, or to 1


def repaired_forms(
    query: LintQuery, losses: Sequence[Loss]
) -> tuple[Node | None, str | None, Verdict | None]:
    """Return the first equal form that is right at the points of loss, with its description and verdict."""
    end = now() + _SHARE * query.remaining
    for old, new in _forms(query, losses[0]):
        if is_late(end, _REPAIR):
            break
        (repaired,) = substitute([query.y], {old: new})
        if new.shape != old.shape or not _mends(query, repaired, losses):
            continue
        verdict = query.same_but_for(old, new, _SECONDS)
        if verdict is not None and verdict.status in ("proved", "supported"):
            return repaired, query.code_text("write {} for {}", new, old), verdict
    return None, None, None


def _forms(query: LintQuery, loss: Loss) -> Iterator[tuple[Node, Node]]:
    """Yield a value at or above the loss, and an equal form."""
    above = [n for n in query.order if is_above(n, loss.around) and n.dtype == "real"][:_AROUND]
    for n in dict.fromkeys([loss.around, *above]):
        forms = [_guarded(n)] if loss.row.limit else [*_stable(query, n, loss.first), *_shifted(n)]
        for form in dict.fromkeys(f for f in forms if f is not None and f is not n):
            yield n, form


def _stable(query: LintQuery, n: Node, first: Node) -> Iterator[Node]:
    """Yield stable, short and simple forms.

    A long value is rewritten as a function of the arguments of the step that is lost.
    """
    inputs: dict[Node, Node] = {}
    if len(topological([n])) > _LONG:
        read = [a.args[0] if a.op.name == "neg" else a for a in first.args]
        inputs = query.stand_ins([a for a in dict.fromkeys(read) if a.args and a.dtype == "real"])
    (short,) = substitute([n], inputs)
    if len(topological([short])) > _LONG:
        return
    (canon,) = canonical([short]).nodes
    forms = [*stable([short]).nodes, *stable([canon]).nodes, canon, simplified(short).node]
    yield from substitute(forms, {v: a for a, v in inputs.items()})


def _shifted(n: Node) -> Iterator[Node]:
    """Yield log-sum-exp or softmax in place of a logarithm or a quotient of a sum of exponentials."""
    if n.op.name == "log" and n.args[0].op.name == "softmax":
        yield over_axes("log_softmax", n.args[0].args[0], n.args[0].params[0])
    total = {"log": n.args[:1], "div": n.args[1:]}.get(n.op.name, ())
    while total and total[0].op.name in ("broadcast_to", "reshape"):
        total = total[0].args
    if not total or total[0].op.name != "einsum" or len(total[0].args) != 1:
        return
    (exponential,), ((axes,), kept) = total[0].args, total[0].params
    if exponential.op.name != "exp" or len(set(axes)) < len(axes) or list(kept) != sorted(kept):
        return
    summed = tuple(i for i, axis in enumerate(axes) if axis not in kept)
    if n.op.name == "log":
        yield reduce_axes("logsumexp", exponential.args[0], summed)
    elif n.args[0] is exponential:
        yield over_axes("softmax", exponential.args[0], summed)


def _guarded(n: Node) -> Node | None:
    """Return x*log(z), with the value 0 if x = z = 0; None for other products."""
    logs = [a for a in n.args if a.op.name == "log"] if n.op.name == "mul" else []
    if len(logs) != 1:
        return None
    (log,) = logs
    (x,) = (a for a in n.args if a is not log)
    x, (z,) = x.args[0] if x.op.name == "neg" else x, log.args
    zero = as_node(0)
    both = OPS["eq"](z, zero) if x is z else OPS["and_"](OPS["eq"](x, zero), OPS["eq"](z, zero))
    if both.shape != z.shape:
        return None
    safe = OPS["log"](OPS["where"](both, as_node(1), z))
    return OPS["mul"](*(safe if a is log else a for a in n.args))


def _mends(query: LintQuery, repaired: Node, losses: Sequence[Loss]) -> bool:
    """Tell whether a program is right at the points of loss and agrees with the old one elsewhere."""
    number = query.as_number(repaired)
    trace = pull_back([number], [as_node(1)], query.wrt)
    for loss in losses:
        point = loss.row.point
        values = query.points.evaluate([repaired], point)
        if values is None or not _close(values[0], loss.row.y):
            return False
        for name in loss.frameworks if not loss.row.limit else ():
            run = backward(trace, number, query.points, point, name)
            for w, exact in zip(query.trace.wrt, loss.row.gradients, strict=True):
                if run is None or (exact is not None and not _close(run.gradients[w], exact)):
                    return False
    for batch in query.points.batches:
        both = query.points.evaluate([query.y, repaired], batch)
        if both is None:
            return False
        old, new = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in both))
        with np.errstate(invalid="ignore"):  # infinite in both forms
            apart = np.isfinite(old) & ~(np.abs(new - old) <= _CLOSE * (1 + np.abs(old)))
        # Near the loss the old form has few digits, so the exact value decides.
        vector = query.points.vector
        places = np.flatnonzero(apart).tolist() if vector else [0][: int(apart.any())]
        if len(places) > _UNLIKE:
            return False
        for i in places:
            exact = exact_values([query.y], single(query, batch, i))
            if exact is None or not _close(new[i] if vector else new, exact[query.y]):
                return False
    return True


def _close(value: Any, exact: Any) -> bool:
    floats = np.ravel(np.asarray(value, dtype=float))
    entries = np.ravel(np.asarray(exact, dtype=object)).astype(float)
    return bool(np.all(np.abs(floats - entries) <= _CLOSE * (1 + np.abs(entries))))
