"""The checker: replays a proof or a refutation that was written as JSON.

It trusts this package, python-flint and the program in the proof; not what found the proof. What it cannot replay
is no proof.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from symgrad.errors import UsageError
from symgrad.proof.balls import evaluate, inside, sizes_at
from symgrad.proof.complex_check import RealStatement, check_complex
from symgrad.proof.derivative import derivative_claim
from symgrad.proof.evaluate import branches, values
from symgrad.proof.field import Budget, Element, Field, GiveUp
from symgrad.proof.functions import Functions
from symgrad.proof.indexed import has_sizes, prove_equal, prove_gradient
from symgrad.proof.kernels import Contradiction, Refine
from symgrad.proof.limits import PRECISION
from symgrad.proof.merging import same
from symgrad.proof.parts import empty, parts
from symgrad.proof.replay import Replay
from symgrad.proof.shapes import check_shapes
from symgrad.proof.spots import contradicted
from symgrad.proof.steps import Program, number_from_json, program_from_json
from symgrad.proof.witness import Witness, all_around, apart, check_witness, known, pairs

__all__ = ["FORMAT", "MOST_KERNELS", "Checked", "check", "check_case", "covered", "point_from_json"]

FORMAT = 1
MOST_KERNELS = 4096
_SECONDS = 120.0
_BITS = 256
_DAMAGE = (
    *(AttributeError, LookupError, TypeError, ValueError, ArithmeticError, SyntaxError),
    *(RecursionError, MemoryError),
)
"""What reading a file that is no proof may raise."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a file proves.

    Args:
        status: ``proved``, ``refuted``, or ``supported`` if the proof does not hold.
        why: what is proved, or what is wrong with the proof.
        excluded: thin sets of points that a proof leaves out, as conditions.
    """

    status: str
    why: str
    excluded: tuple[str, ...] = ()


def replayed(
    program: Program, a: int, b: int, outcome: Mapping[int, bool], data: Mapping[str, Any], seconds: float
) -> tuple[Functions, Element | None]:
    """Evaluate both sides with the answers of a proof: the kernels and the difference, None if there are no points.

    Raises:
        GiveUp: if an answer is wrong or missing.
    """
    scales = {(str(kind), int(i)): int(by) for kind, i, by in data["scales"]}
    if not 0 < data["capacity"] <= MOST_KERNELS or any(by < 1 for by in scales.values()):
        raise GiveUp("numbers that cannot be")
    oracle = Replay(data["answers"], scales)
    kernels = Functions(Field(data["capacity"], Budget(time.monotonic() + seconds)), oracle)
    try:
        left, right = values(kernels, program, [a, b], outcome)
        return kernels, kernels.field.sub(left, right)
    except Contradiction:
        return kernels, None
    except Refine as finer:
        raise GiveUp(str(finer)) from finer


def covered(first: Functions, second: tuple[Functions, Element | None]) -> tuple[str, ...]:
    """What two proofs leave out together, the second with the only angle turned, so that no point is a pole of both.

    Raises:
        GiveUp: if the second is no such proof.
    """
    kernels, difference = second
    turned = kernels.oracle.scale("turned", 0) > 1 and first.oracle.scale("turned", 0) == 1
    if not turned or not len(first.poles) == len(kernels.poles) == len(kernels.angles) == 1:
        raise GiveUp("a second proof that turns no angle")
    quarter = kernels.field.scaled(kernels.pi(), Fraction(1, 4))
    back = kernels.field.fraction_text(kernels.field.add(kernels.angles[0][0], quarter))
    if len(first.angles) != 1 or "..." in back or back != first.field.fraction_text(first.angles[0][0]):
        raise GiveUp("a second proof that turns another angle")
    if difference is None or not kernels.field.is_zero(difference):
        raise GiveUp("a second proof that is none")
    (pole,) = first.poles
    return tuple(dict.fromkeys([*(c for c in first.left_out() if c != pole), *kernels.left_out_at(pole)]))


def check_case(
    program: Program, a: int, b: int, outcome: Mapping[int, bool], data: Mapping[str, Any], seconds: float
) -> tuple[str, tuple[str, ...]]:
    """Replay one case: ``proved``, ``empty``, or ``apart`` where the difference is a number; and what is left out.

    Raises:
        GiveUp: if it is neither.
    """
    kernels, difference = replayed(program, a, b, outcome, data, seconds)
    if difference is None:
        return "empty", kernels.left_out()
    if kernels.field.is_zero(difference):
        again = data.get("turned")
        if again is None:
            return "proved", kernels.left_out()
        return "proved", covered(kernels, replayed(program, a, b, outcome, again, seconds))
    if kernels.field.number(difference) is not None:
        return "apart", kernels.left_out()
    shown = iter(data.get("parts", ()))
    any_zero = False
    for _, zero in parts(kernels, difference):
        answer = next(shown, None)
        proposed = None if answer is None else [number_from_json(w) for w in answer]
        if not zero and not empty(kernels, lambda _k, _q, w=proposed: w):
            raise GiveUp("the difference is not zero in a part that may have points")
        any_zero = any_zero or zero
    if data.get("parts"):
        return "proved" if any_zero else "empty", kernels.left_out()
    raise GiveUp("the difference is not zero")


def point_from_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read the values of variables: numbers as text, truth values, nested lists."""

    def value(x: Any) -> Any:
        if isinstance(x, list):
            return [value(e) for e in cast("list[Any]", x)]
        return x if isinstance(x, bool) else number_from_json(x)

    return {str(name): value(x) for name, x in data.items()}


