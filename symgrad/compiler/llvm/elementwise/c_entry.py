"""The C functions of an elementwise kernel, which call the inner loop: on arrays, strided ones, a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symgrad.compiler.llvm.call_stubs.file_query import about_function
from symgrad.compiler.llvm.elementwise import loop
from symgrad.compiler.llvm.text.module import Function

__all__ = ["Entry"]

_INNER = "entry.loop"
"""The loop as NumPy calls it, with the plan that it is for."""


class Entry(NamedTuple):
    """What the functions are called.

    Args:
        contiguous: ``name(in..., int64_t n, out...)`` on contiguous arrays.
        strided: ``name(in, int64_t stride, ..., int64_t n, out, int64_t stride, ...)``, strides counted in elements.
        point: ``name(in..., out...)``, inputs as numbers.
        about: ``name_about(what)``, which tells the addresses of the loop and the plan; none if it is empty.
        arguments: what it says of the arguments (`symgrad/compiler/llvm/call_stubs/file_query.py`).
    """

    contiguous: str
    strided: str
    point: str
    about: str = ""
    arguments: int = 0

    @classmethod
    def of(cls, name: str) -> Entry:
        """Return the three by the name of the first."""
        return cls(name, f"{name}_strided", f"{name}_point")

    def functions(self, kinds: Sequence[str], itemsizes: Sequence[int], nin: int) -> list[Function]:
        """Return the code of the three, and of what tells about them.

        Args:
            kinds: of elements, inputs then outputs.
            itemsizes: their bytes.
            nin: how many of them are inputs.
        """
        n = len(kinds)
        ins, outs = range(nin), range(nin, n)
        arrays = [*(f"ptr %a{k}" for k in ins), "i64 %n", *(f"ptr %a{k}" for k in outs)]
        strided = [
            *(x for k in ins for x in (f"ptr %a{k}", f"i64 %s{k}")),
            "i64 %n",
            *(x for k in outs for x in (f"ptr %a{k}", f"i64 %s{k}")),
        ]
        numbers = [*(f"{kinds[k]} %x{k}" for k in ins), *(f"ptr %a{k}" for k in outs)]
        steps = [f"  %steps = alloca [{n} x i64]"]
        for k, size in enumerate(itemsizes):
            steps += [
                f"  %b{k} = mul i64 %s{k}, {size}",
                f"  %t{k} = getelementptr i64, ptr %steps, i64 {k}",
                f"  store i64 %b{k}, ptr %t{k}",
            ]
        placed: list[str] = []
        for k in ins:
            placed += [f"  %a{k} = alloca {kinds[k]}", f"  store {kinds[k]} %x{k}, ptr %a{k}"]
        found = [
            _function(self.contiguous, arrays, [], "%n", "@ufunc.sizes", n),
            _function(self.strided, strided, steps, "%n", "%steps", n),
            _function(self.point, numbers, placed, "1", "@ufunc.sizes", n),
        ]
        if self.about:
            given = ("ptr %args", "ptr %dimensions", "ptr %steps", "ptr %unused")
            call = f"  call void @{loop.LOOP}(ptr %args, ptr %dimensions, ptr %steps, ptr @{loop.PLAN})"
            found.append(Function(_INNER, "void", given, [call, "  ret void"]))
            found.append(about_function(self.about, (_INNER, loop.PLAN), self.arguments))
        return found


def _function(
    name: str, parameters: Sequence[str], before: Sequence[str], count: str, steps: str, n: int
) -> Function:
    lines = [
        *before,
        f"  %args = alloca [{n} x ptr]",
        "  %dimensions = alloca i64",
        f"  store i64 {count}, ptr %dimensions",
    ]
    for k in range(n):
        lines.append(f"  %p{k} = getelementptr ptr, ptr %args, i64 {k}")
        lines.append(f"  store ptr %a{k}, ptr %p{k}")
    lines += [
        f"  call void @{loop.LOOP}(ptr %args, ptr %dimensions, ptr {steps}, ptr @{loop.PLAN})",
        "  ret void",
    ]
    return Function(name, "void", parameters, lines, linkage="external")
