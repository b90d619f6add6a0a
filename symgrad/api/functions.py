"""The elementary functions on expressions, under their NumPy and SciPy names."""

from __future__ import annotations

from collections.abc import Callable
from sys import maxsize
from typing import Any

from symgrad.api.convert import node_of
from symgrad.api.expr import Expr, apply_op, built
from symgrad.errors import UsageError
from symgrad.ir.graph import constant
from symgrad.ir.op import OPS
from symgrad.ir.written import WRITTEN, Written

__all__ = [
    "Chi",
    "Ci",
    "LambertW",
    "Li",
    "Shi",
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
    "betaln",
    "binomial",
    "cbrt",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "cot",
    "coth",
    "csc",
    "csch",
    "dawsn",
    "digamma",
    "ellipe",
    "ellipeinc",
    "ellipk",
    "ellipkinc",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp",
    "exp1",
    "exp2",
    "expi",
    "expint",
    "expm1",
    "factorial",
    "floor",
    "fresnelc",
    "fresnels",
    "gamma",
    "gammainc",
    "gammaincc",
    "hypot",
    "iv",
    "ive",
    "jv",
    "kv",
    "lgamma",
    "li",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_ndtr",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lowergamma",
    "maximum",
    "minimum",
    "ndtr",
    "ndtri",
    "pi",
    "polygamma",
    "polylog",
    "relu",
    "round",
    "sec",
    "sech",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softplus",
    "spence",
    "sqrt",
    "tan",
    "tanh",
    "uppergamma",
    "where",
    "yv",
    "zeta",
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


def _build(how: Written, args: tuple[Any, ...]) -> Expr:
    nodes = [node_of(a) for a in args]
    return built(lambda: how.build(*nodes), args)


def _written(name: str) -> Callable[..., Expr]:
    """Return a function that is written in others (as an op where it is one of other arguments)."""
    forms = WRITTEN[name]

    def apply(*args: Any) -> Expr:
        for how in forms:
            if len(how.parameters) == len(args):
                return _build(how, args)
        if name in OPS:
            return apply_op(name, *args)
        raise UsageError(
            f"{name} takes {len(forms[0].parameters)} arguments, got {len(args)}",
            expected=f"{name}({', '.join(forms[0].parameters)})",
        )

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = " ".join(f"{name}({', '.join(how.parameters)}): {how.doc}." for how in forms)
    if name in OPS:
        apply.__doc__ += f" {OPS[name].doc}."
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
Chi = _function("Chi")
LambertW = _function("LambertW")
Shi = _function("Shi")
dawsn = _function("dawsn")
ellipe = _function("ellipe")
ellipeinc = _function("ellipeinc")
ellipk = _function("ellipk")
ellipkinc = _function("ellipkinc")
erfcx = _function("erfcx")
expint = _function("expint")
fresnelc = _function("fresnelc")
fresnels = _function("fresnels")
ive = _function("ive")
li = _function("li")
log_ndtr = _function("log_ndtr")
lowergamma = _function("lowergamma")
polylog = _function("polylog")
uppergamma = _function("uppergamma")
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
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= maxsize:  # pyright: ignore[reportUnnecessaryIsInstance]
        order = "so large an order" if isinstance(n, int) and n > maxsize else f"order {n!r}"
        raise UsageError(f"polygamma of {order}", expected="a whole number, at least 0")
    return apply_op("polygamma", x, params=(n,))


Li = _written("Li")
beta = _written("beta")
betaln = _written("betaln")
binomial = _written("binomial")
factorial = _written("factorial")
gammainc = _written("gammainc")
gammaincc = _written("gammaincc")
ndtr = _written("ndtr")
ndtri = _written("ndtri")
spence = _written("spence")
zeta = _written("zeta")