def check(data: Any) -> Checked:
    """Check a proof file.

    Args:
        data: what `json.load` read.

    Returns:
        What it proves.

    Raises:
        UsageError: if it is no proof file at all.
    """
    data = cast("dict[str, Any]", data if isinstance(data, dict) else {})
    if data.get("format") != FORMAT:
        raise UsageError(
            "this is not a proof file",
            expected=f'an object with "format": {FORMAT}',
            cure="make the proof anew",
        )
    try:
        if "domain" in data:
            return Checked(*check_complex(data, _sides(data)[0], _for_real_numbers))
        program, a, b, strict, defined = _statement(data)
        if data["status"] == "refuted":
            return _witness(program, a, b, strict, defined, data)
        return _cases(program, a, b, strict, defined, data)
    except (GiveUp, UsageError) as why:
        return Checked("supported", f"the proof does not hold: {why}")
    except TimeoutError:
        return Checked("supported", "the proof takes too long to check")
    except _DAMAGE as why:
        return Checked("supported", f"the proof cannot be read: {why!r}")


def _sides(data: Mapping[str, Any]) -> tuple[Program, int, int]:
    """The program, and the two steps that a file is about."""
    program = program_from_json(data["program"])
    a: int = data["a"]
    b: int = data["b"]
    if not all(type(i) is int and 0 <= i < len(program.steps) for i in (a, b)):
        raise UsageError("the proof is about steps that are not there")
    check_shapes(program)
    return program, a, b


def _statement(data: Mapping[str, Any]) -> tuple[Program, int, int, str | bool, tuple[int, ...]]:
    """The program, the two steps that are to be equal, by what one is differentiated, and what must be defined too."""
    program, a, b = _sides(data)
    if any(s.kind not in {"real", "int", "bool"} for s in program.symbols):
        raise UsageError("a variable that is no real number, integer or truth value")
    if program.steps[a].shape != program.steps[b].shape and data["kind"] == "equal":
        raise UsageError("the two sides have different shapes")
    if data["kind"] == "equal":
        return program, a, b, False, ()
    if data["kind"] != "derivative":
        raise UsageError(f"'{data['kind']}' is no kind of statement")
    made, tangent, claim, _ = derivative_claim(program, a, data["wrt"], b)
    check_shapes(made)
    return made, tangent, claim, data["wrt"], (a,)


def _for_real_numbers(statement: RealStatement, data: Mapping[str, Any]) -> None:
    """Check a proof for real numbers that is a part of one for complex ones."""
    _cases(*statement, {"status": "proved", "kind": "equal", **data})


