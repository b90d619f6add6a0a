"""Structure the blocks and jumps of a function: loops and branches in braces, and ``goto`` for all other jumps.

The blocks keep their order. A jump back is a loop around the blocks in between; a branch over the following blocks is
an ``if`` around them. The scope of a block is the path of its braces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from symgrad.compiler.c.arrays.instructions import BasicBlock

Scope: TypeAlias = tuple[int, ...]
"""The braces around a place, from outside to inside."""


@dataclass(slots=True)
class BlockPart:
    """The instructions of a block."""

    block: BasicBlock


@dataclass(slots=True)
class JumpPart:
    """A jump from one block to another: assign the phis of the target, then jump.

    Args:
        source, target: the blocks.
        how: break, continue or goto; empty for a fall-through.
    """

    source: str
    target: str
    how: str


@dataclass(slots=True)
class BranchPart:
    """A branch.

    Args:
        block: the block with the condition.
        then, other: the parts that run if the condition holds, and if it does not.
    """

    block: BasicBlock
    then: list[Part]
    other: list[Part]


@dataclass(slots=True)
class LoopPart:
    """An endless loop, until a part leaves it."""

    parts: list[Part]


Part: TypeAlias = "BlockPart | JumpPart | BranchPart | LoopPart"


@dataclass(frozen=True, slots=True)
class _Around:
    """The surroundings of a part.

    Args:
        follow: the block after the innermost braces.
        again: the first block of the innermost loop.
        out: the block after that loop.
    """

    follow: str
    again: str = ""
    out: str = ""


@dataclass(slots=True)
class Braces:
    """The parts of a function.

    Attributes:
        parts: the parts in order.
        scopes: the scope of each block, by its label.
        labels: the targets of ``goto``.
    """

    blocks: Sequence[BasicBlock]
    parts: list[Part] = field(default_factory=list[Part])
    scopes: dict[str, Scope] = field(default_factory=dict[str, Scope])
    labels: set[str] = field(default_factory=set[str])
    _place: dict[str, int] = field(default_factory=dict[str, int])
    _last: dict[int, int] = field(default_factory=dict[int, int])
    _braces: int = 0

    def __post_init__(self) -> None:
        self._place = {b.label: k for k, b in enumerate(self.blocks)}
        for k, block in enumerate(self.blocks):
            for label in block.goes:
                first = self._place[label]
                if first <= k:
                    self._last[first] = k
        self.parts = self._parts(0, len(self.blocks), (), _Around(""))

    def _label(self, k: int) -> str:
        return self.blocks[k].label if k < len(self.blocks) else ""

    def _inside(self, scope: Scope) -> Scope:
        self._braces += 1
        return (*scope, self._braces)

    def _parts(self, k: int, end: int, scope: Scope, around: _Around, opened: int = -1) -> list[Part]:
        """Return the parts of a range of blocks; ``opened`` is the block whose loop is already open."""
        found: list[Part] = []
        while k < end:
            last = self._last.get(k, -1)
            if k != opened and 0 <= last < end:
                label = self._label(k)
                out = self._label(last + 1) if last + 1 < end else around.follow
                inner = _Around(label, label, out)
                found.append(LoopPart(self._parts(k, last + 1, self._inside(scope), inner, k)))
                k = last + 1
                continue
            block = self.blocks[k]
            self.scopes[block.label] = scope
            found.append(BlockPart(block))
            follow = self._label(k + 1) if k + 1 < end else around.follow
            if len(block.goes) == 1:
                found.append(self._jump(block, block.goes[0], follow, around))
            elif block.goes:
                k = self._branch(k, end, scope, around, follow, found)
                continue
            k += 1
        return found

    def _branch(self, k: int, end: int, scope: Scope, around: _Around, follow: str, found: list[Part]) -> int:
        """Append the branch at the end of a block; return the next block."""
        block = self.blocks[k]
        then, other = block.goes
        over = self._place[other]
        if then == self._label(k + 1) and k + 1 < over and self._closed(k + 1, over, end, around):
            into = over
            last = self.blocks[over - 1]
            if len(last.goes) == 1 and over < self._place[last.goes[0]]:
                after = self._place[last.goes[0]]
                if self._closed(over, after, end, around) and not self._crossed(k, over, after):
                    into = after
            inner = _Around(self._label(into), around.again, around.out)
            ways = [
                self._way(block, then, self._parts(k + 1, over, self._inside(scope), inner)),
                self._way(block, other, self._parts(over, into, self._inside(scope), inner)),
            ]
            found.append(BranchPart(block, *ways))
            return into
        jumps = [self._jump(block, label, follow, around) for label in block.goes]
        found.append(BranchPart(block, [jumps[0]], [jumps[1]]))
        return k + 1

    def _closed(self, first: int, to: int, end: int, around: _Around) -> bool:
        """Tell whether a range of blocks can have its own braces, followed by the block ``to``."""
        if to > end or (to == end and around.follow != self._label(to)):
            return False
        return all(last < to for k, last in self._last.items() if first <= k < to)

    def _crossed(self, k: int, over: int, after: int) -> bool:
        """Tell whether a block other than the branch jumps to the second part of the branch."""
        other = self._label(over)
        sources = {b.label for b in self.blocks if other in b.goes}
        return sources != {self._label(k)} or after <= over

    def _way(self, block: BasicBlock, label: str, parts: list[Part]) -> list[Part]:
        return [JumpPart(block.label, label, ""), *parts]

    def _jump(self, block: BasicBlock, label: str, follow: str, around: _Around) -> JumpPart:
        how = ""
        if label == follow:
            pass
        elif label == around.out:
            how = "break"
        elif label == around.again:
            how = "continue"
        else:
            how = "goto"
            self.labels.add(label)
        return JumpPart(block.label, label, how)
