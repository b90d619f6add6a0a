"""Search for a proof that two steps are equal, by induction where a program has recurrences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import Any

from symgrad.checker.check import zero_condition
from symgrad.checker.clock import now
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.proofs import prove_equal
from symgrad.checker.induction.claims import Induction, Pair, are_alike
from symgrad.checker.induction.entries import entry_claims
from symgrad.checker.induction.shared_sums import with_free_sums
from symgrad.checker.induction.ties import AT_A_STEP, at_each_step, needs_ties, outcome_claims, tie_claims
from symgrad.checker.induction.values import StepRecurrence
from symgrad.checker.program.equality import Equality, Tangents
from symgrad.checker.program.merge_steps import is_same_step
from symgrad.checker.program.scalar_derivatives import is_piecewise
from symgrad.checker.program.steps import ProofProgram
from symgrad.checker.samples import differs_at_samples
from symgrad.support.errors import UsageError
from symgrad.verification.limits import PAIRED_WAYS
from symgrad.verification.search.closed_forms import Forms, closed_forms, forms_to_json
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
        found = _prove_by_induction(claim, deadline)
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
    if first.data.keys() & {"induction", "entries", "sizes", "general", "outcomes"}:
        return first.data
    return {"cases": [c.data for c in attempt.cases]}


def _prove_by_induction(claim: Equality, deadline: float) -> Attempt:
    """Prove which recurrences have the same values, one after the other, and what is claimed of these values."""
    induction = Induction(claim.program)
    same: dict[int, int] = {}
    proofs: list[Attempt] = []
    try:
        for found in induction.recurrences():
            for known in [k for k in induction.known.values() if are_alike(k, found)]:
                own = _prove_all(induction.identify(found, known.at), deadline)
                if own is not None:
                    same[found.at] = known.at
                    proofs += own
                    break
            else:
                induction.keep(found)
        last = _prove_sides(induction, claim, deadline)
        if last is not None:
            return _attempt([*proofs, *last[1]], {"same": [[*pair] for pair in same.items()], **last[0]})
        forms = closed_forms(claim, lambda forms: _with_forms(claim, same, forms)[0])
        if forms:
            induction, claims = _with_forms(claim, same, forms)
            own, last = _prove_all(claims, deadline), _prove_sides(induction, claim, deadline)
            if own is not None and last is not None:
                data = {"same": [[*pair] for pair in same.items()], "closed": forms_to_json(forms), **last[0]}
                return _attempt([*own, *last[1]], data, [*map(zero_condition, induction.zeros)])
    except RecursionError:
        return Attempt((Case({}, "the formulas are too deep for a proof by induction"),))
    return Attempt((Case({}, "no proof by induction"),))


def _prove_sides(
    induction: Induction, claim: Equality, deadline: float
) -> tuple[Mapping[str, Any], list[Attempt]] | None:
    """Return the way in which both sides are compared, and the proofs; None if there are none."""
    tried: list[Sequence[Equality]] = []
    for way in _ways(list(induction.known.values()), claim.tangents):
        try:
            claims = induction.side_claims(claim.a, claim.b, **way)
        except UsageError:  # the sides are no sums over these steps
            continue
        found = None if claims in tried else _prove_all(claims, deadline)
        if found is not None:
            return way, found
        tried.append(claims)
    return None


def _with_forms(claim: Equality, same: Mapping[int, int], forms: Forms) -> tuple[Induction, list[Equality]]:
    """Return the induction in which some values have closed forms, and the claims of which it is made."""
    induction = Induction(claim.program)
    claims: list[Equality] = []
    for found in induction.recurrences():
        if found.at in same:
            claims += induction.identify(found, same[found.at])
        else:
            claims += induction.keep(found, {k: form for (at, k), form in forms.items() if at == found.at})
    return induction, claims


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
    return _composite("entries", [replay_data(p) for p in proofs], proofs)


def _attempt(proofs: Sequence[Attempt], data: Mapping[str, Any], left_out: Sequence[str] = ()) -> Attempt:
    excluded = [*left_out, *(at_each_step(e) for p in proofs for e in p.excluded)]
    whole = {"induction": {**data, "proofs": [dict(replay_data(p)) for p in proofs]}}
    # Both sides may be defined, and differ, at inputs that are excluded at all steps.
    thin = not all(e.endswith(AT_A_STEP) for e in excluded)
    return Attempt((Case({}, "proved", tuple(dict.fromkeys(excluded)), whole, thin=thin),))


def _ways(known: Sequence[StepRecurrence], tangents: Tangents | None) -> Iterator[dict[str, Any]]:
    """Yield how two values may be compared, as arguments of `Induction.side_claims`.

    By rows, or terms of sums, at the steps of a recurrence, perhaps summed by parts, or as they are.
    """
    lengths: dict[Any, list[StepRecurrence]] = {}
    for recurrence in known:
        lengths.setdefault(recurrence.steps, []).append(recurrence)
    for some in lengths.values():
        yield {"terms": some[0].at}
    yield {"terms": None}
    for some in lengths.values():
        for pairs in islice(_pairs(some, tangents), PAIRED_WAYS):
            for ahead in ({}, {"ahead": 1}, {"ahead": 0}):
                yield {"terms": some[0].at, "pairs": pairs, **ahead}


def _pairs(known: Sequence[StepRecurrence], tangents: Tangents | None) -> Iterator[list[Pair]]:
    """Yield ways to pair values of recurrences with those of recurrences that run the other way, of the same shape.

    The adjoints of the values of a claim are paired with the tangents, if there are any. An adjoint recurrence has
    the adjoints in the order of these values. Those that are not paired stand alone.
    """
    own = [r for r in known if (r.at >= tangents.first if tangents else not r.reverse)]
    left, right = (
        [(r, k) for r in some for k in range(len(r.shapes))]
        for some in (own[::-1], [r for r in known if r not in own])
    )
    for count in range(min(len(left), len(right)), -1, -1):
        for turned in (False, True):
            for some in combinations(left, count):
                alone = [[[r.at, k]] for r, k in left if (r, k) not in some]
                for pairs in _ways_to_pair(some, right):
                    yield [*([pair[::-1] for pair in pairs] if turned else pairs), *alone]


def _ways_to_pair(
    left: Sequence[tuple[StepRecurrence, int]], right: Sequence[tuple[StepRecurrence, int]]
) -> Iterator[list[Pair]]:
    """Yield the ways to pair each of some values with one of others."""
    if not left:
        yield []
        return
    (p, i), *rest = left
    for k, (q, j) in enumerate(right):
        if p.reverse != q.reverse and p.shapes[i] == q.shapes[j]:
            for more in _ways_to_pair(rest, [*right[:k], *right[k + 1 :]]):
                yield [[[p.at, i], [q.at, j]], *more]


def _prove_all(claims: Sequence[Equality], deadline: float) -> list[Attempt] | None:
    """Return a proof of each claim; None if one is not proved for all values of its variables."""
    found: list[Attempt] = []
    pending = list(claims)[::-1]
    while pending:
        claim = pending.pop()
        if not is_same_step(claim.program, claim.a, claim.b) and differs_at_samples(claim):
            return None
        proof = _prove_for_all(claim, deadline)
        if not proof.proved:
            return None
        found.append(proof)
        if "outcomes" not in replay_data(proof) and needs_ties(claim, proof.excluded):
            # The values of a recurrence may be those that the proof excludes, at each step.
            try:
                pending += tie_claims(claim)[::-1]
            except GiveUp:
                return None
    return found


def _prove_for_all(claim: Equality, deadline: float) -> Attempt:
    """Prove a claim; one about arrays also with variables for the sums that both sides read, or outcome by outcome."""
    end = now() + _SHARE * (deadline - now())
    general = None if is_scalar(claim.program) else with_free_sums(claim)
    if general is not None and not differs_at_samples(general):
        proof = prove_equality(general, end)
        if proof.proved:
            return _composite("general", replay_data(proof), [proof])
    proof = prove_equality(claim, end)
    if not proof.proved and not is_scalar(claim.program):
        proofs = _prove_all(outcome_claims(claim), deadline)
        if proofs:
            return _composite("outcomes", [replay_data(p) for p in proofs], proofs)
    return proof


def _composite(kind: str, data: Any, proofs: Sequence[Attempt]) -> Attempt:
    """Return a proof that is made of others."""
    excluded = tuple(dict.fromkeys(e for p in proofs for e in p.excluded))
    return Attempt((Case({}, "proved", excluded, {kind: data}, thin=any(p.thin for p in proofs)),))
