"""Pairs of formulas, one rewritten into the other, some with a mistake: no verdict is wrong."""

from __future__ import annotations

import ast
import copy
import itertools
import json
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import symgrad as sg
from symgrad.checker.check import check
from tests.fuzz.believed import Believed, Undefined, differ, draw, precisely
from tests.fuzz.believed_numbers import apart, mp
from tests.fuzz.kind import kind

HEAD = ["x : real", "y : real", "p : real(0, oo)", "t : real(0, 1)", "n : int"]
_LEAVES = ["x", "x", "y", "p", "t", "n", "1", "2", "3", "1/2", "-1"]
_ONE = ["exp({})", "sin({})", "cos({})", "sqrt({})", "log({})", "abs({})", "tanh({})", "-({})", "({})**2", "1/({})",
        "floor({})", "sign({})", "atan({})", "relu({})"]  # fmt: skip
_TWO = ["({}) + ({})", "({})*({})", "({}) - ({})", "({})/({})", "({})*({})", "({}) + ({})", "maximum({}, {})"]
_THREE = ["where(({}) > ({}), {}, 0)", "where(({}) == ({}), {}, 1)"]

# Laws, many of which hold only where both sides have a value, or on a part of that.
_LAWS = [
    ("a + b", "b + a"), ("a*b", "b*a"), ("a - b", "a + (-b)"), ("a/b", "a*b**(-1)"), ("a/b", "1/(b/a)"),
    ("a", "2*a - a"), ("a", "a*(1/2) + a/2"), ("a*(b + c)", "a*b + a*c"), ("a + b", "(a**2 - b**2)/(a - b)"),
    ("a**2", "a*a"), ("a**2", "abs(a)**2"), ("sqrt(a)", "a**(1/2)"), ("sqrt(a)*sqrt(b)", "sqrt(a*b)"),
    ("sqrt(a**2)", "abs(a)"), ("abs(a)", "maximum(a, -a)"), ("abs(a)", "a*sign(a)"), ("abs(a*b)", "abs(a)*abs(b)"),
    ("exp(a)*exp(b)", "exp(a + b)"), ("exp(-(a))", "1/exp(a)"), ("exp(log(a))", "a"), ("log(exp(a))", "a"),
    ("log(a*b)", "log(a) + log(b)"), ("log(a**2)", "2*log(abs(a))"), ("log(1/(a))", "-log(a)"),
    ("sin(a)**2", "1 - cos(a)**2"), ("sin(2*a)", "2*sin(a)*cos(a)"), ("cos(a)", "sin(a + pi/2)"),
    ("sin(-(a))", "-sin(a)"),
    ("tanh(a)", "(exp(2*a) - 1)/(exp(2*a) + 1)"), ("maximum(a, b)", "(a + b + abs(a - b))/2"),
    ("maximum(a, b)", "where(a > b, a, b)"), ("relu(a)", "maximum(a, 0)"),
    ("where(a > b, c, 0)", "where(b >= a, 0, c)"),
    ("atan(-(a))", "-atan(a)"), ("floor(a + 1)", "floor(a) + 1"), ("sign(a*b)", "sign(a)*sign(b)"), ("1/(1/(a))", "a"),
]  # fmt: skip


def formula(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(_LEAVES)
    choice = rng.random()
    if choice < 0.4:
        return rng.choice(_ONE).format(formula(rng, depth - 1))
    shape = rng.choice(_TWO) if choice < 0.92 else rng.choice(_THREE)
    return shape.format(*(formula(rng, depth - 1) for _ in range(shape.count("{}"))))


def _match(pattern: ast.AST, e: ast.AST, found: dict[str, ast.AST]) -> bool:
    if isinstance(pattern, ast.Name) and len(pattern.id) == 1:
        return ast.dump(found.setdefault(pattern.id, e)) == ast.dump(e)
    if type(pattern) is not type(e):
        return False
    if isinstance(pattern, ast.Constant):
        return pattern.value == e.value  # type: ignore[attr-defined]
    for name, part in ast.iter_fields(pattern):
        other = getattr(e, name)
        if isinstance(part, list):
            if len(part) != len(other) or not all(
                _match(p, o, found) for p, o in zip(part, other, strict=True)
            ):
                return False
        elif isinstance(part, ast.AST):
            if not _match(part, other, found):
                return False
        elif part != other and name != "ctx":
            return False
    return True


class _Filled(ast.NodeTransformer):
    def __init__(self, found: dict[str, ast.AST]) -> None:
        self.found = found

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.found.get(node.id, node))


class _Replaced(ast.NodeTransformer):
    """Another expression in one place."""

    def __init__(self, place: ast.AST, by: ast.AST) -> None:
        self.place, self.by = place, by

    def visit(self, node: ast.AST) -> ast.AST:
        return self.by if node is self.place else self.generic_visit(node)


_RULES = [
    (ast.parse(a, mode="eval").body, ast.parse(b, mode="eval").body)
    for law in _LAWS
    for a, b in (law, law[::-1])
]


def _everywhere(e: ast.expr) -> list[ast.expr]:
    """The parts that are numbers: no conditions, no names of functions."""
    parts = (n for n in ast.walk(e) if isinstance(n, ast.expr) and not isinstance(n, ast.Compare))
    return [n for n in parts if not _is_called(n, e)]


