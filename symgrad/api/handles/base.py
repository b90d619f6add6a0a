"""The base of all handles: a node with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from symgrad.autodiff.trace import BackwardTrace
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Derivative, Listing
from symgrad.rewrite.memo import Answers

Number: TypeAlias = "int | float | Fraction | Decimal | np.number[Any] | np.bool_"
"""Numbers in formulas. They are exact: a float stands for its shortest decimal."""


class Handle:
    """A node and its origin, without the functions of formulas: the base of `Expr`.

    Modules that `Expr` imports work with Handles; their results have the class of their operands.
    """

    __slots__ = (
        "__weakref__",
        "_answers",
        "_in_names",
        "_listings",
        "_node",
        "_nothing",
        "_origins",
        "_parts",
        "_slope",
        "_sources",
        "_traces",
    )

    def __init__(
        self,
        node: Node,
        *,
        listings: tuple[Listing, ...] = (),
        traces: tuple[BackwardTrace, ...] = (),
        nothing: str | None = None,
        origins: tuple[Node, ...] = (),
        sources: tuple[Node, ...] = (),
        slope: Derivative | None = None,
        in_names: Derivative | bool = False,
        parts: Mapping[Node, Derivative] = {},
    ) -> None:
        self._answers: Answers | None = None
        self._node = node
        self._listings = listings
        self._traces = traces
        self._nothing = nothing
        self._origins = origins
        self._sources = sources
        self._slope = slope
        self._in_names = in_names
        self._parts = parts

    @property
    def node(self) -> Node:
        """The node of the graph, see ``symgrad.ir.graph`` (internal)."""
        return self._node

    @property
    def dtype(self) -> str:
        """The kind of value: ``real``, ``int`` or ``bool``."""
        return self._node.dtype

    @property
    def name(self) -> str | None:
        """The name of a symbol or of a named intermediate value of a program; None for anything else."""
        if self._node.op is SYMBOL:
            return self._node.name
        names = (listing.name_of() for listing in self._listings)
        return next((n[self._node] for n in names if self._node in n), None)

    @property
    def nothing(self) -> str | None:
        """The reason why a derivative is zero: ``zero``, ``disconnected``, ``stopped`` or ``no tangent``; else None."""
        return self._nothing

    @property
    def derived(self) -> bool:
        """Whether the expression is a derivative computed by symgrad, whose form symgrad may choose (internal)."""
        return bool(self._origins)

    @property
    def has_derivatives(self) -> bool:
        """Whether the expression is a derivative or a formula of derivatives (internal)."""
        return bool(self._origins or self._parts)

    @property
    def origins(self) -> tuple[Node, ...]:
        """The nodes whose derivative the expression is (internal)."""
        return self._origins

    @property
    def sources(self) -> tuple[Node, ...]:
        """Nodes whose shapes define the sizes of the expression, even if it does not read their entries (internal)."""
        return (*self._origins, *self._sources)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The programs from which the expression comes (internal)."""
        return self._listings

    @property
    def slope(self) -> Derivative | None:
        """The function and the variables, of a derivative of one scalar or a formula of such (internal)."""
        return self._slope

    @property
    def parts(self) -> Mapping[Node, Derivative]:
        """The derivatives of scalars that the expression contains, and those of which these are made (internal)."""
        return self._parts

    @property
    def in_names(self) -> Derivative | bool:
        """Whether it is printed in the names of its program, without a slope; or as which derivative (internal)."""
        return self._in_names

    @property
    def traces(self) -> tuple[BackwardTrace, ...]:
        """The records of the backward passes that produced the expression (internal)."""
        return self._traces

    @property
    def answers(self) -> Answers:
        """The cache of analyses of the expression, shared by all results of one backward pass (internal)."""
        if self._traces:
            return self._traces[0].answers
        if self._answers is None:
            self._answers = {}
        return self._answers

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def _in_form(self, node: Node, *, derived: bool) -> Self:
        """Return another form, which stays a derivative or becomes a formula that is computed as written."""
        if not derived:
            return type(self)(node, listings=self._listings, nothing=self._nothing, sources=self.sources)
        return type(self)(
            node,
            listings=self._listings,
            traces=self._traces,
            nothing=self._nothing,
            origins=self._origins,
            sources=self._sources,
            parts=self._parts,
        )

    def _with(self, node: Node) -> Self:
        """Return a handle on another node with the same origin."""
        if not self._listings and not self.sources:
            return handle_on(type(self), node)
        return type(self)(node, listings=self._listings, traces=self._traces, sources=self.sources)


E = TypeVar("E", bound=Handle)

_handles: WeakValueDictionary[Node, Handle] = WeakValueDictionary()


def handle_on(kind: type[E], node: Node) -> E:
    """Return the handle without an origin on a node; there is one live handle for each node."""
    found = _handles.get(node)
    if type(found) is kind:
        return found
    new = kind(node)
    first = _handles.setdefault(node, new)  # another thread may have been faster
    return first if type(first) is kind else new
