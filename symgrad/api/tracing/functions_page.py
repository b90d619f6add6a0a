"""Write docs/numpy-functions.md: ``python -m symgrad.api.tracing.functions_page > docs/numpy-functions.md``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from scipy import special

from symgrad.api.foreign_names import cure_of_numpy
from symgrad.api.functions.numpy_names import NUMPY
from symgrad.api.handles.operators import has_function
from symgrad.api.tracing.replaced_functions import replacements

_INTRODUCTION = """\
# The functions of NumPy and SciPy

This page lists the functions of NumPy {numpy} and of `scipy.special` in SciPy {scipy}. A function that [is
traced](numpy.md) may apply the functions of the first table to values that depend on its arguments, and all functions
to other numbers. The second table has what to write in place of the others; the error for such a call says the same,
with the line.

`python -m symgrad.api.tracing.functions_page` writes this page from the tables by which expressions implement the
functions.
"""


_METHODS = (".reduce", ".outer", ".accumulate")


def versions() -> tuple[str, str]:
    """Return the versions of NumPy and SciPy, without the last number."""
    import scipy  # for the version alone

    first, second = (".".join(module.__version__.split(".")[:2]) for module in (np, scipy))
    return first, second


def functions_page() -> str:
    """Return the text of docs/numpy-functions.md."""
    numpy, scipy = versions()
    modules = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft, "scipy.special": special}
    own: list[str] = []
    others: dict[str, list[str]] = {}
    for title, module in modules.items():
        has: list[str] = []
        for name, function in _functions(module):
            full = f"{title}.{name}".removeprefix("numpy.").removeprefix("scipy.special.")
            called = f"`{name}`"
            if _has(full, function):
                has.append(called)
            elif _is_covered(function):
                others.setdefault(cure_of_numpy(_called(full, function)), []).append(
                    called if title == "numpy" else f"`{title.removeprefix('numpy.')}.{name}`"
                )
        if has:
            own.append(f"| `{title}` | {', '.join(has)} |")
    rows = [f"| {', '.join(names)} | {cure.replace('|', chr(92) + '|')} |" for cure, names in others.items()]
    return "\n".join(
        [
            _INTRODUCTION.format(numpy=numpy, scipy=scipy),
            "| module | functions that expressions have |",
            "|---|---|",
            *own,
            "",
            "Methods of ufuncs: "
            + ", ".join(f"`{n}`" for n in NUMPY if n.endswith(_METHODS) and "linalg" not in n)
            + ".",
            "",
            "| in place of | write |",
            "|---|---|",
            *sorted(rows),
            "",
        ]
    )


def _functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(module)):
        function: Any = getattr(module, name)
        if not name.startswith("_") and callable(function) and not isinstance(function, type | ModuleType):
            yield name, function


def _called(full: str, function: Any) -> str:
    return str(function.__name__) if isinstance(function, np.ufunc) else full


def _is_covered(function: Any) -> bool:
    """Tell whether NumPy's protocols cover a function."""
    return isinstance(function, np.ufunc) or hasattr(function, "_implementation")


def _has(full: str, function: Any) -> bool:
    if replacements().of(function) is not function:
        return True
    called = _called(full, function)
    count = function.nin if isinstance(function, np.ufunc) else 1
    return _is_covered(function) and (called in NUMPY or has_function(called, count))


if __name__ == "__main__":
    sys.stdout.write(functions_page())
