r"""Letters with their scripts: names, entries of arrays, powers, transposes, inverses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symgrad.frontend.latex.meaning.inputs import input_of, inputs_of
from symgrad.frontend.latex.meaning.letters import LetterRules, RowTerm
from symgrad.frontend.latex.meaning.names import base_of, entry_name, spelled_name
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Accent,
    Bracket,
    Command,
    NumberTree,
    ProductTree,
    Scripted,
    SumTree,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.vocabulary import CONSTANTS
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.graph import OPS, constant
from symgrad.ir.sizes import Size
from symgrad.ops.numpy import calls, matrices
from symgrad.support.errors import Cure, ShapeError, UnknownNameError, UnsupportedError


class ScriptRules(LetterRules):
    """The rules for scripts.

    Attributes:
        derives: whether a mark on a computed name means a derivative, as it does in derivations: y', f_{xy}, dy.
        in_exponent: whether the formula that is read stands in an exponent.
    """

    derives = False
    in_exponent = False

    def combines_functions(self, tree: Tree) -> bool:
        r"""Tell whether a factor combines functions of the text, (f \circ g), or is a formula with a prime, (fg)'."""
        raise NotImplementedError

    def combined_functions(self, tree: Tree, bracket: Bracket | None, end: int) -> Steps[Term]:
        """Return the value of such a factor, at the value in a bracket if there is one."""
        raise NotImplementedError

    def scripted(self, tree: Scripted) -> Steps[Term]:
        """Return the value of a base with scripts: a name, an entry, a power, or several of these at once."""
        above = tree.above
        if tree.primes and above is None and self.combines_functions(tree):
            return (yield self.combined_functions(tree, None, tree.end))
        if base_of(tree.base) is not None:
            found, marked = yield self._scripted_letter(tree)
            above = None if marked else above
        else:
            found = yield self.value(tree.base)
            if tree.below is not None or tree.below_text:
                found = yield self.entry(found, tree)
            if tree.primes:
                raise self.refuse(
                    "a prime after a formula",
                    tree,
                    expected="a prime after the name of a function: f'(x)",
                    cure=r"write \frac{d}{dx}\left(...\right)",
                )
        return found if above is None else (yield self.raised(found, above, tree))

    def order_above(self, above: Tree | None) -> int | None:
        """Return n of a superscript (n): which derivative."""
        if isinstance(above, Bracket) and above.kind == "(" and len(above.items) == 1:
            inner = above.items[0]
            return int(inner.text) if isinstance(inner, NumberTree) and inner.text.isdecimal() else None
        return None

    def _scripted_letter(self, tree: Scripted) -> Steps[tuple[Term, bool]]:
        """Return a letter with its subscript and marks, and whether its superscript is one of the marks."""
        base, above = tree.base, tree.above
        order = self.order_above(above) if self.derives and not tree.primes else None
        if (
            order
            and not self.is_known(tree)
            and self.slope_of_name(self.with_primes(tree, order)) is not None
        ):
            return (yield self._primed(self.with_primes(tree, order))), True
        marked = self.is_mark(tree)
        bare = Scripted(tree.start, tree.end, base, tree.below, None, tree.primes, tree.below_text)
        if marked or (tree.above_text and self.is_known(tree) and not isinstance(above, NumberTree)):
            named = Scripted(
                tree.start, tree.end, base, tree.below, None, tree.primes, tree.below_text, tree.above_text
            )
            if marked or self.is_known(named):
                return (yield self.letter(named)), True
        return (yield self._below_letter(bare)), False

    def is_mark(self, tree: Scripted) -> bool:
        r"""Tell whether a superscript is part of the name: w^*, x^+, W^{(2)}."""
        above = tree.above
        if isinstance(above, Command) and above.name in (
            "star",
            "plus",
            "minus",
            "dagger",
            "perp",
            "parallel",
        ):
            return True
        if not tree.above_text or base_of(tree.base) is None:
            return False
        inside = self.source.text[above.start : above.end].strip("{} ") if above is not None else ""
        if isinstance(above, Word) and above.upright and len(above.text) > 1:
            word = base_of(tree.base)  # e^{\mathrm{logvar}} is a power, whatever the word is
            return not (self.is_known(above) or self.constant_here(above)) and not (
                word is not None and word.text == "e" and word is tree.base
            )
        return inside.startswith(("(", r"\left(")) and inside.endswith(")")

    def _below_letter(self, tree: Scripted) -> Steps[Term]:
        """Return a letter with a subscript: a name, or entries of an array."""
        base = tree.base
        known = self.name_here(tree)
        if known is not None:
            self._refuse_ambiguity(tree, known)
            return (yield self.letter(tree))
        if tree.primes:
            return (yield self._primed(tree))
        if tree.below is None and not tree.below_text:
            return (yield self.letter(base))
        partial = self._partial(tree) if self.derives else None
        if partial is not None:
            return partial
        parts = entry_name(tree)
        if parts is not None and isinstance(parts[0], Scripted) and self._is_array_name(parts[0], base):
            array = yield self.letter(parts[0])
            return (yield self.entry(array, replace(tree, base=parts[0], below=parts[1:])))
        name = self.name_here(base) or self._matrix_of_rows(tree)
        if name is not None and self.options["subscript"] == "entry":
            array = self.named(name, base)
            if array.node.shape:
                return (yield self.entry(array, tree))
            if any(self._reads_bound(item) for item in tree.below or ()):
                raise self.refuse(
                    f"'{name}' is a number and has no entries",
                    tree,
                    expected="an array before an index",
                    cure=f"declare it as an array: {name} : real[n]",
                    cls=ShapeError,
                )
        if name is None and any(self._reads_bound(item) for item in tree.below or ()):
            raise self.refuse(
                f"unknown name '{spelled_name(base)}'",
                tree,
                expected="a declared array before an index",
                cure=f"declare it: {spelled_name(base)} : real[n]",
                cls=UnknownNameError,
            )
        return (yield self.letter(tree))

    def _refuse_ambiguity(self, tree: Scripted, name: str) -> None:
        """Raise an error if a known name is also an entry of an array whose positions have numbers."""

    def _is_array_name(self, tree: Scripted, base: Tree) -> bool:
        """Tell whether a letter with the first parts of a subscript is an array, and the letter alone is none."""
        if not self.is_known(tree):
            return False
        name = self.name_here(base)
        rank = 0 if name is None else len(self.named(name, base).node.shape)
        words = [part for part in tree.below or () if isinstance(part, Word)]
        return rank <= len(tree.below or ()) or not all(map(self.is_known, words))

    def _matrix_of_rows(self, tree: Scripted) -> str | None:
        """Return the known matrix of which a letter with a bound index is a row: X for x_i, if nothing is called x."""
        word = base_of(tree.base)
        name = None if word is None else self.known.find(word.text.upper(), exact=True)
        if name is None or word is None or name == word.text or not tree.below:
            return None
        matrix = self.defined.get(name)
        if matrix is None or len(matrix.shape) != 2 or not any(self._reads_bound(i) for i in tree.below):
            return None
        rows = "a row" if len(self.index_trees(tree.below, 2)) == 1 else "an entry"
        self.read_as(tree, f"{rows} of {name}", f"a declaration of {word.text}")
        return name

    def _partial(self, tree: Scripted) -> Term | None:
        """Return the derivative that f_{xy} stands for: of the computed number f, by its inputs x and y.

        The result is None if f_{xy} is a name.
        """
        name = self.name_here(tree.base)
        value = None if name is None else self.defined.get(name)
        if value is None or not value.args or value.shape:
            return None
        inputs = {s.name: s for s in inputs_of(value)}
        by: list[tuple[Term, Tree]] = []
        for item in self.index_trees(tree.below or (), 0):
            known = self.name_here(item)
            if known is None or known not in inputs:
                return None
            by.append((Term(inputs[known], item.start, item.end), item))
        if not by:
            return None
        said = ", ".join(term.node.name for term, _ in by)
        self.read_as(tree, f"the derivative of {name} by {said}", 'subscript="name"')
        return self.differentiated(Term(value, tree.start, tree.end), by, tree)

    def differentiated(self, y: Term, by: Sequence[tuple[Term, Tree]], whole: Tree) -> Term:
        """Return a derivative."""
        raise NotImplementedError

    def _reads_bound(self, tree: Tree) -> bool:
        if isinstance(tree, Word):
            return tree.text in self.bound
        if isinstance(tree, ProductTree):
            return any(self._reads_bound(f) for f in tree.factors)
        if isinstance(tree, SumTree):
            return any(self._reads_bound(t) for t in tree.terms)
        return False

    def slope_of_name(self, tree: Scripted) -> Term | None:
        """Return the derivative that a name with primes stands for; None if the primes belong to the name."""
        raise NotImplementedError

    def without_primes(self, tree: Scripted) -> Tree:
        """Return a letter with its subscript, and without primes."""
        if tree.below is None and not tree.below_text:
            return tree.base
        return Scripted(tree.start, tree.end, tree.base, tree.below, None, 0, tree.below_text)

    def with_primes(self, tree: Scripted, count: int) -> Scripted:
        """Return a letter with its subscript and a number of primes, and nothing above it."""
        return Scripted(tree.start, tree.end, tree.base, tree.below, None, count, tree.below_text)

    def _primed(self, tree: Scripted) -> Steps[Term]:
        name = self.name_here(self.without_primes(tree)) if self.derives else None
        value = None if name is None else self.defined.get(name)
        x = None if value is None or not value.args else input_of(value)
        if value is not None and x is not None and self.options["prime"] != "name":
            self.read_as(tree, f"the derivative of {name} by {x.name}", 'prime="name"')
            by = [(Term(x, tree.start, tree.end), tree)] * tree.primes
            return self.differentiated(Term(value, tree.start, tree.end), by, tree)
        slope = None if self.options["prime"] == "name" else self.slope_of_name(tree)
        if slope is not None:
            return slope
        if self.options["prime"] == "name" or not self.strict:
            self.read_as(tree, f"the name {spelled_name(tree)}", "a definition of the function, f(x) = ...")
            return (yield self.letter(tree))
        raise self.refuse(
            f"nothing says by what {self.text_of(tree)} is differentiated",
            tree,
            expected="a defined function before the prime, and its argument after it",
            cure=f"write the argument, or declare a name: {spelled_name(tree)} : real",
            cls=UnknownNameError,
        )

    # --------------------------------------------------------------------------------------------------------- entries

    # ---------------------------------------------------------------------------------------------------------- powers

    def raised(self, base: Term, above: Tree, whole: Tree) -> Steps[Term]:
        """Return a power, a transpose or an inverse."""
        start, end = whole.start, whole.end
        if isinstance(above, Accent) and above.mark == "circ":
            return self.kept(self.raise_to(base, (yield self.value(above.body))))
        turned = self._turned(base, above, whole)
        if turned is not None:
            return turned
        if isinstance(above, Command) and above.name not in CONSTANTS:
            raise self.refuse(
                f"this mark above {self.text_of(base)} is no exponent",
                above,
                expected=r"a number, \top, or a mark on a name",
                cure="write what it stands for",
            )
        outer, self.in_exponent = self.in_exponent, True
        exponent = yield self.value(above)
        self.in_exponent = outer
        rank = len(base.node.shape)
        if isinstance(base, RowTerm):
            raise self.refuse(
                "a power of a transposed vector", whole, cure=r"write x^{\top} x", cls=ShapeError
            )
        if rank == 2 and not exponent.node.shape:
            power = exponent.node.value if exponent.node.is_number() else None
            if not isinstance(power, int):
                raise self.refuse(
                    f"a power of the matrix {self.text_of(base)} that is no whole number",
                    above,
                    expected=r"A^{2} for A A, A^{\circ p} for powers entry by entry",
                    cure=r"write A^{\circ p}, or the product that is meant",
                    cls=UnsupportedError,
                )
            if power == -1:
                return self.kept(self.build(matrices.inv, [base], start, end))
            return self.kept(self.build(matrices.matrix_power, [base], start, end, power))
        if rank > 2 and exponent.node.is_number(-1):
            self.read_as(whole, "the inverse of each matrix", r"x^{\circ -1} entry by entry")
            return self.kept(self.build(matrices.inv, [base], start, end))
        if rank == 1 and exponent.node.is_number(-1):
            raise self.refuse(
                f"{self.text_of(base)} is a vector and has no inverse",
                whole,
                cure=r"write x^{\circ -1} entry by entry",
                cls=ShapeError,
            )
        if rank and not exponent.node.shape:
            self.read_as(whole, "a power entry by entry", r"x^{\top} x for the product")
        if base.node is constant("E"):
            return self.kept(self.make(OPS["exp"], [exponent], start, end))
        return self.kept(self.make(OPS["pow"], [base, exponent], start, end))

    def _turned(self, base: Term, above: Tree, whole: Tree) -> Term | None:
        r"""Return the transpose for ^\top or ^T, of the inverse for ^{-\top}; None for any other exponent."""
        inverse = isinstance(above, SumTree) and len(above.terms) == 1 and above.signs == ("-",)
        mark = above.terms[0] if inverse and isinstance(above, SumTree) else above
        sign = isinstance(mark, Command) and mark.name in ("top", "intercal")
        letter = isinstance(mark, Word) and mark.text == "T"
        if not (sign or letter):
            return None
        shape = base.node.shape
        if letter and not shape:
            how = self.options["transpose"]
            if how == "never" or (how == "shape" and self.is_known(mark)):
                return None
            if how == "shape" and not self.strict:
                raise self.refuse(
                    f"{self.text_of(whole)}: a transpose, or a power?",
                    whole,
                    expected="declarations that tell whether the base is an array, or T a number",
                    cure=Cure(
                        'pass declarations, such as "x : real[n]" or "T : real", or transpose="never"',
                        command="--declare 'x : real[n]' or --declare 'T : real', or --read transpose=never",
                    ),
                )
        elif letter:
            if self.options["transpose"] == "never":
                return None
            self.read_as(whole, "a transpose", 'transpose="never"')
        return self.transpose(base, whole, inverse=inverse)

    def transpose(self, base: Term, whole: Tree, *, inverse: bool = False) -> Term:
        """Return the transpose of an array; for a vector, the row."""
        rank = len(base.node.shape)
        if inverse:
            base = self.kept(self.build(matrices.inv, [base], whole.start, whole.end))
        if rank < 2:
            kind = Term if isinstance(base, RowTerm) or not rank else RowTerm
            return kind(base.node, whole.start, whole.end)
        return self.kept(self.build(calls.matrix_transpose, [base], whole.start, whole.end))

    def size_here(self, term: Term, tree: Tree) -> Size:
        """Return a value as a size."""
        size = self.size_of(term.node)
        if size is None:
            raise self.refuse(
                f"{self.text_of(tree)} is no size of an axis",
                tree,
                expected="a whole number, or the name of a size: n of x : real[n]",
                cure="declare an array of that size",
            )
        return size
