"""The registry of programs for torch: a graph of torch holds only the key of a program, which is a string.

The key of a derivative is the key of its program, with a suffix for the derivative, such as ``3f2a/vjp10``. Derivatives
are programs, so they have derivatives of every order.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from importlib import import_module
from typing import Any, final

from symgrad.compiler.kernels.kernel import Kernel
from symgrad.interop.exporters.callee import Callee
from symgrad.ir.traverse import flatten
from symgrad.support.errors import MissingInputError

torch: Any = import_module("torch")  # the values of this module have any type here

REAL = {torch.float32: "float32", torch.float64: "float64"}
"""The dtypes of torch in which kernels compute."""


@final
class KeyedProgram:
    """A program that torch can call by its key.

    Attributes:
        key: the key of the program in graphs.
        callee: the program.
        real: for every output, whether it is real, and so has derivatives.
        inputs: the name and the kind of every input.
    """

    __slots__ = ("callee", "inputs", "key", "real")

    def __init__(self, key: str, callee: Callee) -> None:
        self.key = key
        self.callee = callee
        self.real = tuple(e.dtype == "real" for e in callee.outputs)
        self.inputs = tuple((str(e.name), e.dtype) for e in callee.inputs)

    def kernel(self, dtype: Any) -> Kernel:
        """Return the kernel for a dtype of torch."""
        return self.callee.kernel(REAL[dtype])

    def only(self, outputs: Sequence[bool]) -> KeyedProgram:
        """Return the program for some of the outputs."""
        return self if all(outputs) else program_of(f"{self.key}/out{_bits(outputs)}")

    def vjp(self, wanted: Sequence[bool]) -> KeyedProgram:
        """Return the program for the cotangents of some inputs."""
        return program_of(f"{self.key}/vjp{_bits(wanted)}")

    def jvp(self, moving: Sequence[bool]) -> KeyedProgram:
        """Return the program that computes the tangents of the outputs, where only some inputs have tangents."""
        return program_of(f"{self.key}/jvp{_bits(moving)}")


# Entries stay forever, because a compiled graph, or a graph saved for a backward pass, has only the key.
_PROGRAMS: dict[str, KeyedProgram] = {}


def register_program(callee: Callee) -> KeyedProgram:
    """Return the registered program of a callee; equal programs have the same key, in every process."""
    nodes = [*(e.node for e in callee.outputs), *(e.node for e in callee.inputs)]
    derived = [(e.derived, len(e.parts)) for e in callee.outputs]  # this decides how it is arranged
    content = pickle.dumps((flatten(nodes), len(callee.outputs), derived), protocol=5)
    key = hashlib.blake2b(content, digest_size=12).hexdigest()
    return _PROGRAMS.setdefault(key, KeyedProgram(key, callee))


def program_of(key: str) -> KeyedProgram:
    """Return the program of a key; derivatives are built lazily.

    Raises:
        MissingInputError: if this process does not have the program.
    """
    program = _PROGRAMS.get(key)
    if program is None:
        base, _, step = key.rpartition("/")
        if not base:
            raise MissingInputError(
                f"no program {key} in this process",
                cure="call sg.to_torch here first: graphs hold its key alone",
            )
        callee, kind, which = program_of(base).callee, step[:3], [c == "1" for c in step[3:]]
        if kind == "out":
            made = Callee([e for e, w in zip(callee.outputs, which, strict=True) if w], callee.inputs)
        else:
            made = callee.vjp(which) if kind == "vjp" else callee.jvp(which)
        program = _PROGRAMS.setdefault(key, KeyedProgram(key, made))
    return program


def _bits(which: Sequence[bool]) -> str:
    return "".join("01"[w] for w in which)
