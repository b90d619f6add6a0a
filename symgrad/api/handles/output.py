"""The forms in which expressions are computed: kernels, calls, stable forms and source all have them from here."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.handles.base import Handle
from symgrad.api.handles.inputs import listings_of, number_texts, ordered_symbols
from symgrad.compiler.forms.output import Arrangement, Output
from symgrad.compiler.forms.pipeline import arrange
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ops.control import stop_gradient, with_slope
from symgrad.rewrite.memo import Answers, keeping, remembered


def outputs_of(exprs: Sequence[Handle]) -> list[Output]:
    """Return expressions as outputs of a kernel: of a derivative its origin, and how it is printed."""
    slopes = [e.slope if e.derived and e.slope is not None and e.slope.by else None for e in exprs]
    return [
        Output(e.node, e.origins, e.traces, slope, _simplified, _parts_of(e))
        for e, slope in zip(exprs, slopes, strict=True)
    ]


def _parts_of(expr: Handle) -> tuple[Output, ...]:
    """Return the derivatives in a formula of the user."""
    if expr.derived or not expr.parts:
        return ()
    inside = [n for n in topological([expr.node], until=expr.parts) if n in expr.parts]
    return tuple(Output(n, (expr.parts[n].y,), (), expr.parts[n], _simplified) for n in inside)


def _simplified(node: Node) -> Node:
    from symgrad.pretty.simplify import simplified  # a late import: only formulas that lose digits need it

    return simplified(node).node


def arrange_nodes(
    exprs: Sequence[Handle],
    *,
    fast: bool = False,
    low: bool = False,
    dtype: str = "float64",
    step_sums: bool = False,
) -> Arrangement:
    """Return the forms in which expressions are computed together, each choice made once.

    Args:
        exprs: the expressions; those that are no derivatives stay as they are written.
        fast: whether formulas of the user may be rearranged like derivatives.
        low: whether long derivatives stay as the chain rule gives them.
        dtype: the type of floats in which they are computed.
        step_sums: whether the steps of recurrences add to sums over them.
    """
    no_answers: Answers = {}
    derivatives = tuple([(e.origins, e.slope, tuple(e.parts.items())) for e in exprs])
    with keeping(next((e.answers for e in exprs if e.has_derivatives), no_answers)):
        return remembered(
            [e.node for e in exprs],
            ("computed", fast, low, dtype, step_sums, derivatives),
            lambda: arrange(outputs_of(exprs), fast=fast, low=low, dtype=dtype, step_sums=step_sums),
        )


def numpy_text(exprs: Sequence[Handle], name: str, *, expand: bool, single: bool) -> str:
    """Return a NumPy function that computes expressions together, in the forms of a kernel.

    Args:
        exprs: the expressions.
        name: the name of the function.
        expand: whether values that the program names are no variables.
        single: whether the function returns its only result instead of a tuple.
    """
    from symgrad.printing.numpy.source import numpy_source  # for start-up time

    nodes = arrange_nodes(exprs).nodes
    in_names = not expand and any(e.slope is not None or e.in_names for e in exprs)
    names = value_names(exprs) if in_names else {}
    symbols, spelled = read_symbols(exprs, nodes), number_texts(exprs)
    return numpy_source(nodes[0] if single else nodes, name, names, symbols, spelled)


def read_symbols(exprs: Sequence[Handle], forms: Sequence[Node]) -> list[Node]:
    """Return the symbols that forms of expressions read, in the order of the inputs of the expressions."""
    reads = set(symbols_of(forms))
    return [s for s in ordered_symbols(exprs) if s in reads]


def source_forms(exprs: Sequence[Handle]) -> tuple[Sequence[Node] | None, dict[Node, str]]:
    """Return the forms in which a framework computes expressions, and the names of values.

    The forms are those of a kernel; None if there are stop_gradients, which the framework's derivatives need.
    """
    if not any(e.has_derivatives for e in exprs):
        return None, listed_names(exprs)
    return None if has_stops(exprs) else arrange_nodes(exprs).nodes, value_names(exprs)


def value_names(exprs: Sequence[Handle]) -> dict[Node, str]:
    """Return the names that programs give to values, and to their canonical forms, of which derivatives consist."""
    from symgrad.rewrite.pipeline import canonical  # a late import: a kernel from the disk needs no rules

    found = listed_names(exprs)
    forms = canonical(list(found), drop_stops=True).nodes
    return {form: text for form, text in zip(forms, found.values(), strict=True) if form.args} | found


def listed_names(exprs: Sequence[Handle]) -> dict[Node, str]:
    """Return the names of values in the programs of expressions; the names of the first program take precedence."""
    return {n: t for listing in reversed(listings_of(exprs)) for n, t in listing.name_of().items() if n.args}


def has_stops(exprs: Sequence[Handle]) -> bool:
    """Tell whether expressions contain ops that only matter to derivatives, which a form for values does not keep."""
    return any(n.op is stop_gradient or n.op is with_slope for n in topological([e.node for e in exprs]))
