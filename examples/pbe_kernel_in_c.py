"""A C program that links the PBE correlation kernel: the energy and its five derivatives in one call.

symgrad writes the kernel twice: as an object with its header (`pbe.o`, `pbe.h`), and as C99 source (`pbe_source.c`),
which any compiler takes, on machines too that symgrad has never run on. The C program calls both, for arrays of points
and for one point, and neither Python nor symgrad is there when it runs. Where there is no C compiler, the files are
written and the header is shown.

The formula and its sources: `pbe_correlation.py`, beside this file.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from pbe_correlation import CORRELATION, INPUTS, LIBXC, POINT

import symgrad as sg

NAMES = ["energy", *(f"d_{name}" for name in INPUTS)]

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "pbe.h"
#include "pbe_source.h"

enum { POINTS = 1000 };

int main(void)
{
    static double in[POINTS][5], by_object[6][POINTS], by_source[6][POINTS], one[6];
    int i, k, different = 0;
    for (i = 0; i < POINTS; i++) {       /* five numbers a point, beside each other: strides of five */
        in[i][0] = 0.3 + 1e-4*i;
        in[i][1] = 0.1 + 2e-4*i;
        in[i][2] = 0.2 + 1e-3*i;
        in[i][3] = 0.05;
        in[i][4] = 0.1;
    }
    pbe_strided(&in[0][0], 5, &in[0][1], 5, &in[0][2], 5, &in[0][3], 5, &in[0][4], 5, POINTS,
                by_object[0], 1, by_object[1], 1, by_object[2], 1, by_object[3], 1, by_object[4], 1, by_object[5], 1);
    pbe_source_strided(&in[0][0], 5, &in[0][1], 5, &in[0][2], 5, &in[0][3], 5, &in[0][4], 5, POINTS,
                by_source[0], 1, by_source[1], 1, by_source[2], 1, by_source[3], 1, by_source[4], 1, by_source[5], 1);
    pbe_point(in[0][0], in[0][1], in[0][2], in[0][3], in[0][4],
              &one[0], &one[1], &one[2], &one[3], &one[4], &one[5]);
    for (k = 0; k < 6; k++) {
        printf("%.17g %.17g\n", one[k], by_source[k][0]);
        for (i = 0; i < POINTS; i++)
            different += by_object[k][i] != by_source[k][i];
    }
    printf("%d\n", different);
    return EXIT_SUCCESS;
}
"""


def main() -> None:
    program = sg.parse(CORRELATION)
    energy = program["energy"]
    kernel = sg.compile([energy, *sg.grad(energy, list(INPUTS))], inputs=list(INPUTS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, header = kernel.save(folder / "pbe.o", outputs=NAMES)
        kernel.save(folder / "pbe_source.c", outputs=NAMES)
        print(*[line for line in header.read_text().splitlines() if line.startswith("void pbe")], sep="\n")
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None or sys.platform == "win32":
            print("there is no C compiler here: linking is left out")
            return
        (folder / "main.c").write_text(PROGRAM)
        strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror"]
        command = [compiler, *strict, "main.c", "pbe_source.c", "pbe.o", "-lm", "-o", "main"]
        subprocess.run(command, cwd=folder, check=True)
        printed = subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout
    *lines, different = printed.splitlines()
    values = np.array([line.split() for line in lines], dtype=float)
    wanted = [LIBXC[key] for key in [(), *((name,) for name in INPUTS)]]
    print(f"\nat {', '.join(f'{name} = {value}' for name, value in POINT.items())}, in C:")
    for label, (by_object, by_source), expected in zip(NAMES, values, wanted, strict=True):
        print(f"  {label:<12} object {by_object: .15f}   source {by_source: .15f}   Libxc {expected: .15f}")
        assert np.allclose([by_object, by_source], expected, rtol=1e-13, atol=0)
    print(f"{different} of {6 * 1000:,} values differ between object and source, in their last bits")


if __name__ == "__main__":
    main()
