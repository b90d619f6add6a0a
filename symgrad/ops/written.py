"""The functions that have no op: how each is written in others.

A formula is made once, of symbols: what an argument is has no say in it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symgrad.ir.graph import Node, as_node, constant
from symgrad.ir.op import Op
from symgrad.ir.written import Written, register_written, written
from symgrad.ops.arith import div, neg
from symgrad.ops.bessel import iv, ive, jv, kv, yv
from symgrad.ops.elementary import sqrt
from symgrad.ops.elliptic import ellipe, ellipeinc
from symgrad.ops.incomplete import lowergamma, uppergamma
from symgrad.ops.integrals import erfcinv, li
from symgrad.ops.rounding import floor
from symgrad.ops.special import digamma, erf, erfc, gamma, lgamma, polygamma
from symgrad.ops.zeta import polylog, zeta


def _of_one(doc: str, formula: Callable[[Node], Node], name: str = "x") -> Written:
    return written(doc, name, formula)


def _of_two(doc: str, names: str, formula: Callable[[Node, Node], Node]) -> Written:
    return written(doc, names, formula)


def _binomial(n: Node, k: Node) -> Node:
    return gamma(n + 1) / (gamma(k + 1) * gamma(n - k + 1))


def _order(function: Op, n: int) -> Callable[[Node], Node]:
    return lambda x: function(as_node(n), x)


_BESSEL = {
    f"{letter}{n}{scaled}": (_of_one(f"{op.name}({n}, x)", _order(op, n)),)
    for letter, scaled, op in (("j", "", jv), ("y", "", yv), ("i", "", iv), ("k", "", kv), ("i", "e", ive))
    for n in (0, 1)
}
_TWO, _HALF = as_node(2), as_node(Fraction(1, 2))
register_written(
    {
        **_BESSEL,
        "Mod": (_of_two("x - y*floor(x/y)", "x y", lambda x, y: x - y * floor(x / y)),),
        "Li": (_of_one("li(x) - li(2)", lambda x: li(x) - li(_TWO)),),
        "beta": (
            _of_two("gamma(a)*gamma(b)/gamma(a + b)", "a b", lambda a, b: gamma(a) * gamma(b) / gamma(a + b)),
        ),
        "betaln": (
            _of_two(
                "lgamma(a) + lgamma(b) - lgamma(a + b)",
                "a b",
                lambda a, b: lgamma(a) + lgamma(b) - lgamma(a + b),
            ),
        ),
        "binomial": (_of_two("gamma(n + 1)/(gamma(k + 1)*gamma(n - k + 1))", "n k", _binomial),),
        "catalan": (
            _of_one(
                "4**n*gamma(n + 1/2)/(sqrt(pi)*gamma(n + 2))",
                lambda n: 4**n * gamma(n + _HALF) / (sqrt(constant("pi")) * gamma(n + 2)),
                "n",
            ),
        ),
        "elliptic_e": (
            _of_one("ellipe(m)", lambda m: ellipe(m), "m"),
            _of_two("ellipeinc(phi, m)", "phi m", lambda phi, m: ellipeinc(phi, m)),
        ),
        "erf2": (_of_two("erf(y) - erf(x)", "x y", lambda x, y: erf(y) - erf(x)),),
        "factorial": (_of_one("gamma(n + 1)", lambda n: gamma(n + 1), "n"),),
        "gammainc": (_of_two("lowergamma(a, x)/gamma(a)", "a x", lambda a, x: lowergamma(a, x) / gamma(a)),),
        "gammaincc": (_of_two("uppergamma(a, x)/gamma(a)", "a x", lambda a, x: uppergamma(a, x) / gamma(a)),),
        "harmonic": (
            _of_one("digamma(n + 1) + EulerGamma", lambda n: digamma(n + 1) + constant("EulerGamma"), "n"),
        ),
        # With the ops themselves: the operators would write a multiplication by a half.
        "ndtr": (_of_one("erfc(-x/sqrt(2))/2", lambda x: div(erfc(div(neg(x), sqrt(_TWO))), _TWO)),),
        "ndtri": (_of_one("-(sqrt(2)*erfcinv(2*p))", lambda p: -(sqrt(_TWO) * erfcinv(2 * p)), "p"),),
        "rf": (_of_two("gamma(x + n)/gamma(x)", "x n", lambda x, n: gamma(x + n) / gamma(x)),),
        "ff": (
            _of_two("gamma(x + 1)/gamma(x - n + 1)", "x n", lambda x, n: gamma(x + 1) / gamma(x - n + 1)),
        ),
        "spence": (_of_one("polylog(2, 1 - x)", lambda x: polylog(_TWO, 1 - x)),),
        "trigamma": (_of_one("polygamma(1, x)", lambda x: polygamma(x, params=(1,))),),
        "zeta": (_of_one("zeta(s, 1)", lambda s: zeta(s, as_node(1)), "s"),),
    }
)
