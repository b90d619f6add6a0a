"""Normal forms, and derivatives of them, have the values that symgrad computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.autodiff.vjp import pull_back
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.terms import FormAlgebra
from symgrad.checker.index_form.proofs import LAWS, normal_forms, prove_equal
from symgrad.checker.program.derivative import derivative_claim, differentiate
from symgrad.checker.program.equality import Tangents
from symgrad.errors import SymgradError
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.layout import full
from symgrad.ops.numpy import calls as build
from symgrad.verification.statement import program_of
from tests.arrays import PROGRAMS, RECURRENCES, SIZES, random_value, symbol_of
from tests.checker.index_form_values import Values
from tests.graphs_arrays import SYMBOLS, random_arrays, random_sizes, random_values
from tests.ops.cases import STATED, Case


def compare(node: Node, values: Mapping[Node, Any], sizes: Mapping[str, int]) -> None:
    """Compare a node's form with its value; and the derivative of the sum of its entries by each input."""
    arrays = {s.name: v for s, v in values.items()}
    program, (at,) = program_of([node])
    t = FormAlgebra(20_000, LAWS)
    form = normal_forms(t, program, [at])[at]
    same(Values(t, sizes, arrays).array(form, node.shape), node, values)
    for symbol in symbols_of([node]):
        if symbol.dtype == node.dtype == "real":
            program, (at,) = program_of([build.total(node)], [symbol])
            made, tangent = differentiate(program, at, symbol.name)
            direction = made.symbols[-1].name if symbol.shape else None
            tangents = Tangents(symbol.name, direction, (at,), len(program.steps))
            t = FormAlgebra(20_000, LAWS, smooth_input=symbol.name)
            derivative = normal_forms(t, made, [tangent], tangents)[tangent]
            derivative = t.rename(derivative, {f"d{k}": f"a{k}" for k in range(len(symbol.shape))})
            gradient = pull_back([build.total(node)], [as_node(1)], [symbol]).gradients[0]
            found = Values(t, sizes, arrays).array(derivative, symbol.shape)
            same(found, full(gradient, symbol.shape), values)


def same(found: Any, node: Node, values: Mapping[Node, Any]) -> None:
    """Compare with the value of a node wherever both are defined."""
    with np.errstate(all="ignore"):
        wanted = np.asarray(evaluate([node], values)[0], dtype=float)
    defined = np.isfinite(wanted) & np.isfinite(found)
    np.testing.assert_allclose(found[defined], wanted[defined], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in RECURRENCES])
@pytest.mark.parametrize("sizes", [{"n": 3, "m": 2, "b": 2}, SIZES[1]], ids=str)
def test_every_array_op(name: str, sizes: Mapping[str, int]) -> None:
    node = PROGRAMS[name]()
    rng = np.random.default_rng(5)
    values = {s: random_value(s, sizes, rng) for s in symbols_of([node])}
    values[symbol_of("binder", *sizes)] = np.zeros(tuple(sizes.values()))
    compare(node, values, sizes)


UPDATES = [
    "inv(eye(n) + X@X.T)",
    "inv(s*eye(n) + X@B@Y.T)[0]",
    "det(eye(n)*(1 + s**2) + X@diag(v)@Y.T)",
    "logdet(A + outer(w, A[0]))",
    "solve(cholesky(A@A.T + eye(n)), w)@A",
    "sum(log(diag(cholesky(A@A.T + s**2*eye(n) + outer(w, w))))) + trace(cholesky(eye(n))*A)",
    "inv(A + s*outer(w, w))@w",
    "inv(eye(n) + s*ones((n, n)))",
    "trace(expm(X@X.T)@A) + sum(cosm(-A)@sinm(A))",
    "sum(expm(s*A)@A@expm(-A))",
    "sum(expm_frechet(s*A, A)*A) + trace(sinm_frechet(A, outer(w, w)))",
    "sum(diag(exp(A*A.T)))",
    "trace(expm(Q[0]@A.T))",
    "sum(1/(1 + 2*exp(X) + exp(2*X))**2)",
    "prod(prod(X*Y*s, axis=0)/v)",
    "logdet(diag(1 + w**2)) + det(diag(w))*s",
    "inv(diag(w))@w + expm(diag(w))@w - sinm(A*eye(n))@w",
    "prod(1 + w)/(1 + w) + prod(1 + w**2)/w",
    "sum(concatenate((A@w, s*w, v))**3)",
    "cumsum(w[::-1])[::-1]*A[0]",
    "sum(cumsum((w*A[0])[::-1])[::-1]*cumsum(w))",
    "cumsum(w[::-1])@A",
    "sum(concatenate((s*w, v))*concatenate((v, w*v[0])))",
    "sum(concatenate((X, Y, B), axis=0)*concatenate((B, Y*s, X), axis=0))",
    "sum(stop_gradient(inv(Q))*Q)",
    "sum(stop_gradient(inv(Q)@Q + expm(Q))*inv(Q))",
    "sum(stop_gradient(det(Q[0]))*A)*det(Q[1])",
    "sum(stop_gradient(expm(s*A) + sinm(A)@A)*A)",
    "sum(expm_frechet(s*A, outer(w, A[0]))*expm(A).T)",
    "trace(sinm_frechet(A, outer(w, w))@cosm(A/2)) + trace(cosm_frechet(A.T, outer(w, A[0])).T@expm(2*A))",
    "logdet(expm(s*A)) + det(expm(A@A))*s",
    "sum(expm_frechet(s*A, cosm_frechet(A, A))*A)",
    "prod(-2*s*w*A[0])",
    "sum(cbrt(w)/cbrt(A[0])**2)",
]


