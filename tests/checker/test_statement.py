"""What `check` prints is what was proved: every fact of a statement shows, or the checker refuses the file."""

from __future__ import annotations

import copy
import json
import random
from typing import cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.checker.check import CheckResult, check
from symgrad.checker.file.statement import statement_of
from symgrad.checker.program.names import is_name, terminal_text
from symgrad.checker.program.steps import program_from_json
from symgrad.errors import UsageError
from symgrad.ir.types import is_name as notation_has
from symgrad.verification.statement import program_of

SCALARS = """
u ~ Uniform(0.9, 1.1)
b ~ Bernoulli(1/3)
k ~ Poisson(2)
x : real(0, 3)
y : real
m : int
one = where(y > 1, sqrt(x**2*u), b + k) + y**(2*m) + E()
two = where(y > 1, x*sqrt(u), b + k) + (y*y)**m + E()
"""
ARRAYS = """
S : real[n, n] symmetric
X : real[m, n]
v ~ Normal(0, 1)[n]
ids : int[m]
x : positive[n]
one = S[0, 1:] + exp(log(x[1:])) + sum(X*X, axis=0)[1:] + v[1:]*max(x)
two = S.T[0, 1:] + x[1:] + sum(X**2, axis=0)[1:] + max(x)*v[1:]
three = X@S@v[ids[0]*zeros(n, ) + 0]
"""


def data_of(verdict: sg.Verdict):
    assert verdict.proof is not None, verdict
    return json.loads(verdict.proof.to_json())


def _of_text(text: str, a: str = "one", b: str = "two"):
    program = sg.parse(text)
    return sg.equal(program[a], program[b])


def _symmetric():
    p = sg.parse("S : real[n, n] symmetric\nx : real[n]\nf = x@S@x")
    return sg.verify(p["f"], "x", "2*S@x")


def _positions():
    p = sg.parse(
        "X : real[n, 3]\nids : int[m]\none = X[ids, 1:] + cumsum(X, axis=1)[ids, 1:]\n"
        "two = cumsum(X, axis=1)[ids, 1:] + take(X, ids, axis=0)[:, 1:]"
    )
    return sg.equal(p["one"], p["two"])


PROOFS = {
    "scalars": lambda: _of_text(SCALARS),
    "truth values": lambda: _of_text(
        "c : bool\nx : real\none = where(c, x + 1, x)\ntwo = where(c, 1 + x, x)"
    ),
    "arrays": lambda: _of_text(ARRAYS),
    "symmetric": _symmetric,
    "positions": _positions,
    "derivative": lambda: sg.verify("x**2*sin(a*x)", "x", "2*x*sin(a*x) + a*x**2*cos(a*x)"),
    "refuted": lambda: sg.equal("sqrt(x**2)", "x"),
    "refuted arrays": lambda: _of_text("x : real[n]\none = sum(x[1:])\ntwo = sum(x)"),
    "apart": lambda: sg.equal("(x + 1)*2", "2*x + 3"),
    "complex": lambda: sg.equal("exp(z + w)", "exp(z)*exp(w)", domain="complex"),
    "complex and real": lambda: sg.equal(
        "sqrt(x*z)", "sqrt(x)*sqrt(z)", domain={"x": "positive", "z": "complex"}
    ),
    "complex derivative": lambda: sg.verify("z**z", "z", "z**z*(log(z) + 1)", domain="complex"),
    "complex refuted": lambda: sg.equal("log(z**2)", "2*log(z)", domain="complex"),
}


def answer(data) -> CheckResult | None:
    try:
        return check(data)
    except UsageError:
        return None


def facts(data):
    """The path to every fact of a statement: all but the kinds of steps, which the checker derives, and dead steps."""
    program = data["program"]
    needed = {data["a"], data["b"]}
    for i in range(len(program["steps"]) - 1, -1, -1):
        if i in needed:
            needed.update(program["steps"][i][1])
    yield from ((key,) for key in ("status", "kind", "wrt", "domain", "a", "b") if key in data)
    for i, symbol in enumerate(program["symbols"]):
        yield from (("program", "symbols", i, *p) for p in _leaves(symbol))
    for i in needed:
        yield from (
            ("program", "steps", i, k, *p) for k in (0, 1, 2) for p in _leaves(program["steps"][i][k])
        )


