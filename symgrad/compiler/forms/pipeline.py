"""Choose the nodes that a kernel computes: for each output one of several equal forms.

Expressions that the user wrote stay as they are, with the same bits as in NumPy. For derivatives, `derivative_forms`
chooses the form. The passes that follow, from nodes to machine code, are in `symgrad/compiler/kernels/compile.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache

from symgrad.compiler.forms.choice import SMALL, cheaper, cost, evidently_fine, without_divisors
from symgrad.compiler.forms.elementwise_parts import with_digits_in_parts
from symgrad.compiler.forms.output import Arrangement, Output
from symgrad.compiler.forms.redifferentiation import rederivable, rederived
from symgrad.compiler.forms.residuals import residuals, shareable
from symgrad.compiler.forms.step_forms import with_stable_steps
from symgrad.compiler.forms.step_sums import with_step_sums
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import all_pointwise, is_elementwise, substitute, topological
from symgrad.ops.scalar.arith import div
from symgrad.support.errors import NumberTooLargeError
from symgrad.support.logs import info

_CANONICAL_UP_TO = 400
"""Derivatives with at most this many equations are rewritten; for more, rewriting would dominate compile time."""


@gc_paused()
def arrange(
    outputs: Sequence[Output],
    *,
    fast: bool = False,
    low: bool = False,
    dtype: str = "float64",
    step_sums: bool = False,
) -> Arrangement:
    """Return the nodes to compile.

    Args:
        outputs: the outputs to compute.
        fast: whether the user's expressions may change form too, if that makes the whole kernel cheaper.
        low: whether more than a few hundred equations of derivatives stay as the chain rule gives them.
        dtype: the type of floats in which they are computed: float64 or float32.
        step_sums: whether the steps of recurrences add to sums over them.

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
    own = [o.node for o in outputs if not o.derived and not o.parts]
    derived = [o for output in outputs for o in (output, *output.parts) if o.derived]
    primal = topological([*own, *(n for o in derived for n in o.origins)])
    forms = _by_node(
        derived, derivative_forms(derived, own, primal, low=low, dtype=dtype, step_sums=step_sums)
    )
    nodes = _delivered(outputs, forms)
    if not fast:
        return Arrangement(nodes, frozenset(topological(list(forms.values()))).difference(primal))
    free = _delivered(outputs, _by_node(outputs, derivative_forms(outputs, (), (), dtype=dtype)), fast=True)
    written, nodes = nodes, min(nodes, free, key=lambda form: cost(topological(form)))
    info(
        "arrange",
        "fast: what was written %s",
        "stays, it is as cheap" if nodes is written else "is rearranged, too",
    )
    return Arrangement(nodes, frozenset(topological(nodes)))


