"""Trace gradient code into formulas, by calling it with expressions."""

from __future__ import annotations

from symgrad.api.handles.expr import Expr, as_expr
from symgrad.apps.gradcheck.gradient_code import CallResult, by_name
from symgrad.apps.gradcheck.question import CodeQuestion, reason_of


def claims_of(question: CodeQuestion) -> tuple[dict[str, Expr], str | None]:
    """Return the gradients of the code as formulas, by name; or the reason why it cannot be read."""
    inputs = question.inputs
    if question.backward.foreign is not None:
        return {}, f"it is of {question.backward.foreign}"
    try:
        returned = question.backward.call(
            list(inputs.values()),
            [list(inputs).index(n) for n in question.wrt],
            len(question.arguments.inputs),
        )
        found = by_name(returned, question.wrt, list(question.arguments.inputs))
        if isinstance(found, CallResult):
            return {}, f"TypeError: {found.says}"
        none = [n for n, v in found.items() if v is None]
        if none:
            return {}, f"it returns None by '{none[0]}'"
        claims = {n: as_expr(v) for n, v in found.items()}
    except Exception as error:  # noqa: BLE001  the user's code is run, and may raise anything
        return {}, reason_of(error)
    for name, claim in claims.items():
        wanted = question.arguments.inputs[name].shape
        if claim.shape != wanted:
            return {}, f"by '{name}' it has the shape {claim.shape}, and not {wanted}"
    return claims, None
