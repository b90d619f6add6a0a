"""Equality of programs that hold values back from differentiation: of the values, and of the gradients."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgrad.errors import UsageError
from symgrad.ir.graph import Node, as_node
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ops.scalar.arith import add, neg
from symgrad.proof.check import FORMAT
from symgrad.verdicts.complex_domain import decide_complex
from symgrad.verdicts.decide import decide, equal, same_gradient
from symgrad.verdicts.verdict import Proof, Status, Verdict, by_text, derivatives_text, names_text

__all__ = ["decide_both", "moved_inputs", "together"]

_VALUES = 0.5  # the part of the time that the question about values may take


def moved_inputs(a: Node, b: Node) -> list[Node]:
    """Return the inputs by which gradients may differ although values do not; none if nothing is held back.

    What is random is data, and nobody differentiates by it.
    """
    if "real" not in (a.dtype, b.dtype):
        return []
    if not any("stops" in n.op.facts for n in topological([a, b])):
        return []
    return [s for s in symbols_of([a, b]) if s.dtype == "real" and s.declaration.distribution is None]


def decide_both(
    a: Node,
    b: Node,
    inputs: Sequence[Node],
    sizes: Mapping[str, Size] | None,
    complexes: Sequence[str] | None,
    time_limit: float,
) -> Verdict:
    """Decide whether two sides have equal values, and equal gradients by each of some inputs.

    Args:
        a: one side.
        b: the other, of the same shape.
        inputs: symbols.
        sizes: what is written instead of names of sizes.
        complexes: the variables that are complex; None if the numbers are real.
        time_limit: seconds for all together.
    """
    begun = time.monotonic()
    if complexes is None:
        values = decide(equal(a, b, sizes), _VALUES * time_limit)
    else:
        values = decide_complex(a, b, complexes, _VALUES * time_limit)
    gradients: dict[str, Verdict] = {}
    for done, x in enumerate(inputs):
        left = begun + time_limit - time.monotonic()
        share = max(left, 0.01 * time_limit) / (len(inputs) - done)
        gradients[x.name] = _by(a, b, x, sizes, complexes, share)
    return replace(together(values, gradients), seconds=time.monotonic() - begun)


def _by(
    a: Node,
    b: Node,
    x: Node,
    sizes: Mapping[str, Size] | None,
    complexes: Sequence[str] | None,
    seconds: float,
) -> Verdict:
    try:
        if complexes is None:
            found = decide(same_gradient(a, b, x, sizes), seconds)
            words = found.why.replace("the two sides", "the two gradients")
            return replace(found, why=words.replace("both sides", "both gradients"))
        found = decide_complex(add(a, neg(b)), as_node(0), complexes, seconds, wrt=x)
    except UsageError as error:  # of a function that has no derivative
        return Verdict("undecided", error.what)
    if found.values is None:
        return found
    why = "the derivative of the difference of the two sides is not 0"
    return replace(found, why=why, values=(f"a difference of {found.values[0]}", found.values[1]))


def together(
    values: Verdict,
    gradients: Mapping[str, Verdict],
    higher: Mapping[tuple[str, ...], Verdict] | None = None,
    whole: Verdict | None = None,
) -> Verdict:
    """Return all answers as one: it is proved if all are, or if it is of all orders; and refuted if one is.

    Args:
        values: of the values.
        gradients: of the gradients by each input, by its name.
        higher: of higher derivatives, by the names of what they are by.
        whole: of the sides as functions of inputs and frozen copies, if that decides all orders.
    """
    higher = higher or {}
    parts = [values, *gradients.values(), *higher.values()]
    status = _weakest([p.status for p in parts])
    deciding = next(p for p in parts if p.status == status)
    refuted = status == "refuted"
    sentence = _sentence(values, gradients, higher)
    if whole is not None and not refuted:
        status, parts = "proved", [whole]
        sentence = "the values and the derivatives of every order are equal"
    return Verdict(
        status,
        sentence,
        regions=deciding.regions if refuted else (),
        witness=deciding.witness if refuted else None,
        values=deciding.values if refuted else None,
        index=deciding.index if refuted else (),
        excluded=() if refuted else tuple(dict.fromkeys(c for p in parts for c in p.excluded)),
        points=min(p.points for p in parts),
        digits=min((p.digits for p in parts if p.digits is not None), default=None),
        proof=deciding.proof if refuted else _all_proofs(parts) if status == "proved" else None,
        of_values=values,
        of_gradients=dict(gradients),
        of_higher=dict(higher),
        of_all_orders=whole,
    )


def _weakest(statuses: Sequence[Status]) -> Status:
    return min(statuses, key=_ORDER.index)


def _all_proofs(parts: Sequence[Verdict]) -> Proof:
    proofs = [dict(p.proof.data) for p in parts if p.proof is not None]
    return Proof({"format": FORMAT, "status": "proved", "kind": "several", "proofs": proofs})


_ORDER: tuple[Status, ...] = ("refuted", "undecided", "supported", "proved")
_WORDS: Mapping[str, str] = {
    "proved": "are equal",
    "refuted": "differ",
    "supported": "agree at all points that were tried",
    "undecided": "are not decided",
}


def _sentence(
    values: Verdict, gradients: Mapping[str, Verdict], higher: Mapping[tuple[str, ...], Verdict]
) -> str:
    """What is known of the values, and then of the derivatives of each order, those that differ first."""
    told: list[tuple[str, Status]] = [("the values", values.status)]
    by_order: dict[int, dict[Status, list[str]]] = {}
    for names, v in [*(((n,), v) for n, v in gradients.items()), *higher.items()]:
        by_order.setdefault(len(names), {}).setdefault(v.status, []).append(by_text(names))
    for order, by in by_order.items():
        what = f"the {derivatives_text(order)}"
        if len(by) == 1 and "refuted" not in by:
            told.append((what, next(iter(by))))
            continue
        differing: list[Status] = [s for s in _ORDER if s in by]
        for k, status in enumerate(differing):
            told.append(
                (f"{what if k == 0 else 'those'} by {names_text([*dict.fromkeys(by[status])])}", status)
            )
    groups: list[tuple[list[str], Status]] = []
    for what, status in told:
        if groups and groups[-1][1] == status and "those" not in what:
            groups[-1][0].append(what)
        else:
            groups.append(([what], status))
    text = ""
    for k, (what, status) in enumerate(groups):
        joint = ", but " if status == "refuted" and groups[k - 1][1] == "proved" else ", "
        text += f"{joint if k else ''}{names_text(what)} {_WORDS[status]}"
    return text
