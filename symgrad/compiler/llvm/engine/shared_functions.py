"""Functions that many kernels share: compiled once on a machine, and kept from first use to the end of the process.

Each function is a module of its own, with machine code in the disk cache. Loading the code takes a tenth of the time of
compiling it, so a kernel waits only for its own equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from symgrad.compiler.llvm.engine import disk_cache
from symgrad.compiler.llvm.engine.binding import synchronized
from symgrad.compiler.llvm.engine.externals import add_symbol
from symgrad.compiler.llvm.engine.jit import Engine, ObjectCode, compiler_fingerprint, object_code
from symgrad.support.errors import InternalError
from symgrad.support.logs import info


class _RegisteredFunction(NamedTuple):
    text: str
    engine: Engine  # owns the code in memory
    address: int


_registered: dict[str, _RegisteredFunction] = {}


@synchronized
def register_functions(functions: Mapping[str, str]) -> None:
    """Register functions with LLVM for all modules that declare them; they are compiled quickly.

    Args:
        functions: the text of the module that defines a function, by its name. A name always has the same text.

    Raises:
        KernelError: if the C library lacks a function that one of the functions calls.
        InternalError: if a name is registered with another text.
    """
    for name, text in functions.items():
        known = _registered.get(name)
        if known is None:
            _register(name, text, _load_or_compile_object(text, quick=True))
        elif known.text != text:
            raise InternalError(f"two functions are called '{name}'")


def _register(name: str, text: str, code: ObjectCode) -> None:
    engine = Engine.of(code)
    made = _RegisteredFunction(text, engine, engine.address(name))
    add_symbol(name, made.address)
    _registered[name] = made  # last: after an earlier interrupt the name is registered again


def address(name: str) -> int:
    """Return the address of a registered function."""
    return _registered[name].address


def load_or_compile(ir: str, *, quick: bool = False) -> Engine:
    """Load a module from the disk cache, or compile it as `Engine` does and cache it. Its text has no addresses."""
    return Engine.of(_load_or_compile_object(ir, quick=quick))


def _load_or_compile_object(ir: str, *, quick: bool) -> ObjectCode:
    key = "\n".join((*compiler_fingerprint(quick=quick), ir)).encode()
    found = disk_cache.load(key)
    if found is not None:
        info("llvm", "a shared function of %d kB was found on disk", len(ir) // 1000)
        return ObjectCode.from_bytes(found)
    info(
        "llvm",
        "a shared function of %d kB is not on disk: it is compiled, and saved if possible",
        len(ir) // 1000,
    )
    code = object_code(ir, quick=quick)
    disk_cache.save(key, code.to_bytes())
    return code
