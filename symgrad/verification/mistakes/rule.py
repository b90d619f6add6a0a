"""Wrong rules of differentiation: rows of data that distort one step of a derivation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ops.array.layout import unbroadcast

_At = TypeVar("_At")
_Made = TypeVar("_Made")


def is_noise(node: Node) -> bool:
    """Tell whether a node is a random input."""
    return node.op is SYMBOL and node.declaration.distribution is not None


@dataclass(frozen=True, slots=True)
class Site:
    """An equation of the program, and its step in the right derivation.

    Args:
        node: the equation.
        bar: the cotangent of the equation's value.
        sent: for each argument, the contribution of this equation to its cotangent; None for an integer or truth value.
        dots: for each argument, its tangent with respect to the variable (of numbers); None for a constant argument.
        bars: the cotangents of the arguments, from all of their readers.
        wrt: the variable.
        y: the function to differentiate.
        counts: numbers of entries with their texts: lengths of axes, and products of two lengths.
    """

    node: Node
    bar: Node
    sent: tuple[Node | None, ...]
    dots: tuple[Node | None, ...]
    bars: tuple[Node | None, ...]
    wrt: Node
    y: Node
    counts: Mapping[str, int]

    @property
    def moving(self) -> list[int]:
        """The arguments that depend on the variable."""
        return [i for i, dot in enumerate(self.dots) if dot is not None and self.sent[i] is not None]

    @property
    def y_of_arrays(self) -> bool:
        """Whether the variable is an array, or the equation is about arrays."""
        return bool(self.wrt.shape or self.node.shape or any(a.shape for a in self.node.args))

    def slope(self, i: int, partial: Node | int) -> Node:
        """Return the contribution to an argument for a given partial derivative."""
        return unbroadcast(self.bar * as_node(partial), self.node.shape, self.node.args[i].shape)

    def right(self, i: int) -> Node:
        """Return the right contribution to an argument."""
        found = self.sent[i]
        return as_node(0) if found is None else found

    def sends(self, wrong: Mapping[int, Node], **words: object) -> Wrong:
        """Return the mistake of making given wrong contributions to some arguments."""
        return Wrong(
            tuple((self.node.args[i], sent - self.right(i)) for i, sent in wrong.items()), words=dict(words)
        )


@dataclass(frozen=True, slots=True)
class Wrong:
    """The result of a derivation with one mistake, by its difference from the right derivation.

    Args:
        parts: the differences, each in the cotangent of a node or, without a node, in the derivative itself. The rest
            of the derivation propagates cotangents rightly.
        alone: whether the result is the parts alone, without the right derivative.
        value: another program, whose right derivative is the result; None for the program itself.
        words: the values for the sentence of the row.
    """

    parts: tuple[tuple[Node | None, Node], ...] = ()
    alone: bool = False
    value: Node | None = None
    words: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class MalRule(Generic[_At, _Made]):
    """A mistake that people make: at an equation of a program, or at a part of a formula that they rewrite.

    Args:
        kind: the kind of the diagnosis.
        says: the sentence, in which ``{0}`` is the text of the place; other fields are words of a `Wrong`.
        ops: the ops of the places at which the mistake is made; () for any op.
        distort: a function from a place to wrong results, one for each way to make the mistake.
        rank: how common the mistake is: of several mistakes with the same result, the one with the smallest rank comes
            first.
        paired: whether the mistake may be one of two mistakes; False if it explains nearly any claim.
    """

    kind: str
    says: str
    ops: Sequence[str]
    distort: Callable[[_At], Iterable[_Made]]
    rank: float
    paired: bool = True


class MistakeTable(Generic[_At, _Made]):
    """The mistakes of one family; a call returns a decorator for a function that makes a mistake, and adds its row.

    Attributes:
        rows: the rows, in order.
    """

    def __init__(self) -> None:
        self.rows: list[MalRule[_At, _Made]] = []

    def __call__(
        self,
        kind: str,
        ops: Sequence[str],
        rank: float,
        by: str = "",
        *,
        says: str | None = None,
        paired: bool = True,
    ) -> Callable[[Callable[[_At], Iterable[_Made]]], Callable[[_At], Iterable[_Made]]]:
        """Return the decorator.

        Args:
            kind: as for a `MalRule`; so are the others.
            ops: the ops at which the mistake is made.
            rank: how common the mistake is.
            by: what people do when they make the mistake; it is put into the usual sentence.
            says: a sentence that replaces the usual one.
            paired: whether the mistake may be one of two mistakes.
        """
        sentence = f"this is what one gets by {by}" if says is None else says

        def add(distort: Callable[[_At], Iterable[_Made]]) -> Callable[[_At], Iterable[_Made]]:
            row = MalRule(kind=kind, says=sentence, ops=ops, distort=distort, rank=rank, paired=paired)
            self.rows.append(row)
            return distort

        return add
