"""`parse`: read a program. `Program`: its named expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import symgrad.ops  # noqa: F401  (registers the records that programs name)
from symgrad.api.foreign_names import no_attribute_of_program
from symgrad.api.handles.expr import Expr, node_of
from symgrad.api.handles.inputs import listings_of
from symgrad.ir.graph import Node
from symgrad.ir.listing import Derivative, Listing
from symgrad.ir.traverse import topological
from symgrad.report.report import Reported
from symgrad.support.errors import NotInProgramError, UsageError

# What is imported in functions here would slow down `import symgrad`: the parser and the printer.

_FILE = re.compile(r"\S+\.(sg|txt|py|tex)")


class Program(Reported):
    """A parsed program: declarations, random inputs and assignments, by name.

    Attributes:
        names: all names, declarations first.
        inputs: the declared symbols and random inputs, in the order of the text.
        outputs: the assigned names with their expressions.
        result: the bare expression that ends the text, or None.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse('''
        ... x : real
        ... u ~ Uniform(0.9, 1.1)
        ... y = x**2
        ... z = sqrt(y*u)
        ... ''')
        >>> p.names
        ('x', 'u', 'y', 'z')
        >>> print(p["z"])
        sqrt(x**2*u)
    """

    told_by: ClassVar[str] = "symgrad.api.reports.gradients:program_report"

    def __init__(self, listing: Listing, known: tuple[Listing, ...] = ()) -> None:
        self._listing = listing
        self._known = known  # programs whose names the text may use; derivatives print in them too
        derivatives = {n: d for each in (*known, listing) for n, d in each.derivatives.items()}
        results = [] if listing.result is None else [listing.result]
        inside = _derivatives_inside([*map(listing.__getitem__, listing.names), *results], derivatives)
        self._exprs = {name: self._expr(listing[name], derivatives, inside) for name in listing.names}
        self._result = next((self._expr(node, derivatives, inside) for node in results), None)

    def _expr(
        self, node: Node, derivatives: Mapping[Node, Derivative], inside: Mapping[Node, frozenset[Node]]
    ) -> Expr:
        """Return the expression of a line: a line that is a derivative is one, as if it came from `sg.grad`."""
        listings = (self._listing, *self._known)
        whole = derivatives.get(node)
        found = inside.get(node if whole is None else whole.y, frozenset())
        parts = {n: d for n, d in derivatives.items() if n in found and d.is_simple} if found else {}
        if whole is None:
            return Expr(node, listings=listings, slope=Derivative(node, ()) if parts else None, parts=parts)
        return Expr(
            node,
            listings=listings,
            origins=(whole.y,),
            sources=whole.by,
            slope=whole if whole.is_simple else None,
            in_names=whole,
            parts=parts,
        )

    def __getitem__(self, name: str) -> Expr:
        """Return the expression of a name.

        Raises:
            NotInProgramError: if there is no such name.
            UsageError: if the name is not a text.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
            raise UsageError(
                f"names are texts, got a value of type {type(name).__name__}", cure='program["y"]'
            )
        if name not in self._exprs:
            self._listing[name]  # raises, with a suggestion
        return self._exprs[name]

    if not TYPE_CHECKING:  # a type checker reports unknown attributes

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # protocols of Python and libraries
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

            raise no_attribute_of_program(self.names, name)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._exprs

    def __iter__(self) -> Iterator[str]:
        return iter(self._exprs)

    def __len__(self) -> int:
        return len(self._exprs)

    def __call__(self, /, *args: Any, **values: Any) -> Any:
        """Evaluate the last value (`last`), as `Expr.__call__` does.

        Example:
            >>> import symgrad as sg
            >>> sg.parse("x : real; y = x**2")(x=3.0)
            np.float64(9.0)
        """
        return self.last(*args, **values)

    @property
    def listing(self) -> Listing:
        """The graph with the names and places of the text (internal)."""
        return self._listing

    @property
    def names(self) -> tuple[str, ...]:
        """All names, declarations first, in the order of the text."""
        return self._listing.names

    @property
    def inputs(self) -> tuple[Expr, ...]:
        """The declared symbols and random inputs, in the order of the text."""
        return tuple(self._exprs[name] for name in self._listing.symbols)

    @property
    def outputs(self) -> Mapping[str, Expr]:
        """The assigned names with their expressions, in the order of the text."""
        return {name: self._exprs[name] for name in self._listing.assignments}

    @property
    def result(self) -> Expr | None:
        """The bare expression that ends the text, or None."""
        return self._result

    @property
    def last(self) -> Expr:
        """The result if there is one, else the last assignment: the default of commands."""
        if self._result is not None:
            return self._result
        if not self._listing.assignments:
            raise NotInProgramError("the program computes nothing", cure="add a line such as y = x**2")
        return self._exprs[next(reversed(list(self._listing.assignments)))]

    def __str__(self) -> str:
        from symgrad.ir.notation.printer import program_text
        from symgrad.pretty.forms.calls import call_texts, calls_in

        listing = self._listing
        spelled = {**listing.spellings}
        if listing.source is not None:
            names = {**spelled, **{n: name for n, name in listing.name_of().items() if n.args}}
            spelled |= call_texts(calls_in(listing.source.text, listing.assignments.values()), names)
        roots = [*listing.assignments.values(), *([listing.result] if listing.result else [])]
        reads = set(topological([*roots, *(n for d in listing.derivatives.values() for n in (d.y, *d.by))]))
        given = {name: n for name, n in listing.given.items() if n.args and n in reads}
        return program_text(
            {**given, **listing.assignments},
            result=listing.result,
            declared=listing.symbols.values(),
            spelled=spelled,
            derivatives=listing.derivatives,
            steps=listing.steps,
        )

    def __repr__(self) -> str:
        return f"Program({', '.join(self.names)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Program, (self._listing, self._known))


