"""Names in C: judged by compilers, beside the headers that people include."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.c.identifiers import c_function, c_identifier, c_identifiers
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.ir.graph import symbol
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import add, mul
from tests.compiler.kernels.headers import c_prototype

CC = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc") or ""
CXX = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++") or ""
needs_cc = pytest.mark.skipif(not CC or sys.platform == "win32", reason="no C compiler")

STANDARDS = [(CC, "c99"), (CC, "c11"), (CC, "c17"), (CXX, "c++11"), (CXX, "c++20")]
HEADERS = """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdbool
    stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype arpa/inet dirent dlfcn
    fcntl netdb netinet/in poll pthread pwd regex sched search semaphore strings sys/socket sys/stat sys/time
    sys/types termios unistd
"""
ODD = [
    "*/ int evil(void){return 1;} /*",
    "a-b",
    "a b",
    "a_b",
    "a_b_2",
    "2x",
    "",
    "_",
    "__x",
    "_X",
    "σ",
    "x𝛼y",
    "名",
    '"',
    "\\",
]
ODD += ["??/", "%s", "@x", "a\nb", "\0", "\udcff", "x__y", "x_"]
PLAIN = """
    I NAN INFINITY M_PI HUGE_VAL NULL EOF errno signgam stdin unix linux assert y0 yn jn gamma n int64_t ptrdiff_t
    size_t double alignas _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
    constexpr nullptr typeof static_assert thread_local asm decltype noexcept wchar_t char8_t concept requires
    co_await and or not xor compl bitand override final import module bool true complex imaginary noreturn
    restrict inline class template new this export W X1 isnan isinf min max near far std main sqrt sinf exp10
    roundeven kernel out value B0 st_mtime si_value PRId64 va_arg
