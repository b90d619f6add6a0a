"""Append steps to a program; equal steps are shared (hash-consing)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from symgrad.checker.program.steps import ProofStep

Shape: TypeAlias = "tuple[int | str, ...]"

_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


class StepBuilder:
    """A list of steps that grows; equal steps are shared.

    Args:
        steps: the initial steps, which keep their positions.
    """

    def __init__(self, steps: Sequence[ProofStep]) -> None:
        self.steps = list(steps)
        self._at: dict[ProofStep, int] = {}
        for i, step in enumerate(self.steps):
            self._at.setdefault(step, i)

    def step(self, step: ProofStep) -> int:
        """Return the position of a step; append it if it is new."""
        at = self._at.setdefault(step, len(self.steps))
        if at == len(self.steps):
            self.steps.append(step)
        return at

    def shape(self, at: int) -> Shape:
        """Return the shape of a step."""
        return self.steps[at].shape

    def number(self, value: int | Fraction) -> int:
        """Return the position of a number."""
        return self.step(ProofStep("number", (), (Fraction(value),)))

    def value(self, at: int) -> Fraction | None:
        """Return the value of a step that is a number, otherwise None."""
        step, sign = self.steps[at], 1
        if step.op == "neg":
            step, sign = self.steps[step.args[0]], -1
        if step.op != "number" or isinstance(step.params[0], bool) or step.shape:
            return None
        return sign * Fraction(step.params[0])

    def op(self, name: str, *args: int, params: tuple[Any, ...] = ()) -> int:
        """Append an elementwise op; a factor 1 or a divisor 1 is omitted."""
        if name in ("mul", "div") and self.value(args[1]) == 1:
            return args[0]
        if name == "mul" and self.value(args[0]) == 1:
            return args[1]
        shape = broadcast([self.shape(a) for a in args])
        return self.step(ProofStep(name, args, params, shape, "bool" if name in _COMPARISONS else "real"))

    def full(self, at: int, shape: Shape) -> int:
        """Broadcast a step to a shape."""
        return at if self.shape(at) == shape else self.step(ProofStep("broadcast_to", (at,), (shape,), shape))

    def reshape(self, at: int, shape: Shape) -> int:
        """Reshape a step; the shapes may differ only by axes of length 1."""
        return at if self.shape(at) == shape else self.step(ProofStep("reshape", (at,), (shape,), shape))

    def sum(self, at: int, axes: Sequence[int]) -> int:
        """Sum over axes."""
        labels = tuple(range(len(self.shape(at))))
        return self.contract([(at, labels)], tuple(k for k in labels if k not in axes)) if axes else at

    def contract(self, operands: Sequence[tuple[int, tuple[int, ...]]], result: tuple[int, ...]) -> int:
        """Contract operands with labelled axes."""
        sizes = {k: n for at, own in operands for k, n in zip(own, self.shape(at), strict=True)}
        params = (tuple(own for _, own in operands), result)
        return self.step(
            ProofStep("einsum", tuple(at for at, _ in operands), params, tuple(sizes[k] for k in result))
        )

    def spread(self, at: int, axes: Sequence[int]) -> int:
        """Insert axes of length 1 into the result of a reduction over these axes."""
        sizes = list(self.shape(at))
        for axis in sorted(axes):
            sizes.insert(axis, 1)
        return self.reshape(at, tuple(sizes))


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the common shape to which shapes broadcast; a named length fits only itself and 1."""
    rank = max(map(len, shapes), default=0)
    result: list[int | str] = [1] * rank
    for shape in shapes:
        for k, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                result[k] = size
    return tuple(result)
