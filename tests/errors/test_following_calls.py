"""What messages about calls tell one to do, done as it is said."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.support.errors import Cure

X, Y = sg.symbols("x y")
V = sg.tensor("V", ("n",))
P = sg.parse("x : real; u ~ Normal(0, 1); y = x**2*u")


def square(x: float) -> float:
    return x**2


def twice(x: float) -> float:
    return 2 * x


NAMES: dict[str, Any] = {
    "SQUARE": square,
    "TWICE": twice,
    "sympy": sympy,
    "S": sympy.Symbol,
    "A": sympy.MatrixSymbol("A", 2, 2),
    "sg": sg,
    "x": X,
    "y": X * Y,
    "np": np,
    "V": V,
    "p": P,
    "w": "x",
    "values": {"x": 1.0, "y": 2.0},
}

# A call, a part of its cure, and what that part is in Python; the part itself where that is None.
CALLS: list[tuple[str, str, str | None]] = [
    ("sg.grad(y, 'x y')", "['x', 'y']", "sg.grad(y, ['x', 'y'])"),
    ("sg.grad(y, {'x'})", "['x', 'y']", "sg.grad(y, ['x', 'y'])"),
    ("sg.grad(y, 2.0)", "sg.grad(y, 'x')(x=2.0)", "sg.grad(x*x, 'x')(x=2.0)"),
    ("sg.grad(V, 'V')", "jacobian(y, x)", "sg.jacobian(V, 'V')"),
    ("sg.effective(x, [])", "wrt='x'", "sg.effective(x, wrt='x')"),
    ("sg.explain(x*x, [])", "wrt='x'", "sg.explain(x*x, wrt='x')"),
    ("sg.equivalent('x', 'x', [])", "wrt='x'", "sg.equivalent('x', 'x', wrt='x')"),
    ("sg.equivalent(x > 0, x > 1)", "sg.equal", "sg.equal(x > 0, x > 1)"),
    ("sg.symbols(['x', 'y'])", 'sg.symbols("x y")', None),
    ("sg.tensor('x', 3, 3)", "sg.tensor('x', (3, 3))", None),
    ("sg.symbols('x', (0, 1))", "a name first", "sg.symbols('x', ('Normal', 0, 1))"),
    ("sg.tensor('x y', (3,))", 'sg.symbols("x y")', None),
    ("y.subs(2)", "e.subs({x: 2})", "y.subs({x: 2})"),
    ("float(y)", "e(x=2.0)", "y(x=2.0, y=1.0)"),
    ("np.convolve(V, V, 'all')", "mode='same'", "np.convolve(V, sg.tensor('W', (3,)), 'full')"),
    (
        "np.convolve(V, V, 'same')",
        "declare numbers for the lengths",
        "np.convolve(sg.tensor('V', (3,)), sg.tensor('V', (3,)), 'same')",
    ),
    ("np.searchsorted(V, x, 'middle')", "side='left'", "np.searchsorted(V, x, side='left')"),
    ("np.gradient(V, x, x, x)", "np.gradient(f, 0.5)", "np.gradient(sg.tensor('f', (3,)), 0.5)"),
    ("np.gradient(V, edge_order=3)", "edge_order=1", "np.gradient(sg.tensor('V', (3,)), edge_order=1)"),
    ("np.gradient(V)", "declare a number", "np.gradient(sg.tensor('V', (3,)))"),
    ("np.quantile(V, 50)", "quantile(x, 1/2)", "np.quantile(V, 0.5)"),
    ("np.vander(V)", "np.vander(x, 3)", "np.vander(V, 3)"),
    ("f'{y:.3f}'", "f'{e(x=2.0):.3f}'", "f'{y(x=2.0, y=1.0):.3f}'"),
    ("round(x, 2)", "round(x*100)/100", None),
    ("y(values)", "e(**values)", "y(**values)"),
    ("sg.minimize(y, [], {})", 'over=["w"]', "sg.minimize(x**2, over=['x'], start={'x': 1.0})"),
    ("sg.minimize(x**2, 'x', {}, {})", "start={'x': ...}", "sg.minimize(x**2, 'x', start={'x': 1.0})"),
    (
        "sg.minimize(x**2*y**2, 'x', {'x': 1.0}, {})",
        "data={'y': ...}",
        "sg.minimize(x**2*y**2, 'x', {'x': 1.0}, data={'y': 1.0})",
    ),
    (
        "sg.minimize(x**2, 'x', {'x': 1.0}, bounds=[(0, 1)])",
        "real(0, 1)",
        "sg.minimize(sg.symbols('x', 'real(0, 1)')**2, 'x', {'x': 0.5})",
    ),
    (
        "sg.minimize(x**2, 'x', {'x': 1.0}, method='bgfs')",
        "'bfgs'",
        "sg.minimize(x**2, 'x', {'x': 1.0}, method='bfgs')",
    ),
    (
        "sg.train(x**2, {'x': 1.0}, method='sgd')",
        "rate=0.01",
        "sg.train(x**2, {'x': 1.0}, method='sgd', rate=0.01, steps=2)",
    ),
    ("sg.implicit('x*x', 'x')", "start=1.0", "sg.implicit('x**2 - 2', 'x', start=1.0)"),
    (
        "sg.grad(sg.parse('mu : real; z ~ Normal(mu, 2); y = z**2')['y'], 'mu')",
        "z = mu + 2*eps",
        "sg.grad(sg.parse('mu : real; eps ~ Normal(0, 1); z = mu + 2*eps; y = z**2')['y'], 'mu')",
    ),
    (
        "sg.grad(sg.parse('q : positive; z ~ Poisson(q); y = z*q')['y'], 'q')",
        "sg.audit(y, 'q')",
        "sg.audit(sg.parse('q : positive; z ~ Poisson(q); y = z*q')['y'], 'q')",
    ),
    ("sg.lint(3)", "sg.lint('x : real\\ny = x**2')", None),
    ("sg.lint(x, ignore=3)", "ignore=('SG", "sg.lint(x, ignore=('SG101',))"),
    ("bool(sg.equal('x', 'x'))", "verdict.status == 'proved'", "sg.equal('x', 'x').status == 'proved'"),
    ("sg.compile(y, dtype='float16')", "dtype", "sg.compile(y)"),
    ("sg.compile(y, name=3)", "name='kernel'", "sg.compile(y, name='kernel')"),
    ("sg.placement(p['y'], 'x', noise=[])", "noise='u'", "sg.placement(p['y'], 'x', noise='u')"),
    (
        "sg.compare_estimators(y, 'x')",
        "sg.compare_estimators({'plain': y",
        "sg.compare_estimators({'plain': p['y']}, 'x')",
    ),
    ("sg.grad([x, y], 'x')", "jacobian(y, x)", "sg.jacobian([x, y], 'x')"),
    ("sg.grad([x, y], 'x')", "gradients(ys, xs)", "sg.gradients([x, y], ['x'])"),
    ("sg.vjp(V, 'V')", "gradients(ys, xs)", "sg.gradients([V], ['V'])"),
    ("sg.derivatives(V, 'V')", "sg.sum(y)", "sg.derivatives(sg.sum(V), 'V')"),
    ("sg.derivatives(V @ V, 'V', order=2)", "hessian(y, x)", "sg.hessian(V @ V, 'V')"),
    ("sg.hessian(V, 'V')", "jacobian(jacobian(y, x), x)", "sg.jacobian(sg.jacobian(V**2, 'V'), 'V')"),
    (
        "sg.implicit('x**2 - 2')",
        "implicit(equation, x, start=1.0)",
        "sg.implicit('x**2 - 2', 'x', start=1.0)",
    ),
    ("sg.implicit('x > 2', 'x', start=1.0)", "x**2 == c", "sg.implicit('x**2 == 2', 'x', start=1.0)"),
    ("sg.grad(x > 0, 'x')", "where(c, x, y)", "sg.grad(sg.where(x > 0, x, y), 'x')"),
    ("sg.ignore_noise(p['y'], 'x')", 'at={"x": 0}', "sg.ignore_noise(p['y'], 'x', at={'x': 0})"),
    ("sg.symbols('x', real=True, positive=True)", "sg.symbols('x', domain=\"positive\")", None),
    ("sg.tensor('X')", "sg.tensor('X', ('n', 3))", None),
    ("V.size(0)", "x.shape[0]", "V.shape[0]"),
    ("len(V)", "sg.size('n')", None),
    ("V[V > 0]", "where(mask, x, 0)", "sg.where(V > 0, V, 0)"),
    ("bool(x > 0)", "sg.where(c, a, b)", "sg.where(x > 0, x, y)"),
    ("sg.sum(V, dim=0)", "axis=0", "sg.sum(V, axis=0)"),
    ("sg.mean(V, axis='0')", "axis=0", "sg.mean(V, axis=0)"),
    ("sg.mean(V, V)", "(a, b)", "sg.mean(sg.arrays.stack((V, V)))"),
    ("sg.arrays.concatenate(V, V)", "concatenate([a, b])", "sg.arrays.concatenate([V, V])"),
    ("np.fmod(x, 2)", "x % y", "x % 2"),
    ("np.gradient(x)", "sg.grad(y, x)", "sg.grad(y, x)"),
    ("y(1)", "y=...", "y(1, y=2.0)"),
    ("sg.tensor('k', (), 'int')(k=0.5)", "k : real", "sg.parse('k : real; y = k')['y'](k=0.5)"),
    ("sg.compile('x*y', inputs=['x'])", "leave inputs out", "sg.compile('x*y')"),
    ("sg.train(x**2, 1.0)", "start={'w': ...}", "sg.train(x**2, start={'x': 1.0}, steps=2)"),
    ("sg.minimize(x**2, 'x', 1.0)", "start={'x': ...}", "sg.minimize(x**2, 'x', start={'x': 1.0})"),
    (
        "sg.minimize(y**2, 'x', {'x': 1.0, 'y': 2.0})",
        "data={'y': ...}",
        "sg.minimize(y**2, 'x', {'x': 1.0}, data={'y': 2.0})",
    ),
    (
        "sg.minimize(V, 'V', {'V': np.ones(2)})",
        "sum or mean",
        "sg.minimize(sg.sum(V**2), 'V', {'V': np.ones(2)})",
    ),
    ("sg.lint(p['y'], noise=['u'], wrt=['u'])", "noise=", "sg.lint(p['y'], wrt=['u'])"),
    ("sg.audit(V, 'V')", "sum(y)", "sg.audit(sg.sum(V), 'V')"),
    ("sg.placement(p['y'], 'x')", "noise='u'", "sg.placement(p['y'], 'x', noise='u')"),
    ("sg.placement(x*y, 'x', noise='y')", 'at={"y": 0}', "sg.placement(x*y, 'x', noise='y', at={'y': 0})"),
    (
        "sg.verify_code(SQUARE, TWICE)",
        "specs='x : real[5]'",
        "sg.verify_code(SQUARE, TWICE, specs='x : real')",
    ),
    (
        "sg.verify_code(SQUARE, TWICE, 'x : real', wrt=[])",
        "wrt=['x']",
        "sg.verify_code(SQUARE, TWICE, 'x : real', wrt=['x'])",
    ),
    (
        "sg.verify_code(SQUARE, '2*x', 'x : real')",
        "sg.verify(y, 'x', formula)",
        "sg.verify('x**2', 'x', '2*x')",
    ),
    (
        "sg.from_sympy(S('x y'))",
        "expr.subs(Symbol('x y'), Symbol('a'))",
        "sg.from_sympy(S('x y').subs(S('x y'), S('a')))",
    ),
    ("sg.from_sympy(S('x', real=False))", "Symbol('x', real=True)", "sg.from_sympy(S('x', real=True))"),
    (
        "sg.from_sympy(A)",
        "expr.subs(A, Matrix(2, 2, symbols('A:4'))).doit()",
        "sg.from_sympy(A.subs(A, sympy.Matrix(2, 2, sympy.symbols('A:4'))).doit())",
    ),
    (
        "sg.from_sympy(sympy.Piecewise((1, S('x') > 0)))",
        "(value, True)",
        "sg.from_sympy(sympy.Piecewise((1, S('x') > 0), (2, True)))",
    ),
    ("sg.review('')", "dL/dw = 2*w", "sg.review('L = w**2\\ndL/dw = 2*w')"),
]


@pytest.mark.parametrize(("call", "part", "then"), CALLS)
def test_the_cure_of_a_call_is_a_call_that_works(call: str, part: str, then: str | None) -> None:
    with pytest.raises(SymgradError) as caught:
        eval(call, dict(NAMES))
    assert part in str(caught.value.cure), caught.value
    assert eval(part if then is None else then, dict(NAMES)) is not None


def test_a_cure_keeps_its_words_for_the_command_line() -> None:
    with pytest.raises(SymgradError) as caught:
        sg.effective(X, [])
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again.cure, Cure)
    assert (again.cure, again.cure.command) == (
        "name at least one input: wrt='x'",
        "name at least one input: --wrt x",
    )
    assert again.text(command=True).endswith("--wrt x")
