"""Ops that users register: the same record as every op, made of functions and formulas of theirs.

A formula is kept as a `CompositeFunction`, over symbols for the arguments. An op with a definition is lowered
through it, and verdicts put the definition in its place; of any other op only values are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from symgrad.ir.composite import CompositeFunction
from symgrad.ir.graph import CONSTANT, NUMBER, OPS, Node, Op, Partial, apply
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate, evaluate_mp
from symgrad.ops.record import facts, pointwise
from symgrad.support.errors import UnsupportedError, UsageError

__all__ = [
    "OWN",
    "OwnOp",
    "any_registered",
    "define",
    "drop_own",
    "make_own",
    "opaque_in",
    "without_definitions",
]


@dataclass(frozen=True, slots=True)
class OwnOp:
    """An op that a user registered.

    Args:
        op: its record.
        definition: the formula that it stands for, or None if only its values are known.
        exact: whether its reference has as many digits as it is asked for.
        keeps: what must live as long as the op does: the function behind an address.
    """

    op: Op
    definition: CompositeFunction | None
    exact: bool
    keeps: Any


_own: dict[str, OwnOp] = {}
_registered: set[str] = set()

OWN: Mapping[str, OwnOp] = MappingProxyType(_own)
"""By name."""


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
        doc: what it computes.
        count: of arguments.
        definition: a formula of the arguments, or None.
        domain: a condition over them, or None.
        value: of NumPy arrays; None if there is a definition or a reference.
        reference: ``reference(mp, *numbers)``; None likewise.
        partials: as in `Op`.
        kinks: as there.
        samples: as there.
        code: what a Builder calls, if there is a C function.
        cas: the name of SymPy's class for it.
        latex: how it is written, without the arguments.
        keeps: what must live as long.
    """
    inside = None if domain is None else _of_arrays(domain)
    plain = value or _of_arrays(definition) or _of_reference(reference)
    exact = reference or _of_numbers(definition)
    op = pointwise(
        name,
        doc=doc,
        takes=("number",) * count,
        gives="real",
        cas=cas,
        domain=None if domain is None else domain.build,
        evaluate=_evaluation(name, plain, inside),
        reference=_reference(plain, exact, domain),
        partials=tuple(partials),
        kinks=kinks,
        lower=_lowering(name, definition, domain, code),
        latex=_template(latex, count),
        facts=facts(),
        samples=samples,
    )
    within = [] if definition is None else opaque_in([definition.formula])
    precise = reference is not None or (definition is not None and all(o.exact for o in within))
    own = _own[name] = OwnOp(op, definition, precise, keeps)
    _registered.add(name)
    return own


def any_registered(outputs: Sequence[Node]) -> bool:
    """Whether outputs read an op that a user registered: in another process it may be another one."""
    return bool(_registered) and any(n.op.name in _registered for n in topological(outputs))


def define(op: Op, definition: CompositeFunction) -> None:
    """Say what an op of symgrad's own stands for in verdicts."""
    _own[op.name] = OwnOp(op, definition, True, None)


def drop_own(own: OwnOp) -> None:
    """Take an op back that turned out to be wrong before anybody could use it."""
    _own.pop(own.op.name, None)
    OPS.forget(own.op)


def _template(latex: str, count: int) -> str:
    return (
        latex.replace("{", "{{").replace("}", "}}")
        + r"\left("
        + ", ".join(f"{{{i}}}" for i in range(count))
        + r"\right)"
    )


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
    assert reference is not None  # one of three ways to a value is given

    def value(*arrays: Any) -> Any:
        import mpmath  # it starts slowly

        mp: Any = mpmath.MPContext()
        mp.dps = 20

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
    """The code of a formula of lanes."""
    made: dict[Node, Lane] = dict(zip(written.variables, lanes, strict=True))
    for node in topological([written.formula]):
        if node in made:
            continue
        if node.op is NUMBER:
            value: Any = node.value
            made[node] = b.bool_const(value) if isinstance(value, bool) else b.const(value)
        elif node.op is CONSTANT:
            made[node] = b.const_named(node.params[0])
        else:
            made[node] = node.op.lower(b, node, *(made[a] for a in node.args))
    return made[written.formula]


# ----------------------------------------------------------------------------------------------------------- verdicts


def without_definitions(outputs: Sequence[Node]) -> list[Node]:
    """Return nodes with definitions in the place of the ops that have one."""
    order = topological(list(outputs))
    if not _own or not any(n.op.name in _own for n in order):
        return list(outputs)
    done: dict[Node, Node] = {}
    for n in order:
        args = tuple(done[a] for a in n.args)
        own = _own.get(n.op.name)
        if own is not None and own.definition is not None:
            (done[n],) = without_definitions([own.definition.build(*args)])
        else:
            done[n] = apply(n.op, args, n.params) if args else n
    return [done[n] for n in outputs]


def opaque_in(outputs: Sequence[Node]) -> list[OwnOp]:
    """Return the ops of which only values are known that nodes call, also inside of definitions."""
    if not _own:
        return []
    called = dict.fromkeys(n.op.name for n in topological(without_definitions(outputs)))
    return [_own[name] for name in called if name in _own]
