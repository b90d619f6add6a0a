"""Derivatives of elementwise functions, as steps.

Formulas: Abramowitz & Stegun (1964), chapters 3 to 7; DLMF 4.13, 6.2, 7.2, 7.17, 9.2 and 19.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from symgrad.checker.program.builder import StepBuilder
from symgrad.checker.program.steps import ProofProgram, ProofStep, StepBody
from symgrad.support.errors import UsageError

_Rule: TypeAlias = "Callable[[StepBuilder, int, ProofStep, int], int | None]"
"""A function that maps a builder, the position of a function, its step and the tangent of one argument to a summand of
the tangent."""

_TRUTH = ("lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "xor", "not_")
_INTEGER_VALUED = ("sign", "floor", "ceil", "round", "argmax", "argmin", "one_hot", "iota", "eye")
LOCALLY_CONSTANT_OPS = frozenset({*_TRUTH, *_INTEGER_VALUED, "stop_gradient"})
"""Ops without a tangent: where they are defined in the strict sense, they are locally constant."""
_DISCONTINUOUS_OPS = frozenset({*_TRUTH, *_INTEGER_VALUED, "abs", "atan2", "acot"} - {"iota", "eye"})


def is_piecewise(program: ProofProgram) -> bool:
    """Tell whether a step compares, jumps or has a power of variables, also in a recurrence.

    Otherwise each side of a claim is given by one formula, and where a proof by normal forms excludes a point, a side
    is undefined: both sides cannot be defined there and differ.
    """
    steps = program.steps
    bodies = [p.program for s in steps for p in s.params if isinstance(p, StepBody)]
    return any(jumps(program, s) for s in steps) or any(map(is_piecewise, bodies))


def jumps(program: ProofProgram, step: ProofStep) -> bool:
    """Tell whether a step of a program compares, jumps, or is a power of variables."""
    powers = step.op == "pow" and not any(program.steps[a].op == "number" for a in step.args)
    return powers or step.op in _DISCONTINUOUS_OPS


class FormulaTerm:
    """A step with operators, so that formulas look as in mathematics."""

    def __init__(self, into: StepBuilder, at: int) -> None:
        self.into, self.at = into, at

    def __call__(self, name: str, **options: tuple[int, ...]) -> FormulaTerm:
        return FormulaTerm(self.into, self.into.op(name, self.at, **options))

    def number(self, value: int) -> FormulaTerm:
        return FormulaTerm(self.into, self.into.number(value))

    def constant(self, name: str) -> FormulaTerm:
        return FormulaTerm(self.into, self.into.step(ProofStep("constant", (), (name,))))

    def _with(self, name: str, other: FormulaTerm | int | Fraction, swap: bool = False) -> FormulaTerm:
        at = other.at if isinstance(other, FormulaTerm) else self.into.number(other)
        pair = (at, self.at) if swap else (self.at, at)
        return FormulaTerm(self.into, self.into.op(name, *pair))

    def __add__(self, other: FormulaTerm | int) -> FormulaTerm:
        return self._with("add", other)

    def __radd__(self, other: int) -> FormulaTerm:
        return self._with("add", other, True)

    def __neg__(self) -> FormulaTerm:
        return self("neg")

    def __sub__(self, other: FormulaTerm | int) -> FormulaTerm:
        return self + (-other)

    def __rsub__(self, other: int) -> FormulaTerm:
        return other + (-self)

    def __mul__(self, other: FormulaTerm | int) -> FormulaTerm:
        return self._with("mul", other)

    def __rmul__(self, other: int) -> FormulaTerm:
        return self._with("mul", other, True)

    def __truediv__(self, other: FormulaTerm | int) -> FormulaTerm:
        return self._with("div", other)

    def __rtruediv__(self, other: int) -> FormulaTerm:
        return self._with("div", other, True)

    def __pow__(self, other: FormulaTerm | int | Fraction) -> FormulaTerm:
        return self._with("pow", other)


def _gaussian(x: FormulaTerm) -> FormulaTerm:
    """Return 2/sqrt(pi)*exp(-x**2)."""
    return 2 / _sqrt_pi(x) * (-(x**2))("exp")


def _sqrt_pi(x: FormulaTerm) -> FormulaTerm:
    return x.constant("pi")("sqrt")


# f is the value of the function, and x its argument.
_UNARY_DERIVATIVES: dict[str, Callable[[FormulaTerm, FormulaTerm], FormulaTerm]] = {
    "sqrt": lambda f, x: 1 / (2 * f),
    "cbrt": lambda f, x: 1 / (3 * f**2),
    "exp": lambda f, x: f,
    "exp2": lambda f, x: x.number(2)("log") * f,
    "expm1": lambda f, x: x("exp"),
    "log": lambda f, x: 1 / x,
    "log2": lambda f, x: 1 / (x * x.number(2)("log")),
    "log10": lambda f, x: 1 / (x * x.number(10)("log")),
    "log1p": lambda f, x: 1 / (1 + x),
    "sigmoid": lambda f, x: f * (1 - f),
    "softplus": lambda f, x: x("sigmoid"),
    "sin": lambda f, x: x("cos"),
    "cos": lambda f, x: -x("sin"),
    "tan": lambda f, x: 1 + f**2,
    "sec": lambda f, x: f * x("tan"),
    "csc": lambda f, x: -f * x("cot"),
    "cot": lambda f, x: -(1 + f**2),
    "asin": lambda f, x: 1 / (1 - x**2)("sqrt"),
    "acos": lambda f, x: -1 / (1 - x**2)("sqrt"),
    "atan": lambda f, x: 1 / (1 + x**2),
    "asec": lambda f, x: 1 / (x("abs") * (x**2 - 1)("sqrt")),
    "acsc": lambda f, x: -1 / (x("abs") * (x**2 - 1)("sqrt")),
    "acot": lambda f, x: -1 / (1 + x**2),
    "sinh": lambda f, x: x("cosh"),
    "cosh": lambda f, x: x("sinh"),
    "tanh": lambda f, x: 1 - f**2,
    "sech": lambda f, x: -f * x("tanh"),
    "csch": lambda f, x: -f * x("coth"),
    "coth": lambda f, x: 1 - f**2,
    "asinh": lambda f, x: 1 / (1 + x**2)("sqrt"),
    "acosh": lambda f, x: 1 / (x**2 - 1)("sqrt"),
    "atanh": lambda f, x: 1 / (1 - x**2),
    "asech": lambda f, x: -1 / (x * (1 - x**2)("sqrt")),
    "acsch": lambda f, x: -1 / (x("abs") * (1 + x**2)("sqrt")),
    "acoth": lambda f, x: 1 / (1 - x**2),
    "erf": lambda f, x: _gaussian(x),
    "erfc": lambda f, x: -_gaussian(x),
    "erfi": lambda f, x: 2 / _sqrt_pi(x) * (x**2)("exp"),
    "erfinv": lambda f, x: _sqrt_pi(x) / 2 * (f**2)("exp"),
    "erfcinv": lambda f, x: -_sqrt_pi(x) / 2 * (f**2)("exp"),
    "expi": lambda f, x: x("exp") / x,
    "exp1": lambda f, x: -(-x)("exp") / x,
    "Si": lambda f, x: x("sin") / x,
    "Ci": lambda f, x: x("cos") / x,
    "airyai": lambda f, x: x("airyaiprime"),
    "airyaiprime": lambda f, x: x * x("airyai"),
    "airybi": lambda f, x: x("airybiprime"),
    "airybiprime": lambda f, x: x * x("airybi"),
    "erfcx": lambda f, x: 2 * x * f - 2 / _sqrt_pi(x),
    "dawsn": lambda f, x: 1 - 2 * x * f,
    "log_ndtr": lambda f, x: (-(x**2) / 2)("exp") / ((2 * x.constant("pi"))("sqrt") * f("exp")),
    "fresnels": lambda f, x: (x.constant("pi") * x**2 / 2)("sin"),
    "fresnelc": lambda f, x: (x.constant("pi") * x**2 / 2)("cos"),
    "Shi": lambda f, x: x("sinh") / x,
    "Chi": lambda f, x: x("cosh") / x,
    "li": lambda f, x: 1 / x("log"),
    "LambertW": lambda f, x: (-f)("exp") / (1 + f),
    "ellipk": lambda f, x: (x("ellipe") - (1 - x) * f) / (2 * x * (1 - x)),
    "ellipe": lambda f, x: (f - x("ellipk")) / (2 * x),
    "gamma": lambda f, x: f * x("digamma"),
    "lgamma": lambda f, x: x("digamma"),
    "digamma": lambda f, x: x("polygamma", params=(1,)),
    "sinc": lambda f, x: -x.constant("pi") * _call("spherical_jn", x.number(1), x.constant("pi") * x),
    "abs": lambda f, x: x("sign"),
}

_BINARY_DERIVATIVES: dict[
    str,
    tuple[
        Callable[[FormulaTerm, FormulaTerm, FormulaTerm], FormulaTerm],
        Callable[[FormulaTerm, FormulaTerm, FormulaTerm], FormulaTerm],
    ],
] = {
    "mul": (lambda f, x, y: y, lambda f, x, y: x),
    "div": (lambda f, x, y: 1 / y, lambda f, x, y: -f / y),
    "hypot": (lambda f, x, y: x / f, lambda f, x, y: y / f),
    "atan2": (lambda f, x, y: y / (x**2 + y**2), lambda f, x, y: -x / (x**2 + y**2)),
}


def _unary(slope: Callable[[FormulaTerm, FormulaTerm], FormulaTerm]) -> tuple[_Rule]:
    def rule(into: StepBuilder, at: int, step: ProofStep, moved: int) -> int:
        return into.op("mul", slope(FormulaTerm(into, at), FormulaTerm(into, step.args[0])).at, moved)

    return (rule,)


def _binary(slope: Callable[[FormulaTerm, FormulaTerm, FormulaTerm], FormulaTerm]) -> _Rule:
    def rule(into: StepBuilder, at: int, step: ProofStep, moved: int) -> int:
        x, y = (FormulaTerm(into, a) for a in step.args)
        return into.op("mul", slope(FormulaTerm(into, at), x, y).at, moved)

    return rule


def _identity(_into: StepBuilder, _at: int, _step: ProofStep, moved: int) -> int:
    return moved


def _negation(into: StepBuilder, _at: int, _step: ProofStep, moved: int) -> int:
    return into.op("neg", moved)


def _quotient(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
    return into.op("div", moved, step.args[1])


def _power_of_base(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int | None:
    x, y = (FormulaTerm(into, a) for a in step.args)
    n = into.value(y.at)
    if n == 0:
        return None
    slope = y * x ** (y - 1) if n is None else y * (x if n == 2 else x ** (n - 1))
    return moved if n == 1 else into.op("mul", slope.at, moved)


def _power_of_exponent(into: StepBuilder, at: int, step: ProofStep, moved: int) -> int:
    return into.op("mul", (FormulaTerm(into, at) * FormulaTerm(into, step.args[0])("log")).at, moved)


def _no_rule(_into: StepBuilder, _at: int, step: ProofStep, _moved: int) -> int:
    raise UsageError(
        f"no rule to differentiate '{step.op}' by its order", cure="differentiate by its argument"
    )


def _bessel(sign: int, other: int) -> tuple[_Rule, _Rule]:
    """Return the rule of the derivative (sign*f(v - 1, x) + other*f(v + 1, x))/2."""

    def rule(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
        v, x = (FormulaTerm(into, a) for a in step.args)
        below, above = (FormulaTerm(into, into.op(step.op, w.at, x.at)) for w in (v - 1, v + 1))
        slope = (sign * below + other * above) / 2
        return into.op("mul", slope.at, moved)

    return _no_rule, rule


def _with_order(slope: Callable[[FormulaTerm, FormulaTerm, FormulaTerm], FormulaTerm]) -> tuple[_Rule, _Rule]:
    """Return the rules of a function of an order and x: only the derivative with respect to x exists."""
    return _no_rule, _binary(slope)


def _zeta(_f: FormulaTerm, s: FormulaTerm, x: FormulaTerm) -> FormulaTerm:
    """Return -s*zeta(s + 1, x); where this has only a limit, at s = 0, zeta(0, x) = 1/2 - x has the derivative -1."""
    if s.into.value(s.at) == 0:
        return s.number(-1)
    return -s * _call("zeta", s + 1, x)


def _spherical(_f: FormulaTerm, n: FormulaTerm, x: FormulaTerm) -> FormulaTerm:
    """Return the derivative by DLMF 10.51.2, without the function of order -1."""
    above = _call("spherical_jn", n + 1, x)
    if n.into.value(n.at) == 0:
        return -above
    below = n - 1
    if n.into.value(n.at) is None:  # at n = 0 the first term is 0 times any defined function
        below = FormulaTerm(n.into, n.into.op("maximum", below.at, n.into.number(0)))
    return (n * _call("spherical_jn", below, x) - (n + 1) * above) / (2 * n + 1)


def _call(name: str, x: FormulaTerm, y: FormulaTerm) -> FormulaTerm:
    return FormulaTerm(x.into, x.into.op(name, x.at, y.at))


def _ellipkinc_by_parameter(f: FormulaTerm, phi: FormulaTerm, m: FormulaTerm) -> FormulaTerm:
    """Return the derivative of the elliptic integral of the first kind with respect to m, DLMF 19.4.5."""
    s = phi("sin")
    tail = s * phi("cos") / (2 * (1 - m) * (1 - m * s**2)("sqrt"))
    return _call("ellipeinc", phi, m) / (2 * m * (1 - m)) - f / (2 * m) - tail


def _next_polygamma(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
    return into.op("mul", into.op("polygamma", *step.args, params=(step.params[0] + 1,)), moved)


SCALAR_DERIVATIVES: dict[str, Sequence[_Rule]] = {
    **{name: _unary(slope) for name, slope in _UNARY_DERIVATIVES.items()},
    **{name: (_binary(a), _binary(b)) for name, (a, b) in _BINARY_DERIVATIVES.items()},
    "add": (_identity, _identity),
    "neg": (_negation,),
    "div": (_quotient, _binary(_BINARY_DERIVATIVES["div"][1])),
    "pow": (_power_of_base, _power_of_exponent),
    "polygamma": (_next_polygamma,),
    # DLMF 10.6.1, 10.29.1
    "jv": _bessel(1, -1),
    "yv": _bessel(1, -1),
    "iv": _bessel(1, 1),
    "kv": _bessel(-1, -1),
    "ive": _with_order(lambda f, v, x: (_call("ive", v - 1, x) + _call("ive", v + 1, x)) / 2 - x("sign") * f),
    "spherical_jn": _with_order(_spherical),
    # DLMF 8.19.13, 8.8.13, 8.8.14, 25.11.17; d/dx of a polylogarithm from its series
    "expint": _with_order(lambda f, n, x: -_call("expint", n - 1, x)),
    "uppergamma": _with_order(lambda f, a, x: -(x ** (a - 1)) * (-x)("exp")),
    "lowergamma": _with_order(lambda f, a, x: x ** (a - 1) * (-x)("exp")),
    "zeta": _with_order(_zeta),
    "polylog": _with_order(lambda f, n, x: _call("polylog", n - 1, x) / x),
    # DLMF 19.4.5 to 19.4.7
    "ellipkinc": (
        _binary(lambda f, phi, m: 1 / (1 - m * phi("sin") ** 2)("sqrt")),
        _binary(_ellipkinc_by_parameter),
    ),
    "ellipeinc": (
        _binary(lambda f, phi, m: (1 - m * phi("sin") ** 2)("sqrt")),
        _binary(lambda f, phi, m: (f - _call("ellipkinc", phi, m)) / (2 * m)),
    ),
}
"""For each function, one rule for each argument."""


PIECEWISE_OPS = frozenset({"where", "maximum", "minimum", "relu", "clip"})


def piecewise_tangent(into: StepBuilder, step: ProofStep, moving: Sequence[int | None]) -> int | None:
    """Return the tangent of a piecewise op, with the same conditions; None if it is zero."""

    def choose(condition: int, x: int | None, y: int | None) -> int:
        zero = into.number(0)
        return into.op("where", condition, zero if x is None else x, zero if y is None else y)

    match step.op, step.args, moving:
        case "where", (condition, _, _), (_, u, v):
            return choose(condition, u, v) if u is not None or v is not None else None
        case "maximum", (x, y), (u, v):
            return choose(into.op("gt", x, y), u, v)
        case "minimum", (x, y), (u, v):
            return choose(into.op("lt", x, y), u, v)
        case "relu", (x,), (u,):
            return choose(into.op("gt", x, into.number(0)), u, None)
        case "clip", (x, low, high), (u, v, w):
            raised = into.op("maximum", x, low)
            return choose(into.op("lt", raised, high), choose(into.op("gt", x, low), u, v), w)
        case _:
            return None
