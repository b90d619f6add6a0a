"""Read the equations of a jaxpr in order, as expressions; the module is imported on demand.

Values that depend only on shapes (positions, sizes, masks) stay NumPy arrays, and JAX computes them. A broadcast is
not carried out: the value keeps the shape that it has before the broadcast until a full shape is needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

import symgrad.api.functions.elementary as fn
from symgrad.api.functions.constants import uniform_value
from symgrad.api.handles.expr import Expr, handle
from symgrad.interop.importers.booleans import is_finite
from symgrad.interop.importers.jax.control import CONTROL
from symgrad.interop.importers.jax.custom import custom, of_library
from symgrad.interop.importers.jax.layout import LAYOUT
from symgrad.interop.importers.jax.linear import LIBRARY_CALLS, ORDERED
from symgrad.interop.importers.jax.ops import ELEMENTWISE, REDUCTIONS, WITH_PARAMETERS
from symgrad.interop.importers.jax.positions import POSITIONED, POSITIONS
from symgrad.interop.importers.jax.scatter import SCATTERED
from symgrad.interop.importers.jax.sizes import has_names, shape_of, translate_sizes
from symgrad.interop.importers.jax.values import (
    NOWHERE,
    Value,
    broadcastable,
    core,
    equation_function,
    full_value,
    jax,
    kind_of,
    of_variables,
    place_of,
    restore_booleans,
    variable_of,
)
from symgrad.interop.importers.jax.windows import WINDOWED
from symgrad.interop.importers.program import mark_places
from symgrad.interop.importers.refusals import Problem, is_placeholder, placeholder_name
from symgrad.interop.importers.specs import shape_matches
from symgrad.ir.graph import Node, symbol
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import DOMAINS, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.support.errors import InternalError, SymgradError, UnsupportedError
from symgrad.support.source import Place

__all__ = ["JaxprReader", "variable_of", "full_value"]

_MOVE_NAMES = """
    broadcast_in_dim reshape transpose squeeze expand_dims slice concatenate rev copy iota
