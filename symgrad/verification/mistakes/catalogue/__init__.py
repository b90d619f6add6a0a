"""The catalogue of mistakes, one file for each family. It must not import the modules that search with it."""

from __future__ import annotations

from symgrad.ir.graph import Node
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
from symgrad.verification.mistakes.rewriting import Swap
from symgrad.verification.mistakes.rule import MalRule, Site, Wrong

ROWS: tuple[MalRule[Site, Wrong], ...] = (
    *stops.mistake.rows,
    *powers.mistake.rows,
    *quotients.mistake.rows,
    *trigonometric.mistake.rows,
    *paths.mistake.rows,
    *arrays.mistake.rows,
)

REWRITINGS: tuple[MalRule[Node, Swap], ...] = (
    *brackets.mistake.rows,
    *exponents.mistake.rows,
    *identities.mistake.rows,
    *matrices.mistake.rows,
)
