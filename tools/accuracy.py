"""Measure the largest errors of the functions of symgrad/llvm/maths.

`python tools/accuracy.py [--points N] [--unfused] [NAME ...]` prints the table of docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from symgrad.llvm.jit import Target
from tests.llvm.maths_cases import CASES, exact, kernel, sample, ulps


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--unfused", action="store_true", help="as on processors without fused multiply-add")
    options = parser.parse_args()
    target = Target(16, fused=False) if options.unfused else None
    print("| function | float64 | at | float32 | at |")
    print("|---|---|---|---|---|")
    for name in options.names or CASES:
        cells = [name]
        for dtype in ("float64", "float32"):
            columns = sample(CASES[name], options.points, 7, dtype)
            high, low = exact(name, columns)
            with np.errstate(all="ignore"):
                errors = ulps(kernel(name, dtype, target)(*columns), high, low)
            worst = int(np.argmax(errors))
            cells += [f"{errors[worst]:.3f}", ", ".join(f"{c[worst]:.17g}" for c in columns)]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
