"""Exact sample points: values for the inputs, and draws of a random input.

Points are rational, and lie inside the declared domains and supports. They depend only on names, so that a program has
the same points on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.analysis.explain.limits import LANDMARKS
from symgrad.ir.exact import nearest_float
from symgrad.ir.graph import Node
from symgrad.ir.size_substitution import domain_with
from symgrad.ir.sizes import Extent, least_value
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


def inside(domain: Domain, value: Number) -> bool:
    """Tell whether a number is in the interior of a domain, or in a closed domain of integers."""
    low, high = domain.span
    if domain.kind == "int" and domain.closed:
        return (low is None or low <= value) and (high is None or value <= high)
    return (low is None or low < value) and (high is None or value < high)


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
    for landmark in [v for v in dict.fromkeys(landmarks) if inside(domain, v)][:LANDMARKS]:
        room = [abs(end - landmark) for end in domain.span if end is not None]
        step = 1 if domain.kind == "int" else min([Fraction(1, 1000), *(Fraction(r) / 2 for r in room)])
        found.update((v, None) for v in (landmark + step, landmark - step, landmark) if inside(domain, v))
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
    return rounded if rounded != 0 and inside(domain, rounded) else value or Fraction(1, 8)


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
