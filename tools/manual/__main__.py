"""Build the manual: `python -m tools.manual [FOLDER]`, by default build/manual; `--quick` runs no example."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from tools.manual.contents import ROOT
from tools.manual.stage import stage

_START = """\
<!doctype html>
<meta charset="utf-8">
<title>symgrad</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<a href="docs/index.html">The manual of symgrad</a>
"""


def main() -> int:
    """Lay the sources out, let Sphinx make pages of them, and print where they are."""
    parser = argparse.ArgumentParser(prog="python -m tools.manual", description="Build the manual.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "manual")
    parser.add_argument(
        "--quick", action="store_true", help="run no example: their pages are without what they print"
    )
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    sources = folder.with_name(f"{folder.name}-sources")
    stage(sources, run=not given.quick)
    conf = str(Path(__file__).parent)
    # Everything is built anew (-E); every warning is an error (-W), and every reference is looked up (-n).
    status = sphinx(
        ["-E", "-a", "-q", "-W", "--keep-going", "-n", "-j", "2", "-c", conf, str(sources), str(folder)]
    )
    if status == 0:
        (folder / "index.html").write_text(_START, encoding="utf-8")
        print(f"the manual: {folder / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
