"""A process that compiles formulas with kernels kept on disk, and prints what became of it."""

from __future__ import annotations

import json
import sys

import numpy as np

import symgrad as sg

FORMULAS = ["exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)", "x*y + 1"]


def main(formula: str, effort: str) -> None:
    p = sg.parse(f"x : real\ny : real\nf = {formula}")
    k = sg.compile([p["f"], *sg.grad(p["f"], ["x", "y"])], ["x", "y"], effort=effort)
    x = np.linspace(-1, 1, 37)
    values = [np.asarray(v).tobytes().hex() for v in k(x, 0.25)]
    print(
        json.dumps({"values": values, "quick": k.quick, "rules": "symgrad.rewrite.pipeline" in sys.modules})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
