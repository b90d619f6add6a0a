"""Decide claims about recurrences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import now
from symgrad.ir.body import bodies_in
from symgrad.ir.graph import Node, as_node
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.size_substitution import resized
from symgrad.ir.sizes import Size, names_of
from symgrad.ir.traverse import topological
from symgrad.verification.decide import decide
from symgrad.verification.decide import equal as statement
from symgrad.verification.verdict import Verdict


def has_recurrences(nodes: Sequence[Node]) -> bool:
    """Tell whether formulas contain recurrences."""
    return any(map(is_recurrence, topological(nodes)))


def stops_in_recurrences(nodes: Sequence[Node]) -> bool:
    """Tell whether formulas with recurrences contain `stop_gradient`, also in a step."""
    inside = [n for body in bodies_in(topological(nodes)) for n in topological(body.results)]
    return has_recurrences(nodes) and any("stops" in n.op.facts for n in (*topological(nodes), *inside))


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
    a, b = resized([a, b], sizes or {})
    value = a if wrt is None else pull_back([a], [as_node(1)], [wrt]).gradients[0]
    found = decide(statement(value, b), end - now(), simple=True)
    note = None if wrt is None else "compared with the derivative that symgrad computes"
    if found.status == "proved":
        why = "by induction on the steps: the first values, one step, and what reads the values agree"
        left_out = ("a step has no value",) if found.excluded else found.left_out
        return replace(found, why=why, left_out=left_out, note=note)
    names = names_of(*(n.params[0] for n in topological([value, b]) if is_recurrence(n)))
    lengths = _lengths(found, names)
    if found.status == "refuted" and lengths:
        return replace(found, why=f"the two sides differ for {lengths}", note=note)
    return replace(found, note=note)


def _lengths(verdict: Verdict, names: Sequence[str]) -> str:
    """Return the numbers of steps at a witness."""
    if verdict.proof is None or verdict.witness is None:
        return ""
    sizes = verdict.proof.data["witness"]["sizes"]
    return ", ".join(f"{n} = {sizes[n]}" for n in names if n in sizes)
