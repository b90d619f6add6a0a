"""Array graphs as JAX functions, op by op: a derivation that shares nothing with symgrad's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.sizes import evaluate_size, resolve
from symgrad.ir.traverse import symbols_of, topological

__all__ = ["as_jax", "of_real_inputs"]


def as_jax(output: Node, inputs: Sequence[Node], sizes: Mapping[str, int]) -> Callable[..., Any]:
    """Return the JAX function of an output."""
    import jax.numpy as jnp

    def function(*arrays: Any) -> Any:
        values: dict[Node, Any] = dict(zip(inputs, arrays, strict=True))
        for node in topological([output]):
            if node in values:
                continue
            if node.op is NUMBER:
                value = node.value
                values[node] = (
                    value if isinstance(value, bool) else float(value) if node.dtype == "real" else value
                )
            elif node.op is CONSTANT:
                values[node] = {"pi": jnp.pi, "E": jnp.e}[node.params[0]]
            elif node.op is SIZE:
                values[node] = evaluate_size(node.params[0], sizes)
            else:
                assert node.op is not SYMBOL, f"{node!r} is no input"
                args = [values[a] for a in node.args]
                params = resolve(node.params, sizes) if not node.op.pointwise else node.params
                values[node] = _rule(node.op.name)(*params, *args)
        return values[output]

    return function


def of_real_inputs(output: Node, values: Mapping[Node, Any], sizes: Mapping[str, int]) -> Callable[..., Any]:
    """Return the JAX function of an output's real inputs, in order of appearance; the others have their values."""
    inputs = symbols_of([output])
    function = as_jax(output, inputs, sizes)

    def partial(*arrays: Any) -> Any:
        given = iter(arrays)
        return function(*(next(given) if s.dtype == "real" else values[s] for s in inputs))

    return partial


def _recurrence(length: int, reverse: int, body: Any, *given: Any) -> Any:
    import jax
    import jax.numpy as jnp

    ends = len(body.carries), len(body.carries) + len(body.rows)
    starts, rows, operands = given[: ends[0]], given[ends[0] : ends[1]], given[ends[1] :]
    step = [as_jax(r, body.symbols, {}) for r in body.results]

    def scanned(carry: Any, row: Any) -> Any:
        new = tuple(jnp.asarray(f(*carry, *row, *operands), float) for f in step)
        return new, new

    first = tuple(jnp.asarray(s, float) for s in starts)
    _, values = jax.lax.scan(scanned, first, rows, length, reverse=bool(reverse))
    pairs = [(v, f[None]) if reverse else (f[None], v) for f, v in zip(first, values, strict=True)]
    whole = [jnp.concatenate(pair) for pair in pairs]
    return whole[0] if len(whole) == 1 else _pack(1, *whole)


def _pack(axis: int, *arrays: Any) -> Any:
    import jax.numpy as jnp

    return jnp.concatenate([jnp.reshape(a, (*a.shape[:axis], -1)) for a in arrays], axis)


def _part(number: int, parts: Any, axis: int, x: Any) -> Any:
    import math

    start = sum(map(math.prod, parts[:number]))
    found = x[(*[slice(None)] * axis, slice(start, start + math.prod(parts[number])))]
    return found.reshape((*x.shape[:axis], *parts[number]))


def _rule(name: str) -> Callable[..., Any]:
    import jax

    return _RULES[name] if name in _RULES else _spelled(jax, name)


def _spelled(jax: Any, name: str) -> Callable[..., Any]:
    if name.endswith("_frechet"):
        function = _spelled(jax, name.removesuffix("_frechet"))
        return lambda x, direction: jax.jvp(function, (x,), (direction,))[1]
    special = {
        "softmax": lambda axes, x: jax.nn.softmax(x, axis=axes),
        "log_softmax": lambda axes, x: jax.nn.log_softmax(x, axis=axes),
        "logsumexp": lambda axes, x: jax.nn.logsumexp(x, axis=axes),
        "logcumsumexp": lambda axis, x: jax.lax.cumlogsumexp(x, axis),
        "one_hot": lambda depth, i: jax.nn.one_hot(i, depth, dtype=int),
        "stop_gradient": jax.lax.stop_gradient,
        "expm": jax.scipy.linalg.expm,
        "sinm": lambda x: jax.scipy.linalg.expm(1j * x).imag,
        "cosm": lambda x: jax.scipy.linalg.expm(1j * x).real,
        "erf": jax.scipy.special.erf,
        "sigmoid": lambda x: jax.nn.sigmoid(1.0 * x),
        "softplus": jax.nn.softplus,
    }
    if name in special:
        return special[name]
    numpy = jax.numpy
    reductions = ("mean", "max", "min", "prod")
    if name in reductions:
        return lambda axes, x: getattr(numpy, name)(x, axis=axes)
    if name in ("argmax", "argmin"):
        return lambda axis, x: getattr(numpy, name)(x, axis=axis)
    spelled = {
        "mul": "multiply",
        "div": "true_divide",
        "neg": "negative",
        "pow": "power",
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
        "eq": "equal",
        "ne": "not_equal",
        "and_": "logical_and",
        "or_": "logical_or",
        "not_": "logical_not",
    }
    return getattr(numpy, spelled.get(name, name))


