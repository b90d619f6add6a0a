"""Exercises of `symgrad explain`: hide the last line of a derivation, check an answer, or find the next line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symgrad.apps.cli.files import read_text
from symgrad.apps.cli.options import EXIT
from symgrad.support.errors import UsageError

if TYPE_CHECKING:
    from symgrad.api.explaining.explain import Derivation


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise about a derivation.

    Args:
        form: ``text`` or ``json``.
        answer: a formula for the last line; None to hide the line, or for the next line.
        lines: the lines before the requested next line; None for the last line.
    """

    form: str
    answer: str | None
    lines: str | None

    @classmethod
    def from_options(
        cls,
        source: str,
        form: str,
        so_far: str | None,
        answer: str | None,
        *,
        hide_last: bool,
        next_step: bool,
    ) -> Exercise | None:
        """Return the exercise that the options request; None if they request the derivation itself.

        Raises:
            UsageError: for contradictory options.
        """
        if so_far is not None and not next_step:
            raise UsageError("--so-far are the lines that a next one follows", cure="add --next-step")
        if next_step and (hide_last or answer is not None):
            raise UsageError("--next-step and the last line are two exercises", cure="ask for one of them")
        if not (hide_last or next_step or answer is not None):
            return None
        if form not in ("text", "json"):
            raise UsageError(f"an exercise is no {form}", expected="--format text or json")
        if source == "-" and so_far == "-":
            raise UsageError("the program and the lines cannot both come from standard input")
        written = "" if so_far is None else read_text(so_far)[0]
        return cls(form, answer, written if next_step else None)

    def report(self, derivation: Derivation) -> tuple[str, int]:
        """Return the printed text, and the exit code; that of a wrong line or answer is the code of ``refuted``."""
        if self.lines is not None:
            step = derivation.next_step(self.lines)
            return self._shown(str(step), step.to_json()), 5 if step.wrong is not None else 0
        if self.answer is not None:
            verdict = derivation.check_answer(self.answer)
            return self._shown(str(verdict), verdict.to_json()), EXIT[verdict.status]
        hidden = derivation.hide_last()
        return self._shown(hidden, {"derivation": hidden}), 0

    def _shown(self, text: str, plain: object) -> str:
        return json.dumps(plain, indent=2, ensure_ascii=False) if self.form == "json" else text
