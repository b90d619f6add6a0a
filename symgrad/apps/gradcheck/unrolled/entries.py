"""An entry of a traced array: a formula that NumPy takes for a number."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NoReturn, cast

import numpy as np

from symgrad.api.handles.expr import Expr, as_expr
from symgrad.apps.gradcheck.unrolled.paths import decide
from symgrad.ir.graph import Node
from symgrad.support.errors import UnsupportedError
from symgrad.support.traversal import walk

_DENOMINATOR = 10_000
_DIGITS = 15  # digits up to which a float stands for its decimal text

_EXACT: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def _exact(value: Any) -> Any:
    """Return the exact number that a float stands for, such as 1/3: ``1/n`` is a float in Python."""
    if isinstance(value, np.generic):
        value = cast("Any", value.item())
    if not isinstance(value, float) or not np.isfinite(value):
        return value
    if value.is_integer():
        return int(value)
    if len(repr(value).lstrip("-0.").replace(".", "")) > _DIGITS:
        near = Fraction(value).limit_denominator(_DENOMINATOR)
        if float(near) == value:
            return near
    return value


def formula_of(value: Any) -> Expr:
    """Return an entry, or a number, as a formula.

    Raises:
        UnsupportedError: for an entry of `numpy.empty` that was never written.
    """
    if value is None:
        raise UnsupportedError("it reads an entry of np.empty that nothing was written to")
    if isinstance(value, Expr):
        return value
    return value.expr if isinstance(value, FormulaEntry) else as_expr(_exact(value))


def apply_ufunc(name: str, *values: Any) -> Any:
    """Apply a ufunc of NumPy, by name, to entries and numbers."""
    if name in _EXACT and not any(isinstance(v, FormulaEntry) for v in values):
        plain = [_exact(v) for v in values]
        if all(isinstance(v, int | Fraction) for v in plain):
            return _EXACT[name](*plain)
    if name == "add":  # sums often start with an array of zeros
        for k, v in enumerate(values):
            if not isinstance(v, FormulaEntry) and v == 0 and values[1 - k] is not None:
                return values[1 - k]
    formulas = [formula_of(v) for v in values]
    if name == "multiply" and [f.dtype for f in formulas].count("bool") == 1:
        # A mask as a factor is a `where`, which proofs can split.
        mask, value = formulas if formulas[0].dtype == "bool" else formulas[::-1]
        return where(FormulaEntry(mask), value, 0)
    if name == "equal" and _is_extreme(*formulas):
        name = "greater_equal" if _top(*formulas).op.name == "maximum" else "less_equal"
        formulas = formulas if _top(*formulas) is formulas[1].node else formulas[::-1]
    made: Any = getattr(np, name)(*formulas)
    return FormulaEntry(made)


_EXTREMES = ("maximum", "minimum")


def _top(a: Expr, b: Expr) -> Node:
    return b.node if b.node.op.name in _EXTREMES else a.node


def _is_extreme(a: Expr, b: Expr) -> bool:
    """Tell whether one is the extreme of several values, and the other one of these values."""
    top = _top(a, b)
    if top.op.name not in _EXTREMES:
        return False
    other = a.node if top is b.node else b.node
    return any(node is other for node in walk([top], lambda n: n.args if n.op is top.op else ()))


def where(condition: Any, x: Any, y: Any) -> Any:
    """Return x where a condition holds, else y."""
    if not isinstance(condition, FormulaEntry):
        return x if condition else y
    made: Any = np.where(condition.expr, formula_of(x), formula_of(y))
    return FormulaEntry(made)


def _binary(name: str, *, turned: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # an array acts on each of its entries
        return apply_ufunc(name, other, self) if turned else apply_ufunc(name, self, other)

    return method


calls: dict[str, Callable[..., Any]] = {}
"""The handlers of NumPy's ufuncs and functions; `arrays.py` registers them."""


class FormulaEntry:
    """An entry of an array.

    Args:
        expr: the formula.
    """

    __slots__ = ("expr",)

    ndim = 0
    size = 1
    dtype = np.dtype(np.float64)

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a number: ()."""
        return ()

    __add__, __radd__ = _binary("add"), _binary("add", turned=True)
    __sub__, __rsub__ = _binary("subtract"), _binary("subtract", turned=True)
    __mul__, __rmul__ = _binary("multiply"), _binary("multiply", turned=True)
    __truediv__, __rtruediv__ = _binary("true_divide"), _binary("true_divide", turned=True)
    __pow__, __rpow__ = _binary("power"), _binary("power", turned=True)
    __mod__, __rmod__ = _binary("remainder"), _binary("remainder", turned=True)
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _binary("floor_divide", turned=True)
    __and__, __rand__ = _binary("logical_and"), _binary("logical_and", turned=True)
    __or__, __ror__ = _binary("logical_or"), _binary("logical_or", turned=True)
    __lt__, __le__, __gt__, __ge__ = map(_binary, ("less", "less_equal", "greater", "greater_equal"))
    __eq__, __ne__ = _binary("equal"), _binary("not_equal")
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __neg__(self) -> Any:
        return FormulaEntry(-self.expr)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return FormulaEntry(abs(self.expr))

    def __invert__(self) -> Any:
        return FormulaEntry(~self.expr)

    def __bool__(self) -> bool:
        return decide(self.expr if self.expr.dtype == "bool" else self.expr != 0)

    def __float__(self) -> NoReturn:
        raise UnsupportedError("it makes a float of what is traced, or writes it into an array that is not")

    def __int__(self) -> NoReturn:
        raise UnsupportedError("it makes an int of what is traced")

    def item(self) -> FormulaEntry:
        """Return the entry itself."""
        return self

    copy = item
    T = property(item)

    def astype(self, _dtype: Any, **_: Any) -> FormulaEntry:
        """Return the entry itself: it has no precision."""
        return self

    def mean(self, *_: Any, **__: Any) -> FormulaEntry:
        """Return the entry itself: the mean, the sum and the extremes of one number."""
        return self

    sum = max = min = mean

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return calls["ufunc"](ufunc, method, inputs, options)

    def __array_function__(self, function: Any, _types: Any, args: Any, options: Any) -> Any:
        return calls["function"](function, args, options)
