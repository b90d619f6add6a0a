"""Fuse a product and the sum that reads it into one fused multiply-add.

With LLVM's flag `contract` the optimisation level would determine which products are fused. Here a fixed rule on the
instructions determines it, so quick code and optimised code give the same bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from symgrad.compiler.llvm.text.instructions import Instruction, Line, LineGroup, Splat, flatten_lines
from symgrad.compiler.llvm.text.opcodes import Opcode


def fuse_multiply_adds(
    lines: Sequence[str | Instruction], vector: str, intrinsic: str
) -> list[str | Instruction]:
    """Return code in which a*b + c is one call if both instructions may fuse and nothing else reads the product.

    Args:
        lines: the code of one function.
        vector: the type of its numbers.
        intrinsic: the name of the function that computes a*b + c.
    """
    made: list[Line] = [*lines]
    add, sub, mul = (Opcode.binary(op, vector) for op in ("fadd", "fsub", "fmul"))
    neg = Opcode.unary("fneg", vector)
    both = Opcode.call(vector, intrinsic, vector, vector, vector)
    of_interest = {add, sub, mul, neg}
    reads = Counter(chain.from_iterable(line.operands for line in lines if isinstance(line, Instruction)))
    place: dict[str, int] = {}
    signs: dict[str, str] = {}  # for each negation that is read once, its operand
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
