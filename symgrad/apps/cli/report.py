"""Reports of the commands: formulas, derivations and tables, as text, LaTeX or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

import symgrad
from symgrad.api.explaining.explain import Derivation
from symgrad.api.handles.formatting import format_many, latex_many, leibniz_of, title

_ROWS = 20  # printed rows; longer columns are cut in the middle


def partials(
    y: symgrad.Expr, wrt: Sequence[symgrad.Expr], order: int
) -> dict[tuple[symgrad.Expr, ...], symgrad.Expr]:
    """Return the partial derivatives of orders 1 to ``order``, by their variables.

    For arrays they are Jacobians: the axes of y, then the axes of each variable.
    """
    if y.shape or (order > 1 and any(w.shape for w in wrt)):
        found: dict[tuple[symgrad.Expr, ...], symgrad.Expr] = {(): y}
        for size in range(1, order + 1):
            for key in combinations_with_replacement(wrt, size):
                found[key] = _jacobian(found[key[:-1]], key[-1])
        del found[()]
        return found
    if order == 1:
        return {(w,): g for w, g in zip(wrt, symgrad.grad(y, list(wrt)), strict=True)}
    return {k: v for k, v in symgrad.derivatives(y, list(wrt), order).items() if k}


def _jacobian(y: symgrad.Expr, w: symgrad.Expr) -> symgrad.Expr:
    derivative = symgrad.jacobian(y, w) if y.shape else symgrad.grad(y, w)
    assert isinstance(derivative, symgrad.Expr)  # one variable has one derivative
    return derivative


def derive_report(
    y: symgrad.Expr,
    wrt: Sequence[symgrad.Expr],
    order: int,
    form: str,
    *,
    stable: bool = False,
    expand: bool = False,
) -> str:
    """Return the partial derivatives up to an order, optionally in stable form, or over inputs only."""
    found = partials(y, wrt, order)
    before: dict[tuple[symgrad.Expr, ...], list[str]] = {key: [] for key in found}
    if stable:
        for key, g in found.items():
            before[key] = [*g.expanded_notes, *g.stable_notes]
            found[key] = g.stable()
    name = y.name or ""
    if form in ("markdown", "html"):
        # Imported here because text needs no report writers.
        from symgrad.api.derivatives.derivative_table import DerivativeList

        return DerivativeList(found.values(), [(y, key) for key in found]).report().written(form)
    if form == "json":
        rows = [
            {
                "of": name or str(y),
                "wrt": [w.name or str(w) for w in key],
                "derivative": g.text(expand=expand),
                "latex": g.latex(expand=expand),
                "nothing": g.nothing,
                "domain_notes": [*before[key], *(g.expanded_notes if expand else g.domain_notes)],
                "form_notes": [] if expand else list(g.form_notes),
            }
            for key, g in found.items()
        ]
        return json.dumps(rows, indent=2, ensure_ascii=False)
    if form == "latex":
        return latex_many(list(found.values()), [leibniz_of(y, key) for key in found], expand=expand)
    exprs = list(found.values())
    texts, below, domains = format_many(exprs, expand=expand)
    lines: list[str] = []
    for (key, g), formula, notes in zip(found.items(), texts, domains, strict=True):
        left = title(y, key)
        text = formula.replace("\n", "\n    ")
        lines.append(f"{left} = {text}" if "\n" not in text else f"{left}:\n    {text}")
        if g.nothing is not None:
            lines[-1] += f"    # {g.nothing}"
        lines += [f"    # {note}" for note in (*before[key], *notes)]
    return "\n".join([*lines, *below])


_ALIGNED = (r"\begin{aligned}", r"\end{aligned}")
_SET = re.compile(r"\\(?:left|right|frac|mathrm|operatorname)|\\(?=[a-zA-Z])|[{}&\s]")
_PAPER = 21.0  # cm
_CHARACTER = 0.2  # cm, an upper bound at ten points


def latex_document(formula: str) -> str:
    """Return a formula as a LaTeX document whose page fits the longest row; pages break between rows."""
    rows = formula.removeprefix(_ALIGNED[0]).removesuffix(_ALIGNED[1]).strip("\n")
    width = max(_PAPER, 4 + _CHARACTER * max(len(_SET.sub("", row)) for row in rows.split("\n")))
    environment = "equation*" if rows == formula else "align*"
    return "\n".join(
        [
            r"\documentclass{article}",
            rf"\usepackage[paperwidth={width:.0f}cm, margin=1.5cm]{{geometry}}",
            r"\usepackage{amsmath}",
            r"\allowdisplaybreaks",
            r"\begin{document}",
            rf"\begin{{{environment}}}",
            rows,
            rf"\end{{{environment}}}",
            r"\end{document}",
        ]
    )


def explain_report(derivation: Derivation, form: str, *, steps: bool = False) -> str:
    """Return a derivation in one of its forms."""
    if form == "latex":
        return derivation.latex(steps=steps)
    if form in ("markdown", "html"):
        return derivation.report().written(form)
    if form == "json":
        return json.dumps(derivation.json(), indent=2, ensure_ascii=False)
    return derivation.text(steps=steps)


def run_report(inputs: Mapping[str, Any], outputs: Mapping[str, Any], form: str) -> str:
    """Return inputs and outputs as a table with a row for each point, or as JSON."""
    if form == "json":
        # JSON has no NaN or infinity: they become null.
        return json.dumps({k: _plain(v) for k, v in outputs.items()}, indent=2, allow_nan=False)
    columns = np.broadcast_arrays(*(np.asarray(v) for v in (*inputs.values(), *outputs.values())))
    flat = [c.reshape(-1) for c in columns]
    names = [*inputs, *outputs]
    count = flat[0].size
    # The text of a NumPy scalar is the shortest decimal that reads back in its precision.
    shown = range(count) if count <= _ROWS else [*range(_ROWS // 2), *range(count - _ROWS // 2, count)]
    rows = [[str(c[i]) for c in flat] for i in shown]
    widths = [max(len(n), *(len(r[k]) for r in rows)) if rows else len(n) for k, n in enumerate(names)]
    lines = ["  ".join(n.rjust(w) for n, w in zip(names, widths, strict=True))]
    lines += ["  ".join(v.rjust(w) for v, w in zip(r, widths, strict=True)) for r in rows]
    if count > _ROWS:
        lines.insert(1 + _ROWS // 2, f"... {count - _ROWS} more rows (-o FILE writes them all) ...")
    return "\n".join(lines)


def arrays_report(arrays: Mapping[str, Any], nothing: Mapping[str, str | None]) -> str:
    """Return the results of an array program, one after the other, each with its shape."""
    lines: list[str] = []
    for name, value in arrays.items():
        array = np.asarray(value)
        why = f"    # {nothing[name]}" if nothing[name] else ""
        if array.ndim == 0:
            lines.append(f"{name} = {array[()]}{why}")
            continue
        text = np.array2string(array, max_line_width=96, floatmode="unique")
        shape = ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "")
        lines += [f"{name} : ({shape}){why}", *(f"    {line}" for line in text.splitlines())]
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        listed = array.astype(object)
        listed[~np.isfinite(array)] = None
        return listed.tolist()
    return array.tolist()
