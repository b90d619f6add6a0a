r"""The program notation: a text is read into a Listing of nodes with their places. Nothing is evaluated.

    Text        ::= (Line (newline | ";"))*
    Line        ::= Names ":" Domain Shape?            -- x, y : positive;  p : real(0, 1);  X : real[n, 5]
                  | Names ":" Domain Shape "symmetric" -- S : real[n, n] symmetric
                  | Names ":" "int" Ends Shape?        -- t : int(0, k - 1)[n], both ends included
                  | Names ":" "size"                   -- n, m : size
                  | Names "~" Distribution Shape?      -- u ~ Uniform(0.9, 1.1)
                  | Name "=" Expression
                  | Name "(" Names ")" "=" Expression  -- g(s, t) = s**2 + t
                  | Expression                         -- the last line alone: the result
                  | "#" comment

Expressions are Python's with NumPy's functions, and numbers are exact (1e-3 is one thousandth, 1/3 one third). The
grammar is `program.lark`; lines continue inside brackets and after a backslash. A text that is a single expression
declares its names as real symbols; in any other text each name is defined above its use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from symgrad.frontend.expressions.functions import without_functions
from symgrad.frontend.expressions.reader import ProgramReader
from symgrad.frontend.limits import TEXT_CHARACTERS
from symgrad.frontend.recurrence_lines import with_inner_names, without_recurrences
from symgrad.frontend.tokens.lalr import MisplacedError, parse, tables
from symgrad.frontend.tokens.lexer import Lexer
from symgrad.frontend.tokens.syntax_errors import syntax_error
from symgrad.frontend.tokens.terms import Token
from symgrad.frontend.where_clauses import order_lines, where_start
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, size_node
from symgrad.ir.listing import Listing
from symgrad.support.errors import InternalError, ProgramSyntaxError, UsageError
from symgrad.support.progress import reports_progress
from symgrad.support.source import Location, Source, Span

Opened: TypeAlias = Callable[[Node, Sequence[Node]], tuple[Node, Callable[[Node], Node]]]


def parse_program(text: str, name: str = "<text>", symbols: Mapping[str, Node] | None = None) -> Listing:
    r"""Read a program.

    Args:
        text: declarations, assignments, and as the last line at most one bare expression. A text that is only a bare
            expression declares its names as real symbols, unless ``symbols`` is given.
        name: the name of the text in messages (a file name).
        symbols: names that are known before the first line.

    Returns:
        The symbols, the assigned nodes, the result, and the place of each.

    Raises:
        SymgradError: if the text is wrong; the message has the place. Syntax errors are reported before semantic
            errors.

    Example:
        >>> listing = parse_program("x : real\ny = x**2 + 1/3")
        >>> listing.names
        ('x', 'y')
        >>> listing["y"]
        <add of 2>
    """
    return _read(text, name, symbols or {}, strict=symbols is not None)


def parse_declarations(text: str, name: str = "<text>") -> tuple[Listing, dict[str, Node]]:
    """Parse declarations for another text: names, and sizes that no array has yet.

    Args:
        text: declarations and definitions; it may be empty.
        name: the name of the text in messages.

    Returns:
        The listing, and the nodes of the sizes.

    Raises:
        SymgradError: as for `parse_program`.

    Example:
        >>> listing, sizes = parse_declarations("n : size; x : real[m]")
        >>> listing.names, sorted(sizes)
        (('x',), ['m', 'n'])
    """
    reader = _reader(text, name, {}, strict=True)
    return reader.listing(), {size: size_node(size) for size in sorted(reader.sizes)}


def parse_expression(text: str, symbols: Mapping[str, Node], name: str = "<text>") -> Node:
    r"""Read one expression over known names, and over those that the lines of a `where` clause below it define.

    Args:
        text: the expression.
        symbols: every name that the expression may use, with its node.
        name: the name of the text in messages.

    Raises:
        SymgradError: as for `parse_program`; also if the text is more than an expression.

    Example:
        >>> x = parse_program("x : real")["x"]
        >>> parse_expression("sqrt(x)/2", {"x": x})
        <div of 2>
        >>> parse_expression("a/2\nwhere\n  a = sqrt(x)", {"x": x})
        <div of 2>
    """
    listing = _read(text, name, symbols, strict=True)
    place = min((s.start for s in listing.name_spans.values()), default=0)
    if listing.result is None or (listing.names and place < where_start(text)):
        raise ProgramSyntaxError(
            "one expression is expected, and this text defines names",
            at=Location(Source(text, name), Span(place, place + 1)),
            expected="an expression such as 2*x",
            cure="write the right-hand side alone",
        )
    return listing.result


class _Rereader(ProgramReader):
    """Parses a text again, with other nodes for assigned names in the following lines."""

    def __init__(
        self, listing: Listing, source: Source, stands_for: Callable[[str, Node], Node], opened: Opened
    ) -> None:
        super().__init__(source, listing.given, not listing.undeclared)
        self._stands_for = stands_for
        self._opened = opened
        self._declared = listing.symbols

    def stands_for(self, _name: str, node: Node) -> Node:
        return self._stands_for(_name, node)

    def opened(self, y: Node, by: Sequence[Node]) -> tuple[Node, Callable[[Node], Node]]:
        return self._opened(y, by)

    def declared_as(self, _name: str, node: Node) -> Node:
        """Return the symbol from the first parse: names in the parameters of a random input keep their meaning."""
        return self._declared.get(_name, node)


def reread_program(
    listing: Listing,
    stands_for: Callable[[str, Node], Node],
    opened: Opened = lambda y, _: (y, lambda derivative: derivative),
) -> Listing:
    r"""Parse the text of a listing with other nodes for its names, so that each line is read by itself.

    Args:
        listing: a result of `parse_program`.
        stands_for: a function of an assigned name and its node, which returns the node that the following lines read.
        opened: a function of a value to differentiate and of the variables: it returns the value with the formulas of
            the names that depend on the variables, and a function that puts these names into a derivative.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> listing = parse_program("x : real\ny = x**2\nz = sin(y)")
        >>> again = reread_program(listing, lambda name, node: symbol(Declaration(name)))
        >>> again["z"].args[0].name
        'y'
    """
    if listing.source is None:
        raise InternalError("a listing without a text is not read again")
    reader = _Rereader(listing, listing.source, stands_for, opened)
    with gc_paused():
        parse(_statements(Lexer(listing.source, tables().terminals), reader), reader)
    return reader.listing()


def _statements(lexer: Lexer, reader: ProgramReader) -> Iterator[Token]:
    """Yield the tokens of declarations, assignments and expressions; the reader receives all other lines."""
    tokens = iter(order_lines(reader.source.text, with_inner_names(lexer.tokens(), reader)))
    return without_functions(without_recurrences(tokens, reader), reader)


def _reader(text: str, name: str, known: Mapping[str, Node], *, strict: bool) -> ProgramReader:
    """Read a text; return the reader, which has the scope."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(
            f"a program is a text (str), not {type(text).__name__}",
            cure="decode bytes with .decode(), read a file with Path(...).read_text()",
        )
    if len(text) > TEXT_CHARACTERS:
        raise ProgramSyntaxError(
            f"the text has {len(text):,} characters",
            expected=f"at most {TEXT_CHARACTERS:,}",
            cure="split it into several programs",
        )
    source = Source(text, name)
    reader = ProgramReader(source, known, strict)
    lexer = Lexer(source, tables().terminals)
    try:
        with gc_paused(), reports_progress("frontend", "reading the program"):
            parse(_statements(lexer, reader), reader)
    except MisplacedError as wrong:
        raise syntax_error(lexer, wrong.token, wrong.expected) from None
    return reader


def _read(text: str, name: str, known: Mapping[str, Node], *, strict: bool) -> Listing:
    reader = _reader(text, name, known, strict=strict)
    listing = reader.listing()
    if not listing.names and listing.result is None and not reader.sizes:
        raise ProgramSyntaxError(
            "the text defines functions and nothing else" if reader.functions else "the text is empty",
            at=Location(reader.source, Span(0, 0)),
            expected="declarations, assignments or an expression",
            cure="write a formula, such as x**2",
        )
    return listing
