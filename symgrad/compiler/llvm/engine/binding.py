"""Access to llvmlite, one thread at a time: the only module that imports it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar, cast

import llvmlite
import llvmlite.binding as _llvm

# llvmlite has no type information: all untyped values come from this one name and stay in this package.
llvm = cast(Any, _llvm)

lock = threading.RLock()
"""Every use of LLVM holds this lock."""


@contextlib.contextmanager
def release_on_interrupt() -> Generator[None]:
    """Release llvmlite's own lock after the block: Ctrl-C while the lock is acquired would leave it locked for ever."""
    theirs: Any = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)
    repair = hasattr(theirs, "_is_owned") and not theirs._is_owned()
    try:
        yield
    finally:
        while repair and theirs._is_owned():
            theirs.release()


_fork_locks = contextlib.ExitStack()  # the locks that are held during a fork


def _before_fork() -> None:
    # A forked child has only one thread: a lock held by another thread would stay locked for ever, and work of that
    # thread unfinished.
    _fork_locks.enter_context(lock)
    # Engines are disposed of under llvmlite's own lock alone.
    _fork_locks.enter_context(getattr(llvm.ffi.lib, "_lock", contextlib.nullcontext()))


def _after_fork() -> None:
    _fork_locks.pop_all().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

P = ParamSpec("P")
T = TypeVar("T")

_POLL_SECONDS = 0.1  # how often to check for Ctrl-C, if the operating system does not wake a waiting thread


def interruptible(work: Callable[[], T]) -> T:
    """Run long work of LLVM in a separate thread, so that the main thread can answer Ctrl-C.

    Nothing can stop LLVM: after Ctrl-C its thread keeps the lock until it has finished, and its result is dropped. The
    next compilation waits until then.
    """
    # Python handles Ctrl-C in the main thread only. If this thread holds the lock, a new thread would wait for it.
    held: Any = lock
    if threading.current_thread() is not threading.main_thread() or held._is_owned():
        return work()
    found: list[T] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  (raised again in the waiting thread)
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
    """Let only one thread at a time call a function; the lock is the reentrant lock of compilation."""

    @wraps(make)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with lock:
            return make(*args, **kwargs)

    return call


def locked_cache(make: Callable[P, T]) -> Callable[P, T]:
    """Cache the results of a function for the life of the process, computed once over all threads.

    `functools.cache` may call the function in two threads at once, and drop one of the results. If the dropped result
    is an engine, a caller may hold an address in its freed code.
    """
    return synchronized(cast("Callable[P, T]", cache(make)))


def versions() -> tuple[str, str]:
    """Return the versions of LLVM and of llvmlite."""
    return ".".join(map(str, llvm.llvm_version_info)), str(llvmlite.__version__)
