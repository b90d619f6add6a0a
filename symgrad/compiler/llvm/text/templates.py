"""Fixed parts of modules: text with places for what differs, and the fields of records in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from string import Template

from symgrad.support.errors import InternalError

__all__ = ["fill_template", "load_fields", "store_fields"]


class _Template(Template):
    """A text with places ``${name}``; a name may have dots, as LLVM's do, and a dollar alone is an error."""

    idpattern = "(?!)"
    braceidpattern = r"[A-Za-z][\w.]*"


def fill_template(text: str, parts: Mapping[str, object]) -> str:
    """Fill every place ``${name}`` of a text.

    Args:
        text: a fixed part of a module.
        parts: what belongs there, by all names that the text has and no other.

    Raises:
        InternalError: if a name is missing, or the text has no place for one.

    Example:
        >>> fill_template("ret ${type} %${name}", {"type": "i64", "name": "n"})
        'ret i64 %n'
    """
    template = _Template(text)
    wrong = ", ".join(sorted({*template.get_identifiers()} ^ {*parts}))
    if wrong:
        raise InternalError(f"the placeholders of a template and their values differ in {wrong}")
    return template.substitute(parts)


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
