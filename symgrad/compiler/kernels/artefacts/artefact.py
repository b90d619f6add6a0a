"""A kernel as files: C source, LLVM text and bitcode, assembly, object, shared library, C header, PTX, WebAssembly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any, cast

from symgrad.compiler.c.abi import Abi, ArrayAbi
from symgrad.compiler.c.arrays.program import array_source
from symgrad.compiler.c.identifiers import c_function, c_identifiers
from symgrad.compiler.c.linker import shared_library
from symgrad.compiler.c.source import c_source, entry_source
from symgrad.compiler.gpu.codegen.artefacts import ptx_text, wasm_bytes
from symgrad.compiler.kernels.array_kernel import ArrayKernel
from symgrad.compiler.kernels.artefacts.metadata import sealed, sealed_text
from symgrad.compiler.kernels.artefacts.metadata_fields import described
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.llvm.arrays.array_code import array_module
from symgrad.compiler.llvm.arrays.c_function import add_c_function
from symgrad.compiler.llvm.call_stubs.file_query import ARGUMENT_QUERY
from symgrad.compiler.llvm.elementwise.c_entry import ArrayEntry, Entry
from symgrad.compiler.llvm.elementwise.emit import emit
from symgrad.compiler.llvm.engine.blas import routines
from symgrad.compiler.llvm.engine.jit import emit_assembly, emit_bitcode, emit_object_and_needs
from symgrad.compiler.llvm.engine.platforms import platform
from symgrad.compiler.llvm.engine.scipy_functions import PREFIX, USER_PREFIX
from symgrad.compiler.llvm.engine.target import Target, host, target_lines
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.lowering.elementwise.schedule import schedule
from symgrad.ir.graph import symbol
from symgrad.ir.size_substitution import size_with
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.support.errors import UnsupportedError, UsageError
from symgrad.support.files import write_together

_C = {"float64": "double", "float32": "float", "int64": "int64_t", "bool": "unsigned char"}
_WRITTEN = (".c", ".ll", ".bc", ".s", ".o", ".so", ".ptx", ".wasm")
_WITH_HEADER = {".c", ".o", ".so", ".wasm"}
"""The suffixes of files that get a header beside them, which the caller does not name."""

_BY_LLVM = {".ll", ".bc", ".s", ".o", ".so"}
"""The suffixes of files with a function that describes the kernel; the header beside the file declares it."""

_SUFFIXES = (*_WRITTEN, ".h")

_FIRST_LINE = "/* Written by symgrad."
"""The beginning of every header. Only a file that begins so may be replaced by another header."""

_DEVICES = {".ptx": "nvptx64", ".wasm": "wasm32"}
"""The suffixes of files for one kind of machine, with the beginning of the triples of this kind."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The names in a header. All are identifiers, and no other text from the user goes into the header."""

    functions: Entry
    inputs: Sequence[str]
    sizes: Mapping[str, str]
    outputs: Sequence[str]


def save(
    kernel: Kernel,
    path: str | Path,
    *,
    name: str | None = None,
    outputs: Sequence[str] | None = None,
    cpu: str = "host",
    triple: str | None = None,
) -> tuple[Path, ...]:
    """Write a kernel in the format that the suffix of a path names, as `Kernel.save` does, but not as Python source.

    Raises:
        FileError, KernelError, UnsupportedError, UsageError: as in `Kernel.save`.
    """
    path = Path(path)
    check_path(path, cpu, triple)
    if path.suffix not in _WRITTEN:
        raise UnsupportedError(
            f"a kernel that was compiled from nodes has no source in Python, so '{path.name}' cannot be written",
            cure="make it with sg.compile",
        )
    return write_artefacts(
        kernel,
        path,
        cpu=cpu,
        triple=triple,
        name=name or (path.stem if kernel.name == "kernel" else None),
        outputs=outputs,
        suffixes=(path.suffix,),
        beside=(".h",) if path.suffix in _WITH_HEADER else (),
    )


