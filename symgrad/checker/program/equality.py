"""The claim that two steps of a program have equal values: the one kind of claim that is proved or refuted."""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.checker.program.steps import ProofProgram


@dataclass(frozen=True, slots=True)
class Tangents:
    """How the steps of derivatives were appended to a program.

    Args:
        wrt: the variable of differentiation.
        direction: the variable in whose direction the derivatives are taken, if ``wrt`` is an array.
        values: the positions of the differentiated steps.
        first: the position of the first appended step.
    """

    wrt: str
    direction: str | None
    values: tuple[int, ...]
    first: int


@dataclass(frozen=True, slots=True)
class Equality:
    """The claim that two steps have equal values wherever both values certainly exist.

    Args:
        program: the steps; for a claim about a derivative also the steps that compute the derivative.
        a, b: the two sides, of the same shape.
        defined: further steps: only points at which their values certainly exist, too, are used. For a claim about a
            derivative these are the differentiated steps.
        strict: whether points are ignored at which a side is not differentiable; see
            `symgrad.checker.balls.programs.evaluate`.
        plain: a side to which that does not apply: the claimed derivative may have kinks where the function has none.
        tangents: the steps that compute the derivative; None for other claims.
    """

    program: ProofProgram
    a: int
    b: int
    defined: tuple[int, ...] = ()
    strict: bool | str = False
    plain: int | None = None
    tangents: Tangents | None = None

    @property
    def positions(self) -> list[int]:
        """The two sides, and the further steps."""
        return [self.a, self.b, *self.defined]

    @property
    def direction(self) -> str | None:
        """The variable that holds the direction, for a derivative with respect to an array."""
        return self.tangents.direction if self.tangents else None