def _derivatives_inside(
    roots: Sequence[Node], derivatives: Mapping[Node, Derivative]
) -> dict[Node, frozenset[Node]]:
    """Return the derivatives that nodes contain, and those that are inside these, for nodes that contain any."""
    inside: dict[Node, frozenset[Node]] = {}
    if not derivatives:
        return inside
    values = [d.y for d in derivatives.values()]  # a derivative stands behind those in what it differentiates
    for n in topological([*values, *roots], until=derivatives):
        parts = [derivatives[n].y] if n in derivatives else n.args
        found = {inside[a] for a in parts if a in inside}
        if n in derivatives:
            found.add(frozenset([n]))
        if found:
            inside[n] = next(iter(found)) if len(found) == 1 else frozenset().union(*found)
    return inside


def parse(text: str, name: str = "<text>", symbols: Mapping[str, Any] | None = None) -> Program:
    """Read a program in symgrad's notation; nothing in it is evaluated or run.

    Args:
        text: declarations (``x : real``), random inputs (``u ~ Uniform(0.9, 1.1)``), assignments (``y = x**2``),
            comments, and at most one bare expression as the last line. If the whole text is one bare expression, its
            names are real symbols.
        name: the name of the text in messages, such as a file name.
        symbols: known names, with their Exprs.

    Returns:
        A Program.

    Raises:
        ProgramSyntaxError: or one of its subclasses, for malformed text, with line, column and caret. UnknownNameError,
            RedefinitionError, CycleError, DeclarationError, DomainError and ShapeError also contain the place.

    Example:
        >>> import symgrad as sg
        >>> sg.parse("x**2 + y").inputs
        (Expr(x), Expr(y))
    """
    from symgrad.frontend.text import parse_program

    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(f"a program is text, got {type(text).__name__}")
    known = nodes_by_name(symbols)
    if _FILE.fullmatch(text):
        raise UsageError(
            f"'{text}' is the name of a file",
            expected="the text in it",
            cure=f"sg.parse(open({text!r}).read())",
        )
    listings = listings_of([e for e in (symbols or {}).values() if isinstance(e, Expr)])
    return Program(parse_program(text, name, known), listings)


def nodes_by_name(symbols: Mapping[str, Any] | None) -> dict[str, Node] | None:
    """Return the nodes of known names; None for None.

    Raises:
        UsageError: if the argument is not a mapping, or a value is not an expression.
    """
    if symbols is None:
        return None
    if not isinstance(symbols, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(
            f"symbols are given by name, got a value of type {type(symbols).__name__}",
            expected='a mapping such as {"x": x}',
        )
    return {n: node_of(e) for n, e in symbols.items()}