def _leaves(value, path=()):
    if isinstance(value, (dict, list)) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from _leaves(inner, (*path, key))
    else:
        yield path


OTHERS = [
    None, 0, 1, 2, 5, True, "x", "y", "z", "n", "m", "q", "0", "1/7", "-3", "real", "int", "bool", "complex",
    "equal", "derivative", "proved", "refuted", "apart", "sin", "mul", "max", "symmetric", [], ["n"], ["n", "n"],
    {"q": "5/3"}, {"drawn": ["Normal", "0", "1"]}, {"drawn": ["Uniform", "0", "3"]},
]  # fmt: skip


def changes(data):
    """Copies in which a fact is another, or is not there."""
    rng = random.Random(1)
    for path in facts(data):
        others = OTHERS if path[:2] != ("program", "steps") else rng.sample(OTHERS, 5)
        for other in (*others, "remove", "insert"):
            bad = copy.deepcopy(data)
            target = bad
            for key in path[:-1]:
                target = target[key]
            if other == "remove":
                del target[path[-1]]
            elif other == "insert":
                if not isinstance(target, list):
                    continue
                target.insert(cast("int", path[-1]), target[cast("int", path[-1])])
            else:
                target[path[-1]] = other
            if _meaning(bad) != _meaning(data):
                yield path, other, bad


def _meaning(data):
    return repr({**data, "program": _renumbered(data["program"])})


def _renumbered(program):
    """The same program with the labels of contractions in order of appearance: others mean the same."""
    steps = copy.deepcopy(program["steps"])
    for step in steps:
        if step[:1] == ["einsum"] and len(step) > 2:
            seen: dict[str, int] = {}
            step[2] = _numbered(step[2], seen)
    return repr((program["symbols"], steps))


def _numbered(labels, seen):
    if isinstance(labels, list):
        return [_numbered(k, seen) for k in labels]
    return seen.setdefault(repr(labels), len(seen)) if type(labels) is int else labels


@pytest.mark.parametrize("name", PROOFS)
def test_a_changed_fact_is_printed_or_refused(name):
    data = data_of(PROOFS[name]())
    found = check(data)
    assert found.status in {"proved", "refuted"}
    assert found.statement is not None
    before = found.status, found.statement.lines
    tried = 0
    for path, other, bad in changes(data):
        after = answer(bad)
        tried += 1
        if after is not None and after.status in {"proved", "refuted"}:
            assert after.statement is not None
            assert (after.status, after.statement.lines) != before, (path, other)
    assert tried > 100


@pytest.mark.parametrize("name", PROOFS)
def test_a_renamed_variable_is_renamed_in_print_or_refused(name):
    """Whatever it is renamed to: nothing that is printed is a number, a constant, or acts on the terminal."""
    text = json.dumps(data_of(PROOFS[name]()))
    for old in [s[0] for s in json.loads(text)["program"]["symbols"]] + ["n", "m"]:
        if f'"{old}"' not in text:
            continue
        for new in NO_NAMES:
            assert_refused(json.loads(text.replace(f'"{old}"', json.dumps(new))))


def assert_refused(data) -> None:
    found = answer(data)
    assert found is None or found.status == "supported"
    if found is not None:
        assert found.why == terminal_text(found.why)


NO_NAMES = [
    "", "5", "-1", "1/2", "pi", "π", "x y", "x\n", "\nx", "a\x1b[2Jb", "x\u202e", "x\u200b", "x\u2066y", "\ud800",
    "sin(y)", "x.y", "x+1", "lambda", "None", "True", "__x", "ｘ", "ﬁ", "x²", "e" * 5000, "x\u00ad", "a;b", "d(x)/dx",
]  # fmt: skip


