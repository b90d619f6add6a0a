"""Templates: the fixed text of functions with placeholders, and code for the fields of records in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from string import Template

from symgrad.support.errors import InternalError


class _Template(Template):
    """A text with placeholders ``${name}``; a name may have dots, like LLVM's names, and a bare dollar is an error."""

    idpattern = "(?!)"
    braceidpattern = r"[A-Za-z][\w.]*"


def fill_template(text: str, parts: Mapping[str, object]) -> str:
    """Replace every placeholder ``${name}`` of a text.

    Args:
        text: the template.
        parts: the values of all placeholders in the text, by name; other names are an error.

    Raises:
        InternalError: if a placeholder has no value, or a value no placeholder.

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
    """Return the lines that load fields of eight bytes each into values with the names of the fields.

    Args:
        table: the address of the record, with any alignment.
        fields: names and types, in the order of the record.
        names: the fields to load; by default all.
    """
    return "\n".join(
        f"  %{name}.field = getelementptr i64, ptr {table}, i64 {i}\n"
        f"  %{name} = load {kind}, ptr %{name}.field, align 1"
        for i, (name, kind) in enumerate(fields)
        if not names or name in names
    )


def store_fields(table: str, fields: Sequence[tuple[str, str]]) -> str:
    """Return the lines that store values into the fields with their names, which have eight bytes each."""
    return "\n".join(
        f"  %{name}.in = getelementptr i64, ptr {table}, i64 {i}\n  store {kind} %{name}, ptr %{name}.in"
        for i, (name, kind) in enumerate(fields)
    )
