"""Documents with known truth: derivations typed in the habits of many people, right or with one mistake."""

from __future__ import annotations

import cmath
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Document", "drawn_document"]

Tree: TypeAlias = tuple  # (kind, parts...): see `_CONSTRUCTORS`

X: Tree = ("x",)
_POINTS = (0.37, 0.83, 1.41, 2.23)


@dataclass(frozen=True)
class Document:
    """A text, and of some of its lines whether they are right.

    Args:
        text: it.
        truth: by line, from 1.
    """

    text: str
    truth: dict[int, bool]


# -- formulas: a number, x, a sum, a product, a quotient, a power with a number, a function ---------------------------


def num(value: int) -> Tree:
    return ("num", value)


def add(*terms: Tree) -> Tree:
    kept = [t for t in terms if t != num(0)]
    return kept[0] if len(kept) == 1 else ("add", *kept) if kept else num(0)


def mul(*factors: Tree) -> Tree:
    if num(0) in factors:
        return num(0)
    number, rest = 1, list[Tree]()
    for f in factors:
        for g in f[1:] if f[0] == "mul" else (f,):
            if g[0] == "num":
                number *= g[1]
            else:
                rest.append(g)
    parts = [num(number)] * (number != 1 or not rest) + rest
    return parts[0] if len(parts) == 1 else ("mul", *parts)


def power(base: Tree, exponent: int) -> Tree:
    return num(1) if exponent == 0 else base if exponent == 1 else ("pow", base, exponent)


def apply(name: str, inner: Tree) -> Tree:
    return ("fn", name, inner)


_SLOPES: dict[str, Callable[[Tree], Tree]] = {
    "sin": lambda u: apply("cos", u),
    "cos": lambda u: mul(num(-1), apply("sin", u)),
    "exp": lambda u: apply("exp", u),
    "ln": lambda u: ("div", num(1), u),
    "sqrt": lambda u: ("div", num(1), mul(num(2), apply("sqrt", u))),
    "tan": lambda u: power(apply("sec", u), 2),
    "sec": lambda u: mul(apply("sec", u), apply("tan", u)),
    "arctan": lambda u: ("div", num(1), add(num(1), power(u, 2))),
    "sinh": lambda u: apply("cosh", u),
    "cosh": lambda u: apply("sinh", u),
    "tanh": lambda u: power(apply("sech", u), 2),
    "sech": lambda u: mul(num(-1), apply("sech", u), apply("tanh", u)),
}


def slope(f: Tree) -> Tree:
    """Return the derivative as the rules give it, with inner derivatives as factors behind."""
    match f[0]:
        case "num":
            return num(0)
        case "x":
            return num(1)
        case "add":
            return add(*(slope(t) for t in f[1:]))
        case "mul":
            return add(*(mul(*f[1:k], slope(f[k]), *f[k + 1 :]) for k in range(1, len(f))))
        case "div":
            above, below = f[1:]
            if slope(below) == num(0):
                return ("div", slope(above), below)
            top = add(mul(slope(above), below), mul(num(-1), above, slope(below)))
            return ("div", top, power(below, 2))
        case "pow":
            return mul(num(f[2]), power(f[1], f[2] - 1), slope(f[1]))
        case _:
            return mul(_SLOPES[f[1]](f[2]), slope(f[2]))


_VALUES: dict[str, Callable[[complex], complex]] = {
    **{name: getattr(cmath, name) for name in ("sin", "cos", "exp", "sqrt", "tan", "sinh", "cosh", "tanh")},
    "ln": cmath.log,
    "sec": lambda z: 1 / cmath.cos(z),
    "sech": lambda z: 1 / cmath.cosh(z),
    "arctan": cmath.atan,
}


def value(f: Tree, x: float) -> complex:
    match f[0]:
        case "num":
            return f[1]
        case "x":
            return x
        case "add":
            return sum(value(t, x) for t in f[1:])
        case "mul":
            product: complex = 1
            for t in f[1:]:
                product *= value(t, x)
            return product
        case "div":
            return value(f[1], x) / value(f[2], x)
        case "pow":
            return value(f[1], x) ** f[2]
        case _:
            return _VALUES[f[1]](value(f[2], x))


def differ(f: Tree, g: Tree) -> bool:
    """Tell whether two formulas differ at a point where both are real."""
    for x in _POINTS:
        try:
            a, b = value(f, x), value(g, x)
        except (ZeroDivisionError, OverflowError, ValueError):
            continue
        if abs(a.imag) + abs(b.imag) < 1e-12 and abs(a - b) > 1e-6 * (1 + abs(a) + abs(b)):
            return True
    return False


def _inner(rng: random.Random) -> Tree:
    k, c = rng.choice([2, 3, 4, 5]), rng.choice([1, 2, 3])
    return rng.choice([X, mul(num(k), X), power(X, 2), add(power(X, 2), num(c)), add(mul(num(k), X), num(c))])


