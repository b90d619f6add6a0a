"""The checker's own derivatives against symgrad's: for every op, for compositions, and for arrays entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symgrad.autodiff.vjp import pull_back
from symgrad.checker.balls.programs import context, evaluate, fmpq
from symgrad.checker.balls.scalar_ops import arb
from symgrad.checker.program.array_derivatives import ARRAY_DERIVATIVES
from symgrad.checker.program.derivative import differentiate, directional_claim
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.scalar_derivatives import LOCALLY_CONSTANT_OPS, PIECEWISE_OPS, SCALAR_DERIVATIVES
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.checker.witness import paired_entries
from symgrad.errors import UsageError
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ops.user_ops import OWN
from symgrad.verification.points.sampler import SamplePoint, points_of
from symgrad.verification.search.refute import refute
from symgrad.verification.statement import program_of
from tests.graphs import inputs, random_graph
from tests.ops.cases import STATED, Case

SMOOTH = [(c, k) for c in STATED for k in c.differentiable]


def agree(x: Any, y: Any, digits: int) -> bool:
    """Tell whether two known values overlap and are known well enough for that to say something."""
    if x is None or y is None:
        return False
    if isinstance(x, fmpq) and isinstance(y, fmpq):
        return bool(x == y)
    with context.workprec(512):
        gap = arb(x) - arb(y)
        return bool(gap.contains(0)) and bool(gap.rad() <= arb(10) ** -digits * (1 + abs(arb(x)).upper()))


@pytest.mark.parametrize(("case", "k"), SMOOTH, ids=lambda v: str(v))
def test_the_table_agrees_with_the_records(case: Case, k: int) -> None:
    symbols = case.symbols
    program, (y, partial) = program_of([case.node, case.partial(k)], symbols)
    made, tangent = differentiate(program, y, "xyz"[k])
    checked = 0
    for sample in case.op.samples:
        point = {"xyz"[i]: v if isinstance(v, bool) else Fraction(v) for i, v in enumerate(sample)}
        ours, theirs = evaluate(made, point, precision=192, wanted=[tangent, partial], strict="xyz"[k])
        if ours is None or theirs is None:
            # x**y has no derivative by y at a negative x.
            assert (case.op.name, k, point["x"] <= 0) == ("pow", 1, True), (point, ours, theirs)
            continue
        assert agree(ours, theirs, 30), (case, point, ours, theirs)
        checked += 1
    assert checked


def test_every_op_has_a_rule() -> None:
    known = {*SCALAR_DERIVATIVES, *LOCALLY_CONSTANT_OPS, *PIECEWISE_OPS, *ARRAY_DERIVATIVES}
    assert known == {op.name for op in OPS.values()} - {
        "where_minus_oo",
        "where_plus_oo",
        "recurrence",
        "pack",
        "part",
    } - set(OWN)


def grad(y: Node, x: Node) -> Node:
    return pull_back([y], [as_node(1)], [x]).gradients[0]


@pytest.mark.parametrize("seed", range(60))
def test_compositions(seed: int) -> None:
    symbols = inputs(2)
    y = random_graph(seed, symbols, size=10)
    if not _reads(y, symbols[0]):
        return
    gradient = grad(y, symbols[0])
    near = gradient * (1 + Fraction(1, 2**80))
    program, (at, claim, wrong) = program_of([y, gradient, near], symbols)
    made, tangent = differentiate(program, at, "x0")
    right = refute(Equality(made, tangent, claim, (at,), "x0"))
    assert right.witness is None
    if right.points and not right.exact:
        found = refute(Equality(made, tangent, wrong, (at,), "x0"))
        assert found.witness is not None or _zero(made, tangent, right.points)


def _zero(program: ProofProgram, at: int, points: Sequence[SamplePoint]) -> bool:
    """Tell whether a value may be zero at all points."""
    values = [evaluate(program, p.values, precision=512, strict="x0", wanted=[at])[0] for p in points]
    return all(v is None or arb(v).contains(0) for v in values)


def _reads(y: Node, x: Node) -> bool:
    todo, seen = [y], set[Node]()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += node.args
    return x in seen


def parsed(text: str, *names: str) -> tuple[ProofProgram, list[int]]:
    listing = parse_program(text)
    return program_of([listing.assignments[n] for n in names], list(listing.symbols.values()))


def at_point(text: str, wrt: str, strict: bool = True, **point: Any) -> Any:
    program, (y,) = parsed(text, "y")
    made, tangent = differentiate(program, y, wrt)
    exact = {k: v if isinstance(v, bool) else Fraction(v) for k, v in point.items()}
    return evaluate(made, exact, precision=64, strict=wrt if strict else False, wanted=[tangent])[0]


def test_exact_values() -> None:
    assert at_point("x : real\ny = x**3 - 2*x", "x", x=2) == 10
    assert at_point("x : real\ny = x**0 + x**1", "x", x=0) == 1
    assert at_point("x : real\ny = 1/x", "x", x=2) == fmpq(-1, 4)
    assert at_point("x : real\ny = x*stop_gradient(x)", "x", x=3) == 3
    assert at_point("x : real\ny = stop_gradient(x)", "x", x=3) == 0
    assert at_point("x : real\nz : real\ny = z**2", "x", x=3, z=1) == 0
    assert at_point("x : real\ny = floor(x) + sign(x)*x", "x", x="5/2") == 1
    assert at_point("x : real\ny = where(x > 1, 5, 7)", "x", x=3) == 0
    assert at_point("x : real\ny = relu(x) + clip(x, -1, 1) + maximum(x, 9)", "x", x="1/2") == 2
    assert at_point("x : real\ny = maximum(x, x)", "x", x="1/2") == 1


@pytest.mark.parametrize(
    ("formula", "x"),
    [
        ("abs(x)", 0),
        ("relu(x)", 0),
        ("maximum(x, 2*x)", 0),
        ("clip(x, 0, 1)", 1),
        ("where(x > 1, x, 2*x)", 1),
        ("sqrt(x)", 0),
        ("cbrt(x)", 0),
        ("x**1.5", 0),
        ("x**x", 0),
        ("(-1)**x*x", 2),
        ("hypot(x, 0)", 0),
        ("asin(x)", 1),
        ("1/x", 0),
    ],
)
def test_no_derivative_is_claimed_at_kinks(formula: str, x: int) -> None:
    assert at_point(f"x : real\ny = {formula}", "x", x=x) is None


def test_sharing_is_kept_and_zeros_are_dropped() -> None:
    text = (
        "x : real\nz : real\na0 = x\n"
        + "\n".join(f"a{i + 1} = a{i}*a{i} + exp(z)" for i in range(200))
        + "\ny = a200"
    )
    program, (y,) = parsed(text, "y")
    made, _ = differentiate(program, y, "x")
    assert len(made.steps) < 4 * len(program.steps)
    assert made.steps[: len(program.steps)] == program.steps
    assert sum(s.op == "exp" for s in made.steps) == 1
    still, tangent = differentiate(program, y, "z")
    assert sum(s.op == "exp" for s in still.steps) == 1
    assert tangent >= len(program.steps)


def test_a_hundred_thousand_steps() -> None:
    steps = [ProofStep("symbol", (), ("x",))]
    for _ in range(25_000):
        last = len(steps) - 1
        steps += [ProofStep("sin", (last,)), ProofStep("mul", (last + 1, 0))]
    program = ProofProgram(tuple(steps), (Symbol("x", "real", None, None),))
    made, tangent = differentiate(program, len(steps) - 1, "x")
    assert len(made.steps) > 100_000
    assert evaluate(made, {"x": Fraction(1, 2)}, precision=64, wanted=[tangent])[0] is not None


@pytest.mark.parametrize("others", [[], ["dx"], ["dx", "dx_"], ["dx_", "dx__"]])
def test_a_direction_has_a_name_of_its_own(others: list[str]) -> None:
    declared = "".join(f"{name} : real[n]\n" for name in others)
    factors = "".join(f"*{name}" for name in others)
    program, (y,) = parsed(f"x : real[n]\n{declared}y = sum(x**2{factors})", "y")
    made, tangent = differentiate(program, y, "x")
    names = [s.name for s in made.symbols]
    (direction,) = set(names).difference(["x", *others])
    assert len(names) == len(others) + 2
    point = {"x": [Fraction(3), Fraction(5)], direction: [Fraction(7), Fraction(-2)]}
    point |= {name: [Fraction(2), Fraction(11)] for name in others}
    wanted = 2 * 3 * 7 * 2 ** len(others) - 2 * 5 * 2 * 11 ** len(others)
    assert evaluate(made, point, precision=64, wanted=[tangent]) == [wanted]


def test_refusals() -> None:
    program, (y,) = parsed("x : real\ny = x**2", "y")
    with pytest.raises(UsageError, match="no variable 'q'"):
        differentiate(program, y, "q")
    made, _ = differentiate(parsed("x : real[n]\ny = sum(x)", "y")[0], 1, "x")
    with pytest.raises(UsageError, match="last axes"):
        directional_claim(made, 1, "dx")


# ------------------------------------------------------------------------------------------------------------- arrays

ARRAY_FUNCTIONS = [
    "sum(A@B)",
    "sum((A@v + w)**2)",
    "einsum('ij,jk,ij->', A, B, b)",
    "trace(A@A.T)",
    "sum(diag(A@A.T)*w)",
    "mean(A**3)",
    "sum(mean(A, axis=1)**2)",
    "sum(prod(A, axis=0)*v)",
    "prod(A)",
    "sum(max(A, axis=1)*w)",
    "min(A)*3",
    "sum(softmax(A, axis=1)*b)",
    "sum(log_softmax(A, axis=0)*b)",
    "logsumexp(A)",
    "sum(logsumexp(A, axis=1)*w)",
    "sum(norm(A, axis=0)*v)",
    "sum(cumsum(A, axis=1)*b)",
    "sum(A[:, 1:]**2)",
    "sum(A[::-1, 0]*w)",
    "sum(A[:, i]**2)",
    "sum(concatenate([A, b*A], axis=0)**2)",
    "sum(reshape(A, (n*m,))**3)",
    "sum(broadcast_to(A[0], (n, m))*b)",
    "sum(where(A > b, A**2, A))",
    "sum(maximum(A, b)*b)",
    "sum(A*stop_gradient(A))",
    "sum(exp(A)/(1 + A**2)*v)",
    "sum(inv(A@A.T + 5*eye(n))@A)",
    "det(A@A.T + 5*eye(n))",
    "logdet(A@A.T + 5*eye(n))",
    "sum(solve(A@A.T + 5*eye(n), A@B))",
    "sum(solve(A@A.T + 5*eye(n), w)*w)",
    "sum(cholesky(A@A.T + 5*eye(n))@A)",
    "sum(log(diag(cholesky(A@A.T + b@b.T + 4*eye(n) + outer(w, w)))))",
    "sum(cholesky(stack([A@A.T + 5*eye(n), 9*eye(n) + outer(w, w)]))[:, 1])",
    "sum(expm(A@A.T/5)@A)",
    "sum(sinm(A@A.T/5)*outer(w, w))",
    "trace(cosm(stack([A@A.T/5, outer(w, w)]))[1])",
    "sum(expm_frechet(A@A.T/5, outer(w, w))@A)",
    "sum(cosm_frechet(eye(n), A@A.T)@A)",
    "trace(sinm_frechet(A@A.T/5, A@A.T))",
    "sum(var(A, axis=0)*v)",
    "max(broadcast_to(A[0], (n, m)))",
    "sum(solve(stack([A@A.T + 3*eye(n)]), stack([A, b]))**2)",
]
DECLARED = "A : real[n, m]\nB : real[m, k]\nv : real[m]\nw : real[n]\ni : int[k]\nb : real[n, m]\n"


def unit(shape: Sequence[int], index: tuple[int, ...]) -> Any:
    direction = np.full(shape, Fraction(0), dtype=object)
    direction[index] = Fraction(1)
    return direction


@pytest.mark.parametrize("formula", ARRAY_FUNCTIONS)
def test_components_of_gradients(formula: str) -> None:
    listing = parse_program(f"{DECLARED}\ny = {formula}")
    wrt = listing.symbols["A"]
    gradient = grad(listing.assignments["y"], wrt)
    program, (y, claim) = program_of([listing.assignments["y"], gradient], list(listing.symbols.values()))
    made, tangent = differentiate(program, y, "A")
    direction = made.symbols[-1].name
    checked = 0
    for _, point in zip(range(2), points_of(program), strict=False):
        shape = np.shape(np.array(point.values["A"], dtype=object))
        for index in np.ndindex(*shape):
            values = {**point.values, direction: unit(shape, index)}
            ours, theirs = evaluate(
                made, values, precision=128, sizes=point.sizes, strict="A", wanted=[tangent, claim]
            )
            found = {i: v for i, v, _ in paired_entries(np.broadcast_to(theirs, shape), unit(shape, index))}
            assert agree(ours, found[index], 20), (formula, index)
            checked += 1
    assert checked > 4
    stated, change = directional_claim(made, claim, direction)
    outcome = refute(Equality(stated, tangent, change, (y,), "A"))
    assert outcome.witness is None
    assert len(outcome.points) > 3


def test_second_derivatives_of_products() -> None:
    # symgrad's gradient of a product has prod_except, whose tangent is a rule of its own.
    listing = parse_program("A : real[n, m]\nv : real[m]\ny = sum(prod(A, axis=0)*v)")
    wrt = listing.symbols["A"]
    gradient = grad(listing.assignments["y"], wrt)
    program, (at,) = program_of([gradient], list(listing.symbols.values()))
    made, tangent = differentiate(program, at, "A")
    point = {
        "A": [[Fraction(2), Fraction(0)], [Fraction(3), Fraction(5)], [Fraction(7), Fraction(0)]],
        "v": [Fraction(1), Fraction(1)],
    }
    zero = Fraction(0)
    point["dA"] = [[zero, zero], [zero, Fraction(1)], [Fraction(1), zero]]
    found = evaluate(made, point, precision=64, wanted=[tangent])[0]
    # d/dt of the products of two others in a column, by hand.
    assert found.tolist() == [[3, 0], [2, 0], [0, 0]]


def test_the_slope_of_a_zeta_function_of_order_zero() -> None:
    """It is 1/2 - x, and the general rule would multiply 0 by a pole."""
    steps = (
        ProofStep("number", (), (Fraction(0),)),
        ProofStep("symbol", (), ("x",)),
        ProofStep("zeta", (0, 1)),
    )
    made, tangent = differentiate(ProofProgram(steps, (Symbol("x", "real", None, None),)), 2, "x")
    for x in (Fraction(1, 3), Fraction(5)):
        value, slope = evaluate(made, {"x": x}, precision=64, wanted=[2, tangent])
        assert agree(value, fmpq(1, 2) - fmpq(x.numerator, x.denominator), 10)
        assert agree(slope, fmpq(-1), 10)
