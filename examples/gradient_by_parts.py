"""Why can one not multiply gradients(loss, h) by gradients(h, W)?

h = W@x + b, y = tanh(h), loss = mean((y - y0)**2). The chain rule multiplies d loss/d h by d h/d W. But `gradients`
sums over the entries of what it differentiates, so gradients(h, W) has the shape of W: the axis over which the chain
rule must sum is gone before the product is taken.
"""

from __future__ import annotations

import numpy as np

import symgrad as sg

program = sg.parse(
    """
    W    : real[m, k]
    x    : real[k]
    b    : real[m]
    y0   : real[m]
    h    = W@x + b
    y    = tanh(h)
    loss = mean((y - y0)**2)
    """
)
loss, h, W = program["loss"], program["h"], program["W"]

random = np.random.Generator(np.random.Philox(key=3))
at = {"W": random.normal(size=(3, 4)), "x": random.normal(size=4), "b": random.normal(size=3)}
at["y0"] = random.normal(size=3)

whole = sg.grad(loss, W)
by_h = sg.grad(loss, h)
parts = {
    # d loss/d W_jk is the sum over i of d loss/d h_i times d h_i/d W_jk: the Jacobian keeps i.
    "the Jacobian, contracted": sg.einsum("i,ijk->jk", by_h, sg.jacobian(h, W)),
    # The pullback of h does that sum without ever forming the Jacobian.
    "the pullback of h": sg.vjp(h, W, cotangent=by_h),
}
# One entry at a time: gradients of a scalar sum over nothing.
rows = sum(by_h(**at)[i] * sg.grad(h[i], W)(**at) for i in range(3))

exact = whole(**at)
print("d loss/d W =", whole.canonical())
for how, gradient in parts.items():
    print(f"{how}: largest difference {np.abs(gradient(**at) - exact).max():.1e}")
print(f"entry by entry: largest difference {np.abs(rows - exact).max():.1e}")

print()
print("The naive product:")
(g1,), (g2,) = sg.gradients(loss, h), sg.gradients(h, W)
try:
    print(sg.explain(g1 * g2))
except sg.errors.ShapeError as error:
    print(error)

print()
print("The same with one row, one weight matrix and a target of zero:")
small = sg.parse("x : real[1, 10]\nw : real[10, 5]\nout = x@w\nloss = mean((out - 0)**2)")
values = {"x": np.ones((1, 10)), "w": np.full((10, 5), 0.5)}
out = small["out"]
all_at_once = sg.grad(small["loss"], small["x"])(**values)
by_out = sg.grad(small["loss"], out)(**values)  # 1 x 5
jacobian = sg.jacobian(out, small["x"])(**values)  # (1, 5) by (1, 10)
by_parts = by_out @ jacobian[0, :, 0, :]  # 1 x 5 by 5 x 10
print(
    "whole gradient:",
    all_at_once.shape,
    "by parts:",
    by_parts.shape,
    "equal:",
    np.allclose(all_at_once, by_parts),
)

# The popular answer differentiates each component and joins the pieces along the wrong axis.
pieces = [sg.grad(out[0, i], small["x"]) for i in range(5)]
print(sg.explain(sg.arrays.concatenate(pieces, axis=1)))
