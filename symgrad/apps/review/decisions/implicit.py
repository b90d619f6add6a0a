"""Which mistake gives a wrong derivative of a value that an equation defines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from symgrad.api.functions.layout import eye
from symgrad.api.functions.matrices import solve
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.formulas.calculus import ImplicitDerivative
from symgrad.support.errors import SymgradError
from symgrad.verification.diagnosis import Diagnosis


@dataclass(frozen=True, slots=True)
class ImplicitMistake:
    """A wrong rule for dz/dx where z = g(z, x).

    Args:
        kind: its slug.
        says: what was done, of the unknown ``{z}`` and the variable ``{x}``.
        follow: what it makes of dz/dx; None where it cannot be made.
        of_curves: whether it is one where the equation is F(x, z) = c.
    """

    kind: str
    says: str
    follow: Callable[[ImplicitDerivative], Expr | None]
    of_curves: bool = False


def _solved_left(s: ImplicitDerivative) -> Expr | None:
    if not s.z.shape or s.there.shape != s.here.shape:
        return None
    return solve((eye(s.z.shape[0]) - s.here).T, s.there.T).T


def _upside_down(s: ImplicitDerivative) -> Expr | None:
    return None if s.z.shape or s.x.shape else (1 - s.here) / s.there


def _outer_lost(s: ImplicitDerivative, *, through: bool, beside: bool) -> Expr | None:
    inner = s.inner()
    if inner is None:
        return None
    here, there = inner
    return s.along(here if through else s.here, s.follow()) + (there if beside else s.there)


ROWS = (
    ImplicitMistake(
        "implicit-factor-lost",
        "this is what one gets by holding {z} fixed on the right side of its equation: there it follows {x}, too",
        lambda s: s.there,
    ),
    ImplicitMistake(
        "implicit-sign",
        "this is what one gets by a plus in 1 - d/d{z} of the right side of the equation of {z}",
        lambda s: s.follow(sign=-1),
    ),
    ImplicitMistake(
        "implicit-sign",
        "this is what one gets by a wrong sign in -F_{x}/F_{z}, the derivative of what F = 0 defines",
        lambda s: -s.follow(),
        of_curves=True,
    ),
    ImplicitMistake(
        "implicit-upside-down",
        "this is what one gets by F_{z}/F_{x} in place of F_{x}/F_{z}, up to the sign",
        _upside_down,
        of_curves=True,
    ),
    ImplicitMistake(
        "forgot-inner-derivative",
        "this is what one gets by forgetting, on the way through {z}, the derivative of the function on the right side "
        "of its equation",
        lambda s: _outer_lost(s, through=True, beside=False),
    ),
    ImplicitMistake(
        "forgot-inner-derivative",
        "this is what one gets by forgetting, beside the way through {z}, the derivative of the function on the right "
        "side of its equation",
        lambda s: _outer_lost(s, through=False, beside=True),
    ),
    ImplicitMistake(
        "forgot-inner-derivative",
        "this is what one gets by forgetting the derivative of the function on the right side of the equation of {z}",
        lambda s: _outer_lost(s, through=True, beside=True),
    ),
    ImplicitMistake(
        "missing-term",
        "this is what one gets by forgetting that the right side of the equation of {z} holds {x} itself, too",
        lambda s: s.along(s.here, s.follow()),
    ),
    ImplicitMistake(
        "operands-swapped",
        "this is what one gets by the inverse of 1 - d/d{z} behind the derivative by {x}, not before it",
        _solved_left,
    ),
    ImplicitMistake("missing-transpose", "the derivative of {z} is transposed", lambda s: _transposed(s)),
)


def _transposed(s: ImplicitDerivative) -> Expr | None:
    found = s.follow()
    return found.T if len(found.shape) == 2 and found.shape[0] == found.shape[1] else None


def implicit_mistakes(
    slope: ImplicitDerivative, claim: Expr, same: Callable[[Expr, Expr], bool]
) -> list[Diagnosis]:
    """Return the mistakes that give a wrong derivative, commonest first.

    Args:
        slope: what is rightly done.
        claim: the wrong derivative.
        same: tells whether two formulas are equal where the equation holds.
    """
    words = {"z": str(slope.z), "x": str(slope.x)}
    found: list[Diagnosis] = []
    for row, value in _wrong(slope):
        if value.shape == claim.shape and same(value, claim):
            found.append(Diagnosis(row.kind, row.says.format(**words)))
            break
    return found


def _wrong(slope: ImplicitDerivative) -> Iterator[tuple[ImplicitMistake, Expr]]:
    for row in ROWS:
        if slope.curve and not row.of_curves:
            continue
        try:
            follow = row.follow(slope)
            if follow is not None:
                yield row, slope.total(follow)
        except SymgradError:
            continue  # its shapes do not fit
