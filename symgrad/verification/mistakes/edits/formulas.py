"""Edit formulas: change one part of a claim, or make one slip in the right derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import prod

from symgrad.ir.graph import NUMBER, OPS, Node, apply, as_node
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.array.contraction import adjoint, contract, sum_over
from symgrad.ops.array.layout import full
from symgrad.ops.array.linalg import product_of
from symgrad.support.errors import SymgradError
from symgrad.support.traversal import walk
from symgrad.verification.mistakes.numbers import lengths


@dataclass(frozen=True, slots=True)
class Edit:
    """A change at one node.

    Args:
        kind: the mistake that the change makes, or mends.
        node: the node to replace.
        other: its replacement.
        rank: how common the mistake is, as for a `MalRule`.
        says: the sentence, in which ``{0}`` is the text of the node and ``{held}`` the text of a part of it.
        held: the part of the node that the sentence quotes.
        also: further replacements at the same time.
    """

    kind: str
    node: Node
    other: Node
    rank: float
    says: str
    held: Node | None = None
    also: Mapping[Node, Node] = field(default_factory=dict[Node, Node])


_TRANSPOSE = "the claim lacks a transpose of {0}"
_OPERAND = "the claim lacks a transpose of {held} in {0}"
_ONE_MORE = "the claim has a transpose too many, of {held} in {0}"
_ORDER = "the claim has the operands of {0} in the wrong order"
_SIGN = "the claim has the wrong sign of {held} in {0}"
_RIGHT_SIGN = "the claim has lost the minus sign before {held}, which the right derivative has"
_TURNED = "the claim has the two cases of {0} exchanged, or their condition turned round"
_SUM = "the claim lacks a sum over {0}"
_MEAN = "the claim lacks a mean over {0}"
_AXES = "the claim sums over the wrong axes at {0}"
_TERM = "the claim lacks the term {held} of the right derivative"
_FACTOR = "the claim lacks the factor {held} of the right derivative"
_DIVISOR = "the claim lacks the divisor {held} of the right derivative"


def edited(formula: Node, edits: Iterable[Edit]) -> Iterator[tuple[Edit, Node]]:
    """Yield a formula with each edit that shapes allow.

    A node with several readers is also edited in one place only.
    """
    readers: dict[Node, list[tuple[Node, int]]] = {}
    for node in topological([formula]):
        for i, arg in enumerate(node.args):
            readers.setdefault(arg, []).append((node, i))
    for edit in edits:
        if edit.node is edit.other:
            continue
        places = readers.get(edit.node, [])
        for changed in [
            {edit.node: edit.other, **edit.also},
            *(_there(edit, *place) for place in places if len(places) > 1 and not edit.also),
        ]:
            try:
                (found,) = substitute([formula], changed)
            except SymgradError:
                continue
            yield edit, found


def _there(edit: Edit, reader: Node, i: int) -> dict[Node, Node]:
    args = tuple(edit.other if k == i else a for k, a in enumerate(reader.args))
    try:
        return {reader: apply(reader.op, args, reader.params)}
    except SymgradError:
        return {}


def repaired(claim: Node, counts: Mapping[str, int]) -> Iterator[Edit]:
    """Yield edits of a claim that would mend a slip in writing it."""
    for node in reversed(topological([claim])):
        name = node.op.name
        if name == "einsum":
            yield from _contraction(node)
            for product in chained(node):
                yield Edit("operands-swapped", node, product, 16, _ORDER)
        if name in ("einsum", "mean", "reshape"):
            yield from _other_sum(node)
        if len(node.shape) == 2 and node.shape[0] == node.shape[1] and name != "eye":
            yield Edit("missing-transpose", node, adjoint(node), 17.5, _TRANSPOSE)
        if node.shape and node.dtype == "real":
            yield from _sums(node)
        if name == "where":
            condition, one, other = node.args
            yield Edit("condition-turned", node, apply(node.op, (condition, other, one)), 12, _TURNED)
        if name == "neg":
            yield Edit("lost-minus", node, node.args[0], 15, _SIGN, node)
        elif name == "add":
            for k in range(2):
                args = tuple(-a if j == k else a for j, a in enumerate(node.args))
                yield Edit("lost-minus", node, apply(node.op, args), 15, _SIGN, node.args[k])
    for node in reversed(topological([claim])):
        if node.op.name in ("mul", "div", "add", "einsum", "mean", "reshape"):
            for text, n in counts.items():
                yield from _counted(node, text, n)


def _counted(node: Node, text: str, n: int) -> Iterator[Edit]:
    """Multiply or divide a part of the claim by a number of entries, or by the root of one."""
    for factor, name in ((as_node(n), text), (as_node(n) ** Fraction(1, 2), f"sqrt({text})")):
        yield Edit("factor-n", node, node * factor, 21.5, f"the claim lacks a factor {name} at {{0}}")
        yield Edit("factor-n", node, node / factor, 21.5, f"the claim has a factor {name} too many at {{0}}")


def _sums(node: Node) -> Iterator[Edit]:
    for axes in [*([k] for k in range(len(node.shape))), list(range(len(node.shape)))]:
        total = _keepdims_sum(node, axes)
        count = prod(lengths(node.shape)[k] for k in axes)
        yield Edit("missing-broadcast-sum", node, total, 22, _SUM)
        yield Edit("missing-broadcast-sum", node, total / count, 22.5, _MEAN)


def _keepdims_sum(node: Node, axes: list[int]) -> Node:
    total = sum_over(node, axes)
    return full(OPS["reshape"](total, params=(keepdims_shape(node.shape, axes),)), node.shape)


def keepdims_shape(shape: Shape, axes: Sequence[int]) -> Shape:
    """Return a shape with the given axes of length 1: the shape of a sum that keeps its axes."""
    return tuple(1 if k in axes else n for k, n in enumerate(shape))


def _contraction(node: Node) -> Iterator[Edit]:
    labels, result = node.params
    if len(node.args) == 1 and len(result) == 2 and {*labels[0]} == {*result}:
        yield Edit("extra-transpose", node, node.args[0], 17, _ONE_MORE, node.args[0])
        return
    if len(node.args) < 2:
        return
    vectors = any(len(own) == 1 for own in labels)
    for k, own in enumerate(labels):
        if len(own) == 2 and own[0] != own[1]:
            turned = [own[::-1] if j == k else other for j, other in enumerate(labels)]
            changed = _try(contract, node.args, turned, result)
            if changed is not None:
                # Name the edit by its result: a transpose is added or removed.
                plain = _is_plain(labels, k, result)
                kind, rank = ("missing-transpose", 16.5) if plain else ("extra-transpose", 17)
                yield Edit(kind, node, changed, rank, _OPERAND if plain else _ONE_MORE, node.args[k])
    if len(node.args) == 2 and all(len(own) <= 2 for own in labels):
        changed = swapped(node)
        if changed is not None:
            yield Edit("operands-swapped", node, changed, 16.8 if vectors else 16, _ORDER)
        if not result and all(len(own) == 1 for own in labels):
            yield Edit(
                "operands-swapped",
                node,
                contract(node.args, [(0,), (1,)], (0, 1)),
                17,
                "the claim has an inner product at {0} where there is an outer one",
            )


def chained(node: Node) -> Iterator[Node]:
    """Yield a product of several matrices with two neighbours exchanged."""
    factors = matrices_of(node)
    if len(factors) < 3:
        return
    for k in range(len(factors) - 1):
        turned = [*factors[:k], factors[k + 1], factors[k], *factors[k + 2 :]]
        if all(len(f.shape) == 2 for f in turned):
            product = _try(reduce, product_of, turned)
            if product is not None:
                yield product


def matrices_of(node: Node) -> list[Node]:
    """Return the factors of a product of matrices, each with its transposes."""
    if node.op.name != "einsum" or len(node.args) != 2 or len(node.shape) != 2:
        return [node]
    (first, second), result = node.params
    shared = [x for x in first if x in second]
    if len(first) != 2 or len(second) != 2 or len(shared) != 1 or shared[0] in result:
        return [node]
    a, b = node.args
    left = [adjoint(a)] if first[0] == shared[0] else matrices_of(a)
    right = [adjoint(b)] if second[1] == shared[0] else matrices_of(b)
    if first[0] in result and result[0] not in first:
        return [node]
    return [*left, *right] if result[0] in first else [node]


def _is_plain(labels: tuple[tuple[int, ...], ...], k: int, result: tuple[int, ...]) -> bool:
    """Tell whether operand k of a product of matrices is not transposed."""
    own, others = labels[k], [x for j, o in enumerate(labels) if j != k for x in o]
    shared = [x for x in own if x in others and x not in result]
    if len(shared) != 1:
        return True
    return own.index(shared[0]) == (1 if k == 0 else 0)


def _try(make: Callable[..., Node], *args: object) -> Node | None:
    try:
        return make(*args)
    except SymgradError:
        return None


def swapped(node: Node) -> Node | None:
    """Write B@A for A@B, x@A for A@x, and outer(y, x) for outer(x, y)."""
    (first, second), result = node.params
    a, b = node.args
    shared = [x for x in first if x in second]
    if not shared:
        return _try(contract, node.args, [first, second], result[::-1]) if len(result) == 2 else None
    if len(shared) != 1 or shared[0] in result:
        return None
    (k,) = shared
    # A product sums over the last axis of a and the first axis of b: transpose a and b where necessary.
    left = first if len(first) < 2 or first[1] == k else first[::-1]
    right = second if len(second) < 2 or second[0] == k else second[::-1]
    names: dict[tuple[str, int], int] = {("a", left[0]): 0, ("b", right[-1]): 0}
    if len(left) == 2:
        names["a", left[1]] = 1
    if len(right) == 2:
        names["b", right[0]] = 2
    a_labels, b_labels = [names["a", x] for x in first], [names["b", x] for x in second]
    out = [*(names["b", x] for x in right[:-1]), *(names["a", x] for x in left[1:])]
    return _try(contract, (a, b), [tuple(a_labels), tuple(b_labels)], tuple(out))


def _other_sum(node: Node) -> Iterator[Edit]:
    """Yield sums over other axes that have the same shape if all lengths are equal."""
    x = node
    while x.op.name == "reshape":
        x = x.args[0]
    if x.op.name not in ("einsum", "mean") or len(x.args) != 1 or x.args[0].shape == x.shape:
        return
    (arg,) = x.args
    rank, gone = len(arg.shape), len(arg.shape) - len(x.shape)
    if rank < 2 or gone == 0 or (x.op.name == "einsum" and len({*x.params[0][0]}) < rank):
        return
    for count in range(1, rank + 1):
        for axes in combinations(range(rank), count):
            total = sum_over(arg, axes)
            scale = prod(lengths(arg.shape)[k] for k in axes) if x.op.name == "mean" else 1
            total = total / scale if scale > 1 else total
            shape = keepdims_shape(arg.shape, axes)
            yield Edit("wrong-axis-sum", x, total, 15, _AXES)
            if node is not x:
                yield Edit("wrong-axis-sum", node, OPS["reshape"](total, params=(shape,)), 15, _AXES)


_OUTER = frozenset({"add", "neg", "mul", "div", "einsum", "mean", "reshape", "broadcast_to"})


def _outer(formula: Node) -> Iterator[Node]:
    """Yield the nested terms and factors of a formula, right to left, but no arguments of functions and no divisors."""

    def descend(node: Node) -> Sequence[Node]:
        inner = node.args if node.op.name in _OUTER else ()
        return inner[:1] if node.op.name == "div" else inner[::-1]

    return walk([formula], descend)


def dropped(right: Node, *, outer: bool = False) -> Iterator[Edit]:
    """Yield slips in writing the right derivative: a lost term, factor or sign.

    Args:
        right: a form of the right derivative.
        outer: whether to edit only terms and factors. The arguments of functions in a canonical form are not as anybody
            wrote them.
    """
    for node in _outer(right) if outer else reversed(topological([right])):
        name = node.op.name
        if name == "add":
            for k, arg in enumerate(node.args):
                if arg.shape == node.shape:
                    yield Edit("missing-term", node, arg, 17, _TERM, node.args[1 - k])
        elif name == "mul":
            for k, arg in enumerate(node.args):
                if node.args[1 - k].op is not NUMBER:
                    yield Edit("missing-term", node, full(arg, node.shape), 18, _FACTOR, node.args[1 - k])
        elif name == "div" and node.args[1].op is not NUMBER:
            yield Edit("missing-term", node, full(node.args[0], node.shape), 18.5, _DIVISOR, node.args[1])
        elif name == "neg":
            yield Edit("lost-minus", node, node.args[0], 15.5, _RIGHT_SIGN, node.args[0])
        elif name == "einsum" and len(node.args) > 1:
            yield from _lose_operand(node)


def _lose_operand(node: Node) -> Iterator[Edit]:
    """Drop a factor of a contraction; if the factor is square, its remaining axis replaces the summed one."""
    labels, result = node.params
    for k, gone in enumerate(labels):
        args = [a for j, a in enumerate(node.args) if j != k]
        own = [tuple(o) for j, o in enumerate(labels) if j != k]
        missing = [x for x in result if not any(x in o for o in own)]
        if missing:
            instead = [x for x in gone if x not in missing and x not in result]
            if len(missing) != 1 or len(instead) != 1:
                continue
            own = [tuple(missing[0] if x == instead[0] else x for x in o) for o in own]
        rest = _try(contract, tuple(args), own, result)
        if rest is not None and rest.shape == node.shape:
            yield Edit("missing-term", node, rest, 18, _FACTOR, node.args[k])
