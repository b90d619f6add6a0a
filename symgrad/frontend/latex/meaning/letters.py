r"""Letters: names with their accents, constants, and entries of arrays."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from symgrad.frontend.expressions.reader import ProgramReader
from symgrad.frontend.expressions.subscripts import subscript
from symgrad.frontend.indices import array_over_indices, index_symbol
from symgrad.frontend.latex.meaning.names import KnownNames, base_of, spelled_name
from symgrad.frontend.latex.meaning.readings import Ambiguity
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Command,
    NumberTree,
    ProductTree,
    Scripted,
    Slice,
    SumTree,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.vocabulary import GREEK
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.frontend.limits import QUOTED_CHARACTERS
from symgrad.frontend.tokens.terms import Dots, NoneLiteral, Section, Term, Token
from symgrad.ir.graph import OPS, Node, constant, number, symbol
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.printer import short_text
from symgrad.ir.sizes import Shape, Size, size_sum
from symgrad.ir.types import DOMAINS, Declaration, Domain
from symgrad.support.errors import Cure, ProgramSyntaxError, ShapeError, SymgradError, UnknownNameError
from symgrad.support.source import Source, Span

_CONSTANTS = {
    "gamma_E": "EulerGamma", "G_Catalan": "Catalan", "varphi_golden": "GoldenRatio", "phi_golden": "GoldenRatio",
}  # fmt: skip
_VERBATIM = re.compile(r"\\mathtt\{([^{}]*)\}")


class RowTerm(Term):
    r"""A transposed vector, x^{\top}: its meaning next to another array is different, its entries are the same."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class BoundIndex:
    """An index over which a sum runs, or the left side of a definition.

    Args:
        node: the node that stands for the positions of the index, counted from 0.
        start: its first value.
        first: the number of the first entry of an array.
        length: the number of its values, if that is known.
    """

    node: Node
    start: int = 0
    first: int = 0
    length: Size | None = None


