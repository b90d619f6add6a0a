"""Programs whose noise has a known fate, written down by reasoning: verdict, pullback, path and sentence."""

from __future__ import annotations

from typing import NamedTuple

CUTS = "; stop_gradient cuts derivative edges, not value edges"

TRICKS = """
x  : real
u  ~ Uniform(0.9, 1.1)
y  = x**2
yu = y*u
z       = sqrt(yu)
z_inner = sqrt(stop_gradient(yu - y) + y)
z_outer = stop_gradient(z - sqrt(y)) + sqrt(y)
z_exact = stop_gradient(z) - (stop_gradient(sqrt(y)) - sqrt(y))
"""
HEAD = "x : real\np : positive\nu ~ Uniform(0.9, 1.1)\nv ~ Normal(0, 1)\nk ~ Bernoulli(0.5)\n"


class Enters(NamedTuple):
    program: str
    rule: str
    path: tuple[str, ...]
    reason: str
    of: str = "y"
    wrt: str = "x"
    noise: str = "u"


class Free(NamedTuple):
    program: str
    reason: str
    of: str = "y"
    wrt: str = "x"
    noise: str = "u"


ENTERS = {
    "plain": Enters(
        TRICKS,
        "sqrt",
        ("z", "yu", "u"),
        "the pullback of sqrt reads the forward value z, which depends on u through yu",
        of="z",
    ),
    "inner trick": Enters(
        TRICKS,
        "sqrt",
        ("z_inner", "stop_gradient(yu - y) + y", "stop_gradient(yu - y)", "yu - y", "yu", "u"),
        "the pullback of sqrt reads the forward value z_inner, which depends on u through yu" + CUTS,
        of="z_inner",
    ),
    "mul reads the noise itself": Enters(
        HEAD + "y = x*u + v", "mul", ("u",), "the pullback of mul reads the forward value u"
    ),
    "mul reads the other factor": Enters(
        HEAD + "a = sin(u)\ny = a*x",
        "mul",
        ("a", "u"),
        "the pullback of mul reads the forward value a, which depends on u",
    ),
    "through a value without a name": Enters(
        HEAD + "y = x*cos(1 + u)",
        "mul",
        ("cos(1 + u)", "1 + u", "u"),
        "the pullback of mul reads the forward value cos(1 + u), which depends on u through 1 + u",
    ),
    "exp reads its value": Enters(
        HEAD + "t = x + u\ny = exp(t)",
        "exp",
        ("y", "t", "u"),
        "the pullback of exp reads the forward value y, which depends on u through t",
    ),
    "tanh reads its argument": Enters(
        HEAD + "t = x + u\ny = tanh(t)",
        "tanh",
        ("t", "u"),
        "the pullback of tanh reads the forward value t, which depends on u",
    ),
    "log reads its argument": Enters(
        HEAD + "y = log(p + 2*u)",
        "log",
        ("p + 2*u", "2*u", "u"),
        "the pullback of log reads the forward value p + 2*u, which depends on u through 2*u",
        wrt="p",
    ),
    "div reads its quotient": Enters(
        HEAD + "y = u/p",
        "div",
        ("y", "u"),
        "the pullback of div reads the forward value y, which depends on u",
        wrt="p",
    ),
    "nested stops": Enters(
        HEAD + "a = stop_gradient(stop_gradient(x*u) + x)\ny = x*a",
        "mul",
        ("a", "stop_gradient(x*u) + x", "stop_gradient(x*u)", "x*u", "u"),
        "the pullback of mul reads the forward value a, which depends on u through x*u" + CUTS,
    ),
    "a condition": Enters(
        HEAD + "y = where(u > 1, x, 2*x)",
        "where",
        ("u > 1", "u"),
        "the pullback of where reads the condition u > 1, which depends on u",
    ),
    "a condition that rarely switches": Enters(
        HEAD + "y = where(u > 1.0999, x, 2*x)",
        "where",
        ("u > 1.0999", "u"),
        "the pullback of where reads the condition u > 1.0999, which depends on u",
    ),
    "a condition behind a stop": Enters(
        HEAD + "a = stop_gradient(v*x)\ny = where(a < x, exp(x), x)",
        "where",
        ("a < x", "a", "v*x", "v"),
        "the pullback of where reads the condition a < x, which depends on v through a" + CUTS,
        noise="v",
    ),
    "dropout": Enters(
        HEAD + "mask = where(k > 0, 1, 0)\ny = mask*x**2",
        "mul",
        ("mask", "k > 0", "k"),
        "the pullback of mul reads the forward value mask, which depends on k through k > 0",
        noise="k",
    ),
    "a jump": Enters(
        HEAD + "level = floor(10*u)\ny = level*x",
        "mul",
        ("level", "10*u", "u"),
        "the pullback of mul reads the forward value level, which depends on u through 10*u",
    ),
    "one of two": Enters(
        HEAD + "w = x*u\ny = w**2 + v",
        "pow",
        ("w", "u"),
        "the pullback of pow reads the forward value w, which depends on u",
    ),
    "by an intermediate value": Enters(
        TRICKS,
        "sqrt",
        ("z", "yu", "u"),
        "the pullback of sqrt reads the forward value z, which depends on u through yu",
        of="z",
        wrt="yu",
    ),
    "by the noise": Enters(
        HEAD + "y = u**2*x",
        "pow",
        ("u",),
        "the pullback of pow reads the forward value u",
        wrt="u",
    ),
    "a sign that derivatives do not see": Enters(
        HEAD + "s = sqrt(v**2)/v\ny = x*s",
        "mul",
        ("s", "v"),
        "the pullback of mul reads the forward value s, which depends on v",
        noise="v",
    ),
    "a jump of a sum of smooth functions": Enters(
        HEAD + "s = atan(v) + atan(1/v)\ny = x*s",
        "mul",
        ("s", "atan(v)", "v"),
        "the pullback of mul reads the forward value s, which depends on v through atan(v)",
        noise="v",
    ),
    "not the shortest path if that one is idle": Enters(
        HEAD + "a = sin(exp(u)) + 0*u\ny = x*a",
        "mul",
        ("a", "sin(exp(u))", "exp(u)", "u"),
        "the pullback of mul reads the forward value a, which depends on u through exp(u)",
    ),
    "not the nearest pullback if that one is idle": Enters(
        HEAD + "a = x*u\nb = u*x\ny = where(x**2 + 1 > 0, sin(a), cos(b))",
        "sin",
        ("a", "u"),
        "the pullback of sin reads the forward value a, which depends on u",
    ),
    "less than float64 can see": Enters(
        HEAD + "y = x*(1 + 1e-20*u)",
        "mul",
        ("1 + 1e-20*u", "1e-20*u", "u"),
        "the pullback of mul reads the forward value 1 + 1e-20*u, which depends on u through 1e-20*u",
    ),
}

