"""Find numbers at which a statement may change: literals, roots of linear functions, and numbers between these."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias, cast

from symgrad.checker.program.length_values import postfix
from symgrad.checker.program.steps import ProofProgram, ProofStep, StepBody
from symgrad.ir.graph import OPS
from symgrad.support.traversal import leaves
from symgrad.verification.limits import (
    LARGEST_THRESHOLD,
    SEED_STEPS,
    THRESHOLD_BITS,
    THRESHOLD_EXPONENT,
    THRESHOLDS,
)

_Line: TypeAlias = "tuple[str | None, Fraction, Fraction]"
"""A linear function: variable, factor, constant; a number has no variable."""

_CLOSE = Fraction(1, 1024)
_BITS = 256


def _steps(program: ProofProgram) -> Iterator[ProofStep]:
    """Yield the first steps of a program, each followed by the steps inside of it if it is a recurrence."""
    for step in program.steps[:SEED_STEPS]:
        yield step
        for body in step.params:
            if isinstance(body, StepBody):
                yield from _steps(body.program)


def literals(program: ProofProgram) -> list[Fraction]:
    """Return the first few numbers of a program."""
    found: dict[Fraction, None] = {}
    for step in _steps(program):
        if step.op == "number" and not isinstance(step.params[0], bool):
            value = Fraction(step.params[0])
            if abs(value) < LARGEST_THRESHOLD and value.denominator.bit_length() <= THRESHOLD_BITS:
                found.setdefault(value)
        if len(found) >= THRESHOLDS:
            break
    return list(found)


def positive_integers(program: ProofProgram) -> list[int]:
    """Return the first few integers without signs: in lengths, slices and positions, then in numbers; not 0.

    Example:
        >>> seven = ProofStep("number", (), (Fraction(7),))
        >>> positive_integers(ProofProgram((seven, ProofStep("iota", (), ("2*n + 12",), ("2*n + 12",), "int")), ()))
        [2, 12, 7]
    """
    nested: Any = tuple(s.shape for s in program.symbols)
    for step in _steps(program):
        nested += (step.shape, step.params if step.op not in ("symbol", "constant", "number") else ())

    def inside(x: Any) -> tuple[Any, ...] | None:
        return cast("tuple[Any, ...]", x) if isinstance(x, tuple) else None

    found: dict[int, None] = {}
    for length in leaves(nested, inside):
        for n in postfix(length) if isinstance(length, str) else (length,):
            if isinstance(n, int | Fraction) and n is not True and n:
                found.setdefault(abs(int(n)))
        if len(found) >= THRESHOLDS:
            break
    return list(found | dict.fromkeys(abs(int(c)) for c in literals(program) if c.denominator == 1 and c))


def between(program: ProofProgram) -> list[Fraction]:
    """Return roots of linear functions that are compared or read by other functions, and numbers around them.

    Example:
        >>> from symgrad.checker.program.steps import Symbol
        >>> steps = (ProofStep("symbol", (), ("x",)), ProofStep("number", (), (3,)), ProofStep("mul", (0, 1)),
        ...     ProofStep("number", (), (7,)), ProofStep("lt", (2, 3)))
        >>> Fraction(7, 3) in between(ProofProgram(steps, (Symbol("x", "real", None, None),)))
        True
    """
    known = literals(program)
    edges = list(dict.fromkeys([*(root for _, root in _edges(program)), *known]))[: 2 * THRESHOLDS]
    found = dict.fromkeys(edges)
    for c in edges:
        found.update(dict.fromkeys((c / 2, 2 * c)))
    ordered = sorted({Fraction(0), *edges})
    found.update(dict.fromkeys((a + b) / 2 for a, b in pairwise(ordered)))
    for c in edges:
        found.update(dict.fromkeys((c * (1 - _CLOSE), c * (1 + _CLOSE), -c)))
    return list(found)


def cells(program: ProofProgram) -> dict[str, list[Fraction]]:
    """Return for each variable a number from every interval between the numbers with which it is compared.

    Example:
        >>> from symgrad.checker.program.steps import Symbol
        >>> steps = (ProofStep("symbol", (), ("x",)), ProofStep("number", (), (3,)), ProofStep("lt", (0, 1)))
        >>> [str(c) for c in cells(ProofProgram(steps, (Symbol("x", "real", None, None),)))["x"]]
        ['-1', '3/2', '11/2']
    """
    roots: dict[str, set[Fraction]] = {}
    for name, root in _edges(program)[: 2 * THRESHOLDS]:
        if name is not None:
            roots.setdefault(name, set()).add(root)
    found: dict[str, list[Fraction]] = {}
    for name, edges in roots.items():
        ordered = sorted(edges)
        inner = [(a + b) / 2 for a, b in pairwise(ordered)]
        # Move further by half the root, plus one: near enough to be in the domain, and beyond neighbouring thresholds.
        below, above = ordered[0] - abs(ordered[0]) / 2 - 1, ordered[-1] + abs(ordered[-1]) / 2 + 1
        found[name] = [below, *inner, above]
    return found


def _edges(program: ProofProgram) -> list[tuple[str | None, Fraction]]:
    """Return the roots of linear functions, and of the differences of compared functions, each with its variable."""
    lines: list[_Line | None] = []
    found: dict[tuple[str | None, Fraction], None] = {}
    for step in program.steps[:SEED_STEPS]:
        args = [lines[a] for a in step.args]
        lines.append(_line(step, args))
        if lines[-1] is not None:
            continue
        read = [line for line in args if line is not None]
        if len(read) == 2 and step.op in OPS and OPS[step.op].switches:
            turned = _times(read[1], Fraction(-1))
            difference = None if turned is None else _sum(read[0], turned)
            read += [] if difference is None else [difference]
        for name, factor, rest in read:
            root = rest if name is None else -rest / factor
            if abs(root) < LARGEST_THRESHOLD:
                found.setdefault((name, root))
    return list(found)


def _line(step: ProofStep, args: list[_Line | None]) -> _Line | None:
    """Return a step as a linear function; None if it is not linear."""
    known = [line for line in args if line is not None]
    if len(known) < len(args):
        return None
    match step.op, known:
        case "number", [] if not isinstance(step.params[0], bool):
            return None, Fraction(0), Fraction(step.params[0])
        case "symbol", []:
            return str(step.params[0]), Fraction(1), Fraction(0)
        case "neg", [u]:
            return _times(u, Fraction(-1))
        case "add", [u, v]:
            return _sum(u, v)
        case "mul", [u, (None, _, c)] | [(None, _, c), u]:
            return _times(u, c)
        case "div", [u, (None, _, c)] if c:
            return _times(u, 1 / c)
        case "pow", [(None, _, c), (None, _, n)] if (
            n.denominator == 1 and abs(n) <= THRESHOLD_EXPONENT and (c or n > 0)
        ):
            return _bounded((None, Fraction(0), Fraction(c ** int(n))))
        case "stop_gradient" | "broadcast_to", [u]:
            return u
        case _:
            return None


def _times(u: _Line, c: Fraction) -> _Line | None:
    return _bounded((u[0] if c else None, u[1] * c, u[2] * c))


def _sum(u: _Line, v: _Line) -> _Line | None:
    if u[0] is not None and v[0] is not None and u[0] != v[0]:
        return None
    factor = u[1] + v[1]
    name = u[0] if v[0] is None else v[0]
    return _bounded((name if factor else None, factor, u[2] + v[2]))


def _bounded(line: _Line) -> _Line | None:
    """Return a linear function; None if its numbers have too many digits."""
    bits = max(max(abs(x.numerator), x.denominator).bit_length() for x in line[1:])
    return line if bits <= _BITS else None
