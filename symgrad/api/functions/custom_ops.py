"""`register_op`: custom ops, in Python or C."""

from __future__ import annotations

import ctypes
import hashlib
import keyword
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.api.functions.custom_op_checks import (
    check_kinks,
    check_partials,
    generic_points,
    in_floats,
    refuse,
)
from symgrad.api.handles.expr import Expr, apply_op, handle, node_of
from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.llvm.engine.scipy_functions import add_user_function
from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.text import parse_expression
from symgrad.ir.composite import CompositeFunction
from symgrad.ir.graph import CONSTANT, NUMBER, OPS, SYMBOL, Node, as_node, symbol
from symgrad.ir.op import Kink
from symgrad.ir.traverse import digest, topological
from symgrad.ir.types import Declaration
from symgrad.ops.user_ops import OWN, drop_own, make_own
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import RedefinitionError, UsageError

_FUNCTION: Any = ctypes.CFUNCTYPE(None).__base__
"""The class of C functions and callbacks in ctypes."""


def address_of(native: Any) -> int:
    """Return the address of a C function.

    Raises:
        UsageError: if it is not a C function.
    """
    is_address = isinstance(native, int) and not isinstance(native, bool)
    found = native if is_address else getattr(native, "address", None)
    if found is None and isinstance(native, _FUNCTION):  # ctypes.cast also accepts texts and arrays
        found = ctypes.cast(native, ctypes.c_void_p).value
    if not isinstance(found, int) or found <= 0:
        raise UsageError(
            f"{type(native).__name__} is no C function",
            expected="an address, a function of ctypes, or an object with an .address (numba's cfunc)",
        )
    return found


def array_function(address: int, count: int) -> Callable[..., Any]:
    """Vectorize a C function of doubles over arrays."""
    function = ctypes.CFUNCTYPE(*[ctypes.c_double] * (count + 1))(address)
    return np.vectorize(lambda *args: function(*map(float, args)), otypes=[float])


Formula: TypeAlias = "str | Callable[..., Any]"
_OUT = "out"
_FROM_DEFINITION = "from the definition"
"""A placeholder for a missing partial, which follows from the definition."""


