"""From passages to statements: sides of equations with what stands between them, over as many lines as they take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from symgrad.apps.review.layout.passages import LAYOUTS, FormulaNotation, Passage
from symgrad.apps.review.layout.prose import FAMILIES, blank_words, has_indices, is_latex, with_sums
from symgrad.apps.review.layout.stated_shapes import StatedShape, blank_spans, stated_shapes
from symgrad.support.source import Span

RelationKind: TypeAlias = Literal["equal", "define", "require", "declare", "other"]


@dataclass(frozen=True, slots=True)
class Relation:
    """What stands between two sides.

    Args:
        span: where.
        text: as it is written.
        kind: ``equal``, a definition, an equation that is required to hold, a declaration, or another relation.
    """

    span: Span
    text: str
    kind: RelationKind


@dataclass(frozen=True, slots=True)
class SideText:
    """One side: its characters, at the places where the document has them.

    Args:
        start: the offset of the first one.
        text: them, with blanks in the place of comments, line ends and marks of alignment.
        notation: what they are written in.
    """

    start: int
    text: str
    notation: FormulaNotation = "symgrad"

    @property
    def span(self) -> Span:
        """Where it stands, without blanks around it."""
        left = len(self.text) - len(self.text.lstrip())
        return Span(self.start + left, self.start + max(left, len(self.text.rstrip())))


@dataclass(frozen=True, slots=True)
class ChainText:
    """Sides with relations between them.

    Args:
        sides: one after the other.
        relations: one fewer; as many where the first one stands before the first side, and goes on with the last
            side of the statement before.
        passage: where it was found.
    """

    sides: tuple[SideText, ...]
    relations: tuple[Relation, ...]
    passage: Passage

    @property
    def continues(self) -> bool:
        """Whether it goes on with the statement before."""
        return len(self.relations) == len(self.sides)


_NAME = re.compile(r"[^\W\d_]\w*")
_ARROWS = ("->", "→", r"\to", r"\rightarrow")
_RELATION_BEHIND = re.compile(r"[^=<>;,]*(?<![<>!])=(?![=>])")
_NOTATION = re.compile(
    r"""
    (?P<blank>\#[^\n]*)
   |(?P<newline>\n)
   |(?P<separator>;|<=>|=>|⇒|⟹|⟺|⇔)
   |(?P<relation>:=|==|<=|>=|!=|~=|->|[=≡≈≤≥≠∝≃≅→<>~:])
   |(?P<comma>,)
   |(?P<open>[(\[])|(?P<close>[)\]])
   |(?P<operator>\*\*|[-+*/@^]|%(?=[ \t]*[\w(\[]))
   |(?P<space>[ \t]+)
   |(?P<other>\w+|.)
    """,
    re.VERBOSE,
)
_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_LATEX_TOKENS = rf"""
    (?P<blank>(?<!\\)%[^\n]*|&|\\(?:nonumber|notag|displaystyle|hspace{_BRACED}|label{_BRACED}|tag\*?{_BRACED})
      |\\(?:allowbreak|limits|nolimits)\b|{LAYOUTS})
   |(?P<newline>\\\\(?:\[[^\]\n]*\])?)
   |(?P<separator>;|\\(?:Longrightarrow|Rightarrow|implies|iff|Leftrightarrow|Longleftrightarrow|therefore|because)\b
      |\\(?:text|mbox|textrm|intertext|shortintertext)(?!\{{\s*(?:{"|".join(FAMILIES)})\s*\}}){_BRACED})
   |(?P<comma>,|\\q?quad\b)
   |(?P<relation>\\(?:overset|stackrel){_BRACED}\{{\s*=\s*\}}|\\(?:coloneqq|triangleq|doteq|equiv|leq?|geq?|neq?|approx
      |simeq|cong|sim|propto|to|rightarrow|mapsto|in|ll|gg|leqslant|geqslant)(?![a-zA-Z])|:=|[=<>≈≤≥≠∝]|:(?!=))
   |(?P<open>\\begin\{{[^}}]*\}}|(?<!\\)[(\[{{])|(?P<close>\\end\{{[^}}]*\}}|(?<!\\)[)\]}}])
   |(?P<operator>[-+*/]|\\(?:cdot|times|odot|otimes|circ)\b)
   |(?P<space>[ \t\n]+|\\[,;:!\ ])
   |(?P<other>\\[a-zA-Z]+|\\.|[^\W\d]+|\d+|.)
