"""The style sheet of reports in HTML, for light and dark colours, phones, desktops and paper.

A page follows the colour scheme of the reader's system. A part of a page follows the scheme of the page, as JupyterLab,
VS Code, nbconvert and Sphinx declare it. Each rule is restricted to `.sg`. The pages around a part have rules for all
tables, and `.sg.sg` takes precedence over these.
"""

from __future__ import annotations

_PALETTE = {  # the colour in light mode, and in dark mode
    "ink": ("#1b1f24", "#e6e9ee"),
    "soft": ("#545d69", "#a9b2bf"),
    "paper": ("#ffffff", "#15181c"),
    "tint": ("#f5f6f8", "#1e2329"),
    "rule": ("#d5d9df", "#3a414b"),
    "good": ("#00664a", "#5fd6ab"),
    "good-tint": ("#e8f4ef", "#142a24"),
    "bad": ("#a8201a", "#ff9a93"),
    "bad-tint": ("#fcecea", "#351c1b"),
    "warn": ("#8f4700", "#ffb169"),
    "warn-tint": ("#fdf1e3", "#33241a"),
    "open": ("#3f4a8a", "#b3bcff"),
    "open-tint": ("#eef0fa", "#20243c"),
    "flow": ("#005a8f", "#74c0f0"),
}

# The colours of pictures, each with its replacement in dark mode.
_DRAWN = {
    "#ffffff": "#15181c",
    "#1b1f24": "#e6e9ee",
    "#5b6470": "#a9b2bf",
    "#c9ced6": "#3a414b",
    "#79818c": "#8a929d",
    "#f3f5f7": "#262c33",
    "#fde9da": "#3d2616",
    "#dcecf7": "#12303f",
    "#0072b2": "#5fb7ec",
    "#d55e00": "#ff8a3d",
    "#a84a00": "#ffb169",
    "#009e73": "#3fcfa3",
}


_COLOURS = " ".join(f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in _PALETTE.items())
_DRAWN_DARK = "\n".join(
    f'.sg svg [{kind}="{light}"] {{ {kind}: light-dark({light}, {dark}); }}'
    for light, dark in _DRAWN.items()
    for kind in ("fill", "stroke")
)


def _formulas(scope: str) -> str:
    """Return the rules for formulas in MathML, restricted to elements of one class."""
    return f"""
{scope} .sg-tt {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .9em; }}
{scope} .sg-it {{ font-style: italic; }}
{scope} mover.sg-bar > :first-child {{ border-top: .06em solid; padding-top: .08em; }}
{scope} munder.sg-bar > :first-child {{ border-bottom: .06em solid; }}
{scope} .sg-bar > mo {{ display: none; }}
{scope} mtable.sg-aligned > mtr > mtd {{ padding: .28em 0; }}
{scope} mtable.sg-aligned > mtr > mtd:nth-child(odd) {{ text-align: right; padding-left: 1.2em; }}
{scope} mtable.sg-aligned > mtr > mtd:first-child {{ padding-left: 0; }}
{scope} mtable.sg-aligned > mtr > mtd:nth-child(even) {{ text-align: left; }}
{scope} mtable.sg-cases > mtr > mtd {{ text-align: left; }}
""".strip()


def _portable(scope: str) -> str:
    """Return the rules that show hidden content, and hide its replacement, if a viewer keeps the style."""
    twice = scope * 2  # takes precedence over the page's rule for hidden elements
    shown = {"instead": "none", "mathml": "inline !important", "picture": "block !important"}
    return " ".join(f"{twice} .sg-{part} {{ display: {how}; }}" for part, how in shown.items())


