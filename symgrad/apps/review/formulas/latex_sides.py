r"""What sides in LaTeX mean, in the names of a document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from symgrad.apps.review.assumptions import ImplicitCurve
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.formulas.latex_declarations import calls_pi, has_matrices, words_in
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.random_inputs import MOMENTS, moment
from symgrad.apps.review.formulas.related_rates import (
    ambiguous_partial,
    curve_parameter,
    derivative_at_constant,
    rate,
    time_derivative,
)
from symgrad.autodiff.jacobians import derivative_of
from symgrad.frontend.latex.document import latex_statements
from symgrad.frontend.latex.meaning.derivations import DerivationReader
from symgrad.frontend.latex.meaning.factors import is_function_name
from symgrad.frontend.latex.meaning.functions.function_values import LatexFunction
from symgrad.frontend.latex.meaning.letters import RowTerm
from symgrad.frontend.latex.meaning.names import KnownNames, base_of, spelled_name
from symgrad.frontend.latex.syntax.tree import (
    Bracket,
    Command,
    LatexLine,
    NumberTree,
    ProductTree,
    Scripted,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.words import join_words, rename_called
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.graph import OPS, SYMBOL, Node, size_leaf, symbol
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Declaration
from symgrad.support.errors import (
    ShapeError,
    SymgradError,
    UnknownFunctionError,
    UnsupportedError,
    placed_error,
)
from symgrad.support.source import Location, Source, Span

_WORD = re.compile(r"[a-zA-Z]+")
_RUN = re.compile(r"(?<![a-zA-Z\\])[a-zA-Z]{2,}")
_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_CONSTANT = re.compile(r"\)\s*_")  # (\partial p/\partial V)_T: p follows V
_LONE_D = re.compile(r"(?<![a-zA-Z\\])d(?!\s*\\?[a-zA-Z{])")
_FRACTION = r"\\[dt]?frac\s*"
_PRODUCT = re.compile(_FRACTION + r".*" + _FRACTION, re.DOTALL)
_LEIBNIZ = re.compile(
    _FRACTION
    + r"\{\s*d\b[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*\{\s*d(?![a-zA-Z]*\s*\})|"
    + _FRACTION
    + r"\{\s*d\w?\s*\}\s*\{\s*d\s*\w"
)


class _DocumentReader(DerivationReader):
    """Reads y' of what an equation defines by another input.

    Attributes:
        curves: of these equations.
    """

    curves: Sequence[ImplicitCurve] = ()

    def slope_of_name(self, tree: Scripted) -> Term | None:
        name = self.name_here(self.without_primes(tree))
        for curve in self.curves:
            if name == curve.y.name:
                y, x = (Term(n, tree.start, tree.end) for n in (curve.y, curve.x))
                return self.differentiated(y, [(x, tree)] * tree.primes, tree)
        return super().slope_of_name(tree)


class _RowReader(_DocumentReader):
    """Reads the derivative of a number by a vector as a row, as where Jacobians follow it."""

    def differentiated(self, y: Term, by: Sequence[tuple[Term, Tree]], whole: Tree) -> Term:
        found = super().differentiated(y, by, whole)
        if y.node.shape or len(found.node.shape) != 1:
            return found
        return RowTerm(found.node, found.start, found.end)


@dataclass(frozen=True, slots=True)
class LatexSideDerivative:
    """A derivative that a side asked for.

    Args:
        of: what was differentiated.
        by: what by.
        value: the derivative.
    """

    of: Node
    by: Node
    value: Node


def _is_time(x: Node, y: Node) -> bool:
    """Tell whether a derivative is one by a time that its formula does not read."""
    return x.op is SYMBOL and x.name == "t" and x not in symbols_of([y])


class LatexSideReader:
    """Reads formulas in LaTeX in the names of a document.

    Args:
        names: what names mean; those that mean nothing are added as real numbers.
        macros: of the document.
        options: how what is ambiguous is read: of `symgrad.frontend.latex.meaning.readings.checked_options`.
        document: its text.

    Attributes:
        macros: likewise.
        slopes: the derivatives that the last formula asked for.
        moved: whether the last formula has a derivative in which inputs follow a time, or equations above.
        readings: how what was ambiguous in the last formula was read, one sentence each.
    """

    def __init__(
        self, names: DocumentNames, macros: Mapping[str, str], options: Mapping[str, Any], document: str
    ) -> None:
        self._calls_pi = "pi" in macros and calls_pi(document)
        if self._calls_pi:  # \pi(a) is a function, and \sqrt{2\pi} has the number
            macros = {name: body for name, body in macros.items() if name != "pi"}
        self.macros = macros
        self._document = document
        self.slopes: list[LatexSideDerivative] = []
        self.moved = False
        self.readings: list[str] = []
        self._names = names
        self._functions: dict[str, LatexFunction] = {}
        self._options = options
        self._heads: dict[str, list[str]] = {}
        self._indexed = 0
        self._inferred = False
        self._has_matrices = has_matrices(document)
        self._like: Shape = ()
        self._bodies: set[str] = set()
        self._words = words_in(document)

    # -- what is on the left --------------------------------------------------------------------------------------

    def target(self, text: str) -> tuple[str, bool] | None:
        """Return the name that an equation with this left side defines, if it defines any.

        Returns:
            The name, and whether it stands there alone: not as that of a function, or of an array by its entries. None
            for a left side that is a formula.
        """
        try:
            _, lines = self._lines(text)
        except SymgradError:
            return None
        if len(lines) != 1 or lines[0].relations:
            return None
        tree = lines[0].sides[0]
        known = KnownNames(self._known(text))
        reader = self._reader(Source(text), text)
        try:
            derived = reader.derivative_of(tree) is not None or reader.moved_by_time(tree) is not None
        except SymgradError:
            return None
        if derived:
            return None
        if isinstance(tree, Scripted) and tree.primes and self._is_another(tree):
            return spelled_name(tree) or "", True
        alone = not isinstance(tree, ProductTree)
        if isinstance(tree, ProductTree):  # f(x)
            if len(tree.factors) != 2 or not isinstance(tree.factors[1], Bracket) or tree.signs[1]:
                return None
            if any(base_of(item) is None for item in tree.factors[1].items):  # \Gamma(s + 1)
                return None
            tree = tree.factors[0]
            if reader.is_known(tree) or reader.spelled_function(tree, None) is not None:
                return None
            if reader.moved_by_time(tree) is not None:  # \dot x(t) of an x that is defined
                return None
        if isinstance(tree, Scripted) and isinstance(tree.above, Bracket) and self._is_formula(reader, tree):
            return None  # f^{(4)}
        if isinstance(tree, Scripted) and (
            tree.primes
            or (isinstance(tree.above, NumberTree) and not reader.is_mark(tree))
            or (tree.below is not None and reader.is_known(tree.base) and not self._is_series(tree))
        ):
            return None
        if isinstance(tree, Command) and tree.name == "ell":
            tree = Word(tree.start, tree.end, "ell")
        name = spelled_name(tree)
        if name is None or base_of(tree) is None:
            return None
        found = known.find(name)
        if found is None and isinstance(tree, Scripted) and base_of(tree.base) is not None and tree.below:
            # else h_i = ..., for all i
            alone = alone and any(len(i.text) > 1 for i in tree.below if isinstance(i, Word))
        return (name, alone) if found is None else (found, True)

    def _is_formula(self, reader: DerivationReader, tree: Scripted) -> bool:
        """Tell whether a letter, without what stands above it, is a function or a formula of the document."""
        bare = reader.without_primes(tree)
        name = reader.name_here(bare)
        node = None if name is None else self._names.values.get(name)
        return reader.function_here(bare) is not None or (node is not None and bool(node.args))

    def forget(self, name: str) -> None:
        """Take back a function, which gets another meaning."""
        self._functions.pop(name, None)

    def entries_of(self, text: str) -> str | None:
        """Return the array whose entries, at indices that nothing declares, are this left side: y of y_i."""
        try:
            _, lines = self._lines(text)
        except SymgradError:
            return None
        tree = lines[0].sides[0] if len(lines) == 1 and not lines[0].relations else None
        if not isinstance(tree, Scripted) or not tree.below or tree.above is not None or tree.primes:
            return None
        words = [
            i for i in tree.below if isinstance(i, Word) and len(i.text) == 1 and i.text not in self._names
        ]
        return spelled_name(tree.base) if len(words) == len(tree.below) else None

    def _is_another(self, tree: Scripted) -> bool:
        """Tell whether x' is a new name beside x, as in a change of coordinates: x is no function of something."""
        base, name = spelled_name(tree.base), spelled_name(tree)
        follows = any(i.unknown.name == base for i in self._names.implied.values())
        plain = tree.above is None and tree.below is None
        return (
            plain
            and base in self._names.primed
            and not follows
            and name is not None
            and name not in self._names
        )

    def _is_series(self, tree: Scripted) -> bool:
        """Tell whether x_{n+1} is a new name though x is one: that of a number has no entries."""
        name, base = spelled_name(tree), spelled_name(tree.base)
        value = self._names.values.get(base or "")
        return name is not None and name not in self._names and value is not None and not value.shape

    def power_target(self, text: str) -> tuple[str, int] | None:
        """Return the name and the number above it of a left side that is nothing else: r^2."""
        try:
            _, lines = self._lines(text)
        except SymgradError:
            return None
        tree = lines[0].sides[0] if len(lines) == 1 and not lines[0].relations else None
        if not isinstance(tree, Scripted) or not isinstance(tree.above, NumberTree) or tree.primes:
            return None
        power = tree.above.text
        if not power.isdecimal() or int(power) < 2:
            return None
        bare = Scripted(tree.start, tree.end, tree.base, tree.below, None, 0, tree.below_text)
        name = spelled_name(bare if tree.below_text else tree.base)
        return None if name is None or base_of(tree) is None else (name, int(power))

    # -- what is on the right -------------------------------------------------------------------------------------

    def value(self, text: str, line: int, like: Shape = ()) -> Node:
        """Return what a formula means.

        Args:
            text: it.
            line: of the document.
            like: the shape of what it is said to be equal to.

        Raises:
            SymgradError: if it means nothing, with the place in its text.
        """
        self._like = like
        return self._read(text, line)[0]

    def definition(self, text: str, line: int) -> tuple[str, Node]:
        """Return the name that an equation defines, and what it means: of a name, a function, or entries.

        Raises:
            SymgradError: if it defines nothing, with the place in its text.
        """
        before = len(self._functions)
        node, name = self._read(text, line)
        assert name is not None
        if len(self._functions) > before:  # its body is read where it is called, with the names in it
            self._bodies.update(_WORD.findall(text))
            self._names.arguments.update(*(f.parameters for f in self._functions.values()))
        return name, node

    def _read(self, text: str, line: int) -> tuple[Node, str | None]:
        try:
            return self._read_as(text, line)
        except UnknownFunctionError as error:
            if error.at is None or "_" not in text[error.at.span.start : error.at.span.end]:
                raise
            return self._read_as(text, line, calls="product")  # p_i(1 - p_i): an entry is no function
        except ShapeError as error:
            if self._inferred:
                return self._read_as(text, line, infers=False)
            if not _PRODUCT.search(text):
                raise
            try:
                found = self._read_as(text, line, rows=True)
            except SymgradError:
                raise error from None
            self.readings.append("in products of derivatives, those of numbers by vectors are read as rows")
            return found

    def _read_as(
        self, text: str, line: int, *, rows: bool = False, calls: str | None = None, infers: bool = True
    ) -> tuple[Node, str | None]:
        before, lines = self._lines(text)
        source = Source(before + text)
        reader = self._reader(source, text, rows=rows, calls=calls)
        self.slopes, self.readings, self.moved = [], [], False
        held = r"\partial" in text and _CONSTANT.search(text) is None

        def differentiated(y: Node, x: Node) -> Node:
            y = y if held and y.op is not SYMBOL else self._names.following(y, [x])
            found = time_derivative(self._names, y) if _is_time(x, y) else None
            if found is None:
                found = derivative_at_constant(self._names, y, x, reader.constants)
            if found is not None:
                self.moved = True
                return found
            doubtful = ambiguous_partial(self._names, y, x) if held else None
            if doubtful is not None:
                raise UnsupportedError(f"this derivative may hold {doubtful} fixed, or move it with {x.name}")
            value = self._differentiated(y, x, partial=held)
            self.slopes.append(LatexSideDerivative(y, x, value))
            return value

        reader.differentiate = differentiated
        reader.like = self._like
        reader.derives, reader.infers = True, infers
        reader.differential, reader.varied = self._differential, self._names.varied
        try:
            reader.infer_arrays([side for statement in lines for side in statement.sides])
            self._inferred = reader.inferred
            for statement in lines:
                reader.statement(statement)
            listing = reader.listing()
        except SymgradError as error:
            if error.at is None or not before:
                raise
            span = Span(*(max(0, k - len(before)) for k in (error.at.span.start, error.at.span.end)))
            raise placed_error(error, Location(Source(text), span)) from None
        for name, node in listing.symbols.items():
            if name not in self._names.values:
                self._names.take_undeclared(name, node, line)
        self.readings = [str(reading) for reading in reader.readings]
        if listing.assignments:
            name, node = next(reversed(list(listing.assignments.items())))
            return node, name
        assert listing.result is not None
        return listing.result, None

    def _differentiated(self, y: Node, x: Node, *, partial: bool) -> Node:
        self._names.check_slope(y, x)
        if self._names.moved_by(y, x):
            return rate(self._names, y, x)
        implied = () if partial else tuple(self._names.implied.values())
        variables = None if partial else self._names.variables
        if not implied and curve_parameter(self._names, y, x, partial=partial) is None:
            return derivative_of(y, x)
        return derivative(self._names.expr(y), (self._names.expr(x),), implied, variables).node

    def _differential(self, node: Node) -> Node:
        """Return the differential of a value: of an input that moves with t, whose rate the document has, dN/dt*dt."""
        by = self._names.followed.get(node.name) if node.op is SYMBOL else None
        if by is None or by not in self._names.varied:
            return self._names.differential(node)
        x = self._names.values.get(by, symbol(Declaration(by)))
        moves = symbol(Declaration(f"d{node.name}_d{by}", shape=node.shape))
        return OPS["mul"](moves, self._names.differential(x))

    def _lines(self, text: str) -> tuple[str, list[LatexLine]]:
        """Return the macros that a text needs, and what it is as trees."""
        used = {m[1] for m in _COMMAND.finditer(text)} & self.macros.keys()
        before = "".join(self.macros[name] for name in self.macros) + " " if used else ""
        lines = latex_statements(Source(before + text))
        if self._calls_pi:
            lines = [rename_called(line, "pi", "varpi") for line in lines]
        words = [w for w in self._words if w in text] + self._function_names(text)
        return before, [join_words(line, words) for line in lines] if words else lines

    def _function_names(self, text: str) -> list[str]:
        """Return the functions that a text has in math italics, sin x without a backslash, the longest first.

        Where each of its letters is a name, a word is their product.
        """
        found = dict.fromkeys(
            word
            for run in _RUN.findall(text)
            for word in (run, run[:-1])
            if (is_function_name(word) or (word in MOMENTS and self._names.has_random_inputs))
            and not all(c in self._names for c in word)
        )
        return sorted(found, key=len, reverse=True)

    def _reader(
        self, source: Source, text: str, *, rows: bool = False, calls: str | None = None
    ) -> _DocumentReader:
        known = self._known(text)
        if (
            _LEIBNIZ.search(text) or (self._names.varied and _LONE_D.search(text) is None)
        ) and "d" not in self._names.values:  # a size d is not what stands in d/dx
            known.pop("d", None)
        options = self._options if calls is None else {**self._options, "calls": calls}
        reader = (_RowReader if rows else _DocumentReader)(source, known, False, options)
        reader.has_matrices = self._has_matrices
        reader.firsts.update(self._names.first_positions)
        reader.curves = [i.curve for i in self._names.implied.values() if i.curve is not None]
        reader.defined_here = self._functions
        reader.around = self._document
        if self._names.has_random_inputs:
            reader.moments = {k: partial(moment, self._names, kind) for k, kind in MOMENTS.items()}
        reader.functions_elsewhere, reader.values_elsewhere = self._names.functions, self._names.values
        return reader

    def _known(self, text: str) -> dict[str, Node]:
        """Return the names that a text may read, and no others: a document may have thousands."""
        names = self._names
        for name in names.newest(self._indexed):
            head = _WORD.match(name)
            self._heads.setdefault("" if head is None else head[0], []).append(name)
        self._indexed = names.count
        heads = {"", *_WORD.findall(text), *self._bodies}
        heads |= {"varpi"} if "pi" in heads else set()  # where pi is a name
        if heads & {"nabla", "Delta"}:  # by the arguments of the function behind it
            heads |= {"x", "y", "z"} | names.parameters
        heads |= {letter for head in heads for letter in head}
        heads |= {head.upper() for head in heads if len(head) == 1}  # of x_i the matrix X that it is a row of
        read = (n for head in sorted(heads) for n in self._heads.get(head, ()) if n in names)
        found = {n: names.values[n] if n in names.values else size_leaf(n) for n in read}
        return {**found, **names.placeholders}
