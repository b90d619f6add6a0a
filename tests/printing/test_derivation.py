from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import symgrad as sg
from symgrad.analysis.explain.derivation import explain
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import OPS, symbol
from symgrad.ir.types import Declaration
from symgrad.printing.reports.steps import derivation_report
from symgrad.printing.texts.derivation import derivation_latex, derivation_text, path_text
from symgrad.printing.texts.plain import derivation_json
from symgrad.support.source import Place
from tests.analysis.explain.programs import HEAD, TRICKS

NETWORK = """
w1 : real
w2 : real
b : real
x : real
t : real
n ~ Normal(0, 1)
drop ~ Bernoulli(0.5)
h = tanh(w1*x + b + 0.1*n)
hd = where(drop > 0, h, 0)
pred = w2*hd + stop_gradient(h)
err = pred - stop_gradient(t + 0.01*n)
loss = err**2 + 0.001*(w1**2 + w2**2)
"""
CASES = {
    "z_inner": (TRICKS, "z_inner", ["x"]),
    "z_outer": (TRICKS, "z_outer", ["x"]),
    "network": (NETWORK, "loss", ["w1"]),
    "nothing": (HEAD + "y = stop_gradient(x*u) + p*floor(x)", "y", ["x", "p"]),
}


def derive(program, of="y", wrt=("x",)):
    listing = parse_program(program)
    return explain(listing[of], [listing[w] for w in wrt], listing)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("steps", [True, False])
def test_text(name, steps, golden):
    d = derive(*CASES[name])
    text = derivation_text(d, steps=steps)
    assert max(map(len, text.splitlines())) <= 100
    assert not any(line != line.rstrip() for line in text.splitlines())
    golden(f"derivations/{name}{'' if steps or not d.told_by_names else '_adjoints'}.txt", text)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("steps", [True, False])
def test_latex(name, steps, golden):
    d = derive(*CASES[name])
    tex = derivation_latex(d, steps=steps)
    assert tex.count("{") == tex.count("}")
    assert tex.count(r"\left") == tex.count(r"\right")
    flat = re.sub(r"\\begin\{cases\}.*?\\end\{cases\}", "", tex)
    assert max(row.count("&") for row in flat.split("\n")) <= 6
    golden(f"derivations/{name}{'' if steps or not d.told_by_names else '_adjoints'}.tex", tex)


def test_long_derivations_end():
    lines = ["x : real", "u ~ Uniform(0.9, 1.1)", "a0 = x*u"] + [
        f"a{i} = sin(a{i - 1})*x" for i in range(1, 400)
    ]
    d = derive("\n".join(lines), "a249")
    text = derivation_text(d)
    assert f"… {len(d.steps) - 200} more steps" in text
    assert max(map(len, text.splitlines())) <= 100
    assert len(text) < 120_000
    assert r"\ldots" in derivation_latex(d)
    assert "more steps are not listed" in derivation_report(d).html()


def test_long_paths_are_cut_in_the_middle():
    assert (
        path_text(tuple("abcdefghijklmn"))
        == "a <- b <- c <- d <- e <- f <- (2 more) <- i <- j <- k <- l <- m <- n"
    )


def test_json_is_plain_and_complete():
    d = derive(*CASES["z_inner"])
    found = derivation_json(d)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["y"], found["wrt"], found["values"]) == ("z_inner", ["x"], ["sign(x)/sqrt(u)"])
    assert found["canonical"] != found["values"]
    for step, record in zip(found["steps"], d.steps, strict=True):
        assert all(
            getattr(record, key) == (tuple(v) if isinstance(v, list) else v) for key, v in step.items()
        )
    (verdict,) = found["noise"].values()
    record = d.noise["u"]
    for key in ("name", "enters", "reason", "how", "residual", "rule"):
        assert verdict[key] == getattr(record, key)
    assert verdict["path"] == list(record.path)
    assert verdict["witness"]["draws"] == ["0.95", "1.05"]
    assert verdict["all_paths"][0] == {
        "rule": "sqrt",
        "number": 1,
        "residual": "z_inner",
        "path": list(record.path),
        "places": [],
        "crosses_stop": True,
        "matters": True,
    }
    assert derivation_json(derive(*CASES["nothing"]))["nothing"] == ["zero", None]


