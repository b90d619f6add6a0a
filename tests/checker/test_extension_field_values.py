"""Kernels as numbers at points: every relation, bound and fraction that a proof is made of is true there."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest

from symgrad.checker.balls.programs import context, evaluate
from symgrad.checker.balls.scalar_ops import ball, number
from symgrad.checker.clock import now
from symgrad.checker.complex.balls import ball as complex_ball
from symgrad.checker.complex.balls import evaluate as evaluate_complex
from symgrad.checker.complex.difference import difference
from symgrad.checker.complex.extension_field import ComplexExtensionField
from symgrad.checker.complex.gaussian import Gaussian
from symgrad.checker.complex.principal_branches import ComplexStatement
from symgrad.checker.extension_field.evaluate import branch_on_comparison, evaluate_steps, reachable_steps
from symgrad.checker.extension_field.extension import Contradiction, TooCoarse
from symgrad.checker.extension_field.field import FractionField, GiveUp, TooFewGenerators
from symgrad.checker.extension_field.functions import Functions
from symgrad.checker.numbers import flint
from symgrad.checker.program.steps import ProofProgram
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.verification.points.complex_points import complex_points
from symgrad.verification.search.steps import Search
from symgrad.verification.statement import program_of
from tests.checker.extension_field_values import (
    MP,
    Numbers,
    close,
    exact,
    of_complex,
    of_reals,
    principal_log,
)
from tests.graphs import inputs, random_graph
from tests.ops.cases import STATED, Case
from tests.verification.statements import FALSE, TRUE, equality, random_pair
from tests.verification.test_complex import AROUND, INNER, LAWS, is_left_out, named


def made(compute: Callable[[FractionField, Search], Any]) -> Any:
    """What is computed in a field with room enough and kernels fine enough; None if that is given up."""
    scales: dict[tuple[str, int], int] = {}
    capacity = 16
    for _ in range(20):
        try:
            return compute(FractionField(capacity, now() + 2), Search(scales))
        except TooFewGenerators:
            capacity *= 2
        except TooCoarse as finer:
            scales[finer.key] = scales.get(finer.key, 1) * finer.by
        except GiveUp:
            break
    return None


def accurate(value: Any) -> bool:
    """Whether a ball is so narrow that not much was lost on the way to it."""
    with context.workprec(200):
        z = complex_ball(value) if isinstance(value, Gaussian) else flint.acb(ball(number(value)))
        return bool(z.real.rad() + z.imag.rad() <= abs(z).lower() * flint.arb(2) ** -120)


def middle(value: Any) -> Any:
    """The number that a ball is about, as one of mpmath's."""
    with context.workprec(200):
        man, exp = ball(number(value)).mid().man_exp()
        return MP.ldexp(MP.mpf(int(man)), int(exp))


def vanish(at: Numbers, polynomials: Sequence[Any]) -> list[Any]:
    """Those that are zero."""
    return [h for h in polynomials if close(0, *at.sized(h))]


def relations_hold(at: Numbers) -> None:
    F = at.field
    for position, degree, h in F.relations:
        assert vanish(at, [h]), F.text(h)
        assert h.degrees()[position] == degree


# ---------------------------------------------------------------------------------------------------------------- real


def kernels_of(program: ProofProgram, outputs: Sequence[int], outcome: Mapping[int, bool]) -> Any:
    """The kernels of a case, and the outputs in them, None if no point has the outcome."""

    def compute(field: FractionField, search: Search) -> Any:
        k = Functions(field, search)
        try:
            return k, evaluate_steps(k, program, outputs, outcome)
        except Contradiction:
            return k, None

    return made(compute)


def random_points(program: ProofProgram, rng: random.Random, count: int) -> Iterator[dict[str, Fraction]]:
    for _ in range(count):
        point: dict[str, Fraction] = {}
        for s in program.symbols:
            low = rng.choice([Fraction(-3), Fraction(0)]) if s.low is None else s.low
            high = low + rng.choice([1, 5]) if s.high is None else s.high
            if s.kind == "int":
                point[s.name] = Fraction(rng.randint(-4, 4))
            elif s.low is s.high and rng.random() < 0.3:
                point[s.name] = Fraction(rng.randint(-6, 6), 2)
            else:
                point[s.name] = low + (high - low) * Fraction(rng.randrange(1, 997), 997)
        yield point


