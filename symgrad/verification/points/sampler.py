"""Sample exact points for a statement, the same ones in every run: lengths of axes, and values in their domains."""

from __future__ import annotations

import itertools
import math
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice, pairwise, permutations, product
from typing import Any, cast

from symgrad.checker.clock import STEP, tick
from symgrad.checker.limits import ARRAY_ENTRIES
from symgrad.checker.program.length_values import length_names, length_value
from symgrad.checker.program.steps import ProofProgram, Symbol, resolve_ends
from symgrad.support.errors import UsageError
from symgrad.verification.limits import MOST_BOXES, REPEATED_DRAWS, SEED_STEPS, SIZE_ROWS, SIZED_ENTRIES
from symgrad.verification.points.decision_boundaries import aimed
from symgrad.verification.points.thresholds import between, cells, literals, positive_integers
from symgrad.verification.points.values import STYLES, Style, draw_value, has_values, nearest, positions_of

_OTHERS = (1, 4, 5, 8, 6, 7, 11)
_PAIRED = 3  # how many numbers of a program several names take at once


def lengths_of(program: ProofProgram) -> list[int | str]:
    """Return every length that a program mentions, each once."""
    found: dict[int | str, None] = {}
    for symbol in program.symbols:
        found.update(dict.fromkeys(symbol.shape))
        found.update(dict.fromkeys(length_names(end for end in symbol.ends if end is not None)))
    for step in program.steps:
        if step.shape:
            found.update(dict.fromkeys(step.shape))
        if step.op == "size":
            found.setdefault(step.params[0])
    return list(found)


def sizes_of(program: ProofProgram) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """Return lengths for the names: a few distinct ones, so that a wrong axis shows; and others.

    The others are small lengths, and numbers of the program with their neighbours, as long as arrays stay small.
    """
    lengths = lengths_of(program)
    names = length_names(lengths)
    if not names:
        return [{}], []
    rows = [
        [2 + i % 4 for i in range(len(names))],
        [3 - i % 3 for i in range(len(names))],
        [3 + i % 3 for i in range(len(names))],
        [5 + i for i in range(len(names))],
    ]
    found = [dict(zip(names, row, strict=True)) for row in rows]
    first = (
        [s for s in found[:3] if _possible(lengths, s)]
        or [s for s in found[3:] if _possible(lengths, s)]
        or [found[0]]
    )
    others: list[dict[str, int]] = []
    for sizes in _others(program, names, found[0]):
        if len(first) + len(others) >= SIZE_ROWS:
            break
        new = sizes not in first and sizes not in others
        if new and _possible(lengths, sizes, 0) and _small(program, sizes):
            others.append(sizes)
    return first, others


