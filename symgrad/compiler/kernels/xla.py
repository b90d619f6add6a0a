"""Calls of a kernel from XLA, for arrays of given shapes: a native function that XLA calls with its own buffers.

Everything that follows from the shapes is determined here, once: the order in which the batch is traversed, and whether
the sizes are valid. The rest is in `symgrad/compiler/llvm/call_stubs/xla_handler.py`. XLA never forgets a registered
function, so everything that is made here lives as long as the process; equal calls share a function.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from symgrad.compiler.kernels.calls.guards import Guards, check_filled, check_position, has_ends
from symgrad.compiler.kernels.calls.native import Native
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.kernels.shapes import Fit, Shapes
from symgrad.compiler.llvm.call_stubs.xla_handler import (
    CALL,
    HANDLER,
    MINIMUM_SIZES,
    QUERY_LOG,
    RECORD,
    handler_text,
    module_text,
)
from symgrad.compiler.llvm.engine.binding import locked_cache, synchronized
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.lowering.arrays.index import strides
from symgrad.compiler.lowering.strides import loop_axes
from symgrad.ir.bounds import check_arrays, check_lengths, check_products
from symgrad.ir.graph import SYMBOL
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.values.inputs import known_end

_TYPES = {"bool": 1, "int64": 5, "float32": 11, "float64": 12}  # XLA_FFI_DataType


@dataclass(frozen=True, slots=True)
class Handler:
    """A native function for one kernel and the shapes of one call.

    Args:
        name: a name that is the same for equal kernels and shapes in every process, and different for all others.
        address: the address of the function.
        kept: objects that must live as long as the function.
    """

    name: str
    address: int
    kept: tuple[Any, ...]


def needs_python(kernel: Kernel) -> str | None:
    """Return the reason why calls of a kernel must go through Python, or None if they need not."""
    native = kernel.native()
    if native.symmetric:
        names = ", ".join(kernel.inputs[k] for k in native.symmetric)
        return f"whether {names} is symmetric is checked in Python"
    if any(p.index.op is not SYMBOL and not p.index.is_number() for p in native.guards.positions):
        return "positions are computed, and checked in Python"
    for s, kind in zip(kernel.symbols, kernel.kinds, strict=False):
        if s.dtype == "int" and kind.kind == "f" and has_ends(s):
            return f"whether {s.name} lies between its ends is checked in Python"
    return None


@synchronized
def xla_handler(kernel: Kernel, shapes: Sequence[tuple[int, ...]]) -> Handler:
    """Return the function for a kernel and the shapes of its inputs; it needs no Python (see `needs_python`).

    Raises:
        ShapeError: if the shapes do not fit the declarations.
        IndexRangeError: if a position that is a number is outside its axis.
    """
    # The code, and the facts about the kernel that it does not contain.
    guards = kernel.native().guards
    said = (
        kernel.llvm_ir,
        [str(s.declaration) for s in kernel.symbols],
        [str(kind) for kind in kernel.kinds],
        [str(size) for size in guards.lengths],
        [(op, str(size)) for op, size in guards.filled],
        [(expression_text(p.index), str(p.length)) for p in guards.positions],
        list(guards.bounded),
        list(shapes),
    )
    name = "symgrad." + hashlib.sha256(repr(said).encode()).hexdigest()[:32]
    found = _made.get(name)
    if found is None:
        found = _made[name] = _make(name, kernel, kernel.native(), shapes)
    return found


_made: dict[str, Handler] = {}

_PYTHON = {
    "lock": ctypes.pythonapi.PyGILState_Ensure,
    "forget": ctypes.pythonapi.PyErr_Clear,
    "interrupt": ctypes.pythonapi.PyErr_SetInterrupt,
    "unlock": ctypes.pythonapi.PyGILState_Release,
}


@locked_cache
def _machinery() -> tuple[Engine, int]:
    engine = load_or_compile(module_text(host().triple))
    return engine, engine.address(CALL)


_seen = (ctypes.c_int64 * len(QUERY_LOG))()


def layout_fits() -> bool:
    """Tell whether the structures of XLA are known, by the sizes that XLA passed when it asked for the version."""
    seen: dict[str, int] = dict(zip(QUERY_LOG, _seen, strict=True))
    return seen["calls"] > 0 and all(seen[name] >= size for name, size in MINIMUM_SIZES.items())


def _make(name: str, kernel: Kernel, native: Native, shapes: Sequence[tuple[int, ...]]) -> Handler:
    fit = Shapes(kernel.symbols, kernel.outputs).fit([np.broadcast_to(_NOTHING, s) for s in shapes])
    sizes = dict(fit.sizes)
    check_arrays(native.arrays, sizes)
    check_products(native.computed, sizes)
    checks = _checks(kernel, native.guards, sizes)
    nodes = (*kernel.symbols, *kernel.outputs)
    declared = [tuple(evaluate_size(s, sizes) for s in n.shape) for n in nodes]
    walk = _Walk(kernel, native, fit, shapes, declared)
    counts = [math.prod(batch + own) for batch, own in zip(walk.batches, declared, strict=True)]
    texts = [ctypes.create_string_buffer(message.encode()) for *_, message in checks]
    said = {
        "exhausted": f"memory is exhausted in kernel '{kernel.name}'",
        "negative": f"an axis would have a negative length in kernel '{kernel.name}'",
        "unlike": "XLA lays out a call otherwise than symgrad knows: use form='source'",
        "interrupted": f"kernel '{kernel.name}' was interrupted",
    }
    messages = {key: ctypes.create_string_buffer(value.encode()) for key, value in said.items()}
    checked = [
        word
        for (k, low, high, _), buffer in zip(checks, texts, strict=True)
        for word in (k, low, high, ctypes.addressof(buffer))
    ]
    tables = {
        "lengths": walk.lengths,
        "strides": [step for row in walk.strides for step in row],
        "dimensions": [walk.length, *(evaluate_size(s, sizes) for s in native.sizes)],
        "steps": [*walk.steps, *_core_steps(kernel, native, declared)],
        "types": [_TYPES[kind.name] for kind in kernel.kinds],
        "counts": counts,
        "checked": checked,
    }
    arrays = {key: (ctypes.c_int64 * max(len(table), 1))(*table) for key, table in tables.items()}
    values = {
        "loop": native.loop,
        "data": native.data,
        "told": native.told,
        "nargs": len(nodes),
        "nin": len(kernel.symbols),
        "depth": len(walk.lengths),
        "turns": math.prod(walk.lengths) if walk.length else 0,
        "checks": len(checks),
        "stopped": native.stopped,
        "seen": ctypes.addressof(_seen),
        **{key: ctypes.cast(f, ctypes.c_void_p).value or 0 for key, f in _PYTHON.items()},
        **{key: ctypes.addressof(buffer) for key, buffer in (arrays | messages).items()},
    }
    record = (ctypes.c_int64 * len(RECORD))(*[int(values[key]) for key, _ in RECORD])
    shared, call = _machinery()
    engine = Engine(handler_text(call, ctypes.addressof(record)), quick=True)
    lives = (kernel, record, arrays, messages, texts, shared, engine)
    return Handler(name, engine.address(HANDLER), lives)


_NOTHING = np.zeros(())
_LEAST, _LARGEST = -(2**63), 2**63 - 1


def _checks(kernel: Kernel, guards: Guards, sizes: dict[str, int]) -> list[tuple[int, int, int, str]]:
    """Check the sizes; return the checks of inputs, each as the index of the input, the two limits and the message."""
    check_lengths(guards.lengths, sizes)
    check_filled(guards.filled, sizes)
    found: list[tuple[int, int, int, str]] = []
    for position in guards.positions:
        if position.index.is_number():
            check_position(position, None, sizes)
            continue
        length = evaluate_size(position.length, sizes)
        k = kernel.symbols.index(position.index)
        limits = f"indices from {-length} to {length - 1}" if length else "no index at all: the axis is empty"
        said = f"input '{kernel.inputs[k]}' has an index out of range for an axis of length {length}"
        found.append((k, -length, length - 1, f"{said}; expected {limits}"))
    for k in guards.bounded:
        declared = kernel.symbols[k].declaration
        low, high = (known_end(end, sizes) for end in (declared.domain.low, declared.domain.high))
        said = f"input '{declared.name}' has a value beyond the ends of {declared}"
        limits = (_LEAST if low is None else int(low), _LARGEST if high is None else int(high))
        found.append((k, *limits, said))
    return found


def _core_steps(kernel: Kernel, native: Native, declared: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the strides of the core axes of all arguments, in bytes."""
    return [
        step
        for axes, shape, kind in zip(native.axes, declared, kernel.kinds, strict=True)
        if axes
        for step in _contiguous(shape, kind.itemsize)
    ]


