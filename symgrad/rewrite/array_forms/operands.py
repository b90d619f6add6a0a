"""A contraction taken apart: operands, the labels of their axes, and the product in front."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size
from symgrad.ops.array.contraction import Labels, contract
from symgrad.rewrite.normal_form.form import Exponent
from symgrad.rewrite.normal_form.gathering import Gathering

__all__ = ["Open", "LabelledOperand"]


@dataclass(slots=True)
class LabelledOperand:
    """A power of an array, and the label of each of its axes."""

    base: Node
    exponent: Exponent
    labels: Labels

    def diagonal(self) -> LabelledOperand:
        """Return the diagonal of an operand that has a label twice."""
        labels = tuple(dict.fromkeys(self.labels))
        if labels == self.labels:
            return self
        return LabelledOperand(contract([self.base], [self.labels], labels), self.exponent, labels)


@dataclass(slots=True)
class Open:
    """A contraction taken apart."""

    front: Gathering
    result: Labels
    sizes: dict[int, Size]
    operands: list[LabelledOperand] = field(default_factory=list[LabelledOperand])

    def fresh(self, sizes: Iterable[Size]) -> list[int]:
        """Return new labels for axes of these sizes."""
        first = 1 + max(self.sizes, default=-1)
        made = dict(enumerate(sizes, first))
        self.sizes.update(made)
        return list(made)

    def add(self, base: Node, labels: Labels) -> None:
        self.operands.append(LabelledOperand(base, 1, labels))

    def rename(self, old: int, new: int) -> None:
        for operand in self.operands:
            operand.labels = tuple(new if k == old else k for k in operand.labels)

    def count(self, label: int) -> int:
        """How often operands have a label."""
        return sum(operand.labels.count(label) for operand in self.operands)

    def parts(self) -> list[list[LabelledOperand]]:
        """Part the operands into those that summed labels connect."""
        parts: list[tuple[set[int], list[LabelledOperand]]] = []
        for operand in self.operands:
            summed = {k for k in operand.labels if k not in self.result}
            mine = [operand]
            apart: list[tuple[set[int], list[LabelledOperand]]] = []
            for labels, members in parts:
                if labels & summed:
                    summed |= labels
                    mine = members + mine
                else:
                    apart.append((labels, members))
            parts = [*apart, (summed, mine)]
        return [members for _, members in parts]
