"""What verdicts on a document rest on: assumptions, equations that are taken to hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from symgrad.api.handles.expr import Expr
from symgrad.ir.graph import Node
from symgrad.ir.listing import Suggestions
from symgrad.ir.traverse import substitute, symbols_of


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that verdicts on a document rest on.

    Args:
        text: what is taken to hold.
        line: where the document says it, or makes it necessary.
        stated: whether the document says it.
    """

    text: str
    line: int
    stated: bool = True

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class ImplicitCurve:
    """An equation of inputs by which one follows another.

    Args:
        left: a side.
        right: the other one.
        y: what follows.
        x: what it follows.
    """

    left: Node
    right: Node
    y: Node
    x: Node


@dataclass(frozen=True, slots=True)
class ImplicitEquation:
    """An equation that defines an unknown, which stands on both sides.

    Args:
        unknown: the symbol.
        value: what it is equal to.
        curve: the equation as it stands where it is F(x, y) = c; the value is then y - F + c.
    """

    unknown: Node
    value: Node
    curve: ImplicitCurve | None = None


@dataclass(frozen=True, slots=True)
class Antiderivative:
    """An integral without bounds, or one whose value is not known.

    Args:
        integrand: what is integrated.
        by: over what: an input, or a value that is computed from one.
        bounded: whether it has bounds: then it is a number, of which nothing else is known.
    """

    integrand: Node
    by: Node
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """An equation that is taken to hold.

    Args:
        left: a side.
        right: the other one, of its shape.
        said: the equation as it is written.
        unknowns: what a derivative in it is by; none where it has none.
        asked: whether it is asked for, and a value is to be found for which it holds; else it is known to hold.
    """

    left: Node
    right: Node
    said: str
    unknowns: tuple[Node, ...] = ()
    asked: bool = True

    @property
    def reads(self) -> set[Node]:
        """The inputs that it is about."""
        return set(symbols_of([self.left, self.right]))

    @property
    def is_identity(self) -> bool:
        """Whether it holds for all values, perhaps since one of its inputs has its value: it says nothing."""
        if self.left.shape != self.right.shape:
            return False
        return (Expr(self.left) - Expr(self.right)).canonical().node.is_number(0)

    def at(self, values: Mapping[Node, Node]) -> tuple[Node, Node]:
        """Return its sides where inputs have values."""
        left, right = substitute([self.left, self.right], values)
        return left, right

    def where(self, values: Mapping[Node, Node]) -> Condition:
        """Return the equation where inputs have values."""
        left, right = self.at(values)
        return replace(self, left=left, right=right)


def with_undeclared(
    assumptions: Mapping[str, Assumption],
    declared: Iterable[str],
    undeclared: Mapping[str, int],
    domains: Mapping[str, str],
) -> tuple[Assumption, ...]:
    """Return assumptions, those that the document states first, and those about names that it does not declare.

    Args:
        assumptions: by their texts.
        declared: names, one of which may be meant by another one.
        undeclared: names, with the lines that read them first.
        domains: of these.
    """
    stated = [a for a in assumptions.values() if a.stated]
    silent = [a for a in assumptions.values() if not a.stated]
    by_line: dict[tuple[int, str], list[str]] = {}
    known = Suggestions(declared)
    free: list[Assumption] = []
    said = " ".join(assumptions)
    for name, line in undeclared.items():
        if f"{name} is read as any position of an axis" in said:
            continue  # which says it
        # x1 and x2, x_t and x_0 are two names, and no slip of the pen.
        meant = known.suggest(name) if len(name) > 2 and "_" not in name else None
        if meant is not None:
            free.append(Assumption(f"{name} : {domains[name]} (not declared; {meant})", line, False))
        else:
            by_line.setdefault((line, domains[name]), []).append(name)
    free += [
        Assumption(f"{', '.join(names)} : {domain} (not declared)", line, False)
        for (line, domain), names in by_line.items()
    ]
    return tuple(sorted([*stated, *free, *silent], key=lambda a: (not a.stated, a.line)))
