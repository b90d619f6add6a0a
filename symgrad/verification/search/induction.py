"""Search for a proof that two steps are equal, by induction where a program has recurrences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice, permutations
from typing import Any

from symgrad.checker.clock import now
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.proofs import prove_equal
from symgrad.checker.induction.claims import Induction, Pair, are_alike
from symgrad.checker.induction.entries import entry_claims
from symgrad.checker.induction.values import StepRecurrence
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.merge_steps import is_same_step
from symgrad.checker.program.scalar_derivatives import is_piecewise
from symgrad.checker.program.steps import ProofProgram
from symgrad.checker.samples import differs_at_samples
from symgrad.support.errors import UsageError
from symgrad.verification.limits import PAIRED_WAYS
from symgrad.verification.search.prove import SAME, Attempt, Case, prove

_SHARE = 0.7
"""The share of the time left that the search for the proof of one claim may take."""


def has_recurrences(program: ProofProgram) -> bool:
    """Tell whether a program has recurrences."""
    return any(s.op == "recurrence" for s in program.steps)


def is_scalar(program: ProofProgram) -> bool:
    """Tell whether a program has no arrays and no lengths."""
    return not any(s.shape or s.op == "size" for s in program.steps)


def prove_equality(claim: Equality, deadline: float) -> Attempt:
    """Try to prove that two steps are equal wherever both are defined, except on listed thin sets.

    Args:
        claim: the claim.
        deadline: on the clock of `symgrad.checker.clock`.
    """
    program, a, b = claim.program, claim.a, claim.b
    if is_same_step(program, a, b):
        return SAME
    if has_recurrences(program):
        found = _prove_by_induction(program, a, b, deadline)
        return found if found.proved else _prove_entries(program, a, b, deadline) or found
    if is_scalar(program):
        return prove(program, a, b, deadline)
    try:
        left_out = prove_equal(claim, deadline=deadline)
    except GiveUp as why:
        return Attempt((Case({}, f"the search stopped: {why}"),))
    # If no step selects, a side is undefined at every excluded point, so that the sides cannot differ there. So is a
    # derivative where a step of its own selects.
    own = replace(program, steps=program.steps[: claim.tangents.first]) if claim.tangents else program
    thin = bool(left_out) and is_piecewise(own)
    return Attempt((Case({}, "proved", left_out, {"sizes": "all"}, thin=thin),))


def replay_data(attempt: Attempt) -> Mapping[str, Any]:
    """Return what the checker needs to replay a proof."""
    (first, *_) = attempt.cases
    if first.data.keys() & {"induction", "entries", "sizes"}:
        return first.data
    return {"cases": [c.data for c in attempt.cases]}


def _prove_by_induction(program: ProofProgram, a: int, b: int, deadline: float) -> Attempt:
    """Prove which recurrences have the same values, one after the other, and what is claimed of these values."""
    induction = Induction(program)
    same: list[tuple[int, int]] = []
    proofs: list[Attempt] = []
    try:
        for found in induction.recurrences():
            for known in [k for k in induction.known.values() if are_alike(k, found)]:
                own = _prove_all(induction.identify(found, known.at), deadline)
                if own is not None:
                    same.append((found.at, known.at))
                    proofs += own
                    break
            else:
                induction.keep(found)
        known = list(induction.known.values())
        for terms, pairs in _ways(known):
            last = _prove_sides(induction, a, b, terms, pairs, deadline)
            if last is not None:
                return _attempt([*proofs, *last], same, terms, pairs)
    except RecursionError:
        return Attempt((Case({}, "the formulas are too deep for a proof by induction"),))
    return Attempt((Case({}, "no proof by induction"),))


def _prove_entries(program: ProofProgram, a: int, b: int, deadline: float) -> Attempt | None:
    """Prove that all entries are equal, where all lengths are numbers; None if they cannot be written as formulas."""
    try:
        claims = entry_claims(program, a, b)
    except GiveUp:
        return None
    proofs: list[Attempt] = []
    for claim in claims:
        proofs.append(prove_equality(claim, now() + _SHARE * (deadline - now())))
        if not proofs[-1].proved:
            return None
    excluded = tuple(dict.fromkeys(e for p in proofs for e in p.excluded))
    data = {"entries": [dict(replay_data(p)) for p in proofs]}
    return Attempt((Case({}, "proved", excluded, data, thin=any(p.thin for p in proofs)),))


def _attempt(
    proofs: Sequence[Attempt], same: Sequence[tuple[int, int]], terms: int | None, pairs: Sequence[Pair]
) -> Attempt:
    data: dict[str, Any] = {
        "same": [list(pair) for pair in same],
        "terms": terms,
        **({"pairs": pairs} if pairs else {}),
        "proofs": [dict(replay_data(p)) for p in proofs],
    }
    excluded = tuple(dict.fromkeys(f"{e} at a step" for p in proofs for e in p.excluded))
    return Attempt((Case({}, "proved", excluded, {"induction": data}),))


def _ways(known: Sequence[StepRecurrence]) -> Iterator[tuple[int | None, Sequence[Pair]]]:
    """Yield how two values may be compared.

    By rows, or terms of sums, at the steps of a recurrence, perhaps summed by parts, or as they are.
    """
    lengths: dict[Any, list[StepRecurrence]] = {}
    for recurrence in known:
        lengths.setdefault(recurrence.steps, []).append(recurrence)
    for some in lengths.values():
        yield some[0].at, ()
    yield None, ()
    for some in lengths.values():
        for pairs in islice(_pairs(some), PAIRED_WAYS):
            yield some[0].at, pairs


def _pairs(known: Sequence[StepRecurrence]) -> Iterator[list[Pair]]:
    """Yield ways to pair values of recurrences that run forward with those that run back, of the same shape each.

    An adjoint recurrence has, in their order, the adjoints of the values whose tangents are paired with them.
    """
    forward, back = (
        [([r.at, k], shape) for r in known if r.reverse == way for k, shape in enumerate(r.shapes)]
        for way in (False, True)
    )
    for count in range(min(len(forward), len(back)), 0, -1):
        for left in combinations(forward[::-1], count):
            for right in permutations(back, count):
                if all(x == y for (_, x), (_, y) in zip(left, right, strict=True)):
                    yield [[p, q] for (p, _), (q, _) in zip(left, right, strict=True)]
                    yield [[q, p] for (p, _), (q, _) in zip(left, right, strict=True)]


def _prove_sides(
    induction: Induction, a: int, b: int, terms: int | None, pairs: Sequence[Pair], deadline: float
) -> list[Attempt] | None:
    try:
        return _prove_all(induction.side_claims(a, b, terms, pairs), deadline)
    except UsageError:  # they are no sums over these steps
        return None


def _prove_all(claims: Sequence[Equality], deadline: float) -> list[Attempt] | None:
    """Return a proof of each claim; None if one is not proved for all values of its variables."""
    found: list[Attempt] = []
    for claim in claims:
        if not is_same_step(claim.program, claim.a, claim.b) and differs_at_samples(claim):
            return None
        proof = prove_equality(claim, now() + _SHARE * (deadline - now()))
        # The values of a recurrence may be those that the proof excludes, at each step.
        if not proof.proved or (proof.excluded and is_piecewise(claim.program)):
            return None
        found.append(proof)
    return found