"""
_LATEX = re.compile(_LATEX_TOKENS, re.VERBOSE)
# On lines of plain text each line is a row.
_LATEX_LINES = re.compile(rf"(?P<row>\n)|{_LATEX_TOKENS}", re.VERBOSE)
_BOX = re.compile(r"\\(?:boxed|fbox|framebox|Aboxed|colorbox\{\w*\})\s*\{")
_BRACE = re.compile(r"(?<!\\)[{}]")
_DEFINING = re.compile(
    r":=|≡|\\(?:coloneqq|triangleq|equiv|doteq)|\\(?:overset|stackrel).*(?:def|triangle|\\Delta)"
)
_REQUIRED = re.compile(r"\\(?:overset|stackrel)\s*\{\s*!\s*\}")


def _kind(text: str) -> RelationKind:
    if text in ("=", "=="):
        return "equal"
    if text in (":", "~", r"\in", r"\sim"):
        return "declare"
    if _DEFINING.match(text):
        return "define"
    if _REQUIRED.match(text):
        return "require"
    return "equal" if text.startswith(("\\overset", "\\stackrel")) else "other"


def statements(text: str, found: list[Passage]) -> Iterator[ChainText]:
    r"""Give the statements of a document in their order.

    Args:
        text: the document.
        found: its formulas.

    Example:
        >>> from symgrad.apps.review.layout.passages import passages
        >>> page = "z = x**2\nd/dx z = x + x\n  = 2*x   # at last"
        >>> for s in statements(page, passages(page, "text")):
        ...     print([side.text.strip() for side in s.sides], [r.text for r in s.relations])
        ['z', 'x**2'] ['=']
        ['d/dx z', 'x + x', '2*x'] ['=', '=']
    """
    shapes = list(stated_shapes(text))
    spans = [shape.span for shape in shapes]
    shown = blank_spans(text, (s for s in spans if "\n" not in text[s.start : s.end]))
    written = [s for passage in found for s in _of_passage(text, shown, passage)]
    declared = {
        name
        for s in written
        if any(r.kind == "declare" for r in s.relations)
        for name in _NAME.findall(s.sides[0].text)
    }
    for shape in shapes:  # what the document declares itself holds
        names = [name for name in shape.names if name not in declared]
        declared.update(names)
        if names:
            yield _declared(shape, names)
    yield from written


def _of_passage(text: str, shown: str, passage: Passage) -> Iterator[ChainText]:
    """Yield the statements of a passage; of lines of plain text without the words of shapes."""
    if passage.kind != "line":
        inner = text[passage.span.start : passage.span.end]
        yield from _Splitter(inner, passage, inner).statements()
        return
    inner = shown[passage.span.start : passage.span.end]
    for start, lines, latex in _runs(blank_words(with_sums(inner))):
        begin = passage.span.start + start
        notation = "latex" if latex else passage.notation
        part = replace(passage, span=Span(begin, begin + len(lines)), notation=notation)
        yield from _Splitter(lines, part, inner[start : start + len(lines)]).statements()


def _declared(shape: StatedShape, names: Sequence[str]) -> ChainText:
    """Return a shape that words state as the declaration that programs write."""
    left = SideText(shape.span.start, ", ".join(names))
    domain = SideText(shape.span.start, f"real[{', '.join(shape.sizes)}]{' symmetric' * shape.symmetric}")
    return ChainText(
        (left, domain), (Relation(shape.span, ":", "declare"),), Passage(shape.span, "symgrad", "line")
    )


def _runs(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield lines of plain text, those of one notation together: where they begin, and whether they are LaTeX."""
    start, end, latex, depth = 0, 0, False, 0
    sums = "∑" in text
    for line in text.splitlines(keepends=True):
        if line.strip() and not depth and (is_latex(line) or (sums and has_indices(line))) != latex:
            if start < end:
                yield start, text[start:end], latex
            start, latex = end, not latex
        end += len(line)
        if latex:
            kinds = [m.lastgroup for m in _LATEX_LINES.finditer(line)]
            depth = max(0, depth + kinds.count("open") - kinds.count("close"))
    yield start, text[start:end], latex


def _unboxed(text: str) -> str:
    r"""Return LaTeX with blanks in the place of ``\boxed{`` and its other end: a frame means nothing."""
    shown = list(text)
    for box in _BOX.finditer(text):
        depth = 1
        for brace in _BRACE.finditer(text, box.end()):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                shown[box.start() : box.end()] = " " * (box.end() - box.start())
                shown[brace.start()] = " "
                break
    return "".join(shown)