@pytest.mark.parametrize("text", UPDATES)
def test_forms_that_are_written_otherwise(text: str) -> None:
    declared = "X, Y : real[n, m]\nA : real[n, n]\nB : real[m, m]\nQ : real[b, n, n]\nv : real[m]"
    declared += "\nw : real[n]\ns : real"
    node = sg.parse(f"{declared}\nf = {text}")["f"].node
    sizes = {"n": 3, "m": 2, "b": 2}
    values = {s: random_value(s, sizes, np.random.default_rng(3)) for s in symbols_of([node])}
    values[symbol_of("binder", *sizes)] = np.zeros(tuple(sizes.values()))
    compare(node, values, sizes)


@pytest.mark.parametrize("case", STATED, ids=str)
def test_pointwise_ops_of_arrays(case: Case) -> None:
    """Of inputs, and of what has a sign: some functions of that are written otherwise."""
    exp = OPS["exp"]
    ways: list[Callable[[Node], Node]] = [
        lambda x: x, lambda x: -x, lambda x: exp(x), lambda x: -exp(x), lambda x: 1 - 2*x, lambda x: x*x + 1,
    ]  # fmt: skip
    symbols = [symbol_of("xyz"[i], "n") for i in range(case.op.arity)]
    rng = np.random.default_rng(7)
    greater = OPS["gt"]
    for way, (low, high) in product(ways, [(-1, 1), (0, 1), (1, 3)]):
        pairs = zip(symbols, case.op.takes, strict=True)
        args = [greater(s, as_node(0)) if takes == "bool" else way(s) for s, takes in pairs]
        node = case.op(*args, params=case.params)
        values: dict[Node, Any] = {s: rng.uniform(low, high, 3) for s in symbols}
        values[symbol_of("binder", "n")] = np.zeros(3)
        with np.errstate(all="ignore"):
            if not np.all(np.isfinite(np.asarray(evaluate([node], values)[0], dtype=float))):
                continue  # slopes may be written with less than the domain
        try:
            compare(node, values, {"n": 3})
        except GiveUp:
            continue


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = {name: max(1, min(n, 3)) for name, n in random_sizes(rng).items()}
    values = random_values(rng, sizes)
    values[symbol_of("binder", *sizes)] = np.zeros(tuple(sizes.values()))
    tried = 0
    for node in random_arrays(seed, 12, symbols=SYMBOLS):
        if np.prod([evaluate_size(n, sizes) for n in node.shape]) > 100:
            continue
        try:
            evaluate([node], values)
        except SymgradError:
            continue
        try:
            compare(node, values, sizes)
        except GiveUp:
            continue
        tried += 1
    assert tried


def test_claims_with_a_mistake_are_never_proved() -> None:
    proved = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        sizes = {"n": 3, "m": 2, "b": 2}
        values = random_values(rng, sizes)
        values[symbol_of("binder", *sizes)] = np.zeros((3, 2, 2))
        for node in random_arrays(seed, 8):
            inputs = [s for s in symbols_of([node]) if s.dtype == "real"]
            if node.dtype != "real" or not inputs:
                continue
            y, x = build.total(node), inputs[seed % len(inputs)]
            right = full(pull_back([y], [as_node(1)], [x]).gradients[0], x.shape)
            wrong = [right * 2, -right, right + 1, right * x, right + (x - x * x) / 7]
            if len(x.shape) == 2 and x.shape[0] == x.shape[1]:
                wrong.append(build.matrix_transpose(right))
            proved += is_proved(y, x, right)
            for claim in wrong:
                if is_proved(y, x, claim):
                    same(np.asarray(evaluate([right], values)[0], dtype=float), claim, values)
    assert proved > 100


def is_proved(y: Node, x: Node, claim: Node) -> bool:
    """Tell whether a claim that x's gradient of y is this is proved."""
    program, (at, claimed) = program_of([y, full(claim, x.shape)], [x])
    try:
        prove_equal(derivative_claim(program, at, x.name, claimed), most=5_000)
    except GiveUp:
        return False
    return True
