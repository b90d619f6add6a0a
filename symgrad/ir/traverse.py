"""Operations on whole graphs: topological order, folds, substitution, digests, pickling.

All of them are iterative, deterministic and linear in the number of equations. symgrad never recurses over a graph, so
a chain of 100,000 equations is as safe as a chain of ten.
"""

from __future__ import annotations

import copyreg
import hashlib
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar, cast

from symgrad.ir.graph import (
    CONSTANT,
    NUMBER,
    SIZE,
    SYMBOL,
    Node,
    apply,
    constant,
    number,
    size_node,
    symbol,
    truth,
)
from symgrad.ir.types import is_exact
from symgrad.support.errors import RedefinitionError
from symgrad.support.releases import RELEASE, check_release
from symgrad.support.traversal import leaves, postorder

T = TypeVar("T")

EXACT: Mapping[str, Callable[..., Any]] = {  # pyright: ignore[reportUnknownVariableType]
    "add": operator.add,
    "neg": operator.neg,
    "mul": operator.mul,
    "div": operator.truediv,  # pyright: ignore[reportUnknownMemberType]
    "pow": operator.pow,  # pyright: ignore[reportUnknownMemberType]
}
"""The operators of nodes, which fold exact numbers, under the names of the ops."""


def reads_arrays(nodes: Iterable[Node]) -> bool:
    """Tell whether some value of a graph is an array, a reduction of one, or a size.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> reads_arrays([symbol(Declaration("x"))]), reads_arrays([symbol(Declaration("v", shape=(2,)))])
        (False, True)
    """
    return any(n.shape or not n.op.pointwise or n.op is SIZE for n in topological(nodes))


def is_elementwise(nodes: Iterable[Node]) -> bool:
    """Tell whether outputs are computed entry by entry, so that they also accept arrays of further shapes.

    A size as a number depends on the length of an axis, so it is not elementwise.

    Example:
        >>> from symgrad.ir.graph import size_node, symbol
        >>> from symgrad.ir.types import Declaration
        >>> x = symbol(Declaration("x", shape=("n",)))
        >>> is_elementwise([x * 2]), is_elementwise([x * size_node("n")])
        (True, False)
    """
    return all_pointwise(topological(nodes))


def all_pointwise(order: Iterable[Node]) -> bool:
    """Tell whether all nodes of a graph in topological order are elementwise."""
    return all(n.op.pointwise and n.op is not SIZE for n in order)


def is_entrywise_in(node: Node, variable: Node) -> bool:
    """Tell whether a node is computed entry by entry from numbers and one other node.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> x, y = (symbol(Declaration(name)) for name in "xy")
        >>> is_entrywise_in(x*y + 1, x*y), is_entrywise_in(x*y + 1, x)
        (True, False)
    """
    inside = (n for n in topological([node], until=[variable]) if n is not variable)
    return all(n.op.pointwise if n.args else n.op is NUMBER or n.op is CONSTANT for n in inside)


def topological(outputs: Iterable[Node], *, until: Collection[Node] = ()) -> list[Node]:
    """Return every node reachable from the outputs, arguments first, each once.

    The order depends only on the graph (depth first, arguments from left to right).

    Args:
        outputs: the roots.
        until: nodes that count as leaves: the result contains them, but not their arguments.
    """
    order: list[Node] = []
    seen: set[Node] = set()
    ends = cast("Collection[Node]", until) if isinstance(until, set | dict) else set(until)
    for output in outputs:
        if output in seen:
            continue
        seen.add(output)
        node, rest = output, iter(() if output in ends else output.args)
        open_: list[tuple[Node, Iterator[Node]]] = []
        while True:
            for arg in rest:
                if arg in seen:
                    continue
                seen.add(arg)
                if arg.args and arg not in ends:
                    open_.append((node, rest))
                    node, rest = arg, iter(arg.args)
                    break
                order.append(arg)
            else:
                order.append(node)
                if not open_:
                    break
                node, rest = open_.pop()
    return order


def fold(
    outputs: Iterable[Node], combine: Callable[[Node, list[T]], T], values: dict[Node, T] | None = None
) -> dict[Node, T]:
    """Compute a value for every node from the values of its arguments, bottom up; add the values to ``values``."""
    values = {} if values is None else values
    for node in topological(outputs, until=values):
        if node not in values:
            values[node] = combine(node, [values[a] for a in node.args])
    return values


def elementwise_parts(nodes: Sequence[Node]) -> list[Node]:
    """Return the elementwise formulas of a graph: its outputs, and what array operations read."""
    read = (a for n in topological(nodes) if not n.op.pointwise for a in n.args)
    return [n for n in dict.fromkeys((*nodes, *read)) if n.args and n.op.pointwise]