def _cases(
    program: Program, a: int, b: int, strict: str | bool, defined: tuple[int, ...], data: Mapping[str, Any]
) -> Checked:
    if data["status"] == "proved" and same(program, a, b):
        return _at_sample(program, a, b, strict, defined, data, "the two sides are the same")
    if data.get("sizes") == "all":
        if data["status"] == "apart":
            raise GiveUp("that the two sides differ has another proof")
        i, j = data["a"], data["b"]
        base = program_from_json(data["program"])
        equal = data["kind"] == "equal"
        end = _deadline()
        if equal:
            left_out = prove_equal(base, i, j, deadline=end)
        else:
            left_out = prove_gradient(base, i, data["wrt"], j, deadline=end)
        why = "proved anew" + (" for all sizes" if has_sizes(base) else "")
        return _at_sample(program, a, b, strict, defined, data, why, left_out)
    cases = {tuple(sorted((int(i), bool(v)) for i, v in c["outcome"])): c for c in data["cases"]}
    found: list[str] = []
    excluded: list[str] = []
    pending: list[dict[int, bool]] = [{}]
    while pending:
        outcome = pending.pop()
        ways = branches(program, [a, b], outcome)
        if ways:
            pending += ways
            continue
        case = cases.get(tuple(sorted(outcome.items())))
        if case is None:
            raise GiveUp("a case is missing")
        result, left_out = check_case(program, a, b, outcome, case, _SECONDS)
        found.append(result)
        excluded += left_out
    wanted = "apart" if data["status"] == "apart" else "proved"
    if not {wanted} <= set(found) <= {wanted, "empty"}:
        raise GiveUp("the difference is not what is claimed in every case")
    if wanted == "apart" and excluded:
        raise GiveUp("the two sides may be defined only where nothing is claimed of their difference")
    return _at_sample(program, a, b, strict, defined, data, f"{len(found)} cases replayed", excluded)


def _at_sample(
    program: Program,
    a: int,
    b: int,
    strict: str | bool,
    defined: tuple[int, ...],
    data: Mapping[str, Any],
    why: str,
    excluded: Iterable[str] = (),
) -> Checked:
    """Accept what was proved if there is a point that it says something about."""
    sample = data["sample"]
    point, sizes = point_from_json(sample["point"]), dict(sample["sizes"])
    wanted = [a, b, *defined]
    if not _fits(program, point, sizes):
        raise GiveUp("a point that no variable may have")
    left, right, *rest = evaluate(
        program, point, precision=_BITS, sizes=sizes, strict=strict, wanted=wanted, deadline=_deadline()
    )
    both = pairs(left, right)
    if not known(rest) or not both:
        raise GiveUp("at the point that is given one of the two is not defined")
    if data["status"] != "apart" and any(apart(x, y) for _, x, y in both):
        raise GiveUp("at the point that is given the two sides differ")
    left_out = tuple(dict.fromkeys(excluded))
    if left_out and data.get("sizes") != "all" and not all_around(program, wanted, point, sizes, _deadline()):
        raise GiveUp("the point that is given may be one of those that are left out")
    if data["status"] == "apart":
        return Checked("refuted", why, left_out)
    # Integers may well lie in a thin set.
    surely_outside = not left_out or all(s.kind == "real" for s in program.symbols)
    if surely_outside and contradicted(program, a, b, strict=strict, defined=defined):
        raise GiveUp("the two sides differ at a point of the checker's own")
    return Checked("proved", why, left_out)


def _deadline() -> float:
    return time.monotonic() + _SECONDS


def _fits(program: Program, point: Mapping[str, Any], sizes: Mapping[str, Any]) -> bool:
    """Tell whether a point is in the declared domains, and every length with a name at least 1."""
    lengths = [*sizes.values(), *sizes_at(program, point).values()]
    return all(type(n) is int and n >= 1 for n in lengths) and inside(program, point, sizes)


def _witness(
    program: Program, a: int, b: int, strict: str | bool, defined: tuple[int, ...], data: Mapping[str, Any]
) -> Checked:
    found = data["witness"]
    witness = Witness(
        point_from_json(found["point"]),
        dict(found["sizes"]),
        int(found["precision"]),
        tuple(found["index"]),
        str(found["left"]),
        str(found["right"]),
    )
    if not 0 < witness.precision <= PRECISION:
        raise GiveUp("a precision that cannot be")
    if not _fits(program, witness.point, witness.sizes):
        raise GiveUp("a point that no variable may have")
    if not check_witness(program, a, b, witness, strict=strict, defined=defined, deadline=_deadline()):
        raise GiveUp("the two balls are not disjoint at the point that is given")
    return Checked("refuted", "two disjoint balls at the point that is given")
