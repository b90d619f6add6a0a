"""The graph: hash-consed equations whose vocabulary is SymPy's.

    Graph    ::= outputs: Node*                          -- its equations are the nodes that the outputs depend on
    Node     ::= Symbol | Number | Constant | Size | Op(Node*, static parameters)
    Symbol   ::= Declaration                             -- name, domain, shape, distribution
    Number   ::= int | Fraction | True | False           -- exact; floats exist only below `lower`
    Constant ::= pi | E | ...                            -- exact, by name
    Size     ::= name                                    -- the length of an axis, as a number

Nodes are interned (hash consing): structurally equal nodes are the same object, so identity is equality, and a common
subexpression is computed, differentiated and compiled once. The table is weak, so unused graphs are freed. Nodes are
immutable and acyclic, and every traversal is iterative (`ir/traverse.py`).

`op(...)` builds the formulas of users and evaluates nothing. The operators on Node (`a + b`, `2*a`) are for symgrad's
own formulas: they drop structural zeros and ones and fold exact numbers (`ir/arithmetic.py`). `ir/op.py` defines the
fields of an op; the ops themselves are in `symgrad/ops`.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, final
from weakref import WeakValueDictionary

from symgrad.ir import op as record
from symgrad.ir.arithmetic import Arithmetic
from symgrad.ir.bounds import check_axes
from symgrad.ir.exact import CONSTANTS, exact_value
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, Size, SizeAtom
from symgrad.ir.types import Declaration, Kind, Number
from symgrad.support.errors import DomainError, InternalError, ShapeError, UsageError
from symgrad.support.traversal import walk

_SCALAR: Shape = ()


@final
class Node(Arithmetic):
    """One interned equation. Make nodes with `op(...)`, `symbol`, `number`, `constant`; compare them with `is`."""

    __slots__ = ("__weakref__", "_digest", "args", "dtype", "op", "params", "shape")

    op: Op
    args: tuple[Node, ...]
    params: tuple[Any, ...]
    shape: Shape
    dtype: Kind
    _digest: bytes | None

    def __init__(self) -> None:
        raise InternalError("nodes are interned: build them with op(...), symbol, number or constant")

    def __repr__(self) -> str:
        if self.op is SYMBOL:
            return f"<{self.params[0]}>"
        if self.op is NUMBER:
            return f"<{self.params[1]}>"
        return f"<{self.op.name} of {len(self.args)}>" if self.args else f"<{self.params[0]}>"

    @property
    def value(self) -> int | Fraction | bool:
        """The value of a number node."""
        if self.op is not NUMBER:
            raise InternalError(f"{self!r} is not a number")
        return self.params[1]

    @property
    def declaration(self) -> Declaration:
        """The declaration of a symbol node."""
        if self.op is not SYMBOL:
            raise InternalError(f"{self!r} is not a symbol")
        return self.params[0]

    @property
    def name(self) -> str:
        """The name of a symbol node."""
        return self.declaration.name

    def is_number(self, value: int | Fraction | None = None) -> bool:
        """Tell whether the node is a number (not a truth value), and equal to ``value`` if that is set."""
        if self.op is not NUMBER or self.dtype == "bool":
            return False
        return value is None or self.params[1] == value

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        return self

    # Node is final, so these methods need not work for subclasses.
    @classmethod
    def of(cls, value: Node | int | Fraction) -> Node:  # pyright: ignore[reportIncompatibleMethodOverride]  (see above)
        """Return a node unchanged, and a Python number as a node."""
        return as_node(value)

    @classmethod
    def applied(cls, name: str, *args: Node) -> Node:  # pyright: ignore[reportIncompatibleMethodOverride]  (see above)
        """Return the op with this name applied to arguments, unsimplified."""
        return apply(OPS[name], args)


class Op(record.Schema[Node]):
    """One operation: see `symgrad.ir.op.Schema` for its fields."""

    __slots__ = ()

    def __call__(self, *args: Node, params: tuple[Any, ...] = ()) -> Node:
        """Apply the op without evaluating or simplifying."""
        return apply(self, args, params)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


Partial: TypeAlias = "record.Partial[Node]"
Push: TypeAlias = "record.Push[Node]"
Pull: TypeAlias = "record.Pull[Node]"

OPS: record.Registry[Op] = record.Registry()
"""All registered ops by name and alias."""


def internal_op(name: str, doc: str, never: Callable[..., Any], **fields: Any) -> Op:
    """Return an op outside the registry.

    Its other fields are empty, or the function ``never``, which raises an error.
    """
    others: dict[str, Any] = {
        **dict.fromkeys(("aliases", "parameters", "takes", "partials", "kinks", "samples"), ()),
        **dict.fromkeys(("shape", "evaluate", "reference", "lower"), never),
        **dict.fromkeys(("cas", "domain", "push", "pull", "structure")),
        "variadic": False,
        "gives": "real",
        "cost": 0,
        "latex": "",
        "precedence": 100,
        "facts": frozenset(),
    }
    return Op(name=name, doc=doc, **{**others, **fields})


def _leaf(name: str, doc: str, cost: int = 0) -> Op:
    def never(*_: Any) -> Any:
        raise InternalError(f"a leaf ({name}) is not applied")

    return internal_op(name, doc, never, parameters=("value",), cost=cost)


# The cost is that of loading from memory.
SYMBOL = _leaf("symbol", "a declared variable; params[0] is its Declaration", cost=20)
NUMBER = _leaf("number", "an exact number or truth value; params[0] is its kind, params[1] the value")
CONSTANT = _leaf("constant", "an exact constant; params[0] is its name")
SIZE = _leaf("size", "the length of an axis; params[0] is its name")


_table: WeakValueDictionary[tuple[Any, ...], Node] = WeakValueDictionary()
_lock = threading.Lock()


def _intern(op: Op, args: tuple[Node, ...], params: tuple[Any, ...], shape: Shape, dtype: Kind) -> Node:
    key = (op, args, params)
    node = _table.get(key)
    return _new(key, shape, dtype) if node is None else node


def _new(key: tuple[Op, tuple[Node, ...], tuple[Any, ...]], shape: Shape, dtype: Kind) -> Node:
    with _lock:
        node = _table.get(key)  # another thread may have been first
        if node is None:
            node = Node.__new__(Node)
            node.op, node.args, node.params = key
            node.shape = shape
            node.dtype = dtype
            node._digest = None  # pyright: ignore[reportPrivateUsage]  (constructed here)
            _table[key] = node
    return node


def _after_fork() -> None:
    """Replace the lock in a forked child, in which the thread that may hold it does not run."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def symbol(declaration: Declaration) -> Node:
    """Return the symbol of a declaration."""
    return _intern(SYMBOL, (), (declaration,), declaration.shape, declaration.values.kind)


