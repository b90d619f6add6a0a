"""Functions and modules of torch as programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from symgrad.api.missing_framework import not_installed

if TYPE_CHECKING:
    from symgrad.interop.importers.program import ImportedProgram

__all__ = ["from_torch"]


def from_torch(function: Callable[..., Any], /, *specs: Any, **named: Any) -> ImportedProgram:
    """Read a function or module of torch's as a program.

    It is traced by `torch.export` as it stands: `detach` and `torch.no_grad()` become stop_gradient, layers and losses
    the formulas that they are. Shapes are those of the arguments here, where they have no names, and so are values of
    Python (a learning rate, a number of heads): what changes them later changes nothing here; read the function again.

    Inputs have the names of the function's parameters, those of the module that of their path with ``_`` for dots:
    ``fc1.weight`` is ``fc1_weight``. Intermediate values have the names of the variables that they were bound to,
    ``h_2`` for the second value of ``h``.

    Args:
        function: a function of tensors, or a module in the mode (train or eval) that is meant.
        specs: for each argument a tensor, of which only shape and dtype are read; a tuple of sizes for real numbers,
            which are whole numbers, names (``("n", 3)``) or `torch.export.Dim`; or a text such as ``"real[3, 5]"``,
            ``"positive"``, ``"int[8]"``, ``"Normal(0, 1)[8]"``. What is none of these is passed as it is.
        named: the same for arguments by name.

    Returns:
        An ImportedProgram.

    Raises:
        UnsupportedError: for operations that are not covered: all of them, with their lines. Also for what depends on
            the values of tensors, such as ``if x > 0``, and for random numbers: pass these as arguments.
        UsageError: for a text that declares nothing, and without torch.

    Example:
        >>> import torch, symgrad as sg
        >>> def loss(w, x, y):
        ...     p = torch.sigmoid(x @ w)
        ...     return ((p - y.detach())**2).sum()
        >>> p = sg.from_torch(loss, (3,), (5, 3), (5,))
        >>> p.names
        ('w', 'x', 'y', 'p', 'out')
        >>> print(p["out"])
        sum((sigmoid(x@w) - stop_gradient(y))**2)
        >>> sg.grad(p["out"], "y").nothing
        'stopped'
    """
    try:
        from symgrad.interop.importers.torch.program import (
            read_program,  # torch starts slowly, and may be missing
        )
    except ImportError as error:
        raise not_installed("torch", error) from error
    return read_program(function, specs, named)