"""
_MOVES = frozenset(_MOVE_NAMES.split())
"""Primitives that JAX folds for known real numbers; arithmetic on them stays in the formula."""

_EXACT = frozenset(["add", "sub", "mul", "max", "min", "neg", "abs", "sign", "integer_pow"])
"""Primitives that map integers to integers."""

_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "checkpoint": "jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "custom_lin": "jaxpr",
}

_SILENT = frozenset(("debug_callback", "debug_print"))

_CURES = {
    "random": "pass the noise in as an argument",
    "threefry": "pass the noise in as an argument",
}


@dataclass
class JaxprReader:
    """A reader of equations.

    Attributes:
        names: the names of variables of jaxprs.
        problems: the unsupported equations, in order.
        named: expressions, each with its name in the user's code, in order.
        places: the first place of each expression.
        here: the place of the current equation.
        inside: the calls with a custom derivative in which the reader currently is.
        itself: those of them that are called again by their own custom derivative.
    """

    names: Mapping[Any, str]
    problems: list[Problem] = field(default_factory=list[Problem])
    named: list[tuple[str, Expr]] = field(default_factory=list[tuple[str, Expr]])
    places: dict[Node, Place] = field(default_factory=dict[Node, Place])
    here: Place = NOWHERE
    inside: tuple[tuple[Any, ...], ...] = ()
    itself: set[tuple[Any, ...]] = field(default_factory=set[tuple[Any, ...]])

    def closed(self, closed: Any, args: Sequence[Value]) -> list[Value]:
        """Return the outputs of a jaxpr that has its constants."""
        consts = [np.asarray(c) for c in closed.consts]
        return self.jaxpr(closed.jaxpr, consts, args)

    def jaxpr(self, jaxpr: Any, consts: Sequence[Value], args: Sequence[Value]) -> list[Value]:
        """Return the outputs of a jaxpr."""
        env: dict[Any, Value] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))

        def read(v: Any) -> Value:
            return np.asarray(v.val) if isinstance(v, core.Literal) else env[v]

        around = self.here
        for equation in _live_equations(jaxpr):
            given = [read(v) for v in equation.invars]
            place = place_of(equation)
            self.here = place if place.file else around
            for v, value in zip(equation.outvars, self._tried(equation, given), strict=True):
                env[v] = value
                self._note(v, value, equation)
        self.here = around
        return [read(v) for v in jaxpr.outvars]

    def _tried(self, equation: Any, given: Sequence[Value]) -> Sequence[Value]:
        """Return the values of an equation; placeholders if it is not supported."""
        before, name = len(self.problems), equation.primitive.name
        try:
            found = self._equation(equation, given)
        except UnsupportedError as error:
            self._problem(name, error.what, error.cure, equation, given)
        except SymgradError as error:
            self._problem(name, f"{name}: {error.what}", error.cure, equation, given)
        except (KeyError, AttributeError, TypeError, ValueError, IndexError) as error:
            what = f"{name} as jax {jax.__version__} has it ({type(error).__name__}: {error})"
            named = _named_sizes(equation)
            if named:
                what = f"{name} of sizes with names, {', '.join(named)}"
            self._problem(name, what, "import it with numbers as sizes" if named else None, equation, given)
        else:
            if len(self.problems) == before:
                for value, v in zip(found, equation.outvars, strict=False):
                    _check(name, value, v.aval)
                return found
        return [_placeholder(v.aval, len(self.problems), k) for k, v in enumerate(equation.outvars)]

    def _note(self, v: Any, value: Value, equation: Any) -> None:
        if not isinstance(value, Expr) or self.problems:
            return
        mark_places(self.places, value, self.here)
        name = equation.params.get("name") if equation.primitive.name == "name" else self.names.get(v)
        if name is not None and value.node.args and symbols_of([value.node]):
            whole = full_value(value, v.aval)
            mark_places(self.places, whole, self.here)
            self.named.append((str(name), whole))

    def _problem(self, name: str, what: str, cure: str | None, equation: Any, given: Sequence[Value]) -> None:
        if any(map(is_placeholder, given)) and not any(kind_of(v.aval) == "f" for v in equation.invars):
            # This is a consequence of another problem, such as noise from an unsupported key.
            self.problems.append(Problem("", self.here))
            return
        cure = cure or next((c for part, c in _CURES.items() if part in name), None)
        self.problems.append(Problem(what, self.here, cure))

    def _equation(self, equation: Any, given: Sequence[Value]) -> Sequence[Value]:
        name = equation.primitive.name
        params = {key: translate_sizes(value) for key, value in equation.params.items()}
        avals = [v.aval for v in equation.invars]
        outs = [v.aval for v in equation.outvars]
        if name in _SILENT or not outs:
            return []
        special = _SPECIAL.get(name)
        folded = _fold_constants(equation, given, outs)
        if folded is not None:
            return folded
        if name in _CALLS:
            inner = params[_CALLS[name]]
            known = of_library(inner, LIBRARY_CALLS) if hasattr(inner, "consts") else None
            if known is not None and len(given) == len(inspect.signature(known).parameters):
                found = known(*(full_value(v, a) for v, a in zip(given, avals, strict=True)))
                return [found] if isinstance(found, Expr) else found
            return self.closed(inner, given) if hasattr(inner, "consts") else self.jaxpr(inner, [], given)
        if special is not None:
            return special(self, equation, given)
        if name == "select_n" and not isinstance(given[0], Expr) and given[0].size:
            first = int(given[0].flat[0])
            if (given[0] == first).all():
                return [given[1 + first]]
        if name == "select_n":
            return [_selected(*given)]
        if name in ("max", "min"):
            given = _without_unit(name, given)
            if len(given) == 1:
                return given
        if name in ("div", "rem") and kind_of(outs[0]) in ("i", "u"):
            raise UnsupportedError("whole numbers divided, with truncation")
        if name in ("eq", "ne"):
            known = _infinite(given)
            if known is not None:
                return [fn.logical_not(known) if name == "ne" else known]
        if name in ELEMENTWISE:
            return [ELEMENTWISE[name](*map(broadcastable, given))]
        if name == "convert_element_type" and kind_of(outs[0]) in ("i", "u"):
            whole = _integer_value(given[0])
            if whole is not None:
                return [cast("Value", np.full(outs[0].shape, whole))]
        if name in WITH_PARAMETERS:
            return [WITH_PARAMETERS[name](*map(broadcastable, given), **params)]
        if name in REDUCTIONS:
            return [REDUCTIONS[name](full_value(given[0], avals[0]), **params)]
        if name in _ARRAYS:
            positions = (1,) if name in SCATTERED else POSITIONS.get(name, ())
            args = [
                v if k in positions and not isinstance(v, Expr) else full_value(v, a)
                for k, (v, a) in enumerate(zip(given, avals, strict=True))
            ]
            found = _ARRAYS[name](*args, **params)
            several = cast("list[Expr]", found if isinstance(found, list) else [found])
            return [restore_booleans(e, a) for e, a in zip(several, outs, strict=True)]
        raise UnsupportedError(name)

    def inside_loop(self) -> JaxprReader:
        """Return a reader for the step of a loop, whose values have no names outside, and its own problems."""
        return JaxprReader({}, here=self.here, inside=self.inside, itself=self.itself)

    def below(self, call: tuple[Any, ...]) -> JaxprReader:
        """Return a reader for the pullback of a call with a custom derivative."""
        return replace(self.inside_loop(), problems=self.problems, inside=(*self.inside, call))


def _integer_value(value: Value) -> int | None:
    """Return the value of an expression without inputs as an integer; None for other values."""
    if not isinstance(value, Expr) or value.dtype != "real" or value.shape or symbols_of([value.node]):
        return None
    return int(evaluate([value.node], {})[0])


def _named_sizes(equation: Any) -> list[str]:
    """Return the symbolic sizes of an equation, as text."""
    shapes = [v.aval.shape for v in (*equation.invars, *equation.outvars)]
    return [str(n) for n in dict.fromkeys(n for shape in shapes for n in shape if has_names(n))]


def _check(name: str, value: Value, aval: Any) -> None:
    """Check that a value broadcasts to its shape in JAX; if not, there is a bug in this reader, which is reported."""
    if not isinstance(value, Expr):
        return
    shape = shape_of(aval)
    lead = len(shape) - len(value.shape)
    pairs = zip(value.shape, shape[max(lead, 0) :], strict=False)
    if lead < 0 or not all(n == 1 or shape_matches((n,), (m,)) for n, m in pairs):
        raise InternalError(f"{name} read as of shape {value.shape}; JAX has {shape}")


def _live_equations(jaxpr: Any) -> list[Any]:
    """Return the equations that outputs need, in order."""
    needed = {v for v in jaxpr.outvars if not isinstance(v, core.Literal)}
    live: list[Any] = []
    for equation in reversed(jaxpr.eqns):
        if needed.intersection(equation.outvars):
            live.append(equation)
            needed.update(v for v in equation.invars if not isinstance(v, core.Literal))
    return live[::-1]


def _without_unit(name: str, given: Sequence[Value]) -> Sequence[Value]:
    """Drop the infinite initial value of a maximum or minimum."""
    unit = -np.inf if name == "max" else np.inf
    left = [v for v in given if isinstance(v, Expr) or not (v == unit).all()]
    return left or given


def _selected(which: Value, *cases: Value) -> Expr:
    """Select among the cases; a NaN case is written as inf - inf, because a formula cannot contain NaN."""
    missing = [not isinstance(v, Expr) and v.dtype.kind == "f" and bool(np.isnan(v).all()) for v in cases]
    if any(missing) and not all(missing):
        far: list[Value] = [np.asarray(np.inf) if m else v for m, v in zip(missing, cases, strict=True)]
        zeros: list[Value] = [np.asarray(np.inf if m else 0.0) for m in missing]
        return _selected(which, *far) - _selected(which, *zeros)
    return ELEMENTWISE["select_n"](broadcastable(which), *_sides(cases))


def _infinite(given: Sequence[Value]) -> Expr | None:
    """Tell where a value is the infinite number with which it is compared; None for other comparisons."""
    for x, far in (given, given[::-1]):
        number = None if isinstance(far, Expr) else uniform_value(far)
        if isinstance(x, Expr) and isinstance(number, float) and np.isinf(number):
            return fn.logical_not(is_finite(x)) & (x > 0 if number > 0 else x < 0)
    return None


def _sides(cases: Sequence[Value]) -> list[Any]:
    """Return the branches of a select as expressions; an infinite constant stays a number."""
    numbers = [None if isinstance(v, Expr) else uniform_value(v) for v in cases]
    infinite = [isinstance(n, float) and bool(np.isinf(n)) for n in numbers]
    if all(infinite):
        raise UnsupportedError("a choice between infinities")
    return [n if far else broadcastable(v) for v, n, far in zip(cases, numbers, infinite, strict=True)]


def _placeholder(aval: Any, *numbers: int) -> Expr:
    """Return a placeholder for an unsupported value."""
    domain = {"b": "bool", "i": "int", "u": "int"}.get(kind_of(aval), "real")
    return handle(symbol(Declaration(placeholder_name(*numbers), DOMAINS[domain], shape_of(aval))))


def _fold_constants(equation: Any, given: Sequence[Value], outs: Sequence[Any]) -> Sequence[Value] | None:
    """Fold constants: evaluate an equation whose operands are known, unless the formula should contain it."""
    name = equation.primitive.name
    if any(isinstance(v, Expr) for v in given) or name.startswith("random") or _named_sizes(equation):
        return None
    if name in _CALLS or (name in _SPECIAL and name != "broadcast_in_dim"):
        return None
    whole = all(kind_of(a) in ("i", "u", "b") for a in outs)
    converted = name == "convert_element_type" and kind_of(outs[0]) in ("i", "u", "b", "f")
    exact = name in _EXACT and all(map(_is_integral, given))
    if not (whole or exact or converted or name in _MOVES):
        return None
    with jax.ensure_compile_time_eval():
        found = [np.asarray(x) for x in equation_function(equation)(*of_variables(equation, given))]
    return None if exact and not all(map(_is_integral, found)) else found


def _is_integral(value: Value) -> bool:
    """Tell whether a known value consists of integers, on which arithmetic is exact."""
    known = not isinstance(value, Expr)
    return known and bool(np.all(np.abs(value) < 2**40) and np.all(value == np.floor(value)))


_ARRAYS = {**LAYOUT, **ORDERED, **POSITIONED, **SCATTERED, **WINDOWED}
_SPECIAL = {
    **CONTROL,
    "custom_jvp_call": custom,
    "custom_vjp_call": custom,
    "custom_vjp_call_jaxpr": custom,
}
