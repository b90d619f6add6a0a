"""What is found in a program that may not be what its author meant: one record for every check."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from symgrad.support.source import Place
from symgrad.verification.verdict import Verdict

__all__ = ["Finding", "Severity"]

Severity: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found.

    Args:
        code: of the check, such as ``SG101``; a finding is ignored by it.
        name: of the check in words, such as ``redundant-stop``.
        severity: ``"error"`` for a gradient that is not what was asked for, ``"warning"`` for one that may not be,
            ``"note"`` for what changes nothing.
        message: what is wrong, in one sentence in the names of the program.
        reason: why, from the graph: the path, or the set of points.
        equation: the expression it is about, as text.
        places: the lines that compute it, of a program that was read from code.
        repaired: the whole program as it should be, where there is a repair; a node, and an Expr for users.
        cure: the repair in words or as a line to write; None where none is known.
        verdict: that the repair is equal in value and in what else is said of it; None where nothing is repaired.
        replacement: what to write instead of what is at the first of ``places``; None where that is not all.
    """

    code: str
    name: str
    severity: Severity
    message: str
    reason: str
    equation: str | None = None
    places: tuple[Place, ...] = ()
    repaired: Any = field(default=None, repr=False)
    cure: str | None = None
    verdict: Verdict | None = field(default=None, repr=False)
    replacement: str | None = None

    def json(self) -> dict[str, Any]:
        """Return it as plain values, keyed by attribute names; ``repaired`` is text."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "reason": self.reason,
            "equation": self.equation,
            "places": [asdict(p) for p in self.places],
            "repaired": None if self.repaired is None else str(self.repaired),
            "cure": self.cure,
            "verdict": None if self.verdict is None else self.verdict.to_json(),
            "replacement": self.replacement,
        }

    def __str__(self) -> str:
        where = f"{self.places[0]}: " if self.places else ""
        lines = [f"{where}{self.code} {self.message}", f"  {self.reason}"]
        if self.cure is not None:
            lines.append(f"  instead: {self.cure}")
        return "\n".join(lines)
