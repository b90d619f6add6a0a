"""Names of several letters that are products: xy, where x and y are names and nothing is called xy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from symgrad.apps.review.layout.english import is_word
from symgrad.apps.review.layout.statements import ChainText
from symgrad.frontend.latex.syntax.vocabulary import GREEK

__all__ = ["CALLED", "DocumentLetters"]

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
_VALUE = re.compile(r"(?:^\s*|[-+*/=(|]\s*)(?P<name>[^\W\d]\w*)(?!\s*\(|[\w'.])")
_APPLIED = re.compile(r"(?P<name>[^\W\d]\w*)(?:\s*\(\s*[-+]?[\w.]+\s*[,)]|')")
_ORDER = re.compile(r"\s*(?P<name>[^\W\d]\w*)\^(?:\([3-9]\)|\{\([3-9]\)\})\s*")
_FIRST_WORD = re.compile(r"^\s*[^\W\d]\w*\s+(?=[\w(])")  # which may be one of the language


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
        self._values: set[str] = set()
        self._applied: set[str] = set()
        self._primed: set[str] = set()
        self.euler = True
        self.differentiated: set[str] = set()
        self.arguments: dict[str, set[str]] = {}
        alone_on_left: list[tuple[str, list[str]]] = []
        for statement in statements:
            for k, side in enumerate(statement.sides):
                for names in _DIFFERENTIATED.findall(side.text):
                    self.differentiated.update(filter(None, names))
                for call in CALLED.finditer(side.text):
                    name = call["name"].replace("{", "").replace("}", "")
                    self.arguments.setdefault(name, set()).add(call["argument"])
                if side.notation != "symgrad":
                    continue
                order = _ORDER.fullmatch(side.text)
                if order is not None and not k and not statement.continues:
                    self._primed.add(order["name"])
                self._applied.update(m["name"] for m in _APPLIED.finditer(side.text))
                text = side.text if k or statement.continues else _FIRST_WORD.sub("", side.text)
                self._values.update(m["name"] for m in _VALUE.finditer(text))
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
                        if (
                            len(names) == len(statement.relations) == 1
                            and statement.relations[0].kind == "equal"
                        ):
                            alone_on_left.append((names[0], _NAME.findall(statement.sides[1].text)))
        for name, behind in alone_on_left:  # xy = 100, where x and y stand alone, too
            if len(name) > 1 and self._letters.issuperset(name) and not (behind and {*behind} <= {*name}):
                self._called.discard(name)

    def is_value(self, name: str) -> bool:
        """Tell whether a name stands where values do, behind a sign or at the begin of a side, and is no function.

        Example:
            >>> from symgrad.apps.review.layout.passages import passages
            >>> from symgrad.apps.review.layout.statements import statements
            >>> page = "v = Vmax S/(Km + S), w = 3 V (V + b) + f(x)"
            >>> letters = DocumentLetters(statements(page, passages(page, "text")))
            >>> [letters.is_value(n) for n in ("Vmax", "Km", "V", "f")]
            [True, True, True, False]
        """
        return name in self._values and name not in self.arguments and not is_word(name)

    def is_applied(self, name: str) -> bool:
        """Tell whether a name has arguments, or a prime, somewhere in the document."""
        return name in self._applied

    def is_primed(self, name: str) -> bool:
        """Tell whether the document has a derivative of a name with its order in brackets, y^(4) = ..., on its own."""
        return name in self._primed

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
        letters = self._letters | self._variables
        if (
            name[0].isupper() and name[1:].islower() and letters.isdisjoint(name[1:])
        ):  # Ts, Vmax: a name with a mark
            return False
        # k = mv**2/2 beside dk/dv
        variable = len(name) < _FACTORS and not self._variables.isdisjoint(name)
        return all(is_factor(c) if known(c) else variable or c in letters for c in name)
