r"""Conditions, choices between values, and matrices of values."""

from __future__ import annotations

from symgrad.frontend.latex.meaning.letters import RowTerm
from symgrad.frontend.latex.meaning.norms import NormRules
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import Cases, Chain, Logic, MatrixTree, Negation, Tree
from symgrad.frontend.tokens.terms import ItemList, Term
from symgrad.ir.graph import OPS, as_condition
from symgrad.ops.numpy import matrices
from symgrad.support.errors import DomainError, UnsupportedError

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
