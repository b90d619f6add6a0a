"""What a record of an operation holds, and what its native code may say.

There are no instances here: the records are in ``symgrad/ops``, one each, every field given. Both modes of
differentiation follow from ``partials``; printing, SymPy, NumPy, mpmath and native code each read their own
field. Nodes and ops are one recursive definition, so the type of a node is a parameter here; ``ir/graph.py`` gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from symgrad.ir.sizes import Shape
from symgrad.ir.types import Kind
from symgrad.support.errors import InternalError, UsageError

__all__ = [
    "Builder",
    "Entries",
    "Fact",
    "Kink",
    "Lane",
    "Partial",
    "Pull",
    "Push",
    "Registry",
    "Scan",
    "Schema",
    "Structure",
    "Total",
]

N = TypeVar("N")

Partial: TypeAlias = "Callable[..., N] | None"
Push: TypeAlias = "Callable[[N, Sequence[N | None]], N]"
Pull: TypeAlias = "Callable[[N, N, Sequence[bool]], Sequence[N | None]]"

Lane: TypeAlias = Any  # an opaque value of a Builder: a vector of numbers or a mask

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
    "piecewise-linear",  # the second derivatives are zero wherever they exist
    "continuous",  # where defined; only stated for ops with kinks
    "poles",  # unbounded near points where it is not defined
    "exponential",  # overflows for arguments of a few hundred
    "bounded-by-one",  # |f| <= 1
    "stops",  # derivative edges end here (stop_gradient)
    "idempotent",  # f(f(x)) = f(x)
    "given-slope",  # a partial is no derivative of the value, but what the user gave
]

Entries: TypeAlias = Literal[
    "moved",  # each is an entry of an argument that is not an index
    "placed",  # that, or zero
    "picked",  # each is one of the entries that it depends on, which one their values tell
    "between",  # each lies between the entries that it depends on
    "products",  # each is a sum of products of entries
    "counted",  # whole numbers that positions are made of
    "computed",
]

Total: TypeAlias = Literal[
    "always",  # there is a value for all values of the arguments
    "of some",  # there is one over at least one entry
    "of some only",  # there is one over at least one entry, and over none it is an error
    "of regular",  # there is one for matrices that are not singular
    "inside",  # there is one where positions are inside their axes
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
    """A place where an op is not smooth, or a partial of it is not defined, and the derivative symgrad takes there.

    Args:
        where: the place in words, over the argument names ``x``, ``y``, ``c``.
        point: one such argument tuple, as exact numbers, to test at.
        partials: the value of every partial there; None for "undefined: the kernel gives NaN or an infinity".
        why: the reason for the choice.
        smooth: whether the op is smooth there all the same: a partial is written as a quotient that has a limit.
    """

    where: str
    point: tuple[Any, ...]
    partials: tuple[float | None, ...]
    why: str
    smooth: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """Loops along an axis, the first static parameter; a second one tells whether they go backwards.

    Args:
        start: the value before the first entry.
        combine: the value up to an entry and the entry together: an operation of numbers, or a formula,
            ``combine(builder, before, entry)``.
        others: whether each entry of the result combines all entries but its own.
    """

    start: float
    combine: Literal["add", "mul"] | Callable[[Builder, Lane, Lane], Lane]
    others: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Structure(Generic[N]):
    """What is known about an op that is not pointwise, whose entries depend on more than the entries at their place.

    Every field must be given. The ops that arrays are made of (contraction, layout, positions) are also named where
    graphs are rewritten, loops planned and sources written; all that is known of another one is here.

    Args:
        batch: ``batch(node, stacks, lead)``: the node for a stack of values of arguments. One that varies has an array
            of shape ``lead + its own``, another one None; the result has the shape ``lead + node.shape``.
        rows: ``rows(node, places)``: which axis of the result counts the rows that these axes of the arguments count,
            None for an argument without rows; None if an entry may depend on several rows.
        entries: what the entries of the result are.
        total: whether it has a value wherever its arguments have one.
        native: how kernels compute it: ``native(node, args)`` in simpler ops, raw, or loops along an axis; None for an
            op that loops are made of.
        written: ``written(node, names)``: what it is written with in programs, and its precedence. The reader makes the
            same node of that; ``names`` are the nodes that are written as a name.
        source: ``source(node)``: the template of its Python source, or templates by library (numpy, jax, torch,
            tensorflow, keras), none for one without it. There ``{0}`` is an argument, ``{0:t}`` one as a tensor, with
            ``a`` or ``m`` after that beside a dot or an operator; ``{np}`` and ``{m}`` are the modules of functions of
            arrays and of numbers, ``{axis}`` is the name of the argument for axes. None for what arrays are made of.
    """

    batch: Callable[[N, Sequence[N | None], Shape], N]
    rows: Callable[[N, Sequence[int | None]], int | None]
    entries: Entries
    total: Total
    native: Callable[[N, tuple[N, ...]], N] | Scan | None
    written: Callable[[N, Container[N]], tuple[list[str | tuple[N, int, bool]], int]]
    source: Callable[[N], str | Mapping[str, str]] | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schema(Generic[N]):
    """Everything known about one operation, over nodes of type N.

    Every field must be given: a silent default would be a silent bug.

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
            None where ``ops/sympy_bridge/`` has a spelling of its own for the head (add, mul, pow, where, ...).
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
        structure: what else is known of an op that is not pointwise; None for a pointwise one.
        kinks: every place where a partial jumps, is infinite or has no value inside the closure of the domain.
        lower: native code: ``lower(builder, node, *lanes)``, where ``node`` tells params and numeric
            arguments.
        cost: about how many operations as simple as a sum it takes for one entry; 0 for what only says where entries
            lie, or is counted where loops are.
        latex: LaTeX template with ``{0}``, ``{1}`` for the arguments, or what gives it for a node; function style ones
            get bare arguments.
        precedence: of the printed form, for parentheses: see ``ir/notation/printer.py``.
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
    domain: Callable[..., N] | None
    evaluate: Callable[..., Any]
    reference: Callable[..., Any]
    partials: tuple[Partial[N], ...]
    push: Push[N] | None
    pull: Pull[N] | None
    structure: Structure[N] | None
    kinks: tuple[Kink, ...]
    lower: Callable[..., Lane]
    cost: int
    latex: str | Callable[[N], str]
    precedence: int
    facts: frozenset[Fact]
    samples: tuple[tuple[Any, ...], ...]

    @property
    def arity(self) -> int:
        """The number of arguments (the least number, if it is variadic)."""
        return len(self.takes)

    @property
    def pointwise(self) -> bool:
        """Whether it acts elementwise with broadcasting, so that its partials say everything."""
        return self.push is None

    @property
    def array(self) -> Structure[N]:
        """What only an op that is not pointwise has."""
        if self.structure is None:
            raise InternalError(f"'{self.name}' is elementwise")
        return self.structure

    @property
    def switches(self) -> tuple[tuple[int, int | None], ...]:
        """The pairs of arguments at whose equality a comparison or a piecewise linear function changes.

        None stands for 0, and for any whole number where the op rounds.

        Example:
            >>> from symgrad.ir.graph import OPS
            >>> [OPS[name].switches for name in ("lt", "abs", "clip", "exp")]
            [((0, 1),), ((0, None),), ((0, 1), (0, 2)), ()]
        """
        if not self.pointwise or "bool" in self.takes or not self.takes:
            return ()
        if self.gives != "bool" and not self.facts & {"piecewise-linear", "piecewise-constant"}:
            return ()
        return tuple((0, i) for i in range(1, self.arity)) or ((0, None),)

    def kind_of(self, i: int) -> Literal["number", "bool", "index"]:
        """Return what argument i must be."""
        return self.takes[min(i, len(self.takes) - 1)]


