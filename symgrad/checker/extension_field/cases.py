"""Replay one case of a proof: evaluate both sides in the extension field, with the answers of the proof."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from symgrad.checker.extension_field.evaluate import evaluate_steps
from symgrad.checker.extension_field.extension import Contradiction, TooCoarse
from symgrad.checker.extension_field.field import Element, GiveUp
from symgrad.checker.extension_field.functions import Functions
from symgrad.checker.extension_field.replay import replay_field
from symgrad.checker.extension_field.sign_choices import empty, sign_choices
from symgrad.checker.limits import GENERATORS
from symgrad.checker.numbers import number_from_json
from symgrad.checker.program.steps import ProofProgram


def replay_case(
    program: ProofProgram,
    a: int,
    b: int,
    outcome: Mapping[int, bool],
    data: Mapping[str, Any],
    deadline: float,
) -> tuple[Functions, Element | None]:
    """Evaluate both sides, and return the extension field and their difference; None if no point has this outcome.

    Raises:
        GiveUp: if an answer is wrong or missing, or at the deadline.
    """
    extension = Functions(*replay_field(data, GENERATORS, deadline))
    try:
        left, right = evaluate_steps(extension, program, [a, b], outcome)
        return extension, extension.field.sub(left, right)
    except Contradiction:
        return extension, None
    except TooCoarse as finer:
        raise GiveUp(str(finer)) from finer


def common_exclusions(first: Functions, second: tuple[Functions, Element | None]) -> tuple[str, ...]:
    """Return the points that both of two proofs exclude; the second one shifts the only angle, so they share no pole.

    Raises:
        GiveUp: if the second proof is not of this kind.
    """
    extension, difference = second
    turned = extension.oracle.scale("turned", 0) > 1 and first.oracle.scale("turned", 0) == 1
    if not turned or not len(first.poles) == len(extension.poles) == len(extension.angles) == 1:
        raise GiveUp("a second proof that shifts no angle")
    quarter = extension.field.scaled(extension.pi(), Fraction(1, 4))
    back = extension.field.fraction_text(extension.field.add(extension.angles[0][0], quarter))
    if len(first.angles) != 1 or "..." in back or back != first.field.fraction_text(first.angles[0][0]):
        raise GiveUp("a second proof that shifts another angle")
    if difference is None or not extension.field.is_zero(difference):
        raise GiveUp("a second proof that does not hold")
    (pole,) = first.poles
    return tuple(
        dict.fromkeys([*(c for c in first.left_out() if c != pole), *extension.exclusions_at_pole(pole)])
    )


def check_case(
    program: ProofProgram,
    a: int,
    b: int,
    outcome: Mapping[int, bool],
    data: Mapping[str, Any],
    deadline: float,
) -> tuple[str, tuple[str, ...]]:
    """Replay one case, and return its result and the excluded sets.

    The result is ``proved``, ``empty`` (no point has this outcome), or ``apart`` (the difference is a nonzero number).

    Raises:
        GiveUp: if the case has none of these results.
    """
    extension, difference = replay_case(program, a, b, outcome, data, deadline)
    if difference is None:
        return "empty", extension.left_out()
    if extension.field.is_zero(difference):
        again = data.get("turned")
        if again is None:
            return "proved", extension.left_out()
        return "proved", common_exclusions(extension, replay_case(program, a, b, outcome, again, deadline))
    if extension.field.number(difference) is not None:
        return "apart", extension.left_out()
    shown = iter(data.get("parts", ()))
    any_zero = False
    for _, zero in sign_choices(extension, difference):
        answer = next(shown, None)
        proposed = None if answer is None else [number_from_json(w) for w in answer]
        if not zero and not empty(extension, lambda _k, _q, w=proposed: w):
            raise GiveUp("the difference is not zero in a part that may have points")
        any_zero = any_zero or zero
    if data.get("parts"):
        return "proved" if any_zero else "empty", extension.left_out()
    raise GiveUp("the difference is not zero")
