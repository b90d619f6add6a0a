"""Proof files that somebody changed: whatever the checker accepts, what it prints is so."""

from __future__ import annotations

import copy
import json
import random
from functools import cache

import symgrad as sg
from symgrad.checker.check import CheckResult, check
from symgrad.errors import UsageError
from tests.fuzz.believed import Believed, Undefined, differ, draw, precisely
from tests.fuzz.believed_numbers import mp, real
from tests.fuzz.kind import kind, refused

SCALARS = """
x, y : real
p : positive
t : real(0, 1)
n, k : int
u ~ Uniform(0.9, 1.1)
b ~ Bernoulli(1/3)
c : bool
"""
EQUAL = [
    ("sin(x + y)", "sin(x)*cos(y) + cos(x)*sin(y)"),
    ("sqrt(x**2)", "abs(x)"),
    ("sqrt(p)**2*sqrt(t)", "p*sqrt(t)"),
    ("log(p*t)", "log(p) + log(t)"),
    ("(x**2 - 1)/(x - 1)", "x + 1"),
    ("exp(x)*exp(-x) + 2**n*2**k", "1 + 2**(n + k)"),
    ("where(x > y, x - y, y - x)", "abs(x - y)"),
    ("maximum(x, y) + minimum(x, y)", "x + y"),
    ("cosh(x)**2 - sinh(x)**2", "1"),
    ("sqrt(u)*sqrt(p*u)", "u*sqrt(p)"),
    ("b*(b + 1)*x - b*x", "b**2*x"),
    ("where(c, x + y, x*y)", "where(c, y + x, y*x)"),
    ("tanh(x)", "(exp(2*x) - 1)/(exp(2*x) + 1)"),
    ("x**3 + E()*x", "x*(x**2 + E())"),
    ("atan(x) + atan(1/x)", "pi/2*sign(x)"),
    ("x", "x + 1"),
    ("sqrt(x**2)", "x"),
    ("log(x*y)", "log(x) + log(y) + 1"),
    ("floor(x) + floor(-x)", "-1"),
]
DERIVATIVES = [
    ("sqrt(x**2)", "x", "x/abs(x)"),
    ("sin(x*y)*exp(-x)", "x", "(y*cos(x*y) - sin(x*y))*exp(-x)"),
    ("p**p", "p", "p**p*(log(p) + 1)"),
    ("stop_gradient(x)*x", "x", "x"),
    ("maximum(x, y)**2", "x", "where(x > y, 2*x, 0)"),
    ("x**3*u", "x", "3*x**2"),
]
ARRAYS = """
x, y : real[n]
A, B : real[n, n]
X : real[n, m]
S : real[n, n] symmetric
v ~ Normal(0, 1)[m]
i : int[m]
"""
OF_ARRAYS = [
    ("x@S@y", "y@S@x"),
    ("S[0, 1:]", "S[1:, 0]"),
    ("(A@B).T", "B.T@A.T"),
    ("sum((X@v)**2)", "v@X.T@X@v"),
    ("x[1:]*y[1:]", "(y*x)[1:]"),
    ("sum(softmax(x))", "1"),
    ("cumsum(x + y, axis=0)", "cumsum(x, axis=0) + cumsum(y, axis=0)"),
    ("x[i] + y[i]", "(x + y)[i]"),
    ("trace(A@B)", "sum(A*B.T)"),
    ("mean(X, axis=0)", "sum(X, axis=0)/n"),
    ("concatenate((x, y))[0]", "x[0]"),
    ("x[i]", "one_hot(i, n)@x"),
    ("x@A@y", "y@A@x"),
    ("max(x*x)", "max(x)**2"),
]
GRADIENTS = [
    ("sum((X@v)**2)", "v", "2*X.T@X@v"),
    ("x@S@x", "x", "2*S@x"),
    ("x@A@x", "x", "(A + A.T)@x"),
    ("sum(exp(x)*y)", "x", "exp(x)*y"),
    ("sum(x[i])", "x", "scatter_add(ones((m,)), i, shape=(n,))"),
    ("x@A@x", "x", "2*A@x"),
]
COMPLEX = [
    (("exp(z + w)", "exp(z)*exp(w)"), "complex"),
    (("cos(z)**2 + sin(z)**2", "1"), "complex"),
    (("sqrt(p*z)", "sqrt(p)*sqrt(z)"), {"p": "positive", "z": "complex"}),
    (("log(exp(z))", "z"), "complex"),
    (("sqrt(z)*sqrt(w)", "sqrt(z*w)"), "complex"),
    (("sinh(2*z)", "2*sinh(z)*cosh(z)"), "complex"),
]
ONE = "exp sin cos tan sqrt log abs sign sinh cosh tanh neg atan erf floor relu stop_gradient".split()  # noqa: SIM905
TWO = "add mul div pow maximum minimum lt le gt ge eq ne".split()  # noqa: SIM905
NAMES = [
    "x",
    "y",
    "z",
    "q",
    "σ",
    "s3",
    "e",
    "E",
    "n",
    "m",
    "pi",
    "5",
    "x y",
    "x\n",
    "\u05d0",
    "if",
    "x\u202e",
    "__a",
]
NUMBERS = ["0", "1", "-1", "2", "3", "1/2", "-7/3", "10", "1e5", "1/0", "9" * 50, "", "-0", "00", "1.5"]
KINDS = ["real", "int", "bool", "complex"]
SHAPES = [[], ["n"], ["m"], ["n", "n"], ["n", "m"], [1], [2], ["n + 1"], ["max(n - 1, 0)"], ["n", 1]]


