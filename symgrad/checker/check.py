"""Replay a proof or a refutation from JSON, and report the statement that it proves.

The checker trusts this package, python-flint and the program in the file. It does not trust the search that found the
proof: a file that it cannot replay proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from symgrad.checker.balls.programs import in_domain, infer_sizes
from symgrad.checker.clock import now, tick, until
from symgrad.checker.complex.check import check_complex
from symgrad.checker.extension_field.cases import check_case
from symgrad.checker.extension_field.evaluate import branch_on_comparison
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.file.reader import check_structure
from symgrad.checker.file.statement import Statement, statement_of
from symgrad.checker.index_form.proofs import has_sizes, prove_equal
from symgrad.checker.induction.claims import Induction
from symgrad.checker.induction.closed_forms import ClosedForm, form_from_json
from symgrad.checker.induction.entries import entry_claims
from symgrad.checker.induction.shared_sums import with_free_sums
from symgrad.checker.induction.ties import at_each_step, needs_ties, outcome_claims, tie_claims
from symgrad.checker.limits import CHECK_SECONDS, REASON_CHARACTERS, SUM_ENDS
from symgrad.checker.numbers import number_from_json
from symgrad.checker.program.derivative import derivative_claim, gradient_claim
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.merge_steps import is_same_step
from symgrad.checker.program.names import terminal_text
from symgrad.checker.program.step_text import step_text
from symgrad.checker.program.steps import ProofProgram, program_from_json
from symgrad.checker.samples import differs_at_samples
from symgrad.checker.shapes import check_shapes
from symgrad.checker.witness import (
    Witness,
    certain_entries,
    disjoint,
    distinct_values,
    is_defined_around,
)
from symgrad.support.errors import UsageError

FORMAT = 1
_BITS = 256
_READ_ERRORS = (
    *(AttributeError, LookupError, TypeError, ValueError, ArithmeticError, SyntaxError),
    *(RecursionError, MemoryError),
)
"""Exceptions that reading a malformed file may raise."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of checking a proof file.

    Args:
        status: ``proved`` or ``refuted``; ``supported`` if the proof or the refutation does not hold.
        why: the reason for the status.
        excluded: thin sets of points at which the proof claims nothing, as conditions.
        statement: the claim of the file; None if it could not be read.
        difference: the witness of a refutation, with the values of both sides there.
        parts: the result of each proof, if the file contains several.
    """

    status: str
    why: str
    excluded: tuple[str, ...] = ()
    statement: Statement | None = None
    difference: Difference | None = None
    parts: tuple[CheckResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A point at which two sides differ.

    Args:
        point: values of the variables and lengths of the axes.
        index: the index of the entry that differs; () for numbers.
        values: the two sides at that point.
    """

    point: Mapping[str, Any]
    index: tuple[int, ...]
    values: tuple[str, str]


