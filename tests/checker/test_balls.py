"""Balls contain the values, unknown is what is not certain, and nothing takes memory or time without bound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from symgrad.checker.balls.matrix_products import matrix_product
from symgrad.checker.balls.piecewise_ops import POINTWISE_OPS, SMOOTH_OPS
from symgrad.checker.balls.programs import context, evaluate, fmpq, in_domain
from symgrad.checker.balls.scalar_ops import arb
from symgrad.checker.clock import now
from symgrad.checker.program.length_values import length_names, length_value
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.checker.witness import disjoint
from symgrad.errors import UsageError
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node
from symgrad.ir.values.evaluate import evaluate_mp
from symgrad.verification.statement import program_of
from tests.graphs import inputs, random_graph
from tests.ops.cases import STATED, Case, every_stated_case, grid

MP = mpmath.MPContext()
MP.dps = 60


def values(
    text: str, point: dict[str, Any] | None = None, *, precision: int = 64, **options: Any
) -> list[Any]:
    """The values of all assigned names of a program."""
    listing = parse_program(text)
    program, places = program_of(list(listing.assignments.values()), list(listing.symbols.values()))
    return evaluate(program, point or {}, precision=precision, wanted=places, **options)


def value(expression: str, declarations: str = "x : real", strict: bool | str = False, **point: Any) -> Any:
    exact = {k: v if isinstance(v, (bool, list)) else Fraction(v) for k, v in point.items()}
    return values(f"{declarations}\nresult = {expression}", exact, strict=strict)[-1]


def contains(ball: Any, expected: Any) -> bool:
    """Tell whether a value holds what mpmath computed, up to mpmath's own error."""
    if isinstance(ball, bool):
        return ball == bool(expected)
    with context.workprec(400):
        man, exp = MP.frexp(MP.mpf(expected))
        reference = arb(int(MP.ldexp(man, 300))) * arb(2) ** (int(exp) - 300)
        error = abs(reference) * arb(10) ** -45 + arb(10) ** -400  # mpmath loses digits near ends
        return bool(arb(ball).overlaps(reference + error * arb(0, 1)))


def exact_point(case: Case, point: tuple[Any, ...]) -> dict[str, Any]:
    return {"xyz"[i]: v if isinstance(v, bool) else Fraction(v) for i, v in enumerate(point)}


def references(case: Case, point: tuple[Any, ...]) -> Any:
    exact = [
        v if isinstance(v, bool) else MP.mpf(Fraction(v).numerator) / Fraction(v).denominator for v in point
    ]
    return case.op.reference(MP, *case.params, *exact)


@every_stated_case
@pytest.mark.parametrize("precision", [64, 150])
def test_balls_contain_the_samples(case: Case, precision: int) -> None:
    program, (place,) = program_of([case.node])
    for sample in case.op.samples:
        found = evaluate(program, exact_point(case, sample), precision=precision, wanted=[place])[0]
        assert found is not None, (case, sample)
        assert contains(found, references(case, sample)), (case, sample, found)
        if isinstance(found, arb):
            assert found.rel_accuracy_bits() > precision - 40


@every_stated_case
def test_unknown_exactly_outside_the_domain(case: Case) -> None:
    # On the grid of integers and halves every value is decided, or outside: no ball is too wide there.
    program, (place,) = program_of([case.node])
    points = grid(case)[:: 1 if case.op.arity < 2 else 7]
    known = 0
    for point in points:
        found = evaluate(program, exact_point(case, point), precision=256, wanted=[place])[0]
        assert (found is not None) == case.inside(point), (case, point, found)
        if found is not None:
            known += 1
            reference = references(case, point)
            assert MP.isnan(reference) is not True
            assert contains(found, reference), (case, point, found)
    assert known


