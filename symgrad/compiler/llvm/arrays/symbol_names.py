"""The symbols and return values of the code of array programs, shared by its writer and its callers."""

from __future__ import annotations

RUN = "arrays.run"
"""The function that computes the outputs: `array_code.py`."""

SCRATCH = "arrays.scratch"
"""The function that computes the size of scratch memory before a call: `scratch.py`."""

TOO_LARGE, NEGATIVE = -1, -2
"""Results of the latter function other than a number of bytes: an array would be too large, or an axis negative."""

STOPPED = "array.stopped"
"""The function of the driver that long loops call to check for Ctrl-C: `interrupt_checks.py`."""
