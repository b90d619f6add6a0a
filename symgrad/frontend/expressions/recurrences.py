"""Recurrences in programs: h[0] = h0, and on a later line h[t] = tanh(W@h[t-1] + U@x[t-1]) for t in 1..T.

Positions count from 0, and both ends of a range are included. A line may have several definitions before its `for`,
separated by semicolons; each reads the values of the steps before, and those to its left also at this step. A
definition without a subscript is a name within the step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from symgrad.autodiff.batch import batch
from symgrad.autodiff.recurrences import recur
from symgrad.frontend.expressions.functions import Body, FunctionRules
from symgrad.frontend.tokens.lalr import parse
from symgrad.frontend.tokens.terms import Term, Token, span_of
from symgrad.ir.graph import Node, number, size_node, symbol
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, Size, least_value, names_of, size_max, size_product, size_sum
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ops.array.indexing import gather, iota
from symgrad.ops.array.layout import concatenate, expand, full, slice_axes
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.logic import gt
from symgrad.support.errors import (
    CycleError,
    DomainError,
    ProgramSyntaxError,
    RedefinitionError,
    ShapeError,
    SymgradError,
    UnknownNameError,
)

_STEP = "__step"
_NEWLINE = "_NEWLINE"
_REST = re.compile(r"(?:[^\r\n\\]++|\\\r?\n|\\)*+")
"""The rest of a line and of the lines that continue it."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One definition: the name, the tokens of its subscript (None without one), and those of its formula."""

    name: Token
    subscript: tuple[Token, ...] | None
    formula: tuple[Token, ...]

    def reads(self, name: str) -> bool:
        return name in (self.subscript or ()) or name in self.formula


@dataclass(frozen=True, slots=True)
class _Loop:
    """The range of the steps: the name of the position, and the first and the last position."""

    name: Token
    first: Size
    last: Size
    reverse: bool
    length: Size


