"""The Builder protocol in NumPy: lowerings also evaluate arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import numpy as np

from symgrad.ir.exact import CONSTANTS
from symgrad.ir.op import Builder

NUMPY_NAMES = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "pow": "power",
}
"""NumPy's names for functions of `call` that have another name in C."""
OF_SCIPY = frozenset(
    {"ellipeinc", "ellipkinc", "exp1", "expn", "gammainc", "gammaincc", "hyp1f1", "iv", "ive"}
)
"""Functions of scipy.special for `call`."""


class _ArrayBuilder:
    """The Builder protocol on arrays, with Python numbers as constants, so that arrays keep their dtype."""

    add = staticmethod(np.add)
    sub = staticmethod(np.subtract)
    mul = staticmethod(np.multiply)
    div = staticmethod(np.true_divide)
    neg = staticmethod(np.negative)
    sqrt = staticmethod(np.sqrt)
    abs = staticmethod(np.abs)
    floor = staticmethod(np.floor)
    ceil = staticmethod(np.ceil)
    rint = staticmethod(np.rint)
    copysign = staticmethod(np.copysign)
    minimum = staticmethod(np.minimum)
    maximum = staticmethod(np.maximum)
    lt = staticmethod(np.less)
    le = staticmethod(np.less_equal)
    gt = staticmethod(np.greater)
    ge = staticmethod(np.greater_equal)
    eq = staticmethod(np.equal)
    ne = staticmethod(np.not_equal)
    and_ = staticmethod(np.logical_and)
    or_ = staticmethod(np.logical_or)
    xor = staticmethod(np.logical_xor)
    not_ = staticmethod(np.logical_not)
    select = staticmethod(np.where)
    isnan = staticmethod(np.isnan)
    bool_const = staticmethod(np.bool_)
    fused = False

    def const(self, value: float | Fraction) -> float:
        return float(value)

    def const_named(self, name: str) -> float:
        return float(CONSTANTS[name])

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return a * b + c  # rounded twice, since NumPy has no fused multiply-add

    def knows(self, name: str) -> bool:  # noqa: ARG002  (the protocol's)
        return False

    def two_product(self, a: Any, b: Any) -> Any:
        raise NotImplementedError  # for targets where fma is one instruction

    def call(self, name: str, *args: Any) -> Any:
        if name in OF_SCIPY:
            from scipy import special  # for start-up time

            return getattr(special, name)(*args)
        value: Any = getattr(np, NUMPY_NAMES.get(name, name))(*args)
        return float(value) if all(type(a) is float for a in args) else value


ARRAYS = cast(Builder, _ArrayBuilder())
