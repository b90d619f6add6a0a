r"""Parse LaTeX to expressions and programs, and record the resolution of each ambiguity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.program import Program, nodes_by_name
from symgrad.ir.graph import Node
from symgrad.support.errors import UsageError

if TYPE_CHECKING:
    from typing import Unpack

    from symgrad.frontend.latex.meaning.readings import Ambiguity, ReadingOptions

# What is imported in functions here would slow down `import symgrad`: the LaTeX parser.


@dataclass(frozen=True, slots=True)
class LatexReading:
    """Formulas in LaTeX as symgrad understands them.

    Attributes:
        text: the formulas.
        program: the definitions in the text, with all earlier declarations.
        expr: the last expression of the text; for a single formula, the formula itself.
        readings: for each ambiguous place how it was read, and the option that changes this.
        defines: whether the text defines names, and so is a program.
    """

    text: str
    program: Program
    expr: Expr
    readings: tuple[Ambiguity, ...]
    defines: bool

    def __str__(self) -> str:
        return "\n".join([str(self.expr), *(f"  {reading}" for reading in self.readings)])


def read_latex(
    text: str,
    declarations: str | Program | None = None,
    *,
    name: str = "<text>",
    symbols: Mapping[str, Any] | None = None,
    **options: Unpack[ReadingOptions],
) -> LatexReading:
    r"""Parse formulas in LaTeX, and record how each ambiguity was read. Nothing is evaluated or run.

    Args:
        text: a formula, or lines that define names. ``$``, equation environments, alignment, labels and spaces are
            ignored; macros of the text are expanded.
        declarations: a program in symgrad's notation that precedes the text, such as ``"X : real[n, d]; w : real[d]"``,
            or a Program. Without declarations every name is a real number, except arrays in sums with limits.
        name: the name of the text in messages, such as a file name.
        symbols: more known names, with their Exprs.
        options: how to read ambiguous notation, as in `docs/latex.md`: ``slash="product"``.

    Returns:
        A LatexReading.

    Raises:
        ProgramSyntaxError: or one of its subclasses, for malformed LaTeX, with line, column and caret.
            UnknownNameError, ShapeError and UnsupportedError also contain the place.

    Example:
        >>> import symgrad as sg
        >>> print(sg.read_latex(r"\sin x y"))
        sin(x*y)
          \sin x y is read as sin(x*y); otherwise: arguments="factor", or brackets
    """
    from symgrad.autodiff.jacobians import derivative_of
    from symgrad.frontend.latex.document import parse_latex_program
    from symgrad.frontend.latex.meaning.readings import checked_options
    from symgrad.frontend.text import parse_declarations

    resolutions = checked_options(options)
    sizes: Mapping[str, Node] = {}
    if isinstance(declarations, str):
        listing, sizes = parse_declarations(declarations, "<declarations>")
        declarations = Program(listing)
    elif declarations is not None and not isinstance(declarations, Program):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(
            f"declarations are a text or a program, got {type(declarations).__name__}",
            cure='write them as in a program: "x : real[n]; A : real[n, n]"',
        )
    before = None if declarations is None else declarations.listing
    known = nodes_by_name(symbols)
    found = parse_latex_program(text, resolutions, name, before, known, sizes, derivative_of)
    program = Program(found.listing)
    return LatexReading(text, program, program.last, found.readings, bool(found.defined))


def parse_latex(
    text: str,
    declarations: str | Program | None = None,
    *,
    name: str = "<text>",
    symbols: Mapping[str, Any] | None = None,
    **options: Unpack[ReadingOptions],
) -> Any:
    r"""Parse formulas in LaTeX to an Expr for one formula, or a Program for lines that define names.

    `read_latex` takes the same arguments, and also returns how each ambiguity was read.

    Args:
        text: the formulas.
        declarations: declarations and definitions in symgrad's notation that precede the text.
        name: the name of the text in messages.
        symbols: more known names, with their Exprs.
        options: how to read ambiguous notation.

    Raises:
        SymgradError: as for `read_latex`.

    Example:
        >>> import symgrad as sg
        >>> loss = sg.parse_latex(r"\frac{1}{2} \|X w - y\|_2^2", "X : real[n, d]; y : real[n]; w : real[d]")
        >>> print(loss, sg.grad(loss, "w"), sep="; ")
        1/2*sum((X@w - y)**2); X.T@(X@w - y)
        >>> program = sg.parse_latex(r"z &= a x + b \\ y &= \tanh z")
        >>> print(sg.grad(program["y"], "x"))
        a*(1 - y**2)
    """
    found = read_latex(text, declarations, name=name, symbols=symbols, **options)
    return found.program if found.defines else found.expr