class LetterRules(ProgramReader):
    """The rules for letters and entries.

    Args:
        source: the text.
        given: names that are known before the text.
        strict: whether names must be declared.
        options: the result of `symgrad.frontend.latex.meaning.readings.checked_options`.
    """

    def __init__(
        self, source: Source, given: Mapping[str, Node], strict: bool, options: Mapping[str, Any]
    ) -> None:
        super().__init__(source, given, strict)
        self.options = options
        self.readings: list[Ambiguity] = []
        verbatim = (name.replace("\\_", "_") for name in _VERBATIM.findall(source.text))
        self.known = KnownNames([*given, *sorted(self.sizes)], verbatim, spell=strict)
        self.bound: dict[str, BoundIndex] = {}
        self.firsts = {n: 0 for n in given.values() if loop_of(n) is not None}
        """The number of the first entry along the first axis, of arrays whose positions have numbers."""
        self.around = source.text
        """The text of which the formula is a part, or all of it: a letter means here what it means elsewhere in the
        text."""

    @abstractmethod
    def value(self, tree: Tree) -> Steps[Term]:
        """Return the value of a tree."""

    def values(self, trees: Iterable[Tree]) -> Steps[list[Term]]:
        """Return the values of several trees."""
        found: list[Term] = []
        for tree in trees:
            found.append((yield self.value(tree)))  # noqa: PERF401  (a comprehension cannot wait)
        return found

    def numbered(self, name: str, number: int) -> str:
        """Return a name with a number as its subscript: after a letter the number would be a factor."""
        return f"{name}_{number}"

    def refuse(
        self,
        what: str,
        tree: Tree,
        expected: str | None = None,
        cure: str | None = None,
        *,
        cls: type[SymgradError] = ProgramSyntaxError,
    ) -> SymgradError:
        """Return the error for a part of the formula."""
        return cls(
            what, at=self.location(tree.start, max(tree.end, tree.start + 1)), expected=expected, cure=cure
        )

    def text_of(self, tree: Tree | Term) -> str:
        """Return the text of a part of the formula, shortened."""
        return self.quote(Term(number(0), tree.start, tree.end))[1:-1]

    def read_as(self, tree: Tree, meaning: str, option: str) -> None:
        """Note how an ambiguous place was read."""
        found = Ambiguity(Span(tree.start, tree.end), self.text_of(tree), meaning, option)
        if found not in self.readings:
            self.readings.append(found)

    def said(self, node: Node) -> str:
        """Return the text of a value in a note, in the program notation."""
        return short_text(node, {}, QUOTED_CHARACTERS) or "the whole of it"

    def kept(self, term: Term) -> Term:
        """Return a term, or raise the error that was recorded when the term was made."""
        if self.error is not None:
            raise self.error
        return term

    def name_here(self, tree: Tree) -> str | None:
        """Return the known name that a letter with its scripts spells; None if there is none."""
        spelled = spelled_name(tree, apart=self.options["styles"] == "apart")
        if spelled is None:
            return None
        base = base_of(tree)
        exact = base is not None and base.style == "typewriter"
        return next((n for n in (spelled,) if n in self.local or n in self.bound), None) or self.known.find(
            spelled, exact=exact
        )

    def is_known(self, tree: Tree) -> bool:
        """Tell whether a letter with its scripts is a known name."""
        return self.name_here(tree) is not None

    def is_declared_letter(self, tree: Tree) -> bool:
        """Tell whether a letter is a known name, with its subscript or without it, whatever stands above it."""
        if not isinstance(tree, Scripted) or tree.primes:  # f'(t) is a derivative, also of a known f
            return self.is_known(tree)
        bare = replace(tree, above=None, above_text="")
        return any(map(self.is_known, (tree, bare, tree.base)))

    def constant_here(self, tree: Tree) -> str | None:
        r"""Return the constant that \operatorname{EulerGamma} or \gamma_{\mathrm{E}} is; None for other names."""
        word = base_of(tree)
        if word is not None and word.style == "operator" and word.text in _CONSTANTS.values():
            return word.text
        return None if self.is_known(tree) else _CONSTANTS.get(spelled_name(tree) or "")

    def named(self, name: str, tree: Tree) -> Term:
        """Return the value of a known name."""
        if name in self.local:
            given = self.local[name]
            return type(given)(given.node, tree.start, tree.end)
        bound = self.bound.get(name)
        if bound is not None:
            node = bound.node if not bound.start else OPS["add"](bound.node, number(bound.start))
            return Term(node, tree.start, tree.end)
        return self.kept(self.name(Token("NAME", name, tree.start, tree.end)))

    def letter(self, tree: Tree) -> Steps[Term]:
        """Return the value of a letter with accents, and perhaps with scripts that are part of its name."""
        word = base_of(tree)
        special = self.constant_here(tree)
        if special is not None:
            return self.term(constant(special), tree.start, tree.end)
        name = self.name_here(tree)
        if name is not None:
            return self.named(name, tree)
        spelled = spelled_name(tree, apart=self.options["styles"] == "apart")
        plain = tree is word
        if word is not None and plain:
            found = self._constant(word)
            if found is not None:
                return found
        if spelled is None:
            raise self.refuse(
                "this is not a name", tree, "a letter with accents and a subscript", "write it plainly"
            )
        if self.strict:
            raise self._unknown(spelled, tree)
        if spelled.startswith("var") and spelled[3:] in GREEK and spelled not in ("varphi", "varpi"):
            spelled = spelled[3:]
        self.known.add(spelled)
        return self.kept(self.name(Token("NAME", spelled, tree.start, tree.end)))
        yield

    def _constant(self, word: Word) -> Term | None:
        if word.text == "pi":
            return self.term(constant("pi"), word.start, word.end)
        if word.text == "e" and self.options["e"] == "number" and word.style in ("", "upright", "operator"):
            self.read_as(word, "Euler's number", 'e="name", or a declaration of e')
            return self.term(constant("E"), word.start, word.end)
        if word.text in ("True", "False") and word.upright:
            make = self.true if word.text == "True" else self.false
            return make(Token("NAME", word.text, word.start, word.end))
        return None

    def _unknown(self, spelled: str, tree: Tree) -> SymgradError:
        known = [n for n in self.defined if not n.startswith("__")]
        meant = suggest(spelled, known)
        return self.refuse(
            f"unknown name '{spelled}'"
            + ("" if self.text_of(tree) == spelled else f", from {self.text_of(tree)}"),
            tree,
            expected=one_of(known),
            cure=meant or f"declare it: {spelled} : real",
            cls=UnknownNameError,
        )

    def entry(self, array: Term, tree: Scripted) -> Steps[Term]:
        """Return entries of an array: x_i, W_{i j}, X_{1:}."""
        if tree.below is None:
            raise self.refuse(
                f"'{tree.below_text}' is no index",
                tree,
                expected="an index, or sections such as 1:n",
                cure="write a number",
            )
        numbered = array.node in self.firsts  # h_{50} is one position, A_{12} two
        trees = self.index_trees(tree.below, 0 if numbered else len(array.node.shape))
        if not array.node.shape and trees:
            raise self.refuse(
                f"{self.text_of(array)} is a number and has no entries",
                tree,
                cure="declare an array, or leave the subscript out",
                cls=ShapeError,
            )
        items: list[Any] = []
        axis = 0
        for item in trees:
            items.append((yield self._item(array, axis, item, tree)))
            axis += not (isinstance(item, Slice) and item.star)
        found = self.kept(subscript(self, array, items, tree.end))
        if not numbered and base_of(tree.base) is not None and all(isinstance(i, NumberTree) for i in trees):
            name = self.text_of(tree.base)
            self.read_as(
                tree,
                f"an entry of {name}, counted from {self.options['first']}",
                f"first={1 - self.options['first']}",
            )
        return Term(found.node, tree.start, tree.end)

    def index_trees(self, below: Sequence[Tree], rank: int) -> list[Tree]:
        """Return the indices in a subscript; i j side by side are two indices."""
        found: list[Tree] = []
        for item in below:
            if self._are_indices(item):
                found += item.factors
            elif isinstance(item, NumberTree) and 1 < len(item.text) == rank and item.text.isdecimal():
                found += [NumberTree(item.start + k, item.start + k + 1, c) for k, c in enumerate(item.text)]
            else:
                found.append(item)
        return found

    def _are_indices(self, tree: Tree) -> TypeGuard[ProductTree]:
        if not isinstance(tree, ProductTree) or any(tree.signs):
            return False
        plain = all(isinstance(f, Word | NumberTree | Scripted) for f in tree.factors)
        return plain and self.known.find("".join(f.text for f in tree.factors if isinstance(f, Word))) is None

    def _item(self, array: Term, axis: int, tree: Tree, whole: Tree) -> Steps[Any]:
        if isinstance(tree, Slice):
            if tree.star:
                return NoneLiteral(tree.start, tree.end)
            if axis == 0 and self.firsts.get(array.node, 0) and any(part is not None for part in tree.parts):
                raise self.refuse(
                    f"a section of {self.text_of(array)}, whose positions do not count from 0",
                    tree,
                    expected="a section of an array that counts from 0",
                    cure="write a sum over positions",
                )
            given = iter((yield self.values(part for part in tree.parts if part is not None)))
            parts = [None if part is None else next(given) for part in (*tree.parts, None, None)]
            return Section(parts[0], parts[1], parts[2])
        if isinstance(tree, Command) and tree.name in ("ldots", "dots"):
            return Dots()
        if isinstance(tree, Command) and tree.name == "cdot":
            return Section(None, None, None)
        first = self.firsts.get(array.node) if axis == 0 else None
        position = yield self.position(tree, first)
        from_zero = position is not None and (
            _is_before(position.node) or self._is_up_to(tree, array.node.shape[axis : axis + 1])
        )
        if from_zero and axis == 0 and first is None and self.firsts:
            # x_{t-1} for t = 1, ..., T beside a recurrence: the rows of x are counted from 0 as well. So are those of
            # V_t if V has T + 1 rows.
            self.firsts[array.node] = 0
            position = yield self.position(tree, 0)
        if position is not None:
            return position
        if isinstance(tree, Word) and not self.is_known(tree) and axis < len(array.node.shape):
            if axis == 0 and array.node in self.firsts:
                raise self.refuse(
                    f"nothing says which positions {self.text_of(tree)} stands for",
                    tree,
                    expected=r"a range behind the formula: t = 1, \dots, T",
                    cure="write the range, or a number",
                )
            return self._free_index(tree, array.node.shape[axis])
        value = yield self.value(tree)
        if value.node.shape:
            return value
        first = self.first_entry(array.node, axis, value.node, whole)
        if not first and not (axis == 0 and array.node in self.firsts and value.node.is_number()):
            return value
        if not value.node.is_number():
            return self._shifted(value, -first)
        if value.node.value < first:
            raise self.refuse(
                f"the entry {self.text_of(tree)}, where the first one has the number {first}",
                tree,
                expected=f"{first} or more",
                cure="read one of these positions"
                if array.node in self.firsts
                else Cure(
                    "leave first=1 out, or count from 1", command="leave --read first=1 out, or count from 1"
                ),
            )
        return self.term(number(value.node.value - first), value.start, value.end)

    def _is_up_to(self, tree: Tree, shape: Shape) -> bool:
        """Tell whether the last value of an index is the last position of an axis, counted from 0."""
        bound = self.bound.get(tree.text) if isinstance(tree, Word) else None
        return (
            bound is not None
            and bound.length is not None
            and shape == (size_sum([bound.start, bound.length]),)
        )

    def first_entry(self, array: Node, axis: int, _place: Node, _tree: Tree) -> int:
        """Return the number of the first entry of an array along an axis, which a formula reads at a place."""
        own = self.firsts.get(array) if axis == 0 else None
        return self.options["first"] if own is None else own

    def position(self, tree: Tree, first: int | None = None) -> Steps[Term | None]:
        """Return the position, counted from 0, of a bound index plus a number; None for any other tree.

        Args:
            tree: the index.
            first: the number of the first entry, if the array has one of its own.
        """
        if isinstance(tree, Word) and tree.text in self.bound:
            bound = self.bound[tree.text]
            begin = bound.first if first is None else first
            return self._shifted(Term(bound.node, tree.start, tree.end), bound.start - begin)
        reading = [b for n, b in self.bound.items() if self._names(tree, n)]
        if not reading:
            return None
        if isinstance(tree, SumTree) and isinstance(tree.terms[0], Word) and tree.signs[0] == "+":
            bound = self.bound.get(tree.terms[0].text)
            if bound is not None and all(
                isinstance(t, NumberTree) and t.text.isdecimal() for t in tree.terms[1:]
            ):
                more = sum(
                    (1 if s == "+" else -1) * int(t.text)
                    for s, t in zip(tree.signs[1:], tree.terms[1:], strict=True)
                    if isinstance(t, NumberTree)
                )
                begin = bound.first if first is None else first
                return self._shifted(Term(bound.node, tree.start, tree.end), bound.start - begin + more)
        value = yield self.value(tree)
        return self._shifted(value, -(reading[0].first if first is None else first))

    def _names(self, tree: Tree, name: str) -> bool:
        """Tell whether a name is read in a subscript."""
        return any(isinstance(part, Word) and part.text == name for part in trees_in([tree]))

    def _shifted(self, term: Term, by: int) -> Term:
        if not by:
            return term
        return self.term(OPS["add"](term.node, number(by)), term.start, term.end)

    def _free_index(self, word: Word, length: Size) -> Term:
        """Return an index that nothing defines: it stands for any position of an axis."""
        domain = DOMAINS["int"]
        node = symbol(
            Declaration(word.text, Domain(domain.name, domain.kind, 0, size_sum([length, -1]), closed=True))
        )
        self.symbols[word.text] = self.defined[word.text] = node
        self.name_spans[word.text] = Span(word.start, word.end)
        self.known.add(word.text)
        self.read_as(
            word,
            f"any position of an axis, from 0: {word.text} : int(0, {size_sum([length, -1])})",
            f"declare {word.text}",
        )
        return Term(node, word.start, word.end)

    def bracket_over(self, names: Sequence[Word], body: Tree) -> Steps[Term]:
        r"""Return the array of a formula over free indices, \left[a_i b_j\right]_{i j}."""
        outer = self.bound
        indices = [index_symbol(w.text) for w in names]
        first = self.options["first"]
        self.bound = {
            **outer,
            **{w.text: BoundIndex(n, first, first) for w, n in zip(names, indices, strict=True)},
        }
        value = yield self.value(body)
        self.bound = outer

        def along(node: Node) -> Node:
            return array_over_indices(indices, node, [None] * len(indices))

        return self.kept(self.build(along, [value], value.start, value.end))


def _is_before(position: Node) -> bool:
    """Tell whether a position is below the first one, for the first value of its index."""
    return position.op is OPS["add"] and position.args[1].is_number(-1)
