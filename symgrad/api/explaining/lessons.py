"""A derivation as an exercise: its lines, the last one hidden, and the next one for the lines that somebody has so far.

A line of a derivation is the adjoint of a value, from the output back. Lines that a person wrote are read in the names
of the program and of lines above, and each is held against the derivation by `equal`: which of its lines it is, or that
it is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from symgrad.analysis.explain.derivation import DerivationRecord
from symgrad.api.claims.verify import equal, verify
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import names_in
from symgrad.autodiff.vjp import pull_back
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import Node, as_node, size_leaf
from symgrad.ir.size_substitution import size_names
from symgrad.ir.traverse import substitute, topological
from symgrad.support.errors import Cure, ShapeError, SymgradError, TruthValueError, UsageError
from symgrad.verification.verdict import Verdict

__all__ = ["DerivationLine", "Lesson", "NextStep", "WrongLine"]

_SECONDS = 5.0  # for one comparison
_LINES = 1000  # that a person may have written
_MEMBER = re.compile(r"(?<![=<>!])=(?!=)")


@dataclass(frozen=True, slots=True)
class DerivationLine:
    """A line of a derivation.

    Args:
        name: its left side: ``mu_bar``, or ``dz/dx`` where nothing has a name.
        formula: its right side.
        rule: the rules that give it, from the output back: ``mul``, ``sum``.
    """

    name: str
    formula: str
    rule: str
    node: Node = field(repr=False)
    symbol: Node | None = field(repr=False)
    of: Node | None = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name} = {self.formula}"


@dataclass(frozen=True, slots=True)
class WrongLine:
    """The first line that does not hold.

    Args:
        number: of the line in the text, from 1.
        text: the line.
        wanted: what it should have been.
        verdict: what refutes it, with the mistake where one is recognised.
    """

    number: int
    text: str
    wanted: DerivationLine
    verdict: Verdict

    def __str__(self) -> str:
        lines = [f"line {self.number} is wrong: {self.text}"]
        found = self.verdict.diagnosis
        if found:
            lines.append(f"  {found[0]}")
        else:
            lines += [f"  {line}" for line in str(self.verdict).splitlines()[1:2]]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class NextStep:
    """The next line of a derivation, or why there is none. It has no truth value.

    Args:
        line: the next line; None if all are there, or one is wrong.
        reached: the lines of the derivation that the given ones have reached.
        wrong: the first of the given lines that is wrong.
        remarks: how lines were read that are none of the derivation.
    """

    line: DerivationLine | None
    reached: tuple[DerivationLine, ...] = ()
    wrong: WrongLine | None = None
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> NoReturn:
        raise TruthValueError("a next step has no truth value", cure="compare: step.line is None")

    def __str__(self) -> str:
        if self.wrong is not None:
            return "\n".join([*self.remarks, str(self.wrong)])
        if self.line is None:
            return "\n".join([*self.remarks, "all lines are there: the derivation is complete"])
        return "\n".join([*self.remarks, str(self.line), f"  rule: {self.line.rule}"])

    def to_json(self) -> dict[str, Any]:
        """Return it as what `json.dumps` takes."""
        wrong = self.wrong
        return {
            "next": None if self.line is None else _plain(self.line),
            "reached": [line.name for line in self.reached],
            "wrong": None
            if wrong is None
            else {"line": wrong.number, "text": wrong.text, "verdict": wrong.verdict.to_json()},
            "remarks": list(self.remarks),
        }


def _plain(line: DerivationLine) -> dict[str, str]:
    return {"name": line.name, "formula": line.formula, "rule": line.rule}


class Lesson:
    """A derivation as an exercise.

    Args:
        record: the derivation.
        y: what is differentiated.
    """

    def __init__(self, record: DerivationRecord, y: Expr) -> None:
        self._record, self._y = record, y
        self.lines = tuple(self._named() if record.told_by_names else self._unnamed())
        if not self.lines and record.y in record.wrt:
            raise UsageError(
                f"there is no line to hide: the derivative of {record.naming.text(record.y)} by itself is 1",
                cure="take a formula with at least one operation in it, such as x**2",
            )
        if not self.lines:
            such = next((str(i.name) for i in y.inputs if i.dtype == "real"), None)
            raise UsageError(
                "the derivation has no line: nothing leads from the output to what one differentiates by",
                cure=Cure(
                    f"name an input that it depends on: wrt={such!r}",
                    command=f"name an input that it depends on: --wrt {such}",
                )
                if such
                else None,
            )

    # ----------------------------------------------------------------------------------------------------- its lines

    def _named(self) -> Iterator[DerivationLine]:
        adjoints, names = self._record.adjoints, self._record.naming.names
        by_name = {text: node for node, text in names.items()}
        whole: dict[Node, Node] = dict(by_name_symbols(self._record, by_name))
        for a in adjoints:
            of = by_name.get(a.of or "")
            node = substitute([a.body], whole)[0]
            if of is not None and a.of is not None:
                (node,) = pull_back([self._y.node], [as_node(1)], [of]).gradients
            whole[a.symbol] = node
            yield DerivationLine(a.name, a.formula, self._rules(of), node, a.symbol, of)

    def _unnamed(self) -> Iterator[DerivationLine]:
        record = self._record
        last: dict[Node, int] = {}
        for k, step in enumerate(record.steps):
            if not step.step.target.is_number():
                last[step.step.target] = k
        for node in sorted(last, key=last.__getitem__):
            (gradient,) = pull_back([self._y.node], [as_node(1)], [node]).gradients
            top, by = (record.naming.text(n) for n in (record.y, node))
            name = "/".join(f"d{t}" if t.isidentifier() else f"d({t})" for t in (top, by))
            formula = str(Expr(gradient, listings=self._y.listings).simplify())
            yield DerivationLine(name, formula, self._rules(node), gradient, None, node)

    def _rules(self, of: Node | None) -> str:
        """Return the rules between a value and the named ones that read it, from the output back."""
        record = self._record
        if of is None:
            return "a name for what several lines read"
        if of is record.y:
            return "the output by itself"
        named: Mapping[Node, str] = record.naming.names if record.told_by_names else {}
        arriving, rules = {of}, dict[str, None]()
        for step in reversed(record.steps):
            if step.step.target in arriving:
                rules[step.rule] = None
                if step.step.node not in named and record.told_by_names:
                    arriving.add(step.step.node)
        return ", ".join(reversed(list(rules))) or "the chain rule"

    # ------------------------------------------------------------------------------------------------------ exercises

    @property
    def last(self) -> DerivationLine:
        """The line that is hidden."""
        return self.lines[-1]

    def hidden(self) -> str:
        """Return the derivation without its last line."""
        record = self._record
        names = record.naming.names
        program = record.listing
        by = ", ".join(record.naming.text(w) for w in record.wrt)
        shown = [f"{record.naming.text(record.y)}, differentiated by {by}", ""]
        if program is not None:
            shown += [f"  {s.declaration}" for s in program.symbols.values()]
            reached = set(topological([record.y]))
            shown += [
                f"  {name} = {record.naming.body(node, 500)}"
                for name, node in program.assignments.items()
                if node in reached and node in names
            ]
        shown += ["", "from the output back", ""]
        shown += [f"  {line}" for line in self.lines[:-1]]
        return "\n".join([*shown, f"  {self.last.name} = ?"])

    def judged(self, answer: str) -> Verdict:
        """Return the verdict on an answer for the line that is hidden.

        Raises:
            SymgradError: if it cannot be read.
        """
        formulas = _formulas(answer)
        node = self._read(formulas[-1], self._own_symbols(), "the answer")
        return self._compared(node, self.last)

    def next_step(self, given: str | Sequence[str]) -> NextStep:
        """Return the line that comes after those that somebody has so far."""
        rows = given.splitlines() if isinstance(given, str) else [str(row) for row in given]
        if len(rows) > _LINES:
            raise UsageError(f"{len(rows):,} lines are given", expected=f"at most {_LINES:,}")
        known = self._own_symbols()
        reached: dict[int, None] = {}
        remarks: list[str] = []
        for number, row in enumerate(rows, 1):
            text = row.partition("#")[0].strip()
            if not text:
                continue
            left, formulas = _parts(text)
            nodes = [self._read("\n" * (number - 1) + f, known, "the lines so far") for f in formulas]
            k = None if left is None else self._called(left)
            known_name = self._program_name(left)
            if k is None and left is not None and known_name is not None:
                self._as_in_program(number, left, known_name, nodes[-1])
                continue
            for node in nodes:
                if k is None:
                    k = self._matching(node)
                    if k is not None and left is None and len(nodes) == 1:
                        break
                if k is not None:
                    verdict = self._compared(node, self.lines[k])
                    if verdict.status == "refuted":
                        wrong = WrongLine(number, text, self.lines[k], verdict)
                        return NextStep(None, self._of(reached), wrong, tuple(remarks))
                    if verdict.status == "undecided":
                        remarks.append(f"line {number} could not be decided: {verdict.why}")
            if k is not None:
                reached[k] = None
                if left is not None:
                    known[left] = self.lines[k].node
            elif left is not None and re.fullmatch(r"[^\W\d]\w*", left):
                known[left] = nodes[-1]
                remarks.append(f"line {number} is no line of the derivation: it says what {left} is")
            else:
                after = self._after(reached)
                wanted = self.last if after is None else self.lines[after]
                verdict = self._compared(nodes[-1], wanted)
                return NextStep(
                    None, self._of(reached), WrongLine(number, text, wanted, verdict), tuple(remarks)
                )
        k = self._after(reached)
        return NextStep(None if k is None else self.lines[k], self._of(reached), None, tuple(remarks))

    def _of(self, reached: Mapping[int, None]) -> tuple[DerivationLine, ...]:
        return tuple(self.lines[k] for k in sorted(reached))

    def _after(self, reached: Mapping[int, None]) -> int | None:
        """Return the line after the furthest that was reached; then gradients that are still missing."""
        furthest = max(reached, default=-1)
        if furthest + 1 < len(self.lines):
            return furthest + 1
        wanted = set(self._record.wrt)
        return next((k for k, line in enumerate(self.lines) if line.of in wanted and k not in reached), None)

    # ---------------------------------------------------------------------------------------------------- its reading

    def _own_symbols(self) -> dict[str, Node]:
        """Return all names that a line may read: of the program, of its sizes, and of the derivation."""
        known = names_in(self._y)
        sizes = {n: size_leaf(n) for n in size_names([self._y.node, *known.values()])}
        lines = {line.name: line.node for line in self.lines if line.symbol is not None}
        return {**sizes, **lines, **known}

    def _read(self, text: str, known: Mapping[str, Node], name: str) -> Node:
        return parse_expression(text, known, name)

    def _program_name(self, left: str | None) -> Node | None:
        return None if left is None else names_in(self._y).get(left)

    def _as_in_program(self, number: int, left: str, node: Node, said: Node) -> None:
        verdict = _equal(said, node)
        if verdict.status == "refuted":
            raise UsageError(
                f"line {number} says that '{left}' is something else than in the program",
                cure="call it otherwise, or change the program",
            )

    def _called(self, left: str) -> int | None:
        """Return the line of the derivation that a left side names: mu_bar, dloss/dmu, dmu."""
        plain = re.sub(r"\s+", "", left)
        top = self._record.naming.text(self._record.y)
        for k, line in enumerate(self.lines):
            names = {re.sub(r"\s+", "", line.name)}
            if line.of is not None:
                by = self._record.naming.text(line.of)
                names |= {f"d{top}/d{by}", f"d{top}_d{by}", f"d{by}", f"d({top})/d({by})", f"d({top})/d{by}"}
            if plain in {re.sub(r"\s+", "", n) for n in names}:
                return k
        return None

    def _matching(self, node: Node) -> int | None:
        """Return the furthest line of the derivation that has the value of a formula."""
        for k in reversed(range(len(self.lines))):
            line = self.lines[k]
            if line.node.shape == node.shape and _equal(node, line.node).status in ("proved", "supported"):
                return k
        return None

    def _compared(self, node: Node, line: DerivationLine) -> Verdict:
        """Return whether a formula is a line; if not, with the mistake."""
        if node.shape != line.node.shape and node.shape:
            raise ShapeError(
                f"a formula for {line.name} has the shape {node.shape}", expected=str(line.node.shape)
            )
        verdict = _equal(node, line.node)
        if verdict.status != "refuted" or line.of is None:
            return verdict
        by, claim = Expr(line.of, listings=self._y.listings), Expr(node)
        # A value on the way varies freely here: under a root it has none, unless it is taken as positive.
        name = self._record.naming.names.get(line.of)
        for domain in (None, *([{name: "positive"}] if name is not None else [])):
            try:
                told = verify(self._y, by, claim, domain=domain, time_limit=_SECONDS)
            except SymgradError:
                continue
            if told.status == "refuted" and told.diagnosis:
                return told
        return verdict


def by_name_symbols(record: DerivationRecord, by_name: Mapping[str, Node]) -> Iterator[tuple[Node, Node]]:
    """Yield what the names in adjoints stand for."""
    for a in record.adjoints:
        for n in topological([a.body]):
            if not n.args and n.op.name == "symbol" and n.name in by_name and by_name[n.name] is not n:
                yield n, by_name[n.name]


def _equal(a: Node, b: Node) -> Verdict:
    return equal(Expr(a), Expr(b), time_limit=_SECONDS, values_only=True)


def _formulas(text: str) -> list[str]:
    return _parts(text)[1]


def _parts(text: str) -> tuple[str | None, list[str]]:
    """Return the left side of a line, None if it is a formula alone, and its formulas."""
    members = [m.strip() for m in _split(text)]
    if len(members) == 1:
        return None, members
    if not members[0]:
        members = members[1:]
        return None, members
    return members[0], members[1:]


def _split(text: str) -> list[str]:
    """Cut a line at its equals signs outside of brackets: those inside name arguments."""
    found, depth, start = list[str](), 0, 0
    for m in re.finditer(r"[\[(]|[\])]|" + _MEMBER.pattern, text):
        if m.group() in "([":
            depth += 1
        elif m.group() in ")]":
            depth -= 1
        elif depth == 0:
            found.append(text[start : m.start()])
            start = m.end()
    return [*found, text[start:]]