@pytest.mark.parametrize("seed", range(40))
def test_compositions_contain_the_reference(seed: int) -> None:
    symbols = inputs(2)
    node = random_graph(seed, symbols, size=12)
    program, (place,) = program_of([node], symbols)
    for x, y in [
        (Fraction(1, 3), Fraction(7, 8)),
        (Fraction(-5, 4), Fraction(2)),
        (Fraction(0), Fraction(0)),
    ]:
        found = evaluate(program, {"x0": x, "x1": y}, precision=100, wanted=[place])[0]
        exact = {s: MP.mpf(v.numerator) / v.denominator for s, v in zip(symbols, (x, y), strict=True)}
        try:
            expected = evaluate_mp(MP, [node], exact)[0]
        except (ValueError, ZeroDivisionError, OverflowError):
            expected = MP.nan
        if found is None:
            continue
        assert MP.isfinite(expected)
        assert contains(found, expected), (node, x, y)


def test_every_pointwise_op_has_balls() -> None:
    # What a given slope hangs on is its first argument to the prover.
    assert {c.op.name for c in STATED} - {"with_slope"} == {*POINTWISE_OPS, "polygamma"}
    assert set(SMOOTH_OPS) <= set(POINTWISE_OPS)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0.1 + 0.2 == 0.3", True),
        ("0 < 0", False),
        ("sqrt(1/4) == 1/2", True),
        ("(8/27)**(2/3) == 4/9", True),
        ("(2/3)**(-3) == 27/8", True),
        ("log2(8) == 3", True),
        ("log10(1/1000) == -3", True),
        ("hypot(3, 4) == 5", True),
        ("gamma(5) == 24", True),
        ("cbrt(-27) == -3", True),
        ("exp(0) + cos(0) == 2", True),
        ("exp(1) < 2.718281828", False),
        ("pi > 3", True),
        ("sin(pi) == 0", None),
        ("sqrt(2)**2 == 2", None),
        ("log(0) == 0", None),
        ("where(1 < 2, 1, log(-1)) == 1", True),
        ("where(log(-1) > 0, 1, 1) == 1", None),
        ("0*log(-1) == 0", None),
        ("(-8)**(1/3) == -2", None),
        ("0**0 == 1", True),
        ("0**(-1) == 0", None),
        ("0**0.5 == 0", True),
        ("round(2.5) == 2", True),
        ("round(-1.5) == -2", True),
        ("floor(-0.5) == -1", True),
        ("tan(pi/2) == 0", None),
        ("gamma(-2) == 0", None),
        ("atan2(0, -1) == pi", None),
        ("atan2(0, -1) > 3", True),
        ("asin(1) > 1.57", True),
        ("asin(1.0000000000000000000000001) > 1", None),
    ],
)
def test_what_is_certain(expression: str, expected: bool | None) -> None:
    assert value(expression, x=0) is expected


STRICT = [
    ("abs(x)", 0),
    ("sign(x)", 0),
    ("floor(x)", 2),
    ("ceil(x)", -1),
    ("round(x)", "2.5"),
    ("maximum(x, 3)", 3),
    ("minimum(x, 3)", 3),
    ("relu(x)", 0),
    ("clip(x, -1, 1)", -1),
    ("where(x >= 1, x, 1)", 1),
    ("where(x == 1, 5, x)", 1),
    ("sqrt(x)", 0),
    ("cbrt(x)", 0),
    ("asin(x)", 1),
    ("acosh(x)", 1),
    ("hypot(x, 0)", 0),
    ("acot(x)", 0),
    ("atan2(x, -1)", 0),
    ("x**1.5", 0),
    ("ellipe(x)", 1),
    ("li(x)", 0),
    ("polylog(2, x)", 1),
    ("expint(3, x)", 0),
    ("uppergamma(1.5, x)", 0),
    ("lowergamma(1.5, x)", 0),
]
FROM_BELOW = {"asin(x)", "ellipe(x)", "polylog(2, x)"}


@pytest.mark.parametrize(("expression", "at"), STRICT)
def test_ties_and_jumps_are_unknown_in_the_strict_sense(expression: str, at: Any) -> None:
    assert value(expression, x=at) is not None
    assert value(expression, strict=True, x=at) is None
    assert value(expression, strict="x", x=at) is None
    assert value(expression, "x : real\ny : real", strict="y", x=at, y=1) is not None
    near = Fraction(at) + Fraction(1, 2**40) * (-1 if expression in FROM_BELOW else 1)
    assert value(expression, strict=True, x=near) is not None


