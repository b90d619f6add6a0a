"""Reference values that share no code with symgrad's rules: ball arithmetic, and truncated power series.

`Balls` computes the equations of a graph in rigorous ball arithmetic: it holds the compiled code to the formula.
`Series` is multivariate Taylor arithmetic over any numbers, a derivation of its own from the program text: it
holds the derivatives to calculus. It has + - * / and the few functions that the benchmarks use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import prod
from typing import Any

from symgrad.ir.graph import CONSTANT, NUMBER, Node
from symgrad.ir.traverse import topological

__all__ = ["Balls", "Series", "indices", "series_of"]

_BALLS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "pow": lambda x, y: x**y,
    "sqrt": lambda x: x.sqrt(),
    "cbrt": lambda x: x.root(3),
    "exp": lambda x: x.exp(),
    "expm1": lambda x: x.expm1(),
    "log": lambda x: x.log(),
    "log1p": lambda x: x.log1p(),
    "lt": lambda x, y: _decided(x, y),
    "where": lambda c, x, y: x if c else y,
}


def _decided(x: Any, y: Any) -> bool:
    if not (x < y or x >= y):
        raise ArithmeticError("a comparison of overlapping balls: take more bits")
    return x < y


class Balls:
    """The values of a graph in ball arithmetic (python-flint): intervals that contain the exact result.

    Args:
        outputs: what to compute.
        bits: the working precision.
    """

    def __init__(self, outputs: Sequence[Node], bits: int = 256) -> None:
        self.bits = bits
        order = topological(outputs)
        slot = {node: k for k, node in enumerate(order)}
        self._outputs = [slot[o] for o in outputs]
        self._inputs = {node.name: slot[node] for node in order if node.op.name == "symbol"}
        self._constants = [(slot[n], n) for n in order if n.op is NUMBER or n.op is CONSTANT]
        self._steps = [(slot[n], _BALLS[n.op.name], tuple(slot[a] for a in n.args)) for n in order if n.args]
        self._size = len(order)

    def __call__(self, values: Mapping[str, float]) -> list[Any]:
        """Return a ball for every output."""
        import flint

        with flint.ctx.workprec(self.bits):
            slots: list[Any] = [None] * self._size
            for k, node in self._constants:
                slots[k] = _exact(node)
            for name, k in self._inputs.items():
                slots[k] = flint.arb(values[name])
            for k, function, args in self._steps:
                slots[k] = function(*[slots[a] for a in args])
            return [slots[k] for k in self._outputs]


def _exact(node: Node) -> Any:
    import flint

    if node.op is CONSTANT:
        return flint.arb.pi()
    return flint.arb(flint.fmpq(node.value.numerator, node.value.denominator))


Index = tuple[int, ...]


def indices(variables: int, order: int) -> list[Index]:
    """Return what the derivatives up to an order are named by: positions of the variables, ascending."""
    return [i for k in range(order + 1) for i in combinations_with_replacement(range(variables), k)]


@cache
def _pairs(variables: int, order: int) -> list[tuple[int, int, int]]:
    """Return (i, j, k) with monomial i times monomial j = monomial k, up to the order."""
    names = indices(variables, order)
    position = {name: k for k, name in enumerate(names)}
    return [
        (i, j, position[tuple(sorted(a + b))])
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if len(a) + len(b) <= order
    ]


class Series:
    """A power series in several variables, cut off at an order; coefficients are numbers of any field.

    Args:
        variables: how many variables.
        order: the highest total degree kept.
        coefficients: one for each of `indices(variables, order)`.
    """

    __slots__ = ("coefficients", "order", "variables")

    def __init__(self, variables: int, order: int, coefficients: Sequence[Any]) -> None:
        self.variables = variables
        self.order = order
        self.coefficients = list(coefficients)

    @classmethod
    def variable(cls, variables: int, order: int, which: int, value: Any) -> Series:
        names = indices(variables, order)
        return cls(
            variables,
            order,
            [value if not n else value * 0 + 1 if n == (which,) else value * 0 for n in names],
        )

    def derivatives(self) -> dict[Index, Any]:
        """Return the partial derivatives: the coefficients times the factorials of the exponents."""
        names = indices(self.variables, self.order)
        return {
            n: c * prod(_factorial(n.count(v)) for v in set(n))
            for n, c in zip(names, self.coefficients, strict=True)
        }

    def _like(self, coefficients: Sequence[Any]) -> Series:
        return Series(self.variables, self.order, coefficients)

    def _lift(self, other: Any) -> Series:
        if isinstance(other, Series):
            return other
        zero = self.coefficients[0] * 0
        return self._like([zero + other, *[zero] * (len(self.coefficients) - 1)])

    def __add__(self, other: Any) -> Series:
        other = self._lift(other)
        return self._like([a + b for a, b in zip(self.coefficients, other.coefficients, strict=True)])

    __radd__ = __add__

    def __neg__(self) -> Series:
        return self._like([-c for c in self.coefficients])

    def __sub__(self, other: Any) -> Series:
        return self + -other

    def __rsub__(self, other: Any) -> Series:
        return -self + other

    def __mul__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            return self._like([c * other for c in self.coefficients])
        total = [self.coefficients[0] * 0] * len(self.coefficients)
        a, b = self.coefficients, other.coefficients
        for i, j, k in _pairs(self.variables, self.order):
            total[k] = total[k] + a[i] * b[j]
        return self._like(total)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Series:
        return self * self._lift(other).power(-1)

    def __rtruediv__(self, other: Any) -> Series:
        return self.power(-1) * other

    def __pow__(self, exponent: int) -> Series:
        result = self
        for _ in range(exponent - 1):
            result = result * self
        return result

    def compose(self, derivatives: Sequence[Any]) -> Series:
        """Return h(self) from h and its derivatives at the constant term, by Horner's rule on the rest."""
        rest = self._like([self.coefficients[0] * 0, *self.coefficients[1:]])
        result = self._lift(derivatives[self.order] / _factorial(self.order))
        for k in range(self.order - 1, -1, -1):
            result = result * rest + derivatives[k] / _factorial(k)
        return result

    def power(self, exponent: Any) -> Series:
        """Return self**exponent for a positive constant term and a constant exponent."""
        x = self.coefficients[0]
        found = []
        factor = x * 0 + 1
        for k in range(self.order + 1):
            found.append(factor * x ** (exponent - k))
            factor = factor * (exponent - k)
        return self.compose(found)

    def exp(self, exp: Callable[[Any], Any]) -> Series:
        value = exp(self.coefficients[0])
        return self.compose([value] * (self.order + 1))

    def log(self, log: Callable[[Any], Any]) -> Series:
        x = self.coefficients[0]
        slopes = [x**-k * (-1) ** (k - 1) * _factorial(k - 1) for k in range(1, self.order + 1)]
        return self.compose([log(x), *slopes])


def _factorial(k: int) -> int:
    return prod(range(2, k + 1))


def series_of(function: Callable[..., Series], point: Sequence[Any], order: int) -> dict[Index, Any]:
    """Return all partial derivatives of a function at a point, from power series.

    Args:
        function: takes one Series per variable and returns one.
        point: a number for each variable; the arithmetic is theirs.
        order: the highest order.
    """
    n = len(point)
    return function(*(Series.variable(n, order, i, x) for i, x in enumerate(point))).derivatives()
