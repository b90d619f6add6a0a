"""Machine code from LLVM IR text: host target, engine, object code. The only module that imports llvmlite.

MCJIT rather than ORC: `docs/decisions/0002-native-code.md`. MCJIT ends the process when it meets an unknown symbol, so
every external symbol is looked up before the engine sees the module.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, Literal, ParamSpec, TypeVar, cast

import llvmlite
import llvmlite.binding as _llvm

from symgrad.errors import InternalError, KernelError

__all__ = [
    "Engine",
    "Host",
    "ObjectCode",
    "Target",
    "call_c",
    "compiling_for",
    "define",
    "emit_assembly",
    "emit_object",
    "host",
    "live_engines",
    "made_once",
    "object_code",
    "one_at_a_time",
    "resolve",
    "target_lines",
]

# llvmlite has no type information: everything untyped goes through this one name and stays in this file.
llvm = cast(Any, _llvm)

_lock = threading.RLock()
_ours: dict[str, int] = {}  # functions that are in no library by the names that code calls them by
_live: weakref.WeakSet[Engine] = weakref.WeakSet()


@contextlib.contextmanager
def _given_back() -> Generator[None]:
    """Give llvmlite's own lock back: if Ctrl-C comes just as it is taken, it stays taken, and LLVM to this thread."""
    lock: Any = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)
    repair = hasattr(lock, "_is_owned") and not lock._is_owned()
    try:
        yield
    finally:
        while repair and lock._is_owned():
            lock.release()


_held = contextlib.ExitStack()  # what is held during a fork


def _before_fork() -> None:
    # A child has one thread: what another one was doing in LLVM, and the locks that it held, would stay so for ever.
    _held.enter_context(_lock)
    # Engines are disposed of under llvmlite's own lock alone.
    _held.enter_context(getattr(llvm.ffi.lib, "_lock", contextlib.nullcontext()))


def _after_fork() -> None:
    _held.pop_all().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

Cpu = Literal["host", "baseline"]

P = ParamSpec("P")
T = TypeVar("T")


def one_at_a_time(make: Callable[P, T]) -> Callable[P, T]:
    """Let one thread at a time in, which may come in again: the lock is the one that compilation has."""

    @wraps(make)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with _lock:
            return make(*args, **kwargs)

    return call


def made_once(make: Callable[P, T]) -> Callable[P, T]:
    """Cache what a function makes, for the life of the process and over all threads.

    `functools.cache` alone may call it in two threads at once and let go of one result: of an engine, that is code
    which someone else has the address of.
    """
    return one_at_a_time(cast("Callable[P, T]", cache(make)))


# Code generation may call these by itself where the target has no instruction for them (rounding before
# SSE4.1, fma before FMA3, large copies), so they must be known although no module declares them.
_IMPLICIT: tuple[str, ...] = (
    "floor",
    "ceil",
    "rint",
    "fma",
    "floorf",
    "ceilf",
    "rintf",
    "fmaf",
    "memcpy",
    "memset",
    "memmove",
)
if sys.platform == "win32":
    _IMPLICIT += ("__chkstk",)  # probes the stack of functions with more than a page of locals


@dataclass(frozen=True, slots=True)
class Target:
    """What the code must know of the processors that it is for.

    Args:
        vector_bytes: width of the widest vector register that arithmetic should use.
        fused: whether they have an instruction for a*b + c with one rounding; without, llvm.fma is a call of C's fma.
        estimates: whether they have AVX-512, with 14 bits of 1/sqrt(x) in one instruction, and tables in registers.
    """

    vector_bytes: int
    fused: bool
    estimates: bool = False