def test_strict_ties_of_one_function_with_itself() -> None:
    assert value("maximum(x, x)", strict=True, x=2) == 2
    assert value("where(x <= x, x, 0)", strict=True, x=2) == 2
    assert value("where(x*1 <= x, x, 0)", strict=True, x=2) is None  # equal only by calculation
    assert value("where(x*y == x, 1, 0)", "x : real\ny : real", strict=True, x=2, y=1) is None
    assert value("where(floor(x) == 2, x, 0)", strict=True, x="2.5") == fmpq(5, 2)  # constant near there
    assert value("where(stop_gradient(x) > 0, x, 0)", strict="x", x=0) == 0


@pytest.mark.parametrize(
    "expression",
    [
        "2**(10**9)",
        "9**9**9**9",
        "(1 + x)**(10**12)",
        "floor(2**(10**9))",
        "sin(2**(10**9))",
        "exp(exp(exp(exp(exp(10)))))",
        "gamma(10**30)",
        "lgamma(-10**12 - 1/2)",
        "polygamma(3, -10**9 - 1/2)",
        "erfc(10**20)",
        "iv(10**15, 10**15)",
        "jv(1/3, 10**30)",
        "airybi(10**25)",
        "log(10**(10**8))",
        "x**(2**70)",
        "tan(10**200)",
        "(1/3)**(10**9)*3**(10**9)",
    ],
)
@pytest.mark.usefixtures("ends")
def test_large_numbers_take_no_time(expression: str) -> None:
    found = value(expression, x=Fraction(4, 3))
    assert found is None or isinstance(found, (arb, fmpq))


def test_long_rationals_become_balls() -> None:
    text = "x : real\na0 = x\n" + "\n".join(f"a{i + 1} = a{i}*a{i} + 1/3" for i in range(40))
    found = values(text, {"x": Fraction(1, 7)})
    assert isinstance(found[3], fmpq)
    assert isinstance(found[-1], arb)


def test_nested_circles() -> None:
    text = "x : real\na0 = x\n" + "\n".join(f"a{i + 1} = sin(a{i})**2 + cos(a{i})**2" for i in range(50))
    assert abs(values(text, {"x": Fraction(5, 7)}, precision=256)[-1] - 1) < 1e-9


def test_a_hundred_thousand_steps_and_the_clock() -> None:
    steps = [ProofStep("symbol", (), ("x",))]
    steps += [ProofStep("sin" if i % 2 else "exp", (i,)) for i in range(100_000)]
    program = ProofProgram(tuple(steps), (Symbol("x", "real", None, None),))
    start = now()
    assert evaluate(program, {"x": 1}, precision=64, wanted=[100_000])[0] is not None
    assert now() - start < 5
    with pytest.raises(TimeoutError):
        evaluate(program, {"x": 1}, precision=64, deadline=now() - 1)


def test_only_what_is_wanted_is_evaluated() -> None:
    program = ProofProgram((ProofStep("symbol", (), ("x",)), ProofStep("number", (), (Fraction(2),))), ())
    assert evaluate(program, {}, precision=64, wanted=[1]) == [2]
    with pytest.raises(UsageError, match="no value"):
        evaluate(program, {}, precision=64)


def test_domains() -> None:
    symbols = (
        Symbol("x", "real", Fraction(0), Fraction(1)),
        Symbol("n", "int", None, None),
        Symbol("b", "bool", None, None),
        Symbol("v", "real", Fraction(0), None, ("k",)),
    )
    good = {"x": Fraction(1, 2), "n": Fraction(3), "b": True, "v": [Fraction(1), Fraction(2)]}
    program = ProofProgram((), symbols)
    assert in_domain(program, good)
    for name, wrong in [
        ("x", Fraction(1)),
        ("n", Fraction(1, 2)),
        ("b", Fraction(1)),
        ("v", [Fraction(1), Fraction(0)]),
        ("v", Fraction(1)),
        ("n", True),
    ]:
        assert not in_domain(program, {**good, name: wrong}), name
    assert not in_domain(program, {k: v for k, v in good.items() if k != "x"})


