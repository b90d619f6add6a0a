"""Who is measured. A peer is a module beside this one, with a function `prepare` that compiles a workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "FAST",
    "OURS",
    "PEERS",
    "QUICK",
    "SYMGRAD",
    "Bind",
    "Peer",
    "Run",
    "UnableError",
    "pieces",
    "rows",
    "side_by_side",
]


class UnableError(Exception):
    """A peer cannot express a workload; the message says why."""


@dataclass(frozen=True, slots=True)
class Run:
    """A kernel with its inputs.

    Attributes:
        fresh: computes everything once, and returns it in arrays that it makes.
        outputs: what `fresh` or `given` returned, as arrays in the order of the workload.
        given: the same into arrays that were made before, for peers that can be given them.
    """

    fresh: Callable[[], Any]
    outputs: Callable[[Any], Any]
    given: Callable[[], Any] | None = None


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
        threads: how it uses several threads; without it, it has one, whatever the number.
    """

    title: str
    module: str
    needs: tuple[str, ...]
    package: str
    variant: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""
    threads: str = ""


SYMGRAD, QUICK, FAST = "symgrad", "symgrad-quick", "symgrad-fast"
OURS = (SYMGRAD, QUICK, FAST)

_REVERSE = (
    "W1, W2: a handwritten loop over the points; other formulas: a loop over prange with generated code of reverse "
    "accumulation"
)
_HEYOKA = "set_nthreads"
_PARALLEL = "parallel=True"
_MAPPED = 'map(points, "thread", threads)'
_BLAS = "those of its BLAS"

PEERS: Mapping[str, Peer] = {
    SYMGRAD: Peer(
        "symgrad",
        "by_symgrad",
        ("llvmlite",),
        "symgrad",
        note='effort="high": better code is compiled at once',
        threads="compile(threads=...)",
    ),
    QUICK: Peer(
        "symgrad, quick code",
        "by_symgrad",
        ("llvmlite",),
        "symgrad",
        "quick",
        note="the code that symgrad compiles first; here it is not replaced by better code, as it is by default",
        threads="compile(threads=...)",
    ),
    FAST: Peer(
        "symgrad, fast",
        "by_symgrad",
        ("llvmlite",),
        "symgrad",
        "fast",
        note='effort="high", accuracy="fast": may reorder; 4 ulp',
        threads="compile(threads=...)",
    ),
    "numpy": Peer(
        "NumPy",
        "by_numpy",
        (),
        "numpy",
        note="handwritten; for PBE and graphs, generated code of reverse accumulation",
        threads=_BLAS,
    ),
    "sympy": Peer("SymPy lambdify", "by_sympy", ("sympy",), "sympy", note="diff, then lambdify(cse=True)"),
    "numexpr": Peer(
        "numexpr",
        "by_numexpr",
        ("numexpr",),
        "numexpr",
        note="one expression for each output",
        threads="set_num_threads",
    ),
    "numba": Peer(
        "Numba",
        "by_numba",
        ("numba",),
        "numba",
        "",
        {"NUMBA_DISABLE_INTEL_SVML": "1"},
        note=_REVERSE,
        threads=_PARALLEL,
    ),
    "numba-svml": Peer(
        "Numba, SVML", "by_numba", ("numba",), "numba", "svml", note=_REVERSE, threads=_PARALLEL
    ),
    "numba-svml-fast": Peer(
        "Numba, SVML, fast-math",
        "by_numba",
        ("numba",),
        "numba",
        "svml fast",
        note="may reorder; 4 ulp",
        threads=_PARALLEL,
    ),
    "symengine": Peer(
        "SymEngine", "by_symengine", ("symengine",), "symengine", note="diff, then Lambdify by LLVM with cse"
    ),
    "heyoka": Peer(
        "heyoka",
        "by_heyoka",
        ("heyoka",),
        "heyoka",
        note="diff_tensors, then cfunc",
        threads=_HEYOKA,
    ),
    "heyoka-fast": Peer(
        "heyoka, fast-math",
        "by_heyoka",
        ("heyoka",),
        "heyoka",
        "fast",
        note="may reorder",
        threads=_HEYOKA,
    ),
    "casadi": Peer(
        "CasADi",
        "by_casadi",
        ("casadi",),
        "casadi",
        note="its virtual machine, mapped over points",
        threads=_MAPPED,
    ),
    "casadi-c": Peer(
        "CasADi, C compiler",
        "by_casadi",
        ("casadi",),
        "casadi",
        "c",
        note="cc -O3 -march=native, mapped over points",
        threads=_MAPPED,
    ),
    "symjit": Peer("symjit", "by_symjit", ("symjit", "sympy"), "symjit", note="diff by SymPy"),
    "jax": Peer(
        "jax",
        "by_jax",
        ("jax",),
        "jax",
        note="under jit: jacfwd vmapped over the points; for one partial and for higher orders, grad of "
        "sums over the points; NPROC is the number of threads, and XLA_FLAGS is empty",
        threads="those of XLA",
    ),
    "torch": Peer(
        "PyTorch", "by_torch", ("torch",), "torch", note="eager autograd", threads="set_num_threads"
    ),
    "torch-compile": Peer(
        "PyTorch, compiled",
        "by_torch_compiled",
        ("torch",),
        "torch",
        "",
        # The compiler runs in processes that its own waits for, so that their time is counted.
        {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"},
        note="formulas: torch.compile of the steps of eager autograd; arrays: torch.compile of torch.func's gradients",
        threads="set_num_threads",
    ),
    "pytensor": Peer(
        "PyTensor", "by_pytensor", ("pytensor",), "pytensor", note="grad, default mode", threads=_BLAS
    ),
    "libxc": Peer(
        "Libxc",
        "by_libxc",
        ("pyscf",),
        "pyscf",
        note="the C function of PySCF's library, called directly",
        threads="Python threads, each with a part of the points",
    ),
    "copy": Peer(
        "copy",
        "by_copy",
        (),
        "numpy",
        note="no peer: NumPy copies as many bytes as W1 reads and writes",
        threads="Python threads, each with a part of each array",
    ),
}


def rows(outputs: Sequence[Any], points: int) -> list[Any]:
    """Return each output as an array of one number a point: a constant output is one number."""
    return [np.broadcast_to(np.asarray(o, dtype=np.float64), (points,)) for o in outputs]


def pieces(points: int, threads: int) -> list[slice]:
    """Return consecutive points, as many pieces of them as there are threads."""
    ends = [points * k // threads for k in range(threads + 1)]
    return [slice(start, end) for start, end in pairwise(ends)]


def side_by_side(calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
    """Return what makes all calls, the first in the thread that calls, each other one in a thread of its own."""
    if len(calls) == 1:
        return calls[0]
    pool = ThreadPoolExecutor(len(calls) - 1)

    def call() -> None:
        waiting = [pool.submit(c) for c in calls[1:]]
        calls[0]()
        for w in waiting:
            w.result()

    return call
