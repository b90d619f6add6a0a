"""A contraction in parts: operands, the labels of their axes, and the product in front."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size
from symgrad.ops.array.contraction import Labels, contract
from symgrad.rewrite.normal_form.form import Exponent
from symgrad.rewrite.normal_form.gathering import Gathering


@dataclass(slots=True)
class LabelledOperand:
    """A power of an array, and the label of each of its axes."""

    base: Node
    exponent: Exponent
    labels: Labels

    def diagonal(self) -> LabelledOperand:
        """Return the operand, or its diagonal if a label repeats."""
        labels = tuple(dict.fromkeys(self.labels))
        if labels == self.labels:
            return self
        return LabelledOperand(contract([self.base], [self.labels], labels), self.exponent, labels)


@dataclass(slots=True)
class OpenContraction:
    """A contraction in parts, while it is being collected."""

    front: Gathering
    result: Labels
    sizes: dict[int, Size]
    operands: list[LabelledOperand] = field(default_factory=list[LabelledOperand])

    def fresh(self, sizes: Iterable[Size]) -> list[int]:
        """Return new labels for axes of these sizes."""
        labels = dict(enumerate(sizes, 1 + max(self.sizes, default=-1)))
        self.sizes.update(labels)
        return list(labels)

    def add(self, base: Node, labels: Labels) -> None:
        self.operands.append(LabelledOperand(base, 1, labels))

    def rename(self, old: int, new: int) -> None:
        for operand in self.operands:
            operand.labels = tuple(new if k == old else k for k in operand.labels)

    def count(self, label: int) -> int:
        """Count the occurrences of a label in the operands."""
        return sum(operand.labels.count(label) for operand in self.operands)

    def components(self) -> list[list[LabelledOperand]]:
        """Partition the operands into components that summed labels connect."""
        components: list[tuple[set[int], list[LabelledOperand]]] = []
        for operand in self.operands:
            summed = {k for k in operand.labels if k not in self.result}
            joined = [operand]
            others: list[tuple[set[int], list[LabelledOperand]]] = []
            for labels, members in components:
                if labels & summed:
                    summed |= labels
                    joined = members + joined
                else:
                    others.append((labels, members))
            components = [*others, (summed, joined)]
        return [members for _, members in components]
