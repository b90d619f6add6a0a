r"""Documents with recurrences: derivations of gradients through time, right ones and ones with a planted mistake."""

from __future__ import annotations

import pytest

import symgrad as sg

NETWORK = r"""
Let $x \in \mathbb{R}^{T \times m}$, $W \in \mathbb{R}^{n \times n}$, $U \in \mathbb{R}^{n \times m}$,
$h_0 \in \mathbb{R}^n$ and

$$h_t = \tanh(W h_{t-1} + U x_t), \quad t = 1, \dots, T$$

with the loss $L = \|h_T\|^2$. The adjoints are

$$\bar h_T = 2 h_T$$
$$\bar h_{t-1} = W^\top (\bar h_t \odot (1 - h_t^2)), \quad t = T, \dots, 1$$

so that

$$\frac{\partial L}{\partial W} = \sum_{t=1}^{T} (\bar h_t \odot (1 - h_t^2)) h_{t-1}^\top$$
"""
CODE = """
```symgrad
a, b : real
x : real[T]
h[0] = a
h[t] = tanh(b*h[t-1] + x[t-1]) for t in 1..T
L = h[T]**2
c[T] = 2*h[T]
c[t-1] = b*c[t]*(1 - h[t]**2) for t in T..1
dL/db = sum(c[1:]*(1 - h[1:]**2)*h[:T])
```
"""
DELTA = r"""
Let $x \in \mathbb{R}^{T}$ and $a \in \mathbb{R}$. With $h_0 = 1$ and $h_t = \tanh(a h_{t-1} + x_t)$ for
$t = 1, \dots, T$, let $L = h_T^2$.

$$g_T = 2 h_T, \qquad g_{t-1} = a \delta_t, \quad \delta_t = g_t (1 - h_t^2), \quad t = T, \dots, 1$$

$$\frac{dL}{da} = \sum_{t=1}^{T} \delta_t h_{t-1}$$
"""
FORWARD = r"""
Let $h_0 = 1$, $s_0 = 0$ and
\begin{align}
h_t &= \sin(a h_{t-1}), \\
s_t &= \cos(a h_{t-1}) (h_{t-1} + a s_{t-1}), \quad t = 1, \dots, 8
\end{align}
For $L = h_8^2$ the derivative is
$$\frac{dL}{da} = 2 h_8 s_8$$
"""
DESCENT = r"""
\documentclass{article}
\begin{document}
Let $A \in \mathbb{R}^{n \times n}$, $b \in \mathbb{R}^n$, $\eta \in \mathbb{R}$. Gradient descent is
\begin{align*}
w_0 &= 0 \\
w_k &= w_{k-1} - \eta A^\top (A w_{k-1} - b), & k &= 1, \dots, 4
\end{align*}
and its final loss is $L = \|A w_4 - b\|^2$. The derivative by the step size is
\begin{align*}
\lambda_4 &= 2 A^\top (A w_4 - b) \\
\lambda_{k-1} &= \lambda_k - \eta A^\top A \lambda_k, & k &= 4, \dots, 1 \\
\frac{dL}{d\eta} &= -\sum_{k=1}^{4} \lambda_k^\top A^\top (A w_{k-1} - b)
\end{align*}
\end{document}
"""
NUMBERS = r"""
Let $h_0 = a$ and $h_t = b h_{t-1} + h_{t-1}^2$ for $t = 1, \dots, 3$, and $L = h_3$. With $\lambda_3 = 1$ and
$$\lambda_{t-1} = \lambda_t (b + 2 h_{t-1}), \quad 1 \le t \le 3$$
we have
$$\frac{dL}{da} = \lambda_0$$
$$\frac{dL}{db} = \sum_{t=1}^{3} \lambda_t h_{t-1}$$
"""
RIGHT = {
    "network": NETWORK, "code": CODE, "delta": DELTA, "forward": FORWARD, "descent": DESCENT, "numbers": NUMBERS,
}  # fmt: skip
# The document, what is right in it, the mistake in its place, and the first line that is wrong by that.
MISTAKES = [
    ("network", r"W^\top (\bar h_t", r"W (\bar h_t", "W ("),
    ("network", r"= 2 h_T$$", r"= h_T$$", "h_T"),
    ("network", r"(1 - h_t^2)), \quad t", r"(1 - h_{t-1}^2)), \quad t", "W^"),
    ("network", r") h_{t-1}^\top$$", r") h_{t}^\top$$", "sum"),
    ("code", "c[t-1] = b*c[t]", "c[t-1] = b**2*c[t]", "b**2"),
    ("code", "*h[:T])", "*h[1:])", "sum"),
    ("delta", r"g_{t-1} = a \delta_t", r"g_{t-1} = a g_t", "sum"),
    ("delta", r"\sum_{t=1}^{T} \delta_t h_{t-1}", r"\sum_{t=1}^{T} \delta_t h_{t}", "sum"),
    ("forward", r"(h_{t-1} + a s_{t-1})", r"(h_{t-1} - a s_{t-1})", "2 h_8"),
    ("descent", r"\lambda_k - \eta A^\top A", r"\lambda_k + \eta A^\top A", "lambda_k +"),
    ("descent", r"-\sum_{k=1}^{4}", r"\sum_{k=1}^{4}", "sum"),
    ("numbers", r"(b + 2 h_{t-1})", r"(b + h_{t-1})", "b + h"),
]


