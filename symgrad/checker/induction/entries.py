"""Entries of arrays whose lengths are numbers, as formulas of numbers: also of the values of recurrences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Any, ClassVar, TypeAlias

import numpy as np

from symgrad.checker.balls.array_ops import ARRAY_OPS, pack
from symgrad.checker.balls.piecewise_ops import POINTWISE_OPS
from symgrad.checker.clock import tick
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.limits import ENTRY_STEPS
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol

_Array: TypeAlias = Any
"""A NumPy array of positions of steps, each of a number."""


def entry_claims(program: ProofProgram, a: int, b: int) -> list[Equality]:
    """Return the claims that all entries of two steps are equal, as programs without arrays.

    Args:
        program: the steps; all lengths are numbers.
        a: the position of one step.
        b: the position of the other step, of the same shape.

    Raises:
        GiveUp: if a length is not a number, an op has no such formula, or the formulas are too long.
    """
    if program.sizes:
        raise GiveUp("a length that is not a number")
    into = ProgramBuilder(program.symbols)
    symbols = {s.name: _variables(into, s) for s in program.symbols}
    left, right = _Entries(into).values(program, symbols, [a, b])
    return [into.equality(int(x), int(y)) for x, y in zip(left.ravel(), right.ravel(), strict=True)]


def _variables(into: ProgramBuilder, symbol: Symbol) -> _Array:
    if not symbol.shape:
        return np.array(into.step(ProofStep("symbol", (), (symbol.name,), (), symbol.kind)))
    found: _Array = np.empty([int(n) for n in symbol.shape], dtype=object)
    for index in np.ndindex(*found.shape):
        found[index] = into.variable(f"{symbol.name}{list(index)}", (), symbol)
    return found


_MOVES = {op: ARRAY_OPS[op] for op in ("reshape", "broadcast_to", "slice", "concatenate", "pack", "part")}
"""Ops that move entries, whatever these are."""


class _Entries:
    def __init__(self, into: ProgramBuilder) -> None:
        self._into = into

    def values(
        self, program: ProofProgram, symbols: Mapping[str, _Array], wanted: Sequence[int]
    ) -> list[_Array]:
        """Return the entries of some steps."""
        found: dict[int, _Array] = {}
        for i in program.needed(wanted):
            tick()
            step = program.steps[i]
            args = [found[a] for a in step.args]
            found[i] = symbols[step.params[0]] if step.op == "symbol" else self._step(step, args)
            if len(self._into.steps) > ENTRY_STEPS:
                raise GiveUp("formulas of entries that are too long")
        return [found[i] for i in wanted]

    def _step(self, step: ProofStep, args: Sequence[_Array]) -> _Array:
        if step.op in ("number", "constant"):
            return np.array(self._into.step(step))
        if step.op in POINTWISE_OPS or step.op == "polygamma":
            return self._pointwise(step, args)
        if step.op == "recurrence":
            return self._recurrence(step, args)
        if step.op in _MOVES:
            return _MOVES[step.op](*step.params, *args)
        if step.op in self._RULES:
            return self._RULES[step.op](self, *step.params, *args)
        raise GiveUp(f"entries of the op {step.op}")

    def _pointwise(self, step: ProofStep, args: Sequence[_Array]) -> _Array:
        def entry(*own: Any) -> int:
            return self._into.step(ProofStep(step.op, tuple(map(int, own)), step.params, (), step.kind))

        return np.asarray(np.frompyfunc(entry, len(args), 1)(*args))

    def _number(self, value: int) -> int:
        return self._into.number(value)

    def _sum(self, terms: Sequence[int]) -> int:
        return reduce(lambda x, y: self._into.op("add", x, y), terms, self._number(0))

    def _recurrence(self, step: ProofStep, args: Sequence[_Array]) -> _Array:
        length, reverse, body = step.params
        first, second = body.carries, body.carries + body.rows
        names = [s.name for s in body.program.symbols]
        now = list(args[:first])
        found = [now]
        for at in range(length)[:: -1 if reverse else 1]:
            read = [*now, *(np.asarray(x[at]) for x in args[first:second]), *args[second:]]
            now = self.values(body.program, dict(zip(names, read, strict=True)), body.results)
            found.append(now)
        return np.stack([pack(0, *v) if len(v) > 1 else v[0] for v in (found[::-1] if reverse else found)])

    def _einsum(self, labels: Any, result: Any, *args: _Array) -> _Array:
        sizes = {k: n for own, x in zip(labels, args, strict=True) for k, n in zip(own, x.shape, strict=True)}
        summed = [k for k in sizes if k not in result]
        found = np.empty(tuple(sizes[k] for k in result), dtype=object)
        for index in np.ndindex(*found.shape):
            terms: list[int] = []
            for more in product(*(range(sizes[k]) for k in summed)):
                tick()
                at = dict(zip((*result, *summed), (*index, *more), strict=True))
                factors = [int(x[tuple(at[k] for k in own)]) for own, x in zip(labels, args, strict=True)]
                terms.append(reduce(lambda x, y: self._into.op("mul", x, y), factors))
            found[index] = self._sum(terms) if summed else terms[0]
        return found

    def _position(self, at: Any) -> int:
        value = self._into.value(int(at))
        if value is None or value.denominator != 1:
            raise GiveUp("a position that is not a number")
        return int(value)

    def _gather(self, axes: Any, x: _Array, *index: _Array) -> _Array:
        if axes != (0,):
            raise GiveUp("entries at positions along several axes")
        (where,) = index
        rows = [x[self._position(at)] for at in where.ravel()]
        return np.array(rows, dtype=object).reshape((*where.shape, *x.shape[1:]))

    def _scatter_add(self, axes: Any, shape: Any, x: _Array, *index: _Array) -> _Array:
        if axes != (0,):
            raise GiveUp("entries at positions along several axes")
        (where,) = index
        found = np.full(shape, self._number(0), dtype=object)
        values = x.reshape((where.size, *shape[1:]))
        for at, row in zip(where.ravel(), values, strict=True):
            spot = self._position(at)
            found[spot] = np.frompyfunc(lambda p, q: self._sum([int(p), int(q)]), 2, 1)(found[spot], row)
        return found

    def _one_hot(self, depth: int, index: _Array) -> _Array:
        places = [self._position(at) for at in index.ravel()]
        found = [[self._number(int(k == at)) for k in range(depth)] for at in places]
        return np.array(found, dtype=object).reshape((*index.shape, depth))

    def _unslice(self, triples: Any, shape: Any, x: _Array) -> _Array:
        found = np.full(shape, self._number(0), dtype=object)
        found[tuple(slice(*t) for t in triples)] = x
        return found

    def _iota(self, *shape: int) -> _Array:
        return np.array([self._number(k) for k in range(shape[0])], dtype=object)

    def _eye(self, *shape: int) -> _Array:
        found = [[self._number(int(i == j)) for j in range(shape[1])] for i in range(shape[0])]
        return np.array(found, dtype=object)

    _RULES: ClassVar[Mapping[str, Callable[..., _Array]]] = {
        "einsum": _einsum,
        "gather": _gather,
        "scatter_add": _scatter_add,
        "one_hot": _one_hot,
        "unslice": _unslice,
        "iota": _iota,
        "eye": _eye,
    }
