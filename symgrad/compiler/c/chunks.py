"""Write chunks of equations for C: inputs, outputs and spilled values are places."""

from __future__ import annotations

from collections.abc import Iterable

from symgrad.compiler.llvm.elementwise.chunk_code import ChunkWriter
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.lowering.elementwise.schedule import Chunk
from symgrad.ir.graph import Node


class Chunks(ChunkWriter):
    """Writes a chunk whose inputs and outputs are ``%in.K`` and ``%out.K``, and spilled values ``%slot.K``."""

    def store(self, node: Node, chunk: Chunk, places: Iterable[int]) -> None:
        for k in places:
            self._write(self._value(node, chunk), f"%out.{k - len(self.position)}")

    def _read(self, k: int, mask: bool) -> Value:
        return self._load(f"%in.{k}", mask)

    def _slot(self, slot: int) -> str:
        return f"%slot.{slot}"

    def _load(self, place: str, mask: bool) -> Value:
        kind = "i1" if mask else self.builder.real.llvm
        return self.builder.fresh(Opcode.load(kind), place, mask=mask)

    def _write(self, value: Value, place: str) -> None:
        self.builder.do(Opcode.store(self.builder.real.llvm), value.text, place)
