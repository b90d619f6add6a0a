"""The entry functions of a grid of threads: each thread selects its points and calls the formula for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.compiler.gpu.codegen.grid import Axis, Grid
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.text.module import Attributes, Function, FunctionDeclaration


@dataclass(frozen=True, slots=True)
class Argument:
    """An array that a kernel reads or writes.

    Args:
        number: its index among the arguments.
        kind: LLVM's type of an element.
        bits: the size of a number, in bits.
        read: whether it is an input.
    """

    number: int
    kind: str
    bits: int
    read: bool

    @property
    def itemsize(self) -> int:
        return 1 if self.kind == "i8" else self.bits // 8

    def formula_operand(self, grid: Grid, width: int) -> str:
        """Return the operand of the formula: the value of an input, or the address of an output."""
        if not self.read:
            return f"{grid.pointer} %at.{self.number}"
        return f"<{width} x {self.kind}> %x.{self.number}"

    def load_lines(self, grid: Grid, width: int, lanes: int) -> list[str]:
        """Return the lines that load the value ``%x.K`` from ``%at.K``, an address aligned to ``lanes`` elements."""
        k, align = self.number, f"align {lanes * self.itemsize}"
        return [f"  %x.{k} = load <{width} x {self.kind}>, {grid.pointer} %at.{k}, {align}"]

    def from_bits(self, bits: str, value: str) -> list[str]:
        """Return the lines that convert an i64 with the bits of an element to the element."""
        if self.kind == "double":
            return [f"  {value} = bitcast i64 {bits} to double"]
        whole = 8 * self.itemsize
        of_float = self.kind == "float"
        narrow = f"{value}.bits" if of_float else value
        lines = [f"  {narrow} = trunc i64 {bits} to i{whole}"]
        return [*lines, f"  {value} = bitcast i{whole} {narrow} to float"] if of_float else lines

    def as_lane(self, value: str) -> str:
        """Return the line that converts an element to the vector ``%x.K`` of one lane."""
        return f"  %x.{self.number} = bitcast {self.kind} {value} to <1 x {self.kind}>"


def aligned_name(names: Entry) -> str:
    """Return the name of the function for arrays that begin at multiples of 16 bytes.

    Example:
        >>> aligned_name(Entry.of("wave"))
        'wave_aligned'
    """
    return names.strided.removesuffix("strided") + "aligned"


class EntryFunctions:
    """Writes the entry functions of one kernel.

    Args:
        grid: the grid of threads.
        names: the names of the functions.
        arguments: inputs, then outputs.
    """

    def __init__(self, grid: Grid, names: Entry, arguments: Sequence[Argument]) -> None:
        self._grid = grid
        self._names = names
        self._arguments = arguments
        self._inputs = [a for a in arguments if a.read]
        self._outputs = [a for a in arguments if not a.read]

    @property
    def declarations(self) -> list[FunctionDeclaration]:
        """The declarations of the functions that return the position of a thread in the grid."""
        axes = [axis for axis in (self._grid.along, self._grid.across) if axis is not None]
        return [FunctionDeclaration(f, "i32", (), None) for axis in axes for f in axis.functions]

    def contiguous(self, neighbours: int, *, aligned: bool = False) -> Function:
        """Write ``NAME(in..., int64_t n, out...)``: ``neighbours`` points at a time (`points`), then one by one."""
        arrays = [f"{self._grid.pointer} %a{a.number}" for a in self._arguments]
        nin = len(self._inputs)
        given = ", ".join(arrays)
        step = "i64 %first.along, i64 %step.along"
        lines = ["start:", *_thread_number_lines(self._grid.along, "along")]
        if neighbours > 1:
            lines.append(f"  %whole = and i64 %n, -{neighbours}")
            lines.append(f"  call void @points.{neighbours}(i64 0, i64 %whole, {step}, {given})")
        begin = "%whole" if neighbours > 1 else "0"
        lines += [f"  call void @points.1(i64 {begin}, i64 %n, {step}, {given})", "  ret void"]
        return self._function(
            aligned_name(self._names) if aligned else self._names.contiguous,
            [*arrays[:nin], "i64 %n", *arrays[nin:]],
            lines,
        )

    def points(self, width: int, *, aligned: bool = False) -> Function:
        """Write a loop over the points of contiguous arrays, ``width`` neighbours at a time."""
        pointer = self._grid.pointer
        lines = [
            "start:",
            f"  %skipped = mul i64 %first, {width}",
            f"  %step = mul i64 %threads, {width}",
            "  %i.first = add i64 %begin, %skipped",
            "  %some = icmp slt i64 %i.first, %end",
            "  br i1 %some, label %point, label %done",
            "point:",
            "  %i = phi i64 [ %i.first, %start ], [ %i.next, %point ]",
        ]
        lines += [
            f"  %at.{a.number} = getelementptr {a.kind}, {pointer} %a{a.number}, i64 %i"
            for a in self._arguments
        ]
        for a in self._inputs:
            lines += a.load_lines(self._grid, width, width if aligned else 1)
        lines += [
            self._call(width),
            "  %i.next = add i64 %i, %step",
            "  %more = icmp slt i64 %i.next, %end",
            "  br i1 %more, label %point, label %done",
            "done:",
            "  ret void",
        ]
        arrays = [f"{pointer} %a{a.number}" for a in self._arguments]
        parameters = ["i64 %begin", "i64 %end", "i64 %first", "i64 %threads", *arrays]
        return Function(f"points.{width}", "void", parameters, lines, attributes=Attributes.INLINED)

    def strided(self) -> Function:
        """Write ``NAME_strided(in, in_stride, ..., n, out, out_stride, ...)``, with strides in elements.

        With rows it is ``(in, in_stride, in_row, ..., n, rows, out, out_stride, out_row, ...)``, and ``row`` is the
        stride from row to row. With rows an input may be a number: its address is null, and its stride holds the bits
        of the number.
        """
        rows = self._grid.across is not None
        pointer = self._grid.pointer

        def given(a: Argument) -> list[str]:
            k = a.number
            return [f"{pointer} %a{k}", f"i64 %s{k}", *([f"i64 %r{k}"] if rows else [])]

        parameters = [
            *(p for a in self._inputs for p in given(a)),
            "i64 %n",
            *(["i64 %rows"] if rows else []),
            *(p for a in self._outputs for p in given(a)),
        ]
        lines = [
            "start:",
            *_thread_number_lines(self._grid.along, "along"),
            *_thread_number_lines(self._grid.across, "across"),
        ]
        if rows:
            lines += [f"  %is.array.{a.number} = icmp ne {pointer} %a{a.number}, null" for a in self._inputs]
        end = "%rows" if rows else "1"
        lines += [
            f"  %some.rows = icmp slt i64 %first.across, {end}",
            "  %some.points = icmp slt i64 %first.along, %n",
            "  %some = and i1 %some.rows, %some.points",
            "  br i1 %some, label %row, label %done",
            "row:",
            "  %j = phi i64 [ %first.across, %start ], [ %j.next, %row.done ]",
        ]
        for a in self._arguments:
            k = a.number
            if rows:
                lines += [
                    f"  %from.{k} = mul i64 %j, %r{k}",
                    f"  %row.{k} = getelementptr {a.kind}, {pointer} %a{k}, i64 %from.{k}",
                ]
        lines += [
            "  br label %point",
            "point:",
            "  %i = phi i64 [ %first.along, %row ], [ %i.next, %computed ]",
        ]
        for a in self._arguments:
            k, base = a.number, "row." if rows else "a"
            lines.append(f"  %by.{k} = mul i64 %i, %s{k}")
            lines.append(f"  %at.{k} = getelementptr {a.kind}, {pointer} %{base}{k}, i64 %by.{k}")
        for a in self._inputs:
            lines += self._number_or_element(a) if rows else a.load_lines(self._grid, 1, 1)
        lines += [
            self._call(1),
            "  br label %computed",
            "computed:",
            "  %i.next = add i64 %i, %step.along",
            "  %more = icmp slt i64 %i.next, %n",
            "  br i1 %more, label %point, label %row.done",
            "row.done:",
            "  %j.next = add i64 %j, %step.across",
            f"  %more.rows = icmp slt i64 %j.next, {end}",
            "  br i1 %more.rows, label %row, label %done",
            "done:",
            "  ret void",
        ]
        return self._function(self._names.strided, parameters, lines)

    def _number_or_element(self, a: Argument) -> list[str]:
        k = a.number
        return [
            f"  br i1 %is.array.{k}, label %load.{k}, label %number.{k}",
            f"load.{k}:",
            f"  %element.{k} = load {a.kind}, {self._grid.pointer} %at.{k}, align {a.itemsize}",
            f"  br label %given.{k}",
            f"number.{k}:",
            *a.from_bits(f"%s{k}", f"%number.value.{k}"),
            f"  br label %given.{k}",
            f"given.{k}:",
            f"  %value.{k} = phi {a.kind} [ %element.{k}, %load.{k} ], [ %number.value.{k}, %number.{k} ]",
            a.as_lane(f"%value.{k}"),
        ]

    def point(self) -> Function:
        """Write ``NAME_point(in..., out...)``, with inputs as numbers."""
        parameters = [
            *(f"{a.kind} %v{a.number}" for a in self._inputs),
            *(f"{self._grid.pointer} %at.{a.number}" for a in self._outputs),
        ]
        lines = [a.as_lane(f"%v{a.number}") for a in self._inputs]
        return self._function(self._names.point, parameters, [*lines, self._call(1), "  ret void"])

    def _call(self, width: int) -> str:
        given = ", ".join(a.formula_operand(self._grid, width) for a in self._arguments)
        return f"  call void @formula.{width}({given})"

    def _function(self, name: str, parameters: Sequence[str], lines: Sequence[str]) -> Function:
        returns = f"{self._grid.convention}void"
        return Function(name, returns, parameters, lines, linkage="external")


def _thread_number_lines(axis: Axis | None, which: str) -> list[str]:
    """Return the lines that compute the index of a thread along an axis, and the number of threads."""
    if axis is None:
        return [f"  %first.{which} = add i64 0, 0", f"  %step.{which} = add i64 0, 1"]
    lines: list[str] = []
    for place, function in zip(("thread", "threads", "block", "blocks"), axis.functions, strict=True):
        lines.append(f"  %{place}.{which}.i32 = call i32 @{function}()")
        lines.append(f"  %{place}.{which} = zext i32 %{place}.{which}.i32 to i64")
    return [
        *lines,
        f"  %before.{which} = mul i64 %block.{which}, %threads.{which}",
        f"  %first.{which} = add i64 %before.{which}, %thread.{which}",
        f"  %step.{which} = mul i64 %blocks.{which}, %threads.{which}",
    ]
