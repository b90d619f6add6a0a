"""Programs of the checker: lists of steps that read earlier steps, with plain data that maps to JSON.

The checker does not use the graph of `symgrad.ir`, because its ops come with derivative rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias, cast

from symgrad.checker.numbers import NUMERAL, number_from_json, number_to_json
from symgrad.checker.program.distributions import ProofDistribution, support
from symgrad.checker.program.length_values import length_names, length_value
from symgrad.checker.program.names import is_name, terminal_text
from symgrad.support.errors import UsageError
from symgrad.support.traversal import leaves

Length: TypeAlias = "int | str"  # a number, a name, or a polynomial in names as text


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable with its domain.

    Args:
        name: the name.
        kind: ``"real"``, ``"int"``, ``"bool"`` or ``"complex"``.
        low, high: the bounds of the open interval of values; None for an infinite bound.
        ends: for an integer, excluded ends that are lengths; then ``low`` or ``high`` is None.
        shape: the shape.
        symmetric: whether the variable is a symmetric matrix.
        drawn: the distribution of a random variable; its support is the interval.
    """

    name: str
    kind: str
    low: Fraction | None
    high: Fraction | None
    shape: tuple[Length, ...] = ()
    symmetric: bool = False
    drawn: ProofDistribution | None = None
    ends: tuple[str | None, str | None] = field(
        default=(None, None), repr=False
    )  # the repr serves as a random seed


def resolve_ends(symbol: Symbol, sizes: Mapping[str, int]) -> Symbol:
    """Return a variable whose ends are numbers: the ends that are lengths are evaluated.

    Raises:
        UsageError: if a name in an end has no value.

    Example:
        >>> resolve_ends(Symbol("t", "int", Fraction(-1), None, ends=(None, "2*k")), {"k": 3}).high
        Fraction(6, 1)
    """
    if symbol.ends == (None, None):
        return symbol
    low, high = (
        number if end is None else Fraction(length_value(end, sizes))
        for number, end in zip((symbol.low, symbol.high), symbol.ends, strict=True)
    )
    return replace(symbol, low=low, high=high, ends=(None, None))


@dataclass(frozen=True, slots=True)
class ProofStep:
    """An operation, or a leaf: ``symbol``, ``number``, ``constant`` or ``size``.

    Args:
        op: the name.
        args: positions of earlier steps.
        params: static parameters; for a leaf its name, or a Fraction or a truth value.
        shape: the shape of the result.
        kind: the kind of the result: ``"real"``, ``"int"`` or ``"bool"``.
    """

    op: str
    args: tuple[int, ...] = ()
    params: tuple[Any, ...] = ()
    shape: tuple[Length, ...] = ()
    kind: str = "real"


