"""`lint` as a whole: order, ignoring, forms, places, long programs, and programs in which nothing is wrong."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.analysis.stop_gradient.table import CHECKS
from symgrad.errors import UsageError
from tests.counting import counting
from tests.docs.markdown import ROOT, blocks

PAGE = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")


def test_the_page_has_the_table_of_the_checks() -> None:
    rows = re.findall(r"^\| (SG\d{3}) \| `([a-z-]+)` \| (\w+) \| (.*) \|$", PAGE, flags=re.MULTILINE)
    assert rows == [(c.code, c.name, c.severity, c.says) for c in CHECKS]


def test_every_check_has_an_example_on_the_page() -> None:
    shown = "\n".join(block.text for block in blocks(PAGE) if block.language == "python")
    assert [c.code for c in CHECKS if f"{c.code} " not in shown] == []


def test_codes_and_names_are_unique_and_in_order() -> None:
    assert [c.code for c in CHECKS] == sorted({c.code for c in CHECKS})
    assert len({c.name for c in CHECKS}) == len(CHECKS)


TEXT = """x, w : real
a = x + stop_gradient(sin(3*x) - x)
b = stop_gradient(floor(w))*a
y = b + where(x > 0, sqrt(x), 0)"""


def test_sorted_by_place_and_ignored_by_code() -> None:
    found = sg.lint(TEXT)
    assert found.codes == ("SG401", "SG101", "SG301")
    assert [f.places[0].line for f in found] == [2, 3, 4]
    assert sg.lint(TEXT, ignore=("SG101", "SG301")).codes == ("SG401",)
    assert sg.lint(TEXT, ignore="SG401").codes == ("SG101", "SG301")


def test_forms() -> None:
    found = sg.lint(TEXT)
    plain = json.loads(json.dumps(found.json()))
    assert [f["code"] for f in plain] == list(found.codes)
    assert plain[0]["repaired"] == str(found[0].repaired)
    assert plain[0]["verdict"]["status"] == "proved"
    assert plain[0]["places"][0]["line"] == 2
    assert str(found).count("\n") >= 8
    assert found[:2].codes == ("SG401", "SG101")
    assert str(sg.lint("x**2")) == "nothing was found"


@pytest.mark.parametrize(
    "text",
    [
        "x, mu : real; s : positive\nlogp = -((x - mu)/s)**2/2 - log(s)",
        "W : real[m, n]; b, v : real[m]; x : real[n]; t : real\nloss = (v@relu(W@x + b) - t)**2",
        "L : real[n, k]; t : int(0, k - 1)[n]\nloss = -mean(log_softmax(L, axis=1)[arange(n), t])",
        "q, r, g : real; v : real\nloss = (q - stop_gradient(r + g*v))**2",
        "x : real\nl = x**2\nz = exp(l - stop_gradient(l))*x",
        "x, k : real\ny = stop_gradient((1 + k)*x) - k*x",  # gradient reversal: its gradient is -k
    ],
)
def test_sound_programs(text: str) -> None:
    assert [c for c in sg.lint(text).codes if c != "SG401"] == []


def test_a_value_between() -> None:
    p = sg.parse("x : real\nh = sin(x)\ny = h + stop_gradient(floor(h) - h)*h")
    assert sg.lint(p["y"], wrt="h").codes == ()
    assert sg.lint(sg.parse("x : real\nh = sin(x)\ny = stop_gradient(floor(h))*h")["y"], wrt="h").codes == (
        "SG101",
    )


def test_long_programs() -> None:
    """Nothing is quadratic: of half the length it is half as much."""
    lines = ["x, w : real", "u ~ Normal(0, 1)", "h0 = x*w"]
    lines += [f"h{k + 1} = sin(h{k})*u + stop_gradient(h{k // 2}) + h{max(k - 7, 0)}*0.3" for k in range(250)]
    with counting() as calls:
        found = sg.lint(sg.parse("\n".join(lines)).last, wrt=["x"], noise="u", frozen="w")
    assert {"SG103", "SG104"} <= set(found.codes)
    assert calls.count < 8_000_000


_PARTS = ("x", "y", "X[0]", "sum(X)", "norm(X)", "u", "1", "max(X)", "k")
_WRAPS = (
    "sqrt({0})", "log(maximum({0}, 1e-6))", "stop_gradient({0})", "relu({0})", "({0}) + y*x", "({0})/x", "exp({0})",
    "where({0} > 0, {0}, x)", "where(x > 0, log({0}), {0})", "clip({0}, -1, 1)", "abs({0})",
    "x + stop_gradient(({0}) - x)",
    "({0})*X", "sum(X*({0}))", "floor({0})",
)  # fmt: skip


@given(st.sampled_from(_PARTS), st.lists(st.sampled_from(_WRAPS), min_size=1, max_size=6), st.booleans())
def test_no_program_is_too_odd(part: str, wraps: list[str], named: bool) -> None:
    """Nothing fails, and what is repaired has the shape of the program and reads back."""
    text = part
    for wrap in wraps:
        text = wrap.format(text)
        if len(text) > 200:
            break
    program = sg.parse("x, y : real; X : real[n]; k : int\nu ~ Uniform(0, 1)\nz = " + text)
    asked = {"wrt": ["x", "X"], "noise": "u", "frozen": "y"} if named else {}
    for finding in sg.lint(program.last, time_limit=0.5, **asked):
        assert finding.message
        assert finding.reason
        if finding.repaired is not None:
            number = finding.code == "SG201"  # the number whose gradient one gets
            assert finding.repaired.shape == (() if number else program.last.shape)


def test_the_framework_in_which_a_program_runs() -> None:
    norm, choice = "v : real[n]\ny = norm(v)", "x : real\ny = where(x > 0, sqrt(x), 0)"
    assert sg.lint(norm, framework="torch").codes == ()
    for name, called in (("jax", "JAX"), ("torch", "torch")):
        assert f"in {called}: the branch" in sg.lint(choice, framework=name)[0].message
    assert sg.lint(choice, framework="tensorflow").codes == ()  # its root leaves zeros alone
    assert sg.lint(choice, framework="numpy")[0].message == sg.lint(choice)[0].message
    assert sg.lint("x : real[n]\ny = sin(x)", framework="torch")[0].reason.endswith("entries; torch refuses")
    with pytest.raises(UsageError, match="'pytorch' is not a framework"):
        sg.lint(norm, framework="pytorch")


LONG = "a*x + b*x**2 + c*x**3 + d*x**4 + sin(a*x) + cos(b*x) + tan(c*x) + sinh(d*x)"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (f"y = sqrt(maximum({LONG}, 0))", "SG302"),
        (f"y = sin(clip({LONG}, -1, 1))", "SG304"),
        (f"y = floor({LONG})", "SG204"),
        (f"y = stop_gradient({LONG})", "SG203"),
        (f"y = x*stop_gradient(floor({LONG}))", "SG101"),
        (f"y = x + stop_gradient(sin({LONG}) - x)", "SG401"),
    ],
)
def test_a_long_repair_can_be_pasted(body: str, code: str) -> None:
    found = sg.lint(f"a, b, c, d, x : real\n{body}", wrt=["x"])
    (cure,) = [f.cure for f in found if f.code == code]
    assert cure is not None
    assert "…" not in cure
    assert LONG in cure


def test_a_repair_of_several_lines_is_the_repaired_program() -> None:
    start = "a, b, c, d, x : real\n"
    (found,) = [f for f in sg.lint(f"{start}y = sqrt(maximum({LONG}, 0))") if f.code == "SG302"]
    named, line = (found.cure or "").split("; write ")
    new = sg.parse(f"{start}{named}\ny = {line.split(' for ')[0]}").last
    assert sg.equal(new, found.repaired).status == "proved"
