"""A kernel as files: LLVM text, assembly, object and C header."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from symgrad.errors import KernelError, UnsupportedError, UsageError
from symgrad.ir.graph import symbol
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.kernel.array_kernel import ArrayKernel
from symgrad.kernel.kernel import Kernel
from symgrad.llvm.array_code import ArrayCode
from symgrad.llvm.array_entry import blas_of, with_entry
from symgrad.llvm.emit import emit
from symgrad.llvm.jit import emit_assembly, emit_object
from symgrad.llvm.target import Cpu, Target, host, target_lines
from symgrad.llvm.types import float_type
from symgrad.lower.schedule import schedule

__all__ = ["c_identifier", "c_prototype", "write_artefacts", "write_atomically"]

_C = {"float64": "double", "float32": "float", "int64": "int64_t", "bool": "unsigned char"}
_SUFFIXES = (".ll", ".s", ".o", ".h")

_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true
    false class new delete this template namespace private public protected operator try catch throw
    main malloc free abort n
"""
_LIBM = """
    sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow hypot sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh
    atanh erf erfc tgamma lgamma floor ceil round rint nearbyint trunc fabs fma fmin fmax fmod copysign
"""
_RESERVED = frozenset(_WORDS.split())  # in C, in C++ and in our own prototypes
_MATHEMATICS = frozenset(name + suffix for name in _LIBM.split() for suffix in ("", "f"))


def c_identifier(name: str) -> str:
    """Turn a name into a C identifier that is no keyword and no function that the code calls.

    Example:
        >>> c_identifier("loss"), c_identifier("a-b"), c_identifier("double"), c_identifier("2x")
        ('loss', 'a_b', 'double_', '_2x')
    """
    ascii_name = (
        re.sub(r"[^A-Za-z0-9_]", lambda m: "_" if m[0].isascii() else f"_u{ord(m[0]):04X}", name) or "_"
    )
    if ascii_name[0].isdigit():
        ascii_name = "_" + ascii_name
    return ascii_name + "_" if ascii_name in _RESERVED else ascii_name


def c_prototype(kernel: Kernel, outputs: Sequence[str] | None = None) -> str:
    """The C declaration of a kernel's function.

    Args:
        kernel: the kernel.
        outputs: names for its outputs; by default ``out`` or ``out0``, ``out1``, ...

    Raises:
        UsageError: if there are more or fewer names than outputs.
    """
    count = len(kernel.outputs)
    if outputs is None:
        outputs = ["out"] if count == 1 else [f"out{k}" for k in range(count)]
    if len(outputs) != count:
        raise UsageError(f"{len(outputs)} names for {count} outputs")
    kinds = [_C[kind.name] for kind in kernel.kinds]
    taken: list[str] = []
    sizes = kernel.sizes if isinstance(kernel, ArrayKernel) else ("n",)
    lengths = [f"long {_distinct(_size_identifier(size), taken)}" for size in sizes]
    names = [_distinct(c_identifier(name), taken) for name in (*kernel.inputs, *outputs)]
    params = [f"{kind} *{name}" for kind, name in zip(kinds, names, strict=True)]
    nin = len(kernel.inputs)
    given = ", ".join([*(f"const {p}" for p in params[:nin]), *lengths, *params[nin:]])
    return f"{'int' if isinstance(kernel, ArrayKernel) else 'void'} {_function(kernel)}({given})"


def _size_identifier(size: str) -> str:
    return size if size == "n" else c_identifier(size)


