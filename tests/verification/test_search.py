"""What the search for a proof proposes is true: factors, products by relations, and combinations.

The checker refuses what is not, so that a slip here is a proof that is not found. The judges are numbers: every
polynomial is computed from its coefficients, each root by mpmath.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from math import prod
from typing import Any

import mpmath
import pytest

from symgrad.checker.clock import now
from symgrad.checker.extension_field.field import Element, FractionField
from symgrad.checker.extension_field.functions import Functions
from symgrad.verification.search.steps import Search


def field_of(names: str) -> tuple[FractionField, list[Any]]:
    kernels = Functions(FractionField(8, now() + 100), Search({}))
    return kernels.field, [kernels.symbol(name, None, None).num for name in names]


def polynomial(rng: random.Random, gens: Sequence[Any], terms: int = 3, degree: int = 2) -> Any:
    """A random polynomial with small whole coefficients, no constant."""
    found = rng.choice(gens) * rng.choice([1, 2, -3])
    for _ in range(terms - 1):
        found = found + rng.choice([1, -1, 2, 5]) * prod(g ** rng.randint(0, degree) for g in gens)
    return found


def value(mp: Any, poly: Any, at: dict[int, Any]) -> Any:
    """A polynomial at numbers for the positions of its generators."""
    return sum(
        (
            mp.mpf(int(c.p)) / int(c.q) * prod(at[i] ** e for i, e in enumerate(map(int, powers)) if e)
            for powers, c in poly.to_dict().items()
        ),
        mp.mpf(0),
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("soon", [True, False])
def test_factors_have_the_product(soon: bool, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not soon:
        monkeypatch.setattr(
            import_module("symgrad.verification.search.steps"), "_is_soon_factored", lambda *_: False
        )
    rng = random.Random(seed)
    F, gens = field_of("xyzw")
    known = [polynomial(rng, gens) for _ in range(2)]
    F.over(F.constant(1), [(k, 1) for k in known], F.ring.constant(1).leading_coefficient())
    others = [gens[0] ** rng.randint(0, 2), known[0] ** rng.randint(0, 3), known[1] ** rng.randint(0, 1)]
    num: Any = prod(others, start=polynomial(rng, gens) * rng.choice([1, -7]))
    found = Search({}).factors(F, num)
    product: Any = prod((f**e for f, e in found), start=F.ring.constant(1))
    assert product * (num.leading_coefficient() / product.leading_coefficient()) == num
    assert all(e > 0 and not f.is_constant() for f, e in found)
    if not soon:
        assert all(F.quotient(f, k) is None or f in known for f, _ in found for k in known if len(k) > 1)


@pytest.mark.parametrize("kind", ["alone", "older", "nested"])
@pytest.mark.parametrize("seed", range(6))
def test_a_sum_with_a_root_is_a_square_by_a_known_factor(seed: int, kind: str) -> None:
    """With k**2 = s**2 - t**2, s + k is a square by s + t, with another root inside s or nowhere."""
    rng = random.Random(seed)
    F, (x, y, older, newer) = field_of("xyrk")
    k, other = (older, newer) if kind == "older" else (newer, older)
    s, t = polynomial(rng, [x, y], 2, 1), polynomial(rng, [x, y], 2, 1)
    s = s + other if kind == "nested" else s
    inside = [(other, x * x + y * y + 3), (k, s * s - t * t)]
    for root, under in inside:
        F.add_relation(root, 2, root * root - under)
    h = y * (s + k) if seed % 2 else s - k
    assert Search({}).restate(F, h + x**5, [F.index(k)], []) is None
    found = Search({}).restate(F, h, [i for i in (F.index(root) for root, _ in inside) if h.degrees()[i]], [])
    assert found is not None
    assert sorted(e for _, e in found) == [-1, 2]
    mp = mpmath.mp.clone()
    mp.dps = 40
    ratios: list[Any] = []
    for _ in range(4):
        at = {F.index(g): mp.mpf(rng.randint(1, 10**6)) / 99991 for g in (x, y)}
        for root, under in inside:
            at[F.index(root)] = mp.sqrt(value(mp, under, at)) * rng.choice([1, -1])
        ratios.append(prod(value(mp, f, at) ** e for f, e in found) / value(mp, h, at))
    assert all(abs(r / ratios[0] - 1) < 1e-25 for r in ratios)


@pytest.mark.parametrize("seed", range(6))
def test_a_product_with_a_known_factor_has_fewer_roots(seed: int) -> None:
    rng = random.Random(seed)
    F, (x, y, other, k) = field_of("xyrk")
    s, t = polynomial(rng, [x, y], 2, 1) + other, polynomial(rng, [x, y], 2, 1)
    under = x * x + 3 * y + 1
    F.add_relation(other, 2, other * other - y - 7)
    F.add_relation(k, 2, k * k - under)
    h, conjugate = s + t * k, s - t * k
    found = Search({}).restate(F, h, [F.index(k), F.index(other)], [x + k, h, x, conjugate, y])
    assert found == [(F.reduced(s * s - t * t * under), 1), (conjugate, -1)]


@pytest.mark.parametrize("seed", range(8))
def test_combinations_are_what_they_say(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    F, gens = field_of("xyzw")
    one = F.ring.constant(1).leading_coefficient()

    def fraction() -> Element:
        over = [(polynomial(rng, gens[:2], 2, 1) + 1, 1)] if rng.random() < 0.5 else []
        return F.over(Element(polynomial(rng, gens, 2, 1)), over, one)

    basis = [fraction() for _ in range(4)]
    weights = [Fraction(rng.randint(-3, 3), rng.randint(1, 4)) for _ in basis]
    target = F.constant(0)
    for weight, b in zip(weights, basis, strict=True):
        target = F.add(target, F.scaled(b, weight))
    outside = F.add(target, Element(gens[0] ** 5))
    for cheap in (500, 0):
        monkeypatch.setattr(import_module("symgrad.verification.search.steps"), "COMBINED_TERMS", cheap)
        found = Search({}).combination(F, target, basis)
        assert found is not None
        total = F.constant(0)
        for weight, b in zip(found, basis, strict=True):
            total = F.add(total, F.scaled(b, weight))
        assert F.equal(total, target)
        assert Search({}).combination(F, outside, basis) is None
