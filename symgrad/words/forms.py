"""The form that people write: of what is equal, the one that is shortest in the words of the program.

Offered are the canonical form, the same with the names of functions for what spells them out (`sigmoid`), and rational
forms of every part. What stands for a named value is written by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import reduce

from symgrad.ir.graph import Node, as_node
from symgrad.ir.printer import expression_text
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Number
from symgrad.ops.arith import add, div, mul, neg, pow
from symgrad.ops.elementary import sqrt
from symgrad.ops.layout import full
from symgrad.rules.pipeline import canonical
from symgrad.words.program import Words
from symgrad.words.rational import opened
from symgrad.words.spoken import Spoken

__all__ = ["Forms"]

_ARITHMETIC = frozenset((add, mul, div, neg, pow, sqrt))

_TOKEN = re.compile(r"\w+\(|[\w.]+|\*\*|[^\s\w)]")
_SUM = 0.6
"""What a sum costs beside a product of as many names and signs."""

_CALL = 1.5
"""What a function costs beside its name."""

_DEEP = 3
"""Names that are read to see that a part is a number."""

_LONG = 600
"""Characters beyond which an expression is taken as it is."""


class Forms:
    """Chooses forms for the lines of a program."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._named: dict[Node, Node] = {}
        bodies = [(name, body) for name, body in words.bodies.items() if body.args]
        found = canonical([body for _, body in bodies]).nodes if bodies else []
        self._scaled: dict[Node, Node] = {}  # what a name stands for but for a number
        for (name, _), form in zip(bodies, found, strict=True):
            if form.args:
                self._named.setdefault(form, name)
                if form.op is mul and form.args[0].is_number() and form.args[1].args:
                    self._scaled.setdefault(form.args[1], name / form.args[0])
        self._lengths: dict[Node, tuple[int, float]] = {}
        self._written = _written(words)
        self._simple: dict[Node, Node] = {}
        self._constants: dict[Node, Number | None] = {}
        self._spoken = Spoken(words.known, lambda n: self.cost(self.named(n)))

    def best(self, nodes: Iterable[Node]) -> Node:
        """Return the shortest form of nodes that are equal."""
        options: list[Node] = []
        for node in dict.fromkeys(map(self._without_nothing, nodes)):
            form = self.named(canonical([node]).nodes[0])
            spoken = self.named(canonical([self._spoken.of(form)]).nodes[0])
            options += [form, self.simplified(form)]
            scaled = substitute([form], self._scaled)[0] if self._scaled else form
            if scaled is not form:
                options.append(self.simplified(self.named(canonical([scaled]).nodes[0])))
            if spoken is not form:
                options += [spoken, self.simplified(spoken)]
        best = min(options, key=self.cost)
        spoken = self._spoken.of(best)
        return best if spoken is best else self.named(canonical([spoken]).nodes[0])

    def _without_nothing(self, node: Node) -> Node:
        """Return a node with numbers for what is one in full, such as the mean of what its mean was subtracted from."""
        table = {n: as_node(found) for n in topological([node]) if (found := self._constant(n)) is not None}
        return substitute([node], {n: full(v, n.shape) for n, v in table.items()})[0] if table else node

    def _constant(self, node: Node) -> Number | None:
        """Return the number that a part with names is for all inputs, None if none is known."""
        if not node.args or node.op in _ARITHMETIC or node.dtype == "bool":
            return None
        if node not in self._constants:
            self._constants[node] = self._read_as_number(node)
        return self._constants[node]

    def _read_as_number(self, node: Node) -> Number | None:
        """Return the number that a part is once some of its names are read, the last lines of the program first."""
        bodies = self._words.bodies
        for _ in range(_DEEP):
            names = [n for n in bodies if n in topological([node])]
            if not names:
                break
            node = canonical(substitute([node], {names[-1]: bodies[names[-1]]})).nodes[0]
            form = node
            while form.op.name == "broadcast_to":
                (form,) = form.args
            if form.is_number():
                return form.value
        return None

    def named(self, node: Node) -> Node:
        """Return a node with names for what they stand for."""
        return substitute([node], self._named)[0]

    def as_written(self, node: Node) -> Node:
        """Return a node with its parts as the program writes them where it has them, and its numbers as it does."""
        return self._words.literals.tidy(substitute([node], self._written)[0])

    def length(self, node: Node) -> int:
        """Return how long a node is as text."""
        return self._measured(node)[0]

    def cost(self, node: Node) -> float:
        """Return how hard a node is to read: by its names, numbers, signs and functions."""
        return self._measured(node)[1] + (node.op is add) * _SUM

    def _measured(self, node: Node) -> tuple[int, float]:
        found = self._lengths.get(node)
        if found is None:
            text = expression_text(node)
            found = self._lengths[node] = len(text), sum(map(_cost, _TOKEN.findall(text)))
        return found

    def simplified(self, node: Node) -> Node:
        """Return a node whose parts are in their shortest forms, the innermost first."""
        if self.length(node) > _LONG:
            return node
        order = topological([node])
        inside = {a for n in order for a in n.args if n.op in _ARITHMETIC and a.op in _ARITHMETIC}
        outside = {a for n in order for a in n.args if n.op not in _ARITHMETIC} | {node}
        done: dict[Node, Node] = {}
        for n in order:
            args = tuple(done[a] for a in n.args)
            made = n if args == n.args else n.op(*args, params=n.params)
            if n.op in _ARITHMETIC and (n in outside or n not in inside):
                made = self._shortest(made)
            done[n] = made
        return self.named(canonical([done[node]]).nodes[0])

    def _shortest(self, node: Node) -> Node:
        found = self._simple.get(node)
        if found is not None:
            return found
        options = [node]
        quotient = opened(node, self._words.known, self._named)
        if quotient is not None:
            options += quotient.forms()
        terms = _terms(node)
        if len(terms) > 1:
            options.append(reduce(lambda a, b: a + b, [self._shortest(t) for t in terms]))
        forms = [self.named(canonical([o]).nodes[0]) for o in options if self.length(o) <= _LONG]
        forms = [f for f in forms if f.shape == node.shape]
        best = self._simple[node] = min([*forms, node], key=self.cost)
        return best


def _cost(token: str) -> float:
    if token[0] == "(":
        return 0.5
    return 1 + len(token) / 16 + _CALL * token.endswith("(") if token[0].isalnum() else 1


def _terms(node: Node) -> Sequence[Node]:
    terms: list[Node] = []
    pending = [(node, False)]
    while pending:
        top, minus = pending.pop()
        if top.op is add:
            pending += [(a, minus) for a in reversed(top.args)]
        elif top.op is neg:
            pending.append((top.args[0], not minus))
        else:
            terms.append(-top if minus else top)
    return terms


def _written(words: Words) -> dict[Node, Node]:
    """Return the arithmetic of a program by its canonical form, where the program's is no longer."""
    parts = [n for n in topological(words.bodies.values()) if n.op in _ARITHMETIC]
    found: dict[Node, Node] = {}
    for part, form in zip(parts, canonical(parts).nodes if parts else [], strict=True):
        if form is not part and form.op in _ARITHMETIC and form not in found:
            if len(expression_text(part)) <= len(expression_text(form)) + 2:
                found[form] = part
    return found