class RecurrenceRules(FunctionRules):
    """The rules for recurrences.

    Attributes:
        starts: the values h[0] = ... that no recurrence has used yet, by name and position.
    """

    starts: dict[str, dict[Size, tuple[Token, Term]]]

    def start_value(self, line: _Line) -> None:
        """Read the value at a given position, which a later recurrence uses."""
        self._begin()
        assert line.subscript is not None
        at = self._formula(line.subscript)
        value = self._formula(line.formula)
        position = as_size(at.node)
        if self.error is not None:
            return
        if position is None:
            self._refuse(line.name, "the position of a first value is no whole number or size", f"{line.name}[0] = ...")
            return
        if str(line.name) not in self.starts:
            self._claim(line.name)
        elif position in self.starts[str(line.name)]:
            before, _ = self.starts[str(line.name)][position]
            row, column = self.source.line_column(before.start_pos)
            self.wrong_token(
                RedefinitionError,
                f"'{line.name}[{position}]' is already given in line {row}, column {column}",
                line.name,
                expected="each first value once",
                cure="leave one of them out",
            )
            return
        self.starts.setdefault(str(line.name), {})[position] = line.name, value

    def recurrence(self, lines: Sequence[_Line], clause: Sequence[Token]) -> None:
        """Read the definitions of one line with a `for`, and define the arrays of all values.

        Args:
            lines: the definitions.
            clause: the tokens after `for`: t in 1..T.
        """
        self._begin()
        loop = self._loop(clause)
        if loop is None or self.error is not None:
            return
        shapes: dict[str, Shape] = {}
        for line in lines:
            if line.subscript is None:
                continue
            given = self.starts.get(str(line.name))
            if given is None:
                self._no_start(line, loop)
                return
            shapes[str(line.name)] = broadcast_shapes([value.node.shape for _, value in given.values()])
        spans, derivatives = dict(self.spans), dict(self.derivatives)
        for _ in range(3):  # the shape of a value may be that of the formula: h[0] = 0 starts a vector with zeros
            found = self._values(lines, loop, shapes)
            if found is None:
                return
            grown = {name: broadcast_shapes([shapes[name], node.shape[1:]]) for name, node in found.items()}
            if grown == shapes:
                break
            shapes, self.spans, self.derivatives = grown, dict(spans), dict(derivatives)
        for line in lines:
            if line.subscript is not None and str(line.name) in found:
                del self.starts[str(line.name)]
                self.assign(line.name, Term(found[str(line.name)], *span_of(line.name)))

    def _loop(self, clause: Sequence[Token]) -> _Loop | None:
        at = next((k for k, token in enumerate(clause) if token.type == "RANGE"), None)
        if at is None or len(clause) < 5 or clause[1].type != "IN":
            self._refuse(clause[0], "the range of a recurrence is not complete", "for t in 1..T")
            return None
        name = clause[0]
        ends: list[Size] = []
        for part in (clause[2:at], clause[at + 1 :]):
            term = self._formula([*part, Token(_NEWLINE, "", part[-1].end_pos, part[-1].end_pos)] if part else part)
            size = None if self.error is not None else self.size_of(term.node)
            if size is None:
                self._refuse(part[0] if part else name, "the end of a range is no size", "whole numbers and sizes: 1..T")
                return None
            ends.append(size)
        first, last = ends
        steps = size_sum([last, size_product([-1, first]), 1])
        back = size_sum([first, size_product([-1, last]), 1])
        least = least_value(size_sum([last, size_product([-1, first])]))
        reverse = isinstance(last, int) and not isinstance(first, int)
        if isinstance(first, int) and isinstance(last, int):
            reverse = first > last and (first, last) != (1, 0)  # 1..0 has no step
        elif least is None and not reverse and not isinstance(first, int):
            self._refuse(name, "nothing says in which order these steps run", "a whole number at one end: 1..T, T..1")
            return None
        return _Loop(name, first, last, reverse, size_max(back if reverse else steps, 0))

    def _values(self, lines: Sequence[_Line], loop: _Loop, shapes: Mapping[str, Shape]) -> dict[str, Node] | None:
        """Return the arrays of all values of each name, given the shapes of one value."""
        step = symbol(Declaration(_STEP, INT))
        outer = self.local
        whole = {
            name: symbol(Declaration(f"{_STEP} values of {name}", REAL, (1, *shape))) for name, shape in shapes.items()
        }
        self.local = {**outer, str(loop.name): Term(step, *span_of(loop.name))}
        self.local |= {name: Term(node, 0, 0) for name, node in whole.items()}
        reader = _Steps(loop, step, {node: name for name, node in whole.items()}, list(self.starts))
        try:
            for line in lines:
                value = self._formula(line.formula)
                if self.error is not None:
                    return None
                if line.subscript is None:
                    self.local[str(line.name)] = Term(value.node, *span_of(line.name))
                    continue
                at = self._formula(line.subscript)
                offset = None if self.error is not None else reader.offset(at.node)
                if offset is None:
                    self._refuse(
                        line.name,
                        "the left side of a recurrence is one position in each step",
                        f"{line.name}[{loop.name}] = ... for {loop.name} in ...",
                    )
                    return None
                starts = {p: term.node for p, (_, term) in self.starts[str(line.name)].items()}
                reader.define(str(line.name), offset, value.node, shapes[str(line.name)], starts)
            return reader.values()
        except SymgradError as error:
            self.keep(error, lines[0].name.start_pos, lines[-1].formula[-1].end_pos)
            return None
        finally:
            self.local = outer

    def _formula(self, tokens: Sequence[Token]) -> Term:
        body = Body(self)
        parse(tokens, body)
        return body.value

    def _refuse(self, token: Token, what: str, expected: str) -> None:
        self.wrong_token(ProgramSyntaxError, what, token, expected=expected, cure="write it like this")

    def _no_start(self, line: _Line, loop: _Loop) -> None:
        before = loop.first if loop.reverse else "0"
        self.wrong_token(
            UnknownNameError,
            f"'{line.name}' has no first value",
            line.name,
            expected="its first value on a line above",
            cure=f"write {line.name}[{before}] = ... above",
        )

    def check_starts(self) -> None:
        """Record the error for first values without a recurrence."""
        for name, given in self.starts.items():
            token, _ = next(iter(given.values()))
            self.wrong_token(
                UnknownNameError,
                f"'{name}' has a first value and no recurrence",
                token,
                expected=f"a line below: {name}[t] = ... for t in 1..T",
                cure=f"write the recurrence, or {name} = ... for a single value",
            )