def check(program: ProofProgram, outputs: Sequence[int], rng: random.Random, count: int = 6) -> int:
    """Compare kernels with balls at points where the outputs are defined; return at how many."""
    cases: list[tuple[dict[int, bool], Any]] = []
    pending: list[dict[int, bool]] = [{}]
    while pending and len(cases) < 9:
        outcome = pending.pop()
        ways = branch_on_comparison(program, outputs, outcome)
        pending += ways
        if not ways and (found := kernels_of(program, outputs, outcome)) is not None:
            cases.append((outcome, found))
    met = 0
    for point in random_points(program, rng, count):
        known = evaluate(program, point, precision=200)
        for outcome, (k, elements) in cases:
            sides = [[known[a] for a in program.steps[i].args] for i in outcome]
            if (
                all(known[i] is not None for i in reachable_steps(program, outputs, outcome))
                and all(known[i] is way for i, way in outcome.items())
                and not any(ball(a) == ball(b) for a, b in sides)
            ):
                met += holds(k, elements, [known[o] for o in outputs], point)
    return met


def holds(k: Functions, elements: Any, wanted: Sequence[Any], point: Mapping[str, Fraction]) -> bool:
    """Compare at a point; False if nothing is said of it."""
    F = k.field
    if any("is an integer" in c for c in k.assumed) and any(v.denominator == 1 for v in point.values()):
        return False
    try:
        at = of_reals(k, {name: exact(v) for name, v in point.items()})
    except (ZeroDivisionError, ValueError):
        return False
    if not all(MP.isfinite(v) and MP.im(v) == 0 for v in at.known.values()):
        return False
    zero = vanish(at, F.factors)
    assert not any(k.never_zero(h) for h in zero), point
    if zero or vanish(at, [h for _, h in k.signs]):
        return False
    assert elements is not None, point
    relations_hold(at)
    for position, (low, high) in k.bounds.items():
        if position in at.known:
            assert low is None or at.known[position] >= exact(low), (F.names, point)
            assert high is None or at.known[position] <= exact(high), (F.names, point)
    for a, value in k.exps:
        assert close(at.element(value), MP.exp(at.element(a)))
    for b, value in k.angles:
        assert close(at.element(value), MP.tan(at.element(b)), abs(at.element(value)) ** 2)
    for atom in k.atoms:
        assert close(at.element(atom.sign), MP.sign(at.element(atom.value)))
    for element, value in zip(elements, wanted, strict=True):
        if accurate(value):
            assert close(at.element(element), middle(value)), (F.fraction_text(element), point)
    return True


@pytest.mark.parametrize("row", range(len(TRUE) + len(FALSE)))
def test_statements(row: int) -> None:
    s = equality(*[*TRUE, *FALSE][row])
    check(s.equality.program, [s.equality.a, s.equality.b], random.Random(row), 12)


WAYS: Sequence[Callable[[Any], Any]] = (
    lambda x: x + 1,
    lambda x: x - 2,
    lambda x: -x,
    lambda x: 3 * x,
    lambda x: x / 2,
    lambda x: 1 / x,
    lambda x: x * x,
    lambda _: as_node(1),
    lambda _: as_node(0),
    lambda _: as_node(Fraction(5, 2)),
)


@pytest.mark.parametrize(
    "case", [c for c in STATED if c.node.dtype != "bool" and c.op.name != "where"], ids=str
)
def test_ops_beside_themselves(case: Case) -> None:
    """An op of two arguments in one program: by sums, multiples and signs one follows from the other."""
    rng = random.Random(str(case))
    met = 0
    for x in case.symbols:
        for way in WAYS:
            changed: Node = substitute([case.node], {x: way(x)})[0]
            alone = x not in symbols_of([changed])
            program, outputs = program_of([changed] if alone else [case.node, changed], case.symbols)
            # Of polylogarithms mpmath takes long.
            met += check(program, outputs, rng, 1 if case.op.name == "polylog" and not alone else 5)
    assert met >= 2


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    symbols = inputs(2)
    program, outputs = program_of([random_graph(seed, symbols, size=5)], symbols)
    check(program, outputs, random.Random(seed))


