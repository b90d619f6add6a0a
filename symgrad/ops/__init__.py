"""The op records, by family; importing this package registers them all."""

from symgrad.ops import (
    arith,
    contraction,
    control,
    elementary,
    hyperbolic,
    indexing,
    layout,
    linalg,
    logic,
    reductions,
    rounding,
    special,
    trig,
)

__all__ = [
    "arith",
    "contraction",
    "control",
    "elementary",
    "hyperbolic",
    "indexing",
    "layout",
    "linalg",
    "logic",
    "reductions",
    "rounding",
    "special",
    "trig",
]
