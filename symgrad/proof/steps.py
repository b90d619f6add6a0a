"""Programs as the checker reads them: a list of steps, each over earlier ones, made of what JSON can hold.

The checker does not use the graph of `symgrad.ir`: its ops come with derivative rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

from symgrad.errors import NumberTooLargeError, UsageError

__all__ = ["Program", "Step", "Symbol", "number_from_json", "program_from_json", "program_to_json"]

_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")

Length: TypeAlias = "int | str"  # a number, a name, or a polynomial in names as text


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: what it may be. An end that is None is infinite; ends are excluded; it may be a symmetric matrix."""

    name: str
    kind: str
    low: Fraction | None
    high: Fraction | None
    shape: tuple[Length, ...] = ()
    symmetric: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: its name in programs, or one of the leaves ``symbol``, ``number``, ``constant``, ``size``.

    Args:
        op: its name.
        args: positions of earlier steps.
        params: static parameters; the name of a leaf; of a number a Fraction or a truth value.
        shape: of the result.
        kind: of the result: ``"real"``, ``"int"`` or ``"bool"``.
    """

    op: str
    args: tuple[int, ...] = ()
    params: tuple[Any, ...] = ()
    shape: tuple[Length, ...] = ()
    kind: str = "real"


@dataclass(frozen=True, slots=True)
class Program:
    """Steps, each after its arguments, and the variables that they read."""

    steps: tuple[Step, ...]
    symbols: tuple[Symbol, ...]


_DIGITS = 4_000  # Python's own conversions stop at 4,300
_LARGEST = 10**_DIGITS


def _to_json(value: Any) -> Any:
    if isinstance(value, Fraction):
        if max(abs(value.numerator), value.denominator) >= _LARGEST:
            raise NumberTooLargeError(
                "a number of the claim has too many digits to be written into a proof",
                expected=f"at most {_DIGITS:,} digits",
                cure="keep it symbolic",
            )
        return {"q": str(value)}
    if isinstance(value, tuple):
        return [_to_json(v) for v in cast("tuple[Any, ...]", value)]
    return value


def number_from_json(value: Any) -> Fraction:
    """Read a rational number: a whole one, or text such as ``-1/2``; powers of ten might be of any size.

    Raises:
        ValueError: if it is none.
    """
    if type(value) is int or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        return Fraction(value)
    raise ValueError(f"{value!r} is no rational number")


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return number_from_json(cast("dict[str, Any]", value)["q"])
    if isinstance(value, list):
        return tuple(_from_json(v) for v in cast("list[Any]", value))
    return value


def _end(value: Any) -> Fraction | None:
    return None if value is None else number_from_json(value)


def _is_symmetric(facts: list[Any]) -> bool:
    if facts not in ([], ["symmetric"]):
        raise ValueError(f"{facts} is nothing that a variable can be")
    return bool(facts)


def program_to_json(program: Program) -> dict[str, Any]:
    """Return what `json.dumps` takes."""
    return {
        "symbols": [
            [
                *(s.name, s.kind, *(None if e is None else str(e) for e in (s.low, s.high)), list(s.shape)),
                *(["symmetric"] if s.symmetric else []),
            ]
            for s in program.symbols
        ],
        "steps": [[s.op, list(s.args), _to_json(s.params), list(s.shape), s.kind] for s in program.steps],
    }


def program_from_json(data: Any) -> Program:
    """Read a program back.

    Raises:
        UsageError: if it is none: a step that reads a later one, a symbol that is not declared.
    """
    try:
        symbols = tuple(
            Symbol(str(name), str(kind), _end(low), _end(high), tuple(shape), _is_symmetric(facts))
            for name, kind, low, high, shape, *facts in data["symbols"]
        )
        steps = tuple(
            Step(str(op), tuple(args), _from_json(params), tuple(shape), str(kind))
            for op, args, params, shape, kind in data["steps"]
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise UsageError(
            f"this is not a program of a proof: {error!r}", cure="make the proof anew"
        ) from error
    for s in symbols:
        if s.symmetric and (len(s.shape) != 2 or s.shape[0] != s.shape[1]):
            raise UsageError(f"'{s.name}' is declared symmetric and is no square matrix")
    if len({s.name for s in symbols}) < len(symbols):
        raise UsageError("two variables have the same name")
    _check(steps, {s.name: s for s in symbols})
    return Program(steps, symbols)


def _check(steps: Sequence[Step], symbols: Mapping[str, Symbol]) -> None:
    for i, step in enumerate(steps):
        if not all(type(a) is int and 0 <= a < i for a in step.args):
            raise UsageError(f"step {i} ({step.op}) reads a step that does not come before it")
        if step.op == "symbol":
            symbol = symbols.get(step.params[0]) if len(step.params) == 1 else None
            if symbol is None or (symbol.shape, symbol.kind) != (step.shape, step.kind):
                raise UsageError(f"step {i} reads a variable that is not declared so: {step.params}")
