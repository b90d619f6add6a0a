"""What a wrong rule of differentiation is: a row of data that distorts one step of a derivation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.ir.graph import Node, as_node
from symgrad.ops.array.layout import unbroadcast

__all__ = ["MalRule", "Site", "Wrong"]


@dataclass(frozen=True, slots=True)
class Site:
    """An equation of the program, and what the right derivation does with it.

    Args:
        node: the equation.
        bar: its cotangent: the derivative of what is differentiated by it.
        sent: for each argument, what its pullback sends there; None for one that takes nothing.
        dots: for each argument, its tangent when the variable moves (of numbers); None for one that stays.
        bars: the cotangents of the arguments, by all that reads them.
        wrt: the variable.
        y: what is differentiated.
        counts: numbers of entries, as they are written: lengths of axes and products of two.
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
        """The arguments through which the variable moves the node."""
        return [i for i, dot in enumerate(self.dots) if dot is not None and self.sent[i] is not None]

    @property
    def y_of_arrays(self) -> bool:
        """Whether the variable is an array, or the equation is one of arrays."""
        return bool(self.wrt.shape or self.node.shape or any(a.shape for a in self.node.args))

    def slope(self, i: int, partial: Node | int) -> Node:
        """Return what is sent to an argument if the partial derivative by it is the given one."""
        return unbroadcast(self.bar * as_node(partial), self.node.shape, self.node.args[i].shape)

    def right(self, i: int) -> Node:
        """Return what is rightly sent to an argument."""
        found = self.sent[i]
        return as_node(0) if found is None else found

    def sends(self, wrong: Mapping[int, Node], **words: object) -> Wrong:
        """Return the mistake of sending something else to some arguments."""
        return Wrong(
            tuple((self.node.args[i], sent - self.right(i)) for i, sent in wrong.items()), words=dict(words)
        )


@dataclass(frozen=True, slots=True)
class Wrong:
    """What a derivation with one mistake gives, told by how it differs from the right one.

    Args:
        parts: what is added: to the cotangent of a node, from where it goes the right way; or to the derivative itself
            where there is no node.
        alone: whether nothing but the parts is left of the derivative.
        value: another program, whose right derivative it is; None for the program.
        words: what the sentence of the row says of it.
    """

    parts: tuple[tuple[Node | None, Node], ...] = ()
    alone: bool = False
    value: Node | None = None
    words: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class MalRule:
    """A mistake that people make.

    Args:
        kind: its slug: what a diagnosis is called.
        says: the sentence, in which ``{0}`` is the text of the equation and other names are words of a `Wrong`.
        ops: the ops at whose equations it is made; () for any.
        distort: what it makes of the step at a site, each way one `Wrong`.
        rank: how common it is: of two that give one formula the smaller is told first.
        paired: whether it is told as one of two mistakes; what explains nearly anything is not.
    """

    kind: str
    says: str
    ops: Sequence[str] = ()
    distort: Callable[[Site], Iterable[Wrong]]
    rank: float
    paired: bool = True
