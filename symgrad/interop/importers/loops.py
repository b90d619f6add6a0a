"""Loops of other frameworks as recurrences: a step with carries, rows and constants becomes one recurrence.

The step is read once, with symbols for what it carries on. A whole number that each step changes by the same number is
no carry of the recurrence: it is computed from the number of the step. A loop that goes on while a condition holds has
a known bound if such a count is compared with a size in its condition; the values stay when the rest of the condition
fails.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from itertools import count
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from symgrad.api.functions.arrays import sum
from symgrad.api.functions.layout import arange, size
from symgrad.api.functions.loops import scan
from symgrad.api.handles.expr import Expr, as_expr, handle
from symgrad.frontend.indices import affine
from symgrad.interop.importers.booleans import as_number, select_value
from symgrad.ir.graph import Node, symbol
from symgrad.ir.sizes import Shape, Size, size_ceildiv, size_max, size_min, size_product, size_sum
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import DOMAINS, Declaration
from symgrad.ops.numpy.lengths import as_size
from symgrad.support.errors import UnsupportedError

Step: TypeAlias = Callable[[list[Any], list[Expr], Expr], tuple[Sequence[Any], Sequence[Expr]]]
"""A function of the carries, one row of each array, and the number of steps made before; it returns the new carries and
what is stacked. Real numbers and conditions among the carries have their whole shapes."""

UNROLLED = 512
"""The largest number of steps of a loop that is unrolled, since it is no recurrence."""

_counter = count()


class NoRecurrenceError(UnsupportedError):
    """A loop carries on what a recurrence cannot have."""


class _StepCount(NamedTuple):
    """A whole number that begins at a value, and that each step changes by the same number."""

    first: Any
    by: int

    def after(self, steps: Any) -> Any:
        """Return the number after some steps."""
        moved = steps if self.by == 1 else self.by * steps
        if not self.by:
            return self.first
        return moved if isinstance(self.first, int) and not self.first else self.first + moved


class LoopResult(NamedTuple):
    """What a loop returns.

    Args:
        last: what it carries on after its last step.
        stacked: what its steps return, along a first axis.
        length: the largest number of steps.
        position: a function that returns, of a position in the step, by how much it changes and its first value; None
            for positions that do not count.
    """

    last: list[Any]
    stacked: list[Expr]
    length: Size
    position: Callable[[Any], tuple[int, Size] | None]


class _LoopStep(NamedTuple):
    """A step that was read once.

    Args:
        symbols: what stands for the carries, by number.
        rows: what stands for rows.
        number: what stands for the number of steps made before.
        counts: the carries that count.
        new: the new carries.
        seen: what is stacked.
    """

    symbols: Mapping[int, Expr]
    rows: Sequence[Expr]
    number: Expr
    counts: Mapping[int, _StepCount]
    new: Sequence[Any]
    seen: Sequence[Expr]

    @property
    def moving(self) -> list[int]:
        """The carries of the recurrence."""
        return [k for k in self.symbols if k not in self.counts]

    def counted(self, number: Expr) -> dict[Node, Node]:
        """Return the values of the counts after some steps."""
        return {self.symbols[k].node: as_expr(c.after(number)).node for k, c in self.counts.items()}

    def position(self, place: Any) -> tuple[int, Size] | None:
        """Return by how much a position in the step changes, and its first value; None if it does not count."""
        node = as_expr(place).node
        return affine(substitute([node], self.counted(self.number))[0], self.number.node)


def read_loop(
    step: Step,
    start: Sequence[Any],
    kinds: Sequence[str],
    rows: Sequence[Expr],
    length: Size,
    *,
    reverse: bool = False,
    same: Collection[int] = (),
) -> LoopResult:
    """Return what a loop of known length carries on after its last step, and its stacked outputs.

    Args:
        step: the step; it is called once.
        start: the first carries: expressions, or NumPy arrays for known whole numbers.
        kinds: the kind of each carry: real, int or bool; any other text for what is no array of numbers.
        rows: the arrays whose rows the steps read.
        length: the number of steps.
        reverse: whether the steps run from the last row to the first.
        same: the numbers of the carries that no step changes; the step gets their first values.

    Raises:
        NoRecurrenceError: if it carries on whole numbers that do not count.
    """
    read = _read_step(step, start, kinds, rows, same)
    return _recurrence(read, start, rows, length, reverse, None)


def read_while(
    condition: Callable[[list[Any]], Any],
    step: Step,
    start: Sequence[Any],
    kinds: Sequence[str],
    *,
    same: Collection[int] = (),
    cure: str,
) -> LoopResult:
    """Return what a loop carries on that goes on while a condition holds, and its stacked outputs.

    Args:
        condition: the condition, a function of the carries.
        step: as for `read_loop`.
        start: as for `read_loop`.
        kinds: as for `read_loop`.
        same: as for `read_loop`.
        cure: how the number of steps is bounded in the framework.

    Raises:
        NoRecurrenceError: as for `read_loop`, and if what a condition of the data decides is stacked.
        UnsupportedError: if the condition does not bound the number of steps.
    """
    read = _read_step(step, start, kinds, (), same)
    goes_on = condition([read.symbols.get(k, v) for k, v in enumerate(start)])
    length, rest = _bound(as_expr(goes_on if isinstance(goes_on, Expr) else bool(goes_on)), read)
    if length is None:
        raise UnsupportedError("a loop whose number of steps depends on the data", cure=cure)
    if rest and read.seen:
        raise NoRecurrenceError("a loop that writes a list")
    return _recurrence(read, start, (), length, False, reduce(lambda a, b: a & b, rest) if rest else None)


def unroll_while(
    condition: Callable[[list[Any]], Any],
    step: Callable[[list[Any]], Sequence[Any]],
    start: Sequence[Any],
    reason: NoRecurrenceError,
) -> list[Any]:
    """Return what a loop carries on that is no recurrence, step by step.

    Raises:
        UnsupportedError: if a condition is not known, or there are too many steps.
    """
    values = list(start)
    for _ in range(UNROLLED):
        again = condition(values)
        if isinstance(again, Expr):
            raise UnsupportedError(
                f"{reason.what}, and whose number of steps depends on the data", cure=CARRY_REAL
            )
        if not bool(again):
            return values
        values = list(step(values))
    raise UnsupportedError(f"{reason.what}, with more than {UNROLLED} steps", cure=CARRY_REAL)


CARRY_REAL = "carry real numbers on, and compute the others in the step"


def _read_step(
    step: Step, start: Sequence[Any], kinds: Sequence[str], rows: Sequence[Expr], same: Collection[int]
) -> _LoopStep:
    loop = next(_counter)
    symbols: dict[int, Expr] = {}
    for k, (value, kind) in enumerate(zip(start, kinds, strict=True)):
        if k not in same:
            shape = tuple(getattr(value, "shape", ())) if kind in DOMAINS else ()
            if kind not in DOMAINS or (kind == "int" and shape):
                raise NoRecurrenceError("a loop that carries whole numbers on")
            symbols[k] = _symbol(f"carry {k} of loop {loop}", kind, shape)
    read = [_symbol(f"row {k} of loop {loop}", x.dtype, tuple(x.shape)[1:]) for k, x in enumerate(rows)]
    made = _symbol(f"steps of loop {loop}", "int", ())
    new, seen = step([symbols.get(k, v) for k, v in enumerate(start)], read, made)
    counts: dict[int, _StepCount] = {}
    for k in (k for k in symbols if kinds[k] == "int"):
        found = affine(as_expr(new[k]).node, symbols[k].node)
        if found is None or found[0] != 1 or not isinstance(found[1], int):
            raise NoRecurrenceError("a loop that carries on a whole number other than a count")
        first = as_size(start[k].node) if isinstance(start[k], Expr) else int(start[k])
        counts[k] = _StepCount(first if isinstance(first, int) else start[k], found[1])
    return _LoopStep(symbols, read, made, counts, new, list(seen))


def _symbol(name: str, kind: str, shape: Shape) -> Expr:
    return handle(symbol(Declaration(name, DOMAINS[kind], shape)))


def _recurrence(
    read: _LoopStep,
    start: Sequence[Any],
    rows: Sequence[Expr],
    length: Size,
    reverse: bool,
    goes_on: Expr | None,
) -> LoopResult:
    moving = read.moving
    # Once the condition has failed, it fails for values that stay; a count does not stay.
    counts = {read.symbols[k].node for k in read.counts}
    reads_count = goes_on is not None and not counts.isdisjoint(topological([goes_on.node]))

    def one(carry: tuple[Sequence[Expr], Any], xs: Sequence[Expr]) -> tuple[Any, Any]:
        values, alive = carry
        *own, place = xs
        made = size(length) - 1 - place if reverse else place
        table = {read.symbols[k].node: v.node for k, v in zip(moving, values, strict=True)}
        table |= {r.node: x.node for r, x in zip(read.rows, own, strict=True)}
        table |= {**read.counted(made), read.number.node: made.node}

        def at_step(e: Expr) -> Expr:
            return handle(substitute([e.node], table)[0])

        new, seen = [at_step(read.new[k]) for k in moving], [at_step(e) for e in read.seen]
        if goes_on is None:
            return (tuple(new), alive), tuple(seen)
        again = at_step(goes_on)
        if reads_count:
            again = alive[0] & again
        kept = tuple(select_value(again, n, o) for n, o in zip(new, values, strict=True))
        return (kept, (again,) if reads_count else ()), (*seen, again)

    first = tuple(start[k] for k in moving), (as_expr(True),) if reads_count else ()
    loop: Any = scan  # whose types are those of a user's: a length is a number or a name
    (last, _), stacked = loop(one, first, (*rows, arange(length)), length, reverse=reverse)
    steps: Any = length if isinstance(length, int) else size(length)
    if goes_on is not None:
        *stacked, made = stacked
        steps = sum(as_number(made))
    ends: dict[int, Any] = dict(zip(moving, last, strict=True))
    for k, counted in read.counts.items():
        end = counted.after(steps)
        ends[k] = end if isinstance(end, Expr) else np.asarray(end)
    return LoopResult([ends.get(k, v) for k, v in enumerate(start)], list(stacked), length, read.position)


def _bound(goes_on: Expr, read: _LoopStep) -> tuple[Size | None, list[Expr]]:
    """Return the largest number of steps, None for no bound; and the conditions that may end the loop before."""
    bounds: list[Size] = []
    rest: list[Expr] = []
    pending = [goes_on.node]
    while pending:
        node = pending.pop()
        if node.op.name == "and_":
            pending += node.args[::-1]
            continue
        found = _steps_while(substitute([node], read.counted(read.number))[0], read.number.node)
        if found is None:
            rest.append(handle(node))
        else:
            bounds += found
    return (reduce(size_min, bounds) if bounds else None), rest


def _steps_while(node: Node, number: Node) -> list[Size] | None:
    """Return in a list for how many steps a comparison holds; an empty one if it always does, None if nothing tells."""
    name = node.op.name
    if name not in ("lt", "le", "gt", "ge", "ne") or any(a.dtype != "int" or a.shape for a in node.args):
        known = node.op.name == "number"
        return ([] if node.value else [0]) if known else None
    less, more = node.args if name in ("lt", "le", "ne") else node.args[::-1]
    found = affine((handle(less) - handle(more)).node, number)
    if found is None:
        return None
    by, rest = found
    if name == "ne":
        reached = isinstance(rest, int) and by != 0 and -rest % by == 0 and -rest // by >= 0
        return [-cast("int", rest) // by] if reached else None
    if name in ("le", "ge"):
        rest = size_sum([rest, -1])
    # by*t + rest < 0 for all steps t before the end
    if by > 0:
        return [size_max(size_ceildiv(size_product([-1, rest]), by), 0)]
    if not isinstance(rest, int):
        return None
    return [] if rest < 0 else [0]
