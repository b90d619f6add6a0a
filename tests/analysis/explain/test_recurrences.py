"""Derivations of programs with recurrences: backpropagation through time in lines, and noise in steps."""

from __future__ import annotations

import random
from textwrap import dedent

import pytest

import symgrad as sg
from symgrad.ir.values.evaluate import evaluate
from tests.autodiff.test_recurrences import close, program_of, sized, values_for
from tests.frontend.test_random_recurrences import program, value_of
from tests.recurrences import RECURRENCES

NETWORK = """
x : real[T, m]; h0, b : real[n]; W : real[n, n]; U : real[n, m]
h[0] = h0
h[t] = tanh(W@h[t-1] + U@x[t-1] + b) for t in 1..T
loss = sum(h[T]**2)
"""
KALMAN = """
z : real[T]; a, q : positive
m[0] = 0; P[0] = 1; L[0] = 0
S = a**2*P[t-1] + q + 1; v = z[t-1] - a*m[t-1]; m[t] = a*m[t-1] + (a**2*P[t-1] + q)/S*v; \\
    P[t] = (a**2*P[t-1] + q)/S; L[t] = L[t-1] - (log(S) + v**2/S)/2 for t in 1..T
loss = L[T]
"""
ERRORS = """
a : real; y : real[T]
h[0] = 1
h[t] = tanh(a*h[t-1]) for t in 1..T
loss = sum((h[t] - y[t-1])**2, t=1..T)
"""
LAYERS = """
V, W : real[n, n]; x : real[T, n]
h[0] = zeros(n)
h[t] = tanh(V@h[t-1] + x[t-1]) for t in 1..T
g[0] = zeros(n)
g[t] = tanh(W@g[t-1] + h[t]) for t in 1..T
loss = sum(g[T]**2)
"""


@pytest.mark.parametrize(
    ("program", "by", "lines"),
    [
        (
            NETWORK,
            ["W", "b"],
            """
loss_bar = 1
h_bar[T] = 2*h[T]
t1[t] = h_bar[t]*(1 - h[t]**2); h_bar[t-1] = W.T@t1[t] for t in T..1
# h_bar[t-1] comes from h[t]
W_bar = sum(outer(t1[t], h[t-1]), t=1..T)
b_bar = sum(t1[t], t=1..T)
""",
        ),
        (
            NETWORK,
            ["x"],
            """
loss_bar = 1
h_bar[T] = 2*h[T]
t1[t] = h_bar[t]*(1 - h[t]**2); h_bar[t-1] = W.T@t1[t] for t in T..1
# h_bar[t-1] comes from h[t]
x_bar[t-1] = U.T@t1[t] for t in T..1
""",
        ),
        (
            LAYERS,
            ["x"],
            """
loss_bar = 1
g_bar[T] = 2*g[T]
g_bar[t-1] = W.T@(g_bar[t]*(1 - g[t]**2)) for t in T..1
# g_bar[t-1] comes from g[t]
h_bar[T] = zeros(n)
t1[t] = (g_bar[t]*(1 - g[t]**2) + h_bar[t])*(1 - h[t]**2); h_bar[t-1] = V.T@t1[t] for t in T..1
# h_bar[t-1] comes from h[t]
# h_bar[t] comes from later steps; the term from g stands beside it
x_bar[t-1] = t1[t] for t in T..1
""",
        ),
        (
            KALMAN,
            ["a", "q"],
            """
loss_bar = 1
m_bar[T] = 0
P_bar[T] = 0
S[t] = a**2*P[t-1] + q + 1; \\
    v = z[t-1] - a*m[t-1]; \\
    t1[t] = v + S[t]*m_bar[t]*(1 - P[t]); \\
    t2 = m_bar[t]*v + P_bar[t]; \\
    t3[t] = v**2 - S[t]*(2*P[t]*t2 - 2*t2 + 1); \\
    m_bar[t-1] = a*t1[t]/S[t]; \\
    P_bar[t-1] = a**2*t3[t]/(2*S[t]**2) for t in T..1
# m_bar[t-1] comes from v and m[t]
# P_bar[t-1] comes from S and P[t]
a_bar = sum(P[t-1]*a*t3[t]/S[t]**2 + m[t-1]*t1[t]/S[t], t=1..T)
q_bar = sum(t3[t]/S[t]**2, t=1..T)/2
""",
        ),
        (
            ERRORS,
            ["a"],
            """
loss_bar = 1
h_bar[T] = 0
t1[t] = h_bar[t] + 2*(h[t] - y[t-1]); h_bar[t-1] = a*t1[t]*(1 - h[t]**2) for t in T..1
# h_bar[t-1] comes from h[t]
# h_bar[t] comes from later steps; the term from loss stands beside it
a_bar = sum(h[t-1]*t1[t]*(1 - h[t]**2), t=1..T)
""",
        ),
        (
            LAYERS,
            ["V", "W"],
            """
loss_bar = 1
g_bar[T] = 2*g[T]
t1[t] = g_bar[t]*(1 - g[t]**2); g_bar[t-1] = W.T@t1[t] for t in T..1
# g_bar[t-1] comes from g[t]
h_bar[T] = zeros(n)
t2[t] = (g_bar[t]*(1 - g[t]**2) + h_bar[t])*(1 - h[t]**2); h_bar[t-1] = V.T@t2[t] for t in T..1
# h_bar[t-1] comes from h[t]
# h_bar[t] comes from later steps; the term from g stands beside it
V_bar = sum(outer(t2[t], h[t-1]), t=1..T)
W_bar = sum(outer(t1[t], g[t-1]), t=1..T)
""",
        ),
    ],
)
def test_backward_passes(program: str, by: list[str], lines: str) -> None:
    found = sg.explain(sg.parse(program)["loss"], by).adjoints
    shown = [line for a in found for line in (str(a), *(f"# {note}" for note in a.notes))]
    assert "\n".join(shown) == lines.strip()