def register_op(
    name: str,
    arguments: str | Sequence[str] = "x",
    *,
    value: Callable[..., Any] | None = None,
    reference: Callable[..., Any] | None = None,
    definition: Formula | None = None,
    native: Any = None,
    partials: Sequence[Formula | None] | Mapping[str, Formula] | None = None,
    domain: Formula | None = None,
    samples: Sequence[Any] = (),
    kinks: Sequence[tuple[str, Any, Sequence[float | None]]] = (),
    sympy: str | None = None,
    latex: str | None = None,
    doc: str | None = None,
) -> Callable[..., Expr]:
    r"""Register a custom op: a function of real numbers that acts entry by entry.

    Afterwards the op is an ordinary function in programs and in Python. It is differentiated to every order by means of
    its partials, printed with its name, explained and evaluated. Formulas are text in the names of the arguments
    (partials may also use ``out``, the value), or Python functions of expressions (partials get ``out`` as first
    argument).

    Define the value by at least one of value, reference, definition and native. If you pass several, they are compared
    with each other.

    Args:
        name: its name, which must be new.
        arguments: the names of its arguments.
        value: a function of float64 NumPy arrays, ``value(x, y)``.
        reference: a function in mpmath at any precision, ``reference(mp, x, y)``, where ``mp`` is the context to
            compute in.
        definition: a formula. Kernels and NumPy sources contain it, verdicts use it, and missing partials follow from
            it.
        native: a C function of doubles, for kernels: its address, a function of ctypes, or an object with an
            ``.address``, such as numba's ``cfunc``. It must not need Python, because several threads call it.
        partials: for each argument, the derivative with respect to it, or None if there is no derivative.
            Differentiating with respect to an argument without a derivative is an error. A partial that a mapping
            leaves out follows from the definition; without a definition it counts as None.
        domain: the condition under which the op has a value; elsewhere the op is NaN.
        samples: points in the domain at which the partials are checked; by default some are drawn.
        kinks: a tuple ``(where, point, partials)`` for each place where the op is not smooth: a description of the
            place, one point of it, and the values of the partials at this point (None for a value that is not finite).
        sympy: the name of the same function in SymPy, such as ``"hankel1"``.
        latex: the name of the op in LaTeX, such as ``r"\mathrm{Ai}"``.
        doc: a description of one line.

    Returns:
        The function, which takes expressions and numbers.

    Raises:
        RedefinitionError: if the name is taken; a registered op cannot be replaced.
        UsageError: if arguments contradict each other; if a partial differs from finite differences of the value (the
            message has the point and both numbers).

    Example:
        >>> import symgrad as sg
        >>> haversine = sg.register_op("haversine", "t", definition="(1 - cos(t))/2", partials=["sin(t)/2"])
        >>> x = sg.symbols("x")
        >>> print(haversine(x**2), "has the derivative", sg.grad(haversine(x**2), x))
        haversine(x**2) has the derivative x*sin(x**2)
        >>> sg.compile([haversine(x)])([0.0, 1.0]).round(3)
        array([0.  , 0.23])
    """
    names = _names(name, arguments)
    inputs = tuple(symbol(Declaration(n)) for n in names)
    if value is None and reference is None and definition is None and native is None:
        raise UsageError(
            f"nothing says what '{name}' computes", expected="value=, reference=, definition= or native="
        )
    body = None if definition is None else _elementwise(definition, inputs, "the definition")
    if body is not None and body.formula.dtype == "bool":
        raise UsageError(f"the definition of '{name}' is a condition", expected="a number")
    inside = None if domain is None else _elementwise(domain, inputs, "the domain")
    if inside is not None and inside.formula.dtype != "bool":
        raise UsageError(f"the domain of '{name}' is a number", expected="a condition such as x > 0")
    address = None if native is None else address_of(native)
    plain = value
    if value is None and address is not None and not body and not reference:
        plain = array_function(address, len(names))
    code = None if address is None else add_user_function(name, len(names), address)
    by_argument = _by_argument(name, names, partials, body)
    out = symbol(Declaration(_OUT))
    rules: list[Callable[..., Node]] = [refuse(name, n) for n in names]
    own = make_own(
        name,
        doc=doc
        or (f"{name}({', '.join(names)})" + ("" if not isinstance(definition, str) else f" = {definition}")),
        count=len(names),
        definition=body,
        domain=inside,
        value=plain,
        reference=reference,
        # A partial may call the op itself, so it is parsed after the registration.
        partials=[partial(_rule, rules, i) for i in range(len(names))],
        kinks=tuple(_kink(name, len(names), k) for k in kinks),
        samples=tuple(_point(name, len(names), s) for s in samples),
        code=code,
        cas=_sympy_class(name, sympy),
        latex=rf"\operatorname{{{name.replace('_', chr(92) + '_')}}}" if latex is None else latex,
        keeps=native,
    )
    try:
        _check_spelling(name, names)
        read = [_partial(p, i, out, inputs, body, names) for i, p in enumerate(by_argument)]
        for i, found in enumerate(read):
            if found is not None:
                rules[i] = found.build
        others: list[tuple[str, Callable[..., Any]]] = []
        if value is not None or reference is None:
            others.append(("value" if value is not None else "its value in floats", own.op.evaluate))
        if body is not None and (value is not None or reference is not None):
            others.append(("the definition", in_floats(body)))
        if address is not None:
            others.append(("native", array_function(address, len(names))))
        points = [tuple(map(_float, s)) for s in own.op.samples] or generic_points(len(names))
        formulas = [None if w is None else (w.formula, w.variables) for w in read]
        values = check_partials(own, names, points, formulas, others, from_user=bool(samples))
        OPS.identify(own.op, _identity(names, [body, inside, *read], values))
        check_kinks(own.op.kinks, formulas, own.op.reference, name)
    except BaseException:
        drop_own(own)
        raise

    def apply(*args: Any) -> Expr:
        return apply_op(name, *args)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{name}({', '.join(names)}): {own.op.doc}."
    return apply


# ------------------------------------------------------------------------------------------------------ arguments


def _names(name: Any, arguments: str | Sequence[str]) -> list[str]:
    names = arguments.replace(",", " ").split() if isinstance(arguments, str) else list(arguments)
    for n in (name, *names):
        if (
            not isinstance(n, str)
            or not n.isidentifier()
            or not n.isascii()
            or keyword.iskeyword(n)
            or n[:2] == "__"
        ):
            raise UsageError(f"{n!r} cannot be a name", expected="a Python identifier of ASCII letters")
    if name in OWN:
        raise RedefinitionError(
            f"'{name}' is registered already, and expressions may hold it",
            expected="a name for one function, as long as the process lives",
            cure="choose another name, or register it in a new process",
        )
    if is_function(name) or name == "pi":
        raise RedefinitionError(
            f"'{name}' is a function or constant of symgrad",
            expected="a name that nothing has",
            cure=f"choose another name, such as my_{name}",
        )
    if not names or len(set(names)) != len(names) or {_OUT, "pi"} & set(names):
        raise UsageError(
            f"the arguments of '{name}' are {', '.join(names) or 'none'}",
            expected=f"one or more different names, none of them '{_OUT}' or 'pi'",
        )
    return names


def _elementwise(formula: Formula, variables: Sequence[Node], called: str) -> CompositeFunction:
    """Read a formula over variables.

    Raises:
        UsageError: if it reads arrays, sizes, or other names.
    """
    if isinstance(formula, str):
        node = parse_expression(formula, {v.name: v for v in variables}, called)
        text = formula
    else:
        node = node_of(formula(*(handle(v) for v in variables)))
        text = str(handle(node))
    for n in topological([node]):
        if not n.args and n.op not in (SYMBOL, NUMBER, CONSTANT):
            raise UsageError(f"{called} reads a size", expected="a formula of numbers")
        if n.shape or not n.op.pointwise:
            raise UsageError(f"{called} is one of arrays", expected="a formula that acts entry by entry")
        if n.op is SYMBOL and n not in variables:
            raise UsageError(
                f"{called} reads '{n.name}', which is no argument",
                expected=f"a formula of {', '.join(v.name for v in variables)}",
            )
    return CompositeFunction(tuple(variables), node, text)


