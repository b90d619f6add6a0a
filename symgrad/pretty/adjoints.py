"""Backward passes in the names of the program: one line for each named value, `mu_bar = mu/n + zs_bar`.

    Adjoints ::= (Bar = Body)*          -- from the output back; a Body reads names of the program and Bars above it

A line collects all contributions to one value, with signs and sums merged. Later lines read the bar of this value, or
its body if the body is not longer and is not a sum. A long repeated subexpression gets its own name, `t1`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import add
from symgrad.pretty.chain_rule import Lines
from symgrad.pretty.domains import Domains
from symgrad.pretty.forms.calls import Notation
from symgrad.pretty.let_bindings import share
from symgrad.pretty.limits import GRADIENT_CHARACTERS, LINE_CHARACTERS, SAVED_CHARACTERS
from symgrad.pretty.named_program import NamedProgram
from symgrad.pretty.shortest import ShortestForms
from symgrad.support.traversal import postorder


@dataclass(frozen=True, slots=True)
class Adjoint:
    """A line of a backward pass.

    Args:
        name: the defined name, such as ``mu_bar``.
        of: the name of the value whose adjoint this is; None for a common subexpression.
        symbol: the symbol that stands for the line in the lines below it.
        body: the definition of the name, over declared symbols, names of the program and the lines above.
        spelling: the notation of the body.
        notes: where the line is defined although the chain rule, applied literally, gives an undefined value.
        alone: for an input of the gradient, its body with the lines above inserted, if this is short.
        alone_notes: where ``alone`` is defined although the derivative as built is not.
    """

    name: str
    of: str | None
    symbol: Node
    body: Node
    spelling: Notation = field(repr=False)
    notes: tuple[str, ...] = ()
    alone: Node | None = None
    alone_notes: tuple[str, ...] = ()

    @property
    def formula(self) -> str:
        """The body in program notation."""
        return self.spelling.text(self.body)

    def __str__(self) -> str:
        """Return the line in program notation."""
        return f"{self.name} = {self.formula}"


def adjoint_lines(
    words: NamedProgram, forms: ShortestForms, domains: Domains, y: Node, wrt: Sequence[Node]
) -> tuple[Adjoint, ...]:
    """Return a backward pass from a scalar to symbols and names, each line above those that read it.

    Args:
        words: the program over its names.
        forms: the object that searches for short forms.
        domains: the object that compares domains.
        y: a scalar over names.
        wrt: the symbols and names with respect to which y is differentiated.
    """
    lines = Lines(words, forms)
    bodies: dict[Node, Node] = {}
    of: dict[Node, str] = {}
    notes: dict[Node, tuple[str, ...]] = {}
    built: dict[Node, Node] = {}
    declared = {s.name for s in symbols_of([y, *wrt, *words.bodies.values()])}

    def define(name: Node, raw: Node, bar: Node) -> Node:
        title = free_name(f"{name.name}_bar", (*words.names, *declared))
        declared.add(title)
        top = symbol(Declaration(title, shape=bar.shape))
        bodies[top], built[top], of[top] = bar, raw, name.name
        notes[top] = tuple(domains.gained(raw, [bar]))
        return top if bar.op is add or forms.length(bar) > len(title) else bar

    lines.pulled_by(y, wrt, define)
    alone = _inlined(bodies, forms, [top for top in of if of[top] in {w.name for w in wrt}])
    whole = dict(built)
    for top in bodies:
        whole[top] = substitute([built[top]], whole)[0]
    share(bodies, lambda: list(bodies), lines, SAVED_CHARACTERS)
    order = postorder(of, lambda top: [n for n in topological([bodies[top]]) if n in bodies and n not in of])
    return tuple(
        Adjoint(
            n.name,
            of.get(n),
            n,
            forms.as_written(bodies[n]),
            forms.spelling,
            notes.get(n, ()),
            forms.as_written(alone[n]) if n in alone else None,
            tuple(domains.gained(whole[n], [alone[n]])) if n in alone else (),
        )
        for n in order
    )


def _inlined(bodies: dict[Node, Node], forms: ShortestForms, tops: Sequence[Node]) -> dict[Node, Node]:
    """Return lines with the lines above inserted, if this is short."""
    whole: dict[Node, Node] = {}
    for top, body in bodies.items():
        whole[top] = substitute([body], whole)[0]
        if forms.length(whole[top]) > GRADIENT_CHARACTERS:
            whole[top] = top  # none of the lines that read it is short
    found = {top: forms.best([whole[top]]) for top in tops if whole[top] is not top}
    return {
        top: form
        for top, form in found.items()
        if forms.length(form) <= LINE_CHARACTERS and not any(n in bodies for n in topological([form]))
    }