def point_from_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read the values of variables from JSON: numbers as text, truth values, nested lists."""

    def value(x: Any) -> Any:
        if isinstance(x, list):
            return [value(e) for e in cast("list[Any]", x)]
        return x if isinstance(x, bool) else number_from_json(x)

    return {str(name): value(x) for name, x in data.items()}


def check(data: Any, seconds: float = CHECK_SECONDS) -> CheckResult:
    """Check a proof file.

    Args:
        data: the content of the file; see `symgrad.checker.file.reader`.
        seconds: the time limit.

    Returns:
        The status of the claim, and the reason.

    Raises:
        UsageError: if the data is not a proof file.
    """
    check_structure(data)
    if data["kind"] == "several":
        return _check_all(data["proofs"], seconds)
    return _check_one(data, seconds)


def _check_all(proofs: Sequence[Mapping[str, Any]], seconds: float) -> CheckResult:
    """Check the proofs of a file one after the other, within one time limit."""
    deadline = now() + seconds
    parts = tuple(_check_one(p, max(0.0, deadline - now())) for p in proofs)
    failed = [k for k, part in enumerate(parts, 1) if part.status != "proved"]
    if failed:
        return CheckResult("supported", f"proof {failed[0]} of {len(parts)} does not hold", parts=parts)
    return CheckResult("proved", f"{len(parts)} statements", parts=parts)


def _check_one(data: Mapping[str, Any], seconds: float) -> CheckResult:
    statement = None
    deadline = now() + seconds
    with until(deadline):
        try:
            program, a, b = _read_sides(data)
            statement = statement_of(program, a, b, data.get("wrt"), both=data["kind"] == "gradient")
            found = _check_claim(program, a, b, data, deadline)
        except (GiveUp, UsageError) as why:
            text = f"{why.what}" if isinstance(why, UsageError) else str(why)
            found = CheckResult("supported", f"the proof does not hold: {text}")
        except TimeoutError:
            found = CheckResult("supported", f"the proof takes longer to check than {seconds:g} seconds")
        except _READ_ERRORS as why:
            found = CheckResult("supported", f"the proof cannot be read: {why!r}")
    return replace(found, why=terminal_text(found.why, REASON_CHARACTERS), statement=statement)


def _read_sides(data: Mapping[str, Any]) -> tuple[ProofProgram, int, int]:
    """Return the program, and the two steps about which the file makes a claim."""
    program = program_from_json(data["program"])
    a, b = data["a"], data["b"]
    if max(a, b) >= len(program.steps):
        raise UsageError("the proof is about steps that do not exist")
    if ("wrt" in data) != (data["kind"] in {"derivative", "gradient"}):
        raise UsageError("a claim about a derivative has 'wrt', and no other claim has it")
    complexes = [s for s in program.symbols if s.kind == "complex"]
    if bool(complexes) > ("domain" in data):
        raise UsageError("a variable that is not a real number, an integer or a truth value")
    check_shapes(program)
    return program, a, b


def _check_claim(
    program: ProofProgram, a: int, b: int, data: Mapping[str, Any], deadline: float
) -> CheckResult:
    if "domain" in data:
        return _check_complex(program, data, deadline)
    claim = _build_claim(program, a, b, data)
    if data["status"] == "refuted":
        return _check_witness(claim, data["witness"])
    return _check_sample(claim, data, *_replay(claim, data, deadline))


def _build_claim(program: ProofProgram, a: int, b: int, data: Mapping[str, Any]) -> Equality:
    if data["kind"] == "equal":
        if program.steps[a].shape != program.steps[b].shape:
            raise UsageError("the two sides have different shapes")
        return Equality(program, a, b)
    both = data["kind"] == "gradient"
    made = (
        gradient_claim(program, a, b, data["wrt"]) if both else derivative_claim(program, a, data["wrt"], b)
    )
    check_shapes(made.program)
    return made


def _check_complex(program: ProofProgram, data: Mapping[str, Any], deadline: float) -> CheckResult:
    def for_real_numbers(claim: Equality, part: Mapping[str, Any]) -> None:
        """Check the proof for real numbers that is part of a proof for complex numbers."""
        whole = {"status": "proved", **part}
        _check_sample(claim, whole, *_replay(claim, whole, deadline))

    status, why, excluded, at = check_complex(data, program, for_real_numbers, deadline)
    return CheckResult(status, why, excluded, difference=None if at is None else Difference(at[0], (), at[1]))


def _replay(claim: Equality, proof: Mapping[str, Any], deadline: float) -> tuple[str, Sequence[str]]:
    """Replay a proof that two steps are equal; return how it went, and the excluded points."""
    program, a, b = claim.program, claim.a, claim.b
    apart = proof.get("status") == "apart"
    if not apart and is_same_step(program, a, b):
        return "the two sides are the same", ()
    if "induction" in proof:
        return _replay_induction(program, a, b, proof["induction"], deadline)
    if "general" in proof:
        general = with_free_sums(claim)
        if general is None:
            raise GiveUp("the sides read no sum that both read")
        check_shapes(general.program)
        return _replay(general, proof["general"], deadline)
    if "outcomes" in proof:
        excluded = _replay_all(outcome_claims(claim), proof["outcomes"], deadline, every=True)
        return "both outcomes of a comparison", excluded
    if "entries" in proof:
        excluded = _replay_all(entry_claims(program, a, b), proof["entries"], deadline)
        return f"{len(proof['entries'])} entries replayed", excluded
    if proof.get("sizes") == "all":
        why = "proved anew" + (" for all sizes" if has_sizes(program) else "")
        return why, prove_equal(claim, deadline=deadline)
    cases = {tuple(sorted((int(i), bool(v)) for i, v in case["outcome"])): case for case in proof["cases"]}
    found: list[str] = []
    excluded: list[str] = []
    pending: list[dict[int, bool]] = [{}]
    while pending:
        tick()
        outcome = pending.pop()
        ways = branch_on_comparison(program, [a, b], outcome)
        if ways:
            pending += ways
            continue
        case = cases.get(tuple(sorted(outcome.items())))
        if case is None:
            raise GiveUp("a case is missing")
        result, left_out = check_case(program, a, b, outcome, case, deadline)
        found.append(result)
        excluded += left_out
    wanted = "apart" if apart else "proved"
    if not {wanted} <= set(found) <= {wanted, "empty"}:
        raise GiveUp("in some case the difference is not the claimed number")
    if apart and excluded:
        raise GiveUp("both sides may be defined only at points for which the proof claims nothing")
    return f"{len(found)} {'case' if len(found) == 1 else 'cases'} replayed", excluded


def _replay_induction(
    program: ProofProgram, a: int, b: int, proof: Mapping[str, Any], deadline: float
) -> tuple[str, Sequence[str]]:
    """Replay a proof by induction on the steps of recurrences: build its claims, and replay the proof of each."""
    induction, same = Induction(program), {int(i): int(j) for i, j in proof["same"]}
    symbols = {s.name: s for s in program.symbols}
    closed: dict[int, dict[int, ClosedForm]] = {}
    for form in proof.get("closed", ()):
        at, number = form["of"]
        closed.setdefault(at, {})[number] = made = form_from_json(form, symbols)
        check_shapes(made.program)
    claims: list[Equality] = []
    for found in induction.recurrences():
        if found.at in same:
            claims += induction.identify(found, same[found.at])
        else:
            claims += induction.keep(found, closed.get(found.at))
    ahead = proof.get("ahead", SUM_ENDS)
    claims += induction.side_claims(a, b, proof["terms"], proof.get("pairs", ()), ahead)
    excluded = _replay_all(claims, proof["proofs"], deadline, every=True)
    left_out = [*map(zero_condition, induction.zeros), *map(at_each_step, excluded)]
    return f"by induction, {len(claims)} claims", left_out


def zero_condition(claim: Equality) -> str:
    """Return the condition that a number is zero, which excludes few points.

    Raises:
        GiveUp: if the number may be zero everywhere.
    """
    if not differs_at_samples(claim):
        raise GiveUp("a closed form with a divisor, or the base of a power, that may be zero everywhere")
    return f"{step_text(claim.program, claim.a)} = 0".replace("+ -", "- ")


def _replay_all(
    claims: Sequence[Equality], proofs: Sequence[Mapping[str, Any]], deadline: float, *, every: bool = False
) -> list[str]:
    """Replay the proofs of claims; return the excluded points.

    Args:
        claims: the claims.
        proofs: the proof of each.
        deadline: on the clock of `symgrad.checker.clock`.
        every: whether they must hold for all values of their variables; then the proof of a claim is followed by
            those of the claims about ties in it that it excludes.
    """
    excluded: list[str] = []
    pending = list(claims)[::-1]
    for data in proofs:
        if not pending:
            raise GiveUp(f"the file has {len(proofs)} proofs, which is more than there are claims")
        claim = pending.pop()
        check_shapes(claim.program)
        _, left_out = _replay(claim, data, deadline)
        excluded += left_out
        # The values of a step may be those that the proof excludes, at each step.
        if every and "outcomes" not in data and needs_ties(claim, left_out):
            pending += tie_claims(claim)[::-1]
        if differs_at_samples(claim, thin=bool(left_out)):
            raise GiveUp("the two sides of a claim differ at a point of the checker's own")
    if pending:
        raise GiveUp(f"the file has {len(proofs)} proofs, which is less than there are claims")
    return excluded


def _check_sample(
    claim: Equality, data: Mapping[str, Any], why: str, excluded: Iterable[str] = ()
) -> CheckResult:
    """Accept a proof if the sample in the file is a point at which its claim holds."""
    point, sizes = point_from_json(data["sample"]["point"]), dict(data["sample"]["sizes"])
    if not _is_valid_point(claim.program, point, sizes):
        raise GiveUp("a point outside the declared domains")
    both = certain_entries(claim, point, sizes, precision=_BITS)
    if not both:
        raise GiveUp("at the given point one of the two sides is not defined")
    if data["status"] != "apart" and any(disjoint(x, y) for _, x, y in both):
        raise GiveUp("at the given point the two sides differ")
    left_out = tuple(dict.fromkeys(excluded))
    if left_out and data.keys() & {"cases", "entries"} and not is_defined_around(claim, point, sizes):
        raise GiveUp("the given point may be an excluded point")
    if data["status"] == "apart":
        return CheckResult("refuted", why, left_out)
    if differs_at_samples(claim, thin=bool(left_out)):
        raise GiveUp("the two sides differ at a point of the checker's own")
    return CheckResult("proved", why, left_out)


def _is_valid_point(program: ProofProgram, point: Mapping[str, Any], sizes: Mapping[str, int]) -> bool:
    """Tell whether a point lies in the declared domains, and every named length is at least 1."""
    if any(n < 1 for n in (*sizes.values(), *infer_sizes(program, point).values())):
        return False
    known = {s.name for s in program.symbols}, set(program.sizes)
    return point.keys() <= known[0] and sizes.keys() <= known[1] and in_domain(program, point, sizes)


def _check_witness(claim: Equality, found: Mapping[str, Any]) -> CheckResult:
    point, sizes = point_from_json(found["point"]), dict(found["sizes"])
    if not _is_valid_point(claim.program, point, sizes):
        raise GiveUp("a point outside the declared domains")
    witness = Witness(point, sizes, found["precision"], tuple(found["index"]), "", "")
    values = distinct_values(claim, witness)
    if values is None:
        raise GiveUp("at the given point the two balls are not disjoint")
    # For a derivative with respect to an array, a unit direction selects the entry.
    index, readable = witness.index, {**sizes, **point}
    direction = claim.direction
    if direction and (entry := _unit_direction_index(point[direction])) is not None:
        index = entry
        del readable[direction]
    why = "the two balls are disjoint at the given point"
    return CheckResult("refuted", why, difference=Difference(readable, index, values))


def _unit_direction_index(direction: Any) -> tuple[int, ...] | None:
    """Return the index at which a direction is 1, if it is a unit direction."""
    array = np.array(direction, dtype=object)
    places = [index for index in np.ndindex(*array.shape) if array[index]]
    return places[0] if len(places) == 1 and array[places[0]] == 1 else None
