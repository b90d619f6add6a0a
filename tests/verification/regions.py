"""What the regions of a verdict say, tried at points: each has one, that of the witness is refuted, proofs hold."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import symgrad as sg
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.program.steps import ProofProgram
from symgrad.errors import SymgradError
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import Node
from symgrad.verification.decide import Claim, derivative_is, equal
from symgrad.verification.statement import program_of
from symgrad.verification.verdict import Region

ATOMS = ("x", "x", "x", "y", "2", "-1", "1/2", "pi")
INNER = ("{0}", "{0} + {1}", "{0} - 1", "{0}*{1}", "{0}**2 - {1}", "2*{0}", "exp({0})", "1/{0}", "{0} - {1}")
HALF_TRUTHS = [
    ("abs({0})", "{0}"),
    ("sqrt(({0})**2)", "{0}"),
    ("sqrt(({0})**2)", "-({0})"),
    ("asin(sin({0}))", "{0}"),
    ("acos(cos({0}))", "{0}"),
    ("atan(tan({0}))", "{0}"),
    ("atan({0}) + atan(1/({0}))", "pi/2"),
    ("sign({0})", "1"),
    ("maximum({0}, {1})", "{0}"),
    ("minimum({0}, {1})", "{1}"),
    ("where({0} > {1}, {0}, {1})", "{0}"),
    ("where({0} <= 0, -({0}), {1})", "abs({0})"),
    ("where({0} == 1, {1}, {0})", "{0}"),
    ("log(({0})**2)", "2*log({0})"),
    ("abs(log({0}))", "log({0})"),
    ("abs(sin({0}))", "sin({0})"),
    ("asin(2*({0})/(1 + ({0})**2))", "2*atan({0})"),
    ("acos(1 - 2*({0})**2)", "2*asin({0})"),
    ("relu({0})", "{0}"),
    ("cbrt({0})**2", "abs({0})"),
    ("clip({0}, -1, 1)", "{0}"),
]
AROUND = (
    "{0}",
    "{0}",
    "({0})**2",
    "sin({0})",
    "{0} + x",
    "x*({0})",
    "exp({0})",
    "({0}) - ({1})",
    "atan({0})",
)


def half_truth(seed: int) -> tuple[str, str]:
    """Two formulas that are equal in a part of the domain, for most seeds; the same ones for the same seed."""
    rng = random.Random(seed)
    inner = [rng.choice(INNER).format(rng.choice(ATOMS), rng.choice(ATOMS)) for _ in range(2)]
    left, right = rng.choice(HALF_TRUTHS)
    around = rng.choice(AROUND)
    other = rng.choice(ATOMS)
    a, b = (around.format(side.format(*(f"({i})" for i in inner)), other) for side in (left, right))
    return a, b


def half_truths(seed: int, x: str = "real") -> list[Claim]:
    """Two statements on such formulas, that they are equal and that their derivatives are; none if they have none."""
    a, b = half_truth(seed)
    try:
        p = sg.parse(f"x : {x}\ny : real\na = {a}\nb = {b}")
        by = p["x"]
        return [
            equal(p["a"].node, p["b"].node),
            derivative_is(p["a"].node, by.node, sg.grad(p["b"], by).node),
        ]
    except SymgradError:
        return []


class Conditions:
    """Tells of regions which points lie in them.

    Args:
        inputs: the variables of a claim.
    """

    def __init__(self, inputs: Sequence[Node]) -> None:
        self._inputs = {s.name: s for s in inputs}
        self._programs: dict[str, tuple[ProofProgram, int]] = {}

    def hold(self, where: str, point: Mapping[str, Any]) -> bool | None:
        """Whether conditions hold at a point; None where that is not certain."""
        all_certain = [self._holds(c, point) for c in where.split(" and ")]
        return False if False in all_certain else None if None in all_certain else True

    def inside(self, region: Region, point: Mapping[str, Any]) -> bool | None:
        """Whether a point lies in a region, and not where its proof leaves it out."""
        if any(self.hold(e, point) is not False for e in region.excluded):
            return None
        return self.hold(region.where, point)

    def _holds(self, condition: str, point: Mapping[str, Any]) -> bool | None:
        if condition not in self._programs:
            text = condition.replace(" = ", " == ")
            text = re.sub(r"\|([^|]+)\|", r"abs(\1)", re.sub(r"log\|([^|]+)\|", r"log(abs(\1))", text))
            program, (at,) = program_of([parse_expression(text, self._inputs)])
            self._programs[condition] = program, at
        program, at = self._programs[condition]
        found = evaluate(program, point, precision=256, wanted=[at])[0]
        return found if isinstance(found, bool) else None
