"""Convert a derivation to plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from symgrad.analysis.explain.derivation import DerivationRecord
from symgrad.analysis.explain.noise.evidence import ExactValue, NoiseWitness
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.ir.graph import Node
from symgrad.ir.notation.literals import number_text
from symgrad.ir.notation.printer import str_text
from symgrad.printing.limits import READINGS
from symgrad.printing.texts.derivation import gap_title
from symgrad.support.source import Place


def derivation_json(d: DerivationRecord) -> dict[str, Any]:
    """Return a derivation as dictionaries, lists, text, numbers and truth values; keys are the attribute names.

    Exact numbers are text. Of the pullbacks that read a random input (``all_paths``), the first 100 are listed.
    """
    fields = partial(_fields, spelled=d.spelled)
    return {
        "y": d.naming.text(d.y),
        "wrt": [d.naming.text(w) for w in d.wrt],
        **fields(d, "gradient", "canonical", "values", "notes"),
        "nothing": [None if n is None else str(n) for n in d.nothing],
        **fields(d, "nothing_reasons", "nothing_places"),
        "adjoints": [fields(a, "name", "of", "formula", "notes") for a in d.adjoints],
        "rules": [fields(r, "rule", "of", "by", "applied", "derivative") for r in d.rules],
        "steps": [fields(s, *_STEP) for s in d.steps],
        "cuts": [
            fields(c, "values", "complete", "where", "inside", "through", "headline", "reason")
            for c in d.cuts
        ],
        "noise": {name: _verdict_json(v, d) for name, v in d.noise.items()},
        "gaps": [
            {
                "of": gap_title(d, w),
                **fields(g, "where", "kind", "part", "limit", "form"),
                "lost": {f"{h:g}": n for h, n in g.lost.items()},
                "reason": g.reason,
            }
            for w, g in d.gaps
        ],
        "jumps": [
            {
                **fields(j, "value", "random", "choice", "where"),
                "terms": {name: _json(term, d.spelled) for name, term in j.terms.items()},
                "reason": j.reason,
            }
            for j in d.jumps
        ],
    }


_STEP = (
    *("number", "rule", "equation", "shape", "place", "target", "target_shape"),
    *("reads", "partial", "incoming", "produced", "linear"),
)
_READING = ("rule", "number", "residual", "path", "places", "crosses_stop", "matters")


def _fields(record: object, *names: str, spelled: Mapping[Node, str] = {}) -> dict[str, Any]:
    return {name: _json(getattr(record, name), spelled) for name in names}


def _json(value: Any, spelled: Mapping[Node, str]) -> Any:
    """Return the value of an attribute: tuples as lists, formulas and numbers in them as text."""
    if isinstance(value, list | tuple):
        return [_json(v, spelled) for v in cast("Sequence[Any]", value)]
    if isinstance(value, Place):
        return _fields(value, "file", "line", "text")
    return str_text(value, spelled) if isinstance(value, Node) else value


def _verdict_json(verdict: NoiseVerdict, d: DerivationRecord) -> dict[str, Any]:
    read = d.noise_lines(verdict.name)
    return {
        **_fields(verdict, "name", "enters", "reason", "how", "path", "places", "residual", "rule"),
        "witness": None if verdict.witness is None else _witness_json(verdict.witness),
        "all_paths": [_fields(r, *_READING) for r in verdict.all_paths[:READINGS]],
        "clean": [_fields(c, "name", "through", "cure") for c in verdict.clean],
        "lines": None if read is None else _fields(read, "steps", "gradient"),
    }


def _witness_json(witness: NoiseWitness) -> dict[str, Any]:
    return {
        "name": witness.name,
        "values": {name: _plain(v) for name, v in witness.values.items()},
        "draws": [_plain(v) for v in witness.draws],
        **_fields(witness, "wrt", "gradients", "entry"),
    }


def _plain(value: ExactValue) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value if isinstance(value, bool) else number_text(value)
