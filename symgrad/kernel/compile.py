"""From Nodes to a Kernel."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.errors import MissingInputError, ShapeError, UnsupportedError, UsageError
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import broadcast_shapes
from symgrad.kernel.elementwise import ElementwiseKernel
from symgrad.kernel.kernel import Kernel
from symgrad.llvm.code import Code
from symgrad.llvm.types import float_type
from symgrad.lower.schedule import schedule

__all__ = ["compile_nodes"]


def compile_nodes(
    outputs: Sequence[Node],
    inputs: Sequence[Node] | None = None,
    *,
    dtype: object = "float64",
    name: str = "kernel",
) -> Kernel:
    """Compile pointwise equations to a kernel that computes all outputs in one pass.

    Args:
        outputs: what to compute, at least one node.
        inputs: the symbols in the order of the kernel's arguments; None for all that occur, in order of
            appearance.
        dtype: float64 or float32, for every number. Booleans stay booleans.
        name: the kernel's name.

    Raises:
        MissingInputError: if the outputs read a symbol that is not among the inputs.
        NumberTooLargeError: if a constant is too large for the dtype.
        UnsupportedError: if an operation has no native code, or the outputs' shapes differ.
        UsageError: if there is no output, an input is not a symbol or is listed twice, or the dtype is
            another one.

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
    used = symbols_of(outputs)
    inputs = tuple(used if inputs is None else inputs)
    _check_inputs(inputs, used)
    _check_shapes(outputs, inputs)
    code = Code(schedule(outputs, inputs), float_type(dtype))
    return ElementwiseKernel(code, outputs, inputs, name=name, rebuild=compile_nodes)


def _check_inputs(inputs: tuple[Node, ...], used: list[Node]) -> None:
    for node in inputs:
        if node.op is not SYMBOL:
            raise UsageError(
                f"the input {node!r} is not a symbol", cure="pass the declared symbols that it is made of"
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


def _check_shapes(outputs: tuple[Node, ...], inputs: tuple[Node, ...]) -> None:
    """All arguments of a ufunc broadcast together, so every output must have the shape of that."""
    shapes = {node.shape for node in (*outputs, *inputs)}
    if shapes == {()}:
        return
    try:
        together = broadcast_shapes(node.shape for node in inputs)
    except ShapeError:
        together = None
    for node in outputs:
        if node.shape != together:
            raise UnsupportedError(
                f"an output has shape {node.shape}, but the inputs broadcast to {together}",
                expected="outputs of the shape to which all inputs broadcast",
                cure="compile outputs of different shapes one by one, each with the inputs that it reads",
            )