def signed_terms(node: Node) -> list[tuple[int, Node]]:
    """Return the terms of a sum, each with its sign.

    Example:
        >>> import symgrad as sg
        >>> a, b, c = (e.node for e in sg.symbols("a b c"))
        >>> [(sign, term.name) for sign, term in signed_terms(a - (b - c))]
        [(1, 'a'), (-1, 'b'), (1, 'c')]
    """
    return leaves((1, node), _summands)


def _summands(term: tuple[int, Node]) -> list[tuple[int, Node]] | None:
    sign, node = term
    if node.op.name == "add":
        return [(sign, a) for a in node.args]
    return [(-sign, node.args[0])] if node.op.name == "neg" else None


def with_args(node: Node, args: Sequence[Node]) -> Node:
    """Return the op of a node applied to other arguments, unsimplified."""
    return node if tuple(args) == node.args else apply(node.op, tuple(args), node.params)


def substitute(
    outputs: Sequence[Node], replacements: Mapping[Node, Node], *, declared: bool = False
) -> list[Node]:
    """Replace nodes (symbols or intermediate nodes) everywhere, unsimplified.

    Args:
        outputs: the roots.
        replacements: the new node for each node to be replaced.
        declared: whether to replace nodes also in the parameters of random inputs, which gives new inputs with the same
            names.
    """
    if not replacements:
        return list(outputs)
    done: dict[Node, Node] = dict(replacements)
    if declared:
        for node in topological(outputs, until=replacements):
            if node not in done and node.op is SYMBOL and node.declaration.formulas:
                done[node] = drawn_anew(node, lambda formulas: substitute(formulas, replacements))
    return substitute_with(outputs, done)


def substitute_with(outputs: Sequence[Node], done: dict[Node, Node]) -> list[Node]:
    """Replace nodes as `substitute` does, with a cache for repeated calls.

    Args:
        outputs: the roots.
        done: the new node for each node to be replaced; the results for all other nodes are added.
    """
    fold(outputs, with_args, done)
    return [done[o] for o in outputs]


def drawn_anew(symbol_: Node, change: Callable[[list[Node]], Sequence[Node]], **changes: Any) -> Node:
    """Return a random input with new formulas for its parameters; constant formulas become numbers."""
    declaration = symbol_.declaration
    distribution = declaration.distribution
    if distribution is not None and distribution.formulas:
        changed = iter(change([*distribution.formulas]))
        parameters = tuple(p if is_exact(p) else as_parameter(next(changed)) for p in distribution.parameters)
        changes["distribution"] = replace(distribution, parameters=parameters)
    return symbol(replace(declaration, **changes))


def as_parameter(node: Node) -> Node | int | Fraction:
    """Return a node as the parameter of a distribution: a number if it depends only on numbers, else the node.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> as_parameter(parse_program("1/3 + 2").result)
        Fraction(7, 3)
    """
    values: dict[Node, Node] = {}
    for n in topological([node]):
        if n.op is not NUMBER and (n.op.name not in EXACT or n.shape):
            return node
        try:
            values[n] = n if n.op is NUMBER else EXACT[n.op.name](*(values[a] for a in n.args))
        except ZeroDivisionError:
            return node
        if not values[n].is_number():
            return node
    value = values[node].value
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def formulas_of(outputs: Iterable[Node]) -> list[Node]:
    """Return the formulas among the parameters of the random inputs of outputs, each once."""
    drawn = (n for n in topological(outputs) if n.op is SYMBOL)
    return list(dict.fromkeys(p for s in drawn for p in s.declaration.formulas))


def symbols_of(outputs: Iterable[Node], order: Iterable[Node] | None = None) -> list[Node]:
    """Return the symbols of outputs, in order of first appearance.

    Args:
        outputs: the roots.
        order: their topological order, if the caller has it.

    Raises:
        RedefinitionError: if the same name stands for two different symbols, or for a symbol and a size.
    """
    found: dict[str, Node] = {}
    for node in topological(outputs) if order is None else order:
        if node.op is not SYMBOL:
            continue
        other = found.setdefault(node.name, node)
        if other is not node:
            raise RedefinitionError(
                f"'{node.name}' stands for two different symbols: '{other.declaration}' and '{node.declaration}'",
                cure="declare it once, or rename one of them",
            )
    for node in found.values():
        named = (*node.shape, *node.declaration.values.sizes)
        size = next((s for s in named if isinstance(s, str) and s in found), None)
        if size is not None:
            raise RedefinitionError(
                f"'{size}' stands for a size and a symbol: '{node.declaration}' and '{found[size].declaration}'",
                cure=f"rename one of them; the size as a number is sg.size({size!r})",
            )
    return list(found.values())


