"""Ways in which a kernel may be called, for tests of one of them."""

from __future__ import annotations

import pytest

from symgrad.compiler.kernels.calls.safety import refusal

__all__ = ["needs_fast_calls"]

needs_fast_calls = pytest.mark.skipif(
    refusal() is not None, reason=f"kernels are called as plain ufuncs here: {refusal()}"
)
"""For tests of what is around NumPy's machinery: direct calls, teams of threads, results that are used again."""
