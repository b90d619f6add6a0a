"""Check proofs and refutations about complex numbers.

There are two kinds of proof. Either both sides have the same value in `symgrad.checker.complex.extension_field`. Or
both sides are meromorphic in all variables jointly, and equal for real variables; then they are equal by the identity
theorem: the complement of the poles of a meromorphic function is connected, and the function is zero on all of it if it
is zero on an open set of real points. The check of the real statement includes a real point at which both sides are
defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from symgrad.checker.balls import programs as balls
from symgrad.checker.complex.balls import Value, disjoint, distinct_texts, evaluate, in_domain
from symgrad.checker.complex.difference import difference
from symgrad.checker.complex.extension_field import ComplexExtensionField
from symgrad.checker.complex.gaussian import Gaussian, gaussian_from_json
from symgrad.checker.complex.principal_branches import (
    ComplexStatement,
    complex_statement,
    depends_on,
    integer_value,
    retype_symbols,
)
from symgrad.checker.complex.samples import differs_at_complex_samples
from symgrad.checker.extension_field.extension import TooCoarse
from symgrad.checker.extension_field.field import Element, GiveUp
from symgrad.checker.extension_field.replay import replay_field
from symgrad.checker.limits import COMPLEX_GENERATORS
from symgrad.checker.numbers import context
from symgrad.checker.program.derivative import derivative_claim
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.steps import ProofProgram

_BITS = 256

PointAndValues: TypeAlias = "tuple[Mapping[str, Gaussian], tuple[str, str]]"
"""A point, and the text of the two sides there."""

# fmt: off
_MEROMORPHIC = frozenset({
    "symbol", "number", "constant", "add", "neg", "mul", "div", "stop_gradient", "exp", "exp2", "expm1", "sin", "cos",
    "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch", "sigmoid", "gamma", "digamma",
    "polygamma", "erf", "erfc", "erfi", "erfcx", "dawsn", "Si", "Shi",
    "fresnels", "fresnelc", "airyai", "airyaiprime", "airybi", "airybiprime",
})
# fmt: on


def replay_complex(
    s: ComplexStatement, data: Mapping[str, Any], deadline: float
) -> tuple[ComplexExtensionField, Element, tuple[str, ...]]:
    """Replay a proof: return the extension field, the difference of both sides, and the excluded sets.

    Raises:
        GiveUp: if an answer is wrong or missing, or at the deadline.
    """
    extension = ComplexExtensionField(*replay_field(data, COMPLEX_GENERATORS, deadline))
    try:
        return extension, *difference(extension, s)
    except TooCoarse as finer:
        raise GiveUp(str(finer)) from finer


def real_statement(program: ProofProgram, a: int, b: int, wrt: str | None) -> Equality:
    """Return the statement about real variables that implies the statement about complex variables.

    Raises:
        GiveUp: if a side is not meromorphic in all variables.
    """
    real = retype_symbols(program, [s.name for s in program.symbols if s.kind == "complex"], "real")
    found = Equality(real, a, b) if wrt is None else derivative_claim(real, a, wrt, b)
    made = found.program
    varies = depends_on(made, None)
    for i in made.needed(found.positions):
        step = made.steps[i]
        if step.op == "symbol" and step.kind != "real":
            raise GiveUp(f"'{step.params[0]}' is an integer")
        if varies[i] and step.op not in _MEROMORPHIC and not _is_meromorphic(made, i, varies):
            raise GiveUp(f"'{step.op}' is not meromorphic")
    return replace(found, plain=None)  # nothing here has kinks


def _is_meromorphic(program: ProofProgram, i: int, varies: bytearray) -> bool:
    """Tell whether a power has an integer exponent or a positive constant base, or a Bessel function has no cut."""
    step = program.steps[i]
    if step.op in {"jv", "iv"}:
        return integer_value(program, step.args[0]) is not None
    if step.op != "pow":
        return False
    if integer_value(program, step.args[1]) is not None:
        return True
    if varies[step.args[0]]:
        return False
    (base,) = balls.evaluate(program, {}, precision=_BITS, wanted=[step.args[0]])
    return base is not None and bool(base > 0)


def check_complex(
    data: Mapping[str, Any],
    program: ProofProgram,
    replay: Callable[[Equality, Mapping[str, Any]], None],
    deadline: float,
) -> tuple[str, str, tuple[str, ...], PointAndValues | None]:
    """Check a proof file about complex numbers.

    Args:
        data: the content of the file.
        program: the program of the file.
        replay: checks a proof about real numbers, and raises an error if it does not hold.
        deadline: on the clock of `symgrad.checker.clock`.

    Returns:
        ``"proved"`` or ``"refuted"``, the reason, the excluded sets, and the witness of a refutation.

    Raises:
        GiveUp, UsageError, LookupError, TypeError, ValueError: if the file neither proves nor refutes the claim.
    """
    wrt = data.get("wrt")
    s = complex_statement(program, data["a"], data["b"], wrt)
    if data["status"] == "refuted":
        point, precision = _point(s, data["witness"]["point"]), data["witness"]["precision"]
        left, right = _values_at(s, point, precision)
        with context.workprec(precision):
            if not disjoint(left, right):
                raise GiveUp("at the given point the two balls are not disjoint")
            found = point, distinct_texts(left, right)
        return "refuted", "the two balls are disjoint at the given complex point", (), found
    _values_at(s, _point(s, data["sample"]["point"]), _BITS)
    if "real" in data:
        statement = real_statement(program, data["a"], data["b"], wrt)
        replay(statement, data["real"])
        why, excluded = "replayed for real numbers, and both sides are meromorphic", s.cuts
    else:
        extension, gap, excluded = replay_complex(s, data["branches"], deadline)
        if not extension.field.is_zero(gap):
            raise GiveUp("the difference is not zero")
        why = "replayed for complex numbers"
    if differs_at_complex_samples(s, thin=bool(excluded)):
        raise GiveUp("the two sides differ at a complex point of the checker's own")
    return "proved", why, excluded, None


def _point(s: ComplexStatement, data: Mapping[str, Any]) -> dict[str, Gaussian]:
    """Read a point, and check that it lies in the domains."""
    point = {name: gaussian_from_json(value) for name, value in data.items()}
    if not in_domain(s.program, point):
        raise GiveUp("a point outside the declared domains")
    return point


def _values_at(s: ComplexStatement, point: Mapping[str, Gaussian], precision: int) -> tuple[Value, Value]:
    """Return the values of both sides at a point, and check that they are defined there."""
    wanted = [s.a, s.b, *s.defined]
    found = evaluate(s.program, point, precision=precision, wanted=wanted, wrt=s.wrt)
    if any(v is None for v in found):
        raise GiveUp("at the given point one of the two sides is not defined")
    return found[0], found[1]