@dataclass(frozen=True, slots=True)
class Host:
    """This machine as LLVM sees it.

    Args:
        triple: target triple.
        cpu: LLVM's name of the processor.
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


@cache
def _host_once() -> Host:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    flags = cast("dict[str, bool]", dict(llvm.get_host_cpu_features()))
    vector_bytes = 64 if flags.get("avx512f") else 32 if flags.get("avx") else 16
    triple = str(llvm.get_process_triple())
    found = Host(
        triple=triple,
        cpu=str(llvm.get_host_cpu_name()),
        features=",".join(("+" if on else "-") + name for name, on in sorted(flags.items())),
        target=Target(
            vector_bytes,
            bool(flags.get("fma")) or _always_fused(triple),
            estimates=bool(flags.get("avx512f")),
        ),
    )
    for name in _IMPLICIT:
        resolve(name)
    return found


def host() -> Host:
    """Describe this machine; the LLVM target is set up on the first call, once for all threads."""
    with _lock, _given_back():
        return _host_once()


@cache
def _target(triple: str) -> Any:
    return llvm.Target.from_triple(triple)


def _machine(cpu: Cpu, *, jit: bool, effort: int = 2) -> Any:
    here = host()
    return _target(here.triple).create_target_machine(
        cpu=here.cpu if cpu == "host" else "",
        features=here.features if cpu == "host" else "",
        opt=effort,
        reloc="pic",
        codemodel="jitdefault" if jit else "default",
        jit=jit,
    )


def _libraries() -> Iterator[ctypes.CDLL]:
    """Open, one after the other, the libraries that may have a C function."""
    if sys.platform == "win32":
        names: tuple[str | None, ...] = ("ucrtbase", "msvcrt", "vcruntime140", "ntdll")
    else:
        names = (None, "libm.so.6")  # Python itself is linked with libm nearly everywhere
    for name in names:
        with contextlib.suppress(OSError):
            yield _library(name)
    # To look a library up by name starts a linker on Linux: longer than it takes to compile a kernel, so last.
    from ctypes.util import find_library

    with contextlib.suppress(OSError):
        yield _library(find_library("m"))


@cache
def _library(name: str | None) -> ctypes.CDLL:
    return ctypes.CDLL(name)


@cache
def resolve(name: str) -> int:
    """Return the address of a C function and make it known to LLVM.

    Raises:
        KernelError: if no library of this process has it.
    """
    with _lock, _given_back():
        if name in _ours:
            return _ours[name]
        for library in _libraries():
            try:
                function = getattr(library, name)
            except AttributeError:
                continue
            address = ctypes.cast(function, ctypes.c_void_p).value
            if address:
                # Said explicitly on every platform: what a static Python or the C runtime of Windows exports
                # by itself differs.
                llvm.add_symbol(name, address)
                return address
        known = llvm.address_of_symbol(name)
        if known:
            return int(known)
    raise KernelError(
        f"the C library of this system has no function '{name}'",
        expected="a C99 math library",
        cure="rewrite the formula with functions that it has",
    )


def define(name: str, address: int) -> None:
    """Make a function known to LLVM by a name of ours, which no C library has."""
    with _lock, _given_back():
        host()
        llvm.add_symbol(name, address)
        _ours[name] = address


def call_c(name: str, values: tuple[float, ...], bits: int) -> float:
    """Call the libm function that a kernel would call, so that a folded constant has the kernel's bits."""
    kind = ctypes.c_double if bits == 64 else ctypes.c_float
    function = ctypes.CFUNCTYPE(kind, *[kind] * len(values))(resolve(name))
    return float(function(*values))


