"""Calls of a kernel at one point, without arrays, for solvers, optimisers and C."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.support.errors import UnsupportedError

if TYPE_CHECKING:
    from symgrad.compiler.kernels.points.functions import Use
    from symgrad.compiler.llvm.call_stubs.point_functions import PointFunctions
    from symgrad.ir.graph import Node

# What is imported in functions here is for start-up time: most kernels are called with arrays.


class AtPoints:
    """The part of `Kernel` that computes single points."""

    __slots__ = ()

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[Node, ...]
    output_names: tuple[str, ...]
    symbols: tuple[Node, ...]
    kinds: tuple[np.dtype[Any], ...]

    @property
    def scalar(self) -> Callable[..., Any]:
        """The kernel as a native function of numbers, for solvers and optimisers.

        The function takes a number for each input, also by name, and returns a float (or a bool), or a tuple of these,
        with the same bits as the kernel. A call with floats takes as long as a call of a function in `math`. Anything
        but a plain number (a number of another library, text) is checked as in calls of the kernel.

        Raises:
            UnsupportedError: if an input or an output is an array.

        Example:
            >>> import symgrad as sg
            >>> x, u = sg.symbols("x u")
            >>> f = sg.compile([x * u, x + u]).scalar
            >>> f(1.5, 2.0)
            (3.0, 3.5)
        """
        from symgrad.compiler.kernels.points.functions import scalar_function

        return scalar_function(self, self._point())

    def as_lowlevel(self, use: Use = "integrand") -> Any:
        """Return the first output as a ``scipy.LowLevelCallable``, which SciPy calls without Python.

        Args:
            use: ``integrand`` for `scipy.integrate.quad` and `nquad`, whose variable is the first input and whose
                ``args`` are the other inputs, all numbers; ``filter`` for `scipy.ndimage.generic_filter`, whose window
                has as many elements as the kernel has inputs.

        Raises:
            UnsupportedError: if an argument is an array or not float64.
            UsageError: for an unknown use.

        Example:
            >>> import symgrad as sg
            >>> from scipy.integrate import quad
            >>> x, a = sg.symbols("x a")
            >>> round(quad(sg.compile(sg.exp(-a * x**2), inputs=[x, a]).as_lowlevel(), 0, 10, args=(1.0,))[0], 6)
            0.886227
        """
        from symgrad.compiler.kernels.points.functions import low_level

        return low_level(self, self._own_point(), use)

    def as_ctypes(self) -> Any:
        """Return the kernel at one point as a function of ctypes, which Numba and cffi can call, too.

        The function takes the inputs as numbers, and a pointer for each output (see `c_signature`). It checks nothing.
        The function keeps the machine code alive; whoever uses only its address (``kernel.address``) must keep the
        function or the kernel.

        Raises:
            UnsupportedError: if an argument is an array.

        Example:
            >>> import ctypes
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> k = sg.compile(x**2, name="square")
            >>> k.c_signature
            'void square_point(double x, double *out)'
            >>> out = ctypes.c_double()
            >>> k.as_ctypes()(3.0, ctypes.byref(out))
            >>> out.value
            9.0
        """
        from symgrad.compiler.kernels.points.functions import as_ctypes

        return as_ctypes(self, self._own_point())

    @property
    def address(self) -> int:
        """The address of the function that `as_ctypes` returns; valid while the kernel lives."""
        from symgrad.compiler.llvm.call_stubs.point_functions import NUMBERS

        return self._own_point().address(NUMBERS)

    @property
    def c_signature(self) -> str:
        """The declaration in C of the function at `address`, with the name that it has in the headers of files."""
        from symgrad.compiler.kernels.points.functions import c_signature

        self._own_point()
        return c_signature(self)

    @abstractmethod
    def __call__(self, /, *arrays: Any, **by_name: Any) -> Any:
        """Compute the outputs; implemented by `Called`."""

    def _point(self) -> PointFunctions | None:
        """Return the machine code for one point; None if there is none."""
        return None

    def _own_point(self) -> PointFunctions:
        code = self._point()
        if code is None or any(node.shape for node in (*self.symbols, *self.outputs)):
            raise UnsupportedError(
                f"kernel '{self.name}' has no code for one point",
                expected="inputs and outputs without axes",
                cure="write it to a file with save, whose functions take arrays",
            )
        return code