_TEXT = rf"\\(?:text|mbox|textrm|textit|textnormal|mathrm)\s*{_BRACED}"
_ROW_END = r"(?=\s*(?:\\\\|\\end\b|\\label\b|\\nonumber\b|\\notag\b|[.,;]?\s*\Z))"
_ASIDES = re.compile(
    rf"""
    # (\text{{by the chain rule}}), (\because \sin^2 x + \cos^2 x = 1), [\text{{using }} \eqref{{a}}]
    (?<![a-zA-Z}}_^])[(\[](?:\s|\\[,;:!\ ])*(?:
        \\because\b [^()\[\]]* (?:\([^()]*\)[^()\[\]]*)*
      | {_TEXT} (?:[^()\[\]\\]|\\(?!\\).|\([^()]*\))*
    )[)\]]
    # \because ... to the end of the row
   |\\because\b (?:(?!\\\\|\\end\b).)*
    # the number of an equation: \qquad (2)
   |(?P<number>\(\s*\d+[a-z]?'*\s*\)){_ROW_END}
    # by what a row follows: \overset is a relation, \hfill and \eqref are none
   |\\hfill\b|\\(?:eq)?ref\s*\{{[^{{}}]*\}}
    """,
    re.VERBOSE | re.DOTALL,
)
_APART = re.compile(r"(?:\\q?quad|\\hfill|&|\s\s|\\[;:])\s*$")
_SEVERAL_WORDS = re.compile(
    r"\{[^{}]*[a-zA-Z]{2,}[^{}]*\s[^{}]*\}|\{\s*(?:by|since|because|using|from|see)\b"
)


def _without_asides(text: str) -> str:
    r"""Return LaTeX with blanks in the place of remarks behind formulas: why a row follows, its number."""

    def blank(match: re.Match[str]) -> str:
        shown = match[0]
        if (
            match["number"] is not None
            and _APART.search(text[max(0, match.start() - 20) : match.start()]) is None
        ):
            return shown  # a factor
        is_text = match["number"] is None and shown[0] in "([" and "\\because" not in shown
        if is_text and _SEVERAL_WORDS.search(shown) is None:
            return shown  # (\text{loss}) may be a name
        return "".join(c if c == "\n" else " " for c in shown)

    return _ASIDES.sub(blank, text)


def _tokens_of(passage: Passage) -> re.Pattern[str]:
    if passage.notation == "symgrad":
        return _NOTATION
    return _LATEX_LINES if passage.kind == "line" else _LATEX


