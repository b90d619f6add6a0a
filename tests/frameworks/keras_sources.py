"""Check generated source on one backend of Keras: ``python -m tests.frameworks.keras_sources torch``.

A backend is chosen when Keras is imported, so that each has a process of its own. Keras computes float64 in float32 in
many functions of its torch and JAX backends: these are compared in float32.
"""

from __future__ import annotations

import os
import sys


def main(backend: str) -> int:
    """Print what is wrong, and return how much."""
    os.environ["KERAS_BACKEND"] = backend
    from tests.frameworks.runners import RUNNERS
    from tests.frameworks.sources import CASES, all_wrong

    single = backend != "tensorflow"
    wrong: list[str] = []
    for kind in CASES:
        if single and kind == "whole programs":  # numbers beyond float32
            continue
        for gradient in (1,) if kind != "random graphs" else (0, 1, 2):
            found = all_wrong(
                "keras", RUNNERS[backend], kind, gradient, single=single, rtol=1e-2 if single else 1e-7
            )
            wrong += found
    print(*wrong, sep="\n\n")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1]), 1))
