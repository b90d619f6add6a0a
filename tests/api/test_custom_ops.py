"""Ops that are registered: everything that is done with an op of symgrad's own, against the same without one."""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import pickle
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import symgrad as sg
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.errors import RedefinitionError, SymgradError, UnknownNameError, UnsupportedError, UsageError
from symgrad.ir.graph import OPS
from symgrad.ops.kinks_page import kinks_page
from symgrad.ops.user_ops import OWN, drop_own
from tests.processes import printed

X, Y = sg.symbols("x y")


@pytest.fixture(autouse=True, scope="module")
def alone() -> Iterator[None]:
    """Other tests go through all ops that there are."""
    before = set(OWN)
    yield
    for name in set(OWN) - before:
        drop_own(OWN[name])


_count = itertools.count()


def fresh(stem: str) -> str:
    return f"{stem}_{next(_count)}"


def own(stem: str = "f", arguments: str = "x", **given: Any) -> Any:
    return sg.register_op(fresh(stem), arguments, **given)


# ------------------------------------------------------------------------------------------------------ by a formula


@pytest.fixture(scope="module")
def softmin() -> Any:
    return own("softmin", "a b", definition="-log(exp(-a) + exp(-b))")


PLAIN = -sg.log(sg.exp(-X * Y) + sg.exp(-sg.sin(X)))


