"""A program that was read by its names, with the forms of its formulas."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from weakref import finalize

from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.pretty.adjoints import Adjoint
from symgrad.pretty.block_rows import concat_rows
from symgrad.pretty.domains import Domains
from symgrad.pretty.forms.steps import StepForms
from symgrad.pretty.named_formulas import NamedFormula, NamedFormulas
from symgrad.pretty.named_program import NamedProgram, name_program
from symgrad.pretty.shortest import ShortestForms


class ProgramForms:
    """A program that was read by its names, with its forms and a cache of derivatives.

    Args:
        listing: the program.
        words: the program over its names.
    """

    __slots__ = (
        "_above",
        "_listing",
        "_standing",
        "adjoints",
        "constants",
        "derivatives",
        "domains",
        "forms",
        "known",
        "places",
        "step_forms",
        "words",
    )

    def __init__(self, listing: Listing, words: NamedProgram) -> None:
        self.words = words
        self.forms = ShortestForms(words)
        self.step_forms = StepForms(
            words.names,
            words.bodies,
            words.steps,
            lambda f: concat_rows(self.forms.best([f])),
            self.forms.length,
        )
        self.derivatives: dict[Hashable, NamedFormulas | None] = {}
        self.adjoints: dict[tuple[Node, ...], tuple[Adjoint, ...]] = {}
        self._above: dict[Node, ProgramForms] = {}
        # A copy: this lives as long as the listing, so it must not hold it.
        self._listing = Listing(listing.symbols, listing.assignments)
        self.known = frozenset((*listing.symbols, *listing.assignments))
        self.places: dict[Node, Node] = {s: s for s in listing.symbols.values()}
        for name, node in listing.assignments.items():
            if name in words.names:
                self.places.setdefault(node, words.names[name])
        if listing.result is not None and words.result is not None:
            self.places.setdefault(listing.result, words.result)
        # A number is replaced by the name that has its value only if it has so many digits that the name is
        # unambiguous.
        self._standing = {
            node: place for node, place in self.places.items() if node.args or words.literals.is_long(node)
        }
        self.constants = {n for n, whole in words.meaning.items() if not symbols_of([whole])}
        self.domains = Domains(
            words.bodies,
            words.meaning,
            words.known,
            lambda node: self.forms.as_written(self.forms.best([node])),
            words.literals.spellings,
        )

    def over_names(self, node: Node) -> Node:
        """Replace the values of the program in a node by their names."""
        return self.words.literals.opaque(substitute([node], self._standing)[0])

    def above(self, name: Node) -> ProgramForms:
        """Return the program of the lines above the line of a name."""
        if name not in self._above:
            self._above[name] = ProgramForms(self._listing, self.words.above(name))
        return self._above[name]

    def values_in(self, node: Node) -> dict[Node, Node]:
        """Return the names of values inside a node, which may itself be one."""
        return {n: name for n, name in self._standing.items() if n is not node}

    def read(self, node: Node) -> Node | None:
        """Return a formula of named values, such as an entry, over names; None if it depends on other values."""
        return self.over_names(node) if self.named_in(node) and self.is_clear(node) else None

    def is_clear(self, node: Node) -> bool:
        """Tell whether no name in a formula means something else in the program."""
        return all(s in self.places or s.name not in self._listing for s in symbols_of([node]))

    def shortest(self, forms: Sequence[Node]) -> NamedFormula:
        """Return the shortest of equal forms over names."""
        found = self.forms.as_written(self.forms.best(forms))
        parts = self.forms.spelling, self.known, self.over_names, self.domains, self.words
        return NamedFormula(found, *parts)

    def named_in(self, node: Node) -> bool:
        """Tell whether a formula reads a computed value with a name."""
        return any(n in self._standing and n.args for n in topological([node]))


# The programs of the listings that exist, by identity; None for listings that cannot be read by their names.
_programs: dict[int, ProgramForms | None] = {}


def program_forms(listing: Listing) -> ProgramForms | None:
    """Return a program with its forms; None if it cannot be read by its names."""
    key = id(listing)
    if key not in _programs:
        words = name_program(listing)
        made = None if words is None else ProgramForms(listing, words)
        finalize(listing, _programs.pop, key, None)
        _programs[key] = made
    return _programs[key]
