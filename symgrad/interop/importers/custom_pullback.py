"""Custom gradients of other frameworks as expressions with a pullback."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from symgrad.api.derivatives.differentiate import stop_gradient
from symgrad.api.handles.expr import Expr, handle
from symgrad.autodiff.custom_gradients import NotLinearError, with_pullback
from symgrad.support.errors import UnsupportedError


def with_custom_pullback(value: Expr, pulled: Iterable[tuple[Expr, Any]], cotangent: Expr, what: str) -> Expr:
    """Return a value whose derivatives are those of a custom gradient.

    Args:
        value: the value of the function.
        pulled: each argument with the cotangent that arrives at it: an expression, or an array of zeros.
        cotangent: the symbol that stands for the cotangent of the value.
        what: ``"gradient"`` or ``"derivative"``, for messages.

    Raises:
        UnsupportedError: if a pullback is not certainly linear in the cotangent.
    """
    node = stop_gradient(value).node
    for argument, p in pulled:
        if not isinstance(p, Expr):
            if np.any(p):
                raise UnsupportedError(f"a {what} of its own that does not depend on the cotangent")
            continue
        try:
            node = with_pullback(node, argument.node, p.node, cotangent.node)
        except NotLinearError as error:
            part = str(handle(error.part))[:80]
            raise UnsupportedError(
                f"a {what} of its own that cannot be shown to be linear in the cotangent, in '{part}'"
            ) from None
    return handle(node)
