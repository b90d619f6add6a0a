"""Computed core dimensions of a generalised ufunc, such as n + m or max(n - 1, 0): the hook that NumPy calls."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence

from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.ir.sizes import Size, SizeAtom
from symgrad.ir.values.bound_sizes import size_sources

# The hook process_core_dims of NumPy 2.1: a size of -1 is to be filled in. Overflow is an error, because NumPy would
# allocate an array of the wrapped size.
_PROCESS_FUNCTION = """\
define i32 @array.process(ptr %ufunc, ptr %core) #0 {
entry:
${lines}
  br i1 %bad.${last}, label %refuse, label %fine
refuse:
  call void inttoptr (i64 ${set.string} to ptr)(ptr inttoptr (i64 ${value.error} to ptr), ptr @array.message)
  ret i32 -1
fine:
  ret i32 0
}
declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
"""


def core_sizes_module(sizes: Sequence[Size], given: Collection[int]) -> str:
    """Return the module of the function that fills in and checks computed core dimensions; "" if there are none.

    Args:
        sizes: the core dimensions.
        given: the positions of those that inputs have; NumPy knows their values.
    """
    computed = [
        i
        for i, size in enumerate(sizes)
        if not (i in given if isinstance(size, str) else isinstance(size, int) and size)
    ]
    if not computed:
        return ""
    code = _SizeCode(sizes, given)
    for i in computed:
        code.settle(i)
    expressions = ", ".join(str(sizes[i]) for i in computed)
    message = f"an axis does not have the size that the other arrays imply: {expressions}".encode()
    escaped = "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:02X}" for c in message)
    # NumPy passes only the sizes, so the module contains addresses of this process and is never cached.
    parts = {
        "lines": "\n".join(code.lines),
        "last": code.checks,
        "set.string": ctypes.cast(ctypes.pythonapi.PyErr_SetString, ctypes.c_void_p).value,
        "value.error": id(ValueError),
    }
    constant = f'@array.message = internal constant [{len(message) + 1} x i8] c"{escaped}\\00"'
    return "\n".join([constant, fill_template(_PROCESS_FUNCTION, parts), ATTRIBUTES])


class _SizeCode:
    """Writes the code that computes sizes with overflow checks."""

    def __init__(self, sizes: Sequence[Size], given: Collection[int]) -> None:
        self.lines = ["  %bad.0 = or i1 false, false"]
        self.checks = 0
        self._values = 0
        self._sizes = sizes
        self._names: dict[str, str] = {}
        known = tuple(size if i in given else 0 for i, size in enumerate(sizes))
        for name, source in size_sources([known]).items():
            value = self._load(source.axis)
            if source.constant:
                value = self._emit(f"sub i64 {value}, {source.constant}")
            if source.factor != 1:
                value = self._emit(f"sdiv i64 {value}, {source.factor}")
            if not isinstance(sizes[source.axis], str):
                self._check(f"icmp slt i64 {value}, 0")
            self._names[name] = value

    def settle(self, i: int) -> None:
        """Fill in core dimension i, or check the value that NumPy has."""
        value = self._size(self._sizes[i])
        self._check(f"icmp slt i64 {value}, 0")
        found = self._load(i)
        open_ = self._emit(f"icmp eq i64 {found}, -1")
        result = self._emit(f"select i1 {open_}, i64 {value}, i64 {found}")
        self._check(f"icmp ne i64 {result}, {value}")
        self.lines.append(f"  store i64 {result}, ptr %core.{i}.{found[1:]}")

    def _load(self, i: int) -> str:
        name = f"%s{self._values}"
        self.lines.append(f"  %core.{i}.{name[1:]} = getelementptr i64, ptr %core, i64 {i}")
        return self._emit(f"load i64, ptr %core.{i}.{name[1:]}")

    def _size(self, size: Size) -> str:
        if isinstance(size, int):
            return str(size)
        if isinstance(size, str):
            return self._names[size]
        total = "0"
        for monomial, c in size.terms:
            product = str(c)
            for atom in monomial:
                factor = self._names[atom] if isinstance(atom, str) else self._atom(atom)
                product = self._exact("smul", product, factor)
            total = self._exact("sadd", total, product)
        return total

    def _atom(self, atom: SizeAtom) -> str:
        a, b = self._size(atom.a), self._size(atom.b)
        if atom.op != "ceildiv":
            return self._emit(f"call i64 @llvm.s{atom.op}.i64(i64 {a}, i64 {b})")
        # ceil(a/b) = -floor(-a/b); sdiv rounds towards zero, and the divisor is the positive step of a slice.
        down = self._emit(f"sdiv i64 {a}, {b}")
        rest = self._emit(f"srem i64 {a}, {b}")
        above = self._emit(f"icmp sgt i64 {rest}, 0")
        one = self._emit(f"zext i1 {above} to i64")
        return self._emit(f"add i64 {down}, {one}")

    def _exact(self, op: str, a: str, b: str) -> str:
        pair = self._emit(f"call {{ i64, i1 }} @llvm.{op}.with.overflow.i64(i64 {a}, i64 {b})")
        self._check(f"extractvalue {{ i64, i1 }} {pair}, 1")
        return self._emit(f"extractvalue {{ i64, i1 }} {pair}, 0")

    def _check(self, condition: str) -> None:
        bad = self._emit(condition)
        self.lines.append(f"  %bad.{self.checks + 1} = or i1 %bad.{self.checks}, {bad}")
        self.checks += 1

    def _emit(self, instruction: str) -> str:
        name = f"%s{self._values}"
        self._values += 1
        self.lines.append(f"  {name} = {instruction}")
        return name
