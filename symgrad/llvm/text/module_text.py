"""Text that modules of all kinds have: attributes of functions, and the fields of records in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

__all__ = ["ATTRIBUTES", "filled", "load_fields", "store_fields"]

# Functions in which many values wait in memory align their frame (#3): else LLVM leaves it where the caller's happens
# to be, at a multiple of 16 bytes, and in three processes of four every vector that waits lies across two cache lines.
# A loop over thousands of equations then takes a third longer.
ATTRIBUTES = """\
attributes #0 = { nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { noinline nounwind optnone }
attributes #3 = { nounwind "stackrealign" }
"""


def filled(text: str, parts: Mapping[str, object]) -> str:
    """Put parts where a text has their names in braces; one part may have the name of a later one."""
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", str(part))
    return text


def load_fields(table: str, fields: Sequence[tuple[str, str]], names: Collection[str] = ()) -> str:
    """The text that loads fields of eight bytes each, by their names.

    Args:
        table: where they are, at any address.
        fields: names and types, in order.
        names: which of them; by default all.
    """
    return "\n".join(
        f"  %{name}.field = getelementptr i64, ptr {table}, i64 {i}\n"
        f"  %{name} = load {kind}, ptr %{name}.field, align 1"
        for i, (name, kind) in enumerate(fields)
        if not names or name in names
    )


def store_fields(table: str, fields: Sequence[tuple[str, str]]) -> str:
    """The text that stores values into fields of their names, of eight bytes each."""
    return "\n".join(
        f"  %{name}.in = getelementptr i64, ptr {table}, i64 {i}\n  store {kind} %{name}, ptr %{name}.in"
        for i, (name, kind) in enumerate(fields)
    )
