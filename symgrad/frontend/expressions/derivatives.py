"""Derivatives in programs: grad(f, x), derivative(f, x, 2, z), jacobian(f, x), hessian(f, x).

Each is computed where it is read, so later lines see through it, and the node is recorded as the derivative it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

from symgrad.frontend.limits import DERIVATIVE_ORDER
from symgrad.frontend.scope import Scope
from symgrad.frontend.tokens.terms import Argument, Term
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import substitute
from symgrad.ops.array.layout import shape_text
from symgrad.support.errors import NotDifferentiableError, NotScalarError, SymgradError, UsageError

SIGNATURES = {
    "grad": "grad(f, x)",
    "derivative": "derivative(f, x, 2, z)",
    "jacobian": "jacobian(f, x)",
    "hessian": "hessian(f, x)",
}
"""How the functions are called; `derivative` differentiates twice by x, then once by z."""


def derivative_call(name: str) -> Callable[[Scope, Sequence[Argument], int, int], Term | None]:
    """Return the reader of the calls of a function; its result is None for other arguments than those it takes."""

    def read(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
        terms = [a for a in arguments if isinstance(a, Term)]
        if len(terms) < len(arguments) or len(terms) < 2 or (name != "derivative" and len(terms) > 2):
            return None
        y, *rest = terms
        by = rest * 2 if name == "hessian" else _variables(scope, rest) if name == "derivative" else rest
        if scope.error is not None:
            return y
        wrong = _refused(scope, name, y, by, start, end)
        if wrong is not None:
            return wrong
        nodes = [b.node for b in by]
        made = scope.build(partial(_derivative, scope), [y], start, end, nodes)
        scope.record_derivative(made.node, y.node, nodes)
        return made

    return read


def _variables(scope: Scope, terms: Sequence[Term]) -> list[Term]:
    """Return the variables of `derivative`, each as often as the number after it says."""
    found: list[Term] = []
    for before, term in zip([None, *terms], terms, strict=False):
        if not term.literal:
            found.append(term)
        elif before is None or before.literal or not isinstance(term.node.value, int) or term.node.value < 1:
            scope.wrong(
                UsageError,
                "the order of a derivative is a whole number, at least 1, after its variable",
                term.start,
                term.end,
                expected=SIGNATURES["derivative"],
                cure="leave it out for the first derivative",
            )
        else:
            found += [before] * (min(term.node.value, DERIVATIVE_ORDER + 1) - 1)
    if len(found) > DERIVATIVE_ORDER:
        scope.wrong(
            UsageError,
            f"a derivative of an order above {DERIVATIVE_ORDER}",
            terms[0].start,
            terms[-1].end,
            cure="differentiate in Python, and keep only the orders that are read",
        )
    return found


def _refused(scope: Scope, name: str, y: Term, by: Sequence[Term], start: int, end: int) -> Term | None:
    """Record the error for what has no such derivative; return None if there is none."""

    def wrong(cls: type[SymgradError], what: str, at: Term, *, cure: str) -> Term:
        return scope.wrong(cls, what, at.start, at.end, cure=cure)

    whole = Term(y.node, start, end)
    y_text, *by_texts = (scope.source.text[t.start : t.end] for t in (y, *by))
    rows = reduce("jacobian({}, {})".format, by_texts, y_text)
    if y.node.dtype == "bool":
        what = f"{scope.quote(y)} is a truth value"
        return wrong(NotDifferentiableError, what, y, cure=f"write (1 if {y_text} else 0)")
    if y.node.shape and name in ("grad", "hessian"):
        what = f"{name} needs a scalar, and {scope.quote(y)} has shape {shape_text(y.node.shape)}"
        return wrong(NotScalarError, what, whole, cure=f"write {rows}")
    for b in by:
        is_entry = b.node.op is not SYMBOL and b.node not in scope.defined.values()
        if is_entry and _root(b.node) is None:
            what = f"{scope.quote(b)} is no variable of differentiation"
            cure = "give it a name on a line above, and use the name in the function, too"
            return wrong(UsageError, what, b, cure=cure)
        if is_entry and y.node.shape:
            what = "the derivative of an array by entries"
            return wrong(NotScalarError, what, b, cure=f"write {name}(f, x)[...]")
        if b.node.shape and name == "derivative" and len(by) > 1:
            what = f"a higher derivative by {scope.quote(b)}, which is an array"
            return wrong(NotScalarError, what, whole, cure=f"write {rows}")
    return None


def _derivative(scope: Scope, y: Node, by: Sequence[Node]) -> Node:
    """Return a derivative; one by entries of an input consists of these entries of the derivative by the input."""
    from symgrad.autodiff.jacobians import derivative_of  # a late import: most programs contain no derivative

    node, in_names = scope.opened(y, by)
    for x in by:
        root = None if x in scope.defined.values() else _root(x)
        taken = derivative_of(node, root or x)
        node = taken if root is None else substitute([x], {root: taken})[0]
    return in_names(node)


def _root(node: Node) -> Node | None:
    """Return the input from which a node takes entries at fixed positions, such as x of x[3] and x[1:4]; else None."""
    top = node
    while top.op.name in ("slice", "gather", "reshape") and not any(a.shape for a in top.args[1:]):
        top = top.args[0]
    return top if top is not node and top.op is SYMBOL else None