@pytest.mark.parametrize("title", RIGHT)
def test_right_derivations_are_proved(title: str) -> None:
    found = sg.review(RIGHT[title])
    assert found.status == "proved", found
    assert [s for s in found.steps if s.kind == "derivative"]


@pytest.mark.parametrize(("title", "right", "wrong", "where"), MISTAKES)
def test_mistakes_are_found(title: str, right: str, wrong: str, where: str) -> None:
    assert right in RIGHT[title]
    found = sg.review(RIGHT[title].replace(right, wrong))
    assert found.first_wrong is not None, found
    assert where in found.first_wrong.text


# Right documents of which some lines cannot be understood: no line is found wrong.
UNREAD = {
    "no range": r"""
Let $W \in \mathbb{R}^{n \times n}$, $b \in \mathbb{R}^n$ and
$$h_t = \tanh(W h_{t-1} + b)$$
with the loss $L = \|h_T\|^2$. Then $\bar h_T = 2 h_T$ and
$$\bar h_{t-1} = W^\top (\bar h_t \odot (1 - h_t^2))$$
$$\frac{\partial L}{\partial W} = \sum_t (\bar h_t \odot (1 - h_t^2)) h_{t-1}^\top$$
""",
    "no range of a part": DELTA.replace(
        r", \quad \delta_t = g_t (1 - h_t^2), \quad t", r" (1 - h_t^2) g_t/\delta_t, \quad t"
    ).replace(r"$$\frac", r"With $\delta_t = g_t (1 - h_t^2)$: $$\frac"),
    "partial derivatives": r"""
Let $h_0 = 1$ and $h_t = \sin(a h_{t-1})$ for $t = 1, \dots, 8$. Then
$$\frac{\partial h_t}{\partial h_{t-1}} = a \cos(a h_{t-1})$$
and for $L = h_8$
$$\frac{dL}{da} = \sum_{t=1}^{8} h_{t-1} \cos(a h_{t-1}) \prod_{s=t+1}^{8} a \cos(a h_{s-1})$$
""",
    "plain text": """
Let x : real[T], a : real.
h_0 = 1
h_t = tanh(a*h_{t-1} + x_t), t = 1, ..., T
L = h_T^2
g_T = 2*h_T
g_{t-1} = a*g_t*(1 - h_t^2)
dL/da = sum_t g_t*(1 - h_t^2)*h_{t-1}
""",
    "a function of the step": r"""
Let $\theta \in \mathbb{R}^p$, $z_0 \in \mathbb{R}^n$ and $z_t = f(z_{t-1}, \theta)$ for $t = 1, \dots, T$.
With $L = \|z_T\|^2$ and
$$a_T = 2 z_T, \quad a_{t-1} = \left(\frac{\partial f}{\partial z}\right)^\top a_t$$
we have $\frac{dL}{dz_0} = a_0$.
""",
    "rows that count from 1, and another number of rows": r"""
Let $x, y \in \mathbb{R}^{T}$ and $a \in \mathbb{R}$. With $h_0 = 0$ and $h_t = \tanh(a h_{t-1} + x_t)$ for
$t = 1, \dots, T$, the loss is
$$L = \sum_{t=1}^{T} (h_t - y_t)^2$$
$$g_T = 2 (h_T - y_T)$$
$$g_{t-1} = a g_t (1 - h_t^2) + 2 (h_{t-1} - y_{t-1}), \quad t = T, \dots, 2$$
$$\frac{dL}{da} = \sum_{t=1}^{T} g_t (1 - h_t^2) h_{t-1}$$
""",
    "rows that may count from 0 or 1": r"""
Let $y \in \mathbb{R}^{4}$, $a \in \mathbb{R}$, and $S = \sum_{t=1}^{4} y_t^2$. With $h_0 = 0$ and
$h_t = a h_{t-1} + y_t$
for $t = 1, \dots, 3$ let $L = S + h_3$. Then $\frac{\partial L}{\partial y} = 2 y + (a^2, a, 1, 0)$.
""",
    "every second step": r"""
Let $h_0 = 1$ and $h_t = a h_{t-2}$ for $t = 2, 4, \dots, 8$. With $L = h_8$ we have $\frac{dL}{da} = 4 a^3$.
""",
    "superscripts": r"""
Let $h^{(0)} = 1$ and $h^{(t)} = a h^{(t-1)}$ for $t = 1, \dots, 3$. With $L = h^{(3)}$ we have $\frac{dL}{da} = 3 a^2$.
""",
    "an unknown size": r"""
Let $h_0 = 1$ and $h_t = a h_{t-1}$ for $t = 1, \dots, N$. With $L = h_N$ we have $\frac{dL}{da} = N a^{N-1}$.
""",
    "products": r"""
Let $h_0 = 1$ and $h_t = a_t h_{t-1}$ for $t = 1, \dots, 4$. With $L = h_4$ we have
$\frac{\partial L}{\partial a_2} = a_1 a_3 a_4$.
""",
    "two recurrences of one name": r"""
Let $h_0 = 1$ and $h_t = a h_{t-1}$ for $t = 1, \dots, 3$. With $L = h_3$ we have $\frac{dL}{da} = 3 a^2$. Now let
$h_0 = 2$ and $h_t = a h_{t-1}$ for $t = 1, \dots, 3$. With $L = h_3$ we have $\frac{dL}{da} = 6 a^2$.
""",
}


