"""Check the variables of a search, and whether values lie in their domains."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.api.derivatives.distribution_check import differentiation_targets
from symgrad.api.handles.expr import Expr
from symgrad.ir.exact import float_of
from symgrad.ir.graph import SYMBOL
from symgrad.ir.types import Domain
from symgrad.support.errors import UnsupportedError, UsageError


def variables_of(loss: Expr, over: Any, verb: str = "minimise over", option: str = "over") -> list[Expr]:
    """Return the variables of a search among the inputs of a loss.

    Args:
        loss: the loss.
        over: Exprs or names, one or several.
        verb: the verb of messages.
        option: the name of the argument in messages.

    Raises:
        NotInProgramError: if a variable is not in the program of the loss.
        UsageError: if there are no variables, a variable occurs twice, or a variable is not a real input.
        UnsupportedError: if a variable is declared symmetric.
    """
    found = differentiation_targets(loss, over)
    if not found:
        raise UsageError(f"there is nothing to {verb}", expected="at least one input", cure=f'{option}=["w"]')
    for e in found:
        if e.node.op is not SYMBOL or e.dtype != "real":
            raise UsageError(
                f"cannot {verb} '{e}'",
                expected="real inputs of the loss",
                cure="name an input; an intermediate value follows from the inputs",
            )
        if e.node.declaration.symmetric:
            raise UnsupportedError(
                f"cannot {verb} '{e}', which is declared symmetric: its entries are no independent variables",
                cure=f"declare another matrix B without it, write (B + B.T)/2 for {e}, and {verb} B",
            )
    if len({e.node for e in found}) != len(found):
        raise UsageError(f"{option} names one input twice", expected="every input once")
    return found


def has_end(domain: Domain) -> bool:
    """Tell whether a domain has an end."""
    return domain.low is not None or domain.high is not None


def all_in_domain(domain: Domain, value: Any) -> bool:
    """Tell whether all numbers of an array lie in a domain."""
    return bool(np.all(in_domain(domain, value)))


def in_domain(domain: Domain, value: Any) -> Any:
    """Return a mask of the numbers of an array that lie in a domain."""
    value = np.asarray(value)
    ends = domain.span
    low = -np.inf if ends[0] is None else float_of(ends[0])
    high = np.inf if ends[1] is None else float_of(ends[1])
    return (value >= low) & (value <= high) if domain.closed else (value > low) & (value < high)