def _contiguous(shape: Sequence[int], itemsize: int) -> list[int]:
    return [itemsize * cast("int", step) for step in strides(tuple(shape))]


class _Walk:
    """The traversal of all elements: the axes around the loop, and the axis along which the loop runs.

    Attributes:
        batches: the batch of every argument.
        lengths: the lengths of the axes around the loop.
        strides: the strides of these axes for every argument, in bytes.
        length: the length of the loop.
        steps: the stride of the loop for every argument.
    """

    def __init__(
        self,
        kernel: Kernel,
        native: Native,
        fit: Fit,
        shapes: Sequence[tuple[int, ...]],
        declared: Sequence[tuple[int, ...]],
    ) -> None:
        nin = len(shapes)
        self.batches = [s[: len(s) - len(d)] for s, d in zip(shapes, declared, strict=False)]
        self.batches += [fit.batch] * (len(declared) - nin)
        # The loop of an elementwise program has no core axes, so its declared axes are traversed like those of the
        # batch.
        loose = [d[: len(d) - len(axes)] for d, axes in zip(declared, native.axes, strict=True)]
        depth = max(map(len, loose))
        together = fit.batch + np.broadcast_shapes(*loose)
        ways: list[list[int]] = []
        for own, free, shape, kind in zip(self.batches, loose, declared, kernel.kinds, strict=True):
            steps = _contiguous(own + shape, kind.itemsize)
            lengths = own + shape
            steps = [0 if n == 1 else step for step, n in zip(steps, lengths, strict=True)]
            lead = [0] * (len(fit.batch) - len(own)) + steps[: len(own)]
            ways.append(lead + [0] * (depth - len(free)) + steps[len(own) : len(own) + len(free)])
        (self.length, self.steps), axes = loop_axes(together, ways)
        self.lengths = [length for length, _ in axes]
        self.strides = [steps for _, steps in axes]
