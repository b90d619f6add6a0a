"""Compile LLVM IR text: engines run the code, object code is cached or linked.

MCJIT rather than ORC: `docs/decisions/0002-native-code.md`. MCJIT ends the process on an unknown symbol, so every
external symbol is resolved before the engine sees the module.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from symgrad.compiler.llvm.engine.binding import interruptible, llvm, lock, release_on_interrupt, versions
from symgrad.compiler.llvm.engine.externals import resolve_all
from symgrad.compiler.llvm.engine.target import Cpu, Platform, generic_target_machine, host, target_machine
from symgrad.support.errors import InternalError
from symgrad.support.logs import info

Effort: TypeAlias = Literal["low", "auto", "high"]
"""auto: quick code first, optimised code when it pays; high: optimised code at once."""

T = TypeVar("T")

_LONG_MODULE = 400_000
"""If a module has at least so many characters, Ctrl-C does not wait for LLVM, which takes 0.2 to 1 s for a million."""


_SECONDS_PER_CHARACTER = {True: 0.2e-6, False: 0.8e-6}
"""A rough estimate of LLVM's time, for optimised and for quick code; it is only shown as progress."""


def _run_llvm(ir: str, work: Callable[[], T], *, quick: bool = False) -> T:
    """Run work of LLVM on a module, one thread at a time; Ctrl-C interrupts the wait for a long module."""

    def locked() -> T:
        with lock, release_on_interrupt():
            return work()

    if len(ir) < _LONG_MODULE:
        return locked()
    from symgrad.support.progress import (
        reports_progress,  # for start-up time: a process that loads cached code compiles no long module
    )

    with reports_progress("llvm", "machine code by LLVM", expected=_SECONDS_PER_CHARACTER[quick] * len(ir)):
        return interruptible(locked)


