r"""Read LaTeX into expressions and programs, with a record of how each ambiguity was resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.program import Program, nodes_by_name
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological
from symgrad.ops.array.layout import full
from symgrad.support.errors import UsageError

if TYPE_CHECKING:
    from typing import Unpack

    from symgrad.frontend.latex.meaning.readings import Ambiguity, ReadingOptions

__all__ = ["LatexReading", "differentiated_node", "parse_latex", "read_latex"]

# What is imported in functions here is for start-up time: the LaTeX parser.


@dataclass(frozen=True, slots=True)
class LatexReading:
    """The meaning of formulas in LaTeX.

    Attributes:
        text: the formulas.
        program: what they define, with what was declared before.
        expr: what they end with: the formula itself, if there is one.
        readings: for each place that can be read otherwise how it was read, and which option changes that.
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
    r"""Read formulas in LaTeX, and tell how what is ambiguous in them was read. Nothing is evaluated or run.

    Args:
        text: a formula, or lines that define names; ``$``, equation environments, alignment, labels and spaces are
            passed over, and macros of the text are expanded.
        declarations: a program of symgrad's notation that comes before it, such as ``"X : real[n, d]; w : real[d]"``,
            or a Program. Without it every name is a real number, but for arrays that sums with limits read.
        name: what messages call the text: a file name, say.
        symbols: more names known beforehand, with their Exprs.
        options: how to read what is ambiguous, as `docs/latex.md` tells: ``slash="product"``.

    Returns:
        A LatexReading.

    Raises:
        ProgramSyntaxError: for malformed LaTeX, with line, column and caret, and one of its kinds;
            UnknownNameError, ShapeError and UnsupportedError likewise.

    Example:
        >>> import symgrad as sg
        >>> print(sg.read_latex(r"\sin x y"))
        sin(x*y)
          \sin x y is read as sin(x*y); otherwise: arguments="factor", or brackets
    """
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
    found = parse_latex_program(text, resolutions, name, before, known, sizes, differentiated_node)
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
    r"""Return what formulas in LaTeX mean: an Expr for one formula, a Program for lines that define names.

    `read_latex` takes the same arguments, and tells how what is ambiguous was read.

    Args:
        text: the formulas.
        declarations: declarations and definitions in symgrad's notation that come before them.
        name: what messages call the text.
        symbols: more names known beforehand, with their Exprs.
        options: how to read what is ambiguous.

    Raises:
        SymgradError: as `read_latex`.

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


def differentiated_node(y: Node, x: Node) -> Node:
    """Return the derivative of one node by another, as a formula in LaTeX writes it."""
    from symgrad.api.derivatives.differentiate import grad
    from symgrad.api.derivatives.jacobians import jacobian

    if x not in topological([y]):
        return full(as_node(0), (*y.shape, *x.shape))
    above, below = Expr(y), Expr(x)
    return jacobian(above, below).node if y.shape else grad(above, below).node
