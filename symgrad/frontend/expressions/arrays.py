"""Calls of array functions: convert the arguments in a text to arguments of a builder.

The signature of a builder is the signature of the function in programs. The name of a parameter tells the kind of its
argument: an array (``x``), an axis, a shape that consists of sizes, a literal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import Any, cast

from symgrad.frontend.expressions.array_functions import ARRAYS
from symgrad.frontend.expressions.subscripts import section_ends
from symgrad.frontend.scope import Scope
from symgrad.frontend.tokens.foreign_syntax import argument_names
from symgrad.frontend.tokens.terms import Argument, Item, ItemList, Keyword, NoneLiteral, Term, Text, span_of
from symgrad.ir.bounds import check_axes
from symgrad.ir.graph import NUMBER, Node
from symgrad.ir.sizes import Shape, Size, extent_text
from symgrad.ops.numpy import calls as build
from symgrad.support.errors import DomainError, ProgramSyntaxError, ShapeError, SymgradError


@cache
def _parameters(name: str) -> tuple[Parameter, ...]:
    return tuple(signature(ARRAYS[name]).parameters.values())


def _usage(name: str) -> str:
    """Return the form of a call of a function, as messages show it."""
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
    """Return the term of a call of an array function, or record an error in the scope."""
    reading = _CallReading(scope, name, start, end)
    try:
        given, named = reading.bind(arguments)
        reading.check_axis(arguments)
    except SymgradError as error:
        return scope.keep(error, start, end)

    def make(*arrays: Node) -> Node:
        found = {t.node: a for t, a in zip(reading.arrays, arrays, strict=True) if t.node is not a}
        if not found:
            return ARRAYS[name](*given, **named)
        return ARRAYS[name](
            *(_with(value, found) for value in given),
            **{k: _with(value, found) for k, value in named.items()},
        )

    return scope.build(make, reading.arrays, start, end)


def _with(value: Any, found: Mapping[Node, Node]) -> Any:
    """Return an argument in which some arrays are replaced."""
    if isinstance(value, list | tuple):
        items = [_with(item, found) for item in cast("Sequence[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return found.get(value, value) if isinstance(value, Node) else value


def _integer(item: Item) -> int | None:
    """Return the value of a literal integer; None for any other node."""
    value = item.node.value if isinstance(item, Term) and item.node.is_number() else None
    return value if isinstance(value, int) else None


class _CallReading:
    """The arguments of one call."""

    def __init__(self, scope: Scope, name: str, start: int, end: int) -> None:
        self.scope = scope
        self.name = name
        self.start = start
        self.end = end
        self.arrays: list[Term] = []  # names of the arrays, for messages about shapes
        self.arguments: Sequence[Argument] = ()

    def bind(self, arguments: Sequence[Argument]) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and the named arguments of the builder."""
        self.arguments = arguments
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
                raise self.refuse(
                    "a positional argument follows a keyword argument",
                    argument,
                    "move it before the keyword arguments",
                    cls=ProgramSyntaxError,
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
                raise self.refuse(
                    f"{self.name} has no argument {p.name}=",
                    self,
                    f"add {p.name}=..., as expected",
                    cls=ProgramSyntaxError,
                )
            if p.name not in have:
                raise self._wrong_number(len(arguments))
        return given, named

    def refuse(
        self,
        what: str,
        at: Item | _CallReading,
        cure: str,
        *,
        expected: str | None = None,
        cls: type[SymgradError] = DomainError,
    ) -> SymgradError:
        """Return the error for an argument, or for the call."""
        place = self.scope.location(at.start, at.end)
        return cls(what, at=place, expected=expected or _usage(self.name), cure=cure)

    def _wrong_number(self, count: int) -> SymgradError:
        parameters = _parameters(self.name)
        least = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters)
        short = count < least
        limit = least if short else len(parameters)
        return self.refuse(
            f"{self.name} takes {'at least' if short else 'at most'} {limit} argument{'s' * (limit != 1)}, "
            f"got {count}",
            self,
            "add the missing argument" if short else "remove an argument",
            cls=ProgramSyntaxError,
        )

    def _wrong_keyword(self, argument: Keyword, *, twice: bool) -> SymgradError:
        key = str(argument.name)
        what = f"{self.name} gets {key} twice" if twice else f"{self.name} takes no argument named '{key}'"
        start, end = span_of(argument.name)
        shown = f"{key}={self._said(argument.value)}"
        return ProgramSyntaxError(
            what,
            at=self.scope.location(start, end),
            expected=_usage(self.name),
            cure="leave it out"
            if twice or key in ("out", "dtype", "where", "initial")
            else f"write {argument_names(shown)}"
            if argument_names(shown) != shown
            else "write it as expected",
        )

    def check_axis(self, arguments: Sequence[Argument]) -> None:
        """Refuse min(x, 1) if x has no axis 1: two values are compared with minimum."""
        values = [a for a in arguments if isinstance(a, Term)]
        if self._extreme is None or len(values) != len(arguments) or len(values) < 2:
            return
        axis, rank = values[1].node, len(values[0].node.shape)
        if axis.is_number() and not -rank <= axis.value < rank:
            raise self.refuse(
                f"axis {axis.value} of an array with {rank} axes",
                values[1],
                self._of_values(arguments) or "leave the axis out",
                expected=f"an axis from {-rank} to {rank - 1}"
                if rank
                else "an array, or two values for " + self._extreme,
                cls=ShapeError,
            )

    @property
    def _extreme(self) -> str | None:
        """The function of two values that corresponds to an extreme of the entries of an array."""
        return {"max": "maximum", "min": "minimum", "amax": "maximum", "amin": "minimum"}.get(self.name)

    def _said(self, item: Item) -> str:
        return self.scope.source.text[item.start : item.end]

    def _of_values(self, arguments: Sequence[Argument]) -> str | None:
        """Return the cure for an extreme of several arguments; None for other functions."""
        values = [a for a in arguments if isinstance(a, Term)]
        if self._extreme is None or len(values) < 2:
            return None
        return f"write {self._extreme}({', '.join(map(self._said, values))})"

    # ------------------------------------------------------------------------------------------- kinds of argument

    def _value(self, name: str, item: Item) -> Any:
        return getattr(self, f"_{_KINDS[name]}")(name, item)

    def _array(self, name: str, item: Item) -> Node:
        if not isinstance(item, Term):
            shown = {ItemList: "a tuple", Text: "a text", NoneLiteral: "None"}[type(item)]
            raise self.refuse(
                f"{name} of {self.name} is an array, not {shown}",
                item,
                "write one value" if not isinstance(item, ItemList) else self._of_items(item),
            )
        self.arrays.append(item)
        return item.node

    def _of_items(self, item: ItemList) -> str:
        """Return the cure for values that are written in one tuple or list."""
        shown = ", ".join(map(self._said, item.values))
        if self._extreme is not None and len(item.values) > 1:
            return f"write {self._extreme}({shown})"
        return (
            f"write stack(({shown})) for an array of values"
            if len(shown) <= 40
            else "write stack((a, b)) for an array of values"
        )

    def _arrays(self, _name: str, item: Item) -> list[Node]:
        if not isinstance(item, ItemList):
            raise self.refuse(
                f"{self.name} takes its arrays in one tuple", item, f"write {self.name}((a, b))"
            )
        return [self._array("an entry", value) for value in item.values]

    def _entries(self, name: str, item: Item) -> Any:
        if isinstance(item, ItemList):
            return [self._entries(name, value) for value in item.values]
        return self._array("an entry", item)

    def _positions(self, name: str, item: Item) -> Node:
        if isinstance(item, ItemList):
            return build.stack([self._array("an index", value) for value in item.values])
        return self._array(name, item)

    def _int(self, name: str, item: Item) -> int:
        value = _integer(item)
        if value is not None:
            return value
        raise self.refuse(
            f"{name} of {self.name} is not a literal whole number",
            item,
            self._of_values(self.arguments) or f"write a number such as {name}=0",
        )

    def _axis(self, name: str, item: Item) -> Any:
        if isinstance(item, NoneLiteral):
            return None
        if isinstance(item, ItemList):
            return tuple(self._axis(name, value) for value in item.values)
        return self._int(name, item)

    def _widths(self, name: str, item: Item) -> Any:
        if isinstance(item, ItemList):
            return tuple(self._widths(name, value) for value in item.values)
        return self._any_size(name, item)  # the message of `pad` about a negative size is better

    def _flag(self, name: str, item: Item) -> bool:
        if isinstance(item, Term) and item.node.op is NUMBER and item.node.dtype == "bool":
            return bool(item.node.value)
        raise self.refuse(
            f"{name} of {self.name} is neither True nor False",
            item,
            self._of_values(self.arguments) or f"write {name}=True",
        )

    def _any_size(self, name: str, item: Item) -> Size:
        size = self.scope.size_of(item.node) if isinstance(item, Term) else None
        if size is None:
            raise self.refuse(
                f"{name} of {self.name} is no size",
                item,
                "use the names of sizes in declarations: n of X : real[n, 5]",
                expected="whole numbers and names of sizes, with + - *, such as n*5",
            )
        return size

    def _size(self, name: str, item: Item) -> Size:
        size = self._any_size(name, item)
        if isinstance(size, int) and size < 0 and not (self.name == "reshape" and size == -1):
            raise self.refuse(
                f"{extent_text(size)} is no size", item, "write a number that is not negative", cls=ShapeError
            )
        try:
            check_axes((size,))
        except ShapeError as error:
            raise self.refuse(
                error.what, item, str(error.cure), expected=error.expected, cls=ShapeError
            ) from None
        return size

    def _shape(self, name: str, item: Item) -> Shape:
        values = item.values if isinstance(item, ItemList) else (item,)
        return tuple(self._size(name, value) for value in values)

    def _order(self, name: str, item: Item) -> Any:
        if isinstance(item, NoneLiteral):
            return None
        if isinstance(item, Text):
            return item.value
        value = _integer(item)
        if value is not None:
            return value
        raise self.refuse(f"{name} of {self.name} is no order of a norm", item, 'write 1, 2, "inf" or "fro"')

    def _word(self, name: str, item: Item) -> str:
        if not isinstance(item, Text):
            raise self.refuse(f"{name} of {self.name} is not a word in quotes", item, "write it in quotes")
        return item.value

    def _text(self, _name: str, item: Item) -> str:
        if not isinstance(item, Text):
            raise self.refuse(
                f"the subscripts of {self.name} are not a text in quotes",
                item,
                'write them first: einsum("ij,jk->ik", A, B)',
            )
        return item.value

    def _triples(self, _name: str, item: Item) -> Any:
        if not isinstance(item, ItemList) or not all(
            isinstance(v, ItemList) and len(v.values) == 3 for v in item.values
        ):
            raise self.refuse(
                f"{self.name} takes (start, stop, step) for each axis",
                item,
                "write ((1, None, 1), (None, None, -1)) for 1: and ::-1",
            )
        return tuple(section_ends(self.scope, *v.values) for v in item.values if isinstance(v, ItemList))


_KINDS = {
    **dict.fromkeys(
        ("x", "a", "b", "m", "v", "y", "q", "xp", "fp", "left", "right", "value", "index", "args"), "array"
    ),
    **dict.fromkeys(("axis", "axes", "source", "destination"), "axis"),
    **dict.fromkeys(("axis1", "axis2", "ddof", "n"), "int"),
    **dict.fromkeys(("keepdims", "reverse", "lower", "upper", "descending", "rowvar", "bias"), "flag"),
    **dict.fromkeys(("rows", "columns", "size", "depth"), "size"),
    "positions": "positions",
    "xs": "arrays",
    "entries": "entries",
    "shape": "shape",
    "ord": "order",
    "spec": "text",
    **dict.fromkeys(("mode", "side"), "word"),
    "triples": "triples",
    "pad_width": "widths",
}
