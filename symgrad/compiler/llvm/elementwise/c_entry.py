"""The C functions of scalar equations, which call their inner loop: on many points, a point, or small arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symgrad.compiler.llvm.call_stubs.file_query import about_function
from symgrad.compiler.llvm.elementwise import loop
from symgrad.compiler.llvm.text.module import Function

_INNER = "entry.loop"
"""The name of the loop as NumPy calls it, with its plan built in."""


class Entry(NamedTuple):
    """The names of the functions.

    Args:
        contiguous: ``name(in..., int64_t n, out...)`` on contiguous arrays.
        strided: ``name(in, int64_t stride, ..., int64_t n, out, int64_t stride, ...)``, strides counted in elements.
        point: ``name(in..., out...)``, with inputs as numbers.
        about: ``name_about(what)``, which returns the addresses of the loop and the plan; empty for no such function.
        arguments: the answer of ``name_about`` about the arguments (`symgrad/compiler/llvm/call_stubs/file_query.py`).
    """

    contiguous: str
    strided: str
    point: str
    about: str = ""
    arguments: int = 0

    @classmethod
    def of(cls, name: str) -> Entry:
        """Return the three names, derived from the name of the first function."""
        return cls(name, f"{name}_strided", f"{name}_point")

    def functions(self, kinds: Sequence[str], itemsizes: Sequence[int], nin: int) -> list[Function]:
        """Return the code of the three functions, and of the function that describes them.

        Args:
            kinds: the types of elements: inputs, then outputs.
            itemsizes: the bytes of elements.
            nin: the number of inputs.
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
        return found + (_about(self.about, self.arguments) if self.about else [])


class ArrayEntry(NamedTuple):
    """The C function of a program of small arrays, ``int name(in..., out...)`` on contiguous arrays.

    Args:
        name: its name.
        counts: the number of entries of each argument, inputs first.
        about: the name of the function that returns the addresses of the loop and the plan; empty for no such function.
        arguments: the answer of that function about the arguments.
    """

    name: str
    counts: Sequence[int]
    about: str = ""
    arguments: int = 0

    def functions(self, kinds: Sequence[str], itemsizes: Sequence[int], nin: int) -> list[Function]:
        """Return the code of the function, and of the function that describes it.

        Args:
            kinds: the types of entries: inputs, then outputs.
            itemsizes: the bytes of entries.
            nin: the number of entries of inputs.
        """
        del itemsizes, nin
        n = len(kinds)
        entries = [(k, e) for k, count in enumerate(self.counts) for e in range(count)]
        lines = [
            f"  %args = alloca [{n} x ptr]",
            "  %dimensions = alloca i64",
            "  store i64 1, ptr %dimensions",
        ]
        for i, (k, e) in enumerate(entries):
            lines += [
                f"  %e{i} = getelementptr {kinds[i]}, ptr %a{k}, i64 {e}",
                f"  %p{i} = getelementptr ptr, ptr %args, i64 {i}",
                f"  store ptr %e{i}, ptr %p{i}",
            ]
        lines += [
            f"  call void @{loop.LOOP}(ptr %args, ptr %dimensions, ptr @ufunc.sizes, ptr @{loop.PLAN})",
            "  ret i32 0",
        ]
        parameters = [f"ptr %a{k}" for k in range(len(self.counts))]
        found = [Function(self.name, "i32", parameters, lines, linkage="external")]
        return found + (_about(self.about, self.arguments) if self.about else [])


def _about(name: str, arguments: int) -> list[Function]:
    """Return the function that describes the kernel to its loader, and the loop whose address it returns."""
    given = ("ptr %args", "ptr %dimensions", "ptr %steps", "ptr %unused")
    call = f"  call void @{loop.LOOP}(ptr %args, ptr %dimensions, ptr %steps, ptr @{loop.PLAN})"
    return [
        Function(_INNER, "void", given, [call, "  ret void"]),
        about_function(name, (_INNER, loop.PLAN), arguments),
    ]


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
