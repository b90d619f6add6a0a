"""LaTeX without dollars, and the derivatives that textbooks of mechanics, thermodynamics and analysis write."""

from __future__ import annotations

import pytest

import symgrad as sg

PENDULUM = r"L = \frac{1}{2} m l^2 \dot\theta^2 + m g l \cos\theta"
SOLVED = r"\ddot\theta = -\frac{g}{l} \sin\theta"
EULER_LAGRANGE = r"\frac{d}{dt}\frac{\partial L}{\partial\dot\theta} - \frac{\partial L}{\partial\theta}"
SPRING = r"E = \frac12 m \dot x^2 + \frac12 k x^2"

RIGHT = [
    # at a point
    r"f(x) = x^3;; \left.\frac{df}{dx}\right|_{x=1} = 3",
    r"f(x) = \ln(1 + x^2);; \frac{df}{dx}\Big|_{x=2} = \frac{4}{5}",
    r"f(x) = x^2 sin(x);; f'(x)|_{x=1} = 2\sin 1 + \cos 1",
    r"f(x, y) = x^2 y;; \left.\frac{\partial f}{\partial x}\right|_{x=1, y=2} = 4",
    # with names held constant
    r"Let F(V, T) = -n R T ln(V).;; \left(\frac{\partial F}{\partial V}\right)_T = -\frac{n R T}{V}",
    r"\ln K = -\frac{\Delta H}{R T} + C;; \frac{d \ln K}{dT} = \frac{\Delta H}{R T^2}",
    # by coordinates
    r"f(x, y) = x^2 y;; \nabla f = (2xy, x^2)",
    r"f(x, y) = x^2 y;; \nabla f = \begin{pmatrix} 2xy \\ x^2 \end{pmatrix}",
    r"f(r, s) = r^2 s;; \nabla f = (2 r s, r^2)",
    r"f(x, y) = x^2 + y^2;; \nabla^2 f = 4",
    r"u(x, y) = x^2 - y^2;; \Delta u = 0",
    r"f(x, y) = x^2 y;; \nabla^2 f = \begin{pmatrix} 2y & 2x \\ 2x & 0 \end{pmatrix}",
    "f(x, y) = x^2 y;; ∇²f = array([[2*y, 2*x], [2*x, 0]])",
    r"x = r \cos\theta;; y = r \sin\theta;; \frac{\partial(x, y)}{\partial(r, \theta)} = r",
    # along a motion
    rf"{PENDULUM};; \frac{{d}}{{dt}}\frac{{\partial L}}{{\partial\dot\theta}} = m l^2 \ddot\theta",
    rf"{PENDULUM};; {EULER_LAGRANGE} = m l^2 \ddot\theta + m g l \sin\theta = 0;; {SOLVED}",
    rf"{PENDULUM};; {EULER_LAGRANGE} = 0;; {SOLVED}",
    rf"{SPRING};; m \ddot x = -k x;; \frac{{dE}}{{dt}} = m \dot x \ddot x + k x \dot x = 0",
    # functions without a backslash
    r"$f(x) = exp(-x^2)$;; $f'(x) = -2x exp(-x^2)$",
    r"f(x) = \sqrt{x} ln x;; f'(x) = \frac{ln x}{2\sqrt{x}} + \frac{1}{\sqrt{x}}",
    # quotients with a d by itself
    "ln K = -D/(R T) + C;; d ln K/dT = D/(R T^2)",
    "d(x^2 sin x)/dx = 2x sin x + x^2 cos x",
    # subscripts that are no indices
    r"\mathcal{L}_{CE} = -\log p_y;; \frac{\partial \mathcal{L}_{CE}}{\partial p_y} = -1/p_y",
    r"\bar\alpha_t = \alpha^t;; \frac{d\bar\alpha_t}{d\alpha} = t \alpha^{t-1}",
    # over random inputs
    r"X \sim N(\mu, \sigma^2);; E[X] = \mu;; Var(X) = \sigma^2;; E[X^2] = \mu^2 + \sigma^2;; E[X]^2 = \mu^2",
    "X ~ N(mu, sigma^2);; Var(2 X + 1) = 4 sigma^2",
    "T ~ Exp(lambda);; E[T] = 1/lambda;; Var[T] = 1/lambda^2",
    "X, Y ~ N(0, 1);; Var(X + Y) = 2",
    r"Let $X \sim \mathcal{N}(0, 1)$ and $Y = a X + b$. Then $\mathbb{E}[Y^2] = a^2 + b^2$.",
    r"Let $X \sim \text{Poisson}(\lambda)$.;; $$E[X^2] = \lambda^2 + \lambda$$",
    # the same in text
    "f(x, y) = x^2 y;; ∇f = (2xy, x^2);; ∇²f = 2y",
    "f(x, y) = x^2 y;; grad f = (2xy, x^2);; ∇f(x, y) = [2xy, x^2]",
    "f(x) = x^3;; df/dx|_{x=1} = 3",
    "F(V, T) = -n R T ln V;; (dF/dV)_T = -n R T/V",
    # conditions of first order
    "f(x) = x^3 - 3x;; f'(x) = 3x^2 - 3 = 0;; so x = 1 or x = -1",
    "L(x, y, λ) = x y - λ (x + 2y - 20);; ∂L/∂x = y - λ = 0;; ∂L/∂y = x - 2λ = 0;; Hence y = λ and x = 2 y.",
    # along a law: of the gas, and the product of its three derivatives
    r"Consider the gas $pV = nRT$.;; $\left(\frac{\partial p}{\partial V}\right)_T = -\frac{nRT}{V^2}$",
    "The law of the gas is p V = n R T.;; (dp/dV)_T = -n R T/V^2",
    r"$pV = nRT$;; $\left(\frac{\partial p}{\partial V}\right)_T \left(\frac{\partial V}{\partial T}\right)_p"
    r" \left(\frac{\partial T}{\partial p}\right)_V = -1$",
    r"$M = m(\mu^2 + s^2)$;; $\partial M/\partial\mu = 2 m \mu$",
    # choices
    "f(x) = x^2 if x > 0 else 0;; f'(x) = 2x if x > 0 else 0",
    "f(x) = x^2 if x > 0, otherwise 0;; f'(x) = 2x if x > 0, else 0",
    "f(x) = where(x > 0, x^2, 0);; f'(x) = where(x > 0, 2x, 0)",
    "f(x) = max(0, x)^2;; f'(x) = 2 max(0, x)",
    # words between
    r"We have f(x) = \frac{1}{x}, so that f'(x) = -\frac{1}{x^2} as claimed.",
]
WRONG = [
    r"f(x, y) = x^2 y;; \nabla^2 f = \begin{pmatrix} 2y & 2x \\ 2x & 1 \end{pmatrix}",
    r"$f(x) = 3 x^2$;; $\frac{d}{dx}(3 \cdot x^2) = 6 x c$",
    r"$pV = nRT$;; $\left(\frac{\partial T}{\partial p}\right)_V = \frac{p}{T}$",
    "$(a+b)^2 = a^2 + b^2$",
    "f(x) = x^2 if x > 0, otherwise 0;; f'(x) = x if x > 0, else 0",
    "f(x) = max(0, x)^2;; f'(x) = max(0, x)",
    "X ~ N(mu, sigma^2);; E[X^3] = mu^3",
    r"X \sim N(\mu, \sigma^2);; Var(X) = \sigma",
    r"Let $X \sim \text{Poisson}(\lambda)$.;; $$E[X^2] = \lambda^2$$",
    r"f(x) = x^3;; \left.\frac{df}{dx}\right|_{x=1} = 4",
    r"Let F(V, T) = -n R T ln(V).;; \left(\frac{\partial F}{\partial V}\right)_T = \frac{n R T}{V}",
    r"f(x, y) = x^2 y;; \nabla f = (2xy, x)",
    r"f(x, y) = x^2 + y^2;; \nabla^2 f = 2",
    r"x = r \cos\theta;; y = r \sin\theta;; \frac{\partial(x, y)}{\partial(r, \theta)} = r^2",
    rf"{PENDULUM};; {EULER_LAGRANGE} = m l^2 \ddot\theta - m g l \sin\theta",
    rf"{PENDULUM};; {EULER_LAGRANGE} = 0;; \ddot\theta = \frac{{g}}{{l}} \sin\theta",
    rf"{SPRING};; \frac{{dE}}{{dt}} = m \dot x \ddot x + k x",
    r"f(x) = \sqrt{x} ln x;; f'(x) = \frac{ln x}{\sqrt{x}} + \frac{1}{\sqrt{x}}",
    "ln K = -D/(R T) + C;; d ln K/dT = -D/(R T^2)",
    "f(x, y) = x^2 y;; ∇f = (2xy, x)",
    "f(x) = x^3 - 3x;; f'(x) = 3x^2 - 3 = 0;; so x = 2",
]


