"""Choose lengths of axes at which to try a statement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice, permutations, product

from symgrad.checker.program.length_values import length_names, length_value
from symgrad.checker.program.steps import ProofProgram
from symgrad.support.errors import UsageError
from symgrad.verification.limits import SIZE_ROWS, SIZED_ENTRIES
from symgrad.verification.points.thresholds import positive_integers

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
    near = dict.fromkeys([*numbers, *(n + 1 for n in numbers), *(n - 1 for n in numbers if n > 1)])
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