def test_what_a_choice_passes_on_is_zero_elsewhere():
    d = derive("x : real\ny = where(x > 0, x**2, sin(x))")
    passed = sorted(s["produced"] for s in derivation_json(d)["steps"] if s["target"] == "x")
    assert passed == ["where(not x > 0, cos(x), 0)", "where(x > 0, 2*x, 0)"]
    assert "where(x > 0, 2*x, 0)  to x" in derivation_text(d, steps=True)
    assert r"\begin{cases} 2 x & \text{if } x > 0 \\ 0" in derivation_latex(d, steps=True)


class Checker(HTMLParser):
    """Balanced tags, no script, nothing fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        assert tag not in {"script", "link", "img", "iframe"}
        assert not any(name in {"src", "href"} or name.startswith("on") for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", CASES)
def test_html_is_balanced_and_needs_no_network(name):
    d = derive(*CASES[name])
    page = derivation_report(d).html()
    checker = Checker()
    checker.feed(page)
    assert not checker.open
    assert "<svg " in page
    assert "http:" not in page
    assert "https:" not in page
    for verdict in d.noise.values():
        assert verdict.reason in checker.text


def test_html_escapes_names():
    evil = symbol(Declaration("<b onload=x>"))
    page = derivation_report(explain(OPS["sin"](evil), [evil], None)).html()
    assert "<b " not in page
    assert "&lt;b onload=x&gt;" in page


def test_gradient_with_a_truth_value_is_one_expression() -> None:
    p = parse_program("x : real\nc : bool\ny = where(c, x**2, x)")
    text = derivation_text(explain(p["y"], [p["x"]], p))
    assert "  dy/dx = where(c, 2*x, 1)\n" in text


def test_lines_of_foreign_code_are_told_beside_what_they_compute():
    text = "h = stop_gradient(x*u)\nz = sqrt(h + x**2)\ny = stop_gradient(x)*2"
    p = parse_program("x : real\nu ~ Uniform(0.9, 1.1)\n" + text)
    places = {
        p["h"]: Place("net.py", 7, 4, 20, "h = stop(x*u)"),
        **dict.fromkeys(p["y"].args, Place("net.py", 9, 4, 20, "y = stop(x)*2")),
    }
    program = replace(p, places=places)
    d = explain(program["z"], [program["x"]], program)
    assert "  line      net.py, line 7: h = stop(x*u)" in derivation_text(d).splitlines()
    assert "net.py, line 7: h = stop(x*u)" in derivation_report(d).html()
    (verdict,) = derivation_json(d)["noise"].values()
    assert verdict["places"] == [{"file": "net.py", "line": 7, "text": "h = stop(x*u)"}]
    stopped = derivation_text(explain(program["y"], [program["x"]], program))
    assert "    net.py, line 9: y = stop(x)*2" in stopped.splitlines()


UNNAMED = """
X, W : real[n, d]
gamma, beta : real[d]
loss = sum(W*(gamma*(X - mean(X, axis=0))/sqrt(mean((X - mean(X, axis=0))**2, axis=0) + 1e-5) + beta))
"""


def test_steps_have_names_for_what_is_long() -> None:
    p = sg.parse(UNNAMED)
    explained = sg.explain(p["loss"], ["X", "gamma", "beta"])
    text = str(explained)
    assert "…" not in text
    assert r"\ldots" not in explained.latex()
    head, steps = text.split("from the output back, where")
    assert str(sg.grad(p["loss"], "X")).splitlines()[-1].strip() in head  # as it is printed by itself
    symbols = {name: p[name] for name in ("X", "W", "gamma", "beta")}
    for line in steps.split("1  sum")[0].split("\n"):
        if " = " in line:
            name, body = line.strip().split(" = ")
            symbols[name] = sg.parse(body, symbols=symbols).last
    assert set(symbols) - {"X", "W", "gamma", "beta"} >= {"t2", "t3"}


def test_latex_says_the_gradients_as_the_text_does() -> None:
    p = sg.parse(
        "nu, T : positive\nh = 6.62607015e-34; c = 299792458; k = 1.380649e-23\n"
        "B = 2*h*nu**3/c**2/(exp(h*nu/(k*T)) - 1)"
    )
    explained = sg.explain(p["B"], ["T"])
    assert sg.grad(p["B"], "T").latex() in explained.latex()
    assert "6626" not in explained.latex()
    assert "6.626" not in str(explained)
    assert "…" not in str(explained)
