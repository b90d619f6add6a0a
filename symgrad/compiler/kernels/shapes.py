"""Match the shapes of a call's inputs with the declared shapes of an array program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.ir.sizes import evaluate_size
from symgrad.ir.values.bound_sizes import bind_sizes
from symgrad.support.errors import ShapeError

if TYPE_CHECKING:
    from symgrad.ir.graph import Node


@dataclass(slots=True)
class Fit:
    """The result of matching the shapes of inputs.

    Args:
        shapes: the shapes of the inputs.
        batch: the shape of the batch.
        sizes: the value of every named size.
        outputs: the shapes of the outputs, computed on first use.
    """

    shapes: list[tuple[int, ...]]
    batch: tuple[int, ...]
    sizes: Mapping[str, int]
    outputs: list[tuple[int, ...]] | None = None


class Shapes:
    """The declared shapes of a program. The last result is cached, because consecutive calls often have equal shapes.

    Args:
        inputs: the symbols.
        outputs: the outputs.
    """

    __slots__ = ("_fitted", "_inputs", "_outputs")

    def __init__(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> None:
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._fitted: Fit | None = None

    def fit(self, arrays: Sequence[Any]) -> Fit:
        """Match the shapes of inputs, with a fast path for the shapes of the last call.

        Raises:
            ShapeError: if shapes disagree; the message names the inputs.
        """
        shapes = [a.shape if type(a) is np.ndarray else np.shape(a) for a in arrays]
        found = self._fitted
        if found is None or found.shapes != shapes:
            found = self._fitted = self._match(shapes)
        return found

    def of_outputs(self, fit: Fit) -> list[tuple[int, ...]]:
        """Return the shapes of the outputs, the batch included."""
        if fit.outputs is None:
            fit.outputs = [
                fit.batch + tuple(evaluate_size(s, fit.sizes) for s in node.shape) for node in self._outputs
            ]
        return fit.outputs

    def _match(self, shapes: list[tuple[int, ...]]) -> Fit:
        batches: list[tuple[int, ...]] = []
        declared: list[tuple[int, ...]] = []
        for symbol, shape in zip(self._inputs, shapes, strict=True):
            split = len(shape) - len(symbol.shape)
            own = shape[max(split, 0) :]
            if split < 0 or any(
                isinstance(n, int) and n != m for n, m in zip(symbol.shape, own, strict=True)
            ):
                raise ShapeError(f"input '{symbol.name}' has shape {shape}", expected=str(symbol.declaration))
            batches.append(shape[:split])
            declared.append(own)
        sizes = bind_sizes(zip(self._inputs, declared, strict=True))
        return Fit(shapes, self._batch(batches, shapes), sizes)

    def _batch(self, batches: list[tuple[int, ...]], shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
        if not any(batches):
            return ()
        try:
            return np.broadcast_shapes(*batches)
        except ValueError:
            text = ", ".join(f"{s.name} {shape}" for s, shape in zip(self._inputs, shapes, strict=True))
            raise ShapeError(
                f"the batches do not broadcast: {text}",
                expected="axes before the declared ones that broadcast as in NumPy",
                cure="give arrays with the declared axes alone, or as many of them for every input",
            ) from None