def _einsum(labels: Any, result: Any, *xs: Any) -> Any:
    import jax.numpy as jnp

    operands: list[Any] = []
    for x, own in zip(xs, labels, strict=True):
        operands += [x, list(own)]
    return jnp.einsum(*operands, list(result))


def _norm(axes: Any, x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.sqrt(jnp.sum(x * x, axis=axes))


def _cumsum(axis: int, reverse: int, x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.flip(jnp.cumsum(jnp.flip(x, axis), axis), axis) if reverse else jnp.cumsum(x, axis)


def _key(triples: Any) -> Any:
    return tuple(slice(*t) for t in triples)


def _unslice(triples: Any, shape: Any, x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.zeros(shape, dtype=x.dtype).at[_key(triples)].set(x)


def _moved(axes: Any, rank: int) -> list[int]:
    return [*axes, *(a for a in range(rank) if a not in axes)]


def _gather(axes: Any, x: Any, *indices: Any) -> Any:
    import jax.numpy as jnp

    depth = len(jnp.broadcast_shapes(*(jnp.shape(i) for i in indices)))
    rows = jnp.transpose(x, _moved(axes, x.ndim))[indices]
    return jnp.moveaxis(rows, range(depth), range(axes[0], axes[0] + depth))


def _scatter_add(axes: Any, shape: Any, values: Any, *indices: Any) -> Any:
    import jax.numpy as jnp

    depth = len(jnp.broadcast_shapes(*(jnp.shape(i) for i in indices)))
    order = _moved(axes, len(shape))
    rows = jnp.moveaxis(values, range(axes[0], axes[0] + depth), range(depth))
    target = jnp.zeros([shape[a] for a in order]).at[indices].add(rows)
    return jnp.transpose(target, [order.index(a) for a in range(len(shape))])


def _prod_except(axis: int, x: Any) -> Any:
    import jax.numpy as jnp

    x = jnp.moveaxis(x, axis, -1)
    off = ~jnp.eye(x.shape[-1], dtype=bool)
    return jnp.moveaxis(jnp.prod(jnp.where(off, x[..., None, :], 1.0), axis=-1), -1, axis)


def _numpy(name: str) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        import jax.numpy as jnp

        return getattr(jnp, name)(*args)

    return call


def _linalg(name: str) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        import jax.numpy as jnp

        return getattr(jnp.linalg, name)(*args)

    return call


def _concatenate(axis: int, *xs: Any) -> Any:
    import jax.numpy as jnp

    return jnp.concatenate(xs, axis=axis)


_RULES: Mapping[str, Callable[..., Any]] = {
    "recurrence": _recurrence,
    "pack": _pack,
    "part": _part,
    "einsum": _einsum,
    "reshape": lambda shape, x: _numpy("reshape")(x, shape),
    "broadcast_to": lambda shape, x: _numpy("broadcast_to")(x, shape),
    "norm": _norm,
    "cumsum": _cumsum,
    "slice": lambda triples, x: x[_key(triples)],
    "unslice": _unslice,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "prod_except": _prod_except,
    "concatenate": _concatenate,
    "iota": _numpy("arange"),
    "eye": _numpy("eye"),
    "inv": _linalg("inv"),
    "det": _linalg("det"),
    "logdet": lambda x: _linalg("slogdet")(x)[1],
    "solve": _linalg("solve"),
    "cholesky": lambda x: _linalg("cholesky")(_numpy("tril")(x) + _numpy("tril")(x, -1).mT),
}
