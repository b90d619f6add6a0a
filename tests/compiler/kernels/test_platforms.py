"""Objects for other machines: their formats, names that LLVM does not know, and one that runs in an emulator."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.llvm.engine.platforms import platform, processors
from symgrad.errors import UsageError
from tests.compiler.kernels.c_libraries import as_c_has_it
from tests.compiler.kernels.test_grids import given, wave
from tests.compiler.kernels.tools_of_others import aarch64_compiler, aarch64_emulator

COMPILER, EMULATOR = aarch64_compiler(), aarch64_emulator()
FUNCTIONS = ("wave", "wave_strided", "wave_point")


def coff_symbols(content: bytes) -> dict[str, int]:
    """The names in the symbol table of an object for Windows (Microsoft PE and COFF), with their sections."""
    at, count = struct.unpack_from("<II", content, 8)
    strings = at + 18 * count
    found: dict[str, int] = {}
    k = 0
    while k < count:
        entry = content[at + 18 * k : at + 18 * (k + 1)]
        zeros, place = struct.unpack_from("<II", entry)
        begin = strings + place
        name = entry[:8].rstrip(b"\0") if zeros else content[begin : content.index(b"\0", begin)]
        (found[name.decode()],) = struct.unpack_from("<h", entry, 12)
        k += 1 + entry[17]
    return found


def macho_symbols(content: bytes) -> set[str]:
    """The names that an object for macOS defines (Mach-O, LC_SYMTAB)."""
    (commands,) = struct.unpack_from("<I", content, 16)
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", content, at)
        if command == 2:
            table, count, strings, _ = struct.unpack_from("<IIII", content, at + 8)
            found: set[str] = set()
            for k in range(count):
                place, kind = struct.unpack_from("<IB", content, table + 16 * k)
                if kind & 0x0E:
                    begin = strings + place
                    found.add(content[begin : content.index(b"\0", begin)].decode())
            return found
        at += size
    return set()


@pytest.mark.parametrize(
    ("triple", "machine"), [("x86_64-pc-windows-msvc", 0x8664), ("aarch64-pc-windows-msvc", 0xAA64)]
)
def test_objects_for_windows(triple: str, machine: int, tmp_path: Path) -> None:
    made, _ = wave().save(tmp_path / "wave.o", cpu="baseline", triple=triple)
    content = made.read_bytes()
    assert struct.unpack_from("<H", content)[0] == machine
    symbols = coff_symbols(content)
    assert all(symbols[name] > 0 for name in FUNCTIONS)
    outside = {name for name, section in symbols.items() if section == 0}
    assert outside <= {"malloc", "free", "abort", "sin", "cos", "fma", "memcpy", "__chkstk", "_fltused"}


@pytest.mark.parametrize(
    ("triple", "kind"), [("arm64-apple-macosx", 0x0100000C), ("x86_64-apple-macosx", 0x01000007)]
)
def test_objects_for_macos(triple: str, kind: int, tmp_path: Path) -> None:
    made, _ = wave().save(tmp_path / "wave.o", cpu="baseline", triple=triple)
    content = made.read_bytes()
    assert struct.unpack_from("<II", content) == (0xFEEDFACF, kind)
    assert {f"_{name}" for name in FUNCTIONS} <= macho_symbols(content)


def test_only_code_of_processors_with_the_instruction_rounds_once() -> None:
    """On macOS and Windows too, where what code calls is written otherwise."""
    for system in ("linux-gnu", "apple-macosx", "pc-windows-msvc"):
        assert not platform("baseline", f"x86_64-{system}").target.fused
        assert platform("x86-64-v3", f"x86_64-{system}").target.fused
        assert platform("baseline", f"aarch64-{system}").target.fused


@pytest.mark.parametrize(
    ("cpu", "triple", "message", "said"),
    [
        ("x86-64-v9", "x86_64-linux-gnu", "no code for the processor 'x86-64-v9'", "near it: x86-64-v4"),
        ("cortex-a72", "x86_64-linux-gnu", "'cortex-a72' is no processor of 'x86_64", 'triple="aarch64-linux-gnu"'),
        ("znver4", "aarch64-linux-gnu", "'znver4' is no processor of 'aarch64", 'triple="x86_64-linux-gnu"'),
        ("baseline", "aarch46-linux-gnu", "no code for the kind of machine 'aarch46", "near it: aarch64-linux-gnu"),
        ("host", "aarch46-linux-gnu", "no code for the kind of machine 'aarch46", "near it: aarch64-linux-gnu"),
        ("host", "aarch64-linux-gnu", "cpu='host' is this machine", 'expected: cpu="baseline"'),
        ("baseline", "aarch64-linux-gnuu", "it knows no 'gnuu'", "near it: aarch64-linux-gnu"),
        ("baseline", "x86_64-pc-widows-msvc", "it knows no 'widows'", "near it: x86_64-pc-windows-msvc"),
        ("help", "x86_64-linux-gnu", "no code for the processor 'help'", "cpu=\"baseline\" needs no name"),
        ("x86-64; ls", "x86_64-linux-gnu", "no code for the processor 'x86-64; ls'", "baseline"),
    ],
)  # fmt: skip
def test_what_llvm_does_not_know(cpu: str, triple: str, message: str, said: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        platform(cpu, triple)
    assert said in str(refused.value)


def test_the_processors_of_a_machine_are_llvms() -> None:
    assert {"x86-64", "x86-64-v3", "znver4"} <= set(processors("x86_64-linux-gnu"))
    assert {"generic", "cortex-a72"} <= set(processors("aarch64-linux-gnu"))
    assert {"sm_75", "sm_90"} <= set(processors("nvptx64-nvidia-cuda"))
    assert not {"ptx60", "avx2"} & {*processors("nvptx64-nvidia-cuda"), *processors("x86_64-linux-gnu")}


_PROGRAM = """\
#include <stdio.h>
#include "wave.h"
int main(void)
{
    double x[N], u[N], z[N], dx[N], du[N], z1, dx1, du1;
    unsigned char b[N], c[N], c1;
    if (fread(x, 8, N, stdin) != N || fread(b, 1, N, stdin) != N || fread(u, 8, N, stdin) != N)
        return 1;
    wave(x, b, u, N, z, dx, du, c);
    wave_point(x[3], b[3], u[3], &z1, &dx1, &du1, &c1);
    fwrite(z, 8, N, stdout), fwrite(dx, 8, N, stdout), fwrite(du, 8, N, stdout);
    return !(z1 == z[3] && dx1 == dx[3] && du1 == du[3] && c1 == c[3]);
}
"""


@pytest.mark.slow
@pytest.mark.skipif(
    COMPILER is None, reason="no compiler for aarch64: aarch64-linux-gnu-gcc, or pip install ziglang"
)
@pytest.mark.skipif(EMULATOR is None, reason="no emulator of aarch64: qemu-user")
@pytest.mark.parametrize("cpu", ["baseline", "cortex-a72"])
def test_an_object_for_aarch64_runs_there(cpu: str, tmp_path: Path) -> None:
    assert COMPILER is not None
    assert EMULATOR is not None
    kernel: Any = wave()
    kernel.save(tmp_path / "wave.o", cpu=cpu, triple="aarch64-linux-gnu")
    (tmp_path / "main.c").write_text(_PROGRAM)
    arrays = [np.asarray(a, kind) for a, kind in zip(given(61), kernel.kinds, strict=False)]
    build = [*COMPILER, "-static", "-DN=61", "main.c", "wave.o", "-lm", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True)
    sent = b"".join(a.tobytes() for a in arrays)
    run = subprocess.run([*EMULATOR, "./main"], cwd=tmp_path, check=True, capture_output=True, input=sent)
    found = np.frombuffer(run.stdout).reshape(3, 61)
    for a, b in zip(found, as_c_has_it(kernel, fused=True, arrays=arrays), strict=False):
        np.testing.assert_array_equal(a, b)


def test_the_command_line_says_it_in_one_message(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "symgrad",
        "compile",
        "x**2",
        "-o",
        str(tmp_path / "k.o"),
        "--triple",
        "x86_64-linux-gnuu",
        "--cpu",
        "baseline",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (1, 2)
    assert "near it: x86_64-linux-gnu" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_names_of_other_formats_go_through(tmp_path: Path) -> None:
    x = sg.symbols("x")
    for triple in (
        "riscv64-unknown-elf",
        "x86_64-unknown-freebsd14.1",
        "aarch64-linux-android21",
        "arm64-apple-macosx14.0.0",
    ):
        assert sg.compile(x**2).save(tmp_path / "k.o", cpu="baseline", triple=triple)[0].stat().st_size > 500