FLAT = {"bisection", "first passage"}
"""Recurrences through whose steps no derivative passes."""


@pytest.mark.parametrize("name", sorted(FLAT))
def test_gradients_that_pass_no_step_have_no_lines_of_steps(name: str) -> None:
    y = program_of(name)["y"]
    assert not sg.explain(y, [x for x in y.inputs if x.dtype == "real"]).record.told_by_names


@pytest.mark.parametrize("name", sorted(set(RECURRENCES) - FLAT))
def test_printed_lines_are_the_gradients(name: str) -> None:
    """The text is read back below the program; each last line has the value of the gradient."""
    y = program_of(name)["y"]
    inputs = [x for x in y.inputs if x.dtype == "real"]
    derivation = sg.explain(y, inputs)
    assert derivation.record.told_by_names
    head, lines = str(derivation).split("from the output back\n\n")
    assert max(map(len, head.splitlines())) <= 100
    assert max(map(len, lines.splitlines())) <= 100
    assert "inner" not in head
    back = sg.parse(dedent(RECURRENCES[name]) + "\n" + lines.split("\n\n")[0])
    for x in inputs:
        both = sized([back[f"{x.name}_bar"].node, sg.grad(y, x).node])
        found, wanted = evaluate(both, values_for(both))
        close([found], [wanted])


@pytest.mark.parametrize("seed", range(30))
def test_printed_lines_of_random_recurrences_are_the_gradients(seed: int) -> None:
    text = program(random.Random(seed))
    y = sg.parse(text)["y"]
    inputs = [x for x in y.inputs if x.dtype == "real"]
    if not inputs:
        return
    derivation = sg.explain(y, inputs)
    shown = [
        derivation.text(steps=True),
        derivation.latex(),
        derivation.report().text(),
        str(sg.audit(y, inputs)),
    ]
    assert not any("recurrence(" in s for s in shown)
    if not derivation.record.told_by_names:
        return
    back = sg.parse(text + "\n" + str(derivation).split("from the output back\n\n")[1].split("\n\n")[0])
    for x in inputs:
        if f"{x.name}_bar" in back.names:
            close([value_of(back[f"{x.name}_bar"].node)], [value_of(sg.grad(y, x).node)])


def test_text_has_the_lines_of_the_program() -> None:
    text = str(sg.explain(sg.parse(NETWORK)["loss"], "W")).splitlines()
    assert text[4:7] == [
        "  h[0] = h0",
        "  h[t] = tanh(W@h[t-1] + U@x[t-1] + b) for t in 1..T",
        "  loss = sum(h[T]**2)",
    ]


def test_recurrences_of_python_have_names() -> None:
    x, w = sg.symbols("x w")
    found = sg.explain(sg.fori_loop(0, 5, lambda t, h: sg.tanh(w * h), x) ** 2, w)
    assert [str(a) for a in found.adjoints] == [
        "h_bar[5] = 2*h[5]\nh_bar[t-1] = h_bar[t]*w*(1 - h[t]**2) for t in 5..1",
        "w_bar = sum(h_bar[t]*h[t-1]*(1 - h[t]**2), t=1..5)",
    ]


