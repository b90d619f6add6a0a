"""The form that people write: of what is equal, the one that is shortest in the words of the program.

Offered are the canonical form, the same with the names of functions for what spells them out (`sigmoid`), and rational
forms of every part. What stands for a named value is written by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from symgrad.ir.graph import Node, as_node
from symgrad.ir.printer import expression_text
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Number
from symgrad.ops.arith import add, div, mul, neg, pow
from symgrad.ops.contraction import einsum
from symgrad.ops.elementary import sqrt
from symgrad.ops.indexing import scatter_add
from symgrad.ops.layout import full
from symgrad.rewrite.trace import Note
from symgrad.rules.pipeline import canonical
from symgrad.words.common import shared, terms_of
from symgrad.words.guards import without_idle_guards
from symgrad.words.positions import POSITIONS, as_one_hot, merged
from symgrad.words.program import Words
from symgrad.words.rational import opened
from symgrad.words.spoken import Spoken
from symgrad.words.style import styled

__all__ = ["Forms"]

_ARITHMETIC = frozenset((add, mul, div, neg, pow, sqrt))

_TOKEN = re.compile(r"\w+\(|[\w.]+|\*\*|[^\s\w]")
_SUM = 0.6
"""What a sum costs beside a product of as many names and signs."""

_TERM = 0.3
"""What each sign of a sum beyond the first costs."""

_HELD = 0.75
"""The same in parentheses: it is held in mind until they close."""

_NUMBER = 0.7
"""What a number costs, beside its digits; a name costs one."""

_CALL = 1.5
"""What a function costs beside its name."""

_READ = 200
"""Characters up to which an expression is also looked at with what its names stand for."""

_LONG = 600
"""Characters beyond which an expression is taken as it is."""


class Forms:
    """Chooses forms for the lines of a program."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._named: dict[Node, Node] = {}
        bodies = [(name, body) for name, body in words.bodies.items() if body.args]
        found = canonical([body for _, body in bodies]).nodes if bodies else []
        for (name, _), form in zip(bodies, found, strict=True):
            if form.args:
                self._named.setdefault(form, name)
        self._positions = {n: b for n, b in words.bodies.items() if b.op in POSITIONS}
        self._lengths: dict[Node, tuple[int, float]] = {}
        self._written = _written(words)
        self._simple: dict[Node, tuple[Node, tuple[Note, ...]]] = {}
        self.notes: dict[Node, tuple[Note, ...]] = {}
        self._constants: dict[Node, Number | None] = {}
        self._spoken = Spoken(words.known, lambda n: self.cost(self.named(n)))

    def best(self, nodes: Iterable[Node]) -> Node:
        """Return the shortest form of nodes that are equal; where that has a value they have not, `notes` say so."""
        options: dict[Node, tuple[Note, ...]] = {}
        for node in dict.fromkeys(map(self._without_nothing, nodes)):
            form, notes = self._canonical(node)
            for given in dict.fromkeys((form, self._spoken.of(form))):
                at, more = (form, ()) if given is form else self._canonical(given)
                self._offer(options, at, (*notes, *more))
                self._offer(options, *self._simplified(at, (*notes, *more)))
            for read, more in (*self._read(form), *self._at_positions(form)):
                self._offer(options, read, (*notes, *more))
        best = min(options, key=self.cost)
        spoken = self._spoken.of(best)
        if spoken is not best:
            found, more = self._canonical(spoken)
            options[found] = (*options[best], *more)
            best = found
        if options[best]:
            self.notes.setdefault(best, tuple(dict.fromkeys(options[best])))
        return best

    def _offer(self, options: dict[Node, tuple[Note, ...]], form: Node, notes: tuple[Note, ...]) -> None:
        if form not in options or len(notes) < len(options[form]):
            options[form] = notes

    def _canonical(self, node: Node) -> tuple[Node, tuple[Note, ...]]:
        """Return the canonical form of a node in names, and where it has a value that the node has not."""
        found = canonical(substitute([node], self._positions))
        form, more = as_one_hot(found.nodes[0], self._words.known)
        notes = (*(note for _, note in found.widened), *more)
        form = self.named(form)
        if form is not found.nodes[0]:
            found = canonical([form])
            form, notes = self.named(found.nodes[0]), (*notes, *(note for _, note in found.widened))
        return without_idle_guards(form), notes

    def _at_positions(self, node: Node) -> Iterator[tuple[Node, tuple[Note, ...]]]:
        """Yield forms of a node in which what multiplies values at positions is read there."""
        if all(n.op is not scatter_add for n in topological([node])):
            return
        for form, notes in ((node, ()), *self._quotients(node, self._named)):
            found = merged(form)
            if found is not form:
                at, more = self._canonical(found)
                at, others = self._simplified(at, ())
                if at.shape == node.shape:
                    yield at, (*notes, *more, *others)

    def _read(self, node: Node) -> Iterator[tuple[Node, tuple[Note, ...]]]:
        """Yield forms of a node with what its names stand for: something may cancel that a name hides."""
        if node.op not in _ARITHMETIC or self.length(node) > _READ:
            return
        bodies = self._words.bodies
        table = {n: bodies[n] for n in topological([node]) if n in bodies and bodies[n].op in _ARITHMETIC}
        if table:
            for form, notes in self._quotients(substitute([node], table)[0], {}):
                found, more = self._canonical(form)
                if found.shape == node.shape:
                    yield found, (*notes, *more)

    def _without_nothing(self, node: Node) -> Node:
        """Return a node with numbers for what is one in full, such as the mean of what its mean was subtracted from."""
        table = {n: as_node(found) for n in topological([node]) if (found := self._constant(n)) is not None}
        return substitute([node], {n: full(v, n.shape) for n, v in table.items()})[0] if table else node

    def _constant(self, node: Node) -> Number | None:
        """Return the number that a part with names is for all inputs, None if none is known."""
        if not node.args or node.op in _ARITHMETIC or node.dtype == "bool":
            return None
        if node not in self._constants:
            read = {n: self._words.bodies[n] for n in topological([node]) if n in self._words.bodies}
            form = canonical(substitute([node], read)).nodes[0] if read else node
            while form.op.name == "broadcast_to":
                (form,) = form.args
            self._constants[node] = form.value if form.is_number() else None
        return self._constants[node]

    def named(self, node: Node) -> Node:
        """Return a node with names for what they stand for."""
        return substitute([node], self._named)[0]

    def as_written(self, node: Node) -> Node:
        """Return a node with its parts as the program writes them where it has them, and its numbers as it does."""
        return self._words.literals.tidy(styled(substitute([node], self._written)[0]))

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
            found = self._lengths[node] = len(text), _cost(text)
        return found

    def simplified(self, node: Node) -> Node:
        """Return a node whose parts are in their shortest forms, the innermost first."""
        return self._simplified(node, ())[0]

    def _simplified(self, node: Node, notes: tuple[Note, ...]) -> tuple[Node, tuple[Note, ...]]:
        if self.length(node) > _LONG:
            return node, notes
        order = topological([node])
        inside = {a for n in order for a in n.args if n.op in _ARITHMETIC and a.op in _ARITHMETIC}
        outside = {a for n in order for a in n.args if n.op not in _ARITHMETIC} | {node}
        done: dict[Node, Node] = {}
        for n in order:
            args = tuple(done[a] for a in n.args)
            made = n if args == n.args else n.op(*args, params=n.params)
            if n.op in _ARITHMETIC and (n in outside or n not in inside):
                made, more = self._shortest(made)
                notes = (*notes, *more)
            done[n] = made
        form, more = self._canonical(done[node])
        return form, (*notes, *more)

    def _shortest(self, node: Node) -> tuple[Node, tuple[Note, ...]]:
        found = self._simple.get(node)
        if found is None:
            options: dict[Node, tuple[Note, ...]] = {node: ()}
            for option, notes in self._forms_of(node):
                if self.length(option) <= _LONG and option.shape == node.shape:
                    form, more = self._canonical(option)
                    if self.length(form) <= _LONG and form.shape == node.shape:
                        self._offer(options, form, (*notes, *more))
            best = min(options, key=self.cost)
            found = self._simple[node] = best, options[best]
        return found

    def _forms_of(self, node: Node) -> Iterator[tuple[Node, tuple[Note, ...]]]:
        """Yield forms of arithmetic, and where each has a value that it has not."""
        yield node, ()
        yield from self._quotients(node, self._named)
        terms = terms_of(node)
        if len(terms) > 1:
            parts = [self._shortest(t) for t in terms]
            notes = tuple(note for _, of_part in parts for note in of_part)
            yield reduce(lambda a, b: a + b, [p for p, _ in parts]), notes
            for form in shared(node):
                yield self._simplified(form, ())

    def _quotients(self, node: Node, named: Mapping[Node, Node]) -> Iterator[tuple[Node, tuple[Note, ...]]]:
        quotient = opened(node, self._words.known, named)
        for found in (quotient, quotient and quotient.without_roots()):
            if found is not None:
                notes = tuple(found.notes())
                yield from ((form, notes) for form in found.forms() if self.length(form) <= _LONG)