def test_the_claim_from_outside():
    """A statement about symmetric matrices is none about all."""
    p = sg.parse("S : real[n, n] symmetric\na = S[0, 1]\nb = S[1, 0]")
    data = data_of(sg.equal(p["a"], p["b"]))
    found = check(data)
    assert found.status == "proved"
    assert found.statement is not None
    assert "S : real[n, n] symmetric" in found.statement.lines
    assert "n : size, n >= 1" in found.statement.lines


@pytest.mark.parametrize(
    ("declared", "printed"),
    [
        ("x : real", "x : real"),
        ("x : positive", "x : real(0, oo)"),
        ("x : real(-1/3, 0.5)", "x : real(-1/3, 1/2)"),
        ("x : int", "x : int"),
        ("x ~ Uniform(0.9, 1.1)", "x ~ Uniform(9/10, 11/10)"),
        ("x ~ Normal(0, 2)", "x ~ Normal(0, 2)"),
        ("x ~ Beta(1, 2)", "x ~ Beta(1, 2)"),
        ("x ~ Bernoulli(0)", "x ~ Bernoulli(0)"),
        ("x ~ Bernoulli(1)", "x ~ Bernoulli(1)"),
        ("x ~ Poisson(3)", "x ~ Poisson(3)"),
    ],
)
def test_declarations(declared, printed):
    v = _of_text(f"{declared}\none = 2*x + x\ntwo = 3*x")
    found = check(data_of(v))
    assert (found.status, v.status) == ("proved", "proved")
    assert found.statement is not None
    assert found.statement.lines[0] == printed


@pytest.mark.parametrize(
    "declared", ["x : real[n, n] symmetric", "x : positive[n, n] symmetric", "x : int[n, n] symmetric"]
)
def test_matrices_are_declared_symmetric_where_they_are(declared):
    for text in (declared, declared.removesuffix(" symmetric")):
        found = check(data_of(_of_text(f"{text}\none = 2*x + x\ntwo = 3*x")))
        assert found.status == "proved"
        assert found.statement is not None
        (line,) = (
            w.replace("real(0, oo)", "positive") for w in found.statement.lines if w.startswith("x : ")
        )
        assert line == text
        assert (
            sg.parse(f"{line}\ny = x")["x"].node.declaration
            == sg.parse(f"{text}\ny = x")["x"].node.declaration
        )


def test_whole_numbers_between_bounds_that_no_distribution_has():
    data = data_of(_of_text("k ~ Bernoulli(1/2)\none = 2*k + k\ntwo = 3*k"))
    data["program"]["symbols"][0] = ["k", "int", "-1", "7/2", []]
    found = check(data)
    assert found.status == "proved"
    assert found.statement is not None
    assert found.statement.lines[0] == "k : int, -1 < k < 7/2"


@pytest.mark.parametrize(
    "symbol",
    [
        ["x", "real", None, None, [], {"drawn": ["Uniform", "0", "1"]}],
        ["x", "real", "0", "2", [], {"drawn": ["Uniform", "0", "1"]}],
        ["x", "real", "1", "0", [], {"drawn": ["Uniform", "1", "0"]}],
        ["x", "int", "0", "1", [], {"drawn": ["Uniform", "0", "1"]}],
        ["x", "real", None, None, [], {"drawn": ["Normal", "0"]}],
        ["x", "real", None, None, [], {"drawn": ["Normal", "0", "0"]}],
        ["x", "int", "-1", "2", [], {"drawn": ["Bernoulli", "0"]}],
        ["x", "int", "-1", "2", [], {"drawn": ["Bernoulli", "2"]}],
        ["x", "bool", "0", None, []],
        ["x", "complex", None, None, []],
        ["x", "real", "0", "0", []],
    ],
)
def test_declarations_that_say_two_things(symbol):
    data = data_of(_of_text("x : real\none = 2*x + x\ntwo = 3*x"))
    data["program"]["symbols"] = [symbol]
    data["program"]["steps"] = [
        [*s[:4], symbol[1]] if s[0] == "symbol" else s for s in data["program"]["steps"]
    ]
    data["sample"]["point"]["x"] = "1/2"
    assert_refused(data)


