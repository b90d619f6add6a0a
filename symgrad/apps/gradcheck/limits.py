"""Limits of the check of gradient code, and its tolerances."""

from __future__ import annotations

DIGITS = 60
"""Decimal digits of the reference derivative."""

MOST_ENTRIES = 50_000
"""Entries of all arrays at a point: in 60 digits each operation takes about a second for them."""

MOST_POINTS = 60
"""Points at which code is called, once or twice; the first ones are generic."""

MOST_PATHS = 128
"""Execution paths of code that branches on entries and labels."""

MAGNITUDES = tuple(10.0**k for k in (-2, -4, -6, -8, -10, 2, 4, -12, 6))
"""Factors of one input at a time: terms cancel at small and large inputs."""

POINTS_OF_DIFFERENCES = 12
"""Points of finite differences, which take many calls for each entry."""

REPEATED_CALLS = 3
"""Points at which code is called twice, to see whether it is deterministic."""

SLACK = 256.0
"""The error of a right computation, in multiples of one rounding."""

STEADY = 0.02
"""The relative variation of an error between neighbours up to which it is a mistake; rounding errors vary more."""

MOST_UNROLLED = 400
"""Entries of the arguments of code that is traced entry by entry, each a formula."""
