"""A program over its names: every line is read by itself, with the names of other lines as symbols.

    Words ::= (Name = Body)*            -- a Name is a symbol, a Body a node over declared symbols and Names above it

So derivatives of a line use the names of the line, and a named constant is not folded. Facts about a value (its sign,
its bounds) hold for its name; `plain` inserts the values again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import takewhile
from math import isqrt

from symgrad.frontend.text import reread_program
from symgrad.ir.body import Body, StepNotation
from symgrad.ir.graph import NUMBER, SIZE, SYMBOL, Node, symbol
from symgrad.ir.listing import Listing
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import BOOL, INT, POSITIVE, REAL, Declaration, Domain
from symgrad.ops.numpy.calls import matrix_transpose
from symgrad.pretty.forms.numbers import Literals
from symgrad.pretty.forms.small_arrays import entries_of
from symgrad.pretty.limits import EQUATIONS
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.integer_ranges import ends_of
from symgrad.support.errors import SymgradError

_NEAR = Fraction(1, 2**20)
"""The relative width of the domain of a constant; with an exact value, its symbol would be folded."""


@dataclass(slots=True)
class NamedProgram:
    """A program over its names.

    Args:
        literals: the spelling of its numbers.
        names: the symbol for each name.
        bodies: the body of each name, over declared symbols and the names above it.
        meaning: the same bodies, over declared symbols only.
        known: facts about the bodies.
        result: the line without a name, over names; None if there is none.
        source: the text of the program, if it has one.
        steps: how the program writes the steps of recurrences.
    """

    literals: Literals = field(default_factory=Literals)
    names: dict[str, Node] = field(default_factory=dict[str, Node])
    bodies: dict[Node, Node] = field(default_factory=dict[Node, Node])
    meaning: dict[Node, Node] = field(default_factory=dict[Node, Node])
    known: Conditions = field(default_factory=Conditions)
    result: Node | None = None
    source: str = ""
    steps: Mapping[Body, StepNotation] = field(default_factory=dict[Body, StepNotation])

    def define(self, name: str, body: Node) -> Node:
        """Add a line, and return the symbol of its name."""
        body = self.literals.opaque(body)
        made = symbol(Declaration(name, _domain(self.known, body), body.shape, symmetric=is_symmetric(body)))
        self.names[name] = made
        self.bodies[made] = body
        self.meaning[made] = self.plain([body])[0]
        return made

    def above(self, name: Node) -> NamedProgram:
        """Return the program of the lines above the line of a name."""
        bodies = dict(takewhile(lambda line: line[0] is not name, self.bodies.items()))
        names = {n.name: n for n in bodies}
        meaning = {n: self.meaning[n] for n in bodies}
        return NamedProgram(
            self.literals, names, bodies, meaning, self.known, source=self.source, steps=self.steps
        )

    def opened(self, y: Node, by: Sequence[Node]) -> tuple[Node, Callable[[Node], Node]]:
        """Return a value over variables: with the bodies of the names that depend on them.

        The function that is returned, too, puts the names into a derivative again.
        """
        table = self.moved_by(by)
        names = {whole: name for name, whole in table.items()}

        def in_names(derivative: Node) -> Node:
            from symgrad.rewrite.pipeline import canonical  # a late import, for a quick start

            return canonical(substitute([derivative], names)).nodes[0]

        return substitute([y], table)[0], in_names

    def moved_by(self, by: Sequence[Node]) -> dict[Node, Node]:
        """Return the bodies of the names that depend on variables, over these and all other names."""
        moving = set(symbols_of(by))
        table: dict[Node, Node] = {}
        for name, body in self.bodies.items():
            (whole,) = substitute([body], table)
            if name not in moving and not moving.isdisjoint(symbols_of([whole])):
                table[name] = whole
        return table

    def plain(self, nodes: Sequence[Node]) -> list[Node]:
        """Return nodes over declared symbols only."""
        return substitute(nodes, {**self.meaning, **self.literals.meaning})


def name_program(listing: Listing) -> NamedProgram | None:
    """Return a program over its names; None if it has no formulas, is too long, or cannot be read by its names."""
    if listing.source is None:
        return name_by_identity(listing)
    if _is_too_long(listing):
        return None
    for whole in (True, False):
        found = _read(listing, whole)
        if found is not None:
            return found
    return None


def _is_too_long(listing: Listing) -> bool:
    values = [*listing.assignments.values(), *([] if listing.result is None else [listing.result])]
    return not values or len(topological(values)) > EQUATIONS


def _read(listing: Listing, whole: bool) -> NamedProgram | None:
    """Parse the text again; if not ``whole``, a name of an integer is replaced by the number, which may be a size."""
    words = NamedProgram(Literals.of(listing), source="" if listing.source is None else listing.source.text)

    def stands_for(name: str, node: Node) -> Node:
        if node.op is SYMBOL or (node.dtype == "int" and _is_size(node, whole)):
            return node
        return words.define(name, node)

    try:
        again = reread_program(listing, stands_for, words.opened)
    except SymgradError:
        return None
    if again.result is not None:
        words.result = words.literals.opaque(again.result)
    words.steps = again.steps
    return words


def _is_size(node: Node, whole: bool) -> bool:
    leaves = [n.op for n in topological([node]) if not n.args]
    return SIZE in leaves or (not whole and set(leaves) == {NUMBER})


def name_by_identity(listing: Listing, literals: Literals | None = None) -> NamedProgram | None:
    """Return names as Python assigned them: a line reads a name if it contains the node with that name.

    Args:
        listing: the program, without text.
        literals: the spelling of its numbers; by default that of the program.
    """
    if _is_too_long(listing):
        return None
    words = NamedProgram(Literals.of(listing) if literals is None else literals)
    words.steps = listing.steps
    standing: dict[Node, Node] = {}
    for name, node in listing.assignments.items():
        if node.args and node not in standing:
            standing[node] = words.define(name, substitute([node], standing)[0])
    return words


def _domain(known: Conditions, body: Node) -> Domain:
    """Return the known facts about a value as the domain of a symbol.

    A constant gets a width, so that nothing folds it.
    """
    if body.dtype == "bool":
        return BOOL
    f = known.facts(body)
    low = None if isinstance(f.low, float) else f.low
    high = None if isinstance(f.high, float) else f.high
    if body.dtype == "int":
        if low is not None and low == high:
            half = Fraction(1, 2)
            return Domain("constant", "int", low - half, low + half)
        least, most = ends_of(body)  # sizes may be among the symbols
        low, high = (least if low is None else low), (most if high is None else high)
        return INT if low is None and high is None else Domain("int", "int", low, high, closed=True)
    if low is not None and low == high:
        if low == 0:
            return REAL
        low, high = sorted((low * (1 - _NEAR), low * (1 + _NEAR)))
        return Domain("constant", "real", low, high)
    if low is None and high is None:
        return REAL
    if _is_constant(body):
        return Domain("constant", "real", low, high)
    closed = (low is not None and not f.low_open) or (high is not None and not f.high_open)
    if low == 0 and high is None and not closed:
        return POSITIVE
    return Domain("real", "real", low, high, closed=closed)


def _is_constant(body: Node) -> bool:
    leaves = [n for n in topological([body]) if not n.args]
    return all(n.op is not SYMBOL or n.declaration.domain.name == "constant" for n in leaves)


def is_symmetric(body: Node) -> bool:
    """Tell whether a matrix is its own transpose for all values of its symbols."""
    shape: Shape = body.shape
    if len(shape) != 2 or shape[0] != shape[1] or body.dtype != "real":
        return False
    from symgrad.rewrite.pipeline import canonical  # a late import, for a quick start

    straight, turned = canonical([body, matrix_transpose(body)]).nodes
    if straight is turned:
        return True
    entries = entries_of(body)
    if entries is None:
        return False
    n = isqrt(len(entries))
    found = canonical(entries).nodes
    return all(found[i * n + j] is found[j * n + i] for i in range(n) for j in range(i))
