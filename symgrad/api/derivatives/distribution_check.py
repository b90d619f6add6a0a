"""Raise an error for derivatives with respect to parameters of distributions, and suggest the reparametrised form.

A draw is an input, so no formula of the draw contains its derivative with respect to a parameter of its distribution.
The location-scale form ``z = mu + s*eps`` with a standard draw ``eps`` has this derivative. A discrete draw has no such
form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
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
from symgrad.support.traversal import walk


def differentiation_targets(
    outputs: Expr | Sequence[Expr], wrt: Any, stopped: Collection[Node] = ()
) -> list[Expr]:
    """Return the variables of differentiation, as `targets_of` does.

    Args:
        outputs: the expressions to differentiate.
        wrt: Exprs or names, one or many.
        stopped: nodes that count as constants.

    Raises:
        NotInProgramError, UsageError: as `targets_of`.
        RandomParameterError: if an output reads a random input whose distribution depends on one of the variables.
    """
    found = targets_of(outputs, wrt)
    refuse_distribution_params(outputs, [e.node for e in found], stopped)
    return found


def refuse_distribution_params(
    outputs: Expr | Sequence[Expr], wrt: Sequence[Node], stopped: Collection[Node] = ()
) -> None:
    """Raise an error if outputs read a draw, outside of stop_gradient, whose parameters depend on a variable.

    Raises:
        RandomParameterError: with the draw, the parameter, and a form that has the derivative.
    """
    exprs = [outputs] if isinstance(outputs, Expr) else outputs
    if not any(s.declaration.formulas for s in symbols_of([e.node for e in exprs])):
        return
    for w in wrt:
        ends = {w, *stopped}
        for draw in _active_nodes([e.node for e in exprs], ends):
            if draw.op is SYMBOL and draw not in ends:
                for formula in draw.declaration.formulas:
                    if w in _active_nodes([formula], ends):
                        raise _refusal(exprs, draw, formula, w)


def _active_nodes(outputs: Iterable[Node], ends: Collection[Node]) -> Iterator[Node]:
    """Yield the nodes that outputs depend on, except through stop_gradient or through the ends."""
    return walk(outputs, lambda n: () if n in ends or "stops" in n.op.facts else n.args)


def _refusal(outputs: Sequence[Expr], draw: Node, formula: Node, wrt: Node) -> RandomParameterError:
    listings = listings_of(outputs)
    names = {n: name for listing in reversed(listings) for n, name in listing.name_of().items()}
    distribution = draw.declaration.distribution
    assert distribution is not None
    parameter = next(
        name
        for name, p in zip(distribution.family.parameters, distribution.parameters, strict=True)
        if not is_exact(p) and p is formula
    )
    by = _shown(wrt, names) or "the variable of differentiation"
    law = distribution.text({p: _shown(p, names) or "..." for p in distribution.formulas})
    return RandomParameterError(
        f"'{draw.name}' is drawn from {law}, whose {parameter} "
        f"depends on '{by}': a derivative with respect to '{by}' that holds the draw "
        "fixed would miss how the draw moves with it",
        at=next((at for listing in listings if (at := listing.location(draw)) is not None), None),
        expected=f"random inputs whose distributions do not depend on '{by}'",
        cure=_cure(outputs, draw, wrt, names, by, law),
    )


def _cure(outputs: Sequence[Expr], draw: Node, wrt: Node, names: dict[Node, str], by: str, law: str) -> str:
    taken = {s.name for s in symbols_of([e.node for e in outputs])} | set(names.values())
    name = next(n for n in ("eps", *(f"eps{k}" for k in range(2, len(taken) + 3))) if n not in taken)
    form = standard_form(draw, name)
    if form is None or any(wrt in _active_nodes([p], {wrt}) for p in form.draw.declaration.formulas):
        before = (
            f"a draw from {law} is no smooth function of a standard one; the score function differentiates its "
            "probability instead: "
        )
        after = f". stop_gradient({draw.name}) is the draw as data"
        return Cure(
            f"{before}sg.audit(y, {by!r}){after}", command=f"{before}symgrad audit SOURCE --wrt {by}{after}"
        )
    written = {p: _shown(p, names) or "..." for p in form.draw.declaration.formulas}
    value = _shown(form.value, names, ONE_LINE) or "its formula"
    return f"declare {form.draw.declaration.text(written)}, and write {draw.name} = {value}"


def _shown(node: Node, names: dict[Node, str], longest: int = PARAMETER_CHARACTERS) -> str | None:
    return short_text(node, names, longest)
