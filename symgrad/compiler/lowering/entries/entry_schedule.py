"""Order the scalar equations of a program of small arrays."""

from __future__ import annotations

from symgrad.compiler.lowering.elementwise.schedule import Schedule, schedule
from symgrad.compiler.lowering.entries.program import ScalarProgram


def schedule_entries(program: ScalarProgram, *, fast: bool = False, rolled: bool = True) -> Schedule:
    """Return the order of the equations of a program, as `schedule` does."""
    return schedule(program.outputs, program.inputs, fusable=program.fusable, fast=fast, rolled=rolled)
