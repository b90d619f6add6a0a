"""Cache compiled kernels on disk, so that another process loads them without derivation, lowering and LLVM.

The key is a digest of everything that determines a kernel: the arguments of `compile`, the differentiated functions,
the declarations of the inputs, the options that change code, the processor, and the versions of the compilers. The
value is machine code, written by this user (`symgrad/compiler/llvm/engine/disk_cache.py`).

The first process that compiles an elementwise formula leaves a mark. The second finds the mark, compiles optimised code
and caches it. An array program has one kind of code, which the first process caches. Errors of the disk cost only time.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TypeVar

import numpy as np

from symgrad import __version__
from symgrad.compiler.forms.output import Output
from symgrad.compiler.llvm.engine import disk_cache as store
from symgrad.compiler.llvm.engine.jit import compiler_fingerprint
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import digest
from symgrad.ops.user_ops import any_registered
from symgrad.support.errors import InternalError, KernelError
from symgrad.support.logs import info

VARIABLE = "SYMGRAD_CACHE_KERNELS"
"""The environment variable that disables this cache if its value is 0; functions that kernels share are still
cached."""

KernelT = TypeVar("KernelT")

_FORMAT = b"symgrad kernel 3\n"
_MARK = b"once"
_TOO_LARGE = b"large"

_ELEMENTWISE, _OF_ARRAYS = "kernels of formulas", "kernels of array programs"
_SHARED, _MARKS = "functions that kernels share", "formulas that were compiled once"

_PACKAGES = ("api/kernels", "autodiff", "compiler", "ir", "ops", "rewrite")
"""Packages whose source determines the code of a kernel."""

_marked: set[bytes] = set()
"""Keys that this process marked itself."""


class CachedKernel:
    """The cache entry of a kernel.

    Args:
        outputs: the arguments of `compile`.
        inputs: the symbols, in order.
        options: further values that determine the code.
    """

    def __init__(self, outputs: Sequence[Output], inputs: Sequence[Node], *options: object) -> None:
        self._key = _FORMAT + _key_of(outputs, inputs, options)
        self._found = store.load(self._key)

    @classmethod
    def of(cls, outputs: Sequence[Output], inputs: Sequence[Node], *options: object) -> CachedKernel | None:
        """Return the cache entry of a kernel; None if it cannot be cached. The arguments are those of the class."""
        if os.environ.get(VARIABLE) == "0" or os.environ.get(store.ENVIRONMENT_VARIABLE) == "":
            return None
        if any(node.op is not SYMBOL for node in inputs):  # `compile` raises an error for them
            return None
        if any_registered([*(n for o in outputs for _, nodes in _node_groups(o) for n in nodes), *inputs]):
            return None
        try:
            return cls(outputs, inputs, *options)
        except OSError:  # files in an archive have no times of change
            return None

    @property
    def again(self) -> bool:
        """Whether another process has compiled the kernel before; if so, optimised code is worth its compile time."""
        return self._found == _MARK and self._key not in _marked

    def load(self, make: Callable[[bytes], KernelT]) -> KernelT | None:
        """Rebuild the kernel from its cache entry; return None if there is no entry, or if it is for another machine.

        Args:
            make: a function that builds a kernel from the cached code.
        """
        if self._found in (None, _MARK, _TOO_LARGE):
            return None
        try:
            kernel = make(self._found or b"")
        except (ValueError, KernelError, InternalError, RuntimeError) as error:  # the last is LLVM's
            info("kernel", "what is kept is of no use here, and compiled again: %s", error)
            return None
        info("kernel", "the kernel was found on disk")
        return kernel

    def begin(self) -> None:
        """Mark the kernel as compiled once."""
        if self._found is None:
            _marked.add(self._key)
            store.save(self._key, _MARK)

    def keep(self, code: bytes) -> None:
        """Cache the optimised code of the kernel for other processes."""
        store.save(self._key, code if store.fits(code) else _TOO_LARGE)


def cache_usage() -> tuple[int, dict[str, int]]:
    """Return the size of the cache in bytes, and the number of files of each kind."""
    kinds: dict[str, int] = dict.fromkeys((_ELEMENTWISE, _OF_ARRAYS, _SHARED, _MARKS), 0)
    size = 0
    for start, length in store.list_entries():
        if start in (_MARK, _TOO_LARGE):
            kind = _MARKS
        elif start.startswith(b"arrays\n"):
            kind = _OF_ARRAYS
        else:
            kind = _ELEMENTWISE if re.match(rb"[\d.e+-]+ \d+\n[b-]+\n", start) else _SHARED
        kinds[kind] += 1
        size += length
    return size, kinds


def _node_groups(output: Output) -> Iterator[tuple[bytes, Sequence[Node]]]:
    """Yield the nodes that determine the form of an output, in groups with labels."""
    yield b"output", (output.node,)
    yield b"origins", output.origins
    for trace in output.traces:
        yield b"trace", [n for pair in trace.outputs for n in pair]
        yield b"wrt", trace.wrt
        yield b"gradients", trace.gradients
    if output.slope is not None:
        yield b"slope", (output.slope.y, *output.slope.by)
    if output.parts:
        yield b"parts", [part.node for part in output.parts]
        for part in output.parts:
            yield from _node_groups(part)


def _key_of(outputs: Sequence[Output], inputs: Sequence[Node], options: Sequence[object]) -> bytes:
    """Return a digest of everything that determines the code, in an injective encoding (labels, lengths, digests)."""
    key = blake2b(digest_size=32)
    for label, nodes in [*(g for o in outputs for g in _node_groups(o)), (b"inputs", inputs)]:
        key.update(b"%b%d:" % (label, len(nodes)) + b"".join(map(digest, nodes)))
    declared = [(d.name, d.domain, d.shape, d.symmetric) for d in (node.declaration for node in inputs)]
    key.update(repr((declared, options, compiler_fingerprint(), _versions())).encode())
    return key.digest()


@cache
def _versions() -> tuple[object, ...]:
    """Identify this installation without LLVM: symgrad's sources, and NumPy, SciPy and libc, which fold constants."""
    libc = (
        os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ()) else ""
    )
    return __version__, _sources(), np.__version__, _scipy(), libc, sys.platform