class _Splitter:
    """Cuts one passage into statements.

    Args:
        text: its formulas, with blanks in the place of words.
        passage: where it was found.
        typed: its text.
    """

    def __init__(self, text: str, passage: Passage, typed: str) -> None:
        self._typed = typed
        text = text if passage.notation == "symgrad" else _without_asides(_unboxed(text))
        self._text = text
        self._shown = list(text)
        self._passage = passage
        self._tokens = [
            ("newline" if m.lastgroup == "row" else m.lastgroup or "other", m.start(), m.end())
            for m in _tokens_of(passage).finditer(text)
        ]
        self._before = self._neighbours(range(len(self._tokens)))
        self._behind = self._neighbours(reversed(range(len(self._tokens))))

    def statements(self) -> Iterator[ChainText]:
        cuts: list[tuple[int, int, Relation]] = []
        start, depth, condition = 0, 0, False
        for k, (kind, left, right) in enumerate(self._tokens):
            depth += kind == "open"
            depth = max(0, depth - (kind == "close"))
            if kind == "other" and self._text[left:right] in ("if", "else"):
                condition = self._text[left:right] == "if" and " else " in self._line(right)
            ends = kind == "separator" and depth == 0
            if kind == "blank" and not (depth and self._text[left] == "&"):
                self._blank(left, right)
            elif kind == "newline" and (depth == 0 or self._passage.notation == "symgrad"):
                self._blank(left, right)
                ends = depth == 0 and (
                    not self._goes_on(k) or self._goes_back(k, cuts) or self._is_signed_row(k, start, cuts)
                )
            elif kind == "comma" and depth == 0:
                ends = bool(cuts) and self._beside(k, 1) not in ("operator", "relation")
                if not ends and right - left > 1:
                    self._blank(left, right)
            elif kind == "relation" and depth == 0 and not condition:
                at = Span(self._passage.span.start + left, self._passage.span.start + right)
                relation = Relation(at, self._text[left:right], _kind(self._text[left:right]))
                if relation.text in _ARROWS and self._is_between_equations(cuts, right):
                    ends = True
                else:
                    cuts.append((left, right, relation))
            if ends:
                yield from self._made(start, left, cuts)
                start, cuts = right, []
        yield from self._made(start, len(self._text), cuts)

    def _is_between_equations(self, cuts: list[tuple[int, int, Relation]], right: int) -> bool:
        """Tell whether a sign has an equation on either side, as an arrow for what follows."""
        behind = _RELATION_BEHIND.match(self._line(right))
        return any(r.kind == "equal" for *_, r in cuts) and behind is not None

    def _line(self, start: int) -> str:
        """Return what stands behind a place on its line."""
        end = self._text.find("\n", start)
        return self._text[start : None if end < 0 else end]

    def _blank(self, left: int, right: int) -> None:
        self._shown[left:right] = " " * (right - left)

    def _goes_on(self, at: int) -> bool:
        """Tell whether what stands behind a line end belongs to what stands before it."""
        return self._beside(at, -1) in ("operator", "relation") or self._beside(at, 1) in (
            "operator",
            "relation",
        )

    def _goes_back(self, at: int, cuts: list[tuple[int, int, Relation]]) -> bool:
        """Tell whether an equality behind a line end goes on with what stands before a comparison: x > 0 is a case."""
        if not cuts or any(relation.kind != "other" for *_, relation in cuts):
            return False
        rest = self._text[self._tokens[at][2] :].lstrip(" \t&")
        return rest.startswith("=") and not rest.startswith(("==", "=>"))

    def _is_signed_row(self, at: int, start: int, cuts: list[tuple[int, int, Relation]]) -> bool:
        """Tell whether a row is an equation whose left side begins with a sign, below another equation.

        A row that is indented deeper than that one, or begins with a mark of alignment, goes on with it.
        """
        if not any(r.kind == "equal" for *_, r in cuts) or self._beside(at, -1) in ("operator", "relation"):
            return False
        right = self._tokens[at][2]
        rest = self._text[right:].lstrip()
        if not rest.startswith(("-", "+")):
            return False
        if self._passage.kind == "line" and self._indent(right) > self._indent(start):
            return False
        depth, is_empty = 0, True
        for kind, left, right in self._tokens[at + 1 :]:
            depth += (kind == "open") - (kind == "close")
            if depth == 0 and kind == "relation":
                return _kind(self._text[left:right]) == "equal"
            if depth == 0 and (kind == "separator" or (kind == "newline" and not is_empty)):
                return False
            is_empty = is_empty and kind in ("newline", "space", "blank")
        return False

    def _indent(self, at: int) -> int:
        """Return how many blanks a row begins with: the first one behind a place that has more than blanks."""
        rest = self._typed[at:]
        first = at + len(rest) - len(rest.lstrip())
        return first - 1 - self._typed.rfind("\n", 0, first)

    def _beside(self, at: int, step: int) -> str:
        """Return the kind of the next token in a direction that is more than space."""
        return (self._before if step < 0 else self._behind)[at]

    def _neighbours(self, places: Iterable[int]) -> list[str]:
        """Return, for each token, the kind of the last one in an order that is more than space; one walk for all."""
        found, last = [""] * len(self._tokens), ""
        for k in places:
            found[k] = last
            kind, left, right = self._tokens[k]
            if kind not in ("space", "blank", "newline") and not (kind == "comma" and right - left > 1):
                last = kind
        return found

    def _made(self, start: int, end: int, cuts: list[tuple[int, int, Relation]]) -> Iterator[ChainText]:
        edges = [start, *(edge for left, right, _ in cuts for edge in (left, right)), end]
        sides = [self._side(left, right) for left, right in zip(edges[::2], edges[1::2], strict=True)]
        if cuts and not sides[0].text.strip():
            sides = sides[1:]
        if any(side.text.strip() for side in sides):
            yield ChainText(tuple(sides), tuple(r for *_, r in cuts), self._passage)

    def _side(self, left: int, right: int) -> SideText:
        text = "".join(self._shown[left:right]).replace("\n", " ")
        bare = text.rstrip().rstrip(".,;:" if self._passage.notation == "symgrad" else ".,;")
        return SideText(self._passage.span.start + left, bare, self._passage.notation)
