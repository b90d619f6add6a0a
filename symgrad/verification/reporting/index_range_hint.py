"""Try whether a claim that fails for labels out of range holds if labels are declared to be in range.

A negative subscript counts from the end, but for `one_hot` it does not; beyond the axis a row of `one_hot` has no 1. A
claim that assumes labels in 0..k-1 is refuted by other labels, although only the declaration is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.sizes import Extent, Shape, Size, evaluate_size, size_product, size_sum
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Domain
from symgrad.ops.numpy.lengths import as_size
from symgrad.pretty.forms.positions import starts_at
from symgrad.rewrite.facts.integer_ranges import is_position
from symgrad.support.errors import ShapeError
from symgrad.verification.diagnosis import Diagnoses, Diagnosis
from symgrad.verification.points.values import THROUGH
from symgrad.verification.verdict import Verdict, names_text


@dataclass(frozen=True, slots=True)
class _Use:
    """A symbol used as a position of an axis.

    Args:
        symbol: the symbol.
        domain: the values for which all positions are inside the axis, counted from its beginning.
        ones: whether `one_hot` reads it, rather than a subscript.
    """

    symbol: Node
    domain: Domain
    ones: bool


def with_declared_labels(
    verdict: Verdict,
    sides: Sequence[Node],
    decide: Callable[[Sequence[Node], float], Verdict],
    left: float,
) -> Verdict:
    """Add a hint to a verdict if the claim holds once the labels are declared to be in range.

    Try this if labels out of range refute the claim, or if the claim is supported without a proof.

    Args:
        verdict: the verdict on the claim.
        sides: the parts of the claim.
        decide: a function that decides a claim with such sides within a number of seconds.
        left: how many seconds are left.
    """
    refuted = verdict.status == "refuted"
    if verdict.witness is None if refuted else verdict.status != "supported":
        return verdict
    uses = list(_uses(sides))
    domains: dict[Node, set[Domain]] = {}
    for use in uses:
        domains.setdefault(use.symbol, set()).add(use.domain)
    found = {s: next(iter(own)) for s, own in domains.items() if len(own) == 1}
    witness = verdict.witness
    outside = [s for s, domain in found.items() if witness is None or _leaves(witness, s, domain, sides)]
    if not outside or left <= 0:
        return verdict
    declared = {s: symbol(replace(s.declaration, domain=domain)) for s, domain in found.items()}
    other = decide(substitute(list(sides), declared), left)
    if other.status != "proved" and not (refuted and other.status == "supported"):
        return replace(verdict, seconds=verdict.seconds + other.seconds)
    names = [s.name for s in outside]
    rules = dict.fromkeys(
        _beyond(use) for use in sorted(uses, key=lambda use: use.ones) if use.symbol in outside
    )
    declarations = names_text([str(declared[s].declaration) for s in outside])
    are = ("is" if len(names) == 1 else "are") if refuted else "may be"
    hint = (
        f"{names_text(names)} {are} out of range{' there' * refuted}: {', and '.join(rules)}; "
        f"with {declarations} declared the claim is {other.status}"
    )
    found = Diagnoses([Diagnosis("label-out-of-range", hint)])
    return replace(verdict, diagnoses=found, seconds=verdict.seconds + other.seconds)


def _beyond(use: _Use) -> str:
    """Describe the effect of a label out of range."""
    if use.ones:
        return "a row of one_hot has no 1"
    low = starts_at(use.symbol)
    if low is None:
        return "below 0 a subscript counts from the end"
    reads = f"; labels that count from {low} are read as {use.symbol.name} - {low}" if low else ""
    return f"the last position is {use.domain.high}{reads}"


def _uses(sides: Sequence[Node]) -> Iterator[_Use]:
    for node in topological(list(sides)):
        name = node.op.name
        if name in ("gather", "scatter_add"):
            axes = cast("tuple[int, ...]", node.params[0])
            shape = node.args[0].shape if name == "gather" else cast("Shape", node.params[1])
            pairs = [(index, shape[axis]) for index, axis in zip(node.args[1:], axes, strict=True)]
        elif name == "one_hot":
            pairs = [(node.args[0], cast("Size", node.params[0]))]
        else:
            continue
        for index, size in pairs:
            counted = _counted(index)
            if counted is not None and not is_position(index, size):
                label, offset = counted
                low, high = size_product([-1, offset]), size_sum([size, -1, size_product([-1, offset])])
                yield _Use(label, Domain("int", "int", low, high, closed=True), name == "one_hot")


def _counted(index: Node) -> tuple[Node, Size] | None:
    """Match an index that is an input plus an offset: t - 1."""
    offset: Size = 0
    while index.args:
        if index.op.name in THROUGH:
            index = index.args[0]
            continue
        if index.op.name != "add":
            return None
        first, second = index.args
        for one, rest in ((first, second), (second, first)):
            size = as_size(one)
            if size is not None:
                offset, index = size_sum([offset, size]), rest
                break
        else:
            return None
    is_input = index.op is SYMBOL and index.dtype == "int" and index.declaration.distribution is None
    return (index, offset) if is_input else None


def _leaves(witness: Mapping[str, Any], s: Node, domain: Domain, sides: Sequence[Node]) -> bool:
    """Tell whether a witness has values outside a domain."""
    sizes = {name: n for name, n in witness.items() if isinstance(n, int)}
    for other in topological(list(sides)):
        if other.op is SYMBOL and other.shape and other.name in witness:
            lengths = np.shape(np.array(witness[other.name], dtype=object))
            sizes |= {n: int(k) for n, k in zip(other.shape, lengths, strict=False) if isinstance(n, str)}
    try:
        low, high = (
            evaluate_size(end, sizes) if isinstance(end, str | Extent) else end
            for end in (domain.low, domain.high)
        )
    except ShapeError:
        return False
    values = cast("list[Fraction]", np.array(witness.get(s.name, []), dtype=object).ravel().tolist())
    return any(not (cast("int", low) <= v <= cast("int", high)) for v in values)
