"""The variables of differentiation, checked against the distributions of random inputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from symgrad.api.derivatives.targets import targets_of
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.inputs import listings_of
from symgrad.autodiff import distribution_params
from symgrad.ir.graph import Node


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
    listings = listings_of(exprs)
    distribution_params.refuse_distribution_params(
        [e.node for e in exprs],
        wrt,
        stopped,
        {n: name for listing in reversed(listings) for n, name in listing.name_of().items()},
        lambda draw: next((at for listing in listings if (at := listing.location(draw)) is not None), None),
    )
