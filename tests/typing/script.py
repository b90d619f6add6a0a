"""A user's script: what a type checker says of it. A line that ends in `# error` is one that it must refuse."""

from __future__ import annotations

import numpy as np

import symgrad as sg

x, y = sg.symbols("x y")
z = sg.symbols("z")
M = sg.tensor("M", ("n", 3))

value: sg.Expr = x * 2 + 1.5 * y - z / 3
value = sg.sin(x) ** 2 + sg.atan2(y, 1) + sg.clip(x, 0, 1)
value = sg.det([[x, y], [1, z]]) + sg.sum(M, axis=0)[0]
slope: sg.Expr = sg.grad(value, x)
slopes: list[sg.Expr] = sg.grad(value, [x, "y"])
both: tuple[sg.Expr, sg.Expr] = sg.value_and_grad(value, "x")
kernel: sg.Kernel = sg.compile([value, slope], [x, y, z])
verdict: sg.Verdict = sg.equal(x + y, y + x)
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
sg.atan2(x)  # error
sg.exp(None)  # error
sg.symbols(3)  # error
sg.symbols("x").nosuch  # error
x + "a"  # error
x * None  # error
x // 2  # error
sg.grad(value, 3)  # error
number: int = sg.grad(value, x)  # error
one: sg.Expr = sg.grad(value, [x, y])  # error
sg.compile(value, threads="two")  # error
sg.tensor(3, ("n",))  # error
sg.where(x > 0, x)  # error
sg.parse(5)  # error
