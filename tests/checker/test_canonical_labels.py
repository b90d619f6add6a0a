"""Names of summed indices depend on no choice, and tell products apart: against trying all orders."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from symgrad.checker.index_form.forms.canonical_labels import (
    canonical_component,
    connected_components,
    rename_indices,
)

ORDERS = {
    0: ((0, 1),),
    1: ((0, 1), (1, 0)),  # symmetric
    2: ((0, 1, 2), (1, 2, 0), (2, 0, 1)),
    3: ((0,),),
}


def product_of(rng, names):
    """Random factors in which every name stands, and free indices."""
    heads = rng.choice([[0], [1], [0, 1], [0, 0, 1, 1, 2, 3]])
    factors = {}
    while {p for _, positions in factors for p in positions}.isdisjoint(set(names)) or len(factors) < 3:
        head = rng.choice(heads)
        positions = tuple(rng.choice([*names, *names, "free"]) for _ in ORDERS[head][0])
        factors[head, positions] = Fraction(rng.choice([1, 1, 2]))
    return rename_indices(factors, {}, ORDERS.__getitem__)


def alike(first, second):
    """Whether a bijection of the summed indices with the same lengths makes one product the other."""
    (one, bound), (other, lengths) = first, second
    return len(bound) == len(lengths) and any(
        all(bound[i] == lengths[j] for i, j in zip(bound, to, strict=True))
        and rename_indices(one, dict(zip(bound, to, strict=True)), ORDERS.__getitem__) == other
        for to in permutations(lengths)
    )


@pytest.mark.parametrize("block", range(4))
def test_names_are_those_of_the_product(block):
    rng = random.Random(block)
    same = 0
    for _ in range(250):
        count = rng.randint(1, 5)
        pairs: list[Any] = []
        for _ in range(2):
            names = [f"?{k}" for k in range(count)]
            factors = product_of(rng, names)
            used = sorted({p for _, positions in factors for p in positions if p != "free"})
            pairs.append((factors, {i: rng.choice(["n", "n", "n", "m"]) for i in used}))
        if rng.random() < 0.6:  # the first one with other names, and in another order
            factors, bound = pairs[0]
            to = dict(zip(bound, rng.sample([f"?{k}" for k in range(7, 15)], len(bound)), strict=True))
            moved = list(rename_indices(factors, to, ORDERS.__getitem__).items())
            rng.shuffle(moved)
            pairs[1] = dict(moved), {to[i]: bound[i] for i in rng.sample(list(bound), len(bound))}
            assert alike(pairs[0], pairs[1])
        names = [canonical_component(f, b, ORDERS.__getitem__, lambda _: None) for f, b in pairs]
        assert (names[0] == names[1]) == alike(pairs[0], pairs[1]), pairs
        same += names[0] == names[1]
    assert same >= 50


def test_components_are_what_indices_connect():
    rng = random.Random(0)
    for _ in range(100):
        names = [f"?{k}" for k in range(6)]
        factors = product_of(rng, names) | {(3, (i,)): Fraction(1) for i in rng.sample(names, 3)}
        found = connected_components(factors, set(names))
        assert {a: e for part in found for a, e in part.items()} == factors
        own = [{p for _, positions in part for p in positions} - {"free"} for part in found]
        assert all(a.isdisjoint(b) for k, a in enumerate(own) for b in own[:k])
        for part, mine in zip(found, own, strict=True):  # from one of its indices all are reached
            reached = set(list(mine)[:1])
            for _ in names:
                for _, positions in part:
                    if reached & set(positions):
                        reached |= set(positions) - {"free"}
            assert reached == mine
            assert mine or len(part) == 1
