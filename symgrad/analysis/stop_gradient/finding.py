"""The record of a fault that a check found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeAlias

from symgrad.support.source import Place
from symgrad.verification.verdict import Verdict

Severity: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault in a program, found by a check.

    Args:
        code: the code of the check, such as ``SG101``; comments that ignore findings name it.
        name: the name of the check, such as ``redundant-stop``.
        severity: ``"error"`` for a gradient that is not the intended one, ``"warning"`` for one that may not be,
            ``"note"`` for a remark on an unchanged gradient.
        message: the fault, in one sentence with the names of the program.
        reason: the cause of the fault in the graph: the path, or the set of points.
        equation: the expression at fault, as text.
        places: the lines that compute the equation, if the program was read from code.
        repaired: the whole program after the repair, or None; internally a node, for users an Expr.
        cure: the repair, in words or as a line of code; None if there is none.
        verdict: a verdict on the repair: whether values are equal, and the other facts as text; None without a repair.
        replacement: the new text for the first of ``places``; None if the repair must change more.
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
        """Return the finding as plain values, with attribute names as keys; ``repaired`` is text."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {
            "places": [asdict(p) for p in self.places],
            "repaired": None if self.repaired is None else str(self.repaired),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }

    def __str__(self) -> str:
        where = f"{self.places[0]}: " if self.places else ""
        lines = [f"{where}{self.code} {self.message}", f"  {self.reason}"]
        if self.cure is not None:
            lines.append(f"  instead: {self.cure}")
        return "\n".join(lines)
