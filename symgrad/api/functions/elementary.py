"""The elementary functions on expressions, under their NumPy and SciPy names."""

from __future__ import annotations

from collections.abc import Callable
from sys import maxsize
from typing import Any, Protocol, TypeAlias

from symgrad.api.functions import numpy_names
from symgrad.api.handles.expr import Expr, Operand, apply_op
from symgrad.ir.composite import WRITTEN, form_of
from symgrad.ir.graph import OPS, constant
from symgrad.support.errors import UsageError

_Unary: TypeAlias = Callable[[Operand], Expr]
_Binary: TypeAlias = Callable[[Operand, Operand], Expr]
_Ternary: TypeAlias = Callable[[Operand, Operand, Operand], Expr]


class _Several(Protocol):
    """A function of a variable number of arguments."""

    def __call__(self, *args: Operand) -> Expr: ...


# Argument names other than x, y, z.
_ARGUMENTS: dict[str, str] = {
    "ellipe": "m",
    "ellipeinc": "phi, m",
    "ellipk": "m",
    "ellipkinc": "phi, m",
    "expint": "n, x",
    "iv": "n, x",
    "ive": "n, x",
    "jv": "n, x",
    "kv": "n, x",
    "polylog": "n, x",
    "spherical_jn": "n, x",
    "yv": "n, x",
}


def _function(name: str) -> Callable[..., Expr]:
    """Return a function that applies an op as written."""
    op = OPS[name]

    def apply(*args: Any) -> Expr:
        return apply_op(name, *args)

    call = f"{op.name}({_ARGUMENTS.get(name) or ', '.join('xyzw'[: op.arity])})"
    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{op.doc}." if op.doc.startswith(call) else f"{call}: {op.doc}."
    return apply


def _written(name: str) -> Callable[..., Expr]:
    """Return a function that is defined by other functions (or by an op, if the arguments are of another kind)."""
    forms = WRITTEN[name]

    def apply(*args: Any) -> Expr:
        if form_of(name, len(args)) is not None or name in OPS:
            return apply_op(name, *args)
        counts = " or ".join(str(len(how.parameters)) for how in forms)
        raise UsageError(
            f"{name} takes {counts} argument{'s' * (counts != '1')}, got {len(args)}",
            expected=" or ".join(f"{name}({', '.join(how.parameters)})" for how in forms),
        )

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = " ".join(f"{name}({', '.join(how.parameters)}): {how.doc}." for how in forms)
    if name in OPS:
        apply.__doc__ += f" {OPS[name].doc}."
    return apply


sqrt: _Unary = _function("sqrt")
cbrt: _Unary = _function("cbrt")
exp: _Unary = _function("exp")
exp2: _Unary = _function("exp2")
expm1: _Unary = _function("expm1")
log: _Unary = _function("log")
log2: _Unary = _function("log2")
log10: _Unary = _function("log10")
log1p: _Unary = _function("log1p")
sin: _Unary = _function("sin")
cos: _Unary = _function("cos")
tan: _Unary = _function("tan")
asin: _Unary = _function("asin")
acos: _Unary = _function("acos")
atan: _Unary = _function("atan")
atan2: _Binary = _function("atan2")
sinh: _Unary = _function("sinh")
cosh: _Unary = _function("cosh")
tanh: _Unary = _function("tanh")
asinh: _Unary = _function("asinh")
acosh: _Unary = _function("acosh")
atanh: _Unary = _function("atanh")
sigmoid: _Unary = _function("sigmoid")
softplus: _Unary = _function("softplus")
relu: _Unary = _function("relu")
abs: _Unary = _function("abs")
sign: _Unary = _function("sign")
floor: _Unary = _function("floor")
ceil: _Unary = _function("ceil")
round: _Unary = _function("round")
minimum: _Binary = _function("minimum")
maximum: _Binary = _function("maximum")
clip: _Ternary = _function("clip")


def where(condition: Operand, x: Operand, y: Operand) -> Expr:
    """Return x where a condition holds, and y elsewhere.

    One of x and y may be an infinity, which formulas do not allow elsewhere: `softmax(where(mask, scores, -inf))`.

    Args:
        condition: a condition, or an expression of truth values.
        x: an expression or number; it broadcasts with the other arguments.
        y: an expression or number.

    Example:
        >>> import symgrad as sg
        >>> s, m = sg.tensor("s", ("n",)), sg.tensor("m", ("n",), "bool")
        >>> print(sg.where(m, s, float("-inf")))
        m : bool[n]
        s : real[n]
        where(m, s, -oo)
    """
    return numpy_names.where(Expr, condition, x, y)


