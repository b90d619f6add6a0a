"""The classes that answers are of: for annotations and `isinstance`. Functions make them, none is called by its name.

A class is imported when it is first asked for; `results.pyi` has a line for each.

- Derivatives: `Derivatives`, `RowGradient`, `Implicit`.
- Values and gradients apart: `Effective`, `Placement`.
- Reasons and noise: `Derivation`, `Audit`, `Comparison`, `Findings`, `DomainCheck`.
- Checks of derivations and code: `Review`, `CodeVerdict`; that of a claim is `sg.Verdict`.
- What was read: `LatexReading`, `ImportedProgram`.
- Kernels: `OverData`, `LoadedKernel`, `LoadedArrayKernel`, `CudaKernel`; one that was compiled is a `sg.Kernel`.
- Where a search ended: `Minimum`, `Training`.
- What every answer says and shows: `Report`, `Graph`.

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
