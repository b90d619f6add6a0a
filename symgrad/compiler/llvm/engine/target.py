"""Processors: what code may use of them, and LLVM's code generators for them."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple, cast

from symgrad.compiler.llvm.engine.binding import given_back, llvm, lock

__all__ = ["Cpu", "Host", "Target", "host", "machine", "plain_machine", "target_lines"]

Cpu = Literal["host", "baseline"]
"""This machine's processor, or every processor of its kind."""


class Target(NamedTuple):
    """What the code must know of the processors that it is for.

    Args:
        vector_bytes: width of the widest vector register that arithmetic should use.
        fused: whether they have an instruction for a*b + c with one rounding; without, llvm.fma is a call of C's fma.
        estimates: whether they have AVX-512, with 14 bits of 1/sqrt(x) in one instruction, and tables in registers.
    """

    vector_bytes: int
    fused: bool
    estimates: bool = False


class Host(NamedTuple):
    """A machine as LLVM sees it: this one, or another (`platforms.py`).

    Args:
        triple: target triple.
        cpu: LLVM's name of the processor, empty for every one of its kind.
        features: feature string for the code generator.
        target: what its own vector code may use.
    """

    triple: str
    cpu: str
    features: str
    target: Target

    def target_of(self, cpu: Cpu) -> Target:
        """What this machine has, or what any machine of its kind has."""
        return self.target if cpu == "host" else Target(16, _always_fused(self.triple))


def _always_fused(triple: str) -> bool:
    return triple.split("-", 1)[0] in {"aarch64", "arm64"}


def _this_machine() -> Host:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    flags = cast("dict[str, bool]", llvm.get_host_cpu_features())
    vector_bytes = 64 if flags.get("avx512f") else 32 if flags.get("avx") else 16
    triple = str(llvm.get_process_triple())
    return Host(
        triple=triple,
        cpu=str(llvm.get_host_cpu_name()),
        features=",".join([f"+{name}" if flags[name] else f"-{name}" for name in sorted(flags)]),
        target=Target(
            vector_bytes,
            bool(flags.get("fma")) or _always_fused(triple),
            estimates=bool(flags.get("avx512f")),
        ),
    )


# With the import, once for all threads: whoever imports this wants code, and each kernel needs it.
with lock, given_back():
    _HERE = _this_machine()


def host() -> Host:
    """Describe this machine."""
    return _HERE


@cache
def _target(triple: str) -> Any:
    return llvm.Target.from_triple(triple)


def machine(cpu: Cpu | Host, *, jit: bool, effort: int = 2) -> Any:
    """Make a code generator; whoever calls this holds the lock.

    Args:
        cpu: for which processors, or of which machine.
        jit: whether the code is for this process.
        effort: LLVM's level of optimisation.
    """
    there = cpu if isinstance(cpu, Host) else host()
    exactly = cpu != "baseline"
    return _target(there.triple).create_target_machine(
        cpu=there.cpu if exactly else "",
        features=there.features if exactly else "",
        opt=effort,
        reloc="pic",
        codemodel="jitdefault" if jit else "default",
        jit=jit,
    )


def plain_machine(*, jit: bool = False) -> Any:
    """Make a code generator in a third of the time, for where nothing depends on the processor."""
    return _target(host().triple).create_target_machine(opt=0, jit=jit)


def target_lines(cpu: Cpu | Host = "host") -> str:
    """The lines that tie a module to a platform: object files need them (names have an underscore on macOS)."""
    with lock, given_back():
        layout = str(machine(cpu, jit=False).target_data)
    triple = cpu.triple if isinstance(cpu, Host) else host().triple
    return f'target datalayout = "{layout}"\ntarget triple = "{triple}"\n'
