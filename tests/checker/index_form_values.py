"""Normal forms as numbers at concrete sizes: sums run over every index, nothing is simplified."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special

from symgrad.checker.index_form.forms.canonical_labels import Form
from symgrad.checker.index_form.forms.terms import FormAlgebra
from symgrad.checker.index_form.matrix_functions import primitive_part

Environment = Mapping[str, int]

SCALARS: Mapping[str, Callable[[float], float]] = {
    "acosh": math.acosh,
    "asin": math.asin,
    "asinh": math.asinh,
    "atan": math.atan,
    "atanh": math.atanh,
    "cbrt": math.cbrt,
    "ceil": math.ceil,
    "cos": math.cos,
    "erf": math.erf,
    "exp": math.exp,
    "floor": math.floor,
    "gamma": math.gamma,
    "lgamma": math.lgamma,
    "log": math.log,
    "round": round,
    # What is equal as numbers may differ by rounding.
    "sign": lambda u: 0.0 if abs(u) < 1e-12 else math.copysign(1, u),
    "sin": math.sin,
    "sum": lambda u: u,
}
REDUCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "argmax": lambda v: np.flatnonzero(np.asarray(v) >= np.max(v) - 1e-12)[0],
    "argmin": lambda v: np.flatnonzero(np.asarray(v) <= np.min(v) + 1e-12)[0],
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
}


FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "expm": scipy.linalg.expm,
    "sinm": scipy.linalg.sinm,
    "cosm": scipy.linalg.cosm,
}


class Values:
    """Evaluates forms.

    Args:
        t: their heads.
        sizes: numbers for the names of lengths.
        arrays: for each input an array, or a number.
        mark: which of the marks that tell arguments apart is 1, the others are 0.
    """

    def __init__(
        self, t: FormAlgebra, sizes: Mapping[str, int], arrays: Mapping[str, Any], mark: int | None = None
    ) -> None:
        self.t, self.sizes, self.arrays, self.mark = t, sizes, arrays, mark
        self.known: dict[Any, float] = {}

    def length(self, text: str) -> int:
        """Return a length, read as Python reads it."""
        ceil = lambda q: math.ceil(q)  # noqa: E731
        return int(eval(text, {"max": max, "min": min, "ceil": ceil, **self.sizes}))

    def array(self, form: Form, shape: tuple[Any, ...]) -> Any:
        """Return the values of a form over the indices of axes."""
        lengths = [self.length(str(n)) for n in shape]
        result = np.empty(lengths)
        for at in np.ndindex(*lengths):
            result[at] = self.form(form, {f"a{k}": i for k, i in enumerate(at)})
        return result

    def form(self, form: Form, at: Environment) -> float:
        """Return the value of a form where its free indices are given."""
        total = 0.0
        for monomial, c in form.items():
            value = float(c)
            for (lengths, own), exponent in monomial:
                part = 0.0
                for index in product(*(range(self.length(n)) for n in lengths)):
                    inner = {**at, **{f"%{k}": i for k, i in enumerate(index)}}
                    part += math.prod(
                        self._power(self.atom(h, tuple(inner[p] for p in positions)), float(e))
                        for h, positions, e in own
                    )
                value *= self._power(part, float(exponent))
            total += value
        return total

    def _power(self, value: float, e: float) -> float:
        if value < 0 and e != int(e):
            return math.nan
        if value == 0 and e < 0:
            return math.nan
        return value**e

    def atom(self, head: int, at: tuple[int, ...]) -> float:
        """Return the value of a factor."""
        at = min(tuple(at[k] for k in order) for order in self.t.heads[head].symmetries)
        if (head, at) not in self.known:
            try:
                self.known[head, at] = self._atom(head, at)
            except (ValueError, OverflowError):
                self.known[head, at] = math.nan
        return self.known[head, at]

    def _atom(self, number: int, at: tuple[int, ...]) -> float:
        head = self.t.heads[number]
        slots = {f"${k}": i for k, i in enumerate(at)}
        match head.kind:
            case "tensor":
                array = np.asarray(self.arrays[head.params[0]], dtype=float)
                # An axis of declared length 1 has no index.
                kept = array.reshape([self.length(n) for n in head.params[1]])
                return float(kept[at])
            case "size":
                return float(self.length(head.params[0]))
            case "constant":
                return math.pi
            case "prime":
                return float(head.params[0])
            case "iota":
                return float(at[0])
            case "delta":
                return float(at[0] == at[1])
            case "map":
                return float(self._map(head.params, head.forms, at, slots))
            case "expm" | "sinm" | "cosm":
                length, p = head.params
                return float(self._function(head.kind, length, p, head.forms[0], at))
            case "slope":
                length, name, order = head.params
                return float(self._slope(length, name, order, head.forms[0], at))
            case "inv" | "det" | "cholesky":
                matrix = self._matrix(head.params[0], head.forms[0], at if head.kind == "det" else at[2:])
                if head.kind == "det":
                    return float(np.linalg.det(matrix))
                function = np.linalg.inv if head.kind == "inv" else np.linalg.cholesky
                return float(function(matrix)[at[0], at[1]])
            case kind if kind in REDUCTIONS:
                lengths = [self.length(n) for n in head.params]
                values = [
                    self.form(head.forms[0], {**slots, **{f"$m{k}": i for k, i in enumerate(index)}})
                    for index in np.ndindex(*lengths)
                ]
                return float(REDUCTIONS[kind](values))
            case "atan2":
                # Its arguments are the coefficients of two marks.
                sides = [Values(self.t, self.sizes, self.arrays, mark) for mark in (0, 1)]
                return math.atan2(*(side.form(head.forms[0], slots) for side in sides))
            case "mark":
                return float(head.params[0] == self.mark)
            case "polygamma":
                return float(scipy.special.polygamma(head.params[0], self.form(head.forms[0], slots)))
            case kind:
                return float(SCALARS[kind](self.form(head.forms[0], slots)))

    def _matrix(self, length: str, form: Form, rest: tuple[int, ...]) -> Any:
        n = self.length(length)
        names = {f"${k}": i for k, i in enumerate(rest)}
        rows = [[self.form(form, {**names, "$r": i, "$c": j}) for j in range(n)] for i in range(n)]
        return np.array(rows)

    def _function(self, name: str, length: str, p: int, form: Form, at: tuple[int, ...]) -> float:
        value = FUNCTIONS[name](self._matrix(length, form, at[2:]))
        power = np.linalg.matrix_power(self._matrix(length, primitive_part(self.t, form), at[2:]), p)
        return (power @ value)[at[0], at[1]]

    def _slope(self, length: str, name: str, order: int, form: Form, at: tuple[int, ...]) -> float:
        """A block of the function of a matrix with copies of M on the diagonal and unit matrices above it."""
        m = self._matrix(length, form, at[2 * order :])
        n = len(m)
        whole = np.kron(np.eye(order), m)
        for k in range(order - 1):
            whole[k * n + at[2 * k + 1], (k + 1) * n + at[2 * k + 2]] = 1
        return FUNCTIONS[name](whole)[at[0], (order - 1) * n + at[2 * order - 1]]

    def _map(self, params: Any, forms: Any, at: tuple[int, ...], slots: Environment) -> bool:
        name, lengths, _ = params
        match name:
            case "le":
                return at[0] <= at[1]
            case "eye":
                return len({*at, *([0] if len(at) == 1 else [])}) == 1
            case "wrapped" | "at":
                index = self.form(forms[0], slots)
                size = self.length(lengths[-1])
                assert name == "at" or -size <= index < size
                return at[-1] == (index + size if index < 0 and name == "wrapped" else index)
            case ("slice", start, stop, step, long, short):
                low, high = (None if e == "None" else self.length(e) for e in (start, stop))
                chosen = range(self.length(long))[slice(low, high, int(step))]
                if long == "1":
                    return chosen[at[0]] == 0
                return chosen[0 if short == "1" else at[0]] == at[-1]
            case ("affine", step):
                start = self.form(forms[0], {})
                one = len(at) == 1 and bool(params[2])
                inner = 0 if one else at[0]
                outer = 0 if len(at) == 1 and not one else at[-1]
                return outer == start + step * inner
            case ("reshape", count):
                sides = [(at[:count], lengths[:count]), (at[count:], lengths[count:])]
                flat = [
                    int(np.ravel_multi_index(i, tuple(self.length(n) for n in shape))) if i else 0
                    for i, shape in sides
                ]
                return bool(flat[0] == flat[1])
            case _:
                raise AssertionError(name)
