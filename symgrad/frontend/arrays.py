"""Array functions: NumPy's names for what `symgrad.ops.build` makes.

The signature of a builder is the signature in programs, and the name of a parameter says what its argument is: an array
(``x``), an axis, a shape made of sizes, a literal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from inspect import Parameter, signature
from typing import Any, cast

from symgrad.errors import DomainError, ProgramSyntaxError, ShapeError, SymgradError
from symgrad.frontend.scope import Scope
from symgrad.frontend.subscripts import section_ends
from symgrad.frontend.terms import Argument, Item, Items, Keyword, Nothing, Term, Text, ends
from symgrad.ir.bounds import check_axes
from symgrad.ir.graph import NUMBER, Node, as_node
from symgrad.ir.op import OPS
from symgrad.ir.sizes import Shape, Size, Triple, told
from symgrad.ops import build, matrices, products, subscripts

__all__ = ["ARRAYS", "array_call"]


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
    "sum": build.total,
    **{name: partial(build.reduce_axes, name) for name in ("mean", "prod", "max", "min", "logsumexp")},
    **{name: partial(build.over_axes, name) for name in ("softmax", "log_softmax")},
    **{name: partial(build.argument_position, name) for name in ("argmax", "argmin")},
    "amax": partial(build.reduce_axes, "max"),
    "amin": partial(build.reduce_axes, "min"),
    "var": build.var,
    "std": build.std,
    "norm": build.vector_norm,
    "cumsum": build.cumulative_sum,
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


@cache
def _parameters(name: str) -> tuple[Parameter, ...]:
    return tuple(signature(ARRAYS[name]).parameters.values())


def _usage(name: str) -> str:
    """Return how a function is called, as messages show it."""
    shown: list[str] = []
    for p in _parameters(name):
        if p.kind is p.VAR_POSITIONAL:
            shown.append(f"{p.name[0]}, ...")
        elif p.name == "xs":
            shown.append("(a, b)")
        elif p.name == "spec":
            shown.append('"ij,jk->ik"')
        elif p.kind is p.KEYWORD_ONLY or p.default is not p.empty:
            shown.append(f"{p.name}={'...' if p.default is p.empty else p.default}")
        else:
            shown.append(p.name)
    return f"{name}({', '.join(shown)})"


def array_call(scope: Scope, name: str, arguments: Sequence[Argument], start: int, end: int) -> Term:
    """Return the term of a call of an array function, or keep an error in the scope."""
    reading = _Reading(scope, name, start, end)
    try:
        given, named = reading.bind(arguments)
    except SymgradError as error:
        return scope.keep(error, start, end)

    def make(*_arrays: Node) -> Node:
        return ARRAYS[name](*given, **named)

    return scope.build(make, reading.arrays, start, end)


class _Reading:
    """The arguments of one call."""

    def __init__(self, scope: Scope, name: str, start: int, end: int) -> None:
        self.scope = scope
        self.name = name
        self.start = start
        self.end = end
        self.arrays: list[Term] = []  # for messages about shapes

    def bind(self, arguments: Sequence[Argument]) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and the named arguments of the builder."""
        parameters = _parameters(self.name)
        positional = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        by_name = {p.name: p for p in parameters if p.kind is not p.VAR_POSITIONAL}
        given: list[Any] = []
        named: dict[str, Any] = {}
        for argument in arguments:
            if isinstance(argument, Keyword):
                key = str(argument.name)
                place = [p.name for p in positional[: len(given)]]
                if key not in by_name or key in named or key in place:
                    raise self._wrong_keyword(argument, twice=key in by_name)
                named[key] = self._value(key, argument.value)
                continue
            if named:
                raise self.error(
                    ProgramSyntaxError,
                    "a positional argument follows a keyword argument",
                    argument,
                    cure="move it before the keyword arguments",
                )
            many = positional[-1] if positional and positional[-1].kind is Parameter.VAR_POSITIONAL else None
            if len(given) >= len(positional) and many is None:
                raise self._wrong_number(len(arguments))
            p = positional[len(given)] if many is None else positional[min(len(given), len(positional) - 1)]
            given.append(self._value(p.name, argument))
        needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
        have = {p.name for p in positional[: len(given)]} | set(named)
        for p in needed:
            if p.name not in have and p.kind is p.KEYWORD_ONLY:
                raise self.error(
                    ProgramSyntaxError,
                    f"{self.name} has no argument {p.name}=",
                    self,
                    cure=f"add {p.name}=..., as expected",
                )
            if p.name not in have:
                raise self._wrong_number(len(arguments))
        return given, named

    def error(
        self,
        cls: type[SymgradError],
        what: str,
        at: Item | _Reading,
        *,
        expected: str | None = None,
        cure: str,
    ) -> SymgradError:
        place = self.scope.location(at.start, at.end)
        return cls(what, at=place, expected=expected or _usage(self.name), cure=cure)

    def _wrong_number(self, count: int) -> SymgradError:
        parameters = _parameters(self.name)
        least = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters)
        short = count < least
        return ProgramSyntaxError(
            f"{self.name} takes {'at least' if short else 'at most'} "
            f"{least if short else len(parameters)} argument{'s' * ((least if short else len(parameters)) != 1)}, "
            f"got {count}",
            at=self.scope.location(self.start, self.end),
            expected=_usage(self.name),
            cure="add the missing argument" if short else "remove an argument",
        )

    def _wrong_keyword(self, argument: Keyword, *, twice: bool) -> SymgradError:
        key = str(argument.name)
        what = f"{self.name} gets {key} twice" if twice else f"{self.name} takes no argument named '{key}'"
        start, end = ends(argument.name)
        return ProgramSyntaxError(
            what,
            at=self.scope.location(start, end),
            expected=_usage(self.name),
            cure="leave it out"
            if twice or key in ("out", "dtype", "where", "initial")
            else "write it as expected",
        )

    # ------------------------------------------------------------------------------------------- kinds of argument

    def _value(self, name: str, item: Item) -> Any:
        return getattr(self, f"_{_KINDS[name]}")(name, item)

    def _array(self, name: str, item: Item) -> Node:
        if not isinstance(item, Term):
            shown = {Items: "a tuple", Text: "a text", Nothing: "None"}[type(item)]
            raise self.error(
                DomainError,
                f"{name} of {self.name} is an array, not {shown}",
                item,
                cure="write one value"
                if not isinstance(item, Items)
                else "write stack((a, b)) for an array of values",
            )
        self.arrays.append(item)
        return item.node

    def _arrays(self, _name: str, item: Item) -> list[Node]:
        if not isinstance(item, Items):
            raise self.error(
                DomainError,
                f"{self.name} takes its arrays in one tuple",
                item,
                cure=f"write {self.name}((a, b))",
            )
        return [self._array("an entry", value) for value in item.values]

    def _positions(self, name: str, item: Item) -> Node:
        if isinstance(item, Items):
            return build.stack([self._array("an index", value) for value in item.values])
        return self._array(name, item)

    def _int(self, name: str, item: Item) -> int:
        if isinstance(item, Term) and item.node.is_number() and isinstance(item.node.value, int):
            return item.node.value
        larger = {"max": "maximum", "min": "minimum"}.get(self.name)
        raise self.error(
            DomainError,
            f"{name} of {self.name} is not a literal whole number",
            item,
            cure=f"write {larger}(x, y) for two values" if larger else f"write a number such as {name}=0",
        )

    def _axis(self, name: str, item: Item) -> Any:
        if isinstance(item, Nothing):
            return None
        if isinstance(item, Items):
            return tuple(self._axis(name, value) for value in item.values)
        return self._int(name, item)

    def _flag(self, name: str, item: Item) -> bool:
        if isinstance(item, Term) and item.node.op is NUMBER and item.node.dtype == "bool":
            return bool(item.node.value)
        raise self.error(
            DomainError, f"{name} of {self.name} is neither True nor False", item, cure=f"write {name}=True"
        )

    def _size(self, name: str, item: Item) -> Size:
        size = self.scope.size_of(item.node) if isinstance(item, Term) else None
        if size is None:
            raise self.error(
                DomainError,
                f"{name} of {self.name} is no size",
                item,
                expected="whole numbers and names of sizes, with + - *, such as n*5",
                cure="use the names of sizes in declarations: n of X : real[n, 5]",
            )
        if isinstance(size, int) and size < 0 and not (self.name == "reshape" and size == -1):
            raise self.error(
                ShapeError,
                f"{told(size)} is no size",
                item,
                cure="write a number that is not negative",
            )
        try:
            check_axes((size,))
        except ShapeError as error:
            raise self.error(
                ShapeError, error.what, item, expected=error.expected, cure=str(error.cure)
            ) from None
        return size

    def _shape(self, name: str, item: Item) -> Shape:
        values = item.values if isinstance(item, Items) else (item,)
        return tuple(self._size(name, value) for value in values)

    def _order(self, name: str, item: Item) -> Any:
        if isinstance(item, Nothing):
            return None
        if isinstance(item, Text):
            return item.value
        if isinstance(item, Term) and item.node.is_number() and isinstance(item.node.value, int):
            return item.node.value
        raise self.error(
            DomainError,
            f"{name} of {self.name} is no order of a norm",
            item,
            cure='write 1, 2, "inf" or "fro"',
        )

    def _text(self, _name: str, item: Item) -> str:
        if not isinstance(item, Text):
            raise self.error(
                DomainError,
                f"the subscripts of {self.name} are not a text in quotes",
                item,
                cure='write them first: einsum("ij,jk->ik", A, B)',
            )
        return item.value

    def _triples(self, _name: str, item: Item) -> Any:
        if not isinstance(item, Items) or not all(
            isinstance(v, Items) and len(v.values) == 3 for v in item.values
        ):
            raise self.error(
                DomainError,
                f"{self.name} takes (start, stop, step) for each axis",
                item,
                cure="write ((1, None, 1), (None, None, -1)) for 1: and ::-1",
            )
        return tuple(section_ends(self.scope, *v.values) for v in item.values if isinstance(v, Items))


_KINDS = {
    **dict.fromkeys(("x", "a", "b", "value", "index", "args"), "array"),
    **dict.fromkeys(("axis", "axes", "source", "destination"), "axis"),
    **dict.fromkeys(("axis1", "axis2", "ddof", "n"), "int"),
    **dict.fromkeys(("keepdims", "reverse"), "flag"),
    **dict.fromkeys(("rows", "columns", "size", "depth"), "size"),
    "positions": "positions",
    "xs": "arrays",
    "shape": "shape",
    "ord": "order",
    "spec": "text",
    "triples": "triples",
}
