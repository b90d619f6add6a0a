"""Exact sample points: values for the inputs, and draws of a random input.

Points are rational, and lie inside the declared domains and supports. They depend only on names, so that a program has
the same points on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from symgrad.analysis.explain.limits import LANDMARKS
from symgrad.ir.exact import nearest_float
from symgrad.ir.graph import Node
from symgrad.ir.size_substitution import domain_with
from symgrad.ir.sizes import Extent, evaluate_size, least_value
from symgrad.ir.types import Domain, Number

# Fractions of the support: first the middles of both halves, then the ends, the centre and others.
_PLACES = tuple(Fraction(n, 100) for n in (25, 75, 4, 96, 50, 38, 87))


def domain_of(symbol: Node, sizes: Mapping[str, int] = {}) -> Domain:
    """Return the values that a symbol can take: the support of a random input, or the domain of another symbol.

    If an end is an unknown size, return the range that is common to all sizes from 1 on: 0 for ``int(0, k - 1)``.

    Args:
        symbol: the symbol.
        sizes: the known sizes, by name.
    """
    declaration = symbol.declaration
    domain = domain_with(declaration.values, sizes)
    if not domain.sizes:
        return domain
    low = domain.span[0]
    most = least_value(domain.high) if isinstance(domain.high, str | Extent) else domain.span[1]
    return replace(domain, low=most if low is None else low, high=most if low is None else low)


def only_value(symbol: Node) -> Number | None:
    """Return the only value of a symbol, such as a draw from Bernoulli(0); None if there is more than one."""
    domain = symbol.declaration.values
    only = isinstance(domain.low, int) and domain.low == domain.high
    return domain.low if domain.kind == "int" and only and isinstance(domain.low, int) else None


def hash_of(*key: object) -> int:
    """Return a pseudo-random number that depends only on a key."""
    return int.from_bytes(hashlib.blake2b("|".join(map(str, key)).encode(), digest_size=4).digest(), "big")


def value_at(symbol: Node, index: int) -> Number | bool:
    """Return the value of a symbol at the sample point with a given index."""
    return place_in(domain_of(symbol), Fraction(5 + hash_of(symbol.name, index) % 91, 100))


def draws(symbol: Node, landmarks: Iterable[Number], sizes: Mapping[str, int] = {}) -> list[Number | bool]:
    """Return different draws of a random input: across its support, and on both sides of landmarks in the support.

    Args:
        symbol: the random input.
        landmarks: numbers at which the program may switch (``where(u > 1, ...)``).
        sizes: the known sizes, by name.
    """
    domain = domain_of(symbol, sizes)
    found: dict[Number | bool, None] = {place_in(domain, t): None for t in _PLACES}
    if domain.kind == "int":
        landmarks = [*(end for end in domain.span if end is not None), *map(int, landmarks)]
    for landmark in [v for v in dict.fromkeys(landmarks) if domain.admits(v)][:LANDMARKS]:
        room = [abs(end - landmark) for end in domain.span if end is not None]
        step = 1 if domain.kind == "int" else min([Fraction(1, 1000), *(Fraction(r) / 2 for r in room)])
        found.update((v, None) for v in (landmark + step, landmark - step, landmark) if domain.admits(v))
    return list(found)


def place_in(domain: Domain, t: Fraction) -> Number | bool:
    """Return the value at a fraction 0 < t < 1 of a domain; if the domain is unbounded, a two-digit decimal."""
    low, high = domain.span
    if domain.kind == "bool":
        return t < Fraction(1, 2)
    if low is not None and high is not None:
        value = low + (high - low) * t
        return min(int(low + (high + 1 - low) * t), int(high)) if domain.kind == "int" else value
    if low is not None:
        value = low + t / (1 - t)
    elif high is not None:
        value = high - t / (1 - t)
    else:
        value = (t - Fraction(1, 2)) / (t * (1 - t))
    if domain.kind == "int":
        # Zero would hide too much (0*x, x**0).
        return round(value) or 1
    rounded = Fraction(round(value * 100), 100)
    return rounded if rounded != 0 and domain.admits(rounded) else value or Fraction(1, 8)


def filled(symbol: Node, sizes: Mapping[str, int], value: Callable[[int], Any], number: int) -> Any:
    """Return a value for a symbol: a number, or an array of exact numbers of dtype object.

    Args:
        symbol: the symbol.
        sizes: the lengths of axes.
        value: a function that returns the entries by their positions, if they are independent.
        number: the number of the draw, if entries depend on one another.

    Raises:
        ValueError: if there are not enough different values.
    """
    shape = tuple(evaluate_size(s, sizes) for s in symbol.shape)
    if not shape:
        return value(0)
    distribution = symbol.declaration.distribution
    if distribution is not None and not distribution.family.independent:
        return _different(symbol, shape, _count(symbol, sizes), number)
    array = np.empty(shape, dtype=object)
    for i, place in enumerate(product(*map(range, shape))):
        array[place] = value(i)
    if symbol.declaration.symmetric:
        rows, columns = np.triu_indices(shape[0])
        array[columns, rows] = array[rows, columns]
    return array


def _count(symbol: Node, sizes: Mapping[str, int]) -> int:
    """Return how many values a symbol can take, counted from 0."""
    high = domain_of(symbol, sizes).high
    if not isinstance(high, int):
        raise ValueError(f"{symbol.name} takes any number of values")
    return high + 1


def _different(symbol: Node, shape: tuple[int, ...], count: int, number: int) -> Any:
    """Return the first entries of a pseudo-random permutation."""
    if shape[0] > count:
        raise ValueError(f"{shape[0]} different positions out of {count}")
    order = sorted(range(count), key=lambda k: hash_of(symbol.name, number, k))
    return np.array(order[: shape[0]], dtype=object)


def entry(symbol: Node, index: int, size: Number, i: int) -> Number | bool:
    """Return entry i of an input at a sample point. Integers are mostly indices, so the entries are 0 or 1."""
    if symbol.shape and symbol.dtype == "int":
        return hash_of(symbol.name, index, i) % 2
    return _sized(symbol, value_at(symbol, hash_of(index, i) % 1009 if symbol.shape else index), size)


def draw_entry(
    source: Node, candidates: Sequence[Number | bool], draw: int, size: Number, i: int
) -> Number | bool:
    """Return entry i of a draw. Entries differ, so that a dependence on their differences is seen."""
    return _sized(source, candidates[hash_of(source.name, draw, i) % len(candidates)], size)


def _sized(symbol: Node, value: Number | bool, size: Number) -> Number | bool:
    """Scale a value of an unbounded real symbol."""
    domain = domain_of(symbol)
    free = domain.low is None and domain.high is None and symbol.dtype == "real"
    return value * Fraction(size) if free and symbol.shape and size != 1 else value


def as_floats(symbol: Node, value: Any) -> Any:
    """Convert an exact value of a symbol, a number or an array, for NumPy."""
    kind: Any = {"bool": bool, "int": np.int64}.get(symbol.dtype, float)
    convert = nearest_float if kind is float else kind
    if not symbol.shape:
        return convert(value)
    array = np.asarray(value, dtype=object)
    return np.array([convert(entry) for entry in array.flat], dtype=kind).reshape(array.shape)


def entries(value: Any) -> list[Any]:
    """Return the entries of an array as a list, or a number as a list with one entry."""
    return np.asarray(value, dtype=object).reshape(-1).tolist()


def converted(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Convert a number, or every entry of an array."""
    if not isinstance(value, np.ndarray):
        return convert(value)
    entries: Any = value  # pyright: ignore[reportUnknownVariableType]  (a nested list)
    array = np.empty(entries.shape, dtype=object)
    for place in np.ndindex(*entries.shape):
        array[place] = convert(entries[place])
    return array
