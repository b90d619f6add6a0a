"""Something one differentiates by that receives nothing: disconnected, stopped, zero and whole numbers told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symgrad.backward.trace import Nothing
from symgrad.ir.graph import Node
from symgrad.reasons.derivation import ends_of, why_nothing
from symgrad.stops.checks.asked import LintQuestion, Sighting

__all__ = ["disconnected", "stopped", "unused", "whole", "zero"]


def _kind(
    kind: Nothing, message: Callable[[str, str], str], cure: str | None
) -> Callable[[LintQuestion], Iterator[Sighting]]:
    def find(asked: LintQuestion) -> Iterator[Sighting]:
        if not asked.named:
            return  # an input that nobody named may be data
        trace, y = asked.trace, asked.text(asked.y)
        for i, (w, nothing) in enumerate(zip(asked.wrt, trace.nothing, strict=True)):
            if nothing is not kind or (kind is Nothing.DISCONNECTED and w in asked.variables):
                continue
            ends: list[Node] = ends_of(trace, i)
            reason = why_nothing(trace, i, asked.naming) or ""
            yield Sighting(
                ends[0] if ends else w, message(y, asked.text(w)), reason, cure=cure, also=tuple(ends)
            )

    return find


disconnected = _kind(
    Nothing.DISCONNECTED,
    lambda y, x: f"the gradient of {y} by {x} is zero: they are not connected",
    "differentiate by what the value reads, or read it where it was meant to be read",
)
stopped = _kind(
    Nothing.STOPPED,
    lambda y, x: f"the gradient of {y} by {x} is zero: every path is stopped",
    "take the stop_gradient away that was not meant for it",
)
zero = _kind(
    Nothing.ZERO,
    lambda y, x: f"the gradient of {y} by {x} is zero: the derivative of a step is",
    "sg.with_gradient(forward=f, backward_of=g) gives steps a gradient",
)
whole = _kind(
    Nothing.NO_TANGENT, lambda y, x: f"there is no gradient of {y} by {x}", "declare it real, or leave it out"
)


def unused(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield the variables that the program does not read."""
    read = set(asked.order)
    used = [asked.text(v) for v in asked.variables if v in read]
    for v in asked.variables:
        if v not in read:
            yield Sighting(
                v,
                f"{asked.text(asked.y)} does not depend on the variable {asked.text(v)}",
                "an optimiser never moves it, but for weight decay",
                cure=f"leave it out: variables={used}",
            )
