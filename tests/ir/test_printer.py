"""What is printed reads back as the same nodes."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.errors import RedefinitionError
from symgrad.frontend.limits import NESTING
from symgrad.frontend.text import parse_expression, parse_program
from symgrad.ir.exact import CONSTANTS, DIGITS
from symgrad.ir.graph import NUMBER, OPS, Node, Op, constant, number, symbol, truth
from symgrad.ir.notation.literals import number_text
from symgrad.ir.notation.printer import ONE_LINE, expression_text, program_text, str_text
from symgrad.ir.traverse import topological
from symgrad.ir.types import BOOL, INT, POSITIVE, REAL, Declaration, Distribution, Domain

NAMES = {
    d.name: symbol(d)
    for d in (
        Declaration("x"),
        Declaration("y", POSITIVE),
        Declaration("k", INT),
        Declaration("c", BOOL),
        Declaration("p", Domain("real", "real", Fraction(-1, 3), None)),
        Declaration("u", distribution=Distribution("Uniform", (Fraction(9, 10), Fraction(11, 10)))),
    )
}
X, Y, C = NAMES["x"], NAMES["y"], NAMES["c"]
RECORDS: list[Op] = sorted(
    {op.name: op for op in OPS.values() if op.pointwise}.values(), key=lambda op: op.name
)
# Arithmetic is where precedence is decided, so it is drawn more often than its share of the registry.
ARITHMETIC = [
    OPS[n] for n in ("add", "add", "neg", "neg", "mul", "div", "pow", "lt", "and_", "or_", "not_", "where")
]
VALUES: list[int | Fraction] = [
    0, 1, 2, -1, -2, 3, 10**7, -(10**30), Fraction(1, 3), Fraction(-2, 3), Fraction(1, 2), Fraction(9, 10),
    Fraction(-5, 4),
    Fraction(31091, 10**6), Fraction(1, 10**20), Fraction(-123456789, 10**4), Fraction(22, 7), Fraction(1,
    997),
]  # fmt: skip

SEEDS = st.integers(0, 2**32)


def build(rng: random.Random, size: int, values: list[int | Fraction] = VALUES) -> list[Node]:
    """Return random nodes over NAMES, numbers and constants, each made of earlier ones."""
    nodes: list[Node] = [
        *NAMES.values(),
        *map(number, values),
        truth(True),
        truth(False),
        *map(constant, CONSTANTS),
    ]
    truths = [n for n in nodes if n.dtype == "bool"]
    for _ in range(size):
        op = rng.choice(ARITHMETIC if rng.random() < 0.7 else RECORDS)
        recent = nodes[-6:] if rng.random() < 0.6 else nodes
        args = tuple(rng.choice(truths[-4:] if kind == "bool" else recent) for kind in op.takes)
        node = op(*args, params=tuple(rng.randint(0, 3) for _ in op.parameters))
        nodes.append(node)
        if node.dtype == "bool":
            truths.append(node)
    return nodes[-size:]


def read(text: str) -> Node:
    return parse_expression(text, NAMES)


@given(SEEDS, st.integers(1, 12))
def test_expressions_read_back(seed: int, size: int) -> None:
    for node in build(random.Random(seed), size):
        assert read(expression_text(node)) is node


@given(SEEDS, st.integers(1, 12))
def test_numbers_in_other_spellings_read_back(seed: int, size: int) -> None:
    decimals = {"1.5": "15e-1", "0.5": ".5", "1.25": "1.250", "0.9": "9e-1", "1e7": "1.0e7"}
    values = [sign * Fraction(text) for text in decimals for sign in (1, -1)]
    spelled = {number(s * Fraction(v)): "-" * (s < 0) + t for v, t in decimals.items() for s in (1, -1)}
    for node in build(random.Random(seed), size, [0, 1, -2, Fraction(1, 3), *values]):
        text = expression_text(node, spelled)
        assert read(text) is node
        inside = {n for n in topological([node]) if n in spelled}
        assert all(spelled[n].lstrip("-") in text for n in inside)
        assert inside or text == expression_text(node)


@given(SEEDS, st.integers(1, 60))
def test_programs_read_back(seed: int, size: int) -> None:
    outputs = {
        f"t{i}": n for i, n in enumerate(build(random.Random(seed), size)[-3:])
    }  # names that temporaries must leave alone
    text = program_text(outputs)
    listing = parse_program(text)
    assert {name: listing[name] for name in outputs} == outputs
    assert program_text(outputs) == text


@given(SEEDS)
def test_long_expressions_read_back(seed: int) -> None:
    node = build(random.Random(seed), 120)[-1]
    text = str_text(node)
    assert (parse_program(text).result if "\n" in text else read(text)) is node


def test_truth_values_are_declared() -> None:
    # One line would read a condition as a real number, which is no condition.
    assert str_text(OPS["not_"](C)) == "c : bool\nnot c"


SAME = [
    "x - y", "x - (y - k)", "x + (y + k)", "-x**2", "(-x)**2", "x**-y", "x**y**k", "(x**y)**k", "-(x*y)",
    "-x*y", "--x",
    "x*-y", "x/(y*k)", "x/y/k", "x*(y/k)", "2*x", "-2*x", "1/3*x", "-2/3*x", "x**(1/3)", "x**(-1/3)",
    "x**-2", "(-2)**x",
    "x - 2", "x - 1/3", "x - (2)", "-(2)", "-(1/3)", "1/(3)", "1/3/x", "x/(1/3)", "x - 0", "-0", "1/0",
    "0.031091*x",
    "1e30*x", "1.5e-20", "0.9", "x < y and y < k", "not x < y", "not (x < y and c)", "c or x < y and c",
    "(c or c) and c",
    "where(x < y, 1, 2)", "sqrt(u)*sign(x)", "x/y", "pi*x", "E()**x", "polygamma(2, x)", "atan2(x, -y)",
    "x + -y*k",
    "x - -y", "xor(c, x < y)", "stop_gradient(x*u - x) + x", "2**-x", "(x + y)*k", "(x + y)**(x - y)",
    "True and c",
    "not not c", "1/4 + x", "maximum(x, y)",
]  # fmt: skip


@pytest.mark.parametrize("text", SAME)
def test_minimal_parentheses(text: str) -> None:
    assert expression_text(read(text)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-7, "-7"), (10**6, "1000000"), (10**7, "1e7"), (-12 * 10**9, "-12e9"), (Fraction(1, 2),
     "1/2"),
     (Fraction(7, 12), "7/12"), (Fraction(1, 10), "0.1"), (Fraction(-1, 20), "-0.05"), (Fraction(1, 13),
     "1/13"),
     (Fraction(1, 10**6), "0.000001"), (Fraction(1, 10**9), "1e-9"), (Fraction(-15, 10**10), "-1.5e-9"),
     (Fraction(31091, 10**6), "0.031091"), (Fraction(12345678901, 10**4), "1234567.8901"), (Fraction(5,
     64), "0.078125")],
)  # fmt: skip
def test_number_text(value: int | Fraction, text: str) -> None:
    assert number_text(value) == text
    assert read(text) is number(value)


@given(st.fractions() | st.integers() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction))
def test_numbers_read_back(value: Fraction | int) -> None:
    assert read(number_text(value)) is number(value)


@pytest.mark.parametrize(
    "value",
    [
        10**DIGITS - 1,
        -(10**DIGITS) + 1,
        Fraction(10**DIGITS - 1, 10**DIGITS - 3),
        Fraction(1, 10 ** (DIGITS - 1)),
        Fraction(1234, 10 ** (DIGITS - 1)),
        Fraction(10**DIGITS - 1, 10 ** (DIGITS // 2)),
        Fraction(1, 2**13_000),  # 13,000 decimals, and so written as a quotient
        Fraction(3**8_000, 2**13_000),
    ],
    ids=lambda value: "number",
)
def test_the_longest_numbers_read_back(value: int | Fraction) -> None:
    assert read(number_text(value)) is number(value)


def test_names() -> None:
    y, z = OPS["sin"](X), OPS["exp"](OPS["sin"](X))
    names = {y: "y", z: "z"}
    assert expression_text(OPS["add"](y, OPS["neg"](z)), names) == "y - z"
    assert expression_text(z, names) == "z"
    assert expression_text(z, names, expand=True) == "exp(y)"
    assert expression_text(OPS["add"](X, OPS["neg"](y)), {OPS["neg"](y): "m"}) == "x + m"


def test_program_with_names() -> None:
    y = OPS["sin"](X)
    z = OPS["mul"](y, y)
    text = program_text({"z": z, "w": z, "v": X}, {y: "y", OPS["cos"](X): "unused"}, result=OPS["exp"](z))
    assert text == "x : real\nv = x\ny = sin(x)\nz = y*y\nw = z\nexp(z)"
    listing = parse_program(text)
    assert (listing["w"], listing["v"], listing.result) == (z, X, OPS["exp"](z))


def test_a_name_stands_for_one_thing() -> None:
    with pytest.raises(RedefinitionError) as caught:
        program_text({"x": OPS["sin"](X)})
    assert caught.value.what == "'x' stands for two different things"


def test_str_is_one_line_up_to_a_length() -> None:
    node = X
    while len(expression_text(node)) < ONE_LINE // 2:
        node = OPS["add"](node, OPS["sin"](Y))
    assert "\n" not in str_text(node)
    for _ in range(200):
        node = OPS["add"](node, OPS["sin"](Y))
    assert str_text(node).startswith("x : real\ny : positive\n")
    assert parse_program(str_text(node)).result is node


def test_shared_graphs_are_not_expanded() -> None:
    node = X
    for _ in range(300):  # as a tree, 2**300 nodes
        node = OPS["mul"](OPS["sin"](node), OPS["add"](node, Y))
    text = str_text(node)
    assert len(text) < 100 * 300
    assert parse_program(text).result is node


@pytest.mark.parametrize("name", ["sin", "neg", "pow", "add", "where"])
def test_deep_graphs(name: str) -> None:
    node = X
    for i in range(10_000):
        y = OPS["add"](Y, number(i))
        node = {
            "sin": lambda n=node: OPS["sin"](n),
            "neg": lambda n=node: OPS["neg"](n),
            "pow": lambda n=node, y=y: OPS["pow"](y, n),
            "add": lambda n=node, y=y: OPS["add"](y, n),
            "where": lambda n=node, y=y: OPS["where"](C, y, n),
        }[name]()
    text = str_text(node)
    assert max(line.count("(") for line in text.splitlines()) <= 2 * NESTING
    assert parse_program(text).result is node


def test_flat_sums_stay_flat() -> None:
    node = X
    for i in range(20_000):
        node = OPS["add"](node, OPS["mul"](Y, number(i)))
    text = str_text(node)
    assert len(text.splitlines()) == 3  # two declarations and the sum
    assert parse_program(text).result is node


def test_temporaries_avoid_the_names_of_the_user() -> None:
    t1 = symbol(Declaration("t1", REAL))
    shared = OPS["exp"](OPS["sin"](OPS["cos"](t1)))
    text = program_text({"t2": OPS["mul"](shared, shared)})
    assert text == "t1 : real\nt3 = exp(sin(cos(t1)))\nt2 = t3*t3"


def test_every_op_prints() -> None:
    for op in RECORDS:
        args = tuple(OPS["lt"](X, Y) if kind == "bool" else X for kind in op.takes)
        node = op(*args, params=tuple(1 for _ in op.parameters))
        assert read(expression_text(node)) is node
        assert all(n.op is not NUMBER or n.args == () for n in topological([node]))
