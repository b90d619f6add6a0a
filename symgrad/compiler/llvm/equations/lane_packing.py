"""Compute equal instructions on the entries of a row as one instruction on a vector of several lanes.

LLVM's own vectoriser starts from neighbouring stores and soon gives up in long sums of products. Here the rows of
arrays are given, and what they read is followed as far as it is alike (Larsen and Amarasinghe, "Exploiting superword
level parallelism", PLDI 2000). Each lane computes what its instruction would compute, so all bits stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import NamedTuple, cast

from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.instructions import Instruction, Splat
from symgrad.compiler.llvm.text.opcodes import Opcode, unwrap_single_lane

_FEWEST = 3
"""The fewest lanes of a vector: with fewer lanes, what moves values between them takes longer than it saves."""

_LEAST = 48
"""The fewest instructions that vectors must save in a block: a short block waits for results, not for units."""

_DIVISION = 4
"""How many simple instructions take as long as a division."""

_ALIGN = {"double": 8, "float": 4}
"""The bytes of a number."""

Row = tuple[str, ...]
"""The names or numbers of one operand, or of one result, of equal instructions."""


class VectorBlock(NamedTuple):
    """A block with vectors.

    Args:
        before: instructions that compute the same at each run of the block, to be run once before them.
        lines: the block.
    """

    before: list[str | Instruction]
    lines: list[str | Instruction]


def pack_lanes(
    lines: Sequence[str | Instruction], rows: Sequence[Row], declarations: Declarations
) -> VectorBlock:
    """Return a block of code on vectors of one lane in which rows are vectors of several lanes, where this is faster.

    What the block stores must not be what it loads, and what it loads through addresses from outside is constant.

    Args:
        lines: the code of the block, with fused multiply-adds.
        rows: names of values that are neighbours.
        declarations: the functions that the module calls.
    """
    banned: set[Row] = set()
    while True:
        found = _Packing(lines, rows, banned)
        if found.saved < _LEAST:
            return VectorBlock([], [*lines])
        cycle = found.cycle()
        if not cycle:
            return _LaneWriter(found, declarations).block(lines)
        banned |= cycle


class _Packing:
    """Chooses the rows that are computed as vectors.

    Args:
        lines: the code.
        rows: names of values that are neighbours.
        banned: rows that are no vectors.

    Attributes:
        definitions: the instructions, by the names of their values.
        loads: for the values that are entries of arrays, the addresses of the arrays and the numbers of the entries.
        lane: for the names in chosen rows, the row and the lane.
        saved: the number of instructions that the vectors save.
    """

    def __init__(self, lines: Sequence[str | Instruction], rows: Iterable[Row], banned: set[Row]) -> None:
        self.definitions = {line.name: line for line in lines if isinstance(line, Instruction) and line.name}
        found = ((name, self._load(line)) for name, line in self.definitions.items())
        self.loads = {name: place for name, place in found if place is not None}
        self.lane: dict[str, tuple[Row, int]] = {}
        self.saved = 0.0
        self._operands: dict[Row, list[Row]] = {}
        self._entries: dict[tuple[str, int], str] = {}  # the first value that is loaded from a place
        self._moved: set[str] = set()  # the names that have been taken out of vectors
        followed = dict.fromkeys(banned)
        for row in rows:
            self._follow(row, followed)
        alike = [row for row in followed if row not in banned]
        self._uses = Counter(operand for row in alike for operand in set(self.operands(row)))
        for row in alike:
            self._choose(row)

    def _follow(self, row: Row, found: dict[Row, None]) -> None:
        """Find the rows of equal instructions that lead to a row, what is read first."""
        stack = [row]
        while stack:
            top = stack[-1]
            if len(top) < _FEWEST or top in found or not self._alike(top):
                stack.pop()
                continue
            missing = [
                a for a in self.operands(top) if len(a) >= _FEWEST and a not in found and self._alike(a)
            ]
            stack += reversed(missing)
            if not missing:
                found[stack.pop()] = None

    def _choose(self, row: Row) -> None:
        """Compute a row as a vector if this saves instructions."""
        if any(name in self.lane for name in row):
            return
        code = self.definitions[row[0]].code
        cost = _DIVISION if cast("Opcode", code).op == "fdiv" else 1
        operands = set(self.operands(row))
        apart = {name for operand in operands for name in operand if name in self.lane} - self._moved
        # What is put side by side for several rows is put so once.
        gain = (len(row) - 1) * cost + len(apart) - sum(self._cost(a) / self._uses[a] for a in operands)
        if gain > 0:
            self.saved += gain
            self.lane.update({name: (row, k) for k, name in enumerate(row)})
        else:
            self._moved |= apart

    def operands(self, row: Row) -> list[Row]:
        """Return the rows that the instructions of a row read; an entry that is loaded several times has one name."""
        found = self._operands.get(row)
        if found is None:
            read = ([self._entry(a) for a in self.definitions[name].operands] for name in row)
            found = self._operands[row] = list(zip(*read, strict=True))
        return found

    def _entry(self, name: str) -> str:
        place = self.loads.get(name)
        return name if place is None else self._entries.setdefault(place, name)

    def _alike(self, row: Row) -> bool:
        if len(set(row)) < len(row) or any(name not in self.definitions for name in row):
            return False
        code = self.definitions[row[0]].code
        return _is_entrywise(code) and all(self.definitions[name].code == code for name in row)

    def _cost(self, row: Row) -> int:
        """Return how many instructions put the lanes of an operand side by side."""
        if all(isinstance(name, Splat) for name in row) or self.neighbours(row) or self.constant(row):
            return 0
        if len(set(row)) == 1:
            return int(row[0] not in self.loads)
        rows = {self.lane[name][0] if name in self.lane else None for name in row}
        if len(rows) == 1 and None not in rows:
            return int(row not in rows)
        return len(row)

    def _load(self, shuffle: Instruction) -> tuple[str, int] | None:
        """Return the address and the number of an entry, if a value is a loaded entry of an array."""
        insert = self._read(shuffle, "shufflevector", 0)
        load = self._read(insert, "insertelement", 1)
        address = self._read(load, "load", 0)
        if address is None or _op(address) != "getelementptr" or not address.operands[1].isdigit():
            return None
        return address.operands[0], int(address.operands[1])

    def loading(self, name: str) -> Instruction:
        """Return the instruction that loads an entry."""
        return self.definitions[self.definitions[self.definitions[name].operands[0]].operands[1]]

    def _read(self, line: Instruction | None, op: str, operand: int) -> Instruction | None:
        if line is None or _op(line) != op:
            return None
        return self.definitions.get(line.operands[operand])

    def neighbours(self, row: Row) -> str | None:
        """Return the address of the first lane, if the lanes are neighbours in memory."""
        places = [self.loads.get(name) for name in row]
        if places[0] is None:
            return None
        base, first = places[0]
        if any(place != (base, first + k) for k, place in enumerate(places)):
            return None
        return self.loading(row[0]).operands[0]

    def constant(self, row: Row) -> bool:
        """Tell whether all lanes are loaded through addresses from outside of the block, so never change."""
        places = [self.loads.get(name) for name in row]
        return all(place is not None and place[0] not in self.definitions for place in places)

    def cycle(self) -> set[Row]:
        """Return rows that read one another, so cannot all be vectors; none if there is an order."""
        sorter: TopologicalSorter[Row | str] = TopologicalSorter()
        for name, line in self.definitions.items():
            sorter.add(self._unit(name), *(self._unit(a) for a in line.operands if a in self.definitions))
        try:
            sorter.prepare()
        except CycleError as error:
            return {unit for unit in error.args[1] if isinstance(unit, tuple)}
        return set()

    def _unit(self, name: str) -> Row | str:
        return self.lane[name][0] if name in self.lane else name


class _LaneWriter:
    """Writes the code of a block with vectors.

    Args:
        packing: the rows that are vectors.
        declarations: the functions that the module calls.
    """

    def __init__(self, packing: _Packing, declarations: Declarations) -> None:
        self._packing = packing
        self._declarations = declarations
        self._before: list[str | Instruction] = []
        self._lines: list[str | Instruction] = []
        self._vectors: dict[Row, str] = {}
        self._count = 0
        self._done: set[str] = set()  # the values that have been written
        self._apart: dict[str, str] = {}  # for a lane of a vector, the name of a vector of this lane alone

    def block(self, lines: Sequence[str | Instruction]) -> VectorBlock:
        """Return the code."""
        joined = self._joined(lines)
        for line in lines:
            if not isinstance(line, Instruction):
                self._lines.append(line)
            elif line.name:
                self._write(line.name)
            elif id(line) not in joined:
                for operand in line.operands:
                    self._write(operand)
                self._lines.append(line._replace(operands=tuple([self._one(a) for a in line.operands])))
            elif (row := joined[id(line)]) is not None:
                self._write(row[0])
                kind = cast("Opcode", line.code).kind
                base, last = self._packing.definitions[line.operands[1]].operands
                self._write(base)
                address, code = f"{line.operands[1]}.r", Opcode.store(_lanes(kind, len(row)), _ALIGN[kind])
                first = str(int(last) - len(row) + 1)
                self._lines.append(Instruction(address, Opcode.address(kind), (base, first)))
                self._lines.append(Instruction("", code, (self._vectors[row], address)))
        return VectorBlock(self._before, self._lines)

    def _joined(self, lines: Sequence[str | Instruction]) -> dict[int, Row | None]:
        """Return which stores write a lane of a vector: the last one of a row stores all, the others none."""
        definitions, lane = self._packing.definitions, self._packing.lane
        places: dict[tuple[Row, str, int], dict[int, Instruction]] = {}
        for line in lines:
            if not isinstance(line, Instruction) or _op(line) != "store":
                continue
            number, address = (definitions.get(name) for name in line.operands)
            if number is None or address is None or _op(number) != "extractelement":
                continue
            value = number.operands[0]
            if value in lane and _op(address) == "getelementptr" and address.operands[1].isdigit():
                row, k = lane[value]
                places.setdefault((row, address.operands[0], int(address.operands[1]) - k), {})[k] = line
        found: dict[int, Row | None] = {}
        for (row, _, _), by_lane in places.items():
            if len(by_lane) == len(row):
                found |= {id(line): None for line in by_lane.values()}
                found[id(by_lane[len(row) - 1])] = row
        return found

    def _write(self, name: str) -> None:
        """Write a value, after all that it reads."""
        definitions, stack = self._packing.definitions, [name]
        while stack:
            top = stack[-1]
            line = definitions.get(top)
            if line is None or top in self._done:
                stack.pop()
                continue
            row = self._packing.lane[top][0] if top in self._packing.lane else (top,)
            reads = chain.from_iterable(self._packing.operands(row)) if len(row) > 1 else line.operands
            missing = [a for a in dict.fromkeys(reads) if a in definitions and a not in self._done]
            if missing:
                stack += reversed(missing)
                continue
            stack.pop()
            self._done.update(row)
            if top in self._packing.lane:
                self._write_row(row)
            else:
                self._lines.append(line._replace(operands=tuple([self._one(a) for a in line.operands])))

    def _write_row(self, row: Row) -> None:
        line = self._packing.definitions[row[0]]
        code = cast("Opcode", line.code)
        operands = [
            self._vector(lanes, unwrap_single_lane(kind))
            for lanes, kind in zip(self._packing.operands(row), code.kinds, strict=True)
        ]
        name = self._vectors[row] = f"{row[0]}.r"
        self._lines.append(Instruction(name, self._widened(code, len(row)), tuple(operands), at=line.at))

    def _widened(self, code: Opcode, count: int) -> Opcode:
        """Return an instruction on vectors of several lanes."""
        kinds = [_lanes(unwrap_single_lane(kind), count) for kind in code.kinds]
        if code.op == "fcmp":
            return Opcode.compare(code.op, code.how, kinds[0])
        if code.op == "select":
            return Opcode.select(kinds[0], kinds[1])
        if code.op == "fneg":
            return Opcode.unary(code.op, kinds[0])
        if code.op != "call":
            return Opcode.binary(code.op, kinds[0])
        function, _, lanes = code.how.rpartition(".")
        name = self._declarations.declare(f"{function}.v{count}{lanes[2:]}", kinds[0], *kinds)
        return Opcode.call(kinds[0], name, *kinds)

    def _one(self, name: str) -> str:
        """Return a value as a vector of one lane."""
        if name not in self._packing.lane:
            return name
        if name not in self._apart:
            kind = unwrap_single_lane(cast("Opcode", self._packing.definitions[name].code).kind)
            self._apart[name] = self._shuffled(f"{name}.o", (name,), kind)
        return self._apart[name]

    def _vector(self, row: Row, kind: str) -> str:
        """Return values as a vector."""
        if len(set(row)) == 1 and row[0] in self._packing.loads and not self._packing.constant(row):
            return self._loaded_everywhere(row, kind)
        if row not in self._vectors:
            self._vectors[row] = self._side_by_side(row, kind)
        return self._vectors[row]

    def _new_name(self) -> str:
        self._count += 1
        return f"%row.{self._count}"

    def _loaded_everywhere(self, row: Row, kind: str) -> str:
        """Load one entry into all lanes, where it is read: to keep such vectors would take all registers."""
        name, one = self._new_name(), _lanes(kind, 1)
        self._lines.append(self._packing.loading(row[0])._replace(name=f"{name}.e"))
        self._lines.append(Instruction(f"{name}.s", Opcode.insert(one, kind), ("poison", f"{name}.e", "0")))
        code = Opcode.shuffle(one, _places([0] * len(row)), _lanes(kind, len(row)))
        self._lines.append(Instruction(name, code, (f"{name}.s", "poison")))
        return name

    def _side_by_side(self, row: Row, kind: str) -> str:
        packing = self._packing
        if all(isinstance(name, Splat) for name in row):
            numbers = [cast("Splat", name).digits for name in row]
            return row[0] if len(set(row)) == 1 else f"<{', '.join(f'{kind} {x}' for x in numbers)}>"
        name, constant = self._new_name(), packing.constant(row)
        address = packing.neighbours(row)
        if address is not None:
            lines = self._before if constant else self._lines
            if constant:
                lines.append(packing.definitions[address]._replace(name=f"{name}.p"))
                address = f"{name}.p"
            lines.append(Instruction(name, Opcode.load(_lanes(kind, len(row)), _ALIGN[kind]), (address,)))
            return name
        if len({packing.lane[x][0] if x in packing.lane else x for x in row}) == 1:
            return self._shuffled(name, row, kind)
        return self._gathered(name, row, kind, constant=constant)

    def _shuffled(self, name: str, row: Row, kind: str) -> str:
        """Return lanes of one vector, in any order."""
        source = self._packing.lane[row[0]][0] if row[0] in self._packing.lane else (row[0],)
        places = [self._packing.lane[x][1] if x in self._packing.lane else 0 for x in row]
        code = Opcode.shuffle(_lanes(kind, len(source)), _places(places), _lanes(kind, len(row)))
        self._lines.append(Instruction(name, code, (self._vectors.get(source, row[0]), "poison")))
        return name

    def _gathered(self, name: str, row: Row, kind: str, *, constant: bool) -> str:
        """Return values of several vectors, or from several places in memory."""
        packing, lines = self._packing, self._before if constant else self._lines
        so_far = "poison"
        for k, x in enumerate(row):
            number = x.digits if isinstance(x, Splat) else f"{name}.e{k}"
            if constant:
                load = packing.loading(x)
                lines.append(packing.definitions[load.operands[0]]._replace(name=f"{number}.p"))
                lines.append(load._replace(name=number, operands=(f"{number}.p",)))
            elif not isinstance(x, Splat):
                source, lane = packing.lane.get(x, ((x,), 0))
                code = Opcode.extract(_lanes(kind, len(source)), kind)
                lines.append(Instruction(number, code, (self._vectors.get(source, x), str(lane))))
            each = name if k == len(row) - 1 else f"{name}.{k}"
            lines.append(
                Instruction(each, Opcode.insert(_lanes(kind, len(row)), kind), (so_far, number, str(k)))
            )
            so_far = each
        return name


def _op(line: Instruction) -> str:
    return line.code.op if isinstance(line.code, Opcode) else ""


def _is_entrywise(code: str) -> bool:
    """Tell whether an instruction is the same on each lane of a vector."""
    if not isinstance(code, Opcode) or not all(kind.startswith("<1 x ") for kind in (code.kind, *code.kinds)):
        return False
    if code.op == "call":
        return code.how.startswith("llvm.") and ".v1f" in code.how and len({code.kind, *code.kinds}) == 1
    return code.op in {"fadd", "fsub", "fmul", "fdiv", "fneg", "fcmp", "select", "and", "or", "xor"}


def _lanes(kind: str, count: int) -> str:
    return f"<{count} x {kind}>"


def _places(lanes: Sequence[int]) -> str:
    return f"<{len(lanes)} x i32> <{', '.join(f'i32 {k}' for k in lanes)}>"
