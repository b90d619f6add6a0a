"""Target processors: the features that code may use, and LLVM's target machines."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple, cast

from symgrad.compiler.llvm.engine.binding import llvm, lock, release_on_interrupt

Cpu = Literal["host", "baseline"]
"""The processor of this machine, or every processor of its architecture."""


class Target(NamedTuple):
    """The features of the target processors.

    Args:
        vector_bytes: width of the widest vector register that arithmetic should use.
        fused: whether there is a fused multiply-add instruction; without it, llvm.fma calls C's fma.
        estimates: whether there is AVX-512: an instruction for 14 bits of 1/sqrt(x), and table lookup in registers.
    """

    vector_bytes: int
    fused: bool
    estimates: bool = False


class Platform(NamedTuple):
    """A machine as LLVM describes it: this one, or another (`platforms.py`).

    Args:
        triple: target triple.
        cpu: LLVM's name of the processor; empty for every processor of the architecture.
        features: feature string for the code generator.
        target: the features that vector code may use.
    """

    triple: str
    cpu: str
    features: str
    target: Target

    def target_of(self, cpu: Cpu) -> Target:
        """Return the features of this processor, or the features that every processor of its architecture has."""
        return self.target if cpu == "host" else Target(16, _always_has_fma(self.triple))


def _always_has_fma(triple: str) -> bool:
    return triple.split("-", 1)[0] in {"aarch64", "arm64"}


def _this_machine() -> Platform:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    flags = cast("dict[str, bool]", llvm.get_host_cpu_features())
    vector_bytes = 64 if flags.get("avx512f") else 32 if flags.get("avx") else 16
    triple = str(llvm.get_process_triple())
    return Platform(
        triple=triple,
        cpu=str(llvm.get_host_cpu_name()),
        features=",".join([f"+{name}" if flags[name] else f"-{name}" for name in sorted(flags)]),
        target=Target(
            vector_bytes,
            bool(flags.get("fma")) or _always_has_fma(triple),
            estimates=bool(flags.get("avx512f")),
        ),
    )


# This runs at import, once for all threads, since every kernel needs it.
with lock, release_on_interrupt():
    _HOST = _this_machine()


def host() -> Platform:
    """Describe this machine."""
    return _HOST


@cache
def _target(triple: str) -> Any:
    return llvm.Target.from_triple(triple)


def target_machine(cpu: Cpu | Platform, *, jit: bool, effort: int = 2) -> Any:
    """Create LLVM's target machine (code generator); the caller must hold the lock.

    Args:
        cpu: the processors, or the platform.
        jit: whether the code is for this process.
        effort: LLVM's optimisation level.
    """
    there = cpu if isinstance(cpu, Platform) else host()
    exactly = cpu != "baseline"
    return _target(there.triple).create_target_machine(
        cpu=there.cpu if exactly else "",
        features=there.features if exactly else "",
        opt=effort,
        reloc="pic",
        codemodel="jitdefault" if jit else "default",
        jit=jit,
    )


def generic_target_machine(*, jit: bool = False) -> Any:
    """Create a target machine for work that does not depend on the processor, in a third of the time."""
    return _target(host().triple).create_target_machine(opt=0, jit=jit)


def target_lines(cpu: Cpu | Platform = "host") -> str:
    """Return the directives for data layout and triple, which object files need (on macOS for prefixes of symbols)."""
    with lock, release_on_interrupt():
        layout = str(target_machine(cpu, jit=False).target_data)
    triple = cpu.triple if isinstance(cpu, Platform) else host().triple
    return f'target datalayout = "{layout}"\ntarget triple = "{triple}"\n'
