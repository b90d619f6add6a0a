"""llvmlite, in one thread at a time: the only module that imports it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar, cast

import llvmlite
import llvmlite.binding as _llvm

__all__ = [
    "release_on_interrupt",
    "interruptible",
    "llvm",
    "lock",
    "locked_cache",
    "synchronized",
    "versions",
]

# llvmlite has no type information: everything untyped goes through this one name and stays in this folder.
llvm = cast(Any, _llvm)

lock = threading.RLock()
"""Held by whoever does anything in LLVM."""


@contextlib.contextmanager
def release_on_interrupt() -> Generator[None]:
    """Give llvmlite's own lock back: if Ctrl-C comes just as it is taken, it stays taken, and LLVM to this thread."""
    theirs: Any = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)
    repair = hasattr(theirs, "_is_owned") and not theirs._is_owned()
    try:
        yield
    finally:
        while repair and theirs._is_owned():
            theirs.release()


_fork_locks = contextlib.ExitStack()  # what is held during a fork


def _before_fork() -> None:
    # A child has one thread: what another one was doing in LLVM, and the locks that it held, would stay so for ever.
    _fork_locks.enter_context(lock)
    # Engines are disposed of under llvmlite's own lock alone.
    _fork_locks.enter_context(getattr(llvm.ffi.lib, "_lock", contextlib.nullcontext()))


def _after_fork() -> None:
    _fork_locks.pop_all().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

P = ParamSpec("P")
T = TypeVar("T")

_POLL_SECONDS = (
    0.1  # between looks whether Ctrl-C came, where the operating system does not wake a thread that waits
)


def interruptible(work: Callable[[], T]) -> T:
    """Do what takes LLVM long in a thread of its own, so that the main thread answers Ctrl-C meanwhile.

    Nothing can stop LLVM: after Ctrl-C its thread goes on with the lock held, drops what it made, and whoever compiles
    next waits for that.
    """
    # Python handles Ctrl-C in the main thread alone; and another thread would wait for a lock that this one holds.
    held: Any = lock
    if threading.current_thread() is not threading.main_thread() or held._is_owned():
        return work()
    found: list[T] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
            failed.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="symgrad LLVM", daemon=True).start()
    while not done.wait(_POLL_SECONDS):
        pass
    if failed:
        raise failed.pop()
    return found.pop()


def synchronized(make: Callable[P, T]) -> Callable[P, T]:
    """Let one thread at a time in, which may come in again: the lock is the one that compilation has."""

    @wraps(make)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with lock:
            return make(*args, **kwargs)

    return call


def locked_cache(make: Callable[P, T]) -> Callable[P, T]:
    """Cache what a function makes, for the life of the process and over all threads.

    `functools.cache` alone may call it in two threads at once and let go of one result: of an engine, that is code
    which someone else has the address of.
    """
    return synchronized(cast("Callable[P, T]", cache(make)))


def versions() -> tuple[str, str]:
    """Return the versions of LLVM and of llvmlite."""
    return ".".join(map(str, llvm.llvm_version_info)), str(llvmlite.__version__)
