"""Formulas in the operations of JAX, torch and TensorFlow, stop_gradient included: to paste into a program there.

Values and derivatives are then the framework's own, at every order; at kinks it takes its own side.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from symgrad.errors import UnsupportedError, UsageError
from symgrad.ir.evaluate import CONSTANT_VALUES, evaluate
from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.listing import one_of
from symgrad.ir.traverse import symbols_of, topological, uses

__all__ = ["FRAMEWORKS", "framework_source"]

_COMPARE, _ADD, _MUL, _NEG, _POW, _ATOM = range(6)
_INFIX = {
    "add": (" + ", _ADD, _ADD, _MUL),
    "mul": ("*", _MUL, _MUL, _NEG),
    "div": ("/", _MUL, _MUL, _NEG),
    "pow": ("**", _POW, _ATOM, _NEG),
    "lt": (" < ", _COMPARE, _ADD, _ADD),
    "le": (" <= ", _COMPARE, _ADD, _ADD),
    "gt": (" > ", _COMPARE, _ADD, _ADD),
    "ge": (" >= ", _COMPARE, _ADD, _ADD),
    "eq": (" == ", _COMPARE, _ADD, _ADD),
    "ne": (" != ", _COMPARE, _ADD, _ADD),
}
# The same word in all three.
_WORDS = """
    abs acos acosh asin asinh atan atan2 atanh ceil cos cosh exp expm1 floor log log1p maximum minimum round sign sin
    sinh sqrt tan tanh where
