"""Import functions and modules of torch as programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from symgrad.api.missing_framework import not_installed

if TYPE_CHECKING:
    from symgrad.interop.importers.program import ImportedProgram


def from_torch(function: Callable[..., Any], /, *specs: Any, **named: Any) -> ImportedProgram:
    """Import a function or module of torch as a program.

    `torch.export` traces it: `detach` and `torch.no_grad()` become stop_gradient, layers and losses become formulas.
    Unnamed sizes, and values of Python (a learning rate, a number of heads), are constants: import the function again
    if they change.

    Inputs have the names of the function's parameters; a parameter of the module has its path, with ``_`` instead of
    dots: ``fc1.weight`` is ``fc1_weight``. Intermediate values have the names of their variables, ``h_2`` for the
    second value of ``h``.

    Args:
        function: a function of tensors, or a module in the mode that is meant (train or eval).
        specs: for each argument a tensor for its shape and dtype; a tuple of sizes for real numbers: integers, names
            (``("n", 3)``) or `torch.export.Dim`; or a text such as ``"real[3, 5]"``, ``"positive"``, ``"int[8]"``,
            ``"Normal(0, 1)[8]"``. Any other value is passed unchanged.
        named: the same for arguments that are passed by name.

    Returns:
        An ImportedProgram.

    Raises:
        UnsupportedError: for unsupported operations, all of which are in one message with their lines; for control flow
            on values of tensors, such as ``if x > 0``; and for random numbers, which must be arguments.
        UsageError: if a text is invalid, or torch is not installed.

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
