"""Print the claim of a proof file.

The text uses the notation of programs, extended by bounds of sizes and of integers, and by derivatives. It contains
every fact about the variables that the checker uses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symgrad.checker.limits import LINE_CHARACTERS
from symgrad.checker.numbers import number_to_json
from symgrad.checker.program.names import terminal_text
from symgrad.checker.program.step_text import INFIX
from symgrad.checker.program.steps import ProofProgram, ProofStep, StepBody, Symbol

_INFIX = {
    **{op: sign if op in ("mul", "div", "pow") else f" {sign} " for op, sign in INFIX.items()},
    "and_": " and ",
    "or_": " or ",
}

_PREFIX = {"neg": "-", "not_": "not "}
_LETTERS = "ijklmnopqrstuvwxyzabcdefghIJKLMNOPQRSTUVWXYZABCDEFGH"


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim as lines of text.

    Args:
        declarations: sizes and variables, with all known facts.
        definitions: names of subexpressions that are long or occur more than once.
        claim: the two sides, or the derivative and the claim.
    """

    declarations: tuple[str, ...]
    definitions: tuple[str, ...]
    claim: str

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines in order."""
        return (*self.declarations, *self.definitions, self.claim)


def statement_of(
    program: ProofProgram, a: int, b: int, wrt: str | None = None, *, both: bool = False
) -> Statement:
    """Return a statement as text.

    Args:
        program: the steps.
        a: the position of one side; if there is ``wrt``, the position of the differentiated function.
        b: the position of the other side; if there is ``wrt``, the position of the claimed derivative.
        wrt: the variable of differentiation.
        both: whether both sides are differentiated.

    Example:
        >>> x, y = ProofStep("symbol", (), ("x",)), ProofStep("mul", (0, 0))
        >>> program = ProofProgram((x, y, ProofStep("add", (0, 0))), (Symbol("x", "real", Fraction(0), None),))
        >>> print(*statement_of(program, 1, 2, "x").lines, sep="; ")
        x : real(0, oo); d(x*x)/dx = x + x
    """
    needed = program.needed((a, b))
    sizes = program.sizes
    taken = {*sizes, *(s.name for s in program.symbols)}
    definitions, texts = _definitions(program, (a, b), needed, taken)
    left, right = (
        texts[k] if wrt is None or not moved else f"d({texts[k]})/d{terminal_text(wrt)}"
        for k, moved in ((a, True), (b, both))
    )
    return Statement(
        (
            *(f"{terminal_text(n)} : size, {terminal_text(n)} >= 1" for n in sizes),
            *(_declaration(s) for s in program.symbols),
        ),
        tuple(definitions),
        f"{left} = {right}",
    )


def value_text(value: Any) -> str:
    """Return the value of a variable as text: a number, a truth value, or nested lists.

    Example:
        >>> value_text([Fraction(1, 2), True])
        '[1/2, True]'
    """
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"  # pyright: ignore[reportUnknownArgumentType]  (entries of nested lists)
    return number_to_json(value) if isinstance(value, Fraction) else str(value)


# -------------------------------------------------------------------------------------------------------- declarations


def _declaration(symbol: Symbol) -> str:
    name = terminal_text(symbol.name)
    shape = f"[{', '.join(map(_length, symbol.shape))}]" if symbol.shape else ""
    if symbol.drawn is not None:
        parameters = ", ".join(map(number_to_json, symbol.drawn.parameters))
        return f"{name} ~ {symbol.drawn.family}({parameters}){shape}"
    if symbol.kind == "int":
        return f"{name} : int{shape}{_integer_bounds(name, symbol)}"
    ends = [o if e is None else number_to_json(e) for e, o in ((symbol.low, "-oo"), (symbol.high, "oo"))]
    domain = symbol.kind if ends == ["-oo", "oo"] else f"{symbol.kind}({', '.join(ends)})"
    return f"{name} : {domain}{shape}{' symmetric' if symbol.symmetric else ''}"


def _integer_bounds(name: str, symbol: Symbol) -> str:
    ends = [
        e if n is None else number_to_json(n)
        for n, e in zip((symbol.low, symbol.high), symbol.ends, strict=True)
    ]
    low = "" if ends[0] is None else f"{_length(ends[0])} < "
    high = "" if ends[1] is None else f" < {_length(ends[1])}"
    symmetric = " symmetric" if symbol.symmetric else ""
    return f"{symmetric}, {low}{name}{high}" if low or high else symmetric


# --------------------------------------------------------------------------------------------------------- definitions


def _definitions(
    program: ProofProgram,
    wanted: Sequence[int],
    needed: Sequence[int],
    taken: set[str],
    known: Mapping[str, str] | None = None,
    word: str = "s",
) -> tuple[list[str], dict[int, str]]:
    """Return lines that define names, and the text of each step.

    Args:
        program: the steps.
        wanted: steps that get no name.
        needed: the steps that are read.
        taken: names that no definition may have; the new ones are added.
        known: the texts of variables, if these are not their names.
        word: the beginning of new names.
    """
    uses = Counter([*wanted, *(a for i in needed for a in program.steps[i].args)])
    lines: list[str] = []
    texts: dict[int, str] = {}

    def free(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    carries: dict[int, list[str]] = {}
    for i in needed:
        step = program.steps[i]
        args = [texts[a] for a in step.args]
        if step.op == "recurrence":
            body: StepBody = step.params[2]
            carries[i] = [
                free(f"{word}{i}_{k}" if body.carries > 1 else f"{word}{i}") for k in range(body.carries)
            ]
            lines += _recurrence(step, args, carries[i], taken)
            texts[i] = carries[i][0] if body.carries == 1 else f"pack({', '.join(carries[i])})"
            continue
        if step.op == "part" and step.args[0] in carries:
            texts[i] = carries[step.args[0]][step.params[0]]
            continue
        text = known[step.params[0]] if known and step.op == "symbol" else _step(step, args)
        if step.args and i not in wanted and (uses[i] > 1 or len(text) > LINE_CHARACTERS):
            name = free(f"{word}{i}")
            lines.append(f"{name} = {text}")
            text = name
        texts[i] = text
    return lines, texts


def _recurrence(step: ProofStep, args: Sequence[str], names: Sequence[str], taken: set[str]) -> list[str]:
    """Return the lines of a recurrence: the first values, and one step."""
    length, reverse, body = step.params
    letter = next(c for c in ("t", *_LETTERS, "step") if c not in taken)
    now, new = (letter, f"{letter}-1") if reverse else (f"{letter}-1", letter)
    first, second = body.carries, body.carries + body.rows
    texts = [
        *(f"{name}[{now}]" for name in names),
        *(f"{_parenthesize(a)}[{letter}-1]" for a in args[first:second]),
        *map(_parenthesize, args[second:]),
    ]
    known = dict(zip((s.name for s in body.program.symbols), texts, strict=True))
    needed = body.program.needed(body.results)
    inner, found = _definitions(body.program, body.results, needed, taken | {letter}, known, f"{names[0]}_s")
    results = [f"{name}[{new}] = {found[at]}" for name, at in zip(names, body.results, strict=True)]
    size = _length(length)
    start, steps = (size, f"{size}..1") if reverse else ("0", f"1..{size}")
    return [
        *(f"{name}[{start}] = {a}" for name, a in zip(names, args, strict=False)),
        f"{'; '.join([*inner, *results])} for {letter} in {steps}",
    ]


# --------------------------------------------------------------------------------------------------------------- steps


def _length(size: Any) -> str:
    """Return a length in the notation of formulas, in which max and min of numbers are called maximum and minimum."""
    return terminal_text(re.sub(r"\b(max|min)\(", r"\1imum(", str(size)))


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        items = [_value(v) for v in value]  # pyright: ignore[reportUnknownVariableType]  (entries of nested lists)
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return _length(value) if isinstance(value, str) else value_text(value)


def _step(step: ProofStep, args: list[str]) -> str:
    written = _WRITTEN.get(step.op)
    if written is not None:
        return written(args, *step.params)
    if step.op in _INFIX and len(args) == 2 and not step.params:
        return _INFIX[step.op].join(map(_parenthesize, args))
    if step.op in _PREFIX and len(args) == 1 and not step.params:
        return _PREFIX[step.op] + _parenthesize(args[0])
    # Static parameters come before the arguments, as in polygamma(n, x).
    return f"{step.op}({', '.join([*map(_value, step.params), *args])})"


def _parenthesize(text: str) -> str:
    """Put an operation in parentheses, but not a name, a number or a single call."""
    return text if re.fullmatch(r"\w+(\([^()]*\))?", text) else f"({text})"


_SUMS = frozenset({"i->", "ij->"})
_PRODUCTS = frozenset({"i,i->", "ij,j->i", "i,ij->j", "ij,jk->ik"})


def _einsum(args: list[str], labels: Any, result: Any) -> str:
    every = list(dict.fromkeys([*(i for own in labels for i in own), *result]))
    if len(every) > len(_LETTERS):
        return f"einsum({', '.join([_value(labels), _value(result), *args])})"
    letter = dict(zip(every, _LETTERS, strict=False))
    terms = ["".join(letter[i] for i in own) for own in (*labels, result)]
    spec = f"{','.join(terms[:-1])}->{terms[-1]}"
    if spec in _SUMS:
        return f"sum({args[0]})"
    if spec in _PRODUCTS:
        return "@".join(map(_parenthesize, args))
    return f"{_parenthesize(args[0])}.T" if spec == "ij->ji" else f'einsum("{spec}", {", ".join(args)})'


def _call_with_keywords(op: str, *names: str) -> Callable[..., str]:
    """Return the writer of a function whose static parameters follow the arguments, by keyword or by position."""

    def written(args: list[str], *params: Any) -> str:
        given = [f"{n}={_value(p)}" if n else _value(p) for n, p in zip(names, params, strict=True)]
        return f"{op}({', '.join([*args, *given])})"

    return written


def _position(op: str) -> Callable[..., str]:
    def written(args: list[str], axis: Any) -> str:
        return f"{op}({', '.join([*args, *([] if axis is None else [f'axis={axis}'])])})"

    return written


def _cumsum(args: list[str], axis: Any, reverse: Any) -> str:
    return f"cumsum({', '.join(args)}, axis={_value(axis)}, reverse={bool(reverse)})"


def _concatenate(args: list[str], axis: Any) -> str:
    return f"concatenate(({', '.join(args)}{',' if len(args) == 1 else ''}), axis={_value(axis)})"


def _leaf(_args: list[str], value: Any) -> str:
    return _value(value)


def _constant(_args: list[str], name: Any) -> str:
    """Return the text of a constant: only the name pi is reserved; a variable may be called as another constant."""
    return "pi" if name == "pi" else f"{name}()"


_REDUCTIONS = ("mean", "max", "min", "prod", "norm", "logsumexp", "softmax", "log_softmax")
_WRITTEN: Mapping[str, Callable[..., str]] = {
    **dict.fromkeys(("symbol", "number", "size"), _leaf),
    "constant": _constant,
    "einsum": _einsum,
    **{op: _call_with_keywords(op, "axis") for op in (*_REDUCTIONS, "prod_except", "logcumsumexp")},
    **{op: _position(op) for op in ("argmax", "argmin")},
    "cumsum": _cumsum,
    **{op: _call_with_keywords(op, "") for op in ("reshape", "broadcast_to", "slice", "one_hot")},
    "unslice": _call_with_keywords("unslice", "", ""),
    "concatenate": _concatenate,
    "gather": _call_with_keywords("gather", "axes"),
    "scatter_add": _call_with_keywords("scatter_add", "axes", "shape"),
    "iota": _call_with_keywords("arange", ""),
    "eye": _call_with_keywords("eye", "", ""),
}
