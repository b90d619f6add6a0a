"""`compile`: compile expressions to a kernel, and write kernels to files."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from symgrad.api.derivatives.targets import Wrt, Wrts, as_list
from symgrad.api.handles.expr import Expr, node_of
from symgrad.api.handles.formula_arguments import Formula, Formulas, formulas
from symgrad.api.handles.inputs import inputs_of, known_symbols, ordered_symbols
from symgrad.api.handles.output import arrange_nodes, outputs_of
from symgrad.api.kernels.disk_cache import CachedKernel
from symgrad.compiler.c.identifiers import c_identifier
from symgrad.compiler.kernels.compile import compile_for_cuda, compile_nodes, kept_kernel, save_native
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.llvm.text.types import float_type
from symgrad.ir.graph import Node
from symgrad.ir.listing import one_of, suggest
from symgrad.report.about import Subject
from symgrad.support.errors import NotInProgramError, UsageError
from symgrad.support.files import write_atomically
from symgrad.support.progress import reports_progress

if TYPE_CHECKING:
    from symgrad.compiler.gpu.launch.cuda_kernel import CudaKernel


def save(
    kernel: Kernel,
    path: str | Path,
    *,
    name: str | None = None,
    outputs: Sequence[str] | None = None,
    cpu: str = "host",
    triple: str | None = None,
) -> tuple[Path, ...]:
    """Write a kernel in the format that the suffix of a path selects; see `Kernel.save`."""
    path = Path(path)
    if path.suffix != ".py":
        return save_native(kernel, path, name=name, outputs=outputs, cpu=cpu, triple=triple)
    from symgrad.compiler.kernels.artefacts.artefact import check_path  # most kernels are never written
    from symgrad.printing.numpy.source import numpy_source

    check_path(path, cpu, triple)
    if outputs is not None and len(outputs) != len(kernel.outputs):
        raise UsageError(f"{len(outputs)} names for {len(kernel.outputs)} outputs")
    function = name or (path.stem if kernel.name == "kernel" else kernel.name)
    function = function if function.isidentifier() else c_identifier(function)
    nodes = kernel.outputs[0] if len(kernel.outputs) == 1 else kernel.outputs
    text = numpy_source(nodes, name=function + "_" * keyword.iskeyword(function), inputs=kernel.symbols)
    write_atomically(path, text.encode())
    return (path,)


@overload
def compile(
    outputs: Formula | Formulas,
    inputs: Wrt | Wrts | None = None,
    *,
    dtype: Any = "float64",
    threads: int = 1,
    accuracy: str = "high",
    effort: str = "auto",
    memory: str | int = "store",
    name: str = "kernel",
    target: Literal["cpu"] = "cpu",
) -> Kernel: ...
@overload
def compile(
    outputs: Formula | Formulas,
    inputs: Wrt | Wrts | None = None,
    *,
    dtype: Any = "float64",
    accuracy: str = "high",
    name: str = "kernel",
    target: Literal["cuda"],
) -> CudaKernel: ...
@reports_progress("kernel", "compiling")
def compile(
    outputs: Formula | Formulas,
    inputs: Wrt | Wrts | None = None,
    *,
    dtype: Any = "float64",
    threads: int = 1,
    accuracy: str = "high",
    effort: str = "auto",
    memory: str | int = "store",
    name: str = "kernel",
    target: str = "cpu",
) -> Kernel | CudaKernel:
    r"""Compile expressions to native code: all outputs in one pass over the inputs.

    Your own expressions are computed operation by operation as written, with the same bits as in NumPy for ``+ - * /``
    and sqrt. Derivatives are brought to canonical form first, and to stable forms if those lose fewer digits.

    Args:
        outputs: one expression or several.
        inputs: the symbols, or their names, in the order of the kernel's arguments; by default all symbols that are
            needed, in the order of the program's declarations. The outputs need the symbols that they read, and for
            every named size an array with this size: the gradient of sum(X) reads no entry of X, but needs the number
            of entries of X.
        dtype: ``float64`` or ``float32``.
        threads: the number of threads of a call with large arrays, at most the number of processors. Results have the
            same bits with any number of threads. Arrays are cut along their longest axis, in array programs along the
            batch; calls with small arrays use one thread.
        accuracy: ``high``, or ``fast``. With ``fast``, your own expressions may also be rearranged like derivatives,
            products and sums may become fused multiply-adds, and functions are within four units of the last place
            instead of one. Results are equal in exact arithmetic, but no longer have NumPy's bits; a difference such as
            ``g - stop_gradient(g)`` that is exactly zero as written may become a rounding error.
        effort: ``auto``, or ``high``. With ``auto``, an elementwise kernel is compiled quickly at first, to code that
            takes up to twice the time. If the elements of earlier calls and of the current call are so many that better
            code pays, the current call compiles the better code first. Results have the same bits before and after.
            ``high`` compiles the better code at once: use it for measurements, or if no call may pause to compile. A
            kernel that another process has compiled before uses better code at once, from the disk if possible.
            ``low`` is for programs of 10,000 equations and more: it compiles quick code alone, and long derivatives
            stay as the chain rule gives them, in time that is linear in their number. Its code is not kept on disk.
        memory: what the derivatives of recurrences take. With ``store``, all values are kept for the way back. With
            ``sqrt``, only those at the beginnings of segments of about sqrt(T) steps are kept (of 1,000 steps, if T is
            the name of a size), and each segment is computed again on the way back. A number is the most bytes of
            memory for one call besides its arguments: values are computed again if otherwise more would be needed. The
            report of the kernel says what was chosen.
        name: the name of the kernel and of the symbols in its object file.
        target: ``cpu``; or ``cuda`` for NVIDIA's GPUs (an experiment). The result is then a `CudaKernel`, whose
            arguments are arrays on the GPU; threads and effort are ignored.

    Returns:
        A Kernel: call it with arrays that broadcast. With one output, the result is the array itself; with several
        outputs, it is a tuple. ``.ufunc`` is the NumPy ufunc, ``.llvm_ir`` and ``.asm`` the code.

    Raises:
        NotInProgramError: if a name among the inputs is not an input of the program.
        MissingInputError: if an expression reads a symbol that is not among the inputs, or needs a size that no input
            has.
        NumberTooLargeError: if a constant does not fit the dtype.
        UsageError, UnsupportedError: for invalid arguments.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
        >>> k = sg.compile([p["z"], sg.grad(p["z"], p["x"])])
        >>> z, dz = k(np.array([-2.0, 3.0]), 1.0)
        >>> z, dz
        (array([2., 3.]), array([-1.,  1.]))
    """
    if accuracy not in ("high", "fast"):
        raise UsageError(f"accuracy={accuracy!r}", expected="accuracy='high' or accuracy='fast'")
    if effort not in ("low", "auto", "high"):
        raise UsageError(f"effort={effort!r}", expected="effort='low', effort='auto' or effort='high'")
    known_memory = memory in ("store", "sqrt") or (isinstance(memory, int) and memory > 0)
    if isinstance(memory, bool) or not known_memory:
        raise UsageError(f"memory={memory!r}", expected="memory='store', memory='sqrt' or a number of bytes")
    if target not in ("cpu", "cuda"):
        raise UsageError(f"target={target!r}", expected="target='cpu' or target='cuda'")
    if not isinstance(cast("Any", name), str):
        raise UsageError(f"name={name!r}", expected="a string", cure="name='kernel'")
    exprs = formulas(as_list(outputs))
    if not exprs:
        raise UsageError("there is nothing to compile", expected="at least one expression")
    if inputs is None:
        symbols = inputs_of(exprs)
    else:
        symbols = [_input(i, exprs) for i in ([inputs] if isinstance(inputs, Expr | str) else inputs)]
    fast, real = accuracy == "fast", float_type(dtype).numpy
    if target == "cuda":
        found = arrange_nodes(exprs, fast=fast, dtype=real)
        return compile_for_cuda(
            found.nodes, symbols, dtype=dtype, name=name, fusable=found.fusable, fast=fast
        )
    low = effort == "low"
    entry = None if low or memory != "store" else CachedKernel.of(outputs_of(exprs), symbols, real, fast)
    how: dict[str, Any] = {"dtype": dtype, "name": name, "threads": threads, "fast": fast, "save": save}
    forms = partial(arrange_nodes, exprs, fast=fast, low=low, dtype=real, step_sums=True)
    segments: Sequence[int] = ()
    kernel = entry and entry.load(lambda code: kept_kernel(code, forms, symbols, effort=effort, **how))
    if kernel is None:
        found = forms()
        better = entry is not None and entry.again
        how |= {
            "declared": known_symbols(exprs),
            "fusable": found.fusable,
            "effort": "high" if better else effort,
        }
        if memory == "store":
            kernel = compile_nodes(found.nodes, symbols, keep=None if entry is None else entry.keep, **how)
        else:
            kernel, segments = _compile_within(found.nodes, symbols, memory, how)
        kernel.effort = effort
        if entry is not None and kernel.quick:
            entry.begin()
    kernel.about = partial(_about, tuple(exprs), segments)
    kernel.called = partial(_names_of, tuple(exprs))
    return kernel


def _names_of(exprs: Sequence[Expr]) -> list[str | None]:
    """Return the names of expressions in their program, such as ``f`` and ``df_dx``; None if there is no name."""
    found: list[str | None] = []
    for e in exprs:
        names = {node: name for listing in e.listings for node, name in listing.name_of().items()}
        parts = [] if e.slope is None else [names.get(n) for n in (e.slope.y, *e.slope.by)]
        if e.name is not None or not parts or None in parts:
            found.append(e.name)
        else:
            order = str(len(parts) - 1) if len(parts) > 2 else ""
            found.append("_".join([f"d{order}{parts[0]}", *(f"d{by}" for by in parts[1:])]))
    return found


def _compile_within(
    nodes: Sequence[Node], symbols: Sequence[Node], memory: str | int, how: dict[str, Any]
) -> tuple[Kernel, Sequence[int]]:
    """Compile a program with less memory for its recurrences; return the lengths of the segments, too."""
    from symgrad.autodiff.checkpoints import with_checkpoints  # most kernels store all values
    from symgrad.compiler.kernels.array_kernel import ArrayKernel

    def fits(kernel: Kernel) -> bool:
        if not isinstance(kernel, ArrayKernel):
            return True
        return not kernel.sizes and kernel.scratch_bytes() <= cast("int", memory)

    if memory != "sqrt":
        kernel = compile_nodes(nodes, symbols, **how)
        if fits(kernel):
            return kernel, ()
    changed, segments = with_checkpoints(nodes)
    kernel = compile_nodes(changed, symbols, **how)
    if memory != "sqrt" and isinstance(kernel, ArrayKernel) and not kernel.sizes and not fits(kernel):
        raise UsageError(
            f"memory={memory}: a call needs more",
            expected=f"at least {kernel.scratch_bytes()} bytes",
            cure="pass memory='sqrt', or compile fewer outputs",
        )
    return kernel, segments


def _about(exprs: Sequence[Expr], segments: Sequence[int], kernel: Kernel) -> Subject:
    from symgrad.api.reports.kernel import kernel_subject  # for start-up time

    return kernel_subject(exprs, kernel, segments)


def _input(item: Any, exprs: Sequence[Expr]) -> Node:
    if not isinstance(item, str):
        return node_of(item)
    known = {s.name: s for s in (*known_symbols(exprs), *ordered_symbols(exprs))}
    if item not in known:
        raise NotInProgramError(
            f"'{item}' is not an input",
            expected=one_of(known),
            cure=suggest(item, known),
        )
    return known[item]
