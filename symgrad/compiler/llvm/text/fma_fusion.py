"""Products and sums that are rounded once together.

A code generator that may fuse them (LLVM's flag `contract`) does so or not by the effort that it makes. Here it is done
before, by a rule that depends on the instructions alone, so that quick code and better code have the same bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from symgrad.compiler.llvm.text.instructions import Instruction, Line, LineGroup, Splat, flatten_lines
from symgrad.compiler.llvm.text.opcodes import Opcode

__all__ = ["fuse_multiply_adds"]


def fuse_multiply_adds(
    lines: Sequence[str | Instruction], vector: str, intrinsic: str
) -> list[str | Instruction]:
    """Return code in which a sum that may fuse takes in a product that may too and that nothing else reads.

    Args:
        lines: of one function.
        vector: the type of their numbers.
        intrinsic: what the function a*b + c is called.
    """
    made: list[Line] = [*lines]
    add, sub, mul = (Opcode.binary(op, vector) for op in ("fadd", "fsub", "fmul"))
    neg = Opcode.unary("fneg", vector)
    both = Opcode.call(vector, intrinsic, vector, vector, vector)
    of_interest = {add, sub, mul, neg}
    reads = Counter(chain.from_iterable(line.operands for line in lines if isinstance(line, Instruction)))
    place: dict[str, int] = {}
    signs: dict[str, str] = {}  # what a negation that is read once negates
    products: dict[str, tuple[str, ...]] = {}
    for i, line in enumerate(lines):
        if not isinstance(line, Instruction) or line.code not in of_interest:
            continue
        name, code, operands, fuses, at = line
        place[name] = i
        if fuses and code in {add, sub}:
            a, b = operands
            for own, other, left, minus in ((a, b, True, False), (b, a, False, code == sub)):
                inside = own
                if own in signs:
                    inside, minus = signs[own], not minus
                if inside not in products:
                    continue
                x, y = products[inside]
                call = LineGroup()
                if left and code == sub:
                    call.append(Instruction(f"{name}.c", neg, (other,), at=at))
                    other = f"{name}.c"
                if minus:
                    x, y = (y, x) if isinstance(x, Splat) else (x, y)
                    call.append(Instruction(f"{name}.n", neg, (x,), at=at))
                    x = f"{name}.n"
                call.append(Instruction(name, both, (x, y, other), at=at))
                made[i] = call
                for gone in {own, inside}:
                    made[place[gone]] = LineGroup()
                break
        if reads[name] == 1 and code == neg:
            signs[name] = operands[0]
        if reads[name] == 1 and code == mul and fuses:
            products[name] = operands
    return flatten_lines(made)
