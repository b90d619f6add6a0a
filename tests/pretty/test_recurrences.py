"""Gradients of recurrences are printed as their authors write them, and read back."""
# ruff: noqa: E501  (printed lines)

from __future__ import annotations

from textwrap import dedent

import pytest

import symgrad as sg
from symgrad.ir.values.evaluate import evaluate
from tests.autodiff.test_recurrences import close, program_of, sized, values_for
from tests.recurrences import RECURRENCES

KALMAN = """
z : real[T]; a, q : positive; A, P0 : real[n,n]; c : real[n]
m[0] = zeros(n); P[0] = P0; L[0] = 0
M = a*A@P[t-1]@A.T + q*eye(n); \\
    p = a*A@m[t-1]; g = M@c; S = sum(c*g) + 1; v = z[t-1] - sum(c*p); \\
    m[t] = p + g*v/S; \\
    P[t] = M - outer(g, g)/S; \\
    L[t] = L[t-1] - (log(S) + v**2/S)/2 for t in 1..T
loss = L[T]
"""
LSTM = """
x : real[T, m]; Wi, Wf, Wo, Wg : real[n, n]; Ui, Uf, Uo, Ug : real[n, m]; bi, bf, bo, bg : real[n]
h[0] = zeros(n); c[0] = zeros(n)
i = sigmoid(Wi@h[t-1] + Ui@x[t-1] + bi); \\
    f = sigmoid(Wf@h[t-1] + Uf@x[t-1] + bf); \\
    o = sigmoid(Wo@h[t-1] + Uo@x[t-1] + bo); \\
    g = tanh(Wg@h[t-1] + Ug@x[t-1] + bg); \\
    c[t] = f*c[t-1] + i*g; \\
    h[t] = o*tanh(c[t]) for t in 1..T
loss = sum(h[T]**2)
"""
NETWORK = """
x : real[T, m]; h0, b : real[n]; W : real[n, n]; U : real[n, m]
h[0] = h0
h[t] = tanh(W@h[t-1] + U@x[t-1] + b) for t in 1..T
loss = sum(h[T]**2)
"""


@pytest.mark.parametrize(
    ("program", "by", "text"),
    [
        (
            KALMAN,
            "A",
            """
-a*sum(t2[t]@A@P[t-1].T + t2[t].T@A@P[t-1] + 2*outer(-t1[t] - m_bar[t], m[t-1]), t=1..T)/2
where
  m_bar[T] = zeros(n)
  P_bar[T] = zeros((n, n))
  M = a*A@P[t-1]@A.T + q*eye(n); \\
    p = a*A@m[t-1]; \\
    g = M@c; \\
    S = sum(c*g) + 1; \\
    v = z[t-1] - sum(c*p); \\
    t1[t] = (v - m_bar[t]@g)*c/S; \\
    t2[t] = outer((2*v*(m_bar[t]@g) - 2*(g@P_bar[t]@g) - v**2 + S)*c + 2*S*((P_bar[t] + P_bar[t].T)@g - v*m_bar[t]), c)/S**2 - 2*P_bar[t]; \\
    m_bar[t-1] = a*A.T@(m_bar[t] + t1[t]); \\
    P_bar[t-1] = -a*A.T@t2[t]@A/2 for t in T..1
""",
        ),
        (
            LSTM,
            "Wi",
            """
sum(outer(t2[t], h[t-1]), t=1..T)
where
  h_bar[T] = 2*h[T]
  c_bar[T] = zeros(n)
  i = sigmoid(Wi@h[t-1] + Ui@x[t-1] + bi); \\
    f = sigmoid(Wf@h[t-1] + Uf@x[t-1] + bf); \\
    o = sigmoid(Wo@h[t-1] + Uo@x[t-1] + bo); \\
    g = tanh(Wg@h[t-1] + Ug@x[t-1] + bg); \\
    t1 = h_bar[t]*o*sech(c[t])**2 + c_bar[t]; \\
    t2[t] = g*i*t1*(1 - i); \\
    h_bar[t-1] = Wf.T@(c[t-1]*f*t1*(1 - f)) + Wg.T@(i*t1*(1 - g**2)) + Wi.T@t2[t] + Wo.T@(h_bar[t]*o*tanh(c[t])*(1 - o)); \\
    c_bar[t-1] = f*t1 for t in T..1
""",
        ),
        (
            NETWORK,
            "W",
            """
sum(outer(t1[t], h[t-1]), t=1..T)
where
  h_bar[T] = 2*h[T]
  t1[t] = h_bar[t]*(1 - h[t]**2); h_bar[t-1] = W.T@t1[t] for t in T..1
""",
        ),
    ],
)
def test_gradients_as_text(program: str, by: str, text: str) -> None:
    slope = sg.grad(sg.parse(program)["loss"], by)
    assert str(slope) == text.strip()
    both = sized([sg.parse(program + text).last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])


