"""Decide a statement: try a few exact points, search for a proof, try more points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from symgrad.checker.check import FORMAT
from symgrad.checker.clock import is_late, now, stopwatch
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.proofs import has_sizes
from symgrad.checker.numbers import number_to_json, rational
from symgrad.checker.program.derivative import derivative_claim, gradient_claim
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.steps import ProofProgram, program_to_json
from symgrad.checker.witness import Witness, ball_text, is_defined_around
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import symbols_of
from symgrad.support.logs import info
from symgrad.verification.limits import DIGITS_TOLD, FIRST_POINTS, POINTS_BESIDE_PROOFS, POINTS_TOLD
from symgrad.verification.points.sampler import SamplePoint
from symgrad.verification.reporting.definedness import Side, undefined
from symgrad.verification.reporting.regions import regions_of, try_points
from symgrad.verification.search.induction import is_scalar, prove_equality, replay_data
from symgrad.verification.search.prove import Attempt
from symgrad.verification.search.refute import Outcome, refute
from symgrad.verification.search.schwartz_zippel import error_probability
from symgrad.verification.statement import guards, program_of
from symgrad.verification.verdict import Proof, Region, Undefined, Verdict


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with what its proof and its verdict need.

    Args:
        equality: the claim that two steps have equal values.
        source: the beginning of the proof: the program and the kind of statement.
        base: the program before differentiation, which the proof contains.
        nodes: both sides as nodes of the graph.
    """

    equality: Equality
    source: Mapping[str, Any]
    base: ProofProgram
    nodes: tuple[Node, Node]

    @property
    def scalar(self) -> bool:
        """Whether the program has no arrays."""
        return is_scalar(self.base)


def _claim(kind: str, a: Node, b: Node, sizes: Mapping[str, Size] | None, wrt: Node | None = None) -> Claim:
    program, (i, j, *able) = program_of([a, b, *guards([a, b])], [] if wrt is None else [wrt], sizes)
    source = {"kind": kind, "program": program_to_json(program), "a": i, "b": j}
    if wrt is None:
        found = Equality(program, i, j)
    else:
        source["wrt"] = wrt.name
        both = kind == "gradient"
        found = gradient_claim(program, i, j, wrt.name) if both else derivative_claim(program, i, wrt.name, j)
    return Claim(replace(found, defined=(*found.defined, *able)), source, program, (a, b))


def equal(a: Node, b: Node, sizes: Mapping[str, Size] | None = None) -> Claim:
    """Return the statement a = b, with named sizes replaced."""
    return _claim("equal", a, b, sizes)


def derivative_is(y: Node, wrt: Node, claim: Node, sizes: Mapping[str, Size] | None = None) -> Claim:
    """Return the statement that a claim is the derivative of y, with named sizes replaced."""
    return _claim("derivative", y, claim, sizes, wrt)


def same_gradient(a: Node, b: Node, wrt: Node, sizes: Mapping[str, Size] | None = None) -> Claim:
    """Return the statement that two values have the same gradient, with named sizes replaced."""
    return _claim("gradient", a, b, sizes, wrt)