class _Steps:
    """The formulas of one step, in terms of the values that earlier steps computed.

    Args:
        loop: the range of the steps.
        step: the symbol of the position.
        whole: the symbols that stand for the arrays of all values in the formulas, with their names.
        order: the names in the order of their first values.
    """

    def __init__(self, loop: _Loop, step: Node, whole: Mapping[Node, str], order: Sequence[str]) -> None:
        self.loop, self.step, self.whole, self.order = loop, step, whole, order
        self.offsets: dict[str, Size] = {}
        self.starts: dict[str, dict[Size, Node]] = {}
        self.before: dict[str, list[Node]] = {}
        self.now: dict[str, Node] = {}
        self.rows: dict[Node, Node] = {}
        self._formulas: list[tuple[str, Node]] = []

    def offset(self, at: Node) -> Size | None:
        """Return a position minus that of the step; None if the difference varies."""
        found = as_size(substitute([at], {self.step: size_node(_STEP)})[0])
        if found is None:
            return None
        rest = size_sum([found, size_product([-1, _STEP])])
        return None if _STEP in names_of(rest) else rest

    def define(self, name: str, offset: Size, formula: Node, shape: Shape, starts: Mapping[Size, Node]) -> None:
        """Add a definition; the formulas are converted when all offsets are known."""
        self.offsets[name] = offset
        first = size_sum([self.loop.first, offset])
        sign = 1 if self.loop.reverse else -1
        wanted = [size_sum([first, sign * k]) for k in range(1, len(starts) + 1)]
        if set(wanted) != set(starts):
            given = ", ".join(f"{name}[{p}]" for p in starts)
            raise DomainError(
                f"the first step computes {name}[{first}], and {given} is given",
                expected=f"{name}[{wanted[0]}]",
                cure="give the values just before the first step, each with its position",
            )
        self.starts[name] = {p: full(starts[p], shape) for p in wanted}
        self.before[name] = [
            symbol(Declaration(f"{_STEP} {name} {k}", REAL, shape)) for k in range(1, len(starts) + 1)
        ]
        self._formulas.append((name, formula))

    def values(self) -> dict[str, Node]:
        """Return the array of all values of each name."""
        for name, formula in self._formulas:
            self.now[name] = full(self._converted(formula), self.before[name][0].shape) if not _wider(
                formula, self.before[name][0]
            ) else self._converted(formula)
        names = [n for n in self.order if n in self.now]
        if any(self.now[n].shape != self.before[n][0].shape for n in names):
            # The caller tries again with these shapes.
            return {n: symbol(Declaration(_STEP, REAL, (1, *self.now[n].shape))) for n in names}
        carries = [c for n in names for c in self.before[n]]
        results = [r for n in names for r in (self.now[n], *self.before[n][:-1])]
        starts = [s for n in names for s in self.starts[n].values()]
        found = recur(starts, carries, results, self.rows, self.loop.length, reverse=self.loop.reverse)
        at = 0
        arrays: dict[str, Node] = {}
        for n in names:
            # The values before the last of the given ones stand outside of the loop.
            early = [expand(s, [0]) for s in [*self.starts[n].values()][:0:-1]]
            parts = [found[at], *early[::-1]] if self.loop.reverse else [*early, found[at]]
            arrays[n] = concatenate(*parts, params=(0,)) if len(parts) > 1 else parts[0]
            at += len(self.before[n])
        return arrays

    def _converted(self, formula: Node) -> Node:
        """Return a formula with symbols for values of earlier steps and for rows of arrays."""
        done: dict[Node, Node] = {}
        varying: set[Node] = {self.step}  # what depends on the position and on no value of a step
        values = {*self.whole}
        for node in topological([formula]):
            if node.op is gather and node.args[0] in self.whole:
                done[node] = self._value(node)
                values.add(node)
            elif node.op is gather and varying.intersection(node.args[1:]) and values.isdisjoint(
                topological([node])
            ):
                done[node] = self._row(node)
            elif varying.intersection(node.args):
                varying.add(node)
        if self.step in topological([formula], until=done):
            done[self.step] = self._row_of(add(iota(params=(self.loop.length,)), number(self._lowest())))
        (found,) = substitute([formula], done)
        whole = next((self.whole[n] for n in topological([found]) if n in self.whole), None)
        if whole is not None:
            raise DomainError(
                f"'{whole}' is read as a whole while its values are computed",
                expected=f"values of earlier steps: {whole}[{self.loop.name}-1]",
                cure=f"read it at one position, or on a line below",
            )
        return found

    def _lowest(self) -> int:
        low = self.loop.last if self.loop.reverse else self.loop.first
        if not isinstance(low, int):
            raise DomainError(
                "the position is read as a number, and the lowest one is no number",
                expected="a range that begins or ends with a whole number",
                cure="write 1..T, or T..1",
            )
        return low

    def _value(self, node: Node) -> Node:
        """Return the symbol of a value of an earlier step."""
        name = self.whole[node.args[0]]
        axes, at = node.params[0], node.args[1]
        offset = self.offset(at)
        fixed = as_size(at)
        if axes[0] != 0 or (offset is None and fixed not in self.starts[name]):
            raise DomainError(
                f"'{name}' is read at a position that is not one of the steps before",
                expected=f"{name}[{self.loop.name}-1]",
                cure="read the steps before, or values that are given",
            )
        if offset is None:
            found = self.starts[name][fixed]  # pyright: ignore[reportArgumentType]  (checked above)
        else:
            lag = size_sum([self.offsets[name], size_product([-1, offset])])
            lag = size_product([-1, lag]) if self.loop.reverse else lag
            found = self.now.get(name) if lag == 0 else None
            if found is None and isinstance(lag, int) and 1 <= lag <= len(self.before[name]):
                found = self.before[name][lag - 1]
            if found is None:
                raise CycleError(
                    f"'{name}' reads its future"
                    if not isinstance(lag, int) or lag <= 0
                    else f"'{name}' reads {lag} steps back, and has {len(self.before[name])} first values",
                    expected=f"values of earlier steps: {name}[{self.loop.name}-1]",
                    cure="read what is computed before"
                    if not isinstance(lag, int) or lag <= 0
                    else f"give {lag} first values",
                )
        others = node.args[2:]
        return gather(found, *others, params=(tuple(a - 1 for a in axes[1:]),)) if others else found

    def _row(self, node: Node) -> Node:
        """Return the symbol of what is read from an array at positions that depend on the step."""
        x, *places = node.args
        axes: tuple[int, ...] = node.params[0]
        offset = self.offset(places[0])
        others = places[1:]
        if axes[0] == 0 and offset is not None and all(self.step not in topological([p]) for p in others):
            ends = self.loop.first, self.loop.last
            low, high = ends[::-1] if self.loop.reverse else ends
            start, stop = size_sum([low, offset]), size_sum([high, offset, 1])
            rest = [(None, None, 1)] * (len(x.shape) - 1)
            rows = slice_axes(x, [(start, stop, 1), *rest])
            if rows.shape[0] != self.loop.length:  # max(T - 1, 0) rows, not T - 1
                rows = slice_axes(x, [(start, size_sum([start, self.loop.length]), 1), *rest])
            self._check_range(x, start, stop, offset, rows)
            row = self._row_of(rows)
            return gather(row, *others, params=(tuple(a - 1 for a in axes[1:]),)) if others else row
        steps = add(iota(params=(self.loop.length,)), number(self._lowest()))
        return self._row_of(batch([node], {self.step: steps}, (self.loop.length,))[0])

    def _check_range(self, x: Node, start: Size, stop: Size, offset: Size, rows: Node) -> None:
        short = size_sum([x.shape[0], size_product([-1, stop])])
        below = isinstance(start, int) and start < 0
        if below or (isinstance(short, int) and short < 0):
            place = size_sum([self.loop.name, offset])
            raise ShapeError(
                f"position {place} is {start if below else size_sum([stop, -1])} in the "
                f"{'first' if below != self.loop.reverse else 'last'} step, and the axis has the length {x.shape[0]}",
                expected="positions from 0 to below the length",
                cure="correct the position or the range: x : real[T] has the positions 0..T-1",
            )
        if rows.shape[0] != self.loop.length:
            raise ShapeError(
                f"the positions {start} to {size_sum([stop, -1])} are read from an axis of the length {x.shape[0]}",
                expected="an axis that has these positions for all sizes",
                cure="declare the array with the size of the range",
            )

    def _row_of(self, rows: Node) -> Node:
        known = next((s for s, r in self.rows.items() if r is rows), None)
        if known is None:
            domain = REAL if rows.dtype == "real" else INT
            known = symbol(Declaration(f"{_STEP} row {len(self.rows)}", domain, rows.shape[1:]))
            self.rows[known] = rows
        return known if rows.dtype != "bool" else gt(known, number(0))