"""
_COMMON = tuple(_WORDS.split())
_NUMPY = {f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tan2", "tanh")}


@dataclass(frozen=True, slots=True)
class _Framework:
    imports: str
    module: str
    stop: str
    calls: Mapping[str, str]


def _calls(
    module: str, others: Mapping[str, str], rename: Callable[[str], str] = lambda n: n
) -> dict[str, str]:
    return {n: f"{module}.{rename(n)}" for n in _COMMON} | dict(others)


_FRAMEWORKS = {
    "jax": _Framework(
        "import jax\nimport jax.numpy as jnp",
        "jnp",
        "jax.lax.stop_gradient({})",
        _calls(
            "jnp",
            {
                "erf": "jax.scipy.special.erf",
                "relu": "jax.nn.relu",
                "sigmoid": "jax.nn.sigmoid",
                "softplus": "jax.nn.softplus",
            },
            lambda n: _NUMPY.get(n, n),
        ),
    ),
    "torch": _Framework(
        "import torch",
        "torch",
        "{}.detach()",
        _calls("torch", {n: f"torch.{n}" for n in ("erf", "relu", "sigmoid")}),
    ),
    "tensorflow": _Framework(
        "import tensorflow as tf",
        "tf",
        "tf.stop_gradient({})",
        _calls(
            "tf.math", {n: f"tf.math.{n}" for n in ("erf", "sigmoid", "softplus")} | {"relu": "tf.nn.relu"}
        )
        | {"where": "tf.where"},
    ),
}

FRAMEWORKS = tuple(_FRAMEWORKS)
"""The names of the frameworks."""


def framework_source(
    output: Node, framework: str, name: str = "f", names: Mapping[Node, str] | None = None
) -> str:
    """Return a Python function in the operations of a framework, operation by operation as written.

    Args:
        output: a node.
        framework: one of `FRAMEWORKS`.
        name: the function's name.
        names: of intermediate values; each is a line of the function.

    Raises:
        UsageError: for another framework, or a name that is no identifier.
        UnsupportedError: for operations that have no spelling here; it names them all.
    """
    if framework not in _FRAMEWORKS:
        raise UsageError(f"the framework {framework!r}", expected=one_of(FRAMEWORKS))
    chosen = _FRAMEWORKS[framework]
    order = topological([output])
    symbols = symbols_of([output])
    wanted = {n: t for n, t in (names or {}).items() if n.args and n in set(order) and n is not output}
    for text in (name, *(s.name for s in symbols), *wanted.values()):
        if not text.isidentifier() or keyword.iskeyword(text):
            raise UsageError(f"{text!r} cannot name a value", expected="a Python identifier")
    missing = dict.fromkeys(n.op.name for n in order if n.args and not _known(n, chosen))
    if missing:
        slopes = "with_slope" in missing
        raise UnsupportedError(
            f"no spelling in {framework} for {', '.join(missing)}",
            expected="elementwise operations, sums of products and stop_gradient",
            cure=f"a custom gradient is no stop_gradient expression: write it with {_CUSTOM[framework]}"
            if slopes
            else None,
        )
    taken = {name, *(s.name for s in symbols), *wanted.values(), "jax", "jnp", "torch", "tf"}
    count = uses([output])
    for node in reversed(order):
        if node.op.name == "neg":  # is written where it is read
            count[node.args[0]] += count[node] - 1
            count[node] = 1
    texts: dict[Node, tuple[str, int]] = {}
    lines: list[str] = []
    for node in order:
        text, rank = _written(node, texts, chosen)
        own = wanted.get(node)
        if own is None and node.args and node is not output and count[node] > 1 and symbols_of([node]):
            own = next(t for k in range(len(taken) + 1) if (t := f"t{k + 1}") not in taken)
            taken.add(own)
        if own is not None:
            lines.append(f"{own} = {text}")
            text, rank = own, _ATOM
        texts[node] = text, rank
    body = "".join(f"    {line}\n" for line in [*lines, f"return {texts[output][0]}"])
    return f"{chosen.imports}\n\n\ndef {name}({', '.join(s.name for s in symbols)}):\n{body}"


_CUSTOM = {"jax": "jax.custom_vjp", "torch": "torch.autograd.Function", "tensorflow": "tf.custom_gradient"}


def _known(n: Node, framework: _Framework) -> bool:
    known = n.op.name in framework.calls or n.op.name in _INFIX
    return known or n.op.name in ("neg", "stop_gradient", "and_", "or_", "not_", "einsum")


def _written(node: Node, texts: Mapping[Node, tuple[str, int]], framework: _Framework) -> tuple[str, int]:
    op = node.op
    if op is SYMBOL:
        return node.name, _ATOM
    if op is CONSTANT:
        return repr(CONSTANT_VALUES[node.params[0]]), _ATOM
    if op is NUMBER or (not node.shape and not symbols_of([node])):
        value = evaluate([node], {})[0].item()
        whole = (
            isinstance(value, float) and value.is_integer() and abs(value) < 2**31 and str(value) != "-0.0"
        )
        text = repr(int(value) if whole else value)
        if text.lstrip("-") in ("inf", "nan"):
            text = f'float("{text}")'
        return text, _NEG if text.startswith("-") else _ATOM

    def of(i: int, rank: int) -> str:
        text, own = texts[node.args[i]]
        return text if own >= rank else f"({text})"

    if op.name == "stop_gradient":
        if symbols_of([node]):
            return framework.stop.format(of(0, _ATOM if framework.module == "torch" else 0)), _ATOM
        return texts[node.args[0]]
    if op.name == "add" and node.args[1].op.name == "neg" and node.args[1] in texts:
        text = texts[node.args[1]][0]
        if text.startswith("-"):  # a + (-b) and a - b are one operation of IEEE arithmetic
            inner, own = texts[node.args[1].args[0]]
            return f"{of(0, _ADD)} - {inner if own >= _MUL else f'({inner})'}", _ADD
    if op.name == "neg":
        return f"-{of(0, _NEG)}", _NEG
    if op.name in _INFIX:
        sign, own, left, right = _INFIX[op.name]
        return f"{of(0, left)}{sign}{of(1, right)}", own
    if op.name == "not_":
        return f"~{of(0, _ATOM)}", _NEG
    if op.name in ("and_", "or_"):
        return f"({of(0, _ATOM)} {'&' if op.name == 'and_' else '|'} {of(1, _ATOM)})", _ATOM
    parts = [of(i, 0) for i in range(len(node.args))]
    if op.name == "einsum":
        labels, result = node.params
        spelled = ",".join(map(_letters, labels)) + "->" + _letters(result)
        return f'{framework.module}.einsum("{spelled}", {", ".join(parts)})', _ATOM
    if framework.module == "torch" and op.name in ("maximum", "minimum"):
        for i in (0, 1):
            if not symbols_of([node.args[i]]):  # torch has these of tensors alone
                bound = "min" if op.name == "maximum" else "max"
                return f"torch.clamp({parts[1 - i]}, {bound}={parts[i]})", _ATOM
    return f"{framework.calls[op.name]}({', '.join(parts)})", _ATOM


def _letters(labels: Sequence[int]) -> str:
    return "".join(chr(ord("a") + label) for label in labels)