def _factor(rng: random.Random) -> Tree:
    name = rng.choice([*_SLOPES])
    inner = _inner(rng)
    if name in ("ln", "sqrt") and rng.random() < 0.5:
        inner = add(power(X, 2), num(rng.choice([1, 2, 3])))
    return rng.choice(
        [power(X, rng.randint(1, 4)), apply(name, inner), power(_inner(rng), rng.randint(2, 5))]
    )


def drawn_formula(rng: random.Random) -> Tree:
    terms: list[Tree] = []
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        factors = [_factor(rng) for _ in range(rng.choice([1, 1, 2]))]
        sign = num(rng.choice([1, 1, 2, 3, 5, -1, -2]))
        term = mul(sign, *factors)
        if rng.random() < 0.15:
            term = ("div", term, _factor(rng))
        terms.append(term)
    return add(*terms)


# -- mistakes ----------------------------------------------------------------------------------------------------------


def _parts(f: Tree) -> Iterator[Tree]:
    yield f
    for part in f[1:]:
        if isinstance(part, tuple):
            yield from _parts(part)


def _swapped(f: Tree, old: Tree, new: Tree) -> Tree:
    if f == old:
        return new
    return tuple(_swapped(part, old, new) if isinstance(part, tuple) else part for part in f)


def with_mistake(rng: random.Random, f: Tree) -> Tree | None:
    """Return a formula with one slip in it that changes its value; None if none was found."""
    for _ in range(20):
        part = rng.choice([*_parts(f)])
        match part[0]:
            case "num":
                new: Tree = num(rng.choice([part[1] + 1, -part[1], 2 * part[1]]))
            case "mul":
                gone = rng.randrange(1, len(part))
                new = mul(*part[1:gone], *part[gone + 1 :]) if len(part) > 2 else num(1)
            case "add":
                gone = rng.randrange(1, len(part))
                flipped = mul(num(-1), part[gone])
                new = add(*part[1:gone], *rng.choice([(), (flipped,)]), *part[gone + 1 :])
            case "pow":
                new = power(part[1], part[2] + rng.choice([-1, 1]))
            case "fn":
                new = apply(
                    {"sin": "cos", "cos": "sin", "tan": "sec", "sec": "tan"}.get(part[1], "sin"), part[2]
                )
            case "div":
                new = part[1]
            case _:
                new = mul(num(2), X)
        wrong = _swapped(f, part, new)
        if differ(f, wrong):
            return wrong
    return None


# -- how people write them ---------------------------------------------------------------------------------------------


class Hand:
    """The habits of one person.

    Args:
        rng: draws them.
        latex: whether formulas are LaTeX.
        variable: what x is called.
    """

    def __init__(self, rng: random.Random, *, latex: bool, variable: str) -> None:
        self.latex, self.variable = latex, variable
        self.sign = rng.choice(["", "", " ", "*", "·"]) if not latex else rng.choice(["", " ", r" \cdot "])
        self.raised = rng.choice(["^", "^", "**", "²"]) if not latex else "^"
        self.bare = rng.random() < 0.4
        self.exponential = rng.random() < 0.6
        self.logarithm = rng.choice(["ln", "ln", "log"])
        self.behind = rng.random() < 0.7  # numbers of inner derivatives stay in brackets where they stand
        self.inverse = rng.random() < 0.3

    def write(self, f: Tree) -> str:
        """Return a formula as this person writes it."""
        return self._sum(f)

    def _sum(self, f: Tree) -> str:
        if f[0] != "add":
            return self._term(f)
        text = self._term(f[1])
        for term in f[2:]:
            shown = self._term(term)
            text += f" - {shown[1:]}" if shown.startswith("-") else f" + {shown}"
        return text

    def _term(self, f: Tree) -> str:
        if f[0] == "num":
            return str(f[1])
        if f[0] == "mul":
            return self._product(f[1:])
        if f[0] == "div":
            above, below = self._sum(f[1]), self._sum(f[2])
            if self.latex:
                return rf"\frac{{{above}}}{{{below}}}"
            above = (
                above if f[1][0] in ("x", "pow", "fn") or (f[1][0] == "num" and f[1][1] > 0) else f"({above})"
            )
            return (
                f"{above}/{below}"
                if f[2][0] in ("num", "x", "pow") and "e^" not in below
                else f"{above}/({below})"
            )
        return self._power(f)

    def _product(self, factors: tuple) -> str:
        text = ""
        rest = [*factors]
        if rest[0][0] == "num" and rest[0][1] < 0:
            number = -rest[0][1]
            rest = [num(number), *rest[1:]] if number != 1 else rest[1:]
            text = "-"
        for k, f in enumerate(rest):
            shown = self._power(f, last=k == len(rest) - 1)
            if f[0] in ("add", "div") or (f[0] == "num" and k) or shown.startswith("-"):
                shown = f"({self._sum(f)})" if f[0] != "div" or not self.latex else self._sum(f)
            if k:
                text += self._between(text, shown)
            text += shown
        return text

    def _between(self, before: str, behind: str) -> str:
        letters = before[-1].isalnum() and behind[0].isalpha()
        if self.sign.strip():
            return self.sign
        if behind[0] == "(" and before[-1].isalpha():
            return "*" if not self.latex else r"\cdot "
        return " " if letters and not (before[-1].isdigit() and behind[0] == self.variable) else self.sign

    def _power(self, f: Tree, *, last: bool = True) -> str:
        if f[0] != "pow":
            return self._atom(f, last=last)
        base, exponent = f[1:]
        if base[0] == "fn" and base[1] in ("sin", "cos", "tan", "sec", "sech") and self.bare:
            name = self._function(base[1])
            argument = self._argument(base[2], last=last)
            return f"{name}{self._above(exponent)}{argument}"
        atom = self._atom(base, last=False)
        if base[0] not in ("x", "num") and not (base[0] == "fn" and base[1] != "exp" and atom.endswith(")")):
            atom = f"({self._sum(base)})"
        return f"{atom}{self._above(exponent)}"

    def _above(self, exponent: int) -> str:
        if self.latex:
            return f"^{{{exponent}}}" if exponent > 9 else f"^{exponent}"
        if self.raised == "²":
            return {2: "²", 3: "³"}.get(exponent, f"^{exponent}")
        return f"{self.raised}{exponent}"

    def _atom(self, f: Tree, *, last: bool) -> str:
        if f[0] == "x":
            return self.variable
        if f[0] == "num":
            return str(f[1])
        if f[0] != "fn":
            return self._sum(f)
        name, inner = f[1:]
        if name == "sqrt" and self.latex:
            return rf"\sqrt{{{self._sum(inner)}}}"
        if name == "exp" and self.exponential:
            above = self._sum(inner)
            if self.latex:
                return f"e^{{{above}}}"
            return f"e^{above}" if inner[0] == "x" else f"e^({above})"
        return f"{self._function(name)}{self._argument(inner, last=last)}"

    def _function(self, name: str) -> str:
        if name == "ln":
            name = self.logarithm
        if name == "arctan" and self.inverse and not self.latex:
            return "tan^-1"
        if not self.latex:
            return name
        return rf"\operatorname{{{name}}}" if name == "sech" else f"\\{name}"

    def _argument(self, inner: Tree, *, last: bool) -> str:
        simple = inner[0] == "x" or (inner[0] == "mul" and len(inner) == 3 and inner[1][0] == "num" and last)
        if self.bare and simple and self.sign in ("", " "):
            return f" {self._sum(inner)}"
        return f"({self._sum(inner)})" if not self.latex else rf"\left({self._sum(inner)}\right)"