_OPTIONAL = frozenset({"domain", "cas", "push", "pull", "structure"})

S = TypeVar("S", bound=Schema[Any])


class Registry(dict[str, S]):
    """Records by their spellings: names and aliases. Only `register` and `forget` change it."""

    def __init__(self) -> None:
        super().__init__()
        self._identities: dict[str, str] = {}

    def register(self, op: S) -> S:
        """Add a record and return it.

        Raises:
            UsageError: if a field is None that may not be, a spelling is taken, or lengths disagree.
        """
        for field in fields(op):
            if getattr(op, field.name) is None and field.name not in _OPTIONAL:
                raise UsageError(f"op {op.name}: the field '{field.name}' is missing")
        if len({op.push is None, op.pull is None, op.structure is None}) > 1:
            raise UsageError(f"op {op.name}: push and pull come together, and with a structure")
        for field in fields(op.structure) if op.structure is not None else ():
            if getattr(op.structure, field.name) is None and field.name not in {"native", "source"}:
                raise UsageError(f"op {op.name}: the field '{field.name}' is missing")
        if op.pointwise and len(op.partials) != op.arity:
            raise UsageError(f"op {op.name}: {len(op.partials)} partials for {op.arity} arguments")
        for sample in op.samples:
            if len(sample) != op.arity and not op.variadic:
                raise UsageError(f"op {op.name}: the sample {sample} has not {op.arity} arguments")
        for spelling in (op.name, *op.aliases):
            if spelling in self:
                raise UsageError(f"op {op.name}: the spelling '{spelling}' is taken by {self[spelling]}")
        self.update(dict.fromkeys((op.name, *op.aliases), op))
        return op

    def forget(self, op: S) -> None:
        """Take back what `register` did, if no node has been made that outlives the caller."""
        for spelling in (op.name, *op.aliases):
            self.pop(spelling, None)
        self._identities.pop(op.name, None)

    def identify(self, op: S, identity: str) -> None:
        """Note what tells the op of a user's own from another one of its name: what is unpickled must mean the same."""
        self._identities[op.name] = identity

    def identity_of(self, op: S) -> str | None:
        """Return what tells an op of a user's own from another one of its name, None for symgrad's."""
        return self._identities.get(op.name)

    def named(self, name: str, identity: str | None = None) -> S:
        """Return the op of that name, and of that identity if it has one.

        Raises:
            UsageError: if nobody registered it here, or somebody as something else.
        """
        op = self.get(name)
        if identity is not None and (op is None or op.name != name or self._identities.get(name) != identity):
            raise UsageError(
                f"what is loaded calls '{name}', which "
                + ("is registered as something else here" if op is not None else "nobody registered here"),
                expected=f"the registration of '{name}' with which it was saved",
                cure="call sg.register_op with the same arguments first",
            )
        if op is None or op.name != name:
            raise InternalError(f"no op named {name} is registered")
        return op
