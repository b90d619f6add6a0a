"""Straight-line programs with their derivatives, written out as source code.

Peers that compile what they are given (Numba, numexpr) and the reference values need derivatives from somewhere. They
have them from here: reverse accumulation over a list of operations, applied again for higher orders. It shares no
code with symgrad, whose results it judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from types import SimpleNamespace
from typing import Any

__all__ = ["Tape", "Variable", "indices", "namespace", "partials"]

FUNCTIONS = ("sin", "cos", "exp", "log", "log1p", "tanh", "sqrt")
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def indices(variables: int, order: int) -> list[tuple[int, ...]]:
    """Return what the derivatives up to an order are named by: positions of the variables, ascending."""
    return [i for k in range(order + 1) for i in combinations_with_replacement(range(variables), k)]


class Tape:
    """Operations in the order of their computation, each distinct one once.

    Attributes:
        steps: (operation, arguments); arguments are positions, except a number's value and a power's exponent.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[str, tuple[Any, ...]]] = []
        self._known: dict[tuple[str, tuple[Any, ...]], int] = {}

    def add(self, op: str, *args: Any) -> Variable:
        key = (op, args)
        if key not in self._known:
            self._known[key] = len(self.steps)
            self.steps.append(key)
        return Variable(self, self._known[key])

    def number(self, value: Any) -> Variable:
        if isinstance(value, float):
            raise TypeError("a float is not exact")
        return self.add("number", Fraction(value))

    def value(self, variable: Variable) -> Fraction | None:
        op, args = self.steps[variable.position]
        return args[0] if op == "number" else None

    def reachable(self, outputs: Sequence[Variable]) -> list[int]:
        """Return the positions that outputs are computed from, ascending."""
        needed = [False] * len(self.steps)
        for o in outputs:
            needed[o.position] = True
        for k in range(len(self.steps) - 1, -1, -1):
            if needed[k]:
                for a in self.arguments(k):
                    needed[a] = True
        return [k for k, n in enumerate(needed) if n]

    def arguments(self, position: int) -> tuple[int, ...]:
        op, args = self.steps[position]
        if op in ("number", "input", "pi"):
            return ()
        return args[:1] if op == "pow" else args

    def gradient(self, y: Variable, wrt: Sequence[Variable]) -> list[Variable]:
        """Return the derivatives of y, by one sweep backward."""
        bars: dict[int, Variable] = {y.position: self.number(1)}
        for k in reversed(self.reachable([y])):
            if k not in bars or not self.arguments(k):
                continue
            for a, slope in zip(self.arguments(k), self._slopes(k), strict=True):
                term = bars[k] * slope
                bars[a] = bars[a] + term if a in bars else term
        return [bars.get(x.position, self.number(0)) for x in wrt]

    def _slopes(self, position: int) -> tuple[Variable, ...]:
        op, args = self.steps[position]
        z = Variable(self, position)
        x = Variable(self, args[0])
        one = self.number(1)
        match op:
            case "add":
                return one, one
            case "sub":
                return one, -one
            case "mul":
                return Variable(self, args[1]), x
            case "div":
                return one / Variable(self, args[1]), -z / Variable(self, args[1])
            case "neg":
                return (-one,)
            case "pow":
                return (x ** (args[1] - 1) * args[1],)
            case "sin":
                return (self.add("cos", args[0]),)
            case "cos":
                return (-self.add("sin", args[0]),)
            case "exp":
                return (z,)
            case "log":
                return (one / x,)
            case "log1p":
                return (one / (x + 1),)
            case "tanh":
                return (one - z * z,)
            case "sqrt":
                return (one / (z * 2),)
        raise ValueError(op)

    def source(
        self, outputs: Sequence[Variable], spelled: Callable[[str, tuple[Any, ...]], str] | None = None
    ) -> tuple[list[str], list[str]]:
        """Return lines ``v7 = v3*v5`` and the name of each output; inputs are ``x0``, ``x1``, ...

        Args:
            outputs: what to compute.
            spelled: an operation and the names of its arguments as text; Python by default.
        """
        names: dict[int, str] = {}
        lines: list[str] = []
        for k in self.reachable(outputs):
            op, args = self.steps[k]
            if op == "input":
                names[k] = f"x{args[0]}"
                continue
            given = args if op == "number" else tuple(names[a] for a in self.arguments(k))
            text = (spelled or _python)(op, (*given, args[1]) if op == "pow" else given)
            if op == "number":
                names[k] = text
            else:
                names[k] = f"v{k}"
                lines.append(f"v{k} = {text}")
        return lines, [names[o.position] for o in outputs]

    def evaluate(self, outputs: Sequence[Variable], values: Sequence[Any], mp: Any) -> list[Any]:
        """Return the outputs in the arithmetic of an mpmath context."""
        slots: dict[int, Any] = {}
        two: Mapping[str, Callable[[Any, Any], Any]] = {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul": lambda a, b: a * b,
            "div": lambda a, b: a / b,
        }
        for k in self.reachable(outputs):
            op, args = self.steps[k]
            if op == "input":
                slots[k] = mp.mpf(values[args[0]])
            elif op == "number":
                slots[k] = mp.mpf(args[0].numerator) / args[0].denominator
            elif op == "pi":
                slots[k] = +mp.pi
            elif op == "neg":
                slots[k] = -slots[args[0]]
            elif op == "pow":
                whole = args[1].denominator == 1
                slots[k] = slots[args[0]] ** (
                    int(args[1]) if whole else mp.mpf(args[1].numerator) / args[1].denominator
                )
            elif op in two:
                slots[k] = two[op](slots[args[0]], slots[args[1]])
            else:
                slots[k] = getattr(mp, op)(slots[args[0]])
        return [slots[o.position] for o in outputs]


