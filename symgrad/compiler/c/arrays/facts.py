"""Dataflow analysis of a function for C: used values, their scopes, and the arrays that addresses point to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from symgrad.compiler.c.arrays.flow import Braces
from symgrad.compiler.c.arrays.instructions import BasicBlock, ReadFunction, ReadOp
from symgrad.support.errors import InternalError
from symgrad.support.traversal import walk


class FunctionFacts:
    """The results of the analysis of a function.

    Args:
        code: the function.

    Attributes:
        flow: its loops and branches.
        blocks: its blocks, by their labels.
        made: for each value, the instruction and the block that define it.
        needed: the values on which its effects depend.
        tested: comparisons that are written in the condition of a branch.
        wild: integers that depend on data.
        elements: the types of elements of arrays, by their addresses.
        written: the arrays that are written to.
        hoisted: values that are read outside the braces in which they are computed.
    """

    def __init__(self, code: ReadFunction) -> None:
        self.code = code
        self.flow = Braces(code.blocks)
        self.blocks = {b.label: b for b in code.blocks}
        self.made: dict[str, tuple[ReadOp, str]] = {}
        for block in code.blocks:
            self.made.update({op.name: (op, block.label) for op in (*block.phis, *block.ops) if op.name})
        self.needed = self._used()
        self.tested = self._tests()
        self.wild = self._from_data()
        self.elements = self._pointed()
        self.written = self._stored_to()
        self.hoisted = self._known_elsewhere()

    def _used(self) -> set[str]:
        """Return the values on which the effects of the function depend."""
        roots = [x for b in self.code.blocks for x in (b.test, b.gives)]
        roots += [x for op in self.code.ops() if acts(op) for x in op.operands]
        reached = walk(roots, lambda name: self.made[name][0].read() if name in self.made else ())
        return self.made.keys() & set(reached)

    def ops(self, block: BasicBlock) -> Iterable[ReadOp]:
        return (op for op in block.ops if op.name in self.needed or acts(op))

    def phis(self, block: BasicBlock) -> list[ReadOp]:
        return [phi for phi in block.phis if phi.name in self.needed]

    def _tests(self) -> set[str]:
        """Return the comparisons that only the branch of their own block reads."""
        reads: Counter[str] = Counter()
        for op in self.code.ops():
            if op.name in self.needed or acts(op):
                reads.update(op.read())
        found: set[str] = set()
        for block in self.code.blocks:
            reads.update([block.test, block.gives])
        for block in self.code.blocks:
            op = self.made.get(block.test)
            if op is not None and op[1] == block.label and reads[block.test] == 1 and op[0].compares:
                found.add(block.test)
        return found

    def _from_data(self) -> set[str]:
        """Return the integers that depend on data."""
        found: set[str] = set()
        before = -1
        while len(found) > before:  # to a fixed point, because of loops
            before = len(found)
            for op in self.code.ops():
                read = op.code == "load" and not self._of_sizes(op.operands[0])
                data = read or op.code == "bitcast" or op.called.startswith("llvm.fptosi")
                if op.kind == "i64" and (data or any(x in found for x in op.read())):
                    found.add(op.name)
        return found

    def _of_sizes(self, pointer: str) -> bool:
        root = self.root(pointer)
        return root == "%sizes" or (root in self.made and self.made[root][0].code == "alloca")

    def root(self, pointer: str) -> str:
        """Return the array of an address."""
        while pointer in self.made:
            op = self.made[pointer][0]
            if op.code == "getelementptr":
                pointer = op.operands[0]
            elif op.code == "select":
                pointer = op.operands[1]
            else:
                break
        return pointer

    def _pointed(self) -> dict[str, str]:
        """Return the types of elements of arrays."""
        found: dict[str, str] = {}
        for op in self.code.ops():
            at = {"load": 0, "getelementptr": 0, "store": 1}.get(op.code)
            if op.code == "call" and op.called.startswith("llvm.masked."):
                at = 1 if op.kind == "void" else 0
            if at is None or not (op.name in self.needed or acts(op)):
                continue
            root, kind = self.root(op.operands[at]), self._element(op)
            if found.setdefault(root, kind) != kind:
                raise InternalError(f"{self.code.name} reads {root} as {found[root]} and as {kind}")
        return found

    @staticmethod
    def _element(op: ReadOp) -> str:
        return op.kinds[0] if op.code == "call" and op.kind == "void" else op.kind

    def _stored_to(self) -> set[str]:
        """Return the arrays that are written to."""
        found: set[str] = set()
        for op in self.code.ops():
            if not acts(op):
                continue
            pointers = [x for x, k in zip(op.operands, op.kinds, strict=True) if k == "ptr"]
            if op.called.startswith("product."):
                pointers = pointers[2:]
            found |= {self.root(x) for x in pointers}
        return found

    def _known_elsewhere(self) -> set[str]:
        """Return the values that are read outside the braces in which they are computed, or in an earlier block."""
        scopes = self.flow.scopes
        places = {label: k for k, label in enumerate(self.blocks)}
        found: set[str] = set()

        def read(name: str, where: str) -> None:
            made = self.made.get(name)
            if made is None or made[0].code == "phi":
                return
            op, scope = made[0], scopes[made[1]]
            outside = scopes[where][: len(scope)] != scope or places[where] < places[made[1]]
            if op.code == "getelementptr" or (op.code == "select" and op.kind == "ptr"):
                for x in op.read():
                    read(x, where)
            elif outside and op.kind == "ptr":
                raise InternalError(f"an array that is not known everywhere: {name}")
            elif outside:
                found.add(name)

        for block in self.code.blocks:
            for op in self.ops(block):
                for x in op.read():
                    read(x, block.label)
            for x in (block.test, block.gives):
                read(x, block.label)
            for label in block.goes:
                for phi in self.phis(self.blocks[label]):
                    read(phi.ways[block.label], block.label)
        return found


def acts(op: ReadOp) -> bool:
    """Tell whether an instruction has an effect. Prefetches have none: C has no common function for them."""
    called = op.code == "call" and op.kind == "void" and not op.called.startswith("llvm.prefetch")
    return called or op.code == "store"