@pytest.mark.parametrize("block", range(6))
def test_careless_laws(block: int) -> None:
    met = 0
    for seed in range(15 * block, 15 * block + 15):
        s = equality(*random_pair(seed))
        met += check(s.equality.program, [s.equality.a, s.equality.b], random.Random(seed))
    assert met >= 10


# ------------------------------------------------------------------------------------------------------------- complex


def branches_of(s: ComplexStatement) -> Any:
    """The complex kernels of a statement, the difference of its sides in them, and what they leave out."""

    def compute(field: FractionField, search: Search) -> Any:
        k = ComplexExtensionField(field, search)
        return k, *difference(k, s)

    return made(compute)


def complex_middle(value: Any) -> Any:
    with context.workprec(200):
        z = complex_ball(value)
        return MP.mpc(middle(z.real), middle(z.imag))


def check_complex(s: ComplexStatement, rng: random.Random, count: int = 8) -> int:
    """Compare complex kernels with balls at points where both sides are defined; return at how many."""
    found = branches_of(s)
    if found is None:
        return 0
    k, gap, conditions = found
    excluded = [re.sub(r"\bi\b", "sqrt(-1)", c) for c in conditions]
    met = 0
    points = list(islice(complex_points(s.program), 60))
    for point in rng.sample(points, min(count, len(points))):
        left, right = evaluate_complex(s.program, point, precision=200, wanted=[s.a, s.b])
        if left is None or right is None or is_left_out(excluded, point):
            continue
        try:
            at = of_complex(k, {name: complex_middle(z) for name, z in point.items()})
        except (ZeroDivisionError, ValueError):
            continue
        if vanish(at, k.field.factors):
            continue
        met += 1
        relations_hold(at)
        for position, (base, r) in [*k.positive.items(), *k.roots.items()]:
            log = MP.mpf(1) if base < 0 else principal_log(at.element(k.bases[base].value))
            assert close(at.known[position], MP.exp(log * exact(r)))
            assert position not in k.positive or close(MP.im(log), 0), k.field.names
        sides = [complex_middle(v) for v in (left, right)]
        if accurate(left) and accurate(right):
            assert close(at.element(gap), sides[0] - sides[1], abs(sides[0])), (
                k.field.fraction_text(gap),
                point,
            )
    return met


@pytest.mark.parametrize("block", range(8))
def test_careless_complex_laws(block: int) -> None:
    rng = random.Random(block)
    met = 0
    for _ in range(20):
        law, around = rng.choice(LAWS), rng.choice(AROUND)
        parts = {"a": rng.choice(INNER), "b": rng.choice(INNER)}
        a, b = (around.format(side.format(**parts)) for side in law)
        met += check_complex(named(a, b), rng)
    assert met >= 20


CLOSED = ["(-8)**(1/3)", "exp(sqrt(-1)*pi/4)*2**(3/4)", "cos(pi/5)*sqrt(5)", "sin(pi/7)*sqrt(7)", "cos(pi/12)*sqrt(6)",
          "sqrt(2)*sqrt(3)", "(-2)**(1/3)*2**(1/6)", "sqrt(-3)*exp(2*sqrt(-1)*pi/3)", "log(-1)*sqrt(2)", "(2/3)**(1/4)",
          "sqrt(11)*sin(pi/11)", "log(2)**(1/3)*log(3)", "sqrt(pi)*exp(1)**(1/3)",
          "log(exp(2*pi*sqrt(-1)/3))", "5**(1/3)*cos(pi/5)",
          "2**(1/3)*exp(sqrt(-1)*pi/4)"]  # fmt: skip


@pytest.mark.parametrize("text", CLOSED)
def test_complex_numbers_without_variables(text: str) -> None:
    assert check_complex(named(f"({text})*z", "z*sqrt(z)/z**2"), random.Random(text))