@cache
def proofs() -> list[dict]:
    """Proofs and refutations of many sorts, as JSON."""
    scalars = sg.parse(SCALARS)
    declared = {x.name: x for x in scalars.inputs}

    def read(text: str, symbols):
        return sg.parse(text, symbols=symbols).last

    made = [sg.equal(read(a, declared), read(b, declared)) for a, b in EQUAL]
    made += [sg.verify(read(y, declared), declared[w], read(c, declared)) for y, w, c in DERIVATIVES]
    program = sg.parse(ARRAYS + "".join(
        f"l{k} = {a}\nr{k} = {b}\n" for k, (a, b) in enumerate([*OF_ARRAYS, *((y, c) for y, _, c in GRADIENTS)])
    ))  # fmt: skip
    made += [sg.equal(program[f"l{k}"], program[f"r{k}"]) for k in range(len(OF_ARRAYS))]
    for k, (_, wrt, _) in enumerate(GRADIENTS, len(OF_ARRAYS)):
        made.append(sg.verify(program[f"l{k}"], program[wrt], program[f"r{k}"]))
    made += [sg.equal(*sides, domain=domain) for sides, domain in COMPLEX]
    made.append(sg.verify("z**w", "z", "w*z**(w - 1)", domain="complex"))
    found = [json.loads(v.proof.to_json()) for v in made if v.proof is not None]
    assert len(found) > 40
    return found


def _leaves(data, path=()):
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(value, (dict, list)) and value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key)


def _put(data, path, value) -> None:
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


def _swapped(data, rng: random.Random) -> None:
    """Another operation, or other arguments."""
    step = rng.choice(data["program"]["steps"])
    if step[0] in ONE:
        step[0] = rng.choice(ONE)
    elif step[0] in TWO and rng.random() < 0.7:
        step[0] = rng.choice(TWO[:6] if step[4] != "bool" else TWO[6:])
    elif step[1]:
        step[1][rng.randrange(len(step[1]))] = rng.randrange(len(data["program"]["steps"]))
    else:
        _renumbered(data, rng)


def _renumbered(data, rng: random.Random) -> None:
    numbers = [s for s in data["program"]["steps"] if s[0] == "number" and isinstance(s[2][0], dict)]
    if numbers:
        rng.choice(numbers)[2][0]["q"] = rng.choice(NUMBERS)
    else:
        data["a"], data["b"] = data["b"], data["a"]


def _renamed(data, rng: random.Random) -> None:
    """A name everywhere, or in one place."""
    old = rng.choice(data["program"]["symbols"] or [["x"]])[0]
    new = rng.choice(NAMES)
    if rng.random() < 0.3:
        rng.choice(data["program"]["symbols"] or [["x"]])[0] = new
        return
    text = json.dumps(data).replace(json.dumps(old), json.dumps(new))
    try:
        changed = json.loads(text)
    except ValueError:  # pragma: no cover
        return
    data.clear()
    data.update(changed)


def _declared(data, rng: random.Random) -> None:
    """A fact of a variable less, or another one."""
    symbols = data["program"]["symbols"]
    if not symbols:
        return
    symbol = rng.choice(symbols)
    match rng.randrange(5):
        case 0:
            del symbol[5:]
        case 1:
            symbol[2 + rng.randrange(2)] = rng.choice([None, *NUMBERS[:8]])
        case 2:
            symbol[5:] = rng.choice(
                [["symmetric"], [{"drawn": ["Uniform", "0", "1"]}], [{"drawn": ["Bernoulli", "1"]}]]
            )
        case 3:
            kind_ = symbol[1] = rng.choice(KINDS)
            for step in data["program"]["steps"]:
                if step[:1] == ["symbol"] and step[2] == [symbol[0]]:
                    step[4] = kind_
        case _:
            shape = symbol[4] = rng.choice(SHAPES)
            for step in data["program"]["steps"]:
                if step[:1] == ["symbol"] and step[2] == [symbol[0]]:
                    step[3] = shape


