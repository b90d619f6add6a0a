"""A derivation as one HTML page: no script, no network, every text escaped, the picture inside."""

from __future__ import annotations

from html import escape

from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.reasons.derivation import DerivationRecord, DerivationStep
from symgrad.reasons.gaps.removable import Gap
from symgrad.reasons.noise.jumps import MovedJump
from symgrad.reasons.noise.verdict import NoiseVerdict
from symgrad.render.adjoints import briefs
from symgrad.render.derivation import (
    derivation_svg,
    gap_title,
    gradient_text,
    path_text,
    shape_suffix,
    slope_text,
    title_text,
)
from symgrad.render.limits import STEPS_ON_PAGE

__all__ = ["derivation_html"]


_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --rule: #d5d9df; --tint: #f5f6f8;
  --noise: #b34700; --free: #00664a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a3acb9; --paper: #15181c; --rule: #3a414b;
  --tint: #1e2329; --noise: #ff9a57; --free: #4fd1a5; } }
body { font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
  margin: 2rem auto; padding: 0 1rem; max-width: 72rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
code, pre, td { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .9rem; }
pre { background: var(--tint); border: 1px solid var(--rule); border-radius: 6px; padding: .8rem 1rem;
  overflow-x: auto; }
.verdict { border-left: 4px solid var(--soft); padding: .1rem 1rem; margin: 1rem 0; background: var(--tint); }
.enters { border-color: var(--noise); } .free { border-color: var(--free); }
.enters strong { color: var(--noise); } .free strong { color: var(--free); }
.wide { overflow-x: auto; } .wide svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; color: var(--soft); }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--rule); }
th { font-size: .85rem; color: var(--soft); } .linear td { color: var(--soft); }
""".strip()


def derivation_html(d: DerivationRecord) -> str:
    r"""Return a derivation as a self-contained HTML page.

    Example:
        >>> from symgrad.reasons.derivation import explain
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real\ny = sin(x)")
        >>> derivation_html(explain(p["y"], [p["x"]], p)).startswith("<!DOCTYPE html>")
        True
    """
    title = escape(title_text(d))
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        _gradients(d),
    ]
    if d.told_by_names:
        adjoints = escape("\n".join(map(str, d.adjoints)))
        parts += ["<h2>Adjoints, from the output back</h2>", f"<pre>{adjoints}</pre>"]
    if d.noise:
        parts += ["<h2>Noise</h2>", *(_verdict(v) for v in d.noise.values()), *map(_jump, d.jumps)]
    if d.gaps:
        parts += ["<h2>Points without a value</h2>", *(_gap(d, w, g) for w, g in d.gaps)]
    parts += ["<h2>Graph</h2>", f'<div class="wide">{derivation_svg(d)}</div>']
    if d.steps:
        parts += ["<h2>Steps, from the output back</h2>", _table(d)]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _gradients(d: DerivationRecord) -> str:
    lines = [str(s.declaration) for s in symbols_of([d.y, *d.wrt]) if s.shape]
    if d.y in d.naming.names and d.y.args:
        lines.append(f"{d.naming.names[d.y]} = {d.naming.body(d.y, 300)}")
    heads = briefs(d, ())
    for i, w in enumerate(d.wrt):
        short = heads.gradients[i]
        lines.append(f"{slope_text(d, w)} = {gradient_text(d, i) if short is None else short.text}")
        lines += [f"    {note}" for note in (short and short.notes) or ()]
        if d.nothing[i] is not None:
            lines.append(f"    {d.nothing[i]}: {d.nothing_reasons[i]}")
    lines += heads.lines
    told = all(b is not None and b.notes is not None for b in heads.gradients)
    notes = "" if told else "".join(f"<li>{escape(n)}</li>" for n in d.notes)
    more = f"<p>Simplifying made the gradient defined in more places:</p><ul>{notes}</ul>" if notes else ""
    return f"<pre>{escape(chr(10).join(lines))}</pre>{more}"


def _verdict(v: NoiseVerdict) -> str:
    kind = {True: "enters", False: "free", None: "open"}[v.enters]
    rows = [f"<p><strong>{escape(v.headline)}</strong>: {escape(v.reason)}.</p>"]
    if v.path:
        rows.append(f"<p>Path: <code>{escape(path_text(v.path))}</code></p>")
    rows += [f"<p>Line: <code>{escape(place.told)}</code></p>" for place in v.places]
    evidence = f"witness {v.witness}" if v.witness is not None else v.how
    rows.append(f"<p>Evidence: {escape(evidence)}.</p>")
    rows += [f"<p>{escape(str(c))}.</p>" for c in v.clean]
    cures = dict.fromkeys(c.cure for c in v.clean if c.cure is not None)
    rows += [f"<p>To remove it: {escape(cure)}.</p>" for cure in cures]
    return f'<div class="verdict {kind}">{"".join(rows)}</div>'


def _gap(d: DerivationRecord, w: Node | None, gap: Gap) -> str:
    rows = [f"<p><strong>{escape(gap_title(d, w))} {gap.what} where {escape(gap.where)}</strong></p>"]
    rows += [
        f"<p>{escape(label.capitalize())}: <code>{escape(text)}</code></p>"
        for label, text in gap.rows(d.naming)
    ]
    return f'<div class="verdict open">{"".join(rows)}</div>'


def _jump(j: MovedJump) -> str:
    rows = [f"<p><strong>{escape(j.headline)}</strong>: {escape(j.reason)}.</p>"]
    for name, text in j.additions.items():
        rows.append(f"<p>Add to that by {escape(name)}: <code>{escape(text)}</code></p>")
    if not j.additions:
        rows.append(f"<p>{escape(j.advice)}.</p>")
    return f'<div class="verdict enters">{"".join(rows)}</div>'


def _table(d: DerivationRecord) -> str:
    head = "".join(
        f"<th>{h}</th>" for h in ("", "rule", "equation", "reads", "partial", "receives", "passes", "to")
    )
    rows = "\n".join(_row(s) for s in d.steps[:STEPS_ON_PAGE])
    left = len(d.steps) - STEPS_ON_PAGE
    caption = f"<caption>{left} more steps are not listed.</caption>" if left > 0 else ""
    return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'


def _row(s: DerivationStep) -> str:
    cells = (
        str(s.number),
        s.rule,
        s.equation + shape_suffix(s.shape),
        ", ".join(s.reads),
        s.partial,
        s.incoming,
        s.produced,
        s.target + shape_suffix(s.target_shape),
    )
    kind = ' class="linear"' if s.linear else ""
    return f"<tr{kind}>{''.join(f'<td>{escape(c)}</td>' for c in cells)}</tr>"
