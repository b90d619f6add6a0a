"""The formulas of one step of a recurrence, as they are read: values of earlier steps and rows of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.autodiff.batch import batch
from symgrad.autodiff.recurrences import recur
from symgrad.autodiff.rows.formulas import row_symbol
from symgrad.frontend.indices import IndexRange, affine, read_row, with_entries
from symgrad.frontend.tokens.terms import Token
from symgrad.ir.body import Body, StepNotation, divide
from symgrad.ir.graph import Node, indicator, number, symbol
from symgrad.ir.notation.recurrences import recurrence_of
from symgrad.ir.shapes import Triple, broadcast_shapes
from symgrad.ir.sizes import Shape, Size, size_product, size_sum
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.indexing import gather
from symgrad.ops.array.layout import WHOLE, concatenate, expand, full, slice_axes, slice_of, slice_rows
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.logic import not_, where
from symgrad.support.errors import CycleError, DomainError

STEP = "__step"
"""The beginning of the names of symbols that stand for positions and values while a step is read."""

_HEIGHT = 0
"""Below the heights of all bodies, for the symbols of rows."""


@dataclass(frozen=True, slots=True)
class StepRange:
    """The range of the steps: the name of the position, the first and the last position.

    A search has a condition, as the reader takes it in.
    """

    name: Token
    first: Size
    last: Size
    reverse: bool
    length: Size
    until: Any = None

    @property
    def values(self) -> IndexRange:
        """The positions in increasing order."""
        ends = (self.last, self.first) if self.reverse else (self.first, self.last)
        return IndexRange(str(self.name), *ends, self.length)


def position_offset(at: Node, step: Node) -> Size | None:
    """Return a position minus that of the step; None if the difference varies."""
    found = affine(at, step)
    return found[1] if found is not None and found[0] == 1 else None


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
        self.parts: dict[str, Node] = {}
        self._bound: dict[Node, Node] = {}
        self._body: Body | None = None
        self._formulas: list[tuple[str, Node]] = []
        self._condition: Node | None = None

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

    def define_part(self, name: str, offset: Size, formula: Node) -> Node:
        """Add a definition of values that no other step reads, and so have no first value; return their symbol."""
        self.offsets[name], self.starts[name], self.before[name] = offset, {}, []
        self.parts[name] = formula
        place = symbol(Declaration(f"{STEP} values of {name}", REAL, (1, *formula.shape)))
        self.whole = {**self.whole, place: name}
        self._formulas.append((name, formula))
        return place

    def lowest(self, name: str) -> Size:
        """Return the lowest position of the values of a name."""
        low = size_sum([self.loop.values.first, self.offsets[name]])
        return low if self.loop.reverse else size_sum([low, -len(self.starts[name])])

    def stop(self, condition: Node) -> None:
        """Set the condition with which the values stay; it is about the last of the values that it reads."""
        order = topological([condition])
        lags = [
            (name, self._steps_back(name, offset))
            for node in order
            if node.op is gather
            and (name := self.whole.get(node.args[0])) is not None
            and (offset := position_offset(node.args[1], self.step)) is not None
        ]
        if not lags:
            raise DomainError(
                "the condition reads no value that the steps compute",
                expected=f"a condition on {self._computed(self._formulas[0][0])}",
                cure="compare what the steps compute",
            )
        newest = min(lag for _, lag in lags if isinstance(lag, int))
        for name, lag in lags:
            if not isinstance(lag, int) or lag < 0:
                raise CycleError(
                    f"the condition reads a later value of '{name}' than the step computes",
                    expected=f"values up to {self._computed(name)}",
                    cure="read what is computed before",
                )
            if lag - newest >= len(self.before[name]):
                raise CycleError(
                    f"the condition compares values of '{name}' {lag - newest} apart",
                    expected="values that are given or computed before the first step",
                    cure=f"compute in the step what compares two: d[{self.loop.name}] = ..., with d[0] above",
                )
        # The values before a step decide whether it is made.
        by = newest - 1
        moved = {
            n: self._position(by + int(n.args[1].value))
            for n in order
            if n.op is add and n.args[0] is self.step and n.args[1].is_number() and n.args[1].dtype == "int"
        }
        self._condition = substitute([condition], {self.step: self._position(by), **moved})[0]

    def _position(self, offset: int) -> Node:
        return add(self.step, number(offset)) if offset else self.step

    def _computed(self, name: str) -> str:
        """Return the value of a step as it is written: z[k]."""
        return f"{name}[{size_sum([str(self.loop.name), self.offsets[name]])}]"

    def _steps_back(self, name: str, offset: Size) -> Size:
        """Return how many steps before the current one computed the value at a position."""
        lag = size_sum([self.offsets[name], size_product([-1, offset])])
        return size_product([-1, lag]) if self.loop.reverse else lag

    def values(self) -> dict[str, Node]:
        """Return the array of all values of each name."""
        stop = None if self._condition is None else self._converted(self._condition)
        for name, formula in self._formulas:
            value = self._converted(formula)
            if not self.before[name]:
                self.now[name] = value
                continue
            carry = self.before[name][0]
            self.now[name] = value if _is_larger(formula, carry) else full(value, carry.shape)
        names = [n for n in self.order if n in self.now]
        shapes = {name: node.shape[1:] for node, name in self.whole.items()}
        if any(node.shape != shapes[n] for n, node in self.now.items()):
            # The caller tries again with these shapes.
            return {n: symbol(Declaration(STEP, REAL, (1, *node.shape))) for n, node in self.now.items()}
        carries = [c for n in names for c in self.before[n]]
        results = [r for n in names for r in (self.now[n], *self.before[n][:-1])]
        if stop is not None:
            results = [_where_stopped(stop, c, r) for c, r in zip(carries, results, strict=True)]
        starts = [s for n in names for s in self.starts[n].values()]
        # The same steps in another order of lines are the same node.
        rows = {n: self.rows[n] for n in topological(results) if n in self.rows}
        found = recur(starts, carries, results, rows, self.loop.length, reverse=self.loop.reverse)
        self._bind(dict(zip(carries, found, strict=True)), dict(zip(carries, starts, strict=True)))
        at = 0
        arrays: dict[str, Node] = {}
        for n in names:
            # The values before the last of the given ones stand outside of the loop.
            early = [expand(s, [0]) for s in [*self.starts[n].values()][:0:-1]]
            parts = [found[at], *early[::-1]] if self.loop.reverse else [*early, found[at]]
            arrays[n] = concatenate(*parts, params=(0,)) if len(parts) > 1 else parts[0]
            at += len(self.before[n])
        stacks = dict(self.rows)
        for carry, array in zip(carries, found, strict=True):
            ends = (1, None) if self.loop.reverse else (None, self.loop.length)
            stacks[carry] = slice_rows(array, *ends)
        parts = [n for n, before in self.before.items() if not before]
        arrays |= zip(parts, batch([self.now[n] for n in parts], stacks, (self.loop.length,)), strict=True)
        return arrays

    def _bind(self, values: Mapping[Node, Node], starts: Mapping[Node, Node]) -> None:
        """Remember what the symbols of the formulas are in the body of the recurrence."""
        bound = dict(starts)  # of carries that no step changes
        for carry, found in ((c, recurrence_of(v)) for c, v in values.items()):
            if found is not None:
                body: Body = found[0].params[-1]
                self._body = body
                bound[carry] = body.carries[found[1]]
                _, rows, operands = divide(found[0])
                of = {x: s for s, x in zip(body.rows, rows, strict=True)}
                read = {s: indicator(x) if x.dtype == "bool" else x for s, x in self.rows.items()}
                bound |= {s: of[x] for s, x in read.items() if x in of}
                self._bound = {x: s for s, x in zip(body.operands, operands, strict=True)}
        self._bound |= bound

    def notation(self) -> dict[Body, StepNotation]:
        """Return how the step is written, with the body of the recurrence."""
        if self._body is None:
            return {}
        found = substitute([self._converted(formula) for formula in self.parts.values()], self._bound)
        symbols = {*self._body.symbols}
        parts = zip(self.parts, found, strict=True)
        named = {name: node for name, node in parts if symbols.issuperset(symbols_of([node]))}
        return {self._body: StepNotation(str(self.loop.name), named)}

    def _converted(self, formula: Node) -> Node:
        """Return a formula with symbols for values of earlier steps and for rows of arrays."""
        done: dict[Node, Node] = {}
        varying: set[Node] = {self.step}  # what depends on the position and on no value of a step
        values = {*self.whole}
        for node in topological([formula]):
            if node.op is gather and _sliced_rows(node.args[0])[0] in self.whole:
                done[node] = self._value(node)
                values.add(node)
            elif (
                node.op is gather
                and varying.intersection(node.args[1:])
                and values.isdisjoint(topological([node]))
            ):
                done[node] = read_row(node, self.step, self.loop.values, self.rows, _HEIGHT)
            elif varying.intersection(node.args):
                varying.add(node)
        if self.step in topological([formula], until=done):
            done[self.step] = row_symbol(self.loop.values.positions, self.rows, _HEIGHT)
        (found,) = with_entries([formula], done)
        whole = next((self.whole[n] for n in topological([found]) if n in self.whole), None)
        if whole is not None:
            raise DomainError(
                f"'{whole}' is read as a whole while its values are computed",
                expected=f"values of earlier steps: {whole}[{self.loop.name}-1]",
                cure="read it at one position, or on a line below",
            )
        return found

    def _value(self, node: Node) -> Node:
        """Return the symbol of a value of an earlier step."""
        whole, triples = _sliced_rows(node.args[0])
        name = self.whole[whole]
        axes, at = node.params[0], node.args[1]
        offset = position_offset(at, self.step)
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
            lag = self._steps_back(name, offset)
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
        found = slice_axes(found, triples) if triples else found
        others = [self._converted(x) for x in node.args[2:]]
        return gather(found, *others, params=(tuple(a - 1 for a in axes[1:]),)) if others else found


def _sliced_rows(x: Node) -> tuple[Node, Sequence[Triple]]:
    """Return the array of which an array has parts of all rows, and the slices of these: y[t-1, 0] reads such parts."""
    if x.op is slice_of and x.params[0][0] == WHOLE:
        return x.args[0], x.params[0][1:]
    return x, ()


def _where_stopped(stop: Node, value: Node, new: Node) -> Node:
    """Return a value that stays once a condition holds; `until not c` is written `where(c, new, value)`."""
    return where(stop.args[0], new, value) if stop.op is not_ else where(stop, value, new)


def _is_larger(formula: Node, carry: Node) -> bool:
    return broadcast_shapes([formula.shape, carry.shape]) != carry.shape
