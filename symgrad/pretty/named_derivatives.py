"""Derivatives in the names of their program, as `print` shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import groupby

from symgrad.autodiff.jacobians import derivative_of
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.recurrences import with_steps
from symgrad.ir.graph import SYMBOL, Node, as_node, symbol
from symgrad.ir.listing import Derivative, Listing
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.printer import one_line
from symgrad.ir.notation.recurrence_definitions import short_lines
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ops.control import stop_gradient, with_slope
from symgrad.pretty.adjoints import Adjoint, adjoint_lines, shared_lines
from symgrad.pretty.chain_rule import Lines
from symgrad.pretty.forms.numbers import Literals
from symgrad.pretty.forms.steps import with_factored_sums
from symgrad.pretty.let_bindings import choose_bindings
from symgrad.pretty.limits import IN_STEPS
from symgrad.pretty.named_formulas import (
    NamedConstants,
    NamedFormula,
    NamedFormulas,
    join_formulas,
    recurrence_with_rows,
)
from symgrad.pretty.named_program import NamedProgram, name_by_identity
from symgrad.pretty.program_forms import ProgramForms, program_forms
from symgrad.support.errors import SymgradError

_WORTH = 2
"""How many times as long a formula may be that keeps named constants."""


def name_derivatives(
    listing: Listing, slopes: Sequence[Derivative], parts: Mapping[Node, Derivative] = {}
) -> NamedFormulas | None:
    """Return derivatives in the names of a program, with common lines; None if its names do not suffice.

    Args:
        listing: the program.
        slopes: the derivatives; one of no variables is a formula.
        parts: the derivatives that these formulas contain.
    """
    try:
        program = program_forms(listing)
        if program is None:
            return None
        key = tuple(slopes), tuple(parts.items())
        if key not in program.derivatives:
            # A line of the program is written in the names above it: its own name says nothing.
            names = {d: program.places.get(node) for node, d in listing.derivatives.items()}
            own = [names.get(s) if s.by else program.places.get(s.y) for s in slopes]
            groups = [
                (program.above(name) if name in program.words.bodies else program, [s for s, _ in group])
                for name, group in groupby(zip(slopes, own, strict=True), lambda pair: pair[1])
            ]
            found = [_name_derivatives(*group, parts) for group in groups]
            complete = [f for f in found if f is not None]
            whole = len(complete) == len(found)
            joined = join_formulas(complete, program.over_names, program.domains) if whole else None
            program.derivatives[key] = joined
        return program.derivatives[key]
    except SymgradError:  # the form is not supported, or a number is too long
        return None


def _name_derivatives(
    program: ProgramForms, slopes: Sequence[Derivative], parts: Mapping[Node, Derivative]
) -> NamedFormulas | None:
    lines = Lines(program.words, program.forms, taken={s.name for s in symbols_of([d.y for d in slopes])})
    found = _derived(program, lines, slopes, parts)
    if found is None:
        return None
    shown = _format_result(program, lines, found)
    in_steps = _with_rows(program, lines, found, slopes)
    return shown if in_steps is None else _choose_form(shown, in_steps)


def _with_rows(
    program: ProgramForms, lines: Lines, results: Sequence[Node], slopes: Sequence[Derivative]
) -> NamedFormulas | None:
    """Return derivatives whose rows are values of the steps of a backward pass; None if there are none."""
    names: list[Node] = []
    new: dict[Node, Node] = {}
    taken = {*program.known, *(n.name for n in lines.bodies), *(s.name for s in symbols_of(results))}
    for result, slope in zip(program.step_forms.with_sums(results), slopes, strict=True):
        rows = program.step_forms.with_rows(result) if slope.by else None
        names.append(result)
        if rows is not None and slope.by[0].op is SYMBOL:
            names[-1] = symbol(Declaration(free_name(f"{slope.by[0].name}_bar", taken), shape=result.shape))
            taken.add(names[-1].name)
            new[names[-1]] = rows
    if not new or lines.bodies:
        return None
    return _short_lines(program, lines, names, new)


def adjoints(
    listing: Listing, y: Node, wrt: Sequence[Node], parts: Mapping[Node, Derivative] = {}
) -> tuple[Adjoint, ...]:
    """Return the backward pass from a scalar in the names of a program; an empty result if its names do not suffice.

    Args:
        listing: the program.
        y: the scalar.
        wrt: inputs, or values with a name.
        parts: the derivatives that ``y`` is or contains.
    """
    try:
        program = program_forms(listing)
        if program is None or any(w not in program.places for w in wrt):
            return ()
        key = (y, *wrt)
        if key not in program.adjoints:
            place = program.places.get(y)
            if place is None:
                place = _inlined(program, parts.get(y, Derivative(y, ())), parts) or program.over_names(y)
            by = [program.places[w] for w in wrt]
            program.adjoints[key] = adjoint_lines(
                program.words, program.forms, program.domains, place, by, partial(_backward_pass, program)
            )
        return program.adjoints[key]
    except SymgradError:  # the form is not supported, or a number is too long
        return ()


def _backward_pass(program: ProgramForms, lines: Lines, bodies: dict[Node, Node]) -> NamedFormulas:
    """Return the lines of a backward pass in their printed form."""
    formulas = list(bodies.values())
    summed = program.step_forms.in_steps(formulas)
    plain, *others = (
        _short_lines(program, lines, (), shared_lines(lines, dict(zip(bodies, some, strict=True))))
        for some in ([formulas] if summed == formulas else [formulas, summed])
    )
    return _choose_form(plain, others[0]) if others else plain


def in_names(
    listing: Listing, nodes: Sequence[Node], derivative: Derivative | None = None
) -> NamedFormula | None:
    """Return a formula in the names of a program if that is not longer, or keeps named constants; otherwise None.

    Args:
        listing: the program.
        nodes: equal forms of the formula, the shortest over the inputs first.
        derivative: the derivative that the formula is; it is taken between names, so no named constant is folded.
    """
    try:
        program = program_forms(listing)
        if program is None:
            return None
        between = None if derivative is None else _between_names(program, derivative)
        forms = [*map(program.over_names, nodes), *([] if between is None else [between])]
        found = _if_shorter(program, nodes[0], forms)
        if between is None or not any(n in program.constants for n in symbols_of([between])):
            return found
        named = program.shortest([between])
        plain = one_line(nodes[0]) if found is None else str(found)
        return named if plain is None or len(str(named)) <= _WORTH * len(plain) else found
    except SymgradError:  # the form is not supported, or a number is too long
        return None


def _between_names(program: ProgramForms, derivative: Derivative) -> Node | None:
    """Return a derivative between the names of a program, as its lines read each other; None if a name is missing."""
    y = program.places.get(derivative.y) or program.read(derivative.y)
    by = [program.places.get(x) for x in derivative.by]
    variables = [x for x in by if x is not None]
    if y is None or len(variables) < len(by):
        return None
    whole, named = program.words.opened(y, variables)
    return named(reduce(derivative_of, variables, whole))


def _if_shorter(program: ProgramForms, node: Node, forms: Sequence[Node]) -> NamedFormula | None:
    try:
        found = program.shortest(forms) if program.is_clear(node) else None
        plain = one_line(node, program.forms.spelling.numbers)
        return None if found is not None and plain is not None and len(str(found)) > len(plain) else found
    except SymgradError:  # the form is not supported, or a number is too long
        return None


def with_constants(listing: Listing, nodes: Sequence[Node]) -> NamedConstants | None:
    """Return a program with long numbers as symbols; None if it has none, or its names do not suffice for the nodes.

    Args:
        listing: the program.
        nodes: the nodes to express over these symbols.
    """
    try:
        program = program_forms(listing)
        if program is None:
            return None
        words, places = program.words, program.places
        numbers = dict(words.literals.meaning)
        opened: dict[Node, Node] = {}
        for name, body in words.bodies.items():
            meaning = words.meaning[name]
            if words.literals.is_long(meaning):
                numbers[name] = meaning
            else:
                opened[name] = substitute([body], opened)[0]
        read = [places.get(n) or program.read(n) for n in nodes]
        found = substitute([n for n in read if n is not None], opened)
        if len(found) < len(nodes) or not numbers.keys() & {*symbols_of(found)}:
            return None
        symbols = {**listing.symbols, **{n.name: n for n in numbers if n in words.bodies}}
        assignments = {n.name: value for n, value in opened.items()}
        return NamedConstants(Listing(symbols, assignments), tuple(found), numbers, words.literals)
    except SymgradError:  # the form is not supported, or a number is too long
        return None


def values_in_names(
    values: Mapping[str, Node], nodes: Sequence[Node], literals: Literals
) -> list[tuple[Node, str | None]]:
    """Return formulas in names of values if that is not longer, each with its text; None for a very long text.

    Args:
        values: the values by name.
        nodes: the formulas.
        literals: the spelling of numbers.
    """
    listing = Listing({}, dict(values))
    words = name_by_identity(listing, literals)
    program = None if words is None else ProgramForms(listing, words)
    found: list[tuple[Node, str | None]] = []
    for node in nodes:
        named = None if program is None else _if_shorter(program, node, [program.over_names(node)])
        if named is None:
            found.append((node, short_lines(node, spelled=literals.spellings)))
            continue
        (formula,) = substitute([named.formula], named.spelling.literals)
        found.append((formula, short_lines(named.formula) and str(named)))
    return found


def slopes_in_names(listing: Listing, slopes: Sequence[Derivative]) -> list[str] | None:
    """Return derivatives as text in the names of a program.

    The result is None if its names do not suffice, or further lines are needed.
    """
    found = name_derivatives(listing, slopes)
    if found is None or found.lines:
        return None
    return [replace(found, results=(r,)).text([""]) for r in found.results]


def name_solution(
    listing: Listing | None,
    equations: Sequence[Node],
    unknowns: Sequence[Node],
    inputs: Sequence[Node],
    parts: Mapping[Node, Derivative] = {},
) -> tuple[tuple[Node, ...], NamedFormulas] | None:
    """Return one or two equations, and the derivatives of their solutions, in the names of a program.

    From F(z, x) = 0 follows dz/dx = -F_x/F_z; two equations are solved by Cramer's rule.

    Args:
        listing: the program; None if there is none.
        equations: expressions that are zero; there are as many as unknowns.
        unknowns: symbols.
        inputs: the symbols with respect to which to differentiate; all derivatives of the first unknown come first.
        parts: the derivatives that the equations contain.
    """
    try:
        program = None if listing is None else program_forms(listing)
        if program is None:
            program = ProgramForms(Listing({}, {}), NamedProgram(Literals(whole=True)))
        lines = Lines(program.words, program.forms)
        found = [_inlined(program, Derivative(f, ()), parts) if parts else None for f in equations]
        zero = [g or program.over_names(f) for f, g in zip(equations, found, strict=True)]
        jacobian = [[lines.pushed(f, z) for z in unknowns] for f in zero]
        rows = [_cramer(jacobian, [lines.pushed(f, x) for f in zero]) for x in inputs]
        slopes = [program.forms.best([row[k]]) for k in range(len(unknowns)) for row in rows]
        shown = tuple(program.forms.as_written(program.words.bodies.get(f, f)) for f in zero)
        return shown, _format_result(program, lines, slopes)
    except SymgradError:  # the form is not supported, or a number is too long
        return None


def _cramer(jacobian: Sequence[Sequence[Node]], by_x: Sequence[Node]) -> list[Node]:
    if len(by_x) == 1:
        return [-by_x[0] / jacobian[0][0]]
    ((a, b), (c, d)), (g, h) = jacobian, by_x
    determinant = a * d - b * c
    return [(b * h - d * g) / determinant, (c * g - a * h) / determinant]


def _format_result(program: ProgramForms, lines: Lines, results: Sequence[Node]) -> NamedFormulas:
    plain, summed = _short_forms(program, lines, results), program.step_forms.with_sums(results)
    return plain if summed == [*results] else _choose_form(plain, _short_forms(program, lines, summed))


def _choose_form(plain: NamedFormulas, in_steps: NamedFormulas) -> NamedFormulas:
    """Return formulas of steps, as people write them, unless those with whole arrays are far shorter.

    Arrays with a value of its own at an end have no other form without zeros at all other positions.
    """
    if any(recurrence_with_rows(body) is not None for _, body in in_steps.lines):
        return in_steps
    return in_steps if len(in_steps) <= IN_STEPS * len(plain) else plain


def _short_forms(program: ProgramForms, lines: Lines, results: Sequence[Node]) -> NamedFormulas:
    shown = choose_bindings(lines, results)
    return _short_lines(program, lines, shown.results, shown.new)


def _short_lines(
    program: ProgramForms, lines: Lines, results: Sequence[Node], new: Mapping[Node, Node]
) -> NamedFormulas:
    """Return results, and lines in evaluation order, in their printed form."""

    def short_form(node: Node) -> Node:
        written = program.forms.as_written(node)
        (found,) = with_steps(
            [with_factored_sums(written)],
            program.step_forms.shortest,
            lambda start: program.forms.as_written(program.forms.best([start])),
        )
        factored = with_factored_sums(found)
        return found if factored is written else program.forms.as_written(factored)

    printed = tuple(map(short_form, results))
    new = {name: short_form(body) for name, body in new.items()}
    table = {**program.words.meaning, **program.words.literals.meaning}
    for name, body in new.items():  # in evaluation order
        table[name] = substitute([body], table)[0]
    return NamedFormulas(
        printed,
        tuple(reversed(new.items())),
        lines.slopes,
        program.forms.spelling,
        tuple(substitute(printed, table)),
        program.known,
        program.over_names,
        program.domains,
        program.words,
    )


def _derived(
    program: ProgramForms, lines: Lines, slopes: Sequence[Derivative], parts: Mapping[Node, Derivative]
) -> list[Node] | None:
    places = program.places
    if any(n not in places for s in slopes for n in s.by):
        return None
    # A formula is written out, also one that has a name; what is differentiated keeps its name.
    tops = [(places.get(s.y) if s.by else None) or _over_names(program, lines, s.y, parts) for s in slopes]
    placed = [(top, tuple(places[b] for b in s.by)) for s, top in zip(slopes, tops, strict=True) if top]
    if len(placed) < len(slopes):
        return None
    if not any(n.shape for n in topological([s.y for s in slopes])):
        made: dict[tuple[Node, tuple[Node, ...]], Node] = {}
        return [_pushed(lines, y, by, made) for y, by in placed]
    # Of an array program, a derivative of higher order is that of a number over the names of the program.
    if any(b.shape for _, by in placed for b in by[:-1]):
        return None
    inner = [
        y if len(by) < 2 else _inlined(program, Derivative(s.y, s.by[:-1]), parts)
        for s, (y, by) in zip(slopes, placed, strict=True)
    ]
    placed = [(y, by[-1:]) for y, (_, by) in zip(inner, placed, strict=True) if y is not None]
    if len(placed) < len(slopes):
        return None
    order = {y: len(s.by) for s, (y, _) in zip(slopes, placed, strict=True)}
    pushed = {
        (y, by): _pushed_forward(program, y, by[0]) for y, by in placed if order[y] > 1 and not by[0].shape
    }
    pulled = dict(_pulled(lines, [(y, by) for y, by in placed if by and (y, by) not in pushed]))
    return [pushed.get((y, by)) or (pulled[y, by[0]] if by else y) for y, by in placed]


def _pushed_forward(program: ProgramForms, y: Node, by: Node) -> Node:
    """Return the derivative of a formula by a number in forward mode, without lines for the values that it reads."""
    bodies = program.words.moved_by([by])
    (slope,) = push_forward(substitute([y], bodies), {by: as_node(1)})
    return program.forms.best(substitute([slope], {body: name for name, body in bodies.items()}))


def _inlined(program: ProgramForms, slope: Derivative, parts: Mapping[Node, Derivative]) -> Node | None:
    """Return a derivative over the names of the program, without lines for other derivatives."""
    lines = Lines(program.words, program.forms)
    found = _derived(program, lines, [slope], parts)
    table: dict[Node, Node] = {}
    for name, body in lines.bodies.items():
        table[name] = substitute([body], table)[0]
    return None if found is None else program.forms.best(substitute(found, table))


def _over_names(
    program: ProgramForms, lines: Lines, node: Node, parts: Mapping[Node, Derivative]
) -> Node | None:
    """Return a formula over names, with the derivatives that it contains in these names, too."""
    if not program.is_clear(node):
        return None
    values = program.values_in(node)
    order = topological([node], until={n for n in (*parts, *values) if n is not node})
    if any(n.op is stop_gradient or n.op is with_slope for n in order):
        return program.read(node)
    inner = [n for n in order if n in parts and n is not node and n not in values]
    found = _derived(program, lines, [parts[n] for n in inner], parts)
    if found is None:
        return None
    held = {n: symbol(Declaration(f"__derivative{k}", shape=n.shape)) for k, n in enumerate(inner)}
    over = program.words.literals.opaque(substitute([node], {**values, **held})[0])
    return program.forms.best(substitute([over], dict(zip(held.values(), found, strict=True))))


def _pushed(
    lines: Lines, y: Node, by: tuple[Node, ...], made: dict[tuple[Node, tuple[Node, ...]], Node]
) -> Node:
    if not by:
        return y
    found = made.get((y, by))
    if found is None:
        found = made[y, by] = lines.pushed(_pushed(lines, y, by[:-1], made), by[-1])
    return found


def _pulled(
    lines: Lines, placed: Sequence[tuple[Node, tuple[Node, ...]]]
) -> Iterator[tuple[tuple[Node, Node], Node]]:
    for y in dict.fromkeys(y for y, _ in placed):
        by = list(dict.fromkeys(b for z, (b,) in placed if z is y))
        yield from zip(((y, b) for b in by), lines.pulled(y, by), strict=True)
