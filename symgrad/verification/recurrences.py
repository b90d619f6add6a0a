"""Decide claims about recurrences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import now
from symgrad.checker.induction.ties import AT_A_STEP
from symgrad.ir.graph import Node, as_node
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.size_substitution import resized
from symgrad.ir.sizes import Size, names_of
from symgrad.ir.traverse import topological
from symgrad.support.errors import UsageError
from symgrad.verification.decide import decide, derivative_is
from symgrad.verification.decide import equal as statement
from symgrad.verification.verdict import Verdict


def decide_recurrences(
    a: Node, b: Node, seconds: float, sizes: Mapping[str, Size] | None = None, wrt: Node | None = None
) -> Verdict:
    """Decide whether two formulas with recurrences are equal.

    Args:
        a: one side, or a scalar to differentiate.
        b: the other side, or the claimed derivative.
        seconds: the time limit.
        sizes: replacements of named sizes.
        wrt: the symbol by which the first side is differentiated.
    """
    end = now() + seconds
    slope = None if wrt is None else pull_back([a], [as_node(1)], [wrt]).gradients[0]
    a, b, *slopes = resized([x for x in (a, b, wrt, slope) if x is not None], sizes or {})
    if slopes:
        found = _explained(_own_derivative(a, b, slopes[0], seconds / 2), [a, b])
        if found.status in ("proved", "refuted"):
            return found
        a = slopes[1]
        other = _explained(decide(statement(a, b), end - now(), simple=True), [a, b])
        other = replace(other, note="compared with the derivative that symgrad computes")
        return other if other.status in ("proved", "refuted") or found.status == "undecided" else found
    return _explained(decide(statement(a, b), end - now(), simple=True), [a, b])


def _own_derivative(value: Node, claim: Node, wrt: Node, seconds: float) -> Verdict:
    """Decide a claim about a derivative, with the checker's own derivatives of the steps."""
    try:
        return decide(derivative_is(value, wrt, claim), seconds, simple=True)
    except UsageError as why:  # an op without a rule of the checker
        return Verdict("undecided", why.what)


def _explained(found: Verdict, sides: Sequence[Node]) -> Verdict:
    """Return a verdict that says how it was found: by induction, or for how many steps."""
    if found.status == "proved":
        assert found.proof is not None
        if "induction" not in found.proof.data:
            written = "entries" in found.proof.data
            return replace(found, why="entry by entry, for this number of steps") if written else found
        why = "by induction on the steps: the first values, one step, and what reads the values agree"
        if found.proof.data["induction"].get("closed"):
            why = "by induction on the steps, with closed forms of values: the first one, and one step"
        if found.proof.data["induction"].get("pairs"):
            why = "by summation by parts over the steps, with the checker's own derivatives of a step"
        left_out = ["a step has no value" if e.endswith(AT_A_STEP) else e for e in found.excluded]
        return replace(found, why=why, left_out=tuple(dict.fromkeys(left_out)) or found.left_out)
    lengths = _lengths(found, names_of(*(n.params[0] for n in topological(sides) if is_recurrence(n))))
    if found.status == "refuted" and lengths:
        return replace(found, why=f"the two sides differ for {lengths}")
    return found


def _lengths(verdict: Verdict, names: Sequence[str]) -> str:
    """Return the numbers of steps at a witness."""
    if verdict.proof is None or verdict.witness is None:
        return ""
    sizes = verdict.proof.data["witness"]["sizes"]
    return ", ".join(f"{n} = {sizes[n]}" for n in names if n in sizes)
