"""The op records, by family; importing this package registers them all."""

from symgrad.ops import (
    arith,
    bessel,
    contraction,
    control,
    elementary,
    hyperbolic,
    indexing,
    integrals,
    layout,
    linalg,
    logic,
    matrix_functions,
    reductions,
    rounding,
    special,
    trig,
)

__all__ = [
    "arith",
    "bessel",
    "contraction",
    "control",
    "elementary",
    "hyperbolic",
    "indexing",
    "integrals",
    "layout",
    "linalg",
    "logic",
    "matrix_functions",
    "reductions",
    "rounding",
    "special",
    "trig",
]