def readers(order: Iterable[Node], sources: Iterable[Node]) -> set[Node]:
    """Return the sources and the nodes that read one, directly or through others; arguments come first in order."""
    found = set(sources)
    for node in order:
        if any(a in found for a in node.args):
            found.add(node)
    return found


def uses(outputs: list[Node], *, until: Collection[Node] = ()) -> dict[Node, int]:
    """Return for each node that is reachable (as in `topological`) the number of its uses as argument or output."""
    count: dict[Node, int] = dict.fromkeys(topological(outputs, until=until), 0)
    for node in count:
        for arg in () if node in until else node.args:
            count[arg] += 1
    for output in outputs:
        count[output] += 1
    return count


def digest(node: Node) -> bytes:
    """Return 16 bytes that depend only on the structure, not on processes, platforms and hash seeds."""
    if node._digest is None:  # pyright: ignore[reportPrivateUsage]  (cached in the node)
        for n in postorder([node], _operands_without_digest):
            params = n.params
            if n.op is SYMBOL:
                # The digests of the formulas in its declaration stand for their texts.
                params = (n.declaration.text(dict.fromkeys(n.declaration.formulas, ".")),)
            text = f"{n.op.name}|{'|'.join(map(spelling, params))}|".encode()
            parts = b"".join(a._digest or b"" for a in _operands(n))  # pyright: ignore[reportPrivateUsage]  (cached in the node)
            n._digest = hashlib.blake2b(text + parts, digest_size=16).digest()  # pyright: ignore[reportPrivateUsage]  (cached in the node)
    return node._digest or b""  # pyright: ignore[reportPrivateUsage]  (cached in the node)


def _operands(node: Node) -> tuple[Node, ...]:
    return node.declaration.formulas if node.op is SYMBOL else node.args


def _operands_without_digest(node: Node) -> list[Node]:
    return [a for a in _operands(node) if a._digest is None]  # pyright: ignore[reportPrivateUsage]  (cached in the node)


def spelling(param: object) -> str:
    """Return a static parameter as text, exact numbers of any length included."""
    # Python does not write integers of more than 4,300 digits in decimal.
    if isinstance(param, Fraction) or (isinstance(param, int) and param.bit_length() > 1000):
        return f"{param.numerator:x}/{param.denominator:x}"
    return str(param)


def flatten(outputs: list[Node]) -> list[tuple[Any, ...]]:
    """Return nodes as a flat list of (op, argument positions, params), outputs last, for pickling."""
    order = topological(outputs)
    position = {node: i for i, node in enumerate(order)}
    flat: list[tuple[Any, ...]] = [("release", (), (RELEASE,))]
    for node in order:
        leaf = node.op.name if node.op in (SYMBOL, NUMBER, CONSTANT, SIZE) else node.op
        flat.append((leaf, tuple(position[a] for a in node.args), node.params))
    if [position[o] for o in outputs] != [len(order) - 1]:
        flat.append(("outputs", tuple(position[o] for o in outputs), ()))
    return flat


def rebuild(flat: list[tuple[Any, ...]]) -> list[Node]:
    """Return the outputs of a list from `flatten`, interned again.

    Raises:
        FileError: if another release, whose ops may differ, wrote the list.
    """
    check_release(flat[0][2][0] if flat and flat[0][0] == "release" else None)
    nodes: list[Node] = []
    for entry in flat[1:]:
        op, positions, params = cast("tuple[Any, tuple[int, ...], tuple[Any, ...]]", entry)
        if op == "outputs":
            return [nodes[i] for i in positions]
        if op == "symbol":
            nodes.append(symbol(params[0]))
        elif op == "number":
            nodes.append(truth(params[1]) if params[0] == "bool" else number(params[1]))
        elif op == "constant":
            nodes.append(constant(params[0]))
        elif op == "size":
            nodes.append(size_node(params[0]))
        else:
            nodes.append(apply(op, tuple([nodes[i] for i in positions]), params))
    return nodes[-1:]


def unpickled(flat: list[tuple[Any, ...]]) -> Node:
    """Return the node that was pickled as a list; pickles refer to this function."""
    return rebuild(flat)[-1]


def _pickled(node: Node) -> tuple[Callable[..., Node], tuple[Any, ...]]:
    return unpickled, (flatten([node]),)  # a deep graph is pickled as a list, without recursion


copyreg.pickle(Node, _pickled)
