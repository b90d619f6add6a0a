"""Programs as functions of torch: native code with all its derivatives, or source in torch's own operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from symgrad.api.derivatives.targets import Wrt, Wrts
from symgrad.api.handles.formula_arguments import Formula, Formulas
from symgrad.api.missing_framework import not_installed
from symgrad.interop.exporters.callee import callee
from symgrad.support.errors import UsageError

if TYPE_CHECKING:
    from symgrad.interop.exporters.torch_function import TorchFunction


def to_torch(
    outputs: Formula | Formulas,
    inputs: Wrt | Wrts | None = None,
    *,
    form: Literal["kernel", "source"] = "kernel",
) -> TorchFunction:
    """Return expressions as a function of torch tensors, with derivatives of every order.

    The form ``kernel`` runs native code on the CPU, directly on the memory of the tensors and in their dtype, float32
    or float64. Every derivative is derived symbolically, and compiled on its first use, for ``backward``, double
    backward, ``torch.func`` (grad, vmap, jvp, hessian, jacrev, jacfwd and their compositions), and
    ``torch.compile(fullgraph=True)``. A compiled graph does not support forward mode, and raises an error if it is
    used.

    The form ``source`` is Python code in operations of torch, to be read, pasted and run on any device; torch
    differentiates it.

    Args:
        outputs: an expression; or a list of expressions, for a function that returns a tuple.
        inputs: the symbols, or their names, in the order of the arguments; by default all symbols that the outputs
            need, in the order of the program's declarations.
        form: ``kernel`` or ``source``.

    Returns:
        A TorchFunction. It can be pickled, and called with inputs by name.

    Raises:
        MissingInputError: if the outputs read a symbol that is not among the inputs.
        NotInProgramError: if an input is unknown.
        UnsupportedError: in the form ``source``, if torch does not have an operation.
        UsageError: if there is no such form, or torch is not installed.

    Example:
        >>> import torch, symgrad as sg
        >>> x, u = sg.symbols("x u")
        >>> f = sg.to_torch(sg.with_gradient(forward=sg.round(x*u), backward_of=x*u))
        >>> t = torch.tensor([1.2, 2.0], dtype=torch.float64, requires_grad=True)
        >>> y = f(t, 1.5); y.sum().backward()
        >>> y.tolist(), t.grad.tolist()
        ([2.0, 3.0], [1.5, 1.5])
        >>> torch.func.grad(torch.func.grad(sg.to_torch(sg.sin(x))))(torch.tensor(0.5, dtype=torch.float64))
        tensor(-0.4794, dtype=torch.float64)
    """
    if form not in ("kernel", "source"):
        raise UsageError(f"form={form!r}", expected="form='kernel' or form='source'")
    try:
        from symgrad.interop.exporters.torch_function import (
            TorchFunction,  # torch starts slowly, and may be missing
        )
    except ImportError as error:
        raise not_installed("torch", error) from error
    found = callee(outputs, inputs)
    return TorchFunction(found.outputs, found.inputs, not isinstance(outputs, list | tuple), form)