def _cost(text: str) -> float:
    total = 0.0
    sums = [0]  # signs so far: outside, then in each pair of parentheses
    for token in _TOKEN.findall(text):
        if token == ")":
            sums.pop()
        elif token == "(":
            total += 0.5
            sums.append(0)
        elif token[0].isalpha():
            total += 1 + len(token) / 16
            if token.endswith("("):
                total += _CALL
                sums.append(-1)
        elif token[0].isdigit():
            total += _NUMBER + len(token) / 16
        else:
            total += 1
            if token in "+-" and sums[-1] >= 0:
                sums[-1] += 1
                if sums[-1] > 1:
                    total += _HELD if len(sums) > 1 else _TERM
    return total


def _written(words: Words) -> dict[Node, Node]:
    """Return the arithmetic of a program by its canonical form, where the program's is no longer."""
    parts = [n for n in topological(words.bodies.values()) if n.op in _ARITHMETIC or (n.op is einsum and not n.shape)]
    found: dict[Node, Node] = {}
    for part, form in zip(parts, canonical(parts).nodes if parts else [], strict=True):
        if form is not part and (form.op in _ARITHMETIC or form.op is einsum) and form not in found:
            if len(expression_text(part)) <= len(expression_text(form)) + 2:
                found[form] = part
    return found
