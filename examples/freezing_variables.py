"""What does stop_gradient freeze, and how does one train only some variables?

Two ways to hold w2 and w3 fixed while w1 learns their product: stop_gradient inside the loss, or a loss without it
that is minimised over w1 alone. Saves a picture of the training: freezing.svg, or the path given as an argument.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np

import symgrad as sg

program = sg.parse(
    """
    X : real[n, 5]
    w1, w2, w3 : real[5, 1]
    loss = mean((X@w1 - stop_gradient(X@(w2*w3)))**2)
    free = mean((X@w1 - X@(w2*w3))**2)
    """
)
weights = [program[name] for name in ("w1", "w2", "w3")]

print("by stop_gradient:")
gradients = sg.grad(program["loss"], weights)
for weight, gradient in zip(weights, gradients, strict=True):
    # Zero, and the reason for it: every path from the loss to w2 and w3 passes the stop_gradient.
    print(
        f"  d loss/d {weight} = {gradient.canonical()}" + f"  ({gradient.nothing})" * bool(gradient.nothing)
    )

random = np.random.Generator(np.random.Philox(key=7))
X = random.normal(size=(64, 5))
w = {name: random.normal(size=(5, 1)) for name in ("w1", "w2", "w3")}
start = {name: value.copy() for name, value in w.items()}
target = w["w2"] * w["w3"]

step = sg.compile([program["loss"], *gradients], inputs=[program["X"], *weights])
history = []
for _ in range(300):
    _, *slopes = step(X, **w)
    history.append({name: value.ravel().copy() for name, value in w.items()})
    for name, slope in zip(w, slopes, strict=True):
        w[name] = w[name] - 0.1 * slope
print("  after 300 steps of 0.1: |w1 - w2*w3| =", f"{np.abs(w['w1'] - target).max():.1e}")
print("  w2 and w3 have not moved:", all(np.array_equal(w[n], start[n]) for n in ("w2", "w3")))

print("by choosing what is minimised:")
found = sg.minimize(
    program["free"],
    over=[program["w1"]],
    start={"w1": start["w1"]},
    data={"X": X, "w2": start["w2"], "w3": start["w3"]},
)
print("  |w1 - w2*w3| =", f"{np.abs(found['w1'] - target).max():.1e}")

figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
for axis, name in zip(axes, w, strict=True):
    axis.plot([h[name] for h in history])
    axis.set(title=name, xlabel="iteration")
for entry, color in zip(target.ravel(), plt.rcParams["axes.prop_cycle"].by_key()["color"], strict=False):
    axes[0].axhline(entry, color=color, linestyle=":", linewidth=1)
axes[0].set_ylabel("entries (dotted: w2*w3)")
path = sys.argv[1] if len(sys.argv) > 1 else "freezing.svg"
figure.savefig(path)
print("picture:", path)
