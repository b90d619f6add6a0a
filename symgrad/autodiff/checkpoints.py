"""Compute the values of a recurrence again on the way back, from checkpoints, instead of storing all of them.

The steps are divided into segments. The way forward stores the values at the beginning of each segment. The way back is
a recurrence over the segments: each step of it computes the values of one segment, runs back over them, and adds what
the segment contributes to the sums over all steps. Griewank and Walther, Evaluating Derivatives (2008), chapter 12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isqrt

from symgrad.autodiff.batch import batch
from symgrad.autodiff.recurrences import StepArrays, recur, recurrence
from symgrad.autodiff.rows.formulas import Rows, reads_row, row_at, sum_rows, summand
from symgrad.ir.body import bound_symbol, carry_values
from symgrad.ir.graph import Node, as_node, size_leaf
from symgrad.ir.notation.recurrences import sliced_rows
from symgrad.ir.sizes import Size, size_ceildiv, size_product, size_sum
from symgrad.ir.traverse import readers, substitute, topological
from symgrad.ops.array.contraction import einsum
from symgrad.ops.array.indexing import gather, iota
from symgrad.ops.array.layout import expand, full, shaped, slice_rows
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.scalar.arith import add, mul

_SEGMENT = 1000
"""The number of steps of a segment, if the number of all steps is not known."""


_COPIES = 8
"""How often a sum is in memory, about: before and after a segment, what the segment adds, and parts of these."""


def with_checkpoints(outputs: Sequence[Node], segment: int | None = None) -> tuple[list[Node], list[int]]:
    r"""Return a program that computes the values of recurrences again on the way back, and the lengths of segments.

    A recurrence stays as it is if more is read of its values than their sums, rows of a way back, and the last values.

    Args:
        outputs: the nodes to compute.
        segment: the number of steps of a segment; by default about the square root of the number of all steps.

    Example:
        >>> import symgrad as sg
        >>> h = sg.parse("x : real[9]; a : real\nh[0] = a\nh[t] = sin(h[t-1]) + x[t-1] for t in 1..9\ny = h[9]")
        >>> again, segments = with_checkpoints([h["y"].node, sg.grad(h["y"], "a").node])
        >>> [n.params[0] for n in topological(again) if n.op is recurrence], segments
        ([3, 3], [3])
    """
    found, segments = list(outputs), list[int]()
    for node in [n for n in topological(outputs) if n.op is recurrence and not n.params[1]]:
        length = node.params[0]
        steps = segment or (max(isqrt(length), 1) if isinstance(length, int) else _SEGMENT)
        if (isinstance(length, int) and length <= steps) or node not in topological(found):
            continue
        changed = _Segments(node, found, steps).outputs()
        if changed is not None:
            found = changed
            segments.append(steps)
    return found, segments


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some consecutive steps.

    Args:
        length: the number of steps.
        begin: the position of the first step.
        values: all values of the carries of the recurrence in these steps.
        back: all values of the carries of the way back; empty on the way forward.
    """

    length: Size
    begin: Node
    values: Sequence[Node]
    back: Sequence[Node] = ()


