r"""Notation of papers in LaTeX: slashes, primes, dots, differentials, means. A right and a wrong line of each kind."""

from __future__ import annotations

import pytest

import symgrad as sg

RIGHT = {
    "a slash in an exponent": r"$N = N_0e^{-E/kT}$" + "\n" + r"$\frac{dN}{dT} = \frac{E}{kT^2}N$",
    "a slash behind a number": r"$E = 1/2 m v^2$" + "\n" + r"$\frac{dE}{dv} = m v$",
    "a slash before a number": r"$\psi(x) = e^{-x^2/2\sigma^2}$"
    + "\n"
    + r"$\psi'(x) = -\frac{x}{\sigma^2}\psi(x)$",
    "a slash on the line": r"$f = hc/\lambda kT$" + "\n" + r"$\frac{df}{dT} = -\frac{hc}{\lambda kT^2}$",
    "letters behind a blank": r"$a = -k/m x$" + "\n" + r"$\frac{da}{dx} = -\frac{k}{m}$",
    "primes behind a subscript": r"$P_2(x) = \frac12(3x^2-1)$" + "\n" + r"$(1-x^2)P_2'' - 2xP_2' + 6P_2 = 0$",
    "an order above": r"$f(x) = \cos(2x)$" + "\n" + r"$f^{(4)}(x) = 16\cos(2x)$",
    "an order above a name": r"$y = e^{3x}$" + "\n" + r"$y^{(4)} = 81 y$",
    "a dot with its time": r"$x(t) = A\cos(\omega t)$" + "\n" + r"$\ddot x(t) = -A\omega^2\cos(\omega t)$",
    "a dot at a time": r"$x(t) = A\cos(\omega t)$" + "\n" + r"$\dot x(0) = 0$",
    "a differential": r"$f = xy$" + "\n" + r"$df = y\,dx + x\,dy$",
    "differentials behind letters": r"$F = U - TS$" + "\n" + r"$dF = dU - TdS - SdT$",
    "a law of differentials": r"$dU = TdS - pdV$" + "\n" + r"$F = U - TS$" + "\n" + r"$dF = -SdT - pdV$",
    "a derivative beside a differential": r"$t = e^x$. Then $\frac{dt}{dx} = e^x = t$, so $dx = \frac{dt}{t}$.",
    "squares of differentials": r"$x = r\cos(\phi)$, $y = r\sin(\phi)$"
    + "\n"
    + r"$dx^2 + dy^2 = dr^2 + r^2d\phi^2$",
    "a derivative by d": r"$C = \epsilon\frac Ad$" + "\n" + r"$\frac{dC}{dd} = -\epsilon\frac{A}{d^2}$",
    "a mean": r"$\ell(\mu) = -\frac12\sum_{i=1}^n(x_i-\mu)^2$" + "\n" + r"$\ell'(\mu) = n(\bar x - \mu)$",
    "a function with pi's letter": r"$\pi(\theta) = 2\theta$"
    + "\n"
    + r"$\log\pi(\theta) = \log 2 + \log\theta$",
    "a formula in a function": r"$u = x^2$, $f(x) = u + x$" + "\n" + r"$f(3) = 12$",
    "the slope of a formula in a function": r"$\dot k = s k^a - n k$, $g(k) = \dot k/k$"
    + "\n"
    + r"$g'(k) = (a-1) s k^{a-2}$",
    "a Laplacian by a vector": r"Let $x\in\mathbb{R}^n$, $u = x^\top x$." + "\n" + r"$\Delta u = 2n$",
    "a function with pi's letter beside pi": r"$\pi(a) = a^2 + \log(2\pi)$" + "\n" + r"$\pi'(a) = 2a$",
    "a function in its own brackets": r"$f(E) = \frac{1}{e^E+1}$" + "\n" + r"$f'(E) = -f(1-f)$",
    "a transposed vector": r"Let $v\in\mathbb{R}^d$ and $L = c^\top v$." + "\n" + r"$\nabla_v L = c$",
    "a transposed vector before a matrix": r"Let $X\in\mathbb{R}^{n\times d}$, $w\in\mathbb{R}^d$, $L = u^\top X w$."
    + "\n"
    + r"$\nabla_X L = u w^\top$",
    "a size called d": r"$m = \frac{1}{d}\sum_{i=1}^d x_i$" + "\n" + r"$\sum_{i=1}^d \frac{x_i}{m} = d$",
    "a letter behind a matrix": r"Let $X\in\mathbb{R}^{n\times p}$, $y\in\mathbb{R}^n$, $L = \|y - X\beta\|^2$."
    + "\n"
    + r"$\nabla_\beta L = -2X^\top(y - X\beta)$",
    "rows of a matrix": r"Let $X\in\mathbb{R}^{n\times d}$, $w\in\mathbb{R}^d$, $L = \sum_i x_i^\top w$."
    + "\n"
    + r"$\nabla_w L = \sum_i x_i$",
    "a derivative with a slash": r"$\ell = \alpha^2\beta$"
    + "\n"
    + r"$\partial^2\ell/\partial\alpha\,\partial\beta = 2\alpha$",
    "twice with a slash": r"$\ell = \beta^3$" + "\n" + r"$\partial^2\ell/\partial\beta^2 = 6\beta$",
    "an elasticity": r"$Q = P^a M^b$" + "\n" + r"$\frac{\partial\ln Q}{\partial\ln P} = a$",
    "an elasticity with a slash": r"$Q = P^a M^b$" + "\n" + r"$\partial\ln Q/\partial\ln P = a$",
    "a current": r"$V = IR$, $P = I^2R$" + "\n" + r"$\frac{dP}{dI} = 2 IR$",
    "a value of the gamma function": r"$\Gamma(s+1) = s\Gamma(s)$" + "\n" + r"$\Gamma(3) = 2$",
    "a derivative by a letter below": r"$\phi = x^2y$" + "\n" + r"$\partial_x\phi = 2xy$",
    "twice by a letter below": r"$\phi = x^2y$" + "\n" + r"$\partial_x^2\phi = 2y$",
    "a variance before brackets": r"$f = \sigma^2(x-\mu)^2 + \sigma$"
    + "\n"
    + r"$\frac{df}{dx} = 2\sigma^2(x-\mu)$",
    "a differential in a quotient": r"$t = e^x$" + "\n" + r"$dx = \frac{dt}{t}$",
    "a rate from differentials": r"$dN = -\lambda N dt$" + "\n" + r"$\frac{dN}{dt} = -\lambda N$",
    "a row that begins with a sign": "f(x) = x^2\nf'(x) = 2x\n-f'(x) = -2x",
    "a row behind words": "f(x) = x^2\nf'(x) = 2x\nHence -f'(x) = -2x",
    "an aligned row": "\\begin{align}f &= x^2\\\\\n-f &= -x^2\\\\\n&= -x\\cdot x\\end{align}",
    "a row that goes on": "f(x) = x^2 + 3x\n     - 2x^3\nf'(x) = 2x + 3\n     - 6x^2",
    "an aligned row that goes on": "\\begin{align}f &= x^2\\\\\n&\\quad - x\\\\\n&= x(x - 1)\\end{align}",
}
WRONG = {
    "a slash in an exponent": r"$N = N_0e^{-E/kT}$" + "\n" + r"$\frac{dN}{dT} = -\frac{E}{kT^2}N$",
    "a slash behind a number": r"$E = 1/2 m v^2$" + "\n" + r"$\frac{dE}{dv} = 2 m v$",
    "a slash before a number": r"$\psi(x) = e^{-x^2/2\sigma^2}$"
    + "\n"
    + r"$\psi'(x) = \frac{x}{\sigma^2}\psi(x)$",
    "a slash on the line": r"$f = hc/\lambda kT$" + "\n" + r"$\frac{df}{dT} = \frac{hc}{\lambda kT^2}$",
    "letters behind a blank": r"$a = -k/m x$" + "\n" + r"$\frac{da}{dx} = \frac{k}{m}$",
    "primes behind a subscript": r"$P_2(x) = \frac12(3x^2-1)$" + "\n" + r"$(1-x^2)P_2'' - 2xP_2' + 4P_2 = 0$",
    "an order above": r"$f(x) = \cos(2x)$" + "\n" + r"$f^{(4)}(x) = 8\cos(2x)$",
    "an order above a name": r"$y = e^{3x}$" + "\n" + r"$y^{(4)} = 27 y$",
    "a dot with its time": r"$x(t) = A\cos(\omega t)$" + "\n" + r"$\dot x(t) = A\omega\sin(\omega t)$",
    "a dot at a time": r"$x(t) = A\cos(\omega t)$" + "\n" + r"$\dot x(0) = A\omega$",
    "a differential": r"$f = xy$" + "\n" + r"$df = y\,dx - x\,dy$",
    "differentials behind letters": r"$F = U - TS$" + "\n" + r"$dF = dU - TdS + SdT$",
    "a derivative beside a differential": r"$t = e^x$. Then $\frac{dt}{dx} = e^x = t$, so $dx = t\,dt$.",
    "squares of differentials": r"$x = r\cos(\phi)$, $y = r\sin(\phi)$"
    + "\n"
    + r"$dx^2 + dy^2 = dr^2 + r d\phi^2$",
    "a derivative by d": r"$C = \epsilon\frac Ad$" + "\n" + r"$\frac{dC}{dd} = \epsilon\frac{A}{d^2}$",
    "a mean": r"$\ell(\mu) = -\frac12\sum_{i=1}^n(x_i-\mu)^2$" + "\n" + r"$\ell'(\mu) = n(\mu - \bar x)$",
    "a function with pi's letter": r"$\pi(\theta) = 2\theta$" + "\n" + r"$\log\pi(\theta) = 2 + \log\theta$",
    "a formula in a function": r"$u = x^2$, $f(x) = u + x$" + "\n" + r"$f(3) = 9$",
    "the slope of a formula in a function": r"$\dot k = s k^a - n k$, $g(k) = \dot k/k$"
    + "\n"
    + r"$g'(k) = (a-2) s k^{a-2}$",
    "a Laplacian by a vector": r"Let $x\in\mathbb{R}^n$, $u = x^\top x$." + "\n" + r"$\Delta u = 2$",
    "a function with pi's letter beside pi": r"$\pi(a) = a^2 + \log(2\pi)$"
    + "\n"
    + r"$\pi'(a) = 2a + \frac{1}{\pi}$",
    "a function in its own brackets": r"$f(E) = \frac{1}{e^E+1}$" + "\n" + r"$f'(E) = f(1-f)$",
    "a transposed vector": r"Let $v\in\mathbb{R}^d$ and $L = c^\top v$." + "\n" + r"$\nabla_v L = 2c$",
    "a transposed vector before a matrix": r"Let $X\in\mathbb{R}^{n\times d}$, $w\in\mathbb{R}^d$, $L = u^\top X w$."
    + "\n"
    + r"$\nabla_X L = w u^\top$",
    "a size called d": r"$m = \frac{1}{d}\sum_{i=1}^d x_i$" + "\n" + r"$\sum_{i=1}^d \frac{x_i}{m} = 2d$",
    "a letter behind a matrix": r"Let $X\in\mathbb{R}^{n\times p}$, $y\in\mathbb{R}^n$, $L = \|y - X\beta\|^2$."
    + "\n"
    + r"$\nabla_\beta L = -2X(y - X\beta)$",
    "rows of a matrix": r"Let $X\in\mathbb{R}^{n\times d}$, $w\in\mathbb{R}^d$, $L = \sum_i x_i^\top w$."
    + "\n"
    + r"$\nabla_w L = \sum_i 2x_i$",
    "a derivative with a slash": r"$\ell = \alpha^2\beta$"
    + "\n"
    + r"$\partial^2\ell/\partial\alpha\,\partial\beta = 3\alpha$",
    "twice with a slash": r"$\ell = \beta^3$" + "\n" + r"$\partial^2\ell/\partial\beta^2 = 3\beta$",
    "an elasticity": r"$Q = P^a M^b$" + "\n" + r"$\frac{\partial\ln Q}{\partial\ln P} = b$",
    "an elasticity with a slash": r"$Q = P^a M^b$" + "\n" + r"$\partial\ln Q/\partial\ln P = b$",
    "a current": r"$V = IR$, $P = I^2R$" + "\n" + r"$\frac{dP}{dI} = 3 IR$",
    "a value of the gamma function": r"$\Gamma(s+1) = s\Gamma(s)$" + "\n" + r"$\Gamma(3) = 3$",
    "a derivative by a letter below": r"$\phi = x^2y$" + "\n" + r"$\partial_x\phi = 3xy$",
    "twice by a letter below": r"$\phi = x^2y$" + "\n" + r"$\partial_x^2\phi = 3y$",
    "a variance before brackets": r"$f = \sigma^2(x-\mu)^2 + \sigma$"
    + "\n"
    + r"$\frac{df}{dx} = \sigma^2(x-\mu)$",
    "a differential in a quotient": r"$t = e^x$" + "\n" + r"$dx = 2\frac{dt}{t}$",
    "a rate from differentials": r"$dN = -\lambda N dt$" + "\n" + r"$\frac{dN}{dt} = -2\lambda N$",
    "a row that begins with a sign": "f(x) = x^2\nf'(x) = 2x\n-f'(x) = 2x",
    "a row behind words": "f(x) = x^2\nf'(x) = 2x\nHence -f'(x) = 2x",
    "an aligned row": "\\begin{align}f &= x^2\\\\\n-f &= -x^2\\\\\n&= x\\cdot x\\end{align}",
}
UNREAD = {
    "an order that is a letter": r"$f(x) = e^{2x}$" + "\n" + r"$f^{(n)}(x) = 2^n e^{2x}$",
    "an identity matrix beside numbers": r"$A = B + C$" + "\n" + r"$AX = I$",
    "a sum with an identity matrix": r"$f(w) = \frac12 y w^2$"
    + "\n"
    + r"$\frac{d^2f}{dw^2} = y + \lambda I$",
    "the Laplacian of a norm": r"Let $x\in\mathbb{R}^n\setminus\{0\}$, $r = \|x\|$."
    + "\n"
    + r"$\Delta r = \frac{n-1}{r}$",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_lines(name: str) -> None:
    review = sg.review(RIGHT[name])
    assert review.status in ("proved", "supported"), review.text()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_lines(name: str) -> None:
    review = sg.review(WRONG[name])
    assert review.status == "refuted", review.text()
    assert review.first_wrong is not None
    assert review.first_wrong.line == WRONG[name].count("\n") + 1


@pytest.mark.parametrize("name", UNREAD)
def test_lines_that_are_not_understood(name: str) -> None:
    review = sg.review(UNREAD[name])
    assert review.status == "undecided", review.text()
    assert "not understood" in {step.kind for step in review.steps}


def test_a_step_that_is_right_in_the_other_reading_of_a_slash_is_undecided() -> None:
    text = r"$N = N_0e^{-E/2(kT)}$" + "\n" + r"$\frac{dN}{dT} = \frac{E}{2kT^2}N$"
    review = sg.review(text)
    assert review.status == "undecided", review.text()
    assert "a slash before several factors" in review.text()
    assert sg.review(text, slash="product").status == "proved"


def test_two_may_stand_below_a_slash_with_letters() -> None:
    text = r"$f = 1/2\sigma^2 (x-\mu)^2$" + "\n" + r"$\frac{df}{dx} = \frac{x-\mu}{\sigma^2}$"
    assert sg.review(text).status == "undecided"
    assert sg.review(text, slash="letters").status == "proved"
    assert sg.review(text.replace("-\\mu}", "+\\mu}")).status == "refuted"


def test_the_reading_of_a_slash_is_listed_with_the_other_one() -> None:
    (said,) = [a.text for a in sg.review(RIGHT["a slash in an exponent"]).assumptions if "slash" in a.text]
    assert said == 'E/kT is read as (E)/(kT); otherwise: slash="left"'
