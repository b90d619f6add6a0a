"""The content of the note of a saved kernel: everything that a caller without the source must know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from symgrad import __version__
from symgrad.compiler.kernels.array_kernel import ArrayKernel
from symgrad.compiler.kernels.artefacts.metadata import ABI
from symgrad.compiler.kernels.artefacts.plain_sizes import plain_shape, plain_size
from symgrad.compiler.kernels.calls.guards import guards_of, has_ends
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.engine.target import Platform
from symgrad.compiler.llvm.entries.entry_code import EntryCode
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.sizes import Extent

_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_LEVELS = {
    "": (),
    "x86-64": (),
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"),
}
"""By LLVM's names of processors, the features that they have at least: the levels of the x86-64 psABI."""


def described(kernel: Kernel, functions: Entry, needs: Iterable[str], there: Platform) -> Mapping[str, Any]:
    """Return the note of a kernel.

    Args:
        kernel: the kernel.
        functions: the names of its functions in C.
        needs: the functions that the code calls but does not define.
        there: the processors for which the code is compiled.
    """
    nin = len(kernel.inputs)
    arguments = [
        {"name": name, "kind": kind.name, "dtype": node.dtype, "shape": plain_shape(node.shape)}
        for name, kind, node in zip(
            (*kernel.inputs, *kernel.output_names),
            kernel.kinds,
            (*kernel.symbols, *kernel.outputs),
            strict=True,
        )
    ]
    for argument, node in zip(arguments, kernel.symbols, strict=False):
        argument.update(_declared(node))
    note: dict[str, Any] = {
        "abi": ABI,
        "symgrad": __version__,
        "name": kernel.name,
        "functions": {"arrays": functions.contiguous, "point": functions.point, "about": functions.about},
        "triple": there.triple,
        "cpu": there.cpu,
        "features": _needed(there),
        "needs": sorted(needs),
        "dtype": kernel.dtype.name,
        "inputs": arguments[:nin],
        "outputs": arguments[nin:],
    }
    if isinstance(kernel, ArrayKernel):
        note["array"] = _of_arrays(kernel)
    return note


def _declared(node: Node) -> dict[str, Any]:
    declared = node.declaration
    told: dict[str, Any] = {"declared": str(declared)}
    if node.dtype == "int" and has_ends(node):  # calls of the kernel check these ends, too
        domain = declared.domain
        told["domain"] = {
            "text": str(domain),
            "kind": domain.kind,
            "low": _plain_end(domain.low),
            "high": _plain_end(domain.high),
        }
    if declared.symmetric:
        told["symmetric"] = True
    return told


def _plain_end(end: Any) -> Any:
    """Return an end of a domain for JSON: a fraction becomes an object with its two parts."""
    if isinstance(end, Fraction):
        return {"numerator": end.numerator, "denominator": end.denominator}
    return end if end is None else plain_size(end)


def _needed(there: Platform) -> list[str] | None:
    """Return the features of processors that code may use; None if only LLVM knows them."""
    if there.features:
        return [name[1:] for name in there.features.split(",") if name.startswith("+")]
    found = _LEVELS.get(there.cpu)
    return None if found is None else list(found)


def _of_arrays(kernel: ArrayKernel) -> dict[str, Any]:
    """Return the part of the note that only array programs have: their sizes, and the checks before each call.

    It leaves out computed positions: for a position out of range the code gives NaN.
    """
    guards = guards_of(kernel.outputs, kernel.symbols)
    code = kernel.code
    number = {node: k for k, node in enumerate(kernel.symbols)}
    positions = [
        (number[p.index], plain_size(p.length))
        for p in guards.positions
        if p.index.op is SYMBOL and p.index in number
    ]
    return {
        "names": list(code.names),
        "lengths": [plain_size(size) for size in code.lengths],
        "arrays": [plain_shape(shape) for shape in code.arrays],
        "computed": [plain_size(size) for size in code.computed if isinstance(size, Extent)],
        "read": list(code.read),
        "scalar": isinstance(code, EntryCode),
        "checked": {
            "lengths": [plain_size(size) for size in guards.lengths],
            "filled": [(name, plain_size(size)) for name, size in guards.filled],
            "positions": positions,
            "bounded": list(guards.bounded),
        },
    }
