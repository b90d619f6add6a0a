"""How Sphinx builds the manual; `python -m tools.manual` calls it."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from pygments.lexers.python import PythonLexer
from pygments.lexers.shell import BashSessionLexer
from pygments.token import Error, Text
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).parents[2]))

import symgrad
from symgrad.support.public_names import MODULES, PUBLIC
from tools.manual.reference import described, written

project = "symgrad"
release = version = symgrad.__version__
language = "en"
root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Pages are written for plain Markdown: links to headings have the usual form, and `$...$` is a formula.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # a diff may contain a heading out of order

autodoc_typehints = "none"  # the text below Args describes in words which values are allowed
autodoc_member_order = "groupwise"
autodoc_mock_imports = ["dask", "distributed", "jax", "keras", "tensorflow", "torch"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # otherwise the heading would be Variables
napoleon_use_rtype = False
default_role = "code"
add_module_names = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 90

html_theme = "furo"
html_title = "symgrad"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which browsers refuse for local files
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "github-dark"


class Notation(PythonLexer):
    """Highlight programs like Python; text that is no token of Python, such as the ∂ of a derivation, stays text."""

    def get_tokens_unprocessed(self, *args: Any, **kwargs: Any) -> Any:
        """Yield tokens, none of which is an error."""
        for start, kind, text in super().get_tokens_unprocessed(*args, **kwargs):
            yield start, Text if kind is Error else kind, text


class NamesAreLinks(SphinxPostTransform):
    """Code that is a public name, or a call of one, links to the reference: `sg.grad`, `sg.grad(y, x)`."""

    default_priority = 5  # before references are looked up

    def run(self, **kwargs: Any) -> None:
        """Put a reference around the code."""
        links = (nodes.reference, addnodes.pending_xref, nodes.title)
        for code in list(self.document.findall(nodes.literal)):
            name = _public(code.astext())
            above = code.parent
            while above is not None and not isinstance(above, links):
                above = above.parent
            if name and above is None:
                link = addnodes.pending_xref(
                    "",
                    refdomain="py",
                    reftype="obj",
                    reftarget=f"symgrad.{name}",
                    refexplicit=True,
                    refwarn=True,
                )
                code.replace_self(link)
                link += code


class BlocksEndWithTheirText(SphinxTransform):
    """A session in Markdown ends with an empty line, which tells readers nothing."""

    default_priority = 900

    def apply(self, **kwargs: Any) -> None:
        """Remove the empty line."""
        for block in self.document.findall(nodes.literal_block):
            if not block.get("language", "").startswith("diff"):
                text = block.astext().rstrip()
                block.children = [nodes.Text(text)]
                block.rawsource = text


def _public(text: str) -> str | None:
    """Return the public name with which code begins, such as `grad` or `linalg.solve`."""
    name = text.partition("(")[0]
    if not name.startswith("sg."):
        return None
    name = name.removeprefix("sg.")
    module, dot, inner = name.partition(".")
    if name in PUBLIC or (dot and module in MODULES and inner in getattr(symgrad, module).__all__):
        return name
    return None


def _signature(
    app: Sphinx, what: str, name: str, value: Any, options: Any, arguments: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Show functions with the arguments in their text, and classes without arguments: functions construct them."""
    if what == "class":
        return "", None
    if inspect.isroutine(value):
        return described(value.__doc__ or "")[0] or arguments, returned
    return arguments, returned


def _docstring(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Correct what autodoc and napoleon misread in a text."""
    if what == "data":  # the text of a value, not the text of its class
        short = name.removeprefix("symgrad.")
        lines[:] = [written(short, PUBLIC[short]) or "", ""]
    elif what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # an empty comment: otherwise the text before a colon is taken as a type
    elif inspect.isroutine(value) and (call := described(value.__doc__ or "")) and call[0]:
        # A formula in words: it contains no markup.
        lines[:] = [re.sub(r"([\\*|_])", r"\\\1", line) for line in call[1].split("\n")]


def _skipped(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out fields: the text of their class describes them."""
    return None if inspect.isroutine(value) or isinstance(value, property) else True


def _mathml(self: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers draw without further help."""
    display = isinstance(node, nodes.math_block)
    tree = latex2mathml.tex2mathml(node.astext(), as_block=display)
    self.body.append(f'<div class="math">{tree}</div>' if display else tree)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the project's own roles and directives."""
    app.add_lexer("symgrad", Notation)
    app.add_lexer("sh", BashSessionLexer)
    app.add_html_math_renderer("mathml", (_mathml, None), (_mathml, None))
    app.add_transform(BlocksEndWithTheirText)
    app.add_post_transform(NamesAreLinks)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring, priority=400)  # before napoleon reads them
    app.connect("autodoc-skip-member", _skipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
