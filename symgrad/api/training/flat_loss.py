"""The loss that a search minimises: compiled with its derivatives as functions of one vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from symgrad.api.derivatives.differentiate import grad
from symgrad.api.derivatives.jacobians import hessian, hvp
from symgrad.api.handles.expr import Expr, handle
from symgrad.api.kernels.compile import compile
from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.types import REAL, Declaration


class FlatLoss:
    """A loss as a function of one flat vector, which has the variables one after the other.

    All other inputs are fixed.
    """

    def __init__(
        self, loss: Expr, variables: Sequence[Expr], inputs: Sequence[Node], values: Mapping[Node, Any]
    ) -> None:
        self.loss = loss
        self.variables = variables
        self.start = [np.asarray(values[v.node], dtype=float) for v in variables]
        self.shapes = [value.shape for value in self.start]
        self._symbols = [handle(s) for s in inputs]
        self._fixed = [values[s] for s in inputs[len(variables) :]]

    def split(self, flat: Any) -> list[Any]:
        """Return the variables in a vector."""
        parts: list[Any] = []
        position = 0
        for shape in self.shapes:
            count = prod(shape)
            parts.append(np.reshape(flat[position : position + count], shape))
            position += count
        return parts

    def function(self, outputs: Sequence[Expr], extra: Sequence[Expr] = ()) -> Callable[..., Sequence[Any]]:
        """Compile outputs to a function of a vector (and of further vectors, for extra inputs)."""
        kernel = compile(list(outputs), inputs=[*self._symbols, *extra])

        def call(flat: Any, *directions: Any) -> Sequence[Any]:
            moved = [part for d in directions for part in self.split(d)]
            found = kernel(*self.split(flat), *self._fixed, *moved)
            return found if len(outputs) > 1 else (found,)

        return call

    def value(self) -> Callable[[Any], float]:
        """Return the loss."""
        run = self.function([self.loss])
        return lambda flat: float(run(flat)[0])

    def value_and_gradient(self) -> Callable[[Any], tuple[float, Any]]:
        """Return the loss and its gradient as one vector."""
        run = self.function([self.loss, *grad(self.loss, list(self.variables))])

        def both(flat: Any) -> tuple[float, Any]:
            value, *slopes = run(flat)
            return float(value), _joined(slopes)

        return both

    def hessian(self) -> Callable[[Any], Any]:
        """Return the Hessian as one matrix."""
        rows = hessian(self.loss, list(self.variables))
        run = self.function([block for row in rows for block in row])
        counts = [prod(shape) for shape in self.shapes]

        def matrix(flat: Any) -> Any:
            found = iter(run(flat))
            return np.block([[np.reshape(next(found), (m, n)) for n in counts] for m in counts])

        return matrix

    def hessian_product(self) -> Callable[[Any, Any], Any]:
        """Return the Hessian times a vector."""
        taken = {s.node.name for s in self._symbols}
        directions: list[Expr] = []
        for v in self.variables:
            name = free_name(f"{v.name}_dot", taken)
            taken.add(name)
            directions.append(handle(symbol(Declaration(name, REAL, v.shape))))
        products = hvp(self.loss, list(self.variables), directions)
        run = self.function(products, directions)
        return lambda flat, direction: _joined(run(flat, direction))


def _joined(parts: Sequence[Any]) -> Any:
    return np.concatenate([np.ravel(np.asarray(p, dtype=float)) for p in parts])