def check_path(path: Path, cpu: str = "host", triple: str | None = None) -> None:
    """Raise an error if no kernel can be written to a path, before anything is derived or compiled.

    Raises:
        UsageError: for an unknown suffix, or a suffix that does not fit the processor.
    """
    if path.suffix not in (*_WRITTEN, ".py"):
        raise UsageError(
            f"cannot write '{path.name}'", expected=f"a name that ends in {', '.join(_WRITTEN)} or .py"
        )
    if path.suffix in (".c", ".py") and (triple is not None or cpu not in ("host", "baseline")):
        raise UsageError(f"source ({path.suffix}) is for every processor", cure="leave cpu and triple out")
    kind = _DEVICES.get(path.suffix)
    if kind is not None and triple is not None and triple.partition("-")[0] != kind:
        raise UsageError(f"{path.suffix} is for {kind}, not for '{triple}'", cure="leave triple out")
    other = next((s for s, k in _DEVICES.items() if s != path.suffix and (triple or "").startswith(k)), None)
    if other is not None:
        raise UsageError(
            f"code for '{triple}' is not written as {path.suffix}",
            expected=f"a name that ends in {other}",
            cure=f"write '{path.with_suffix(other).name}'",
        )
    if path.suffix == ".so" and triple is not None:
        raise UsageError(
            f"a shared library for '{triple}' needs the linker of such a machine",
            cure="write an object (.o) for it, and link that there",
        )


def write_artefacts(
    kernel: Kernel,
    path: str | Path,
    *,
    cpu: str = "host",
    triple: str | None = None,
    name: str | None = None,
    outputs: Sequence[str] | None = None,
    suffixes: Sequence[str] = (".ll", ".s", ".o", ".h"),
    beside: Sequence[str] = (),
) -> tuple[Path, ...]:
    """Write a kernel as ``path.ll``, ``path.s``, ``path.o`` and ``path.h``, or in other formats.

    The object is position independent, needs nothing but libm (and a BLAS if it multiplies matrices), and defines the
    functions that the header declares. Each file is written in full or not at all.

    Args:
        kernel: the kernel.
        path: the path of the files, with or without one of the suffixes.
        cpu: ``host`` for this machine's processor, ``baseline`` for every processor of its kind, or LLVM's name of a
            processor.
        triple: LLVM's name of another kind of machine; None for this one.
        name: the name of the functions; by default that of the kernel.
        outputs: names for the outputs in the header.
        suffixes: the formats to write, out of ``.c``, ``.ll``, ``.bc``, ``.s``, ``.o``, ``.so``, ``.h``, ``.ptx`` and
            ``.wasm``.
        beside: the suffixes of files to write that the caller did not name. They replace only files that symgrad wrote.

    Returns:
        The paths written.

    Raises:
        FileError: if a file cannot be written, or a file that the caller did not name exists and symgrad did not write
            it.
        KernelError: for a shared library without a linker.
        UnsupportedError: if the kernel calls functions of SciPy.
        UsageError: for an unknown cpu or triple, or if outputs has the wrong length.
    """
    stem = Path(path)
    if stem.suffix in _SUFFIXES:
        stem = stem.with_suffix("")
    names = _names(kernel, name or kernel.name, outputs)
    _check(kernel, "C source" if ".c" in suffixes else f"an object file (cpu={cpu!r})")
    there = host() if _DEVICES.keys() & set(suffixes) else platform(cpu, triple)

    told = not _BY_LLVM.isdisjoint(suffixes)

    @cache
    def ir() -> str:
        return target_lines(there) + _module(kernel, names.functions, there.target)

    @cache
    def machine_code() -> tuple[bytes, tuple[str, ...]]:
        return emit_object_and_needs(ir(), there)

    def note() -> Mapping[str, Any]:
        return described(kernel, names.functions, machine_code()[1], there)

    content: dict[str, Callable[[], bytes]] = {
        ".c": lambda: _c_source(kernel, names).encode(),
        ".ll": lambda: sealed_text(ir(), note()).encode(),
        ".bc": lambda: emit_bitcode(ir()),
        ".s": lambda: emit_assembly(ir(), there).encode(),
        ".o": lambda: sealed(machine_code()[0], note()),
        ".so": lambda: sealed(shared_library(machine_code()[0], _libraries(kernel)), note()),
        ".h": lambda: _header(kernel, names, told=told, source=".c" in suffixes).encode(),
        ".ptx": lambda: ptx_text(kernel, _abi(kernel, names), cpu)[0].encode(),
        ".wasm": lambda: wasm_bytes(kernel, _abi(kernel, names), cpu),
    }
    ready = [(stem.with_name(stem.name + suffix), content[suffix]()) for suffix in (*suffixes, *beside)]
    write_together(ready[: len(suffixes)], ready[len(suffixes) :])
    return tuple(target for target, _ in ready)


