"""Write symgrad/compiler/llvm/maths/coefficients.py: `python -m tools.minimax` (about a minute; prints the errors).

Every polynomial is the best one by Remez's exchange algorithm in mpmath, for a weighted error; its coefficients are
then rounded to doubles. The printed error is the error of the rounded polynomial, in bits below the result of which it
is a part.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mpmath import mp

from tools.fits import CONSTANTS, FITS, Fit

SINGLE_BITS = 30
"""Errors that float32, with 24 bits, may have in addition to its last rounding."""

TARGET = Path(__file__).parent.parent / "symgrad" / "compiler" / "llvm" / "maths" / "coefficients.py"


def remez(fit: Fit, n: int) -> tuple[list[float], Any]:
    """Return the rounded coefficients for degree n, constant first, and the largest weighted error."""
    low, high = mp.mpf(fit.low), mp.mpf(fit.high)
    # Return Chebyshev points; none of them is at a removable singularity in the middle.
    grid = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mp.mpf("0.31")) / (30 * (n + 2)))
        for i in range(30 * (n + 2))
    ]
    f = [fit.function(x) for x in grid]
    w = [fit.weight(x) for x in grid]
    chosen = [15 + 30 * i for i in range(n + 2)]
    coefficients: list[Any] = []
    for _ in range(8):
        rows = [[*(grid[i] ** k for k in range(n + 1)), (-1) ** j / w[i]] for j, i in enumerate(chosen)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([f[i] for i in chosen]))
        coefficients = [solution[k] for k in range(n + 1)]
        errors = [(mp.polyval(coefficients[::-1], x) - y) * s for x, y, s in zip(grid, f, w, strict=True)]
        # Return the largest error of every run with the same sign.
        peaks: list[int] = []
        for i, e in enumerate(errors):
            if peaks and (errors[peaks[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > n + 2:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < n + 2 or peaks == chosen:
            break
        chosen = peaks
    rounded = [float(c) for c in coefficients]
    exact = [mp.mpf(c) for c in reversed(rounded)]
    return rounded, max(abs((mp.polyval(exact, x) - y) * s) for x, y, s in zip(grid, f, w, strict=True))


HEAD = '''"""Coefficients and constants: written by tools/minimax.py, constant coefficient first."""

# fmt: off
from __future__ import annotations

from symgrad.compiler.llvm.maths.vectors.lanes import Coefficients, PairCoefficients


def _read(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))


def _fitted(double: str, single: str) -> Coefficients:
    return Coefficients(_read(double), _read(single))

'''


def main() -> None:
    lines: list[str] = []
    for fit in FITS:
        double, error = remez(fit, fit.degree)
        bits = float(-mp.log(error, 2))
        for degree in range(1, fit.degree + 1):
            single, error = remez(fit, degree)
            if error < mp.mpf(2) ** -SINGLE_BITS:
                break
        print(
            f"{fit.name:12} degree {fit.degree:2}  2**-{bits:.1f}; {len(single) - 1:2} for float32  {fit.what}"
        )
        lines += [f"# {fit.what}: 2**-{bits:.1f}", f"{fit.name} = _fitted("]
        for coefficients in (double, single):
            rows = [coefficients[i : i + 4] for i in range(0, len(coefficients), 4)]
            lines += [f'    "{" ".join(c.hex() for c in row)} "' for row in rows]
            lines[-1] += ","
        lines += [")"]
    for what, text in CONSTANTS:
        lines += [f"# {what}", text]
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