def test_gradients_by_several_variables() -> None:
    p = sg.parse(NETWORK)
    slopes = sg.grad(p["loss"], ["W", "b"])
    assert [str(slope).splitlines()[0] for slope in slopes] == [
        "sum(outer(t1[t], h[t-1]), t=1..T)",
        "sum(t1[t], t=1..T)",
    ]


def test_latex() -> None:
    assert sg.grad(sg.parse(NETWORK)["loss"], "W").latex().splitlines()[1].removesuffix(r" \\") == (
        r"& \sum_{t = 1}^{T} t_{1, t} h_{t-1}^{\top}"
    )


def test_a_value_of_other_steps_is_no_part_of_a_step() -> None:
    # h has other steps than g, so no value of h stands in the steps of g and in the sum over them.
    text = """
T : size; a : real; x : real[S]
h[0] = 1
h[t] = tanh(a*h[t-1]) for t in 1..T
g[0] = 1
g[t] = tanh(a*g[t-1] + x[t-1]*h[T]) for t in 1..S
loss = g[S]*h[T]
"""
    slope = sg.grad(sg.parse(text)["loss"], "a")
    both = sized([sg.parse(f"{text}{slope}").last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])


OSCILLATOR = """
mu : real
y[0] = 2; v[0] = 0
l1 = mu*(1 - y[t-1]**2)*v[t-1] - y[t-1]; k2 = v[t-1] + l1/200; y2 = y[t-1] + v[t-1]/200; \\
    l2 = mu*(1 - y2**2)*k2 - y2; k3 = v[t-1] + l2/200; y3 = y[t-1] + k2/200; \\
    l3 = mu*(1 - y3**2)*k3 - y3; k4 = v[t-1] + l3/100; y4 = y[t-1] + k3/100; \\
    y[t] = y[t-1] + (v[t-1] + 2*k2 + 2*k3 + k4)/600; \\
    v[t] = v[t-1] + (l1 + 2*l2 + 2*l3 + (mu*(1 - y4**2)*k4 - y4))/600 for t in 1..10
loss = y[10]**2
"""


def test_parts_of_long_steps_are_not_multiplied_out() -> None:
    slope = sg.grad(sg.parse(OSCILLATOR)["loss"], "mu")
    (start,) = (k for k, line in enumerate(str(slope).splitlines()) if line.startswith("  v_bar[10]"))
    steps = [line.strip(" \\;") for line in str(slope).splitlines()[start + 1 :]]
    assert "k3 = v[t-1] + l2/200" in steps
    assert max(map(len, steps)) < 120
    both = sized([sg.parse(f"{OSCILLATOR}{slope}").last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])


@pytest.mark.parametrize("steps", ["T", "4"])
def test_sums_that_read_their_position_have_the_range_of_the_steps(steps: str) -> None:
    size = "T : size; " if steps == "T" else ""
    program = sg.parse(f"""{size}a : real
w[0] = 1
w[t] = w[t-1] - a*w[t-1]/(1 - 0.9**t) for t in 1..{steps}
y = w[{steps}]**2""")
    printed = str(sg.grad(program["y"], "a"))
    assert printed.splitlines()[0] == f"sum(w_bar[t]*w[t-1]/(0.9**t - 1), t=1..{steps})"
    assert sg.verify(program["y"], "a", printed).status == "proved"


@pytest.mark.parametrize(
    ("step", "by", "shown"),
    [
        ("h[t] = tanh(s*W@h[t-1] + 2*exp(k)*U@x[t-1])", "W", "s*sum(outer(t1[t], h[t-1]), t=1..T)"),
        ("h[t] = tanh(s*W@h[t-1] + 2*exp(k)*U@x[t-1])", "U", "2*exp(k)*sum(outer(t1[t], x[t-1]), t=1..T)"),
        ("h[t] = tanh(W@h[t-1]/s + u[t-1]*b)", "W", "sum(outer(t1[t], h[t-1]), t=1..T)/s"),
        ("h[t] = tanh(W@h[t-1] - s*b*u[t-1])", "b", "-s*sum(u[t-1]*h_bar[t]*(1 - h[t]**2), t=1..T)"),
        # A factor that a step computes stays.
        ("h[t] = tanh(W@h[t-1]*u[t-1])", "W", "sum(u[t-1]*outer(t1[t], h[t-1]), t=1..T)"),
    ],
)
def test_factors_that_are_the_same_in_all_steps_stand_before_a_sum(step: str, by: str, shown: str) -> None:
    declared = (
        "T : size; s, k : real; u : real[T]; x : real[T, m]; b : real[n]; W : real[n, n]; U : real[n, m]"
    )
    p = sg.parse(f"{declared}\nh[0] = zeros(n)\n{step} for t in 1..T\nloss = sum(h[T]**2)")
    gradient = sg.grad(p["loss"], by)
    assert str(gradient).splitlines()[0] == shown
    both = sized([sg.parse(f"{p}\n{gradient}").last.node, gradient.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])