def derivative_forms(
    outputs: Sequence[Output],
    own: Sequence[Node],
    primal: Collection[Node],
    *,
    low: bool = False,
    dtype: str = "float64",
    step_sums: bool = False,
) -> Sequence[Node]:
    """Return the forms in which a kernel computes derivatives; comments give the reason for the order of the passes.

    Args:
        outputs: the derivatives.
        own: the user's expressions, which the kernel computes beside them.
        primal: the user's expressions, the differentiated expressions, and all values that these depend on; they stay
            as they are.
        low: whether more than a few hundred equations stay as the chain rule gives them.
        dtype: the type of floats in which they are computed.
        step_sums: whether the steps of recurrences add to sums over them.
    """
    from symgrad.rewrite.pipeline import (
        canonical,
        fewest_faults,
        stable,
    )  # for start-up time: values as written need no rules

    if not outputs:
        return []
    derived = [o.node for o in outputs]
    if step_sums:
        # What is added in the steps is part of the steps, whose formulas no pass below changes.
        derived = with_step_sums(derived, primal)
    derived = with_stable_steps(derived, primal)
    order = topological(derived)
    size, elementwise = len(order), all_pointwise(order)
    # It is easier to keep digits than to recover them: derivatives of a formula's stable form keep them.
    anew = cache(lambda: rederived(outputs))
    if size > _CANONICAL_UP_TO and low:
        info("arrange", "%d equations of derivatives: as the chain rule gives them (effort='low')", size)
        return derived
    if size > _CANONICAL_UP_TO:
        # This branch is linear in the size; the passes below are not.
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
    # Rewriting would change the form of values that the program computes anyway. So symbols stand for these values
    # until rewriting is done.
    stand_ins, values = residuals(own, derived)
    # Derivatives that no form could improve are not rewritten: rewriting may take ten times as long as compiling.
    if not stand_ins and evidently_fine(direct, primal):
        info(
            "arrange",
            "%d equations of derivatives: as the chain rule gives them, no form could be better",
            size,
        )
        return direct
    # A value that has lost digits is not shared if another form keeps the digits. Values without stand-ins show whether
    # another form does.
    shared, sums = shareable(stand_ins)
    # The rules find more in the form of the chain rule than in `direct`, where coefficients have moved.
    short = canonical(substitute(derived, sums), drop_stops=True).nodes
    # Only the canonical form is checked for lost digits: collecting terms may lose digits, and may also restore them.
    others = (
        lambda: substitute(derived, sums),
        lambda: canonical(substitute(anew(), sums), drop_stops=True).nodes,
        lambda: substitute(anew(), sums),
    )
    if size > SMALL and elementwise:  # too many equations for a search
        kept, faults = fewest_faults(f() for f in (lambda: short, *others))
    else:
        kept, faults = stable(short, others).nodes, 0
    lossless = kept == short and not faults
    if lossless and len(shared) > len(sums):
        # No digits are lost, so all values may be shared, not just sums.
        kept = canonical(substitute(derived, shared), drop_stops=True).nodes
    elif lossless and not shared:
        # Digits come before cost: costs are compared only if no digits are lost.
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
    found = substitute(kept, values)
    simplify = [o.simplify for o in outputs if o.simplify is not None]  # one function for all
    if not elementwise and simplify:
        found = without_divisors(found, simplify[0])
    if any(n.shape for n in order):
        found = with_digits_in_parts(found, dtype)
    from symgrad.compiler.forms.one_variable import keep_digits  # for start-up time: many programs need none

    return keep_digits(outputs, found, dtype)


def _linear_passes(derived: Sequence[Node], primal: Collection[Node]) -> Sequence[Node]:
    """Return many derivatives with fewer multiplications by constants, as far as linear time allows."""
    from symgrad.compiler.forms.coefficients import gathered  # late imports: few programs are so long
    from symgrad.compiler.forms.known_sums import regrouped
    from symgrad.compiler.forms.scales import rescaled

    with suppress(NumberTooLargeError):  # numbers that are too long stay where they are
        # Sums are recognised in the form of the program, so before any coefficient is factored out of them.
        grouped = regrouped(derived, primal)
        # With coefficients in front, products that differ only in a coefficient become one; `rescaled` needs this form.
        scaled = gathered(grouped, primal)
        # This is last, as it puts coefficients back into sums if that takes fewer operations.
        return rescaled(scaled, primal)
    return derived


def _by_node(outputs: Sequence[Output], forms: Sequence[Node]) -> dict[Node, Node]:
    return dict(zip([o.node for o in outputs], forms, strict=True))


def _delivered(outputs: Sequence[Output], forms: Mapping[Node, Node], *, fast: bool = False) -> list[Node]:
    """Return a node for each output; a derivative is real, even if all its values are integers (ones)."""
    whole = any(n.dtype == "int" for n in forms.values())
    arrays = whole and (not is_elementwise(forms.values()) or any(o.node.shape for o in outputs))
    found: list[Node] = []
    for o in outputs:
        node = forms[o.node] if fast or o.derived else substitute([o.node], forms)[0] if o.parts else o.node
        found.append(div(node, as_node(1)) if o.derived and arrays and node.dtype == "int" else node)
    return found
