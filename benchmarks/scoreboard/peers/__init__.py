"""Who is measured. A peer is a module beside this one, with a function `prepare` that compiles a workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

__all__ = ["PEERS", "SYMGRAD", "Bind", "Peer", "Run", "UnableError", "rows"]


class UnableError(Exception):
    """A peer cannot express a workload; the message says why."""


@dataclass(frozen=True, slots=True)
class Run:
    """A kernel with its inputs.

    Attributes:
        call: computes everything once.
        outputs: what `call` returned, as arrays in the order of the workload.
    """

    call: Callable[[], Any]
    outputs: Callable[[Any], Any]


Bind: TypeAlias = "Callable[[Any], Run]"
"""Takes inputs (an array of shape (inputs, points), or arrays by name), lays them out as the kernel likes them."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One line of the scoreboard.

    Attributes:
        title: what it is called there.
        module: in this package.
        needs: modules that must be there.
        package: whose version is told.
        variant: passed to `prepare`.
        environment: variables of its process.
        note: how it is used.
    """

    title: str
    module: str
    needs: tuple[str, ...]
    package: str
    variant: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""


SYMGRAD = "symgrad"
_REVERSE = "its loop is written out by reverse accumulation, or by hand (W1, W2)"

PEERS: Mapping[str, Peer] = {
    SYMGRAD: Peer("symgrad", "by_symgrad", ("llvmlite",), "symgrad"),
    "numpy": Peer(
        "NumPy", "by_numpy", (), "numpy", note="by hand; PBE and graphs written out by reverse accumulation"
    ),
    "sympy": Peer("SymPy lambdify", "by_sympy", ("sympy",), "sympy", note="diff, then lambdify(cse=True)"),
    "numexpr": Peer("numexpr", "by_numexpr", ("numexpr",), "numexpr", note="one expression for each output"),
    "numba": Peer(
        "Numba", "by_numba", ("numba",), "numba", "", {"NUMBA_DISABLE_INTEL_SVML": "1"}, note=_REVERSE
    ),
    "numba-svml": Peer("Numba, SVML", "by_numba", ("numba",), "numba", "svml", note=_REVERSE),
    "numba-svml-fast": Peer(
        "Numba, SVML, fast-math", "by_numba", ("numba",), "numba", "svml fast", note="may reorder; 4 ulp"
    ),
    "symengine": Peer(
        "SymEngine", "by_symengine", ("symengine",), "symengine", note="diff, then Lambdify by LLVM with cse"
    ),
    "heyoka": Peer("heyoka", "by_heyoka", ("heyoka",), "heyoka", note="diff_tensors, then cfunc"),
    "heyoka-fast": Peer("heyoka, fast-math", "by_heyoka", ("heyoka",), "heyoka", "fast", note="may reorder"),
    "casadi": Peer(
        "CasADi", "by_casadi", ("casadi",), "casadi", note="its virtual machine, mapped over points"
    ),
    "casadi-c": Peer(
        "CasADi, C compiler",
        "by_casadi",
        ("casadi",),
        "casadi",
        "c",
        note="cc -O3 -march=native, mapped over points",
    ),
    "symjit": Peer("symjit", "by_symjit", ("symjit", "sympy"), "symjit", note="diff by SymPy"),
    "jax": Peer("jax", "by_jax", ("jax",), "jax", note="grad of sums over the points, under jit"),
    "torch": Peer("PyTorch", "by_torch", ("torch",), "torch", note="eager autograd"),
    "pytensor": Peer("PyTensor", "by_pytensor", ("pytensor",), "pytensor", note="grad, default mode"),
    "libxc": Peer(
        "Libxc", "by_libxc", ("pyscf",), "pyscf", note="the C function of PySCF's library, called directly"
    ),
    "copy": Peer(
        "copy", "by_copy", (), "numpy", note="no peer: NumPy copies as many bytes as W1 reads and writes"
    ),
}


def rows(outputs: Sequence[Any], points: int) -> list[Any]:
    """Return each output as an array of one number a point: a constant output is one number."""
    return [np.broadcast_to(np.asarray(o, dtype=np.float64), (points,)) for o in outputs]