def number(value: Number | float) -> Node:
    """Return an exact number.

    Args:
        value: an int or Fraction; a float stands for the shortest decimal that parses to it, so 0.9 is
            nine tenths, and rounds to the same float in a kernel.

    Raises:
        UsageError: for an infinity or NaN, which cannot be numbers in a graph.
        NumberTooLargeError: for more digits than `symgrad.ir.exact` allows.
    """
    if isinstance(value, bool):
        raise InternalError("truth values are built with truth()")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UsageError(
                f"{value} is not a number",
                expected="a finite number",
                cure="use a symbol and give it this value",
            )
        if value == 0.0 and math.copysign(1, value) < 0:
            return apply(OPS["neg"], (number(0),))
        value = Fraction(float.__repr__(value))  # NumPy's float64 has another repr
    value = exact_value(value)
    kind: Kind = "int" if isinstance(value, int) else "real"
    return _intern(NUMBER, (), (kind, value), _SCALAR, kind)


def truth(value: bool) -> Node:
    """Return True or False as a node."""
    return _intern(NUMBER, (), ("bool", bool(value)), _SCALAR, "bool")


def constant(name: str) -> Node:
    """Return an exact constant by name (``pi``, ``E``, ...)."""
    if name not in CONSTANTS:
        raise InternalError(f"unknown constant {name}")
    return _intern(CONSTANT, (), (name,), _SCALAR, "real")


def size_node(size: Size) -> Node:
    """Return a size as a number: a formula over names of sizes.

    Example:
        >>> size_node(5).value
        5
    """
    if isinstance(size, int | str):
        return size_leaf(size)
    total = number(0)
    for monomial, c in size.terms:
        product = number(c)
        for atom in monomial:
            product = product * (size_node(atom) if isinstance(atom, str) else _of_atom(atom))
        total = total + product
    return total


