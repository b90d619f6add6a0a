"""Refuse derivatives by parameters of distributions, and show how to write them (reparametrisation).

A draw is a number like any input. What it would have been, had a parameter been another, no formula of the draw alone
says, so that a derivative at fixed draws leaves out what moves with them. Written as a function of a standard draw,
``z = mu + s*eps``, it says so; a draw of whole numbers has no such form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from symgrad.api.derivatives.targets import targets_of
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.inputs import listings_of
from symgrad.api.limits import PARAMETER_CHARACTERS
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.printer import ONE_LINE, short_text
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import is_exact
from symgrad.ops.random.laws import standard_form
from symgrad.support.errors import Cure, RandomParameterError

__all__ = ["refuse_distribution_params", "differentiation_targets"]


def differentiation_targets(
    outputs: Expr | Sequence[Expr], wrt: Any, stopped: Collection[Node] = ()
) -> list[Expr]:
    """Return what one differentiates by, as `targets_of` does.

    Args:
        outputs: what is differentiated.
        wrt: what by: Exprs or names, one or many.
        stopped: what counts as constant.

    Raises:
        NotInProgramError, UsageError: as `targets_of`.
        RandomParameterError: if an output reads a random input whose distribution depends on one of them.
    """
    found = targets_of(outputs, wrt)
    refuse_distribution_params(outputs, [e.node for e in found], stopped)
    return found


def refuse_distribution_params(
    outputs: Expr | Sequence[Expr], wrt: Sequence[Node], stopped: Collection[Node] = ()
) -> None:
    """Refuse derivatives of outputs that read a draw, outside of stop_gradient, by what its parameters depend on.

    Raises:
        RandomParameterError: with the draw, the parameter, and a form that has the derivative.
    """
    exprs = [outputs] if isinstance(outputs, Expr) else outputs
    if not any(s.declaration.formulas for s in symbols_of([e.node for e in exprs])):
        return
    for w in wrt:
        ends = {w, *stopped}
        for drawn in _active_nodes([e.node for e in exprs], ends):
            if drawn.op is SYMBOL and drawn not in ends:
                for formula in drawn.declaration.formulas:
                    if w in _active_nodes([formula], ends):
                        raise _refusal(exprs, drawn, formula, w)


def _active_nodes(outputs: Iterable[Node], ends: Collection[Node]) -> dict[Node, None]:
    """Return what outputs read outside of stop_gradient and not through some nodes, in a fixed order."""
    found: dict[Node, None] = {}
    pending = list(outputs)[::-1]
    while pending:
        node = pending.pop()
        if node in found:
            continue
        found[node] = None
        if node not in ends and "stops" not in node.op.facts:
            pending.extend(reversed(node.args))
    return found


def _refusal(outputs: Sequence[Expr], drawn: Node, formula: Node, wrt: Node) -> RandomParameterError:
    listings = listings_of(outputs)
    names = {n: name for listing in reversed(listings) for n, name in listing.name_of().items()}
    distribution = drawn.declaration.distribution
    assert distribution is not None
    parameter = next(
        name
        for name, p in zip(distribution.family.parameters, distribution.parameters, strict=True)
        if not is_exact(p) and p is formula
    )
    by = _shown(wrt, names) or "what one differentiates by"
    law = distribution.text({p: _shown(p, names) or "..." for p in distribution.formulas})
    return RandomParameterError(
        f"'{drawn.name}' is drawn from {law}, whose {parameter} "
        f"depends on '{by}': a derivative by '{by}' with the draw held would leave out what moves with it",
        at=next((at for listing in listings if (at := listing.location(drawn)) is not None), None),
        expected=f"random inputs whose distributions do not depend on '{by}'",
        cure=_cure(outputs, drawn, wrt, names, by, law),
    )


def _cure(outputs: Sequence[Expr], drawn: Node, wrt: Node, names: dict[Node, str], by: str, law: str) -> str:
    taken = {s.name for s in symbols_of([e.node for e in outputs])} | set(names.values())
    name = next(n for n in ("eps", *(f"eps{k}" for k in range(2, len(taken) + 3))) if n not in taken)
    form = standard_form(drawn, name)
    if form is None or any(wrt in _active_nodes([p], {wrt}) for p in form.draw.declaration.formulas):
        before = (
            f"a draw from {law} is no smooth function of a standard one; the score function differentiates its "
            "probability instead: "
        )
        after = f". stop_gradient({drawn.name}) is the draw as data"
        return Cure(
            f"{before}sg.audit(y, {by!r}){after}", command=f"{before}symgrad audit SOURCE --wrt {by}{after}"
        )
    written = {p: _shown(p, names) or "..." for p in form.draw.declaration.formulas}
    value = _shown(form.value, names, ONE_LINE) or "its formula"
    return f"declare {form.draw.declaration.text(written)}, and write {drawn.name} = {value}"


def _shown(node: Node, names: dict[Node, str], longest: int = PARAMETER_CHARACTERS) -> str | None:
    return short_text(node, names, longest)
