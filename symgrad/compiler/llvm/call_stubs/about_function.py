"""What an object says of itself to who loads it: one more C function, ``int64_t name_about(int64_t what)``."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.llvm.text.module import Function

__all__ = ["ARGUMENT_QUERY", "about_function"]

ARGUMENT_QUERY = 2
"""What a header asks for: a number made of the declarations, which another header has otherwise."""


def about_function(name: str, addresses: Sequence[str], arguments: int) -> Function:
    """Return the code of the function.

    Args:
        name: what C calls it.
        addresses: what of the module it tells the addresses of, for 0, 1: to who loads the object from Python.
        arguments: what it returns for `ARGUMENT_QUERY`; -1 for everything else.
    """
    lines = [f"  %a{k} = ptrtoint ptr @{symbol} to i64" for k, symbol in enumerate(addresses)]
    found = "-1"
    values = [(ARGUMENT_QUERY, str(arguments)), *((k, f"%a{k}") for k in range(len(addresses)))]
    for k, value in values:
        lines += [
            f"  %is{k} = icmp eq i64 %what, {k}",
            f"  %or{k} = select i1 %is{k}, i64 {value}, i64 {found}",
        ]
        found = f"%or{k}"
    lines.append(f"  ret i64 {found}")
    return Function(name, "i64", ["i64 %what"], lines, linkage="external")