def test_a_name_is_a_variable_or_a_size():
    steps = [["symbol", [], ["n"], [], "real"], ["size", [], ["n"], [], "int"]]
    data = {"symbols": [["n", "real", None, None, []]], "steps": steps}
    with pytest.raises(UsageError, match="a variable and a size"):
        program_from_json(data)


def test_names_are_those_of_the_notation():
    rng = random.Random(3)
    letters = "aZ_1 .-\n\tπσ٣äﬁ²\u0301\u200d\u202e\u00b5\u05d0\u2102\ud800"
    for _ in range(3000):
        text = "".join(rng.choice(letters) for _ in range(rng.randint(0, 4)))
        assert is_name(text) == notation_has(text), ascii(text)
    for text in ("pi", "if", "None", "__a", "x" * 1000):
        assert is_name(text) == notation_has(text)


def test_what_is_shown_can_be_seen():
    """Names that are not read from left to right, or that no eye can tell from others, are spelled out."""
    assert terminal_text("x_1 σ µ ß") == "x_1 σ µ ß"
    for text in (
        "\u05d0",
        "x\ufe0f",
        "\u115f",
        "a\u202eb",
        "\x1b",
        "\x9b",
        "\n",
        "\u2028",
        "\u0301",
        "\ue000",
    ):
        assert terminal_text(text).isascii()
        assert "\\" in terminal_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "x, y : real\nc : bool\nr = where(c and not (x < y or y == 1), -x**2, (-x)**2 - (x - y)/(2*x/y)) - -(2)",
        "x : real\nr = polygamma(2, x) + E()*pi + EulerGamma() - 1/3*x + clip(x, 0, 1)**-2",
        "x : real[n]\nA : real[n, n]\nr = einsum(\"ij,j->i\", A, x) + A.T@x + cumsum(x, axis=0, reverse=True)",
        "x : real[n]\nr = concatenate((x[1:], 2*x[:1])) + n*flip(x) + sum(x[n - 1:0:-1])",
        "X : real[n, m]\nr = softmax(X, axis=1) + mean(X, axis=0) + max(X) - norm(X, axis=1, keepdims=True)",
        "X : real[n, m]\ni : int[k]\nr = X[i] + one_hot(i, m) + argmax(X, axis=0)[None, :] + argmin(X)",
        "X : real[n, m]\ni : int[k]\nv : real[k, m]\nr = scatter_add(v, i, shape=(n, m))*reshape(X, (n*m,))[0]",
        "A, E : real[n, n]\nr = expm_frechet(A, E) + inv(A) + solve(cholesky(A), E)*det(A) + eye(n)*logdet(A)",
        "x : real[n]\nr = unslice(x[1:], ((1, None, 1),), (n,)) + prod_except(x) + arange(n) + full((n,), 2)",
        "x : real[n]\nr = logsumexp(x) + prod(x)*min(x) + sum(log_softmax(x)) + sum(broadcast_to(x, (3, n)))",
    ],
)  # fmt: skip
def test_statements_are_in_the_notation(text):
    """What is printed is read as the same program, up to the names of lines."""
    program = sg.parse(text)
    steps, (at,) = program_of([program["r"].node])
    statement = statement_of(steps, at, at)
    lines = [
        line.replace(", n >= 1", "").replace(", m >= 1", "").replace(", k >= 1", "")
        for line in statement.lines
    ]
    again = sg.parse("\n".join([*lines[:-1], "r = " + lines[-1].split(" = ")[0]]))
    values = {"n": 4, "m": 3, "k": 2}
    rng = np.random.default_rng(1)

    def value(x):
        shape = [values[s] for s in x.shape]
        if x.dtype == "int":
            return rng.integers(0, 3, shape).tolist()
        return bool(rng.random() < 0.5) if x.dtype == "bool" else rng.uniform(0.5, 2, shape).tolist()

    point = {str(x.name): value(x) for x in program.inputs}
    np.testing.assert_allclose(again["r"](**point), program["r"](**point), rtol=1e-12)
