r"""Big operators: \sum_{i=1}^{n}, \prod, \max_i, a mean over an index, and the ranges of their indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.autodiff.batch import batch
from symgrad.frontend.indices import array_over_indices, index_length, index_symbol
from symgrad.frontend.latex.meaning.functions.function_arguments import ApplicationRules
from symgrad.frontend.latex.meaning.letters import BoundIndex
from symgrad.frontend.latex.meaning.names import spelled_name
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Chain,
    Command,
    NumberTree,
    ProductTree,
    Scripted,
    SumTree,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.words import parts_of
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.graph import OPS, Node, number
from symgrad.ir.sizes import Extent, Size, names_of, nonnegative, size_max, size_product, size_sum
from symgrad.ir.traverse import topological
from symgrad.ops.array.indexing import iota
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy.subscripts import index
from symgrad.support.errors import DomainError, ShapeError, SymgradError, UnsupportedError
from symgrad.support.source import Span


@dataclass(slots=True)
class _Range:
    """An index and its limits: the first value, and the number of values; None for as many as the arrays have."""

    word: Word
    node: Node
    start: int
    first: int
    length: Size | None


class BigRules(ApplicationRules):
    """The rules for big operators."""

    def big(self, name: str, tree: Tree, body: Tree) -> Steps[Term]:
        r"""Return a reduction over the indices below an operator.

        Args:
            name: sum, prod, max, min or mean.
            tree: the operator with its limits.
            body: the formula after the operator.
        """
        scripts = tree if isinstance(tree, Scripted) else Scripted(tree.start, tree.end, tree)
        end = body.end
        if scripts.below is None:
            value = yield self.value(body)
            if not value.node.shape:
                raise self.refuse(
                    f"{self.text_of(tree)} over nothing",
                    tree,
                    expected=r"an index below, \sum_{i}, or an array after it",
                    cure="write the index below the sign",
                )
            return self._reduced(name, value, [], [], tree, end)
        if name in ("max", "min") and all(isinstance(b, NumberTree) for b in scripts.below):
            raise self.refuse(
                f"{self.text_of(tree)} without its brackets", tree, cure="write brackets around its argument"
            )
        ranges, conditions = yield self._ranges(scripts)
        outer = self.bound
        here = {r.word.text: BoundIndex(r.node, r.start, r.first, r.length) for r in ranges}
        self.bound = {**outer, **here}
        value = yield self.value(body)
        masks = yield self.values(conditions)
        self.bound = outer
        return self._reduced(name, value, ranges, masks, tree, end)

    def _reduced(
        self, name: str, value: Term, ranges: Sequence[_Range], masks: Sequence[Term], tree: Tree, end: int
    ) -> Term:
        neutral = {"sum": 0, "prod": 1}.get(name)
        for mask in masks:
            if neutral is None:
                raise self.refuse(
                    f"a condition below \\{name}", tree, "an index alone", f"write {name} of where(...)"
                )
            nothing = Term(number(neutral), mask.start, mask.end)
            value = self.kept(self.make(OPS["where"], [mask, value, nothing], tree.start, end))

        def reduce(node: Node) -> Node:
            for r in reversed(ranges):
                stacked = self._all_values(node, r)
                node = build.total(stacked, 0) if name == "sum" else build.reduce_axes(name, stacked, 0)
            if not ranges:
                node = build.total(node) if name == "sum" else build.reduce_axes(name, node)
            return node

        return self.kept(self.build(reduce, [value], tree.start, end))

    def _all_values(self, node: Node, r: _Range) -> Node:
        """Return a formula for all values of an index, along a new first axis."""
        try:
            natural = index_length(node, r.node)
        except SymgradError:
            if r.length is None:
                raise
            natural = None
        if r.length is None or natural == r.length:
            return array_over_indices([r.node], node, [natural])
        if natural is not None:
            rest = size_sum([natural, size_product([-1, r.length])])
            if not nonnegative(rest):
                raise ShapeError(
                    f"the index '{r.word.text}' takes {r.length} values, and the axis it runs along has {natural}",
                    expected="limits within the axis",
                    cure="check the limits, or the declared shape",
                )
        self._check_reach(node, r)
        length = size_max(r.length, 0)  # for n = 0, an upper limit n - 1 would give a negative length
        stacks = {r.node: iota(params=(length,)), **self._sections(node, r, r.length)}
        return batch([node], stacks, (length,))[0]

    def _sections(self, node: Node, r: _Range, length: Size) -> dict[Node, Node]:
        """For each array that is indexed only by i + k, return the slice x[k:k + length] for all values of i."""
        found: dict[Node, Node] = {}
        for gathered in topological([node]):
            if gathered.op is not OPS["gather"] or len(gathered.args) != 2:
                continue
            array, place = gathered.args
            shift = 0 if place is r.node else self._shift(place, r.node)
            if shift is not None and r.node not in topological([array]):
                rows = build.moveaxis(array, gathered.params[0][0], 0)
                found[gathered] = index(rows, (slice(shift, size_sum([length, shift])),))
        return found

    def _check_reach(self, node: Node, r: _Range) -> None:
        """Refuse an index that runs beyond an axis of known length, as x_{i+1} does for the last i."""
        for gathered in topological([node]):
            if gathered.op is not OPS["gather"]:
                continue
            axes: tuple[int, ...] = gathered.params[0]
            shape: tuple[Size, ...] = gathered.args[0].shape
            for axis, place in zip(axes, gathered.args[1:], strict=True):
                shift = 0 if place is r.node else self._shift(place, r.node)
                if shift is None:
                    continue
                assert r.length is not None
                room = size_sum([shape[axis], size_product([-1, r.length]), -shift])
                if shift < 0 or (isinstance(room, int) and room < 0):
                    raise ShapeError(
                        f"the index '{r.word.text}' leads outside an axis of length {shape[axis]}",
                        expected="positions of the axis",
                        cure="change the limits of the sum, or the index",
                    )

    def _shift(self, place: Node, index: Node) -> int | None:
        if place.op is OPS["add"] and place.args[0] is index and place.args[1].is_number():
            value = place.args[1].value
            return value if isinstance(value, int) else None
        return None

    # ---------------------------------------------------------------------------------------------------------- limits

    def _ranges(self, scripts: Scripted) -> Steps[tuple[list[_Range], list[Tree]]]:
        """Return the indices below an operator with their limits, and the conditions on these indices."""
        words: list[Word] = []
        lower: Tree | None = None
        conditions: list[Tree] = []
        for item in scripts.below or ():
            if isinstance(item, Word):
                words.append(item)
            elif isinstance(item, ProductTree) and all(isinstance(f, Word) for f in item.factors):
                words += [f for f in item.factors if isinstance(f, Word)]
            elif isinstance(item, Chain) and item.relations == ("=",) and isinstance(item.sides[0], Word):
                words.append(item.sides[0])
                lower = item.sides[1]
            elif isinstance(item, Chain) and "in" not in item.relations:
                conditions.append(item)
                if isinstance(item.sides[0], Word) and item.sides[0].text not in self.bound:
                    words.append(item.sides[0])
                second = item.sides[-1]
                if isinstance(second, Word) and second.text not in self.bound and not self.is_known(second):
                    words.append(second)
            else:
                raise self.refuse(
                    f"{self.text_of(item)} is no index",
                    item,
                    expected=r"an index, or its first value: \sum_{i}, \sum_{i=1}^{n}",
                    cure="number the entries, and write the index",
                )
        start, length = 0, None
        first = self.options["first"]
        if lower is not None and scripts.above is None:
            raise self.refuse(
                "a sum with a lower limit and no upper one",
                scripts,
                expected=r"\sum_{i=1}^{n}",
                cure=r"write the upper limit, or the index alone: \sum_{i}",
            )
        if scripts.above is not None:
            start, first, length = yield self._limits(lower, scripts.above)
        else:
            start = first
        ranges = [_Range(w, index_symbol(w.text), start, first, length) for w in dict.fromkeys(words)]
        return ranges, conditions

    def _limits(self, lower: Tree | None, above: Tree) -> Steps[tuple[int, int, Size]]:
        if isinstance(above, Command) and above.name == "infty":
            raise self.refuse(
                "a sum without an end",
                above,
                expected="a number, or the size of an axis",
                cure="write the value of the series, or a number of terms",
                cls=UnsupportedError,
            )
        start = 1 if lower is None else self._whole(lower)
        value = yield self.value(above)
        if isinstance(above, Word) and value.node.op.name == "symbol":
            raise self.refuse(
                f"the upper limit '{above.text}' is a variable, and not the size of an axis",
                above,
                expected="a whole number, or the name of a size: n of x : real[n]",
                cure=f"declare it: {above.text} : size",
                cls=DomainError,
            )
        last = self.size_here(value, above)
        first = start if start in (0, 1) else 0 if self._ends_before(last) else 1
        return start, first, size_sum([last, 1 - start])

    def _ends_before(self, last: Size) -> bool:
        """Tell whether a limit such as n - 1 counts from 0."""
        return (
            isinstance(last, Extent)
            and nonnegative(size_product([-1, size_sum([last, size_product([-1, last])])]))
            and (str(last).endswith("- 1"))
        )

    def _whole(self, tree: Tree) -> int:
        sign = 1
        if isinstance(tree, SumTree) and len(tree.terms) == 1:
            sign = -1 if tree.signs == ("-",) else 1
            tree = tree.terms[0]
        if isinstance(tree, NumberTree) and tree.text.isdecimal():
            return sign * int(tree.text)
        raise self.refuse(
            f"the lower limit {self.text_of(tree)} is no whole number",
            tree,
            expected=r"a whole number: \sum_{i=1}^{n}",
            cure="shift the index so that it begins with a number",
        )

    # ---------------------------------------------------------------------------------------------- undeclared arrays

    def infer_arrays(self, trees: Sequence[Tree]) -> None:
        r"""Declare the undeclared arrays in sums with limits: x in \sum_{i=1}^{n} x_i becomes x : real[n]."""
        sizes: dict[str, Size] = {}
        used: dict[str, tuple[str, ...]] = {}
        pending = list(trees)
        seen: list[Scripted] = []
        while pending:  # the last part comes first: of two limits of one index, the first in the text counts
            top = pending.pop()
            if isinstance(top, Scripted):
                seen.append(top)
            pending += parts_of(top)
        for tree in seen:
            if (
                isinstance(tree.base, Command)
                and tree.base.name in ("sum", "prod", "max", "min")
                and tree.below
            ):
                size = self._plain_size(tree.above)
                for item in tree.below:
                    word = item.sides[0] if isinstance(item, Chain) else item
                    if isinstance(word, Word) and size is not None:
                        from_zero = isinstance(item, Chain) and self._is_zero(item.sides[-1])
                        sizes[word.text] = size_sum([size, 1]) if from_zero else size
                    elif isinstance(item, Word) and self.derives and tree.above is None:
                        unnamed = f"n_{item.text}"  # the sum does not say how many terms it has
                        if unnamed in self.sizes or not self.is_known(Word(item.start, item.end, unnamed)):
                            sizes.setdefault(item.text, unnamed)
        for tree in seen:
            spelled = spelled_name(tree.base)
            if spelled is None or not tree.below:
                continue
            word = Word(tree.base.start, tree.base.end, spelled)
            items = self.index_trees(tree.below, 0)
            names = tuple(i.text for i in items if isinstance(i, Word))
            if len(names) == len(items) and all(n in sizes for n in names) and not self._declared_as(word):
                used.setdefault(word.text, names)
                span = Span(tree.start, tree.end)
                if used[word.text] == names and word.text not in self.symbols:
                    shape = tuple(sizes[n] for n in names)
                    self.declare_array(word, shape, span)

    def _declared_as(self, word: Word) -> bool:
        """Tell whether a letter is known, or stands for rows of the matrix that its capital names."""
        matrix = self.defined.get(word.text.upper())
        return self.is_known(word) or (matrix is not None and len(matrix.shape) == 2)

    def _is_zero(self, tree: Tree) -> bool:
        return isinstance(tree, NumberTree) and tree.text == "0"

    def _plain_size(self, tree: Tree | None) -> Size | None:
        if isinstance(tree, Word):
            return tree.text
        return int(tree.text) if isinstance(tree, NumberTree) and tree.text.isdecimal() else None

    def declare_array(self, word: Word, shape: tuple[Size, ...], span: Span) -> None:
        """Take in a name as an array that nothing declares."""
        for size in shape:
            for size_name in names_of((size,)):
                self.sizes.add(size_name)
                self.known.add(size_name)
        node = self.array_symbol(word.text, shape)
        self.symbols[word.text] = self.defined[word.text] = node
        self.name_spans[word.text] = span
        self.known.add(word.text)
        said = ", ".join(map(str, shape))
        self.read_as(word, f"an array, {word.text} : real[{said}]", f"a declaration of {word.text}")

    def array_symbol(self, name: str, shape: tuple[Size, ...]) -> Node:
        """Return the symbol of an array."""
        raise NotImplementedError
