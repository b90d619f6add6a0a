"""Write a program of small arrays as scalar equations: one for each entry of its arrays.

Loops over arrays of a few entries cost more than the entries. Scalar equations are computed for a whole batch at once,
with one point in each lane, and what is zero by structure disappears.

    exact zeros    a factor of a sum of products that is the number 0 removes its term, if the other factors have a
                   value for all inputs; in derivatives, which fold numbers as `ir/arithmetic.py` does, always
    sums           from left to right, in the order of the axes
    elimination    with exchanges of rows, as LAPACK does (`elimination.py`)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, product
from typing import Any, cast

import numpy as np

from symgrad.compiler.lowering.contractions import MatrixProducts, contraction
from symgrad.compiler.lowering.entries.elimination import ELIMINATIONS, MAX_ROWS, Entries
from symgrad.ir.graph import NUMBER, OPS, SIZE, SYMBOL, Node, apply, as_node, symbol, truth
from symgrad.ir.op import Scan
from symgrad.ir.traverse import EXACT, topological
from symgrad.ir.types import BOOL, REAL, Declaration
from symgrad.ops.array.factors import EXPONENTIAL
from symgrad.support.errors import SymgradError

_ENTRIES = 256
"""The most entries of an array that is written as scalars."""

_AXIS = 16
"""The longest axis of such an array: along longer ones, loops over vectors are as fast."""

_EQUATIONS = 4000
"""The most scalar equations: more would take longer to compile than most programs run."""

_MANY = f"it would have more than {_EQUATIONS} scalar equations"


@dataclass(frozen=True, slots=True)
class ScalarProgram:
    """The scalar equations of a program of arrays.

    Args:
        inputs: a symbol for each entry of each input, in the order of the arguments and of rows.
        outputs: the value of each entry of each output.
        fusable: the equations whose products and sums may be rounded once together.
        only_numbers: whether all inputs and outputs are numbers, and only values between them are arrays.
        rows: the entries of arrays that are neighbours along the last axis, inputs excepted.
    """

    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    fusable: frozenset[Node]
    only_numbers: bool
    rows: tuple[tuple[Node, ...], ...] = ()


class _NotScalar(Exception):
    """The program has no scalar equations, or too many; the text says why."""


def scalar_program(
    outputs: Sequence[Node], inputs: Sequence[Node], fusable: Collection[Node] = ()
) -> ScalarProgram | None:
    """Return the scalar equations of a program, or None if it should be computed with loops over arrays.

    Args:
        outputs: the nodes to compute.
        inputs: the symbols in the order of the arguments.
        fusable: the nodes of derivatives, whose numbers may be folded and whose products and sums may be fused.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import expression_text
        >>> p = parse_program("R : real[2, 2]; v : real[2]; w = R@v")
        >>> found = scalar_program([p["w"]], [p["R"], p["v"]])
        >>> [expression_text(y) for y in found.outputs]
        ['R[0,0]*v[0] + R[0,1]*v[1]', 'R[1,0]*v[0] + R[1,1]*v[1]']
    """
    try:
        return _program(outputs, inputs, fusable)
    except _NotScalar:
        return None


def reason_for_loops(
    outputs: Sequence[Node], inputs: Sequence[Node], fusable: Collection[Node] = ()
) -> str | None:
    """Return why a program is computed with loops over arrays, or None if it has scalar equations.

    Args:
        outputs: the nodes to compute.
        inputs: the symbols in the order of the arguments.
        fusable: the nodes of derivatives.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real[n, 3]; y = x**2")
        >>> reason_for_loops([p["y"]], [p["x"]])
        'the size n is known only at the call'
    """
    try:
        _program(outputs, inputs, fusable)
    except _NotScalar as reason:
        return str(reason)
    return None


def _program(outputs: Sequence[Node], inputs: Sequence[Node], fusable: Collection[Node]) -> ScalarProgram:
    order = topological(outputs)
    for node in (*inputs, *outputs):
        if node.dtype == "int":
            raise _NotScalar("it has arrays of whole numbers")
        if 0 in node.shape:
            raise _NotScalar("it has empty arrays")
    for node in (*inputs, *order):
        _check_small(node)
    writer = _EntryWriter(fusable)
    for node in inputs:
        writer.declare(node)
    writer.run(order)
    found = tuple(e for node in outputs for e in writer.entries[node].flat)
    if len(topological(found)) > _EQUATIONS:
        raise _NotScalar(_MANY)
    symbols = tuple(e for node in inputs for e in writer.entries[node].flat)
    only_numbers = not any(node.shape for node in (*inputs, *outputs))
    fused = frozenset(writer.fused - writer.unchanged)
    return ScalarProgram(symbols, found, fused, only_numbers, tuple(writer.rows(order)))


def _check_small(node: Node) -> None:
    sizes = [n for n in node.shape if isinstance(n, int)]
    if len(sizes) < len(node.shape):
        size = next(n for n in node.shape if not isinstance(n, int))
        raise _NotScalar(f"the size {size} is known only at the call")
    if max(sizes, default=1) > _AXIS:
        raise _NotScalar(f"an axis of {max(sizes)} entries is longer than {_AXIS}")
    if math.prod(sizes) > _ENTRIES:
        raise _NotScalar(f"an array of {math.prod(sizes)} entries is larger than {_ENTRIES}")


class _EntryWriter:
    """Writes the entries of nodes.

    Args:
        derived: the nodes of derivatives.

    Attributes:
        entries: the entries of each node so far.
        fused: the equations of derivatives and of sums of products.
        unchanged: the equations as the user wrote them.
    """

    def __init__(self, derived: Collection[Node]) -> None:
        self.entries: dict[Node, Entries] = {}
        self.fused: set[Node] = set()
        self.unchanged: set[Node] = set()
        self._derived = derived
        self._products: MatrixProducts = {}
        self._undefined: set[Node] = set()  # entries that have no value for some inputs
        self._count = 0

    def declare(self, node: Node) -> None:
        """Name the entries of an input; a number keeps its symbol."""
        if not node.shape:
            self.entries[node] = _array(node)
            return
        domain = BOOL if node.dtype == "bool" else REAL
        name = node.name
        found: Entries = np.empty(_shape(node), dtype=object)
        for at in np.ndindex(*found.shape):
            found[at] = symbol(Declaration(f"{name}[{','.join(map(str, at))}]", domain))
        self.entries[node] = found

    def run(self, order: Iterable[Node], derived: bool | None = None) -> None:
        """Write the entries of nodes, arguments first."""
        for node in order:
            if node in self.entries:
                continue
            inside = node in self._derived if derived is None else derived
            if node.op is SYMBOL or node.op is SIZE:
                raise _NotScalar("a size is known only at the call")
            simpler = self._simpler(node)
            if simpler is node:
                found = self._entries_of(node, [self.entries[a] for a in node.args], inside)
            else:
                self.run(topological([simpler], until=self.entries), inside)
                found = self.entries[simpler]
            self.entries[node] = np.broadcast_to(found, _shape(node))

    def rows(self, order: Iterable[Node]) -> Iterator[tuple[Node, ...]]:
        """Yield the entries of nodes that are neighbours along the last axis."""
        for node in order:
            found = self.entries[node]
            if node.args and found.ndim:
                yield from map(tuple, found.reshape(-1, found.shape[-1]))

    def _simpler(self, node: Node) -> Node:
        """Return a node in the smaller vocabulary of `compiler/lowering/arrays/normal_form.py`."""
        native = None if node.op.structure is None else node.op.structure.native
        if callable(native):
            return native(node, node.args)
        if node.op.name == "einsum" and len(node.args) > 2:
            return contraction(node, node.args, self._products)
        return node

    def _entries_of(self, node: Node, args: list[Entries], derived: bool) -> Entries:
        if not node.args and node.op.pointwise:
            return _array(node)
        if node.op.pointwise:
            grid: list[Entries] = list(np.broadcast_arrays(*args))
            found: Entries = np.empty(_shape(node), dtype=object)
            for at in np.ndindex(*found.shape):
                found[at] = self._equation(node, [g[at] for g in grid], derived)
            return found
        structure = node.op.array
        name = node.op.name
        if name == "einsum":
            return self._contraction(node, args, derived)
        if name in _REDUCTIONS:
            return self._reduction(node, args[0], OPS[_REDUCTIONS[name]], derived)
        if isinstance(structure.native, Scan):
            return self._scan(node, args[0], structure.native, derived)
        if name in ELIMINATIONS:
            return self._elimination(node, args)
        if structure.entries in ("moved", "placed", "counted"):
            return self._move(node, args)
        what = "an exponential of matrices" if node.op is EXPONENTIAL else name
        raise _NotScalar(f"{what} has no scalar equations")

    # Scalar equations

    def _equation(self, node: Node, args: list[Node], derived: bool) -> Node:
        """Return the equation of an entry of an elementwise node."""
        name = node.op.name
        if name == "where" and args[0].op is NUMBER:
            return args[1] if args[0].value else args[2]
        if node.dtype == "bool" and all(a.op is NUMBER for a in args):
            return truth(bool(node.op.evaluate(*node.params, *(a.value for a in args))))
        if derived and name in EXACT:
            try:
                return self._new(EXACT[name](*args), args, derived)
            except ZeroDivisionError:
                pass
        return self._new(apply(node.op, tuple(args), node.params), args, derived)

    def _new(self, made: Node, args: Sequence[Node], fused: bool) -> Node:
        """Record an equation: whether it may be fused, and whether it has a value for all inputs."""
        (self.fused if fused else self.unchanged).add(made)
        if made.op.domain is not None or not self._undefined.isdisjoint(args):
            self._undefined.add(made)
        self._count += 1
        if self._count > 2 * _EQUATIONS:
            raise _NotScalar(_MANY)
        return made

    def _times(self, a: Node, b: Node, derived: bool) -> Node:
        """Return a product of a sum of products."""
        for x, y in ((a, b), (b, a)):
            if x.is_number(1):
                return y
            if x.is_number(0) and (derived or y not in self._undefined):
                return x
        return self._new(a * b if derived else apply(OPS["mul"], (a, b)), (a, b), True)

    def _plus(self, a: Node, b: Node, derived: bool) -> Node:
        if a.is_number(0):
            return b
        if b.is_number(0):
            return a
        return self._new(a + b if derived else apply(OPS["add"], (a, b)), (a, b), True)

    # Array ops

    def _move(self, node: Node, args: list[Entries]) -> Entries:
        """Let the op itself move numbers that stand for entries; 0 stands for the number 0."""
        values: list[Any] = []
        entries: list[Node] = [as_node(0)]
        counted = node.op.array.entries == "counted"
        for i, arg in enumerate(args):
            if node.op.kind_of(i) == "index" or counted:
                if not all(e.op is NUMBER for e in arg.flat):
                    raise _NotScalar("positions are computed")
                places: Entries = np.empty(arg.shape, np.int64)
                places.flat = [int(e.value) for e in arg.flat]
                values.append(places)
            else:
                numbers: Entries = np.empty(arg.shape, np.int64)
                numbers.flat = range(len(entries), len(entries) + arg.size)
                values.append(numbers)
                entries += list(arg.flat)
        try:
            found = np.asarray(node.op.evaluate(*node.params, *values))
        except SymgradError as error:  # a position outside of its axis, which calls report
            raise _NotScalar("a position is outside of its axis") from error
        result = np.empty(found.shape, dtype=object)
        for at in np.ndindex(*found.shape):
            result[at] = as_node(int(found[at])) if counted else entries[int(found[at])]
        return result

    def _contraction(self, node: Node, args: list[Entries], derived: bool) -> Entries:
        labels, result = node.params
        sizes = {
            k: n for own, arg in zip(labels, args, strict=True) for k, n in zip(own, arg.shape, strict=True)
        }
        summed = [k for k in sizes if k not in result]
        found: Entries = np.empty(_shape(node), dtype=object)
        for at in np.ndindex(*found.shape):
            where = dict(zip(result, at, strict=True))
            total = as_node(0)
            for inner in product(*(range(sizes[k]) for k in summed)):
                where.update(zip(summed, inner, strict=True))
                factors = [arg[tuple(where[k] for k in own)] for arg, own in zip(args, labels, strict=True)]
                term = reduce(lambda a, b: self._times(a, b, derived), factors)
                total = self._plus(total, term, derived)
            found[at] = total
        return found

    def _reduction(self, node: Node, arg: Entries, op: Any, derived: bool) -> Entries:
        (axes,) = node.params
        kept = [k for k in range(arg.ndim) if k not in axes]
        rows = np.transpose(arg, (*kept, *axes)).reshape(*(arg.shape[k] for k in kept), -1)
        if rows.shape[-1] == 0:
            raise _NotScalar("it reduces empty arrays")
        found = np.empty(rows.shape[:-1], dtype=object)
        for at in np.ndindex(*found.shape):
            found[at] = reduce(lambda a, b: self._new(apply(op, (a, b)), (a, b), derived), rows[at])
        return found

    def _scan(self, node: Node, arg: Entries, scan: Scan, derived: bool) -> Entries:
        if not isinstance(scan.combine, str):
            raise _NotScalar(f"{node.op.name} has no scalar equations")
        op, axis = OPS[scan.combine], node.params[0]
        lines = np.moveaxis(arg, axis, -1)
        backward = len(node.params) > 1 and node.params[1]
        lines = lines[..., ::-1] if backward else lines
        found = np.empty(lines.shape, dtype=object)

        def combine(a: Node, b: Node) -> Node:
            return self._new(apply(op, (a, b)), (a, b), derived)

        for at in np.ndindex(*lines.shape[:-1]):
            line: list[Node] = list(lines[at])
            before = list(accumulate(line, combine))
            if scan.others:
                after = list(accumulate(line[::-1], combine))[::-1]
                pairs = [[*before[max(i - 1, 0) : i], *after[i + 1 : i + 2]] for i in range(len(line))]
                before = [reduce(combine, pair) if pair else as_node(int(scan.start)) for pair in pairs]
            found[at] = before
        return np.moveaxis(found[..., ::-1] if backward else found, -1, axis)

    def _elimination(self, node: Node, args: list[Entries]) -> Entries:
        shape = _shape(node)
        if not 0 < shape[-1] <= MAX_ROWS:
            raise _NotScalar(f"a matrix of {shape[-1]} rows has more than {MAX_ROWS}")

        def equation(name: str, *of: Node) -> Node:
            return self._new(apply(OPS[name], of), of, True)

        found = ELIMINATIONS[node.op.name](equation, shape, node.params, args)
        self._undefined.update(e for e in found.flat if e.op is not NUMBER)
        return found


_REDUCTIONS = {"max": "maximum", "min": "minimum", "prod": "mul"}
"""The elementwise op that each reduction repeats."""


def _array(node: Node) -> Entries:
    found: Entries = np.empty((), dtype=object)
    found[()] = node
    return found


def _shape(node: Node) -> tuple[int, ...]:
    return cast("tuple[int, ...]", node.shape)
