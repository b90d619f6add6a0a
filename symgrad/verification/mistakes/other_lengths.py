"""The same claim for other lengths of axes: a mistake that explains it must explain it for these, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np

from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import now
from symgrad.ir.graph import NUMBER, Node, as_node, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.contraction import contract
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.verification.mistakes.axis_length_numbers import SizedPairs, monomial_text, named_number
from symgrad.verification.mistakes.candidate import Mistake
from symgrad.verification.mistakes.derivation import TooManyEntries
from symgrad.verification.mistakes.limits import AGREE, LARGEST_SIZE, OTHER_SIZES, SECONDS
from symgrad.verification.mistakes.recognise import Recognition


def _as_number(y: Node, wrt: Node, claim: Node) -> tuple[Node, Node]:
    """Contract an array with a further variable, and the claim with it, so that the function is a number."""
    if not y.shape or claim.shape != (*y.shape, *wrt.shape):
        return y, claim
    seed = symbol(Declaration("__seed", REAL, shape=y.shape))
    own = tuple(range(len(y.shape)))
    rest = tuple(range(len(own), len(claim.shape)))
    return contract([seed, y], [own, own], ()), contract([seed, claim], [own, (*own, *rest)], rest)


_NEXT = {3: 5, 4: 6, 5: 7, 6: 10, 7: 3, 9: 11}
"""Other lengths, all different: none is a square, because its root would be an integer."""

_NO_ANSWER = (SymgradError, OverflowError, ValueError, np.linalg.LinAlgError, TooManyEntries)
"""What a search raises that cannot be made."""


def other_sizes(sizes: Mapping[str, int], numbers: Sequence[int]) -> Iterator[dict[str, int]]:
    """Yield other lengths of the names: two choices of all of them, and those beside numbers of a claim."""
    second = {name: _NEXT.get(n, n + 2) for name, n in sizes.items()}
    yield second
    yield {name: n + 1 for name, n in second.items()}
    near = [n for n in numbers if 2 < n < LARGEST_SIZE]
    for number, name in islice(product(near, sizes), OTHER_SIZES):
        yield from ({**second, name: number + 1}, {**second, name: number - 1})


class OtherLengths:
    """The same claim for other lengths: a mistake explains it for these, too, and a number that changes is a length.

    Args:
        build: a function that returns the function, the variable and the claim for given lengths.
        first: these for the first lengths.
        sizes: the first lengths.
        square: the names of the matrices that are square for all sizes.
        numbers: the numbers of the claim.
    """

    def __init__(
        self,
        build: Callable[[Mapping[str, int]], Sequence[Node]],
        first: tuple[Node, Node, Node],
        sizes: Mapping[str, int],
        square: Sequence[str],
        numbers: Sequence[int],
    ) -> None:
        self.sizes, self._numbers = sizes, numbers
        self._build, self._first, self._square = build, first, square
        self._same: dict[int, list[tuple[Mapping[str, int], Mistake]]] = {}

    def mistakes(self, witness: Mapping[str, Any] | None) -> list[Mistake]:
        """Return the mistakes that explain the claim for all lengths that are tried, best first.

        Args:
            witness: a point at which the claim fails for the first lengths.
        """
        try:
            search = self._search(self._first, self.sizes, witness)
            for stage in search.stages:
                if found := self._for_all_lengths(stage, search.mistakes(stage)):
                    return found
        except _NO_ANSWER:
            pass
        return []

    def _search(
        self, built: Sequence[Node], sizes: Mapping[str, int], witness: Mapping[str, Any] | None = None
    ) -> Recognition:
        y, wrt, claim = built
        number, of_it = _as_number(y, wrt, claim)
        deadline = now() + SECONDS
        return Recognition(number, wrt, of_it, deadline, witness=witness, sizes=sizes, square=self._square)

    @cached_property
    def _others(self) -> list[tuple[Mapping[str, int], SizedPairs, Recognition]]:
        """The searches for other lengths, with the pairs of formulas; those are left out that cannot be made."""
        found: list[tuple[Mapping[str, int], SizedPairs, Recognition]] = []
        first = _formulas(*self._first)
        for sizes in other_sizes(self.sizes, self._numbers) if self.sizes else ():
            try:
                built = self._build(sizes)
                search = self._search(built, sizes)
                pairs = SizedPairs(self.sizes, sizes)
                for one, other in zip(first, _formulas(*built), strict=True):
                    pairs.add(one, other)
            except _NO_ANSWER:
                continue
            if search.derivation.sampled.points:
                found.append((sizes, pairs, search))
        return found

    def named(self, node: Node) -> Node | None:
        """Replace lengths in a formula by names; None if some number may or may not be a length."""
        if not self.sizes or not any(n.op is NUMBER for n in topological([node])):
            return node
        return self._others[0][1].named(node) if self._others else None

    def _for_all_lengths(self, stage: str, found: list[Mistake]) -> list[Mistake]:
        """Return the mistakes that explain the claim for other lengths, too: 1 + n is 6 only for n = 5."""
        for sizes, pairs, search in self._others if found else ():
            kinds = {kind for f in found for kind in (f.kind, f.second and f.second.kind) if kind}
            others = search.mistakes(stage, kinds)
            same = [next((g for g in others if is_same(f, g, pairs)), None) for f in found]
            for f, g in zip(found, same, strict=True):
                if g is not None:
                    self._same.setdefault(id(f), []).append((sizes, g))
            found = [f for f, g in zip(found, same, strict=True) if g is not None]
        return found

    def number(self, f: Mistake, number: float) -> str | None:
        """Return the number in the sentence of a mistake, in terms of names; None if that is not known."""
        values = [(sizes, g.words.get("number")) for sizes, g in self._same.get(id(f), ())]
        known = [(sizes, value) for sizes, value in values if isinstance(value, float)]
        if not known or len(known) < len(values):
            return None
        sizes, value = known[0]
        found = named_number(abs(number), abs(value), self.sizes, sizes)
        constant, powers = found or (abs(number), {})

        def is_right(sizes: Mapping[str, int], value: float) -> bool:
            wanted = float(constant) * prod(sizes[n] ** float(p) for n, p in powers.items())
            return value * number > 0 and abs(abs(value) / wanted - 1) < AGREE

        if not all(is_right(*one) for one in known):
            return None
        if found is None:
            return f.says.rsplit(" ", 1)[1]
        return ("-" if number < 0 else "") + monomial_text(*found)


def is_same(f: Mistake, g: Mistake, pairs: SizedPairs) -> bool:
    """Tell whether two mistakes, for different lengths, are the same: the same sentence about the same place."""

    def sentence(m: Mistake) -> tuple[str, ...]:
        says = m.says.rsplit(" ", 1)[0] if "number" in m.words else m.says
        return (m.kind, says, *(w for w in m.words.values() if isinstance(w, str)))

    if sentence(f) != sentence(g) or (f.second is None) != (g.second is None):
        return False
    if f.at is not None and g.at is not None and pairs.other(f.at) not in (None, g.at):
        return False
    return f.second is None or g.second is None or is_same(f.second, g.second, pairs)


def _formulas(y: Node, wrt: Node, claim: Node) -> tuple[Node, ...]:
    """Return the formulas whose parts are quoted in sentences."""
    number, of_it = _as_number(y, wrt, claim)
    right = pull_back([number], [as_node(1)], [wrt]).gradients[0]
    return y, number, of_it, right, canonical([right]).nodes[0]
