"""Where the package makes cures: the calls in its source that have one, and which of them made an error."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import symgrad
from symgrad.errors import SymgradError

__all__ = ["Site", "sites", "watched"]

Site = tuple[str, str]
"""A module, and the source of what it gives as a cure."""

_WHOLE = 3
"""The least number of positional arguments of a call of the readers' `refuse` that has a cure, as its last one."""

ROOT = Path(symgrad.__file__).parent


def _is_refusal(call: ast.Call) -> bool:
    return ast.unparse(call.func) in ("refuse", "self.refuse")


@cache
def _in_file(path: str) -> tuple[tuple[int, int, Site], ...]:
    """Return the first and the last line of every call with a cure in a file, and its site."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    name = Path(path).relative_to(ROOT).as_posix()
    found: list[tuple[int, int, Site]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        cures = [keyword.value for keyword in node.keywords if keyword.arg == "cure"]
        if name.startswith("frontend/") and len(node.args) >= _WHOLE and _is_refusal(node):
            cures.append(node.args[-1])
        for cure in cures:
            # Which quotes a nested string gets depends on the version of Python.
            said = re.sub(r"""["']+""", "'", ast.unparse(cure))
            if said not in ("None", "cure"):
                found.append((node.lineno, node.end_lineno or node.lineno, (name, said)))
    return tuple(found)


def sites() -> set[Site]:
    """Return all sites of the package."""
    return {site for path in ROOT.rglob("*.py") for _, _, site in _in_file(str(path))}


def _site_here() -> Site | None:
    """Return the innermost call with a cure that is being run."""
    frame = inspect.currentframe()
    while frame is not None:
        path, line = frame.f_code.co_filename, frame.f_lineno
        if path.startswith(str(ROOT)):
            within = [(b - a, site) for a, b, site in _in_file(path) if a <= line <= b]
            if within:
                return min(within)[1]
        frame = frame.f_back
    return None


@contextmanager
def watched() -> Generator[dict[int, Site]]:
    """Note by the identity of each error that is made in a block which site made it.

    An error that is put at a place, or raised again with another text, keeps the first site of its cure.
    """
    found: dict[int, Site] = {}
    kept: list[SymgradError] = []  # while they live nothing else has their identity
    before = SymgradError.__init__

    def init(self: SymgradError, what: str, **parts: Any) -> None:
        before(self, what, **parts)
        if parts.get("cure") is None:
            return
        site = next((found[id(e)] for e in kept if e.cure is self.cure), None) or _site_here()
        if site is not None:
            found[id(self)] = site
            kept.append(self)

    SymgradError.__init__ = init
    try:
        yield found
    finally:
        SymgradError.__init__ = before
