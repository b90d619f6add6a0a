"""`Kernel`: the base class of kernels of elementwise and of array programs."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np

from symgrad.compiler.kernels.calls.called import Called
from symgrad.compiler.kernels.calls.native import Native
from symgrad.compiler.kernels.calls.threads import cores
from symgrad.compiler.kernels.points.scalar_calls import AtPoints
from symgrad.compiler.kernels.signature import Signature
from symgrad.compiler.llvm.engine.jit import Effort, emit_assembly
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Schedule, schedule
from symgrad.ir.graph import Node
from symgrad.ir.traverse import flatten, rebuild
from symgrad.report.about import Subject
from symgrad.report.report import Reported

Saver: TypeAlias = "Callable[..., tuple[Path, ...]]"
"""A function that writes a kernel to a file. It is passed in, since its module imports more than a kernel needs."""

Forms: TypeAlias = "Callable[[], tuple[Sequence[Node], Collection[Node]]]"
"""A function that returns the nodes that a kernel computes, and the nodes that may be fused. It is called on first
use."""

_LOADED = 8
"""Size of the cache of unpickled kernels: schedulers unpickle one for every task."""


_INTERNAL = frozenset(
    ("about", "called", "fusable", "kinds", "native", "needs", "outputs", "plan", "symbols", "way")
)
"""Attributes for other packages; most of them are nodes."""


class KernelOptions(NamedTuple):
    """The options of a kernel, which do not depend on its formulas.

    Attributes:
        name: the kernel's name.
        threads: the number of threads of a call with large arrays.
        rebuild: a function that compiles an unpickled kernel.
        save: a function that writes the kernel to a file.
        fast: whether an accuracy of four units in the last place is enough for functions.
        effort: ``auto``: quick code first, and better code when it pays; ``low``: quick code alone; or ``high``.
    """

    name: str
    threads: int
    rebuild: Callable[..., Kernel]
    save: Saver
    fast: bool = False
    effort: Effort = "auto"


class Kernel(Reported, Called, AtPoints):
    """Machine code for some outputs, called with arrays; `sg.compile` makes it.

    A kernel of an elementwise program is a NumPy ufunc (``.ufunc``), so broadcasting, ``out=``, ``where=`` and strides
    are NumPy's own. A kernel of an array program is a generalised ufunc: its inputs have the declared shapes, and
    further axes in front of these are batch axes, which broadcast. Calling the Kernel checks the inputs first and
    reports mistakes with the names of the formula.

    Attributes:
        inputs: names of the inputs, in order.
        outputs: the nodes that the kernel computes.
        symbols: the nodes of the inputs.
        kinds: NumPy dtype of every argument, inputs then outputs.
        dtype: NumPy dtype of all numbers.
        name: the kernel's name.
        threads: the number of threads of a call with large arrays.
        fast: whether an accuracy of four units in the last place is enough for functions.
        effort: ``auto``: quick code first, and better code when it pays; ``low``: quick code alone; or ``high``.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> square = sg.compile([x * x, x + 1], name="square")
        >>> square
        <Kernel square(x) -> 2 outputs, float64>
        >>> square(x=[1.0, 2.0])
        (array([1., 4.]), array([2., 3.]))
    """

    told_by: ClassVar[str] = "symgrad.compiler.kernels.report:kernel_report"

    __slots__ = ("_forms", "_rebuild", "_save", "about", "called", "effort", "fast")

    def __init__(
        self,
        outputs: Sequence[Node] | Forms,
        inputs: Sequence[Node],
        kinds: Sequence[Any],
        real: FloatType,
        options: KernelOptions,
        fusable: Collection[Node] = (),
    ) -> None:
        super().__init__(options.name, inputs, kinds, real, options.threads)
        _, _, self._rebuild, self._save, self.fast, self.effort = options
        self._forms = outputs if callable(outputs) else (tuple(outputs), frozenset(fusable))
        self.about: Callable[[Kernel], Subject] | None = None
        self.called: Callable[[], Sequence[str | None]] | None = None

    def __dir__(self) -> list[str]:
        """Leave out internal attributes, so that completion shows public ones."""
        return [name for name in super().__dir__() if name not in _INTERNAL]

    @property
    def outputs(self) -> tuple[Node, ...]:  # pyright: ignore[reportIncompatibleVariableOverride] (never written there)
        return self._arranged()[0]

    @property
    def output_names(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride] (never written there)
        """The names of the outputs in C: ``f`` and ``df_dx`` if the program has such names, else ``out0``, ..."""
        count = len(self.kinds) - len(self.inputs)
        names = [None] * count if self.called is None else self.called()
        return tuple([name or ("out" if count == 1 else f"out{k}") for k, name in enumerate(names)])

    @property
    def fusable(self) -> frozenset[Node]:
        """Nodes whose products and sums may become fused multiply-adds."""
        return self._arranged()[1]

    def _arranged(self) -> tuple[tuple[Node, ...], frozenset[Node]]:
        """Return the outputs, and the nodes that may be fused. A kernel from cached code derives both on first use."""
        if callable(self._forms):
            outputs, fusable = self._forms()
            self._forms = tuple(outputs), frozenset(fusable)
        return self._forms

    def plan(self, *, rolled: bool = True) -> Schedule | None:
        """Return the order of the scalar equations that the kernel computes; None for loops over arrays.

        Args:
            rolled: whether to look for repetition.
        """
        return schedule(self.outputs, self.symbols, fusable=self.fusable, fast=self.fast, rolled=rolled)

    @property
    def way(self) -> str:
        """How arrays are computed, as a sentence for reports; empty for elementwise programs."""
        return ""

    @property
    def quick(self) -> bool:
        """Whether the kernel still runs quick code, which optimised code will replace when that pays."""
        return False

    @property
    @abstractmethod
    def llvm_ir(self) -> str:
        """The LLVM module of the equations, as text."""

    @property
    @abstractmethod
    def needs(self) -> tuple[str, ...]:
        """The functions that the module calls but does not define."""

    @property
    def asm(self) -> str:
        """The machine code of the equations, as assembly for this machine."""
        return emit_assembly(self.llvm_ir)

    def save(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        outputs: Sequence[str] | None = None,
        cpu: str = "host",
        triple: str | None = None,
    ) -> tuple[Path, ...]:
        r"""Write the kernel to a file, in the format that the suffix of its name says.

        ``.c`` is C99 source, which needs only ``<math.h>``; ``.o`` is an object; ``.so`` is a shared library, for which
        a linker is needed. Each gets a C header beside it. ``.ll`` and ``.bc`` are LLVM's text and bitcode, ``.s``
        assembly, and ``.py`` readable NumPy equations. Elementwise programs also have ``.ptx``, for NVIDIA's GPUs, and
        ``.wasm``, a WebAssembly object. A file is written in full or not at all. An existing file of the same name is
        replaced, but an existing header only if symgrad wrote it; a link is never replaced.

        Args:
            path: where.
            name: the name of the functions; by default that passed to ``compile``, else the name of the file. A name
                that is reserved in C is changed (`int` becomes ``int_``); the header has the changed name.
            outputs: names of the outputs in the header, by default ``output_names``.
            cpu: for machine code, ``host`` for this machine's processor, ``baseline`` for every processor of its kind,
                or LLVM's name of a processor (``sm_80`` for PTX).
            triple: LLVM's name of another kind of machine, such as ``aarch64-linux-gnu``; by default this machine.

        Returns:
            The paths written.

        Raises:
            FileError: if a file cannot be written, the path is a link, or the header would replace a file that
                symgrad did not write.
            KernelError: for a shared library without a linker.
            UnsupportedError: if the kernel calls functions of SciPy.
            UsageError: for an unknown suffix, cpu or triple, or if outputs has the wrong length.

        Example:
            >>> import tempfile
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     paths = sg.compile(x**2).save(folder + "/square.c")
            ...     header = paths[1].read_text()
            >>> [path.name for path in paths]
            ['square.c', 'square.h']
            >>> print(*[line for line in header.splitlines() if line.startswith("void")], sep="\n")
            void square(const double *x, int64_t n, double *out);
            void square_strided(const double *x, int64_t x_stride, int64_t n, double *out, int64_t out_stride);
            void square_point(double x, double *out);
        """
        return self._save(self, path, name=name, outputs=outputs, cpu=cpu, triple=triple)

    @abstractmethod
    def native(self) -> Native:
        """Return the interface for callers without Python; compile optimised code if there is only quick code."""

    def _blockwise(self, arrays: Sequence[Any]) -> tuple[Any] | None:
        """Return the Dask arrays of a call with Dask arrays in a tuple; this kernel computes their blocks.

        NumPy would pass the ufunc to Dask, and a ufunc cannot be pickled.
        """
        da = cast("Any", sys.modules["dask.array"])  # one of the arrays is Dask's, so Dask is imported
        kinds = self.kinds[len(self.inputs) :]
        # Unify the chunks of batch axes, which are aligned from the end; core axes keep their chunks.
        labelled: list[Any] = []
        for k, array in enumerate(arrays):
            core = len(self._declared.axes[k])
            batch = np.ndim(array) - core
            labelled += [array, (*range(-batch, 0), *((k, axis) for axis in range(core)))]
        _, aligned = da.core.unify_chunks(*labelled)
        types = kinds[0] if len(kinds) == 1 else list(kinds)
        return (da.apply_gufunc(self, self._declared.text, *aligned, output_dtypes=types),)

    _declared: Signature
    """The shapes of all arguments without a batch."""

    # Machine code cannot be pickled, so a pickle holds the graph.

    def __reduce__(self) -> tuple[object, ...]:
        graph = flatten([*self.outputs, *self.symbols, *self.fusable])
        counts = len(self.outputs), len(self.symbols)
        options = {"dtype": self.dtype.name, "name": self.name, "threads": self.threads}
        options |= {"fast": self.fast, "effort": self.effort, "save": self._save}
        return (_load, (self._rebuild, graph, counts, options))


def _load(
    compile_again: Callable[..., Kernel],
    graph: list[tuple[Any, ...]],
    counts: tuple[int, int],
    options: dict[str, Any],
) -> Kernel:
    nodes = rebuild(graph)
    first, last = counts[0], sum(counts)
    options["threads"] = min(options["threads"], cores())  # this machine may have fewer processors
    options["fusable"] = tuple(nodes[last:])
    return _compiled(compile_again, tuple(nodes[:first]), tuple(nodes[first:last]), **options)


@lru_cache(_LOADED)
def _compiled(
    compile_again: Callable[..., Kernel], outputs: tuple[Node, ...], inputs: tuple[Node, ...], **options: Any
) -> Kernel:
    return compile_again(outputs, inputs, **options)
