r"""Symbolic differentiation and graph rewriting: exact gradients, the reason for every term, native kernels.

Example:
    >>> import symgrad as sg
    >>> p = sg.parse("x : real\ny = sin(x**2)")
    >>> print(sg.grad(p["y"], p["x"]).canonical())
    2*x*cos(x**2)
"""

from __future__ import annotations

import builtins
import os
import sys
from importlib import import_module

from symgrad.support.public_names import MODULES as _MODULES
from symgrad.support.public_names import PUBLIC as _PUBLIC
from symgrad.support.public_names import public as _public
from symgrad.support.releases import OldModules as _OldModules

__version__ = "0.2.0"

sys.meta_path.append(_OldModules)

# Nothing of this is imported unless the user wants it: see `symgrad/printing/progress.py` and
# `symgrad/support/logs.py`.
if hasattr(sys, "ps1") or "SYMGRAD_PROGRESS" in os.environ:
    import_module("symgrad.printing.progress").show_usually()
if os.environ.get("SYMGRAD_LOG"):
    import_module("symgrad.support.logs").to_stderr(os.environ["SYMGRAD_LOG"])


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if not name.startswith("_"):  # other names are protocols of Python and of libraries
        try:
            value: object = _public(name)
        except AttributeError:
            said = import_module("symgrad.api.foreign_names").no_function(name)
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}{said}", name=name, obj=sys.modules[__name__]
            ) from None
        globals()[name] = value
        return value
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
    )


def load_ipython_extension(shell: object) -> None:
    """Load the magics for notebooks. IPython calls this function for ``%load_ext symgrad``; see docs/notebook.md."""
    import_module("symgrad.apps.notebook.magic").load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Remove the magics. IPython calls this function for ``%unload_ext symgrad``."""
    import_module("symgrad.apps.notebook.magic").unload(shell)


# The names that `from symgrad import *` imports: all names except those that would hide Python's own functions,
# such as sum and abs.
# Names that belong to a framework are left out, too, so that a star imports no framework.
__all__ = [n for n, room in _PUBLIC.items() if not hasattr(builtins, n) and ".exporters." not in room]  # pyright: ignore[reportUnsupportedDunderAll]  (of the stub)
__all__ += [n for n in _MODULES if n not in __all__]


def __dir__() -> list[str]:
    return sorted({*(n for n in globals() if n.startswith("_")), *_PUBLIC, *_MODULES})