def _scipy() -> tuple[int, int] | None:
    """Identify the installed SciPy without importing it."""
    # An installer writes version.py. Searching each directory for it takes a tenth of the time of importlib, which is
    # the fallback.
    for folder in sys.path:
        with suppress(OSError, ValueError):
            return _state(f"{folder or os.curdir}/scipy/version.py")
    spec = PathFinder.find_spec("scipy")
    if spec is None or spec.origin is None:
        return None
    return _state(str(Path(spec.origin).with_name("version.py")))


def _state(path: str) -> tuple[int, int]:
    state = os.stat(path)  # noqa: PTH116  (a Path takes ten times as long as the system)
    return state.st_mtime_ns, state.st_size


def _sources() -> tuple[object, ...]:
    """Identify symgrad's own sources.

    An installer writes all files at once, so one file represents them. In a checkout, each file counts.
    """
    above, name, *_ = __file__.rsplit(os.sep, 4)
    package = f"{above}{os.sep}{name}"
    if not os.path.exists(f"{above}{os.sep}pyproject.toml"):  # noqa: PTH110  (as in `_state`)
        return _state(f"{package}{os.sep}__init__.py")
    states: list[str] = []
    for name in _PACKAGES:
        for folder, folders, files in os.walk(f"{package}{os.sep}{name}"):
            folders[:] = [f for f in folders if f != "__pycache__"]
            paths = (f"{folder}{os.sep}{file}" for file in files if file.endswith(".py"))
            states += [f"{path} {_state(path)}" for path in paths]
    return (blake2b("\n".join(sorted(states)).encode()).hexdigest(),)
