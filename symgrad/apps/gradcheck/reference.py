"""The reference derivative: exact in 60 digits, or finite differences for a function that cannot be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from symgrad.api.handles.expr import Expr
from symgrad.apps.gradcheck.limits import DIGITS
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import topological
from symgrad.ir.values.differences import Rounding, slope_of
from symgrad.ir.values.evaluate import evaluate, evaluate_mp, mp_context
from symgrad.ops.scalar.logic import NEGATION
from symgrad.support.errors import SymgradError

Values: TypeAlias = Mapping[str, Any]
"""Arrays and numbers of NumPy, by name."""

_SIGNED = frozenset({"abs", "relu", "sign", "leaky_relu", "elu", "heaviside"})
_LARGER = frozenset({"maximum", "minimum"})


class ExactDerivative:
    """The gradients of a number by some of its inputs.

    Args:
        loss: the number.
        inputs: the inputs, by name.
        wrt: the names of the inputs to differentiate by.
    """

    def __init__(self, loss: Expr, inputs: Mapping[str, Expr], wrt: Sequence[str]) -> None:
        self._mp = mp_context(DIGITS)
        self.inputs = {n: e.node for n, e in inputs.items()}
        self.shapes = {n: inputs[n].shape for n in wrt}
        found = pull_back([loss.node], [as_node(1)], [inputs[n].node for n in wrt]).gradients
        self._gradients = dict(zip(wrt, found, strict=True))
        self.conditions = dict(_conditions(loss))
        """The conditions on which the function branches, each with its opposite: text and node."""

    def at(self, values: Values) -> dict[str, Any] | None:
        """Return the gradients as arrays of exact numbers; None where they cannot be computed."""
        return self._gradients_at(values, self._given(values))

    def _gradients_at(self, values: Values, inputs: Mapping[Node, Any]) -> dict[str, Any] | None:
        try:
            found = evaluate_mp(self._mp, [*self._gradients.values()], inputs)
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError):
            return None
        return {
            n: np.broadcast_to(np.array(g, dtype=object), np.shape(values[n]))
            for n, g in zip(self._gradients, found, strict=True)
        }

    def nearby(self, values: Values, rng: np.random.Generator) -> dict[str, Any] | None:
        """Return the gradients at a point so near that no float lies between; they differ only at a kink."""
        mp = self._mp
        tiny = mp.mpf(10) ** -30
        given = self._given(values)
        moved = {
            node: v
            + tiny
            * (1 + abs(v))
            * (_objects(rng.choice([-1, 1], np.shape(v)), mp) if node.shape else int(rng.choice([-1, 1])))
            if node.dtype == "real"
            else v
            for node, v in given.items()
        }
        return self._gradients_at(values, moved)

    def plainly(self, values: Values) -> dict[str, Any]:
        """Return the gradients by the backward pass in double precision, operation by operation."""
        with np.errstate(all="ignore"):
            found = evaluate(
                [*self._gradients.values()], {node: values[n] for n, node in self.inputs.items()}
            )
        return {
            n: np.broadcast_to(np.asarray(g, dtype=np.float64), np.shape(values[n]))
            for n, g in zip(self._gradients, found, strict=True)
        }

    def sides(self, values: Values) -> dict[str, Any]:
        """Return the truth of each condition of the function at a point, entry by entry."""
        given = {node: values[n] for n, node in self.inputs.items()}
        found: dict[str, Any] = {}
        for text, node in self.conditions.items():
            try:
                found[text] = np.asarray(evaluate([node], given)[0], dtype=bool)
            except (SymgradError, ValueError, IndexError):
                continue
        return found

    def _given(self, values: Values) -> dict[Node, Any]:
        mp = self._mp
        return {
            node: _objects(values[n], mp) if node.shape else _exact(values[n], mp)
            for n, node in self.inputs.items()
        }


def _exact(value: Any, mp: Any) -> Any:
    return bool(value) if np.asarray(value).dtype == np.bool_ else mp.mpf(float(value))


def _objects(values: Any, mp: Any) -> Any:
    return np.frompyfunc(lambda v: _exact(v, mp), 1, 1)(np.asarray(values)).astype(object)


def _conditions(loss: Expr) -> list[tuple[str, Node]]:
    """Return the comparisons of a function, and the signs at which its ops have kinks; each with its opposite."""
    found: dict[str, Node] = {}
    for node in topological([loss.node]):
        name = node.op.name
        if name in NEGATION:
            a, b = node.args
        elif name in _SIGNED:
            name, a, b = "gt", node.args[0], as_node(0)
        elif name in _LARGER:
            name, (a, b) = "gt", node.args
        else:
            continue
        for op in (name, NEGATION[name]):
            condition = OPS[op](a, b)
            found.setdefault(str(Expr(condition, listings=loss.listings)), condition)
    return list(found.items())


class FiniteDifferences:
    """The gradients of a function that can only be called, by finite differences.

    Args:
        f: maps arrays and numbers to a number.
        wrt: the names of the arguments to differentiate by.
    """

    def __init__(self, f: Callable[..., Any], wrt: Sequence[str]) -> None:
        self.f = f
        self.wrt = tuple(wrt)
        self._rounding = Rounding()

    def at(self, values: Values) -> dict[str, Any] | None:
        """Return the limit of the differences for each gradient, entry by entry; None if no entry converges."""
        found: dict[str, Any] = {}
        for name in self.wrt:
            base = np.array(values[name], dtype=np.float64)
            dtype = np.asarray(values[name]).dtype.type
            slopes = np.full(base.shape, None, dtype=object)
            for index in np.ndindex(*base.shape):
                along = self._along(values, name, base, index)
                slopes[index] = slope_of(along, float(base[index]), self._rounding, dtype)
            found[name] = slopes
        return found if any(s is not None for g in found.values() for s in g.flat) else None

    def read(self, slopes: Any) -> tuple[Any, Any]:
        """Return slopes as floats with bounds of their errors; NaN and infinity for None.

        Call it after all points: the estimate of the rounding of values improves with their number.
        """
        values = np.frompyfunc(lambda s: math.nan if s is None else s.value, 1, 1)
        errors = np.frompyfunc(lambda s: math.inf if s is None else s.error(self._rounding), 1, 1)
        return np.asarray(values(slopes), dtype=np.float64), np.asarray(errors(slopes), dtype=np.float64)

    def _along(
        self, values: Values, name: str, base: Any, index: tuple[int, ...]
    ) -> Callable[[float], float]:
        def along(t: float) -> float:
            moved = np.array(base)
            moved[index] = t
            given = {**values, name: moved if moved.shape else np.float64(moved)}
            with np.errstate(all="ignore"):
                return float(self.f(*given.values()))

        return along
