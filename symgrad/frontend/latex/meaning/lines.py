r"""The reader of LaTeX as a whole: it reads a text line by line, as definitions or as the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symgrad.frontend.latex.meaning.choices import NO_CONDITIONS
from symgrad.frontend.latex.meaning.functions.function_values import LatexFunction
from symgrad.frontend.latex.meaning.names import base_of, spelled_name
from symgrad.frontend.latex.meaning.recurrences import LatexRecurrenceRules
from symgrad.frontend.latex.meaning.step_lines import StepLines
from symgrad.frontend.latex.syntax.trampoline import run_trampoline
from symgrad.frontend.latex.syntax.tree import (
    Accent,
    Bracket,
    Chain,
    LatexLine,
    ProductTree,
    Scripted,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.graph import symbol
from symgrad.ir.types import Declaration
from symgrad.support.errors import RedefinitionError, UnsupportedError
from symgrad.support.source import Span


def _subscript_letters(tree: Tree) -> Iterator[Word]:
    """Yield the letters in the subscript of a tree."""
    if isinstance(tree, Scripted) and tree.below is not None:
        for part in trees_in(tree.below):
            if isinstance(part, Word):
                yield part


class LatexReader(LatexRecurrenceRules):
    """The state while one text is read: its names, its lines, and how ambiguous places were read."""

    def statement(self, line: LatexLine) -> None:
        """Read a line: a definition, the lines of a recurrence, or the result."""
        if isinstance(line, StepLines):
            self.strict_from_here()
            self.recurrence_lines(line)
            return
        left, *others = line.sides
        if not line.relations:
            self._only_last()
            self.result = self.read(left)
            self.kept(self.result)
            return
        odd = next((r for r in line.relations if r in NO_CONDITIONS), None)
        if odd is not None:
            what, cure = NO_CONDITIONS[odd]
            raise self.refuse(
                f"{what} is no formula to compute",
                Tree(line.start, line.end),
                cure=cure,
                cls=UnsupportedError,
            )
        if line.relations[0] != "=":
            self._only_last()
            self.result = self.read(Chain(line.start, line.end, line.sides, line.relations))
            return
        if len(others) > 1:
            raise self.refuse(
                "a chain of equations is a derivation, and defines nothing",
                Tree(others[1].start, line.end),
                expected="a single equals sign in a line: name = expression",
                cure="keep one right-hand side",
            )
        key = self.key_of(left) if line.explains and self.derivative_of(left) is not None else None
        if key is not None:
            self.explained[key] = self.read(others[0])
        else:
            self.define_line(left, others[0], Tree(line.start, line.end))

    def define_line(self, left: Tree, right: Tree, whole: Tree) -> None:
        """Read a definition of a name, of a function, or of the entries of an array."""
        self.strict_from_here()
        function = self._defines_function(left)
        if function is not None:
            self._define_function(*function, right, whole)
            return
        word = base_of(left)
        if word is None or spelled_name(left) is None or self.derivative_of(left) is not None:
            raise self.refuse(
                "only a name can be defined, and this is a claim about values"
                if self.derivative_of(left) or not isinstance(left, Word | Scripted | Accent)
                else "only a name can be defined",
                left,
                expected="name = expression, or f(x) = expression",
                cure="write the right-hand side alone",
            )
        indices = self._free_indices(left, right)
        if indices:
            base = left.base if isinstance(left, Scripted) else left
            value = run_trampoline(self.bracket_over(indices, right))
            self._assign(self._new_name(base), self.kept(value), base)
            return
        if (
            isinstance(left, Scripted)
            and left.above is not None
            and not self.is_mark(left)
            and not self._mark_like(left)
        ):
            raise self.refuse(
                "a power stands where a name is defined", left, "name = expression", "define the name itself"
            )
        name = self._new_name(left)
        known = self.known.find(name)
        if known is not None and (known in self.defined or known in self.sizes):
            raise self.refuse(
                f"'{known}' is defined already, so this is a claim and no definition",
                left,
                expected="each name defined once",
                cure="leave its declaration out, or write the right-hand side alone"
                if self.strict
                else r"write this line first, or \text{where} before it",
                cls=RedefinitionError,
            )
        self._assign(name, self.read(right), left)

    def strict_from_here(self) -> None:
        """Raise an error if an expression without a name precedes this definition: only the last line may be one."""
        self._only_last()
        if self.error is not None:
            raise self.error

    def _mark_like(self, tree: Scripted) -> bool:
        return isinstance(tree.above, Word) and tree.above.text != "T"

    def _new_name(self, tree: Tree) -> str:
        name = spelled_name(tree, apart=self.options["styles"] == "apart")
        assert name is not None
        return name

    def _assign(self, name: str, value: Term, tree: Tree) -> None:
        if name in ("pi", "e") and not self.strict and name == "pi":
            raise self.refuse(
                "'pi' is the constant 3.14159...", tree, cure="choose another name", cls=RedefinitionError
            )
        self.assignments[name] = value.node
        self.defined[name] = self.stands_for(name, value.node)
        self.name_spans[name] = Span(tree.start, tree.end)
        self.known.add(name)

    def _free_indices(self, left: Tree, right: Tree) -> list[Word]:
        """Return the subscript letters on the left of h_i = ..., if all of them are subscripts on the right, too."""
        if not isinstance(left, Scripted) or left.below is None or self.is_known(left):
            return []
        items = self.index_trees(left.below, 0)
        words = [i for i in items if isinstance(i, Word) and len(i.text) == 1 and not i.upright]
        if len(words) != len(items) or any(self.is_known(w) for w in words):
            return []
        below = {w.text for tree in trees_in([right]) for w in _subscript_letters(tree)}
        return words if below.issuperset(w.text for w in words) else []

    def _defines_function(self, left: Tree) -> tuple[Tree, list[Word]] | None:
        """Return the name and the parameters on the left of f(x) = ...; None for another left side."""
        if not isinstance(left, ProductTree) or len(left.factors) != 2 or left.signs[1]:
            return None
        name, bracket = left.factors
        if not isinstance(bracket, Bracket) or bracket.kind != "(" or spelled_name(name) is None:
            return None
        if isinstance(name, Scripted) and (
            name.primes or (name.above is not None and not self.is_mark(name))
        ):
            return None
        words = [base_of(item) for item in bracket.items]
        if any(w is None for w in words) or any(spelled_name(i) is None for i in bracket.items):
            raise self.refuse(
                "the parameters in the definition of a function must be names",
                bracket,
                expected="f(x, y) = expression",
                cure="write names between the brackets",
            )
        return name, [Word(i.start, i.end, spelled_name(i) or "") for i in bracket.items]

    def _define_function(self, tree: Tree, parameters: Sequence[Word], right: Tree, whole: Tree) -> None:
        name = self._new_name(tree)
        if name in self.defined_here or self.known.find(name) is not None:
            raise self.refuse(
                f"'{name}' is defined already",
                tree,
                expected="each name defined once",
                cure="choose another name",
                cls=RedefinitionError,
            )
        known = [self.known.find(w.text) for w in parameters]
        arguments = tuple(n or w.text for n, w in zip(known, parameters, strict=True))
        if len(set(arguments)) < len(arguments):
            raise self.refuse(
                "two parameters have the same name", whole, "different names", "choose another name"
            )
        if not self.strict or all(n is not None for n in known):
            value = self.read(right)  # names are read as they are, so that the function also has a value
            self._assign(name, value, tree)
            arguments = tuple(self.known.find(w.text) or w.text for w in parameters)
        else:
            places = {a: Term(symbol(Declaration(f"__{a}_")), whole.start, whole.end) for a in arguments}
            outer, self.local = self.local, places
            for argument in arguments:
                self.known.add(argument)
            self.read(right)
            self.local = outer
        self.defined_here[name] = LatexFunction(name, arguments, right)
