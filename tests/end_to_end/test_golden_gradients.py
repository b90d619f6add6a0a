"""Gradients as a person would write them: a list reviewed by eye, kept as text and as LaTeX."""

from __future__ import annotations

import symgrad as sg

NOISE = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nyu = y*u\nz = sqrt(yu)\n"

# Programs, and what to differentiate by.
PROGRAMS = {
    "the noisy root": (NOISE + "z", "x"),
    "stop_gradient inside the root": (NOISE + "sqrt(stop_gradient(yu - y) + y)", "x"),
    "stop_gradient around the root": (NOISE + "stop_gradient(z - sqrt(y)) + sqrt(y)", "x"),
    "the exact form": (NOISE + "stop_gradient(z) - (stop_gradient(sqrt(y)) - sqrt(y))", "x"),
    "by an intermediate value": (NOISE + "z", "yu"),
    "positive variables": ("x, s : positive\nlog(x) - (log(x) - s)**2/(2*s**2)", "x, s"),
    "straight through": ("x : real\nstop_gradient(round(x) - x) + x", "x"),
    "gaussian": ("exp(-x**2/2)", "x"),
    "gaussian density": ("exp(-(x - mu)**2/(2*s**2))/(s*sqrt(2*pi))", "x, mu"),
    "gaussian log density": ("s : positive\nx, mu : real\n-(x - mu)**2/(2*s**2) - log(s)", "x, mu, s"),
    "polynomial": ("x**3 - 2*x + 1", "x"),
    "product of sines": ("sin(x)*cos(x)", "x"),
    "chain": ("sin(exp(x**2))", "x"),
    "damped wave": ("exp(-a*t)*sin(b*t)", "t, a, b"),
    "logistic": ("1/(1 + exp(-x))", "x"),
    "sigmoid": ("sigmoid(x)", "x"),
    "logistic loss": ("-log(sigmoid(y*x))", "x"),
    "softplus": ("softplus(x)", "x"),
    "log sum exp": ("log(exp(x) + exp(y))", "x"),
    "softmax of two": ("exp(x)/(exp(x) + exp(y))", "x, y"),
    "tanh unit": ("tanh(w*x + b)", "w, b"),
    "squared error": ("(w*x + b - y)**2", "w, b"),
    "relu squared": ("relu(x)**2", "x"),
    "absolute value": ("abs(x - y)", "x, y"),
    "huber": ("where(abs(x) < 1, x**2/2, abs(x) - 1/2)", "x"),
    "clipped": ("clip(x, -1, 1)*x", "x"),
    "maximum": ("maximum(x, y)", "x"),
    "square root of a sum": ("sqrt(1 + x**2)", "x"),
    "length": ("sqrt(x**2 + y**2)", "x"),
    "unit vector": ("x/sqrt(x**2 + y**2)", "x, y"),
    "hypot": ("hypot(x, y)", "x"),
    "angle": ("atan2(y, x)", "x, y"),
    "arc sine": ("asin(x)", "x"),
    "arc tangent": ("atan(x/y)", "x"),
    "saturation": ("v*x/(x + k)", "x, k"),
    "lennard-jones": ("r, s : positive\ne : real\n4*e*((s/r)**12 - (s/r)**6)", "r"),
    "planck": ("1/(exp(h*x) - 1)", "x"),
    "power": ("x : positive\na : real\nx**a", "x, a"),
    "tower": ("x : positive\nx**x", "x"),
    "general power": ("x**a", "x, a"),
    "real tower": ("x**x", "x"),
    "exponential base": ("2**x", "x"),
    "entropy": ("p : real(0, 1)\n-p*log(p) - (1 - p)*log(1 - p)", "p"),
    "rosenbrock": ("(1 - x)**2 + 100*(y - x**2)**2", "x, y"),
    "error function": ("erf(x/sqrt(2))/2", "x"),
    "log gamma": ("lgamma(x)", "x"),
    "gamma": ("gamma(x)", "x"),
    "secant": ("sec(x)", "x"),
    "stable expm1": ("expm1(x)/x", "x"),
    "cube root": ("cbrt(x)", "x"),
    "logarithms": ("log2(x) + log10(x) + log1p(x)", "x"),
    "van der waals": ("n*R*T/(V - n*b) - a*n**2/V**2", "V"),
    "jump": ("floor(x)*x", "x"),
    "hill": ("x, k, n : positive\nx**n/(k**n + x**n)", "x"),
}


def test_gradients_as_printed_and_as_latex(golden):
    blocks: list[str] = []
    for title, (text, wrt) in PROGRAMS.items():
        program = sg.parse(text)
        names = [name.strip() for name in wrt.split(",")]
        lines = [f"# {title}", *(f"    {line}" for line in text.splitlines())]
        for name, g in zip(names, sg.grad(program.last, names), strict=True):
            lines += [f"d/d{name}", f"    {g}", f"    {g.latex()}"]
            lines += [f"    # {note}" for note in g.domain_notes]
        blocks.append("\n".join(lines))
    golden("gradients.txt", "\n\n".join(blocks))
