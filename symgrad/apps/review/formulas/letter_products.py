"""Names of several letters that are products: xy, where x and y are names and nothing is called xy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from symgrad.apps.review.layout.statements import ChainText
from symgrad.frontend.latex.syntax.vocabulary import GREEK

__all__ = ["CALLED", "DocumentLetters", "differentiated_names"]

_NAME = re.compile(r"[^\W\d]\w*(?![\w'(])")
_BY = re.compile(r"/\s*\(?\s*((?:[d∂][^\W\d_](?:(?:\^|\*\*)?[2-9²³])?(?!\w(?<![d∂]))\s*\*?\s*)+)")
_DIFFERENTIAL = re.compile(r"[d∂]([^\W\d_])")
_HEAD = re.compile(r"\s*[^\W\d]\w*\s*\(([^()]*)\)\s*")
_OWN_E = re.compile(r"[d∂]e\b|\be['_(\[]")
CALLED = re.compile(
    r"(?<![\w.])\\?(?P<name>[^\W\d]\w*(?:_\{\w+\})?)'*(?:\\left|\\[bB]igg?l?)?\((?:\s|\\,)*"
    r"(?P<argument>[-+−]?\d+(?:\.\d*)?|[^\W\d_])(?:\s|\\,)*(?:\\right|\\[bB]igg?r?)?\)"
)
_DIFFERENTIATED = re.compile(
    r"(?:(?<![^\W\d_])[d∂]|\\partial\s*\{?)\\?([^\W\d]\w*)\s*\}?\s*(?:/|\{)\s*\(?\s*(?:[d∂]|\\partial)"
    r"|\\d?dot\s*\{?\s*\\?([^\W\d]\w*)|(?<!\w)([^\W\d]\w*)'"
)
_FACTORS = 4  # letters of a product without signs


def differentiated_names(text: str) -> set[str]:
    r"""Return the names whose derivatives stand in a formula.

    Example:
        >>> sorted(differentiated_names(r"m \ddot x + \frac{dv}{dt} + y' = dL/dw"))
        ['L', 'v', 'x', 'y']
    """
    return {name for names in _DIFFERENTIATED.findall(text) for name in names if name}


class DocumentLetters:
    """The letters that stand alone in the formulas of a document, and what is called something there.

    Args:
        statements: all of the document.

    Attributes:
        euler: whether e is Euler's number: nothing defines it or differentiates by it.
        differentiated: names whose derivatives stand in the document.
        arguments: numbers and letters that stand alone in brackets right behind names: 0 and t of P(0) and P(t).
    """

    def __init__(self, statements: Iterable[ChainText] = ()) -> None:
        self._letters: set[str] = set()
        self._called: set[str] = set()
        self._variables: set[str] = set()
        self.euler = True
        self.differentiated: set[str] = set()
        self.arguments: dict[str, set[str]] = {}
        for statement in statements:
            for k, side in enumerate(statement.sides):
                self.differentiated.update(differentiated_names(side.text))
                for call in CALLED.finditer(side.text):
                    name = call["name"].replace("{", "").replace("}", "")
                    self.arguments.setdefault(name, set()).add(call["argument"])
                if side.notation != "symgrad":
                    continue
                names = _NAME.findall(side.text)
                alone = not statement.continues and k == 0 and side.text.strip() == "e"
                self.euler = self.euler and not alone and _OWN_E.search(side.text) is None
                self._letters.update(n for n in names if len(n) == 1)
                for quotient in _BY.findall(side.text):
                    self._variables.update(_DIFFERENTIAL.findall(quotient))
                if k == 0 and not statement.continues:
                    head = _HEAD.fullmatch(side.text)
                    if head is not None:
                        names = [n.strip() for n in head[1].split(",")]
                        self._letters.update(n for n in names if len(n) == 1)
                    elif len(side.text.replace(",", " ").split()) == len(names):
                        self._called.update(names)

    def release(self, names: Iterable[str]) -> None:
        """Take what some letters stand in for a product also where it is alone on a left side: xy = 1 is a curve."""
        released = set(names)
        self._called = {
            n for n in self._called if not (self._letters.issuperset(n) and released.intersection(n))
        }

    def is_product(self, name: str, known: Callable[[str], bool], is_factor: Callable[[str], bool]) -> bool:
        """Tell whether a name is a product of letters.

        Args:
            name: it.
            known: tells whether a name means something already.
            is_factor: tells of a letter that means something whether it is a number.

        Example:
            >>> from symgrad.apps.review.layout.passages import passages
            >>> from symgrad.apps.review.layout.statements import statements
            >>> page = "f = x*y + xy + mv"
            >>> letters = DocumentLetters(statements(page, passages(page, "text")))
            >>> [letters.is_product(n, lambda _: False, lambda _: True) for n in ("xy", "mv", "x")]
            [True, False, False]
        """
        if not (2 <= len(name) <= _FACTORS and name.isalpha()) or known(name) or name in self._called:
            return False
        if name.lower() in GREEK or name[0] in "d∂":  # dx is a differential
            return False
        # k = mv**2/2 beside dk/dv
        variable = len(name) < _FACTORS and not self._variables.isdisjoint(name)
        letters = self._letters | self._variables
        return all(is_factor(c) if known(c) else variable or c in letters for c in name)