def _parse(ir: str) -> Any:
    """Parse and verify a module in a context of its own.

    LLVM never frees types and constants of a context while it lives; a context a module makes them go with
    the module.
    """
    try:
        module = llvm.parse_assembly(ir, llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise InternalError(
            f"LLVM does not accept the module that symgrad wrote: {error}\n{ir[:2000]}"
        ) from error
    for name in _needs(module):
        resolve(name)
    if ") #1 {" in ir:
        _inline(module)
    return module


def _needs(module: Any) -> list[str]:
    """The names of the functions that a module calls and does not define."""
    names = (str(function.name) for function in module.functions if function.is_declaration)
    return [name for name in names if not name.startswith("llvm.")]


def _defines(module: Any) -> frozenset[str]:
    """The names that others may use of what a module defines."""
    defined = (*module.functions, *module.global_variables)
    return frozenset(
        str(value.name) for value in defined if not value.is_declaration and value.linkage.name == "external"
    )


def _inline(module: Any) -> None:
    """Put the bodies of functions that say so where they are called: the one pass that IR of ours goes through."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    # The pass asks nothing of the processor: the plainest machine is made in a third of the time.
    machine = _target(host().triple).create_target_machine(opt=0)
    passes.run(module, llvm.create_pass_builder(machine, llvm.PipelineTuningOptions(0)))


@dataclass(frozen=True, slots=True)
class ObjectCode:
    """The machine code of a module, for engines on machines like this one.

    Args:
        data: an object file.
        defines: the names that it defines.
        needs: the functions that must be known before it is loaded.
    """

    data: bytes
    defines: frozenset[str]
    needs: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """Return all of it, for `from_bytes`."""
        return "\n".join((" ".join(sorted(self.defines)), " ".join(self.needs), "")).encode() + self.data

    @classmethod
    def from_bytes(cls, kept: bytes) -> ObjectCode:
        """Return what `to_bytes` wrote."""
        defines, needs, data = kept.split(b"\n", 2)
        return cls(data, frozenset(defines.decode().split()), tuple(needs.decode().split()))


def object_code(ir: str, *, quick: bool = False) -> ObjectCode:
    """Compile a module, as `Engine` does, but for later.

    Raises:
        InternalError: if LLVM does not accept the module.
        KernelError: if the C library lacks a function that it calls.
    """
    host()
    with _lock, _given_back():
        module = _parse(ir)
        needs, defines = tuple(_needs(module)), _defines(module)
        return ObjectCode(bytes(_jit_machine(quick=quick).emit_object(module)), defines, needs)


def compiling_for(*, quick: bool = False) -> tuple[str, ...]:
    """Everything but a module's text that `object_code` depends on."""
    here = host()
    version = ".".join(map(str, llvm.llvm_version_info))
    return ("quick" if quick else "", here.triple, here.cpu, here.features, version, llvmlite.__version__)


def _jit_machine(*, quick: bool) -> Any:
    return _machine("host", jit=True, effort=0 if quick else 2)


class Engine:
    """Owns one compiled module; the code lives exactly as long as the Engine.

    Args:
        ir: the text of an LLVM module. It is verified, and every function it declares is looked up first.
        quick: whether the code need not be fast, only soon there: LLVM optimises nothing.

    Raises:
        InternalError: if LLVM does not accept the module.
        KernelError: if the C library lacks a function that it calls.
    """

    __slots__ = ("__weakref__", "_engine", "_names")

    def __init__(self, ir: str, *, quick: bool = False) -> None:
        host()
        with _lock, _given_back():
            module = _parse(ir)
            self._names = _defines(module)
            self._engine = llvm.create_mcjit_compiler(module, _jit_machine(quick=quick))
            self._engine.finalize_object()
            _live.add(self)

    @classmethod
    def of(cls, code: ObjectCode) -> Engine:
        """Load machine code.

        One object for each engine: MCJIT has one table of addresses for all objects that it is given together, and
        what refers to the tables of the others reads something else.

        Raises:
            KernelError: if the C library lacks a function that it calls.
        """
        host()
        self = cls.__new__(cls)
        with _lock, _given_back():
            for name in code.needs:
                resolve(name)
            self._names = code.defines
            nothing = llvm.parse_assembly("", llvm.create_context())
            # There is nothing to compile for a machine: the plainest is made in a third of the time.
            machine = _target(host().triple).create_target_machine(opt=0, codemodel="jitdefault", jit=True)
            self._engine = llvm.create_mcjit_compiler(nothing, machine)
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code.data))
            # To ask for an address makes the code ready, too; `finalize_object` would first compile the empty module.
            if not any(self._engine.get_function_address(name) for name in code.defines):
                raise InternalError("there is no function in what was loaded")
            _live.add(self)
        return self

    def address(self, name: str) -> int:
        """Return the address of a function or global of the module.

        Raises:
            InternalError: if the module does not define it.
        """
        if name not in self._names:
            raise InternalError(f"the module does not define '{name}'")
        with _lock, _given_back():
            found = int(
                self._engine.get_function_address(name) or self._engine.get_global_value_address(name)
            )
        if not found:
            raise InternalError(f"LLVM lost '{name}'")
        return found

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        engine = getattr(self, "_engine", None)
        # At the end of the process modules are taken apart in any order (this one may have lost `sys` already), and the
        # memory goes with it anyway.
        if engine is not None and not ending():
            with _given_back():
                engine.close()


def live_engines() -> int:
    """Count the engines whose code is in memory."""
    with _lock:
        return len(_live)


def target_lines(cpu: Cpu = "host") -> str:
    """The lines that tie a module to this platform: object files need them (names have an underscore on macOS)."""
    with _lock, _given_back():
        layout = str(_machine(cpu, jit=False).target_data)
    return f'target datalayout = "{layout}"\ntarget triple = "{host().triple}"\n'


def emit_assembly(ir: str, cpu: Cpu = "host") -> str:
    """Return the machine code of a module as assembly text."""
    with _lock, _given_back():
        return str(_machine(cpu, jit=False).emit_assembly(_parse(ir)))


def emit_object(ir: str, cpu: Cpu = "host") -> bytes:
    """Return the machine code of a module as a position independent object file."""
    with _lock, _given_back():
        return bytes(_machine(cpu, jit=False).emit_object(_parse(ir)))