def c_text(kernel: Kernel, name: str, outputs: Sequence[str] | None = None) -> str:
    """Return a kernel as C source after its header: the texts that `save` writes as ``.h`` and ``.c``.

    Args:
        kernel: the kernel.
        name: the name of the functions.
        outputs: names for the outputs in the header.

    Raises:
        UnsupportedError: if the kernel calls functions of SciPy.
        UsageError: if outputs has the wrong length.
    """
    names = _names(kernel, name, outputs)
    _check(kernel, "C source")
    return _header(kernel, names, source=True) + "\n" + _c_source(kernel, names)


def _names(kernel: Kernel, name: str, outputs: Sequence[str] | None) -> _Names:
    count, nin = len(kernel.outputs), len(kernel.inputs)
    if outputs is None:
        outputs = kernel.output_names
    if len(outputs) != count:
        raise UsageError(f"{len(outputs)} names for {count} outputs")
    sizes = kernel.sizes if isinstance(kernel, ArrayKernel) else ("n",)
    found = iter(c_identifiers([*sizes, *kernel.inputs, *outputs]))
    lengths = {size: next(found) for size in sizes}
    # If a kernel had the name of a function that it calls, such as sqrt, then every program that is linked with the
    # object would call the kernel in place of that function, and so would the kernel itself.
    called = [*kernel.needs, *(f"{routine}_" for routine in routines(kernel.needs))]
    function = c_function(name, called)
    strided, point, about = (c_function(f"{function}_{way}", called) for way in ("strided", "point", "about"))
    names = _Names(Entry(function, strided, point, about), list(islice(found, nin)), lengths, list(found))
    return replace(
        names, functions=names.functions._replace(arguments=_number_of(_prototypes(kernel, names)))
    )


def _number_of(prototypes: Sequence[str]) -> int:
    """Return a hash of the declarations."""
    return int.from_bytes(sha256("\n".join(prototypes).encode()).digest()[:7], "little")


def _prototypes(kernel: Kernel, names: _Names) -> tuple[str, ...]:
    if isinstance(kernel, ArrayKernel):
        return (_array_abi(kernel, names).prototype(),)
    return _abi(kernel, names).prototypes()


def _array_abi(kernel: ArrayKernel, names: _Names) -> ArrayAbi:
    types = [_C[kind.name] for kind in kernel.kinds]
    return ArrayAbi(
        names.functions.contiguous, names.inputs, tuple(names.sizes.values()), names.outputs, types
    )


def _abi(kernel: Kernel, names: _Names) -> Abi:
    types = [_C[kind.name] for kind in kernel.kinds]
    return Abi(*names.functions[:3], names.inputs, names.outputs, types, names.sizes.get("n", "n"))


def _check(kernel: Kernel, what: str) -> None:
    """Raise an error if the code of a kernel calls functions that cannot be linked."""
    own = sorted(
        n.removeprefix(PREFIX + USER_PREFIX) for n in kernel.needs if n.startswith(PREFIX + USER_PREFIX)
    )
    if own:
        raise UnsupportedError(
            f"the code of {', '.join(own)} lies at an address of this process, which {what} "
            "cannot be linked with",
            expected="functions of the C library, and ops that have a definition",
            cure="register the op with definition= instead of native=, or call the kernel from Python",
        )
    if _calls_scipy(kernel.needs):
        raise UnsupportedError(
            f"the code of {', '.join(_from_scipy(kernel))} is SciPy's, which {what} cannot be linked with",
            expected="functions of the C library",
            cure="call the kernel from Python, or pass the values of those functions as inputs",
        )


def _c_source(kernel: Kernel, names: _Names) -> str:
    plan, real = kernel.plan(rolled=False), float_type(kernel.dtype)
    if isinstance(kernel, ArrayKernel):
        abi = _array_abi(kernel, names)
        if plan is None:
            return array_source(kernel.outputs, kernel.symbols, real, abi, fast=kernel.fast)
        return entry_source(plan, real, abi, _shapes(kernel))
    assert plan is not None  # only array programs have none
    return c_source(plan, real, _abi(kernel, names))


def _shapes(kernel: Kernel) -> list[tuple[int, ...]]:
    """Return the shapes of small arrays."""
    return [cast("tuple[int, ...]", node.shape) for node in (*kernel.symbols, *kernel.outputs)]


