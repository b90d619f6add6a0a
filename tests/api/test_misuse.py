"""What people pass by mistake is refused with a cure; what is near enough to be meant is taken."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.errors import (
    DeclarationError,
    DomainError,
    NotInProgramError,
    NumberTooLargeError,
    RedefinitionError,
    SymgradError,
    UsageError,
)
from tests.fuzz.kind import refused

X = sg.symbols("x")
P = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
Z = P["z"]


@pytest.mark.parametrize("value", [np.float64(0.1), np.float32(0.1), np.array(0.1), 0.1])
def test_every_float_of_numpy_is_the_decimal_it_prints(value: Any) -> None:
    assert (X * value).same(X * 0.1)
    assert (value * X).same(0.1 * X)


def test_numpy_zero_keeps_its_sign() -> None:
    assert (X * np.float64(-0.0)).same(X * -0.0)


@pytest.mark.parametrize(
    "name", ["pi", "lambda", "None", "__x", "1x", "x:3", "\N{FULLWIDTH LATIN SMALL LETTER X}"]
)
def test_symbols_that_would_not_read_back_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a symbol"):
        sg.symbols(name)
    with pytest.raises(DeclarationError, match="cannot name a symbol"):
        sg.from_sympy(sympy.Symbol(name, real=True))


@pytest.mark.parametrize("order", [-1, 1.0, True, X])
def test_polygamma_wants_an_order(order: Any) -> None:
    with pytest.raises(UsageError, match="polygamma of order"):
        sg.special.polygamma(order, X)


@pytest.mark.parametrize("order", ["-1", "x", "1/2"])
def test_polygamma_of_a_text_wants_an_order(order: str) -> None:
    with pytest.raises(DomainError, match="at least 0"):
        sg.parse(f"polygamma({order}, x)")


@pytest.mark.parametrize(
    ("call", "cure"),
    [
        (lambda: sg.sin(cast("Any", P)), "program.last"),
        (lambda: sg.sin(cast("Any", "z")), "program['y']"),
        (lambda: Z + cast("Any", 1j), "two real formulas"),
        (lambda: Z * np.ones(3), "make arrays inputs"),
        (lambda: sg.sin(None), "convert it"),  # pyright: ignore[reportArgumentType]
        (lambda: sg.sin(sympy.Symbol("x")), "sg.from_sympy"),  # pyright: ignore[reportArgumentType]
        (lambda: sg.grad(Z, "xx"), "did you mean 'x'"),
    ],
)
def test_messages_name_a_cure_that_fits(call: Callable[[], Any], cure: str) -> None:
    with pytest.raises(SymgradError) as caught:
        call()
    assert cure in (caught.value.cure or "")


@pytest.mark.parametrize("call", [lambda: sg.gradients([], "x"), lambda: sg.jvp([], [X], [1])])
def test_nothing_to_differentiate(call: Callable[[], Any]) -> None:
    with pytest.raises(UsageError, match="nothing to differentiate"):
        call()


def test_an_empty_list_of_names_is_not_shown() -> None:
    with pytest.raises(NotInProgramError) as caught:
        sg.grad(3, "x")
    assert caught.value.expected is None


def test_compile_takes_inputs_by_name() -> None:
    k = sg.compile([Z, sg.grad(Z, "x")], inputs=["u", P["x"]])
    assert k.inputs == ("u", "x")
    assert sg.compile(X**2, inputs="x").inputs == ("x",)
    assert sg.compile(Z, inputs=iter(P.inputs)).inputs == ("x", "u")  # pyright: ignore[reportArgumentType]
    with pytest.raises(NotInProgramError) as caught:
        sg.compile(Z, inputs=["x", "z"])
    assert caught.value.expected == "one of x, u"


@pytest.mark.parametrize(
    "other",
    [sympy.Dummy("x"), sympy.Symbol("x", positive=True), sympy.Symbol("x", real=True)],
    ids=["dummy", "positive", "real"],  # a Dummy is spelled differently in every process
)
def test_symbols_that_sympy_tells_apart_are_not_merged(other: Any) -> None:
    with pytest.raises(RedefinitionError, match="two different symbols of SymPy are named x"):
        sg.from_sympy([sympy.Symbol("x"), other])
    assert sg.from_sympy(other**2).inputs[0].name == "x"


@pytest.mark.parametrize(
    "make",
    [
        lambda: sg.arrays.zeros((2, -1)),
        lambda: sg.arrays.full((-3,), 1),
        lambda: sg.arrays.eye(-1),
        lambda: sg.arrays.arange(-1),
        lambda: sg.nn.one_hot(sg.tensor("i", ("n",), "int"), -2),
        lambda: sg.arrays.broadcast_to(sg.tensor("x", (1,)), (-1,)),
        lambda: sg.tensor("x", (-1,)),
    ],
)
def test_lengths_are_not_negative(make: Callable[[], Any]) -> None:
    with pytest.raises(UsageError, match="an axis of length -"):
        make()


def test_the_subscripts_of_einsum_are_a_text() -> None:
    with pytest.raises(UsageError, match="subscripts of type Expr"):
        sg.einsum(sg.tensor("A", ("n", "n")), sg.tensor("x", ("n",)))  # pyright: ignore[reportArgumentType]


def test_who_divides_by_an_entry_of_a_shape_is_told_what_its_number_is() -> None:
    x = sg.tensor("x", ("n",))
    with pytest.raises(UsageError) as caught:
        _ = sg.sum(x) / cast("Any", x.shape[0])
    assert "sg.size('n')" in (caught.value.cure or "")


def test_messages_write_out_what_a_terminal_would_obey() -> None:
    for name in ("\x1b[31m", "\udcff", "\u202ex", "\r"):
        with pytest.raises(SymgradError) as caught:
            sg.tensor(f"x{name}", ())
        text = str(caught.value)
        text.encode()
        assert name not in text
        assert ascii(name[0])[1:-1] in text


def test_an_input_may_be_called_as_pythons_own_argument() -> None:
    me = sg.symbols("self")
    assert (me**2)(self=3.0) == 9
    assert sg.compile(me**2, [me])(self=3.0) == 9
    n = sg.tensor("self", ("n",))
    assert sg.compile(sg.sum(n), [n])(self=[3.0, 1]) == 4


def test_explain_writes_shapes_as_every_message_does() -> None:
    x = sg.tensor("x", ("n",))
    with pytest.raises(SymgradError, match=r"has shape \(n,\)"):
        sg.explain(x**2, x)


FORMS: list[Callable[[sg.Expr], object]] = [
    str,
    sg.Expr.latex,
    sg.Expr.numpy_source,
    sg.Expr.canonical,
    sg.Expr.stable,
    sg.compile,
    lambda e: e(1.0),
    lambda e: float(e.subs(x=1)),
    lambda e: sg.equal(e, e + 1),
    lambda e: sg.grad(e, X),
]


@pytest.mark.parametrize(
    "size",
    [7**400, 7**4000, -(7**4000), Fraction(7**4000, 3**6000), Fraction(1, 7**4000)],
    ids=["large", "larger", "negative", "quotient", "small"],
)
def test_numbers_of_thousands_of_digits_are_formulas_or_refusals(size: int | Fraction) -> None:
    with pytest.raises(NumberTooLargeError):
        _ = X + size * 11**9000
    for e in (size * X, sg.sin(X) ** 2 + size * sg.cos(X), X + sg.exp(size + X), X**size):
        for form in FORMS:
            try:
                form(e)
            except NumberTooLargeError as error:
                refused(error)
