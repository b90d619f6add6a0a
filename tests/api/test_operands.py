"""What stands beside an expression: numbers, lists, arrays, other libraries' objects; and what Python asks of one."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.errors import (
    DomainError,
    NumberTooLargeError,
    ShapeError,
    SymgradError,
    TruthValueError,
    UnsupportedError,
    UsageError,
)

X, Y = cast("tuple[Any, Any]", sg.symbols("x y"))  # much of what is asked of them has no meaning
V, N = sg.tensor("v", (3,)), sg.tensor("w", ("n",))
P = sg.parse("x : real\nz = x**2")
ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
ORDER = (operator.lt, operator.le, operator.gt, operator.ge)

# -- numbers: exact, on either side -------------------------------------------------------------------------------

TENTH = Fraction(1, 10)
NUMBERS: dict[str, tuple[Any, Any]] = {
    "int": (3, 3),
    "float": (0.1, TENTH),
    "Fraction": (TENTH, TENTH),
    "Decimal": (Decimal("0.1"), TENTH),
    "Decimal -0": (Decimal("-0"), -0.0),
    "float64": (np.float64(0.1), TENTH),
    "float32": (np.float32(0.1), TENTH),
    "float16": (np.float16(0.1), TENTH),
    "longdouble": (np.longdouble("0.1"), TENTH),
    "int8": (np.int8(3), 3),
    "uint64": (np.uint64(2**63), 2**63),
    "array of no axes": (np.array(0.1), TENTH),
    "bool": (True, True),
    "numpy bool": (np.bool_(True), True),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_exact_on_either_side(name: str) -> None:
    given, exact = NUMBERS[name]
    for op in (*ARITHMETIC, *ORDER, operator.eq, operator.ne):
        assert op(X, given).same(op(X, exact)), op
    for op in ARITHMETIC:
        assert op(given, X).same(op(exact, X)), op
    for op in (*ORDER, operator.eq, operator.ne):
        assert float(op(given, X)(x=exact)) == op(exact, exact), op
    assert sg.sin(given).same(sg.sin(exact))


REFUSED: dict[str, tuple[Any, type[SymgradError], str]] = {
    "complex": (1j, UsageError, "type complex"),
    "complex64": (np.complex64(1j), UsageError, "type complex64|type ndarray"),
    "complex128": (np.complex128(1j), UsageError, "type complex128|type ndarray"),
    "nan": (math.nan, UsageError, "nan is not a number"),
    "inf": (np.float32(-np.inf), UsageError, "-inf is not a number"),
    "long inf": (np.longdouble("inf"), UsageError, "inf is not a number"),
    "Decimal NaN": (Decimal("sNaN"), UsageError, "nan is not a number"),
    "Decimal inf": (Decimal("-Infinity"), UsageError, "-inf is not a number"),
    "Decimal too large": (Decimal("1e999999999"), NumberTooLargeError, "too large"),
    "Decimal too small": (Decimal("-1e-999999999"), NumberTooLargeError, "too large"),
    "array": (np.ones(3), UsageError, "type ndarray"),
    "array of objects": (np.array([None, 1]), UsageError, "type ndarray"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_numbers_that_no_formula_has_are_refused_with_a_cure(name: str) -> None:
    given, error, message = REFUSED[name]
    for call in (*ARITHMETIC, *ORDER, operator.eq, operator.ne, operator.matmul):
        if call is operator.matmul and name == "array of objects":
            continue
        for args in ((V, given), (given, V)):
            with pytest.raises(error, match=message) as caught:
                call(*args)
            assert caught.value.cure or caught.value.expected


# -- foreign objects: Python asks them ----------------------------------------------------------------------------


class Reflecting:
    """A class whose reflected operators know what to do."""

    def _mine(self, _other: object) -> str:
        return "mine"

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = __rmatmul__ = __rfloordiv__ = __rmod__ = _mine
    __rdivmod__ = __rand__ = __ror__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = _mine
    __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = __matmul__ = __floordiv__ = __mod__ = _mine
    __divmod__ = __and__ = __or__ = __xor__ = _mine

    def __eq__(self, other: object) -> Any:
        return "mine"

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]


OPERATORS: tuple[Callable[[Any, Any], Any], ...] = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul),
    *(operator.floordiv, operator.mod, divmod, operator.and_, operator.or_, operator.xor),
)


@pytest.mark.parametrize("op", [*OPERATORS, *ORDER, operator.eq, operator.ne])
def test_reflected_operators_of_other_classes_get_their_turn(op: Callable[[Any, Any], Any]) -> None:
    assert op(X, Reflecting()) == "mine"
    assert op(Reflecting(), X) == "mine"


FOREIGN = [
    None,
    "a",
    np.str_("a"),
    b"a",
    [1, 2],
    (1, 2),
    {1: 2},
    {1},
    object(),
    ...,
    slice(1),
    np.datetime64(0, "s"),
]


@pytest.mark.parametrize("value", FOREIGN, ids=lambda v: type(v).__name__)
def test_foreign_objects_are_type_errors_and_unequal(value: Any) -> None:
    for op in (*OPERATORS, *ORDER):
        pairs: list[tuple[Any, Any]] = [(X, value), (value, X), (V, value), (value, V)]
        for args in pairs:
            if op is operator.mod and isinstance(args[0], str | bytes):
                continue  # Python's formatting
            with pytest.raises((TypeError, UsageError)) as caught:
                op(*args)
            assert isinstance(caught.value, TypeError) or isinstance(value, np.generic)  # NumPy decides first
    if not isinstance(value, np.datetime64):
        assert operator.eq(X, value) is operator.eq(value, X) is False
        assert operator.ne(X, value) is operator.ne(value, X) is True
        assert X not in [value, value]


def test_sympy_takes_over_where_one_side_is_its_own() -> None:
    s, x = sympy.Symbol("s"), sympy.Symbol("x", real=True)
    for op in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
        assert op(X, s) == op(x, s)
        assert op(s, X) == op(s, x)
    assert [s > X, s < X] == [s > x, s < x]
    assert operator.eq(X, x) is operator.eq(x, X) is True
    assert operator.eq(X, s) is operator.eq(s, X) is False
    assert sympy.Integer(2) * X == 2 * x == X * sympy.Integer(2)
    assert sympy.sin(X).diff(x) == sympy.cos(x)
    assert sympy.sympify([X, Y**2]) == [x, sympy.Symbol("y", real=True) ** 2]
    assert sympy.sympify(X > 0) == (x > 0)
    assert sympy.sympify(X**2, strict=True) == x**2
    for call in (lambda: sympy.sympify(V), lambda: V + s, lambda: s * V, lambda: sympy.sin(sg.sum(V))):
        with pytest.raises(UnsupportedError, match="SymPy takes formulas of numbers; 'v' has shape"):
            call()


# -- lists are arrays, for functions ------------------------------------------------------------------------------


def test_lists_spell_arrays() -> None:
    assert sg.sum([X, Y]).same(sg.sum(sg.arrays.stack([X, Y])))
    matrix = [[X, 1], (2, Y)]
    assert sg.arrays.stack(matrix).shape == (2, 2)
    assert float(sg.linalg.det(matrix)(x=3.0, y=4.0)) == pytest.approx(10.0)
    assert np.dot(V, [1, 2, 3]).shape == ()
    assert np.add(X, [1, 2]).shape == (2,)
    both = sg.linalg.norm([P["z"], P["x"]])
    assert [i.name for i in both.inputs] == ["x"]
    assert both.listings == P["z"].listings


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([], UsageError, "an empty list"),
        ([[X], [X, Y]], ShapeError, r"shapes \(1,\) and \(2,\)"),
        ([X, None], UsageError, "type NoneType"),
        ([X, [Y]], ShapeError, "shapes"),
        ({1: X}, UsageError, "type dict"),
        (P, UsageError, "type Program"),
        ("x", UsageError, "type str"),
    ],
)
def test_lists_that_are_no_arrays(value: Any, error: type[SymgradError], message: str) -> None:
    with pytest.raises(error, match=message):
        sg.sin(value)


def test_a_list_in_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(UsageError, match="nest deeper"):
        sg.sin(endless)


def test_a_list_of_truth_values_is_a_condition() -> None:
    chosen = sg.where([True, False], X, Y)
    np.testing.assert_array_equal(chosen(x=1.0, y=2.0), [1.0, 2.0])
    with pytest.raises(DomainError, match="argument 1 of where is a number"):
        sg.where([1.5, 0.5], X, Y)


# -- what Python asks of an expression ----------------------------------------------------------------------------


def test_containers_find_an_expression_by_any_handle() -> None:
    other = P["x"]
    assert other is not X
    assert other in [X, Y]
    assert {X: 1}[other] == 1
    assert len({X, other, X + 1, other + 1}) == 2
    assert not operator.ne(X, other)
    assert {Y: 1}.get(X) is None
    assert hash(X) == hash(other)


@pytest.mark.parametrize("expr", [X, P["z"], sg.grad(P["z"], "x"), V[0] > 1])
def test_copies_and_pickles(expr: sg.Expr) -> None:
    assert copy.copy(expr) is expr
    assert copy.deepcopy([expr])[0] is expr
    again = pickle.loads(pickle.dumps(expr))
    assert again.same(expr)
    assert again.derived == expr.derived


ASKED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "bool": (lambda: bool(X), TruthValueError, "a.same"),
    "not": (lambda: not X > 0, TruthValueError, "sg.where"),
    "and": (lambda: (X > 0) & (Y > 0) and Y, TruthValueError, "sg.where"),
    "chain": (lambda: 0 < X < 1, TruthValueError, "& between comparisons"),
    "min": (lambda: min(X, Y), TruthValueError, "sg.minimum"),
    "sorted": (lambda: sorted([X, Y]), TruthValueError, "sg.minimum"),
    "in": (lambda: X in [Y, Y], TruthValueError, "a.same"),
    "in array": (lambda: operator.contains(cast("Any", V), 1), TruthValueError, "a.same"),
    "in scalar": (lambda: operator.contains(X, 1), TypeError, "not iterable"),
    "math.sin": (lambda: math.sin(X), TruthValueError, "sg.sin, not math.sin"),
    "float": (lambda: float(X), TruthValueError, "call it with values"),
    "int": (lambda: int(X), TruthValueError, "call it with values"),
    "complex": (lambda: complex(X), TruthValueError, "call it with values"),
    "trunc": (lambda: math.trunc(X), TypeError, "__trunc__"),
    "round": (lambda: round(X, 2), UnsupportedError, r"round\(x\*100\)/100"),
    "np.fmod": (lambda: np.fmod(X, 2), UnsupportedError, "x % y has the sign of y"),
    "pow modulo": (lambda: pow(X, 2, 3), TypeError, "arguments"),
    "len": (lambda: len(X), TypeError, "declared with its shape.* no length"),
    "len of a name": (lambda: len(N), ShapeError, "sg.size"),
    "list": (lambda: list(X), TypeError, "not iterable"),
    "list of a name": (lambda: list(N), ShapeError, "declare a number"),
    "unpack": (lambda: [*X], TypeError, "not iterable"),
    "reversed": (lambda: reversed(X), TypeError, "no length"),
    "range": (lambda: range(X), TypeError, "integer"),
    "position": (lambda: [1, 2][X], TypeError, "indices"),
    "format": (lambda: f"{X:.3f}", TypeError, "format"),
    "np.array": (lambda: np.array([X, Y]), UnsupportedError, "sg.arrays.stack"),
    "np.asarray": (lambda: np.asarray(V), UnsupportedError, "call it with values"),
    "objects": (lambda: np.array([X, Y], dtype=object), UnsupportedError, "sg.arrays.stack"),
    "np.linalg.norm": (lambda: np.linalg.norm([X, Y]), UnsupportedError, "sg.arrays.stack"),
    "np.linalg.svd": (lambda: np.linalg.svd(V), UnsupportedError, "numpy.linalg.svd"),
    "reduce": (lambda: np.hypot.reduce(V), UnsupportedError, "reduce"),
    "out": (lambda: np.sin(V, out=np.zeros(3)), UnsupportedError, "options"),
    "np.add": (lambda: np.add(X, cast("Any", None)), TypeError, "NotImplemented"),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_has_no_meaning_says_what_to_do(name: str) -> None:
    call, error, message = ASKED[name]
    with pytest.raises(error, match=message) as caught:
        call()
    if isinstance(caught.value, SymgradError):
        assert caught.value.cure


def test_what_has_a_meaning() -> None:
    assert str(sum([X, Y])) == "0 + x + y"
    assert [str(e) for e in V] == ["v[0]", "v[1]", "v[2]"]
    assert str(next(iter(reversed(V)))) == "v[2]"
    assert abs(X).same(sg.abs(X))
    assert round(X).same(sg.round(X))
    assert math.floor(X).same(sg.floor(X))
    assert (float(sg.pi), int(sg.pi), int(sg.sqrt(10))) == (math.pi, 3, 3)
    assert int(sg.stop_gradient(2) - 5) == -3
    assert np.sin(X).same(sg.sin(X))
    assert cast("Any", np.linalg.norm(V)).same(sg.linalg.norm(V))
    assert cast("Any", np.stack([X, Y])).same(sg.arrays.stack([X, Y]))
