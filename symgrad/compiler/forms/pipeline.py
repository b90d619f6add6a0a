"""From outputs to the nodes that a kernel computes: which of several equal forms of each.

What the user wrote stays as it is, with the bits of NumPy; how derivatives are arranged is the choice of symgrad, in
`derivative_forms`. The passes that follow, from nodes to machine code, are in `symgrad/compiler/kernels/compile.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache

from symgrad.compiler.forms.choice import SMALL, cheaper, cost, evidently_fine
from symgrad.compiler.forms.coefficients import gathered
from symgrad.compiler.forms.known_sums import regrouped
from symgrad.compiler.forms.output import Arrangement, Output
from symgrad.compiler.forms.redifferentiation import rederivable, rederived
from symgrad.compiler.forms.residuals import residuals, shareable
from symgrad.compiler.forms.scales import rescaled
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import all_pointwise, is_elementwise, substitute, topological
from symgrad.ops.scalar.arith import div
from symgrad.support.errors import NumberTooLargeError
from symgrad.support.logs import info

__all__ = ["arrange", "derivative_forms"]

_CANONICAL_UP_TO = 400
"""Equations up to which derivatives are rewritten: beyond, that would dominate the time to compile."""


@gc_paused()
def arrange(outputs: Sequence[Output], *, fast: bool = False) -> Arrangement:
    """Return the nodes to compile.

    Args:
        outputs: what is asked for.
        fast: whether what the user wrote may be in another form too, where all are cheaper so.

    Example:
        >>> from symgrad.autodiff.vjp import pull_back
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.scalar.elementary import exp
        >>> from symgrad.ir.notation.printer import expression_text
        >>> x = symbol(Declaration("x"))
        >>> y = exp(x)*exp(x)
        >>> trace = pull_back([y], [as_node(1)], [x])
        >>> found = arrange([Output(y), Output(trace.gradients[0], (y,), (trace,))])
        >>> [expression_text(n) for n in found.nodes]
        ['exp(x)*exp(x)', '2*exp(2*x)']
    """
    own = [o.node for o in outputs if not o.derived]
    primal = topological([*own, *(n for o in outputs for n in o.origins)])
    derived = [o for o in outputs if o.derived]
    forms = _by_node(derived, derivative_forms(derived, own, primal))
    nodes = _delivered(outputs, forms)
    if not fast:
        return Arrangement(nodes, frozenset(topological(list(forms.values()))).difference(primal))
    free = _delivered(outputs, _by_node(outputs, derivative_forms(outputs, (), ())), fast=True)
    written, nodes = nodes, min(nodes, free, key=lambda form: cost(topological(form)))
    info(
        "arrange",
        "fast: what was written %s",
        "stays, it is as cheap" if nodes is written else "is rearranged, too",
    )
    return Arrangement(nodes, frozenset(topological(nodes)))


def derivative_forms(
    outputs: Sequence[Output], own: Sequence[Node], primal: Collection[Node]
) -> Sequence[Node]:
    """Return the forms in which a kernel computes derivatives: pass by pass, with why each stands where it does.

    Args:
        outputs: the derivatives.
        own: what the user wrote and the kernel computes beside them.
        primal: that, with all that it and what was differentiated are computed from: it stays as it is.
    """
    from symgrad.rewrite.pipeline import (
        canonical,
        fewest_faults,
        stable,
    )  # for start-up time: values as written need no rules

    derived = [o.node for o in outputs]
    if not derived:
        return derived
    order = topological(derived)
    size, elementwise = len(order), all_pointwise(order)
    # Digits are kept more easily than found: a formula's stable form has derivatives that keep them.
    anew = cache(lambda: rederived(outputs))
    if size > _CANONICAL_UP_TO:
        # What is done here is linear in the size, what follows is not.
        several = elementwise and rederivable(outputs)
        chosen = fewest_faults((f() for f in (lambda: derived, anew)), alone=False)[0] if several else derived
        info(
            "arrange",
            "%d equations of derivatives: %slinear passes alone (more than %d)",
            size,
            "" if chosen == derived else "made anew of stable forms, as they lose digits; ",
            _CANONICAL_UP_TO,
        )
        return _linear_passes(chosen, primal)
    direct = _linear_passes(derived, primal) if size > SMALL else derived
    # Rewriting would say in other words what the program computes anyway: symbols stand for that until it is done.
    stand_ins, values = residuals(own, derived)
    # What no form could better is not rewritten, which may take ten times as long as to compile it.
    if not stand_ins and evidently_fine(direct, primal):
        info(
            "arrange",
            "%d equations of derivatives: as the chain rule gives them, no form could be better",
            size,
        )
        return direct
    # Values that have lost digits are not read where another form has them: that is asked of values without stand-ins.
    shared, sums = shareable(stand_ins)
    # The rules find more in what the chain rule gave than in `direct`, where numbers have moved.
    short = canonical(substitute(derived, sums), drop_stops=True).nodes
    # Only of the canonical form is asked whether it loses digits: collecting may lose them, and finds what keeps them.
    others = (
        lambda: substitute(derived, sums),
        lambda: canonical(substitute(anew(), sums), drop_stops=True).nodes,
        lambda: substitute(anew(), sums),
    )
    if size > SMALL and elementwise:  # of so many forms are not searched for
        kept, faults = fewest_faults(f() for f in (lambda: short, *others))
    else:
        kept, faults = stable(short, others).nodes, 0
    lossless = kept == short and not faults
    if lossless and len(shared) > len(sums):
        # No digits are lost, so all values may be shared, and not sums alone.
        kept = canonical(substitute(derived, shared), drop_stops=True).nodes
    elif lossless and not shared:
        # Digits come first: what is cheaper is asked where all forms keep as many.
        kept = cheaper(short, direct, primal)
    why = (
        "the canonical form loses no digits"
        if kept == short and lossless
        else "as the chain rule gives them, which is cheaper"
        if kept == direct
        else "with values that the program computes anyway"
        if lossless
        else "in stable forms, as the canonical one loses digits"
    )
    info("arrange", "%d equations of derivatives: %s", size, why)
    return substitute(kept, values)


def _linear_passes(derived: Sequence[Node], primal: Collection[Node]) -> Sequence[Node]:
    """Return many derivatives with fewer operations on numbers, as far as that is found in linear time."""
    with suppress(NumberTooLargeError):  # numbers that would be too long stay where they are
        # Sums are recognised as the program wrote them, so before any number is taken out of them.
        grouped = regrouped(derived, primal)
        # Numbers in front of products make one of what differs in a number alone, and are what scales weigh.
        scaled = gathered(grouped, primal)
        # Last of the three, as it puts numbers back into sums where that takes fewer operations.
        return rescaled(scaled, primal)
    return derived


def _by_node(outputs: Sequence[Output], forms: Sequence[Node]) -> dict[Node, Node]:
    return dict(zip([o.node for o in outputs], forms, strict=True))


def _delivered(outputs: Sequence[Output], forms: Mapping[Node, Node], *, fast: bool = False) -> list[Node]:
    """Return a node for each output: a derivative delivers real numbers, even where all of them are whole (ones)."""
    whole = any(n.dtype == "int" for n in forms.values())
    arrays = whole and (not is_elementwise(forms.values()) or any(o.node.shape for o in outputs))
    found: list[Node] = []
    for o in outputs:
        node = forms[o.node] if fast or o.derived else o.node
        found.append(div(node, as_node(1)) if o.derived and arrays and node.dtype == "int" else node)
    return found