sec: _Unary = _function("sec")
csc: _Unary = _function("csc")
cot: _Unary = _function("cot")
asec: _Unary = _function("asec")
acsc: _Unary = _function("acsc")
acot: _Unary = _function("acot")
sech: _Unary = _function("sech")
csch: _Unary = _function("csch")
coth: _Unary = _function("coth")
asech: _Unary = _function("asech")
acsch: _Unary = _function("acsch")
acoth: _Unary = _function("acoth")
erf: _Unary = _function("erf")
erfc: _Unary = _function("erfc")
gamma: _Unary = _function("gamma")
lgamma: _Unary = _function("lgamma")
digamma: _Unary = _function("digamma")
erfi: _Unary = _function("erfi")
erfinv: _Unary = _function("erfinv")
erfcinv: _Unary = _function("erfcinv")
expi: _Unary = _function("expi")
exp1: _Unary = _function("exp1")
Si: _Unary = _function("Si")
Ci: _Unary = _function("Ci")
jv: _Binary = _function("jv")
yv: _Binary = _function("yv")
iv: _Binary = _function("iv")
kv: _Binary = _function("kv")
airyai: _Unary = _function("airyai")
airyaiprime: _Unary = _function("airyaiprime")
airybi: _Unary = _function("airybi")
airybiprime: _Unary = _function("airybiprime")
Chi: _Unary = _function("Chi")
LambertW: _Unary = _function("LambertW")
Shi: _Unary = _function("Shi")
dawsn: _Unary = _function("dawsn")
ellipe: _Unary = _function("ellipe")
ellipeinc: _Binary = _function("ellipeinc")
ellipk: _Unary = _function("ellipk")
ellipkinc: _Binary = _function("ellipkinc")
erfcx: _Unary = _function("erfcx")
expint: _Binary = _function("expint")
fresnelc: _Unary = _function("fresnelc")
fresnels: _Unary = _function("fresnels")
ive: _Binary = _function("ive")
li: _Unary = _function("li")
log_ndtr: _Unary = _function("log_ndtr")
lowergamma: _Binary = _function("lowergamma")
sinc: _Unary = _function("sinc")
spherical_jn: _Binary = _function("spherical_jn")
polylog: _Binary = _function("polylog")
uppergamma: _Binary = _function("uppergamma")
hypot: _Binary = _function("hypot")
logical_and: _Binary = _function("and_")
logical_or: _Binary = _function("or_")
logical_not: _Unary = _function("not_")
logical_xor: _Binary = _function("xor")
arccos: _Unary = _function("arccos")
arccosh: _Unary = _function("arccosh")
arcsin: _Unary = _function("arcsin")
arcsinh: _Unary = _function("arcsinh")
arctan: _Unary = _function("arctan")
arctan2: _Binary = _function("arctan2")
arctanh: _Unary = _function("arctanh")
ln: _Unary = _function("ln")
expit: _Unary = _function("expit")
pi = Expr(constant("pi"))
"""The number π; it is exact until a kernel or a printer lowers it."""


def polygamma(n: int, x: Operand) -> Expr:
    """Return the n-th derivative of digamma.

    Args:
        n: the order, a whole number; 0 is digamma itself.
        x: an expression or number.

    Raises:
        UsageError: if ``n`` is not a whole number, at least 0.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= maxsize:  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        order = "so large an order" if type(n) is int and n > maxsize else f"order {n!r}"
        raise UsageError(f"polygamma of {order}", expected="a whole number, at least 0")
    return apply_op("polygamma", x, params=(n,))


Li: _Unary = _written("Li")
beta: _Binary = _written("beta")
betaln: _Binary = _written("betaln")
binomial: _Binary = _written("binomial")
factorial: _Unary = _written("factorial")
elu: _Several = _written("elu")
floor_divide: _Binary = _written("floor_divide")
gelu: _Unary = _written("gelu")
gelu_tanh: _Unary = _written("gelu_tanh")
copysign: _Binary = _written("copysign")
heaviside: _Binary = _written("heaviside")
huber: _Binary = _written("huber")
leaky_relu: _Several = _written("leaky_relu")
logaddexp: _Binary = _written("logaddexp")
logit: _Unary = _written("logit")
mish: _Unary = _written("mish")
mod: _Binary = _written("mod")
reciprocal: _Unary = _written("reciprocal")
silu: _Unary = _written("silu")
square: _Unary = _written("square")
swish: _Unary = _written("swish")
xlog1py: _Binary = _written("xlog1py")
xlogy: _Binary = _written("xlogy")
gammainc: _Binary = _written("gammainc")
gammaincc: _Binary = _written("gammaincc")
ndtr: _Unary = _written("ndtr")
ndtri: _Unary = _written("ndtri")
spence: _Unary = _written("spence")
zeta: _Several = _written("zeta")