def _parse(ir: str, context: Any = None) -> tuple[Any, tuple[str, ...]]:
    """Parse and verify a module in a new context, resolve its external functions; return the module and their names.

    LLVM frees types and constants only with their context, so each module has a context of its own, freed with it.
    """
    try:
        module = llvm.parse_assembly(ir, context or llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise InternalError(
            f"LLVM does not accept the module that symgrad wrote: {error}\n{ir[:2000]}"
        ) from error
    needs = _undefined_functions(module)
    resolve_all(needs)
    if _has_inlined_functions(module):
        _inline(module)
    return module, needs


def _undefined_functions(module: Any) -> tuple[str, ...]:
    """Return the names of the functions that a module calls but does not define."""
    names = (str(function.name) for function in module.functions if function.is_declaration)
    return tuple(name for name in names if not name.startswith("llvm."))


def _defined_names(module: Any) -> frozenset[str]:
    """Return the external names that a module defines."""
    defined = (*module.functions, *module.global_variables)
    return frozenset(
        str(value.name) for value in defined if not value.is_declaration and value.linkage.name == "external"
    )


def _has_inlined_functions(module: Any) -> bool:
    """Return whether a module defines a function with the attribute alwaysinline."""
    defined = (function for function in module.functions if not function.is_declaration)
    return any(b"alwaysinline" in group for function in defined for group in function.attributes)


def _inline(module: Any) -> None:
    """Inline the functions with the attribute alwaysinline: the only pass that runs on the IR."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    # The pass does not depend on the processor.
    passes.run(module, llvm.create_pass_builder(generic_target_machine(), llvm.PipelineTuningOptions(0)))


class ObjectCode(NamedTuple):
    """The machine code of a module, for engines on machines like this one.

    Args:
        data: an object file.
        defines: the external names that it defines.
        needs: the functions that the module calls but does not define; they must be resolved before it is loaded.
    """

    data: bytes
    defines: frozenset[str]
    needs: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """Serialize it for `from_bytes`."""
        return "\n".join((" ".join(sorted(self.defines)), " ".join(self.needs), "")).encode() + self.data

    @classmethod
    def from_bytes(cls, kept: bytes) -> ObjectCode:
        """Deserialize the result of `to_bytes`."""
        defines, needs, data = kept.split(b"\n", 2)
        return cls(data, frozenset(defines.decode().split()), tuple(needs.decode().split()))


def object_code(ir: str, beside: str | None = None, *, quick: bool = False) -> ObjectCode:
    """Compile a module as `Engine` does, into an object file.

    Args:
        ir: the text of the module.
        beside: the text of a second module, which is linked into the same object without optimisation, since loading
            one object takes half of the time of loading two.
        quick: compile quickly, without optimisation.

    Raises:
        InternalError: if LLVM does not accept the module.
        KernelError: if the C library lacks a function that it calls.
    """

    def made() -> ObjectCode:
        context = llvm.create_context()
        module, _ = _parse(ir, context)
        if beside is not None:
            other, _ = _parse(beside, context)
            for function in other.functions:
                if not function.is_declaration:
                    function.add_function_attribute("noinline")
                    function.add_function_attribute("optnone")
            module.link_in(other)
        code = bytes(_jit_machine(quick=quick).emit_object(module))
        return ObjectCode(code, _defined_names(module), _undefined_functions(module))

    return _run_llvm(ir, made, quick=quick)


def compiler_fingerprint(*, quick: bool = False) -> tuple[str, ...]:
    """Return everything that the result of `object_code` depends on, except the text of the module."""
    here = host()
    return ("quick" if quick else "", here.triple, here.cpu, here.features, *versions())


def _jit_machine(*, quick: bool) -> Any:
    return target_machine("host", jit=True, effort=0 if quick else 2)


class Engine:
    """Own one compiled module; the code lives exactly as long as the engine.

    Args:
        ir: the text of an LLVM module. It is verified, and every function that it declares is resolved first.
        quick: compile quickly, without optimisation.

    Raises:
        InternalError: if LLVM does not accept the module.
        KernelError: if the C library lacks a function that it calls.
    """

    __slots__ = ("__weakref__", "_engine", "_names")

    def __init__(self, ir: str, *, quick: bool = False) -> None:
        def made() -> tuple[frozenset[str], Any]:
            module, _ = _parse(ir)
            names = _defined_names(module)
            engine = llvm.create_mcjit_compiler(module, _jit_machine(quick=quick))
            engine.finalize_object()
            return names, engine

        begun = time.perf_counter()
        self._names, self._engine = _run_llvm(ir, made, quick=quick)
        kind, seconds = "quick" if quick else "optimised", time.perf_counter() - begun
        info("llvm", "%s machine code of %d kB of LLVM in %.3f s", kind, len(ir) // 1000, seconds)

    @classmethod
    def of(cls, code: ObjectCode) -> Engine:
        """Load machine code.

        An engine has only one object: MCJIT has one global offset table for all objects of an engine, and references to
        the tables of other objects would read wrong entries.

        Raises:
            KernelError: if the C library lacks a function that it calls.
        """
        self = cls.__new__(cls)
        with lock, release_on_interrupt():
            resolve_all(code.needs, code.data)
            self._names = code.defines
            nothing = llvm.parse_assembly("", llvm.create_context())
            # The empty module needs no code for a processor.
            self._engine = llvm.create_mcjit_compiler(nothing, generic_target_machine(jit=True))
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code.data))
            # Looking up an address finalizes the object; `finalize_object` would first compile the empty module.
            if not any(self._engine.get_function_address(name) for name in code.defines):
                raise InternalError("the object file defines no function")
        return self

    def address(self, name: str) -> int:
        """Return the address of a function or global of the module.

        Raises:
            InternalError: if the module does not define it.
        """
        if name not in self._names:
            raise InternalError(f"the module does not define '{name}'")
        with lock, release_on_interrupt():
            found = int(
                self._engine.get_function_address(name) or self._engine.get_global_value_address(name)
            )
        if not found:
            raise InternalError(f"LLVM lost '{name}'")
        return found

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # At exit Python clears modules in any order (this one may have lost `sys` already), and the memory is freed
        # with the process anyway.
        if hasattr(self, "_engine") and not ending():
            with release_on_interrupt():
                # The engine disposes of itself once its last reference is gone. After a call of `close` it would do so
                # twice if Ctrl-C came before it is marked as closed.
                del self._engine


def emit_assembly(ir: str, cpu: Cpu | Platform = "host") -> str:
    """Return the machine code of a module as assembly text."""
    return _run_llvm(ir, lambda: str(target_machine(cpu, jit=False).emit_assembly(_parse(ir)[0])))


def emit_bitcode(ir: str) -> bytes:
    """Return a module as LLVM's bitcode."""
    return _run_llvm(ir, lambda: bytes(_parse(ir)[0].as_bitcode()))


def emit_object(ir: str, cpu: Cpu | Platform = "host") -> bytes:
    """Return the machine code of a module as a position independent object file."""
    return emit_object_and_needs(ir, cpu)[0]


def emit_object_and_needs(ir: str, cpu: Cpu | Platform = "host") -> tuple[bytes, tuple[str, ...]]:
    """Return a position independent object file, and the functions that it calls but does not define."""

    def made() -> tuple[bytes, tuple[str, ...]]:
        module, needs = _parse(ir)
        return bytes(target_machine(cpu, jit=False).emit_object(module)), needs

    return _run_llvm(ir, made)
