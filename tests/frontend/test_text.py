"""The program notation: what is written is what the graph holds, exactly."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from threading import Thread

import pytest

from symgrad.errors import NumberTooLargeError, RedefinitionError
from symgrad.frontend.text import parse_expression, parse_program
from symgrad.ir.graph import CONSTANT, NUMBER, OPS, SYMBOL, Node, constant, number, size_node, symbol, truth
from symgrad.ir.sizes import size_product, size_sum
from symgrad.ir.types import Declaration, Distribution, Domain, is_name
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import products
from symgrad.ops.numpy.subscripts import index, take
from symgrad.support.source import Span

X, Y, Z = (symbol(Declaration(n)) for n in "xyz")


def op(name: str, *args: Node | int | Fraction, params: tuple[int, ...] = ()) -> Node:
    return OPS[name](*(a if isinstance(a, Node) else number(a) for a in args), params=params)


def expression(text: str) -> Node:
    result = parse_program(text).result
    assert result is not None
    return result


def sub(a: Node, b: Node) -> Node:
    return op("add", a, op("neg", b))


EXPRESSIONS: list[tuple[str, Node]] = [
    ("x", X),
    ("(x)", X),
    ("+x", X),
    ("x + y + z", op("add", op("add", X, Y), Z)),
    ("x + (y + z)", op("add", X, op("add", Y, Z))),
    ("x - y", sub(X, Y)),
    ("x - y - z", sub(sub(X, Y), Z)),
    ("x*y/z", op("div", op("mul", X, Y), Z)),
    ("x/y*z", op("mul", op("div", X, Y), Z)),
    ("x**y**z", op("pow", X, op("pow", Y, Z))),
    ("-x**2", op("neg", op("pow", X, 2))),
    ("(-x)**2", op("pow", op("neg", X), 2)),
    ("2**-x", op("pow", 2, op("neg", X))),
    ("x**-2", op("pow", X, -2)),
    ("-x*y", op("mul", op("neg", X), Y)),
    ("--x", op("neg", op("neg", X))),
    ("x*-y", op("mul", X, op("neg", Y))),
    # literals are exact, and take a sign or a division by a literal into themselves
    ("3", number(3)),
    ("1_000", number(1000)),
    ("0.1", number(Fraction(1, 10))),
    (".5", number(Fraction(1, 2))),
    ("5.", number(5)),
    ("1e-3", number(Fraction(1, 1000))),
    ("1.5E+2", number(150)),
    ("1e300", number(10**300)),
    ("-2", number(-2)),
    ("1/3", number(Fraction(1, 3))),
    ("-1/3", number(Fraction(-1, 3))),
    ("x**(1/3)", op("pow", X, Fraction(1, 3))),
    ("x - 2", op("add", X, -2)),
    ("x - 1/3", op("add", X, Fraction(-1, 3))),
    ("-(2)", op("neg", 2)),
    ("x - (2)", sub(X, number(2))),
    ("1/(3)", op("div", 1, 3)),
    ("1/3/2", op("div", Fraction(1, 3), 2)),
    ("4/2/2", op("div", 2, 2)),
    ("2*3", op("mul", 2, 3)),
    ("1/0", op("div", 1, 0)),
    ("0.5/2", op("div", Fraction(1, 2), 2)),
    ("-0.0", op("neg", 0)),
    ("x - 0", op("add", X, op("neg", 0))),
    ("9**9**9**9", op("pow", 9, op("pow", 9, op("pow", 9, 9)))),
    # conditions
    ("x < y", op("lt", X, Y)),
    ("x <= y < z != 1", op("and_", op("and_", op("le", X, Y), op("lt", Y, Z)), op("ne", Z, 1))),
    ("not x == y", op("not_", op("eq", X, Y))),
    ("x > 0 and y > 0 or z >= 0", op("or_", op("and_", op("gt", X, 0), op("gt", Y, 0)), op("ge", Z, 0))),
    ("(x > 0) & (y > 0)", op("and_", op("gt", X, 0), op("gt", Y, 0))),
    ("(x > 0) | ~(y > 0)", op("or_", op("gt", X, 0), op("not_", op("gt", Y, 0)))),
    ("(x > 0) ^ (y > 0)", op("xor", op("gt", X, 0), op("gt", Y, 0))),
    ("True", truth(True)),
    ("x if y > 0 else z", op("where", op("gt", Y, 0), X, Z)),
    (
        "x if y > 0 else z if x > 0 else 1",
        op("where", op("gt", Y, 0), X, op("where", op("gt", X, 0), Z, 1)),
    ),
    ("(x > 0) + 1", op("add", op("where", op("gt", X, 0), 1, 0), 1)),
    # calls
    ("sin(x)", op("sin", X)),
    ("asin(x) + arcsin(x)", op("add", op("asin", X), op("asin", X))),
    ("Abs(x)", op("abs", X)),
    ("atan2(y, x,)", op("atan2", Y, X)),
    ("maximum(x, y, z)", op("maximum", op("maximum", X, Y), Z)),
    ("Min(x, y)", op("minimum", X, Y)),
    ("And(x > 0, y > 0, z > 0)", op("and_", op("and_", op("gt", X, 0), op("gt", Y, 0)), op("gt", Z, 0))),
    ("where(x > 0, y, z)", op("where", op("gt", X, 0), Y, Z)),
    ("log(x)", op("log", X)),
    ("log(x, 2)", op("div", op("log", X), op("log", 2))),
    ("Rational(1, 3)*x", op("mul", Fraction(1, 3), X)),
    ("Rational(-1, 3)", number(Fraction(-1, 3))),
    ("Piecewise((x, x > 0), (y, x < -1), (z, True))", op("where", op("gt", X, 0), X, op("where", op("lt",
    X, -1), Y, Z))),
    ("besselj(2, x)", op("jv", 2, X)),
    ("Ei(x) + E1(x)", op("add", op("expi", X), op("exp1", X))),
    ("expint(1, x) + expn(2, x)", op("add", op("expint", 1, X), op("expint", 2, X))),
    ("elliptic_e(x) + elliptic_e(x, y)", op("add", op("ellipe", X), op("ellipeinc", X, Y))),
    ("elliptic_f(x, y)*lambertw(x)", op("mul", op("ellipkinc", X, Y), op("LambertW", X))),
    ("zeta(x) + zeta(x, y)", op("add", op("zeta", X, 1), op("zeta", X, Y))),
    ("gammainc(x, y)", op("div", op("lowergamma", X, Y), op("gamma", X))),
    ("i0e(x)*Li(x)", op("mul", op("ive", 0, X), op("add", op("li", X), op("neg", op("li", 2))))),
    ("beta(x, y)", op("div", op("mul", op("gamma", X), op("gamma", Y)), op("gamma", op("add", X, Y)))),
    ("polygamma(1, x)", op("polygamma", X, params=(1,))),
    ("polygamma(x, n=1)", op("polygamma", X, params=(1,))),
    ("stop_gradient(x)", op("stop_gradient", X)),
    ("pi*x", op("mul", constant("pi"), X)),
    ("E()", constant("E")),
    # layout
    ("  x +\\\n y  # a comment", op("add", X, Y)),
    ("(x\n\n + # a comment (\n y)", op("add", X, Y)),
    ("\ufeffx\r\n", X),
    ("# a comment\n\n\tx\n\n", X),
]  # fmt: skip


@pytest.mark.parametrize(("text", "node"), EXPRESSIONS)
def test_expression(text: str, node: Node) -> None:
    assert expression(text) is node


def test_names_that_other_notations_reserve() -> None:
    listing = parse_program("e + E + I + d + sin*sin(sin) + S + N + α_1")
    assert set(listing.symbols) == {"e", "E", "I", "d", "sin", "S", "N", "α_1"}


def test_program() -> None:
    listing = parse_program(
        "# two inputs\nx : real\na, b : positive; k : int; c : bool\nu ~ Uniform(0.9, 1.1)\n"
        "y = x**2\nz = sqrt(stop_gradient(y*u - y) + y)\nz + 1"
    )
    assert listing.names == ("x", "a", "b", "k", "c", "u", "y", "z")
    assert listing["x"].declaration == Declaration("x")
    assert [listing[n].dtype for n in listing.symbols] == ["real", "real", "real", "int", "bool", "real"]
    assert str(listing["a"].declaration) == "a : positive"
    u = Declaration("u", distribution=Distribution("Uniform", (Fraction(9, 10), Fraction(11, 10))))
    assert listing["u"] is symbol(u)
    x, y = listing["x"], listing["y"]
    assert y is op("pow", x, 2)
    inside = sub(op("mul", y, symbol(u)), y)
    assert listing["z"] is op("sqrt", op("add", op("stop_gradient", inside), y))
    assert listing.result is op("add", listing["z"], 1)


@pytest.mark.parametrize(
    ("text", "declaration"),
    [
        ("p : real(0, 1)", Declaration("p", Domain("real", "real", 0, 1))),
        ("p : real(-oo, 1/2)", Declaration("p", Domain("real", "real", None, Fraction(1, 2)))),
        ("p : real(-1.5, oo)", Declaration("p", Domain("real", "real", Fraction(-3, 2), None))),
        ("p : real(-oo, +oo)", Declaration("p")),
        ("p : real[n, 5]", Declaration("p", shape=("n", 5))),
        ("p : real(0, 1)[n]", Declaration("p", Domain("real", "real", 0, 1), ("n",))),
        ("p ~ Normal(-1, 1e-2)[n]", Declaration("p", shape=("n",), distribution=Distribution("Normal", (-1,
        Fraction(1, 100))))),
        ("p ~ Bernoulli(1/3)", Declaration("p", distribution=Distribution("Bernoulli", (Fraction(1, 3),)))),
    ],
)  # fmt: skip
def test_declaration(text: str, declaration: Declaration) -> None:
    node = parse_program(text)["p"]
    assert node.declaration == declaration
    assert parse_program(str(declaration))["p"] is node  # a declaration prints as it is written


def test_a_bare_expression_declares_its_names() -> None:
    listing = parse_program("x**2 + y")
    assert listing.symbols == {"x": X, "y": Y}
    assert listing.result is op("add", op("pow", X, 2), Y)


def test_expression_over_known_names() -> None:
    p = parse_program("x : positive\ny = x**2")
    names = {**p.symbols, **p.assignments}
    assert parse_expression("y + x", names) is op("add", p["y"], p["x"])
    assert parse_program("w = x + y", symbols=names)["w"] is op("add", p["x"], p["y"])


def test_shapes_broadcast() -> None:
    p = parse_program("X : real[n, 5]\nb : real[5]\ny = X + b")
    assert p["y"].shape == ("n", 5)


def test_arrays_are_what_the_builders_make() -> None:
    p = parse_program("X : real[n, 5]; w : real[5]; ids : int[m]; k : int")
    X, w, ids, k = (p[name] for name in ("X", "w", "ids", "k"))
    n = size_node("n")
    texts = {
        "X@w": products.matmul(X, w),
        "X @ w": products.matmul(X, w),
        "matmul(a=X, b=w)": products.matmul(X, w),
        "X.T": build.matrix_transpose(X),
        "X . T": build.matrix_transpose(X),
        "X.T.T": build.permute(build.permute(X)),
        "-X.T**2": op("neg", op("pow", build.matrix_transpose(X), 2)),
        "2*X@w": op("mul", 2, products.matmul(X, w)),
        "(2*X)@w": products.matmul(op("mul", 2, X), w),
        "-X@w": op("neg", products.matmul(X, w)),
        "-k*X@w": op("mul", op("neg", k), products.matmul(X, w)),
        "X*X@w": products.matmul(op("mul", X, X), w),
        "2*X.T@X@w": op("mul", 2, products.matmul(products.matmul(build.matrix_transpose(X), X), w)),
        "X@w*2": op("mul", products.matmul(X, w), 2),
        "sum(X, 0)": build.total(X, 0),
        "sum(X, axis=(-1,), keepdims=True)": build.total(X, 1, True),
        "sum(X, keepdims=False, axis=None)": build.total(X),
        "mean(X)*n": op("mul", build.reduce_axes("mean", X), n),
        "X[0]": index(X, 0),
        "X[1:, None, -1]": index(X, (slice(1, None), None, -1)),
        "X[..., ::-1]": index(X, (Ellipsis, slice(None, None, -1))),
        "X[:n - 1]": index(X, slice(None, size_sum(["n", -1]))),
        "X[ids, k]": index(X, (ids, k)),
        "X[(0, 1)]": index(X, (0, 1)),
        "X[0,]": index(X, 0),
        "w[[0, -1]]": index(w, [0, -1]),
        "(X + 1)[0][1]": index(index(op("add", X, 1), 0), 1),
        "zeros((n, 2*n + 1))": build.full_array(("n", size_sum(["n", "n", 1])), number(0)),
        "zeros(n)": build.full_array(("n",), number(0)),
        "reshape(X, (n*5,))": build.reshaped(X, size_product(["n", 5])),
        "eye(n - 1, 3)": build.identity(size_sum(["n", -1]), 3),
        "einsum('ij,j->i', X, w)": products.matmul(X, w),
        'einsum("ij,j", X, w)': products.matmul(X, w),
        "concatenate([w, w])": build.join([w, w]),
        "stack((w, 2*w), axis=-1)": build.stack([w, op("mul", 2, w)], -1),
        "norm(w, ord=1)": build.vector_norm(w, 1),
        "var(X, ddof=1, axis=0)": build.var(X, 0, False, 1),
        "take(X, ids, axis=1)": take(X, ids, 1),
        "one_hot(ids, n)": build.onehot(ids, "n"),
        "argmax(X, 1)": build.argument_position("argmax", X, 1),
        "minimum(n, 3)": op("minimum", n, 3),
        "where(X > 0, X, 0)": op("where", op("gt", X, 0), X, 0),
    }
    for text, node in texts.items():
        assert parse_expression(text, p.symbols) is node, text


def test_sizes_are_known_from_the_given_arrays() -> None:
    x = symbol(Declaration("x", shape=("n",)))
    assert parse_expression("n*sum(x)", {"x": x}).args[0] is size_node("n")
    y = symbol(Declaration("n"))
    with pytest.raises(RedefinitionError, match="'n' is a given symbol, and the size of a given array"):
        parse_expression("n*sum(x)", {"x": x, "n": y})
    assert parse_expression("n*sum(x)", {"x": x, "n": size_node("n")}).args[0] is size_node("n")


def test_sizes_are_declared() -> None:
    p = parse_program("n, m : size\nx : real[n]\ny = sum(x)/m")
    assert p.names == ("x", "y")
    assert p["y"].args[1] is size_node("m")
    assert parse_program("n : size").names == ()
    assert parse_program("x : real[n]\nn : size\ny = n*x")["y"].args[0] is size_node("n")
    assert parse_program("x : real[0, 1]")["x"].shape == (0, 1)


def test_a_bare_expression_finds_its_sizes() -> None:
    p = parse_program("2*ones((n, m + 1))*x")
    assert p.names == ("x",)
    assert p.result is not None
    assert p.result.shape == ("n", size_sum(["m", 1]))
    assert parse_program("eye(n)[:m]*y").names == ("y",)
    with pytest.raises(RedefinitionError, match="'n' is a number here and a size elsewhere") as caught:
        parse_program("1 + n*ones(n)")
    assert caught.value.at is not None
    assert caught.value.at.column == 5


def test_spans() -> None:
    text = "x : real\ny = sin(x**2) + (x**2)\nz = y"
    p = parse_program(text)

    def at(node: Node) -> str:
        span = p.spans[node]
        return text[span.start : span.end]

    assert p.spans[p["x"]] == Span(0, 1)
    assert p.name_spans == {"x": Span(0, 1), "y": Span(9, 10), "z": Span(32, 33)}
    assert at(op("pow", p["x"], 2)) == "x**2"
    assert p.spans[op("pow", p["x"], 2)].start == 17  # the first place
    assert at(op("sin", op("pow", p["x"], 2))) == "sin(x**2)"
    assert at(p["y"]) == "sin(x**2) + (x**2)"
    location = p.location(p["y"])
    assert location is not None
    assert (location.line, location.column) == (2, 5)


def test_every_node_of_the_text_has_a_span() -> None:
    p = parse_program("a = x - 2*y if x < y else -1/3\nb = log(a, 2) + (a > 0)", symbols={"x": X, "y": Y})
    from symgrad.ir.traverse import topological

    missing = [n for n in topological(p.assignments.values()) if n not in p.spans]
    # What apply() adds to use a truth value as a number was not written by anybody.
    assert {n.op.name for n in missing} <= {"where", "number"}


def test_sum_of_100_000_terms() -> None:
    n = 100_000
    node = expression(" + ".join(f"x{i % 7}*{i}" for i in range(n)))
    terms = 0
    while node.op is OPS["add"]:
        terms += 1
        assert node.args[1].args[1].value == n - terms
        node = node.args[0]
    assert terms == n - 1


def test_100_000_assignments() -> None:
    n = 100_000
    p = parse_program("y0 = 2\n" + "".join(f"y{i} = y{i - 1} + 1\n" for i in range(1, n)))
    assert len(p.assignments) == n
    assert p[f"y{n - 1}"].args[0] is p[f"y{n - 2}"]


def test_long_flat_texts_are_not_nested() -> None:
    flat = " and ".join(f"x**2 < y**{i}" for i in range(2000))
    assert expression(flat).op is OPS["and_"]
    assert expression("*".join(["-x**y"] * 2000)).op is OPS["mul"]
    assert expression("maximum(" + ", ".join(["x"] * 5000) + ")").op is OPS["maximum"]
    assert expression("(" * 1000 + "x" + ")" * 1000) is X


@pytest.mark.parametrize("digits", ["7", "1_", ".7", "1e7"])
def test_a_million_digits_take_a_few_bytes_each(digits: str) -> None:
    text = f"x + {digits}{digits[-2:] * 500_000}7" if "_" in digits else f"x + {digits}{'7' * 1_000_000}"
    tracemalloc.start()
    try:
        with pytest.raises(NumberTooLargeError, match="this number is too long"):
            parse_program(text)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(text)
    finally:
        tracemalloc.stop()


def test_threads_read_independently() -> None:
    found: dict[int, Node | None] = {}

    def read(i: int) -> None:
        for _ in range(20):
            found[i] = parse_program(" + ".join(f"v{i}_{j}" for j in range(50))).result

    threads = [Thread(target=read, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert found[i] is expression(" + ".join(f"v{i}_{j}" for j in range(50)))


def test_leaves() -> None:
    assert expression("x").op is SYMBOL
    assert expression("2").op is NUMBER
    assert expression("pi").op is CONSTANT


@pytest.mark.parametrize(
    ("text", "valid"),
    [("x", True), ("x_1", True), ("σ", True), ("x\u0304", True), ("e\u0301", False),
     ("sin", True), ("pi", False), ("and", False), ("lambda", False),
     ("2x", False), ("", False), ("x y", False), (" x", False), ("x²", False), ("__x", False), ("x#", False),
     ("x·y", False), ("ह\u093fन", False), ("℘", False), ("x\u0302_1", True)],
)  # fmt: skip
def test_is_name(text: str, valid: bool) -> None:
    assert is_name(text) is valid
    if valid:  # what can be declared is printed, and must read back
        program = parse_program(f"{text} : real\n{text}**2")
        assert list(program.symbols) == [text]