STYLE = f"""
.sg {{ color-scheme: light dark; {_COLOURS} }}
[data-jp-theme-light="true"] .sg, .vscode-light .sg, [data-theme="light"] .sg {{ color-scheme: light; }}
[data-jp-theme-light="false"] .sg, .vscode-dark .sg, [data-theme="dark"] .sg {{ color-scheme: dark; }}
@media print {{ .sg.sg {{ color-scheme: light; }} }}
{_DRAWN_DARK}
.sg {{ font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: break-word; }}
.sg:not(body) {{ padding: .3rem .9rem .6rem; border-radius: 8px; }}
.sg > style + h2 {{ margin-top: .4rem; }}
.sg *, .sg *::before {{ box-sizing: border-box; }}
.sg h1 {{ font-size: 1.6rem; line-height: 1.25; margin: 0 0 1.2rem; text-wrap: balance; }}
.sg h2 {{ font-size: 1.2rem; line-height: 1.3; margin: 2.2rem 0 .7rem; }}
.sg h3 {{ font-size: 1rem; margin: 1.5rem 0 .5rem; }}
.sg p {{ margin: .6rem 0; max-width: 46rem; }}
.sg p.soft, .sg figcaption, .sg.sg caption, .sg .place {{ color: var(--soft); }}
.sg code, .sg pre, .sg.sg .doc td {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: .875em; }}
.sg code {{ overflow-wrap: anywhere; }}
.sg td code {{ overflow-wrap: break-word; }}
.sg math {{ font-size: 1.08em; }}
{_formulas(".sg")}
.sg math[display="block"] {{ width: max-content; margin: 0; text-align: left; }}
.sg .scroll {{ overflow: auto hidden; max-width: 100%; padding-bottom: .2rem; }}
.sg .scroll:focus-visible, .sg summary:focus-visible {{ outline: 2px solid var(--flow); outline-offset: 2px; }}
.sg .formula {{ margin: .8rem 0; padding: .5rem 0 .5rem 1rem; border-left: 3px solid var(--rule); }}
.sg .formula > div + div {{ margin-top: .5rem; }}
.sg pre {{ background: var(--tint); border: 1px solid var(--rule); border-radius: 6px; padding: .75rem 1rem;
  margin: .6rem 0; overflow-x: auto; line-height: 1.45; }}
.sg figure {{ margin: 1rem 0; }}
.sg figcaption {{ font-size: .9rem; margin-top: .3rem; }}
.sg svg {{ display: block; max-width: 100%; height: auto; }}
.sg .banner {{ border-left: 5px solid var(--tone); background: var(--tone-tint); border-radius: 0 6px 6px 0;
  padding: .55rem 1rem; margin: 1rem 0; }}
.sg .banner p {{ margin: .2rem 0; }}
.sg .banner strong, .sg .finding > p > strong, .sg .mark {{ color: var(--tone); }}
.sg .good {{ --tone: var(--good); --tone-tint: var(--good-tint); }}
.sg .bad {{ --tone: var(--bad); --tone-tint: var(--bad-tint); }}
.sg .warn {{ --tone: var(--warn); --tone-tint: var(--warn-tint); }}
.sg .open {{ --tone: var(--open); --tone-tint: var(--open-tint); }}
.sg .plain {{ --tone: var(--ink); --tone-tint: var(--tint); }}
.sg .finding {{ border: 1px solid var(--rule); border-left: 5px solid var(--tone); border-radius: 0 6px 6px 0;
  padding: .4rem 1rem; margin: 1rem 0; }}
.sg mark {{ background: var(--tone-tint, var(--bad-tint)); color: inherit;
  text-decoration: underline wavy var(--tone, var(--bad)); text-underline-offset: .2em; }}
.sg.sg table {{ border-collapse: collapse; font-size: inherit; table-layout: auto; margin: 0;
  min-width: min(100%, 24rem); }}
.sg.sg caption {{ text-align: left; font-size: .9rem; padding-bottom: .3rem; }}
.sg.sg th, .sg.sg td {{ text-align: left; vertical-align: top; padding: .4rem .8rem .4rem 0;
  border-bottom: 1px solid var(--rule); }}
.sg.sg thead th {{ font-size: .85rem; color: var(--soft); font-weight: 600; border-bottom-color: var(--soft); }}
.sg.sg tbody th {{ font-weight: 600; }}
.sg.sg tbody tr:nth-child(n) {{ background: none; }}
.sg.sg .number {{ text-align: right; font-variant-numeric: tabular-nums; }}
.sg.sg .doc td, .sg.sg .doc th {{ border: 0; padding: .1rem .7rem .1rem 0; font-weight: 400; }}
.sg.sg .doc .line {{ white-space: pre-wrap; overflow-wrap: anywhere; width: 100%; }}
.sg.sg .doc tr.bad > .line {{ background: var(--bad-tint); }}
.sg.sg .doc .no {{ color: var(--soft); text-align: right; }}
.sg.sg .doc tr.said > td {{ color: var(--soft); padding-bottom: .5rem; }}
.sg.sg .doc tr.said .line {{ border-left: 3px solid var(--tone); padding-left: .8rem; color: var(--ink); }}
.sg details {{ margin: .3rem 0; }}
.sg summary {{ cursor: pointer; padding: .25rem 0; }}
.sg .steps {{ margin: .6rem 0; padding: 0; list-style: none; border-top: 1px solid var(--rule); }}
.sg .steps > li {{ border-bottom: 1px solid var(--rule); content-visibility: auto;
  contain-intrinsic-block-size: auto 2.5rem; }}
.sg .steps .steps {{ margin-left: 1.2rem; }}
.sg .steps .body {{ padding: 0 0 .6rem 1.1rem; }}
.sg .steps summary .rule {{ color: var(--soft); font-size: .9rem; margin-right: .8rem; }}
.sg .step {{ padding: .25rem 0; overflow-x: auto; }}
.sg details.tex > summary {{ color: var(--soft); font-size: .8rem; width: max-content; }}
@media (max-width: 30rem) {{
  .sg h1 {{ font-size: 1.3rem; }} .sg h2 {{ font-size: 1.1rem; }}
  .sg .formula {{ padding-left: .7rem; }} .sg .steps .steps {{ margin-left: .4rem; }}
  .sg .scroll.wide svg {{ max-width: max(100%, 30rem); }}
}}
@media print {{
  .sg {{ font-size: 10.5pt; }}
  .sg details::details-content {{ content-visibility: visible !important; display: block !important;
    height: auto !important; }}
  .sg details.tex {{ display: none; }} .sg summary {{ list-style: none; }}
  .sg .scroll, .sg pre, .sg .step {{ overflow: visible; white-space: pre-wrap; }}
  .sg .picture svg {{ max-height: 22cm; width: auto; }}
  .sg .banner, .sg .finding, .sg figure, .sg tr, .sg .steps > li {{ break-inside: avoid; }}
  .sg h2, .sg h3 {{ break-after: avoid; }}
}}
""".strip()

PART = f"{STYLE}\n{_portable('.sg')}"
"""The style of a part of a page, which includes it."""

FORMULA = f".sg-formula math {{ font-size: 1.15em; }}\n{_formulas('.sg-formula')}\n{_portable('.sg-formula')}"
"""The style of a single formula."""

PAGE = """
html { color-scheme: light dark; background: light-dark(#ffffff, #15181c); }
@media print { html { color-scheme: light; } }
body.sg { margin: 0; padding: 2rem 1rem 4rem; }
body.sg > main { max-width: 60rem; margin: 0 auto; }
@media print { body.sg { padding: 0; } @page { margin: 16mm 14mm; } }
""".strip()
"""Further rules for a page, but not for a part of another page."""