"""
HOSTILE = [*ODD, *PLAIN.split()]


def run(*command: Any, **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)
    assert done.returncode == 0, done.stderr[:3000]
    return done.stdout


def includes(directory: Path, extra: str = "") -> Path:
    """Write a file that includes every header there is."""
    path = directory / "headers.c"
    text = "".join(f"#if __has_include(<{h}.h>)\n#include <{h}.h>\n#endif\n" for h in HEADERS.split())
    path.write_text(text + extra)
    return path


def compiles(directory: Path, text: str) -> None:
    """Compile a text by every standard that there is a compiler for."""
    for compiler, standard in STANDARDS:
        if compiler:
            path = directory / ("main.cpp" if "+" in standard else "main.c")
            path.write_text(text)
            flags = ("-Wall", "-Wextra", "-pedantic", "-Werror", f"-std={standard}")
            run(compiler, *flags, "-fsyntax-only", path, cwd=directory)


BESIDE = (
    "#include <complex.h>\n#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <stdio.h>\n"
)


def test_identifiers_are_identifiers_and_distinct():
    found = c_identifiers(HOSTILE)
    assert len(set(found)) == len(HOSTILE)
    for name in (*found, *map(c_function, HOSTILE)):
        assert re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*_?", name), name
    for name in ("x", "W", "X1", "x_1", "loss", "d_x", "y0", "override", "sigma"):
        assert c_identifier(name) == name
        assert name in c_identifiers([*HOSTILE, name])
    assert [c_function(name) for name in ("y0", "isnan", "div_t", "loss", "std")] == [
        "y0_",
        "isnan_",
        "div_t_",
        "loss",
        "std_",
    ]
    assert c_function("dgemm_", {"dgemm_"}) == "dgemm_2"


@needs_cc
@pytest.mark.parametrize("flags", [(), ("-D_GNU_SOURCE",)], ids=["", "GNU"])
def test_no_identifier_is_a_macro_of_a_header(tmp_path, flags):
    defined = run(CC, *flags, "-dM", "-E", includes(tmp_path))
    macros = set(re.findall(r"^#define ([A-Za-z]\w*) ", defined, re.MULTILINE))
    assert {"NULL", "INT_MAX", "M_PI"} <= macros
    assert {name for name in macros if c_identifier(name) in macros} == set()
    called = set(re.findall(r"^#define ([A-Za-z]\w*)", defined, re.MULTILINE))
    assert {name for name in called if c_function(name) in called} == set()


@needs_cc
def test_no_function_is_one_of_a_header(tmp_path):
    run(CC, "-D_GNU_SOURCE", "-fsyntax-only", "-aux-info", tmp_path / "all", includes(tmp_path))
    functions = set(re.findall(r"[ *]([a-zA-Z]\w*) \(", (tmp_path / "all").read_text()))
    if len(functions) < 500:
        pytest.skip("the compiler does not tell")
    assert {name for name in functions if c_function(name) in functions} == set()


def kernel_of(names: list[str], function: str) -> Any:
    symbols = [symbol(Declaration(name)) for name in names]
    total = symbols[0]
    for s in symbols[1:]:
        total = add(total, s)
    return compile_nodes([total, mul(total, total)], symbols, name=function)


@needs_cc
def test_headers_compile_by_every_standard_beside_those_of_the_library(tmp_path):
    text, taken = BESIDE, set()
    for k, name in enumerate(HOSTILE):
        if k % 20 == 0:
            kernel = kernel_of(HOSTILE[k : k + 20], name)
        kernel.name = name
        function = c_prototype(kernel).split("(")[0].split()[-1]
        if function in taken:  # two functions of one name are nobody's program
            continue
        taken.add(function)
        outputs = [HOSTILE[-k - 1], HOSTILE[k // 2]]
        (path,) = write_artefacts(kernel, tmp_path / f"k{k}", outputs=outputs, suffixes=(".h",))
        header = path.read_text()
        assert header.isascii()
        assert header.count("/*") == header.count("*/") == 1
        text += f'#include "{path.name}"\n#include "{path.name}"\n'
    assert len(taken) > len(HOSTILE) - 12
    compiles(tmp_path, text + "int main(void) { return 0; }\n")


@needs_cc
def test_headers_of_array_programs_name_sizes_as_their_prototypes_do(tmp_path):
    sizes = ["double", "NAN", "n", "int64_t", "double_"]
    text = BESIDE
    for k, size in enumerate(sizes):
        a = sg.tensor("char", (size, sizes[k - 1]))
        y = sg.arrays.concatenate([sg.sum(a, axis=0)] * 2)
        kernel: Any = sg.compile(y, [a], name=f"f{k}")
        (path,) = write_artefacts(kernel, tmp_path / f"k{k}", suffixes=(".h",))
        header = path.read_text()
        rows, columns = re.findall(r"int64_t (\w+)", header)
        assert f" char_[{rows}, {columns}], out[2*{columns}]." in header
        text += f'#include "{path.name}"\n'
    compiles(tmp_path, text + "int main(void) { return 0; }\n")


@needs_cc
@pytest.mark.parametrize("function", ["*/ int evil(void){return 1;} /*", "gamma", "I", "σ", "class"])
def test_a_c_program_calls_what_has_a_hostile_name(tmp_path, function):
    kernel = kernel_of(["I", "double", "*/", "n", "errno"], function)
    write_artefacts(kernel, tmp_path / "k", outputs=["NAN", "int"])
    name = c_prototype(kernel).split("(")[0].split()[-1]
    (tmp_path / "main.c").write_text(f"""{BESIDE}
        #include "k.h"
        int main(void) {{
            double a[3] = {{1, 2, 3}}, b[3] = {{0.5, 0, -1}}, sum[3], square[3];
            {name}(a, b, a, b, a, 3, sum, square);
            for (int i = 0; i < 3; i++) printf("%a %a\\n", sum[i], square[i]);
            return 0;
        }}""")
    run(CC, "-Wall", "-Werror", "-std=c99", "main.c", "k.o", "-lm", "-o", "main", cwd=tmp_path)
    rows = [list(map(float.fromhex, line.split())) for line in run(tmp_path / "main").splitlines()]
    a, b = np.array([1, 2, 3.0]), np.array([0.5, 0, -1])
    assert np.array_equal(np.array(rows).T, kernel(a, b, a, b, a))
    run(CC, "-c", "k.s", "-o", "again.o", cwd=tmp_path)
    assert f"@{name}(" in (tmp_path / "k.ll").read_text()


@needs_cc
def test_a_function_is_not_called_as_what_its_own_object_is_linked_with(tmp_path):
    X, W = sg.tensor("X", ("n", 5)), sg.tensor("W", (5, 3))
    kernel: Any = sg.compile(X @ W, [X, W], name="dgemm_")
    write_artefacts(kernel, tmp_path / "k", cpu="baseline")  # whose large products are left to BLAS
    assert "int dgemm_2(" in (tmp_path / "k.h").read_text()
    run(CC, "-c", "k.s", "-o", "again.o", cwd=tmp_path)
