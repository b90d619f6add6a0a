"""Pairs of programs with stop_gradient: values are compared, and gradients; judged by differences with held values."""

from __future__ import annotations

import json
import random
import re

import symgrad as sg
from symgrad.checker.check import check
from tests.fuzz.kind import kind
from tests.fuzz.kinds.derivations import slope_of, value_of

_LINES = (
    "{a}*{b} + {c}",
    "{a}**2 - {b}",
    "{a}/(1 + {b}**2)",
    "sin({a}) + {b}*{c}",
    "exp({a}) - {b}",
    "where({a} > {c}, {b}, {a}*{c})",
    "relu({a})*{b}",
    "maximum({a}, {b})",
    "abs({a}) + {b}",
    "sqrt({a}**2 + 1)*{c}",
)
_NAMES = ("x", "y")


def _drawn(rng: random.Random) -> list[str]:
    names: list[str] = list(_NAMES)
    lines: list[str] = []
    for k in range(rng.randint(1, 3)):
        a, b, c = (rng.choice([*names[-3:], "0.5"]) for _ in range(3))
        lines.append(f"t{k} = " + rng.choice(_LINES).format(a=a, b=b, c=c))
        names.append(f"t{k}")
    lines.append("out = " + rng.choice([" + ", "*"]).join(names[2:]))
    return _held(rng, lines)


def _held(rng: random.Random, lines: list[str]) -> list[str]:
    """The same values, with another derivative at some places; or with the same."""
    forms = (
        "stop_gradient({0})",
        "stop_gradient({0})",
        "({0} + stop_gradient({0}) - stop_gradient({0}))",
        "(2*{0} - stop_gradient({0}))",
    )
    found = list(lines)
    for _ in range(rng.randint(1, 2)):
        k = rng.randrange(len(found))
        name, formula = found[k].split(" = ")
        places = list(re.finditer(r"(?<!stop_gradient\()\b([xy]|t\d)\b", formula))
        if places:
            m = rng.choice(places)
            formula = formula[: m.start()] + rng.choice(forms).format(m[1]) + formula[m.end() :]
            found[k] = f"{name} = {formula}"
    return found


def _changed(rng: random.Random, lines: list[str]) -> list[str]:
    found = list(lines)
    k = rng.randrange(len(found))
    change = rng.random()
    if change < 0.25:
        found[k] = re.sub(r"stop_gradient\((\w+)\)", r"\1", found[k], count=1)
    elif change < 0.5:
        name, formula = found[k].split(" = ")
        found[k] = f"{name} = ({formula}) + 0*x + {rng.choice(['0', '0', '1', 'y'])}"
    elif change < 0.6:
        found[k] = found[k].replace("+", "-", 1)
    return _held(rng, found) if rng.random() < 0.6 else found


@kind("equality-with-stops", seconds=20)
def two_answers(rng: random.Random) -> None:
    a = _drawn(rng)
    b = _changed(rng, a)
    head = "x, y : real\n"
    one, two = (sg.parse(head + "\n".join(lines)).last for lines in (a, b))
    v = sg.equal(one, two, time_limit=2)
    if v.proof is not None:
        assert check(json.loads(v.proof.to_json())).status == v.status, (a, b)
    if v.of_values is None:  # nothing is held back in either
        assert not any("stop_gradient" in line for line in (*a, *b)) or not _inputs(one, two), (a, b)
        return
    assert set(v.of_gradients) == _inputs(one, two)
    parts = [v.of_values, *v.of_gradients.values()]
    for part in parts:
        if part.proof is not None:
            assert check(json.loads(part.proof.to_json())).status == part.status, (a, b)
    statuses = {part.status for part in parts}
    assert (v.status == "proved") == (statuses == {"proved"})
    assert (v.status == "refuted") == ("refuted" in statuses)
    _judged(rng, v, a, b)


def _inputs(*sides: sg.Expr) -> set[str]:
    return {i.name for side in sides for i in side.inputs if i.name is not None}


def _judged(rng: random.Random, v: sg.Verdict, a: list[str], b: list[str]) -> None:
    """Random points contradict no answer, and at a witness the two differ."""
    assert v.of_values is not None
    points = [{name: rng.uniform(-2, 2) for name in _NAMES} for _ in range(2)]
    questions = [("", v.of_values), *v.of_gradients.items()]
    for by, part in questions:
        if part.status == "refuted" and part.witness is not None:
            point = {name: float(part.witness.get(name, 0.5)) for name in _NAMES}
            left, right = (_at(lines, point, by) for lines in (a, b))
            if all(point[n] == part.witness.get(n, 0.5) for n in _NAMES) and None not in (left, right):
                assert left != right, (a, b, by, point, str(v))
        # What is supported may be wrong where a kink within a stop fills an interval: no point is tried there.
        elif part.status == "proved":
            for point in points:
                left, right = (_at(lines, point, by) for lines in (a, b))
                if left is not None and right is not None:
                    assert abs(left - right) <= 1e-9 * (1 + abs(left)), (a, b, by, point, str(v))


def _at(lines: list[str], point: dict[str, float], by: str) -> float | None:
    return slope_of(lines, point, by) if by else value_of(lines, point)