def test_an_op_with_a_definition_is_what_it_is_defined_as(softmin: Any) -> None:
    e = softmin(X * Y, sg.sin(X))
    x, y = np.linspace(-2, 2, 41), np.linspace(0.1, 3, 41)
    wanted = [PLAIN, sg.grad(PLAIN, X), sg.grad(sg.grad(PLAIN, X), Y)]
    found = [e, sg.grad(e, X), sg.grad(sg.grad(e, X), Y)]
    kernel = sg.compile(found, inputs=[X, Y])
    for one, native, plain in zip(found, kernel(x, y), wanted, strict=True):
        np.testing.assert_allclose(native, plain(x=x, y=y), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(one(x=x, y=y), plain(x=x, y=y), rtol=1e-12, atol=1e-13)
        namespace: dict[str, Any] = {}
        exec(one.numpy_source(), namespace)
        np.testing.assert_allclose(namespace["f"](x=x, y=y), plain(x=x, y=y), rtol=1e-12, atol=1e-13)


def test_verdicts_see_through_a_definition(softmin: Any) -> None:
    assert sg.equal(softmin(X, Y), softmin(Y, X)).status == "proved"
    assert sg.verify(softmin(X, Y), X, "exp(-x)/(exp(-x) + exp(-y))").status == "proved"
    assert sg.verify(softmin(X, Y), X, "exp(-y)/(exp(-x) + exp(-y))").status == "refuted"
    assert sg.equal(softmin(softmin(X, Y), Y), -sg.log(sg.exp(-X) + 2 * sg.exp(-Y))).status == "proved"


def test_it_is_a_function_of_the_notation_and_of_arrays(softmin: Any) -> None:
    name = softmin.__name__
    p = sg.parse(f"w : real[n]\nv : real[n]\ny = sum({name}(w, v))")
    assert str(p["y"]) == f"sum({name}(w, v))"
    assert sg.parse("w : real[n]\nv : real[n]\n" + f"z = {p['y']}")["z"].same(p["y"])
    kernel = sg.compile([p["y"], sg.grad(p["y"], p["w"])])
    w, v = np.array([0.0, 1.0, 5.0]), np.array([1.0, -1.0, 2.0])
    total, slope = kernel(w, v)
    np.testing.assert_allclose(total, -np.logaddexp(-w, -v).sum(), rtol=1e-14)
    np.testing.assert_allclose(slope, special.expit(v - w), rtol=1e-14)
    assert name in str(sg.explain(p["y"], p["w"]))


def test_definitions_may_be_functions_and_may_call_other_ops_of_ones_own(softmin: Any) -> None:
    f = own(
        "g",
        "t",
        definition=lambda t: softmin(t, 0) + sg.nn.relu(t),
        partials=[lambda out, t: sg.grad(softmin(t, 0), t) + sg.where(t > 0, 1, 0)],
    )
    t = np.array([-1.0, 0.5, 2.0])
    np.testing.assert_allclose(f(X)(x=t), -np.logaddexp(-t, 0) + np.maximum(t, 0), rtol=1e-14)
    assert sg.equal(f(X), sg.nn.relu(X) - sg.log(1 + sg.exp(-X))).status == "proved"


@cache
def _wave() -> Any:
    """Registered when a test runs: other tests go through all ops there are when they are collected."""
    return own("wave", "t", definition="sin(t)*exp(t/3)", partials=["cos(t)*exp(t/3) + out/3"])


@given(st.floats(-3, 3), st.floats(-3, 3))
@settings(max_examples=25, deadline=None)
def test_gradients_to_third_order_are_those_of_the_definition(a: float, b: float) -> None:
    wave = _wave()
    e, plain = wave(X * Y) + X * wave(Y), sg.sin(X * Y) * sg.exp(X * Y / 3) + X * sg.sin(Y) * sg.exp(Y / 3)
    for by in ([X], [X, Y], [X, Y, Y]):
        first, second = e, plain
        for w in by:
            first, second = sg.grad(first, w), sg.grad(second, w)
        assert first(x=a, y=b) == pytest.approx(second(x=a, y=b), rel=1e-9, abs=1e-9)


# --------------------------------------------------------------------------------------------------------- by values


def test_an_op_of_values_is_differentiated_by_its_partials() -> None:
    f = own("erf", value=special.erf, partials=["2/sqrt(pi)*exp(-x**2)"])
    second = sg.grad(sg.grad(f(X * Y), X), X)
    wanted = sg.grad(sg.grad(sg.special.erf(X * Y), X), X)
    assert second(x=0.3, y=1.7) == pytest.approx(float(wanted(x=0.3, y=1.7)), rel=1e-14)
    for refused in (lambda: sg.compile([f(X)]), lambda: f(X).numpy_source()):
        with pytest.raises(UnsupportedError, match="only its values are known"):
            refused()


def test_verdicts_on_values_are_evidence_and_say_so() -> None:
    f = own("s", reference=lambda mp, x: mp.sin(x), partials=["cos(x)"])
    name = f.__name__
    verdict = sg.equal(f(X) ** 2 + sg.cos(X) ** 2, 1)
    assert (verdict.status, verdict.proof) == ("supported", None)
    assert (
        str(verdict)
        == f"supported: equal to 15 digits at 60 points, no proof ('{name}' is known by values alone)"
    )
    wrong = sg.verify(f(X * Y), X, "y*cos(x*y) + 1/10**9")
    assert (wrong.status, wrong.proof) == ("refuted", None)
    assert set(wrong.witness or {}) == {"x", "y"}
    assert f"'{name}' is known by values alone" in wrong.why
    w = sg.tensor("w", ("n",))
    assert sg.verify(sg.sum(f(w) * w), w, f"{name}(w) + w*cos(w)").status == "supported"
    assert sg.verify(sg.sum(f(w) * w), w, f"{name}(w)").status == "refuted"
    with pytest.raises(UnsupportedError, match="known by values alone, and these are real"):
        sg.equal(f(X), f(X), domain="complex")
    with pytest.raises(UnsupportedError, match="inside stop_gradient"):
        sg.equal(sg.stop_gradient(f(X)), f(X))
    assert sg.equal(sg.stop_gradient(f(X)), f(X), values_only=True).status == "supported"


def test_noise_and_gaps_are_found_behind_an_op_of_values() -> None:
    f = own("s", reference=lambda mp, x: mp.sin(x), partials=["cos(x)"])
    p = sg.parse(f"x : real\nu ~ Normal(0, 1)\nz = {f.__name__}(x*u)")
    assert sg.explain(p["z"], "x").noise["u"].enters is True
    assert "limit   1" in str(sg.check_domain(f(X) / X))


def test_partials_may_call_the_op_and_be_left_out() -> None:
    f = own(
        "j",
        "n x",
        reference=lambda mp, n, x: mp.besselj(n, x),
        partials={"x": lambda out, n, x: (sg.special.jv(n - 1, x) - sg.special.jv(n + 1, x)) / 2},
        samples=[(0, 1.5), (2, "0.7"), (1, 3.25)],
    )
    assert sg.grad(f(2, X), X)(x=0.5) == pytest.approx(special.jvp(2, 0.5), rel=1e-12)
    with pytest.raises(UnsupportedError, match="was registered without a partial with respect to 'n'"):
        sg.grad(f(X, 2.5), X)
    name = fresh("k")
    g = sg.register_op(
        name, "n x", reference=lambda mp, n, x: mp.besselj(n, x),
        partials=[None, f"({name}(n - 1, x) - {name}(n + 1, x))/2"], samples=[(0, 1.5), (2, 0.7), (1, 3.25)],
    )  # fmt: skip
    assert sg.grad(sg.grad(g(0, X), X), X)(x=0.5) == pytest.approx(special.jvp(0, 0.5, 2), rel=1e-12)


def test_partials_that_are_not_given_follow_from_a_definition_and_none_is_none() -> None:
    f = own("p", "a b", definition="a**2*b", partials={"a": "2*a*b"})
    assert sg.grad(f(X, Y), Y)(x=3.0) == 9
    g = own("p", "a b", definition="a**2*b", partials=["2*a*b", None])
    assert sg.grad(g(X, Y), X)(x=3.0, y=2.0) == 12
    with pytest.raises(UnsupportedError, match="without a partial with respect to 'b'"):
        sg.grad(g(X, Y), Y)


def test_outside_of_the_domain_it_is_nan_everywhere() -> None:
    f = own("r", definition="sqrt(x + 1)", domain="x > 0")
    x = np.array([-0.5, 0.25])
    for values in (f(X)(x=x), sg.compile([f(X)])(x)):
        np.testing.assert_array_equal(np.isnan(values), [True, False])
    g = own("q", value=lambda x: np.sqrt(np.abs(x)), partials=["out/(2*x)"], domain="x > 0")
    np.testing.assert_array_equal(np.isnan(g(X)(x=x)), [True, False])


# ------------------------------------------------------------------------------------------------------- C functions


@pytest.mark.skipif(sys.platform == "win32", reason="the C library has no lgamma of its own")
def test_a_c_function_is_called_by_kernels(tmp_path: Any) -> None:
    libm: Any = ctypes.CDLL(ctypes.util.find_library("m"))
    f = own("lg", native=libm.lgamma, partials=["digamma(x)"], samples=[0.5, 2.5, 4])
    x = np.linspace(0.3, 9, 37)
    kernel = sg.compile([f(X) + 1, sg.grad(f(X), X)])
    np.testing.assert_allclose(kernel(x)[0], special.gammaln(x) + 1, rtol=1e-13)
    np.testing.assert_allclose(f(X)(x=x), special.gammaln(x), rtol=1e-13, atol=1e-15)
    single = sg.compile([f(X)], dtype="float32")(x.astype(np.float32))
    np.testing.assert_allclose(single, special.gammaln(x.astype(np.float32)), rtol=1e-6, atol=1e-6)
    assert float(sg.compile([f(sg.symbols("c") * 0 + 5)])(1.0)) == pytest.approx(np.log(24))
    w = sg.tensor("w", ("n",))
    assert sg.compile([sg.sum(f(w))], threads=2)(x) == pytest.approx(special.gammaln(x).sum())
    with pytest.raises(UnsupportedError, match=r"lies at an address of this process"):
        write_artefacts(kernel, tmp_path / "f")
    with pytest.raises(UnsupportedError, match="has no source: its code is a C function"):
        f(X).numpy_source()
    with pytest.raises(UsageError, match=r"two values of .* differ at .* by native"):
        own("lg", native=libm.lgamma, value=special.gamma, partials=["out*digamma(x)"], samples=[0.5, 2.5, 4])
    with pytest.raises(UsageError, match="str is no C function"):
        own("lg", native="lgamma", partials=["digamma(x)"])


# ------------------------------------------------------------------------------------------------------ what is refused


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "nothing says what '.*' computes"),
    ({"value": np.sin}, "nothing says how '.*' is differentiated"),
    (
        {"value": np.sin, "partials": ["sin(x)"]},
        r"is wrong at x = 0.4059: the formula gives 0.39484579\d*, differences",
    ),
    (
        {"reference": lambda mp, x: mp.sin(x), "partials": ["cos(x) + 1e-9"]},
        r"the formula gives 0.918747409, differences of the value 0.918747408",
    ),
    ({"value": lambda x: 1e-9 * np.sin(x), "partials": ["1e-9*sin(x)"]}, "is wrong at x = 0.4059"),
    (
        {"reference": lambda mp, x: mp.sin(x) / 10**30, "partials": ["0"]},
        "is wrong at x = 0.4059: the formula gives 0.0",
    ),
    ({"value": lambda x: 1e-9 * np.sin(x), "definition": "1e-9*cos(x)"}, "two values of"),
    ({"value": np.sin, "definition": "cos(x)"}, "two values of .* differ at x = 0.4059"),
    ({"value": np.log, "partials": ["1/x"], "domain": "x > 10**9"}, "has a value at 0 of the 120 points"),
    ({"value": np.log, "partials": ["1/x"], "samples": [-1.0]}, "has no value at x = -1.0"),
    ({"definition": "x > 0"}, "is a condition"),
    ({"definition": "x", "domain": "x"}, "is a number"),
    ({"definition": "x", "partials": "1"}, "a text as the partials"),
    ({"definition": "x", "partials": [1, 2]}, "2 as the partials"),
    ({"definition": "x", "partials": {"y": "1"}}, "by 'y'"),
    ({"definition": "x", "samples": [(1, 2)]}, "as a point"),
    (
        {"definition": "x", "kinks": [("x = 0", (0,), (2,))]},
        "at x = 0 a partial of .* is 1.0, but the declared value is 2",
    ),
    ({"definition": "x", "sympy": "NoSuchFunction"}, "SymPy has no function"),
    ({"definition": "x", "sympy": "besselj"}, "is a function of symgrad already"),
    ({"definition": lambda x: x + Y}, "reads 'y', which is no argument"),
    ({"definition": lambda x: sg.sum(x * sg.arrays.ones((3,)))}, "is one of arrays"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_what_does_not_fit_is_refused_and_nothing_stays(given: dict[str, Any], message: str) -> None:
    name = fresh("bad")
    with pytest.raises(UsageError, match=message):
        sg.register_op(name, "x", **given)
    assert name not in OPS
    with pytest.raises(SymgradError):
        sg.parse(f"x : real\ny = {name}(x)")
    assert sg.register_op(name, "x", definition="x**2")(X)(x=3.0) == 9


def test_a_value_that_is_no_entry_by_entry_function_is_refused_when_it_is_used() -> None:
    f = own("total", value=np.sum, partials=["1"])
    with pytest.raises(UsageError, match=r"has the shape \(\) for arguments of shape \(2,\)"):
        f(X)(x=np.array([1.0, 2.0]))


def test_names_are_taken_once() -> None:
    f = own("once", definition="x")
    with pytest.raises(RedefinitionError, match="is registered already"):
        sg.register_op(f.__name__, definition="x")
    for name in ("sin", "sum", "softplus", "xlogy", "pi"):
        with pytest.raises(RedefinitionError, match="is a function or constant of symgrad"):
            sg.register_op(name, definition="x")
    for name in ("for", "a b", "α", "__x", ""):
        with pytest.raises(UsageError, match="cannot be a name"):
            sg.register_op(name, definition="x")
    for arguments in ("", "x x", "out", "pi"):
        with pytest.raises(UsageError, match="the arguments of"):
            sg.register_op(fresh("n"), arguments, definition="1")
    with pytest.raises(UnknownNameError):
        own(definition="x + q")


# ----------------------------------------------------------------------------------------------- what it leaves alone


def test_nothing_else_changes() -> None:
    page = kinks_page()
    own("abs2", definition="x*x", kinks=[])
    own("kinked", definition="abs(x)", partials=["sign(x)"], kinks=[("x = 0", 0, (0,))])
    assert kinks_page() == page


def test_kinks_and_sympy_and_latex() -> None:
    f = own(
        "hinge",
        "m",
        definition="maximum(1 - m, 0)",
        partials=["where(m < 1, -1, 0)"],
        kinks=[("m = 1", 1, (0,))],
    )
    assert OPS[f.__name__].kinks[0].where == "m = 1"
    assert [float(sg.grad(f(X), X)(x=v)) for v in (0.5, 1.0, 1.5)] == [-1, 0, 0]
    g = own("ai", "x y", definition="x*y", latex=r"\mathrm{A}_{i}")
    assert g(X, Y).latex() == r"\mathrm{A}_{i}\left(x, y\right)"
    assert own("a_b", definition="x")(X).latex().startswith(r"\operatorname{a\_b")
    e = g(X, Y**2)
    assert sg.from_sympy(e.sympy()).same(e)
    h = own(
        "eta",
        "x",
        definition="(1 - 2**(1 - x))*zeta(x)",
        domain="x > 1",
        sympy="dirichlet_eta",
        partials=[None],
    )
    assert str(h(X).sympy()) == "dirichlet_eta(x)"
    assert sg.from_sympy(sympy.dirichlet_eta(sympy.Symbol("x", real=True))).same(h(X))


def test_what_is_pickled_is_read_where_the_same_op_is_registered() -> None:
    f = own("kept", definition="x**3 + 1", partials=["3*x**2"])
    e = sg.grad(f(X) * X, X)
    assert pickle.loads(pickle.dumps(e)).same(e)
    kernel = sg.compile([f(X)])
    assert pickle.loads(pickle.dumps(kernel))(2.0) == 9
    name, data = f.__name__, pickle.dumps(e)
    for registered, message in (
        ("", "is not registered here"),
        (f"sg.register_op('{name}', definition='x**2 + 1')", "is registered as something else here"),
        (
            f"sg.register_op('{name}', value=lambda x: x**3 + 2, partials=['3*x**2'])",
            "registered as something else",
        ),
        (f"sg.register_op('{name}', definition='x**3 + 1', partials=['3*x**2'])", "12.0"),
    ):
        script = (
            "import pickle, symgrad as sg\n" + registered + "\ntry:\n"
            f"    print(float(pickle.loads({data!r}).subs(x=sg.parse('x : real')['x'])(x=1.0)) + 7)\n"
            "except sg.errors.UsageError as error:\n    print(error)\n"
        )
        assert message in printed(script)


def test_partials_are_checked_where_differences_tell_something() -> None:
    # With 50 digits steps are far smaller than a period, wherever the point is; floats at 5e18 are 1024 apart.
    assert own("wave", definition="sin(x)", partials=["cos(x)"], samples=[(5e18,), (0.5,), (2,)]) is not None
    with pytest.raises(UsageError, match="is wrong at x = 5e\\+18"):
        own("wave", definition="sin(x)", partials=["2*cos(x)"], samples=[(5e18,)])
    assert own("wave", value=np.sin, partials=["cos(x)"], samples=[(1e10,), (0.5,), (2,)]) is not None
    with pytest.raises(UsageError, match="cannot be checked at x = 5e\\+18"):
        own("wave", value=np.sin, partials=["cos(x)"], samples=[(5e18,), (0.5,), (2,)])
    with pytest.raises(UsageError, match="can be checked at 0 of"):
        own("noise", value=lambda x: np.sin(1e15 * x), partials=["1e15*cos(1e15*x)"])