def decide(statement: Claim, time_limit: float, *, simple: bool = False) -> Verdict:
    """Decide a statement.

    Args:
        statement: the claim.
        time_limit: in seconds.
        simple: whether to search for a witness with small arrays, instead of taking the first witness.
    """
    begun, took = now(), stopwatch()
    s = statement
    look = partial(refute, s.equality, simple=simple)
    # A proof must contain a point at which both sides are defined, and most false claims fail at one of the first
    # points.
    outcome = look(deadline=begun + 0.4 * time_limit, enough=FIRST_POINTS, finer=False)
    found = outcome.witness is not None
    # A short proof may still tell in which regions a refuted claim holds.
    soon = now() + 0.1 * time_limit
    until = soon if found else begun + 0.7 * time_limit
    attempt = prove_equality(s.equality, until)
    if not found and (attempt.thin or not attempt.proved):
        most = POINTS_BESIDE_PROOFS if attempt.proved else None
        outcome = look(deadline=begun + 0.95 * time_limit, finer=not attempt.proved, most=most)
    late = is_late(begun + 0.95 * time_limit)
    regions = _regions(s, attempt, outcome.witness, begun + time_limit)
    verdict = _judge(s, outcome, attempt, regions, late)
    if verdict.status == "proved" and outcome.tried > len(outcome.points):
        verdict = replace(verdict, undefined=_undefined(s, begun + time_limit))
    verdict = replace(verdict, seconds=took())
    info(
        "verdicts",
        "%s in %.2f s: %d of %d points compared, %s",
        verdict.status,
        verdict.seconds,
        len(outcome.points),
        outcome.tried,
        "a proof" if attempt.proved else f"no proof ({attempt.why or 'it differs somewhere'})",
    )
    return verdict


def _undefined(s: Claim, deadline: float) -> tuple[Undefined, ...]:
    """Return where one side is undefined although the other side is defined; empty for gradients."""
    if s.source["kind"] == "gradient":
        return ()
    names = (
        ("the derivative", "the claim")
        if s.source["kind"] == "derivative"
        else ("the first side", "the second side")
    )
    own = s.equality
    sides = Side(names[0], s.nodes[0], (own.a, *own.defined)), Side(names[1], s.nodes[1], (own.b,))
    return undefined(own, sides, deadline)


def _judge(s: Claim, outcome: Outcome, attempt: Attempt, regions: tuple[Region, ...], late: bool) -> Verdict:
    points = len(outcome.points)
    if outcome.witness is not None:
        return _refuted(s, outcome.witness, regions)
    if attempt.empty and not points:
        return Verdict("undecided", "the two sides are nowhere defined together")
    sample = _sample(s, outcome, attempt.excluded)
    if attempt.proved and sample is not None:
        return Verdict(
            "proved",
            "both sides have the same normal form wherever they are defined"
            + (", for all sizes" if has_sizes(s.base) else ""),
            excluded=attempt.excluded,
            points=points,
            digits=outcome.digits,
            proof=_proof(s, "proved", sample, attempt),
        )
    numbers = {case.number for case in attempt.cases}
    # A proof without exclusions is needed: at excluded points the difference may be 0, and the domain may have no other
    # points.
    if points and len(numbers) == 1 and None not in numbers and not attempt.excluded:
        return Verdict(
            "refuted",
            "the difference of the two sides has a normal form that is a number",
            witness=_readable(s, outcome.points[0].values, outcome.points[0].sizes),
            values=(_number_text(*numbers), "0"),
            proof=_proof(s, "apart", outcome.points[0], attempt),
        )
    left = (
        ", but perhaps both sides are defined only at points that the proof leaves out"
        if points and attempt.proved
        else ""
    )
    why = attempt.why or f"the normal forms are the same{left}"
    if outcome.precise and not outcome.out_of_time:
        return Verdict(
            "supported",
            f"equal to {outcome.digits} digits at {_points_text(outcome)}, no proof ({why})",
            regions,
            points=outcome.precise,
            digits=outcome.digits,
            error_probability=error_probability(s.equality.program, s.equality.a, s.equality.b),
        )
    reason = (
        "the time limit"
        if late or outcome.out_of_time
        else "the values could not be computed precisely enough"
        if points
        else _not_computed(outcome.tried)
    )
    return Verdict("undecided", f"{reason} ({why})", regions, points=points, digits=outcome.digits)


def _number_text(number: Fraction | None) -> str:
    """Return a number exactly, or as a ball if it is very long."""
    assert number is not None
    text = number_to_json(number)
    return text if len(text) <= DIGITS_TOLD else ball_text(rational(number))


def _not_computed(tried: int) -> str:
    if not tried:
        return "no point was tried: a domain has none, or an array has too many entries"
    where = f"at none of {tried} points" if tried > 1 else "not even at the only point"
    return f"{where} could both sides be computed: they may be undefined there, too large, or too close to a jump"


