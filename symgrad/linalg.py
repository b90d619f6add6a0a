"""Linear algebra on expressions, under the names in SciPy's and NumPy's modules `linalg`.

The last two axes of an array are matrices; any axes before them are axes of a stack.

Example:
    >>> import symgrad as sg
    >>> A = sg.tensor("A", ("n", "n"))
    >>> print(sg.grad(sg.linalg.logdet(A), A))
    inv(A).T
"""

from __future__ import annotations

from symgrad.api.functions.arrays import norm, outer, tensordot
from symgrad.api.functions.matrices import (
    cholesky,
    cosm,
    cosm_frechet,
    det,
    expm,
    expm_frechet,
    inv,
    kron,
    logdet,
    matrix_power,
    sinm,
    sinm_frechet,
    solve,
    solve_triangular,
    trace,
)

__all__ = [
    "cholesky",
    "cosm",
    "cosm_frechet",
    "det",
    "expm",
    "expm_frechet",
    "inv",
    "kron",
    "logdet",
    "matrix_power",
    "norm",
    "outer",
    "sinm",
    "sinm_frechet",
    "solve",
    "solve_triangular",
    "tensordot",
    "trace",
]
