"""A compiled kernel is a NumPy ufunc: it broadcasts, writes where you say, takes strides, dtypes, and travels."""

from __future__ import annotations

import pickle

import numpy as np

import symgrad as sg

x, y = sg.symbols("x y")
f = sg.exp(-(x**2) / 2) * sg.sin(3 * y)
kernel = sg.compile([f, *sg.grad(f, [x, y])], inputs=[x, y], name="wave")
print(kernel, kernel.ufunc)

# Broadcasting: a column and a row make a table; one pass computes the value and both partials.
column, row = np.linspace(-1, 1, 4)[:, np.newaxis], np.linspace(0, 1, 5)
value, by_x, by_y = kernel(column, row)
print("broadcast:", column.shape, "with", row.shape, "gives", value.shape)

# By name, into arrays that exist (an input too), only where wanted, and with any strides.
out = np.zeros((4, 5))
kernel(y=row, x=column, out=(out, None, None))
assert (out == value).all()
every_other = np.linspace(0, 1, 10)[::2]
print("strided:  ", kernel(0.5, every_other)[0])
print("where:    ", kernel(0.5, every_other, where=every_other > 0.3)[0])

# Single precision is another kernel: all of it is computed in float32.
single = sg.compile(f, inputs=[x, y], dtype="float32")
print("float32:  ", single(np.float32(0.5), np.float32(0.25)), "against", kernel(0.5, 0.25)[0])

# A pickle holds the formula and is compiled again where it is opened.
again = pickle.loads(pickle.dumps(kernel))
assert all((a == b).all() for a, b in zip(again(column, row), kernel(column, row), strict=True))

# With two inputs and one output, all that NumPy's ufuncs have is there.
product = sg.compile(x * y, inputs=[x, y])
print("outer:    ", product.ufunc.outer([1.0, 2.0], [3.0, 4.0]).tolist())
print("reduce:   ", product.ufunc.reduce([2.0, 3.0, 4.0]))
