"""Raise an error for derivatives with respect to parameters of distributions, and suggest the reparametrised form.

A draw is an input, so no formula of the draw contains its derivative with respect to a parameter of its distribution.
The location-scale form ``z = mu + s*eps`` with a standard draw ``eps`` has this derivative. A discrete draw has no such
form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.printer import ONE_LINE, short_text
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import is_exact
from symgrad.ops.random.laws import standard_form
from symgrad.support.errors import Cure, RandomParameterError
from symgrad.support.source import Location
from symgrad.support.traversal import walk

_PARAMETER_CHARACTERS = 60
"""The most characters of a parameter's formula in a message, which is half a line."""


def refuse_distribution_params(
    outputs: Sequence[Node],
    wrt: Sequence[Node],
    stopped: Collection[Node] = (),
    names: Mapping[Node, str] = {},
    locate: Callable[[Node], Location | None] = lambda _: None,
) -> None:
    """Raise an error if outputs read a draw, outside of stop_gradient, whose parameters depend on a variable.

    Args:
        outputs: the nodes to differentiate.
        wrt: the variables.
        stopped: nodes that count as constants.
        names: the names of nodes in messages.
        locate: a function that returns the place of a node in the user's text, for messages.

    Raises:
        RandomParameterError: with the draw, the parameter, and a form that has the derivative.
    """
    if not any(s.declaration.formulas for s in symbols_of(outputs)):
        return
    for w in wrt:
        ends = {w, *stopped}
        for draw in _active_nodes(outputs, ends):
            if draw.op is SYMBOL and draw not in ends:
                for formula in draw.declaration.formulas:
                    if w in _active_nodes([formula], ends):
                        raise _refusal(outputs, draw, formula, w, names, locate(draw))


def _active_nodes(outputs: Iterable[Node], ends: Collection[Node]) -> Iterator[Node]:
    """Yield the nodes that outputs depend on, except through stop_gradient or through the ends."""
    return walk(outputs, lambda n: () if n in ends or "stops" in n.op.facts else n.args)


def _refusal(
    outputs: Sequence[Node],
    draw: Node,
    formula: Node,
    wrt: Node,
    names: Mapping[Node, str],
    at: Location | None,
) -> RandomParameterError:
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
        at=at,
        expected=f"random inputs whose distributions do not depend on '{by}'",
        cure=_cure(outputs, draw, wrt, names, by, law),
    )


def _cure(
    outputs: Sequence[Node], draw: Node, wrt: Node, names: Mapping[Node, str], by: str, law: str
) -> str:
    taken = {s.name for s in symbols_of(outputs)} | set(names.values())
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


def _shown(node: Node, names: Mapping[Node, str], longest: int = _PARAMETER_CHARACTERS) -> str | None:
    return short_text(node, names, longest)