_REMARKS = ("", "", "", "", "  (by the chain rule)", " (chain rule)", "  [product rule]", ", as expected.")
_OPENINGS = (
    "",
    "",
    "Let ",
    "Consider ",
    "We are given the function ",
    "Problem 3. Differentiate ",
    "Suppose that ",
)
_JOINTS = ("", "", "Then ", "So ", "Therefore, ", "By the chain rule, ", "We get ", "Hence we obtain ", "- ")


def drawn_document(rng: random.Random) -> Document:
    """Draw a document: a definition, its derivative, perhaps written a second time, right or with one mistake."""
    latex = rng.random() < 0.4
    variable = rng.choice(["x", "x", "x", "t", "s", "z"])
    name = rng.choice(["f", "g", "h", "y", "y", "F"])
    hand = Hand(rng, latex=latex, variable=variable)
    f = drawn_formula(rng)
    while slope(f) == num(0):
        f = drawn_formula(rng)
    right = slope(f)
    wrong = with_mistake(rng, right) if rng.random() < 0.5 else None
    claimed = right if wrong is None else wrong
    called = rng.random() < 0.6
    left = f"{name}({variable})" if called else name
    if latex:
        slopes = [rf"\frac{{d{name}}}{{d{variable}}}", f"{name}'" + (f"({variable})" if called else "")]
    else:
        slopes = [
            f"d{name}/d{variable}",
            f"{name}'" + (f"({variable})" if called else ""),
            f"d/d{variable} {left}",
        ]
    marks = ("$", "$") if latex and rng.random() < 0.5 else ("$$", "$$") if latex else ("", "")
    lines: list[str] = []
    truth: dict[int, bool] = {}

    def line(text: str, opening: str) -> None:
        remark = rng.choice(_REMARKS)
        lines.append(f"{opening}{marks[0]}{text}{marks[1]}{remark}")

    line(f"{left} = {hand.write(f)}", rng.choice(_OPENINGS))
    line(f"{rng.choice(slopes)} = {hand.write(claimed)}", rng.choice(_JOINTS))
    truth[2] = wrong is None
    if wrong is None and rng.random() < 0.3:
        second = slope(right)
        if second != num(0):
            shown = f"{name}''" + (f"({variable})" if called else "")
            slip = with_mistake(rng, second) if rng.random() < 0.5 else None
            line(f"{shown} = {hand.write(second if slip is None else slip)}", rng.choice(_JOINTS))
            truth[3] = slip is None
    return Document("\n".join(lines), truth)
