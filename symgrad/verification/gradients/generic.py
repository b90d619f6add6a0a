"""Tell whether two formulas differ in a whole neighbourhood of a witness, or perhaps only at isolated points."""

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


def is_generic(sides: Sequence[Node], found: Verdict, sizes: Mapping[str, Size] | None) -> bool:
    """Tell whether neither side has a jump or a kink at the witness of a verdict: then the sides differ around it.

    Args:
        sides: both formulas.
        found: the verdict on the formulas.
        sizes: replacements of named sizes.
    """
    if found.witness is None:
        return False
    program, at = program_of(sides, sizes=sizes)
    lengths = lengths_in(program, found.witness)
    return all_certain(
        evaluate(program, found.witness, precision=256, sizes=lengths, strict=EVERY_VARIABLE, wanted=at)
    )


def lengths_in(program: ProofProgram, witness: Mapping[str, Any]) -> dict[str, int]:
    """Return the lengths in a witness: the values of names that are not variables."""
    return {name: n for name, n in witness.items() if name not in {s.name for s in program.symbols}}
