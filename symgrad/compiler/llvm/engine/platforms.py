"""Cross compilation: describe other processors by LLVM's names, from the code that LLVM generates for a few trials.

LLVM prints only a warning for an unknown name, and ends the process for a name that does not fit the triple. So a
child process compiles the trials.
"""

from __future__ import annotations

import string
import subprocess
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

from symgrad.compiler.llvm.engine.binding import llvm, lock, release_on_interrupt
from symgrad.compiler.llvm.engine.target import Cpu, Platform, Target, host
from symgrad.support.errors import Cure, UsageError

_TRIALS = """\
define double @rounded_once(double %a, double %b, double %c) {
  %d = call double @llvm.fma.f64(double %a, double %b, double %c)
  ret double %d
}
define void @many(ptr %x) {
  %a = load <8 x double>, ptr %x
  %b = fadd <8 x double> %a, %a
  store <8 x double> %b, ptr %x
  ret void
}
declare double @llvm.fma.f64(double, double, double)
"""

_CHARACTERS = frozenset(string.ascii_letters + string.digits + "_.+-")
_TRIAL_PROGRAM = """\
import sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
triple, cpu, text = sys.argv[1:]
machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2, reloc="pic", codemodel="default")
print(machine.target_data)
print(machine.emit_assembly(llvm.parse_assembly(text)))
machine.emit_object(llvm.parse_assembly(text))
"""

_LIST_PROGRAM = """\
import sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
machine = llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
machine.emit_assembly(llvm.parse_assembly("define void @f() {\\n  ret void\\n}"))
"""

_TIMEOUT_SECONDS = 60

_ARCHITECTURES = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "powerpc64le": "powerpc64le-linux-gnu",
    "s390x": "s390x-linux-gnu",
    "loongarch64": "loongarch64-linux-gnu",
}
"""An example triple for each architecture whose processors an error message may suggest."""

_TRIPLES = (
    *_ARCHITECTURES.values(),
    "x86_64-linux-musl",
    "aarch64-linux-musl",
    "x86_64-pc-windows-msvc",
    "x86_64-w64-windows-gnu",
    "aarch64-pc-windows-msvc",
    "x86_64-apple-macosx",
    "arm64-apple-macosx",
)
"""The triples that an error message may suggest."""

_SYSTEMS = """
    unknown none pc apple nvidia amd arm suse redhat alpine w64 ibm scei openwrt linux macos macosx darwin ios
    tvos watchos xros driverkit windows win mingw cygwin freebsd netbsd openbsd dragonfly solaris illumos aix
    fuchsia haiku hurd kfreebsd android emscripten wasi cuda uefi hermit rtems zos managarm serenity gnu gnueabi
    gnueabihf gnuabi gnuf gnusf gnu_ilp eabi eabihf musl musleabi musleabihf muslabi muslf muslsf msvc itanium
    cygnus coreclr simulator macabi ohos llvm mlibc pauthtest elf coff macho
"""
_TRIPLE_PARTS = frozenset(_SYSTEMS.split())
"""The valid parts of a triple after the architecture, without version numbers; LLVM accepts any other word silently."""

_UNKNOWN_PROCESSOR = "is not a recognized"
"""LLVM's warning for an unknown processor, which it then ignores."""


@cache
def platform(cpu: Cpu | str, triple: str | None = None) -> Platform:
    """Describe the target processors of cross compilation.

    Args:
        cpu: ``host``, ``baseline`` for every processor of an architecture, or LLVM's name of a processor
            (``x86-64-v3``).
        triple: LLVM's triple of another platform (``aarch64-linux-gnu``); None for this one.

    Raises:
        UsageError: if LLVM does not know the processor or the triple, or cannot generate code for them, or addresses do
            not have 64 bits; or for ``host`` with the triple of another platform.

    Example:
        >>> there = platform("baseline", "aarch64-linux-gnu")
        >>> there.target.vector_bytes, there.target.fused
        (16, True)
    """
    here = host()
    if triple is None or triple == here.triple:
        if cpu == "host":
            return here
        if cpu == "baseline":
            return Platform(here.triple, "", "", here.target_of("baseline"))
    elif cpu == "host":
        _check_triple_parts(triple)  # an invalid triple has its own message
        _compile_trials(triple, "")
        raise UsageError(
            f"cpu='host' is this machine ({here.triple}), not one of '{triple}'",
            expected='cpu="baseline", or LLVM\'s name of a processor',
        )
    name = "" if cpu == "baseline" else cpu
    kind = here.triple if triple is None else triple
    _check_triple_parts(kind)
    layout, assembly = _compile_trials(kind, name)
    if _pointer_bits(layout) != 64:
        raise UsageError(
            f"machine code for '{kind}' would need addresses of {_pointer_bits(layout)} bits",
            expected="a triple of a machine with 64 bits",
            cure="write C source (.c), which any machine can compile",
        )
    initialize_targets()
    wide = 64 if "zmm" in assembly else 32 if "ymm" in assembly else 16
    called = {word.partition("@")[0].lstrip("_$").rstrip(",") for word in assembly.split()}
    fused = "fma" not in called  # no call of C's fma
    return Platform(kind, name, "", Target(wide, fused, estimates=wide == 64 and fused))