@pytest.mark.parametrize("title", UNREAD)
def test_what_is_not_understood_is_never_wrong(title: str) -> None:
    assert sg.review(UNREAD[title]).first_wrong is None


def test_claims_about_values() -> None:
    found = sg.review(
        r"Let $F_0 = 0$, $F_1 = 1$, $F_n = F_{n-1} + F_{n-2}$ for $n = 2, \dots, 9$. Then $F_9 = 34$ and $F_8 = 22$."
    )
    assert [s.status for s in found.steps if s.verdict is not None] == ["proved", "refuted"]


def test_the_recurrence_that_makes_a_derivative_wrong_is_named() -> None:
    found = sg.review(DELTA.replace(r"g_{t-1} = a \delta_t", r"g_{t-1} = 2 a \delta_t"))
    assert found.first_wrong is not None
    assert found.first_wrong.verdict is not None
    (first, *_) = found.first_wrong.verdict.diagnosis
    assert first.kind == "wrong-steps"
    assert "`g`" in first.message


def test_a_size_that_no_array_has_is_read() -> None:
    found = sg.review(CODE.replace("x : real[T]", "T : size").replace(" + x[t-1]", ""))
    assert found.status == "proved", found


def test_the_line_of_wrong_steps_is_wrong() -> None:
    found = sg.review(CODE.replace("c[t-1] = b*c[t]", "c[t-1] = b**2*c[t]"))
    wrong = [(s.line, s.kind) for s in found.steps if s.status == "refuted"]
    assert wrong == [(9, "definition"), (10, "derivative")]
    assert "with the steps of the right derivative, line 10 is right" in str(found)
    found = sg.review(CODE.replace("c[T] = 2*h[T]", "c[T] = 3*h[T]"))
    assert [s.text for s in found.steps if s.status == "refuted"] == [
        "3*h[T]",
        "sum(c[1:]*(1 - h[1:]**2)*h[:T])",
    ]