def _wider(formula: Node, carry: Node) -> bool:
    return broadcast_shapes([formula.shape, carry.shape]) != carry.shape


def without_recurrences(tokens: Iterator[Token], reader: RecurrenceRules) -> Iterator[Token]:
    """Yield the tokens of a text, except for lines of recurrences; the reader receives these lines.

    Args:
        tokens: the tokens.
        reader: the reader.
    """
    text = reader.source.text
    fresh = True
    for token in tokens:
        if not fresh or token.type != "NAME":
            fresh = token.type == _NEWLINE
            yield token
            continue
        rest = _REST.match(text, token.end_pos)[0]  # type: ignore[index]  (it matches anything)
        if not _defines_steps(rest):
            fresh = False
            yield token
            continue
        line = [token]
        while line[-1].type != _NEWLINE or line[-1] == ";":
            line.append(next(tokens))
        fresh = True
        for part in _read(line, reader):
            yield from part


_LOOP = re.compile(r"[ \t]for[ \t].*\.\.")
_BRACKET = re.compile(r"[\[\]]")
_EQUALS = re.compile(r"[ \t]*=(?!=)")


def _defines_steps(rest: str) -> bool:
    """Tell whether a line defines values at positions, given what follows its first name."""
    if rest.lstrip(" \t").startswith("["):
        depth = 0
        for match in _BRACKET.finditer(rest):
            depth += 1 if match[0] == "[" else -1
            if not depth:
                return _EQUALS.match(rest, match.end()) is not None
        return False
    return _LOOP.search(rest) is not None