def _headed(data, rng: random.Random) -> None:
    count = len(data["program"]["steps"])
    match rng.randrange(6):
        case 0:
            data["status"] = rng.choice(["proved", "refuted", "apart"])
        case 1:
            data["kind"] = rng.choice(["equal", "derivative"])
            data.setdefault("wrt", rng.choice(NAMES))
        case 2 if "wrt" in data:
            data["wrt"] = rng.choice([s[0] for s in data["program"]["symbols"]])
        case 3:
            data[rng.choice("ab")] = rng.randrange(count)
        case 4:
            data.pop(rng.choice(list(data)))
        case _:
            data["a"], data["b"] = data["b"], data["a"]


def _spliced(data, rng: random.Random) -> None:
    """A part of another proof."""
    other = copy.deepcopy(rng.choice(proofs()))
    key = rng.choice(
        ["program", "cases", "sample", "witness", "a", "b", "branches", "real", "symbols", "steps", "answers"]
    )
    if key in ("symbols", "steps"):
        data["program"][key] = other["program"][key]
    elif key == "answers" and "cases" in data and "cases" in other and other["cases"]:
        rng.choice(data["cases"] or [{}])[key] = other["cases"][0][key]
    elif key in other:
        data[key] = other[key]


def _changed(data, rng: random.Random) -> None:
    """One leaf."""
    path = rng.choice(list(_leaves(data)))
    values = [
        None,
        True,
        0,
        1,
        2,
        7,
        -1,
        *NUMBERS,
        *NAMES,
        "n",
        "symmetric",
        [],
        {},
        {"q": "2"},
        ["n"],
        *ONE[:6],
        *TWO[:4],
    ]
    _put(data, path, copy.deepcopy(rng.choice(values)))


_WAYS = [
    _swapped,
    _swapped,
    _renumbered,
    _renamed,
    _declared,
    _declared,
    _headed,
    _spliced,
    _changed,
    _changed,
]


@kind("mutated-proofs", seconds=20)
def mutated_proofs(rng: random.Random) -> None:
    """Rename, swap, drop, splice: what is still accepted says in print what is true."""
    data = copy.deepcopy(rng.choice(proofs()))
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])):
        try:
            rng.choice(_WAYS)(data, rng)
        except (KeyError, IndexError, TypeError, ValueError):
            break  # what is left of it cannot be changed like that
    try:
        found = check(data, 5)
    except UsageError as error:
        refused(error)
        return
    assert len(found.why) < 400
    assert found.why.isprintable()
    if found.status in ("proved", "refuted"):
        assert found.statement is not None
        holds(found, Believed(found.statement.lines), rng)


def holds(found: CheckResult, b: Believed, rng: random.Random) -> None:
    """What is printed is true at random points, or false at the one that is given."""
    if found.difference is not None:
        point = {
            name: value if isinstance(value, int) else _array(value)
            for name, value in found.difference.point.items()
        }
        left, right = b.sides(point)
        assert differ(left, right), (b.lines, point)
        return
    told = 0
    for _ in range(12):
        point = draw(b, rng)
        try:
            left, right = precisely(b, point)
        except Undefined:
            continue
        told += 1
        if found.status == "refuted":  # the difference is a number other than zero
            assert differ(left, right), (b.lines, point)
        elif differ(left, right):
            assert _is_left_out(found, b, point), (b.lines, point)
        if told == 5:
            return


def _array(value):
    import numpy as np

    if isinstance(value, list):
        return np.array([_array(v) for v in value], dtype=object)
    if hasattr(value, "imag") and hasattr(value, "bits"):  # a complex number
        return mp.mpc(real(value.real), real(value.imag))
    return value


def _is_left_out(found: CheckResult, b: Believed, point) -> bool:
    """Whether a point is one of those of which nothing is claimed: whole numbers may well be."""
    for condition in found.excluded:
        left, _, right = condition.partition(" = ")
        if right == "0" and all(c.isalnum() or c in " +-*/()_" for c in left):
            try:
                if not differ(*Believed([*b.lines[:-1], f"{left} = 0"]).sides(point)):
                    return True
            except (Undefined, KeyError, AssertionError):
                continue
    return False
