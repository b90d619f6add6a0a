"""The formulas of one step of a recurrence, as they are read: values of earlier steps and rows of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgrad.autodiff.batch import batch
from symgrad.autodiff.recurrences import recur
from symgrad.frontend.tokens.terms import Token
from symgrad.ir.graph import Node, number, size_node, symbol
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, Size, names_of, size_product, size_sum
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ops.array.indexing import gather, iota
from symgrad.ops.array.layout import concatenate, expand, full, slice_rows
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.logic import gt
from symgrad.support.errors import CycleError, DomainError, ShapeError

STEP = "__step"
"""The beginning of the names of symbols that stand for positions and values while a step is read."""


@dataclass(frozen=True, slots=True)
class StepRange:
    """The range of the steps: the name of the position, and the first and the last position."""

    name: Token
    first: Size
    last: Size
    reverse: bool
    length: Size


def step_offset(step: Node, at: Node) -> Size | None:
    """Return a position minus that of the step, whose symbol is given; None if the difference varies."""
    found = as_size(substitute([at], {step: size_node(STEP)})[0])
    if found is None:
        return None
    rest = size_sum([found, size_product([-1, STEP])])
    return None if STEP in names_of(rest) else rest


class RecurrenceSteps:
    """The formulas of one step, in terms of the values that earlier steps computed.

    Args:
        loop: the range of the steps.
        step: the symbol of the position.
        whole: the symbols that stand for the arrays of all values in the formulas, with their names.
        order: the names in the order of their first values.
    """

    def __init__(self, loop: StepRange, step: Node, whole: Mapping[Node, str], order: Sequence[str]) -> None:
        self.loop, self.step, self.whole, self.order = loop, step, whole, order
        self.offsets: dict[str, Size] = {}
        self.starts: dict[str, dict[Size, Node]] = {}
        self.before: dict[str, list[Node]] = {}
        self.now: dict[str, Node] = {}
        self.rows: dict[Node, Node] = {}
        self._formulas: list[tuple[str, Node]] = []

    def offset(self, at: Node) -> Size | None:
        """Return a position minus that of the step; None if the difference varies."""
        return step_offset(self.step, at)

    def define(
        self, name: str, offset: Size, formula: Node, shape: Shape, starts: Mapping[Size, Node]
    ) -> None:
        """Add a definition; the formulas are converted when all offsets are known."""
        self.offsets[name] = offset
        first = size_sum([self.loop.first, offset])
        sign = 1 if self.loop.reverse else -1
        wanted = [size_sum([first, sign * k]) for k in range(1, len(starts) + 1)]
        if set(wanted) != set(starts):
            given = ", ".join(f"{name}[{p}]" for p in starts)
            raise DomainError(
                f"the first step computes {name}[{first}], and {given} is given",
                expected=f"{name}[{wanted[0]}]",
                cure="give the values just before the first step, each with its position",
            )
        self.starts[name] = {p: full(starts[p], shape) for p in wanted}
        self.before[name] = [
            symbol(Declaration(f"{STEP} {name} {k}", REAL, shape)) for k in range(1, len(starts) + 1)
        ]
        self._formulas.append((name, formula))

    def values(self) -> dict[str, Node]:
        """Return the array of all values of each name."""
        for name, formula in self._formulas:
            value, carry = self._converted(formula), self.before[name][0]
            self.now[name] = value if _is_larger(formula, carry) else full(value, carry.shape)
        names = [n for n in self.order if n in self.now]
        if any(self.now[n].shape != self.before[n][0].shape for n in names):
            # The caller tries again with these shapes.
            return {n: symbol(Declaration(STEP, REAL, (1, *self.now[n].shape))) for n in names}
        carries = [c for n in names for c in self.before[n]]
        results = [r for n in names for r in (self.now[n], *self.before[n][:-1])]
        starts = [s for n in names for s in self.starts[n].values()]
        found = recur(starts, carries, results, self.rows, self.loop.length, reverse=self.loop.reverse)
        at = 0
        arrays: dict[str, Node] = {}
        for n in names:
            # The values before the last of the given ones stand outside of the loop.
            early = [expand(s, [0]) for s in [*self.starts[n].values()][:0:-1]]
            parts = [found[at], *early[::-1]] if self.loop.reverse else [*early, found[at]]
            arrays[n] = concatenate(*parts, params=(0,)) if len(parts) > 1 else parts[0]
            at += len(self.before[n])
        return arrays

    def lowest(self, name: str) -> Size:
        """Return the lowest position of the values of a name."""
        low = size_sum([self.loop.last if self.loop.reverse else self.loop.first, self.offsets[name]])
        return low if self.loop.reverse else size_sum([low, -len(self.starts[name])])

    def stacked(self, formula: Node) -> Node:
        """Return the array of the values of a formula that reads no values of the recurrence."""
        converted = self._converted(formula)
        return batch([converted], self.rows, (self.loop.length,))[0]

    def _converted(self, formula: Node) -> Node:
        """Return a formula with symbols for values of earlier steps and for rows of arrays."""
        done: dict[Node, Node] = {}
        varying: set[Node] = {self.step}  # what depends on the position and on no value of a step
        values = {*self.whole}
        for node in topological([formula]):
            if node.op is gather and node.args[0] in self.whole:
                done[node] = self._value(node)
                values.add(node)
            elif (
                node.op is gather
                and varying.intersection(node.args[1:])
                and values.isdisjoint(topological([node]))
            ):
                done[node] = self._row(node)
            elif varying.intersection(node.args):
                varying.add(node)
        if self.step in topological([formula], until=done):
            done[self.step] = self._row_of(add(iota(params=(self.loop.length,)), number(self._lowest())))
        (found,) = substitute([formula], done)
        whole = next((self.whole[n] for n in topological([found]) if n in self.whole), None)
        if whole is not None:
            raise DomainError(
                f"'{whole}' is read as a whole while its values are computed",
                expected=f"values of earlier steps: {whole}[{self.loop.name}-1]",
                cure="read it at one position, or on a line below",
            )
        return found

    def _lowest(self) -> int:
        low = self.loop.last if self.loop.reverse else self.loop.first
        if not isinstance(low, int):
            raise DomainError(
                "the position is read as a number, and the lowest one is no number",
                expected="a range that begins or ends with a whole number",
                cure="write 1..T, or T..1",
            )
        return low

    def _value(self, node: Node) -> Node:
        """Return the symbol of a value of an earlier step."""
        name = self.whole[node.args[0]]
        axes, at = node.params[0], node.args[1]
        offset = self.offset(at)
        fixed = as_size(at)
        if axes[0] != 0 or (offset is None and fixed not in self.starts[name]):
            raise DomainError(
                f"'{name}' is read at a position that is not one of the steps before",
                expected=f"{name}[{self.loop.name}-1]",
                cure="read the steps before, or values that are given",
            )
        if offset is None:
            found = self.starts[name][fixed]  # pyright: ignore[reportArgumentType]  (checked above)
        else:
            lag = size_sum([self.offsets[name], size_product([-1, offset])])
            lag = size_product([-1, lag]) if self.loop.reverse else lag
            found = self.now.get(name) if lag == 0 else None
            if found is None and isinstance(lag, int) and 1 <= lag <= len(self.before[name]):
                found = self.before[name][lag - 1]
            if found is None and (not isinstance(lag, int) or lag <= 0):
                raise CycleError(
                    f"'{name}' reads its future",
                    expected=f"values of earlier steps: {name}[{self.loop.name}-1]",
                    cure="read what is computed before",
                )
            if found is None:
                raise CycleError(
                    f"'{name}' reads {lag} steps back, and has fewer first values: {len(self.before[name])}",
                    expected=f"{lag} first values",
                    cure="give more of them, each on a line above",
                )
        others = node.args[2:]
        return gather(found, *others, params=(tuple(a - 1 for a in axes[1:]),)) if others else found

    def _row(self, node: Node) -> Node:
        """Return the symbol of what is read from an array at positions that depend on the step."""
        x, *places = node.args
        axes: tuple[int, ...] = node.params[0]
        offset = self.offset(places[0])
        others = places[1:]
        if axes[0] == 0 and offset is not None and all(self.step not in topological([p]) for p in others):
            ends = self.loop.first, self.loop.last
            low, high = ends[::-1] if self.loop.reverse else ends
            start, stop = size_sum([low, offset]), size_sum([high, offset, 1])
            rows = slice_rows(x, start, stop)
            if rows.shape[0] != self.loop.length:  # max(T - 1, 0) rows, not T - 1
                rows = slice_rows(x, start, size_sum([start, self.loop.length]))
            self._check_range(x, start, stop, offset, rows)
            row = self._row_of(rows)
            return gather(row, *others, params=(tuple(a - 1 for a in axes[1:]),)) if others else row
        steps = add(iota(params=(self.loop.length,)), number(self._lowest()))
        return self._row_of(batch([node], {self.step: steps}, (self.loop.length,))[0])

    def _check_range(self, x: Node, start: Size, stop: Size, offset: Size, rows: Node) -> None:
        short = size_sum([x.shape[0], size_product([-1, stop])])
        below = isinstance(start, int) and start < 0
        if below or (isinstance(short, int) and short < 0):
            place = size_sum([self.loop.name, offset])
            raise ShapeError(
                f"position {place} is {start if below else size_sum([stop, -1])} in the "
                f"{'first' if below != self.loop.reverse else 'last'} step, and the axis has the length {x.shape[0]}",
                expected="positions from 0 to below the length",
                cure="correct the position or the range: x : real[T] has the positions 0..T-1",
            )
        if rows.shape[0] != self.loop.length:
            raise ShapeError(
                f"the positions {start} to {size_sum([stop, -1])} are read from an axis of the length {x.shape[0]}",
                expected="an axis that has these positions for all sizes",
                cure="declare the array with the size of the range",
            )

    def _row_of(self, rows: Node) -> Node:
        known = next((s for s, r in self.rows.items() if r is rows), None)
        if known is None:
            domain = REAL if rows.dtype == "real" else INT
            known = symbol(Declaration(f"{STEP} row {len(self.rows)}", domain, rows.shape[1:]))
            self.rows[known] = rows
        return known if rows.dtype != "bool" else gt(known, number(0))


def _is_larger(formula: Node, carry: Node) -> bool:
    return broadcast_shapes([formula.shape, carry.shape]) != carry.shape
