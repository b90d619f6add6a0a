"""A derivation as plain values, for JSON."""

from __future__ import annotations

from typing import Any

from symgrad.analysis.explain.derivation import DerivationRecord, DerivationStep
from symgrad.analysis.explain.noise.jumps import MovedJump
from symgrad.analysis.explain.noise.verdict import NoiseVerdict, ResidualUse
from symgrad.analysis.explain.noise.witness import ExactValue, NoiseWitness
from symgrad.analysis.explain.removable_singularities.search import Gap
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import number_text, str_text
from symgrad.printing.limits import READINGS
from symgrad.printing.texts.derivation import gap_title
from symgrad.support.source import Place

__all__ = ["derivation_json"]


def derivation_json(d: DerivationRecord) -> dict[str, Any]:
    """Return a derivation as dictionaries, lists, text, numbers and truth values; keys are the attribute names.

    Exact numbers are text. Of the readings of a random input (``all_paths``) the first 100 are listed.
    """
    return {
        "y": d.naming.text(d.y),
        "wrt": [d.naming.text(w) for w in d.wrt],
        "gradient": [str_text(g) for g in d.gradient],
        "canonical": [str_text(g) for g in d.canonical],
        "values": [str_text(g) for g in d.values],
        "notes": list(d.notes),
        "nothing": [None if n is None else str(n) for n in d.nothing],
        "nothing_reasons": list(d.nothing_reasons),
        "nothing_places": [[_place_json(p) for p in places] for places in d.nothing_places],
        "adjoints": [
            {"name": a.name, "of": a.of, "formula": a.formula, "notes": list(a.notes)} for a in d.adjoints
        ],
        "rules": [
            {"rule": r.rule, "of": r.of, "by": r.by, "applied": r.applied, "derivative": r.derivative}
            for r in d.rules
        ],
        "steps": [_step_json(s) for s in d.steps],
        "noise": {name: _verdict_json(v) for name, v in d.noise.items()},
        "gaps": [_gap_json(d, w, g) for w, g in d.gaps],
        "jumps": [_jump_json(j) for j in d.jumps],
    }


def _step_json(step: DerivationStep) -> dict[str, Any]:
    return {
        "number": step.number,
        "rule": step.rule,
        "equation": step.equation,
        "shape": step.shape,
        "place": None if step.place is None else _place_json(step.place),
        "target": step.target,
        "target_shape": step.target_shape,
        "reads": list(step.reads),
        "partial": step.partial,
        "incoming": step.incoming,
        "produced": step.produced,
        "linear": step.linear,
    }


def _verdict_json(verdict: NoiseVerdict) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "enters": verdict.enters,
        "reason": verdict.reason,
        "how": verdict.how,
        "path": list(verdict.path),
        "places": [_place_json(p) for p in verdict.places],
        "residual": verdict.residual,
        "rule": verdict.rule,
        "witness": None if verdict.witness is None else _witness_json(verdict.witness),
        "all_paths": [_reading_json(r) for r in verdict.all_paths[:READINGS]],
        "clean": [
            {"name": c.name, "through": [list(t) for t in c.through], "cure": c.cure} for c in verdict.clean
        ],
    }


def _gap_json(d: DerivationRecord, w: Node | None, gap: Gap) -> dict[str, Any]:
    return {
        "of": gap_title(d, w),
        "where": gap.where,
        "kind": gap.kind,
        "part": str_text(gap.part),
        "limit": None if gap.limit is None else str_text(gap.limit),
        "form": None if gap.form is None else str_text(gap.form),
        "lost": {f"{h:g}": n for h, n in gap.lost.items()},
        "reason": gap.reason,
    }


def _jump_json(jump: MovedJump) -> dict[str, Any]:
    return {
        "value": jump.value,
        "random": jump.random,
        "choice": jump.choice,
        "where": jump.where,
        "terms": {name: None if term is None else str_text(term) for name, term in jump.terms.items()},
        "reason": jump.reason,
    }


def _place_json(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "text": place.text}


def _witness_json(witness: NoiseWitness) -> dict[str, Any]:
    return {
        "name": witness.name,
        "values": {name: _plain(v) for name, v in witness.values.items()},
        "draws": [_plain(v) for v in witness.draws],
        "wrt": witness.wrt,
        "gradients": list(witness.gradients),
        "entry": list(witness.entry),
    }


def _reading_json(reading: ResidualUse) -> dict[str, Any]:
    return {
        "rule": reading.rule,
        "number": reading.number,
        "residual": reading.residual,
        "path": list(reading.path),
        "places": [_place_json(p) for p in reading.places],
        "crosses_stop": reading.crosses_stop,
        "matters": reading.matters,
    }


def _plain(value: ExactValue) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value if isinstance(value, bool) else number_text(value)
