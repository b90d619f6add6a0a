"""The elementary functions on expressions, under their NumPy and SciPy names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.api.expr import Expr, apply_op
from symgrad.errors import UsageError
from symgrad.ir.graph import constant
from symgrad.ir.op import OPS

__all__ = [
    "Ci",
    "Si",
    "abs",
    "acos",
    "acosh",
    "acot",
    "acoth",
    "acsc",
    "acsch",
    "airyai",
    "airyaiprime",
    "airybi",
    "airybiprime",
    "asec",
    "asech",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "beta",
    "cbrt",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "cot",
    "coth",
    "csc",
    "csch",
    "digamma",
    "erf",
    "erfc",
    "erfcinv",
    "erfi",
    "erfinv",
    "exp",
    "exp1",
    "exp2",
    "expi",
    "expm1",
    "floor",
    "gamma",
    "hypot",
    "iv",
    "jv",
    "kv",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "pi",
    "polygamma",
    "relu",
    "round",
    "sec",
    "sech",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "tan",
    "tanh",
    "where",
    "yv",
]


def _function(name: str) -> Callable[..., Expr]:
    """Return a function that applies an op as written."""
    op = OPS[name]

    def apply(*args: Any) -> Expr:
        return apply_op(name, *args)

    signature = (
        ", ".join("xyzw"[: op.arity])
        if op.takes[0] == "number"
        else "condition, x, y"[: 11 + 3 * (op.arity - 1)]
    )
    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{op.name}({signature}): {op.doc}."
    return apply


sqrt = _function("sqrt")
cbrt = _function("cbrt")
exp = _function("exp")
exp2 = _function("exp2")
expm1 = _function("expm1")
log = _function("log")
log2 = _function("log2")
log10 = _function("log10")
log1p = _function("log1p")
sin = _function("sin")
cos = _function("cos")
tan = _function("tan")
asin = _function("asin")
acos = _function("acos")
atan = _function("atan")
atan2 = _function("atan2")
sinh = _function("sinh")
cosh = _function("cosh")
tanh = _function("tanh")
asinh = _function("asinh")
acosh = _function("acosh")
atanh = _function("atanh")
sigmoid = _function("sigmoid")
softplus = _function("softplus")
relu = _function("relu")
abs = _function("abs")
sign = _function("sign")
floor = _function("floor")
ceil = _function("ceil")
round = _function("round")
minimum = _function("minimum")
maximum = _function("maximum")
clip = _function("clip")
where = _function("where")
sec = _function("sec")
csc = _function("csc")
cot = _function("cot")
asec = _function("asec")
acsc = _function("acsc")
acot = _function("acot")
sech = _function("sech")
csch = _function("csch")
coth = _function("coth")
asech = _function("asech")
acsch = _function("acsch")
acoth = _function("acoth")
erf = _function("erf")
erfc = _function("erfc")
gamma = _function("gamma")
lgamma = _function("lgamma")
digamma = _function("digamma")
erfi = _function("erfi")
erfinv = _function("erfinv")
erfcinv = _function("erfcinv")
expi = _function("expi")
exp1 = _function("exp1")
Si = _function("Si")
Ci = _function("Ci")
jv = _function("jv")
yv = _function("yv")
iv = _function("iv")
kv = _function("kv")
airyai = _function("airyai")
airyaiprime = _function("airyaiprime")
airybi = _function("airybi")
airybiprime = _function("airybiprime")
hypot = _function("hypot")
logical_and = _function("and_")
logical_or = _function("or_")
logical_not = _function("not_")
logical_xor = _function("xor")
pi = Expr(constant("pi"))


def polygamma(n: int, x: Any) -> Expr:
    """Return the n-th derivative of digamma.

    Args:
        n: the order, a whole number; 0 is digamma itself.
        x: an expression or number.

    Raises:
        UsageError: if ``n`` is not a whole number, at least 0.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"polygamma of order {n!r}", expected="a whole number, at least 0")
    return apply_op("polygamma", x, params=(n,))


def beta(a: Any, b: Any) -> Expr:
    """Return the beta function gamma(a)*gamma(b)/gamma(a + b), written so: the gamma functions overflow beyond 171.

    Args:
        a: an expression or number.
        b: an expression or number.

    Example:
        >>> float(beta(2, 3)())
        0.08333333333333333
    """
    return gamma(a) * gamma(b) / gamma(a + b)
