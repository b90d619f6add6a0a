"""Kernels on NVIDIA's GPUs, which are called with arrays in GPU memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from symgrad.compiler.c.abi import Abi
from symgrad.compiler.c.identifiers import c_function, c_identifiers
from symgrad.compiler.gpu.codegen.artefacts import ptx_text
from symgrad.compiler.gpu.launch.device_arrays import (
    DeviceArray,
    current_stream,
    find_library,
    number_bits,
    read_device_array,
    stream_handle,
)
from symgrad.compiler.gpu.launch.driver import Driver, driver
from symgrad.compiler.gpu.launch.launch_geometry import grid_size, split_launches
from symgrad.compiler.llvm.text.types import float_type
from symgrad.ir.graph import Node
from symgrad.ir.values.inputs import in_order
from symgrad.support.errors import KernelError, ShapeError, UsageError
from symgrad.support.files import write_atomically

_C_TYPES = {"float64": "double", "float32": "float", "bool": "unsigned char"}
_VECTOR_ALIGNMENT = 16
"""Alignment of arrays, in bytes, that allows vector loads of several elements."""


@final
class CudaKernel:
    """An elementwise program for NVIDIA's GPUs, from ``sg.compile(..., target="cuda")``. Experimental.

    The same code was tested on a CPU, with NVIDIA's assembler and with a stand-in for the driver, but not yet on a GPU.
    The first call loads the driver: kernels can be compiled and saved on any machine.

    Attributes:
        name: the kernel's name.
        inputs: names of the inputs, in order.
        outputs: the nodes that the kernel computes.
        symbols: the nodes of the inputs.
        kinds: NumPy dtype of every argument, inputs then outputs.
        dtype: NumPy dtype of all numbers.
        fusable, fast: as in `Kernel`.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> kernel = sg.compile([x**2, x + 1], target="cuda", name="square")
        >>> kernel
        <CudaKernel square(x) -> 2 outputs, float64>
        >>> print(kernel.ptx().splitlines()[0])
        // square(x): 2 output(s), elementwise, in one pass.
    """

    def __init__(
        self,
        outputs: Sequence[Node],
        inputs: Sequence[Node],
        *,
        dtype: object = "float64",
        name: str = "kernel",
        fusable: Collection[Node] = (),
        fast: bool = False,
        gpu: Driver | None = None,
    ) -> None:
        real = float_type(dtype)
        self.name = name
        self.inputs = tuple(node.name for node in inputs)
        self.outputs = tuple(outputs)
        self.symbols = tuple(inputs)
        self.dtype = np.dtype(real.numpy)
        self.kinds = tuple(
            np.dtype("bool") if node.dtype == "bool" else self.dtype for node in (*inputs, *outputs)
        )
        self.fusable = frozenset(fusable)
        self.fast = fast
        self._gpu = gpu
        self._functions: dict[int, list[int]] = {}
        self._names: list[str] = []
        self._text = self._emit_ptx(
            "kernel", None, "host"
        )  # now, so that `compile` raises the error for an unsupported op

    def __repr__(self) -> str:
        count = "1 output" if len(self.outputs) == 1 else f"{len(self.outputs)} outputs"
        return f"<CudaKernel {self.name}({', '.join(self.inputs)}) -> {count}, {self.dtype}>"

    def __reduce__(self) -> tuple[object, ...]:
        from symgrad.ir.traverse import flatten  # most kernels are never pickled

        graph = flatten([*self.outputs, *self.symbols, *self.fusable])
        return (
            _unpickle,
            (graph, len(self.outputs), len(self.symbols), self.dtype.name, self.name, self.fast),
        )

    def ptx(self, cpu: str = "host") -> str:
        """Return the code as text, with its interface in comments at the head.

        Args:
            cpu: the oldest processors to support, such as ``sm_80``; by default all processors that current drivers
                support.

        Raises:
            UsageError: if LLVM does not know the processor.
        """
        return self._emit_ptx(self.name, None, cpu)

    def save(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        outputs: Sequence[str] | None = None,
        cpu: str = "host",
    ) -> tuple[Path, ...]:
        """Write the code to a file whose name ends in ``.ptx``; the arguments are those of ``Kernel.save``.

        Raises:
            FileError: if the file cannot be written.
            UsageError: for another suffix or processor, or if outputs has the wrong length.
        """
        path = Path(path)
        if path.suffix != ".ptx":
            raise UsageError(
                f"cannot write '{path.name}': the kernel is for a GPU",
                expected="a name that ends in .ptx",
                cure='compile without target="cuda" for the other formats',
            )
        called = name or (path.stem if self.name == "kernel" else self.name)
        write_atomically(path, self._emit_ptx(called, outputs, cpu).encode())
        return (path,)

    def __call__(self, /, *arrays: Any, out: Any = None, stream: Any = None, **by_name: Any) -> Any:
        """Compute the outputs on the GPU that holds the inputs, without copying them.

        Args:
            arrays: the inputs in order: arrays on one GPU, of torch, CuPy, JAX, numba or anything else that has
                ``__cuda_array_interface__``, which broadcast; or numbers. Their dtypes are the kernel's.
            out: an array for the only output, or a tuple with an array or None for each; may be an input.
            stream: the stream to launch on: a stream of a library, or its handle as a number; by default the current
                stream of the library of the arrays. The call returns before the computation has finished.
            by_name: inputs by their names.

        Returns:
            The output, or a tuple of them, as arrays of the library of the inputs.

        Raises:
            ArrayTypeError: if an input is not on the GPU, has another dtype, or belongs to another library than the
                other inputs.
            KernelError: if there is no driver or no GPU, or a launch fails.
            MissingInputError: if an input is missing, or there are too many.
            ShapeError: if shapes do not broadcast, or ``out`` has another shape than the results.
        """
        nin = len(self.inputs)
        values = in_order(self.inputs, arrays, by_name)
        outs: tuple[Any, ...] = (
            cast("Any", out) if isinstance(out, tuple) else (out,) * (1 if out is not None else 0)
        )
        outs = outs or (None,) * len(self.outputs)
        if len(outs) != len(self.outputs):
            raise UsageError(f"out has {len(outs)} arrays for {len(self.outputs)} outputs")
        maker, like = find_library([*values, *outs])
        if maker is not None and maker.synchronizes:
            for value in values:
                getattr(value, "block_until_ready", lambda: None)()
        read_inputs: list[DeviceArray | int] = [
            number_bits(symbol, value, kind)
            if isinstance(value, int | float | bool | np.generic)
            else read_device_array(symbol.name, value, kind)
            for symbol, value, kind in zip(self.symbols, values, self.kinds, strict=False)
        ]
        there = [a for a in read_inputs if isinstance(a, DeviceArray)]
        targets = [
            None if o is None else read_device_array("out", o, kind, written=True)
            for o, kind in zip(outs, self.kinds[nin:], strict=True)
        ]
        shape = self._shape([a.shape for a in there], targets)
        if not there and None in targets:
            raise KernelError(
                "numbers alone do not tell on which GPU to compute",
                expected="an array on a GPU among the inputs, or out= for every output",
            )
        made = list(outs)
        for k, target in enumerate(targets):
            if target is None:
                kind = self.kinds[nin + k]
                if maker is None:
                    raise KernelError(
                        "no library is known for results of arrays such as these",
                        expected="arrays of torch, CuPy, JAX or numba",
                        cure="pass out= for every output",
                    )
                made[k] = maker.empty(shape, kind, like)
                targets[k] = read_device_array("out", made[k], kind)
        arguments = [*read_inputs, *(t for t in targets if t is not None)]
        gpu = self._gpu or driver()
        every = [a for a in arguments if isinstance(a, DeviceArray)]
        on = next((a for a in every if a.address), None)
        if on is not None and 0 not in shape:
            device = gpu.device_of(on.address)
            handle = current_stream(maker, like) if stream is None else stream_handle(stream)
            for other in {a.stream for a in every} - {None, handle}:
                gpu.wait(device, handle, cast("int", other))
            self._launch(gpu, device, handle, shape, arguments)
            if maker is not None and maker.synchronizes:
                gpu.finish(device, handle)
        return made[0] if len(made) == 1 else tuple(made)

    def _launch(
        self,
        gpu: Driver,
        device: int,
        stream: int,
        shape: tuple[int, ...],
        arguments: Sequence[DeviceArray | int],
    ) -> None:
        if device not in self._functions:
            self._functions[device] = gpu.load(device, self._text, self._names)
        whole, *aligned, strided = self._functions[device]
        nin, processors = len(self.inputs), gpu.processors(device)
        steps = [
            _broadcast_steps(a, shape) if isinstance(a, DeviceArray) else (0,) * len(shape) for a in arguments
        ]
        numbers = [a for a in arguments if not isinstance(a, DeviceArray)]
        for one in split_launches(shape, steps):
            places = [
                a.address + one.offsets[k] * self.kinds[k].itemsize if isinstance(a, DeviceArray) else 0
                for k, a in enumerate(arguments)
            ]
            blocks, threads = grid_size(one.points, one.rows, processors)
            if one.contiguous and not numbers:
                together = aligned and all(place % _VECTOR_ALIGNMENT == 0 for place in places)
                function = aligned[0] if together else whole
                given = [*places[:nin], one.points, *places[nin:]]
            else:
                function = strided
                each = [
                    [place, one.along[k], one.across[k]] if isinstance(a, DeviceArray) else [0, a, 0]
                    for k, (place, a) in enumerate(zip(places, arguments, strict=True))
                ]
                flat = [[x for three in group for x in three] for group in (each[:nin], each[nin:])]
                given = [*flat[0], one.points, one.rows, *flat[1]]
            gpu.launch(device, function, blocks, threads, stream, given)

    def _shape(
        self, shapes: Sequence[tuple[int, ...]], targets: Sequence[DeviceArray | None]
    ) -> tuple[int, ...]:
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ShapeError(
                f"the shapes do not broadcast: {', '.join(map(str, shapes))}",
                expected="shapes that broadcast as in NumPy",
            ) from None
        for target in targets:
            if target is not None and not shapes:
                shape = target.shape
            if target is not None and target.shape != shape:
                raise ShapeError(
                    f"out has shape {target.shape}", expected=f"the shape of the results, {shape}"
                )
        return shape

    def _emit_ptx(self, name: str, outputs: Sequence[str] | None, cpu: str) -> str:
        count = len(self.outputs)
        names = outputs or (["out"] if count == 1 else [f"out{k}" for k in range(count)])
        if len(names) != count:
            raise UsageError(f"{len(names)} names for {count} outputs")
        identifiers = c_identifiers(["n", *self.inputs, *names])
        nin = len(self.inputs)
        function = c_function(name, ())
        strided, point = (c_function(f"{function}_{way}", ()) for way in ("strided", "point"))
        types = [_C_TYPES[kind.name] for kind in self.kinds]
        abi = Abi(
            function, strided, point, identifiers[1 : 1 + nin], identifiers[1 + nin :], types, identifiers[0]
        )
        text, entries = ptx_text(self, abi, cpu)
        if not self._names:
            self._names = list(entries)
        return text


def _broadcast_steps(array: DeviceArray, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of an array broadcast to a shape, in elements; 0 along broadcast axes."""
    missing = len(shape) - len(array.shape)
    own = [0 if n == 1 else step for n, step in zip(array.shape, array.steps, strict=True)]
    return (0,) * missing + tuple(own)


def _unpickle(
    graph: list[tuple[Any, ...]], outputs: int, symbols: int, dtype: str, name: str, fast: bool
) -> CudaKernel:
    from symgrad.ir.traverse import rebuild  # most kernels are never pickled

    nodes = rebuild(graph)
    last = outputs + symbols
    return CudaKernel(
        nodes[:outputs], nodes[outputs:last], dtype=dtype, name=name, fusable=nodes[last:], fast=fast
    )
