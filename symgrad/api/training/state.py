"""The parameters of `train`, and the buffers of their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any

import numpy as np

from symgrad.api.training.batches import Values
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.ir.graph import Node


class State:
    """Parameters and their gradients, each in one vector.

    Every parameter and its gradient are views of parts of the vectors.

    Args:
        kernel: the kernel that computes the loss, the gradients of the dense parameters, and the positions and rows of
            each table.
        parameters: the values of all parameters, which are copied.
        dense: parameters in which every entry moves.
        tables: parameters in which only some rows move.

    Attributes:
        point: all dense parameters, one after the other.
        slope: the gradients of the dense parameters in the same order.
        values: every parameter, trained or frozen.
        gradients: the gradient of every dense parameter, and the rows of every table.
    """

    def __init__(
        self, kernel: Kernel, parameters: Values, dense: Sequence[Node], tables: Sequence[Node]
    ) -> None:
        self.kernel = kernel
        self.trained = [s for s in parameters if s in dense or s in tables]
        count = sum(parameters[s].size for s in dense)
        self.point = np.empty(count, kernel.dtype)
        self.slope = np.zeros(count, kernel.dtype)
        self.values = dict(parameters)
        self.gradients: Values = {}
        position = 0
        for s in dense:
            shape = parameters[s].shape
            end = position + prod(shape)
            self.values[s] = self.point[position:end].reshape(shape)
            self.values[s][...] = parameters[s]
            self.gradients[s] = self.slope[position:end].reshape(shape)
            position = end
        for s in tables:
            self.values[s] = np.array(parameters[s])
        self._positions: Values = dict.fromkeys(tables, np.empty(0, np.int64))
        self._value = np.zeros((), kernel.dtype)
        self._out = (self._value, *self.gradients.values(), *(None,) * (2 * len(tables)))

    def evaluate(self, step: Values) -> float:
        """Return the loss, and write the gradients to their buffers."""
        arrays = [self.values[s] if s in self.values else step[s] for s in self.kernel.symbols]
        if not self._positions:
            self.kernel(*arrays, out=self._out)
            return float(self._value)
        found = self.kernel(*arrays, out=self._out)[-2 * len(self._positions) :]
        for s, ids, rows in zip(self._positions, found[::2], found[1::2], strict=True):
            self._gather(s, ids, rows)
        return float(self._value)

    def _gather(self, s: Node, ids: Any, rows: Any) -> None:
        """Add up the gradients of each row, in the order of a scatter_add."""
        length = len(self.values[s])
        unique: Any = np.unique
        positions, inverse = unique(np.where(ids < 0, ids + length, ids), return_inverse=True)
        total = np.zeros((len(positions), *self.values[s].shape[1:]), self.kernel.dtype)
        np.add.at(total, inverse, rows)
        self._positions[s], self.gradients[s] = positions, total

    def move_rows(self, rate: float) -> None:
        """Take a step down the gradient in the rows that were read."""
        for s, positions in self._positions.items():
            self.values[s][positions] -= self.kernel.dtype.type(rate) * self.gradients[s]

    def moved(self, s: Node) -> np.ndarray[Any, Any]:
        """Return the entries of a parameter that the last step moved."""
        return self.values[s][self._positions[s]] if s in self._positions else self.values[s]

    def seems_finite(self) -> bool:
        """Tell whether the sums of the gradients are finite. They may be infinite for very large finite gradients."""
        return isfinite(float(self.slope.sum())) and all(
            isfinite(float(self.gradients[s].sum())) for s in self._positions
        )
