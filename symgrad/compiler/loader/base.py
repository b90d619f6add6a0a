"""`Loaded`: the base class of loaded kernels of elementwise and of array programs."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import CFUNCTYPE, c_int64
from typing import Any, Protocol, cast

from symgrad.compiler.kernels.calls.called import Called
from symgrad.compiler.kernels.points.scalar_calls import AtPoints
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.loader.arguments import KnownArgument
from symgrad.support.errors import UnsupportedError


class OwnedCode(Protocol):
    """Machine code, which stays in memory as long as this object lives."""

    def address(self, name: str) -> int:
        """Return the address of a function."""
        ...


class Loaded(Called, AtPoints):
    """A kernel from a file; made by `symgrad.load`.

    Args:
        code: owner of the machine code.
        note: the metadata of the file.

    Attributes:
        inputs: names of the inputs, in order.
        kinds: NumPy dtype of every argument, inputs then outputs.
        dtype: NumPy dtype of all numbers.
        name: the kernel's name.
        threads: always 1, since a loaded kernel runs in the thread that calls it.
    """

    __slots__ = ("_addresses", "output_names", "outputs")

    def __init__(self, code: OwnedCode, note: Mapping[str, Any]) -> None:
        plain = (*note["inputs"], *note["outputs"])
        # Checks of inputs read only the attributes that these objects share with symbols.
        arguments = cast("Any", tuple(map(KnownArgument, plain)))
        nin = len(note["inputs"])
        real = float_type(note["dtype"])
        super().__init__(note["name"], arguments[:nin], [p["kind"] for p in plain], real, 1)
        self.outputs = arguments[nin:]
        self.output_names = tuple([p["name"] for p in note["outputs"]])
        # The addresses of two internal functions: `symgrad/compiler/llvm/call_stubs/file_query.py`.
        about = CFUNCTYPE(c_int64, c_int64)(code.address(note["functions"]["about"]))
        self._addresses: tuple[int, int] = (about(0), about(1))

    def __reduce__(self) -> tuple[object, ...]:
        raise UnsupportedError(
            f"kernel '{self.name}' was loaded from a file, and machine code cannot be pickled",
            expected="a kernel that was compiled here, whose pickle holds the formulas",
            cure="load the file where the kernel is needed",
        )

    _origin = ", loaded"
