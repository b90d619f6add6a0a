"""Backward passes in the names of the program: one line for each named value, `mu_bar = mu/n + zs_bar`.

    Adjoints ::= (Bar = Body)*          -- from the output back; a Body reads names of the program and Bars above it

A line collects all contributions to one value, with signs and sums merged. Later lines read the bar of this value, or
its body if the body is not longer and is not a sum. A long repeated subexpression gets its own name, `t1`. The values
of a recurrence have the lines of the recurrence that runs back, `h_bar[t-1] = W.T@h_bar[t] for t in T..1`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.recurrences import has_recurrences
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import add
from symgrad.pretty.chain_rule import Lines
from symgrad.pretty.domains import Domains
from symgrad.pretty.forms.step_sources import StepSources
from symgrad.pretty.let_bindings import share
from symgrad.pretty.limits import GRADIENT_CHARACTERS, LINE_CHARACTERS, SAVED_CHARACTERS
from symgrad.pretty.named_formulas import NamedFormulas
from symgrad.pretty.named_program import NamedProgram
from symgrad.pretty.shortest import ShortestForms
from symgrad.support.traversal import postorder


@dataclass(frozen=True, slots=True)
class Adjoint:
    """A line of a backward pass, or the lines of a recurrence in it.

    Args:
        name: the defined name, such as ``mu_bar``; of a recurrence of several values all, separated by commas.
        of: the name of the value whose adjoint this is; None for a common subexpression.
        symbol: the symbol that stands for the line in the lines below it; of a recurrence that of its first values.
        body: the definition of the name, over declared symbols, names of the program and the lines above; None for a
            recurrence, whose lines are text.
        text: the line in program notation; of a recurrence all lines. That of the values of steps has a position:
            x_bar[t-1] = ... for t in T..1.
        whole: all lines of the backward pass.
        notes: where the line is defined although the chain rule, applied literally, gives an undefined value; for a
            recurrence which lines of the program its values come from.
        alone: for an input of the gradient, its body with the lines above inserted, if this is short.
        alone_notes: where ``alone`` is defined although the derivative as built is not.
    """

    name: str
    of: str | None
    symbol: Node
    body: Node | None
    text: str = field(repr=False)
    whole: NamedFormulas = field(repr=False)
    notes: tuple[str, ...] = ()
    alone: Node | None = None
    alone_notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the lines in program notation."""
        return self.text

    @property
    def formula(self) -> str:
        """The body in program notation; of a recurrence, or values of its steps, all lines."""
        return self.text.removeprefix(f"{self.name} = ")

    @property
    def is_by_steps(self) -> bool:
        """Whether the line says one value for each step: x_bar[t-1] = ... for t in T..1."""
        return self.text.startswith(f"{self.name}[")


def adjoint_lines(
    words: NamedProgram,
    forms: ShortestForms,
    domains: Domains,
    y: Node,
    wrt: Sequence[Node],
    finished: Callable[[Lines, dict[Node, Node]], NamedFormulas],
) -> tuple[Adjoint, ...]:
    """Return a backward pass from a scalar to symbols and names, each line above those that read it.

    Args:
        words: the program over its names.
        forms: the object that searches for short forms.
        domains: the object that compares domains.
        y: a scalar over names.
        wrt: the symbols and names with respect to which y is differentiated.
        finished: a function that returns lines in their printed form.
    """
    lines = Lines(words, forms)
    bodies: dict[Node, Node] = {}
    of: dict[Node, str] = {}
    notes: dict[Node, tuple[str, ...]] = {}
    built: dict[Node, Node] = {}
    direct: dict[str, Node] = {}
    declared = {s.name for s in symbols_of([y, *wrt, *words.bodies.values()])}

    def define(name: Node, raw: Node, bar: Node) -> Node:
        in_loop = name not in wrt and loop_of(words.bodies.get(name, name)) is not None
        if in_loop and lines.is_divided(name, raw):
            direct[name.name] = raw
            return raw
        # The recurrence back has the name of an adjoint.
        title = f"d{y.name if y in words.bodies else 'out'}_d{name.name}" if in_loop else f"{name.name}_bar"
        title = free_name(title, (*words.names, *declared))
        declared.add(title)
        top = symbol(Declaration(title, shape=bar.shape))
        bodies[top], built[top] = bar, raw
        if not in_loop:
            of[top] = name.name
        notes[top] = () if has_recurrences([bar]) else tuple(domains.gained(raw, [bar]))
        return top if bar.op is add or forms.length(bar) > len(title) else bar

    lines.pulled_by(y, wrt, define)
    alone = _inlined(bodies, forms, [top for top in of if of[top] in {w.name for w in wrt}])
    whole = dict(built)
    for top in bodies:
        whole[top] = substitute([built[top]], whole)[0]
    found = finished(lines, bodies)
    shown = dict(found.lines)
    sources = StepSources(words.names, words.bodies, words.steps, y, direct)
    result: list[Adjoint] = []
    for group in found.groups():
        first = group.names[0]
        if first in shown:
            result.append(
                Adjoint(
                    first.name,
                    of.get(first),
                    first,
                    shown[first],
                    "\n".join(group.lines),
                    found,
                    notes.get(first, ()),
                    forms.as_written(alone[first]) if first in alone else None,
                    tuple(domains.gained(whole[first], [alone[first]])) if first in alone else (),
                )
            )
        else:
            names = ", ".join(n.name for n in group.names)
            values = ", ".join(name for name in group.of if name is not None)
            text = "\n".join(group.lines)
            result.append(
                Adjoint(
                    names,
                    values or None,
                    first,
                    None,
                    text,
                    found,
                    tuple(sources.notes(group.names, group.of)),
                )
            )
    return tuple(result)


def shared_lines(lines: Lines, bodies: dict[Node, Node]) -> dict[Node, Node]:
    """Return the lines of a backward pass in evaluation order, with names for long common parts."""
    found, tops = dict(bodies), list(bodies)
    share(found, lambda: list(found), lines, SAVED_CHARACTERS)
    order = postorder(
        tops, lambda top: [n for n in topological([found[top]]) if n in found and n not in bodies]
    )
    return {n: found[n] for n in order}


def _inlined(bodies: dict[Node, Node], forms: ShortestForms, tops: Sequence[Node]) -> dict[Node, Node]:
    """Return lines with the lines above inserted, if this is short."""
    whole: dict[Node, Node] = {}
    for top, body in bodies.items():
        whole[top] = substitute([body], whole)[0]
        if has_recurrences([whole[top]]) or forms.length(whole[top]) > GRADIENT_CHARACTERS:
            whole[top] = top  # none of the lines that read it is short
    found = {top: forms.best([whole[top]]) for top in tops if whole[top] is not top}
    return {
        top: form
        for top, form in found.items()
        if forms.length(form) <= LINE_CHARACTERS and not any(n in bodies for n in topological([form]))
    }
