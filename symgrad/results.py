"""The classes of results, for annotations and `isinstance`.

Functions create the objects; you never call a class yourself.

A class is imported on its first use; `results.pyi` has a line for each class.

- Derivatives: `Derivatives`, `DerivativeList`, `RowGradient`, `Implicit`.
- Values and gradients as separate formulas: `Effective`, `Placement`.
- Reasons and noise: `Derivation`, `Audit`, `Comparison`, `Findings`, `DomainCheck`.
- Checks of derivations and code: `Review`, `CodeVerdict`; the verdict on a claim is `sg.Verdict`.
- Formulas read from other notations: `LatexReading`, `ImportedProgram`.
- Kernels: `OverData`, `LoadedKernel`, `LoadedArrayKernel`, `CudaKernel`; a compiled kernel is a `sg.Kernel`.
- The ends of searches: `Minimum`, `Training`.
- The text and the picture of every result: `Report`, `Graph`.

Example:
    >>> import symgrad as sg
    >>> x = sg.symbols("x")
    >>> found: sg.results.Minimum = sg.minimize(x**2, x, {"x": 1.0})
    >>> isinstance(sg.explain(x**2, x), sg.results.Derivation)
    True
"""

from __future__ import annotations

import sys
from importlib import import_module

from symgrad.support.public_names import names_in

_ROOMS = names_in("results.pyi")

__all__ = [*_ROOMS]  # pyright: ignore[reportUnsupportedDunderAll]  (of the stub)


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        value: object = getattr(import_module(_ROOMS[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
    )


def __dir__() -> list[str]:
    return sorted({*(n for n in globals() if n.startswith("_")), *_ROOMS})
