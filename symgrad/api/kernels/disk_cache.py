"""Cache compiled kernels on disk: another process loads them without derivation, lowering and LLVM.

The key is a digest of all that a kernel follows from: the formulas as `compile` is given them, with what they are
derivatives of, the inputs with their declarations, the options that change code, the processor, and the versions of
what compiles. What is under it is machine code, written by this user (`symgrad/compiler/llvm/engine/disk_cache.py`).

The first process that compiles an elementwise formula leaves a mark. The second finds it and compiles better code at
once, which it keeps: what is compiled twice will be compiled again. An array program has no other code, and the first
process keeps it. Whatever is wrong with the disk costs time, and nothing else.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
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

__all__ = ["VARIABLE", "CachedKernel", "cache_usage"]

VARIABLE = "SYMGRAD_CACHE_KERNELS"
"""The environment variable that is 0 where kernels are not kept, although what they share is."""

KernelT = TypeVar("KernelT")

_FORMAT = b"symgrad kernel 3\n"
_MARK = b"once"
_TOO_LARGE = b"large"

_ELEMENTWISE, _OF_ARRAYS = "kernels of formulas", "kernels of array programs"
_SHARED, _MARKS = "functions that kernels share", "formulas that were compiled once"

_PACKAGES = ("api/kernels", "autodiff", "compiler", "ir", "ops", "rewrite")
"""Packages that decide the code of a kernel, once there are formulas."""

_marked: set[bytes] = set()
"""Keys of what this process compiled first itself."""


class CachedKernel:
    """The place of a kernel on disk.

    Args:
        outputs: what is asked for, as it was given.
        inputs: the symbols, in order.
        options: what else the code depends on.
    """

    def __init__(self, outputs: Sequence[Output], inputs: Sequence[Node], *options: object) -> None:
        self._key = _FORMAT + _key_of(outputs, inputs, options)
        self._found = store.load(self._key)

    @classmethod
    def of(cls, outputs: Sequence[Output], inputs: Sequence[Node], *options: object) -> CachedKernel | None:
        """Return the cache entry of a kernel, or None where nothing is cached.

        Args:
            outputs: what is asked for, as it was given.
            inputs: the symbols, in order.
            options: what else the code depends on.
        """
        if os.environ.get(VARIABLE) == "0" or os.environ.get(store.ENVIRONMENT_VARIABLE) == "":
            return None
        if any(node.op is not SYMBOL for node in inputs):  # which is refused
            return None
        if any_registered([*_nodes_of(outputs), *inputs]):
            return None
        try:
            return cls(outputs, inputs, *options)
        except OSError:  # the package lies in an archive, whose files have no times
            return None

    @property
    def again(self) -> bool:
        """Whether another process has compiled it before, so that better code is worth its time."""
        return self._found == _MARK and self._key not in _marked

    def load(self, make: Callable[[bytes], KernelT]) -> KernelT | None:
        """Rebuild the kernel from its cache entry; None if there is none, or it does not fit this machine.

        Args:
            make: makes it.
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
        """Note that the kernel is compiled."""
        if self._found is None:
            _marked.add(self._key)
            store.save(self._key, _MARK)

    def keep(self, code: bytes) -> None:
        """Keep its better code for other processes."""
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


def _nodes_of(outputs: Sequence[Output]) -> list[Node]:
    """Return all nodes that decide the form of the outputs."""
    found: dict[Node, None] = {}
    for output in outputs:
        found.update(dict.fromkeys((output.node, *output.origins)))
        for trace in output.traces:
            found.update(
                dict.fromkeys((*(n for pair in trace.outputs for n in pair), *trace.wrt, *trace.gradients))
            )
        if output.slope is not None:
            found.update(dict.fromkeys((output.slope.y, *output.slope.by)))
    return list(found)


def _key_of(outputs: Sequence[Output], inputs: Sequence[Node], options: Sequence[object]) -> bytes:
    """Return a text that no two kernels of different code have: digests of fixed length, lengths, and plain words."""
    made = blake2b(digest_size=32)

    def add(*nodes: Node) -> None:
        made.update(b"%d:" % len(nodes) + b"".join(map(digest, nodes)))

    for output in outputs:
        add(output.node)
        add(*output.origins)
        for trace in output.traces:
            made.update(b"trace")
            add(*(n for pair in trace.outputs for n in pair))
            add(*trace.wrt)
            add(*trace.gradients)
        if output.slope is not None:
            made.update(b"slope")
            add(output.slope.y, *output.slope.by)
        made.update(b"next")
    add(*inputs)
    declared = [(d.name, d.domain, d.shape, d.symmetric) for d in (node.declaration for node in inputs)]
    made.update(repr((declared, options, compiler_fingerprint(), _versions())).encode())
    return made.digest()


@cache
def _versions() -> tuple[object, ...]:
    """Everything of this installation that decides code, beside LLVM: NumPy, SciPy and C compute constants."""
    libc = (
        os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ()) else ""
    )
    return __version__, _sources(), np.__version__, _scipy(), libc, sys.platform


def _scipy() -> tuple[int, int] | None:
    """Identify the installed SciPy without importing it."""
    # Installing writes version.py. To look into each directory takes a tenth of asking importlib, which follows.
    for place in sys.path:
        with suppress(OSError, ValueError):
            return _state(f"{place or os.curdir}/scipy/version.py")
    found = PathFinder.find_spec("scipy")
    if found is None or found.origin is None:
        return None
    return _state(str(Path(found.origin).with_name("version.py")))


def _state(path: str) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116  (a Path takes ten times as long as the system)
    return found.st_mtime_ns, found.st_size


def _sources() -> tuple[object, ...]:
    """Identify the state of symgrad's own sources.

    Installing writes every file; who works on symgrad changes some, so of a checkout each counts.
    """
    above, name, *_ = __file__.rsplit(os.sep, 4)
    package = f"{above}{os.sep}{name}"
    found = _state(f"{package}{os.sep}__init__.py")
    if not os.path.exists(f"{above}{os.sep}pyproject.toml"):  # noqa: PTH110  (as in `_state`)
        return found
    states: list[str] = []
    open_ = [f"{package}{os.sep}{name}" for name in _PACKAGES]
    while open_:
        with os.scandir(open_.pop()) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    state = entry.stat()
                    states.append(f"{entry.path} {state.st_mtime_ns} {state.st_size}")
                elif "." not in name and name != "__pycache__":
                    open_.append(entry.path)
    return (blake2b("\n".join(sorted(states)).encode()).hexdigest(),)