def test_derivations_as_exercises() -> None:
    d = sg.explain(sg.parse(NETWORK)["loss"], "W")
    assert d.check_answer("sum(outer(t1[t], h[t-1]), t=1..T)").status == "proved"
    step = d.next_step("h_bar[T] = 2*h[T]\nh_bar[t-1] = W.T@(h_bar[t]*(1 - h[t]**2)) for t in T..1")
    assert step.line is not None
    assert step.line.name == "W_bar"
    wrong = d.next_step("h_bar[T] = 2*h[T]\nh_bar[t-1] = W@(h_bar[t]*(1 - h[t]**2)) for t in T..1").wrong
    assert wrong is not None
    assert (wrong.number, wrong.wanted.name) == (2, "h_bar")


def test_values_of_steps_in_exercises() -> None:
    d = sg.explain(sg.parse(NETWORK)["loss"], "x")
    line = "x_bar[t-1] = U.T@(h_bar[t]*(1 - h[t]**2)) for t in T..1"
    assert d.hide_last().splitlines()[-1] == "  x_bar = ?"
    assert d.check_answer(line).status == "proved"
    assert d.check_answer(line.replace("1 -", "1 +")).status == "refuted"
    assert d.check_answer("(h_bar[1:]*(1 - h[1:]**2))@U").status == "proved"
    back = "h_bar[T] = 2*h[T]\nh_bar[t-1] = W.T@(h_bar[t]*(1 - h[t]**2)) for t in T..1"
    assert str(d.next_step(back).line) == "x_bar[t-1] = U.T@t1[t] for t in T..1"
    for lines in (f"{back}\n{line}", back.replace(" for", f"; {line.partition(' for')[0]} for")):
        found = d.next_step(lines)
        assert found.line is None
        assert [line.name for line in found.reached] == ["h_bar", "x_bar"]
    wrong = d.next_step(f"{back}\n{line.replace('1 -', '1 +')}").wrong
    assert wrong is not None
    assert (wrong.number, wrong.wanted.name) == (3, "x_bar")


def cuts(line: str, *, first: str = "h[0] = 1", span: str = "for t in 1..T") -> list[tuple[object, ...]]:
    """Return what is cut in the steps of a program with one line of steps."""
    declared = "a, b : real\nx : real[T]\n"
    p = sg.parse(f"{declared}{first}\n{line} {span}\nloss = h[0]**2 + h[T]**2")
    found = sg.explain(p["loss"], ["a", "b"]).cuts
    return [(c.values, c.complete, c.where, c.whole, c.inside, c.through) for c in found]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("h[t] = tanh(a*h[t-1] + b*x[t-1])", []),
        (
            "h[t] = tanh(a*stop_gradient(h[t-1]) + b*x[t-1])",
            [(("h[t-1]",), True, None, True, ("stop_gradient(h[t-1])",), ())],
        ),
        (
            "h[t] = tanh(a*where(t > 3, stop_gradient(h[t-1]), h[t-1]) + b*x[t-1])",
            [(("h[t-1]",), True, "t > 3", True, ("stop_gradient(h[t-1])",), ())],
        ),
        (
            "h[t] = tanh(a*where(x[t-1] > 0, h[t-1], stop_gradient(h[t-1])) + b)",
            [(("h[t-1]",), True, "not (x[t-1] > 0)", True, ("stop_gradient(h[t-1])",), ())],
        ),
        (
            "h[t] = tanh(a*h[t-1] + b*stop_gradient(h[t-1]))",
            [(("h[t-1]",), False, None, False, ("stop_gradient(h[t-1])",), ("a*h[t-1]",))],
        ),
        ("h[t] = tanh(stop_gradient(a)*h[t-1] + b)", []),  # no value of a step stands inside
    ],
)
def test_what_is_cut_in_steps(line: str, found: list[tuple[object, ...]]) -> None:
    assert cuts(line) == found


