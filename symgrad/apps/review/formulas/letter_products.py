"""Products without a multiplication sign: xy, where x and y are names and nothing is called xy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from symgrad.apps.review.formulas.typed_tokens import Typed, is_bare_function
from symgrad.apps.review.layout.english import is_word
from symgrad.apps.review.layout.statements import ChainText
from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.latex.syntax.vocabulary import GREEK

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
_LETTER = re.compile(r"[^\W\d_]\d*")
_FACTORS = 4  # letters of a product without signs
_VALUE = re.compile(r"(?:^\s*|[-+*/=(|·×⋅⊙]\s*)(?P<name>[^\W\d]\w*)(?!\s*\(|[\w'.])")
_BARE = re.compile(r"(?P<name>[^\W\d]\w*)(?=\s*(?:$|[-+*/),=]))")
_DEFINED = re.compile(r"\s*(?P<name>[^\W\d]\w*)\s*\(\s*[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*\s*\)\s*")
_APPLIED = re.compile(r"(?P<name>[^\W\d]\w*)(?:\s*\(\s*[-+]?[\w.]+\s*[,)]|')")
_ORDER = re.compile(r"\s*(?P<name>[^\W\d]\w*)\^(?:\([3-9]\)|\{\([3-9]\)\})\s*")
_FIRST_WORD = re.compile(r"^\s*[^\W\d]\w*\s+(?=[\w(])")  # which may be one of the language


def differentiated_names(text: str) -> set[str]:
    r"""Return the names whose derivatives stand in a formula.

    Example:
        >>> sorted(differentiated_names(r"m \ddot x + \frac{dv}{dt} + y' = dL/dw"))
        ['L', 'v', 'x', 'y']
    """
    return {name for names in _DIFFERENTIATED.findall(text) for name in names if name}


def letters_of(name: str) -> list[str]:
    """Return the letters of a name, each with the number behind it.

    Example:
        >>> letters_of("R1R2"), letters_of("xy")
        (['R1', 'R2'], ['x', 'y'])
    """
    return _LETTER.findall(name)


class DocumentLetters:
    """The letters that stand alone in the formulas of a document, and what is called something there.

    Args:
        statements: all statements of the document.

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
        self._bare: set[str] = set()
        self._heads: set[str] = set()
        self.euler = True
        self.differentiated: set[str] = set()
        self.arguments: dict[str, set[str]] = {}
        alone_on_left: list[tuple[str, list[str]]] = []
        seen: set[str] = set()
        for statement in statements:
            for k, side in enumerate(statement.sides):
                self.differentiated.update(differentiated_names(side.text))
                for call in CALLED.finditer(side.text):
                    name = call["name"].replace("{", "").replace("}", "")
                    self.arguments.setdefault(name, set()).add(call["argument"])
                if side.notation != "symgrad":
                    continue
                order = _ORDER.fullmatch(side.text)
                if order is not None and not k and not statement.continues:
                    self._primed.add(order["name"])
                self._bare.update(m["name"] for m in _BARE.finditer(side.text))
                defined = _DEFINED.fullmatch(side.text)
                if defined is not None and statement.relations and not k and not statement.continues:
                    self._heads.add(defined["name"])
                self._applied.update(m["name"] for m in _APPLIED.finditer(side.text))
                text = side.text if k or statement.continues else _FIRST_WORD.sub("", side.text)
                self._values.update(m["name"] for m in _VALUE.finditer(text))
                names = _NAME.findall(side.text.replace("²", " ").replace("³", " "))
                seen.update(names)
                alone = not statement.continues and k == 0 and side.text.strip() == "e"
                self.euler = self.euler and not alone and _OWN_E.search(side.text) is None
                self._letters.update(n for n in names if _LETTER.fullmatch(n))
                for quotient in _BY.findall(side.text):
                    self._variables.update(_DIFFERENTIAL.findall(quotient))
                if k == 0 and not statement.continues:
                    head = _HEAD.fullmatch(side.text)
                    if head is not None:
                        names = [n.strip() for n in head[1].split(",")]
                        self._letters.update(n for n in names if len(n) == 1)
                    elif len(side.text.replace(",", " ").split()) == len(_NAME.findall(side.text)):
                        self._called.update(names)
                        if (
                            len(names) == len(statement.relations) == 1
                            and statement.relations[0].kind == "equal"
                        ):
                            alone_on_left.append((names[0], _NAME.findall(statement.sides[1].text)))
        for name, behind in alone_on_left:  # xy = 100, where x and y stand alone, too
            if len(name) > 1 and self._letters.issuperset(name) and not (behind and {*behind} <= {*name}):
                self._called.discard(name)
        words = {n for n in seen if len(n) > _FACTORS or is_word(n) or is_bare_function(n) or is_function(n)}
        for name in seen - words:  # the letters of ht, by whose t the document differentiates
            if self.is_product(name, lambda _: False, lambda _: True):
                self._letters.update(letters_of(name))

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

    def is_bare(self, name: str) -> bool:
        """Tell whether a name stands somewhere without arguments."""
        return name in self._bare

    def is_defined(self, name: str) -> bool:
        """Tell whether the document defines a function with this name, perhaps later than its use."""
        return name in self._heads

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
        """Tell whether a name is a product of letters, each perhaps with a number: wt, R1R2.

        Args:
            name: it.
            known: tells whether a name means something already.
            is_factor: tells whether a letter that already has a meaning is a scalar.

        Example:
            >>> from symgrad.apps.review.layout.passages import passages
            >>> from symgrad.apps.review.layout.statements import statements
            >>> page = "f = x*y + xy + mv + x1y"
            >>> letters = DocumentLetters(statements(page, passages(page, "text")))
            >>> [letters.is_product(n, lambda _: False, lambda _: True) for n in ("xy", "mv", "x", "x1y")]
            [True, False, False, False]
        """
        parts = letters_of(name)
        is_row = 2 <= len(parts) <= _FACTORS and "".join(parts) == name
        if not is_row or known(name) or name in self._called:
            return False
        if name.lower() in GREEK or name[0] in "d∂":  # dx is a differential
            return False
        letters = self._letters | self._variables
        if (
            name[0].isupper() and name[1:].islower() and letters.isdisjoint(name[1:])
        ):  # Ts, Vmax: a name with a mark
            return False
        # k = mv**2/2 beside dk/dv
        variable = len(parts) < _FACTORS and not self._variables.isdisjoint(parts)
        return all(is_factor(c) if known(c) else variable or c in letters for c in parts)