@pytest.mark.parametrize("program", [KALMAN, LSTM])
def test_the_latex_of_values_has_the_names_of_the_steps(program: str) -> None:
    p = sg.parse(program)
    text = p["loss"].latex()
    rows = [row.strip() for row in text.splitlines()]
    shown = {
        KALMAN: [
            r"S_{t} &= \operatorname{sum}\left(c \odot g_{t}\right) + 1 \\",
            r"m_{t} &= p_{t} + \frac{v_{t}}{S_{t}} g_{t} \\",
            r"P_{t} &= M_{t} - \frac{1}{S_{t}} g_{t} g_{t}^{\top} \\",
        ],
        LSTM: [
            r"c_{t} &= f_{t} \odot c_{t-1} + i_{t} \odot g_{t} \\",
            r"h_{t} &= o_{t} \odot \tanh\left(c_{t}\right), \quad t = 1, \dots, T \\",
        ],
    }[program]
    assert all(row in rows for row in shown)
    declared = "; ".join(str(s.node.declaration) for s in p.inputs)
    both = sized([sg.parse_latex(text, declared).last.node, p["loss"].node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])
    # As text all values of the steps have the names of the program, too.
    assert str(p["loss"]).splitlines()[-1] == str(sg.parse(str(p)).last).splitlines()[-1]
    assert all(f"{name}[0] = " in str(p["loss"]) for name in ({KALMAN: "mPL", LSTM: "hc"}[program]))


def test_a_factor_stands_before_a_sum_over_steps_in_latex() -> None:
    first = sg.grad(sg.parse(KALMAN)["loss"], "A").latex().splitlines()[1]
    assert first.startswith(r"& -\frac{a}{2} \sum_{t = 1}^{T} \left(")
    second = sg.grad(sg.parse(KALMAN)["loss"], "q").latex().splitlines()[1]
    assert r"\frac{\sum" not in second


def test_parts_that_latex_names_keep_their_names() -> None:
    paper = sg.parse_latex(
        r"h_0 &= 0 \\ s_k &= a h_{k-1} \\ h_k &= \tanh(s_k) + s_k, \quad k = 1, \dots, 9 \\ y &= h_9^2",
        "a : real",
    )
    assert "s = a*h[k-1]; h[k] = tanh(s) + s for k in 1..9" in str(paper["y"])
    assert "for k in 9..1" in str(sg.grad(paper["y"], "a"))


@pytest.mark.parametrize("steps", ["T", "100"])
def test_factors_stand_before_sums_over_any_number_of_steps(steps: str) -> None:
    p = sg.parse(f"""a, k : real{"; T : size" if steps == "T" else ""}
u[0] = 1; v[0] = 0
u[t] = u[t-1] - a*k**2*v[t-1]; v[t] = v[t-1] + a*k**2*u[t] for t in 1..{steps}
P = u[{steps}]**2""")
    shown = str(sg.grad(p["P"], "k")).splitlines()[0]
    assert shown == f"2*a*k*sum(v_bar[t]*u[t] - v[t-1]*u_bar[t-1], t=1..{steps})"


ROWS = """
T : size; k, e : positive; w : real[2]
y[0] = w
a = array([y[t-1,1], -k*sin(y[t-1,0]) - y[t-1,1]]); q = y[t-1] + e*a/2; b = array([q[1], -k*sin(q[0]) - q[1]]); \\
    y[t] = y[t-1] + e*b for t in 1..T
loss = y[T,0]**2 + 3*y[T,1]
"""