def _libraries(kernel: Kernel) -> tuple[str, ...]:
    """Return the libraries that the object of a kernel is linked with, as options of a linker."""
    used = routines(kernel.needs)
    if any(routine[1:].startswith(("getr", "potr", "trtr")) for routine in used):
        return ("-llapack", "-lblas", "-lm")
    return ("-lblas", "-lm") if used else ("-lm",)


def _calls_scipy(needs: Iterable[str]) -> bool:
    return any(name.startswith(PREFIX) for name in needs)


def _from_scipy(kernel: Kernel) -> list[str]:
    """Return the names of the ops whose code calls SciPy; to find them, each op is compiled by itself."""
    found: dict[str, None] = {}
    for node in topological(kernel.outputs):
        if node.op.pointwise and node.args and "bool" not in node.op.takes:
            args = [a if a.is_number() else symbol(Declaration(f"x{k}")) for k, a in enumerate(node.args)]
            alone = node.op(*args, params=node.params)
            code = emit(schedule([alone], symbols_of([alone])), float_type(kernel.dtype), host().target)
            if _calls_scipy(code.needs):
                found[node.op.name] = None
    return list(found)


def _module(kernel: Kernel, functions: Entry, target: Target) -> str:
    plan, real = kernel.plan(), float_type(kernel.dtype)
    if plan is not None:
        entry = functions
        if isinstance(kernel, ArrayKernel):
            counts = list(map(prod, _shapes(kernel)))
            entry = ArrayEntry(functions.contiguous, counts, functions.about, functions.arguments)
        return emit(plan, real, target, entry=entry).ir
    assert isinstance(kernel, ArrayKernel)
    module = array_module(kernel.outputs, kernel.symbols, real, target, fast=kernel.fast).module
    return str(
        add_c_function(
            module,
            functions.contiguous,
            len(kernel.inputs),
            len(kernel.sizes),
            len(kernel.outputs),
            about=functions.about,
            arguments=functions.arguments,
        )
    )


def _header(kernel: Kernel, names: _Names, *, told: bool = False, source: bool = False) -> str:
    """Return a header: with the function that describes the kernel, if ``told``.

    For C source, which needs no library, if ``source``.
    """
    name = names.functions.contiguous
    guard = f"SYMGRAD_H_{name}"
    about = _about_arrays(kernel, names, source) if isinstance(kernel, ArrayKernel) else _about_points(names)
    prototypes = "".join(f"{prototype};\n" for prototype in _prototypes(kernel, names))
    if told:
        asked, arguments = names.functions.about, names.functions.arguments
        prototypes += f"""
/* {asked}({ARGUMENT_QUERY}) is a number made of these declarations: not {name}_fits(), if what is linked has others. */
int64_t {asked}(int64_t what);
static inline int {name}_fits(void) {{ return {asked}({ARGUMENT_QUERY}) == INT64_C({arguments}); }}
"""
    return f"""\
{_FIRST_LINE}
   {name}({", ".join(names.inputs)}): {len(kernel.outputs)} output(s). {about} */
#ifndef {guard}
#define {guard}
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif

{prototypes}
#ifdef __cplusplus
}}
#endif
#endif
"""


def _about_points(names: _Names) -> str:
    n, function = names.sizes["n"], names.functions
    return f"""Every array has {n} elements;
   an output may be an input array. Values and derivatives come in one call.
   {function.contiguous}: arrays are contiguous.
   {function.strided}: elements of an array are a stride apart, counted in elements, from the first one on; 0 repeats
   an input, and strides may be negative.
   {function.point}: one point.
   Link with the C mathematics library (-lm)."""


def _about_arrays(kernel: ArrayKernel, names: _Names, source: bool) -> str:
    nodes = (*kernel.symbols, *kernel.outputs)
    shapes = ", ".join(
        f"{name}[{', '.join(str(size_with(size, names.sizes)) for size in node.shape)}]"
        for name, node in zip((*names.inputs, *names.outputs), nodes, strict=True)
        if node.shape
    )
    library = {
        3: ", and with a LAPACK (-llapack -lblas)",
        2: ", and with a BLAS (-lblas)",
    }.get(0 if source else len(_libraries(kernel)), "")
    return f"""Every array is contiguous, rows first:
   {shapes}.
   No output may overlap another array. Indices are not checked: one out of range reads as NaN (0 for integers).
   Returns 0, 1 if there is not enough memory, or an array would have 2**60 entries or more, or 2 if an axis would have
   a negative length. Link with the C mathematics library (-lm){library}."""
