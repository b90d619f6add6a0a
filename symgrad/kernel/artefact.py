"""A kernel as files: LLVM text, assembly, object and C header."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from symgrad.errors import UnsupportedError, UsageError
from symgrad.files import write_atomically
from symgrad.ir.graph import symbol
from symgrad.ir.resize import size_with
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.kernel.array_kernel import ArrayKernel
from symgrad.kernel.c_names import c_function, c_identifiers
from symgrad.kernel.kernel import Kernel
from symgrad.llvm.arrays.code_of_arrays import array_module
from symgrad.llvm.arrays.entry import with_entry
from symgrad.llvm.elementwise.emit import emit
from symgrad.llvm.engine.blas import routines
from symgrad.llvm.engine.jit import emit_assembly, emit_object
from symgrad.llvm.engine.scipy_code import OWN, PREFIX
from symgrad.llvm.engine.target import Cpu, Target, host, target_lines
from symgrad.llvm.text.types import float_type
from symgrad.lower.elementwise.schedule import schedule

__all__ = ["write_artefacts"]

_C = {"float64": "double", "float32": "float", "int64": "int64_t", "bool": "unsigned char"}
_SUFFIXES = (".ll", ".s", ".o", ".h")


@dataclass(frozen=True, slots=True)
class _Names:
    """What a header calls things: identifiers, and nothing else goes into its text."""

    function: str
    inputs: Sequence[str]
    sizes: Mapping[str, str]
    outputs: Sequence[str]


def _prototype(kernel: Kernel, names: _Names) -> str:
    pointers = [f"{_C[kind.name]} *" for kind in kernel.kinds]
    named = [kind + name for kind, name in zip(pointers, (*names.inputs, *names.outputs), strict=True)]
    nin = len(kernel.inputs)
    lengths = [f"int64_t {name}" for name in names.sizes.values()]
    given = ", ".join([*(f"const {p}" for p in named[:nin]), *lengths, *named[nin:]])
    return f"{'int' if isinstance(kernel, ArrayKernel) else 'void'} {names.function}({given})"


def _names(kernel: Kernel, outputs: Sequence[str] | None) -> _Names:
    count, nin = len(kernel.outputs), len(kernel.inputs)
    if outputs is None:
        outputs = ["out"] if count == 1 else [f"out{k}" for k in range(count)]
    if len(outputs) != count:
        raise UsageError(f"{len(outputs)} names for {count} outputs")
    sizes = kernel.sizes if isinstance(kernel, ArrayKernel) else ("n",)
    found = iter(c_identifiers([*sizes, *kernel.inputs, *outputs]))
    lengths = {size: next(found) for size in sizes}
    return _Names(_function(kernel), list(islice(found, nin)), lengths, list(found))


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
        FileError: if a file cannot be written.
        UnsupportedError: if the kernel calls functions of SciPy.
        UsageError: for another cpu, or if outputs has the wrong length.
    """
    if cpu not in ("host", "baseline"):
        raise UsageError(f"unknown cpu '{cpu}'", expected='"host" or "baseline"')
    stem = Path(path)
    if stem.suffix in _SUFFIXES:
        stem = stem.with_suffix("")
    names = _names(kernel, outputs)
    own = sorted(n.removeprefix(PREFIX + OWN) for n in kernel.needs if n.startswith(PREFIX + OWN))
    if own:
        raise UnsupportedError(
            f"the code of {', '.join(own)} lies at an address of this process, which an object file (cpu={cpu!r}) "
            "cannot be linked with",
            expected="functions of the C library, and ops that have a definition",
            cure="register the op with definition= instead of native=, or call the kernel from Python",
        )
    if _calls_scipy(kernel.needs):
        raise UnsupportedError(
            f"the code of {', '.join(_from_scipy(kernel))} is SciPy's, which an object file (cpu={cpu!r}) cannot be "
            "linked with",
            expected="functions of the C library",
            cure="call the kernel from Python, or pass the values of those functions as inputs",
        )
    ir = target_lines(cpu) + _module(kernel, names.function, host().target_of(cpu))
    content: dict[str, Callable[[], bytes]] = {
        ".ll": ir.encode,
        ".s": lambda: emit_assembly(ir, cpu).encode(),
        ".o": lambda: emit_object(ir, cpu),
        ".h": lambda: _header(kernel, names).encode(),
    }
    ready = [(stem.with_name(stem.name + suffix), content[suffix]()) for suffix in suffixes]
    for target, written in ready:
        write_atomically(target, written)
    return tuple(target for target, _ in ready)


def _function(kernel: Kernel) -> str:
    # Whoever links the object would call the kernel where the program says sqrt(x), the kernel itself included.
    return c_function(kernel.name, [*kernel.needs, *(f"{routine}_" for routine in routines(kernel.needs))])


def _calls_scipy(needs: Iterable[str]) -> bool:
    return any(name.startswith(PREFIX) for name in needs)


def _from_scipy(kernel: Kernel) -> list[str]:
    """Name the ops whose code calls SciPy: each is compiled by itself."""
    found: dict[str, None] = {}
    for node in topological(kernel.outputs):
        if node.op.pointwise and node.args and "bool" not in node.op.takes:
            args = [a if a.is_number() else symbol(Declaration(f"x{k}")) for k, a in enumerate(node.args)]
            alone = node.op(*args, params=node.params)
            code = emit(schedule([alone], symbols_of([alone])), float_type(kernel.dtype), host().target)
            if _calls_scipy(code.needs):
                found[node.op.name] = None
    return list(found)


def _module(kernel: Kernel, name: str, target: Target) -> str:
    real = float_type(kernel.dtype)
    if isinstance(kernel, ArrayKernel):
        module = array_module(kernel.outputs, kernel.symbols, real, target, fast=kernel.fast).module
        return str(with_entry(module, name, len(kernel.inputs), len(kernel.sizes), len(kernel.outputs)))
    plan = schedule(kernel.outputs, kernel.symbols, fusable=kernel.fusable, fast=kernel.fast)
    return emit(plan, real, target, entry=name).ir


def _header(kernel: Kernel, names: _Names) -> str:
    guard = f"SYMGRAD_H_{names.function}"
    if isinstance(kernel, ArrayKernel):
        about = _about_arrays(kernel, names)
    else:
        about = f"""Every array has {names.sizes["n"]} elements, contiguous;
   an output may be an input array. Link with the C mathematics library (-lm)."""
    return f"""\
/* {names.function}({", ".join(names.inputs)}): {len(kernel.outputs)} output(s). {about} */
#ifndef {guard}
#define {guard}
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif

{_prototype(kernel, names)};

#ifdef __cplusplus
}}
#endif
#endif
"""


def _about_arrays(kernel: ArrayKernel, names: _Names) -> str:
    nodes = (*kernel.symbols, *kernel.outputs)
    shapes = ", ".join(
        f"{name}[{', '.join(str(size_with(size, names.sizes)) for size in node.shape)}]"
        for name, node in zip((*names.inputs, *names.outputs), nodes, strict=True)
        if node.shape
    )
    used = routines(kernel.needs)
    library = ", and with a BLAS (-lblas)" if used else ""
    if any(routine[1:].startswith("getr") for routine in used):
        library = ", and with a LAPACK (-llapack -lblas)"
    return f"""Every array is contiguous, rows first:
   {shapes}.
   No output may overlap another array. Indices are not checked: one out of range reads as NaN (0 for integers).
   Returns 0, 1 if there is not enough memory, or an array would have 2**60 entries or more, or 2 if an axis would have
   a negative length. Link with the C mathematics library (-lm){library}."""
