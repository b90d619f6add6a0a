"""Eliminate masks of infinities from a softmax of where(mask, x, -oo).

exp(-oo) = 0, so a softmax over a mask is a quotient of sums over where(mask, exp(x), 0), which has no infinity.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import fold, topological, with_args
from symgrad.ops.array.contraction import sum_over
from symgrad.ops.array.layout import full, spread
from symgrad.ops.scalar.elementary import exp, log
from symgrad.ops.scalar.logic import where
from symgrad.support.errors import UnsupportedError

MASKS = ("where_minus_oo", "where_plus_oo")


def without_infinities(outputs: Sequence[Node]) -> list[Node]:
    r"""Return nodes with the same values in which no branch of a choice is an infinity.

    Raises:
        UnsupportedError: if an infinity reaches a function other than softmax, logsumexp and exp.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import expression_text
        >>> p = parse_program("m : bool[3]; x : real[3]\ny = logsumexp(where(m, x, -oo))")
        >>> expression_text(without_infinities([p["y"]])[0])
        'log(sum(where(m, exp(x), 0)))'
    """
    order = topological(list(outputs))
    if not any(n.op.name in MASKS for n in order):
        return list(outputs)
    done = fold(outputs, lambda n, args: _real(n) or with_args(n, args))
    found = [done[n] for n in outputs]
    left = next((n for n in topological(found) if n.op.name in MASKS), None)
    if left is not None:
        raise UnsupportedError(
            "a choice with an infinity has no value in real numbers where its condition fails",
            expected="the choice inside softmax, logsumexp or exp",
            cure="choose behind the function: where(mask, f(x), 0)",
        )
    return found


def _real(node: Node) -> Node | None:
    """Rewrite a function of exponentials over a mask with sums of numbers; None for other functions."""
    name = node.op.name
    if name not in ("softmax", "logsumexp", "exp"):
        return None
    mask = _mask(node.args[0])
    if mask is None:
        return None
    condition, x = mask
    holds, grown = without_infinities([condition, exp(x)])
    shares = where(holds, grown, as_node(0))
    if name == "exp":
        return shares
    axes = node.params[0]
    shares = full(shares, node.args[0].shape)
    total = sum_over(shares, axes)
    return log(total) if name == "logsumexp" else shares / spread(total, axes, len(node.args[0].shape))


def _mask(node: Node) -> tuple[Node, Node] | None:
    """Match where(condition, x, -oo), perhaps plus other terms; return the condition and the value x."""
    if node.op is OPS["where_minus_oo"]:
        condition, x = node.args
        return condition, x
    if node.op is not OPS["add"]:
        return None
    for own, other in (node.args, node.args[::-1]):
        mask = _mask(own)
        if mask is not None:
            return mask[0], mask[1] + other
    return None
