"""Ops that users register: records from their functions and formulas.

A formula is a `CompositeFunction`, over symbols for the arguments. An op with a definition is lowered by means of the
definition, and verdicts expand it; any other op only has values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from symgrad.ir.composite import CompositeFunction
from symgrad.ir.graph import CONSTANT, NUMBER, OPS, Node, Op, Partial
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.traverse import fold, topological, with_args
from symgrad.ir.values.evaluate import evaluate, evaluate_mp, mp_context
from symgrad.ops.record import function_latex, pointwise
from symgrad.support.errors import UnsupportedError, UsageError


@dataclass(frozen=True, slots=True)
class OwnOp:
    """An op that a user registered.

    Args:
        op: its record.
        definition: its formula, or None if it only has values.
        exact: whether its reference computes any number of digits.
        keeps: an object that must live as long as the op, such as the function at an address.
    """

    op: Op
    definition: CompositeFunction | None
    exact: bool
    keeps: Any


_own: dict[str, OwnOp] = {}
_registered: set[str] = set()

OWN: Mapping[str, OwnOp] = MappingProxyType(_own)
"""The registered ops by name."""


def make_own(
    name: str,
    *,
    doc: str,
    count: int,
    definition: CompositeFunction | None,
    domain: CompositeFunction | None,
    value: Callable[..., Any] | None,
    reference: Callable[..., Any] | None,
    partials: Sequence[Partial],
    kinks: tuple[Kink, ...],
    samples: tuple[tuple[Any, ...], ...],
    code: str | None,
    cas: str | None,
    latex: str,
    keeps: Any,
) -> OwnOp:
    """Register the record of an op of real numbers that acts entry by entry.

    Args:
        name: its name.
        doc: its description.
        count: the number of arguments.
        definition: a formula of the arguments, or None.
        domain: a condition on the arguments, or None.
        value: a function of NumPy arrays; None if there is a definition or a reference.
        reference: ``reference(mp, *numbers)``; None if there is a definition or a value.
        partials: as in `Op`.
        kinks: as in `Op`.
        samples: as in `Op`.
        code: the name of a C function for `Builder.call`, if there is one.
        cas: the name of SymPy's class for the op.
        latex: the LaTeX of its name.
        keeps: an object that must live as long as the op.
    """
    inside = None if domain is None else _of_arrays(domain)
    plain = value or _of_arrays(definition) or _of_reference(reference)
    exact = reference or _of_numbers(definition)
    op = pointwise(
        name,
        doc=doc,
        takes=("number",) * count,
        cas=cas,
        domain=None if domain is None else domain.build,
        evaluate=_evaluation(name, plain, inside),
        reference=_reference(plain, exact, domain),
        partials=tuple(partials),
        kinks=kinks,
        lower=_lowering(name, definition, domain, code),
        latex=function_latex(latex, count),
        samples=samples,
    )
    within = [] if definition is None else opaque_in([definition.formula])
    precise = reference is not None or (definition is not None and all(o.exact for o in within))
    own = _own[name] = OwnOp(op, definition, precise, keeps)
    _registered.add(name)
    return own


def any_registered(outputs: Sequence[Node]) -> bool:
    """Tell whether outputs call an op that a user registered, which may differ in another process."""
    return bool(_registered) and any(n.op.name in _registered for n in topological(outputs))


def define(op: Op, definition: CompositeFunction) -> None:
    """Set the definition of an op of symgrad for verdicts."""
    _own[op.name] = OwnOp(op, definition, True, None)


def drop_own(own: OwnOp) -> None:
    """Remove an op that proved wrong before its first use."""
    _own.pop(own.op.name, None)
    OPS.forget(own.op)


# ------------------------------------------------------------------------------------------------------------- values


def _of_arrays(written: CompositeFunction | None) -> Callable[..., Any] | None:
    if written is None:
        return None

    def value(*arrays: Any) -> Any:
        return evaluate([written.formula], dict(zip(written.variables, arrays, strict=True)))[0]

    return value


def _of_numbers(written: CompositeFunction | None) -> Callable[..., Any] | None:
    if written is None:
        return None

    def value(mp: Any, *numbers: Any) -> Any:
        return evaluate_mp(mp, [written.formula], dict(zip(written.variables, numbers, strict=True)))[0]

    return value


def _of_reference(reference: Callable[..., Any] | None) -> Callable[..., Any]:
    assert reference is not None  # the caller has a value, a definition or a reference

    def value(*arrays: Any) -> Any:
        mp = mp_context(20)

        def one(*numbers: Any) -> float:
            found = reference(mp, *(mp.mpf(float(x)) for x in numbers))
            return float(found) if mp.isfinite(found) and not hasattr(found, "_mpc_") else np.nan

        return np.frompyfunc(one, len(arrays), 1)(*arrays)

    return value


def _evaluation(
    name: str, value: Callable[..., Any], inside: Callable[..., Any] | None
) -> Callable[..., Any]:
    def evaluation(*given: Any) -> Any:
        arrays = [np.asarray(a) for a in given]
        single = all(a.dtype == np.float32 for a in arrays)
        arrays = [a if a.dtype.kind == "f" else a.astype(float) for a in arrays]
        with np.errstate(all="ignore"):
            found = np.asarray(value(*arrays), dtype=np.float32 if single else float)
            if inside is not None:
                found = np.where(inside(*arrays), found, np.nan).astype(found.dtype)
        wanted = broadcast_shapes([a.shape for a in arrays])
        if found.shape != wanted:
            raise UsageError(
                f"the value of '{name}' has the shape {found.shape} for arguments of shape {wanted}",
                expected="one number for each entry",
                cure="compute it with NumPy's functions, or wrap it in numpy.vectorize",
            )
        return found[()]

    return evaluation


def _reference(
    plain: Callable[..., Any], exact: Callable[..., Any] | None, domain: CompositeFunction | None
) -> Callable[..., Any]:
    inside = _of_numbers(domain)

    def reference(mp: Any, *numbers: Any) -> Any:
        if any(mp.isnan(x) for x in numbers) or (inside is not None and not inside(mp, *numbers)):
            return mp.nan
        if exact is None:
            with np.errstate(all="ignore"):
                return mp.mpf(float(plain(*(np.float64(float(x)) for x in numbers))))
        found = mp.convert(exact(mp, *numbers))
        return mp.nan if hasattr(found, "_mpc_") else found

    return reference


# -------------------------------------------------------------------------------------------------------------- code


def _lowering(
    name: str, definition: CompositeFunction | None, domain: CompositeFunction | None, code: str | None
) -> Callable[..., Lane]:
    def lower(b: Builder, _node: Node, *lanes: Lane) -> Lane:
        if code is not None and b.knows(code):
            value = b.call(code, *lanes)
        elif definition is not None:
            value = _through(b, definition, lanes)
        elif code is not None:
            raise UnsupportedError(
                f"'{name}' has no source: its code is a C function",
                expected="an op with a definition",
                cure='register it with definition="...", or compile the expression',
            )
        else:
            raise UnsupportedError(
                f"'{name}' has no native code and no source: only its values are known",
                expected="an op with a definition, or (for kernels) a C function",
                cure='register it with definition="..." or native=..., or evaluate without compiling',
            )
        return value if domain is None else b.select(_through(b, domain, lanes), value, b.const(np.nan))

    return lower


def _through(b: Builder, written: CompositeFunction, lanes: Sequence[Lane]) -> Lane:
    """Return the code of a formula over lanes."""

    def code(node: Node, args: list[Lane]) -> Lane:
        if node.op is NUMBER:
            value = node.value
            return b.bool_const(value) if isinstance(value, bool) else b.const(value)
        return b.const_named(node.params[0]) if node.op is CONSTANT else node.op.lower(b, node, *args)

    return fold([written.formula], code, dict(zip(written.variables, lanes, strict=True)))[written.formula]


# ----------------------------------------------------------------------------------------------------------- verdicts


def without_definitions(outputs: Sequence[Node]) -> list[Node]:
    """Return nodes with the definitions of ops expanded."""
    if not _own or not any(n.op.name in _own for n in topological(outputs)):
        return list(outputs)

    def expanded(n: Node, args: list[Node]) -> Node:
        own = _own.get(n.op.name)
        if own is None or own.definition is None:
            return with_args(n, args)
        return without_definitions([own.definition.build(*args)])[0]

    nodes = fold(outputs, expanded)
    return [nodes[n] for n in outputs]


def opaque_in(outputs: Sequence[Node]) -> list[OwnOp]:
    """Return the ops without a definition that nodes call, also inside definitions."""
    if not _own:
        return []
    called = dict.fromkeys(n.op.name for n in topological(without_definitions(outputs)))
    return [_own[name] for name in called if name in _own]
