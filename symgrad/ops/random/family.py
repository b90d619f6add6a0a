"""The record of a family of distributions.

The parameters of a record's functions are nodes, in the order of `symgrad.ir.types.DISTRIBUTIONS`, which has the fields
that declarations need: names of the parameters, the condition on them, the support, independence of entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from symgrad.ir.graph import Node
from symgrad.ir.types import DISTRIBUTIONS
from symgrad.support.errors import InternalError

# One type for each arity, so that the type checker infers the types of lambdas in records.
Formula: TypeAlias = "Callable[[Node], Node] | Callable[[Node, Node], Node]"
"""A function of the parameters, as nodes."""
OfValue: TypeAlias = "Callable[[Node, Node], Node] | Callable[[Node, Node, Node], Node]"
"""A function of a value and the parameters."""
Draw: TypeAlias = "Callable[[Any, Any, Any], Any] | Callable[[Any, Any, Any, Any], Any]"
Named: TypeAlias = "tuple[str, tuple[Node, ...]]"
"""A distribution: its name and its parameters."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of distributions.

    Args:
        name: its name in programs.
        mean, variance: the moments of one entry; None if they do not exist.
        density: the density at a value, or the probability of an integer; the value is the first argument.
        standard: a function of the parameters to the name and parameters of the standard distribution; None if no
            smooth transformation of a standard draw gives this family.
        transform: the transformation of the standard draw, which is its first argument.
        draw: a function that draws with NumPy; its arguments are a ``numpy.random.Generator``, the shape, and the
            parameters as arrays.
    """

    name: str
    mean: Formula | None
    variance: Formula | None
    density: OfValue
    standard: Callable[[Node], Named] | Callable[[Node, Node], Named] | None
    transform: OfValue | None
    draw: Draw


FAMILIES: dict[str, Family] = {}
"""The record of each family, by name."""


def register(*families: Family) -> None:
    """Add records.

    Raises:
        InternalError: for a family unknown to declarations, or with half of a reparameterisation.
    """
    for family in families:
        if family.name not in DISTRIBUTIONS or family.name in FAMILIES:
            raise InternalError(f"{family.name} is no family of declarations, or has a record")
        if (family.standard is None) != (family.transform is None):
            raise InternalError(f"{family.name} needs both a standard form and a transformation, or neither")
        FAMILIES[family.name] = family
