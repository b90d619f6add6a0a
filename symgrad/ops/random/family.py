"""What a record of a family of distributions holds.

The parameters of a record's functions are nodes, in the order of `symgrad.ir.types.DISTRIBUTIONS`, which has the names
of the parameters, the condition on them, the support, and whether entries are independent: what declarations know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from symgrad.ir.graph import Node
from symgrad.ir.types import DISTRIBUTIONS
from symgrad.support.errors import InternalError

__all__ = ["FAMILIES", "Family", "Named", "register"]

# Written by arity, so that the type checker reads inside the lambdas of a record.
Formula: TypeAlias = "Callable[[Node], Node] | Callable[[Node, Node], Node]"
"""From the parameters, as nodes."""
OfValue: TypeAlias = "Callable[[Node, Node], Node] | Callable[[Node, Node, Node], Node]"
"""From a value, and the parameters."""
Draw: TypeAlias = "Callable[[Any, Any, Any], Any] | Callable[[Any, Any, Any, Any], Any]"
Named: TypeAlias = "tuple[str, tuple[Node, ...]]"
"""A distribution: its name and its parameters."""


@dataclass(frozen=True, slots=True)
class Family:
    """What is known of a family of distributions besides what declarations know.

    Args:
        name: its name in programs.
        mean, variance: of one entry; None where there is none.
        density: the density at a value, or the probability of a whole number; the value is the first argument.
        standard: the distribution of a draw from which a transformation makes one of this family, by name, with
            parameters from those of this one; None where no smooth transformation does.
        transform: makes a draw of that standard draw, its first argument.
        draw: draws with NumPy: from a ``numpy.random.Generator``, the shape, and the parameters as arrays.
    """

    name: str
    mean: Formula | None
    variance: Formula | None
    density: OfValue
    standard: Callable[[Node], Named] | Callable[[Node, Node], Named] | None
    transform: OfValue | None
    draw: Draw


FAMILIES: dict[str, Family] = {}
"""The record of each family by name."""


def register(*families: Family) -> None:
    """Add records.

    Raises:
        InternalError: for a family that declarations do not know, or one that says half of how it is reparameterised.
    """
    for family in families:
        if family.name not in DISTRIBUTIONS or family.name in FAMILIES:
            raise InternalError(f"{family.name} is no family of declarations, or has a record")
        if (family.standard is None) != (family.transform is None):
            raise InternalError(f"{family.name} needs both a standard form and a transformation, or neither")
        FAMILIES[family.name] = family
