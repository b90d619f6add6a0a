"""A derivation as an exercise: hide its last line, check an answer, return the next line after a student's lines.

A line of a derivation is the adjoint of a value; lines go from the output back. A student's line is parsed in the names
of the program and of the lines above. `equal` finds the line of the derivation that is equal to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from symgrad.analysis.explain.derivation import DerivationRecord
from symgrad.analysis.explain.naming import quotient_text
from symgrad.api.claims.verify import equal, verify
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import names_in
from symgrad.autodiff.vjp import pull_back
from symgrad.frontend.text import parse_expression, parse_program
from symgrad.ir.graph import Node, as_node, size_leaf
from symgrad.ir.listing import Listing
from symgrad.ir.size_substitution import size_names
from symgrad.ir.traverse import substitute, topological
from symgrad.support.errors import Cure, ShapeError, SymgradError, TruthValueError, UsageError
from symgrad.verification.verdict import Verdict

_SECONDS = 5.0  # time limit of one comparison
_LINES = 1000  # most lines of a student
_STEP = re.compile(r"\w+\[[^]]*\] = ")
_DEFINED = re.compile(r"(?:^|; (?:\\\n)?) *(\w+)\[[^]]*\] = ", re.MULTILINE)
_RANGE = re.compile(r" (?:for \w+ in \S+|until .*)$")
_MEMBER = re.compile(r"(?<![=<>!])=(?!=)")


@dataclass(frozen=True, slots=True)
class DerivationLine:
    """A line of a derivation.

    Args:
        name: the left side of the line: ``mu_bar``, or ``dz/dx`` in a program without names.
        formula: the right side of the line.
        rule: the rules that lead to the line, from the output back: ``mul``, ``sum``.
    """

    name: str
    formula: str
    rule: str
    node: Node = field(repr=False)
    symbol: Node | None = field(repr=False)
    of: Node | None = field(repr=False)

    @property
    def is_loop(self) -> bool:
        """Whether these are the lines of a recurrence."""
        return self.formula.startswith(f"{self.name.partition(',')[0]}[")

    def __str__(self) -> str:
        return self.formula if self.is_loop else f"{self.name} = {self.formula}"


@dataclass(frozen=True, slots=True)
class WrongLine:
    """The first wrong line.

    Args:
        number: the number of the line in the text, from 1.
        text: the line.
        wanted: the correct line.
        verdict: the verdict that refutes it, with the mistake if one is recognised.
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
    """The next line of a derivation, or the reason why there is none. It has no truth value.

    Args:
        line: the next line; None if the derivation is complete, or a line is wrong.
        reached: the lines of the derivation to which the student's lines are equal.
        wrong: the first of the student's lines that is wrong.
        remarks: notes on lines that are not in the derivation.
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
        """Return a dictionary that `json.dumps` accepts."""
        wrong = self.wrong
        return {
            "next": None
            if self.line is None
            else {"name": self.line.name, "formula": self.line.formula, "rule": self.line.rule},
            "reached": [line.name for line in self.reached],
            "wrong": None
            if wrong is None
            else {"line": wrong.number, "text": wrong.text, "verdict": wrong.verdict.to_json()},
            "remarks": list(self.remarks),
        }


class Lesson:
    """A derivation as an exercise.

    Args:
        record: the derivation.
        y: the function.
    """

    def __init__(self, record: DerivationRecord, y: Expr) -> None:
        self._record, self._y = record, y
        self._above: dict[str, Node] = {}
        self._loops: list[str] = []
        """The lines of the recurrences of the backward pass: formulas below them read their values."""
        self.lines = tuple(self._named() if record.told_by_names else self._unnamed())
        if not self.lines and record.y in record.wrt:
            raise UsageError(
                f"there is no line to hide: the derivative of {record.naming.text(record.y)} by itself is 1",
                cure="take a formula with at least one operation in it, such as x**2",
            )
        if not self.lines:
            such = next((str(i.name) for i in y.inputs if i.dtype == "real"), None)
            raise UsageError(
                "the derivation has no line: no path leads from the output to the variable of differentiation",
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
            if a.body is None:
                self._loops.append(a.formula)
                of = [by_name[name] for name in (a.of or "").split(", ") if name in by_name]
                values = self._with_loops("", self._names()).assignments
                first = a.name.partition(",")[0]
                yield DerivationLine(
                    a.name, a.formula, self._rules(of[0] if of else None), values[first], None, None
                )
                continue
            of = by_name.get(a.of or "")
            node = substitute([a.body], whole)[0]
            if of is not None and a.of is not None:
                (node,) = pull_back([self._y.node], [as_node(1)], [of]).gradients
            whole[a.symbol] = self._above[a.name] = node
            yield DerivationLine(a.name, a.formula, self._rules(of), node, a.symbol, of)

    def _unnamed(self) -> Iterator[DerivationLine]:
        record = self._record
        last: dict[Node, int] = {}
        for k, step in enumerate(record.steps):
            if not step.step.target.is_number():
                last[step.step.target] = k
        for node in sorted(last, key=last.__getitem__):
            (gradient,) = pull_back([self._y.node], [as_node(1)], [node]).gradients
            name = quotient_text(*map(record.naming.text, (record.y, node)))
            formula = str(Expr(gradient, listings=self._y.listings).simplify())
            yield DerivationLine(name, formula, self._rules(node), gradient, None, node)

    def _rules(self, of: Node | None) -> str:
        """Return the rules on the paths from a value to its named readers, from the output back."""
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
            defined = [
                record.naming.definition(node, 500)
                for node in program.assignments.values()
                if node in reached and node in names
            ]
            shown += [f"  {line}" for text in dict.fromkeys(defined) for line in text.split("\n")]
        shown += ["", "from the output back", ""]
        shown += [f"  {part}" for line in self.lines[:-1] for part in str(line).split("\n")]
        return "\n".join([*shown, f"  {self.last.name} = ?"])

    def judged(self, answer: str) -> Verdict:
        """Return the verdict on an answer for the hidden line.

        Raises:
            SymgradError: if the answer cannot be read.
        """
        if _STEP.match(answer):
            found = self._with_loops(answer, self._names()).assignments.get(self.last.name)
            if found is not None:
                return self._compare(found, self.last)
        _, formulas = _sides(answer)
        node = self._formula(formulas[-1], self._own_symbols(), "the answer")
        return self._compare(node, self.last)

    def next_step(self, lines: str | Sequence[str]) -> NextStep:
        """Return the line after a student's lines."""
        rows = lines.splitlines() if isinstance(lines, str) else [str(row) for row in lines]
        if len(rows) > _LINES:
            raise UsageError(f"{len(rows):,} lines are given", expected=f"at most {_LINES:,}")
        known = self._own_symbols()
        reached: dict[int, None] = {}
        remarks: list[str] = []
        steps: list[str] = []
        read: list[str] = []
        for number, row in enumerate(rows, 1):
            text = row.partition("#")[0].strip()
            if not text:
                continue
            if steps or _STEP.match(text):
                steps.append(text)
                if _RANGE.search(text):
                    read.append("\n".join(steps))
                    wrong = self._check_steps(read, number, reached, remarks)
                    if wrong is not None:
                        return NextStep(None, self._of(reached), wrong, tuple(remarks))
                    steps = []
                continue
            left, formulas = _sides(text)
            nodes = [self._formula("\n" * (number - 1) + f, known, "the lines so far") for f in formulas]
            k = None if left is None else self._line_named(left)
            value = None if left is None else names_in(self._y).get(left)
            if k is None and left is not None and value is not None:
                _check_definition(number, left, value, nodes[-1])
                continue
            for node in nodes:
                if k is None:
                    k = self._matching_line(node)
                    if k is not None and left is None and len(nodes) == 1:
                        break
                if k is not None:
                    verdict = self._compare(node, self.lines[k])
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
                wrong = WrongLine(number, text, wanted, self._compare(nodes[-1], wanted))
                return NextStep(None, self._of(reached), wrong, tuple(remarks))
        k = self._after(reached)
        return NextStep(None if k is None else self.lines[k], self._of(reached), None, tuple(remarks))

    def _check_steps(
        self, steps: Sequence[str], number: int, reached: dict[int, None], remarks: list[str]
    ) -> WrongLine | None:
        """Compare the last recurrence of a student, which ends at a line, with those of the derivation."""
        text, latest = "\n".join(steps), steps[-1]
        known = self._names()
        read = self._with_loops(text, known).assignments
        own = {name: read[name] for name in _DEFINED.findall(latest) if name in read}
        values = self._with_loops("", known).assignments
        for k, line in enumerate(self.lines):
            shared = own.keys() & {*line.name.split(", ")}
            for name in shared if line.is_loop else ():
                verdict = _equal(own[name], values.get(name, line.node))
                if verdict.status == "refuted":
                    return WrongLine(number, latest, line, verdict)
                if verdict.status == "undecided":
                    remarks.append(f"line {number} could not be decided: {verdict.why}")
                reached[k] = None
        return None

    def _of(self, reached: Mapping[int, None]) -> tuple[DerivationLine, ...]:
        return tuple(self.lines[k] for k in sorted(reached))

    def _after(self, reached: Mapping[int, None]) -> int | None:
        """Return the line after the furthest line reached; at the end, a missing gradient."""
        furthest = max(reached, default=-1)
        if furthest + 1 < len(self.lines):
            return furthest + 1
        wanted = set(self._record.wrt)
        return next((k for k, line in enumerate(self.lines) if line.of in wanted and k not in reached), None)

    # ----------------------------------------------------------------------------------------------------- comparison

    def _own_symbols(self) -> dict[str, Node]:
        """Return all names that a line may use: names of the program, of its sizes, and of the derivation."""
        lines = {line.name: line.node for line in self.lines if line.symbol is not None}
        return {**lines, **self._names()}

    def _names(self) -> dict[str, Node]:
        """Return the names of the program and of its sizes."""
        known = names_in(self._y)
        return {**{n: size_leaf(n) for n in size_names([self._y.node, *known.values()])}, **known}

    def _formula(self, text: str, known: Mapping[str, Node], name: str) -> Node:
        """Return a formula that reads the values of recurrences of the backward pass, too."""
        if not self._loops:
            return parse_expression(text, known, name)
        found = self._with_loops(text, known).result
        return parse_expression(text, known, name) if found is None else found

    def _with_loops(self, text: str, known: Mapping[str, Node]) -> Listing:
        own = {*_DEFINED.findall(text)}
        loops = [lines for lines in self._loops if own.isdisjoint(_DEFINED.findall(lines))]
        lines = "\n".join([*loops, text.lstrip("\n")])
        above = {name: node for name, node in self._above.items() if name not in own}
        return parse_program(lines, "the derivation", {**above, **known})

    def _line_named(self, left: str) -> int | None:
        """Return the line of the derivation with a left side such as mu_bar, dloss/dmu, dmu."""
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

    def _matching_line(self, node: Node) -> int | None:
        """Return the furthest line of the derivation that is equal to a formula."""
        for k in reversed(range(len(self.lines))):
            line = self.lines[k]
            if line.node.shape == node.shape and _equal(node, line.node).status in ("proved", "supported"):
                return k
        return None

    def _compare(self, node: Node, line: DerivationLine) -> Verdict:
        """Return the verdict on whether a formula equals a line, with the mistake if it does not."""
        if node.shape != line.node.shape and node.shape:
            raise ShapeError(
                f"a formula for {line.name} has the shape {node.shape}", expected=str(line.node.shape)
            )
        verdict = _equal(node, line.node)
        if verdict.status != "refuted" or line.of is None:
            return verdict
        by, claim = Expr(line.of, listings=self._y.listings), Expr(node)
        # Here an intermediate value is a free variable; under a root it must be positive.
        name = self._record.naming.names.get(line.of)
        for domain in (None, *([{name: "positive"}] if name is not None else [])):
            try:
                found = verify(self._y, by, claim, domain=domain, time_limit=_SECONDS)
            except SymgradError:
                continue
            if found.status == "refuted" and found.diagnosis:
                return found
        return verdict


def _check_definition(number: int, name: str, value: Node, formula: Node) -> None:
    """Raise an error if a line redefines a name of the program."""
    if _equal(formula, value).status == "refuted":
        raise UsageError(
            f"line {number} says that '{name}' is something else than in the program",
            cure="call it otherwise, or change the program",
        )


def by_name_symbols(record: DerivationRecord, by_name: Mapping[str, Node]) -> Iterator[tuple[Node, Node]]:
    """Yield the symbols in adjoints with their values."""
    for a in record.adjoints:
        for n in topological([] if a.body is None else [a.body]):
            if not n.args and n.op.name == "symbol" and n.name in by_name and by_name[n.name] is not n:
                yield n, by_name[n.name]


def _equal(a: Node, b: Node) -> Verdict:
    return equal(Expr(a), Expr(b), time_limit=_SECONDS, values_only=True)


def _sides(text: str) -> tuple[str | None, list[str]]:
    """Return the left side of a line (None if there is none) and the formulas of the line."""
    left, *formulas = (m.strip() for m in _split(text))
    return (left or None, formulas) if formulas else (None, [left])


def _split(text: str) -> list[str]:
    """Split a line at its equals signs, except inside brackets, where they precede keyword arguments."""
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