_OPERATOR = re.compile(r"[d∂][2-9²³]?/[d∂]\w|∇²?(?:_\w+)?(?!\w)")
_PRODUCTS = ("*", "/", "@", "·", "⊙")
_SCALARS = frozenset({"norm", "trace", "tr", "Tr", "det", "logdet", "dot"})


def array_signs(
    tokens: Sequence[Typed], rank: Callable[[str], int | None], is_own: Callable[[str], bool]
) -> dict[int, str]:
    """Return the signs of products without one in a formula of arrays: for each token before which one is put, it.

    Two adjacent vectors get a sign only if the first is transposed and the second is not; a product with a factor of
    unknown rank gets none.

    Args:
        tokens: of the formula.
        rank: a function that returns the number of axes of a name: 0 for a number, None for an undeclared name.
        is_own: tells whether a name is a function of the document.

    Example:
        >>> from symgrad.apps.review.formulas.typed_tokens import tokens_of
        >>> ranks = {"A": 2, "x": 1, "y": 1}
        >>> for text in ("x^T A y", "2 a A x", "x y", "x y^T"):
        ...     found = tokens_of(text, set().__contains__)
        ...     print(array_signs(found, lambda n: ranks.get(n, 0), set().__contains__))
        {3: '@', 4: '@'}
        {1: '*', 2: '*', 3: '@'}
        {}
        {}
    """
    return _ArrayProducts(tokens, rank, is_own).signs()


