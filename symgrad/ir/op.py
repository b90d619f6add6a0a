"""The schema of op records, and the protocol of the builder of native code.

The records are in ``symgrad/ops``. Both modes of differentiation follow from ``partials``; printing, SymPy, NumPy,
mpmath and native code each have their own field. Nodes and ops refer to each other, so the type of a node is a
parameter here, which ``ir/graph.py`` binds.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from symgrad.ir.sizes import Shape
from symgrad.ir.types import Kind
from symgrad.support.errors import InternalError, UsageError

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
    "chooses",  # the value is one of the arguments, or 0, and which one depends on the arguments
    "stops",  # derivative edges end here (stop_gradient)
    "idempotent",  # f(f(x)) = f(x)
    "given-slope",  # a partial is not a derivative of the value, but was defined by the user
]

Entries: TypeAlias = Literal[
    "moved",  # each entry of the result is an entry of an argument that is not an index
    "placed",  # the same, or zero
    "picked",  # each is one of the entries that it depends on; their values determine which one
    "between",  # each lies between the entries that it depends on
    "products",  # each is a sum of products of entries
    "counted",  # whole numbers that count positions
    "computed",
]

Total: TypeAlias = Literal[
    "always",  # the result has a value for all values of the arguments
    "of some",  # it has a value over at least one entry
    "of some only",  # it has a value over at least one entry; over no entries it is an error
    "of regular",  # it has a value for matrices that are not singular
    "of definite",  # it has a value for positive definite matrices
    "inside",  # it has a value where positions are inside their axes
]


class Builder(Protocol):
    """Arithmetic on lanes for lowerings, which never use llvmlite.

    Comparisons return masks, which are also the lanes of ``bool`` nodes. ``call`` names a C99 function of doubles; the
    builder chooses the variant for the kernel's dtype and applies it lane by lane. The builder never reorders
    arithmetic, and never fuses operations of the user.
    """

    @property
    def fused(self) -> bool:
        """Whether ``fma`` is one instruction."""
        ...

    def knows(self, name: str) -> bool:
        """Tell whether ``call`` knows a function that is not in C."""
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
        """Return a*b rounded, and its rounding error."""
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
    """A place where an op is not smooth, or a partial is not defined, and symgrad's derivative there.

    Args:
        where: the place in words, over the argument names ``x``, ``y``, ``c``.
        point: the arguments at one such point, as exact numbers, for tests.
        partials: the value of every partial at this point; None if it is undefined, and the kernel gives NaN or an
            infinity.
        why: the reason for the choice.
        smooth: whether the op is smooth there, and a partial is only a quotient with a removable singularity.
    """

    where: str
    point: tuple[Any, ...]
    partials: tuple[float | None, ...]
    why: str
    smooth: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """Loops along an axis, which is the first static parameter; a second parameter is true for backward loops.

    Args:
        start: the value before the first entry.
        combine: the operation that combines the value before an entry with the entry: the name of an operation on
            numbers, or a formula, ``combine(builder, before, entry)``.
        others: whether each entry of the result combines all entries except the entry at its own place.
    """

    start: float
    combine: Literal["add", "mul"] | Callable[[Builder, Lane, Lane], Lane]
    others: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of steps: the last static parameter of the node is the `symgrad.ir.body.Body` of one step."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Structure(Generic[N]):
    """The fields of an op that is not pointwise: entries of its result depend on entries at other places.

    Every field is required. Rewriting, loop plans and sources refer to the basic array ops (contraction, layout,
    positions) by name; for any other op they use only these fields.

    Args:
        batch: ``batch(node, stacks, lead)``: the node for a stack of values of arguments. For an argument that varies,
            ``stacks`` has an array of shape ``lead + its own shape``; for any other argument it has None. The result
            has the shape ``lead + node.shape``.
        rows: ``rows(node, places)``: the axis of the result that indexes the rows, if ``places`` are the axes of the
            arguments that do so (None for an argument without rows). It is None if an entry may depend on several rows.
        entries: the class of the entries of the result.
        total: whether the result has a value wherever its arguments have values.
        native: how kernels compute it: ``native(node, args)`` in terms of simpler, unsimplified ops, loops along an
            axis, or a loop of steps; None for an op that loops compute directly.
        written: ``written(node, names)``: the parts of its spelling in programs, and the precedence of the spelling.
            The reader parses the parts to the same node; ``names`` are the nodes with a name.
        source: ``source(node)``: the template of its Python source, or templates by library (numpy, jax, torch,
            tensorflow, keras), without those libraries that lack the function. In a template ``{0}`` is an argument,
            and ``{0:t}`` an argument as a tensor, followed by ``a`` or ``m`` next to a dot or an operator; ``{np}`` and
            ``{m}`` are the modules of functions of arrays and of numbers, and ``{axis}`` is the name of the argument
            for axes. None for basic array ops.
    """

    batch: Callable[[N, Sequence[N | None], Shape], N]
    rows: Callable[[N, Sequence[int | None]], int | None]
    entries: Entries
    total: Total
    native: Callable[[N, tuple[N, ...]], N] | Scan | Loop | None
    written: Callable[[N, Container[N]], tuple[list[str | tuple[N, int, bool]], int]]
    source: Callable[[N], str | Mapping[str, str]] | None

    @property
    def copies(self) -> bool:
        """Whether each entry of the result is an entry of an argument, 0, or an integer that counts positions."""
        return self.entries in ("moved", "placed", "picked", "counted")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schema(Generic[N]):
    """The record of one operation, over nodes of type N.

    Every field is required, because a silent default would be a silent bug.

    Args:
        name: its unique name in programs, which is the name in NumPy or SciPy if there is one.
        aliases: other accepted spellings (SymPy's, Python's).
        doc: a description of the result in one line, with the formula unless the name implies it.
        parameters: names of the static parameters (``Node.params``), () for nearly all ops. Sizes in parameters may be
            names.
        takes: the kind of each argument: ``"number"``, ``"bool"``, or ``"index"`` (integers that count positions); the
            number of kinds is the arity.
        variadic: whether the last argument may be repeated.
        gives: the kind of the result; ``"same"`` means int if all arguments are int, else real.
        shape: result shape from the argument shapes and params; ``broadcast_shapes`` for pointwise ops.
        cas: its name in ``sympy`` or ``sympy.codegen.cfunctions``, applied unevaluated, or None if
            ``ops/sympy_bridge/`` has its own spelling of the op (add, mul, pow, where, ...).
        domain: a function from the argument Nodes to the condition (a bool Node) under which the value is a real
            number; None if it always is.
        evaluate: NumPy evaluation of whole arrays: ``evaluate(*params, *arrays)``.
        reference: mpmath evaluation at any precision: ``reference(mp, *params, *args)``; NaN outside the
            domain.
        partials: for each argument, the partial derivative as a function of ``(out, *args)``, all Nodes, where ``out``
            is the node itself; None for an argument that carries no tangent. In these functions the operators of Nodes
            fold constants. () for an op that is not pointwise, which has `push` and `pull` instead.
        push: for an op that is not pointwise, ``push(node, tangents)``: the tangent of the node for the tangents of its
            arguments. Each tangent has the shape of its argument, or is None for zero. None for a pointwise op.
        pull: the transpose of push, ``pull(node, cotangent, wanted)``: the cotangents of the wanted arguments for a
            cotangent of the node, and None for all other arguments.
        structure: the further fields of an op that is not pointwise; None for a pointwise op.
        kinks: every place where a partial jumps, is infinite or has no value inside the closure of the domain.
        lower: native code: ``lower(builder, node, *lanes)``, where ``node`` has the params and numeric arguments.
        cost: the approximate number of operations for one entry, each as simple as a sum; 0 for ops that only move
            entries, or whose loops have a cost of their own.
        latex: a LaTeX template with ``{0}``, ``{1}`` for the arguments, or a function from a node to a template.
            Templates in the style of function calls get arguments without parentheses.
        precedence: the precedence of the printed form, which determines parentheses: see ``ir/notation/printer.py``.
        facts: algebraic facts for generic rules.
        samples: argument tuples inside the domain, exact numbers or decimals as text, for tests.
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
        """Whether the op acts elementwise with broadcasting, so that partials define its derivative."""
        return self.push is None

    @property
    def array(self) -> Structure[N]:
        """The fields of an op that is not pointwise."""
        if self.structure is None:
            raise InternalError(f"'{self.name}' is elementwise")
        return self.structure

    @property
    def switches(self) -> tuple[tuple[int, int | None], ...]:
        """The pairs of arguments at whose equality a comparison or a piecewise linear function changes.

        None stands for 0; if the op rounds, it stands for any whole number.

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
        """Return the required kind of argument i."""
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
            UsageError: if a required field is None, a spelling is taken, or lengths disagree.
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
                raise UsageError(f"op {op.name}: the sample {sample} does not have {op.arity} arguments")
        for spelling in (op.name, *op.aliases):
            if spelling in self:
                raise UsageError(f"op {op.name}: the spelling '{spelling}' is taken by {self[spelling]}")
        self.update(dict.fromkeys((op.name, *op.aliases), op))
        return op

    def forget(self, op: S) -> None:
        """Undo `register`, if no node of the op outlives the caller."""
        for spelling in (op.name, *op.aliases):
            self.pop(spelling, None)
        self._identities.pop(op.name, None)

    def identify(self, op: S, identity: str) -> None:
        """Record the identity of a user's op, by which unpickling distinguishes it from other ops with its name."""
        self._identities[op.name] = identity

    def identity_of(self, op: S) -> str | None:
        """Return the identity of a user's op; None for an op of symgrad."""
        return self._identities.get(op.name)

    def named(self, name: str, identity: str | None = None) -> S:
        """Return the op with this name, and with this identity if it is a user's op.

        Raises:
            UsageError: if the op is not registered in this process, or has another identity.
        """
        op = self.get(name)
        if identity is not None and (op is None or op.name != name or self._identities.get(name) != identity):
            raise UsageError(
                f"the loaded formula calls '{name}', which "
                + ("is registered as something else here" if op is not None else "is not registered here"),
                expected=f"the registration of '{name}' with which it was saved",
                cure="call sg.register_op with the same arguments first",
            )
        if op is None or op.name != name:
            raise InternalError(f"no op named {name} is registered")
        return op
