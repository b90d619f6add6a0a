"""A kernel at one point, without arrays: as a function for Python, for C, and for SciPy."""

from __future__ import annotations

import ctypes
import inspect
import keyword
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from symgrad.compiler.c.identifiers import c_function, c_identifiers
from symgrad.compiler.kernels.calls.numbers import number_call
from symgrad.compiler.llvm.call_stubs.point_functions import FILTER, INTEGRAND, NUMBERS, POINT, PointFunctions
from symgrad.support.errors import ArrayTypeError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from symgrad.ir.graph import Node

Use: TypeAlias = Literal["integrand", "filter"]
"""The use of a function: `scipy.integrate.quad` and `nquad`, or `scipy.ndimage.generic_filter`."""

_POINTER = ctypes.POINTER(ctypes.c_double)
_TYPES: dict[str, tuple[Any, str]] = {
    "float64": (ctypes.c_double, "double"),
    "float32": (ctypes.c_float, "float"),
    "bool": (ctypes.c_ubyte, "unsigned char"),
}
_USES: dict[str, tuple[str, Any]] = {
    "integrand": (INTEGRAND, (ctypes.c_double, ctypes.c_int, _POINTER, ctypes.c_void_p)),
    "filter": (FILTER, (ctypes.c_int, _POINTER, ctypes.c_ssize_t, _POINTER, ctypes.c_void_p)),
}


class _OfNumbers(Protocol):
    """The part of a kernel that these functions need; `Kernel` has it."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[Node, ...]
    output_names: tuple[str, ...]
    symbols: tuple[Node, ...]
    kinds: tuple[np.dtype[Any], ...]

    def __call__(self, /, *arrays: Any, **by_name: Any) -> Any: ...


def scalar_function(kernel: _OfNumbers, code: PointFunctions | None) -> Callable[..., Any]:
    """Return a function of numbers: native code if possible.

    Args:
        kernel: the kernel to compute, which also checks arguments that are not plain numbers.
        code: the machine code for one point; None if there is none.

    Raises:
        UnsupportedError: if the kernel has arrays.
    """
    arrays = [node.name for node in kernel.symbols if node.shape]
    if arrays or any(node.shape for node in kernel.outputs):
        what = f"input '{arrays[0]}'" if arrays else "an output"
        raise UnsupportedError(
            f"{what} of kernel '{kernel.name}' is an array, but scalar computes numbers",
            expected="inputs and outputs without axes",
            cure="call the kernel itself",
        )
    count, name = len(kernel.inputs), kernel.name.replace("-", "_")
    what = "the output" if len(kernel.outputs) == 1 else f"a tuple of {len(kernel.outputs)} outputs"
    doc = f"Compute {what} of kernel '{kernel.name}' at one point, of numbers."
    named = all(x.isidentifier() and not keyword.iskeyword(x) for x in (name, *kernel.inputs))
    otherwise = _plain_function(kernel, name, doc, named=named)
    if code is None or any(
        node.dtype == "int" for node in kernel.symbols
    ):  # the Python function checks that numbers are whole
        return otherwise
    if named:
        doc = f"{name}({', '.join(kernel.inputs)})\n--\n\n{doc}"
    made = number_call(
        code.address(POINT),
        0,
        kernel.kinds,
        count,
        name=name,
        doc=doc,
        code=code,
        result=float,
        otherwise=otherwise,
    )
    return otherwise if made is None else made


def _plain_function(kernel: _OfNumbers, name: str, doc: str, *, named: bool) -> Callable[..., Any]:
    """Return the function in Python, with the same name, docstring and signature as the native one."""
    made = partial(_plain_numbers, kernel)
    vars(made).update(__name__=name, __qualname__=name, __doc__=doc)
    if named:
        arguments = [inspect.Parameter(x, inspect.Parameter.POSITIONAL_OR_KEYWORD) for x in kernel.inputs]
        vars(made)["__signature__"] = inspect.Signature(arguments)
    return made


def _plain_numbers(kernel: _OfNumbers, /, *numbers: Any, **by_name: Any) -> Any:
    """Call a kernel with numbers, which it checks, and return Python numbers.

    Raises:
        ArrayTypeError: for an array. Calls of the kernel may raise other errors.
    """
    for name, value in (*zip(kernel.inputs, numbers, strict=False), *by_name.items()):
        if np.ndim(value):
            raise ArrayTypeError(
                f"input '{name}' is an array, and scalar takes numbers",
                expected="a number for each input",
                cure="call the kernel itself, which takes arrays",
            )
    found: Any = kernel(*numbers, **by_name)
    return found.item() if len(kernel.outputs) == 1 else tuple([value.item() for value in found])


def c_signature(kernel: _OfNumbers) -> str:
    """Return the declaration in C of a kernel's function of numbers, with its name in the headers of files."""
    names = c_identifiers([*kernel.inputs, *kernel.output_names])
    types = [_TYPES[kind.name][1] for kind in kernel.kinds]
    nin = len(kernel.inputs)
    given = [f"{t} {name}" for t, name in zip(types[:nin], names[:nin], strict=True)]
    given += [f"{t} *{name}" for t, name in zip(types[nin:], names[nin:], strict=True)]
    return f"void {c_function(kernel.name, ())}_point({', '.join(given)})"


def as_ctypes(kernel: _OfNumbers, code: PointFunctions) -> Any:
    """Return a kernel's function of numbers as a function of ctypes, which keeps the code in memory."""
    nin = len(kernel.inputs)
    types = [_TYPES[kind.name][0] for kind in kernel.kinds]
    arguments: list[Any] = [*types[:nin], *(ctypes.POINTER(kind) for kind in types[nin:])]
    return _kept(code, NUMBERS, (None, *arguments))


def low_level(kernel: _OfNumbers, code: PointFunctions, use: str) -> Any:
    """Return a kernel's function of numbers as a ``LowLevelCallable``, which SciPy calls without Python.

    Raises:
        UnsupportedError: if not all inputs and outputs are doubles.
        UsageError: for an unknown use.
    """
    if use not in _USES:
        raise UsageError(f"there is no use '{use}'", expected=" or ".join(_USES))
    name, types = _USES[use]
    if {*code.kinds} != {"float64"}:
        raise UnsupportedError(
            f"kernel '{kernel.name}' has arguments that are not double, and SciPy passes doubles",
            expected="a kernel of float64, without truth values",
            cure='compile it with dtype="float64"',
        )
    # for start-up time: only who asks for it needs SciPy
    from scipy import LowLevelCallable

    return LowLevelCallable(_kept(code, name, types))


def _kept(code: PointFunctions, name: str, types: Sequence[Any]) -> Any:
    function: Any = ctypes.CFUNCTYPE(*types)(code.address(name))
    function.code = code  # the function keeps its machine code alive
    return function
