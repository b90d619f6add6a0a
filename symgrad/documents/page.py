"""A review as one HTML page: no script, no network, every text escaped."""

from __future__ import annotations

from html import escape

from symgrad.documents.printed import details, mark, summary
from symgrad.documents.steps import ReviewRecord, ReviewStep

__all__ = ["review_html"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --rule: #d5d9df; --tint: #f5f6f8;
  --wrong: #b3261e; --right: #00664a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a3acb9; --paper: #15181c; --rule: #3a414b;
  --tint: #1e2329; --wrong: #ff8a80; --right: #4fd1a5; } }
body { font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
  margin: 2rem auto; padding: 0 1rem; max-width: 72rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
td { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .9rem; vertical-align: top;
  padding: 0 .6rem; white-space: pre-wrap; }
td.mark, td.line { color: var(--soft); white-space: nowrap; width: 1%; } td.line { text-align: right; }
tr.proved td.mark { color: var(--right); } tr.refuted td.mark { color: var(--wrong); font-weight: bold; }
tr.refuted td.text { background: var(--tint); } mark { background: none; color: var(--wrong);
  text-decoration: underline wavy; }
tr.said td.text { border-left: 3px solid var(--rule); padding-left: .8rem; color: var(--soft); }
""".strip()


def review_html(review: ReviewRecord) -> str:
    r"""Return a review as a self-contained HTML page.

    Example:
        >>> import symgrad as sg
        >>> page = review_html(sg.review("f = x**2\ndf/dx = x\n"))
        >>> page.startswith("<!DOCTYPE html>"), "<mark>x</mark>" in page
        (True, True)
    """
    title = escape(f"Review of {review.source.name.strip('<>')}")
    head, *rest = summary(review)
    by_line: dict[int, list[ReviewStep]] = {}
    for step in review.steps:
        by_line.setdefault(step.line, []).append(step)
    rows = [
        row
        for number, line in enumerate(review.source.text.rstrip("\n").split("\n"), 1)
        for row in _rows(number, line, by_line.get(number, []))
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>{_STYLE}</style></head><body>",
            f"<h1>{title}</h1>",
            f"<p><strong>{escape(head)}</strong></p>",
            *(f"<p>{escape(line)}</p>" for line in rest if not line.startswith("  ") and line != "assumed:"),
            "<table>",
            *rows,
            "</table>",
            *_assumptions(review),
            "</body></html>",
            "",
        ]
    )


def _rows(number: int, line: str, steps: list[ReviewStep]) -> list[str]:
    kinds = [step.status or step.kind for step in steps]
    worst = "refuted" if "refuted" in kinds else "proved" if kinds and set(kinds) == {"proved"} else "plain"
    rows = [
        f'<tr class="{worst}"><td class="mark">{escape(mark(steps))}</td><td class="line">{number}</td>'
        f'<td class="text">{_marked(line, steps)}</td></tr>'
    ]
    for step in steps:
        told = "\n".join(details(step))
        if told:
            rows.append(f'<tr class="said"><td></td><td></td><td class="text">{escape(told)}</td></tr>')
    return rows


def _marked(line: str, steps: list[ReviewStep]) -> str:
    """Return a line with what is wrong in it marked."""
    shown, at = "", 0
    for step in sorted(steps, key=lambda s: s.column):
        start = step.column - 1
        if step.status == "refuted" and start >= at:
            end = min(len(line), start + step.span.end - step.span.start)
            shown += f"{escape(line[at:start])}<mark>{escape(line[start:end])}</mark>"
            at = end
    return shown + escape(line[at:])


def _assumptions(review: ReviewRecord) -> list[str]:
    if not review.assumptions:
        return []
    items = (f"<li>{escape(str(a))}</li>" for a in review.assumptions)
    return ["<h2>Assumed</h2>", "<ul>", *items, "</ul>"]
