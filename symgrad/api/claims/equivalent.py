"""`equivalent`: decide whether two programs have equal values and derivatives, with their stop_gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from symgrad.api.claims.domains import redeclare
from symgrad.api.claims.verify import decide_equality, sides_of, validate_seconds
from symgrad.api.derivatives.distribution_check import refuse_distribution_params
from symgrad.api.derivatives.targets import Wrt, Wrts, as_list
from symgrad.api.handles.equation_sides import SideLike
from symgrad.api.handles.expr import Expr, handle
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.traverse import symbols_of
from symgrad.ops.user_ops import opaque_in
from symgrad.support.errors import (
    Cure,
    NotDifferentiableError,
    NotInProgramError,
    UnsupportedError,
    UsageError,
    name_one,
)
from symgrad.support.progress import reports_progress

if TYPE_CHECKING:
    from symgrad.verification.verdict import Verdict


@reports_progress("verdicts", "deciding whether they are equivalent")
def equivalent(
    p: SideLike,
    q: SideLike,
    wrt: Wrt | Wrts | None = None,
    order: int | Literal["all"] = 1,
    domain: Mapping[str, str] | str | None = None,
    time_limit: float = 10,
) -> Verdict:
    r"""Decide whether two programs have equal values and equal derivatives, with the stop_gradients of each.

    Args:
        p: an Expr, or text; names that neither program declares are real.
        q: an Expr or text as for p, of the same shape.
        wrt: the inputs to differentiate with respect to, or their names; by default all real inputs that are not
            random.
        order: the highest order of derivatives that are compared; ``"all"`` for every order.
        domain: as for `equal`, but only real domains.
        time_limit: seconds.

    Returns:
        A `Verdict`: read its ``status``. ``of_values``, ``of_gradients`` and ``of_higher`` have the separate answers.
        ``proved`` for all orders means that the programs are equal as functions of their inputs and of frozen copies of
        the inputs; ``of_all_orders`` has the answer to this question. If they are not equal in this sense, orders up to
        the fourth are compared.

    Raises:
        UsageError, ShapeError: if the arguments are not two formulas of the same shape, or for an invalid order.
        NotInProgramError: for a variable that neither program reads.
        UnsupportedError: for complex numbers, and for ops without a definition.

    Example:
        >>> import symgrad as sg
        >>> sg.equivalent("stop_gradient(stop_gradient(x)*y)", "stop_gradient(x*y)", order="all").status
        'proved'
        >>> print(sg.equivalent("stop_gradient(p*h - p*m) + p*m", "stop_gradient(p*h)", "m"))  # doctest: +ELLIPSIS
        refuted: the values are equal, but the gradients by m differ
          values: proved
          gradients by m: refuted
            at ...
        >>> v = sg.equivalent("exp(a - stop_gradient(a))", "1 + a - stop_gradient(a)", order=2)
        >>> v.status, v.of_gradients["a"].status, v.of_higher["a", "a"].status
        ('refuted', 'proved', 'refuted')
    """
    from symgrad.verification.gradients.orders import decide_all_orders, decide_orders  # for start-up time

    if order != "all" and (isinstance(order, bool) or not isinstance(order, int) or order < 1):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(f"order is {order!r}", expected="a positive integer, or 'all'")
    seconds = validate_seconds(time_limit)
    found = sides_of(p, q)
    if not isinstance(found, tuple):
        return found
    nodes, sizes = found
    (first, second), complexes = redeclare(nodes, domain, sizes)
    if complexes is not None:
        raise UnsupportedError(
            "for complex numbers only values and gradients are compared",
            cure=Cure("sg.equal(p, q, domain=...)", command="symgrad equal P Q --domain complex"),
        )
    opaque = opaque_in([first, second])
    if opaque:
        raise UnsupportedError(
            f"'{opaque[0].op.name}' is known by values alone, so derivatives are not compared",
            cure="register it with a definition",
        )
    names = _names([first, second], wrt)
    moving = [s for s in symbols_of([first, second]) if s.name in names]
    refuse_distribution_params([handle(first), handle(second)], moving)

    def decide(sides: Sequence[Node], limit: float) -> Verdict:
        inputs = [s for s in symbols_of(sides) if s.name in names]
        if order == "all":
            return decide_all_orders(sides[0], sides[1], inputs, sizes, limit)
        return decide_orders(sides[0], sides[1], inputs, order, sizes, limit)

    return decide_equality((p, q), (first, second), sizes, decide, seconds)


def _names(sides: Sequence[Node], wrt: Any) -> list[str]:
    """Return the names of the variables of differentiation."""
    if any(s.dtype == "bool" for s in sides):
        raise NotDifferentiableError(
            "these are truth values",
            cure=Cure("sg.equal compares them", command="symgrad equal compares them"),
        )
    symbols = {s.name: s for s in symbols_of(sides)}
    real = {n: s for n, s in symbols.items() if s.dtype == "real" and s.declaration.distribution is None}
    if wrt is None:
        if not real:
            raise UsageError(
                "there is no real input to differentiate with respect to",
                cure=Cure("sg.equal compares values", command="symgrad equal compares values"),
            )
        return list(real)
    found: list[str] = []
    for w in as_list(wrt):
        if isinstance(w, Expr) and w.node.op is not SYMBOL:
            raise UsageError(
                f"'{w}' is an intermediate value, which two programs need not share",
                expected="an input of both",
                cure="declare it as an input in both programs",
            )
        name = str(w.name) if isinstance(w, Expr) else w
        if name not in symbols:
            raise NotInProgramError(
                f"neither side reads '{name}'", expected=one_of(real), cure=suggest(str(name), real)
            )
        if symbols[name].dtype != "real":
            raise UsageError(
                f"'{name}' takes no real values: there is no derivative with respect to it",
                cure="leave it out",
            )
        found.append(name)
    if not found:
        raise UsageError(
            "there is nothing to differentiate with respect to",
            cure=name_one("wrt", "x"),
        )
    return found
