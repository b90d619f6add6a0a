"""Points at which two formulas differ: whether they do all around such a point, or perhaps at single ones alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symgrad.checker.balls.programs import EVERY_VARIABLE, evaluate
from symgrad.checker.program.steps import ProofProgram
from symgrad.checker.witness import all_certain
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size
from symgrad.verification.statement import program_of
from symgrad.verification.verdict import Verdict

__all__ = ["is_generic", "lengths_in"]


def is_generic(sides: Sequence[Node], found: Verdict, sizes: Mapping[str, Size] | None) -> bool:
    """Tell whether a verdict has a witness at which no side has a jump or a kink: they differ all around it.

    Args:
        sides: the formulas that it is about.
        found: the verdict.
        sizes: what is written instead of names of sizes.
    """
    if found.witness is None:
        return False
    program, at = program_of(sides, sizes=sizes)
    lengths = lengths_in(program, found.witness)
    return all_certain(
        evaluate(program, found.witness, precision=256, sizes=lengths, strict=EVERY_VARIABLE, wanted=at)
    )


def lengths_in(program: ProofProgram, witness: Mapping[str, Any]) -> dict[str, int]:
    """Return the lengths among what a witness tells: all that are no variables."""
    return {name: n for name, n in witness.items() if name not in {s.name for s in program.symbols}}
