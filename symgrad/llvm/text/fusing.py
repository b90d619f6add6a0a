"""Products and sums that are rounded once together.

A code generator that may fuse them (LLVM's flag `contract`) does so or not by the effort that it makes. Here it is done
in the text, by a rule that depends on the text alone, so that quick code and better code have the same bits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["MAY_FUSE", "fused"]

MAY_FUSE = " contract"
"""Marks an instruction, behind its name: what is rounded once if it can be."""

_NAME = re.compile(r"%v\d+")
_INSTRUCTION = re.compile(r"  (%v\d+) = (fadd|fsub|fmul|fneg)( contract)? (<[^>]*>) ([^,]*)(?:, (.*))?")


def fused(lines: Sequence[str], intrinsic: str | None) -> list[str]:
    """Return code in which a marked sum takes in a marked product that nothing else reads, and nothing is marked.

    Args:
        lines: of one function, an instruction each.
        intrinsic: the name of the function a*b + c; None if the processor has none.
    """
    lines = list(lines)
    marked = [i for i, line in enumerate(lines) if MAY_FUSE in line]
    if intrinsic is not None:
        _fuse(lines, intrinsic)
    for i in marked:
        lines[i] = lines[i].replace(MAY_FUSE, "")
    return [line for line in lines if line]


def _fuse(lines: list[str], intrinsic: str) -> None:
    read_once = {name for name, count in Counter(_NAME.findall("\n".join(lines))).items() if count == 2}
    place: dict[str, int] = {}
    signs: dict[str, str] = {}  # what a negation that is read once negates
    products: dict[str, tuple[str, str]] = {}
    for i, line in enumerate(lines):
        found = _INSTRUCTION.fullmatch(line)
        if not found:
            continue
        name, code, may, kind, a, b = found.groups()
        place[name] = i
        if may and code in {"fadd", "fsub"}:
            for own, other, minus in ((a, b, False), (b, a, code == "fsub")):
                inside = own
                if own in signs:
                    inside, minus = signs[own], not minus
                if inside not in products:
                    continue
                x, y = products[inside]
                before = ""
                if own is a and code == "fsub":
                    before += f"  {name}.c = fneg {kind} {other}\n"
                    other = f"{name}.c"
                if minus:
                    x, y = (y, x) if x.startswith("splat") else (x, y)
                    before += f"  {name}.n = fneg {kind} {x}\n"
                    x = f"{name}.n"
                lines[i] = (
                    f"{before}  {name} = call {kind} {intrinsic}({kind} {x}, {kind} {y}, {kind} {other})"
                )
                for gone in {own, inside}:
                    lines[place[gone]] = ""
                break
        if name in read_once and code == "fneg":
            signs[name] = a
        if name in read_once and code == "fmul" and may:
            products[name] = a, b
