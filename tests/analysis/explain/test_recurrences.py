"""Derivations of programs with recurrences: backpropagation through time in lines, and noise in steps."""

from __future__ import annotations

from textwrap import dedent

import pytest

import symgrad as sg
from symgrad.ir.values.evaluate import evaluate
from tests.autodiff.test_recurrences import close, every_recurrence, program_of, sized, values_for
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
q_bar = sum(t3[t]/(2*S[t]**2), t=1..T)
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
t2[t] = (g_bar[t]*(g[t]**2 - 1) - h_bar[t])*(h[t]**2 - 1); h_bar[t-1] = V.T@t2[t] for t in T..1
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


@every_recurrence
def test_printed_lines_are_the_gradients(name: str) -> None:
    """The text is read back below the program; each last line has the value of the gradient."""
    y = program_of(name)["y"]
    inputs = [x for x in y.inputs if x.dtype == "real"]
    derivation = sg.explain(y, inputs)
    if not derivation.record.told_by_names:
        pytest.skip("no derivative passes a step")
    head, lines = str(derivation).split("from the output back\n\n")
    assert max(map(len, head.splitlines())) <= 100
    assert max(map(len, lines.splitlines())) <= 100
    assert "inner" not in head
    back = sg.parse(dedent(RECURRENCES[name]) + "\n" + lines.split("\n\n")[0])
    for x in inputs:
        both = sized([back[f"{x.name}_bar"].node, sg.grad(y, x).node])
        found, wanted = evaluate(both, values_for(both))
        close([found], [wanted])


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
        "w_bar = sum(h[:5]*sech(w*h[:5])**2*h_bar[1:])",
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
