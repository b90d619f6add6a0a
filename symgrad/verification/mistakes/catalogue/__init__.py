"""The catalogue of mistakes, one file for each family. It must not import what searches with it."""

from __future__ import annotations

from symgrad.verification.mistakes.catalogue import (
    arrays,
    brackets,
    exponents,
    identities,
    matrices,
    paths,
    powers,
    quotients,
    stops,
    trigonometric,
)
from symgrad.verification.mistakes.rewriting import AlgebraRule
from symgrad.verification.mistakes.rule import MalRule

__all__ = ["REWRITINGS", "ROWS"]

ROWS: tuple[MalRule, ...] = (
    *stops.ROWS,
    *powers.ROWS,
    *quotients.ROWS,
    *trigonometric.ROWS,
    *paths.ROWS,
    *arrays.ROWS,
)

REWRITINGS: tuple[AlgebraRule, ...] = (
    *brackets.REWRITINGS,
    *exponents.REWRITINGS,
    *identities.REWRITINGS,
    *matrices.REWRITINGS,
)