def _points_text(outcome: Outcome) -> str:
    """Return a text with the number of points and the sizes at them."""
    points = f"{outcome.precise} point{'s' * (outcome.precise != 1)}"
    sizes = list(dict.fromkeys(tuple(sorted(p.sizes.items())) for p in outcome.points if p.sizes))
    if not sizes:
        return points
    names = ", ".join(name for name, _ in sizes[0])
    several = len(sizes[0]) > 1
    values = sorted(tuple(n for _, n in row) for row in sizes)
    shown = [f"({', '.join(map(str, v))})" if several else str(*v) for v in values]
    more = f" and {len(shown) - POINTS_TOLD} others" if len(shown) > POINTS_TOLD else ""
    return f"{points} with {f'({names})' if several else names} = {', '.join(shown[:POINTS_TOLD])}{more}"


def _sample(s: Claim, outcome: Outcome, excluded: Sequence[str]) -> SamplePoint | None:
    """Return a point that shows that a proof is not vacuous.

    If the proof excludes points, both sides are defined around it.
    """
    if not excluded or not s.scalar:
        return next(iter(outcome.points), None)
    return next((p for p in outcome.points if is_defined_around(s.equality, p.values, p.sizes)), None)


def _proof(s: Claim, status: str, sample: SamplePoint, attempt: Attempt) -> Proof:
    return Proof(
        {
            **_head(s, status),
            **replay_data(attempt),
            "sample": {"point": point_to_json(sample.values), "sizes": dict(sample.sizes)},
        }
    )


def _refuted(s: Claim, witness: Witness, regions: tuple[Region, ...]) -> Verdict:
    found = {
        "point": point_to_json(witness.point),
        "sizes": dict(witness.sizes),
        "precision": witness.precision,
        "index": list(witness.index),
        "left": witness.left,
        "right": witness.right,
    }
    return Verdict(
        "refuted",
        "the two sides differ",
        regions,
        witness=_readable(s, witness.point, witness.sizes),
        values=(witness.left, witness.right),
        index=witness.index if s.equality.direction is None else _entry(witness.point[s.equality.direction]),
        proof=Proof({**_head(s, "refuted"), "witness": found}),
    )


def _readable(s: Claim, point: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the values of variables, and the sizes that are not the length of an axis of a variable."""
    seen = {n for symbol in s.equality.program.symbols for n in symbol.shape}
    values = {name: v for name, v in point.items() if name != s.equality.direction}
    return values | {name: n for name, n in sizes.items() if name not in seen}


def _entry(direction: Any) -> tuple[int, ...]:
    """Return the index of the nonzero entry of a unit direction."""
    array = np.array(direction, dtype=object)
    return next(index for index in np.ndindex(*array.shape) if array[index])


def _head(s: Claim, status: str) -> dict[str, Any]:
    return {"format": FORMAT, "status": status, **s.source}


def _regions(s: Claim, attempt: Attempt, witness: Witness | None, deadline: float) -> tuple[Region, ...]:
    """Return the regions in which the claim holds, if it is proved in some parts of the domain only."""
    some = any(c.result == "proved" or any(p.proved for p in c.parts) for c in attempt.cases)
    if not s.scalar or not some or (attempt.proved and witness is None):
        return ()
    points = try_points(s.equality, deadline)
    try:
        return regions_of(s.equality.program, symbols_of(s.nodes), attempt, points, witness, deadline)
    except GiveUp:
        return ()


def point_to_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert exact numbers to text, and arrays to nested lists."""

    def plain(x: Any) -> Any:
        if isinstance(x, bool):
            return x
        return [plain(e) for e in x] if isinstance(x, (list, tuple)) else number_to_json(x)  # pyright: ignore[reportUnknownVariableType]  (entries of nested lists)

    return {name: plain(x) for name, x in values.items()}
