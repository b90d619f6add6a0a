"""`verify_code`: does this code compute the gradient of that function?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from symgrad.api.claims.verify import validate_seconds, verify
from symgrad.api.handles.expr import Expr
from symgrad.apps.gradcheck.claims import claims_of
from symgrad.apps.gradcheck.classify import Classification, classify
from symgrad.apps.gradcheck.compare import Measurement, Neighbourhood, compare_gradients
from symgrad.apps.gradcheck.diagnosis import derivative_text, with_code_mistakes
from symgrad.apps.gradcheck.entrywise import EntryWise
from symgrad.apps.gradcheck.gradient_code import CallResult
from symgrad.apps.gradcheck.limits import MOST_ENTRIES, MOST_POINTS, POINTS_OF_DIFFERENCES, REPEATED_CALLS
from symgrad.apps.gradcheck.question import CodeQuestion, parse_question
from symgrad.apps.gradcheck.record import ArgumentVerdict, CodeKind, CodeVerdict
from symgrad.apps.gradcheck.reference import ExactDerivative, FiniteDifferences, Values
from symgrad.apps.gradcheck.samples import sample_points
from symgrad.checker.clock import is_late, now, stopwatch
from symgrad.ir.traverse import topological
from symgrad.support.errors import UsageError
from symgrad.verification.verdict import Verdict

_SHOWN = 120  # characters of a formula that is printed
_READ = 0.7  # the share of the time for proofs of formulas
_LEAST = 0.5  # seconds for one of them
_FAR = 100  # multiples of the error of differences: code with a larger error is wrong
_TELLS = 1e-2  # the relative error up to which differences are evidence
_CALL, _EQUATION = (
    2e-3,
    1e-4,
)  # seconds of a call of the code at a point, and of an equation of the loss there


def verify_code(
    f: Any,
    grad_f: Any,
    specs: Any = None,
    *,
    wrt: str | Sequence[str] | None = None,
    time_limit: float = 60,
    dtype: Literal["float64", "float32"] = "float64",
) -> CodeVerdict:
    """Decide whether code computes the gradient of a function.

    Two functions of NumPy that accept expressions are compared as formulas, as by `verify`; then the code is called in
    floats. Any other code that maps arrays to arrays is only called: torch, JAX, C through ctypes, Numba. Its values
    are compared with the derivative in 60 digits at points of the declared domains: generic ones, points on every
    branch of f, and points of all magnitudes.

    Args:
        f: a function of arrays of NumPy, torch or JAX; a program or an Expr; or a `torch.autograd.Function` or
            `jax.custom_vjp`, which stands for its forward pass. If f cannot be read, finite differences replace its
            derivative; ``how`` reports that.
        grad_f: a function of the arguments of f that returns the gradient by each of ``wrt``: an array, a tuple, or a
            dict by name. A tuple may also have an entry for each argument of f. If f returns arrays, grad_f takes a
            cotangent for each of them after the arguments, as the backward pass of a layer does. A
            `torch.autograd.Function` or `jax.custom_vjp` stands for its own derivative.
        specs: the declarations of the arguments: a text in program notation (``"x : real[n, 3]; y : int[n]"``); or for
            each argument, as a list or a dict by name, a text (``"real[3]"``, ``"positive"``), a tuple of sizes, or a
            sample array, which is one of the points and sets the dtype.
        wrt: the names of the arguments to differentiate by; by default all real ones.
        time_limit: seconds for all of it.
        dtype: the dtype of real arguments without a sample array. Gradients in float32 are compared in single
            precision.

    Returns:
        A CodeVerdict, with a verdict and a kind for each argument. Code that was read as formulas, and has their
        values, may be ``proved``; any other code is ``supported`` at most.

    Raises:
        UsageError: if an argument has no spec, a cotangent is missing, or the dtype is another one.
        NotDifferentiableError: if f does not depend on a real argument.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> def loss(w, x):
        ...     return np.sum(np.tanh(x @ w))
        >>> def loss_grad(w, x):
        ...     return x.T @ (1 - np.tanh(x @ w)**2)
        >>> sg.verify_code(loss, loss_grad, "w : real[3]; x : real[5, 3]", wrt="w").status
        'proved'
        >>> v = sg.verify_code(np.sin, lambda x: -np.cos(x), "x : real")
        >>> v.status, v.kind
        ('refuted', 'wrong')
    """
    begun, took = now(), stopwatch()
    seconds = validate_seconds(time_limit)
    if dtype not in ("float64", "float32"):
        raise UsageError(f"the dtype is {dtype!r}", expected="float64 or float32")
    kind = np.dtype(dtype)
    question = parse_question(f, grad_f, specs, wrt)
    claims, unread = claims_of(question)
    sizes = question.arguments.sizes
    if sizes and (question.loss is None or (not claims and question.backward.foreign is None)):
        fixed = parse_question(f, grad_f, specs, wrt, sizes)
        if fixed.loss is not None:
            question = fixed
            claims, unread = claims_of(question)
    if question.loss is None:
        found = _by_differences(question, begun + seconds, kind)
        how = f"in numbers alone, against differences of f, which cannot be read ({question.unread})"
        return CodeVerdict(found, how, took())
    entrywise = EntryWise(question)
    if not claims and question.backward.foreign is None:
        claims, unread = entrywise.claims(unread)
    read: dict[str, Verdict] = {}
    single: dict[str, Mapping[str, Verdict]] = {}
    for k, (name, claim) in enumerate(claims.items()):
        left = begun + _READ * seconds - now()  # unused time goes to the later proofs
        limit = max(left / (len(claims) - k), _LEAST)
        by = question.arguments.inputs[name]
        # Code that is read entry by entry is a long formula of arrays: prove it by entry, or refute the formula.
        if entrywise.used:
            limit /= 2
            proof = entrywise.proved(name, now() + limit)
            verdict = verify(question.loss, by, claim, time_limit=limit) if proof is None else proof[0]
        else:
            verdict = verify(question.loss, by, claim, time_limit=limit)
            unsure = verdict.status in ("supported", "undecided") and by.shape
            proof = entrywise.proved(name, now() + limit) if unsure else None
        if proof is not None:
            verdict, single[name] = proof
        read[name] = _of_sizes(verdict, question.fixed)
    tried = _tried(question, question.loss, begun + seconds, kind, brief=bool(read))
    if claims:
        means = ", entry by entry" if entrywise.used else ""
        how = f"both functions were read as formulas{means}, and the code was called"
    else:
        how = f"the code was called; it cannot be read as a formula ({unread})"
    if question.fixed:
        how += f"; for {_lengths(question.fixed)} alone, since code that reads a size needs its number"
    return CodeVerdict(
        {
            n: replace(
                _joined(question, question.loss, n, read.get(n), tried[n], claims.get(n)),
                entries=single.get(n, {}),
            )
            for n in question.wrt
        },
        how,
        took(),
    )


def _of_sizes(verdict: Verdict, sizes: Mapping[str, int]) -> Verdict:
    """Weaken a proof for particular sizes to evidence for all sizes."""
    if not sizes or verdict.status != "proved":
        return verdict
    return replace(
        verdict, status="supported", why=f"proved for {_lengths(sizes)}, and nothing for others", proof=None
    )


def _lengths(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {n}" for name, n in sizes.items())


# ---------------------------------------------------------------------------------------------------------- in numbers


def _tried(
    question: CodeQuestion, loss: Expr, deadline: float, kind: np.dtype[Any], *, brief: bool
) -> dict[str, tuple[Classification, Values | None]]:
    """Classify the values of the code by name; a fault other than a wrong value comes with its point."""
    exact = ExactDerivative(loss, question.inputs, question.wrt)
    measured: dict[str, list[Measurement]] = {n: [] for n in question.wrt}
    missing = frozenset(question.wrt)
    count = len(question.arguments.inputs)
    points = sample_points(loss.node, question.inputs, question.arguments.samples, question.wrt, kind)
    begun = now()
    cost = _CALL + _EQUATION * len(topological([loss.node]))
    for k, point in enumerate(points):
        if k >= (MOST_POINTS // 2 if brief else MOST_POINTS) or (
            k and is_late(begun + 0.9 * (deadline - begun), cost)
        ):
            break
        entries = sum(int(np.size(v)) for v in point.values())
        if entries > MOST_ENTRIES:
            told = f"the code was not called: its arrays have {entries:,} entries, declare smaller ones"
            return dict.fromkeys(question.wrt, (Classification("undecided", told), None))
        shapes = {n: np.shape(point[n]) for n in question.wrt}
        called = question.backward.at(point, shapes, count, twice=k < REPEATED_CALLS)
        wanted = exact.at(point)
        if called.fault is not None:
            if called.fault == "raises" and measured[question.wrt[0]] and not _defined(exact, point, wanted):
                continue
            said = Classification(called.fault, called.says)
            return dict.fromkeys(question.wrt, (said, point))
        if wanted is None:
            continue
        around = Neighbourhood(question.backward, exact, point, count)
        for name, value in called.values.items():
            found = compare_gradients(around, name, value, called.dtypes[name], wanted[name])
            measured[name].append(replace(found, sides=around.sides))
        missing &= called.missing
    real = [n for n, e in question.arguments.inputs.items() if e.dtype == "real"]
    classified = {n: classify(found, list(exact.conditions), real) for n, found in measured.items()}
    return {n: (_named_none(n, c) if n in missing else c, None) for n, c in classified.items()}


def _named_none(name: str, found: Classification) -> Classification:
    """Name what is wrong with zeros that stand for None."""
    if found.kind not in ("wrong", "wrong on a branch"):
        return found
    told = f"it returns None by '{name}', which counts as zero, and the derivative is not zero"
    return replace(found, kind="no gradient", told=told, where=None)


def _defined(exact: ExactDerivative, point: Values, wanted: Mapping[str, Any] | None) -> bool:
    """Tell whether the derivative is finite at a point, also in floats."""
    return wanted is not None and all(np.all(np.isfinite(v)) for v in exact.plainly(point).values())


def _by_differences(
    question: CodeQuestion, deadline: float, kind: np.dtype[Any]
) -> dict[str, ArgumentVerdict]:
    reference = FiniteDifferences(question.f, question.wrt)
    points = sample_points(None, question.inputs, question.arguments.samples, (), kind)
    tried: list[tuple[Values, CallResult, Mapping[str, Any]]] = []
    for k, point in enumerate(points):
        if len(tried) >= POINTS_OF_DIFFERENCES or k >= MOST_POINTS or (k and is_late(deadline, _CALL)):
            break
        shapes = {n: np.shape(point[n]) for n in question.wrt}
        called = question.backward.at(point, shapes, len(shapes), twice=k < REPEATED_CALLS)
        wanted = reference.at(point)
        if called.fault is not None and (wanted is not None or not k):
            said = Classification(called.fault, called.says)
            return {n: _argument(n, said, Verdict("refuted", called.says), point=point) for n in question.wrt}
        if wanted is not None and called.fault is None:
            tried.append((point, called, wanted))
    agreed, worst = dict.fromkeys(question.wrt, 0), dict.fromkeys(question.wrt, 0.0)
    found: dict[str, ArgumentVerdict] = {}
    moves = False
    for point, called, wanted in tried:
        for name, slopes in wanted.items():
            if name in found or not slopes.size:
                continue
            given, (slope, error) = called.values[name], reference.read(slopes)
            size = np.max(np.abs(slope), initial=0, where=np.isfinite(slope))
            off = np.abs(given - slope)
            near = 1e-6 * np.maximum(np.abs(slope), size * 1e-3) + _FAR * error
            settled = np.isfinite(slope)
            wrong = settled & ~(off <= near)
            if np.any(wrong):
                index = tuple(int(i) for i in np.argwhere(wrong)[0])
                values = repr(float(slope[index])), repr(float(given[index]))
                told = "it differs from differences of f"
                verdict = Verdict("refuted", told, witness=dict(point), values=values, index=index)
                classed = Classification("wrong", told, Measurement("wrong", point, given, slope, index))
                classed = _named_none(name, classed) if name in called.missing else classed
                found[name] = _argument(name, classed, verdict)
                continue
            least = np.maximum(np.maximum(np.abs(slope), np.abs(given)), size * 1e-3)
            if np.all(settled & (_FAR * error <= _TELLS * least) | (slope == 0) & (given == 0)):
                agreed[name] += 1
                moves |= bool(np.any(slope) or np.any(given))
                worst[name] = max(worst[name], float(np.max(off, initial=0)) / (float(size) or 1.0))
    for name in question.wrt:
        if name in found:
            continue
        digits = min(15, int(-np.log10(max(worst[name], 1e-15))))
        if agreed[name] and not moves:
            told = (
                f"f does not move at any of the {agreed[name]} points that were tried, which tells nothing of its "
                "gradient; declare between which ends its inputs lie"
            )
            found[name] = _argument(name, Classification("undecided", told), Verdict("undecided", told))
        elif agreed[name]:
            told = f"as differences of f are, to {digits} digits at {agreed[name]} points"
            verdict = Verdict("supported", told, points=agreed[name], digits=digits)
            found[name] = _argument(name, Classification("right", told), verdict)
        else:
            told = "at no point did f give a number whose differences settle"
            found[name] = _argument(name, Classification("undecided", told), Verdict("undecided", told))
    return {n: found[n] for n in question.wrt}


# ------------------------------------------------------------------------------------------------------------ together


def _joined(
    question: CodeQuestion,
    loss: Expr,
    name: str,
    read: Verdict | None,
    tried: tuple[Classification, Values | None],
    claim: Expr | None,
) -> ArgumentVerdict:
    """Combine the verdict on the formula with the classification of the values."""
    found, point = tried
    right = _formula(question, loss, name)
    faulty = found.kind not in ("right", "float32 noise", "cancellation", "undecided")
    if read is not None and read.status == "refuted":
        kind: CodeKind = found.kind if faulty else "wrong"
        told = found.told if faulty else read.why
        if question.fixed:
            read = with_code_mistakes(read, question, loss, name, claim)
        return _argument(name, replace(found, kind=kind, told=told), read, right, point)
    if faulty:
        why = f"{found.kind}: {found.told}"
        if read is not None and read.status == "proved":
            found = replace(
                found, notes=(*found.notes, "as a formula it is right: what runs is something else")
            )
        verdict = Verdict("refuted", why) if found.shown is None else _by_point(why, found.shown)
        if found.kind in ("wrong", "wrong on a branch"):
            verdict = with_code_mistakes(verdict, question, loss, name)
        return _argument(name, found, verdict, right, point)
    if read is not None and read.status == "proved":
        told = "proved" if found.kind == "right" else f"proved as a formula; {found.told}"
        kind = "right" if found.kind == "undecided" else found.kind
        return _argument(name, replace(found, kind=kind, told=told), read, right)
    if read is not None and question.fixed and read.status == "supported":
        found = replace(found, told=f"{read.why}; {found.told}")
    if found.kind == "undecided":
        return _argument(name, found, read or Verdict("undecided", found.told), right)
    verdict = Verdict("supported", found.told, points=found.points, digits=found.digits)
    return _argument(name, found, verdict, right)


def _argument(
    name: str, found: Classification, verdict: Verdict, right: str | None = None, point: Values | None = None
) -> ArgumentVerdict:
    result = ArgumentVerdict(name, found.kind, verdict, found.told, found.where, point, notes=found.notes)
    if (m := found.shown) is None:
        return result
    worst = {"index": m.index, "relative": m.relative, "small": found.small}
    return replace(result, point=m.point, given=m.given, exact=m.exact, right=right, **worst)


def _by_point(why: str, shown: Measurement) -> Verdict:
    given, exact = map(repr, shown.worst_entry)
    return Verdict("refuted", why, witness=dict(shown.point), values=(exact, given), index=shown.index)


def _formula(question: CodeQuestion, loss: Expr, name: str) -> str | None:
    """Return the derivative as text, if it is short."""
    text = derivative_text(question, loss, name)
    return text if text is not None and len(text) <= _SHOWN else None
