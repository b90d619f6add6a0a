"""The code of a group of chunks that are alike: the code of one chunk, in a loop over tables with the differences.

Values that all copies have in common (a number, an input that all of them read) are loaded before the loop, or are
literals in the code. For everything else each copy has a row in a table: the offset in the spill area of every value
that it reads or writes, and the index of every argument.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.llvm.elementwise.chunk_code import ChunkWriter, NodeFacts, lower_node
from symgrad.compiler.llvm.equations.builder import Value, VectorBuilder
from symgrad.compiler.llvm.text.module import Attributes, Function, Global, Item
from symgrad.compiler.lowering.elementwise.schedule import Chunk
from symgrad.ir.graph import SYMBOL, Node

Column = tuple[Node, ...]


class RerolledLoopWriter(ChunkWriter):
    """Writes the function ``copies.GROUP``, which computes the copies from ``%first`` to before ``%end``.

    Args:
        group: the number of the group.
        copies: the chunks, in the order in which they are computed.
        builder: the builder of the function.
        known: the facts about nodes.
    """

    def __init__(self, group: int, copies: Sequence[Chunk], builder: VectorBuilder, known: NodeFacts) -> None:
        super().__init__(builder, known)
        self.name = f"copies.{group}"
        self.copies = copies
        self.places: dict[tuple[int, ...], int] = {}  # the columns of the table of places, with their indices
        self.numbers: dict[Column, Value] = {}
        self.known: dict[Column, Value] = {}

    def items(self, unread: int) -> list[Item]:
        """Return the tables and the function.

        Args:
            unread: a slot to which a copy stores a value that only other copies must store.
        """
        for t, node in enumerate(self.copies[0].nodes):
            column = tuple([chunk.nodes[t] for chunk in self.copies])
            if node.op is SYMBOL:
                value = self._input([self.position[n] for n in column])
            else:
                args = [self._operand(t, k, arg) for k, arg in enumerate(node.args)]
                self.builder.fuses = node in self.fusable
                value = lower_node(node, self.builder, args)
            self.known[column] = value
            if any(n in chunk.writes for n, chunk in zip(column, self.copies, strict=True)):
                slots = [chunk.writes.get(n, unread) for n, chunk in zip(column, self.copies, strict=True)]
                self._write(value, self._place(slots))
            if node.op is not SYMBOL:
                for k in range(len(self.asked.get(node, ()))):
                    self._write(value, self._output([self.asked[n][k] for n in column], value.mask))
        return self._items()

    def _operand(self, t: int, k: int, arg: Node) -> Value:
        column = tuple([chunk.nodes[t].args[k] for chunk in self.copies])
        known = self.known.get(column)
        if known is None:
            same = all(n is arg for n in column)
            if arg in self.constants:
                known = self.constants[arg] if same else self._number(column)
            elif same:
                known = self._common(arg)
            else:
                slots = [chunk.reads[n] for n, chunk in zip(column, self.copies, strict=True)]
                known = self._load(self._place(slots), arg.dtype == "bool")
            self.known[column] = known
        return known

    def _entry(self, column: Sequence[int]) -> str:
        """Load an entry of the current copy from the table of places."""
        k = self.places.setdefault(tuple(column), len(self.places))
        at = self.builder.emit(f"getelementptr i32, ptr %row, i64 {k}")
        narrow = self.builder.emit(f"load i32, ptr {at.text}")
        return self.builder.emit(f"sext i32 {narrow.text} to i64").text

    def _place(self, slots: Sequence[int]) -> str:
        size = self.builder.width * self.builder.real.itemsize
        return self.builder.emit(
            f"getelementptr i8, ptr %spill, i64 {self._entry([s * size for s in slots])}"
        ).text

    def _argument(self, number: str, index: str, mask: bool) -> str:
        b = self.builder
        at = b.emit(f"getelementptr ptr, ptr %bases, i64 {number}")
        base = b.fresh(f"load ptr, ptr {at.text}")
        return b.emit(f"getelementptr {'i8' if mask else b.real.llvm}, ptr {base.text}, i64 {index}").text

    def _input(self, numbers: Sequence[int]) -> Value:
        b, number = self.builder, self._entry(numbers)
        at = b.emit(f"getelementptr i64, ptr %masks, i64 {number}")
        mask = b.fresh(f"load i64, ptr {at.text}")
        index = b.emit(f"and i64 %i, {mask.text}")
        return self._load(self._argument(number, index.text, False), False)

    def _output(self, numbers: Sequence[int], mask: bool) -> str:
        return self._argument(self._entry(numbers), "%i", mask)

    def _common(self, node: Node) -> Value:
        """Load a value that all copies read, before the loop."""
        lines, self.builder.lines = self.builder.lines, self.prologue
        value = self._load(self._slot(self.copies[0].reads[node]), node.dtype == "bool")
        self.builder.lines = lines
        return value

    def _number(self, column: Column) -> Value:
        value = self.numbers.get(column)
        if value is None:
            b = self.builder
            at = b.emit(f"getelementptr {b.real.llvm}, ptr %number.row, i64 {len(self.numbers)}")
            one = b.emit(f"load {b.real.llvm}, ptr {at.text}")
            lane = b.emit(f"insertelement {b.vector} poison, {b.real.llvm} {one.text}, i64 0")
            value = self.numbers[column] = b.emit(
                f"shufflevector {b.vector} {lane.text}, {b.vector} poison, <{b.width} x i32> zeroinitializer"
            )
        return value

    def _items(self) -> list[Item]:
        b = self.builder
        tables: list[Item] = []
        rows: list[str] = []
        numbers = [
            [f"{b.real.llvm} {b.real.literal(self.constants[n].literal)}" for n in c] for c in self.numbers
        ]
        places = [[f"i32 {entry}" for entry in column] for column in self.places]
        for kind, row, name, columns in (
            ("i32", "%row", "places", places),
            (b.real.llvm, "%number.row", "numbers", numbers),
        ):
            wide = f"[{len(columns)} x {kind}]"
            lines = [f"{wide} [{', '.join(entries)}]" for entries in zip(*columns, strict=True)]
            if columns:
                table = f"{self.name}.{name}"
                tables.append(Global(table, f"[{len(lines)} x {wide}]", f"[{', '.join(lines)}]"))
                rows.append(f"  {row} = getelementptr {wide}, ptr @{table}, i64 %copy")
        parameters = ("ptr %bases", "ptr %masks", "i64 %i", "ptr %spill", "i64 %first", "i64 %end")
        lines = [
            "entry:",
            *self.prologue,
            "  br label %copies",
            "copies:",
            "  %copy = phi i64 [ %first, %entry ], [ %copy.next, %copies ]",
            *rows,
            *b.finished(),
            "  %copy.next = add i64 %copy, 1",
            "  %copy.more = icmp slt i64 %copy.next, %end",
            "  br i1 %copy.more, label %copies, label %done",
            "done:",
            "  ret void",
        ]
        return [*tables, Function(self.name, "void", parameters, lines, attributes=Attributes.REALIGNED)]