def _distinct(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    taken.append(name)
    return name


def write_artefacts(
    kernel: Kernel,
    path: str | Path,
    *,
    cpu: Cpu = "host",
    outputs: Sequence[str] | None = None,
    suffixes: Sequence[str] = (".ll", ".s", ".o", ".h"),
) -> tuple[Path, ...]:
    """Write a kernel as ``path.ll``, ``path.s``, ``path.o`` and ``path.h``.

    The object is position independent, needs nothing but libm (and a BLAS if it multiplies matrices), and defines one
    function, which the header declares.
    A file is there in full or not at all.

    Args:
        kernel: the kernel.
        path: where, with or without one of the four suffixes.
        cpu: ``host`` for this machine's processor, ``baseline`` for every processor of its kind.
        outputs: names for the outputs in the header.
        suffixes: which of the four to write.

    Returns:
        The paths written.

    Raises:
        KernelError: if a file cannot be written.
        UnsupportedError: if the kernel calls functions of SciPy.
        UsageError: for another cpu, or if outputs has the wrong length.
    """
    if cpu not in ("host", "baseline"):
        raise UsageError(f"unknown cpu '{cpu}'", expected='"host" or "baseline"')
    stem = Path(path)
    if stem.suffix in _SUFFIXES:
        stem = stem.with_suffix("")
    name = _function(kernel)
    if "@scipy." in kernel.llvm_ir:
        raise UnsupportedError(
            f"the code of {', '.join(_from_scipy(kernel))} is SciPy's, which an object file (cpu={cpu!r}) cannot be "
            "linked with",
            expected="functions of the C library",
            cure="call the kernel from Python, or pass the values of those functions as inputs",
        )
    ir = target_lines(cpu) + _module(kernel, name, host().target_of(cpu))
    content: dict[str, Callable[[], bytes]] = {
        ".ll": ir.encode,
        ".s": lambda: emit_assembly(ir, cpu).encode(),
        ".o": lambda: emit_object(ir, cpu),
        ".h": lambda: _header(kernel, name, outputs).encode(),
    }
    ready = [(stem.with_name(stem.name + suffix), content[suffix]()) for suffix in suffixes]
    for target, written in ready:
        write_atomically(target, written)
    return tuple(target for target, _ in ready)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under a temporary name in the same folder, then put it in place.

    Raises:
        KernelError: if the folder or the file cannot be written.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise KernelError(
            f"cannot write {path}: {error.strerror or error}",
            cure="choose a folder that exists and is writable",
        ) from error


def _function(kernel: Kernel) -> str:
    name = c_identifier(kernel.name)
    called = {
        line.split("@", 1)[1].split("(")[0]
        for line in kernel.llvm_ir.splitlines()
        if line.startswith("declare")
    }
    # Whoever links the object would call the kernel where the program says sqrt(x), the kernel itself included.
    return name + "_" if name in called | _MATHEMATICS else name


def _from_scipy(kernel: Kernel) -> list[str]:
    """Name the ops whose code calls SciPy: each is compiled by itself."""
    found: dict[str, None] = {}
    for node in topological(kernel.outputs):
        if node.op.pointwise and node.args and "bool" not in node.op.takes:
            args = [a if a.is_number() else symbol(Declaration(f"x{k}")) for k, a in enumerate(node.args)]
            alone = node.op(*args, params=node.params)
            code = emit(schedule([alone], symbols_of([alone])), float_type(kernel.dtype), host().target).ir
            if "@scipy." in code:
                found[node.op.name] = None
    return list(found)


def _module(kernel: Kernel, name: str, target: Target) -> str:
    real = float_type(kernel.dtype)
    if isinstance(kernel, ArrayKernel):
        code = ArrayCode(kernel.outputs, kernel.symbols, real, target, fast=kernel.fast)
        return with_entry(code.module, name, len(kernel.inputs), len(kernel.sizes), len(kernel.outputs))
    plan = schedule(kernel.outputs, kernel.symbols, fusable=kernel.fusable, fast=kernel.fast)
    return emit(plan, real, target, entry=name).ir


def _header(kernel: Kernel, name: str, outputs: Sequence[str] | None) -> str:
    guard = f"SYMGRAD_{name.upper()}_H"
    if isinstance(kernel, ArrayKernel):
        about = _about_arrays(kernel, outputs)
    else:
        about = """Every array has n elements, contiguous;
   an output may be an input array. Link with the C mathematics library (-lm)."""
    return f"""\
/* {kernel.name}({", ".join(kernel.inputs)}): {len(kernel.outputs)} output(s). {about} */
#ifndef {guard}
#define {guard}
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif

{c_prototype(kernel, outputs)};

#ifdef __cplusplus
}}
#endif
#endif
"""


def _about_arrays(kernel: ArrayKernel, outputs: Sequence[str] | None) -> str:
    count = len(kernel.outputs)
    names = outputs or (["out"] if count == 1 else [f"out{k}" for k in range(count)])
    nodes = (*kernel.symbols, *kernel.outputs)
    shapes = ", ".join(
        f"{name}[{', '.join(map(str, node.shape))}]"
        for name, node in zip((*kernel.inputs, *names), nodes, strict=True)
        if node.shape
    )
    used = blas_of(kernel.llvm_ir)
    library = ", and with a BLAS (-lblas)" if used else ""
    if any(routine[1:].startswith("getr") for routine in used):
        library = ", and with a LAPACK (-llapack -lblas)"
    return f"""Every array is contiguous, rows first:
   {shapes}.
   No output may overlap another array. Indices are not checked: one out of range reads as NaN (0 for integers).
   Returns 0, 1 if there is not enough memory, or an array would have 2**60 entries or more, or 2 if an axis would have
   a negative length. Link with the C mathematics library (-lm){library}."""
