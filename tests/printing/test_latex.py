"""LaTeX as a mathematician writes it, correct in its parentheses, never longer than the graph deserves."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad.ops  # noqa: F401  (registers the ops)
from symgrad.ir.graph import OPS, Node, Op, as_node, constant, number, symbol
from symgrad.ir.types import BOOL, Declaration
from symgrad.printing.latex.expressions import latex
from symgrad.printing.latex.pieces import latex_name

ALL = sorted({op.name: op for op in OPS.values() if op.pointwise}.values(), key=lambda op: op.name)
x, y, z = (symbol(Declaration(n)) for n in "xyz")
b = symbol(Declaration("b", BOOL))


def f(name: str, *args: Node | int | Fraction) -> Node:
    return OPS[name](*(as_node(a) for a in args))


def sub(a: Node, b: Node) -> Node:
    return f("add", a, f("neg", b))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (sub(x, y), "x - y"),
        (sub(x, sub(y, z)), r"x - \left(y - z\right)"),
        (sub(x, f("neg", y)), r"x - \left(-y\right)"),
        (f("add", f("neg", x), y), "-x + y"),
        (f("add", x, -2), "x - 2"),
        (f("add", x, f("mul", -2, y)), "x - 2 y"),
        (f("add", x, f("add", y, z)), "x + y + z"),
        (f("neg", f("add", x, y)), r"-\left(x + y\right)"),
        (f("mul", f("add", x, y), z), r"\left(x + y\right) z"),
        (f("mul", x, f("neg", y)), r"x \left(-y\right)"),
        (f("mul", f("neg", x), y), "-x y"),
        (f("mul", f("mul", 2, 3), x), r"2 \cdot 3 x"),
        (f("mul", x, 2), r"x \cdot 2"),
        (f("mul", 2, number(Fraction(1, 3))), r"2 \cdot \frac{1}{3}"),
        (f("mul", number(Fraction(9, 10)), x), "0.9 x"),
        (f("mul", number(Fraction(1, 10**9)), x), "10^{-9} x"),
        (number(10**30), "10^{30}"),
        (number(Fraction(-1, 3)), r"-\frac{1}{3}"),
        (f("div", f("mul", x, y), f("add", z, 1)), r"\frac{x y}{z + 1}"),
        (f("pow", f("div", x, y), 2), r"\left(\frac{x}{y}\right)^{2}"),
        (f("pow", f("neg", x), 2), r"\left(-x\right)^{2}"),
        (f("neg", f("pow", x, 2)), "-x^{2}"),
        (f("pow", -2, x), r"\left(-2\right)^{x}"),
        (f("pow", f("pow", x, y), z), r"\left(x^{y}\right)^{z}"),
        (f("pow", x, f("pow", y, z)), "x^{y^{z}}"),
        (f("pow", f("exp", x), 2), r"\left(e^{x}\right)^{2}"),
        (f("pow", f("sin", x), 2), r"\sin^{2}\left(x\right)"),
        (f("pow", f("sin", x), -1), r"\sin\left(x\right)^{-1}"),
        (f("pow", f("stop_gradient", x), 3), r"\operatorname{sg}^{3}\left(x\right)"),
        (f("sqrt", f("cbrt", x)), r"\sqrt{\sqrt[3]{x}}"),
        (f("abs", f("sign", x)), r"\left|\operatorname{sign}\left(x\right)\right|"),
        (
            f("where", f("gt", x, 0), x, f("where", f("lt", y, 1), y, 2)),
            r"\begin{cases} x & \text{if } x > 0 \\ y & \text{if } y < 1 \\ 2 & \text{otherwise} \end{cases}",
        ),
        (
            f("mul", f("where", b, 1, 0), x),
            r"\left(\begin{cases} 1 & \text{if } b \\ 0 & \text{otherwise} \end{cases}\right) x",
        ),
        (
            f("not_", f("and_", b, f("or_", b, f("lt", x, y)))),
            r"\neg \left(b \wedge \left(b \vee x < y\right)\right)",
        ),
        (OPS["polygamma"](x, params=(2,)), r"\psi^{\left(2\right)}\left(x\right)"),
        (f("mul", symbol(Declaration("e")), constant("E")), r"\mathtt{e} e"),
        (sub(symbol(Declaration("x1")), symbol(Declaration("x_1"))), r"x_{1} - \mathtt{x\_1}"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_spelling(node: Node, text: str) -> None:
    assert latex(node) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x", "x"),
        ("x12", "x_{12}"),
        ("alpha_1", r"\alpha_{1}"),
        ("lambda_", r"\lambda"),
        ("Omega_max", r"\Omega_{\mathrm{max}}"),
        ("z_inner", r"z_{\mathrm{inner}}"),
        ("a_i_j", "a_{i, j}"),
        ("learning_rate", r"\mathrm{learning}_{\mathrm{rate}}"),
        ("_", r"\_"),
        ("θ", "θ"),
    ],
)
def test_names(name: str, text: str) -> None:
    assert latex_name(name) == text


def test_given_names_stand_for_nodes() -> None:
    inner = f("sin", x)
    assert latex(f("pow", inner, 2), {inner: "s_1"}) == "s_{1}^{2}"
    assert latex(inner, {inner: "s_1"}) == r"\sin\left(x\right)"


def test_shared_parts_are_named_before_the_text_explodes() -> None:
    node = symbol(Declaration("t_1"))
    for _ in range(60):
        node = f("sin", f("mul", node, node))
    text = latex(node)
    assert len(text) < 5_000
    assert text.startswith("\\begin{aligned}\nt_{2} &= ")
    assert text.endswith("\\end{aligned}")


def test_long_and_deep_graphs() -> None:
    node = x
    for i in range(20_000):
        node = f("add", f("exp", node), i)
    assert len(latex(node)) < 50 * 20_000


# ----------------------------------------------------------------------------------------------------- typesetting


@st.composite
def graphs(draw: st.DrawFn) -> Node:
    numbers = [
        x,
        y,
        constant("pi"),
        *map(number, (-2, -1, 2, Fraction(1, 2), Fraction(-9, 10), Fraction(1, 10**9))),
    ]
    ops = [op for op in ALL if "bool" not in op.takes and op.gives != "bool"]
    arithmetic = [OPS[n] for n in ("add", "neg", "mul", "div", "pow")]
    for _ in range(draw(st.integers(1, 8))):
        op = draw(st.sampled_from(arithmetic) | st.sampled_from(ops))
        args = [numbers[-1 - draw(st.integers(0, min(3, len(numbers) - 1)))] for _ in op.takes]
        numbers.append(op(*args, params=(1,) * len(op.parameters)))
    return numbers[-1]


@given(graphs())
def test_it_typesets(node: Node) -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    text = latex(node)
    if "aligned" not in text:
        mathtext.MathTextParser("path").parse(f"${text}$")


@pytest.mark.parametrize("op", [op for op in ALL if not op.name.startswith("where")], ids=lambda op: op.name)
def test_every_op_typesets(op: Op) -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    args = [b if kind == "bool" else s for kind, s in zip(op.takes, (x, y, z), strict=False)]
    text = latex(op(*args, params=(1,) * len(op.parameters)))
    for short in ("le", "ge"):  # mathtext knows the long names alone
        text = text.replace(rf"\{short} ", rf"\{short}q ")
    mathtext.MathTextParser("path").parse(f"${text}$")
