"""Decide a statement about complex numbers: try a few exact points, search for a proof, try more points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeAlias

from symgrad.checker.balls.programs import context
from symgrad.checker.check import FORMAT
from symgrad.checker.clock import is_late, now, stopwatch
from symgrad.checker.complex.balls import Value, ball, disjoint, distinct_texts, evaluate
from symgrad.checker.complex.check import real_statement
from symgrad.checker.complex.difference import difference
from symgrad.checker.complex.extension_field import ComplexExtensionField
from symgrad.checker.complex.gaussian import Gaussian
from symgrad.checker.complex.principal_branches import ComplexStatement, complex_statement, retype_symbols
from symgrad.checker.extension_field.extension import TooCoarse
from symgrad.checker.extension_field.field import FractionField, GiveUp, TooFewGenerators
from symgrad.checker.limits import COMPLEX_GENERATORS
from symgrad.checker.numbers import number_to_json
from symgrad.checker.program.steps import ProofProgram, program_to_json
from symgrad.checker.witness import is_defined_around
from symgrad.ir.graph import Node
from symgrad.support.errors import UsageError
from symgrad.verification.agreement import TOO_FEW, agreement
from symgrad.verification.limits import (
    COMPLEX_POINTS,
    FIRST_GENERATORS,
    FIRST_POINTS,
    POINTS_ENOUGH,
    RESTARTS,
)
from symgrad.verification.points.complex_points import complex_points
from symgrad.verification.search.prove import prove
from symgrad.verification.search.refute import refute
from symgrad.verification.search.steps import Search
from symgrad.verification.statement import program_of
from symgrad.verification.verdict import Proof, Verdict

_START = 64  # bits
_FINER = (12, 8, 4, 3)  # how many points are evaluated again at each doubling of the precision


def decide_complex(
    a: Node, b: Node, names: Sequence[str], time_limit: float, wrt: Node | None = None
) -> Verdict:
    """Decide for complex numbers whether two formulas are equal, or one is the derivative of the other.

    Args:
        a: one side; with ``wrt`` the function to differentiate.
        b: the other side; with ``wrt`` the claimed derivative.
        names: the complex variables; other variables are as declared.
        time_limit: in seconds.
        wrt: the variable of the derivative.

    Raises:
        UsageError: if the claim has no meaning for complex numbers.
    """
    begun, took = now(), stopwatch()
    program, (i, j) = program_of([a, b], [] if wrt is None else [wrt])
    program = retype_symbols(program, names)

    s = complex_statement(program, i, j, None if wrt is None else wrt.name)
    points = _Points(s, begun + 0.95 * time_limit)
    points.search(FIRST_POINTS)
    found: Verdict | str = ""
    if points.witness is None and points.on_a_cut is None:
        found = _prove(s, program, i, j, points, begun + 0.7 * time_limit)
    if isinstance(found, str):
        points.search(POINTS_ENOUGH)
        points.refine()
        found = _judge(points, found)
    if found.proof is None:
        return replace(found, seconds=took())
    kind = {"kind": "equal"} if wrt is None else {"kind": "derivative", "wrt": wrt.name}
    sides = {"program": program_to_json(program), "a": i, "b": j}
    data = {
        "format": FORMAT,
        "status": found.status,
        **kind,
        "domain": "complex",
        **sides,
        **found.proof.data,
    }
    return replace(found, proof=Proof(data), seconds=took())


# -------------------------------------------------------------------------------------------------------------- points


_Witness: TypeAlias = "tuple[Mapping[str, Gaussian], int, Value, Value]"


@dataclass(slots=True)
class _Points:
    """The search for a point at which the two sides differ.

    Args:
        statement: the claim.
        deadline: on the clock of `symgrad.checker.clock`.
    """

    statement: ComplexStatement
    deadline: float
    agreeing: dict[int, Mapping[str, Gaussian]] = field(default_factory=dict[int, Mapping[str, Gaussian]])
    unknown: dict[int, Mapping[str, Gaussian]] = field(default_factory=dict[int, Mapping[str, Gaussian]])
    digits: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    """Decimal digits to which the sides agree; None where both are exact."""
    witness: _Witness | None = None
    on_a_cut: _Witness | None = None
    """A point on a branch cut of a function at which the sides differ; a witness elsewhere is better."""
    tried: int = 0
    late: bool = False

    def search(self, enough: int) -> None:
        """Try points until ``enough`` of them agree, or one refutes."""
        for number, point in islice(enumerate(complex_points(self.statement.program)), self.tried, None):
            done = number >= COMPLEX_POINTS or len(self.agreeing) >= enough
            if done or not self._at(number, point, _START):
                return
            self.tried += 1

    def _is_on_a_cut(self, point: Mapping[str, Gaussian], precision: int) -> bool:
        """Tell whether a point is on a branch cut; derivatives are undefined there anyway."""
        s = self.statement
        names = [d.name for d in s.program.symbols if d.kind == "complex" and s.wrt is None]
        return any(
            None in evaluate(s.program, point, precision=precision, wanted=[s.a, s.b], wrt=name)
            for name in names
        )

    def refine(self) -> None:
        """Evaluate some points again with more bits."""
        precision = _START
        for several in _FINER:
            precision *= 2
            loose = [k for k, d in self.digits.items() if d is not None][:several]
            again = {k: self.agreeing[k] for k in loose} | dict(list(self.unknown.items())[:several])
            if not all(self._at(k, point, precision) for k, point in again.items()):
                return

    def _at(self, number: int, point: Mapping[str, Gaussian], precision: int) -> bool:
        """Evaluate both sides at a point; tell whether the search should go on."""
        s = self.statement
        if self.witness is not None:
            return False
        try:
            left, right, *rest = evaluate(
                s.program,
                point,
                precision=precision,
                wanted=[s.a, s.b, *s.defined],
                wrt=s.wrt,
                deadline=self.deadline,
            )
        except TimeoutError:
            self.late = True
            return False
        if left is None or right is None or None in rest:
            self.unknown.setdefault(number, point)
            return not self._is_late()
        with context.workprec(precision):
            if disjoint(left, right):
                found = point, precision, left, right
                if not self._is_on_a_cut(point, precision):
                    self.witness = found
                    return False
                self.on_a_cut = self.on_a_cut or found
                return not self._is_late()
            self.digits[number] = _digits(left, right, precision)
        self.agreeing[number] = point
        self.unknown.pop(number, None)
        return not self._is_late()

    def _is_late(self) -> bool:
        self.late = self.late or is_late(self.deadline)
        return self.late


def _digits(x: Value, y: Value, precision: int) -> int | None:
    """Return the number of decimal digits to which two overlapping values agree.

    The result is None if they are exact (and so equal).
    """
    if type(x) is Gaussian and type(y) is Gaussian:
        return None
    x, y = ball(x), ball(y)
    gap, size = abs(x - y).abs_upper(), abs(x).abs_lower()
    return agreement(gap, size, precision) if gap > 0 else None


# -------------------------------------------------------------------------------------------------------------- proofs


def _prove(
    s: ComplexStatement, program: ProofProgram, a: int, b: int, points: _Points, deadline: float
) -> Verdict | str:
    """Return a verdict with a proof, or the reason why there is none."""
    found = search_branches(s, deadline)
    if isinstance(found, str):
        real = _for_real_numbers(program, a, b, s.wrt, deadline)
        if real is None:
            return found
        found = {"real": real}, s.cuts, "equal for real numbers, and both sides are meromorphic"
    if not points.agreeing:
        points.search(1)
    if not points.agreeing:
        return "no point was found at which both sides are defined"
    data, excluded, why = found
    sample = {"point": {name: z.to_json() for name, z in next(iter(points.agreeing.values())).items()}}
    return Verdict(
        "proved",
        why,
        excluded=excluded,
        points=len(points.agreeing),
        digits=_fewest(points),
        proof=Proof({**data, "sample": sample}),
    )


def search_branches(
    s: ComplexStatement, deadline: float
) -> tuple[dict[str, Any], tuple[str, ...], str] | str:
    """Search for a proof with generators such as exp.

    Return its JSON, excluded conditions and a reason, or why there is none.
    """
    scales: dict[tuple[str, int], int] = {}
    capacity = FIRST_GENERATORS
    for _ in range(RESTARTS):
        search = Search(scales)
        try:
            kernels = ComplexExtensionField(FractionField(capacity, deadline), search)
            gap, excluded = difference(kernels, s)
        except TooFewGenerators:
            capacity *= 2
            if capacity > COMPLEX_GENERATORS:
                return "the search stopped: the formulas contain too many independent functions"
        except TooCoarse as finer:
            scales[finer.key] = scales.get(finer.key, 1) * finer.by
        except GiveUp as why:
            return f"the search stopped: {why}"
        else:
            if not kernels.field.is_zero(gap):
                return "the normal form of the difference is not 0"
            listed = [[*key, by] for key, by in scales.items()]
            data = {"capacity": capacity, "scales": listed, "answers": search.answers}
            return {"branches": data}, excluded, "both sides have the same normal form for complex numbers"
    return "the search stopped: it would need exp(u/n) and roots for ever larger n"


def _for_real_numbers(
    program: ProofProgram, a: int, b: int, wrt: str | None, deadline: float
) -> dict[str, Any] | None:
    """Return the JSON of a proof for real variables; None if there is none, or it does not prove the complex claim."""
    try:
        claim = real_statement(program, a, b, wrt)
    except (GiveUp, UsageError):
        return None
    attempt = prove(claim.program, claim.a, claim.b, deadline)
    if not attempt.proved:
        return None
    outcome = refute(claim, deadline=deadline, enough=FIRST_POINTS, finer=False)
    inner = (p for p in outcome.points if is_defined_around(claim, p.values, p.sizes))
    sample = next(inner, None)
    if outcome.witness is not None or sample is None:
        return None
    point = {name: number_to_json(value) for name, value in sample.values.items()}
    return {"cases": [c.data for c in attempt.cases], "sample": {"point": point, "sizes": {}}}


# ------------------------------------------------------------------------------------------------------------ verdicts


def _fewest(points: _Points) -> int | None:
    found = [d for d in points.digits.values() if d is not None]
    precise = [d for d in found if d >= TOO_FEW]
    return min(precise or found, default=int(_START * 0.30103)) if points.digits else None


def _judge(points: _Points, why: str) -> Verdict:
    """Return the verdict of the points, without a proof; ``why`` tells why there is no proof."""
    witness = points.witness or points.on_a_cut
    if witness is not None:
        point, precision, left, right = witness
        with context.workprec(precision):
            sides = distinct_texts(left, right)
        found = {
            "point": {name: z.to_json() for name, z in point.items()},
            "precision": precision,
            "left": sides[0],
            "right": sides[1],
        }
        return Verdict(
            "refuted",
            "the two sides differ" + ("" if points.witness else ", at points on branch cuts"),
            witness=dict(point),
            values=sides,
            proof=Proof({"witness": found}),
        )
    agreeing, digits = len(points.agreeing), _fewest(points)
    if digits is not None and digits >= TOO_FEW and not points.late:
        return Verdict(
            "supported",
            f"equal to {digits} digits at {agreeing} complex points, no proof ({why})",
            points=agreeing,
            digits=digits,
        )
    if points.late:
        reason = "the time limit"
    elif agreeing:
        reason = "the values could not be computed precisely enough"
    else:
        reason = f"at none of {points.tried} points are both sides defined"
    return Verdict("undecided", f"{reason} ({why})", points=agreeing, digits=digits)