class _ArrayProducts:
    """Walks through a formula, and tells how many axes its parts have; None where nothing says it."""

    def __init__(
        self, tokens: Sequence[Typed], rank: Callable[[str], int | None], is_own: Callable[[str], bool]
    ) -> None:
        self._tokens, self._rank, self._is_own = tokens, rank, is_own
        self._at, self._unsaid = 0, ""
        self._signs: dict[int, str] = {}

    def signs(self) -> dict[int, str]:
        while self._at < len(self._tokens):
            self._sum()
            self._at += 1  # a relation, a comma, a bracket that closes nothing
        return self._signs

    def _text(self, ahead: int = 0) -> str:
        k = self._at + ahead
        return self._tokens[k].text if k < len(self._tokens) else ""

    def _begins_factor(self) -> bool:
        if self._at >= len(self._tokens):
            return False
        token = self._tokens[self._at]
        return token.kind in ("name", "number") or token.text in ("(", "norm(", "abs(")

    def _sum(self) -> int | None:
        while self._text() in ("+", "-"):
            self._at += 1
        found = self._term()
        while self._text() in ("+", "-"):
            self._at += 1
            other = self._term()
            found = None if found is None or other is None else max(found, other)
        return found

    def _term(self) -> int | None:
        while self._text() in ("+", "-"):
            self._at += 1
        acts = _OPERATOR.match("".join(self._text(n) for n in range(3)))
        if acts is not None:  # d/dx and ∇_x act on what follows
            self._at += 1 if acts[0][0] == "∇" else 3
            self._term()
            return None
        left, transposed = self._factor()
        while self._at < len(self._tokens):
            k, sign = self._at, self._text()
            if sign in _PRODUCTS:
                self._at += 1
            elif not self._begins_factor():
                break
            before, (right, is_transposed) = self._unsaid, self._factor()
            beside = sign not in (*_PRODUCTS, "·")
            if left is None or right is None:
                left = None
            elif beside and ((self._unsaid and left == 2) or (before.isupper() and right)):
                left = None  # perhaps a vector beside a matrix
            elif sign == "·":
                self._signs[k] = "@" if left and right else "*"
                left = left + right - 2 if left and right else max(left, right)
            elif sign == "@" or (sign not in _PRODUCTS and left and right):
                if sign != "@":
                    if max(left, right) < 2 and (is_transposed or not transposed):
                        left = None
                        continue
                    self._signs[k] = "@"
                left = left + right - 2
            else:
                if sign not in _PRODUCTS:
                    self._signs[k] = "*"
                left = max(left, right)
            transposed = transposed if left == 1 and right == 2 else is_transposed
        return left

    def _factor(self) -> tuple[int | None, bool]:
        """Return how many axes a factor has, and whether it is transposed."""
        if not self._begins_factor():
            self._at += self._at < len(self._tokens) and self._tokens[self._at].kind != "close"
            return None, False
        found, unsaid = self._plain_factor()
        raised = self._raised(found)
        self._unsaid = unsaid
        return raised

    def _plain_factor(self) -> tuple[int | None, str]:
        """Return how many axes a factor has without its power, and the name that it is if nothing declares it."""
        token = self._tokens[self._at]
        self._at += 1
        if token.text in ("(", "norm(", "abs("):
            inner = self._inside()
            found = 0 if token.text == "norm(" else inner
        elif token.kind == "number":
            found = 0
        elif (
            self._text() == "("
            and self._tokens[self._at].start == token.end
            and self._is_function(token.text)
        ):
            self._at += 1
            inner = self._inside()
            scalar = token.text in _SCALARS
            keeps = is_bare_function(token.text) or token.text in ("inv", "transpose")
            found = 0 if scalar or inner == 0 else inner if keeps else None
        elif self._is_function(token.text) or token.text[0] in "d∂∇":
            found = None
        else:
            found = self._rank(token.text)
            return found or 0, token.text if found is None else ""
        return found, ""

    def _raised(self, found: int | None) -> tuple[int | None, bool]:
        transposed = False
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == "power" or token.text == ".":
                transposed = self._text(1) == "T"
                self._at += 1
                while self._text() in ("-", "+"):
                    self._at += 1
                if self._text() in ("(", "{"):
                    self._at += 1
                    self._inside()
                else:
                    self._at += 1
            elif token.kind in ("square", "prime"):
                self._at += 1
                found = None if token.kind == "prime" else found
            else:
                break
        return found, transposed

    def _inside(self) -> int | None:
        """Return the number of axes of a bracketed part; its opening bracket has already been read."""
        found = self._sum()
        while self._at < len(self._tokens) and self._tokens[self._at].kind != "close":
            self._at += 1
            self._sum()
            found = None
        self._at += 1
        return found

    def _is_function(self, name: str) -> bool:
        return is_bare_function(name) or self._is_own(name) or name in _SCALARS or is_function(name)