def _python(op: str, args: tuple[Any, ...]) -> str:
    match op:
        case "number":
            value = float(args[0])
            return f"({value!r})" if value < 0 else repr(value)
        case "pi":
            return "3.141592653589793"
        case "neg":
            return f"-{args[0]}"
        case "pow":
            if args[1] == 2:
                return f"{args[0]}*{args[0]}"
            return f"{args[0]}**{int(args[1]) if args[1].denominator == 1 else float(args[1])!r}"
        case "add" | "sub" | "mul" | "div":
            return f"{args[0]} {SIGNS[op]} {args[1]}"
    return f"{op}({args[0]})"


class Variable:
    """A result on a tape; arithmetic with it adds to the tape. Sums and products with 0 and 1 add nothing."""

    __slots__ = ("position", "tape")

    def __init__(self, tape: Tape, position: int) -> None:
        self.tape = tape
        self.position = position

    def _with(self, other: Any) -> tuple[Variable, Fraction | None, Fraction | None]:
        made = other if isinstance(other, Variable) else self.tape.number(other)
        return made, self.tape.value(self), self.tape.value(made)

    def __add__(self, other: Any) -> Variable:
        b, x, y = self._with(other)
        if x is not None and y is not None:
            return self.tape.number(x + y)
        if x == 0:
            return b
        return self if y == 0 else self.tape.add("add", self.position, b.position)

    def __radd__(self, other: Any) -> Variable:
        return self + other

    def __neg__(self) -> Variable:
        x = self.tape.value(self)
        return self.tape.add("neg", self.position) if x is None else self.tape.number(-x)

    def __sub__(self, other: Any) -> Variable:
        b, x, y = self._with(other)
        if x is not None and y is not None:
            return self.tape.number(x - y)
        if x == 0:
            return -b
        return self if y == 0 else self.tape.add("sub", self.position, b.position)

    def __rsub__(self, other: Any) -> Variable:
        return self.tape.number(other) - self

    def __mul__(self, other: Any) -> Variable:
        b, x, y = self._with(other)
        if x is not None and y is not None:
            return self.tape.number(x * y)
        if x is not None:
            return b * self  # a number stands last
        if y is not None and y in (0, 1, -1):
            return self.tape.number(0) if y == 0 else self if y == 1 else -self
        return self.tape.add("mul", self.position, b.position)

    def __rmul__(self, other: Any) -> Variable:
        return self * other

    def __truediv__(self, other: Any) -> Variable:
        b, x, y = self._with(other)
        if x is not None and y is not None:
            return self.tape.number(x / y)
        if x == 0:
            return self
        return self if y == 1 else self.tape.add("div", self.position, b.position)

    def __rtruediv__(self, other: Any) -> Variable:
        return self.tape.number(other) / self

    def __pow__(self, exponent: Any) -> Variable:
        power = Fraction(exponent)
        if power == 0:
            return self.tape.number(1)
        return self if power == 1 else self.tape.add("pow", self.position, power)


def namespace(tape: Tape) -> Any:
    """Return the functions that formulas are written with, for variables of a tape."""
    found = {f: (lambda v, f=f: tape.add(f, v.position)) for f in FUNCTIONS}
    log_2 = tape.add("log", tape.number(2).position)

    def power(x: Any, exponent: Fraction) -> Variable:
        return (x if isinstance(x, Variable) else tape.number(x)) ** exponent  # Python's own would be a float

    return SimpleNamespace(**found, pi=tape.add("pi"), log_2=log_2, number=Fraction, power=power)


def partials(
    tape: Tape, outputs: Sequence[Variable], wrt: Sequence[Variable], order: int
) -> list[list[Variable]]:
    """Return for each output all partials up to an order, in the order of `indices`."""
    found: list[list[Variable]] = []
    for y in outputs:
        known: dict[tuple[int, ...], Variable] = {(): y}
        for index in indices(len(wrt), order - 1) if order else []:
            slopes = tape.gradient(known[index], wrt)
            for i in range(index[-1] if index else 0, len(wrt)):
                known[*index, i] = slopes[i]
        found.append([known[i] for i in indices(len(wrt), order)])
    return found
