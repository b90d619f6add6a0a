"""The array functions of the notation: names of NumPy and their builders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from symgrad.autodiff.running_product import cumprod
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.shapes import Triple
from symgrad.ir.sizes import Shape
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import matrices, padding, products, sequences, sorting, subscripts
from symgrad.support.errors import ShapeError


def _raw_gather(x: Node, *args: Node, axes: Any) -> Node:
    return OPS["gather"](x, *args, params=(_axes_of_indices(axes, args, len(x.shape)),))


def _raw_scatter(x: Node, *args: Node, axes: Any = 0, shape: Shape) -> Node:
    return OPS["scatter_add"](x, *args, params=(_axes_of_indices(axes, args, len(shape)), shape))


def _axes_of_indices(axes: Any, indices: Sequence[Node], rank: int) -> tuple[int, ...]:
    found = tuple(
        build.axis_of(a, rank) for a in cast("tuple[Any, ...]", axes if isinstance(axes, tuple) else (axes,))
    )
    if len(found) != len(indices) or len(set(found)) != len(found) or not found:
        raise ShapeError(
            f"{len(indices)} index arrays for axes {found}", expected="a different axis for each"
        )
    return found


def _raw_slice(x: Node, triples: Any) -> Node:
    return OPS["slice"](x, params=(_triples(triples, x.shape),))


def _raw_unslice(x: Node, triples: Any, shape: Shape) -> Node:
    return OPS["unslice"](x, params=(_triples(triples, shape), shape))


def _triples(triples: Any, shape: Shape) -> tuple[Triple, ...]:
    if len(triples) != len(shape):
        raise ShapeError(f"{len(triples)} slices for {len(shape)} axes", expected="one for each axis")
    return tuple(subscripts.slice_triple(slice(*t), size) for t, size in zip(triples, shape, strict=True))


def _prod_except(x: Node, axis: Any = None) -> Node:
    if axis is None and len(x.shape) != 1:
        raise ShapeError(f"prod_except of an array with {len(x.shape)} axes", cure="name one: axis=0")
    return OPS["prod_except"](x, params=(build.axis_of(axis or 0, len(x.shape)),))


def _constant(value: int) -> Callable[[Shape], Node]:
    def filled(shape: Shape) -> Node:
        return build.full_array(shape, as_node(value))

    return filled


def _constant_like(value: int) -> Callable[[Node], Node]:
    def filled(x: Node) -> Node:
        return build.full_array(x.shape, as_node(value))

    return filled


ARRAYS: dict[str, Callable[..., Node]] = {
    **{
        op.name: build.along_axes(op)
        for op in OPS.values()
        if op.takes == ("number",) and op.parameters in (("axis",), ("axes",)) and not op.variadic
    },
    "sum": build.total,
    "amax": partial(build.reduce_axes, "max"),
    "amin": partial(build.reduce_axes, "min"),
    "var": build.var,
    "std": build.std,
    "norm": build.vector_norm,
    "cumsum": build.cumulative_sum,
    "cumprod": cumprod,
    "convolve": sequences.convolve,
    "correlate": sequences.correlate,
    "cov": sequences.cov,
    "corrcoef": sequences.corrcoef,
    "interp": sorting.interp,
    "searchsorted": sorting.searchsorted,
    "sort": sorting.sort,
    "argsort": sorting.argsort,
    "median": sorting.median,
    "quantile": sorting.quantile,
    "prod_except": _prod_except,
    "matmul": products.matmul,
    "dot": products.dot,
    "tensordot": products.tensordot,
    "inner": products.inner,
    "outer": products.outer,
    "trace": products.trace,
    "diag": products.diag,
    "kron": matrices.kron,
    "inv": matrices.inv,
    "det": matrices.det,
    "logdet": matrices.logdet,
    "solve": matrices.solve,
    "cholesky": matrices.cholesky,
    "solve_triangular": matrices.solve_triangular,
    "matrix_power": matrices.matrix_power,
    "expm": matrices.expm,
    "sinm": matrices.sinm,
    "cosm": matrices.cosm,
    "expm_frechet": matrices.expm_frechet,
    "sinm_frechet": matrices.sinm_frechet,
    "cosm_frechet": matrices.cosm_frechet,
    "einsum": products.einsum_text,
    "transpose": build.permute,
    "swapaxes": build.swapaxes,
    "moveaxis": build.moveaxis,
    "reshape": build.reshaped,
    "expand_dims": build.expand_dims,
    "squeeze": build.squeeze_axes,
    "broadcast_to": build.broadcast,
    "flip": build.flip,
    "concatenate": build.join,
    "concat": build.join,
    "stack": build.stack,
    "array": build.array,
    "pad": padding.pad,
    "zeros": _constant(0),
    "ones": _constant(1),
    "full": build.full_array,
    "zeros_like": _constant_like(0),
    "ones_like": _constant_like(1),
    "eye": build.identity,
    "arange": build.arange,
    "one_hot": build.onehot,
    "take": subscripts.take,
    "take_along_axis": subscripts.take_along_axis,
    "slice": _raw_slice,
    "unslice": _raw_unslice,
    "gather": _raw_gather,
    "scatter_add": _raw_scatter,
}
