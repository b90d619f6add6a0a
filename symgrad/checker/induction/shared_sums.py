"""Claims with a variable for each sum that both sides read.

Such a claim says more, with less to expand: what holds for all values of the variables holds for those of the sums. The
formulas of adjoints and of tangents read values of the step, and most are right whatever these are.
"""

from __future__ import annotations

from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.program.equality import Equality


def with_free_sums(claim: Equality) -> Equality | None:
    """Return the claim with variables for the sums that both sides read; None if they read no such sums.

    Args:
        claim: the claim that two steps are equal.

    Example:
        >>> from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
        >>> x = Symbol("x", "real", None, None)
        >>> steps = (ProofStep("symbol", (), ("x",)), ProofStep("add", (0, 0)), ProofStep("mul", (1, 1)))
        >>> square = ProofStep("pow", (1, 3))
        >>> from fractions import Fraction
        >>> program = ProofProgram((*steps, ProofStep("number", (), (Fraction(2),)), square), (x,))
        >>> [(s.op, s.args) for s in with_free_sums(Equality(program, 2, 4)).program.steps]
        [('symbol', ()), ('mul', (0, 0)), ('number', ()), ('pow', (0, 2))]
    """
    into = ProgramBuilder(claim.program.symbols, claim.program.steps)
    left, right = ({*claim.program.needed([side])} for side in (claim.a, claim.b))
    sums = [i for i in sorted(left & right) if into.steps[i].op == "add" and into.steps[i].kind == "real"]
    if not sums or {claim.a, claim.b} & {*sums}:
        return None
    new = {i: into.variable("sum", into.shape(i)) for i in sums}
    return into.equality(into.replaced(claim.a, new), into.replaced(claim.b, new))