def initialize_targets() -> None:
    """Initialize LLVM's code generators for all architectures; most processes need only the native one."""
    with lock, release_on_interrupt():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()


@cache
def processors(triple: str) -> tuple[str, ...]:
    """Return LLVM's names of the processors of an architecture; empty if they cannot be listed."""
    finished = _run(_LIST_PROGRAM, triple)
    if finished is None:
        return ()
    listed = (
        finished.stderr.partition("Available CPUs")[2].partition("Available features")[0].splitlines()[1:]
    )
    names = (line.split() for line in listed if line.startswith("  "))
    return tuple(dict.fromkeys(words[0] for words in names if words))


def suggest_similar(name: str, known: Iterable[str]) -> str:
    """Return a suggestion of similarly spelled names for an error message; empty if there are none.

    Example:
        >>> suggest_similar("x86_64-v3", ["x86-64-v3", "znver4"])
        '; near it: x86-64-v3'
    """
    found = get_close_matches(name, list(known), n=3)
    return f"; near it: {', '.join(found)}" if found else ""


def _check_triple_parts(triple: str) -> None:
    """Raise an error for a triple with an unknown part, for which LLVM would silently choose some system."""
    for word in triple.split("-")[1:]:
        if word.rstrip(string.digits + ".") not in _TRIPLE_PARTS:
            raise _unknown_error(triple, "", f"it knows no '{word}'")


def _run(program: str, *given: str) -> subprocess.CompletedProcess[str] | None:
    command = [sys.executable or "python3", "-W", "ignore", "-c", program, *given]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None


def _compile_trials(triple: str, cpu: str) -> tuple[str, str]:
    """Return the data layout and the assembly of the trials."""
    if not triple or not _CHARACTERS.issuperset(triple + cpu):
        raise _unknown_error(triple, cpu, "it is no name of LLVM's")
    done = _run(_TRIAL_PROGRAM, triple, cpu, _TRIALS)
    if done is None:
        raise _unknown_error(triple, cpu, "no process could try it")
    messages = done.stderr.strip().splitlines()
    if done.returncode or any(_UNKNOWN_PROCESSOR in line for line in messages):
        relevant = [m for m in messages if _UNKNOWN_PROCESSOR in m or "LLVM ERROR" in m] or messages[-1:]
        why = relevant[0] if relevant else f"LLVM ended with code {done.returncode}"
        raise _unknown_error(triple, cpu, why)
    layout, _, assembly = done.stdout.partition("\n")
    return layout, assembly


def _unknown_error(triple: str, cpu: str, why: str) -> UsageError:
    if not cpu:
        return UsageError(
            f"LLVM has no code for the kind of machine '{triple}': {why.removeprefix('RuntimeError: ')}",
            expected=f"a triple of LLVM's, as aarch64-linux-gnu{suggest_similar(triple, _TRIPLES)}",
            cure=Cure("leave triple out for this machine", command="leave --triple out for this machine"),
        )
    kind = triple.partition("-")[0]
    owner = next((of for k, of in _ARCHITECTURES.items() if k != kind and cpu in processors(of)), None)
    if owner is not None:
        return UsageError(
            f"'{cpu}' is no processor of '{triple}'",
            expected="a processor of that kind of machine",
            cure=Cure(f'triple="{owner}" is one that has it', command=f"--triple {owner} is one that has it"),
        )
    return UsageError(
        f"LLVM has no code for the processor '{cpu}' of '{triple}'",
        expected=f"LLVM's name of a processor, as x86-64-v3 or cortex-a72{suggest_similar(cpu, processors(triple))}",
        cure=Cure('cpu="baseline" needs no name', command="--cpu baseline needs no name"),
    )


def _pointer_bits(layout: str) -> int:
    """Return the size of addresses in a data layout; 64 bits by default."""
    parts = [part.split(":") for part in layout.split("-")]
    return next((int(part[1]) for part in parts if part[0] == "p" and len(part) > 1), 64)
