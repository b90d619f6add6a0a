"""Processors of other machines, by LLVM's names: what code for them may use is what LLVM makes of a few lines.

A name that LLVM does not know is a warning on standard error, and one that does not fit ends the process. So another
process compiles these lines first.
"""

from __future__ import annotations

import string
import subprocess
import sys
from functools import cache

from symgrad.errors import UsageError
from symgrad.llvm.engine.binding import given_back, llvm, lock
from symgrad.llvm.engine.target import Cpu, Host, Target, host

__all__ = ["platform"]

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

_LETTERS = frozenset(string.ascii_letters + string.digits + "_.+-")
_TRY = """\
import sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
triple, cpu, text = sys.argv[1:]
machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2)
print(machine.target_data)
print(machine.emit_assembly(llvm.parse_assembly(text)))
machine.emit_object(llvm.parse_assembly(text))
"""

_SECONDS = 60

_IGNORED = "is not a recognized"
"""What LLVM says of a processor that it does not know, and goes on without."""


@cache
def platform(cpu: Cpu | str, triple: str | None = None) -> Host:
    """Describe processors that code is to be for.

    Args:
        cpu: ``host``, ``baseline`` for every processor of a kind, or LLVM's name of one (``x86-64-v3``).
        triple: LLVM's name of another kind of machine (``aarch64-linux-gnu``); None for this one.

    Raises:
        UsageError: if LLVM does not know one of them, or has no code for such a machine here, or its addresses have not
            64 bits; or for ``host`` with the triple of another machine.

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
            return Host(here.triple, "", "", here.target_of("baseline"))
    elif cpu == "host":
        raise UsageError(
            f"cpu='host' is this machine ({here.triple}), not one of '{triple}'",
            expected='cpu="baseline", or LLVM\'s name of a processor',
        )
    name = "" if cpu == "baseline" else cpu
    kind = here.triple if triple is None else triple
    layout, assembly = _tried(kind, name)
    if _bits_of_addresses(layout) != 64:
        raise UsageError(
            f"machine code for '{kind}' would need addresses of {_bits_of_addresses(layout)} bits",
            expected="a triple of a machine with 64 bits",
            cure="write C source (.c), which any machine can compile",
        )
    with lock, given_back():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    wide = 64 if "zmm" in assembly else 32 if "ymm" in assembly else 16
    called = {word.partition("@")[0].removeprefix("_") for word in assembly.split()}
    fused = "fma" not in called  # of C's
    return Host(kind, name, "", Target(wide, fused, estimates=wide == 64 and fused))


def _tried(triple: str, cpu: str) -> tuple[str, str]:
    """Return the layout of data and the assembly of the trials."""
    if not triple or not _LETTERS.issuperset(triple + cpu):
        raise _unknown(triple, cpu, "it is no name of LLVM's")
    command = [sys.executable or "python3", "-W", "ignore", "-c", _TRY, triple, cpu, _TRIALS]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unknown(triple, cpu, f"no process could try it: {error}") from error
    said = done.stderr.strip().splitlines()
    if done.returncode or any(_IGNORED in line for line in said):
        telling = [line for line in said if _IGNORED in line or "LLVM ERROR" in line] or said[-1:]
        raise _unknown(triple, cpu, telling[0] if telling else f"LLVM ended with code {done.returncode}")
    layout, _, assembly = done.stdout.partition("\n")
    return layout, assembly


def _unknown(triple: str, cpu: str, why: str) -> UsageError:
    what = f"processor '{cpu}' of '{triple}'" if cpu else f"kind of machine '{triple}'"
    return UsageError(
        f"LLVM has no code for the {what}: {why.removeprefix('RuntimeError: ')}",
        expected="names of LLVM's: a triple as aarch64-linux-gnu, a processor as x86-64-v3 or cortex-a72",
        cure='cpu="baseline" needs no name',
    )


def _bits_of_addresses(layout: str) -> int:
    """What a layout says of addresses; 64 where it says nothing."""
    parts = [part.split(":") for part in layout.split("-")]
    return next((int(said[1]) for said in parts if said[0] == "p" and len(said) > 1), 64)
