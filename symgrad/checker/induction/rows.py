"""Rows of arrays at one step, whose number is any: as formulas of rows of other arrays.

Row k of `x[1:] + y` is `x[k+1] + y[k]`. A row of an array that is no such formula is a variable, the same one wherever
it is read, so that a claim about rows that is proved for all values of its variables holds at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, ClassVar, Self

from symgrad.checker.balls.piecewise_ops import POINTWISE_OPS
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.program.builder import Shape
from symgrad.checker.program.length_polynomials import (
    ONE,
    ZERO,
    Size,
    add,
    is_nonnegative,
    length_polynomial,
    subtract,
)
from symgrad.checker.program.steps import ProofStep

_REDUCTIONS = frozenset({"mean", "max", "min", "prod", "logsumexp", "norm"})
_KEPT = frozenset({"softmax", "log_softmax"})
_ALONG = frozenset({"prod_except", "cumsum", "logcumsumexp"})
_MATRICES = frozenset({"inv", "cholesky", "det", "logdet", "expm", "sinm", "cosm"})


def _without(items: Sequence[Any], axis: int) -> tuple[Any, ...]:
    return (*items[:axis], *items[axis + 1 :])


class RowBuilder:
    """Steps that compute rows of arrays at one step.

    Args:
        into: the steps, to which those of the rows are appended.
        length: the number of steps.
        known: a function that returns the row of an array with more rows, from a position on; None if it is unknown.
    """

    def __init__(
        self, into: ProgramBuilder, length: int | str, known: Callable[[int, Size], int | None]
    ) -> None:
        self.into, self._length, self._known = into, length, known
        self.length = length_polynomial(length)
        self._rows: dict[tuple[int, int, Size], int] = {}
        self._joined: dict[tuple[tuple[int, Size, Size], ...], int] = {}
        self._step: int | None = None

    def row(self, at: int, axis: int = 0, start: Size = ZERO) -> int:
        """Return the row of an array: entry k of an axis, counted from a start, at step k.

        Args:
            at: the position of the array.
            axis: the axis, which has at least ``start + length`` entries.
            start: the entry of the first step.
        """
        key = at, axis, start
        if key not in self._rows:
            found = None if axis else self._known(at, start)
            if found is None:
                found = self._formula(at, axis, start)
            self._rows[key] = self.into.row_variable(at, axis) if found is None else found
        return self._rows[key]

    def built_rows(self) -> Iterable[tuple[tuple[int, int, Size], int]]:
        """Return the rows that were built, each with its array, its axis, and the entry of the first step."""
        return self._rows.items()

    def summand(self, total: int) -> int | None:
        """Return the term that a step adds to a sum over the steps; None if a value is no such sum.

        Args:
            total: the position of the sum, or of a linear formula of one sum.
        """
        step = self.into.steps[total]
        if step.op == "einsum":
            labels, result = step.params
            over = [
                label
                for a, own in zip(step.args, labels, strict=True)
                for label, n in zip(own, self.into.shape(a), strict=True)
                if label not in result and length_polynomial(n) == self.length
            ]
            if over:
                return self.contracted(step, over[0], ZERO)
        terms = [self.summand(a) for a in step.args]
        sums = [t for t in terms if t is not None]
        if step.op == "add":
            fits = len(sums) == len(terms)
        else:
            fits = len(sums) == 1 and step.op in ("neg", "mul", "div", "reshape", "einsum")
        if not fits or (step.op == "div" and terms[0] is None):
            return None
        args = tuple(a if t is None else t for a, t in zip(step.args, terms, strict=True))
        return self.into.step(replace(step, args=args))

    def _formula(self, at: int, axis: int, start: Size) -> int | None:
        step = self.into.steps[at]
        if step.op in self._RULES:
            return self._RULES[step.op](self, step, axis, start)
        if step.op in POINTWISE_OPS or step.op == "polygamma":
            args = [self._aligned(a, axis - len(step.shape), start) for a in step.args]
            return self._apply(step, args, axis)
        if step.op in _REDUCTIONS:
            (axes,) = step.params
            places = [p for p in range(len(self.into.shape(step.args[0]))) if p not in axes]
            place = places[axis]
            return self._apply(step, [self.row(step.args[0], place, start)], axis, (_shifted(axes, place),))
        if step.op in _KEPT and axis not in step.params[0]:
            return self._apply(
                step, [self.row(step.args[0], axis, start)], axis, (_shifted(step.params[0], axis),)
            )
        if step.op in _ALONG and axis != step.params[0]:
            along, *more = step.params
            params = (along - (along > axis), *more)
            return self._apply(step, [self.row(step.args[0], axis, start)], axis, params)
        if step.op in _MATRICES and axis < len(self.into.shape(step.args[0])) - 2:
            return self._apply(step, [self.row(step.args[0], axis, start)], axis)
        return None

    def _apply(
        self, step: ProofStep, args: Sequence[int], axis: int, params: tuple[Any, ...] | None = None
    ) -> int:
        own = step.params if params is None else params
        return self.into.step(replace(step, args=tuple(args), params=own, shape=_without(step.shape, axis)))

    def _aligned(self, at: int, end: int, start: Size) -> int:
        """Return the row of an argument that broadcasts along an axis, which is counted from the end."""
        shape = self.into.shape(at)
        axis = len(shape) + end
        if axis < 0:
            return at
        return self.row(at, axis, start) if length_polynomial(shape[axis]) != ONE else self._dropped(at, axis)

    def _dropped(self, at: int, axis: int) -> int:
        """Return an array without an axis of length 1."""
        step = self.into.steps[at]
        shape = _without(step.shape, axis)
        return self.into.step(ProofStep("reshape", (at,), (shape,), shape, step.kind))

    def contracted(self, step: ProofStep, label: int, start: Size) -> int | None:
        """Return a contraction at one value of a label, which the result may have or sum over."""
        labels, result = step.params
        if any(own.count(label) > 1 for own in labels):
            return None
        args = [
            self.row(a, own.index(label), start) if label in own else a
            for a, own in zip(step.args, labels, strict=True)
        ]
        left = tuple(_without(own, own.index(label)) if label in own else own for own in labels)
        kept = tuple(k for k in result if k != label)
        if not any(left):
            return reduce(partial(self.into.op, "mul"), args)
        # Labels are numbered in their order, so that a contraction of rows is the step that a body has, too.
        number = {k: n for n, k in enumerate(dict.fromkeys(k for own in left for k in own))}
        operands = [(a, tuple(number[k] for k in own)) for a, own in zip(args, left, strict=True)]
        return self.into.contract(operands, tuple(number[k] for k in kept))

    # -------------------------------------------------------------------------------------------------- rules by op

    def _einsum(self, step: ProofStep, axis: int, start: Size) -> int | None:
        return self.contracted(step, step.params[1][axis], start)

    def _broadcast_to(self, step: ProofStep, axis: int, start: Size) -> int:
        row = self._aligned(step.args[0], axis - len(step.shape), start)
        return self.into.full(row, _without(step.shape, axis))

    def _reshape(self, step: ProofStep, axis: int, start: Size) -> int | None:
        """Return the row of an array whose axes of length 1 are others."""
        before, after = (
            [(k, n) for k, n in enumerate(map(length_polynomial, shape)) if n != ONE]
            for shape in (self.into.shape(step.args[0]), step.shape)
        )
        if [n for _, n in before] != [n for _, n in after]:
            return None
        place = next((p for (p, _), (k, _) in zip(before, after, strict=True) if k == axis), None)
        if place is None:
            return None
        row = self.row(step.args[0], place, start)
        shape = _without(step.shape, axis)
        return row if self.into.shape(row) == shape else self._apply(step, [row], axis, (shape,))

    def _begin(self, step: ProofStep, axis: int, whole: Shape) -> Size | None:
        """Return the first row that a slice has of an array; None if it skips rows, or that is unknown."""
        begin, _, stride = step.params[0][axis]
        if stride != 1:
            return None
        first = ZERO if begin is None else length_polynomial(begin)
        if isinstance(begin, int) and begin < 0:
            first = add([length_polynomial(whole[axis]), first])
        return first if is_nonnegative(first) else None

    def _slice(self, step: ProofStep, axis: int, start: Size) -> int | None:
        begin = self._begin(step, axis, self.into.shape(step.args[0]))
        if begin is None:
            return None
        row = self.row(step.args[0], axis, add([start, begin]))
        left = _without(step.params[0], axis)
        return row if take_all(left) else self._apply(step, [row], axis, (left,))

    def _unslice(self, step: ProofStep, axis: int, start: Size) -> int | None:
        """Return the row of an array that is 0 beside the rows of another one."""
        begin = self._begin(step, axis, step.shape)
        if begin is None:
            return None
        end = add([begin, length_polynomial(self.into.shape(step.args[0])[axis])])
        shape, stop = _without(step.shape, axis), add([start, self.length])
        if is_nonnegative(subtract(begin, stop)) or is_nonnegative(subtract(start, end)):
            return self.into.full(self.into.number(0), shape)
        if not (is_nonnegative(subtract(start, begin)) and is_nonnegative(subtract(end, stop))):
            return None
        row = self.row(step.args[0], axis, subtract(start, begin))
        left = _without(step.params[0], axis)
        return row if take_all(left) else self._apply(step, [row], axis, (left, shape))

    def _concatenate(self, step: ProofStep, axis: int, start: Size) -> int | None:
        (along,) = step.params
        if along != axis:
            rows = [self.row(a, axis, start) for a in step.args]
            return self._apply(step, rows, axis, (along - (along > axis),))
        pieces = self._pieces(step, axis, start, add([start, self.length]))
        if pieces is None:
            return None
        if len(pieces) == 1:
            part, first, _ = pieces[0]
            return self.row(part, axis, first) if self.into.shape(part) else part
        if axis:
            return None
        # Arrays of which the rows are read are joined in several ways, and each row of the same parts is the same.
        if pieces not in self._joined:
            self._joined[pieces] = self.into.row_variable(self.into.step(step), axis)
        return self._joined[pieces]

    def _pieces(
        self, step: ProofStep, axis: int, start: Size, stop: Size
    ) -> tuple[tuple[int, Size, Size], ...] | None:
        """Return the parts of joined arrays that have some rows, each with its first and last row; None if unknown."""
        found: list[tuple[int, Size, Size]] = []
        begin = ZERO
        for part in step.args:
            length = length_polynomial(self.into.shape(part)[axis])
            end = add([begin, length])
            if not (is_nonnegative(subtract(start, end)) or is_nonnegative(subtract(begin, stop))):
                first = ZERO if is_nonnegative(subtract(begin, start)) else subtract(start, begin)
                last = length if is_nonnegative(subtract(stop, end)) else subtract(stop, begin)
                if not (is_nonnegative(first) and is_nonnegative(subtract(length, last))):
                    return None
                found.append(self._source(part, axis, first, last))
            begin = end
        return tuple(found)

    def _source(self, at: int, axis: int, first: Size, last: Size) -> tuple[int, Size, Size]:
        """Return an array, and rows of it, which are some rows of a slice, or of an array of one number."""
        step = self.into.steps[at]
        repeated = step.op in ("reshape", "broadcast_to") and not self.into.shape(step.args[0])
        if repeated and len(step.shape) == 1:
            return step.args[0], ZERO, subtract(last, first)
        if step.op == "slice":
            begin = self._begin(step, axis, self.into.shape(step.args[0]))
            if begin is not None and take_all(_without(step.params[0], axis)):
                return step.args[0], add([first, begin]), add([last, begin])
        return at, first, last

    def _gather(self, step: ProofStep, axis: int, start: Size) -> int | None:
        if len(step.args) != 2 or step.params[0] != (0,):
            return None
        array, index = step.args
        rank = len(self.into.shape(index))
        if axis < rank:
            return self._apply(step, [array, self.row(index, axis, start)], axis)
        return self._apply(step, [self.row(array, axis - rank + 1, start), index], axis)

    def _one_hot(self, step: ProofStep, axis: int, start: Size) -> int | None:
        if axis != len(step.shape) - 1:
            return self._apply(step, [self.row(step.args[0], axis, start)], axis)
        return None if axis else self._at_position(step.args[0], self.into.number(1), start)

    def _scatter_add(self, step: ProofStep, axis: int, start: Size) -> int | None:
        value, index = step.args[0], step.args[1]
        if axis or step.params[0] != (0,) or self.into.shape(index):
            return None
        return self._at_position(index, value, start)

    def _iota(self, _step: ProofStep, _axis: int, start: Size) -> int:
        return self.position(start)

    def position(self, start: Size) -> int:
        """Return the number of the row at a step, counted from the start of its array.

        Args:
            start: the row of the first step.
        """
        if self.length == ONE:
            return self.into.length(start)
        if self._step is None:
            self._step = self.into.position_variable(self._length)
        if start == ZERO:
            return self._step
        return self.into.step(ProofStep("add", (self._step, self.into.length(start)), (), (), "int"))

    def _at_position(self, index: int, value: int, start: Size) -> int | None:
        """Return a value in one row, whose position counts from 0, and 0 in the others."""
        number = self.into.value(index)
        if self.into.steps[index].op != "size" and (number is None or number < 0):
            return None
        here = self.into.op("eq", self.position(start), index)
        return self.into.op("where", here, value, self.into.number(0))

    _RULES: ClassVar[Mapping[str, Callable[[Self, ProofStep, int, Size], int | None]]] = {
        "einsum": _einsum,
        "broadcast_to": _broadcast_to,
        "reshape": _reshape,
        "slice": _slice,
        "unslice": _unslice,
        "concatenate": _concatenate,
        "gather": _gather,
        "one_hot": _one_hot,
        "scatter_add": _scatter_add,
        "iota": _iota,
    }


def take_all(slices: Sequence[tuple[Any, Any, int]]) -> bool:
    """Tell whether slices, with their first and last position and their step, leave out nothing."""
    return all(first in (None, 0) and last is None and step == 1 for first, last, step in slices)


def _shifted(axes: Sequence[int], gone: int) -> tuple[int, ...]:
    return tuple(a - (a > gone) for a in axes)