def test_lengths() -> None:
    sizes = {"n": 3, "m": 4}
    cases = {
        "3*m + 2*n - 1": 17,
        "max(n - 5, 0)": 0,
        "-n + 4": 1,
        "ceil((m + 1)/2)": 3,
        "min(2, n)": 2,
        "m*n": 12,
    }
    assert {k: length_value(k, sizes) for k in cases} == cases
    assert length_names(["max(n - 5, 0)", 3, "m*n"]) == ["n", "m"]
    for bad in ("k", "n(", "n.real", "n/2", "n/0", "open('f')", "n if m else 1"):
        with pytest.raises(UsageError):
            length_value(bad, sizes)


# ------------------------------------------------------------------------------------------------------------- arrays

DECLARED = """
A : real[n, m]
B : real[m, k]
v : real[m]
w : real[n]
i : int[k]
p : positive[n, m]
b : real[n, m]
"""

ARRAY_EXPRESSIONS = [
    "A@B",
    "A.T@w",
    "A@v + w",
    "einsum('ij,jk->ki', A, B)",
    "einsum('ij,ij->', A, b)",
    "trace(A@A.T)",
    "diag(v)",
    "diag(A@A.T)",
    "outer(v, w)",
    "sum(A)",
    "sum(A, axis=0)",
    "mean(A, axis=1)",
    "mean(A)",
    "prod(A, axis=0)",
    "prod(A)",
    "max(A, axis=1)",
    "min(A)",
    "argmax(A, axis=1) + argmin(v)",
    "softmax(A, axis=1)",
    "log_softmax(A, axis=0)",
    "logsumexp(A)",
    "norm(A, axis=0)",
    "norm(v)",
    "cumsum(A, axis=1)",
    "cumsum(v)",
    "A[:, 1:]",
    "A[::-1, 0]",
    "A[:, i]",
    "v[i]",
    "concatenate([A, b], axis=0)",
    "stack([v, v*2], axis=1)",
    "reshape(A, (n*m,))",
    "broadcast_to(v, (n, m))",
    "eye(n)@A",
    "arange(m)*v",
    "one_hot(i, m)",
    "where(A > 0, A, 0)",
    "A*v + 1/p",
    "sum(A > 0)",
    "maximum(A, b)",
    "clip(A, -1, 1)",
    "polygamma(1, p)",
    "var(A, axis=0)",
    "n*v",
    "ones((n, m))*3",
    "inv(A@A.T + eye(n))",
    "det(A@A.T)*det(eye(n)*2)",
    "logdet(-eye(n))",
    "solve(A@A.T + eye(n), stack([A, b]))",
    "solve(A@A.T + eye(n), w)",
    "cholesky(A@A.T + eye(n))",
    "cholesky(stack([4*eye(n), A@A.T + eye(n)*exp(1)]))",
    "expm(A@A.T)",
    "sinm(A@A.T)@w",
    "cosm(stack([A@A.T, eye(n)]))",
    "expm_frechet(A@A.T, outer(w, w))",
    "sinm_frechet(A@A.T, outer(w, w))",
    "cosm_frechet(A@A.T, eye(n))",
]


def _declared() -> tuple[dict[str, Any], dict[Node, Any], Any]:
    rng = np.random.default_rng(3)
    sizes = {"n": 2, "m": 3, "k": 4}
    listing = parse_program(DECLARED)
    point: dict[str, Any] = {}
    exact: dict[Node, Any] = {}
    for name, node in listing.symbols.items():
        shape = tuple(sizes[str(s)] for s in node.shape)
        whole = (
            rng.integers(0, 3, shape) if name == "i" else rng.integers(1 if name == "p" else -20, 20, shape)
        )
        scale = 1 if name == "i" else 8
        fractions: Any = np.frompyfunc(lambda v, s=scale: Fraction(int(v), s), 1, 1)(whole)
        point[name] = fractions.tolist()
        exact[node] = np.frompyfunc(lambda f: MP.mpf(f.numerator) / f.denominator, 1, 1)(fractions)
    return point, exact, listing