@pytest.mark.parametrize("by", ["k", "e", "w"])
def test_steps_of_small_arrays_are_written_by_their_entries(by: str) -> None:
    p = sg.parse(ROWS)
    assert "y[t-1][1]" in str(p)
    assert str(p).splitlines()[-1] == "loss = y[T, 0]**2 + 3*y[T, 1]"
    slope = sg.grad(p["loss"], by)
    steps = str(slope).split("  a")[1]
    assert "q[" in steps
    assert not [word for word in ("squeeze", "concatenate", "unslice", "full(") if word in steps]
    both = sized([sg.parse(f"{ROWS}{slope}").last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])
    latex = p["loss"].latex()
    assert r"y_{T, 0}^{2}" in latex
    again = sg.parse_latex(latex, "T : size; k, e : positive; w : real[2]").last
    both = sized([again.node, p["loss"].node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])


@pytest.mark.parametrize(
    ("step", "by", "shown"),
    [
        ("w[k] = w[k-1] - l*X.T@(X@w[k-1] - y)", "l", "sum((y - X@w[k-1])@X@w_bar[k], k=1..50)"),
        ("w[k] = w[k-1] - l*X.T@(X@w[k-1] - y)", "y", "l*sum(t1[k], k=1..50)"),
        ("w[k] = w[k-1] + l*sin(w[k-1])", "l", "sum(w_bar[k]@sin(w[k-1]), k=1..50)"),
        ("w[k] = l*w[k-1]", "l", "sum(w_bar[k]@w[k-1], k=1..50)"),
    ],
)
def test_sums_over_steps_are_written_at_their_positions(step: str, by: str, shown: str) -> None:
    text = f"X : real[n, m]; y : real[n]; v : real[m]; l : positive\nw[0] = v\n{step} for k in 1..50\nloss = sum(w[50]**2)"
    slope = sg.grad(sg.parse(text)["loss"], by)
    assert str(slope).splitlines()[0] == shown
    both = sized([sg.parse(f"{text}\n{slope}").last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])


@pytest.mark.parametrize(
    ("program", "by", "line"),
    [
        (NETWORK, "x", "x_bar[t-1] = U.T@t1"),
        (
            "r : real[T]; w, a, b, v : positive\ns[0] = v\ns[t] = w + a*r[t-1]**2 + b*s[t-1] for t in 1..T\n"
            "loss = sum(log(s[t]) + r[t-1]**2/s[t], t=1..T)",
            "r",
            "r_bar[t-1] = 2*r[t-1]*(a*(s_bar[t]*s[t]**2 - r[t-1]**2 + s[t]) + s[t])/s[t]**2",
        ),
        (  # The name is taken.
            "T : size; x : real[T]; a, x_bar : real\nh[0] = x_bar\nh[t] = tanh(sin(a*h[t-1]) + exp(x[t-1])) for t in 1..T\n"
            "loss = h[T]**2",
            "x",
            "x_bar_[t-1] = h_bar[t]*(1 - h[t]**2)*exp(x[t-1])",
        ),
        (
            "T : size; x : real[T]; a : real\nh[0] = a\nh[t+1] = tanh(sin(a*h[t]) + exp(x[t])) for t in 0..T-1\n"
            "loss = h[T]**2",
            "x",
            "x_bar[t-1] = h_bar[t]*(1 - h[t]**2)*exp(x[t-1])",
        ),
    ],
)
def test_gradients_by_rows_are_values_of_the_steps(program: str, by: str, line: str) -> None:
    slope = sg.grad(sg.parse(program)["loss"], by)
    first, *lines = str(slope).splitlines()
    assert first == line.partition("[")[0]
    shown = [part.strip(" \\") for text in lines for part in text.partition(" for ")[0].split(";")]
    assert line in shown
    both = sized([sg.parse(f"{program}\n{slope}").last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])
    assert sg.verify(sg.parse(program)["loss"], by, str(slope)).status == "proved"


