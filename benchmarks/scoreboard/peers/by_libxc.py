"""Libxc, the library that PySCF brings: `xc_gga_exc_vxc...` of GGA_C_PBE for two spins, without Python between."""

from __future__ import annotations

import ctypes
from functools import partial
from importlib import import_module
from itertools import combinations_with_replacement as multisets
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, UnableError, pieces, side_by_side
from benchmarks.scoreboard.pointwise import Pointwise, pbe
from benchmarks.scoreboard.programs import Program

GGA_C_PBE = 130
POLARIZED = 2
DENSITIES, INVARIANTS = (0, 1), (2, 3, 4)
# Its groups in its order: by densities, then by invariants.
GROUPS = [
    [(d, i) for d, i in product(multisets(DENSITIES, n), multisets(INVARIANTS, order - n))]
    for order in range(4)
    for n in range(order, -1, -1)
]
FUNCTION = {1: "xc_gga_exc_vxc", 2: "xc_gga_exc_vxc_fxc", 3: "xc_gga_exc_vxc_fxc_kxc"}


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    if isinstance(workload, Program) or workload.formula is not pbe:
        raise UnableError("it has only density functionals")
    if workload.order not in FUNCTION:
        raise UnableError("this build has derivatives up to order 3")
    found = sorted(Path(import_module("pyscf.lib").__file__ or "").parent.glob("**/libxc.*"))
    if not found:
        raise UnableError("PySCF's libxc is not where its wheel has it")
    library: Any = ctypes.CDLL(str(found[0]))
    library.xc_func_alloc.restype = ctypes.c_void_p
    functional = ctypes.c_void_p(library.xc_func_alloc())
    if library.xc_func_init(functional, GGA_C_PBE, POLARIZED):
        raise UnableError("xc_func_init failed")
    function = getattr(library, FUNCTION[workload.order])
    groups = [g for g in GROUPS if len(g[0][0]) + len(g[0][1]) <= workload.order]
    columns = {tuple(d + i): (g, c) for g, group in enumerate(groups) for c, (d, i) in enumerate(group)}

    def new(points: int) -> list[Any]:
        return [np.empty((points, len(group))) for group in groups]

    def bind(inputs: Any) -> Run:
        points = inputs.shape[1]
        rho, sigma = np.ascontiguousarray(inputs[:2].T), np.ascontiguousarray(inputs[2:].T)
        own = new(points)
        into: list[Any] = []

        def computed(part: slice) -> None:  # ctypes releases the interpreter's lock in each
            arguments = [ctypes.c_void_p(a[part].ctypes.data) for a in (rho, sigma, *into)]
            function(functional, ctypes.c_size_t(part.stop - part.start), *arguments)

        everything = side_by_side([partial(computed, part) for part in pieces(points, threads)])

        def to(out: list[Any]) -> list[Any]:
            into[:] = out
            everything()
            into.clear()
            return out

        def outputs(out: list[Any]) -> list[Any]:
            values = [out[g][:, c] for g, c in (columns[index] for _, index in workload.outputs)]
            return [values[0] * (inputs[0] + inputs[1]), *values[1:]]  # its energy is one per particle

        return Run(lambda: to(new(points)), outputs, lambda: to(own))

    return bind