@pytest.mark.parametrize("expression", ARRAY_EXPRESSIONS)
@pytest.mark.parametrize("strict", [False, True])
def test_arrays_contain_the_reference(expression: str, strict: bool) -> None:
    point, exact, listing = _declared()
    node = parse_program(f"{DECLARED}\nresult = {expression}").assignments["result"]
    expected = np.asarray(evaluate_mp(MP, [node], exact)[0], dtype=object)
    program, (place,) = program_of([node], list(listing.symbols.values()))
    found = evaluate(program, point, precision=128, wanted=[place], strict=strict)[0]
    found = found if isinstance(found, np.ndarray) else np.array(found, dtype=object)
    assert found.shape == expected.shape
    for place in np.ndindex(expected.shape):
        assert found[place] is not None
        assert contains(found[place], expected[place]), (expression, place)


def test_arrays_that_are_not_certain() -> None:
    ties: dict[str, Any] = {"v": [Fraction(1), Fraction(1), Fraction(0)]}
    assert value("max(v)", "v : real[n]", **ties) == 1
    assert value("max(v)", "v : real[n]", strict=True, **ties) is None
    assert value("argmax(v)", "v : real[n]", strict=True, **ties) is None
    assert value("min(v)", "v : real[n]", strict=True, **ties) == 0
    assert value("norm(v)", "v : real[n]", strict=True, v=[Fraction(0)]) is None
    beyond = value("v[i]", "v : real[n]\ni : int[k]", i=[Fraction(1), Fraction(7), Fraction(-1)], **ties)
    assert beyond.tolist() == [1, None, 0]
    partly = value("log(v)", "v : real[n]", **ties)
    assert [x is None for x in partly] == [False, False, True]
    assert value("sum(log(v))", "v : real[n]", **ties) is None


@pytest.mark.parametrize("choice", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("strict", [False, True])
def test_a_choice_among_what_has_no_value_has_none(choice: str, strict: bool) -> None:
    """Also of one entry, whose place would be certain."""
    for entries in ([-1], [-1, 2], [2, -1], [3, -1, 2]):
        v: Any = [Fraction(x) for x in entries]
        assert value(f"{choice}(log(v))", "v : real[n]", strict, v=v) is None
        assert value(f"{choice}(log(v**2 + 1))", "v : real[n]", strict, v=v) is not None


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="both 1 and 2"):
        values("v : real[n]\nw : real[n]\na = v*w", {"v": [Fraction(1)], "w": [Fraction(1)] * 2})
    with pytest.raises(UsageError, match="shape"):
        values("v : real[n]\na = v*2", {"v": Fraction(1)})
    steps = (
        ProofStep("iota", (), ("n",), ("n",), "int"),
        ProofStep("broadcast_to", (0,), (("n",) * 4,), ("n",) * 4, "int"),
    )
    with pytest.raises(UsageError, match="no value"):
        evaluate(ProofProgram(steps, ()), {}, precision=64)
    assert evaluate(ProofProgram(steps, ()), {}, precision=64, sizes={"n": 100}, wanted=[1]) == [None]


def test_arrays_without_entries() -> None:
    text = "Z : real[0, 3]\ny = sum(Z) + sum(Z, axis=0) + sum(prod(Z, axis=0))\nw = Z + 1"
    found = values(text, {"Z": []})
    assert found[0].tolist() == [3, 3, 3]
    assert found[1].shape == (0, 3)


def test_no_factor_of_a_matrix_that_may_be_indefinite() -> None:
    declared = "A : real[n, n]"
    for rows in ([[1, 2], [2, 4]], [[1, 2], [2, 3]], [[0, 1], [1, 5]], [[-1, 0], [0, 1]]):
        given = [[Fraction(v) for v in row] for row in rows]
        assert set(value("cholesky(A)", declared, A=given).flat) == {None}
        assert set(value("cholesky(A*exp(1))", declared, A=given).flat) == {None}
    lower = [
        [Fraction(4), Fraction(9)],
        [Fraction(2), Fraction(2)],
    ]  # the entry above the diagonal is not read
    assert value("cholesky(A)", declared, A=lower).tolist() == [[2, 0], [1, 1]]


def test_singular_matrices() -> None:
    singular = [[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]]
    declared = "A : real[n, n]"
    assert value("det(A)", declared, A=singular) == 0
    assert value("logdet(A)", declared, A=singular) is None
    assert set(value("inv(A)", declared, A=singular).flat) == {None}
    assert value("det(A*exp(1))", declared, A=singular) is None
    assert value("det(A*exp(1))", declared, A=[[Fraction(3), Fraction(0)], [Fraction(2), Fraction(0)]]) == 0
    assert value("det(A*log(-1))", declared, A=singular) is None


