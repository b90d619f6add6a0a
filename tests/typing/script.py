"""A user's script: what a type checker says of it. A line that ends in `# error` is one that it must refuse."""

from __future__ import annotations

import numpy as np

import symgrad as sg

x, y = sg.symbols("x y")
z = sg.symbols("z")
M = sg.tensor("M", ("n", 3))

value: sg.Expr = x * 2 + 1.5 * y - z / 3
value = sg.sin(x) ** 2 + sg.arctan2(y, 1) + sg.clip(x, 0, 1)
value = sg.linalg.det([[x, y], [1, z]]) + sg.sum(M, axis=0)[0]
slope: sg.Expr = sg.grad(value, x)
slopes: list[sg.Expr] = sg.grad(value, [x, "y"])
both: tuple[sg.Expr, sg.Expr] = sg.value_and_grad(value, "x")
total = sum(e**2 for e in (x, y, z))
slope = sg.grad(total, x)
slopes = sg.grad(total, ("x", y))
row: sg.Expr = sg.jacobian(M[0], M)
column: list[sg.Expr] = sg.jacobian([x * y, 2], x)
square: list[list[sg.Expr]] = sg.jacobian([x * y, total], [x, y])
value = sg.linalg.det(square) + sg.linalg.det(sg.hessian(total, [x, y]))
row = sg.hessian(value, x)
row = sg.batch_jacobian(M, M)
slopes = sg.hvp(total, [x, "y"], [1, z])
value = sg.jvp(total, [x, y], [1, 0]) + sg.vjp([x, y], x, [1, z])
slopes = [*sg.jvp([x, y], x, 1), *sg.vjp(total, [x, y], 1), *sg.gradients([x, total], y)]
mixed: sg.Expr = sg.derivatives(total, [x, y], order=2)[x, y]
print(sg.explain(total, [x, y]).noise, sg.explain(value))
kernel: sg.Kernel = sg.compile([value, slope], [x, y, z])
kernel = sg.compile([total, 1.5, square])
kernel = sg.compile(total, "x")
best: sg.results.Minimum = sg.minimize(total, [x, y], {"x": 1.0, "y": 2.0}, {"z": 0})
trained: sg.results.Training = sg.train(
    total, {"x": 1.0, "y": 2.0}, {"z": 0}, wrt=[x], rate=lambda k: 0.1 / (k + 1), beta1=0.8
)
root: sg.results.Implicit = sg.implicit(x**2 - y, x, start=1.0, bracket=(0, 2))
slope = root.grad(x * y, y)
print(root(y=2.0), root.evaluate([x, slope], y=2.0), sg.row_gradient(total, "x").rows)
verdict: sg.Verdict = sg.equal(x + y, y + x)
verdict = sg.equal(total, "x**2 + y**2 + z**2")
verdict = sg.verify(total, x, 2 * x)
slope = sg.grad("x**2", "x") + sg.grad(sg.parse("x**2"), x) + sg.simplify("x - x")
slopes = sg.jacobian(["x**2", total], x)
kernel = sg.compile(["x**2", sg.parse("x**3")])
verdict = sg.equal(sg.parse("x**2"), "x*x")
print(sg.explain(sg.parse("x**2")), sg.explain("x**2", "x").noise)
verdict = sg.equal(sg.jacobian([x, y], [x, y]), [[1, 0], [0, 1]])
program: sg.Program = sg.parse("a : real\nb = a**2")
name: str | None = program["b"].name
text: str = value.latex()
condition: sg.Expr = (x > 0) & (y <= 1)
chosen: sg.Expr = sg.where(x == y, x, np.float64(1.0))
same: bool = x.same(y)
missing: bool = x == "a"
error: type[Exception] = sg.errors.SymgradError

sg.nosuch(x)  # error
sg.sin("x")  # error
sg.sin()  # error
sg.sin(x, y)  # error
sg.arctan2(x)  # error
sg.exp(None)  # error
sg.symbols(3)  # error
sg.symbols("x").nosuch  # error
x + "a"  # error
x * None  # error
x // "a"  # error
sg.grad(value, 3)  # error
number: int = sg.grad(value, x)  # error
one: sg.Expr = sg.grad(value, [x, y])  # error
sg.grad([x, y], x)  # error
sg.hessian(value, x)[0].nosuch  # error
several: list[sg.Expr] = sg.jacobian(value, x)  # error
sg.compile(value, threads="two")  # error
sg.tensor(3, ("n",))  # error
sg.where(x > 0, x)  # error
sg.parse(5)  # error