class _Segments:
    """A recurrence in segments, and the way back over it.

    Args:
        node: the recurrence.
        outputs: the program.
        steps: the number of steps of a segment.
    """

    def __init__(self, node: Node, outputs: Sequence[Node], steps: int) -> None:
        self.forward = StepArrays(node)
        self.length, self.steps = node.params[0], steps
        self.node = node
        self.count = size_ceildiv(size_sum([self.length, 1 - steps]), steps)
        self.done = size_product([self.count, steps])
        self.left = size_sum([self.length, size_product([-1, self.done])])
        self.outputs_before = self._without_first_rows(outputs)
        self.order = topological(self.outputs_before)
        self.depends = readers(self.order, [node])
        self.height = node.params[2].height + 1
        self.table: dict[Node, Node] = {}

    def _without_first_rows(self, outputs: Sequence[Node]) -> list[Node]:
        """Return a program in which sums over all positions are sums over the steps and the first values."""
        order = topological(outputs)
        depends = readers(order, [self.node])
        table: dict[Node, Node] = {}
        for total in [n for n in order if n.op is einsum and n in depends and not summand(n, self.length)]:
            stack = summand(total, size_sum([self.length, 1]))
            if stack is not None:
                table[total] = add(row_at(stack, 0), sum_rows(slice_rows(stack, 1, None)))
        return substitute(outputs, table)

    def outputs(self) -> list[Node] | None:
        """Return the program in segments; None if it reads all values of the recurrence."""
        ways = [
            n
            for n in self.order
            if n.op is recurrence and n.params[:2] == (self.length, 1) and n in self.depends
        ]
        if len(ways) > 1:
            return None
        back = StepArrays(ways[0]) if ways else None
        behind = readers(self.order, ways)
        totals = [n for n in self.order if n in self.depends and n.op is einsum and summand(n, self.length)]
        if self._needs_less_memory([*ways, self.node], totals):
            return None
        try:
            checkpoints = self._forward_pass([n for n in totals if n not in behind])
            if back is not None:
                self._backward_pass(back, checkpoints, [n for n in totals if n in behind])
        except _ReadsAllError:
            return None
        found = substitute(self.outputs_before, self.table)
        return None if {self.node, *ways} & set(topological(found)) else found

    def _needs_less_memory(self, recurrences: Sequence[Node], totals: Sequence[Node]) -> bool:
        """Tell whether all values take less memory than the sums of a segment, as for large matrices and few steps."""
        values = size_sum(size_product(n.shape) for n in recurrences)
        sums = size_sum(size_product([_COPIES, *t.shape]) for t in totals)
        return isinstance(values, int) and isinstance(sums, int) and values < sums

    def _forward_pass(self, totals: Sequence[Node]) -> list[Node]:
        """Compute the values at the beginnings of the segments, and return them."""
        number = bound_symbol("segment", 0, self.height, (), "int")
        carries = self._symbols("value at the beginning", self.forward)
        piece = self._again(carries, self._segment(number))
        found = self._run(
            [
                (c, s, row_at(v, self.steps))
                for c, s, v in zip(carries, self.forward.starts, piece.values, strict=True)
            ],
            totals,
            piece,
            {number: iota(params=(self.count,))},
            reverse=False,
        )
        checkpoints = found[: len(carries)]
        rest = self._again([row_at(c, self.count) for c in checkpoints], self._rest())
        ends = [row_at(v, self.left) for v in rest.values]
        self._replace_rows(self.forward.values, self.length, ends)
        self._replace_rows(self.forward.values, 0, self.forward.starts)
        for total, sums in zip(totals, found[len(carries) :], strict=True):
            self.table[total] = add(row_at(sums, self.count), self._sum(total, rest))
        self.rest = rest
        return checkpoints

    def _backward_pass(self, back: StepArrays, checkpoints: Sequence[Node], totals: Sequence[Node]) -> None:
        """Run back over the segments, and compute their values again."""
        first = substitute([*back.starts, *back.operands], self.table)
        if any(n in self.depends for n in first):
            raise _ReadsAllError
        starts, operands = first[: len(back.starts)], first[len(back.starts) :]
        self.back = back
        rest = self._along(back, starts, operands, self.rest)
        number = bound_symbol("segment", 0, self.height, (), "int")
        at = self._symbols("value at the beginning", self.forward)
        carries = self._symbols("value after the end", back)
        piece = self._along(back, carries, operands, self._again(at, self._segment(number)))
        rows = {a: _rows_from(c, as_node(0), self.count) for a, c in zip(at, checkpoints, strict=True)}
        ends = [row_at(v, 0) for v in rest.back]
        found = self._run(
            [(c, e, row_at(v, 0)) for c, e, v in zip(carries, ends, piece.back, strict=True)],
            totals,
            piece,
            {number: iota(params=(self.count,)), **rows},
            reverse=True,
        )
        self._replace_rows(back.values, 0, [row_at(v, 0) for v in found[: len(carries)]])
        for total, sums in zip(totals, found[len(carries) :], strict=True):
            self.table[total] = add(row_at(sums, 0), self._sum(total, rest))

    def _run(
        self,
        carries: Sequence[tuple[Node, Node, Node]],
        totals: Sequence[Node],
        piece: _Piece,
        rows: Mapping[Node, Node],
        *,
        reverse: bool,
    ) -> list[Node]:
        """Return the recurrence over the segments.

        Args:
            carries: the symbol of each carry, its first value, and its formula.
            totals: the sums to which each segment adds.
            piece: one segment.
            rows: the symbols of rows, each with its array.
            reverse: whether it runs back.
        """
        sums = [bound_symbol("sum", k, self.height, t.shape) for k, t in enumerate(totals)]
        added = [add(s, self._sum(t, piece)) for s, t in zip(sums, totals, strict=True)]
        return recur(
            [*(start for _, start, _ in carries), *[as_node(0)] * len(sums)],
            [*(carry for carry, _, _ in carries), *sums],
            [*(formula for _, _, formula in carries), *added],
            rows,
            self.count,
            reverse=reverse,
        )

    def _symbols(self, role: str, of: StepArrays) -> list[Node]:
        return [bound_symbol(role, k, self.height, c.shape) for k, c in enumerate(of.body.carries)]

    def _segment(self, number: Node) -> _Piece:
        """Return the segment with a number, without values."""
        return _Piece(self.steps, mul(number, as_node(self.steps)), ())

    def _rest(self) -> _Piece:
        """Return the steps after the last segment, without values."""
        return _Piece(self.left, size_leaf(self.done), ())

    def _again(self, starts: Sequence[Node], piece: _Piece) -> _Piece:
        """Return steps with their values."""
        forward = self.forward
        rows = [self._rows_of_piece(x, piece) for x in forward.rows]
        return replace(piece, values=_values(forward, starts, rows, forward.operands, piece.length))

    def _along(
        self, back: StepArrays, starts: Sequence[Node], operands: Sequence[Node], piece: _Piece
    ) -> _Piece:
        """Return steps with the values of the way back."""
        rows = [self._rows_of_piece(x, piece) for x in back.rows]
        return replace(piece, back=_values(back, starts, rows, operands, piece.length))

    def _sum(self, total: Node, piece: _Piece) -> Node:
        """Return what some steps add to a sum over all steps."""
        stack = summand(total, self.length)
        if stack is None or piece.length == 0:
            return full(as_node(0), total.shape)
        return sum_rows(self._rows_of_piece(stack, piece))

    def _rows_of_piece(self, values: Node, piece: _Piece) -> Node:
        """Return the rows of an array for some steps, as a formula of rows of other arrays."""
        rows = Rows(self.length, self.height, {})
        formula = rows.of(values)
        stacks = {s: self._leaf(*sliced_rows(x), piece) for s, x in rows.arrays.items()}
        (found,) = batch([formula], stacks, (piece.length,))
        return found

    def _leaf(self, array: Node, start: Size, piece: _Piece) -> Node:
        known = [(self.forward.values, piece.values)]
        if piece.back:
            known.append((self.back.values, piece.back))
        for before, now in known:
            if array in before:
                return _rows_from(now[list(before).index(array)], size_leaf(start), piece.length)
        if array in self.depends or array is self.node:
            raise _ReadsAllError
        return _rows_from(array, add(piece.begin, size_leaf(start)), piece.length)

    def _replace_rows(self, values: Sequence[Node], position: Size, ends: Sequence[Node]) -> None:
        """Replace what reads one row of the values of carries."""
        for node in self.order:
            for value, end in zip(values, ends, strict=True):
                if value in node.args and reads_row(node, value, position):
                    self.table[node] = shaped(end, node.shape)


def _rows_from(array: Node, begin: Node, count: Size) -> Node:
    """Return consecutive rows of an array."""
    first = as_size(begin)
    if isinstance(first, int) and isinstance(count, int):
        return slice_rows(array, first, first + count)
    return gather(array, add(begin, iota(params=(count,))), params=((0,),))


def _values(
    of: StepArrays, starts: Sequence[Node], rows: Sequence[Node], operands: Sequence[Node], length: Size
) -> Sequence[Node]:
    """Return all values of the carries of a recurrence with another length."""
    first = [full(s, c.shape) for s, c in zip(starts, of.body.carries, strict=True)]
    if length == 0:
        return [expand(s, [0]) for s in first]
    return carry_values(recurrence(*first, *rows, *operands, params=(length, of.reverse, of.body)))


class _ReadsAllError(Exception):
    """More is read of the values of a recurrence than segments of it."""
