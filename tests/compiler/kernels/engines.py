"""How many pieces of machine code are in memory."""

from __future__ import annotations

import gc

from symgrad.compiler.llvm.engine.jit import Engine


def live_engines() -> int:
    """Count the engines whose code is in memory."""
    return sum(type(found) is Engine for found in gc.get_objects())
