"""A program that a framework calls: its kernel, and its derivatives as further programs.

A framework asks for the tangents or cotangents of a call, and then for those of that second call. Each of these is
another program, which is derived symbolically and compiled on its first call. So derivatives of every order are exact,
and the framework differentiates nothing but the call itself.
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
from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.compiler.kernels.elementwise import ElementwiseKernel
from symgrad.compiler.kernels.kernel import Kernel
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

Shape = tuple[int, ...]


@final
class Callee:
    """Outputs as a function of inputs, for calls from a framework.

    The arrays of a call have batch axes before the declared axes; batches broadcast, as in a call of a Kernel. Every
    output and every cotangent has the whole batch; if the batch of an input is smaller, the caller sums the cotangent
    over the axes `repeated_axes`.

    Attributes:
        outputs: the outputs.
        inputs: the symbols, in the order of the arguments.
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
        """Return the kernel whose real inputs and outputs have this dtype; each is compiled only once."""
        name = np.dtype(cast("Any", dtype)).name
        found = self._kernels.get(name)
        if found is None:
            found = self._kernels[name] = compile_exprs(list(self.outputs), list(self.inputs), dtype=name)
        return found

    def run(self, kernel: Kernel, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Compute the outputs for arrays that have the dtypes of a kernel.

        An elementwise kernel takes arrays of the declared shapes unchanged. With a batch, axes of length 1 are inserted
        after the batch axes of inputs with fewer declared axes than others.

        Args:
            kernel: a result of `kernel`.
            arrays: NumPy arrays, in the order of the inputs.

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
        """Infer shapes from the shapes of the arrays of a call.

        Returns:
            The shapes of the outputs, including the batch; the batch; and the batch of each input.

        Raises:
            ShapeError: if the arrays do not fit the declarations, or each other.
        """
        fit = self._shapes.fit([np.broadcast_to(_NOTHING, shape) for shape in given])
        outputs = [fit.batch + tuple(evaluate_size(s, fit.sizes) for s in e.shape) for e in self.outputs]
        own = [shape[: len(shape) - len(e.shape)] for shape, e in zip(given, self.inputs, strict=True)]
        return outputs, fit.batch, own

    def aligned(self, shapes: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
        """Return the shapes in which the arrays of a call broadcast entry by entry, with the batch axes first.

        If an array has a batch and fewer declared axes than others, axes of length 1 follow its batch axes.

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
        """Return the program for the tangents of the real outputs; its inputs are these inputs, then their tangents.

        Args:
            moving: for every input, whether it has a tangent; only real inputs may have one.
        """
        return self._once("jvp", moving)

    def vjp(self, wanted: Sequence[bool]) -> Callee:
        """Return the program for cotangents; its inputs are these inputs, then the cotangents of the real outputs.

        Args:
            wanted: for every input, whether its cotangent is an output; only real inputs have a cotangent.
        """
        return self._once("vjp", wanted)

    def _once(self, kind: str, which: Sequence[bool]) -> Callee:
        if len(which) != len(self.inputs):
            raise UsageError(f"{len(which)} choices for {len(self.inputs)} inputs")
        key = kind, tuple(map(bool, which))
        found = self._derived.get(key)
        if found is None:
            selected = [e for e, w in zip(self.inputs, which, strict=True) if w]
            for e in selected:
                if e.dtype != "real":
                    raise UsageError(f"'{e}' is {e.dtype}: it has no {_WORD[kind]}")
            found = self._derived[key] = self._pushed(selected) if kind == "jvp" else self._pulled(selected)
        return found

    def _pushed(self, moving: list[Expr]) -> Callee:
        tangents = self._new_inputs(moving, "_dot")
        return Callee(jvp(_detached(self._real()), moving, tangents), [*self.inputs, *tangents])

    def _pulled(self, wanted: list[Expr]) -> Callee:
        real = self._real()
        cotangents = self._new_inputs(real, "_bar")
        return Callee(vjp(_detached(real), wanted, cotangents), [*self.inputs, *cotangents])

    def _real(self) -> list[Expr]:
        return [e for e in self.outputs if e.dtype == "real"]

    def _new_inputs(self, exprs: Iterable[Expr], suffix: str) -> list[Expr]:
        """Return new inputs with the shapes of expressions; their names are unused ones."""
        names = {s.name for s in known_symbols(self.outputs)} | {e.node.name for e in self.inputs}
        new: list[Expr] = []
        for k, e in enumerate(exprs):
            name = free_name(f"{e.name or f'out{k}'}{suffix}", names)
            names.add(name)
            new.append(handle(symbol(Declaration(name, shape=e.shape))))
        return new


def _detached(exprs: Sequence[Expr]) -> list[Expr]:
    """Detach expressions from their programs, which do not know the added inputs, nor inputs that are not read."""
    return [Expr(e.node, traces=e.traces, origins=e.origins, sources=e.sources) for e in exprs]


_NOTHING = np.zeros(())
_WORD = {"jvp": "tangent", "vjp": "cotangent"}


def repeated_axes(batch: Shape, own: Shape) -> tuple[int, ...]:
    """Return the axes of a batch over which the cotangent of an array with a smaller batch is summed.

    Example:
        >>> repeated_axes((3, 4, 5), (4, 1)), repeated_axes((3,), (3,))
        ((0, 2), ())
    """
    lead = len(batch) - len(own)
    return (*range(lead), *(lead + k for k, n in enumerate(own) if n != batch[lead + k]))


def cast_for_kernel(array: np.ndarray, kind: np.dtype[Any], name: str) -> np.ndarray:
    """Cast an array to the dtype of a kernel; elementwise kernels take integers as real numbers.

    Args:
        array: the argument.
        kind: the dtype.
        name: the name of the input.

    Raises:
        ArrayTypeError: if the dtype cannot represent the integers of the array.
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
        outputs: an expression, or a list of expressions.
        inputs: the symbols, or their names, in the order of the arguments; None for all symbols that the outputs need,
            in the order of their declarations.

    Raises:
        MissingInputError: if the outputs read a symbol that is not among the inputs.
        NotInProgramError: if an input is unknown.
        UsageError: if an input is repeated, or there are no outputs.

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
    """Return one expression, or a list of expressions, as a list.

    Raises:
        UsageError: if the list is empty.
    """
    listed = cast("list[object]", outputs) if isinstance(outputs, list | tuple) else [outputs]
    if not listed:
        raise UsageError("there is nothing to compute", expected="at least one expression")
    return formulas(listed)


def select_inputs(exprs: Sequence[Expr], inputs: object) -> list[Expr]:
    """Return the symbols of inputs; the outputs may read further symbols.

    Raises:
        NotInProgramError: if a name is unknown.
        UsageError: if an expression is not a symbol, or an input is repeated.
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
