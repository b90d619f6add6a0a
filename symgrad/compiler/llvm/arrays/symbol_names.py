"""What the code of array programs is called by and what it answers: all that who runs it must know of who writes it."""

from __future__ import annotations

__all__ = ["NEGATIVE", "RUN", "SCRATCH", "STOPPED", "TOO_LARGE"]

RUN = "arrays.run"
"""The function that computes: `code_of_arrays.py`."""

SCRATCH = "arrays.scratch"
"""The function that is asked before a call: `scratch.py`."""

TOO_LARGE, NEGATIVE = -1, -2
"""What that gives instead of a number of bytes: an array would be too large, or an axis negative."""

STOPPED = "array.stopped"
"""The function of the driver that tells long loops whether to end: `asking.py`."""
