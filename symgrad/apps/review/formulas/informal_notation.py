"""Formulas as people type them, 2x, x^2, sin x, e^x, in the notation of programs; what was changed is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.apps.review.formulas.derivative_notation import VERBS
from symgrad.apps.review.formulas.informal_text import InformalReading, InformalText
from symgrad.apps.review.formulas.letter_products import DocumentLetters, array_signs, letters_of
from symgrad.apps.review.formulas.typed_tokens import (
    BARE_FUNCTIONS,
    SQUARES,
    Typed,
    TypedRow,
    is_bare_function,
    is_squared,
    program_name,
    tokens_of,
    with_exponentials,
    with_matrices,
    with_orders,
)
from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.latex.syntax.vocabulary import GREEK

_KEYWORDS = frozenset({"and", "or", "not", "if", "else", "in", "is", "for", "True", "False", "None"})
_LONG = 2000  # tokens of a side, beyond which it is taken as it stands
_NO_LETTERS = DocumentLetters()


def to_notation(
    text: str,
    known: Callable[[str], bool],
    is_own: Callable[[str], bool],
    rank: Callable[[str], int | None] = lambda _: 0,
    is_product: Callable[[str], bool] = lambda _: False,
    letters: DocumentLetters = _NO_LETTERS,
    *,
    euler: bool = False,
    factors: bool = False,
) -> InformalText:
    """Return a formula as people type it in the notation of programs.

    Args:
        text: the formula.
        known: tells whether a name means something.
        is_own: tells whether it is a function of the document.
        rank: how many axes a name has, None for one that nothing declares; arrays side by side are multiplied as
            matrices.
        is_product: tells whether a name is a product of letters.
        letters: what stands where in the formulas of the document.
        euler: whether e is Euler's number wherever it stands.
        factors: whether the argument of a function without brackets ends at a space: sin x y is sin(x)*y.

    Example:
        >>> found = to_notation("2 sin 3x + e^x/2y", {"x", "y"}.__contains__, set().__contains__)
        >>> found.text
        '2*sin(3*x) + exp(x)/2*y'
        >>> for reading in found.readings:
        ...     print(reading)
        2 sin 3x is read as 2*sin(3*x)
        e^x is read as exp(x)
        e^x/2y is read as exp(x)/2*y; otherwise: brackets
    """
    tokens = with_orders(tokens_of(text, known), is_own, letters.is_primed)
    tokens = list(with_matrices(tokens, rank, known, is_own))
    if euler:
        tokens = list(with_exponentials(tokens, lambda name: known(name) or is_own(name)))
    return _Rewriter(
        text,
        tokens,
        known,
        is_own,
        rank,
        is_product,
        letters,
        euler=euler,
        factors=factors,
    ).made()


class _Rewriter(TypedRow):
    def __init__(
        self,
        text: str,
        tokens: Sequence[Typed],
        known: Callable[[str], bool],
        is_own: Callable[[str], bool],
        rank: Callable[[str], int | None],
        is_product: Callable[[str], bool],
        letters: DocumentLetters,
        *,
        euler: bool,
        factors: bool,
    ) -> None:
        self._euler, self._factors = euler, factors
        super().__init__(tokens)
        self._text = text
        self._known, self._is_own, self._is_product = known, is_own, is_product
        self._document = letters
        self._arrays = any(t.kind == "name" and rank(t.text) for t in tokens)
        self._signs = array_signs(tokens, rank, is_own) if self._arrays else {}
        self._behind = [""] * len(tokens)
        self._shown = [program_name(t.text) if t.kind == "name" else t.text for t in tokens]
        self._behind_function: dict[int, str] = {}
        self._spots: list[tuple[str, int, int]] = []
        self._letters: set[int] = set()  # the tokens that are products of letters

    def made(self) -> InformalText:
        if len(self._tokens) > _LONG:
            return InformalText(self._text)
        compares = any(t.kind == "compared" for t in self._tokens)
        self._square_brackets()
        self._functions_beside()
        self._letters_beside()
        self._extremes()
        for k in range(1, len(self._tokens)):
            if self._multiplies(k):
                self._before[k] = self._signs.get(k, "*")
        for k in reversed(range(len(self._tokens))):  # the inner ones first
            if self._is_bare(k) and self._is_bare_square(k):
                self._shown[k] += " "
            elif self._is_bare(k):
                self._bracketed(k)
        for k, token in enumerate(self._tokens):
            if token.text in ("·", "⊙"):  # the dot of vectors is their inner product
                self._shown[k] = self._signs.get(k, "·") if self._arrays and token.text == "·" else "*"
            if token.kind == "square":
                self._shown[k] = f"**{SQUARES[token.text]}"
                self._spots.append(("power", self._operand_before(k - 1), k))
            elif token.text == "^" and self._shown[k] == "^" and not (compares and self._joins_conditions(k)):
                self._raised(k)
            if token.text == "e" and self._kind(k + 1) == "power" and not self._known("e"):
                self._exponential(k)
            elif token.text == "e" and self._euler and not self._known("e"):
                self._shown[k] = "exp(1)"
                self._spots.append(("exponential", k, k))
            if self._before[k] in ("*", "@"):
                first = self._operand_before(k - 1)
                divides = self._text_at(first - 1) == "/"
                attached = self._tokens[k - 1].end == token.start
                doubt = divides or (attached and self._last_power(k - 1) >= 0)
                start = self._operand_before(first - 2) if divides else first
                self._spots.append(("doubt" if doubt else "product", start, self._operand_behind(k)))
        for k, shown in (self._squared_norms() if self._arrays else {}).items():
            self._shown[k] = shown
        changed = self._spots or any(
            shown != self._text[t.start : t.end] for shown, t in zip(self._shown, self._tokens, strict=True)
        )
        return self._joined() if changed else InformalText(self._text)

    def _raised(self, k: int) -> None:
        behind = self._kind(k + 2) == "name" or self._text_at(k + 2) == "("
        transposes = self._arrays or (behind and not self._document.is_value("T"))
        if transposes and self._text_at(k + 1) == "T" and not self._known("T"):
            self._shown[k] = "."
        else:
            self._shown[k] = "**"
            if self._text_at(k + 1) == "{" and k + 1 in self._pairs:
                self._shown[k + 1], self._shown[self._pairs[k + 1]] = "(", ")"
        self._spots.append(("power", self._operand_before(k - 1), self._operand_behind(k + 1)))

    def _joins_conditions(self, k: int) -> bool:
        """Tell whether ^ is between conditions: a comparison is the nearest sign on both sides, or in brackets."""
        signs = [
            j for j, t in enumerate(self._tokens) if t.kind == "compared" or t.text in (",", "if", "else")
        ]
        nearest = [*[j for j in signs if j < k][-1:], *[j for j in signs if j > k][:1]]
        compared = len(nearest) == 2 and all(self._kind(j) == "compared" for j in nearest)
        return compared or (self._text_at(k - 1), self._text_at(k + 1)) == (")", "(")

    def _exponential(self, k: int) -> None:
        """Write exp(x) for e^x."""
        end = self._operand_behind(k + 2)
        self._shown[k], self._shown[k + 1] = "exp", ""
        if self._pairs.get(k + 2) == end:
            self._shown[k + 2], self._shown[end] = "(", ")"
        else:
            self._shown[k + 1] = "("
            self._behind[end] += ")"
        self._spots.append(("exponential", k, end))

    def _bracketed(self, k: int) -> None:
        """Put brackets around the argument of a function that has none: all up to the next operator or function."""
        first = k + 1
        if self._kind(first) == "power":  # sin^2 x
            self._behind_function[k] = f"**{self._text_at(k + 2)}"
            self._shown[k + 1] = self._shown[k + 2] = self._before[k + 3] = ""
            first = k + 3
        end = self._pairs.get(first, -1) if self._text_at(first) == "(" else -1
        if end > 0:
            self._behind[end] += self._behind_function.get(k, "")
            self._pairs_of_bare[k] = end
            self._spots.append(("function", k, end))
            return
        end, kind = self._operand_behind(first), "function"
        glued = self._tokens[k].end == self._tokens[first].start  # sqrt2 x
        root = self._text_at(k) == "sqrt"
        while end + 1 < len(self._tokens) and self._before[end + 1] == "*" and not self._is_call(end + 1):
            if self._is_quotient(end + 1):  # cos y dy/dx
                break
            apart = self._tokens[end].end < self._tokens[end + 1].start
            if apart and glued:
                break
            doubtful = (apart and self._kind(end) != "number") or self._text_at(end + 1) == "("
            doubtful = doubtful or (glued and root)
            if doubtful and self._factors:
                break
            kind = "arguments" if doubtful else kind
            end = self._operand_behind(end + 1)
        self._before[first] = "("
        self._behind[end] += ")" + self._behind_function.get(k, "")
        self._pairs_of_bare[k] = end
        self._spots.append((kind, k, end))

    def _is_bare(self, k: int) -> bool:
        token = self._tokens[k]
        if token.kind != "name" or not is_bare_function(token.text) or self._known(token.text):
            return False
        raised = self._kind(k + 1) == "power" and self._kind(k + 2) == "number"
        behind = k + 3 if raised else k + 1
        if raised and self._text_at(behind) == "(":
            return behind in self._pairs
        barred = self._text_at(behind) in ("abs(", "norm(")  # ln|x|
        return barred or (self._kind(behind) in ("name", "number") and self._text_at(behind) not in _KEYWORDS)

    def _is_bare_square(self, k: int) -> bool:
        """Tell whether sin2 x stands at a token, which may be a square that was pasted."""
        glued = self._kind(k + 1) == "number" and self._tokens[k].end == self._tokens[k + 1].start
        if not (glued and is_squared(self._text_at(k)) and self._before[k + 2 : k + 3] == ["*"]):
            return False
        return self._text_at(k + 2) == "(" or self._tokens[k + 1].end < self._tokens[k + 2].start

    def _is_call(self, k: int) -> bool:
        name = self._text_at(k)
        own = self._is_own(name) or is_bare_function(name)
        return self._kind(k) == "name" and own and not self._known(name)

    def _is_quotient(self, k: int) -> bool:
        """Tell whether a token begins a derivative such as dy/dx."""
        above, below = (self._text_at(j)[:1] for j in (k, k + 2))
        return (
            self._text_at(k + 1) == "/"
            and above in ("d", "∂")
            and above == below
            and not self._known(self._text_at(k))
        )

    # -- what stands beside what -------------------------------------------------------------------------------------

    def _multiplies(self, k: int) -> bool:
        """Tell whether a token is a factor of what stands before it, with no sign between."""
        left, right = self._tokens[k - 1], self._tokens[k]
        if self._arrays and left.kind != "number":
            return (
                k in self._signs and right.text != "·" and not (left.kind == "name" and self._is_bare(k - 1))
            )
        if "(" in (self._shown[k - 1], self._shown[k]) and "(" not in (left.text, right.text):
            return False  # f ∘ g
        if {left.text, right.text} & _KEYWORDS or left.text == "∇" or left.text.startswith(("∇_", "D_")):
            return False
        if left.kind == "name" and (self._is_bare(k - 1) or self._acts(k - 1)):
            return False
        if right.kind == "name":
            stands = left.kind in ("name", "number", "square", "prime") or left.text in (")", "]")
            return stands and all(self._is_operand(t) for t in (left, right))
        if right.kind == "number":  # x 2^(x-1), where 2 is no exponent that lost its sign
            glued = left.kind == "close" and self._tokens[k + 1 :] and right.end == self._tokens[k + 1].start
            apart = left.end < right.start and self._kind(k + 1) in ("power", "name" if glued else "power")
            return apart and left.kind in ("name", "close") and self._is_operand(left)
        if right.text in ("(", "abs(", "norm("):
            if self._is_above(k - 1) or self._is_iterate(k - 1):
                return False
            if left.kind == "name":
                letter = "α" <= left.text <= "ω" and left.text not in ("ζ", "ψ")  # two functions
                apart = left.end < right.start and self._document.is_bare(left.text) and self._has_sum(k)
                if self._is_own(left.text):  # a φ (x - c) beside y = a φ
                    return apart
                greek = (left.text in GREEK or letter) and not self._document.is_defined(left.text)
                return greek or self._is_value(left.text) or self._ends_factor(k - 1)
            if left.kind == "prime":  # y'(x + 2y), of a y that is no function
                name = self._text_at(k - 2)
                return not (self._is_own(name) or self._document.is_defined(name)) and self._has_sum(k)
            if left.text == ")" and self._holds_functions(k - 1):
                return False
            return left.kind in ("number", "square") or left.text in (")", "]", "}")
        return False

    def _is_operand(self, token: Typed) -> bool:
        """Tell whether a token may be a factor without a sign: a word that means nothing may not."""
        word = token.text
        if token.kind != "name" or len(word) < 3 or not word.isalpha() or word in GREEK or self._known(word):
            return True
        return (
            word in BARE_FUNCTIONS
            or is_function(word)
            or self._is_own(word)
            or self._is_product(word)
            or self._document.is_value(word)
            or word[0] in "d∂∇"
        )

    def _functions_beside(self) -> None:
        """Write f*g for fg, of functions of the document, and f(g) for f ∘ g."""
        for k, token in enumerate(self._tokens):
            letters = token.text
            if token.kind == "name" and 1 < len(letters) < 5 and not self._known(letters):
                if all(self._is_own(c) for c in letters) and self._text_at(k + 1) != "(":
                    self._shown[k] = "*".join(letters)
                    self._spots.append(("product", k, k))
            elif letters in ("∘", "o") and self._composes(k):
                last = k + 1
                while self._text_at(last + 1) in ("∘", "o") and self._is_own(self._text_at(last + 2)):
                    last += 2
                self._shown[k] = "("
                self._behind[last] += ")"

    def _square_brackets(self) -> None:
        """Write ( and ) for [ and ] around a factor or a term: they are no subscript, and hold no list."""
        for close, k in self._pairs.items():
            if self._text_at(k) != "[" or any(self._text_at(j) in (",", ":") for j in range(k, close)):
                continue
            before, apart = self._kind(k - 1), k == 0 or self._tokens[k - 1].end < self._tokens[k].start
            value = before == "number" or (before == "close" and (apart or not self._arrays))
            if before == "name":
                value = apart and (
                    self._is_value(self._text_at(k - 1)) or self._document.is_value(self._text_at(k - 1))
                )
            if value or before not in ("name", "number", "close", "prime"):
                self._tokens[k].text = self._shown[k] = "("
                self._tokens[close].text = self._shown[close] = ")"

    def _extremes(self) -> None:
        """Write maximum(a, b) for max(a, b) of two numbers: the second argument of max is an axis of an array."""
        for k, token in enumerate(self._tokens):
            end = self._pairs.get(k + 1)
            if self._arrays or token.text not in ("max", "min") or end is None or self._is_own(token.text):
                continue
            inside = [
                j
                for j in range(k + 2, end)
                if self._tokens[j].text == "," and not any(k + 1 < a < j < b for a, b in self._pairs.items())
            ]
            if len(inside) == 1 and self._text_at(inside[0] + 1) not in ("axis", "keepdims"):
                self._shown[k] = f"{token.text}imum"

    def _letters_beside(self) -> None:
        """Write x*y for xy, which nothing is called; in brackets as an exponent, and behind a sign of division."""
        if self._arrays:
            return
        for k, token in enumerate(self._tokens):
            letters = token.text
            is_word = letters in BARE_FUNCTIONS or letters in _KEYWORDS or self._is_own(letters)
            if token.kind != "name" or is_word or self._shown[k] != letters:
                continue
            if self._text_at(k + 1) == "(" or not self._is_product(letters):
                continue
            self._shown[k] = "*".join(letters_of(letters))
            self._letters.add(k)
            if self._text_at(k - 1) == "/" or self._kind(k - 1) == "power":
                self._before[k] = "("
                self._behind[k if self._kind(k - 1) == "power" else self._operand_behind(k)] += ")"
            self._spots.append(("letters", k, k))

    def _composes(self, k: int) -> bool:
        own = self._is_own(self._text_at(k - 1)) and self._is_own(self._text_at(k + 1))
        return own and (self._text_at(k) == "∘" or not self._known("o"))

    def _holds_functions(self, k: int) -> bool:
        """Tell whether a bracket that ends at a token holds functions of the document without their arguments."""
        first = self._pairs.get(k, k)
        return any(
            (self._is_own(self._text_at(j)) and self._kind(j + 1) != "prime" and self._text_at(j + 1) != "(")
            or ("*" in self._shown[j][1:-1] and j not in self._letters)
            for j in range(first, k)
        )

    def _is_value(self, name: str) -> bool:
        return self._known(name) and not self._is_own(name)

    def _is_iterate(self, k: int) -> bool:
        """Tell whether a token ends f^-1 or f^2 of a function of the document, whose argument stands behind it."""
        k = self._pairs.get(k, k)
        while self._text_at(k - 1) in ("-", "+"):
            k -= 1
        return self._kind(k - 1) == "power" and self._is_own(self._text_at(k - 2))

    def _ends_factor(self, k: int) -> bool:
        """Tell whether a name before a bracket is no function: the exponent of e^x(1+x), a letter of the formula."""
        if not self._may_be_value(k):
            return False
        apart = self._tokens[k].end < self._tokens[k + 1].start
        if self._exponent_of(k) or (apart and self._is_quotient(k - 2)):
            return True
        name, sums = self._text_at(k), apart and self._has_sum(k + 1)
        return self._document.is_value(name) or (sums and not self._document.is_applied(name))

    def _may_be_value(self, k: int) -> bool:
        name = self._text_at(k)
        return not (self._is_own(name) or is_bare_function(name) or is_function(name) or name in VERBS)

    def _is_above(self, k: int) -> bool:
        """Tell whether a d is the one above in d(x**2)/dx, also where a name is d."""
        if self._text_at(k) not in ("d", "∂") or self._text_at(k + 1) != "(":
            return False
        end = self._pairs.get(k + 1, len(self._tokens))
        below = self._text_at(end + 2)
        named = self._known(below) or not self._known(below[1:])
        return self._text_at(end + 1) == "/" and below[:1] == self._text_at(k) and not named

    # -- what comes out ----------------------------------------------------------------------------------------------

    def _joined(self) -> InformalText:
        text, places, at = "", [(0, 0)], 0
        for k, token in enumerate(self._tokens):
            gap = self._text[at : token.start]
            text += "" if (self._before[k] or not self._shown[k]) and not gap.strip() else gap
            text += self._before[k]
            places.append((len(text), token.start))
            text += self._shown[k]
            at = token.end
            if self._behind[k] or len(self._shown[k]) != token.end - token.start:
                text += self._behind[k]
                places.append((len(text), at))
        text += self._text[at:]
        whole = [(i, j) for kind, i, j in self._spots if kind not in ("exponential", "letters", "arguments")]
        readings = dict.fromkeys(
            InformalReading(
                " ".join(self._text[self._tokens[i].start : self._tokens[j].end].split()),
                self._meaning(i, j),
                kind,
            )
            for kind, i, j in self._spots
            if kind in ("exponential", "doubt", "letters", "arguments")
            or not any(a <= i and j <= b and b - a > j - i for a, b in whole)
        )
        return InformalText(text, tuple(readings), tuple(places))

    def _meaning(self, i: int, j: int) -> str:
        text = ""
        for k in range(i, j + 1):
            if k > i:
                gap = self._text[self._tokens[k - 1].end : self._tokens[k].start]
                text += self._before[k] or (gap if self._shown[k] else "")
            text += self._shown[k]
            closing = self._behind[k]
            while closing.startswith(")") and text.count("(") - text.count(")") > 0:
                text, closing = text + ")", closing[1:]
            text += "" if closing.startswith(")") else closing
        return text
