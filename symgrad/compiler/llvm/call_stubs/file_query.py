"""The C function by which an object file describes itself to its loader: ``int64_t name_about(int64_t what)``."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.llvm.text.module import Function

ARGUMENT_QUERY = 2
"""The query that a header makes: the answer is a hash of the declarations, which differs for another header."""


def about_function(name: str, addresses: Sequence[str], arguments: int) -> Function:
    """Return the code of the function.

    Args:
        name: the C name of the function.
        addresses: the symbols whose addresses it returns for the queries 0, 1, for a loader in Python.
        arguments: the answer to `ARGUMENT_QUERY`. Any other query returns -1.
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
