"""Decide claims about recurrences: proofs by induction on the steps, and refutations at a small number of steps.

Two recurrences have equal values if their first values are equal, and one step is: the new values are equal for all
values of the step before and of the rows. So equal recurrences get common names, and the rest of the claim is decided
for all values of these names. All claims are about formulas without recurrences, each with its own proof.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeAlias

from symgrad.autodiff.batch import batch
from symgrad.autodiff.recurrences import StepArrays
from symgrad.autodiff.rows.formulas import part_with_rows, row_of, summand
from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import now, stopwatch
from symgrad.ir.body import Body, bodies_in, carry_values, divide
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.size_substitution import resized
from symgrad.ir.sizes import Shape, Size, names_of, size_sum
from symgrad.ir.traverse import fold, signed_terms, substitute, symbols_of, topological, with_args
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ops.array.layout import concatenate, expand, slice_rows
from symgrad.ops.numpy.subscripts import index
from symgrad.ops.scalar.arith import add
from symgrad.verification.decide import decide, derivative_is
from symgrad.verification.decide import equal as statement
from symgrad.verification.verdict import Verdict

_LENGTHS = (1, 2, 3)
"""The numbers of steps for which a claim about any number of steps is decided without induction."""

_UNROLLED = 12
"""The largest number of steps that are written out."""


def has_recurrences(nodes: Sequence[Node]) -> bool:
    """Tell whether formulas contain recurrences."""
    return any(map(is_recurrence, topological(nodes)))


def stops_in_recurrences(nodes: Sequence[Node]) -> bool:
    """Tell whether formulas with recurrences contain `stop_gradient`, also in a step."""
    inside = [n for body in bodies_in(topological(nodes)) for n in topological(body.results)]
    return has_recurrences(nodes) and any("stops" in n.op.facts for n in (*topological(nodes), *inside))


def decide_recurrences(
    a: Node, b: Node, seconds: float, sizes: Mapping[str, Size] | None = None, wrt: Node | None = None
) -> Verdict:
    """Decide whether two formulas with recurrences are equal.

    Args:
        a: one side, or a scalar to differentiate.
        b: the other side, or the claimed derivative.
        seconds: the time limit.
        sizes: replacements of named sizes.
        wrt: the symbol by which the first side is differentiated.
    """
    end, took = now() + seconds, stopwatch()
    a, b = resized([a, b], sizes or {})
    value = a if wrt is None else pull_back([a], [as_node(1)], [wrt]).gradients[0]
    claims = _by_induction(value, b, end - seconds / 3)
    note = None if wrt is None else "compared with the derivative that symgrad computes"
    if all(v.status == "proved" for v in claims.values()):
        why = "by induction on the steps: the first values, one step, and what reads the values agree"
        points = sum(v.points for v in claims.values())
        excluded = tuple(dict.fromkeys(f"{c} at a step" for v in claims.values() for c in v.excluded))
        return Verdict(
            "proved",
            why,
            points=points,
            claims=claims,
            excluded=excluded,
            left_out=("a step has no value",) if excluded else None,
            note=note,
            seconds=took(),
        )
    few = _with_few_steps(a, b, end, wrt)
    if few is not None and (few.status == "refuted" or not _open_lengths([a, b])):
        return replace(few, seconds=took())
    if few is not None and few.status in ("proved", "supported"):
        lengths = ", ".join(map(str, _LENGTHS))
        why = f"the sides agree for {lengths} steps, and there is no proof by induction"
        return Verdict("supported", why, points=few.points, digits=few.digits, seconds=took(), claims=claims)
    return Verdict(
        "undecided", "there is no proof by induction, and too many steps to compare", seconds=took()
    )


def _open_lengths(nodes: Sequence[Node]) -> list[str]:
    """Return the names of sizes on which numbers of steps depend."""
    return names_of(*(n.params[0] for n in topological(nodes) if is_recurrence(n)))


def _with_few_steps(a: Node, b: Node, end: float, wrt: Node | None) -> Verdict | None:
    """Decide the claim for some small numbers of steps; the result is the first refutation, or the last verdict.

    The result is None if numbers of steps are too large to be written out.
    """
    names = _open_lengths([a, b])
    found: Verdict | None = None
    for length in _LENGTHS if names else (0,):
        sizes: dict[str, Size] = dict.fromkeys(names, length)
        sides = [*resized([a, b, *([wrt] if wrt is not None else [])], sizes)]
        steps = [n.params[0] for n in topological(sides) if is_recurrence(n)]
        if any(not isinstance(s, int) or s > _UNROLLED for s in steps):
            return None
        left, right = unrolled(sides[:2])
        limit = max((end - now()) / 3, 0.1)
        claim = statement(left, right) if wrt is None else derivative_is(left, sides[2], right)
        found = decide(claim, limit)
        if found.status == "refuted" and names:
            where = ", ".join(f"{n} = {length}" for n in names)
            return replace(found, why=f"the two sides differ for {where}")
        if found.status == "undecided":
            return None
    return found


def unrolled(nodes: Sequence[Node]) -> list[Node]:
    """Return formulas with the steps of their recurrences written out; all numbers of steps are numbers."""
    stacks: dict[Node, list[Node]] = {}

    def rebuilt(node: Node, args: list[Node]) -> Node:
        if node.op.name == "part" and node.args[0] in stacks:
            number: int = node.params[0]
            return stacks[node.args[0]][number]
        new = with_args(node, args)
        if node.op.name in ("pack", "part"):
            native: Any = node.op.array.native
            return native(new, tuple(args))
        if not is_recurrence(node):
            return new
        stacks[node] = [concatenate(*(expand(v, [0]) for v in some), params=(0,)) for some in _values(new)]
        return stacks[node][0]

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes]


def _values(node: Node) -> Iterator[list[Node]]:
    """Yield all values of each carry of a recurrence, from the first position on."""
    length, reverse, body = node.params
    assert isinstance(body, Body)
    starts, rows, operands = divide(node)
    states = [list(starts)]
    order = range(length)[::-1] if reverse else range(length)
    for at in order:
        read = [index(x, at) for x in rows]
        states.append(unrolled(body.applied([*states[-1], *read, *operands])))
    for some in zip(*states, strict=True):
        yield list(some)[::-1] if reverse else list(some)


def _by_induction(a: Node, b: Node, end: float) -> dict[str, Verdict]:
    """Return the claims of a proof by induction, with verdicts: recurrences with equal values get common names."""
    names = {s.name for s in symbols_of([a, b])}
    table: dict[Node, Node] = {}
    classes: list[_Class] = []
    claims: dict[str, Verdict] = {}
    for node in [n for n in topological([a, b]) if is_recurrence(n)]:
        (here,) = substitute([node], table)
        found = next(
            (
                (known[1], f)
                for known in classes
                if (f := _same_steps(known, here, classes, names, end)) is not None
            ),
            None,
        )
        if found is None:
            common = [
                symbol(Declaration(free_name(f"values{k or ''}", names), REAL, c.shape))
                for k, c in enumerate(carry_values(node))
            ]
            names.update(c.name for c in common)
            classes.append((here, common))
        else:
            common, proved = found
            number = len(claims)
            claims.update((f"{key} ({number})", verdict) for key, verdict in proved.items())
        table.update(zip(carry_values(node), common, strict=True))
    rest = substitute([a, b], table)
    left, right = rest = substitute(rest, _computed_rows(classes))
    if has_recurrences(rest):
        return {
            "what reads the values": Verdict("undecided", "the values of several carries are read together")
        }
    for length in dict.fromkeys(node.params[0] for node, _ in classes):
        summed = _same_sums(left, right, length, _StepRows(length, classes, names), end)
        if summed is not None:
            return {**claims, **summed}
    claims["what reads the values"] = _decided(left, right, end)
    return claims


def _same_sums(
    left: Node, right: Node, length: Size, rows: _StepRows, end: float
) -> dict[str, Verdict] | None:
    """Return proved claims by which two sums over the steps are equal: their terms are; None if they are not proved."""
    sides: list[tuple[Node, Node]] = []
    for side in (left, right):
        terms, others = [as_node(0)], [as_node(0)]
        for sign, term in signed_terms(side):
            stack = summand(term, length)
            (others if stack is None else terms).append(
                (term if stack is None else rows.formula(stack)) * sign
            )
        sides.append((reduce(add, terms), reduce(add, others)))
    (a, c), (b, d) = sides
    if a.is_number() and b.is_number():
        return None
    verdicts = {"what the steps add": _decided(a, b, end), "what else is added": _decided(c, d, end)}
    return verdicts if all(v.status == "proved" for v in verdicts.values()) else None


def _computed_rows(classes: Sequence[_Class]) -> dict[Node, Node]:
    """Return all values but the first ones of known recurrences, as formulas of the values before them."""
    found: dict[Node, Node] = {}
    for node, values in classes:
        steps = StepArrays(node)
        if any(rows.shape[0] != steps.length for rows in steps.rows):
            continue  # x[1:] of T rows has max(T - 1, 0) rows, whose number is written in another way
        results = substitute(steps.body.results, steps.constants())
        computed = batch(results, steps.step_rows(values), (steps.length,))
        found.update(zip(map(steps.after, values), computed, strict=True))
    return found


_Class: TypeAlias = "tuple[Node, Sequence[Node]]"
"""A recurrence, and the names of the values of its carries."""


class _StepRows:
    """Symbols for rows of arrays at one step; a value that a known recurrence computes is its formula.

    Args:
        length: the number of steps.
        classes: the known recurrences.
        names: the names in use.
    """

    def __init__(self, length: Size, classes: Sequence[_Class], names: Collection[str]) -> None:
        self._length = length
        self._names = set(names)
        self._made: dict[Node, Node] = {}
        self._computed: dict[Node, tuple[Node, int]] = {}
        self._values = {node: values for node, values in classes if node.params[0] == length}
        for node, values in self._values.items():
            self._computed.update({x: (node, k) for k, x in enumerate(map(StepArrays(node).after, values))})

    def new(self, word: str, shape: Shape, kind: str) -> Node:
        """Return a new symbol."""
        name = free_name(word, self._names)
        self._names.add(name)
        return symbol(Declaration(name, REAL if kind == "real" else INT, shape))

    def set_row(self, array: Node, row: Node) -> None:
        """Set the row of an array."""
        self._made[array] = row

    def of(self, array: Node, like: Node) -> Node:
        """Return the row of an array; ``like`` has its shape and kind."""
        if array not in self._made:
            found = self._computed.get(array)
            self._made[array] = (
                self.new("row", like.shape, like.dtype) if found is None else self.results(found[0])[found[1]]
            )
        return self._made[array]

    def formula(self, values: Node) -> Node:
        """Return one row of an array, as a formula of these symbols."""
        return row_of(values, self._row)

    def _row(self, array: Node, start: Size) -> Node:
        inside = part_with_rows(array, start, self._length)
        if inside is not None:
            return row_of(inside[0], self._row, 0, inside[1])
        rows = slice_rows(array, start, size_sum([start, self._length]))
        return self.of(rows, index(rows, 0))

    def results(self, node: Node, before: Sequence[Node] | None = None) -> list[Node]:
        """Return the values that a step of a recurrence computes."""
        steps = StepArrays(node)
        body = steps.body
        if before is None:
            arrays = map(steps.before, self._values[node])
            before = [self.of(x, c) for x, c in zip(arrays, body.carries, strict=True)]
        read = [self.formula(x) for x in steps.rows]
        return body.applied([*before, *read, *steps.operands])


def _same_steps(
    known: _Class, b: Node, classes: Sequence[_Class], names: Collection[str], end: float
) -> dict[str, Verdict] | None:
    """Return the proved claims by which a recurrence has the values of a known one; None if they are not proved.

    Args:
        known: the known recurrence.
        b: the recurrence, in terms of the names of the values of known ones.
        classes: all known recurrences.
        names: the names in use.
        end: the time limit.
    """
    a, values = known
    if a.params[:2] != b.params[:2]:
        return None
    steps, other = StepArrays(a), StepArrays(b)
    shapes = [c.shape for c in steps.body.carries]
    if shapes != [c.shape for c in other.body.carries]:
        return None
    if a is b:
        return {}
    rows = _StepRows(steps.length, [c for c in classes if c[0] is not a], names)
    before = [rows.new("before", shape, "real") for shape in shapes]
    # The other recurrence may read the values of this one, before the step and after it.
    for v, symbol_ in zip(values, before, strict=True):
        rows.set_row(steps.before(v), symbol_)
    left = rows.results(a, before)
    for v, result in zip(values, left, strict=True):
        rows.set_row(steps.after(v), result)
    right = rows.results(b, before)
    found: dict[str, Verdict] = {}
    pairs = [
        *(("first values", x, y) for x, y in zip(steps.starts, other.starts, strict=True)),
        *(("one step", x, y) for x, y in zip(left, right, strict=True)),
    ]
    for key, x, y in pairs:
        verdict = _decided(x, y, end)
        if verdict.status != "proved":
            return None
        name = key if key not in found else f"{key}, value {sum(k.startswith(key) for k in found) + 1}"
        found[name] = verdict
    return found


def _decided(x: Node, y: Node, end: float) -> Verdict:
    limit = max(0.7 * (end - now()), 0.1)
    if has_recurrences([x, y]):
        return decide_recurrences(x, y, limit)
    claim = statement(x, y)
    found = decide(claim, limit)
    if found.status == "proved" and found.excluded and claim.chooses:
        # The values of a recurrence may be those that the proof excludes, at each step.
        return replace(
            found, status="undecided", why="the proof excludes points at which both sides have values"
        )
    return found
