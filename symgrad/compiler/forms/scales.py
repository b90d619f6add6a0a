"""Store some values multiplied by a constant, so that fewer sums need a multiplication by a constant.

If only ``3*(a + 2*b)`` is used, ``3*a + 6*b`` may cost one operation less: a fused multiply-add absorbs the coefficient
of a plain term of a sum, but the coefficient of a product needs its own multiplication. A sum can be stored times any
number, and its readers divide the number out. The factor of a product follows from the factors of its operands; any
other factor costs a multiplication. Each value in turn gets the factor that minimises the operations of the value and
of the sums that read it. The result is equal up to rounding; nothing is reordered.

With x = a + 2*b, take the outputs

    c*d + 3*(x*c)        a*d - 3*(x*d)

1. Read every node as a number times a *core*: c*d is 1 times itself, 3*(x*c) is 3 times the core x*c, and x*c is 1
   times a product of the cores x and c.
2. Each core knows its readers: the products x*c and x*d read x, and the two sums read the products, with the numbers 3
   and -3.
3. Choose a factor for x; a sum can be computed times any number. As it is, x*c is a product, which the output then
   multiplies by 3 and adds: two operations. If 3*x is stored in place of x, the output is (3*a + 6*b)*c + c*d, and
   multiplication and addition are one fused operation. Computing 3*x costs one operation more (3*a), and each of the
   two outputs costs one less.
4. No other core gains. So x*c and x*d are written with the stored 3*x, and nothing else changes:

    >>> from symgrad.ir.graph import symbol
    >>> from symgrad.ir.types import Declaration
    >>> from symgrad.ir.notation.printer import expression_text
    >>> a, b, c, d = (symbol(Declaration(name)) for name in "abcd")
    >>> x = a + 2*b
    >>> outputs = [c*d + 3*(x*c), a*d - 3*(x*d)]
    >>> scales = _Scales(outputs, ())
    >>> total = scales.cores[-1]
    >>> [(number, expression_text(scales.cores[j].node)) for number, j in total.args]
    [(1, 'a*d'), (-3, '(a + 2*b)*d')]
    >>> improved = [expression_text(core.node) for i, core in enumerate(scales.cores) if scales.improve(i)]
    >>> improved, {expression_text(core.node): core.scale for core in scales.cores if core.scale != 1}
    (['a + 2*b'], {'a + 2*b': 3, '(a + 2*b)*c': 3, '(a + 2*b)*d': 3})
    >>> [expression_text(n) for n in scales.rebuilt(outputs)]
    ['c*d + (3*a + 6*b)*c', 'a*d - (3*a + 6*b)*d']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log2

from symgrad.compiler.forms.coefficients import Number, ratio, times
from symgrad.ir.exact import exact_value
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.ops.scalar.logic import where
from symgrad.support.progress import steps

_REACH = 48
"""Largest number of readers of a value and of its products. If a value has more, its factor stays as it is."""

_CANDIDATES = 4
"""How many factors are tried for a value."""

_LARGEST = 10.0
"""Factors lie between 2**-10 and 2**10: larger ones could make values near the ends of the float range overflow."""

_SAME = 1e-9
"""Factors are compared by their logarithms, up to this difference; the factors themselves are exact."""

_DIGITS = 256
"""The most bits of a factor; without a limit they would grow along a chain of quotients of decimals."""

_GIVEN, _PRODUCT, _QUOTIENT, _SUM, _CHOICE = range(5)
_KINDS = {mul: _PRODUCT, div: _QUOTIENT, add: _SUM, where: _CHOICE}


@gc_paused()
def rescaled(outputs: Sequence[Node], kept: Collection[Node] = ()) -> list[Node]:
    """Return pointwise nodes that equal the outputs in exact arithmetic and take fewer operations; else the outputs.

    Args:
        outputs: the nodes to rewrite, with numbers in front of products (`compiler/forms/coefficients.py`).
        kept: nodes that stay as they are, with all values that they depend on.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import Declaration
        >>> a, b, c, d = (symbol(Declaration(name)) for name in "abcd")
        >>> x = a + 2*b
        >>> [expression_text(n) for n in rescaled([c*d + 3*(x*c), a*d - 3*(x*d)])]
        ['c*d + (3*a + 6*b)*c', 'a*d - (3*a + 6*b)*d']
    """
    order = topological(outputs)
    if not any(n.op is mul and n.args[0].is_number() for n in order):
        return list(outputs)
    scales = _Scales(outputs, kept, order)
    improved = [scales.improve(i) for i in steps("arrange", "moving numbers", range(len(scales.cores)))]
    return scales.rebuilt(outputs) if any(improved) else list(outputs)


@dataclass(slots=True)
class _Core:
    """A value of which other nodes are multiples.

    Args:
        node: the original node.
        kind: the kind of operation that computes it.
        free: whether any factor costs nothing: true for sums and choices.
        args: its operands, each as a number times a core (for a choice without its condition).
        readers: cores computed from it through which a constant factor can be moved.
        asked: the factors that all other readers (outputs, and ops that are not linear) need, as logarithms.
        scale: the factor with which it is stored.
        own: the part of `scale` that costs a multiplication; 1 for sums and choices, whose coefficients absorb the
            scale.
        numbers: the coefficients of the args of a sum or choice, as logarithms.
        busy: whether some coefficient is not 1.
        size: the logarithm of the scale.
    """

    node: Node
    kind: int
    free: bool
    args: list[tuple[Number, int]]
    readers: list[int] = field(default_factory=list[int])
    asked: set[float] = field(default_factory=set[float])
    scale: Number = 1
    own: Number = 1
    numbers: list[float] = field(default_factory=list[float])
    busy: bool = False
    size: float = 0.0

    @property
    def changing(self) -> Number:
        """The factor that `improve` may change: the whole scale of a sum or choice, else `own`."""
        return self.scale if self.free else self.own


class _Scales:
    """The cores of a graph, arguments first, and their factors."""

    def __init__(
        self, outputs: Sequence[Node], kept: Collection[Node], order: Sequence[Node] | None = None
    ) -> None:
        self.cores: list[_Core] = []
        self._read: dict[Node, tuple[Number, int]] = {}  # every node as a number times a core
        fixed = set(topological(list(kept)))
        for node in steps("arrange", "reading products", topological(outputs) if order is None else order):
            kind = _GIVEN if node in fixed else _kind(node)
            if node.op is neg and node not in fixed and node.dtype == "real":
                number, core = self._read[node.args[0]]
                self._read[node] = -number, core
            elif kind == _PRODUCT and node.args[0].is_number():
                number, core = self._read[node.args[1]]
                self._read[node] = exact_value(number * node.args[0].value), core
            else:
                self._read[node] = 1, len(self.cores)
                self._add(node, kind)
        for o in outputs:
            self._ask(o)
        self._literal = [core.node.is_number() for core in self.cores]
        # Products that only one sum reads: a fused multiply-add absorbs them.
        self._inside = [c.kind == _PRODUCT and len(c.readers) + len(c.asked) == 1 for c in self.cores]
        for core in steps("arrange", "measuring products", self.cores):
            self._measure(core)

    def _add(self, node: Node, kind: int) -> None:
        operands = node.args[1:] if kind == _CHOICE else node.args
        core = _Core(node, kind, kind in (_SUM, _CHOICE), [self._read[a] for a in operands])
        if kind != _GIVEN:
            for _, j in core.args:
                self.cores[j].readers.append(len(self.cores))
        for a in node.args if kind == _GIVEN else node.args[: kind == _CHOICE]:
            self._ask(a)
        self.cores.append(core)
        self._follow(core)

    def _ask(self, node: Node) -> None:
        number, j = self._read[node]
        self.cores[j].asked.add(_size(number))

    def _follow(self, core: _Core) -> None:
        """Set the scale of a core that is neither a sum nor a choice."""
        if core.kind == _PRODUCT or core.kind == _QUOTIENT:
            (m, a), (n, b) = core.args
            first, second = ratio(self.cores[a].scale, m), ratio(self.cores[b].scale, n)
            core.scale = core.own * (first * second if core.kind == _PRODUCT else ratio(first, second))
        elif core.kind == _GIVEN:
            core.scale = core.own
        else:
            return
        core.size = _size(core.scale)

    def _exact(self, core: _Core) -> list[Number]:
        """Return the coefficients of the terms of a sum, or of the cases of a choice."""
        return [ratio(number * core.scale, self.cores[j].scale) for number, j in core.args]

    def _measure(self, core: _Core) -> None:
        if core.free:
            core.numbers = [_size(n) for n in self._exact(core)]
            core.busy = any(abs(n) > _SAME for n in core.numbers)

    def improve(self, v: int) -> bool:
        """Change the factor of a core if that takes fewer operations; return whether it was changed."""
        core = self.cores[v]
        reached = [] if self._literal[v] or not core.readers else self._reached(v)
        if not reached:
            return False
        sums = {r: None for j in reached for r in self.cores[j].readers if self.cores[r].free}
        if core.free:
            sums[v] = None
        if core.changing == 1 and not any(self.cores[s].busy for s in sums):
            return False  # no coefficient could become 1
        powers = self._powers(v, reached)
        wishes = self._wishes(v, powers, sums)
        if not wishes:
            return False
        fewest, best = self._total(v, 0.0, powers, sums, inf), 0.0
        for factor, _ in Counter([w[0] for w in wishes]).most_common(_CANDIDATES):
            total = self._total(v, factor, powers, sums, fewest)
            if total < fewest:
                fewest, best = total, factor
        if not best:
            return False
        _, s, k, power = next(w for w in wishes if w[0] == best)
        exact = abs(self._exact(self.cores[s])[k] if k >= 0 else core.changing)
        changed = core.changing * (exact if power > 0 else ratio(1, exact))
        if max(changed.numerator.bit_length(), changed.denominator.bit_length()) > _DIGITS:
            return False
        if core.free:
            core.scale = changed
            core.size = _size(changed)
        else:
            core.own = changed
        for j in powers:
            self._follow(self.cores[j])
        for j in sums:
            self._measure(self.cores[j])
        return True

    def _reached(self, v: int) -> list[int]:
        """Return a core and the products and quotients that contain it, in order; empty if there are many."""
        found = {v}
        queue = [v]
        size = 0
        for j in queue:
            readers = self.cores[j].readers
            size += len(readers)
            if size > _REACH:
                return []
            for r in readers:
                if r not in found and not self.cores[r].free:
                    found.add(r)
                    queue.append(r)
        return sorted(queue)

    def _powers(self, v: int, reached: Sequence[int]) -> dict[int, int]:
        """Return the powers of a core in itself and in the products and quotients that contain it."""
        powers = {v: 1}
        for r in reached[1:]:
            (_, a), (_, b) = self.cores[r].args
            below = powers.get(b, 0)
            powers[r] = powers.get(a, 0) + (below if self.cores[r].kind == _PRODUCT else -below)
        return powers

    def _wishes(
        self, v: int, powers: Mapping[int, int], sums: Collection[int]
    ) -> list[tuple[float, int, int, int]]:
        """Return the changes of a scale with which some coefficient becomes 1.

        Each is (log of the change, sum, index of the term, power of the core in the term); the index is -1 for the
        core's own factor.
        """
        core = self.cores[v]
        found: list[tuple[float, int, int, int]] = []
        for s in sums:
            for k, number in enumerate(self.cores[s].numbers):
                if -_SAME <= number <= _SAME:
                    continue
                _, j = self.cores[s].args[k]
                power = powers.get(j, 0) - (s == v)
                if abs(power) == 1 and not self._literal[j]:
                    found.append((round(power * number, 11), s, k, power))
        now = _size(core.changing)
        if abs(now) > _SAME:
            found.append((round(-now, 11), v, -1, -1))
        return found

    def _total(
        self, v: int, factor: float, powers: Mapping[int, int], sums: Collection[int], most: float
    ) -> float:
        """Count the multiplications by constants around a core, if its scale changed by a factor (as a logarithm).

        Return infinity if the count is not below `most`, or if a factor would be too large.
        """
        cores, literal = self.cores, self._literal
        core = cores[v]
        for j, power in powers.items():
            if abs(cores[j].size + power * factor) > _LARGEST:
                return inf
        total = 0 if core.free else int(abs(_size(core.own) + factor) > _SAME)
        for j, power in powers.items():
            other = cores[j]
            # A core that is stored with a multiplication also exists without it: a reader of the bare core costs
            # nothing.
            if other.asked and (core.free or j != v):
                scale = other.size + power * factor
                for number in other.asked:
                    total += abs(scale - number) > _SAME
        for s in sums:
            reader = cores[s]
            own = factor if s == v else 0.0
            count, plain = 0, reader.kind == _SUM
            for number, (_, j) in zip(reader.numbers, reader.args, strict=True):
                if not literal[j]:
                    count += abs(number - powers.get(j, 0) * factor + own) > _SAME
                    plain = plain and not self._inside[j]
            # A fused multiply-add absorbs one of a sum's multiplications by a constant.
            total += count - 1 if plain and count else count
            if total >= most:
                return inf
        return total

    def rebuilt(self, outputs: Sequence[Node]) -> list[Node]:
        """Return the outputs, computed from the scaled cores."""
        made: list[Node] = []
        bare: list[Node] = []  # the cores before their own multiplication

        def value(node: Node) -> Node:
            number, j = self._read[node]
            core = self.cores[j]
            if core.own != 1 and ratio(core.scale, core.own) == number:
                return bare[j]
            return times(ratio(number, core.scale), made[j])

        for core in steps("arrange", "writing products", self.cores):
            self._follow(core)
            if core.free:
                numbers = self._exact(core)
                if all(n < 0 for n in numbers):
                    core.scale, numbers = -core.scale, [-n for n in numbers]
                terms = [
                    as_node(number * made[j].value) if self._literal[j] else times(number, made[j])
                    for number, (_, j) in zip(numbers, core.args, strict=True)
                ]
                if core.kind == _CHOICE:
                    node = where(value(core.node.args[0]), *terms)
                else:
                    # The plain term comes first: a fused multiply-add absorbs the other term and its coefficient.
                    node = add(*(reversed(terms) if abs(numbers[0]) != 1 == abs(numbers[1]) else terms))
            elif core.kind == _GIVEN:
                args = tuple([value(a) for a in core.node.args])
                node = core.node if args == core.node.args else apply(core.node.op, args, core.node.params)
            else:
                node = core.node.op(*[made[j] for _, j in core.args])
            bare.append(node)
            made.append(times(core.own, node))
        return [value(o) for o in outputs]


def _size(number: Number) -> float:
    """Return the logarithm of a number's absolute value, which may not fit in a float."""
    if number == 1 or number == -1:
        return 0.0
    return log2(abs(number.numerator)) - log2(number.denominator)


def _kind(node: Node) -> int:
    kind = _KINDS.get(node.op, _GIVEN)
    operands = node.args[1:] if kind == _CHOICE else node.args
    if node.dtype != "real" or any(a.dtype != "real" and not a.is_number() for a in operands):
        return _GIVEN
    if kind == _PRODUCT and (
        node.args[1].is_number() or (node.args[0].is_number() and not node.args[0].value)
    ):
        return _GIVEN
    return kind
