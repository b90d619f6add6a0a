"""What verdicts on a document rest on: assumptions, equations that are taken to hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from symgrad.ir.graph import Node
from symgrad.ir.traverse import substitute, symbols_of

__all__ = ["Assumption", "Condition", "ImplicitCurve", "ImplicitEquation"]


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that verdicts on a document rest on.

    Args:
        text: what is taken to hold.
        line: where the document says it, or makes it necessary.
        stated: whether the document says it.
    """

    text: str
    line: int
    stated: bool = True

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class ImplicitCurve:
    """An equation of inputs by which one follows another.

    Args:
        left: a side.
        right: the other one.
        y: what follows.
        x: what it follows.
    """

    left: Node
    right: Node
    y: Node
    x: Node


@dataclass(frozen=True, slots=True)
class ImplicitEquation:
    """An equation that defines an unknown, which stands on both sides.

    Args:
        unknown: the symbol.
        value: what it is equal to.
        curve: the equation as it stands where it is F(x, y) = c; the value is then y - F + c.
    """

    unknown: Node
    value: Node
    curve: ImplicitCurve | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """An equation that is taken to hold.

    Args:
        left: a side.
        right: the other one, of its shape.
        said: the equation as it is written.
        unknowns: what a derivative in it is by; none where it has none.
        asked: whether it is asked for, and a value is to be found for which it holds; else it is known to hold.
    """

    left: Node
    right: Node
    said: str
    unknowns: tuple[Node, ...] = ()
    asked: bool = True

    @property
    def reads(self) -> set[Node]:
        """The inputs that it is about."""
        return set(symbols_of([self.left, self.right]))

    def at(self, values: Mapping[Node, Node]) -> tuple[Node, Node]:
        """Return its sides where inputs have values."""
        left, right = substitute([self.left, self.right], values)
        return left, right

    def where(self, values: Mapping[Node, Node]) -> Condition:
        """Return the equation where inputs have values."""
        left, right = self.at(values)
        return replace(self, left=left, right=right)