FREE = {
    "outer trick": Free(
        TRICKS,
        "u reaches z_outer only inside stop_gradient(z - sqrt(y)), whose derivative edge is cut, and no pullback "
        "on the remaining derivative path reads a value that depends on u",
        of="z_outer",
    ),
    "exact outer trick": Free(
        TRICKS,
        "u reaches z_exact only inside stop_gradient(z), whose derivative edge is cut, and no pullback on the "
        "remaining derivative path reads a value that depends on u",
        of="z_exact",
    ),
    "two stops": Free(
        HEAD + "y = stop_gradient(u) + x + stop_gradient(x*u)",
        "u reaches y only inside stop_gradient(x*u) and stop_gradient(u), whose derivative edges are cut, and no "
        "pullback on the remaining derivative path reads a value that depends on u",
    ),
    "an additive term": Free(
        HEAD + "y = exp(x) + 3*u",
        "u enters y beside the derivative path from y to x: no pullback on that path reads a value that depends on u",
    ),
    "the other of two": Free(
        HEAD + "w = x*u\ny = w**2 + v",
        "v enters y beside the derivative path from y to x: no pullback on that path reads a value that depends on v",
        noise="v",
    ),
    "read on a way that ends": Free(
        HEAD + "y = x**2 + u*floor(x)",
        "u enters y beside the derivative path from y to x: no pullback on that path reads a value that depends on u",
    ),
    "not there": Free(HEAD + "y = x**2", "y does not depend on u"),
    "no derivative path": Free(
        HEAD + "y = u + stop_gradient(x)", "u reaches y, but no derivative path leads from y to x"
    ),
    "quotient that cancels": Free(
        HEAD + "y = x*u/u",
        "u is read by the pullbacks of div and mul but cancels: the gradient does not depend on it",
    ),
    "difference that cancels": Free(
        HEAD + "y = x*(u - u)",
        "u is read by the pullback of mul but cancels: the gradient does not depend on it",
    ),
    "ratio that cancels": Free(
        HEAD + "y = x*(u/u)",
        "u is read by the pullback of mul but cancels: the gradient does not depend on it",
    ),
    "logarithm that cancels": Free(
        HEAD + "y = x*(log(exp(u)) - u)",
        "u is read by the pullback of mul but cancels: the gradient does not depend on it",
    ),
}

# True would be wrong; a proof may be out of reach.
NEVER_TRUE = {
    "a tie that rounding decides": HEAD + "y = where(3*(u/3) == u, x, 2*x)",
    "a jump that rounding decides": HEAD + "y = x*floor(7*(u/7) - u)",
    "a root that rounding makes": HEAD + "y = x*sqrt(abs(7*(u/7) - u))",
    "a sign without a change": HEAD + "y = x*sqrt(u**2)/u",
    "an identity of smooth functions": HEAD + "y = x*(atan(u) + atan(1/u))",
    "an identity of trigonometry": HEAD + "y = x*(sin(v)**2 + cos(v)**2)",
    "the same on both sides": HEAD + "y = where(u > 1, x**2, x*x)",
    "a constant choice": HEAD + "y = x*where(u > 2, 1, 3)",
}
