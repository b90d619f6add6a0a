"""What the names of a document mean, from its first line on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from symgrad.api.derivatives.differentiate import jvp
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import Antiderivative, Assumption, ImplicitEquation, with_undeclared
from symgrad.apps.review.formulas.equations import DocumentEquations
from symgrad.apps.review.formulas.matrix_facts import DocumentFacts
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import SYMBOL, Node, number, size_leaf, symbol
from symgrad.ir.listing import Listing
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ops.array.layout import full
from symgrad.support.errors import RedefinitionError, UnknownNameError

_NAME = re.compile(r"[^\W\d]\w*")
NAME_IN_TEXT = re.compile(r"∂?[^\W\d]\w*")
# What a name is marked with that is the solution of an equation for the name without the mark.
_MARK_WORDS = "star hat opt min max mle ml map ols eq ast 0 1 2 3 c crit bar tilde best ss"
_MARKS = frozenset(_MARK_WORDS.split())
_FUNCTIONS = frozenset({"log", "ln", "exp", "sin", "cos", "tan"})
_FEW = 64  # names of a document, up to which all are there to print a formula; else those that it reads


class DocumentNames(DocumentEquations):
    """Names with what they mean so far.

    Args:
        facts: what the words of the document say of names.

    Attributes:
        facts: likewise.
        lost: names whose definitions were not understood, with the lines of these.
        first_positions: the numbers of the first positions of arrays that recurrences define or read.
        unread: for each name, the line of the last formula that contains it and was not understood.
        values: each name with its node.
        functions: names of functions with their parameters; their values are formulas of these.
        implied: for each unknown that an equation defines, that equation.
        fixed: symbols that the document gives a value from some line on.
        moving: the symbols among `fixed` whose values are results: these vary with the variables in them.
        followed: for each name that the document differentiates but never defines, the variable of differentiation.
        primed: names that have a prime somewhere in the document, and that it never defines.
        conditions: equations that the document takes to hold, or asks for, in the order in which they were read.
        solved: for each symbol whose value was found by solving equations, these equations.
        marked: if the document defines D_star as the solution for D: the value of D_star, by the symbol D.
        reading: the number of the statement that is read.
        line: its line.
        varied: the names whose differentials (dx) are in the current statement.
        ever_varied: the names whose differentials are in any statement so far.
        has_random_inputs: whether an input has a distribution.
        variables: the names by which the document differentiates, or that a derivative holds constant: T of (∂p/∂V)_T.
        arguments: of functions that the document defines in LaTeX.
        differentials: of inputs, dx by x.
        placeholders: names that stand for the values of integrals and limits while a formula is read.
        integrals: symbols that stand for integrals, with these.
        first_read: for each name, the number of the first statement with a formula that reads it.
        assumptions: what the document declares, and what is assumed without a declaration.
    """

    def __init__(self, facts: DocumentFacts | None = None) -> None:
        super().__init__()
        self.facts = DocumentFacts() if facts is None else facts
        self.lost: dict[str, int] = {}
        self.first_positions: dict[Node, int] = {}
        self._unsure: dict[Node, int] = {}
        self.values: dict[str, Node] = {}
        self.functions: dict[str, tuple[str, ...]] = {}
        self.implied: dict[Node, ImplicitEquation] = {}
        self.followed: Mapping[str, str | None] = {}
        self.primed: frozenset[str] = frozenset()
        self.marked: dict[Node, Node] = {}
        self.reading = 0
        self.first_read: dict[str, int] = {}
        self._reads: dict[str, frozenset[str]] = {}
        self._sizes: set[str] = set()
        self._undeclared: dict[str, int] = {}
        self._order: list[str] = []
        self._missed: set[str] = set()
        self.unread: dict[str, int] = {}
        self.differentials: dict[Node, Node] = {}
        self.varied: frozenset[str] = frozenset()
        self.ever_varied: frozenset[str] = frozenset()
        self.variables: frozenset[str] = frozenset()
        self.has_random_inputs = False
        self.arguments: set[str] = set()
        self.placeholders: dict[str, Node] = {}
        self.integrals: dict[Node, Antiderivative] = {}
        self.line = 0

    def __contains__(self, name: object) -> bool:
        return name in self.values or name in self._sizes or name in self.placeholders

    def is_input(self, name: str) -> bool:
        """Tell whether a name stands for a symbol, declared or not, that is no integral."""
        symbol = name in self.values and self.values[name].op is SYMBOL
        return symbol and self.values[name] not in self.integrals

    def is_unknown(self, name: str) -> bool:
        """Tell whether formulas read a name as a number, and nothing says more of it."""
        return name in self._undeclared and not self.values[name].shape

    @property
    def parameters(self) -> set[str]:
        """The arguments of the functions that the document defines, in LaTeX and in other notations."""
        return self.arguments.union(*self.functions.values())

    @property
    def unsure(self) -> Mapping[Node, int]:
        """The inputs whose definitions were not understood, with the lines of these."""
        return self._unsure

    def declares_signs(self) -> bool:
        """Tell whether the document says of some real input which sign it has."""
        return any(
            s.op is SYMBOL and s.dtype == "real" and not s.shape and s.declaration.values.name != "real"
            for n, s in self.values.items()
            if n not in self._undeclared
        )

    def is_defined(self, name: str) -> bool:
        """Tell whether an equation defines a name (also if it only gives an input a second name)."""
        return name in self.values and not (self.is_input(name) and self.values[name].name == name)

    def is_array(self, name: str) -> bool:
        """Tell whether a name is that of an array."""
        return name in self.values and bool(self.values[name].shape)

    def is_declared(self, name: str) -> bool:
        """Tell whether the document declares a name."""
        return name in self.values and name not in self._undeclared

    def saw(self, names: Iterable[str]) -> None:
        """Remember that the statement that is read has these names in a formula."""
        for name in names:
            self.first_read.setdefault(name, self.reading)

    def is_new(self, s: Node) -> bool:
        """Tell whether no statement above reads an input, or the one whose differential it is."""
        names = [s.name, *(node.name for node, d in self.differentials.items() if d is s)]
        return all(self.first_read.get(name, self.reading) == self.reading for name in names)

    def missed(self, text: str) -> None:
        """Remember that a formula could not be read: perhaps for want of a name in it that is defined below."""
        words = NAME_IN_TEXT.findall(text)
        self.unread.update(dict.fromkeys(words, self.line))
        words += [word[1:] for word in words if word[0] in "d∂" and len(word) > 1]
        found = [word for word in words if word not in self]
        self._missed.update(found)
        self.saw(found)

    def was_missed(self, name: str) -> bool:
        """Tell whether a formula above that could not be read contains this name."""
        return name in self._missed and self.first_read[name] < self.reading

    def partial_of(self, name: str) -> tuple[str, tuple[str, ...]] | None:
        """Return what f_x and f_xy differentiate, and by what: a computed number, by inputs that it reads.

        None for a name that means something itself.
        """
        head, _, tail = name.rpartition("_")
        if name in self or head not in self.values or not tail:
            return None
        value = self.values[head]
        inputs = {s.name for s in inputs_of(value)}
        by = (tail,) if tail in inputs else tuple(tail)
        return (head, by) if value.args and not value.shape and inputs.issuperset(by) else None

    def differential_of(self, name: str) -> str | None:
        """Return the name whose differential dx is; None for a name that means something itself."""
        rest = name[1:]
        is_one = name.startswith("d") and name not in self and rest in self.values
        return rest if is_one and self.values[rest].dtype == "real" else None

    def differential(self, node: Node) -> Node:
        """Return the differential of a value: a symbol if the value is an input, otherwise the total differential.

        In the total differential, the inputs whose differentials are in the statement vary, and the arguments of
        functions; all other inputs are held fixed.
        """
        if node.op is SYMBOL:
            name = f"d{node.name}"
            return self.differentials.setdefault(node, symbol(Declaration(name, shape=node.shape)))
        inputs, parameters = inputs_of(node), self.parameters
        moved = [s for s in inputs if s.name in self.varied or s.name in parameters]
        held = [s.name for s in inputs if s not in moved]
        if held:
            self.assume(f"{', '.join(held)} held fixed in differentials", self.line, stated=False)
        if not moved:
            return full(number(0), node.shape)
        return jvp(Expr(node), [Expr(s) for s in moved], [Expr(self.differential(s)) for s in moved]).node

    def moved_by(self, node: Node, x: Node) -> list[Node]:
        """Return the inputs of a value that move with what no formula reads: r where the document has dr/dt."""
        if x.op is not SYMBOL or x.name in self.first_read:
            return []
        return [s for s in inputs_of(node) if s is not x and self.followed.get(s.name) == x.name]

    def known_in(self, text: str) -> dict[str, Node]:
        """Return the names in a text that mean something, and no others: a document may have thousands."""
        found: dict[str, Node] = {}
        for name in dict.fromkeys(_NAME.findall(text)):
            if name in self.placeholders or name in self.values:
                found[name] = (self.placeholders if name in self.placeholders else self.values)[name]
            elif name in self._sizes:
                found[name] = size_leaf(name)
        return found

    def expr(self, node: Node, names: Iterable[str] = ()) -> Expr:
        """Return a handle that prints in the names that a formula reads, and those that these are made of.

        Args:
            node: the formula.
            names: those in its text.
        """
        return Expr(node, listings=(self._listing(names, node),))

    def _listing(self, names: Iterable[str], node: Node) -> Listing:
        waiting, reached = list(self.values if len(self.values) <= _FEW else names), dict[str, None]()
        while waiting:
            name = waiting.pop()
            if name not in reached and name in self.values:
                reached[name] = None
                waiting += self._reads.get(name, ())
        ordered = (
            [n for n in self.values if n in reached] if len(reached) > len(self.values) // 8 else [*reached]
        )
        symbols = {n: self.values[n] for n in ordered if self.is_input(n)}
        symbols |= {s.name: s for s in symbols_of([node]) if s.name not in symbols}
        named = {n: self.values[n] for n in ordered if self.values[n].args}
        return Listing(symbols, named)

    def innermost(self, nodes: Sequence[Node]) -> dict[Node, Node]:
        """Return those of some nodes that are named and read no other that is, each with a variable for it.

        Args:
            nodes: the nodes in topological order: each one comes after its arguments.
        """
        names = {node: name for name, node in self.values.items() if node.args and node.dtype == "real"}
        found, above = dict[Node, Node](), set[Node]()
        for node in nodes:
            if any(a in above for a in node.args):
                above.add(node)
            elif node in names:
                found[node] = symbol(Declaration(names[node], shape=node.shape))
                above.add(node)
        return found

    @property
    def count(self) -> int:
        """How many names were taken in, with those of sizes."""
        return len(self._order)

    def newest(self, since: int) -> Sequence[str]:
        """Return the names that were added when `count` was already at least `since`."""
        return self._order[since:]

    def _set(self, name: str, node: Node) -> None:
        if name not in self:
            self._order.append(name)
        self.values[name] = node
        self.has_random_inputs |= node.op is SYMBOL and node.declaration.distribution is not None

    # -- what is said ------------------------------------------------------------------------------------------

    def declare(self, text: str, line: int) -> list[str]:
        """Take in a declaration in the notation of programs.

        Returns:
            The names that formulas above took for values of another shape.

        Raises:
            SymgradError: if the text is not a declaration, or contradicts an earlier one.
        """
        known = {n: node for n, node in self.known_in(text).items() if n in self.values}
        known = {n: node for n, node in known.items() if n not in self._undeclared}
        listing = parse_program(text, "the declaration", known)
        misread: list[str] = []
        for name, plain in listing.symbols.items():
            node = self._as_said(name, plain)
            before = self.values.get(name)
            if before is not None and before is not node and name not in self._undeclared:
                raise RedefinitionError(f"'{name}' means something else already", cure="choose another name")
            if before is not None and before.shape != node.shape and name in self.first_read:
                misread.append(name)
            if before is not None and before is not node:  # what was said above is meant of it, too
                self._replace(before, node)
            self._set(name, node)
            self._undeclared.pop(name, None)
        self._take_sizes(listing.sizes)
        self.assume(text.strip(), line)
        return misread

    def declare_random(self, name: str, distribution: str, parameters: Mapping[str, Node], line: int) -> bool:
        """Take in a random input of a distribution with these parameters; tell whether its name was free."""
        if name in self.values and (name in self.first_read or not self.is_input(name)):
            return False
        node = parse_program(f"{name} ~ {distribution}", "the declaration", parameters).symbols[name]
        self._set(name, node)
        self._undeclared.pop(name, None)
        self.assume(str(node.declaration), line)
        return True

    def forget(self, name: str) -> None:
        """Take back the declaration of a name, which a formula defines."""
        self.values.pop(name, None)

    def restrict_entries(self, entry: str, kind: str, line: int) -> bool:
        """Take in x_i > 0 for an array x: all of its entries are of a kind; tell whether that is meant.

        Args:
            entry: the name of an entry at an index that nothing declares.
            kind: a domain of programs, such as ``positive``.
            line: of the document.
        """
        name, _, index = entry.partition("_")
        before = self.values.get(name)
        if before is None or before.op is not SYMBOL or not before.shape or not index.isalpha():
            return False
        shape = ", ".join(map(str, before.shape))
        node = parse_program(f"{name} : {kind}[{shape}]").symbols[name]
        self._replace(before, node)
        self._set(name, node)
        self.assume(f"{name} : {kind}[{shape}]", line)
        return True

    def _as_said(self, name: str, node: Node) -> Node:
        """Return the symbol of a declaration, symmetric where words say that of a square matrix."""
        fact, declaration = self.facts.symmetric(name), node.declaration
        square = len(node.shape) == 2 and node.shape[0] == node.shape[1]
        if fact is None or not square or declaration.symmetric or declaration.distribution is not None:
            return node
        self.assume(f"{name} is symmetric", fact.line)
        return symbol(replace(declaration, symmetric=True))

    def check_slope(self, y: Node, x: Node) -> None:
        """Refuse a derivative that would be zero only because something was not read.

        Raises:
            UnknownNameError: for a derivative of or by a name that nothing defines, or that was not understood.
        """
        reads = set(topological([y]))
        for s in reads & self._unsure.keys():
            raise UnknownNameError(
                f"this is the derivative of a formula that reads {s.name},"
                f" and what line {self._unsure[s]} says of it is not understood",
                expected=f"a definition of {s.name} that can be read",
            )
        if any(s in self.integrals for s in reads):
            raise UnknownNameError(
                "a derivative of an integral whose value is not known is not read",
                expected="a formula for it",
            )
        if y is x or (x.op is SYMBOL and x.name.startswith("__")):
            return
        if y.op is SYMBOL and (y.name not in self.values or self._is_unknown(y, x)):
            raise UnknownNameError(
                f"this is a derivative of '{y.name}', which nothing above defines",
                expected=f"{y.name} = ... above",
            )
        if x.op is SYMBOL and x not in reads and x.name not in self.values and not self.moved_by(y, x):
            raise UnknownNameError(
                f"this is a derivative by '{x.name}', which nothing above reads",
                expected="a name that is read above",
            )

    def _is_unknown(self, y: Node, x: Node) -> bool:
        """Tell whether the document does not say how an input y depends on x. Its derivative is then unknown, not 0."""
        follows = y in self.implied or bool(self.moved_by(y, x))
        return y.name in self._undeclared and not y.shape and not follows

    def is_said(self, name: str) -> bool:
        """Tell whether a name means something, or would if its definition could be read."""
        return name in self or name in self.lost

    def _replace(self, before: Node, node: Node) -> None:
        names = [n for n, value in self.values.items() if value.args]
        values = substitute([self.values[n] for n in names], {before: node})
        self.values.update(zip(names, values, strict=True))

    def define(self, name: str, node: Node, reads: Iterable[str]) -> None:
        """Give a name its meaning."""
        self._set(name, node)
        self._undeclared.pop(name, None)
        self._reads[name] = frozenset(reads) - {name}

    def undeclared(self, name: str, line: int) -> Node:
        """Take a name that nothing declares for a real number, which is an assumption."""
        node = symbol(Declaration(name))
        self.take_undeclared(name, node, line)
        return node

    def take_undeclared(self, name: str, node: Node, line: int) -> None:
        """Take in an input that nothing declares.

        Raises:
            UnknownNameError: for a function, whose argument was not found.
        """
        if name in _FUNCTIONS:
            raise UnknownNameError(f"'{name}' is a function, and its argument is not read", expected="log(x)")
        if name in self.lost:
            self._unsure[node] = self.lost[name]
        self._set(name, node)
        self._undeclared[name] = line
        self._take_sizes(names_of(node.shape))

    def plain_name(self, name: str) -> str | None:
        """If a name is that of an input with a mark for solutions, return the input: w for w_hat, D for D_star.

        Example:
            >>> names = DocumentNames()
            >>> _ = names.undeclared("w", 1)
            >>> names.plain_name("w_hat"), names.plain_name("w_loss"), names.plain_name("v_hat")
            ('w', None, None)
        """
        head, _, mark = name.rpartition("_")
        found = (h for h in (head, f"{head}_") if self.is_input(h))  # lambda_, since lambda is Python's
        return next(found, None) if mark.lower() in _MARKS else None

    def unmarked(self, nodes: Sequence[Node]) -> list[Node]:
        """Return formulas with names that nothing declares and that mark solutions as the names without the mark."""
        plain: dict[Node, Node] = {}
        for s in symbols_of(nodes):
            name = self.plain_name(s.name) if s.name in self._undeclared else None
            if name is not None and self.values[name].shape == s.shape:
                plain[s] = self.values[name]
        return substitute(nodes, plain)

    def _take_sizes(self, names: Iterable[str]) -> None:
        for size in names:
            if size not in self:
                self._order.append(size)
            self._sizes.add(size)

    def assume(self, text: str, line: int, *, stated: bool = True) -> None:
        """Remember what verdicts rest on, once."""
        self.assumptions.setdefault(text, Assumption(text, line, stated))

    def told(self) -> tuple[Assumption, ...]:
        """Return what was assumed: what the document says, then what it does not."""
        declared = [name for name in self.values if name not in self._undeclared]
        domains = {n: str(self.values[n].declaration).partition(" : ")[2] for n in self._undeclared}
        return with_undeclared(self.assumptions, declared, self._undeclared, domains)
