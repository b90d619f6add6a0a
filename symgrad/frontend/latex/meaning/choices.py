r"""Brackets and norms, conditions, choices between values, and matrices of values."""

from __future__ import annotations

from symgrad.frontend.latex.meaning.factors import FactorRules
from symgrad.frontend.latex.meaning.letters import RowTerm
from symgrad.frontend.latex.meaning.special_letters import IdentityTerm
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Bracket,
    Cases,
    Chain,
    Command,
    Logic,
    MatrixTree,
    Negation,
    NumberTree,
    Scripted,
    Tree,
)
from symgrad.frontend.tokens.terms import ItemList, Term
from symgrad.ir.graph import OPS, as_condition
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import matrices, products
from symgrad.support.errors import DomainError, UnsupportedError


class NormRules(FactorRules):
    """The rules for brackets."""

    def _bracket(self, tree: Bracket) -> Steps[Term]:
        kind, items = tree.kind, list(tree.items)
        if kind == "⟨":
            return (yield self._inner_product(tree))
        if kind == "‖":
            return (yield self._norm(tree, None))
        if len(items) > 1:
            return (yield self._tuple(tree))
        inner = yield self.value(items[0])
        start, end = tree.start, tree.end
        if kind == "|":
            return self._bars(inner, tree)
        if kind in ("⌊", "⌈"):
            return self.call_of("floor" if kind == "⌊" else "ceil", [inner], start, end)
        kept = type(inner) if isinstance(inner, RowTerm | IdentityTerm) else Term
        return kept(inner.node, start, end, inner.literal and kind == "{}")

    def _tuple(self, tree: Bracket) -> Steps[Term]:
        """Return the array of values in brackets, or 0, 1, ..., n - 1."""
        if "|" in tree.separators:
            raise self.refuse(
                "a bar between values", tree, "one value in brackets", "write the density as a formula"
            )
        if (
            len(tree.items) == 3
            and isinstance(tree.items[1], Command)
            and tree.items[1].name in ("ldots", "dots")
        ):
            last = tree.items[2]
            count = self.size_here(self.add((yield self.value(last)), self.parameter(1, last)), last)
            if not isinstance(tree.items[0], NumberTree) or tree.items[0].text != "0":
                raise self.refuse(
                    "a list that does not begin with 0", tree, r"(0, \ldots, n - 1)", "add a number"
                )
            return self.kept(self.build(lambda: build.arange(count), [], tree.start, tree.end))
        values = yield self.values(tree.items)
        rank = max(len(v.node.shape) for v in values)
        if rank:
            raise self.refuse(
                "a list of arrays is not a value", tree, "numbers", r"write \operatorname{concatenate}(a, b)"
            )
        return self.call_of(
            "stack", [ItemList(tuple(values), tree.start, tree.end, False)], tree.start, tree.end
        )

    def _bars(self, inner: Term, tree: Bracket) -> Term:
        rank = len(inner.node.shape)
        if rank and self.options["bars"] == "norm":
            if rank == 2:
                return self.kept(self.build(matrices.det, [inner], tree.start, tree.end))
            return self.kept(self.build(build.vector_norm, [inner], tree.start, tree.end))
        if rank:
            self.read_as(tree, "absolute values, entry by entry", 'bars="norm"')
        return self.call_of("abs", [inner], tree.start, tree.end)

    def _inner_product(self, tree: Bracket) -> Steps[Term]:
        if len(tree.items) != 2:
            raise self.refuse(
                f"\\langle \\rangle around {len(tree.items)} value{'s' * (len(tree.items) != 1)}",
                tree,
                expected=r"two: \langle x, y \rangle",
                cure="write a mean or an inner product out",
            )
        a, b = (yield self.value(tree.items[0])), (yield self.value(tree.items[1]))
        if len(a.node.shape) == len(b.node.shape) == 1:
            return self.kept(self.build(products.dot, [a, b], tree.start, tree.end))
        both = self._times(Term(a.node, a.start, a.end), Term(b.node, b.start, b.end))
        return (
            both if not both.node.shape else self.kept(self.build(build.total, [both], tree.start, tree.end))
        )

    def _norm(self, bracket: Bracket, scripts: Scripted | None) -> Steps[Term]:
        r"""Return \|x\|, \|x\|_1, \|x\|_2^2, \|A\|_F, \|x\|_A^2."""
        inner = yield self.value(bracket.items[0])
        if len(bracket.items) > 1:
            raise self.refuse("a norm of several values", bracket, "one value", "write one value")
        tree: Tree = scripts or bracket
        rank = len(inner.node.shape)
        below = scripts.below if scripts is not None else None
        text = scripts.below_text if scripts is not None else ""
        plain = Term(inner.node, inner.start, inner.end)
        squared = scripts is not None and isinstance(scripts.above, NumberTree) and scripts.above.text == "2"
        if text.startswith("axis"):
            norm = self.kept(
                self.build(build.vector_norm, [plain], tree.start, tree.end, None, int(text[4:].strip("_")))
            )
        elif not rank:
            norm = self.call_of("abs", [plain], tree.start, tree.end)
        elif below is None or text in ("2", "F"):
            if rank == 2 and text == "2":
                raise self.refuse(
                    "the spectral norm of a matrix",
                    tree,
                    expected=r"\|A\|_F for the root of the sum of squares",
                    cure="write the Frobenius norm, or pass the largest singular value as an input",
                    cls=UnsupportedError,
                )
            if rank == 2 and below is None:
                self.read_as(tree, "the Frobenius norm", r"a norm of your own, written out")
            if squared:  # this is a sum of squares, without the kink of the root
                two = self.parameter(2, tree)
                squares = self.kept(self.make(OPS["pow"], [plain, two], tree.start, tree.end))
                return self.kept(self.build(build.total, [squares], tree.start, tree.end))
            norm = self.kept(self.build(build.vector_norm, [plain], tree.start, tree.end))
        else:
            norm = yield self._norm_of_order(plain, below[0], tree, squared=squared)
            if norm is None:
                raise self.refuse(
                    "this norm", tree, r"\|x\|_1, \|x\|_2, \|x\|_\infty, \|A\|_F", "write it out"
                )
            if squared and self._is_quadratic(below[0]):
                return norm
        if scripts is None or scripts.above is None:
            return norm
        return (yield self.raised(norm, scripts.above, scripts))

    def _is_quadratic(self, below: Tree) -> bool:
        name = self.name_here(below)
        return name is not None and name in self.defined and len(self.defined[name].shape) == 2

    def _norm_of_order(self, x: Term, below: Tree, tree: Tree, *, squared: bool) -> Steps[Term | None]:
        rank = len(x.node.shape)
        size = self.call_of("abs", [x], tree.start, tree.end)
        if isinstance(below, Command) and below.name == "infty":
            if rank == 1:
                return self.call_of("max", [size], tree.start, tree.end)
        elif isinstance(below, NumberTree) and below.text == "1":
            if rank == 1:
                return self.call_of("sum", [size], tree.start, tree.end)
        elif rank == 1:
            order = yield self.value(below)
            if len(order.node.shape) == 2:
                self.read_as(tree, "x^T A x under a root", "a norm of your own, written out")
                row = RowTerm(x.node, x.start, x.end)
                square = self.juxtaposed(self.juxtaposed(row, order), x)
                return (
                    square if squared else self.kept(self.make(OPS["sqrt"], [square], tree.start, tree.end))
                )
            if not order.node.shape:
                powers = self.kept(self.make(OPS["pow"], [size, order], tree.start, tree.end))
                total = self.call_of("sum", [powers], tree.start, tree.end)
                root = self.divide(self.parameter(1, below), order)
                return self.kept(self.make(OPS["pow"], [total, root], tree.start, tree.end))
        return None


