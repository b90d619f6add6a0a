"""The check of proofs and refutations about complex numbers.

A proof is one of two: both sides have the same value in the kernels of `symgrad.checker.complex.branches`; or they are
meromorphic in all variables together, and equal for real ones. Then they are equal (identity theorem): where a
meromorphic function of several variables has no pole is connected, and one that vanishes on an open set of real points
vanishes everywhere. That both sides are defined at one real point, and so around it, is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from symgrad.checker.balls import programs as balls
from symgrad.checker.complex.branches import Branches
from symgrad.checker.complex.gaussian import Gaussian, gaussian_from_json
from symgrad.checker.complex.meaning import (
    ComplexStatement,
    complex_statement,
    depends_on,
    whole_number,
    with_complex,
)
from symgrad.checker.complex.own_points import contradicted_at_complex
from symgrad.checker.complex.points import Value, are_apart, evaluate, inside, texts
from symgrad.checker.complex.values import difference
from symgrad.checker.kernels.field import Budget, Element, Field, GiveUp
from symgrad.checker.kernels.fractions import TooCoarse
from symgrad.checker.kernels.replay import Replay
from symgrad.checker.limits import COMPLEX_GENERATORS
from symgrad.checker.program.derivative import derivative_claim
from symgrad.checker.program.steps import ProofProgram

__all__ = ["RealStatement", "check_complex", "real_statement", "replayed"]

_BITS = 256

RealStatement: TypeAlias = "tuple[ProofProgram, int, int, str | bool, tuple[int, ...]]"
"""The program, the two steps that are to be equal, by what one is differentiated, and what must be defined too."""

Apart: TypeAlias = "tuple[Mapping[str, Gaussian], tuple[str, str]]"
"""A point, and the two sides there."""

# fmt: off
_MEROMORPHIC = frozenset({
    "symbol", "number", "constant", "add", "neg", "mul", "div", "stop_gradient", "exp", "exp2", "expm1", "sin", "cos",
    "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch", "sigmoid", "gamma", "digamma",
    "polygamma", "erf", "erfc", "erfi", "erfcx", "dawsn", "Si", "Shi",
    "fresnels", "fresnelc", "airyai", "airyaiprime", "airybi", "airybiprime",
})
# fmt: on


def replayed(
    s: ComplexStatement, data: Mapping[str, Any], deadline: float
) -> tuple[Branches, Element, tuple[str, ...]]:
    """Compute the difference of both sides with the answers of a proof; and what it leaves out.

    Raises:
        GiveUp: if an answer is wrong or missing, or at the deadline.
    """
    scales = {(str(kind), int(i)): int(by) for kind, i, by in data["scales"]}
    if not 0 < data["capacity"] <= COMPLEX_GENERATORS or any(by < 1 for by in scales.values()):
        raise GiveUp("numbers that cannot be")
    field = Field(data["capacity"], Budget(deadline))
    kernels = Branches(field, Replay(data["answers"], scales))
    try:
        return kernels, *difference(kernels, s)
    except TooCoarse as finer:
        raise GiveUp(str(finer)) from finer


def real_statement(program: ProofProgram, a: int, b: int, wrt: str | None) -> RealStatement:
    """Return the statement for real variables that implies the one for complex ones.

    Raises:
        GiveUp: if a side is not meromorphic in all variables.
    """
    real = with_complex(program, [s.name for s in program.symbols if s.kind == "complex"], "real")
    if wrt is None:
        made, left, right, defined = real, a, b, (a, b)
    else:
        made, left, right, _ = derivative_claim(real, a, wrt, b)
        defined = (left, right, a)
    varies = depends_on(made, None)
    for i in made.needed(defined):
        step = made.steps[i]
        if step.op == "symbol" and step.kind != "real":
            raise GiveUp(f"'{step.params[0]}' is an integer")
        if varies[i] and step.op not in _MEROMORPHIC and not _is_meromorphic(made, i, varies):
            raise GiveUp(f"'{step.op}' is not meromorphic")
    return made, left, right, wrt or False, defined[2:]


def _is_meromorphic(program: ProofProgram, i: int, varies: bytearray) -> bool:
    """Whether a power has a whole exponent, or a positive number as its base; or a Bessel function has no cut."""
    step = program.steps[i]
    if step.op in {"jv", "iv"}:
        return whole_number(program, step.args[0]) is not None
    if step.op != "pow":
        return False
    if whole_number(program, step.args[1]) is not None:
        return True
    if varies[step.args[0]]:
        return False
    (base,) = balls.evaluate(program, {}, precision=_BITS, wanted=[step.args[0]])
    return base is not None and bool(base > 0)


def check_complex(
    data: Mapping[str, Any],
    program: ProofProgram,
    replay: Callable[[RealStatement, Mapping[str, Any]], None],
    deadline: float,
) -> tuple[str, str, tuple[str, ...], Apart | None]:
    """Check a proof file about complex numbers.

    Args:
        data: what it holds.
        program: its program.
        replay: what checks a proof for real numbers, and raises where there is none.
        deadline: on the count of `symgrad.checker.clock`.

    Returns:
        ``"proved"`` or ``"refuted"``, why, what is left out, and the point at which the sides differ.

    Raises:
        GiveUp, UsageError, LookupError, TypeError, ValueError: if it is neither.
    """
    wrt = data.get("wrt")
    s = complex_statement(program, data["a"], data["b"], wrt)
    if data["status"] == "refuted":
        point, precision = _point(s, data["witness"]["point"]), data["witness"]["precision"]
        left, right = _at(s, point, precision)
        with balls.context.workprec(precision):
            if not are_apart(left, right):
                raise GiveUp("the two balls are not disjoint at the point that is given")
            found = point, texts(left, right)
        return "refuted", "two disjoint balls at the complex point that is given", (), found
    _at(s, _point(s, data["sample"]["point"]), _BITS)
    if "real" in data:
        statement = real_statement(program, data["a"], data["b"], wrt)
        replay(statement, data["real"])
        why, excluded = "replayed for real numbers, and both sides are meromorphic", s.cuts
    else:
        kernels, gap, excluded = replayed(s, data["branches"], deadline)
        if not kernels.field.is_zero(gap):
            raise GiveUp("the difference is not zero")
        why = "replayed for complex numbers"
    if contradicted_at_complex(s, thin=bool(excluded)):
        raise GiveUp("the two sides differ at a complex point of the checker's own")
    return "proved", why, excluded, None


def _point(s: ComplexStatement, data: Mapping[str, Any]) -> dict[str, Gaussian]:
    """A point that is in the domains."""
    point = {name: gaussian_from_json(value) for name, value in data.items()}
    if not inside(s.program, point):
        raise GiveUp("a point that no variable may have")
    return point


def _at(s: ComplexStatement, point: Mapping[str, Gaussian], precision: int) -> tuple[Value, Value]:
    """Both sides at a point at which they are defined."""
    wanted = [s.a, s.b, *s.defined]
    found = evaluate(s.program, point, precision=precision, wanted=wanted, wrt=s.wrt)
    if any(v is None for v in found):
        raise GiveUp("at the point that is given one of the two is not defined")
    return found[0], found[1]