def test_what_is_cut_of_several_values() -> None:
    first = "h[0] = 1; c[0] = 1"
    line = "c[t] = tanh(a*stop_gradient(h[t-1]))*c[t-1]; h[t] = tanh(b*c[t])"
    stop = ("stop_gradient(h[t-1])",)
    assert cuts(line, first=first) == [(("h[t-1]",), True, None, False, stop, ())]
    both = line.replace("*c[t-1]", "*stop_gradient(c[t-1])")
    stops = (*stop, "stop_gradient(c[t-1])")
    assert cuts(both, first=first) == [(("h[t-1]", "c[t-1]"), True, None, True, stops, ())]


def test_what_is_cut_of_a_longer_memory_and_of_steps_back() -> None:
    line = "h[t] = a*h[t-1] + b*stop_gradient(h[t-2])"
    assert cuts(line, first="h[0] = 1; h[1] = 2", span="for t in 2..T") == [
        (("h[t-2]",), True, None, False, ("stop_gradient(h[t-2])",), ())
    ]
    p = sg.parse("a : real\nG[9] = a\nG[t-1] = a*stop_gradient(G[t]) for t in 9..1\ny = G[0]")
    (cut,) = sg.explain(p["y"], "a").cuts
    assert cut.headline == "no gradient passes from step t to step t+1"
    assert "no gradient passes" in str(sg.audit(p["y"], "a"))


def test_a_cut_derivative_is_zero_there() -> None:
    """Where nothing is said to pass, the derivative by the value of the step before is zero."""
    p = sg.parse(
        "w : real; x : real[6]\nh[0] = 1/2\n"
        "h[t] = tanh(w*where(t == 3, stop_gradient(h[t-1]), h[t-1]) + x[t-1]) for t in 1..6\ny = h[6]"
    )
    (cut,) = sg.explain(p["y"], "w").cuts
    assert cut.where == "t == 3"
    slopes = sg.grad(p["y"], "x")(w=0.7, x=[0.1, 0.2, 0.3, 0.1, 0.2, 0.3])
    assert [bool(s) for s in slopes] == [False, False, True, True, True, True]


WALK = """
w ~ Normal(0, 1)[T]
a, s : real
x[0] = 1
x[t] = x[t-1] - a*x[t-1]/10 + s*w[t-1] for t in 1..T
"""


def test_noise_of_a_walk_enters_with_a_witness() -> None:
    found = sg.explain(sg.parse(WALK + "loss = x[T]**2")["loss"], "a")
    assert "w enters the gradient" in str(found)
    assert "witness   at a = " in str(found)


def test_noise_that_the_gradient_does_not_read() -> None:
    found = sg.explain(sg.parse(WALK + "loss = x[T]")["loss"], "s")
    assert "w enters the gradient" in str(found)
    clean = sg.explain(sg.parse(WALK.replace("a*x[t-1]", "a") + "loss = x[T]")["loss"], "a")
    assert "w does not enter the gradient" in str(clean)


def test_lines_that_read_noise() -> None:
    d = sg.explain(sg.parse(WALK + "loss = x[T]**2")["loss"], ["a", "s"])
    found = d.json()["noise"]["w"]["lines"]
    assert found == {
        "steps": [["x[t]", ["w[t-1]"], "t in 1..T"]],
        "gradient": [["x_bar[T]", ["x[T]"]], ["a_bar", ["x[t-1]"]], ["s_bar", ["w[t-1]"]]],
    }
    assert "x[t] reads w[t-1] for t in 1..T" in str(d)


def test_sampled_inputs_are_read_in_each_step() -> None:
    """Scheduled sampling: the draw chooses what a step reads, and where the gradient passes."""
    p = sg.parse("""
    w : real; y : real[T]; m ~ Bernoulli(1/2)[T]
    h[0] = 0
    h[t] = tanh(w*where(m[t-1] > 0, y[t-1], h[t-1])) for t in 1..T
    loss = h[T]**2
    """)
    d = sg.explain(p["loss"], "w")
    assert d.noise["m"].enters
    lines = d.json()["noise"]["m"]["lines"]
    assert lines["steps"] == [["h[t]", ["m[t-1]"], "t in 1..T"]]
    assert dict(lines["gradient"])["h_bar[t-1]"] == ["m[t-1]", "h[t]"]


def test_no_line_of_the_gradient_reads_noise_that_is_added() -> None:
    p = sg.parse(WALK.replace("a*x[t-1]", "a") + "loss = x[T]")
    d = sg.explain(p["loss"], "a")
    assert d.noise["w"].enters is False
    assert d.json()["noise"]["w"]["lines"] == {"steps": [["x[t]", ["w[t-1]"], "t in 1..T"]], "gradient": []}