def _read(line: Sequence[Token], reader: RecurrenceRules) -> Iterator[Sequence[Token]]:
    """Give the definitions of a line to the reader; yield the tokens of all other statements."""
    parts: list[list[Token]] = [[]]
    for token in line:
        parts[-1].append(token)
        if token.type == _NEWLINE:
            parts.append([])
    group: list[_Line] = []
    loop_name = next((str(b) for a, b in zip(line, line[1:], strict=False) if a.type == "FOR"), None)
    for part in parts:
        at = next((k for k, token in enumerate(part) if token.type == "FOR"), None)
        definition = _definition(part if at is None else [*part[:at], part[-1]])
        if definition is None:
            if part:
                yield part
        elif at is not None:
            reader.recurrence([*group, definition], part[at + 1 : -1])
            group = []
        elif loop_name is not None and (definition.subscript is None or definition.reads(loop_name)):
            group.append(definition)
        elif definition.subscript is not None:
            reader.start_value(definition)
        else:
            yield part


def _definition(part: Sequence[Token]) -> _Line | None:
    """Return a statement as a definition; None for any other statement."""
    if len(part) < 4 or part[0].type != "NAME":
        return None
    end = part[-1].end_pos
    last = Token(_NEWLINE, "", end, end)
    if part[1] == "=":
        return _Line(part[0], None, (*part[2:-1], last))
    depth = 0
    for k, token in enumerate(part[1:], 1):
        depth += (token == "[") - (token == "]")
        if depth == 0:
            if k + 1 < len(part) and token == "]" and part[k + 1] == "=":
                return _Line(part[0], (*part[2:k], last), (*part[k + 2 : -1], last))
            return None
    return None