def statuses(lines: str) -> list[str | None]:
    return [step.status for step in sg.review(lines.replace(";; ", "\n")).steps if step.status is not None]


@pytest.mark.parametrize("lines", RIGHT)
def test_right_lines_are_proved(lines: str) -> None:
    found = statuses(lines)
    assert found
    assert set(found) == {"proved"}


@pytest.mark.parametrize("lines", WRONG)
def test_wrong_lines_are_refuted(lines: str) -> None:
    assert statuses(lines)[-1] == "refuted"


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        # S is a formula of T here: the derivative at constant S would be by other coordinates.
        (r"S = c T^2;; F = T V;; \left(\frac{\partial F}{\partial V}\right)_S = T", "not understood"),
        (r"f(x) = x^2;; f'(x)|_{z=1} = 2", "not understood"),
        (r"$\left(\frac{\partial p}{\partial V}\right)_T = -\frac{p}{V}$", "not understood"),  # no law
        (r"f(x) = x^2;; f'(x)|_{1} = 2", "not understood"),
        ("X ~ N(0, 1);; Var(1/X) = 2", "not understood"),  # there is none
        ("X ~ N(0, 1);; E[x^2] = 1", "not understood"),  # x is another name
    ],
)
def test_what_has_no_meaning_here_is_not_judged(lines: str, kind: str) -> None:
    step = sg.review(lines.replace(";; ", "\n")).steps[-1]
    assert (step.kind, step.status) == (kind, None)


@pytest.mark.parametrize(
    "lines",
    [
        "L = x y + λ(10 - x - y);; ∂L/∂x = y - λ = 0;; ∂L/∂y = x - λ = 0;; so x = y = 5",
        "L(x, y, λ) = x y - λ (x + 2y - 20);; ∂L/∂x = y - λ = 0;; ∂L/∂y = x - 2λ = 0;; ∂L/∂λ = -(x + 2y - 20) = 0"
        ";; Hence y = λ and x = 2 y.;; Then 4y = 20, y = 5, x = 10.",
    ],
)
def test_a_multiplier_without_a_value_refutes_nothing(lines: str) -> None:
    assert "refuted" not in statuses(lines)


def test_independence_is_noted() -> None:
    found = sg.review("X, Y ~ N(0, 1)\nVar(X + Y) = 2")
    assert "X, Y are independent" in [a.text for a in found.assumptions]


def test_a_step_that_is_right_in_another_reading_is_undecided() -> None:
    lines = r"$g = \sec s s$;; $g' = \sec s \tan s s + \sec s$"
    assert statuses(lines) == ["undecided"]
    assert statuses(lines.replace("+", "-")) == ["refuted"]
