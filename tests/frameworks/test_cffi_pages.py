"""What pages show of cffi."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from tests.compiler.kernels.test_artefact import needs_cc
from tests.docs.markdown import Block, blocks

import_module("cffi")

DOCS = Path(__file__).parents[2] / "docs"


@needs_cc
@pytest.mark.parametrize("page", ["kernels.md", "artefacts.md"])
def test_the_blocks_of_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """With the last block before that makes the kernel which they call."""
    monkeypatch.chdir(tmp_path)
    found = blocks((DOCS / page).read_text(encoding="utf-8"))
    (k,) = (i for i, block in enumerate(found) if block.language == "pycon")
    first = next(b for b in found[k::-1] if "sg.compile(" in b.text and " k = " in b.text)
    names: dict[str, object] = {}
    exec("import symgrad as sg\nfrom pathlib import Path\nx, a = sg.symbols('x a')", names)
    for block in (first, found[k]):
        _run(block, names)


def _run(block: Block, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, "block", None, block.line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append, clear_globs=False)
    names |= test.globs
    assert not runner.failures, "".join(report)