def _others(program: ProofProgram, names: list[str], base: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield lengths with numbers of the program: for all names, or for one name while the others keep theirs."""
    numbers = positive_integers(program)
    # A claim about positions may be right up to a length that is the product of two numbers, t/2 < 12, or their sum.
    paired = combinations([n for n in numbers if n > 1][:_PAIRED], 2)
    pairs = sorted(c for a, b in paired for c in (a + b, a * b))
    near = [n for c in (*numbers, *pairs) for n in (c, c + 1, c - 1) if n > 0]
    values = list(dict.fromkeys([*_OTHERS[:4], *near, *_OTHERS[4:]]))
    yield dict.fromkeys(names, 1)
    if len(names) > 1:
        for row in islice(product(numbers[:_PAIRED], repeat=len(names)), _PAIRED**2):
            yield dict(zip(names, row, strict=True))
        for value in values:
            for name in names:
                yield {**base, name: value}
    for value in values:
        yield dict.fromkeys(names, value)
    # Yield lengths such that the sum, difference, quotient or product of two is a number of the program.
    for (name, other), value in product(permutations(names, 2), numbers):
        for found in (value - base[other], value + base[other], value // base[other], value * base[other]):
            if found > 0:
                yield {**base, name: found}


def _possible(lengths: list[int | str], sizes: Mapping[str, int], least: int = 1) -> bool:
    """Tell whether every axis has at least a given number of entries."""
    try:
        return all(length_value(n, sizes) >= least for n in lengths if isinstance(n, str))
    except UsageError:
        return False


def _small(program: ProofProgram, sizes: Mapping[str, int]) -> bool:
    return sum(math.prod(length_value(n, sizes) for n in s.shape) for s in program.steps) <= SIZED_ENTRIES


_SPECIAL = tuple(Fraction(t) for t in ("1", "0", "-1", "1/2", "2", "3", "-1/2", "-2", "1/3", "10"))
_PLAIN = tuple(Fraction(t) for t in ("1", "2", "-1", "1/2", "3", "-2", "1/3"))
_COMMON = 5  # the special values that entries of arrays take most often
_BESIDE = Fraction(17, 16)  # distance from a threshold, such that floor does not jump there
_GENERIC: tuple[Style, ...] = ("positive", "positive", "signed", "odd", "signed")
_EXTREME: tuple[Style, ...] = ("huge", "tiny", "ends", "wide", "odd", "huge", "tiny")


@dataclass(frozen=True, slots=True)
class SamplePoint:
    """The values of variables (fractions, truth values or nested lists of these), and the lengths of axes."""

    values: Mapping[str, Any]
    sizes: Mapping[str, int]


def points_of(program: ProofProgram, *, aim: bool = True) -> Iterator[SamplePoint]:
    """Yield points: small generic ones, then special ones, then others of several magnitudes, possibly without end.

    A program without variables has one point for each choice of sizes; a program with an empty domain has none.

    Args:
        program: its symbols have the domains, and its numbers serve as thresholds.
        aim: whether to search for points at which choices of the program have other outcomes; its symbols must then
            include all symbols that it reads.

    Raises:
        TimeoutError: at the deadline of `symgrad.checker.clock`.
    """
    if not all(map(has_values, program.symbols)):
        return
    seen: set[Any] = set()
    again = 0
    for point in _Plan(program).points(aim=aim):
        if point is not None:
            key = _frozen(sorted(point.values.items())), tuple(sorted(point.sizes.items()))
            if key not in seen:
                seen.add(key)
                yield point
                again = 0
                continue
        if (again := again + 1) > REPEATED_DRAWS:
            return


def plain_points(program: ProofProgram) -> Iterator[SamplePoint]:
    """Yield readable points of a program with arrays: one or two entries along each axis, and small numbers.

    Example:
        >>> x = Symbol("x", "real", None, None, ("n",))
        >>> [str(v) for point in plain_points(ProofProgram((), (x,))) for v in point.values["x"]][:4]
        ['1', '2', '-1', '1/2']
    """
    plan = _Plan(program)
    names = length_names(lengths_of(program))
    for count, turn in product((1, 2), range(len(_PLAIN))):
        numbers = itertools.cycle((*_PLAIN[turn:], *_PLAIN[:turn]))
        point = plan.special(lambda _s, n=numbers: next(n), dict.fromkeys(names, count))
        if point is not None:
            yield point


def _shifted(values: Sequence[Fraction], k: int) -> list[Fraction]:
    """Shift numbers by less than the gaps between them; each variable is shifted by another fraction of the gap."""
    gap = min((b - a for a, b in pairwise(values)), default=Fraction(1))
    return [v + min(gap, 1) * Fraction(k, 64 * MOST_BOXES) for v in values]


def _frozen(values: Any) -> Any:
    """Return nested lists as nested tuples with types, since 1 == True in Python."""
    if isinstance(values, list | tuple):
        return tuple(_frozen(v) for v in cast("Sequence[Any]", values))
    return type(values), values


def _seed(program: ProofProgram) -> int:
    """Return a number that depends only on the claim: it is the same in every process and every version."""
    text = repr((program.steps[:SEED_STEPS], program.symbols))
    # The names that these classes first had: renaming a class must not change the points.
    return zlib.crc32(text.replace("ProofStep(", "Step(").replace("ProofDistribution(", "Drawn(").encode())


class _Plan:
    """The order in which points are tried."""

    def __init__(self, program: ProofProgram) -> None:
        self.program = program
        self.rng = random.Random(_seed(program))
        self.first, self.others = sizes_of(program)
        self.every = [*self.first, *self.others]
        self.positions = positions_of(program)
        self.numbers = [s for s in program.symbols if not s.shape and s.kind != "bool"]
        self.arrays = any(s.shape for s in program.symbols)

    def points(self, *, aim: bool) -> Iterator[SamplePoint | None]:
        """Yield points; yield None in place of each impossible point."""
        values, more = _special_values(self.program)
        first = self.first
        for k, style in enumerate(_GENERIC):
            yield self.draw(style, first[0 if k < 3 else k % len(first)])
        if self.arrays:
            for value in values[:_COMMON]:
                yield self.mixed(value, first[0])
        for k, style in enumerate(_EXTREME):
            yield self.draw(style, first[k % len(first)])
        special = self.alike(values), self.distinct(values), self.alike(more, single=True)
        ways = [self.lengths(), *special, self.crossed()]
        yield from _in_turn([*ways, *([self.aimed()] if aim else [])])
        for k in itertools.count():
            yield self.draw(STYLES[k % len(STYLES)], self.every[k % len(self.every)])

    def crossed(self) -> Iterator[SamplePoint | None]:
        """Yield points of the boxes into which the thresholds of the variables divide space.

        Independent draws rarely satisfy several conditions at once, such as y > 8 and 1 < x < 2.
        """
        parts = cells(self.program)
        cut = [s.name for s in self.numbers if s.name in parts]
        if len(cut) < 2:
            return
        rng = random.Random(len(cut))  # a generator of its own, so that the other points stay the same
        # Avoid equal coordinates, and ends of supports: a random input is at the end of its support with probability
        # zero.
        choices = [_shifted(parts[name], k) for k, name in enumerate(cut)]
        if math.prod(map(len, choices)) <= MOST_BOXES:
            boxes = list(product(*choices))
            rng.shuffle(boxes)
        else:
            boxes = [tuple(map(rng.choice, choices)) for _ in range(MOST_BOXES)]
        for box in boxes:
            values, other = dict(zip(cut, box, strict=True)), Fraction(rng.randint(1, 9), 2)
            yield self.special(lambda s, v=values, o=other: v.get(s.name, o), self.first[0])

    def lengths(self) -> Iterator[SamplePoint | None]:
        """Yield points with further lengths of axes."""
        for sizes in self.others:
            yield self.draw("positive", sizes)
            yield self.draw("signed", sizes)

    def alike(self, values: Sequence[Fraction], *, single: bool = False) -> Iterator[SamplePoint | None]:
        """Yield points at which all variables have a given value.

        If ``single``, also yield points at which only one variable has it.
        """
        for k, value in enumerate(values):
            yield self.special(lambda _s, v=value: v, self.first[0])
            if self.arrays:
                yield self.mixed(value, self.every[k % len(self.every)])
            if single and len(self.numbers) > 1:
                one = self.numbers[k % len(self.numbers)]
                near = draw_value(one, "signed", self.rng, {}, {})
                yield self.special(
                    lambda s, v=value, w=near, o=one: v if s.name == o.name else w, self.first[0]
                )

    def distinct(self, values: Sequence[Fraction]) -> Iterator[SamplePoint | None]:
        """Yield points at which variables have different values."""
        if len(self.numbers) > 1:
            place = {s.name: i for i, s in enumerate(self.program.symbols)}
            for turn, step in product(range(len(values)), (1, 2)):
                yield self.special(
                    lambda s, t=turn, d=step: values[(t + d * place[s.name]) % len(values)], self.first[0]
                )

    def draw(self, style: Style, sizes: dict[str, int]) -> SamplePoint | None:
        return self.fill(lambda s: draw_value(s, style, self.rng, self.positions, sizes), sizes)

    def special(self, value: Callable[[Symbol], Fraction], sizes: dict[str, int]) -> SamplePoint | None:
        return self.fill(lambda s: nearest(s, value(s), self.rng, self.positions, sizes), sizes)

    def mixed(self, value: Fraction, sizes: dict[str, int]) -> SamplePoint | None:
        """Fill arrays from a few common values, so that some entries are zero or equal."""
        few = [value, *_SPECIAL[:_COMMON]]
        return self.special(lambda s: self.rng.choice(few) if s.shape else value, sizes)

    def aimed(self) -> Iterator[SamplePoint | None]:
        """Yield ties around a random point, and around two points of small numbers, where roots are simple."""
        sizes, count = self.first[0], itertools.count(3)
        bases = [
            self.draw("signed", sizes),
            self.special(lambda _s: Fraction(next(count)), sizes),
            self.special(lambda s: Fraction((-2) ** (len(s.name) % 3) * (next(count) % 5 + 1), 2), sizes),
        ]
        found = [p.values for p in bases if p is not None]
        program = replace(self.program, symbols=tuple(resolve_ends(s, sizes) for s in self.program.symbols))
        yield from (SamplePoint(values, sizes) for values in aimed(program, found, sizes))

    def fill(self, choose: Callable[[Symbol], Any], sizes: dict[str, int]) -> SamplePoint | None:
        try:
            lengths = [[length_value(n, sizes) for n in s.shape] for s in self.program.symbols]
            if any(math.prod(own) > ARRAY_ENTRIES for own in lengths):
                return None
            symbols = [resolve_ends(s, sizes) for s in self.program.symbols]
            if not all(map(has_values, symbols)):
                return None
            return SamplePoint({s.name: _fill(s, choose, sizes) for s in symbols}, sizes)
        except UsageError:
            return None


def _in_turn(ways: Sequence[Iterator[SamplePoint | None]]) -> Iterator[SamplePoint | None]:
    """Yield an item of each iterator in turn, until all have ended."""
    left = list(ways)
    while left:
        for way in list(left):
            try:
                yield next(way)
            except StopIteration:
                left.remove(way)


def _special_values(program: ProofProgram) -> tuple[list[Fraction], list[Fraction]]:
    """Return small numbers, the numbers of the program and some numbers next to them; and further thresholds."""
    found = dict.fromkeys(_SPECIAL)
    for c in literals(program):
        found.update(dict.fromkeys((c, -c, c + _BESIDE, c - _BESIDE)))
    return list(found), [c for c in between(program) if c not in found]


# ------------------------------------------------------------------------------------------------------------- arrays


def _fill(symbol: Symbol, choose: Callable[[Symbol], Any], sizes: Mapping[str, int]) -> Any:
    lengths = [length_value(n, sizes) for n in symbol.shape]

    def nested(axis: int) -> Any:
        tick(2 * STEP)
        return choose(symbol) if axis == len(lengths) else [nested(axis + 1) for _ in range(lengths[axis])]

    if symbol.symmetric:
        rows: list[list[Any]] = [[choose(symbol) for _ in range(i + 1)] for i in range(lengths[0])]
        return [[rows[max(i, j)][min(i, j)] for j in range(lengths[0])] for i in range(lengths[0])]
    return nested(0)
