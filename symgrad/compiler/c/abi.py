"""The names and arguments of the functions of kernels in C, and the code of elementwise ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.compiler.c.identifiers import c_identifiers
from symgrad.compiler.llvm.text.types import FloatType


@dataclass(frozen=True, slots=True)
class Abi:
    """The names and types of the functions of an elementwise kernel in C.

    Args:
        contiguous, strided, point: the names of the three functions.
        inputs, outputs: the names of their arguments.
        types: of the elements of inputs, then outputs.
        length: the argument with the number of points.
    """

    contiguous: str
    strided: str
    point: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    types: Sequence[str]
    length: str

    def prototypes(self) -> tuple[str, str, str]:
        """Return the declarations of the three functions, without semicolons."""
        nin = len(self.inputs)
        ins = list(zip(self.types[:nin], self.inputs, strict=True))
        outs = list(zip(self.types[nin:], self.outputs, strict=True))
        count = f"int64_t {self.length}"
        stride = _strides([*self.inputs, *self.outputs, self.length])
        arrays = [*(f"const {t} *{x}" for t, x in ins), count, *(f"{t} *{y}" for t, y in outs)]
        strided = [
            *(f"const {t} *{x}, int64_t {stride[x]}" for t, x in ins),
            count,
            *(f"{t} *{y}, int64_t {stride[y]}" for t, y in outs),
        ]
        point = [*(f"{t} {x}" for t, x in ins), *(f"{t} *{y}" for t, y in outs)]
        return (
            f"void {self.contiguous}({', '.join(arrays)})",
            f"void {self.strided}({', '.join(strided)})",
            f"void {self.point}({', '.join(point)})",
        )


@dataclass(frozen=True, slots=True)
class ArrayAbi:
    """The names and types of the function of an array program in C.

    Args:
        name: the name of the function.
        inputs, sizes, outputs: the names of its arguments.
        types: of the elements of inputs, then outputs.
    """

    name: str
    inputs: Sequence[str]
    sizes: Sequence[str]
    outputs: Sequence[str]
    types: Sequence[str]

    def prototype(self) -> str:
        """Return the declaration of the function, without a semicolon."""
        arrays = [f"{t} *{x}" for t, x in zip(self.types, (*self.inputs, *self.outputs), strict=True)]
        nin = len(self.inputs)
        parameters = [*(f"const {x}" for x in arrays[:nin]), *(f"int64_t {n}" for n in self.sizes)]
        return f"int {self.name}({', '.join([*parameters, *arrays[nin:]])})"


def _strides(names: Sequence[str]) -> dict[str, str]:
    """Return the names of the strides of arguments."""
    identifiers = c_identifiers([*names, *(f"{name}_stride" for name in names)])
    return dict(zip(names, identifiers[len(names) :], strict=True))


def entries(abi: Abi, real: FloatType, *, single: bool, directly: bool) -> str:
    """Return the three functions; ``directly`` computes contiguous arrays without the strided function."""
    contiguous, strided, point = abi.prototypes()
    nin, nout = max(len(abi.inputs), 1), len(abi.outputs)
    stride = _strides([*abi.inputs, *abi.outputs, abi.length])
    n = abi.length
    flags = [t == "unsigned char" for t in abi.types]
    ins = list(zip(abi.inputs, flags, strict=False))
    outs = list(zip(abi.outputs, flags[len(abi.inputs) :], strict=True))

    def read(x: str, flag: bool) -> str:
        return f"{x} != 0" if flag else x

    def write(value: str, flag: bool) -> str:
        return f"(unsigned char){value}" if flag else value

    at = "" if single else "[0]"
    buffers = f"    {real.c} in[{nin}]{{0}}, out[{nout}]{{0}};"
    ones = ", ".join(
        [*(f"{x}, 1" for x in abi.inputs), n, *(f"{y}, 1" for y in abi.outputs)]
    )  # the strides of contiguous arrays
    where = ", ".join([*(f"{x}[i]" for x in abi.inputs), *(f"&{y}[i]" for y in abi.outputs)])
    each = [
        "    int64_t i;",
        f"    for (i = 0; i < {n}; i++)",
        f"        {abi.contiguous}_formula({where});",
    ]
    lines = [
        strided,
        "{",
        buffers.replace("{0}", "[BLOCK]"),
        "    int64_t i;",
        f"    for (i = 0; i < {n}; i += BLOCK) {{",
        f"        const int m = {n} - i < BLOCK ? (int)({n} - i) : BLOCK;",
        "        int j;",
        *(
            f"        for (j = 0; j < m; j++)\n            in[{k}][j] = {read(f'{x}[(i + j)*{stride[x]}]', flag)};"
            for k, (x, flag) in enumerate(ins)
        ),
        f"        {abi.contiguous}_block(m, in, out);",
        *(
            f"        for (j = 0; j < m; j++)\n"
            f"            {y}[(i + j)*{stride[y]}] = {write(f'out[{k}][j]', flag)};"
            for k, (y, flag) in enumerate(outs)
        ),
        "    }",
        "}",
        "",
        contiguous,
        "{",
        *(each if directly else [f"    {abi.strided}({ones});"]),
        "}",
        "",
        point,
        "{",
        buffers.replace("{0}", "" if single else "[BLOCK]"),
        *(f"    in[{k}]{at} = {read(x, flag)};" for k, (x, flag) in enumerate(ins)),
        f"    {abi.contiguous}_{'one(in' if single else 'block(1, in'}, out);",
        *(f"    *{y} = {write(f'out[{k}]{at}', flag)};" for k, (y, flag) in enumerate(outs)),
        "}",
        "",
    ]
    return "\n".join(lines)


def array_entry(abi: ArrayAbi, counts: Sequence[int], real: FloatType, *, single: bool) -> str:
    """Return the function of a program of small arrays, which passes their entries to the equations.

    Args:
        abi: the names and types.
        counts: the number of entries of each argument.
        real: the format of all numbers.
        single: whether the equations are one function.
    """
    nin = len(abi.inputs)
    at = "" if single else "[0]"
    sides = [sum(counts[:nin]), sum(counts[nin:])]
    dimensions = "" if single else "[BLOCK]"
    lines = [
        abi.prototype(),
        "{",
        f"    {real.c} in[{max(sides[0], 1)}]{dimensions}, out[{sides[1]}]{dimensions};",
        "    int i;",
    ]
    first = 0
    moves: list[str] = []
    for k, (name, count, kind) in enumerate(zip((*abi.inputs, *abi.outputs), counts, abi.types, strict=True)):
        first = 0 if k == nin else first
        place = f"[{first} + i]" if first else "[i]"
        flag = kind == "unsigned char"
        moves += [f"    for (i = 0; i < {count}; i++)"]
        if k < nin:
            moves += [f"        in{place}{at} = {name}[i]{' != 0' if flag else ''};"]
        else:
            moves += [f"        {name}[i] = {'(unsigned char)' if flag else ''}out{place}{at};"]
        first += count
    called = f"    {abi.name}_{'one(in' if single else 'block(1, in'}, out);"
    return "\n".join([*lines, *moves[: 2 * nin], called, *moves[2 * nin :], "    return 0;", "}", ""])