def _is_called(n: ast.AST, e: ast.AST) -> bool:
    return any(isinstance(c, ast.Call) and c.func is n for c in ast.walk(e))


def rewritten(text: str, rng: random.Random, steps: int) -> str:
    """The same formula by some laws."""
    e: Any = ast.parse(text, mode="eval").body
    for _ in range(steps):
        ways = []
        for place, (before, after) in itertools.product(_everywhere(e), _RULES):
            found: dict[str, ast.AST] = {}
            # "a" alone matches everything, and makes everything longer.
            if (not isinstance(before, ast.Name) or rng.random() < 0.05) and _match(before, place, found):
                ways.append((place, after, found))
        if not ways:
            return ast.unparse(e)
        place, after, found = rng.choice(ways)
        free = {n.id for n in ast.walk(after) if isinstance(n, ast.Name) and len(n.id) == 1}
        if free <= found.keys():
            e = _Replaced(place, _Filled(found).visit(copy.deepcopy(after))).visit(e)
    return ast.unparse(e)


def mistaken(text: str, rng: random.Random) -> str:
    """A formula with one change."""
    e = ast.parse(text, mode="eval").body
    place = rng.choice(_everywhere(e))
    changes: list[Callable[[str], str]] = [
        lambda s: f"-({s})",
        lambda s: f"({s} + 1)",
        lambda s: f"2*({s})",
        lambda s: f"abs({s})",
        lambda s: f"({s})**2",
        lambda s: f"where(({s}) == {rng.choice(['0', '1', 'x', '7/3', 'y'])}, 5, {s})",
        lambda s: f"where(({s}) > {rng.choice(['3', '1000', '10**6', 'y + 5'])}, 0, {s})",
        lambda s: f"maximum({s}, {rng.choice(['-3', '-1000', '-10**7', 'y - 9'])})",
        lambda _: rng.choice(_LEAVES),
    ]
    by = ast.parse(rng.choice(changes)(ast.unparse(place)), mode="eval").body
    return ast.unparse(_Replaced(place, by).visit(e))


def _points(b: Believed, rng: random.Random):
    """Random points, then special ones."""
    for _ in range(8):
        yield draw(b, rng), True
    some = [Fraction(v) for v in ("0", "1", "-1", "2", "-2", "0.5", "3", "1e4", "-1e4")]
    for _ in range(12):
        one = rng.choice(some)
        yield (
            {
                "x": one,
                "y": rng.choice([one, *some]),
                "p": abs(rng.choice([one, *some])) or Fraction(4),
                "t": Fraction(rng.choice(["0.5", "0.25", "0.9"])),
                "n": rng.choice([-3, -1, 0, 1, 2, 7]),
            },
            False,
        )


def _left_out(v: sg.Verdict, point) -> bool:
    """Whether a point lies in a set that the verdict does not claim anything of."""
    for condition in v.excluded:
        left, equals, right = condition.partition(" = ")
        try:
            sides = Believed([*HEAD, f"{_in_python(left)} = {right}"]).sides(point)
        except (Undefined, SyntaxError, KeyError, AssertionError, ValueError):
            return True  # it has no value there, or nobody can tell: the condition is that of a kernel
        if equals and not differ(*sides):
            return True
    return False


def _in_python(text: str) -> str:
    """A condition with absolute values as bars, as kernels are printed."""
    parts = text.split("|")
    return "".join(p if k % 2 == 0 else f"abs({p})" for k, p in enumerate(parts))


@kind("pairs-of-formulas", seconds=20)
def pairs_of_formulas(rng: random.Random) -> None:
    a = formula(rng, rng.choice([1, 2, 2, 3]))
    b = rewritten(a, rng, rng.choice([1, 2, 2, 3, 4]))
    if rng.random() < 0.45:
        b = mistaken(b, rng)
    program = sg.parse(
        "\n".join(["x, y : real", "p : positive", "t : real(0, 1)", "n : int", f"one = {a}", f"two = {b}"])
    )
    v = sg.equal(program["one"], program["two"], time_limit=2)
    if v.proof is not None:
        assert check(json.loads(v.proof.to_json())).status == v.status
    believed = Believed([*HEAD, f"{a} = {b}"])
    if v.status == "refuted" and v.witness is not None:
        _certainly_differ(believed, v)
    if v.status in ("proved", "supported"):
        for point, generic in _points(believed, rng):
            try:
                sides = precisely(believed, point)
            except Undefined:
                continue
            if differ(*sides):
                assert v.status == "proved" or not generic, (a, b, point, sides, str(v))
                assert v.status == "supported" or _left_out(v, point), (a, b, point, sides, str(v))


def _certainly_differ(b: Believed, v: sg.Verdict) -> None:
    """Both sides have a value at the witness, and not the same one."""
    assert v.witness is not None
    point = {x.name: Fraction(v.witness.get(x.name, Fraction(1, 2))) for x in b.variables}
    before = mp.dps
    try:
        for digits in (60, 400, 2000):
            mp.dps = digits
            left, right = b.sides(point)
            if apart(left, right, mp.mpf(10) ** (-digits // 2)):
                return
        if max(abs(left), abs(right)) < mp.mpf(10) ** -1000:  # digits would not tell them from zero
            return
    except Undefined:  # a comparison that is too close for floats
        return
    finally:
        mp.dps = before
    raise AssertionError(f"{b.lines[-1]} at {v.witness}: {left} and {right}")