def size_leaf(size: Size) -> Node:
    """Return a size as one integer node, for lowering.

    In the result of `size_node` a rounded quotient is a real number.
    """
    return number(size) if isinstance(size, int) else _intern(SIZE, (), (size,), _SCALAR, "int")


def _of_atom(atom: SizeAtom) -> Node:
    a, b = size_node(atom.a), size_node(atom.b)
    if atom.op == "ceildiv":
        return apply(OPS["ceil"], (a / b,))
    return apply(OPS["maximum" if atom.op == "max" else "minimum"], (a, b))


def as_node(value: Node | Number | float) -> Node:
    """Return a node unchanged, a Python number as a number node, and a Python bool as a truth value."""
    if isinstance(value, Node):
        return value
    return truth(value) if isinstance(value, bool) else number(value)


def apply(op: Op, args: tuple[Node, ...], params: tuple[Any, ...] = ()) -> Node:
    """Return the node of an op applied to arguments, unsimplified.

    If a truth value stands where a number is needed, it becomes ``where(c, 1, 0)``, as in NumPy. If an array of entries
    of such values stands where truth values are needed, it becomes an array of truth values again.

    Raises:
        UsageError: for a wrong number of arguments or parameters.
        DomainError: for a number where a truth value is needed.
        ShapeError: if the shapes do not broadcast, or an axis would be longer than any array.
    """
    key = (op, args, params)
    known = _table.get(key)
    if known is not None:
        return known  # checked when it was constructed
    takes = op.takes
    count = len(takes)
    if (len(args) < count if op.variadic else len(args) != count) or len(params) != len(op.parameters):
        raise UsageError(
            f"{op.name} takes {count} arguments{' or more' * op.variadic}, got {len(args)}",
            cure=f"see the signature: {op.name}({', '.join('xyzw'[:count])})",
        )
    shape: Shape | None = _SCALAR if op.push is None else None
    integers = True
    for i, arg in enumerate(args):
        kind = arg.dtype
        wanted = takes[i] if i < count else takes[-1]
        if wanted == "number":
            if kind == "bool":
                return apply(op, (*args[:i], indicator(arg), *args[i + 1 :]), params)
            if kind == "real":
                integers = False
        elif wanted == "bool":
            if kind != "bool":
                condition = as_condition(arg)
                if condition is not None:
                    return apply(op, (*args[:i], condition, *args[i + 1 :]), params)
                raise DomainError(
                    f"argument {i + 1} of {op.name} is a number",
                    expected="a condition such as x > 0",
                    cure="compare it with something",
                )
        elif kind != "int":
            raise DomainError(
                f"argument {i + 1} of {op.name} counts positions, and is {kind}",
                expected="whole numbers",
                cure="declare it int, as in ids : int[n]",
            )
        if arg.shape:
            shape = None
    if shape is None:
        try:
            shape = op.shape(tuple(a.shape for a in args), *params)
        except ShapeError as error:
            raise ShapeError(f"{op.name}: {error.what}", expected=error.expected, cure=error.cure) from None
        check_axes(shape)
    gives = op.gives
    dtype: Kind = ("int" if integers else "real") if gives == "same" else gives
    return _new(key, shape, dtype)


def indicator(condition: Node) -> Node:
    """Return 1 where a condition holds and 0 elsewhere."""
    return apply(OPS["where"], (condition, number(1), number(0)))


def as_condition(node: Node) -> Node | None:
    """Return a node as a truth value: the node itself, or an array of entries of indicators (``m[None]``).

    Return None otherwise.
    """
    if node.dtype == "bool":
        return node
    sources = (n for n in walk([node], _sources) if not _sources(n))
    return apply(OPS["gt"], (node, number(0))) if all(map(_is_indicator, sources)) else None


def _is_indicator(node: Node) -> bool:
    return node.op.name == "where" and node.args[1].is_number(1) and node.args[2].is_number(0)


def _sources(node: Node) -> Sequence[Node]:
    """Return the arguments whose entries a node has; none for an op that computes new entries."""
    if node.op.name == "where":
        return () if _is_indicator(node) else node.args[1:]
    if node.op.structure is None or node.op.structure.entries != "moved":
        return ()
    return [a for i, a in enumerate(node.args) if node.op.kind_of(i) == "number"]


def pointwise_shape(shapes: tuple[Shape, ...], *_params: Any) -> Shape:
    """Return the shape of a pointwise op by NumPy broadcasting."""
    return broadcast_shapes(shapes)
