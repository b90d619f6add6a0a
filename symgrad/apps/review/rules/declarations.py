r"""Declarations in documents: x : real[n], x \in \mathbb{R}^n, \sigma > 0, X ~ Normal(mu, sigma)."""

from __future__ import annotations

import re

from symgrad.apps.review.formulas.latex_declarations import declared_names
from symgrad.apps.review.formulas.random_inputs import is_program_distribution
from symgrad.apps.review.layout.statements import ChainText, SideText
from symgrad.apps.review.rules.restarts import RestartRules
from symgrad.support.errors import SymgradError, UnknownNameError, placed_error
from symgrad.support.source import Span

_NAME = re.compile(r"[^\W\d_]+")
_SIGNS: dict[str, str] = {
    ">": "positive",
    ">=": "nonnegative",
    "≥": "nonnegative",
    r"\ge": "nonnegative",
    r"\geq": "nonnegative",
    r"\geqslant": "nonnegative",
}


class DocumentDeclarations(RestartRules):
    """The rules of declarations."""

    def _declare(self, statement: ChainText, *, above: bool = False) -> None:
        """Take in a declaration, perhaps above its place, for one that reads its name."""
        sides = statement.sides
        spans = [*(side.span for side in statement.sides), *(r.span for r in statement.relations)]
        start, end = min(s.start for s in spans), max(s.end for s in spans)
        text = self._source.text[start:end]
        # As it is read: what stands between several names may be a word.
        declared = _declaration(statement)
        if self._declares_random(statement, anew=True):
            return
        if statement.passage.notation == "latex":
            names, domain = declared_names(statement.sides[0].text), self._reader.domain(statement.sides[-1])
            if names is None or domain is None:
                message = "this declares nothing that is known here"
                self._add("relation", statement.sides[-1], self._first(statement), message=message)
                return
            declared = f"{', '.join(names)} : {domain}"
        try:
            misread = self.names.declare(declared, self._line(start))
        except UnknownNameError as error:
            later = self._declaring(error)
            if later is None:
                if above or not self._declares_random(statement):
                    self.names.lost.update(dict.fromkeys(_NAME.findall(sides[0].text), self._line(start)))
                    self._unread(Span(start, end), text, placed_error(error, None))
            else:
                self._declare(later, above=True)
                self._declare(statement)
            return
        except SymgradError as error:
            self._unread(Span(start, end), text, placed_error(error, None))
            return
        uses = [self.names.first_read[name] for name in misread]
        if uses and min(uses) < self._number:
            self.late.append((min(uses), self._number))
            self._judge.idle = True

    def _declares_random(self, statement: ChainText, *, anew: bool = False) -> bool:
        r"""Take in X \sim \mathcal{N}(\mu, \sigma^2); tell whether a statement is that.

        Args:
            statement: it.
            anew: whether it is left to the notation of programs if that has this distribution.
        """
        if len(statement.sides) != 2 or statement.relations[0].text not in ("~", r"\sim"):
            return False
        left, right = statement.sides
        names = _names_of_side(left)
        if not names or not all(n.isidentifier() for n in names):
            return False
        if right.notation != "latex" and (
            (anew and is_program_distribution(right))
            or any(n in self.names.lost for n in _NAME.findall(right.text))
        ):
            return False
        try:
            return self._reader.declare_random(names, right)
        except SymgradError as error:
            self._unread(right.span, right.text, error)
            return True

    def _declared_below(self, text: SideText) -> bool:
        """Take in the next declaration below of a name in a text; tell whether there is one."""
        written = {*_NAME.findall(text.text), *text.text.split()}
        for k, statement in enumerate(self._later):
            if written & set(declared_names(statement.sides[0].text) or ()):
                self._declare(self._later.pop(k))
                return True
        return False

    def _declaring(self, error: UnknownNameError) -> ChainText | None:
        """Return the declaration further below of a name that one reads, to be taken in before it."""
        at = error.at
        name = None if at is None else at.source.text[at.span.start : at.span.end]
        for k, statement in enumerate(self._later):
            if name in [n.strip() for n in statement.sides[0].text.split(",")]:
                return self._later.pop(k)
        return None

    def _says_sign(self, statement: ChainText) -> bool:
        r"""Take in ``\sigma > 0`` of a name that is new, a declaration; of one that was read it may be a case."""
        domains = [_SIGNS.get(r.text.strip()) for r in statement.relations]
        if len(domains) != 1 or domains[0] is None or statement.sides[-1].text.strip() != "0":
            return False
        left = statement.sides[0]
        names = _names_of_side(left)
        if not names or any(not n.isidentifier() or n in self.names.values for n in names):
            return False
        line = self._line(left.span.start)
        names = [n for n in names if not self.names.restrict_entries(n, domains[0], line)]
        if not names:
            return True
        try:
            self.names.declare(f"{', '.join(names)} : {domains[0]}", line)
        except SymgradError:
            return False
        return True


def _names_of_side(side: SideText) -> list[str] | None:
    """Return the names that a side lists, before a sign that says something of them; None for other LaTeX."""
    if side.notation == "latex":
        return declared_names(side.text)
    return [name.strip() for name in side.text.split(",")]


def _declaration(statement: ChainText) -> str:
    """Return a declaration as it is read: what stands between several names in the document may be a word."""
    sides = [" ".join(side.text.split()).replace(" ,", ",") for side in statement.sides]
    rest = (f" {r.text} {side}" for r, side in zip(statement.relations, sides[1:], strict=True))
    return sides[0] + "".join(rest)
