"""The op records, by family; importing this package registers them all.

Open `record.py` first, then `scalar/elementary.py`. Records must not import rules, derivatives or kernels.
"""

import copyreg
from collections.abc import Callable
from typing import Any

from symgrad.ir.graph import OPS, Op
from symgrad.ops import composites as written
from symgrad.ops import control
from symgrad.ops.array import (
    cholesky,
    contraction,
    indexing,
    layout,
    linalg,
    matrix_functions,
    reductions,
    side_by_side,
    softmax,
)
from symgrad.ops.random import continuous, discrete
from symgrad.ops.scalar import arith, elementary, hyperbolic, logic, rounding, trig
from symgrad.ops.special import bessel, elliptic, error_functions, incomplete, integrals, spherical, zeta
from symgrad.ops.special import gamma as special

__all__ = [
    "op_named",
    "arith",
    "bessel",
    "cholesky",
    "continuous",
    "contraction",
    "control",
    "discrete",
    "elementary",
    "elliptic",
    "error_functions",
    "hyperbolic",
    "incomplete",
    "indexing",
    "integrals",
    "layout",
    "linalg",
    "logic",
    "matrix_functions",
    "reductions",
    "rounding",
    "side_by_side",
    "softmax",
    "special",
    "spherical",
    "trig",
    "written",
    "zeta",
]


def op_named(name: str, identity: str | None) -> Op:
    """Return an op by its name. Pickles refer to this function, so loading a pickle registers the records."""
    return OPS.named(name, identity)


LOADERS: dict[str, Callable[[str, str | None], Op]] = {}
"""Functions for pickles of ops that other packages register; loading one imports the module of its function."""


def _pickled(op: Op) -> tuple[Callable[..., Op], tuple[Any, ...]]:
    return LOADERS.get(op.name, op_named), (op.name, OPS.identity_of(op))


copyreg.pickle(Op, _pickled)