def _by_argument(
    name: str, names: Sequence[str], partials: Any, body: CompositeFunction | None
) -> list[Formula | None]:
    if partials is None:
        if body is None:
            raise UsageError(
                f"nothing says how '{name}' is differentiated",
                expected="partials=, or a definition from which they follow",
                cure=f"partials=[{', '.join('...' for _ in names)}], None for one that does not exist",
            )
        return [_FROM_DEFINITION] * len(names)
    if isinstance(partials, Mapping):
        table = cast("Mapping[str, Formula]", partials)
        unknown = next((n for n in table if n not in names), None)
        if unknown is not None:
            raise UsageError(f"a partial of '{name}' by '{unknown}'", expected=f"one of {', '.join(names)}")
        return [table.get(n, None if body is None else _FROM_DEFINITION) for n in names]
    found: list[Formula | None] = list(partials)
    if isinstance(partials, str) or len(found) != len(names):
        raise UsageError(
            f"{'a text' if isinstance(partials, str) else len(found)} as the partials of '{name}'",
            expected=f"a list of {len(names)}, for {', '.join(names)}",
        )
    return found


def _partial(
    formula: Formula | None,
    i: int,
    out: Node,
    inputs: tuple[Node, ...],
    body: CompositeFunction | None,
    names: Sequence[str],
) -> CompositeFunction | None:
    if formula is None:
        return None
    if formula is not _FROM_DEFINITION or body is None:
        found = _elementwise(formula, (out, *inputs), f"the partial by '{names[i]}'")
        if found.formula.dtype == "bool":
            raise UsageError(f"the partial with respect to '{names[i]}' is a condition", expected="a number")
        return found
    slope = pull_back([body.formula], [as_node(1)], [inputs[i]]).gradients[0]
    (short,) = canonical([slope]).nodes
    return CompositeFunction((out, *inputs), short, "")


def _rule(rules: Sequence[Callable[..., Node]], i: int, out: Node, *args: Node) -> Node:
    return rules[i](out, *args)


def _kink(name: str, count: int, kink: Any) -> Kink:
    try:
        where, point, partials = kink
    except (TypeError, ValueError):
        raise UsageError(
            f"{kink!r} as a kink of '{name}'",
            expected='(where, point, partials), such as ("x = 0", (0,), (0.5,))',
        ) from None
    found = tuple(partials)
    if len(found) != count:
        raise UsageError(f"{len(found)} partials at a kink of '{name}'", expected=f"{count}")
    return Kink(str(where), _point(name, count, point), found, "registered so")


def _point(name: str, count: int, point: Any) -> tuple[Any, ...]:
    found = tuple(cast("Sequence[Any]", point)) if isinstance(point, list | tuple) else (point,)
    if len(found) != count or any(isinstance(x, bool) for x in found):
        raise UsageError(f"{point!r} as a point of '{name}'", expected=f"{count} number{'s' * (count != 1)}")
    try:
        return tuple(x if isinstance(x, str) else Fraction(x) for x in found)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{point!r} as a point of '{name}'", expected="finite numbers") from None


def _float(x: Any) -> float:
    return float(Fraction(x))


def _sympy_class(name: str, sympy_name: str | None) -> str | None:
    if sympy_name is None:
        return None
    from symgrad.ops.sympy_bridge.objects import sympy  # SymPy starts slowly

    found = getattr(sympy, sympy_name, None)
    if not isinstance(found, type) or not issubclass(found, sympy.Function):
        raise UsageError(
            f"SymPy has no function '{sympy_name}'", expected=f"the name of one that is '{name}'"
        )
    if any(op.cas == sympy_name for op in set(OPS.values())):
        raise UsageError(f"SymPy's '{sympy_name}' is a function of symgrad already", cure="call that one")
    return sympy_name


def _check_spelling(name: str, names: Sequence[str]) -> None:
    """Check that the notation parses a call of the op."""
    inputs = {n: symbol(Declaration(n)) for n in names}
    found = parse_expression(f"{name}({', '.join(names)})", inputs, "the name")
    if found.op.name != name:
        raise UsageError(f"'{name}' means something else in programs", cure="choose another name")


def _identity(names: Sequence[str], formulas: Sequence[CompositeFunction | None], values: str) -> str:
    """Return a digest of the formulas of an op and of its values at some points."""
    sha = hashlib.sha256(f"{names} {values}".encode())
    for function in formulas:
        sha.update(b"-" if function is None else digest(function.formula))
    return sha.hexdigest()