_COMPARED = {"=": "eq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "!=": "ne"}

NO_CONDITIONS = {
    "approx": ("an approximate equation", "write = for what holds exactly"),
    "propto": ("a proportion", "write the factor, and ="),
    "sim": ("what a name is drawn from", "declare it: u ~ Normal(0, 1)"),
    "in": ("a set", "declare what is in it: x : real[n]"),
    "to": ("a limit or a map", "write the value alone"),
    "implies": ("a conclusion", "write one formula"),
    "iff": ("a conclusion", "write one formula"),
    "ll": ("an order of magnitude", "write <"),
    "gg": ("an order of magnitude", "write >"),
}


class ChoiceRules(NormRules):
    """The rules for conditions and for rows."""

    def _chain(self, tree: Chain) -> Steps[Term]:
        sides = yield self.values(tree.sides)
        result: Term | None = None
        for relation, a, b in zip(tree.relations, sides, sides[1:], strict=False):
            op = _COMPARED.get(relation)
            if op is None:
                what, cure = NO_CONDITIONS.get(relation, ("this relation", "write a comparison"))
                raise self.refuse(f"{what} is no condition", tree, "a comparison such as x > 0", cure)
            one = self.kept(self.make(OPS[op], [a, b], a.start, b.end))
            result = one if result is None else self.make(OPS["and_"], [result, one], tree.start, b.end)
        assert result is not None
        return self.kept(result)

    def _condition(self, term: Term) -> Term:
        if as_condition(term.node) is None:
            raise self.refuse(
                "a number stands where a condition is expected",
                Tree(term.start, term.end),
                expected="a comparison such as x > 0",
                cure="compare it with something",
                cls=DomainError,
            )
        return term

    def _logic(self, tree: Logic) -> Steps[Term]:
        result: Term | None = None
        for part in tree.parts:
            term = self._condition((yield self.value(part)))
            result = term if result is None else self.make(OPS[tree.op], [result, term], tree.start, term.end)
        assert result is not None
        return self.kept(result)

    def _negation(self, tree: Negation) -> Steps[Term]:
        body = self._condition((yield self.value(tree.body)))
        return self.kept(self.make(OPS["not_"], [body], tree.start, tree.end))

    def _cases(self, tree: Cases) -> Steps[Term]:
        rows: list[tuple[Term, Term | None]] = []
        for value, condition in tree.rows:
            term = yield self.value(value)
            rows.append((term, None if condition is None else self._condition((yield self.value(condition)))))
        (last, rest), *others = rows[::-1]
        if rest is not None and len(rows) > 1:
            self.read_as(tree, "cases of which the last holds otherwise", r"\text{otherwise} in the last row")
        elif rest is not None:
            raise self.refuse(
                "cases with one row do not say what holds otherwise",
                tree,
                expected=r"a last row with \text{otherwise}",
                cure="add the other value",
            )
        if any(c is None for _, c in others):
            raise self.refuse(
                "a row without a condition is not the last one",
                tree,
                expected=r"value & \text{if } condition",
                cure="write its condition",
            )
        result = last
        for value, condition in others:
            assert condition is not None
            result = self.kept(self.make(OPS["where"], [condition, value, result], tree.start, tree.end))
        return Term(result.node, tree.start, tree.end)

    def _matrix(self, tree: MatrixTree) -> Steps[Term]:
        rows: list[ItemList] = []
        for row in tree.rows:
            values: list[Term] = []
            for entry in row:
                term = yield self.value(entry)
                if term.node.shape:
                    raise self.refuse(
                        "a block matrix",
                        entry,
                        expected="numbers as entries",
                        cure="write it entry by entry",
                        cls=UnsupportedError,
                    )
                values.append(term)
            rows.append(ItemList(tuple(values), tree.start, tree.end, True))
        if len(rows[0].values) == 1:
            column = ItemList(tuple(r.values[0] for r in rows), tree.start, tree.end, True)
            return self.call_of("array", [column], tree.start, tree.end)
        if len(rows) == 1:
            found = self.call_of("array", [rows[0]], tree.start, tree.end)
            return RowTerm(found.node, tree.start, tree.end)
        found = self.call_of(
            "array", [ItemList(tuple(rows), tree.start, tree.end, True)], tree.start, tree.end
        )
        return self.kept(self.build(matrices.det, [found], tree.start, tree.end)) if tree.bars else found
