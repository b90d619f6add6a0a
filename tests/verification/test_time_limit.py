"""Verdicts on what is large: the time limit holds, and what is too large is not begun."""

from __future__ import annotations

from importlib import import_module

import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.checker.clock import now
from symgrad.checker.extension_field.field import Element, FractionField, GiveUp
from symgrad.checker.extension_field.functions import Functions
from symgrad.verification.points.sampler import points_of
from symgrad.verification.search.steps import Search
from symgrad.verification.statement import program_of


def _nested(name: str, n: int) -> str:
    return f"{name}(" * n + "x" + ")" * n


def test_arrays_with_too_many_entries_have_no_points() -> None:
    p = sg.parse("A : real[3000, 3000]\ny = det(A)")
    program, _ = program_of([p["y"].node])
    assert next(points_of(program), None) is None
    verdict = sg.equal(p["y"], "2*det(A)", time_limit=30)
    assert verdict.status == "undecided"
    assert "too many entries" in verdict.why


def test_a_large_determinant_is_refuted() -> None:
    verdict = sg.equal("A : real[150, 150]\ndet(A)", "A : real[150, 150]\n2*det(A)", time_limit=60)
    assert verdict.status == "refuted"
    assert verdict.proof is not None
    assert check(verdict.proof.data).status == "refuted"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (
            " + ".join(f"sin(x**{k})" for k in range(1, 800)),
            " + ".join(f"cos(x**{k})" for k in range(1, 800)),
        ),
        (
            "log((a + b + c)**14*(a*b - c + 2)**6 + a)",
            "log((a + b + c)**14*(a*b - c + 2)**6 + a*b/b)*2/2",
        ),
        (_nested("2 + sin", 20) + "*2", _nested("2 + sin", 20) + " + 1"),
        ("A : real[90, 90]\nsum(inv(A)@A)", "A : real[90, 90]\nsum(expm(A))"),
    ],
)
def test_the_time_limit_holds_roughly(a: str, b: str) -> None:
    begun = now()
    sg.equal(a, b, time_limit=2)
    assert now() - begun < 30


@pytest.mark.parametrize("name", ["sin", "tanh", "cos"])
def test_nested_functions_have_normal_forms_of_bounded_size(name: str) -> None:
    """What is one function twice: no formula, and no text of one, may double at each level."""
    y = _nested(name, 40)
    verdict = sg.equal(f"2*{y}", f"{y} + {y}", time_limit=100)
    assert verdict.status == "proved"
    assert verdict.proof is not None
    assert check(verdict.proof.data).status == "proved"
    assert all(len(text) < 3_000 for text in verdict.excluded)


def _field() -> tuple[FractionField, list[Element]]:
    kernels = Functions(FractionField(16, now() + 100), Search({}))
    return kernels.field, [kernels.symbol(name, None, None) for name in "xyzw"]


def test_fractions_are_equal_as_their_difference_is_zero() -> None:
    F, (x, y, z, _) = _field()
    over = F.over(F.mul(x, y), [(x.num + 1, 1)], F.ring.constant(1).leading_coefficient())
    other = F.over(F.mul(x, z), [(y.num + 1, 1)], F.ring.constant(1).leading_coefficient())
    some = [x, y, F.add(x, y), F.mul(x, y), over, other, F.sub(over, other), F.constant(0), F.constant(2)]
    for a in some:
        for b in some:
            assert F.equal(a, b) == F.is_zero(F.sub(a, b)), (a, b)


def test_fractions_are_equal_by_relations() -> None:
    F, (x, y, _, w) = _field()
    F.add_relation(w.num, 2, w.num**2 - x.num)
    square = Element(w.num**2)  # not reduced
    assert F.equal(square, x)
    assert F.equal(F.mul(square, y), F.mul(x, y))
    assert not F.equal(square, w)
    assert not F.equal(F.mul(square, y), F.mul(y, y))


def test_combinations_are_found_among_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    F, (x, y, z, w) = _field()
    target = F.add(F.scaled(x, 2), F.scaled(F.add(x, y), 3))
    basis = [F.mul(z, z), x, F.mul(z, w), F.add(x, y)]
    wanted = [0, 2, 0, 3]
    assert Search({}).combination(F, target, basis) == wanted
    module = import_module("symgrad.verification.search.steps")
    monkeypatch.setattr(module, "COMBINED_TERMS", 0)
    assert Search({}).combination(F, target, basis) == wanted
    assert Search({}).combination(F, w, [x, y]) is None
    monkeypatch.setattr(module, "COMBINED_WORK", 0)
    assert Search({}).combination(F, target, basis) is None


def test_long_texts_are_cut() -> None:
    F, (x, y, *_) = _field()
    long = F.ring.constant(0)
    for k in range(1, 400):
        long = long + x.num**k * y.num
    text = F.text(long)
    assert text.endswith("...")
    assert len(text) < 3_000
    assert F.text(x.num * 2 - y.num**2) == "-y**2 + 2*x"


def test_a_quotient_that_is_none_is_not_computed() -> None:
    F, (x, y, z, w) = _field()
    divisor = x.num - y.num - z.num - w.num - 1
    assert F.quotient(divisor * (x.num + y.num), divisor) == x.num + y.num
    assert F.quotient(x.num**4000, divisor) is None  # by division with a remainder it has billions of terms
    assert F.quotient(F.ring.constant(0), divisor) == 0


def test_what_takes_longer_than_there_is_time_is_not_begun() -> None:
    field = FractionField(8, now() + 50)
    assert field.budget.allows(seconds=10)
    assert not field.budget.allows(seconds=100)
    field.wait(10)
    with pytest.raises(GiveUp, match="the time limit"):
        field.wait(100)
    with pytest.raises(GiveUp, match="too large"):
        field.spend(10_000_000)


def test_polynomials_that_are_slow_to_factor_are_only_divided_by_what_is_known() -> None:
    kernels = Functions(FractionField(16, now() + 100), Search({}))
    F, x = kernels.field, [kernels.symbol(f"x{k}", None, None).num for k in range(12)]
    known = x[0] + x[1] + 1
    F.over(F.constant(1), [(known, 1)], F.ring.constant(1).leading_coefficient())
    one, other = F.ring.constant(1), F.ring.constant(1)
    for k in range(8):
        one = one + x[k] ** (k + 1) * x[(3 * k + 1) % 12] ** 4
        other = other + x[(k + 4) % 12] ** 5 * x[(5 * k + 2) % 12] ** (k + 2)
    hard = one * other
    assert len(hard) > 40
    found = Search({}).factors(F, hard * known * x[3] ** 2)
    assert {F.text(f): e for f, e in found} == {"x3": 2, F.text(known): 1, F.text(hard): 1}
    easy = (x[0] * x[1] - x[2]) * (x[0] + x[3]) ** 2
    assert sorted(e for _, e in Search({}).factors(F, easy)) == [1, 2]
