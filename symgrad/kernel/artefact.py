"""A kernel as files: LLVM text, assembly, object and C header."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from symgrad.errors import KernelError, UnsupportedError, UsageError
from symgrad.kernel.array_kernel import ArrayKernel
from symgrad.kernel.kernel import Kernel
from symgrad.llvm.emit import emit
from symgrad.llvm.jit import Cpu, emit_assembly, emit_object, host, target_lines
from symgrad.llvm.types import float_type
from symgrad.lower.schedule import schedule

__all__ = ["c_identifier", "c_prototype", "write_artefacts", "write_atomically"]

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
        UnsupportedError: for the kernel of an array program.
        UsageError: if there are more or fewer names than outputs.
    """
    _check_elementwise(kernel)
    count = len(kernel.outputs)
    if outputs is None:
        outputs = ["out"] if count == 1 else [f"out{k}" for k in range(count)]
    if len(outputs) != count:
        raise UsageError(f"{len(outputs)} names for {count} outputs")
    kinds = ["unsigned char" if kind.kind == "b" else float_type(kind).c for kind in kernel.kinds]
    names: list[str] = []
    for name in (*kernel.inputs, *outputs):
        identifier = c_identifier(name)
        while identifier in names:
            identifier += "_"
        names.append(identifier)
    params = [f"{kind} *{name}" for kind, name in zip(kinds, names, strict=True)]
    nin = len(kernel.inputs)
    return f"void {_function(kernel)}({', '.join([*(f'const {p}' for p in params[:nin]), 'long n', *params[nin:]])})"


def write_artefacts(
    kernel: Kernel,
    path: str | Path,
    *,
    cpu: Cpu = "host",
    outputs: Sequence[str] | None = None,
    suffixes: Sequence[str] = (".ll", ".s", ".o", ".h"),
) -> tuple[Path, ...]:
    """Write a kernel as ``path.ll``, ``path.s``, ``path.o`` and ``path.h``.

    The object is position independent, needs nothing but libm, and defines one function, which the header declares.
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
        UnsupportedError: for the kernel of an array program.
        UsageError: for another cpu, or if outputs has the wrong length.
    """
    _check_elementwise(kernel)
    if cpu not in ("host", "baseline"):
        raise UsageError(f"unknown cpu '{cpu}'", expected='"host" or "baseline"')
    stem = Path(path)
    if stem.suffix in _SUFFIXES:
        stem = stem.with_suffix("")
    name = _function(kernel)
    plan = schedule(kernel.outputs, kernel.symbols)
    module = emit(plan, float_type(kernel.dtype), host().target_of(cpu), entry=name)
    ir = target_lines(cpu) + module.ir
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


def _check_elementwise(kernel: Kernel) -> None:
    if isinstance(kernel, ArrayKernel):
        raise UnsupportedError(
            f"kernel '{kernel.name}' is an array program, which has no object file",
            expected="a program that computes every element by itself",
            cure="look at its code with kernel.llvm_ir and kernel.asm, or pickle it",
        )


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


def _header(kernel: Kernel, name: str, outputs: Sequence[str] | None) -> str:
    guard = f"SYMGRAD_{name.upper()}_H"
    return f"""\
/* {kernel.name}({", ".join(kernel.inputs)}): {len(kernel.outputs)} output(s). Every array has n elements, contiguous;
   an output may be an input array. Link with the C mathematics library (-lm). */
#ifndef {guard}
#define {guard}
#ifdef __cplusplus
extern "C" {{
#endif

{c_prototype(kernel, outputs)};

#ifdef __cplusplus
}}
#endif
#endif
"""
