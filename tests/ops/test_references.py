"""Reference values end soon, and are right, far from where mpmath computes them itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest

import symgrad as sg
from symgrad.checker.clock import now
from symgrad.ir.graph import OPS
from symgrad.support.public_names import public


@pytest.mark.parametrize("x", ["-0.5", "-3.25", "-1000.75", "-10000000.5", "-363099400090544.125", "2.5"])
@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.usefixtures("ends")
def test_polygamma_far_from_zero(n: int, x: str) -> None:
    mp: Any = mpmath.mp.clone()
    mp.dps = 80
    expected = mp.diff(mp.digamma, mp.mpf(x), n)
    mp.dps = 40
    assert mp.almosteq(OPS["polygamma"].reference(mp, n, mp.mpf(x)), expected, rel_eps=mp.mpf(10) ** -37)


@pytest.mark.usefixtures("ends")
def test_orders_without_reference_values_end() -> None:
    mp: Any = mpmath.mp
    assert mp.isnan(OPS["polygamma"].reference(mp, 10**18, mp.mpf(-3.5)))
    assert mp.isnan(OPS["kv"].reference(mp, mp.mpf("10000.5"), mp.mpf(10000)))


SLOW: dict[str, Callable[[Any], Any]] = {
    "digamma": lambda u: sg.special.digamma(u - 10**6),
    "polygamma": lambda u: sg.special.polygamma(2, u - 10**7 - 0.5),
    "jv": lambda u: sg.special.jv(10**6, u),
    "kv": lambda u: sg.special.kv(10000.5, u),
}


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.usefixtures("ends")
def test_what_a_random_input_enters_is_found_out_soon(name: str) -> None:
    p = sg.parse("x : real\nu ~ Normal(0, 1)\nz = x*u")
    verdict = sg.explain(SLOW[name](p["u"]) * p["x"], p["x"]).noise["u"]
    assert verdict.enters in (True, None)


ORDERS: dict[str, Callable[[int, Any], Any]] = {
    "polygamma": sg.special.polygamma,
    "jv": sg.special.jv,
    "kv": sg.special.kv,
    "beta": sg.special.beta,
    "expint": sg.special.expn,
    "zeta": sg.special.zeta,
    "polylog": sg.special.polylog,
    "uppergamma": public("uppergamma"),
}


@pytest.mark.parametrize(
    ("name", "domain"), [*((n, None) for n in ORDERS), *((n, "complex") for n in list(ORDERS)[:4])]
)
@pytest.mark.usefixtures("ends")
def test_verdicts_on_huge_orders_end(name: str, domain: str | None) -> None:
    x = sg.symbols("x")
    e = ORDERS[name](10**18, x)
    begun = now()
    assert sg.equal(e, e + x, domain, time_limit=2).status in ("refuted", "undecided")
    assert now() - begun < 3
    assert str(e)
    assert e.latex()
    assert str(e.stable())
    assert str(sg.explain(e, x))
