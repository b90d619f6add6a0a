"""Evaluate programs at exact complex points in complex ball arithmetic.

    Value ::= Gaussian | acb | None

A Gaussian is the number itself; an acb is a finite ball that contains it. None means that the value is not certain to
be a number: at a pole, or where the ball of the argument reaches across a branch cut. An argument that certainly lies
on the cut gives the value of the principal branch; but None if the derivative with respect to a variable in the
argument is taken.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from symgrad.checker.balls.programs import in_interval
from symgrad.checker.balls.scalar_ops import ARGUMENT_BOUND, CONSTANTS
from symgrad.checker.clock import STEP, tick, until
from symgrad.checker.complex.gaussian import Gaussian
from symgrad.checker.complex.principal_branches import depends_on
from symgrad.checker.limits import COMPLEX_EXPONENT, EXACT_BITS, FUNCTION_ORDER, POINT_DIGITS
from symgrad.checker.numbers import acb, arb, context, fmpq
from symgrad.checker.program.steps import ProofProgram, ProofStep
from symgrad.support.errors import UsageError

Value: TypeAlias = Any
Point: TypeAlias = "Mapping[str, Gaussian]"


_SLOW_ARGUMENT_BOUND = arb(10_000)  # the bound for functions whose time grows with the argument
_DIGITS = 25
_ZERO, _ONE = Gaussian(Fraction(0)), Gaussian(Fraction(1))
_HALF = Gaussian(Fraction(1, 2))


def ball(x: Value) -> Any:
    """Return a number as a ball."""
    if type(x) is not Gaussian:
        return x
    return acb(*(arb(fmpq(p.numerator, p.denominator)) for p in (x.real, x.imag)))


def _finite(x: Any) -> Value:
    return x if x.is_finite() else None


def _is_integer(x: Value) -> bool:
    """Tell whether a value is an exact integer."""
    return type(x) is Gaussian and not x.imag and x.real.denominator == 1


def _shorten(x: Gaussian) -> Value:
    return x if x.bits <= EXACT_BITS else ball(x)


# --------------------------------------------------------------------------------------------------------- arithmetic


def _add(x: Value, y: Value) -> Value:
    if type(x) is Gaussian and type(y) is Gaussian:
        return _shorten(x + y)
    return _finite(ball(x) + ball(y))


def _mul(x: Value, y: Value) -> Value:
    if type(x) is Gaussian and type(y) is Gaussian:
        return _shorten(x * y)
    return _ZERO if x == _ZERO or y == _ZERO else _finite(ball(x) * ball(y))


def _div(x: Value, y: Value) -> Value:
    if y == _ZERO:
        return None
    if type(x) is Gaussian and type(y) is Gaussian:
        return _shorten(x / y)
    found = _finite(ball(x) / ball(y))
    return _ZERO if found is not None and x == _ZERO else found


def _integer_power(x: Value, n: int) -> Value:
    if n == 0:
        return _ONE
    if x == _ZERO:
        return _ZERO if n > 0 else None
    if abs(n) > COMPLEX_EXPONENT:
        return None
    if type(x) is Gaussian and x.bits * abs(n) <= EXACT_BITS:
        return x**n
    return _finite(ball(x) ** n)


# ----------------------------------------------------------------------------------------------------------- branches


def _off_cut(x: Value) -> bool:
    """Tell whether a number is certainly not 0 and not a negative real number."""
    if type(x) is Gaussian:
        return bool(x.imag) or x.real > 0
    return bool(x.real > 0 or x.imag > 0 or x.imag < 0)


def _on_cut(x: Value) -> bool:
    """Tell whether a number is certainly a negative real number."""
    return bool(not x.imag and x.real < 0) if type(x) is Gaussian else bool(x.imag.is_zero() and x.real < 0)


def _log(x: Value) -> Value:
    if x == _ONE:
        return _ZERO
    if _off_cut(x):
        return _finite(ball(x).log())
    return _finite(acb((-ball(x).real).log(), arb.pi())) if _on_cut(x) else None


def _sqrt(x: Value) -> Value:
    root = x.sqrt() if type(x) is Gaussian else None
    if root is not None:
        return root
    if _off_cut(x):
        return _finite(ball(x).sqrt())
    return _finite(acb(0, (-ball(x).real).sqrt())) if _on_cut(x) else None


def _pow(x: Value, y: Value) -> Value:
    if _is_integer(y):
        return _integer_power(x, int(y.real))
    if x == _ZERO:
        return _ZERO if ball(y).real > 0 else None
    if y == _HALF:
        return _sqrt(x)
    exponent = _log(x)
    return None if exponent is None else _exp(_mul(exponent, y))


def _exp(x: Value) -> Value:
    if x is None:
        return None
    return _ONE if x == _ZERO else _finite(ball(x).exp())


# ---------------------------------------------------------------------------------------------------------- functions


def _function(method: Callable[[Any], Any], at_zero: Gaussian | None = None) -> Callable[[Value], Value]:
    def apply(x: Value) -> Value:
        return at_zero if at_zero is not None and x == _ZERO else _finite(method(ball(x)))

    return apply


def _special(
    method: Callable[[Any], Any], within: Callable[[Any], bool] | None = None
) -> Callable[[Value], Value]:
    """Return a function that is unknown unless its argument is certainly off the branch cut and not too large."""

    def apply(x: Value) -> Value:
        x = ball(x)
        if (within is not None and not within(x)) or not abs(x) < ARGUMENT_BOUND:
            return None
        return _finite(method(x))

    return apply


def _bessel(method: Callable[[Any, Any], Any], *, entire: bool) -> Callable[[Value, Value], Value]:
    """Return a Bessel function; ``entire``: for integer orders it has no cut, and only then a value at 0."""

    def apply(n: Value, x: Value) -> Value:
        whole = entire and _is_integer(n)
        x, n = ball(x), ball(n)
        if (not whole and not _off_cut(x)) or not (abs(x) < _SLOW_ARGUMENT_BOUND and abs(n) < FUNCTION_ORDER):
            return None
        return _finite(method(x, n))

    return apply


def _identity(x: Value) -> Value:
    return x


def _abs(x: Value) -> Value:
    size = Gaussian(x.real**2 + x.imag**2).sqrt() if type(x) is Gaussian else None
    return _finite(acb(abs(ball(x)))) if size is None else size


def _sign(x: Value) -> Value:
    if x == _ZERO:
        return _ZERO
    size = _abs(x)
    return None if size is None else _div(x, size)


_OPS: dict[str, Callable[..., Value]] = {
    "add": _add,
    "mul": _mul,
    "div": _div,
    "neg": operator.neg,
    "pow": _pow,
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "sin": _function(acb.sin, _ZERO),
    "cos": _function(acb.cos, _ONE),
    "stop_gradient": _identity,
    "abs": _abs,
    "sign": _sign,
    "gamma": _special(acb.gamma),
    "digamma": _special(acb.digamma),
    "erf": _special(acb.erf),
    "erfc": _special(acb.erfc),
    "erfi": _special(acb.erfi),
    "Si": _special(acb.si),
    "airyai": _special(acb.airy_ai),
    "airyaiprime": _special(lambda x: x.airy_ai(derivative=1)),
    "airybi": _special(acb.airy_bi),
    "airybiprime": _special(lambda x: x.airy_bi(derivative=1)),
    "exp1": _special(lambda x: x.expint(1), _off_cut),
    "Ci": _special(acb.ci, _off_cut),
    "Chi": _special(acb.chi, _off_cut),
    "Shi": _special(acb.shi),
    "fresnels": _special(acb.fresnel_s),
    "fresnelc": _special(acb.fresnel_c),
    "LambertW": _special(acb.lambertw, lambda x: _off_cut(x * arb.const_e() + 1)),  # the cut is (-oo, -1/e]
    "ellipk": _special(acb.elliptic_k, lambda x: _off_cut(1 - x)),  # the cut is [1, oo)
    "ellipe": _special(acb.elliptic_e, lambda x: _off_cut(1 - x)),
    "jv": _bessel(acb.bessel_j, entire=True),
    "iv": _bessel(acb.bessel_i, entire=True),
    "yv": _bessel(acb.bessel_y, entire=False),
    "kv": _bessel(acb.bessel_k, entire=False),
}


def _is_differentiable(op: str, args: Sequence[Value], moving: Sequence[int]) -> bool:
    """Tell whether a function certainly has a derivative with respect to its arguments that depend on the variable."""
    if op in {"log", "sqrt"} and moving[0]:
        return _off_cut(args[0])
    if op == "pow" and any(moving):
        if moving[0] and (moving[1] or not _is_integer(args[1])):
            return _off_cut(args[0])
        return not moving[1] or _off_cut(args[0]) or _on_cut(args[0])
    return True


# --------------------------------------------------------------------------------------------------------- evaluation


def evaluate(
    program: ProofProgram,
    point: Point,
    *,
    precision: int,
    wanted: Sequence[int],
    wrt: str | None = None,
    deadline: float | None = None,
) -> list[Value]:
    """Evaluate steps of a program, each once, in one pass.

    Args:
        program: steps as `symgrad.checker.complex.principal_branches.complex_statement` returns them.
        point: a number for every variable that is read.
        precision: bits of the balls.
        wanted: positions of the outputs.
        wrt: a variable; if it is given, a function that depends on it is unknown on its branch cut.
        deadline: on the clock of `symgrad.checker.clock`.

    Raises:
        UsageError: if the point has no value for a variable.
        TimeoutError: at the deadline.

    Example:
        >>> steps = (ProofStep("symbol", (), ("z",), (), "complex"), ProofStep("mul", (0, 0)), ProofStep("sqrt", (1,)))
        >>> point = {"z": Gaussian(Fraction(-1), Fraction(2))}
        >>> [str(v) for v in evaluate(ProofProgram(steps, ()), point, precision=64, wanted=[1, 2])]
        ['-3 - 4*i', '1 - 2*i']
    """
    moving = depends_on(program, wrt) if wrt is not None else None
    values: list[Value] = [None] * len(program.steps)
    with context.workprec(precision), until(deadline):
        cost = STEP * (4 + precision / 128)
        for i in program.needed(wanted):
            tick(cost)
            step = program.steps[i]
            args = [values[a] for a in step.args]
            if any(x is None for x in args):
                continue
            if moving is None or _is_differentiable(step.op, args, [moving[a] for a in step.args]):
                values[i] = _value(step, args, point)
    return [values[i] for i in wanted]


def _value(step: ProofStep, args: Sequence[Value], point: Point) -> Value:
    match step.op:
        case "symbol":
            if step.params[0] not in point:
                raise UsageError(f"the point has no value of '{step.params[0]}'")
            return point[step.params[0]]
        case "number":
            return _shorten(Gaussian(Fraction(step.params[0])))
        case "constant":
            if step.params[0] == "i":
                return Gaussian(Fraction(0), Fraction(1))
            made = CONSTANTS.get(step.params[0])
            return None if made is None else acb(made())
        case "polygamma":
            return _polygamma(int(step.params[0]), args[0])
        case _:
            function = _OPS.get(step.op)
            return None if function is None else function(*args)


def _polygamma(n: int, x: Value) -> Value:
    x = ball(x)
    return _finite(x.polygamma(n)) if 0 <= n <= FUNCTION_ORDER and abs(x) < _SLOW_ARGUMENT_BOUND else None


def in_domain(program: ProofProgram, point: Point) -> bool:
    """Tell whether a point has an admissible value for every variable."""
    for symbol in program.symbols:
        value = point.get(symbol.name)
        if value is None or symbol.kind not in {"complex", "real", "int"} or symbol.shape:
            return False
        if symbol.ends != (
            None,
            None,
        ):  # these bounds are lengths, which claims about complex numbers do not have
            return False
        if symbol.kind != "complex" and (value.imag or not in_interval(symbol, value.real)):
            return False
    return True


def disjoint(x: Value, y: Value) -> bool:
    """Tell whether two values are certainly different: different numbers, or disjoint balls."""
    if type(x) is Gaussian and type(y) is Gaussian:
        return x != y
    return not ball(x).overlaps(ball(y))


def distinct_texts(x: Value, y: Value) -> tuple[str, str]:
    """Return two different values as texts that differ; if that takes too many digits, the second text is a distance.

    A text has a ball for each part, or the exact number if it is short.

    Example:
        >>> distinct_texts(Gaussian(Fraction(1, 3)), Gaussian(Fraction(1, 3), Fraction(1, 10**300)))[1]
        'the first + [1.000000000000000000000000e-300 +/- 3e-329]j'
    """
    with context.workprec(max(context.prec, 4 * POINT_DIGITS)):
        difference = ball(y + -x) if type(x) is Gaussian and type(y) is Gaussian else ball(y) - ball(x)
        gap = abs(difference).abs_lower()
        ratio = abs(ball(x)).abs_upper() / gap if gap > 0 else arb(1)
        same = float((ratio + 1).log() / arb(10).log())
        if same + _DIGITS / 2 > POINT_DIGITS:
            return _text(x, _DIGITS), f"the first + {difference.str(_DIGITS)}"
        digits = int(max(same + _DIGITS / 2, _DIGITS))
        return _text(x, digits), _text(y, digits)


def _text(value: Value, digits: int) -> str:
    return str(value) if type(value) is Gaussian and value.bits <= 128 else str(ball(value).str(digits))