@dataclass(frozen=True, slots=True)
class ProofProgram:
    """Steps, each after its arguments, and the variables that they read."""

    steps: tuple[ProofStep, ...]
    symbols: tuple[Symbol, ...]

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of lengths, each once, in order of appearance."""
        nested: Any = (
            *(s.ends for s in reversed(self.symbols)),
            *(s.shape for s in (*self.symbols, *self.steps)),
            *(s.params for s in self.steps if s.op not in ("symbol", "constant")),
        )

        def inside(x: Any) -> tuple[Any, ...] | None:
            if isinstance(x, StepBody):
                return x.program.sizes
            return cast("tuple[Any, ...]", x) if isinstance(x, tuple) else None

        return tuple(length_names(dict.fromkeys(x for x in leaves(nested, inside) if isinstance(x, str))))

    def needed(self, outputs: Iterable[int], *, frozen: bool = True) -> list[int]:
        """Return the outputs and the steps that they read, in order.

        If not ``frozen``, without steps read only by ``stop_gradient``.
        """
        found = bytearray(len(self.steps))
        for i in outputs:
            found[i] = 1
        for i in range(len(self.steps) - 1, -1, -1):
            if found[i] and (frozen or self.steps[i].op != "stop_gradient"):
                for a in self.steps[i].args:
                    found[a] = 1
        return [i for i, there in enumerate(found) if there]


@dataclass(frozen=True, slots=True)
class StepBody:
    """The formulas of one step of a recurrence, whose params are the number of steps, 1 or 0, and this.

    A step ``recurrence`` reads the first values, arrays with one row for each step, and what is the same in all
    steps. The variables of the program stand for the values of the step before, for one row of each array, and for
    what is the same in all steps, in this order. The result has all values of the recurrence along its first axis,
    the first value at the end if the steps run back; several values of a step are side by side (``pack``).

    Args:
        program: the formulas; their only variables are these.
        carries: the number of values.
        rows: the number of arrays.
        results: the positions of the new values, with the shapes of the values.
    """

    program: ProofProgram
    carries: int
    rows: int
    results: tuple[int, ...]


def _to_json(value: Any) -> Any:
    if isinstance(value, StepBody):
        return {
            "program": program_to_json(value.program),
            "carries": value.carries,
            "rows": value.rows,
            "results": list(value.results),
        }
    if isinstance(value, Fraction):
        return {"q": number_to_json(value)}
    if isinstance(value, tuple):
        return [_to_json(v) for v in cast("tuple[Any, ...]", value)]
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        data = cast("dict[str, Any]", value)
        if "q" in data:
            return number_from_json(data["q"])
        program = program_from_json(data["program"])
        return StepBody(program, data["carries"], data["rows"], tuple(data["results"]))
    if isinstance(value, list):
        return tuple(_from_json(v) for v in cast("list[Any]", value))
    return value


def _interval(values: Sequence[Any]) -> tuple[list[Fraction | None], tuple[str | None, ...]]:
    """Read the ends of an interval: return those that are numbers, then those that are lengths."""
    lengths = tuple(v if isinstance(v, str) and not NUMERAL.fullmatch(v) else None for v in values)
    numbers = [
        None if v is None or end is not None else number_from_json(v)
        for v, end in zip(values, lengths, strict=True)
    ]
    return numbers, lengths


def _symbol_from_json(name: Any, kind: Any, low: Any, high: Any, shape: Any, *facts: Any) -> Symbol:
    (first, last), (least, most) = _interval((low, high))
    known = _facts_from_json([*facts])
    return Symbol(str(name), str(kind), first, last, tuple(shape), ends=(least, most), **known)


def _facts_to_json(symbol: Symbol) -> list[Any]:
    if symbol.drawn is not None:
        return [{"drawn": [symbol.drawn.family, *map(number_to_json, symbol.drawn.parameters)]}]
    return ["symmetric"] if symbol.symmetric else []


def _facts_from_json(facts: list[Any]) -> dict[str, Any]:
    """Read further facts about a variable, as arguments of `Symbol`."""
    match facts:
        case []:
            return {}
        case ["symmetric"]:
            return {"symmetric": True}
        case [{"drawn": [str(family), *parameters]}]:
            return {"drawn": ProofDistribution(family, tuple(map(number_from_json, parameters)))}
        case _:
            raise ValueError("nothing that a variable can be")


def program_to_json(program: ProofProgram) -> dict[str, Any]:
    """Return a program as data for `json.dumps`."""
    return {
        "symbols": [
            [
                *(
                    s.name,
                    s.kind,
                    *(
                        end if e is None else number_to_json(e)
                        for e, end in zip((s.low, s.high), s.ends, strict=True)
                    ),
                    list(s.shape),
                ),
                *_facts_to_json(s),
            ]
            for s in program.symbols
        ],
        "steps": [[s.op, list(s.args), _to_json(s.params), list(s.shape), s.kind] for s in program.steps],
    }


def program_from_json(data: Any) -> ProofProgram:
    """Read a program from JSON data.

    Raises:
        UsageError: if it is invalid: a step reads a later one, a symbol is not declared, or a name is not valid.
    """
    try:
        symbols = tuple(_symbol_from_json(*row) for row in data["symbols"])
        steps = tuple(
            ProofStep(str(op), tuple(args), _from_json(params), tuple(shape), str(kind))
            for op, args, params, shape, kind in data["steps"]
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise UsageError(
            f"this is not a program of a proof: {terminal_text(repr(error), 200)}", cure="make the proof anew"
        ) from error
    _check_symbols(symbols)
    _check_steps(steps, {s.name: s for s in symbols})
    program = ProofProgram(steps, symbols)
    _check_names(program)
    return program


def _check_symbols(symbols: Sequence[Symbol]) -> None:
    """Refuse contradictory and impossible declarations."""
    for s in symbols:
        name, interval = terminal_text(s.name, 60), (s.kind, s.low, s.high)
        if s.symmetric and (len(s.shape) != 2 or s.shape[0] != s.shape[1]):
            raise UsageError(f"'{name}' is declared symmetric and is no square matrix")
        if s.ends != (None, None) and s.kind != "int":
            raise UsageError(f"'{name}' has lengths as bounds, but is not an integer")
        if s.kind in ("bool", "complex") and interval[1:] != (None, None):
            raise UsageError(f"'{name}' has bounds, but is neither a real number nor an integer")
        if s.drawn is not None and (support(s.drawn) != interval or s.ends != (None, None)):
            raise UsageError(f"'{name}' may have other values than its distribution, {s.drawn.family}, has")
    if len({s.name for s in symbols}) < len(symbols):
        raise UsageError("two variables have the same name")


def _check_names(program: ProofProgram) -> None:
    """Refuse names that no program can declare, and a name that both a variable and a size have."""
    variables, sizes = {s.name for s in program.symbols}, set(program.sizes)
    strange = next((n for n in sorted(variables | sizes) if not is_name(n)), None)
    if strange is not None:
        raise UsageError(
            f"'{terminal_text(strange, 60)}' is no name", expected="a name that a program can declare"
        )
    if variables & sizes:
        raise UsageError(f"'{min(variables & sizes)}' is a variable and a size")


def _check_steps(steps: Sequence[ProofStep], symbols: Mapping[str, Symbol]) -> None:
    for i, step in enumerate(steps):
        if step.op == "number" and [type(p) for p in step.params] not in ([Fraction], [bool]):
            raise UsageError(f"step {i} has no valid number: {str(step.params)[:40]}")
        if not all(type(a) is int and 0 <= a < i for a in step.args):
            raise UsageError(f"step {i} ({step.op}) reads a step that does not come before it")
        if step.op == "symbol":
            symbol = symbols.get(step.params[0]) if len(step.params) == 1 else None
            if symbol is None or (symbol.shape, symbol.kind) != (step.shape, step.kind):
                raise UsageError(f"step {i} reads a variable whose declaration is different")
