"""The op record: everything symgrad knows about one operation, and the registry that holds the records.

This file has no instances: they are in ``symgrad/ops``, one record each, every field given. Both modes of
differentiation follow from ``partials``; printing, SymPy, NumPy, mpmath and native code each read their own
field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from symgrad.errors import InternalError, UsageError

if TYPE_CHECKING:
    from symgrad.ir.graph import Node
    from symgrad.ir.types import Kind, Shape

__all__ = [
    "OPS",
    "Builder",
    "Fact",
    "Kink",
    "Lane",
    "Op",
    "Partial",
    "Pull",
    "Push",
    "forget",
    "identify",
    "register",
    "set_apply",
]

Lane: TypeAlias = Any  # an opaque value of a Builder: a vector of numbers or a mask

Partial: TypeAlias = "Callable[..., Node] | None"
Push: TypeAlias = "Callable[[Node, Sequence[Node | None]], Node]"
Pull: TypeAlias = "Callable[[Node, Node, Sequence[bool]], Sequence[Node | None]]"

Fact: TypeAlias = Literal[
    "commutative",  # f(a, b) = f(b, a)
    "associative",  # f(f(a, b), c) = f(a, f(b, c)), over the reals
    "linear",  # in all arguments together
    "odd",  # f(-x) = -f(x)
    "even",  # f(-x) = f(x)
    "increasing",  # strictly, where defined
    "decreasing",  # strictly, where defined
    "nonnegative",  # f >= 0 where defined
    "positive",  # f > 0 where defined
    "integral",  # the value is an integer
    "piecewise-constant",  # the derivative is zero wherever it exists
    "bounded-by-one",  # |f| <= 1
    "stops",  # derivative edges end here (stop_gradient)
    "idempotent",  # f(f(x)) = f(x)
    "given-slope",  # a partial is no derivative of the value, but what the user gave
]


class Builder(Protocol):
    """What a lowering may say: arithmetic on lanes, never llvmlite.

    Comparisons give masks, which are also the lanes of ``bool`` nodes. ``call`` names a C99 function of
    doubles; the builder picks the variant for the kernel's dtype and applies it lane by lane. Nothing is
    reordered, and in what the user wrote nothing is fused.
    """

    @property
    def fused(self) -> bool:
        """Whether ``fma`` is one instruction."""
        ...

    def knows(self, name: str) -> bool:
        """Tell whether ``call`` knows a function that C has not."""
        ...

    def const(self, value: float | Fraction) -> Lane: ...
    def const_named(self, name: str) -> Lane: ...
    def bool_const(self, value: bool) -> Lane: ...
    def add(self, a: Lane, b: Lane) -> Lane: ...
    def sub(self, a: Lane, b: Lane) -> Lane: ...
    def mul(self, a: Lane, b: Lane) -> Lane: ...
    def div(self, a: Lane, b: Lane) -> Lane: ...
    def neg(self, a: Lane) -> Lane: ...
    def fma(self, a: Lane, b: Lane, c: Lane) -> Lane: ...
    def two_product(self, a: Lane, b: Lane) -> tuple[Lane, Lane]:
        """a*b rounded, and what it lacks."""
        ...

    def sqrt(self, a: Lane) -> Lane: ...
    def abs(self, a: Lane) -> Lane: ...
    def floor(self, a: Lane) -> Lane: ...
    def ceil(self, a: Lane) -> Lane: ...
    def rint(self, a: Lane) -> Lane: ...
    def copysign(self, a: Lane, b: Lane) -> Lane: ...
    def minimum(self, a: Lane, b: Lane) -> Lane: ...
    def maximum(self, a: Lane, b: Lane) -> Lane: ...
    def lt(self, a: Lane, b: Lane) -> Lane: ...
    def le(self, a: Lane, b: Lane) -> Lane: ...
    def gt(self, a: Lane, b: Lane) -> Lane: ...
    def ge(self, a: Lane, b: Lane) -> Lane: ...
    def eq(self, a: Lane, b: Lane) -> Lane: ...
    def ne(self, a: Lane, b: Lane) -> Lane: ...
    def and_(self, a: Lane, b: Lane) -> Lane: ...
    def or_(self, a: Lane, b: Lane) -> Lane: ...
    def xor(self, a: Lane, b: Lane) -> Lane: ...
    def not_(self, a: Lane) -> Lane: ...
    def select(self, mask: Lane, a: Lane, b: Lane) -> Lane: ...
    def isnan(self, a: Lane) -> Lane: ...
    def call(self, name: str, *args: Lane) -> Lane: ...


@dataclass(frozen=True, slots=True)
class Kink:
    """A place where an op is not smooth, and the derivative symgrad takes there.

    Args:
        where: the place in words, over the argument names ``x``, ``y``, ``c``.
        point: one such argument tuple, as exact numbers, to test at.
        partials: the value of every partial there; None for "undefined: the kernel gives NaN or an infinity".
        why: the reason for the choice.
    """

    where: str
    point: tuple[Any, ...]
    partials: tuple[float | None, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Op:
    """One operation. Every field must be given: a silent default would be a silent bug.

    Args:
        name: its name in programs, unique, a NumPy or SciPy name where there is one.
        aliases: other accepted spellings (SymPy's, Python's).
        doc: what it computes, in one line, with the formula where the name does not say it.
        parameters: names of the static parameters (``Node.params``), () for nearly all. Sizes in them may be names.
        takes: kind of each argument: ``"number"``, ``"bool"``, or ``"index"`` (whole numbers that count positions);
            its length is the arity.
        variadic: whether the last argument may be repeated.
        gives: kind of the result; ``"same"`` is int when all arguments are int, else real.
        shape: result shape from the argument shapes and params; ``broadcast_shapes`` for pointwise ops.
        cas: how SymPy writes it: a name in ``sympy`` or ``sympy.codegen.cfunctions`` applied unevaluated, or
            None where ``ir/cas.py`` has a spelling of its own for the head (add, mul, pow, where, ...).
        domain: from the argument Nodes, the condition (a bool Node) under which the value is a real number;
            None for everywhere.
        evaluate: NumPy evaluation of whole arrays: ``evaluate(*params, *arrays)``.
        reference: mpmath evaluation at any precision: ``reference(mp, *params, *args)``; NaN outside the
            domain.
        partials: for each argument, the partial derivative as a function of ``(out, *args)``, all Nodes,
            where ``out`` is the node itself; None for an argument that carries no tangent. Inside, Node
            operators fold constants. () for an op that is not pointwise, which has the next two instead.
        push: for an op that is not pointwise, ``push(node, tangents)``: the tangent of the node when its arguments
            move with the given tangents, each of its argument's shape or None for one that does not move. None for a
            pointwise op.
        pull: its transpose, ``pull(node, cotangent, wanted)``: what a cotangent of the node sends to each argument
            that is wanted, and None for the others.
        kinks: every place where a partial jumps or is infinite inside the closure of the domain.
        lower: native code: ``lower(builder, node, *lanes)``, where ``node`` tells params and numeric
            arguments.
        latex: LaTeX template with ``{0}``, ``{1}`` for the arguments; function style ones get bare arguments.
        precedence: of the printed form, for parentheses: see ``ir/printer.py``.
        facts: algebraic facts that generic rules read.
        samples: argument tuples inside the domain, exact numbers or decimals as text, where tests try it.
    """

    name: str
    aliases: tuple[str, ...]
    doc: str
    parameters: tuple[str, ...]
    takes: tuple[Literal["number", "bool", "index"], ...]
    variadic: bool
    gives: Kind | Literal["same"]
    shape: Callable[..., Shape]
    cas: str | None
    domain: Callable[..., Node] | None
    evaluate: Callable[..., Any]
    reference: Callable[..., Any]
    partials: tuple[Partial, ...]
    push: Push | None
    pull: Pull | None
    kinks: tuple[Kink, ...]
    lower: Callable[..., Lane]
    latex: str
    precedence: int
    facts: frozenset[Fact]
    samples: tuple[tuple[Any, ...], ...]

    def __call__(self, *args: Node, params: tuple[Any, ...] = ()) -> Node:
        """Apply the op as written: nothing is evaluated or simplified."""
        return _apply(self, args, params)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        return (_lookup, (self.name, _identities.get(self.name)))

    @property
    def arity(self) -> int:
        """The number of arguments (the least number, if it is variadic)."""
        return len(self.takes)

    @property
    def pointwise(self) -> bool:
        """Whether it acts elementwise with broadcasting, so that its partials say everything."""
        return self.push is None

    def kind_of(self, i: int) -> Literal["number", "bool", "index"]:
        """Return what argument i must be."""
        return self.takes[min(i, len(self.takes) - 1)]


def _no_graph(op: Op, _args: tuple[Node, ...], _params: tuple[Any, ...]) -> Node:
    raise InternalError(f"symgrad.ir.graph was not imported before {op.name} was applied")


_apply: Callable[[Op, tuple[Node, ...], tuple[Any, ...]], Node] = _no_graph


def set_apply(apply: Callable[[Op, tuple[Node, ...], tuple[Any, ...]], Node]) -> None:
    """Install how an op makes a node (`ir/graph.py` does, once: it needs the records, not they it)."""
    global _apply
    _apply = apply


_registry: dict[str, Op] = {}
_spellings: dict[str, Op] = {}

OPS: Mapping[str, Op] = MappingProxyType(_spellings)
"""All registered ops by name and alias."""


def register(op: Op) -> Op:
    """Add a record to the registry and return it.

    Raises:
        UsageError: if a field is None that may not be, a spelling is taken, or lengths disagree.
    """
    for field in fields(op):
        if getattr(op, field.name) is None and field.name not in {"domain", "cas", "push", "pull"}:
            raise UsageError(f"op {op.name}: the field '{field.name}' is missing")
    if (op.push is None) != (op.pull is None):
        raise UsageError(f"op {op.name}: push and pull come together")
    if op.pointwise and len(op.partials) != op.arity:
        raise UsageError(f"op {op.name}: {len(op.partials)} partials for {op.arity} arguments")
    for sample in op.samples:
        if len(sample) != op.arity and not op.variadic:
            raise UsageError(f"op {op.name}: the sample {sample} has not {op.arity} arguments")
    for spelling in (op.name, *op.aliases):
        if spelling in _spellings:
            raise UsageError(f"op {op.name}: the spelling '{spelling}' is taken by {_spellings[spelling]}")
    for spelling in (op.name, *op.aliases):
        _spellings[spelling] = op
    _registry[op.name] = op
    return op


_identities: dict[str, str] = {}


def identify(op: Op, identity: str) -> None:
    """Note what tells the op of a user's own from another one of its name: what is unpickled must mean the same."""
    _identities[op.name] = identity


def forget(op: Op) -> None:
    """Take back what `register` did, if no node has been made that outlives the caller."""
    for spelling in (op.name, *op.aliases):
        _spellings.pop(spelling, None)
    _registry.pop(op.name, None)
    _identities.pop(op.name, None)


def _lookup(name: str, identity: str | None = None) -> Op:
    import symgrad.ops  # noqa: F401  (unpickling in a fresh process: the records register on import)

    if identity is not None and (name not in _registry or _identities.get(name) != identity):
        raise UsageError(
            f"what is loaded calls '{name}', which "
            + ("is registered as something else here" if name in _registry else "nobody registered here"),
            expected=f"the registration of '{name}' with which it was saved",
            cure="call sg.register_op with the same arguments first",
        )
    if name not in _registry:
        raise InternalError(f"no op named {name} is registered")
    return _registry[name]
