"""Steps of recurrences in the names that a program gives their values and parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from symgrad.autodiff.recurrences import StepArrays, recur
from symgrad.autodiff.rows.formulas import Rows, array_of_row, row_at, row_symbol, summand
from symgrad.ir.body import Body, StepNotation, bound_symbol, divide
from symgrad.ir.graph import SYMBOL, Node, as_node, symbol
from symgrad.ir.notation.printer import expression_text, parts_named
from symgrad.ir.notation.recurrence_names import RecurrenceNames
from symgrad.ir.notation.recurrences import (
    CarryName,
    has_recurrences,
    is_recurrence,
    names_in_step,
    recurrence_of,
    separate_rows,
    summed,
)
from symgrad.ir.sizes import Size, bare_size, size_sum
from symgrad.ir.traverse import fold, readers, signed_terms, substitute, topological, with_args
from symgrad.ir.types import Declaration
from symgrad.ops.array.indexing import gather, iota
from symgrad.ops.array.layout import broadcast_to, expand, slice_rows
from symgrad.ops.scalar.arith import add, neg
from symgrad.ops.scalar.elementary import sigmoid
from symgrad.ops.scalar.hyperbolic import sech, tanh
from symgrad.pretty.forms.factor_out import factors_of, quotient_of
from symgrad.pretty.forms.matrices import with_dots
from symgrad.pretty.forms.products_and_sums import with_part
from symgrad.pretty.forms.term_order import order_terms, terms_in
from symgrad.pretty.limits import STEP_CHARACTERS
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical

_LETTER = "t"


class StepForms:
    """Finds short forms of steps, given the names of a program.

    Where S = sigmoid(u) is such a part, sigmoid(-u) is 1 - S, and where h[t] = tanh(u), sech(u)**2 is 1 - h[t]**2.

    Args:
        names: the names of the program, with their symbols.
        bodies: what these symbols stand for.
        steps: how the program writes the steps of recurrences.
        best: a function that returns the shortest form of a formula.
        length: a function that returns the number of characters of a formula.
    """

    def __init__(
        self,
        names: Mapping[str, Node],
        bodies: Mapping[Node, Node],
        steps: Mapping[Body, StepNotation],
        best: Callable[[Node], Node],
        length: Callable[[Node], int],
    ) -> None:
        called = RecurrenceNames({*names}, [(name.name, body) for name, body in bodies.items()], steps)
        self._best, self._length = best, length
        self._parts = called.formulas(expression_text, _LETTER)
        self._values = called.values(expression_text, _LETTER)
        self._arrays = names
        written = topological([*self._parts, *self._values])
        self._sums = {_terms(n): n for n in reversed(written) if n.op is add}
        self._canonical: dict[Node, Node] | None = None

    def shortest(
        self, steps: StepArrays, results: Sequence[Node], rows: dict[Node, Node]
    ) -> tuple[Sequence[Node], dict[Node, Node]]:
        """Return short forms of the formulas of a step, and the arrays of the rows that they read."""
        is_sum = summed(steps.node) is not None
        apart = is_sum or separate_rows(steps.node) is not None
        own = [CarryName("__total" if apart else f"__carry{k}") for k in range(len(results))]
        others: list[Node] = []

        def text(array: Node) -> str:
            found = recurrence_of(array)
            if found is None:
                return expression_text(array)
            if found[0] not in others:
                others.append(found[0])
            # A sum gets the form of the step whose values it reads.
            number = others.index(found[0]) + (not apart)
            return f"__carry{found[1]}" + (f"_{number}" if number else "")

        names = names_in_step(steps.node, own, text, _LETTER)
        names = {s: x for s, x in names.items() if s not in steps.constants()}
        named = substitute(results, names)
        total = None
        if is_sum:  # the terms alone get a short form
            total = names[steps.body.carries[0]]
            (terms,) = [a for a in named[0].args if a is not total]
            named = self._with_parts(terms, steps)
        elif apart:
            named = self._with_parts(named[0], steps)
        meant = {x: s for s, x in names.items() if x.op is SYMBOL}
        rows = dict(rows)
        known: dict[Node, Node] = {}
        read = {*topological(named)}
        for formula, value in self._values.items():
            array = self._rows_of(value.loop, value.name, steps)
            shown = formula, value.place, *_equal_formulas(formula, value.place)
            if array is not None and not read.isdisjoint(shown):
                known[formula] = value.place
                if value.place not in meant:
                    meant[value.place] = row_symbol(array, rows, steps.body.height)
        parts: dict[Node, Node] = {}
        for formula, name in self._parts.items():
            part = symbol(Declaration(name, shape=formula.shape))
            if formula in read and part not in parts:
                parts[part] = formula
                known[formula] = part
        found = [self._best(r) for r in named]
        told = {x: f for formula, s in known.items() for x, f in _equal_formulas(formula, s).items()}
        over = substitute(named, {**told, **known})
        for formula, name in self._parts.items():  # M@c is no node of x@M@c
            part = known.get(formula) or symbol(Declaration(name, shape=formula.shape))
            (inside,) = canonical([with_args(formula, substitute(formula.args, known))]).nodes
            shorter = with_part(over, inside, part)
            if shorter != over:
                over, parts[part], known[formula] = shorter, formula, part
        if known:
            short = [self._best(r) for r in over]
            if sum(map(self._length, short)) <= sum(map(self._length, found)):
                found = short
        if _length(found) > STEP_CHARACTERS:
            found = min(found, self._by_parts(over), key=_length)
        differences = {terms_in(e) for e in told.values()}  # 1 - S and 1 - h[t]**2
        if differences:
            found = [order_terms(f, Conditions(), differences) for f in found]
        found = substitute([self._in_program_order(with_dots(f)) for f in found], parts)
        if total is not None:
            found = [total + found[0]]
        return substitute(found, meant), rows

    def _in_program_order(self, formula: Node) -> Node:
        """Return a formula whose sums have their terms in the order of the program where it has the same sums."""

        def rebuilt(node: Node, args: list[Node]) -> Node:
            node = with_args(node, args)
            return self._sums.get(_terms(node), node) if node.op is add else node

        return fold([formula], rebuilt)[formula]

    def _by_parts(self, formulas: Sequence[Node]) -> list[Node]:
        """Return formulas whose common parts have short forms of their own."""
        named = parts_named(formulas, {}, ())
        marks = {n: symbol(Declaration(f"__{name}", shape=n.shape)) for n, name in named.items()}
        meant: dict[Node, Node] = {}
        for node, mark in marks.items():
            (body,) = substitute([node], {n: m for n, m in marks.items() if n is not node})
            (meant[mark],) = substitute([self._best(body)], meant)
        return substitute([self._best(f) for f in substitute(formulas, marks)], meant)

    def _with_parts(self, terms: Node, steps: StepArrays) -> list[Node]:
        """Return terms of a sum, which are simplified, with the formulas of the program where they are parts."""
        if self._canonical is None:
            named = {f: v.place for f, v in self._values.items()} | {f: f for f in self._parts}
            named |= {x: e for f, s in named.items() for x, e in _equal_formulas(f, s).items()}
            signed = {**named, **{neg(x): neg(e) for x, e in named.items()}}
            keys = map(_with_rows_of_one, canonical(list(signed)).nodes)
            self._canonical = dict(zip(keys, signed.values(), strict=True))
        far = {v.place for v in self._values.values() if self._rows_of(v.loop, v.name, steps) is None}
        known = {x: e for x, e in self._canonical.items() if x.args and far.isdisjoint(topological([e]))}
        return substitute([_with_rows_of_one(n) for n in canonical([terms]).nodes], known)

    def with_sums(self, results: Sequence[Node]) -> list[Node]:
        """Return formulas with sums over steps as the last value of a recurrence that adds the terms."""
        order = topological(results)
        lengths = dict.fromkeys(n.params[0] for n in order if is_recurrence(n))
        over = {n for n in order if is_recurrence(n)}
        for node in order:
            if not over.isdisjoint(node.args):
                over.add(node)
        table: dict[Node, Node] = {}
        pending = [*results]
        while pending:
            node = pending.pop()
            if node in over and node not in table and not is_recurrence(node):
                sums = (_sum_in_steps(node, length) for length in lengths)
                found = next((s for s in sums if s is not None), None)
                if found is None:
                    pending += node.args
                else:
                    table[node] = found
        return substitute(results, table)

    def in_steps(self, results: Sequence[Node]) -> list[Node]:
        """Return formulas with sums over steps, and arrays with a row for each step, as values of recurrences."""
        return [self.with_rows(r) or r for r in self.with_sums(results)]

    def with_rows(self, result: Node) -> Node | None:
        """Return an array with a row for each step, and perhaps one at an end, as values of a recurrence.

        The result is None for other arrays.
        """
        loops = [n for n in topological([result]) if is_recurrence(n)]
        length = next((n.params[0] for n in loops if (n.params[0],) == result.shape[:1]), None)
        if length is not None:
            values = _values_of_rows(as_node(0), result, length)
            return values and slice_rows(values, 1, None)
        for loop in loops if result.shape else ():
            if result.shape[0] != size_sum([bare_size(loop.params[0]), 1]):
                continue
            for reverse in (
                True,
                False,
            ):  # x_bar[0], and the rows from 1 on, or the last row and those before
                end, rows, others = StepArrays(loop, reverse=reverse).divided(result)
                values = (
                    _values_of_rows(end, rows, loop.params[0], reverse=not reverse)
                    if rows is not None and others is None and _SCATTERED.isdisjoint(_ops([end, rows]))
                    else None
                )
                if values is not None:
                    return with_rows(values, result.shape[0])
        return None

    def _rows_of(self, loop: Node, name: str, steps: StepArrays) -> Node | None:
        """Return the values that the steps of a recurrence of the program compute, if it has as many steps."""
        values = self._arrays.get(name)
        other = StepArrays(loop)
        if values is None or other.length != steps.length or values.shape[0] != loop.shape[0]:
            return None
        return other.after(values)


_SCATTERED = frozenset(("scatter_add", "unslice"))


def _ops(nodes: Sequence[Node]) -> set[str]:
    """Return the names of the ops in formulas, without those in first values and rows of recurrences."""
    order = topological(nodes)
    return {n.op.name for n in topological(nodes, until={n for n in order if is_recurrence(n)})}


def _values_of_rows(start: Node, array: Node, length: Size, *, reverse: bool = False) -> Node | None:
    """Return an array, and a value before its first row, as a recurrence; None if no steps say more than the array."""
    rows = Rows(length, 1, {})
    before = bound_symbol("row", 0, 1, array.shape[1:])
    row = rows.of(array)
    if row.op is SYMBOL:  # h_bar[1:] says as much
        return None
    (values,) = recur([start], [before], [row], rows.arrays, length, reverse=reverse)
    # A step cannot read all values of the recurrence whose values it computes.
    return None if not is_recurrence(values) or has_recurrences(divide(values)[2]) else values


def with_rows(values: Node, length: Size) -> Node:
    """Return the values of a recurrence as an array with so many rows: max(T - 1, 0) + 1 are T if there is any."""
    if values.shape[0] == length:
        return values
    return gather(values, iota(params=(length,)), params=((0,),))


def with_factored_sums(node: Node) -> Node:
    """Return a formula whose sums over steps have no factors that are the same in all steps: these stand before."""
    return fold([node], _with_factors_outside)[node]


def _with_factors_outside(node: Node, args: list[Node]) -> Node:
    node = with_args(node, args)
    loop = next((x for a in args for x in (a, *a.args[:1]) if is_recurrence(x)), None)
    terms = None if loop is None or array_of_row(node, loop.params[0]) is not loop else summed(loop)
    if loop is None or terms is None:
        return node
    steps = StepArrays(loop)
    (terms,) = substitute([terms], steps.constants())
    sign, above, below = factors_of(terms)
    varying = {*readers(topological([terms]), steps.body.rows)}
    rest = [[f for f in some if f in varying] for some in (above, below)]
    same = [[f for f in some if f not in varying] for some in (above, below)]
    if not any(rest) or (sign > 0 and not any(same)):
        return node
    term = quotient_of(1, *rest)
    before = bound_symbol("sum", 0, steps.body.height, term.shape)
    rows = dict(zip(steps.body.rows, steps.rows, strict=True))
    (values,) = recur([as_node(0)], [before], [before + term], rows, steps.length)
    return quotient_of(sign, [*same[0], row_at(values, steps.length)], same[1])


def _with_rows_of_one(node: Node) -> Node:
    """Return a formula in which x[1:], if it is one entry, and an array of the entry x[1] are one form."""

    def rebuilt(n: Node, args: list[Node]) -> Node:
        if n.op is broadcast_to and n.shape == (1, *n.args[0].shape):
            return expand(args[0], [0])
        return with_args(n, args)

    return fold([node], rebuilt)[node]


def _terms(total: Node) -> frozenset[tuple[tuple[int, Node], int]]:
    """Return the terms of a sum with their signs and how often each stands there."""
    return frozenset(Counter(signed_terms(total)).items())


def _length(formulas: Sequence[Node]) -> int:
    """Return the number of characters of formulas with names for common parts."""
    named = parts_named(formulas, {}, ())
    return sum(len(expression_text(f, named, expand=True)) for f in dict.fromkeys([*named, *formulas]))


def _sum_in_steps(total: Node, length: Size) -> Node | None:
    """Return a sum over the first axis of arrays as the last value of a recurrence, which may have other terms, too.

    The result is None if it is no such sum.
    """
    terms = summand(total, length)
    if terms is None:
        parts = [neg(term) if sign < 0 else term for sign, term in signed_terms(total)]
        sums = [part for part in parts if summand(part, length) is not None]
        found = _sum_in_steps(reduce(add, sums), length) if 1 < len(sums) < len(parts) else None
        return found and reduce(add, (p for p in parts if p not in sums), found)
    rows = Rows(length, 1, {})
    before = bound_symbol("sum", 0, 1, total.shape)
    (values,) = recur([as_node(0)], [before], [before + rows.of(terms)], rows.arrays, length)
    return row_at(values, length)


def _equal_formulas(formula: Node, name: Node) -> Mapping[Node, Node]:
    """Return formulas that the value of a formula determines, in terms of a name for it."""
    if formula.op is tanh:
        return {sech(formula.args[0]) ** 2: 1 - name**2}
    return {sigmoid(neg(formula.args[0])): 1 - name} if formula.op is sigmoid else {}
