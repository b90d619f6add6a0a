"""A program called by a framework: its kernel, and its derivatives as further programs.

A framework asks for tangents or cotangents of a call, and then for those of that call. Each is a program again, derived
symbolically and compiled when it is first called, so that derivatives of every order are exact and nothing is
differentiated by the framework but the call itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast, final

import numpy as np

from symgrad.api.derivatives.differentiate import jvp, vjp
from symgrad.api.handles.expr import Expr, as_expr, handle
from symgrad.api.handles.formula_arguments import formulas
from symgrad.api.handles.inputs import inputs_of, known_symbols
from symgrad.api.kernels.compile import compile as compile_exprs
from symgrad.compiler.kernels.elementwise import ElementwiseKernel
from symgrad.compiler.kernels.kernel import Kernel, as_tuple
from symgrad.compiler.kernels.shapes import Shapes
from symgrad.ir.graph import SYMBOL, symbol
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Declaration
from symgrad.ir.values.inputs import check_domain
from symgrad.support.errors import (
    ArrayTypeError,
    KernelError,
    MissingInputError,
    NotInProgramError,
    UsageError,
)

__all__ = ["Callee", "callee", "select_inputs", "expressions", "cast_for_kernel", "repeated_axes"]

Shape = tuple[int, ...]


@final
class Callee:
    """Some outputs as a function of some inputs, for calls from a framework.

    The arrays of a call have the declared shapes with a batch before them; batches broadcast, as in a Kernel's call,
    and every output has the whole batch. So has every cotangent: an input whose own batch is smaller receives the sum
    over `repeated_axes` axes of it, which is the caller's to take.

    Attributes:
        outputs: what is computed.
        inputs: the symbols, in the order of arguments.
    """

    __slots__ = ("_derived", "_kernels", "_ranks", "_shapes", "inputs", "outputs")

    def __init__(self, outputs: Sequence[Expr], inputs: Sequence[Expr]) -> None:
        self.outputs = tuple(outputs)
        self.inputs = tuple(inputs)
        self._kernels: dict[str, Kernel] = {}
        self._derived: dict[tuple[str, tuple[bool, ...]], Callee] = {}
        self._shapes = Shapes([e.node for e in self.inputs], [e.node for e in self.outputs])
        self._ranks = tuple(len(e.shape) for e in self.inputs)

    def kernel(self, dtype: object = "float64") -> Kernel:
        """Return its kernel for a dtype of all real numbers; compiled once."""
        name = np.dtype(cast("Any", dtype)).name
        found = self._kernels.get(name)
        if found is None:
            found = self._kernels[name] = compile_exprs(list(self.outputs), list(self.inputs), dtype=name)
        return found

    def run(self, kernel: Kernel, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Compute the outputs of arrays in the dtypes of one of its kernels.

        A kernel that computes entry by entry takes arrays of declared shapes as they are. Where a batch stands before
        these, axes of one entry are put between the batch and the axes of inputs that have fewer than others.

        Args:
            kernel: what `kernel` returned.
            arrays: NumPy's, in the order of inputs.

        Raises:
            ShapeError: if the arrays do not fit the declarations, or each other.

        Example:
            >>> import symgrad as sg
            >>> x, y = sg.tensor("x", (2,)), sg.symbols("y")
            >>> f = callee(x*y)
            >>> f.run(f.kernel(), [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0])])
            (array([[ 1.,  2.],
                   [30., 40.]]),)
        """
        if not any(self._ranks) or not isinstance(kernel, ElementwiseKernel):
            return as_tuple(kernel(*arrays))
        given = [np.shape(a) for a in arrays]
        if not any(len(shape) > rank for shape, rank in zip(given, self._ranks, strict=True)):
            return as_tuple(kernel(*arrays))
        fit = self._shapes.fit(list(arrays))
        for e, a in zip(self.inputs, arrays, strict=True):
            if e.dtype == "int":
                check_domain(e.node, a, fit.sizes)
        try:
            ufunc = kernel.ufunc
        except KernelError:  # more arguments than a ufunc can have
            return self._row_by_row(kernel, arrays)
        with np.errstate(all="ignore"):
            return as_tuple(ufunc(*map(np.reshape, arrays, self.aligned(given))))

    def _row_by_row(self, kernel: Kernel, arrays: Sequence[Any]) -> tuple[Any, ...]:
        outputs, batch, own = self.shapes([np.shape(a) for a in arrays])
        spread = [np.broadcast_to(a, batch + np.shape(a)[len(b) :]) for a, b in zip(arrays, own, strict=True)]
        rows = [as_tuple(kernel(*(a[place] for a in spread))) for place in np.ndindex(batch)]
        kinds = kernel.kinds[len(arrays) :]
        return tuple(
            np.array([row[k] for row in rows], kind).reshape(shape)
            for k, (shape, kind) in enumerate(zip(outputs, kinds, strict=True))
        )

    def shapes(self, given: Sequence[Shape]) -> tuple[list[Shape], Shape, list[Shape]]:
        """Tell what follows from the shapes of a call's arrays.

        Returns:
            The shapes of the outputs, batch included; the batch; and each input's own batch.

        Raises:
            ShapeError: if the arrays do not fit the declarations, or each other.
        """
        fit = self._shapes.fit([np.broadcast_to(_NOTHING, shape) for shape in given])
        outputs = [fit.batch + tuple(evaluate_size(s, fit.sizes) for s in e.shape) for e in self.outputs]
        own = [shape[: len(shape) - len(e.shape)] for shape, e in zip(given, self.inputs, strict=True)]
        return outputs, fit.batch, own

    def aligned(self, shapes: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
        """Return the shapes in which a call's arrays broadcast entry by entry, a batch before the declared axes.

        An array that has a batch and fewer declared axes than another has axes of one entry between the two.

        Example:
            >>> import symgrad as sg
            >>> x, y = sg.tensor("x", (3,)), sg.symbols("y")
            >>> callee(x*y).aligned([(5, 3), (5,)])
            [(5, 3), (5, 1)]
        """
        most = max(self._ranks, default=0)
        placed: list[Sequence[Any]] = []
        for shape, rank in zip(shapes, self._ranks, strict=True):
            lead = len(shape) - rank
            placed.append((*shape[:lead], *(1,) * (most - rank), *shape[lead:]) if lead else shape)
        return placed

    def jvp(self, moving: Sequence[bool]) -> Callee:
        """Return the program of the outputs' tangents: its inputs are these, then tangents of those that move.

        Args:
            moving: for every input whether it moves. One that is not real has no tangent and must not. Outputs that
                are not real are left out.
        """
        return self._once("jvp", moving)

    def vjp(self, wanted: Sequence[bool]) -> Callee:
        """Return the program of cotangents: its inputs are these, then cotangents of the real outputs.

        Args:
            wanted: for every input whether its cotangent is an output. One that is not real has none.
        """
        return self._once("vjp", wanted)

    def _once(self, kind: str, which: Sequence[bool]) -> Callee:
        if len(which) != len(self.inputs):
            raise UsageError(f"{len(which)} choices for {len(self.inputs)} inputs")
        key = kind, tuple(map(bool, which))
        found = self._derived.get(key)
        if found is None:
            chosen = [e for e, w in zip(self.inputs, which, strict=True) if w]
            for e in chosen:
                if e.dtype != "real":
                    raise UsageError(f"'{e}' is {e.dtype}: it has no {_WORD[kind]}")
            found = self._derived[key] = self._pushed(chosen) if kind == "jvp" else self._pulled(chosen)
        return found

    def _pushed(self, moving: list[Expr]) -> Callee:
        tangents = self._beside(moving, "_dot")
        return Callee(jvp(_detached(self._real()), moving, tangents), [*self.inputs, *tangents])

    def _pulled(self, wanted: list[Expr]) -> Callee:
        real = self._real()
        cotangents = self._beside(real, "_bar")
        return Callee(vjp(_detached(real), wanted, cotangents), [*self.inputs, *cotangents])

    def _real(self) -> list[Expr]:
        return [e for e in self.outputs if e.dtype == "real"]

    def _beside(self, exprs: Iterable[Expr], suffix: str) -> list[Expr]:
        """New inputs of the shapes of expressions, under names that nothing has."""
        taken = {s.name for s in known_symbols(self.outputs)} | {e.node.name for e in self.inputs}
        made: list[Expr] = []
        for k, e in enumerate(exprs):
            name = free_name(f"{e.name or f'out{k}'}{suffix}", taken)
            taken.add(name)
            made.append(handle(symbol(Declaration(name, shape=e.shape))))
        return made


def _detached(exprs: Sequence[Expr]) -> list[Expr]:
    """Detach expressions from their programs, which do not know the added inputs: tangents, and unread inputs."""
    return [Expr(e.node, traces=e.traces, origins=e.origins, sources=e.sources) for e in exprs]


_NOTHING = np.zeros(())
_WORD = {"jvp": "tangent", "vjp": "cotangent"}


def repeated_axes(batch: Shape, own: Shape) -> tuple[int, ...]:
    """Return the axes of a batch along which an array of another batch is repeated: what a cotangent is summed over.

    Example:
        >>> repeated_axes((3, 4, 5), (4, 1)), repeated_axes((3,), (3,))
        ((0, 2), ())
    """
    lead = len(batch) - len(own)
    return (*range(lead), *(lead + k for k, n in enumerate(own) if n != batch[lead + k]))


def cast_for_kernel(array: np.ndarray, kind: np.dtype[Any], name: str) -> np.ndarray:
    """Return an array in the dtype that a kernel takes; elementwise kernels take whole numbers as real ones.

    Args:
        array: what is given for an input.
        kind: the dtype.
        name: of the input.

    Raises:
        ArrayTypeError: for whole numbers that would be rounded.
    """
    if array.dtype == kind:
        return array
    found = array.astype(kind)
    if array.dtype.kind in "iu" and kind.kind == "f" and not np.array_equal(found.astype(array.dtype), array):
        raise ArrayTypeError(
            f"input '{name}' has whole numbers that {kind} does not hold",
            cure="pass the real inputs as float64",
        )
    return found


def callee(outputs: object, inputs: object = None) -> Callee:
    """Return a program for calls from a framework.

    Args:
        outputs: an expression, or a list of them.
        inputs: the symbols, or their names, in the order of arguments; None for those that are needed, in the order of
            the program's declarations.

    Raises:
        MissingInputError: if the outputs read a symbol that is not among the inputs.
        NotInProgramError: for an input that the outputs do not know.
        UsageError: for an input twice, or none at all.

    Example:
        >>> import symgrad as sg
        >>> x, u = sg.symbols("x u")
        >>> f = callee(sg.sin(x*u))
        >>> [str(e) for e in f.jvp([True, False]).outputs]
        ['u*x_dot*cos(u*x)']
        >>> f.vjp([True, True]).kernel()(0.0, 2.0, 1.0)
        (np.float64(2.0), np.float64(0.0))
    """
    exprs = expressions(outputs)
    if inputs is None:
        return Callee(exprs, [handle(s) for s in inputs_of(exprs)])
    chosen = select_inputs(exprs, inputs)
    read = symbols_of([e.node for e in exprs])
    missing = [s.name for s in read if s not in {e.node for e in chosen}]
    if missing:
        raise MissingInputError(
            f"the outputs read {', '.join(missing)}, which is not among the inputs",
            expected=f"inputs that contain {', '.join(s.name for s in read)}",
            cure="add it to inputs, or leave inputs out",
        )
    return Callee(exprs, chosen)


def expressions(outputs: object) -> list[Expr]:
    """Return one expression, or several of a list, as a list.

    Raises:
        UsageError: for an empty one.
    """
    listed = cast("list[object]", outputs) if isinstance(outputs, list | tuple) else [outputs]
    if not listed:
        raise UsageError("there is nothing to compute", expected="at least one expression")
    return formulas(listed)


def select_inputs(exprs: Sequence[Expr], inputs: object) -> list[Expr]:
    """Return the symbols that are named as inputs, which need not be all that the outputs read.

    Raises:
        NotInProgramError: for one that the outputs do not know.
        UsageError: for what is not a symbol, or is listed twice.
    """
    known = {s.name: s for s in (*known_symbols(exprs), *inputs_of(exprs))}
    chosen: list[Expr] = []
    for item in cast("list[object]", inputs) if isinstance(inputs, list | tuple) else [inputs]:
        if isinstance(item, str):
            if item not in known:
                raise NotInProgramError(
                    f"'{item}' is not an input", expected=one_of(known), cure=suggest(item, known)
                )
            item = handle(known[item])
        e = as_expr(item)
        if e.node.op is not SYMBOL:
            raise UsageError(f"the input '{e}' is not a symbol", cure="pass the symbols that it is made of")
        chosen.append(e)
    if len({e.node for e in chosen}) != len(chosen):
        raise UsageError("an input is listed twice", expected="every input once")
    return chosen
