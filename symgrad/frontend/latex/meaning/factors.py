r"""Factors side by side or with signs between them: products of numbers or matrices, entrywise products, quotients."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from functools import reduce
from itertools import takewhile

from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.latex.meaning.letters import RowTerm
from symgrad.frontend.latex.meaning.names import base_of
from symgrad.frontend.latex.meaning.special_letters import IdentityTerm, SpecialRules
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import Command, NumberTree, ProductTree, Root, Scripted, Tree, Word
from symgrad.frontend.latex.syntax.vocabulary import CONSTANTS, FUNCTIONS, GREEK
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.traverse import symbols_of
from symgrad.ops.array.layout import shape_text
from symgrad.ops.numpy import matrices, products
from symgrad.ops.numpy.calls import identity
from symgrad.support.errors import ProgramSyntaxError, ShapeError, UnknownFunctionError, UnsupportedError

_COMMAND_END = re.compile(r"\\[a-zA-Z]+\s*$")  # the blank behind \lambda is none
_Operands = list[tuple[str, Term]]


def is_function_name(text: str) -> bool:
    """Tell whether letters without a backslash are the name of a function: sin, ln, erf."""
    return text in FUNCTIONS or (len(text) > 2 and is_function(text) and text.isalpha())


class FactorRules(SpecialRules):
    """The rules for products."""

    def product(self, tree: ProductTree) -> Steps[Term]:
        """Return a product of factors in the order of the text."""
        joined = self._joined(tree)
        if joined is not None:
            return (yield self.value(joined))
        self._check_words(tree)
        if self.derives:
            tree = self._with_quotients(tree)
        operands: _Operands = []
        i = 0
        while i < len(tree.factors):
            factor, sign = tree.factors[i], tree.signs[i]
            after = tree.factors[i + 1] if i + 1 < len(tree.factors) and not tree.signs[i + 1] else None
            taken = yield self._operator(tree, i)
            if taken is not None:
                operands.append((sign, taken))
                break
            spelled = self.spelled_function(factor, after)
            if spelled is not None:
                found, i = yield self.application(spelled, tree, i)
                operands.append((sign, found))
                continue
            bracket = self.call_bracket(after)
            if bracket is not None and len(bracket.items) == 1 and self.combines_functions(factor):
                operands.append((sign, (yield self.combined_functions(factor, bracket, bracket.end))))
                i += 2
                continue
            special = yield self._special(factor, after)
            if special is not None:
                operands.append((sign, special[0]))
                i += special[1]
                continue
            moved = self._moved(factor, after) if self.derives and i + 1 < len(tree.factors) else None
            if moved is not None:
                operands.append((sign, moved))
                i += 2
                continue
            if after is not None and self._is_value_at(factor, after):
                operands.append((sign, (yield self.value(factor))))
                i += 2
                continue
            if after is not None:
                self.check_factor(factor, after, tree.adjacent[i + 1])
            base = factor.base if isinstance(factor, Scripted) else factor
            if isinstance(factor, Scripted) and isinstance(base, Command) and base.name not in CONSTANTS:
                raise self.refuse(
                    f"\\{base.name} is no value", base, "a number, a name or a function", "write a value"
                )
            operands.append((sign, (yield self.value(factor))))
            i += 1
        return self._combined(operands, self._letters_behind(tree))

    def _letters_behind(self, tree: ProductTree) -> set[int]:
        r"""Return where the letters begin that belong to a slash before them in papers: E/kT, x^2/2\sigma^2."""
        found: set[int] = set()
        for k, factor in enumerate(tree.factors[1:], 1):
            base = factor.base if isinstance(factor, Scripted) else factor
            before = tree.factors[k - 1]
            end = self.source.text[before.start : before.end]
            joined = tree.adjacent[k] or self.in_exponent or _COMMAND_END.search(end) is not None
            is_exponential = isinstance(factor, Scripted) and isinstance(base, Word) and base.text == "e"
            is_plain = isinstance(base, NumberTree | Root) or (
                base_of(factor) is not None and not is_exponential
            )
            if is_plain and (tree.signs[k] == "/" or (not tree.signs[k] and joined)):
                found.add(factor.start)
        return found

    def _check_words(self, tree: ProductTree) -> None:
        r"""Refuse sin x without its backslash: it would be a product of letters."""
        factors, k = tree.factors, 0
        while k < len(factors):
            end = k
            while end < len(factors) and self._is_letter(factors[end]) and (end == k or tree.adjacent[end]):
                end += 1
            run = factors[k:end]
            text = "".join(f.text for f in run if isinstance(f, Word))
            spelled = next((n for n in (text, text[:-1]) if is_function_name(n)), None)
            if spelled is not None and not all(self.is_known(f) for f in run[: len(spelled)]):
                command = (
                    f"\\{spelled}"
                    if spelled in {*FUNCTIONS, *GREEK, "sqrt"}
                    else rf"\operatorname{{{spelled}}}"
                )
                raise self.refuse(
                    f"'{spelled}' is no function in LaTeX: it is a product of the letters {', '.join(spelled)}",
                    Tree(run[0].start, run[len(spelled) - 1].end),
                    expected=command,
                    cure=f"write {command}, or spaces between letters that are names",
                    cls=UnknownFunctionError,
                )
            k = max(end, k + 1)

    def _is_letter(self, tree: Tree) -> bool:
        return isinstance(tree, Word) and len(tree.text) == 1 and not tree.style and tree.text.isalpha()

    def _joined(self, tree: ProductTree) -> Tree | None:
        """Return letters side by side that are one declared name; None if they are a product."""
        words = [f for f in tree.factors if isinstance(f, Word)]
        last = tree.factors[-1]
        scripted = isinstance(last, Scripted) and isinstance(last.base, Word)
        if len(words) + scripted != len(tree.factors) or len(tree.factors) < 2 or any(tree.signs):
            return None
        if not all(tree.adjacent[1:]) or any(
            w.style or not w.text.isascii() or len(w.text) > 1 for w in words
        ):
            return None
        inner = last.base if isinstance(last, Scripted) else None
        if isinstance(inner, Word) and len(inner.text) > 1:
            return None
        text = "".join(w.text for w in words) + (inner.text if isinstance(inner, Word) else "")
        word = Word(tree.start, words[-1].end if inner is None else inner.end, text)
        whole: Tree = word
        if isinstance(last, Scripted):
            whole = Scripted(
                tree.start,
                tree.end,
                word,
                last.below,
                last.above,
                last.primes,
                last.below_text,
                last.above_text,
            )
        known = self.known.find(text, exact=True) is not None
        apart = all(self.is_known(w) for w in words) and (inner is None or self.is_known(inner))
        if self.options["letters"] == "name" or (known and not apart):
            self.read_as(word, f"the name {text}", 'spaces between the letters, or letters="product"')
            return whole
        said = "*".join(text)
        self.read_as(word, said, f'letters="name", or a declaration of {text}')
        return None

    # ----------------------------------------------------------------------------------------- factors with arguments

    def _operator(self, tree: ProductTree, i: int) -> Steps[Term | None]:
        """Return a sum, a derivative or a gradient of the rest of the product; None for other factors."""
        factor = tree.factors[i]
        base = factor.base if isinstance(factor, Scripted) else factor
        rest = tree.factors[i + 1 :]
        body: Tree | None = None
        if rest:
            body = (
                rest[0]
                if len(rest) == 1
                else ProductTree(
                    rest[0].start, rest[-1].end, rest, ("", *tree.signs[i + 2 :]), tree.adjacent[i + 1 :]
                )
            )
        big = self._big_name(factor, base, rest)
        if big is not None:
            if body is None:
                raise self.refuse(
                    f"{self.text_of(factor)} of nothing",
                    factor,
                    "a value after it",
                    "write the formula to which it applies",
                )
            return (yield self.big(big, factor, body))
        written = self.derivative_of(factor)
        if written is not None and written.of is None:
            if body is None:
                raise self._of_nothing(factor)
            return (yield self.derivative(written, body, factor))
        operator = self._letter_operator(factor) if self.derives and body is not None else None
        if operator is not None and body is not None:
            return (yield self.derivative(operator, body, factor))
        nabla = (
            (2, ())
            if self.laplacian_of(factor, rest[0] if rest and not tree.signs[i + 1] else None)
            else self.nabla_of(factor)
        )
        if nabla is not None:
            if rest and tree.signs[i + 1] in ("cdot", "times"):
                raise self.refuse(
                    "a divergence or curl is not read",
                    factor,
                    expected=r"\nabla_w L",
                    cure=r"write the sum of the derivatives, \frac{\partial u}{\partial x}",
                    cls=UnsupportedError,
                )
            if body is None:
                raise self._of_nothing(factor)
            return (yield self.gradient(*nabla, body, factor))
        return None

    def laplacian_of(self, factor: Tree, after: Tree | None) -> bool:
        r"""Tell whether a factor is the sign of the Laplacian, \Delta; it is one only in derivations."""
        del factor, after
        return False

    def _of_nothing(self, tree: Tree) -> Exception:
        return self.refuse(
            f"{self.text_of(tree)} of nothing",
            tree,
            "the formula to differentiate, after it",
            "write it behind",
        )

    def _big_name(self, factor: Tree, base: Tree, rest: tuple[Tree, ...]) -> str | None:
        if isinstance(base, Command) and base.name in ("sum", "prod"):
            return base.name
        scripts = factor if isinstance(factor, Scripted) else None
        if scripts is None or not scripts.below or not rest:
            return None
        indexed = all(self._indexes(item) for item in scripts.below) and not isinstance(
            scripts.below[0], NumberTree
        )
        if isinstance(base, Command) and base.name in ("max", "min") and indexed:
            return base.name
        word = scripts.below[0]
        if (
            isinstance(base, Word)
            and base.text == "E"
            and base.style == "blackboard"
            and isinstance(word, Word)
        ):
            return "mean" if indexed and self._is_read(word, rest) else None
        return None

    def _indexes(self, tree: Tree) -> bool:
        return not isinstance(tree, Word | ProductTree) or not self.is_known(tree)

    def _is_read(self, word: Word, rest: tuple[Tree, ...]) -> bool:
        """Tell whether the value that an average is over has an index as a subscript."""
        below = (item for part in trees_in(rest) if isinstance(part, Scripted) for item in part.below or ())
        return any(self._names(item, word.text) for item in below)

    # ------------------------------------------------------------------------------------------- letters with a meaning

    # ----------------------------------------------------------------------------------------------------- combining

    def _combined(self, operands: _Operands, below: Container[int] = ()) -> Term:
        """Return operands with signs between them: side by side and / bind tighter than the other signs.

        Args:
            operands: these.
            below: where those begin that papers write below a slash.
        """
        chains: list[tuple[str, _Operands]] = []
        for sign, term in operands:
            if sign in ("", "/") and chains:
                chains[-1][1].append((sign, term))
            else:
                chains.append((sign, [("", term)]))
        found = self._side_by_side(chains[0][1], below)
        for sign, chain in chains[1:]:
            found = self._with_sign(sign, found, self._side_by_side(chain, below))
        return found

    def _side_by_side(self, chain: _Operands, letters: Container[int]) -> Term:
        scale, array = self._taken(None, None, chain[0][1])
        i = 1
        while i < len(chain):
            sign, term = chain[i]
            i += 1
            if sign == "":
                scale, array = self._taken(scale, array, term)
                continue
            above = self._scaled(scale, array)
            more = 0
            while i + more < len(chain) and not chain[i + more][0]:
                more += 1
            if more:
                behind = [t for _, t in chain[i - 1 : i + more]]
                count, option = self._count_below(above, behind, letters)
                below, rest = behind[:count], behind[count:]
                said, under = self.text_of(above), self.text_of(Tree(term.start, below[-1].end))
                meaning = f"({said})/({under})" if count > 1 else f"({said}/{under})"
                if rest:
                    meaning += f"*({self.text_of(Tree(rest[0].start, rest[-1].end))})"
                self.read_as(Tree(above.start, behind[-1].end), meaning, f'slash="{option}"')
                term = reduce(self.juxtaposed, below)
                i += count - 1
            scale, array = self._taken(None, None, self.quotient(above, term))
        return self._scaled(scale, array)

    def _count_below(self, above: Term, behind: Sequence[Term], letters: Container[int]) -> tuple[int, str]:
        """Return how many of the factors behind a slash stand below it, and the option for another number."""
        how = self.options["slash"]
        near = max(1, len([*takewhile(lambda t: t.start in letters, behind)]))
        numbers = not symbols_of([above.node]) and behind[0].node.is_number()  # 1/2 m v^2
        if how == "left" or (how == "papers" and numbers):
            return 1, "letters" if near > 1 and how == "papers" else "product"
        count = len(behind) if how == "product" else near
        return count, "left" if count > 1 else "product"

    def _taken(self, scale: Term | None, array: Term | None, term: Term) -> tuple[Term | None, Term | None]:
        """Return a product with one more factor. Numbers go in front, so that y w^T x multiplies no array by y."""
        if term.node.shape or isinstance(term, IdentityTerm):
            array = term if array is None else self.juxtaposed(array, term)
            if array.node.shape or isinstance(array, IdentityTerm):
                return scale, array
            term, array = array, None
        return (term if scale is None else self._times(scale, term)), array

    def _scaled(self, scale: Term | None, array: Term | None) -> Term:
        if scale is None or array is None:
            found = array if scale is None else scale
            assert found is not None
            return found
        return self.juxtaposed(scale, array)

    def quotient(self, a: Term, b: Term) -> Term:
        """Return a quotient; arrays are divided entry by entry."""
        found = self.kept(self.divide(a, b))
        return self._like(a, Term(found.node, a.start, b.end, found.literal))

    def _like(self, a: Term, found: Term) -> Term:
        return (
            RowTerm(found.node, found.start, found.end)
            if isinstance(a, RowTerm) and found.node.shape
            else found
        )

    def _times(self, a: Term, b: Term) -> Term:
        found = self.kept(self.multiply(a, b))
        kind = RowTerm if isinstance(a, RowTerm) or isinstance(b, RowTerm) else Term
        return kind(found.node, min(a.start, b.start), max(a.end, b.end), open=found.open)

    def juxtaposed(self, a: Term, b: Term) -> Term:
        """Return the product of two factors side by side: for matrices, the matrix product."""
        p, q = len(a.node.shape), len(b.node.shape)
        if isinstance(a, IdentityTerm) or isinstance(b, IdentityTerm):
            return self._with_identity(a, b)
        if not p or not q:
            return self._times(a, b)
        rows = isinstance(a, RowTerm), isinstance(b, RowTerm)
        if rows == (False, True):
            if p != 1:
                raise self._beside(a, b, "a matrix before a transposed vector", r"A x, or x^{\top} A")
            return self.kept(self.build(products.outer, [a, b], a.start, b.end))
        if rows == (True, True):
            raise self._beside(a, b, "two transposed vectors side by side", r"x^{\top} y, or x y^{\top}")
        if rows == (True, False):
            found = self.kept(self.build(products.matmul, [Term(a.node, a.start, a.end), b], a.start, b.end))
            return RowTerm(found.node, found.start, found.end) if q == 2 else found
        if p == q == 1:
            raise self._beside(
                a, b, "two column vectors side by side", r"x^{\top} y, x \odot y, or x y^{\top}"
            )
        if p == 1:
            raise self._beside(a, b, "a column before a matrix", r"x^{\top} A, or A x")
        return self.kept(self.build(products.matmul, [a, b], a.start, b.end))

    def _beside(self, a: Term, b: Term, what: str, instead: str) -> Exception:
        shapes = ", ".join(f"{self.quote(t)} of shape {shape_text(t.node.shape)}" for t in (a, b))
        spot = Tree(a.start, b.end)
        return self.refuse(f"{what}: {shapes}", spot, instead, f"write {instead}", cls=ShapeError)

    def _with_identity(self, a: Term, b: Term) -> Term:
        one, other = (a, b) if isinstance(a, IdentityTerm) else (b, a)
        if other.node.shape:
            return (
                self._times(Term(one.node, one.start, one.end), other) if not one.node.is_number(1) else other
            )
        scaled = other if one.node.is_number(1) else self._times(other, Term(one.node, one.start, one.end))
        return IdentityTerm(scaled.node, a.start, b.end)

    def _with_sign(self, sign: str, a: Term, b: Term) -> Term:
        p, q = len(a.node.shape), len(b.node.shape)
        if sign == "mod":
            return self.kept(self.remainder(a, b))
        if sign == "otimes":
            build = matrices.kron if p == q == 2 else products.outer
            return self.kept(self.build(build, [a, b], a.start, b.end))
        if isinstance(a, IdentityTerm) or isinstance(b, IdentityTerm):
            if sign == "odot":
                other = b if isinstance(a, IdentityTerm) else a
                one = a if isinstance(a, IdentityTerm) else b
                assert isinstance(one, IdentityTerm)
                return self._times(other, self.sized_identity(one, other))
            return self._with_identity(a, b)
        if sign == "odot" or not p or not q:
            return self._times(a, b)
        if sign == "times":
            raise self.refuse(
                r"\times between two arrays",
                Tree(a.start, b.end),
                expected=r"x^{\top} y, x \odot y or x y^{\top}",
                cure=r"write \odot for the product entry by entry; the cross product entry by entry",
                cls=UnsupportedError,
            )
        if p == q == 1:
            self.read_as(
                Word(a.start, b.end, ""), "the inner product", r"\odot for the product entry by entry"
            )
            plain = [Term(t.node, t.start, t.end) for t in (a, b)]
            return self.kept(self.build(products.dot, plain, a.start, b.end))
        return self.juxtaposed(a, b)

    def sized_identity(self, one: IdentityTerm, beside: Term) -> Term:
        """Return an identity matrix of the size of the matrix to which it is added."""
        shape = beside.node.shape
        if len(shape) != 2:
            raise self.refuse(
                "nothing says the size of the identity matrix",
                Tree(one.start, one.end),
                expected="a matrix that it is added to, or its size",
                cure="write I_{n}",
                cls=ShapeError if shape else ProgramSyntaxError,
            )
        eye = self.kept(self.build(lambda: identity(shape[0]), [], one.start, one.end))
        return eye if one.node.is_number(1) else self._times(Term(one.node, one.start, one.end), eye)
