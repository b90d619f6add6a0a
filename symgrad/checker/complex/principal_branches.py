"""Definitions of functions of complex numbers by principal branches of a few primitive functions.

    log(z) = log(abs(z)) + i*t with -pi < t <= pi             z**w = exp(w*log(z)), a product where w is an integer
    sqrt(z) = z**(1/2)                                        0**w = 0 where w has a positive real part, 0**0 = 1

All other functions are defined by formulas that hold everywhere: W. Kahan, Branch cuts for complex elementary functions
(1987); DLMF 4.23 and 4.37. On a branch cut they are continuous from the counterclockwise side, as in `cmath`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from symgrad.checker.program.builder import StepBuilder
from symgrad.checker.program.definitions import DEFINITIONS
from symgrad.checker.program.derivative import differentiate
from symgrad.checker.program.scalar_derivatives import FormulaTerm
from symgrad.checker.program.step_text import step_text
from symgrad.checker.program.steps import ProofProgram, ProofStep
from symgrad.support.errors import UsageError

# fmt: off
_ENTIRE = (
    "sin", "cos", "exp", "erf", "erfc", "erfi", "Si", "Shi", "fresnels", "fresnelc",
    "airyai", "airyaiprime", "airybi", "airybiprime",
)
# fmt: on
_MEROMORPHIC = ("gamma", "digamma", "polygamma")
_WITH_CUTS = frozenset(
    {"log", "sqrt", "pow", "exp1", "Ci", "Chi", "jv", "yv", "iv", "kv", "LambertW", "ellipk", "ellipe"}
)
_REMOVABLE = frozenset({"Si", "Shi", "ellipk", "ellipe"})
"""Functions whose derivative is a quotient by the argument, with a removable singularity at 0."""
_NOT_HOLOMORPHIC = frozenset({"abs", "sign"})
_PRIMITIVES = frozenset(
    {"symbol", "number", "constant", "add", "neg", "mul", "div", "stop_gradient", *_ENTIRE, *_MEROMORPHIC}
    | _WITH_CUTS
    | _NOT_HOLOMORPHIC
)
_ORDERED = frozenset({"lt", "le", "gt", "ge", "maximum", "minimum", "relu", "clip", "floor", "ceil", "round"})
_TRUTHS = frozenset({"eq", "ne", "and_", "or_", "xor", "not_", "where"})
_REASONS = {
    **dict.fromkeys(_ORDERED, "complex numbers have no order"),
    **dict.fromkeys(_TRUTHS, "conditions are about real numbers here"),
    "cbrt": "for real numbers it is the real root, which is not a branch of the complex root",
    "lgamma": "for real numbers it is the logarithm of an absolute value, which has no derivative",
    **dict.fromkeys(("hypot", "atan2"), "it is a function of two real numbers"),
    **dict.fromkeys(("erfinv", "erfcinv", "expi"), "there is no common convention for its branches"),
}
_CURES = {"cbrt": "write u**(1/3) for the principal root", "lgamma": "write log(gamma(u)) or gamma(u)"}


# ------------------------------------------------------------------------------------------------------- definitions


def _asin(u: FormulaTerm) -> FormulaTerm:
    return -u.constant("i") * (u.constant("i") * u + (1 - u * u)("sqrt"))("log")


def _acos(u: FormulaTerm) -> FormulaTerm:
    return u.constant("pi") / 2 - _asin(u)


def _atan(u: FormulaTerm) -> FormulaTerm:
    turned = u.constant("i") * u
    return u.constant("i") / 2 * ((1 - turned)("log") - (1 + turned)("log"))


def _asinh(u: FormulaTerm) -> FormulaTerm:
    return (u + (1 + u * u)("sqrt"))("log")


def _acosh(u: FormulaTerm) -> FormulaTerm:
    return (u + (u + 1)("sqrt") * (u - 1)("sqrt"))("log")


def _atanh(u: FormulaTerm) -> FormulaTerm:
    return ((1 + u)("log") - (1 - u)("log")) / 2


_DEFINITIONS: dict[str, Callable[[FormulaTerm], FormulaTerm]] = {
    **DEFINITIONS,
    "erfcx": lambda u: (u * u)("exp") * u("erfc"),
    "dawsn": lambda u: u.constant("pi")("sqrt") / 2 * (-(u * u))("exp") * u("erfi"),
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "asec": lambda u: _acos(1 / u),
    "acsc": lambda u: _asin(1 / u),
    "acot": lambda u: _atan(1 / u),
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
    "asech": lambda u: _acosh(1 / u),
    "acsch": lambda u: _asinh(1 / u),
    "acoth": lambda u: _atanh(1 / u),
}
_DEFINED_WITH_CUTS = frozenset(
    {"log2", "log10", "log1p", "softplus"} | {name for name in _DEFINITIONS if name.startswith("a")}
)


# --------------------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class ComplexStatement:
    """A statement about complex numbers, written with primitive functions.

    Args:
        program: the steps.
        a, b: the two sides; for a derivative, the derivative and the claim.
        wrt: the variable of differentiation, or None.
        defined: further steps that must be certain at an admissible point.
        cuts: the branch cuts of the differentiated function, as conditions: nothing is claimed on them.
        nonzero: steps that are nonzero at an admissible point: divisors, arguments of logarithms, bases of
            differentiated powers.
    """

    program: ProofProgram
    a: int
    b: int
    wrt: str | None = None
    defined: tuple[int, ...] = ()
    cuts: tuple[str, ...] = ()
    nonzero: frozenset[int] = frozenset()


def complex_statement(program: ProofProgram, a: int, b: int, wrt: str | None = None) -> ComplexStatement:
    """Reduce a statement about complex numbers to the equality of two steps, written with primitive functions.

    Args:
        program: the steps; a variable of kind ``"complex"`` is any complex number.
        a: the position of one side; if there is ``wrt``, the position of the differentiated function.
        b: the position of the other side; if there is ``wrt``, the position of the claimed derivative.
        wrt: the variable of differentiation.

    Raises:
        UsageError: if a function is not defined for complex numbers, or has no derivative.

    Example:
        >>> from symgrad.checker.program.steps import Symbol
        >>> steps = (ProofStep("symbol", (), ("z",), (), "complex"), ProofStep("log1p", (0,)), ProofStep("div", (0, 0)))
        >>> found = complex_statement(ProofProgram(steps, (Symbol("z", "complex", None, None),)), 1, 2, "z")
        >>> found.cuts
        ('z is on a branch cut of log1p',)
        >>> [s.op for s in found.program.steps]
        ['symbol', 'number', 'add', 'log', 'div', 'div']
    """
    if wrt is None:
        into = StepBuilder(())
        at = _expand_definitions(program, [a, b], into)
        made = ProofProgram(tuple(into.steps), program.symbols)
        return ComplexStatement(made, at[a], at[b], nonzero=_nonzero_steps(made, at[a], at[b]))
    if not any(s.name == wrt for s in program.symbols):
        raise UsageError(f"the program has no variable '{wrt}'", expected="the name of one of its symbols")
    into = StepBuilder(())
    y = _expand_definitions(program, [a], into)[a]
    done, tangent = differentiate(ProofProgram(tuple(into.steps), program.symbols), y, wrt)
    # The derivative may contain functions that are not primitive.
    into = StepBuilder(())
    at = _expand_definitions(done, [y, tangent], into)
    claim = _expand_definitions(program, [b], into)[b]
    made = ProofProgram(tuple(into.steps), program.symbols)
    moving = depends_on(made, wrt)
    whole = integer_steps(made)
    powers = [s for i in made.needed([at[y]], frozen=False) if (s := made.steps[i]).op == "pow"]
    bases = [s.args[0] for s in powers if moving[s.args[0]] and s.args[1] not in whole]
    cuts = _cuts(program, a, depends_on(program, wrt))
    nonzero = _nonzero_steps(made, at[y], at[tangent], claim) | frozenset(bases)
    return ComplexStatement(made, at[tangent], claim, wrt, (at[y],), cuts, nonzero)


def _nonzero_steps(program: ProofProgram, *outputs: int) -> frozenset[int]:
    """Return the steps that are nonzero wherever the outputs are defined."""
    read = [program.steps[i] for i in program.needed(outputs)]
    return frozenset([s.args[1] for s in read if s.op == "div"] + [s.args[0] for s in read if s.op == "log"])


def _cuts(program: ProofProgram, y: int, moving: Sequence[int]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    whole = integer_steps(program)
    for i in program.needed([y], frozen=False):
        op = program.steps[i].op
        if moving[i] and op in _NOT_HOLOMORPHIC:
            raise UsageError(
                f"'{op}' of a complex number has no complex derivative, anywhere",
                expected="holomorphic functions",
                cure="write the function without it, or leave the domain real",
            )
        if moving[i]:
            found.update(dict.fromkeys(_cut_conditions(program, i, moving, whole)))
    return tuple(found)


def _cut_conditions(program: ProofProgram, i: int, moving: Sequence[int], whole: Container[int]) -> list[str]:
    """Return, as conditions, where a differentiated step may jump, or its derivative has no value."""
    step = program.steps[i]
    found: list[str] = []
    if step.op == "pow":
        base, exponent = step.args
        if moving[base] and exponent not in whole:
            found.append(f"{step_text(program, base)} is on the branch cut of {step_text(program, i)}")
        return found
    argument = step_text(program, step.args[-1]) if step.args else ""
    entire = step.op in {"jv", "iv"} and step.args[0] in whole
    if step.op in _DEFINED_WITH_CUTS or (step.op in _WITH_CUTS and not entire):
        found.append(f"{argument} is on a branch cut of {step.op}")
    if step.op in _REMOVABLE:
        found.append(f"{argument} = 0")
    return found


def _expand_definitions(program: ProofProgram, wanted: Sequence[int], into: StepBuilder) -> dict[int, int]:
    """Add steps to a builder, expanded to primitive functions, and return the new position of each."""
    at: dict[int, int] = {}
    for i in program.needed(wanted):
        step = program.steps[i]
        _refuse(program, step)
        args = tuple(at[a] for a in step.args)
        meaning = _DEFINITIONS.get(step.op)
        if meaning is not None:
            at[i] = meaning(FormulaTerm(into, args[0])).at
        else:
            at[i] = into.step(replace(step, args=args))
    return at


def _refuse(program: ProofProgram, step: ProofStep) -> None:
    if step.shape or any(program.steps[a].shape for a in step.args):
        raise UsageError(
            "verdicts about complex numbers are about single numbers, not arrays",
            cure="state the claim for one entry",
        )
    if step.kind == "bool" and step.op in ("symbol", "number"):
        raise UsageError("a truth value is not a complex number", cure="leave the domain real")
    if step.op not in _PRIMITIVES and step.op not in _DEFINITIONS:
        raise UsageError(
            f"'{step.op}' is not a function of complex numbers: {_REASONS.get(step.op, 'it is undefined for them')}",
            expected="functions with a principal branch",
            cure=_CURES.get(step.op, "leave the domain real"),
        )


# --------------------------------------------------------------------------------------------------------- programs


def retype_symbols(program: ProofProgram, names: Sequence[str], kind: str = "complex") -> ProofProgram:
    """Return a program in which some variables have another kind, and no bounds."""
    chosen = frozenset(names)
    steps = tuple(
        replace(s, kind=kind) if s.op == "symbol" and s.params[0] in chosen else s for s in program.steps
    )
    symbols = tuple(
        replace(s, kind=kind, low=None, high=None, drawn=None) if s.name in chosen else s
        for s in program.symbols
    )
    return ProofProgram(steps, symbols)


def integer_steps(program: ProofProgram) -> frozenset[int]:
    """Return the steps that are integers at every point; their declared kinds are not used."""
    found: set[int] = set()
    integers = {s.name for s in program.symbols if s.kind == "int"}
    for i, step in enumerate(program.steps):
        match step.op:
            case "number":
                whole = Fraction(step.params[0]).denominator == 1
            case "symbol":
                whole = step.params[0] in integers
            case "add" | "mul" | "neg" | "stop_gradient":
                whole = all(a in found for a in step.args)
            case _:
                whole = False
        if whole:
            found.add(i)
    return frozenset(found)


def integer_value(program: ProofProgram, at: int) -> int | None:
    """Return the value of a step that is an integer literal, otherwise None."""
    step, sign = program.steps[at], 1
    if step.op == "neg":
        step, sign = program.steps[step.args[0]], -1
    if step.op != "number" or isinstance(step.params[0], bool) or Fraction(step.params[0]).denominator != 1:
        return None
    return sign * int(step.params[0])


def depends_on(program: ProofProgram, wrt: str | None) -> bytearray:
    """Tell for each step whether it depends on a variable (if None, on any), other than through ``stop_gradient``."""
    depends = bytearray(len(program.steps))
    for i, step in enumerate(program.steps):
        if step.op == "symbol":
            depends[i] = wrt is None or step.params[0] == wrt
        elif step.op != "stop_gradient" or wrt is None:
            depends[i] = any(depends[a] for a in step.args)
    return depends
