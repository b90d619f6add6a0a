"""Write a function of a module as C, with its loops and branches in braces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from symgrad.compiler.c.arrays.flow import BlockPart, BranchPart, JumpPart, LoopPart, Part
from symgrad.compiler.c.arrays.operations import ArrayPlace, CInstructions, c_type
from symgrad.support.errors import InternalError


class CFunction(CInstructions):
    """Writes one function."""

    def text(self, head: str) -> str:
        """Return the text of the function: the head, then the body."""
        for kind, name in self.code.takes:
            self._names[name] = name[1:]
            if kind == "ptr":
                self._places[name] = ArrayPlace(name[1:], self._facts.elements.get(name, "i8"))
        for block in self.code.blocks:
            for phi in self._facts.phis(block):
                if phi.kind == "ptr":
                    raise InternalError(f"an address that depends on the way: {phi.name}")
                self._declare(c_type(phi.kind), self._name(phi.name, "i" if phi.kind == "i64" else "s"))
        self._say_parts(self._facts.flow.parts, 1)
        words = set(re.findall(r"\w+", "\n".join(self._lines)))
        unread = [f"    (void){name[1:]};" for _, name in self.code.takes if name[1:] not in words]
        first: list[str] = []
        for kind, names in self._first.items():
            declaration = f"{kind}{'' if kind.endswith('*') else ' '}{', '.join(names)};"
            first += wrap(declaration, 100, initial_indent="    ", subsequent_indent="        ")
        return "\n".join([head, "{", *unread, *first, *self._lines, "}", ""])

    def _say_parts(self, parts: Sequence[Part], depth: int) -> None:
        for part in parts:
            match part:
                case BlockPart(block):
                    if block.label in self._facts.flow.labels:
                        self._lines.append(f"{_label(block.label)}: ;")
                    for op in self._facts.ops(block):
                        self._op(op, depth)
                    if not block.goes and (block.gives or depth > 1):
                        self._say(
                            depth, f"return {self._value(block.gives, self.code.gives)};".replace(" ;", ";")
                        )
                case JumpPart():
                    self._jump(part, depth)
                case LoopPart(inside):
                    self._say(depth, "for (;;) {")
                    self._say_parts(inside, depth + 1)
                    self._say(depth, "}")
                case BranchPart():
                    self._branch(part, depth)

    def _branch(self, part: BranchPart, depth: int) -> None:
        before = self._lines
        ways: list[list[str]] = []
        for parts in (part.then, part.other):
            self._lines = []
            self._say_parts(parts, depth + 1)
            ways.append(self._lines)
        self._lines = before
        then, other = ways
        test = self._test(part.block.test)
        if not then and not other:
            return
        inside = depth + 1
        if not then or (_leaves(other, inside) and not _leaves(then, inside)):
            test, then, other = f"!({test})" if re.search(r"\W", test) else f"!{test}", other, then
        self._say(depth, f"if ({test})" if len(then) == 1 else f"if ({test}) {{")
        self._lines += then
        if _leaves(then, inside):
            if len(then) > 1:
                self._say(depth, "}")
            self._lines += [line.removeprefix("    ") for line in other]
            return
        if other:
            self._say(depth, "} else {" if len(then) > 1 else "else {")
            self._lines += other
        if other or len(then) > 1:
            self._say(depth, "}")

    def _test(self, name: str) -> str:
        return (
            self._compared(self._facts.made[name][0])
            if name in self._facts.tested
            else self._value(name, "i1")
        )

    def _jump(self, part: JumpPart, depth: int) -> None:
        phis = self._facts.phis(self._facts.blocks[part.target])
        moves = [(self._name(p.name), self._value(p.ways[part.source], p.kind), c_type(p.kind)) for p in phis]
        moves = [(to, value, kind) for to, value, kind in moves if to != value]
        for k, (to, _, _) in enumerate(moves):
            later = [value for _, value, _ in moves[k + 1 :]]
            if to in later:  # a later move reads the old value
                before = self._new("old")
                self._declare(moves[k][2], before)
                self._say(depth, f"{before} = {to};")
                moves = [(t, before if i > k and v == to else v, c) for i, (t, v, c) in enumerate(moves)]
        for to, value, _ in moves:
            self._say(depth, f"{to} = {value};")
        if part.how:
            self._say(depth, f"goto {_label(part.target)};" if part.how == "goto" else f"{part.how};")


def _leaves(lines: Sequence[str], depth: int) -> bool:
    """Tell whether lines end with an unconditional jump, at their own depth."""
    return bool(lines) and re.match(rf" {{{4 * depth}}}(break|continue|goto|return)\b", lines[-1]) is not None


def _label(name: str) -> str:
    return "at_" + re.sub(r"\W", "_", name)
