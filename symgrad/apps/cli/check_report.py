"""Report the result of the checker as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symgrad.checker.file.statement import value_text
from symgrad.checker.program.names import terminal_text

if TYPE_CHECKING:
    from symgrad.checker.check import CheckResult, Difference

_DEFINITIONS = 60  # printed definitions
_LONG = 200  # characters of a printed value


def checked_lines(found: CheckResult, *, whole: bool = False) -> Iterator[str]:
    """Yield the verdict, the statement, the witness of a refutation, and the exceptions.

    Args:
        found: the result of the checker.
        whole: whether all definitions of a long statement are printed.
    """
    yield f"{found.status}: {found.why}"
    for part in found.parts:
        yield from (f"  {line}" for line in checked_lines(part, whole=whole))
    if found.statement is not None:
        s = found.statement
        left_out = 0 if whole else max(0, len(s.definitions) - _DEFINITIONS)
        yield from (
            f"  {line}" for line in (*s.declarations, *s.definitions[: len(s.definitions) - left_out])
        )
        if left_out:
            yield f"  ... ({left_out} more definitions, which --all shows)"
        yield f"  {s.claim}"
    if found.difference is not None:
        yield f"  {_difference(found.difference)}"
    if found.excluded:
        yield "  not claimed where " + "; ".join(map(terminal_text, found.excluded))


def _difference(d: Difference) -> str:
    where = ", ".join(
        f"{terminal_text(name)} = {terminal_text(value_text(v), _LONG)}" for name, v in d.point.items()
    )
    entry = f" (entry {list(d.index)})" if d.index else ""
    return f"at {where or 'the only point'}{entry}: {d.values[0]} against {d.values[1]}"