def test_what_is_defined_all_around_a_point() -> None:
    """A power of a negative number is there for a whole exponent alone, and a Bessel function likewise."""
    both, whole = "x : real\ny : real", "x : real\ny : int"
    for text, x in [("x**y", -2), ("x**y", 0), ("jv(y, x)", -2), ("iv(y, x)", -2)]:
        assert value(text, both, x=x, y=2) is not None
        assert value(text, both, strict="*", x=x, y=2) is None, text
        assert value(text, both, strict="*", x=3, y=2) is not None, text
        assert x == 0 or value(text, whole, strict="*", x=x, y=2) is not None, text


@pytest.mark.parametrize("seed", range(4))
def test_products_of_matrices_with_unknown_entries(seed: int) -> None:
    """An entry is unknown exactly where one that it is made of is; the others are Python's."""
    rng = np.random.default_rng(seed)
    for ball_too in (False, True):
        m, k, n = rng.integers(1, 5, 3)
        a, b = (
            [[None if rng.random() < 0.15 else Fraction(int(rng.integers(-9, 9)), 7) for _ in range(columns)]
             for _ in range(rows)]
            for rows, columns in ((m, k), (k, n))
        )  # fmt: skip
        left, right = (
            np.array([[v if v is None else _exact(v) for v in row] for row in x], dtype=object)
            for x in (a, b)
        )
        if ball_too:
            left = np.array([[v if v is None else arb(v) for v in row] for row in left], dtype=object)
        found = matrix_product(left, right)
        for i, j in np.ndindex(m, n):
            column = [row[j] for row in b]
            if None in a[i] or None in column:
                assert found[i, j] is None
            else:
                wanted = _exact(sum((p * q for p, q in zip(a[i], column, strict=True)), start=Fraction(0)))
                assert arb(found[i, j]).contains(wanted)
                assert ball_too or found[i, j] == wanted


def _exact(v: Fraction) -> Any:
    return fmpq(v.numerator, v.denominator)


def test_numbers_that_are_exact_are_apart_however_near() -> None:
    x = fmpq(1, 3)
    near = x + fmpq(1, 10**300)
    assert disjoint(x, near)
    assert not disjoint(x, fmpq(1, 3))
    assert not disjoint(arb(x), near)
    assert disjoint(arb(1), fmpq(2))
    assert disjoint(arb(2), arb(1))
    assert not disjoint(arb(1, 1), arb(2))
    assert not disjoint(arb(0, 5), arb(1))


@pytest.mark.parametrize(
    "contraction",
    [
        "ij,jk->ik",
        "ij,kj->ki",
        "ii,ij->j",
        "ij,ij->i",
        "ij,k->kj",
        "ij,jk,kl->il",
        "ij,ik,il->jkl",
        "ij,jk->",
    ],
)
def test_large_contractions_are_exact_where_their_numbers_are(contraction: str) -> None:
    """Those of many products are formed operand by operand: with the same results."""
    labels = contraction.split("->")[0].split(",")
    rng = np.random.default_rng(5)
    n = 65 if len(set("".join(labels))) == 2 else 17
    operands = [rng.integers(-9, 9, (n,) * len(own)) for own in labels]
    lines = [f"x{k} : real[{', '.join(['n'] * len(own))}]" for k, own in enumerate(labels)]
    lines.append(f"y = einsum('{contraction}', {', '.join(f'x{k}' for k in range(len(labels)))})")
    exact: Any = np.frompyfunc(lambda v: Fraction(int(v), 3), 1, 1)
    found = values("\n".join(lines), {f"x{k}": exact(x).tolist() for k, x in enumerate(operands)})[-1]
    wanted = np.einsum(contraction, *operands)
    scaled: Any = np.frompyfunc(lambda v: fmpq(int(v), 3 ** len(labels)), 1, 1)(wanted)
    assert np.shape(found) == np.shape(wanted)
    assert np.all(np.asarray(found == scaled, bool))
