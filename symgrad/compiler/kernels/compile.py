"""Compile nodes to a kernel: the passes from `symgrad/compiler/forms/pipeline.py` to machine code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from symgrad.compiler.kernels.calls.threads import checked_threads
from symgrad.compiler.kernels.elementwise import Amount, ElementwiseKernel, measured
from symgrad.compiler.kernels.kernel import Kernel, KernelOptions, Saver
from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.compiler.llvm.engine.jit import Effort
from symgrad.compiler.llvm.text.types import FloatType, float_type
from symgrad.compiler.lowering.elementwise.schedule import Schedule, schedule
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import SIZE, SYMBOL, Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import all_pointwise, is_elementwise, symbols_of, topological
from symgrad.ir.values.bound_sizes import size_sources
from symgrad.ops.control import as_computed
from symgrad.support.errors import InternalError, MissingInputError, ShapeError, UnsupportedError, UsageError
from symgrad.support.logs import info
from symgrad.support.progress import reports_progress

if TYPE_CHECKING:
    from symgrad.compiler.forms.output import Arrangement
    from symgrad.compiler.gpu.launch.cuda_kernel import CudaKernel
    from symgrad.compiler.kernels.array_kernel import ArrayKernel
    from symgrad.compiler.lowering.entries.program import ScalarProgram

Keeper: TypeAlias = "Callable[[bytes], None]"
"""A function that caches code for other processes."""

_ARRAYS = b"arrays\n"
"""The first line of cached code of an array program; the first line for an elementwise program begins with a number."""

_ENTRIES = b"entries\n"
"""The first line of cached code of a program of small arrays."""


def compile_nodes(
    outputs: Sequence[Node],
    inputs: Sequence[Node] | None = None,
    *,
    declared: Sequence[Node] = (),
    dtype: object = "float64",
    name: str = "kernel",
    threads: int = 1,
    fusable: Collection[Node] = (),
    fast: bool = False,
    effort: Effort = "auto",
    save: Saver | None = None,
    keep: Keeper | None = None,
) -> Kernel:
    """Compile equations to a kernel that computes all outputs in one pass.

    Elementwise equations become a NumPy ufunc, if their outputs have the shape to which all inputs broadcast. All other
    equations (a matrix product, a sum, a size as a number, outputs of different shapes) become a generalised ufunc.
    Small arrays of known size are computed entry by entry, as scalars; loops compute all others.

    Args:
        outputs: the nodes to compute, at least one.
        inputs: the symbols in the order of the kernel's arguments; None for all symbols that occur, in order of
            appearance.
        declared: symbols that the user could add to the inputs; messages name them.
        dtype: float64 or float32, for every number. Booleans stay booleans.
        name: the kernel's name.
        threads: the number of threads of a call with large arrays.
        fusable: nodes of an elementwise program whose products and sums may become fused multiply-adds. Values that the
            user wrote are not among them.
        fast: whether an accuracy of four units in the last place is enough for functions.
        effort: for elementwise programs, ``auto`` (quick code first, and better code when it pays), ``high`` (better
            code at once) or ``low`` (quick code alone). Loops over arrays are always compiled with all optimisations.
        save: a function that writes the kernel to a file; by default in all formats but Python.
        keep: a function that caches the code for `kept_kernel`; for an elementwise program it caches the optimised
            code.

    Raises:
        MissingInputError: if the outputs read a symbol that is not among the inputs, or the name of a size that no
            input has.
        NumberTooLargeError: if a constant is too large for the dtype.
        UnsupportedError: if an operation has no native code.
        UsageError: if there is no output, an input is not a symbol or is listed twice, or the dtype or the number of
            threads is invalid.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> x, u = symbol(Declaration("x")), symbol(Declaration("u"))
        >>> k = compile_nodes([x * u + 1], [x, u])
        >>> k([1.0, 2.0], 3.0)
        array([4., 7.])
    """
    outputs = tuple(outputs)
    if not outputs:
        raise UsageError("there is nothing to compile", expected="at least one output")
    order = topological(outputs)  # one traversal for all uses
    used = symbols_of(outputs, order)
    inputs = tuple(used if inputs is None else inputs)
    _check_inputs(inputs, used)
    # After differentiation custom derivatives have no effect: only values remain.
    written, outputs = outputs, tuple(as_computed(outputs, order))
    order = order if outputs == written else topological(outputs)
    real = float_type(dtype)
    options = KernelOptions(name, checked_threads(threads), compile_nodes, save or save_native, fast, effort)
    # Elementwise programs have a single loop, and code generators of their own.
    elementwise = _elementwise(outputs, inputs, order)
    scalars = None if elementwise else _scalars(outputs, inputs, fusable)
    if scalars is not None and scalars.only_numbers:
        elementwise, outputs, fusable = True, scalars.outputs, scalars.fusable
        order = topological(outputs)
    if elementwise:
        with gc_paused(), reports_progress("lower", "ordering equations"):
            # Quick and optimised code have the same schedule, in functions of bounded size.
            plan = schedule(outputs, inputs, fusable=fusable, fast=fast, order=order)
        # LLVM IR (`emit`), and its machine code (`Engine`): quick code first, optimised code when it pays.
        measure = measured(outputs, inputs, order)
        code = ElementwiseCode(plan, real, effort=effort, keep=None if keep is None else _with(measure, keep))
        info(
            "kernel",
            "'%s' computes element by element: %d equations in %d pieces, %s",
            name,
            len(order),
            len(plan.chunks),
            f"quick code until {code.left:.3g} elements are computed"
            if code.quick
            else f"{'quick' if effort == 'low' else 'optimised'} code",
        )
        return ElementwiseKernel(code, outputs, inputs, options, fusable=fusable, measure=measure)
    _check_sizes(outputs, inputs, declared)
    if scalars is not None:
        return _entry_kernel(scalars, outputs, inputs, real, options, fusable, keep)
    info("kernel", "'%s' computes with whole arrays: %d equations", name, len(order))
    return _array_kernel(outputs, inputs, real, options, keep=keep and _of_arrays(keep))


def _with(measure: Amount, keep: Keeper) -> Keeper:
    return lambda code: keep(b"%r %d\n%b" % (measure.work, measure.equations, code))


def _of_arrays(keep: Keeper) -> Keeper:
    return lambda code: keep(_ARRAYS + code)


def kept_kernel(
    kept: bytes,
    forms: Callable[[], Arrangement],
    inputs: Sequence[Node],
    *,
    dtype: object,
    name: str,
    threads: int,
    fast: bool,
    effort: Effort,
    save: Saver,
) -> Kernel:
    """Rebuild a kernel from code that `keep` of `compile_nodes` cached; derive its nodes on first use.

    Args:
        kept: the cached code.
        forms: a function that returns the nodes that the kernel computes, and the nodes that may be fused.
        inputs: the symbols in the order of the kernel's arguments.
        dtype: as for `compile_nodes`, like all other options.
        name: the kernel's name.
        threads: the number of threads of a call with large arrays.
        fast: whether an accuracy of four units in the last place is enough for functions.
        effort: ``low``, ``auto`` or ``high``.
        save: writes the kernel to a file.

    Raises:
        KernelError: if the C library lacks a function that it calls.
        UsageError: for an invalid number of threads.
        ValueError: if ``kept`` is not such code.
    """
    options = KernelOptions(name, checked_threads(threads), compile_nodes, save, fast, effort)
    real = float_type(dtype)
    if kept.startswith(_ENTRIES):
        return _cached_entry_kernel(kept[len(_ENTRIES) :], inputs, real, options)
    if kept.startswith(_ARRAYS):
        return _array_kernel((), inputs, real, options, kept=kept[len(_ARRAYS) :])
    head, _, code = kept.partition(b"\n")
    work, equations = head.split(b" ")

    def computed() -> tuple[Sequence[Node], Collection[Node]]:
        found = forms()
        nodes = as_computed(found.nodes)
        scalars = None if is_elementwise(nodes) else _scalars(nodes, inputs, found.fusable)
        return (nodes, found.fusable) if scalars is None else (scalars.outputs, scalars.fusable)

    def plan() -> Schedule:
        return schedule(kernel.outputs, inputs, fusable=kernel.fusable, fast=fast)

    kept_code = ElementwiseCode.of(code, real, lambda: plan())
    measure = Amount(float(work), int(equations))
    kernel = ElementwiseKernel(kept_code, computed, inputs, options, measure=measure)
    return kernel


def compile_for_cuda(outputs: Sequence[Node], inputs: Sequence[Node], **how: Any) -> CudaKernel:
    """Compile elementwise equations for NVIDIA's GPUs.

    Args:
        outputs: the outputs.
        inputs: the symbols in the order of the kernel's arguments.
        how: dtype, name, fusable and fast, as for `compile_nodes`.

    Raises:
        MissingInputError, UsageError: as for `compile_nodes`.
        UnsupportedError: for an array program, and for functions that symgrad has no code for.
    """
    from symgrad.compiler.gpu.launch.cuda_kernel import CudaKernel  # most kernels are for the CPU

    inputs = tuple(inputs)
    _check_inputs(inputs, symbols_of(outputs))
    outputs = tuple(as_computed(outputs))
    elementwise = _elementwise(outputs, inputs, topological(outputs))
    scalars = None if elementwise else _scalars(outputs, inputs, how.get("fusable", ()))
    if scalars is not None and scalars.only_numbers:
        how["fusable"] = scalars.fusable
        return CudaKernel(scalars.outputs, inputs, **how)
    if not elementwise:
        raise UnsupportedError(
            "the program computes with arrays as wholes, for which there is no code on a GPU yet",
            expected="equations that compute each element by itself",
            cure='compile it without target="cuda"',
        )
    return CudaKernel(outputs, inputs, **how)


def save_native(kernel: Kernel, path: str | Path, **how: Any) -> tuple[Path, ...]:
    """Write a kernel to a file: `symgrad.compiler.kernels.artefacts.artefact.save`."""
    from symgrad.compiler.kernels.artefacts.artefact import save  # most kernels are never written

    return save(kernel, path, **how)


def _array_kernel(
    outputs: Sequence[Node],
    inputs: Sequence[Node],
    real: FloatType,
    options: KernelOptions,
    *,
    keep: Keeper | None = None,
    kept: bytes = b"",
) -> ArrayKernel:
    from symgrad.compiler.kernels.array_kernel import (
        ArrayKernel,  # thirty modules that elementwise programs do not need
    )

    if kept:
        from symgrad.compiler.llvm.arrays.cached_code import CachedArrayCode  # for start-up time, as below

        code = CachedArrayCode(
            kept, inputs, lambda outputs: _array_text(outputs, inputs, real, fast=options.fast)
        )
        outputs = code.outputs
    else:
        from symgrad.compiler.llvm.arrays.array_code import ArrayCode  # cached code does not need it

        # Loop nests and memory (`plan_arrays`), LLVM IR, and its machine code (`Engine`).
        code = ArrayCode(outputs, inputs, real, fast=options.fast, keep=keep)
    return ArrayKernel(code, outputs, inputs, real, options, _indices_of(real, options))


def _scalars(
    outputs: Sequence[Node], inputs: Sequence[Node], fusable: Collection[Node]
) -> ScalarProgram | None:
    """Return the scalar equations of a program of small arrays; None if it is none."""
    from symgrad.compiler.lowering.entries.program import (
        scalar_program,
    )  # elementwise programs do not need it

    with gc_paused(), reports_progress("lower", "writing entries"):
        return scalar_program(outputs, inputs, fusable)


def _entry_kernel(
    found: ScalarProgram,
    outputs: Sequence[Node],
    inputs: Sequence[Node],
    real: FloatType,
    options: KernelOptions,
    fusable: Collection[Node],
    keep: Keeper | None,
) -> ArrayKernel:
    """Compile the scalar equations of a program of small arrays."""
    from symgrad.compiler.kernels.array_kernel import ArrayKernel  # for start-up time, as below
    from symgrad.compiler.llvm.arrays.cached_code import serialize_program
    from symgrad.compiler.llvm.entries.entry_code import EntryCode
    from symgrad.compiler.lowering.entries.entry_schedule import schedule_entries

    arrays = tuple(dict.fromkeys(n.shape for n in (*inputs, *topological(outputs))))
    plan = schedule_entries(found, fast=options.fast)

    def cache(code: bytes) -> None:
        if keep is not None:
            keep(_ENTRIES + serialize_program(outputs, fusable, arrays, code))

    effort = "low" if options.effort == "low" else "high"
    equations = ElementwiseCode(plan, real, effort=effort, keep=keep and cache)
    info(
        "kernel",
        "'%s' computes the entries of its arrays as scalars: %d equations for %d inputs and %d outputs",
        options.name,
        sum(len(chunk.nodes) for chunk in plan.chunks),
        len(found.inputs),
        len(found.outputs),
    )
    code = EntryCode(equations, inputs, outputs, arrays)
    return ArrayKernel(code, outputs, inputs, real, options, _indices_of(real, options), fusable=fusable)


def _cached_entry_kernel(
    kept: bytes, inputs: Sequence[Node], real: FloatType, options: KernelOptions
) -> ArrayKernel:
    from symgrad.compiler.kernels.array_kernel import ArrayKernel  # for start-up time, as above
    from symgrad.compiler.llvm.arrays.cached_code import load_program
    from symgrad.compiler.llvm.entries.entry_code import EntryCode

    outputs, fusable, (arrays, code) = load_program(kept, inputs, lambda *found: found)

    def plan() -> Schedule:
        found = _scalars(outputs, inputs, fusable)
        if found is None:
            raise InternalError("the code of a program of small arrays is that of a large one")
        from symgrad.compiler.lowering.entries.entry_schedule import schedule_entries  # for start-up time

        return schedule_entries(found, fast=options.fast)

    code = EntryCode(ElementwiseCode.of(code, real, plan), inputs, outputs, arrays)
    return ArrayKernel(code, outputs, inputs, real, options, _indices_of(real, options), fusable=fusable)


def _indices_of(real: FloatType, options: KernelOptions) -> Callable[..., ArrayKernel]:
    """Return the function that compiles the computed positions of a program, to check them."""
    of_indices = options._replace(name=f"{options.name}.indices", threads=1)
    return partial(_array_kernel, real=real, options=of_indices)


def _array_text(outputs: Sequence[Node], inputs: Sequence[Node], real: FloatType, *, fast: bool) -> str:
    from symgrad.compiler.llvm.arrays.array_code import array_module  # most programs are elementwise

    return str(array_module(outputs, inputs, real, fast=fast).module)


def _elementwise(outputs: tuple[Node, ...], inputs: tuple[Node, ...], order: Sequence[Node]) -> bool:
    """Tell whether the program is elementwise, and all outputs have the shape to which the inputs broadcast."""
    if not all_pointwise(order):
        return False
    shapes = {node.shape for node in (*outputs, *inputs)}
    if shapes == {()}:
        return True
    try:
        together = broadcast_shapes(node.shape for node in inputs)
    except ShapeError:
        return False
    return all(node.shape == together for node in outputs)


def _check_inputs(inputs: tuple[Node, ...], used: list[Node]) -> None:
    for node in inputs:
        if node.op is not SYMBOL:
            raise UsageError(
                f"the input '{expression_text(node)}' is not a symbol",
                cure="pass the declared symbols that it is made of",
            )
    names = [node.name for node in inputs]
    for node in inputs:
        if names.count(node.name) > 1:
            raise UsageError(f"the input '{node.name}' is listed twice", expected="every input once")
    missing = [node.name for node in used if node not in set(inputs)]
    if missing:
        raise MissingInputError(
            f"the outputs read {', '.join(missing)}, which is not among the inputs",
            expected=f"inputs that contain {', '.join(node.name for node in used)}",
            cure="add it to inputs, or leave inputs out",
        )


def _check_sizes(outputs: Sequence[Node], inputs: Sequence[Node], declared: Sequence[Node]) -> None:
    known = size_sources([node.shape for node in inputs])
    for node in (*topological(outputs), *inputs):
        for name in names_of(node.params if not node.op.pointwise or node.op is SIZE else (), node.shape):
            if name not in known:
                owner = next((s.name for s in declared if name in size_sources([s.shape])), None)
                raise MissingInputError(
                    f"the outputs need the size {name}, but no input has an axis of this size",
                    expected=f"an input declared with an axis {name}",
                    cure=f"declare one, such as like_{name} : real[{name}], which need not occur in the outputs"
                    if owner is None
                    else f"add {owner} to inputs, or leave inputs out",
                )