@pytest.mark.parametrize(
    ("program", "lines"),
    [
        (
            "x : real[T]; a : real\ns[0] = x[0]\ns[k] = a*x[k] + (1 - a)*s[k-1] for k in 1..T-1\n"
            "loss = sum((x[1:] - s[:T-1])**2)",
            "x_bar[0] = s_bar[0]\nx_bar[k] = s_bar[k]*a + 2*(x[k] - s[k-1]) for k in 1..T - 1",
        ),
        (
            "x : real[T + 1]; a : real\ns[0] = a\ns[t] = a*x[t-1] + (1 - a)*s[t-1]**2 for t in 1..T\n"
            "loss = (s[T] - x[T])**2",
            "x_bar[T] = 2*(x[T] - s[T])\nx_bar[t-1] = s_bar[t]*a for t in T..1",
        ),
        (
            "x : real[5]; a : real\ns[0] = x[0]\ns[t] = a*x[t] + (1 - a)*s[t-1]**2 for t in 1..4\nloss = s[4]**2",
            "x_bar[0] = s_bar[0]\nx_bar[t] = s_bar[t]*a for t in 1..4",
        ),
        (
            "x : real[T, n]; W : real[n, n]\ns[0] = W@x[0]\ns[t] = tanh(W@s[t-1] + x[t]) for t in 1..T-1\n"
            "loss = sum(s[T-1]**2)",
            "x_bar[0] = W.T@s_bar[0]\nx_bar[t] = s_bar[t]*(1 - s[t]**2) for t in 1..T - 1",
        ),
    ],
)
def test_gradients_by_rows_say_the_value_at_an_end(program: str, lines: str) -> None:
    loss = sg.parse(program)["loss"]
    slope = sg.grad(loss, "x")
    assert "\n  ".join(["x_bar\nwhere", *lines.splitlines()]) in str(slope)
    assert lines in "\n".join(map(str, sg.explain(loss, "x").adjoints))
    both = sized([sg.parse(f"{program}\n{slope}").last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])
    assert r"\bar{x}_{" in slope.latex()
    assert sg.verify(loss, "x", str(slope)).status in ("proved", "supported")


def test_gradients_by_rows_in_latex() -> None:
    rows = sg.grad(sg.parse(NETWORK)["loss"], "x").latex().splitlines()
    assert rows[1] == r"& \bar{x} \\"
    assert rows[-2] == r"\bar{x}_{t-1} &= U^{\top} t_{1, t}, \quad t = T, \dots, 1"


def test_zeros_around_values_at_the_same_places_are_written_once() -> None:
    text = "x : real[T + 1]; a : real\ns[0] = a\ns[t] = a*x[t] + (1 - a)*s[t-1]*x[t-1] for t in 1..T\nloss = sum((x[1:] - s[:T])**2)"
    slope = sg.grad(sg.parse(text)["loss"], "x")
    assert str(slope).splitlines()[0].count("pad(") == 1
    both = sized([sg.parse(f"{text}\n{slope}").last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted])


@pytest.mark.parametrize("total", ["W@h[t-1] + U@x[t-1] + b", "U@x[t-1] + b + W@h[t-1]"])
def test_sums_have_their_terms_in_the_order_of_the_program(total: str) -> None:
    p = sg.parse(NETWORK.replace("tanh(W@h[t-1] + U@x[t-1] + b)", f"h[t-1] + sin({total})"))
    assert f"cos({total})" in str(sg.grad(p["loss"], "W"))
    assert f"cos({total})" in str(sg.explain(p["loss"], "x"))


def test_second_derivatives_are_in_the_names_of_the_program() -> None:
    y = program_of("Newton's iteration")["y"]
    assert (
        str(sg.grad(sg.grad(y, "a"), "a"))
        == """
z_bar_dot[0] + sum((t1[k] - z_dot[k-1]*z_bar[k])/z[k-1]**2, k=1..6)/2
where
  z_bar_dot[6] = 0
  t1[k] = z_bar_dot[k]*z[k-1]; \\
    z_bar_dot[k-1] = (t1[k]*(z[k-1]**2 - a) + z_bar[k]*(2*z_dot[k-1]*a - z[k-1]))/(2*z[k-1]**3) for k in 6..1
  z_dot[0] = 1
  z_dot[k] = (z_dot[k-1]*(z[k-1]**2 - a) + z[k-1])/(2*z[k-1]**2) for k in 1..6
  z_bar[6] = 1
  z_bar[k-1] = (z_bar[k] - z_bar[k]*a/z[k-1]**2)/2 for k in 6..1
""".strip()
    )


@pytest.mark.parametrize(
    ("name", "by", "of"),
    [
        ("Newton's iteration", "a", "a"),
        ("likelihood of a Kalman filter", "q", "a"),
        ("likelihood of a Kalman filter", "a", "z"),
        ("GARCH", "a", "r"),
        ("Runge and Kutta", "k", "m"),
        ("gradient descent with momentum", "a", "A"),
        ("autoregression", "b", "e"),
        ("Clenshaw's scheme", "z", "c"),
    ],
)
def test_second_derivatives_are_read_back(name: str, by: str, of: str) -> None:
    slope = sg.grad(sg.grad(program_of(name)["y"], by), of)
    text = str(slope)
    assert " : " not in text.splitlines()[0]  # no program of its own
    both = sized([sg.parse(f"{dedent(RECURRENCES[name])}\n{text}").last.node, slope.node])
    found, wanted = evaluate(both, values_for(both))
    close([found], [wanted], 1e-9)
